"""The accountant: certified central privacy of shuffled reports; numpy and scipy alone."""

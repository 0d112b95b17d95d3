"""gspa: a reproducible companion to the shuffle model of differential privacy.

The package behind the book: privacy bounds (numpy and scipy alone), seeded
simulations, and the claims of three papers with the functions that settle them.

>>> from gspa import budgets, bounds
>>> population = budgets.constant(0.5, n=10_000)
>>> round(bounds.gspa_mu(population), 5)
0.02302
"""

__version__ = "0.1.0"

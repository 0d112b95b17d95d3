"""The papers' procedures, each runnable alone and seeded."""

"""The book's figures: functions take tidy tables and return a matplotlib figure, or say in words what it shows.

One module a chapter; `style` is what they share.
"""

from gspa.figures.accounting import (
    delta_curves,
    describe_curve,
    describe_rounds,
    describe_users,
    per_user,
    rounds_curves,
)
from gspa.figures.comparison import bounds_panels, describe_bounds
from gspa.figures.estimation import describe_errors, error_curves
from gspa.figures.style import DASHES, PALETTE, table, use_style
from gspa.figures.training import accuracy_curves, describe_accuracies, final_accuracies

__all__ = [
    "DASHES",
    "PALETTE",
    "accuracy_curves",
    "bounds_panels",
    "delta_curves",
    "describe_accuracies",
    "describe_bounds",
    "describe_curve",
    "describe_errors",
    "describe_rounds",
    "describe_users",
    "error_curves",
    "final_accuracies",
    "per_user",
    "rounds_curves",
    "table",
    "use_style",
]

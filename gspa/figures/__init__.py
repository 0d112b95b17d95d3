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
from gspa.figures.auditing import audit_intervals, describe_audit
from gspa.figures.comparison import bounds_panels, describe_bounds, describe_extremes, extreme_budgets
from gspa.figures.decomposition import clone_shares, describe_dominated, describe_shares, dominated_panels
from gspa.figures.estimation import describe_errors, error_curves
from gspa.figures.gaussian_guarantee import (
    describe_guarantee_map,
    describe_guarantee_power,
    guarantee_map,
    guarantee_power,
)
from gspa.figures.hypothesis_testing import describe_curves, envelope, trade_off_curves
from gspa.figures.local_privacy import (
    describe_mechanisms,
    describe_noise,
    describe_promises,
    mechanism_curves,
    noise_by_dimension,
    promise_kept,
)
from gspa.figures.normal_limit import describe_distances, distance_curves
from gspa.figures.personalized import (
    broken_promise,
    describe_broken_promise,
    describe_promise_map,
    promise_map,
)
from gspa.figures.reduction import describe_trade_offs, trade_off_panels
from gspa.figures.style import DASHES, PALETTE, table, use_style
from gspa.figures.training import accuracy_curves, describe_accuracies, final_accuracies

__all__ = [
    "DASHES",
    "PALETTE",
    "accuracy_curves",
    "audit_intervals",
    "bounds_panels",
    "broken_promise",
    "clone_shares",
    "delta_curves",
    "describe_accuracies",
    "describe_audit",
    "describe_bounds",
    "describe_broken_promise",
    "describe_curve",
    "describe_curves",
    "describe_distances",
    "describe_dominated",
    "describe_errors",
    "describe_extremes",
    "describe_guarantee_map",
    "describe_guarantee_power",
    "describe_mechanisms",
    "describe_noise",
    "describe_promise_map",
    "describe_promises",
    "describe_rounds",
    "describe_shares",
    "describe_trade_offs",
    "describe_users",
    "distance_curves",
    "dominated_panels",
    "envelope",
    "error_curves",
    "extreme_budgets",
    "final_accuracies",
    "guarantee_map",
    "guarantee_power",
    "mechanism_curves",
    "noise_by_dimension",
    "per_user",
    "promise_kept",
    "promise_map",
    "rounds_curves",
    "table",
    "trade_off_curves",
    "trade_off_panels",
    "use_style",
]

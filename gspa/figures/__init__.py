"""The book's figures: functions take tidy tables and return a matplotlib figure, or say in words what it shows.

One module a chapter; `style` is what they share.
"""

from gspa.figures import data
from gspa.figures.accounting import (
    delta_curves,
    describe_curve,
    describe_rounds,
    describe_users,
    per_user,
    rounds_curves,
)
from gspa.figures.auditing import audit_intervals, describe_audit
from gspa.figures.clones import (
    clone_formulas,
    clone_looseness,
    describe_clone_formulas,
    describe_clone_looseness,
)
from gspa.figures.comparison import bounds_panels, describe_bounds, describe_extremes, extreme_budgets
from gspa.figures.decomposition import clone_shares, describe_dominated, describe_shares, dominated_panels
from gspa.figures.estimation import describe_errors, describe_group_promises, error_curves, group_promises
from gspa.figures.flame import (
    describe_flame_accuracies,
    describe_flame_variations,
    describe_flame_worth,
    flame_accuracies,
    flame_variations,
    flame_worth,
)
from gspa.figures.flame_privacy import (
    describe_flame_budgets,
    describe_flame_ratios,
    describe_flame_sweeps,
    describe_index_privacy,
    flame_budgets,
    flame_ratios,
    flame_sweeps,
    index_privacy_curve,
)
from gspa.figures.gaussian_guarantee import (
    describe_guarantee_map,
    describe_guarantee_power,
    guarantee_map,
    guarantee_power,
)
from gspa.figures.headline import describe_headline, headline_curves
from gspa.figures.hypothesis_testing import describe_curves, envelope, trade_off_curves
from gspa.figures.learning import (
    describe_exponents,
    describe_learning,
    describe_power,
    exponent_dots,
    learning_curves,
    power_lines,
)
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
from gspa.figures.readings import describe_noise_curve, describe_readings, noise_curve, reading_dots
from gspa.figures.reduction import describe_trade_offs, trade_off_panels
from gspa.figures.sgd_privacy import (
    blanket_masses,
    describe_blanket_masses,
    describe_record_movement,
    describe_training_budgets,
    describe_true_budgets,
    record_movement,
    training_budgets,
    true_budgets,
)
from gspa.figures.style import DASHES, PALETTE, table, use_style
from gspa.figures.sweep import describe_sweep, sweep_lines
from gspa.figures.training import accuracy_curves, describe_accuracies, final_accuracies

__all__ = [
    "DASHES",
    "PALETTE",
    "accuracy_curves",
    "audit_intervals",
    "blanket_masses",
    "bounds_panels",
    "broken_promise",
    "clone_formulas",
    "clone_looseness",
    "clone_shares",
    "delta_curves",
    "describe_accuracies",
    "describe_audit",
    "describe_blanket_masses",
    "describe_bounds",
    "describe_broken_promise",
    "describe_clone_formulas",
    "describe_clone_looseness",
    "describe_curve",
    "describe_curves",
    "describe_distances",
    "describe_dominated",
    "describe_errors",
    "describe_exponents",
    "describe_extremes",
    "describe_flame_accuracies",
    "describe_flame_budgets",
    "describe_flame_ratios",
    "describe_flame_sweeps",
    "describe_flame_variations",
    "describe_flame_worth",
    "describe_group_promises",
    "describe_guarantee_map",
    "describe_guarantee_power",
    "describe_headline",
    "describe_index_privacy",
    "describe_learning",
    "describe_mechanisms",
    "describe_noise",
    "describe_noise_curve",
    "describe_power",
    "describe_promise_map",
    "describe_promises",
    "describe_readings",
    "describe_record_movement",
    "describe_rounds",
    "describe_shares",
    "describe_sweep",
    "describe_trade_offs",
    "describe_training_budgets",
    "describe_true_budgets",
    "describe_users",
    "distance_curves",
    "dominated_panels",
    "envelope",
    "error_curves",
    "exponent_dots",
    "extreme_budgets",
    "final_accuracies",
    "flame_accuracies",
    "flame_budgets",
    "flame_ratios",
    "flame_sweeps",
    "flame_variations",
    "flame_worth",
    "group_promises",
    "guarantee_map",
    "guarantee_power",
    "headline_curves",
    "index_privacy_curve",
    "learning_curves",
    "mechanism_curves",
    "noise_by_dimension",
    "noise_curve",
    "per_user",
    "power_lines",
    "promise_kept",
    "promise_map",
    "reading_dots",
    "record_movement",
    "rounds_curves",
    "sweep_lines",
    "table",
    "trade_off_curves",
    "trade_off_panels",
    "training_budgets",
    "true_budgets",
    "use_style",
]

# Each figure keeps what it was drawn from, for the book to offer as CSV; this covers whatever is imported above.
data.keep_all(globals())

"""Every public function of the reference, and how each of its arguments is drawn.

`package_reference` says which functions are public. An argument is drawn as its chapter's table says, by function and
name (`OWN`), or as a ready-made object (`fuzz_classes`), or by its name alone (`fuzz_arguments`); a public function
with an argument of none of these has no entry, and `test_every_public_function_is_drawn` fails.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import fuzz_blog
import fuzz_book
import fuzz_bounds
import fuzz_estimation
import fuzz_flame
import fuzz_objects as objects
import fuzz_theory
from fuzz_arguments import NAMED
from fuzz_bounds import TOGETHER
from fuzz_classes import ALSO, BY_CLASS
from fuzz_values import Kind, made
from package_reference import reference

from gspa import accounting, auditing
from gspa.flame.cases import Case
from gspa.flame.worth import Worth

__all__ = ["ALSO", "TOGETHER"]

CHAPTERS = (fuzz_bounds, fuzz_theory, fuzz_estimation, fuzz_blog, fuzz_flame, fuzz_book)
# By function, then by name of the argument.
OWN: dict[str, dict[str, Kind]] = {key: kinds for chapter in CHAPTERS for key, kinds in chapter.OWN.items()}
# Not called here, each for a reason that a reader can check.
LEFT_OUT: dict[str, str] = {key: why for chapter in CHAPTERS for key, why in chapter.LEFT_OUT.items()}

# Tables whose NaN another function's documentation explains, by that function.
_NAN_AS: dict[str, Callable[..., Any]] = {
    **{
        f"auditing.{what}": auditing.intervals
        for what in ("judge", "from_below", "from_above", "shrunk", "sensitivity", "by_bound")
    },
    "gaussian_guarantee.promises": accounting.paper_against_exact,
    "counterexamples.krr_table": auditing.enumerated,
    "flame.cases.Paper.cases": Case,
    "flame.worth.worth": Worth,
    "flame.worth.worth_table": Worth,
}


def nan_is_explained(key: str) -> bool:
    """Whether the documentation says what NaN stands for in the answer."""
    return "NaN" in (_NAN_AS.get(key, target(key)).__doc__ or "")


@cache
def public_functions() -> dict[str, Callable[..., Any]]:
    """Public functions by their name without `gspa.`."""
    listed = {
        f"{module.removeprefix('gspa.')}.{key}": getattr(import_module(module), key) for module, key in reference()
    }
    return {key: value for key, value in listed.items() if inspect.isfunction(value) or hasattr(value, "__wrapped__")}


def entry(key: str) -> dict[str, Kind]:
    """How the arguments of one function are drawn; a KeyError names the one without an entry."""
    if key in ALSO:
        return ALSO[key][1]
    own, module = OWN.get(key, {}), key.rpartition(".")[0]
    drawn = {}
    for argument, parameter in inspect.signature(public_functions()[key]).parameters.items():
        classes = [BY_CLASS.get((argument, where)) for where in (key, module, "")]
        found = own.get(argument) or next((kind for kind in classes if kind is not None), None)
        if found is None and parameter.annotation == "pd.DataFrame":
            found = made(lambda: objects.tables()[key][0])
        found = found or NAMED.get(argument)
        if found is None:
            raise KeyError(f"{key}: no entry for its argument {argument!r}")
        drawn[argument] = found
    return drawn


def target(key: str) -> Callable[..., Any]:
    """The function or class behind a key."""
    return ALSO[key][0] if key in ALSO else public_functions()[key]


def keys() -> list[str]:
    """Everything that is called with drawn arguments."""
    return [*ALSO, *(key for key in public_functions() if key not in LEFT_OUT)]


# Functions of 6 ms and more: how many inputs each is given where a cheaper one is given 320.
_SLOW = {
    5: "blanket.blanket_delta blanket.blanket_epsilon calibrate.most_rounds composition.compose_delta "
    "estimation_privacy.along estimation_privacy.crowded_out estimation_privacy.in_ranges estimation_privacy.labelled "
    "estimation_privacy.laplace_groups flame.privacy.sweep flame.worth.worth learning.shuffled_scaling "
    "personalized.against_promise personalized.broken_curve personalized.estimates personalized.silent_crowd "
    "sgd_privacy.certified_table sweep_experiments.training uniformity.local_scaling uniformity.shuffled_scaling",
    15: "aligned.cut_against_blanket aligned.verification calibrate.largest_local_epsilon composition.compose "
    "estimation_privacy.at_deltas estimation_privacy.groups_of flame.privacy.certified_ratios flame.worth.certified "
    "gaussian_guarantee.promises learning.local_scaling personalized.promise_map sgd_privacy.theorem5_table "
    "sweep_experiments.epsilon calibrate.least_users",
    40: "auditing.intervals blanket_limit.blanket_limit clone_budget.choices clone_cases.pure_ratios clones.malicious "
    "comparison.certified_pair comparison.figure2 complexities.solved_over_printed complexities.solved_users "
    "counterexamples.krr_table dominating.domination flame.accounting.composed_delta flame.experiments.run "
    "flame.accounting.selections_covered flame.accounting.simple flame.accounting.topk flame.cases.Paper.sized "
    "flame.error.error_table flame.privacy.accounts gaussian_guarantee.constants infeasible.counterexamples "
    "normal_pair.lemma3_numbers reduction_cases.table",
    100: "audit.attack_delta audit.attack_epsilon auditing.by_bound auditing.published auditing.truth "
    "clone_cases.senders clones.regimes clones.users_needed comparison.extremes comparison.ratios "
    "comparison.reductions comparison.slopes decomposition_tables.decompositions "
    "estimation_privacy.response_limits estimator_choices.side_by_side exact_rr.gap "
    "flame.accounting.double_given_indices flame.accounting.double_poisson "
    "flame.amplification.old_bennett_epsilon flame.amplification.old_form_excess flame.misprints.estimates "
    "flame.results.summary hypothesis_testing.equation_5 interop.compose_with_dp_accounting interop.from_losses "
    "learning.learners learning.shuffled_budget local_delta.equation17 local_delta.told_truth "
    "noise_power.same_power normal_tables.moving_table normal_tables.readable_rates personalized.attacked_epsilon "
    "reduction_cases.trade_off sgd_privacy.local_table sgd_sensitivity.growing_weights "
    "sgd_sensitivity.valid_movement slack.users_needed uniformity.detectable uniformity.power_curves",
}
SLOW = {key: most for most, names in _SLOW.items() for key in names.split()}
MOST = 320


def examples(key: str) -> int:
    """How many inputs the long run draws for a function."""
    if not entry(key):
        return 1
    return SLOW.get(key, MOST)

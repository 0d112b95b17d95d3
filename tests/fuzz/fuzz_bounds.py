"""Budgets, bounds, the accountant, rounds and attacks: how their arguments are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fuzz_objects as objects
import numpy as np
from fuzz_values import (
    Kind,
    array,
    count,
    counts,
    either,
    lists_of,
    made,
    name,
    number,
    optional,
    together,
)

from gspa import budgets
from gspa.bounds import CATALOGUE
from gspa.budgets import DISTRIBUTIONS
from gspa.catalogue import FAMILIES
from gspa.randomizers import MECHANISMS

LEFT_OUT = {"sampled_audit.choose": "takes drawn histograms: `sampled_epsilon` calls it"}

OWN: dict[str, dict[str, Kind]] = {
    "budgets.from_array": {"eps": array(0, 5), "delta": number(0, 0.5), "count": count(1, 9), "label": either("", "a")},
    "budgets.uniform": {"low": number(0.1, 1), "high": number(1, 2), "delta": number(0, 0.5)},
    "budgets.constant": {"delta": number(0, 0.5)},
    "budgets.mixed_constant": {"first": number(0, 3), "second": number(0, 3), "delta": number(0, 0.5)},
    "budgets.draw": {"name": name(*DISTRIBUTIONS), "delta": number(0, 0.5)},
    "budgets.preference_sizes": {key: number(0, 1) for key in ("f_conservative", "f_moderate", "f_liberal")},
    "budgets.preference_groups": {key: number(0, 1) for key in ("f_conservative", "f_moderate", "f_liberal")}
    | {key: number(0, 3) for key in ("eps_conservative", "eps_moderate", "eps_liberal")}
    | {"delta": number(0, 0.5)},
    "budgets.from_csv": {"path": name(str(Path(__file__).with_name("users.csv")))},
    "tradeoff.f_eps_delta": {"delta": number(0, 1)},
    "tradeoff.gdp_log_delta": {"eps": array(0, 5)},
    "tradeoff.gdp_delta": {"eps": array(0, 5)},
    "tradeoff.chain": {"f": either(*objects.CURVES), "g": either(*objects.CURVES)},
    "tradeoff.delta_from_tradeoff": {"f": either(*objects.CURVES)},
    "tradeoff.tradeoff_from_delta": {
        "eps_grid": array(0, 3, least=2, most=2),
        "delta_values": array(0, 1, least=2, most=2),
    },
    "discrete.neyman_pearson": {key: either([0.5, 0.5], [0.1, 0.9], [1, 0]) for key in "pq"},
    "bounds.compare": {"mechanism": name(None, *FAMILIES)},
    "bounds.epsilon_curve": {"key": name(*CATALOGUE)},
    "closed_forms.gspa_mu": {"reading": name("abstract", "theorem2")},
    "closed_forms.gspa_epsilon": {"reading": name("abstract", "theorem2")},
    "closed_forms.gspa_delta": {"reading": name("abstract", "theorem2")},
    "clone_forms.require_pure": {"bound": either("a bound")},
    "variation_ratio.wang24_epsilon": {"hidden": either(True, False)},
    "renyi_forms.girgis21_renyi": {"order": count(2, 30)},
    "renyi_forms.renyi_to_epsilon": {"divergence": number(0, 5)},
    "collusion.honest_only": {"honest": count(1, 3)},
    "randomizers.family": {"name": name(*MECHANISMS)},
    "randomizers.subset": {"k": count(2, 8)},
    "randomizers.total_variation": {"tv": number(0.01, 1)},
    "calibrate.largest_local_epsilon": {"eps": number(0.05, 2), "mechanism": name("rr", "krr")},
    "calibrate.least_users": {"eps": number(0.3, 2), "eps0": number(0.1, 1.5), "mechanism": name("rr", "krr")},
    "calibrate.most_rounds": {"eps": number(0.1, 2), "mechanism": name("rr", "krr")},
    "exact_rr.exact_delta": {"inputs": optional(array(0, 3, least=1, most=3))},
    "exact_rr.exact_epsilon": {"inputs": optional(array(0, 3, least=1, most=3))},
    "composition.compose": {
        "rounds": lists_of(together(made(lambda i: objects.rounds()[i], either(0, 1, 2, 3)), count(1, 5)))
    },
    "composition.shuffled": {},
    "composition.gaussian": {"mu": number(0.01, 4)},
    "composition.shuffled_reports": {"mechanism": name("laplace", "gaussian")},
    "privacy_loss.privacy_loss": {"step": optional(number(1e-3, 0.05))},
    "interop.from_losses": {"law": made(objects.loss)},
    "interop.to_dp_accounting": {"step": number(1e-3, 0.05)},
    "interop.compose_with_dp_accounting": {
        "step": number(1e-3, 0.05),
        "sampled": lists_of(together(number(0.5, 3), number(0.01, 0.5), count(1, 3)), least=0, most=1),
    },
    "audit.sum_laws": {},
    "histograms.randomized_response": {"inputs": optional(array(0, 3, least=1, most=2)), "k": count(2, 4)},
    "histograms.reports": {"cells": count(4, 20)},
    "histograms.merged": {"cells": count(2, 3)},
    "histograms.worst_epsilon": {"k": count(2, 3)},
    "sampled_audit.certified_gap": {"hits": counts(0, 9), "alarms": counts(0, 9), "runs": count(10, 50)},
    "sampled_audit.sampled_epsilon": {"samples": count(10, 500)},
    "auditing.sampled": {"rng": made(np.random.default_rng, either(0, 1)), "samples": count(10, 200)},
    "auditing.shrunk": {"factor": number(0.1, 1)},
    "auditing.price_of_sampling": {"sizes": counts(10, 200)},
}

_ITEMS = ({"mechanism": "krr", "k": 3, "size": None}, {"mechanism": "subset", "k": 4, "size": 2})
_MECHANISMS = (
    {"mechanism": "rr", "k": None, "size": None, "tv": None},
    *(items | {"tv": None} for items in _ITEMS),
    {"mechanism": "common", "k": None, "size": None, "tv": None},
    {"mechanism": "tv", "k": None, "size": None, "tv": 0.2},
)
_REPORTS = tuple({"mechanism": mechanism, "victim": None, "count": 20} for mechanism in ("laplace", "gaussian"))
_BATCHES = ({"mechanism": "laplace", "victim": 0, "count": [5, 9], "scales": [1.0, 2.0]}, *_REPORTS)

# Arguments that only fit together: drawn at random, nearly all would be refused for the same reason.
TOGETHER: dict[str, tuple[dict[str, Any], ...]] = {
    **{f"accountant.central_{what}": _MECHANISMS for what in ("delta", "epsilon")},
    "per_user.per_user_epsilon": _MECHANISMS,
    "composition.shuffled": _MECHANISMS,
    **{
        f"calibrate.{what}": ({"mechanism": "rr", "k": None, "size": None}, *_ITEMS)
        for what in ("largest_local_epsilon", "least_users", "most_rounds")
    },
    **{f"blanket.blanket_{what}": _BATCHES for what in ("delta", "epsilon")},
    **{f"audit.attack_{what}": tuple(one | {"others": None} for one in _BATCHES) for what in ("delta", "epsilon")},
    "blanket_limit.blanket_limit": _BATCHES,
    "asymptotic.asymptotic_mu": _BATCHES,
    "histograms.reports": _BATCHES,
    "randomizers.family": tuple(
        {"name": one["mechanism"]} | {key: one[key] for key in ("k", "size", "tv")} for one in _MECHANISMS
    ),
    "budgets.preference_sizes": (
        {"f_conservative": 0.5, "f_moderate": 0.4, "f_liberal": 0.1},
        {"f_conservative": 0.5, "f_moderate": 0.3, "f_liberal": None},
    ),
    "budgets.preference_groups": (
        {"f_conservative": 0.5, "f_moderate": 0.4, "f_liberal": 0.1, "reading": "constants"},
        {
            "f_conservative": 0.5,
            "f_moderate": 0.3,
            "f_liberal": None,
            "eps_conservative": 0.1,
            "eps_moderate": 0.5,
            "eps_liberal": 1.0,
        },
    ),
    **{
        f"discrete.{what}": ({"p": [0.5, 0.5], "q": [0.1, 0.9]}, {"p": [1, 0], "q": [0, 1]})
        for what in ("hockey_stick", "total_variation")
    },
    **{
        f"closed_forms.{what}": ({"n": 10**6, "eps0": 0.1, "delta": 1e-4},)
        for what in ("erlingsson19_epsilon", "fmt21_total_delta", "fmt21_epsilon")
    },
    **{f"clone_forms.{what}_epsilon": ({"n": 10**5},) for what in ("clones_blog", "fmt23")},
    "variation_ratio.wang24_epsilon": ({"n": 10**4},),
    "clone_forms.liu23_epsilon": ({"budgets": budgets.constant(0.5, n=10**4)}, {}),
    "reduction.parts": tuple({"rows": rows, "ratio": objects.P, "delta": 0} for rows in objects.ROWS[:2]),
}

# Tables whose NaN another function's documentation explains, by that function.

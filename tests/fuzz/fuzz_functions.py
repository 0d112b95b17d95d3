"""Every public function of the reference, and how each of its arguments is drawn.

`book/api.md` says which functions are public. An argument is drawn by its name, or by a function's own entry in
`OWN`; a public function with an argument of neither has no entry, and `test_every_public_function_is_drawn` fails.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import fuzz_objects as objects
import numpy as np
import pandas as pd
from fuzz_values import (
    Kind,
    array,
    count,
    counts,
    either,
    fraction,
    known_to,
    lists_of,
    made,
    name,
    number,
    optional,
    together,
)

from gspa import budgets, infeasible, normal_pair, personalized, reduction, reduction_cases, sgd_config
from gspa.bounds import CATALOGUE
from gspa.budgets import DISTRIBUTIONS
from gspa.catalogue import FAMILIES
from gspa.flame.amplification import BOUNDS, Setting
from gspa.flame.randomizers import Buckets, Laplace
from gspa.hypothesis_testing import TABLE_1
from gspa.noise import SHAPES
from gspa.randomizers import MECHANISMS

API = Path(__file__).parents[2] / "book" / "api.md"

# Not called here, each for a reason that a reader can check.
LEFT_OUT = {
    "claims.checks.settles": "a decorator for this package's own checks",
    "claims.checks.checks": "takes nothing and loads every check",
    "claims.checks.verify": "runs whole checks: tests/claims does; its names are drawn on the command line",
    "claims.checks.settle": "runs whole checks: tests/claims does",
    "claims.checks.differs": "takes the package's own two records",
    "datasets.load": "reads what is on this machine; its names are drawn on their own",
    "experiments.figure4": "the whole experiment of a page: tests/test_experiments.py",
    "readings.sensitivity": "dozens of trainings: tests/test_readings.py",
    "readings.ranked": "takes only tables of trainings: tests/test_readings.py",
    "readings.nearest": "takes only tables of trainings: tests/test_readings.py",
    "readings.swing": "takes only tables of trainings: tests/test_readings.py",
    "noise_power.comparison": "takes only tables of trainings: tests/test_noise_power.py",
    "noise_power.one_curve": "takes only tables of trainings: tests/test_noise_power.py",
    "noise_power.equal_curve": "takes only tables of trainings: tests/test_noise_power.py",
    "noise_power.noise_points": "takes only tables of trainings: tests/test_noise_power.py",
    "sgd_variants.variants_summary": "takes only tables of trainings: tests/test_sgd_variants.py",
    "experiments.final_table": "takes only tables of trainings: tests/test_experiments.py",
    "flame.privacy.headline": "takes only the table of accounts: tests/test_flame_privacy.py",
    "sampled_audit.choose": "takes drawn histograms: `sampled_epsilon` calls it",
    "datasets.banner": "takes nothing but a data set",
    "datasets.status": "takes nothing: tests/test_datasets.py",
    "datasets.fetch": "takes nothing and downloads: tests/test_datasets.py",
    "reduction.shuffled_law": "enumerates permutations of ready-made randomizers: tests/test_reduction.py",
}

_DELTA = number(1e-9, 0.5)
_SEED = known_to([0, 1, 2024, 2**63])
_PEOPLE = either(*objects.POPULATIONS)
_RATIO = fraction(1, 6)
_SMALL_DELTA = fraction(0, Fraction(1, 2))
_MECHANISM = name("rr", "krr", "subset", "common", "tv")
_VARY = name("f_conservative", "eps_conservative")

# By name of the argument, wherever a function has no entry of its own.
NAMED: dict[str, Kind] = {
    "eps": number(0, 5),
    "eps0": number(1e-3, 4),
    "delta": _DELTA,
    "deltas": array(1e-6, 0.4),
    "delta0": number(0, 0.1),
    "mu": number(0.01, 5),
    "mus": array(0.01, 3),
    "n": count(1, 60),
    "n_min": count(50, 100),
    "n_max": count(200, 400),
    "n_p": count(1, 40),
    "n_s": count(1, 40),
    "steps": count(2, 4),
    "k": count(2, 5),
    "size": count(1, 3),
    "tv": optional(number(0.01, 0.99)),
    "sizes": counts(10, 200),
    "seed": _SEED,
    "rng": _SEED,
    "seeds": counts(0, 5, most=2),
    "samples": count(10, 300),
    "confidence": number(0.5, 0.999),
    "points": count(2, 30),
    "pairs": count(1, 4),
    "triples": count(1, 3),
    "draws": count(1, 4),
    "repeats": count(2, 5),
    "budgets": _PEOPLE,
    "people": _PEOPLE,
    "ratio": _RATIO,
    "mechanism": _MECHANISM,
    "alpha": array(0, 1),
    "scale": number(0.1, 5),
    "sigma": number(0.1, 5),
    "sensitivity": number(0.1, 60),
    "low": number(0, 1),
    "high": number(1, 3),
    "center": number(20, 60),
    "c": number(0, 1),
    "reading": name("constants", "ranges"),
    "groups": either(*objects.GROUPS),
    "vary": _VARY,
    "count": counts(1, 20, most=1),
    "victim": optional(count(0, 1)),
    "inputs": together(number(0, 0.4), number(0.6, 1)),
    "cells": count(20, 60),
    "statistic": name("linear", "window"),
    "others": optional(array(0, 1, most=2)),
    "p": array(0, 1),
    "q": array(0, 1),
    "dimensions": counts(1, 20),
    "shape": name(*SHAPES),
    "local": either(*objects.LOCALS),
    "beta": number(0.01, 1),
    "d": count(5, 30),
    "l": count(2, 12),
    "attack": either(True, False),
    "attached": name("position", "user"),
    "repeat_first": either(True, False),
    "pessimistic": either(True, False),
    "bound": name(*BOUNDS),
    "b": count(2, 6),
    "folds": count(1, 5),
    "epochs": count(1, 50),
    "records": count(1, 5),
    "divisor": count(1, 100),
    "clients": count(2, 20),
    "clip": number(0.1, 5),
    "config": either(objects.CONFIG),
    "text": name("aaai", "arxiv"),
    "randomizer": name("generic", "krr", "laplace"),
    "form": name("hoeffding", "bennett"),
    "order": number(1.1, 50),
    "step": optional(number(1e-3, 0.05)),
    "depth": number(5, 60),
    "p0": either(*objects.LAWS),
    "p1": either(*objects.LAWS),
    "mechanisms": lists_of(either(*objects.MECHANISMS)),
    "scaling": name("none", "unit_variance", "standardize_pixels"),
    "slack": number(0, 1),
    "small": count(1, 3),
    "jobs": either(1),
}


def _eps_of_users(eps: list[float], users: int) -> list[float]:
    return [eps[i % len(eps)] for i in range(users)]


_USERS = array(0.1, 3, least=3, most=3)
_VALUES = array(0, 1, least=3, most=3)
_BITS = counts(0, 1, least=3, most=3)
_LOCAL_BUDGETS = array(0.05, 3)
_RATIO_OR_WHOLE = fraction(1, 5)

# By function, then by name of the argument.
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
    "mechanisms.laplace_delta": {"eps": array(0, 5)},
    "mechanisms.laplace_exceeds": {"eps": array(0, 5)},
    "mechanisms.gaussian_delta": {"eps": array(0, 5)},
    "mechanisms.gaussian_exceeds": {"eps": array(0, 5)},
    "local_privacy.events": {"size": count(1, 6)},
    "local_privacy.delta_over_events": {key: either([0.5, 0.5], [0.1, 0.9], [1, 0]) for key in "pq"},
    "local_privacy.random_pairs": {"most": count(2, 4)},
    "local_privacy.relations": {"records": count(1, 3), "values": count(2, 3)},
    "local_privacy.definition_delta": {"kernel": either([[0.5, 0.5], [0.1, 0.9]], [[1.0, 0.0]], [[0.5, 0.5]] * 3)},
    "local_privacy.printed_delta": {"kernel": either([[0.5, 0.5], [0.1, 0.9]], [[1.0, 0.0]], [[0.5, 0.5]] * 3)},
    "noise.laplace_losses": {"draws": count(2, 50)},
    "noise.laplace_curve": {"fractions": array(0, 2)},
    "noise.promise_curves": {"eps": array(0, 3)},
    "noise.equal_variance": {"deviations": array(0.1, 5)},
    "noise.privacy_curves": {"eps_max": number(0.5, 5)},
    "noise.first_dimension": {"noise": name("classical", "analytic")},
    "hypothesis_testing.least_gap": {key: either(*objects.TRADE_OFFS) for key in ("upper", "lower")},
    "hypothesis_testing.chained": {key: either(*objects.TRADE_OFFS) for key in ("first", "second")},
    "hypothesis_testing.error_table": {key: either([0.5, 0.5], [0.1, 0.9]) for key in "pq"}
    | {"reject": array(0, 1, least=2, most=2)},
    "hypothesis_testing.table_1": {"names": either(TABLE_1)},
    "hypothesis_testing.shifted": {
        "curve": either(*objects.TRADE_OFFS),
        "first": number(0, 0.2),
        "second": number(0, 0.2),
    },
    "hypothesis_testing.perturbation": {"size": number(0.01, 0.2)},
    "hypothesis_testing.equation_5": {"levels": count(1, 5)},
    "hypothesis_testing.fact_1_table": {"eps": array(0, 3, most=2)},
    "gaussian_dp.composed_delta": {"mus": array(0.1, 2, most=2)},
    "gaussian_dp.curve_table": {"eps": array(0, 3, most=2)},
    "gaussian_dp.envelope_table": {"sizes": counts(2, 20)},
    "gaussian_dp.composition_table": {"eps": array(0, 3, most=1), "families": lists_of(array(0.1, 2, most=2), most=2)},
    "gaussian_dp.grouped": {"f": either(*objects.CURVES)},
    "gaussian_dp.group_table": {"sizes": counts(1, 5)},
    "tradeoff_curves.laplace_tradeoff": {"shift": number(0, 5)},
    "tradeoff_curves.continuous_pairs": {"shift": number(0.1, 3), "cells": counts(2, 40)},
    "tradeoff_curves.of_fact_3": {"tangents": count(1, 9)},
    "finite_mechanisms.exact_or_float": {"low": either(0.0), "high": either(1.0), "argument": _RATIO},
    "finite_mechanisms.likelihood_ratio": {"value": _RATIO},
    "finite_mechanisms.zero": {"like": either(0.5, P := objects.P)},
    "finite_mechanisms.positive_part": {"values": either(*objects.LAWS)},
    "finite_mechanisms.rounding": {"rows": either(*(m.rows for m in objects.MECHANISMS)), "ratio": either(P, 2.5)},
    "finite_mechanisms.local_delta": {"rows": either(*(m.rows for m in objects.MECHANISMS))},
    "finite_mechanisms.one_bit": {"values": either((0.0, 1.0), (Fraction(0), Fraction(1, 2)))},
    "finite_mechanisms.staircase": {"reach": count(1, 4)},
    "finite_mechanisms.extremal": {"inputs": count(2, 4), "patterns": count(1, 3)},
    "finite_mechanisms.anything_but": {"inputs": count(2, 5)},
    "finite_mechanisms.quaternary_pair": {"delta": _SMALL_DELTA},
    "finite_mechanisms.quaternary": {"delta": _SMALL_DELTA},
    "finite_mechanisms.leaky": {"mechanism": either(*objects.PURE), "delta": _SMALL_DELTA},
    "gallery.noise": {
        "kind": name("laplace", "gaussian"),
        "inputs": array(0, 1, least=2, most=2),
        "cells": count(4, 30),
    },
    "gallery.pure": {"cells": count(4, 30)},
    "gallery.approximate": {"delta": _SMALL_DELTA, "cells": count(4, 30)},
    "gallery.illustrated": {"delta": _SMALL_DELTA, "cells": count(4, 30)},
    "dominating.channel": {"delta": _SMALL_DELTA},
    "dominating.channel_error": {"delta": _SMALL_DELTA},
    "dominating.channel_table": {"mechanism": either(*objects.MECHANISMS), "inputs": either((0, 1), (1, 0))},
    "dominating.nearest": {"pair": either(objects.MECHANISMS[3].rows)},
    "dominating.tradeoff_gap": {"delta": _SMALL_DELTA},
    "dominating.curves": {"panels": lists_of(together(either(*objects.PURE), either([P, 2])), most=1)},
    "dominating.gaussian_pairs": {"eps": array(0.1, 3, most=2), "points": count(10, 50)},
    "decomposition.claimed": {"mechanism": either(*objects.MECHANISMS)},
    "decomposition.worst_case": {"mechanism": either(*objects.MECHANISMS)},
    "decomposition.variation_coefficient": {"mechanism": either(*objects.MECHANISMS)},
    "decomposition.variation_error": {"mechanism": either(*objects.MECHANISMS)},
    "decomposition.shared_parts_exist": {"delta": _SMALL_DELTA},
    "decomposition.split_parts": {"delta": _SMALL_DELTA},
    "decomposition.largest_coefficient": {"other": either(*objects.LAWS), "delta": _SMALL_DELTA},
    "decomposition.hull_distance": {key: either(*objects.LAWS) for key in ("q0", "q1", "law")},
    "decomposition.printed_table": {"delta": _SMALL_DELTA},
    "decomposition.printed_sets": {"delta": _SMALL_DELTA},
    "decomposition.rest_distance": {"delta": _SMALL_DELTA},
    "decomposition_tables.holds_as_arxiv_prints": {"mechanism": either(*objects.PURE)},
    "decomposition_tables.proof_distance": {"delta": _SMALL_DELTA},
    "decomposition_tables.shares": {"eps": array(0.1, 3, most=2), "inputs": count(2, 4)},
    "infeasible.lemma1": {
        "p0": either(objects.MECHANISMS[0].rows[0]),
        "p1": either(objects.MECHANISMS[0].rows[1]),
        "others": either({"x": objects.MECHANISMS[0].rows[0]}),
        "delta": _SMALL_DELTA,
        "coefficient": optional(fraction(0, 1)),
        "exchanged": either(True, False),
        "shared": either(True, False),
        "outputs": either(None, ("a", "b")),
    },
    "infeasible.certificate": {},
    "infeasible.cases": {"delta": fraction(Fraction(1, 12), Fraction(1, 2))},
    "infeasible.counterexamples": {"delta": fraction(Fraction(1, 12), Fraction(1, 2))},
    "reduction.subset_selection": {},
    "reduction.truth_with": {"delta": _SMALL_DELTA},
    "reduction.question": {"item": count(0, 2), "k": count(2, 4)},
    "reduction.signed": {"rows": either(objects.ROWS[0]), "user": count(0, 2), "n": count(3, 4)},
    "reduction.local_excess": {"rows": either(*objects.ROWS[:2]), "delta": _SMALL_DELTA},
    "reduction.two_laws": {
        "randomizers": either((objects.ROWS[0],) * 3),
        "others": counts(0, 1, least=2, most=2),
        "inputs": either((0, 1)),
    },
    "reduction.count_pair": {
        "clones": lists_of(fraction(0, Fraction(1, 2)), most=2),
        "delta": _SMALL_DELTA,
        "shared": either(True, False),
        "neither": fraction(0, 1),
    },
    "reduction.delta_at": {},
    "reduction.ratios_of": {"ratios": lists_of(fraction(1, 5))},
    "reduction.largest_excess": {"at": either(None, (Fraction(2),))},
    "reduction.parts": {"rows": either(*objects.ROWS[:2]), "delta": _SMALL_DELTA, "inputs": either((0, 1))},
    "reduction.aligned_clone_probability": {
        "victim": either(reduction.parts(objects.ROWS[0], objects.P)),
        "other": either(objects.ROWS[0]),
    },
    "reduction.printed_clones": {"delta": _SMALL_DELTA},
    "reduction_cases.cases": {"ratio": count(2, 5), "delta": _SMALL_DELTA, "n": count(2, 3)},
    "reduction_cases.short": {"fraction": either(Fraction(1, 3), Fraction(0), Fraction(123456789, 987654321))},
    "reduction_cases.exceeds": {"keys": either(["rr-equal-step"], [])},
    "reduction_cases.law_table": {},
    "reduction_cases.proof_slips": {"ratio": count(2, 5)},
    "reduction_cases.hidden_neither": {"ratio": count(2, 5)},
    "normal_limit.clone_probability": {"eps": array(0, 5), "delta": number(0, 0.5)},
    "normal_limit.covariance": {"p": array(0.01, 0.5)},
    "normal_limit.distances": {"p": array(0.05, 0.5), "count": counts(5, 40, most=1)},
    "normal_limit.seen_with_cells": {"p": array(0.05, 0.5), "side": number(0.05, 1), "count": counts(5, 40, most=1)},
    "normal_limit.leading_term": {"p": array(0.05, 0.5), "count": counts(5, 40, most=1)},
    "normal_pair.printed_inverse": {},
    "normal_pair.lemma3_numbers": {"users": count(2, 6)},
    "normal_tables.sizes_between": {"least": count(2, 20), "most": count(30, 90)},
    "normal_tables.distance_table": {"eps0": array(0.1, 3, most=2), "sizes": counts(5, 40)},
    "normal_tables.moving_table": {"sizes": counts(10, 60)},
    "normal_tables.seen_table": {"sides": array(0.1, 1, most=2), "sizes": counts(10, 40)},
    "normal_tables.mixed_distances": {"m": count(20, 60), "groups": count(2, 5)},
    "normal_tables.total_variation_by_definition": {"p": array(0.05, 0.5, most=4), "nodes": count(2, 8)},
    "slack.least_slack": {"curve": either(*objects.TRADE_OFFS)},
    "slack.proved_slack": {"mu": optional(number(0.01, 3))},
    "gaussian_guarantee.constants": {"local": _LOCAL_BUDGETS},
    "gaussian_guarantee.what_is_left": {"crowds": lists_of(together(either("a"), either("b"), _PEOPLE), most=1)},
    "gaussian_guarantee.promises": {"local": _LOCAL_BUDGETS},
    "gaussian_guarantee.power_curves": {"local": _LOCAL_BUDGETS},
    "local_delta.told_truth": {
        "delta_n": _SMALL_DELTA,
        "others": lists_of(_RATIO_OR_WHOLE),
        "factors": lists_of(_RATIO_OR_WHOLE),
    },
    "local_delta.equation17": {"delta_n": _SMALL_DELTA, "others": lists_of(_RATIO_OR_WHOLE)},
    "aligned.krr_clones": {"victim": number(0.01, 3), "others": number(0.01, 3)},
    "aligned.laplace_clones": {"victim": number(0.01, 3), "others": number(0.01, 3)},
    "aligned.laplace_epsilon": {"victim": number(0.01, 3), "others": number(0.01, 3)},
    "aligned.clone_table": {"settings": lists_of(together(number(0.1, 3), number(0.1, 3)))},
    "aligned.one_of_many": {"n": count(2, 3), "k": count(2, 3)},
    "aligned.signed": {"ratios": lists_of(_RATIO_OR_WHOLE)},
    "aligned.cut_delta": {"laws": either((objects.LAWS[0],) * 2), "victim": either((objects.LAWS[0], objects.LAWS[1]))},
    "aligned.cut_against_blanket": {
        "settings": either([("laplace", [1.0, 2.0])]),
        "eps": array(0, 2, most=1),
        "cells": count(10, 20),
    },
    "counterexamples.least_constant": {},
    "counterexamples.judged": {"attacked": number(0, 1), "certified": number(0, 1)},
    "counterexamples.named_messages": {"others": number(0.01, 1)},
    "counterexamples.krr_attack": {"local": number(0.1, 4), "others": number(0.01, 1)},
    "counterexamples.krr_table": {
        "answers": counts(2, 9),
        "local": _LOCAL_BUDGETS,
        "others": optional(number(0.01, 1)),
    },
    "personalized.crowd": {"name": either("a")},
    "personalized.crowd_of": {"others": number(0.01, 1)},
    "personalized.papers_crowds": {"drawn": either(True, False)},
    "personalized.attacked_delta": {"others": optional(_BITS), "victim": count(0, 1)},
    "personalized.attacked_epsilon": {"others": optional(_BITS), "victim": count(0, 1)},
    "personalized.against_promise": {},
    "personalized.silent_crowd": {"others": array(0.01, 1, most=2)},
    "personalized.broken_curve": {"eps_max": number(0.5, 2), "points": count(2, 5)},
    "personalized.promise_map": {"low": number(0.01, 0.1), "high": number(0.5, 2), "points": count(2, 3)},
    "personalized.estimates": {"settings": either([("a", "laplace", [1.0], [10], 1e-4)])},
    "estimators.frequency_reports": {"x": _BITS, "eps": _USERS},
    "estimators.frequency_estimate": {"reports": _BITS, "eps": _USERS},
    "estimators.frequency_expectation": {"x": _BITS, "eps": _USERS},
    "estimators.frequency_variance": {"eps": _USERS},
    "estimators.simulate_frequency": {"x": _BITS, "eps": _USERS},
    "mean_estimation.mean_reports": {"x": _VALUES, "eps": _USERS},
    "mean_estimation.mean_estimate": {"reports": _VALUES},
    "mean_estimation.mean_variance": {"eps": _USERS},
    "mean_estimation.mean_error": {"eps": _USERS},
    "mean_estimation.simulate_mean": {"x": _VALUES, "eps": _USERS},
    "mean_estimation.clipped_normal": {"center": number(-1, 4)},
    "mean_estimation.clipped_data": {"center": number(-1, 4)},
    "error_laws.r_squared": {"x": array(0, 1, least=3), "y": array(0, 1, least=3)},
    "error_laws.linearity": {
        "estimand": name("mean", "frequency"),
        "axes": lists_of(together(number(0.01, 0.2), number(0.3, 0.5)), most=1),
    },
    "estimation.mean_sweep": {"low": number(10, 20), "high": number(60, 90), "points": count(3, 4)},
    "estimation.frequency_sweep": {"points": count(3, 4)},
    "estimation.frequency_bias": {"deals": count(2, 9)},
    "estimator_choices.best_weights": {"noise": array(0.1, 5), "spread": number(0, 5)},
    "estimator_choices.mean_choices": {"low": number(10, 20), "high": number(60, 90)},
    "estimator_choices.data_spreads": {"low": number(10, 20), "high": number(60, 90), "sigmas": array(0, 9, most=2)},
    "estimation_privacy.sensitivity_readings": {"low": number(10, 20), "high": number(60, 90), "grid": count(5, 50)},
    "estimation_privacy.laplace_groups": {"stretch": number(0.5, 2), "victims": optional(counts(0, 1))},
    "estimation_privacy.ones_epsilon": {"victim": count(0, 1)},
    "estimation_privacy.groups_of": {"mechanism": name("laplace", "rr")},
    "estimation_privacy.at_deltas": {"mechanism": name("laplace", "rr")},
    "estimation_privacy.along": {"mechanism": name("laplace", "rr"), "eps_conservative": array(0.05, 0.5, most=2)},
    "estimation_privacy.in_ranges": {"mechanism": name("laplace", "rr")},
    "estimation_privacy.crowded_out": {"eps_conservative": array(0.05, 0.5, most=2)},
    "estimation_privacy.labelled": {"mechanism": name("laplace", "rr"), "before": either(None)},
    "estimation_privacy.response_limits": {"local": _LOCAL_BUDGETS},
    "sgd.gaussian_sigma": {"eps": _USERS},
    "sgd.train": {
        "eps": optional(array(0.5, 5, least=6, most=6)),
        "labels": either(""),
        "device": name("cpu"),
        "evaluate_every": count(1, 2),
        "progress": either(None),
        "checkpoints": either(None),
    },
    "readings.open_questions": {"n": count(6, 90), "widths": counts(2, 9), "combined_width": count(2, 9)},
    "readings.vanilla": {},
    "readings.allocations": {"m": count(2, 30), "n": count(1, 90)},
    "noise_power.equivalent_budget": {"eps": _USERS},
    "noise_power.typical_seeds": {
        "setting": name("unif1", "unif2", "unif3"),
        "seeds": counts(0, 9, least=1),
        "keep": count(1, 3),
    },
    "noise_power.same_power": {"setting": name("unif1", "unif2"), "order_seeds": counts(0, 5, most=1)},
    "sgd_variants.noise": {
        "variant": name("printed", "same_noise", "record", "record_run", "client"),
        "eps": array(0.1, 3, least=6, most=6),
        "samples": count(1, 20),
    },
    "sgd_variants.train_variant": {
        "variant": name("printed", "same_noise", "record", "record_run", "client"),
        "eps": array(0.1, 3, least=6, most=6),
    },
    "sgd_variants.variants_table": {"variants": either(("printed",)), "settings": either(("constant",))},
    "sgd_sensitivity.visited": {"eps": optional(array(0.5, 5, least=6, most=6)), "epochs": counts(0, 1)},
    "sgd_sensitivity.pool": {"size": count(1, 9)},
    "sgd_sensitivity.growing_record": {"factors": array(1, 5)},
    "sgd_sensitivity.growing_weights": {"factors": array(1, 5)},
    "sgd_sensitivity.largest_movement": {"classes": count(2, 10)},
    "sgd_sensitivity.real_movements": {"settings": either(("constant",)), "epochs": counts(0, 1, most=1)},
    "sgd_sensitivity.valid_movement": {"components": count(1, 5), "starts": count(1, 2)},
    "sgd_privacy.local_table": {"eps": array(0.1, 3), "divisor": optional(count(1, 20)), "samples": count(1, 20)},
    "sgd_privacy.log10_blanket_mass": {"dimension": count(1, 50), "ratio": number(0.01, 5)},
    "sgd_privacy.theorem5_table": {
        "epochs": counts(1, 5),
        "samples": count(1, 20),
        "dimension": count(1, 50),
        "settings": either(("constant", "unif1")),
    },
    "sgd_privacy.certified_table": {"samples": count(1, 20), "clients": count(2, 20)},
    "message_attack.message_attack_epsilon": {
        "high": number(0.5, 2),
        "low": number(0, 0.4),
        "others": array(0, 1, least=2, most=2),
        "sigma_others": array(0.5, 2, least=2, most=2),
        "dimension": count(1, 5),
    },
    "flame.padded.overflow": {"n": count(1, 90)},
    "flame.padded.coordinate": {"against": name("other", "blanket"), "n": optional(count(1, 60))},
    "flame.accounting.composed_delta": {},
    "flame.amplification.double": {"subsampling": either(True, False)},
    "flame.accounting.topk": {"most_selected": count(1, 40)},
    "flame.accounting.selections_covered": {"most_selected": optional(count(1, 40))},
    "flame.amplification.lemma1_epsilon": {"answers": count(2, 9)},
    "flame.attacks.scored": {"others": name("blanket", "zero"), "levels": count(2, 40)},
    "flame.attacks.sum_delta": {"others": name("blanket", "zero"), "real": count(1, 20), "padded": count(1, 40)},
    "flame.attacks.sum_epsilon": {"others": name("blanket", "zero"), "real": count(1, 20), "padded": count(1, 40)},
    "flame.attacks.linked_delta": {"local": either(Laplace(0.5), Laplace(5.0)), "messages": count(1, 9)},
    "flame.attacks.zero_delta": {"local": either(Buckets(0.5, 4), Buckets(3.0, 1, True))},
    "flame.attacks.named_delta": {"dummies": count(1, 5)},
    "flame.index_privacy.least_nu": {"beta": number(0.01, 0.5)},
    "flame.index_privacy.least_l": {"nu": number(1, 9), "beta": number(0.01, 0.5)},
    "flame.index_privacy.theorem5": {"beta": number(0.01, 0.5)},
    "flame.index_privacy.overflow_by_l": {"popular": number(0, 1), "k": count(1, 5)},
    "flame.index_privacy.simulate_padding": {"k": count(1, 3), "l": count(3, 5)},
    "flame.index_privacy.posterior": {"k": count(1, 3), "l": count(3, 5)},
    "flame.error.report_variance": {"x": number(0, 1)},
    "flame.error.standard_deviation": {"x": number(0, 1)},
    "flame.error.simulated_deviation": {"x": number(0, 1)},
    "flame.error.best_buckets": {"most": count(2, 50), "eps_ck": number(0.1, 2), "n_p": count(50, 90)},
    "flame.error.error_table": {
        "n_p": made(np.array, either([100, 200])),
        "n_s": made(np.array, either([50, 60])),
        "eps_ck": made(np.array, either([0.5, 1.0])),
    },
    "flame.error.exponent": {"column": either("laplace")},
    "flame.privacy.setting": {"eps_l": number(0.5, 90), "rate": number(1, 10), "padding": number(1, 5)},
    "flame.privacy.figure3_setting": {"rate": number(1, 10), "padding": number(1, 5), "eps": number(0.1, 2)},
    "flame.privacy.accounts": {
        "settings": either({"small": objects.SETTINGS[0]}),
        "bounds": either(("bennett",), BOUNDS),
    },
    "flame.privacy.amplification_ratios": {"eps": array(0.1, 2, most=2)},
    "flame.privacy.certified_ratios": {},
    "flame.privacy.figure4": {"most": count(2, 9), "beta": number(0.01, 0.5)},
    "flame.privacy.sweep": {
        "name": name("eps_l", "d"),
        "values": counts(1, 9, most=2),
        "base": either(*objects.SETTINGS),
        "eps_l": number(0.5, 9),
    },
    "datasets.project": {"components": count(1, 8), "cache": either(False)},
    "experiments.setting_label": {"name": name("no noise", *DISTRIBUTIONS)},
    "experiments.budget_matrix": {"name": name("unif1", "constant")},
    "comparison.reached_from": {"percent": number(1, 90)},
    "comparison.extremes": {"budgets_near_zero": array(1e-6, 1e-2)},
}


# Arguments of a class, made when they are first needed.
def _lazy(make: Callable[[], Any]) -> Kind:
    return made(make)


def _one_of(make: Callable[[], Any], size: int) -> Kind:
    return made(lambda i: make()[i], either(*range(size)))


_SERIES = pd.Series
BY_CLASS: dict[tuple[str, str], Kind] = {
    ("case", "auditing"): _one_of(objects.audit_settings, 4),
    ("some", "auditing"): lists_of(_one_of(objects.audit_settings, 4), most=2),
    ("worlds", ""): _one_of(objects.worlds, 2),
    ("problem", ""): _one_of(objects.problems, 2),
    ("rounds", ""): lists_of(together(_one_of(objects.rounds, 4), count(1, 5))),
    ("scales", ""): array(0.3, 3, most=2),
    ("one", "personalized"): made(lambda i: personalized.crowd("a", objects.POPULATIONS[i]), either(0, 9)),
    ("crowds", "personalized"): lists_of(
        made(lambda i: personalized.crowd("a", objects.POPULATIONS[i]), either(0, 9)), most=1
    ),
    ("one", "flame.accounting"): _one_of(objects.coordinates, 2),
    ("one", "flame.privacy"): either(*objects.SETTINGS),
    ("base", "flame.privacy"): either(*objects.SETTINGS),
    ("setting", "flame.amplification"): either(*objects.SETTINGS),
    ("system", "infeasible"): made(
        lambda i: infeasible.lemma1(
            *objects.MECHANISMS[0].rows,
            {"x": objects.MECHANISMS[0].rows[0]},
            ratio=objects.P,
            coefficient=Fraction(i, 4),
        ),
        either(0, 1, 2, 4),
    ),
    ("laws", "reduction"): _one_of(objects.exact_laws, 2),
    ("shuffled", "reduction"): _one_of(objects.exact_laws, 2),
    ("pair", "reduction"): _one_of(objects.exact_laws, 2),
    ("which", "reduction_cases"): made(lambda i: reduction_cases.cases()[i : i + 2], either(0, 1, 2)),
    ("case", "reduction_cases"): made(lambda i: reduction_cases.cases()[i], either(0, 1, 2)),
    ("laws", "reduction_cases"): made(lambda i: {"shuffled": objects.exact_laws()[i]}, either(0, 1)),
    ("tried", "aligned"): made(lambda i: [objects.aligned_cases()[i]], either(0, 1)),
    ("data", ""): _lazy(objects.images),
    ("dataset", ""): _lazy(objects.small_images),
    ("images", ""): _lazy(objects.small_images),
    ("client", ""): _lazy(objects.client),
    ("pool", ""): _lazy(objects.pool),
    ("x", "sgd_sensitivity"): _lazy(objects.pool),
    ("values", "experiments"): made(_SERIES, array(0, 1, least=2)),
    ("score", "audit"): made(lambda i: objects.worlds()[i].scores()[0][1], either(0)),
    ("v", "audit"): made(lambda i: objects.worlds()[i].victim[0] - objects.worlds()[i].victim[1], either(0)),
    ("laws", "audit"): made(lambda i: objects.worlds()[i].laws, either(0)),
    ("count", "audit.linear_score"): made(lambda i: objects.worlds()[i].count.astype(float), either(0)),
    ("count", "audit.sum_laws"): made(lambda i: objects.worlds()[i].count.astype(float), either(0)),
    ("victim", "audit.sum_laws"): made(lambda i: objects.worlds()[i].victim, either(0)),
    ("symbols", "normal_pair"): made(normal_pair.lemma3_symbols),
    ("v1", "normal_pair"): made(normal_pair.sp.Symbol, either("a")),
    ("v2", "normal_pair"): made(normal_pair.sp.Symbol, either("b")),
}

# Classes that a user fills in with numbers and names.
CLASSES: dict[str, tuple[type, dict[str, Kind]]] = {
    "budgets.Budgets": (
        budgets.Budgets,
        {
            "eps": array(0, 3, least=2, most=2),
            "delta": array(0, 0.5, least=2, most=2),
            "count": counts(1, 9, least=2, most=2),
        },
    ),
    "flame.randomizers.Laplace": (Laplace, {"eps": number(0.1, 9)}),
    "flame.randomizers.Buckets": (Buckets, {"eps": number(0.1, 9), "b": count(1, 9), "printed": either(True, False)}),
    "flame.amplification.Setting": (
        Setting,
        {
            "d": count(5, 9),
            "k": count(1, 5),
            "n": count(1, 99),
            "n_p": count(1, 99),
            "eps": number(0.1, 9),
            "delta": _DELTA,
        },
    ),
    "error_laws.Groups": (
        objects.Groups,
        {"n": count(5, 99), "f_conservative": number(0, 0.5), "f_liberal": number(0, 0.5)}
        | {key: number(0.01, 3) for key in ("eps_conservative", "eps_moderate", "eps_liberal")},
    ),
    "sgd_config.SgdConfig": (
        sgd_config.SgdConfig,
        {"clients": count(1, 99), "epochs": count(1, 9), "learning_rate": number(0.01, 1), "clip": number(0.1, 9)}
        | {"delta": _DELTA, "hidden_width": count(1, 99), "initialization": name("he", "torch_default")}
        | {"client_split": name("shuffled"), "client_order": name("once", "per_epoch")}
        | {"noise_divisor": name("clients", "samples"), "average_divisor": name("clients", "samples")},
    ),
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
}

# Tables whose NaN another function's documentation explains, by that function.
_NAN_AS = {
    "auditing.judge": "auditing.intervals",
    "auditing.from_below": "auditing.intervals",
    "auditing.from_above": "auditing.intervals",
    "auditing.shrunk": "auditing.intervals",
    "auditing.sensitivity": "auditing.intervals",
    "auditing.by_bound": "auditing.intervals",
    "gaussian_guarantee.promises": "accounting.paper_against_exact",
    "counterexamples.krr_table": "auditing.enumerated",
}


def nan_is_explained(key: str) -> bool:
    """Whether the documentation says what NaN stands for in the answer."""
    named = _NAN_AS.get(key, key)
    module, _, member = named.rpartition(".")
    return "NaN" in (getattr(import_module(f"gspa.{module}"), member).__doc__ or "")


def reference() -> list[tuple[str, str]]:
    """(module, member) for everything that the reference shows, classes included."""
    found = []
    for module, options in re.findall(r"automodule:: (\S+)\n((?: +:\S.*\n?)*)", API.read_text(encoding="utf-8")):
        loaded = import_module(module)
        listed = re.search(r":members:(.*)", options)
        given = [part.strip() for part in (listed[1] if listed else "").split(",") if part.strip()]
        names = getattr(loaded, "__all__", None) if "ignore-module-all" not in options else None
        own = [key for key, value in vars(loaded).items() if getattr(value, "__module__", None) == module]
        found += [(module, key) for key in given or names or own if not key.startswith("_")]
    return found


@cache
def public_functions() -> dict[str, Callable[..., Any]]:
    """Public functions by their name without `gspa.`."""
    listed = {
        f"{module.removeprefix('gspa.')}.{key}": getattr(import_module(module), key) for module, key in reference()
    }
    return {key: value for key, value in listed.items() if inspect.isfunction(value) or hasattr(value, "__wrapped__")}


def entry(key: str) -> dict[str, Kind]:
    """How the arguments of one function are drawn; a KeyError names the one without an entry."""
    if key in CLASSES:
        return CLASSES[key][1]
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
    return CLASSES[key][0] if key in CLASSES else public_functions()[key]


def keys() -> list[str]:
    """Everything that is called with drawn arguments."""
    return [*CLASSES, *(key for key in public_functions() if key not in LEFT_OUT)]


# Functions of 10 ms and more: how many inputs each is given where a cheap one is given 400.
_SLOW = {
    10: "what_is_left posterior most_rounds broken_curve labelled against_promise along estimates crowded_out "
    "certified_table in_ranges sweep",
    30: "blanket_delta blanket_epsilon compose_delta compose largest_local_epsilon silent_crowd verification "
    "domination constants lemma3_numbers groups_of topk certified_ratios least_users composed_delta promise_map",
    80: "theorem5_table intervals figure2 simple at_deltas response_limits counterexamples double_poisson "
    "selections_covered blanket_limit certified_pair promises laplace_groups extremes double_given_indices krr_table",
}
MOST = 400


def examples(key: str) -> int:
    """How many inputs the long run draws for a function."""
    last = key.rpartition(".")[2]
    return next((most for most, names in _SLOW.items() if last in names.split()), MOST)

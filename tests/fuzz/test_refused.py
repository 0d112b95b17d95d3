"""Bad arguments that the drawn inputs found to end in another exception, or never: each is refused in one line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gspa import (
    accountant,
    aligned,
    asymptotic,
    audit,
    bounds,
    budgets,
    clone_cases,
    clones,
    complexities,
    counterexamples,
    dominating,
    error_laws,
    estimation_privacy,
    estimator_choices,
    estimators,
    gallery,
    gaussian_dp,
    histograms,
    hypothesis_testing,
    infeasible,
    learning,
    local_delta,
    mean_estimation,
    message_attack,
    noise_power,
    normal_limit,
    normal_tables,
    personalized,
    readings,
    reduction,
    reduction_cases,
    scaling,
    sgd,
    sgd_privacy,
    sgd_variants,
    sweep,
    sweep_experiments,
    tradeoff_curves,
    uniformity,
)
from gspa.blanket import blanket_epsilon
from gspa.blanket_limit import blanket_limit
from gspa.datasets import load
from gspa.errors import GspaError
from gspa.flame import (
    accounting,
    aggregation,
    amplification,
    attacks,
    cases,
    error,
    experiments,
    federated,
    index_privacy,
    misprints,
    privacy,
    protocols,
    results,
    worth,
)
from gspa.flame.randomizers import Laplace
from gspa.hadamard import HadamardResponse, walsh_hadamard
from gspa.sgd_config import SgdConfig

RESPONSE = HadamardResponse.of(4, eps=1.0)
RNG = np.random.default_rng(0)
RUNS = pd.DataFrame({name: [] for name in ("group", "label", "varied", "value", "noise", "round", "accuracy")})
TABLE = pd.DataFrame({"regime": ["a"] * 5, "n": [8.0, 16.1, 31.9, 64.2, 128.0], "k": [1.0, 2.0, 4.0, 8.0, 0.0]})
THREE = Fraction(3)
CROWD = budgets.constant(1.0, n=4)
ESTIMATES = {"d": 8, "n": 24, "k": 2, "n_p": 20, "value": 0.0, "clip": 0.01, "eps": 20.0, "repeats": 2, "seed": 0}
MEAN = {"n": 10, "f_conservative": 0.5, "eps_conservative": 0.1, "reading": "constants", "repeats": 2}
EPSILON = {"n": 10, "eps": 1.0, "delta": 0.1, "mechanism": "rr", "k": 2}
GROUPS = error_laws.Groups(n=50)
TABLE_OF_NOISE = {"delta": 0.1, "clients": 3, "samples": 2, "divisor": 2, "dimensions": [1]}
ATTACK = {"delta": 0.1, "high": 1.0, "low": 0.0, "sigma": 1.0}
SUCCESS = {"k": 8, "n": 19, "alpha": 0.0, "coin": "private", "trials": 19, "seed": 0}
PROMISES = {"epochs": [1], "clients": 2, "samples": 18, "delta": 0.3, "dimension": 35}
HALVES = np.array([Fraction(1, 2)] * 2)
LAWS = {"p0": HALVES, "p1": HALVES, "others": {}, "ratio": 2}
TINY = {"mechanism": "tv", "tv": 1e-300}
IMAGES = load("digits")
RUN = {"data": IMAGES, "eps": 1.0, "config": SgdConfig(clients=6, epochs=1), "variant": "printed"}
NOWHERE = Path("a\0b.csv")

# (function, what it is called with, the argument that is at fault): each ended in another exception, or never.
REFUSED = [
    (uniformity.shuffled_scaling, {"regimes": 1j, "profile": "quick"}, "regimes"),
    (estimation_privacy.laplace_groups, {"people": CROWD, "delta": 0.3, "victims": 0.5}, "victims"),
    (amplification.old_bennett_epsilon, {"eps0": Fraction(7, 2), "n": 1, "delta": 0.3}, "Bennett form"),
    (index_privacy.least_l, {"nu": 3.0, "beta": 5e-324}, "beta"),
    (privacy.setting, {"n": 4, "d": 26, "rate": 2e-308}, "rate"),
    (blanket_limit, {"scales": [1e-9], "count": 20, "mechanism": "laplace", "delta": 0.3}, "limit"),
    (aligned.cut_against_blanket, {"settings": [("laplace", [1.0, 2.0])], "eps": None}, "eps"),
    (asymptotic.asymptotic_mu, {"scales": [708.0, 5e-324], "count": [5, 9]}, "scale"),
    (asymptotic.asymptotic_mu, {"scales": [2.5, 1e308], "count": 20, "mechanism": "gaussian"}, "scale"),
    (blanket_epsilon, {"scales": budgets.constant(1e300, n=20), "delta": 0.1}, "scale"),
    (estimators.frequency_variance, {"eps": [2e-308, 0.0]}, "eps"),
    (estimator_choices.best_weights, {"noise": [1.0], "spread": 1e308}, "spread"),
    (estimator_choices.mean_choices, {"low": -1e300, "repeats": 3}, "low"),
    (normal_limit.leading_term, {"p": [0.3], "count": [1e308]}, "count"),
    (normal_tables.moving_table, {"sizes": None}, "sizes"),
    (sgd_privacy.theorem5_table, PROMISES | {"divisor": 0}, "divisor"),
    (sgd_variants.train_variant, RUN | {"seeds": ()}, "seeds"),
    (infeasible.lemma1, LAWS | {"delta": 10**5000}, "delta"),
    (misprints.estimates, {"clip": 1e154, "repeats": 2}, "clip"),
    (experiments.run, {"data": {}, "cases": (), "users": 24, "seeds": [0]}, "data"),
    (gaussian_dp.composition_table, {"families": [[1e-300]], "eps": [0.5]}, "mus[0]"),
    (accountant.central_delta, {"budgets": budgets.constant(700.0, n=3), "eps": 300.0} | TINY, "tv"),
    (tradeoff_curves.of_fact_3, {"mu": 17.0, "tangents": 3}, "mu"),
    (budgets.from_array, {"eps": [1.0], "count": [[1], [1, 2]]}, "count"),
    (clones.least_users, {"eps_local": 1e300, "delta": 0.1}, "eps_local"),
    (clones.regimes, {"local": None, "sizes": [10], "delta": 0.1}, "local"),
    (clones.improvement, {"eps_local": 1.0, "sizes": 10, "delta": 0.1}, "sizes"),
    (clones.direction, {"eps_local": 1.0, "n": 10, "delta": 0.1, "shares": 0.5}, "shares"),
    (clones.users_needed, {"local": 1.0, "delta": 0.1}, "local"),
    (clones.malicious, {"eps_local": 1.0, "sizes": [None], "share": 0.1, "delta": 0.1}, "sizes"),
    (clones.pure, {"eps_local": 1.0, "sizes": [10**5000]}, "sizes"),
    (clones.pure, {"eps_local": 1.0, "sizes": [10], "below": 0.0}, "below"),
    (clone_cases.senders, {"ratio": THREE, "sizes": [100]}, "sizes"),
    (clone_cases.pure_ratios, {"ratio": THREE, "sizes": [[]]}, "sizes"),
    (clone_cases.deviations, {"ratio": THREE, "n": 2, "bad": 2, "at": THREE}, "bad"),
    (clone_cases.one_bit, {"k": 6, "ratio": 2.0}, "k"),
    (complexities.local_users, {"problem": "learning", "k": 4, "alpha": 1j, "eps": 1.0}, "alpha"),
    (complexities.shuffled_users, {"problem": "learning", "k": 4, "alpha": 0.1, "eps": 1.0, "delta": ...}, "delta"),
    (
        complexities.solved_users,
        {"problem": "learning", "k": [4] * 2, "alpha": [0.1] * 3, "eps": 1, "delta": 0.1},
        "shapes",
    ),
    (complexities.eps_local, {"n": 10, "eps": {}, "delta": 0.1}, "eps"),
    (complexities.necessary_over_stated, {"problem": "learning", "k": 4, "eps": [1.0]}, "k"),
    (scaling.fit, {"table": TABLE, "response": "m", "factors": ["k"]}, "column"),
    (scaling.fit, {"table": TABLE, "response": "n", "factors": ["k"]}, "k"),
    (scaling.judge, {"found": TABLE, "tolerance": "0.5"}, "tolerance"),
    (RESPONSE.law, {"p": [0.0, 0.0, 0.0, 0.0]}, "p"),
    (RESPONSE.estimate, {"counts": [0] * 8}, "counts"),
    (RESPONSE.reports, {"items": [4], "rng": 0}, "items"),
    (walsh_hadamard, {"table": np.array(1.0)}, "table"),
    (learning.project, {"v": [float("nan")]}, "v"),
    (learning.nearby_budget, {"eps": [None], "n": 10}, "eps"),
    (learning.central_scaling, {"repeats": None}, "repeats"),
    (uniformity.UniformityTester.of, {"k": 4, "eps_local": float("nan"), "coin": "public"}, "eps_local"),
    (uniformity.success, SUCCESS | {"eps_local": 1e154}, "eps_local"),
    (aligned.krr_clones, {"victim": 1.0, "others": 1e308, "k": 3}, "others"),
    (counterexamples.judged, {"attacked": "x", "certified": 0.1, "delta": 0.1}, "attacked"),
    (histograms.worst_epsilon, {"budgets": CROWD, "delta": 0.1, "k": 2.5}, "k"),
    (tradeoff_curves.of_pairs, {"eps": 710.0}, "eps"),
    (reduction.signed, {"rows": ((THREE,),), "user": [], "n": 2}, "user"),
    (mean_estimation.mean_estimate, {"reports": [1e308] * 3}, "reports"),
    (mean_estimation.mean_error, {"eps": [0.5], "sensitivity": 1e308}, "sensitivity"),
    (mean_estimation.noise_scales, {"eps": [0.0], "sensitivity": 1.0}, "eps"),
    (estimator_choices.mean_choices, {"sensitivity": 1e154, "repeats": 3}, "sensitivity"),
    (asymptotic.asymptotic_mu, {"scales": [1.0], "count": 9, "inputs": (0.1, {})}, "inputs"),
    (audit.attack_epsilon, {"scales": [1.0], "count": 9, "delta": 0.1, "inputs": (0.3, float("nan"))}, "inputs"),
    (hypothesis_testing.printed_fact_1, {"eps": 1e308, "delta": 0.1}, "eps"),
    (hypothesis_testing.fact_1_table, {"pairs": 1, "eps": None, "seed": 0}, "eps"),
    (gaussian_dp.composed_delta, {"mus": [1e300], "eps": 1.0}, "mus"),
    (gaussian_dp.envelope_table, {"mus": [1e4], "sizes": [7]}, "mus"),
    (dominating.gaussian_pairs, {"eps": 0.5, "mu": 1.0}, "eps"),
    (reduction.question, {"item": np.array([1, 2]), "ratio": THREE}, "item"),
    (reduction_cases.cases, {"delta": "1e400"}, "delta"),
    (local_delta.at_the_papers_eps, {"people": CROWD, "deltas": 0.1, "delta": 0.1}, "deltas"),
    (aligned.clone_table, {"settings": [(1.0, 1e4)]}, "other"),
    (error_laws.linearity, {"groups": GROUPS, "estimand": "mean", "vary": "f_conservative", "axes": [("x", 1)]}, "low"),
    (error_laws.mean_law, {"groups": GROUPS, "sensitivity": 1e300}, "sensitivity"),
    (readings.open_questions, {"config": SgdConfig(), "n": 99, "widths": [...]}, "width"),
    (noise_power.equivalent_budget, {"eps": np.array(0.5)}, "eps.shape"),
    (sgd_privacy.certified_table, {"eps": 1e-243, **TABLE_OF_NOISE}, "eps"),
    (sgd_privacy.certified_table, {"eps": 1.0, **TABLE_OF_NOISE, "divisor": [1]}, "divisor"),
    (message_attack.message_attack_epsilon, {**ATTACK, "others": [], "sigma_others": [1.0, 1.0]}, "sigma_others"),
    (amplification.coordinate_epsilon, {"bound": "exact", "eps": 5e-324, "n": 9, "delta": 0.1}, "blanket"),
    (attacks.linked_delta, {"local": Laplace(0.5), "k": 4, "messages": 3, "eps": 745.5}, "eps"),
    (accountant.epsilon_table, {"n": [[1], [1, 2]], "eps": 1.0, "delta": 0.1}, "n"),
    (aggregation.Sampled, {"clip": 0.1, "eps": np.zeros((1, 2)), "k": 1, "n_p": 1}, "eps"),
    (budgets.from_array, {"eps": np.array(0.5)}, "eps"),
    (gallery.noise, {"kind": "gaussian", "scale": 1e-300, "cells": 20, "ratio": 2}, "scale"),
    (reduction.subset_selection, {"k": 2.5, "size": 1, "ratio": Fraction(1)}, "k"),
    (reduction.count_pair, {"ratio": THREE, "clones": ...}, "clones"),
    (normal_limit.clone_probability, {"eps": [1.0, 2.0], "delta": [[]]}, "delta.shape"),
    (aligned.clone_table, {"settings": [(1.0, 1.0)], "k": 10**5000}, "k"),
    (personalized.silent_crowd, {"eps": 1.0, "others": float("nan"), "n": 14, "delta": 0.2}, "others"),
    (mean_estimation.clipped_normal, {"center": 0.0, "sigma": 1e308, "low": 0.0, "high": 1.0}, "sigma"),
    (estimation_privacy.sensitivity_readings, {"groups": GROUPS, "low": 0.0, "high": 1e308}, "high"),
    (readings.open_questions, {"config": SgdConfig(), "n": 99, "scaling": []}, "scaling"),
    (sgd.gaussian_sigma, {"eps": [5e-324], "clip": 2.0, "divisor": 1, "delta": 0.1}, "eps"),
    (sgd_privacy.log10_blanket_mass, {"dimension": 12, "ratio": 1e154}, "ratio"),
    (message_attack.message_attack_epsilon, {**ATTACK, "high": 1e308, "others": [], "sigma_others": []}, "high"),
    (clones.expansions, {"delta": 0.1, "small": 5e-324}, "small"),
    (clones.improvement, {"eps_local": 5e-324, "sizes": [9], "delta": 0.1}, "eps_local"),
    (clones.pure, {"eps_local": 5e-324, "sizes": [9]}, "eps_local"),
    (bounds.epsilon_curve, {"key": "clones_blog", "budgets": CROWD, "sizes": None, "delta": 0.1}, "sizes"),
    (uniformity.detectable, {"k": 2, "eps_local": 1.0, "n": 0, "start": 0.1, "coin": "private", "seed": 0}, "n"),
    (sweep_experiments.mean, {**MEAN, "sensitivity": 1.0, "seed": 0.5}, "seed"),
    (sweep_experiments.frequency, {**MEAN, "c": 2.0, "seed": 0}, "c"),
    (sweep_experiments.epsilon, {**EPSILON, "rounds": [2]}, "rounds"),
    (sweep.target, {"name": {}, "project": None}, "name"),
    (sweep.check_output, {"output": NOWHERE}, "-o"),
    (sweep.results_of, {"rows": TABLE, "parameters": None}, "parameters"),
    (accounting.selections_covered, {"local": Laplace(1.0), "n_p": [2]}, "n_p"),
    (aggregation.Simple, {"clip": 0.1, "eps": 0.0}, "eps"),
    (aggregation.LocalGaussian, {"clip": -1.0, "sigma": 1.0}, "clip"),
    (aggregation.Mean, {"rate": float("nan")}, "rate"),
    (aggregation.others, {"indices": np.array([[0]]), "d": "9", "extra": 1, "rng": RNG}, "d"),
    (cases.Paper().cases, {"groups": None}, "groups"),
    (federated.initial_weights, {"features": 1, "classes": 2, "seed": 0}, "features"),
    (protocols.dummy_vectors, {"missing": np.array([2, 1]), "k": 0, "rng": RNG}, "k"),
    (misprints.estimates, {**ESTIMATES, "clip": []}, "clip"),
    (misprints.selected_share, {"d": 2, "k": 3, "users": 5, "seed": 0}, "k"),
    (worth.tuned, {"upper": abs, "target": 0.0, "start": 1.0}, "target"),
    (error.exponent, {"table": TABLE, "column": "sd"}, "column"),
    (results.mean, {"runs": RUNS, "group": [], "label": "SS-Topk"}, "group"),
    (results.shown, {"runs": RUNS, "groups": [], "columns": ["sd"]}, "column"),
    (results.ranking, {"runs": RUNS, "group": "x", "labels": [("a",)]}, "label"),
    (results.apart, {"runs": RUNS, "group": "x", "above": "a", "below": "b", "varied": 1}, "varied"),
]


@pytest.mark.parametrize(("function", "given", "at_fault"), REFUSED, ids=[f.__name__ for f, _, _ in REFUSED])
def test_refused_in_one_line_that_names_the_argument(function, given, at_fault):
    with pytest.raises(GspaError) as refused:
        function(**given)
    assert str(refused.value).startswith(at_fault)
    assert len(str(refused.value).splitlines()) == 1

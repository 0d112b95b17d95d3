"""The sampled attacks of page 19: scipy's own intervals, coverage by simulation, and what they may not exceed."""

from __future__ import annotations

import math

import numpy as np
import p19_auditing as histograms
import pytest
from p19_auditing import Chosen, certified_gap, sampled_epsilon
from scipy.stats import binomtest

from gspa.accountant import attacks, budgets


@pytest.mark.parametrize(("hits", "alarms"), [(300, 100), (1000, 0), (50, 49), (12, 1000)])
def test_the_gap_against_scipys_clopper_pearson(hits, alarms):
    low = binomtest(hits, 1000, alternative="greater").proportion_ci(0.975, "exact").low
    high = binomtest(alarms, 1000, alternative="less").proportion_ci(0.975, "exact").high
    expected = max(0.0, math.log((low - 1e-3) / high)) if low > 1e-3 else 0.0
    assert float(certified_gap(hits, alarms, runs=1000, delta=1e-3, confidence=0.95)) == pytest.approx(
        expected, rel=1e-9, abs=1e-12
    )


def test_no_hits_certify_nothing():
    assert certified_gap([0, 5], [0, 0], runs=100, delta=0.5, confidence=0.9).tolist() == [0.0, 0.0]


def test_coverage():
    """Binomials with log((p - delta)/q) = log 2: exceeded by at most 5% of 20,000 intervals, and by some."""
    rng = np.random.default_rng(5)
    p, q, delta, runs = 0.21, 0.1, 0.01, 400
    gaps = certified_gap(
        rng.binomial(runs, p, 20_000), rng.binomial(runs, q, 20_000), runs=runs, delta=delta, confidence=0.95
    )
    missed = float((gaps > math.log((p - delta) / q)).mean())
    assert missed <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 20_000)
    # The union bound is loose, not empty: at a confidence of 0.2 about one in six is missed.
    loose = certified_gap(
        rng.binomial(runs, p, 20_000), rng.binomial(runs, q, 20_000), runs=runs, delta=delta, confidence=0.2
    )
    assert 0.05 < float((loose > math.log((p - delta) / q)).mean()) < 0.8


def test_the_choice_costs_no_coverage():
    """Equal worlds: whatever test the first half suggests, 0 is exceeded by at most 1 - confidence of the runs."""
    people = budgets.constant(0.0, n=6)
    worlds = histograms.randomized_response(people, k=3)
    found = [sampled_epsilon(worlds, delta=1e-9, samples=400, confidence=0.8, rng=seed).lower for seed in range(200)]
    wrong = sum(value > 0 for value in found)
    assert wrong <= 0.2 * 200 + 3 * math.sqrt(0.2 * 0.8 * 200)


@pytest.mark.parametrize(
    "worlds",
    [
        histograms.randomized_response(budgets.constant(2.0, n=10)),
        histograms.randomized_response(budgets.from_array([0.1, 3.0], count=[20, 1]), k=4),
        histograms.merged(attacks.reports([0.3, 3.0], count=[1, 20]), cells=6),
        histograms.merged(attacks.reports([0.4, 4.0], count=[1, 20], mechanism="gaussian"), cells=6),
    ],
    ids=["rr", "personal k-RR", "personal Laplace", "personal Gaussian"],
)
def test_below_the_truth_and_above_half_of_the_best_attack(worlds):
    found = sampled_epsilon(worlds, delta=1e-2, samples=20_000, confidence=0.999, rng=1)
    best = (
        histograms.likelihood_ratio_epsilon(worlds, delta=1e-2).upper
        if histograms.work(worlds) < histograms.MOST_WORK
        else histograms.statistic_epsilon(worlds, delta=1e-2).lower * 1.2
    )
    assert 0.4 * best < found.lower <= best
    assert math.isinf(found.upper)


def test_the_same_seed_gives_the_same_bound_and_another_another():
    worlds = histograms.randomized_response(budgets.constant(2.0, n=10), k=3)
    first = sampled_epsilon(worlds, delta=1e-3, samples=5_000, rng=7)
    assert sampled_epsilon(worlds, delta=1e-3, samples=5_000, rng=7) == first
    assert sampled_epsilon(worlds, delta=1e-3, samples=5_000, rng=np.random.default_rng(7)) == first
    assert sampled_epsilon(worlds, delta=1e-3, samples=5_000, rng=8) != first


def test_the_chosen_test_counts_what_it_says():
    chosen = Chosen("count", np.array([1, 0]), -1, -3, 0)  # fires where at most 3 answered 0
    assert chosen.hits(np.array([[3, 7], [4, 6], [0, 10]])) == 2

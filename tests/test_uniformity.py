"""Testers: level and power against enumeration, alternatives at their distance, statistics with their mean."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import multinomial

from gspa import accountant, budgets, uniformity
from gspa.errors import InvalidValue, UnknownName
from gspa.learning import DELTA
from gspa.uniformity import UniformityTester

GOAL = uniformity.TARGET


def test_the_power_is_that_of_enumeration():
    # k = 2 at eps_L = 1: four outputs, so that all histograms of 12 users can be listed.
    n, alpha = 12, 0.5
    tester = UniformityTester.of(2, eps_local=1.0, coin="private")
    null = n * tester.response.law(tester.uniform)
    counts = np.array([c for c in product(range(n + 1), repeat=4) if sum(c) == n])
    score = (((counts - null) ** 2 - counts) / null).sum(axis=1)
    threshold = float(np.median(score)) + 0.01
    exact = 0.0
    for p in ([1.0, 0.0], [0.0, 1.0]):
        mass = multinomial.pmf(counts, n, tester.response.law(np.array(p)))
        exact += 0.5 * float(mass[score > threshold].sum())
    found = uniformity._power(tester, 2, n, alpha, threshold, 40_000, np.random.default_rng(0))
    # Alternatives are 50 in number, so either of the two laws may be dealt a few times more often.
    assert found == pytest.approx(exact, abs=0.015)


@pytest.mark.parametrize("coin", uniformity.COINS)
def test_false_alarms_are_a_third(coin):
    found = uniformity.success(16, eps_local=1.0, n=5_000, alpha=0.0, coin=coin, trials=20_000, seed=0)
    assert found == pytest.approx(1 / 3, abs=5 * 0.7 / math.sqrt(20_000))


@pytest.mark.parametrize(("k", "eps_local", "coin"), [(16, 0.5, "private"), (16, 3.0, "private"), (64, 2.0, "public")])
def test_the_known_mean_is_the_statistics(k, eps_local, coin):
    tester, rng = UniformityTester.of(k, eps_local=eps_local, coin=coin), np.random.default_rng(1)
    laws = tester.alternatives(k, 0.3, 4_000, rng)
    found = tester.statistics(500, laws, 4_000, rng)
    mean = uniformity._mean(tester, 500, laws, 4_000)
    assert found.mean() == pytest.approx(mean, abs=5 * found.std() / math.sqrt(4_000))


def test_alternatives_are_at_their_distance():
    tester = UniformityTester.of(10, eps_local=1.0, coin="private")
    laws = tester.alternatives(10, 0.2, 7, np.random.default_rng(0))
    assert laws.shape == (7, 10)
    assert laws.sum(axis=1) == pytest.approx(np.ones(7))
    assert 0.5 * np.abs(laws - 0.1).sum(axis=1) == pytest.approx(np.full(7, 0.2))


def test_a_hash_keeps_the_mean_square_distance():
    # Half of k signs are +1, dealt at random: the sum of s of them has the variance s (k - s)/(k - 1).
    k, alpha = 64, 0.25
    tester = UniformityTester.of(k, eps_local=math.log(4), coin="public")
    assert tester.uniform.tolist() == [0.25] * 4
    laws = tester.alternatives(k, alpha, 4_000, np.random.default_rng(0))
    expected = (2 * alpha / k) ** 2 * 16 * (64 - 16) / 63
    assert ((laws - 0.25) ** 2).mean() == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(
    ("k", "eps_local", "buckets"), [(64, 0.1, 2), (64, math.log(8), 8), (64, 20.0, 64), (6, 2.0, 6)]
)
def test_buckets_follow_the_budget(k, eps_local, buckets):
    tester = UniformityTester.of(k, eps_local=eps_local, coin="public")
    assert tester.uniform.size == buckets
    assert tester.uniform.sum() == pytest.approx(1)
    assert tester.response.eps == eps_local


@pytest.mark.parametrize("coin", uniformity.COINS)
def test_what_is_detectable_is_detected_two_times_in_three(coin):
    alpha, error = uniformity.detectable(32, eps_local=1.0, n=20_000, start=0.1, coin=coin, seed=0)
    found = uniformity.success(32, eps_local=1.0, n=20_000, alpha=alpha, coin=coin, trials=20_000, seed=1)
    # Power rises with log alpha by about the normal density times 1.7.
    assert found == pytest.approx(GOAL, abs=5 * error * 0.7 + 0.02)


def test_more_users_budget_and_distance_help():
    base = {"eps_local": 1.0, "n": 4_000, "alpha": 0.2}
    settings = [base, {**base, "n": 40_000}, {**base, "eps_local": 2.0}, {**base, "alpha": 0.4}]
    found = [uniformity.success(32, coin="private", trials=2_000, seed=0, **values) for values in settings]
    assert min(found[1:]) > found[0] + 0.1


def test_the_same_seed_gives_the_same_numbers():
    regime = "public, small eps"
    first = uniformity.local_scaling(profile="quick", regimes=[regime])
    assert first.equals(uniformity.local_scaling(profile="quick", regimes=[regime]))


def test_the_shuffled_experiment_certifies_what_it_reports():
    table = uniformity.shuffled_scaling(profile="quick", regimes=["public, small eps_L"])
    people = budgets.constant(table["eps_local"].iloc[0], n=int(table["n"].iloc[0]))
    bound = accountant.central_delta(people, eps=table["eps"].iloc[0], mechanism="common")
    assert bound.upper <= DELTA * (1 + 1e-6)
    assert (table["eps"] < table["eps_local"]).all()


def test_nonsense_is_refused():
    with pytest.raises(InvalidValue, match="even"):
        UniformityTester.of(5, eps_local=1.0, coin="private")
    with pytest.raises(UnknownName, match="private"):
        UniformityTester.of(4, eps_local=1.0, coin="privat")
    with pytest.raises(InvalidValue, match="alpha"):
        uniformity.success(4, eps_local=1.0, n=10, alpha=0.6, coin="private", trials=10, seed=0)
    with pytest.raises(UnknownName):
        uniformity.local_scaling(regimes=["private"])

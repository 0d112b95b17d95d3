"""FLAME's randomizers: laws by hand, budgets from the laws, estimates with and without bias."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from gspa.accountant.errors import InvalidValue
from gspa.algorithms.flame.randomizers import Buckets, Laplace

PRINTED = (False, True)


def law_by_hand(b, p, x, *, printed):
    """Algorithm 1 line by line in fractions, p standing for e^eps."""
    least = 1 if printed else 0
    answers = b + 1 - least
    gamma = Fraction(answers) / (p + answers - 1)
    low = (x * b).numerator // (x * b).denominator
    told = [Fraction(0)] * (b + 2)
    told[low] += 1 - (x * b - low)
    told[low + 1] += x * b - low
    uniform = [Fraction(1, answers) if y >= least else Fraction(0) for y in range(b + 1)]
    return [(1 - gamma) * told[y] + gamma * uniform[y] for y in range(b + 1)]


class TestBuckets:
    @pytest.mark.parametrize("printed", PRINTED)
    @pytest.mark.parametrize("b", [1, 2, 5])
    @pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(9, 10), Fraction(1)])
    def test_law(self, b, x, printed):
        found = Buckets(math.log(3), b, printed=printed).law(float(x))
        assert found == pytest.approx([float(v) for v in law_by_hand(b, Fraction(3), x, printed=printed)], abs=1e-15)

    @pytest.mark.parametrize("b", [1, 2, 5, 40])
    def test_corrected_is_exactly_eps_private_and_printed_is_not_private(self, b):
        laws = np.array([Buckets(1.3, b).law(k / b) for k in range(b + 1)])
        assert (laws.max(axis=0) / laws.min(axis=0)).max() == pytest.approx(math.exp(1.3), rel=1e-12)
        bad = Buckets(1.3, b, printed=True)
        assert bad.law(0.0)[0] == pytest.approx(1 - bad.gamma)
        assert bad.law(1.0)[0] == 0

    @pytest.mark.parametrize("printed", PRINTED)
    def test_expected_estimate(self, printed):
        one = Buckets(0.7, 3, printed=printed)
        for x in (0.0, 0.2, 0.77, 1.0):
            mean = one.law(x) @ np.arange(4)
            assert float(one.estimate(mean, users=1)) - x == pytest.approx(one.bias, abs=1e-13)
        # gamma/(2 b (1 - gamma)) by hand: gamma = 3/(p + 2)
        p = math.exp(0.7)
        assert one.bias == pytest.approx(3 / (p + 2) / (6 * (1 - 3 / (p + 2))) if printed else 0.0)

    @pytest.mark.parametrize("printed", PRINTED)
    def test_draws_follow_the_law(self, printed):
        one = Buckets(1.0, 4, printed=printed)
        n = 40_000
        seen = np.bincount(one.randomize(np.full(n, 0.4), 3).astype(int), minlength=5)
        law = one.law(0.4)
        assert (seen[law == 0] == 0).all()
        assert stats.chisquare(seen[law > 0], n * law[law > 0]).pvalue > 1e-4
        dummies = one.blanket(n, 4)
        assert dummies.min() == one.least
        assert stats.chisquare(np.bincount(dummies.astype(int))[one.least :]).pvalue > 1e-4

    def test_dummies_do_not_move_the_estimate(self):
        one = Buckets(1.0, 4)
        assert float(one.estimate(2 * 5, users=0, dummies=5)) == pytest.approx(0.0, abs=1e-15)

    def test_same_seed_same_reports_and_shape_kept(self):
        x = np.linspace(0, 1, 12).reshape(3, 4)
        one = Buckets(0.5, 2)
        assert (one.randomize(x, 5) == one.randomize(x, 5)).all()
        assert one.randomize(x, 5).shape == (3, 4)

    @pytest.mark.parametrize(("eps", "b"), [(0.0, 2), (-1.0, 2), (701.0, 2), (math.nan, 2), (1.0, 0), (1.0, 2.5)])
    def test_refused(self, eps, b):
        with pytest.raises(InvalidValue):
            Buckets(eps, b)

    @pytest.mark.parametrize("x", [[-0.01], [1.01], [math.nan]])
    def test_values_outside_the_interval_refused(self, x):
        with pytest.raises(InvalidValue):
            Buckets(1.0, 2).randomize(x, 1)
        with pytest.raises(InvalidValue):
            Laplace(1.0).randomize(x, 1)


class TestLaplace:
    @pytest.mark.parametrize("eps", [0.01, 0.5, 3.0])
    def test_gamma_is_the_integral_of_the_least_density(self, eps):
        def least(y):
            return eps / 2 * math.exp(-eps * max(abs(y - x) for x in (0.0, 1.0)))

        # int min over x of the density, by halves: the farthest input is 0 or 1
        found = 2 * integrate.quad(least, 0.5, math.inf)[0]
        assert Laplace(eps).gamma == pytest.approx(found, rel=1e-9)

    def test_reports_and_blanket(self):
        one = Laplace(2.0)
        assert stats.kstest(one.randomize(np.full(20_000, 0.3), 1), stats.laplace(0.3, 0.5).cdf).pvalue > 1e-4
        assert stats.kstest(one.blanket(20_000, 2), stats.laplace(0.5, 0.5).cdf).pvalue > 1e-4

    @pytest.mark.parametrize("m", [1, 3])
    def test_sum_of_noises_has_the_law_of_the_sum(self, m):
        one = Laplace(2.0)
        found = one.noise_sum(np.full(20_000, m), 1)
        direct = np.random.default_rng(2).laplace(0, 0.5, size=(20_000, m)).sum(axis=1)
        assert stats.ks_2samp(found, direct).pvalue > 1e-4

    def test_sum_of_many_noises_has_their_variance(self):
        found = Laplace(0.5).noise_sum(np.full(50_000, 300), 1)
        variance = 300 * 2 / 0.5**2
        # a standard error of the variance of nearly normal draws is variance sqrt(2/n)
        assert abs(found.var() - variance) < 5 * variance * math.sqrt(2 / 50_000)
        assert (Laplace(0.5).noise_sum(np.zeros(3), 1) == 0).all()

    def test_estimate(self):
        assert float(Laplace(1.0).estimate(7.5, users=10, dummies=3)) == 6.0

    @pytest.mark.parametrize("count", [[-1], [0.5], [math.nan]])
    def test_counts_refused(self, count):
        with pytest.raises(InvalidValue):
            Laplace(1.0).noise_sum(count, 1)

    @pytest.mark.parametrize("eps", [0.0, -1.0, math.inf])
    def test_refused(self, eps):
        with pytest.raises(InvalidValue):
            Laplace(eps)

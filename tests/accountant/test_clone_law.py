"""The law of the number of clones against exact arithmetic, and its certified errors."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_oracle import mpf, sum_of_bernoullis
from scipy.stats import binom

from gspa.accountant import binomial as _binomial
from gspa.accountant import clones as clone_law


def spread(q, count=None):
    q = np.asarray(q, dtype=np.float64)
    return q, 1 - q, np.ones(q.size) if count is None else np.asarray(count, dtype=np.float64)


def exact_binomial(k, n, q):
    q = mpf(q)
    return mpmath.binomial(n, k) * q**k * (1 - q) ** (n - k)


class TestBinomial:
    @pytest.mark.parametrize(
        ("n", "q"), [(1, 0.3), (30, 0.01), (1000, 0.5), (10**6, 1e-6), (10**6, 0.2), (10**9, 0.7), (10**9, 1e-9)]
    )
    def test_pmf_against_mpmath(self, n, q):
        deviation = math.sqrt(n * q * (1 - q))
        k = np.unique(np.clip(np.round(n * q + deviation * np.linspace(-8, 8, 17)), 0, n))
        got = _binomial.pmf(k, float(n), q, 1 - q)
        # Within 8 deviations the rounding of n q moves the exponent by at most 8 deviations * 1e-16.
        allowed = 2e-15 * (5 + 8 * deviation)
        for value, point in zip(got, k, strict=True):
            assert abs(value / exact_binomial(int(point), n, q) - 1) < allowed

    @pytest.mark.parametrize("y", [1e-8, 1e-3, 0.02, 0.0499, 0.05, 1.0, 40.0])
    def test_log_cosh_to_its_stated_error(self, y):
        with mpmath.workdps(40):
            exact = mpmath.log(mpmath.cosh(mpf(y)))
            assert abs(_binomial._log_cosh(np.array([y]))[0] - exact) <= (
                1e-15 * exact if y < 0.05 else 1e-16 + 2e-16 * exact
            )

    @pytest.mark.parametrize("c", [1, 2, 7, 63, 64, 255, 256, 1000, 10**6, 10**9])
    def test_fair_pmf_and_tail_against_sums(self, c):
        # J is defined by P(Bin(c, 1/2) < l) = (l/d) b(l) (1 - J), d = c + 1 - 2l.
        for z in (0.0, 0.5, 2.0, 6.0, 9.5):
            left = int((c + 1 - z * math.sqrt(c + 1)) // 2)
            if left < 1 or c + 1 - 2 * left < 1:
                continue
            d = c + 1 - 2 * left
            ratio = term = mpf(0)
            term = mpf(1)
            steps = left if c <= 10**6 else 0
            for j in range(steps):
                term = term * (left - j) / (c - left + 1 + j)
                ratio += term
                if term < ratio * mpf(10) ** -30:
                    break
            b = _binomial.fair_pmf(np.array([float(left)]), np.array([float(c)]))[0]
            with mpmath.workdps(40):
                exact = mpmath.binomial(c, left) * mpf(2) ** -c
            assert abs(b / exact - 1) < 5e-14
            if steps:
                tail = _binomial.tail_integral(np.array([c + 1.0]), np.array([float(d)]))[0]
                assert abs(tail / (1 - ratio * d / left) - 1) < 3e-13

    def test_tail_integral_does_not_depend_on_its_neighbours(self):
        # Counts share quadrature nodes; alone each gets its own.
        c1 = np.arange(200.0, 3000.0, 7.0)
        d = c1 - 2 * np.floor((c1 - 3 * np.sqrt(c1)) / 2)
        together = _binomial.tail_integral(c1, d)
        alone = [_binomial.tail_integral(c1[i : i + 1], d[i : i + 1])[0] for i in range(c1.size)]
        np.testing.assert_allclose(together, alone, rtol=3e-13)


class TestProduct:
    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.floats(1e-9, 1 - 1e-9), min_size=2, max_size=40))
    def test_against_rationals(self, q):
        law = clone_law.clone_law(*spread(q))
        exact = sum_of_bernoullis([Fraction(v) for v in q])
        assert law.edges[0] == 0
        assert law.below == law.above == law.far_mass == 0
        for got, error, want in zip(law.mass, law.error, exact, strict=False):
            assert abs(Fraction(float(got)) - want) <= Fraction(float(error))
            # 1 - q is rounded in `spread`: 40 users, 1e-16 each.
            assert abs(float(got) - float(want)) <= 1e-13 * float(want) + 1e-300

    def test_certain_and_silent_users_shift_the_law(self):
        law = clone_law.clone_law(*spread([1.0, 0.0, 0.5, 0.25], [3, 5, 1, 1]))
        assert law.edges.tolist() == [3, 4, 5, 6]
        assert law.mass == pytest.approx([0.375, 0.5, 0.125], rel=1e-15)
        assert law.mean == 3.75


def two_groups(c, n1, q1, n2, q2):
    """P(C = c) of two groups of users, to 30 digits of its 50."""
    low, high = max(0, c - n2), min(n1, c)
    centre = round(n1 * q1 + (c - n1 * q1 - n2 * q2) * n1 * q1 * (1 - q1) / (n1 * q1 * (1 - q1) + n2 * q2 * (1 - q2)))
    centre = min(max(centre, low), high)
    # Ratios instead of two binomials for each term, and from the middle out, where terms only fall, to 1e-30 of it;
    # in decimals, which take a tenth of mpmath's time.
    with localcontext(Context(prec=50)):
        odds = Decimal(q1) / (1 - Decimal(q1)) / (Decimal(q2) / (1 - Decimal(q2)))
        total, least = Decimal(1), Decimal(10) ** -30
        for step in (1, -1):
            i, term, before = centre, Decimal(1), Decimal(1)
            while low <= i + step <= high and not before > term < least:
                if step > 0:
                    before, term = term, term * odds * ((n1 - i) * (c - i)) / ((i + 1) * (n2 - c + i + 1))
                else:
                    before, term = term, term / odds * (i * (n2 - c + i)) / ((n1 - i + 1) * (c - i + 1))
                i += step
                total += term
        shown = str(total)
    return exact_binomial(centre, n1, q1) * exact_binomial(c - centre, n2, q2) * mpf(shown)


CASES = [
    (1500, 0.3, 1500, 0.9),
    (3000, 0.001, 4000, 0.003),
    (3000, 0.999, 4000, 0.002),
    (200_000, 0.5, 100_000, 0.1),
    (10**6, 0.9, 10**6, 0.95),
    (10, 0.5, 10**6, 1e-5),
]


class TestFourier:
    @pytest.mark.parametrize("case", CASES)
    @pytest.mark.parametrize("slope", [0.0, -0.1])
    def test_masses_within_their_errors(self, case, slope):
        n1, q1, n2, q2 = case
        law = clone_law.clone_law(*spread([q1, q2], [n1, n2]), slope=slope)
        assert law.edges[1] - law.edges[0] == 1
        peak = law.mass.max()
        for i in np.unique(np.linspace(0, law.mass.size - 1, 15).astype(int)):
            exact = two_groups(int(law.edges[i]), *case)
            # The allowance is several times what is measured.
            assert abs(law.mass[i] - exact) <= 0.25 * law.error[i]
            # The first block's also pays for what wraps around the period of the Fourier sum.
            assert i == 0 or law.error[i] < 1e-10 * exact + 1e-12 * peak * math.exp(
                -slope * (law.edges[i] - law.edges[0])
            )

    @pytest.mark.parametrize("case", CASES)
    def test_mass_left_out_is_bounded(self, case):
        n1, q1, n2, q2 = case
        law = clone_law.clone_law(*spread([q1, q2], [n1, n2]), depth=12.0)
        if law.edges[0] > 0:
            tail = sum(two_groups(int(law.edges[0]) - 1 - i, *case) for i in range(min(10, int(law.edges[0]))))
            assert tail <= law.below
        if law.far > 0:
            tail = sum(two_groups(int(law.far) - 1 - i, *case) for i in range(min(10, int(law.far))))
            assert tail <= law.far_mass
        assert abs(law.mass.sum() - 1) <= law.below + law.above + law.error.sum() + 1e-14

    def test_blocks_hold_the_sum_of_their_points(self):
        q, rest, count = spread([0.3, 0.31], [10**7, 10**7])
        law = clone_law.clone_law(q, rest, count)
        size = int(law.edges[1] - law.edges[0])
        assert size > 1
        for j in (0, law.mass.size // 2):
            exact = sum(two_groups(int(law.edges[j]) + i, 10**7, 0.3, 10**7, 0.31) for i in range(size))
            assert abs(law.mass[j] - exact) <= law.error[j]


class TestBlocks:
    @settings(max_examples=40, deadline=None)
    @given(st.integers(1, 400), st.integers(1, 50))
    def test_merging_keeps_the_mass_and_the_ends(self, n, step):
        q = np.linspace(0.1, 0.9, n)
        law = clone_law.clone_law(*spread(q))
        short = law.merged(step)
        assert short.mass.size == -(-law.mass.size // step)
        assert short.mass.sum() == pytest.approx(law.mass.sum(), rel=1e-13)
        assert short.error.sum() == pytest.approx(law.error.sum(), rel=1e-13)
        assert (short.edges[0], short.edges[-1]) == (law.edges[0], law.edges[-1])
        assert set(short.edges) <= set(law.edges)


@pytest.mark.parametrize(
    ("n", "total"), [(30, 40), (30, 12), (5000, 5600), (5000, 2500), (2 * 10**7, 2 * 10**7), (4, 0)]
)
def test_shifted(n, total):
    """The law of total - C, where it is >= 0, which is that of C - (n - total), against the law itself."""
    q = np.array([0.5])
    law = clone_law.clone_law(q, 1 - q, np.array([float(n)]), depth=70.0, above=70.0)
    moved = law.shifted(3)
    assert (moved.edges == law.edges + 3).all()
    assert moved.mean == law.mean + 3
    back = law.shifted(total - n)
    assert back.edges[0] >= 0
    assert (np.diff(back.edges) > 0).all()
    for c in np.linspace(0, total, 9).astype(int):
        # P(C' <= c) = P(C >= total - c) less P(C > total)
        exact = float(binom.cdf(total, n, 0.5) - binom.cdf(total - c - 1, n, 0.5))
        inside = float((back.mass + back.error)[back.edges[:-1] <= c].sum()) + back.below
        assert inside >= exact * (1 - 1e-9) - back.above
    everything = float(back.mass.sum())
    assert everything <= float(binom.cdf(total, n, 0.5)) * (1 + 1e-9) + back.error.sum()
    assert everything + back.below + back.above >= float(binom.cdf(total, n, 0.5)) * (1 - 1e-9)


@pytest.mark.parametrize("missing", [0, 1, 3])
def test_nearly_everybody_is_a_clone(missing):
    n, rest = 10**12, 1e-12
    exact = mpmath.binomial(n, missing) * mpf(rest) ** missing * mpmath.exp((n - missing) * mpmath.log1p(-mpf(rest)))
    for k, p, q in ((n - missing, 1 - rest, rest), (missing, rest, 1 - rest)):
        assert float(_binomial.pmf(np.array([float(k)]), float(n), p, q)[0]) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("variance", [0.0, 1.0, 1e6])
@pytest.mark.parametrize("depth", [1.0, 40.0, 800.0])
def test_the_reach_is_where_bernsteins_inequality_has_that_depth(variance, depth):
    t = clone_law._reach(variance, depth)
    assert t**2 / (2 * (variance + t / 3)) == pytest.approx(depth, rel=1e-11)
    assert t**2 / (2 * (variance + t / 3)) >= depth

"""The dominating pair against enumeration from its definition."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_oracle import hockey_stick, mpf, pair_law, sum_of_bernoullis

from gspa.accountant import budgets
from gspa.accountant.clones import clone_law
from gspa.accountant.one_round import central_delta
from gspa.accountant.pair import Victim, clone_divergence, divergence

HALF = mpf(1) / 2


def binary_clones(eps):
    eps = np.asarray(eps, dtype=np.float64)
    return 2 / (1 + np.exp(eps)), np.tanh(eps / 2), np.ones(eps.size)


def bracket(victim, q, rest, count, eps):
    return divergence(clone_law(q, rest, count), victim, eps)


class TestEnumeration:
    """Random populations of up to 40 users, all counts enumerated at 50 digits."""

    @pytest.mark.parametrize("seed", range(2))
    def test_inside_the_interval(self, seed):
        rng = np.random.default_rng(seed)
        seen = 0
        for _ in range(30):
            n = int(rng.integers(1, 41))
            eps_local = float(rng.choice([rng.uniform(0.01, 1), rng.uniform(0.01, 8)]))
            others = rng.uniform(0, 8, n - 1) * rng.choice([1.0, 0.1])
            q, p = 2 / (np.exp(others) + 1), mpmath.exp(mpf(eps_local))
            table = pair_law(sum_of_bernoullis([mpf(float(v)) for v in q]), p / (p + 1), 1 / (p + 1), 0, HALF)
            law = clone_law(q, np.tanh(others / 2), np.ones(n - 1))
            for fraction in (0.0, 0.05, 0.3, 0.6, 0.9, 0.99):
                eps = eps_local * fraction
                exact = hockey_stick(table, mpmath.exp(mpf(eps)))
                lower, value, upper = divergence(law, Victim.binary(eps_local), eps)
                assert lower <= exact <= upper
                seen += exact > 1e-20
                if exact > 1e-250:
                    assert upper - lower <= exact * 5e-11
                    assert abs(value - exact) <= exact * 1e-12
        assert seen > 60


class TestLargeCounts:
    @pytest.mark.parametrize("c", [50, 500, 5000])
    @pytest.mark.parametrize("z", [0.0, 1.0, 5.0, 9.0])
    def test_against_the_definition(self, c, z):
        # h_c = D b(k-1) - (e^eps - 1) P(Bin >= k) at 60 digits.
        eps_local = 0.7
        eps = z * math.tanh(eps_local / 2) * 2 / math.sqrt(c)
        if eps >= eps_local:
            pytest.skip("beyond the local budget")
        with mpmath.workdps(60):
            w, e = mpmath.exp(eps_local) / (1 + mpmath.exp(eps_local)), mpmath.exp(mpf(eps))
            gain, loss = w - e * (1 - w), e * w - (1 - w)
            k = int(mpmath.floor((c + 1) * loss / (loss + gain))) + 1
            b = [mpmath.binomial(c, i) * mpf(2) ** -c for i in range(k - 1, c + 1)]
            exact = gain * b[0] - (e - 1) * mpmath.fsum(b[1:])
        got = float(clone_divergence(np.array([float(c)]), Victim.binary(eps_local), eps)[0])
        assert abs(got / exact - 1) < 1e-12


BUDGET = st.floats(0.01, 6)


class TestShape:
    @settings(max_examples=100, deadline=None)
    @given(BUDGET, st.floats(0, 0.999), st.integers(0, 3000))
    def test_more_clones_hide_better(self, eps_local, fraction, c):
        counts = np.arange(c, c + 30, dtype=np.float64)
        h = clone_divergence(counts, Victim.binary(eps_local), fraction * eps_local)
        assert np.all(np.diff(h) <= 1e-12 * h[:-1])
        assert np.all(h >= 0)

    @settings(max_examples=60, deadline=None)
    @given(st.lists(BUDGET, min_size=1, max_size=20), BUDGET, st.floats(0.0, 0.99), st.floats(0.001, 0.5))
    def test_monotone(self, others, eps_local, fraction, more):
        eps = fraction * eps_local
        clones = binary_clones(others)
        base = bracket(Victim.binary(eps_local), *clones, eps)
        assert base[0] <= base[1] <= base[2]
        assert bracket(Victim.binary(eps_local), *clones, eps + more)[0] <= base[2]  # falls with eps
        assert bracket(Victim.binary(eps_local + more), *clones, eps)[2] >= base[0]  # grows with eps_n
        q, rest, count = clones
        hidden = bracket(Victim.binary(eps_local), np.r_[q, 0.5], np.r_[rest, 0.5], np.r_[count, 1.0], eps)
        assert hidden[0] <= base[2]  # falls with another user
        louder = bracket(Victim.binary(eps_local), *binary_clones(np.array(others) + more), eps)
        assert louder[2] >= base[0]  # grows with the others' eps

    @settings(max_examples=40, deadline=None)
    @given(st.lists(BUDGET, min_size=50, max_size=300), BUDGET, st.floats(0.0, 0.9), st.integers(1, 40))
    def test_longer_blocks_only_widen(self, others, eps_local, fraction, step):
        eps, victim = fraction * eps_local, Victim.binary(eps_local)
        law = clone_law(*binary_clones(others))
        sharp, blunt = divergence(law, victim, eps), divergence(law.merged(step), victim, eps)
        assert blunt[0] <= sharp[0] * (1 + 1e-9) + 1e-300
        assert blunt[2] >= sharp[2] * (1 - 1e-9)

    def test_huge_budgets_do_not_overflow(self):
        q = np.array([1e-3])
        lower, _, upper = bracket(Victim.binary(800.0), q, 1 - q, np.array([100.0]), 750.0)
        # Nobody confuses this report with another unless somebody else is a clone: (1-q)^100 h_0 + ...
        assert 0.999**100 <= upper <= 1
        assert lower > 0.9


def test_a_budget_too_small_to_halve_gives_nothing_away():
    assert central_delta(budgets.from_array([5e-324]), eps=0.0).upper == pytest.approx(0, abs=1e-300)

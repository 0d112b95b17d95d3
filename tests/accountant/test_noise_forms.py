"""Published bounds for Laplace and Gaussian reports: definitions, the authors' own numbers, what refutes one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from exact_shuffle import binary_laws, hockey_stick, laplace_delta
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from gspa.accountant import budgets
from gspa.accountant import closed_forms as c
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.accountant.published import compare


def density(y, x, eps):
    return eps / 2 * np.exp(-eps * np.abs(y - x))


def clone_by_definition(eps, most):
    """2 min(a, b) of `liu24_clones`, the sets found on a grid."""
    y = (np.arange(4_000_000) + 0.5) / 50_000 - 40
    zero, one, own = density(y, 0, most), density(y, 1, most), density(y, 0, eps)
    first, second = (zero > one) & (zero > own), (one > zero) & (one > own)
    a = own[first].sum() / 50_000 if first.any() else 1.0
    return 2 * min(a, own[second].sum() / 50_000)


def pair_delta(eps, clones, w, n):
    """The divergence of `liu24_epsilon`'s pair, outcome by outcome."""
    total = 0.0
    for number in range(n + 1):
        a = np.arange(number + 2)
        low, high = binom.pmf(a, number, 0.5), binom.pmf(a - 1, number, 0.5)
        gain = (1 - 2 * w) * low + 2 * w * high - math.exp(eps) * high
        total += binom.pmf(number, n, clones / n) * np.maximum(gain, 0).sum()
    return total


class TestLiu24:
    @pytest.mark.parametrize(("eps", "most"), [(0.2, 3.0), (2.0, 2.0), (0.99, 1.0)])
    def test_clones_by_definition(self, eps, most):
        people = budgets.from_array([eps, most], count=[100, 1])
        assert c.liu24_clones(people) == pytest.approx(100 * clone_by_definition(eps, most), rel=1e-4)

    def test_a_user_without_budget_is_none(self):
        # Its law spreads beyond the sets where the victim's are larger: the limit is 0.
        people = budgets.from_array([0.0, 1.0], count=[7, 1])
        assert c.liu24_clones(people) == 0
        assert 0 < c.liu24_clones(budgets.from_array([1e-6, 1.0], count=[7, 1])) < 1e-3
        assert c.liu24_clones(budgets.constant(0.0, n=8)) == 7
        with pytest.raises(OutsideValidity, match="fewer than 2e9 clones"):
            c.liu24_epsilon(people, delta=1e-6)

    @settings(max_examples=20)
    @given(st.floats(0.1, 3), st.integers(20, 150), st.floats(1e-4, 0.05))
    def test_epsilon_meets_delta_exactly(self, eps0, n, delta):
        people = budgets.constant(eps0, n=n)
        try:
            eps = c.liu24_epsilon(people, delta=delta)
        except OutsideValidity:
            assert pair_delta(eps0, c.liu24_clones(people), math.exp(-eps0 / 2) / 2, n) > delta
            return
        found = pair_delta(eps, c.liu24_clones(people), math.exp(-eps0 / 2) / 2, n)
        assert found == pytest.approx(delta, rel=1e-6) if eps > 0 else found <= delta

    @pytest.mark.parametrize(
        ("eps", "count", "delta", "printed"),
        [
            # numericalanalysis(n, eps, 0, delta, 10, 100, True, "laplacian", 1.0) of yixuanLL/HPS at commit ddd02eb.
            ([1.0], [1_000], 1e-6, 0.1297098770737648),
            ([0.5], [5_000], 1e-6, 0.024288639426231384),
            ([0.2, 1.0], [2_000, 1_000], 1e-5, 0.06611317908391356),
            ([4.0], [3_000], 1e-6, 0.3498844802379608),
            ([0.05, 3.0], [2_000, 20], 1e-5, 0.4316896079108119),
        ],
    )
    def test_the_authors_code_agrees_up_to_its_grid(self, eps, count, delta, printed):
        assert c.liu24_epsilon(budgets.from_array(eps, count=count), delta=delta) == pytest.approx(printed, rel=5e-3)

    @pytest.mark.parametrize(("eps0", "n", "cut"), [(4.0, 3_000, 0.25), (5.0, 10_000, 0.0)])
    def test_it_is_no_upper_bound(self, eps0, n, cut):
        eps = c.liu24_epsilon(budgets.constant(eps0, n=n), delta=1e-6)
        assert laplace_delta(eps0, n, eps, cut) > 9 * 1e-6
        rows = {row.key: row for row in compare(budgets.constant(eps0, n=n), delta=1e-6, mechanism="laplace")}
        assert not rows["liu24"].rigorous
        assert "not a certified upper bound" in rows["liu24"].note
        assert rows["su25"].epsilon > eps
        assert laplace_delta(eps0, n, rows["su25"].epsilon, cut) <= 1e-6

    def test_thinned_sums_agree(self, monkeypatch):
        people = budgets.constant(1.0, n=10**6)
        thin = c.liu24_epsilon(people, delta=1e-8)
        monkeypatch.setattr(c, "_CLONES_TRIED", 10**6)
        assert thin == pytest.approx(c.liu24_epsilon(people, delta=1e-8), rel=1e-4)

    def test_refusals(self):
        for people, reason in (
            (budgets.constant(1.0, n=1), "n >= 2, .*n=1"),
            (budgets.constant(1.0, n=100, delta=1e-9), "needs pure local privacy"),
            (budgets.constant(701.0, n=100), "eps 701 to 701"),
            (budgets.constant(600.0, n=100), "some eps up to the largest eps_i"),
        ):
            with pytest.raises(OutsideValidity, match=reason):
                c.liu24_epsilon(people, delta=1e-6)
        with pytest.raises(InvalidValue, match="delta"):
            c.liu24_epsilon(budgets.constant(1.0, n=10), delta=0)
        assert c.liu24_epsilon(budgets.constant(0.0, n=10), delta=1e-6) == 0


@settings(max_examples=6)
@given(st.floats(0.3, 10), st.integers(2, 20_000), st.floats(1e-9, 0.1))
def test_the_evaluated_blanket_of_gaussian_reports_is_above_an_attack(sigma, n, delta):
    # Count the reports above a cut; all others at 0. No guarantee is below what that shows.
    eps = blanket_epsilon([sigma], count=n, delta=delta, mechanism="gaussian").upper
    for cut in (0.5, 0.5 + sigma, 1 + 2 * sigma):
        at0, at1 = (norm.sf(cut, x, sigma) for x in (0, 1))
        assert hockey_stick(*binary_laws(at0, at1, at0, at1, n, 0), eps) <= delta * (1 + 1e-9)


def test_tiny_scales_are_a_refusal_of_the_evaluated_bound():
    row = compare(budgets.constant(1e-200, n=100), delta=1e-6, keys=["su25"])[0]
    assert not row.valid
    assert "eps0 >= 1e-150" in row.note

"""Published bounds for Laplace and Gaussian reports: definitions, the authors' own numbers, what refutes one."""

from __future__ import annotations

import math
from itertools import product

import mpmath
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
    @pytest.mark.parametrize(("eps", "most"), [(0.8, 1.0), (0.2, 3.0), (2.0, 2.0), (1.5, 4.0), (0.99, 1.0)])
    def test_clones_by_definition(self, eps, most):
        people = budgets.from_array([eps, most], count=[100, 1])
        assert c.liu24_clones(people) == pytest.approx(100 * clone_by_definition(eps, most), rel=1e-4)

    def test_a_user_without_budget_is_none(self):
        # Its law spreads beyond the sets where the victim's are larger: the limit is 0.
        people = budgets.from_array([0.0, 1.0], count=[7, 1])
        assert c.liu24_clones(people) == 0
        assert 0 < c.liu24_clones(budgets.from_array([1e-6, 1.0], count=[7, 1])) < 1e-3
        assert c.liu24_clones(budgets.constant(0.0, n=8)) == 7
        with pytest.raises(OutsideValidity, match="no other user is one"):
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
        monkeypatch.setattr(c, "_CLONES", 10**6)
        assert thin == pytest.approx(c.liu24_epsilon(people, delta=1e-8), rel=1e-4)

    def test_refusals(self):
        for people, reason in (
            (budgets.constant(1.0, n=1), "n >= 2 users; n = 1"),
            (budgets.constant(1.0, n=100, delta=1e-9), "needs pure local privacy"),
            (budgets.constant(701.0, n=100), "eps_i <= 700"),
            (budgets.constant(600.0, n=100), "more clones"),
        ):
            with pytest.raises(OutsideValidity, match=reason):
                c.liu24_epsilon(people, delta=1e-6)
        with pytest.raises(InvalidValue, match="delta"):
            c.liu24_epsilon(budgets.constant(1.0, n=10), delta=0)
        assert c.liu24_epsilon(budgets.constant(0.0, n=10), delta=1e-6) == 0


def liew_by_definition(sigma, n, order):
    """The printed sum over k_1 + ... + k_n = order."""
    with mpmath.workdps(40):
        half, total = 1 / (2 * mpmath.mpf(sigma) ** 2), mpmath.mpf(0)
        for k in product(range(order + 1), repeat=n):
            if sum(k) == order:
                many = mpmath.factorial(order) / mpmath.fprod(mpmath.factorial(one) for one in k)
                total += many * mpmath.exp(half * sum(one * one for one in k))
        return float(mpmath.log(total * mpmath.exp(-half * order) / mpmath.mpf(n) ** order) / (order - 1))


def liew22_renyi(sigma, n, order):
    return float(c._liew22(sigma, n, order)[-1])


class TestLiew22:
    @pytest.mark.parametrize(("sigma", "n", "order"), [(1.0, 3, 5), (0.3, 2, 7), (2.5, 4, 4), (1.0, 6, 3)])
    def test_the_printed_formula(self, sigma, n, order):
        assert liew22_renyi(sigma, n, order) == pytest.approx(liew_by_definition(sigma, n, order), rel=1e-10)

    @given(st.floats(0.1, 20), st.integers(1, 10**7), st.integers(2, 40))
    def test_shuffling_never_hurts(self, sigma, n, order):
        found = liew22_renyi(sigma, n, order)
        assert 0 <= found <= order / (2 * sigma**2) * (1 + 1e-9) + 1e-10
        assert liew22_renyi(sigma, 2 * n, order) <= found * (1 + 1e-9) + 1e-10

    @pytest.mark.parametrize(
        ("sigma", "n", "delta", "printed"),
        [
            # ShuffGaussRDPtoDP(sigma, n, 20).get_eps(delta, 1) of spliew/shuffgauss at commit aa82852; the second is
            # its README's example.
            (1.0, 10_000, 1e-6, 0.5886397406124565),
            (1.0, 600_000, 1 / 600_000, 0.49131180031187177),
            (2.0, 1_000, 1e-5, 0.39982126254803013),
        ],
    )
    def test_the_authors_code_agrees(self, sigma, n, delta, printed):
        assert c.liew22_epsilon(sigma, n=n, delta=delta, largest_order=20) == pytest.approx(printed, rel=1e-9)
        assert c.liew22_epsilon(sigma, n=n, delta=delta) <= printed * (1 + 1e-9)

    def test_larger_orders_are_tried_where_they_help(self):
        few = c.liew22_epsilon(10.0, n=10_000, delta=1e-6, largest_order=20)
        many = c.liew22_epsilon(10.0, n=10_000, delta=1e-6, largest_order=512)
        assert many < few / 20

    def test_refusals(self):
        with pytest.raises(InvalidValue, match="largest_order"):
            c.liew22_epsilon(1.0, n=10, delta=1e-6, largest_order=5_000)
        with pytest.raises(InvalidValue, match="sigma"):
            c.liew22_epsilon(0.0, n=10, delta=1e-6)
        with pytest.raises(OutsideValidity, match="sigma >= 1e-100"):
            c.liew22_epsilon(1e-120, n=10, delta=1e-6)


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

"""Clone-type closed forms: as printed, against exact protocols, and where they are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from exact_shuffle import binary_laws, clipped_laplace_law, clone_pair_delta, hockey_stick, rr_delta, rr_delta_worst
from hypothesis import given, settings
from hypothesis import strategies as st

from gspa.accountant import budgets
from gspa.accountant import closed_forms as c
from gspa.accountant.blanket_forms import wang24_epsilon
from gspa.accountant.closed_forms import fmt21_epsilon
from gspa.accountant.errors import InvalidValue, OutsideValidity


class TestBlog:
    @given(st.floats(0, 8), st.integers(1, 10**7), st.floats(1e-12, 0.999))
    def test_folds_the_second_term_upward_under_the_same_condition(self, eps0, n, delta):
        try:
            exact = fmt21_epsilon(eps0, n=n, delta=delta)
        except OutsideValidity:
            with pytest.raises(OutsideValidity, match=r"needs eps0 <= log\(n/\(16 log\(2/delta\)\)\)"):
                c.clones_blog_epsilon(eps0, n=n, delta=delta)
        else:
            assert exact <= c.clones_blog_epsilon(eps0, n=n, delta=delta) <= 2 * exact

    def test_refusal_has_its_name(self):
        with pytest.raises(OutsideValidity, match=r"hide among the clones.*eps0 = 3, n = 100, delta = 0.01"):
            c.clones_blog_epsilon(3, n=100, delta=0.01)


class TestFmt23:
    def test_condition(self):
        n, delta = 10_000, 1e-4
        edge = math.log(n / (8 * math.log(2 / delta)) - 1)
        assert c.fmt23_epsilon(edge - 1e-12, n=n, delta=delta) > 0
        for eps0, size in ((edge + 1e-9, n), (0.0, 158), (0.0, 79)):  # e^0 + 1 = 2 needs n >= 158.46
            with pytest.raises(OutsideValidity, match=r"Theorem 3.2: needs eps0 <= log\(n/\(8 log\(2/delta\)\) - 1\)"):
                c.fmt23_epsilon(eps0, n=size, delta=delta)
        assert c.fmt23_epsilon(0.0, n=159, delta=delta) == 0

    def test_not_below_the_exact_value_over_all_inputs(self):
        for eps0, n, delta in ((0.3, 60, 0.3), (1.0, 120, 0.1), (2.0, 170, 0.2)):
            assert rr_delta_worst(eps0, n, c.fmt23_epsilon(eps0, n=n, delta=delta)) <= delta

    @settings(max_examples=25)
    @given(st.floats(0.01, 4), st.integers(60, 2000), st.floats(1e-9, 0.3))
    def test_not_below_the_revealed_pair(self, eps0, n, delta):
        # Its own clones, 2/(e^{eps0}+1) of them expected a user, told to the observer.
        try:
            eps = c.fmt23_epsilon(eps0, n=n, delta=delta)
        except OutsideValidity:
            return
        assert clone_pair_delta(eps0, n, eps, 1 / (1 + math.exp(eps0))) <= delta


class TestWang24:
    """At the largest total variation c, which says how often neither clone is answered, does not matter."""

    @given(st.floats(0, 4), st.integers(10**4, 10**7), st.floats(1e-9, 0.1))
    def test_is_fmt23_with_one_user_less(self, eps0, n, delta):
        found = wang24_epsilon(eps0, n=n, delta=delta)
        assert found == pytest.approx(c.fmt23_epsilon(eps0, n=n - 1, delta=delta), rel=1e-12)

    def test_refusals(self):
        with pytest.raises(OutsideValidity, match=r"needs n > 8 log\(4/delta\)/r; r = 0.377541, so n > 224.5; n = 224"):
            wang24_epsilon(0.5, n=224, delta=1e-4)
        assert wang24_epsilon(0.5, n=225, delta=1e-4) > 0
        with pytest.raises(OutsideValidity, match="r = 0"):
            wang24_epsilon(800, n=10_000, delta=1e-4)
        assert math.isfinite(wang24_epsilon(0, n=2, delta=1e-4))


def echoes_by_definition(eps):
    """S of Liu et al. 2023, the double sum."""
    eps = np.asarray(eps, dtype=float)
    n, victim = eps.size, int(np.argmax(eps))
    total = 0.0
    for i in range(n):
        if i != victim:
            ratio = eps[i] / eps * np.expm1(-eps) / np.expm1(-eps[i])
            total += float((ratio * np.exp(-np.maximum(eps, eps[i]))).sum()) / n
    return total


class TestLiu23:
    @given(st.lists(st.floats(1e-3, 20), min_size=2, max_size=12))
    def test_clones_by_definition(self, eps):
        assert c.liu23_clones(budgets.from_array(eps)) == pytest.approx(echoes_by_definition(eps), rel=1e-11)

    def test_eps_zero_is_the_limit(self):
        at, near = (budgets.from_array([e, 0.5, 1.0], count=[3, 4, 5]) for e in (0.0, 1e-9))
        assert c.liu23_clones(at) == pytest.approx(c.liu23_clones(near), rel=1e-8)

    @given(st.floats(0.01, 3), st.integers(20_000, 10**6), st.floats(1e-8, 1e-2))
    def test_for_equal_budgets_it_is_fmt21_with_one_user_less(self, eps0, n, delta):
        found = c.liu23_epsilon(budgets.constant(eps0, n=n), delta=delta)
        assert found == pytest.approx(fmt21_epsilon(eps0, n=n - 1, delta=delta), rel=1e-11)

    def test_the_binary_protocol_with_equal_budgets_is_not_above(self):
        for eps0, n, delta in ((0.5, 1000, 1e-2), (1.0, 2000, 1e-4)):
            assert rr_delta(eps0, n, c.liu23_epsilon(budgets.constant(eps0, n=n), delta=delta)) <= delta

    def test_it_is_below_the_exact_value_for_one_large_eps(self):
        # Count the reports in [0, 2/100]: the victim at 0 or 1, the others, at 0.01, all at 1.
        edges = [0, 0.02]
        at0, at1, other = (clipped_laplace_law(e, x, edges)[0] for e, x in ((100, 0), (100, 1), (0.01, 1)))
        eps = c.liu23_epsilon(budgets.from_array([100, 0.01], count=[1, 999]), delta=1e-4)
        assert hockey_stick(*binary_laws(at0, at1, other, other, 1000, 0), eps) > 4e-4

    def test_clipped_laplace_is_private_at_eps(self):
        # Conditioning on [0, 1] costs nothing: so that bounds for common randomizers cover it.
        x = np.linspace(0, 1, 201)
        for eps in (0.1, 1, 10):
            mass = 2 - np.exp(-eps * x) - np.exp(-eps * (1 - x))
            log = -eps * np.abs(x[:, None] - x) - np.log(mass)[:, None]
            assert np.ptp(log, axis=0).max() <= eps * (1 + 1e-12)

    def test_refusals(self):
        with pytest.raises(OutsideValidity, match=r"Echo of Neighbors: needs S >= 16 log\(4/delta\); S = 60.05"):
            c.liu23_epsilon(budgets.constant(0.5, n=100), delta=1e-4)
        with pytest.raises(OutsideValidity, match=r"needs pure local privacy, delta_i = 0; the largest delta_i is 0.1"):
            c.liu23_epsilon(budgets.constant(0.5, n=10_000, delta=0.1), delta=1e-4)
        with pytest.raises(InvalidValue, match="delta = 0"):
            c.liu23_epsilon(budgets.constant(0.5, n=10_000), delta=0)
        with pytest.raises(OutsideValidity, match="needs S"):
            c.liu23_epsilon(budgets.constant(0.5, n=1), delta=0.5)

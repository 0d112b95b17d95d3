"""Girgis et al.'s Renyi bound: printed formula, exact divergences, and the conversion."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from exact_shuffle import binary_laws, hockey_stick, krr, rr_delta, rr_delta_worst
from hypothesis import given, settings
from hypothesis import strategies as st

from gspa.accountant import closed_forms as r
from gspa.accountant.errors import OutsideValidity


def printed(eps0, n, order):
    with mpmath.workdps(40):
        p = mpmath.exp(mpmath.mpf(eps0))
        m = mpmath.floor((n - 1) / (2 * p)) + 1
        total = 1 + mpmath.binomial(order, 2) * (p - 1) ** 2 / (m * p)
        for j in range(3, order + 1):
            scale = (p**2 - 1) ** 2 / (2 * p**2 * m)
            total += mpmath.binomial(order, j) * j * mpmath.gamma(mpmath.mpf(j) / 2) * scale ** (mpmath.mpf(j) / 2)
        total += mpmath.exp(mpmath.mpf(eps0) * order - (n - 1) / (8 * p))
        return float(mpmath.log(total) / (order - 1))


def exact_renyi(p, q, order):
    """The larger of both directions, in nats."""
    both = (p > 0) & (q > 0)  # the rest underflowed, and only adds
    a, b = np.log(p[both]), np.log(q[both])
    values = (np.logaddexp.reduce(order * x - (order - 1) * y) / (order - 1) for x, y in ((a, b), (b, a)))
    return float(max(values))


class TestRenyi:
    @pytest.mark.parametrize("eps0", [1e-6, 0.1, 1.0, 4.0])
    @pytest.mark.parametrize("n", [2, 50, 10_000])
    def test_as_printed(self, eps0, n):
        for order in (2, 3, 4, 63, 64, 65, 300):
            assert r.girgis21_renyi(eps0, n=n, order=order) == pytest.approx(printed(eps0, n, order), rel=1e-9)

    @pytest.mark.parametrize(("eps0", "n"), [(0.1, 20), (0.5, 200), (1.0, 400), (2.0, 1500), (2.0, 400)])
    def test_not_below_the_exact_divergence(self, eps0, n):
        p = 1 / (1 + math.exp(eps0))
        for ones in (0, n // 2, n - 1):
            laws = binary_laws(p, 1 - p, p, 1 - p, n, ones)
            for order in (2, 3, 5, 10, 40):
                assert exact_renyi(*laws, order) <= r.girgis21_renyi(eps0, n=n, order=order)

    def test_three_answers(self):
        # The victim's message is a coin among k-RR rows; merged to two answers it can only lose.
        rows = krr(3, 1.0, 0), krr(3, 1.0, 1), krr(3, 1.0, 2)
        laws = binary_laws(rows[0][0], rows[1][0], rows[2][0], rows[2][0], 300, 0)
        for order in (2, 10):
            assert exact_renyi(*laws, order) <= r.girgis21_renyi(1.0, n=300, order=order)

    def test_extremes_are_finite(self):
        assert 700 < r.girgis21_renyi(700.0, n=2, order=2) < 2000
        assert r.girgis21_renyi(0.0, n=2, order=5) == 0
        assert math.isfinite(r.girgis21_renyi(1.0, n=2**53 - 1, order=2**16))


class TestConversion:
    @given(st.floats(0.05, 3), st.floats(1.1, 60), st.floats(1e-10, 0.4))
    def test_holds_for_randomized_response(self, eps0, order, delta):
        w = 1 / (1 + math.exp(-eps0))
        p, q = np.array([w, 1 - w]), np.array([1 - w, w])
        eps = r.renyi_to_epsilon(exact_renyi(p, q, order), order=order, delta=delta)
        assert hockey_stick(p, q, eps) <= delta * (1 + 1e-12)

    @given(st.floats(0.05, 3), st.floats(1.5, 40), st.floats(1e-8, 0.2))
    def test_holds_for_the_gaussian(self, mu, order, delta):
        # N(mu, 1) against N(0, 1) has the divergence order mu^2/2.
        eps = r.renyi_to_epsilon(order * mu * mu / 2, order=order, delta=delta)
        with mpmath.workdps(30):
            e, m = mpmath.mpf(eps), mpmath.mpf(mu)
            exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        assert exact <= delta


class TestEpsilon:
    @pytest.mark.parametrize(("eps0", "n", "delta"), [(0.5, 2000, 1e-4), (1.0, 10_000, 1e-8), (2.0, 300, 0.05)])
    def test_is_the_best_order_of_all(self, eps0, n, delta):
        every = [r.renyi_to_epsilon(r.girgis21_renyi(eps0, n=n, order=k), order=k, delta=delta) for k in range(2, 1500)]
        assert r.girgis21_epsilon(eps0, n=n, delta=delta) == min(every)

    def test_binary_over_all_inputs(self):
        for eps0, n, delta in ((0.1, 30, 1e-2), (0.5, 120, 1e-3), (1.0, 200, 1e-2)):
            assert rr_delta_worst(eps0, n, r.girgis21_epsilon(eps0, n=n, delta=delta)) <= delta

    @settings(max_examples=30)
    @given(st.floats(0.05, 3), st.integers(100, 20_000), st.floats(1e-10, 0.1))
    def test_monotone_and_not_below_exact(self, eps0, n, delta):
        eps = r.girgis21_epsilon(eps0, n=n, delta=delta)
        assert rr_delta(eps0, n, eps) <= delta
        assert r.girgis21_epsilon(eps0, n=2 * n, delta=delta) <= eps
        assert r.girgis21_epsilon(eps0, n=n, delta=delta / 2) >= eps

    def test_edges(self):
        assert r.girgis21_epsilon(0.0, n=10, delta=1e-4) == 0
        assert r.girgis21_epsilon(5.0, n=10, delta=1e-4) > 5
        with pytest.raises(OutsideValidity, match="needs n >= 2"):
            r.girgis21_epsilon(1, n=1, delta=1e-4)

"""Scales and privacy curves against mpmath, the other definitions, and each other."""

from __future__ import annotations

import math

import mpmath
import pytest
from exact_shuffle import gaussian_delta
from hypothesis import given, settings
from hypothesis import strategies as st

from gspa.accountant import mechanisms as m
from gspa.accountant.errors import InvalidValue
from gspa.accountant.tradeoff import gdp_delta


class TestGaussian:
    def test_the_printed_scale(self):
        # sqrt(2 ln(125000)) by hand: ln(125000) = 11.736069016284437.
        assert m.classical_gaussian_scale(eps=2.0, delta=1e-5, sensitivity=3.0) == pytest.approx(
            3 * math.sqrt(2 * 11.736069016284437) / 2, rel=1e-15
        )

    @settings(max_examples=40, deadline=None)
    @given(st.floats(1e-3, 30), st.floats(-200, -0.01))
    def test_the_analytic_scale_is_the_least_that_suffices(self, eps, log_delta):
        delta = math.exp(log_delta)
        scale = m.analytic_gaussian_scale(eps=eps, delta=delta)
        assert gaussian_delta(eps, 1 / scale) <= delta
        assert gaussian_delta(eps, (1 + 1e-9) / scale) > delta

    @pytest.mark.parametrize("eps", [0.0, 1e-12, 1e4])
    @pytest.mark.parametrize("delta", [1e-300, 1e-5, 0.999999])
    def test_the_analytic_scale_at_the_ends_of_its_range(self, eps, delta):
        scale = m.analytic_gaussian_scale(eps=eps, delta=delta)
        found = gdp_delta(eps, mu=1 / scale)
        assert delta * (1 - 1e-6) < found <= delta


class TestLimit:
    @pytest.mark.parametrize("delta", [1e-300, 1e-20, 1e-5, 0.01, 0.5, 0.8962, 0.999, 0.999999])
    def test_kept_up_to_it_and_broken_beyond(self, delta):
        limit = m.classical_gaussian_limit(delta=delta)
        with mpmath.workdps(40):
            c = mpmath.sqrt(2 * mpmath.log(mpmath.mpf("1.25") / mpmath.mpf(delta)))
            assert gaussian_delta(limit, limit / c) <= delta
            assert gaussian_delta(limit * (1 + 1e-4), limit * (1 + 1e-4) / c) > delta

    @settings(max_examples=40, deadline=None)
    @given(st.floats(0.01, 3.78), st.floats(1e-9, 0.999999))
    def test_the_smallest_limit_is_safe_for_every_delta(self, eps, delta):
        scale = m.classical_gaussian_scale(eps=eps, delta=delta)
        assert gdp_delta(eps, mu=1 / scale) <= delta


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: m.classical_gaussian_scale(eps=0, delta=0.1), "eps = 0: must be a finite number > 0"),
        (lambda: m.classical_gaussian_scale(eps=1, delta=0), "delta = 0: must be in (0, 1)"),
        (lambda: m.analytic_gaussian_scale(eps=1, delta=0.1, sensitivity=0), "sensitivity = 0"),
        (lambda: m.analytic_gaussian_scale(eps=1e5, delta=0.1), "eps = 100000.0: must be in [0, 10000]"),
        (lambda: m.analytic_gaussian_scale(eps=1, delta=1e-301), "delta = 1e-301: must be in [1e-300, 1]"),
        (lambda: m.classical_gaussian_limit(delta=1.0), "delta = 1.0: must be in"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(InvalidValue) as refusal:
        call()
    assert words in str(refusal.value)


def test_what_is_allowed_for_roundings_is_little():
    """That it is enough: `test_with_nobody_to_hide_among_both_ends_hold_to_the_last_bit` of the front door."""
    for low, high in (m.alone_delta("laplace", 1.0, (2.0, 2.0)), m.alone_epsilon("laplace", 0.1, (2.0, 2.0))):
        assert 0 < high - low < 1e-14

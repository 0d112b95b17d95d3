"""The variation-ratio closed form against the printed formula and exact protocols."""

from __future__ import annotations

import math

import mpmath
import pytest
from exact_shuffle import rr_delta, rr_delta_worst
from hypothesis import given
from hypothesis import strategies as st

from gspa.accountant.blanket_forms import wang24_epsilon
from gspa.accountant.closed_forms import fmt23_epsilon
from gspa.accountant.errors import OutsideValidity


def printed(eps0, n, delta):
    """At the largest total variation: then c, which says how often neither clone is answered, does not matter."""
    with mpmath.workdps(40):
        p, d = mpmath.exp(mpmath.mpf(eps0)), mpmath.mpf(delta)
        beta = (p - 1) / (p + 1)
        r = beta / (p - 1)
        c = max(0, 4 * (1 - 3 * r) / (9 * (1 - 2 * r)))
        spread = mpmath.sqrt(32 * mpmath.log(4 / d) / (r * (n - 1))) + 4 / (r * (n - 1))
        return float(mpmath.log(1 + beta / ((1 - c) * (1 + p) * beta / (p - 1) + c) * spread))


@pytest.mark.parametrize("eps0", [1e-9, 0.1, 1.0, 4.0])
def test_as_printed(eps0):
    assert wang24_epsilon(eps0, n=10**7, delta=1e-6) == pytest.approx(printed(eps0, 10**7, 1e-6), rel=1e-12)


@given(st.floats(0, 4), st.integers(10**4, 10**7), st.floats(1e-9, 0.1))
def test_is_fmt23_with_one_user_less(eps0, n, delta):
    assert wang24_epsilon(eps0, n=n, delta=delta) == pytest.approx(fmt23_epsilon(eps0, n=n - 1, delta=delta), rel=1e-12)


def test_not_below_the_exact_binary_protocol():
    for eps0, n, delta in ((0.3, 70, 0.3), (1.0, 120, 0.1), (2.0, 260, 0.2)):  # over all inputs
        assert rr_delta_worst(eps0, n, wang24_epsilon(eps0, n=n, delta=delta)) <= delta
    assert rr_delta(1, 10_000, wang24_epsilon(1, n=10_000, delta=1e-4)) <= 1e-4


def test_refusals():
    with pytest.raises(OutsideValidity, match=r"needs n > 8 log\(4/delta\)/r; r = 0.377541, so n > 224.5; n = 224"):
        wang24_epsilon(0.5, n=224, delta=1e-4)
    assert wang24_epsilon(0.5, n=225, delta=1e-4) > 0
    with pytest.raises(OutsideValidity, match="r = 0"):
        wang24_epsilon(800, n=10_000, delta=1e-4)
    assert math.isfinite(wang24_epsilon(0, n=2, delta=1e-4))

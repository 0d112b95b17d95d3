"""The blanket's limit against closed forms, brute force, and the engine."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from gspa.blanket import blanket_epsilon
from gspa.blanket_limit import blanket_limit
from gspa.errors import InvalidValue

GROUPS = ([10.0, 2.0, 1.0], [5400, 3700, 900])  # Figure 3: (1/eps, count)


def test_equal_laplace_in_closed_form():
    # int (f0 - f1)^2/omega with omega = (k/2) e^(-k (r + 1/2)); outside [0, 1] a geometric tail, inside sinh^2
    k, n = 1.3, 5000
    outside = 2 * (k / 2) * (1 - math.exp(-k)) ** 2 * math.exp(k) / k
    inside = quad(lambda r: 2 * (k / 2) * 4 * math.exp(-k) * math.sinh(k * r) ** 2 * math.exp(k * (r + 0.5)), 0, 0.5)[0]
    exact = math.sqrt((outside + inside) / (n - 1))
    found = blanket_limit([1 / k], count=n, delta=1e-9)
    assert found.own.mu == pytest.approx(exact, rel=2e-4)
    assert found.common.mu == pytest.approx(exact, rel=2e-4)


def test_common_density_against_brute_force():
    kappa, count = np.array([0.2, 1.0]), np.array([800.0, 199.0])
    radius = 40.0
    r = np.linspace(0, radius, 200_001)
    r, width = 0.5 * (r[1:] + r[:-1]), r[1]
    square = 2 * 0.25 * (np.exp(-np.abs(r - 0.5)) - np.exp(-(r + 0.5))) ** 2
    omega = 0.5 * kappa[:, None] * np.exp(-kappa[:, None] * (r + 0.5))

    def mu(share):
        c = np.array([1 - share, share]) / count
        return math.sqrt(float((square * (c[:, None] / omega).max(axis=0)).sum()) * width)

    best = min(mu(s) for s in np.linspace(0.01, 0.6, 240))
    found = blanket_limit([5.0, 1.0], count=[800, 200], delta=1e-14)
    assert found.common.mu == pytest.approx(best, rel=5e-4)
    # Reports near 1/2 tell less than eps: leaving them out of B is free, and the limit takes that into account.
    everything = math.sqrt(float((square / (count @ omega)).sum()) * width)
    assert 0.995 * everything < found.own.mu < everything * (1 + 2e-4)


@pytest.mark.parametrize("delta", [1e-4, 1e-6])
@pytest.mark.parametrize(
    ("scales", "count", "mechanism"),
    [
        (*GROUPS, "laplace"),
        ([1.0], [10_000], "laplace"),
        ([1.0], [10_000], "gaussian"),
        ([4.0, 1.5], [9000, 900], "gaussian"),
    ],
)
def test_the_engine_is_near_the_limit_of_one_density(scales, count, mechanism, delta):
    limit = blanket_limit(scales, count=count, mechanism=mechanism, delta=delta)
    least = int(np.argmin(scales))
    found = blanket_epsilon(scales, count=count, mechanism=mechanism, delta=delta, victim=least)
    assert limit.own.epsilon <= limit.common.epsilon * (1 + 2e-4)
    assert 0.999 * limit.common.epsilon <= found.upper <= 1.01 * limit.common.epsilon


def test_many_users_come_near():
    count = [100 * c for c in GROUPS[1]]
    limit = blanket_limit(GROUPS[0], count=count, delta=1e-5)
    found = blanket_epsilon(GROUPS[0], count=count, delta=1e-5, victim=2)
    assert abs(found.upper / limit.common.epsilon - 1) < 5e-3


def test_own_blankets_would_help_unequal_scales():
    limit = blanket_limit(*GROUPS[:1], count=GROUPS[1], delta=1e-4)
    assert limit.own.mu < 0.93 * limit.common.mu


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"scales": [1.0], "count": 1, "delta": 0.1}, "at least one other user"),
        ({"scales": np.linspace(1, 2, 70), "delta": 0.1}, "at most 64 distinct ones"),
        ({"scales": [1.0], "count": 5, "delta": 0.0}, "delta = 0"),
        ({"scales": [1.0, math.inf], "count": 5, "delta": 0.1, "victim": 1}, "finite"),
        ({"scales": [1.0], "count": 5, "delta": 0.1, "victim": 3}, "an index of scales"),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(InvalidValue, match=words):
        blanket_limit(arguments.pop("scales"), **arguments)

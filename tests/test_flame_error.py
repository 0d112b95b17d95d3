"""Error of one coordinate's mean: by hand, by simulation, and its orders."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gspa.errors import InvalidValue
from gspa.flame import error
from gspa.flame.randomizers import Buckets, Laplace


def test_variances_by_hand():
    assert error.report_variance(Laplace(0.5), 0.2) == 8.0
    local = Buckets(1.0, 1)
    q = 1 / (1 + math.e)
    assert error.report_variance(local, 0.0) == pytest.approx(q * (1 - q))
    assert error.dummy_variance(local) == pytest.approx(0.25)
    assert error.dummy_variance(Buckets(1.0, 6)) == pytest.approx(8 / 72)  # (b + 2)/(12 b)


@pytest.mark.parametrize("local", [Buckets(1.0, 3), Laplace(1.0), Buckets(1.0, 1)])
def test_simulation(local):
    exact = error.standard_deviation(local, n_s=5, n_p=20, x=0.3)
    sd, se = error.simulated_deviation(local, n_s=5, n_p=20, repeats=4_000, rng=1, x=0.3)
    assert abs(sd - exact) < 5 * se


def test_best_buckets_has_the_gamma_of_lemma_1_and_the_least_error():
    local, sd = error.best_buckets(n_p=10_000, eps_ck=0.5, delta=1e-6, n_s=10_000)
    answers = local.b + 1
    assert local.gamma == pytest.approx(14 * answers * math.log(2e6) / (9_999 * 0.25))
    for b in (local.b - 1, local.b + 1):
        gamma = 14 * (b + 1) * math.log(2e6) / (9_999 * 0.25)
        other = Buckets(math.log((b + 1) / gamma - b), b)
        assert error.standard_deviation(other, n_s=10_000, n_p=10_000, x=0.5 / b) >= sd
    with pytest.raises(InvalidValue, match="eps_ck"):
        error.best_buckets(n_p=100, eps_ck=0.1, delta=1e-6, n_s=10)


def test_orders():
    size, same = np.geomspace(1e6, 1e9, 5), np.full(5, 0.5)
    alone = error.error_table(n_p=size, n_s=size, eps_ck=same, delta=1e-6)
    assert error.exponent(alone, "n_p") == pytest.approx(1 / 6 - 1, abs=0.01)
    padded = error.error_table(n_p=size, n_s=np.full(5, 1e4), eps_ck=same, delta=1e-6)
    assert error.exponent(padded, "n_p") == pytest.approx(0.5, abs=0.01)


def test_refused():
    with pytest.raises(InvalidValue, match="n_p = 3"):
        error.standard_deviation(Laplace(1.0), n_s=4, n_p=3)

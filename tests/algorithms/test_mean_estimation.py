"""Algorithm 1 against closed forms, numerical integration and simulation."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from gspa.accountant.errors import InvalidBudget, InvalidValue
from gspa.algorithms import mean

BUDGETS = st.lists(st.floats(0.01, 20), min_size=1, max_size=6)


# Two scales a factor 1,000 apart are the worst case met.
@pytest.mark.parametrize(
    "eps", [[0.5], [10.0, 0.01], [0.1, 1, 1, 1, 1], [0.001] + [1.0] * 1000, [0.1] * 100 + [0.5] * 9_900]
)
def test_the_error_is_the_characteristic_functions_integral_in_mpmath(eps):
    kinds, count = np.unique(1 / np.array(eps), return_counts=True)
    sd = float(np.sqrt(2 * (count @ kinds**2)))

    def integrand(t):
        logs = (int(k) * mpmath.log1p((mpmath.mpf(float(b)) / sd * t) ** 2) for b, k in zip(kinds, count, strict=True))
        return (1 - mpmath.exp(-sum(logs))) / t**2

    exact = 2 / mpmath.pi * sd * mpmath.quad(integrand, [0, 0.1, 1, 2, 4, 8, 16, 64, 256, mpmath.inf]) / len(eps)
    assert mean.mean_error(eps, sensitivity=1.0) == pytest.approx(float(exact), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(eps=BUDGETS, sensitivity=st.floats(0.1, 100))
def test_error_and_variance_scale_and_stand_in_order(eps, sensitivity):
    error, variance = mean.mean_error(eps, sensitivity=sensitivity), mean.mean_variance(eps, sensitivity=sensitivity)
    assert variance == pytest.approx(sum(2 * (sensitivity / e) ** 2 for e in eps) / len(eps) ** 2, rel=1e-12)
    # Between one Laplace variable, sd/sqrt(2), and a normal one, sd sqrt(2/pi).
    assert math.sqrt(variance / 2) * (1 - 1e-9) <= error <= math.sqrt(2 * variance / math.pi) * (1 + 1e-9)
    assert mean.mean_error(eps[::-1], sensitivity=2 * sensitivity) == pytest.approx(2 * error, rel=1e-9)


@pytest.mark.parametrize("eps", [np.full(50, 0.3), np.r_[np.full(40, 0.1), np.full(60, 2.0)], np.linspace(0.1, 2, 50)])
def test_the_simulation_has_the_law_of_the_reports(eps):
    x = np.linspace(20, 80, eps.size)
    found = mean.simulate_mean(x, eps, sensitivity=60.0, repeats=20_000, rng=1)
    assert found.truth == pytest.approx(50)
    exact = mean.mean_error(eps, sensitivity=60.0)
    # Five standard errors: a correct sampler fails less than once in a million seeds.
    assert abs(found.mae - exact) < 5 * found.mae_error
    assert abs(found.bias) < 5 * found.bias_error
    direct = [mean.mean_estimate(mean.mean_reports(x, eps, sensitivity=60.0, rng=seed)) for seed in range(2_000)]
    assert stats.ks_2samp(found.estimates, direct).pvalue > 1e-6


def test_reports_are_shuffled_values_with_noise():
    x = np.arange(5.0)
    reports = mean.mean_reports(x, np.full(5, 1e9), sensitivity=1.0, rng=3)
    assert sorted(reports.round(6).tolist()) == x.tolist()
    assert reports.round(6).tolist() != x.tolist()
    again = mean.mean_reports(x, np.full(5, 1e9), sensitivity=1.0, rng=3)
    assert reports.tolist() == again.tolist()


@pytest.mark.parametrize(("center", "sigma"), [(50, 10), (55, 25), (0, 5), (90, 3), (50, 1e4)])
def test_the_moments_of_clipped_data_are_the_integrals(center, sigma):
    law = stats.norm(center, sigma)

    def moment(k):
        inside = integrate.quad(lambda v: v**k * law.pdf(v), 20, 80, epsabs=1e-13)[0]
        return inside + 20**k * law.cdf(20) + 80**k * law.sf(80)

    found = mean.clipped_normal(center=center, sigma=sigma, low=20, high=80)
    assert found.mean == pytest.approx(moment(1), rel=1e-9)
    assert found.variance == pytest.approx(moment(2) - moment(1) ** 2, rel=1e-6, abs=1e-6)


def test_data_without_spread_and_data_drawn():
    assert mean.clipped_normal(center=10, sigma=0, low=20, high=80) == (20.0, 0.0)
    drawn = mean.clipped_data(100_000, center=70, sigma=20, low=20, high=80, rng=1)
    law = mean.clipped_normal(center=70, sigma=20, low=20, high=80)
    assert (drawn.min(), drawn.max()) == (20, 80)
    assert abs(drawn.mean() - law.mean) < 5 * math.sqrt(law.variance / 100_000)


@pytest.mark.parametrize(
    ("change", "error", "name"),
    [
        ({"eps": [0.0, 1.0]}, InvalidBudget, "eps = 0.0"),
        ({"eps": [1.0]}, InvalidBudget, "eps.shape"),
        ({"eps": [math.inf, 1.0]}, InvalidBudget, "eps = inf"),
        ({"x": [[1.0, 2.0]]}, InvalidValue, "x.shape"),
        ({"x": [math.nan, 2.0]}, InvalidValue, "x"),
        ({"sensitivity": 0.0}, InvalidValue, "sensitivity"),
        ({"repeats": 1}, InvalidValue, "repeats"),
    ],
)
def test_impossible_arguments_are_refused(change, error, name):
    arguments = {"x": [1.0, 2.0], "eps": [1.0, 1.0], "sensitivity": 1.0, "repeats": 10, "rng": 0} | change
    with pytest.raises(error, match=name.replace(".", r"\.")):
        mean.simulate_mean(arguments.pop("x"), arguments.pop("eps"), **arguments)


def test_an_empty_range_is_refused():
    with pytest.raises(InvalidValue, match="high"):
        mean.clipped_normal(center=0, sigma=1, low=2, high=2)

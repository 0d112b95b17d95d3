"""Algorithm 2 against enumeration of every outcome, closed forms and simulation."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pytest

from gspa.accountant.errors import InvalidBudget, InvalidValue
from gspa.algorithms import frequency as est

TINY = (np.array([1, 0, 1, 1]), np.array([0.2, 1.5, 0.7, 3.0]))


def enumerate_moments(x, eps):
    """Mean and variance of the printed estimator over all 2^n reports, by its own formula."""
    b = sum(1 / (1 + np.exp(e)) for e in eps)
    mean = square = 0.0
    for y in itertools.product((0, 1), repeat=len(x)):
        p = 1.0
        for yi, xi, e in zip(y, x, eps, strict=True):
            truth = np.exp(e) / (1 + np.exp(e))
            p *= truth if yi == xi else 1 - truth
        z = (sum(y) - b) / (len(x) - 2 * b)
        mean += p * z
        square += p * z * z
    return mean, square - mean**2


def test_expectation_and_variance_match_enumeration():
    mean, variance = enumerate_moments(*TINY)
    assert est.frequency_expectation(*TINY) == pytest.approx(mean, rel=1e-12)
    assert est.frequency_variance(TINY[1]) == pytest.approx(variance, rel=1e-12)


def test_estimate_is_the_printed_formula_for_every_outcome():
    eps = TINY[1]
    b = (1 / (1 + np.exp(eps))).sum()
    for y in itertools.product((0, 1), repeat=4):
        assert est.frequency_estimate(y, eps) == pytest.approx((sum(y) - b) / (4 - 2 * b), rel=1e-12)


def test_small_budgets_keep_their_digits():
    # 1 - 2/(1 + e^eps) loses ten digits here.
    eps = 3e-11
    with mpmath.workdps(40):
        e = mpmath.exp(mpmath.mpf(eps))
        exact = 10 * (e / (1 + e) ** 2) / (10 * (1 - 2 / (1 + e))) ** 2
    assert est.frequency_variance([eps] * 10) == pytest.approx(float(exact), rel=1e-13)
    assert est.frequency_expectation([1] * 3 + [0] * 7, [eps] * 10) == pytest.approx(0.3, rel=1e-13)


def test_large_budgets_report_the_truth_and_do_not_overflow():
    x = [1, 0, 0, 1, 1]
    assert sorted(est.frequency_reports(x, [800.0] * 5, rng=0)) == sorted(x)
    assert est.frequency_estimate(x, [800.0] * 5) == pytest.approx(0.6)
    assert est.frequency_variance([800.0] * 5) == 0


@pytest.mark.parametrize("personal", [False, True], ids=["few groups: binomials", "all different: bits"])
def test_simulation_has_the_exact_mean_and_variance(personal):
    rng = np.random.default_rng(5)
    x = (rng.random(500) < 0.7).astype(int)
    eps = rng.uniform(0.5, 3, 500) if personal else rng.choice([0.5, 1.0, 2.0], 500)
    run = est.simulate_frequency(x, eps, repeats=20_000, rng=11)
    variance = est.frequency_variance(eps)
    # Five standard errors: of the mean, and of the variance of a nearly normal variable.
    assert abs(run.estimates.mean() - est.frequency_expectation(x, eps)) < 5 * np.sqrt(variance / 20_000)
    assert run.estimates.var(ddof=1) == pytest.approx(variance, rel=5 * np.sqrt(2 / 20_000))
    assert run.bias_error == pytest.approx(np.sqrt(variance / 20_000), rel=0.05)
    assert run.mae == pytest.approx(np.abs(run.estimates - x.mean()).mean())


def test_reports_and_simulation_have_the_same_law():
    x, eps = np.repeat([1, 0], [60, 40]), np.tile([0.5, 2.0], 50)
    rng = np.random.default_rng(3)
    single = [est.frequency_estimate(est.frequency_reports(x, eps, rng=rng), eps) for _ in range(4000)]
    variance = est.frequency_variance(eps)
    assert abs(np.mean(single) - est.frequency_expectation(x, eps)) < 5 * np.sqrt(variance / 4000)
    assert np.var(single, ddof=1) == pytest.approx(variance, rel=5 * np.sqrt(2 / 4000))


def test_reports_are_shuffled():
    x = np.repeat([1, 0], 500)
    reports = est.frequency_reports(x, np.full(1000, 50.0), rng=2)
    # All reports are truthful, so without a shuffle the first half would be all ones.
    assert 200 < reports[:500].sum() < 300


def test_unbiased_for_equal_budgets_only():
    x = np.repeat([1, 0], [70, 30])
    assert est.frequency_expectation(x, np.full(100, 0.4)) == pytest.approx(0.7, rel=1e-12)
    correlated = np.where(x == 1, 1.0, 0.1)  # those who hold a one care less
    assert est.frequency_expectation(x, correlated) > 0.95
    run = est.simulate_frequency(x, correlated, repeats=4000, rng=0)
    assert run.bias > 0.2
    assert run.bias > 20 * run.bias_error


def test_the_papers_size_is_quick_and_reproducible():
    rng = np.random.default_rng(0)
    x, eps = (rng.random(10_000) < 0.7).astype(int), rng.uniform(0.1, 1, 10_000)
    first = est.simulate_frequency(x, eps, repeats=1000, rng=9)
    second = est.simulate_frequency(x, eps, repeats=1000, rng=9)
    assert first.estimates.tobytes() == second.estimates.tobytes()
    # MAE of a normal variable is sigma sqrt(2/pi); the conditional bias is small against sigma here.
    assert first.mae == pytest.approx(np.sqrt(est.frequency_variance(eps) * 2 / np.pi), abs=5 * first.mae_error)


@pytest.mark.parametrize(
    ("x", "eps", "error", "words"),
    [
        ([1, 0], [0.0, 0.0], InvalidBudget, "at least one user"),
        ([1, 0], [0.5, -1.0], InvalidBudget, "eps = -1.0: must be finite and >= 0"),
        ([1, 0], [0.5, np.nan], InvalidBudget, "eps = nan"),
        ([1, 0], [0.5, np.inf], InvalidBudget, "eps = inf"),
        ([1, 0], [0.5], InvalidBudget, r"must be \(2,\)"),
        ([], [], InvalidBudget, "n >= 1"),
        ([1, 2], [0.5, 0.5], InvalidValue, "x = 2: must be 0 or 1"),
        ([[1, 0]], [0.5, 0.5], InvalidValue, "x.shape"),
    ],
)
def test_bad_input_is_refused(x, eps, error, words):
    with pytest.raises(error, match=words):
        est.frequency_expectation(x, eps)
    with pytest.raises(error, match=words):
        est.simulate_frequency(x, eps, repeats=10, rng=0)


def test_too_few_repeats_have_no_standard_error():
    with pytest.raises(InvalidValue, match="repeats = 1"):
        est.simulate_frequency([1, 0], [1.0, 1.0], repeats=1, rng=0)

"""Figure 3's tables: simulation, closed forms, brute force, and the law behind them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from gspa import error_laws, estimation, estimators, mean_estimation
from gspa.error_laws import Groups
from gspa.errors import InvalidValue, UnknownName


@pytest.mark.parametrize(
    ("mean", "variance"), [(0, 1), (0.3, 1), (-0.3, 1), (5, 1), (-5, 1), (0.001, 1e-4), (2, 9), (40, 1)]
)
def test_the_folded_normals_mean_is_the_integral(mean, variance):
    sd = math.sqrt(variance)
    density = stats.norm(mean, sd).pdf
    low, high = mean - 12 * sd, mean + 12 * sd  # beyond: less than 1e-30
    breaks = [0.0] if low < 0 < high else None
    expected, _ = integrate.quad(lambda x: abs(x) * density(x), low, high, points=breaks, epsabs=0, epsrel=1e-11)
    assert estimation._mean_absolute(mean, variance) == pytest.approx(expected, rel=1e-9)


@pytest.fixture(scope="module")
def sweep():
    return estimation.frequency_sweep(Groups(n=500), points=3, repeats=4_000, seed=1)


class TestFrequencySweep:
    def test_is_complete(self, sweep):
        assert sweep["reading"].tolist() == ["constants"] * 3 + ["ranges"] * 3
        assert sweep["f_conservative"].tolist() == pytest.approx([0.01, 0.255, 0.5] * 2)
        assert sweep.notna().all(axis=None)
        assert (sweep[["mae", "mae_error", "bias_error", "exact"]] > 0).all(axis=None)

    def test_the_closed_forms_are_met(self, sweep):
        # Five standard errors: a correct formula exceeds them less than once in 100,000 seeds over six points.
        assert ((sweep["bias"] - sweep["exact_bias"]).abs() <= 5 * sweep["bias_error"]).all()
        # One per cent on top for E|sum| against a normal's, at n = 500 reports.
        gap = (sweep["mae"] - sweep["exact"]).abs()
        assert (gap <= 5 * sweep["mae_error"] + 0.01 * sweep["exact"]).all()
        # And the errors are small enough for that to mean something.
        assert (sweep["mae_error"] < 0.02 * sweep["exact"]).all()

    def test_the_exact_error_of_constant_groups_by_hand(self, sweep):
        # Share 0.255: 127.5, 327.5 and 45 users; the half user goes to the earlier of the two groups.
        sizes, eps = [128, 327, 45], [0.1, 0.5, 1.0]
        weight = sum(s * math.tanh(e / 2) for s, e in zip(sizes, eps, strict=True))
        variance = sum(s * math.exp(e) / (1 + math.exp(e)) ** 2 for s, e in zip(sizes, eps, strict=True)) / weight**2
        bias = sweep.loc[1, "exact_bias"]
        assert sweep.loc[1, "exact"] == pytest.approx(stats.foldnorm(abs(bias) / variance**0.5).mean() * variance**0.5)

    def test_more_conservative_users_cost_accuracy(self, sweep):
        for _, line in sweep.groupby("reading"):
            assert (np.diff(line["exact"]) > 0).all()

    def test_ranges_lie_above_constants_in_budget_and_below_in_error(self, sweep):
        exact = sweep.set_index(["reading", "f_conservative"])["exact"]
        assert (exact["ranges"] < exact["constants"]).all()

    def test_the_same_seed_gives_the_same_table(self):
        small = {"groups": Groups(n=50), "points": 2, "repeats": 10}
        first = estimation.frequency_sweep(**small, seed=5)
        pd.testing.assert_frame_equal(estimation.frequency_sweep(**small, seed=5), first, check_exact=True)
        other = estimation.frequency_sweep(**small, seed=6)
        assert (other["mae"] != first["mae"]).all()

    @pytest.mark.parametrize("change", [{"points": 1}, {"repeats": 1}, {"c": 1.5}, {"c": -0.1}])
    def test_impossible_settings_are_refused(self, change):
        ((name, _),) = change.items()
        with pytest.raises(InvalidValue, match=name):
            estimation.frequency_sweep(**({"groups": Groups(n=10), "points": 2, "repeats": 2} | change))

    def test_another_axis_is_refused(self):
        with pytest.raises(UnknownName, match="vary"):
            estimation.frequency_sweep(vary="f_liberal")


@pytest.fixture(scope="module", params=["f_conservative", "eps_conservative"])
def curve(request):
    return estimation.mean_sweep(Groups(n=400), vary=request.param, points=3, repeats=4_000, seed=1)


class TestMeanSweep:
    def test_the_exact_error_is_met(self, curve):
        assert curve["reading"].tolist() == ["constants"] * 3 + ["ranges"] * 3
        assert curve.notna().all(axis=None)
        assert ((curve["mae"] - curve["exact"]).abs() <= 5 * curve["mae_error"]).all()
        assert (curve["bias"].abs() <= 5 * curve["bias_error"]).all()
        assert (curve["mae_error"] < 0.02 * curve["exact"]).all()

    def test_the_axes(self, curve):
        ends = curve.iloc[[0, 2], 1].tolist()
        assert ends == ([0.01, 0.5] if curve.columns[1] == "f_conservative" else [0.05, 0.5])

    def test_the_data_do_not_matter_and_the_noise_does(self):
        small = {"groups": Groups(n=50), "points": 2, "repeats": 10, "seed": 3}
        first = estimation.mean_sweep(**small)
        columns = ["mae", "exact", "law"]
        other = estimation.mean_sweep(**small, sigma=0.0, center=70.0)
        assert (other[columns[1:]] == first[columns[1:]]).all(axis=None)
        double = estimation.mean_sweep(**small, sensitivity=120.0)
        assert double[columns].to_numpy() == pytest.approx(2 * first[columns].to_numpy())
        pd.testing.assert_frame_equal(estimation.mean_sweep(**small), first, check_exact=True)


def expectation(x, eps):
    """E(z) by going through all 2^n reports."""
    total = 0.0
    keep = [1 / (1 + math.exp(-e)) for e in eps]
    for reports in itertools.product((0, 1), repeat=len(x)):
        weight = math.prod(k if r == b else 1 - k for r, b, k in zip(reports, x, keep, strict=True))
        total += weight * estimators.frequency_estimate(reports, eps)
    return total


class TestFrequencyBias:
    def test_by_enumeration(self):
        found = estimation.frequency_bias(Groups(n=10), c=0.4, deals=2)
        # 54% of 10 (5.4), 37% (3.7) and 9% (0.9): 5, 4 and 1, the remainders going to the largest fractions.
        eps = [0.1] * 5 + [0.5] * 4 + [1.0]
        conservative, liberal = [1] * 4 + [0] * 6, [0] * 6 + [1] * 4
        # 1,024 terms of rounding, and a division by a weight near 2.
        assert found["conservative"] == pytest.approx(expectation(conservative, eps) - 0.4, abs=1e-12)
        assert found["liberal"] == pytest.approx(expectation(liberal, eps) - 0.4, abs=1e-12)
        assert found["equal"] == pytest.approx(0, abs=1e-12)

    def test_signs(self):
        found = estimation.frequency_bias(Groups(n=1_000), deals=100)
        assert found["conservative"] < -0.1 < 0.1 < found["liberal"]
        assert abs(found["equal"]) < 1e-12
        # Five standard errors, as above; and the spread over deals is there.
        assert 0 < found["independent_error"] < 0.01
        assert abs(found["independent"]) < 5 * found["independent_error"]
        assert abs(found["simulated"] - found["conservative"]) < 5 * found["simulated_error"]

    def test_equal_budgets_have_no_bias_anywhere(self):
        found = estimation.frequency_bias(
            Groups(n=100, eps_conservative=0.7, eps_moderate=0.7, eps_liberal=0.7), deals=3
        )
        for case in ("equal", "independent", "conservative", "liberal"):
            assert found[case] == pytest.approx(0, abs=1e-12)

    @pytest.mark.parametrize("c", [0, 1])
    def test_with_one_answer_only_there_is_nothing_to_confuse(self, c):
        found = estimation.frequency_bias(Groups(n=100), c=c, deals=3)
        assert found["conservative"] == pytest.approx(0, abs=1e-12)
        assert found["liberal"] == pytest.approx(0, abs=1e-12)

    def test_the_same_seed_gives_the_same_numbers(self):
        assert estimation.frequency_bias(Groups(n=50), deals=3) == estimation.frequency_bias(Groups(n=50), deals=3)
        other = estimation.frequency_bias(Groups(n=50), deals=3, seed=1)
        assert other["simulated"] != estimation.frequency_bias(Groups(n=50), deals=3)["simulated"]

    @pytest.mark.parametrize("change", [{"deals": 1}, {"c": 2}])
    def test_impossible_settings_are_refused(self, change):
        ((name, _),) = change.items()
        with pytest.raises(InvalidValue, match=name):
            estimation.frequency_bias(Groups(n=20), **change)


class TestLaws:
    @pytest.mark.parametrize("reading", error_laws.READINGS)
    @pytest.mark.parametrize("change", [{}, {"f_conservative": 0.2}, {"eps_conservative": 0.4, "eps_liberal": 3.0}])
    def test_they_average_over_draws(self, reading, change):
        groups = Groups(n=2_000, **change)
        rng = np.random.default_rng(5)
        squared, dealt = [], []
        for _ in range(400):
            eps = groups.people(reading=reading, rng=rng).expanded().eps
            bits = rng.permutation(np.arange(groups.n) < 0.7 * groups.n).astype(int)
            squared.append(mean_estimation.mean_variance(eps, sensitivity=60.0))
            bias = estimators.frequency_expectation(bits, eps) - 0.7
            dealt.append(bias**2 + estimators.frequency_variance(eps))
        # The mean over 400 draws; five of its standard errors, and 1/n for the approximations stated.
        for values, law in (
            (squared, error_laws.mean_law(groups, sensitivity=60.0, reading=reading)),
            (dealt, error_laws.frequency_law(groups, c=0.7, reading=reading)),
        ):
            error = 5 * np.std(values) / 20
            assert abs(np.mean(values) - law) <= error + 1.5e-3 * law
            assert error < 0.05 * law

    @pytest.mark.parametrize(("low", "high"), [(0.1, 0.5), (1e-6, 20.0), (0.5, 0.5), (0.5, 0.5001), (3.0, 3.1)])
    def test_the_moments_of_tanh_are_integrals(self, low, high):
        mean, square = error_laws._tanh_moments(low, high)
        if low == high:
            assert (mean, square) == (math.tanh(low / 2), math.tanh(low / 2) ** 2)
            return
        for value, power in ((mean, 1), (square, 2)):
            exact, _ = integrate.quad(lambda e, k=power: math.tanh(e / 2) ** k, low, high, epsabs=0, epsrel=1e-12)
            assert value == pytest.approx(exact / (high - low), rel=2e-7)

    def test_constant_groups_by_hand(self):
        law = error_laws.mean_law(Groups(), sensitivity=60.0)
        assert law == pytest.approx(2 * 3600 / 10_000 * (0.54 / 0.01 + 0.37 / 0.25 + 0.09), rel=1e-12)
        ranges = error_laws.mean_law(Groups(), sensitivity=60.0, reading="ranges")
        assert ranges == pytest.approx(2 * 3600 / 10_000 * (0.54 / 0.05 + 0.37 / 0.5 + 0.09), rel=1e-12)

    def test_the_normal_approximation_is_near(self):
        groups = Groups()
        exact = mean_estimation.mean_error(groups.people().expanded().eps, sensitivity=60.0)
        law = error_laws.MEASURES["error"](error_laws.mean_law(groups, sensitivity=60.0))
        assert law == pytest.approx(exact, rel=1e-4)


class TestLinearity:
    def test_r_squared_is_that_of_a_regression(self):
        rng = np.random.default_rng(1)
        x, y = rng.normal(size=30), rng.normal(size=30)
        assert error_laws.r_squared(x, y) == pytest.approx(stats.linregress(x, y).rvalue ** 2, rel=1e-12)
        assert error_laws.r_squared(x, 3 - 2 * x) == pytest.approx(1, abs=1e-12)
        assert error_laws.r_squared(x, np.full(30, 0.1)) == 1.0

    def test_the_squared_error_is_linear_in_the_share_alone(self):
        fits = error_laws.linearity(Groups(), estimand="mean", vary="f_conservative", axes=[(0.01, 0.5)])
        squared = fits[fits["measure"] == "squared error"]["r_squared"]
        assert squared.tolist() == pytest.approx([1, 1], abs=1e-12)
        assert (fits[fits["measure"] != "squared error"]["r_squared"] < 0.995).all()
        assert (fits["monotone"] == 1).all()
        scaled = error_laws.linearity(
            Groups(n=50), estimand="mean", vary="f_conservative", axes=[(0.01, 0.5)], sensitivity=1.0
        )
        assert scaled["r_squared"].to_numpy() == pytest.approx(fits["r_squared"].to_numpy(), abs=1e-9)

    def test_axes_and_directions(self):
        fits = error_laws.linearity(
            Groups(), estimand="frequency", vary="eps_conservative", axes=[(0.1, 0.5), (0.1, 0.2)]
        )
        assert len(fits) == 2 * 2 * len(error_laws.MEASURES)
        assert (fits["monotone"] == -1).all()
        shorter = fits[fits["high"] == 0.2]["r_squared"].to_numpy()
        assert (shorter >= fits[fits["high"] == 0.5]["r_squared"].to_numpy() - 1e-9).all()

    def test_an_error_that_turns_is_not_monotone(self, monkeypatch):
        monkeypatch.setattr(error_laws, "mean_law", lambda g, **_: (g.eps_conservative - 0.3) ** 2 + 1)
        fits = error_laws.linearity(Groups(), estimand="mean", vary="eps_conservative", axes=[(0.1, 0.5)])
        assert (fits["monotone"] == 0).all()


@pytest.mark.parametrize(
    "change", [{"n": 9}, {"f_conservative": 0.95}, {"f_liberal": 1.1}, {"eps_moderate": 0.0}, {"eps_conservative": -1}]
)
def test_impossible_groups_are_refused(change):
    ((name, _),) = change.items()
    with pytest.raises(InvalidValue, match=name):
        Groups(**change)

"""Pages 10 and 11: simulation, closed forms, brute force and the law behind them; the promise to each group against
small sums; the checks and their other verdicts; planted errors."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from exact_shuffle import hockey_stick, laplace_cdf, personal_rr_delta, rr_delta_worst, solve
from running import Planted, run_page
from scipy import integrate, stats

from gspa.accountant import budgets, exact
from gspa.accountant.closed_forms import gspa_epsilon
from gspa.accountant.one_round import central_epsilon
from gspa.accountant.pair import divergence
from gspa.accountant.tradeoff import gdp_epsilon
from gspa.algorithms import frequency, mean
from gspa.book.claims import claim
from gspa.book.figures import ROLES
from gspa.pages import p10_p11_estimation as p
from gspa.pages import p10_p11_privacy as privacy
from gspa.pages.p10_p11_estimation import Groups

DATA = {"center": 50.0, "sigma": 10.0, "low": 20.0, "high": 80.0}


# --- laws and lines ----------------------------------------------------------------------------------------


class TestLaws:
    @pytest.mark.parametrize("reading", p.READINGS)
    @pytest.mark.parametrize("change", [{}, {"f_conservative": 0.2}, {"eps_conservative": 0.4, "eps_liberal": 3.0}])
    def test_they_average_over_draws(self, reading, change):
        groups = Groups(n=2_000, **change)
        rng = np.random.default_rng(5)
        squared, dealt = [], []
        for _ in range(400):
            eps = groups.people(reading=reading, rng=rng).expanded().eps
            bits = rng.permutation(np.arange(groups.n) < 0.7 * groups.n).astype(int)
            squared.append(mean.mean_variance(eps, sensitivity=60.0))
            dealt.append((frequency.frequency_expectation(bits, eps) - 0.7) ** 2 + frequency.frequency_variance(eps))
        # The mean over 400 draws; five of its standard errors, and 1/n for the approximations stated.
        for values, law in (
            (squared, p.mean_law(groups, sensitivity=60.0, reading=reading)),
            (dealt, p.frequency_law(groups, c=0.7, reading=reading)),
        ):
            error = 5 * np.std(values) / 20
            assert abs(np.mean(values) - law) <= error + 1.5e-3 * law
            assert error < 0.05 * law

    @pytest.mark.parametrize(("low", "high"), [(0.1, 0.5), (1e-6, 20.0), (0.5, 0.5001), (3.0, 3.1)])
    def test_the_moments_of_tanh_are_integrals(self, low, high):
        for value, power in zip(p.tanh_moments(low, high), (1, 2), strict=True):
            total, _ = integrate.quad(lambda e, k=power: math.tanh(e / 2) ** k, low, high, epsabs=0, epsrel=1e-12)
            assert value == pytest.approx(total / (high - low), rel=2e-7)

    def test_one_budget_has_its_own_tanh(self):
        assert p.tanh_moments(0.5, 0.5) == (math.tanh(0.25), math.tanh(0.25) ** 2)

    def test_the_means_by_hand(self):
        law = p.mean_law(Groups(), sensitivity=60.0)
        assert law == pytest.approx(2 * 3600 / 10_000 * (0.54 / 0.01 + 0.37 / 0.25 + 0.09), rel=1e-12)
        ranges = p.mean_law(Groups(), sensitivity=60.0, reading="ranges")
        assert ranges == pytest.approx(2 * 3600 / 10_000 * (0.54 / 0.05 + 0.37 / 0.5 + 0.09), rel=1e-12)

    def test_the_normal_approximation_is_near(self):
        true = mean.mean_error(Groups().people().expanded().eps, sensitivity=60.0)
        assert p.MEASURES["error"](p.mean_law(Groups(), sensitivity=60.0)) == pytest.approx(true, rel=1e-4)


class TestLinearity:
    def test_r_squared_is_that_of_a_regression(self):
        rng = np.random.default_rng(1)
        x, y = rng.normal(size=30), rng.normal(size=30)
        assert p.r_squared(x, y) == pytest.approx(stats.linregress(x, y).rvalue ** 2, rel=1e-12)
        assert p.r_squared(x, 3 - 2 * x) == pytest.approx(1, abs=1e-12)
        assert p.r_squared(x, np.full(30, 0.1)) == 1.0

    def test_the_squared_error_is_linear_in_the_share_alone(self):
        fits = p.linearity(Groups(), p.mean_law, vary="f_conservative", sensitivity=60.0)
        squared = fits[fits["measure"] == "squared error"]["r_squared"]
        assert squared.tolist() == pytest.approx([1, 1], abs=1e-12)
        assert (fits[fits["measure"] != "squared error"]["r_squared"] < 0.995).all()
        assert (fits["monotone"] == 1).all()
        scaled = p.linearity(Groups(n=50), p.mean_law, vary="f_conservative", sensitivity=1.0)
        assert scaled["r_squared"].to_numpy() == pytest.approx(fits["r_squared"].to_numpy(), abs=1e-9)

    def test_axes_and_directions(self):
        axes = [(0.1, 0.5), (0.1, 0.2)]
        fits = p.linearity(Groups(), p.frequency_law, vary="eps_conservative", axes=axes, c=0.7)
        assert len(fits) == 2 * 2 * len(p.MEASURES)
        assert (fits["monotone"] == -1).all()
        longer, shorter = (fits[fits["high"] == high]["r_squared"].to_numpy() for _, high in axes)
        assert (shorter >= longer - 1e-9).all()

    def test_an_error_that_turns_is_not_monotone(self):
        def turns(groups, **_):
            return (groups.eps_conservative - 0.3) ** 2 + 1

        assert (p.linearity(Groups(), turns, vary="eps_conservative", axes=[(0.1, 0.5)])["monotone"] == 0).all()


# --- simulations -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sweep():
    return p.frequency_sweep(Groups(n=500), vary="f_conservative", c=0.7, points=3, repeats=4_000, seed=1)


class TestFrequencySweep:
    def test_the_closed_forms_are_met(self, sweep):
        assert sweep["reading"].tolist() == ["constants"] * 3 + ["ranges"] * 3
        # Five standard errors: a correct formula exceeds them less than once in 100,000 seeds over six points.
        assert ((sweep["bias"] - sweep["exact_bias"]).abs() <= 5 * sweep["bias_error"]).all()
        # One per cent on top for E|sum| against a normal's, at n = 500 reports.
        gap = (sweep["mae"] - sweep["exact"]).abs()
        assert (gap <= 5 * sweep["mae_error"] + 0.01 * sweep["exact"]).all()
        # And the errors are small enough for that to mean something.
        assert (sweep["mae_error"] < 0.02 * sweep["exact"]).all()

    def test_the_exact_error_of_constant_groups_is_an_integral(self, sweep):
        # Share 0.255: 127.5, 327.5 and 45 users; the half user goes to the earlier of the two groups.
        sizes, eps = [128, 327, 45], [0.1, 0.5, 1.0]
        weight = sum(s * math.tanh(e / 2) for s, e in zip(sizes, eps, strict=True))
        sd = math.sqrt(sum(s * math.exp(e) / (1 + math.exp(e)) ** 2 for s, e in zip(sizes, eps, strict=True))) / weight
        law = stats.norm(sweep.loc[1, "exact_bias"], sd)
        error, _ = integrate.quad(lambda x: abs(x) * law.pdf(x), -12 * sd, 12 * sd, points=[0.0], epsabs=0)
        assert sweep.loc[1, "exact"] == pytest.approx(error, rel=1e-9)

    def test_conservative_users_cost_accuracy_and_ranges_less(self, sweep):
        lines = {reading: line["exact"].to_numpy() for reading, line in sweep.groupby("reading")}
        assert all((np.diff(line) > 0).all() for line in lines.values())
        assert (lines["ranges"] < lines["constants"]).all()


@pytest.mark.parametrize(("vary", "ends"), [("f_conservative", [0.01, 0.5]), ("eps_conservative", [0.05, 0.5])])
def test_the_means_exact_error_is_met(vary, ends):
    given = {"vary": vary, "sensitivity": 60.0, "data": DATA, "points": 3, "repeats": 4_000, "seed": 1}
    curve = p.mean_sweep(Groups(n=400), **given)
    assert curve[vary].tolist() == pytest.approx([ends[0], sum(ends) / 2, ends[1]] * 2)
    assert ((curve["mae"] - curve["exact"]).abs() <= 5 * curve["mae_error"]).all()
    assert (curve["bias"].abs() <= 5 * curve["bias_error"]).all()
    assert (curve["mae_error"] < 0.02 * curve["exact"]).all()
    assert p.ends(curve, vary)[1] == ("ranges", *ends, curve["mae"].iloc[3], curve["mae"].iloc[-1])


def test_the_data_do_not_matter_and_the_noise_does():
    small = {"vary": "f_conservative", "points": 2, "repeats": 10, "seed": 3}
    first = p.mean_sweep(Groups(n=50), sensitivity=60.0, data=DATA, **small)
    other = p.mean_sweep(Groups(n=50), sensitivity=60.0, data={**DATA, "sigma": 0.0, "center": 70.0}, **small)
    assert (other[["exact", "law"]] == first[["exact", "law"]]).all(axis=None)
    double = p.mean_sweep(Groups(n=50), sensitivity=120.0, data=DATA, **small)
    columns = ["mae", "exact", "law"]
    assert double[columns].to_numpy() == pytest.approx(2 * first[columns].to_numpy())


def expectation(x, eps):
    """E(z) by going through all 2^n reports."""
    total = 0.0
    keep = [1 / (1 + math.exp(-e)) for e in eps]
    for reports in itertools.product((0, 1), repeat=len(x)):
        weight = math.prod(k if r == b else 1 - k for r, b, k in zip(reports, x, keep, strict=True))
        total += weight * frequency.frequency_estimate(reports, eps)
    return total


class TestFrequencyBias:
    def test_by_enumeration(self):
        found = p.frequency_bias(Groups(n=10), c=0.4, deals=2, seed=1)
        # 54% of 10 (5.4), 37% (3.7) and 9% (0.9): 5, 4 and 1, the remainders going to the largest fractions.
        eps = [0.1] * 5 + [0.5] * 4 + [1.0]
        # 1,024 terms of rounding, and a division by a weight near 2.
        assert found["conservative"] == pytest.approx(expectation([1] * 4 + [0] * 6, eps) - 0.4, abs=1e-12)
        assert found["liberal"] == pytest.approx(expectation([0] * 6 + [1] * 4, eps) - 0.4, abs=1e-12)
        assert found["equal"] == pytest.approx(0, abs=1e-12)

    def test_signs(self):
        found = p.frequency_bias(Groups(n=1_000), c=0.7, deals=100, seed=2024)
        assert found["conservative"] < -0.1 < 0.1 < found["liberal"]
        assert 0 < found["independent_error"] < 0.01
        assert abs(found["independent"]) < 5 * found["independent_error"]
        assert abs(found["simulated"] - found["conservative"]) < 5 * found["simulated_error"]

    @pytest.mark.parametrize("change", [{"c": 0.0}, {"c": 1.0}, {"eps": 0.7}])
    def test_with_one_answer_or_one_budget_there_is_no_bias(self, change):
        same = dict.fromkeys(("eps_conservative", "eps_moderate", "eps_liberal"), 0.7) if "eps" in change else {}
        found = p.frequency_bias(Groups(n=100, **same), c=change.get("c", 0.7), deals=3, seed=1)
        assert found["conservative"] == pytest.approx(0, abs=1e-12)
        assert found["liberal"] == pytest.approx(0, abs=1e-12)


def test_the_spread_of_the_data():
    table = p.data_spreads(Groups(n=200), sensitivity=60.0, data=DATA, repeats=4_000, seed=2)
    assert ((table["mae"] - table["exact"]).abs() < 5 * table["mae_error"]).all()
    assert ((table["population"] - table["exact_population"]).abs() < 5 * table["population_error"]).all()
    assert table["exact"].nunique() == 1
    assert table["spread"].iloc[0] == 0
    assert 20 < table["spread"].iloc[-1] < 30


# --- other estimators --------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_no_other_weights_have_a_smaller_error(spread):
    rng = np.random.default_rng(1)
    noise = rng.uniform(0.1, 10, 8)
    best = p.best_weights(noise, spread=spread)

    def error(weights):
        """Mean squared error for the mean of a random sample of 8 with that spread."""
        return weights**2 @ noise + spread**2 * ((weights - 1 / 8) ** 2).sum()

    assert best.sum() == pytest.approx(1)
    for _ in range(200):
        step = rng.normal(size=8)
        assert error(best + 1e-3 * (step - step.mean())) > error(best)


def test_estimates_of_the_mean():
    table = p.mean_choices(Groups(n=1_000), sensitivity=60.0, data=DATA, repeats=2_000, seed=1)
    middle, aside, ordered = (part.set_index("estimator") for _, part in table.groupby("scenario", sort=False))
    assert list(table["scenario"].unique())[:2] == ["values around 50", "values around 65"]
    for here in (middle, aside, ordered):
        # Algorithm 1 is unbiased always: five standard errors.
        assert abs(here.loc["Algorithm 1", "bias"]) < 5 * here.loc["Algorithm 1", "bias_error"]
        assert here.loc["Algorithm 1, answer clipped", "mae"] <= here.loc["Algorithm 1", "mae"]
    assert middle.loc["weighted by noise", "mae"] < 0.5 * middle.loc["Algorithm 1", "mae"]
    assert middle.loc["each report clipped first", "mae"] < middle.loc["weighted by noise", "mae"]
    assert aside.loc["each report clipped first", "bias"] < -10
    assert ordered.loc["weighted by noise", "bias"] < -5


def test_estimates_of_the_frequency():
    table = p.frequency_choices(Groups(n=2_000), c=0.7, repeats=4_000, seed=1)
    random, low, high = (part.set_index("estimator") for _, part in table.groupby("scenario", sort=False))
    average = "every report corrected, plain average"
    for here in (random, low, high):
        assert abs(here.loc[average, "bias"]) < 5 * here.loc[average, "bias_error"]
    assert random.loc["weighted by noise", "mae"] < random.loc["Algorithm 2", "mae"] < random.loc[average, "mae"]
    assert low.loc["weighted by noise", "bias"] < low.loc["Algorithm 2", "bias"] < -0.2
    assert high.loc["Algorithm 2", "bias"] > 0.15
    shown = p.side_by_side(table)
    assert shown["estimator"].tolist() == list(table["estimator"].unique())
    assert list(shown.columns)[2:] == list(table["scenario"].unique())


# --- privacy -----------------------------------------------------------------------------------------------


def test_sensitivities_scale_the_local_eps_and_the_error():
    table = privacy.sensitivity_readings(Groups(), low=20, high=80)
    width, one, _, unclipped = table.to_dict("records")
    assert [width[name] for name in ("conservative", "liberal", "times")] == [0.1, 1.0, 1.0]
    assert [one[name] for name in ("conservative", "liberal")] == [6.0, 60.0]
    # sum of 1/eps^2 over 5400, 3700 and 900 users
    assert width["error"] == pytest.approx(60 / 10_000 * math.sqrt(2 * (540_000 + 14_800 + 900)))
    finite = table[np.isfinite(table["liberal"])]
    assert finite["evaluated"].to_numpy() == pytest.approx(finite["liberal"].to_numpy(), rel=1e-12)
    assert unclipped["liberal"] == math.inf > unclipped["evaluated"] > 1e5


def test_laplace_groups_are_bracketed():
    people = Groups(n=1_000).people()
    table = privacy.groups_of(people, mechanism="laplace", delta=1e-4)
    assert table["users"].tolist() == [540, 370, 90]
    assert (table["promised"] == gspa_epsilon(people, delta=1e-4)).all()
    assert ((table["lower"] > 0) & (table["lower"] <= table["upper"]) & (table["upper"] <= table["local"])).all()
    # A count of reports in a window, all others at one end, by direct summation.
    for row in table.to_dict("records"):
        at0, at1 = (laplace_cdf(0.5, x, 1 / row["budget"]) for x in (0, 1))
        law = np.array([1.0])
        for eps, count in zip(people.eps, people.count, strict=True):
            at = laplace_cdf(0.5, 1, 1 / eps)
            for _ in range(int(count) - (eps == row["budget"])):
                law = np.convolve(law, [1 - at, at])
        first, second = np.convolve([1 - at0, at0], law), np.convolve([1 - at1, at1], law)
        assert hockey_stick(first, second, row["upper"]) <= 1e-4
    alone = privacy.groups_of(people, mechanism="laplace", delta=1e-4, victims=[2])
    assert alone.iloc[0].to_dict() == table.iloc[2].to_dict()


def test_a_report_sixty_times_as_loud_breaks_the_promise():
    people = Groups(n=1_000).people()
    loud = privacy.groups_of(people, mechanism="laplace", delta=1e-4, stretch=60.0, victims=[2]).iloc[0]
    assert (loud["promise"], loud["local"], loud["promised"]) == ("broken", 60, gspa_epsilon(people, delta=1e-4))


@pytest.mark.parametrize("delta", [1e-2, 1e-4, 1e-9])
def test_ones_by_direct_summation(delta):
    people = budgets.from_array([0.2, 1.0, 3.0], count=[7, 5, 2])
    expanded = people.expanded().eps.tolist()
    for victim, first in enumerate([0, 7, 12]):
        # All others hold 0, either direction; all hold 1 is the same with ones and zeros exchanged.
        wanted = solve(lambda at, i=first: personal_rr_delta(expanded, i, at), delta, float(people.eps[victim]))
        found = privacy.ones_epsilon(people, victim=victim, delta=delta)
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_nothing_said_nothing_revealed():
    people = budgets.from_array([0.0, 1.0], count=[5, 5])
    assert privacy.ones_epsilon(people, victim=0, delta=1e-6) == 0
    assert privacy.ones_epsilon(people, victim=1, delta=0.9) == 0


def test_response_groups():
    people = Groups(n=1_000).people()
    table = privacy.at_deltas(people, mechanism="rr", deltas=(1e-4, 1e-6))
    assert table["delta"].tolist() == [1e-4] * 3 + [1e-6] * 3
    assert ((table["lower"] <= table["upper"]) & (table["upper"] < 1.2 * table["lower"])).all()
    assert table["upper"].iloc[-1] == pytest.approx(central_epsilon(people, delta=1e-6).upper, rel=1e-9)
    for at, liberal in table[table["budget"] == 1.0].set_index("delta").iterrows():
        searched = exact.exact_epsilon(people, delta=float(at))
        assert 0.999 * searched.lower <= liberal["lower"] <= searched.upper


def test_along_names_the_groups_that_there_are():
    groups = Groups(n=100, f_conservative=0.91)
    table = privacy.along(groups, mechanism="rr", eps_conservative=[0.05, 0.1], delta=1e-3)
    assert table["group"].tolist() == ["conservative", "liberal"] * 2
    assert table["budget"].tolist() == [0.05, 1.0, 0.1, 1.0]
    assert table["eps_conservative"].tolist() == [0.05, 0.05, 0.1, 0.1]


@pytest.mark.parametrize("mechanism", [pytest.param("laplace", marks=pytest.mark.slow), "rr"])
def test_a_label_costs_privacy(mechanism):
    before = privacy.groups_of(Groups(n=1_000).people(), mechanism=mechanism, delta=1e-4)
    table = privacy.labelled(before, mechanism=mechanism, delta=1e-4)
    assert (table["labelled"] >= table["unlabelled"] * (1 - 1e-3)).all()
    assert table["times"].iloc[-1] > 2


@pytest.mark.parametrize("mechanism", ["laplace", "rr"])
def test_the_other_reading_is_certified_too(mechanism):
    found = privacy.in_ranges(Groups(n=200), mechanism=mechanism, delta=1e-3, seed=1)
    assert 0 < found["upper"] < found["promised"]


def test_limits_hold_exact_below_certified():
    table = privacy.response_limits(local=(1.0, 3.0), sizes=(30, 100), delta=1e-4)
    assert (table["exact"] <= table["certified"]).all()
    broken = table[table["promise"] == "broken"]
    assert (broken["exact"] > broken["promised"]).all()
    assert (3.0, 100) in set(zip(broken["eps0"], broken["n"], strict=True))
    # By direct summation, the worst inputs of 29 others.
    first = table.iloc[0]
    assert rr_delta_worst(1.0, 30, first["exact"]) == pytest.approx(1e-4, rel=1e-4)


# --- figures -----------------------------------------------------------------------------------------------


def test_the_nearest_line_is_drawn():
    table = pd.DataFrame({"f_conservative": [0.0, 0.5, 1.0], "mae": [1.0, 2.1, 2.9], "mae_error": 0.1})
    figure = p.error_curves(table.assign(exact=[1.0, 2.0, 3.0], reading="constants"), x="f_conservative", of="mean")
    (axis,) = figure.axes
    grey = [line for line in axis.get_lines() if line.get_color() == ROLES["reference"][0] and len(line.get_xdata())]
    assert grey[0].get_ydata() == pytest.approx([1, 2, 3])  # the closed form is a line itself
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert labels == ["constants, simulated", "closed form", "nearest straight line"]


def test_each_group_has_its_band_below_the_promise():
    table = pd.DataFrame(
        [(x, group, x, f * x, 2 * f * x) for x in (0.1, 0.5) for group, f in (("moderate", 0.2), ("liberal", 0.4))],
        columns=["eps_conservative", "group", "promised", "lower", "upper"],
    )
    (axis,) = privacy.group_promises(table, delta=1e-4).axes
    bands = [band.get_paths()[0].vertices for band in axis.collections]
    last = [sorted(set(band[np.isclose(band[:, 0], 0.5), 1].round(9))) for band in bands]
    assert last == [[0.1, 0.2], [0.2, 0.4]]


# --- the pages and their checks ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ten():
    return run_page("10_mean")


@pytest.fixture(scope="module")
def eleven():
    return run_page("11_frequency")


def test_the_verdicts_are_the_recorded_ones(ten, eleven):
    found = ten.outcomes | eleven.outcomes
    assert {name: one.verdict for name, one in found.items()} == {name: claim(name).verdict for name in found}
    panels = {f"G-FIG3{panel}" for panel in "ABCD"}
    assert set(found) == panels | {"G-A1", "G-A2", "G-T3", "G-T4"}


def test_one_run_of_each_algorithm_is_near(ten, eleven):
    names = ten.names
    assert abs(names["reports"].mean() - names["x"].mean()) < 5 * names["by_users"]
    assert names["by_groups"] == pytest.approx(names["by_users"], rel=1e-12)
    names = eleven.names
    off = frequency.frequency_estimate(names["reports"], names["eps"]) - names["bits"].mean()
    assert abs(off) < 5 * p.frequency_law(names["groups"], c=0.7) ** 0.5


def test_another_share_of_ones_and_other_budgets_settle_nothing():
    ran = run_page("11_frequency", c=0.0, eps_conservative=1.0, eps_moderate=1.0, n=200)
    assert {(one.verdict, one.missing) for one in ran.outcomes.values()} == {("not yet checked", "settings")}


def test_the_bits_limit_is_near_the_exact_value_of_many_users():
    eps = dict.fromkeys(("eps_conservative", "eps_moderate", "eps_liberal"), 0.5)
    ran = run_page("11_frequency", points=3, repeats=10, **eps)
    true = exact.exact_epsilon(budgets.constant(0.5, n=10_000), delta=1e-4).value
    assert gdp_epsilon(delta=1e-4, mu=ran.names["mu_bits"]) == pytest.approx(true, rel=0.01)
    assert any("it does not matter who holds the ones" in text for text in ran.said)


class TestUnbiased:
    @pytest.fixture(scope="class")
    @staticmethod
    def given(eleven):
        return eleven.names["by_share"], eleven.names["biases"]

    @staticmethod
    def verdicts(given, **change):
        """Of the claim, with the density's reading first, then of each reading."""
        found = p.frequency_unbiased(given[0], given[1] | change)
        return found.verdict, *(one.verdict for one in found.readings)

    def test_it_depends_on_what_c_is(self, given):
        assert self.verdicts(given) == ("verified", "verified", "holds with correction")
        assert "experiment" in p.frequency_unbiased(*given).reason

    def test_no_bias_anywhere_is_verified(self, given):
        none = {"conservative": 0.0, "liberal": 1e-12, "simulated": given[1]["simulated_error"]}
        assert self.verdicts(given, **none) == ("verified",) * 3

    @pytest.mark.parametrize("change", [{"liberal": 0.0}, {"conservative": 0.0, "simulated": 0.0}])
    def test_bias_on_one_side_is_enough_for_a_correction(self, given, change):
        assert self.verdicts(given, **change)[2] == "holds with correction"

    @pytest.mark.parametrize(("errors", "verdict"), [(4, "verified"), (6, "refuted"), (-6, "refuted")])
    def test_a_bias_with_independent_bits_refutes(self, given, errors, verdict):
        assert self.verdicts(given, independent=errors * given[1]["independent_error"])[0] == verdict

    def test_a_bias_with_equal_budgets_refutes(self, given):
        assert self.verdicts(given, equal=1e-6) == ("refuted",) * 3

    @pytest.mark.parametrize("side", [1, -1])
    def test_a_simulation_that_misses_the_closed_form_proves_nothing(self, given, side):
        sweep, biases = given
        off = biases["conservative"] + side * 6 * biases["simulated_error"]
        assert self.verdicts(given, simulated=off) == ("not checkable",)
        biased = sweep.copy()
        biased.loc[2, "bias"] = biased.loc[2, "exact_bias"] + side * 6 * biased.loc[2, "bias_error"]
        found = p.frequency_unbiased(biased, biases)
        assert found.verdict == "not checkable"
        assert (
            "6.0 standard errors" in found.evidence[f"largest gap of simulation and closed form, {len(sweep)} points"]
        )


PANELS = {"G-FIG3A": p.mean_by_share, "G-FIG3B": p.mean_by_budget}
PANELS |= {"G-FIG3C": p.frequency_by_share, "G-FIG3D": p.frequency_by_budget}


class TestPanels:
    @pytest.fixture(params=PANELS)
    @staticmethod
    def panel(request, ten, eleven):
        names = (ten if request.param in ("G-FIG3A", "G-FIG3B") else eleven).names
        which = "share" if request.param in ("G-FIG3A", "G-FIG3C") else "budget"
        return PANELS[request.param], names[f"by_{which}"], names[f"{which}_fits"]

    def test_a_straight_line_is_verified_and_a_curve_is_not_reproduced(self, panel):
        check, sweep, fits = panel
        assert check(sweep, fits.assign(r_squared=0.995)).verdict == "verified"
        assert check(sweep, fits.assign(r_squared=0.985)).verdict == "not reproduced"

    def test_each_rule_and_axis_is_a_reading_and_the_best_one_counts(self, panel):
        check, sweep, fits = panel
        straight = fits.assign(r_squared=0.995)
        constant = fits["reading"] == "constants"
        errors = fits.index[(fits["measure"] == "error") & constant]
        bent = straight.copy()
        bent.loc[errors[0], "r_squared"] = 0.98
        found = check(sweep, bent)
        admissible = [one for one in found.readings if not one.excluded]
        assert len(admissible) == len(errors)
        several = len(errors) > 1
        assert found.verdict == ("verified" if several else "not reproduced")
        assert found.agreeing == (f"in {len(errors) - 1} of {len(errors)} readings" if several else "")
        bent.loc[errors, "r_squared"] = 0.98
        found = check(sweep, bent)
        assert (found.verdict, found.readings[-1].verdict) == ("not reproduced", "verified")
        assert "after the fit" in found.readings[-1].excluded  # another measure of utility is straight
        ranges_alone = straight.assign(r_squared=straight["r_squared"].where(~constant, 0.5))
        assert check(sweep, ranges_alone).verdict == "not reproduced"  # the text gives each group one budget

    def test_the_wrong_direction_is_refuted(self, panel):
        check, sweep, fits = panel
        found = check(sweep, fits.assign(monotone=-fits["monotone"], r_squared=1.0))
        assert found.verdict == "refuted"
        assert all("does not" in one.found for one in found.readings)

    def test_ends_that_noise_could_exchange_settle_nothing(self, panel):
        check, sweep, fits = panel
        found = check(sweep.assign(mae_error=sweep["mae"].max()), fits)
        assert (found.verdict, found.missing) == ("not yet checked", "size")

    @pytest.mark.parametrize("column", ["exact", "law"])
    def test_a_wrong_formula_proves_nothing(self, panel, column):
        check, sweep, fits = panel
        wrong = sweep.copy()
        wrong.loc[3, column] *= 1.5
        assert check(wrong, fits).verdict == "not checkable"


def test_the_simulated_axis_is_the_first_reading(ten):
    found = ten.outcomes["G-FIG3B"]
    starts = [one.name.split("axis ")[1] for one in found.readings[:-1]]
    assert starts == ["0.05 to 0.5"] * 2 + ["0.01 to 0.5"] * 2 + ["0.1 to 0.5"] * 2
    # By hand, one budget in each group: the squared error is a + b/x^2.
    for one in found.readings[:-1:2]:
        x = np.linspace(float(one.name.split("axis ")[1].split()[0]), 0.5, 25)
        fit = 100 * np.corrcoef(x, np.sqrt(0.54 / x**2 + 0.37 / 0.25 + 0.09))[0, 1] ** 2
        assert one.verdict == "not reproduced"
        assert f"a line explains {fit:.2f}% of its variance" in one.found
    assert found.readings[-1].name == "utility is 1/squared error"


class TestReport:
    def test_other_readings_give_other_verdicts(self, ten):
        readings = ten.names["readings"]
        kept = readings.assign(times=1.0, liberal=1.0, conservative=0.1, evaluated=1.0)
        assert privacy.report_is_local(kept).verdict == "verified"
        assert privacy.report_is_local(readings.iloc[[1, 2]]).verdict == "refuted"

    def test_a_formula_that_the_densities_contradict_proves_nothing(self, ten):
        wrong = ten.names["readings"].copy()
        wrong.loc[0, "liberal"] = 0.5
        assert privacy.report_is_local(wrong).verdict == "not checkable"


class TestClones:
    """The clones of Laplace users: what the proof says of densities, and what small sums say of the result."""

    @pytest.mark.parametrize("victim", [0, 1, 2])
    def test_every_density_is_above_the_clones(self, victim):
        people = budgets.from_array([0.2, 0.7, 1.5])
        problem = privacy.hiding(people, mechanism="laplace", victim=victim)
        y = np.linspace(-60, 61, 4_001)
        own = float(people.eps[victim])
        for eps, q in zip(people.eps, problem.q, strict=True):
            assert (q == 0) == (eps > own)
            for x, at in itertools.product((0.0, 0.3, 1.0), repeat=2):
                density = eps / 2 * np.exp(-eps * np.abs(y - at))
                assert (density >= q * own / 2 * np.exp(-own * np.abs(y - x)) * (1 - 1e-12)).all()
        assert problem.count[victim] == 0

    def test_the_total_variation_of_reports_above_a_cut_is_within_it(self):
        # 40 users at 0.3, 12 at 1: one user's 0 against 1, all others at 0; which of the reports exceed a cut.
        people = budgets.from_array([0.3, 1.0], count=[40, 12])
        for victim, (own, others) in enumerate([(0.3, (39, 12)), (1.0, (40, 11))]):
            clones = privacy.hiding(people, mechanism="laplace", victim=victim)
            most = divergence(clones.law(), clones.victim, 0.0)[2]
            assert most <= 1 / math.sqrt(clones.mean)
            for cut in (0.5, 1.0, 4.0):
                law = np.array([1.0])
                for eps, count in zip((0.3, 1.0), others, strict=True):
                    above = 1 - laplace_cdf(cut, 0, 1 / eps)
                    for _ in range(count):
                        law = np.convolve(law, [1 - above, above])
                ends = [1 - laplace_cdf(cut, x, 1 / own) for x in (0, 1)]
                first, second = (np.convolve([1 - above, above], law) for above in ends)
                assert hockey_stick(first, second, 0.0) <= most

    def test_the_largest_probability_of_fair_coins(self):
        for c in range(200):
            assert stats.binom(c, 0.5).pmf(c // 2) <= 1 / math.sqrt(c + 1)

    @pytest.mark.parametrize("mechanism", ["laplace", "rr"])
    def test_one_constant_for_all_numbers_of_users(self, mechanism):
        terms = privacy.error_terms(Groups(n=1_000), mechanism=mechanism)
        assert terms["n"].tolist() == [1_000] * 3 + [100_000] * 3
        assert (terms["certified"] <= terms["stated"]).all()
        assert (terms["reached"] <= terms["certified"]).all()
        assert (2 * terms["slack"][3:] < terms["reached"][3:]).all()
        assert (10 * terms["slack"][3:].to_numpy() < terms["slack"][:3].to_numpy()).all()  # faster than the root
        few, many = terms["constant"][:3].to_numpy(), terms["constant"][3:].to_numpy()
        assert many == pytest.approx(few, rel=0.01)
        if mechanism == "rr":  # of the victim's group one is missing
            for index, found in enumerate(few):
                shares = [540.0, 370.0, 90.0]
                shares[index] -= 1
                mass = sum(2 * share / (1 + math.exp(e)) for share, e in zip(shares, (0.1, 0.5, 1.0), strict=True))
                assert found == pytest.approx(math.sqrt(999 / mass) / 2, rel=1e-12)

    def test_one_conservative_user_among_liberal_ones(self):
        # Somebody's report beyond y: rare among the many, e^{-eps y} for the one.
        lone = privacy.lone_users(Groups(), sizes=(1_000, 100_000))
        for row in lone.itertuples():
            y = np.linspace(1, 60, 6_000)
            alone = (1 - np.exp(-y) / 2) ** (row.n - 1)
            event = (alone * np.exp(-0.1 * y) * math.expm1(0.1) / 2).max()
            assert row.reached == pytest.approx(event, rel=0.05)
        assert lone["constant"].iloc[1] > 5 * lone["constant"].iloc[0] >= 0

    def test_a_loud_crowd_by_its_binomial(self):
        (row,) = privacy.loud_crowds(sizes=(1_000,), at=(2.0,)).itertuples()
        none = [stats.binom(999, 1e-3).pmf(0) * (1 - flip) for flip in (1e-3, 1 - 1e-3)]
        assert row.delta == pytest.approx(none[0] - math.exp(2) * none[1], rel=1e-9)
        assert row.delta <= exact.exact_delta(budgets.constant(row.eps0, n=1_000), eps=2.0).upper


class TestTheorem3:
    @pytest.fixture(scope="class")
    @staticmethod
    def given(ten):
        return {name: ten.names[name] for name in ("by_group", "crowded", "silent", "lone", "terms", "spread")}

    @staticmethod
    def found(given, **change):
        return privacy.theorem_3(*(given | change).values())

    def verdicts(self, given, **change):
        """Of each reading."""
        return [one.verdict for one in self.found(given, **change).readings]

    def test_its_numbers(self, given):
        found = self.found(given)
        assert [one.verdict for one in found.readings] == ["holds with correction"] + ["refuted"] * 3
        assert "ertified for every group at Figure 3's settings (3 of 3 groups and deltas)" in found.reason
        assert "9% liberal users and all others at 0.01" in found.readings[-1].found
        low, high = found.evidence["group at $\\epsilon_i$ = 1 (900 users): true $\\epsilon$ between"]
        assert 0.02 < low < high < 0.03
        silent = given["silent"]
        assert silent["constant"].iloc[1] / silent["constant"].iloc[0] == pytest.approx(10, rel=0.2)
        assert (silent["lower"] > 0.5).all()
        assert given["crowded"]["promise"].tolist() == ["kept", "broken"]
        assert (given["crowded"]["attacked"] > 1e-4).tolist() == [False, True]

    def test_broken_at_home(self, given):
        loud = given["by_group"].assign(lower=0.1, upper=0.2, promise="broken")
        found = self.found(given, by_group=loud)
        assert found.readings[-1].verdict == "refuted"
        assert "own settings" in found.readings[-1].found
        assert "roken at Figure 3's own settings" in found.reason
        part = given["by_group"].assign(promise="open")
        assert "for 0 of 3 groups" in self.found(given, by_group=part).reason

    def test_each_counterexample_belongs_to_its_reading(self, given):
        assert self.verdicts(given, lone=given["lone"].assign(constant=1.0))[1] == "not checkable"
        assert self.verdicts(given, silent=given["silent"].assign(constant=16.0))[2] == "not checkable"
        calm = given["crowded"].assign(promise="open", attacked=0.0)
        found = self.found(given, crowded=calm).readings[-1]
        assert found.verdict == "not checkable"
        assert "does not prove" in found.found

    def test_a_constant_that_grows_refutes(self, given):
        terms = given["terms"].assign(constant=np.sqrt(given["terms"]["n"]))
        assert self.found(given, terms=terms).verdict == "refuted"

    def test_a_slack_that_serves_every_mu_refutes(self, given):
        terms = given["terms"].assign(slack=given["terms"]["reached"] / 2)
        assert self.found(given, terms=terms).verdict == "refuted"

    @pytest.mark.parametrize(("column", "factor"), [("certified", 0.1), ("stated", 0.01), ("reached", 10.0)])
    def test_bounds_that_contradict_each_other_prove_nothing(self, given, column, factor):
        terms = given["terms"].assign(**{column: given["terms"][column] * factor})
        assert self.found(given, terms=terms).verdict == "not checkable"
        crossed = given["by_group"].assign(lower=2 * given["by_group"]["upper"])
        assert self.found(given, by_group=crossed).verdict == "not checkable"


class TestTheorem4:
    @pytest.fixture(scope="class")
    @staticmethod
    def given(eleven):
        wanted = ("by_group", "limits", "loud", "terms", "spread", "bits_ratio", "proved", "floor")
        return {name: eleven.names[name] for name in wanted}

    @staticmethod
    def found(given, **change):
        return privacy.theorem_4(*(given | change).values())

    def test_its_numbers(self, given):
        found = self.found(given)
        assert [one.verdict for one in found.readings] == ["holds with correction", "refuted", "refuted"]
        assert "6 of 6" in found.reason
        assert "100 users at $\\epsilon_0$ = 3" in found.reason
        low, high = found.evidence["promise over the liberal user's true $\\epsilon$, between"]
        assert 2.4 < low < high < 2.7
        assert given["bits_ratio"] < math.tanh(0.5)
        assert 0 < given["floor"] < 0.02

    def test_other_tables_give_other_verdicts(self, given):
        calm = given["limits"].assign(promise="kept")
        assert self.found(given, limits=calm).verdict == "verified"
        lost = self.found(given, by_group=given["by_group"].assign(promise="broken"))
        assert [one.verdict for one in lost.readings] == ["holds with correction", "refuted", "refuted"]
        assert "roken at Figure 3's own settings" in lost.reason
        found = self.found(given, by_group=given["by_group"].assign(promise="open"))
        assert (found.verdict, found.missing) == ("not yet checked", "size")
        quiet = self.found(given, loud=given["loud"].assign(constant=1.0))
        assert quiet.readings[1].verdict == "not checkable"
        growing = given["terms"].assign(constant=np.sqrt(given["terms"]["n"]))
        assert self.found(given, terms=growing).verdict == "refuted"
        wide = given["terms"].assign(slack=given["terms"]["reached"] / 2)
        assert self.found(given, terms=wide).verdict == "refuted"

    @pytest.mark.parametrize(
        ("table", "column", "factor"),
        [("by_group", "lower", 2.0), ("limits", "certified", 0.5), ("terms", "certified", 0.5)],
    )
    def test_a_bound_below_what_is_certain_proves_nothing(self, given, table, column, factor):
        wrong = given[table].assign(**{column: given[table][column] * factor})
        assert self.found(given, **{table: wrong}).verdict == "not checkable"


_TWICE = ("accountant.closed_forms", "    return math.sqrt(2 / total)\n", "    return math.sqrt(2 / total) * 2\n")
_LAW = ("pages.p10_p11_estimation", "/ (groups.n * first**2)", "/ groups.n", "the frequency's law without t in it")
PLANTED = (
    Planted(
        "G-A2",
        "algorithms.frequency",
        "(bits * np.tanh(budgets / 2)).sum() / total",
        "(bits * np.tanh(budgets)).sum() / total",
        "expectation with tanh(eps)",
    ),
    Planted(
        "G-FIG3A G-FIG3B",
        "pages.p10_p11_estimation",
        '"error": lambda squared: np.sqrt(2 / np.pi * squared)',
        '"error": lambda squared: 2 / np.pi * squared',
        "mean error without its square root",
    ),
    Planted("G-FIG3C G-FIG3D", *_LAW),
    Planted(
        "G-A1",
        "accountant.mechanisms",
        "    return apart(sensitivity, check.positive(eps=eps))[1]",
        "    return apart(1.0, check.positive(eps=eps))[1]",
        "Laplace scale without the sensitivity",
    ),
    Planted(
        "G-T3",
        "pages.p10_p11_privacy",
        "stated = 1 / math.sqrt(clones.mean)",
        "stated = 1 / clones.mean",
        "total variation as 1/M",
    ),
    Planted("G-T4", *_TWICE, "mu twice as large"),
)

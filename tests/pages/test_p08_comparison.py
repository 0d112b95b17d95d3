"""Page 08: its tables against formulas written out here, and the cells of its claims on made tables."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from exact_shuffle import gaussian_delta
from running import Planted, in_readings, recorded, run_page, settle
from scipy import stats

from gspa.accountant import budgets
from gspa.accountant.one_round import central_epsilon
from gspa.accountant.published import CATALOGUE
from gspa.accountant.randomizers import Common, RandomizedResponse
from gspa.accountant.tradeoff import gdp_epsilon

PAGE = "08_comparison"
RUN = {"steps": 4}
LAWS = [f"{law.title}: {law.label}" for law in budgets.TABLE2.values()]
SIZES = np.linspace(1_000, 10_000, 7)
POINTS = 4 * len(SIZES)
KEYS = [key for key in CATALOGUE if key not in ("su25", "liu24")]


class TestTables:
    @pytest.mark.parametrize("n", [1_000, 4_000, 10_000])
    def test_constant_budgets_by_hand(self, ran, n):
        # Theorem 2: mu = sqrt(2/((n-1) r)), r = 1/(1+e^eps); eps where the GDP curve (Fact 3) crosses delta.
        mu = math.sqrt(2 * (1 + math.exp(0.5)) / (n - 1))
        found = ran.names["eps"].loc["Constant: 0.5", n]
        assert ran.names["mu"]["Constant: 0.5", n] == pytest.approx(mu, rel=1e-12)
        assert gaussian_delta(found["gspa"], mu) == pytest.approx(1e-4, rel=1e-9)
        growth = math.exp(0.5) / n
        fmt21 = math.log1p(math.tanh(0.25) * (8 * math.sqrt(growth * math.log(4e4)) + 8 * growth))
        assert found["fmt21"] == pytest.approx(fmt21, rel=1e-12)
        # Erlingsson et al. ask for n >= 144 log(1e4) = 1326.
        erlingsson19 = 12 * 0.5 * math.sqrt(math.log(1e4) / n) if n > 1_326 else math.nan
        assert found["erlingsson19"] == pytest.approx(erlingsson19, rel=1e-12, nan_ok=True)

    def test_mixed_budgets_by_hand_and_bounds_for_a_common_budget_are_given_the_largest(self, ran):
        r = [1 / (1 + math.exp(0.5)), 1 / (1 + math.exp(0.01))]
        mu = math.sqrt(2 / (2_000 * r[0] + 1_999 * r[1]))
        assert ran.names["mu"]["Mixed Constant: 50% 0.5 + 50% 0.01", 4_000] == pytest.approx(mu, rel=1e-12)
        at = ran.names["eps"].xs(4_000, level="n")
        for key, mechanism in (("fmt21_numerical", Common()), ("fmt23_numerical", RandomizedResponse())):
            value = central_epsilon(budgets.constant(0.5, n=4_000), delta=1e-4, mechanism=mechanism).upper
            assert at.loc[LAWS[2:], key].tolist() == [value, value]

    def test_the_first_thousand_budgets_are_repeated(self, ran):
        # With 1,000 budgets repeated k times, 2/mu^2 + max r = sum r is k times that of the first thousand.
        for law in LAWS:
            first, fourth, seventh = (2 / ran.names["mu"][law, n] ** 2 for n in (1_000, 4_000, 7_000))
            m = (fourth - 4 * first) / 3
            assert 1 / (1 + math.exp(0.5)) - 1e-9 <= m <= 1 / (1 + math.exp(0.01)) + 1e-9
            assert seventh + m == pytest.approx(7 * (first + m), rel=1e-9)

    def test_extremes_by_hand(self, ran):
        table = ran.names["extremes"].set_index(["users", "budget"])
        for eps in (0.1, 0.0):
            row = table.loc[("all", eps)]
            mu = math.sqrt(2 * (1 + math.exp(eps)) / 9_999)
            assert row["paper"] == pytest.approx(gdp_epsilon(delta=1e-4, mu=mu), rel=1e-9)
            echoes, log = 9_999 * math.exp(-eps), math.log(4e4)
            assert row["look-alikes"] == pytest.approx(echoes)
            spread = 8 * (math.sqrt(log / echoes) + 1 / echoes)
            assert row["liu23"] == pytest.approx(math.log1p(math.tanh(eps / 2) * spread), rel=1e-9)
        half = table.loc[("half, the others 0.5", 0.0)]
        assert (half["largest"], half["with that budget"]) == (0.5, 0.0)
        assert 0 < half["certified"] < half["paper"] < half["liu23"]

    def test_each_account_meets_the_target_with_the_error_of_its_budgets(self, ran):
        constant = ran.names["equal"].query("law == 'Constant: 0.5'").set_index("bound")
        target = gdp_epsilon(delta=1e-4, mu=math.sqrt(2 * (1 + math.exp(0.5)) / 9_999))
        for key, row in constant.iterrows():
            eps0 = 0.5 * row["factor"]
            assert row["central"] == pytest.approx(target, rel=1e-9)
            # Var of n randomized bits over (n tanh(eps0/2))^2.
            assert row["error"] == pytest.approx(1 / (2 * math.sinh(eps0 / 2)) / 100, rel=1e-9)
            if key == "erlingsson19":
                assert 12 * eps0 * math.sqrt(math.log(1e4) / 10_000) == pytest.approx(target, rel=1e-4)

    def test_a_power_is_the_least_squares_one_where_the_line_is_above_zero(self, p):
        n = pd.MultiIndex.from_product([["a"], [10, 20, 40, 80]], names=["law", "n"])
        values = np.array([3.0, 1.0, 0.7, 0.0])
        expected = stats.linregress(np.log([10, 20, 40]), np.log(values[:3])).slope
        assert p.power(pd.Series(values, n)) == pytest.approx(expected, rel=1e-12)
        assert math.isnan(p.power(pd.Series([0.0, 0.0, 0.0, 1.0], n)))


def made(*, power=-0.5, others=2.0, share=0.5, sizes=SIZES, **columns):
    """Figure 2's table by power laws: erlingsson19 is `others` times the paper's eps, fmt21 twice that."""
    at = pd.MultiIndex.from_product([LAWS, sizes], names=["law", "n"])
    ours = 5 * at.get_level_values("n").to_numpy() ** power
    table = pd.DataFrame(math.nan, at, KEYS).assign(gspa=ours, erlingsson19=others * ours, fmt21=2 * others * ours)
    return table.assign(certified=share * ours, certainly=share * ours, **{k: f * ours for k, f in columns.items()})


TABLE2 = pd.DataFrame(
    {"law": LAWS, "in its range": True, "mean": 0.5, "its mean": 0.5, "variance": 0.1, "its variance": 0.1}
)


@pytest.mark.parametrize(
    ("column", "value", "verdict"),
    [
        ("mean", 0.5, "illustrated"),
        ("mean", 0.506, "refuted"),
        ("variance", 0.102, "refuted"),
        ("in its range", False, "refuted"),
    ],
)
def test_a_wrong_law_refutes_table_2(column, value, verdict):
    table = TABLE2.copy()
    table.loc[1, column] = value
    assert settle("G-TAB2", table2=table).verdict == verdict


@pytest.mark.parametrize(
    ("mu", "eps", "verdict"),
    [
        (-0.5, -0.5, "verified"),
        (-0.5, -1.0, "holds with correction"),
        (-1.0, -0.5, "refuted"),
        # The registry's tolerance on a slope is 0.02.
        (-0.519, -0.481, "verified"),
        (-0.519, -0.521, "holds with correction"),
        (-0.479, -0.5, "refuted"),
        (-0.5, math.nan, "holds with correction"),
    ],
)
def test_the_square_root_follows_the_exponents(mu, eps, verdict):
    powers = pd.DataFrame({"mu": [-0.5, mu], "epsilon": [-0.5, eps]}, LAWS[:2])
    assert settle("G-C2", powers=powers).verdict == verdict


@pytest.mark.parametrize(
    ("claim", "columns", "readings"),
    [
        ("G-C3", {}, ["verified", "verified"]),
        ("G-C3", {"share": 1.01}, ["holds with correction"] * 2),  # no bound for randomized response
        ("G-C3", {"others": 1.0}, ["refuted"] * 2),  # as small is not smaller
        ("G-C3", {"girgis21": 1.0}, ["verified", "refuted"]),
        ("G-C3", {"girgis21": 1.01}, ["verified", "verified"]),
        ("G-C3", {"fmt23_numerical": 0.5}, ["verified", "verified"]),  # for randomized response alone
        ("G-C3", {"fmt21": math.nan, "erlingsson19": math.nan}, ["not checkable"] * 2),  # nothing to compare with
        ("G-FIG2", {}, ["not checkable"]),
        ("G-FIG2", {"others": 0.4}, ["refuted"]),
        ("G-FIG2", {"power": 0.1}, ["refuted"]),
        ("G-FIG2", {"fmt21": math.nan, "erlingsson19": math.nan}, ["refuted"]),
        # The registry's tolerance is half a point: 32.5%.
        ("G-C4", {"others": 1 / 0.674}, ["verified", "holds with correction", "verified"]),
        ("G-C4", {"others": 1 / 0.676}, ["refuted", "not reproduced", "verified"]),
        ("G-C4", {"others": 2.0}, ["verified", "holds with correction", "refuted"]),
    ],
)
def test_the_verdicts_follow_the_bounds(claim, columns, readings):
    assert in_readings(settle(claim, eps=made(**columns), sizes=[*SIZES])) == readings


@pytest.mark.parametrize(
    ("at", "readings"), [(1_000, ["refuted", "holds with correction"]), (10_000, ["refuted", "not reproduced"])]
)
def test_one_point_is_enough_and_the_right_end_is_a_reading_of_its_own(at, readings):
    table = made()
    table.loc[(LAWS[2], at), "erlingsson19"] = 1.25 * table.loc[(LAWS[2], at), "gspa"]
    found = settle("G-C4", eps=table, sizes=[*SIZES])
    assert in_readings(found)[:2] == readings
    assert found.evidence["least reduction on the grid (%)"] == pytest.approx(20)
    if at == 1_000:
        assert found.evidence["reached from n"] == 2_500


NEAR_ZERO = {"budget": [0.5, 0.01, 0.0], "largest": [0.5, 0.01, 0.0], "liu23": math.nan, "certified": [0.1, 0.0, 0.0]}


@pytest.mark.parametrize(
    ("paper", "readings"),
    [
        ([0.1, 0.001, -1.0], ["refuted", "refuted"]),  # below what is certified
        ([0.1, 0.001, 0.0], ["not checkable", "refuted"]),  # 0 is no less than a budget of 0
        ([0.1, 0.001, math.nan], ["refuted", "refuted"]),
    ],
)
def test_near_zero(paper, readings):
    assert in_readings(settle("G-C1", extremes=pd.DataFrame({**NEAR_ZERO, "paper": paper}))) == readings


@pytest.mark.parametrize(
    ("error", "reach", "readings"),
    [
        ([1.0, 2.0, 2.0, 0.5], True, ["holds with correction", "refuted", "refuted"]),
        ([1.0, 2.0, 2.0, 1.5], False, ["verified", "verified", "refuted"]),
        ([1.0, 0.9, 2.0, 0.5], True, ["refuted"] * 3),
        ([1.0, math.nan, math.nan, math.nan], True, ["not checkable", "not checkable", "refuted"]),
    ],
)
def test_higher_accuracy(error, reach, readings):
    equal = pd.DataFrame({"law": LAWS[0], "bound": ["gspa", "fmt21", "liu23", "fmt21_numerical"], "error": error})
    assert in_readings(settle("G-C6", equal=equal, own=["fmt21", "liu23"], reach=reach, floor=0.04)) == readings


def test_the_page(ran):
    assert ran.verdicts == recorded(PAGE)
    assert ran.names["lower"]
    assert len(ran.names["own_share"]) == 37
    assert any("33 percent is reached in every comparison from 10,000 users on" in said for said in ran.said)


def test_a_run_that_does_not_cover_the_figure_settles_nothing_about_it():
    ran = run_page(PAGE, steps=2, n_min=20, n_max=60, near_zero=[0.5, 0.0])
    settled = {name for name, outcome in ran.outcomes.items() if not outcome.missing}
    assert settled == {"G-TAB2", "G-C1"}
    assert ran.outcomes["G-C4"].reason == "It needs a run with `n_max >= 10000`."
    assert not any("nan" in said for said in ran.said)


_MU = "    return math.sqrt(2 / total)\n"
_FEW = {"steps": 2}
PLANTED = (
    Planted("G-TAB2", "accountant.budgets", "uniform(0.01, 2, n)", "uniform(0.01, 2.1, n)", "U(0.01, 2.1)", _FEW),
    Planted("G-C2", "accountant.closed_forms", _MU, "    return 2 / total\n", "mu without its square root", _FEW),
    Planted("G-C3 G-C9 G-C1", "accountant.closed_forms", _MU, "    return math.sqrt(2 / total) / 6\n", "mu / 6", _FEW),
    Planted(
        "G-C3 G-C9 G-FIG2 G-C4 G-C6",
        "accountant.closed_forms",
        _MU,
        "    return math.sqrt(2 / total) * 2\n",
        "mu times 2",
        _FEW,
    ),
    Planted("G-C4", "accountant.closed_forms", _MU, "    return math.sqrt(2 / total) / 2\n", "mu / 2", _FEW),
)

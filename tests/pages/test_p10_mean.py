"""Page 10: its laws and tables against hand computation and direct summation; its cells on made tables."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from exact_shuffle import hockey_stick, laplace_cdf
from running import Planted, in_readings, recorded, run_page, settle

from gspa.accountant import budgets
from gspa.accountant.pair import divergence
from gspa.algorithms import mean

PAGE = "10_mean"
GROUPS = {"n": 2_000, "f_conservative": 0.54, "f_moderate": 0.37, "f_liberal": 0.09}
GROUPS |= {"eps_conservative": 0.1, "eps_moderate": 0.5, "eps_liberal": 1.0}


def test_the_page(ran):
    assert ran.verdicts == recorded(PAGE)
    names = ran.names
    assert abs(names["reports"].mean() - names["x"].mean()) < 5 * names["by_users"]
    assert names["by_groups"] == pytest.approx(names["by_users"], rel=1e-12)
    assert not any("nan" in said for said in ran.said)


@pytest.mark.slow
def test_a_run_with_other_groups_settles_nothing():
    ran = run_page(PAGE, eps_moderate=0.4, points=3, repeats=10)
    assert {(one.verdict, one.missing) for one in ran.outcomes.values()} == {("not yet checked", "settings")}


@pytest.mark.parametrize("reading", ["constants", "ranges"])
def test_the_law_averages_over_draws(p, reading):
    rng = np.random.default_rng(5)
    squared = []
    for _ in range(200):
        eps = budgets.preference_groups(**GROUPS, reading=reading, rng=rng).expanded().eps
        squared.append(mean.mean_variance(eps, sensitivity=60.0))
    law = p.squared_error(GROUPS, reading, sensitivity=60.0)
    # Five standard errors of the mean over 200 draws, and 1/n for sizes rounded to users.
    assert abs(np.mean(squared) - law) <= 5 * np.std(squared) / math.sqrt(200) + 1.5e-3 * law


def test_lines_by_hand(ran):
    for start, part in ran.names["budget_fits"].groupby("axis from"):
        x = np.linspace(start, 0.5, 25)
        fit = np.corrcoef(x, np.sqrt(0.54 / x**2 + 0.37 / 0.25 + 0.09))[0, 1] ** 2
        assert part["error"].iloc[0] == pytest.approx(fit, rel=1e-9)
    assert ran.names["share_fits"]["squared error"].tolist() == pytest.approx([1, 1], abs=1e-9)


def test_the_simulation_meets_the_exact_error(ran):
    for table in (ran.names["by_share"], ran.names["by_budget"]):
        assert ((table["mae"] - table["exact"]).abs() <= 5 * table["mae_error"]).all()


def test_estimates(ran):
    middle, aside, ordered = (
        part.set_index("estimator") for _, part in ran.names["choices"].groupby("scenario", sort=False)
    )
    assert middle.loc["weighted by noise", "mae"] < 0.5 * middle.loc["Algorithm 1", "mae"]
    assert aside.loc["each report clipped first", "bias"] < -10
    assert ordered.loc["weighted by noise", "bias"] < -5


class TestClones:
    @pytest.mark.parametrize("victim", [0, 1, 2])
    def test_every_density_is_above_the_clones(self, p, victim):
        people = budgets.from_array([0.2, 0.7, 1.5])
        problem = p.clones(people, victim=victim)
        y = np.linspace(-60, 61, 4_001)
        own = float(people.eps[victim])
        for eps, q in zip(people.eps, problem.q, strict=True):
            assert (q == 0) == (eps > own)
            for x, at in itertools.product((0.0, 0.3, 1.0), repeat=2):
                density = eps / 2 * np.exp(-eps * np.abs(y - at))
                assert (density >= q * own / 2 * np.exp(-own * np.abs(y - x)) * (1 - 1e-12)).all()
        assert problem.count[victim] == 0

    def test_the_total_variation_of_reports_above_a_cut_is_within_it(self, p):
        # 40 users at 0.3, 12 at 1: one user's 0 against 1, all others at 0; which of the reports exceed a cut.
        people = budgets.from_array([0.3, 1.0], count=[40, 12])
        for victim, (own, others) in enumerate([(0.3, (39, 12)), (1.0, (40, 11))]):
            clones = p.clones(people, victim=victim)
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


def test_groups_are_bracketed(ran):
    table = ran.names["by_group"]
    assert table["users"].tolist() == [5_400, 3_700, 900]
    assert ((table["lower"] > 0) & (table["lower"] <= table["upper"]) & (table["upper"] <= table["budget"])).all()


def test_reports(ran):
    local = ran.names["local"]
    assert settle("G-A1", local=local.assign(liberal=1.0, evaluated=1.0), by_users=1.0).verdict == "verified"
    assert (
        settle(
            "G-A1",
            local=local.assign(liberal=[2.0, 60.0, 1e4, math.inf], evaluated=local["liberal"].replace(1.0, 2.0)),
            by_users=1.0,
        ).verdict
        == "refuted"
    )
    assert settle("G-A1", local=local.assign(evaluated=0.5), by_users=1.0).verdict == "not checkable"


class TestTheorem3:
    @pytest.fixture(scope="class")
    @staticmethod
    def made(ran):
        return {name: ran.names[name] for name in ("by_group", "crowded", "alone", "terms")}

    def test_each_table_decides_its_reading(self, made):
        assert in_readings(settle("G-T3", **made)) == ["holds with correction"] + ["refuted"] * 3
        steady = made | {"alone": made["alone"].assign(constant=16.0)}
        assert in_readings(settle("G-T3", **steady))[1:3] == ["not checkable"] * 2
        calm = made | {"crowded": made["crowded"].assign(lower=0.0)}
        assert in_readings(settle("G-T3", **calm))[3] == "not checkable"
        terms = made["terms"]
        growing = terms.assign(constant=np.sqrt(terms["n"]))
        assert settle("G-T3", **made | {"terms": growing}).verdict == "refuted"
        wide = terms.assign(slack=terms["reached"] / 2)
        assert settle("G-T3", **made | {"terms": wide}).verdict == "refuted"

    @pytest.mark.parametrize(("column", "factor"), [("certified", 0.1), ("stated", 0.01), ("reached", 10.0)])
    def test_bounds_that_contradict_each_other_prove_nothing(self, made, column, factor):
        terms = made["terms"].assign(**{column: made["terms"][column] * factor})
        assert settle("G-T3", **made | {"terms": terms}).verdict == "not checkable"


_LAW = ("notebooks.p10_mean", "share / (a * b)", "share / a", "the mean's law with 1/eps")
PLANTED = (
    Planted("G-FIG3A G-FIG3B", *_LAW),
    Planted("G-A1", "notebooks.10_mean", "/ (of_noise / eps_liberal)", "* eps_liberal", "noise without its Delta f"),
    Planted("G-T3", "notebooks.10_mean", "1 / math.sqrt(clones.mean)", "1 / clones.mean", "total variation as 1/M"),
)

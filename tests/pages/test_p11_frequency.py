"""Page 11: its laws and its tables against integrals, enumeration and direct summation; its cells on made tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from exact_shuffle import personal_rr_delta, rr_delta_worst, solve
from running import Planted, in_readings, recorded, run_page, settle
from scipy import integrate, stats

from gspa.accountant import budgets, exact
from gspa.accountant.tradeoff import gdp_epsilon
from gspa.algorithms import frequency

PAGE = "11_frequency"
GROUPS = {"n": 2_000, "f_conservative": 0.54, "f_moderate": 0.37, "f_liberal": 0.09}
GROUPS |= {"eps_conservative": 0.1, "eps_moderate": 0.5, "eps_liberal": 1.0}


def test_the_page(ran):
    assert ran.verdicts == recorded(PAGE)
    names = ran.names
    assert names["bits_ratio"] < math.tanh(0.5)
    assert 0 < names["floor"] < 0.02
    assert not any("nan" in said for said in ran.said)


def test_another_share_of_ones_and_other_budgets_settle_nothing():
    ran = run_page(PAGE, c=0.0, eps_conservative=0.2, n=200, points=3, repeats=10)
    assert {(one.verdict, one.missing) for one in ran.outcomes.values()} == {("not yet checked", "settings")}


@pytest.mark.parametrize("reading", ["constants", "ranges"])
def test_the_law_averages_over_draws(p, reading):
    rng = np.random.default_rng(5)
    squared = []
    for _ in range(200):
        eps = budgets.preference_groups(**GROUPS, reading=reading, rng=rng).expanded().eps
        bits = rng.permutation(np.arange(2_000) < 1_400).astype(int)
        squared.append((frequency.frequency_expectation(bits, eps) - 0.7) ** 2 + frequency.frequency_variance(eps))
    law = p.squared_error(GROUPS, reading, c=0.7)
    # Five standard errors of the mean over 200 draws, and 1/n for the approximations stated.
    assert abs(np.mean(squared) - law) <= 5 * np.std(squared) / math.sqrt(200) + 1.5e-3 * law


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.5), (1e-6, 20.0), (0.5, 0.5001), (3.0, 3.1)])
def test_the_moments_of_tanh_are_integrals(p, low, high):
    for value, power in zip(p.tanh_moments(low, high), (1, 2), strict=True):
        total, _ = integrate.quad(lambda e, k=power: math.tanh(e / 2) ** k, low, high, epsabs=0, epsrel=1e-12)
        assert value == pytest.approx(total / (high - low), rel=2e-7)


def test_the_simulation_meets_the_closed_forms(ran):
    for table in (ran.names["by_share"], ran.names["by_budget"]):
        assert ((table["bias"] - table["exact_bias"]).abs() <= 5 * table["bias_error"]).all()
        assert ((table["mae"] - table["exact"]).abs() <= 5 * table["mae_error"]).all()


def test_estimates(ran):
    random, low, high = (
        part.set_index("estimator") for _, part in ran.names["choices"].groupby("scenario", sort=False)
    )
    assert random.loc["weighted by noise", "mae"] < random.loc["every report corrected, plain average", "mae"]
    assert low.loc["weighted by noise", "bias"] < low.loc["Algorithm 2", "bias"] < -0.2
    assert high.loc["Algorithm 2", "bias"] > 0.15


@pytest.mark.parametrize("delta", [1e-2, 1e-4, 1e-9])
def test_ones_by_direct_summation(p, delta):
    people = budgets.from_array([0.2, 1.0, 3.0], count=[7, 5, 2])
    expanded = people.expanded().eps.tolist()
    for victim, first in enumerate([0, 7, 12]):
        # All others hold 0, either direction; all hold 1 is the same with ones and zeros exchanged.
        wanted = solve(lambda at, i=first: personal_rr_delta(expanded, i, at), delta, float(people.eps[victim]))
        found = p.ones_epsilon(people, victim=victim, delta=delta)
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_limits(ran):
    limits = ran.names["limits"]
    first = limits.iloc[0]
    # By direct summation, the worst inputs of 99 others.
    assert rr_delta_worst(1.0, 100, first["exact"]) == pytest.approx(1e-4, rel=1e-4)
    assert gdp_epsilon(delta=1e-4, mu=ran.names["mu_bits"]) == pytest.approx(ran.names["liberal_low"], rel=0.1)


def test_a_loud_crowd_by_its_binomial(ran):
    row = ran.names["loud"].iloc[1]
    none = [stats.binom(9_999, 1e-4).pmf(0) * (1 - flip) for flip in (1e-4, 1 - 1e-4)]
    assert row["delta"] == pytest.approx(none[0] - math.exp(2) * none[1], rel=1e-9)
    assert row["delta"] <= exact.exact_delta(budgets.constant(math.log(9_999), n=10_000), eps=2.0).upper


@pytest.mark.parametrize(
    ("change", "readings"),
    [
        ({}, ["verified", "holds with correction"]),
        ({"bias_low": 0.0, "bias_high": 0.0, "met": True}, ["verified"] * 2),
        ({"equal": 1e-6}, ["refuted"] * 2),
        ({"dealt_error": 1e-9}, ["refuted"] * 2),
        ({"met": False}, ["not checkable"] * 2),
    ],
)
def test_bias(ran, change, readings):
    names = ("by_share", "runs", "dealt", "dealt_error", "bias_low", "bias_high", "equal")
    assert in_readings(settle("G-A2", **{name: ran.names[name] for name in names} | change)) == readings


@pytest.mark.parametrize(
    ("name", "claimed"),  # the first and the second panel are page 10's, whose tables are of the same form
    [("share_fits", "G-FIG3A"), ("budget_fits", "G-FIG3B"), ("share_fits", "G-FIG3C"), ("budget_fits", "G-FIG3D")],
)
def test_lines_decide_the_panels(ran, name, claimed):
    sweep, way = ("by_share", "rises") if name == "share_fits" else ("by_budget", "falls")
    made = {given: ran.names[given] for given in (name, sweep)} | {"repeats": 2, "points": 3}  # of the other sweep
    straight = made[name].assign(error=0.995)
    assert settle(claimed, **made | {name: straight}).verdict == "verified"
    assert settle(claimed, **made | {name: straight.assign(error=0.985)}).verdict == "not reproduced"
    assert settle(claimed, **made | {name: straight.assign(**{way: False})}).verdict == "refuted"
    noisy = made[sweep].assign(mae_error=made[sweep]["mae"].max())
    assert settle(claimed, **made | {sweep: noisy}).verdict == "not checkable"
    for columns in (["exact", "law"], ["law"]):  # against the simulation, against the other one
        wrong = made[sweep].copy()
        wrong.loc[3, columns] *= 1.5
        assert settle(claimed, **made | {sweep: wrong}).verdict == "not checkable"


def test_theorem_4(ran):
    names = ("by_group", "limits", "loud", "terms", "bits_ratio", "floor", "slack", "lost", "worst")
    made = {name: ran.names[name] for name in names}
    assert in_readings(settle("G-T4", **made)) == ["holds with correction", "refuted", "refuted"]
    assert settle("G-T4", **made | {"lost": made["lost"].iloc[:0]}).verdict == "verified"
    terms = made["terms"]
    for change in ({"constant": np.sqrt(terms["n"])}, {"slack": terms["reached"] / 2}):
        assert settle("G-T4", **made | {"terms": terms.assign(**change)}).verdict == "refuted"
    for table, column, factor in (
        ("by_group", "lower", 2.0),
        ("limits", "certified", 0.5),
        ("terms", "certified", 0.5),
    ):
        wrong = made[table].assign(**{column: made[table][column] * factor})
        assert settle("G-T4", **made | {table: wrong}).verdict == "not checkable"


_MU = "    return math.sqrt(2 / total)\n"
PLANTED = (
    Planted(
        "G-A2",
        "algorithms.frequency",
        "(bits * np.tanh(budgets / 2)).sum() / total",
        "(bits * np.tanh(budgets)).sum() / total",
        "expectation with tanh(eps)",
    ),
    Planted(
        "G-FIG3C G-FIG3D", "notebooks.p11_frequency", ' / (groups["n"] * first**2)', ' / groups["n"]', "no t in the law"
    ),
    Planted("G-T4", "accountant.closed_forms", _MU, "    return math.sqrt(2 / total) * 2\n", "mu twice as large"),
)

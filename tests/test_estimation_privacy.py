"""Preference groups: promised, attacked, certified; held against other code and small sums."""

from __future__ import annotations

import math

import exact_shuffle
import numpy as np
import pytest
from scipy.special import expit

from gspa import accountant, budgets, estimation_privacy, exact_rr
from gspa.bounds import gspa_epsilon, gspa_mu
from gspa.error_laws import Groups
from gspa.errors import InvalidValue, UnknownName
from gspa.tradeoff import gdp_epsilon


def test_sensitivities_scale_the_local_eps_and_the_error():
    table = estimation_privacy.sensitivity_readings(Groups(), low=20, high=80).set_index("reading")
    width, one = table.loc["width of the data's range"], table.loc["1"]
    assert width[["conservative", "liberal", "times"]].tolist() == [0.1, 1.0, 1.0]
    assert one[["conservative", "liberal"]].tolist() == [6.0, 60.0]
    # sum of 1/eps^2 over 5400, 3700 and 900 users
    assert width["error"] == pytest.approx(60 / 10_000 * math.sqrt(2 * (540_000 + 14_800 + 900)))
    assert one["error"] == pytest.approx(width["error"] / 60)
    finite = table[np.isfinite(table["liberal"])]
    assert finite["evaluated"].to_numpy() == pytest.approx(finite["liberal"].to_numpy(), rel=1e-12)
    unclipped = table.loc["width of the range, but data not clipped"]
    assert unclipped["liberal"] == math.inf > unclipped["evaluated"] > 1e5


@pytest.fixture(scope="module")
def laplace():
    return estimation_privacy.laplace_groups(Groups(n=1_000).people(), delta=1e-4)


def test_laplace_groups_are_bracketed(laplace):
    people = Groups(n=1_000).people()
    assert laplace["budget"].tolist() == [0.1, 0.5, 1.0]
    assert laplace["users"].tolist() == [540, 370, 90]
    assert (laplace["promised"] == gspa_epsilon(people, delta=1e-4)).all()
    assert ((laplace["lower"] <= laplace["upper"]) & (laplace["upper"] <= laplace["local"])).all()
    assert (laplace["lower"] > 0).all()
    # A count of reports in a window, all others at one end, by direct summation.
    for row in laplace.to_dict("records"):
        scale = 1 / row["budget"]
        at0, at1 = (exact_shuffle.laplace_cdf(0.5, x, scale) for x in (0, 1))
        law = np.array([1.0])
        for eps, count in zip(people.eps, people.count, strict=True):
            p = exact_shuffle.laplace_cdf(0.5, 1, 1 / eps)
            for _ in range(int(count) - (eps == row["budget"])):
                law = np.convolve(law, [1 - p, p])
        first, second = np.convolve([1 - at0, at0], law), np.convolve([1 - at1, at1], law)
        assert exact_shuffle.hockey_stick(first, second, row["upper"]) <= 1e-4


def test_a_report_ten_times_as_loud_is_broken_and_a_single_victim_is_the_same(laplace):
    people = Groups(n=1_000).people()
    alone = estimation_privacy.laplace_groups(people, delta=1e-4, victims=[2])
    assert alone.iloc[0].to_dict() == laplace.iloc[2].to_dict()
    loud = estimation_privacy.laplace_groups(people, delta=1e-4, stretch=60.0, victims=[2])
    assert loud["promise"].item() == "broken"
    assert loud["local"].item() == 60
    assert loud["promised"].item() == laplace["promised"].iloc[2]


@pytest.mark.parametrize("delta", [1e-2, 1e-4, 1e-9])
def test_ones_by_direct_summation(delta):
    people = budgets.from_array([0.2, 1.0, 3.0], count=[7, 5, 2])
    expanded = people.expanded().eps.tolist()
    for victim, first in enumerate([0, 7, 12]):
        eps = people.eps[victim]

        def worst(at, first=first, eps=eps):
            """All others hold 0, either direction; all hold 1 is the same with ones and zeros exchanged."""
            return exact_shuffle.personal_rr_delta(expanded, first, at)

        exact = exact_shuffle.solve(worst, delta, float(eps))
        found = estimation_privacy.ones_epsilon(people, victim=victim, delta=delta)
        assert found == pytest.approx(exact, rel=1e-6, abs=1e-9)


def test_ones_of_the_largest_budget_against_the_exact_search():
    people = Groups(n=1_000).people()
    for delta in (1e-3, 1e-6):
        exact = exact_rr.exact_epsilon(people, delta=delta)
        found = estimation_privacy.ones_epsilon(people, victim=2, delta=delta)
        assert 0.999 * exact.lower <= found <= exact.upper


def test_nothing_said_nothing_revealed():
    people = budgets.from_array([0.0, 1.0], count=[5, 5])
    assert estimation_privacy.ones_epsilon(people, victim=0, delta=1e-6) == 0
    assert estimation_privacy.ones_epsilon(people, victim=1, delta=0.9) == 0
    with pytest.raises(InvalidValue, match="victim"):
        estimation_privacy.ones_epsilon(people, victim=2, delta=0.1)


def test_response_groups():
    people = Groups(n=1_000).people()
    table = estimation_privacy.response_groups(people, delta=1e-4)
    assert (table["lower"] <= table["upper"]).all()
    assert (table["upper"] < 1.2 * table["lower"]).all()
    assert table["upper"].iloc[-1] == pytest.approx(accountant.central_epsilon(people, delta=1e-4).upper, rel=1e-9)
    assert table["promise"].tolist() == ["kept"] * 3


def test_along_names_the_groups_that_there_are():
    groups = Groups(n=100, f_conservative=0.91)
    table = estimation_privacy.along(groups, mechanism="rr", eps_conservative=[0.05, 0.1], delta=1e-3)
    assert table["group"].tolist() == ["conservative", "liberal"] * 2
    assert table["budget"].tolist() == [0.05, 1.0, 0.1, 1.0]
    assert set(table["eps_conservative"]) == {0.05, 0.1}


def test_without_moderate_users_the_promise_breaks():
    table = estimation_privacy.crowded_out(Groups(), delta=1e-4, eps_conservative=[0.1, 0.01])
    assert table["promise"].tolist() == ["kept", "broken"]
    assert table["users"].tolist() == [900, 900]
    assert (table["attacked"] > 1e-4).tolist() == [False, True]
    assert table["mu"].iloc[0] == gspa_mu(budgets.from_array([0.1, 1.0], count=[9_100, 900]))


def test_several_deltas_come_in_one_table():
    people = Groups(n=100).people()
    table = estimation_privacy.at_deltas(people, mechanism="rr", deltas=(1e-2, 1e-4))
    assert table["delta"].tolist() == [1e-2] * 3 + [1e-4] * 3
    assert (table["upper"].to_numpy()[3:] >= table["upper"].to_numpy()[:3]).all()


@pytest.mark.parametrize("mechanism", [pytest.param("laplace", marks=pytest.mark.slow), "rr"])
def test_a_label_costs_privacy(mechanism):
    table = estimation_privacy.labelled(Groups(n=1_000), mechanism=mechanism, delta=1e-4)
    assert (table["labelled"] >= table["unlabelled"] * (1 - 1e-3)).all()
    assert table["times"].iloc[-1] > 2
    with pytest.raises(UnknownName, match="mechanism"):
        estimation_privacy.labelled(Groups(n=1_000), mechanism="shouting", delta=1e-4)


@pytest.mark.parametrize("mechanism", estimation_privacy.MECHANISMS)
def test_the_other_reading_is_certified_too(mechanism):
    found = estimation_privacy.in_ranges(Groups(n=200), mechanism=mechanism, delta=1e-3, seed=1)
    assert 0 < found["upper"] < found["promised"]


def test_limits_hold_exact_below_certified():
    table = estimation_privacy.response_limits(local=(1.0, 3.0), sizes=(30, 100), delta=1e-4)
    assert (table["exact"] <= table["certified"]).all()
    broken = table[table["promise"] == "broken"]
    assert (broken["exact"] > broken["promised"]).all()
    assert (3.0, 100) in set(zip(broken["eps0"], broken["n"], strict=True))
    # By direct summation, the worst inputs of 29 others.
    row = table[(table["eps0"] == 1.0) & (table["n"] == 30)].iloc[0]
    assert exact_shuffle.rr_delta_worst(1.0, 30, row["exact"]) == pytest.approx(1e-4, rel=1e-4)


def test_the_bits_limit_is_near_the_exact_value_of_many_users():
    people = budgets.constant(0.5, n=10_000)
    limit = gdp_epsilon(delta=1e-4, mu=estimation_privacy.bits_mu(people))
    assert limit == pytest.approx(exact_rr.exact_epsilon(people, delta=1e-4).value, rel=0.01)
    r = expit(-0.5)
    assert estimation_privacy.bits_mu(people) == pytest.approx(math.tanh(0.25) / math.sqrt(9_999 * r * (1 - r)))
    with pytest.raises(InvalidValue):
        estimation_privacy.bits_mu(budgets.constant(0.5, n=1))


def test_local_deltas_and_crowds_of_groups_are_refused():
    with pytest.raises(InvalidValue, match="delta_i"):
        estimation_privacy.response_groups(budgets.constant(1.0, n=5, delta=1e-6), delta=1e-3)
    with pytest.raises(InvalidValue, match="64"):
        estimation_privacy.response_groups(budgets.from_array(np.linspace(0.1, 1, 65)), delta=1e-3)

"""The tables of the accountant's pages: they are what the accountant says, row by row, and mean what they claim."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gspa import accountant, accounting, accounting_rounds, bounds, budgets, composition, exact_rr
from gspa.tradeoff import gdp_delta, gdp_epsilon


def test_published_bounds_stand_beside_the_certified_one():
    table = accounting.against_published(eps0=0.5, n=2000, delta=1e-5)
    exact = accountant.central_epsilon(budgets.constant(0.5, n=2000), delta=1e-5)
    known = table[table["epsilon"].notna()]
    np.testing.assert_allclose(known["epsilon"] / known["ratio"], exact.upper, rtol=1e-12)
    assert known["epsilon"].is_monotonic_increasing
    # A proved bound for randomized response may beat the pair, but not the law of the bits themselves.
    bits = exact_rr.exact_epsilon(budgets.constant(0.5, n=2000), delta=1e-5)
    assert (known[known["proved"] == "yes"]["epsilon"] >= bits.lower).all()
    assert table[table["epsilon"].isna()]["note"].str.len().min() > 0


def test_the_papers_number_is_too_small_at_large_budgets_and_too_large_at_small_ones():
    table = accounting.paper_against_exact(local=(0.1, 4.0), sizes=(1_000, 1_000_000), delta=1e-4)
    ratio = table.set_index(["eps0", "n"])["ratio"]
    assert ratio[0.1, 1_000] > 1
    assert ratio[4.0, 1_000] < 1
    # delta(0) of a million users at 0.1 is below 1e-4: no budget is needed, and no ratio is given.
    assert math.isnan(ratio[0.1, 1_000_000])
    assert accountant.central_delta(budgets.constant(0.1, n=1_000_000), eps=0.0).upper < 1e-4


def test_the_pair_never_beats_the_bits_themselves():
    table = accounting.pair_against_truth(local=(0.5, 2.0), sizes=(50, 500), delta=1e-4)
    assert (table["gap"] >= 1 - 1e-9).all()
    np.testing.assert_allclose(table["pair"] / table["bits"], table["gap"])


def test_the_curve_falls_and_ends_like_the_accountant():
    people = budgets.constant(0.5, n=1000)
    table = accounting.delta_curve(people, eps_max=0.1, points=5)
    assert table["eps"].tolist() == pytest.approx([0, 0.025, 0.05, 0.075, 0.1])
    assert (np.diff(table["upper"]) < 0).all()
    assert (table["lower"] <= table["upper"]).all()
    found = accountant.central_delta(people, eps=0.05)
    assert tuple(table.loc[2, ["lower", "upper"]]) == (found.lower, found.upper)
    assert table.loc[2, "paper"] == gdp_delta(0.05, mu=bounds.gspa_mu(people))


def test_each_users_interval_holds_the_worst_users():
    people = budgets.from_array([0.1, 2.0, 0.5], count=[500, 1, 300])
    table = accounting.by_user(people, delta=1e-4)
    assert table["local"].tolist() == [0.1, 0.5, 2.0]
    worst = accountant.central_epsilon(people, delta=1e-4)
    assert table["lower"].iloc[-1] <= worst.upper
    assert table["upper"].iloc[-1] >= worst.lower
    assert (np.diff(table["upper"]) > 0).all()


def test_continuous_reports_are_between_an_attack_and_the_local_guarantee():
    table = accounting.continuous(settings=[("one", "laplace", [1.0], [2_000], 1e-4)])
    row = table.iloc[0]
    assert 0 < row["attack"] <= row["certified"] <= row["alone"] <= 1.0 + 1e-9
    assert row["ratio"] == pytest.approx(row["certified"] / row["limit"])


def test_a_calibrated_budget_meets_its_target():
    table = accounting.local_budget_for(targets=(0.2,), sizes=(1_000, 10_000), delta=1e-5)
    for row in table.itertuples():
        people = budgets.constant(row.local, n=row.n)
        assert accountant.central_epsilon(people, delta=1e-5).lower <= 0.2 * (1 + 1e-9)
        more = budgets.constant(row.local * 1.01, n=row.n)
        assert accountant.central_epsilon(more, delta=1e-5).upper > 0.2


def test_rounds_by_three_accounts():
    table = accounting_rounds.over_rounds(eps0=0.5, n=1_000, delta=1e-5, rounds=(1, 16))
    by = table.set_index(["rounds", "method"])["epsilon"]
    people = budgets.constant(0.5, n=1_000)
    found = composition.compose([(composition.shuffled(people), 16)], delta=1e-5)
    assert by[16, accounting_rounds.CERTIFIED] == found.upper
    assert by[16, accounting_rounds.PAPER] == pytest.approx(gdp_epsilon(delta=1e-5, mu=4 * bounds.gspa_mu(people)))
    # Adding up rounds is valid, so it cannot be below the certified value's lower end.
    assert by[16, accounting_rounds.BASIC] >= found.lower
    assert by[1, accounting_rounds.BASIC] == accountant.central_epsilon(people, delta=1e-5).upper


def test_renyi_divergences_grow_with_the_order_and_stay_below_the_published_bound():
    table = accounting_rounds.renyi_orders(eps0=0.5, n=500, orders=(2, 4, 8))
    assert (np.diff(table["lower"]) > 0).all()
    assert (table["lower"] <= table["upper"]).all()
    assert (table["ratio"] > 1).all()


def test_renyi_rounds_bound_the_composed_pair_from_above():
    rounds = [1, 4, 64]
    summed = accounting_rounds.renyi_over_rounds(eps0=0.5, n=500, delta=1e-6, rounds=rounds)
    composed = accounting_rounds.over_rounds(eps0=0.5, n=500, delta=1e-6, rounds=rounds)
    certified = composed[composed["method"] == accounting_rounds.CERTIFIED]
    assert (summed["epsilon"].to_numpy() > certified["lower"].to_numpy()).all()
    assert summed["epsilon"].is_monotonic_increasing
    # More rounds want smaller orders.
    assert summed["order"].is_monotonic_decreasing

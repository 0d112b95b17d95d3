"""Page 18: rounds by three accounts, Renyi divergences by hand and by laws written out."""

from __future__ import annotations

import numpy as np
import pytest

from gspa.accountant import budgets
from gspa.accountant.closed_forms import gspa_mu, renyi_to_epsilon
from gspa.accountant.one_round import central_epsilon
from gspa.accountant.tradeoff import gdp_epsilon

PAGE = "18_composition_and_renyi"
ROUNDS = [1, 4, 64]
RUN = {"n": 500, "rounds": ROUNDS, "orders": [2, 4, 8]}


def test_rounds_by_three_accounts(names):
    people, table = budgets.constant(0.5, n=500), names["table"].set_index("rounds")
    assert table.loc[64, "paper"] == pytest.approx(gdp_epsilon(delta=1e-6, mu=8 * gspa_mu(people)))
    # Adding up rounds is valid, so it cannot be below the certified value's lower end.
    assert (table["basic"] >= table["lower"]).all()
    assert table.loc[1, "basic"] == central_epsilon(people, delta=1e-6).upper


def test_what_the_page_writes_out_lies_in_the_accountants_intervals(names):
    assert names["composed"].lower <= names["summed"] <= names["composed"].upper
    assert names["interval"].lower <= names["by_sum"] <= names["interval"].upper
    assert names["ends"]["merged"] < names["summed"] < names["ends"]["spread"]
    # Moving masses keeps them and their mean: both laws are laws of a likelihood ratio.
    for points, masses in (("edges", "spread"), ("centres", "merged")):
        assert names[masses].sum() == pytest.approx(1, abs=1e-12)
        assert names[masses] @ names[points] == pytest.approx(1, abs=1e-12)


def test_renyi_divergences_grow_with_the_order_and_stay_below_the_published_bound(names):
    table = names["orders_table"]
    assert (np.diff(table["lower"]) > 0).all()
    assert (table["lower"] <= table["upper"]).all()
    assert (table["ratio"] > 1).all()


def test_renyi_rounds_bound_the_composed_pair_from_above(names):
    summed = names["added"]
    assert (summed["epsilon"] > names["table"]["lower"]).all()
    assert summed["epsilon"].is_monotonic_increasing
    assert summed["order"].is_monotonic_decreasing  # more rounds want smaller orders
    # No order of the page's other table is better.
    for row in names["orders_table"].itertuples():
        for times, best in zip(ROUNDS, summed["epsilon"], strict=True):
            assert best <= renyi_to_epsilon(times * row.upper, order=row.order, delta=1e-6) * (1 + 1e-9)

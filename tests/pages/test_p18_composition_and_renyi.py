"""Page 18: rounds by three accounts, Renyi divergences by hand and by laws written out; the check; planted errors."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from running import run_page

from gspa.accountant import budgets
from gspa.accountant.one_round import central_epsilon
from gspa.accountant.published import gspa_mu, renyi_to_epsilon
from gspa.accountant.rounds import compose, shuffled
from gspa.accountant.tradeoff import gdp_epsilon
from gspa.pages import p18_rounds as p

PAGE = "18_composition_and_renyi"


def test_rounds_by_three_accounts():
    table = p.over_rounds(eps0=0.5, n=1_000, delta=1e-5, rounds=(1, 16)).set_index("rounds")
    people = budgets.constant(0.5, n=1_000)
    found = compose([(shuffled(people), 16)], delta=1e-5)
    assert tuple(table.loc[16, ["lower", "certified", "width"]]) == (found.lower, found.upper, found.relative_width)
    assert table.loc[16, "paper"] == pytest.approx(gdp_epsilon(delta=1e-5, mu=4 * gspa_mu(people)))
    # Adding up rounds is valid, so it cannot be below the certified value's lower end.
    assert table.loc[16, "basic"] >= found.lower
    assert table.loc[1, "basic"] == central_epsilon(people, delta=1e-5).upper


def test_renyi_divergences_grow_with_the_order_and_stay_below_the_published_bound():
    table = p.beside_published(eps0=0.5, n=500, orders=(2, 4, 8))
    assert (np.diff(table["lower"]) > 0).all()
    assert (table["lower"] <= table["upper"]).all()
    assert (table["ratio"] > 1).all()


def test_renyi_rounds_bound_the_composed_pair_from_above():
    rounds = [1, 4, 64]
    summed = p.renyi_over_rounds(eps0=0.5, n=500, delta=1e-6, rounds=rounds)
    composed = p.over_rounds(eps0=0.5, n=500, delta=1e-6, rounds=rounds)
    assert (summed["epsilon"] > composed["lower"]).all()
    assert summed["epsilon"].is_monotonic_increasing
    assert summed["order"].is_monotonic_decreasing  # more rounds want smaller orders
    # No order is better, tried one after the other.
    tried = p.divergences(eps0=0.5, n=500, orders=p.RENYI_ORDERS[::3])
    for row in summed.itertuples():
        each = zip(tried["order"], row.rounds * tried["upper"], strict=True)
        assert row.epsilon <= min(renyi_to_epsilon(float(d), order=int(o), delta=1e-6) for o, d in each) * (1 + 1e-9)


def test_the_figure_draws_its_table():
    table = p.over_rounds(eps0=0.5, n=100, delta=1e-5, rounds=(1, 2))
    lines = p.rounds_curves(table).axes[0].lines
    assert [line.get_ydata().tolist() for line in lines] == [table[key].tolist() for key in p.LINES]
    orders = p.beside_published(eps0=0.5, n=100, orders=(2, 4))
    lines = p.divergence_curves(orders).axes[0].lines
    assert [line.get_ydata().tolist() for line in lines] == [orders["upper"].tolist(), orders["girgis21"].tolist()]
    plt.close("all")


def test_names_of_lines_that_end_together_stand_apart():
    # One round: the certified account and the sum of one round are the same point.
    axis = p.rounds_curves(p.over_rounds(eps0=0.5, n=100, delta=1e-5, rounds=(1,))).axes[0]
    axis.figure.canvas.draw()
    boxes = [words.get_window_extent() for words in axis.texts]
    assert len(boxes) == len(p.LINES)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    plt.close("all")


def test_the_page():
    ran = run_page(PAGE, n=1_000)
    names = ran.names
    # What the page writes out lies in the accountant's intervals.
    assert names["composed"].lower <= names["summed"] <= names["composed"].upper
    assert names["interval"]["lower"] <= names["by_sum"] <= names["interval"]["upper"]


PLANTED = ()

"""Page 18: rounds by three accounts, Renyi divergences by hand and by laws written out; the check; planted errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from matplotlib import pyplot as plt
from running import Planted, run_page

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


def test_written_out_by_hand():
    # Two outcomes: D_2 = log(p^2/q + q^2/p) with p = e/(1+e).
    q = 1 / (1 + math.e)
    by_hand = math.log((1 - q) ** 2 / q + q**2 / (1 - q))
    assert p.written_out(1.0, n=1, order=2) == pytest.approx(by_hand, rel=1e-12)


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


@pytest.fixture(scope="module")
def tables():
    small = p.small_cases(local=(0.1, 3.0), sizes=(1, 5), orders=(2, 64))
    return p.beside_published(eps0=0.5, n=2_000, orders=(2, 8)), small


class TestRenyiPrivacy:
    def test_the_pair_carries_over(self, tables):
        found = p.renyi_privacy(*tables)
        assert found.verdict == "illustrated"
        assert found.evidence["laws written out"] == 8
        # One user alone is the pair itself.
        assert found.evidence["certified upper end over the law, least"] == pytest.approx(1, abs=1e-9)

    @pytest.mark.parametrize("value", [math.nan, 9.0])
    def test_a_law_above_the_pair_refutes(self, tables, value):
        small = tables[1].copy()
        small.loc[3, "written"] = value
        found = p.renyi_privacy(tables[0], small)
        assert found.verdict == "refuted"
        assert "exceeded by 1 of 8 laws" in found.reason

    def test_a_published_bound_below_the_pair_refutes(self, tables):
        orders = tables[0].assign(girgis21=tables[0]["lower"] * 0.99)
        assert p.renyi_privacy(orders, tables[1]).verdict == "refuted"

    def test_a_pair_with_too_many_clones_is_caught(self, tables, monkeypatch):
        honest = p.divergences
        monkeypatch.setattr(p, "divergences", lambda *, n, **rest: honest(n=2 * n, **rest))
        small = p.small_cases(local=(0.1, 3.0), sizes=(1, 5), orders=(2, 64))
        assert p.renyi_privacy(tables[0], small).verdict == "refuted"


def test_the_page():
    ran = run_page(PAGE, n=1_000)
    assert ran.outcomes["G-FW"].verdict == "illustrated"
    names = ran.names
    # What the page writes out lies in the accountant's intervals.
    assert names["composed"].lower <= names["summed"] <= names["composed"].upper
    assert names["interval"]["lower"] <= names["by_sum"] <= names["interval"]["upper"]


def made(claim):
    """The check's tables at small sizes."""
    small = p.small_cases(local=(0.1, 1.0, 3.0), sizes=(1, 2, 5, 12), orders=(2, 8, 64))
    return p.beside_published(eps0=0.5, n=10_000, orders=(2, 8)), small


PLANTED = (
    Planted(
        "G-FW",
        "accountant.losses",
        "    power = order - 1\n",
        "    power = order - 1.5\n",
        "Renyi divergence of half an order less",
        tables="made",
    ),
    Planted(
        "G-FW",
        "accountant.closed_forms",
        "2 * _log_sinh(eps0 / 2) - math.log(m)",
        "2 * _log_sinh(eps0 / 2) - 2 * math.log(m)",
        "the published bound's first term over m squared",
        tables="made",
    ),
)

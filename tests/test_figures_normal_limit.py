"""Chapters 5 and 6: what the figures draw, and what their alt texts say."""

from __future__ import annotations

import pytest
from matplotlib import pyplot as plt

from gspa import figures
from gspa import normal_tables as nt
from gspa import reduction_cases as rc


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_distances():
    table = nt.distance_table(eps0=(0.5, 1.0), sizes=(100, 1_000, 10_000))
    (axis,) = figures.distance_curves(table, eps0=0.5, delta=1e-4).axes
    assert len(axis.get_lines()) == 5  # leading term, three distances, delta
    assert list(axis.get_lines()[1].get_ydata()) == table[table["eps0"] == 0.5]["total_variation"].to_list()
    said = figures.describe_distances(table, eps0=0.5, delta=1e-4)
    assert "from 0.017 to 0.0017" in said
    assert "at 3 of 3 points" in said
    assert "at 0 of 3 points" in figures.describe_distances(table, eps0=0.5, delta=0.1)


def test_trade_offs():
    by_key = {case.key: case for case in rc.cases(n=2)}
    tables = {"holds": rc.trade_off(by_key["rr-own-user"]), "fails": rc.trade_off(by_key["signed"])}
    drawn = figures.trade_off_panels(tables)
    assert [axis.get_title() for axis in drawn.axes] == ["holds", "fails"]
    assert all(len(axis.get_lines()) == 3 for axis in drawn.axes)
    said = figures.describe_trade_offs(tables)
    assert "holds: the shuffled reports are nowhere below the printed pair, and nowhere below the corrected" in said
    assert "fails: the shuffled reports are below the printed pair, by" in said

"""FLAME's figures show what the tables hold, and say so."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib import pyplot as plt

from gspa import figures
from gspa.flame import index_privacy, privacy

ACCOUNTS = pd.DataFrame(
    {
        "protocol": ["SS-Simple", "SS-Topk"],
        "variant": ["own permutation per coordinate", "k largest"],
        "old_bennett": [0.9, 0.24],
        "bennett": [0.95, 0.3],
        "hoeffding": [0.9, 0.3],
        "exact": [0.8, 0.2],
        "attack": [0.09, 1.28],
        "certified": [0.1, 1.45],
        "note": ["", ""],
    }
)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_budgets():
    axis = figures.flame_budgets(ACCOUNTS).axes[0]
    spans = [segment[:, 0].tolist() for segment in axis.collections[0].get_segments()]
    assert spans == [[0.09, 0.1], [1.28, 1.45]]
    shown = {line.get_marker(): list(line.get_xdata()) for line in axis.lines if len(line.get_xdata()) == 2}
    assert shown["x"] == [0.9, 0.24]
    assert shown["s"] == [0.8, 0.2]
    assert "truth between 1.28 and 1.45" in figures.describe_flame_budgets(ACCOUNTS)


def test_ratios():
    table = pd.DataFrame({"eps": [0.1, 0.8], "simple": [1.0, 2.5], "double": [20.0, 137.0], "equal": [0.01, 0.09]})
    proved = pd.DataFrame(
        {"case": ["simple", "double", "equal"], "ratio_low": [2500, 2900, 5000], "ratio_high": [3600, 2950, 5100]}
    )
    axis = figures.flame_ratios(table, certified=proved, eps=0.8).axes[0]
    drawn = [list(line.get_ydata()) for line in axis.lines]
    assert [20.0, 137.0] in drawn
    assert [2500, 3600] in drawn
    assert "simple between 2500 and 3600" in figures.describe_flame_ratios(table, certified=proved)


def test_index_privacy():
    table = privacy.figure4(beta=0.1, most=10)
    overflow = index_privacy.overflow_by_l(d=100, k=10, n=50, n_p=20)
    left, right = figures.index_privacy_curve(table, overflow).axes
    assert list(left.lines[2].get_ydata()) == table["nu"].iloc[1:].tolist()
    assert list(right.lines[0].get_ydata()) == overflow["one"].tolist()
    said = figures.describe_index_privacy(table, overflow)
    assert "5 at l = 2" in said
    assert f"from l = {int(overflow[overflow['one'] > 0.01]['l'].min())} on" in said


def test_sweeps():
    rows = [(x, line, kind, x * scale) for x in (1.0, 2.0) for line, kind, scale in
            (("SS-Simple", "printed", 3), ("SS-Simple", "certified", 1), ("SS-Topk", "certified", 5))]  # fmt: skip
    table = pd.DataFrame(rows, columns=["eps_l", "line", "kind", "epsilon"])
    other = table.rename(columns={"eps_l": "d"})
    axes = figures.flame_sweeps(table, other).axes
    assert [list(line.get_ydata()) for line in axes[1].lines] == [[3.0, 6.0], [1.0, 2.0], [5.0, 10.0]]
    assert "SS-Topk certified from 5 at eps_l = 1 to 10 at 2" in figures.describe_flame_sweeps(table, other)

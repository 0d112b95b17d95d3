"""Figures of the page on personal budgets: drawn from fabricated tables, described in the right numbers."""

from __future__ import annotations

import matplotlib as mpl
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from gspa import figures


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def curve(attack=0.02):
    columns = {"eps": [0.0, 0.1, 0.2], "promised": [0.01, 1e-6, 0.0]}
    return pd.DataFrame(
        columns | {"attack": [0.1, attack, 1e-3], "limit": [0.1, 0.03, 2e-3], "certified": [0.1, 0.04, 3e-3]}
    )


def grid():
    rows = [(0.1, 0.1, 0.0, "kept"), (1.0, 0.1, 50.0, "broken"), (0.1, 1.0, 7.0, "broken"), (1.0, 1.0, 0.5, "open")]
    return pd.DataFrame(rows, columns=["victim", "others", "times", "promise"])


def test_the_curve_has_four_labelled_lines():
    axis = figures.broken_promise(curve()).axes[0]
    assert len(axis.lines) == 4
    assert axis.get_yscale() == "log"
    assert axis.get_xlabel()
    assert len({line.get_linestyle() + str(line.get_marker()) for line in axis.lines}) == 4


def test_the_curve_in_words():
    text = figures.describe_broken_promise(curve())
    assert "the promise is 1e-06, an attack reaches 0.02" in text
    assert "far above" in text
    assert "far above" not in figures.describe_broken_promise(curve(attack=1e-6))


def test_the_map_colours_what_is_broken_and_marks_the_rest():
    figure = figures.promise_map(grid())
    axis = figure.axes[0]
    coloured = axis.collections[0].get_array()
    assert int(coloured.mask.sum()) == 2
    assert sorted(coloured.compressed().tolist()) == [7.0, 50.0]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["kept", "open", "paper's range"]


def test_the_map_in_words():
    text = figures.describe_promise_map(grid())
    assert "4 points: the promise is broken at 2, certified to hold at 1, neither at 1" in text
    assert "1 have a victim with the larger budget and 1 one with the smaller" in text
    assert "the worst, 50 times, is a victim at 1 among users at 0.1" in text
    calm = grid().assign(promise="kept")
    assert "worst" not in figures.describe_promise_map(calm)

"""The sweep's figure: a line a value, seeds averaged, words as categories, and what cannot be drawn."""

from __future__ import annotations

import matplotlib as mpl
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from gspa import figures
from gspa.errors import InvalidValue, UnknownName


@pytest.fixture(autouse=True)
def style():
    with mpl.rc_context():
        figures.use_style()
        yield
        plt.close("all")


def rows():
    found = pd.DataFrame(
        [(n, kind, seed, n * seed + (kind == "b")) for n in (10, 100) for kind in "ab" for seed in (1, 3)],
        columns=["n", "kind", "seed", "value"],
    )
    return found.assign(status="done")


def test_lines_are_means_over_what_is_not_drawn():
    (axis,) = figures.sweep_lines(rows(), x="n", y="value", by="kind", log_x=True, log_y=True).axes
    assert [line.get_ydata().tolist() for line in axis.get_lines()] == [[20, 200], [21, 201]]
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["kind = a", "kind = b"]
    assert (axis.get_xlabel(), axis.get_ylabel(), axis.get_xscale(), axis.get_yscale()) == ("n", "value", "log", "log")
    assert len(axis.collections) == 2  # the bands


def test_words_are_categories_and_what_failed_is_not_drawn():
    table = rows()
    table.loc[table["kind"] == "b", "status"] = "failed"
    (axis,) = figures.sweep_lines(table, x="kind", y="value").axes
    (line,) = axis.get_lines()
    assert (line.get_xdata().tolist(), line.get_ydata().tolist()) == ([0], [110])
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["a", "b"]


def test_the_description_has_each_line_s_ends():
    said = figures.describe_sweep(rows(), x="n", y="value", by="kind")
    assert said == (
        "value against n. kind = a: from 20 at n = 10 to 200 at n = 100; kind = b: from 21 at n = 10 to 201 at n = 100."
    )


def test_refusals():
    with pytest.raises(UnknownName, match="did you mean 'value'"):
        figures.sweep_lines(rows(), x="n", y="valu")
    with pytest.raises(InvalidValue, match="a column of numbers"):
        figures.sweep_lines(rows(), x="n", y="kind")
    with pytest.raises(InvalidValue, match="some finished setting"):
        figures.sweep_lines(rows().assign(status="failed"), x="n", y="value")
    with pytest.raises(InvalidValue, match="at most 7 values; it has 8"):
        figures.sweep_lines(rows().assign(many=range(8)), x="n", y="value", by="many")

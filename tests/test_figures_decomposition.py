"""The figures of Lemmas 4 and 1: labelled lines, and words with the right numbers."""

from __future__ import annotations

from fractions import Fraction

import matplotlib as mpl
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from gspa import dominating, figures, gallery


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_four_panels_with_the_mechanism_above_its_pairs():
    table = dominating.curves(gallery.illustrated(3, Fraction(1, 10), cells=16), points=11)
    figure = figures.dominated_panels(table)
    assert [axis.get_title() for axis in figure.axes] == list(table["panel"].unique())
    for axis in figure.axes:
        labels = [text.get_text() for text in axis.get_legend().get_texts()]
        assert labels[0] == "the mechanism"
        assert all(label.startswith("pair, eps") for label in labels[1:])
    words = figures.describe_dominated(table)
    # e^eps = 3: binary randomized response has equal errors 0.9/4 when it leaks a tenth.
    assert "binary RR, or the truth: its curve has equal errors near 0.23" in words
    assert "eps 1.1, delta 0.1" in words


def test_shares_are_drawn_with_both_references():
    table = pd.DataFrame(
        [(name, eps, share, 0.5 + 0.1 / eps) for name, share in (("A", 1.0), ("B", 0.75)) for eps in (1.0, 2.0, 4.0)],
        columns=["mechanism", "eps", "share", "general"],
    )
    figure = figures.clone_shares(table)
    (axis,) = figure.axes
    labels = [line.get_label() for line in axis.get_lines()]
    assert labels[0].startswith("claimed")
    assert labels[1].startswith("always there")
    assert labels[2:] == ["A", "B"]
    assert axis.get_lines()[3].get_ydata().tolist() == [0.75] * 3
    assert figures.describe_shares(table).endswith("A 1.000, B 0.750; what is always there: 0.525.")

"""Figure 3's curves with their straight lines, and the promise beside what each group has."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from gspa import figures

ERRORS = pd.DataFrame(
    {"f": [0.0, 0.5, 1.0], "mae": [1.0, 2.1, 2.9], "mae_error": 0.1, "exact": [1.0, 2.0, 3.0], "reading": "constants"}
)
GROUPS = pd.DataFrame(
    [
        (value, group, value, scale * value, 2 * scale * value)
        for value in (0.1, 0.5)
        for group, scale in (("conservative", 0.1), ("moderate", 0.2), ("liberal", 0.4))
    ],
    columns=["eps_conservative", "group", "promised", "lower", "upper"],
)


@pytest.fixture(autouse=True)
def style():
    """The book's style, and nothing of it left for other tests."""
    with mpl.rc_context():
        figures.use_style()
        yield
        plt.close("all")


def test_the_nearest_line_is_drawn_where_asked():
    (axis,) = figures.error_curves(ERRORS, x="f", xlabel="share", ylabel="error of the mean", line=True).axes
    assert axis.get_ylabel() == "error of the mean"
    grey = [line for line in axis.get_lines() if line.get_color() == "0.55" and len(line.get_xdata())]
    assert grey[0].get_ydata() == pytest.approx([1, 2, 3])  # the closed form is a line itself
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert labels == ["constants, simulated", "closed form", "nearest straight line"]


def test_each_group_has_its_band_below_the_promise():
    figure = figures.group_promises(GROUPS, delta=1e-4)
    (axis,) = figure.axes
    assert "0.0001" in axis.get_ylabel()
    assert "epsilon_C" in axis.get_xlabel()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "promised to everybody",
        "conservative",
        "moderate",
        "liberal",
    ]
    bands = [band.get_paths()[0].vertices for band in axis.collections]
    last = [sorted(set(band[np.isclose(band[:, 0], 0.5), 1].round(9))) for band in bands]
    assert last == [[0.05, 0.1], [0.1, 0.2], [0.2, 0.4]]
    looks = {(line.get_color(), line.get_linestyle()) for line in axis.get_lines() if line.get_label()[0] != "_"}
    assert len(looks) == 4


def test_it_has_the_same_bytes_every_time():
    def svg():
        file = io.BytesIO()
        figures.group_promises(GROUPS, delta=1e-4).savefig(file, format="svg", metadata={"Date": None})
        return file.getvalue()

    assert svg() == svg()


def test_it_says_what_the_table_holds():
    said = figures.describe_group_promises(GROUPS)
    assert "At 0.5 everybody is promised 0.5" in said
    assert "liberal between 0.2 and 0.4" in said
    assert said.endswith("The highest certified value is 0.80 times the promise.")

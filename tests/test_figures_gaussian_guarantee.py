"""Figures of Theorem 2 and of budgets near zero: what is drawn, and what the alternative texts say."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from gspa import figures

POWER = pd.DataFrame(
    {
        "eps0": [0.5, 0.5, 4.0, 4.0],
        "alpha": [1e-4, 1.0, 1e-4, 1.0],
        "exact": [2e-4, 1.0, 4e-4, 1.0],
        "paper": [3e-4, 1.0, 1e-4, 1.0],
        "slack": [0.1, 1.0, 0.2, 1.0],
        "tanh": [2e-4, 1.0, 1e-4, 1.0],
    }
)
MAP = pd.DataFrame(
    {
        "eps0": [1.0, 2.0, 1.0, 2.0],
        "n": [100, 100, 100, 100],
        "delta": [1e-2, 1e-2, 1e-4, 1e-4],
        "promise": ["holds", "holds", "holds", "too much"],
    }
)
NEAR = pd.DataFrame(
    {
        "crowd": ["all", "all", "all", "half at 0.5"],
        "budget": [0.0, 0.01, 0.1, 0.1],
        "paper": [0.04, 0.041, 0.042, 0.05],
        "liu23": [0.0, 0.001, 0.01, 0.07],
        "certified": [0.0, 0.0, 0.005, 0.01],
    }
)


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_power_is_drawn_relative_to_the_pairs():
    figure = figures.guarantee_power(POWER)
    assert [axis.get_title() for axis in figure.axes] == [r"$\epsilon_0$ = 0.5", r"$\epsilon_0$ = 4"]
    exact, paper, *_ = figure.axes[1].lines
    np.testing.assert_allclose(exact.get_ydata(), 1)
    np.testing.assert_allclose(paper.get_ydata(), [0.25, 1])
    text = figures.describe_guarantee_power(POWER)
    assert "Epsilon 0.5: the pair's line is above the paper's at alpha nowhere" in text
    assert "Epsilon 4: the pair's line is above the paper's at alpha 0.0001 to 0.0001" in text


def test_the_map_marks_what_is_too_small_with_more_than_a_colour():
    figure = figures.guarantee_map(MAP)
    (crosses,) = figure.axes[0].lines
    assert (crosses.get_xdata().tolist(), crosses.get_ydata().tolist()) == ([2.0], [-4.0])
    assert figures.describe_guarantee_map(MAP).endswith("100 users: 1 of 4 cells, local budgets 2 to 2.")
    assert "0 of 3 cells." in figures.describe_guarantee_map(MAP.iloc[:3])


def test_budgets_of_zero_are_not_on_the_axes():
    figure = figures.extreme_budgets(NEAR, delta=1e-4)
    drawn = {line.get_label(): line.get_xdata().tolist() for line in figure.axes[0].lines}
    assert drawn == {
        "paper": [0.01, 0.1],
        "Liu23": [0.01, 0.1],
        "certified": [0.1],
        "the local budget itself": [0.01, 0.1],
    }
    assert "0.1 the paper has 0.042, Liu23 0.01" in figures.describe_extremes(NEAR)
    assert figures.describe_extremes(NEAR.iloc[:1]).startswith("Central epsilon")

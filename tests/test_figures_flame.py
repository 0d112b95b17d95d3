"""The figures of FLAME's experiments: what is drawn, and what is said of it."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib import pyplot as plt

from gspa import figures
from gspa.flame.cases import GROUPS, TOPK, Paper
from gspa.flame.worth import Worth

WORTHS = (Worth("SS-Simple", 0.01, 0.91, 0.09, 0.0906, 0.02), Worth(TOPK, 0.5, 0.24, 1.29, 1.45, 0.1))


@pytest.fixture(scope="module")
def runs():
    """Every case at an accuracy of its own, two seeds a point apart."""
    rows = []
    for index, case in enumerate(Paper().cases(GROUPS, certified=WORTHS)):
        named = (case.group, case.label, case.varied, case.value, case.setup.noise)
        for seed in (0, 1):
            rows += [(*named, seed, number, (0.1 + 0.005 * index) * number + 0.01 * seed, 9, 0) for number in (0, 1)]
    names = ["group", "label", "varied", "value", "noise", "seed", "round", "accuracy", "largest", "overflowing"]
    return pd.DataFrame(rows, columns=names)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def mean(runs, group, label, noise="fresh"):
    part = runs[(runs["group"] == group) & (runs["label"] == label) & (runs["noise"] == noise) & (runs["round"] == 1)]
    return 100 * part["accuracy"].mean()


def test_accuracies(runs):
    figure = figures.flame_accuracies(runs, dataset="MNIST")
    fresh, released = figure.axes
    assert [len(axis.lines) for axis in (fresh, released)] == [8, 5]  # NP-FL and LDP-FL have no noise that repeats
    topk = next(line for line in fresh.lines if line.get_label() == TOPK)
    assert topk.get_ydata()[-1] == pytest.approx(mean(runs, "figure 5", TOPK))
    styles = {(line.get_color(), str(line.get_linestyle()), line._unscaled_dash_pattern) for line in fresh.lines}
    assert len(styles) == 8
    assert f"{TOPK} {mean(runs, 'figure 5', TOPK):.1f}%" in figures.describe_flame_accuracies(runs)


def test_variations(runs):
    figure = figures.flame_variations(runs, dataset="MNIST")
    assert [axis.get_title() for axis in figure.axes] == ["Figure 6", "Figure 7", "Figure 8"]
    assert [len(axis.lines) for axis in figure.axes] == [1, 1, 2]
    assert list(figure.axes[0].lines[0].get_xdata()) == [0.1, 0.25, 0.5, 1.0, 2.0]
    assert "n/n_p: " in figures.describe_flame_variations(runs)


def test_worth(runs):
    figure = figures.flame_worth(runs, WORTHS, dataset="MNIST")
    (axis,) = figure.axes
    by_label = {line.get_label(): line for line in axis.lines}
    assert list(by_label[TOPK].get_xdata()) == [1.29, 1.45]
    assert by_label[TOPK].get_ydata()[0] == pytest.approx(mean(runs, "figure 5", TOPK))
    assert "black rim: tuned to 0.24, certified" in by_label
    assert "at epsilon 1.29 to 1.45" in figures.describe_flame_worth(runs, WORTHS)
    double = Worth("SS-Double", 0.5, 0.24, 0.15, 0.152, 0.8)
    own = runs[(runs["group"] == "figure 5") & (runs["label"] == "SS-Double") & (runs["noise"] == "fresh")]
    free = own.assign(group="equal privacy", label="SS-Double, independent indices", accuracy=0.33)
    figure = figures.flame_worth(pd.concat([runs, free]), (*WORTHS, double), dataset="MNIST")
    by_label = {line.get_label(): line for line in figure.axes[0].lines}
    assert by_label["SS-Double"].get_ydata()[0] == pytest.approx(33)  # the certificate's own run
    untuned = tuple(Worth(one.method, one.budget, one.printed, one.lower, one.upper) for one in WORTHS)
    figure = figures.flame_worth(runs, untuned, dataset="MNIST")
    assert not [line for line in figure.axes[0].lines if "rim" in str(line.get_label())]

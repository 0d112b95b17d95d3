"""Page 12's figures: every training drawn, the printed numbers marked, the alternative text in the right numbers."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from gspa import figures


@pytest.fixture(autouse=True)
def style():
    with mpl.rc_context():
        figures.use_style()
        yield
        plt.close("all")


def readings_table():
    rows = [
        (reading, setting, seed, accuracy + 0.01 * seed)
        for reading, pair in {"as on this page": (0.96, 0.80), "width: 7": (0.97, 0.70), "m: other": (0.9, 0.9)}.items()
        for setting, accuracy in zip(("no noise", "drawn"), pair, strict=True)
        for seed in (0, 1)
    ]
    return pd.DataFrame(rows, columns=["reading", "setting", "seed", "accuracy"])


def test_reading_dots_draw_each_training_and_the_printed_number():
    figure = figures.reading_dots(readings_table(), printed={"no noise": 0.9678}, dataset="MNIST")
    first, second = figure.axes
    assert [axis.get_title() for axis in figure.axes] == ["no noise", "drawn"]
    assert [tick.get_text() for tick in first.get_yticklabels()] == ["as on this page", "width: 7", "m: other"]
    (dots,) = [line for line in second.get_lines() if line.get_marker() == "o"]
    assert dots.get_xdata().tolist() == pytest.approx([80, 81, 70, 71, 90, 91])
    assert dots.get_ydata().tolist() == [0, 0, 1, 1, 2, 2]
    dashed = [
        [line.get_xdata()[0] for line in axis.get_lines() if line.get_linestyle() == "--"] for axis in (first, second)
    ]
    assert dashed == [[pytest.approx(96.78)], []]
    assert "MNIST" in figure.get_supxlabel()
    assert first.yaxis_inverted()


def test_readings_are_described_by_their_ends():
    assert figures.describe_readings(readings_table()) == (
        "Final test accuracy under 3 readings. no noise: from 90.5% (m: other) to 97.5% (width: 7), "
        "96.5% as on this page; drawn: from 70.5% (width: 7) to 90.5% (m: other), 80.5% as on this page."
    )


def points(levels=5):
    noise = np.geomspace(0.5, 2, levels)
    equal = pd.DataFrame({"setting": "one", "noise": noise, "percent": 90 - 5 * np.log(noise) ** 2, "equal": True})
    drawn = pd.DataFrame(
        {"setting": ["a", "b", "b"], "noise": [1.0, 3.9, 50.0], "percent": [89.0, 60, 20], "equal": False}
    )
    return pd.concat([equal, drawn], ignore_index=True)


def test_the_noise_curve_has_the_parabola_and_what_can_be_compared_with_it():
    (axis,) = figures.noise_curve(points(), dataset="MNIST").axes
    by = {line.get_label(): line for line in axis.get_lines()}
    x, y = by["parabola through equal budgets"].get_data()
    assert (x.min(), x.max()) == pytest.approx((0.5, 2))
    np.testing.assert_allclose(y, 90 - 5 * np.log(x) ** 2, atol=1e-9)
    assert len(by["every client the same budget"].get_xdata()) == 5
    assert by["b"].get_xdata().tolist() == [3.9]  # 50 is more than twice the largest with one budget
    assert axis.get_xscale() == "log"
    assert "MNIST" in axis.get_ylabel()


def test_two_noise_levels_are_drawn_without_a_parabola():
    (axis,) = figures.noise_curve(points(2), dataset="MNIST").axes
    assert "parabola through equal budgets" not in {line.get_label() for line in axis.get_lines()}


def test_the_noise_curve_is_described_in_numbers():
    said = figures.describe_noise_curve(points())
    assert "b, noise 3.9 to 3.9, accuracy 60.0 to 60.0%" in said
    assert "50" not in said.replace("0.5", "")

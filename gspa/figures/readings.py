"""Page 12: the readings of what the paper leaves open, and accuracy against noise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from gspa import noise_power
from gspa.errors import InvalidValue
from gspa.figures.style import PALETTE
from gspa.readings import THIS_PAGE

MARKERS = ("s", "^", "v", "D", "P")


def reading_dots(table: pd.DataFrame, *, printed: Mapping[str, float], dataset: str) -> Figure:
    """Final accuracy under each reading, a panel a setting; the paper's number as a dashed line.

    Args:
        table: from `gspa.readings.sensitivity`.
        printed: accuracy in [0, 1] by setting, named as in the table.
        dataset: named in the horizontal axes' label.
    """
    readings, settings = list(dict.fromkeys(table["reading"])), list(dict.fromkeys(table["setting"]))
    rows = {name: row for row, name in enumerate(readings)}
    figure, axes = plt.subplots(
        1, len(settings), figsize=(8.6, 0.27 * len(readings) + 1.5), sharey=True, layout="constrained", squeeze=False
    )
    for axis, setting in zip(axes[0], settings, strict=True):
        part = table[table["setting"] == setting]
        own = part.loc[part["reading"] == THIS_PAGE.label, "accuracy"].mean()
        axis.axvline(100 * own, color=PALETTE[1], lw=1.2)
        if setting in printed:
            axis.axvline(100 * printed[setting], color=PALETTE[2], lw=1.6, ls="--")
        axis.plot(100 * part["accuracy"], part["reading"].map(rows), "o", color=PALETTE[0], ms=5, alpha=0.7)
        axis.set_title(setting)
        axis.grid(visible=True, axis="y", lw=0.4)
    axes[0, 0].set_yticks(range(len(readings)), readings, fontsize=9)
    axes[0, 0].invert_yaxis()
    figure.supxlabel(
        f"final test accuracy on {dataset} (%); solid: as on this page, dashed: printed in the paper", fontsize=10
    )
    return figure


def describe_readings(table: pd.DataFrame) -> str:
    """Alt text of `reading_dots`: per setting, the range over readings and where it is reached."""
    means = 100 * table.pivot_table(index="reading", columns="setting", values="accuracy", sort=False)
    said = [
        f"{setting}: from {column.min():.1f}% ({column.idxmin()}) to {column.max():.1f}% ({column.idxmax()}), "
        f"{column[THIS_PAGE.label]:.1f}% {THIS_PAGE.label}"
        for setting, column in means.items()
    ]
    return f"Final test accuracy under {len(means)} readings. " + "; ".join(said) + "."


def noise_curve(points: pd.DataFrame, *, dataset: str) -> Figure:
    """Final accuracy against the noise's root mean square: one budget for all, and budgets that differ.

    Trainings with more than twice the noise of any with one budget for all are left out: nothing to compare them with.

    Args:
        points: from `gspa.noise_power.noise_points`.
        dataset: named in the vertical axis' label.
    """
    points = _comparable(points)
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    equal = points["equal"]
    try:
        curve, (low, high) = noise_power.equal_curve(points)
    except InvalidValue:  # too few noise levels for a parabola: points only
        pass
    else:
        grid = np.geomspace(low, high, 100)
        axis.plot(grid, curve(np.log(grid)), color=PALETTE[1], lw=1.6, label="parabola through equal budgets")
    axis.plot(
        points.loc[equal, "noise"],
        points.loc[equal, "percent"],
        "o",
        color=PALETTE[1],
        ms=7,
        mfc="none",
        mew=1.4,
        label="every client the same budget",
    )
    colours = [colour for colour in PALETTE if colour != PALETTE[1]]
    for index, (setting, part) in enumerate(points[~equal].groupby("setting", sort=False)):
        axis.plot(
            part["noise"],
            part["percent"],
            MARKERS[index % len(MARKERS)],
            color=colours[index % len(colours)],
            ms=5,
            alpha=0.75,
            label=setting,
        )
    axis.set_xscale("log")
    low, high = points["noise"].min() / 1.15, points["noise"].max() * 1.15
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set(
        xlim=(low, high),
        xlabel="root mean square of the clients' sigma, per coordinate of a gradient",
        ylabel=f"final test accuracy on {dataset} (%)",
    )
    axis.legend(fontsize=9)
    return figure


def _comparable(points: pd.DataFrame) -> pd.DataFrame:
    most = float(points.loc[points["equal"], "noise"].max())
    return points.loc[points["noise"] <= 2 * most]


def describe_noise_curve(points: pd.DataFrame) -> str:
    """Alt text of `noise_curve`."""
    points = _comparable(points)
    said = [
        f"{setting}, noise {part['noise'].min():.2g} to {part['noise'].max():.2g}, accuracy "
        f"{part['percent'].min():.1f} to {part['percent'].max():.1f}%"
        for setting, part in points.groupby("setting", sort=False)
    ]
    return "Final test accuracy against noise, a point a training. " + "; ".join(said) + "."

"""The front page's figure."""

from __future__ import annotations

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from gspa.figures.style import DASHES, PALETTE

# column -> label, colour, dashes, width
_LINES = {
    "closed": ("closed form that the\npaper compares with", PALETTE[4], DASHES[2], 2.0),
    "numerical": ("numerical bound by\nthe same authors", PALETTE[6], DASHES[3], 2.0),
    "paper": ("the paper's promise", PALETTE[2], DASHES[0], 3.0),
    "certified": ("certified", PALETTE[3], DASHES[0], 3.0),
    "attack": ("reached by an attack", PALETTE[1], DASHES[1], 2.0),
}


def headline_curves(table: pd.DataFrame) -> Figure:
    """Central against local eps on logarithmic axes; where the paper's promise is broken the gap is shaded.

    Args:
        table: from `gspa.headline.headline`.
    """
    figure, axis = plt.subplots(figsize=(6.4, 3.9), layout="constrained")
    local, low = table["local"], float(table["attack"].min()) * 0.8
    axis.fill_between(
        local, table["paper"], table["attack"], where=table["broken"], interpolate=True, color=PALETTE[2], alpha=0.22
    )
    axis.plot(local, local, color="0.5", lw=1)
    for column, (label, colour, dashes, width) in _LINES.items():
        axis.plot(local, table[column], color=colour, dashes=dashes or (None, None), lw=width, label=label)
    axis.set(
        xlabel=r"local budget $\epsilon_0$ of each user",
        ylabel=r"central $\epsilon$ after shuffling",
        xscale="log",
        yscale="log",
        xlim=(float(local.min()), float(local.max())),
        ylim=(low, float(local.max()) * 1.3),
    )
    for each, ticks in ((axis.xaxis, (0.1, 0.2, 0.5, 1, 2, 4, 8)), (axis.yaxis, (0.01, 0.1, 1, 10))):
        each.set_major_locator(FixedLocator(ticks))
        each.set_minor_locator(NullLocator())
        each.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    _notes(axis, table)
    axis.legend(loc="lower right", fontsize=9.5, labelspacing=0.4)
    return figure


def _notes(axis: Axes, table: pd.DataFrame) -> None:
    """What the picture says, at the places where it shows."""
    first = table.iloc[0]
    at = float(first["local"]) * 1.12
    ends = (at, first["certified"] * 1.35), (at, first["paper"] * 0.93)
    axis.annotate("", *ends, arrowprops={"arrowstyle": "<->", "color": "0.25"})
    middle = (first["certified"] * first["paper"]) ** 0.5
    ratio = f"{first['paper'] / first['certified']:.0f} times\nthe certified"
    axis.text(at * 1.08, middle, ratio, fontsize=11, va="center")
    axis.text(at * 1.25, at * 2.0, "no shuffling", color="0.35", fontsize=9.5, rotation=33)
    broken = table[table["broken"]]
    if len(broken):
        row = _worst(broken)
        axis.annotate(
            "promise\nbroken",
            (row["local"], (row["paper"] * row["attack"]) ** 0.5),
            (row["local"] * 0.42, row["attack"] * 0.95),
            color="#a03e00",
            fontsize=11,
            fontweight="bold",
            arrowprops={"arrowstyle": "->", "color": "#a03e00"},
        )


def _worst(broken: pd.DataFrame) -> pd.Series:
    """The row in which the attack exceeds the promise the most."""
    return broken.iloc[int((broken["attack"] / broken["paper"]).to_numpy().argmax())]


def describe_headline(table: pd.DataFrame) -> str:
    """Alt text of `headline_curves`."""
    first = table.iloc[0]
    said = [
        "Central epsilon against the local budget, both logarithmic. The certified bound and the attack run close "
        f"together, from {first['certified']:.2g} and {first['attack']:.2g} at {first['local']:g}. "
        f"There the paper's promise is {first['paper']:.2g}, {first['paper'] / first['certified']:.0f} times the "
        "certified bound."
    ]
    broken = table[table["broken"]]
    if len(broken):
        worst = _worst(broken)
        said.append(
            f"From {broken['local'].min():.2g} to {broken['local'].max():.2g} it lies below the attack, which makes it "
            f"false: at {worst['local']:.2g} it promises {worst['paper']:.3g} and the attack reaches "
            f"{worst['attack']:.3g}."
        )
    return " ".join(said)

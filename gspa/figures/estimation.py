"""Figure 3: the estimators' errors, and what is promised to its users beside what is certain."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.figures.style import DASHES, PALETTE


def error_curves(
    table: pd.DataFrame,
    *,
    x: str,
    xlabel: str,
    ylabel: str = "mean absolute error of the frequency",
    level: float = 0.95,
    line: bool = False,
) -> Figure:
    """Figure 3: mean absolute error with a confidence band for the mean, and the closed form.

    Args:
        table: columns `x`, `mae`, `mae_error` (one standard error), `exact` and `reading`.
        x: the column on the horizontal axis.
        xlabel: its label, with unit or range.
        ylabel: the vertical axis's label, with unit.
        level: coverage of the band.
        line: whether to draw the straight line nearest to each closed form.
    """
    from scipy.special import ndtri

    half = float(ndtri(0.5 + level / 2))
    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for index, (reading, part) in enumerate(table.groupby("reading", sort=False)):
        colour, dashes = PALETTE[index + 1], DASHES[index]
        axis.fill_between(
            part[x],
            part["mae"] - half * part["mae_error"],
            part["mae"] + half * part["mae_error"],
            color=colour,
            alpha=0.25,
            lw=0,
        )
        axis.plot(
            part[x],
            part["mae"],
            color=colour,
            dashes=dashes or (None, None),
            lw=2,
            label=f"{reading}, simulated",
        )
        axis.plot(part[x], part["exact"], color="black", lw=1, dashes=(1, 1.5))
        if line:
            slope, start = np.polyfit(part[x], part["exact"], 1)
            axis.plot(part[x], start + slope * part[x], color="0.55", lw=1)
    axis.plot([], [], color="black", lw=1, dashes=(1, 1.5), label="closed form")
    if line:
        axis.plot([], [], color="0.55", lw=1, label="nearest straight line")
    axis.set(xlabel=xlabel, ylabel=ylabel, ylim=(0, None))
    axis.legend()
    return figure


def describe_errors(table: pd.DataFrame, *, x: str) -> str:
    """Alt text of `error_curves`."""
    said = []
    for reading, line in table.groupby("reading", sort=False):
        first, last = line.iloc[0], line.iloc[-1]
        said.append(f"{reading}: {first['mae']:.4f} at {first[x]:g} to {last['mae']:.4f} at {last[x]:g}")
    return "Mean absolute error, one curve a reading of the groups. " + "; ".join(said) + "."


def group_promises(table: pd.DataFrame, *, delta: float) -> Figure:
    """Central eps of each preference group against the conservative users' budget, and what everybody is promised.

    Args:
        table: from `gspa.estimation_privacy.along`.
        delta: at which the eps are stated.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    promised = table.drop_duplicates("eps_conservative")
    axis.plot(promised["eps_conservative"], promised["promised"], color=PALETTE[0], lw=2, label="promised to everybody")
    for index, (group, part) in enumerate(table.groupby("group", sort=False), start=1):
        axis.fill_between(part["eps_conservative"], part["lower"], part["upper"], color=PALETTE[index], alpha=0.3, lw=0)
        axis.plot(part["eps_conservative"], part["lower"], color=PALETTE[index], lw=1)
        axis.plot(
            part["eps_conservative"],
            part["upper"],
            color=PALETTE[index],
            dashes=DASHES[index],
            lw=2,
            label=str(group),
        )
    axis.set(
        xlabel=r"budget $\epsilon_C$ of the conservative users",
        ylabel=rf"central $\epsilon$ at $\delta$ = {delta:g}",
        ylim=(0, None),
    )
    figure.legend(
        loc="outside upper center", ncols=4, title="bands: from what is certainly reached to what is certified"
    )
    return figure


def describe_group_promises(table: pd.DataFrame) -> str:
    """Alt text of `group_promises`."""
    last = table[table["eps_conservative"] == table["eps_conservative"].max()]
    said = "; ".join(
        f"{row['group']} between {row['lower']:.3g} and {row['upper']:.3g}" for row in last.to_dict("records")
    )
    worst = (table["upper"] / table["promised"]).max()
    return (
        "Central epsilon against the conservative users' budget, a line for the promise and a band a group. At "
        f"{last['eps_conservative'].iloc[0]:g} everybody is promised {last['promised'].iloc[0]:.3g}; {said}. The "
        f"highest certified value is {worst:.2f} times the promise."
    )

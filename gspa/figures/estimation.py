"""Figure 3: the estimators' errors."""

from __future__ import annotations

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.figures.style import DASHES, PALETTE


def error_curves(table: pd.DataFrame, *, x: str, xlabel: str, level: float = 0.95) -> Figure:
    """Figure 3: mean absolute error with a confidence band for the mean, and the closed form.

    Args:
        table: columns `x`, `mae`, `mae_error` (one standard error), `exact` and `reading`.
        x: the column on the horizontal axis.
        xlabel: its label, with unit or range.
        level: coverage of the band.
    """
    from scipy.special import ndtri

    half = float(ndtri(0.5 + level / 2))
    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for index, (reading, line) in enumerate(table.groupby("reading", sort=False)):
        colour, dashes = PALETTE[index + 1], DASHES[index]
        axis.fill_between(
            line[x],
            line["mae"] - half * line["mae_error"],
            line["mae"] + half * line["mae_error"],
            color=colour,
            alpha=0.25,
            lw=0,
        )
        axis.plot(
            line[x],
            line["mae"],
            color=colour,
            dashes=dashes or (None, None),
            lw=2,
            label=f"{reading}, simulated",
        )
        axis.plot(line[x], line["exact"], color="black", lw=1, dashes=(1, 1.5))
    axis.plot([], [], color="black", lw=1, dashes=(1, 1.5), label="closed form")
    axis.set(xlabel=xlabel, ylabel="mean absolute error of the frequency", ylim=(0, None))
    axis.legend()
    return figure


def describe_errors(table: pd.DataFrame, *, x: str) -> str:
    """Alt text of `error_curves`."""
    said = []
    for reading, line in table.groupby("reading", sort=False):
        first, last = line.iloc[0], line.iloc[-1]
        said.append(f"{reading}: {first['mae']:.4f} at {first[x]:g} to {last['mae']:.4f} at {last[x]:g}")
    return "Mean absolute error, one curve a reading of the groups. " + "; ".join(said) + "."

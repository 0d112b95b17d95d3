"""Trade-off curves: type II against type I error."""

from __future__ import annotations

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.figures.style import DASHES, PALETTE


def trade_off_curves(table: pd.DataFrame) -> Figure:
    """Type II error against type I error, a line a curve.

    Args:
        table: columns `curve`, `alpha`, `beta`, from `gspa.tradeoff_curves`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, (name, line) in enumerate(table.groupby("curve", sort=False)):
        dashes = DASHES[index % len(DASHES)] or (None, None)
        axis.plot(
            line["alpha"], line["beta"], color=PALETTE[index % len(PALETTE)], dashes=dashes, lw=2, label=str(name)
        )
    axis.set(xlabel=r"type I error $\alpha$", ylabel=r"type II error $\beta$", xlim=(0, 1), ylim=(0, 1.02))
    axis.legend(loc="upper right")
    return figure


def envelope(table: pd.DataFrame) -> Figure:
    """The last curve of a table as a thick line, the others as thin ones below it.

    Args:
        table: from `gspa.tradeoff_curves.of_fact_3`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    names = list(dict.fromkeys(table["curve"]))
    for index, name in enumerate(names[:-1]):
        line = table[table["curve"] == name]
        label = r"$f_{\epsilon,\delta(\epsilon)}$" if index == 0 else None
        axis.plot(line["alpha"], line["beta"], color=PALETTE[1], dashes=DASHES[1], lw=1.2, label=label)
    line = table[table["curve"] == names[-1]]
    axis.plot(line["alpha"], line["beta"], color=PALETTE[0], lw=2.5, label=names[-1])
    axis.set(xlabel=r"type I error $\alpha$", ylabel=r"type II error $\beta$", xlim=(0, 1), ylim=(0, 1.02))
    axis.legend(loc="upper right")
    return figure


def describe_curves(table: pd.DataFrame) -> str:
    """Alt text of `trade_off_curves` and `envelope`: where each curve starts, is at alpha = 1/2, and ends."""
    said = []
    for name, line in table.groupby("curve", sort=False):
        middle = line.iloc[(line["alpha"] - 0.5).abs().argmin()]["beta"]
        said.append(f"{name}: {line['beta'].iloc[0]:.3g}, {middle:.3g} and {line['beta'].iloc[-1]:.3g}")
    return "Type II error at type I error 0, one half and 1. " + "; ".join(said) + "."

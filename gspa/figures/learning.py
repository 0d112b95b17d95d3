"""Learners and testers over the number of users, and fitted exponents beside the stated ones."""

from __future__ import annotations

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.figures.style import DASHES, PALETTE

_MARKS = "os^Dv"
_FACTORS = {
    "alpha": r"$\alpha$",
    "eps": r"$\epsilon$",
    "growth": r"$e^{\epsilon}-1$",
    "ratio": r"$e^{\epsilon}$",
    "k": "$k$",
}


def learning_curves(table: pd.DataFrame) -> Figure:
    """Total variation error against n, a line a learner, both logarithmic; bars are two standard errors.

    Args:
        table: from `gspa.learning.learners`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, (name, line) in enumerate(table.groupby("learner", sort=False)):
        drawn = axis.errorbar(
            line["n"], line["tv"], yerr=2 * line["tv_error"], color=PALETTE[index], lw=1.8, marker=_MARKS[index], ms=5
        )
        drawn[0].set_dashes(DASHES[index] or (None, None))
        drawn.set_label(str(name))
    axis.set(xlabel="number of users $n$", ylabel="error in total variation", xscale="log", yscale="log")
    axis.legend()
    return figure


def power_lines(table: pd.DataFrame) -> Figure:
    """Probability to detect the alternative against n, a line a tester, with the target 2/3.

    Args:
        table: from `gspa.uniformity.power_curves`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, (name, line) in enumerate(table.groupby("tester", sort=False)):
        dashes = DASHES[index] or (None, None)
        axis.plot(
            line["n"],
            line["power"],
            color=PALETTE[index],
            dashes=dashes,
            lw=1.8,
            marker=_MARKS[index],
            ms=5,
            label=name,
        )
    axis.axhline(2 / 3, color="0.4", lw=1)
    axis.set(xlabel="number of users $n$", ylabel="probability to detect", xscale="log", ylim=(0, 1.03))
    axis.legend(fontsize=9)
    return figure


def exponent_dots(table: pd.DataFrame, *, tolerance: float) -> Figure:
    """Fitted less stated exponents with their intervals, a row each; the band is the tolerance.

    Args:
        table: from `gspa.scaling.fit_regimes`.
        tolerance: half the width of the band.
    """
    figure, axis = plt.subplots(figsize=(7, 0.9 + 0.27 * len(table)), layout="constrained")
    axis.axvspan(-tolerance, tolerance, color="0.92", zorder=0)
    axis.axvline(0, color="0.4", lw=1)
    rows = range(len(table))
    middle = table["exponent"] - table["stated"]
    reach = [table["exponent"] - table["low"], table["high"] - table["exponent"]]
    axis.errorbar(middle, rows, xerr=reach, fmt="o", color=PALETTE[1], ms=4.5, lw=1.6)
    names = [f"{regime}: {_FACTORS[factor]}" for regime, factor in zip(table["regime"], table["factor"], strict=True)]
    axis.set_yticks(rows, [f"{name}, stated {stated:.3g}" for name, stated in zip(names, table["stated"], strict=True)])
    axis.tick_params(axis="y", labelsize=9)
    axis.set_ylim(len(table) - 0.3, -0.7)
    widest = max(1.5 * tolerance, float((middle.abs() + reach[0]).max()) * 1.05)
    axis.set(xlabel="fitted exponent less the stated one", xlim=(-widest, widest))
    return figure


def describe_learning(table: pd.DataFrame) -> str:
    """Alt text of `learning_curves`: first and last error of each learner."""
    said = [f"{name} {line['tv'].iloc[0]:.3g} to {line['tv'].iloc[-1]:.3g}" for name, line in table.groupby("learner")]
    sizes = table["n"]
    return f"Error in total variation from {sizes.min():,} to {sizes.max():,} users. " + "; ".join(said) + "."


def describe_power(table: pd.DataFrame) -> str:
    """Alt text of `power_lines`: from which of the sizes on each tester meets the target."""
    said = []
    for name, line in table.groupby("tester", sort=False):
        short = line.loc[line["power"] < 2 / 3, "n"]
        enough = line[line["n"] > short.max()] if len(short) else line
        said.append(f"{name} from {enough['n'].min():,}" if len(enough) else f"{name} at none of the sizes")
    return (
        "Numbers of users from which the alternative is detected with probability two thirds: " + "; ".join(said) + "."
    )


def describe_exponents(table: pd.DataFrame) -> str:
    """Alt text of `exponent_dots`: the largest difference and the widest interval."""
    off = (table["exponent"] - table["stated"]).abs()
    worst = table.iloc[int(off.to_numpy().argmax())]
    widest = float((table["high"] - table["low"]).max())
    return (
        f"{len(table)} fitted exponents with intervals around the stated ones; the farthest is {off.max():.3f} off "
        f"({worst['regime']}, {worst['factor']}), the widest interval {widest:.3f}."
    )

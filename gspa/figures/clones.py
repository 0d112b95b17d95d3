"""The blog's formulas over eps_L, and how loose eq. (1) is over n."""

from __future__ import annotations

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.figures.style import DASHES, PALETTE

_LINES = {
    "bits": "randomized response, exact",
    "any": "any common randomizer, certified",
    "blog": "eq. (1)",
    "source": "its source, Theorem 3.1",
    "large": "eq. (2)",
    "linear": "eq. (3)",
    "small": r"small $\epsilon_L$",
}


def clone_formulas(table: pd.DataFrame) -> Figure:
    """Central eps against eps_L for one n, both logarithmic: every formula, what is certified, what is exact.

    Args:
        table: from `gspa.clones.regimes` for one n.
    """
    figure, axis = plt.subplots(figsize=(7, 4.8), layout="constrained")
    for index, (key, label) in enumerate(_LINES.items()):
        seen = table[table[key] > 0]
        dashes = DASHES[index] or (None, None)
        width = 2.6 if key in ("bits", "any") else 1.6
        axis.plot(seen["eps_local"], seen[key], color=PALETTE[index], dashes=dashes, lw=width, label=label)
    axis.plot(table["eps_local"], table["eps_local"], color="0.6", lw=1, label=r"no shuffling, $\epsilon = \epsilon_L$")
    valid = table.loc[table["valid"], "eps_local"]
    if 0 < len(valid) < len(table):
        axis.axvspan(float(valid.max()), float(table["eps_local"].max()), color="0.93", zorder=0)
    axis.set(xlabel=r"local budget $\epsilon_L$", ylabel=r"central $\epsilon$", xscale="log", yscale="log")
    axis.set_xlim(float(table["eps_local"].min()), float(table["eps_local"].max()))
    axis.legend(loc="upper left", fontsize=8.5)
    return figure


def clone_looseness(table: pd.DataFrame) -> Figure:
    """Eq. (1) over the certified eps of any common randomizer against n, a line a budget.

    Hollow where Theorem 3.1's condition fails; crossed out where eq. (1) is below the exact eps of randomized response.

    Args:
        table: from `gspa.clones.regimes`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, (local, line) in enumerate(table.dropna(subset="loose").groupby("eps_local")):
        colour = PALETTE[index % len(PALETTE)]
        dashes = DASHES[index % len(DASHES)] or (None, None)
        axis.plot(line["n"], line["loose"], color=colour, dashes=dashes, lw=1.8, label=rf"$\epsilon_L$ = {local:g}")
        for valid, part in line.groupby("valid"):
            axis.scatter(part["n"], part["loose"], s=28, zorder=3, edgecolor=colour, color=colour if valid else "white")
    wrong = table[table["blog"] < table["bits"]]
    if len(wrong):
        axis.scatter(wrong["n"], wrong["loose"], s=70, marker="x", color="black", zorder=4, label="eq. (1) false")
    axis.axhline(1, color="0.4", lw=1)
    axis.set(xlabel="number of users $n$", ylabel=r"eq. (1) over the certified $\epsilon$", xscale="log", yscale="log")
    axis.legend(fontsize=9, ncols=2)
    return figure


def describe_clone_formulas(table: pd.DataFrame) -> str:
    """Alt text of `clone_formulas`: first and last value of each line."""
    first, last = table.iloc[0], table.iloc[-1]
    said = [f"{label.replace('$', '')} {first[key]:.3g} to {last[key]:.3g}" for key, label in _LINES.items()]
    return (
        f"Central epsilon, {first['n']:,} users, against eps_L from {first['eps_local']:g} to {last['eps_local']:g}. "
        + "; ".join(said).replace("\\epsilon", "epsilon")
        + "."
    )


def describe_clone_looseness(table: pd.DataFrame) -> str:
    """Alt text of `clone_looseness`: the range inside and outside the condition on n."""
    known = table.dropna(subset="loose")
    said = []
    for valid, word in ((True, "where its condition holds"), (False, "elsewhere")):
        part = known.loc[known["valid"] == valid, "loose"]
        if len(part):
            said.append(f"from {part.min():.3g} to {part.max():.3g} {word}")
    wrong = int((table["blog"] < table["bits"]).sum())
    return "Equation (1) over the certified epsilon: " + ", ".join(said) + f"; false at {wrong} points."

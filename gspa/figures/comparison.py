"""Figure 2: every bound against the number of users."""

from __future__ import annotations

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gspa.figures.style import DASHES, PALETTE


def bounds_panels(table: pd.DataFrame, *, delta: float) -> Figure:
    """Figure 2: central eps against n, a panel a distribution, a line a bound.

    Args:
        table: from `gspa.comparison.figure2`.
        delta: the central delta, for the axis label.
    """
    populations = list(table["population"].unique())
    names = dict.fromkeys(table["bound"])
    styles = {name: (PALETTE[i % len(PALETTE)], DASHES[i % len(DASHES)]) for i, name in enumerate(names)}
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.6), sharex=True, sharey=True, layout="constrained")
    for axis, population in zip(axes.flat, populations, strict=True):
        part = table[(table["population"] == population) & table["valid"]]
        for name, line in part.groupby("bound", sort=False):
            colour, dashes = styles[str(name)]
            axis.plot(line["n"], line["epsilon"], color=colour, dashes=dashes or (None, None), lw=2, label=name)
        axis.set(title=population, yscale="log")
    for axis in axes[-1]:
        axis.set_xlabel("number of users $n$")
    for axis in axes[:, 0]:
        axis.set_ylabel(rf"central $\epsilon$ at $\delta$ = {delta:g}")
    handles = [Line2D([], [], color=c, dashes=d or (None, None), lw=2, label=n) for n, (c, d) in styles.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(3, len(handles)))
    return figure


def describe_bounds(table: pd.DataFrame) -> str:
    """Alt text of `bounds_panels`."""
    drawn = table[table["valid"]]
    said = []
    for name, line in drawn.groupby("bound", sort=False):
        panels = line["population"].nunique()
        said.append(
            f"{name} in {panels} panel(s), epsilon from {line['epsilon'].min():.3g} to {line['epsilon'].max():.3g}"
        )
    lowest = drawn.loc[drawn.groupby(["population", "n"])["epsilon"].idxmin(), "bound"].value_counts()
    sizes = f"{table['n'].min():,} to {table['n'].max():,}"
    return (
        f"{table['population'].nunique()} panels of central epsilon against {sizes} "
        f"users. {'; '.join(said)}. {lowest.index[0]} is the lowest line at {lowest.iloc[0]} of {lowest.sum()} points."
    )


def extreme_budgets(table: pd.DataFrame, *, delta: float) -> Figure:
    """Central eps against a local budget that everybody has: the paper's, [Liu23]'s, the certified one, no shuffling.

    Args:
        table: from `gspa.comparison.extremes`; budgets of 0 are not on the axes.
        delta: the central delta, for the axis label.
    """
    part = table[(table["crowd"] == "all") & (table["budget"] > 0)].sort_values("budget")
    names = {"paper": "paper", "liu23": "Liu23", "certified": "certified", "budget": "the local budget itself"}
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, (key, name) in enumerate(names.items()):
        line = part[part[key] > 0]
        dashes = DASHES[index] or (None, None)
        axis.plot(line["budget"], line[key], color=PALETTE[index], dashes=dashes, lw=2, marker="o", ms=4, label=name)
    axis.set(xscale="log", yscale="log", xlabel=r"local budget $\epsilon_0$ of every user")
    axis.set_ylabel(rf"central $\epsilon$ at $\delta$ = {delta:g}")
    axis.legend()
    return figure


def describe_extremes(table: pd.DataFrame) -> str:
    """Alt text of `extreme_budgets`."""
    part = table[(table["crowd"] == "all") & (table["budget"] > 0)].sort_values("budget")
    said = [
        f"at a local budget of {row.budget:g} the paper has {row.paper:.3g}, Liu23 {row.liu23:.3g}, certified is "
        f"{row.certified:.3g}"
        for row in (part.iloc[[-1, 0]] if len(part) else part).itertuples()
    ]
    return "Central epsilon against the local budget on logarithmic axes; " + "; ".join(said) + "."

"""Theorem 2: the pair's own trade-off against the Gaussian, and where the Gaussian promises too much."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from gspa.figures.style import DASHES, PALETTE

_LINES = {
    "exact": "the pair, exact",
    "paper": r"$G_\mu$, the paper's",
    "slack": r"$G_\mu$ with its slack, proved",
    "tanh": r"$G_\mu$ with the tanh factor, an estimate",
}
_SHADES = ("#DDE8F3", "#D55E00", "#BBBBBB")  # holds, too much, undecided
_KINDS = ("holds", "too much", "undecided")


def guarantee_power(table: pd.DataFrame) -> Figure:
    """What each bound allows the best test, relative to the pair's own power: a guarantee must not go below 1.

    Args:
        table: from `gspa.gaussian_guarantee.power_curves`.
    """
    local = list(table["eps0"].unique())
    figure, axes = plt.subplots(1, len(local), figsize=(9, 4), sharey=True, squeeze=False, layout="constrained")
    for axis, eps0 in zip(axes[0], local, strict=True):
        part = table[table["eps0"] == eps0]
        for index, (key, label) in enumerate(_LINES.items()):
            dashes = DASHES[index] or (None, None)
            axis.plot(part["alpha"], part[key] / part["exact"], color=PALETTE[index], dashes=dashes, lw=2, label=label)
        axis.set(title=rf"$\epsilon_0$ = {eps0:g}", xscale="log", yscale="log", xlabel=r"type I error $\alpha$")
    axes[0, 0].set(ylabel="power allowed / power of the pair", ylim=(0.05, 40))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def guarantee_map(table: pd.DataFrame) -> Figure:
    """Where the paper's eps is at least the certified one, and where it is less, over eps0 and delta.

    Args:
        table: from `gspa.gaussian_guarantee.promises`.
    """
    sizes = list(table["n"].unique())
    figure, axes = plt.subplots(1, len(sizes), figsize=(9, 4), sharey=True, squeeze=False, layout="constrained")
    for axis, n in zip(axes[0], sizes, strict=True):
        grid = table[table["n"] == n].pivot_table(index="delta", columns="eps0", values="promise", aggfunc="first")
        codes = grid.map(_KINDS.index).to_numpy()
        colours = ListedColormap(_SHADES)
        axis.pcolormesh(
            grid.columns, np.log10(grid.index), codes, cmap=colours, vmin=-0.5, vmax=2.5, edgecolors="white", lw=0.3
        )
        wrong = np.argwhere(codes == 1)
        axis.plot(grid.columns[wrong[:, 1]], np.log10(grid.index)[wrong[:, 0]], "x", color="white", ms=3, mew=0.8)
        axis.set(title=f"$n$ = {n:,}", xlabel=r"local budget $\epsilon_0$")
        axis.grid(visible=False)
    axes[0, 0].set_ylabel(r"$\log_{10}$ of the central $\delta$")
    shown = [k for k in range(3) if k < 2 or (table["promise"] == _KINDS[k]).any()]
    labels = (r"paper's $\epsilon$ suffices", r"too small: the pair has more (crosses)", "undecided")
    handles = [Patch(facecolor=_SHADES[k], edgecolor="grey", label=labels[k]) for k in shown]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def describe_guarantee_power(table: pd.DataFrame) -> str:
    """Alt text of `guarantee_power`."""
    said = []
    for eps0, part in table.groupby("eps0", sort=False):
        over = part[part["exact"] > part["paper"] * (1 + 1e-9)]
        first = part.iloc[0]
        where = f"{over['alpha'].min():.1g} to {over['alpha'].max():.1g}" if len(over) else "nowhere"
        said.append(
            f"Epsilon {eps0:g}: the pair's line is above the paper's at alpha {where}; at alpha {first['alpha']:.1g} "
            f"the pair has power {first['exact']:.2g}, the paper allows {first['paper']:.2g}, with slack "
            f"{first['slack']:.2g}"
        )
    return "Allowed power over the pair's own, against type I error, on logarithmic axes. " + ". ".join(said) + "."


def describe_guarantee_map(table: pd.DataFrame) -> str:
    """Alt text of `guarantee_map`."""
    said = []
    for n, part in table.groupby("n", sort=False):
        wrong = part[part["promise"] == "too much"]
        where = f", local budgets {wrong['eps0'].min():g} to {wrong['eps0'].max():g}" if len(wrong) else ""
        said.append(f"{n:,} users: {len(wrong)} of {len(part)} cells{where}")
    return "Cells of local budget and delta at which the paper's epsilon is too small. " + "; ".join(said) + "."

"""Lemmas 4 and 1: mechanisms over their dominating pairs, and the share of the claimed clones that exist."""

from __future__ import annotations

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.figures.style import DASHES, PALETTE

_MARKERS = ("o", "s", "^", "v", "D", "P", "X")


def dominated_panels(table: pd.DataFrame) -> Figure:
    """Trade-off curves, a panel a mechanism: its own as a solid line, those of its pairs dashed.

    Args:
        table: from `gspa.dominating.curves`, four mechanisms.
    """
    figure, axes = plt.subplots(2, 2, figsize=(7.6, 7.4), sharex=True, sharey=True, layout="constrained")
    for axis, (panel, part) in zip(axes.flat, table.groupby("panel", sort=False), strict=True):
        for index, (name, line) in enumerate(part.groupby("line", sort=False)):
            own = line["kind"].iloc[0] == "mechanism"
            axis.plot(
                line["alpha"],
                line["beta"],
                color=PALETTE[index],
                dashes=(None, None) if own else DASHES[index],
                lw=2.6 if own else 1.8,
                label="the mechanism" if own else name,
            )
        axis.set(title=panel, xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axis.legend(fontsize=8.5)
    for axis in axes[-1]:
        axis.set_xlabel(r"type I error $\alpha$")
    for axis in axes[:, 0]:
        axis.set_ylabel(r"type II error $\beta$")
    return figure


def describe_dominated(table: pd.DataFrame) -> str:
    """Alt text of `dominated_panels`."""
    said = []
    for panel, part in table.groupby("panel", sort=False):
        own = part[part["kind"] == "mechanism"]
        lines = part[part["kind"] == "pair"].groupby("line", sort=False)
        middle = own.iloc[(own["alpha"] - own["beta"]).abs().argmin()]
        names = "; ".join(str(name).removeprefix("pair, ") for name, _ in lines)
        said.append(f"{panel}: its curve has equal errors near {middle['alpha']:.2f}; pairs below it at {names}")
    return "Four panels of type II against type I error, each with a mechanism's curve. " + ". ".join(said) + "."


def clone_shares(table: pd.DataFrame) -> Figure:
    """The largest clone coefficient as a share of the claimed one against eps, a line a mechanism.

    Args:
        table: from `gspa.decomposition.shares`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.8), layout="constrained")
    reference = table.drop_duplicates("eps").sort_values("eps")
    axis.axhline(1, color="0.82", lw=7, label=r"claimed, $1/(1+e^\epsilon)$")
    axis.plot(reference["eps"], reference["general"], color="0.62", lw=7, label=r"always there, $e^{-\epsilon}/2$")
    for index, (name, line) in enumerate(table.groupby("mechanism", sort=False)):
        axis.plot(
            line["eps"],
            line["share"],
            color=PALETTE[index % len(PALETTE)],
            dashes=DASHES[index % len(DASHES)] or (None, None),
            lw=1.8,
            marker=_MARKERS[index % len(_MARKERS)],
            ms=6,
            markevery=(2 * index % len(line), max(len(line) // 4, 1)),  # staggered: some lines coincide
            label=name,
        )
    axis.set(
        xlabel=r"local budget $\epsilon$",
        ylabel=r"largest coefficient $\times\,(1+e^\epsilon)$",
        ylim=(0.45, 1.05),
    )
    figure.legend(loc="outside lower center", ncols=3, fontsize=9)
    return figure


def describe_shares(table: pd.DataFrame) -> str:
    """Alt text of `clone_shares`."""
    last = table[table["eps"] == table["eps"].max()].sort_values("share", ascending=False)
    said = ", ".join(f"{row.mechanism} {row.share:.3f}" for row in last.itertuples())
    return (
        f"Share of the claimed clone coefficient that exists, against epsilon from {table['eps'].min():.3g} to "
        f"{table['eps'].max():.3g}. At the largest epsilon: {said}; what is always there: "
        f"{last['general'].iloc[0]:.3f}."
    )

"""Lemma 2's distances against the number of users."""

from __future__ import annotations

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.figures.style import DASHES, PALETTE

_LINES = {
    "total_variation": "total variation, unit cells",
    "printed": "eq. (14) as printed",
    "difference": r"total variation of $\xi_0 - \xi_1$ alone",
}


def distance_curves(table: pd.DataFrame, *, eps0: float, delta: float) -> Figure:
    """Total variation from the discretized normal, eq. (14) as printed, and the difference alone, against m.

    Args:
        table: from `gspa.normal_tables.distance_table`.
        eps0: which budget to draw.
        delta: drawn as a horizontal line.
    """
    part = table[table["eps0"] == eps0].sort_values("m")
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    # Wide and first: the total variation lies on top of it.
    axis.plot(
        part["m"], part["leading"], color=PALETTE[5], lw=6, alpha=0.6, label="leading term of the total variation"
    )
    for index, (key, label) in enumerate(_LINES.items()):
        dashes = DASHES[index] or (None, None)
        axis.plot(
            part["m"], part[key], color=PALETTE[index], dashes=dashes, lw=2, marker="osv"[index], ms=5, label=label
        )
    axis.axhline(delta, color=PALETTE[6], lw=1.5)
    axis.annotate(rf"$\delta$ = {delta:g}", (part["m"].iloc[0], delta), xytext=(0, 3), textcoords="offset points")
    axis.set(xlabel="number of users $m$", ylabel="distance from the normal law", xscale="log", yscale="log")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    return figure


def describe_distances(table: pd.DataFrame, *, eps0: float, delta: float) -> str:
    """Alt text of `distance_curves`."""
    part = table[table["eps0"] == eps0].sort_values("m")
    first, last = part.iloc[0], part.iloc[-1]
    said = "; ".join(
        f"{label.replace('$', '').replace(chr(92) + 'xi', 'xi')} from {first[key]:.2g} to {last[key]:.2g}"
        for key, label in _LINES.items()
    )
    above = int((part["total_variation"] > delta).sum())
    return (
        f"Falling lines on logarithmic axes, local budget {eps0:g}, {first['m']:,.0f} to {last['m']:,.0f} users: "
        f"{said}. "
        f"The total variation is above delta = {delta:g} at {above} of {len(part)} points."
    )

"""Personal budgets: a broken promise as a curve, and where it is broken as a map."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib import pyplot as plt
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gspa.figures.style import DASHES, PALETTE

_CURVES = {
    "promised": "promised",
    "attack": "attack (certainly reached)",
    "limit": "Gaussian limit (estimate)",
    "certified": "certified (not exceeded)",
}
_MOST_TIMES = 1e4
_PAPER = (0.01, 2.0)  # budgets of the paper's comparison


def broken_promise(table: pd.DataFrame) -> Figure:
    """delta against eps on a logarithmic axis: promised, attacked, estimated, certified.

    Args:
        table: from `gspa.personalized.broken_curve`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, (key, label) in enumerate(_CURVES.items()):
        seen = table[table[key] > 0]
        dashes = DASHES[index] or (None, None)
        axis.plot(seen["eps"], seen[key], color=PALETTE[index], dashes=dashes, lw=2, marker="os^D"[index], label=label)
    floor = max(1e-12, float(table.loc[table["certified"] > 0, "certified"].min()) / 10)
    axis.set(xlabel=r"central $\epsilon$", ylabel=r"central $\delta$ of the victim", yscale="log", ylim=(floor, 1))
    axis.legend()
    return figure


def _edges(centres: np.ndarray) -> np.ndarray:
    steps = np.log(centres)
    middle = 0.5 * (steps[1:] + steps[:-1])
    return np.asarray(np.exp(np.r_[2 * steps[0] - middle[0], middle, 2 * steps[-1] - middle[-1]]))


def promise_map(table: pd.DataFrame) -> Figure:
    """Where the promise is broken, and by how much; dots where it is certified to hold, question marks where neither.

    Args:
        table: from `gspa.personalized.promise_map`.
    """
    figure, axis = plt.subplots(figsize=(7, 5.2), layout="constrained")
    times = table.assign(times=table["times"].where(table["promise"] == "broken"))
    grid = times.pivot(index="others", columns="victim", values="times")
    columns, rows = grid.columns.to_numpy(dtype=float), grid.index.to_numpy(dtype=float)
    colours = colormaps["cividis_r"].with_extremes(bad="white")
    drawn = axis.pcolormesh(
        _edges(columns), _edges(rows), grid.to_numpy(dtype=float), cmap=colours, norm=LogNorm(1, _MOST_TIMES)
    )
    for word, marker in (("kept", "."), ("open", "$?$")):
        chosen = table[table["promise"] == word]
        if len(chosen):
            axis.scatter(chosen["victim"], chosen["others"], marker=marker, s=35, color=PALETTE[1], label=word)
    low, high = _PAPER
    box = Rectangle(
        (low, low), high - low, high - low, fill=False, ls="--", lw=1.5, ec=PALETTE[2], label="paper's range"
    )
    axis.add_patch(box)
    axis.set(xscale="log", yscale="log", xlabel=r"the victim's budget $\epsilon_n$", ylabel="everybody else's budget")
    axis.grid(visible=False)
    figure.colorbar(drawn, ax=axis, extend="max", label=r"broken: attacked $\delta$ over the promised one")
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def describe_broken_promise(table: pd.DataFrame) -> str:
    """Alt text of `broken_promise`."""
    row = table.iloc[len(table) // 2]
    text = (
        f"Delta on a logarithmic axis against epsilon. At epsilon {row['eps']:.3g} the promise is "
        f"{row['promised']:.2g}, an attack reaches {row['attack']:.3g}, the Gaussian limit is {row['limit']:.3g} and "
        f"the certified bound {row['certified']:.3g}"
    )
    return text + (": the attack is far above the promise." if row["attack"] > 10 * row["promised"] else ".")


def describe_promise_map(table: pd.DataFrame) -> str:
    """Alt text of `promise_map`."""
    count = table["promise"].value_counts()
    broken = table[table["promise"] == "broken"]
    text = (
        f"A map over the victim's budget and everybody else's, {len(table)} points: the promise is broken at "
        f"{count.get('broken', 0)}, certified to hold at {count.get('kept', 0)}, neither at {count.get('open', 0)}."
    )
    if len(broken):
        worst = broken.sort_values("times").iloc[-1]
        above = int((broken["victim"] > broken["others"]).sum())
        text += (
            f" Of the broken ones {above} have a victim with the larger budget and {len(broken) - above} one with the "
            f"smaller; the worst, {worst['times']:.3g} times, is a victim at {worst['victim']:.3g} among users at "
            f"{worst['others']:.3g}."
        )
    return text

"""Attacks and bounds: an interval a setting."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from gspa.figures.style import PALETTE

# column -> name, marker, colour, filled, size: shapes differ as well as colours
_MARKS = {
    "attack": ("exact attack", "D", PALETTE[1], True, 7),
    "enumerated": ("all histograms enumerated", "s", PALETTE[1], False, 8),
    "truth_low": ("truth (its lower end)", "|", PALETTE[0], True, 17),
    "limit": ("Gaussian limit (estimate)", "x", PALETTE[4], True, 7),
    "certified": ("certified", "o", PALETTE[3], True, 7),
    "sampled": ("sampled attack", "<", PALETTE[5], False, 7),
    "published": ("smallest proved published", "^", PALETTE[6], False, 8),
    "paper": ("paper's promise", "*", PALETTE[2], True, 13),
}
_NEAR = ("certified", "attack", "enumerated", "limit", "truth_low")
_FAR = ("certified", "attack", "sampled", "published", "paper")


def audit_intervals(table: pd.DataFrame) -> Figure:
    """A row a setting, every eps over the certified one: left the interval, right what else was promised or reached.

    The truth lies on the bar between the best attack and the certified bound. A promise left of the attack is broken,
    and ringed. What is 0 is not drawn, nor an estimate that is far off the left panel.

    Args:
        table: from `gspa.auditing.intervals`.
    """
    shown = table[table["certified"] > 0].reset_index(drop=True)
    place = np.arange(len(shown))[::-1]
    figure, (near, far) = plt.subplots(
        1, 2, figsize=(10, 0.45 * len(shown) + 2.2), sharey=True, width_ratios=(5, 4), layout="constrained"
    )
    share = (shown["lower"] / shown["certified"]).where(shown["lower"] > 0)
    near.hlines(place, share, 1, color=PALETTE[3], lw=9, alpha=0.3)
    _draw(near, shown, place, _NEAR)
    _draw(far, shown, place, _FAR)
    broken = shown["broken"].to_numpy(dtype=bool)
    far.plot(
        (shown["paper"] / shown["certified"])[broken], place[broken], "o", mfc="none", mec=PALETTE[2], mew=1.8, ms=20
    )
    for axis in (near, far):
        axis.axvline(1, color=PALETTE[3], lw=1, dashes=(2, 2))
    least = 1.0 if share.isna().all() else float(share.min())
    near.set(xlim=(max(least - 0.06, 0), 1.06), xlabel=r"$\epsilon$ / certified $\epsilon$", title="The interval")
    far.set(xscale="log", xlabel=r"$\epsilon$ / certified $\epsilon$, logarithmic", title="Samples and promises")
    far.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    near.set_yticks(place, [f"{row.setting}\n$\\delta$ = {row.delta:g}" for row in shown.itertuples()], fontsize=8.5)
    handles = [_handle(*mark) for mark in _MARKS.values()]
    handles.append(
        Line2D([], [], marker="o", mfc="none", mec=PALETTE[2], ls="", ms=14, mew=1.8, label="promise broken")
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _draw(axis: Axes, shown: pd.DataFrame, place: np.ndarray, columns: tuple[str, ...]) -> None:
    for column in columns:
        _, marker, colour, filled, size = _MARKS[column]
        ratio = (shown[column] / shown["certified"]).where(shown[column] > 0)
        face = colour if filled else "white"
        axis.plot(ratio, place, marker, color=colour, mfc=face, mew=2 if marker in "|x" else 1.4, ms=size, ls="")


def _handle(name: str, marker: str, colour: str, filled: bool, size: int) -> Line2D:
    face = colour if filled else "white"
    return Line2D([], [], marker=marker, color=colour, mfc=face, mew=1.5, ms=min(size, 11), ls="", label=name)


def describe_audit(table: pd.DataFrame) -> str:
    """Alt text of `audit_intervals`."""
    held = int(table["consistent"].sum())
    said = [
        f"{len(table)} settings, a bar from the best attack to the certified epsilon in each. In {held} of them no "
        "attack lies above the truth, the certified or the proved published bound."
    ]
    attacked = table[table["lower"] > 0]
    if len(attacked):
        widest = attacked.sort_values("slack", kind="stable").iloc[-1]
        said.append(
            f"The widest bar, {widest['setting']}, starts at {1 / widest['slack']:.2f} of the certified epsilon."
        )
    said += [
        f"Broken promise: {row.setting}, promised {row.paper:.3g}, attacked at {row.lower:.3g}."
        for row in table[table["broken"]].itertuples()
    ]
    return " ".join(said)

"""FLAME's experiments: Figure 5, the sweeps of Figures 6 to 8, and accuracy against the privacy that holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gspa.figures.style import DASHES, PALETTE
from gspa.flame.cases import DOUBLE, INDEPENDENT
from gspa.flame.results import summary

if TYPE_CHECKING:
    from gspa.flame.worth import Worth

_TITLES = {"fresh": "fresh noise in every round", "released": "the released trainer's noise, repeated"}
_SWEEPS = (
    ("figure 6", r"budget of one report $\epsilon_{lk}$", False),
    ("figure 7", "$n/n_p$", False),
    ("figure 8", r"share of coordinates $\beta$", True),
)
_MARKS = {"SS-Simple": "s", "SS-Double": "D", "SS-Topk": "o"}


def flame_accuracies(runs: pd.DataFrame, *, dataset: str) -> Figure:
    """Figure 5: test accuracy by round, a line a method, two panels; bands reach from the lowest to the highest seed.

    Args:
        runs: from `gspa.flame.experiments.run`.
        dataset: named in the vertical axis' label.
    """
    part = runs[(runs["group"] == "figure 5") & runs["noise"].isin(_TITLES)]
    labels = list(dict.fromkeys(part["label"]))
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True, layout="constrained")
    for axis, (noise, title) in zip(axes, _TITLES.items(), strict=True):
        panel = part[part["noise"] == noise]
        for index, label in enumerate(labels):
            line = panel[panel["label"] == label].groupby("round")["accuracy"].agg(["mean", "min", "max"]) * 100
            if line.empty:
                continue
            # One colour less than methods: the two LDP-FL lines share one.
            colour, dashes = PALETTE[min(index, len(PALETTE) - 1)], DASHES[index % len(DASHES)] or (None, None)
            axis.fill_between(line.index, line["min"], line["max"], color=colour, alpha=0.15, lw=0)
            axis.plot(line.index, line["mean"], color=colour, dashes=dashes, lw=2, label=label)
        axis.set(title=title, xlabel="round", xlim=(0, part["round"].max()), ylim=(0, 100))
    axes[0].set_ylabel(f"test accuracy on {dataset} (%)")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4)
    return figure


def flame_variations(runs: pd.DataFrame, *, dataset: str) -> Figure:
    """Figures 6, 7 and 8: SS-Topk's final accuracy, a panel a parameter; bars are 95% intervals of the mean.

    Args:
        runs: from `gspa.flame.experiments.run`.
        dataset: named in the vertical axis' label.
    """
    table = summary(runs[runs["group"].isin([group for group, _, _ in _SWEEPS])])
    figure, axes = plt.subplots(1, 3, figsize=(9.5, 4), sharey=True, layout="constrained")
    for axis, (group, xlabel, log) in zip(axes, _SWEEPS, strict=True):
        for index, (varied, line) in enumerate(table[table["group"] == group].groupby("varied", sort=False)):
            label = {"beta, eps_lk fixed": r"$\epsilon_{lk}$ fixed", "beta, eps_l fixed": r"$\epsilon_l$ fixed"}
            _with_bars(axis, line.sort_values("value"), index, label.get(str(varied), ""))
        axis.set(title=group.capitalize(), xlabel=xlabel)
        if log:
            axis.set_xscale("log")
            axis.legend(loc="lower right")
    axes[0].set_ylabel(f"accuracy of SS-Topk on {dataset} (%)")
    return figure


def _with_bars(axis: Axes, line: pd.DataFrame, index: int, label: str) -> None:
    colour, dashes = PALETTE[index + 1], DASHES[index] or (None, None)
    axis.plot(
        line["value"],
        line["mean (%)"],
        color=colour,
        dashes=dashes,
        marker="os"[index],
        ms=5,
        lw=2,
        label=label or None,
    )
    if line["from"].notna().all():
        axis.vlines(line["value"], line["from"], line["to"], color=colour, lw=1.5)


def flame_worth(runs: pd.DataFrame, worths: Sequence[Worth], *, dataset: str) -> Figure:
    """Accuracy against the eps that holds for one epoch: DP-FL as a line, each protocol from attack to certified.

    Args:
        runs: from `gspa.flame.experiments.run`, with the group "equal privacy".
        worths: from `gspa.flame.cases.Paper.worth`.
        dataset: named in the vertical axis' label.
    """
    table = summary(runs[runs["group"].isin(["figure 5", "equal privacy"])])
    fresh = table[table["noise"] == "fresh"].set_index(["group", "label"])["mean (%)"]
    curve = table[(table["group"] == "equal privacy") & table["label"].str.startswith("DP-FL")].sort_values("value")
    own = curve.loc[curve["label"] == "DP-FL", "value"]
    at = None if own.empty or not any(one.tuned > 0 for one in worths) else float(own.iloc[0])
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    axis.plot(
        curve["value"], curve["mean (%)"], color=PALETTE[0], marker="x", ms=6, lw=2, label="DP-FL, analytic Gaussian"
    )
    for index, one in enumerate(worths):
        colour, mark = PALETTE[index + 1], _MARKS[one.method]
        height = _certified_run(fresh, one.method)
        axis.plot([one.lower, one.upper], [height, height], color=colour, marker=mark, ms=7, lw=3, label=one.method)
        if one.printed > 0:
            axis.plot([one.printed], [height], color=colour, marker=mark, ms=9, mfc="white", mew=1.5, lw=0)
            axis.plot([one.printed, one.upper], [height, height], color=colour, lw=1, dashes=DASHES[2])
        tuned = ("equal privacy", f"{one.method} tuned")
        if tuned in fresh.index and at is not None:
            axis.plot([at], [float(fresh[tuned])], color=colour, marker=mark, ms=7, lw=0, mec="black", mew=1.5)
    axis.plot([], [], color="0.4", marker="o", ms=9, mfc="white", mew=1.5, lw=0, label="hollow: as the paper accounts")
    if at is not None:
        label = f"black rim: tuned to {at:g}, certified"
        axis.plot([], [], color="0.6", marker="o", ms=7, mec="black", mew=1.5, lw=0, label=label)
    axis.set(
        xscale="log",
        xlabel=r"central $\epsilon$ of one epoch (log scale)",
        ylabel=f"accuracy on {dataset} (%)",
        ylim=(0, 100),
    )
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _certified_run(fresh: pd.Series[float], method: str) -> float:
    """Accuracy of the run that a certificate is for: SS-Double's is for independent indices."""
    free = ("equal privacy", INDEPENDENT)
    return float(fresh[free if method == DOUBLE and free in fresh.index else ("figure 5", method)])


def describe_flame_accuracies(runs: pd.DataFrame) -> str:
    """Alt text of `flame_accuracies`."""
    table = summary(runs[runs["group"] == "figure 5"])
    said = []
    for noise, title in _TITLES.items():
        part = table[table["noise"] == noise].sort_values("mean (%)", ascending=False)
        means = ", ".join(f"{label} {mean:.1f}%" for label, mean in zip(part["label"], part["mean (%)"], strict=True))
        said.append(f"With {title}: {means}")
    return f"Test accuracy after round {runs['round'].max()}. " + "; ".join(said) + "."


def describe_flame_variations(runs: pd.DataFrame) -> str:
    """Alt text of `flame_variations`."""
    table = summary(runs[runs["group"].isin([group for group, _, _ in _SWEEPS])])
    said = []
    for varied, line in table.groupby("varied", sort=False):
        ordered = line.sort_values("value")
        first, last = ordered.iloc[0], ordered.iloc[-1]
        said.append(
            f"{varied}: {first['mean (%)']:.1f}% at {first['value']:.3g} to {last['mean (%)']:.1f}% at "
            f"{last['value']:.3g}"
        )
    return "Three panels of SS-Topk's final accuracy. " + "; ".join(said) + "."


def describe_flame_worth(runs: pd.DataFrame, worths: Sequence[Worth]) -> str:
    """Alt text of `flame_worth`."""
    table = summary(runs[runs["group"].isin(["figure 5", "equal privacy"])])
    fresh = table[table["noise"] == "fresh"].set_index(["group", "label"])["mean (%)"]
    said = [
        f"{one.method} {_certified_run(fresh, one.method):.1f}% at epsilon {one.lower:.3g} to {one.upper:.3g}, where "
        f"DP-FL has {fresh['equal privacy', f'DP-FL at {one.method}' + chr(39) + 's upper end']:.1f}%"
        for one in worths
    ]
    return "Accuracy against the central epsilon that holds. " + "; ".join(said) + "."

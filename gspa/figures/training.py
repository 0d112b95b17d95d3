"""Figure 4: test accuracies."""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.figures.style import DASHES, PALETTE


def accuracy_curves(table: pd.DataFrame, *, dataset: str) -> Figure:
    """Figure 4: test accuracy by epoch, a line a setting, a 95% band for the mean over seeds.

    Args:
        table: columns `epoch`, `accuracy` in [0, 1], `setting`, `seed`.
        dataset: named in the vertical axis' label.
    """
    settings = list(dict.fromkeys(table["setting"]))
    figure, axis = plt.subplots(figsize=(8, 4.8), layout="constrained")
    sns.lineplot(
        table.assign(percent=100 * table["accuracy"]),
        x="epoch",
        y="percent",
        hue="setting",
        style="setting",
        dashes=[DASHES[i % len(DASHES)] or "" for i in range(len(settings))],
        palette=list(PALETTE[: len(settings)]),
        errorbar=("se", 1.96) if table["seed"].nunique() > 1 else None,
        lw=1.8,
        ax=axis,
    )
    axis.set(
        xlabel="epoch",
        ylabel=f"test accuracy on {dataset} (%)",
        ylim=(0, 100),
        xlim=(0, table["epoch"].max()),
    )
    handles, names = axis.get_legend_handles_labels()
    axis.legend().remove()
    figure.legend(handles, names, loc="outside lower center", ncols=2)
    return figure


def final_accuracies(table: pd.DataFrame, *, dataset: str) -> Figure:
    """The spread of the final accuracy over seeds, a row a setting.

    Args:
        table: columns `epoch`, `accuracy` in [0, 1], `setting`, `seed`.
        dataset: named in the horizontal axis' label.
    """
    last = table[table["epoch"] == table["epoch"].max()]
    figure, axis = plt.subplots(figsize=(8, 0.6 * last["setting"].nunique() + 1.2), layout="constrained")
    sns.stripplot(
        last.assign(percent=100 * last["accuracy"]),
        x="percent",
        y="setting",
        color=PALETTE[1],
        jitter=False,  # a jitter would need a seed of its own
        alpha=0.6,
        ax=axis,
    )
    means = 100 * last.groupby("setting", sort=False)["accuracy"].mean()
    axis.plot(means.to_numpy(), np.arange(len(means)), "|", color=PALETTE[2], ms=22, mew=2.5)
    axis.set(xlabel=f"final test accuracy on {dataset} (%); the bar is the mean", ylabel="")
    return figure


def describe_accuracies(table: pd.DataFrame) -> str:
    """Alt text of `accuracy_curves` and `final_accuracies`."""
    last = table[table["epoch"] == table["epoch"].max()]
    means = (
        last.groupby("setting", sort=False)["accuracy"].agg(["mean", "min", "max"]).sort_values("mean", ascending=False)
    )
    said = [
        f"{s}, {100 * r['mean']:.1f}% (seeds {100 * r['min']:.1f} to {100 * r['max']:.1f})" for s, r in means.iterrows()
    ]
    return f"Test accuracy after epoch {table['epoch'].max()}, from best to worst: " + "; ".join(said) + "."

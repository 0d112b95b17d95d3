"""One figure style: Okabe-Ito colours with line styles, light background, text that says the units.

Functions take tidy tables and return a matplotlib figure; notebooks display it.
"""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

# Okabe and Ito's palette, black first; yellow is left out, it is too light for lines.
PALETTE = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
DASHES = ((), (5, 2), (1, 1.5), (6, 2, 1, 2), (3, 1), (8, 2), (2, 2, 6, 2))


def use_style() -> None:
    """Set the book's style for this process, and in a notebook ask for reproducible SVG."""
    sns.set_theme(context="notebook", style="whitegrid", palette=PALETTE)
    plt.rcParams.update(
        {
            "figure.facecolor": "white",  # opaque: readable on a dark page
            "savefig.facecolor": "white",
            "font.size": 11,
            "axes.titlesize": 11,
            "svg.hashsalt": "gspa",  # ids in the file do not vary from run to run
            "svg.fonttype": "path",
            "legend.frameon": False,
        }
    )
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ModuleNotFoundError:  # outside Jupyter nothing is shown inline
        return
    if "inline" in mpl.get_backend():
        set_matplotlib_formats("svg", metadata={"Date": None})


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


def error_curves(table: pd.DataFrame, *, x: str, xlabel: str, level: float = 0.95) -> Figure:
    """Figure 3: mean absolute error with a confidence band for the mean, and the closed form.

    Args:
        table: columns `x`, `mae`, `mae_error` (one standard error), `exact` and `reading`.
        x: the column on the horizontal axis.
        xlabel: its label, with unit or range.
        level: coverage of the band.
    """
    from scipy.special import ndtri

    half = float(ndtri(0.5 + level / 2))
    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for index, (reading, line) in enumerate(table.groupby("reading", sort=False)):
        colour, dashes = PALETTE[index + 1], DASHES[index]
        axis.fill_between(
            line[x],
            line["mae"] - half * line["mae_error"],
            line["mae"] + half * line["mae_error"],
            color=colour,
            alpha=0.25,
            lw=0,
        )
        axis.plot(
            line[x],
            line["mae"],
            color=colour,
            dashes=dashes or (None, None),
            lw=2,
            label=f"{reading}, simulated",
        )
        axis.plot(line[x], line["exact"], color="black", lw=1, dashes=(1, 1.5))
    axis.plot([], [], color="black", lw=1, dashes=(1, 1.5), label="closed form")
    axis.set(xlabel=xlabel, ylabel="mean absolute error of the frequency", ylim=(0, None))
    axis.legend()
    return figure


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


def delta_curves(table: pd.DataFrame) -> Figure:
    """delta against eps: the certified interval as a band and the paper's Gaussian as a dashed line.

    Args:
        table: from `gspa.accounting.delta_curve`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    axis.fill_between(table["eps"], table["lower"], table["upper"], color=PALETTE[1], lw=2.5, label="certified")
    axis.plot(table["eps"], table["paper"], color=PALETTE[0], dashes=DASHES[1], lw=2, label="paper's Gaussian")
    floor = max(1e-16, float(table.loc[table["upper"] > 0, "upper"].min()) / 10)
    axis.set(xlabel=r"central $\epsilon$", ylabel=r"central $\delta$", yscale="log", ylim=(floor, 1))
    axis.legend()
    return figure


def per_user(table: pd.DataFrame) -> Figure:
    """Each user's central eps against the local one: both ends of the interval.

    Args:
        table: from `gspa.accounting.by_user`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, end in enumerate(("upper", "lower")):
        dashes = DASHES[index] or (None, None)
        axis.plot(table["local"], table[end], color=PALETTE[index + 1], dashes=dashes, lw=2, label=f"{end} end")
    axis.set(xlabel=r"local budget $\epsilon_i$", ylabel=r"central $\epsilon$ of that user")
    axis.legend()
    return figure


def rounds_curves(table: pd.DataFrame) -> Figure:
    """Central eps against the number of rounds, a line a method.

    Args:
        table: columns `rounds`, `method`, `epsilon`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, (method, line) in enumerate(table.groupby("method", sort=False)):
        dashes = DASHES[index] or (None, None)
        axis.plot(
            line["rounds"], line["epsilon"], color=PALETTE[index], dashes=dashes, lw=2, marker="o", ms=4, label=method
        )
    axis.set(xlabel="rounds", ylabel=r"central $\epsilon$", xscale="log", yscale="log")
    axis.legend()
    return figure


def table(rows: pd.DataFrame, *, digits: int = 4) -> object:
    """A table for a page, `digits` significant ones; the same bytes every time, unlike `DataFrame.style`."""
    from IPython.display import HTML

    return HTML(rows.to_html(index=False, float_format=f"{{:.{digits}g}}".format, na_rep="", border=0, justify="left"))


# What the figures show, in words, for those who do not see them: computed from the same tables.


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


def describe_errors(table: pd.DataFrame, *, x: str) -> str:
    """Alt text of `error_curves`."""
    said = []
    for reading, line in table.groupby("reading", sort=False):
        first, last = line.iloc[0], line.iloc[-1]
        said.append(f"{reading}: {first['mae']:.4f} at {first[x]:g} to {last['mae']:.4f} at {last[x]:g}")
    return "Mean absolute error, one curve a reading of the groups. " + "; ".join(said) + "."


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


def describe_curve(table: pd.DataFrame) -> str:
    """Alt text of `delta_curves`."""
    first, last = table.iloc[0], table.iloc[-1]
    return (
        f"Delta on a logarithmic axis against epsilon. Certified: {first['upper']:.3g} at {first['eps']:g}, falling to "
        f"{last['upper']:.3g} at {last['eps']:.3g}. The paper's Gaussian: {first['paper']:.3g} and {last['paper']:.3g}."
    )


def describe_users(table: pd.DataFrame) -> str:
    """Alt text of `per_user`."""
    first, last = table.iloc[0], table.iloc[-1]
    widest = float(((table["upper"] - table["lower"]) / table["upper"]).max())
    return (
        f"Two rising lines that lie close together, at most {100 * widest:.2g} percent apart: central epsilon from "
        f"{first['upper']:.3g} for a local budget of {first['local']:.3g} to {last['upper']:.3g} for "
        f"{last['local']:.3g}."
    )


def describe_rounds(table: pd.DataFrame) -> str:
    """Alt text of `rounds_curves`."""
    last = table[table["rounds"] == table["rounds"].max()].sort_values("epsilon")
    said = ", ".join(f"{row.method} {row.epsilon:.3g}" for row in last.itertuples())
    return f"Epsilon against rounds on logarithmic axes. At {table['rounds'].max():,} rounds: {said}."

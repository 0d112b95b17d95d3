"""FLAME's privacy: published budgets beside what holds, Figures 3, 4, 9 and 10."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from gspa.figures.style import DASHES, PALETTE

_FORMS = {
    "old_bennett": ("paper's form (first version of Bennett's)", "x"),
    "bennett": ("corrected Bennett form", "^"),
    "exact": ("exact bound of one coordinate", "s"),
}
_RATIOS = {
    "simple": "SS-Simple, same budget per coordinate",
    "double": "SS-Double",
    "equal": r"SS-Simple, same $\epsilon_l$",
}
_LINES = {"SS-Simple": 1, "SS-Double": 2, "SS-Topk": 3}
_AXES = {"eps_l": r"local budget of the vector $\epsilon_l$", "d": "coordinates $d$"}


def flame_budgets(table: pd.DataFrame) -> Figure:
    """eps_c of each protocol: what the paper's theorems give, and the interval from attack to certified.

    Args:
        table: from `gspa.flame.privacy.accounts`.
    """
    figure, axis = plt.subplots(figsize=(8, 4.6), layout="constrained")
    rows = np.arange(len(table))
    axis.hlines(rows, table["attack"], table["certified"], color=PALETTE[1], lw=7, alpha=0.6)
    for end in ("attack", "certified"):
        axis.plot(table[end], rows, color=PALETTE[1], marker="|", ms=14, lw=0, mew=2)
    for index, (name, (_, marker)) in enumerate(_FORMS.items()):
        colour = PALETTE[(0, 3, 2)[index]]
        axis.plot(table[name], rows, color=colour, marker=marker, ms=7, lw=0, mew=1.8, mfc="none")
    axis.plot([], [], color=PALETTE[1], lw=7, alpha=0.6, label="from attack to certified")
    for index, (label, marker) in enumerate(_FORMS.values()):
        axis.plot([], [], color=PALETTE[(0, 3, 2)[index]], marker=marker, ms=7, lw=0, mew=1.8, mfc="none", label=label)
    axis.set_yticks(range(len(table)), [f"{row.protocol}\n{row.variant}" for row in table.itertuples()], fontsize=9)
    axis.set(xscale="log", xlabel=r"central $\epsilon_c$ at $\delta_c$ (log scale)", ylim=(len(table) - 0.5, -0.5))
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure


def flame_ratios(table: pd.DataFrame, *, certified: pd.DataFrame, eps: float) -> Figure:
    """Figure 3: eps_l/eps_c against the budget of one reported coordinate, printed (lines) and certified (bars).

    Args:
        table: from `gspa.flame.privacy.amplification_ratios`.
        certified: from `gspa.flame.privacy.certified_ratios`.
        eps: the budget per coordinate it was computed at.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    proved = certified.set_index("case")
    for index, (name, label) in enumerate(_RATIOS.items()):
        colour, dashes = PALETTE[index + 1], DASHES[index] or (None, None)
        axis.plot(table["eps"], table[name], color=colour, dashes=dashes, lw=2, label=f"{label}, printed")
        low, high = (float(proved[end].loc[name]) for end in ("ratio_low", "ratio_high"))
        place, marker = eps * (1 + 0.03 * (index - 1)), "osD"[index]
        axis.plot([place, place], [low, min(high, 1e12)], color=colour, marker=marker, ms=7, lw=3, mfc="white")
    axis.plot([], [], color="0.4", marker="o", ms=7, lw=3, mfc="white", label="what holds: least and most")
    axis.axhline(1, color="0.4", lw=1)
    axis.set(
        xlabel=r"budget of one reported coordinate, $\epsilon_{ld}$ or $\epsilon_{lk}$",
        ylabel=r"amplification $\epsilon_l/\epsilon_c$",
        yscale="log",
    )
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure


def index_privacy_curve(table: pd.DataFrame, overflow: pd.DataFrame) -> Figure:
    """Figure 4: the least nu for each l, and where n_(s,j) no longer fits into n_p.

    Args:
        table: from `gspa.flame.privacy.figure4`.
        overflow: from `gspa.flame.index_privacy.overflow_by_l`.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    finite = table[table["l"] > 1]
    left.plot(table["l"], table["first"], color=PALETTE[1], dashes=DASHES[1], lw=2, label=r"$1/(l\beta)$")
    left.plot(finite["l"], finite["second"], color=PALETTE[2], dashes=DASHES[2], lw=2, label=r"$(1-\beta)l/(l-1)$")
    left.plot(finite["l"], finite["nu"], color=PALETTE[0], lw=2, label=r"least $\nu$ (none at $l=1$)")
    left.set(xlabel="$l$ (indices reported, over $k$)", ylabel=r"index privacy $\nu$", yscale="log")
    left.legend()
    shown = overflow[overflow["any"] > 0]
    right.plot(shown["l"], shown["one"], color=PALETTE[1], dashes=DASHES[1], lw=2, label="one coordinate")
    right.plot(shown["l"], shown["any"], color=PALETTE[0], lw=2, label="some coordinate, at most")
    right.set(
        xlabel="$l$ (indices reported, over $k$)", ylabel=r"$P(n_{s,j}>n_p)$, largest spread evenly", yscale="log",
        ylim=(1e-12, 2),
    )  # fmt: skip
    right.legend(loc="lower right")
    return figure


def flame_sweeps(by_budget: pd.DataFrame, by_dimension: pd.DataFrame) -> Figure:
    """Figures 9 and 10: eps_c against eps_l and against d, printed (thin) and certified (thick).

    Args:
        by_budget: from `gspa.flame.privacy.sweep` over "eps_l".
        by_dimension: the same over "d".
    """
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True, layout="constrained")
    for axis, (name, table) in zip(axes, (("eps_l", by_budget), ("d", by_dimension)), strict=True):
        for (line, kind), part in table.groupby(["line", "kind"], sort=False):
            number = _LINES[str(line)]
            dashes = DASHES[number - 1] or (None, None)
            style = {"lw": 1, "marker": "x", "ms": 5} if kind == "printed" else {"lw": 2.5}
            axis.plot(
                part[name], part["epsilon"], color=PALETTE[number], dashes=dashes, label=f"{line}, {kind}", **style
            )
        axis.set(xlabel=_AXES[name], yscale="log", xscale="log")
        # An axis of about a decade would be labelled at each of its minor ticks, one over the other.
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
    axes[0].set_ylabel(r"central $\epsilon_c$ at $\delta_c$")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=9)
    return figure


def describe_flame_budgets(table: pd.DataFrame) -> str:
    """Alt text of `flame_budgets`."""
    said = "; ".join(
        f"{row.protocol}, {row.variant}: {row.old_bennett:.3g} by the paper's form, truth between {row.attack:.3g} and "
        f"{row.certified:.3g}"
        for row in table.itertuples()
    )
    return f"Central epsilon on a logarithmic axis, a row a protocol. {said}."


def describe_flame_ratios(table: pd.DataFrame, *, certified: pd.DataFrame) -> str:
    """Alt text of `flame_ratios`."""
    first, last = table.iloc[0], table.iloc[-1]
    lines = "; ".join(f"{name} from {first[name]:.3g} to {last[name]:.3g}" for name in _RATIOS)
    proved = "; ".join(
        f"{row.case} between {row.ratio_low:.4g} and {row.ratio_high:.4g}" for row in certified.itertuples()
    )
    return f"Printed ratios for budgets from {first['eps']:.2g} to {last['eps']:.2g}: {lines}. What holds: {proved}."


def describe_index_privacy(table: pd.DataFrame, overflow: pd.DataFrame) -> str:
    """Alt text of `index_privacy_curve`."""
    second, last = table[table["l"] == 2].iloc[0], table.iloc[-1]
    likely = overflow[overflow["one"] > 0.01]
    start = "never" if likely.empty else f"from l = {int(likely['l'].min())} on"
    return (
        f"Left: the least nu falls from {second['nu']:.3g} at l = 2 to {last['nu']:.3g} at l = {int(last['l'])}. "
        f"Right: a coordinate overflows with more than one percent probability {start}."
    )


def describe_flame_sweeps(by_budget: pd.DataFrame, by_dimension: pd.DataFrame) -> str:
    """Alt text of `flame_sweeps`."""
    said = []
    for name, table in (("eps_l", by_budget), ("d", by_dimension)):
        for (line, kind), part in table.dropna().groupby(["line", "kind"], sort=False):
            first, last = part.iloc[0], part.iloc[-1]
            said.append(
                f"{line} {kind} from {first['epsilon']:.3g} at {name} = {first[name]:g} to {last['epsilon']:.3g} at "
                f"{last[name]:g}"
            )
    return f"Two panels of central epsilon on logarithmic axes. {'; '.join(said)}."

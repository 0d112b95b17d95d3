"""Of notebook 19: its figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from gspa.accountant.bound import rounded
from gspa.book import text
from gspa.book.figures import ROLES, Frame, keeps_data, name_line, role

FLOOR = 1e-3  # where the pictures of `headline_curves` end at the bottom, all alike
# column -> name, role, marker, filled, size: shapes differ as well as colours
_MARKS = {
    "lower": ("best attack", "attack", "D", True, 6),
    "truth_low": ("truth (its lower end)", "truth", "|", True, 16),
    "certified": ("certified bound", "certified", "o", True, 7),
    "published": ("smallest proved published bound", "numerical", "^", False, 8),
    "paper": ("the paper's promise", "paper", "*", True, 12),
}
_NEAR = ("certified", "lower", "truth_low")
_FAR = ("certified", "lower", "published", "paper")
# column -> label, role, width
_LINES = {
    "closed": ("closed form that the\npaper compares with", "closed form", 2),
    "numerical": ("numerical bound by\nthe same authors", "numerical", 2),
    "paper": ("the paper's promise", "paper", 3),
    "certified": ("certified", "certified", 3),
    "attack": ("reached by an attack", "attack", 2),
}


@keeps_data
def audit_intervals(table: pd.DataFrame) -> Figure:
    """Every eps over the certified one: left the interval, right what was published and promised.

    The truth lies on the bar between the best attack and the certified bound. Rows whose certified eps is 0 are left
    out, and so is a lower bound of 0.
    """
    shown = table[table["certified"] > 0].reset_index(drop=True)
    place = np.arange(len(shown))[::-1]
    figure, (near, far) = plt.subplots(
        1, 2, figsize=(4.8, 0.44 * len(shown) + 1.5), sharey=True, width_ratios=(4, 3), layout="constrained"
    )
    share = (shown["lower"] / shown["certified"]).where(shown["lower"] > 0)
    near.hlines(place, share, 1, color=ROLES["certified"][0], lw=7, alpha=0.3)
    for axis, columns in ((near, _NEAR), (far, _FAR)):
        axis.axvline(1, color=ROLES["certified"][0], lw=1)
        _draw(axis, shown, place, columns)
        axis.grid(visible=False, axis="y")
    for row, y in zip(shown.to_dict("records"), place, strict=True):
        words = f"{row['setting']}, $\\delta$ = {text.number(row['delta'])}"
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        near.annotate(words, (0, y), (3, 9), ("axes fraction", "data"), "offset points", fontsize=9, bbox=behind)
        if row["broken"]:
            name_line(far, row["paper"] / row["certified"], y, "broken", colour=ROLES["paper"][0], right=-9)
    least = 1.0 if share.isna().all() else float(share.min())
    near.set(
        xlim=(max(least - 0.06, 0), 1.03),
        ylim=(-0.6, len(shown) - 0.2),
        yticks=[],
        xlabel=r"$\epsilon$ over certified $\epsilon$",
    )
    near.set_title("from attack to certified", loc="left")
    ends = shown[list(_FAR)].div(shown["certified"], axis=0).to_numpy(dtype=float)
    ends = ends[ends > 0]  # nothing that is unknown, either
    far.set(
        xscale="log",
        xlim=(float(ends.min()) * 0.2, float(ends.max()) * 1.6),
        xlabel="the same, logarithmic",
        title="published",
    )
    far.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    looks = [_look(column) | {"ms": min(_MARKS[column][-1], 11)} for column in _MARKS]
    handles = [Line2D([], [], **look, label=mark[0]) for look, mark in zip(looks, _MARKS.values(), strict=True)]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def _look(column: str) -> dict[str, Any]:
    """A mark's style."""
    _, role_name, marker, filled, size = _MARKS[column]
    colour = ROLES[role_name][0]
    width = 2 if marker == "|" else 1.4
    return {"marker": marker, "color": colour, "mfc": colour if filled else "white", "mew": width, "ms": size, "ls": ""}


def _draw(axis: Axes, shown: pd.DataFrame, place: np.ndarray, columns: tuple[str, ...]) -> None:
    for column in columns:
        axis.plot((shown[column] / shown["certified"]).where(shown[column] > 0), place, **_look(column))


@keeps_data
def bound_ratios(table: pd.DataFrame) -> Figure:
    """Each bound's smallest ratio to a lower bound, on a logarithmic axis; what is left of 1 is refuted."""
    figure, axis = plt.subplots(figsize=(4.8, 0.26 * len(table) + 0.9), layout="constrained")
    place = np.arange(len(table))[::-1]
    for column, some in (("published", table["proved"] == "yes"), ("paper", table["proved"] == "no")):
        axis.plot(table["least"][some], place[some], **_look(column))
    axis.axvline(1, color=ROLES["attack"][0], dashes=ROLES["attack"][1], lw=2)
    name_line(axis, 1, len(table) - 0.1, "the best lower bound", colour=ROLES["attack"][0], right=0, up=4)
    for ratio, y in zip(table["least"], place, strict=True):
        name_line(axis, ratio, y, f"{ratio:.3g}", colour="0.25", right=9)
    axis.set(
        xscale="log",
        xlim=(float(table["least"].min()) * 0.6, float(table["least"].max()) * 4),
        xlabel="smallest ratio to the best lower bound, logarithmic",
        ylim=(-0.7, len(table) - 0.3),
    )
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_yticks(place, table["bound"], fontsize=9)
    axis.grid(visible=False, axis="y")
    return figure


@keeps_data
def headline_curves(table: pd.DataFrame) -> Figure:
    """Bounds and attack against the local budget; where the paper's promise is broken the gap is shaded."""
    figure, axis = plt.subplots(figsize=(4.8, 3.4), layout="constrained")
    local = table["local"]
    gap: dict[str, Any] = {"color": ROLES["paper"][0], "alpha": 0.22, "interpolate": True}
    axis.fill_between(local, table["paper"], table["attack"], where=table["broken"], **gap)
    axis.plot(local, local, **role("reference") | {"lw": 1})
    for column, (label, stands_for, width) in _LINES.items():
        axis.plot(local, table[column], **role(stands_for) | {"lw": width}, label=label)
    axis.set(
        xlabel=r"local budget $\epsilon_0$ of each user",
        ylabel=r"central $\epsilon$ after shuffling",
        xscale="log",
        yscale="log",
        xlim=(float(local.min()), float(local.max())),
        ylim=(FLOOR, float(local.max()) * 1.3),
    )
    for each, ticks in ((axis.xaxis, (0.1, 0.2, 0.5, 1, 2, 4, 8)), (axis.yaxis, (FLOOR, 0.01, 0.1, 1, 10))):
        each.set_major_locator(FixedLocator(ticks))
        each.set_minor_locator(NullLocator())
        each.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    late = bool((table["attack"][local > 1.8] < 0.04).any())  # the lines rise where else the legend stands
    _notes(axis, table, late=late)
    look: dict[str, Any] = {"fontsize": 9, "labelspacing": 0.4, "edgecolor": "none", "framealpha": 1}
    axis.legend(loc="upper left" if late else "lower right", frameon=late, **look)
    return figure


def headline_frames(table: pd.DataFrame) -> dict[tuple[int, float], Frame]:
    """A picture at each n and delta of the table."""
    return {
        (int(part["n"].iloc[0]), float(part["delta"].iloc[0])): Frame.of(headline_curves(part), _headline_words(part))
        for _, part in table.groupby(["n", "delta"])
    }


def _headline_words(table: pd.DataFrame) -> str:
    """What the picture shows."""
    first, broken = table.iloc[0], table[table["broken"]]
    said = (
        f"Central epsilon against the local budget, both logarithmic, for {first['n']:,} users and delta "
        f"{_plain(first['delta'])}. "
    )
    if first["certified"] > 0:
        ends = rounded(first["certified"], up=True, digits=3), rounded(first["attack"], up=False, digits=3)
        said += (
            "The certified bound for any aligned randomizers and the attack run close together, from "
            f"{ends[0]} and {ends[1]} at "
            f"{first['local']:g}. There the paper's promise, without its error term, is {_plain(first['paper'], 2)}, "
            f"{first['paper'] / first['certified']:.0f} times the certified bound."
        )
    else:
        zero = table[table["certified"] == 0].iloc[-1]
        said += (
            f"The certified bound is 0 up to a local budget of {zero['local']:g}, where the paper's promise, without "
            f"its error term, is {_plain(zero['paper'], 2)}. Above that budget the bound and the attack run close "
            "together."
        )
    if broken.empty:
        return said
    worst = most_broken(table)
    return (
        f"{said} From {broken['local'].iloc[0]:g} to {broken['local'].iloc[-1]:g} the promise lies below the attack, "
        f"which makes it false without that term: at {worst['local']:g} it promises {worst['paper']:.3g} and the "
        f"attack reaches {rounded(worst['attack'], up=False, digits=3)}."
    )


def _plain(value: float, digits: int = 4) -> str:
    return text.plain(text.number(float(value), digits))


def _notes(axis: Axes, table: pd.DataFrame, *, late: bool) -> None:
    """What the picture says, at the places where it shows."""
    first, colour = table.iloc[0], ROLES["reference"][0]
    if first["certified"] > FLOOR:
        at = float(first["local"]) * 1.12
        ends = (at, first["certified"] * 1.35), (at, first["paper"] * 0.93)
        axis.annotate("", *ends, arrowprops={"arrowstyle": "<->", "color": "0.25"})
        height = (first["certified"] * first["paper"]) ** 0.5
        ratio = f"{first['paper'] / first['certified']:.0f} times\nthe certified"
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axis.text(at * 1.08, height, ratio, fontsize=9, va="center", bbox=behind)
    x = 1.5 if late else _room(table)
    turned: dict[str, Any] = {"rotation": 45, "transform_rotates_text": True, "rotation_mode": "anchor"}
    axis.text(x, x * 1.12, "no shuffling", color=colour, fontsize=9, **turned)
    if table["broken"].any():
        row = most_broken(table)
        middle, place = (row["local"], (row["paper"] * row["attack"]) ** 0.5), (0.985, 0.2 if late else 0.55)
        look: dict[str, Any] = {"color": ROLES["paper"][0], "fontsize": 9, "fontweight": "bold", "ha": "right"}
        arrow = {"arrowstyle": "->", "color": ROLES["paper"][0]}
        axis.annotate("promise\nbroken", middle, place, textcoords="axes fraction", va="top", arrowprops=arrow, **look)


def _room(table: pd.DataFrame) -> float:
    """Where on the line of no shuffling its name is farthest from the promise."""
    local, paper = table["local"].to_numpy(dtype=float), table["paper"].to_numpy(dtype=float)
    with np.errstate(divide="ignore"):
        gap = np.abs(np.log(paper / (1.25 * local)))
    along = [gap[i : i + 8].min() if 0.25 <= local[i] <= 1 else -1.0 for i in range(local.size)]  # the name's length
    return float(local[int(np.argmax(along))])


def most_broken(table: pd.DataFrame) -> pd.Series:
    """The row in which the attack exceeds the promise the most."""
    return table.iloc[int((table["attack"] / table["paper"]).fillna(0).to_numpy().argmax())]

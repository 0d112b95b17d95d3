"""Page 00: shuffling in pictures, before any theorem.

>>> two_worlds(n=1, eps0=0.0)["tails"].tolist()
[0.5, 0.5]
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from scipy import stats

import gspa
from gspa.book.figures import PALETTE, Frame, name_line
from gspa.book.say import count

PEOPLE = ("Ada", "Ben", "Cem", "Dan", "Eva", "Finn", "Gil", "Hao", "Ida", "Jon")
HEADS, TAILS, CLONE, LIE, GREY = PALETTE[2], PALETTE[1], PALETTE[0], PALETTE[4], "0.75"


def truthful(eps0: float) -> float:
    """How often randomized response tells the truth."""
    return 1 / (1 + math.exp(-eps0))


def cloned(eps0: float) -> float:
    """How often another's report is a fair coin's, whatever is held."""
    return 2 * (1 - truthful(eps0))


# --- ten coins -----------------------------------------------------------------------------------------------


def coins(*, eps0: float, toss: int, seed: int) -> pd.DataFrame:
    """Ten people's coins and reports (1: heads), and where the shuffler puts each report."""
    held = np.arange(len(PEOPLE)) % 2  # five of each
    draws = np.random.default_rng([seed, toss])
    lies = draws.random(len(PEOPLE)) >= truthful(eps0)
    place = draws.permutation(len(PEOPLE))
    return pd.DataFrame({"person": PEOPLE, "held": held, "report": held ^ lies, "place": place})


def ten_coins(table: pd.DataFrame) -> Frame:
    """What each holds, what each says, and what the collector sees."""
    figure, axis = plt.subplots(figsize=(4.8, 1.9), layout="constrained")
    columns = (table[name].tolist() for name in ("person", "held", "report", "place"))
    for i, (person, held, report, place) in enumerate(zip(*columns, strict=True)):
        edge, width = (LIE, 2.6) if held != report else ("0.3", 1.0)
        axis.text(i, 2.62, person, ha="center", fontsize=9)
        _coin(axis, i, 2.1, held)
        _coin(axis, i, 1.1, report, edge=edge, width=width)
        axis.plot([i, i], [1.84, 1.36], color=edge, lw=1)
        axis.plot([i, place], [0.84, 0.3], color="0.8", lw=1, zorder=0)
        _coin(axis, place, 0.05, report)
    for y, words in ((2.1, "holds"), (1.1, "says"), (0.05, "seen")):
        axis.text(-0.75, y, words, ha="right", va="center", fontsize=9)
    lied = count(int((table["held"] != table["report"]).sum()), "person", "people") + " lied"
    heads = int(table["report"].sum())
    axis.text(4.5, -0.62, f"{heads} heads of 10 are seen; {lied}", ha="center", fontsize=9)
    axis.set(xlim=(-1.9, 9.5), ylim=(-0.85, 2.9), aspect="equal")
    axis.axis("off")
    alt = (
        f"Ten people's coins, heads and tails in turn. Below them what each says: {lied}, ringed in "
        f"red. Below that the answers in random order, without names: {heads} heads of 10."
    )
    return Frame.of(figure, alt)


def _coin(axis: Axes, x: float, y: float, heads: int, *, edge: str = "0.3", width: float = 1.0) -> None:
    axis.scatter(x, y, s=300, color=HEADS if heads else TAILS, edgecolors=edge, linewidths=width, zorder=2)
    letter, ink = ("H", "white") if heads else ("T", "black")
    axis.text(x, y, letter, color=ink, ha="center", va="center", fontsize=9, fontweight="bold", zorder=3)


# --- what a count says of Ada --------------------------------------------------------------------------------


def two_worlds(*, n: int, eps0: float) -> pd.DataFrame:
    """The law of the number of heads that is seen if Ada holds tails, and if she holds heads; half of the others do."""
    keep, others = truthful(eps0), n - 1
    ones = others // 2
    rest = np.convolve(
        stats.binom.pmf(np.arange(ones + 1), ones, keep),
        stats.binom.pmf(np.arange(others - ones + 1), others - ones, 1 - keep),
    )
    worlds = {"tails": np.convolve(rest, [keep, 1 - keep]), "heads": np.convolve(rest, [1 - keep, keep])}
    return pd.DataFrame({"count": np.arange(n + 1), **worlds})


def guessed(table: pd.DataFrame) -> float:
    """How often the best guess of Ada's coin is right, before the toss of a fair coin between the two worlds."""
    return float(table[["tails", "heads"]].max(axis=1).sum() / 2)


def stories(table: pd.DataFrame) -> Frame:
    """Both laws as bars, and the best guess."""
    n = int(table["count"].iloc[-1])
    figure, axis = plt.subplots(figsize=(4.8, 2.5), layout="constrained")
    _bars(axis, table)
    axis.set(xlabel="number of heads that is seen", ylabel="probability")
    right = guessed(table)
    people = count(n, "person", "people")
    axis.set_title(f"{people}: the best guess is right {100 * right:.1f}% of the time", fontsize=9)
    alt = (
        f"Two laws of the number of heads among {n:,}, one if Ada holds tails and one if she holds heads. "
        f"Where they overlap the spy can only guess; the best guess is right {100 * right:.1f}% of the time."
    )
    return Frame.of(figure, alt)


def _bars(axis: Axes, table: pd.DataFrame) -> None:
    shown = table[table[["tails", "heads"]].max(axis=1) > 1e-3 * table["tails"].max()]
    for world, colour, shift in (("tails", TAILS, -0.2), ("heads", HEADS, 0.2)):
        label = f"Ada holds {world}"
        axis.bar(shown["count"] + shift, shown[world], width=0.4, color=colour, lw=0, label=label)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.margins(y=0.25)
    axis.legend(loc="upper right", ncols=2, fontsize=9)


# --- clones --------------------------------------------------------------------------------------------------


def crowd_of(*, eps0: float, n: int, seed: int) -> pd.DataFrame:
    """For each of n - 1 others whether the report was a fair coin's (a clone) or the truth."""
    draws = np.random.default_rng(seed).random(n - 1)
    return pd.DataFrame({"other": np.arange(1, n), "clone": draws < cloned(eps0)})


def hidden_by(clones: int) -> pd.DataFrame:
    """The law of the heads among Ada's answer and the clones', if she says tails and if she says heads."""
    coins_ = stats.binom.pmf(np.arange(clones + 1), clones, 0.5)
    return pd.DataFrame({"count": np.arange(clones + 2), "tails": [*coins_, 0.0], "heads": [0.0, *coins_]})


def clones(table: pd.DataFrame, *, eps0: float) -> Frame:
    """The crowd with its clones in colour, and Ada among the clones."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(4.8, 2.6), layout="constrained", width_ratios=(1, 1.25))
    side = math.ceil(math.sqrt(len(table) + 1))
    places = np.arange(len(table) + 1)
    colours = ["#000000", *np.where(table["clone"], CLONE, GREY)]
    left.scatter(places % side, -(places // side), s=90, color=colours)
    left.annotate("Ada", (0, 0), (0, 11), textcoords="offset points", ha="center", fontsize=9)
    left.set(xlim=(-0.8, side - 0.2), ylim=(0.2 - side, 1.0), aspect="equal")
    left.axis("off")
    many = int(table["clone"].sum())
    left.set_title(
        f"{many} clones among\n{len(table)} others ({cloned(eps0) * len(table):.0f} expected)", fontsize=9, pad=10
    )
    _bars(right, hidden_by(many))
    right.margins(y=0.6)
    right.set(ylabel="probability")
    right.set_xlabel("heads among Ada and her clones", fontsize=9)
    handles, _ = right.get_legend_handles_labels()
    right.legend(handles, ["Ada says tails", "Ada says heads"], loc="upper right", fontsize=9)
    alt = (
        f"{len(table)} dots, of which {many} are coloured: clones, whose answer was a fair coin. Beside them the "
        "number of heads among Ada and the clones, if she says tails and if she says heads: one bell, moved by one."
    )
    return Frame.of(figure, alt)


# --- a narrow peak over a flat crowd -------------------------------------------------------------------------

WINDOW = (-4.0, 5.0)
NEAR = (-0.5, 1.5)  # where a report of budget 2 mostly falls


def near_ada(*, crowd: float, n: int) -> float:
    """How many of n - 1 others' reports fall near hers in the mean; they hold 0 or 1 in equal parts."""
    laws = [stats.laplace(held, 1 / crowd) for held in (0, 1)]
    return float((n - 1) * np.mean([law.cdf(NEAR[1]) - law.cdf(NEAR[0]) for law in laws]))


def near(budgets: Sequence[float], *, n: int) -> pd.DataFrame:
    """`near_ada` for each budget of the crowd."""
    return pd.DataFrame({"crowd": budgets, "near": [near_ada(crowd=crowd, n=n) for crowd in budgets]})


def flat_crowd(*, own: float, crowd: float, n: int, seed: int) -> Frame:
    """Ada's two densities above the reports of a crowd."""
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(4.8, 2.9), sharex=True, layout="constrained", height_ratios=(1.5, 1)
    )
    y = np.linspace(*WINDOW, 721)
    for held, colour in ((0, TAILS), (1, HEADS)):
        above.fill_between(y, stats.laplace.pdf(y, held, 1 / own), color=colour, alpha=0.55, lw=0)
        name_line(above, held, own / 2, f"Ada holds {held}", colour="0.2", right=-4 if held == 0 else 4, up=-8)
    above.set(ylabel="where Ada's\nreport falls", yticks=[], ylim=(0, own / 2 * 1.12))
    draws = np.random.default_rng(seed)
    reports = draws.integers(0, 2, n - 1) + draws.laplace(size=n - 1) / crowd
    inside = reports[(reports > WINDOW[0]) & (reports < WINDOW[1])]
    below.scatter(inside, draws.random(len(inside)), s=9, color="0.35", lw=0)
    below.axvspan(*NEAR, color="0.9", lw=0, zorder=0)
    below.set(ylabel="the crowd's\nreports", yticks=[], xlabel="report", ylim=(-0.1, 1.1), xlim=WINDOW)
    near = int(((reports > NEAR[0]) & (reports < NEAR[1])).sum())
    far = n - 1 - len(inside)
    below.set_title(f"{near} of {n - 1} fall near Ada's; {far} lie outside of the picture", fontsize=9)
    alt = (
        f"Above, two narrow peaks: where Ada's report falls if she holds 0 and if she holds 1. Below, the reports "
        f"of {n - 1} others with budget {crowd:g}: {near} fall under the peaks, and {far} lie outside of the "
        "picture."
    )
    return Frame.of(figure, alt)


def cover(*, own: float, crowd: Sequence[float], n: int, delta: float) -> pd.DataFrame:
    """Ada's certified central eps (upper ends) among n - 1 others of each budget: all toss coins, or all add noise."""
    rows = []
    for eps in crowd:
        coin = gspa.epsilon(budgets=[own] + [eps] * (n - 1), delta=delta, mechanism="aligned")
        noisy = gspa.Laplace(scale=[1 / own] + [1 / eps] * (n - 1))
        rows.append((own, eps, coin.upper, gspa.epsilon(mechanism=noisy, delta=delta).upper))
    return pd.DataFrame(rows, columns=["own", "crowd", "coins", "noise"])


def cover_curves(table: pd.DataFrame, *, limits: tuple[float, float]) -> Frame:
    """Both against the crowd's budget, logarithmic."""
    figure, axis = plt.subplots(figsize=(4.8, 2.8), layout="constrained")
    own, first, last = float(table["own"].iloc[0]), table.iloc[0], table.iloc[-1]
    least = table.sort_values("noise").iloc[0]
    for key, words, colour in (("noise", "numbers with noise", PALETTE[0]), ("coins", "coins", PALETTE[1])):
        axis.plot(table["crowd"], table[key], color=colour, lw=2.5, marker="o", ms=4, label=words)
        name_line(axis, first["crowd"], first[key], words, colour="0.15", right=8, up=9 if key == "noise" else -12)
    axis.set(xscale="log", yscale="log", xlabel="budget of everybody else", xlim=(0.008, 5), ylim=limits)
    axis.set_ylabel(r"Ada's central $\epsilon$")
    for each in (axis.xaxis, axis.yaxis):
        each.set_minor_formatter(NullFormatter())
        each.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_title(f"Ada's own budget: {own:g}")
    alt = (
        f"Ada's central epsilon against the others' budget, both logarithmic; her own budget is {own:g}. Coins: from "
        f"{first['coins']:.2g} among others at {first['crowd']:g} to {last['coins']:.2g} at {last['crowd']:g}. "
        f"Numbers with noise: from {first['noise']:.2g} at {first['crowd']:g} to {last['noise']:.2g} at "
        f"{last['crowd']:g}, with {least['noise']:.2g} as the least, at {least['crowd']:.4g}."
    )
    return Frame.of(figure, alt)

"""Of notebook 19: its figures, attacks on histograms, the truth for few users, lower bounds from samples alone.

A sampled attack simulates both worlds, chooses a test on one half and counts its errors on the other. An
(eps, delta)-DP mechanism has P0(S) <= e^eps P1(S) + delta for every event S, so a test that fires in world 0 with
probability p and in world 1 with probability q refutes every eps < log((p - delta)/q). The test is chosen on other
samples, so the bounds need no correction for the choice. A gap of eps needs about 1/eps^2 hits.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, pairwise, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta

from gspa.accountant.attacks import Laws, Worlds
from gspa.accountant.bound import Bound, rounded
from gspa.accountant.budgets import Budgets
from gspa.book import text
from gspa.book.figures import ROLES, Frame, keeps_data, name_line, role

_SHARES = np.r_[np.geomspace(1e-4, 0.4, 24), 0.5, 0.65, 0.8, 0.95]  # of world 0 that a tried test accepts
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


# --- two worlds as histograms of k answers, enumerated or told by a statistic --------------------------------
# Shuffling forgets the order, so the server sees how many reports fell on each answer. The others' inputs are fixed
# and known, their reports independent: the histogram is a sum of multinomials plus the victim's one report.
# Reports on a line are first cut into cells, which is post-processing. Whatever tells the two worlds apart
# bounds delta(eps) from below, and for the histogram's whole law the likelihood ratio test is the best attack:
#
#     delta(eps) >= sum_h (P0(h) - e^eps P1(h))_+ .

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
MOST_WORK = 10**8  # multiplications up to which a histogram's law is enumerated


def randomized_response(people: Budgets, *, k: int = 2, inputs: ArrayLike | None = None) -> Worlds:
    """k-ary randomized response; the victim, of the largest eps, holds item 0 or item 1.

    `inputs`, shape (g, k), says how many of the others of each group hold each item; None for all of them at item 0.
    """
    number = people.count - (np.arange(people.eps.size) == int(np.argmax(people.eps)))
    held = np.c_[number, np.zeros((number.size, k - 1))] if inputs is None else np.asarray(inputs)
    assert (held.sum(axis=1) == number).all()

    def row(eps: float, item: int) -> Array:
        shrunk = math.exp(-eps)
        return np.where(np.arange(k) == item, 1.0, shrunk) / (1 + (k - 1) * shrunk)

    rows = {
        (float(eps), int(i)): int(of[i]) for eps, of in zip(people.eps, held, strict=True) for i in np.flatnonzero(of)
    }
    victim, laws = (np.array([row(*one) for one in many]) for many in ([(people.eps_max, i) for i in (0, 1)], rows))
    return Worlds(victim, laws, np.array(list(rows.values()), dtype=np.int64), f"{k}-ary randomized response")


def merged(worlds: Worlds, *, cells: int) -> Worlds:
    """The same with neighbouring answers merged, about equally likely for the victim: post-processing."""
    mass = worlds.victim.mean(axis=0)
    if cells >= mass.size:
        return worlds
    middle = np.cumsum(mass) - 0.5 * mass  # so that a heavy answer stays alone
    group = np.minimum((middle * cells).astype(np.int64), cells - 1)
    starts = np.flatnonzero(np.r_[True, np.diff(group) > 0])
    victim, laws = (np.add.reduceat(laws, starts, axis=1) for laws in (worlds.victim, worlds.laws))
    return replace(worlds, victim=victim, laws=laws, what=f"{worlds.what}, merged into {starts.size}")


def scores(worlds: Worlds) -> list[tuple[str, Whole]]:
    """Integer statistics to try, by name: what a report in each cell adds to the sum."""
    found, k = [("linear", worlds.linear)], worlds.victim.shape[1]
    if k == 2:  # the number of ones is all there is
        return found
    own = np.eye(k, dtype=np.int64)
    found += [(f"count of answer {i}", own[i]) for i in range(k)]
    found += [(f"count of answers up to {i}", own[: i + 1].sum(axis=0)) for i in range(1, k - 2)]
    return [(name, score) for name, score in found if np.ptp(score)]


def statistic_epsilon(worlds: Worlds, *, delta: float) -> Bound:
    """The eps that the best of the `scores` certainly refutes; their laws are exact. Errs downward."""
    found = {name: worlds.summed(score).epsilon(delta) for name, score in scores(worlds)}
    best = max(found, key=lambda name: found[name])
    said = f"attack, exact law of a statistic ({best})", worlds.what
    return Bound(found[best], found[best], math.inf, *said, delta=delta, reached=True)


def work(worlds: Worlds) -> float:
    """Multiplications that enumerating the histogram takes."""
    n, k = worlds.n, worlds.victim.shape[1]
    return float(float(n) * k * float(n + 1) ** min(k - 1, 30))


def enumerate_laws(worlds: Worlds) -> Laws:
    """The histogram's two laws, every histogram an entry; sums of positive terms only."""
    k = worlds.victim.shape[1]

    def add(crowd: Array, law: Array) -> Array:
        """One more report; the last answer is what the others leave."""
        out = np.asarray(law[-1] * crowd)
        for axis, mass in enumerate(law[:-1]):
            np.moveaxis(out, axis, 0)[1:] += mass * np.moveaxis(crowd, axis, 0)[:-1]
        return out

    crowd = np.zeros((worlds.n + 1,) * (k - 1))
    crowd.flat[0] = 1.0
    for law, number in zip(worlds.laws, worlds.count, strict=True):
        for _ in range(int(number)):
            crowd = add(crowd, law)
    both = [add(crowd, law).ravel() for law in worlds.victim]
    # A mass is a sum of products of n factors: each factor and each of k additions a step rounds once.
    return Laws(both[0], both[1], worlds.n * (k + 4) * 2.0**-52)


def likelihood_ratio_epsilon(worlds: Worlds, *, delta: float) -> Bound:
    """eps of the best attack on these worlds, all histograms enumerated: both ends, at the given inputs."""
    laws = enumerate_laws(worlds)
    low, high = laws.epsilon(delta), laws.epsilon(delta, side=1)
    said = "attack, likelihood ratio of the histogram", worlds.what
    return Bound(low, low, high, *said, delta=delta, reached=True)


def sample(worlds: Worlds, world: int, size: int, rng: np.random.Generator) -> Whole:
    """`size` histograms of world 0 or 1, shape (size, k)."""
    laws = [law / law.sum() for law in (worlds.victim[world], *worlds.laws)]  # rounding may leave a sum above 1
    drawn = [rng.multinomial(int(n), law, size=size) for law, n in zip(laws, (1, *worlds.count), strict=True)]
    return np.asarray(np.sum(drawn, axis=0), dtype=np.int64)


def worst_epsilon(people: Budgets, *, delta: float, k: int) -> Bound:
    """The truth for few users of one budget and k-ary randomized response: every input of the others tried.

    The victim holds item 0 or 1, which is all there is by symmetry.
    """
    others, laws = people.n - 1, []
    for bars in combinations(range(others + k - 1), k - 1):
        held = [b - a - 1 for a, b in pairwise((-1, *bars, others + k - 1))]
        laws.append(enumerate_laws(randomized_response(people, k=k, inputs=[held])))
    high = min(max(law.epsilon(delta, side=1) for law in laws), people.eps_max)
    low = min(max(law.epsilon(delta) for law in laws), high)
    said = "law of the histogram, worst of all inputs", f"{k}-ary randomized response, any inputs"
    return Bound(low, low, high, *said, delta=delta, reached=True)


class Chosen(NamedTuple):
    """Fires where sign * (histogram @ score) >= threshold; `first` is the world that it should fire in."""

    name: str
    score: Whole
    sign: int
    threshold: int
    first: int

    def hits(self, drawn: Whole) -> int:
        """How many of the histograms it fires on."""
        return int((self.sign * (drawn @ self.score) >= self.threshold).sum())


def certified_gap(hits: ArrayLike, alarms: ArrayLike, *, runs: int, delta: float, confidence: float) -> Any:
    """Lower confidence bound on log((p - delta)/q), and so on eps, from binomial counts; at least 0.

    Clopper and Pearson 1934, one side for p and one for q, each with error (1 - confidence)/2.
    """
    some, k, m = (1 - confidence) / 2, np.asarray(hits, dtype=np.float64), np.asarray(alarms, dtype=np.float64)
    low = np.where(k > 0, beta.ppf(some, np.maximum(k, 1), runs - k + 1), 0.0)
    high = np.where(m < runs, beta.isf(some, m + 1, np.maximum(runs - m, 1)), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.maximum(np.where(low > delta, np.log((low - delta) / high), 0.0), 0.0)


def _choose(worlds: Worlds, drawn: list[Whole], *, delta: float, confidence: float) -> Chosen:
    """The test whose `certified_gap` would be largest on these samples, of all scores, thresholds and directions."""
    runs, best, chosen = len(drawn[0]), -math.inf, None
    for name, score in scores(worlds):
        sums = [np.sort(histograms @ score) for histograms in drawn]
        for first, sign in product((0, 1), (1, -1)):
            ordered, other = ((s if sign > 0 else -s[::-1]) for s in (sums[first], sums[1 - first]))
            cuts = np.unique(ordered[np.maximum(runs - 1 - (_SHARES * runs).astype(np.intp), 0)])
            hits, alarms = (runs - np.searchsorted(s, cuts, side="left") for s in (ordered, other))
            gaps = certified_gap(hits, alarms, runs=runs, delta=delta, confidence=confidence)
            i = int(np.argmax(gaps))
            if gaps[i] > best:
                best, chosen = float(gaps[i]), Chosen(name, score, sign, int(cuts[i]), first)
    assert chosen is not None
    return chosen


def sampled_epsilon(
    worlds: Worlds,
    *,
    delta: float,
    samples: int = 100_000,
    confidence: float = 0.95,
    rng: np.random.Generator | int,
) -> Bound:
    """An eps that simulated runs refute: `lower` exceeds the mechanism's own with probability 1 - confidence at most.

    Half of the samples of each world choose the test, the other half count its errors.
    """
    half, generator = samples // 2, np.random.default_rng(rng)
    drawn = [sample(worlds, world, half, generator) for world in (0, 1)]
    test = _choose(worlds, drawn, delta=delta, confidence=confidence)
    hits = test.hits(sample(worlds, test.first, half, generator))
    alarms = test.hits(sample(worlds, 1 - test.first, half, generator))
    lower = float(certified_gap(hits, alarms, runs=half, delta=delta, confidence=confidence))
    note = f"confidence {confidence:g}; {test.name}: {hits:,} hits and {alarms:,} false alarms in {half:,} runs each"
    said = "sampled attack", worlds.what
    return Bound(lower, lower, math.inf, *said, delta=delta, n=worlds.n, note=note, reached=True)


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

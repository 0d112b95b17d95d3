"""Beside page 13: the blog's formulas and what is certified beside them; the worst inputs of a small crowd; figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from gspa.accountant import budgets, exact
from gspa.accountant.one_round import central_delta, central_epsilon
from gspa.accountant.randomizers import Common
from gspa.algorithms import shuffles as s
from gspa.book.figures import DASHES, PALETTE, ROLES, keeps_data, name_ends, name_line, role

LINES = {
    "blog": ("paper", "eq. (1)"),
    "source": ("closed form", "its source, Theorem 3.1"),
    "any": ("certified", "certified for any common randomizer"),
    "bits": ("truth", "exact for randomized response"),
}
"""Columns of the page's table of formulas: what they are, by the roles of figures, and what they are called."""


def formulas(x: float, n: int, *, delta: float) -> dict[str, float]:
    """The right-hand sides at eps_L = x, whatever n: none is a guarantee by itself."""
    A = math.log(4) - math.log(delta)
    root, t = math.sqrt(math.exp(x) * A / n), math.tanh(x / 2)  # t is (e^x - 1)/(e^x + 1)
    return {
        "blog": math.log1p(16 * t * root),  # eq. (1)
        "source": math.log1p(t * (8 * root + 8 * math.exp(x) / n)),  # Theorem 3.1 of its source
        "large": math.log1p(8 * root),  # eq. (2)
        "linear": 8 * root,  # eq. (3)
        "small": 8 * x * math.sqrt(A / n),  # the expansion for small eps_L
    }


def least_users(x: float, *, delta: float) -> int:
    """The least n of Theorem 3.1's condition, n >= 16 e^x log(2/delta)."""
    return math.ceil(16 * math.exp(x) * (math.log(2) - math.log(delta)))


def regime(x: float, n: int, *, delta: float) -> dict[str, float]:
    """The formulas beside what is certified for any common randomizer, and the exact eps of randomized response."""
    people, row = budgets.constant(x, n=n), {"eps_local": x, "n": n, **formulas(x, n, delta=delta)}
    row |= {"valid": n >= least_users(x, delta=delta), "bits": exact.exact_epsilon(people, delta=delta).lower}
    row["any"] = central_epsilon(people, delta=delta, mechanism=Common()).upper
    return row | {"loose": row["blog"] / row["any"] if row["any"] > 0 else math.nan}


def fails(x: float, n: int, *, delta: float) -> bool:
    """Whether eq. (1) is false for n users with randomized response."""
    right, people = formulas(x, n, delta=delta)["blog"], budgets.constant(x, n=n)
    if right >= x or central_delta(people, eps=right).upper <= delta:  # eps_L itself needs no shuffling
        return False  # and the pair that bounds randomized response meets eq. (1)
    return exact.exact_delta(people, eps=right).lower > delta


def first_failure(x: float, *, delta: float) -> int:
    """From Theorem 3.1's n downwards in steps of five percent; 0 if eq. (1) holds at each."""
    start = least_users(x, delta=delta)
    steps = range(math.floor(math.log(start) / math.log(1.05)) + 1)
    tried = (math.floor(start / 1.05**i) for i in steps)
    return next((n for n in tried if fails(x, n, delta=delta)), 0)


def worst(randomizers: Sequence[s.Rows], ratio: Fraction) -> Fraction:
    """delta(log ratio) of the last user, the largest over the inputs of the others and the victim's two inputs."""
    every = product(*(range(len(rows)) for rows in randomizers[:-1]))
    # Who of the users with one randomizer holds what does not matter.
    different = {frozenset(Counter(zip(randomizers, others, strict=False)).items()): others for others in every}
    return max(
        s.delta_at(s.two_laws(randomizers, others=others, inputs=pair, attached="user"), ratio)
        for others in different.values()
        for pair in combinations(range(len(randomizers[-1])), 2)
    )


@keeps_data
def clone_formulas(table: pd.DataFrame, *, limit: float) -> Figure:
    """Central eps against eps_L for one n; grey from `limit`, where Theorem 3.1's condition ends."""
    figure, axis = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
    axis.plot(table["eps_local"], table["eps_local"], **role("reference"), label="without shuffling")
    for key, (kind, label) in LINES.items():
        seen = table[table[key] > 0]
        width = 5 if kind == "certified" else 2  # the truth lies upon it in places
        axis.plot(seen["eps_local"], seen[key], **{**role(kind), "lw": width}, label=label)
    if limit < float(table["eps_local"].max()):
        axis.axvspan(max(limit, 1e-9), float(table["eps_local"].max()), color="0.93", zorder=0)
    axis.set(xlabel=r"local budget $\epsilon_L$, logarithmic", ylabel=r"central $\epsilon$, logarithmic")
    axis.set(xscale="log", yscale="log", xlim=(table["eps_local"].min(), table["eps_local"].max()))
    figure.legend(loc="outside lower center", ncols=2)
    return figure


@keeps_data
def clone_looseness(table: pd.DataFrame) -> Figure:
    """Eq. (1) over the certified eps against n, a line a budget.

    Hollow where Theorem 3.1's condition fails; crossed out where eq. (1) is below the exact eps of randomized response.
    """
    figure, axis = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
    axis.axhline(1, **role("reference"))
    shown = table.dropna(subset="loose")
    ends = []
    for index, (local, line) in enumerate(shown.groupby("eps_local"), 1):
        colour, dashes = PALETTE[index % len(PALETTE)], DASHES[index % len(DASHES)] or (None, None)
        axis.plot(line["n"], line["loose"], color=colour, dashes=dashes, lw=2)
        for valid, part in line.groupby("valid"):
            axis.scatter(part["n"], part["loose"], s=32, zorder=3, edgecolor=colour, color=colour if valid else "white")
        ends.append((line["n"].iloc[-1], line["loose"].iloc[-1], rf"$\epsilon_L$ = {local:g}", colour))
    wrong = table[table["blog"] < table["bits"]]
    if len(wrong):
        axis.scatter(wrong["n"], wrong["loose"], s=90, marker="x", lw=2, color=ROLES["truth"][0], zorder=4)
    axis.set(xlabel="number of users $n$, logarithmic", ylabel=r"eq. (1) over the certified $\epsilon$, logarithmic")
    axis.set(xscale="log", yscale="log")
    axis.yaxis.set_major_locator(FixedLocator([0.5, 1, 2, 5, 10, 20]))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    # Lines may end before the last n: all names stand right of the figure, in the order of the last values.
    right = float(shown["n"].max())
    name_ends(axis, [(right, y, words, colour) for _, y, words, colour in ends], gap=14)
    name_line(axis, right, 1, "1: as certified", colour=ROLES["reference"][0], right=-4, up=-8)
    return figure


@keeps_data
def expansion_curves(table: pd.DataFrame) -> Figure:
    """Both expansions over eq. (1) against eps_L."""
    figure, axis = plt.subplots(figsize=(4.8, 3.2), layout="constrained")
    axis.axhline(1, **role("paper"))
    axis.axhline(0.5, **role("closed form"))
    left, right = float(table["eps_local"].min()), float(table["eps_local"].max())
    name_line(axis, left, 1, "eq. (1)", colour=ROLES["paper"][0], up=-8)
    name_line(axis, left, 0.5, "half of it", colour=ROLES["closed form"][0], up=-8)
    shown = {"small": (-1, "for small $\\epsilon_L$"), "large": (0, "eq. (2)")}  # at its last or first point
    for index, (key, (end, words)) in enumerate(shown.items(), 1):
        seen = table[table[key].between(0.3, 2.4)]
        colour, at = PALETTE[2 * index - 1], seen.iloc[end]
        axis.plot(seen["eps_local"], seen[key], color=colour, dashes=DASHES[index], lw=2)
        name_line(axis, at["eps_local"], at[key], words, colour=colour, right=6)
    axis.set(xscale="log", xlabel=r"local budget $\epsilon_L$, logarithmic", ylabel="expansion over eq. (1)")
    axis.set(xlim=(left, right), ylim=(0, 2.5))
    return figure

"""Of notebook 20: the attack on shuffled batches, Renyi divergences of shuffled reports, and the figure."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from gspa.accountant.allocation import Dealt
from gspa.book.figures import DASHES, PALETTE, keeps_data, name_line, role

Array = NDArray[np.float64]

LINES = {
    "told": ("shuffled batches, certified", role("certified")),
    "shuffled": ("shuffled batches, attacked", role("attack")),
    "poisson": ("Poisson sampling", role("reference")),
    "dealt": ("random allocation", {"color": PALETTE[5], "dashes": DASHES[3], "lw": 2}),
}
"""Columns of the table over eps: names and styles."""


def attack_on_shuffled(eps: float, *, sigma: float, steps: int) -> float:
    """delta of shuffled batches of one size at least: a record against none, all other contributions opposed to it."""
    shift = 1 / sigma
    pairs = (Dealt(2 * shift, shift, steps), Dealt(shift, 2 * shift, steps))
    cuts = [2 * shift + beyond for beyond in range(1, 9)]  # each gives a bound
    return max(pair.bracket(eps, cut).lower for pair in pairs for cut in cuts)


def shuffled_renyi(*, sigma: float, n: int, most: int) -> Array:
    """The abstract's Renyi divergences of orders 2 to `most`: sums over k_1 + ... + k_n, as a power of one series."""
    k = np.arange(most + 1)
    base = k * (k - 1) / (2 * sigma**2) - gammaln(k + 1) - k * math.log(n)
    power = np.where(k == 0, 0.0, -np.inf)
    while n:
        power = _times(power, base) if n & 1 else power
        base, n = _times(base, base), n >> 1
    found: Array = (power + gammaln(k + 1))[2:] / (k[2:] - 1)
    return found


def _times(one: Array, other: Array) -> Array:
    """The product of two power series, coefficients by their logarithms."""
    return np.array([logsumexp(one[: i + 1] + other[i::-1]) for i in range(one.size)])


@keeps_data
def delta_curves(table: pd.DataFrame) -> Figure:
    """One epoch's delta against eps, a line a sampler."""
    figure, axis = plt.subplots(figsize=(4.8, 3.4), layout="constrained")
    for key, (label, style) in LINES.items():
        axis.plot(table["epsilon"], table[key], marker="o", ms=4, label=label, **style)
    middle, late, last = table.iloc[len(table) // 2], table.iloc[(len(table) - 1) * 5 // 6], table.iloc[-1]
    axis.set_xlim(right=1.12 * last["epsilon"])
    for key, at, right, up in (
        ("told", middle, 4, 9),
        ("shuffled", last, -1, -12),
        ("poisson", late, 4, 9),
        ("dealt", late, -8, -7),
    ):
        name, style = LINES[key]
        name_line(axis, at["epsilon"], at[key], name, colour=style["color"], right=right, up=up)
    axis.set(xlabel=r"$\epsilon$", ylabel=r"$\delta$ (logarithmic)", yscale="log")
    return figure

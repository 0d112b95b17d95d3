"""Of notebook 06: sums over the lattice of many users' counts, Lemma 3's quadrature, and the figure.

Each of m users adds (1, 0) or (0, 1) with probability p_i/2 each. N = xi_0 + xi_1 is a sum of Bernoulli(p_i), xi_0
given N is Bin(N, 1/2), and N and D = xi_0 - xi_1 are uncorrelated, Var N = sum p_i (1 - p_i) and Var D = sum p_i, so
that the normal law is a product in these coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from scipy.stats import norm

from gspa.accountant.binomial import fair_pmf
from gspa.accountant.clones import clone_law
from gspa.book.figures import keeps_data, name_line, role

DEPTH = 30.0  # e^-30: mass left out on each side
NODES, WEIGHTS = (v / 2 for v in np.polynomial.legendre.leggauss(12))  # of [-1/2, 1/2]
KINDS = {
    "total_variation": ("total variation, unit cells", "truth"),
    "printed": ("eq. (14) as printed", "paper"),
    "difference": (r"total variation of $\xi_0 - \xi_1$ alone", "closed form"),
}


class Distances(NamedTuple):
    """Of the law of (xi_0, xi_1) from normal laws with its mean and covariance.

    Attributes:
        total_variation: from the discretized one, unit cells around the points; absolute error below 1e-9.
        printed: eq. (14) as printed, a supremum over points with cells of side 1/2 beside them.
        printed_mass: what the h of eq. (14) sums to.
        largest_point: the same supremum with unit cells around the points.
        difference: total variation for D alone, unit cells.
    """

    total_variation: float
    printed: float
    printed_mass: float
    largest_point: float
    difference: float


class Block(NamedTuple):
    """The points N = c, D = d >= 0 where both are even, or both odd: P(c, d), and how many each d stands for."""

    c: NDArray[np.float64]
    d: NDArray[np.float64]
    law: NDArray[np.float64]
    weight: NDArray[np.float64]
    mean: float
    variance: float

    def cells(self, low: float, high: float) -> NDArray[np.float64]:
        """Normal mass of [xi_0 + low, xi_0 + high] x [xi_1 + low, xi_1 + high] around each point."""
        nodes, weights = low + (high - low) * (NODES + 0.5), (high - low) * WEIGHTS
        a, b = (v.ravel() for v in np.meshgrid(nodes, nodes))
        weight = 2 * np.outer(weights, weights).ravel()  # 2: the area of a unit cell in (c, d)
        along = norm.pdf(self.c[:, None] + (a + b), self.mean, math.sqrt(self.variance))
        across = norm.pdf(self.d[:, None] + (a - b), 0, math.sqrt(self.mean))
        return np.asarray((along * weight) @ across.T)


def distances(p: ArrayLike, *, count: ArrayLike = 1) -> Distances:
    """By summation over the lattice, for `count` users of each p."""
    total = printed = mass = largest = 0.0
    by_d: dict[float, float] = {}
    for block in _blocks(p, count):
        near, beside = block.cells(-0.5, 0.5), block.cells(0.0, 0.5)
        gap = block.law - near
        total += float((np.maximum(gap, 0.0) * block.weight).sum())
        largest = max(largest, float(np.abs(gap).max()))
        printed = max(printed, float(np.abs(block.law - beside).max()))
        mass += float((beside * block.weight).sum())
        by_d |= dict(zip(block.d, block.law.sum(axis=0) * block.weight, strict=True))
    d, sd = np.array([*by_d]), math.sqrt(block.mean)
    cell = np.where(d == 0, 1, 2) * (ndtr((0.5 - d) / sd) - ndtr((-0.5 - d) / sd))
    apart = float(np.maximum(np.array([*by_d.values()]) - cell, 0.0).sum())
    return Distances(total, printed, mass, largest, apart)


def seen(p: ArrayLike, *, count: ArrayLike = 1, side: float) -> float:
    """The largest difference of probabilities over unions of squares of that side around points, the normal law itself.

    >>> [round(seen(0.75, count=100, side=side), 3) for side in (1, 1 / 8, 1 / 64)]
    [0.017, 0.984, 1.0]
    """
    gaps = (((block.law - block.cells(-side / 2, side / 2)), block.weight) for block in _blocks(p, count))
    return sum(float((np.maximum(gap, 0.0) * weight).sum()) for gap, weight in gaps)


def _blocks(p: ArrayLike, count: ArrayLike) -> Iterator[Block]:
    p = np.atleast_1d(np.asarray(p, dtype=np.float64))
    count = np.broadcast_to(np.asarray(count, dtype=np.float64), p.shape)
    law = clone_law(p, 1 - p, count, depth=DEPTH)
    counts, mean, variance = law.edges[:-1], float(count @ p), float(count @ (p * (1 - p)))
    reach = DEPTH / 3 + math.sqrt(DEPTH**2 / 9 + 2 * DEPTH * mean)  # Bernstein's inequality for D
    columns = np.arange(min(math.ceil(reach), int(counts[-1])) + 1, dtype=np.float64)
    for parity in (0, 1):
        rows, d = counts[counts % 2 == parity], columns[parity::2]
        inside = d <= rows[:, None]
        c, apart = (v[inside] for v in np.broadcast_arrays(rows[:, None], d))
        point = np.zeros(inside.shape)
        point[inside] = fair_pmf((c - apart) / 2, c)
        point *= law.mass[counts % 2 == parity][:, None]
        yield Block(rows, d, point, np.where(d == 0, 1.0, 2.0), mean, variance)


def normal_delta(sigma: NDArray[np.float64], *, eps: float, points: int = 1201) -> float:
    """H(N(mu_0, Sigma), N(mu_1, Sigma)) at eps for mu_0 - mu_1 = (1, -1), by the midpoint rule; error below 1e-5.

    The integral runs over the principal axes whose variance is not 0.
    """
    variance, axes = np.linalg.eigh(sigma)
    kept = variance > 1e-9 * variance.max()
    shift = (np.array([1.0, -1.0]) @ axes)[kept] / np.sqrt(variance[kept])
    z = (np.arange(points) + 0.5) * (20 / points) - 10
    grids = np.meshgrid(*[z] * int(kept.sum()), indexing="ij")
    # Densities in units of the principal deviations, mu_1 at 0.
    first = sum((g - s) ** 2 for g, s in zip(grids, shift, strict=True))
    second = sum(g * g for g in grids)
    cell = (20 / points) ** len(grids) / (2 * math.pi) ** (len(grids) / 2)
    return float(np.maximum(np.exp(-0.5 * first) - math.exp(eps) * np.exp(-0.5 * second), 0).sum() * cell)


@keeps_data
def distance_curves(table: pd.DataFrame, *, delta: float) -> Figure:
    """The distances of one budget against the number of users, `delta` as a horizontal line."""
    figure, axis = plt.subplots(figsize=(4.8, 3.2), layout="constrained")
    for (key, (label, kind)), marker in zip(KINDS.items(), "osv", strict=True):
        axis.plot(table["m"], table[key], **role(kind), marker=marker, ms=5, label=label)
    axis.axhline(delta, **role("reference") | {"lw": 1.5})
    colour = role("reference")["color"]
    name_line(axis, table["m"].iloc[0], delta, rf"$\delta$ = {delta:g}", colour=colour, up=7)
    axis.set(xlabel="number of users $m$", ylabel="distance from the normal law", xscale="log", yscale="log")
    figure.legend(loc="outside lower center", ncols=2)
    return figure

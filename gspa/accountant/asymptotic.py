"""The asymptotic truth for shuffled Laplace or Gaussian reports on [0, 1], clones or not: an estimate.

With the reports cut into cells, g_j the law of user j's report at a fixed input and v = f0 - f1 the difference of the
victim's two laws, the histogram of the others has the covariance sum_j (diag(g_j) - g_j g_j'), and the shuffled
mechanism is in the limit of many users a Gaussian one with

    mu^2 = v' (sum_j (diag(g_j) - g_j g_j'))^+ v.

v' A^+ v is convex in A and A is linear in how many users have which input, so its maximum over the others'
inputs is where all users of one scale have the same input. `int v^2 / sum_j g_j` is below it, equal if all
g_j coincide. Shvets, arXiv:2602.09029, proves the limit for a fixed composition.

>>> limit = asymptotic_mu([0.5, 100.0], count=[1, 9_999], victim=0)
>>> round(limit.epsilon(1e-4), 3)
0.305
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa.accountant import arguments as check
from gspa.accountant.arguments import Array
from gspa.accountant.blanket import Noise, radii
from gspa.accountant.budgets import Budgets
from gspa.accountant.errors import InternalError, InvalidValue
from gspa.accountant.laplace_gaussian import Crowd
from gspa.accountant.tradeoff import gdp_epsilon

Counts = NDArray[np.float64] | NDArray[np.int64]

_INPUTS = (0.0, 0.25, 0.5, 0.75, 1.0)
_MOST_JOINT = 3  # groups whose inputs are tried jointly
_MOST_GROUPS = 16  # more distinct scales are merged
_TAIL = 1e-12
_ROUNDED = 1e-12


@dataclass(frozen=True)
class Setting:
    """Checked arguments: the victim, everybody else, and where reports are cut into cells."""

    victim: Noise
    others: tuple[Noise, ...]
    count: Array
    place: NDArray[np.int64]  # of each of `others` among the scales
    scales: Array
    edges: Array

    def laws(self, inputs: ArrayLike) -> Array:
        """Cell laws of the others, each scale at its input; shape (g, k)."""
        pairs = zip(self.others, np.asarray(inputs), strict=True)
        return np.array([cell_masses(noise, float(x), self.edges) for noise, x in pairs])

    @property
    def difference(self) -> Array:
        """v = f0 - f1 on the cells."""
        return cell_masses(self.victim, 0.0, self.edges) - cell_masses(self.victim, 1.0, self.edges)


class Limit(NamedTuple):
    """An estimate, not a bound.

    Attributes:
        mu: of the limiting Gaussian mechanism.
        others: shape (g,), the inputs of the other users, per scale, at which mu is largest.
    """

    mu: float
    others: Array

    def epsilon(self, delta: float) -> float:
        """eps of the limit at that delta in (0, 1): an estimate."""
        return gdp_epsilon(delta=delta, mu=self.mu)


def cell_masses(noise: Noise, x: float, edges: Array) -> Array:
    """Law of a report at input x on the cells, the tails in the outer two; shape (k,)."""
    tail = noise.beyond(np.abs(edges - x))
    below = np.where(edges < x, tail, 1 - tail)
    # Differences of tails on the report's own side keep their digits.
    left, right = edges[:-1] < x, edges[1:] > x
    mass = np.where(~left, tail[:-1] - tail[1:], np.where(~right, tail[1:] - tail[:-1], below[1:] - below[:-1]))
    mass[0] += below[0]
    mass[-1] += tail[-1] if edges[-1] > x else 1 - below[-1]
    if not abs(float(mass.sum()) - 1) <= _ROUNDED:
        raise InternalError(f"a report's masses in {mass.size} cells add up to {float(mass.sum())!r}")
    return np.maximum(mass, 1e-300)


def solve(v: Array, laws: Array, count: Counts) -> tuple[float, Array]:
    """v' A^+ v and a w with A w = v, for A = sum_g count[g] (diag(laws[g]) - laws[g] laws[g]').

    A = D^(1/2) (I - U U') D^(1/2) with D = diag(sum_g count[g] laws[g]) and U of one column per group, so
    only a g x g eigenproblem is solved; the direction in which I - U U' vanishes is v's orthogonal one. The shapes are
    (k,), of sum 0, (g, k), of positive rows of sum 1, and (g,).
    """
    root = np.sqrt(count @ laws)
    scaled = v / root
    columns = np.sqrt(count)[:, None] * laws / root
    values, vectors = np.linalg.eigh(columns @ columns.T)
    part = vectors.T @ (columns @ scaled)
    # u u' over its squared length, with 1/(1 - lambda) - 1 as its weight
    loose = (values > 1e-12) & (values < 1 - 1e-9)
    weight = np.where(loose, 1 / np.where(loose, 1 - values, 1.0), 0.0)
    square = float(scaled @ scaled) + float(weight @ part**2)
    full = scaled + columns.T @ (vectors @ (weight * part))
    return square, full / root


def setting(scales: Budgets | ArrayLike, count: ArrayLike, mechanism: str, victim: int | None, cells: int) -> Setting:
    """Checked arguments of `asymptotic_mu` and of `gspa.accountant.attacks`; there must be others."""
    crowd = Crowd.of(scales, count, mechanism)
    if not (victims := crowd.candidates(victim)):
        raise InvalidValue("victim", victim, "the index of a finite scale")
    own, many = crowd.noise(victims[0]), crowd.reports.count
    left = many - (np.arange(many.size) == victims[0])
    place = np.flatnonzero((left > 0) & np.isfinite(crowd.scales))
    if place.size == 0:
        raise InvalidValue("count", many.tolist(), "at least one other user with finite noise")
    others = tuple(crowd.noise(int(i)) for i in place)
    # Edges that resolve the interval and the victim's tails.
    r = radii(0.5 + own.quantile(_TAIL), max(check.count(12, cells=cells) // 6, 8))
    return Setting(own, others, left[place].astype(float), place, crowd.scales, np.unique(np.r_[0.5 - r, 0.5 + r]))


def asymptotic_mu(
    scales: Budgets | ArrayLike,
    *,
    count: ArrayLike = 1,
    mechanism: str = "laplace",
    victim: int | None = None,
    cells: int = 2400,
) -> Limit:
    """mu of the Gaussian that shuffled reports approach, at the others' worst inputs: an estimate.

    Implements the fixed-composition limit above. Errs to either side: cells lose a little (downward, at
    `cells` = 2400 about 1e-5), the others' inputs are searched on {0, 1/4, 1/2, 3/4, 1} (downward), and n is finite.

    Args:
        scales: as `gspa.accountant.laplace_gaussian.blanket_epsilon`, like count and mechanism.
        victim: index into scales; None for the users with the least noise.
        cells: about how many cells.

    Raises:
        InvalidValue: an argument outside its range, or nobody else.
    """
    where = setting(scales, count, mechanism, victim, cells)
    v = where.difference
    ends = range(len(_INPUTS))
    place = np.log([other.kappa for other in where.others])
    distinct, bins = np.unique(place, return_inverse=True)
    if distinct.size > _MOST_GROUPS:  # merged in equal shares of the range: the search below is over groups
        share = (place - place.min()) / (place.max() - place.min())
        bins = np.unique((share * (_MOST_GROUPS - 1)).astype(np.int64), return_inverse=True)[1]
    groups = int(bins.max()) + 1
    every = np.arange(groups)
    member = (bins == every[:, None]) * where.count
    number = member.sum(axis=1)
    laws = np.array([member @ where.laws(np.full(bins.size, x)) for x in _INPUTS]) / number[:, None]

    def square(pick: tuple[int, ...]) -> float:
        return solve(v, laws[list(pick), every], number)[0]

    if groups <= _MOST_JOINT:
        best = max(product(ends, repeat=groups), key=square)
    else:  # one input for all, then coordinate by coordinate
        best = max(((i,) * groups for i in ends), key=square)
        for j in range(groups):
            best = max(((*best[:j], i, *best[j + 1 :]) for i in ends), key=square)
    others = np.full(where.scales.size, np.nan)
    others[where.place] = np.asarray(_INPUTS)[list(best)][bins]
    return Limit(float(np.sqrt(square(best))), others)

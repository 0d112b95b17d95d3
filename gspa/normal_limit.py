r"""How far the two counts of Theorem 1 are from a normal law: Lemma 2, eq. (14) and the covariance of Lemma 3.

Each of m users adds (1, 0) or (0, 1) with probability p_i/2 each, and nothing otherwise. With C = xi_0 + xi_1 and
D = xi_0 - xi_1, C is a sum of independent Bernoulli(p_i), xi_0 given C is Bin(C, 1/2), and C and D are uncorrelated:

    Var C = sum p_i (1 - p_i),   Var D = sum p_i,   so the normal law is a product in these coordinates.

The counts are whole numbers and a normal law has a density: their total variation is 1, always. What Lemma 2 can
mean is the distance from the discretized normal, which puts the mass of the unit cell around each lattice point on
that point. It is evaluated here cell by cell, without simulation:

>>> near = distances(np.array([0.75]), count=np.array([1000.0]))
>>> round(near.total_variation, 4), round(near.leading, 4)
(0.0053, 0.0053)
>>> round(near.printed, 6), round(near.printed_mass, 4)  # eq. (14) as printed, and what its h sums to
(0.000636, 0.25)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from gspa import _binomial
from gspa import _validate as check
from gspa.clone_law import clone_law
from gspa.errors import InvalidValue, OutsideValidity

Array = NDArray[np.float64]

MOST_USERS = 300_000  # beyond it counts come in blocks, not one by one
LEAST_VARIANCE = 1 / 16  # of C; below it the normal law is a line, and its cells need another quadrature
_MOST_COUNT = 1e200  # its power of 3/2 is a double
_DEPTH = 30.0  # e^-30: mass left out on each side
_ROWS = 256  # counts at once
_NODES, _WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(12))
_GRID = 4000  # points of the grid for the leading term
_GRID_REACH = 9.0


@dataclass(frozen=True)
class Distances:
    """Distances of the law of (xi_0, xi_1) from normal laws with its mean and covariance.

    Attributes:
        m: number of users.
        total_variation: from the discretized normal, unit cells around the lattice points; absolute error below
            1e-9, from mass left out and quadrature.
        leading: the Edgeworth term of order 1/sqrt(m) of the same, an estimate.
        printed: eq. (14) as printed, a supremum over points with cells of side 1/2 beside the points.
        printed_mass: what the h of eq. (14) sums to.
        largest_point: the same supremum with unit cells around the points.
        difference: total variation for D = xi_0 - xi_1 alone, unit cells.
        total: total variation for C = xi_0 + xi_1 alone, unit cells.
    """

    m: int
    total_variation: float
    leading: float
    printed: float
    printed_mass: float
    largest_point: float
    difference: float
    total: float


@dataclass(frozen=True, eq=False)
class _Lattice:
    """Law of C on consecutive counts, and the moments of C and D."""

    counts: Array
    mass: Array
    mean: float
    variance_total: float
    variance_difference: float


def clone_probability(eps: ArrayLike, *, delta: ArrayLike = 0.0) -> Array:
    """p_i = 2 (1 - delta_i)/(1 + e^{eps_i}), Lemma 3's: the chance that a report is a clone.

    Raises:
        InvalidValue: eps negative, delta outside [0, 1].

    >>> float(clone_probability(0.0))
    1.0
    """
    e, d = check.array_in(0, math.inf, eps=eps), check.array_in(0, 1, delta=delta)
    try:
        e, d = np.broadcast_arrays(e, d)
    except ValueError:
        raise InvalidValue("delta.shape", d.shape, f"{e.shape}, as eps") from None
    # Erratum G-L3: Theorem 2's proof and the line after Lemma 2 print this without the factor 2.
    return np.asarray(2 * (1 - d) * np.exp(-e) / (1 + np.exp(-e)))


def covariance(p: ArrayLike, *, count: ArrayLike = 1) -> Array:
    """The covariance of (xi_0, xi_1): Lemma 3's Sigma, shape (2, 2).

    Args:
        p: shape (g,), in [0, 1].
        count: shape (g,) or one number, how many users have each.

    >>> covariance([0.5], count=4).tolist()
    [[0.75, -0.25], [-0.25, 0.75]]
    """
    p_, count_ = _users(p, count)
    square = float(count_ @ (p_ / 2) ** 2)
    half = float(count_ @ p_) / 2
    return np.array([[half - square, -square], [-square, half - square]])


def distances(p: ArrayLike, *, count: ArrayLike = 1) -> Distances:
    """Every distance of the law of the two counts from its normal law, by summation over the lattice.

    Args:
        p: shape (g,), clone probabilities in [0, 1].
        count: shape (g,) or one number, whole numbers: how many users have each.

    Raises:
        InvalidValue: p outside [0, 1], no user.
        OutsideValidity: more than 300,000 users, or Var C below 1/16 (all p_i near 0 or 1), where the normal
            law is nearly a line.
    """
    lattice = _lattice(*_users(p, count))
    total = printed = printed_mass = largest = 0.0
    difference = np.zeros(_columns(lattice).size)
    for rows, columns, law, weight in _blocks(lattice):
        near = _cells(lattice, rows, columns, -0.5, 0.5)
        beside = _cells(lattice, rows, columns, 0.0, 0.5)
        gap = law - near
        total += float((np.maximum(gap, 0.0) * weight).sum())
        largest = max(largest, float(np.abs(gap).max()))
        printed = max(printed, float(np.abs(law - beside).max()))
        printed_mass += float((beside * weight).sum())
        difference[columns.astype(np.intp)] += law.sum(axis=0)
    sd, sd_total = math.sqrt(lattice.variance_difference), math.sqrt(lattice.variance_total)
    d = np.arange(float(difference.size))
    # Both D and its normal law are symmetric: each d > 0 stands for two.
    twice = np.where(d == 0, 1.0, 2.0)
    apart = float((twice * np.maximum(difference - _unit(d, sd), 0.0)).sum())
    sums = float(np.maximum(lattice.mass - _unit(lattice.counts - lattice.mean, sd_total), 0.0).sum())
    return Distances(
        m=int(_users(p, count)[1].sum()),
        total_variation=total,
        leading=leading_term(p, count=count),
        printed=printed,
        printed_mass=printed_mass,
        largest_point=largest,
        difference=apart,
        total=sums,
    )


def seen_with_cells(p: ArrayLike, *, count: ArrayLike = 1, side: float) -> float:
    """What of the total variation from the normal law itself shows up with square cells of that side.

    The largest difference of probabilities over unions of such cells around lattice points: a lower bound of the
    total variation, which it approaches, and that is 1, as the side shrinks.

    Args:
        p, count: as `distances`.
        side: in (0, 1].

    >>> [round(seen_with_cells([0.75], count=100, side=side), 3) for side in (1, 1 / 8, 1 / 64)]
    [0.017, 0.984, 1.0]
    """
    side = check.in_range(0, 1, side=side)
    if side == 0:
        raise InvalidValue("side", side, "in (0, 1]")
    lattice = _lattice(*_users(p, count))
    found = 0.0
    for rows, columns, law, weight in _blocks(lattice):
        gap = law - _cells(lattice, rows, columns, -side / 2, side / 2)
        found += float((np.maximum(gap, 0.0) * weight).sum())
    return found


def leading_term(p: ArrayLike, *, count: ArrayLike = 1) -> float:
    """The term of order 1/sqrt(m) of the total variation, from the third cumulants: an estimate.

    With Z_1, Z_2 independent standard normal, half of E|a He_3(Z_1) + b Z_1 (Z_2^2 - 1)|, where
    a = sum p(1-p)(1-2p) / (6 sd_C^3) and b = sum p(1-p) / (2 Var D sd_C): C is skewed, and D's spread grows with C.
    Third cumulants with an odd number of D vanish, because D is symmetric.

    Raises:
        InvalidValue, OutsideValidity: as `distances`.
    """
    p_, count_ = _users(p, count)
    spread = float(count_ @ (p_ * (1 - p_)))
    if spread < LEAST_VARIANCE:
        raise _degenerate(spread)
    skew = float(count_ @ (p_ * (1 - p_) * (1 - 2 * p_)))
    a = skew / (6 * spread**1.5)
    b = math.sqrt(spread) / (2 * float(count_ @ p_))
    # The term is Z_1 (b Z_2^2 - k) with k = 3a + b - a Z_1^2; over Z_2 in closed form, over Z_1 > 0 by the grid.
    z = (np.arange(_GRID) + 0.5) * (_GRID_REACH / _GRID)
    k = 3 * a + b - a * z * z
    t = np.sqrt(np.maximum(k, 0) / b)
    inside = 2 * ndtr(t) - 1
    below = (k - b) * inside + 2 * b * t * np.exp(-t * t / 2) / math.sqrt(2 * math.pi)  # E(k - b Z_2^2)_+
    inner = b - k + 2 * below
    density = np.exp(-z * z / 2) * (_GRID_REACH / _GRID) / math.sqrt(2 * math.pi)
    return float(density @ (z * inner))


def _users(p: ArrayLike, count: ArrayLike) -> tuple[Array, Array]:
    p_ = np.atleast_1d(check.array_in(0, 1, p=p))
    given = check.array_in(0, _MOST_COUNT, count=count)
    if given.shape not in ((), (1,), p_.shape):
        raise InvalidValue("shape of count", given.shape, f"that of p, {p_.shape}, or one number")
    many = np.broadcast_to(given, p_.shape).astype(np.float64)
    if p_.ndim != 1 or not 1 <= many.sum() < math.inf or (many != np.floor(many)).any():
        raise InvalidValue("count", many.tolist(), "whole numbers, at least one user")
    return p_, many


def _degenerate(spread: float) -> OutsideValidity:
    return OutsideValidity(
        "discretized normal law", f"Var C = sum p(1-p) >= {LEAST_VARIANCE:g}", f"it is {spread:.3g}; use more users"
    )


def _lattice(p: Array, count: Array) -> _Lattice:
    users, spread = float(count.sum()), float(count @ (p * (1 - p)))
    if users > MOST_USERS:
        raise OutsideValidity("distance from the normal law", f"at most {MOST_USERS:,} users", f"got {users:,.9g}")
    if spread < LEAST_VARIANCE:
        raise _degenerate(spread)
    law = clone_law(p, 1 - p, count, depth=_DEPTH)
    return _Lattice(law.edges[:-1], law.mass, float(count @ p), spread, float(count @ p))


def _columns(lattice: _Lattice) -> Array:
    """d = 0, 1, ... as far as mass matters: Bernstein's inequality for D, or the largest count."""
    reach = _DEPTH / 3 + math.sqrt(_DEPTH**2 / 9 + 2 * _DEPTH * lattice.variance_difference)
    return np.arange(min(math.ceil(reach), int(lattice.counts[-1])) + 1, dtype=np.float64)


def _blocks(lattice: _Lattice) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Blocks (c, d, P(C = c, D = d), weight) over d >= 0; the weight counts d and -d."""
    every = _columns(lattice)
    for parity in (0, 1):  # c and d are both even or both odd
        chosen = lattice.counts % 2 == parity
        columns = every[parity::2]
        weight = np.where(columns == 0, 1.0, 2.0)
        for start in range(0, int(chosen.sum()), _ROWS):
            rows, mass = (v[chosen][start : start + _ROWS] for v in (lattice.counts, lattice.mass))
            c, d = np.broadcast_arrays(rows[:, None], columns)
            inside = d <= c
            law = np.zeros(c.shape)
            law[inside] = _binomial.fair_pmf((c[inside] - d[inside]) / 2, c[inside])
            yield rows, columns, law * mass[:, None], weight


def _cells(lattice: _Lattice, rows: Array, columns: Array, low: float, high: float) -> Array:
    """Normal mass of [xi_0 + low, xi_0 + high] x [xi_1 + low, xi_1 + high] at each (c, d)."""
    nodes, weights = low + (high - low) * (_NODES + 0.5), (high - low) * _WEIGHTS
    a, b = (v.ravel() for v in np.meshgrid(nodes, nodes))
    weight = 2 * np.outer(weights, weights).ravel()  # 2: the area of a unit cell in (c, d)
    along = _density(rows[:, None] + (a + b) - lattice.mean, lattice.variance_total)
    across = _density(columns[:, None] + (a - b), lattice.variance_difference)
    return np.asarray((along * weight) @ across.T)


def _density(x: Array, variance: float) -> Array:
    return np.asarray(np.exp(-x * x / (2 * variance)) / math.sqrt(2 * math.pi * variance))


def _unit(x: Array, sd: float) -> Array:
    """Normal mass of [x - 1/2, x + 1/2]."""
    far = np.abs(x)  # differences of the lower tail keep their digits
    return np.asarray(ndtr((0.5 - far) / sd) - ndtr((-0.5 - far) / sd))

"""Privacy losses on a uniform grid: above by spreading, below by merging.

With Y = dP1/dP0 = e^{-loss} under P0, the delta of any composition is E[max(1 - e^eps prod_i Y_i, 0)]: a
function that is convex and falling in each Y_i. So spreading a mass to its two grid neighbours with
its mean of Y kept gives an upper bound ("connect the dots", Doroshenko et al. 2022, arXiv:2207.04380), and
merging masses into one grid point that is their mean of Y gives a lower bound. Both err by O(step^2).

>>> spread(np.array([0.25]), np.array([1.0]), 0.5).mass.round(4).tolist()
[0.4378, 0.5622]
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gspa.errors import InternalError

Array = NDArray[np.float64]

_FAR = 700.0  # e^_FAR is finite
_ON_GRID = 1e-10  # a loss this near a grid point, in steps, is on it; see `_fourier_sum.Tail.slip`
_ROUNDED = 1e-11
_FINE = 4  # cells of the first merging in one step of the grid
_NODES, _WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(6))
_NODES = _NODES + 0.5  # Gauss-Legendre on [0, 1]


@dataclass(frozen=True, eq=False)
class PrivacyLoss:
    """P0-mass `mass[k]` at the loss (first + k) step, and `infinite` at +infinity.

    The P1-mass at a loss l is e^-l times the P0-mass. Masses need not sum to 1: an upper bound may
    count a mass twice, a lower bound may drop it (loss -infinity).

    Attributes:
        step: > 0.
        first: loss of `mass[0]`, in steps.
        mass: shape (m,), >= 0.
        infinite: P0-mass of outcomes that P1 does not have.
    """

    step: float
    first: int
    mass: Array
    infinite: float

    @property
    def loss(self) -> Array:
        """The losses, shape (m,)."""
        return np.asarray(self.step * np.arange(self.first, self.first + self.mass.size), dtype=np.float64)

    def delta(self, eps: float) -> float:
        """sum mass max(1 - e^(eps - loss), 0) + infinite, without the cancellation."""
        return float(self.mass @ -np.expm1(np.minimum(eps - self.loss, 0.0))) + self.infinite


def spread(loss: Array, mass: Array, step: float, infinite: float = 0.0) -> PrivacyLoss:
    """Each mass to its two neighbours on the grid, mean of e^-loss kept: delta does not fall.

    Args:
        loss: shape (k,), finite.
        mass: shape (k,), P0-masses.
        step: of the grid, > 0.
        infinite: passed on.
    """
    cell = np.floor(loss / step)
    part = np.expm1(-np.clip(loss - cell * step, 0.0, step)) / math.expm1(-step)
    first = int(cell.min())
    index = (cell - first).astype(np.intp)
    up = mass * part
    size = int(index.max()) + 2
    total = np.asarray(np.bincount(index, mass - up, size) + np.bincount(index + 1, up, size), dtype=np.float64)
    return PrivacyLoss(step, first, total, infinite)


def merge(loss: Array, mass: Array, step: float, infinite: float = 0.0) -> PrivacyLoss:
    """Masses joined so that each heap's mean of e^-loss is on the grid: delta does not rise.

    From the largest loss down: a heap at the grid point below it takes what follows until its mean is
    that point. What is left at the end is moved down to its point, which does not raise delta either.

    Args:
        loss: shape (k,), finite.
        mass: shape (k,), P0-masses.
        step: of the grid, > 0.
        infinite: passed on.
    """
    width = step / _FINE
    cell = np.floor(loss / width)
    first = int(cell.min())
    index = (cell - first).astype(np.intp)
    fine = np.bincount(index, mass)
    used = np.flatnonzero(fine)
    below = np.bincount(index, mass * np.expm1(-np.clip(loss - cell * width, 0.0, width)))[used] / fine[used]
    losses = ((first + used) * width - np.log1p(below))[::-1].tolist()
    heaps: dict[int, float] = {}
    point, heap, short, fresh = 0, 0.0, 0.0, True  # short = sum of mass (1 - e^-(loss - point))
    for at, rest in zip(losses, fine[used][::-1].tolist(), strict=True):
        while rest > 0:
            if fresh:
                point, heap, short = math.floor(at / step + _ON_GRID), 0.0, 0.0
            apart = point * step - at
            gap = -math.expm1(apart) if apart < _FAR else -math.inf  # so far away nothing of it is needed
            if fresh:
                gap, fresh = max(gap, 0.0), False
            if gap >= 0 or short >= -gap * rest:
                heap, short, rest = heap + rest, short + gap * rest, 0.0
            else:
                taken = short / -gap
                heaps[point] = heaps.get(point, 0.0) + heap + taken
                rest, fresh = rest - taken, True
    if not fresh:
        heaps[point] = heaps.get(point, 0.0) + heap
    lowest = min(heaps, default=0)
    total = np.zeros(max(heaps, default=0) - lowest + 1)
    for key, value in heaps.items():
        total[key - lowest] = value
    return PrivacyLoss(step, lowest, total, infinite)


def gaussian_atoms(mu: float, step: float, depth: float) -> tuple[Array, Array, float]:
    """(losses, masses, mass left out) of N(mu, 1) against N(0, 1): the loss is N(mu^2/2, mu^2).

    Gauss-Legendre nodes in cells that the grid's cells consist of, so that `spread` and `merge` see
    smooth integrands: relative error below 1e-13 (tests).

    Args:
        mu: > 0.
        step: of the grid.
        depth: what is left out is at most e^-depth.
    """
    reach = math.sqrt(2 * depth) * mu
    parts = _FINE * math.ceil(step / mu)
    width = step / parts
    cells = np.arange(math.floor((mu * mu / 2 - reach) / width), math.ceil((mu * mu / 2 + reach) / width))
    offset = np.tile(_NODES, cells.size)
    loss = np.repeat(cells * width, _NODES.size) + offset * width
    z = (loss - mu * mu / 2) / mu
    mass = np.tile(_WEIGHTS, cells.size) * np.exp(-0.5 * z * z) * (width / mu / math.sqrt(2 * math.pi))
    if not abs(float(mass.sum()) - 1) <= math.exp(-depth) + _ROUNDED:
        raise InternalError(f"a Gaussian's masses in {cells.size} cells add up to {float(mass.sum())!r}")
    return loss, mass, math.exp(-depth)

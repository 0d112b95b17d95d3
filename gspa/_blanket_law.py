"""Laplace and Gaussian reports on [0, 1], the blankets under them, and L = (f0 - e^eps f1)/omega* cut into cells.

With r = |y - 1/2| and u = (r + 1/2)^p (p = 1 Laplace, p = 2 Gaussian), the largest density that lies
under a user's report whatever the input x in [0, 1] is, because the farthest input is at distance r + 1/2,

    log omega_j(y) = log height_j - kappa_j u.

Every omega* used here is q / Z with log q a concave, piecewise linear function of u on B = {r <= radius},
so that c_j = Z min(omega_j / q) is a minimum over the break points. The best omega* for given
proportions of the c_j is min_j omega_j / c_j, and that is of this form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, ndtr, ndtri

Array = NDArray[np.float64]

POWER = {"laplace": 1, "gaussian": 2}
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_CELLS = 2400
_NODES, _WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(12))
_NODES = _NODES + 0.5  # on [0, 1]
_MOST_EPS = 700.0  # e^eps is a double
LEAST_TAIL = 1e-300  # far below any delta, and a double with all its digits
# Cell integrals lose about 1e-16 / (cell width / scale); this covers them and the ratios' own rounding.
_PAD = 1e-11


@dataclass(frozen=True)
class Reports:
    """Distinct noise scales: density exp(log_height - kappa |y - x|^power); count users have each."""

    power: int
    kappa: Array
    log_height: Array
    count: NDArray[np.int64]

    @classmethod
    def of(cls, mechanism: str, scale: Array, count: NDArray[np.int64]) -> Reports:
        """From Laplace scales b or Gaussian standard deviations sigma."""
        # An infinite scale (eps = 0) has kappa = 0 and log_height = -inf.
        if POWER[mechanism] == 1:
            return cls(1, 1 / scale, -np.log(2 * scale), count)
        return cls(2, 0.5 / scale**2, -np.log(scale) - _LOG_SQRT_2PI, count)

    def without(self, victim: int) -> Reports:
        """Everybody else whose report can cover anything."""
        count = self.count.copy()
        count[victim] -= 1
        kept = (count > 0) & (self.kappa > 0)
        return Reports(self.power, self.kappa[kept], self.log_height[kept], count[kept])


class Noise(NamedTuple):
    """One user's density exp(log_height - kappa |y - x|^power)."""

    power: int
    kappa: float
    log_height: float

    def log_density(self, distance: Array) -> Array:
        """At that distance from the input."""
        return np.asarray(self.log_height - self.kappa * distance**self.power)

    def beyond(self, distance: Array) -> Array:
        """Mass on one side beyond `distance` >= 0 of the input."""
        if self.power == 1:
            return np.asarray(0.5 * np.exp(-self.kappa * distance))
        return np.asarray(ndtr(-math.sqrt(2 * self.kappa) * distance))

    def quantile(self, tail: float) -> float:
        """The distance beyond which one side has mass `tail` < 1/2, or the least that counts."""
        tail = max(tail, LEAST_TAIL)
        if self.power == 1:
            return -math.log(2 * tail) / self.kappa
        return -float(ndtri(tail)) / math.sqrt(2 * self.kappa)


def _integral(power: int, kappa: Array, near: Array, far: Array) -> Array:
    """int_near^far exp(-kappa (w^power - near^power)) dw for 0 <= near < far."""
    if power == 1:
        return np.asarray(-np.expm1(-kappa * (far - near)) / kappa)
    root, exponent = np.sqrt(kappa), kappa * (far - near) * (far + near)
    wide = 0.5 * math.sqrt(math.pi) / root * (erfcx(root * near) - np.exp(-exponent) * erfcx(root * far))
    # The difference cancels in a narrow cell, where Gauss-Legendre is exact to rounding.
    at = near[..., None] + (far - near)[..., None] * _NODES
    narrow = (far - near) * (np.exp(-kappa[..., None] * (at - near[..., None]) * (at + near[..., None])) @ _WEIGHTS)
    return np.asarray(np.where(exponent < 1, narrow, wide))


@dataclass(frozen=True)
class Envelope:
    """log q(u), 0 at u = 2^-power, with slopes -slopes[i] between breaks; on r <= radius."""

    power: int
    slopes: Array  # (k,), increasing: concave
    breaks: Array  # (k - 1,), in u, non-decreasing
    radius: float

    def corners(self) -> Array:
        """u at the two ends and at the breaks, shape (k + 1,)."""
        return np.asarray(np.r_[0.5**self.power, self.breaks, (self.radius + 0.5) ** self.power])

    def log_corners(self) -> Array:
        """log q there."""
        return np.asarray(np.r_[0.0, -np.cumsum(self.slopes * np.diff(self.corners()))])

    def cut(self) -> Envelope:
        """The same on a smaller B: breaks beyond its edge move to it."""
        return replace(self, breaks=np.minimum(self.breaks, (self.radius + 0.5) ** self.power))

    def log_q(self, r: Array) -> Array:
        """log q at |y - 1/2| = r."""
        return np.asarray(np.interp((r + 0.5) ** self.power, self.corners(), self.log_corners()))

    def log_total(self) -> float:
        """log Z, Z = int q over B."""
        corner = self.corners() ** (1 / self.power)
        wide = corner[1:] > corner[:-1]
        part = _integral(self.power, self.slopes[wide], corner[:-1][wide], corner[1:][wide])
        return math.log(2 * float(np.exp(self.log_corners()[:-1][wide]) @ part))

    def clones(self, others: Reports) -> Array:
        """c_j = inf over B of omega_j / omega*, rounded down; shape of others.kappa."""
        gaps = others.log_height[:, None] - others.kappa[:, None] * self.corners() - self.log_corners()
        return np.asarray(np.minimum(np.exp(gaps.min(axis=1) + self.log_total()), 1.0) * (1 - 1e-12))


@dataclass(frozen=True)
class Cells:
    """B in cells: omega*, f0, f1 masses, and the ranges of f0/omega* and f1/omega* inside each."""

    omega: Array
    mass: tuple[Array, Array]
    low: tuple[Array, Array]
    high: tuple[Array, Array]

    def likelihood(self, eps: float, swap: bool) -> tuple[Array, Array, Array, Array]:
        """L's conditional mean, least and greatest value in each cell, and what roundings may have cost."""
        a, b = (1, 0) if swap else (0, 1)
        e = math.exp(eps)
        least = self.low[a] - e * self.high[b]
        most = self.high[a] - e * self.low[b]
        mean = np.clip((self.mass[a] - e * self.mass[b]) / self.omega, least, most)
        return mean, least, most, _PAD * (self.high[a] + e * self.high[b])


def upper_atoms(cells: Cells, eps: float, swap: bool) -> tuple[Array, Array]:
    """A discrete law above L's in the convex order: each cell's mass moves to its two extreme values, mean kept."""
    mean, least, most, pad = cells.likelihood(eps, swap)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(most > least, (mean - least) / (most - least), 0.5)
    return np.r_[least + pad, most + pad], np.r_[cells.omega * (1 - share), cells.omega * share]


def lower_atoms(cells: Cells, eps: float, swap: bool) -> tuple[Array, Array]:
    """A discrete law below L's in the convex order: each cell's mass moves to its conditional mean."""
    mean, _, _, pad = cells.likelihood(eps, swap)
    return mean - pad, cells.omega


def radii(radius: float, size: int) -> Array:
    """Points of [0, radius] that resolve both the interval's neighbourhood and the far tails."""
    near = np.linspace(0.0, min(1.5, radius), size)
    return np.unique(np.r_[near, np.linspace(0.0, radius, size), np.geomspace(1e-3, radius, size)])


def cells(victim: Noise, inputs: tuple[float, float], envelope: Envelope, size: int | None = None) -> Cells:
    """Cut B where the densities change form and where omega*, f0, f1 and the interval [0, 1] have their mass."""
    log_total = envelope.log_total()
    r = radii(envelope.radius, 2000)
    y = np.unique(np.r_[0.5 - r, 0.5 + r])
    middle, width = 0.5 * (y[1:] + y[:-1]), np.diff(y)
    parts = [np.exp(envelope.log_q(np.abs(middle - 0.5)) - log_total)]
    parts += [np.exp(victim.log_density(np.abs(middle - x))) for x in inputs]
    parts.append((np.abs(middle - 0.5) < 1).astype(np.float64))
    # The spread that upper_atoms adds is sum omega* (width dL/dy)^2 / 4, least for widths as (omega* (dL/dy)^2)^(-1/3).
    slopes = [np.diff(np.exp(victim.log_density(np.abs(y - x)) - envelope.log_q(np.abs(y - 0.5)))) for x in inputs]
    parts.append((parts[0] * (slopes[0] ** 2 + slopes[1] ** 2) / width**2) ** (1 / 3))
    # Where B is all but uncovered, f/omega* spans orders of magnitude and the tilt weighs its upper end.
    logs = [np.diff(victim.log_density(np.abs(y - x)) - envelope.log_q(np.abs(y - 0.5))) for x in inputs]
    parts.append(sum(np.abs(change) for change in logs) / width + 1e-9)
    total = np.sum([part * width / (part * width).sum() for part in parts], axis=0)
    place = np.r_[0.0, np.cumsum(total)]
    spread = np.interp(np.linspace(0, place[-1], (size or _CELLS) + 1)[1:-1], place, y)
    bent = envelope.corners() ** (1 / envelope.power) - 0.5
    edges = np.unique(np.r_[spread, 0.5, inputs, 0.5 - bent, 0.5 + bent])
    edges = edges[np.abs(edges - 0.5) <= envelope.radius]
    # Two corners that differ by rounding only: moving one by this much is within _PAD.
    steep = max(1.0, victim.kappa, float(envelope.slopes.max()))
    edges = edges[np.r_[True, np.diff(edges) > np.maximum(1e-15 * (1 + np.abs(edges[1:])), 1e-13 / steep)]]
    left, right = edges[:-1], edges[1:]

    def mass(kappa: Array, height: Array, x: float) -> Array:
        near, far = np.minimum(np.abs(left - x), np.abs(right - x)), np.maximum(np.abs(left - x), np.abs(right - x))
        return np.asarray(np.exp(height) * _integral(envelope.power, kappa, near, far))

    # omega* inside a cell, relative to its value at the cell's inner edge
    inner = np.minimum(np.abs(left - 0.5), np.abs(right - 0.5))
    outer = np.maximum(np.abs(left - 0.5), np.abs(right - 0.5))
    segment = np.searchsorted(envelope.breaks, (0.5 * (inner + outer) + 0.5) ** envelope.power)
    slope = envelope.slopes[segment]
    omega = np.exp(envelope.log_q(inner) - log_total) * _integral(envelope.power, slope, inner + 0.5, outer + 0.5)
    # A quadratic log ratio exceeds its larger end value by at most |curvature| width^2 / 4; a linear one never.
    bulge = np.zeros_like(left)
    if envelope.power == 2:
        bulge = np.abs(slope - victim.kappa) * (right - left) ** 2 / 4
    masses, lows, highs = [], [], []
    log_omega = envelope.log_q(np.abs(edges - 0.5)) - log_total
    for x in inputs:
        near = np.minimum(np.abs(left - x), np.abs(right - x))
        ones = np.full_like(left, victim.kappa)
        masses.append(mass(ones, victim.log_density(near), x))
        ratio = victim.log_density(np.abs(edges - x)) - log_omega
        lows.append(np.exp(np.minimum(ratio[:-1], ratio[1:]) - bulge))
        highs.append(np.exp(np.maximum(ratio[:-1], ratio[1:]) + bulge))
    return Cells(omega / omega.sum(), (masses[0], masses[1]), (lows[0], lows[1]), (highs[0], highs[1]))


def leak(victim: Noise, inputs: tuple[float, float], radius: float, eps: float) -> tuple[float, float]:
    """Lower and upper bound of int outside B of (f0 - e^eps f1)_+, the reports that no blanket covers."""
    lower = upper = 0.0
    for side in (-1.0, 1.0):
        d0, d1 = (radius - side * (x - 0.5) for x in inputs)
        tail0, tail1 = (float(victim.beyond(np.array(d))) for d in (d0, d1))
        known = eps <= _MOST_EPS  # else e^eps is no double, and all of f0 may count
        gain = tail0 - math.exp(eps) * tail1 if known else 0.0
        # f0/f1 is monotone: if it exceeds e^eps at the edge and grows outwards, it does so throughout.
        at_edge = victim.kappa * (d1**victim.power - d0**victim.power)
        outwards = d0 <= d1
        if outwards and at_edge >= eps:
            lower, upper = lower + max(gain, 0.0), upper + (max(gain, 0.0) if known else tail0)
        elif not outwards or victim.power == 1:  # f0 < f1 there, or a constant ratio below e^eps
            continue
        else:
            lower, upper = lower + max(gain, 0.0), upper + tail0
    return lower, upper * (1 + 1e-12)

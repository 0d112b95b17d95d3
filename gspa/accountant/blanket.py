"""The two sides of one blanket bound: delta(eps) of one (B, omega*) for one victim, bracketed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, ndtr, ndtri

from gspa.accountant.arguments import MOST_EXPONENT, Array
from gspa.accountant.clones import CloneLaw, clone_law
from gspa.accountant.errors import InternalError
from gspa.accountant.random_sum import expectation_above, expectation_below, expectation_of_equal

# --- reports on a line, the blankets under them, and L = (f0 - e^eps f1)/omega* cut into cells ---------------
# With r = |y - 1/2| and u = (r + 1/2)^p (p = 1 Laplace, p = 2 Gaussian), the largest density that lies
# under a user's report whatever the input x in [0, 1] is, because the farthest input is at distance r + 1/2,
#
#     log omega_j(y) = log height_j - kappa_j u.
#
# Every omega* used here is q / Z with log q a concave, piecewise linear function of u on B = {r <= radius},
# so that c_j = Z min(omega_j / q) is a minimum over the break points. The best omega* for given
# proportions of the c_j is min_j omega_j / c_j, and that is of this form.

POWER = {"laplace": 1, "gaussian": 2}
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_CELLS = 2400
_NODES, _WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(12))
_NODES = _NODES + 0.5  # on [0, 1]
LEAST_TAIL = 1e-300  # far below any delta, and a double with all its digits
# A density is e to the power of a sum of terms that are at most 700 where it counts: 700 units of 1e-16, a few times.
_COUNTED = 2e-12  # what the roundings of masses that add up to 1 may come to
_PAD = 1e-11  # the same for a ratio of two densities or masses, with room


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


def _integral(power: int, kappa: Array, near: Array, width: Array) -> Array:
    """int_0^width exp(-kappa ((near + w)^power - near^power)) dw for near >= 0, width > 0."""
    if power == 1:
        return np.asarray(-np.expm1(-kappa * width) / kappa)
    root, exponent = np.sqrt(kappa), kappa * width * (2 * near + width)
    wide = 0.5 * math.sqrt(math.pi) / root * (erfcx(root * near) - np.exp(-exponent) * erfcx(root * (near + width)))
    # The difference cancels in a narrow cell, where Gauss-Legendre is exact to rounding.
    inside = width[..., None] * _NODES
    narrow = width * (np.exp(-kappa[..., None] * inside * (2 * near[..., None] + inside)) @ _WEIGHTS)
    return np.asarray(np.where(exponent < 1, narrow, wide))


@dataclass(frozen=True)
class Envelope:
    """log q(u), 0 at u = 2^-power, with slopes -slopes[i] between breaks; on r <= radius.

    With `breaks` of shape (m, k - 1) it stands for m of them, and what follows has a first axis more.
    """

    power: int
    slopes: Array  # (k,), increasing: concave
    breaks: Array  # (k - 1,), in u, non-decreasing
    radius: float

    @cached_property
    def corners(self) -> Array:
        """u at the two ends and at the breaks, shape (k + 1,)."""
        ends = [np.full((*self.breaks.shape[:-1], 1), (r + 0.5) ** self.power) for r in (0.0, self.radius)]
        return np.concatenate([ends[0], self.breaks, ends[1]], axis=-1)

    @cached_property
    def log_corners(self) -> Array:
        """log q there."""
        fall = np.cumsum(self.slopes * np.diff(self.corners), axis=-1)
        return np.concatenate([np.zeros((*fall.shape[:-1], 1)), -fall], axis=-1)

    def log_q(self, r: Array) -> Array:
        """log q at |y - 1/2| = r: of a concave function the least of its lines."""
        beyond = (r + 0.5) ** self.power - self.corners[..., :-1, None]
        return np.asarray((self.log_corners[..., :-1, None] - self.slopes[:, None] * beyond).min(axis=-2))

    @cached_property
    def log_total(self) -> Array:
        """log Z, Z = int q over B."""
        corner = self.corners ** (1 / self.power)
        part = _integral(self.power, self.slopes, corner[..., :-1], np.diff(corner))
        return np.asarray(np.log(2 * np.sum(np.exp(self.log_corners[..., :-1]) * part, axis=-1)))

    def clones(self, others: Reports) -> Array:
        """c_j = inf over B of omega_j / omega*, rounded down; shape of others.kappa."""
        gaps = others.log_height[:, None] - others.kappa[:, None] * self.corners[..., None, :]
        least = (gaps - self.log_corners[..., None, :]).min(axis=-1) + self.log_total[..., None]
        return np.asarray(np.minimum(np.exp(least), 1.0) * (1 - 1e-12))


@dataclass(frozen=True)
class Cells:
    """B in cells: omega*, f0, f1 masses, and the ranges of f0/omega* and f1/omega* inside each."""

    omega: Array
    mass: tuple[Array, Array]
    low: tuple[Array, Array]
    high: tuple[Array, Array]

    def atoms(self, eps: float, *, up: bool, swap: bool = False) -> tuple[Array, Array]:
        """A discrete law above L's in the convex order (up) or below it, for what roundings may have cost as well.

        Above, each cell's mass moves to its two extreme values, mean kept; below, to its conditional mean.
        """
        a, b = (1, 0) if swap else (0, 1)
        e = math.exp(eps)
        least, most = self.low[a] - e * self.high[b], self.high[a] - e * self.low[b]
        mean = np.clip((self.mass[a] - e * self.mass[b]) / self.omega, least, most)
        pad = _PAD * (self.high[a] + e * self.high[b])
        if not up:
            return mean - pad, self.omega
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(most > least, (mean - least) / (most - least), 0.5)
        return np.r_[least + pad, most + pad], np.r_[self.omega * (1 - share), self.omega * share]


@lru_cache(maxsize=64)  # a search over envelopes comes back to the same few
def radii(radius: float, size: int) -> Array:
    """Points of [0, radius], both ends among them, that resolve both the interval's neighbourhood and the far tails."""
    near = np.linspace(0.0, min(1.5, radius), size)
    found = np.unique(np.r_[near, np.linspace(0.0, radius, size), np.geomspace(1e-3, radius, size)])
    found.flags.writeable = False
    return found


def edges(victim: Noise, envelope: Envelope, size: int | None = None) -> Array:
    """Where to cut r = |y - 1/2|, from 0 to the radius: where the densities change form, and where they have mass.

    Distances from 1/2, not places on the line: 0 and the radius are floats, 1/2 +- radius need not be, and no edge
    has to be compared with the end of B.
    """
    r = radii(envelope.radius, 2000)
    middle, width, log_q = 0.5 * (r[1:] + r[:-1]), np.diff(r), envelope.log_q(r)
    cover = np.exp(envelope.log_q(middle) - envelope.log_total)
    parts, steep = [cover, (middle < 1).astype(np.float64)], np.zeros_like(middle)
    for near, at in ((np.abs(r - 0.5), np.abs(middle - 0.5)), (r + 0.5, middle + 0.5)):  # of either input
        log_ratio = victim.log_density(near) - log_q
        steep += (np.diff(np.exp(log_ratio)) / width) ** 2
        # Where B is all but uncovered, f/omega* spans orders of magnitude and the tilt weighs its upper end.
        parts += [np.exp(victim.log_density(at)), np.abs(np.diff(log_ratio)) / width + 1e-9]
    # The spread that `atoms` adds is sum omega* (width dL/dy)^2 / 4, least for widths as (omega* (dL/dy)^2)^(-1/3).
    parts.append((cover * steep) ** (1 / 3))
    # Where cells are put is a matter of width alone: a part that vanishes on all of these points is left out.
    wanted = [(part * width, float((part * width).sum())) for part in parts]
    weights = (1, 1, 2, 2, 2, 2, 2)  # what either side of 1/2 has counts twice
    total = np.sum(
        [w * part / whole for w, (part, whole) in zip(weights, wanted, strict=True) if 0 < whole < math.inf], axis=0
    )
    place = np.r_[0.0, np.cumsum(total)]
    spread = np.interp(np.linspace(0, place[-1], (size or _CELLS) // 2 + 1), place, r)
    corners = envelope.corners[1:-1] ** (1 / envelope.power) - 0.5
    return np.unique(np.clip(np.r_[0.0, envelope.radius, spread, corners, 0.5], 0.0, envelope.radius))


def between(at: Array, victim: Noise, envelope: Envelope) -> Cells:
    """The cells between distances `at` from 1/2, shape (m + 1,), on the left and on the right; 2 m cells.

    That none is missing is checked: they go from 0 to the radius, and the masses of omega*, f0 and f1 add up to 1.
    """
    _end_to_end(at, envelope.radius)
    power, log_total = envelope.power, envelope.log_total
    inner, width = at[:-1], np.diff(at)
    slope = envelope.slopes[np.searchsorted(envelope.breaks, (inner + 0.5 * width + 0.5) ** power)]
    half = np.exp(envelope.log_q(inner) - log_total) * _integral(power, slope, inner + 0.5, width)
    _whole(2 * float(half.sum()), 0.0, "omega*", at)
    # A quadratic log ratio exceeds its larger end value by at most |curvature| width^2 / 4; a linear one never.
    bulge = np.abs(slope - victim.kappa) * width**2 / 4 if power == 2 else np.zeros_like(width)
    log_omega, kappa = envelope.log_q(at) - log_total, np.full_like(width, victim.kappa)
    found = []
    for distance in (np.abs(at - 0.5), at + 0.5):  # of the nearer input, which is an edge, and of the other
        near = np.minimum(distance[:-1], distance[1:])
        ratio = victim.log_density(distance) - log_omega
        mass = np.exp(victim.log_density(near)) * _integral(power, kappa, near, width)
        low, high = np.minimum(ratio[:-1], ratio[1:]) - bulge, np.maximum(ratio[:-1], ratio[1:]) + bulge
        found.append((mass, np.exp(low), np.exp(high)))
    outside = float(victim.beyond(np.abs(envelope.radius + np.array([-0.5, 0.5]))).sum())
    _whole(float(found[0][0].sum() + found[1][0].sum()), outside, "the report", at)
    both = [(np.r_[near, far], np.r_[far, near]) for near, far in zip(*found, strict=True)]
    return Cells(np.tile(half, 2) / (2 * half.sum()), *both)


def _end_to_end(at: Array, radius: float) -> None:
    if not (at[0] == 0 and at[-1] == radius and (np.diff(at) > 0).all()):
        raise InternalError(f"the cells of B go from {float(at[0])!r} to {float(at[-1])!r}, not from 0 to {radius!r}")


def _whole(inside: float, outside: float, what: str, at: Array) -> None:
    """A lost cell must not pass as rounding."""
    if not abs(inside + outside - 1) <= _COUNTED:
        raise InternalError(
            f"the masses of {what} in {2 * at.size - 2} cells, and beyond them, add up to {inside + outside!r}"
        )


def leak(victim: Noise, radius: float, eps: float) -> tuple[float, float]:
    """Lower and upper bound of int outside B of (f0 - e^eps f1)_+, the reports that no blanket covers."""
    near, far = radius - 0.5, radius + 0.5  # from the end of B where f0 is the larger
    tail0, tail1 = (float(victim.beyond(np.array(d))) for d in (near, far))
    known = eps <= MOST_EXPONENT  # else e^eps is no double, and all of f0 may count
    gain = max(tail0 - math.exp(eps) * tail1, 0.0) if known else 0.0
    slack = _COUNTED * (tail0 + tail1)  # at the other end f0 < f1
    lower = max(gain - slack, 0.0)
    # f0/f1 is monotone: if it exceeds e^eps at the edge and grows outwards, it does so throughout. On either side of
    # that comparison the bounds stay valid where it is decided by a rounding: gain then differs by one.
    if victim.kappa * (far**victim.power - near**victim.power) >= eps:
        return lower, gain + slack if known else tail0 + slack
    return (0.0, slack) if victim.power == 1 else (lower, tail0 + slack)


# --- one (B, omega*) for one victim: delta(eps) from both sides ----------------------------------------------

_LARGEST = 200.0  # beyond it e^eps L overflows where it is squared
_MISSING = 1e-5  # of delta: what the window of C may leave out
_SMOOTHING, _BLOCKS = 0.1, 64  # for a choice: as in `positive_part`, and blocks of the law of C
_SURE = 100.0  # mean number of clones from which it is certain that there is one


@dataclass(frozen=True, eq=False)
class Reduction:
    """One (B, omega*) for one victim: everything that does not depend on eps.

    `equal` is the coverage and the number of users where all others are equal and their clones' law is not needed.
    """

    victim: Noise
    envelope: Envelope
    cells: Cells
    clones: CloneLaw
    equal: tuple[float, int] | None = None

    @classmethod
    def of(cls, victim: Noise, others: Reports, envelope: Envelope, delta: float, size: int | None = None) -> Reduction:
        """From a (B, omega*) for about this delta; `size` is about the number of cells."""
        c = envelope.clones(others)
        depth = -math.log(max(_MISSING * delta, 1e-100))
        law = clone_law(c, 1 - c, others.count.astype(np.float64), depth=depth, above=depth)
        n = int(others.count[0]) + 1
        # One round's law of C is kept: it is evaluated at a few eps alone, on cells that cost more.
        equal = (float(c[0]), n) if size is not None and c.size == 1 and n * c[0] > _SURE else None
        return cls(victim, envelope, between(edges(victim, envelope, size), victim, envelope), law, equal)

    @cached_property
    def upper(self) -> Callable[[float], float]:
        """Not below the reduction's delta(eps): y -> 1 - y exchanges f0 and f1, so one direction is both."""
        return cache(self._upper)  # searches ask again at the same eps

    def _upper(self, eps: float) -> float:
        if self.equal is None:
            return self._with(expectation_above(self._atoms(eps), self.clones), eps)
        return self._with(expectation_of_equal(self._atoms(eps), *self.equal).upper, eps)

    def about(self, eps: float) -> float:
        """The same, larger by a few per cent, in half the time: for a choice among several."""
        if self.equal is not None:
            return self.upper(eps)
        blocks = self.clones.merged(-(-self.clones.mass.size // _BLOCKS))
        return self._with(expectation_above(self._atoms(eps), blocks, smoothing=_SMOOTHING), eps)

    def _atoms(self, eps: float) -> tuple[Array, Array]:
        return self.cells.atoms(min(eps, _LARGEST), up=True)  # delta falls with eps

    def _with(self, inside: float, eps: float) -> float:
        return min(inside + self.missed(eps), 1.0)

    def missed(self, eps: float) -> float:
        """Not below what the victim's reports outside B cost."""
        return leak(self.victim, self.envelope.radius, min(eps, _LARGEST))[1]

    def lower(self, eps: float) -> float:
        """Not above the reduction's delta(eps)."""
        if eps > _LARGEST:
            return 0.0
        atoms = self.cells.atoms(eps, up=False)
        equal = self.equal
        inside = expectation_below(atoms, self.clones) if equal is None else expectation_of_equal(atoms, *equal).lower
        return inside + leak(self.victim, self.envelope.radius, eps)[0]

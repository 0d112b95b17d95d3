"""delta(eps) of the number of ones in shuffled randomized response, at many inputs of the others at once.

The victim has eps_n, w = e^eps_n/(1+e^eps_n); T is the number of ones among the others, with law t, at fixed
inputs. t is log-concave, so the best test is a threshold, S > m:

    H(P1, P0) = max_m [D t(m) - (e^eps - 1) P(T > m)],   D = w - e^eps (1-w),  N = e^eps w - (1-w).

Tilted by lambda = log(N/D), T has its mode at the best m, which is therefore the tilted mean rounded down or up
(Darroch 1964): three thresholds are tried, so that the mean may be off by a rounding. With
rho = D/N and the characteristic function phi of the tilted law

    H = D E[e^(lambda T)] e^(-lambda m) 1/(2 pi) int phi(s) e^(-i s m) (1 - e^(-is))/(1 - rho e^(-is)) ds:

some thirty terms of a sum, whatever n, accurate relative to H however small it is.

>>> crowd = Crowd(1.0, np.array([1.0]), np.array([1.0]))
>>> value, error = Tilted(crowd, 0.5).at(np.array([[0.0], [1.0]]))  # the other holds 0, or 1
>>> r = 1 / (1 + math.e)
>>> bool(abs(value[0] - ((1 - r) * r - math.exp(0.5) * r * r)) < 1e-15)  # both say 1
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from gspa.errors import OutsideValidity

Array = NDArray[np.float64]
Combine = Callable[[Array], Array]  # one row per group of users to one row per choice of their inputs

_CELLS = 1 << 19  # size of the arrays worked on at once
_LEFT_OUT = 44.0  # e^-44: tilted mass outside one period of the sum, on each side
_CUT = 50.0  # terms of the sum below e^-50 are not formed
_UNIT = 2.0**-52
_LARGEST = 700.0  # beyond it e^x is no double, and what it multiplies is at most 1
_MOST_EPS = 1e100  # far beyond any use, and no sum of such numbers overflows


@dataclass(frozen=True, eq=False)
class Crowd:
    """The victim's eps, and the others in groups of equal eps.

    Attributes:
        victim: eps_n.
        eps: shape (g,).
        count: shape (g,), whole numbers >= 0.
    """

    victim: float
    eps: Array
    count: Array

    def __post_init__(self) -> None:
        if self.victim > _MOST_EPS:
            hint = f"the largest is {self.victim:g}, which hides nothing"
            raise OutsideValidity("the exact law of the bits", f"eps <= {_MOST_EPS:g}", hint)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many numbers of ones each group can have; an eps = 0 report does not depend on its input."""
        return tuple(int(c) + 1 if e > 0 else 1 for e, c in zip(self.eps, self.count, strict=True))

    def every_input(self) -> Iterator[Array]:
        """Ones in each group, shape (rows, g), over all choices, in pieces."""
        choices, rows = math.prod(self.shape), _CELLS // 64
        for start in range(0, choices, rows):
            piece = np.arange(start, min(start + rows, choices))
            yield np.array(np.unravel_index(piece, self.shape), dtype=np.float64).T


class Tilted:
    """H(P1, P0) at one eps in [0, eps_n); for H(P0, P1) exchange zeros and ones."""

    def __init__(self, crowd: Crowd, eps: float) -> None:
        both, spare = -math.expm1(-eps - crowd.victim), -math.expm1(eps - crowd.victim)
        self.crowd = crowd
        self.scale = spare / (1 + math.exp(-crowd.victim))  # D
        self.rest = -math.expm1(-eps) * (1 + math.exp(-crowd.victim)) / both  # 1 - rho
        self.rho = math.exp(-eps) * spare / both
        self.tilt = -math.log1p(-self.rest) if self.rest < 0.5 else eps + math.log(both / spare)
        # Columns: input 0, input 1; the odds of reporting a one are e^-eps_j and e^eps_j.
        odds = crowd.eps[:, None] * np.array([-1.0, 1.0])
        self.p, rest = expit(odds + self.tilt), expit(-odds - self.tilt)
        self.variance = self.p * rest
        # log E[e^(tilt B)] - tilt E_tilted[B] of one report, and the size of its terms, to which rounding is relative.
        if self.tilt < 1:
            self.log_mgf = np.log1p(math.expm1(self.tilt) * expit(odds)) - self.tilt * self.p
            self.size = 0.0
        else:
            self.log_mgf = np.logaddexp(0, odds + self.tilt) - np.logaddexp(0, odds) - self.tilt * self.p
            self.size = float(crowd.count @ (crowd.eps + self.tilt))

    def deltas(self, combine: Combine) -> tuple[Array, Array]:
        """Values and bounds on their errors; `combine` is `ones @ table`, or the same in a faster way.

        The bounds cover what the sum leaves out, proved, and the rounding of phases and exponents, counted.
        """

        def total(table: Array) -> Array:
            """Sum over the others of what depends on their input; `table` has shape (g, 2, f)."""
            return np.asarray(self.crowd.count @ table[:, 0] + combine(table[:, 1] - table[:, 0]))

        n = float(self.crowd.count.sum())
        mean, variance, exponent = total(np.stack([self.p, self.variance, self.log_mgf], axis=2)).T
        least, most = max(float(variance.min()), 0.0), max(float(variance.max()), 0.0)
        # Bernstein: the tilted law has mass e^-_LEFT_OUT farther than `half` on each side, none beyond n + 1.
        half = int(min(n, _LEFT_OUT / 3 + math.sqrt(_LEFT_OUT**2 / 9 + 2 * _LEFT_OUT * most)) + 3)
        period, terms = 2 * half + 1, half + 1
        if 2 * least > _CUT:  # |phi(s)| <= exp(-2 variance sin^2(s/2)), because log1p(-x) <= -x
            terms = min(terms, math.ceil(math.asin(math.sqrt(_CUT / (2 * least))) * period / math.pi) + 2)
        s = 2 * math.pi / period * np.arange(terms)
        p, sine2 = self.p[:, :, None], np.sin(s / 2) ** 2
        log_size = total(0.5 * np.log1p(-4 * self.variance[:, :, None] * sine2))
        angle = total(np.arctan2(p * np.sin(s), 1 - 2 * p * sine2) - p * s)
        # Its geometric series ends after `half` terms, before the period would fold it back.
        step = 2j * np.sin(s / 2) * np.exp(-0.5j * s)  # 1 - e^(-is)
        below = self.rest + self.rho * step
        below[0] = 1.0
        kernel = (step + self.rest * self.rho**half * np.exp(-1j * s * (half + 1))) / below
        kernel[0] = self.rho**half
        weight = np.r_[1.0, np.full(terms - 1, 2.0)] / period
        # A mean that is a whole number but for its rounding: `m` may be one too large, so the one below is tried too.
        m = np.floor(mean + 8 * _UNIT * (1 + mean))
        wave = np.exp(log_size + 1j * (angle - (m - mean)[:, None] * s))
        back = np.exp(1j * s)
        # Thresholds m - 1, m and m + 1; t(m-1) - t(m) and t(m) - t(m+1), tilted.
        columns = [kernel * back, kernel, kernel / back, step * back, step]
        inside = np.real(wave @ (weight * np.array(columns)).T)
        # Phases are rounded relative to s * mean, exponents relative to tilt * mean.
        top = float(mean.max()) + 2
        rounding = 8 * _UNIT * (4 + s * top) * weight
        spread = np.abs(wave) @ np.stack([np.abs(kernel) * rounding, 2 * rounding], axis=1) + 4 * math.exp(-_LEFT_OUT)
        slack = 8 * _UNIT * (2 + 2 * self.tilt * top + self.size)
        height = (exponent + self.tilt * (mean - m))[:, None] + self.tilt * np.array([1.0, 0.0, -1.0])
        factor = self.scale * np.exp(np.minimum(height, _LARGEST))
        # A threshold only where the tilted mode may be at it: the tilted law rises up to its mode, then falls.
        rises, falls = inside[:, 3:] <= spread[:, 1:], inside[:, 3:] >= -spread[:, 1:]
        may = np.stack([falls[:, 0], rises[:, 0] & falls[:, 1], rises[:, 1]], axis=1)
        value = np.where(may, factor * inside[:, :3], 0.0)
        error = np.where(may, factor * (spread[:, :1] + slack * np.abs(inside[:, :3])), 0.0)
        return np.maximum(value.max(axis=1), 0.0), error.max(axis=1)

    def at(self, ones: Array) -> tuple[Array, Array]:
        """At given numbers of ones, shape (rows, g)."""
        return self.deltas(lambda table: ones @ table)

    def around(self, ones: Array, group: NDArray[np.intp], step: Array) -> tuple[Array, Array]:
        """At `ones`, shape (g,), with step[i] more in group[i], one change a row."""
        return self.deltas(lambda table: ones @ table + step[:, None] * table[group])

"""E[(L_1 + ... + L_M)_+] for a random number M of independent copies of a discrete L, bracketed from both sides.

For any lambda > 0, with the characteristic function of the law of S tilted by e^(lambda s),

    E[S_+] = 1/(2 pi) int M(lambda + it) / (lambda + it)^2 dt,        M(z) = E[e^(z S)].

Three facts turn the integral into a bracket.

1. The trapezoidal sum with step 2 pi / P equals sum_j e^(-lambda j P) E[(S + j P)_+] over all
   integers j: the term j = 0 is what is wanted and every other one is >= 0. It errs upward, by an
   amount that Chernoff's bound limits.
2. S + Z with an independent centred Gaussian Z of standard deviation tau replaces S: Jensen makes
   this err upward too, and E[(S + Z)_+] - E[S_+] <= tau^2 p(0), p the density of S + Z, because
   E[(s + Z)_+] - s_+ <= tau phi(s / tau). The factor e^(-tau^2 t^2 / 2) then ends the sum after
   a few hundred terms, whatever M and however lattice-like L.
3. At the saddle point lambda every term is of the size of the result, so that roundings stay
   relative to it, however small it is.

No grid for S is needed, so the cost does not grow with M.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_UNIT = 2.0**-52
_REACH = 7.0  # e^(-7^2 / 2) = 2e-11 ends the Fourier sum
_DROPPED = 60.0  # terms below e^-60 of the largest are not formed
_ALIAS = 1e-4  # relative size of the images that is worth a longer period
_LONGEST = 400.0
_MULTIPLES = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0)
_BLOCK = 64


class Bracket(NamedTuple):
    """lower <= value <= upper."""

    lower: float
    upper: float


def log_mgf(values: Array, masses: Array, tilt: float) -> float:
    """log E[e^(tilt L)], without overflow."""
    top = float(values.max()) if tilt > 0 else float(values.min())
    return tilt * top + math.log(float(masses @ np.exp(tilt * (values - top))))


def _saddle(values: Array, masses: Array, m: float) -> float:
    """The minimiser of m log E[e^(lambda L)] - 2 log lambda; any lambda > 0 would be valid."""
    top = float(values.max())
    gaps = values - top
    low, high = 1e-3 / (m * max(top, -float(values.min()))), 1e3 / top

    def slope(tilt: float) -> float:
        tilted = masses * np.exp(tilt * gaps)
        return m * float(values @ tilted) / float(tilted.sum()) - 2 / tilt

    while slope(high) < 0 and high < 1e9 / top:
        high *= 10
    for _ in range(24):  # to within 0.1% or so; the value does not depend on it
        middle = math.sqrt(low * high)
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return math.sqrt(low * high)


def _characteristic(scaled: Array, tilted: Array, step: float, terms: int) -> Complex:
    """E[exp(i k step l)] for k = 0 .. terms - 1; two-level powers leave one exponential per atom and sqrt(terms)."""
    inner = math.isqrt(terms - 1) + 1
    fine = np.exp(1j * step * np.multiply.outer(np.arange(inner), scaled))
    coarse = np.exp(1j * step * inner * np.multiply.outer(np.arange(-(-terms // inner)), scaled))
    return np.asarray(((coarse * tilted) @ fine.T).ravel()[:terms], dtype=np.complex128)


def _power_sum(zeta: Complex, first: int, weights: Array) -> Complex:
    """sum_i weights[i] zeta^(first + i), in blocks of 64 powers."""
    blocks = -(-weights.size // _BLOCK)
    table = np.zeros(blocks * _BLOCK)
    table[: weights.size] = weights
    base = np.repeat(zeta[:, None], _BLOCK, axis=1)
    base[:, 0] = 1
    powers = np.cumprod(base, axis=1)
    inner = powers @ table.reshape(blocks, _BLOCK).T.astype(np.complex128)
    jump = powers[:, -1] * zeta
    total = inner[:, -1].copy()
    for j in range(blocks - 2, -1, -1):
        total = total * jump + inner[:, j]
    return np.asarray(np.exp(first * np.log(zeta)) * total)


def positive_part(values: Array, masses: Array, first: int, weights: Array, *, smoothing: float = 0.04) -> Bracket:
    """sum_i weights[i] E[(L_1 + ... + L_(first + i))_+].

    Args:
        values, masses: shape (k,), the law of L; masses >= 0 with sum 1.
        first: >= 1, the smallest number of copies.
        weights: shape (w,), >= 0, not all 0.
        smoothing: tau lambda; the bracket's relative width is about its square.
    """
    kept = masses > 0
    values, masses = values[kept], masses[kept]
    masses = masses / masses.sum()
    if float(values.max()) <= 0:
        return Bracket(0.0, 0.0)
    copies = first + np.arange(weights.size, dtype=np.float64)
    last = int(copies[-1])
    tilt = _saddle(values, masses, float(weights @ copies) / float(weights.sum()))
    log_m = log_mgf(values, masses, tilt)
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights) + copies * log_m
    height = float(log_weights.max())
    tilted_weights = np.exp(log_weights - height)
    size = float(tilted_weights.sum())  # E[e^(lambda S)] = size e^height
    scaled = tilt * values
    tilted = masses * np.exp(scaled - log_m)
    tilted /= tilted.sum()

    # Work with lambda S; the value is usually size / 10, at least size / 100.
    images = _Images.of(values, masses, copies, weights, tilt, height)
    period = max(20.0, 12.0 + images.log_weight - math.log(size))
    longest = period + _LONGEST
    while images.bound(period, 0.01 * size) > _ALIAS * 0.01 * size and period < longest:
        period *= 1.25
    if period > 150:
        smoothing *= 2
    spread = smoothing * smoothing
    step = 2 * math.pi / period
    terms = math.ceil(_REACH / (smoothing * step)) + 1
    zeta = _characteristic(scaled, tilted, step, terms)
    t = step * np.arange(terms)
    with np.errstate(divide="ignore"):
        formed = first * np.log(np.abs(zeta)) > -_DROPPED
    sums = np.zeros(terms, dtype=np.complex128)
    sums[formed] = _power_sum(zeta[formed], first, tilted_weights)
    z = 1 + 1j * t
    density_terms = sums * np.exp(spread * z * z / 2)
    density_terms[1:] *= 2  # the frequencies -t
    value_terms = density_terms / (z * z)
    value = float(value_terms.real.sum()) / period
    density = float(density_terms.real.sum()) / period
    # Each zeta carries a sum of k products and a phase; its power multiplies that error by the count.
    relative = _UNIT * (last * (4.0 * values.size + 64 + 8 * float(t[-1]) * float(tilted @ np.abs(scaled))) + 512)
    error = relative * float(np.abs(value_terms).sum()) / period + terms * math.exp(-_DROPPED) * size
    end = float(t[-1])
    # sum_(k > K) 2 e^(-spread t_k^2 / 2) / t_k^2 <= 2 e^(-spread t_K^2 / 2) / (step t_K)
    cut = 2 * size * math.exp(spread * (1 - end * end) / 2) / (step * end * period)
    loss = spread * (max(density, 0.0) + relative * float(np.abs(density_terms).sum()) / period)
    loss += spread * 2 * size * math.exp(spread * (1 - end * end) / 2) / (spread * end * step * period)
    unit = math.exp(height) / tilt
    upper = (value + error + cut) * unit
    lower = (value - images.bound(period, value) - loss - error - cut) * unit
    return Bracket(max(lower, 0.0), max(upper, 0.0))


class _Images(NamedTuple):
    """What bounds the images j != 0 of fact 1, in the scaled units of `positive_part`."""

    log_weight: float
    log_moments: tuple[float, ...]

    @classmethod
    def of(cls, values: Array, masses: Array, copies: Array, weights: Array, tilt: float, height: float) -> _Images:
        """log of sum_i weights[i] E[e^(a lambda S_i)] for a few a > 1, S blurred, all over e^height."""
        with np.errstate(divide="ignore"):
            logs = np.log(weights)
        found = []
        for a in _MULTIPLES:
            exponents = logs + copies * log_mgf(values, masses, a * tilt) - height
            top = float(exponents.max())
            found.append(top + math.log(float(np.exp(exponents - top).sum())) + 0.02 * a * a)
        return cls(math.log(float(weights.sum())) - height, tuple(found))

    def bound(self, period: float, value: float) -> float:
        """Not below the sum of the images at this period."""
        decay = math.exp(-period)
        # j >= 1: e^(-j P) E[(X + j P)_+] <= e^(-j P) (j P weight + E X_+)
        left = (period * math.exp(min(self.log_weight - period, 700.0)) + decay * value) / (1 - decay) ** 2
        # j <= -1: e^(j P) E[(X - j P)_+] <= E[e^(a X)] e^(-(a - 1) j P) / (e a) for every a > 1
        logs = [
            m - (a - 1) * period - 1 - math.log(a) - math.log1p(-math.exp(-(a - 1) * period))
            for a, m in zip(_MULTIPLES, self.log_moments, strict=True)
        ]
        return left + math.exp(min(*logs, 700.0))

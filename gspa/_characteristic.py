"""log E[e^{itC}] of a sum of independent Bernoulli(q_j), at many t, from a few power sums.

log(1 + q u) = sum_k (-1)^(k+1) (q u)^k / k with u = e^{it} - 1, so sums of q^k serve every t. A user
with q > 1/2 is written as 1 minus a Bernoulli(1 - q): then v = min(q, 1-q) <= 1/2 and |u| v is small
wherever the characteristic function is not negligible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LOG_NOTHING = 40.0  # |phi| below e^-40 is left out
_REMAINDER = 1e-14  # of the series, absolute in log phi
_CHUNK = 1 << 13  # fits the cache, and BLAS starts no threads for a product of 10,000 numbers or fewer
# (sin t - t)/t^3 = sum_k (-1)^(k+1) t^2k/(2k+3)!; at t = 1 the next term is 1e-17.
_SINE = tuple((-1.0) ** (k + 1) / math.factorial(2 * k + 3) for k in range(8))


@dataclass(frozen=True)
class Sums:
    """Power sums S_k of q_j <= 1/2 and of 1 - q_j for the others; the few large v kept apart.

    Attributes:
        low: shape (K,), sum of count q^k over q <= 1/2, k = 1..K.
        high: shape (K,), sum of count (1-q)^k over q > 1/2.
        mean: E[C].
        cutoff: t beyond which |phi| < e^-40, at most pi.
        apart: shape (a,), v of the users evaluated directly.
        apart_sign: shape (a,), +1 for q <= 1/2, -1 for others.
        apart_count: shape (a,).
    """

    low: Array
    high: Array
    mean: float
    cutoff: float
    apart: Array
    apart_sign: Array
    apart_count: Array


def moments(q: Array, rest: Array, count: Array) -> tuple[float, float, float]:
    """E[C], Var[C] and max_j min(q_j, 1 - q_j); in pieces that stay in the processor's cache."""
    mean = variance = largest = 0.0
    for start in range(0, q.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        mean += float(q[part] @ count[part])
        variance += float((q[part] * rest[part]) @ count[part])
        largest = max(largest, float(np.minimum(q[part], rest[part]).max()))
    return mean, variance, largest


def power_sums(q: Array, rest: Array, count: Array, mean: float, variance: float, largest: float) -> Sums:
    """The sums that `log_characteristic` needs, after `moments`; O(K) passes over the users.

    |phi(t)|^2 = prod (1 - 4 q (1-q) sin^2(t/2)) <= exp(-4 variance sin^2(t/2)) sets the cutoff.
    """
    sine2 = _LOG_NOTHING / (2 * variance)
    cutoff = 2 * math.asin(math.sqrt(sine2)) if sine2 < 1 else math.pi
    u = 2 * math.sin(cutoff / 2)
    apart_from = 0.25 / u
    v_apart = sign = many = np.zeros(0)
    if largest > apart_from:
        v = np.minimum(q, rest)
        apart = v > apart_from
        v_apart, many = v[apart], count[apart]
        sign = np.where(q[apart] > 0.5, -1.0, 1.0)
        q, rest, count = q[~apart], rest[~apart], count[~apart]
        largest = apart_from
    # v <= 2 v (1 - v), so the sum of v is at most twice the variance.
    terms = _terms(2 * variance, largest, u)
    sums = np.zeros((2, terms))
    for start in range(0, q.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        v, weight = np.minimum(q[part], rest[part]), count[part]
        high = q[part] > 0.5
        sides = [(0, weight)] if not high.any() else [(1, weight)] if high.all() else [
            (0, np.where(high, 0.0, weight)), (1, np.where(high, weight, 0.0))
        ]  # fmt: skip
        power = v.copy()
        for k in range(terms):
            for row, side in sides:
                sums[row, k] += power @ side
            power *= v
    return Sums(sums[0], sums[1], mean, cutoff, v_apart, sign, many)


def _terms(total: float, largest: float, u: float) -> int:
    """K with sum_j (v_j u)^(K+1)/(K+1)/(1 - v u) <= the remainder allowed."""
    x = largest * u
    bound, k = total * u, 0
    while k < 2 or bound / ((k + 1) * (1 - x)) > _REMAINDER:
        bound *= x
        k += 1
    return k


def log_characteristic(sums: Sums, t: Array, origin: float) -> NDArray[np.complex128]:
    """log E[e^{it(C - origin)}] for t in [0, pi]; absolute error about 1e-13 where |phi| > e^-40."""
    fall = -2 * np.sin(t / 2) ** 2
    u = fall + 1j * np.sin(t)
    near = np.minimum(t, 1.0) ** 2
    lag = np.where(t < 1, near * t * np.polyval(_SINE[::-1], near), np.sin(t) - t)  # sin t - t
    first_low, first_high = sums.low[0], sums.high[0]
    out = (first_low + first_high) * fall + 1j * ((first_low - first_high) * lag + (sums.mean - origin) * t)
    power = u.copy()
    for k in range(2, sums.low.size + 1):
        power *= u
        out += (-1) ** (k + 1) / k * (sums.low[k - 1] * power + sums.high[k - 1] * np.conj(power))
    width = max(1, (1 << 20) // max(t.size, 1))
    for start in range(0, sums.apart.size, width):
        part = slice(start, start + width)
        v, sign, count = sums.apart[part], sums.apart_sign[part], sums.apart_count[part]
        # The imaginary part is taken relative to the mean, which `origin` has counted.
        own = np.log1p(np.outer(u, v))
        out += own.real @ count + 1j * (own.imag @ (count * sign) - t * float(v @ (count * sign)))
    return np.asarray(out)

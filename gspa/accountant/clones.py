"""The law of the number of clones, C = sum_j Bernoulli(q_j), with certified errors.

Three ways, by size: a product of polynomials (few users: every term positive), the saddle-point
binomial (equal q), or the characteristic function at the few frequencies where it is not 0, from
power sums of the q_j. A million distinct users cost a dozen dot products.

>>> q = np.array([0.5, 0.25])
>>> law = clone_law(q, 1 - q, np.array([1.0, 1.0]))
>>> law.mass.tolist()
[0.375, 0.5, 0.125]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from gspa.accountant import binomial
from gspa.accountant.arguments import Array
from gspa.accountant.errors import InternalError

# --- log E[e^{itC}] of a sum of independent Bernoulli(q_j) from a few power sums -----------------------------
# log(1 + q u) = sum_k (-1)^(k+1) (q u)^k / k with u = e^{it} - 1, so sums of q^k serve every t. A user
# with q > 1/2 is written as 1 minus a Bernoulli(1 - q): then v = min(q, 1-q) <= 1/2 and |u| v is small
# wherever the characteristic function is not negligible.

_LOG_NOTHING = 40.0  # |phi| below e^-40 is left out
_REMAINDER = 1e-14  # of the series, absolute in log phi
_CHUNK = 1 << 13  # fits the cache, and BLAS starts no threads for a product of 10,000 numbers or fewer
# (sin t - t)/t^3 = sum_k (-1)^(k+1) t^2k/(2k+3)!; at t = 1 the next term is 1e-17.
_SINE = tuple((-1.0) ** (k + 1) / math.factorial(2 * k + 3) for k in range(8))


def moments(q: Array, rest: Array, count: Array) -> tuple[float, float, float]:
    """E[C], Var[C] and max_j min(q_j, 1 - q_j); in pieces that stay in the processor's cache."""
    mean = variance = largest = 0.0
    for start in range(0, q.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        mean += float(q[part] @ count[part])
        variance += float((q[part] * rest[part]) @ count[part])
        largest = max(largest, float(np.minimum(q[part], rest[part]).max()))
    return mean, variance, largest


def characteristic(
    q: Array, rest: Array, count: Array, about: tuple[float, float, float], origin: float
) -> tuple[float, Callable[[Array], NDArray[np.complex128]]]:
    """The t beyond which |E[e^(itC)]| < e^-40, at most pi, and t -> log E[e^(it(C - origin))] up to there.

    After `moments`; O(K) passes over the users, K power sums. |phi(t)|^2 = prod (1 - 4 q (1-q) sin^2(t/2)) <=
    exp(-4 variance sin^2(t/2)) sets the cutoff. The logarithm's absolute error is about 1e-13.
    """
    mean, variance, largest = about
    sine2 = _LOG_NOTHING / (2 * variance)
    cutoff = 2 * math.asin(math.sqrt(sine2)) if sine2 < 1 else math.pi
    reach = 2 * math.sin(cutoff / 2)
    apart_from = 0.25 / reach
    v_apart = sign = many = np.zeros(0)  # of the few users who are evaluated directly
    if largest > apart_from:
        v = np.minimum(q, rest)
        apart = v > apart_from
        v_apart, many = v[apart], count[apart]
        sign = np.where(q[apart] > 0.5, -1.0, 1.0)
        q, rest, count = q[~apart], rest[~apart], count[~apart]
        largest = apart_from
    # The terms beyond number K are at most sum_j (v_j u)^(K+1)/(K+1)/(1 - v u), u = `reach`; v <= 2 v (1 - v), so the
    # sum of v is at most twice the variance.
    x, bound, terms = largest * reach, 2 * variance * reach, 0
    while terms < 2 or bound / ((terms + 1) * (1 - x)) > _REMAINDER:
        bound *= x
        terms += 1
    low, high = sums = np.zeros((2, terms))  # of count v^k over the users with q <= 1/2, and over the others
    for start in range(0, q.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        v, weight = np.minimum(q[part], rest[part]), count[part]
        large = q[part] > 0.5
        sides = np.where(large, 0.0, weight), np.where(large, weight, 0.0)
        power = v.copy()
        for k in range(terms):
            sums[:, k] += [power @ side for side in sides]
            power *= v

    def log_phi(t: Array) -> NDArray[np.complex128]:
        fall = -2 * np.sin(t / 2) ** 2
        u = fall + 1j * np.sin(t)
        near = np.minimum(t, 1.0) ** 2
        lag = np.where(t < 1, near * t * np.polyval(_SINE[::-1], near), np.sin(t) - t)  # sin t - t
        out = (low[0] + high[0]) * fall + 1j * ((low[0] - high[0]) * lag + (mean - origin) * t)
        power = u.copy()
        for k in range(2, terms + 1):
            power *= u
            out += (-1) ** (k + 1) / k * (low[k - 1] * power + high[k - 1] * np.conj(power))
        width = max(1, (1 << 20) // max(t.size, 1))
        for start in range(0, v_apart.size, width):
            part = slice(start, start + width)
            signed = many[part] * sign[part]
            # The imaginary part is taken relative to the mean, which `origin` has counted.
            own = np.log1p(np.outer(u, v_apart[part]))
            out += own.real @ many[part] + 1j * (own.imag @ signed - t * float(v_apart[part] @ signed))
        return np.asarray(out)

    return cutoff, log_phi


# --- the law of the number of clones, C = sum_j Bernoulli(q_j) -----------------------------------------------

DEPTH = 60.0  # e^-DEPTH: mass left out by default where the divergence can be as large as 1
_CORE = 30.0  # e^-_CORE: mass left out where it is near its value in the middle
_FEW = 2048  # users up to which polynomials are multiplied out
_WHOLE = 256  # users up to which nothing is left out
_POINTS = 4096  # binomial pmf evaluated one by one up to this many
_WIDE = 150.0  # standard deviation from which the two depths differ and no tilt is needed
_RELATIVE = 1e-11  # allowance on each mass; measured errors are below 1e-12 (tests, against Arb)
_NOISE = 2e-13  # allowance relative to the largest mass, for the Fourier sum; measured below 2e-14
_BLOCKS = 6000  # blocks that are affordable, when counts are so many that they are put in blocks
_BLOCK = 8e-7  # block length over count: half of it is the relative width it costs in eps


@dataclass(frozen=True, eq=False)
class CloneLaw:
    """Masses of consecutive blocks [edges[j], edges[j+1]) of counts, and what is left out."""

    edges: Array  # shape (m + 1,), whole numbers, increasing
    mass: Array  # shape (m,), P(C in block j) within `error`
    error: Array  # shape (m,), absolute allowance
    below: float  # P(C < edges[0]) is at most this
    far: float  # a whole number <= edges[0]
    far_mass: float  # P(C < far) is at most this
    above: float  # P(C >= edges[-1]) is at most this
    mean: float = 0.0  # E[C], which `clone_law` sets
    variance: float = 0.0  # Var[C], likewise

    def merged(self, step: int) -> CloneLaw:
        """The same law in blocks that are `step` times as long: as certain, less sharp, faster to use."""
        starts = np.arange(0, self.mass.size, step)
        mass, error = np.add.reduceat(self.mass, starts), np.add.reduceat(self.error, starts)
        return replace(self, edges=np.r_[self.edges[starts], self.edges[-1]], mass=mass, error=error)

    def shifted(self, by: float) -> CloneLaw:
        """The law of C + by, a whole number, where that is >= 0; what is below is left out."""
        edges, mass, error = self.edges + by, self.mass, self.error
        first = int(np.searchsorted(edges, 0))  # the block before it may reach up to 0, which is no edge of it
        below = self.below + (float(mass[first - 1] + error[first - 1]) if first > 0 else 0.0)
        if first >= mass.size:
            edges, mass, error, first = np.array([0.0, 1.0]), np.zeros(1), np.zeros(1), 0
        law = replace(self, edges=edges[first:], mass=mass[first:], error=error[first:], below=below)
        return replace(law, far=max(self.far + by, 0.0), mean=self.mean + by)


def _reach(variance: float, depth: float) -> float:
    """t with P(|C - mean| >= t) <= e^-depth on each side: Bernstein's inequality, inverted."""
    return (depth / 3 + math.sqrt(depth * depth / 9 + 2 * depth * variance)) * (1 + 1e-12)


def clone_law(
    q: Array, rest: Array, count: Array, *, depth: float = DEPTH, slope: float = 0.0, above: float = _CORE
) -> CloneLaw:
    """The law of the sum of independent Bernoulli(q_j), group j taken count[j] times; `rest` is 1 - q, no digit lost.

    `far_mass` is at most e^-depth, the mass above at most e^-above. Windows are chosen by Bernstein's inequality and
    rounded outwards; what they hold and what they leave out must add up to 1 within the allowances. With `slope` about
    d log(what is averaged)/dc, <= 0, small laws are computed accurately where P(C = c) e^(slope c) is largest.
    """
    shift = 0.0
    if min(q.min(initial=1.0), rest.min(initial=1.0), count.min(initial=1.0)) <= 0:
        random = (q > 0) & (rest > 0) & (count > 0)
        shift = float(count[(rest <= 0)].sum())
        q, rest, count = q[random], rest[random], count[random]
    n = float(count.sum())
    if n == 0:
        return CloneLaw(np.array([shift, shift + 1]), np.ones(1), np.zeros(1), 0.0, shift, 0.0, 0.0, shift, 0.0)
    mean, variance, _ = about = moments(q, rest, count)
    low, high, outside = _window(mean, variance, n, depth, above)
    if (q[0] == q[-1] and q.min() == q.max()) and high - low < _POINTS:
        mass = binomial.pmf(np.arange(low, high + 1), n, float(q[0]), float(rest[0]))
        law = _points(low, mass, outside)
    elif n <= _FEW:
        # Coefficients of prod_j (rest_j + q_j x): sums of positive terms, relative error <= about 2 n u.
        mass = reduce(np.convolve, np.repeat(np.stack([rest, q], axis=1), count.astype(np.intp), axis=0))
        law = _points(low, mass[int(low) : int(high) + 1], outside)
    else:
        edges, mass, error = _fourier(q, rest, count, about, low, high, slope)
        law = CloneLaw(edges, mass, error, **outside)
    total = float(law.mass.sum())
    if not abs(total - 1) <= float(law.error.sum()) + law.below + law.far_mass + law.above + _RELATIVE:
        raise InternalError(f"the masses of {law.mass.size} blocks of counts, and outside them, add up to {total!r}")
    return replace(law, edges=law.edges + shift, far=law.far + shift, mean=mean + shift, variance=variance)


def _window(mean: float, variance: float, n: float, depth: float, over: float) -> tuple[float, float, dict[str, float]]:
    """Counts kept, from low to high, and what a `CloneLaw` says of those left out on each side."""
    if n <= _WHOLE:
        return 0.0, n, {"below": 0.0, "far": 0.0, "far_mass": 0.0, "above": 0.0}
    wide = variance >= _WIDE**2
    core = min(_CORE, depth) if wide else depth
    low = max(0.0, math.floor(mean - _reach(variance, core)))
    far = max(0.0, math.floor(mean - _reach(variance, depth)))
    high = min(n, math.ceil(mean + _reach(variance, over)))
    below, far_mass = math.exp(-core) if low > 0 else 0.0, math.exp(-depth) if far > 0 else 0.0
    above = math.exp(-over) if high < n else 0.0
    return low, high, {"below": below, "far": far, "far_mass": far_mass, "above": above}


def _points(low: float, mass: Array, outside: dict[str, float]) -> CloneLaw:
    # Masses that underflow are below 1e-300.
    return CloneLaw(low + np.arange(mass.size + 1.0), mass, _RELATIVE * mass + 1e-300, **outside)


def _fourier(
    q: Array, rest: Array, count: Array, about: tuple[float, float, float], first: float, last: float, slope: float
) -> tuple[Array, Array, Array]:
    """Edges, masses and their allowances of blocks from the first count to the last."""
    n = float(count.sum())
    mean, variance, _ = about
    wide = variance >= _WIDE**2
    tilt = 0.0 if wide else slope
    block, log_weight, low, high = 1, 0.0, first, last
    if wide:
        block = int(max(1, min(_BLOCK * low, (high - low) / _BLOCKS)))
    else:
        # Exponential tilting: P(C = c) = E[e^(tilt C)] e^(-tilt c) P_tilted(C = c), so that the
        # Fourier sum's absolute noise is small relative to the masses that matter.
        growth = math.expm1(tilt)
        log_weight = float(np.log1p(q * growth) @ count)
        scale = 1 + q * growth
        q, rest = q * math.exp(tilt) / scale, rest / scale
        mean, variance, _ = about = moments(q, rest, count)
        # What lies outside one period wraps into it: e^-45 of the tilted law is below the noise.
        low = max(0.0, min(low, math.floor(mean - _reach(variance, 45.0))))
        high = min(n, max(high, math.ceil(mean + _reach(variance, 45.0))))
    least = int((high - low) // block) + 2
    length = min(m << max(1, math.ceil(math.log2(least / m))) for m in (1, 3, 5))  # fast: 2^a, 3 2^a or 5 2^a
    cutoff, log_phi = characteristic(q, rest, count, about, low)
    step = 2 * math.pi / (length * block)
    t: Array = step * np.arange(min(length // 2, math.ceil(cutoff / step)) + 1, dtype=np.float64)
    spectrum = np.conj(np.exp(log_phi(t)))
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = np.where(t > 0, np.sin(block * t / 2) / np.sin(t / 2), block)
    mass = _invert(spectrum * inside * np.exp(0.5j * (block - 1) * t), length, block)
    peak = 2 * float(np.abs(spectrum).sum()) / (length * block)  # bounds every point mass
    noise = _NOISE * peak * block
    edges: Array = low + block * np.arange(length + 1, dtype=np.float64)
    start = int((first - low) // block)
    kept = slice(start, start + int((last - first) // block) + 1)
    edges, mass = edges[kept.start : kept.stop + 1], np.maximum(mass[kept], 0.0)
    with np.errstate(over="ignore"):
        weight = np.exp(log_weight - tilt * edges[:-1])
    # Where the weight is no double, so far from where the law is tilted to, a mass is only known to be at most 1.
    known = np.isfinite(weight)
    weight = np.where(known, weight, 0.0)
    mass = mass * weight
    error = np.where(known, _RELATIVE * mass + noise * weight, 1.0)
    if wide:  # the mass that wrapped around, wherever it landed: the divergence is largest at the first edge
        error[0] += 2 * math.exp(-_CORE)
    return edges, mass, error


def _invert(spectrum: NDArray[np.complex128], length: int, block: int) -> Array:
    return np.asarray(np.fft.irfft(spectrum, length) / block)

"""The law of a sum of independent Bernoulli variables on the window that holds all but a stated mass of it.

>>> law = bernoulli_sum([0.5], [4], missing=1e-9)
>>> law.first, [round(float(p), 6) for p in law.masses]
(0, [0.0625, 0.25, 0.375, 0.25, 0.0625])
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import next_fast_len

Array = NDArray[np.float64]

_UNIT = 2.0**-52
_NEGLIGIBLE = 45.0  # e^-45 = 3e-20: below one rounding of the largest Fourier coefficient, 1


class Window(NamedTuple):
    """P(C = first + i) is within `noise` of masses[i]; `below` and `above` bound what the window leaves out."""

    first: int
    masses: Array
    below: float
    above: float
    noise: float


def _reach(p: Array, count: Array, log_missing: float) -> tuple[int, int, float, float]:
    """First and last count of a window outside which Chernoff's bound leaves e^log_missing on each side."""
    n, mean = int(count.sum()), float(count @ p)
    variance = float(count @ (p * (1 - p)))
    scale = math.sqrt(2 * -log_missing / max(variance, 1e-300))
    # The best theta for a Gaussian is `scale`; the grid serves sums that are far from one.
    theta = np.minimum(scale * np.geomspace(0.05, 50, 61), 700.0)
    # P(C <= k) <= exp(K(-theta) + theta k) and P(C >= k) <= exp(K(theta) - theta k)
    down = np.array([count @ np.log1p(p * math.expm1(-t)) for t in theta])
    up = np.array([count @ np.log1p(p * math.expm1(t)) for t in theta])
    low = math.floor(float(np.max((log_missing - down) / theta)))  # P(C <= low) <= missing
    high = math.ceil(float(np.min((up - log_missing) / theta)))  # P(C >= high) <= missing
    first, last = max(low + 1, 0), min(high - 1, n)
    first, last = min(first, math.floor(mean)), max(last, min(math.ceil(mean), n))
    missing = math.exp(log_missing)
    return first, last, missing if first > 0 else 0.0, missing if last < n else 0.0


def bernoulli_sum(p: ArrayLike, count: ArrayLike, *, missing: float) -> Window:
    """Law of C = sum of count[g] Bernoulli(p[g]), all independent.

    The characteristic function is sampled at the window's own frequencies, so what lies outside is
    folded into it (at most `below + above`, included in `noise`) and nothing else is lost. Its modulus
    decreases in the frequency, term by term, so it is evaluated only where it exceeds e^-45.

    Args:
        p: shape (g,), in [0, 1].
        count: shape (g,), whole numbers >= 0.
        missing: in (0, 1): bound on the mass left out on each side.
    """
    prob = np.asarray(p, dtype=np.float64)
    many = np.asarray(count, dtype=np.float64)
    certain = int(many[prob >= 1].sum())
    kept = (prob > 0) & (prob < 1) & (many > 0)
    prob, many = prob[kept], many[kept]
    if prob.size == 0:
        return Window(certain, np.ones(1), 0.0, 0.0, 0.0)
    first, last, below, above = _reach(prob, many, math.log(missing))
    size = last - first + 1
    period = next_fast_len(size, real=True)
    total = period // 2 + 1
    variance = float(many @ (prob * (1 - prob)))
    # |chf| <= exp(-2 variance sin^2(theta/2)), because log1p(-x) <= -x.
    enough = total
    if 2 * variance > _NEGLIGIBLE:
        enough = min(total, math.ceil(math.asin(math.sqrt(_NEGLIGIBLE / (2 * variance))) * period / math.pi) + 2)
    chf = np.zeros(total, dtype=np.complex128)
    block = max(1, 2**20 // prob.size)
    for start in range(0, enough, block):
        half = np.arange(start, min(start + block, enough)) * (math.pi / period)
        square = np.sin(half)[:, None] ** 2
        with np.errstate(divide="ignore"):  # p = 1/2 at theta = pi: the factor is 0
            log_size = 0.5 * np.log1p(-4 * prob * (1 - prob) * square)
        angle = np.arctan2(prob * np.sin(2 * half)[:, None], 1 - 2 * prob * square)
        chf[start : start + half.size] = np.exp(log_size @ many + 1j * (angle @ many - 2 * half * first))
    masses = np.fft.irfft(chf.conj(), period)  # P(C = k) has the kernel e^(-i theta k)
    # Phases are sums of up to n angles; each sum has a relative error of a few units.
    phase = 4 * _UNIT * (float(many @ prob) + first) * (2 * math.pi * enough / period)
    noise = (phase + 64 * _UNIT) * (2 * float(np.abs(chf).sum()) + 1) / period + math.exp(-_NEGLIGIBLE)
    return Window(certain + first, np.clip(masses[:size], 0.0, 1.0), below, above, noise + below + above)

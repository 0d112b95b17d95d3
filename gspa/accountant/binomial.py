"""Binomial probabilities to full relative accuracy at any size, and the tail integral of the pair.

log-gamma differences lose 7 digits at c = 1e9; the saddle-point form of Loader (2000, "Fast and
accurate computation of binomial probabilities") loses none:

>>> float(fair_pmf(np.array([2.0]), np.array([4.0]))[0])
0.375
"""

from __future__ import annotations

import math

import numpy as np

from gspa.accountant.arguments import Array

_LOG_2PI = math.log(2 * math.pi)
# Stirling's series for log n! - log(sqrt(2 pi n) (n/e)^n); at n = 16 its next term is 2e-18.
_STIRLING = (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)  # the highest power first
_SMALL_STIRLING = np.array(
    [0.0] + [math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - 0.5 * _LOG_2PI for n in range(1, 16)]
)
# (1+v)log(1+v) + (1-v)log(1-v) = sum_k v^2k / (k (2k-1)); at v = 0.15 the next term is 1e-17 of the first.
_FAIR_SERIES = tuple(1 / (k * (2 * k - 1)) for k in range(9, 0, -1))
_NODES, _WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(24))
_NODES = _NODES + 0.5
_REACH = 36.0  # where the tail integral is cut
_SUMMED_TO = 256.0  # c + 1 below which the tail is summed term by term; from there neighbours share quadrature nodes
_ROWS = 360  # at once: in cache, and too few for BLAS to start threads, which stall on a busy machine


def stirling_error(n: Array) -> Array:
    """log n! - log(sqrt(2 pi n) (n/e)^n) for whole n >= 0 (0 at n = 0); absolute error below 1e-15."""
    inverse = 1 / np.maximum(n, 1.0)
    out = inverse * np.polyval(_STIRLING, inverse * inverse)
    small = n < 16
    if small.any():
        out[small] = _SMALL_STIRLING[n[small].astype(np.intp)]
    return out


def _deviance(x: Array, mean: Array) -> Array:
    """x log(x/mean) + mean - x for x > 0, mean > 0, without cancellation near x = mean."""
    v = (x - mean) / (x + mean)
    series = (x - mean) * v + 2 * x * v**3 * np.polyval([1 / (2 * k + 3) for k in range(7, -1, -1)], v * v)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        plain = x * np.log(x / mean) + mean - x
    return np.where(np.abs(v) < 0.1, series, plain)


def pmf(k: Array, n: float, p: float, complement: float) -> Array:
    """P(Bin(n, p) = k) for whole 0 <= k <= n, p in (0, 1), complement = 1 - p to full accuracy.

    Relative error below about 1e-15 (1 + 8 sqrt(n p (1-p))) within 8 deviations: the rounding of n p.
    """
    k = np.asarray(k, dtype=np.float64)
    rest = n - k
    inside = (k > 0) & (rest > 0)
    a, b = np.where(inside, k, 1.0), np.where(inside, rest, 1.0)
    whole = stirling_error(np.array([n]))[0]
    log = whole - stirling_error(a) - stirling_error(b)
    log -= _deviance(a, np.full_like(a, n * p)) + _deviance(b, np.full_like(b, n * complement))
    log += 0.5 * (np.log(n / a / b) - _LOG_2PI) if n > 0 else 0.0
    none, every = (n * (math.log1p(-b) if b < 0.5 else math.log(a)) for a, b in ((complement, p), (p, complement)))
    log = np.where(inside, log, np.where(k == 0, none, every))
    return np.exp(log)


def fair_pmf(k: Array, n: Array) -> Array:
    """P(Bin(n, 1/2) = k) for arrays of whole 0 <= k <= n/2; relative error below 1e-14 down to 1e-25."""
    rest = n - k
    inside = k > 0
    a, b, c = np.where(inside, k, 1.0), np.where(inside, rest, 1.0), np.where(inside, n, 2.0)
    v = np.where(inside, (rest - k) / c, 0.0)
    exponent = 0.5 * v * v * np.polyval(_FAIR_SERIES, v * v)
    wide = v > 0.15
    if wide.any():
        w = v[wide]
        exponent[wide] = 0.5 * ((1 + w) * np.log1p(w) + (1 - w) * np.log1p(-w))
    log = stirling_error(c) - stirling_error(a) - stirling_error(b) - c * exponent
    found = np.exp(log) * np.sqrt(c / (2 * math.pi) / a / b)
    found[~inside] = np.exp2(-n[~inside])
    return np.asarray(found)


def _log_cosh(y: Array) -> Array:
    """log cosh y for y >= 0; relative error below 1e-15 for y < 0.05, absolute 1e-16 above."""
    near = np.minimum(y, 0.05) ** 2
    series = near * np.polyval((-691 / 935550, 31 / 14175, -17 / 2520, 1 / 45, -1 / 12, 1 / 2), near)
    return np.where(y < 0.05, series, y + np.log1p(np.expm1(-2 * y) / 2))


def _tail_by_sum(c1: Array, d: Array) -> Array:
    """`tail_integral` as 1 - (d/l) P(Bin(c, 1/2) < l)/b(l), c = c1 - 1, l = (c1 - d)/2, for few terms."""
    left = (c1 - d)[:, None] / 2
    j = np.arange(left.max(initial=0.0))
    ratio = np.maximum(left - j, 0.0) / (c1[:, None] - left + j)  # b(l-j-1)/b(l-j)
    return np.asarray(1 - d * np.cumprod(ratio, axis=1).sum(axis=1) / np.maximum(left[:, 0], 1.0))


def tail_integral(c1: Array, d: Array) -> Array:
    """J = c1 int_0^inf e^{-d y} tanh(y) sech(y)^c1 dy, arrays in increasing c1, whole 1 <= d <= c1 - 2.

    A positive integrand, so no cancellation: relative error below 2e-13 (measured against exact
    sums). J lies in (0, 1).
    """
    out = np.empty_like(c1)
    first = int(np.searchsorted(c1, _SUMMED_TO))
    out[:first] = _tail_by_sum(c1[:first], d[:first])
    while first < c1.size:
        # Counts within 25% of each other share their nodes: one matrix product and one exp.
        last = int(np.searchsorted(c1, 1.25 * c1[first], side="right"))
        # Where d y + c1 y^2/2 is 36, and so d y + c1 log cosh y at least 34: beyond it the integrand is nothing.
        slope = float(d[first:last].min())
        reach = 2 * _REACH / (slope + math.sqrt(slope * slope + 2 * _REACH * float(c1[first])))
        nodes = reach * _NODES
        rates, weights = -np.stack([nodes, _log_cosh(nodes)]), reach * _WEIGHTS * np.tanh(nodes)
        for start in range(first, last, _ROWS):
            rows = slice(start, min(start + _ROWS, last))
            exponent = np.stack([d[rows], c1[rows]], axis=1) @ rates
            np.exp(exponent, out=exponent)
            out[rows] = c1[rows] * (exponent @ weights)
        first = last
    return out

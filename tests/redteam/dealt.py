"""Random allocation attacked: a record in one of t noisy steps, its delta(eps) by ways that owe nothing to the package.

Below the truth, at any t: each answer is cut into cells, each cell has a whole number of points proportional to
L = X - e^eps Y, its part of the likelihood ratio, and the attacker sees the sum (`attack.sums_delta`). Above it, at any
t whose points fit a transform: L in each cell at its ends, then at whole numbers, means kept, and E[S_+] of the sum.
Exactly, for t = 2 and 3: given the other steps the best answers to one step are a half-line. Without formulas: Monte
Carlo, also of contributions that are not the worst, that lie in a plane, and that depend on the step before.

No module of the package is imported here.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import attack
import numpy as np
from scipy import stats
from scipy.special import ndtr

_FAR = 9.0
_MOST_POINTS = 4e5


class Steps(NamedTuple):
    """Contributions u, v under the two hypotheses in units of the noise, u > v or u = 0 < v; t steps."""

    u: float
    v: float
    t: int


def steps(direction, shift, t):
    """The worst contributions of a direction."""
    u, v = {"remove": (1, 0), "add": (0, 1), "replace": (1, -1)}[direction]
    return Steps(u * shift, v * shift, t)


def ratios(one, z):
    """X and Y."""
    return np.exp(one.u * z - one.u**2 / 2), np.exp(one.v * z - one.v**2 / 2)


# --- cells ---------------------------------------------------------------------------------------------------


def _edges(one, cells):
    """From where nothing is left to where nothing is left."""
    low, high = min(0.0, one.u, one.v), max(0.0, one.u, one.v)
    return np.unique(np.r_[np.linspace(low - _FAR, high + _FAR, cells), 0.0, one.u, one.v])


def _masses(one, edges):
    """(3, k): of the noise, with u, with v, in the cells between the edges and the two open ones."""
    rows = []
    for shift in (0.0, one.u, one.v):
        below, above = ndtr(edges - shift), ndtr(shift - edges)
        low, high = np.diff(np.r_[0.0, below, 1.0]), -np.diff(np.r_[1.0, above, 0.0])
        rows.append(np.where(np.r_[below, 1.0] < 0.5, low, high))
    return np.array(rows)


def below(one, eps, *, cells=4000):
    """A lower bound on delta(eps)."""
    base, p, q = _masses(one, _edges(one, cells))
    kept = base > 0
    gain = np.where(kept, p - math.exp(eps) * q, 0.0) / np.where(kept, base, 1.0)
    spread = math.sqrt(base @ np.clip(gain + math.expm1(eps), -1e100, 1e100) ** 2)
    if spread == 0:
        return 0.0  # nothing found, which is true as well
    whole = math.sqrt(one.t) + one.t * math.expm1(eps) / spread
    found = []
    for resolution in (12.0, 100.0):
        unit = spread / min(resolution, 1e5 / math.sqrt(one.t))
        # Points that decide alone may be cut off.
        for cap in (1.5, 4.0):
            most = min(cap * whole * spread / unit, _MOST_POINTS)
            points = np.rint(np.clip(gain / unit, -most, most)).astype(np.int64)
            sides = [[attack.Part(points, base, one.t - 1), attack.Part(points, own, 1)] for own in (p, q)]
            sides = [[part for part in side if part.count] for side in sides]
            found.append(attack.sums_delta(*sides, eps))
    return max(found)


def above(one, eps, *, cells=4000, fine=40.0):
    """An upper bound on delta(eps); infinite where the points would not fit."""
    edges = _edges(one, cells)
    base, p, q = _masses(one, edges)
    gain = math.exp(eps)
    x, y = ratios(one, edges)
    ends = x - gain * y
    spread = math.sqrt(max(base @ np.clip((p - gain * q) / np.maximum(base, 1e-300), -1e9, 1e9) ** 2, 1e-300))
    unit = spread / fine
    # In the lowest cell L is what it is at its end if it rises beyond all bounds, and between that and 1 if it falls.
    lowest = ends[0] if one.v < 0 else float(one.u == 0) - gain * float(one.v == 0)
    low = np.r_[min(lowest, ends[0]), np.minimum(ends[:-1], ends[1:])]
    high = np.r_[max(lowest, ends[0]), np.maximum(ends[:-1], ends[1:])]
    rest = 0.0
    if one.u > 0:  # E[S_+; z_i is there] <= E[X_1 + ... + X_t; z_i is there]
        tail = -1
        while tail - 1 > -base.size and high[tail] > _MOST_POINTS * unit:
            tail -= 1
        rest = p[tail:].sum() + base[tail:].sum() * (one.t - 1)
        base, p, q, low, high = (row[:size] for row, size in ((r, base.size + tail) for r in (base, p, q, low, high)))
    else:
        low, high = np.r_[low, ends[-1]], np.r_[high, ends[-1]]
    # Raised where they are far below 0.
    low, high = np.maximum(low, -_MOST_POINTS * unit), np.maximum(high, -_MOST_POINTS * unit)
    if np.max(np.abs(np.r_[low, high])) > 2 * _MOST_POINTS * unit:
        return math.inf
    kept = base > 0
    base, low, high = base[kept], low[kept], high[kept]
    mean = (p - gain * q)[kept] / base
    slack = 1e-13 * (np.abs(mean) + gain)
    mean = np.maximum(mean + slack, low)
    high = np.maximum(high, mean)
    part = np.divide(mean - low, high - low, out=np.zeros_like(mean), where=high > low)
    values, masses = np.r_[low, high] / unit, np.r_[base * (1 - part), base * part]
    floor = np.floor(values)
    share = values - floor
    points = np.r_[floor, floor + 1].astype(np.int64)
    law = attack.Part(points, np.r_[masses * (1 - share), masses * share] / masses.sum(), one.t)
    value = _positive_part(law) * unit / one.t * masses.sum() ** one.t
    return min(value * (1 + 1e-9) + rest, 1.0)


def _positive_part(law):
    """Not below E[S_+]."""
    parts = [attack._positive(law)]
    theta = max(attack._tilt(parts, 0.0), 1e-9 / math.sqrt(attack._cumulants(parts, 0.0)[2] * law.count + 1))
    height, mean, variance = attack._cumulants(parts, theta)
    reach = 14 * math.sqrt(variance) + abs(mean) + 2 * float(np.ptp(parts[0].points)) + 16
    size = 1 << math.ceil(math.log2(2 * reach))
    if size > 1 << 22:
        return math.inf
    tilted, noise = attack._transform(parts, theta, size)
    centre = round(mean)
    w = centre - size // 2 + np.arange(size)
    w = w[w > 0]
    weight = w * np.exp(-theta * w)
    total = float((np.maximum(tilted[w % size], 0) + noise) @ weight)
    return math.exp(height) * (total + attack._wrapped(parts, theta, centre, size // 2 - 1) / (math.e * theta))


# --- two and three steps, exactly ----------------------------------------------------------------------------


def _edge(one, eps, level):
    """Where L crosses a level, as seen by one step: the best answers are beyond (or, u = 0, below) it."""
    gain = math.exp(eps)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if one.v == 0 or one.u == 0:
            shift = one.u or one.v
            x = level + gain if one.v == 0 else (1 - level) / gain
            return np.where(x > 0, np.log(np.maximum(x, 1e-300)) / shift + shift / 2, -np.inf)
        a = one.u
        rho = level * math.exp(a * a / 2)
        root = np.sqrt(rho * rho + 4 * gain)
        w = np.where(rho > 0, (rho + root) / 2, 2 * gain / (root - np.minimum(rho, 0)))
        return np.log(w) / a


def given_others(one, eps, others):
    """P(A) - e^eps Q(A) given the sum of the other steps' L, A the answers to this step with a positive sum."""
    s = _edge(one, eps, -others)
    sign = -1.0 if one.u == 0 else 1.0
    return ndtr(sign * (one.u - s)) - math.exp(eps) * ndtr(sign * (one.v - s))


_NODES, _WEIGHTS = (0.5 * part for part in np.polynomial.legendre.leggauss(16))
_NODES = _NODES + 0.5


def _pieces(breaks):
    """Nodes and weights between the breaks, shape (..., k)."""
    width = np.diff(breaks, axis=-1)[..., None]
    z = (breaks[..., :-1, None] + width * _NODES).reshape(*breaks.shape[:-1], -1)
    return z, (width * _WEIGHTS).reshape(z.shape) * stats.norm.pdf(z)


def _kinks(one, eps):
    """Levels of L at which the best half-line of answers to one step changes fast, and what the third step may add."""
    gain, graded = math.exp(eps), one.t * 4.0 ** -np.arange(15.0)
    if one.v == 0:
        return gain * np.r_[graded - 1, -1], np.array([-gain])
    if one.u == 0:
        return 1 - np.r_[graded, 0], np.array([1.0])
    near = 2 * math.sqrt(gain) * math.exp(-(one.u**2) / 2)
    graded = np.geomspace(near, near + one.t * (gain + math.exp(one.u**2 / 2)) * math.exp(2 * one.u), 8)
    return np.r_[-graded, 0, graded], np.zeros(1)


def exact(one, eps, *, cells=None):
    """delta(eps) for t = 2 or 3 by quadrature, split where an integrand has a kink, and often where it is steep."""

    def gain(z):
        x, y = ratios(one, z)
        return x - math.exp(eps) * y

    fixed = _edges(one, cells or {2: 800, 3: 40}[one.t])
    kinks, floor = _kinks(one, eps)

    def breaks(levels):
        """The fixed ones and where L takes these levels; shape (..., k)."""
        there = np.clip(_edge(one, eps, levels), fixed[0], fixed[-1])
        return np.sort(np.concatenate([np.broadcast_to(fixed, (*there.shape[:-1], fixed.size)), there], axis=-1))

    if one.t == 2:
        z, weight = _pieces(breaks(-kinks))
        return float(weight @ given_others(one, eps, gain(z)))
    z, weight = _pieces(breaks(-np.add.outer(kinks, floor).ravel()))
    total = 0.0
    for part in np.array_split(np.arange(z.size), max(1, z.size // 200)):
        others = gain(z[part])[:, None]
        inner, inner_weight = _pieces(breaks(-others - kinks))
        total += weight[part] @ (inner_weight * given_others(one, eps, others + gain(inner))).sum(axis=-1)
    return float(total)


# --- without formulas ----------------------------------------------------------------------------------------


def sampled(one, eps, rng, size=200_000):
    """Mean and standard error of delta(eps) at any t, the other steps drawn from noise alone."""
    total = np.zeros(size)
    for _ in range(one.t - 1):
        x, y = ratios(one, rng.standard_normal(size))
        total += x - math.exp(eps) * y
    found = given_others(one, eps, total)
    return float(found.mean()), float(found.std() / math.sqrt(size))


def epochs_sampled(one, times, eps, rng, size):
    """Mean and standard error of delta(eps) of several epochs, every answer drawn with the record at the first step."""
    loss = np.zeros(size)
    for _ in range(times):
        z = rng.standard_normal((one.t, size))
        z[0] += one.u
        x, y = (np.broadcast_to(ratio, z.shape).sum(axis=0) for ratio in ratios(one, z))
        loss += np.log(x / y)
    found = np.maximum(1 - np.exp(eps - loss), 0)
    return float(found.mean()), float(found.std() / math.sqrt(size))


def in_a_plane(first, second, t, eps, rng, size=200_000):
    """The same with contributions u_i, v_i in the plane, one pair a step, drawn with the record: no worst case."""
    z = rng.standard_normal((size, t, 2))
    where = rng.integers(0, t, size)
    u, v = (np.array([vectors[i] for i in range(t)]) for vectors in (first, second))
    z[np.arange(size), where] += u[where]
    x = np.exp(np.einsum("sti,ti->st", z, u) - (u**2).sum(axis=1) / 2).sum(axis=1)
    y = np.exp(np.einsum("sti,ti->st", z, v) - (v**2).sum(axis=1) / 2).sum(axis=1)
    found = np.maximum(1 - math.exp(eps) * y / x, 0)
    return float(found.mean()), float(found.std() / math.sqrt(size))


def adaptive(choose, eps, cells=1500):
    """A lower bound for t = 2 on a line where `choose` makes the contributions to step 2 of step 1's answer.

    `choose(z)` is (u1, v1) for None, and (u2, v2) as arrays for the answers z. Step 2 is best told by all of the line.
    """
    u1, v1 = choose(None)
    inner = np.linspace(-12, 12, cells)
    edges = second = np.r_[-np.inf, inner, np.inf]
    middle = np.r_[inner[0] - 1, (inner[1:] + inner[:-1]) / 2, inner[-1] + 1]
    base, p, q = (np.diff(ndtr(edges - shift)) for shift in (0.0, u1, v1))
    u2, v2 = choose(middle)
    total = 0.0
    for i in range(middle.size):
        b2, p2, q2 = (np.diff(ndtr(second - shift)) for shift in (0.0, u2[i], v2[i]))
        total += np.maximum(p[i] * b2 + base[i] * p2 - math.exp(eps) * (q[i] * b2 + base[i] * q2), 0).sum() / 2
    return float(total)


def subsets(one, k, eps, cells=60):
    """A lower bound where the record is in k of t steps, all choices alike: every outcome, few cells and few steps."""
    base, p, q = _masses(one, _edges(one, cells))
    p0 = p1 = 0.0
    choices = list(itertools.combinations(range(one.t), k))
    for choice in choices:
        first, second = np.ones(1), np.ones(1)
        for i in range(one.t):
            first = np.multiply.outer(first, p if i in choice else base)
            second = np.multiply.outer(second, q if i in choice else base)
        p0, p1 = p0 + first, p1 + second
    return float(np.maximum(p0 - math.exp(eps) * p1, 0).sum() / len(choices))


# --- several epochs ------------------------------------------------------------------------------------------


def epochs_below(one, times, eps, *, cells=3000):
    """A lower bound on delta(eps) of several epochs: the attacker adds up every epoch's own log likelihood ratio.

    Which the sum of the steps' X - Y decides only where X or Y is always 1; in "replace" it loses up to a third.
    """
    base, p, q = _masses(one, _edges(one, cells))
    kept = base > 0
    spread = math.sqrt(max(base @ np.clip(np.where(kept, (p - q) / np.where(kept, base, 1), 0), -30, 30) ** 2, 1e-300))
    unit = spread * math.sqrt(one.t) / 300 if one.t > 30 else spread / 900
    top = min(20 * math.sqrt(one.t) * spread + 60 * one.t, max(3e4, 1.2e6 / one.t) * unit)
    score = np.clip(np.where(kept, (p - q) / np.where(kept, base, 1), top), -top, top)
    points = np.rint(score / unit).astype(np.int64)
    points -= points.min()
    laws = _sum_laws(points, base, (p, q), one.t)
    loss = np.log(np.maximum(laws[0], 1e-250) / np.maximum(laws[1], 1e-250))
    sure = (laws[0] > 1e-14) & (laws[1] > 1e-14)
    scale = math.sqrt(float(laws[0][sure] @ loss[sure] ** 2)) / 100
    points = np.clip(np.rint(loss / scale), -5000, 5000).astype(np.int64)
    points[~sure] = 0
    sides = [[attack.Part(points, law / law.sum(), times)] for law in laws]
    return attack.sums_delta(*sides, eps, threshold=eps / scale)


def _sum_laws(points, base, own, t):
    """Laws of the sum of t steps' points, one of them the record's: convolution of positive numbers."""
    crowd, power, rest = np.ones(1), np.bincount(points, weights=base), t - 1
    while rest:
        if rest % 2:
            crowd = _convolved(crowd, power)
        power, rest = (_convolved(power, power) if rest > 1 else power), rest // 2
    laws = [_convolved(crowd, np.bincount(points, weights=law)) for law in own]
    return [np.r_[law, np.zeros(max(row.size for row in laws) - law.size)] for law in laws]


def _convolved(a, b):
    size = 1 << math.ceil(math.log2(a.size + b.size))
    both = np.maximum(np.fft.irfft(np.fft.rfft(a, size) * np.fft.rfft(b, size), size)[: a.size + b.size - 1], 0)
    end = np.flatnonzero(both > 1e-17)[-1] + 1
    return both[:end]

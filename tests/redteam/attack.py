"""A likelihood-ratio attack on shuffled reports: lower bounds on delta(eps) that owe nothing to the package.

Everything here is post-processing of the shuffled reports, so that what it finds the mechanism certainly has: a report
on the line is told only by its cell; each cell adds a whole number of points; the attacker sees the sum. With points
proportional to (f0 - e^eps f1)/g, g the others' law, the sum is the shuffled reports' own likelihood ratio, up to the
rounding of the points, if the others' laws are all equal:

    P0/P1 - e^eps is proportional to sum_i (f0 - e^eps f1)(y_i)/g(y_i).

The sum's laws under both inputs come from one Fourier transform each, both tilted by the same e^(theta sum), so that a
delta of 1e-20 keeps its digits. What the transforms may have wrong, rounding and what wraps around, is subtracted.

No module of the package is imported here, and none of its discretizations, windows or tilts is used.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import stats

UNIT = 2.0**-53
_MOST_POINTS = 1 << 21  # of a transform
_MOST_RATIO = 1e10  # such a report is the victim's, whatever the others send
_CAPS = (1.0, 3.0)  # times the sum's mean and standard deviation


class Part(NamedTuple):
    """`count` independent terms of the sum, each `points` with these probabilities; shapes (k,), (k,)."""

    points: np.ndarray
    masses: np.ndarray
    count: int


class Table(NamedTuple):
    """A shuffled mechanism on k answers: the victim's two laws (2, k), the others' (g, k), how many they are (g,)."""

    victim: np.ndarray
    laws: np.ndarray
    count: np.ndarray


# --- the sum of points ---------------------------------------------------------------------------------


def _positive(part):
    """Without the answers that never come."""
    kept = part.masses > 0
    return Part(part.points[kept], part.masses[kept], part.count)


def _cumulants(parts, theta):
    """log E[e^(theta S)], its first and second derivative."""
    total = np.zeros(3)
    for points, masses, count in parts:
        exponent = theta * points
        top = exponent.max()
        weight = masses * np.exp(exponent - top)
        size = weight.sum()
        mean = weight @ points / size
        total += count * np.array([math.log(size) + top, mean, weight @ (points - mean) ** 2 / size])
    return total


def _tilt(parts, threshold):
    """theta >= 0 at which the tilted mean is a little above the threshold: where P0 - e^eps P1 has its mass."""

    def excess(theta):
        _, mean, variance = _cumulants(parts, theta)
        return mean - threshold - 1 / max(theta, 1 / math.sqrt(variance + 1))

    if excess(0.0) >= 0:
        return 0.0
    high = 1e-9
    while excess(high) < 0:
        high *= 4
        if high * max(np.abs(part.points).max() for part in parts) > 300:
            return high / 4
    low = high / 4
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return low


def _wrapped(parts, theta, centre, half):
    """Chernoff: the tilted mass outside [centre - half, centre + half]."""
    base, _, variance = _cumulants(parts, theta)
    lost = 0.0
    for sign in (-1, 1):
        logs = []
        for share in (0.03, 0.1, 0.3, 0.6, 1.0, 2.0):
            push = sign * share * min(half / (variance + 1), 1.0)
            logs.append(_cumulants(parts, theta + push)[0] - base - push * (centre + sign * half))
        lost += math.exp(min(0.0, *logs))
    return lost


def _transform(parts, theta, size):
    """The tilted law of S modulo `size`, and what one of its entries may be off by, rounding."""
    spectrum = np.ones(size // 2 + 1, dtype=complex)
    steps = 0.0
    for points, masses, count in parts:
        exponent = theta * points
        weight = masses * np.exp(exponent - exponent.max())
        one = np.fft.rfft(np.bincount(points % size, weights=weight / weight.sum(), minlength=size))
        with np.errstate(divide="ignore"):
            spectrum *= np.where(one == 0, 0, np.exp(count * np.log(np.where(one == 0, 1, one))))
        steps += count
    law = np.fft.irfft(spectrum, size)
    each = UNIT * (40 * math.log2(size) + 20 * steps)
    return law, each * 2 * float(np.abs(spectrum).sum()) / size + UNIT * 8


def sums_delta(first, second, eps, threshold=0.0):
    """A lower bound on sum_w (P0(S = w) - e^eps P1(S = w))_+, S the sum of all parts under either law.

    Args:
        first, second: lists of `Part` with the same points, the laws under the two inputs.
        eps: >= 0.
        threshold: about the sum from which P0 exceeds e^eps P1.
    """
    first, second = ([_positive(part) for part in parts] for parts in (first, second))
    theta = _tilt(first, threshold)
    log0, mean, variance = _cumulants(first, theta)
    log1, mean1, variance1 = _cumulants(second, theta)
    reach = 13 * math.sqrt(max(variance, variance1)) + abs(mean - mean1)
    reach += 2 * max(float(np.ptp(part.points)) for part in first) + 16
    size = 1 << math.ceil(math.log2(2 * reach))
    if size > _MOST_POINTS:
        return 0.0  # nothing found, which is true as well
    centre = round(0.5 * (mean + mean1))
    found = []
    for parts in (first, second):
        law, noise = _transform(parts, theta, size)
        found.append((law, noise + _wrapped(parts, theta, centre, size // 2 - 1)))
    (p0, off0), (p1, off1) = found
    w = centre - size // 2 + np.arange(size)
    weight = math.exp(eps + log1 - log0) if eps + log1 - log0 < 700 else math.inf
    gain = p0[w % size] - off0 - weight * (p1[w % size] + off1)
    good = gain > 0
    scale = log0 - theta * w[good]
    return float(gain[good] @ np.exp(np.minimum(scale, 700.0))) * (1 - 1e-9)


# --- shuffled reports -------------------------------------------------------------------------------------


def _scores(gain, law, resolution):
    """Whole numbers of points proportional to gain/law, `resolution` to a standard deviation of one report."""
    ratio = np.clip(gain / law, -_MOST_RATIO, _MOST_RATIO)
    mean = law @ ratio
    deviation = math.sqrt(law @ (ratio - mean) ** 2)
    if deviation == 0:
        return None, 0.0
    return np.rint(ratio / deviation * resolution).astype(np.int64), abs(mean) / deviation


def delta(table, eps):
    """A lower bound on delta(eps) of the shuffled mechanism at these inputs of the others, the larger direction."""
    best = 0.0
    number = float(table.count.sum())
    resolution = min(12.0, _MOST_POINTS / (200 * math.sqrt(number)))
    for v0, v1 in (table.victim, table.victim[::-1]):
        used = (table.laws[table.count > 0] > 0).any(axis=0)
        # Answers that nobody else can give come from the victim.
        value = float(np.maximum(v0 - math.exp(eps) * v1, 0)[~used].sum())
        law = table.count @ table.laws[:, used] / number
        a, b = v0[used], v1[used]
        points, drift = _scores(a - math.exp(eps) * b, law, resolution)
        if points is not None and a.sum() > 0 and b.sum() > 0:
            # Given that the victim's answer is one that others give too.
            shift = math.log(b.sum() / a.sum())
            # A report that decides alone need not be told from one that does so twice over; which cap is best depends.
            whole = resolution * (math.sqrt(number) + number * drift)
            caps = {min(int(np.abs(points).max()), math.ceil(c * whole)) for c in _CAPS}
            found = []
            for cap in caps:
                kept = np.clip(points, -cap, cap)
                crowd = [Part(kept, row[used], int(m)) for row, m in zip(table.laws, table.count, strict=True) if m]
                sides = [[*crowd, Part(kept, own / own.sum(), 1)] for own in (a, b)]
                found.append(sums_delta(*sides, eps + shift))
            value += float(a.sum()) * max(found)
        best = max(best, value)
    return min(best, 1.0)


# --- reports on a line -----------------------------------------------------------------------------------


def _cell_masses(noise, edges):
    """Masses of the cells, differences taken on the side where they keep their digits."""
    below, above = noise.cdf(edges), noise.sf(edges)
    low = np.diff(np.r_[0.0, below, 1.0])
    high = -np.diff(np.r_[1.0, above, 0.0])
    return np.where(np.r_[below, 1.0] < 0.5, low, high)


def line(mechanism, scale, inputs, others, count, *, cells=1500, tail=1e-13):
    """Laplace or Gaussian reports cut into cells at quantiles of the victim's and the others' reports.

    Args:
        mechanism: "laplace" or "gaussian".
        scale: of the victim.
        inputs: the victim's two.
        others: (scale, input) of each group of the others.
        count: how many in each.
    """
    law = {"laplace": stats.laplace, "gaussian": stats.norm}[mechanism]
    half = np.geomspace(tail, 0.5, cells // 8)
    level = np.unique(np.r_[half, 1 - half, np.linspace(0.02, 0.98, cells // 8)])
    own = [law(loc=x, scale=scale) for x in inputs]
    crowd = [law(loc=x, scale=s) for s, x in others]
    edges = np.unique(np.concatenate([*(one.ppf(level) for one in own), np.linspace(-0.5, 1.5, cells // 8)]))
    # Cells so small that a difference of probabilities has no digits left say nothing.
    edges = edges[np.r_[True, np.diff(edges) > 1e-9 * scale]]
    return Table(
        np.array([_cell_masses(one, edges) for one in own]),
        np.array([_cell_masses(one, edges) for one in crowd]),
        np.asarray(count),
    )

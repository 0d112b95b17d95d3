"""Which omega* and B to use: any choice is valid, this picks a tight one by the Gaussian limit and its skewness."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from gspa._blanket_law import LEAST_TAIL, Envelope, Noise, Reports, radii
from gspa.tradeoff import gdp_epsilon, gdp_log_delta

Array = NDArray[np.float64]

_LEVELS = 5
_LEAKS = (0.5, 0.2, 0.05, 0.01, 1e-3, 1e-6)  # of the delta that is aimed at
_BREAKS = 14
_SWEEPS = 3
_STEPS = 30
_DEEPEST = 200.0  # log q falls no lower: omega* must not underflow


class Limit(NamedTuple):
    """The blanket's own Gaussian limit, an estimate, and how far from it the law is."""

    mu: float
    skewness: float

    def corrected(self, delta: float) -> float:
        """mu times Edgeworth's first correction of the quantile: large where a rare report gives much away."""
        return self.mu * (1 + self.skewness * max(0.0, -float(ndtri(delta))) / 6)


def limit(victim: Noise, inputs: tuple[float, float], others: Reports, envelope: Envelope) -> Limit:
    """mu^2 = int_B (f0 - f1)^2 / (sum_j c_j omega*), and int_B |f0 - f1|^3 / (sum_j c_j omega*)^2 / mu^3."""
    if envelope.log_corners()[-1] < -_DEEPEST:
        return Limit(math.inf, math.inf)
    r = radii(envelope.radius, 250)
    middle, width = 0.5 * (r[1:] + r[:-1]), np.diff(r)
    cover = float(others.count @ envelope.clones(others))
    cover_density = np.exp(envelope.log_q(middle) - envelope.log_total()) * cover
    second = third = 0.0
    for y in (0.5 - middle, 0.5 + middle):
        f0, f1 = (np.exp(victim.log_density(np.abs(y - x))) for x in inputs)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            share = np.abs(f0 - f1) / cover_density
            second += float(np.abs(f0 - f1) * share @ width)
            third += float(np.abs(f0 - f1) * share**2 @ width)
    if not (0 < second < math.inf and third < math.inf):
        return Limit(math.inf, math.inf)
    return Limit(math.sqrt(second), third / second**1.5)


def _levels(others: Reports) -> Array:
    """Slopes worth offering: all of them if few, else quantiles weighted by what the users cover at the centre."""
    distinct = np.unique(others.kappa)
    if distinct.size <= _LEVELS:
        return distinct
    weight = others.count * np.exp(others.log_height - others.kappa * 0.5**others.power)
    order = np.argsort(others.kappa)
    place = np.cumsum(weight[order])
    at = np.linspace(0, 1, _LEVELS) * place[-1]
    return np.unique(others.kappa[order][np.minimum(np.searchsorted(place, at), order.size - 1)])


def choose(victim: Noise, inputs: tuple[float, float], others: Reports, delta: float, corrected: bool) -> Envelope:
    """An envelope whose limit (or corrected limit) has nearly the least eps: coordinate search, no guarantee."""
    levels = _levels(others)
    reach = {share: 0.5 + max(victim.quantile(min(share * delta, 0.25)), 1e-3) for share in _LEAKS}

    def score(envelope: Envelope, share: float) -> float:
        found = limit(victim, inputs, others, envelope)
        mu = found.corrected(delta) if corrected else found.mu
        if not math.isfinite(mu):
            return math.inf
        # Past mu = 40 only the order matters; gdp_epsilon's own range ends there.
        return gdp_epsilon(delta=max(delta * (1 - share), LEAST_TAIL), mu=mu) if mu < 40 else mu * mu

    def build(breaks: Array, share: float) -> Envelope:
        low, high = 0.5**others.power, (reach[share] + 0.5) ** others.power
        return Envelope(others.power, levels, np.clip(breaks, low, high), reach[share])

    # One slope throughout: the breaks below it sit at the centre, those above it beyond the edge.
    starts = [np.r_[np.zeros(i), np.full(levels.size - 1 - i, np.inf)] for i in range(levels.size)]
    best = min(
        ((score(build(b, s), s), i, s) for i, b in enumerate(starts) for s in _LEAKS), key=lambda found: found[0]
    )
    value, breaks, share = best[0], starts[best[1]], best[2]
    if levels.size == 1:
        return build(breaks, share)

    def improve(
        candidates: list[tuple[Array, float]], value: float, now: tuple[Array, float]
    ) -> tuple[float, Array, float]:
        for other, part in candidates:
            found = score(build(other, part), part)
            if found < value:
                value, now = found, (other, part)
        return value, *now

    for _ in range(_SWEEPS):
        before = value
        for i in range(levels.size - 1):
            high = reach[share] + 0.5
            grid = np.unique(np.r_[0.5, 0.5 + np.geomspace(0.02, high, _BREAKS - 2), high]) ** others.power
            value, breaks, share = improve([(_moved(breaks, i, x), share) for x in grid], value, (breaks, share))
        value, breaks, share = improve([(breaks, s) for s in _LEAKS], value, (breaks, share))
        if value > before * 0.999:
            break
    return build(breaks, share)


def _moved(breaks: Array, i: int, to: float) -> Array:
    """breaks with break i at `to` and the others pushed aside."""
    return np.asarray(np.r_[np.minimum(breaks[:i], to), to, np.maximum(breaks[i + 1 :], to)])


def _fitted_mu(eps: float, log_delta: float) -> float:
    """The mu at which a Gaussian has that delta at eps: bisection, 1e-4 relative is plenty."""
    low, high = 1e-6, 100.0
    while high / low > 1.0001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if gdp_log_delta(eps, mu=middle) > log_delta else (middle, high)
    return high


@dataclass
class _Search:
    """Values of a decreasing delta(eps), and where to look next for a target."""

    target: float
    seen: list[tuple[float, float]]  # (eps, log delta)

    def next(self, low: float, high: float) -> float:
        """A Gaussian through the last value; every third time, or if that is no help, secant or bisection."""
        eps, log_delta = self.seen[-1]
        if len(self.seen) % 3 != 0:
            aim = gdp_epsilon(delta=self.target, mu=_fitted_mu(eps, log_delta))
            if low < aim < high:
                return aim
        ends = {e: v for e, v in self.seen if e in (low, high)}
        middle = 0.5 * (low + high)
        if len(self.seen) % 2 or len(ends) < 2 or ends[low] <= ends[high]:
            return middle
        share = (ends[low] - math.log(self.target)) / (ends[low] - ends[high])
        return low + min(max(share, 0.05), 0.95) * (high - low)

    def add(self, eps: float, delta: float) -> None:
        """Remember a value."""
        self.seen.append((eps, math.log(max(delta, 1e-300))))


def least_epsilon(delta_at: Callable[[float], float], target: float, start: float, top: float, band: float) -> float:
    """The least eps found with delta_at(eps) <= target: 0, or a delta within the relative `band` below the target.

    Every returned value was evaluated, except `top`, which is returned if nothing below it will do. Two or
    three steps are enough when the law is close to a Gaussian.
    """
    low, high, eps = -math.inf, top, min(start, 0.95 * top)
    search = _Search(target * (1 - 0.5 * band), [])
    for _ in range(_STEPS):
        found = delta_at(eps)
        search.add(eps, found)
        if found <= target:
            high = eps
            if eps == 0 or found > target * (1 - band):
                break
        else:
            low = eps
        if low >= 0 and high - low <= 1e-6 * high:
            break
        # No eps that is too small yet: halve, then try 0 itself.
        halved = 0.0 if eps < 1e-3 * start else 0.5 * eps
        eps = halved if low < 0 else search.next(low, high)
    return high


def greatest_epsilon(delta_at: Callable[[float], float], target: float, high: float, band: float) -> float:
    """The greatest eps found in [0, high] with delta_at(eps) >= target, in the same way; 0 if there is none."""
    low, eps, gap = 0.0, high, 1e-3
    search = _Search(target * (1 + 0.5 * band), [])
    for _ in range(_STEPS):
        found = delta_at(eps)
        search.add(eps, found)
        if found >= target:
            low = max(low, eps)
            if found < target * (1 + band):
                break
        else:
            high = eps
        if high - low <= 1e-6 * high:
            break
        # Until there is one that is large enough, stay close: the bracket is widest far from the target.
        eps = search.next(low, high)
        if low == 0:
            eps, gap = max(eps, high * (1 - gap)), min(4 * gap, 1.0)
    return low

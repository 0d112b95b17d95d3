"""From certified deltas to a certified eps: find the root cheaply, then prove both ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from scipy.special import expit, logit

from gspa.blankets import BlanketLaw
from gspa.clone_law import CloneLaw
from gspa.pair import Victim, divergence, estimate
from gspa.tradeoff import gdp_epsilon

_COARSE = 300  # counts that the search for the root looks at
_FULL = 500  # up to this many it looks at all


class Interval(NamedTuple):
    """lower <= value <= upper."""

    lower: float
    value: float
    upper: float


@lru_cache(maxsize=16)  # asked twice for each eps
def gaussian_guess(victim: Victim, mean: float, target: float) -> float:
    """The Gaussian limit's eps: mu = TV sqrt(4/E[C]), TV = (p-1) a. Within 1% for many clones."""
    mu = victim.seen * math.tanh(victim.eps / 2) * math.sqrt(4 / mean) if mean > 0 else math.inf
    if mu > 10:
        return 0.9 * victim.eps
    return min(max(gdp_epsilon(delta=target, mu=mu), 1e-3 * mu), 0.95 * victim.eps)


def find_root(f: Callable[[float], float], x: float, highest: float = math.inf) -> tuple[float, float]:
    """A root of a decreasing f from x, and f' there: secant steps kept in a bracket, which may be open."""
    left, right = -math.inf, highest
    y, slope = f(x), 0.0
    step = 1e-3
    for _ in range(100):
        if y > 0:
            left = x
        else:
            right = x
        if y == 0:
            break
        if slope < 0 and math.isfinite(y):
            step = min(max(-y / slope, -2.0), 2.0)
        elif slope == 0 and math.isfinite(y):
            step = math.copysign(1e-3, y)
        else:
            step = math.copysign(1.0, y)
        new = x + step
        if not left < new < right:
            open_ended = math.isinf(left) or math.isinf(right)
            new = x + math.copysign(2 * abs(step), y) if open_ended else (left + right) / 2
        if abs(new - x) < 1e-12 * max(1.0, abs(x)):
            break
        value = f(new)
        slope = (value - y) / (new - x) if math.isfinite(value) and math.isfinite(y) else 0.0
        x, y = new, value
        if slope < 0 and abs(y) < 1e-11:
            break
    return x, slope


def epsilon_interval(
    victim: Victim,
    law: CloneLaw | BlanketLaw,
    *,
    target: float,
    slack: float,
    law_of_lower: CloneLaw | BlanketLaw | None = None,
) -> Interval:
    """The eps in [0, eps_n] at which the pair's delta is `target`, or 0 if delta(0) is no larger.

    `upper` satisfies (upper bound on delta at it) <= target (1 - slack), and `lower` has (lower bound
    on delta at it) >= target (1 + slack); delta falls with eps, so the root is between them.

    Args:
        victim: eps > 0.
        law: the number of clones.
        target: in (0, 1).
        slack: relative rounding of the target.
        law_of_lower: if given, `lower` is for this law, with at least as many clones.
    """
    least, most = target * (1 + slack), target * (1 - slack)
    fewer = law if law_of_lower is None else law_of_lower
    search = law if isinstance(law, BlanketLaw) or law.mass.size <= _FULL else law.sample(_COARSE)
    at_zero = estimate(search, victim, 0.0)
    low0 = 1.0
    if at_zero < 1.1 * target:  # else the sums below find a positive eps anyway
        low0 = divergence(fewer, victim, 0.0)[0]
        if divergence(law, victim, 0.0)[2] <= most:
            return Interval(0.0, 0.0, 0.0)

    def at(y: float) -> float:
        return victim.eps * float(expit(y))

    def excess(y: float) -> float:
        delta = estimate(search, victim, at(y))
        return math.log(delta / target) if delta > 0 else -math.inf

    y, slope = -36.0, 0.0
    if at_zero > target:
        y, slope = find_root(excess, float(logit(gaussian_guess(victim, law.mean, target) / victim.eps)))
    low, value, high = divergence(law, victim, at(y))
    if fewer is not law:
        low = divergence(fewer, victim, at(y))[0]
    pushes = [1e-9, 1e-9]
    if value > 0 and slope < 0:
        # One Newton step from the coarse root; then steps outwards that should just suffice.
        residual = math.log(value / target)
        y -= residual / slope
        spare = 0.02 * abs(residual) + 4 * slack
        push = [(math.log(wide) + spare) / -slope for wide in (high / value, value / max(low, 1e-300))]
        pushes = [min(max(1.01 * p, 0.0) + 1e-12, 1.0) for p in push]
    upper = _prove(lambda e: divergence(law, victim, e)[2] <= most, y, pushes[0], at, victim.eps)
    lower = 0.0
    if low0 >= least:
        lower = _prove(lambda e: divergence(fewer, victim, e)[0] >= least, y, -pushes[1], at, 0.0)
    return Interval(lower, min(max(at(y), lower), upper), upper)


def _prove(holds: Callable[[float], bool], y: float, push: float, at: Callable[[float], float], last: float) -> float:
    """The first of y + push, y + 2 push, ... whose eps is proved, or `last`, which always holds."""
    while abs(push) < 80:
        eps = at(y + push)
        eps = math.nextafter(eps, last) if eps == at(y) else eps
        if holds(eps):
            return eps
        push *= 2
    return last

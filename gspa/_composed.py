"""Composed eps and delta from laws on a grid: both ends proved, where the transform's allowances hold."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gspa import _fourier_sum as fourier
from gspa._solve import Interval


@dataclass(frozen=True, eq=False)
class Sides:
    """The rounds on one grid, for one choice of the victim."""

    upper: fourier.Factors
    lower: fourier.Factors

    def infinite(self, above: bool) -> float:
        """Probability that some round's loss is infinite."""
        return -math.expm1(fourier.finite_share(self.upper if above else self.lower))


def epsilon_of(sides: Sides, delta: float) -> Interval:
    ends = []
    for above in (True, False):
        factors, infinite = (sides.upper if above else sides.lower), sides.infinite(above)
        if infinite >= delta:
            ends.append(math.inf if above else 0.0)
            continue
        target = delta - infinite
        slack = 1e-13 * (1 + delta / target)
        theta = fourier.tilt_for_delta(factors, math.log(target))
        for _ in range(4):
            law = fourier.tail(factors, theta)
            eps = _root(law, math.log(target))
            if eps > law.bottom:
                break
            theta = 0.0 if theta == 0 else fourier.tilt_for_mean(factors, eps)
        ends.append(_prove(law, eps, target * (1 - slack if above else 1 + slack), above))
    upper, lower = ends
    return Interval(min(lower, upper), 0.5 * (lower + upper), upper)


def _root(law: fourier.Tail, log_target: float) -> float:
    """eps at which delta is about the target: Newton's method in a bracket."""
    low, high = law.bottom, law.lowest + law.step * law.weight.size
    eps = min(max(law.centre, low), high)
    for _ in range(60):
        value, slope = law.log_delta(eps)
        low, high = (eps, high) if value > log_target else (low, eps)
        if abs(value - log_target) < 1e-12 or high - low < 1e-15 * max(abs(high), 1e-300):
            break
        new = eps - (value - log_target) / slope if slope < 0 else (low + high) / 2
        eps = new if low < new < high else (low + high) / 2
    return eps


def _prove(law: fourier.Tail, eps: float, target: float, above: bool) -> float:
    """The first of eps, eps plus or minus pushes, at which the bound is on the right side of the target."""
    low, value, high = law.delta(max(eps, law.bottom))
    _, slope = law.log_delta(max(eps, law.bottom))
    push = 1e-12 * max(abs(eps), law.step) + law.slip
    if value > 0 and slope < 0:  # a step that should just suffice
        wide = high / target - 1 if above else target / max(low, 1e-300) - 1
        push = max(push, 1.5 * min(wide, 1e3) / -slope)
    for _ in range(60):
        at = max(eps, 0.0)
        low, _, high = law.delta(at - law.slip if above else at + law.slip)
        if at >= law.bottom and (high <= target if above else low >= target):
            return at
        if not above and at == 0:
            return 0.0
        eps += push if above else -push
        push *= 2
    return math.inf if above else 0.0


def delta_of(sides: Sides, eps: float) -> Interval:
    ends = []
    for above in (True, False):
        factors, infinite = (sides.upper if above else sides.lower), sides.infinite(above)
        if infinite >= 1:
            ends.append(1.0)
            continue
        law = fourier.tail(factors, fourier.tilt_for_mean(factors, eps))
        asked = max(eps, law.bottom)
        low, high = law.delta(asked + law.slip)[0], law.delta(asked - law.slip)[2]
        if eps < law.bottom:  # nearly every loss is larger
            high = 1.0
        ends.append(min(infinite + (high if above else low), 1.0))
    upper, lower = ends
    return Interval(min(lower, upper), 0.5 * (lower + upper), upper)

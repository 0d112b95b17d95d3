"""One blanket round as a pair for composition: its certified delta(eps) at points that resolve the loss.

One (B, omega*) per victim, the same at every eps, so that upper and lower values belong to one pair. Of several victims
the largest upper value counts at each eps: that pair dominates everybody's.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gspa._blanket_choice import limit
from gspa._blanket_crowd import Crowd
from gspa._blanket_reduction import Reduction
from gspa._loss_curve import dominated, dominating
from gspa.privacy_loss import Atoms
from gspa.tradeoff import gdp_epsilon

Array = NDArray[np.float64]

_PER_DEVIATION = 10  # points in a standard deviation of the loss
_PER_GAP = 80  # the same where a report has nobody to hide among, in the largest loss or the Gaussian's mu
_GROWTH = 1.02  # of the distance between points, beyond three deviations
_CELLS = 600  # coarser by 1e-6 of eps
_TAIL = 2e-4  # of the rounds' share of delta: what may be left to the infinite loss
_FLAT = 0.99
_LARGEST = 500.0
_MOST_POINTS = 400
_LEAST_DELTA = 1e-30


class Pair(NamedTuple):
    """Above everybody's pair, and below the one of the user with the least noise."""

    above: Atoms
    below: Atoms


class _Victim(NamedTuple):
    who: int
    reduction: Reduction | None
    mu: float


def _victim(crowd: Crowd, index: int, delta: float, times: int) -> _Victim:
    """The (B, omega*) that looks best for so many rounds at delta."""
    delta = max(delta, times * _LEAST_DELTA)
    found, _ = crowd.reductions(index, delta / times, _CELLS)
    others = crowd.reports.without(index)
    best, value = _Victim(index, None, math.inf), math.inf
    for one in found:
        mu = limit(one.victim, one.inputs, others, one.envelope).mu
        left = delta - times * one.leak(0.0, False)[1]
        score = gdp_epsilon(delta=left, mu=mu * math.sqrt(times)) if left > 0 and mu < math.inf else math.inf
        if score < value:
            best, value = _Victim(index, one, mu), score
    return best


def reports_pair(crowd: Crowd, *, delta: float, times: int) -> Pair:
    """Losses of one round of `times` in which the crowd's reports are shuffled.

    Args:
        crowd: checked, inputs (0, 1).
        delta: of all rounds together, in (0, 1); decides which (B, omega*) is used and where the curve ends.
        times: how many rounds.
    """
    victims = [_victim(crowd, index, delta, times) for index in crowd.candidates(None)]
    first = victims[0]
    gap = crowd.gap(first.who)
    hidden = [one.mu for one in victims if one.reduction is not None]
    width = min(gap, max(hidden, default=gap), _LARGEST)
    corners = [crowd.gap(one.who) for one in victims] if crowd.mechanism == "laplace" else []
    floor = _TAIL * delta / times
    eps, step = 0.0, width / (_PER_DEVIATION if hidden else _PER_GAP)
    points: list[float] = []
    upper: list[float] = []
    ends: list[tuple[float, float, float]] = []  # lower, upper and cap of the first victim
    while len(points) < _MOST_POINTS:
        worst = 0.0
        for one in victims:
            local = crowd.local_delta(one.who, eps)
            if local <= worst and one is not first:
                continue
            value = local if one.reduction is None else one.reduction.upper(eps)
            if one is first:
                ends.append((local if one.reduction is None else one.reduction.lower(eps), value, local))
            worst = max(worst, min(value, local))
        points, upper = [*points, eps], [*upper, worst]
        if worst <= floor and len(points) > 3:
            break
        flat = eps > 3 * width and worst > _FLAT * upper[-2]  # what B leaves out remains
        if flat or eps > _LARGEST:
            if corners and (top := max(corners)) > eps and top < _LARGEST:
                points, upper, ends = [*points, top], [*upper, 0.0], [*ends, (0.0, 0.0, 0.0)]
            break
        if eps > 3 * width:
            step *= _GROWTH
        # A Laplace report's own eps is a corner of its curve.
        eps = min([eps + step, *(one for one in corners if one > eps)])
    at = np.array(points)
    low, high, cap = np.array(ends).T
    return Pair(dominating(at, np.array(upper)), dominated(at, low, high, cap))

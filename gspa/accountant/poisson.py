"""Poisson sampling: in each step every record takes part independently, with one probability ("rate").

With X = e^(z a - a^2/2), z normal and a = sensitivity/sigma, one step with the record has the density ratio
1 + r (X - 1) to one without it, r the rate; steps compose as independent pairs, also where they depend on earlier
answers (Abadi et al. 2016; Zhu, Dong and Wang 2022). The law of X is put between two discrete ones, convex order: the
mass of a cell of z at its mean, below, and at its ends with the mean kept, above. What follows is
`gspa.accountant.rounds`.

>>> bound = poisson_epsilon(sigma=1.0, steps=1_000, rate=1e-3, delta=1e-6)
>>> bound.lower <= bound.upper <= 1.001 * bound.lower
True
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from gspa.accountant import arguments as check
from gspa.accountant.bound import Bound, Ends
from gspa.accountant.losses import merge, spread
from gspa.accountant.mechanisms import alone_delta, alone_epsilon
from gspa.accountant.roots import crossing
from gspa.accountant.rounds import Factors, Tail, finite_share, tail, tilt_for_delta, tilt_for_mean

__all__ = ["DIRECTIONS", "poisson_delta", "poisson_epsilon"]

Array = NDArray[np.float64]

DIRECTIONS = {"remove": ("remove",), "add": ("add",), "both": ("remove", "add")}
METHOD = "Poisson-sampled Gaussian steps, composed on a grid from both sides"
VALID_FOR = "noisy sums in which each record takes part in each step independently; a record added or removed"
_CELLS = 12_000
_REACH = 11.0  # standard deviations; what is beyond has probability 2e-28
_FARTHEST = 36.0  # the last cell: beyond 38 the normal density is no number any more
_LEFT = 1e-5  # of delta: what may be left to the infinite loss
_STEPS = {True: 50, False: 200}  # grid steps in one step's standard deviation: merging loses more than spreading
_POINTS = {True: 1 << 17, False: 1 << 18}  # about as many in the window of the sum
_FINEST = 1 << 22  # points of one step's grid
_ROUNDED = 1e-13  # allowance in each loss, relative
_MOST_SHIFT = 25.0  # at least _REACH before the last cell
_LEAST_DELTA = 1e-20  # as of `rounds.compose`
_SAID = (
    f"no amplification was evaluated for a delta below {_LEAST_DELTA:g} or sigma below sensitivity/{_MOST_SHIFT:g}: "
    "the upper end is that of a record in every step, the lower end that of the nearest setting that was evaluated"
)
_TARGETS = (1e-4, 1e-12, _LEAST_DELTA)  # of delta, tried one after the other
_SHARES = (0.5, 0.25, 0.75, 1.0)  # of the saddle point: there rare large losses may already be the rule
_NARROW = 1e-3  # of delta; what is wider is tried again
_NODES, _WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(8))
_NODES = _NODES + 0.5


def _excess(z: Array, shift: float) -> Array:
    """X - 1."""
    return np.expm1(shift * z - shift * shift / 2)


def _cells(shift: float, reach: float) -> tuple[Array, Array, Array]:
    """Ends of the cells of z, shape (m + 1,), their masses, and the means of X - 1 in them, shape (m,)."""
    ends = np.linspace(-_REACH, shift + reach, _CELLS + 1)
    z = ends[:-1, None] + (ends[1] - ends[0]) * _NODES
    weight = np.exp(-z * z / 2) * (_WEIGHTS * (ends[1] - ends[0]) / math.sqrt(2 * math.pi))
    mass = weight.sum(axis=1)
    return ends, mass, (weight * _excess(z, shift)).sum(axis=1) / mass


def _atoms(shift: float, rate: float, reach: float, direction: str, *, above: bool) -> tuple[Array, Array, float]:
    """Losses of one step, their probabilities, and that of an infinite loss."""
    ends, mass, mean = _cells(shift, reach)
    low, high = ends[0], ends[-1]
    gone, gone_with = float(ndtr(-high)), float(ndtr(shift - high))  # beyond the last cell, without and with the record
    tail = float(ndtr(low))
    mass, mean = np.r_[tail, mass], np.r_[float(ndtr(low - shift)) / tail - 1, mean]
    infinite = 0.0
    if above:
        points = np.r_[-1.0, _excess(ends, shift)]
        apart = np.diff(points)
        share = np.clip((mean - points[:-1]) / np.where(apart > 0, apart, np.inf), 0.0, 1.0)
        mass, mean = np.r_[mass * (1 - share), mass * share], np.r_[points[:-1], points[1:]]
        if direction == "add":
            mass, mean = np.r_[mass, gone], np.r_[mean, points[-1]]  # less is lost beyond
        else:
            infinite = (1 - rate) * gone + rate * gone_with
    elif gone > 0:
        mass, mean = np.r_[mass, gone], np.r_[mean, gone_with / gone - 1]
    used = mass > 0
    mass, mean = mass[used], mean[used]
    with np.errstate(divide="ignore"):  # with rate 1 an X of 0
        loss = np.log1p(rate * mean)
    if direction == "add":
        loss = -loss
    else:
        mass = mass * (1 + rate * mean)
    if above:
        infinite += float(mass[loss == math.inf].sum())
    keep = np.isfinite(loss) & (mass > 0)
    return loss[keep], mass[keep], infinite


def _laws(shift: float, rate: float, steps: int, direction: str, target: float) -> tuple[Factors, Factors]:
    """All steps on a grid, from above and from below, for a delta of about the target or more."""
    reach = min(-float(ndtri(min(_LEFT * target / (rate * steps), 0.5))), _FARTHEST - shift)
    found = []
    for above, sign in ((True, 1), (False, -1)):
        loss, mass, infinite = _atoms(shift, rate, reach, direction, above=above)
        scale = math.sqrt(float(mass @ loss**2))
        finest = max(scale / _STEPS[above], 20 * scale * math.sqrt(steps) / _POINTS[above])
        step = max(finest, float(np.ptp(loss)) / _FINEST)
        loss, mass = loss + sign * _ROUNDED * np.abs(loss), mass * (1 + sign * _ROUNDED)
        found.append(spread(loss, mass, step, infinite) if above else merge(loss, mass, step))
    return [(found[0], steps)], [(found[1], steps)]


def _end(law: Tail, eps: float, above: bool) -> float:
    """A bound on the finite part of delta(eps)."""
    if eps < law.bottom:
        return 1.0 if above else _end(law, law.bottom, above)
    return law.delta(max(eps - law.slip, law.bottom))[2] if above else law.delta(eps + law.slip)[0]


def _delta(factors: Factors, eps: float, above: bool) -> float:
    best, infinite = 1.0 if above else 0.0, -math.expm1(finite_share(factors))
    theta = tilt_for_mean(factors, eps)
    for share in _SHARES:
        law = tail(factors, share * theta)
        end = _end(law, eps, above)
        best = min(best, end) if above else max(best, end)
        if abs(_end(law, eps, not above) - end) <= _NARROW * best + infinite:
            break
    return min(infinite + best, 1.0)


def _epsilon(factors: Factors, delta: float, above: bool) -> float:
    target = delta + math.expm1(finite_share(factors))
    if target <= 0:
        return math.inf
    best, theta = math.inf if above else 0.0, tilt_for_delta(factors, math.log(target))
    for share in _SHARES:
        law = tail(factors, share * theta)
        ends = {}
        for side in (True, False):

            def excess(eps: float, side: bool = side, law: Tail = law) -> float:
                return _end(law, eps, side) - target

            top = law.lowest + law.step * law.weight.size
            ends[side] = crossing(excess, 0.0, max(law.centre, law.step), side=1 if side else -1, most=top, rtol=1e-9)
        best = min(best, ends[True]) if above else max(best, ends[False])
        if ends[True] - ends[False] <= _NARROW * ends[True]:
            break
    return best


def _every(shift: float, steps: int) -> Ends:
    """mu of a record in every step, below and above."""
    mu = shift * math.sqrt(steps)
    return mu * (1 - 2.0**-50), mu * (1 + 2.0**-50)


def _shift(sigma: float, sensitivity: float) -> float:
    shift = check.positive(sensitivity=sensitivity) / check.positive(sigma=sigma)
    return check.in_range(0, 1e6, **{"sensitivity/sigma": shift})


def _worst(
    answer: Callable[[Factors, bool], float],
    target: float,
    *,
    sigma: float,
    steps: int,
    rate: float,
    direction: str,
    sensitivity: float,
) -> tuple[float, float, float]:
    directions = DIRECTIONS[check.one_of(DIRECTIONS, direction=direction)]
    shift = min(_shift(sigma, sensitivity), _MOST_SHIFT)
    steps, rate = check.count(steps=steps), check.in_range(1e-9, 1.0, rate=rate)
    low = high = 0.0
    for one in directions:
        above, below = _laws(shift, rate, steps, one, target)
        end = answer(above, True)
        if end > low:
            low, high = max(low, min(answer(below, False), end)), max(high, end)
    return low, (low + high) / 2, high


def poisson_delta(
    *, sigma: float, steps: int, rate: float, eps: float, direction: str = "both", sensitivity: float = 1.0
) -> Bound:
    """delta(eps) of noisy sums over Poisson samples.

    Args:
        sigma: standard deviation of the noise in each step, > 0.
        steps: how many, of all epochs together.
        rate: probability with which a record takes part in a step, in [1e-9, 1].
        eps: >= 0.
        direction: "remove" (with the record against without), "add", or "both", the larger of the two.
        sensitivity: the largest norm of a record's contribution to a sum, > 0: the clipping norm; at most 1e6 sigma.

    Returns:
        Bound on the worst contributions' delta, proved up to allowances for rounding as in `rounds.compose`.
        About 1e-25 is left to an infinite loss, so that a smaller delta is only bounded from above.

    Raises:
        InvalidValue: an argument out of its range.
    """
    eps = check.nonnegative(eps=eps)
    asked: dict[str, Any] = {"sigma": sigma, "steps": steps, "rate": rate}
    asked |= {"direction": direction, "sensitivity": sensitivity}
    for target in _TARGETS:
        found = _worst(lambda laws, above: _delta(laws, eps, above), target, **asked)
        if found[0] >= 0.1 * target:
            break
    if (shift := _shift(sigma, sensitivity)) <= _MOST_SHIFT:
        return Bound(*found, METHOD, VALID_FOR, eps=eps, reached=True)
    top = max(alone_delta("gaussian", eps, _every(shift, steps))[1], found[0])
    return Bound(found[0], (found[0] + top) / 2, top, METHOD, VALID_FOR, eps=eps, note=_SAID, reached=True)


def poisson_epsilon(
    *, sigma: float, steps: int, rate: float, delta: float, direction: str = "both", sensitivity: float = 1.0
) -> Bound:
    """The least eps at which noisy sums over Poisson samples are (eps, delta)-DP; arguments as for `poisson_delta`.

    Args:
        sigma: standard deviation of the noise in each step, > 0.
        steps: how many, of all epochs together.
        rate: probability with which a record takes part in a step, in [1e-9, 1].
        delta: in (0, 1).
        direction: "remove", "add" or "both", the larger of the two.
        sensitivity: the clipping norm, > 0; at most 1e6 sigma.

    Returns:
        Bound on the worst contributions' eps, proved up to allowances for rounding as in `rounds.compose`.

    Raises:
        InvalidValue: an argument out of its range.
    """
    delta = check.probability(allow_zero=False, delta=delta)
    asked = max(delta, _LEAST_DELTA)
    found = _worst(
        lambda laws, above: _epsilon(laws, asked, above),
        asked,
        sigma=sigma,
        steps=steps,
        rate=rate,
        direction=direction,
        sensitivity=sensitivity,
    )
    if (shift := _shift(sigma, sensitivity)) <= _MOST_SHIFT and asked == delta:
        return Bound(*found, METHOD, VALID_FOR, delta=delta, reached=True)
    top = max(alone_epsilon("gaussian", delta, _every(shift, steps))[1], found[0])
    return Bound(found[0], (found[0] + top) / 2, top, METHOD, VALID_FOR, delta=delta, note=_SAID, reached=True)

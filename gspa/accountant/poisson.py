"""Poisson sampling: in each step every record takes part independently, with one probability ("rate").

With X = e^(z a - a^2/2), z normal and a = sensitivity/sigma, one step with the record has the density ratio
1 + r (X - 1) to one without it, r the rate; steps compose as independent pairs, also where they depend on earlier
answers (Abadi et al. 2016; Zhu, Dong and Wang 2022): a step is a round of `gspa.accountant.rounds`.

>>> bound = poisson_epsilon(sigma=1.0, steps=1_000, rate=1e-3, delta=1e-6)
>>> bound.lower <= bound.upper <= 1.001 * bound.lower
True
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from gspa.accountant import arguments as check
from gspa.accountant.bound import Bound
from gspa.accountant.losses import MOST_MU, Atoms, sampled_gaussian
from gspa.accountant.rounds import Round, compose, compose_delta, depth_of

__all__ = ["poisson_delta", "poisson_epsilon"]

DIRECTIONS = {"remove": ("remove",), "add": ("add",), "both": ("remove", "add")}
METHOD = "Poisson-sampled Gaussian steps, composed on a grid from both sides"
VALID_FOR = "noisy sums in which each record takes part in each step independently; a record added or removed"


def _step(shift: float, rate: float, direction: str) -> Round:
    def pair(delta: float, times: int) -> tuple[Atoms, Atoms]:
        return sampled_gaussian(shift, depth=depth_of(delta, times), rate=rate, added=direction == "add")

    most = -math.log1p(-rate) * (1 + 2.0**-50) if direction == "add" and rate < 1 else math.inf
    return Round(METHOD, VALID_FOR, (pair,), most=most, reached=True)


def _worst(answer: Callable[[Round], Bound], sigma: float, rate: float, direction: str, sensitivity: float) -> Bound:
    shift = check.positive(sensitivity=sensitivity) / check.positive(sigma=sigma)
    shift, rate = check.in_range(0, MOST_MU, **{"sensitivity/sigma": shift}), check.in_range(1e-9, 1.0, rate=rate)
    directions = DIRECTIONS[check.one_of(DIRECTIONS, direction=direction)]
    found = [answer(_step(shift, rate, one)) for one in directions]
    low, high = max(one.lower for one in found), max(one.upper for one in found)
    return replace(found[0], lower=low, value=(low + high) / 2, upper=high, method=METHOD, note="")


def poisson_delta(
    *, sigma: float, steps: int, rate: float, eps: float, direction: str = "both", sensitivity: float = 1.0
) -> Bound:
    """delta(eps) of noisy sums over Poisson samples; arguments and errors as for `poisson_epsilon`, and eps >= 0.

    >>> bound = poisson_delta(sigma=1.0, steps=1_000, rate=1e-3, eps=0.2)
    >>> bound.lower <= bound.upper <= 1.01 * bound.lower
    True
    """
    steps = check.count(steps=steps)
    return _worst(lambda one: compose_delta([(one, steps)], eps=eps), sigma, rate, direction, sensitivity)


def poisson_epsilon(
    *, sigma: float, steps: int, rate: float, delta: float, direction: str = "both", sensitivity: float = 1.0
) -> Bound:
    """The least eps at which noisy sums over Poisson samples are (eps, delta)-DP.

    Args:
        sigma: standard deviation of the noise in each step, > 0.
        steps: how many, of all epochs together.
        rate: probability with which a record takes part in a step, in [1e-9, 1].
        delta: in (0, 1).
        direction: "remove" (with the record against without), "add", or "both", the larger of the two.
        sensitivity: the largest norm of a record's contribution to a sum, > 0: the clipping norm; at most 1000 sigma.

    Returns:
        Bound on the worst contributions' eps, proved up to allowances for rounding as in `rounds.compose`.
    """
    steps = check.count(steps=steps)
    return _worst(lambda one: compose([(one, steps)], delta=delta), sigma, rate, direction, sensitivity)

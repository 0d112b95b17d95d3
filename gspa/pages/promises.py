"""What is promised by Theorem 2's mu, without its error term, against what is certain: pages 09, 10 and 11.

Every attack is a rigorous lower bound on what the server learns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gspa.accountant import asymptotic, attacks, budgets
from gspa.accountant import published as bounds
from gspa.accountant.budgets import Budgets
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.accountant.tradeoff import gdp_delta

Array = NDArray[np.float64]

CELLS = 600  # as the attacks have them
FEW = 64  # distinct budgets up to which both attacks are tried


def judged(attacked: float, certified: float, delta: float) -> str:
    """What is certain of a promise: a delta above the promised one reached, or one not above it not exceeded."""
    if attacked > delta:
        return "broken"
    return "kept" if certified <= delta else "open"


def least_constant(delta: float, *, eps: float, mu: float, n: int) -> float:
    """The C that Theorem 2's error term C/sqrt(n-1) needs, if delta(eps) is at least `delta`.

    (15) with s = C/sqrt(n-1) says T(alpha) >= G_mu(alpha + s) - s, so delta(eps) = sup 1 - T(alpha) - e^eps alpha
    <= delta_mu(eps) + (1 + e^eps) s.
    """
    return max(0.0, math.sqrt(n - 1) * (delta - gdp_delta(eps, mu=mu)) / (1 + math.exp(eps)))


def gaussian_limit(people: Budgets, victim: int) -> asymptotic.Limit:
    """The Gaussian limit, and in `others` the inputs that the attacks assume of the others."""
    found = asymptotic.asymptotic_mu(1 / people.eps, count=people.count, victim=victim, cells=CELLS)
    return found._replace(others=np.nan_to_num(found.others))  # NaN: nobody else has that budget


def _attacked(attack: Callable[..., Any], people: Budgets, victim: int, others: Array | None, **at: float) -> float:
    places = gaussian_limit(people, victim).others if others is None else others
    statistics = attacks.STATISTICS if people.eps.size <= FEW else ("linear",)
    run = {"count": people.count, "victim": victim, "others": places, **at}
    return max(float(attack(1 / people.eps, statistic=statistic, **run).lower) for statistic in statistics)


def attacked_delta(people: Budgets, *, victim: int, eps: float, others: Array | None = None) -> float:
    """The better of both explicit attacks on shuffled Laplace reports at eps: a rigorous lower bound on delta.

    `victim` is the index of a group; `others` the others' inputs per group, None for the Gaussian limit's worst ones.
    """
    return _attacked(attacks.attack_delta, people, victim, others, eps=eps)


def attacked_epsilon(people: Budgets, *, victim: int, delta: float, others: Array | None = None) -> float:
    """An eps below which the reports are certainly not (eps, delta)-DP; arguments as `attacked_delta`."""
    return _attacked(attacks.attack_epsilon, people, victim, others, delta=delta)


def silent_crowd(*, eps: float, others: Sequence[float], n: int, delta: float) -> pd.DataFrame:
    """One Laplace victim among users whose budgets tend to 0: by the formula the best clones, in truth none.

    Columns: others, their budget; promised (eps at delta); lower and upper, between which the true eps is; delta,
    certainly reached at the promised eps; constant, a C of Theorem 2 below which it is not covered.
    """
    rows = []
    for other in others:
        people = budgets.from_array([eps, other], count=[1, n - 1])
        promised, mu = bounds.gspa_epsilon(people, delta=delta), bounds.gspa_mu(people)
        places = gaussian_limit(people, 0).others
        reached = {at: attacked_delta(people, victim=0, eps=at, others=places) for at in (0.0, promised)}
        rows.append(
            {
                "others": other,
                "promised": promised,
                "lower": attacked_epsilon(people, victim=0, delta=delta, others=places),
                "upper": blanket_epsilon(1 / people.eps, count=people.count, victim=0, delta=delta).upper,
                "delta": reached[promised],
                "constant": max(least_constant(found, eps=at, mu=mu, n=n) for at, found in reached.items()),
            }
        )
    return pd.DataFrame(rows)

"""What FLAME's protocols are worth in one epoch: certified eps, and budgets for a given eps.

All of it for (index, value) pairs and for coordinates that fit into n_p (`gspa.algorithms.flame.accounting`).

>>> found = certified("SS-Topk", d=7850, k=157, n=1000, n_p=333, eps=0.5, delta=5e-6)
>>> round(found.lower, 2), round(found.upper, 2)
(1.29, 1.45)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import exp, log
from typing import NamedTuple

from gspa.accountant.bound import Bound
from gspa.accountant.errors import OutsideValidity
from gspa.algorithms.flame import accounting, attacks
from gspa.algorithms.flame.randomizers import Laplace

METHODS = SIMPLE, DOUBLE, TOPK = "SS-Simple", "SS-Double", "SS-Topk"

_CLOSE = 2e-3  # relative, in eps: where the tuning stops
_MOST_STEPS = 12
_LARGEST_STEP = 3.0  # of the logarithm


class Worth(NamedTuple):
    """One protocol in the paper's setting.

    `budget` of one report; eps `lower` by an attack, `upper` certified; the budget `tuned` to a target (0 if none was
    found), and what an attack reaches there.
    """

    method: str
    budget: float
    lower: float
    upper: float
    tuned: float = 0.0
    tuned_lower: float = 0.0


def certified(method: str, *, d: int, k: int, n: int, n_p: int, eps: float, delta: float, attack: bool = True) -> Bound:
    """Certified eps of one epoch at the budget `eps` of one report; SS-Double with each index drawn for itself.

    The attack shows SS-Double's lower end for exactly k indices, too; `attack` False leaves it at 0.
    `OutsideValidity`: the padding may overflow.
    """
    local = Laplace(eps)
    if method == SIMPLE:
        return accounting.simple(local, d=d, n=n, delta=delta, attack=attack)
    if method == DOUBLE:
        found = accounting.double_poisson(local, d=d, k=k, n=n, n_p=n_p, delta=delta, attack=attack)
        exact = attacks.sum_epsilon(local, real=k, padded=d * n_p, delta=delta) if attack else 0.0
        return replace(found, lower=min(found.lower, exact))
    return accounting.topk(local, k=k, n_p=n_p, delta=delta, most_selected=n_p, attack=attack)


def tuned(upper: Callable[[float], float], *, target: float, start: float) -> float:
    """The budget at which an increasing function of it is the target, from below: secants in logarithms.

    `upper` is then in (0.998 target, target]; after a dozen steps, the largest budget seen that is not above it, or 0.

    >>> round(tuned(lambda eps: eps**2, target=0.25, start=2.0), 3)
    0.5
    """
    budget, value = start, upper(start)
    slope, best = 1.0, 0.0
    for _ in range(_MOST_STEPS):
        if value <= target:
            best = max(best, budget)
            if value >= (1 - _CLOSE) * target:
                break
        step = _LARGEST_STEP  # where eps is 0 whatever the budget
        if value > 0:
            wanted = log(1 - _CLOSE / 2) + log(target) - log(value)
            step = min(max(wanted / slope, -_LARGEST_STEP), _LARGEST_STEP)
        following = budget * exp(step)
        found = upper(following)
        if found != value and min(found, value) > 0:
            slope = max(0.2, (log(found) - log(value)) / step)
        budget, value = following, found
    return best


def worth(*, d: int, k: int, n: int, n_p: int, eps_l: float, delta: float, target: float) -> tuple[Worth, ...]:
    """All three at eps_l a vector, and tuned to the central eps `target`; without those whose padding may overflow."""
    made = []
    for method in METHODS:
        budget = eps_l / (d if method == SIMPLE else k)

        of = partial(certified, method, d=d, k=k, n=n, n_p=n_p, delta=delta)

        def upper(eps: float, of: Callable[..., Bound] = of) -> float:
            return of(eps=eps, attack=False).upper

        try:
            bound = of(eps=budget)
            start = budget * target / bound.upper if bound.upper > 0 else budget
            own = tuned(upper, target=target, start=start)
        except OutsideValidity:
            continue
        low = of(eps=own).lower if own > 0 else 0.0
        made.append(Worth(method, budget, bound.lower, bound.upper, own, low))
    return tuple(made)

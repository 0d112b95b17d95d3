"""What FLAME's protocols are worth in one epoch: certified eps beside the printed one, budgets for a given eps.

All of it for (index, value) pairs and for coordinates that fit into n_p (`gspa.flame.accounting`).

>>> found = certified("SS-Topk", d=7850, k=157, n=1000, n_p=333, eps=0.5, delta=5e-6)
>>> round(found.lower, 2), round(found.upper, 2)
(1.29, 1.45)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log

import pandas as pd

from gspa import _validate as check
from gspa.bound import Bound
from gspa.errors import OutsideValidity
from gspa.flame import accounting, amplification
from gspa.flame.randomizers import Laplace

METHODS = ("SS-Simple", "SS-Double", "SS-Topk")

_CLOSE = 2e-3  # relative, in eps: where the tuning stops
_MOST_STEPS = 12
_LARGEST_STEP = 3.0  # of the logarithm


@dataclass(frozen=True)
class Worth:
    """One protocol in the paper's setting.

    Attributes:
        method: one of `METHODS`.
        budget: eps_ld or eps_lk, of one report.
        printed: eps_c as the paper accounts for it; NaN where its formula gives nothing.
        lower: an attack reaches it.
        upper: certified.
        tuned: the budget of one report at which `upper` is the target; 0 if none was asked for, or found.
        tuned_lower: an attack reaches it at that budget.
    """

    method: str
    budget: float
    printed: float
    lower: float
    upper: float
    tuned: float = 0.0
    tuned_lower: float = 0.0


def certified(method: str, *, d: int, k: int, n: int, n_p: int, eps: float, delta: float, attack: bool = True) -> Bound:
    """Certified eps of one epoch.

    Args:
        method: one of `METHODS`; SS-Double with each index drawn independently, whose average is k.
        d: coordinates.
        k: of one user; not used by SS-Simple.
        n: users.
        n_p: reports per coordinate; not used by SS-Simple.
        eps: budget of one report.
        delta: in (0, 1).
        attack: False leaves the lower end at 0.

    Raises:
        OutsideValidity: the padding may overflow.
    """
    local = Laplace(eps)
    if check.one_of(METHODS, method=method) == "SS-Simple":
        return accounting.simple(local, d=d, n=n, delta=delta, attack=attack)
    if method == "SS-Double":
        return accounting.double_poisson(local, d=d, k=k, n=n, n_p=n_p, delta=delta, attack=attack)
    return accounting.topk(local, k=k, n_p=n_p, delta=delta, most_selected=n_p, attack=attack)


def tuned(upper: Callable[[float], float], *, target: float, start: float) -> float:
    """The budget at which an increasing function of it is the target, from below: secants in logarithms.

    Args:
        upper: an increasing function, > 0 from some budget on.
        target: its value, > 0.
        start: a budget to begin with, > 0.

    Returns:
        A budget with `upper` in (0.998 target, target], or after a dozen steps the largest seen that is not above it;
        0 if there was none.

    >>> round(tuned(lambda eps: eps**2, target=0.25, start=2.0), 3)
    0.5
    """
    target, budget = check.positive(target=target), check.in_range(1e-100, 1e100, start=start)
    value = upper(budget)
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


def worth_table(worths: Sequence[Worth]) -> pd.DataFrame:
    """The same as a table: `protocol`, its budget, eps as printed, by attack and certified; then the tuned budget's."""
    return pd.DataFrame(
        {
            "protocol": one.method,
            "one report's budget": one.budget,
            "eps printed": one.printed,
            "attack": one.lower,
            "certified": one.upper,
            "tuned budget": one.tuned,
            "attack, tuned": one.tuned_lower,
        }
        for one in worths
    )


def worth(
    *, d: int, k: int, n: int, n_p: int, eps_l: float, delta: float, target: float | None = None
) -> tuple[Worth, ...]:
    """All three at eps_l a vector; those whose padding may overflow are left out.

    Args:
        d: coordinates.
        k: of one user.
        n: users.
        n_p: reports per coordinate.
        eps_l: budget of a user's whole vector.
        delta: in (0, 1).
        target: central eps to tune for; None for no tuning.
    """
    d, k, eps_l = check.count(d=d), check.count(k=k), check.positive(eps_l=eps_l)
    target = None if target is None else check.positive(target=target)
    made = []
    for method in METHODS:
        budget = eps_l / (d if method == "SS-Simple" else k)

        def upper(eps: float, method: str = method) -> float:
            return certified(method, d=d, k=k, n=n, n_p=n_p, eps=eps, delta=delta, attack=False).upper

        try:
            bound = certified(method, d=d, k=k, n=n, n_p=n_p, eps=budget, delta=delta)
            start = budget * target / bound.upper if target is not None and bound.upper > 0 else budget
            own = tuned(upper, target=target, start=start) if target is not None else 0.0
        except OutsideValidity:
            continue
        low = certified(method, d=d, k=k, n=n, n_p=n_p, eps=own, delta=delta).lower if own > 0 else 0.0
        stated = _printed(method, d, k, n, n_p, budget, delta)
        made.append(Worth(method, budget, stated, bound.lower, bound.upper, own, low))
    return tuple(made)


def _printed(method: str, d: int, k: int, n: int, n_p: int, budget: float, delta: float) -> float:
    setting = amplification.Setting(d=d, k=k, n=n, n_p=n_p, eps=budget, delta=delta)
    try:
        if method == "SS-Simple":
            return amplification.simple(setting.full(eps=budget), bound="old_bennett").eps
        return amplification.double(setting, bound="old_bennett").eps
    except OutsideValidity:
        return float("nan")

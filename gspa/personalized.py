"""Laplace noise with unequal scales against what Theorem 3 promises: attacked, certified, mapped.

The promise is mu-GDP with mu^2 = 2/(sum_i r_i - max_i r_i), r_i = 1/(1 + e^{eps_i}) (Theorem 2 of Chen et al. 2024 and
the abstract; without its error term, as the paper uses it). Every attack below is a rigorous lower bound on what
one server learns, every certified number an upper bound; what lies between is said to be open.

>>> found = against_promise([crowd_of(2.0, 0.01, n=10_000)], delta=1e-4).iloc[0]
>>> found["promise"], bool(found["attacked"] > 100 * 1e-4)
('broken', True)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gspa import _validate as check
from gspa import asymptotic, audit, blanket, bounds, budgets
from gspa.budgets import Budgets
from gspa.counterexamples import judged, least_constant
from gspa.errors import InvalidValue
from gspa.tradeoff import gdp_delta

Array = NDArray[np.float64]

_CELLS = 600  # as the attacks have them
_LEAST_EPS = 1e-150  # 1/eps and its square are doubles
_FEW = 64  # distinct budgets up to which every user is tried, with both attacks
_SHARES = (1.0, 0.5)  # else: the users at these quantiles of the budgets


@dataclass(frozen=True)
class Crowd:
    """Users with Laplace reports of values in [0, 1].

    Attributes:
        name: for tables.
        people: their budgets; the noise has scale 1/eps_i.
        victims: indices of the groups to try as the victim.
    """

    name: str
    people: Budgets
    victims: tuple[int, ...]


def crowd(name: str, people: Budgets) -> Crowd:
    """Every group as a victim if they are few, else two of them: the largest eps and the median."""
    if people.eps.size <= _FEW:
        return Crowd(name, people, tuple(range(people.eps.size)))
    order = np.argsort(people.eps, kind="stable")
    return Crowd(name, people, tuple(int(order[round(share * (order.size - 1))]) for share in _SHARES))


def crowd_of(eps: float, others: float, *, n: int) -> Crowd:
    """One user with budget eps, the victim, among n - 1 others with one budget."""
    eps, others, n = check.positive(eps=eps), check.positive(others=others), check.count(2, n=n)
    people = budgets.from_array([eps, others], count=[1, n - 1])
    return Crowd(f"one user at {eps:g} among {n - 1:,} at {others:g}", people, (0,))


def papers_crowds(*, n: int, seed: int, drawn: bool = True) -> list[Crowd]:
    """The populations that the paper itself evaluates: Table 2 (1,000 draws repeated) and Figure 3's groups.

    Args:
        n: number of users.
        seed: of the draws.
        drawn: False leaves out those with random budgets, which take the longest.
    """
    n, seed = check.count(2, n=n), check.seed(seed=seed)
    found = []
    for index, (name, law) in enumerate(budgets.TABLE2.items()):
        first = budgets.draw(name, n=min(n, 1000), rng=np.random.default_rng([seed, index])).grouped()
        if drawn or first.eps.size <= _FEW:
            found.append(crowd(f"{law.title}: {law.label}", budgets.repeat_first(first, n=n)))
    return [*found, crowd("Figure 3: 0.1, 0.5, 1", budgets.preference_groups(n=n))]


def _scales(people: Budgets) -> Array:
    if people.eps_min < _LEAST_EPS:
        raise InvalidValue("eps", people.eps_min, f">= {_LEAST_EPS:g}", "the noise of Laplace reports is 1/eps")
    return np.asarray(1 / people.eps)


def _limit(people: Budgets, victim: int) -> asymptotic.Limit:
    """The limit, and in `others` the inputs that the attacks assume of the others."""
    found = asymptotic.asymptotic_mu(_scales(people), count=people.count, victim=victim, cells=_CELLS)
    return found._replace(others=np.nan_to_num(found.others))  # NaN: nobody else has that budget


def _statistics(people: Budgets) -> tuple[str, ...]:
    return audit.STATISTICS if people.eps.size <= _FEW else ("linear",)


def attacked_delta(people: Budgets, *, victim: int, eps: float, others: Array | None = None) -> float:
    """The better of both explicit attacks on shuffled Laplace reports at eps: a rigorous lower bound on delta.

    Args:
        people: everybody's budgets.
        victim: index of its group.
        eps: central eps >= 0.
        others: shape (g,), the others' inputs per group; None for the Gaussian limit's worst ones.
    """
    places = _limit(people, victim).others if others is None else others
    scales, count = _scales(people), people.count
    found = [
        audit.attack_delta(scales, count=count, victim=victim, eps=eps, others=places, statistic=statistic).lower
        for statistic in _statistics(people)
    ]
    return max(found)


def attacked_epsilon(people: Budgets, *, victim: int, delta: float, others: Array | None = None) -> float:
    """An eps below which the reports are certainly not (eps, delta)-DP; arguments as `attacked_delta`."""
    places = _limit(people, victim).others if others is None else others
    scales, count = _scales(people), people.count
    found = [
        audit.attack_epsilon(scales, count=count, victim=victim, delta=delta, others=places, statistic=statistic).lower
        for statistic in _statistics(people)
    ]
    return max(found)


def against_promise(crowds: Sequence[Crowd], *, delta: float) -> pd.DataFrame:
    """What Theorem 3 promises shuffled Laplace reports, beside what is certain.

    Args:
        crowds: whom to look at.
        delta: central delta at which the promise is read.

    Returns:
        One row a crowd, the largest over the victims tried (of more than 64 budgets the attacks try the first):
        `crowd`, `promised` (eps), `attacked` (a delta certainly reached there), `times` (attacked over delta); and
        at delta the eps `lower` (an attack's), `limit` (fixed-composition Gaussian, an estimate, at most `alone`),
        `upper` (certified), `alone` (of the report without shuffling); `promise`: "broken", "kept" (for the
        victims tried) or "open".
    """
    rows = []
    for one in crowds:
        people, scales, count = one.people, _scales(one.people), one.people.count
        promised = bounds.gspa_epsilon(people, delta=delta)
        attacked = lower = limit = upper = alone = 0.0
        for position, victim in enumerate(one.victims):
            estimate = _limit(people, victim)
            limit = max(limit, estimate.epsilon(delta))
            if position == 0 or people.eps.size <= _FEW:  # with many scales an attack takes long
                places = estimate.others
                attacked = max(attacked, attacked_delta(people, victim=victim, eps=promised, others=places))
                lower = max(lower, attacked_epsilon(people, victim=victim, delta=delta, others=places))
            upper = max(upper, blanket.blanket_epsilon(scales, count=count, victim=victim, delta=delta).upper)
            alone = max(alone, blanket.blanket_epsilon([scales[victim]], delta=delta).upper)
        rows.append(
            {
                "crowd": one.name,
                "promised": promised,
                "attacked": attacked,
                "times": attacked / delta,
                "lower": lower,
                "limit": min(limit, alone),
                "upper": upper,
                "alone": alone,
                # upper <= promised: at the promised eps, delta is at most the one asked for.
                "promise": judged(attacked, delta if upper <= promised else 1.0, delta),
            }
        )
    return pd.DataFrame(rows)


def silent_crowd(*, eps: float, others: Sequence[float], n: int, delta: float) -> pd.DataFrame:
    """One Laplace victim among users whose budgets tend to 0: by the formula the best clones, in truth none.

    Noise of scale 1/eps_j spreads the others' reports over a length of 1/eps_j: hardly any is near the victim's.

    Returns:
        One row a budget of the others: `others`, `promised` (eps at delta), `lower` and `upper` (the true eps is
        between), `delta` (certainly reached at the promised eps), `constant` (a C of Theorem 2 below which it is not
        covered).
    """
    rows = []
    for other in check.numbers(0, 700, others=others):
        people = crowd_of(eps, other, n=n).people
        scales, count = _scales(people), people.count
        promised, mu = bounds.gspa_epsilon(people, delta=delta), bounds.gspa_mu(people)
        places = _limit(people, 0).others
        at_zero = attacked_delta(people, victim=0, eps=0.0, others=places)
        at_promised = attacked_delta(people, victim=0, eps=promised, others=places)
        needed = (
            least_constant(at_zero, eps=0.0, mu=mu, n=n),
            least_constant(at_promised, eps=promised, mu=mu, n=n),
        )
        rows.append(
            {
                "others": other,
                "promised": promised,
                "lower": attacked_epsilon(people, victim=0, delta=delta, others=places),
                "upper": blanket.blanket_epsilon(scales, count=count, victim=0, delta=delta).upper,
                "delta": at_promised,
                "constant": max(needed),
            }
        )
    return pd.DataFrame(rows)


def broken_curve(one: Crowd, *, eps_max: float, points: int) -> pd.DataFrame:
    """delta(eps) of a crowd's first victim: `eps`, `promised`, `attack` (lower), `limit` (estimate), `certified`."""
    people, scales, count, victim = one.people, _scales(one.people), one.people.count, one.victims[0]
    mu = bounds.gspa_mu(people)
    limit = _limit(people, victim)
    rows = []
    for eps in np.linspace(0.0, check.positive(eps_max=eps_max), check.count(2, points=points)).tolist():
        rows.append(
            {
                "eps": eps,
                "promised": gdp_delta(eps, mu=mu),
                "attack": attacked_delta(people, victim=victim, eps=eps, others=limit.others),
                "limit": limit.delta(eps),
                "certified": blanket.blanket_delta(scales, count=count, victim=victim, eps=eps).upper,
            }
        )
    return pd.DataFrame(rows)


def promise_map(*, low: float, high: float, points: int, n: int, delta: float) -> pd.DataFrame:
    """Whether the promise holds for one Laplace user with one budget among n - 1 with another.

    Args:
        low: smallest budget of either axis, > 0.
        high: largest.
        points: per axis, in geometric steps.
        n: number of users.
        delta: central delta.

    Returns:
        One row for each (victim, others): `victim`, `others`, `promised` (eps), `attacked` (delta reached there),
        `times` (attacked over delta), `promise`. Where the promise is broken nothing more is computed.
    """
    grid = np.geomspace(check.positive(low=low), check.positive(high=high), check.count(2, points=points)).tolist()
    rows = []
    for others in grid:
        for eps in grid:
            people = crowd_of(eps, others, n=n).people
            promised = bounds.gspa_epsilon(people, delta=delta)
            attacked, upper = 0.0, eps  # the report alone guarantees eps
            if promised < eps:
                attacked = attacked_delta(people, victim=0, eps=promised)
            if promised < eps and attacked <= delta:
                upper = blanket.blanket_epsilon(_scales(people), count=people.count, victim=0, delta=delta).upper
            promise = judged(attacked, delta if upper <= promised else 1.0, delta)
            rows.append((eps, others, promised, attacked, attacked / delta, promise))
    return pd.DataFrame(rows, columns=["victim", "others", "promised", "attacked", "times", "promise"])


def estimates(settings: Sequence[tuple[str, str, Sequence[float], Sequence[int], float]]) -> pd.DataFrame:
    """The fixed-composition Gaussian limit beside an attack and a certified bound: how far an estimate can be trusted.

    Args:
        settings: (name, mechanism, noise scales on [0, 1], how many users have each, delta), as
            `gspa.accounting.CONTINUOUS`.

    Returns:
        One row a setting: `setting`, `delta`, `limit` (estimate), `attack` (rigorous lower bound, the better of both),
        `certified` (rigorous upper bound), `off` (the least factor by which the limit is wrong).
    """
    rows = []
    for name, mechanism, scales, sizes, delta in settings:
        limit = asymptotic.asymptotic_mu(scales, count=sizes, mechanism=mechanism, cells=_CELLS).epsilon(delta)
        attack = max(
            audit.attack_epsilon(scales, count=sizes, delta=delta, mechanism=mechanism, statistic=statistic).lower
            for statistic in audit.STATISTICS
        )
        certified = blanket.blanket_epsilon(scales, count=sizes, delta=delta, mechanism=mechanism).upper
        off = max(attack / limit, limit / certified, 1.0) if limit > 0 else math.nan
        rows.append((name, f"{delta:g}", limit, attack, certified, off))
    return pd.DataFrame(rows, columns=["setting", "delta", "limit", "attack", "certified", "off"])

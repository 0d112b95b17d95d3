"""What each user's own record is protected by, not only the worst user's.

>>> from gspa import budgets
>>> found = per_user_epsilon(budgets.from_array([0.5, 2.0], count=[900, 100]), delta=1e-6)
>>> bool(found.upper[0] < found.lower[1])
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gspa import _validate as check
from gspa._solve import epsilon_interval, gaussian_guess
from gspa.accountant import METHOD, Problem, epsilon_of, others_of, problem_of, resolve, tilt_for
from gspa.blankets import BlanketLaw, blanket_law
from gspa.budgets import Budgets
from gspa.clone_law import CloneLaw, clone_law
from gspa.errors import OutsideValidity
from gspa.randomizers import Family

Array = NDArray[np.float64]

Law = CloneLaw | BlanketLaw

_ENTRIES = 2000  # as _BLOCKS, for a law with blankets
_EXACT = 48  # distinct (eps, delta) up to which each user group is evaluated by itself
_BLOCKS = 600  # of the laws that all victims share
_NODES = 40  # else: victims evaluated, per local delta
_FEW_DELTAS = 8


@dataclass(frozen=True, eq=False)
class UserBounds:
    """Central eps of every group of users, in the order of the budgets.

    Attributes:
        lower: shape (g,), not above the pair's eps of that user.
        upper: shape (g,), not below it; what the user may rely on.
        method: the analysis that is bracketed.
        valid_for: the class of local randomizers.
        delta: central delta.
    """

    lower: Array
    upper: Array
    method: str
    valid_for: str
    delta: float


def per_user_epsilon(
    budgets: Budgets,
    *,
    delta: float,
    mechanism: str | Family = "rr",
    k: int | None = None,
    size: int | None = None,
    tv: float | None = None,
) -> UserBounds:
    """Central eps of each user at the same delta; the largest of them is `central_epsilon`.

    Up to 48 distinct (eps_i, delta_i) are solved one by one. Otherwise 40 victims are, against two
    laws that enclose every victim's own: all users, and all but the likeliest clone. In between, eps
    grows with eps_i (fixed others: mixing with a report that ignores the input is convex), and for
    randomized response e^eps - 1 at fixed delta grows at least in proportion to the victim's total
    variation t: by advanced joint convexity (Balle, Barthe and Gaboardi 2018, Theorem 2) a victim of
    total variation s t has at eps', e^eps' - 1 = s (e^eps - 1), a delta of at most s times that of t at eps.
    So each victim is solved at two deltas, and the eps in between are bracketed by chords.

    Args:
        budgets: the users' local budgets; at most 8 distinct delta_i.
        delta: central delta in (0, 1), above every local delta_i.
        mechanism: as for `central_epsilon`, and so the next three.
        k: number of items.
        size: number of items reported.
        tv: total variation.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: as `central_epsilon`; too many distinct budgets to certify each.
    """
    delta = check.probability(allow_zero=False, delta=delta)
    chosen = resolve(mechanism, budgets, k, size, tv)
    if delta <= budgets.delta_max:
        hint = f"with probability {budgets.delta_max:g} a report may reveal everything, shuffled or not"
        raise OutsideValidity("per-user epsilon", f"delta > {budgets.delta_max:g}, the largest local delta", hint)
    few = budgets.grouped() if budgets.eps.size <= 100_000 else budgets
    if few.eps.size <= _EXACT:
        found = [epsilon_of(delta, problem_of(few, chosen, i)) for i in range(few.eps.size)]
        where = [np.flatnonzero((few.eps == e) & (few.delta == d))[0] for e, d in zip(budgets.eps, budgets.delta)]  # noqa: B905
        table = np.array([[interval.lower, interval.upper] for interval in found])[where]
        return UserBounds(table[:, 0], table[:, 1], METHOD, chosen.valid_for, delta)
    values = np.unique(budgets.delta)
    if values.size > _FEW_DELTAS:
        hint = f"got {few.eps.size} distinct budgets and {values.size} distinct delta_i"
        raise OutsideValidity("per-user epsilon", "at most 48 distinct budgets, or 8 distinct delta_i", hint)
    lower, upper = np.zeros(budgets.eps.size), np.zeros(budgets.eps.size)
    for value in values:
        these = budgets.delta == value
        low, high = _between(budgets, chosen, budgets.eps[these], float(value), delta)
        lower[these], upper[these] = low, high
    return UserBounds(lower, upper, METHOD, chosen.valid_for, delta)


def _laws(budgets: Budgets, chosen: Family, eps: float, target: float) -> tuple[Law, Law]:
    """Without the likeliest clone, and with everybody; in blocks long enough to be fast."""
    q, rest = others_of(budgets, chosen)
    count = budgets.count.astype(np.float64)
    problem = Problem(chosen.victim(eps), 0.0, q, rest, count, chosen.coin)
    depth = 25 - math.log(target)
    slope = tilt_for(problem.victim, gaussian_guess(problem.victim, problem.mean, target))

    def law() -> Law:
        if chosen.coin is not None:
            return blanket_law(q, rest, count, coin=chosen.coin, depth=depth, slope=slope, entries=_ENTRIES)
        return clone_law(q, rest, count, depth=depth, slope=slope).merged(_BLOCKS)

    everybody = law()
    count[int(np.argmax(q))] -= 1
    return law(), everybody


def _between(budgets: Budgets, chosen: Family, eps: Array, local: float, delta: float) -> tuple[Array, Array]:
    """Brackets for users of one local delta from victims at nodes."""
    if not (eps > 0).all():
        lower, upper = np.zeros(eps.size), np.zeros(eps.size)
        heard = eps > 0
        if heard.any():
            lower[heard], upper[heard] = _between(budgets, chosen, eps[heard], local, delta)
        return lower, upper
    target = (delta - local) / (1 - local)
    slack = 4e-16 * (1 + delta / (delta - local))
    least, most = float(eps.min()), float(eps.max())
    law, everybody = _laws(budgets, chosen, most, target)
    nodes = np.unique(np.r_[np.geomspace(least, most, _NODES)[1:-1], least, most])
    above = np.minimum(np.searchsorted(nodes, eps), nodes.size - 1)  # the node at or above
    below = np.where(nodes[above] <= eps, above, np.maximum(above - 1, 0))

    def solved(goal: float) -> tuple[Array, Array]:
        found = [
            epsilon_interval(chosen.victim(float(e)), law, target=goal, slack=slack, law_of_lower=everybody)
            for e in nodes
        ]
        return np.array([interval.lower for interval in found]), np.array([interval.upper for interval in found])

    low, high = solved(target)
    lower, upper = low[below], high[above]
    if chosen.scales and nodes.size > 1:
        tv = _total_variations(chosen, nodes)
        own = _total_variations(chosen, eps)
        share = min(float((tv[1:] / tv[:-1]).max()) * (1 + 1e-12), 0.5 + 0.5 / target)
        _, high2 = solved(target * share)
        # eps as a function of delta is convex: below its chords, above their continuations.
        s = tv[above] / own  # in [1, share]
        chord = high[above] + (high2[above] - high[above]) * np.clip((s - 1) / (share - 1), 0, 1)
        upper = np.minimum(upper, np.log1p(np.expm1(chord) / s) * (1 + 1e-12))
        s = tv[below] / own  # in [1/share, 1]
        # The line through (1, low) and (share, high2) lies below the true one for s < 1.
        line = low[below] + np.maximum(low[below] - high2[below], 0.0) * (1 - s) / (share - 1)
        lower = np.maximum(lower, np.log1p(np.expm1(line) / s) * (1 - 1e-12))
    return lower, upper


def _total_variations(chosen: Family, eps: Array) -> Array:
    """TV of randomized response for an array: 1 - k r = (e^eps - 1)/(e^eps + k - 1), two outcomes of k are the coin."""
    k = 2.0 if chosen.coin is None else 2 / chosen.coin
    return np.asarray(-np.expm1(-eps) / (1 + (k - 1) * np.exp(-eps)))

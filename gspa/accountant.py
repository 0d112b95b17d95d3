"""Certified central privacy of a shuffled population: intervals, not estimates.

>>> from gspa import budgets
>>> crowd = budgets.constant(0.5, n=10_000)
>>> bound = central_epsilon(crowd, delta=1e-4)
>>> round(bound.value, 6), bound.relative_width < 1e-6
(0.009664, True)
>>> back = central_delta(crowd, eps=bound.value)
>>> abs(back.value / 1e-4 - 1) < 1e-6
True

Every interval brackets the value of the dominating pair (`gspa.pair`) for the worst user, or, where
several users may be the worst, the largest of theirs. Replace-one-record neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa import _validate as check
from gspa._solve import Interval, epsilon_interval, gaussian_guess
from gspa.blankets import BlanketLaw, blanket_law
from gspa.bound import Bound
from gspa.budgets import Budgets, constant
from gspa.clone_law import DEPTH, CloneLaw, clone_law
from gspa.errors import InvalidValue, OutsideValidity
from gspa.pair import Victim, divergence
from gspa.randomizers import Family, family

Array = NDArray[np.float64]

METHOD = "dominating pair, certified sum over the number of clones"
_FEW_DELTAS = 8  # distinct local deltas for which every candidate victim is evaluated
_CHUNK = 1 << 13  # users at a time, in the processor's cache


@dataclass(frozen=True)
class Problem:
    """One victim and what the others' reports are copies of.

    Attributes:
        victim: the masses of the victim's report.
        local_delta: the victim's delta_n.
        q: shape (g,), each other user's probability to be a clone, or a blanket if `coin` is given.
        rest: shape (g,), 1 - q.
        count: shape (g,), how many such users.
        coin: None, or the probability that a blanket is a clone.
    """

    victim: Victim
    local_delta: float
    q: Array
    rest: Array
    count: Array
    coin: float | None = None

    def law(self, *, depth: float = DEPTH, slope: float = 0.0) -> CloneLaw | BlanketLaw:
        """The number of clones that the victim hides among."""
        if self.coin is None:
            return clone_law(self.q, self.rest, self.count, depth=depth, slope=slope)
        return blanket_law(self.q, self.rest, self.count, coin=self.coin, depth=depth, slope=slope)

    @property
    def mean(self) -> float:
        """E[C]."""
        return float(self.q @ self.count) * (1.0 if self.coin is None else self.coin)


def resolve(mechanism: str | Family, budgets: Budgets, k: int | None, size: int | None, tv: float | None) -> Family:
    chosen = mechanism if isinstance(mechanism, Family) else family(mechanism, k=k, size=size, tv=tv)
    if chosen.common and budgets.eps_min < budgets.eps_max:
        hint = (
            f"eps runs from {budgets.eps_min:g} to {budgets.eps_max:g}, so the users' randomizers differ; name "
            "the family (rr, krr, subset), or give everyone the largest eps"
        )
        raise OutsideValidity(chosen.label, "one eps for all users", hint)
    if not chosen.local_delta and budgets.delta_max > 0:
        hint = f"the largest is {budgets.delta_max:g}; gspa.bounds.fmt21_epsilon has a bound for one common randomizer"
        raise OutsideValidity(chosen.label, "local delta_i = 0", hint)
    return chosen


def others_of(budgets: Budgets, chosen: Family) -> tuple[Array, Array]:
    """Everybody's (q, 1 - q) as a possible clone, or blanket."""
    q, rest = np.empty(budgets.eps.size), np.empty(budgets.eps.size)
    for start in range(0, q.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        q[part], rest[part] = chosen.clones(budgets.eps[part])
        if (local := budgets.delta[part]).any():
            # Pure with probability 1 - delta_j, and then a clone with probability q.
            rest[part] += q[part] * local
            q[part] *= 1 - local
    return q, rest


def problem_of(budgets: Budgets, chosen: Family, index: int) -> Problem:
    """User `index` of the groups as the victim; the other copies of that user stay."""
    eps = float(budgets.eps[index])
    q, rest = others_of(budgets, chosen)
    count = budgets.count.astype(np.float64)
    count[index] -= 1
    return Problem(chosen.victim(eps), float(budgets.delta[index]), q, rest, count, chosen.coin)


def _candidates(budgets: Budgets, chosen: Family) -> tuple[list[int], bool]:
    """Users one of whom is the worst, and whether that is certain.

    Of two users of equal local delta the one with the larger eps has the larger delta(eps) at every eps.
    Proof: let t be the probability of the truth, 1 - t that of a blanket, t_u >= t_v, and E(S, t) the
    experiment of a victim of truth t among S blankets. Seen by the victim u, user v is a blanket with
    probability o_v = (1-delta)(1-t_v): the others are (1-o_v) E(S, t_u) + o_v E(S+1, t_u), S revealed
    (it is a function of what is revealed and of who u is); for v the indices are exchanged. E(S, t)
    turns into E(S, t') for t' <= t (replace every report by a blanket, with the probability needed), and
    E(S+1, t) into E(S, t (S+1)/(S+2)) (drop a report at random). Doing the latter with the mass
    o_v - o_u leaves a truth of at least t_u (1 - (o_v + o_u)/2)/(1 - o_u) >= t_v, since
    t_u (1 - (o_v + o_u)/2) - t_v (1 - o_u) = (t_u - t_v)(delta + (1-delta) t_u/2) >= 0.
    """
    worst = int(np.argmax(budgets.eps))
    values = np.unique(budgets.delta) if budgets.delta_max > 0 else budgets.delta[:1]
    if values.size == 1:
        return [worst], True
    if values.size > _FEW_DELTAS:
        return [worst, int(np.argmax(budgets.delta))], False
    of_each = [np.flatnonzero(budgets.delta == value) for value in values]
    return [int(group[np.argmax(budgets.eps[group])]) for group in of_each], True


def _hull(budgets: Budgets, chosen: Family) -> Problem:
    """At least as bad as any user: the largest eps and delta, without the largest clone probability."""
    problem = problem_of(budgets, chosen, int(np.argmax(budgets.eps)))
    count = budgets.count.astype(np.float64)
    count[int(np.argmax(problem.q))] -= 1
    return Problem(problem.victim, budgets.delta_max, problem.q, problem.rest, count, chosen.coin)


def _worst(budgets: Budgets, chosen: Family, solve: Callable[[Problem], Interval]) -> Interval:
    """The largest over the users of what `solve` brackets for one."""
    indices, certain = _candidates(budgets, chosen)
    found = [solve(problem_of(budgets, chosen, index)) for index in indices if budgets.eps[index] > 0 or certain]
    best = Interval(*(max(interval[i] for interval in found) for i in range(3)))
    return best if certain else Interval(best.lower, best.value, solve(_hull(budgets, chosen)).upper)


def _delta_of(eps: float, problem: Problem) -> Interval:
    local = problem.local_delta
    if problem.victim.eps <= eps:
        return Interval(local, local, local)
    depth = DEPTH
    while True:
        law = problem.law(depth=depth, slope=tilt_for(problem.victim, eps))
        low, value, high = divergence(law, problem.victim, eps)
        # A delta so small that the mass left out shows: leave out less.
        if depth > 700 or value > 1e6 * math.exp(-depth):
            break
        depth *= 2
    # The victim's report is arbitrary, thus revealing, with probability delta_n.
    if local > 0:
        whole = [min(1.0, local + (1 - local) * delta) for delta in (low, value, high)]
        ends = math.nextafter(whole[0] * (1 - 2e-16), local), math.nextafter(whole[2] * (1 + 2e-16), 1.0)
        return Interval(max(ends[0], local), whole[1], ends[1])
    return Interval(low, value, high)


def tilt_for(victim: Victim, eps: float) -> float:
    """About d log h_c/dc = -KL(Bern(theta), Bern(1/2)), theta = (1 + tanh(eps/2)/T)/2 the best test's share."""
    if eps == 0:
        return 0.0
    share = victim.seen / (victim.seen + victim.hidden)
    truth = max(share * math.tanh(victim.eps / 2), np.finfo(np.float64).tiny)  # tanh of a subnormal budget is 0
    excess = min(1.0, math.tanh(eps / 2) / truth)
    down, up = (1 - excess) / 2, (1 + excess) / 2
    return -(math.log(2) + up * math.log(up) + (down * math.log(down) if down > 0 else 0.0))


def epsilon_of(delta: float, problem: Problem) -> Interval:
    local = problem.local_delta
    if delta <= local:
        hint = f"with probability {local:g} a report may reveal everything, shuffled or not"
        raise OutsideValidity("central epsilon", f"delta > {local:g}, the victim's local delta", hint)
    target = (delta - local) / (1 - local)
    if problem.victim.eps / 2 == 0:  # the least double among them
        return Interval(0.0, 0.0, problem.victim.eps)
    # Rounding of the target, and of the local part, is covered on both sides.
    slack = 4e-16 * (1 + delta / (delta - local))
    guess = gaussian_guess(problem.victim, problem.mean, target)
    law = problem.law(depth=25 - math.log(target), slope=tilt_for(problem.victim, guess))
    return epsilon_interval(problem.victim, law, target=target, slack=slack)


def central_delta(
    budgets: Budgets,
    *,
    eps: float,
    mechanism: str | Family = "rr",
    k: int | None = None,
    size: int | None = None,
    tv: float | None = None,
) -> Bound:
    """Central delta(eps) of the worst user after shuffling.

    Args:
        budgets: the users' local budgets.
        eps: central eps >= 0.
        mechanism: a name of `gspa.randomizers.MECHANISMS`, or a `Family`.
        k: number of items, for "krr" and "subset".
        size: number of items reported, for "subset".
        tv: total variation, for "tv".

    Returns:
        Bound on the pair's delta; `upper` holds for every randomizer in `valid_for`.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: a setting that the pair cannot certify.

    >>> from gspa import budgets
    >>> round(central_delta(budgets.constant(1.0, n=1), eps=0.5).value, 9)  # nobody to hide among
    0.287649137
    """
    eps = check.nonnegative(eps=eps)
    chosen = resolve(mechanism, budgets, k, size, tv)
    low, value, high = _worst(budgets, chosen, lambda problem: _delta_of(eps, problem))
    return Bound(low, value, high, METHOD, chosen.valid_for, eps=eps, n=budgets.n)


def central_epsilon(
    budgets: Budgets,
    *,
    delta: float,
    mechanism: str | Family = "rr",
    k: int | None = None,
    size: int | None = None,
    tv: float | None = None,
) -> Bound:
    """The least central eps at which the worst user is (eps, delta)-DP after shuffling.

    Args:
        budgets: the users' local budgets.
        delta: central delta in (0, 1), above every local delta_i.
        mechanism: a name of `gspa.randomizers.MECHANISMS`, or a `Family`.
        k: number of items, for "krr" and "subset".
        size: number of items reported, for "subset".
        tv: total variation, for "tv".

    Returns:
        Bound on the pair's eps; `upper` holds for every randomizer in `valid_for`. 0 where delta is
        at least delta(0).

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: a setting that the pair cannot certify; delta not above the local delta.

    >>> from gspa import budgets
    >>> central_epsilon(budgets.constant(0.0, n=5), delta=1e-6).upper
    0.0
    """
    delta = check.probability(allow_zero=False, delta=delta)
    chosen = resolve(mechanism, budgets, k, size, tv)
    if delta <= budgets.delta_max:
        hint = f"with probability {budgets.delta_max:g} a report may reveal everything, shuffled or not"
        raise OutsideValidity("central epsilon", f"delta > {budgets.delta_max:g}, the largest local delta", hint)
    low, value, high = _worst(budgets, chosen, lambda problem: epsilon_of(delta, problem))
    return Bound(low, value, high, METHOD, chosen.valid_for, delta=delta, n=budgets.n)


def epsilon_table(
    *,
    n: ArrayLike,
    eps: ArrayLike,
    delta: ArrayLike,
    local_delta: ArrayLike = 0.0,
    mechanism: str | Family = "rr",
    k: int | None = None,
    size: int | None = None,
    tv: float | None = None,
) -> list[dict[str, float]]:
    """`central_epsilon` of one common budget for many settings: a few milliseconds each, whatever n.

    Args:
        n: numbers of users, >= 1.
        eps: local budgets >= 0.
        delta: central deltas in (0, 1), above the local ones.
        local_delta: local deltas in [0, 1). These four are broadcast together, as numpy does.
        mechanism: as for `central_epsilon`, and so the next three.
        k: number of items.
        size: number of items reported.
        tv: total variation.

    Returns:
        One row a setting, in numpy's order, ready for `pandas.DataFrame`: `n`, `eps`, `delta`, `local_delta`, and
        `lower` <= `value` <= `upper` around the central eps.

    Raises:
        InvalidValue: shapes that do not go together, or an entry out of range.
        OutsideValidity: as `central_epsilon`.

    >>> [round(row["value"], 6) for row in epsilon_table(n=[10_000, 10**9], eps=0.5, delta=1e-4)]
    [0.009664, 0.0]
    """
    names = ("n", "eps", "delta", "local_delta")
    columns = []
    for name, column in zip(names, (n, eps, delta, local_delta), strict=True):
        try:
            columns.append(np.asarray(column))
        except ValueError:  # ragged lists
            raise InvalidValue(name, column, "a number or a rectangular array of numbers") from None
    for name, column in zip(names, columns, strict=True):
        if column.dtype.kind not in "iuf":
            raise InvalidValue(name, column.tolist(), "a number or an array of numbers")
    try:
        together = np.broadcast_arrays(*columns)
    except ValueError:
        shapes = ", ".join(f"{name} {column.shape}" for name, column in zip(names, columns, strict=True))
        raise InvalidValue("shapes", shapes, "shapes that numpy broadcasts together") from None
    rows = []
    for setting in zip(*(column.ravel().tolist() for column in together), strict=True):
        row = dict(zip(names, setting, strict=True))
        crowd = constant(row["eps"], n=check.count(n=row["n"]), delta=row["local_delta"])
        bound = central_epsilon(crowd, delta=row["delta"], mechanism=mechanism, k=k, size=size, tv=tv)
        rows.append(row | {"lower": bound.lower, "value": bound.value, "upper": bound.upper})
    return rows

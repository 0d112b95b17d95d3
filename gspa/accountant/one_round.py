"""Certified central privacy of a shuffled population: intervals, not estimates.

>>> from gspa.accountant import budgets
>>> crowd = budgets.constant(0.5, n=10_000)
>>> bound = central_epsilon(crowd, delta=1e-4)
>>> round(bound.value, 6), bound.relative_width < 1e-6
(0.009664, True)
>>> back = central_delta(crowd, eps=bound.value)
>>> abs(back.value / 1e-4 - 1) < 1e-6
True

Every interval brackets the value of the dominating pair (`gspa.accountant.pair`) for the worst user, or, where
several users may be the worst, the largest of theirs. Replace-one-record neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gspa.accountant import arguments as check
from gspa.accountant.arguments import Array
from gspa.accountant.bound import Bound, in_words
from gspa.accountant.budgets import Budgets
from gspa.accountant.clones import DEPTH, CloneLaw, clone_law
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.pair import AtomTable, Interval, Victim, divergence, epsilon_interval, gaussian_guess
from gspa.accountant.randomizers import BINARY, Randomizer

# --- the worst user ------------------------------------------------------------------------------------------

METHOD = "dominating pair, certified sum over the number of clones"
COMMON_LAW = "reports hidden among draws from one common law"
_FEW_DELTAS = 8  # distinct local deltas for which every candidate victim is evaluated


def _method(mechanism: Randomizer) -> str:
    return COMMON_LAW if mechanism.known and not mechanism.bits else METHOD


@dataclass(frozen=True)
class Problem:
    """One victim and what the others' reports are copies of.

    Attributes:
        victim: what the victim's report shows.
        local_delta: the victim's delta_n.
        q: shape (g,), each other user's probability to be a clone, or a draw from the table's B.
        rest: shape (g,), 1 - q.
        count: shape (g,), how many such users.
    """

    victim: Victim | AtomTable
    local_delta: float
    q: Array
    rest: Array
    count: Array

    def law(self, *, depth: float = DEPTH, eps: float = 0.0) -> CloneLaw:
        """The number of clones that the victim hides among, as precise as a delta at about that eps needs it."""
        if isinstance(self.victim, AtomTable):  # which tells less of rare numbers of draws than of rare outcomes
            return clone_law(self.q, self.rest, self.count, depth=depth, above=depth)
        return clone_law(self.q, self.rest, self.count, depth=depth, slope=self.victim.slope(eps))

    @property
    def table(self) -> AtomTable:
        """The victim's atoms, where a report is described by them."""
        assert isinstance(self.victim, AtomTable)
        return self.victim

    @property
    def mean(self) -> float:
        """E[C]."""
        return float(self.q @ self.count)


def require_fit(mechanism: Randomizer, budgets: Budgets) -> None:
    """Refuses a family that cannot be accounted for with these budgets."""
    if not isinstance(mechanism, Randomizer):
        allowed = "a randomizer with clones, such as RandomizedResponse() or KRR(k=10)"
        raise InvalidValue("mechanism", mechanism, allowed, "names, noise and matrices are for gspa.epsilon")
    if mechanism.common and budgets.eps_min < budgets.eps_max:
        hint = (
            f"eps runs from {budgets.eps_min:g} to {budgets.eps_max:g}, so the users' randomizers differ; give "
            "everyone the largest eps, or name a randomizer that takes an eps of one's own (rr, krr, subset)"
        )
        raise OutsideValidity(mechanism.label, "one eps for all users", hint)
    if not mechanism.local_delta and budgets.delta_max > 0:
        hint = f"the largest is {budgets.delta_max:g}; closed_forms.fmt21_epsilon has a bound for one common randomizer"
        raise OutsideValidity(mechanism.label, "local delta_i = 0", hint)


def others_of(budgets: Budgets, chosen: Randomizer) -> tuple[Array, Array]:
    """Everybody's (q, 1 - q) as a possible clone, or blanket."""
    q, rest = chosen.clones(budgets.eps)
    if budgets.delta_max > 0:  # pure with probability 1 - delta_j, and then a clone with probability q
        return q * (1 - budgets.delta), rest + q * budgets.delta
    return q, rest


def problem_of(budgets: Budgets, chosen: Randomizer, index: int) -> Problem:
    """User `index` of the groups as the victim; the other copies of that user stay."""
    eps = float(budgets.eps[index])
    q, rest = others_of(budgets, chosen)
    count = budgets.count.astype(np.float64)
    count[index] -= 1
    return Problem(chosen.victim(eps), float(budgets.delta[index]), q, rest, count)


def candidates(budgets: Budgets, chosen: Randomizer) -> tuple[list[int], bool]:
    """Users one of whom is the worst, and whether that is certain.

    Of two users of equal local delta the one with the larger eps is the worse off ("The worst victim", on the page of
    proofs).
    """
    worst = int(np.argmax(budgets.eps))
    values = np.unique(budgets.delta) if budgets.delta_max > 0 else budgets.delta[:1]
    if values.size == 1:
        return [worst], True
    if values.size > _FEW_DELTAS:
        return [worst, int(np.argmax(budgets.delta))], False
    of_each = [np.flatnonzero(budgets.delta == value) for value in values]
    return [int(group[np.argmax(budgets.eps[group])]) for group in of_each], True


def _hull(budgets: Budgets, chosen: Randomizer) -> Problem:
    """At least as bad as any user: the largest eps and delta, without the largest clone probability."""
    q, _ = others_of(budgets, chosen)
    among = problem_of(budgets, chosen, int(np.argmax(q)))
    return replace(among, victim=chosen.victim(budgets.eps_max), local_delta=budgets.delta_max)


def _worst(budgets: Budgets, chosen: Randomizer, solve: Callable[[Problem], Interval], **asked: Any) -> Bound:
    """The largest over the users of what `solve` brackets for one."""
    indices, certain = candidates(budgets, chosen)
    found = [solve(problem_of(budgets, chosen, index)) for index in indices if budgets.eps[index] > 0 or certain]
    best = Interval(*(max(interval[i] for interval in found) for i in range(3)))
    best = best if certain else best._replace(upper=solve(_hull(budgets, chosen)).upper)
    return Bound(*best, _method(chosen), chosen.valid_for, n=budgets.n, reached=budgets.n == 1, **asked)


def _delta_of(eps: float, problem: Problem) -> Interval:
    local = problem.local_delta
    if problem.victim.eps <= eps:
        return Interval(local, local, local)
    depth = DEPTH
    while True:
        law = problem.law(depth=depth, eps=eps)
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


def _require_above(what: str, delta: float, local: float, whose: str) -> None:
    if delta <= local:
        hint = f"with probability {local:g} a report may reveal everything, shuffled or not"
        raise OutsideValidity(what, f"delta > {local:g}, {whose}", hint)


def epsilon_of(delta: float, problem: Problem) -> Interval:
    local = problem.local_delta
    _require_above("central epsilon", delta, local, "the victim's local delta")
    target = (delta - local) / (1 - local)
    if problem.victim.eps / 2 == 0:  # the least double among them
        return Interval(0.0, 0.0, problem.victim.eps)
    # Rounding of the target, and of the local part, is covered on both sides.
    slack = 4e-16 * (1 + delta / (delta - local))
    guess = gaussian_guess(problem.victim, problem.mean, target)
    law = problem.law(depth=25 - math.log(target), eps=guess)
    return epsilon_interval(problem.victim, law, target=target, slack=slack)


def central_delta(budgets: Budgets, *, eps: float, mechanism: Randomizer = BINARY) -> Bound:
    """Central delta(eps) of the worst user after shuffling.

    Args:
        budgets: the users' local budgets.
        eps: central eps >= 0.
        mechanism: what every user runs.

    Returns:
        Bound on the pair's delta; `upper` holds for every randomizer in `valid_for`.

    >>> from gspa.accountant import budgets
    >>> round(central_delta(budgets.constant(1.0, n=1), eps=0.5).value, 9)  # nobody to hide among
    0.287649137
    """
    eps = check.nonnegative(eps=eps)
    require_fit(mechanism, budgets)
    return _worst(budgets, mechanism, lambda problem: _delta_of(eps, problem), eps=eps)


def central_epsilon(budgets: Budgets, *, delta: float, mechanism: Randomizer = BINARY) -> Bound:
    """The least central eps at which the worst user is (eps, delta)-DP after shuffling; otherwise as `central_delta`.

    0 where delta is at least delta(0).

    Args:
        budgets: as mechanism, see `central_delta`.
        delta: central delta in (0, 1), above every local delta_i.

    Raises:
        OutsideValidity: a setting that the pair cannot certify; delta not above the local delta.

    >>> from gspa.accountant import budgets
    >>> central_epsilon(budgets.constant(0.0, n=5), delta=1e-6).upper
    0.0
    """
    delta = check.probability(allow_zero=False, delta=delta)
    require_fit(mechanism, budgets)
    _require_above("central epsilon", delta, budgets.delta_max, "the largest local delta")
    return _worst(budgets, mechanism, lambda problem: epsilon_of(delta, problem), delta=delta)


# --- each user -----------------------------------------------------------------------------------------------

_EXACT = 48  # distinct (eps, delta) up to which each user group is evaluated by itself
_BLOCKS = 600  # of the laws that all victims share
_NODES = 40  # else: victims evaluated, per local delta


@dataclass(frozen=True, eq=False)
class UserBounds:
    """Central eps of every group of users, in the order of the budgets.

    Attributes:
        lower: shape (g,), not above the method's own eps of that user, nor above `upper`.
        upper: shape (g,), not below it; what the user may rely on.
        delta: central delta.
        method: as valid_for, relation, warnings and note, what `gspa.accountant.bound.Bound` has.
        reached: whether the lower ends are of the mechanism itself.
        proved: whether all ends hold by proof, as `gspa.accountant.bound.Bound` has it.
    """

    lower: Array
    upper: Array
    method: str
    valid_for: str
    delta: float
    relation: str = ""
    warnings: tuple[str, ...] = ()
    note: str = ""
    reached: bool = False
    proved: bool = True

    def words(self) -> list[str]:
        """What stands beside the numbers, a line each."""
        return in_words(self.method, self.valid_for, self.relation, self.note, self.warnings)


def per_user_epsilon(budgets: Budgets, *, delta: float, mechanism: Randomizer = BINARY) -> UserBounds:
    """Central eps of each user at the same delta; the largest of them is `central_epsilon`.

    Up to 48 distinct (eps_i, delta_i) are solved one by one. Otherwise 40 victims are, at two deltas, against two laws
    that enclose every victim's own: all users, and all but the likeliest clone. The eps in between are bracketed by
    chords ("Between two victims", on the page of proofs), or, where 1 - q does not scale, by the next nodes.

    Arguments and errors as `central_epsilon`; of more than 48 distinct budgets at most 8 distinct delta_i.
    """
    delta = check.probability(allow_zero=False, delta=delta)
    require_fit(mechanism, budgets)
    _require_above("per-user epsilon", delta, budgets.delta_max, "the largest local delta")
    many = budgets.eps.size > 100_000  # then sorting them takes longer than the rest
    few, where = (budgets, np.zeros(0, dtype=np.intp)) if many else budgets.distinct()
    if few.eps.size <= _EXACT:
        found = [epsilon_of(delta, problem_of(few, mechanism, i)) for i in range(few.eps.size)]
        lower, _, upper = np.array(found)[where].T
    else:
        values = np.unique(budgets.delta)
        if values.size > _FEW_DELTAS:
            hint = f"got {few.eps.size} distinct budgets and {values.size} distinct delta_i"
            raise OutsideValidity("per-user epsilon", "at most 48 distinct budgets, or 8 distinct delta_i", hint)
        lower, upper = np.zeros(budgets.eps.size), np.zeros(budgets.eps.size)
        for value in values:
            these = (budgets.delta == value) & (budgets.eps > 0)  # else a report says nothing
            if these.any():
                lower[these], upper[these] = _between(budgets, mechanism, budgets.eps[these], float(value), delta)
    # What holds for everybody neither brackets nor the order of a sum may exceed.
    upper = np.minimum(upper, central_epsilon(budgets, delta=delta, mechanism=mechanism).upper)
    return UserBounds(np.minimum(lower, upper), upper, _method(mechanism), mechanism.valid_for, delta)


def _between(budgets: Budgets, chosen: Randomizer, eps: Array, local: float, delta: float) -> tuple[Array, Array]:
    """Brackets for users of one local delta, each of an eps > 0, from victims at nodes."""
    target = (delta - local) / (1 - local)
    slack = 4e-16 * (1 + delta / (delta - local))
    least, most = float(eps.min()), float(eps.max())
    # Two laws for all victims: without the likeliest clone, and with everybody; in blocks long enough to be fast.
    q, rest = others_of(budgets, chosen)
    whole = Problem(chosen.victim(most), 0.0, q, rest, budgets.count.astype(np.float64))
    fewer = replace(whole, count=whole.count - (np.arange(q.size) == int(np.argmax(q))))
    guess = gaussian_guess(whole.victim, whole.mean, target)
    laws = [one.law(depth=25 - math.log(target), eps=guess) for one in (fewer, whole)]
    law, everybody = (one.merged(-(-one.mass.size // _BLOCKS)) for one in laws)
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
        tv, own = chosen.clones(nodes)[1], chosen.clones(eps)[1]
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


# --- colluding users, and those who drop out: no clones to hide among ----------------------------------------


def honest_only(budgets: Budgets, *, honest: int) -> Budgets:
    """The worst `honest` of these users to be among: those with the smallest clone probabilities.

    A clone probability (1 - delta_j) r(eps_j) falls with eps_j, so for one common delta the users of the smallest eps
    are the ones whose loss hurts most; the user of the largest eps, the worst victim, stays. Not so for reports on a
    line with unequal scales (`gspa.accountant.laplace_gaussian`). Every bound that grows with the others' clones
    (`one_round`, `exact`) is then valid whoever deviates, with n replaced by the number of honest users: 1 to all.
    """
    honest = check.count(honest=honest)
    if honest > budgets.n:
        raise InvalidValue("honest", honest, f"at most n = {budgets.n}")
    if budgets.delta.min() < budgets.delta_max:
        raise InvalidValue(
            "delta", budgets.delta.tolist(), "the same for all users", "remove the deviating users by hand"
        )
    order = np.argsort(budgets.eps, kind="stable")
    before = np.cumsum(budgets.count[order]) - budgets.count[order]
    lost = np.clip(budgets.n - honest - before, 0, budgets.count[order])
    count = budgets.count.copy()
    count[order] -= lost
    kept = count > 0
    return Budgets(budgets.eps[kept], budgets.delta[kept], count[kept])

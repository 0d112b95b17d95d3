"""Any finite randomizers, written down as matrices: one theorem brackets their shuffle from both sides.

The victim reports by the law P0 or P1. Let every other user j report, whatever the input, by a law that is at least
c_j B, for one law B. Tell the adversary who did not draw from B, and what they sent. Then C others, independently each
with probability c_j, are draws from B, and with m = C + 1 and L = (P0 - e^eps P1)/B under B

    delta(eps) <= E[(L_1 + ... + L_m)_+ / m] + sum over y with B(y) = 0 of (P0(y) - e^eps P1(y))_+        (upper end)

("One common law hides the victim", on the page of proofs; Balle, Bell, Gascon and Nissim 2019). If all n - 1 others
hold one input x and run the victim's randomizer, B is their law P_x and m = n, and the same expression is what an
attack on these reports reaches, with no inequality:

    delta(eps) >= E[(L_1 + ... + L_n)_+]/n + the same sum, at B = P_x                                     (lower end)

Users of several randomizers are attacked by the law of a sum of scores (`gspa.accountant.attacks`).

>>> truth = [[0.75, 0.25], [0.25, 0.75]]  # binary randomized response, eps = ln 3
>>> bound = discrete_epsilon([(truth, 1_000)], delta=1e-6)
>>> bound.reached, 0.1 < bound.lower < bound.upper < 0.2
(True, True)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa.accountant import arguments as check
from gspa.accountant.arguments import MOST_EXPONENT, UNIT, Array
from gspa.accountant.attacks import sum_laws
from gspa.accountant.bound import Bound
from gspa.accountant.budgets import Budgets
from gspa.accountant.clones import CloneLaw, clone_law
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.exact import sharper, sharper_each
from gspa.accountant.one_round import Problem, UserBounds, per_user_epsilon
from gspa.accountant.pair import BAND, TOP, AtomTable, gaussian_guess, greatest_epsilon, least_epsilon
from gspa.accountant.randomizers import Randomizer, matrix
from gspa.accountant.rounds import Round, of_tables

METHOD = "reports hidden among draws from one common law, any finite randomizers"
_MOST_PAIRS = 5_000  # of inputs, of all randomizers
_DEPTH = 40.0  # e^-40 of delta may be left out of the law of C
_GUESS = 1e-6  # of a delta that is asked for
_DEEP = 200.0  # an eps that is as good as none, where the local one is infinite
_TRIED = 8  # inputs of the others that the attack tries
_LEVELS = 24  # of the scores that it adds up
_EACH = 48  # distinct budgets, of each of which an attack is made


@dataclass(frozen=True, eq=False)
class _Crowd:
    """Who reports: each randomizer, and how many users run it."""

    tables: tuple[Array, ...]  # of shape (inputs, outputs), one number of outputs for all
    count: NDArray[np.int64]  # shape (g,)
    victims: tuple[tuple[int, int, int], ...] = ()  # (group, x0, x1), if not every change of every victim's record

    @classmethod
    def of(cls, population: Sequence[tuple[ArrayLike, int]]) -> _Crowd:
        groups = [(matrix(table), check.count(n=count)) for table, count in population]
        outputs = [table.shape[1] for table, _ in groups]
        if len(set(outputs)) > 1:
            raise InvalidValue("population", outputs, "one number of outputs for all; add columns of zeros")
        pairs = sum(table.shape[0] * (table.shape[0] - 1) for table, _ in groups)
        if pairs > _MOST_PAIRS:
            hint = "group inputs that have the same row"
            raise InvalidValue("population", f"{pairs:,} pairs of inputs", f"at most {_MOST_PAIRS:,}", hint)
        counts = np.array([count for _, count in groups], dtype=np.int64)
        if counts.sum() > check.MOST:
            raise InvalidValue("sum of counts", float(counts.sum()), "at most 2^53 - 1")
        return cls(tuple(table for table, _ in groups), counts)

    @property
    def n(self) -> int:
        return int(self.count.sum())

    @property
    def epsilon(self) -> float:
        """The largest log-ratio of two rows, rounded up; infinity where one has a zero that another has not."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = max(float(np.nanmax(table.max(axis=0) / table.min(axis=0))) for table in self.tables)
        return math.log(ratio * (1 + 4 * UNIT)) * (1 + 2 * UNIT) + 2 * UNIT

    def others(self, group: int) -> Array:
        """How many users of each randomizer there are beside a victim of that group."""
        return np.asarray(self.count - (np.arange(self.count.size) == group), dtype=np.float64)

    def bases(self) -> list[Array]:
        """Laws B to try; each is valid. One randomizer's own minimum over inputs is the best for it alone.

        All 0, under which nobody hides anybody, if no output is sent whatever the input.
        """
        least = [table.min(axis=0) for table in self.tables]
        together = np.sum([count * low for low, count in zip(least, self.count, strict=True)], axis=0)
        common = np.min(least, axis=0)
        found = {law.tobytes(): law for one in (together, common, *least) if one.any() for law in [one / one.sum()]}
        return list(found.values()) or [common]

    def coverage(self, base: Array) -> Array:
        """c_j of each group: the largest multiple of B below all its rows, rounded down."""
        used = base > 0
        if not used.any():
            return np.zeros(len(self.tables))
        found = [float((table.min(axis=0)[used] / base[used]).min()) for table in self.tables]
        return np.minimum(np.array(found) * (1 - 64 * UNIT), 1.0)

    def pairs(self) -> list[tuple[int, int, int]]:
        """(group, x0, x1): every victim with every change of its record."""
        return list(self.victims) or [
            (g, *pair) for g, table in enumerate(self.tables) for pair in permutations(range(len(table)), 2)
        ]


class _Upper:
    """The upper end at one law B: each victim's problem."""

    def __init__(self, crowd: _Crowd, base: Array, delta: float) -> None:
        self._depth, cover = _DEPTH - math.log(delta), crowd.coverage(base)
        found: dict[tuple[int, bytes], Problem] = {}
        for group, x0, x1 in crowd.pairs():
            first, second = crowd.tables[group][x0], crowd.tables[group][x1]
            laws = np.array([base, first, second])
            key = laws[:, np.lexsort(laws)].tobytes()  # what differs by the names of the outputs alone is one victim
            if (group, key) not in found:
                table = AtomTable.of(crowd.epsilon, base, first, second)
                found[group, key] = Problem(table, 0.0, cover, 1 - cover, crowd.others(group))
        self.victims = list(found.values())

    @cache  # noqa: B019 - one object a question
    def law(self, count: tuple[float, ...]) -> CloneLaw:
        """Of the number of others who are draws from B."""
        one = self.victims[0]
        return clone_law(one.q, one.rest, np.array(count), depth=self._depth, above=self._depth)

    def delta(self, eps: float, victim: Problem) -> float:
        """Not below delta(eps) of that victim."""
        return victim.table.above(self.law(tuple(victim.count)), eps)

    def worst(self, eps: float) -> float:
        """Not below delta(eps) of anybody."""
        return max(self.delta(eps, victim) for victim in self.victims)

    def epsilon(self, delta: float, top: float) -> float:
        """An eps at which no victim's delta is above the one asked: the worst victim's, then any other's that is worse.

        The local eps, which may be infinite, if there is none below 200.
        """
        limit, found = top if top <= TOP else _DEEP, 0.0
        if top > TOP and self.worst(limit) > delta:
            return top
        start = min(max(gaussian_guess(one.victim, one.mean + 1, delta) for one in self.victims), 0.95 * limit)
        waiting = sorted(self.victims, key=lambda victim: self.delta(start, victim))
        while waiting:
            victim = waiting.pop()
            at = least_epsilon(lambda eps, v=victim: self.delta(eps, v), delta, start, limit, BAND)  # type: ignore[misc]
            found = max(found, at)
            waiting = [other for other in waiting if self.delta(found, other) > delta]
        return found


Deltas = Callable[[float], float]


class _Lower:
    """The lower end: attacks on the reports where the others' inputs are fixed, each a delta(eps) that it reaches."""

    def __init__(self, crowd: _Crowd) -> None:
        worlds: dict[tuple[int, bytes], tuple[float, int, Array, Array]] = {}
        for group, x0, x1 in crowd.pairs():
            table = crowd.tables[group]
            for held in [[row] for row in table] if len(crowd.tables) == 1 else [_least_cover(crowd, group, x0, x1)]:
                others, victim = np.array(held), table[[x0, x1]]
                laws = np.r_[others, victim]
                key = laws[:, np.lexsort(laws)].tobytes()
                # About mu^2: how far apart the two worlds are, in units of what the reports vary.
                mixed, used = crowd.others(group) @ others + victim.mean(axis=0), victim.sum(axis=0) > 0
                apart = float(((victim[0] - victim[1])[used] ** 2 / mixed[used]).sum())
                worlds.setdefault((group, key), (apart, group, others, victim))
        self._crowd = crowd
        self._worlds = sorted(worlds.values(), key=lambda world: world[0], reverse=True)[:_TRIED]
        self._reached = [of for _, group, laws, victim in self._worlds for of in _attacks(crowd, group, laws, victim)]

    def alike(self) -> Problem | None:
        """The strongest world, where all others send by one law; else None."""
        if not self._worlds or len(self._worlds[0][2]) > 1:
            return None
        _, group, laws, victim = self._worlds[0]
        table = AtomTable.of(self._crowd.epsilon, laws[0], *victim)
        return Problem(table, 0.0, np.ones(1), np.zeros(1), self._crowd.others(group))

    def delta(self, eps: float) -> float:
        """Not above delta(eps) of somebody."""
        return max((of(eps) for of in self._reached), default=0.0)

    def epsilon(self, delta: float, high: float) -> float:
        """An eps below which the reports are certainly not (eps, delta)-DP: by the attack that is best at `high`."""
        if not self._reached:
            return 0.0
        best = max(self._reached, key=lambda of: of(high))
        return greatest_epsilon(best if best(high) > 0 else self.delta, delta, high, BAND)


def _least_cover(crowd: _Crowd, group: int, x0: int, x1: int) -> list[Array]:
    """The law of each group's others where they hold what hides the victim least."""
    gap = (crowd.tables[group][x0] - crowd.tables[group][x1]) ** 2
    return [
        max(table, key=lambda row: float((gap / np.maximum(row, 1e-300)).clip(max=1e300).sum()))
        for table in crowd.tables
    ]


def _attacks(crowd: _Crowd, group: int, laws: Array, victim: Array) -> list[Deltas]:
    """The likelihood ratio of all reports where the others send by one law, else sums of scores."""
    count = crowd.others(group)
    if len(laws) == 1:
        table, alike = AtomTable.of(crowd.epsilon, laws[0], *victim), clone_law(np.ones(1), np.zeros(1), count)
        n, size = float(count.sum()), laws[0].size

        def gain(eps: float, sent: Array) -> Array:
            with np.errstate(over="ignore"):
                large = math.exp(min(eps, MOST_EXPONENT)) * sent * (1 + 8 * UNIT)
            return np.asarray(np.maximum(victim[0] * (1 - 4 * UNIT) - large, 0.0))

        def rare(eps: float) -> float:
            """Whether some report is one that the others hardly ever send."""
            return float(gain(eps, victim[1] + n * laws[0]).sum() * (1 - (2 + size) * UNIT))

        def same(eps: float) -> float:
            """Whether all reports are one and the same."""
            return float((gain(eps, victim[1]) * laws[0] ** n).max() * (1 - (4 + 2 * n) * UNIT))

        return [lambda eps: max(0.0, table.below(alike, eps)), rare, same]
    sent = count @ laws + victim.mean(axis=0)
    ratio = np.divide(victim[0] - victim[1], sent, out=np.zeros(sent.size), where=sent > 0)
    typical = math.sqrt(float(sent @ ratio**2) / crowd.n)
    found: list[Deltas] = []
    for unit in {float(np.abs(ratio).max()) / _LEVELS, 4 * typical / _LEVELS}:
        if unit > 0:  # what few send may count for far more than the rest
            score = np.rint(np.clip(ratio / unit, -_LEVELS, _LEVELS)).astype(np.int64)
            with suppress(OutsideValidity):  # more users than a sum is evaluated for
                score //= max(int(np.gcd.reduce(score)), 1)
                found.append(sum_laws(score, laws[count > 0], count[count > 0], victim).delta)
    return found


def _several(count: int, one: str) -> str:
    return f"{count:,} {one}" if count == 1 else f"{count:,} {one}s"


def _valid_for(crowd: _Crowd) -> str:
    shapes = ", ".join(
        f"{_several(count, 'user')} of {_several(table.shape[0], 'input')} and {_several(table.shape[1], 'output')}"
        for table, count in zip(crowd.tables[:3], crowd.count, strict=False)
    )
    more = f" and {len(crowd.tables) - 3} more groups" if len(crowd.tables) > 3 else ""
    return f"the randomizers given: {shapes}{more}"


def discrete_epsilon(population: Sequence[tuple[ArrayLike, int]], *, delta: float) -> Bound:
    """Central eps of shuffled reports of any finite randomizers at delta, from both sides.

    `population` has (matrix, count) for each group: a matrix of shape (inputs, outputs), its rows the laws of a report,
    outputs the same for all groups. `upper` holds for every data set of these users; an attack on some reaches `lower`.
    """
    crowd, delta = _Crowd.of(population), check.probability(allow_zero=False, delta=delta)
    sides = [_Upper(crowd, base, delta) for base in crowd.bases()]
    high = min(side.epsilon(delta, crowd.epsilon) for side in sides)
    if high == math.inf:
        least = min(side.worst(_DEEP) for side in sides)
        shows = "a report shows what some input never sends, and nobody hides it"
        if least >= 1:
            raise OutsideValidity("central epsilon", "a report that two inputs share", f"here {shows}")
        raise OutsideValidity("central epsilon", f"delta > {least:.3g}", f"with that probability {shows}")
    return _bound(crowd, min(_Lower(crowd).epsilon(delta, high), high), high, delta=delta)


def discrete_delta(population: Sequence[tuple[ArrayLike, int]], *, eps: float) -> Bound:
    """Central delta of shuffled reports of any finite randomizers at eps >= 0; otherwise as `discrete_epsilon`."""
    crowd, eps = _Crowd.of(population), check.nonnegative(eps=eps)
    if eps >= crowd.epsilon:
        return _bound(crowd, 0.0, 0.0, eps=eps)
    at, high = min(eps, _DEEP), 1.0  # delta falls with eps
    for base in crowd.bases():
        found = _Upper(crowd, base, _GUESS).worst(at)
        if found < _GUESS:  # the law of C leaves out e^-40 of what is asked
            found = _Upper(crowd, base, max(found, 1e-300)).worst(at)
        high = min(high, found)
    low = _Lower(crowd).delta(eps) if eps <= TOP else 0.0
    return _bound(crowd, min(low, high), high, eps=eps)


def discrete_round(population: Sequence[tuple[ArrayLike, int]], *, delta: float) -> Round:
    """A round of `gspa.accountant.rounds` in which these users report, for all of whom about that delta is asked."""
    crowd = _Crowd.of(population)
    sides = [_Upper(crowd, base, delta) for base in crowd.bases()]
    best = min(sides, key=lambda one: max(victim.victim.square / (victim.mean + 1) for victim in one.victims))
    alike = _Lower(crowd).alike()
    label, one = "randomizers as matrices", alike or best.victims[0]
    found = of_tables(label, _valid_for(crowd), best.victims, one, most=crowd.epsilon)
    return replace(found, reached=alike is not None)


# --- randomizers by name, own budgets ------------------------------------------------------------------------

_MOST_GROUPS = 200  # of users, whose scores are added up


def _known(budgets: Budgets, mechanism: Randomizer) -> _Crowd | None:
    """The users of a known randomizer; the worst one's record is attacked.

    None with local deltas, under which a report may be anything, and with too many distinct budgets.
    """
    if not mechanism.known or budgets.delta_max > 0 or budgets.eps.size > _MOST_GROUPS:
        return None
    tables = tuple(mechanism.rows(float(eps)) for eps in budgets.eps)
    return _Crowd(tables, budgets.count, ((int(np.argmax(budgets.eps)), 0, 1),))


def sharpened(bound: Bound, budgets: Budgets, mechanism: Randomizer) -> Bound:
    """The pair's answer, with the exact law where reports are bits.

    An attack on some data set reaches `lower` where `reached` says so, which is where the randomizer is known.
    """
    if mechanism.bits:
        bound = sharper(bound, budgets)
    crowd = None if bound.reached else _known(budgets.grouped(), mechanism)
    if crowd is None:
        return bound
    attack = _Lower(crowd)
    reached = attack.delta(bound.eps) if bound.eps is not None else attack.epsilon(bound.delta or 0.0, bound.upper)
    low = min(reached, bound.upper)
    return replace(bound, lower=low, value=0.5 * (low + bound.upper), reached=True)


def named_per_user(budgets: Budgets, *, delta: float, mechanism: Randomizer) -> UserBounds:
    """Central eps of each user's own record; otherwise as `sharpened` and `one_round.per_user_epsilon`."""
    found = per_user_epsilon(budgets, delta=delta, mechanism=mechanism)
    if mechanism.bits:
        found = sharper_each(found, budgets)
    people, where = budgets.distinct()
    crowd = None if found.reached or people.eps.size > _EACH else _known(people, mechanism)
    if crowd is None:
        return found
    lower = np.zeros(people.eps.size)
    for group in range(people.eps.size):
        high = float(found.upper[where == group].max())
        if high > 0:
            lower[group] = _Lower(replace(crowd, victims=((group, 0, 1),))).epsilon(delta, high)
    return replace(found, lower=np.minimum(lower[where], found.upper), reached=True)


def _bound(crowd: _Crowd, low: float, high: float, **asked: Any) -> Bound:
    alone, ends = crowd.n > 1 and not crowd.bases()[0].any(), (low, 0.5 * (low + high), high)
    note = "no output is sent whatever the input: the local eps is all there is" if alone else ""
    return Bound(*ends, METHOD, _valid_for(crowd), n=crowd.n, note=note, reached=True, **asked)

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
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
_BASES = 64  # laws B that are tried, the most promising
_GAIN = 1e-6  # relative, of eps or delta, for which another law B is worth the time
_ROUGH = 64  # blocks of the law of C, for rough bounds
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
            hint = "write equal rows once, and users of one matrix as one group"
            raise InvalidValue("pairs of inputs of all matrices", pairs, f"at most {_MOST_PAIRS}", hint)
        counts = np.array([count for _, count in groups], dtype=np.int64)
        if counts.sum() > check.MOST:
            raise InvalidValue("sum of counts", float(counts.sum()), "at most 2^53 - 1")
        return cls(tuple(table for table, _ in groups), counts)

    @property
    def n(self) -> int:
        return int(self.count.sum())

    @cached_property
    def epsilon(self) -> float:
        """The largest log-ratio of two rows, rounded up; infinity where one has a zero that another has not."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = max(float(np.nanmax(table.max(axis=0) / table.min(axis=0))) for table in self.tables)
        return math.log(ratio * (1 + 4 * UNIT)) * (1 + 2 * UNIT) + 2 * UNIT

    @cached_property
    def rows(self) -> tuple[Array, NDArray[np.intp]]:
        """All groups' rows, one group after the other, and where each begins."""
        sizes = [len(table) for table in self.tables]
        return np.concatenate(self.tables), np.cumsum([0, *sizes[:-1]])

    @cached_property
    def least(self) -> Array:
        """Of each group, how likely each output is at least, whatever the input."""
        return np.array([table.min(axis=0) for table in self.tables])

    def others(self, group: int) -> Array:
        """How many users of each randomizer there are beside a victim of that group."""
        return np.asarray(self.count - (np.arange(self.count.size) == group), dtype=np.float64)

    def bases(self) -> list[Array]:
        """Laws B to try; each is valid. One randomizer's own minimum over inputs is the best for it alone.

        The first is likely to hide best whoever is hidden least, and so on. All 0, under which nobody hides anybody, if
        no output is sent whatever the input.
        """
        together, common = self.count @ self.least, self.least.min(axis=0)
        found = {
            law.tobytes(): law for one in (together, common, *self.least) if one.any() for law in [one / one.sum()]
        }
        return sorted(found.values(), key=lambda law: float(self.apart(law).max(initial=0.0))) or [common]

    def coverage(self, base: Array) -> Array:
        """c_j of each group: the largest multiple of B below all its rows, rounded down."""
        used = base > 0
        if not used.any():
            return np.zeros(len(self.tables))
        return np.asarray(np.minimum((self.least[:, used] / base[used]).min(axis=1) * (1 - 64 * UNIT), 1.0))

    @cached_property
    def _gaps(self) -> Array:
        """How much each output's probability changes with the record, for each of `pairs`."""
        return np.array([self.tables[group][x0] - self.tables[group][x1] for group, x0, x1 in self.pairs()])

    def apart(self, base: Array) -> Array:
        """About mu^2 of each of `pairs` among draws from B: how far apart the two inputs are."""
        used = base > 1e-150
        mean = float(self.coverage(base) @ self.count) + 1
        return np.asarray((self._gaps[:, used] ** 2 / base[used]).sum(axis=1) / mean)

    def pairs(self) -> list[tuple[int, int, int]]:
        """(group, x0, x1): every victim with every change of its record."""
        return list(self.victims) or [
            (g, *pair) for g, table in enumerate(self.tables) for pair in permutations(range(len(table)), 2)
        ]


_Victim = tuple[int, AtomTable]  # the group, and the reports


class _Upper:
    """The upper end at one law B: each victim's problem."""

    def __init__(self, crowd: _Crowd, base: Array, delta: float) -> None:
        self._crowd, self._base, self._depth = crowd, base, _DEPTH - math.log(delta)
        self._cover = crowd.coverage(base)
        self._order = np.argsort(-crowd.apart(base), kind="stable")

    def _each(self) -> Iterator[_Victim]:
        """Everybody who may be the worst; who is likely to be hidden least comes first."""
        found: set[tuple[int, bytes]] = set()
        pairs = self._crowd.pairs()
        for group, x0, x1 in (pairs[i] for i in self._order):
            laws = np.array([self._base, *self._crowd.tables[group][[x0, x1]]])
            key = group, laws[:, np.lexsort(laws)].tobytes()  # the names of the outputs make no difference
            if key not in found:
                found.add(key)
                yield group, AtomTable.of(self._crowd.epsilon, *laws)

    @cached_property
    def victims(self) -> list[_Victim]:
        """The same, each once."""
        return list(self._each())

    @cached_property
    def problems(self) -> list[Problem]:
        """The same for `gspa.accountant.rounds`."""
        others, rest = cache(self._crowd.others), 1 - self._cover
        return [Problem(table, 0.0, self._cover, rest, others(group)) for group, table in self.victims]

    @cache  # noqa: B019 - one object a question
    def law(self, group: int) -> CloneLaw:
        """Of the number of others who are draws from B."""
        others = self._crowd.others(group)
        return clone_law(self._cover, 1 - self._cover, others, depth=self._depth, above=self._depth)

    @cached_property
    def _fewest(self) -> CloneLaw:
        """The same without the likeliest of them all, which hides nobody better; in a few blocks, for rough bounds."""
        law = self.law(int(np.argmax(self._cover)))
        return law.merged(-(-law.mass.size // _ROUGH))

    def larger(self, known: float, eps: float, victim: _Victim) -> float:
        """Not below the known delta, nor below that victim's."""
        group, table = victim
        if table.above(self._fewest, eps) <= known:
            return known
        return max(known, table.above(self.law(group), eps))

    def exceeds(self, eps: float, delta: float) -> bool:
        """Whether anybody's delta, as far as this B tells, is larger at eps."""
        return any(self.larger(delta, eps, victim) > delta for victim in self._each())

    def worst(self, eps: float) -> float:
        """Not below delta(eps) of anybody."""
        found = 0.0
        for victim in self.victims:
            found = self.larger(found, eps, victim)
        return found

    def epsilon(self, delta: float, top: float) -> float:
        """An eps at which no victim's delta is above the one asked: the first victim's, then any other's that is worse.

        The local eps, which may be infinite, if there is none below 200.
        """
        limit, found = top if top <= TOP else _DEEP, 0.0
        if top > TOP and self.exceeds(limit, delta):
            return top
        first = self.problems[0]
        start = min(gaussian_guess(first.victim, first.mean + 1, delta), 0.95 * limit)
        for victim in self.victims:
            if victim is self.victims[0] or self.larger(delta, found, victim) > delta:
                above = partial(victim[1].above, self.law(victim[0]))
                found = max(found, least_epsilon(above, delta, start, limit, BAND))
        return found


Deltas = Callable[[float], float]


class _Lower:
    """The lower end: attacks on the reports where the others' inputs are fixed, each a delta(eps) that it reaches."""

    def __init__(self, crowd: _Crowd) -> None:
        worlds: dict[tuple[int, bytes], tuple[int, Array, Array]] = {}
        for _, group, x0, x1, row in sorted(_strongest(crowd), key=lambda world: world[0], reverse=True):
            table = crowd.tables[group]
            others, victim = table[[row]] if row is not None else _least_cover(crowd, group, x0, x1), table[[x0, x1]]
            laws = np.r_[others, victim]
            key = laws[:, np.lexsort(laws)].tobytes()
            worlds.setdefault((group, key), (group, others, victim))
            if len(worlds) == _TRIED:
                break
        self._crowd = crowd
        self._worlds = list(worlds.values())
        self._reached = [of for group, laws, victim in self._worlds for of in _attacks(crowd, group, laws, victim)]

    def alike(self) -> Problem | None:
        """The strongest world, where all others send by one law; else None."""
        if not self._worlds or len(self._worlds[0][1]) > 1:
            return None
        group, laws, victim = self._worlds[0]
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


def _strongest(crowd: _Crowd) -> Iterator[tuple[float, int, int, int, int | None]]:
    """Every change of a victim's record, as (about mu^2, group, x0, x1, what all others hold).

    About mu^2 is how far apart the two worlds are, in units of what the reports vary. What the others hold is a row of
    their matrix if it is one for all, else None, for `_least_cover`.
    """
    for group, x0, x1 in crowd.pairs():
        table, others = crowd.tables[group], crowd.others(group)
        one = len(crowd.tables) == 1
        sent = others * table if one else others @ _least_cover(crowd, group, x0, x1)[None]
        used = table[x0] + table[x1] > 0
        gap, mixed = (table[x0] - table[x1])[used], sent[:, used] + (table[x0] + table[x1])[used] / 2
        for row, apart in enumerate((gap**2 / mixed).sum(axis=1).tolist()):
            yield apart, group, x0, x1, row if one else None


def _least_cover(crowd: _Crowd, group: int, x0: int, x1: int) -> Array:
    """The law of each group's others where they hold what hides the victim least."""
    gap = (crowd.tables[group][x0] - crowd.tables[group][x1]) ** 2
    rows, starts = crowd.rows
    shown = (gap / np.maximum(rows, 1e-300)).clip(max=1e300).sum(axis=1)
    most = np.repeat(np.maximum.reduceat(shown, starts), np.diff(np.r_[starts, len(rows)]))
    first = np.flatnonzero(shown == most)
    return np.asarray(rows[first[np.searchsorted(first, starts)]])


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
    sides, high = [_Upper(crowd, base, delta) for base in crowd.bases()[:_BASES]], math.inf
    for side in sides:
        if side is sides[0] or not side.exceeds(high * (1 - _GAIN) if high <= TOP else _DEEP, delta):
            high = min(high, side.epsilon(delta, crowd.epsilon))
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
    at, high, guess = min(eps, _DEEP), 1.0, _GUESS  # delta falls with eps
    for base in crowd.bases()[:_BASES]:
        side = _Upper(crowd, base, guess)
        if high < 1 and side.exceeds(at, high * (1 - _GAIN)):
            continue
        found = side.worst(at)
        if found < 1e-3 * guess:  # the law of C leaves out e^-40 of what is asked
            found = _Upper(crowd, base, max(found, 1e-300)).worst(at)
        high = min(high, found)
        guess = max(min(guess, high), 1e-300)
    low = _Lower(crowd).delta(eps) if eps <= TOP else 0.0
    return _bound(crowd, min(low, high), high, eps=eps)


def discrete_round(population: Sequence[tuple[ArrayLike, int]]) -> Round:
    """A round of `gspa.accountant.rounds` in which these users report."""
    crowd = _Crowd.of(population)
    victims, alike = _Upper(crowd, crowd.bases()[0], _GUESS).problems, _Lower(crowd).alike()
    label, one = "randomizers as matrices", alike or victims[0]
    found = of_tables(label, _valid_for(crowd), victims, one, most=crowd.epsilon)
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
    return replace(bound, lower=low, value=0.5 * low + 0.5 * bound.upper, reached=True)


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
    alone, ends = crowd.n > 1 and not crowd.least.any(), (low, 0.5 * low + 0.5 * high, high)
    note = "no output is sent whatever the input: the local eps is all there is" if alone else ""
    return Bound(*ends, METHOD, _valid_for(crowd), n=crowd.n, note=note, reached=True, **asked)

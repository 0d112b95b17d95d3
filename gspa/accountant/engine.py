"""Any finite randomizers, written down as matrices: one theorem brackets their shuffle from both sides.

The victim reports by the law P0 or P1. Let every other user j report, whatever the input, by a law that is at least
c_j B, for one law B. Tell the adversary who did not draw from B, and what they sent. Then C others, independently each
with probability c_j, are draws from B, and with m = C + 1 and L = (P0 - e^eps P1)/B under B

    delta(eps) <= E[(L_1 + ... + L_m)_+ / m] + sum over y with B(y) = 0 of (P0(y) - e^eps P1(y))_+        (upper end)

because m draws of which one is the victim's have the density (L_1 + ... + L_m)/m relative to m draws of B (Balle, Bell,
Gascon and Nissim 2019). If all n - 1 others hold one input x and run the victim's randomizer, B is their law P_x and
m = n, and the same expression is what an attack on these reports reaches, with no inequality:

    delta(eps) >= E[(L_1 + ... + L_n)_+]/n + the same sum, at B = P_x                                     (lower end)

Users of several randomizers are attacked by the law of a sum of scores (`gspa.accountant.attacks`).

>>> truth = [[0.75, 0.25], [0.25, 0.75]]  # binary randomized response, eps = ln 3
>>> bound = discrete_epsilon([(truth, 1_000)], delta=1e-6)
>>> bound.reached, 0.1 < bound.lower < bound.upper < 0.2
(True, True)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa.accountant import arguments as check
from gspa.accountant.attacks import sum_laws
from gspa.accountant.blanket import expectation_above
from gspa.accountant.bound import Bound
from gspa.accountant.clones import CloneLaw, clone_law
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.laplace_gaussian import greatest_epsilon, least_epsilon
from gspa.accountant.random_sum import positive_part
from gspa.accountant.tradeoff import gdp_epsilon

Array = NDArray[np.float64]

METHOD = "reports hidden among draws from one common law, any finite randomizers"
_UNIT = 2.0**-52
_SUM = 1e-9  # how far a row may be from 1; it is divided by its sum
_MOST_CELLS = 10**6
_LONGEST = 1 << 25  # bytes of a file
_MOST_PAIRS = 5_000  # of inputs, of all randomizers
_BAND = 1e-3  # of delta, in which an end is good enough
_TOP = 200.0  # an eps that is as good as none
_DEPTH = 40.0  # e^-40 of delta may be left out of the law of C
_GUESS = 1e-6  # of a delta that is asked for
_TRIED = 8  # inputs of the others that the attack tries
_LEVELS = 24  # of the scores that it adds up


class _Atoms(NamedTuple):
    """The reports of one pair of inputs relative to a law B.

    Attributes:
        base: shape (k,), > 0, B.
        first, second: shape (k,), P0/B and P1/B.
        bare: shape (2, l), P0 and P1 where B has no mass.
    """

    base: Array
    first: Array
    second: Array
    bare: Array

    @classmethod
    def of(cls, base: Array, first: Array, second: Array) -> _Atoms:
        """From three laws of shape (k,)."""
        covered = base > 0
        inside = base[covered]
        bare = np.array([first[~covered], second[~covered]])
        return cls(inside, first[covered] / inside, second[covered] / inside, bare)

    def values(self, eps: float, *, up: bool) -> Array:
        """L, rounded to one side."""
        large = math.exp(eps) * self.second
        off = 8 * _UNIT * (self.first + large)
        return self.first - large + (off if up else -off)

    def outside(self, eps: float, *, up: bool) -> float:
        """What the reports cost that nobody else sends."""
        return _apart(self.bare[0], self.bare[1], eps, up=up)

    @property
    def square(self) -> float:
        """Chi-square distance of P0 and P1 relative to B: over m, mu^2 of the Gaussian limit."""
        return float(self.base @ (self.first - self.second) ** 2)


def _apart(first: Array, second: Array, eps: float, *, up: bool) -> float:
    """sum (P0 - e^eps P1)_+, rounded to one side; each term allows for its own cancellation."""
    side = 4 * _UNIT if up else -4 * _UNIT
    gap = np.maximum(first * (1 + side) - math.exp(eps) * second * (1 - side), 0.0)
    return float(gap.sum() * (1 + side * (1 + first.size)))


def matrix(given: ArrayLike) -> Array:
    """A randomizer, shape (inputs, outputs), its rows divided by their sums.

    Raises:
        InvalidValue: not a table of finite numbers >= 0 with at least two rows, or a row whose sum is not 1.
    """
    table = check.floats(matrix=given)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 1:
        raise InvalidValue("matrix", f"shape {table.shape}", "a table with a row for each input, at least two")
    if table.size > _MOST_CELLS:
        raise InvalidValue("matrix", f"{table.size:,} cells", f"at most {_MOST_CELLS:,}")
    for i, row in enumerate(table):
        bad = np.flatnonzero(~(np.isfinite(row) & (row >= 0)))
        if bad.size:
            raise InvalidValue(f"matrix[{i}, {bad[0]}]", float(row[bad[0]]), "a probability >= 0")
        total = math.fsum(row.tolist())
        if not abs(total - 1) <= _SUM:
            raise InvalidValue(f"matrix[{i}]", f"a row that sums to {total:.12g}", "a law: its sum is 1")
    return np.array([row / math.fsum(row.tolist()) for row in table])


def read_matrix(path: str | Path) -> Array:
    """A randomizer from a file: NPY, or text with a row a line and numbers between commas, semicolons or blanks.

    Raises:
        InvalidValue: no such file, too long, no numbers, or no randomizer.
    """
    name = Path(path).name
    try:
        if Path(path).stat().st_size > _LONGEST:
            raise InvalidValue(name, f"over {_LONGEST:,} bytes", "a shorter file")
        if Path(path).suffix.lower() == ".npy":
            table = np.load(path, allow_pickle=False)
        else:
            lines = Path(path).read_text(encoding="utf-8-sig").replace(";", " ").replace(",", " ").splitlines()
            rows = [[float(word) for word in line.split()] for line in lines if line.strip()]
            if len({len(row) for row in rows}) != 1:
                raise InvalidValue(name, [len(row) for row in rows][:5], "rows of one length, without a header")
            table = np.array(rows)
    except OSError as error:
        raise InvalidValue(name, str(path), "a readable file", error.strerror or "cannot be read") from None
    except InvalidValue:
        raise
    except (ValueError, EOFError) as error:
        raise InvalidValue(
            name, str(error).split("\n")[0][:80], "a table of numbers, CSV or NPY, with decimal points"
        ) from None
    return matrix(table)


def _local_epsilon(table: Array) -> float:
    """The largest log-ratio of two rows, rounded up; infinity where one has a zero that another has not."""
    low, high = table.min(axis=0), table.max(axis=0)
    used = high > 0
    if (low[used] == 0).any():
        return math.inf
    return math.log(float((high[used] / low[used]).max()) * (1 + 4 * _UNIT)) + 2 * _UNIT


@dataclass(frozen=True, eq=False)
class _Crowd:
    """Who reports: each randomizer, and how many users run it.

    Attributes:
        tables: of shape (inputs, outputs), one number of outputs for all.
        count: shape (g,).
    """

    tables: tuple[Array, ...]
    count: NDArray[np.int64]

    @classmethod
    def of(cls, population: Sequence[tuple[ArrayLike, int]]) -> _Crowd:
        """Checked.

        Raises:
            InvalidValue: no group, a matrix that is none, a count below 1, or outputs that differ in number.
        """
        try:
            groups = [(matrix(table), check.count(n=count)) for table, count in population]
        except (TypeError, ValueError) as error:
            if isinstance(error, InvalidValue):
                raise
            raise InvalidValue("population", type(population).__name__, "a list of (matrix, count) pairs") from None
        if not groups:
            raise InvalidValue("population", [], "at least one (matrix, count) pair")
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
        """Number of users."""
        return int(self.count.sum())

    @property
    def epsilon(self) -> float:
        """The largest local eps."""
        return max(map(_local_epsilon, self.tables))

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
        return np.minimum(np.array(found) * (1 - 64 * _UNIT), 1.0)

    def pairs(self) -> list[tuple[int, int, int]]:
        """(group, x0, x1): every victim with every change of its record."""
        return [(g, *pair) for g, table in enumerate(self.tables) for pair in permutations(range(len(table)), 2)]


class _Upper:
    """The upper end at one law B: what does not depend on eps is kept."""

    def __init__(self, crowd: _Crowd, base: Array, delta: float) -> None:
        self.crowd, self.base = crowd, base
        self._cover, self._depth = crowd.coverage(base), _DEPTH - math.log(delta)
        self._atoms: dict[tuple[int, bytes], tuple[_Atoms, int]] = {}
        for group, x0, x1 in crowd.pairs():
            atoms = _Atoms.of(base, crowd.tables[group][x0], crowd.tables[group][x1])
            laws = np.array([base, crowd.tables[group][x0], crowd.tables[group][x1]])
            key = laws[:, np.lexsort(laws)].tobytes()  # what differs by the names of the outputs alone is one victim
            self._atoms.setdefault((group, key), (atoms, group))
        self.victims = list(self._atoms.values())

    @cache  # noqa: B019 - one object a question
    def law(self, group: int) -> CloneLaw:
        """Of the number of others who are draws from B, seen by a victim of that group."""
        count = self.crowd.count.astype(np.float64)
        count[group] -= 1
        return clone_law(self._cover, 1 - self._cover, count, depth=self._depth, above=self._depth)

    def delta(self, eps: float, victim: tuple[_Atoms, int]) -> float:
        """Not below delta(eps) of that victim."""
        atoms, group = victim
        bare = atoms.outside(eps, up=True)
        if not atoms.base.size:
            return min(1.0, bare)
        law = self.law(group)
        # A mass that is off by 3 units puts up to (1 + 3 u)^m on m draws.
        grown = math.exp(8 * _UNIT * (float(law.edges[-1]) + 1))
        masses = atoms.base / atoms.base.sum()
        inside = expectation_above((atoms.values(eps, up=True), masses), law)
        return min(1.0, grown * inside + bare)

    def guess(self, delta: float) -> float:
        """The Gaussian limit's eps of the worst victim."""
        squares = [atoms.square / (self.law(group).mean + 1) for atoms, group in self.victims]
        mu = math.sqrt(max(squares))
        return gdp_epsilon(delta=delta, mu=min(mu, 30.0)) if mu > 0 else 0.0

    def worst(self, eps: float) -> float:
        """Not below delta(eps) of anybody."""
        return max(self.delta(eps, victim) for victim in self.victims)


def _upper_epsilon(one: _Upper, delta: float, top: float) -> float:
    """An eps at which no victim's delta is above the one asked: the worst victim's, then any other's that is worse.

    The local eps, which may be infinite, if there is none below 200.
    """
    limit = min(top, _TOP)
    if top > _TOP and one.worst(limit) > delta:
        return top
    start, found = min(one.guess(delta), 0.95 * limit), 0.0
    waiting = sorted(one.victims, key=lambda victim: one.delta(start, victim))
    while waiting:
        victim = waiting.pop()
        found = max(found, least_epsilon(lambda eps, v=victim: one.delta(eps, v), delta, start, limit, _BAND))  # type: ignore[misc]
        waiting = [other for other in waiting if one.delta(found, other) > delta]
    return found


class _Lower:
    """The lower end: attacks on the reports where the others' inputs are fixed."""

    def __init__(self, crowd: _Crowd) -> None:
        self.crowd = crowd
        self._equal = len(crowd.tables) == 1
        tables = crowd.tables
        worlds: dict[tuple[int, bytes], tuple[int, int, int, int | None]] = {}
        for group, x0, x1 in crowd.pairs():
            for x in range(len(tables[group])) if self._equal else (None,):
                laws = np.array([*self._held(group, x0, x1, x), tables[group][x0], tables[group][x1]])
                worlds.setdefault((group, laws[:, np.lexsort(laws)].tobytes()), (group, x0, x1, x))
        self._worlds = sorted(worlds.values(), key=self._strength, reverse=True)[:_TRIED]

    def _held(self, group: int, x0: int, x1: int, x: int | None) -> list[Array]:
        """The law of each group's others: of the given input, or of the one that hides least."""
        if x is not None:
            return [self.crowd.tables[group][x]]
        first, second = self.crowd.tables[group][x0], self.crowd.tables[group][x1]
        gap = (first - second) ** 2

        def shown(row: Array) -> float:
            return float((gap / np.maximum(row, 1e-300)).clip(max=1e300).sum())

        return [max(table, key=shown) for table in self.crowd.tables]

    def _strength(self, world: tuple[int, int, int, int | None]) -> float:
        """About mu^2: how far apart the two worlds are, in units of what the reports vary."""
        group, x0, x1, _ = world
        first, second = self.crowd.tables[group][x0], self.crowd.tables[group][x1]
        count = self.crowd.count.astype(np.float64)
        count[group] -= 1
        mixed = sum(c * row for c, row in zip(count, self._held(*world), strict=True)) + 0.5 * (first + second)
        used = (first + second) > 0
        return float(((first - second)[used] ** 2 / mixed[used]).sum())

    def delta(self, eps: float) -> float:
        """Not above delta(eps) of somebody."""
        return max((self._of(eps, *world) for world in self._worlds), default=0.0)

    def _of(self, eps: float, group: int, x0: int, x1: int, x: int | None) -> float:
        first, second = self.crowd.tables[group][x0], self.crowd.tables[group][x1]
        if self._equal:
            assert x is not None
            atoms = _Atoms.of(self.crowd.tables[group][x], first, second)
            if not atoms.base.size:
                return atoms.outside(eps, up=False)
            values, masses, n = atoms.values(eps, up=False), atoms.base / atoms.base.sum(), self.crowd.n
            inside = positive_part(values, masses, n, np.array([1 / n])).lower
            return max(0.0, inside * math.exp(-8 * _UNIT * n) + atoms.outside(eps, up=False))
        count = self.crowd.count.astype(np.float64)
        count[group] -= 1
        laws, victim = np.array(self._held(group, x0, x1, x)), np.array([first, second])
        sent = count @ laws + victim.mean(axis=0)
        ratio = np.divide(first - second, sent, out=np.zeros(sent.size), where=sent > 0)
        typical = math.sqrt(float(sent @ ratio**2) / self.crowd.n)
        found = [0.0]
        for unit in {float(np.abs(ratio).max()) / _LEVELS, 4 * typical / _LEVELS}:
            if unit > 0:  # what few send may count for far more than the rest
                score = np.rint(np.clip(ratio / unit, -_LEVELS, _LEVELS)).astype(np.int64)
                found.append(sum_laws(score, laws[count > 0], count[count > 0], victim).delta(eps))
        return max(found)

    def epsilon(self, delta: float, high: float) -> float:
        """An eps below which the reports are certainly not (eps, delta)-DP."""
        return greatest_epsilon(self.delta, delta, high, _BAND)


def _valid_for(crowd: _Crowd) -> str:
    shapes = ", ".join(
        f"{count:,} users of {table.shape[0]} inputs and {table.shape[1]} outputs"
        for table, count in zip(crowd.tables[:3], crowd.count, strict=False)
    )
    more = f" and {len(crowd.tables) - 3} more groups" if len(crowd.tables) > 3 else ""
    return f"the randomizers given: {shapes}{more}"


def discrete_epsilon(population: Sequence[tuple[ArrayLike, int]], *, delta: float) -> Bound:
    """Central eps of shuffled reports of any finite randomizers at delta, from both sides.

    Args:
        population: (matrix, count) for each group; matrix of shape (inputs, outputs), its rows the laws of a report;
            outputs are the same for all groups.
        delta: central delta in (0, 1).

    Returns:
        `upper` holds for every data set of these users; an attack on some data set reaches `lower`.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: reports that show an input with probability above delta.
    """
    crowd, delta = _Crowd.of(population), check.probability(allow_zero=False, delta=delta)
    top = crowd.epsilon
    if top == 0:
        return _bound(crowd, 0.0, 0.0, delta=delta)
    high = min(_upper_epsilon(_Upper(crowd, base, delta), delta, top) for base in crowd.bases())
    if high == math.inf:
        least = min(_Upper(crowd, base, delta).worst(_TOP) for base in crowd.bases())
        hint = "with that probability a report shows what some input never sends, and nobody hides it"
        raise OutsideValidity("central epsilon", f"delta > {least:.3g}", hint)
    return _bound(crowd, min(_Lower(crowd).epsilon(delta, high), high), high, delta=delta)


def discrete_delta(population: Sequence[tuple[ArrayLike, int]], *, eps: float) -> Bound:
    """Central delta of shuffled reports of any finite randomizers at eps >= 0; otherwise as `discrete_epsilon`."""
    crowd, eps = _Crowd.of(population), check.nonnegative(eps=eps)
    if eps >= crowd.epsilon:
        return _bound(crowd, 0.0, 0.0, eps=eps)
    at, high = min(eps, _TOP), 1.0  # delta falls with eps
    for base in crowd.bases():
        found = _Upper(crowd, base, _GUESS).worst(at)
        if found < _GUESS:  # the law of C leaves out e^-40 of what is asked
            found = _Upper(crowd, base, max(found, 1e-300)).worst(at)
        high = min(high, found)
    low = _Lower(crowd).delta(eps) if eps <= _TOP else 0.0
    return _bound(crowd, min(low, high), high, eps=eps)


def _bound(crowd: _Crowd, low: float, high: float, **asked: float) -> Bound:
    alone = crowd.n > 1 and not crowd.bases()[0].any()
    return Bound(
        *(low, 0.5 * (low + high), high, METHOD, _valid_for(crowd)),
        eps=asked.get("eps"),
        delta=asked.get("delta"),
        n=crowd.n,
        note="no output is sent whatever the input: the local eps is all there is" if alone else "",
        reached=True,
    )

"""What shuffled reports reveal is their histogram: two worlds that differ in one user's input, to attack.

Shuffling forgets the order, so the server sees how many reports fell on each answer. The others' inputs are fixed
and known, their reports independent: the histogram is a sum of multinomials plus the victim's one report.
Reports on a line are first cut into cells, which is post-processing. Whatever tells the two worlds apart
bounds delta(eps) from below, and for the histogram's whole law the likelihood ratio test is the best attack:

    delta(eps) >= sum_h (P0(h) - e^eps P1(h))_+ .

>>> from gspa import budgets
>>> crowd = randomized_response(budgets.constant(1.0, n=10), k=3)
>>> bound = likelihood_ratio_epsilon(crowd, delta=1e-3)
>>> 0.8 < bound.lower < bound.upper < 1.0, bound.upper - bound.lower < 1e-8
(True, True)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa import _validate as check
from gspa.asymptotic import asymptotic_mu, cell_masses, setting, solve
from gspa.audit import Laws, linear_score, sum_laws
from gspa.bound import Bound
from gspa.budgets import Budgets
from gspa.errors import InvalidValue, OutsideValidity
from gspa.tradeoff import gdp_epsilon

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

MOST_WORK = 10**8  # multiplications up to which a histogram's law is enumerated
_UNIT = 2.0**-52


@dataclass(frozen=True, eq=False)
class Worlds:
    """The victim with either of two inputs among others whose inputs are fixed.

    Attributes:
        victim: shape (2, k), law of the victim's report at either input.
        laws: shape (g, k), law of the report of each group of the others.
        count: shape (g,), how many others each group has.
        what: the mechanism and the inputs, in words.
    """

    victim: Array
    laws: Array
    count: Whole
    what: str

    @property
    def n(self) -> int:
        """Number of users, the victim included."""
        return int(self.count.sum()) + 1

    @property
    def k(self) -> int:
        """Number of answers."""
        return int(self.victim.shape[1])

    @property
    def work(self) -> float:
        """Multiplications that enumerating the histogram takes."""
        return float(self.n) * self.k * float(self.n + 1) ** min(self.k - 1, 30)

    def scores(self) -> list[tuple[str, Whole]]:
        """Integer statistics to try, by name: what a report in each cell adds to the sum."""
        found = [("linear", linear_score(self.victim[0] - self.victim[1], self.laws, self.count.astype(np.float64)))]
        if self.k == 2:  # the number of ones is all there is
            return found
        own = np.eye(self.k, dtype=np.int64)
        found += [(f"count of answer {i}", own[i]) for i in range(self.k)]
        found += [(f"count of answers up to {i}", own[: i + 1].sum(axis=0)) for i in range(1, self.k - 2)]
        return [(name, score) for name, score in found if np.ptp(score)]

    def sample(self, world: int, size: int, rng: np.random.Generator) -> Whole:
        """`size` histograms of world 0 or 1, shape (size, k)."""
        drawn = rng.multinomial(1, _normal(self.victim[world]), size=size)
        for law, number in zip(self.laws, self.count, strict=True):
            drawn += rng.multinomial(int(number), _normal(law), size=size)
        return np.asarray(drawn, dtype=np.int64)


def _normal(law: Array) -> Array:
    """Rounding may leave a sum above 1, which numpy refuses."""
    return np.asarray(law / law.sum())


def randomized_response(budgets: Budgets, *, k: int = 2, inputs: ArrayLike | None = None) -> Worlds:
    """k-ary randomized response; the victim, of the largest eps, holds item 0 or item 1.

    Args:
        budgets: local budgets, every delta_i = 0.
        k: number of items, >= 2.
        inputs: shape (g, k), how many of the others of each group hold each item (without the victim, the
            first user of the largest eps); None for all of them at item 0.

    Raises:
        InvalidValue: an argument out of range; nobody else.
        OutsideValidity: a local delta_i > 0.
    """
    k = check.count(2, k=k)
    if budgets.delta_max > 0:
        raise OutsideValidity("randomized response", f"local delta_i = 0, got {budgets.delta_max:g}")
    number = budgets.count.copy()
    number[int(np.argmax(budgets.eps))] -= 1
    if number.sum() == 0:
        raise InvalidValue("n", budgets.n, "at least 2", "an attack needs somebody else")
    if inputs is None:
        hold = np.zeros((number.size, k))
        hold[:, 0] = number
    else:
        hold = check.array_in(0, float(budgets.n), inputs=inputs)
        if hold.shape != (number.size, k) or (hold != np.floor(hold)).any() or (hold.sum(axis=1) != number).any():
            hint = "give how many others of each group hold each item"
            raise InvalidValue("inputs", hold.tolist(), f"whole numbers of row sums {number.tolist()}", hint)
    rows = {}
    for eps, held in zip(budgets.eps, hold, strict=True):
        for item in np.flatnonzero(held):
            rows[(float(eps), int(item))] = int(held[item])
    name = "binary randomized response" if k == 2 else f"{k}-ary randomized response"
    shown = ", ".join(f"{m:,} at eps {eps:g} hold {item}" for (eps, item), m in list(rows.items())[:4])
    return Worlds(
        victim=np.array([_row(k, budgets.eps_max, item) for item in (0, 1)]),
        laws=np.array([_row(k, eps, item) for eps, item in rows]),
        count=np.array(list(rows.values()), dtype=np.int64),
        what=f"{name}; others: {shown}" + (", ..." if len(rows) > 4 else ""),
    )


def _row(k: int, eps: float, item: int) -> Array:
    """Law of the answer of k-ary randomized response to an item: Definition 4's, and its k-ary form."""
    shrunk = math.exp(-eps)
    row = np.full(k, shrunk / (1 + (k - 1) * shrunk))
    row[item] = 1 / (1 + (k - 1) * shrunk)
    return row


def reports(
    scales: Budgets | ArrayLike,
    *,
    count: ArrayLike = 1,
    mechanism: str = "laplace",
    victim: int | None = None,
    cells: int = 48,
) -> Worlds:
    """Laplace or Gaussian reports on a line cut into cells; the victim at 0 or 1, the others where it hurts most.

    Args:
        scales: as `gspa.blanket.blanket_epsilon`, like count, mechanism and victim (None: least noise).
        cells: about how many cells; fewer lose power, never validity.

    Raises:
        InvalidValue: an argument outside its range, or nobody else.
    """
    where = setting(scales, count, mechanism, victim, cells)
    places = asymptotic_mu(scales, count=count, mechanism=mechanism, victim=victim, cells=cells).others[where.place]
    shown = ", ".join(f"{x:g}" for x in np.unique(places))
    return Worlds(
        victim=np.array([cell_masses(where.victim, x, where.edges) for x in (0.0, 1.0)]),
        laws=where.laws(places),
        count=where.count.astype(np.int64),
        what=f"{mechanism} reports on [0, 1] in {where.edges.size - 1} cells; others at {shown}",
    )


def merged(worlds: Worlds, *, cells: int) -> Worlds:
    """The same with neighbouring answers merged, about equally likely for the victim: post-processing.

    >>> from gspa import budgets
    >>> merged(randomized_response(budgets.constant(1.0, n=10), k=6), cells=3).k
    3
    """
    cells = check.count(2, cells=cells)
    if cells >= worlds.k:
        return worlds
    mass = worlds.victim.mean(axis=0)
    middle = np.cumsum(mass) - 0.5 * mass  # so that a heavy answer stays alone
    group = np.minimum((middle * cells).astype(np.int64), cells - 1)
    starts = np.flatnonzero(np.r_[True, np.diff(group) > 0])

    def cut(laws: Array) -> Array:
        return np.asarray(np.add.reduceat(laws, starts, axis=1))

    return replace(
        worlds, victim=cut(worlds.victim), laws=cut(worlds.laws), what=f"{worlds.what}, merged into {starts.size}"
    )


def limit_epsilon(worlds: Worlds, *, delta: float) -> float:
    """eps of the Gaussian limit v' A^+ v of these worlds: an estimate, see `gspa.asymptotic`."""
    delta = check.probability(allow_zero=False, delta=delta)
    square, _ = solve(worlds.victim[0] - worlds.victim[1], worlds.laws, worlds.count.astype(np.float64))
    return gdp_epsilon(delta=delta, mu=math.sqrt(square))


def statistic_epsilon(worlds: Worlds, *, delta: float) -> Bound:
    """The eps that the best of the statistics of `Worlds.scores` certainly refutes; their laws are exact.

    Errs downward: roundings are subtracted.

    Raises:
        InvalidValue: delta outside (0, 1).
    """
    delta = check.probability(allow_zero=False, delta=delta)
    number = worlds.count.astype(np.float64)
    found = {
        name: sum_laws(score, worlds.laws, number, worlds.victim).epsilon(delta) for name, score in worlds.scores()
    }
    best = max(found, key=lambda name: found[name])
    method = f"attack, exact law of a statistic ({best})"
    return Bound(found[best], found[best], math.inf, method, worlds.what, delta=delta, n=worlds.n)


def enumerate_laws(worlds: Worlds) -> Laws:
    """The histogram's two laws, every histogram an entry; sums of positive terms only.

    Raises:
        OutsideValidity: more work than `MOST_WORK`.
    """
    if worlds.work > MOST_WORK:
        hint = "fewer users, or fewer answers by `merged`"
        raise OutsideValidity("enumeration", f"n k (n+1)^(k-1) <= {MOST_WORK:g}, got {worlds.work:.2g}", hint)
    crowd = np.zeros((worlds.n + 1,) * (worlds.k - 1))
    crowd.flat[0] = 1.0
    for law, number in zip(worlds.laws, worlds.count, strict=True):
        for _ in range(int(number)):
            crowd = _add(crowd, law)
    both = [_add(crowd, law).ravel() for law in worlds.victim]
    # A mass is a sum of products of n factors: each factor and each of k additions a step rounds once.
    return Laws(both[0], both[1], worlds.n * (worlds.k + 4) * _UNIT)


def _add(crowd: Array, law: Array) -> Array:
    """One more report; the last answer is what the others leave."""
    out = np.asarray(law[-1] * crowd)
    for axis, mass in enumerate(law[:-1]):
        np.moveaxis(out, axis, 0)[1:] += mass * np.moveaxis(crowd, axis, 0)[:-1]
    return out


def likelihood_ratio_epsilon(worlds: Worlds, *, delta: float) -> Bound:
    """eps of the best attack on these worlds, all histograms enumerated: both ends, at the given inputs.

    `lower` is a lower bound for the mechanism, `upper` one for these inputs (and cells) alone.

    Raises:
        InvalidValue: delta outside (0, 1).
        OutsideValidity: too many histograms.
    """
    delta = check.probability(allow_zero=False, delta=delta)
    laws = enumerate_laws(worlds)
    low, high = laws.epsilon(delta), laws.epsilon(delta, side=1)
    return Bound(low, low, high, "attack, likelihood ratio of the histogram", worlds.what, delta=delta, n=worlds.n)


def worst_epsilon(budgets: Budgets, *, delta: float, k: int) -> Bound:
    """The truth for few users of k-ary randomized response: every input of the others tried.

    The victim holds item 0 or 1, which is all there is by symmetry; equal budgets only.

    Returns:
        Bound: the eps of the shuffled reports, roundings on both sides.

    Raises:
        InvalidValue: an argument out of range; budgets that differ.
        OutsideValidity: too many histograms or inputs.

    >>> from gspa import budgets
    >>> worst_epsilon(budgets.constant(1.0, n=4), delta=1e-3, k=3).valid_for
    '3-ary randomized response, any inputs'
    """
    delta, k = check.probability(allow_zero=False, delta=delta), check.count(2, k=k)
    people = budgets.grouped()
    if people.eps.size > 1:
        raise InvalidValue("eps", people.eps.tolist(), "one common budget")
    first = randomized_response(people, k=k)
    number = math.comb(people.n + k - 2, k - 1)
    if number * first.work > MOST_WORK:
        hint = f"{number:,} inputs of {first.work:.2g} steps"
        raise OutsideValidity("trying every input", f"at most {MOST_WORK:g} steps", hint)
    laws = [enumerate_laws(randomized_response(people, k=k, inputs=[held])) for held in _held(people.n - 1, k)]
    low = max(law.epsilon(delta) for law in laws)
    high = min(max(law.epsilon(delta, side=1) for law in laws), people.eps_max)
    method = "law of the histogram, worst of all inputs"
    return Bound(min(low, high), min(low, high), high, method, f"{k}-ary randomized response, any inputs", delta=delta)


def _held(n: int, k: int) -> Iterator[tuple[int, ...]]:
    """All ways in which n users can hold k items."""
    for bars in combinations(range(n + k - 1), k - 1):
        ends = (-1, *bars, n + k - 1)
        yield tuple(b - a - 1 for a, b in pairwise(ends))

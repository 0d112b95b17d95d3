"""Finite laws, and local randomizers as matrices, a row an input, a column an output: what several pages try.

Where the likelihood ratio e^eps is a fraction (or a whole number), so is every entry: a statement about such a
mechanism is settled without rounding. With a float as ratio, entries are floats.

>>> mechanism = subset_selection(3, k=3, size=2)
>>> [str(mass) for mass in mechanism.rows[0]], mechanism.outputs
(['3/7', '3/7', '1/7'], ('{0,1}', '{0,2}', '{1,2}'))
>>> str(local_delta(mechanism.rows, ratio=2))
'1/7'
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Number = Fraction | float
Matrix = NDArray[Any]  # of Fractions (dtype object) or of floats

LETTERS = ("A", "0", "1", "B")  # outputs of Lemma 4's pair, in the paper's order
_REACH = 3  # beyond which the staircase's reports are put together


def events(size: int) -> NDArray[np.float64]:
    """Every event of `size` outcomes, as rows of zeros and ones; shape (2^size, size)."""
    return ((np.arange(2**size)[:, None] >> np.arange(size)) & 1).astype(np.float64)


def random_pairs(*, pairs: int, rng: np.random.Generator | int) -> list[NDArray[np.float64]]:
    """Pairs of laws on 2 to 6 common outcomes, some of probability 0 under one or both."""
    source = np.random.default_rng(rng)
    found = []
    for _ in range(pairs):
        size = int(source.integers(2, 7))
        weights = source.uniform(0.01, 1, (2, size)) * (source.random((2, size)) < 0.85)
        weights[:, 0] += 0.05  # never an empty law
        found.append(weights / weights.sum(axis=1, keepdims=True))
    return found


@dataclass(frozen=True, eq=False)
class Mechanism:
    """One local randomizer: `rows` are its laws; `ratio` is e^eps, `delta` its local delta there."""

    name: str
    rows: Matrix
    ratio: Number
    delta: Number
    outputs: tuple[str, ...]

    @property
    def eps(self) -> float:
        return math.log(self.ratio)

    @property
    def exact(self) -> bool:
        """Whether every number of it is a fraction."""
        return bool(self.rows.dtype == object)


def _fraction(number: Number) -> Number:
    return number if isinstance(number, float) else Fraction(number)


def _matrix(rows: Iterable[Iterable[Number]]) -> Matrix:
    """Floats if one of the numbers is one, else Fractions."""
    masses = [list(row) for row in rows]
    kind = float if any(isinstance(mass, float) for row in masses for mass in row) else Fraction
    return np.array([[kind(mass) for mass in row] for row in masses])


def _pure(name: str, rows: Iterable[Iterable[Number]], ratio: Number, outputs: Iterable[object]) -> Mechanism:
    return Mechanism(name, _matrix(rows), ratio, 0 * ratio, tuple(map(str, outputs)))


def rounding(rows: Matrix, ratio: Number) -> float:
    """How much of a delta may be rounding: 0 for fractions; e^eps magnifies that of the masses."""
    return 0 if rows.dtype == object else max(1e-12, 1e-15 * float(ratio))


def local_delta(rows: Matrix, *, ratio: Number) -> Number:
    """The least delta with which every pair of inputs is (log ratio, delta)-close: Definition 2."""
    return max(np.maximum(p - ratio * q, 0).sum() for p, q in permutations(rows, 2))  # type: ignore[no-any-return]


def subset_selection(ratio: Number, *, k: int, size: int) -> Mechanism:
    """Report a set of `size` of k items, sets with one's own `ratio` times as likely (Ye and Barg 2018)."""
    ratio, sets = _fraction(ratio), list(combinations(range(k), size))
    total = ratio * math.comb(k - 1, size - 1) + math.comb(k - 1, size)
    rows = [[(ratio if x in chosen else 1) / total for chosen in sets] for x in range(k)]
    if size == 1:
        return _pure("binary RR" if k == 2 else f"{k}-ary RR", rows, ratio, range(k))
    names = ["{" + ",".join(map(str, chosen)) + "}" for chosen in sets]
    return _pure(f"subset selection, {size} of {k}", rows, ratio, names)


def randomized_response(ratio: Number, *, k: int = 2) -> Mechanism:
    """k-ary randomized response: the truth `ratio` times as likely as each other value."""
    return subset_selection(ratio, k=k, size=1)


def one_bit(ratio: Number) -> Mechanism:
    """Round 0, 1/2 or 1 to a bit at random, then binary randomized response (Duchi et al. 2013)."""
    ratio = _fraction(ratio)
    ones = [(1 + value * (ratio - 1)) / (ratio + 1) for value in (0, Fraction(1, 2), 1)]
    return _pure("one-bit rounding of 0, 1/2, 1", [[1 - one, one] for one in ones], ratio, "01")


def staircase(ratio: Number) -> Mechanism:
    """Whole-number noise j of probability proportional to ratio^-floor((abs(j) + 1)/2), on the inputs 0, 1, 2.

    A staircase of sensitivity 2 (Geng and Viswanath 2016); reports beyond 3 of the inputs are put together.
    """
    ratio = _fraction(ratio)
    fall, total = 1 / ratio, 1 + 4 / (ratio - 1)

    def mass(j: int) -> Number:
        return fall ** ((abs(j) + 1) // 2) / total

    def tail(j: int) -> Number:
        """Noise of at least j > 0; from an odd j on, every step has two values."""
        return 2 * fall ** ((j + 1) // 2) / (1 - fall) / total if j % 2 else tail(j + 1) + mass(j)

    inner = range(1 - _REACH, 2 + _REACH)
    rows = [[tail(x + _REACH), *(mass(y - x) for y in inner), tail(2 + _REACH - x)] for x in range(3)]
    return _pure("staircase noise", rows, ratio, range(-_REACH, 3 + _REACH))


def extremal(ratio: Number, *, inputs: int, patterns: int, rng: int | Sequence[int]) -> Mechanism:
    """A random mechanism in whose columns every entry is the column's least or `ratio` times it.

    These are the extreme points of all pure mechanisms (Kairouz, Oh and Viswanath 2016). Each pattern comes with its
    cyclic shifts at one weight, so that all rows have the same sum.
    """
    ratio, generator = _fraction(ratio), np.random.default_rng(rng)
    columns = []
    for _ in range(patterns):
        high = generator.permutation(inputs) < generator.integers(1, inputs)  # neither none nor all
        weight = int(generator.integers(1, 10))
        columns += [[weight * (ratio if on else 1) for on in np.roll(high, -shift)] for shift in range(inputs)]
    total = sum(column[0] for column in columns)
    rows = [[column[x] / total for column in columns] for x in range(inputs)]
    return _pure(f"random extremal, {inputs} inputs", rows, ratio, (f"y{j}" for j in range(len(columns))))


def quaternary_pair(ratio: Number, delta: Number) -> Matrix:
    """The pair of Lemma 4 as two rows over the outcomes A, 0, 1, B (Kairouz, Oh and Viswanath 2015).

    >>> [[str(mass) for mass in row] for row in quaternary_pair(3, Fraction(1, 5))]
    [['1/5', '3/5', '1/5', '0'], ['0', '1/5', '3/5', '1/5']]
    """
    low = (1 - delta) / (1 + _fraction(ratio))
    return _matrix([[delta, ratio * low, low, 0], [0, low, ratio * low, delta]])


def quaternary(ratio: Number, delta: Number) -> Mechanism:
    """Lemma 4's pair as a mechanism on two inputs."""
    return Mechanism("Lemma 4's own pair", quaternary_pair(ratio, delta), _fraction(ratio), delta, LETTERS)


def leaky(mechanism: Mechanism, delta: Number) -> Mechanism:
    """With probability `delta` the input itself, marked as the truth; otherwise the pure mechanism's report."""
    inputs = range(len(mechanism.rows))
    truth = [[delta if x == y else 0 for y in inputs] for x in inputs]
    rows = _matrix([*((1 - delta) * row), *marked] for row, marked in zip(mechanism.rows, truth, strict=True))
    outputs = (*mechanism.outputs, *(f"truth {x}" for x in inputs))
    return replace(mechanism, name=f"{mechanism.name}, or the truth", rows=rows, delta=delta, outputs=outputs)


def anything_but(ratio: Number, *, inputs: int) -> Mechanism:
    """Any value but one's own, uniformly: delta = 1/(inputs - 1) at every eps; `ratio` is where it is looked at."""
    other = Fraction(1, inputs - 1)
    rows = [[0 if x == y else other for y in range(inputs)] for x in range(inputs)]
    built = _pure(f"anything but one's own, {inputs} inputs", rows, _fraction(ratio), range(inputs))
    return replace(built, delta=other)

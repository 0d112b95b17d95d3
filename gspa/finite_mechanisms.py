"""Finite local randomizers as matrices: a row an input, a column an output.

Where the likelihood ratio e^eps is a fraction, so is every entry: a statement about such a mechanism is settled
without rounding. With a float as ratio, entries are floats.

>>> mechanism = subset_selection(3, k=3, size=2)
>>> [str(mass) for mass in mechanism.rows[0]], mechanism.outputs
(['3/7', '3/7', '1/7'], ('{0,1}', '{0,2}', '{1,2}'))
>>> local_delta(mechanism.rows, ratio=mechanism.ratio), local_delta(mechanism.rows, ratio=Fraction(2))
(Fraction(0, 1), Fraction(1, 7))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gspa import _validate as check
from gspa.errors import InvalidValue

Number = Fraction | float
Matrix = NDArray[Any]  # of Fractions (dtype object) or of floats

LETTERS = ("A", "0", "1", "B")  # outputs of the quaternary pair, in the paper's order
_HALF = Fraction(1, 2)
_UNIT = (Fraction(0), _HALF, Fraction(1))


_MOST_RATIO = 1e300


@dataclass(frozen=True, eq=False)
class Mechanism:
    """One local randomizer on finitely many inputs.

    Attributes:
        name: for tables and legends.
        rows: shape (inputs, outputs), each row a law; of Fractions where exact.
        ratio: e^eps.
        delta: local delta at that eps; 0 for a pure one.
        outputs: names of the columns.
    """

    name: str
    rows: Matrix
    ratio: Number
    delta: Number
    outputs: tuple[str, ...]

    @property
    def eps(self) -> float:
        """log of the ratio."""
        return math.log(self.ratio)

    @property
    def exact(self) -> bool:
        """Whether every number of it is a fraction."""
        return bool(self.rows.dtype == object)


def exact_or_float(low: float, high: float, /, **argument: object) -> Number:
    """A number in (low, high), or in [0, high) if low = 0: whole numbers and Fractions stay exact."""
    ((name, value),) = argument.items()
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        number: Number = Fraction(value)
    else:
        number = check.real(**argument)
    if not (low < number < high or number == low == 0):
        bracket = "[" if low == 0 else "("
        raise InvalidValue(name, value, f"in {bracket}{low:g}, {high:g})")
    return number


def likelihood_ratio(value: object) -> Number:
    """An e^eps > 1 that a double can hold, exact if it is a whole number or a Fraction."""
    return exact_or_float(1, _MOST_RATIO, ratio=value)


def zero(like: Number) -> Number:
    """0 of the same kind."""
    return like * 0


def positive_part(values: Matrix) -> Matrix:
    """max(values, 0), of the same kind."""
    positive: Matrix = np.maximum(values, values * 0)
    return positive


def _mechanism(name: str, rows: Sequence[Sequence[Number]], ratio: Number, outputs: Sequence[str]) -> Mechanism:
    array = np.array([list(row) for row in rows])
    return Mechanism(name, array, ratio, zero(ratio), tuple(outputs))


def rounding(rows: Matrix, ratio: Number) -> float:
    """How much of a delta may be rounding: the whole number 0 for fractions; e^eps magnifies that of the masses."""
    return 0 if rows.dtype == object else max(1e-12, 1e-15 * float(ratio))


def local_delta(rows: Matrix, *, ratio: Number) -> Number:
    """The least delta with which every pair of inputs is (log ratio, delta)-close: Definition 2.

    Args:
        rows: shape (inputs, outputs).
        ratio: e^eps.
    """
    if not isinstance(ratio, int | float | Fraction) or ratio != 1:  # at eps = 0 it is the total variation
        ratio = likelihood_ratio(ratio)
    pairs = permutations(rows, 2)
    return max((positive_part(p - ratio * q).sum() for p, q in pairs), default=zero(ratio))


def subset_selection(ratio: Number, *, k: int, size: int) -> Mechanism:
    """Report a set of `size` of k items, sets with one's own item `ratio` times as likely (Ye and Barg 2018).

    Args:
        ratio: e^eps > 1.
        k: number of items, >= 2.
        size: 1 <= size < k; 1 is k-ary randomized response.
    """
    ratio, k, size = likelihood_ratio(ratio), check.count(2, k=k), check.count(1, size=size)
    if size >= k:
        raise InvalidValue("size", size, f"in [1, k - 1] = [1, {k - 1}]")
    sets = list(combinations(range(k), size))
    total = ratio * math.comb(k - 1, size - 1) + math.comb(k - 1, size)
    one = ratio / ratio
    rows = [[(ratio if x in chosen else one) / total for chosen in sets] for x in range(k)]
    if size == 1:
        name = "binary RR" if k == 2 else f"{k}-ary RR"
        return _mechanism(name, rows, ratio, [str(x) for x in range(k)])
    names = ["{" + ",".join(map(str, chosen)) + "}" for chosen in sets]
    return _mechanism(f"subset selection, {size} of {k}", rows, ratio, names)


def randomized_response(ratio: Number, *, k: int = 2) -> Mechanism:
    """k-ary randomized response: the truth `ratio` times as likely as each other value."""
    return subset_selection(ratio, k=k, size=1)


def one_bit(ratio: Number, *, values: Sequence[Number] = _UNIT) -> Mechanism:
    """Round a value in [0, 1] to a bit at random, then binary randomized response (Duchi et al. 2013).

    Args:
        ratio: e^eps > 1.
        values: the inputs.
    """
    ratio = likelihood_ratio(ratio)
    ones = [(1 + value * (ratio - 1)) / (ratio + 1) for value in values]
    name = "one-bit rounding of " + ", ".join(str(value) for value in values)
    return _mechanism(name, [[1 - one, one] for one in ones], ratio, "01")


def staircase(ratio: Number, *, reach: int = 3) -> Mechanism:
    """Whole-number noise j of probability proportional to `ratio^-floor((abs(j) + 1)/2)`, on the inputs 0, 1, 2.

    A staircase of sensitivity 2 (Geng and Viswanath 2016); reports beyond `reach` of the inputs are put together.

    Args:
        ratio: e^eps > 1.
        reach: >= 0.
    """
    ratio, reach = likelihood_ratio(ratio), check.count(0, reach=reach)
    one = ratio / ratio
    fall = one / ratio
    total = 1 + 4 / (ratio - one)

    def mass(j: int) -> Number:
        return fall ** ((abs(j) + 1) // 2) / total

    def tail(j: int) -> Number:
        """Noise of at least j >= 0; every step but a cut first one has two values."""
        step = (j + 1) // 2
        whole = 2 * fall ** (step if j % 2 else step + 1) / (one - fall) / total
        return whole if j % 2 else whole + mass(j)

    def beyond(j: int) -> Number:
        return tail(j) if j >= 0 else 1 - tail(1 - j)

    ends = -reach, 2 + reach
    rows = [
        [beyond(x - ends[0]), *(mass(y - x) for y in range(ends[0] + 1, ends[1])), beyond(ends[1] - x)]
        for x in range(3)
    ]
    return _mechanism("staircase noise", rows, ratio, [str(y) for y in range(ends[0], ends[1] + 1)])


def extremal(ratio: Number, *, inputs: int, patterns: int, rng: np.random.Generator | int) -> Mechanism:
    """A random mechanism in whose columns every entry is the column's least or `ratio` times it.

    These are the extreme points of all pure mechanisms (Kairouz, Oh and Viswanath 2016). Each pattern comes with
    its cyclic shifts at one weight, so that all rows have the same sum.

    Args:
        ratio: e^eps > 1.
        inputs: >= 2.
        patterns: how many, >= 1.
        rng: generator or seed.
    """
    ratio, inputs, patterns = likelihood_ratio(ratio), check.count(2, inputs=inputs), check.count(patterns=patterns)
    generator = check.rng(rng)
    one = ratio / ratio
    columns = []
    for _ in range(patterns):
        high = generator.permutation(inputs) < generator.integers(1, inputs)  # neither none nor all
        weight = int(generator.integers(1, 10)) * one
        columns += [
            [weight * (ratio if high[(x + shift) % inputs] else one) for x in range(inputs)] for shift in range(inputs)
        ]
    total = sum((column[0] for column in columns), start=zero(ratio))
    rows = [[column[x] / total for column in columns] for x in range(inputs)]
    return _mechanism(f"random extremal, {inputs} inputs", rows, ratio, [f"y{j}" for j in range(len(columns))])


def quaternary_pair(ratio: Number, delta: Number) -> Matrix:
    """The pair of Lemma 4 as two rows over the outcomes A, 0, 1, B (Kairouz, Oh and Viswanath 2015).

    Args:
        ratio: e^eps > 1.
        delta: in [0, 1).

    >>> [[str(mass) for mass in row] for row in quaternary_pair(3, Fraction(1, 5))]
    [['1/5', '3/5', '1/5', '0'], ['0', '1/5', '3/5', '1/5']]
    """
    ratio, delta = likelihood_ratio(ratio), exact_or_float(0, 1, delta=delta)
    low = (1 - delta) / (1 + ratio)
    nothing = zero(low)
    return np.array([[delta + nothing, ratio * low, low, nothing], [nothing, low, ratio * low, delta + nothing]])


def quaternary(ratio: Number, delta: Number) -> Mechanism:
    """Lemma 4's pair as a mechanism on two inputs."""
    rows = quaternary_pair(ratio, delta)
    return Mechanism("Lemma 4's own pair", rows, likelihood_ratio(ratio), rows[0, 0], LETTERS)


def leaky(mechanism: Mechanism, delta: Number) -> Mechanism:
    """With probability `delta` the input itself, marked as the truth; otherwise the pure mechanism's report.

    Args:
        mechanism: pure.
        delta: in [0, 1).
    """
    delta = exact_or_float(0, 1, delta=delta)
    if mechanism.delta != 0:
        raise InvalidValue("mechanism.delta", mechanism.delta, "0")
    inputs = len(mechanism.rows)
    truth = np.array([[delta if x == y else zero(delta) for y in range(inputs)] for x in range(inputs)])
    rows = np.hstack([(1 - delta) * mechanism.rows, truth])
    outputs = (*mechanism.outputs, *(f"truth {x}" for x in range(inputs)))
    return replace(mechanism, name=f"{mechanism.name}, or the truth", rows=rows, delta=delta, outputs=outputs)


def anything_but(ratio: Number, *, inputs: int) -> Mechanism:
    """Any value but one's own, uniformly: delta = 1/(inputs - 1) at every eps.

    Args:
        ratio: e^eps > 1, at which it is looked at.
        inputs: >= 3.
    """
    ratio, inputs = likelihood_ratio(ratio), check.count(3, inputs=inputs)
    one = ratio / ratio
    rows = [[zero(one) if x == y else one / (inputs - 1) for y in range(inputs)] for x in range(inputs)]
    built = _mechanism(f"anything but one's own, {inputs} inputs", rows, ratio, [str(y) for y in range(inputs)])
    return replace(built, delta=one / (inputs - 1))

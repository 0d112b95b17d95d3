"""Local randomizers as matrices, a row an input, a column an output, for statements that are tried case by case.

Where the likelihood ratio e^eps is a fraction or a whole number, so is every entry, and a statement about such a
mechanism is settled without rounding. With a float as ratio, entries are floats.

>>> mechanism = subset_selection(3, k=3, size=2)
>>> [str(mass) for mass in mechanism.rows[0]], mechanism.outputs
(['3/7', '3/7', '1/7'], ('{0,1}', '{0,2}', '{1,2}'))
>>> str(local_delta(mechanism.rows, ratio=2))
'1/7'
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from gspa.accountant import arguments as check
from gspa.accountant.errors import InvalidValue

Number = Fraction | float
Matrix = NDArray[Any]  # of Fractions (dtype object) or of floats

LETTERS = ("A", "0", "1", "B")  # outputs of Lemma 4's pair, in the paper's order
LARGEST = 1e100  # likelihood ratio
_MOST = 10_000  # outputs of a mechanism
_REACH = 3  # beyond which the staircase's reports are put together
_SCALES = 6.0  # of noise beyond the interval [0, 1] at which tails are put together


def events(size: int) -> NDArray[np.float64]:
    """Every event of `size` outcomes, 1 to 20, as rows of zeros and ones; shape (2^size, size)."""
    if (size := check.count(size=size)) > 20:
        raise InvalidValue("size", size, "an integer from 1 to 20")
    return ((np.arange(2**size)[:, None] >> np.arange(size)) & 1).astype(np.float64)


def random_pairs(*, pairs: int, rng: np.random.Generator | int) -> list[NDArray[np.float64]]:
    """So many pairs of laws on 2 to 6 common outcomes, some of probability 0 under one or both; shapes (2, outcomes).

    Raises:
        InvalidValue: pairs outside 1 to 10^6, or no seed.
    """
    if (pairs := check.count(pairs=pairs)) > 10**6:
        raise InvalidValue("pairs", pairs, "an integer from 1 to 10^6")
    source = check.rng(rng)
    found = []
    for _ in range(pairs):
        size = int(source.integers(2, 7))
        weights = source.uniform(0.01, 1, (2, size)) * (source.random((2, size)) < 0.85)
        weights[:, 0] += 0.05  # never an empty law
        found.append(weights / weights.sum(axis=1, keepdims=True))
    return found


@dataclass(frozen=True, eq=False)
class Mechanism:
    """One local randomizer.

    Attributes:
        name: in words.
        rows: the law of the report, a row an input; shape (inputs, outputs), Fractions or floats.
        ratio: e^eps.
        delta: its local delta there, the least.
        outputs: what the columns are.
    """

    name: str
    rows: Matrix
    ratio: Number
    delta: Number
    outputs: tuple[str, ...]

    @property
    def eps(self) -> float:
        """Logarithm of the ratio."""
        return math.log(self.ratio)

    @property
    def exact(self) -> bool:
        """Whether every number of it is a fraction."""
        return bool(self.rows.dtype == object)


def _ratio(ratio: Number) -> Number:
    return check.rational(1, LARGEST, ratio=ratio)


def _sized(least: int, most: int, /, **argument: int) -> int:
    ((name, value),) = argument.items()
    if (number := check.count(least, **argument)) > most:
        raise InvalidValue(name, value, f"an integer from {least} to {most:,}")
    return number


def _matrix(rows: Iterable[Iterable[Number]]) -> Matrix:
    """Floats if one of the numbers is one, else Fractions."""
    masses = [list(row) for row in rows]
    kind = float if any(isinstance(mass, float) for row in masses for mass in row) else Fraction
    return np.array([[kind(mass) for mass in row] for row in masses])


def _pure(name: str, rows: Iterable[Iterable[Number]], ratio: Number, outputs: Iterable[object]) -> Mechanism:
    return Mechanism(name, _matrix(rows), ratio, 0 * ratio, tuple(map(str, outputs)))


def rounding(rows: Matrix, ratio: Number) -> float:
    """How much of a delta at e^eps = ratio may be rounding: 0 for Fractions; e^eps magnifies that of the masses."""
    ratio = _ratio(ratio)
    return 0 if rows.dtype == object else max(1e-12, 1e-15 * float(ratio))


def local_delta(rows: Matrix, *, ratio: Number) -> Number:
    """The least delta with which every pair of inputs is (log ratio, delta)-close: Definition 2, Chen et al. 2024.

    Args:
        rows: laws, a row an input, at least two; Fractions or floats.
        ratio: e^eps, in [1, 10^100].

    Returns:
        The largest sum of max(P - ratio Q, 0): exact for Fractions, up to rounding for floats.

    Raises:
        InvalidValue: another shape, or a ratio outside its range.
    """
    ratio = _ratio(ratio)
    if np.ndim(rows) != 2 or len(rows) < 2:
        raise InvalidValue("rows", rows, "a matrix with a row for each of two or more inputs")
    return max(np.maximum(p - ratio * q, 0).sum() for p, q in permutations(rows, 2))  # type: ignore[no-any-return]


def subset_selection(ratio: Number, *, k: int, size: int) -> Mechanism:
    """Report a set of `size` of k items, sets with one's own `ratio` times as likely (Ye and Barg 2018).

    Args:
        ratio: e^eps, in [1, 10^100].
        k: items, which are the inputs, >= 2.
        size: of the set, 1 to k - 1; there may be 10,000 sets.

    Raises:
        InvalidValue: an argument out of range.
    """
    ratio, k = _ratio(ratio), _sized(2, _MOST, k=k)
    size = _sized(1, k - 1, size=size)
    if min(size, k - size) > 20 or math.comb(k, size) > _MOST:
        raise InvalidValue("size", size, f"such that there are at most {_MOST:,} sets of {k} items")
    sets = list(combinations(range(k), size))
    total = ratio * math.comb(k - 1, size - 1) + math.comb(k - 1, size)
    rows = [[(ratio if x in chosen else 1) / total for chosen in sets] for x in range(k)]
    if size == 1:
        return _pure("binary RR" if k == 2 else f"{k}-ary RR", rows, ratio, range(k))
    names = ["{" + ",".join(map(str, chosen)) + "}" for chosen in sets]
    return _pure(f"subset selection, {size} of {k}", rows, ratio, names)


def randomized_response(ratio: Number, *, k: int = 2) -> Mechanism:
    """k-ary randomized response: the truth `ratio` times as likely as each other value; as `subset_selection`."""
    return subset_selection(ratio, k=k, size=1)


def one_bit(ratio: Number) -> Mechanism:
    """Round 0, 1/2 or 1 to a bit at random, then binary randomized response (Duchi et al. 2013); ratio as elsewhere."""
    ratio = _ratio(ratio)
    ones = [(1 + value * (ratio - 1)) / (ratio + 1) for value in (0, Fraction(1, 2), 1)]
    return _pure("one-bit rounding of 0, 1/2, 1", [[1 - one, one] for one in ones], ratio, "01")


def staircase(ratio: Number) -> Mechanism:
    """Whole-number noise j of probability proportional to ratio^-floor((abs(j) + 1)/2), on the inputs 0, 1, 2.

    A staircase of sensitivity 2 (Geng and Viswanath 2016); reports beyond 3 of the inputs are put together.

    Raises:
        InvalidValue: a ratio that is not above 1 and at most 10^100.
    """
    if (ratio := _ratio(ratio)) == 1:
        raise InvalidValue("ratio", ratio, "greater than 1", "at 1 every noise would be equally likely")
    fall, total = 1 / ratio, 1 + 4 / (ratio - 1)

    def mass(j: int) -> Number:
        return fall ** ((abs(j) + 1) // 2) / total

    def tail(j: int) -> Number:
        """Noise of at least j > 0; from an odd j on, every step has two values."""
        return 2 * fall ** ((j + 1) // 2) / (1 - fall) / total if j % 2 else tail(j + 1) + mass(j)

    inner = range(1 - _REACH, 2 + _REACH)
    rows = [[tail(x + _REACH), *(mass(y - x) for y in inner), tail(2 + _REACH - x)] for x in range(3)]
    return _pure("staircase noise", rows, ratio, range(-_REACH, 3 + _REACH))


def extremal(ratio: Number, *, inputs: int, patterns: int, rng: np.random.Generator | int) -> Mechanism:
    """A random mechanism in whose columns every entry is the column's least or `ratio` times it.

    These are the extreme points of all pure mechanisms (Kairouz, Oh and Viswanath 2016). Each pattern comes with its
    cyclic shifts at one weight, so that all rows have the same sum.

    Args:
        ratio: e^eps, in [1, 10^100].
        inputs: 2 to 100.
        patterns: 1 to 100; there are inputs x patterns outputs.
        rng: a seed, or a generator.

    Raises:
        InvalidValue: an argument out of range.
    """
    ratio, generator = _ratio(ratio), check.rng(rng)
    inputs, patterns = _sized(2, 100, inputs=inputs), _sized(1, 100, patterns=patterns)
    columns = []
    for _ in range(patterns):
        high = generator.permutation(inputs) < generator.integers(1, inputs)  # neither none nor all
        weight = int(generator.integers(1, 10))
        columns += [[weight * (ratio if on else 1) for on in np.roll(high, -shift)] for shift in range(inputs)]
    total = sum(column[0] for column in columns)
    rows = [[column[x] / total for column in columns] for x in range(inputs)]
    return _pure(f"random extremal, {inputs} inputs", rows, ratio, (f"y{j}" for j in range(len(columns))))


def noise(kind: str, *, scale: float, cells: int, ratio: Number, inputs: ArrayLike = (0.0, 0.5, 1.0)) -> Mechanism:
    """Laplace or Gaussian noise on inputs in [0, 1], the reports cut into cells, with the cells' own delta; floats.

    Cutting is post-processing: the cells are at least as private as the reports.

    Args:
        kind: "laplace" or "gaussian".
        scale: of Laplace noise, or standard deviation; in [0.001, 1000].
        cells: about how many; more than there are inputs, at most 10,000.
        ratio: e^eps, in [1, 10^100].
        inputs: numbers in [0, 1], at least two.

    Raises:
        InvalidValue: an argument out of range.
    """
    law = {"laplace": stats.laplace, "gaussian": stats.norm}[check.one_of(("laplace", "gaussian"), kind=kind)]
    scale, p = check.in_range(1e-3, 1e3, scale=scale), float(_ratio(ratio))
    at = check.array_in(0, 1, inputs=inputs)
    if at.ndim != 1 or not 2 <= at.size < _MOST:
        raise InvalidValue("inputs", inputs, "a list of two or more numbers in [0, 1]")
    cells = _sized(at.size + 1, _MOST, cells=cells)
    grid = np.linspace(-_SCALES * scale, 1 + _SCALES * scale, cells - at.size + 1)[1:-1]
    # A cell of a rounding error's width would have a mass of rounding only.
    apart = np.abs(grid[:, None] - at).min(axis=1) > 1e-6 * scale
    edges = np.r_[-np.inf, np.unique(np.r_[grid[apart], at]), np.inf]
    # Every input is an edge; differences of tails on a cell's own side keep their digits.
    rows = np.array(
        [np.where(edges[1:] <= x, np.diff(law.cdf(edges, x, scale)), -np.diff(law.sf(edges, x, scale))) for x in at]
    )
    # Rounding alone puts a pure mechanism's delta at about 1e-17.
    pure = kind == "laplace" and math.log(p) >= 1 / scale - 1e-12
    delta = 0.0 if pure else float(local_delta(rows, ratio=p))
    outputs = tuple(f"cell {j}" for j in range(rows.shape[1]))
    return Mechanism(f"{kind.capitalize()} noise, scale {scale:.3g}", rows, p, delta, outputs)


def quaternary_pair(ratio: Number, delta: Number) -> Matrix:
    """The pair of Lemma 4, Chen et al. 2024, over the outcomes A, 0, 1, B (Kairouz, Oh and Viswanath 2015).

    Args:
        ratio: e^eps, in [1, 10^100].
        delta: in [0, 1].

    Returns:
        Two rows, one a law; shape (2, 4), Fractions if both arguments are rational.

    Raises:
        InvalidValue: an argument out of range.

    >>> [[str(mass) for mass in row] for row in quaternary_pair(3, Fraction(1, 5))]
    [['1/5', '3/5', '1/5', '0'], ['0', '1/5', '3/5', '1/5']]
    """
    ratio, delta = _ratio(ratio), check.rational(0, 1, delta=delta)
    low = (1 - delta) / (1 + ratio)
    return _matrix([[delta, ratio * low, low, 0], [0, low, ratio * low, delta]])


def quaternary(ratio: Number, delta: Number) -> Mechanism:
    """Lemma 4's pair as a mechanism on two inputs; arguments and errors as `quaternary_pair`."""
    rows = quaternary_pair(ratio, delta)
    return Mechanism("Lemma 4's own pair", rows, _ratio(ratio), delta, LETTERS)


def leaky(mechanism: Mechanism, delta: Number) -> Mechanism:
    """With probability `delta` the input itself, marked as the truth; otherwise the pure mechanism's report.

    Raises:
        InvalidValue: a delta outside [0, 1], or a mechanism with a delta of its own.
    """
    delta = check.rational(0, 1, delta=delta)
    if mechanism.delta != 0:
        raise InvalidValue("mechanism.delta", mechanism.delta, "0")
    inputs = range(len(mechanism.rows))
    truth = [[delta if x == y else 0 for y in inputs] for x in inputs]
    rows = _matrix([*((1 - delta) * row), *marked] for row, marked in zip(mechanism.rows, truth, strict=True))
    outputs = (*mechanism.outputs, *(f"truth {x}" for x in inputs))
    return replace(mechanism, name=f"{mechanism.name}, or the truth", rows=rows, delta=delta, outputs=outputs)


def anything_but(ratio: Number, *, inputs: int) -> Mechanism:
    """Any value but one's own, uniformly: delta = 1/(inputs - 1) at every eps.

    Args:
        ratio: e^eps where it is looked at, in [1, 10^100].
        inputs: 2 to 1,000.

    Raises:
        InvalidValue: an argument out of range.
    """
    ratio, inputs = _ratio(ratio), _sized(2, 1_000, inputs=inputs)
    other = Fraction(1, inputs - 1)
    rows = [[0 if x == y else other for y in range(inputs)] for x in range(inputs)]
    return replace(_pure(f"anything but one's own, {inputs} inputs", rows, ratio, range(inputs)), delta=other)


def gallery(
    ratio: Number, delta: Number, *, sigma: float = 1.0, cells: int = 60, draws: int = 2, seed: int = 2024
) -> list[Mechanism]:
    """A mechanism of every kind above, pure ones first, for statements about any.

    Args:
        ratio: e^eps, in [1.01, 10^100].
        delta: in [0, 1], of the mechanisms that take one; others have their own.
        sigma: of the Gaussian noise, in [0.001, 1000].
        cells: of noise, 4 to 10,000.
        draws: random mechanisms, up to 100.
        seed: of these.

    Raises:
        InvalidValue: an argument out of range.

    >>> [mechanism.name for mechanism in gallery(3, 0.1, draws=0)][:3]
    ['binary RR', '4-ary RR', 'subset selection, 2 of 3']
    """
    eps = math.log(check.rational(1.01, LARGEST, ratio=ratio))
    seed, draws = check.seed(seed=seed), _sized(0, 100, draws=draws)
    sources = [np.random.default_rng([seed, draw]) for draw in range(draws)]
    drawn = [extremal(ratio, inputs=4, patterns=3, rng=source) for source in sources]
    binary, of_four = randomized_response(ratio), randomized_response(ratio, k=4)
    sets = subset_selection(ratio, k=3, size=2)
    return [
        *(binary, of_four, sets, one_bit(ratio), staircase(ratio)),
        *(replace(found, name=f"{found.name}, no. {draw}") for draw, found in enumerate(drawn, 1)),
        noise("laplace", scale=1 / eps, cells=cells, ratio=ratio),
        quaternary(ratio, delta),
        *(leaky(pure, delta) for pure in (binary, of_four, sets)),
        anything_but(ratio, inputs=4),
        noise("laplace", scale=1 / (1.5 * eps), cells=cells, ratio=ratio),
        noise("gaussian", scale=sigma, cells=cells, ratio=ratio),
    ]

"""Small shuffled processes and the paper's pairs of counts, enumerated in exact rationals.

A randomizer is a matrix of probabilities, a row an input; budgets are ratios p = e^eps, which may be fractions. Two
readings of "shuffled" are enumerated over all permutations and all outputs:

* "position": step t runs randomizer t on whoever the permutation sends there (Definition 6);
* "user": every user keeps an own randomizer and the reports are permuted (Algorithms 1 to 3).

Nothing is rounded, and the largest excess is over all eps >= 0, not over a grid.

>>> rr = subset_selection(2, 1, Fraction(3))
>>> shuffled = two_laws([rr] * 3, others=(0, 0), attached="user")
>>> pair = count_pair(Fraction(3), clones=[Fraction(1, 4)] * 2)  # 1/4 = 1/(1 + p)
>>> found = largest_excess(shuffled, pair, at=[Fraction(1)])
>>> str(found.shuffled), str(found.pair)
('9/32', '5/16')
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from math import comb, factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gspa.accountant import arguments as check
from gspa.accountant.errors import InvalidValue
from gspa.algorithms import finite

Rows = tuple[tuple[Fraction, ...], ...]
History = tuple[int, ...]
Chosen = Callable[[int, History], Rows]  # the randomizer of a step or of a user, given the reports so far
Laws = Mapping[Hashable, tuple[Fraction, Fraction]]  # outcome: its probability under either dataset

ATTACHED = ("position", "user")
NONE = Fraction(0)
_USERS = 8  # of whose reports every order is tried
_CLONES = 300


class Excess(NamedTuple):
    """The largest amount by which delta of the shuffled reports exceeds the pair's, the e^eps where, both deltas."""

    amount: Fraction
    ratio: Fraction
    shuffled: Fraction
    pair: Fraction


class Parts(NamedTuple):
    """R(x0) = delta E0 + (1-delta)(w Q0 + (1-w) Q1), R(x1) = delta E1 + (1-delta)((1-w) Q0 + w Q1): Q0 and Q1."""

    zero: tuple[Fraction, ...]
    one: tuple[Fraction, ...]


def _ratio(ratio: Fraction) -> Fraction:
    return Fraction(check.rational(1, finite.LARGEST, ratio=ratio))


def _share(**argument: Fraction) -> Fraction:
    return Fraction(check.rational(0, 1, **argument))


def subset_selection(k: int, size: int, ratio: Fraction) -> Rows:
    """k inputs; the report is a set of `size` items, `ratio` times as likely if it holds the input; 1 says nothing.

    Arguments and errors as `gspa.algorithms.finite.subset_selection`; a float as ratio is taken to the last bit.
    """
    return _rows(finite.subset_selection(_ratio(ratio), k=k, size=size).rows)


def truth_with(delta: Fraction, ratio: Fraction) -> Rows:
    """Lemma 4's pair as a mechanism: the truth, marked as such, with probability delta, else randomized response.

    Raises:
        InvalidValue: delta outside [0, 1], or ratio outside [1, 10^100].
    """
    return _rows(finite.leaky(finite.randomized_response(_ratio(ratio)), _share(delta=delta)).rows)


def signed(rows: Rows, user: int, n: int) -> Rows:
    """The same randomizer with its sender's number on each report: outcome (user, report) of n users.

    Raises:
        InvalidValue: n outside 1 to 8, or user outside 0 to n - 1.
    """
    if (n := check.count(n=n)) > _USERS:
        raise InvalidValue("n", n, f"an integer from 1 to {_USERS}")
    if (user := check.count(0, user=user)) >= n:
        raise InvalidValue("user", user, f"an integer from 0 to {n - 1}")
    empty = (NONE,) * len(rows[0])
    return tuple(sum((row if u == user else empty for u in range(n)), start=()) for row in rows)


def _rows(matrix: NDArray[Any]) -> Rows:
    return tuple(tuple(Fraction(mass) for mass in row) for row in matrix)


def local_excess(rows: Rows, ratio: Fraction, delta: Fraction = NONE) -> Fraction:
    """How far a randomizer is from (log ratio, delta)-LDP, eq. (2): at most 0 if it is; errors as `local_delta`'s."""
    return Fraction(finite.local_delta(np.array(rows), ratio=_ratio(ratio))) - _share(delta=delta)


def shuffled_law(
    randomizers: Sequence[Rows] | Chosen, data: Sequence[int], *, attached: str = "position"
) -> dict[History, Fraction]:
    """The law of z_1, ..., z_n over all permutations: the process of Definition 6, Chen et al. 2024, executed.

    Args:
        randomizers: one for each of n users or steps, or what gives one from its index and the reports so far.
        data: the users' inputs, rows of their randomizers; 1 to 8 users.
        attached: one of `ATTACHED`, see the module.

    Returns:
        The reports in their order to their probability, exact.

    Raises:
        InvalidValue: an argument out of range, or another number of randomizers than of users.
    """
    check.one_of(ATTACHED, attached=attached)
    data = check.counts(0, data=data)
    if len(data) > _USERS or not (callable(randomizers) or len(randomizers) == len(data)):
        raise InvalidValue("data", data, f"the inputs of at most {_USERS} users, one for each randomizer")
    law: dict[History, Fraction] = defaultdict(Fraction)
    for order in permutations(range(len(data))):
        partial: dict[History, Fraction] = {(): Fraction(1, factorial(len(data)))}
        for step, user in enumerate(order):
            index = step if attached == "position" else user
            grown: dict[History, Fraction] = {}
            for reports, mass in partial.items():
                rows = randomizers(index, reports) if callable(randomizers) else randomizers[index]
                if data[user] >= len(rows):
                    raise InvalidValue(f"data[{user}]", data[user], f"one of the randomizer's {len(rows)} inputs")
                grown |= {(*reports, z): mass * chance for z, chance in enumerate(rows[data[user]]) if chance}
            partial = grown
        for reports, mass in partial.items():
            law[reports] += mass
    return dict(law)


def two_laws(
    randomizers: Sequence[Rows] | Chosen, *, others: Sequence[int], inputs: tuple[int, int] = (0, 1), attached: str
) -> Laws:
    """The outputs for two datasets that differ in the last user's datum.

    Args:
        randomizers: as `shuffled_law`, like attached and the errors.
        others: inputs of all users but the last.
        inputs: the last one's, in either dataset.
        attached: one of `ATTACHED`.

    Returns:
        The reports in their order to their probability under the first and under the second dataset, exact.
    """
    if len(inputs) != 2:
        raise InvalidValue("inputs", inputs, "two inputs")
    known = check.row(others=others)
    first, second = (shuffled_law(randomizers, (*known, x), attached=attached) for x in inputs)
    return {z: (first.get(z, NONE), second.get(z, NONE)) for z in sorted({*first, *second})}


def count_pair(
    ratio: Fraction,
    *,
    clones: Iterable[Fraction],
    delta: Fraction = NONE,
    shared: bool = False,
    neither: Fraction = NONE,
) -> Laws:
    """(rho_0, rho_1) of eqs. (12) and (13), Chen et al. 2024: reports that copy the victim's first and second outcome.

    Args:
        ratio: the victim's e^eps, in [1, 10^100].
        clones: for each other user, up to 300, the probability of a copy of either outcome, in [0, 1/2].
        delta: the victim's, in [0, 1].
        shared: Delta_2 as printed, the same under both datasets; otherwise as Lemma 4 has it, two outcomes that tell
            the datasets apart.
        neither: the victim's probability, in [0, 1], of a third report that looks like that of a user who is no clone.

    Returns:
        Both counts, after "A" or "B" where the outcome tells the datasets apart, to their probability under either.

    Raises:
        InvalidValue: an argument out of range.

    >>> alone = count_pair(Fraction(3), clones=[])
    >>> [(outcome, str(a), str(b)) for outcome, (a, b) in sorted(alone.items())]
    [((0, 1), '1/4', '3/4'), ((1, 0), '3/4', '1/4')]
    """
    ratio, delta, neither = _ratio(ratio), _share(delta=delta), _share(neither=neither)
    clones = [Fraction(check.rational(0, 0.5, **{f"clones[{j}]": r})) for j, r in enumerate(check.row(clones=clones))]
    if len(clones) > _CLONES:
        raise InvalidValue("clones", clones, f"probabilities of at most {_CLONES} users")
    crowd = np.array([Fraction(1)])  # the law of the number of clones
    for r in clones:
        crowd = np.convolve(crowd, [1 - 2 * r, 2 * r])
    seen = (1 - delta) * (1 - neither)
    truth, lie = seen * ratio / (1 + ratio), seen / (1 + ratio)
    hidden = (1 - delta) * neither + (delta if shared else 0)
    laws: dict[Hashable, list[Fraction]] = defaultdict(lambda: [NONE, NONE])

    def add(outcome: Hashable, first: Fraction, second: Fraction) -> None:
        laws[outcome][0] += first
        laws[outcome][1] += second

    for c, mass in enumerate(crowd):
        for a in range(c + 1):
            chance = mass * Fraction(comb(c, a), 2**c)
            add((a + 1, c - a), chance * truth, chance * lie)
            add((a, c - a + 1), chance * lie, chance * truth)
            add((a, c - a), chance * hidden, chance * hidden)
            if not shared:
                add(("A", a, c - a), chance * delta, NONE)
                add(("B", a, c - a), NONE, chance * delta)
    return {outcome: (first, second) for outcome, (first, second) in laws.items() if first or second}


def delta_at(laws: Laws, ratio: Fraction) -> Fraction:
    """delta(eps) at e^eps = `ratio`, the larger of both directions of the hockey-stick divergence, exact.

    Raises:
        InvalidValue: a ratio outside [1, 10^100].
    """
    ratio = _ratio(ratio)
    forward = sum((max(a - ratio * b, NONE) for a, b in laws.values()), start=NONE)
    backward = sum((max(b - ratio * a, NONE) for a, b in laws.values()), start=NONE)
    return max(forward, backward)


def largest_excess(shuffled: Laws, pair: Laws, *, at: Iterable[Fraction] | None = None) -> Excess:
    """The largest delta of the shuffled reports minus delta of the pair, over all eps >= 0 or at some e^eps.

    As functions of e^eps the first is convex, and the pair's is linear between its own likelihood ratios: the excess is
    largest at one of those or at eps = 0. An amount <= 0 says that the shuffled trade-off function is nowhere below the
    pair's, and then, by Blackwell's theorem, one and the same post-processing turns rho_0 and rho_1 into the reports.

    Args:
        shuffled: the reports' laws, as `two_laws` gives them.
        pair: as `count_pair` gives it.
        at: values of e^eps, in [1, 10^100], at least one; None for all eps >= 0.

    Returns:
        The excess, where it is, and both deltas there, all exact.

    Raises:
        InvalidValue: no value of e^eps, or one outside its range.
    """
    if at is None:
        ratios = {max(a, b) / min(a, b) for a, b in pair.values() if a and b}
        at = sorted({Fraction(1), *ratios})
    rows = [(delta_at(shuffled, ratio), delta_at(pair, ratio), ratio) for ratio in check.row(at=at)]
    if not rows:
        raise InvalidValue("at", rows, "values of e^eps, at least one")
    return max((Excess(mine - theirs, ratio, mine, theirs) for mine, theirs, ratio in rows), key=lambda e: e.amount)


def parts(rows: Rows, ratio: Fraction, *, delta: Fraction = NONE, inputs: tuple[int, int] = (0, 1)) -> Parts:
    """Q0 and Q1 of a randomizer, eqs. (9) and (10): the only ones, once what exceeds e^eps is split off.

    Args:
        rows: the randomizer.
        ratio: e^eps, in [1, 10^100].
        delta: in [0, 1), exactly the mass that exceeds e^eps.
        inputs: the two rows that it is about.

    Raises:
        InvalidValue: an argument out of range, or another delta.
    """
    ratio, delta = _ratio(ratio), _share(delta=delta)
    if len(inputs) != 2 or not all(check.count(0, **{f"inputs[{i}]": x}) < len(rows) for i, x in enumerate(inputs)):
        raise InvalidValue("inputs", inputs, f"two of the randomizer's {len(rows)} inputs")
    first, second = (np.array(rows[x]) for x in inputs)
    over, under = np.maximum(first - ratio * second, 0), np.maximum(second - ratio * first, 0)
    if not over.sum() == under.sum() == delta < 1:
        most = max(over.sum(), under.sum())
        raise InvalidValue("delta", delta, f"{most}, the mass that exceeds e^eps, and less than 1")
    left, right = (first - over) / (1 - delta), (second - under) / (1 - delta)
    if (left == right).all():  # every pair with equal parts; this one for a report that says nothing of the two inputs
        return Parts(tuple(left), tuple(right))
    # w Q0 + (1-w) Q1 = left and (1-w) Q0 + w Q1 = right have one solution.
    return Parts(tuple((ratio * left - right) / (ratio - 1)), tuple((ratio * right - left) / (ratio - 1)))


def aligned_clone_probability(victim: Parts, other: Rows) -> Fraction:
    """The largest r with R_j(x) >= r (Q0 + Q1), outcome by outcome, whatever user j's input x: what eq. (11) needs.

    >>> rr = subset_selection(2, 1, Fraction(3))
    >>> aligned_clone_probability(parts(rr, Fraction(3)), subset_selection(2, 1, Fraction(7)))
    Fraction(1, 8)
    """
    together = [a + b for a, b in zip(victim.zero, victim.one, strict=True)]
    return min(row[z] / mass for row in other for z, mass in enumerate(together) if mass)


def printed_clones(ratio: Fraction, delta: Fraction = NONE) -> Fraction:
    """(1 - delta_j)/(1 + e^{eps_j}), the clone probability of eqs. (11) to (13); arguments as `parts`'."""
    return (1 - _share(delta=delta)) / (1 + _ratio(ratio))

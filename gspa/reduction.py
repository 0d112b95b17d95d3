"""The shuffled process of Definition 6 and the count pair of Theorem 1, for small n, in exact rationals.

A randomizer is a matrix of probabilities, a row an input; budgets are given as ratios p = e^eps, which may be
fractions. Two readings of "shuffled" are enumerated over all permutations and all outputs:

* "position": step t runs randomizer t on whoever the permutation sends there (Definition 6);
* "user": every user keeps an own randomizer and the reports are permuted (Algorithms 1 to 3).

>>> rr = subset_selection(2, 1, Fraction(3))
>>> shuffled = two_laws([rr] * 3, others=(0, 0), attached="user")
>>> pair = count_pair(Fraction(3), clones=[Fraction(1, 4)] * 2)  # 1/4 = 1/(1 + p)
>>> found = largest_excess(shuffled, pair, at=[Fraction(1)])
>>> str(found.shuffled), str(found.pair)
('9/32', '5/16')

Everything here is exact: no rounding, and the largest excess is over all eps >= 0, not over a grid.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from math import comb, factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gspa import _validate as check
from gspa import finite_mechanisms
from gspa.errors import InvalidValue

Rows = tuple[tuple[Fraction, ...], ...]
History = tuple[int, ...]
Chosen = Callable[[int, History], Rows]  # the randomizer of a step or of a user, given the reports so far
Laws = Mapping[Hashable, tuple[Fraction, Fraction]]  # outcome: its probability under either dataset

ATTACHED = ("position", "user")
MOST_USERS = 6  # 720 permutations
_HALF = Fraction(1, 2)


class Excess(NamedTuple):
    """The largest amount by which one divergence exceeds another.

    Attributes:
        amount: `shuffled - pair`; above 0 the pair is no upper bound.
        ratio: e^eps where that is.
        shuffled: delta of the shuffled reports there, the larger of both directions.
        pair: delta of the pair there.
    """

    amount: Fraction
    ratio: Fraction
    shuffled: Fraction
    pair: Fraction


class Parts(NamedTuple):
    """R(x0) = delta E0 + (1-delta)(w Q0 + (1-w) Q1), R(x1) = delta E1 + (1-delta)((1-w) Q0 + w Q1).

    w = p/(1+p); `zero` is Q0 and `one` Q1, shape (outcomes,).
    """

    zero: tuple[Fraction, ...]
    one: tuple[Fraction, ...]


def subset_selection(k: int, size: int, ratio: Fraction) -> Rows:
    """k inputs; the report is a set of `size` items, `ratio` times as likely if it holds the input.

    size = 1 is k-ary randomized response, with k = 2 the binary one (Ye and Barg 2018 for the family).

    Raises:
        InvalidValue: k < 2, size outside [1, k-1], ratio < 1.

    >>> [str(mass) for mass in subset_selection(3, 1, Fraction(2))[0]]
    ['1/2', '1/4', '1/4']
    """
    k = check.count(2, k=k)
    if _ratio(ratio=ratio) > 1:
        return _rows(finite_mechanisms.subset_selection(Fraction(ratio), k=k, size=size).rows)
    # eps = 0, every set equally likely: the others' reports may say nothing, a mechanism of its own may not.
    like = finite_mechanisms.subset_selection(2, k=k, size=size).rows
    return ((Fraction(1, like.shape[1]),) * like.shape[1],) * k


def truth_with(delta: Fraction, ratio: Fraction) -> Rows:
    """Lemma 4's quaternary pair as a mechanism: the truth, marked as such, with probability delta, else RR.

    Outcomes: 0, 1, then A (the truth is 0), B (the truth is 1).

    >>> [str(mass) for mass in truth_with(Fraction(1, 5), Fraction(3))[0]]
    ['3/5', '1/5', '1/5', '0']
    """
    response = finite_mechanisms.randomized_response(_ratio(ratio=ratio))
    return _rows(finite_mechanisms.leaky(response, _share(delta=delta)).rows)


def question(item: int, ratio: Fraction, *, k: int = 3) -> Rows:
    """Binary randomized response to "is your value `item`?", for k values: report 0 is yes."""
    item, (yes, no) = check.count(0, item=item), subset_selection(2, 1, ratio)
    return tuple(yes if x == item else no for x in range(check.count(2, k=k)))


def signed(rows: Rows, user: int, n: int) -> Rows:
    """The same randomizer with its sender's number on each report: outcome (user, report) of n users."""
    n, user, width = check.count(n=n), check.count(0, user=user), len(rows[0])
    empty = (Fraction(0),) * width
    return tuple(sum((row if u == user else empty for u in range(n)), start=()) for row in rows)


def local_excess(rows: Rows, ratio: Fraction, delta: Fraction = Fraction(0)) -> Fraction:
    """How far a randomizer is from (log ratio, delta)-LDP, eq. (2): at most 0 if it is."""
    found = finite_mechanisms.local_delta(np.array(rows), ratio=_ratio(ratio=ratio))
    return Fraction(found) - _share(delta=delta)


def shuffled_law(
    randomizers: Sequence[Rows] | Chosen, data: Sequence[int], *, attached: str = "position"
) -> dict[History, Fraction]:
    """The law of z_1, ..., z_n over all permutations: the process of Definition 6, executed.

    Args:
        randomizers: one matrix for each step ("position") or user ("user"), all with a row for each input; or a
            function of (step or user, reports so far) to such a matrix, for an adaptive process.
        data: the users' inputs, row numbers.
        attached: "position" as Definition 6 has it, or "user" as Algorithms 1 to 3 do.

    Returns:
        Each possible output vector with its probability; they sum to 1 exactly.

    Raises:
        InvalidValue: no user, more than 6 users, a row missing, another word for `attached`.

    >>> coin, truth = subset_selection(2, 1, Fraction(1)), subset_selection(2, 1, Fraction(3))
    >>> by_position = shuffled_law([coin, truth], (0, 1))
    >>> by_user = shuffled_law([coin, truth], (0, 1), attached="user")
    >>> str(by_position[0, 0]), str(by_user[0, 0])
    ('1/4', '1/8')
    """
    data = [check.count(0, **{f"data[{i}]": x}) for i, x in enumerate(check.row(data=data))]
    n, attached = len(data), check.one_of(ATTACHED, attached=attached)
    if not 1 <= n <= MOST_USERS:
        raise InvalidValue("len(data)", n, f"from 1 to {MOST_USERS}", "the enumeration takes n! permutations")
    if callable(randomizers):
        choose = randomizers
    else:
        if len(randomizers) != n:
            raise InvalidValue("len(randomizers)", len(randomizers), f"len(data) = {n}")
        given = tuple(randomizers)

        def choose(index: int, reports: History) -> Rows:
            return given[index]

    law: dict[History, Fraction] = {}
    share = Fraction(1, factorial(n))
    for order in permutations(range(n)):
        partial: dict[History, Fraction] = {(): share}
        for step, user in enumerate(order):
            grown: dict[History, Fraction] = {}
            for reports, mass in partial.items():
                rows = choose(step if attached == "position" else user, reports)
                if data[user] >= len(rows):
                    raise InvalidValue(f"data[{user}]", data[user], f"a row number below {len(rows)}")
                for z, chance in enumerate(rows[data[user]]):
                    if chance:
                        grown[(*reports, z)] = mass * chance
            partial = grown
        for reports, mass in partial.items():
            law[reports] = law.get(reports, Fraction(0)) + mass
    return law


def two_laws(
    randomizers: Sequence[Rows] | Chosen, *, others: Sequence[int], inputs: tuple[int, int] = (0, 1), attached: str
) -> Laws:
    """The outputs for two datasets that differ in the last user's datum; arguments as `shuffled_law`."""
    first, second = (shuffled_law(randomizers, (*check.row(others=others), x), attached=attached) for x in inputs)
    none = Fraction(0)
    return {z: (first.get(z, none), second.get(z, none)) for z in sorted({*first, *second})}


def count_pair(
    ratio: Fraction,
    *,
    clones: Iterable[Fraction],
    delta: Fraction = Fraction(0),
    shared: bool = False,
    neither: Fraction = Fraction(0),
) -> Laws:
    """(rho_0, rho_1) of eqs. (12) and (13): how many reports are copies of the victim's first and second outcome.

    Args:
        ratio: p = e^{eps_n} of the victim.
        clones: r_j of every other user, in [0, 1/2]: 0 and 1 with r_j each, neither with 1 - 2 r_j.
        delta: delta_n.
        shared: True as printed, Delta_2 the same under both datasets; False as Lemma 4 has it, two outcomes
            that tell the datasets apart.
        neither: the victim's probability of a third report that looks like that of a user who is no clone.

    Raises:
        InvalidValue: an argument outside its range.

    >>> alone = count_pair(Fraction(3), clones=[])
    >>> [(outcome, str(a), str(b)) for outcome, (a, b) in sorted(alone.items())]
    [((0, 1), '1/4', '3/4'), ((1, 0), '3/4', '1/4')]
    """
    ratio, delta, neither = _ratio(ratio=ratio), _share(delta=delta), _share(neither=neither)
    crowd = {0: Fraction(1)}  # the law of the number of clones
    for j, r in enumerate(check.row(clones=clones)):
        if not isinstance(r, Fraction | int) or not 0 <= r <= _HALF:
            raise InvalidValue(f"clones[{j}]", r, "in [0, 1/2]")
        grown: dict[int, Fraction] = {}
        for c, mass in crowd.items():
            grown[c] = grown.get(c, Fraction(0)) + mass * (1 - 2 * r)
            grown[c + 1] = grown.get(c + 1, Fraction(0)) + mass * 2 * r
        crowd = grown
    seen = (1 - delta) * (1 - neither)
    truth, lie = seen * ratio / (1 + ratio), seen / (1 + ratio)
    laws: dict[Hashable, tuple[Fraction, Fraction]] = {}

    def add(outcome: Hashable, first: Fraction, second: Fraction) -> None:
        old = laws.get(outcome, (Fraction(0), Fraction(0)))
        laws[outcome] = (old[0] + first, old[1] + second)

    for c, mass in crowd.items():
        for a in range(c + 1):
            chance = mass * Fraction(comb(c, a), 2**c)
            add((a + 1, c - a), chance * truth, chance * lie)
            add((a, c - a + 1), chance * lie, chance * truth)
            hidden = (1 - delta) * neither + (delta if shared else 0)
            add((a, c - a), chance * hidden, chance * hidden)
            if not shared:
                add(("A", a, c - a), chance * delta, Fraction(0))
                add(("B", a, c - a), Fraction(0), chance * delta)
    return {outcome: both for outcome, both in laws.items() if any(both)}


def delta_at(laws: Laws, ratio: Fraction) -> Fraction:
    """delta(eps) at e^eps = `ratio`: the larger of both directions of the hockey-stick divergence, exact."""
    none, ratio = Fraction(0), _ratio(ratio=ratio)
    forward = sum((max(a - ratio * b, none) for a, b in laws.values()), start=none)
    backward = sum((max(b - ratio * a, none) for a, b in laws.values()), start=none)
    return max(forward, backward)


def largest_excess(shuffled: Laws, pair: Laws, *, at: Iterable[Fraction] | None = None) -> Excess:
    """The largest delta of the shuffled reports minus delta of the pair, over all eps >= 0.

    As functions of e^eps the first is convex, and the pair's is linear between its own likelihood ratios: the excess
    is largest at one of those or at eps = 0. `amount` <= 0 says that the shuffled trade-off function is nowhere
    below the pair's, and then, by Blackwell's theorem, one and the same post-processing turns rho_0 and rho_1 into
    the shuffled reports.

    Args:
        shuffled: from `two_laws`.
        pair: from `count_pair`, whose two directions are equal.
        at: values of e^eps to look at; None for all that matter.
    """
    if at is None:
        corners = {Fraction(1)}
        for first, second in pair.values():
            if first and second:
                corners.add(max(first, second) / min(first, second))
        at = sorted(corners)
    rows = ((delta_at(shuffled, ratio), delta_at(pair, ratio), ratio) for ratio in at)
    return max((Excess(mine - theirs, ratio, mine, theirs) for mine, theirs, ratio in rows), key=lambda e: e.amount)


def parts(rows: Rows, ratio: Fraction, *, delta: Fraction = Fraction(0), inputs: tuple[int, int] = (0, 1)) -> Parts:
    """Q0 and Q1 of a randomizer: the only ones, once what exceeds e^eps is split off.

    Args:
        rows: the randomizer.
        ratio: e^eps of its local budget.
        delta: its local delta, exactly the mass that exceeds e^eps in both directions.
        inputs: x0 and x1.

    Raises:
        InvalidValue: it is not (log ratio, delta)-LDP with that very delta at these inputs.
    """
    ratio, delta, none = _ratio(ratio=ratio), _share(delta=delta), Fraction(0)
    first, second = rows[inputs[0]], rows[inputs[1]]
    over = [max(a - ratio * b, none) for a, b in zip(first, second, strict=True)]
    under = [max(b - ratio * a, none) for a, b in zip(first, second, strict=True)]
    if sum(over) != delta or sum(under) != delta:
        raise InvalidValue("delta", delta, f"the mass that exceeds e^eps, {sum(over)} and {sum(under)} here")
    left = [(a - extra) / (1 - delta) for a, extra in zip(first, over, strict=True)]
    right = [(b - extra) / (1 - delta) for b, extra in zip(second, under, strict=True)]
    if left == right:  # every pair with equal parts; this one for a report that says nothing of the two inputs
        return Parts(tuple(left), tuple(right))
    # w Q0 + (1-w) Q1 = left and (1-w) Q0 + w Q1 = right have one solution.
    return Parts(
        tuple((ratio * a - b) / (ratio - 1) for a, b in zip(left, right, strict=True)),
        tuple((ratio * b - a) / (ratio - 1) for a, b in zip(left, right, strict=True)),
    )


def aligned_clone_probability(victim: Parts, other: Rows) -> Fraction:
    """The largest r with R_j(x) >= r (Q0 + Q1), outcome by outcome, whatever user j's input x.

    This is what eq. (11) needs of user j, with Q0 and Q1 those of the victim. At most 1/2; 0 if some report of the
    victim's parts is one that user j cannot send.

    >>> rr = subset_selection(2, 1, Fraction(3))
    >>> aligned_clone_probability(parts(rr, Fraction(3)), subset_selection(2, 1, Fraction(7)))
    Fraction(1, 8)
    """
    together = [a + b for a, b in zip(victim.zero, victim.one, strict=True)]
    return min(row[z] / mass for row in other for z, mass in enumerate(together) if mass)


def printed_clones(ratio: Fraction, delta: Fraction = Fraction(0)) -> Fraction:
    """(1 - delta_j)/(1 + e^{eps_j}), the clone probability of eqs. (11) to (13)."""
    return (1 - _share(delta=delta)) / (1 + _ratio(ratio=ratio))


def _rows(matrix: NDArray[Any]) -> Rows:
    return tuple(tuple(Fraction(mass) for mass in row) for row in matrix)


def ratios_of(ratios: Iterable[Fraction | int]) -> tuple[Fraction, ...]:
    """Each user's e^eps >= 1, as fractions."""
    return tuple(_ratio(ratios=ratio) for ratio in check.row(ratios=ratios))


def _ratio(**argument: Fraction) -> Fraction:
    ((name, value),) = argument.items()
    if not isinstance(value, Fraction | int) or isinstance(value, bool) or value < 1:
        raise InvalidValue(name, value, "a fraction >= 1", "it is e^eps")
    return Fraction(value)


def _share(**argument: Fraction) -> Fraction:
    ((name, value),) = argument.items()
    if not isinstance(value, Fraction | int) or isinstance(value, bool) or not 0 <= value < 1:
        raise InvalidValue(name, value, "a fraction in [0, 1)")
    return Fraction(value)

"""Lemma 1 of Chen et al. 2024, eqs. (9) to (11): how much of every report looks like the victim's two outcomes.

With p = e^eps and no delta, eqs. (9) and (10) leave no choice: Q0 = (p P0 - P1)/(p - 1), Q1 = (p P1 - P0)/(p - 1), and
so Q0 + Q1 = P0 + P1. A law R is then at least r (Q0 + Q1) exactly if r <= min_y R(y)/(P0(y) + P1(y)):

* eq. (11)'s r = 1/(1+p) is there if and only if P0 + P1 <= (1+p) R at every output;
* r = 1/(2p) always is, for one common randomizer (Feldman, McMillan and Talwar 2021);
* a shared Q_1 of weight delta > 0 in both (9) and (10) makes P0 <= p P1: only pure mechanisms have one.

>>> from gspa.finite_mechanisms import subset_selection
>>> mechanism = subset_selection(3, k=3, size=2)
>>> worst = worst_case(mechanism)
>>> str(worst.coefficient), str(claimed(mechanism)), mechanism.outputs[worst.output]
('1/6', '1/4', '{0,1}')
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linprog

from gspa.dominating import TOLERANCES, channel
from gspa.errors import InvalidValue, OutsideValidity
from gspa.finite_mechanisms import (
    LETTERS,
    Matrix,
    Mechanism,
    Number,
    exact_or_float,
    likelihood_ratio,
    local_delta,
    positive_part,
    quaternary_pair,
    rounding,
    zero,
)


def claimed(mechanism: Mechanism) -> Number:
    """Eq. (11)'s coefficient, (1 - delta)/(1 + e^eps)."""
    return (1 - mechanism.delta) / (1 + mechanism.ratio)


def victim_parts(p0: Matrix, p1: Matrix, *, ratio: Number) -> Matrix:
    """Q0 and Q1 of eqs. (9) and (10) without delta, shape (2, m): they are unique.

    Raises:
        OutsideValidity: the two laws are not within a factor e^eps.
    """
    ratio = likelihood_ratio(ratio)
    needed = local_delta(np.array([p0, p1]), ratio=ratio)
    if needed > rounding(p0, ratio):
        raise OutsideValidity("eqs. (9) and (10) with delta = 0", f"a pure pair, got delta = {float(needed):.6g}")
    return channel(p0, p1, ratio=ratio)[1:3]


def shared_parts_exist(p0: Matrix, p1: Matrix, *, ratio: Number, delta: Number) -> bool:
    """Whether eqs. (9) and (10), coefficients exchanged, hold for some Q0, Q1 and one Q_1 of weight delta.

    They do if and only if the laws are within a factor e^eps of each other and their total variation is at most
    (1 - delta)(e^eps - 1)/(e^eps + 1).

    Args:
        p0, p1: laws, shape (m,).
        ratio: e^eps > 1.
        delta: in [0, 1).
    """
    ratio, delta = likelihood_ratio(ratio), exact_or_float(0, 1, delta=delta)
    far = local_delta(np.array([p0, p1]), ratio=ratio)
    variation = positive_part(p0 - p1).sum()
    return bool(
        far <= rounding(p0, ratio) and variation * (ratio + 1) <= (1 - delta) * (ratio - 1) + rounding(p0, ratio)
    )


def split_parts(p0: Matrix, p1: Matrix, *, ratio: Number, delta: Number) -> Matrix:
    """The corrected eqs. (9) and (10): Q0, Q1, and one part of weight delta for each input, shape (4, m).

    P0 = (1-delta)(p Q0 + Q1)/(1+p) + delta QA and P1 = (1-delta)(Q0 + p Q1)/(1+p) + delta QB, in the order
    QA, Q0, Q1, QB: what Lemma 4's channel makes of the outcomes A, 0, 1, B.
    """
    return channel(p0, p1, ratio=ratio, delta=delta)


def largest_coefficient(p0: Matrix, p1: Matrix, other: Matrix, *, ratio: Number, delta: Number = 0) -> Number:
    """The largest r with `other` >= r (Q0 + Q1) for some Q0, Q1 of the (corrected) eqs. (9) and (10).

    With delta = 0 in closed form, exact if the numbers are. With delta > 0 the parts are free, with one of weight
    delta for each input, and a linear program finds the best: a float, from HiGHS at a tolerance of 1e-10.

    Args:
        p0, p1: the victim's two laws, shape (m,).
        other: shape (m,), or (u, m) for the least over u other laws.
        ratio: e^eps > 1.
        delta: in [0, 1).

    Raises:
        OutsideValidity: the victim's laws are not (eps, delta)-close.
    """
    least = np.atleast_2d(other).min(axis=0)
    delta = exact_or_float(0, 1, delta=delta)
    if delta == 0:
        victim_parts(p0, p1, ratio=ratio)
        seen = p0 + p1 > 0
        return min(least[seen] / (p0 + p1)[seen])  # type: ignore[no-any-return]
    channel(p0, p1, ratio=ratio, delta=delta)  # refuses what is not close
    laws = np.array([p0, p1, least], dtype=float)
    return _largest(laws[0], laws[1], laws[2], float(ratio), float(delta))


def _largest(p0: Matrix, p1: Matrix, least: Matrix, ratio: float, delta: float) -> float:
    """1/t for the least t with Q0 + Q1 <= t `least`; masses in units of P0 + P1, or small cells would be rounding."""
    both = p0 + p1
    kept = both > 0
    p0, p1, least, both = p0[kept], p1[kept], least[kept], both[kept]
    m = both.size
    one, none, low = np.eye(m), np.zeros((m, m)), (1 - delta) / (1 + ratio)
    column = np.zeros((m, 1))
    equal = np.block(
        [
            [ratio * low * one, low * one, delta * one, none, column],
            [low * one, ratio * low * one, none, delta * one, column],
            [np.zeros(2 * m), both, np.zeros(m + 1)],
            [np.zeros(3 * m), both, np.zeros(1)],
        ]
    )
    found = linprog(
        np.r_[np.zeros(4 * m), 1.0],
        A_ub=np.hstack([one, one, none, none, -(least / both)[:, None]]),
        b_ub=np.zeros(m),
        A_eq=equal,
        b_eq=np.r_[p0 / both, p1 / both, 1.0, 1.0],
        # Q0 + Q1 weighs 2, the other law at most 1.
        bounds=[(0, None)] * (4 * m) + [(2, None)],
        method="highs",
        options=TOLERANCES,
    )
    return 1 / float(found.fun) if found.status == 0 else 0.0


@dataclass(frozen=True)
class WorstCase:
    """Where a mechanism's clone coefficient is least.

    Attributes:
        coefficient: the largest r that serves every pair of inputs and every other input.
        inputs: the victim's two.
        other: the other user's input there; -1 for a mechanism with delta > 0 (all inputs at once).
        output: index of the output there; -1 likewise.
    """

    coefficient: Number
    inputs: tuple[int, int]
    other: int
    output: int


def worst_case(mechanism: Mechanism) -> WorstCase:
    """The largest r of eq. (11) that serves every choice of inputs of one common randomizer.

    Args:
        mechanism: the randomizer; with delta > 0 the corrected eqs. (9) and (10) are used.
    """
    rows, best = mechanism.rows, None
    for i, j in combinations(range(len(rows)), 2):
        r = largest_coefficient(rows[i], rows[j], rows, ratio=mechanism.ratio, delta=mechanism.delta)
        if best is not None and r >= best.coefficient:
            continue
        other = output = -1
        if mechanism.delta == 0:
            sums = rows[i] + rows[j]
            others = np.where(sums > 0, rows, 2 + zero(sums[0])) / np.where(sums > 0, sums, 1 + zero(sums[0]))
            other, output = (int(v) for v in np.unravel_index(int(others.argmin()), others.shape))
        best = WorstCase(r, (i, j), other, output)
    if best is None:
        raise OutsideValidity("Lemma 1", "a mechanism with at least two inputs")
    return best


def variation_coefficient(mechanism: Mechanism) -> Number:
    """a = TV/(e^eps - 1) of a pure mechanism's most distant inputs.

    With it P0 = p a Q0 + a Q1 + (1 - (1+p) a) Q, P1 has Q0 and Q1 exchanged and the same Q, and every R(x) is at
    least a (Q0 + Q1), for the pair's own a: true of every pure mechanism (Wang et al. 2024), checked by
    `variation_error`.
    """
    pairs = combinations(mechanism.rows, 2)
    return max(positive_part(p - q).sum() for p, q in pairs) / (mechanism.ratio - 1)  # type: ignore[no-any-return]


def variation_error(mechanism: Mechanism) -> float:
    """By how much the form with a = TV/(e^eps - 1) fails, over all pairs of inputs: 0.0 if nowhere."""
    worst = 0.0
    for p0, p1 in combinations(mechanism.rows, 2):
        p: Any = mechanism.ratio
        # a Q0 and a Q1 are disjoint; what is left of P0 is the same as what is left of P1.
        first, second = (positive_part(d) / (p - 1) for d in (p0 - p1, p1 - p0))
        rest = p0 - p * first - second
        off = [abs(p1 - (first + p * second + rest)).max(), -rest.min()]
        off.append(max((first + second - row).max() for row in mechanism.rows))
        worst = max(worst, *(float(v) for v in off))
    return worst


def hull_distance(q0: Matrix, q1: Matrix, law: Matrix) -> Number:
    """Total variation of `law` from the nearest mixture of Q0 and Q1; exact if the numbers are.

    0 if some report on the outcomes 0 and 1 can be post-processed into `law`, as the paper's proof supposes.
    """
    nothing, step = zero(law[0]), q0 - q1
    # Convex and piecewise linear in the mixing weight: the least value is at a corner or an end.
    corners = [(law[y] - q1[y]) / step[y] for y in range(law.size) if step[y] != 0]
    weights = [nothing, nothing + 1, *(w for w in corners if 0 <= w <= 1)]
    return min(positive_part(law - (w * q0 + (1 - w) * q1)).sum() for w in weights)  # type: ignore[no-any-return]


def printed_table(ratio: Number, delta: Number, *, text: str) -> Matrix:
    """The laws of R'(x_1^0) and R'(x_1^1) in the proof of Lemma 1, over A, 0, 1, B.

    Args:
        ratio: e^eps > 1.
        delta: in [0, 1).
        text: "aaai", where both laws have the same masses on 0 and 1, or "arxiv", where A and B are exchanged.
    """
    right = quaternary_pair(ratio, delta)
    if text == "arxiv":
        return right[:, [3, 1, 2, 0]]
    low = right[0, 2]
    nothing = zero(low)
    high = low * Fraction(ratio) if isinstance(low, Fraction) else low * float(ratio)
    return np.array([[nothing, low, high, delta + nothing], [delta + nothing, low, high, nothing]])


def printed_sets(ratio: Number, delta: Number, *, text: str) -> tuple[str, str]:
    """The proof's sets L and U as the text prints them, for the laws of Lemma 4: outcomes as letters.

    Args:
        ratio: e^eps > 1.
        delta: in [0, 1).
        text: "aaai" or "arxiv"; anything else gives the sets that are meant, {0} and {1}.

    >>> printed_sets(3, Fraction(1, 10), text="aaai"), printed_sets(3, Fraction(1, 10), text="arxiv")
    (('0', '0'), ('0', ''))
    """
    if not isinstance(text, str):
        raise InvalidValue("text", text, "a word such as aaai or arxiv")
    first, second = quaternary_pair(ratio, delta)
    high, low = first[1], first[2]
    lower = (first == high) & (second == low)
    upper = {"aaai": (second == low) & (first == high), "arxiv": (second == low) & (second == high)}.get(
        text, (second == high) & (first == low)
    )
    return tuple("".join(np.array(LETTERS)[chosen]) for chosen in (lower, upper))  # type: ignore[return-value]


def rest_distance(ratio: Number, delta: Number) -> Number:
    """Total variation of the two laws of Lemma 4's pair given an outcome outside L and U; the proof has 0.

    With delta = 0 there is no such outcome, and so no distance: 0.
    """
    if exact_or_float(0, 1, delta=delta) == 0:
        return zero(likelihood_ratio(ratio))
    first, second = quaternary_pair(ratio, delta)[:, [0, 3]]
    return positive_part(first / first.sum() - second / second.sum()).sum()  # type: ignore[no-any-return]

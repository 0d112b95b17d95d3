"""Of notebook 04: the coefficients of eq. (11), proofs in fractions that equations have no solution, and the figure.

Farkas certificates: if some combination of equations in masses >= 0 leaves every mass with a coefficient >= 0 and a
right-hand side < 0, no solution exists. A linear program finds it; rounded to fractions it is checked exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy.optimize import linprog

from gspa.algorithms import finite
from gspa.algorithms.channels import TOLERANCES
from gspa.algorithms.finite import Matrix, Mechanism, Number
from gspa.book.figures import DASHES, keeps_data, name_ends, role


def shared_parts_exist(p0: Matrix, p1: Matrix, *, ratio: Number, delta: Number) -> bool:
    """Whether eqs. (9) and (10), coefficients exchanged, have a solution: pure, and TV <= (1 - delta) tanh(eps/2)."""
    slack, variation = finite.rounding(p0, ratio), np.maximum(p0 - p1, 0).sum()
    close = finite.local_delta(np.array([p0, p1]), ratio=ratio) <= slack
    return bool(close and variation * (ratio + 1) <= (1 - delta) * (ratio - 1) + slack)


def largest_coefficient(p0: Matrix, p1: Matrix, other: Matrix, *, ratio: Number, delta: Number = 0) -> Number:
    """The largest r with `other` >= r (Q0 + Q1), for one other law or for all rows of `other`.

    With delta = 0 in closed form, exact if the numbers are. With delta > 0 the parts of the corrected eqs. (9) and (10)
    are free, and a linear program finds 1/r: a float, from HiGHS at a tolerance of 1e-10.
    """
    least = np.atleast_2d(other).min(axis=0)
    if delta == 0:
        seen = p0 + p1 > 0
        return min(least[seen] / (p0 + p1)[seen])  # type: ignore[no-any-return]
    laws = np.array([p0, p1, least, p0 + p1], dtype=float)
    p0, p1, least, both = laws[:, laws[3] > 0]  # masses are in units of both, or small cells would be rounding
    m, ratio, delta = both.size, float(ratio), float(delta)
    one, none, column, low = np.eye(m), np.zeros((m, m)), np.zeros((m, 1)), (1 - delta) / (1 + ratio)
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


def common_coefficient(m: Mechanism) -> Number:
    """The largest r of eq. (11) that serves every choice of inputs, if all users run this mechanism."""
    return min(largest_coefficient(*two, m.rows, ratio=m.ratio, delta=m.delta) for two in combinations(m.rows, 2))


class System(NamedTuple):
    """left @ masses = right in the first rows, as many as `equations`, and <= right in the others; masses >= 0."""

    left: Matrix
    right: Matrix
    equations: int
    names: tuple[str, ...]


class Certificate(NamedTuple):
    """Weights of a system's rows, the largest in size 1, and the right-hand side < 0 of their combination."""

    weights: Mapping[str, Fraction]
    value: Fraction

    @property
    def says(self) -> str:
        """The combination in words, the largest weight first."""
        text = ""
        for name, weight in sorted(self.weights.items(), key=lambda item: (-abs(item[1]), item[1] < 0)):
            text += (" − " if weight < 0 else " + ") + (name if abs(weight) == 1 else f"{abs(weight)} {name}")
        return text.removeprefix(" + ").strip()


def lemma_1_system(
    p0: Matrix,
    p1: Matrix,
    others: Mapping[str, Matrix],
    *,
    ratio: Number,
    coefficient: Number,
    delta: Number = 0,
    statement: str = "arXiv",
    outputs: Sequence[str] | None = None,
) -> System:
    """Eqs. (9) to (11) for laws of fractions, as equations for the masses of Q0, Q1 and the part(s) of weight delta.

    `others` are the laws of eq. (11), by name. Of the statements, "arXiv" has the coefficients of (9) exchanged in
    (10), and "corrected" also a part of weight delta for each input.
    """
    m, low = p0.size, (1 - delta) / (1 + Fraction(ratio))
    first, own = (ratio * low, low, delta, 0), (low, ratio * low)
    second = (*own, 0, delta) if statement == "corrected" else (*own, delta, 0)
    # Masses in the order Q0, Q1, the shared or first input's part, the second input's part; each in blocks of m.
    unit, ones = np.eye(m, dtype=int).astype(object), np.ones((1, m), dtype=int).astype(object)
    blocks = [np.kron([weights], unit) for weights in (first, second)]
    sums = np.kron(np.eye(4, dtype=int).astype(object), ones)
    names = outputs or range(m)
    return System(
        left=np.vstack([*blocks, sums, *[np.kron([(coefficient, coefficient, 0, 0)], unit)] * len(others)]),
        right=np.hstack([p0, p1, [Fraction(1)] * 4, *others.values()]),
        equations=2 * m + 4,
        names=(
            *(f"({number}) at {y}" for number in (9, 10) for y in names),
            *(rf"sum of $\mathcal{{Q}}^{part}$" for part in "01AB"),
            *(f"(11) for {x} at {y}" for x in others for y in names),
        ),
    )


def refuted_by(system: System, weights: Sequence[Fraction]) -> Fraction | None:
    """The combination's right-hand side if it proves that there is no solution; in exact arithmetic."""
    combined = np.array(weights, dtype=object)
    value = Fraction(combined.dot(system.right))
    if value >= 0 or any(w < 0 for w in weights[system.equations :]) or any(combined.dot(system.left) < 0):
        return None
    return value


def certificate(system: System, *, largest: int = 10**6) -> Certificate | None:
    """A proof that the system has no solution, denominators up to `largest`; None if none is found.

    Of all proofs with right-hand side -1, the one with the least sum of weights is taken, which uses few rows.
    """
    e, left, right = system.equations, system.left.astype(float), system.right.astype(float)
    found = linprog(
        np.ones(e + right.size),
        A_ub=-np.vstack([left[:e], -left[:e], left[e:]]).T,
        b_ub=np.zeros(left.shape[1]),
        A_eq=np.r_[right[:e], -right[:e], right[e:]][None, :],
        b_eq=[-1.0],
        bounds=(0, None),
        method="highs",
        options=TOLERANCES,
    )
    if found.status != 0:
        return None
    weights = np.r_[found.x[:e] - found.x[e : 2 * e], found.x[2 * e :]]
    exact = [Fraction(float(w)).limit_denominator(largest) for w in weights / np.abs(weights).max()]
    value = refuted_by(system, exact)
    return None if value is None else Certificate({n: w for n, w in zip(system.names, exact, strict=True) if w}, value)


class Case(NamedTuple):
    """A setting of Lemma 1: the victim's mechanism and two inputs, the others' laws of eq. (11) and its coefficient."""

    title: str
    mechanism: Mechanism
    inputs: tuple[int, int]
    others: Mapping[str, Matrix]
    claimed: Number
    statement: str = "arXiv"
    common: bool = True  # whether all users run the victim's randomizer


def cases(ratio: Number, *, delta: Fraction) -> list[Case]:
    """The smallest settings in which Lemma 1 fails, one for each way to fail, and settings in which it holds."""
    p = Fraction(ratio)
    low, half, smaller, pair = 1 / (1 + p), 1 / (2 * p), (p + 1) / 2, (0, 1)
    binary, ternary = finite.randomized_response(p), finite.randomized_response(p, k=3)
    sets, bit = finite.subset_selection(p, k=3, size=2), finite.one_bit(p)
    own, but = finite.quaternary(p, delta), finite.anything_but(p, inputs=3)
    less, less_binary = finite.randomized_response(smaller, k=3), finite.randomized_response(smaller)
    other = f"the other user's $e^\\epsilon$ {smaller} instead of {p}"
    # Two users whose reports carry their names: user 1's outputs, then user 2's.
    names = tuple(f"{y} of user {user}" for user in (1, 2) for y in (0, 1))
    named = Mechanism("", np.hstack([binary.rows, 0 * binary.rows]), p, 0, names)
    other_user = np.hstack([0 * binary.rows, binary.rows])

    def laws(mechanism: Mechanism, *inputs: int) -> dict[str, Matrix]:
        return {f"$x_{i}$": mechanism.rows[i] for i in inputs}

    return [
        Case("binary RR", binary, pair, laws(binary, 0, 1), low),
        Case("3-ary RR", ternary, pair, laws(ternary, 2), low),
        Case("subset selection, 2 of 3", sets, pair, laws(sets, 2), low),
        Case("one-bit rounding of 1, 1/2, 0", bit, (2, 1), {"$x_2 = 0$": bit.rows[0]}, low),
        Case("Lemma 4's own pair", own, pair, {}, (1 - delta) * low),
        Case(f"3-ary RR, {other}", ternary, pair, laws(less, 2), 1 / (1 + smaller), common=False),
        Case(f"binary RR, {other}", binary, pair, laws(less_binary, 0, 1), 1 / (1 + smaller), common=False),
        Case("reports that carry their sender's name", named, pair, {"$x_2$": other_user[0]}, low, common=False),
        Case(r"subset selection, 2 of 3, $r = e^{-\epsilon}/2$", sets, pair, laws(sets, 0, 1, 2), half, "corrected"),
        Case("Lemma 4's own pair", own, pair, laws(own, 0, 1), (1 - delta) * low, "corrected"),
        Case("anything but one's own, 3 inputs", but, pair, laws(but, 0, 1, 2), (1 - but.delta) * low, "corrected"),
    ]


def shares(eps: Iterable[float], *, seed: int = 2024, inputs: int = 11) -> pd.DataFrame:
    """The largest clone coefficient of pure mechanisms: mechanism; eps; share, of the claimed one; general.

    general is the share of e^-eps/2. The Laplace mechanism has so many inputs, equally spaced in [0, 1].
    """
    rows, at = [], np.linspace(0, 1, inputs).tolist()
    for e in map(float, eps):
        ratio = math.exp(e)
        built = {
            "binary RR": finite.randomized_response(ratio),
            "4-ary RR": finite.randomized_response(ratio, k=4),
            "one-bit rounding": finite.one_bit(ratio),
            f"Laplace, {inputs} inputs": finite.noise("laplace", scale=1 / e, cells=4 * inputs, ratio=ratio, inputs=at),
            "staircase noise": finite.staircase(ratio),
            "random extremal": finite.extremal(ratio, inputs=4, patterns=3, rng=seed),
            "subset selection, 2 of 3": finite.subset_selection(ratio, k=3, size=2),
        }
        for name, m in built.items():
            rows.append((name, e, float(common_coefficient(m) * (1 + ratio)), (1 + 1 / ratio) / 2))
    table = pd.DataFrame(rows, columns=["mechanism", "eps", "share", "general"])
    return table.sort_values(["mechanism", "eps"], ignore_index=True)


@keeps_data
def clone_shares(shares: pd.DataFrame) -> Figure:
    """The largest clone coefficient as a share of the claimed one against eps, a line a mechanism."""
    figure, axis = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
    reference = shares.drop_duplicates("eps").sort_values("eps")
    wide = {"lw": 5, "alpha": 0.6}
    axis.plot(reference["eps"], np.ones(len(reference)), label="claimed", **role("paper") | wide)
    axis.plot(reference["eps"], reference["general"], label="always there", **role("certified") | wide)
    for dashes, (name, line) in zip(DASHES, shares.groupby("mechanism"), strict=False):
        axis.plot(line["eps"], line["share"], label=name, **role("truth") | {"dashes": dashes or (None, None)})
    ylabel = r"largest coefficient $\times\,(1+e^\epsilon)$"
    axis.set(xlabel=r"local budget $\epsilon$", ylabel=ylabel, ylim=(0.4, 1.06))
    name_ends(axis)
    return figure

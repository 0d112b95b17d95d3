"""Exact proofs that eqs. (9) to (11) of Chen et al. 2024 have no solution: Farkas certificates in fractions.

The equations are linear in the unknown masses, which are not negative. If some combination of them leaves every mass
with a coefficient >= 0 and a right-hand side < 0, no solution exists. A linear program finds the combination in floats;
it is then rounded to fractions and checked without rounding, so that nothing rests on the program.

>>> from gspa.finite_mechanisms import subset_selection
>>> rows = subset_selection(3, k=3, size=2).rows
>>> found = certificate(lemma1(rows[0], rows[1], {"x2": rows[2]}, ratio=Fraction(3), outputs=["01", "02", "12"]))
>>> found.says
'(11) for x2 at 01 - 1/4 (9) at 01 - 1/4 (10) at 01'
>>> str(found.value)
'-1/14'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linprog

from gspa.decomposition import largest_coefficient
from gspa.dominating import TOLERANCES
from gspa.errors import InvalidValue
from gspa.finite_mechanisms import (
    Matrix,
    Mechanism,
    anything_but,
    likelihood_ratio,
    one_bit,
    quaternary,
    randomized_response,
    subset_selection,
)

Exact = NDArray[Any]  # of Fractions

_DENOMINATOR = 10**6  # largest of a multiplier; those found are small


@dataclass(frozen=True, eq=False)
class System:
    """equal @ masses = equal_to, at_most @ masses <= bound, masses >= 0; all in Fractions.

    Attributes:
        equal, equal_to: shapes (e, v) and (e,).
        at_most, bound: shapes (a, v) and (a,).
        names: of the e equations and a inequalities.
    """

    equal: Exact
    equal_to: Exact
    at_most: Exact
    bound: Exact
    names: tuple[str, ...]


@dataclass(frozen=True)
class Certificate:
    """A combination of a system's rows that no masses >= 0 satisfy.

    Attributes:
        weights: of the rows, by name; those of inequalities are >= 0. The largest in size is 1.
        value: the combination's right-hand side, < 0, while its left-hand side is >= 0.
    """

    weights: Mapping[str, Fraction]
    value: Fraction

    @property
    def says(self) -> str:
        """The combination in words, the largest weight first."""
        text = ""
        for name, weight in sorted(self.weights.items(), key=lambda item: (-abs(item[1]), item[1] < 0)):
            sign = " - " if weight < 0 else " + "
            text += sign + (name if abs(weight) == 1 else f"{abs(weight)} {name}")
        return text.removeprefix(" + ").strip()


def lemma1(
    p0: Matrix,
    p1: Matrix,
    others: Mapping[str, Matrix],
    *,
    ratio: Fraction,
    delta: Fraction = Fraction(0),
    coefficient: Fraction | None = None,
    exchanged: bool = True,
    shared: bool = True,
    outputs: Sequence[str] | None = None,
) -> System:
    """Eqs. (9) to (11) for given laws, as equations for the masses of Q0, Q1 and the part(s) of weight delta.

    Args:
        p0, p1: the victim's laws, shape (m,), of Fractions.
        others: the laws of eq. (11), by name.
        ratio: e^eps > 1 of eqs. (9) and (10).
        delta: in [0, 1).
        coefficient: of eq. (11); (1 - delta)/(1 + ratio) if None.
        exchanged: whether eq. (10) has its coefficients exchanged, as arXiv prints it; False is AAAI's, equal to (9).
        shared: whether both inputs share the part of weight delta, as printed; False gives each its own.
        outputs: names of the m outputs.

    Raises:
        InvalidValue: laws that are not of Fractions.
    """
    for name, law in {"p0": p0, "p1": p1, **others}.items():
        if law.dtype != object:
            raise InvalidValue(name, law.tolist(), "a law of Fractions", "a certificate has to be exact")
    for name, value in (("ratio", ratio), ("delta", delta), ("coefficient", 0 if coefficient is None else coefficient)):
        if not isinstance(value, int | Fraction) or isinstance(value, bool) or value < (1 if name == "ratio" else 0):
            raise InvalidValue(
                name, value, "a whole number or a Fraction in its range", "a certificate has to be exact"
            )
    if delta >= 1:
        raise InvalidValue("delta", delta, "below 1")
    ratio, delta = Fraction(ratio), Fraction(delta)
    m, nothing, one = p0.size, Fraction(0), Fraction(1)
    low = (1 - delta) / (1 + ratio)
    r = low if coefficient is None else coefficient
    names = [str(y) for y in range(m)] if outputs is None else list(outputs)
    first = (ratio * low, low, delta, nothing)
    own = (low, ratio * low) if exchanged else (ratio * low, low)
    second = (*own, delta, nothing) if shared else (*own, nothing, delta)
    # Masses in the order Q0, Q1, the shared or first input's part, the second input's part; each in blocks of m.
    unit = np.array([[one if x == y else nothing for y in range(m)] for x in range(m)])

    def at_each_output(weights: Sequence[Fraction]) -> Exact:
        return np.hstack([weight * unit for weight in weights])

    block = np.full(m, nothing), np.full(m, one)
    sums = np.array([np.hstack([block[int(part == i)] for part in range(4)]) for i in range(4)])
    return System(
        equal=np.vstack([at_each_output(first), at_each_output(second), sums]),
        equal_to=np.hstack([p0, p1, np.full(4, one)]),
        at_most=np.vstack([at_each_output((r, r, nothing, nothing)) for _ in others] or [np.empty((0, 4 * m), object)]),
        bound=np.hstack([*others.values(), np.empty(0, object)]),
        names=(
            *(f"({number}) at {y}" for number in (9, 10) for y in names),
            *(f"sum of {part}" for part in ("Q0", "Q1", "Q", "Q'")),
            *(f"(11) for {x} at {y}" for x in others for y in names),
        ),
    )


def _check(system: System, weights: Exact) -> Fraction | None:
    """The combination's right-hand side if it proves that there is no solution; in exact arithmetic."""
    e = len(system.equal_to)
    if any(w < 0 for w in weights[e:]):
        return None
    left = weights[:e].dot(system.equal) + (weights[e:].dot(system.at_most) if weights.size > e else 0)
    right = weights[:e].dot(system.equal_to) + sum(w * b for w, b in zip(weights[e:], system.bound, strict=True))
    return Fraction(right) if right < 0 and all(v >= 0 for v in left) else None


def certificate(system: System) -> Certificate | None:
    """A proof that the system has no solution, checked in fractions; None if none was found.

    None is what a solvable system gives. Of all proofs with right-hand side -1, the one with the least sum of weights
    is taken, which uses few rows.
    """
    e = len(system.equal_to)
    rows = np.vstack([system.equal, system.at_most]).astype(float)
    right = np.hstack([system.equal_to, system.bound]).astype(float)
    found = linprog(
        np.ones(e + right.size),
        A_ub=-np.vstack([rows[:e], -rows[:e], rows[e:]]).T,
        b_ub=np.zeros(rows.shape[1]),
        A_eq=np.r_[right[:e], -right[:e], right[e:]][None, :],
        b_eq=[-1.0],
        bounds=(0, None),
        method="highs",
        options=TOLERANCES,
    )
    if found.status != 0:
        return None
    weights = np.r_[found.x[:e] - found.x[e : 2 * e], found.x[2 * e :]]
    weights = weights / np.abs(weights).max()
    exact = np.array([Fraction(float(w)).limit_denominator(_DENOMINATOR) for w in weights])
    value = _check(system, exact)
    if value is None:
        return None
    return Certificate({n: w for n, w in zip(system.names, exact, strict=True) if w}, value)


@dataclass(frozen=True, eq=False)
class Case:
    """One setting in which Lemma 1 is put to the test.

    Attributes:
        title: what is tried.
        mechanism: the victim's randomizer.
        inputs: the victim's two inputs.
        others: the laws of eq. (11), by name.
        claimed: eq. (11)'s coefficient.
        statement: "AAAI" (eq. (10) equal to (9)), "arXiv" (coefficients of (10) exchanged), or "corrected" (and a part
            of weight delta for each input).
        common: whether all users run the victim's randomizer.
    """

    title: str
    mechanism: Mechanism
    inputs: tuple[int, int]
    others: Mapping[str, Matrix]
    claimed: Fraction
    statement: str = "arXiv"
    common: bool = True


def cases(ratio: int | Fraction, *, delta: Fraction) -> list[Case]:
    """The smallest settings in which Lemma 1 fails, one for each way to fail, and settings in which it holds.

    Args:
        ratio: e^eps > 1, exact.
        delta: local delta in (0, 1), exact.
    """
    p = likelihood_ratio(ratio)
    if not isinstance(p, Fraction) or not isinstance(delta, Fraction):
        raise InvalidValue("ratio, delta", (ratio, delta), "whole numbers or Fractions")
    nothing, low, smaller = Fraction(0), 1 / (1 + p), (p + 1) / 2
    binary, ternary, sets = randomized_response(p), randomized_response(p, k=3), subset_selection(p, k=3, size=2)
    bit, own, but = one_bit(p), quaternary(p, delta), anything_but(p, inputs=3)
    # Two users whose reports carry their names: user 1's outputs, then user 2's.
    named = Mechanism(
        "binary RR with a name",
        np.hstack([binary.rows, binary.rows * nothing]),
        p,
        nothing,
        ("0, user 1", "1, user 1", "0, user 2", "1, user 2"),
    )
    other_user = np.hstack([binary.rows * nothing, binary.rows])
    less = randomized_response(smaller, k=3)
    pair, corrected = (0, 1), "corrected"
    x0, x1, x2 = sets.rows
    return [
        Case("binary RR", binary, pair, {"x0": binary.rows[0], "x1": binary.rows[1]}, low),
        Case("3-ary RR", ternary, pair, {"x2": ternary.rows[2]}, low),
        Case("binary RR", binary, pair, {}, low, "AAAI"),
        Case("subset selection, 2 of 3", sets, pair, {"x2": x2}, low),
        Case("one-bit rounding of 1, 1/2, 0", bit, (2, 1), {"x2 = 0": bit.rows[0]}, low),
        Case("Lemma 4's own pair", own, pair, {}, (1 - delta) * low),
        Case(
            f"3-ary RR, the other user's e^eps {smaller} instead of {p}",
            ternary,
            pair,
            {"x2": less.rows[2]},
            1 / (1 + smaller),
            common=False,
        ),
        Case("reports that carry their sender's name", named, pair, {"x2": other_user[0]}, low, common=False),
        Case(
            "subset selection, 2 of 3, r = e^-eps/2", sets, pair, {"x0": x0, "x1": x1, "x2": x2}, 1 / (2 * p), corrected
        ),
        Case("Lemma 4's own pair", own, pair, {"x0": own.rows[0], "x1": own.rows[1]}, (1 - delta) * low, corrected),
        Case(
            "anything but one's own, 3 inputs",
            but,
            pair,
            {f"x{i}": row for i, row in enumerate(but.rows)},
            (1 - Fraction(but.delta)) * low,
            corrected,
        ),
    ]


def counterexamples(ratio: int | Fraction, *, delta: Fraction) -> pd.DataFrame:
    """Where Lemma 1 holds and where not, each failure with an exact certificate.

    Returns:
        One row a case: `case`, `statement`, `common` (one randomizer for all users), `delta`, `claimed`, `largest` (the
        largest r of eq. (11) with delta = 0; "" without eq. (11) or with delta > 0), `holds` (no certificate found),
        `contradiction` (a combination of the equations whose left-hand side is >= 0 and whose right-hand side is not;
        "" if it holds). Numbers are fractions as text.
    """
    rows = []
    for case in cases(ratio, delta=delta):
        m = case.mechanism
        p0, p1 = (m.rows[i] for i in case.inputs)
        system = lemma1(
            p0,
            p1,
            case.others,
            ratio=Fraction(m.ratio),
            delta=Fraction(m.delta),
            coefficient=case.claimed,
            exchanged=case.statement != "AAAI",
            shared=case.statement != "corrected",
            outputs=m.outputs,
        )
        found = certificate(system)
        largest = ""
        if case.others and m.delta == 0:
            largest = str(largest_coefficient(p0, p1, np.array(list(case.others.values())), ratio=m.ratio))
        rows.append(
            {
                "case": case.title,
                "statement": case.statement,
                "common": case.common,
                "delta": str(m.delta),
                "claimed": str(case.claimed),
                "largest": largest,
                "holds": found is None,
                "contradiction": "" if found is None else f"0 <= {found.says} <= {found.value}",
            }
        )
    return pd.DataFrame(rows)

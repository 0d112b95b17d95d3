"""Page 04, Lemma 1, eqs. (9) to (11): how much of every report looks like the victim's two outcomes.

With p = e^eps and no delta, eqs. (9) and (10) leave no choice: Q0 = (p P0 - P1)/(p - 1), Q1 = (p P1 - P0)/(p - 1), and
so Q0 + Q1 = P0 + P1. A law R is then at least r (Q0 + Q1) exactly if r <= min_y R(y)/(P0(y) + P1(y)):

* eq. (11)'s r = 1/(1+p) is there if and only if P0 + P1 <= (1+p) R at every output;
* r = 1/(2p) always is, for one common randomizer (Feldman, McMillan and Talwar 2021);
* a shared Q_1 of weight delta > 0 in both (9) and (10) makes P0 <= p P1: only pure mechanisms have one.

That the equations have no solution is proved by Farkas certificates in fractions. They are linear in the unknown
masses, which are not negative: if some combination of them leaves every mass with a coefficient >= 0 and a right-hand
side < 0, no solution exists. A linear program finds the combination in floats; it is then rounded to fractions and
checked without rounding, so that nothing rests on the program.

>>> rows = finite.subset_selection(3, k=3, size=2).rows
>>> str(largest_coefficient(*rows, ratio=3))  # eq. (11) claims 1/4
'1/6'
>>> found = certificate(lemma_1_system(rows[0], rows[1], {"x2": rows[2]}, ratio=3, coefficient=Fraction(1, 4)))
>>> found.says, str(found.value)
('(11) for x2 at 0 − 1/4 (9) at 0 − 1/4 (10) at 0', '-1/14')
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

from gspa.book.claims import Outcome, judge, settles
from gspa.book.figures import DASHES, PALETTE, keeps_data, name_line, role
from gspa.book.verdicts import Said, exactly, reading, unknown
from gspa.pages import finite
from gspa.pages.finite import Matrix, Mechanism, Number
from gspa.pages.p03_dominating_pairs import ROUNDING, TOLERANCES, channel_error, nearest, noise

_APART = 0.004  # shares closer than this are one line in the figure
_DENOMINATOR = 10**6  # largest of a multiplier; those found are small


# --- tables: what splits, and how many clones there are --------------------------------------------------------


def shared_parts_exist(p0: Matrix, p1: Matrix, *, ratio: Number, delta: Number) -> bool:
    """Whether eqs. (9) and (10), coefficients exchanged, hold for some Q0, Q1 and one Q_1 of weight delta.

    They do if and only if the laws are within a factor e^eps of each other and their total variation is at most
    (1 - delta)(e^eps - 1)/(e^eps + 1).
    """
    slack, variation = finite.rounding(p0, ratio), np.maximum(p0 - p1, 0).sum()
    close = finite.local_delta(np.array([p0, p1]), ratio=ratio) <= slack
    return bool(close and variation * (ratio + 1) <= (1 - delta) * (ratio - 1) + slack)


def largest_coefficient(p0: Matrix, p1: Matrix, other: Matrix, *, ratio: Number, delta: Number = 0) -> Number:
    """The largest r with `other` >= r (Q0 + Q1), for one other law or for all rows of `other`.

    With delta = 0 in closed form, exact if the numbers are. With delta > 0 the parts of the corrected eqs. (9) and (10)
    are free, and a linear program finds the best: a float, from HiGHS at a tolerance of 1e-10.
    """
    least = np.atleast_2d(other).min(axis=0)
    if delta == 0:
        seen = p0 + p1 > 0
        return min(least[seen] / (p0 + p1)[seen])  # type: ignore[no-any-return]
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


def common_coefficient(mechanism: Mechanism) -> Number:
    """The largest r of eq. (11) that serves every choice of inputs, if all users run this mechanism."""
    m = mechanism
    pairs = combinations(m.rows, 2)
    return min(largest_coefficient(p0, p1, m.rows, ratio=m.ratio, delta=m.delta) for p0, p1 in pairs)


def variation_error(mechanism: Mechanism) -> float:
    """By how much the form with a = TV/(e^eps - 1) fails for a pure mechanism, over all pairs of inputs.

    P0 = p a Q0 + a Q1 + (1 - (1+p) a) Q, P1 has Q0 and Q1 exchanged and the same Q, and every R(x) is at least
    a (Q0 + Q1): true of every pure mechanism (Wang et al. 2024).
    """
    off: list[float] = [0.0]
    for p0, p1 in combinations(mechanism.rows, 2):
        p = mechanism.ratio
        # a Q0 and a Q1 are disjoint; what is left of P0 is the same as what is left of P1.
        first, second = (np.maximum(d, 0) / (p - 1) for d in (p0 - p1, p1 - p0))
        rest = p0 - p * first - second
        off += [abs(p1 - (first + p * second + rest)).max(), -rest.min()]
        off.append(max((first + second - row).max() for row in mechanism.rows))
    return max(map(float, off))


def decompositions(mechanisms: Iterable[Mechanism]) -> pd.DataFrame:
    """Lemma 1 for every choice of inputs of each mechanism, as printed and corrected.

    Columns: mechanism; delta; repeated, eq. (10) as AAAI prints it, equal to (9), holds; shared, eqs. (9) and (10) with
    exchanged coefficients and one Q_1 do; error, largest failure of the corrected ones; largest, the r of eq. (11);
    share, of what is claimed; holds, the lemma as arXiv prints it; for pure mechanisms general, the share of
    r = e^-eps/2, and variation_error.
    """
    rows = []
    for m in mechanisms:
        pairs, budget = list(combinations(m.rows, 2)), {"ratio": m.ratio, "delta": m.delta}
        largest, claimed, pure = common_coefficient(m), (1 - m.delta) / (1 + m.ratio), m.delta == 0
        shared = all(shared_parts_exist(p0, p1, **budget) for p0, p1 in pairs)
        rows.append(
            {
                "mechanism": m.name,
                "delta": float(m.delta),
                "repeated": all(bool((p0 == p1).all()) for p0, p1 in pairs),
                "shared": shared,
                "error": max(channel_error(p0, p1, **budget) for p0, p1 in pairs),
                "largest": float(largest),
                "share": float(largest) / float(claimed),
                "holds": shared and bool(largest >= claimed * (1 if m.exact else 1 - 1e-9)),
                "general": (1 + 1 / float(m.ratio)) / 2 if pure else math.nan,
                "variation_error": variation_error(m) if pure else math.nan,
            }
        )
    return pd.DataFrame(rows)


def hull_distance(q0: Matrix, q1: Matrix, law: Matrix) -> Number:
    """Total variation of `law` from the nearest mixture of Q0 and Q1; exact if the numbers are.

    0 if some report on the outcomes 0 and 1 can be post-processed into `law`, as the paper's proof supposes.
    """
    step = q0 - q1
    # Convex and piecewise linear in the mixing weight: the least value is at a corner or an end.
    corners = [(law[y] - q1[y]) / step[y] for y in range(law.size) if step[y] != 0]
    weights = [0, 1, *(w for w in corners if 0 <= w <= 1)]
    return min(np.maximum(law - (w * q0 + (1 - w) * q1), 0).sum() for w in weights)  # type: ignore[no-any-return]


def printed_laws(ratio: Number, delta: Number) -> dict[str, Matrix]:
    """The laws of R'(x_1^0) and R'(x_1^1) in the proof of Lemma 1, over A, 0, 1, B, by text.

    AAAI's have the same masses on 0 and 1; arXiv's are Lemma 4's with A and B exchanged.
    """
    arxiv = finite.quaternary_pair(ratio, delta)[:, [3, 1, 2, 0]]
    aaai = arxiv.copy()
    aaai[0, [1, 2]] = arxiv[1, [1, 2]]
    return {"AAAI": aaai, "arXiv": arxiv}


def printed_sets(ratio: Number, delta: Number) -> dict[str, tuple[str, str]]:
    """The proof's sets L and U, by text, for the laws of Lemma 4; {0} and {1} are meant.

    >>> printed_sets(3, Fraction(1, 10))
    {'AAAI': ('{0}', '{0}'), 'arXiv': ('{0}', '{}')}
    """
    first, second = finite.quaternary_pair(ratio, delta)
    high, low = first[1], first[2]
    lower = (first == high) & (second == low)
    upper = {"AAAI": (second == low) & (first == high), "arXiv": (second == low) & (second == high)}
    letters = np.array(finite.LETTERS)
    return {
        text: ("{" + "".join(letters[lower]) + "}", "{" + "".join(letters[chosen]) + "}")
        for text, chosen in upper.items()
    }


def proof_slips(ratio: Number, delta: Number) -> dict[str, object]:
    """What the proof needs and does not have.

    distance and sets, by text: how near a channel brings the printed laws of R' to binary randomized response; L and U.
    rest: the distance of Lemma 4's two laws given an outcome outside L and U, which the proof sets to 0. hull: that of
    the third input of 3-ary randomized response from all that the outcomes 0 and 1 of the first two can be turned into.
    """
    binary, (p0, p1, p2) = finite.randomized_response(ratio).rows, finite.randomized_response(ratio, k=3).rows
    parts = (ratio * p0 - p1) / (ratio - 1), (ratio * p1 - p0) / (ratio - 1)
    given_a, given_b = (law / law.sum() for law in finite.quaternary_pair(ratio, delta)[:, [0, 3]])
    return {
        "distance": {text: nearest(laws, *binary) for text, laws in printed_laws(ratio, delta).items()},
        "sets": printed_sets(ratio, delta),
        "rest": str(np.maximum(given_a - given_b, 0).sum()),
        "hull": str(hull_distance(*parts, p2)),
    }


# --- tables: proofs in fractions ---------------------------------------------------------------------------------


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

    `others` are the laws of eq. (11), by name. Of the statements, "AAAI" has eq. (10) equal to (9), "arXiv" its
    coefficients exchanged, and "corrected" also a part of weight delta for each input.
    """
    m, low = p0.size, (1 - delta) / (1 + Fraction(ratio))
    first = (ratio * low, low, delta, 0)
    own = first[:2] if statement == "AAAI" else (low, ratio * low)
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


def certificate(system: System) -> Certificate | None:
    """A proof that the system has no solution, checked in fractions; None if none was found, as of a solvable one.

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
    weights = weights / np.abs(weights).max()
    exact = [Fraction(float(w)).limit_denominator(_DENOMINATOR) for w in weights]
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
    low, smaller, pair = 1 / (1 + p), (p + 1) / 2, (0, 1)
    binary, ternary = finite.randomized_response(p), finite.randomized_response(p, k=3)
    sets, bit = finite.subset_selection(p, k=3, size=2), finite.one_bit(p)
    own, but = finite.quaternary(p, delta), finite.anything_but(p, inputs=3)
    less, less_binary = finite.randomized_response(smaller, k=3), finite.randomized_response(smaller)
    # Two users whose reports carry their names: user 1's outputs, then user 2's.
    names = tuple(f"{y} of user {user}" for user in (1, 2) for y in (0, 1))
    named = Mechanism("", np.hstack([binary.rows, 0 * binary.rows]), p, 0, names)
    other_user = np.hstack([0 * binary.rows, binary.rows])

    def laws(mechanism: Mechanism, *inputs: int) -> dict[str, Matrix]:
        return {f"$x_{i}$": mechanism.rows[i] for i in inputs}

    return [
        Case("binary RR", binary, pair, laws(binary, 0, 1), low),
        Case("3-ary RR", ternary, pair, laws(ternary, 2), low),
        Case("binary RR", binary, pair, {}, low, "AAAI"),
        Case("subset selection, 2 of 3", sets, pair, laws(sets, 2), low),
        Case("one-bit rounding of 1, 1/2, 0", bit, (2, 1), {"$x_2 = 0$": bit.rows[0]}, low),
        Case("Lemma 4's own pair", own, pair, {}, (1 - delta) * low),
        Case(
            f"3-ary RR, the other user's $e^\\epsilon$ {smaller} instead of {p}",
            ternary,
            pair,
            laws(less, 2),
            1 / (1 + smaller),
            common=False,
        ),
        Case(
            f"binary RR, the other user's $e^\\epsilon$ {smaller} instead of {p}",
            binary,
            pair,
            laws(less_binary, 0, 1),
            1 / (1 + smaller),
            common=False,
        ),
        Case("reports that carry their sender's name", named, pair, {"$x_2$": other_user[0]}, low, common=False),
        Case(
            r"subset selection, 2 of 3, $r = e^{-\epsilon}/2$",
            sets,
            pair,
            laws(sets, 0, 1, 2),
            1 / (2 * p),
            "corrected",
        ),
        Case("Lemma 4's own pair", own, pair, laws(own, 0, 1), (1 - delta) * low, "corrected"),
        Case("anything but one's own, 3 inputs", but, pair, laws(but, 0, 1, 2), (1 - but.delta) * low, "corrected"),
    ]


def counterexamples(ratio: Number, *, delta: Fraction) -> pd.DataFrame:
    """Where Lemma 1 holds and where not, each failure with an exact certificate; numbers are fractions as text.

    Columns: case, statement, common, delta, claimed; largest, the r of eq. (11) with delta = 0, "" without eq. (11) or
    with delta > 0; holds, no certificate found; contradiction, a combination of the equations whose left-hand side is
    >= 0 and whose right-hand side is not, "" if it holds.
    """
    rows = []
    for case in cases(ratio, delta=delta):
        m, (p0, p1) = case.mechanism, case.mechanism.rows[list(case.inputs)]
        budget = {"ratio": m.ratio, "delta": m.delta, "coefficient": case.claimed}
        system = lemma_1_system(p0, p1, case.others, **budget, statement=case.statement, outputs=m.outputs)
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
                "contradiction": "" if found is None else rf"$0 \leq$ {found.says} $\leq {found.value}$",
            }
        )
    return pd.DataFrame(rows)


# --- figures -----------------------------------------------------------------------------------------------


def shares(eps: Iterable[float], *, seed: int = 2024, inputs: int = 11) -> pd.DataFrame:
    """The largest clone coefficient of pure mechanisms: mechanism; eps; share, of the claimed one; general.

    general is the share of e^-eps/2. The Laplace mechanism has so many inputs, equally spaced in [0, 1].
    """
    rows = []
    at = np.linspace(0, 1, inputs).tolist()
    for e in map(float, eps):
        ratio = math.exp(e)
        built = {
            "binary RR": finite.randomized_response(ratio),
            "4-ary RR": finite.randomized_response(ratio, k=4),
            "one-bit rounding": finite.one_bit(ratio),
            f"Laplace, {inputs} inputs": noise("laplace", scale=1 / e, cells=4 * inputs, ratio=ratio, inputs=at),
            "staircase noise": finite.staircase(ratio),
            "random extremal": finite.extremal(ratio, inputs=4, patterns=3, rng=seed),
            "subset selection, 2 of 3": finite.subset_selection(ratio, k=3, size=2),
        }
        for name, m in built.items():
            share = float(common_coefficient(m) * (1 + ratio))
            rows.append({"mechanism": name, "eps": e, "share": share, "general": (1 + 1 / ratio) / 2})
    return pd.DataFrame(rows).sort_values(["mechanism", "eps"], ignore_index=True)


@keeps_data
def clone_shares(shares: pd.DataFrame) -> Figure:
    """The largest clone coefficient as a share of the claimed one against eps, a line a mechanism."""
    figure, axis = plt.subplots(figsize=(7, 4.8), layout="constrained")
    reference = shares.drop_duplicates("eps").sort_values("eps")
    wide = {"lw": 5, "alpha": 0.6}
    axis.plot(reference["eps"], np.ones(len(reference)), label="claimed", **role("paper") | wide)
    axis.plot(reference["eps"], reference["general"], label="always there", **role("certified") | wide)
    middle, end = reference.iloc[len(reference) // 2], float(reference["eps"].iloc[-1])
    for words, y, up, what in (
        (r"claimed: $1/(1+e^\epsilon)$", 1.0, 11, "paper"),
        (r"every pure mechanism: $e^{-\epsilon}/2$", float(middle["general"]), -24, "certified"),
    ):
        name_line(axis, float(middle["eps"]), y, words, colour=str(role(what)["color"]), right=-20, up=up)
    lines = shares.pivot(index="eps", columns="mechanism", values="share")
    alike: list[list[str]] = []  # mechanisms whose lines coincide
    for name in lines:
        same = [group for group in alike if (lines[group[0]] - lines[name]).abs().max() < _APART]
        same[0].append(str(name)) if same else alike.append([str(name)])
    lowest = -math.inf
    for dashes, group in zip(DASHES, sorted(alike, key=lambda names: lines[names[0]].iloc[-1]), strict=False):
        for name in group:
            axis.plot(lines.index, lines[name], label=name, **role("truth") | {"dashes": dashes or (None, None)})
        lowest = max(lowest + 0.026 * (1 + len(group)), float(lines[group[0]].iloc[-1]))
        name_line(axis, end, lowest, "\n".join(group), colour=PALETTE[0])
        lowest += 0.026 * (len(group) - 1)
    axis.set(
        xlabel=r"local budget $\epsilon$", ylabel=r"largest coefficient $\times\,(1+e^\epsilon)$", ylim=(0.4, 1.06)
    )
    return figure


# --- checks ------------------------------------------------------------------------------------------------


def _contradictions(table: pd.DataFrame, cases: pd.DataFrame) -> list[str]:
    """What this run says twice and differently."""
    said = []
    compared = cases[cases["largest"] != ""]
    enough = compared["largest"].map(Fraction) >= compared["claimed"].map(Fraction)
    if (enough != compared["holds"]).any():
        said.append("the closed form and a certificate disagree")
    split = cases[(cases["statement"] == "corrected") & (cases["case"] == "Lemma 4's own pair")]
    if table["error"].max() > ROUNDING or not split["holds"].all():
        said.append("the corrected eqs. (9) and (10) fail")
    pure = table[table["delta"] == 0]
    if (pure["share"] < pure["general"] - ROUNDING).any() or pure["variation_error"].max() > ROUNDING:
        said.append("a coefficient that is proved for every pure mechanism fails")
    return said


@settles("G-L1")
def lemma_1(table: pd.DataFrame, cases: pd.DataFrame, slips: Mapping[str, Mapping[str, object]]) -> Outcome:
    """Eqs. (9) to (11) as linear equations: over a gallery, and the smallest failures with exact certificates."""
    pure, approximate = table[table["delta"] == 0], table[table["delta"] > 0]
    bad, bad_approximate = pure[~pure["holds"]], approximate[~approximate["holds"]]
    evidence: dict[str, object] = {
        "pure mechanisms that split as claimed": "; ".join(pure.loc[pure["holds"], "mechanism"]) or "none",
    }
    if len(bad):
        evidence["those that do not, with their share of the claimed coefficient"] = "; ".join(
            f"{name}: {share:.3f}" for name, share in zip(bad["mechanism"], bad["share"], strict=True)
        )
    for row in cases.itertuples():
        label = f"{row.case!s} ({row.statement!s})"
        evidence[label] = "no contradiction" if row.holds else str(row.contradiction)
        if row.largest:
            evidence[f"{label}: largest coefficient"] = f"{row.largest!s}, claimed {row.claimed!s}"
    for text, distance in slips["distance"].items():
        label = rf"proof, {text}'s laws of $\mathcal{{R}}'$: distance that any channel leaves to binary RR"
        evidence[label] = distance
        evidence[f"proof, $L$ and $U$ by {text}'s conditions"] = ", ".join(slips["sets"][text])  # type: ignore[arg-type]
    evidence[r"proof, $\mathcal{W}_1$: distance of its two laws"] = slips["rest"]
    evidence[r"proof, 3-ary RR: $\mathcal{R}(x_2)$ from the nearest post-processing of outcomes 0 and 1"] = slips[
        "hull"
    ]
    solved, found = int(approximate["shared"].sum()), approximate["share"]
    least = float((pure["share"] / pure["general"]).min())
    evidence |= {
        r"mechanisms with $\delta > 0$ for which (9) and (10) hold": f"{solved} of {len(approximate)}",
        r"corrected: largest error of (9) and (10), own part of weight $\delta$ each": float(table["error"].max()),
        r"corrected: least of (largest coefficient) / ($e^{-\epsilon}/2$), pure": least,
        r"corrected: largest error of the form with $a = \mathrm{TV}/(e^\epsilon - 1)$, pure": float(
            pure["variation_error"].max()
        ),
        r"corrected: clone coefficients / claimed, $\delta > 0$": f"{found.min():.3f} to {found.max():.3f}",
    }
    if twice := _contradictions(table, cases):
        wrong: Said = {"not checkable": f"This run contradicts itself: {'; '.join(twice)}."}
        return judge("G-L1", evidence, reading("as printed", unknown(), wrong))
    arxiv = cases[cases["statement"] == "arXiv"]
    failing = arxiv[(arxiv["delta"] == "0") & ~arxiv["holds"]]
    proved = failing[failing["common"]]
    exact = f" For {proved['case'].iloc[0]} this is proved in fractions." if len(proved) else ""
    fails = (
        f"Of {len(pure)} pure mechanisms, each used by all users, {len(bad)} have no decomposition with the "
        rf"coefficient of eq. (11).{exact} With $\delta > 0$, eqs. (9) and (10) have no solution for "
        f"{len(approximate) - solved} of {len(approximate)} mechanisms. "
    )
    if not (len(bad) or len(proved) or len(bad_approximate)):
        fails = "It holds for every mechanism tried, once the coefficients of eq. (10) are exchanged. "
    common: Said = {
        "verified": f"It holds for all {len(table)} mechanisms tried.",
        "holds with correction": lambda: (
            fails + r"This holds instead, at every pair of inputs with $\epsilon > 0$: each "
            r"input has a part of weight $\delta$ of its own; every pure randomizer has the coefficient "
            r"$e^{-\epsilon}/2$; and binary and $k$-ary randomized response with one budget have the claimed one."
        ),
        "refuted": lambda: fails + "No pure mechanism tried has the claimed coefficient.",
    }
    true = not (len(bad) or len(proved) or len(bad_approximate)) and bool(table["repeated"].all())
    readings = [
        reading(
            "one randomizer for all users: $i$ is the step",
            exactly(true, near=bool(pure["holds"].any())),
            common,
            correction=_CORRECTED,
        )
    ]
    different = arxiv[~arxiv["common"]]
    if len(different):
        lost = "; ".join(different.loc[~different["holds"], "case"])
        own: Said = {
            "verified": "It holds for all pairs of randomizers tried.",
            "holds with correction": "The coefficient depends on both randomizers. "
            f"The claimed one does not exist for: {lost or 'none of those tried'}. For binary randomized response with "
            "two budgets it does.",
            "refuted": f"The claimed coefficient does not exist for any pair tried: {lost}.",
        }
        holds = different["holds"]
        parts = bool(
            approximate["shared"].all() and table["repeated"].all()
        )  # eqs. (9) and (10), whoever the others are
        verdict = exactly(parts and bool(holds.all()), near=bool(holds.any()))
        readings.append(reading("a randomizer for each user: $i$ is the user", verdict, own, correction=_OWN))
    return judge("G-L1", evidence, *readings)


_CORRECTED = (
    r"At every pair of inputs of the victim with $\epsilon_1 > 0$, eqs. (9) and (10) with their coefficients exchanged "
    r"hold with $\delta_1 \mathcal{Q}^A$ in one and $\delta_1 \mathcal{Q}^B$ in the other. Eq. (11) holds with the "
    r"largest coefficient $r_j$ for which $\mathcal{R}_j(x) \geq r_j (\mathcal{Q}_1^0 + \mathcal{Q}_1^1)$ for all $x$; "
    r"it depends on that pair. For one common pure randomizer $r_j \geq e^{-\epsilon}/2$. It is "
    r"$1/(1+e^{\epsilon_j})$ for binary randomized response with any budgets and for $k$-ary with one."
)
_OWN = r"the same; $r_j$ then belongs to the victim's randomizer and user $j$'s together, and may be 0."

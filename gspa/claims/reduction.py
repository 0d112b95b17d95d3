"""Checks of Definition 6 and Theorem 1: exact enumeration of small shuffled processes."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pandas as pd

from gspa import reduction as r
from gspa import reduction_cases as rc
from gspa.claims.checks import settles
from gspa.claims.outcome import Outcome

_USERS = {"paper": 3, "quick": 2}
_NONE = Fraction(0)


def _distance(first: dict[r.History, Fraction], second: dict[r.History, Fraction]) -> Fraction:
    """Total variation of two laws on output vectors."""
    keys = {*first, *second}
    return sum((abs(first.get(z, _NONE) - second.get(z, _NONE)) for z in keys), start=_NONE) / 2


@settles("G-D6")
def definition(*, profile: str = "paper", ratio: int = 4, small: int = 1) -> Outcome:
    """Definition 6 executed: a law, blind to the order of the data, of randomizers that are what they should be."""
    budgets = (Fraction(small), Fraction(ratio), Fraction(ratio))
    own, equal = ([r.subset_selection(2, 1, p) for p in some] for some in (budgets, budgets[-1:] * 3))
    data = (0, 0, 1)
    laws = {order: r.shuffled_law(own, [data[i] for i in order]) for order in permutations(range(3))}
    law = laws[0, 1, 2]
    total = sum(law.values(), start=_NONE)
    moved = max(_distance(law, other) for other in laws.values())
    local = max(r.local_excess(rows, p) for rows, p in zip(own, budgets, strict=True))
    apart = {
        name: _distance(r.shuffled_law(some, data), r.shuffled_law(some, data, attached="user"))
        for name, some in (("equal", equal), ("own", own))
    }
    evidence = {
        f"e^eps of the three steps, binary randomized response, data {data}": ", ".join(map(str, budgets)),
        "probabilities of all output vectors, sum": str(total),
        "largest delta of a step at its own eps": str(local),
        "distance of the output laws when the data are reordered": str(moved),
        "distance from user-attached shuffling (Algorithms 1 to 3), equal budgets": str(apart["equal"]),
        "distance from user-attached shuffling, own budgets": str(apart["own"]),
    }
    if total != 1 or moved != 0 or local > 0:
        return Outcome("G-D6", "refuted", "What the definition describes is no shuffled local process here.", evidence)
    return Outcome(
        "G-D6",
        "verified",
        "The process is executable: its probabilities sum to 1 and do not depend on the order of the data. It is what "
        f"the algorithms run if all randomizers are equal (distance {apart['equal']}), and something else if they are "
        + (f"not (total variation {apart['own']} here)." if apart["own"] else "not; here all are equal."),
        evidence,
    )


def _numbers(row: pd.Series) -> str:
    delta, printed, corrected, at = (rc.short(row[name]) for name in ("shuffled", "pair", "corrected", "at"))
    return f"delta {delta}, printed pair {printed}, corrected {corrected}, at e^eps = {at}"


@settles("G-T1")
def theorem(
    *,
    profile: str = "paper",
    table: pd.DataFrame | None = None,
    ratio: int = 4,
    small: int = 1,
    delta: Fraction = _NONE,
) -> Outcome:
    """Every small process against the printed pair and the corrected one.

    Args:
        profile: number of users of the processes, unless `table` is given.
        table: from `gspa.reduction_cases.table`.
        ratio: e^eps of the user whose term of V is added up, and of the victim in the lines of the proof.
        small: e^eps of another user there.
        delta: that user's local delta.
    """
    table = rc.table(rc.cases(ratio=ratio, small=small, n=_USERS[profile])) if table is None else table
    copy = r.printed_clones(Fraction(ratio), delta)
    printed_sum = 2 * copy + delta
    broken = table[table["excess"] > 0]
    kept = table[table["excess"] <= 0]
    worst = max(table["corrected_excess"])
    evidence: dict[str, object] = {
        f"V as the AAAI text prints it, probabilities of one term at e^eps = {ratio}, sum": str(printed_sum),
        "processes enumerated": len(table),
    }
    for line in rc.proof_slips(ratio=ratio, small=small).itertuples():
        evidence[f"proof, {line.line}"] = f"printed {line.printed}, needed {line.needed}"
    for _, row in table.iterrows():
        what = "exceeds the pair" if row["excess"] > 0 else "within the pair"
        evidence[f"{row['reports']}, by {row['attached']}, e^eps {row['budgets']}: {what}"] = _numbers(row)
    evidence["largest excess over the corrected pair, all processes"] = str(worst)
    if worst > 0:
        return Outcome(
            "G-T1",
            "refuted",
            f"{len(broken)} of {len(table)} processes exceed the printed pair, and one exceeds the corrected pair too.",
            evidence,
        )
    if broken.empty and printed_sum == 1:
        return Outcome("G-T1", "verified", f"None of {len(table)} processes exceeds the pair.", evidence)
    if kept.empty:
        return Outcome("G-T1", "refuted", f"All of {len(table)} processes exceed the pair.", evidence)
    where = f"{len(broken)} of {len(table)} processes leak more than the printed pair"
    if not broken.empty:
        most = rc.worst_of(table)
        where += (
            f", the most {most['reports']} by {most['attached']} with e^eps {most['budgets']}: delta "
            f"{rc.short(most['shuffled'])} against {rc.short(most['pair'])} at e^eps = {rc.short(most['at'])}"
        )
    return Outcome(
        "G-T1",
        "holds with correction",
        f"{where}. As the AAAI text prints it, V is no distribution either: its probabilities sum to {printed_sum}. "
        f"The other {len(kept)} stay within the pair.",
        evidence,
        correction=r"Let $r_j$ be the largest number for which $R_j(x) \geq r_j (Q^0 + Q^1)$ for all $x$, with "
        r"$Q^0, Q^1$ the victim's parts in (9), corrected. Reports of users who keep their randomizers are a "
        r"post-processing of the pair with $V = \sum_j \mathrm{MultiBern}(r_j, r_j, 1 - 2 r_j)$ and $\Delta_2$ split "
        r"into two outcomes that tell the datasets apart. So is Definition 6's process with $\delta_i = 0$, if every "
        r"step is taken at the largest $\epsilon_i$ and with the least $r$. $(1-\delta_j)/(1+e^{\epsilon_j})$ is such "
        r"an $r_j$ for binary randomized response.",
    )

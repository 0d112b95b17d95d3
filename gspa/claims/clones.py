"""Checks of the blog's eqs. (1) to (3)."""

from __future__ import annotations

import math

import pandas as pd

from gspa import clones
from gspa.claims.checks import settles
from gspa.claims.outcome import Outcome, not_yet
from gspa.claims.registry import claim

DELTA = 1e-6
LOCAL = (0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0)
SIZES = (100, 10_000, 1_000_000, 100_000_000)
DIRECTION = (0.5, 10_000)  # eps_L, n
NEEDED = (4.0, 6.0, 8.0)
_QUICK = {"local": (0.1, 1.0, 4.0), "sizes": (100, 10_000, 1_000_000)}
IMPROVED = (10_000, 1_000_000, 10**10)  # users at which the improvement for small eps_L is compared
MUCH = 10.0  # the least that "much larger" can mean


def _tolerance(name: str) -> float:
    return float((claim(name).tolerance or {})["relative"])


@settles("B-1")
def equation_one(
    *,
    profile: str = "paper",
    table: pd.DataFrame | None = None,
    printed: pd.DataFrame | None = None,
    needed: pd.DataFrame | None = None,
) -> Outcome:
    """Eq. (1) read as printed, read with the inequality turned, and without a number in its condition.

    Args:
        profile: "quick" takes fewer points.
        table: from `clones.regimes`.
        printed: from `clones.direction`, the share 0 among others.
        needed: from `clones.users_needed`.
    """
    quick = profile == "quick"
    if table is None:
        local, sizes = (_QUICK["local"], _QUICK["sizes"]) if quick else (LOCAL, SIZES)
        table = clones.regimes(local, [int(n) for n in sizes], delta=DELTA)
    example = ""
    if printed is None:
        printed = clones.direction(DIRECTION[0], n=DIRECTION[1], delta=DELTA)
        example = f", eps_L = {DIRECTION[0]:g}, n = {DIRECTION[1]:,}, delta = {DELTA:g}"
    needed = clones.users_needed(NEEDED[:2] if quick else NEEDED, delta=DELTA) if needed is None else needed
    valid = table[table["valid"]]
    if valid.empty:
        return not_yet("B-1", missing="size", reason="No point of this run meets the theorem's condition on n.")
    least, most = float(valid["loose"].min()), float(valid["loose"].max())
    over_source = float((valid["blog"] / valid["source"]).min())
    zero, failing = printed.iloc[0], needed[needed["n"] > 0]
    evidence: dict[str, object] = {
        f"eps = 0 satisfies the printed inequality; exact delta of randomized response there, over delta{example}": (
            zero["times"]
        ),
        f"the same at eps = the right-hand side ({printed['eps'].iloc[-1]:.4f})": printed["times"].iloc[-1],
        f"eq. (1) over the certified eps, any common randomizer, {len(valid)} points in the condition": (
            f"{least:.2f} to {most:.2f}"
        ),
        "eq. (1) over Theorem 3.1 of its source, smallest there": over_source,
    }
    for row in failing.to_dict("records"):
        evidence[
            f"eps_L = {row['eps_local']:g}, n = {row['n']:,} = {row['constant']:.2f} e^eps_L log(1/delta): "
            "exact eps; eq. (1)"
        ] = f"{row['exact']:.3f}; {row['blog']:.3f}"
    if min(least, over_source) < 1:
        return Outcome("B-1", "refuted", f"Eq. (1) is below what is certified, by a factor {least:.3f}.", evidence)
    turned = bool((printed["times"].iloc[:-1] > 1).any())
    limit = float(failing["constant"].max()) if len(failing) else 0.0
    right = f"The formula is right, {least:.1f} to {most:.1f} times the certified eps"
    condition = (
        f'"n much larger than" has no number: with {limit:.2f} e^eps_L log(1/delta) users eq. (1) is false for '
        "randomized response, the source asks for 16"
        if limit
        else "eq. (1) holds at every n tried"
    )
    if not turned and limit < MUCH:
        return Outcome("B-1", "verified", f"{right}; {condition}.", evidence)
    faults = []
    if turned:
        wrong = printed[printed["times"] > 1].iloc[0]
        faults.append(
            f"the inequality is printed the wrong way round (eps = {wrong['eps']:.3g} satisfies it, where the exact "
            f"delta is {wrong['times']:.3g} times the one promised)"
        )
    if limit >= MUCH:
        faults.append("its condition is too weak")
    return Outcome(
        "B-1",
        "holds with correction",
        f"{right}; but {' and '.join(faults)}. As to the condition, {condition}.",
        evidence,
        correction=r"$(\epsilon, \delta)$-shuffle private for every "
        r"$\epsilon \ge \log(1 + 16 \frac{e^{\epsilon_L}-1}{e^{\epsilon_L}+1} \sqrt{e^{\epsilon_L}\log(4/\delta)/n})$, "
        r"if $n \ge 16 e^{\epsilon_L} \log(2/\delta)$.",
    )


def _row(table: pd.DataFrame, formula: str) -> pd.DataFrame:
    return table[table["formula"] == formula]


@settles("B-2")
def small_budgets(
    *, profile: str = "paper", table: pd.DataFrame | None = None, improved: pd.DataFrame | None = None
) -> Outcome:
    """The expansion for small eps_L over eq. (1), and the improvement over sqrt(n).

    Args:
        profile: no difference.
        table: from `clones.expansions`.
        improved: from `clones.improvement` with the table's delta and eps_L.
    """
    table = clones.expansions(DELTA) if table is None else table
    tolerance, row = _tolerance("B-2"), _row(table, "small").iloc[0]
    if improved is None:
        improved = clones.improvement(float(row["eps_local"]), IMPROVED, delta=float(row["delta"]))
    users = 64 * math.log(4 / row["delta"])
    evidence = {
        f"8 eps_L sqrt(log(4/delta)/n) over eq. (1), eps_L = {row['eps_local']:g}, n = {row['n']:,}": row["over_blog"],
        "the same over Theorem 3.1 of its source, whose constant is 4": row["over_source"],
        f"users from which it is below eps_L at all, 64 log(4/delta), delta = {row['delta']:g}": math.ceil(users),
        **{
            f"eps_L over eq. (1), n = {line['n']:,}; over sqrt(n); over sqrt(n)/(8 sqrt(log(4/delta)))": (
                f"{line['factor']:.4g}; {line['over_root']:.4f}; {line['over_scaled']:.4f}"
            )
            for line in improved.to_dict("records")
        },
        "tolerance": tolerance,
    }
    if abs(row["over_blog"] - 1) > tolerance:
        reason = f"The expansion is {row['over_blog']:.3f} times eq. (1) at eps_L = {row['eps_local']:g}."
        return Outcome("B-2", "refuted", reason, evidence)
    expansion = f"The expansion is {row['over_blog']:.4f} times eq. (1) at eps_L = {row['eps_local']:g}"
    if bool(((improved["over_root"] - 1).abs() <= tolerance).all()):
        return Outcome("B-2", "verified", f"{expansion}, and the improvement is sqrt(n).", evidence)
    first = improved.iloc[0]
    apart = f"not sqrt(n) but {first['factor']:.3g} with {first['n']:,.0f} users"
    if bool(((improved["over_scaled"] - 1).abs() <= tolerance).all()):
        return Outcome(
            "B-2",
            "holds with correction",
            f"{expansion}. But the improvement is {apart}: it grows like sqrt(n), and there is none below "
            f"{users:,.0f} users.",
            evidence,
            correction=r"for small $\epsilon_L$ shuffling improves $\epsilon$ by a factor "
            r"$\sqrt{n}/(8\sqrt{\log(4/\delta)})$, if $n > 64 \log(4/\delta)$.",
        )
    return Outcome("B-2", "refuted", f"{expansion}, but the improvement is {apart}.", evidence)


@settles("B-3")
def large_budgets(*, profile: str = "paper", table: pd.DataFrame | None = None) -> Outcome:
    """Eqs. (2) and (3) over eq. (1), which they are said to expand, and over its source.

    Args:
        profile: no difference.
        table: from `clones.expansions`.
    """
    table = clones.expansions(DELTA) if table is None else table
    tolerance = _tolerance("B-3")
    two, three = _row(table, "large"), _row(table, "linear").iloc[0]
    edge, far = two.iloc[0], two.iloc[-1]
    edge_linear = edge["u"] * edge["over_blog"] / math.log1p(edge["u"] * edge["over_blog"])
    evidence = {
        f"e^eps - 1 of eq. (2) over that of eq. (1), eps_L = {far['eps_local']:g}, n = {far['n']:.3g}": far[
            "over_blog"
        ],
        "the same over that of Theorem 3.1 of its source": far["over_source"],
        f"the same at the theorem's least n, {edge['n']:,}": edge["over_source"],
        f"eq. (3) over eq. (1) at n = {three['n']:.3g}": three["over_blog"],
        "eq. (3) over Theorem 3.1": three["over_source"],
        "eq. (3) over eq. (2) at the theorem's least n": edge_linear,
        "tolerance": tolerance,
    }
    if max(abs(far["over_blog"] - 1), abs(three["over_blog"] - 1)) <= tolerance:
        return Outcome("B-3", "verified", "Eqs. (2) and (3) are the expansions of eq. (1).", evidence)
    if max(abs(far["over_source"] - 1), abs(three["over_source"] - 1)) <= tolerance:
        return Outcome(
            "B-3",
            "holds with correction",
            f"Not expansions of eq. (1), of which they are {far['over_blog']:.3f} times: tanh(eps_L/2) tends to 1, "
            f"and 16 stays. "
            f"They expand Theorem 3.1 of its source (quotient {far['over_source']:.4f}). At its least n eq. (3) is "
            f"{edge_linear:.2f} times eq. (2).",
            evidence,
            correction=r"eq. (1) tends to $\log(1 + 16\sqrt{e^{\epsilon_L}\log(4/\delta)/n})$; the constant 8 is that "
            r"of Theorem 3.1 of the source. (3) follows from (2) where $n \gg 64\, e^{\epsilon_L} \log(4/\delta)$.",
        )
    return Outcome("B-3", "refuted", "Eqs. (2) and (3) expand neither eq. (1) nor its source.", evidence)

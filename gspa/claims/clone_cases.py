"""Checks of what the blog says in words: different randomizers, messages, malicious users, pure DP."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pandas as pd

from gspa import clone_cases, clones
from gspa.claims.checks import settles
from gspa.claims.outcome import Outcome, not_yet

RATIO = Fraction(3)  # e^eps_L of the small crowds
DELTA = 1e-6
MALICIOUS = (1_000, 10_000, 1_000_000)  # users in the examples of footnote 2


@settles("B-4")
def different_randomizers(*, profile: str = "paper", table: pd.DataFrame | None = None) -> Outcome:
    """Messages that carry their sender's number: still LDP, and shuffling gives nothing.

    Args:
        profile: no difference.
        table: from `clone_cases.senders`, at least two users in some row.
    """
    table = clone_cases.senders(RATIO, sizes=(2, 3, 4)) if table is None else table
    last = table.iloc[-1]
    evidence = {
        "delta(0) of one report alone, e^eps_L = 3": str(last["local"]),
        **{
            f"delta(0), {row['n']} users, messages with the sender's number": str(row["signed"])
            for row in table.to_dict("records")
        },
        f"the same without the number, {last['n']} users": str(last["plain"]),
        f"without, and the other {last['n'] - 1} users' e^eps halfway to 1": str(last["own"]),
        "how far the numbered randomizers are from eps_L-LDP": str(max(table["excess"])),
    }
    useless = bool((table["signed"] == table["local"]).all())
    if useless and max(table["excess"]) <= 0 and last["plain"] < last["local"]:
        other = "is" if last["own"] < last["local"] else "is not"
        return Outcome(
            "B-4",
            "verified",
            f"With the sender's number on each message delta(0) stays {last['local']}, by enumeration for up to "
            f"{last['n']} users: the shuffler's permutation can be undone. That is one family; binary response with "
            f"budgets that differ {other} amplified.",
            evidence,
        )
    return Outcome("B-4", "refuted", "Shuffling improves the example, or the example is not LDP.", evidence)


@settles("B-5")
def one_message(
    *, profile: str = "paper", found: Mapping[str, Any] | None = None, bit: tuple[int, float] | None = None
) -> Outcome:
    """The messages before and after the shuffler.

    Args:
        profile: no difference.
        found: from `clone_cases.messages`.
        bit: from `clone_cases.one_bit` with k = 16.
    """
    if found is None:
        found = clone_cases.messages(k=64, eps=2.0, n=1_000, seed=0)
    directions, gap = clone_cases.one_bit(k=16, ratio=3.0) if bit is None else bit
    evidence: dict[str, object] = {
        "messages a user": found["per_user"],
        "bits a message before, after": [found["bits_before"], found["bits_after"]],
        "the messages received are those sent": found["same_messages"],
        "every possible outcome has one message a user, from the same alphabet": found["alphabet"],
        "one-bit reports of one common randomizer, k = 16: directions of p they depend on, of 15": directions,
        "the same: largest difference of a report's law under two p of disjoint support": gap,
    }
    kept = found["same_messages"] and found["alphabet"] and found["per_user"] == 1
    if kept and found["bits_after"] <= found["bits_before"]:
        return Outcome(
            "B-5",
            "verified",
            "The messages are permuted and nothing else. Not every protocol can be shuffled, though: one-bit protocols "
            "for more than two items ask different users different questions, and one common bit tells "
            f"{directions} of 15 directions of p.",
            evidence,
        )
    return Outcome("B-5", "refuted", "The shuffler changed the messages.", evidence)


@settles("B-6")
def malicious_users(
    *, profile: str = "paper", small: pd.DataFrame | None = None, large: pd.DataFrame | None = None
) -> Outcome:
    """Every behaviour tried in a small crowd, exact, and the price of 10% in large ones.

    Args:
        profile: "quick" leaves out the largest crowd.
        small: from `clone_cases.deviations`.
        large: from `clones.malicious`.
    """
    small = clone_cases.deviations(RATIO, n=4, bad=1, at=Fraction(3, 2)) if small is None else small
    if large is None:
        sizes = MALICIOUS[: 2 if profile == "quick" else 3]
        large = clones.malicious(1.0, sizes=sizes, share=0.1, delta=DELTA)
    worst = max(small["delta"])
    honest = small["honest_only"].iloc[0]
    evidence: dict[str, object] = {
        "delta(log 3/2) with 3 honest users and nobody else": str(honest),
        **{f"the same beside one who sends {row['behaviour']}": str(row["delta"]) for row in small.to_dict("records")},
    }
    large = large[large["any_all"] > 0]  # elsewhere delta is so large that eps is 0, with or without the malicious
    if large.empty:
        return not_yet("B-6", missing="size", reason="At this delta every crowd of the run has eps = 0.")
    for row in large.to_dict("records"):
        evidence[f"n = {row['n']:,}: eps with the {row['honest']:,} honest over eps with n, certified; eq. (1)"] = (
            f"{row['any_honest'] / row['any_all']:.4f}; {row['blog_honest'] / row['blog_all']:.4f}"
        )
    below = bool((large["any_honest"] <= large["blog_honest"])[large["valid"]].all())
    if worst > honest or not below:
        return Outcome(
            "B-6", "refuted", f"Beside malicious users delta reaches {worst}, with the honest alone {honest}.", evidence
        )
    final = large.iloc[-1]
    price, share = float(final["any_honest"] / final["any_all"]), float(final["honest"] / final["n"])
    matched = ", and some do as much" if worst == honest else ""
    return Outcome(
        "B-6",
        "verified",
        f"Of what {len(small)} kinds of malicious users do, nothing reveals more than their leaving{matched}. With "
        f"{final['n']:,} users, {1 - share:.0%} of them malicious, eps grows by a factor {price:.3f} "
        f"(1/sqrt({share:.3g}) is {share**-0.5:.3f}). The condition on n must hold for the honest.",
        evidence,
    )


@settles("B-7")
def inherently_approximate(
    *, profile: str = "paper", ratios: pd.DataFrame | None = None, floors: pd.DataFrame | None = None
) -> Outcome:
    """The least pure guarantee by enumeration, and delta just below eps_L for many users.

    Args:
        profile: "quick" enumerates two users only.
        ratios: from `clone_cases.pure_ratios`.
        floors: from `clones.pure`.
    """
    if ratios is None:
        ratios = clone_cases.pure_ratios(RATIO, sizes=(1, 2) if profile == "quick" else (1, 2, 3))
    floors = clones.pure(1.0, (10, 100, 1_000, 10_000)) if floors is None else floors
    evidence: dict[str, object] = {
        f"{row['reports']}, {row['n']} user(s): least e^eps of a pure guarantee, e^eps_L = {row['local']}": str(
            row["shuffled"]
        )
        for row in ratios.to_dict("records")
    }
    for row in floors.to_dict("records"):
        evidence[f"randomized response, n = {row['n']:,}: log10 delta(0.99 eps_L), at least"] = row["log10_floor"]
    kept = all(row["shuffled"] is None or row["shuffled"] >= row["local"] for row in ratios.to_dict("records"))
    positive = bool((floors["log10_floor"] > -math.inf).all())
    if kept and positive:
        return Outcome(
            "B-7",
            "verified",
            f"The least pure guarantee is eps_L itself at every n up to {max(ratios['n'])}, shuffled or not, and delta "
            f"just below eps_L is above 0 up to {max(floors['n']):,} users. The remark that approximate LDP can be "
            "shuffled too is not examined.",
            evidence,
        )
    return Outcome("B-7", "refuted", "A shuffled protocol has a better pure guarantee than its reports.", evidence)

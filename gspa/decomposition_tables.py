"""Lemma 1 over many mechanisms, as tidy tables: what splits as claimed, and how many clones there are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pandas as pd

from gspa import _validate as check
from gspa.decomposition import (
    claimed,
    printed_table,
    shared_parts_exist,
    variation_coefficient,
    variation_error,
    worst_case,
)
from gspa.dominating import channel_error, nearest
from gspa.finite_mechanisms import (
    Mechanism,
    Number,
    extremal,
    one_bit,
    randomized_response,
    staircase,
    subset_selection,
)
from gspa.gallery import noise


def holds_as_arxiv_prints(mechanism: Mechanism) -> bool:
    """Lemma 1 as arXiv prints it, eq. (10) with exchanged coefficients, for one common randomizer.

    True if for every two inputs of the victim eqs. (9) and (10) hold with one shared Q_1 of weight delta, and eq. (11)
    holds for every other input with the claimed coefficient.
    """
    budget = {"ratio": mechanism.ratio, "delta": mechanism.delta}
    if not all(shared_parts_exist(p0, p1, **budget) for p0, p1 in combinations(mechanism.rows, 2)):
        return False
    slack = 0 if mechanism.exact else 1e-9
    return bool(worst_case(mechanism).coefficient >= claimed(mechanism) * (1 - slack))


def decompositions(mechanisms: Iterable[Mechanism]) -> pd.DataFrame:
    """Lemma 1 for every choice of inputs of each mechanism, as printed and corrected.

    Returns:
        One row a mechanism: `mechanism`, `inputs`, `eps`, `delta`, `repeated` (eq. (10) as AAAI prints it, equal to
        (9), holds for every two inputs), `shared` (eqs. (9) and (10) with exchanged coefficients and one Q_1 do),
        `error` (largest failure of the corrected eqs. (9) and (10), a part of weight delta for each input), `largest`
        (the largest r of eq. (11) for one common randomizer), `claimed`, `share` (largest over claimed), `holds` (the
        lemma as arXiv prints it), and for pure mechanisms `general` (share of r = e^-eps/2), `variation` (share of
        a = TV/(e^eps - 1)) and `variation_error` (NaN for others).
    """
    rows = []
    for m in mechanisms:
        pairs = list(combinations(m.rows, 2))
        budget = {"ratio": m.ratio, "delta": m.delta}
        largest, wanted, pure = float(worst_case(m).coefficient), float(claimed(m)), m.delta == 0
        rows.append(
            {
                "mechanism": m.name,
                "inputs": len(m.rows),
                "eps": m.eps,
                "delta": float(m.delta),
                "repeated": all(bool((p0 == p1).all()) for p0, p1 in pairs),
                "shared": all(shared_parts_exist(p0, p1, **budget) for p0, p1 in pairs),
                "error": max(channel_error(p0, p1, **budget) for p0, p1 in pairs),
                "largest": largest,
                "claimed": wanted,
                "share": largest / wanted,
                "holds": holds_as_arxiv_prints(m),
                "general": (1 + 1 / float(m.ratio)) / 2 if pure else math.nan,
                "variation": float(variation_coefficient(m)) / wanted if pure else math.nan,
                "variation_error": variation_error(m) if pure else math.nan,
            }
        )
    return pd.DataFrame(rows)


def proof_distance(ratio: Number, delta: Number, *, text: str) -> float:
    """How near any channel brings the proof's laws of R' to binary randomized response: 0 if they dominate it.

    Args:
        ratio: e^eps > 1.
        delta: in [0, 1).
        text: "aaai" or "arxiv", see `gspa.decomposition.printed_table`.
    """
    p0, p1 = randomized_response(ratio).rows
    return nearest(printed_table(ratio, delta, text=text), p0, p1)


def shares(eps: Iterable[float], *, seed: int = 2024, inputs: int = 11) -> pd.DataFrame:
    """The largest clone coefficient over the claimed one, against eps, for pure mechanisms.

    Args:
        eps: each > 0.
        seed: of a random extremal mechanism.
        inputs: of the Laplace mechanism, equally spaced in [0, 1].

    Returns:
        One row a point: `mechanism`, `eps`, `share` (1 is what the lemma claims) and `general`, the share of e^-eps/2.
    """
    rows: list[dict[str, object]] = []
    inputs = check.count(2, inputs=inputs)
    for e in check.numbers(1e-9, 30, eps=eps):
        ratio = math.exp(e)
        built = [
            ("binary RR", randomized_response(ratio)),
            ("4-ary RR", randomized_response(ratio, k=4)),
            ("one-bit rounding", one_bit(ratio)),
            (
                f"Laplace, {inputs} inputs",
                noise("laplace", scale=1 / e, cells=4 * inputs, ratio=ratio, inputs=np.linspace(0, 1, inputs).tolist()),
            ),
            ("staircase noise", staircase(ratio)),
            ("random extremal", extremal(ratio, inputs=4, patterns=3, rng=seed)),
            ("subset selection, 2 of 3", subset_selection(ratio, k=3, size=2)),
        ]
        for name, m in built:
            share = float(worst_case(m).coefficient * (1 + ratio))
            rows.append({"mechanism": name, "eps": float(e), "share": share, "general": (1 + 1 / ratio) / 2})
    return pd.DataFrame(rows).sort_values(["mechanism", "eps"], ignore_index=True)

"""Page 16, what FLAME says beside its printed differences: the order of Figure 5, and SS-Topk's indices."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gspa.algorithms.flame.federated import initial_weights, local_updates
from gspa.book.claims import Outcome, judge, settles
from gspa.book.verdicts import Said, exactly, joined, ranked, reading, shown
from gspa.pages.p16_flame_certified import DOUBLE, SIMPLE, TOPK
from gspa.pages.p16_flame_training import (
    DP,
    DP_MORE,
    LDP,
    LDP_LAPLACE,
    NP,
    Found,
    Paper,
    dealt_to,
    five,
    told,
    tolerance_of,
)


def different_indices(data: str, paper: Paper, *, users: int, seed: int) -> NDArray[np.bool_]:
    """Of the first batch: whether a user's k largest coordinates are others than the next user's."""
    held = dealt_to(data, users)
    start = initial_weights(held.x.shape[2], held.classes, seed)
    batch = slice(0, users // paper.training.batches)
    updates = local_updates(held.x[batch], held.y[batch], start, paper.training)
    top = np.argpartition(np.abs(updates), updates.shape[1] - paper.k, axis=1)[:, -paper.k :]
    top.sort(axis=1)
    different: NDArray[np.bool_] = (top != np.roll(top, -1, axis=0)).any(axis=1)
    return different


@settles("E16")
def order_of_figure_5(found: Found) -> Outcome:
    """The order that the text gives to the lines of Figure 5."""
    lines = [five(label) for label in (NP, DP_MORE, TOPK, DP, DOUBLE, SIMPLE)]
    pairs = [*pairwise(lines), *((five(SIMPLE), five(one)) for one in (LDP, LDP_LAPLACE))]
    if not_ready := found.unready("E16", *(line for pair in pairs for line in pair)):
        return not_ready
    gaps = {
        f"{above.label} less {below.label}": found.gap(above, below, tolerance_of("E16", "confidence"))
        for above, below in pairs
    }
    evidence = {f"{name} (points)": str(gap) for name, gap in gaps.items()}
    least = min(gaps, key=lambda name: gaps[name].low)
    text = f"The smallest of the differences, {least}, is {gaps[least]} points."
    verdict = joined(*(ranked(one.low, one.high) for one in gaps.values()))
    return judge("E16", evidence, reading("each at the budget that the text states", verdict, told(text)))


@settles("Q9")
def no_guarantee(differs: NDArray[np.bool_]) -> Outcome:
    """What the k largest indices themselves guarantee, and the values under seal: `different_indices`."""
    different = float(differs.mean())
    evidence = {"pairs of users whose $k$ largest coordinates differ": different}
    said: Said = {
        "verified": "No two users report different indices.",
        "refuted": "The indices are a function of the update. Where two users' indices differ, one set has probability "
        "1 for the one and 0 for the other, so that $\\delta$ = 1 at every $\\epsilon$. This is so for "
        f"{100 * different:.1f}% of pairs.",
    }
    return judge(
        "Q9",
        evidence,
        reading(
            "a guarantee for the values, which the shuffler does not see",
            shown(),
            told(
                "The sentence grants that the shuffler sees the indices, and all else that it gets is sealed. "
                "If it cannot open what is sealed, which is assumed, two updates with the same $k$ largest coordinates "
                "look alike to it: $\\delta$ = 0 at every $\\epsilon$. The indices alone tell two users apart in "
                f"{100 * different:.1f}% of pairs."
            ),
        ),
        reading("a guarantee for the whole update, indices included", exactly(different == 0), said),
    )

"""Clones among blankets: reports that ignore their input hide a victim's "neither".

With probability o_j user j's report is drawn from one law N whatever the input (uniform, for k-ary
randomized response), and with probability `coin` such a report is one of the victim's two outcomes. The
victim too draws from N unless it tells the truth. The number M of others who drew from N is revealed,
who they are is not: given M, C ~ Bin(M, coin), and a victim that drew "neither" from N is one of the
other M + 1 - m reports. This is the privacy blanket (Balle et al. 2019) with two counts.

>>> law = blanket_law(np.array([0.5]), np.array([0.5]), np.array([2.0]), coin=0.5)
>>> law.upper.clones.tolist()  # M = 0, 1, 2, and C = 0..M
[0.0, 0.0, 0.0, 1.0, 1.0, 2.0]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gspa.clone_law import DEPTH, CloneLaw, clone_law

Array = NDArray[np.float64]

ENTRIES = 24_000  # pairs of blocks that a bound is summed over


class Entries(NamedTuple):
    """Masses g = P(C = c, revealed), each with the ratio P(C = c+1, revealed)/g; shape (m,), c increasing."""

    clones: Array
    ratio: Array
    mass: Array


@dataclass(frozen=True, eq=False)
class BlanketLaw:
    """What to sum for an upper bound, a lower bound, and a guess.

    Attributes:
        upper: at least as revealing as the truth; tails and allowances included.
        lower: at most.
        sample: neither, few and accurate.
        mean: E[C].
    """

    upper: Entries
    lower: Entries
    sample: Entries
    mean: float


def _ratio(count: Array, blankets: float, odds: float) -> Array:
    """P(C = c+1)/P(C = c) for C ~ Bin(blankets, coin); at most 0 beyond the end."""
    return np.maximum(blankets - count, 0.0) / (count + 1) * odds


def _upper(law: CloneLaw, blankets: float, odds: float, weight: float) -> Entries:
    first, last = law.edges[:-1], law.edges[1:] - 1
    # The ratio falls with c, and a smaller one betrays more.
    start = _ratio(first[:1], blankets, odds)
    count = np.r_[0.0, law.far, first, law.edges[-1]]
    ratio = np.r_[start, start, _ratio(last, blankets, odds), 0.0]
    mass = np.r_[law.far_mass, law.below, law.mass + law.error, law.above]
    return Entries(count, ratio, weight * mass)


def _lower(law: CloneLaw, blankets: float, odds: float, weight: float) -> Entries:
    first = law.edges[:-1]
    count = np.where(np.diff(law.edges) == 1, first, law.edges[1:])
    return Entries(count, _ratio(first, blankets, odds), weight * np.maximum(law.mass - law.error, 0.0))


def _sample(law: CloneLaw, blankets: float, odds: float, weight: float) -> Entries:
    few = law.sample(60)
    return Entries(few.edges[:-1], _ratio(few.edges[:-1], blankets, odds), weight * few.mass)


def _together(parts: list[Entries]) -> Entries:
    count, ratio, mass = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    kept = np.flatnonzero(mass > 0)
    order = kept[np.argsort(count[kept], kind="stable")]
    return Entries(count[order], ratio[order], mass[order])


def blanket_law(
    q: Array,
    rest: Array,
    count: Array,
    *,
    coin: float,
    depth: float = DEPTH,
    slope: float = 0.0,
    entries: int = ENTRIES,
) -> BlanketLaw:
    """The law of (M, C), M the sum of independent Bernoulli(q_j), group j taken count[j] times.

    More blankets hide better (one more report from N can always be added), so blocks of M bound from
    both sides, as blocks of C do. The wider the blocks, the wider the interval: about 1e-4 relative in
    eps for a million users, none for few.

    Args:
        q: shape (g,), probabilities of a blanket.
        rest: shape (g,), 1 - q to full relative accuracy.
        count: shape (g,), whole numbers >= 0.
        coin: in (0, 1), the probability that a blanket report is one of the two outcomes.
        depth: masses of e^-depth are treated as lost.
        slope: <= 0, about d log(what is averaged)/dC.
        entries: about how many pairs of blocks.
    """
    odds = coin / (1 - coin)
    outer = clone_law(q, rest, count, depth=depth, slope=slope * coin)

    def inner(blankets: float) -> CloneLaw:
        one = np.ones(1)
        return clone_law(coin * one, (1 - coin) * one, blankets * one, depth=depth, above=depth)

    middle = inner(max(float(round(outer.mean)), 0.0))
    wide, deep = outer.mass.size, middle.mass.size
    if wide * deep > entries or outer.edges[1] - outer.edges[0] > 1:
        # Equal relative widths of the blocks of M and of C.
        share = (outer.edges[-1] - outer.edges[0]) / max(outer.mean, 1.0)
        own = (middle.edges[-1] - middle.edges[0]) / max(middle.mean, 1.0)
        outer_blocks = int(min(wide, max(8.0, math.sqrt(entries * share / own))))
        inner_blocks = int(max(entries // outer_blocks, 8))
    else:
        outer_blocks, inner_blocks = wide, entries  # all by themselves
    blocks = outer.merged(outer_blocks)
    laws = [inner(float(m)) for m in blocks.edges]
    merged = [law.merged(inner_blocks) if law.mass.size > inner_blocks else law for law in laws]
    unit = np.diff(blocks.edges) == 1
    above, below = [], []
    for j, (mass, error) in enumerate(zip(blocks.mass, blocks.error, strict=True)):
        above.append(_upper(merged[j], blocks.edges[j], odds, mass + error))
        k = j if unit[j] else j + 1
        below.append(_lower(merged[k], blocks.edges[k], odds, max(mass - error, 0.0)))
    above.append(_upper(merged[-1], blocks.edges[-1], odds, blocks.above))
    if blocks.below > 0:
        far = inner(blocks.far)
        above.append(_upper(far.merged(inner_blocks), blocks.far, odds, blocks.below))
    above.append(Entries(np.zeros(1), np.zeros(1), np.array([blocks.far_mass])))
    few = outer.sample(25)
    some = [_sample(inner(float(m)), m, odds, mass) for m, mass in zip(few.edges[:-1], few.mass, strict=True)]
    return BlanketLaw(_together(above), _together(below), _together(some), outer.mean * coin)

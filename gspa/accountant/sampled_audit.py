"""Lower bounds from samples alone: simulate both worlds, choose a test on one half, count its errors on the other.

An (eps, delta)-DP mechanism has P0(S) <= e^eps P1(S) + delta for every event S, so a test that fires in world 0
with probability p and in world 1 with probability q refutes every eps < log((p - delta)/q). Of n runs of each
world, the binomial counts bound p from below and q from above (Clopper and Pearson 1934), each with half
of the error probability. The test is chosen on other samples, so the bounds need no correction for the choice.

No law of a statistic is needed, only a simulator; the price is resolution: a gap of eps needs about 1/eps^2 hits.

>>> from gspa.accountant import budgets, attacks as histograms
>>> worlds = histograms.randomized_response(budgets.constant(3.0, n=20))
>>> sampled_epsilon(worlds, delta=1e-3, samples=20_000, rng=1).lower > 0.5
True
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta

from gspa.accountant import arguments as check
from gspa.accountant.attacks import Whole, Worlds
from gspa.accountant.bound import Bound
from gspa.accountant.errors import InvalidValue

Array = NDArray[np.float64]
Seed = np.random.Generator | int

_SHARES = np.r_[np.geomspace(1e-4, 0.4, 24), 0.5, 0.65, 0.8, 0.95]  # of world 0 that a tried test accepts


class Chosen(NamedTuple):
    """Fires where sign * (histogram @ score) >= threshold; `first` is the world that it should fire in."""

    name: str
    score: Whole
    sign: int
    threshold: int
    first: int

    def hits(self, drawn: Whole) -> int:
        """How many of the histograms it fires on."""
        return int((self.sign * (drawn @ self.score) >= self.threshold).sum())


def certified_gap(hits: ArrayLike, alarms: ArrayLike, *, runs: int, delta: float, confidence: float) -> Array:
    """Lower confidence bound on log((p - delta)/q), and so on eps, from binomial counts; at least 0.

    Implements Clopper and Pearson 1934, one side for p and one for q, each with error (1 - confidence)/2.

    Args:
        hits: how often the test fired in the world where it should, of `runs`.
        alarms: how often in the other world, of `runs`.
        runs: >= 1.
        delta: in [0, 1).
        confidence: in (0, 1).

    >>> certified_gap([1000, 10], [0, 10], runs=1000, delta=0.0, confidence=0.95).round(2)
    array([5.6, 0. ])
    """
    runs, delta = check.count(runs=runs), check.probability(delta=delta)
    some = (1 - check.probability(allow_zero=False, confidence=confidence)) / 2
    k, m = check.array_in(0, runs, hits=hits), check.array_in(0, runs, alarms=alarms)
    if k.shape != m.shape:
        raise InvalidValue("shape of alarms", m.shape, f"that of hits, {k.shape}")
    low = np.where(k > 0, beta.ppf(some, np.maximum(k, 1), runs - k + 1), 0.0)
    high = np.where(m < runs, beta.isf(some, m + 1, np.maximum(runs - m, 1)), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.maximum(np.where(low > delta, np.log((low - delta) / high), 0.0), 0.0))


def choose(worlds: Worlds, drawn: tuple[Whole, Whole], *, delta: float, confidence: float) -> Chosen:
    """The test whose `certified_gap` would be largest on these samples, of all scores, thresholds and directions."""
    runs = len(drawn[0])
    best: tuple[float, Chosen] | None = None
    for name, score in worlds.scores():
        sums = [np.sort(histograms @ score) for histograms in drawn]
        for first in (0, 1):
            for sign in (1, -1):
                ordered, other = ((s if sign > 0 else -s[::-1]) for s in (sums[first], sums[1 - first]))
                cuts = np.unique(ordered[np.maximum(runs - 1 - (_SHARES * runs).astype(np.intp), 0)])
                hits, alarms = (runs - np.searchsorted(s, cuts, side="left") for s in (ordered, other))
                gaps = certified_gap(hits, alarms, runs=runs, delta=delta, confidence=confidence)
                i = int(np.argmax(gaps))
                if best is None or gaps[i] > best[0]:
                    best = float(gaps[i]), Chosen(name, score, sign, int(cuts[i]), first)
    assert best is not None
    return best[1]


def sampled_epsilon(
    worlds: Worlds, *, delta: float, samples: int = 100_000, confidence: float = 0.95, rng: Seed
) -> Bound:
    """An eps that simulated runs refute with the stated confidence; `upper` is infinite.

    `lower` exceeds the mechanism's own eps with probability at most 1 - confidence, over the samples.

    Args:
        worlds: from `gspa.accountant.attacks`.
        delta: in (0, 1).
        samples: runs of each world, >= 4; half of them choose the test, the other half count its errors.
        confidence: in (0, 1).
        rng: a generator or a seed; the same seed gives the same bound.

    Raises:
        InvalidValue: an argument out of range.
    """
    delta = check.probability(allow_zero=False, delta=delta)
    half = check.count(4, samples=samples) // 2
    confidence = check.probability(allow_zero=False, confidence=confidence)
    generator = check.rng(rng)
    test = choose(
        worlds,
        (worlds.sample(0, half, generator), worlds.sample(1, half, generator)),
        delta=delta,
        confidence=confidence,
    )
    hits = test.hits(worlds.sample(test.first, half, generator))
    alarms = test.hits(worlds.sample(1 - test.first, half, generator))
    lower = float(certified_gap(hits, alarms, runs=half, delta=delta, confidence=confidence))
    note = f"confidence {confidence:g}; {test.name}: {hits:,} hits and {alarms:,} false alarms in {half:,} runs each"
    return Bound(
        *(lower, lower, math.inf, "sampled attack", worlds.what), delta=delta, n=worlds.n, note=note, reached=True
    )

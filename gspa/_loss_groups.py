"""Blocks of counts for the privacy loss: who hides among how many, with which truth, how often."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gspa.accountant import Problem
from gspa.clone_law import CloneLaw, clone_law

Array = NDArray[np.float64]

_BLOCK = 1e-4  # counts that differ by this, relatively, are treated as one
_ATOMS = 3e6  # about as many outcomes are looked at
_OUTER = 300  # blocks of numbers of blankets, at most


class Groups(NamedTuple):
    """Counts that stand for blocks of counts, with the blocks' masses; shape (g,) each."""

    clones: Array  # how many
    truth: Array  # T
    lie: Array  # 1 - T, to full accuracy
    mass: Array
    missing: float  # upper bound on the mass that is in no group and does not have loss 0


def groups_of(problem: Problem, depth: float, above: bool) -> Groups:
    """Blocks by their first count (above) or their last (below): clones only help.

    Above, what is in no group is `missing` or has loss 0. Below, it can be given loss 0.
    """
    victim = problem.victim
    full = math.tanh(victim.eps / 2)
    lie = 2 * math.exp(-victim.eps) / (1 + math.exp(-victim.eps))
    if problem.coin is not None:
        clones, lost, mass, missing = _blankets(problem, depth, above)  # lost = full - T
    else:
        law = problem.law(depth=depth)
        assert isinstance(law, CloneLaw)
        clones, mass, missing = _plain(law, depth, above)
        mass, lost = victim.seen * mass, np.zeros(mass.size)
    used = mass > 0
    return Groups(clones[used], full - lost[used], lie + lost[used], mass[used], missing)


def _plain(law: CloneLaw, depth: float, above: bool) -> tuple[Array, Array, float]:
    first, last = law.edges[:-1], law.edges[1:] - 1
    mass = law.mass + law.error if above else np.maximum(law.mass - law.error, 0.0)
    middle, width = float(first[0] + last[-1]) / 2 + 1, float(last[0] - first[0] + 1)
    window = math.sqrt(2 * depth * middle)
    block = max(_BLOCK * float(first[0]), (float(last[-1]) - float(first[0])) * window / _ATOMS)
    starts = np.arange(0, mass.size, max(1, int(block / width)))
    ends = np.r_[starts[1:], mass.size] - 1
    mass = np.add.reduceat(mass, starts)
    if not above:
        return last[ends], mass, 0.0
    return np.r_[first[starts], law.far, law.edges[-1]], np.r_[mass, law.below, law.above], law.far_mass


def _blankets(problem: Problem, depth: float, above: bool) -> tuple[Array, Array, Array, float]:
    """Counts, tanh(eps_n/2) - T, masses, and missing mass, for a victim hidden by blankets.

    Given M blankets, C ~ Bin(M, coin), and P(C = c+1) = ratio P(C = c); see `gspa.blankets`. A smaller
    ratio betrays more; mass that is not counted with it says nothing. For one count, a pair of truth T
    becomes two that have it as their mean (above: which of them is revealed), or several become one of
    their mean truth (below: it is forgotten which).
    """
    assert problem.coin is not None
    victim, coin, one = problem.victim, problem.coin, np.ones(1)
    full, odds = math.tanh(victim.eps / 2), coin / (1 - coin)
    outer = clone_law(problem.q, problem.rest, problem.count, depth=depth).merged(_OUTER)
    first, last = outer.edges[:-1], outer.edges[1:] - 1
    weight = outer.mass + outer.error if above else np.maximum(outer.mass - outer.error, 0.0)
    blankets, missing = first if above else last, 0.0
    if above:
        blankets, weight = np.r_[first, outer.far, outer.edges[-1]], np.r_[weight, outer.below, outer.above]
        missing = outer.far_mass
    parts, extra = [], [0.0, math.inf]  # mass and least count of what is outside the inner windows
    for m, share in zip(blankets.tolist(), weight.tolist(), strict=True):
        if share == 0:
            continue
        law = clone_law(coin * one, (1 - coin) * one, m * one, depth=depth, above=depth)
        start, end = law.edges[:-1], law.edges[1:] - 1
        low, high = (np.maximum(m - c, 0.0) / (c + 1) * (odds * victim.hidden / victim.seen) for c in (end, start))
        mass = share * (law.mass + law.error if above else np.maximum(law.mass - law.error, 0.0))
        seen = mass * victim.seen * (1 + low)
        hidden = low if above else high
        parts.append(np.stack([start if above else end, full * hidden / (1 + hidden), seen]))
        if above and law.below + law.above > 0:
            extra = [extra[0] + share * (law.below + law.above), min(extra[1], law.far)]
        missing += share * law.far_mass if above else 0.0
    clones, lost, mass = np.concatenate(parts, axis=1)
    clones, lost, mass = _pooled(clones, lost, mass, depth, above)
    if above and extra[0] > 0:
        clones, lost, mass = np.r_[clones, extra[1]], np.r_[lost, 0.0], np.r_[mass, extra[0]]
    return clones, lost, mass, missing


def _pooled(clones: Array, lost: Array, mass: Array, depth: float, above: bool) -> tuple[Array, Array, Array]:
    """Nearby counts as one, and for each a few truths."""
    window = math.sqrt(2 * depth * (float(clones.max()) + 1))
    if clones.size * min(window, float(clones.max()) + 2) < _ATOMS / 10:
        return clones, lost, mass
    least = float(clones.min())
    block = max(1.0, math.floor(_BLOCK * least))
    row = np.floor((clones - least) / block)
    rows = int(row.max()) + 1
    bins = int(min(max(_ATOMS / rows / window, 8), 512))
    low, high = float(lost.min()), float(lost.max())
    at = (lost - low) * (bins / (high - low)) if high > low else np.zeros(lost.size)
    cell = np.minimum(np.floor(at), bins - 1)
    key, size = (row * (bins + 1) + cell).astype(np.intp), rows * (bins + 1)
    if above:
        part = mass * (at - cell)
        total = np.asarray(np.bincount(key, mass - part, size) + np.bincount(key + 1, part, size), dtype=np.float64)
        value = np.tile(low + (high - low) / bins * np.arange(bins + 1), rows)
    else:
        total = np.asarray(np.bincount(key, mass, size), dtype=np.float64)
        value = np.bincount(key, mass * lost, size) / np.where(total > 0, total, 1.0)
    count = np.repeat(least + block * np.arange(rows) + (0.0 if above else block - 1), bins + 1)
    used = total > 0
    return count[used], value[used], total[used]

"""Random settings of random allocation in bulk: what is certified against the truth, from both sides.

`python tests/redteam/dealt_settings.py` fights them all and prints how close truth and claims came.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import dealt
import numpy as np

import gspa


def allocation_epsilon(*, delta, **run):
    return gspa.epsilon(delta=delta, mechanism=gspa.Allocation(**run))


def allocation_delta(*, eps, **run):
    return gspa.delta(at_eps=eps, mechanism=gspa.Allocation(**run))


class Duel(NamedTuple):
    """delta at the claimed upper eps (or delta) and at the lower one, over the claim: at most 1, and at least 1."""

    below: float
    above: float
    width: float
    setting: str


def _log(rng, low, high):
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))


def _drawn(rng, steps, shifts):
    direction = str(rng.choice(["remove", "add", "replace"]))
    sensitivity = _log(rng, 0.1, 10) if rng.random() < 0.3 else 1.0
    sigma = sensitivity / _log(rng, *shifts)
    asked = {"sigma": sigma, "steps": steps, "direction": direction, "sensitivity": sensitivity}
    return asked, dealt.steps(direction, sensitivity / sigma, steps)


def _duel(rng, asked, one, below, above):
    """By the eps at a delta, or by the delta at an eps."""
    if rng.random() < 0.6:
        delta = _log(rng, 1e-12, 0.3)
        found = allocation_epsilon(**asked, delta=delta)
        low, high = delta, delta
        ends = found.upper, found.lower
    else:
        eps = _log(rng, 1e-3, 1.5) * min(1.0, 3 / math.sqrt(one.t)) * (abs(one.u - one.v) + (one.u - one.v) ** 2 / 2)
        found = allocation_delta(**asked, eps=eps)
        low, high = found.upper, found.lower
        ends = eps, eps
    beaten = below(one, ends[0]) / low if low > 0 else 0.0
    # At eps = 0 nothing is claimed from below, nor where delta = 0.
    kept = above(one, ends[1]) / high if high > 0 and (ends[1] > 0) else math.inf
    return Duel(beaten, kept, found.relative_width, f"{asked} claimed {found.lower!r} {found.upper!r} at {low!r}")


def few(rng, most):
    """Two or three steps, where the truth is known."""
    asked, one = _drawn(rng, int(rng.integers(2, 4)), (0.02, min(5.0, most)))
    return _duel(rng, asked, one, dealt.exact, dealt.exact)


def many(rng, most):
    """Any number of steps: an attack below the truth, a law spread out above it."""
    asked, one = _drawn(rng, round(_log(rng, 2, 1e6)), (0.02, min(3.0, most)))
    return _duel(rng, asked, one, dealt.below, dealt.above)


def subsets(rng, most):
    """k of a few steps, all choices alike, against k blocks."""
    k, t = ((2, 3), (3, 3), (2, 4), (3, 4), (1, 3))[int(rng.integers(5))]
    asked, one = _drawn(rng, t, (0.05, min(2.0, most)))
    delta = _log(rng, 1e-4, 0.2)
    found = allocation_epsilon(**asked, k=k, delta=delta)
    beaten = dealt.subsets(one, k, found.upper, cells=100 if t == 3 else 32) / delta
    return Duel(beaten, math.inf, found.relative_width, f"{asked} k {k} delta {delta!r} claimed {found.upper!r}")


def epochs(rng, most):
    """Several epochs, each attacked by its own likelihood ratio."""
    asked, one = _drawn(rng, round(_log(rng, 2, 300)), (0.05, min(1.0, most)))
    times, delta = round(_log(rng, 2, 100)), _log(rng, 1e-9, 0.1)
    found = allocation_epsilon(**asked, epochs=times, delta=delta)
    text = f"{asked} epochs {times} delta {delta!r} claimed {found.lower!r} {found.upper!r}"
    beaten = dealt.epochs_below(one, times, found.upper) / delta
    # Where it is the likelihood ratio's the attack is near the truth; `ALMOST` says how far below 1 it may be.
    near = asked["direction"] != "replace" and found.lower > 0
    kept = dealt.epochs_below(one, times, found.lower) / delta if near else math.inf
    return Duel(beaten, kept, found.relative_width, text)


# Relative: the quadrature's error; what the attack on epochs may lose.
EXACTLY, ALMOST = 1e-7, 0.01
FAMILIES = {
    # name: (how to draw a setting, how many the full suite fights, allowance above 1, allowance below 1)
    "two or three steps": (few, 400, EXACTLY, EXACTLY),
    "many steps": (many, 400, 0.0, 0.0),
    "k of t steps": (subsets, 100, 0.0, 0.0),
    "epochs": (epochs, 80, 0.0, ALMOST),
}


def fight(name, seed, most=math.inf):
    """The duel of one setting, with shifts up to `most`; large ones take long."""
    return FAMILIES[name][0](np.random.default_rng([len(name), seed]), most)


def lost(name, duel):
    """Whether a claim is wrong."""
    _, _, high, low = FAMILIES[name]
    return not (duel.below <= 1 + high and duel.above >= 1 - low)


def main():
    """Every family: the closest from either side, and the widths."""
    print("family | settings | broken | greatest truth/upper | least truth/lower | width: median, greatest")
    for name, (_, number, _, _) in FAMILIES.items():
        duels = [fight(name, seed) for seed in range(number)]
        broken = [duel for duel in duels if lost(name, duel)]
        widths = np.array([duel.width for duel in duels])
        high, low = max(duel.below for duel in duels), min(duel.above for duel in duels)
        print(
            f"{name} | {number} | {len(broken)} | {high:.9f} | {low:.9f} | {np.median(widths):.2g}, {widths.max():.2g}"
        )
        for duel in broken:
            print("  ", duel)


if __name__ == "__main__":
    main()

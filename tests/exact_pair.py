"""The dominating pair by enumeration, with mpmath numbers: the outside value of several tests."""

from __future__ import annotations

from itertools import product

import mpmath
from exact_shuffle import histograms

from gspa.accountant.pair import AtomTable


def pair_law(problem):
    """{what is seen: [P0, P1]} of a Problem with few users, user by user; what is seen are numbers of draws."""
    q = [mpmath.mpf(float(x)) for x, times in zip(problem.q, problem.count, strict=True) for _ in range(int(times))]
    victim = problem.victim
    if isinstance(victim, AtomTable):
        base = [mpmath.mpf(float(x)) for x in victim.base]
        sent = [
            [mpmath.mpf(float(b * x)) for b, x in zip(victim.base, v, strict=True)]
            for v in (victim.first, victim.second)
        ]
        revealed = mpmath.mpf(0)
    else:
        low = mpmath.mpf(victim.low)
        high = low * mpmath.exp(victim.eps)
        base, sent, revealed = [mpmath.mpf(0.5)] * 2, [[high, low], [low, high]], 1 - high - low
    # What anybody may send: nothing that counts, one of the atoms, or what only the victim sends.
    rows = [[1 - each, *(each * share for share in base), 0] for each in q]
    crowd = histograms(rows, {(0,) * (len(base) + 2): mpmath.mpf(1)})
    first, second = (histograms([[0, *one, revealed]], crowd) for one in sent)
    return {seen: [mass, second.get(seen, 0)] for seen, mass in first.items() if mass > 1e-30}


def losses(pair):
    """{loss: P0-mass}; losses within 1e-10 are one."""
    out = {}
    for p0, p1 in pair.values():
        loss = mpmath.log(p0 / p1)
        entry = out.setdefault(int(mpmath.nint(loss * 10**10)), [loss, mpmath.mpf(0)])
        entry[1] += p0
    return dict(out.values())


def composed(laws):
    """[(loss, P0-mass)] of all combinations."""
    out = []
    for combination in product(*(law.items() for law in laws)):
        out.append((mpmath.fsum(loss for loss, _ in combination), mpmath.fprod(mass for _, mass in combination)))
    return out


def delta(law, eps):
    return mpmath.fsum(mass * (1 - mpmath.exp(eps - loss)) for loss, mass in law if loss > eps)

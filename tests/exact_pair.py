"""The dominating pair by enumeration, with mpmath numbers: the outside value of several tests."""

from __future__ import annotations

from itertools import product

import mpmath

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
    law = {(0,) * len(base): mpmath.mpf(1)}
    for each in q:
        grown = {}
        for seen, mass in law.items():
            grown[seen] = grown.get(seen, 0) + mass * (1 - each)
            for atom, share in enumerate(base):
                key = tuple(number + (place == atom) for place, number in enumerate(seen))
                grown[key] = grown.get(key, 0) + mass * each * share
        law = grown
    pair = {}
    for seen, mass in law.items():
        for atom, (p0, p1) in enumerate(zip(*sent, strict=True)):
            entry = pair.setdefault(tuple(number + (place == atom) for place, number in enumerate(seen)), [0, 0])
            entry[0] += mass * p0
            entry[1] += mass * p1
        if revealed:
            pair[(*seen, "neither")] = [mass * revealed, mass * revealed]
    return {key: value for key, value in pair.items() if value[0] > 1e-30}


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

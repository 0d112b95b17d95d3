"""The dominating pair by enumeration, with mpmath numbers: the outside value of several tests."""

from __future__ import annotations

from itertools import product

import mpmath


def pair_law(problem):
    """{what is seen: [P0, P1]} of a Problem with few users, users one by one."""
    q = [mpmath.mpf(float(x)) for x, times in zip(problem.q, problem.count, strict=True) for _ in range(int(times))]
    coin = mpmath.mpf(1 if problem.coin is None else problem.coin)
    law = {(0, 0, 0): mpmath.mpf(1)}  # others that are blankets; of the first outcome; of the second
    for each in q:
        grown, half = {}, each * coin / 2
        shares = ((0, 0, 0, 1 - each), (1, 0, 0, each * (1 - coin)), (1, 1, 0, half), (1, 0, 1, half))
        for (m, i, j), mass in law.items():
            for dm, di, dj, share in shares:
                key = (m + dm, i + di, j + dj)
                grown[key] = grown.get(key, 0) + mass * share
        law = grown
    victim, pair = problem.victim, {}
    low = mpmath.mpf(victim.low)
    high, hidden = low * mpmath.exp(victim.eps), mpmath.mpf(victim.hidden)
    revealed = 1 - high - low - hidden
    for (m, i, j), mass in law.items():
        m = m if problem.coin is not None else 0  # only the clones' number is seen then, from i + j
        ends = ((i + 1, j, "", high, low), (i, j + 1, "", low, high), (i, j, "", hidden, hidden))
        for a, b, word, p0, p1 in (*ends, (i, j, "neither", revealed, revealed)):
            entry = pair.setdefault((m, a, b, word), [mpmath.mpf(0), mpmath.mpf(0)])
            entry[0] += mass * p0
            entry[1] += mass * p1
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

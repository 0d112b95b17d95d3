"""Slow and simple references for the accountant, written from the definitions alone."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import mpmath
import numpy as np

mpmath.mp.dps = 50
mpf = mpmath.mpf


def sum_of_bernoullis(q):
    """The law of the sum, by multiplying out; q are numbers of any exact type."""
    law = [1]
    for p in q:
        longer = [0] * (len(law) + 1)
        for c, mass in enumerate(law):
            longer[c] += mass * (1 - p)
            longer[c + 1] += mass * p
        law = longer
    return law


def pair_law(law_of_c, high, low, neither, half):
    """{(x, y): (P0, P1)} of the pair, by enumerating clones and the victim's report."""
    table = {}
    for c, mass in enumerate(law_of_c):
        coin = half**c
        for a in range(c + 1):
            weight = mass * coin * math.comb(c, a)
            more, less, none = weight * high, weight * low, weight * neither
            for dx, dy, m0, m1 in ((1, 0, more, less), (0, 1, less, more), (0, 0, none, none)):
                old = table.get((a + dx, c - a + dy), (0, 0))
                table[a + dx, c - a + dy] = (old[0] + m0, old[1] + m1)
    return table


def hockey_stick(table, e):
    """sum max(P0 - e P1, 0), e = exp(eps)."""
    return sum((max(p0 - e * p1, 0) for p0, p1 in table.values()), start=0)


def shuffled(reports):
    """Law of the multiset of reports of independent users; each report law is {symbol: mass}."""
    law = Counter()
    for combination in product(*(r.items() for r in reports)):
        mass = 1.0
        for _, p in combination:
            mass *= p
        law[tuple(sorted(s for s, _ in combination))] += mass
    return law


def law_divergence(first, second, e):
    """Hockey-stick divergence of two laws given as {outcome: mass}."""
    return sum(max(first.get(o, 0.0) - e * second.get(o, 0.0), 0.0) for o in set(first) | set(second))


def uniform_delta(n, eps_local, eps, number=mpf, exp=mpmath.exp, window=None):
    """delta(eps) of n users of binary randomized response, by exact recursions in c.

    h_c = D b(k-1) - (e^eps - 1) P(Bin(c, 1/2) >= k), with k = floor((c+1) N/(N+D)) + 1. The tail is updated
    from c to c+1 by P(c+1 >= k) = P(c >= k) + b(k-1; c)/2, so `number` may be any exact enough type.
    """
    one = number(1)
    p, e = exp(number(eps_local)), exp(number(eps))
    w = p / (1 + p)
    gain, loss = w - e * (1 - w), e * w - (1 - w)
    if not gain > 0:
        return number(0)
    share = loss / (loss + gain)
    q = 2 / (1 + p)
    users = n - 1
    first, last = window or (0, users)
    total = number(0)
    # Bin(c, 1/2): b = pmf at k - 1, tail = P(>= k), from c = 0, k = 1.
    k, b, tail = 1, one, number(0)
    mass = (1 - q) ** users if users else one
    odds = q / (1 - q)
    for c in range(last + 1):
        wanted = int(float((c + 1) * share)) + 1
        while k < wanted:
            b = b * (c - k + 1) / k  # pmf at k
            tail = tail - b
            k += 1
        if c >= first:
            total += mass * (gain * b - (e - 1) * tail)
        mass = mass * odds * (users - c) / (c + 1)
        tail = tail + b / 2
        # b(k-1; c+1) = b(k-1; c) (c+1)/(2 (c + 2 - k))
        b = b * (c + 1) / (2 * (c + 2 - k))
    return total


def blanket_delta(blanket, coin, high, low, hidden, e):
    """delta of a victim among users who are blankets with the probabilities listed, given their number M.

    Given M, C ~ Bin(M, coin), and what the victim says besides the two outcomes is hidden by the others'.
    """
    total = mpf(0)
    for m, mass in enumerate(sum_of_bernoullis(blanket)):
        table = pair_law(sum_of_bernoullis([coin] * m), high, low, hidden, mpf(1) / 2)
        total += mass * hockey_stick(table, e)
    return total


def krr_blanket_delta(blanket, eps_local, k, eps):
    """The same for k-ary response in doubles: E max(0, (1-t)(1-e^eps) + t k (x - e^eps y)/(M+1)).

    (x, y) counts the first two values among M + 1 uniform ones (Balle et al. 2019), t is the victim's
    probability of the truth.
    """
    truth = math.expm1(eps_local) / (math.exp(eps_local) + k - 1)
    total = 0.0
    for m, mass in enumerate(sum_of_bernoullis(blanket)):
        seen = np.arange(m + 2)
        either = (
            np.array([math.comb(m + 1, s) for s in seen], dtype=float) * (2 / k) ** seen * (1 - 2 / k) ** (m + 1 - seen)
        )
        for s, weight in zip(seen, either, strict=True):
            x = np.arange(s + 1)
            coin = np.array([math.comb(int(s), i) for i in x], dtype=float) / 2.0 ** int(s)
            gain = (1 - truth) * -math.expm1(eps) + truth * k * (x - math.exp(eps) * (s - x)) / (m + 1)
            total += mass * weight * float(coin @ np.maximum(gain, 0.0))
    return total

"""What shuffling really gives, by direct summation: the ground truth that the bounds are held against.

Nothing here uses the package. Every `..._delta` is the hockey-stick divergence of two output laws of a
shuffled protocol at eps, the larger of both directions; at fixed inputs of the others, and so a lower
bound of what any valid statement must allow.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, permutations, product

import mpmath
import numpy as np
from scipy.stats import binom, multinomial


def hockey_stick(p, q, eps):
    """The larger of both directions, for arrays of one shape."""
    return max(float(np.maximum(a - math.exp(eps) * b, 0).sum()) for a, b in ((p, q), (q, p)))


def solve(delta_at, delta, high):
    """The least eps in [0, high] with delta_at(eps) <= delta, from below to 1e-9."""
    low = 0.0
    if delta_at(low) <= delta:
        return low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_at(middle) > delta else (low, middle)
        if high - low < 1e-9 * high:
            break
    return low


def binary_laws(p0, p1, q0, q1, n, ones):
    """Laws of a count over n users: the victim counts with probability p0 or p1, n-1-ones others q0, ones q1."""
    others = np.convolve(binom.pmf(np.arange(n - ones), n - 1 - ones, q0), binom.pmf(np.arange(ones + 1), ones, q1))
    return np.convolve([1 - p0, p0], others), np.convolve([1 - p1, p1], others)


def rr_delta(eps0, n, eps, ones=0):
    """Binary randomized response; `ones` of the others hold 1."""
    r = 1 / (1 + math.exp(eps0))
    return hockey_stick(*binary_laws(r, 1 - r, r, 1 - r, n, ones), eps)


def rr_delta_worst(eps0, n, eps):
    """The same, maximized over the others' inputs."""
    return max(rr_delta(eps0, n, eps, ones) for ones in range(n))


def personal_rr_delta(eps, victim, at, inputs=None):
    """Randomized response with own budgets; `eps` has one entry a user, `inputs` one each of the others; all 0."""
    law, others = np.array([1.0]), [e for i, e in enumerate(eps) if i != victim]
    for e, x in zip(others, inputs or [0] * len(others), strict=True):
        r = 1 / (1 + math.exp(-e if x else e))
        law = np.convolve(law, [1 - r, r])
    r = 1 / (1 + math.exp(eps[victim]))
    return hockey_stick(np.convolve([1 - r, r], law), np.convolve([r, 1 - r], law), at)


def histograms(rows, start):
    """The law of the histogram of independent reports, in the rows' own numbers."""
    for row in rows:
        found = {}
        for seen, mass in start.items():
            for y, weight in enumerate(row):
                if weight:
                    key = (*seen[:y], seen[y] + 1, *seen[y + 1 :])
                    found[key] = found.get(key, 0) + mass * weight
        start = found
    return start


def _whole(table):
    denominator = math.lcm(*(mass.denominator for row in table for mass in row))
    return [[int(mass * denominator) for mass in row] for row in table], denominator


def curves(tables):
    """Pairs of laws of all shuffled reports, in whole numbers over one denominator.

    Each victim, each change of its record, all inputs of the others; one table of fractions a user.
    """
    whole = [_whole(table) for table in tables]
    everything = math.prod(denominator for _, denominator in whole)
    for victim in {table_id: i for i, table_id in enumerate(map(str, tables))}.values():
        others = [rows for i, (rows, _) in enumerate(whole) if i != victim]
        alike = all(rows == others[0] for rows in others)
        held = combinations_with_replacement(others[0], len(others)) if others and alike else product(*others)
        for rows in held:
            crowd = histograms(rows, {(0,) * len(tables[0][0]): 1})
            seen = [histograms([row], crowd) for row in whole[victim][0]]
            for one, other in permutations(seen, 2):
                yield [(mass, other.get(key, 0), everything) for key, mass in one.items()]


def truth(pairs, factor):
    """The largest delta of such pairs, e^eps = factor."""
    up, down = factor.numerator, factor.denominator
    best = max(Fraction(sum(max(p * down - up * q, 0) for p, q, _ in one), one[0][2]) for one in pairs)
    return float(best / down)


def histogram_delta(victim, others, eps):
    """Three or more answers: law of the histogram; `others` is a list of (law, how many)."""
    n = 1 + sum(m for _, m in others)
    shape = (n + 1,) * (len(victim[0]) - 1)  # the last answer is what is left

    def counts(law, m):
        grid = np.indices(shape).reshape(len(shape), -1)
        rest = m - grid.sum(0)
        x = np.vstack([grid, rest])[:, rest >= 0].T
        out = np.zeros(shape)
        out[tuple(x.T[:-1])] = multinomial.pmf(x, m, law)
        return out

    laws = [counts(np.asarray(law), m) for law, m in others if m]
    crowd = laws[0]
    for law in laws[1:]:
        size = [2 * s for s in shape]
        axes = range(crowd.ndim)
        crowd = np.fft.irfftn(np.fft.rfftn(crowd, size, axes) * np.fft.rfftn(law, size, axes), size, axes)
        crowd = np.maximum(crowd[tuple(slice(0, s) for s in shape)], 0)

    def add(v):
        total = v[-1] * crowd
        for axis, mass in enumerate(v[:-1]):
            total = total + mass * np.roll(crowd, 1, axis)
        return total

    return hockey_stick(add(victim[0]), add(victim[1]), eps)


def krr(k, eps0, x):
    """A row of k-ary randomized response."""
    row = np.ones(k)
    row[x] = math.exp(eps0)
    return row / row.sum()


def response(k, eps0):
    """k-ary randomized response."""
    return np.array([krr(k, eps0, x) for x in range(k)])


# --- the named mechanisms, a row an input; e^eps is `factor`, exact if it is a fraction ----------------------


def _weighted(likely, factor):
    """Rows of weights e^eps on what an input makes likely, 1 elsewhere."""
    rows = [[factor if one else Fraction(1) for one in row] for row in likely]
    return [[weight / sum(row) for weight in row] for row in rows]


def k_ary(factor, k):
    """k-ary randomized response."""
    return _weighted([[x == y for y in range(k)] for x in range(k)], factor)


def subset(factor, k, size):
    """Subset selection."""
    return _weighted([[x in one for one in combinations(range(k), size)] for x in range(k)], factor)


def hashing(factor, k, g):
    """Local hashing: all functions of k items to g values, and the value that is sent."""
    outputs = list(product(product(range(g), repeat=k), range(g)))
    return _weighted([[hashed[x] == sent for hashed, sent in outputs] for x in range(k)], factor)


def hadamard(factor, k):
    """Row x + 1 of the Hadamard matrix of order K > k: +1 where x + 1 and the column share an even number of bits."""
    columns = range(1 << k.bit_length())
    return _weighted([[((x + 1) & y).bit_count() % 2 == 0 for y in columns] for x in range(k)], factor)


def _bits(k, p, q):
    """One's own bit is 1 with probability p, any other with q."""
    vectors = list(product((0, 1), repeat=k))
    chance = [[p if i == x else q for i in range(k)] for x in range(k)]
    return [
        [math.prod(c if bit else 1 - c for c, bit in zip(row, one, strict=True)) for one in vectors] for row in chance
    ]


def optimized(factor, k):
    """Unary encoding whose own bit is fair."""
    return _bits(k, Fraction(1, 2), 1 / (1 + factor))


def symmetric(factor, k):
    """Unary encoding, all bits alike."""
    root = _root(factor)
    return _bits(k, root / (1 + root), 1 / (1 + root))


def piecewise(factor, values=("-1", "-1/2", "0", "1/3", "1")):
    """The density of Wang et al. 2019, Algorithm 2, integrated over the cells between all its steps."""
    root = _root(factor)
    c = (root + 1) / (root - 1)
    high = (factor - root) / (2 * root + 2)
    starts = {x: (c + 1) / 2 * x - (c - 1) / 2 for x in map(Fraction, values)}
    edges = sorted({-c, c, *starts.values(), *(start + c - 1 for start in starts.values())})
    return [
        [(b - a) * (high if start <= a and b <= start + c - 1 else high / factor) for a, b in pairwise(edges)]
        for start in starts.values()
    ]


def duchi(factor):
    """The two answers of Duchi et al."""
    share = [Fraction(1, 2) + Fraction(x) / 2 * (factor - 1) / (factor + 1) for x in ("-1", "-1/2", "0", "1")]
    return [[one, 1 - one] for one in share]


def _root(factor):
    if isinstance(factor, float):
        return math.sqrt(factor)
    return Fraction(math.isqrt(factor.numerator), math.isqrt(factor.denominator))


def clone_pair_delta(eps0, n, eps, r):
    """The pair of FMT21's numerical form: C ~ Bin(n-1, 2r), revealed; the victim as in randomized response."""
    spread = 12 * math.sqrt((n - 1) * 2 * r * (1 - 2 * r)) + 12
    low, high = max(0, int((n - 1) * 2 * r - spread)), min(n - 1, int((n - 1) * 2 * r + spread))
    w = 1 / (1 + math.exp(-eps0))
    total = 0.0
    for c in range(low, high + 1):
        a = binom.pmf(np.arange(-1, c + 1), c, 0.5)  # a[0] = 0
        a = np.append(a, 0.0)
        p, q = w * a[:-1] + (1 - w) * a[1:], w * a[1:] + (1 - w) * a[:-1]
        total += binom.pmf(c, n - 1, 2 * r) * float(np.maximum(p - math.exp(eps) * q, 0).sum())
    return total


def laplace_cdf(x, centre, scale):
    """P(centre + Laplace noise <= x)."""
    z = (x - centre) / scale
    return 0.5 * math.exp(z) if z < 0 else 1 - 0.5 * math.exp(-z)


def laplace_delta(eps0, n, eps, cut=0.5, ones=None):
    """Laplace reports on [0, 1], seen through the count of those <= cut; all others at 1."""
    at0, at1 = (laplace_cdf(cut, x, 1 / eps0) for x in (0, 1))
    return hockey_stick(*binary_laws(at0, at1, at0, at1, n, n - 1 if ones is None else ones), eps)


def clipped_laplace_law(eps, x, edges):
    """Law over cells of the density proportional to e^{-eps |y - x|} on [0, 1]."""

    def cdf(y):
        return laplace_cdf(y, x, 1 / eps)

    return np.array([cdf(b) - cdf(a) for a, b in pairwise(edges)]) / (cdf(1) - cdf(0))


def gaussian_delta(eps, mu):
    """N(mu, 1) against N(0, 1), in enough digits that what cancels (at most 20 here) does no harm."""
    with mpmath.workdps(max(60, mpmath.mp.dps)):
        e, m = mpmath.mpf(eps), mpmath.mpf(mu)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)

r"""Page 14, third part: what the blog quotes without privacy and in the central model, and what it concludes.

Bounds from below are proved by hiding one of two hypotheses: pairs of items of probabilities (1 + 2a)/k and (1 - 2a)/k,
either way round. In total variation, (eps, delta)-DP tells of two data sets that differ in one record at most
tanh(eps/2) + delta, so of coupled data sets that times the mean number of differences.

>>> round(central_lower(100, 0.1, 0.5), 3)
255.187
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import binom

from gspa.book.claims import Outcome, judge, settles
from gspa.book.verdicts import Said, exactly, reading, unknown
from gspa.pages import p14_learning as learning
from gspa.pages.p14_learning import ORDER

Array = NDArray[np.float64]

_FREE = 40.0  # a local budget at which a report is the datum in all but name
_NO_WORSE = 1 / 3  # probability of a wrong answer on either side
_STRIDE = 16  # points of a geometric grid that a search leaps over
_GROWTH = 0.4  # least exponent of k by which private coins must cost more
# (k, alpha, eps) of central testing: where one term of the four leads, and one quantity moved.
CENTRAL_TESTS: dict[str, list[tuple[int, float, float]]] = {
    "1": [(1024, 0.1, 1.0), (4096, 0.1, 1.0), (1024, 0.05, 1.0)],
    "2": [(16384, 0.3, 0.005), (4096, 0.3, 0.005), (16384, 0.3, 0.0025)],
    "3": [(256, 0.05, 0.001), (1024, 0.05, 0.001), (256, 0.1, 0.001)],
    "4": [(16, 0.2, 1e-4), (4, 0.2, 1e-4), (16, 0.1, 1e-4)],
}


# --- tables: learning --------------------------------------------------------------------------------------


def sampling_lower(k: int, alpha: float) -> float:
    """Users below which no learner, private or not, has a mean error of alpha <= 1/4 at every law; k even."""
    affinity = 1 - (2 / k) * (1 - math.sqrt(1 - (4 * alpha) ** 2))  # of one sample, a pair turned round, a = 2 alpha
    return math.log(4 / 3) / (-2 * math.log(affinity))


def central_lower(k: int, alpha: float, eps: float, delta: float = 0.0) -> float:
    """The same for (eps, delta)-DP learners, from privacy alone."""
    return k / (16 * alpha * (math.tanh(eps / 2) + delta))


def laplace_users(k: int, alpha: float, eps: float) -> float:
    """Users from which the law nearest to the Laplace histogram has a mean error of at most alpha; eps may be inf.

    The histogram's mean l1 error is at most sqrt(k/n) + 2k/(n eps), and the nearest law's at most twice that. Without
    noise the histogram is a law.
    """
    if math.isinf(eps):
        return k / (4 * alpha**2)
    root = (-math.sqrt(k) / 2 + math.sqrt(k / 4 + 2 * alpha * k / eps)) / (2 * k / eps)  # 1/sqrt(n)
    return 1 / root**2


def learning_bounds(items: Sequence[int], alphas: Sequence[float], budgets: Sequence[float]) -> pd.DataFrame:
    """Bounds on the users of learners over their orders: k, alpha, eps, and the quotients

    free_upper and free_lower over k/alpha^2, without privacy; central_upper over k/alpha^2 + k/(alpha eps), and
    central_lower over k/(alpha eps).
    """
    rows = []
    for k, alpha, eps in product(items, alphas, budgets):
        free, private = k / alpha**2, k / (alpha * eps)
        without = (laplace_users(k, alpha, math.inf) / free, sampling_lower(k, alpha) / free)
        central = (laplace_users(k, alpha, eps) / (free + private), central_lower(k, alpha, eps) / private)
        rows.append((k, alpha, eps, *without, *central))
    names = ["free_upper", "free_lower", "central_upper", "central_lower"]
    return pd.DataFrame(rows, columns=["k", "alpha", "eps", *names])


def shuffled_over_central(
    items: Sequence[int], alphas: Sequence[float], budgets: Sequence[float], deltas: Sequence[float]
) -> pd.DataFrame:
    """Printed users of the shuffled learner over the central: k, alpha, eps, delta, ratio, root of log(1/delta)."""
    table = pd.DataFrame(product(items, alphas, budgets, deltas), columns=["k", "alpha", "eps", "delta"], dtype=float)
    k, alpha, eps, delta = (table[name].to_numpy() for name in table)
    central = k / alpha**2 + k / (alpha * eps)
    ratio = learning.shuffled_users("learning", k, alpha, eps, delta) / central
    return table.assign(ratio=ratio, root=np.sqrt(-np.log(delta)))


def _first(holds: Callable[[float], bool], start: float, factor: float) -> float:
    """The first of start, start factor, start factor^2, ... at which it holds, as it does from there on."""
    high = 0
    while not holds(start * factor**high):
        high += _STRIDE
    low = max(high - _STRIDE + 1, 0)
    return start * factor ** (low + bisect_left(range(low, high), True, key=lambda i: holds(start * factor**i)))


# --- tables: testing ---------------------------------------------------------------------------------------


def collision_users(k: int, alpha: float) -> int:
    """Users from which counting collisions errs with probability at most 1/3 on either side, by Cantelli's inequality.

    From the exact mean and variance of the number of colliding pairs, under the uniform law and with half of the items
    at (1 + 2 alpha)/k, half at (1 - 2 alpha)/k.
    """

    def moments(n: float, a: float) -> tuple[float, float]:
        two, three = (1 + 4 * a**2) / k, (1 + 12 * a**2) / k**2  # sums of the squares and of the cubes
        pairs = n * (n - 1) / 2
        return pairs * two, math.sqrt(pairs * (two - two**2) + n * (n - 1) * (n - 2) * max(three - two**2, 0.0))

    def enough(n: float) -> bool:
        (mean, spread), (other, wide) = moments(n, 0.0), moments(n, alpha)
        return other - mean >= math.sqrt(1 / _NO_WORSE - 1) * (spread + wide)

    high = 4
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def free_testing(items: Sequence[int], alphas: Sequence[float]) -> pd.DataFrame:
    """Users over sqrt(k)/alpha^2: k, alpha, upper (counting collisions), lower (the published bound, evaluated)."""
    rows = []
    for k, alpha in product(items, alphas):
        order = math.sqrt(k) / alpha**2
        lower = k**1.5 / (alpha**2 * learning.information(k, _FREE))
        rows.append((k, alpha, collision_users(k, alpha) / order, lower / order))
    return pd.DataFrame(rows, columns=["k", "alpha", "upper", "lower"])


def coupled(n: int, k: int, alpha: float) -> float:
    """Mean number of samples in which coupled data sets of n differ, uniform and at distance alpha; k even.

    Given how many samples fall in a pair of items, the pair's first count is binomial: under uniformity with 1/2, else
    with 1/2 + alpha or 1/2 - alpha, each with probability 1/2 and independently of the other pairs. The monotone
    coupling of the two laws makes them differ by the l1 distance of their distribution functions.
    """
    spread = math.sqrt(2 * n / k)
    sizes = np.arange(max(0, math.floor(2 * n / k - 9 * spread - 20)), math.ceil(2 * n / k + 9 * spread + 20) + 1)
    sizes = sizes[sizes <= n]
    masses = binom.pmf(sizes, n, 2 / k)
    # Few sizes stand for many: dropping a sample moves nothing further apart, so the last of a block is its worst.
    blocks = np.array_split(np.arange(sizes.size), min(sizes.size, 60))
    total = 0.0
    for block in blocks:
        m = int(sizes[block[-1]])
        x = np.arange(m + 1)
        logs = gammaln(x + 1)  # of x!
        ways = logs[m] - logs - logs[::-1]
        fair, more = (np.exp(ways + x * math.log(p) + x[::-1] * math.log1p(-p)) for p in (0.5, 0.5 + alpha))
        total += float(masses[block].sum()) * float(np.abs((fair - (more + more[::-1]) / 2).cumsum()).sum())
    return k / 2 * total


def central_test_lower(k: int, alpha: float, eps: float) -> float:
    """Users below which no eps-DP tester is right with probability 2/3 on either side, up to five percent."""
    least = (1 - 2 * _NO_WORSE) / math.tanh(eps / 2)
    return _first(lambda n: coupled(math.ceil(n), k, alpha) >= least, 2.0, 1.05) / 1.05


def central_test_users(
    k: int, alpha: float, eps: float, *, start: float, trials: int, rng: np.random.Generator
) -> float:
    """Users at which half the l1 distance of the counts from n/k, with Laplace noise, tests with 2/3 on either side.

    That statistic moves by at most 1 with one record, so noise of scale 1/eps makes it eps-DP. By simulation, in steps
    of a quarter from `start` users.
    """
    n = start
    while True:
        size = math.ceil(n)
        found = [
            np.array([0.5 * np.abs(_counts(size, k, apart, rng) - size / k).sum() for _ in range(trials)])
            + rng.laplace(scale=1 / eps, size=trials)
            for apart in (0.0, alpha)
        ]
        if (found[1] > np.quantile(found[0], 1 - _NO_WORSE)).mean() >= 1 - _NO_WORSE:
            return n
        n *= 1.25


def _counts(n: int, k: int, alpha: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Of n samples, where half of the k items have (1 + 2 alpha)/k and half (1 - 2 alpha)/k; k even."""
    if n > 4 * k:
        return rng.multinomial(n, np.repeat([1 + 2 * alpha, 1 - 2 * alpha], k // 2) / k)
    likely = rng.binomial(n, 0.5 + alpha)  # a sample at a time, where they are few
    return np.bincount(np.r_[rng.integers(k // 2, size=likely), rng.integers(k // 2, k, size=n - likely)], minlength=k)


def four_terms(k: int, alpha: float, eps: float) -> tuple[float, ...]:
    """The four terms of the blog's number of users of a central tester."""
    root = math.sqrt(k)
    return (
        root / alpha**2,
        root / (alpha * math.sqrt(eps)),
        k ** (1 / 3) / (alpha ** (4 / 3) * eps ** (2 / 3)),
        1 / (alpha * eps),
    )


def central_testing(*, seed: int, trials: int, points: int = 3) -> pd.DataFrame:
    """Users of central testers over the printed sum, at so many points a term: leads, k, alpha, eps, upper, lower."""
    rng, rows = np.random.default_rng(seed), []
    for leads, listed in CENTRAL_TESTS.items():
        for k, alpha, eps in listed[:points]:
            printed = sum(four_terms(k, alpha, eps))
            free = k**1.5 / (alpha**2 * learning.information(k, _FREE))
            private = central_test_lower(k, alpha, eps)
            start = max(private, printed / 10)
            upper = central_test_users(k, alpha, eps, start=start, trials=trials, rng=rng)
            lower = max(free, private)
            rows.append((leads, k, alpha, eps, upper / printed, lower / printed))
    return pd.DataFrame(rows, columns=["leads", "k", "alpha", "eps", "upper", "lower"])


# --- checks ------------------------------------------------------------------------------------------------


def _range(values: pd.Series[Any]) -> list[float]:
    return [float(values.min()), float(values.max())]


def _steady(*columns: pd.Series[Any]) -> bool:
    """Whether each is positive and stays within a factor `ORDER`."""
    ends = [_range(values) for values in columns]
    return all(low > 0 and high <= ORDER * low for low, high in ends)


@settles("B-27")
def free_learning(table: pd.DataFrame) -> Outcome:
    """Learning without privacy, from `learning_bounds`."""
    upper, lower = table["free_upper"], table["free_lower"]
    evidence = {
        "enough for the empirical law, over $k/\\alpha^2$": _range(upper),
        "necessary for every learner, over $k/\\alpha^2$": _range(lower),
        "points $(k, \\alpha)$": len(table.groupby(["k", "alpha"])),
    }
    said: Said = {
        "verified": f"${upper.max():.2g}\\, k/\\alpha^2$ users are enough and "
        f"${lower.min():.2g}\\, k/\\alpha^2$ are necessary for a mean error of $\\alpha$, up to $\\alpha$ = "
        f"{table['alpha'].max():g}. Both are proved above.",
        "refuted": "One of the two bounds is of another order.",
    }
    return judge("B-27", evidence, reading("a mean error of $\\alpha$", exactly(_steady(upper, lower)), said))


@settles("B-28")
def central_learning(table: pd.DataFrame) -> Outcome:
    """Learning under central DP, from `learning_bounds`."""
    upper, free, lower = (table[name] for name in ("central_upper", "free_lower", "central_lower"))
    evidence = {
        "enough for the Laplace histogram, over the printed sum": _range(upper),
        "necessary for every learner, over the first term": _range(free),
        "necessary under $\\epsilon$-DP, over the second term": _range(lower),
    }
    said: Said = {
        "verified": f"For $\\epsilon$ up to {table['eps'].max():g}, {upper.max():.2g} times the sum is enough, and "
        f"{free.min():.2g} times the first term and {lower.min():.2g} times the second are necessary. All this is "
        "proved above, the last also for $(\\epsilon, \\delta)$-DP with $\\epsilon + \\delta$ in place of $\\epsilon$.",
        "refuted": "One of the bounds is of another order.",
    }
    held = exactly(_steady(upper, free, lower))
    return judge("B-28", evidence, reading("a mean error of $\\alpha$", held, said))


@settles("B-29")
def optimal_learning(table: pd.DataFrame) -> Outcome:
    """The shuffled learner's users over what central DP needs, from `shuffled_over_central`."""
    over = table["ratio"] / table["root"]
    evidence = {
        "shuffled over central, printed orders": _range(table["ratio"]),
        "the same over $\\sqrt{\\ln(1/\\delta)}$, largest": float(over.max()),
    }
    return judge(
        "B-29",
        evidence,
        reading(
            "optimal but for $\\sqrt{\\ln(1/\\delta)}$, which the text ignores",
            exactly(bool((over <= 1 + 1e-9).all())),
            {
                "verified": "A shuffled protocol is a central one, so the users that central DP needs are needed "
                "here. The shuffled learner needs at most $\\sqrt{\\ln(1/\\delta)}$ times as many "
                f"(at most {table['ratio'].max():.2f} times as many in these examples).",
                "refuted": "The quotient exceeds the root of the logarithm.",
            },
        ),
        reading(
            "optimal up to a constant",
            unknown(),
            {"not checkable": "We do not know whether shuffled learners need the root of the logarithm."},
        ),
    )


@settles("B-31")
def testing_without_privacy(table: pd.DataFrame) -> Outcome:
    """The collision tester and the published lower bound, from `free_testing`."""
    upper, lower = table["upper"], table["lower"]
    evidence = {
        "enough for counting collisions, over $\\sqrt{k}/\\alpha^2$": _range(upper),
        "the published lower bound $k^{3/2}/(\\alpha^2 \\max \\mathrm{tr}\\, H)$, over the same": _range(lower),
    }
    said: Said = {
        "verified": f"By exact means and variances, {upper.max():.3g} $\\sqrt{{k}}/\\alpha^2$ users are enough against "
        "Paninski's alternatives. The published lower bound, evaluated for channels that keep everything, is of the "
        "same order; we do not redo its proof.",
        "refuted": "One of the two is of another order.",
    }
    how = "one tester, one family of alternatives; one published lower bound"
    return judge("B-31", evidence, reading(how, exactly(_steady(upper, lower)), said))


@settles("B-32")
def testing_in_the_central_model(table: pd.DataFrame) -> Outcome:
    """A central tester and the coupling, from `central_testing`."""
    evidence: dict[str, object] = {}
    for leads, part in table.groupby("leads", sort=False):
        label = f"term {leads} leads, {len(part)} points: users of the tester; necessary users; over the printed sum"
        evidence[label] = "; ".join(
            f"{low:.2f} to {high:.2f}" for low, high in (_range(part[name]) for name in ("upper", "lower"))
        )
    upper, lower = table["upper"], table["lower"]
    said: Said = {
        "verified": f"Wherever one of the terms leads, a tester needs {upper.min():.2f} to {upper.max():.2f} times the "
        f"printed sum, and {lower.min():.2f} to {lower.max():.2f} times the sum are necessary. For the terms with "
        "$\\epsilon$ the coupling above shows it; for the term without $\\epsilon$ the published bound does, up to its "
        "constant. We do not redo its proof.",
        "refuted": "Users of the tester, or necessary users, are of another order than the sum.",
    }
    how = "one tester, simulated against one family of alternatives; a coupling, computed"
    return judge("B-32", evidence, reading(how, exactly(_steady(upper, lower)), said))

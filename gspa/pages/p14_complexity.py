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
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import binom

from gspa.algorithms.testing import HadamardResponse
from gspa.book.claims import Outcome, judge, settles, unsettled
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


def _deviation(response: HadamardResponse) -> float:
    """n times the mean l1 error's normal limit, halved, at the uniform law; times sqrt(1/n) it is the error."""
    k = response.k
    law = response.law(np.full(k, 1 / k)).reshape(response.blocks, response.size)
    blocks = np.arange(response.blocks, response.blocks + k) % response.blocks  # of each item
    # An item's estimate is +-1 over gain size/2 on its block's outputs and 0 elsewhere.
    second = law.sum(axis=1)[blocks] / (response.gain * response.size / 2) ** 2
    return float(0.5 * math.sqrt(2 / math.pi) * np.sqrt(second - 1 / k**2).sum())


def regimes_needed(items: Sequence[int], *, alpha: float, eps: float, delta: float) -> pd.DataFrame:
    """Users that shuffled Hadamard response needs, eps_L by eq. (1), over the printed number: k, all, one.

    all: with the authors' number of blocks; one: with one block whatever eps_L, which suits eps_L of order 1 at most.
    """
    shapes: dict[str, Callable[[int, float], HadamardResponse]] = {
        "all": lambda k, x: HadamardResponse.of(k, eps=x),
        "one": lambda k, x: HadamardResponse(k, x, 1),
    }
    rows = []
    for k in items:
        printed = float(learning.shuffled_users("learning", k, alpha, eps, delta))
        row: dict[str, Any] = {"k": k}
        for name, shape in shapes.items():

            def enough(n: float, k: int = k, shape: Callable[[int, float], HadamardResponse] = shape) -> bool:
                budget = float(learning.eps_local(np.array([n]), eps, delta)[0])
                return budget > 0 and _deviation(shape(k, budget)) <= alpha * math.sqrt(n)

            row[name] = _first(enough, printed / 4, 1.1) / printed
        rows.append(row)
    return pd.DataFrame(rows)


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


def seed_matters(items: Sequence[int], budgets: Sequence[float]) -> pd.DataFrame:
    """The published lower bound without a common seed over eq. (6): k, eps, ratio."""
    rows = []
    for k, eps in product(items, budgets):
        lower = k**1.5 / learning.information(k, eps)
        rows.append((k, eps, lower / float(learning.local_users("public coin", float(k), 1.0, eps))))
    return pd.DataFrame(rows, columns=["k", "eps", "ratio"])


def to_uniform(q: Sequence[Fraction], p: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """Distances from uniform of the images of q and of p under the map for q, to 6k atoms.

    An item is replaced by a uniform one with probability 1/2; item i is then kept with a probability that makes its
    mass under q a multiple of 1/(6k), else sent to a further item; each item is split into its multiple of equal atoms.
    So all atoms of an item have the same mass, and the distance from uniform is that of the items from q's multiples.
    """
    k = len(q)
    atoms = 6 * k
    half: list[list[Fraction]] = [[(mass + Fraction(1, k)) / 2 for mass in law] for law in (q, p)]
    whole = [Fraction(math.floor(atoms * mass), atoms) for mass in half[0]]
    kept = [low / mass for low, mass in zip(whole, half[0], strict=True)]
    goal = [*whole, 1 - sum(whole, Fraction(0))]
    images = [[mass * keep for mass, keep in zip(law, kept, strict=True)] for law in half]
    found = [[*image, 1 - sum(image, Fraction(0))] for image in images]
    first, second = (sum((abs(a - b) for a, b in zip(law, goal, strict=True)), Fraction(0)) / 2 for law in found)
    return first, second


def identities(items: Sequence[int], *, pairs: int, seed: int) -> pd.DataFrame:
    """`to_uniform` for random laws q and p of k items, exact: k, own (q's image), ratio (p's image over TV(p, q))."""
    rng, rows = np.random.default_rng(seed), []
    for k, _ in product(items, range(pairs)):
        # Skewed ones too: weights are powers of random numbers.
        q, p = (
            [Fraction(int(w), int(weights.sum())) for w in weights]
            for weights in (1 + (10**4 * rng.random(k) ** rng.integers(1, 9)).astype(np.int64) for _ in range(2))
        )
        apart = sum((abs(a - b) for a, b in zip(q, p, strict=True)), Fraction(0)) / 2
        own, other = to_uniform(q, p)
        rows.append((k, own, other / apart))
    return pd.DataFrame(rows, columns=["k", "own", "ratio"])


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


@settles("B-33")
def seed_decides(table: pd.DataFrame) -> Outcome:
    """Testing without a common seed over testing with one, from `seed_matters`."""
    if table["k"].nunique() < 2:
        return unsettled("B-33", "One number of items shows no growth.")
    slopes = {
        float(str(eps)): float(np.polyfit(np.log(part["k"]), np.log(part["ratio"]), 1)[0])
        for eps, part in table.groupby("eps", sort=False)
    }
    evidence: dict[str, object] = {
        f"exponent of $k$ in the users necessary without a seed over eq. (6), $\\epsilon$ = {eps:g}": slope
        for eps, slope in slopes.items()
    }
    last = float(table["ratio"].iloc[-1])
    least = min(slopes.values())
    said: Said = {
        "verified": "Without a common seed, the users that are necessary grow faster than (6), by at least "
        f"$k^{{{least:.2f}}}$: at $k$ = {table['k'].max():,} and $\\epsilon$ = {table['eps'].iloc[-1]:g} they are "
        f"{last:,.0f} times as many. For users who can communicate we look at the equation only.",
        "refuted": f"The quotient grows only like $k$ to the power {least:.2f}.",
    }
    return judge("B-33", evidence, reading("$\\epsilon$ up to 1", exactly(least >= _GROWTH), said))


@settles("B-39")
def any_known_law(table: pd.DataFrame, *, k: int = 10_000, alpha: float = 0.1) -> Outcome:
    """The map to the uniform law, from `identities`; and the easiest law, a point mass, at k and alpha."""
    own, least = max(table["own"]), min(table["ratio"])
    # All samples are the one item with probability (1 - alpha)^n.
    easy, order = math.log(_NO_WORSE) / math.log1p(-alpha), math.sqrt(k) / alpha**2
    evidence: dict[str, object] = {
        f"largest distance of $q$'s image from uniform, {len(table)} pairs $(p, q)$": str(own),
        "least distance of $p$'s image from uniform over $\\mathrm{TV}(p, q)$": float(least),
        f"users needed to test for a point mass, $k$ = {k:,}, $\\alpha$ = {alpha:g}; $\\sqrt{{k}}/\\alpha^2$": (
            f"{easy:.1f}; {order:,.0f}"
        ),
    }
    works = own == 0 and least >= Fraction(1, 3)
    return judge(
        "B-39",
        evidence,
        reading(
            "the number of users for the worst $q$",
            exactly(works),
            {
                "verified": "Each user puts their own sample through a random map that depends on $q$ alone. The map "
                f"makes $q$ uniform over $6k$ atoms and keeps at least {float(least):.2f} of every distance tried "
                "(at least a third, by the proof above). So $k$ and $\\alpha$ change by constants, and the uniform law "
                "is itself such a $q$.",
                "refuted": "The map does not make $q$ uniform, or loses more than two thirds of a distance.",
            },
        ),
        reading(
            "the number of users for each $q$ by itself",
            exactly(easy * ORDER >= order),
            {
                "verified": "A point mass needs as many users.",
                "refuted": f"For a point mass {easy:.0f} users are enough without privacy, where the order is "
                f"{order:,.0f}.",
            },
        ),
    )


@settles("B-41")
def all_regimes(table: pd.DataFrame) -> Outcome:
    """Shuffled learners optimal in all regimes and in one, from `regimes_needed`."""
    evidence: dict[str, object] = {
        f"users over the printed number, $k$ = {row.k:,}: optimal in all regimes; in one": (
            f"{row.all:.3g}; {row.one:.3g}"
        )
        for row in table.itertuples()
    }
    many, one = _range(table["all"]), float(table["one"].iloc[-1] / table["one"].iloc[0])
    said: Said = {
        "verified": f"With a learner for all regimes, {many[0]:.2f} to {many[1]:.2f} times the printed number of users "
        "is enough, whatever $k$ is. With one that is optimal at small budgets only, the multiple grows "
        f"{one:,.0f}-fold. Messages with their sender's number (B-4) show that one common randomizer is needed too.",
        "refuted": "The first multiple grows, or the second does not.",
    }
    held = exactly(_steady(table["all"]) and one > ORDER)
    return judge("B-41", evidence, reading("Hadamard response, by the normal limit of its error", held, said))

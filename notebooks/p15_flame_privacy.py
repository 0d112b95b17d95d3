"""Beside page 15: FLAME's tables that are too long for a cell, and its figures.

Index privacy: a user reports l k of d indices, k of them the largest. To somebody for whom every index is one of these
with probability beta = k/d beforehand, it is one with probability 1/l once reported, so Definition 3 asks
1/l <= nu beta and 1 - 1/l >= (1 - beta)/nu.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import binom, hypergeom

from gspa.accountant import discrete
from gspa.accountant.errors import OutsideValidity
from gspa.accountant.losses import spread
from gspa.accountant.rounds import Sides, epsilon_of
from gspa.algorithms.flame import accounting, attacks, published
from gspa.algorithms.flame.attacks import Local
from gspa.algorithms.flame.padded import coordinate, overflow
from gspa.algorithms.flame.published import Setting
from gspa.algorithms.flame.randomizers import Buckets, Laplace
from gspa.book.figures import DASHES, ROLES, keeps_data, name_ends, name_line, role

Array = NDArray[np.float64]
_LEAST = 1e-12  # smaller probabilities are not drawn
_LEFT_OUT = 1e-15
_STEPS = 8  # of the grid, in the standard deviation of one coordinate's loss


def setting(
    *, eps_l: float = 78.5, d: int = 7850, n: int = 1000, rate: float = 50, padding: float = 3.0, eps: float = 0.0
) -> Setting:
    """SS-Double or SS-Topk with k = d/rate and n_p = n/padding rounded down; the defaults are the paper's.

    delta_c = 0.01/n^1.1 and the rate are in the authors' code only. With `eps`, a budget per reported coordinate, eps_l
    does not matter.
    """
    k = max(1, int(d / rate))
    return Setting(d=d, k=k, n=n, n_p=max(1, int(n / padding)), eps=eps or eps_l / k, delta=0.01 / n**1.1)


def printed(who: str, one: Setting) -> dict[str, float]:
    """eps_c of a row by the paper's theorems, with each bound of one coordinate; NaN where a form refuses."""
    return {name: _or_nan(partial(_theorem, who, one, name)) for name in published.BOUNDS[1:]}


def _theorem(who: str, one: Setting, bound: str) -> float:
    if who == "SS-Simple":
        return published.simple(one, bound=bound).eps
    return published.double(one, bound=bound, subsampling="no subsampling" not in who).eps


def _or_nan(compute: Callable[[], float]) -> float:
    """NaN where a form or the padding refuses."""
    try:
        return compute()
    except OutsideValidity:
        return math.nan


def certify(who: str, one: Setting, local: Local | None = None, *, attack: bool = True) -> dict[str, Any]:
    """attack (certainly revealed), certified (at most) and note of one row; the local randomizer is Laplace noise."""
    local, delta = local or Laplace(one.eps), one.delta
    try:
        if who == "SS-Simple":
            found = accounting.simple(local, d=one.d, n=one.n, delta=delta, attack=attack)
        elif who == "SS-Double":
            found = accounting.double_poisson(local, d=one.d, k=one.k, n=one.n, n_p=one.n_p, delta=delta, attack=attack)
        elif "SS-Double" in who:
            found = accounting.double_given_indices(local, d=one.d, k=one.k, n=one.n, n_p=one.n_p, delta=delta)
        else:
            found = accounting.topk(local, k=one.k, n_p=one.n_p, delta=delta, most_selected=one.n_p, attack=attack)
    except OutsideValidity as refusal:
        return {"attack": math.nan, "certified": math.nan, "note": str(refusal)}
    return {"attack": found.lower, "certified": found.upper, "note": ""}


def certified_ratios(one: Setting) -> pd.DataFrame:
    """eps_l/eps_c as it is, for corrected R_{gamma,b} with two answers, at the three points of Figure 3.

    Columns: case (simple, double, equal), eps_local, attack, certified (both of eps_c), ratio_low (proved) and
    ratio_high (no more is possible; infinite where no attack is known).
    """
    rows = []
    for case, who, now in (
        ("simple", "SS-Simple", one.full(eps=one.eps)), ("double", "SS-Double", one), ("equal", "SS-Simple", one.full())
    ):  # fmt: skip
        found = certify(who, now, Buckets(now.eps, 1))
        low, high, whole = found["attack"], found["certified"], now.eps_local
        ratios = {"ratio_low": whole / high, "ratio_high": whole / low if low > 0 else math.inf}
        rows.append({"case": case, "eps_local": whole, "attack": low, "certified": high, **ratios})
    return pd.DataFrame(rows)


def sweep(name: str, values: Sequence[float], *, base: Setting, eps_l: float) -> pd.DataFrame:
    """Figures 9 and 10: eps_c of the protocols against "eps_l" or "d", as printed and certified.

    Columns: the value under its name, line, kind ("printed" or "certified"), epsilon (NaN where refused).
    """
    rows = []
    for value in values:
        d = base.d if name == "eps_l" else int(value)
        k = max(1, round(d * base.beta))
        whole = float(value) if name == "eps_l" else eps_l
        now = Setting(d=d, k=k, n=base.n, n_p=base.n_p, eps=whole / k, delta=base.delta)
        for who, one in (("SS-Simple", now.full()), ("SS-Double", now)):
            printed = _or_nan(partial(_theorem, who, one, "old_bennett"))
            rows.append({name: value, "line": who, "kind": "printed", "epsilon": printed})
        for who, one in (("SS-Simple", now.full()), ("SS-Double", now), ("SS-Topk", now)):
            certified = certify(who, one, attack=False)["certified"]
            rows.append({name: value, "line": who, "kind": "certified", "epsilon": certified})
    return pd.DataFrame(rows)


def ends(table: pd.DataFrame) -> pd.DataFrame:
    """First and last point of each line of `sweep`: line, kind, start, first, end, last."""
    at = table.columns[0]
    lines = table.dropna().groupby(["line", "kind"], sort=False)
    return lines.agg(
        start=(at, "first"), first=("epsilon", "first"), end=(at, "last"), last=("epsilon", "last")
    ).reset_index()


def below(table: pd.DataFrame, one: str, other: str) -> int:
    """At how many points of `sweep` one protocol is certified below another."""
    certified = table[table["kind"] == "certified"]
    wide = certified.pivot(index=str(table.columns[0]), columns="line", values="epsilon")
    return int((wide[one] < wide[other]).sum())


def algorithm1(*, eps: float, b: int, users: int, seed: int) -> pd.DataFrame:
    """Algorithm 1 and eq. (1), printed and corrected, for users spread evenly over [0, 1].

    Columns: rule, eps, b, users; error (estimated minus true mean) with its deviation at most; bias of a report, the
    largest, and as a formula (stated); ratio, the largest likelihood ratio.
    """
    x, points, rows = np.linspace(0, 1, users), np.linspace(0, 1, 4 * b + 1), []
    for index, rule in enumerate(("printed", "corrected")):
        local = Buckets(eps, b, printed=rule == "printed")
        reports = local.randomize(x, np.random.default_rng([seed, index]))
        laws = np.array([local.law(float(v)) for v in points])
        with np.errstate(divide="ignore"):
            ratio = float((laws.max(axis=0) / laws.min(axis=0)).max())
        rows.append(
            {
                "rule": rule,
                "eps": eps,
                "b": b,
                "users": users,
                "error": float(local.estimate(reports.sum(), users=users)) / users - float(x.mean()),
                # A report's variance is at most b^2/4, and the estimate divides by b (1 - gamma).
                "deviation": 0.5 / (1 - local.gamma) / math.sqrt(users),
                "bias": float(np.abs(local.estimate(laws @ np.arange(b + 1), users=1) - points).max()),
                "stated": local.bias,
                "ratio": ratio,
            }
        )
    return pd.DataFrame(rows)


def least_density(y: float, eps: float) -> float:
    """Of a Laplace report, over all inputs; it is least at an end of [0, 1], the others are there to show it."""
    return min(eps / 2 * math.exp(-eps * abs(y - x)) for x in (0.0, 0.25, 0.5, 0.75, 1.0))


def coordinate_cases(cases: Sequence[tuple[float, int, float, int, int, float]], *, padded: bool) -> pd.DataFrame:
    """Theorem 3 at (eps_lk, b, beta, n, n_p, delta_cd), or Theorem 2 with two answers and n_s for n_p, both with b + 1.

    Columns: eps, b, beta, size (n_p or n_s), delta; stated eps_cd; found, delta there, certified or exact; tight, the
    same where a sharp eps_ck replaces Lemma 1; zero, delta of an attack on the printed Algorithm 1.
    """
    rows = []
    for eps, answers, beta, n, size, delta in cases:
        local = Buckets(eps, answers if padded else 1)

        def exact(at: float, local: Buckets = local, n: int = n, size: int = size, beta: float = beta) -> float:
            if padded:
                lost = overflow(n_p=size, n=n, beta=beta)
                return coordinate(local, n_p=size, n=n, beta=beta).upper(at) + lost
            return max(_subsampled_bits(local, size, beta, at, others) for others in (0.0, 0.5, 1.0))

        before = published.lemma1_epsilon(eps, n=size, delta=delta / beta, answers=local.b + 1)
        stated = published.subsampled(before, beta=beta)
        # Lemma 1 is so loose that it hides what follows it.
        sharp = published.subsampled(coordinate(local, n_p=size).epsilon(delta / beta), beta=beta)
        zero = attacks.zero_delta(Buckets(eps, local.b, printed=True), n=size, eps=stated, beta=beta)
        rows.append((eps, local.b, beta, size, delta, stated, exact(stated), exact(sharp), zero))
    columns = ["eps", "b", "beta", "size", "delta", "stated", "found", "tight", "zero"]
    return pd.DataFrame(rows, columns=columns)


def _subsampled_bits(local: Buckets, n_s: int, beta: float, eps: float, others: float) -> float:
    """Exact delta of n_s shuffled bits, the others all at one input; the victim is in, or another user is."""
    k, q = np.arange(n_s + 1), float(local.law(others)[1])
    rest, out = binom.pmf(k[:-1], n_s - 1, q), binom.pmf(k, n_s, q)
    laws = []
    for x in (0.0, 1.0):
        p = float(local.law(x)[1])
        laws.append((1 - beta) * out + beta * (np.r_[rest * (1 - p), 0.0] + np.r_[0.0, rest * p]))
    one, two = (law / law.sum() for law in laws)
    return max(discrete.hockey_stick(one, two, eps), discrete.hockey_stick(two, one, eps))


def report_variance(local: Local, x: float) -> float:
    """Variance of one report on x, in units of [0, 1]; exact."""
    if isinstance(local, Laplace):
        return 2 / local.eps**2
    law, answers = local.law(x), np.arange(local.b + 1) / local.b
    return float(law @ answers**2 - (law @ answers) ** 2)


def dummy_variance(local: Local) -> float:
    """Variance of a dummy; (b + 2)/(12 b) for the corrected R_{gamma,b}."""
    if isinstance(local, Laplace):
        return 2 / local.eps**2
    return (local.answers**2 - 1) / 12 / local.b**2


def standard_deviation(local: Local, *, n_s: int, n_p: int, x: float = 0.5) -> float:
    """Of the estimated mean of n_s users who all hold x, n_p - n_s dummies added; exact.

    >>> round(standard_deviation(Laplace(0.5), n_s=20, n_p=333), 4)  # sqrt(2 n_p)/(eps n_s)
    2.5807
    """
    scale = 1.0 if isinstance(local, Laplace) else 1 - local.gamma
    total = n_s * report_variance(local, x) + (n_p - n_s) * dummy_variance(local)
    return math.sqrt(total) / (scale * n_s)


def deviations(local: Local, *, n_s: int, n_p: int, repeats: int, seed: int, x: float = 0.5) -> dict[str, float]:
    """The same beside `repeats` simulated rounds: n_s, n_p, exact, simulated and error, value/sqrt(2 (repeats - 1))."""
    rng = np.random.default_rng(seed)
    reports = local.randomize(np.full((repeats, n_s), x), rng)
    dummies = local.blanket((repeats, n_p - n_s), rng)
    found = local.estimate(reports.sum(axis=1) + dummies.sum(axis=1), users=n_s, dummies=n_p - n_s) / n_s
    value, exact = float(found.std(ddof=1)), standard_deviation(local, n_s=n_s, n_p=n_p, x=x)
    return {"n_s": n_s, "n_p": n_p, "exact": exact, "simulated": value, "error": value / math.sqrt(2 * (repeats - 1))}


def best_buckets(*, n_p: int, eps_ck: float, delta: float, n_s: int) -> tuple[Buckets, float]:
    """R_{gamma,b} at the eps_ck that Lemma 1 gives it, with the b of least error: (it, its standard deviation).

    gamma = 14 (b + 1) log(2/delta)/((n_p - 1) eps_ck^2). The worst fixed value is half-way between two buckets.
    """
    per_answer = 14 * math.log(2 / delta) / ((n_p - 1) * eps_ck**2)
    b = np.unique(np.round(np.geomspace(1, 20_000, 400)).astype(int))
    found = []
    for steps in b[(b + 1) * per_answer < 1].tolist():
        # gamma = answers/(e^eps + answers - 1), solved for eps
        local = Buckets(math.log1p(1 / per_answer - (steps + 1)), steps)
        found.append((local, standard_deviation(local, n_s=n_s, n_p=n_p, x=0.5 / steps)))
    return min(found, key=lambda pair: pair[1])


def error_exponents(*, share: float, delta: float) -> pd.DataFrame:
    """Proposition 1: slopes of log sd against log n_p, n_s and eps_ck, with n_s/n_p = share at most, or no dummies.

    Columns: varied, dummies, exponent, stated.
    """
    size, many = np.geomspace(1e6, 1e9, 7), np.full(7, 1e9)
    same, budgets = np.full(7, 0.5), np.geomspace(0.05, 1, 7)
    stated = {"n_p": 1 / 6, "n_s": -1.0, "eps_ck": -2 / 3}
    rows = []
    for varied, dummies, n_p, n_s, eps in (
        ("n_p", True, size, np.full(7, 1e6 * share), same),
        ("n_s", True, many, size * share, same),
        ("eps_ck", True, many, many * share, budgets),
        ("n_p", False, size, size, same),
        ("eps_ck", False, many, many, budgets),
    ):
        given = {"n_p": n_p.astype(int), "n_s": n_s.astype(int), "eps_ck": eps}
        each = [
            dict(zip(given, values, strict=True)) for values in zip(*(v.tolist() for v in given.values()), strict=True)
        ]
        sd = [best_buckets(**one, delta=delta)[1] for one in each]
        slope = float(np.polyfit(np.log(given[varied]), np.log(sd), 1)[0])
        # Without dummies n_s grows with n_p.
        order = stated[varied] + (stated["n_s"] if varied == "n_p" and not dummies else 0.0)
        rows.append((varied, dummies, slope, order))
    return pd.DataFrame(rows, columns=["varied", "dummies", "exponent", "stated"])


def whole_messages(one: Setting, eps: float) -> float:
    """delta at eps of the better attack on messages of k coordinates: by their values, or by the indices they name."""
    many = round(one.d * one.n_p / one.k)
    values = attacks.linked_delta(Laplace(one.eps), k=one.k, messages=many, eps=eps)
    return max(values, attacks.named_delta(d=one.d, k=one.k, dummies=many)) if 2 * one.k <= one.d else values


def least_nu(many: int, *, beta: Any) -> Any:
    """The strongest index privacy with l = `many`: the least nu >= 1 of Definition 3, exact for a `Fraction`.

    >>> least_nu(16, beta=Fraction(1, 50)), least_nu(1, beta=0.02)
    (Fraction(25, 8), inf)
    """
    if many == 1:
        return math.inf if beta < 1 else 1.0
    return max(beta / beta, 1 / (many * beta), (1 - beta) * many / (many - 1))


def overflow_by_l(one: Setting, *, popular: float = 0.0) -> pd.DataFrame:
    """How l k reports from each of n users fit into n_p, exactly, for every l up to d/k.

    The other indices of a user are drawn uniformly among the d - k not selected, as Algorithm 4 has them. `popular` is
    the share of users among whose k largest a coordinate is; 0 stands for k/d. Columns: l, nu, mean of n_(s,j), one
    (probability that a coordinate overflows) and any (that some one does, at most, were all like it).
    """
    d, k, n, n_p = one.d, one.k, one.n, one.n_p
    top = round(popular * n)
    rows = []
    for many in range(1, d // k + 1):
        extra = (many - 1) * k / (d - k) if d > k else 0.0
        if popular == 0:
            mean, over = n * many * k / d, float(binom.sf(n_p, n, many * k / d))
        else:
            mean = top + (n - top) * extra
            over = float(binom.sf(n_p - top, n - top, extra)) if top <= n_p else 1.0
        rows.append((many, float(least_nu(many, beta=one.beta)), mean, over, min(1.0, d * over)))
    return pd.DataFrame(rows, columns=["l", "nu", "mean", "one", "any"])


def largest_fitting_l(table: pd.DataFrame, *, delta: float) -> int:
    """The largest l of `overflow_by_l` at which no coordinate overflows but with probability delta; 0 if none does."""
    return int(table.loc[table["any"] <= delta, "l"].max()) if (table["any"] <= delta).any() else 0


def simulate_padding(one: Setting, many: int, *, seed: int) -> dict[str, float]:
    """One round with l = `many` indices a user, the largest uniform: share overflowing, largest and mean n_(s,j)."""
    rng, size = np.random.default_rng(seed), np.zeros(one.d, dtype=np.int64)
    for _ in range(one.n):  # with uniform largest ones, all l k indices are uniform
        size[rng.permutation(one.d)[: many * one.k]] += 1
    return {"overflowing": float((size > one.n_p).mean()), "largest": float(size.max()), "mean": float(size.mean())}


def posterior(d: int, k: int, many: int) -> Fraction:
    """P(index is among the k largest | reported), enumerated for all k largest of d and all others reported.

    >>> posterior(4, 1, 2)
    Fraction(1, 2)
    """
    hit, total = 0, 0
    for top in combinations(range(d), k):
        for other in combinations([j for j in range(d) if j not in top], k * (many - 1)):
            hit, total = hit + (0 in top), total + (0 in top or 0 in other)
    return Fraction(hit, total)


def collected(*, eps: float, n: int) -> dict[str, float]:
    """delta at eps of n randomized responses, one user's bit replaced: eps, n, report, reports (all), sum."""
    laws: Any = [Buckets(eps, 1).law(x) for x in (0.0, 1.0)]
    products, total = [law.copy() for law in laws], [law.copy() for law in laws]
    for _ in range(n - 1):  # the others hold 0
        products = [np.multiply.outer(law, laws[0]).ravel() for law in products]
        total = [np.convolve(law, laws[0]) for law in total]
    one, whole, summed = (discrete.hockey_stick(a, b, eps) for a, b in (laws, products, total))
    return {"eps": eps, "n": n, "report": one, "reports": whole, "sum": summed}


def composed_response(eps: float, *, delta: float, folds: int, at: float) -> float:
    """Exact delta at `at` of t copies of the pair that dominates every (eps, delta)-DP mechanism.

    It tells the input with probability delta, else is randomized response at eps (Kairouz, Oh and Viswanath 2015).
    """
    ones = np.arange(folds + 1)
    loss = (2 * ones - folds) * eps
    mass = binom.pmf(ones, folds, 1 / (1 + math.exp(-eps)))
    # A loss that is `at` but for rounding counts nothing.
    rest = float(mass @ np.where(loss > at + 1e-9, -np.expm1(np.minimum(at - loss, 0)), 0.0))
    kept = (1 - delta) ** folds
    return 1 - kept + kept * rest


def subsamples(cases: Sequence[tuple[int, int, float]]) -> pd.DataFrame:
    """Lemma 4 at (n, m, eps), for two mechanisms on m of n records drawn without replacement.

    "one record": the victim's bit by the pair of `composed_response` at delta = 0.01, a fixed one if not drawn. "noisy
    count": the ones plus Bin(40, 1/2). Columns: mechanism, n, m, eps, delta (of the mechanism), at, stated, exact.
    """
    noise = binom.pmf(np.arange(41), 40, 0.5)
    rows = []
    for n, m, eps in cases:
        share = m / n
        at = published.subsampled(eps, beta=share)
        p, told = 1 / (1 + math.exp(-eps)), 0.01
        zero, one = (
            np.array([told * (x == 0), told * (x == 1), (1 - told) * (p if x == 0 else 1 - p),
                      (1 - told) * (p if x == 1 else 1 - p)])
            for x in (0, 1)
        )  # fmt: skip
        drawn = (1 - share) * zero + share * one
        exact = _either(drawn, zero, at)
        rows.append(("one record", n, m, eps, told, at, share * told, exact))
        delta = _either(np.r_[noise, 0.0], np.r_[0.0, noise], eps)
        exact = 0.0
        for ones in range(n):
            fewer, more = (np.convolve(hypergeom(n, held, m).pmf(np.arange(m + 1)), noise) for held in (ones, ones + 1))
            exact = max(exact, _either(fewer, more, at))
        rows.append(("noisy count", n, m, eps, delta, at, share * delta, exact))
    return pd.DataFrame(rows, columns=["mechanism", "n", "m", "eps", "delta", "at", "stated", "exact"])


def _either(p: Array, q: Array, eps: float) -> float:
    return max(discrete.hockey_stick(p, q, eps), discrete.hockey_stick(q, p, eps))


def selection_seen(*, d: int, k: int, many: int) -> float:
    """delta, at every eps, of the indices of one user of SS-Topk, whose selections under two inputs are disjoint.

    She reports many k of them; under the first input not all of the other selection, with this probability, and under
    the second always.
    """
    extra = k * (many - 1)
    if extra < k:
        return 1.0
    # C(d - 2k, extra - k)/C(d - k, extra): all k of the other selection are among the extra ones
    log = [gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1) for a, b in ((d - 2 * k, extra - k), (d - k, extra))]
    return -math.expm1(float(log[0] - log[1]))


def unpadded(one: Setting) -> dict[str, float]:
    """Certified eps of SS-Double with R_{gamma,1}, each index drawn independently: without padding, and with.

    Keys: both (subsampling counted), shuffling (every index of the victim known), padded, local (eps_l).
    """
    rest = {"both": (one.beta, one.d), "shuffling": (1.0, one.k)}
    found = {name: _unpadded(one, victim=share, folds=folds) for name, (share, folds) in rest.items()}
    local = Buckets(one.eps, 1)
    padded = accounting.double_poisson(
        local, d=one.d, k=one.k, n=one.n, n_p=one.n_p, delta=one.delta, attack=False
    ).upper
    return {**found, "padded": padded, "local": one.eps_local}


def _unpadded(one: Setting, *, victim: float, folds: int) -> float:
    """The analyzer sees how many reports each coordinate has. The users who tell the truth are given away, J of them.

    Of the other n - 1 - J each is in with a fair bit, or not; the victim is in with probability `victim`.
    """
    local = Buckets(one.eps, 1)
    tell, fair = one.beta * (1 - local.gamma), one.beta * local.gamma
    told, losses, masses, lost = binom(one.n - 1, tell), [], [], 0.0
    most = int(told.isf(_LEFT_OUT))
    for given in range(most + 1):
        law = binom(one.n - 1 - given, fair / (1 - tell))
        counts = np.arange(int(law.isf(_LEFT_OUT)) + 1)
        first, second = _counts_of_bits(law.pmf(counts), float(local.law(0.0)[1]), victim)
        losses.append(np.log(first / second))
        masses.append(told.pmf(given) * first)
        lost += float(told.pmf(given) * law.sf(counts[-1]))
    loss, mass = np.concatenate(losses), np.concatenate(masses)
    step = float(np.sqrt(mass @ loss**2)) / _STEPS
    # Exchanging the bits exchanges the laws: one direction is both.
    pair = spread(loss, mass, step, lost + float(told.sf(most)))
    return min(epsilon_of(Sides([(pair, folds)], [(pair, folds)]), one.delta).upper, one.eps_local)


def _counts_of_bits(mass: Array, p: float, victim: float) -> tuple[Array, Array]:
    """Laws of (reports, ones), where `mass` is of the number of fair bits; the victim's bit is 1 with p, or 1 - p."""
    size = mass.size + 1
    laws = [np.zeros((size, size)), np.zeros((size, size))]
    for count, weight in enumerate(mass):
        bits = weight * binom.pmf(np.arange(count + 1), count, 0.5)
        for law, one in zip(laws, (p, 1 - p), strict=True):
            law[count, : count + 1] += (1 - victim) * bits
            law[count + 1, : count + 2] += victim * ((1 - one) * np.r_[bits, 0.0] + one * np.r_[0.0, bits])
    seen = laws[0] > 0
    return laws[0][seen], laws[1][seen]


def one_index(*, d: int, n: int, eps: float, at: float) -> dict[str, float]:
    """Exact delta at `at` of SS-Double without padding and with exactly k = 1 index, worst over all vectors of bits.

    Keys: d, n, eps (of randomized response), at, both, and known (shuffling alone: the victim's index is known).
    """
    truth = 1 / (1 + math.exp(-eps))

    def send(law: Mapping[tuple[int, ...], float], x: tuple[int, ...], indices: Sequence[int]) -> dict[Any, float]:
        """The law of the numbers of (index, bit) pairs after one more user."""
        more: dict[Any, float] = defaultdict(float)
        for (seen, mass), j, bit in product(law.items(), indices, (0, 1)):
            place = 2 * j + bit
            share = (truth if bit == x[j] else 1 - truth) / len(indices)
            more[(*seen[:place], seen[place] + 1, *seen[place + 1 :])] += mass * share
        return more

    vectors, worst = list(product((0, 1), repeat=d)), {"both": 0.0, "known": 0.0}
    for others in combinations_with_replacement(vectors, n - 1):
        law: Mapping[tuple[int, ...], float] = {(0,) * (2 * d): 1.0}
        for x in others:
            law = send(law, x, range(d))
        for name, indices in (("both", range(d)), ("known", range(1))):
            for p, q in permutations([send(law, x, indices) for x in vectors], 2):
                delta = sum(max(mass - math.exp(at) * q[seen], 0.0) for seen, mass in p.items())
                worst[name] = max(worst[name], delta)
    return {"d": d, "n": n, "eps": eps, "at": at, **worst}


def filled(needs: Sequence[int], *, k: int, seed: int | None) -> tuple[int, int]:
    """Algorithm 3's dummy vectors, and how many dummies are still missing after them.

    Each vector takes k coordinates that need a dummy: at random, or, without a seed, those that need most.
    """
    need = np.asarray(needs, dtype=int).copy()
    rng = None if seed is None else np.random.default_rng(seed)
    vectors = int(need.sum()) // k
    for _ in range(vectors):
        if rng is None:
            taken = np.argpartition(-need, k - 1)[:k]
        else:
            open_ = np.flatnonzero(need)
            taken = rng.choice(open_, min(k, open_.size), replace=False, shuffle=False)
        need[taken] -= need[taken] > 0
    return vectors, int(need.sum())


def needs_of(one: Setting, *, seed: int) -> list[int]:
    """Dummies that each coordinate needs in a round of SS-Double; a coordinate that overflows needs none."""
    rng = np.random.default_rng(seed)
    drawn = np.zeros(one.d, dtype=int)
    for _ in range(one.n):
        drawn[rng.choice(one.d, one.k, replace=False, shuffle=False)] += 1
    return np.maximum(one.n_p - drawn, 0).tolist()  # type: ignore[no-any-return]


_FORMS = {
    "old_bennett": ("paper's form (first version of Bennett's)", "x", "paper"),
    "bennett": ("corrected Bennett form", "^", "closed form"),
    "exact": ("exact bound of one coordinate", "s", "numerical"),
}
_ENDS = {"attack": "an attack reaches this", "certified": "certified: at most this"}
_RATIOS = {
    "double": "SS-Double",
    "simple": "SS-Simple, same budget per coordinate",
    "equal": r"SS-Simple, same $\epsilon_l$",
}
_PROTOCOLS = ("SS-Simple", "SS-Double", "SS-Topk")
_INDICES = "$l$ (indices reported, over $k$)"


def _mark(name: str, marker: str) -> dict[str, Any]:
    return {"color": role(name)["color"], "marker": marker, "lw": 0, "mew": 1.8, "mfc": "none"}


def _rows_of_intervals(axis: Axes, low: pd.Series, high: pd.Series, names: Sequence[str]) -> None:
    """A row for each name with the interval in which the truth lies; its first and last end are `low` and `high`."""
    places = np.arange(len(names))
    axis.hlines(places, low, high, color=ROLES["reference"][0], lw=5, alpha=0.5)
    axis.set_yticks(places, names, fontsize=9)
    axis.set(xscale="log", ylim=(len(names) - 0.5, -0.5))


@keeps_data
def draw_budgets(table: pd.DataFrame) -> Figure:
    """eps_c in each row of the accounts: by the paper's theorems, and the interval from attack to certified."""
    figure, axis = plt.subplots(figsize=(6.6, 4.8), layout="constrained")
    names = [name.replace(", ", ",\n") for name in table.index]
    _rows_of_intervals(axis, table["attack"], table["certified"], names)
    rows = np.arange(len(table))
    for end, label in _ENDS.items():
        axis.plot(table[end], rows, label=label, ms=15, **_mark(end, "|"))
    for name, (label, marker, meaning) in _FORMS.items():
        axis.plot(table[name], rows, label=label, ms=7, **_mark(meaning, marker))
    axis.set_xlabel(r"central $\epsilon_c$ at $\delta_c$ (log scale)")
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure


@keeps_data
def draw_ratios(table: pd.DataFrame, *, certified: pd.DataFrame, eps: float) -> Figure:
    """Figure 3: the printed ratios as lines, and below them, at one eps, beside `certified_ratios`."""
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(6.6, 6.8), height_ratios=(5, 3), layout="constrained"
    )  # not one x axis: a budget and an amplification
    last = table.iloc[-1]
    for (name, label), dashes in zip(_RATIOS.items(), DASHES, strict=False):
        style = role("paper") | {"dashes": dashes or (None, None)}
        above.plot(table["eps"], table[name], label=f"{label}, printed", **style)
        name_line(above, last["eps"], last[name], label, colour=style["color"], right=-2, up=9)
    above.axhline(1, color=ROLES["reference"][0], lw=1)
    name_line(above, last["eps"], 1, "no amplification", colour=ROLES["reference"][0], right=-2, up=-8)
    xlabel = r"budget of one reported coordinate, $\epsilon_{ld}$ or $\epsilon_{lk}$"
    above.set(xlabel=xlabel, ylabel="as printed: $\\epsilon_l/\\epsilon_c$\n(log scale)", yscale="log")
    above.margins(y=0.12)
    proved = certified.set_index("case").loc[list(_RATIOS)]
    high = proved["ratio_high"].clip(upper=1e12)
    _rows_of_intervals(below, proved["ratio_low"], high, [label.replace(", ", ",\n") for label in _RATIOS.values()])
    rows = np.arange(len(proved))
    printed = table.iloc[(table["eps"] - eps).abs().argmin()][list(_RATIOS)]
    below.plot(printed, rows, label="printed", ms=7, **_mark("paper", "x"))
    below.plot(proved["ratio_low"], rows, label="certified: at least this", ms=15, **_mark("certified", "|"))
    below.plot(high, rows, label="by an attack: at most this", ms=15, **_mark("attack", "|"))
    below.set_xlabel(rf"amplification $\epsilon_l/\epsilon_c$ at a budget of {eps:g} (log scale)")
    figure.legend(*below.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    return figure


@keeps_data
def draw_index_privacy(table: pd.DataFrame, overflow: pd.DataFrame, *, many: int = 0) -> Figure:
    """Figure 4, and from `overflow_by_l` where n_(s,j) no longer fits into n_p; `many` is marked."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 4.2), layout="constrained")
    finite = table[table["l"] > 1]
    left.plot(table["l"], table["first"], label=r"$1/(l\beta)$", **role("paper"))
    left.plot(finite["l"], finite["second"], label=r"$(1-\beta)l/(l-1)$", **role("closed form"))
    left.plot(finite["l"], finite["nu"], label=r"least $\nu$ (none at $l=1$)", **role("truth") | {"dashes": (5, 2)})
    left.set(xlabel=_INDICES, ylabel=r"index privacy $\nu$ (log scale)", yscale="log")
    left.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    left.legend(fontsize=9)
    shown = overflow[overflow["any"] > 0]
    right.plot(shown["l"], shown["one"], label="one coordinate", **role("truth"))
    right.plot(shown["l"], shown["any"], label="some coordinate: at most", **role("certified"))
    right.set(xlabel=_INDICES, ylabel=r"$P(n_{s,j}>n_p)$ (log scale)", yscale="log", ylim=(_LEAST, 4))
    right.set_xlim(0, float(overflow["l"].max()))
    if 0 < many <= overflow["l"].max():
        for axis in (left, right):
            axis.axvline(many, color=ROLES["reference"][0], lw=1)
        name_line(right, many, 1e-9, f"paper's $l$ = {many}", colour=ROLES["reference"][0])
    right.legend(loc="lower right", fontsize=9)
    return figure


@keeps_data
def draw_sweeps(by_budget: pd.DataFrame, by_dimension: pd.DataFrame) -> Figure:
    """Figures 9 and 10, from `sweep` over "eps_l" and "d": colours are by kind, dashes by protocol."""
    figure, axes = plt.subplots(2, 1, figsize=(6.6, 7.4), layout="constrained")
    labels = (r"local budget of the vector $\epsilon_l$ (log scale)", "coordinates $d$ (log scale)")
    for axis, table, label in zip(axes, (by_budget, by_dimension), labels, strict=True):
        for (line, kind), part in table.groupby(["line", "kind"], sort=False):
            style = role("paper" if kind == "printed" else "certified")
            style |= {"dashes": DASHES[_PROTOCOLS.index(str(line))] or (None, None)}
            marks: dict[str, Any] = {"marker": "x", "ms": 5, "lw": 1.2} if kind == "printed" else {}
            axis.plot(part[table.columns[0]], part["epsilon"], label=f"{line}, {kind}", **style | marks)
        axis.set(xlabel=label, yscale="log", xscale="log")
        # An axis of about a decade would be labelled at each of its minor ticks, one over the other.
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.set_ylabel(r"central $\epsilon_c$ at $\delta_c$ (log scale)")
    for axis in axes:
        name_ends(axis)
    return figure

"""Page 15, FLAME's smaller statements: what it takes from others, what it says in passing, and the dimension.

>>> found = lemmas(cases=[(0.5, 1e-4, 3, 1e-3)])
>>> bool((found["exact"] <= found["stated"] * (1 + 1e-9)).all())
True
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaln
from scipy.stats import binom, hypergeom

from gspa.accountant import budgets, discrete, mechanisms, one_round
from gspa.accountant.families import common
from gspa.accountant.losses import spread
from gspa.accountant.rounds import Sides, epsilon_of
from gspa.algorithms.flame import accounting
from gspa.algorithms.flame.padded import Coordinate, coordinate
from gspa.algorithms.flame.randomizers import Buckets, Laplace
from gspa.book.claims import Outcome, claim, judge, settles
from gspa.book.verdicts import Said, Verdict, at_least, exactly, joined, ranked, reading
from gspa.pages import p15_amplification as amplification
from gspa.pages.p15_amplification import Setting
from gspa.pages.p15_flame_privacy import least_nu

Array = NDArray[np.float64]

# --- tables ------------------------------------------------------------------------------------------------


def dimensions(one: Setting, sizes: Sequence[int]) -> pd.DataFrame:
    """SS-Simple as d grows, at one eps_l and at one budget per coordinate, those of `one`.

    Columns: fixed ("vector" or "coordinate"), d, eps_local, attack, certified (both of eps_c), ratio_low, ratio_high
    (eps_l/eps_c), corollary2 and lemma1 (eps_l over Corollary 2's expression; over Theorem 1 with Lemma 1, b = 2).
    """
    rows = []
    for fixed, d in ((fixed, d) for fixed in ("vector", "coordinate") for d in sizes):
        eps = one.eps_local / d if fixed == "vector" else one.eps_local / one.d
        now = Setting(d=d, k=d, n=one.n, n_p=one.n, eps=eps, delta=one.delta)
        found = accounting.simple(Laplace(eps), d=d, n=one.n, delta=one.delta)
        whole = now.eps_local
        rows.append(
            {
                "fixed": fixed,
                "d": d,
                "eps_local": whole,
                "attack": found.lower,
                "certified": found.upper,
                "ratio_low": whole / found.upper,
                "ratio_high": whole / found.lower,
                "corollary2": whole / amplification.corollary2(now),
                "lemma1": whole / amplification.simple(now, bound="lemma1").eps,
            }
        )
    return pd.DataFrame(rows)


def collected(*, eps: float, n: int, at: float | None = None) -> dict[str, float]:
    """delta at `at`, else eps, of n randomized responses, one user's bit replaced: of a report, of all, of their sum.

    Keys: eps (where delta is), n, report, reports, sum; asked, the largest of all yes/no questions about the sum.
    """
    at = eps if at is None else at
    laws: Any = [Buckets(eps, 1).law(x) for x in (0.0, 1.0)]
    product, total = [law.copy() for law in laws], [law.copy() for law in laws]
    for _ in range(n - 1):  # the others hold 0
        product = [np.multiply.outer(law, laws[0]).ravel() for law in product]
        total = [np.convolve(law, laws[0]) for law in total]
    one, whole, summed = (discrete.hockey_stick(a, b, at) for a, b in (laws, product, total))
    gains = total[0] - math.exp(at) * total[1]
    asked = max(float(gains[list(kept)].sum()) for kept in _questions(n + 1))
    return {"eps": at, "n": n, "report": one, "reports": whole, "sum": summed, "asked": asked}


def _questions(answers: int) -> list[list[bool]]:
    return [[bool(code >> place & 1) for place in range(answers)] for code in range(2**answers)]


def shuffled(budgets_: Sequence[float], *, n: int, delta: float) -> pd.DataFrame:
    """Randomized response of n users: its error, and what shuffling or summing its reports is certified to have.

    Columns: eps (local), single (exact eps of one report at delta), guess (chance to tell a fair bit right from it), sd
    (of its estimate), central (certified eps at delta of the shuffled reports, so of their sum), alone (the budget at
    which one report has (central, delta) by itself), sd_alone.
    """
    rows = []
    for eps in budgets_:
        central = coordinate(Buckets(eps, 1), n_p=n).epsilon(delta)
        right = (math.exp(central) + delta) / (1 + math.exp(central))  # delta = right - e^central (1 - right)
        truth = math.exp(eps) / (1 + math.exp(eps))
        single = math.log((truth - delta) / (1 - truth))
        rows.append(
            (eps, single, truth, _response_sd(truth), central, math.log(right / (1 - right)), _response_sd(right))
        )
    return pd.DataFrame(rows, columns=["eps", "single", "guess", "sd", "central", "alone", "sd_alone"])


def _response_sd(truth: float) -> float:
    return math.sqrt(truth * (1 - truth)) / (2 * truth - 1)


def bit_sums(sizes: Sequence[int], *, eps: float) -> pd.DataFrame:
    """Root mean square error of the sum of n bits: Laplace noise (central), any local protocol (local, at least).

    Of a fair bit that a report tells of, a variance of at least v = e^eps/(1 + e^eps)^2 is left, and the users' bits
    stay independent: no estimate of the sum has a mean square error below n v. Columns: n, eps, central, response
    (randomized response), local.
    """
    truth = math.exp(eps) / (1 + math.exp(eps))
    rows = []
    for n in sizes:
        response = math.sqrt(n * truth * (1 - truth)) / (2 * truth - 1)
        rows.append((n, eps, math.sqrt(2) / eps, response, math.sqrt(n * truth * (1 - truth))))
    return pd.DataFrame(rows, columns=["n", "eps", "central", "response", "local"])


def corollary1_cases(cases: Sequence[tuple[int, float, float]]) -> pd.DataFrame:
    """Corollary 1 for any randomizer at (n, delta, share), eps_l a share of the end of its condition.

    Columns: n, delta, eps, certified, stated (without its constant), ratio.
    """
    rows = []
    for n, delta, share in cases:
        eps = share * math.log(n / math.log(1 / delta)) / 2
        found = one_round.central_epsilon(budgets.constant(eps, n=n), delta=delta, mechanism=common()).upper
        stated = min(1.0, eps) * math.exp(eps) * math.sqrt(math.log(1 / delta) / n)
        rows.append((n, delta, eps, found, stated, found / stated))
    return pd.DataFrame(rows, columns=["n", "delta", "eps", "certified", "stated", "ratio"])


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


def lemmas(*, cases: Sequence[tuple[float, float, int, float]]) -> pd.DataFrame:
    """Lemmas 2 and 3 at (eps, delta, t, delta'): lemma, these columns, at (the stated eps), stated and exact delta."""
    rows = []
    for eps, delta, folds, more in cases:
        whole = folds * eps
        strong = math.sqrt(2 * folds * math.log(1 / more)) * eps + folds * eps * math.expm1(eps)
        pure = composed_response(eps, delta=0.0, folds=folds, at=whole)
        rows.append((2, eps, 0.0, folds, 0.0, whole, 0.0, pure))
        found = composed_response(eps, delta=delta, folds=folds, at=strong)
        rows.append((3, eps, delta, folds, more, strong, folds * delta + more, found))
    return pd.DataFrame(rows, columns=["lemma", "eps", "delta", "t", "more", "at", "stated", "exact"])


def subsamples(cases: Sequence[tuple[int, int, float]]) -> pd.DataFrame:
    """Lemma 4 at (n, m, eps), for two mechanisms on m of n records drawn without replacement.

    "one record": the victim's bit by the pair of `composed_response` at delta = 0.01, a fixed one if not drawn. "noisy
    count": the ones plus Bin(40, 1/2). Columns: mechanism, n, m, eps, delta (of the mechanism), at, stated, exact.
    """
    noise = binom.pmf(np.arange(41), 40, 0.5)
    rows = []
    for n, m, eps in cases:
        share = m / n
        at = amplification.subsampled(eps, beta=share)
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


_LEFT_OUT = 1e-15
_STEPS = 8  # of the grid, in the standard deviation of one coordinate's loss


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


def paddings(sizes: Sequence[int], *, eps: float, n_s: int, beta: float, n: int, delta: float) -> pd.DataFrame:
    """One padded coordinate as n_p grows: n_p, certified eps_cd, and sd of the mean of n_s users, Laplace noise."""
    rows = []
    for n_p in sizes:
        found = coordinate(Laplace(eps), n_p=n_p, n=n, beta=beta).epsilon(delta)
        rows.append((n_p, found, math.sqrt(2 * n_p) / (eps * n_s)))
    return pd.DataFrame(rows, columns=["n_p", "certified", "sd"])


def index_prices(one: Setting, many: Sequence[int]) -> pd.DataFrame:
    """What l costs with the least n_p that fits: l, nu, n_p, sd at one eps_lk, and eps and sd at one central delta.

    `sd` is that of the mean of n beta users, Laplace noise. A coordinate overflows with probability delta/d at most.
    The last two have a coordinate's certified delta, at one eps_cd, of the first l. Nobody can report more
    coordinates than there are: an l above 1/beta is left out.
    """
    rows: list[tuple[float, ...]] = []
    many = [l for l in many if l * one.beta <= 1]  # noqa: E741
    n_s = one.n * one.beta

    def padded(eps: float, n_p: int) -> Coordinate:
        return coordinate(Laplace(eps), n_p=n_p, n=round(n_s))

    least = [max(1, int(binom.isf(one.delta / one.d, one.n, l * one.beta))) for l in many]  # noqa: E741
    at = padded(one.eps, least[0]).epsilon(one.delta / one.d)
    for l, n_p in zip(many, least, strict=True):  # noqa: E741
        eps = float(
            brentq(
                lambda e, n_p=n_p: math.log(padded(math.exp(e), n_p).upper(at) * one.d / one.delta),
                math.log(one.eps) - 0.01,
                math.log(one.eps * n_p / least[0]) + 0.1,
                xtol=1e-3,
            )
        )
        nu = float(least_nu(l, beta=one.beta))
        sds = [math.sqrt(2 * n_p) / (e * n_s) for e in (one.eps, math.exp(eps))]
        rows.append((l, nu, n_p, sds[0], math.exp(eps), sds[1]))
    return pd.DataFrame(rows, columns=["l", "nu", "n_p", "sd", "eps", "sd_central"])


def noise_shares(stated: Sequence[float], *, n: int, delta: float) -> pd.DataFrame:
    """DP-FL's noise split over n users: eps_c as stated, and the exact eps of one share at delta."""
    rows = []
    for eps in stated:
        scale = mechanisms.classical_gaussian_scale(eps=eps, delta=delta, sensitivity=1.0)
        rows.append((eps, mechanisms.gaussian_epsilon(delta=delta, scale=scale / math.sqrt(n))))
    return pd.DataFrame(rows, columns=["eps", "share"])


def local_means(cases: Sequence[tuple[int, int, float]], *, wide: Sequence[int]) -> pd.DataFrame:
    """Error of the mean of n vectors in [-1, 1]^d under eps_l-LDP, over sqrt(d log d)/(eps_l sqrt n).

    "at most", at (d, n, eps): each user sends one random coordinate by randomized response; Bernstein's inequality and
    a union bound give the mean of the largest error. "at least", for d in `wide` and eps_l = d/4: of vectors of fair
    signs. A report says at most eps_l nats about one, so that the sign's means given it have squares that add up to at
    most 2 eps_l, and a coordinate's variance is at least 1 - 2 eps_l/d on average. Columns: side, d, n, eps, error,
    ratio.
    """
    rows = []
    for d, n, eps in cases:
        scale = d / math.tanh(eps / 2)  # a report on one of d coordinates is +-d/tanh(eps/2)
        spread_out = math.sqrt(2 * scale**2 / d / n * math.log(2 * d))
        rows.append(("at most", d, n, eps, spread_out + (scale + 1) * math.log(2 * d) / (3 * n)))
    for d in wide:
        rows.append(("at least", d, 1, d / 4, math.sqrt(1 - 2 * (d / 4) / d)))
    table = pd.DataFrame(rows, columns=["side", "d", "n", "eps", "error"])
    unit = np.sqrt(table["d"] * np.log(table["d"])) / (table["eps"] * np.sqrt(table["n"]))
    return table.assign(ratio=table["error"] / unit)


def simulated_largest(*, d: int, n: int, eps: float, repeats: int, seed: int) -> tuple[float, float]:
    """Mean, over `repeats` rounds, of the largest error of the protocol of `local_means`, and its standard error."""
    rng = np.random.default_rng(seed)
    truth, right = np.where(np.arange(d) % 2 == 0, 1.0, -1.0), 1 / (1 + math.exp(-eps))
    found = []
    for _ in range(repeats):
        index = rng.integers(d, size=n)
        bits = truth[index] * np.where(rng.random(n) < right, 1.0, -1.0)
        mean = np.bincount(index, bits, d) * (d / math.tanh(eps / 2) / n)
        found.append(float(np.abs(mean - truth).max()))
    return float(np.mean(found)), float(np.std(found, ddof=1) / math.sqrt(repeats))


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


def positive_logarithms(settings: Mapping[str, Setting]) -> pd.DataFrame:
    """Theorem 4's delta_cd against 1/(dn) and the 2 beta of Theorem 2: at, delta, standard, room, logarithm."""
    rows = []
    for name, one in settings.items():
        delta, room = one.delta / (2 * one.k + 1), 2 * one.beta
        rows.append((name, delta, 1 / (one.d * one.n), room, math.log(room / delta)))
    return pd.DataFrame(rows, columns=["at", "delta", "standard", "room", "logarithm"])


def second_bounds(shares: Sequence[Fraction], nus: Sequence[Fraction]) -> pd.DataFrame:
    """What Definition 3's inequalities leave P(largest | reported): beta, nu, first, second."""
    rows = [(beta, nu, nu * beta, 1 - (1 - beta) / nu) for beta in shares for nu in nus]
    return pd.DataFrame(rows, columns=["beta", "nu", "first", "second"])


def random_nu(weights: Sequence[int], *, k: int) -> Fraction:
    """The least nu of k indices drawn at random, where a set of k is the largest as likely as its weights' product.

    >>> random_nu([1, 2, 3], k=1)
    Fraction(1, 1)
    """
    d = len(weights)
    nu = Fraction(1)
    for index in range(d):
        top_, drawn_, both, total = 0, 0, 0, 0
        for top in combinations(range(d), k):
            weight = math.prod(weights[j] for j in top)
            for drawn in combinations(range(d), k):
                total += weight
                top_ += weight * (index in top)
                drawn_ += weight * (index in drawn)
                both += weight * (index in top and index in drawn)
        prior, after = Fraction(top_, total), Fraction(both, drawn_)
        nu = max(nu, after / prior, (1 - prior) / (1 - after) if after < 1 else Fraction(10**9))
    return nu


def bandwidths(cases: Sequence[tuple[int, int, int]], *, seed: int) -> pd.DataFrame:
    """What Algorithm 4 sends at (d, k, l): d, k, l, numbers (indices and values), bits (of the indices)."""
    rng = np.random.default_rng(seed)
    rows = []
    for d, k, many in cases:
        order = np.argsort(-np.abs(rng.standard_normal(d)))
        others = rng.permutation(order[k:])[: k * (many - 1)]
        indices = np.r_[order[:k], others]
        rows.append((d, k, many, 2 * indices.size, indices.size * math.ceil(math.log2(d))))
    return pd.DataFrame(rows, columns=["d", "k", "l", "numbers", "bits"])


# --- checks ------------------------------------------------------------------------------------------------


def _rows(table: pd.DataFrame) -> list[Any]:
    return list(table.itertuples())


@settles("F23")
def dimension(table: pd.DataFrame) -> Outcome:
    """`table` is from `dimensions`."""
    evidence: dict[str, object] = {}
    fixed = {"vector": r"one $\epsilon_l$", "coordinate": "one budget per coordinate"}
    for line in _rows(table):
        at = rf"{fixed[line.fixed]}, $d$ = {line.d:,}, $\epsilon_l$ = {line.eps_local:g}"
        evidence[rf"{at}: $\epsilon_c$ attacked; certified"] = f"{line.attack:.4f}; {line.certified:.4f}"
        evidence[rf"{at}: $\epsilon_l/\epsilon_c$ between"] = f"{line.ratio_low:,.0f} and {line.ratio_high:,.0f}"
    parts = {name: table[table["fixed"] == name] for name in fixed}
    vector = parts["vector"]
    evidence[r"one $\epsilon_l$: $\epsilon_l$ over Corollary 2's expression, first and last"] = (
        f"{vector['corollary2'].iloc[0]:,.1f} and {vector['corollary2'].iloc[-1]:,.1f}"
    )

    def falls(part: pd.DataFrame) -> tuple[float, float]:
        """An interval of the amplification at the first d less that at the last."""
        first, last = part.iloc[0], part.iloc[-1]
        return first["ratio_low"] - last["ratio_high"], first["ratio_high"] - last["ratio_low"]

    def said(name: str) -> Said:
        part = parts[name]
        first, last = part.iloc[0], part.iloc[-1]
        grows = (
            rf"At {fixed[name]} the amplification $\epsilon_l/\epsilon_c$ is at most {first['ratio_high']:,.0f} at "
            rf"$d$ = {first['d']:,} and at least {last['ratio_low']:,.0f} at $d$ = {last['d']:,}: it grows."
        )
        if name == "vector":
            grows += (
                rf" The certified $\epsilon_c$ falls from {first['certified']:.3g} to {last['certified']:.3g}. More "
                r"coordinates leave each a smaller budget $\epsilon_l/d$, and that gains more than composing them "
                "costs. Corollary 2 says so, too."
            )
        return {
            "verified": r"$\epsilon_l/\epsilon_c$ falls.",
            "refuted": grows,
            "not reproduced": "The certified intervals do not decide.",
        }

    low, high = (table.loc[table["fixed"] == "vector", "lemma1"].iloc[i] for i in (0, -1))
    by_lemma: Said = {
        "verified": f"The ratio falls from {low:.3g} to {high:.3g}, as Lemma 1's value does not shrink with the local "
        "budget.",
        "refuted": f"The ratio grows from {low:.3g} to {high:.3g}.",
        "not reproduced": "The ratio stays.",
    }
    rises = parts["coordinate"]["certified"]
    weaker: Said = {
        "verified": rf"The certified $\epsilon_c$ grows from {rises.iloc[0]:.3g} to {rises.iloc[-1]:.3g}.",
        "refuted": r"$\epsilon_c$ falls.",
        "not reproduced": "The certified intervals do not decide.",
    }
    first, last = (parts["coordinate"].iloc[i] for i in (0, -1))
    return judge(
        "F23",
        evidence,
        reading(r"$\epsilon_l/\epsilon_c$ at one $\epsilon_l$", ranked(*falls(vector)), said("vector")),
        reading(
            r"$\epsilon_l/\epsilon_c$ at one budget per coordinate",
            ranked(*falls(parts["coordinate"])),
            said("coordinate"),
        ),
        reading(
            r"$\epsilon_l/\epsilon_c$ at one $\epsilon_l$, by Theorem 1 with Lemma 1",
            ranked(low - high, low - high),
            by_lemma,
            excluded=r"the sentence derives it from Corollary 2, which says the opposite at one $\epsilon_l$",
        ),
        reading(
            r"$\epsilon_c$ itself grows, at one budget per coordinate",
            ranked(last["attack"] - first["certified"], last["certified"] - first["attack"]),
            weaker,
            excluded=r"the paper measures amplification by $\epsilon_l/\epsilon_c$, and $\epsilon_l$ grows there",
        ),
    )


@settles("F25")
def reports_are_private(found: Mapping[str, Any], pure: Mapping[str, float]) -> Outcome:
    """`found` is from `p15_flame_privacy.definition2`, `pure` from `collected`."""
    told = f"input and one of {found['answers']:,} numbers"
    evidence: dict[str, object] = {
        rf"{told}: $\delta$ by Definition 2 at $\epsilon$ = {found['eps']:g}": found["pointwise"],
        r"the same report: $\delta$ over sets, so that of any number of reports": found["events"],
        rf"{pure['n']} randomized responses, $\epsilon$ = {pure['eps']:g}: $\delta$ of one, of all, of their sum": (
            f"{pure['report']:.1e}, {pure['reports']:.1e}, {pure['sum']:.1e}"
        ),
    }
    sound = max(pure["reports"], pure["sum"]) <= pure["report"] + 1e-12
    said: Said = {
        "verified": "Reports and sum are as private as one report.",
        "refuted": "Reports or their sum are less private than one report, even at $\\delta$ = 0.",
        "holds with correction": (
            r"A report that tells its input outright meets Definition 2 at "
            rf"$\delta$ = {found['pointwise']:.0e}, while the collected reports have $\delta$ = {found['events']:g}. "
            "With Definition 2 for sets of answers the statement is true: the neighbours differ in the law of one "
            "report only, and the rest is post-processing."
        ),
    }
    verdict = exactly(sound and found["events"] <= found["pointwise"] * (1 + 1e-9), near=sound)
    correction = r"true with Definition 2 for sets of answers, or with $\delta = 0$."
    return judge("F25", evidence, reading("as printed", verdict, said, correction=correction))


@settles("F26")
def sum_of_bits(table: pd.DataFrame) -> Outcome:
    """`table` is from `bit_sums`."""
    evidence: dict[str, object] = {
        rf"$n$ = {line.n:,}, $\epsilon$ = {line.eps:g}: Laplace; any local protocol, at least; randomized response": (
            f"{line.central:.3f}; {line.local:.2f}; {line.response:.2f}"
        )
        for line in _rows(table)
    }
    slope = float(np.polyfit(np.log(table["n"]), np.log(table["local"]), 1)[0])
    evidence["exponent of $n$ in the lower bound"] = slope
    flat = float(np.ptp(table["central"])) == 0 and (table["central"] * table["eps"] <= 2).all()
    holds = bool(flat) and slope >= 0.5 - 1e-9 and bool((table["local"] <= table["response"]).all())
    said: Said = {
        "verified": r"With Laplace noise the error is $\sqrt{2}/\epsilon$ whatever $n$. In the local model, a report "
        r"on a fair bit leaves a variance of at least $v = e^\epsilon/(1+e^\epsilon)^2$, and the bits stay "
        r"independent: no local protocol's error is below $\sqrt{nv}$.",
        "refuted": "The orders differ.",
    }
    return judge("F26", evidence, reading(r"at a fixed $\epsilon$", exactly(holds), said))


CONSTANT = 24.0
"""Of Corollary 1; proved on the page."""


@settles("F27")
def corollary_1(table: pd.DataFrame) -> Outcome:
    """`table` is from `corollary1_cases`."""
    evidence: dict[str, object] = {}
    for line in _rows(table):
        at = rf"$n$ = {line.n:,}, $\delta_c$ = {line.delta:g}, $\epsilon_l$ = {line.eps:.3f}"
        evidence[rf"{at}: certified $\epsilon_c$ over the expression"] = line.ratio
    worst = float(table["ratio"].max())
    evidence["largest; proved constant"] = f"{worst:.3f}; {CONSTANT:g}"
    said: Said = {
        "verified": rf"In these cases the certified $\epsilon_c$ is at most {worst:.2f} times the expression. "
        rf"{CONSTANT:g} times it is enough for every $\delta_c \leq 1/4$, by the proof above.",
        "refuted": f"The certified value is {worst:.3g} times the expression.",
    }
    return judge("F27", evidence, reading("as printed", exactly(worst <= CONSTANT), said))


def _composition(name: str, table: pd.DataFrame, number: int, what: str) -> Outcome:
    part = table[table["lemma"] == number]
    evidence: dict[str, object] = {}
    for line in _rows(part):
        given = rf", $\delta$ = {line.delta:g}, $\delta'$ = {line.more:g}" if line.delta else ""
        at = rf"$\epsilon$ = {line.eps:g}{given}, $t$ = {line.t}: at {line.at:.4f}"
        evidence[rf"{at}, exact $\delta$; stated"] = f"{line.exact:.4g}; {line.stated:.4g}"
    holds = bool((part["exact"] <= part["stated"] * (1 + 1e-9) + 1e-15).all())
    said: Said = {
        "verified": rf"{what}, which dominates every other, has at most the stated $\delta$ in all {len(part)} cases.",
        "refuted": rf"{what} exceeds the stated $\delta$.",
    }
    return judge(name, evidence, reading("as printed", exactly(holds), said))


@settles("F28")
def lemma_2(table: pd.DataFrame) -> Outcome:
    """`table` is from `lemmas`."""
    return _composition("F28", table, 2, "The product of randomized responses")


@settles("F29")
def lemma_3(table: pd.DataFrame) -> Outcome:
    """`table` is from `lemmas`."""
    return _composition("F29", table, 3, r"The product of the worst $(\epsilon, \delta)$ pair")


@settles("F30")
def lemma_4(table: pd.DataFrame) -> Outcome:
    """`table` is from `subsamples`."""
    evidence: dict[str, object] = {
        rf"{line.mechanism}, $m$ = {line.m} of $n$ = {line.n}, $(\epsilon, \delta)$ = ({line.eps:g}, "
        rf"{line.delta:.3g}): exact $\delta$; stated": f"{line.exact:.6g}; {line.stated:.6g}"
        for line in _rows(table)
    }
    holds = bool((table["exact"] <= table["stated"] * (1 + 1e-9) + 1e-15).all())
    tight = float((table["exact"] / table["stated"]).max())
    said: Said = {
        "verified": rf"The exact $\delta$ is at most {tight:.4f} times the stated one: the lemma is sharp."
        if tight > 0.999
        else rf"The exact $\delta$ is at most {tight:.4f} times the stated one.",
        "refuted": rf"The exact $\delta$ is {tight:.4g} times the stated one.",
    }
    return judge("F30", evidence, reading("as printed", exactly(holds), said))


@settles("F32")
def collusion(seen: Mapping[int, float], pure: Mapping[str, float]) -> Outcome:
    """`seen`, by l, from `selection_seen`; `pure` from `collected`: what one report shows."""
    evidence: dict[str, object] = {
        rf"SS-Topk, $l$ = {many}: $\delta$ of the indices alone, at every $\epsilon$": found
        for many, found in seen.items()
    }
    evidence[r"SS-Simple, SS-Double: $\delta$, at $\epsilon_l$, of a report"] = pure["report"]
    values = pure["report"] <= 1e-12
    said: Said = {
        "verified": r"What the two see is $\epsilon_l$-LDP.",
        "refuted": r"Not even the values are $\epsilon_l$-LDP.",
        "holds with correction": r"The values are $\epsilon_l$-LDP, and the indices of SS-Simple and SS-Double do "
        "not depend on the data. The indices of SS-Topk do, and they come with the user's name: two inputs with "
        rf"disjoint selections are told apart with $\delta$ = {max(seen.values()):g} at every $\epsilon$, which no LDP "
        "report allows.",
    }
    verdict = exactly(values and max(seen.values()) <= 1e-12, near=values)
    correction = r"SS-Simple and SS-Double are reduced to LDP-FL; SS-Topk is so only if all $d$ indices are reported."
    return judge("F32", evidence, reading("as printed", verdict, said, correction=correction))


@settles("F33")
def without_padding(one: Setting, found: Mapping[str, float]) -> Outcome:
    """`found` is from `unpadded` at `one`."""
    both, shuffling, padded, local = (found[name] for name in ("both", "shuffling", "padded", "local"))
    evidence: dict[str, object] = {
        r"no padding, subsampling and shuffling: certified $\epsilon$": both,
        r"no padding, shuffling alone (the victim's indices known): certified $\epsilon$": shuffling,
        rf"padded to $n_p$ = {one.n_p}: certified $\epsilon$": padded,
        r"$\epsilon_l$": local,
    }
    said: Said = {
        "verified": "Without padding nothing is certified beyond what shuffling alone gives.",
        "refuted": rf"Subsampling and shuffling compose without any padding: $\epsilon \leq$ {both:.3f} is certified, "
        rf"where shuffling alone gives {shuffling:.2f} and $\epsilon_l$ is {local:g}. The indices do not depend on the "
        r"data, so that the sizes $n_{s,j}$ have one law under both neighbours and an analyzer may see them. Padding "
        rf"improves the bound to {padded:.3f}.",
    }
    return judge("F33", evidence, reading("as printed", exactly(not both < min(shuffling, local)), said))


@settles("F34")
def more_padding(table: pd.DataFrame) -> Outcome:
    """`table` is from `paddings`."""
    evidence: dict[str, object] = {
        rf"$n_p$ = {line.n_p:,}: certified $\epsilon_{{cd}}$; standard deviation": (
            f"{line.certified:.5f}; {line.sd:.3f}"
        )
        for line in _rows(table)
    }
    private, noisy = -np.diff(table["certified"]), np.diff(table["sd"])
    verdict = joined(*(ranked(float(steps.min()), float(steps.max())) for steps in (private, noisy)))
    said: Said = {
        "verified": r"The certified $\epsilon_{cd}$ falls at every step, as more draws from $\omega$ are "
        "post-processing. The error grows at every step, as every dummy adds its variance.",
        "refuted": "With more padding the privacy or the error falls.",
        "not reproduced": "Of privacy and error, one both grows and falls.",
    }
    return judge("F34", evidence, reading("users and local budget fixed", verdict, said))


@settles("F35")
def split_noise(table: pd.DataFrame, n: int, paper: Sequence[float]) -> Outcome:
    """`table` is from `noise_shares`; `paper` are the eps_c that the paper has."""
    least = float((claim("F35").tolerance or {})["eps"])
    evidence: dict[str, object] = {
        rf"$\epsilon_c$ = {line.eps:g}: $\epsilon$ of one of {n} shares": line.share for line in _rows(table)
    }
    own = table[table["eps"].isin(paper)]["share"]
    small = table[~table["eps"].isin(paper)]["share"]
    verdict = joined(at_least(float(own.min()), float(own.min()), least), exactly(float(small.min()) <= least))
    said: Said = {
        "verified": rf"The noise of one share has $1/n$ of the variance. Its $\epsilon$ is at least {own.min():.2f} "
        rf"at the values of $\epsilon_c$ in the paper, and {small.min():.2f} at $\epsilon_c$ = "
        rf"{table['eps'].min():g}.",
        "refuted": rf"The noise of one share has an $\epsilon$ of only {own.min():.2f} at some $\epsilon_c$ of the "
        f"paper, or still {small.min():.2f} at the smallest.",
    }
    return judge("F35", evidence, reading("as printed", verdict, said))


LOCAL_CONSTANT = 6.0
"""For eps <= 1, d >= 2, n >= d log(2d): sqrt(log(2d)/log d) (sqrt(2) coth(1/2) + (coth(1/2) + 1/d)/3) is below it."""


@settles("F36")
def local_error(table: pd.DataFrame, simulated: tuple[float, float]) -> Outcome:
    """`table` is from `local_means`, `simulated` from `simulated_largest` in its first case."""
    evidence: dict[str, object] = {
        rf"$d$ = {line.d:,}, $n$ = {line.n:,}, $\epsilon_l$ = {line.eps:g}: error {line.side}, over the expression": (
            line.ratio
        )
        for line in _rows(table)
    }
    above, below = (table[table["side"] == side] for side in ("at most", "at least"))
    first, (mean, error) = above.iloc[0], simulated
    evidence["first case: largest error, simulated; at most"] = f"{mean:.4f} ± {error:.4f}; {first['error']:.4f}"
    constant, broken = float(above["ratio"].max()), float(below["ratio"].max())
    sound = mean - 5 * error <= first["error"]
    said: Said = {
        "verified": f"The error is at most {max(constant, broken):.1f} times the expression.",
        "refuted": "It is not bounded by the expression.",
        "holds with correction": r"For $\epsilon_l \leq 1$ the error of a protocol that sends one random coordinate is "
        rf"at most {constant:.1f} times the expression. For large budgets no constant will do: at $\epsilon_l = d/4$ "
        r"every local protocol has an error of at least $1/\sqrt{2n}$ in a coordinate, which is "
        rf"{broken:.0f} times the expression at $d$ = {below['d'].max():,} and grows with $d$.",
    }
    near = sound and constant <= LOCAL_CONSTANT
    verdict = exactly(near and broken <= LOCAL_CONSTANT, near=near)
    correction = (
        rf"true for $\epsilon_l \leq 1$ and $n \geq d\ln(2d)$, with the constant {LOCAL_CONSTANT:g}. The paper states "
        r"no such condition, and its own $\epsilon_l$ is 78.5."
    )
    return judge("F36", evidence, reading(r"every $\epsilon_l$", verdict, said, correction=correction))


def _amplified(table: pd.DataFrame) -> dict[str, object]:
    return {
        rf"$\epsilon_l$ = {line.eps:g}: certified $\epsilon_c$ of shuffled randomized responses": line.central
        for line in _rows(table)
    }


@settles("F65")
def noise_for_publishing(table: pd.DataFrame, vectors: pd.DataFrame, delta: float) -> Outcome:
    """`table` is from `shuffled`, `vectors` from `dimensions`, both at delta."""
    evidence = _amplified(table)
    vectors = vectors[vectors["fixed"] == "vector"]
    evidence |= {
        rf"Laplace noise, $d$ = {line.d:,}, $\epsilon_l$ = {line.eps_local:g}: certified": line.certified
        for line in _rows(vectors)
    }
    eps = np.r_[table["eps"], vectors["eps_local"]]
    central, wide = np.r_[table["central"], vectors["certified"]], int(vectors["d"].iloc[-1])
    said: Said = {
        "verified": r"For some $\epsilon_l$ the average alone is not certified to have a smaller $\epsilon_c$.",
        "refuted": r"The average is a function of the shuffled reports, and needs no further noise for "
        rf"$\epsilon_c < \epsilon_l$. At $\delta_c$ = {delta:.1e} it is certified to have $\epsilon_c \leq$ "
        rf"{central[0]:.3f} at $\epsilon_l$ = {eps[0]:g}, {central[-1]:.3f} for {wide:,} coordinates at "
        rf"$\epsilon_l$ = {eps[-1]:g}, and never more than {float((central / eps).max()):.2f} times $\epsilon_l$.",
    }
    by_one = np.r_[table["single"], vectors["eps_local"]]
    needed = not bool((central < by_one).all())  # below eps_l, and not by delta_c alone
    return judge("F65", evidence, reading(r"every $\epsilon_c < \epsilon_l$", exactly(needed), said))


@settles("F66")
def dummies_fill(by_hand: Mapping[str, tuple[int, int]], drawn: tuple[int, int], most: tuple[int, int]) -> Outcome:
    """By `filled`: needs too large for the vectors ("large"), needs that can be met ("met", "unmet"), and a round.

    `drawn` fills the round at random, `most` by the largest needs.
    """
    names = {
        "large": "needs 3, 1, 0, $k$ = 2: dummies missing after the vectors, any choice",
        "met": "needs 2, 1, 1, $k$ = 2: missing, largest needs first",
        "unmet": "needs 2, 1, 1, $k$ = 2: missing, an unlucky choice",
    }
    evidence: dict[str, object] = {text: f"{by_hand[name][1]} after {by_hand[name][0]}" for name, text in names.items()}
    evidence["a round: vectors; dummies missing, drawn at random"] = f"{drawn[0]:,}; {drawn[1]:,}"
    evidence["the same round: missing, largest needs first"] = most[1]
    at_random: Said = {
        "verified": "Every coordinate is filled.",
        "refuted": f"At the end of the round {drawn[1]:,} dummies are missing, because fewer than $k$ coordinates need "
        "any.",
    }
    chosen: Said = {
        "verified": "Every coordinate is filled.",
        "refuted": "Even the largest needs first do not fill a round.",
        "holds with correction": f"If the largest needs come first, {most[0]:,} vectors fill the round. An unlucky "
        "choice can get stuck, and a coordinate that needs more than $v$ dummies cannot get them.",
    }
    near = by_hand["met"][1] == most[1] == 0
    free = exactly(near and by_hand["large"][1] == by_hand["unmet"][1] == 0, near=near)
    correction = (
        r"every coordinate is filled if $k$ divides $\sum_j n_{n,j}$, no $n_{n,j}$ exceeds $v$, and each vector takes "
        "the $k$ largest needs."
    )
    return judge(
        "F66",
        evidence,
        reading("the indexes are drawn at random", exactly(drawn[1] == 0), at_random),
        reading("which indexes is left open", free, chosen, correction=correction),
    )


@settles("F67")
def positive_logarithm(table: pd.DataFrame) -> Outcome:
    """`table` is from `positive_logarithms`."""
    evidence: dict[str, object] = {
        rf"{line.at}: $\delta_{{cd}}$; $1/(dn)$; $2\beta$; logarithm": (
            f"{line.delta:.2g}; {line.standard:.2g}; {line.room:g}; {line.logarithm:.2f}"
        )
        for line in _rows(table)
    }
    holds = (table["delta"] < table["standard"]) & (table["standard"] < table["room"]) & (table["logarithm"] > 0)
    said: Said = {
        "verified": r"For all $n$ and $k$, $1/(dn) < 2k/d = 2\beta$, so every $\delta_{cd}$ below $1/(dn)$ will do.",
        "refuted": r"$\delta_{cd}$ is not below $2\beta$.",
    }
    return judge("F67", evidence, reading("as printed", exactly(bool(holds.all())), said))


@settles("F77")
def index_trade(table: pd.DataFrame) -> Outcome:
    """`table` is from `index_prices`."""
    evidence: dict[str, object] = {
        rf"$l$ = {int(line.l)}: least $\nu$; least $n_p$": f"{line.nu:.3f}; {int(line.n_p)}" for line in _rows(table)
    }
    for line in _rows(table):
        evidence[
            rf"$l$ = {int(line.l)}: standard deviation at one $\epsilon_{{lk}}$; at one certified $\epsilon_{{cd}}$"
        ] = f"{line.sd:.3f}; {line.sd_central:.3f} ($\\epsilon_{{lk}}$ = {line.eps:.3f})"
    private = -np.diff(table["nu"])
    first, last = table.iloc[0], table.iloc[-1]

    def traded(sd: str) -> Verdict:
        return joined(*(ranked(float(steps.min()), float(steps.max())) for steps in (private, np.diff(table[sd]))))

    local: Said = {
        "verified": rf"From $l$ = {first.l:.0f} to $l$ = {last.l:.0f} the least $\nu$ falls to {last.nu:.2f}. The "
        rf"padding that holds all reports grows from {first.n_p:.0f} to {last.n_p:.0f}, and the standard deviation "
        f"grows with it, from {first.sd:.2f} to {last.sd:.2f}.",
        "refuted": "The error does not grow with the padding.",
        "not reproduced": "The error does not grow at every step.",
    }
    central: Said = {
        "verified": "The error grows here, too.",
        "refuted": rf"The larger padding hides more, so that $\epsilon_{{lk}}$ may rise to {last.eps:.2f} and the "
        rf"standard deviation falls from {first.sd_central:.2f} to {last.sd_central:.2f}. The price is paid in "
        "messages alone.",
        "not reproduced": "There the error neither falls nor grows throughout.",
    }
    return judge(
        "F77",
        evidence,
        reading(r"one local budget $\epsilon_{lk}$, the least $n_p$ that $l$ needs", traded("sd"), local),
        reading(r"one certified $\epsilon_{cd}$, the least $n_p$ that $l$ needs", traded("sd_central"), central),
    )


@settles("F68")
def second_inequality(table: pd.DataFrame) -> Outcome:
    """`table` is from `second_bounds`."""
    evidence: dict[str, object] = {
        f"largest bound of the {name} inequality": float(table[name].max()) for name in ("first", "second")
    }
    binding = table[table["second"] < table["first"]]
    evidence[r"least $\nu\beta + \beta$ at which the second is the stricter"] = float(
        ((binding["nu"] + 1) * binding["beta"]).min()
    )
    said: Said = {
        "verified": r"The second inequality allows at most $1 - (1-\beta)/\nu$, which is below 1. The first alone "
        r"allows more than 1 if $\nu > 1/\beta$. The second is the stricter one if $\nu > 1/\beta - 1$.",
        "refuted": "The second inequality allows more than 1.",
    }
    return judge("F68", evidence, reading("as printed", exactly(bool((table["second"] <= 1).all())), said))


@settles("F69")
def amplifies(table: pd.DataFrame) -> Outcome:
    """`table` is from `shuffled`."""
    gain = table["single"] - table["central"]  # what delta_c alone takes off eps_l does not count
    said: Said = {
        "verified": rf"At every budget tried, $\epsilon_c$ is certified to be at most "
        rf"{float((table['central'] / table['eps']).max()):.2f} times $\epsilon_l$.",
        "refuted": r"At some $\epsilon_l$ no smaller $\epsilon_c$ is certified.",
    }
    return judge("F69", _amplified(table), reading("as printed", exactly(bool((gain > 0).all())), said))


@settles("F70")
def less_noise(table: pd.DataFrame) -> Outcome:
    """`table` is from `shuffled`."""
    evidence: dict[str, object] = {
        rf"$(\epsilon_c, \delta_c)$ with $\epsilon_c$ = {line.central:.4f}: standard deviation of a report's estimate, "
        "shuffled; local": f"{line.sd:.3f}; {line.sd_alone:.3f}"
        for line in _rows(table)
    }
    less = table["sd_alone"] - table["sd"]
    ratio = table["sd_alone"] / table["sd"]
    said: Said = {
        "verified": f"At one privacy the standard deviation of randomized response is {ratio.min():.1f} to "
        f"{ratio.max():.1f} times as large in the local model as when shuffled.",
        "refuted": "The local model needs less noise.",
        "not reproduced": "Neither model needs less noise everywhere.",
    }
    return judge("F70", evidence, reading("as printed", ranked(float(less.min()), float(less.max())), said))


@settles("F71")
def numerical_bound(table: pd.DataFrame) -> Outcome:
    """`table` is from `p15_flame_privacy.lemma1_cases`."""
    evidence: dict[str, object] = {}
    for line in _rows(table):
        at = rf"$\epsilon_l$ = {line.eps:g}, $b$ = {line.b}, $n$ = {line.n:,}, $\delta$ = {line.delta:g}"
        evidence[f"{at}: Lemma 1; certified"] = f"{line.corrected:.4f}; {line.certified:.4f}"
    tighter, ratio = table["corrected"] - table["certified"], table["certified"] / table["corrected"]
    said: Said = {
        "verified": f"The numerical bound is {ratio.min():.2f} to {ratio.max():.2f} times Lemma 1's.",
        "refuted": "Lemma 1's bound is the tighter one.",
        "not reproduced": "Neither bound is the tighter one everywhere.",
    }
    return judge("F71", evidence, reading("against Lemma 1", ranked(float(tighter.min()), float(tighter.max())), said))


@settles("F72")
def larger_budget(table: pd.DataFrame) -> Outcome:
    """`table` is from `shuffled`."""
    evidence: dict[str, object] = {
        rf"$\epsilon$ = {line.eps:g}: standard deviation of an estimated bit; chance to guess it": (
            f"{line.sd:.3f}; {line.guess:.3f}"
        )
        for line in _rows(table)
    }
    better, worse = -np.diff(table["sd"]), np.diff(table["guess"])
    said: Said = {
        "verified": "For randomized response the error falls and the chance to guess the bit grows with every larger "
        "budget.",
        "refuted": "With a larger budget the error grows, or the bit is harder to guess.",
        "not reproduced": "Of the error and the chance to guess the bit, one both grows and falls.",
    }
    verdict = joined(*(ranked(float(steps.min()), float(steps.max())) for steps in (better, worse)))
    return judge("F72", evidence, reading("as printed", verdict, said))


@settles("F73")
def random_indices(found: Mapping[tuple[tuple[int, ...], int], Fraction]) -> Outcome:
    """`found`, by (weights, k), is from `random_nu`."""
    evidence: dict[str, object] = {
        rf"$d$ = {len(weights)}, $k$ = {k}, weights {', '.join(map(str, weights))}: least $\nu$": str(nu)
        for (weights, k), nu in found.items()
    }
    said: Said = {
        "verified": r"Random indices are independent of the vector, so that the probability stays what it was: $\nu$ "
        "is 1, however unequal the indices are beforehand.",
        "refuted": rf"The least $\nu$ is {max(found.values())}.",
    }
    return judge("F73", evidence, reading("as printed", exactly(all(nu == 1 for nu in found.values())), said))


@settles("F74")
def post_processing(found: Mapping[str, float]) -> Outcome:
    """`found` is from `collected`."""
    evidence: dict[str, object] = {
        rf"$\delta$ at $\epsilon$ = {found['eps']:g} of the number of ones, what shuffling leaves": found["sum"],
        "the largest of every yes/no question about it": found["asked"],
        "of all reports, unshuffled": found["reports"],
    }
    said: Said = {
        "verified": r"Nothing that is computed from the shuffled reports has a larger $\delta$ than they do. The "
        r"estimate, from which they can be recovered, has the same $\delta$.",
        "refuted": "An answer computed from the shuffled reports is less private than they are.",
    }
    same = abs(found["asked"] - found["sum"]) <= 1e-12 and found["sum"] <= found["reports"] + 1e-12
    return judge("F74", evidence, reading("as printed", exactly(same), said))


@settles("F75")
def every_user(found: Mapping[str, float]) -> Outcome:
    """`found` is from `collected`."""
    evidence: dict[str, object] = {
        rf"$\delta$ at $\epsilon$ = {found['eps']:g} of one report": found["report"],
        rf"of all {found['n']} reports, each with its user": found["reports"],
        "of their sum": found["sum"],
    }
    analyzer: Said = {
        "verified": "The analyzer of LDP-FL sees each report with its user, so that all reports together have the "
        "$\\delta$ of one.",
        "refuted": "All reports together do not have the $\\delta$ of one report.",
    }
    observer: Said = {
        "verified": "The sum is no more private than one report.",
        "refuted": "The sum alone has a smaller $\\delta$. Against somebody who sees nothing else, a larger local "
        "budget would do.",
    }
    return judge(
        "F75",
        evidence,
        reading("against the analyzer", exactly(abs(found["reports"] - found["report"]) <= 1e-12), analyzer),
        reading("against the observer", exactly(found["sum"] >= found["report"] - 1e-12), observer),
    )


@settles("F76")
def bandwidth(table: pd.DataFrame) -> Outcome:
    """`table` is from `bandwidths`."""
    evidence: dict[str, object] = {
        rf"$d$ = {line.d:,}, $k$ = {line.k:,}, $l$ = {line.l}: numbers over $lk$; bits of the indices over $lk$": (
            f"{line.numbers / line.l / line.k:g}; {line.bits / line.l / line.k:g}"
        )
        for line in _rows(table)
    }
    size = table["l"] * table["k"]
    linear = bool((table["numbers"] <= 2 * size).all())
    numbers: Said = {
        "verified": "A user sends $lk$ indices and $lk$ values: $2lk$ numbers.",
        "refuted": "A user sends more than $2lk$ numbers.",
    }
    bits: Said = {
        "verified": "The bits of an index do not grow with $d$.",
        "refuted": "The bits of an index grow faster than the logarithm of $d$.",
        "holds with correction": r"An index takes $\lceil\log_2 d\rceil$ bits, and this number grows with $d$.",
    }
    constant = linear and len(set(table["bits"] / size)) == 1
    return judge(
        "F76",
        evidence,
        reading("counted in numbers", exactly(linear), numbers),
        reading(
            "counted in bits", exactly(constant, near=linear), bits, correction=r"the bandwidth is $O(lk\log d)$ bits."
        ),
    )

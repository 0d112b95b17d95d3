"""Beside page 15: FLAME's tables that are too long for a cell, and its figure of intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom, hypergeom

from gspa.accountant import tradeoff
from gspa.accountant.bound import Bound
from gspa.accountant.errors import OutsideValidity
from gspa.accountant.losses import spread
from gspa.accountant.transform import Sides, epsilon_of
from gspa.algorithms.flame import accounting, attacks, published
from gspa.algorithms.flame.padded import coordinate, overflow
from gspa.algorithms.flame.published import Setting
from gspa.algorithms.flame.randomizers import Buckets, Laplace, Local
from gspa.book.figures import ROLES, keeps_data, role

Array = NDArray[np.float64]
_FORMS = "old_bennett", "bennett", "exact"


def setting(
    *, eps_l: float = 78.5, d: int = 7850, n: int = 1000, rate: float = 50, padding: float = 3.0, eps: float = 0.0
) -> Setting:
    """The paper's d, n, eps_l and n/n_p, its code's rate 1/beta and delta_c; or with a budget eps of one report."""
    k = max(1, int(d / rate))
    return Setting(d=d, k=k, n=n, n_p=max(1, int(n / padding)), eps=eps or eps_l / k, delta=0.01 / n**1.1)


def certify(who: str, one: Setting, local: Local | None = None, *, attack: bool = True) -> Bound:
    """eps of a row of the accounts, from an attack to the certified end; the local randomizer is Laplace noise."""
    local, delta = local or Laplace(one.eps), one.delta
    if who == "SS-Simple":
        return accounting.simple(local, d=one.d, n=one.n, delta=delta, attack=attack)
    if "SS-Double" in who:
        double = accounting.double_poisson if "independent" in who else accounting.double_exactly_k
        return double(local, d=one.d, k=one.k, n=one.n, n_p=one.n_p, delta=delta, attack=attack)
    return accounting.topk(local, k=one.k, n_p=one.n_p, delta=delta, most_selected=one.n_p, attack=attack)


@cache
def account(who: str, one: Setting) -> dict[str, Any]:
    """eps_c by the paper's theorem with each bound of one coordinate, attack and certified; where refused, a note."""
    sampled = "no subsampling" not in who
    try:
        found = certify(who, one)
        stated = {
            form: (published.simple(one, bound=form) if who == "SS-Simple" else
                   published.double(one, bound=form, subsampling=sampled)).eps for form in _FORMS
        }  # fmt: skip
    except OutsideValidity as refusal:
        return {"note": str(refusal)}
    return stated | {"attack": found.lower, "certified": found.upper}


def least_density(y: float, eps: float) -> float:
    """Of a Laplace report, over all inputs; it is least at an end of [0, 1], the others are there to show it."""
    return min(eps / 2 * math.exp(-eps * abs(y - x)) for x in (0.0, 0.25, 0.5, 0.75, 1.0))


def at_stated(*, eps: float, b: int, beta: float, n: int, size: int, delta: float, padded: bool) -> dict[str, float]:
    """Deltas over the stated, at eps_cd of Theorem 3 with n_p = size, or of Theorem 2 with n_s = size = beta n, b = 1.

    found: certified or exact; tight: with a sharp eps_ck for Lemma 1's; zero: an attack on Algorithm 1 as printed.
    """
    local = Buckets(eps, b)
    before = published.lemma1_epsilon(eps, n=size, delta=delta / beta, answers=local.b + 1)
    sharp = coordinate(local, n_p=size).epsilon(delta / beta)
    stated, tight = (published.subsampled(eps_ck, beta=beta) for eps_ck in (before, sharp))
    if padded:
        whole, lost = coordinate(local, n_p=size, n=n, beta=beta), overflow(n_p=size, n=n, beta=beta)
        exact = [whole.upper(at) + lost for at in (stated, tight)]
    else:
        exact = [_subsampled_bits(local, size, beta, at) for at in (stated, tight)]
    zero = attacks.zero_delta(Buckets(eps, local.b, printed=True), n=size, eps=stated, beta=beta)
    return {"found": exact[0] / delta, "tight": exact[1] / delta, "zero": zero / delta}


def _subsampled_bits(local: Buckets, n_s: int, beta: float, eps: float) -> float:
    """Exact delta of n_s shuffled bits, the others all at one input; the victim is in, or another user is."""
    k, worst = np.arange(n_s + 1), 0.0
    for others in (0.0, 0.5, 1.0):
        q = float(local.law(others)[1])
        rest, out = binom.pmf(k[:-1], n_s - 1, q), binom.pmf(k, n_s, q)
        zero, one = ((1 - beta) * out + beta * np.convolve(rest, local.law(x)) for x in (0.0, 1.0))
        worst = max(worst, _either(zero, one, eps))
    return worst


def _either(p: Array, q: Array, eps: float) -> float:
    p, q = p / p.sum(), q / q.sum()
    return max(tradeoff.hockey_stick(p, q, eps), tradeoff.hockey_stick(q, p, eps))


def deviation(local: Buckets, *, n_s: int, n_p: int, x: float) -> float:
    """Of the estimated mean of n_s users who all hold x, n_p - n_s dummies added; exact."""
    law, answers = local.law(x), np.arange(local.b + 1) / local.b
    report, dummy = law @ answers**2 - (law @ answers) ** 2, (local.b + 2) / (12 * local.b)
    return math.sqrt(n_s * report + (n_p - n_s) * dummy) / ((1 - local.gamma) * n_s)


def least_deviation(n_p: int, n_s: int, eps_ck: float, *, delta: float) -> float:
    """The same for R_{gamma,b} that Lemma 1 gives eps_ck, at the best b; the worst value is between two buckets."""
    per_answer = 14 * math.log(2 / delta) / ((n_p - 1) * eps_ck**2)  # gamma over b + 1
    b = np.unique(np.round(np.geomspace(1, 20_000, 400)).astype(int))
    # gamma = answers/(e^eps + answers - 1), solved for eps
    made = [Buckets(math.log1p(1 / per_answer - (i + 1)), i) for i in b[(b + 1) * per_answer < 1].tolist()]
    return min(deviation(local, n_s=n_s, n_p=n_p, x=0.5 / local.b) for local in made)


def error_exponents(*, share: float, delta: float) -> pd.DataFrame:
    """Proposition 1: slopes of log sd against log n_p, n_s and eps_ck, with n_s/n_p = share at most, or no dummies."""
    size, many, half, budgets = np.geomspace(1e6, 1e9, 7), np.full(7, 1e9), np.full(7, 0.5), np.geomspace(0.05, 1, 7)
    rows = []
    for varied, dummies, n_p, n_s, eps, stated in (
        ("n_p", True, size, np.full(7, 1e6 * share), half, 1 / 6),
        ("n_s", True, many, size * share, half, -1.0),
        ("eps_ck", True, many, many * share, budgets, -2 / 3),
        ("n_p", False, size, size, half, 1 / 6 - 1),  # without dummies n_s grows with n_p
        ("eps_ck", False, many, many, budgets, -2 / 3),
    ):
        sd = [least_deviation(int(m), int(s), float(e), delta=delta) for m, s, e in zip(n_p, n_s, eps, strict=True)]
        along = np.log({"n_p": n_p, "n_s": n_s, "eps_ck": eps}[varied])
        rows.append((varied, dummies, float(np.polyfit(along, np.log(sd), 1)[0]), stated))
    return pd.DataFrame(rows, columns=["varied", "dummies", "exponent", "stated"])


def least_nu(many: int, *, beta: Any) -> Any:
    """The strongest index privacy with l = `many`: the least nu >= 1 of Definition 3, exact for a `Fraction`."""
    if many == 1:
        return math.inf if beta < 1 else 1.0
    return max(beta / beta, 1 / (many * beta), (1 - beta) * many / (many - 1))


def composed_response(eps: float, *, delta: float, folds: int, at: float) -> float:
    """Exact delta at `at` of t copies of the pair that dominates every (eps, delta)-DP mechanism (Kairouz 2015)."""
    ones = np.arange(folds + 1)
    loss = (2 * ones - folds) * eps
    mass = binom.pmf(ones, folds, 1 / (1 + math.exp(-eps)))
    rest = float(mass @ -np.expm1(np.minimum(at - loss, 0)))
    return 1 - (1 - delta) ** folds * (1 - rest)


def subsamples(cases: Sequence[tuple[int, int, float]]) -> pd.DataFrame:
    """Lemma 4 at (n, m, eps), for two mechanisms on m of n records drawn without replacement: delta stated and exact.

    The victim's bit by the pair of `composed_response` at 0.01, nothing if not drawn; the ones plus Bin(40, 1/2).
    """
    noise, told, rows = binom.pmf(np.arange(41), 40, 0.5), 0.01, []
    for n, m, eps in cases:
        share, at, p = m / n, published.subsampled(eps, beta=m / n), 1 / (1 + math.exp(-eps))
        zero = np.array([told, 0.0, (1 - told) * p, (1 - told) * (1 - p)])
        exact = _either((1 - share) * zero + share * zero[[1, 0, 3, 2]], zero, at)
        rows.append(("one record", n, m, eps, share * told, exact))
        delta, exact = _either(np.r_[noise, 0.0], np.r_[0.0, noise], eps), 0.0
        for ones in range(n):
            fewer, more = (np.convolve(hypergeom(n, k, m).pmf(np.arange(m + 1)), noise) for k in (ones, ones + 1))
            exact = max(exact, _either(fewer, more, at))
        rows.append(("noisy count", n, m, eps, share * delta, exact))
    return pd.DataFrame(rows, columns=["mechanism", "n", "m", "eps", "stated", "exact"])


def unpadded(one: Setting, *, victim: float, folds: int) -> float:
    """Certified eps of SS-Double with R_{gamma,1}, each index drawn independently, and no padding.

    The analyzer sees how many reports each coordinate has. The users who tell the truth are given away, J of them. Of
    the other n - 1 - J each is in with a fair bit, or not; the victim is in with probability `victim`.
    """
    local, lost = Buckets(one.eps, 1), 0.0
    tell, fair = one.beta * (1 - local.gamma), one.beta * local.gamma
    told, losses, masses = binom(one.n - 1, tell), [], []
    for given in range(int(told.isf(1e-15)) + 1):
        law = binom(one.n - 1 - given, fair / (1 - tell))
        count = np.arange(int(law.isf(1e-15)) + 1)
        bits = law.pmf(count)[:, None] * binom.pmf(count, count[:, None], 0.5)
        first, second = ((1 - victim) * np.pad(bits, (0, 1)) for _ in range(2))
        for both, p in ((first, local.law(0.0)), (second, local.law(1.0))):
            both[1:, :-1] += victim * p[0] * bits
            both[1:, 1:] += victim * p[1] * bits
        seen = first > 0
        losses.append(np.log(first[seen] / second[seen]))
        masses.append(told.pmf(given) * first[seen])
        lost += float(told.pmf(given) * law.sf(count[-1]))
    loss, mass = np.concatenate(losses), np.concatenate(masses)
    # Eight steps a standard deviation. Exchanging the bits exchanges the laws: one direction is both.
    pair = spread(loss, mass, float(np.sqrt(mass @ loss**2)) / 8, lost + float(told.sf(given)))
    return min(epsilon_of(Sides([(pair, folds)], [(pair, folds)]), one.delta).upper, one.eps_local)


def one_index(*, d: int, n: int, eps: float, at: float) -> dict[str, float]:
    """Exact worst delta at `at` of SS-Double with one index and no padding: both, or known (her index is known)."""
    vectors, worst = list(product((0, 1), repeat=d)), {"both": 0.0, "known": 0.0}
    for others in combinations_with_replacement(vectors, n - 1):
        crowd = np.zeros((n + 1,) * (2 * d))
        crowd.flat[0] = 1.0
        for x in others:
            crowd = _sent(crowd, x, range(d), eps)
        for name, indices in (("both", range(d)), ("known", range(1))):
            for p, q in permutations([_sent(crowd, x, indices, eps) for x in vectors], 2):
                worst[name] = max(worst[name], float(np.maximum(p - math.exp(at) * q, 0).sum()))
    return worst


def _sent(law: Array, x: tuple[int, ...], indices: range, eps: float) -> Array:
    """The law of the numbers of (index, bit) pairs, an axis each, after one more user."""
    truth = 1 / (1 + math.exp(-eps)) / len(indices)
    laws = [np.roll(law, 1, axis=2 * j + bit) * (truth if bit == x[j] else 1 / len(indices) - truth)
            for j, bit in product(indices, (0, 1))]  # fmt: skip
    return np.asarray(np.sum(laws, axis=0))


def unfilled(needs: ArrayLike, *, k: int, rng: np.random.Generator | None = None) -> int:
    """Dummies still missing after Algorithm 3's vectors, each of k coordinates in need: those in most, or drawn."""
    left = np.array(needs)
    for _ in range(int(left.sum()) // k):
        lack = np.flatnonzero(left)
        most = np.argsort(-left, kind="stable")[:k]
        taken = most if rng is None else rng.choice(lack, min(k, lack.size), replace=False, shuffle=False)
        left[taken] -= left[taken] > 0
    return int(left.sum())


@keeps_data
def draw_intervals(table: pd.DataFrame, *, marks: Sequence[tuple[str, str, str, str]], xlabel: str) -> Figure:
    """A row of the index each: the interval from attack to certified; marks: column, label, marker, role."""
    figure, axis = plt.subplots(figsize=(4.8, 2.4 + 0.4 * len(table)), layout="constrained")
    axis.hlines(
        rows := range(len(table)), table["attack"], table["certified"], color=ROLES["reference"][0], lw=5, alpha=0.5
    )
    for name, label, marker, meaning in marks:
        style = {"color": role(meaning)["color"], "ms": 15 if marker == "|" else 7, "lw": 0, "mew": 1.8, "mfc": "none"}
        axis.plot(table[name], rows, label=label, marker=marker, **style)
    axis.set_yticks(rows, [name.replace(", ", ",\n") for name in table.index], fontsize=9)
    axis.set(xscale="log", xlabel=xlabel, ylim=(len(table) - 0.5, -0.5))
    figure.legend(loc="outside lower left")
    return figure

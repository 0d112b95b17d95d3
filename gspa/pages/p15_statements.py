"""Page 15, what FLAME takes from others, the dimension, and what its shuffler does.

>>> found = lemmas(cases=[(0.5, 1e-4, 3, 1e-3)])
>>> bool((found["exact"] <= found["stated"] * (1 + 1e-9)).all())
True
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import binom, hypergeom

from gspa.accountant import budgets, discrete, one_round
from gspa.accountant.families import common
from gspa.accountant.losses import spread
from gspa.accountant.rounds import Sides, epsilon_of
from gspa.algorithms.flame import accounting
from gspa.algorithms.flame.randomizers import Buckets, Laplace
from gspa.book.claims import Outcome, judge, settles
from gspa.book.verdicts import Said, exactly, ranked, reading, shown
from gspa.pages import p15_amplification as amplification
from gspa.pages.p15_amplification import Setting

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


def collected(*, eps: float, n: int) -> dict[str, float]:
    """delta at eps of n randomized responses, one user's bit replaced: eps, n, report, reports (all), sum."""
    laws: Any = [Buckets(eps, 1).law(x) for x in (0.0, 1.0)]
    products, total = [law.copy() for law in laws], [law.copy() for law in laws]
    for _ in range(n - 1):  # the others hold 0
        products = [np.multiply.outer(law, laws[0]).ravel() for law in products]
        total = [np.convolve(law, laws[0]) for law in total]
    one, whole, summed = (discrete.hockey_stick(a, b, eps) for a, b in (laws, products, total))
    return {"eps": eps, "n": n, "report": one, "reports": whole, "sum": summed}


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
            excluded=r"a bound that is looser at a larger $d$ is no smaller amplification, and the sentence is about "
            "the protocol's; as for 'dozens times'",
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
def without_padding(one: Setting, found: Mapping[str, float], small: Mapping[str, float]) -> Outcome:
    """`found` is from `unpadded` at `one`, `small` from `one_index`."""
    both, shuffling, padded, local = (found[name] for name in ("both", "shuffling", "padded", "local"))
    evidence: dict[str, object] = {
        r"no padding, subsampling and shuffling: certified $\epsilon$": both,
        r"no padding, shuffling alone (the victim's indices known): certified $\epsilon$": shuffling,
        rf"padded to $n_p$ = {one.n_p}: certified $\epsilon$": padded,
        r"$\epsilon_l$": local,
        "exactly one of $d$ = {d} indices, $n$ = {n}, $\\epsilon_{{lk}}$ = {eps:g}, no padding: exact $\\delta$ at "
        "$\\epsilon$ = {at:g}; by shuffling alone".format(**small): f"{small['both']:.4f}; {small['known']:.4f}",
    }
    said: Said = {
        "verified": "Without padding nothing is certified beyond what shuffling alone gives.",
        "refuted": "The reason is not one. The indices do not depend on the data, so that the sizes $n_{s,j}$ have one "
        "law under both neighbours, and an analyzer may see them. Without any padding, but with each index drawn "
        rf"independently, $\epsilon \leq$ {both:.3f} is certified, where shuffling alone gives {shuffling:.2f} and "
        rf"$\epsilon_l$ is {local:g}; padding improves it to {padded:.3f}. With exactly $k$ indices, as SS-Double "
        rf"draws them, one of {small['d']} indices and {small['n']} users show it: $\delta$ is {small['both']:.3f}, "
        rf"where shuffling alone gives {small['known']:.3f}.",
    }
    composes = both < min(shuffling, local) and small["both"] < small["known"] * (1 - 1e-9)
    hedged: Said = {"illustrated": "That a theorem 'may not' be possible, or that its authors 'cannot derive' one."}
    return judge(
        "F33",
        evidence,
        reading("the reason given: distinct sizes prevent it", exactly(not composes), said),
        reading(
            "as hedged",
            shown(),
            hedged,
            excluded="what somebody could not derive is not ours to judge; what the padding rests on is the reason",
        ),
    )


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

"""Page 15: FLAME's published privacy beside what holds.

The paper's formulas are in `p15_amplification`, what can be proved in `gspa.algorithms.flame.accounting`.

Error of the mean of one padded coordinate. The users' values fixed, reports and dummies are independent, so that

    ((users' variances, summed) + (n_p - n_s) Var omega) / ((1 - gamma) n_s)^2,   in units of [0, 1],

is exact. Index privacy: a user reports l k of d indices, k of them the largest. To somebody for whom every index is one
of these with probability beta = k/d beforehand, it is one with probability 1/l once reported, so Definition 3 asks
1/l <= nu beta and 1 - 1/l >= (1 - beta)/nu.

>>> one = setting()
>>> one.k, one.eps, round(one.full().eps, 6)
(157, 0.5, 0.01)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import binom

from gspa.accountant import discrete, mechanisms
from gspa.accountant.errors import OutsideValidity
from gspa.algorithms.flame import accounting, attacks
from gspa.algorithms.flame.attacks import Local
from gspa.algorithms.flame.padded import coordinate, overflow
from gspa.algorithms.flame.randomizers import Buckets, Laplace
from gspa.book.claims import Outcome, claim, judge, settles
from gspa.book.figures import DASHES, ROLES, keeps_data, name_ends, name_line, role
from gspa.book.verdicts import Reading, Said, Verdict, at_least, exactly, joined, reading, shown, unknown, within
from gspa.pages import p15_amplification as amplification
from gspa.pages.p15_amplification import Setting

Array = NDArray[np.float64]

SIMPLE = ("SS-Simple", "own permutation per coordinate")
DOUBLE, GIVEN = ("SS-Double", "index by index"), ("SS-Double", "exactly $k$ indices")
TOPK, PLAIN = ("SS-Topk", "$k$ largest"), ("SS-Topk", "subsampling not counted")
DENSE = (r"SS-Topk, $\beta$ = 1/10", "$k$ largest")
"""The rows of `accounts`: protocol and variant."""

_PROVED = ("attack", "certified", "note")

# --- tables: the published budgets --------------------------------------------------------------------------


def setting(
    *, eps_l: float = 78.5, d: int = 7850, n: int = 1000, rate: float = 50, padding: float = 3.0, eps: float = 0.0
) -> Setting:
    """SS-Double or SS-Topk with k = d/rate and n_p = n/padding rounded down; the defaults are the paper's.

    delta_c = 0.01/n^1.1 and the rate are in the authors' code only. With `eps`, a budget per reported coordinate, eps_l
    does not matter.
    """
    k = max(1, int(d / rate))
    return Setting(d=d, k=k, n=n, n_p=max(1, int(n / padding)), eps=eps or eps_l / k, delta=0.01 / n**1.1)


def dense_setting() -> Setting:
    """The setting of (2.348, .): eps_lk = 0.5 is kept."""
    return setting(rate=10, padding=1.5, eps=0.5)


def figure3_setting(*, eps: float = 0.8, d: int = 75_755) -> Setting:
    """The setting at which Figure 3's two ratios come out; only d is stated."""
    return setting(d=d, n=5_000, eps=eps)


def accounts(one: Setting, dense: Setting) -> pd.DataFrame:
    """Every protocol's eps_c by the paper's theorems, with each bound of one coordinate, and what holds.

    Columns: protocol, variant, old_bennett, bennett, hoeffding, exact (Theorem 1 or 4), attack (certainly revealed),
    certified (upper) and note; NaN where refused, and why.
    """
    rows: list[dict[str, Any]] = []
    for who, now in ((SIMPLE, one.full()), (DOUBLE, one), (GIVEN, one), (TOPK, one), (PLAIN, one), (DENSE, dense)):
        printed = {name: _or_nan(partial(_theorem, who, now, name)) for name in amplification.BOUNDS[1:]}
        # What holds does not depend on what is counted.
        proved = {name: rows[-1][name] for name in _PROVED} if who == PLAIN else certify(who, now)
        rows.append({"protocol": who[0], "variant": who[1], **printed, **proved})
    return pd.DataFrame(rows)


def _theorem(who: tuple[str, str], one: Setting, bound: str) -> float:
    if who == SIMPLE:
        return amplification.simple(one, bound=bound).eps
    return amplification.double(one, bound=bound, subsampling=who != PLAIN).eps


def _or_nan(compute: Callable[[], float]) -> float:
    """NaN where a form or the padding refuses."""
    try:
        return compute()
    except OutsideValidity:
        return math.nan


def certify(who: tuple[str, str], one: Setting, local: Local | None = None, *, attack: bool = True) -> dict[str, Any]:
    """attack, certified and note of one row of `accounts`; the local randomizer is Laplace noise."""
    local, delta = local or Laplace(one.eps), one.delta
    try:
        if who == SIMPLE:
            found = accounting.simple(local, d=one.d, n=one.n, delta=delta, attack=attack)
        elif who == DOUBLE:
            found = accounting.double_poisson(local, d=one.d, k=one.k, n=one.n, n_p=one.n_p, delta=delta, attack=attack)
        elif who == GIVEN:
            found = accounting.double_given_indices(local, d=one.d, k=one.k, n=one.n, n_p=one.n_p, delta=delta)
        else:
            found = accounting.topk(local, k=one.k, n_p=one.n_p, delta=delta, most_selected=one.n_p, attack=attack)
    except OutsideValidity as refusal:
        return {"attack": math.nan, "certified": math.nan, "note": str(refusal)}
    return {"attack": found.lower, "certified": found.upper, "note": ""}


def row(table: pd.DataFrame, who: tuple[str, str]) -> pd.Series:
    """One row of `accounts`."""
    return table.set_index(["protocol", "variant"]).loc[who]  # type: ignore[return-value]


def interval(table: pd.DataFrame, who: tuple[str, str]) -> tuple[float | None, float | None]:
    """What is certainly revealed, and what is certified; None where refused."""
    found = row(table, who)
    return (None, None) if np.isnan(found["certified"]) else (float(found["attack"]), float(found["certified"]))


def amplification_ratios(one: Setting, *, eps: Sequence[float], b: int = 2) -> pd.DataFrame:
    """Figure 3: eps_l/eps_c as printed, with Lemma 1, against the budget `eps` of one reported coordinate.

    Columns: eps; simple and double at that budget per coordinate (the paper's comparison; SS-Simple has d/k times the
    eps_l); equal, SS-Simple with SS-Double's eps_l.
    """
    rows = []
    for budget in eps:
        now = Setting(one.d, one.k, one.n, one.n_p, budget, one.delta)
        found = {
            name: each.eps_local / amplification.simple(each, bound="lemma1", b=b).eps
            for name, each in (("simple", now.full(eps=budget)), ("equal", now.full()))
        }
        double = now.eps_local / amplification.double(now, bound="lemma1", b=b).eps
        rows.append({"eps": budget, "simple": found["simple"], "double": double, "equal": found["equal"]})
    return pd.DataFrame(rows)


def certified_ratios(one: Setting) -> pd.DataFrame:
    """eps_l/eps_c as it is, for corrected R_{gamma,b} with two answers, at the three points of Figure 3.

    Columns: case (simple, double, equal), eps_local, attack, certified (both of eps_c), ratio_low (proved) and
    ratio_high (no more is possible; infinite where no attack is known).
    """
    rows = []
    for case, who, now in (
        ("simple", SIMPLE, one.full(eps=one.eps)), ("double", DOUBLE, one), ("equal", SIMPLE, one.full())
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
        for who, one in ((SIMPLE, now.full()), (DOUBLE, now)):
            printed = _or_nan(partial(_theorem, who, one, "old_bennett"))
            rows.append({name: value, "line": who[0], "kind": "printed", "epsilon": printed})
        for who, one in ((SIMPLE, now.full()), (DOUBLE, now), (TOPK, now)):
            certified = certify(who, one, attack=False)["certified"]
            rows.append({name: value, "line": who[0], "kind": "certified", "epsilon": certified})
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


# --- tables: one report, one coordinate --------------------------------------------------------------------


def definition2(*, answers: int, eps: float) -> dict[str, Any]:
    """Definition 2 asks for single answers: a report that tells the input beside one of many random numbers.

    Keys: answers, eps, pointwise and events (its delta, by single answers and by sets), pure (both for randomized
    response at delta = 0).
    """
    small = min(answers, 1_000)  # the law is uniform: no larger one is needed to evaluate both sides
    tell: Any = np.kron(np.eye(2), np.full(small, 1 / small))
    pure = [Buckets(eps, 1).law(x) for x in (0.0, 1.0)]
    pointwise, single = (float((a - math.exp(eps) * b).max()) for a, b in (tell, pure))
    return {
        "answers": answers,
        "eps": eps,
        "pointwise": pointwise * small / answers,
        "events": min(1.0, discrete.hockey_stick(tell[0], tell[1], eps)),
        "pure": (single, discrete.hockey_stick(pure[0], pure[1], eps)),
    }


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


def least_densities(eps: Sequence[float]) -> pd.DataFrame:
    """The least density of a Laplace report over all inputs, integrated, beside e^{-eps/2}: eps, integral, stated."""

    def least(y: float, e: float) -> float:
        # least at an end of [0, 1]; the other inputs are there to show it
        return min(e / 2 * math.exp(-e * abs(y - x)) for x in (0.0, 0.25, 0.5, 0.75, 1.0))

    halves = ((-math.inf, 0.5), (0.5, math.inf))
    rows = [(e, sum(quad(least, *half, args=(e,), epsabs=0, epsrel=1e-12)[0] for half in halves)) for e in eps]
    return pd.DataFrame([(e, found, Laplace(e).gamma) for e, found in rows], columns=["eps", "integral", "stated"])


def lemma1_cases(cases: Sequence[tuple[float, int, int, float]]) -> pd.DataFrame:
    """Lemma 1 at (eps, b, n, delta): these columns; printed and corrected, with b and b + 1 answers; certified; zero.

    `certified` is of the corrected Algorithm 1; `zero` is delta of an attack on the printed one at `printed`.
    """
    rows = []
    for eps, b, n, delta in cases:
        printed, corrected = (amplification.lemma1_epsilon(eps, n=n, delta=delta, answers=a) for a in (b, b + 1))
        certified = coordinate(Buckets(eps, b), n_p=n).epsilon(delta)
        zero = attacks.zero_delta(Buckets(eps, b, printed=True), n=n, eps=printed)
        rows.append((eps, b, n, delta, printed, corrected, certified, zero))
    return pd.DataFrame(rows, columns=["eps", "b", "n", "delta", "printed", "corrected", "certified", "zero"])


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

        before = amplification.lemma1_epsilon(eps, n=size, delta=delta / beta, answers=local.b + 1)
        stated = amplification.subsampled(before, beta=beta)
        # Lemma 1 is so loose that it hides what follows it.
        sharp = amplification.subsampled(coordinate(local, n_p=size).epsilon(delta / beta), beta=beta)
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


# --- tables: the whole vector ------------------------------------------------------------------------------


def compositions(settings: Sequence[Setting]) -> pd.DataFrame:
    """Theorem 1 with the exact bound of one coordinate: d, n, eps (eps_ld), stated, certified."""
    return pd.DataFrame(
        {
            "d": one.d,
            "n": one.n,
            "eps": one.eps,
            "stated": amplification.simple(one, bound="exact").eps,
            "certified": certify(SIMPLE, one, attack=False)["certified"],
        }
        for one in settings
    )


def linked(one: Setting) -> dict[str, float]:
    """Messages of d values: Theorem 1's eps, and delta of scoring whole messages there."""
    stated = amplification.simple(one, bound="exact").eps
    return {"stated": stated, "shown": attacks.linked_delta(Laplace(one.eps), k=one.d, messages=one.n, eps=stated)}


def corollary2_ratios(sizes: Sequence[int], *, eps: float, n: int, delta: float) -> pd.DataFrame:
    """Theorem 1's eps_c over Corollary 2's expression: d, n, eps, ratio."""
    rows = []
    for d in sizes:
        one = Setting(d=d, k=d, n=n, n_p=n, eps=eps, delta=delta)
        rows.append((d, n, eps, amplification.simple(one, bound="exact").eps / amplification.corollary2(one)))
    return pd.DataFrame(rows, columns=["d", "n", "eps", "ratio"])


def messages(stated: Sequence[tuple[Setting, float]]) -> pd.DataFrame:
    """Messages of k coordinates against a stated eps.

    Columns: k, eps, delta; delta of scoring whole messages (values) and of reading indices (indices); certified delta
    of separate (index, value) pairs of SS-Double (pairs).
    """
    rows = []
    for one, eps in stated:
        local, many = Laplace(one.eps), round(one.d * one.n_p / one.k)
        values = attacks.linked_delta(local, k=one.k, messages=many, eps=eps)
        indices = attacks.named_delta(d=one.d, k=one.k, dummies=many)
        both = coordinate(local, n_p=one.n_p, n=one.n, beta=one.beta)
        rows.append((one.k, eps, one.delta, values, indices, accounting.composed_delta(both, one.d, eps=eps)))
    return pd.DataFrame(rows, columns=["k", "eps", "delta", "values", "indices", "pairs"])


def whole_messages(one: Setting, eps: float) -> float:
    """delta at eps of the better attack on messages of k coordinates: by their values, or by the indices they name."""
    many = round(one.d * one.n_p / one.k)
    values = attacks.linked_delta(Laplace(one.eps), k=one.k, messages=many, eps=eps)
    return max(values, attacks.named_delta(d=one.d, k=one.k, dummies=many)) if 2 * one.k <= one.d else values


def one_report(d: int, odds: int) -> tuple[Fraction, Fraction]:
    """One user, n_p = k = 1, fair bits as dummies: (Theorem 4's e^eps_c at delta_cd = 0, exact delta there).

    The user's bit, true with probability odds/(1 + odds), is in one of d coordinates, the rest are fair coins.

    >>> one_report(3, 3)
    (Fraction(25, 9), Fraction(1, 72))
    """
    power = (Fraction(odds - 1, d) + 1) ** 2  # Lemma 4, then 2 beta d = 2 folds
    right, wrong = Fraction(2 * odds, 1 + odds), Fraction(2, 1 + odds)  # density of a bit against fair coins
    delta = Fraction(0)
    for bits in product((0, 1), repeat=d):
        ones = sum(bits)
        zero, one = ((n * right + (d - n) * wrong) / d for n in (d - ones, ones))
        delta += max(zero - power * one, Fraction(0)) / 2**d
    return power, delta


def theorem4_attack(one: Setting, local: Local, *, bound: str) -> dict[str, float]:
    """Theorem 4's eps_c (stated), and delta there of adding up all reports (shown)."""
    stated = amplification.double(one, bound=bound).eps
    shown = attacks.sum_delta(local, real=one.k, padded=one.d * one.n_p, eps=stated)
    return {"stated": stated, "shown": shown}


def topk_delta(one: Setting, table: pd.DataFrame) -> float:
    """delta of an attack on SS-Topk at the eps certified for SS-Double in `accounts`; NaN if none is."""
    eps = float(row(table, DOUBLE)["certified"])
    real, padded = one.k, one.k * one.n_p
    return math.nan if math.isnan(eps) else attacks.sum_delta(Laplace(one.eps), real=real, padded=padded, eps=eps)


def other_randomizers(*, eps: Sequence[float], d: int, n: int, n_p: int, delta: float) -> pd.DataFrame:
    """Theorems 1 and 4, the latter at k = 1, for two randomizers with the exact bound of one coordinate.

    Columns: name, eps, d, theorem1, simple (certified), theorem4, attack, double (certified).
    """
    rows = []
    for budget, two in product(eps, (False, True)):
        local: Local = Buckets(budget, 1) if two else Laplace(budget)
        share = delta / (d + 1)
        first = amplification.composed(coordinate(local, n_p=n).epsilon(share), delta=share, folds=d)
        share = delta / 3  # k = 1: two folds
        one = amplification.subsampled(coordinate(local, n_p=n_p).epsilon(share * d), beta=1 / d)
        fourth = amplification.composed(one, delta=share, folds=2)
        simple = accounting.simple(local, d=d, n=n, delta=delta)
        double = accounting.double_poisson(local, d=d, k=1, n=n, n_p=n_p, delta=delta)
        name = r"$R_{\gamma,1}$" if two else "Laplace"
        rows.append((name, budget, d, first, simple.upper, fourth, double.lower, double.upper))
    columns = ["name", "eps", "d", "theorem1", "simple", "theorem4", "attack", "double"]
    return pd.DataFrame(rows, columns=columns)


def gaussian_baselines(stated: Sequence[float], *, delta: float) -> pd.DataFrame:
    """What the classical Gaussian formula gives at a stated eps: eps, exact_eps, exact_delta, limit of the formula."""
    rows = []
    for eps in stated:
        scale = mechanisms.classical_gaussian_scale(eps=eps, delta=delta, sensitivity=1.0)
        exact_delta = float(mechanisms.gaussian_delta(eps, scale=scale))
        rows.append((eps, mechanisms.gaussian_epsilon(delta=delta, scale=scale), exact_delta))
    table = pd.DataFrame(rows, columns=["eps", "exact_eps", "exact_delta"])
    return table.assign(limit=mechanisms.classical_gaussian_limit(delta=delta))


# --- tables: index privacy ---------------------------------------------------------------------------------


def least_nu(many: int, *, beta: Any) -> Any:
    """The strongest index privacy with l = `many`: the least nu >= 1 of Definition 3, exact for a `Fraction`.

    >>> least_nu(16, beta=Fraction(1, 50)), least_nu(1, beta=0.02)
    (Fraction(25, 8), inf)
    """
    if many == 1:
        return math.inf if beta < 1 else 1.0
    return max(beta / beta, 1 / (many * beta), (1 - beta) * many / (many - 1))


def theorem5(one: Setting) -> tuple[int, float]:
    """Theorem 5 as printed: l = floor(n_p/(n beta)) and nu = max{1, 1/(l beta)}.

    >>> theorem5(setting())
    (16, 3.125)
    """
    many = math.floor(one.n_p / (one.n * one.beta) * (1 + 1e-12))
    return many, max(1.0, 1 / (many * one.beta)) if many else math.inf


def figure4(*, beta: float, most: int) -> pd.DataFrame:
    """Figure 4: l, nu (the least), and the two sides of Definition 3, first = 1/(l beta), second."""
    l = np.arange(1, most + 1)  # noqa: E741
    with np.errstate(divide="ignore"):
        second = (1 - beta) * l / (l - 1)
    return pd.DataFrame(
        {"l": l, "nu": [least_nu(int(i), beta=beta) for i in l], "first": 1 / (l * beta), "second": second}
    )


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


# --- figures -----------------------------------------------------------------------------------------------

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
    """eps_c in each row of `accounts`: by the paper's theorems, and the interval from attack to certified."""
    figure, axis = plt.subplots(figsize=(6.6, 4.8), layout="constrained")
    names = [f"{row.protocol}\n{row.variant}" for row in table.itertuples()]
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
    """Figure 3: `amplification_ratios` as lines, and below them, at one eps, beside `certified_ratios`."""
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
    """Figure 4, from `figure4`; and from `overflow_by_l` where n_(s,j) no longer fits into n_p; `many` is marked."""
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


_LEAST = 1e-12
"""Smaller probabilities are not drawn."""


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


# --- checks: what FLAME is built from ----------------------------------------------------------------------


def _tolerance(name: str, key: str) -> float:
    return float((claim(name).tolerance or {})[key])


def _rows(table: pd.DataFrame) -> list[Any]:
    return list(table.itertuples())


@settles("F22")
def definition_2(found: Mapping[str, Any]) -> Outcome:
    """`found` is from `definition2`."""
    pointwise, events, pure = found["pointwise"], found["events"], found["pure"]
    told = f"input and one of {found['answers']:,} numbers"
    evidence: dict[str, object] = {
        rf"{told}: $\delta$ that Definition 2 requires at $\epsilon$ = {found['eps']:g}": pointwise,
        r"input and a random number: $\delta$ over all sets of answers": events,
        r"randomized response, $\delta$ = 0: over answers and over sets": f"{pure[0]:.1e} and {pure[1]:.1e}",
    }
    said: Said = {
        "illustrated": "A report may tell the input outright and carry a random number beside it. Judged by single "
        rf"answers, as the definition asks, it has $\delta$ = {pointwise:g}; judged by sets of answers it has "
        rf"$\delta$ = {events:g}. So for $\delta > 0$ the definition is weaker than the usual one, which the next card "
        "needs.",
    }
    return judge("F22", evidence, reading("as printed", shown(), said))


@settles("F10")
def algorithm_1(table: pd.DataFrame) -> Outcome:
    """`table` is from `algorithm1`."""
    evidence: dict[str, object] = {}
    right = {}
    for rule in _rows(table):
        p = math.exp(rule.eps)
        evidence[f"{rule.rule}: estimated minus true mean, {rule.users:,} users"] = (
            f"{rule.error:.5f} ± {rule.deviation:.5f} at most"
        )
        evidence[f"{rule.rule}: largest bias of a report, exact"] = f"{rule.bias:.6f}"
        evidence[rf"{rule.rule}: largest likelihood ratio ($e^\epsilon$ = {p:.4f})"] = f"{rule.ratio:.4f}"
        unbiased = rule.bias < 1e-9 and abs(rule.error) < 5 * rule.deviation
        right[rule.rule] = unbiased and rule.ratio <= p * (1 + 1e-9)
    printed = table.iloc[0]
    ratio = "infinite" if math.isinf(printed["ratio"]) else f"{printed['ratio']:.4g}"
    fails = (
        "As printed, the rounded value can be 0, but the uniform answer cannot: the largest likelihood ratio is "
        rf"{ratio}. The estimated mean is off by {printed['bias']:.4f} at $\epsilon$ = {printed['eps']:g} and $b$ = "
        rf"{printed['b']}, where $\gamma/(2b(1-\gamma))$ is {printed['stated']:.4f}."
    )
    said: Said = {
        "verified": r"As printed it is unbiased and its reports are $\epsilon$-LDP.",
        "refuted": fails,
        "holds with correction": fails,
    }
    correction = (
        r"with $\mathrm{Unif}\{0,\ldots,b\}$ and $\gamma=(b+1)/(e^{\epsilon_l}+b)$ the reports are exactly "
        r"$\epsilon_l$-LDP and eq. (1) is unbiased."
    )
    verdict = exactly(right["printed"], near=right["corrected"])
    return judge("F10", evidence, reading("as printed", verdict, said, correction=correction))


@settles("F13")
def laplace_blanket(table: pd.DataFrame) -> Outcome:
    """`table` is from `least_densities`."""
    evidence: dict[str, object] = {}
    for at in _rows(table):
        label = rf"$\epsilon$ = {at.eps:g}: integral of the least density; stated"
        evidence[label] = f"{at.integral:.10f}; {at.stated:.10f}"
    worst = float((table["integral"] / table["stated"] - 1).abs().max())
    evidence["largest relative difference"] = worst
    said: Said = {
        "verified": r"The least density, integrated, agrees with $e^{-\epsilon/2}$ up to a relative "
        f"error of {worst:.1e}.",
        "refuted": rf"The least density, integrated, differs from $e^{{-\epsilon/2}}$ by a relative {worst:.3g}.",
    }
    return judge("F13", evidence, reading("as printed", exactly(worst < 1e-8), said))


@settles("F20")
def lemma_1(table: pd.DataFrame) -> Outcome:
    """`table` is from `lemma1_cases`."""
    evidence: dict[str, object] = {}
    for case in _rows(table):
        evidence[rf"$\epsilon_l$ = {case.eps:g}, $b$ = {case.b}, $n$ = {case.n:,}, $\delta$ = {case.delta:g}"] = (
            rf"printed ({case.printed:.4f}, {case.delta:g}), $\delta$ of Algorithm 1 as printed {case.zero:.3f}; "
            f"$b + 1$: {case.corrected:.4f}, certified {case.certified:.4f}"
        )
    worst = float((table["certified"] / table["corrected"]).max())
    evidence[r"corrected Algorithm 1: certified $\epsilon$ over Lemma 1 with $b + 1$, largest"] = worst
    evidence["the same with $b$, for which there is no proof"] = float((table["certified"] / table["printed"]).max())
    said: Said = {
        "verified": rf"The certified $\epsilon$ is at most {worst:.3f} times the lemma's.",
        "refuted": rf"The certified $\epsilon$ is {worst:.3f} times the lemma's with $b + 1$.",
        "holds with correction": "For Algorithm 1 as printed the lemma is false: by the answer 0 alone $\\delta$ is "
        r"$1 - \gamma$ at every $\epsilon$. For the corrected algorithm the certified $\epsilon$ is at most "
        f"{worst:.2f} times the lemma's.",
    }
    correction = (
        r"for the corrected $\mathcal{R}_{\gamma,b}$, which has $b+1$ answers, "
        r"$\epsilon_c=\sqrt{14\ln(2/\delta_c)(e^{\epsilon_l}+b)/(n-1)}$, where that is at most 1."
    )
    sound = worst <= 1
    verdict = exactly(sound and not (table["zero"] > table["delta"]).any(), near=sound)
    return judge("F20", evidence, reading("as printed", verdict, said, correction=correction))


@settles("F18")
def theorem_2(table: pd.DataFrame) -> Outcome:
    """`table` is from `coordinate_cases`, not padded."""
    evidence: dict[str, object] = {
        rf"$\epsilon_{{lk}}$ = {case.eps:g}, $\beta$ = {case.beta:g}, $n_s$ = {case.size:,}: "
        rf"$(\epsilon_{{cd}}, \delta_{{cd}})$; exact $\delta$, $b$ = 1": (
            f"({case.stated:.4f}, {case.delta:g}); {f'{case.found:.2g}' if case.found > 1e-300 else 'below 1e-300'}"
        )
        for case in _rows(table)  # floats lose their digits below 1e-307
    }
    return _one_coordinate("F18", table, evidence, "exact", "n_s", {})


@settles("F19")
def theorem_3(table: pd.DataFrame, lost: Mapping[int, float]) -> Outcome:
    """`table` is from `coordinate_cases`, padded; `lost`, by n_p, the chance that a coordinate overflows."""
    evidence: dict[str, object] = {
        rf"$\epsilon_{{lk}}$ = {case.eps:g}, $b$ = {case.b}, $\beta$ = {case.beta:g}, $n_p$ = {case.size:,}: "
        r"$(\epsilon_{cd}, \delta_{cd})$; certified $\delta$": f"({case.stated:.4f}, {case.delta:g}); {case.found:.2g}"
        for case in _rows(table)
    }
    (n_p, over), (mean, half) = lost.items()
    more = {
        rf"$P(n_{{s,j}} > n_p)$ with $n$ = 1000, $\beta$ = 1/50, $n_p$ = {n_p}": over,
        f"the same with $n_p$ = {mean}, the mean": half,
    }
    return _one_coordinate("F19", table, evidence, "certified", "n_p", more)


def _one_coordinate(
    name: str, table: pd.DataFrame, evidence: dict[str, object], word: str, size: str, more: Mapping[str, object]
) -> Outcome:
    found, tight, printed = (float((table[column] / table["delta"]).max()) for column in ("found", "tight", "zero"))
    evidence[rf"{word} $\delta$ over $\delta_{{cd}}$, largest"] = found
    evidence[r"the same with a sharp $\epsilon_{ck}$ in place of Lemma 1"] = tight
    evidence[r"Algorithm 1 as printed: $\delta$ of an attack over $\delta_{cd}$, largest"] = printed
    evidence |= more
    worst = max(found, tight)
    said: Said = {
        "verified": rf"The {word} $\delta$ is at most {worst:.2g} times the stated one.",
        "refuted": rf"The {word} $\delta$ is {worst:.3g} times the stated one.",
        "holds with correction": rf"For the corrected $\mathcal{{R}}_{{\gamma,b}}$ the {word} $\delta$ is at most "
        f"{worst:.2g} times the stated one, even with a sharp bound in place of Lemma 1. For the printed one it is "
        rf"not: an answer 0 gives its sender away, and $\delta$ is up to {printed:,.0f} times the stated one.",
    }
    correction = (
        r"it holds for the corrected $\mathcal{R}_{\gamma,b}$, where $\gamma=(b+1)/(e^{\epsilon_{lk}}+b)$, with $b+1$ "
        rf"for $b$ in the formula, if $\epsilon_{{ck}}\leq 1$ and there are ${size}$ reports in every case."
    )
    verdict = exactly(worst <= 1 and printed <= 1, near=worst <= 1)
    return judge(name, evidence, reading("as printed", verdict, said, correction=correction))


@settles("F16")
def proposition_1(table: pd.DataFrame, share: float, simulated: Mapping[str, float], b: int) -> Outcome:
    """`table` is from `error_exponents` at that share, `simulated` from `deviations` of R_{gamma,b}."""
    tolerance = _tolerance("F16", "exponent")
    names = {"n_p": "$n_p$", "n_s": "$n_s$", "eps_ck": r"$\epsilon_{ck}$"}
    evidence: dict[str, object] = {}
    for line in _rows(table):
        what = f"exponent of {names[line.varied]}"
        if not line.dummies:
            what = f"no dummies{', $n_p = n_s$' if line.varied == 'n_p' else ''}: {what}"
        evidence[what if not line.dummies else f"{what}, $n_s/n_p$ = {share:g}"] = (
            f"{line.exponent:.3f}, stated {line.stated:.3f}"
        )
    check = "check of the exact formula, $b$ = {b}, $n_s$ = {n_s}, $n_p$ = {n_p}".format(b=b, **simulated)
    evidence[check] = "{exact:.4f}, simulated {simulated:.4f} ± {error:.4f}".format(**simulated)
    close = (table["exponent"] - table["stated"]).abs() <= tolerance
    off, dummies = table[table["dummies"] & ~close], table[table["dummies"]].set_index("varied")["exponent"]
    listed, alone = (
        [
            f"the exponent of {names[line.varied]} is {line.exponent:.2f} (stated: {line.stated:.2f})"
            for line in _rows(part)
        ]
        for part in (off, table[~table["dummies"]])
    )
    said: Said = {
        "verified": f"All exponents are within {tolerance:g} of the stated ones.",
        "not checkable": "The exact variance disagrees with its simulation.",
        "refuted": f"With dummies {' and '.join(listed)}, and the corrected order does not hold either.",
        "holds with correction": f"With dummies {' and '.join(listed)}. A dummy is all noise: "
        r"whatever $\epsilon$, its variance $(b+2)/(12b)$ is at least 1/12, so that $n_p - n_s$ dummies leave an error "
        r"of at least $\sqrt{(n_p - n_s)/12}/n_s$. "
        f"Without dummies the stated order holds: {' and '.join(alone)}.",
    }
    agree = abs(simulated["simulated"] - simulated["exact"]) <= 5 * simulated["error"]
    right = {"n_p": 0.5, "n_s": -1.0, "eps_ck": 0.0}
    near = bool(close[~table["dummies"]].all()) and all(abs(dummies[x] - v) <= tolerance for x, v in right.items())
    correction = (
        r"the printed order is that of $n_p$ users and no dummies; with dummies it is $\sqrt{n_p}/n_s$ if $n_s/n_p$ is "
        r"small, whatever $\epsilon_{ck}$."
    )
    verdict = exactly(off.empty, near=near) if agree else unknown()
    return judge("F16", evidence, reading("as printed", verdict, said, correction=correction))


@settles("F15")
def gaussian_noise(table: pd.DataFrame, delta: float) -> Outcome:
    """`table` is from `gaussian_baselines` at that delta."""
    evidence: dict[str, object] = {}
    for line in _rows(table):
        evidence[rf"stated ({line.eps:g}, {delta:g}): exact $\epsilon$ at that $\delta$"] = line.exact_eps
        evidence[rf"stated ({line.eps:g}, {delta:g}): exact $\delta$ at that $\epsilon$"] = line.exact_delta
    limit = float(table["limit"].iloc[0])
    evidence[rf"the formula holds at $\delta$ = {delta:g} up to $\epsilon$"] = limit
    good = table["exact_eps"] <= table["eps"]
    broken = [(line.eps, f"({line.exact_eps:.2f}, {delta:g})") for line in _rows(table[~good])]
    really = " and ".join(f"the stated ({eps:g}, {delta:g}) is really {real}" for eps, real in broken)
    kept = " and ".join(
        f"the stated ({line.eps:g}, {delta:g}) is really ({line.exact_eps:.3f}, {delta:g})"
        for line in _rows(table[good])
    )
    said: Said = {
        "verified": "The formula's noise gives what is stated, or better.",
        "refuted": f"The formula's noise does not give what is stated: {really}.",
        "holds with correction": r"The formula is proved for $\epsilon$ up to 1, and at this $\delta$ it is true up to "
        f"{limit:.2f}. Beyond, it is not: {really}.",
    }
    correction = f"with the noise that is used, {really}, and {kept}."
    verdict = exactly(bool(good.all()), near=bool(good.any()))
    return judge("F15", evidence, reading("as printed", verdict, said, correction=correction))


# --- checks: composition and messages ----------------------------------------------------------------------


@settles("F17")
def theorem_1(table: pd.DataFrame, one: Setting, whole: Mapping[str, float], ratios: pd.DataFrame) -> Outcome:
    """`table` is from `compositions`, `whole` from `linked` at `one`, `ratios` from `corollary2_ratios`."""
    sizes = r"$d$ = {:,}{}, $n$ = {:,}, $\epsilon_{{ld}}$ = {:g}"
    evidence: dict[str, object] = {}
    for line in _rows(table):
        evidence[f"{sizes.format(line.d, '', line.n, line.eps)}: Theorem 1; certified"] = (
            f"{line.stated:.4f}; {line.certified:.4f}"
        )
    shown_delta = whole["shown"]
    evidence[rf"messages of {sizes.format(one.d, ' values', one.n, one.eps)}: Theorem 1; $\delta$ of an attack"] = (
        f"({whole['stated']:.3f}, {one.delta:g}); {shown_delta:.2g}"
    )
    for line in _rows(ratios):
        at = rf"$\epsilon_{{ld}}$ = {line.eps:g}, $n$ = {line.n}, $d$ = {line.d:,}"
        evidence[f"Theorem 1 over Corollary 2's expression, {at}"] = line.ratio
    worst = float((table["certified"] / table["stated"]).max())
    first, last = (float(ratios["ratio"].iloc[i]) for i in (0, -1))
    said: Said = {
        "verified": rf"The certified $\epsilon$ is at most {worst:.2f} times the theorem's.",
        "refuted": rf"The certified $\epsilon$ is {worst:.3f} times the theorem's.",
        "holds with correction": r"With each coordinate shuffled on its own, the certified $\epsilon$ is at most "
        f"{worst:.2f} times the theorem's. But Algorithm 2 shuffles whole messages, and for those an attack shows "
        rf"$\delta \geq$ {shown_delta:.2g} where the theorem says {one.delta:g}. "
        r"Corollary 2 drops the term $d \epsilon_{cd} (e^{\epsilon_{cd}} - 1)$, so that the theorem's value over the "
        rf"corollary's grows with $d$, from {first:.1f} to {last:.0f}.",
    }
    correction = (
        "with a permutation of its own for each coordinate; and Corollary 2 where "
        r"$\epsilon_{cd}\sqrt{d}=O(\sqrt{\ln(d/\delta_c)})$."
    )
    verdict = exactly(worst <= 1 and shown_delta <= one.delta and last <= 10 * first, near=worst <= 1)
    return judge("F17", evidence, reading("as printed", verdict, said, correction=correction))


@settles("F14")
def linked_messages(table: pd.DataFrame) -> Outcome:
    """`table` is from `messages`."""
    evidence: dict[str, object] = {}
    for line in _rows(table):
        at = f"$k$ = {line.k}"
        evidence[rf"{at}, stated ({line.eps:g}, {line.delta:.2g}): $\delta$ of scoring whole messages"] = line.values
        evidence[rf"{at}: $\delta$ of reading the indices of SS-Topk"] = line.indices
        evidence[rf"{at}: SS-Double as separate (index, value) pairs, index by index, certified $\delta$"] = line.pairs
    values, indices, pairs = (float((table[name] / table["delta"]).max()) for name in ("values", "indices", "pairs"))
    apart = "stay within it" if pairs <= 1 else f"exceed it by a factor of {pairs:.2g}"
    fails = (
        rf"An attack on the values of whole messages reaches up to {values:,.0f} times the stated "
        rf"$\delta$. In SS-Topk the indices, which name the selection, give {indices:,.0f} times it. Separate (index, "
        f"value) pairs of SS-Double {apart}."
    )
    said: Said = {
        "verified": r"The attacks on whole messages stay within the stated $\delta$.",
        "refuted": fails,
        "holds with correction": fails,
    }
    correction = (
        "with single (index, value) pairs, shuffled within their coordinates, as for SS-Simple; for SS-Double with "
        "each index drawn independently. What SS-Topk lacks besides is no matter of messages: its selection is no "
        "sample."
    )
    verdict = exactly(max(values, indices) <= 1, near=pairs <= 1)
    return judge("F14", evidence, reading("as printed", verdict, said, correction=correction))


@settles("F11")
def theorem_4(
    small: tuple[int, int],
    report: tuple[Fraction, Fraction],
    cases: Sequence[tuple[Setting, Mapping[str, float]]],
    corrected: Mapping[str, Any],
    accounts: pd.DataFrame,
) -> Outcome:
    """k = 1: the theorem's promise against exact deltas; d folds index by index against the same attack.

    `report` is from `one_report(*small)`; `cases`, one for Laplace noise and one for two answers, from
    `theorem4_attack`; `corrected` from `certify` in the first case.
    """
    (power, exact), ((one, laplace), (bits, two)) = report, cases
    paper = row(accounts, DOUBLE)
    folds = r"$d$ folds, index by index, certified $\epsilon$; attack"
    evidence: dict[str, object] = {
        rf"one user, $d$ = {small[0]}, $k = n_p$ = 1, odds {small[1]}: stated $e^{{\epsilon_c}}$, $\delta_c$ = 0": str(
            power
        ),
        r"one user, $k$ = $n_p$ = 1: exact $\delta$ at the stated $\epsilon_c$": str(exact),
        rf"$d$ = {one.d}, $k$ = 1, $n_p$ = {one.n_p}, Laplace, valid $\epsilon_{{ck}}$: stated": (
            f"({laplace['stated']:.3g}, {one.delta:g})"
        ),
        r"Laplace, $k$ = 1: $\delta$ of an attack at the stated $\epsilon$": laplace["shown"],
        f"Laplace, $k$ = 1: {folds}": f"{corrected['certified']:.4g}; {corrected['attack']:.4g}",
        f"$d$ = {bits.d:,}, $k$ = 1, $n_p$ = {bits.n_p:,}, two answers, Lemma 1: stated": (
            f"({two['stated']:.3g}, {bits.delta:g})"
        ),
        r"two answers, corrected Algorithm 1: $\delta$ of an attack at the stated $\epsilon$": two["shown"],
        f"FLAME's own setting: {folds}": f"{paper['certified']:.4g}; {paper['attack']:.4g}",
    }
    holds = not (exact > 0 or laplace["shown"] > one.delta or two["shown"] > bits.delta)
    said: Said = {
        "verified": "No attack at $k$ = 1 exceeds what is stated.",
        "refuted": r"The theorem composes $2 \beta d$ folds of an $\epsilon_{cd}$ that already contains $\beta$: it "
        rf"counts the subsampling twice. For one of $d$ = {small[0]} indices it promises $(\ln({power}), 0)$, where "
        rf"$\delta$ is {exact}. For one of {one.d} indices and {one.n_p} reports it promises ({laplace['stated']:.2g}, "
        rf"{one.delta:g}), where an attack reaches $\delta$ = {laplace['shown']:.2g}. What holds is $d$ folds of "
        r"$\epsilon_{cd}$ if each index is drawn independently, or $k$ folds of $\epsilon_{ck}$ for exactly $k$ "
        "indices.",
    }
    return judge("F11", evidence, reading("as printed", exactly(holds), said))


@settles("F12")
def same_amplification(one: Setting, accounts: pd.DataFrame, there: float) -> Outcome:
    """An attack on SS-Topk, pairs separate and everything padded; `there` is from `topk_delta`."""
    double, top = row(accounts, DOUBLE), row(accounts, TOPK)
    evidence: dict[str, object] = {
        "SS-Double, index by index: attack; certified": f"{double['attack']:.4f}; {double['certified']:.4f}",
        "SS-Topk, equal selections: attack; certified": f"{top['attack']:.4f}; {top['certified']:.4f}",
        rf"$\delta$ of the attack on SS-Topk at SS-Double's $\epsilon$ ($\delta_c$ = {one.delta:.2g})": there,
    }
    said: Said = {
        "verified": rf"SS-Topk is certified to have $\epsilon \leq$ {top['certified']:.3f}, no more than SS-Double.",
        "refuted": "The $k$ largest are a function of the data, so nothing is subsampled. An attack that tells two "
        rf"users with the same selection and opposite values apart shows $\epsilon \geq$ {top['attack']:.2f}; "
        rf"SS-Double is certified to have $\epsilon \leq$ {double['certified']:.3f}.",
        "not checkable": "The certified intervals overlap.",
    }
    verdict = at_least(-top["certified"], -top["attack"], -double["certified"])
    return judge("F12", evidence, reading("even if pairs are shuffled one by one", verdict, said))


@settles("F21")
def any_randomizer(table: pd.DataFrame) -> Outcome:
    """`table` is from `other_randomizers`."""
    evidence: dict[str, object] = {}
    for line in _rows(table):
        who = f"{line.name}, {line.eps:g}"
        evidence[f"{who} a coordinate: Theorem 1; certified"] = f"{line.theorem1:.4g}; {line.simple:.4g}"
        evidence[f"{who}, $k$ = 1 of {line.d}: Theorem 4; attack; $d$ folds, certified"] = (
            f"{line.theorem4:.3g}; {line.attack:.3g}; {line.double:.3g}"
        )
    first = bool((table["simple"] <= table["theorem1"]).all())
    broken = table["attack"] > table["theorem4"]
    worst = float((table["attack"] / table["theorem4"]).max())
    one = "holds" if first else "does not hold"
    folds = "stay above the attack" if (table["attack"] <= table["double"]).all() else "are below it too"
    said: Said = {
        "verified": f"Both hold for each of the {len(table)} randomizers tried.",
        "refuted": f"Theorem 1 {one} for the {len(table)} randomizers tried: its composition needs nothing but a bound "
        f"of one coordinate, each shuffled on its own. Theorem 4 fails for {broken.sum()} of these at $k$ = 1, for the "
        rf"reason given above: an attack shows up to {worst:.2g} times its $\epsilon_c$. Bounds by $d$ folds {folds}.",
    }
    return judge("F21", evidence, reading("as printed", joined(exactly(first), exactly(not broken.any())), said))


@settles("F9")
def proposition_2(
    posteriors: Mapping[tuple[int, int, int], Fraction], least: Sequence[Any], beta: Fraction, d: int, k: int
) -> Outcome:
    """`posteriors` by (d, k, l), `least` the least nu for l = 1, ..., 1/beta; d and k where k does not divide d."""
    evidence: dict[str, object] = {
        f"$d$ = {case[0]}, $k$ = {case[1]}, $l$ = {case[2]}: P(largest | reported), enumerated; $1/l$": (
            f"{found}; {Fraction(1, case[2])}"
        )
        for case, found in posteriors.items()
    }
    agree = all(found == Fraction(1, case[2]) for case, found in posteriors.items())
    one, whole, up = least[0], least[-1], math.ceil(d / k)
    at = rf"$\beta$ = {beta}"
    evidence[rf"{at}: least $\nu$ at $l$ = {len(least)}"] = str(whole)
    evidence[r"least $\nu$ at $l$ = 1 (second inequality: $0 \geq (1 - \beta)/\nu$)"] = (
        "infinite" if one == math.inf else str(one)
    )
    evidence[rf"largest least $\nu$ over $l$ = 2..{len(least)}; stated end of the range"] = (
        f"{max(least[1:])}; {1 / beta}"
    )
    evidence[rf"$d$ = {d}, $k$ = {k}: indices to report at $l = \lceil 1/\beta \rceil$ = {up}; there are"] = (
        f"{up * k:,}; {d:,}"
    )
    near = agree and whole == 1
    said: Said = {
        "verified": "Both ends hold as stated.",
        "refuted": r"$\nu$ = 1 is not reached at $l = 1/\beta$, or the posterior is not $1/l$.",
        "holds with correction": r"$\nu$ = 1 is reached at $l = 1/\beta$ if that is a whole number; otherwise there "
        r"are fewer than $\lceil 1/\beta \rceil k$ indices to report. At $l$ = 1 no finite $\nu$ meets the second "
        r"inequality of Definition 3. So 'no index privacy' is right there, and $\nu = 1/\beta$ is not.",
    }
    correction = (
        r"the least $\nu$ is $\max\{1, 1/(l\beta), (1-\beta)l/(l-1)\}$: 1 at $l=1/\beta$ if $k$ divides "
        r"$d$, at most $\max\{1/(2\beta), 2(1-\beta)\}$ for $l\geq 2$, infinite at $l=1$."
    )
    verdict = exactly(near and up * k <= d and one == 1 / beta, near=near)
    return judge("F9", evidence, reading("as printed", verdict, said, correction=correction))


@settles("F8")
def theorem_5(
    one: Setting, evenly: pd.DataFrame, crowded: pd.DataFrame, drawn: Mapping[str, float], delta: float
) -> Outcome:
    """Does l = 16 fit into n_p? `evenly` and `crowded` are from `overflow_by_l`, `drawn` from `simulate_padding`."""
    many, nu = theorem5(one)
    mean, share, some = (float(evenly.loc[evenly["l"] == many, name].item()) for name in ("mean", "one", "any"))
    fits, popular = (largest_fitting_l(table, delta=delta) for table in (evenly, crowded))
    best = float(least_nu(fits, beta=one.beta)) if fits else math.inf
    evidence: dict[str, object] = {
        r"Theorem 5: $l$; $\nu$": f"{many}; {nu:g}",
        f"mean $n_{{s,j}}$ at $l$ = {many}, if the largest are spread evenly; $n_p$": f"{mean:.0f}; {one.n_p}",
        f"P(a coordinate exceeds $n_p$) at $l$ = {many}": share,
        f"simulated round at $l$ = {many}: share of coordinates above $n_p$; largest $n_{{s,j}}$": (
            f"{drawn['overflowing']:.3f}; {drawn['largest']:.0f}"
        ),
        rf"largest $l$ at which every coordinate fits but with probability {delta:g}; its $\nu$": (
            f"{fits}; {best:.3f}" if fits else "none"
        ),
        "the same for a coordinate among half of the users' largest": popular or "none, not even $l$ = 1",
    }
    allowed = rf"$l$ = {fits}, $\nu$ = {best:.2f}" if fits else "no $l$ at all"
    rest = f"it is $l$ = {popular}" if popular else "no $l$ fits"
    average = (
        f"At $l$ = {many} the reports fit into $n_p$ on average only: even if the largest indices are spread evenly, "
        f"{100 * share:.0f}% of the coordinates exceed it."
    )
    said: Said = {
        "not reproduced": rf"The formulas give $l$ = {many} and $\nu$ = {nu:g}.",
        "verified": f"At $l$ = {many} some coordinate does not fit with a probability of at most {some:.1g}.",
        "refuted": f"{average} No $l$ above 1 fits.",
        "holds with correction": f"{average} The most that fits then is {allowed}. If half of the users select one "
        f"index, {rest}.",
    }
    correction = (
        rf"with $n/n_p$ = {one.n / one.n_p:.0f} and the largest indices spread evenly, as Definition 3 takes them, the "
        rf"strongest index privacy is {allowed}."
    )
    verdict = joined(within(max(abs(many - 16), abs(nu - 3.125)), 0), exactly(some <= delta, near=fits > 1))
    return judge("F8", evidence, reading("as printed", verdict, said, correction=correction))


# --- checks: the published numbers -------------------------------------------------------------------------


def _shown(found: pd.Series, printed: float, whole: float) -> dict[str, object]:
    return {
        "printed": printed,
        "paper's theorem with the first version's Bennett form": f"{found['old_bennett']:.4f}",
        "with the corrected Bennett form; Hoeffding's": f"{found['bennett']:.4f}; {found['hoeffding']:.4f}",
        "with the exact bound of one coordinate": f"{found['exact']:.4f}",
        "attack (lower bound)": f"{found['attack']:.4f}",
        "certified (upper bound)": f"{found['certified']:.4f}",
        r"whole messages: $\delta$ of an attack at the printed $\epsilon$": whole,
    }


def _valid(attack: float, certified: float, limit: float, *, broken: bool) -> Verdict:
    """A printed guarantee of whole messages; `attack` and `certified` are of pairs shuffled one by one.

    Of whole messages nothing is certified, so at best it holds for pairs, which is the correction.
    """
    near = certified <= limit
    return exactly(False, near=near) if near or broken else at_least(-certified, -attack, -limit)


def _budget(
    name: str, printed: float, found: pd.Series, one: Setting, whole: float, conditions: str, note: str, at: str = ""
) -> tuple[dict[str, object], Callable[[str, float], Reading]]:
    """The evidence on one printed eps, and a reading of it, given its name and how far off the number is."""
    tolerance = _tolerance(name, "eps")
    old, attack, certified = (float(found[column]) for column in ("old_bennett", "attack", "certified"))
    broken = whole > one.delta
    valid = _valid(attack, certified, printed + tolerance, broken=broken)
    source = f"The number is that of the first version of the Bennett form, which gives {old:.4f}{at}"
    apart = (
        rf" For whole messages, which the algorithms send, an attack shows $\delta$ = {whole:.2g} at the printed "
        rf"$\epsilon$, where {one.delta:.2g} is promised."
        if broken
        else ""
    )
    between = rf"$\epsilon$ is between {attack:.4g} and {certified:.4g}"
    pairs = (
        rf"For pairs shuffled one by one an attack shows that $\epsilon$ is at least {attack:.3f}."
        if attack > printed + tolerance
        else rf"For pairs shuffled one by one {between}, which settles nothing."
    )

    def read(how: str, gap: float) -> Reading:
        said: Said = {
            "not reproduced": f"The first version of the Bennett form gives {old:.5f}, {gap:.5f} away (tolerance "
            f"{tolerance:g}).",
            "refuted": f"{source}.{apart} {pairs}",
            "not checkable": f"{source}. {pairs}",
            "holds with correction": f"{source}. That form is no bound; with the corrected one the same theorem gives "
            f"{found['bennett']:.3f}.{apart} {note}",
        }
        correction = rf"{conditions} {between} at that $\delta$: the printed value is true there, and loose."
        return reading(how, joined(within(gap, tolerance), valid), said, correction=correction)

    return _shown(found, printed, whole), read


@settles("F4")
def simple_budget(accounts: pd.DataFrame, one: Setting, whole: float) -> Outcome:
    """(0.91, 5e-6) for SS-Simple; `whole` is from `whole_messages` at `one`."""
    printed, found = 0.91, row(accounts, SIMPLE)
    note = rf"For coordinates shuffled one by one $\epsilon$ is certified to be below {found['certified']:.4f}."
    conditions = "with each coordinate shuffled on its own"
    evidence, read = _budget("F4", printed, found, one, whole, conditions, note)
    return judge("F4", evidence, read("as printed", abs(found["old_bennett"] - printed)))


@settles("F5")
def double_budget(accounts: pd.DataFrame, excess: float, one: Setting, whole: float) -> Outcome:
    """(0.24, 5e-6) for both; `excess` is from `old_form_excess`, `whole` from `whole_messages` at `one`."""
    printed, tolerance = 0.24, _tolerance("F5", "eps")
    double, given, top = (row(accounts, who) for who in (DOUBLE, GIVEN, TOPK))
    evidence = dict(list(_shown(double, printed, whole).items())[:4])
    for name, found in (
        ("SS-Double, index by index", double), ("SS-Double, exactly $k$ indices", given), ("SS-Topk", top)
    ):  # fmt: skip
        evidence[f"{name}: attack; certified"] = f"{found['attack']:.4f}; {found['certified']:.4f}"
    evidence[r"whole messages: $\delta$ of an attack at the printed $\epsilon$"] = whole
    evidence[r"exact $\delta$ of a coordinate over the first version's form, at its own $\epsilon_{ck}$"] = excess
    attacked = {"SS-Double": double["attack"], "SS-Topk": top["attack"]}
    attack, most = max(attacked.values()), max(double["certified"], top["certified"])
    why = [
        rf"{name}, where an attack shows that $\epsilon$ is at least {low:.2f}"
        for name, low in attacked.items()
        if low > printed + tolerance
    ] or [rf"whole messages ($\delta$ = {whole:.2g}), and for pairs nothing that low is certified"]
    partly = (
        ". For SS-Double it is true if (index, value) pairs are shuffled one by one and each index is drawn "
        rf"independently; $\epsilon$ is then certified to be at most {double['certified']:.3f}"
        if double["certified"] <= printed + tolerance
        else ""
    )
    said: Said = {
        "not reproduced": f"The formulas give {double['old_bennett']:.4f}, not {printed:g}.",
        "refuted": f"The number is false for {' and '.join(why)}{partly}.",
        "not checkable": "No attack refutes the number, and it is not certified.",
        "holds with correction": rf"For pairs shuffled one by one $\epsilon$ is certified to be at most {most:.3f}.",
    }
    correction = "the number is true for separate (index, value) pairs, each index of SS-Double drawn independently."
    valid = _valid(attack, most, printed + tolerance, broken=whole > one.delta)
    verdict = joined(within(double["old_bennett"] - printed, tolerance), valid)
    return judge("F5", evidence, reading("as printed", verdict, said, correction=correction))


@settles("F6")
def without_subsampling(accounts: pd.DataFrame, one: Setting, whole: float) -> Outcome:
    """(20.53, 5e-6) for SS-Topk without the amplification from subsampling; `whole` as for F4."""
    printed, readme = 20.53, 20.5352544  # DP-FL without amplification by subsampling, README of the released code
    found = row(accounts, PLAIN)
    old = float(found["old_bennett"])
    conditions = r"for separate (index, value) pairs and $n_{s,j}\leq n_p$ for every $j$,"
    note = (
        f"For pairs shuffled one by one it is true, and {printed / found['certified']:.0f} times as large as need be."
    )
    evidence, read = _budget("F6", printed, found, one, whole, conditions, note)
    evidence["README of the released code; the first version's form to as many digits"] = f"{readme}; {old:.7f}"
    cut = math.floor(100 * old) / 100 if old > 0 else math.nan
    # The words do not say how the digits were shortened; the README's number, if it is ours, does.
    other = "" if round(old, 7) == readme else "nothing shows that the digits were cut: the README's number differs"
    return judge(
        "F6",
        evidence,
        read("the printed digits are rounded", abs(old - printed)),
        replace(
            read("the printed digits are cut, as the README's 20.5352544 shows", abs(cut - printed)), excluded=other
        ),
    )


@settles("F7")
def dense_budget(accounts: pd.DataFrame, one: Setting, whole: float) -> Outcome:
    """(2.348, 5e-6) for SS-Topk at beta = 1/10, n/n_p = 1.5; `whole` as for F4."""
    printed, found = 2.348, row(accounts, DENSE)
    attack, certified = (float(found[column]) for column in ("attack", "certified"))
    conditions = r"for separate (index, value) pairs and $n_{s,j}\leq n_p$ for every $j$,"
    at = rf" with $n/n_p$ = {one.n / one.n_p:.1f} and $\epsilon_{{lk}}$ = {one.eps:g}, which are not stated"
    evidence, read = _budget("F7", printed, found, one, whole, conditions, "", at)
    limit = printed + _tolerance("F7", "eps")
    said: Said = {
        "verified": rf"$\epsilon$ is certified to be at most {certified:.3f}.",
        "refuted": rf"An attack shows that $\epsilon$ is at least {attack:.3f}.",
        "not checkable": rf"$\epsilon$ is between {attack:.3f} and {certified:.3f}, which settles nothing.",
    }
    return judge(
        "F7",
        evidence,
        read("messages as Algorithms 2 to 4 send them", abs(found["old_bennett"] - printed)),
        reading(
            "(index, value) pairs, shuffled one by one",
            at_least(-certified, -attack, -limit),
            said,
            excluded="a user's indices and values are one message in Algorithms 2 to 4",
        ),
    )


BY_FORMULA = "by the formulas that Figure 3 is drawn from"
OWN = "the protocols' own amplification"


def _at(printed: pd.DataFrame) -> pd.Series:
    """The row of `amplification_ratios` at the budget of the two printed numbers."""
    return printed.iloc[(printed["eps"] - 0.8).abs().argmin()]


def _off(found: pd.Series) -> float:
    """The larger relative difference from the two printed numbers."""
    return max(abs(float(found[case]) / value - 1) for case, value in _FIGURE3.items())


_FIGURE3 = {"simple": 2.55, "double": 137.36}


def _settings(one: Setting) -> str:
    return f"$n$ = {one.n:,}, $n_p$ = {one.n_p:,}, $b$ = 2 and $k$ = {one.k:,}"


@settles("F2")
def dozens(printed: pd.DataFrame, certified: pd.DataFrame, one: Setting) -> Outcome:
    """SS-Double's ratio over SS-Simple's: `amplification_ratios`, and `certified_ratios` from their good sides."""
    least, tolerance = _tolerance("F2", "ratio_min"), _tolerance("F1", "relative")
    found = _at(printed)
    quotient, formulas = _FIGURE3["double"] / _FIGURE3["simple"], float(found["double"] / found["simple"])
    low, high = (certified.set_index("case")[name] for name in ("ratio_low", "ratio_high"))
    most, sure, equal = high["double"] / low["simple"], low["double"] / high["simple"], high["double"] / low["equal"]
    evidence: dict[str, object] = {
        "printed 137.36 over printed 2.55; from the formulas": f"{quotient:.1f}; {formulas:.1f}",
        "SS-Double's ratio over SS-Simple's, same budget per reported coordinate": f"{sure:.3f} to {most:.3f}",
        r"SS-Double's ratio over SS-Simple's, same $\epsilon_l$": f"{low['double'] / high['equal']:.3f} to {equal:.3f}",
        "what 'dozens' needs": least,
    }
    by_formula: Said = {
        "holds with correction": rf"The printed amplifications are {quotient:.1f} times apart. They are compared at "
        rf"one budget per reported coordinate, where SS-Simple has {one.d / one.k:.0f} times the $\epsilon_l$.",
        "refuted": f"The printed amplifications are {quotient:.1f} times apart.",
        "not reproduced": f"The formulas' amplifications are {formulas:.1f} times apart, the printed ones "
        f"{quotient:.1f} times.",
    }
    own: Said = {
        "verified": f"SS-Double amplifies at least {sure:.0f} times as much as SS-Simple.",
        "refuted": f"SS-Double amplifies at most {most:.2f} times as much as SS-Simple at the budgets of Figure 3, and "
        rf"at most {equal:.2f} times as much at the same $\epsilon_l$. The larger budget of each reported coordinate "
        "costs what subsampling gains, and $n_p$ is smaller than $n$.",
        "not checkable": f"SS-Double amplifies between {sure:.2f} and {most:.2f} times as much as SS-Simple.",
    }
    correction = f"the formulas, Lemma 1 with Theorems 1 and 4, differ so at {_settings(one)}, which are not stated."
    verdict = joined(at_least(quotient, quotient, least), within(_off(found), tolerance, setting=True))
    return judge(
        "F2",
        evidence,
        reading(
            BY_FORMULA,
            verdict,
            by_formula,
            correction=correction,
            excluded="a bound that is looser for SS-Simple is no smaller amplification, and the sentence is about what "
            "the protocols have; as for 'diminishes with the dimension'",
        ),
        reading(OWN, at_least(sure, most, least), own),
    )


@settles("F1")
def figure_3(printed: pd.DataFrame, certified: pd.DataFrame, one: Setting) -> Outcome:
    """x2.55 and x137.36 from the formulas at `one`, and what holds: `amplification_ratios`, `certified_ratios`."""
    tolerance = _tolerance("F1", "relative")
    found = _at(printed)
    proved = certified.set_index("case")
    low, high, local = (proved[name] for name in ("ratio_low", "ratio_high", "eps_local"))
    between = {case: f"{low[case]:,.0f} and {high[case]:,.0f}" for case in ("simple", "double", "equal")}
    at_equal = r"SS-Simple at SS-Double's $\epsilon_l$"
    evidence: dict[str, object] = {
        "SS-Simple, printed 2.55": float(found["simple"]),
        "SS-Double, printed 137.36": float(found["double"]),
        f"{at_equal}, same formulas": float(found["equal"]),
        "SS-Simple: ratio between": between["simple"],
        "SS-Double: ratio between": between["double"],
        f"{at_equal}: ratio between": between["equal"],
    }
    by_formula: Said = {
        "holds with correction": f"The formulas give both numbers at {_settings(one)}, which are not stated. The "
        "numbers say how loose the formulas are, and SS-Simple has "
        rf"{local['simple'] / local['double']:.0f} times the $\epsilon_l$ there.",
        "not reproduced": f"The formulas give {found['simple']:.3f} and {found['double']:.2f}.",
    }
    own: Said = {
        "verified": "The protocols' own amplifications are these.",
        "refuted": f"The amplification is between {between['simple']} for SS-Simple, and between {between['double']} "
        rf"for SS-Double. At SS-Double's $\epsilon_l$ it is between {between['equal']} for SS-Simple.",
    }
    holds = all(low[case] * (1 - tolerance) <= v <= high[case] * (1 + tolerance) for case, v in _FIGURE3.items())
    correction = f"the formulas, Lemma 1 with Theorems 1 and 4, have these values at {_settings(one)}."
    return judge(
        "F1",
        evidence,
        reading(BY_FORMULA, within(_off(found), tolerance, setting=True), by_formula, correction=correction),
        reading(OWN, exactly(holds), own),
    )

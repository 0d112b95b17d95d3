"""Table 1, equations (3) to (6) and Facts 1, 2 and 4 of Chen et al. 2024 on finite pairs of laws.

Every comparison of two curves is made at the corners of both, where two piecewise linear curves differ most: no
grid is involved, and a negative gap beyond rounding is a counterexample.

>>> coin = neyman_pearson([0.5, 0.5], [0.5, 0.5])  # a mechanism that ignores its input: T = 1 - alpha
>>> round(least_gap(coin, printed_fact_1(eps=0.5, delta=0.0)).gap, 6)  # ... is not f-DP with f as printed
-0.303265
>>> round(least_gap(coin, fact_1(eps=0.5, delta=0.0)).gap, 6)
0.0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from gspa import _validate as check
from gspa.discrete import TradeOff, hockey_stick, neyman_pearson, total_variation
from gspa.errors import InvalidValue
from gspa.local_privacy import events, random_pairs
from gspa.tradeoff import chain, delta_from_tradeoff, f_eps_delta

Array = NDArray[np.float64]

# Slopes stay below 600 in the random laws, so a gap by rounding stays below this; a counterexample is 1e-3 and more.
ROUNDING = 1e-11
# The cells of Table 1 as printed: what is done, what is true of the hypothesis, and the name of the result.
TABLE_1: Mapping[tuple[str, str], str] = {
    ("accept", "true"): "correct",
    ("accept", "false"): "type II",
    ("reject", "true"): "type I",
    ("reject", "false"): "correct",
}


class Gap(NamedTuple):
    """The least value of one curve minus another, and where it is."""

    gap: float
    alpha: float


def least_gap(upper: TradeOff, lower: TradeOff) -> Gap:
    """The least of upper - lower over [0, 1]; exact for curves given by their corners.

    Args:
        upper: what should lie above.
        lower: what should lie below.
    """
    alpha = np.union1d(upper.alpha, lower.alpha)
    difference = upper(alpha) - lower(alpha)
    k = int(np.argmin(difference))
    return Gap(float(difference[k]), float(alpha[k]))


def _corners(curve: Callable[[Array], Array], alpha: ArrayLike) -> TradeOff:
    where = np.unique(np.clip(np.r_[0.0, alpha, 1.0], 0.0, 1.0))
    return TradeOff(where, curve(where))


def fact_1(*, eps: float, delta: float) -> TradeOff:
    """f_{eps, delta} of Fact 1 with (1 - delta - alpha), by its corners."""
    eps, delta = check.in_range(0, 700, eps=eps), check.in_range(0, 1, delta=delta)
    kink = (1 - delta) / (1 + math.exp(eps))
    return _corners(lambda a: f_eps_delta(a, eps=eps, delta=delta), [kink, 1 - delta])


def printed_fact_1(*, eps: float, delta: float) -> TradeOff:
    """Eq. (19) as printed: the third term has (1 - delta - eps) and does not depend on alpha.

    By its corners; where eps + delta < 1 it does not fall to 0 and so is no trade-off function.

    Args:
        eps: >= 0.
        delta: in [0, 1).

    Raises:
        InvalidValue: an argument outside its range.
    """
    eps, delta = check.in_range(0, 700, eps=eps), check.probability(delta=delta)
    flat = max(0.0, math.exp(-eps) * (1 - delta - eps))
    return _corners(lambda a: np.maximum(flat, 1 - delta - math.exp(eps) * a), [math.exp(-eps) * (1 - delta - flat)])


def chained(first: TradeOff, second: TradeOff) -> TradeOff:
    """second(1 - first(alpha)) by its corners: the composition of Fact 4."""
    # Its corners are those of `first` and where 1 - first reaches a corner of `second`.
    falling = 1 - first.beta
    back = np.interp(second.alpha, falling, first.alpha)
    return _corners(chain(first.__call__, second.__call__), np.r_[first.alpha, back])


def error_table(p: ArrayLike, q: ArrayLike, reject: ArrayLike) -> pd.DataFrame:
    """The four cells of Table 1 by enumeration: which world, which report, which decision.

    Args:
        p: law of the report under H0, shape (k,).
        q: law under H1.
        reject: probability to reject H0 at each report, in [0, 1].

    Returns:
        `decision` ("accept" or "reject"), `hypothesis` ("true" or "false", of H0), `probability` (given the world).
    """
    laws = {"true": check.array_in(0, 1, p=p), "false": check.array_in(0, 1, q=q)}
    rule = check.array_in(0, 1, reject=reject)
    if rule.ndim != 1 or any(law.shape != rule.shape for law in laws.values()):
        raise InvalidValue("shape of reject", rule.shape, "that of p and of q, (k,)")
    cells = dict.fromkeys(TABLE_1, 0.0)
    for (hypothesis, law), report, decision in product(laws.items(), range(rule.size), ("accept", "reject")):
        taken = rule[report] if decision == "reject" else 1 - rule[report]
        cells[decision, hypothesis] += float(law[report] * taken)
    rows = [(decision, hypothesis, value) for (decision, hypothesis), value in cells.items()]
    return pd.DataFrame(rows, columns=["decision", "hypothesis", "probability"])


def table_1(*, pairs: int, seed: int, names: Mapping[tuple[str, str], str] = TABLE_1) -> pd.DataFrame:
    """Table 1 against eq. (3), for random laws and random rejection rules.

    Args:
        pairs: how many.
        seed: of laws and rules.
        names: the table's cells, (decision, hypothesis) to the name of the result.

    Returns:
        `alpha`, `beta` (eq. (3)), `type_1`, `type_2` (the cells of those names), `correct` (the two others, which sum
        with them to 2).
    """
    rng = check.rng(seed)
    rows = []
    for p, q in random_pairs(pairs=pairs, rng=rng):
        phi = rng.random(p.size)
        table = error_table(p, q, phi)
        named = [names[cell] for cell in zip(table["decision"], table["hypothesis"], strict=True)]
        sums = table["probability"].groupby(np.array(named)).sum()
        rows.append((float(p @ phi), float(1 - q @ phi), sums["type I"], sums["type II"], sums["correct"]))
    return pd.DataFrame(rows, columns=["alpha", "beta", "type_1", "type_2", "correct"])


def equation_4(*, pairs: int, seed: int) -> pd.DataFrame:
    """alpha + beta against 1 - TV, over every deterministic rule and over random ones.

    Returns:
        `bound` (1 - TV, the TV over all events), `least` (smallest alpha + beta over all rules without chance),
        `random` (smallest over random rules).
    """
    rng = check.rng(seed)
    rows = []
    for p, q in random_pairs(pairs=pairs, rng=rng):
        tried = events(p.size)
        tv = float(np.abs(tried @ (p - q)).max())
        rules = rng.random((100, p.size))
        sums = [float((rule @ p + 1 - rule @ q).min()) for rule in (tried, rules)]
        rows.append((1 - tv, *sums))
    return pd.DataFrame(rows, columns=["bound", "least", "random"])


def shifted(curve: TradeOff, *, first: float, second: float) -> TradeOff:
    """curve(alpha + first) - second, not below 0: eq. (15)'s form, what two total variations leave of a curve."""
    first, second = check.in_range(0, 1, first=first), check.in_range(0, 1, second=second)
    level = np.interp(second, curve.beta[::-1], curve.alpha[::-1])

    def moved(alpha: Array) -> Array:
        return np.maximum(curve(np.minimum(alpha + first, 1.0)) - second, 0.0)

    return _corners(moved, np.r_[curve.alpha, level] - first)


def perturbation(*, pairs: int, seed: int, size: float = 0.1) -> pd.DataFrame:
    """The step from (4) to (18) in the proof of Theorem 2: T(P', Q') >= T(P, Q)(alpha + TV(P', P)) - TV(Q', Q).

    Args:
        pairs: how many.
        seed: of the laws.
        size: how far P' and Q' are from P and Q, in (0, 1].

    Returns:
        `first`, `second` (the two total variations), `gap` (least of left minus right; negative refutes).
    """
    rng, size = check.rng(seed), check.in_range(0, 1, size=size)
    rows = []
    for p, q in random_pairs(pairs=pairs, rng=rng):
        near = [(1 - size) * law + size * rng.dirichlet(np.ones(law.size)) for law in (p, q)]
        first, second = total_variation(near[0], p), total_variation(near[1], q)
        lower = shifted(neyman_pearson(p, q), first=first, second=second)
        rows.append((first, second, least_gap(neyman_pearson(near[0], near[1]), lower).gap))
    return pd.DataFrame(rows, columns=["first", "second", "gap"])


def equation_5(*, pairs: int, levels: int, seed: int) -> pd.DataFrame:
    """Eq. (5), the infimum over all rejection rules: by Neyman and Pearson's lemma and as a linear program.

    Returns:
        `alpha`, `lemma`, `program`, `rise` (the largest rise of the curve, at most 0 if it falls), `bend` (the largest
        drop of its slope, at most 0 if it is convex), `above` (the largest excess over 1 - alpha).
    """
    rng, levels = check.rng(seed), check.count(levels=levels)
    rows = []
    for p, q in random_pairs(pairs=pairs, rng=rng):
        curve = neyman_pearson(p, q)
        slopes = np.diff(curve.beta) / np.diff(curve.alpha)
        shape = (np.diff(curve.beta).max(), -np.diff(slopes).min(initial=0.0), (curve.alpha + curve.beta - 1).max())
        for alpha in rng.random(levels):
            best = linprog(-q, A_ub=p[None, :], b_ub=[alpha], bounds=(0, 1))
            rows.append((alpha, float(curve(alpha)), 1 + best.fun, *map(float, shape)))
    return pd.DataFrame(rows, columns=["alpha", "lemma", "program", "rise", "bend", "above"])


def fact_1_table(*, pairs: int, eps: tuple[float, ...], seed: int) -> pd.DataFrame:
    """Fact 1 for random mechanisms with two inputs: is what is (eps, delta)-DP also f-DP, and the other way round?

    The printed and the corrected f are compared with both trade-off functions of a mechanism, at the least delta
    with which it is (eps, delta)-DP.

    Returns:
        `eps`, `delta` (over all events, both orders), `nontrivial` (eps + delta < 1), `printed`, `corrected` (least
        gap; negative means not f-DP), `least` (gap at 0.999 delta, where it must be negative), `back` (delta from the
        two trade-off functions).
    """
    rows = []
    budgets = check.numbers(0, 700, eps=eps)
    for p, q in random_pairs(pairs=pairs, rng=seed):
        curves = neyman_pearson(p, q), neyman_pearson(q, p)
        for e in budgets:
            delta = max(hockey_stick(p, q, e), hockey_stick(q, p, e))
            if not 1e-6 < delta < 1 - 1e-6:
                continue  # at delta = 0 or 1 there is no smaller or no nontrivial promise to compare with
            gaps = [
                min(least_gap(curve, f).gap for curve in curves)
                for f in (
                    printed_fact_1(eps=e, delta=delta),
                    fact_1(eps=e, delta=delta),
                    fact_1(eps=e, delta=0.999 * delta),
                )
            ]
            back = max(delta_from_tradeoff(curve.__call__, e) for curve in curves)
            rows.append((e, delta, e + delta < 1, *gaps, back))
    return pd.DataFrame(rows, columns=["eps", "delta", "nontrivial", "printed", "corrected", "least", "back"])


def post_processing(*, pairs: int, seed: int) -> pd.DataFrame:
    """Fact 2: trade-off functions before and after a random channel.

    Returns:
        `gap` (least of after minus before; negative refutes), `rise` (largest: what the channel hides).
    """
    rng = check.rng(seed)
    rows = []
    for p, q in random_pairs(pairs=pairs, rng=rng):
        channel = rng.dirichlet(np.full(int(rng.integers(1, 6)), 0.5), p.size)
        before, after = neyman_pearson(p, q), neyman_pearson(*(np.minimum(law @ channel, 1) for law in (p, q)))
        rows.append((least_gap(after, before).gap, -least_gap(before, after).gap))
    return pd.DataFrame(rows, columns=["gap", "rise"])


def fact_4_table(*, triples: int, seed: int) -> pd.DataFrame:
    """Fact 4 for random P, Q and R, read in several ways; a negative least gap refutes a reading.

    Returns:
        `printed`: T(P, R) against g(1 - f), f = T(P, R) and g = T(Q, R), the largest that the printed premises allow;
        `premise`: f against g(1 - f) for two unrelated curves: never negative, so the printed conclusion says no more
        than the printed premise T(P, R) >= f;
        `corrected`: T(P, R) against g(1 - f), f = T(P, Q) and g = T(Q, R);
        `order`: T(P, R) against f(1 - g) with the same two;
        `conclusion`: T(P, Q) against g(1 - f), f = T(P, R) and g = T(Q, R);
        `symmetric`: the same with symmetric f and g below them (Fact 1 at eps = 1/2).
    """
    rng = check.rng(seed)
    rows = []
    for p, q in random_pairs(pairs=triples, rng=rng):
        r = rng.dirichlet(np.ones(p.size))
        pq, pr, qr = neyman_pearson(p, q), neyman_pearson(p, r), neyman_pearson(q, r)
        read = [(pr, pr, qr), (pq, pq, qr), (pr, pq, qr), (pr, qr, pq), (pq, pr, qr)]
        read.append((pq, _symmetric(p, r), _symmetric(q, r)))
        rows.append([least_gap(curve, chained(first, second)).gap for curve, first, second in read])
    columns = ["printed", "premise", "corrected", "order", "conclusion", "symmetric"]
    return pd.DataFrame(rows, columns=columns)


def _symmetric(p: Array, q: Array) -> TradeOff:
    """A trade-off function that is its own inverse and below T(P, Q): Fact 1 at eps = 1/2."""
    delta = max(hockey_stick(p, q, 0.5), hockey_stick(q, p, 0.5))
    return fact_1(eps=0.5, delta=min(delta, 1 - 1e-12))


def smallest_triple() -> pd.DataFrame:
    """The smallest case in which T(P, R) >= f and T(Q, R) >= g do not give T(P, Q) >= g(1 - f).

    P = R is a fair coin and Q always says heads: f = 1 - alpha, so the conclusion would be T(R, Q) >= T(Q, R), but
    the two are each other's inverse.

    Returns:
        `alpha`, `truth` (T(P, Q)), `conclusion` (g(1 - f)).
    """
    coin, heads = [0.5, 0.5], [1.0, 0.0]
    truth = neyman_pearson(coin, heads)
    conclusion = chained(neyman_pearson(coin, coin), neyman_pearson(heads, coin))
    alpha = np.union1d(truth.alpha, conclusion.alpha)
    return pd.DataFrame({"alpha": alpha, "truth": truth(alpha), "conclusion": conclusion(alpha)})

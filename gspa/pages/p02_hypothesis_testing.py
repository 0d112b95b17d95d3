"""Page 02, Table 1, equations (3) to (6) and Facts 1 to 4: random pairs of laws on few outcomes, and Gaussians.

Two curves of finite pairs are compared at the corners of both, where two piecewise linear curves differ most: no grid
is involved, and a negative gap beyond rounding is a counterexample. What Fact 3 says is computed by other means:
integrals, envelopes, convolved privacy losses, chains of curves.

>>> coin = neyman_pearson([0.5, 0.5], [0.5, 0.5])  # a mechanism that ignores its input: T = 1 - alpha
>>> round(least_gap(coin, f_printed(eps=0.5, delta=0.0)).gap, 6)  # ... is not f-DP with f as printed
-0.303265
>>> round(least_gap(coin, f_corrected(eps=0.5, delta=0.0)).gap, 6)
0.0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.optimize import linprog
from scipy.signal import fftconvolve
from scipy.special import ndtr
from scipy.stats import laplace, norm

from gspa.accountant.discrete import TradeOff, hockey_stick, neyman_pearson, total_variation
from gspa.accountant.tradeoff import (
    Curve,
    chain,
    compose_gdp,
    delta_from_tradeoff,
    f_eps_delta,
    gaussian,
    gdp_delta,
    group_gdp,
    tradeoff_from_delta,
)
from gspa.book.claims import Outcome, judge, settles
from gspa.book.figures import DASHES, PALETTE, keeps_data, role
from gspa.book.say import listed
from gspa.book.verdicts import Said, exactly, reading, shown, unknown
from gspa.pages.finite import events, random_pairs

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
_TAIL = 12.0  # cells reach this many scales beyond both centres; the last ones hold the tails
_REACH = 9.0  # standard deviations kept of each privacy loss; outside them lies 1e-19
_CELLS = 2**15  # of the widest privacy loss


# --- tables ------------------------------------------------------------------------------------------------


class Gap(NamedTuple):
    """The least value of one curve minus another, and where it is."""

    gap: float
    alpha: float


def least_gap(upper: TradeOff, lower: TradeOff) -> Gap:
    """The least of upper - lower over [0, 1]; exact for curves given by their corners."""
    alpha = np.union1d(upper.alpha, lower.alpha)
    difference = upper(alpha) - lower(alpha)
    k = int(np.argmin(difference))
    return Gap(float(difference[k]), float(alpha[k]))


def _corners(curve: Callable[[Array], Array], alpha: ArrayLike) -> TradeOff:
    where = np.unique(np.clip(np.r_[0.0, alpha, 1.0], 0.0, 1.0))
    return TradeOff(where, curve(where))


def f_corrected(*, eps: float, delta: float) -> TradeOff:
    """f_{eps, delta} of Fact 1 with (1 - delta - alpha), by its corners."""
    kink = (1 - delta) / (1 + math.exp(eps))
    return _corners(lambda a: f_eps_delta(a, eps=eps, delta=delta), [kink, 1 - delta])


def f_printed(*, eps: float, delta: float) -> TradeOff:
    """Eq. (19) as printed, by its corners; where eps + delta < 1 it does not fall to 0, so is no trade-off function."""
    flat = max(0.0, math.exp(-eps) * (1 - delta - eps))
    return _corners(lambda a: np.maximum(flat, 1 - delta - math.exp(eps) * a), [math.exp(-eps) * (1 - delta - flat)])


def chained(first: TradeOff, second: TradeOff) -> TradeOff:
    """second(1 - first(alpha)) by its corners: the composition of Fact 4."""
    # Its corners are those of `first` and where 1 - first reaches a corner of `second`.
    back = np.interp(second.alpha, 1 - first.beta, first.alpha)
    return _corners(chain(first.__call__, second.__call__), np.r_[first.alpha, back])


def shifted(curve: TradeOff, *, first: float, second: float) -> TradeOff:
    """curve(alpha + first) - second, not below 0: eq. (15)'s form, what two total variations leave of a curve."""
    level = np.interp(second, curve.beta[::-1], curve.alpha[::-1])

    def moved(alpha: Array) -> Array:
        return np.maximum(curve(np.minimum(alpha + first, 1.0)) - second, 0.0)

    return _corners(moved, np.r_[curve.alpha, level] - first)


def error_table(p: ArrayLike, q: ArrayLike, reject: ArrayLike) -> pd.DataFrame:
    """The four cells of Table 1 by enumeration of worlds, reports and decisions, for the laws p and q of the report
    under H0 and H1 and a rule: decision, hypothesis, probability (given the world)."""
    rule = np.asarray(reject)
    laws = {"true": np.asarray(p), "false": np.asarray(q)}
    cells = dict.fromkeys(TABLE_1, 0.0)
    for (hypothesis, law), report, decision in product(laws.items(), range(rule.size), ("accept", "reject")):
        taken = rule[report] if decision == "reject" else 1 - rule[report]
        cells[decision, hypothesis] += float(law[report] * taken)
    rows = [(*cell, value) for cell, value in cells.items()]
    return pd.DataFrame(rows, columns=["decision", "hypothesis", "probability"])


def errors(*, pairs: int, seed: int) -> pd.DataFrame:
    """Table 1 against eq. (3), for random laws and rules: alpha, beta, and type_1, type_2, the cells of those names."""
    rng = np.random.default_rng(seed)
    rows = []
    for p, q in random_pairs(pairs=pairs, rng=rng):
        phi = rng.random(p.size)
        table = error_table(p, q, phi)
        named = [TABLE_1[cell] for cell in zip(table["decision"], table["hypothesis"], strict=True)]
        sums = table["probability"].groupby(np.array(named)).sum()
        rows.append((float(p @ phi), float(1 - q @ phi), sums["type I"], sums["type II"]))
    return pd.DataFrame(rows, columns=["alpha", "beta", "type_1", "type_2"])


def error_sums(*, pairs: int, seed: int) -> pd.DataFrame:
    """Eq. (4): bound (1 - TV, the TV over all events); the smallest alpha + beta over all rules without chance (least)
    and over some random rules (random)."""
    rng = np.random.default_rng(seed)
    rows = []
    for p, q in random_pairs(pairs=pairs, rng=rng):
        tried = events(p.size)
        tv = float(np.abs(tried @ (p - q)).max())
        rules = rng.random((100, p.size))
        sums = [float((rule @ p + 1 - rule @ q).min()) for rule in (tried, rules)]
        rows.append((1 - tv, *sums))
    return pd.DataFrame(rows, columns=["bound", "least", "random"])


def perturbation(*, pairs: int, seed: int, size: float = 0.1) -> pd.DataFrame:
    """The step from (4) to (18) in the proof of Theorem 2: T(P', Q') >= T(P, Q)(alpha + TV(P', P)) - TV(Q', Q).

    Columns: first and second, the two total variations; gap, the least of left minus right.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for p, q in random_pairs(pairs=pairs, rng=rng):
        near = [(1 - size) * law + size * rng.dirichlet(np.ones(law.size)) for law in (p, q)]
        first, second = total_variation(near[0], p), total_variation(near[1], q)
        lower = shifted(neyman_pearson(p, q), first=first, second=second)
        rows.append((first, second, least_gap(neyman_pearson(near[0], near[1]), lower).gap))
    return pd.DataFrame(rows, columns=["first", "second", "gap"])


def infima(*, pairs: int, levels: int, seed: int) -> pd.DataFrame:
    """Eq. (5), the infimum over all rejection rules, at random levels: alpha, lemma (Neyman-Pearson), program (linear).

    rise: the largest rise of the curve, at most 0 if it falls; bend: the largest drop of its slope, at most 0 if it is
    convex; above: the largest excess over 1 - alpha.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for p, q in random_pairs(pairs=pairs, rng=rng):
        curve = neyman_pearson(p, q)
        slopes = np.diff(curve.beta) / np.diff(curve.alpha)
        shape = (np.diff(curve.beta).max(), -np.diff(slopes).min(initial=0.0), (curve.alpha + curve.beta - 1).max())
        for alpha in rng.random(levels):
            best = linprog(-q, A_ub=p[None, :], b_ub=[alpha], bounds=(0, 1))
            rows.append((alpha, float(curve(alpha)), 1 + best.fun, *map(float, shape)))
    return pd.DataFrame(rows, columns=["alpha", "lemma", "program", "rise", "bend", "above"])


def laplace_tradeoff(alpha: Array, *, shift: float) -> Array:
    """T of Lap(0, 1) against Lap(shift, 1): the loss grows with the report, so the best tests have a threshold."""
    return np.asarray(laplace.cdf(laplace.isf(alpha) - shift))


def continuous_pairs(*, shift: float, cells: Sequence[int], points: int = 401) -> pd.DataFrame:
    """Neyman and Pearson's lemma on the cells of two continuous pairs, against their closed forms.

    Cutting a line into cells is post-processing, so every curve of cells lies above the truth. Columns: pair, cells,
    above (largest curve of cells - truth), below (largest truth - curve, rounding only).
    """
    alpha = np.linspace(0, 1, points)
    pairs = {
        "Gaussian": (norm.cdf, gaussian(alpha, mu=shift)),
        "Laplace": (laplace.cdf, laplace_tradeoff(alpha, shift=shift)),
    }
    rows = []
    for (name, (cdf, truth)), size in product(pairs.items(), cells):
        edges = np.r_[-np.inf, np.linspace(-_TAIL, shift + _TAIL, size - 1), np.inf]
        p, q = np.diff(cdf(edges)), np.diff(cdf(edges - shift))
        gap = neyman_pearson(p / p.sum(), q / q.sum())(alpha) - truth
        rows.append((name, size, gap.max(), -gap.min()))
    return pd.DataFrame(rows, columns=["pair", "cells", "above", "below"])


def equivalence(*, pairs: int, eps: Sequence[float], seed: int) -> pd.DataFrame:
    """Fact 1 for random mechanisms with two inputs, at their least delta over all events and both orders.

    Columns: eps, delta, nontrivial (eps + delta < 1), printed and corrected (least gap to f; negative means not f-DP),
    least (gap at 0.999 delta, where it must be negative), back (delta from the two trade-off functions).
    """
    rows = []
    for (p, q), e in product(random_pairs(pairs=pairs, rng=seed), eps):
        delta = max(hockey_stick(p, q, e), hockey_stick(q, p, e))
        if not 1e-6 < delta < 1 - 1e-6:
            continue  # at delta = 0 or 1 there is no smaller or no nontrivial promise to compare with
        curves = neyman_pearson(p, q), neyman_pearson(q, p)
        promised = (
            f_printed(eps=e, delta=delta),
            f_corrected(eps=e, delta=delta),
            f_corrected(eps=e, delta=0.999 * delta),
        )
        gaps = [min(least_gap(curve, f).gap for curve in curves) for f in promised]
        back = max(delta_from_tradeoff(curve.__call__, e) for curve in curves)
        rows.append((e, delta, e + delta < 1, *gaps, back))
    return pd.DataFrame(rows, columns=["eps", "delta", "nontrivial", "printed", "corrected", "least", "back"])


def post_processing(*, pairs: int, seed: int) -> pd.DataFrame:
    """Fact 2, curves before and after a random channel: gap (least of after minus before), rise (the largest)."""
    rng = np.random.default_rng(seed)
    rows = []
    for p, q in random_pairs(pairs=pairs, rng=rng):
        channel = rng.dirichlet(np.full(int(rng.integers(1, 6)), 0.5), p.size)
        before, after = neyman_pearson(p, q), neyman_pearson(*(np.minimum(law @ channel, 1) for law in (p, q)))
        rows.append((least_gap(after, before).gap, -least_gap(before, after).gap))
    return pd.DataFrame(rows, columns=["gap", "rise"])


def integrated_delta(eps: float, *, mu: float) -> float:
    """The hockey-stick divergence of N(0, 1) against N(mu, 1), by integrating the two densities.

    >>> round(integrated_delta(1.0, mu=1.0), 6)
    0.126937
    """
    root = mu / 2 - eps / mu  # below it the first density is more than e^eps times the second

    def excess(x: float) -> float:
        return math.exp(-x * x / 2) * -math.expm1(eps + mu * x - mu * mu / 2) / math.sqrt(2 * math.pi)

    parts = [quad(excess, root - step - 4, root - step, epsabs=0, epsrel=1e-12)[0] for step in (0.0, 4.0, 8.0)]
    return math.fsum(parts)


def curve_table(*, mus: Sequence[float], eps: Sequence[float]) -> pd.DataFrame:
    """Fact 3's delta(eps): mu, eps, formula, integral, from_curve (supremum of 1 - G_mu(alpha) - e^eps alpha)."""
    rows = []
    for mu, e in product(mus, eps):
        curve = delta_from_tradeoff(partial(gaussian, mu=mu), e)
        rows.append((mu, e, gdp_delta(e, mu=mu), integrated_delta(e, mu=mu), curve))
    return pd.DataFrame(rows, columns=["mu", "eps", "formula", "integral", "from_curve"])


def envelope_table(*, mus: Sequence[float], sizes: Sequence[int], points: int = 401) -> pd.DataFrame:
    """The converse in Fact 3: what (eps, delta(eps))-DP implies for so many eps from 0 to mu (mu/2 + 6), against G_mu.

    Columns: mu, size, below (largest G_mu - envelope), above (largest envelope - G_mu, rounding only), one_order
    (largest G_mu - envelope if only one order of the two data sets were bounded).
    """
    alpha = np.linspace(0, 1, points)
    rows = []
    for mu, size in product(mus, sizes):
        truth = gaussian(alpha, mu=mu)
        eps = np.linspace(0, mu * (mu / 2 + 6), size)
        delta = gdp_delta(eps, mu=mu)
        gap = truth - tradeoff_from_delta(alpha, eps, delta)
        one = np.maximum(0.0, 1 - delta[:, None] - np.exp(eps)[:, None] * alpha).max(axis=0)
        rows.append((mu, size, gap.max(), -gap.min(), (truth - one).max()))
    return pd.DataFrame(rows, columns=["mu", "size", "below", "above", "one_order"])


def composed_delta(mus: Sequence[float], eps: float) -> tuple[float, float]:
    """delta(eps) of the product of the pairs N(0, 1), N(mu_i, 1): a lower and an upper end, by convolution.

    The privacy loss of each pair is rounded down and up to a grid. Proved but for the rounding of the convolution,
    about 1e-15 absolute.

    >>> low, high = composed_delta([0.6, 0.8], 1.0)  # hypot(0.6, 0.8) = 1
    >>> low < 0.1269367 < high
    True
    """
    step = 2 * _REACH * max(mus) / _CELLS
    ends = []
    for up in (0, 1):
        mass, start, lost = np.ones(1), 0, 0.0
        for mu in mus:
            # The loss is normal with mean mu^2/2 and standard deviation mu.
            first = math.floor((mu * mu / 2 - _REACH * mu) / step)
            edges = np.arange(first, math.ceil((mu * mu / 2 + _REACH * mu) / step) + 1)
            below = ndtr((edges * step - mu * mu / 2) / mu)
            mass = fftconvolve(mass, np.diff(below))
            lost += float(below[0] + 1 - below[-1])
            start += first + up
        loss = (start + np.arange(mass.size)) * step
        gain = -np.expm1(np.minimum(eps - loss, 0.0))
        ends.append(float(np.maximum(mass, 0.0) @ gain) + up * lost)
    return ends[0], ends[1]


def composition_table(*, families: Sequence[Sequence[float]], eps: Sequence[float]) -> pd.DataFrame:
    """Fact 3's composition beside the convolved privacy losses: mus, mu, eps, formula, lower, upper."""
    rows = []
    for mus, e in product(families, eps):
        mu = compose_gdp(mus)
        rows.append((", ".join(f"{m:g}" for m in mus), mu, e, gdp_delta(e, mu=mu), *composed_delta(mus, e)))
    return pd.DataFrame(rows, columns=["mus", "mu", "eps", "formula", "lower", "upper"])


def grouped(f: Curve, *, k: int) -> Curve:
    """The trade-off function that f-DP gives groups of k records: f chained k times (Dong, Roth and Su 2022, 2.14)."""
    curve = f
    for _ in range(k - 1):
        curve = chain(curve, f)
    return curve


def group_table(*, mus: Sequence[float], eps: float, delta: float, sizes: Sequence[int]) -> pd.DataFrame:
    """Group privacy of three curves: f chained k times, beside the usual rule for groups of k.

    Columns: curve, k, rule, most and least (largest and smallest chained minus rule over alpha in (0, 1)).
    """
    alpha = np.linspace(0, 1, 2001)[1:-1]
    rows = []
    for k in sizes:
        for mu in mus:
            gap = grouped(partial(gaussian, mu=mu), k=k)(alpha) - gaussian(alpha, mu=group_gdp(mu, k=k))
            rows.append((rf"$\mu$ = {mu:g}", k, rf"$\mu$ = {group_gdp(mu, k=k):g}", gap.max(), gap.min()))
        for d in dict.fromkeys((0.0, delta)):
            # (eps, delta)-DP for groups of k: (k eps, delta (e^{k eps} - 1)/(e^eps - 1)).
            total = min(d * math.expm1(k * eps) / math.expm1(eps), 1 - 1e-12)
            chain_of_k = grouped(partial(f_eps_delta, eps=eps, delta=d), k=k)
            gap = chain_of_k(alpha) - f_eps_delta(alpha, eps=k * eps, delta=total)
            names = (rf"$\epsilon$ = {e:g}, $\delta$ = {at:.3g}" for e, at in ((eps, d), (k * eps, total)))
            rows.append((next(names), k, next(names), gap.max(), gap.min()))
    return pd.DataFrame(rows, columns=["curve", "k", "rule", "most", "least"])


def readings(*, triples: int, seed: int) -> pd.DataFrame:
    """Fact 4 for random P, Q and R, read in several ways; a negative least gap refutes a reading.

    printed: T(P, R) against g(1 - f), f = T(P, R) and g = T(Q, R), the largest that the printed premises allow;
    premise: f against g(1 - f) for two unrelated curves: never negative, so the printed conclusion says no more than
    the printed premise T(P, R) >= f;
    corrected: T(P, R) against g(1 - f), f = T(P, Q) and g = T(Q, R);
    order: T(P, R) against f(1 - g) with the same two;
    conclusion: T(P, Q) against g(1 - f), f = T(P, R) and g = T(Q, R);
    symmetric: the same with symmetric f and g below them (Fact 1 at eps = 1/2).
    """

    def symmetric(p: Array, q: Array) -> TradeOff:
        delta = max(hockey_stick(p, q, 0.5), hockey_stick(q, p, 0.5))
        return f_corrected(eps=0.5, delta=min(delta, 1 - 1e-12))

    rng = np.random.default_rng(seed)
    rows = []
    for p, q in random_pairs(pairs=triples, rng=rng):
        r = rng.dirichlet(np.ones(p.size))
        pq, pr, qr = neyman_pearson(p, q), neyman_pearson(p, r), neyman_pearson(q, r)
        read = [(pr, pr, qr), (pq, pq, qr), (pr, pq, qr), (pr, qr, pq), (pq, pr, qr)]
        read.append((pq, symmetric(p, r), symmetric(q, r)))
        rows.append([least_gap(curve, chained(first, second)).gap for curve, first, second in read])
    return pd.DataFrame(rows, columns=["printed", "premise", "corrected", "order", "conclusion", "symmetric"])


def smallest_triple() -> pd.DataFrame:
    """A fair coin P = R and a Q that says heads: T(P, R) >= f and T(Q, R) >= g do not give T(P, Q) >= g(1 - f).

    Columns: alpha, truth (T(P, Q)), conclusion (g(1 - f)). As f = 1 - alpha, it would say T(R, Q) >= T(Q, R), but the
    two are each other's inverse.
    """
    coin, heads = [0.5, 0.5], [1.0, 0.0]
    truth = neyman_pearson(coin, heads)
    conclusion = chained(neyman_pearson(coin, coin), neyman_pearson(heads, coin))
    alpha = np.union1d(truth.alpha, conclusion.alpha)
    return pd.DataFrame({"alpha": alpha, "truth": truth(alpha), "conclusion": conclusion(alpha)})


# --- figures -----------------------------------------------------------------------------------------------


def lines(curves: Mapping[str, Curve]) -> pd.DataFrame:
    """Curves by name as the table that is drawn: curve, alpha, beta."""
    alpha = np.linspace(0, 1, 401)
    return pd.concat([pd.DataFrame({"curve": name, "alpha": alpha, "beta": f(alpha)}) for name, f in curves.items()])


def _axes() -> tuple[Figure, Axes]:
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    axis.set(xlabel=r"type I error $\alpha$", ylabel=r"type II error $\beta$", xlim=(0, 1), ylim=(0, 1.02))
    return figure, axis


@keeps_data
def trade_off_curves(table: pd.DataFrame, *, roles: Sequence[str]) -> Figure:
    """Type II error against type I error, a line a curve; the first ones stand for these roles."""
    figure, axis = _axes()
    styles = [role(name) for name in roles]
    styles += [{"color": PALETTE[i], "dashes": DASHES[i], "lw": 2} for i in range(1, len(DASHES))]
    for style, (name, line) in zip(styles, table.groupby("curve", sort=False), strict=False):
        axis.plot(line["alpha"], line["beta"], label=str(name), **style)
    axis.legend(loc="upper right")
    return figure


@keeps_data
def envelope(table: pd.DataFrame) -> Figure:
    """The last curve of a table as a thick line, the others as thin ones below it."""
    figure, axis = _axes()
    *below, (name, last) = table.groupby("curve", sort=False)
    for index, (_, line) in enumerate(below):
        label = r"$f_{\epsilon,\delta(\epsilon)}$" if index == 0 else None
        axis.plot(line["alpha"], line["beta"], color=PALETTE[1], dashes=DASHES[1], lw=1.2, label=label)
    axis.plot(last["alpha"], last["beta"], color=PALETTE[0], lw=2.5, label=str(name))
    axis.legend(loc="upper right")
    return figure


# --- checks ------------------------------------------------------------------------------------------------


@settles("G-TAB1")
def table_1(table: pd.DataFrame) -> Outcome:
    """The cells of Table 1 against the errors of eq. (3): `errors`."""
    first = float((table["type_1"] - table["alpha"]).abs().max())
    second = float((table["type_2"] - table["beta"]).abs().max())
    evidence = {
        rf"cell 'Reject, Actual True' against $\mathbb{{E}}_U[\phi]$, {len(table)} random rules": f"{first:.1e} apart",
        r"cell 'Accept, Actual False' against $1 - \mathbb{E}_V[\phi]$": f"{second:.1e} apart",
        r"range of $\alpha$": [float(table["alpha"].min()), float(table["alpha"].max())],
        r"range of $\beta$": [float(table["beta"].min()), float(table["beta"].max())],
    }
    said: Said = {
        "illustrated": r"With the columns read as the truth of $H_0$ and $\phi$ as the probability to reject it, the "
        rf"two wrong cells are $\alpha$ and $\beta$ of (3), up to {max(first, second):.0e}.",
        "not checkable": f"The cells of these names are not the errors of (3): {first:.2g} and {second:.2g} apart.",
    }
    agrees = max(first, second) <= ROUNDING
    return judge("G-TAB1", evidence, reading("columns as the truth", shown() if agrees else unknown(), said))


@settles("G-E4")
def equation_4(table: pd.DataFrame, perturbed: pd.DataFrame) -> Outcome:
    """(4) over every rule without chance and over random rules (`error_sums`); its use in the proof of Theorem 2."""
    gap = float((table[["least", "random"]].min(axis=1) - table["bound"]).min())
    attained = float((table["least"] - table["bound"]).abs().max())
    used = float(perturbed["gap"].min())
    most = perturbed[["first", "second"]].max().max()
    evidence = {
        rf"least $\alpha + \beta - (1 - TV)$, {len(table)} random pairs, every rule": f"{gap:.1e}",
        "largest distance of the best rule from equality": f"{attained:.1e}",
        "range of $1 - TV$": [float(table["bound"].min()), float(table["bound"].max())],
        f"eq. (18), {len(perturbed)} random pairs moved by TV up to {most:.2f}: least gap": f"{used:.1e}",
    }
    tight = "equality is attained in every pair" if attained <= ROUNDING else f"the best rule misses by {attained:.2g}"
    broken = (
        f"A rule has smaller errors than (4) allows: short by {-gap:.2g}."
        if gap < -ROUNDING
        else f"(4) holds, but its use in (18) does not: it is short by {-used:.2g}."
    )
    said: Said = {
        "refuted": broken,
        "verified": f"No rule does better, and {tight}. Its use in (18), with Fact 4 corrected, is sound.",
    }
    return judge("G-E4", evidence, reading("as printed", exactly(min(gap, used) >= -ROUNDING), said))


@settles("G-D3")
def definition_3(table: pd.DataFrame, continuous: pd.DataFrame) -> Outcome:
    """The infimum in (5) as a linear program against Neyman and Pearson's lemma, and its shape; cells of a line."""
    gap = float((table["lemma"] - table["program"]).abs().max())
    shape = {
        "rise": r"falls in $\alpha$: largest rise",
        "bend": "is convex: largest drop of its slope",
        "above": r"is at most $1 - \alpha$: largest excess",
    }
    evidence = {f"Neyman-Pearson curve against linear programs, {len(table)} of them": f"{gap:.1e} apart"}
    evidence |= {f"$T(U, V)$ {words}": f"{table[column].max() + 0.0:.1e}" for column, words in shape.items()}
    for pair, part in continuous.groupby("pair", sort=False):
        shown_as = (
            f"{above:.1e} with {cells:,} cells" for above, cells in zip(part["above"], part["cells"], strict=True)
        )
        evidence[f"{pair} noise, one scale apart: largest excess over the closed form"] = ", ".join(shown_as)
    # Cells of width h hide the order of h^2 at the kink; the finest of a sequence must show that.
    finest = continuous.loc[continuous.groupby("pair")["cells"].idxmax()]
    coarsest = continuous.loc[continuous.groupby("pair")["cells"].idxmin()]
    off = finest["above"].max() > 0.1 * coarsest["above"].max() or continuous["below"].max() > 1e-9
    # The programs' own feasibility tolerance is 1e-7, seen through a slope of at most 600.
    sound = gap <= 1e-4 and not off and table[list(shape)].max().max() <= 1e-9
    said: Said = {
        "not checkable": f"Lemma and linear programs are {gap:.2g} apart, cells do not approach the closed forms, or "
        r"an infimum of (5) is not a decreasing convex function below $1 - \alpha$.",
        "illustrated": f"The infimum over all rejection rules is the Neyman-Pearson curve, up to {gap:.0e}. In every "
        r"case it is convex, decreasing and at most $1 - \alpha$.",
    }
    return judge("G-D3", evidence, reading("as printed", shown() if sound else unknown(), said))


@settles("G-F1")
def fact_1(table: pd.DataFrame, alone: Gap) -> Outcome:
    """(eps, delta)-DP against f-DP in both directions (`equivalence`); `alone` is of the printed f and an ignored input
    at eps = 0.5, delta = 0."""
    part, rest = table[table["nontrivial"]], table[~table["nontrivial"]]
    broken = [int((rows["printed"] < -ROUNDING).sum()) for rows in (part, rest)]
    corrected, tight = float(table["corrected"].min()), float(table["least"].max())
    back = float((table["back"] - table["delta"]).abs().max())
    where = r"$(\epsilon, \delta)$-DP but not $f$-DP with $f$ as printed, where $\epsilon + \delta < 1$"
    evidence = {
        r"mechanism that ignores its input, $\epsilon$ = 0.5, $\delta$ = 0: $T - f$ as printed": (
            rf"{alone.gap:.4f} at $\alpha$ = {alone.alpha:g}"
        ),
        where: f"{broken[0]} of {len(part)}",
        r"the same, where $\epsilon + \delta \geq 1$": f"{broken[1]} of {len(rest)}",
        r"corrected $f$: least $T - f$ at the least $\delta$": f"{corrected:.1e}",
        r"corrected $f$: largest of the least $T - f$ at 0.999 of that $\delta$": f"{tight:.1e}",
        r"$\delta$ from the two curves against the divergence": f"{back:.1e} apart",
    }
    sound = corrected >= -ROUNDING and tight < 0 and back <= 1e-9
    said: Said = {
        "refuted": r"The equivalence fails with $(1-\delta-\alpha)$ too.",
        "verified": "Both directions hold with $f$ as printed.",
        "holds with correction": r"With $(1-\delta-\epsilon)$ the curve does not reach 0 at $\alpha$ = 1 if "
        r"$\epsilon + \delta < 1$. Then no mechanism is $f$-DP; even one that ignores its input falls short by "
        f"{-alone.gap:.3f}. The equivalence fails in {broken[0]} of {len(part)} such cases and in {broken[1]} of "
        f"{len(rest)} others. Corrected, both directions hold in all {len(table)}.",
    }
    verdict = exactly(sound and not any(broken) and alone.gap >= -ROUNDING, near=sound)
    correction = (
        r"$f_{\epsilon,\delta}(\alpha) = \max\{0,\, 1-\delta-e^\epsilon\alpha,\, e^{-\epsilon}(1-\delta-\alpha)\}$."
    )
    return judge("G-F1", evidence, reading("as printed", verdict, said, correction=correction))


@settles("G-F2")
def fact_2(table: pd.DataFrame) -> Outcome:
    """Trade-off functions before and after random channels: `post_processing`."""
    gap, rise = float(table["gap"].min()), float(table["rise"].max())
    evidence = {
        f"least $T$(after) - $T$(before), {len(table)} random pairs and channels": f"{gap:.1e}",
        "largest rise by a channel": f"{rise:.3f}",
        "channels that hide something": f"{int((table['rise'] > 1e-3).sum())} of {len(table)}",
    }
    said: Said = {
        "refuted": f"A channel lowers a trade-off function: short by {-gap:.2g}.",
        "verified": f"No channel lowers the curve anywhere; the largest rise is {rise:.2f}.",
    }
    return judge("G-F2", evidence, reading("as printed", exactly(gap >= -ROUNDING), said))


@settles("G-F3")
def fact_3(curve: pd.DataFrame, envelope: pd.DataFrame, composition: pd.DataFrame, groups: pd.DataFrame) -> Outcome:
    """The curve by integration, the converse by its envelope, composition by convolution, groups by chaining."""
    integral = float((curve["formula"] / curve["integral"] - 1).abs().max())
    inverse = float((curve["formula"] - curve["from_curve"]).abs().max())
    finest = envelope[envelope["size"] == envelope["size"].max()]
    coarse = envelope[envelope["size"] == envelope["size"].min()]
    below, above = float(finest["below"].max()), float(envelope["above"].max())
    inside = (composition["lower"] <= composition["formula"]) & (composition["formula"] <= composition["upper"])
    width = float((composition["upper"] / composition["lower"] - 1).max())
    of_mu = groups["curve"].str.startswith(r"$\mu$")
    apart, others = float(groups.loc[of_mu, ["most", "least"]].abs().max().max()), groups[~of_mu]
    evidence = {
        rf"$\delta(\epsilon)$ against integrated densities, {len(curve)} points": f"{integral:.1e} apart, relative",
        r"$\delta(\epsilon)$ from $G_\mu$": f"{inverse:.1e} apart",
        rf"$G_\mu$ above the envelope of {coarse['size'].iloc[0]} pairs $(\epsilon, \delta(\epsilon))$, at most": (
            f"{coarse['below'].max():.1e}"
        ),
        f"the same with {finest['size'].iloc[0]:,} pairs": f"{below:.1e}",
        r"envelope above $G_\mu$, at most": f"{max(above, 0.0) + 0.0:.1e}",
        r"$G_\mu$ above the envelope if one order of the data sets were bounded": f"{finest['one_order'].max():.3f}",
        rf"compositions with $\delta$ between the convolved ends (relative width up to {width:.1e})": (
            f"{int(inside.sum())} of {len(inside)}"
        ),
        r"groups of up to 5: $G_\mu$ chained against $G_{k\mu}$": f"{apart:.1e} apart",
        r"groups, $f$ of $(\epsilon, \delta)$ chained minus $f$ of the usual rule": (
            f"{others['least'].min():.1e} to {others['most'].max():.3f}"
        ),
    }
    faults = {
        "the curve": integral > 1e-9 or inverse > 1e-9,
        # Tangents within a step h of the best one miss by a multiple of h^2.
        "the converse": above > ROUNDING or below > 0.01 * float(coarse["below"].max()),
        "composition": not inside.all() or width > 0.01,
        "groups": apart > 1e-9,
    }
    said: Said = {
        "refuted": f"Fact 3 fails in {listed([name for name, fault in faults.items() if fault])}.",
        "verified": "The curve, its converse, composition and groups hold. The curve agrees with its integral up "
        f"to {integral:.0e}, and all {len(inside)} compositions lie between certified ends. The converse needs both "
        "orders of the data sets, which DP bounds. For groups one chains $f$: for $\\mu$-GDP that gives exactly "
        rf"$k\mu$, and for $(\epsilon, \delta)$ a curve that is up to {others['most'].max():.2f} above the usual "
        "rule's.",
    }
    return judge("G-F3", evidence, reading("as printed", exactly(not any(faults.values())), said))


@settles("G-F4")
def fact_4(table: pd.DataFrame, smallest: pd.DataFrame) -> Outcome:
    """Fact 4 in its `readings`, and the smallest triple that refutes one."""
    least = {name: float(gap) for name, gap in table.min().items()}
    fails = {name: f"{int((table[name] < -ROUNDING).sum())} of {len(table)}" for name in table}
    triple = "smallest triple that refutes (fair coin, always heads, fair coin): $T(P, Q)$ and $g(1 - f)$"
    evidence = {
        f"as printed: least $T(P, R) - g(1 - f)$, {len(table)} random triples": f"{least['printed']:.1e}",
        "least $f - g(1 - f)$: the printed conclusion against its own premise": f"{least['premise']:.1e}",
        r"with $T(P, Q) \geq f$: least $T(P, R) - g(1 - f)$": f"{least['corrected']:.1e}",
        r"with $T(P, Q) \geq f$, but $f(1 - g)$: triples that refute": fails["order"],
        "premises as printed, conclusion for $T(P, Q)$: triples that refute": fails["conclusion"],
        "the same with symmetric $f$ and $g$: triples that refute": fails["symmetric"],
        rf"{triple} at $\alpha$ = {smallest['alpha'][1]:g}": (
            f"{smallest['truth'][1]:g} and {smallest['conclusion'][1]:g}"
        ),
    }
    short = min(least["corrected"], least["symmetric"])
    if least["printed"] < -ROUNDING:
        why = f"As printed it fails for {fails['printed']} random triples, by up to {-least['printed']:.2g}."
    else:
        why = (
            r"As printed it is true and says nothing: $g(1 - f)$ is never above $f$, and $T(P, R) \geq f$ is a "
            r"premise. The proof of Theorem 2 needs the rule with $T(P, Q) \geq f$. In (18) it needs a conclusion "
            r"about $T(P, Q)$, which holds for the symmetric $g$ that occurs there but fails for "
            f"{fails['conclusion']} random triples."
        )
    said: Said = {
        "refuted": r"The chain rule fails with $T(P, Q) \geq f$, or for symmetric $f$ and $g$: short by "
        f"{-short:.2g}.",
        "verified": "As printed it holds and says more than its premise.",
        "holds with correction": why,
    }
    says_something = least["printed"] >= -ROUNDING and least["premise"] < -ROUNDING
    sound = short >= -ROUNDING
    correction = r"if $T(P, Q) \ge f$ and $T(Q, R) \ge g$, then $T(P, R) \ge g(1 - f(\alpha))$, in this order."
    verdict = exactly(sound and says_something, near=sound)
    return judge("G-F4", evidence, reading("as printed", verdict, said, correction=correction))

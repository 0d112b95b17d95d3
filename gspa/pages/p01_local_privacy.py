"""Page 01, Definitions 1, 2, 4 and 5: events and neighbours, what delta is a probability of, what two noises keep.

Finite randomizers are kernels: a matrix with a row an input and a column an output. The worst event of two laws P, Q
collects the outcomes where P > e^eps Q; here every event is tried instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import combinations_with_replacement, pairwise, permutations

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.optimize import brentq

from gspa.accountant import mechanisms
from gspa.accountant.discrete import hockey_stick, total_variation
from gspa.book.claims import Outcome, judge, settles
from gspa.book.figures import DASHES, PALETTE, keeps_data, name_line, role
from gspa.book.text import number
from gspa.book.verdicts import Said, exactly, reading, shown, unknown

Array = NDArray[np.float64]

SHAPES = ("every coordinate", "two cells of a histogram", "one coordinate")  # what a record moves of a query
OWN_DELTA = 1e-5  # the paper's own local delta
DELTAS = (0.9, 0.5, 0.1, 1e-2, 1e-3, OWN_DELTA, 1e-7, 1e-10, 1e-20, 1e-100)
_NODES, _DEVIATIONS = 400, 40.0  # of an integral over losses
_DWORK_ROTH = 1.0  # Dwork and Roth (2014), Theorem A.1, prove eq. (8) for eps below it
# Sums of at most 6 probabilities round by less; what would matter is 1e-3 and more.
_ROUNDING = 1e-12


# --- tables ------------------------------------------------------------------------------------------------


def events(size: int) -> Array:
    """Every event of `size` outcomes, as rows of zeros and ones; shape (2^size, size)."""
    return ((np.arange(2**size)[:, None] >> np.arange(size)) & 1).astype(np.float64)


def delta_over_events(p: ArrayLike, q: ArrayLike, eps: float) -> float:
    """The least delta with P(S) <= e^eps Q(S) + delta for every event S, by trying each: eqs. (1) and (2).

    >>> delta_over_events([0.75, 0.25], [0.25, 0.75], 0.0)
    0.5
    """
    tried = events(len(np.asarray(p)))
    return float((tried @ np.asarray(p) - math.exp(eps) * (tried @ np.asarray(q))).max())


def definition_delta(kernel: ArrayLike, eps: float) -> float:
    """The least delta at which a finite randomizer is (eps, delta)-LDP, by the hockey-stick divergence."""
    return max(hockey_stick(p, q, eps) for p, q in permutations(np.asarray(kernel), 2))


def random_pairs(*, pairs: int, rng: np.random.Generator | int) -> list[tuple[Array, Array]]:
    """Pairs of laws on 2 to 6 common outcomes, some of probability 0 under one or both."""
    source = np.random.default_rng(rng)
    found = []
    for _ in range(pairs):
        size = int(source.integers(2, 7))
        weights = source.uniform(0.01, 1, (2, size)) * (source.random((2, size)) < 0.85)
        weights[:, 0] += 0.05  # never an empty law
        p, q = weights / weights.sum(axis=1, keepdims=True)
        found.append((p, q))
    return found


def least_deltas(*, eps: float, pairs: int, seed: int) -> pd.DataFrame:
    """The least delta of eq. (1) for random pairs of laws: all_events, by trying each; divergence, by the formula."""
    rows = [(delta_over_events(p, q, eps), hockey_stick(p, q, eps)) for p, q in random_pairs(pairs=pairs, rng=seed)]
    return pd.DataFrame(rows, columns=["all_events", "divergence"])


def relations(*, eps: float, records: int = 3, values: int = 3) -> pd.DataFrame:
    """What two readings of "neighbouring" say of the same releases, over all data sets of a small size.

    Columns: relation, pairs, count (TV of the released number of records), l1 (largest change of the histogram),
    histogram (its eps with Laplace noise of scale 1/eps).
    """

    def histograms(size: int) -> Array:
        chosen = combinations_with_replacement(range(values), size)
        return np.array([np.bincount(np.array(c, dtype=int), minlength=values) for c in chosen], dtype=float)

    full, smaller = histograms(records), histograms(records - 1)
    replaced = [(a, b) for a, b in permutations(full, 2) if np.abs(a - b).sum() == 2]
    absent = [(a, b) for a in full for b in smaller if np.all(a >= b)]
    rows = []
    sizes = np.eye(records + 1)
    for relation, neighbours in (("one record replaced", replaced), ("one record absent", absent)):
        count = max(total_variation(sizes[int(a.sum())], sizes[int(b.sum())]) for a, b in neighbours)
        change = max(float(np.abs(a - b).sum()) for a, b in neighbours)
        rows.append((relation, len(neighbours), count, change, change * eps))
    return pd.DataFrame(rows, columns=["relation", "pairs", "count", "l1", "histogram"])


def examples(eps: float) -> dict[str, Array]:
    """Finite randomizers by name, as kernels; three of them are eps-LDP."""
    two, five = np.eye(2), np.eye(5)
    grown = math.expm1(eps)
    return {
        "no answer at all": np.ones((2, 1)),
        "randomized response": (1 + grown * two) / (2 + grown),
        "5-ary randomized response": (1 + grown * five) / (5 + grown),
        "the truth, one time in ten": np.c_[0.1 * two, [0.9, 0.9]],
        "the input itself": two,
    }


def whole_range(*, eps: float) -> pd.DataFrame:
    """The least delta of eq. (2) for the examples.

    Columns: randomizer, printed (S is the whole range), all_events (over every S), divergence (the same again).
    """
    rows = []
    for name, kernel in examples(eps).items():
        printed = max(max(0.0, float(a - math.exp(eps) * b)) for a, b in permutations(kernel.sum(axis=1), 2))
        worst = max(delta_over_events(p, q, eps) for p, q in permutations(kernel, 2))
        rows.append((name, printed, worst, definition_delta(kernel, eps)))
    return pd.DataFrame(rows, columns=["randomizer", "printed", "all_events", "divergence"])


def leaks(*, eps: float, delta: float) -> pd.DataFrame:
    """The least delta of a mechanism beside the probability that its privacy loss exceeds eps.

    Randomized response and Laplace noise have a local budget slightly above eps; the Gaussian is at (eps, delta).
    Columns: mechanism, delta, exceeds, ratio (their quotient), tail (largest Pr[loss > eps + t] (1 - e^-t) / delta over
    t, at most 1), mean (E[(1 - e^(eps - L))_+] / delta, integrated by parts from e^-t Pr[L > eps + t]: 1).
    """
    budget = eps * 1.001
    kernel = examples(budget)["randomized response"]
    losses = np.log(kernel[0] / kernel[1])
    laplace, gauss = mechanisms.laplace_scale(eps=budget), mechanisms.analytic_gaussian_scale(eps=eps, delta=delta)
    # By name: the least delta at eps, Pr[loss > .], and a loss that is exceeded next to never.
    found: dict[str, tuple[float, Callable[[Array], Array], float]] = {
        "randomized response": (
            definition_delta(kernel, eps),
            lambda at: (losses > at[:, None] * (1 + 1e-14)) @ kernel[0],
            budget,
        ),
        "Laplace noise": (
            mechanisms.laplace_delta(eps, scale=laplace),
            lambda at: mechanisms.laplace_exceeds(at, scale=laplace),
            budget,
        ),
        "Gaussian noise": (
            mechanisms.gaussian_delta(eps, scale=gauss),
            lambda at: mechanisms.gaussian_exceeds(at, scale=gauss),
            eps + _DEVIATIONS / gauss,  # the loss's standard deviation is 1/scale, its mean not far above eps
        ),
    }
    beyond = eps * np.geomspace(1e-5, 10, 200)
    x, weights = np.polynomial.legendre.leggauss(_NODES)
    rows = []
    for name, (least, exceeds, most) in found.items():
        at_eps = float(exceeds(np.array([eps]))[0])
        tail = float((exceeds(eps + beyond) * -np.expm1(-beyond) / least).max())
        half = (most - eps) / 2
        t = half * (1 + x)
        mean = half * float(weights @ (np.exp(-t) * exceeds(eps + t))) / least
        rows.append((name, least, at_eps, at_eps / least, tail, mean))
    return pd.DataFrame(rows, columns=["mechanism", "delta", "exceeds", "ratio", "tail", "mean"])


def laplace_losses(*, eps: float, dimensions: Iterable[int], draws: int, seed: int) -> pd.DataFrame:
    """Privacy losses of Definition 4's noise for random answers 1 apart in the l1 norm, in units of eps.

    Columns: d, largest (over random reports), at_answer (at the answer itself, where it is largest).
    """
    source, scale = np.random.default_rng(seed), mechanisms.laplace_scale(eps=eps)
    rows = []
    for d in dimensions:
        shift = source.dirichlet(np.ones(d), draws) * source.choice([-1.0, 1.0], (draws, d))
        report = scale * source.laplace(size=(draws, d))
        loss = (np.abs(report - shift).sum(axis=1) - np.abs(report).sum(axis=1)) / scale
        rows.append((d, float(loss.max()) / eps, float(np.abs(shift).sum(axis=1).max() / scale) / eps))
    return pd.DataFrame(rows, columns=["d", "largest", "at_answer"])


def laplace_curve(*, eps: float) -> pd.DataFrame:
    """delta of Definition 4's noise on one number at shares of the promised eps: eps, closed, integrated."""
    scale = mechanisms.laplace_scale(eps=eps)
    rows = []
    for at in (share * eps for share in (0.0, 0.25, 0.5, 0.75, 0.99, 1.0)):

        def excess(x: float, at: float = at) -> float:
            first, second = math.exp(-abs(x) / scale), math.exp(at - abs(x - 1) / scale)
            return max(first - second, 0.0) / (2 * scale)

        # The integrand has kinks at 0, at 1 and where the loss is eps; beyond 60 scales nothing is left.
        kinks = sorted({-60 * scale, 0.0, min(max((1 - at * scale) / 2, 0.0), 1.0), 1.0, 1 + 60 * scale})
        parts = [quad(excess, a, b, limit=200)[0] for a, b in pairwise(kinks)]
        rows.append((at, mechanisms.laplace_delta(at, scale=scale), math.fsum(parts)))
    return pd.DataFrame(rows, columns=["eps", "closed", "integrated"])


def privacy_curves(*, eps: float, delta: float, eps_max: float, points: int) -> pd.DataFrame:
    """Exact delta of three mechanisms that all promise eps, on one number: mechanism, eps, delta."""
    # Dense before eps, where Laplace falls to 0.
    grid = np.union1d(np.linspace(0.0, eps_max, points), eps * (1 - np.append(np.geomspace(1e-9, 0.1, 25), 0)))
    classical = mechanisms.classical_gaussian_scale(eps=eps, delta=delta)
    analytic = mechanisms.analytic_gaussian_scale(eps=eps, delta=delta)
    curves = {
        "Laplace (Definition 4)": mechanisms.laplace_delta(grid, scale=mechanisms.laplace_scale(eps=eps)),
        "Gaussian (Definition 5)": mechanisms.gaussian_delta(grid, scale=classical),
        "analytic Gaussian": mechanisms.gaussian_delta(grid, scale=analytic),
    }
    return pd.concat([pd.DataFrame({"mechanism": name, "eps": grid, "delta": curve}) for name, curve in curves.items()])


def _kept(eps: float, delta: float) -> float:
    """Exact over promised delta of Definition 5's noise; above 1 the promise is broken."""
    scale = mechanisms.classical_gaussian_scale(eps=eps, delta=delta)
    return mechanisms.gaussian_delta(eps, scale=scale) / delta


def promise_limits(deltas: Iterable[float]) -> pd.DataFrame:
    """Up to which eps Definition 5 keeps its promise.

    Columns: delta, limit, below and beyond (exact over promised delta, 1% below and beyond the limit), epsilon_at_two
    (the exact eps at delta when 2 is promised).
    """
    rows = []
    for delta in deltas:
        limit = mechanisms.classical_gaussian_limit(delta=delta)
        scale = mechanisms.classical_gaussian_scale(eps=2.0, delta=delta)
        exact = mechanisms.gaussian_epsilon(delta=delta, scale=scale)
        rows.append((delta, limit, _kept(0.99 * limit, delta), _kept(1.01 * limit, delta), exact))
    return pd.DataFrame(rows, columns=["delta", "limit", "below", "beyond", "epsilon_at_two"])


def promise_curves(deltas: Iterable[float], eps: Collection[float]) -> pd.DataFrame:
    """Definition 5 against the exact delta and against the least noise that suffices.

    Columns: delta, eps, noise (standard deviation over the least; above 1 is waste), kept (exact over promised delta;
    above 1 the promise is broken), analytic_kept (the same of the least noise).
    """
    rows = []
    for delta in deltas:
        for e in eps:
            analytic = mechanisms.analytic_gaussian_scale(eps=e, delta=delta)
            noise = mechanisms.classical_gaussian_scale(eps=e, delta=delta) / analytic
            rows.append((delta, e, noise, _kept(e, delta), mechanisms.gaussian_delta(e, scale=analytic) / delta))
    return pd.DataFrame(rows, columns=["delta", "eps", "noise", "kept", "analytic_kept"])


def noise_table(*, eps: float, deltas: Iterable[float], dimensions: Collection[int]) -> pd.DataFrame:
    """Variance per coordinate of the noise that Definitions 4 and 5 add for the same eps.

    A record that moves m of the d answers, by 1 each, makes an l1 sensitivity of m and an l2 sensitivity of sqrt(m).
    Columns: shape, delta, d, laplace, classical, smaller ("Laplace" or "Gaussian"), rule (the same by comparing the
    squared quotient of the sensitivities with log(1.25/delta)).
    """
    rows = []
    variance = 2 * mechanisms.laplace_scale(eps=eps) ** 2  # every scale is proportional to the sensitivity
    for delta in deltas:
        by_formula = mechanisms.classical_gaussian_scale(eps=eps, delta=delta) ** 2
        for shape in SHAPES:
            for d in dimensions:
                moved = dict(zip(SHAPES, (d, min(2, d), 1), strict=True))[shape]
                laplace, classical = moved**2 * variance, moved * by_formula
                smaller = "Gaussian" if classical < laplace else "Laplace"
                rule = "Gaussian" if moved > math.log(1.25 / delta) else "Laplace"
                rows.append((shape, delta, d, laplace, classical, smaller, rule))
    return pd.DataFrame(rows, columns=["shape", "delta", "d", "laplace", "classical", "smaller", "rule"])


def equal_variance(deviations: Sequence[float]) -> pd.DataFrame:
    """Laplace and Gaussian noise of one variance on one number of sensitivity 1: which one is the more private.

    Columns: deviation (standard, of both), laplace_eps (from which on Laplace needs no delta), laplace_0 and gaussian_0
    (delta at eps = 0: total variation), crossing (below it the Gaussian has the smaller delta, NaN if nowhere),
    gaussian_delta (at `laplace_eps`).
    """
    rows = []
    for deviation in deviations:
        scale = deviation / math.sqrt(2)
        top = 1 / scale

        def lead(eps: float, scale: float = scale, deviation: float = deviation) -> float:
            return mechanisms.laplace_delta(eps, scale=scale) - mechanisms.gaussian_delta(eps, scale=deviation)

        first = (mechanisms.laplace_delta(0.0, scale=scale), mechanisms.gaussian_delta(0.0, scale=deviation))
        crossing = float(brentq(lead, 0.0, top)) if lead(0.0) > 0 else math.nan
        rows.append((deviation, top, *first, crossing, mechanisms.gaussian_delta(top, scale=deviation)))
    columns = ["deviation", "laplace_eps", "laplace_0", "gaussian_0", "crossing", "gaussian_delta"]
    return pd.DataFrame(rows, columns=columns)


# --- figures -----------------------------------------------------------------------------------------------


def _lines(table: pd.DataFrame, by: str, x: str, y: pd.Series, label: str) -> tuple[Figure, Axes]:
    """A line for each value of a column, in the order of the table; `label` is formatted with the value as text."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, (name, part) in enumerate(table.groupby(by, sort=False)):
        colour, dashes = PALETTE[1 + index % 6], DASHES[index % len(DASHES)] or (None, None)
        axis.plot(part[x], y[part.index], color=colour, dashes=dashes, lw=2, label=label.format(number(name)))
    return figure, axis


@keeps_data
def mechanism_curves(table: pd.DataFrame, *, eps: float, delta: float) -> Figure:
    """`privacy_curves`: exact delta against eps, a line a mechanism, with the promised point."""
    table = table.reset_index(drop=True)
    # A delta of 0 is a line that leaves the figure.
    floor = max(1e-12, min(float(table.loc[table["delta"] > 0, "delta"].min()), delta) / 10)
    figure, axis = _lines(table, "mechanism", "eps", table["delta"].clip(floor / 10), "{}")
    axis.plot([eps], [delta], "o", color=role("reference")["color"], ms=8, zorder=3, label="what is promised")
    axis.set(xlabel=r"$\epsilon$", ylabel=r"least $\delta$", yscale="log", ylim=(floor, 1.5))
    axis.legend()
    return figure


@keeps_data
def promise_kept(table: pd.DataFrame) -> Figure:
    """`promise_curves`: exact over promised delta against eps, a line a delta."""
    figure, axis = _lines(table, "delta", "eps", table["kept"], r"$\delta$ = {}")
    axis.axhline(1.0, **role("reference"))
    axis.annotate("above: broken", (float(table["eps"].min()), 1.0), xytext=(4, 6), textcoords="offset points")
    axis.set(xlabel=r"promised $\epsilon$", ylabel=r"exact $\delta$ / promised $\delta$", yscale="log")
    axis.legend()
    return figure


@keeps_data
def noise_by_dimension(table: pd.DataFrame) -> Figure:
    """`noise_table` at one delta: variance of the Gaussian over that of Laplace noise against d, a line a shape."""
    figure, axis = _lines(table, "shape", "d", table["classical"] / table["laplace"], "{}")
    axis.axhline(1.0, **role("reference"))
    axis.annotate("below: Laplace is the noisier one", (1, 1.0), xytext=(4, -14), textcoords="offset points")
    for line, (right, up) in zip(axis.lines, ((-16, 0), (-1, 11), (-1, 8)), strict=False):
        x, y = np.asarray(line.get_xydata())[-1]
        name_line(axis, float(x), float(y), str(line.get_label()), colour=str(line.get_color()), right=right, up=up)
    axis.set(xlabel="number of coordinates $d$", ylabel="variance of Gaussian (8) / Laplace (7)")
    axis.set(xscale="log", yscale="log")
    axis.margins(y=0.1)
    return figure


# --- checks ------------------------------------------------------------------------------------------------


@settles("G-D1")
def definition_1(table: pd.DataFrame, relations: pd.DataFrame) -> Outcome:
    """Eq. (1) over every event against the hockey-stick divergence (`least_deltas`), and what the relation changes."""
    replaced, absent = relations.to_dict("records")
    gap = float((table["all_events"] - table["divergence"]).abs().max())
    low, high = float(table["all_events"].min()), float(table["all_events"].max())
    scale = absent["l1"] / absent["histogram"]
    evidence = {
        rf"least $\delta$ over every event against the divergence, {len(table)} random pairs": f"{gap:.1e} apart",
        r"range of that $\delta$": [low, high],
        "exact number of records released, one record replaced: TV": float(replaced["count"]),
        "the same, one record absent: TV": float(absent["count"]),
        rf"histogram with Laplace noise of scale {scale:g}, one record replaced: $\epsilon$": replaced["histogram"],
        r"the same, one record absent: $\epsilon$": absent["histogram"],
    }
    said: Said = {
        "illustrated": rf"The least $\delta$ of eq. (1), found by trying every event, is the hockey-stick divergence, "
        rf"up to {gap:.0e}. The relation matters: the same noisy histogram is at $\epsilon$ = "
        f"{replaced['histogram']:g} when a record is replaced, as here, and at {absent['histogram']:g} when one is "
        "absent.",
        "not checkable": f"Two evaluations of eq. (1) are {gap:.1e} apart, or it tells no two of these pairs apart.",
    }
    sound = gap <= _ROUNDING and low < high
    return judge("G-D1", evidence, reading("every event", shown() if sound else unknown(), said))


@settles("G-D1p")
def meaning_of_delta(table: pd.DataFrame, eps: float) -> Outcome:
    """The probability that the privacy loss exceeds eps, beside the least delta; the mean that delta is: `leaks`."""
    evidence: dict[str, object] = {}
    for row in table.to_dict("records"):
        evidence[rf"{row['mechanism']}, $\epsilon$ = {eps:g}: least $\delta$"] = row["delta"]
        evidence[rf"{row['mechanism']}: $\Pr[\text{{loss}} > \epsilon]$"] = row["exceeds"]
    most, least, tail = float(table["ratio"].max()), float(table["ratio"].min()), float(table["tail"].max())
    evidence[r"largest $\Pr[L > \epsilon + t]\,(1 - e^{-t})/\delta$ over $t > 0$, $L$ the loss"] = tail
    gap = float((table["mean"] - 1).abs().max())
    mean = r"$\mathbb{E}[(1 - e^{\epsilon - L})_+]/\delta$, integrated from $\Pr[L > \epsilon + t]$: distance from 1"
    evidence[mean] = f"{gap:.1e}"
    worst = max(table.to_dict("records"), key=lambda row: float(row["ratio"]))
    off = (
        rf"For {worst['mechanism']} at $\epsilon$ = {eps:g} the loss exceeds $\epsilon$ with probability "
        rf"{worst['exceeds']:.3f}, while the least $\delta$ is {worst['delta']:.1e}. For the mechanisms tried the "
        f"probability is {least:.0f} to {most:,.0f} times $\\delta$."
    )
    said: Said = {
        "verified": r"In every case $\delta$ is the probability that the loss exceeds $\epsilon$.",
        "holds with correction": off,
        "refuted": off,
    }
    near = least >= 1 - 1e-9 and tail <= 1 + 1e-9 and gap <= 1e-9
    correction = (
        r"the least $\delta$ is $\mathbb{E}[(1 - e^{\epsilon - L})_+]$ of the privacy loss $L$: at most "
        r"$\Pr[L > \epsilon]$, and $\Pr[L > \epsilon + t] \le \delta/(1 - e^{-t})$ for every $t > 0$."
    )
    verdict = exactly(max(most, 1 / least) <= 1 + 1e-9, near=near)
    return judge("G-D1p", evidence, reading("the least such number", verdict, said, correction=correction))


@settles("G-D2")
def definition_2(table: pd.DataFrame, eps: float) -> Outcome:
    """Eq. (2) with the whole range as S, as printed, against every event: `whole_range`."""
    evidence: dict[str, object] = {}
    for row in table.to_dict("records"):
        label = rf"{row['randomizer']}: least $\delta$ at $\epsilon$ = {eps:g}, eq. (2) as printed and with every event"
        evidence[label] = f"{row['printed']:.3g} and {row['all_events'] if row['all_events'] > _ROUNDING else 0.0:.3g}"
    gap = float((table["all_events"] - table["divergence"]).abs().max())
    evidence["every event against the hockey-stick divergence"] = f"{gap:.1e} apart"
    missed = table[table["all_events"] > table["printed"] + _ROUNDING]
    correction = (
        r"for all $x, x' \in \mathcal{D}$ and all events $S \subseteq \mathcal{S}$, "
        r"$\mathbb{P}(\mathcal{R}(x) \in S) \le e^\epsilon\, \mathbb{P}(\mathcal{R}(x') \in S) + \delta$, "
        "as Definition 1 has it."
    )
    said: Said = {
        "not checkable": f"Two evaluations of the definition are {gap:.1e} apart, so this run proves nothing.",
        "verified": r"As printed it gives every randomizer its least $\delta$.",
        "holds with correction": lambda: _read_literally(missed),
    }
    verdict = exactly(missed.empty, near=True) if gap <= _ROUNDING else unknown()
    return judge("G-D2", evidence, reading("as printed", verdict, said, correction=correction))


def _read_literally(missed: pd.DataFrame) -> str:
    worst = max(missed.to_dict("records"), key=lambda row: float(row["all_events"]))
    return (
        r"In (2), $\mathcal{S}$ is the whole range of $\mathcal{R}$: no event is named. Read literally, (2) says "
        rf"$1 \le e^\epsilon + \delta$. So it holds with $\delta$ = {worst['printed']:g} even for a mechanism that "
        rf"publishes {worst['randomizer']}, whose least $\delta$ over all events is {worst['all_events']:g}."
    )


@settles("G-D4")
def definition_4(losses: pd.DataFrame, curve: pd.DataFrame) -> Outcome:
    """Largest losses in several dimensions, and delta by closed form and by integration."""
    gap = float((curve["closed"] - curve["integrated"]).abs().max())
    before, promised = curve.to_dict("records")[-2:]
    share = before["eps"] / promised["eps"]
    largest = float(losses[["largest", "at_answer"]].max().max())
    over = r"largest privacy loss over random reports and answers, in units of $\epsilon$"
    evidence = {rf"$d$ = {row['d']:,}: {over}": f"{row['largest']:.6f}" for row in losses.to_dict("records")}
    evidence |= {
        r"$\delta$ by its closed form against integrated densities": f"{gap:.1e} apart",
        r"$\delta$ at the promised $\epsilon$": f"{promised['integrated']:.2g}",
        rf"$\delta$ at {share:.2f} of it": f"{before['integrated']:.3g}",
    }
    said: Said = {
        "not checkable": rf"Two evaluations of $\delta$ are {gap:.1e} apart.",
        "refuted": rf"The privacy loss reaches {largest:.3f} times $\epsilon$; $\delta$ at $\epsilon$ is "
        f"{promised['integrated']:.2g}.",
        "verified": rf"With independent noise in each coordinate no privacy loss exceeds $\epsilon$ in up to "
        rf"{losses['d'].max()} dimensions. The promise cannot be improved: at {share:.2f} times $\epsilon$ the least "
        rf"$\delta$ is {before['integrated']:.2g} and not 0.",
    }
    private = exactly(largest <= 1 + 1e-9 and promised["integrated"] <= 1e-9)
    return judge("G-D4", evidence, reading("as printed", private if gap <= 1e-9 else unknown(), said))


@settles("G-D5")
def definition_5(limits: pd.DataFrame, curves: pd.DataFrame, worst: mechanisms.WorstDelta) -> Outcome:
    """The exact eps up to which eq. (8) keeps its promise, delta by delta, and the analytic scale beyond it."""
    own = limits[limits["delta"] == OWN_DELTA].iloc[0]
    at_own = rf"$\delta$ = {OWN_DELTA:g}"
    small = curves[curves["eps"] <= _DWORK_ROTH]
    repaired = float(curves["analytic_kept"].max())
    evidence: dict[str, object] = {
        rf"$\delta$ = {row['delta']:g}: promise kept up to $\epsilon$": f"{row['limit']:.4f}"
        for row in limits.to_dict("records")
    }
    evidence |= {
        r"smallest limit over all $\delta$": rf"{worst.eps:.4f}, at $\delta$ = {worst.delta:.3f}",
        rf"largest exact over promised $\delta$ for $\epsilon$ ≤ {_DWORK_ROTH:g}": float(small["kept"].max()),
        f"the same 1% beyond the limit at {at_own}": float(own["beyond"]),
        rf"exact $\epsilon$ where 2 is promised, {at_own}": float(own["epsilon_at_two"]),
        r"analytic noise: largest exact over promised $\delta$": repaired,
    }
    unbroken = bool((curves["kept"] <= 1 + 1e-9).all()) and not math.isfinite(worst.eps)
    early = (small["kept"] > 1 + 1e-9).any() or min(worst.eps, float(limits["limit"].min())) <= _DWORK_ROTH
    holds_below = limits["limit"].min() >= worst.eps - 1e-9 and (limits["below"] <= 1).all()
    clear = holds_below and (limits["beyond"] > 1).all() and repaired <= 1 + 1e-9
    said: Said = {
        "verified": r"No promise is broken at any $\epsilon$ tried.",
        "refuted": rf"The promise is broken at an $\epsilon$ ≤ {_DWORK_ROTH:g} already.",
        "not checkable": r"Limits and exact $\delta$ contradict each other.",
        "holds with correction": rf"Eq. (8) states no condition on $\epsilon$ and fails for large ones: at {at_own} "
        rf"from $\epsilon$ = {own['limit']:.3f} on, and at $\delta$ = {worst.delta:.3f} from {worst.eps:.3f} on. It "
        rf"holds in the paper's range, $\epsilon$ up to 2 at {at_own}, and adds more noise than it needs there: where "
        rf"2 is promised, the exact $\epsilon$ is {own['epsilon_at_two']:.3f}.",
    }
    verdict = exactly(unbroken, near=not early) if unbroken or early or clear else unknown()
    correction = (
        rf"preserves $(\epsilon, \delta)$-DP for every $\delta$ if $\epsilon \le {_down(worst.eps):.2f}$, "
        rf"and at $\delta = 10^{{-5}}$ if $\epsilon \le {_down(own['limit']):.2f}$; for any $\epsilon$ the "
        "analytic Gaussian mechanism adds the least noise that keeps the promise."
        if math.isfinite(worst.eps)
        else ""
    )
    return judge("G-D5", evidence, reading("as printed", verdict, said, correction=correction))


def _down(value: float) -> float:
    """Rounded down to two decimals."""
    return math.floor(100 * value) / 100


@settles("G-C5")
def laplace_or_gaussian(table: pd.DataFrame, equal: pd.DataFrame) -> Outcome:
    """Variances for one eps by dimension and shape (`noise_table`); delta at one variance."""
    ruled = table["smaller"] == table["rule"]
    accurate, weaker = table["smaller"] == "Gaussian", equal["laplace_0"] > equal["gaussian_0"]
    from_dimension = table[accurate].groupby(["delta", "shape"])["d"].min().to_dict()
    single = table[table["d"] == 1]
    quotients = single["classical"] / single["laplace"]
    evidence: dict[str, object] = {}
    for delta in table["delta"].unique().tolist():
        at = rf"$\delta$ = {delta:g}"
        quotient = float(quotients[single["delta"] == delta].min())
        evidence[rf"$d$ = 1, {at}: variance of the Gaussian (8) over Laplace (7)"] = quotient
        evidence[rf"{at}: $\ln(1.25/\delta)$"] = f"{math.log(1.25 / delta):.2f}"
        for shape in SHAPES:
            start = from_dimension.get((delta, shape), "never")
            evidence[rf"{at}, {shape}: Gaussian more accurate from $d$"] = start
    evidence["settings where the rule below names the smaller variance"] = f"{int(ruled.sum())} of {len(table)}"
    for row in equal.to_dict("records"):
        both = f"both with standard deviation {row['deviation']:.3g}"
        at_0 = rf"{both}: $\delta$ at $\epsilon$ = 0, Laplace and Gaussian"
        evidence[at_0] = f"{row['laplace_0']:.3g} and {row['gaussian_0']:.3g}"
        ahead = rf"{both}: $\epsilon$ from which Laplace has the smaller $\delta$, and from which it has none"
        evidence[ahead] = f"{row['crossing']:.3g} and {row['laplace_eps']:.3g}"
    numbers = f"For one number the Gaussian of (8) has up to {quotients.max():.1f} times the variance of Laplace (7)."
    first = equal.iloc[0]
    said: Said = {
        "verified": "In every setting Laplace is the noisier and the more private one.",
        "refuted": f"{numbers} No rule was found by which the claim is true.",
        "holds with correction": lambda: (
            rf"{numbers} The Gaussian is the more accurate one only where a record moves many answers: at least "
            rf"{from_dimension[OWN_DELTA, SHAPES[0]]} at $\delta$ = {OWN_DELTA:g}. And Laplace is not the more private "
            rf"one at small $\epsilon$: at equal variance its total variation is {first['laplace_0']:.2f} and the "
            f"Gaussian's {first['gaussian_0']:.2f}."
        ),
    }
    verdict = exactly(
        bool(accurate.all()) and not weaker.any(), near=bool(accurate.any() and ruled.all() and weaker.all())
    )
    correction = (
        r"for the same $\epsilon$, (8) has less variance than (7) exactly when $(\Delta/\Delta_2)^2 > "
        r"\ln(1.25/\delta)$, which needs more than $\ln(1.25/\delta)$ coordinates; at equal variance, with a "
        rf"standard deviation of at least {equal['deviation'].min():g} sensitivities, there is an $\epsilon$ above "
        r"which Laplace has the smaller $\delta$ and below which the Gaussian has it."
    )
    return judge("G-C5", evidence, reading("as printed", verdict, said, correction=correction))

"""Of notebook 02: its figures, trade-off functions by their corners, and two computations that take more than a cell.

Two piecewise linear curves differ most at a corner of one of them: no grid is involved, and a negative gap beyond
rounding is a counterexample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.signal import fftconvolve
from scipy.special import ndtr
from scipy.stats import laplace

from gspa.accountant.tradeoff import TradeOff, f_eps_delta, hockey_stick
from gspa.book.figures import DASHES, PALETTE, keeps_data, role

Array = NDArray[np.float64]
Curve = Callable[[Array], Array]


def total_variation(P: Array, Q: Array) -> float:
    """The largest difference of the probabilities that two laws give to an event: the TV of eq. (4)."""
    return float(np.abs(P - Q).sum()) / 2


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


def symmetric(p: ArrayLike, q: ArrayLike, *, eps: float = 0.5) -> TradeOff:
    """A symmetric curve below T(P, Q) and T(Q, P): that of Fact 1 at eps."""
    delta = max(hockey_stick(p, q, eps), hockey_stick(q, p, eps))
    return f_corrected(eps=eps, delta=min(delta, 1 - 1e-12))


def chain(f: Curve, g: Curve) -> Curve:
    """alpha -> g(1 - f(alpha)), a lower bound on T(P, R) if T(P, Q) >= f and T(Q, R) >= g: Fact 4, corrected."""
    return lambda alpha: g(1 - f(alpha))


def supremum(f: Curve, eps: float) -> float:
    """The largest 1 - f(alpha) - e^eps alpha: delta(eps) of an f-DP mechanism (Dong, Roth and Su 2022, 2.12).

    At some alpha below 1/2, because eps >= 0 and f is symmetric; looked for on the scale of its quantile.
    """
    gain, options = math.exp(eps), {"xatol": 1e-9}
    found = minimize_scalar(lambda x: f(ndtr(x)) + gain * ndtr(x), bounds=(-10, 0), method="bounded", options=options)
    return 1 - float(found.fun)


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


def laplace_tradeoff(alpha: Array, *, shift: float) -> Array:
    """T of Lap(0, 1) against Lap(shift, 1): the loss grows with the report, so the best tests have a threshold."""
    return np.asarray(laplace.cdf(laplace.isf(alpha) - shift))


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


def composed_delta(mus: Sequence[float], eps: float) -> tuple[float, float]:
    """delta(eps) of the product of the pairs N(0, 1), N(mu_i, 1): a lower and an upper end, by convolution.

    The privacy loss of each pair is rounded down and up to a grid. Proved but for the rounding of the convolution,
    about 1e-15 absolute.

    >>> low, high = composed_delta([0.6, 0.8], 1.0)  # hypot(0.6, 0.8) = 1
    >>> low < 0.1269367 < high
    True
    """
    reach = 9.0  # standard deviations kept of each privacy loss; outside them lies 1e-19
    step = 2 * reach * max(mus) / 2**15
    ends = []
    for up in (0, 1):
        mass, start, lost = np.ones(1), 0, 0.0
        for mu in mus:
            # The loss is normal with mean mu^2/2 and standard deviation mu.
            first = math.floor((mu * mu / 2 - reach * mu) / step)
            edges = np.arange(first, math.ceil((mu * mu / 2 + reach * mu) / step) + 1)
            below = ndtr((edges * step - mu * mu / 2) / mu)
            mass = fftconvolve(mass, np.diff(below))
            lost += float(below[0] + 1 - below[-1])
            start += first + up
        loss = (start + np.arange(mass.size)) * step
        gain = -np.expm1(np.minimum(eps - loss, 0.0))
        ends.append(float(np.maximum(mass, 0.0) @ gain) + up * lost)
    return ends[0], ends[1]


def grouped(f: Curve, *, k: int) -> Curve:
    """The trade-off function that f-DP gives groups of k records: f chained k times (Dong, Roth and Su 2022, 2.14)."""
    curve = f
    for _ in range(k - 1):
        curve = chain(curve, f)
    return curve


def lines(curves: Mapping[str, Curve]) -> pd.DataFrame:
    """Curves by name as the table that is drawn: curve, alpha, beta."""
    alpha = np.linspace(0, 1, 401)
    return pd.concat([pd.DataFrame({"curve": name, "alpha": alpha, "beta": f(alpha)}) for name, f in curves.items()])


@keeps_data
def decisions(table: pd.DataFrame) -> Figure:
    """A bar for each truth of H_0, divided into what the rule decides: columns decision, truth, chance, name."""
    figure, axis = plt.subplots(figsize=(4.8, 1.6), layout="constrained")
    for y, (_, part) in enumerate(table.groupby("truth", sort=False)):
        left = 0.0
        for row in part.to_dict("records"):
            right = row["name"] == "correct"
            ground, ink = ("0.85", "black") if right else (PALETTE[4], "white")
            axis.barh(y, row["chance"], left=left, color=ground, edgecolor="white", height=0.8)
            words = f"{row['decision']}: {row['name']}\n{row['chance']:g}"
            axis.text(left + row["chance"] / 2, y, words, ha="center", va="center", color=ink, fontsize=9)
            left += row["chance"]
    axis.set_yticks([0, 1], [f"$H_0$ {truth}" for truth in table["truth"].unique()])
    axis.set(xlim=(0, 1), xlabel="chance")
    axis.invert_yaxis()
    axis.grid(visible=False)
    return figure


def _axes() -> tuple[Figure, Axes]:
    figure, axis = plt.subplots(figsize=(4.8, 3.4), layout="constrained")
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

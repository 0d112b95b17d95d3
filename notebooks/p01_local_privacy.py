"""Of notebook 01: its figures, and the tables that take more than a cell."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr

from gspa.accountant import mechanisms
from gspa.accountant.tradeoff import Reals, gdp_delta, like
from gspa.book.figures import DASHES, PALETTE, keeps_data, name_line, role
from gspa.book.text import number


def response_exceeds(eps: NDArray[np.float64], *, budget: float) -> NDArray[np.float64]:
    """Probability that the privacy loss of randomized response exceeds eps >= 0; it is the budget or its negative."""
    return np.where(np.asarray(eps) < budget, 1 / (1 + math.exp(-budget)), 0.0)


def laplace_exceeds(eps: NDArray[np.float64], *, scale: float) -> NDArray[np.float64]:
    """The same of Laplace noise on one number; the loss is 1/scale with probability 1/2."""
    return np.where(eps < 1 / scale, 1 - np.exp(np.minimum((eps - 1 / scale) / 2, 0.0)) / 2, 0.0)


def gaussian_exceeds(eps: NDArray[np.float64], *, scale: float) -> NDArray[np.float64]:
    """The same of Gaussian noise."""
    return np.asarray(ndtr(0.5 / scale - eps * scale))


def laplace_delta(eps: Reals, *, scale: float) -> Reals:
    """The least delta at which Laplace noise on one number is (eps, delta)-DP, 0 from eps = 1/scale on."""
    return like(eps, 0.0 - np.expm1(np.minimum((np.asarray(eps) - 1 / scale) / 2, 0.0)))


def gaussian_delta(eps: Reals, *, scale: float) -> Reals:
    """The same of Gaussian noise, in any number of coordinates: Fact 3."""
    return gdp_delta(eps, mu=1 / scale)


def crossing(deviation: float) -> float:
    """Below this eps, Gaussian noise has less delta than Laplace noise of that standard deviation; NaN if nowhere."""
    scale = deviation / math.sqrt(2)

    def lead(eps: float) -> float:
        return laplace_delta(eps, scale=scale) - gaussian_delta(eps, scale=deviation)

    return float(brentq(lead, 0.0, 1 / scale)) if lead(0.0) > 0 else math.nan


def privacy_curves(*, eps: float, delta: float, eps_max: float, points: int) -> pd.DataFrame:
    """Exact delta of three mechanisms that all promise eps, on one number: mechanism, eps, delta."""
    # Dense before eps, where Laplace falls to 0.
    grid = np.union1d(np.linspace(0.0, eps_max, points), eps * (1 - np.append(np.geomspace(1e-9, 0.1, 25), 0)))
    classical = mechanisms.classical_gaussian_scale(eps=eps, delta=delta)
    analytic = mechanisms.analytic_gaussian_scale(eps=eps, delta=delta)
    curves = {
        "Laplace (Definition 4)": laplace_delta(grid, scale=1 / eps),
        "Gaussian (Definition 5)": gaussian_delta(grid, scale=classical),
        "analytic Gaussian": gaussian_delta(grid, scale=analytic),
    }
    return pd.concat([pd.DataFrame({"mechanism": name, "eps": grid, "delta": curve}) for name, curve in curves.items()])


def promises(deltas: Iterable[float], eps: Collection[float]) -> pd.DataFrame:
    """Definition 5 against the exact delta and against the least noise that suffices.

    Columns: delta, eps, noise (standard deviation over the least; above 1 is waste), kept (exact over promised delta;
    above 1 the promise is broken), analytic (the same of the least noise).
    """
    rows = []
    for delta in deltas:
        for e in eps:
            classical = mechanisms.classical_gaussian_scale(eps=e, delta=delta)
            least = mechanisms.analytic_gaussian_scale(eps=e, delta=delta)
            kept, analytic = (gaussian_delta(e, scale=scale) / delta for scale in (classical, least))
            rows.append((delta, e, classical / least, kept, analytic))
    return pd.DataFrame(rows, columns=["delta", "eps", "noise", "kept", "analytic"])


def worst_promise() -> tuple[float, float]:
    """The delta at which Definition 5 breaks first, and the eps up to which it holds there: a numerical minimum."""
    least, most = 1e-300, 0.999999

    def limit(c: float) -> float:
        delta = min(max(1.25 * math.exp(-c * c / 2), least), most)
        return mechanisms.classical_gaussian_limit(delta=delta)

    low, high = (math.sqrt(2 * math.log(1.25 / delta)) for delta in (most, least))
    grid = np.geomspace(low, high, 60).tolist()
    k = min(range(1, 59), key=lambda i: limit(grid[i]))
    found = minimize_scalar(limit, bounds=(grid[k - 1], grid[k + 1]), method="bounded", options={"xatol": 1e-9})
    return 1.25 * math.exp(-(float(found.x) ** 2) / 2), float(found.fun)


def variances(*, eps: float, deltas: Iterable[float], dimensions: Collection[int]) -> pd.DataFrame:
    """Variance per coordinate of the noise that Definitions 4 and 5 add for the same eps.

    A record that moves m of the d answers by 1 each makes an l1 sensitivity of m and an l2 sensitivity of sqrt(m).
    Columns: shape (what a record moves), delta, d, moved (m), laplace, gaussian.
    """
    rows = []
    for delta in deltas:
        for d in dimensions:
            shapes = {"every coordinate": d, "two cells of a histogram": min(2, d), "one coordinate": 1}
            for shape, moved in shapes.items():
                laplace = 2 * (moved / eps) ** 2
                gaussian = mechanisms.classical_gaussian_scale(eps=eps, delta=delta, sensitivity=moved**0.5) ** 2
                rows.append((shape, delta, d, moved, laplace, gaussian))
    return pd.DataFrame(rows, columns=["shape", "delta", "d", "moved", "laplace", "gaussian"])


def _lines(table: pd.DataFrame, by: str, x: str, y: pd.Series, label: str) -> tuple[Figure, Axes]:
    """A line for each value of a column, in the order of the table; `label` is formatted with the value as text."""
    figure, axis = plt.subplots(figsize=(4.8, 3.2), layout="constrained")
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
    """`promises`: exact over promised delta against eps, a line a delta."""
    figure, axis = _lines(table, "delta", "eps", table["kept"], r"$\delta$ = {}")
    axis.axhline(1.0, **role("reference"))
    axis.annotate("above: broken", (float(table["eps"].min()), 1.0), xytext=(4, 6), textcoords="offset points")
    axis.set(xlabel=r"promised $\epsilon$", ylabel=r"exact $\delta$ / promised $\delta$", yscale="log")
    axis.legend()
    return figure


@keeps_data
def noise_by_dimension(table: pd.DataFrame) -> Figure:
    """`variances` at one delta: variance of the Gaussian over that of Laplace noise against d, a line a shape."""
    figure, axis = _lines(table, "shape", "d", table["gaussian"] / table["laplace"], "{}")
    axis.axhline(1.0, **role("reference"))
    axis.annotate("below: Laplace is the noisier one", (1, 1.0), xytext=(4, -14), textcoords="offset points")
    for line, (right, up) in zip(axis.lines, ((-16, 0), (-1, 11), (-1, 8)), strict=False):
        x, y = np.asarray(line.get_xydata())[-1]
        name_line(axis, float(x), float(y), str(line.get_label()), colour=str(line.get_color()), right=right, up=up)
    axis.set(xlabel="number of coordinates $d$", ylabel="variance of Gaussian (8) / Laplace (7)")
    axis.set(xscale="log", yscale="log")
    axis.margins(y=0.1)
    return figure

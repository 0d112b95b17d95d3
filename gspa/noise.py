"""Definitions 4 and 5 of Chen et al. 2024 evaluated: what the noise really gives, and which noise is the smaller.

>>> sensitivities("every coordinate", 9)
(9.0, 3.0)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.optimize import brentq

from gspa import _validate as check
from gspa import mechanisms

# How one record moves the answers of a query.
SHAPES = ("every coordinate", "two cells of a histogram", "one coordinate")


def laplace_losses(*, eps: float, dimensions: Sequence[int], draws: int, seed: int) -> pd.DataFrame:
    """Privacy losses of Definition 4's noise for random answers 1 apart in the l1 norm.

    Returns:
        `d`, `largest` (over random reports, in units of eps), `at_answer` (at the answer itself, its supremum).
    """
    source, draws = check.rng(seed), check.count(draws=draws)
    scale = mechanisms.laplace_scale(eps=check.in_range(1e-9, 1e9, eps=eps))
    rows = []
    for d in check.counts(dimensions=dimensions):
        shift = source.dirichlet(np.ones(d), draws) * source.choice([-1.0, 1.0], (draws, d))
        report = scale * source.laplace(size=(draws, d))
        loss = (np.abs(report - shift).sum(axis=1) - np.abs(report).sum(axis=1)) / scale
        at_answer = np.abs(shift).sum(axis=1).max() / scale
        rows.append({"d": d, "largest": float(loss.max()) / eps, "at_answer": float(at_answer) / eps})
    return pd.DataFrame(rows)


def laplace_curve(*, eps: float, fractions: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 0.99, 1.0)) -> pd.DataFrame:
    """delta of Definition 4's noise in one dimension, by its closed form and by integrating the densities.

    Returns:
        `eps` (a fraction of the promised one), `closed`, `integrated`.
    """
    scale = mechanisms.laplace_scale(eps=check.in_range(1e-9, 100, eps=eps))
    rows = []
    for fraction in check.numbers(0, 7, fractions=fractions):
        at = fraction * eps

        def excess(x: float, at: float = at) -> float:
            first, second = math.exp(-abs(x) / scale), math.exp(at - abs(x - 1) / scale)
            return max(first - second, 0.0) / (2 * scale)

        # The integrand has kinks at 0, at 1 and where the loss is eps; beyond 60 scales nothing is left.
        kinks = sorted({-60 * scale, 0.0, min(max((1 - at * scale) / 2, 0.0), 1.0), 1.0, 1 + 60 * scale})
        parts = [quad(excess, a, b, limit=200)[0] for a, b in pairwise(kinks)]
        closed = mechanisms.laplace_delta(at, scale=scale)
        rows.append({"eps": at, "closed": closed, "integrated": math.fsum(parts)})
    return pd.DataFrame(rows)


def promise_limits(deltas: Sequence[float]) -> pd.DataFrame:
    """Up to which eps Definition 5 keeps its promise.

    Returns:
        `delta`, `limit`, `below` and `beyond` (exact delta over the promised one, 1% below and beyond the limit),
        `at_one` (the same at eps = 1), and `epsilon_at_two` (the exact eps at delta when 2 is promised).
    """
    rows = []
    for delta in check.row(deltas=deltas):
        limit = mechanisms.classical_gaussian_limit(delta=delta)
        kept = [_kept(eps, delta) for eps in (0.99 * limit, 1.01 * limit, 1.0)]
        scale = mechanisms.classical_gaussian_scale(eps=2.0, delta=delta)
        exact = mechanisms.gaussian_epsilon(delta=delta, scale=scale)
        rows.append((delta, limit, *kept, exact))
    return pd.DataFrame(rows, columns=["delta", "limit", "below", "beyond", "at_one", "epsilon_at_two"])


def _kept(eps: float, delta: float) -> float:
    """Exact over promised delta of Definition 5's noise; above 1 the promise is broken."""
    scale = mechanisms.classical_gaussian_scale(eps=eps, delta=delta)
    return mechanisms.gaussian_delta(eps, scale=scale) / delta


def promise_curves(deltas: Sequence[float], eps: ArrayLike) -> pd.DataFrame:
    """Definition 5 against the exact delta and against the least noise that suffices.

    Returns:
        One row for each delta and eps: `delta`, `eps`, `classical` and `analytic` (standard deviations at sensitivity
        1), `noise` (their quotient; above 1 Definition 5 wastes noise), `kept` (exact over promised delta; above 1
        it breaks its promise) and `analytic_kept`.
    """
    rows = []
    for delta in check.row(deltas=deltas):
        for e in np.atleast_1d(check.array_in(0, 1e4, eps=eps)).ravel().tolist():
            classical = mechanisms.classical_gaussian_scale(eps=e, delta=delta)
            analytic = mechanisms.analytic_gaussian_scale(eps=e, delta=delta)
            repaired = mechanisms.gaussian_delta(e, scale=analytic) / delta
            row = (delta, e, classical, analytic, classical / analytic, _kept(e, delta), repaired)
            rows.append(row)
    return pd.DataFrame(rows, columns=["delta", "eps", "classical", "analytic", "noise", "kept", "analytic_kept"])


def sensitivities(shape: str, d: int) -> tuple[float, float]:
    """l1 and l2 sensitivity of d answers, by how one record moves them.

    Each answer by up to 1; one up and one down by 1, from one cell of a histogram to another; a single answer by up
    to 1. In every case the l1 sensitivity is at most sqrt(d) times the other.

    Raises:
        UnknownName: no such shape.
    """
    moved = dict(zip(SHAPES, (check.count(d=d), min(2, d), 1), strict=True))[check.one_of(SHAPES, shape=shape)]
    return float(moved), math.sqrt(moved)


def noise_table(*, eps: float, deltas: Sequence[float], dimensions: Sequence[int]) -> pd.DataFrame:
    """Variance per coordinate of the noise that Definitions 4 and 5 add for the same eps.

    Returns:
        One row for each shape, delta and number of coordinates: `shape`, `delta`, `d`, `laplace`, `classical`,
        `analytic` (variances), `smaller` ("Laplace" or "Gaussian": Definition 4 against 5), and `rule`: the same by
        comparing the squared quotient of the sensitivities with log(1.25/delta).
    """
    rows = []
    # Every scale is proportional to the sensitivity.
    variance = 2 * mechanisms.laplace_scale(eps=check.in_range(1e-100, 1e100, eps=eps)) ** 2
    dimensions = check.counts(dimensions=dimensions)
    for delta in check.row(deltas=deltas):
        by_formula = mechanisms.classical_gaussian_scale(eps=eps, delta=delta) ** 2
        least = mechanisms.analytic_gaussian_scale(eps=eps, delta=delta) ** 2
        for shape in SHAPES:
            for d in dimensions:
                l1, l2 = sensitivities(shape, d)
                laplace, classical, analytic = l1**2 * variance, l2**2 * by_formula, l2**2 * least
                smaller = "Gaussian" if classical < laplace else "Laplace"
                rule = "Gaussian" if (l1 / l2) ** 2 > math.log(1.25 / delta) else "Laplace"
                rows.append((shape, delta, d, laplace, classical, analytic, smaller, rule))
    columns = ["shape", "delta", "d", "laplace", "classical", "analytic", "smaller", "rule"]
    return pd.DataFrame(rows, columns=columns)


def first_dimension(table: pd.DataFrame, *, shape: str, delta: float, noise: str = "classical") -> int | None:
    """The least number of coordinates at which a Gaussian has less variance than Laplace noise; None if there is none.

    Args:
        table: from `noise_table`.
        shape: one of `SHAPES`.
        delta: one of the table's.
        noise: "classical" or "analytic".
    """
    shape, noise = check.one_of(SHAPES, shape=shape), check.one_of(("classical", "analytic"), noise=noise)
    delta = check.probability(delta=delta)
    part = table[(table["shape"] == shape) & (table["delta"] == delta)]
    found = part.loc[part[noise] < part["laplace"], "d"]
    return None if found.empty else int(found.min())


def equal_variance(deviations: Sequence[float]) -> pd.DataFrame:
    """Laplace and Gaussian noise of one variance on one number of sensitivity 1: which one is the more private.

    Returns:
        `deviation` (standard, of both), `laplace_eps` (from which on Laplace needs no delta), `laplace_0` and
        `gaussian_0` (delta at eps = 0: total variation), `crossing` (the eps below which the Gaussian has the smaller
        delta, NaN where Laplace has it everywhere), `gaussian_delta` (the Gaussian's delta at `laplace_eps`).
    """
    rows = []
    for deviation in check.row(deviations=deviations):
        scale = check.positive(deviation=deviation) / math.sqrt(2)
        top = 1 / scale

        def lead(eps: float, scale: float = scale, deviation: float = deviation) -> float:
            return mechanisms.laplace_delta(eps, scale=scale) - mechanisms.gaussian_delta(eps, scale=deviation)

        first = (mechanisms.laplace_delta(0.0, scale=scale), mechanisms.gaussian_delta(0.0, scale=deviation))
        crossing = float(brentq(lead, 0.0, top)) if lead(0.0) > 0 else math.nan
        rows.append((deviation, top, *first, crossing, mechanisms.gaussian_delta(top, scale=deviation)))
    columns = ["deviation", "laplace_eps", "laplace_0", "gaussian_0", "crossing", "gaussian_delta"]
    return pd.DataFrame(rows, columns=columns)


def privacy_curves(*, eps: float, delta: float, eps_max: float, points: int) -> pd.DataFrame:
    """Exact delta of three mechanisms that all promise eps, on one number of sensitivity 1.

    Returns:
        One row for each mechanism and eps: `mechanism`, `promise` (its delta), `eps`, `delta`.
    """
    grid = np.linspace(0.0, check.positive(eps_max=eps_max), check.count(2, points=points))
    grid = np.union1d(grid, check.positive(eps=eps))  # where Laplace ends
    laplace = mechanisms.laplace_scale(eps=eps)
    classical = mechanisms.classical_gaussian_scale(eps=eps, delta=delta)
    analytic = mechanisms.analytic_gaussian_scale(eps=eps, delta=delta)
    curves = {
        "Laplace (Definition 4)": (0.0, mechanisms.laplace_delta(grid, scale=laplace)),
        "Gaussian (Definition 5)": (delta, mechanisms.gaussian_delta(grid, scale=classical)),
        "analytic Gaussian": (delta, mechanisms.gaussian_delta(grid, scale=analytic)),
    }
    parts = [
        pd.DataFrame({"mechanism": name, "promise": promise, "eps": grid, "delta": values})
        for name, (promise, values) in curves.items()
    ]
    return pd.concat(parts, ignore_index=True)

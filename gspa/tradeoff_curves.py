"""Trade-off curves as tidy tables, for figures; continuous pairs by their cells.

>>> round(float(laplace_tradeoff(0.5, shift=1.0)), 6)
0.18394
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from gspa import _validate as check
from gspa.discrete import neyman_pearson
from gspa.hypothesis_testing import chained, fact_1, printed_fact_1
from gspa.tradeoff import Curve, Reals, _like, f_eps_delta, gaussian, gdp_delta

Array = NDArray[np.float64]

_MOST_MU = 16.0  # beyond it 1 - delta(0) has no digits
_TAIL = 12.0  # cells reach this many scales beyond both centres; the last ones hold the tails


def laplace_tradeoff(alpha: Reals, *, shift: float) -> Reals:
    """The trade-off function of Lap(0, 1) against Lap(shift, 1); exact.

    With a = e^{-shift}/2: 1 - e^shift alpha up to a, e^{-shift}/(4 alpha) up to 1/2, e^{-shift}(1 - alpha) beyond.

    Args:
        alpha: type I error(s) in [0, 1].
        shift: >= 0, in scales of the noise.

    Raises:
        InvalidValue: an argument outside its range.
    """
    a = check.array_in(0, 1, alpha=alpha)
    shrunk = max(math.exp(-check.nonnegative(shift=shift)), np.finfo(np.float64).tiny)
    middle = shrunk / (4 * np.maximum(a, shrunk / 2))
    return _like(alpha, np.where(a < shrunk / 2, 1 - a / shrunk, np.where(a <= 0.5, middle, shrunk * (1 - a))))


def _laplace_cdf(x: Array) -> Array:
    half = 0.5 * np.exp(-np.abs(x))
    return np.where(x < 0, half, 1 - half)


def continuous_pairs(*, shift: float, cells: Sequence[int], points: int = 401) -> pd.DataFrame:
    """Neyman and Pearson's lemma on the cells of two continuous pairs, against their closed forms.

    Cutting a line into cells is post-processing, so every curve of cells lies above the truth.

    Args:
        shift: > 0, of the second law, in scales of the noise.
        cells: how many.
        points: of alpha.

    Returns:
        `pair`, `cells`, `above` (largest curve of cells - truth), `below` (largest truth - curve, rounding only).
    """
    alpha, shift = np.linspace(0, 1, check.count(2, points=points)), check.in_range(1e-9, 30, shift=shift)
    pairs: Mapping[str, tuple[Callable[[Array], Array], Array]] = {
        "Gaussian": (ndtr, gaussian(alpha, mu=shift)),
        "Laplace": (_laplace_cdf, laplace_tradeoff(alpha, shift=shift)),
    }
    rows = []
    for name, (cdf, truth) in pairs.items():
        for size in check.row(cells=cells):
            edges = np.r_[-np.inf, np.linspace(-_TAIL, shift + _TAIL, check.count(3, cells=size) - 1), np.inf]
            p, q = np.diff(cdf(edges)), np.diff(cdf(edges - shift))
            gap = neyman_pearson(p / p.sum(), q / q.sum())(alpha) - truth
            rows.append((name, size, gap.max(), -gap.min()))
    return pd.DataFrame(rows, columns=["pair", "cells", "above", "below"])


def _tidy(curves: Mapping[str, Curve], points: int) -> pd.DataFrame:
    alpha = np.linspace(0, 1, check.count(2, points=points))
    parts = [pd.DataFrame({"curve": name, "alpha": alpha, "beta": curve(alpha)}) for name, curve in curves.items()]
    return pd.concat(parts, ignore_index=True)


def of_pairs(*, eps: float, points: int = 201) -> pd.DataFrame:
    """Curves of four pairs: no information, randomized response and Laplace noise of one eps, Gaussians at mu = eps.

    Returns:
        `curve`, `alpha`, `beta`.
    """
    eps = check.in_range(0, 700, eps=check.positive(eps=eps))
    curves: dict[str, Curve] = {
        "no information": lambda a: 1 - a,
        f"Gaussian, mu = {eps:g}": lambda a: gaussian(a, mu=eps),
        f"Laplace, eps = {eps:g}": lambda a: laplace_tradeoff(a, shift=eps),
        f"randomized response, eps = {eps:g}": lambda a: f_eps_delta(a, eps=eps, delta=0.0),
    }
    return _tidy(curves, points)


def of_fact_1(*, eps: float, delta: float, points: int = 401) -> pd.DataFrame:
    """f of Fact 1, corrected and as printed, and the curve of a mechanism that ignores its input.

    Returns:
        `curve`, `alpha`, `beta`.
    """
    curves: dict[str, Curve] = {
        "input ignored": lambda a: 1 - a,
        "f, corrected": fact_1(eps=eps, delta=delta).__call__,
        "f, as printed": printed_fact_1(eps=eps, delta=delta).__call__,
    }
    return _tidy(curves, points)


def of_fact_3(*, mu: float, tangents: int, points: int = 401) -> pd.DataFrame:
    """G_mu, mu at most 16, and some of the f_{eps, delta(eps)} below it, eps from 0 to mu (mu/2 + 2).

    Returns:
        `curve`, `alpha`, `beta`; G_mu comes last.
    """
    mu = check.in_range(0, _MOST_MU, mu=check.positive(mu=mu))
    alpha = np.linspace(0, 1, check.count(2, points=points))
    levels = np.linspace(0.0, mu * (mu / 2 + 2), check.count(2, tangents=tangents)).tolist()
    parts = []
    for eps in levels:
        delta = gdp_delta(eps, mu=mu)
        name = f"eps = {eps:.2g}, delta = {delta:.2g}"
        parts.append(pd.DataFrame({"curve": name, "alpha": alpha, "beta": f_eps_delta(alpha, eps=eps, delta=delta)}))
    parts.append(pd.DataFrame({"curve": f"G, mu = {mu:g}", "alpha": alpha, "beta": gaussian(alpha, mu=mu)}))
    return pd.concat(parts, ignore_index=True)


def of_fact_4(*, points: int = 401) -> pd.DataFrame:
    """T(P, R) and g(1 - f) in both orders for three laws on three outcomes; one of the orders is no bound.

    Returns:
        `curve`, `alpha`, `beta`.
    """
    p, q, r = [0.9, 0.0, 0.1], [0.6, 0.2, 0.2], [0.0, 0.3, 0.7]
    pq, qr = neyman_pearson(p, q), neyman_pearson(q, r)
    curves: dict[str, Curve] = {
        "T(P, R)": neyman_pearson(p, r).__call__,
        "g(1 - f), f of P, Q and g of Q, R": chained(pq, qr).__call__,
        "f(1 - g), the other order": chained(qr, pq).__call__,
    }
    return _tidy(curves, points)

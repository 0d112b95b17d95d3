"""Fact 3 of Chen et al. 2024 by other means: integrals, envelopes, convolved privacy losses, chains of curves.

Nothing here uses the closed form that it is compared with.

>>> round(integrated_delta(1.0, mu=1.0), 6)
0.126937
>>> low, high = composed_delta([0.6, 0.8], 1.0)  # hypot(0.6, 0.8) = 1
>>> low < 0.1269367 < high
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.signal import fftconvolve
from scipy.special import ndtr

from gspa import _validate as check
from gspa.tradeoff import (
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

Array = NDArray[np.float64]

_REACH = 9.0  # standard deviations kept of each privacy loss; outside them lies 1e-19
_LEAST_MU, _MOST_MU = 1e-100, 1e4
_MOST_ENVELOPE_MU = 30.0  # e^eps is a double at the largest eps, mu (mu/2 + 6)
_CELLS = 2**15  # of the widest privacy loss


def integrated_delta(eps: float, *, mu: float) -> float:
    """The hockey-stick divergence of N(0, 1) against N(mu, 1), by integrating the two densities.

    Args:
        eps: >= 0.
        mu: > 0.

    Raises:
        InvalidValue: an argument outside its range.
    """
    eps, mu = check.nonnegative(eps=eps), check.positive(mu=mu)
    root = mu / 2 - eps / mu  # below it the first density is more than e^eps times the second

    def excess(x: float) -> float:
        return math.exp(-x * x / 2) * -math.expm1(eps + mu * x - mu * mu / 2) / math.sqrt(2 * math.pi)

    parts = [quad(excess, root - step - 4, root - step, epsabs=0, epsrel=1e-12)[0] for step in (0.0, 4.0, 8.0)]
    return math.fsum(parts)


def composed_delta(mus: Sequence[float], eps: float) -> tuple[float, float]:
    """delta(eps) of the product of the pairs N(0, 1), N(mu_i, 1): a lower and an upper end, by convolution.

    The privacy loss of each pair is rounded down and up to a grid. Proved but for the rounding of the convolution,
    about 1e-15 absolute.

    Args:
        mus: each in [1e-100, 1e4].
        eps: >= 0.

    Raises:
        InvalidValue: an argument outside its range, no mu.
    """
    eps = check.nonnegative(eps=eps)
    mus = check.numbers(_LEAST_MU, _MOST_MU, mus=mus)
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


def curve_table(*, mus: Sequence[float], eps: Sequence[float]) -> pd.DataFrame:
    """Fact 3's delta(eps) beside its integral, and beside the delta that G_mu gives.

    Returns:
        `mu`, `eps`, `formula`, `integral`, `from_curve` (the supremum of 1 - G_mu(alpha) - e^eps alpha).
    """
    rows = []
    eps = check.row(eps=eps)
    for mu in check.row(mus=mus):
        for e in eps:
            curve = delta_from_tradeoff(lambda a, mu=mu: gaussian(a, mu=mu), e)  # type: ignore[misc]
            rows.append((mu, e, gdp_delta(e, mu=mu), integrated_delta(e, mu=mu), curve))
    return pd.DataFrame(rows, columns=["mu", "eps", "formula", "integral", "from_curve"])


def envelope_table(*, mus: Sequence[float], sizes: Sequence[int], points: int = 401) -> pd.DataFrame:
    """The converse in Fact 3: what (eps, delta(eps))-DP for eps >= 0 implies, against G_mu.

    Args:
        mus: each > 0.
        sizes: how many eps, evenly from 0 to mu (mu/2 + 6).
        points: of alpha.

    Returns:
        `mu`, `size`, `below` (largest G_mu - envelope), `above` (largest envelope - G_mu, rounding only), and
        `one_order` (largest G_mu - envelope if only one order of the two data sets were bounded).
    """
    alpha = np.linspace(0, 1, check.count(2, points=points))
    rows = []
    sizes = check.row(sizes=sizes)
    for mu in check.numbers(0, _MOST_ENVELOPE_MU, mus=mus):
        truth = gaussian(alpha, mu=mu)
        for size in sizes:
            eps = np.linspace(0, mu * (mu / 2 + 6), check.count(2, size=size))
            delta = gdp_delta(eps, mu=mu)
            gap = truth - tradeoff_from_delta(alpha, eps, delta)
            one = np.maximum(0.0, 1 - delta[:, None] - np.exp(eps)[:, None] * alpha).max(axis=0)
            rows.append((mu, size, gap.max(), -gap.min(), (truth - one).max()))
    return pd.DataFrame(rows, columns=["mu", "size", "below", "above", "one_order"])


def composition_table(*, families: Sequence[Sequence[float]], eps: Sequence[float]) -> pd.DataFrame:
    """Fact 3's composition: delta of mu = sqrt(sum mu_i^2) beside the convolved privacy losses.

    Returns:
        `mus`, `mu`, `eps`, `formula`, `lower`, `upper`.
    """
    rows = []
    eps = check.row(eps=eps)
    for family in check.row(families=families):
        mus = check.numbers(_LEAST_MU, _MOST_MU, mus=family)
        mu = compose_gdp(mus)
        for e in eps:
            low, high = composed_delta(mus, e)
            rows.append((", ".join(f"{m:g}" for m in mus), mu, e, gdp_delta(e, mu=mu), low, high))
    return pd.DataFrame(rows, columns=["mus", "mu", "eps", "formula", "lower", "upper"])


def grouped(f: Curve, *, k: int) -> Curve:
    """The trade-off function that f-DP gives groups of k records: f chained k times.

    Dong, Roth and Su 2022, Theorem 2.14: 1 - (1 - f) applied k times.

    Args:
        f: trade-off function that takes an array.
        k: >= 1.

    Raises:
        InvalidValue: k below 1.

    >>> twice = grouped(lambda a: gaussian(a, mu=1.0), k=2)
    >>> round(float(twice(np.array(0.3))) - gaussian(0.3, mu=2.0), 12)
    0.0
    """
    curve = f
    for _ in range(check.count(k=k) - 1):
        curve = chain(curve, f)
    return curve


def group_table(*, mus: Sequence[float], eps: float, delta: float, sizes: Sequence[int]) -> pd.DataFrame:
    """Group privacy of three curves: f chained k times, beside the usual rule for groups of k.

    Returns:
        `curve`, `k`, `rule`, `most` and `least`: largest and smallest chained minus rule over alpha in (0, 1).
    """
    alpha = np.linspace(0, 1, 2001)[1:-1]
    rows = []
    eps, delta = check.in_range(0, 100, eps=check.positive(eps=eps)), check.probability(delta=delta)
    mus = check.row(mus=mus)
    for k in check.counts(sizes=sizes):
        for mu in mus:
            gap = grouped(lambda a, mu=mu: gaussian(a, mu=mu), k=k)(alpha) - gaussian(alpha, mu=group_gdp(mu, k=k))  # type: ignore[misc]
            rows.append((f"mu = {mu:g}", k, f"mu = {group_gdp(mu, k=k):g}", gap.max(), gap.min()))
        for d in dict.fromkeys((0.0, delta)):
            # (eps, delta)-DP for groups of k: (k eps, delta (e^{k eps} - 1)/(e^eps - 1)).
            total = min(d * math.expm1(k * eps) / math.expm1(eps), 1 - 1e-12)
            chained = grouped(lambda a, d=d: f_eps_delta(a, eps=eps, delta=d), k=k)(alpha)  # type: ignore[misc]
            gap = chained - f_eps_delta(alpha, eps=k * eps, delta=total)
            names = (f"eps = {eps:g}, delta = {d:g}", k, f"eps = {k * eps:g}, delta = {total:.3g}")
            rows.append((*names, gap.max(), gap.min()))
    return pd.DataFrame(rows, columns=["curve", "k", "rule", "most", "least"])

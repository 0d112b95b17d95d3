"""The Renyi bound of Girgis et al., CCS 2021, and its conversion to (eps, delta).

>>> round(girgis21_renyi(0.5, n=10_000, order=2), 6)
8.4e-05
>>> round(girgis21_epsilon(0.5, n=10_000, delta=1e-4), 6)
0.029888
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from gspa import _validate as check
from gspa.errors import InvalidValue, OutsideValidity

Array = NDArray[np.float64]

GIRGIS21 = "Girgis et al. 2021, Renyi bound"
_LARGEST_ORDER = 2**16


def _log_sinh(x: float) -> float:
    """log sinh x for x >= 0."""
    return x - math.log(2) + math.log(-math.expm1(-2 * x)) if x > 0 else -math.inf


@cache
def _log_factorials(size: int) -> Array:
    """log j! for j < size."""
    return np.asarray(gammaln(np.arange(size) + 1.0))


@cache
def _log_weights(size: int) -> Array:
    """log(j Gamma(j/2)/j!) for 3 <= j < size."""
    j = np.arange(3.0, size)
    return np.asarray(np.log(j) + gammaln(j / 2) - gammaln(j + 1))


def girgis21_renyi(eps0: float, *, n: int, order: int) -> float:
    """Renyi divergence of integer order that shuffling n reports costs at most, in nats.

    log(1 + C(l,2) (p-1)^2/(m p) + sum_{j=3}^l C(l,j) j Gamma(j/2) ((p^2-1)^2/(2 p^2 m))^{j/2}
    + e^{eps0 l - (n-1)/(8 p)})/(l-1), p = e^{eps0}, l = `order`, m = floor((n-1)/(2p)) + 1.

    Girgis, Data, Diggavi, Suresh and Kairouz 2021 (CCS 2021, arXiv:2105.05180), upper bound, for any common
    eps0-LDP randomizer. Stated for every eps0 and n; while n is small the value is above eps0 and says
    nothing.

    Args:
        eps0: common local budget, >= 0.
        n: number of users, >= 2; one is refused.
        order: integer in [2, 65536].

    Raises:
        InvalidValue: an argument outside its domain.
        OutsideValidity: n = 1.

    >>> girgis21_renyi(0.5, n=10_000, order=1)
    Traceback (most recent call last):
        ...
    gspa.errors.InvalidValue: order = 1: must be an integer >= 2
    """
    eps0, n, order = check.nonnegative(eps0=eps0), check.count(n=n), check.count(2, order=order)
    if n < 2:
        raise OutsideValidity(GIRGIS21, "n >= 2 users", f"n = {n}")
    if order > _LARGEST_ORDER:
        raise InvalidValue("order", order, f"at most {_LARGEST_ORDER}")
    return _renyi(eps0, n, order)


def _log_sum_exp(terms: Array) -> float:
    """scipy's logsumexp for one row of numbers, at a tenth of its cost."""
    largest = int(np.argmax(terms))
    top = float(terms[largest])
    if not math.isfinite(top):
        return top
    parts = np.exp(terms - top)
    parts[largest] = 0.0
    return top + math.log1p(float(parts.sum()))


def _renyi(eps0: float, n: int, order: int) -> float:
    if eps0 == 0:
        return 0.0  # the reports say nothing; the formula keeps its last term
    m = math.floor((n - 1) * math.exp(-eps0) / 2) + 1
    # (p-1)^2/p = 4 sinh(eps0/2)^2 and (p^2-1)^2/(2 p^2) = 2 sinh(eps0)^2.
    log_pairs = math.log(order * (order - 1) / 2) + math.log(4) + 2 * _log_sinh(eps0 / 2) - math.log(m)
    log_scale = 0.5 * (math.log(2 / m) + 2 * _log_sinh(eps0))
    size = 64 << max(0, (order // 64).bit_length())  # few sizes, so that the tables are shared
    factorials, weights = _log_factorials(size), _log_weights(size)
    j = np.arange(3, order + 1)
    # C(l,j) j Gamma(j/2) = l!/(l-j)! * j Gamma(j/2)/j!
    terms = factorials[order] - factorials[order - j] + weights[: order - 2] + j * log_scale
    last = eps0 * order - (n - 1) * math.exp(-eps0) / 8
    log_excess = _log_sum_exp(np.append(terms, [log_pairs, last]))
    return float(np.logaddexp(0.0, log_excess)) / (order - 1)


def renyi_to_epsilon(divergence: float, *, order: float, delta: float) -> float:
    """Central epsilon that a bound on the Renyi divergence of one order > 1 gives at delta; at least 0.

    divergence + log((order-1)/order) - (log delta + log order)/(order-1): Canonne, Kamath and Steinke 2020
    (arXiv:2004.00010), Proposition 12, and Balle et al. 2020 (arXiv:1905.09982), Theorem 21. An upper
    bound, for every order.

    Raises:
        InvalidValue: an argument outside its domain.

    >>> round(renyi_to_epsilon(0.01, order=30, delta=1e-4), 6)
    0.176414
    """
    divergence, order = check.nonnegative(divergence=divergence), check.positive(order=order)
    delta = check.probability(allow_zero=False, delta=delta)
    if order <= 1:
        raise InvalidValue("order", order, "> 1")
    return max(0.0, divergence + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1))


def girgis21_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """Central epsilon from `girgis21_renyi`, the least over integer orders found by search.

    Girgis et al. 2021 (arXiv:2105.05180), converted by `renyi_to_epsilon`. An upper bound, since every
    order gives one: the search doubles the order until the value rises, then halves the bracket.
    Can exceed eps0.

    Args:
        eps0: common local budget, >= 0.
        n: number of users, >= 2; one is refused.
        delta: central delta in (0, 1).

    Raises:
        InvalidValue: an argument outside its domain.
        OutsideValidity: n = 1.

    >>> girgis21_epsilon(0.5, n=10**6, delta=1e-4) < 0.006
    True
    """
    eps0, n = check.nonnegative(eps0=eps0), check.count(n=n)
    delta = check.probability(allow_zero=False, delta=delta)
    if n < 2:
        raise OutsideValidity(GIRGIS21, "n >= 2 users", f"n = {n}")
    if eps0 == 0:
        return 0.0
    values: dict[int, float] = {}

    def value(order: int) -> float:
        if order not in values:
            values[order] = renyi_to_epsilon(_renyi(eps0, n, order), order=order, delta=delta)
        return values[order]

    top = 2
    while 2 * top <= _LARGEST_ORDER and value(2 * top) < value(top):
        top *= 2
    low, high = max(2, top // 2), min(2 * top, _LARGEST_ORDER)
    while high - low > 2:
        middle = (low + high) // 2
        if value(middle) <= value(middle + 1):
            high = middle + 1
        else:
            low = middle
    value(low), value(high), value((low + high) // 2)
    return min(values.values())

"""Laplace and Gaussian mechanisms: the scale a promise asks for, and the privacy a scale really gives.

Definitions 4 and 5 of Chen et al. 2024 and the analytic Gaussian mechanism of Balle and Wang 2018
(arXiv:1805.06530). Noise is added to each coordinate independently: of a scale > 0, a Gaussian's its standard
deviation, for a sensitivity > 0, in the l1 norm for Laplace noise and in the l2 norm for Gaussian. The promise of
Definition 5 holds up to a certain eps only:

>>> scale = classical_gaussian_scale(eps=9.0, delta=1e-5)
>>> gaussian_delta(9.0, scale=scale) <= 1e-5
False
>>> round(classical_gaussian_limit(delta=1e-5), 4)
8.4198
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from gspa.accountant import arguments as check
from gspa.accountant import tradeoff
from gspa.accountant.bound import Ends, enclosed
from gspa.accountant.roots import crossing
from gspa.accountant.tradeoff import Reals, gdp_delta, like

# gdp_log_delta errs by less than 1e-11 (its docstring); what is certified here keeps that far away.
_LOG_SLACK = 2e-11
_MOST_DELTA = 0.999999  # nearer to 1 that slack would be seen
_UNITS = 2.0**-50  # eight roundings
_LEAST = 1e-323  # two of the smallest doubles: what a number below all others with all their digits may be off by


def apart(sensitivity: float, scale: float) -> Ends:
    """sensitivity / scale, from below and from above.

    >>> apart(1.0, 0.5)
    (2.0, 2.0)
    """
    over, under = check.positive(sensitivity=sensitivity), check.positive(scale=scale)
    return enclosed(Fraction(over) / Fraction(under))


def alone_delta(noise: str, eps: float, gap: Ends) -> Ends:
    """delta(eps) of one noisy number, nobody else's beside it: below and above it, roundings allowed for.

    Args:
        noise: "laplace", or "gaussian" for any number of coordinates.
        eps: >= 0.
        gap: bounds on how far apart the two inputs are, in scales or standard deviations of the noise.

    >>> alone_delta("laplace", 1.0, (1.0, 1.0)), alone_delta("laplace", 1.0, (1.0, 1.0 + 2**-52))[1] > 2.0**-53
    ((0.0, 0.0), True)
    """
    if noise == "laplace":
        low, high = (0.0 - math.expm1(min((eps - one) / 2, 0.0)) for one in gap)
        return low * (1 - _UNITS), min(high * (1 + _UNITS), 1.0)
    low, high = (math.exp(tradeoff.gdp_log_delta_end(eps, mu=gap[i], side=side)) for i, side in enumerate((-1, 1)))
    return max(low - _LEAST, 0.0), min(high + _LEAST, 1.0)


def alone_epsilon(noise: str, delta: float, gap: Ends) -> Ends:
    """The other way round: the least eps at delta in (0, 1), from below and from above.

    >>> low, high = alone_epsilon("laplace", 0.5, (3.0, 3.0))
    >>> low < 3 - 2 * math.log(2) < high < low + 1e-14
    True
    """
    if noise == "gaussian":
        return tradeoff.gdp_epsilon_below(delta=delta, mu=gap[0]), tradeoff.gdp_epsilon(delta=delta, mu=gap[1])
    less = -2 * math.log1p(-delta)
    slack = _UNITS * (gap[1] + less)
    return max(gap[0] - less - slack, 0.0), min(max(gap[1] - less + slack, 0.0), gap[1])


def laplace_scale(*, eps: float, sensitivity: float = 1.0) -> float:
    """Scale of the Laplace noise that makes a query eps-DP: sensitivity / eps, rounded up.

    Implements Definition 4, eq. (7). Its variance is twice its square, in every coordinate.

    Args:
        eps: > 0.
        sensitivity: > 0, in the l1 norm.

    >>> laplace_scale(eps=0.5)
    2.0
    """
    return apart(sensitivity, check.positive(eps=eps))[1]


def laplace_delta(eps: Reals, *, scale: float, sensitivity: float = 1.0) -> Reals:
    """The least delta at which Laplace noise on one number is (eps, delta)-DP; errs upward, by roundings alone.

    With s = sensitivity/scale it is 1 - e^{(eps - s)/2} up to eps = s, and 0 from there on. In more than one
    coordinate it is exact for two answers that differ in a single one.

    Args:
        eps: number(s) >= 0.
        scale: > 0.
        sensitivity: > 0.

    >>> laplace_delta(1.0, scale=1.0), round(laplace_delta(0.0, scale=1.0), 6)
    (0.0, 0.393469)
    """
    e, s = check.array_in(0, math.inf, eps=eps), apart(sensitivity, scale)[1]
    return like(eps, 0.0 - np.maximum(np.expm1(np.minimum((e - s) / 2, 0.0)) * (1 + _UNITS), -1.0))


def _classical(delta: float) -> float:
    """sqrt(2 log(1.25/delta)): eps over mu of Definition 5's noise."""
    return math.sqrt(2 * math.log(1.25 / delta))


def classical_gaussian_scale(*, eps: float, delta: float, sensitivity: float = 1.0) -> float:
    """Standard deviation of Definition 5, eq. (8): sensitivity sqrt(2 log(1.25/delta)) / eps.

    Proved for eps < 1 (Dwork and Roth 2014, Theorem A.1), a condition that Definition 5 does not have. The
    promise holds exactly up to `classical_gaussian_limit`; the formula is evaluated beyond it too.

    Args:
        eps: > 0.
        delta: in (0, 1).
        sensitivity: > 0, in the l2 norm.

    >>> round(classical_gaussian_scale(eps=1.0, delta=1e-5), 6)
    4.844805
    """
    eps, delta = check.positive(eps=eps), check.probability(allow_zero=False, delta=delta)
    return check.positive(sensitivity=sensitivity) * _classical(delta) / eps


def gaussian_delta(eps: Reals, *, scale: float, sensitivity: float = 1.0) -> Reals:
    """The least delta at which Gaussian noise is (eps, delta)-DP; exact, in any number of coordinates.

    Fact 3 with mu = sensitivity/scale: only the distance of two answers matters (Balle and Wang 2018,
    Theorem 5). Relative error below 1e-11, to either side.
    Arguments and errors as `laplace_delta`, the scale a standard deviation and the sensitivity in the l2 norm.

    >>> round(gaussian_delta(0.0, scale=1.0), 6)
    0.382925
    """
    return gdp_delta(eps, mu=check.positive(sensitivity=sensitivity) / check.positive(scale=scale))


def analytic_gaussian_scale(*, eps: float, delta: float, sensitivity: float = 1.0) -> float:
    """The least standard deviation at which Gaussian noise is (eps, delta)-DP.

    Implements Balle and Wang 2018, Theorem 8, through Fact 3. Errs upward, by about 1e-11 relative in delta: the
    promise holds in exact arithmetic too. Arguments and errors as `classical_gaussian_scale`, eps in [0, 1e4] and
    delta >= 1e-300.

    >>> round(analytic_gaussian_scale(eps=1.0, delta=1e-5), 6)
    3.730632
    """
    eps = check.in_range(0, 1e4, eps=eps)
    delta = check.in_range(1e-300, 1, delta=check.probability(allow_zero=False, delta=delta))
    target = math.log(delta) - _LOG_SLACK

    def spare(log_mu: float) -> float:
        return target - tradeoff.gdp_log_delta(eps, mu=math.exp(log_mu))

    # delta(0) <= mu/2 bounds mu from below; above, -eps/mu + mu/2 > 40 leaves nothing of 1 - delta.
    low, high = math.log(delta) - 1.0, math.log(100 + math.sqrt(2 * eps))
    # At tiny delta a mu of eps/40 or more is needed to reach it; this keeps log delta finite.
    low = max(low, math.log(eps) - math.log(100)) if eps > 0 else low
    mu = math.exp(crossing(spare, low, high, side=-1, xtol=1e-14))
    return check.positive(sensitivity=sensitivity) / mu


def classical_gaussian_limit(*, delta: float) -> float:
    """The largest eps at which Definition 5 keeps its promise for this delta.

    Errs downward, by about 2e-11 in log delta. The promise is kept up to one eps and broken beyond it (page 1).

    Args:
        delta: in [1e-300, 0.999999].

    >>> round(classical_gaussian_limit(delta=0.9), 4)
    3.7871
    """
    delta = check.in_range(1e-300, _MOST_DELTA, delta=delta)
    c, target = _classical(delta), math.log(delta) - _LOG_SLACK

    return crossing(lambda eps: target - tradeoff.gdp_log_delta(eps, mu=eps / c), 1e-9, 1e3, side=-1, xtol=1e-13)

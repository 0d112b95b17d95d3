"""One Laplace or Gaussian report alone, and the scale that a promise asks of Gaussian noise.

Definition 5 of Chen et al. 2024 and the analytic Gaussian mechanism of Balle and Wang 2018 (arXiv:1805.06530). Noise of
a standard deviation > 0 is added to each coordinate independently, for a sensitivity > 0 in the l2 norm. (Definition
4's Laplace noise has the scale sensitivity/eps, the sensitivity in the l1 norm.) The promise of Definition 5 holds up
to a certain eps only:

>>> scale = classical_gaussian_scale(eps=9.0, delta=1e-5)
>>> tradeoff.gdp_delta(9.0, mu=1 / scale) <= 1e-5
False
>>> round(classical_gaussian_limit(delta=1e-5), 4)
8.4198
"""

from __future__ import annotations

import math

from gspa.accountant import arguments as check
from gspa.accountant import tradeoff
from gspa.accountant.bound import Ends
from gspa.accountant.roots import crossing

_UNITS = 2.0**-50  # eight roundings
_LEAST = 1e-323  # two of the smallest doubles: what a number below all others with all their digits may be off by


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
    low, high = (math.exp(tradeoff.gdp_log_delta(eps, mu=gap[i], side=side)) for i, side in enumerate((-1, 1)))
    return max(low - _LEAST, 0.0), min(high + _LEAST, 1.0)


def alone_epsilon(noise: str, delta: float, gap: Ends) -> Ends:
    """The other way round: the least eps at delta in (0, 1), from below and from above."""
    if noise == "gaussian":
        return tradeoff.gdp_epsilon(delta=delta, mu=gap[0], side=-1), tradeoff.gdp_epsilon(delta=delta, mu=gap[1])
    less = -2 * math.log1p(-delta)
    slack = _UNITS * (gap[1] + less)
    return max(gap[0] - less - slack, 0.0), min(max(gap[1] - less + slack, 0.0), gap[1])


def _classical(delta: float) -> float:
    """sqrt(2 log(1.25/delta)): eps over mu of Definition 5's noise."""
    return math.sqrt(2 * math.log(1.25 / delta))


def _spare(eps: float, delta: float, mu: float) -> float:
    """By what log delta is more than that of Gaussian noise needs to be."""
    return math.log(delta) - tradeoff.gdp_log_delta(eps, mu=mu, side=1)


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
    # delta(0) <= mu/2 bounds mu from below; above, -eps/mu + mu/2 > 40 leaves nothing of 1 - delta.
    low, high = math.log(delta) - 1.0, math.log(100 + math.sqrt(2 * eps))
    # At tiny delta a mu of eps/40 or more is needed to reach it; this keeps log delta finite.
    low = max(low, math.log(eps) - math.log(100)) if eps > 0 else low
    mu = math.exp(crossing(lambda y: _spare(eps, delta, math.exp(y)), low, high, side=-1, xtol=1e-14))
    return check.positive(sensitivity=sensitivity) / mu


def classical_gaussian_limit(*, delta: float) -> float:
    """The largest eps at which Definition 5 keeps its promise for this delta.

    Errs downward, by about 1e-11 in log delta. The promise is kept up to one eps and broken beyond it (page 1).

    Args:
        delta: in [1e-300, 0.999999].

    >>> round(classical_gaussian_limit(delta=0.9), 4)
    3.7871
    """
    delta = check.in_range(1e-300, 0.999999, delta=delta)  # nearer to 1 the error of gdp_log_delta would be seen
    c = _classical(delta)
    return crossing(lambda eps: _spare(eps, delta, eps / c), 1e-9, 1e3, side=-1, xtol=1e-13)

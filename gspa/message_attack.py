"""A lower bound on central privacy from an attack on shuffled Gaussian messages in many dimensions.

It needs no model of the others: their means and noise are fixed and known, and both probabilities of the attack have
closed forms. `gspa.audit` has attacks on reports of numbers in [0, 1].
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, logsumexp
from scipy.stats import chi2

from gspa import _validate as check
from gspa.errors import InvalidValue

Array = NDArray[np.float64]

_MISSED = (0.1, 1e-2, 1e-3, 1e-5)  # share of the victim's own messages that an attack may call too long
_GRID = 400_000  # thresholds tried at once, times messages
_LEAST_LOG = -690.0  # chi2.logcdf underflows beyond it; a larger probability only weakens an attack


def message_attack_epsilon(
    *,
    delta: float,
    high: float,
    low: float,
    sigma: float,
    others: ArrayLike,
    sigma_others: ArrayLike,
    dimension: int = 1,
) -> float:
    """An eps below which shuffled Gaussian messages in d dimensions are certainly not (eps, delta)-DP.

    All means lie on one line through 0, known to the attacker. The attack: is there a message beyond t along that line
    whose remaining d - 1 coordinates are no longer than the victim's noise explains? In many dimensions a message
    carries its sender's sigma_j, to about one part in sqrt(2 d), so only clients with the victim's noise can be taken
    for it. With P0, P1 the attack's probabilities when the victim's mean is `high` or `low`,
    delta(eps) >= P0 - e^eps P1; P1 is replaced by the union bound. Every t and every length give a valid
    bound, the best of a grid is returned: errs downward, apart from rounding. With nobody in the way it is the
    Gaussian mechanism's eps.

    Args:
        delta: in (0, 1).
        high, low: the victim's means, high > low.
        sigma: the victim's noise, > 0.
        others: means of the others' messages, shape (n - 1,).
        sigma_others: their noise > 0, shape (n - 1,).
        dimension: d >= 1.

    Returns:
        eps >= 0; 0 when the attack shows nothing.

    Raises:
        InvalidValue: an argument outside its range.

    >>> from gspa.tradeoff import gdp_epsilon
    >>> bound = message_attack_epsilon(delta=1e-5, high=1.0, low=0.0, sigma=1.0, others=[], sigma_others=[])
    >>> round(bound, 3), round(gdp_epsilon(delta=1e-5, mu=1.0), 3)
    (4.377, 4.377)
    """
    delta, sigma = check.probability(allow_zero=False, delta=delta), check.in_range(1e-100, 1e100, sigma=sigma)
    high, low = check.in_range(-1e100, 1e100, high=high), check.in_range(-1e100, 1e100, low=low)
    check.positive(**{"high - low": high - low})
    freedom = check.count(dimension=dimension) - 1
    means = check.array_in(-math.inf, math.inf, others=others)
    scales = check.array_in(1e-300, math.inf, sigma_others=sigma_others)
    try:
        means, scales = (one.ravel() for one in np.broadcast_arrays(means, scales))
    except ValueError:
        raise InvalidValue("sigma_others.shape", scales.shape, f"{means.shape}, as others") from None
    best = 0.0
    for missed in (0.0,) if freedom == 0 else (0.0, *_MISSED):
        keep, pass_others = 0.0, np.zeros(means.size)  # logs
        if missed:
            length = float(chi2.isf(missed, freedom))
            keep = math.log1p(-missed)
            with np.errstate(divide="ignore", over="ignore"):
                pass_others = np.maximum(chi2.logcdf(length * (sigma / scales) ** 2, freedom), _LEAST_LOG)

        def found(t: Array, keep: float = keep, pass_others: Array = pass_others) -> Array:
            with np.errstate(over="ignore"):
                false = log_ndtr((means - t[:, None]) / scales) + pass_others
            true = log_ndtr((high - t) / sigma) + keep
            each = np.exp(np.column_stack([false, true]))
            log_miss = np.log1p(-np.minimum(each, 1 - 2.0**-53)).sum(axis=1)
            hit = -np.expm1(log_miss) - delta
            log_hit = np.log(hit, out=np.full_like(hit, -np.inf), where=hit > 0)
            both = np.column_stack([false, log_ndtr((low - t) / sigma) + keep])
            return np.asarray(log_hit - np.minimum(logsumexp(both, axis=1), 0.0))

        size = min(max(_GRID // (means.size + 1), 61), 801)
        t = low + sigma * np.linspace(0.0, (high - low) / sigma + 12.0, size)
        for _ in range(3):  # nested grids: the attack's eps is smooth in t
            value = found(t)
            k = int(np.argmax(value))
            t = np.linspace(t[max(k - 1, 0)], t[min(k + 1, t.size - 1)], 61)
        best = max(best, float(value.max()))
    return best

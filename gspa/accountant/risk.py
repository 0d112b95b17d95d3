"""What an eps means: the rates that no attacker can beat, from a certified curve delta(eps).

An attacker who sees the shuffled reports decides which of two values one user's record has. The false-positive rate
(FPR) is how often the second is named although it is the first, the true-positive rate (TPR) how often it is named
rightly. (eps, delta)-DP for replaced records, in both orders, is the same as (Kairouz, Oh and Viswanath 2015)

    TPR <= e^eps FPR + delta     and     TPR <= 1 - e^-eps (1 - FPR - delta)

for every attacker. So each point of the curve bounds the TPR, the least of the bounds is the trade-off function's,
and the largest advantage, TPR - FPR over all attackers (the total variation), is at most delta(0).

>>> advantage, (tpr,) = attack_rates(lambda eps: max(0.0, 0.75 - 0.25 * math.exp(eps)), (0.01,), top=math.log(3))
>>> round(advantage, 12), round(tpr, 12)  # randomized response at eps = log 3, nobody else: 3 FPR
(0.5, 0.03)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from scipy.optimize import minimize_scalar
from scipy.special import ndtri

from gspa.accountant.bound import rounded
from gspa.accountant.tradeoff import gdp_log_delta

_DIGITS = 4  # of a rate in words
_ROUNDING = 4e-15  # of the few operations on e^eps, FPR and delta
_ALIKE = 0.03  # two Gaussians through different points of one curve whose mu differ by less are taken for one
_TRIES = 8
_MOST_EPS = 600.0  # e^eps is a double, and every rate is at most 1 by then
_REACH = 2.0  # in mu, on each side of where a Gaussian's best point is


@dataclass(frozen=True)
class Risk:
    """Upper bounds on what any attacker gets, whatever the attacker knows of the others: each errs upward.

    Attributes:
        fpr: false-positive rates.
        tpr: at each of them no attacker's true-positive rate is larger.
        advantage: no attacker's TPR - FPR is larger, at any FPR.
        method: the analysis behind them.
        valid_for: the class of local randomizers.
        relation: which two data sets are to be told apart.
        proved: as `gspa.accountant.bound.Bound` has it.
    """

    fpr: tuple[float, ...]
    tpr: tuple[float, ...]
    advantage: float
    method: str
    valid_for: str
    relation: str
    proved: bool = True

    def __str__(self) -> str:
        rates = " and ".join(f"<= {_percent(t)} at {100 * f:g}%" for f, t in zip(self.fpr, self.tpr, strict=True))
        return f"true-positive rate {rates} false positives; advantage (TPR - FPR) <= {_percent(self.advantage)}"


def _percent(rate: float) -> str:
    """Rounded upwards."""
    share = Decimal(rounded(rate, up=True, digits=_DIGITS)).scaleb(2)
    return f"{share:f}%" if share.adjusted() > -7 else f"{share:e}%"


def attack_rates(
    delta_at: Callable[[float], float], fpr: tuple[float, ...], *, top: float = math.inf
) -> tuple[float, tuple[float, ...]]:
    """The largest advantage, and the largest TPR at each FPR, that a curve of privacy allows; both err upward.

    A few points of the curve are asked for: where a Gaussian curve with the same delta(0) would have its best one,
    and around it if the curve turns out to be another.

    Args:
        delta_at: eps >= 0 to an upper bound on delta(eps), the same in both orders of the two data sets.
        fpr: rates in (0, 1).
        top: an eps beyond which the curve is flat, such as the largest local eps.
    """
    known = cache(delta_at)
    advantage = min(known(0.0), 1.0)
    top = min(top, _MOST_EPS)
    if advantage == 0:
        return 0.0, fpr
    mu = -2 * float(ndtri((1 - advantage) / 2)) if advantage < 1 else math.inf

    def largest(alpha: float) -> float:
        def bound(slope: float) -> float:
            """By the line of slope e^slope that touches the trade-off curve."""
            delta = known(abs(slope))
            if slope >= 0:
                return (math.exp(slope) * alpha + delta) * (1 + _ROUNDING)
            return 1 - math.exp(slope) * (1 - alpha - delta) + _ROUNDING

        best = [bound(0.0)]
        if top < _MOST_EPS:
            best += [bound(top), bound(-top)]
        between, width = (-top, top), 1e-3 * top
        if mu < math.inf:
            at = min(max(-mu * float(ndtri(alpha)) - mu * mu / 2, -top), top)
            best.append(bound(at))
            delta = known(abs(at))
            near, far = (float(gdp_log_delta(abs(at), mu=mu * (1 + side * _ALIKE))) for side in (-1, 1))
            if 0 < delta < 1 and near <= math.log(delta) <= far:  # nearly the Gaussian of that mu
                return min(1.0, *best)
            between, width = (max(at - _REACH * mu, -top), min(at + _REACH * mu, top)), 0.02 * mu
        options = {"maxiter": _TRIES, "xatol": width}
        return min(1.0, *best, float(minimize_scalar(bound, bounds=between, method="bounded", options=options).fun))

    return advantage, tuple(max(alpha, largest(alpha)) for alpha in fpr)

"""The published closed forms themselves: GSPA's mu, Erlingsson et al. 2019, Feldman et al. 2021.

Each is refused outside its stated conditions; `gspa.bounds` compares them.

>>> round(erlingsson19_epsilon(0.5, n=10_000, delta=1e-4), 6)
0.182091
>>> erlingsson19_epsilon(0.6, n=10_000, delta=1e-4)
Traceback (most recent call last):
    ...
gspa.errors.OutsideValidity: Erlingsson et al. 2019, amplification by shuffling: needs eps0 <= 1/2; eps0 = 0.6
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from gspa import _validate as check
from gspa.budgets import Budgets
from gspa.errors import OutsideValidity
from gspa.tradeoff import gdp_delta, gdp_epsilon

Array = NDArray[np.float64]

READINGS = ("abstract", "theorem2")
# What a refusal calls its bound.
ERLINGSSON19 = "Erlingsson et al. 2019, amplification by shuffling"
_GSPA = "GSPA, Chen et al. 2024, Theorem 2"
_FMT21 = "Feldman, McMillan and Talwar 2021, Theorem 3.1"
_FMT21_APPROXIMATE = "Feldman, McMillan and Talwar 2021, Theorem 3.8"


def clone_probabilities(budgets: Budgets) -> Array:
    """r_i = (1 - delta_i)/(1 + e^{eps_i}), one per group of users.

    The r_i of Theorem 1, Chen et al. 2024: user i's report is a copy of either of the victim's two
    outcomes with probability r_i each. Exact up to rounding; in [0, 1/2]; no overflow for any eps.

    >>> from gspa import budgets
    >>> clone_probabilities(budgets.from_array([0.0, 700.0])).tolist()[0]
    0.5
    """
    return np.asarray((1 - budgets.delta) * expit(-budgets.eps), dtype=np.float64)


def gspa_mu(budgets: Budgets, *, reading: str = "abstract") -> float:
    """mu of the approximate GDP guarantee: sqrt(2/(sum_i r_i - max_i r_i)).

    Implements Theorem 2, Chen et al. 2024, in one of its two printed forms. Errs to either side: a
    Gaussian limit, see `gspa_epsilon`.

    Args:
        budgets: at least 2 users ("abstract") or 3 ("theorem2").
        reading: "abstract", the sum over all n users, as the abstract and the last line of the
            proof have it; or "theorem2", the statement's sum to n - 1, where the victim
            (in the worst case a user with the largest r_i) is left out of the sum and
            max_i r_i over all users is subtracted once more.

    Raises:
        OutsideValidity: nothing is left to hide among after the subtraction.
        UnknownName: no such reading.

    >>> from gspa import budgets
    >>> gspa_mu(budgets.constant(0.0, n=5))
    1.0
    """
    # Erratum G-T2: the statement subtracts the victim twice; its proof gives the abstract's form.
    twice = check.one_of(READINGS, reading=reading) == "theorem2"
    least = 3 if twice else 2
    if budgets.n < least:
        raise OutsideValidity(_GSPA, f"n >= {least} users", f"n = {budgets.n} leaves nobody to hide among")
    r = clone_probabilities(budgets)
    largest = int(np.argmax(r))
    others = budgets.count.copy()
    others[largest] -= 1  # rather than sum - max, which would cancel for few users
    total = float(r @ others)
    if twice:
        total -= float(r[largest])
        if total <= 4e-16 * float(r[largest]):  # 0 or less, up to rounding
            raise OutsideValidity(_GSPA, "sum_i r_i > 2 max_i r_i", "one user holds most of the clones")
    if total == 0 or math.isinf(2 / total):
        raise OutsideValidity(_GSPA, "sum_i r_i > max_i r_i", "the eps are too large to hide anybody")
    return math.sqrt(2 / total)


def gspa_epsilon(budgets: Budgets, *, delta: float, reading: str = "abstract") -> float:
    """Central epsilon that Theorem 2 "approximately" gives, as drawn in Figure 2.

    Theorem 2 of Chen et al. 2024 through Fact 3. Not a certified upper bound: the slack
    C/sqrt(n-1) of eq. (15) is dropped here, as in the paper's figure, and so is the victim's
    local delta_n; the value may lie below the truth. The conversion itself errs upward.

    Args:
        budgets: at least 2 users.
        delta: central delta in (0, 1).
        reading: as `gspa_mu`.

    Raises:
        InvalidValue: delta out of range.
        OutsideValidity: as `gspa_mu`.

    >>> from gspa import budgets
    >>> round(gspa_epsilon(budgets.constant(0.5, n=10_000), delta=1e-4), 4)
    0.0518
    """
    delta = check.probability(allow_zero=False, delta=delta)
    return gdp_epsilon(delta=delta, mu=gspa_mu(budgets, reading=reading))


def gspa_delta(budgets: Budgets, *, eps: float, reading: str = "abstract") -> float:
    """Central delta that Theorem 2 "approximately" gives at a central eps >= 0.

    As `gspa_epsilon`, and with the same reservations: an estimate, which may err to either side.

    >>> from gspa import budgets
    >>> crowd = budgets.constant(0.5, n=10_000)
    >>> round(gspa_delta(crowd, eps=gspa_epsilon(crowd, delta=1e-4)), 12)
    0.0001
    """
    return gdp_delta(check.nonnegative(eps=eps), mu=gspa_mu(budgets, reading=reading))


def erlingsson19_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """12 eps0 sqrt(log(1/delta)/n) for any common eps0-LDP randomizer.

    Erlingsson et al. 2019 (arXiv:1811.12469). An upper bound on the central epsilon.

    Args:
        eps0: common local budget, 0 <= eps0 <= 1/2.
        n: number of users, >= 1000.
        delta: central delta in (0, 1), at most 0.01.

    Raises:
        InvalidValue: an argument outside its domain.
        OutsideValidity: a condition fails, or the value would exceed eps0.

    >>> round(erlingsson19_epsilon(0.5, n=10_000, delta=1e-4), 6)
    0.182091
    """
    eps0, n = check.nonnegative(eps0=eps0), check.count(n=n)
    delta = check.probability(allow_zero=False, delta=delta)
    # Stated for eps0 < 1/2 and delta < 1/100; the ends follow by continuity (replacing the randomizer
    # by a fixed law with a vanishing probability makes its eps strictly smaller).
    if eps0 > 0.5:
        raise OutsideValidity(ERLINGSSON19, "eps0 <= 1/2", f"eps0 = {eps0:g}")
    if n < 1000:
        raise OutsideValidity(ERLINGSSON19, "n >= 1000", f"n = {n}")
    if delta > 0.01:
        raise OutsideValidity(ERLINGSSON19, "delta <= 0.01", f"delta = {delta:g}")
    factor = 12 * math.sqrt(-math.log(delta) / n)
    if factor > 1:
        hint = f"at n = {n} its value exceeds eps0, which no shuffling is needed for"
        raise OutsideValidity(ERLINGSSON19, "n >= 144 log(1/delta)", hint)
    return factor * eps0


def _fmt21(eps0: float, n: int, delta: float) -> float:
    """Theorem 3.1 for valid arguments."""
    if eps0 > math.log(n / 16) - math.log(math.log(2) - math.log(delta)):
        detail = f"eps0 = {eps0:g}, n = {n}, delta = {delta:g}"
        raise OutsideValidity(_FMT21, "eps0 <= log(n/(16 log(2/delta)))", detail)
    growth = math.exp(eps0) / n
    spread = 8 * math.sqrt(growth * (math.log(4) - math.log(delta))) + 8 * growth
    return math.log1p(math.tanh(eps0 / 2) * spread)  # tanh(x/2) = (e^x - 1)/(e^x + 1)


def _delta0_price(eps: float, eps0: float, n: int, delta0: float) -> float:
    return (math.exp(eps) + 1) * (1 + 0.5 * math.exp(-eps0)) * n * delta0


def fmt21_total_delta(eps0: float, *, n: int, delta: float, delta0: float) -> float:
    """Central delta of Theorem 3.8 as stated: delta + (e^eps + 1)(1 + e^{-eps0}/2) n delta0.

    Feldman, McMillan and Talwar 2021 (arXiv:2012.12803), where eps is that of Theorem 3.1 at
    `delta`. An upper bound; may exceed 1, and then says nothing.

    Args:
        eps0: common local budget, 0 <= eps0 <= log(n/(16 log(2/delta))).
        n: number of users, >= 1.
        delta: the analysis's own delta, in (0, 1).
        delta0: common local delta in [0, 1).

    Raises:
        InvalidValue: an argument outside its domain.
        OutsideValidity: the condition on eps0 fails.

    >>> fmt21_total_delta(0.5, n=10_000, delta=1e-6, delta0=0.0)
    1e-06
    """
    eps0, n = check.nonnegative(eps0=eps0), check.count(n=n)
    delta = check.probability(allow_zero=False, delta=delta)
    delta0 = check.probability(delta0=delta0)
    return delta + _delta0_price(_fmt21(eps0, n, delta), eps0, n, delta0)


def fmt21_epsilon(eps0: float, *, n: int, delta: float, delta0: float = 0.0) -> float:
    """Central epsilon of "Hiding among the clones" for any common (eps0, delta0)-LDP randomizer.

    Feldman, McMillan and Talwar 2021 (arXiv:2012.12803), Theorem 3.1, or Theorem 3.8 with
    the best split of `delta` if delta0 > 0. An upper bound. It can exceed eps0 for small eps0.

    Args:
        eps0: common local budget, 0 <= eps0 <= log(n/(16 log(2/delta))).
        n: number of users, >= 1.
        delta: total central delta in (0, 1).
        delta0: common local delta in [0, 1).

    Raises:
        InvalidValue: an argument outside its domain.
        OutsideValidity: the condition on eps0 fails, or delta0 alone costs more than delta.

    >>> round(fmt21_epsilon(0.5, n=10_000, delta=1e-4), 6)
    0.079015
    """
    eps0, n = check.nonnegative(eps0=eps0), check.count(n=n)
    delta = check.probability(allow_zero=False, delta=delta)
    delta0 = check.probability(delta0=delta0)
    if delta0 == 0:
        return _fmt21(eps0, n, delta)
    # The largest share s with s + price(eps(s)) <= delta gives the least eps. s -> delta - price(eps(s))
    # is increasing, so iterating it from above (eps = 0) decreases to that share.
    share = delta - _delta0_price(0.0, eps0, n, delta0)
    for _ in range(1000):
        if share <= 0:
            break
        eps = _fmt21(eps0, n, share)
        smaller = delta - _delta0_price(eps, eps0, n, delta0)
        if share - smaller <= 1e-13 * share:
            # Just below the limit, so that rounding cannot spend more than delta.
            share *= 1 - 1e-9
            eps = _fmt21(eps0, n, share)
            if share + _delta0_price(eps, eps0, n, delta0) <= delta:
                return eps
            break
        share = smaller
    price = _delta0_price(0.0, eps0, n, delta0)
    detail = f"delta0 = {delta0:g} costs over {price:.3g} of delta = {delta:g}"
    raise OutsideValidity(_FMT21_APPROXIMATE, "a delta0 of order delta/n or less", detail)

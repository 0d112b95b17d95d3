"""Closed forms in the manner of "Hiding among the clones": the blog's eq. (1), FMT23, Liu et al. 2023.

All are log(1 + tanh(eps_0/2) (8 sqrt(log(4/delta)/m) + 8/m)), or less, for a number m of expected clones:

>>> round(clones_blog_epsilon(0.5, n=10_000, delta=1e-4), 6), round(fmt23_epsilon(0.5, n=10_000, delta=1e-4), 6)
(0.151686, 0.071073)
>>> from gspa import budgets
>>> round(liu23_epsilon(budgets.constant(0.5, n=10_000), delta=1e-4), 6)
0.079019
"""

from __future__ import annotations

import math

import numpy as np

from gspa import _validate as check
from gspa.budgets import Budgets
from gspa.errors import OutsideValidity

# What a refusal calls its bound.
BLOG = '"Why we should hide among the clones" (2022), eq. (1)'
FMT23 = "Feldman, McMillan and Talwar 2023, Theorem 3.2"
LIU23 = "Liu et al. 2023, Echo of Neighbors"


def clones_blog_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """log(1 + 16 tanh(eps0/2) sqrt(e^{eps0} log(4/delta)/n)) for any common eps0-LDP randomizer.

    Eq. (1) of C. Canonne's post of 2022 on differentialprivacy.org. An upper bound, never below
    `closed_forms.fmt21_epsilon`: the post folds the second term of FMT21's Theorem 3.1 into the first.
    Its condition there reads "n much larger than e^{eps0} log(1/delta)"; used here is Theorem 3.1's,
    under which the folding is an inequality. Can exceed eps0.

    Args:
        eps0: common local budget, 0 <= eps0 <= log(n/(16 log(2/delta))).
        n: number of users, >= 1.
        delta: central delta in (0, 1).

    Raises:
        InvalidValue: an argument outside its domain.
        OutsideValidity: the condition on eps0 fails.

    >>> clones_blog_epsilon(5.0, n=10_000, delta=1e-4)
    Traceback (most recent call last):
        ...
    gspa.errors.OutsideValidity: "Why we should hide among the clones" (2022), eq. (1): \
needs eps0 <= log(n/(16 log(2/delta))); eps0 = 5, n = 10000, delta = 0.0001
    """
    eps0, n = check.nonnegative(eps0=eps0), check.count(n=n)
    delta = check.probability(allow_zero=False, delta=delta)
    if eps0 > math.log(n / 16) - math.log(math.log(2) - math.log(delta)):
        detail = f"eps0 = {eps0:g}, n = {n}, delta = {delta:g}"
        raise OutsideValidity(BLOG, "eps0 <= log(n/(16 log(2/delta)))", detail)
    # The condition gives x = e^{eps0}/n <= 1/(16 log 2) < log 4, so that x <= sqrt(x log(4/delta)).
    return math.log1p(16 * math.tanh(eps0 / 2) * math.sqrt(math.exp(eps0) / n * (math.log(4) - math.log(delta))))


def fmt23_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """log(1 + (e^{eps0}-1)(4 sqrt(2 log(4/delta)/((e^{eps0}+1) n)) + 4/n)): "stronger clones".

    Feldman, McMillan and Talwar 2023 (arXiv:2208.04591), Theorem 3.2. An upper bound for binary
    randomized response. The general statement carries an erratum by its authors: Lemma 3.5 is wrong
    where the victim may answer neither of the two clones, which randomized response never does;
    they now state the theorem for a restricted class of randomizers. Can exceed eps0.

    Args:
        eps0: common local budget, 0 <= eps0 <= log(n/(8 log(2/delta)) - 1).
        n: number of users, >= 1.
        delta: central delta in (0, 1).

    Raises:
        InvalidValue: an argument outside its domain.
        OutsideValidity: the condition on eps0 fails.

    >>> round(fmt23_epsilon(2.0, n=10_000, delta=1e-4), 6)
    0.342706
    """
    eps0, n = check.nonnegative(eps0=eps0), check.count(n=n)
    delta = check.probability(allow_zero=False, delta=delta)
    room = n / (8 * (math.log(2) - math.log(delta))) - 1
    if room <= 0 or eps0 > math.log(room):
        detail = f"eps0 = {eps0:g}, n = {n}, delta = {delta:g}"
        raise OutsideValidity(FMT23, "eps0 <= log(n/(8 log(2/delta)) - 1)", detail)
    spread = math.sqrt(2 * (math.log(4) - math.log(delta)) / ((math.exp(eps0) + 1) * n)) + 1 / n
    return math.log1p(4 * math.expm1(eps0) * spread)


def liu23_clones(budgets: Budgets) -> float:
    """Expected number S of "echoes" of a user with the largest eps, Liu et al. 2023.

    p_i = (1/n) sum_j (eps_i/eps_j) (1-e^{-eps_j})/(1-e^{-eps_i}) e^{-max(eps_i, eps_j)} and S is the
    sum of p_i over all users but one with the largest eps. O(g log g) for g different budgets.
    eps_i = 0 is taken as the limit.

    >>> from gspa import budgets
    >>> round(liu23_clones(budgets.constant(0.5, n=1001)), 6) == round(1000 * 2.718281828459045**-0.5, 6)
    True
    """
    users = budgets.grouped()
    eps, count = users.eps, users.count.astype(np.float64)
    # eps/(1 - e^{-eps}), the height of the density; 1 at eps = 0.
    height = np.where(eps > 0, eps, 1) / np.where(eps > 0, -np.expm1(-eps), 1)
    weight = count / height
    below = np.cumsum(weight)  # eps_j <= eps_i
    above = np.append(np.cumsum((weight * np.exp(-eps))[::-1])[::-1], 0.0)[1:]  # eps_j > eps_i
    p = height * (np.exp(-eps) * below + above) / budgets.n
    others = count.copy()
    others[-1] -= 1
    return float(p @ others)


def liu23_epsilon(budgets: Budgets, *, delta: float) -> float:
    """log(1 + tanh(eps_1/2) (8 sqrt(log(4/delta)/S) + 8/S)), eps_1 the largest eps, S as `liu23_clones`.

    Liu et al. 2023, "Echo of Neighbors" (arXiv:2304.05516), for personalized Laplace noise clipped to
    [0, 1]. Read from the authors' published code, not from the theorem's text. Not a certified upper
    bound: p_i averages over the user who is echoed, where the victim is one fixed user. For equal
    budgets it is FMT21's Theorem 3.1 with n - 1 instead of n; for one user with a very large eps among
    small ones it is below the exact epsilon (in the tests: 100 among 999 at 0.01, delta = 1e-4).

    Args:
        budgets: at least 2 users, pure (delta_i = 0).
        delta: central delta in (0, 1).

    Raises:
        InvalidValue: delta out of range.
        OutsideValidity: a delta_i > 0, or S < 16 log(4/delta).

    >>> from gspa import budgets
    >>> round(liu23_epsilon(budgets.mixed_constant(0.5, 0.01, n=10_000), delta=1e-4), 6)
    0.073187
    """
    delta = check.probability(allow_zero=False, delta=delta)
    require_pure(LIU23, budgets)
    log = math.log(4) - math.log(delta)
    clones = liu23_clones(budgets)
    if clones < 16 * log:
        raise OutsideValidity(LIU23, "S >= 16 log(4/delta)", f"S = {clones:.4g}, 16 log(4/delta) = {16 * log:.4g}")
    return math.log1p(math.tanh(budgets.eps_max / 2) * 8 * (math.sqrt(log / clones) + 1 / clones))


def require_pure(bound: str, budgets: Budgets) -> None:
    """Refuse a population with a delta_i > 0.

    >>> from gspa import budgets
    >>> require_pure("A bound", budgets.constant(0.5, n=2, delta=0.1))
    Traceback (most recent call last):
        ...
    gspa.errors.OutsideValidity: A bound: needs pure local privacy, delta_i = 0; the largest delta_i is 0.1
    """
    if budgets.delta_max > 0:
        hint = f"the largest delta_i is {budgets.delta_max:g}"
        raise OutsideValidity(bound, "pure local privacy, delta_i = 0", hint)

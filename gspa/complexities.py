r"""Numbers of users that the blog states, as formulas: eqs. (4), (6), (7), and what eq. (5) makes of them.

With L = log(1/delta) and s = eps^2 n/L, eq. (5) sets eps_L^2 = s where s <= 1 and e^{eps_L} = s where s >= 1.

>>> table = substitutions()
>>> table.loc[(table["problem"] == "learning") & table["leads"], "users"].tolist()
['sqrt(L)*k/(alpha*eps)', 'k/alpha**2', 'sqrt(L)*k/(alpha*eps)', 'k/alpha**2']
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from gspa import _validate as check
from gspa.errors import InvalidValue

Array = NDArray[np.float64]

# Of every argument; beyond, a term would leave the doubles, or eq. (1) its condition.
_RANGES = {"k": (1, 1e30), "alpha": (1e-30, 1), "eps": (1e-12, 300), "delta": (1e-300, 1 - 1e-12), "n": (1, 1e60)}
PROBLEMS = ("learning", "private coin", "public coin")
_k, _alpha, _eps, _log, _n, _x, _s, _z = sp.symbols("k alpha eps L n x s z", positive=True)
# Terms of eqs. (4), (7), (6) without 1/alpha^2: (power of k, its part in eps_L = x).
_TERMS = {
    "learning": ((sp.Integer(2), (sp.exp(_x) - 1) ** -2), (sp.Integer(2), sp.exp(-_x)), (sp.Integer(1), sp.Integer(1))),
    "private coin": (
        (sp.Rational(3, 2), (sp.exp(_x) - 1) ** -2),
        (sp.Rational(3, 2), sp.exp(-_x)),
        (sp.Rational(1, 2), sp.Integer(1)),
    ),
    "public coin": (
        (sp.Integer(1), (sp.exp(_x) - 1) ** -2),
        (sp.Integer(1), sp.exp(-_x / 2)),
        (sp.Rational(1, 2), sp.Integer(1)),
    ),
}
# Terms of the blog's results for the shuffle model.
_PRINTED = {
    "learning": (_k * sp.sqrt(_log) / (_alpha * _eps), _k / _alpha**2),
    "private coin": (_k ** sp.Rational(3, 4) * sp.sqrt(_log) / (_alpha * _eps), sp.sqrt(_k) / _alpha**2),
    "public coin": (
        _k ** sp.Rational(2, 3) * sp.cbrt(_log) / (_alpha ** sp.Rational(4, 3) * _eps ** sp.Rational(2, 3)),
        sp.sqrt(_k * _log) / (_alpha * _eps),
        sp.sqrt(_k) / _alpha**2,
    ),
}


def local_users(problem: str, k: ArrayLike, alpha: ArrayLike, eps: ArrayLike) -> Array:
    """Eq. (4) for "learning", (7) for "private coin", (6) for "public coin", without the constant of Theta.

    Args:
        problem: one of `PROBLEMS`.
        k: number(s) of items.
        alpha: distance(s) in total variation.
        eps: local budget(s) > 0.

    >>> round(float(local_users("learning", 10, 0.1, math.log(2))), 6)
    16000.0
    """
    found = _evaluators(check.one_of(PROBLEMS, problem=problem))[0]
    return np.asarray(found(*_together(k=k, alpha=alpha, eps=eps)), float)


def _together(**arguments: ArrayLike) -> list[Array]:
    """The arguments as arrays of one shape, each in its range."""
    found = [check.array_in(*_RANGES[name], **{name: value}) for name, value in arguments.items()]
    try:
        return [np.array(one) for one in np.broadcast_arrays(*found)]
    except ValueError:
        shapes = ", ".join(f"{name} {one.shape}" for name, one in zip(arguments, found, strict=True))
        raise InvalidValue("shapes", shapes, "shapes that numpy broadcasts together") from None


def shuffled_users(problem: str, k: ArrayLike, alpha: ArrayLike, eps: ArrayLike, delta: ArrayLike) -> Array:
    """The blog's result for the shuffle model, without the constant of O; arguments as `local_users`.

    >>> round(float(shuffled_users("learning", 10, 0.1, 1.0, math.exp(-4))), 6)
    1200.0
    """
    arguments = _together(k=k, alpha=alpha, eps=eps, delta=delta)
    arguments[-1] = -np.log(arguments[-1])
    return np.asarray(_evaluators(check.one_of(PROBLEMS, problem=problem))[1](*arguments), float)


@cache
def _evaluators(problem: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The sums of a problem's terms as numerical functions: of (k, alpha, x), and of (k, alpha, eps, L)."""
    local = sp.Add(*(_k**power * part / _alpha**2 for power, part in _TERMS[problem]))
    shuffled = sp.Add(*_PRINTED[problem])
    return sp.lambdify((_k, _alpha, _x), local, "numpy"), sp.lambdify((_k, _alpha, _eps, _log), shuffled, "numpy")


def _power_of_s(part: Any, *, small: bool) -> Any:
    """q with part ~ s^-q: at eps_L = sqrt(s) -> 0 if small, else at e^{eps_L} = s -> infinity."""
    if small:
        return -part.as_leading_term(_x).as_coeff_exponent(_x)[1] / 2
    leading = part.subs(_x, -sp.log(_z)).as_leading_term(_z)  # z = e^{-eps_L} -> 0
    return leading.as_coeff_exponent(_z)[1]


def substitutions() -> pd.DataFrame:
    """Eq. (5) in every term of eqs. (4), (6) and (7), in both cases, solved for n by computer algebra.

    A term's part in eps_L is replaced by its leading part, a power of s; n > k^a s^-q/alpha^2 is then solved for n.

    Returns:
        One row for each (problem, case, term): `problem`, `case` ("s <= 1" or "s >= 1"), `term` (1 to 3), `needs`
        (what n must exceed, in s), `users` (solved for n), `leads` (of the two terms that contain eps_L the larger
        one throughout the case, or the third), and `printed` (the blog's result has that very term).
    """
    rows = []
    for problem, terms in _TERMS.items():
        for small in (True, False):
            powers = [_power_of_s(part, small=small) for _, part in terms]
            for index, (power, _) in enumerate(terms):
                q = powers[index]
                needs = _k**power * _s**-q / _alpha**2
                solved = (_k**power / _alpha**2 * (_log / _eps**2) ** q) ** (1 / (1 + q))
                if sp.simplify(needs.subs(_s, _eps**2 * solved / _log) / solved) != 1:
                    raise ArithmeticError(f"{solved} does not solve n = {needs}")
                # Both terms with eps_L have the same power of k, so their quotient is a power of s.
                other = powers[1 - index] if index < 2 else q
                leads = index == 2 or bool(q >= other if small else q <= other)
                printed = any(sp.simplify(sp.powdenest(solved / term, force=True)) == 1 for term in _PRINTED[problem])
                row = {"problem": problem, "case": "s <= 1" if small else "s >= 1", "term": index + 1}
                rows.append(
                    {**row, "needs": str(needs), "users": str(sp.simplify(solved)), "leads": leads, "printed": printed}
                )
    return pd.DataFrame(rows)


def first_term() -> tuple[str, str]:
    """Limits, as eps -> 0, of eq. (4)'s first term over k/(alpha^2 eps^2) and over k^2/(alpha^2 eps^2)."""
    power, part = _TERMS["learning"][0]
    term = _k**power * part / _alpha**2
    over = [sp.limit(term / (_k**p / (_alpha**2 * _x**2)), _x, 0) for p in (1, 2)]
    return str(over[0]), str(over[1])


def eps_local(n: ArrayLike, eps: ArrayLike, delta: ArrayLike) -> Array:
    """eps_L at which eq. (1) gives eps, or that of Theorem 3.1's condition if this is smaller; 0 if there is none."""
    n, eps, delta = _together(n=n, eps=eps, delta=delta)
    log = -np.log(delta)
    low, high = np.zeros(n.shape), np.maximum(np.log(n / (16 * (math.log(2) + log))), 0.0)
    for _ in range(60):
        middle = (low + high) / 2
        found = np.log1p(16 * np.tanh(middle / 2) * np.sqrt(np.exp(middle) * (math.log(4) + log) / n))
        low, high = np.where(found <= eps, middle, low), np.where(found <= eps, high, middle)
    return low


def solved_users(problem: str, k: ArrayLike, alpha: ArrayLike, eps: ArrayLike, delta: ArrayLike) -> Array:
    """The least n that is at least eqs. (4), (6) or (7) at the eps_L that eq. (1) allows with n users.

    Nothing is approximated: this is what "plug that back in" means with every constant that the blog's eq. (1) has
    (those of Theta, which it does not give, are 1). Arguments as `shuffled_users`, broadcast against each other.
    """
    k, alpha, eps, delta = _together(k=k, alpha=alpha, eps=eps, delta=delta)
    low, high = np.zeros(k.shape), np.full(k.shape, 120.0)  # log n
    for _ in range(60):
        middle = (low + high) / 2
        budget = eps_local(np.exp(middle), eps, delta)
        enough = (budget > 0) & (np.exp(middle) >= local_users(problem, k, alpha, np.maximum(budget, 1e-12)))
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.asarray(np.exp(high))


def solved_over_printed(
    problem: str, *, k: Sequence[float], alpha: Sequence[float], eps: Sequence[float], delta: Sequence[float]
) -> pd.DataFrame:
    """`solved_users` over `shuffled_users` on a grid.

    Returns:
        One row a point: `k`, `alpha`, `eps`, `delta`, `solved`, `printed` and `ratio`.
    """
    axes = {
        name: check.numbers(*_RANGES[name], **{name: values})
        for name, values in (("k", k), ("alpha", alpha), ("eps", eps), ("delta", delta))
    }
    grid = [axis.ravel() for axis in np.meshgrid(*axes.values(), indexing="ij")]
    table = pd.DataFrame(dict(zip(("k", "alpha", "eps", "delta"), grid, strict=True)))
    table["solved"], table["printed"] = solved_users(problem, *grid), shuffled_users(problem, *grid)
    return table.assign(ratio=table["solved"] / table["printed"])


def information(k: int, eps: float) -> float:
    """The largest trace of the channel information matrix over all eps-LDP randomizers of k items, k even.

    The matrix of a channel W has entries sum_y (W(y|2i-1) - W(y|2i)) (W(y|2j-1) - W(y|2j)) / sum_x W(y|x), i, j <= k/2
    (Acharya, Canonne and Tyagi 2020). A column of W is a mixture of columns with two values, 1 and e^eps up to scale,
    and one with m split pairs has m (e^eps - 1)^2 / (m (e^eps - 1) + k)^2 of trace per unit of mass. The masses add up
    to k, and by symmetry the best m is attained.

    >>> round(information(6, math.log(2)), 6)
    0.222222
    """
    k, growth = check.count(2, k=k), math.expm1(min(check.positive(eps=eps), 300.0))
    if k % 2:
        raise InvalidValue("k", k, "even")
    best = min(max(k / growth, 1.0), k / 2)
    splits = np.unique([math.floor(best), math.ceil(best)])
    return float((k * splits * (growth / (splits * growth + k)) ** 2).max())


def necessary_over_stated(problem: str, *, k: Sequence[int], eps: Sequence[float]) -> pd.DataFrame:
    """The published lower bounds, evaluated, over eqs. (4), (6) and (7): between two constants if these are necessary.

    For families of randomizers with channel information matrices H (Acharya, Canonne and Tyagi 2020), up to constants:
    learning needs k^2/(alpha^2 max tr H) users, testing k^{3/2}/(alpha^2 max tr H) without and k/(alpha^2 max F) with
    a common seed, F the Frobenius norm of H. F is at most tr H, and at most sqrt(2 tr H), because H <= 2 I whatever
    the channel.

    Returns:
        One row for each (k, eps): `k`, `eps`, `trace` and `ratio`.
    """
    rows = []
    check.one_of(PROBLEMS, problem=problem)
    for size in check.counts(2, k=k):
        for budget in check.numbers(*_RANGES["eps"], eps=eps):
            trace = information(size, budget)
            bounds = {"learning": size**2 / trace, "private coin": size**1.5 / trace}
            bounds["public coin"] = size / min(trace, math.sqrt(2 * trace))
            stated = float(local_users(problem, size, 1.0, budget))
            rows.append({"k": size, "eps": budget, "trace": trace, "ratio": bounds[problem] / stated})
    return pd.DataFrame(rows)

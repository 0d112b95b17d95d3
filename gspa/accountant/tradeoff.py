"""Trade-off functions and f-DP: Facts 1 and 3 of Chen et al. 2024, and two laws on finitely many outcomes.

A trade-off function maps a type I error alpha to the smallest possible type II error. G_mu is that of one unit-variance
Gaussian against another, mu away; its (eps, delta) side is exact in both directions:

>>> delta = gdp_delta(1.0, mu=0.5)
>>> round(delta, 9)
0.006829595
>>> round(gdp_epsilon(delta=delta, mu=0.5), 9)
1.0

The general theory is Dong, Roth and Su 2022 (arXiv:1905.02383). Everywhere `alpha` is a type I error in [0, 1] or an
array of them, `eps` a number >= 0 (of `gdp_delta` and `gdp_log_delta` also an array), `delta` one in (0, 1) and
`mu` >= 0; 0 is perfect privacy.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, ndtr, ndtri, ndtri_exp

from gspa.accountant import arguments as check
from gspa.accountant.arguments import Array
from gspa.accountant.errors import InvalidValue
from gspa.accountant.roots import push_until

Reals = TypeVar("Reals", float, Array)

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_NODES, _WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(24))
_NODES = _NODES + 0.5  # Gauss-Legendre on [0, 1]
# 1 - x R(x) = sum_k (-1)^(k+1) (2k-1)!! / x^(2k); at x = 20 the last term is 1e-18.
_ASYMPTOTIC = np.cumprod([1.0, *(-(2.0 * k + 1) for k in range(1, 11))])[::-1]
_LOG_SLACK = 1e-11  # exceeds the measured error of gdp_log_delta (tests) up to ...
_MEASURED = 50.0  # ... this mu, its own two roundings included
_UNITS = 2.0**-50  # eight roundings


def like(argument: Reals, values: Array) -> Reals:
    """A plain float for a scalar argument, an array for anything else."""
    return values if np.ndim(argument) else float(values)  # type: ignore[return-value]


def scaled(eps: float | Array, values: Array) -> Array:
    """e^eps times values, with 0 where a value is 0 even if e^eps overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(values == 0, 0.0, np.exp(eps) * values)


def f_eps_delta(alpha: Reals, *, eps: float, delta: float) -> Reals:
    """The trade-off function that (eps, delta)-DP is equivalent to.

    Implements Fact 1 (eq. (19)), corrected: exact, piecewise linear, symmetric.

    >>> f_eps_delta(0.0, eps=1.0, delta=0.1)
    0.9
    """
    a = check.array_in(0, 1, alpha=alpha)
    eps, delta = check.nonnegative(eps=eps), check.probability(delta=delta)
    # Erratum G-F1: the paper prints (1 - delta - eps) in the third term for (1 - delta - alpha).
    shallow = math.exp(-eps) * (1 - delta - a)
    return like(alpha, np.maximum(0.0, np.maximum(1 - delta - scaled(eps, a), shallow)))


def gaussian(alpha: Reals, *, mu: float) -> Reals:
    """G_mu, the trade-off function of N(0, 1) against N(mu, 1).

    Implements Fact 3: Phi(Phi^-1(1 - alpha) - mu); relative error about 1e-14.

    >>> round(gaussian(0.5, mu=1.0), 6)
    0.158655
    """
    a = check.array_in(0, 1, alpha=alpha)
    # Phi^-1(1 - alpha) = -Phi^-1(alpha): no digit of a small alpha is lost.
    return like(alpha, np.asarray(ndtr(-ndtri(a) - check.nonnegative(mu=mu))))


# --- two laws on finitely many outcomes ----------------------------------------------------------------------


class TradeOff(NamedTuple):
    """A piecewise linear trade-off function by its corners; call it with alpha.

    `alpha` increases from 0 to 1, `beta` decreases to 0; both have shape (m,).
    """

    alpha: Array
    beta: Array

    def __call__(self, alpha: Array) -> Array:
        """beta at alpha in [0, 1]; exact up to rounding."""
        return np.asarray(np.interp(alpha, self.alpha, self.beta))


def _pair(p: ArrayLike, q: ArrayLike) -> tuple[Array, Array]:
    found = check.array_in(0, 1, p=p), check.array_in(0, 1, q=q)
    for name, law in zip("pq", found, strict=True):
        if law.ndim != 1 or abs(law.sum() - 1) > 1e-9:
            raise InvalidValue(name, law.tolist(), "a list of probabilities with sum 1 within 1e-9")
    if found[0].size != found[1].size:
        raise InvalidValue("len(q)", found[1].size, f"len(p) = {found[0].size}")
    return found


def neyman_pearson(p: ArrayLike, q: ArrayLike) -> TradeOff:
    """T(P, Q) of two discrete laws, exact up to rounding: eq. (5).

    The Neyman-Pearson lemma: reject H0 = P at the outcomes with the largest q/p first; between two
    corners the outcome in question is rejected at random.

    Args:
        p: probabilities under H0, shape (k,).
        q: probabilities under H1 of the same outcomes, shape (k,).

    >>> curve = neyman_pearson([0.25, 0.75], [0.75, 0.25])  # randomized response, eps = log 3
    >>> curve.alpha.tolist(), curve.beta.tolist()
    ([0.0, 0.25, 1.0], [1.0, 0.25, 0.0])
    """
    p0, q0 = _pair(p, q)
    # The angle orders like q/p, without dividing by zero or overflowing.
    order = np.argsort(-np.arctan2(q0, p0), kind="stable")
    alpha = np.r_[0.0, np.cumsum(p0[order])]
    beta = np.r_[np.cumsum(q0[order][::-1])[::-1], 0.0]  # from the small end, so that small beta is exact
    alpha, beta = np.minimum(alpha / alpha[-1], 1.0), np.minimum(beta / beta[0], 1.0)
    last = np.r_[np.diff(alpha) > 0, True]  # of several beta at one alpha, the smallest
    return TradeOff(alpha[last], beta[last])


def hockey_stick(p: ArrayLike, q: ArrayLike, eps: float) -> float:
    """sum max(p - e^eps q, 0): the least delta with P(A) <= e^eps Q(A) + delta for all A.

    One direction of eq. (1); DP needs both. `eps` may be negative; at 0 it is the total variation.

    >>> hockey_stick([0.25, 0.75], [0.75, 0.25], 0.0)
    0.5
    """
    p0, q0 = _pair(p, q)
    return float(np.maximum(p0 - scaled(check.real(eps=eps), q0), 0).sum())


# --- mu-GDP --------------------------------------------------------------------------------------------------


def _mills(x: Array) -> Array:
    """R(x) = Phi(-x) / phi(x)."""
    return np.asarray(math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2)))


def _minus_mills_slope(x: Array) -> Array:
    """-R'(x) = 1 - x R(x); by its asymptotic series where the difference cancels."""
    out = np.asarray(1 - x * _mills(np.minimum(x, 20.0)))
    far = x >= 20
    if far.any():
        inverse = 1 / x[far] / x[far]
        out[far] = inverse * np.polyval(_ASYMPTOTIC, inverse)
    return out


def _log_delta_at(a: Array, mu: float) -> Array:
    """log delta as a function of a = eps/mu - mu/2, for mu > 0.

    e^eps phi(a + mu) = phi(a) turns Fact 3 into delta = phi(a) (R(a) - R(a + mu)), which never
    forms the overflowing e^eps; what cancels is left to an integral of -R'.
    """
    b = a + mu
    log_phi = -0.5 * a * a - _LOG_SQRT_2PI
    out = np.empty_like(a)
    near = mu <= np.maximum(1.0, a)
    if near.any():
        x = a[near, None] + mu * _NODES
        out[near] = log_phi[near] + np.log(_minus_mills_slope(x) @ _WEIGHTS) + math.log(mu)
    apart = ~near & (a > 0)
    if apart.any():
        out[apart] = log_phi[apart] + np.log(_mills(a[apart]) - _mills(b[apart]))
    wide = ~near & (a <= 0)  # here 1 - delta is a sum of two positive terms
    if wide.any():
        out[wide] = np.log1p(-(ndtr(a[wide]) + np.exp(log_phi[wide]) * _mills(b[wide])))
    return out


def _side(side: int, *allowed: int) -> int:
    if check.in_range(-1, 1, side=side) not in allowed:
        raise InvalidValue("side", side, f"one of {', '.join(map(str, allowed))}")
    return int(side)


def gdp_log_delta(eps: Reals, *, mu: float, side: int = 0) -> Reals:
    """log delta(eps) of a mu-GDP mechanism, far below where delta underflows.

    Implements Fact 3. Absolute error below 1e-11 for mu in [1e-4, 50] and delta >= 1e-300; may err to either side, or,
    with side = 1 upward and with -1 downward, even if mu is two roundings off.

    >>> low, value, high = (gdp_log_delta(100.0, mu=1.0, side=side) for side in (-1, 0, 1))
    >>> round(value, 6), 0 < high - low < 3e-11
    (-4960.254554, True)
    """
    e, mu, side = check.array_in(0, math.inf, eps=eps), check.nonnegative(mu=mu), _side(side, -1, 0, 1)
    if side and mu > _MEASURED:  # there what eps/mu - mu/2 is rounded by counts: as if eps and mu were others
        e, mu = e * (1 - side * _UNITS), check.nonnegative(mu=mu * (1 + side * _UNITS))
    if mu == 0:
        return like(eps, np.full_like(e, -np.inf))
    with np.errstate(over="ignore", divide="ignore", under="ignore", invalid="ignore"):
        a = np.minimum(np.atleast_1d(e) / mu - mu / 2, 1e150)  # beyond it a^2 overflows
        log_delta = np.where(a < 1e150, _log_delta_at(a, mu), -np.inf)
    return like(eps, log_delta.reshape(e.shape) + side * _LOG_SLACK)


def gdp_delta(eps: Reals, *, mu: float) -> Reals:
    """delta(eps) of a mu-GDP mechanism.

    Implements Fact 3: Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2), without its cancellation. Relative error below
    1e-11 for mu in [1e-4, 50] and delta >= 1e-300; may err to either side.

    >>> round(gdp_delta(0.0, mu=1.0), 9)
    0.382924923
    """
    with np.errstate(under="ignore"):
        return like(eps, np.exp(np.asarray(gdp_log_delta(eps, mu=mu))))


def gdp_epsilon(*, delta: float, mu: float, side: int = 1) -> float:
    """The least eps at which a mu-GDP mechanism is (eps, delta)-DP.

    Implements the other direction of Fact 3. Errs upward: gdp_delta(result) <= delta holds in exact arithmetic too, at
    a cost of about 1e-11 relative in delta up to mu = 50. 0 if delta(0) is below delta by as much. With side = -1 it
    errs downward as little: at any smaller eps the mechanism is not (eps, delta)-DP.

    >>> gdp_epsilon(delta=0.5, mu=1.0)
    0.0
    >>> 0 < gdp_epsilon(delta=1e-6, mu=1.0) - gdp_epsilon(delta=1e-6, mu=1.0, side=-1) < 1e-10
    True
    """
    delta, mu = check.probability(allow_zero=False, delta=delta), check.nonnegative(mu=mu)
    goal, side = math.log(delta), _side(side, -1, 1)

    def spare(eps: float) -> float:
        return side * (goal - gdp_log_delta(eps, mu=mu, side=side))

    if (spare(0.0) >= 0) == (side > 0):
        return 0.0
    target = goal - side * _LOG_SLACK
    # log delta is decreasing and concave in a, so Newton's method started right of the root,
    # where Phi(-a) alone is already delta, stays right of it and needs no bracket.
    a = -float(ndtri_exp(target))
    for _ in range(100):
        log_delta = float(_log_delta_at(np.array([a]), mu)[0])
        # -d log delta / da = mu phi(a) R(b) / delta, where b = a + mu
        log_slope = math.log(mu * float(_mills(np.array(a + mu)))) - 0.5 * a * a - _LOG_SQRT_2PI - log_delta
        step = (target - log_delta) * math.exp(-log_slope)
        a -= step
        if step <= 1e-15 * max(abs(a), mu):
            break
    eps = max(mu * (a + mu / 2), 1e-16 * mu)
    return push_until(lambda e: spare(e) >= 0, eps, side * math.ulp(eps), math.inf if side > 0 else 0.0)

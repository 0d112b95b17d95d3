"""The dominating pair of the shuffle model: hockey-stick divergence, certified on both sides.

C other reports are copies of the victim's two outcomes, A ~ Bin(C, 1/2) of them of the first. The
victim's report is the first outcome with probability p a, the second with probability a (exchanged under
the other input), or neither, p = e^{eps_n}. What is seen is how many reports are of each outcome:

    P0 = (A + V1, C - A + V2)      P1 = the same with V1 and V2 exchanged

For binary randomized response a = 1/(p+1), and this is the pair (rho_0, rho_1) of Chen et al. 2024,
Theorem 1. P0 and P1 are mirror images, so both directions of the divergence are equal.

Whether the victim said "neither" has to be revealed, unless other users' reports hide it
(`gspa.accountant.clones`): what the others send when they are not clones need not look like the victim's
"neither", and a simulation from the two counts would have to know which of the two is missing.

>>> from gspa.accountant.clones import clone_law
>>> law = clone_law(np.array([0.5]), np.array([0.5]), np.array([2.0]))
>>> low, value, high = divergence(law, Victim.binary(1.0), 0.0)
>>> round(value, 9) == round(np.tanh(0.5) * (0.25 + 0.5 * 0.5 + 0.25 * 0.5), 9).item()
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from gspa.accountant import binomial
from gspa.accountant.clones import BlanketLaw, CloneLaw
from gspa.accountant.roots import find_root, push_until
from gspa.accountant.tradeoff import gdp_epsilon

# --- the pair's divergence -----------------------------------------------------------------------------------

Array = NDArray[np.float64]

_RELATIVE = 1e-11  # allowance on each divergence; measured errors are below 1e-12 (tests, against mpmath)
_LARGEST = 700.0  # e^eps is finite


@dataclass(frozen=True)
class Victim:
    """The masses of one user's report on the two outcomes.

    Attributes:
        eps: local budget, p = e^eps > 1.
        low: a, the mass of the less likely outcome.
        neither: 1 - (1+p) a, the mass of every other report.
        hidden: how much of `neither` looks like other users' reports (with `gspa.accountant.clones` only); the
            rest is revealed.
    """

    eps: float
    low: float
    neither: float
    hidden: float = 0.0

    @classmethod
    def binary(cls, eps: float) -> Victim:
        """A user who always reports one of the two outcomes."""
        return cls(eps, math.exp(-eps) / (1 + math.exp(-eps)), 0.0)

    @property
    def seen(self) -> float:
        """(1+p) a, the mass of the two outcomes together."""
        return 1.0 if self.neither == 0 else self.low * (1 + math.exp(self.eps))


def clone_divergence(c: Array, eps: float, truth: Array, excess: Array) -> Array:
    """h_c: the divergence given C = c, for a victim whose report is never "neither".

    With T = tanh(eps_n/2) ("truth"), D = (T - tanh(eps/2)) (1 + e^eps)/2 ("excess"), and b the
    Bin(c, 1/2) pmf, the best test rejects from count k on, and with l = c + 1 - k

        x = (c+1) D / (T (1+e^eps)),  l = ceil(x) - 1,  u = x - l in (0, 1],  d = c + 1 - 2l
        h_c = b(l) (u T (1+e^eps) + (e^eps - 1) l J) / d,   J = `binomial.tail_integral`(c+1, d)

    in which every term is positive, so no digit is lost however small h_c is. It is the sum over
    counts >= k, D b(k-1) - (e^eps - 1) P(Bin(c, 1/2) >= k), integrated by parts.

    Args:
        c: shape (m,), whole numbers >= 0, increasing.
        eps: central eps >= 0.
        truth: shape (m,) or (1,), T in (0, 1].
        excess: same shape, D; the divergence is 0 where D <= 0.
    """
    c1 = c + 1
    factor = math.exp(min(eps, _LARGEST)) + 1
    truth = np.maximum(truth, np.finfo(np.float64).tiny)  # tanh of a subnormal budget is 0
    x = c1 * np.maximum(excess, 0.0) / truth * (math.exp(-eps) / (1 + math.exp(-eps)))
    l = np.minimum(np.maximum(np.ceil(x) - 1, 0.0), np.floor(c / 2))  # noqa: E741
    u = np.maximum(x - l, 0.0)
    d = c1 - 2 * l
    out = np.exp2(-c) * np.maximum(excess, 0.0)  # the value at l = 0
    first = l > 0
    if first.any():
        b, tail = binomial.fair_pmf(l[first], c[first]), binomial.tail_integral(c1[first], d[first])
        head = np.broadcast_to(truth, c.shape)[first] * u[first] * factor
        out[first] = b * (head + math.expm1(min(eps, _LARGEST)) * l[first] * tail) / d[first]
    return np.asarray(out)


def _terms(c: Array, victim: Victim, eps: float, ratio: Array | None = None) -> Array:
    """Divergence per unit of P(C = c), where P(C = c+1) = ratio P(C = c) given what is revealed.

    The total m = c + 1 hides whether the victim said "neither" (then C = m). Since
    b(i; m) = (b(i; c) + b(i-1; c))/2, hidden "neither" adds the same mass to both outcomes: the pair is a
    binary one, of mass g = (1+p) a + ratio * hidden and truth (p-1) a / g. Falls with c and with the ratio.
    """
    gap = victim.eps - eps
    if ratio is None:
        truth = np.array([math.tanh(victim.eps / 2)])
        excess = np.array([-math.expm1(-gap) / (1 + math.exp(-victim.eps))])
        return victim.seen * clone_divergence(c, eps, truth, excess)
    hidden = ratio * victim.hidden
    mass = victim.seen + hidden
    truth = victim.seen * math.tanh(victim.eps / 2) / mass
    # (T - tanh(eps/2))(1 + e^eps)/2 = (a (p - e^eps) - (e^eps - 1) ratio hidden / 2)/g
    spare = -victim.low * math.exp(victim.eps) * math.expm1(-gap)
    excess = (spare - 0.5 * math.expm1(eps) * hidden) / mass
    return mass * clone_divergence(c, eps, truth, excess)


def _sum(a: Array, b: Array) -> float:
    """Sum of products, pairwise."""
    return float(np.sum(a * b))


def divergence(law: CloneLaw | BlanketLaw, victim: Victim, eps: float) -> tuple[float, float, float]:
    """(lower, value, upper) of delta(eps) = H(P0, P1) = H(P1, P0).

    h_c falls with c (a fair coin can always be added: post-processing), so the first count of a
    block bounds it from above and the next block's first from below. The mass outside the window is
    added to the upper bound. Proved: blocks, tails (Bernstein), wrap-around. Allowances for rounding:
    1e-11 relative here and in each mass, 2e-13 of the largest mass in a Fourier sum.

    Args:
        law: the number of clones.
        victim: the masses; its own clone is not in `law`.
        eps: >= 0.
    """
    if eps >= victim.eps:
        return 0.0, 0.0, 0.0
    if isinstance(law, BlanketLaw):
        low, high = (_sum(e.mass, _terms(e.clones, victim, eps, e.ratio)) for e in (law.lower, law.upper))
        value = estimate(law, victim, eps)
        return _ordered(low, value, high)
    table = _terms(law.edges, victim, eps)
    low_table = np.where(np.diff(law.edges) == 1, table[:-1], table[1:])
    far, first = (float(_terms(np.array([c]), victim, eps)[0]) for c in (law.far, 0.0))
    left_out = law.below * far + law.far_mass * first + law.above * float(table[-1])
    high = _sum(law.mass + law.error, table[:-1]) + left_out
    low = _sum(np.maximum(law.mass - law.error, 0.0), low_table)
    return _ordered(low, _sum(law.mass, 0.5 * (table[:-1] + low_table)), high)


def _ordered(low: float, value: float, high: float) -> tuple[float, float, float]:
    lower, upper = low * (1 - _RELATIVE), min(high * (1 + _RELATIVE), 1.0)
    return lower, min(max(value, lower), upper), upper


def estimate(law: CloneLaw | BlanketLaw, victim: Victim, eps: float) -> float:
    """delta(eps) from a law's first counts alone, to find roots with; nothing certified."""
    if eps >= victim.eps:
        return 0.0
    if isinstance(law, BlanketLaw):
        return _sum(law.sample.mass, _terms(law.sample.clones, victim, eps, law.sample.ratio))
    return _sum(law.mass, _terms(law.edges[:-1], victim, eps))


# --- eps from delta: a cheap root, then a proof of both ends -------------------------------------------------

_COARSE = 300  # counts that the search for the root looks at
_FULL = 500  # up to this many it looks at all
SURELY_ZERO, SURELY_ALL = -800.0, 40.0  # where the logistic function is 0 and 1


class Interval(NamedTuple):
    """lower <= value <= upper."""

    lower: float
    value: float
    upper: float


@lru_cache(maxsize=16)  # asked twice for each eps
def gaussian_guess(victim: Victim, mean: float, target: float) -> float:
    """The Gaussian limit's eps: mu = TV sqrt(4/E[C]), TV = (p-1) a. Within 1% for many clones."""
    mu = victim.seen * math.tanh(victim.eps / 2) * math.sqrt(4 / mean) if mean > 0 else math.inf
    if mu > 10:
        return 0.9 * victim.eps
    return min(max(gdp_epsilon(delta=target, mu=mu), 1e-3 * mu), 0.95 * victim.eps)


def epsilon_interval(
    victim: Victim,
    law: CloneLaw | BlanketLaw,
    *,
    target: float,
    slack: float,
    law_of_lower: CloneLaw | BlanketLaw | None = None,
) -> Interval:
    """The eps in [0, eps_n] at which the pair's delta is `target`, or 0 if delta(0) is no larger.

    `upper` satisfies (upper bound on delta at it) <= target (1 - slack), and `lower` has (lower bound
    on delta at it) >= target (1 + slack); delta falls with eps, so the root is between them.

    Args:
        victim: eps > 0.
        law: the number of clones.
        target: in (0, 1).
        slack: relative rounding of the target.
        law_of_lower: if given, `lower` is for this law, with at least as many clones.
    """
    least, most = target * (1 + slack), target * (1 - slack)
    fewer = law if law_of_lower is None else law_of_lower
    search = law if isinstance(law, BlanketLaw) or law.mass.size <= _FULL else law.sample(_COARSE)
    at_zero = estimate(search, victim, 0.0)
    low0 = 1.0
    if at_zero < 1.1 * target:  # else the sums below find a positive eps anyway
        low0 = divergence(fewer, victim, 0.0)[0]
        if divergence(law, victim, 0.0)[2] <= most:
            return Interval(0.0, 0.0, 0.0)

    def at(y: float) -> float:
        return victim.eps * float(expit(y))

    def excess(y: float) -> float:
        delta = estimate(search, victim, at(y))
        return math.log(delta / target) if delta > 0 else -math.inf

    y, slope = -36.0, 0.0
    if at_zero > target:
        y, slope = find_root(excess, float(logit(gaussian_guess(victim, law.mean, target) / victim.eps)))
    low, value, high = divergence(law, victim, at(y))
    if fewer is not law:
        low = divergence(fewer, victim, at(y))[0]
    forth = back = 1e-9
    if value > 0 and slope < 0:
        # One Newton step from the coarse root; then steps outwards that should just suffice.
        residual = math.log(value / target)
        y -= residual / slope
        spare = 0.02 * abs(residual) + 4 * slack
        push = [(math.log(wide) + spare) / -slope for wide in (high / value, value / max(low, 1e-300))]
        forth, back = (min(max(1.01 * p, 0.0) + 1e-12, 1.0) for p in push)
    upper = at(push_until(lambda y: divergence(law, victim, at(y))[2] <= most, y + forth, forth, SURELY_ALL))
    lower = 0.0
    if low0 >= least:
        lower = at(push_until(lambda y: divergence(fewer, victim, at(y))[0] >= least, y - back, -back, SURELY_ZERO))
    return Interval(lower, min(max(at(y), lower), upper), upper)

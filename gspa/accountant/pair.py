"""The dominating pair of the shuffle model: hockey-stick divergence, certified on both sides.

C other reports are copies of the victim's two outcomes, A ~ Bin(C, 1/2) of them of the first. The
victim's report is the first outcome with probability p a, the second with probability a (exchanged under
the other input), or neither, p = e^{eps_n}. What is seen is how many reports are of each outcome:

    P0 = (A + V1, C - A + V2)      P1 = the same with V1 and V2 exchanged

For binary randomized response a = 1/(p+1), and this is the pair (rho_0, rho_1) of Chen et al. 2024, Theorem 1. P0 and
P1 are mirror images, so both directions of the divergence are equal. "Neither" is revealed (`TotalVariation` says why).

More generally the C others' reports are draws from one law B, as far as they hide anybody: `AtomTable`, for
`gspa.accountant.engine`. The pair above is the table of two atoms, with a closed form (`clone_divergence`).

>>> from gspa.accountant.clones import clone_law
>>> law = clone_law(np.array([0.5]), np.array([0.5]), np.array([2.0]))
>>> low, value, high = divergence(law, Victim.binary(1.0), 0.0)
>>> round(value, 9) == round(np.tanh(0.5) * (0.25 + 0.5 * 0.5 + 0.25 * 0.5), 9).item()
True
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np

from gspa.accountant import binomial
from gspa.accountant.arguments import MOST_EXPONENT, UNIT, Array
from gspa.accountant.clones import CloneLaw
from gspa.accountant.random_sum import expectation_above, expectation_below
from gspa.accountant.roots import find_root, push_until
from gspa.accountant.tradeoff import gdp_epsilon

# --- the pair's divergence -----------------------------------------------------------------------------------

_RELATIVE = 1e-11  # allowance on each divergence; measured errors are below 1e-12 (tests, against mpmath)
_LEAST = 1e-300  # below, doubles lose digits, and a victim counts as one of this budget, who is hidden no better
_SEEN = 1e-150  # a smaller mass of B hides nobody, and what is divided by it may be no double
_EXACT = (10.0, 20.0, 30.0)  # from eps = 10 on, allowances for roundings begin to count beside a small delta


@dataclass(frozen=True)
class Victim:
    """The masses of one user's report on the two outcomes."""

    eps: float  # local budget, p = e^eps > 1
    low: float  # a, the mass of the less likely outcome
    neither: float  # 1 - (1+p) a, the mass of every other report, which is revealed

    @classmethod
    def binary(cls, eps: float) -> Victim:
        """A user who always reports one of the two outcomes."""
        return cls(eps, math.exp(-eps) / (1 + math.exp(-eps)), 0.0)

    @property
    def seen(self) -> float:
        """(1+p) a, the mass of the two outcomes together."""
        return 1.0 if self.neither == 0 else self.low * (1 + math.exp(self.eps))

    @property
    def square(self) -> float:
        """Chi-square distance of the two laws relative to a fair coin: over E[C], mu^2 of the Gaussian limit."""
        return 4 * (self.seen * math.tanh(self.eps / 2)) ** 2

    def slope(self, eps: float) -> float:
        """About d log h_c/dc = -KL(Bern(theta), Bern(1/2)), theta = (1 + tanh(eps/2)/T)/2 the best test's share."""
        if eps == 0:
            return 0.0
        truth = max(math.tanh(self.eps / 2), np.finfo(np.float64).tiny)  # tanh of a subnormal budget is 0
        excess = min(1.0, math.tanh(eps / 2) / truth)
        down, up = (1 - excess) / 2, (1 + excess) / 2
        return -(math.log(2) + up * math.log(up) + (down * math.log(down) if down > 0 else 0.0))


@dataclass(frozen=True, eq=False)
class AtomTable:
    """The reports of one victim's two inputs, relative to a law B of which the others' reports are draws."""

    eps: float  # local eps of the victim; infinite if a report may tell the inputs apart for certain
    base: Array  # shape (k,), > 0, B
    first: Array  # shape (k,), P0/B
    second: Array  # shape (k,), P1/B
    bare: Array  # shape (3, l), P0, P1 and B where B has no mass, or as good as none

    @classmethod
    def of(cls, eps: float, base: Array, first: Array, second: Array) -> AtomTable:
        """From three laws of shape (k,), of which B's sum may be off by a rounding."""
        covered = base > _SEEN
        inside = base[covered] / (base.sum() or 1.0)
        bare = np.array([first[~covered], second[~covered], base[~covered]])
        return cls(eps, inside, first[covered] / inside, second[covered] / inside, bare)

    @property
    def square(self) -> float:
        """Chi-square distance of P0 and P1 relative to B: over m, mu^2 of the Gaussian limit."""
        return float(self.base @ np.minimum(np.abs(self.first - self.second), 1e150) ** 2)

    @property
    def exchanged(self) -> AtomTable:
        """The same of the two inputs exchanged."""
        return AtomTable(self.eps, self.base, self.second, self.first, self.bare[[1, 0, 2]])

    @property
    def mirrored(self) -> bool:
        """Whether exchanging the two inputs changes nothing but the names of the outputs."""
        both = [np.array([one.base, one.first, one.second]) for one in (self, self.exchanged)]
        one, other = (table[:, np.lexsort(table)] for table in both)
        return not self.bare.size and bool(np.array_equal(one, other))

    @property
    def losses(self) -> tuple[Array, Array]:
        """log P0/P1 of one report that nobody hides, and its mass under P0; B covers it."""
        return np.log(self.first / self.second), self.base * self.first

    def values(self, eps: float, *, up: bool) -> Array:
        """L, rounded to one side."""
        with np.errstate(over="ignore"):  # it may be infinite, and L with it
            large = math.exp(min(eps, MOST_EXPONENT)) * self.second
        off = 8 * UNIT * self.first + 8 * UNIT * np.minimum(large, np.finfo(np.float64).max)
        return self.first - large + (off if up else -off)

    def outside(self, eps: float, *, up: bool, others: float = 0.0) -> float:
        """What the reports cost that nobody else sends, rounded to one side, each term for its own cancellation.

        Downward, what so many others rarely send counts as the victim's.
        """
        side, (first, second, rare) = 4 * UNIT if up else -4 * UNIT, self.bare
        sent = second if up else second + others * rare
        gap = np.maximum(first * (1 + side) - math.exp(min(eps, MOST_EXPONENT)) * sent * (1 - side), 0.0)
        return float(gap.sum() * (1 + side * (1 + first.size)))

    def alone(self, eps: float) -> float:
        """Not below delta(eps) where nobody hides the report."""
        return float(self.base @ np.maximum(self.values(eps, up=True), 0.0)) * (1 + 1e-12) + self.outside(eps, up=True)

    def above(self, law: CloneLaw, eps: float) -> float:
        """Not below delta(eps) among C draws from B."""
        # The allowances for roundings grow like e^eps, while delta falls: what is found at a smaller eps is above it.
        return min(1.0, *(self._end(law, at, up=True) for at in {eps, *(min(eps, exact) for exact in _EXACT)}))

    def below(self, law: CloneLaw, eps: float) -> float:
        """Not above delta(eps) among C draws from B."""
        return self._end(law, eps, up=False)

    def _end(self, law: CloneLaw, eps: float, *, up: bool) -> float:
        bare = self.outside(eps, up=up, others=float(law.edges[-1]))
        if not self.base.size:
            return bare
        # A mass of B that is off by 3 units puts up to (1 + 3 u)^m on m draws.
        grown, end = math.exp(8 * UNIT * (float(law.edges[-1]) + 1)), expectation_above if up else expectation_below
        inside = end((self.values(eps, up=up), self.base), law)
        return (inside * grown if up else inside / grown) + bare


def clone_divergence(c: Array, victim: Victim, eps: float) -> Array:
    """h_c: the divergence given C = c, at least; c of shape (m,), whole numbers >= 0, increasing.

    With T = tanh(eps_n/2) ("truth"), D = (T - tanh(eps/2)) (1 + e^eps)/2 ("excess"), and b the
    Bin(c, 1/2) pmf, the best test rejects from count k on, and with l = c + 1 - k

        x = (c+1) D / (T (1+e^eps)),  l = ceil(x) - 1,  u = x - l in (0, 1],  d = c + 1 - 2l
        h_c = b(l) (u T (1+e^eps) + (e^eps - 1) l J) / d,   J = `binomial.tail_integral`(c+1, d)

    in which every term is positive, so no digit is lost however small h_c is. It is the sum over
    counts >= k, D b(k-1) - (e^eps - 1) P(Bin(c, 1/2) >= k), integrated by parts; 0 where D <= 0. All that is for a
    report that is never "neither", and counts as often as it is not.
    """
    local = max(victim.eps, _LEAST)
    truth = math.tanh(local / 2)
    excess = max(-math.expm1(eps - local) / (1 + math.exp(-local)), 0.0)
    c1 = c + 1
    factor = math.exp(min(eps, MOST_EXPONENT)) + 1
    x = c1 * excess / truth * (math.exp(-eps) / (1 + math.exp(-eps)))
    l = np.minimum(np.maximum(np.ceil(x) - 1, 0.0), np.floor(c / 2))  # noqa: E741
    u = np.maximum(x - l, 0.0)
    d = c1 - 2 * l
    out = np.exp2(-c) * excess  # the value at l = 0
    first = l > 0
    if first.any():
        b, tail = binomial.fair_pmf(l[first], c[first]), binomial.tail_integral(c1[first], d[first])
        head = truth * u[first] * factor
        out[first] = b * (head + math.expm1(min(eps, MOST_EXPONENT)) * l[first] * tail) / d[first]
    return np.asarray(victim.seen * out)


def divergence(law: CloneLaw, victim: Victim | AtomTable, eps: float) -> tuple[float, float, float]:
    """(lower, value, upper) of delta(eps) = H(P0, P1) = H(P1, P0).

    h_c falls with c (a fair coin can always be added: post-processing), so the first count of a
    block bounds it from above and the next block's first from below. The mass outside the window is
    added to the upper bound. Proved: blocks, tails (Bernstein), wrap-around. Allowances for rounding:
    1e-11 relative here and in each mass, 2e-13 of the largest mass in a Fourier sum.
    """
    if eps >= victim.eps:
        return 0.0, 0.0, 0.0
    if isinstance(victim, AtomTable):
        low, high = victim.below(law, eps), victim.above(law, eps)
        value = 0.5 * low + 0.5 * high
    else:
        table = clone_divergence(law.edges, victim, eps)
        low_table = np.where(np.diff(law.edges) == 1, table[:-1], table[1:])
        first, far = clone_divergence(np.array([0.0, law.far]), victim, eps).tolist()
        left_out = law.below * far + law.far_mass * first + law.above * float(table[-1])
        # Not dot products: NumPy adds up in pairs.
        high = float(np.sum((law.mass + law.error) * table[:-1])) + left_out
        low = float(np.sum(np.maximum(law.mass - law.error, 0.0) * low_table)) if victim.eps >= _LEAST else 0.0
        value = float(np.sum(law.mass * (0.5 * (table[:-1] + low_table))))
    lower, upper = low * (1 - _RELATIVE), min(high * (1 + _RELATIVE), 1.0)
    return lower, min(max(value, lower), upper), upper


# --- eps from delta ------------------------------------------------------------------------------------------

BAND, _SHARP = 1e-4, 1e-10  # of delta, in which an end is good enough; the same of a closed form
TOP = 700.0  # an eps that is as good as none
_LAST = 0.94  # of the largest eps, from where on it is likely that nothing below it will do
_NOTHING = 1e-6  # of where the search starts: a smaller eps counts as 0


class Interval(NamedTuple):
    """lower <= value <= upper."""

    lower: float
    value: float
    upper: float


@lru_cache(maxsize=16)  # asked twice for each eps
def gaussian_guess(victim: Victim | AtomTable, mean: float, target: float) -> float:
    """The Gaussian limit's eps among E[C] draws, or 0.3 mu where that is less. Within 1% for many clones."""
    mu = math.sqrt(victim.square / mean) if mean > 0 else math.inf
    if mu > 10:
        return 0.9 * victim.eps
    return min(max(gdp_epsilon(delta=target, mu=mu), 0.3 * mu), 0.95 * victim.eps)


def epsilon_interval(
    victim: Victim | AtomTable, law: CloneLaw, *, target: float, slack: float, law_of_lower: CloneLaw | None = None
) -> Interval:
    """The eps in [0, eps_n] at which the pair's delta is `target`, or 0 if delta(0) is no larger.

    `upper` satisfies (upper bound on delta at it) <= target (1 - slack), and `lower` has (lower bound
    on delta at it) >= target (1 + slack); delta falls with eps, so the root is between them. With `law_of_lower`,
    `lower` is for that law, with at least as many clones.
    """
    least, most = target * (1 + slack), target * (1 - slack)
    fewer = law if law_of_lower is None else law_of_lower
    above: Callable[[float], float]
    below: Callable[[float], float]
    if isinstance(victim, AtomTable):
        band, guess = BAND, gaussian_guess(victim, law.mean + 1, target)
        above, below = partial(victim.above, law), partial(victim.below, fewer)
    else:
        band, guess, at = _SHARP, gaussian_guess(victim, law.mean, target), cache(partial(divergence, victim=victim))
        above, below = (lambda eps: at(law, eps=eps)[2]), (lambda eps: at(fewer, eps=eps)[0])
    high = least_epsilon(above, most, guess, victim.eps, band)
    low = min(greatest_epsilon(below, least, high, band), high)
    return Interval(low, 0.5 * low + 0.5 * high, high)


def _searched(
    delta_at: Callable[[float], float], target: float, start: float, top: float, band: float, side: int
) -> float:
    """`least_epsilon` (side 1) or `greatest_epsilon` (-1), whose high end is `top`."""
    aim, enough = min(target * (1 - side * 0.5 * band), 1 - 2.0**-53), target * (1 - side * band)
    unit = min(start, 0.95 * top) if side > 0 else top
    good, bad = (top, 0.0) if side > 0 else (0.0, top)
    height, over = 1.0, False

    def excess(place: float) -> float:
        """log of delta over what is aimed at, at so many units of eps; 0 where the search may end."""
        nonlocal good, bad, height, over
        eps = min(place * unit, top) if place > _NOTHING else 0.0
        found = delta_at(eps)
        if side * found <= side * target:
            good = eps
            done = side * found > side * enough or (eps == 0 and side > 0)
        elif side > 0:
            bad, done = eps, good == top and eps > _LAST * top and delta_at((1 - 0.01 * band) * top) > target
        else:
            bad, done = eps, eps == 0
        over = done or abs(good - bad) <= 1e-5 * band * max(good, bad)
        spare = math.log(found / aim) if found > 0 else -height  # a jump to 0 is halved
        height = max(spare, 0.0) or height
        return 0.0 if over else spare

    if unit > 0:
        # Of a Gaussian's delta that is small, the logarithm falls about so fast.
        place, _ = find_root(excess, 1.0, top / unit, min(1.5 * (math.log(target) - math.log(unit)), -1.0))
        if not over:  # it ended beside the band
            push, near = side * 1e-5 * band * unit, min(place * unit, top)
            good = push_until(lambda eps: side * delta_at(eps) <= side * target, near, push, good)
    return good


def least_epsilon(delta_at: Callable[[float], float], target: float, start: float, top: float, band: float) -> float:
    """The least eps found with delta_at(eps) <= target: 0, or a delta within the relative `band` below the target.

    Every returned value was evaluated, except `top`, which is returned if nothing below it will do. Three or four
    values are enough where delta is near that of a Gaussian.
    """
    return _searched(delta_at, target, start, top, band, 1)


def greatest_epsilon(delta_at: Callable[[float], float], target: float, high: float, band: float) -> float:
    """The greatest eps found in [0, high] with delta_at(eps) >= target, in the same way; 0 if there is none."""
    return _searched(delta_at, target, high, high, band, -1)

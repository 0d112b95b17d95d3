"""Binary randomized response without any reduction: what the shuffled bits themselves reveal.

Shuffled bits say as much as the number of ones among them. The dominating pair (`pair`) also reveals the
number of clones, so it is an upper bound; this is the value that it bounds:

>>> from gspa.accountant import budgets
>>> crowd = budgets.constant(0.5, n=1000)
>>> exact = exact_epsilon(crowd, delta=1e-4)
>>> round(exact.value, 6), exact.relative_width < 1e-8
(0.034289, True)
>>> round(central_epsilon(crowd, delta=1e-4).value / exact.value, 3)  # the pair's eps over this one
1.122

The victim is the user with the largest eps, and the others' inputs are the worst; a threshold on the number of ones is
the best test ("The worst inputs of randomized response", on the page of proofs). Rounding an eps_j up is safe.

The inputs move the law's mean, which does not matter by itself, and its skewness, but not its variance. At eps > 0
nearly equal inputs are therefore the worst found: in the likelier law the victim holds what the others hold, in
the other law it is the odd one out. Where the mean falls between two thresholds can make a few exceptions pay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from gspa.accountant import arguments as check
from gspa.accountant.arguments import MOST_EXPONENT, UNIT, Array
from gspa.accountant.bound import Bound
from gspa.accountant.budgets import Budgets
from gspa.accountant.errors import OutsideValidity
from gspa.accountant.one_round import UserBounds, central_delta, central_epsilon
from gspa.accountant.pair import Victim, gaussian_guess
from gspa.accountant.roots import find_root, push_until

# --- the number of ones: delta(eps) at many inputs of the others at once -------------------------------------
# The victim has eps_n, w = e^eps_n/(1+e^eps_n); T is the number of ones among the others, with law t, at fixed
# inputs. t is log-concave, so the best test is a threshold, S > m:
#
#     H(P1, P0) = max_m [D t(m) - (e^eps - 1) P(T > m)],   D = w - e^eps (1-w),  N = e^eps w - (1-w).
#
# Tilted by lambda = log(N/D), T has its mode at the best m, which is therefore the tilted mean rounded down or up
# (Darroch 1964): three thresholds are tried, so that the mean may be off by a rounding. With
# rho = D/N and the characteristic function phi of the tilted law
#
#     H = D E[e^(lambda T)] e^(-lambda m) 1/(2 pi) int phi(s) e^(-i s m) (1 - e^(-is))/(1 - rho e^(-is)) ds:
#
# some thirty terms of a sum, whatever n, accurate relative to H however small it is.

_CELLS = 1 << 19  # size of the arrays worked on at once
_LEFT_OUT = 44.0  # e^-44: tilted mass outside one period of the sum, on each side
_CUT = 50.0  # terms of the sum below e^-50 are not formed
_MOST_EPS = 1e4  # beyond it the roundings of exponents, n eps units, would show


@dataclass(frozen=True, eq=False)
class Crowd:
    """The victim's eps, and the others in groups of equal eps."""

    victim: float  # eps_n
    eps: Array  # shape (g,)
    count: Array  # shape (g,), whole numbers >= 0

    def __post_init__(self) -> None:
        if self.victim > _MOST_EPS:
            hint = f"the largest is {self.victim:g}, which hides nothing"
            raise OutsideValidity("the exact law of the bits", f"eps <= {_MOST_EPS:g}", hint)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many numbers of ones each group can have; an eps = 0 report does not depend on its input."""
        return tuple(int(c) + 1 if e > 0 else 1 for e, c in zip(self.eps, self.count, strict=True))

    @property
    def ends(self) -> Array:
        """All equal inputs."""
        return np.array([0 * self.count, self.count])

    def every_input(self) -> Iterator[Array]:
        """Ones in each group, shape (rows, g), over all choices, in pieces."""
        choices, rows = math.prod(self.shape), _CELLS // 64
        for start in range(0, choices, rows):
            piece = np.arange(start, min(start + rows, choices))
            yield np.array(np.unravel_index(piece, self.shape), dtype=np.float64).T


class Tilted:
    """H(P1, P0) at one eps in [0, eps_n); for H(P0, P1) exchange zeros and ones."""

    def __init__(self, crowd: Crowd, eps: float) -> None:
        both, spare = -math.expm1(-eps - crowd.victim), -math.expm1(eps - crowd.victim)
        self.crowd = crowd
        self.scale = spare / (1 + math.exp(-crowd.victim))  # D
        self.rest = -math.expm1(-eps) * (1 + math.exp(-crowd.victim)) / both  # 1 - rho
        self.rho = math.exp(-eps) * spare / both
        self.tilt = -math.log1p(-self.rest) if self.rest < 0.5 else eps + math.log(both / spare)
        # Columns: input 0, input 1; the odds of reporting a one are e^-eps_j and e^eps_j.
        odds = crowd.eps[:, None] * np.array([-1.0, 1.0])
        self.p, rest = expit(odds + self.tilt), expit(-odds - self.tilt)
        self.variance = self.p * rest
        # log E[e^(tilt B)] - tilt E_tilted[B] of one report, and the size of its terms, to which rounding is relative.
        if self.tilt < 1:
            self.log_mgf = np.log1p(math.expm1(self.tilt) * expit(odds)) - self.tilt * self.p
            self.size = 0.0
        else:
            self.log_mgf = np.logaddexp(0, odds + self.tilt) - np.logaddexp(0, odds) - self.tilt * self.p
            self.size = float(crowd.count @ (crowd.eps + self.tilt))

    def deltas(self, combine: Callable[[Array], Array]) -> tuple[Array, Array]:
        """Values and bounds on their errors; `combine` is `table -> ones @ table`, or the same in a faster way.

        The bounds cover what the sum leaves out, proved, and the rounding of phases and exponents, counted.
        """

        def total(table: Array) -> Array:
            """Sum over the others of what depends on their input; `table` has shape (g, 2, f)."""
            return np.asarray(self.crowd.count @ table[:, 0] + combine(table[:, 1] - table[:, 0]))

        n = float(self.crowd.count.sum())
        mean, variance, exponent = total(np.stack([self.p, self.variance, self.log_mgf], axis=2)).T
        least, most = max(float(variance.min()), 0.0), max(float(variance.max()), 0.0)
        # Bernstein: the tilted law has mass e^-_LEFT_OUT farther than `half` on each side, none beyond n + 1.
        half = int(min(n, _LEFT_OUT / 3 + math.sqrt(_LEFT_OUT**2 / 9 + 2 * _LEFT_OUT * most)) + 3)
        period, terms = 2 * half + 1, half + 1
        if 2 * least > _CUT:  # |phi(s)| <= exp(-2 variance sin^2(s/2)), because log1p(-x) <= -x
            terms = min(terms, math.ceil(math.asin(math.sqrt(_CUT / (2 * least))) * period / math.pi) + 2)
        s = 2 * math.pi / period * np.arange(terms)
        p, sine2 = self.p[:, :, None], np.sin(s / 2) ** 2
        log_size = total(0.5 * np.log1p(-4 * self.variance[:, :, None] * sine2))
        angle = total(np.arctan2(p * np.sin(s), 1 - 2 * p * sine2) - p * s)
        # Its geometric series ends after `half` terms, before the period would fold it back.
        step = 2j * np.sin(s / 2) * np.exp(-0.5j * s)  # 1 - e^(-is)
        below = self.rest + self.rho * step
        below[0] = 1.0
        kernel = (step + self.rest * self.rho**half * np.exp(-1j * s * (half + 1))) / below
        kernel[0] = self.rho**half
        weight = np.r_[1.0, np.full(terms - 1, 2.0)] / period
        # A mean that is a whole number but for its rounding: `m` may be one too large, so the one below is tried too.
        m = np.floor(mean + 8 * UNIT * (1 + mean))
        wave = np.exp(log_size + 1j * (angle - (m - mean)[:, None] * s))
        back = np.exp(1j * s)
        # Thresholds m - 1, m and m + 1; t(m-1) - t(m) and t(m) - t(m+1), tilted.
        columns = [kernel * back, kernel, kernel / back, step * back, step]
        inside = np.real(wave @ (weight * np.array(columns)).T)
        # Phases are rounded relative to s * mean, exponents relative to tilt * mean.
        top = float(mean.max()) + 2
        rounding = 8 * UNIT * (4 + s * top) * weight
        spread = np.exp(log_size) @ np.stack([np.abs(kernel) * rounding, 2 * rounding], axis=1)
        spread += 4 * math.exp(-_LEFT_OUT)
        slack = 8 * UNIT * (2 + 2 * self.tilt * top + self.size)
        height = (exponent + self.tilt * (mean - m))[:, None] + self.tilt * np.array([1.0, 0.0, -1.0])
        factor = self.scale * np.exp(np.minimum(height, MOST_EXPONENT))
        # A threshold only where the tilted mode may be at it: the tilted law rises up to its mode, then falls.
        rises, falls = inside[:, 3:] <= spread[:, 1:], inside[:, 3:] >= -spread[:, 1:]
        may = np.stack([falls[:, 0], rises[:, 0] & falls[:, 1], rises[:, 1]], axis=1)
        value = np.where(may, factor * inside[:, :3], 0.0)
        error = np.where(may, factor * (spread[:, :1] + slack * np.abs(inside[:, :3])), 0.0)
        return np.maximum(value.max(axis=1), 0.0), error.max(axis=1)

    def at(self, ones: Array) -> tuple[Array, Array]:
        """At given numbers of ones, shape (rows, g)."""
        return self.deltas(lambda table: ones @ table)

    def around(self, ones: Array, group: NDArray[np.intp], step: Array) -> tuple[Array, Array]:
        """At `ones`, shape (g,), with step[i] more in group[i], one change a row."""
        return self.deltas(lambda table: ones @ table + step[:, None] * table[group])


# --- what the shuffled bits themselves reveal ----------------------------------------------------------------

METHOD = "exact law of the number of ones"
VALID_FOR = "binary randomized response, own eps_j each"
MOST_INPUTS = 1 << 17  # choices of the others' inputs up to which all are tried
QUICK = 1 << 16  # choices up to which the front door tries all, in less than a second
_MOST_USERS = 10**9
_MOST_GROUPS = 20_000
_KEPT = 64  # best choices of inputs that the search for eps looks at
_MOVED = 1024  # groups whose inputs one step of the ascent tries to change
_STEPS = 40
_SURELY_ZERO, _SURELY_ALL = -800.0, 40.0  # where the logistic function is 0 and 1


class _Found(NamedTuple):
    """The largest delta over the inputs tried, bracketed, and the inputs (ones per group), best first."""

    lower: float
    value: float
    upper: float
    ones: Array


def _best(crowd: Crowd, eps: float, pieces: Iterable[Array]) -> _Found:
    if eps >= crowd.victim:
        return _Found(0.0, 0.0, 0.0, 0 * crowd.count[None])
    tilted = Tilted(crowd, eps)
    kept, values, lower, upper = np.zeros((0, crowd.eps.size)), np.zeros(0), 0.0, 0.0
    for ones in pieces:
        some, error = tilted.at(ones)
        lower, upper = max(lower, float((some - error).max())), max(upper, float((some + error).max()))
        kept, values = np.concatenate([kept, ones]), np.concatenate([values, some])
        few = np.argsort(-values, kind="stable")[:_KEPT]
        kept, values = kept[few], values[few]
    value = min(float(values[0]), 1.0)
    return _Found(min(lower, value), value, min(upper, 1.0), kept)


def _ascended(crowd: Crowd, eps: float) -> Array:
    """From the better end, until no change of +-2^i ones in one of (at most 1024) groups raises delta."""
    ones: Array = _best(crowd, eps, [crowd.ends]).ones[0]
    heard = np.flatnonzero((crowd.eps > 0) & (crowd.count > 0))
    if eps >= crowd.victim or heard.size == 0:
        return ones[None]
    tilted = Tilted(crowd, eps)
    heard = heard[np.unique(np.linspace(0, heard.size - 1, min(heard.size, _MOVED)).astype(np.intp))]
    steps = np.array([sign * 2.0**i for i in range(int(crowd.count[heard].max()).bit_length()) for sign in (1, -1)])
    group, step = np.repeat(heard, steps.size), np.tile(steps, heard.size)
    best = float(tilted.at(ones[None])[0][0])
    for _ in range(_STEPS):
        moves = np.flatnonzero((ones[group] + step >= 0) & (ones[group] + step <= crowd.count[group]))
        value = np.concatenate(
            [tilted.around(ones, group[i], step[i])[0] for i in np.array_split(moves, moves.size // 8192 + 1)]
        )
        if float(value.max()) <= best * (1 + 1e-13):
            break
        best, chosen = float(value.max()), moves[int(np.argmax(value))]
        ones = ones.copy()
        ones[group[chosen]] += step[chosen]
    return ones[None]


Inputs = Callable[[], Iterable[Array]]  # the others' inputs to try


def _worst(crowd: Crowd, inputs: Inputs | None, eps: float) -> _Found:
    """Over these inputs; or over all equal and what can be reached from there."""
    return _best(crowd, eps, inputs() if inputs else [np.concatenate([_ascended(crowd, eps), crowd.ends])])


def _crowd(budgets: Budgets, victim: int | None = None) -> Crowd:
    """The others of the user with the largest eps, or of the one that is named."""
    if budgets.delta_max > 0:
        hint = f"the largest is {budgets.delta_max:g}; such a report is arbitrary: use gspa.accountant.one_round"
        raise OutsideValidity(METHOD, "local delta_i = 0", hint)
    if budgets.n > _MOST_USERS:
        raise OutsideValidity(METHOD, f"n <= {_MOST_USERS}", f"got {budgets.n}; use gspa.accountant.one_round")
    if budgets.eps.size > _MOST_GROUPS:
        hint = f"got {budgets.eps.size}; round the eps up to fewer values for an upper bound, down for a lower one"
        raise OutsideValidity(METHOD, f"at most {_MOST_GROUPS} distinct eps", hint)
    count = budgets.count.astype(np.float64)
    who = int(np.argmax(budgets.eps)) if victim is None else victim
    count[who] -= 1
    return Crowd(float(budgets.eps[who]), budgets.eps, count)


def tries_all(budgets: Budgets, *, most: int = QUICK) -> bool:
    """Whether all the others' inputs are tried, so that `exact_epsilon` answers with both ends of the law's own value.

    Args:
        budgets: the users' local budgets.
        most: choices of the others' inputs, at most 2^17.
    """
    # Each choice needs its own sum, and there are at least as many choices as others whose report depends on them.
    if int(budgets.count[budgets.eps > 0].sum()) > most + 1 or budgets.eps.size > _MOST_GROUPS + most:
        return False
    try:
        return math.prod(_crowd(budgets.grouped()).shape) <= most
    except OutsideValidity:
        return False


def _asked(budgets: Budgets, victim: int | None = None) -> tuple[Crowd, Inputs | None]:
    """The others, and all their inputs, unless they are too many to try."""
    if victim is not None:
        victim = check.index(budgets.eps.size, "the budgets' groups", victim=victim)
    people = budgets.grouped()
    crowd = _crowd(people, None if victim is None else int(np.searchsorted(people.eps, budgets.eps[victim])))
    return crowd, crowd.every_input if math.prod(crowd.shape) <= MOST_INPUTS else None


def _bound(crowd: Crowd, found: _Found, pair: Bound | None, **asked: Any) -> Bound:
    """The answer; of inputs that were not all tried it is their lower end, and the pair's upper one."""
    low, value, high, (ones, *_) = found
    method = f"{METHOD}, worst of all inputs"
    if pair is not None:
        value, high, method = low, max(low, pair.upper), f"{METHOD}, worst inputs found; upper: dominating pair"
    # Which inputs: those with which a victim holding 1 is told from one holding 0, in this order.
    note = f"{int(ones.sum())} of {int(crowd.count.sum())} others hold 1"
    if crowd.eps.size <= 4:
        groups = zip(ones, crowd.count, crowd.eps, strict=True)
        note = "others that hold 1: " + ", ".join(f"{int(k)} of {int(c)} at eps {e:g}" for k, c, e in groups)
    n = int(crowd.count.sum()) + 1
    return Bound(low, value, high, method, VALID_FOR, n=n, note=note, reached=True, **asked)


def exact_delta(budgets: Budgets, *, eps: float) -> Bound:
    """delta(eps) of the shuffled bits, at the others' worst inputs.

    Args:
        budgets: local budgets, every delta_i = 0.
        eps: central eps >= 0.

    Returns:
        Bound: as wide as roundings, where there are at most 2^17 choices of inputs and all were tried.
        Otherwise `lower` and `value` are what the best inputs found certainly give, and `upper` is
        the dominating pair's.

    >>> from gspa.accountant import budgets
    >>> exact_delta(budgets.constant(1.0, n=3), eps=0.5).note
    'others that hold 1: 2 of 2 at eps 1'
    """
    eps = check.nonnegative(eps=eps)
    crowd, inputs = _asked(budgets)
    found = _worst(crowd, inputs, eps)
    return _bound(crowd, found, None if inputs else central_delta(budgets, eps=eps), eps=eps)


def exact_epsilon(budgets: Budgets, *, delta: float, victim: int | None = None) -> Bound:
    """The least eps at which the shuffled bits are (eps, delta)-DP; 0 where delta is at least delta(0).

    Args:
        budgets: as the answer, see `exact_delta`.
        delta: central delta in (0, 1).
        victim: index of the group of the user whose record is replaced; None for the worst, the largest eps.

    >>> from gspa.accountant import budgets
    >>> exact_epsilon(budgets.constant(1.0, n=3), delta=0.9).upper
    0.0
    """
    delta = check.probability(allow_zero=False, delta=delta)
    crowd, inputs = _asked(budgets, victim)
    found = _epsilon(crowd, inputs, delta)
    return _bound(crowd, found, None if inputs else central_epsilon(budgets, delta=delta), delta=delta)


def _epsilon(crowd: Crowd, inputs: Inputs | None, delta: float) -> _Found:
    """Search with the worst inputs that an ascent finds, check against all, then prove both ends."""
    rows, whole = crowd.ends, inputs is not None
    if not (whole and _best(crowd, 0.0, [rows]).lower > delta):
        zero = _worst(crowd, inputs, 0.0)
        if zero.upper <= delta * (1 - 4e-16):
            return _Found(0.0, 0.0, 0.0, zero.ones)
        rows = zero.ones

    def at(y: float) -> float:
        return crowd.victim * float(expit(y))

    def excess(y: float) -> float:
        found = _best(crowd, at(y), [rows]).value
        return math.log(found / delta) if found > 0 else -math.inf

    def root(y: float) -> tuple[float, float]:
        """A root from y, and how far beyond its ends may lie."""
        y, slope = find_root(excess, y)
        worst = _best(crowd, at(y), [rows])
        spare = (worst.upper - worst.lower) / delta + 2e-11
        return y, min(2 * spare / -slope, 1.0) if slope < 0 else 1e-9

    everywhere = cache(lambda y: _worst(crowd, inputs, at(y)))
    variance = float(crowd.count @ (expit(crowd.eps) * expit(-crowd.eps)))
    guess = gaussian_guess(Victim.binary(crowd.victim), 4 * variance, delta)
    y, push, last = float(logit(guess / crowd.victim)), 0.0, math.inf
    for _ in range(2 * whole):
        rows = np.concatenate([rows, _ascended(crowd, at(y))])
        if excess(y) == last:
            break
        y, push = root(y)
        last = excess(y)
    for _ in range(6):
        # Where all inputs are tried, beyond the root: then what is seen there is the upper end as well.
        rows = np.unique(np.concatenate([rows, everywhere(y + push * whole).ones]), axis=0)
        if excess(y) == last:
            break  # no worse inputs appeared
        y, push = root(y)
        last = excess(y)
    worst = _best(crowd, at(y), [rows])
    above, most, least = _SURELY_ALL, delta * (1 - 4e-16), delta * (1 + 4e-16)
    if whole:  # else the pair's eps is the upper end
        above = push_until(lambda y: everywhere(y).upper <= most, y + push, push, _SURELY_ALL)
    below = push_until(lambda y: _best(crowd, at(y), [rows]).lower >= least, y - push, -push, _SURELY_ZERO)
    lower, upper = at(below), at(above)
    return _Found(lower, min(max(at(y), lower), upper), upper, worst.ones)


# --- the sharper of this answer and the pair's ---------------------------------------------------------------

TOO_MANY = f"the exact law is evaluated up to {QUICK:,} choices of the others' inputs"
_TOO_LARGE = f"the exact law is evaluated up to a local eps of {_MOST_EPS:,.0f}"
_EACH = (
    "the dominating pair, because for each user apart the exact law is evaluated up to {:,} choices of the others' "
    "inputs; no upper end is above the exact one of the worst user"
)
_LOCAL = "the exact law is not known with a local delta_i > 0"


def sharper(pair: Bound, budgets: Budgets) -> Bound:
    """The exact answer where all inputs can be tried, never above the pair's; else the pair's, and why."""
    if not tries_all(budgets):
        too_large = _TOO_LARGE if budgets.eps_max > _MOST_EPS else TOO_MANY
        return replace(pair, note=f"the dominating pair, because {_LOCAL if budgets.delta_max > 0 else too_large}")
    if pair.delta is not None:
        found = exact_epsilon(budgets, delta=pair.delta)
    else:
        found = exact_delta(budgets, eps=pair.eps or 0.0)
    # Both upper ends hold; where they agree in all but the last digits the pair's may be the smaller one.
    upper = min(found.upper, pair.upper)
    words = pair.valid_for.split(";")[0]  # whose bits they are; there are no local deltas
    return replace(found, lower=min(found.lower, upper), value=min(found.value, upper), upper=upper, valid_for=words)


def sharper_each(pair: UserBounds, budgets: Budgets) -> UserBounds:
    """The same for each user, where all inputs can be tried for each group of users."""
    eps, first, where = np.unique(budgets.eps, return_index=True, return_inverse=True)
    if not tries_all(budgets, most=QUICK // eps.size):
        everybody = sharper(central_epsilon(budgets, delta=pair.delta), budgets)
        upper = np.minimum(pair.upper, everybody.upper)  # nobody is worse off than the user of the largest eps
        note = _EACH.format(QUICK // eps.size) if everybody.method.startswith(METHOD) else everybody.note
        return replace(pair, lower=np.minimum(pair.lower, upper), upper=upper, note=note)
    found = [exact_epsilon(budgets, delta=pair.delta, victim=int(index)) for index in first]
    upper = np.minimum(np.array([one.upper for one in found])[where], pair.upper)
    lower = np.minimum(np.array([one.lower for one in found])[where], upper)
    words = pair.valid_for.split(";")[0]
    return replace(pair, lower=lower, upper=upper, method=found[0].method, valid_for=words, reached=True)

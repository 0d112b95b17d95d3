"""Binary randomized response without any reduction: what the shuffled bits themselves reveal.

Shuffled bits say as much as the number of ones among them. The dominating pair (`gspa.pair`) also reveals the
number of clones, so it is an upper bound; this is the value that it bounds:

>>> from gspa import budgets
>>> crowd = budgets.constant(0.5, n=1000)
>>> exact = exact_epsilon(crowd, delta=1e-4)
>>> round(exact.value, 6), exact.relative_width < 1e-8
(0.034289, True)
>>> round(gap(crowd, delta=1e-4).value, 3)  # the pair's eps over this one
1.122

The victim is the user with the largest eps, and the others' inputs are the worst. Why that is right, and cheap:

* at fixed inputs a threshold on the number of ones is the best test (`gspa._ones_law` evaluates it);
* at a fixed threshold the divergence is affine in every other user's P(report 1), which the input puts at
  either end of [r_j, 1-r_j]: so delta grows with every other user's eps_j, and rounding eps_j up is safe;
* the victim of the largest eps is the worst: let V be a noisy copy of the less private bit U, the rest fixed.
  Flipping U's input beside a fixed V is easier to detect, at every threshold, than flipping V's beside a fixed
  U: the laws agree under one input, and under the other the first lies farther away, stochastically ordered;
* the other order of the victim's inputs is the same with all inputs flipped.

The inputs move the law's mean, which does not matter by itself, and its skewness, but not its variance. At eps > 0
nearly equal inputs are therefore the worst found: in the likelier law the victim holds what the others hold, in
the other law it is the odd one out. Where the mean falls between two thresholds can make a few exceptions pay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from gspa import _validate as check
from gspa._ones_law import Crowd, Tilted
from gspa._solve import find_root, gaussian_guess
from gspa.accountant import central_delta, central_epsilon
from gspa.bound import Bound
from gspa.budgets import Budgets
from gspa.errors import InvalidValue, OutsideValidity
from gspa.pair import Victim

Array = NDArray[np.float64]

METHOD = "exact law of the number of ones"
VALID_FOR = "binary randomized response, own eps_j each"
MOST_INPUTS = 1 << 17  # choices of the others' inputs up to which all are tried
_MOST_USERS = 10**9
_MOST_GROUPS = 20_000
_KEPT = 64  # best choices of inputs that the search for eps looks at
_MOVED = 1024  # groups whose inputs one step of the ascent tries to change
_STEPS = 40


class _Found(NamedTuple):
    """The largest delta over the inputs tried, bracketed, and the inputs (ones per group), best first."""

    lower: float
    value: float
    upper: float
    ones: Array


class _Plan(NamedTuple):
    """The others, a function to their inputs to try (None: too many to try all), and the method's name."""

    crowd: Crowd
    inputs: Callable[[], Iterable[Array]] | None
    method: str

    def worst(self, eps: float) -> _Found:
        """Over all inputs; or over all equal and what can be reached from there."""
        if self.inputs is not None:
            return _best(self.crowd, eps, self.inputs())
        ends = _best(self.crowd, eps, [np.array([0 * self.crowd.count, self.crowd.count])]).ones
        return _best(self.crowd, eps, [np.array([_ascend(self.crowd, eps, ends[0]), *ends])])


def _best(crowd: Crowd, eps: float, pieces: Iterable[Array]) -> _Found:
    if eps >= crowd.victim:
        return _Found(0.0, 0.0, 0.0, 0 * crowd.count[None])
    tilted = Tilted(crowd, eps)
    kept, values, lower, upper = np.zeros((0, crowd.eps.size)), np.zeros(0), 0.0, 0.0
    for ones in pieces:
        value, error = tilted.at(ones)
        lower, upper = max(lower, float((value - error).max())), max(upper, float((value + error).max()))
        kept, values = np.concatenate([kept, ones]), np.concatenate([values, value])
        few = np.argsort(-values, kind="stable")[:_KEPT]
        kept, values = kept[few], values[few]
    return _Found(min(lower, float(values[0])), float(values[0]), upper, kept)


def _ascend(crowd: Crowd, eps: float, ones: Array) -> Array:
    """Inputs from which no change of +-2^i ones in one of (at most 1024) groups raises delta further."""
    heard = np.flatnonzero((crowd.eps > 0) & (crowd.count > 0))
    if eps >= crowd.victim or heard.size == 0:
        return ones
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
    return ones


def _crowd(budgets: Budgets) -> Crowd:
    """The others of the user with the largest eps."""
    if budgets.delta_max > 0:
        hint = f"the largest is {budgets.delta_max:g}; such a report is arbitrary: use gspa.accountant"
        raise OutsideValidity(METHOD, "local delta_i = 0", hint)
    if budgets.n > _MOST_USERS:
        raise OutsideValidity(METHOD, f"n <= {_MOST_USERS}", f"got {budgets.n}; use gspa.accountant")
    if budgets.eps.size > _MOST_GROUPS:
        hint = f"got {budgets.eps.size}; round the eps up to fewer values for an upper bound, down for a lower one"
        raise OutsideValidity(METHOD, f"at most {_MOST_GROUPS} distinct eps", hint)
    count = budgets.count.astype(np.float64)
    count[int(np.argmax(budgets.eps))] -= 1
    return Crowd(budgets.eps_max, budgets.eps, count)


def _plan(budgets: Budgets, inputs: ArrayLike | None) -> _Plan:
    if inputs is None:
        crowd = _crowd(budgets.grouped())
        if math.prod(crowd.shape) <= MOST_INPUTS:
            return _Plan(crowd, crowd.every_input, f"{METHOD}, worst of all inputs")
        return _Plan(crowd, None, f"{METHOD}, worst inputs found; upper: dominating pair")
    crowd = _crowd(budgets)
    ones = check.array_in(0, float(budgets.n), inputs=inputs)
    if ones.shape != crowd.eps.shape:
        hint = "give how many others of each group hold 1"
        raise InvalidValue("len(inputs)", ones.size, f"len(eps) = {crowd.eps.size}", hint)
    bad = (ones > crowd.count) | (ones != np.floor(ones))
    if bad.any():
        i = int(np.argmax(bad))
        raise InvalidValue(f"inputs[{i}]", float(ones[i]), f"a whole number in [0, {int(crowd.count[i])}]")
    return _Plan(crowd, lambda: [np.array([ones, crowd.count - ones])], f"{METHOD}, inputs given")


def _note(crowd: Crowd, ones: Array) -> str:
    """Which inputs: those with which a victim holding 1 is told from one holding 0, in this order."""
    if crowd.eps.size > 4:
        return f"{int(ones.sum())} of {int(crowd.count.sum())} others hold 1"
    pairs = zip(ones, crowd.count, crowd.eps, strict=True)
    return "others that hold 1: " + ", ".join(f"{int(k)} of {int(c)} at eps {e:g}" for k, c, e in pairs)


def exact_delta(budgets: Budgets, *, eps: float, inputs: ArrayLike | None = None) -> Bound:
    """delta(eps) of the shuffled bits, at the others' worst inputs.

    Args:
        budgets: local budgets, every delta_i = 0.
        eps: central eps >= 0.
        inputs: shape (g,), how many others hold 1 in each group of `budgets` (without the victim, the first
            user of the largest eps), to evaluate these inputs alone; None for the worst.

    Returns:
        Bound: as wide as roundings, where there are at most 2^17 choices of inputs and all were tried.
        Otherwise `lower` and `value` are what the best inputs found certainly give, and `upper` is
        the dominating pair's.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: a local delta_i > 0; more than 10^9 users or 20,000 distinct eps.

    >>> from gspa import budgets
    >>> exact_delta(budgets.constant(1.0, n=3), eps=0.5).note
    'others that hold 1: 2 of 2 at eps 1'
    """
    eps = check.nonnegative(eps=eps)
    plan = _plan(budgets, inputs)
    found = plan.worst(eps)
    lower, value, upper = max(found.lower, 0.0), found.value, min(found.upper, 1.0)
    if plan.inputs is None:
        value, upper = lower, max(lower, central_delta(budgets, eps=eps).upper)
    note = _note(plan.crowd, found.ones[0])
    return Bound(lower, value, upper, plan.method, VALID_FOR, eps=eps, n=budgets.n, note=note)


def exact_epsilon(budgets: Budgets, *, delta: float, inputs: ArrayLike | None = None) -> Bound:
    """The least eps at which the shuffled bits are (eps, delta)-DP, at the others' worst inputs.

    Args:
        budgets: local budgets, every delta_i = 0.
        delta: central delta in (0, 1).
        inputs: as for `exact_delta`.

    Returns:
        Bound: as for `exact_delta`; 0 where delta is at least delta(0).

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: as for `exact_delta`.

    >>> from gspa import budgets
    >>> exact_epsilon(budgets.constant(1.0, n=3), delta=0.9).upper
    0.0
    """
    delta = check.probability(allow_zero=False, delta=delta)
    plan = _plan(budgets, inputs)
    low, value, high, ones = _epsilon(plan, delta)
    if plan.inputs is None:
        value, high = low, max(low, central_epsilon(budgets, delta=delta).upper)
    return Bound(low, value, high, plan.method, VALID_FOR, delta=delta, n=budgets.n, note=_note(plan.crowd, ones[0]))


def _epsilon(plan: _Plan, delta: float) -> _Found:
    """Search with the few worst inputs, check against all, then prove both ends."""
    crowd = plan.crowd
    zero = plan.worst(0.0)
    if crowd.victim == 0 or zero.upper <= delta * (1 - 4e-16):
        return _Found(0.0, 0.0, 0.0, zero.ones)
    rows = zero.ones

    def at(y: float) -> float:
        return crowd.victim * float(expit(y))

    def excess(y: float) -> float:
        found = _best(crowd, at(y), [rows]).value
        return math.log(found / delta) if found > 0 else -math.inf

    variance = float(crowd.count @ (expit(crowd.eps) * expit(-crowd.eps)))
    guess = gaussian_guess(Victim.binary(crowd.victim), 4 * variance, delta)
    y, slope, last = float(logit(guess / crowd.victim)), 0.0, math.inf
    for _ in range(6):
        rows = np.unique(np.concatenate([rows, plan.worst(at(y)).ones]), axis=0)
        if excess(y) == last:
            break  # no worse inputs appeared
        y, slope = find_root(excess, y)
        last = excess(y)
    worst = _best(crowd, at(y), [rows])
    spare = (worst.upper - worst.lower) / delta + 2e-11
    push = min(2 * spare / -slope, 1.0) if slope < 0 else 1e-9
    upper, lower = crowd.victim, 0.0
    for i in range(40 if plan.inputs is not None else 0):  # else the pair's eps is the upper end
        if plan.worst(at(y + push * 2**i)).upper <= delta * (1 - 4e-16):
            upper = at(y + push * 2**i)
            break
    for i in range(40):
        if _best(crowd, at(y - push * 2**i), [rows]).lower >= delta * (1 + 4e-16):
            lower = at(y - push * 2**i)
            break
    return _Found(lower, min(max(at(y), lower), upper), upper, worst.ones)


def gap(budgets: Budgets, *, delta: float) -> Bound:
    """The dominating pair's eps over the exact one: what revealing the number of clones costs.

    With many users the two Gaussian limits' mu have the ratio sqrt(2 sum_j r_j (1-r_j) / sum_j r_j), sqrt(2 - 2r) for
    equal budgets: between 1 (eps_j = 0) and sqrt(2) (eps_j large). The ratio of eps at one delta is larger
    where delta is not far below delta(0), and tends to 1 where there are too few others to hide among.

    Args:
        budgets: local budgets, every delta_i = 0.
        delta: central delta in (0, 1), below delta(0).

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: as for `exact_delta`; delta so large that the exact eps is 0.

    >>> from gspa import budgets
    >>> round(gap(budgets.constant(0.1, n=10_000), delta=1e-6).value, 3)
    1.026
    """
    exact, pair = exact_epsilon(budgets, delta=delta), central_epsilon(budgets, delta=delta)
    if exact.value == 0:
        at_zero = exact_delta(budgets, eps=0.0).value
        raise OutsideValidity("gap", f"delta < {at_zero:g}, the exact law's delta(0)", "at delta its eps is 0")
    low = pair.lower / exact.upper
    high = pair.upper / exact.lower if exact.lower > 0 else math.inf
    value = min(max(pair.value / exact.value, low), high)
    method = f"eps of the dominating pair / eps of the {exact.method}"
    return Bound(low, value, high, method, VALID_FOR, delta=delta, n=budgets.n, note=exact.note)

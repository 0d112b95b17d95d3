"""The inverse questions: how much local budget, how few users, how many rounds meet a central (eps, delta).

>>> bound = largest_local_epsilon(eps=0.1, delta=1e-6, n=10_000)
>>> from gspa.accountant import budgets, one_round as accountant
>>> accountant.central_delta(budgets.constant(bound.lower, n=10_000), eps=0.1).upper <= 1e-6
True
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from gspa.accountant import arguments as check
from gspa.accountant.bound import Bound
from gspa.accountant.budgets import Budgets, constant
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.exact import QUICK, sharpest_delta
from gspa.accountant.families import Family, binary
from gspa.accountant.laplace_gaussian import blanket_delta
from gspa.accountant.one_round import central_delta
from gspa.accountant.roots import crossing, find_root, push_until
from gspa.accountant.rounds import Round, compose
from gspa.accountant.tradeoff import gdp_delta

_LARGEST = 600.0
_MOST_USERS = 10**15
_MOST_ROUNDS = 10**6
_MOST_SPARE = 700.0
_CLOSE = 1e-4  # relative, in the scale of the noise


def _delta_of(mechanism: Family, exact: bool) -> Callable[[Budgets, float], Bound]:
    if not exact or not isinstance(mechanism, Family):  # which `central_delta` refuses
        return lambda people, eps: central_delta(people, eps=eps, mechanism=mechanism)
    if not mechanism.bits:
        raise InvalidValue("exact", exact, "False", f"the exact law is known for binary(), not for {mechanism!r}")
    return lambda people, eps: sharpest_delta(people, eps=eps)


def largest_local_epsilon(
    *, eps: float, delta: float, n: int, mechanism: Family = binary(), exact: bool = False
) -> Bound:
    """The largest common eps0 that n users may have at central (eps, delta).

    Args:
        eps: central eps > 0.
        delta: central delta in (0, 1).
        n: number of users, >= 1.
        mechanism: what every user runs.
        exact: of binary(): by the law of the shuffled bits (`gspa.accountant.exact`) where that can be evaluated.

    Returns:
        Bound on eps0: at `lower` the target is certified to be met, at `upper` to be missed.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: met even at eps0 = 600, or by no eps0 that the mechanism can have.
    """
    eps, delta, n = check.positive(eps=eps), check.probability(allow_zero=False, delta=delta), check.count(n=n)
    delta_of, valid_for, method, reached = _delta_of(mechanism, exact), "", "", False
    least = max(eps, mechanism.least)

    def found(eps0: float) -> Bound:
        return delta_of(constant(eps0, n=n), eps)

    def at(y: float) -> float:
        return least + math.exp(min(y, 700.0))  # beyond is no double

    def spare(y: float) -> float:
        nonlocal valid_for, method, reached
        bound = found(at(y))
        valid_for, method, reached = bound.valid_for, bound.method, bound.reached
        return math.log(delta / bound.value) if bound.value > 0 else math.inf

    if least >= _LARGEST or found(_LARGEST).upper <= delta:
        detail = f"eps = {eps:g}, delta = {delta:g}"
        raise OutsideValidity("calibration", "a target that some eps0 <= 600 misses", detail)
    if least > eps and found(least).upper > delta:
        detail = f"{mechanism.label} has none smaller, and misses the target there"
        raise OutsideValidity("calibration", f"a target that eps0 = {least:g} meets", detail)
    highest = math.log(_LARGEST - least)
    y, _ = find_root(spare, math.log(eps), highest=highest)
    low = at(push_until(lambda y: found(at(y)).upper <= delta, y, -1e-10, -800.0))  # there it is the least
    high = at(push_until(lambda y: found(at(y)).lower > delta, y, 1e-10, highest))
    return Bound(low, max(low, at(y)), max(high, at(y)), method, valid_for, eps=eps, delta=delta, n=n, reached=reached)


def least_users(eps0: float, *, eps: float, delta: float, mechanism: Family = binary(), exact: bool = False) -> Bound:
    """The least n at which users of common budget eps0 are centrally (eps, delta)-DP.

    Args:
        eps0: common local eps >= 0.
        eps: central eps > 0.
        delta: central delta in (0, 1).
        mechanism: what every user runs.
        exact: as for `largest_local_epsilon`.

    Returns:
        Bound on n: `upper` users are certified to suffice, and `lower` - 1 certified not to.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: more than 10^15 users would be needed.
    """
    eps0, eps = check.nonnegative(eps0=eps0), check.positive(eps=eps)
    delta = check.probability(allow_zero=False, delta=delta)
    valid_for, method, reached = "", "", False
    delta_of = _delta_of(mechanism, False)

    def found(n: int) -> Bound:
        nonlocal valid_for, method, reached
        bound = delta_of(constant(eps0, n=n), eps)
        valid_for, method, reached = bound.valid_for, bound.method, bound.reached
        return bound

    def sure(bound: Bound) -> bool:
        return bound.upper <= delta

    def first(enough: Callable[[Bound], bool], high: int) -> int:
        """Bisection on whole numbers, from a number that may be enough."""
        low = 0
        while not enough(found(high)):
            low, high = high, 4 * high
            if high > _MOST_USERS:
                detail = f"eps0 = {eps0:g}, eps = {eps:g}"
                raise OutsideValidity("calibration", "a target that 10^15 users meet", detail)
        between = range(low + 1, high)
        return between.start + bisect_left(between, True, key=lambda n: enough(found(n)))

    upper = first(sure, 1)
    if exact:
        delta_of, few = _delta_of(mechanism, True), min(upper, QUICK)
        if sure(found(few)):
            upper = first(sure, few)
        else:  # more users than the exact law is evaluated for
            delta_of = _delta_of(mechanism, False)
    lower = upper if upper == 1 or found(upper - 1).lower > delta else first(lambda bound: bound.lower <= delta, 1)
    return Bound(lower, upper, upper, method, valid_for, eps=eps, delta=delta, reached=reached)


def largest_gap(*, eps: float, delta: float, n: int, mechanism: str, sensitivity: float = 1.0) -> Bound:
    """The least noise of n shuffled Laplace or Gaussian reports at central (eps, delta), all of one scale.

    Args:
        eps: central eps > 0.
        delta: central delta in (0, 1).
        n: number of users, >= 1.
        mechanism: "laplace" or "gaussian".
        sensitivity: width of the range of the values, > 0.

    Returns:
        Bound on sensitivity / scale (the local eps of a Laplace report): at `lower` the blanket certifies that the
        target is met, at `upper` the blanket's value misses it. In between lie 1e-4 and the blanket's interval.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: met even at 600.
    """
    eps, delta, n = check.positive(eps=eps), check.probability(allow_zero=False, delta=delta), check.count(n=n)
    sensitivity = check.positive(sensitivity=sensitivity)

    @cache
    def found(gap: float) -> Bound:
        return blanket_delta([(sensitivity / gap) / sensitivity], count=n, eps=eps, mechanism=mechanism)

    def spare(y: float, side: int) -> float:
        bound = found(math.exp(y))
        return min(math.log(delta / max(bound.upper if side < 0 else bound.lower, 1e-300)), _MOST_SPARE)

    first = eps  # what the report alone guarantees
    while mechanism == "gaussian" and gdp_delta(eps, mu=first) > delta:
        first /= 2
    low, most = math.log(min(first, _LARGEST)), math.log(_LARGEST)
    ends = [
        crossing(lambda y, side=side: spare(y, side), low, low + 1, side=side, most=most, xtol=_CLOSE)  # type: ignore[misc]
        for side in (-1, 1)
    ]
    if not ends[1] < math.inf:
        raise OutsideValidity(
            "calibration", f"a target that sensitivity / scale <= {_LARGEST:g} misses", f"eps = {eps:g}"
        )
    lower, upper = math.exp(ends[0]), math.exp(max(ends))
    one = found(lower)
    return replace(one, lower=lower, value=lower, upper=upper, delta=delta, note="")


def most_rounds(one: Round, *, eps: float, delta: float) -> Bound:
    """The largest number of rounds, everybody reporting anew in each, that stays (eps, delta)-DP.

    Args:
        one: what happens in every round, made by a function of `gspa.accountant.rounds`.
        eps: central eps of all rounds together, > 0.
        delta: central delta of all rounds together, in (0, 1).

    Returns:
        Bound on the number of rounds: `lower` are certified to meet the target (0: not even one does),
        `upper` + 1 are certified to miss it.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: met even by 10^6 rounds, or as `gspa.accountant.rounds.compose`.
    """
    eps, delta = check.positive(eps=eps), check.probability(allow_zero=False, delta=delta)
    known: dict[int, Bound] = {}

    def after(rounds: int) -> Bound:
        if rounds not in known:
            known[rounds] = compose([(one, rounds)], delta=delta)
        return known[rounds]

    # Not by halving: `compose` costs much, and eps is a smooth function of the rounds.
    low, high, guess = 0, _MOST_ROUNDS + 1, 1
    while high - low > 1:
        found = after(guess)
        low, high = (guess, high) if found.upper <= eps else (low, guess)
        if high in known:  # along the chord, and now and then the middle, so that no end stays for long
            first = known[low].value if low else 0.0
            share = (eps - first) / (known[high].value - first) if known[high].value > first else 0.5
            step = int((high - low) * (share if len(known) % 3 else 0.5))
            guess = min(max(low + step, low + 1), high - 1)
            continue
        # eps grows about like the square root of the number of rounds.
        ahead = int(guess * (eps / found.value) ** 2) if found.value > 0 else 16 * guess
        guess = ahead if low < ahead < high else 16 * (low + 1)
        if ahead > _MOST_ROUNDS < high:  # even the largest number may be met: look there at once
            guess = _MOST_ROUNDS
    if low == _MOST_ROUNDS:
        raise OutsideValidity("calibration", f"a target that {_MOST_ROUNDS:,} rounds miss", f"eps = {eps:g}")
    upper = low
    while after(upper + 1).lower <= eps:  # the interval around eps covers a few whole numbers at most
        upper += 1
    return replace(after(max(low, 1)), lower=low, value=low, upper=upper, eps=eps)

"""The inverse questions: how much local budget, how few users, how many rounds meet a central (eps, delta).

>>> bound = largest_local_epsilon(eps=0.1, delta=1e-6, n=10_000)
>>> from gspa.accountant import budgets, one_round as accountant
>>> accountant.central_delta(budgets.constant(bound.lower, n=10_000), eps=0.1).upper <= 1e-6
True
"""

from __future__ import annotations

import math
from bisect import bisect_left

from gspa.accountant import arguments as check
from gspa.accountant.bound import Bound
from gspa.accountant.budgets import Budgets, constant
from gspa.accountant.errors import OutsideValidity
from gspa.accountant.families import Family, binary
from gspa.accountant.one_round import METHOD, central_delta
from gspa.accountant.roots import find_root, push_until
from gspa.accountant.rounds import compose, shuffled

_LARGEST = 600.0
_MOST_USERS = 10**15
_MOST_ROUNDS = 10**6


def largest_local_epsilon(*, eps: float, delta: float, n: int, mechanism: Family = binary()) -> Bound:
    """The largest common eps0 that n users may have at central (eps, delta).

    Args:
        eps: central eps > 0.
        delta: central delta in (0, 1).
        n: number of users, >= 1.
        mechanism: what every user runs.

    Returns:
        Bound on eps0: at `lower` the target is certified to be met, at `upper` to be missed.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: met even at eps0 = 600.
    """
    eps, delta, n = check.positive(eps=eps), check.probability(allow_zero=False, delta=delta), check.count(n=n)
    valid_for = ""

    def found(eps0: float) -> Bound:
        return central_delta(constant(eps0, n=n), eps=eps, mechanism=mechanism)

    def at(y: float) -> float:
        return eps + math.exp(min(y, 700.0))  # beyond is no double

    def spare(y: float) -> float:
        nonlocal valid_for
        bound = found(at(y))
        valid_for = bound.valid_for
        return math.log(delta / bound.value) if bound.value > 0 else math.inf

    if found(_LARGEST).upper <= delta:
        detail = f"eps = {eps:g}, delta = {delta:g}"
        raise OutsideValidity("calibration", "a target that some eps0 <= 600 misses", detail)
    highest = math.log(_LARGEST - eps) if eps < _LARGEST else 0.0
    y, _ = find_root(spare, math.log(eps), highest=highest)
    low = at(push_until(lambda y: found(at(y)).upper <= delta, y, -1e-10, -800.0))  # there it is eps
    high = at(push_until(lambda y: found(at(y)).lower > delta, y, 1e-10, highest))
    return Bound(low, max(low, at(y)), max(high, at(y)), METHOD, valid_for, eps=eps, delta=delta, n=n)


def least_users(eps0: float, *, eps: float, delta: float, mechanism: Family = binary()) -> Bound:
    """The least n at which users of common budget eps0 are centrally (eps, delta)-DP.

    Args:
        eps0: common local eps >= 0.
        eps: central eps > 0.
        delta: central delta in (0, 1).
        mechanism: what every user runs.

    Returns:
        Bound on n: `upper` users are certified to suffice, and `lower` - 1 certified not to.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: more than 10^15 users would be needed.
    """
    eps0, eps = check.nonnegative(eps0=eps0), check.positive(eps=eps)
    delta = check.probability(allow_zero=False, delta=delta)
    valid_for = ""

    def found(n: int) -> Bound:
        nonlocal valid_for
        bound = central_delta(constant(eps0, n=n), eps=eps, mechanism=mechanism)
        valid_for = bound.valid_for
        return bound

    def last(holds_up_to: bool) -> int:
        """Bisection on whole numbers: the least n certified to suffice, or the least not certified to fail."""

        def enough(n: int) -> bool:
            bound = found(n)
            return bound.upper <= delta if holds_up_to else bound.lower <= delta

        high = 1
        while not enough(high):
            high *= 4
            if high > _MOST_USERS:
                detail = f"eps0 = {eps0:g}, eps = {eps:g}"
                raise OutsideValidity("calibration", "a target that 10^15 users meet", detail)
        between = range(high // 4 + 1, high)
        return between.start + bisect_left(between, True, key=enough)

    upper = last(True)
    lower = upper if upper == 1 or found(upper - 1).lower > delta else last(False)
    return Bound(lower, upper, upper, METHOD, valid_for, eps=eps, delta=delta)


def most_rounds(budgets: Budgets, *, eps: float, delta: float, mechanism: Family = binary()) -> Bound:
    """The largest number of rounds, everybody reporting anew in each, that stays (eps, delta)-DP.

    Args:
        budgets: the users' local budgets in every round.
        eps: central eps of all rounds together, > 0.
        delta: central delta of all rounds together, in (0, 1).
        mechanism: what every user runs.

    Returns:
        Bound on the number of rounds: `lower` are certified to meet the target (0: not even one does),
        `upper` + 1 are certified to miss it.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: met even by 10^6 rounds, or as `gspa.accountant.rounds.compose`.
    """
    eps, delta = check.positive(eps=eps), check.probability(allow_zero=False, delta=delta)
    one = shuffled(budgets, mechanism=mechanism)
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
    return Bound(low, low, upper, after(max(low, 1)).method, after(max(low, 1)).valid_for, eps=eps, delta=delta)

"""The blanket engine: certified shuffle-model privacy of Laplace and Gaussian reports on [0, 1], own scale each.

Let user j's report have density at least c_j omega* on B whatever the input, omega* one probability
density on B. Write R_j(x) = c_j omega* + (1 - c_j) rest_j(x) and tell the adversary who sent a `rest`, and
what: telling more cannot help privacy. The C = sum_(j != n) Bernoulli(c_j) other reports are
independent draws from omega*, shuffled with the victim's. If that lies outside B it is seen, which
costs int_(B^c) (f0 - e^eps f1)_+. Otherwise the C + 1 shuffled points have, with respect to omega* for
each, the density (1/(C+1)) sum_i f(y_i)/omega*(y_i) under the victim's law f. Hence, with
L_i = (f0 - e^eps f1)(Y_i)/omega*(Y_i) and Y_i independent from omega*,

    delta(eps) <= int_(B^c) (f0 - e^eps f1)_+ + E[(1/(C+1)) (L_1 + ... + L_(C+1))_+],

and the same with f0, f1 exchanged. That is an equality for the mechanism in which C and the rests are
public. For n equal users P(C = m-1)/m = P(Bin(n, c) = m)/(n c) gives Balle et al. 2019, Lemma 5.3:
(1/(n c)) E[(sum_(i <= M) L_i)_+] with M ~ Bin(n, c). The expectation decreases in C: one more report from
omega* is post-processing.

(0, 1) is the worst pair of inputs x0 < x1 for the user with the least noise, kappa the largest: then all slopes of
log omega* are at most kappa, q can be continued beyond B with slope kappa without changing a c_j, and

1. if both inputs are on one side of 1/2, reflecting one there increases E[phi(L)] for every convex phi: at y
   and 1 - y together the two values of L keep their sum and move apart;
2. for phi = (. - a)_+, a >= 0, and A = {f0 - e^eps f1 > a omega*}: x0 + s in A implies x0 - s in A, so
   the derivative in x0 is <= 0, down to x0 = 0; then x1 + s in A implies x1 - s in A, because f0 falls from
   x1 - s to x1 + s by at least the factor by which omega* does, so E[phi(L)] increases in x1, up to 1;
3. for a < 0 use (a - L)_+, whose mean differs by a constant: step 2 with the two ends exchanged.

So L at (0, 1) is the largest in the convex order, and with it every sum of copies. What B costs comes on top.

What one common omega* costs, and any blanket at all: `gspa.blanket_limit`. Many rounds: `gspa.composition`.

Each bracket is of the right-hand side for one (B, omega*): L is replaced by discrete laws above and below it
in the convex order (`_blanket_law`), their random sums are evaluated by a tilted Fourier sum with every
truncation bounded (`_random_sum`), C in blocks with the rest bounded by Bernstein (`gspa.clone_law`). The cost does not
grow with the number of users.

>>> bound = blanket_epsilon([1.0], count=[10_000], delta=1e-6)
>>> round(bound.upper, 3), bound.upper - bound.lower < 1e-3 * bound.upper
(0.038, True)
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa import _validate as check
from gspa._blanket_choice import greatest_epsilon, least_epsilon
from gspa._blanket_crowd import METHOD, MOST_VICTIMS, Crowd
from gspa.bound import Bound
from gspa.budgets import Budgets
from gspa.errors import InvalidValue
from gspa.tradeoff import gdp_delta, gdp_epsilon

Array = NDArray[np.float64]

_BAND = 2e-3  # relative, in delta: where the search for eps stops
_LEAST_DELTA = 1e-30  # B is not made wider than this delta needs


def blanket_epsilon(
    scales: Budgets | ArrayLike,
    *,
    delta: float,
    count: ArrayLike = 1,
    mechanism: str = "laplace",
    victim: int | None = None,
    inputs: tuple[float, float] = (0.0, 1.0),
) -> Bound:
    """Central eps of shuffled Laplace or Gaussian reports, own scale each: the blanket's value, bracketed.

    Implements section 5 of Balle et al. 2019 (equal scales) and its extension above to personal scales
    and to Gaussian reports. `upper` is certified: it errs upward, and never exceeds what the victim's report alone
    guarantees. `lower` is below the value of this analysis, not below the mechanism's own eps (see `gspa.audit`).

    Args:
        scales: `Budgets` (Laplace scales 1/eps_j), or noise scales > 0: Laplace b_j, or Gaussian sigma_j.
        delta: in (0, 1).
        count: how many users have each scale: a number or shape of scales; with `Budgets`, theirs counts.
        mechanism: "laplace" or "gaussian".
        victim: index into scales of the user to protect; None for every user (the largest of their eps).
        inputs: the victim's two values; (0, 1) is the worst pair, see above.

    Raises:
        InvalidValue: an argument outside its range; or victim = None and more than 64 distinct scales to check.
        OutsideValidity: budgets with delta_i > 0.

    >>> blanket_epsilon([0.5, 100.0], count=[1, 9_999], delta=1e-4, victim=0).upper < 0.31
    True
    """
    crowd = Crowd.of(scales, count, mechanism, inputs)
    delta = check.probability(allow_zero=False, delta=delta)

    def bracket(index: int) -> tuple[float, float]:
        local = crowd.local_epsilon(index, delta)
        some, mu = crowd.reductions(index, delta)
        if not some or local == 0:
            return local, local
        at, high, used = min(gdp_epsilon(delta=delta, mu=mu), local), local, some[0]
        for _ in range(3):  # the best B at the limit's eps need not be the best at the true one
            start = at
            best = min(some, key=lambda one: one.upper(start))
            at = least_epsilon(best.upper, delta, start, local, _BAND)
            if at < high:
                high, used = at, best
            if at < 1.1 * start:
                break
        return min(greatest_epsilon(used.lower, delta, high, _BAND), high), high

    return _answer(crowd, victim, bracket, lambda i: crowd.local_epsilon(i, delta), delta=delta)


def blanket_delta(
    scales: Budgets | ArrayLike,
    *,
    eps: float,
    count: ArrayLike = 1,
    mechanism: str = "laplace",
    victim: int | None = None,
    inputs: tuple[float, float] = (0.0, 1.0),
) -> Bound:
    """Central delta at eps >= 0; otherwise as `blanket_epsilon`.

    >>> bound = blanket_delta([1.0], count=[10_000], eps=0.05)
    >>> 0 < bound.lower <= bound.upper < 1e-8
    True
    """
    crowd = Crowd.of(scales, count, mechanism, inputs)
    eps = check.nonnegative(eps=eps)

    def bracket(index: int) -> tuple[float, float]:
        local = crowd.local_delta(index, eps)
        guess, best, least = 1e-6, None, math.inf
        for step in range(3):  # the best B depends on the delta that comes out
            some, mu = crowd.reductions(index, guess)
            if step == 0 and some:  # nothing is known yet: the limit's delta first
                guess = min(max(gdp_delta(eps, mu=mu), _LEAST_DELTA), 0.25)
                some, _ = crowd.reductions(index, guess)
            for one in some:
                found = one.upper(eps)
                if found < least:
                    best, least = one, found
            if best is None or 0.3 * guess < least < 3 * guess or least < guess == _LEAST_DELTA:
                break
            guess = min(max(least, _LEAST_DELTA), 0.25)
        if best is None or local == 0:
            return local, local
        return min(best.lower(eps), local), min(least, local)

    return _answer(crowd, victim, bracket, lambda i: crowd.local_delta(i, eps), eps=eps)


def _answer(
    crowd: Crowd,
    victim: int | None,
    bracket: Callable[[int], tuple[float, float]],
    local: Callable[[int], float],
    **asked: float,
) -> Bound:
    """The largest bracket among the victims; those whose own report already guarantees more are not evaluated."""
    waiting = crowd.candidates(victim)
    done: list[int] = []
    low = high = 0.0
    while waiting:
        if len(waiting) > MOST_VICTIMS and done:
            # Rounding a victim's scale is not sound in either direction: the one with less noise need not be worse off.
            hint = f"ask for one victim, or let users share scales: {len(waiting)} are left to check"
            raise InvalidValue("victim", victim, f"given for more than {MOST_VICTIMS} distinct scales", hint)
        index = waiting.pop(0)
        found = bracket(index)
        done.append(index)
        low, high = max(low, found[0]), max(high, found[1])
        waiting = [i for i in waiting if local(i) > high]
    n = int(crowd.reports.count.sum())
    note = "" if victim is None else f"for the users with scale {crowd.scales[victim]:g}"
    return Bound(low, 0.5 * (low + high), high, method=METHOD, valid_for=crowd.valid_for(done), n=n, note=note, **asked)

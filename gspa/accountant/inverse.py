"""The inverse questions: which local eps, noise, number of users or of rounds, or factor meets a central (eps, delta).

>>> from gspa.accountant.randomizers import Common
>>> asked, bound = find(Common(), None, 10_000, None, None, target=0.1, delta=1e-6)
>>> asked.name, setting(Common(), bound.lower, 10_000, None).epsilon(1e-6).upper <= 0.1
('eps', True)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

from gspa.accountant import arguments as check
from gspa.accountant import exact, one_round
from gspa.accountant.allocation import Allocation
from gspa.accountant.bound import Bound
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.randomizers import Discrete, Gaussian, Laplace, Mechanism, Randomizer
from gspa.accountant.roots import find_root, push_until
from gspa.accountant.settings import REPLACE, OnLine, Setting, Shuffled, Who, setting, warnings

MOST_EPS = 600.0  # of a local report: what is looked for hides something
MOST_USERS, MOST_ROUNDS = 10**15, 10**6
_NEAR = 1e-3  # relative, of where the target is missed
_PATIENT, _CLOSE_ENOUGH = 3, 0.01  # values, after each more of which twice as far off is enough, and up to what
_STEEP = 2.5  # about the power of a budget, or of the noise, that a central eps goes with
_APART = 1e-3  # two numbers at least, where a slope is asked: nearer by, it may be that of a jump
_ROUGH = 0.02  # the same where an estimate starts the search
# The same, of the central eps to the target, for reports on a line: of one scale of noise; of that over rounds, or of
# several scales; and of several over rounds. From one choice of blankets to another eps jumps.
_ON_A_LINE = (1e-5, 1e-4, 5e-3)


@dataclass(frozen=True)
class Unknown:
    """A number that is to be found."""

    name: str  # eps, n, rounds, sigma, or a factor of the budgets or the noise
    setting: Callable[[float], Setting]  # what is asked if the number is known
    least: float = 1e-300  # that may be found
    most: float = MOST_EPS
    start: float = 1.0  # of the search
    close: float = 1e-6  # relative, of the central eps to the target
    grows: bool = True  # the central eps does with it, rather than fall
    whole: bool = False  # it is one of users, or of rounds


def find(
    runs: Mechanism, eps: float | None, n: int | None, budgets: Who, rounds: int | None, *, target: float, delta: float
) -> tuple[Unknown, Bound]:
    """What the front door's arguments leave out, and what it is at a central (target, delta)."""
    target, delta = check.positive(target_eps=target), check.probability(allow_zero=False, delta=delta)
    asked = _unknown(runs, eps, n, budgets, rounds)
    found = solve(asked, eps=target, delta=delta)
    if asked.name == "n" and found.method == one_round.METHOD and getattr(runs, "bits", False):
        with suppress(OutsideValidity):  # the exact law needs fewer, but is not evaluated for as many as the pair
            found = solve(replace(asked, most=exact.QUICK), eps=target, delta=delta)
    return asked, found


def _unknown(runs: Mechanism, eps: float | None, n: int | None, who: Who, rounds: int | None) -> Unknown:
    if isinstance(runs, Allocation):
        raise InvalidValue("mechanism", runs.name, "one of users who report", "a training run has steps, not users")
    often = check.count(rounds=1 if rounds is None else rounds)
    noise = getattr(runs, "scale", None) or getattr(runs, "sigma", None)
    # What is summed up on a grid, or attacked, is itself known to about 1e-6, and reports on a line less closely.
    close = _ON_A_LINE[often > 1] if isinstance(runs, Laplace | Gaussian) else 1e-6

    if who is not None or isinstance(noise, tuple):
        base = setting(runs, eps, n, who, often)
        assert isinstance(base, Shuffled | OnLine)  # others have no budgets
        if isinstance(base, OnLine) and base.count.size > 1:
            close = _ON_A_LINE[1 + (often > 1)]
        if base.top == math.inf:
            return Unknown("factor of the noise", base.times, 1e-17, 1e17, close=close, grows=False)
        most = MOST_EPS / max(base.top, 1e-300) * often
        return Unknown("factor of the budgets", base.times, most=most, close=close)

    if n is None and eps is None and noise is None:
        raise InvalidValue("n", None, "given", "give n, eps or both, or budgets")
    if n is None:
        return Unknown(
            "n", lambda x: setting(runs, eps, round(x), None, often), 1, MOST_USERS, 1000.0, grows=False, whole=True
        )

    if eps is not None or noise is not None or isinstance(runs, Discrete):
        if rounds is not None:
            raise InvalidValue("rounds", rounds, "left out", "everything is given: calibrate finds the rounds")
        one = setting(runs, eps, n, None)
        return Unknown("rounds", lambda x: one.often(round(x)), 1, MOST_ROUNDS, whole=True)

    if isinstance(runs, Gaussian):
        width = runs.sensitivity

        def noisy(x: float) -> Setting:
            return setting(replace(runs, sigma=x), None, n, None, often)

        return Unknown("sigma", noisy, width / MOST_EPS, width * 1e17, width, close=close, grows=False)

    if isinstance(runs, Randomizer) and often == 1 and (runs.bits or not runs.known):
        close = 1e-10
    least = max(1e-300, getattr(runs, "least", 0.0))
    return Unknown("eps", lambda x: setting(runs, x, n, None, often), least, close=close)


def solve(asked: Unknown, *, eps: float, delta: float) -> Bound:
    """Between a number at which the target is certified to be met and one at which it is missed.

    The first is `lower` if the central eps grows with the number, else `upper`. The other is missed so far as the lower
    end of that eps shows; of whole numbers it is the last of which that is not known.
    """
    sign, power = 1 if asked.grows else -1, 2 if asked.whole else 1  # eps grows like a budget, or the root of users
    best, worst = (asked.least, asked.most) if asked.grows else (asked.most, asked.least)

    def number(y: float) -> float:
        """Of the scale on which the central eps grows about like a power."""
        x = math.exp(min(max(sign * y, -700.0), 700.0))
        return min(max(float(round(x)) if asked.whole else x, asked.least), asked.most)

    users, known = cache(asked.setting), dict[float, Bound]()

    def at(x: float) -> Bound:
        if x not in known:
            known[x] = users(x).epsilon(delta)
        return known[x]

    def end(name: str) -> Callable[[float], float]:
        @cache
        def of(x: float) -> float:
            alone = None if x in known else users(x).quick(name, delta)
            return float(getattr(at(x), name)) if alone is None else alone

        return of

    low, high = end("lower"), end("upper")

    def gap(value: float) -> float:
        return math.log(eps) - math.log(value) if 0 < value < math.inf else math.inf if value == 0 else -math.inf

    def root(
        end: Callable[[float], float], y: float, side: int, slope: float, *, close: float, aim: float
    ) -> tuple[float, float]:
        """Where an end of the central eps meets the target (side 1) or misses it (-1), by `close` at most, as a rule.

        And the slope of its logarithm there. What is looked for is where it does by `aim`.
        """
        bracket, nearest, seen = [-math.inf, math.inf], (math.inf, y), dict[float, float]()

        def spare(y: float) -> float:
            nonlocal nearest
            found = gap(end(number(y)))
            seen[y] = aimed = found - side * aim
            bracket[0 if aimed > 0 else 1] = y
            if 0 <= side * found < nearest[0]:
                nearest = side * found, y
            # Of several noises over rounds eps may jump by 1%, and where that takes long, less close will do. Close
            # enough, or between two numbers at which it jumps: the ends are proved by themselves.
            longer = 2.0 ** (len(seen) - _PATIENT) if asked.close >= _ON_A_LINE[2] else 1.0
            far = nearest[0] > max(close, min(longer * close, _CLOSE_ENOUGH))
            return aimed if far and bracket[1] - bracket[0] > close / _STEEP else 0.0

        first = spare(y)
        step = min(max(-first / (slope if slope < 0 else -1 / power), -5.0), 14.0)
        if step == 0:
            return y, slope
        second = spare(y + step)
        secant = (second - first) / step if math.isfinite(second - first) else 0.0
        y, slope = find_root(spare, y + step, slope=min(secant, 0.0))
        y = nearest[1] if nearest[0] < math.inf else y
        apart = [at for at in seen if abs(at - y) > _APART and math.isfinite(seen[at] - seen[y])]
        if apart:
            near = min(apart, key=lambda at: abs(at - y))
            slope = (seen[near] - seen[y]) / (near - y)
        return y, slope

    def met(x: float) -> bool:
        return at(x).upper <= eps

    def refused(limit: float, verb: str) -> OutsideValidity:
        needs = f"a target that {asked.name} = {limit:g} {verb}"
        return OutsideValidity("calibration", needs, f"eps = {eps:g}, delta = {delta:g}")

    y, slope = sign * math.log(asked.start), 0.0
    about = cache(lambda x: users(x).about(delta))
    if about(asked.start) is not None:
        y, slope = root(lambda x: about(x) or 0.0, y, 1, slope, close=_ROUGH, aim=0.5 * asked.close)
    y, slope = root(high, y, 1, slope, close=asked.close, aim=0.5 * asked.close)
    if asked.whole:
        safe = float(_last(met, round(number(y)), sign, asked))
    else:
        safe = number(push_until(lambda y: met(number(y)), y, -asked.close, sign * math.log(best)))
    if asked.grows and safe == asked.most and met(safe):
        raise refused(safe, "misses")
    if safe > asked.most or (not asked.whole and not met(safe)):
        raise refused(best, "meets")
    close = asked.close if asked.whole else max(_NEAR, asked.close)
    y, _ = root(low, y, -1, slope, close=close, aim=0.5 * (close if asked.close >= _ON_A_LINE[0] else asked.close))
    if asked.whole:
        other = float(_last(lambda x: low(x) <= eps, round(number(y)), sign, asked))
    else:
        other = number(push_until(lambda y: low(number(y)) > eps, y, asked.close, sign * math.log(worst)))
    one = at(max(safe, asked.least))
    ends = sorted((safe, other))
    n = None if asked.whole and not asked.grows else one.n
    found = replace(one, lower=ends[0], value=safe, upper=ends[1], eps=eps, delta=delta, n=n, relation=REPLACE)
    return replace(found, warnings=warnings(delta, n or int(ends[1]), None))


def _last(good: Callable[[float], bool], near: int, worse: int, asked: Unknown) -> int:
    """The last whole number, going up (1) or down (-1), that is good: steps that double, then bisection."""

    def holds(k: int) -> bool:
        if asked.least <= k <= asked.most:
            return good(float(k))
        return (k < asked.least) == asked.grows

    first = holds(near)
    step = worse if first else -worse
    while holds(near + step) == first:
        near, step = near + step, 2 * step
    ahead = near + step
    while abs(ahead - near) > 1:
        middle = (near + ahead) // 2
        near, ahead = (middle, ahead) if holds(middle) == first else (near, middle)
    return near if first else ahead

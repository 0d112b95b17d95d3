"""Roots of decreasing functions: a fast one to start from, and ends that are certainly on one side.

>>> above = crossing(lambda x: 2 - x * x, 0.0, 1.0, side=1)
>>> above * above >= 2, round(above, 12) == round(math.sqrt(2), 12)
(True, True)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from scipy.optimize import brentq

_LEAST = 5e-324
_RTOL = 2.0**-50  # the least that `brentq` takes
_MOST_STEPS = 3000  # more than halving all doubles takes


def find_root(
    f: Callable[[float], float], x: float, highest: float = math.inf, slope: float = 0.0
) -> tuple[float, float]:
    """A root of a decreasing f from x, and f' there: secant steps kept in a bracket, which may be open.

    For functions that cost much: from a good x it takes about five values. Nothing about it is certified. f may be
    infinite, and is negative from `highest` on; a step of 1 is a large one; `slope` is about f'(x), or 0.
    """
    left, right, widths = -math.inf, highest, [math.inf] * 3
    y = f(x)
    step = 5e-4
    for _ in range(100):
        if y > 0:
            left = x
        else:
            right = x
        if y == 0:
            break
        if slope < 0 and math.isfinite(y):
            step = min(max(-y / slope, -2.0), 2.0)
        elif slope == 0 and math.isfinite(y):
            step = math.copysign(2 * abs(step), y)  # flat: a step before a jump may be as long as it likes
        else:
            step = math.copysign(1.0, y)
        new = x + step
        width = right - left if right < highest else math.inf  # of what was evaluated
        stuck, widths = width > 0.5 * widths[0], [*widths[1:], width]
        if stuck or not left < new < right:
            open_ended = math.isinf(left) or math.isinf(right)
            new = x + math.copysign(2 * abs(step), y) if open_ended else (left + right) / 2
        if abs(new - x) < 1e-12 * max(1.0, abs(x)):
            break
        value = f(new)
        change = (value - y) / (new - x) if math.isfinite(value) and math.isfinite(y) else 0.0
        slope = slope if change > 0 > slope else change  # f may be known to some digits only
        x, y = new, value
        if slope < 0 and abs(y) < 1e-11:
            break
    return x, slope


def push_until(holds: Callable[[float], bool], start: float, push: float, last: float) -> float:
    """The first of start, start + push, start + 3 push, start + 7 push, ... that holds; `last` if none before it does.

    `start` is a little before where it begins to hold, or beyond; neither `last` nor what is beyond it is asked.
    """
    while start < last if push > 0 else start > last:
        if holds(start):
            return start
        start, push = start + push, 2 * push
    return last


def crossing(
    f: Callable[[float], float],
    low: float,
    high: float,
    *,
    side: int,
    most: float = math.inf,
    xtol: float = _LEAST,
    rtol: float = _RTOL,
) -> float:
    """Where a decreasing f crosses 0: f >= 0 at what is returned if side = -1, f <= 0 if side = 1.

    Brent's method, then steps outwards of the size of the tolerance until the sign is seen. While f, always finite, is
    positive at `high`, the bracket moves upwards and doubles, up to `most`. Where f has no root the nearest end is
    returned: `low` if f(low) <= 0; else, f > 0 up to `most`, that for side = -1 and inf for side = 1.
    """
    f = cache(f)
    if f(low) <= 0:
        return low
    floor = low
    while f(high) > 0:
        if high >= most:
            return most if side < 0 else math.inf
        floor, high = high, min(2 * high - low, most)
    root = float(brentq(f, floor, high, xtol=max(xtol, _LEAST), rtol=rtol, maxiter=_MOST_STEPS))
    push = max(xtol, rtol * abs(root), _LEAST)
    return push_until(lambda x: side * f(x) <= 0, root, side * push, floor if side < 0 else high)

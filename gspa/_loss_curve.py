"""Privacy losses of a pair of which only values of delta(eps) are known.

h(a) = sup_A P(A) - a Q(A), a = e^eps, is convex and falls. So the greatest convex function below upper bounds of h at
a few points is above h, and it is itself the h of a pair: its slope grows at a by the Q-mass of the loss log a, and
what is left at the end is P's mass of the infinite loss. That pair dominates ("connect the dots", Doroshenko et al.
2022, arXiv:2207.04380), and so it does when rounds are composed, adaptively or not (Zhu et al. 2022,
arXiv:2106.08567). From below: the edge between two points, continued beyond either of them, is below h.

Both directions are taken to have the same delta(eps), so that h(a) = 1 - a + a h(1/a).

>>> pair = dominating(np.array([0.0, 0.5, 1.0]), np.array([0.3, 0.1, 0.0]))
>>> round(float(pair.mass.sum()), 12), pair.missing
(1.0, 0.0)
>>> round(float(pair.mass @ np.maximum(1 - np.exp(0.5 - pair.loss), 0)), 12)  # delta(0.5)
0.1
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gspa.privacy_loss import Atoms

Array = NDArray[np.float64]


def _hull(x: Array, y: Array) -> NDArray[np.intp]:
    """Corners of the greatest convex function below the points; x increases."""
    kept: list[int] = []
    for i in range(x.size):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (y[b] - y[a]) * (x[i] - x[b]) < (y[i] - y[b]) * (x[b] - x[a]):
                break
            kept.pop()
        kept.append(i)
    return np.array(kept, dtype=np.intp)


def _pair(x: Array, y: Array) -> Atoms:
    """The pair of the hull of points (e^eps - 1, h), eps >= 0, and of their mirror images; x[0] = 0."""
    y = np.minimum.accumulate(y)
    # At eps = 0 the edges from a point to its own mirror image are part of the hull.
    y[0] = float(((2 * y + x) / (2 + x)).min())
    corner = _hull(x, y)
    x, y = x[corner], y[corner]
    slope = np.r_[np.diff(y) / np.diff(x), 0.0]
    neutral = max(0.0, 1 - float(y[0]) + 2 * float(slope[0]))
    loss, q = np.log1p(x[1:]), np.maximum(np.diff(slope), 0.0)
    mass = np.r_[(1 + x[1:]) * q, neutral, q]
    used = mass > 0
    used[loss.size] = True  # not empty even where every loss may be infinite
    return Atoms(np.r_[loss, 0.0, -loss][used], mass[used], float(y[-1]))


def dominating(eps: Array, upper: Array) -> Atoms:
    """A pair above the one with delta(eps) <= upper at these points, in every composition.

    Args:
        eps: shape (m,), m >= 2, from 0, increasing.
        upper: shape (m,), upper bounds on delta(eps), of both directions.
    """
    return _pair(np.expm1(eps), upper.copy())


def dominated(eps: Array, lower: Array, upper: Array, cap: Array) -> Atoms:
    """A pair below the one with delta(eps) in [lower, upper] at these points, and below that of `cap`.

    Args:
        eps: shape (m,), m >= 4, from 0, increasing.
        lower: shape (m,), lower bounds on delta(eps), of both directions.
        upper: shape (m,), upper bounds.
        cap: shape (m,), delta(eps) of a second pair, of which the result's is at most.
    """
    x = np.expm1(eps)
    # One mirror image in front, for the edge that ends in eps = 0.
    mirror = -x[1] / (1 + x[1])
    at = np.r_[mirror, x]
    low, high = (np.r_[-mirror + (1 + mirror) * v[1], v] for v in (lower, upper))
    right = (low[1:] - high[:-1]) / np.diff(at)  # slope of the edge j - 1, j, low at its end: for what follows
    left = (high[1:] - low[:-1]) / np.diff(at)  # the same, low at its start: for what precedes
    xs: list[float] = []
    ys: list[float] = []
    caps: list[float] = []
    for j in range(1, at.size - 2):
        wide, fall, rise = at[j + 1] - at[j], right[j - 1], left[j + 1]
        xs, ys, caps = [*xs, at[j]], [*ys, low[j]], [*caps, cap[j]]  # cap decreases: its next value is below
        meet = (low[j + 1] - low[j] - rise * wide) / (fall - rise) if fall < rise else -1.0
        if 0 < meet < wide:  # else the edge between the two lower bounds is below one of the lines
            xs, ys, caps = [*xs, at[j] + meet], [*ys, low[j] + fall * meet], [*caps, cap[j]]
    last = at.size - 2
    xs, ys, caps = [*xs, at[last]], [*ys, low[last]], [*caps, cap[last]]
    if right[last - 1] >= 0:  # constant so far, to rounding: any fall is below it
        ys[-1] = 0.0
    elif low[last] > 0:
        xs, ys, caps = [*xs, at[last] - low[last] / right[last - 1]], [*ys, 0.0], [*caps, 0.0]
    return _pair(np.array(xs), np.maximum(np.minimum(ys, caps), 0.0))

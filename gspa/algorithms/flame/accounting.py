"""What FLAME's three protocols can be proved to give: certified coordinates, composed on a grid.

All of it is for (index, value) pairs shuffled coordinate by coordinate, and for coordinates that all fit into n_p.
Messages of k coordinates, as Algorithms 2 and 3 have them, are not covered (`gspa.algorithms.flame.attacks`).

* SS-Simple: d coordinates of n reports.
* SS-Double with each index drawn independently with probability beta: d coordinates in which the victim's
  report is (1 - beta) omega + beta R(x). What does not fit into n_p is added to delta.
* SS-Double with exactly k indices: given which, k coordinates without any amplification by subsampling.
* SS-Topk: the indices depend on the data. In a coordinate that both selections hold the pair is (R(x), R(x')), in
  one that only one of them holds it is (R(x), omega), and there are two of those for each of the first kind that
  is missing. Where the composed curve of such two is below that of one of the first kind, k of those are the worst.

delta(eps) of a coordinate on a grid of losses gives the pair on that grid whose curve is the largest convex function
of e^eps below the values ("connect the dots"): it dominates the coordinate, and so do its powers (see
`gspa.accountant.losses`).

>>> from gspa.algorithms.flame.randomizers import Laplace
>>> found = topk(Laplace(0.5), k=157, n_p=333, delta=5e-6, most_selected=333)
>>> round(found.lower, 2), round(found.upper, 2)
(1.29, 1.45)
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gspa.accountant import arguments as check
from gspa.accountant.bound import Bound
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.losses import PrivacyLoss, dominating, spread
from gspa.accountant.rounds import Sides, delta_of, epsilon_of
from gspa.algorithms.flame import attacks
from gspa.algorithms.flame.attacks import Local
from gspa.algorithms.flame.padded import Coordinate, coordinate, overflow

Array = NDArray[np.float64]

METHOD = "privacy blanket of each coordinate, composed on a grid of losses"
_STEPS = 6  # grid steps in the standard deviation of one coordinate's loss
_SHARE = 1e-4  # of delta: what the losses beyond the grid may have, over all coordinates
_MOST_STEPS = 4000
_FLOOR = 1e-13  # of delta, where two curves are compared


def _connected(step: float, forward: Array, backward: Array) -> PrivacyLoss:
    """The pair of values at eps = 0, step, 2 step, ... of both directions; its losses are on that grid."""
    pair = dominating(step * np.arange(float(forward.size)), forward, backward)
    return spread(pair.loss, pair.mass, step, pair.missing)


def _grid(one: Coordinate, step: float, floor: float) -> tuple[Array, Array]:
    """Upper values of delta at 0, step, 2 step, ... until both are below the floor."""
    ways = (False,) if one.symmetric else (False, True)
    values: list[list[float]] = [[] for _ in ways]
    for i in range(_MOST_STEPS):
        for way, found in zip(ways, values, strict=True):
            found.append(one.delta(i * step, swap=way).upper)
        if max(found[-1] for found in values) <= floor:
            break
    return np.array(values[0]), np.array(values[-1])


def _step(one: Coordinate) -> float:
    """A few steps in a standard deviation: delta(0) of a Gaussian pair is about 0.4 of it."""
    deviation = one.delta(0.0).upper / 0.4
    step = min(deviation, one.most) / _STEPS
    return one.most / math.ceil(one.most / step)  # the largest loss is on the grid


def _composed(one: Coordinate, folds: int, delta: float) -> float:
    step = _step(one)
    law = _connected(step, *_grid(one, step, _SHARE * delta / folds))
    found = epsilon_of(Sides([(law, folds)], [(law, folds)]), delta).upper
    return min(found, folds * one.most)


def composed_delta(one: Coordinate, folds: int, *, eps: float) -> float:
    """Upper bound on delta at eps >= 0 of `folds` such coordinates; errs upward."""
    eps, folds = check.nonnegative(eps=eps), check.count(folds=folds)
    if eps >= folds * one.most:
        return 0.0
    step = _step(one)
    law = _connected(step, *_grid(one, step, 1e-14 / folds))
    return delta_of(Sides([(law, folds)], [(law, folds)]), eps).upper


def _settings(d: int, k: int, n_p: int, delta: float) -> tuple[int, int, int, float]:
    d, k, n_p = check.count(d=d), check.count(k=k), check.count(n_p=n_p)
    if k > d:
        raise InvalidValue("k", k, f"at most d = {d}")
    return d, k, n_p, check.probability(allow_zero=False, delta=delta)


def simple(local: Local, *, d: int, n: int, delta: float, attack: bool = True) -> Bound:
    """Central eps of SS-Simple, each coordinate shuffled on its own.

    Args:
        local: of each coordinate.
        d: coordinates.
        n: users.
        delta: in (0, 1).
        attack: False leaves the lower end at 0 and saves time.

    Returns:
        `upper` is certified; `lower` is an attack: what the sum of all reports reveals if all others hold 1/2, or 0.
    """
    d, _, n, delta = _settings(d, 1, n, delta)
    upper = _composed(coordinate(local, n_p=n), d, delta)
    lower = _attacked(local, d, n, delta, all_users=True) if attack else 0.0
    return _answer(lower, upper, "SS-Simple, each coordinate shuffled on its own", delta, n)


def double_poisson(local: Local, *, d: int, k: int, n: int, n_p: int, delta: float, attack: bool = True) -> Bound:
    """Central eps of SS-Double with each index drawn independently with probability k/d.

    Args:
        local: of each coordinate.
        d: coordinates.
        k: selected on average.
        n: users.
        n_p: reports per coordinate.
        delta: in (0, 1).
        attack: False leaves the lower end at 0 and saves time.

    Returns:
        `upper` is certified; `lower` is an attack: the sum of all reports if all others hold 1/2, or 0.

    Raises:
        OutsideValidity: a coordinate overflows n_p with a probability that delta does not cover.
    """
    d, k, n_p, delta = _settings(d, k, n_p, delta)
    beta, n = k / d, check.count(n=n)
    lost = d * overflow(n_p=n_p, n=n, beta=beta)
    if lost >= delta:
        hint = f"with probability up to {min(lost, 1.0):.2g} some n_(s,j) exceeds n_p = {n_p}; pad to more"
        raise OutsideValidity("dummy padding", "n_(s,j) <= n_p for every coordinate j", hint)
    upper = _composed(coordinate(local, n_p=n_p, n=n, beta=beta), d, delta - lost)
    lower = attacks.sum_epsilon(local, real=d, padded=d * n_p, delta=delta, beta=beta) if attack else 0.0
    return _answer(lower, upper, "SS-Double, (index, value) pairs, each index drawn independently", delta, n)


def double_given_indices(local: Local, *, d: int, k: int, n: int, n_p: int, delta: float) -> Bound:
    """Central eps of SS-Double with exactly k indices, told to the adversary; arguments as `double_poisson`."""
    d, k, n_p, delta = _settings(d, k, n_p, delta)
    lost = d * overflow(n_p=n_p, n=check.count(n=n), beta=k / d)
    if lost >= delta:
        hint = f"with probability up to {min(lost, 1.0):.2g} some n_(s,j) exceeds n_p = {n_p}; pad to more"
        raise OutsideValidity("dummy padding", "n_(s,j) <= n_p for every coordinate j", hint)
    upper = _composed(coordinate(local, n_p=n_p), k, delta - lost)
    lower = attacks.sum_epsilon(local, real=k, padded=d * n_p, delta=delta)
    return _answer(lower, upper, "SS-Double, (index, value) pairs, exactly k indices", delta, n)


def topk(local: Local, *, k: int, n_p: int, delta: float, most_selected: int, attack: bool = True) -> Bound:
    """Central eps of SS-Topk, whatever the others select.

    Args:
        local: of each selected coordinate.
        k: selected by each user.
        n_p: reports per coordinate, dummies included.
        delta: in (0, 1).
        most_selected: the largest n_(s,j), over coordinates and neighbouring data sets; n if nothing bounds it.
        attack: False leaves the lower end at 0 and saves time.

    Returns:
        `upper` is certified; `lower` is an attack on equal selections, all others at 1/2.

    Raises:
        OutsideValidity: a coordinate may overflow n_p; or different selections may be worse than equal ones.
    """
    _, k, n_p, delta = _settings(k, k, n_p, delta)
    both = coordinate(local, n_p=n_p, n=check.count(most_selected=most_selected))
    if not selections_covered(local, n_p=n_p, most_selected=most_selected):
        hint = "in some coordinates only one of the two selections has a report"
        raise OutsideValidity("k equal selections", "two half pairs below one whole pair", hint)
    upper = _composed(both, k, delta)
    lower = _attacked(local, k, n_p, delta, all_users=most_selected == n_p) if attack else 0.0
    return _answer(lower, upper, "SS-Topk, (index, value) pairs, no coordinate above n_p", delta, n_p)


def _attacked(local: Local, folds: int, n_p: int, delta: float, *, all_users: bool) -> float:
    """The better of the attacks: the others' reports are the blanket, or on 0, which dummies are not."""
    ways = [way for way in attacks.OTHERS if way == "blanket" or all_users]
    return max(attacks.sum_epsilon(local, real=folds, padded=folds * n_p, delta=delta, others=way) for way in ways)


def selections_covered(local: Local, *, n_p: int, most_selected: int | None = None) -> bool:
    """Whether (R(x), omega) and (omega, R(x')) together are dominated by (R(0), R(1)): upper curves, on its grid.

    Between grid points the curve of the dominating grid pair is a chord, so the corners are enough; from the local
    budget on both curves are 0. False may also mean that the grids are too coarse to show it.
    """
    most = None if most_selected is None else check.count(most_selected=most_selected)
    return _selections_covered(local, check.count(n_p=n_p), most)


@lru_cache(maxsize=32)  # asked again for the same coordinate
def _selections_covered(local: Local, n_p: int, most_selected: int | None) -> bool:
    whole = coordinate(local, n_p=n_p, n=most_selected)
    half = coordinate(local, n_p=n_p, n=most_selected, against="blanket")
    return any(_covered(whole, half, whole.most / math.ceil(whole.most / (c * _step(whole)))) for c in (2.0, 1.0))


def _covered(whole: Coordinate, half: Coordinate, step: float) -> bool:
    law = _connected(step, *_grid(whole, step, _FLOOR))
    forward, backward = _grid(half, step, _FLOOR)
    once, again = _connected(step, forward, backward), _connected(step, backward, forward)
    # Two factors: the masses themselves are convolved, no transform is needed.
    infinite = 1 - (1 - once.infinite) * (1 - again.infinite)
    two = PrivacyLoss(step, once.first + again.first, np.convolve(once.mass, again.mass), infinite)
    last = math.ceil(whole.most / step * (1 - 1e-9))
    return all(two.delta(i * step) <= law.delta(i * step) + _FLOOR for i in range(last))


def _answer(lower: float, upper: float, valid_for: str, delta: float, n: int) -> Bound:
    return Bound(lower, upper, upper, method=METHOD, valid_for=valid_for, delta=delta, n=n)

"""What FLAME's three protocols can be proved to give: certified coordinates, composed on a grid.

All of it is for (index, value) pairs shuffled coordinate by coordinate, and for coordinates that all fit into n_p.
Messages of k coordinates, as Algorithms 2 and 3 have them, are not covered (`gspa.algorithms.flame.attacks`).

* SS-Simple: d coordinates of n reports.
* SS-Double with each index drawn independently with probability beta: d coordinates in which the victim's
  report is (1 - beta) omega + beta R(x). What does not fit into n_p is added to delta.
* SS-Double with exactly k indices: k coordinates of d/k times as many reports ("SS-Double, corrected" on page 15). A
  random partition into k blocks with one index in each gives every selection of k the same chance. Given the
  partition, the victim's report is one of all the reports of its block.
* SS-Topk: the indices depend on the data. In a coordinate that both selections hold the pair is (R(x), R(x')), in
  one that only one of them holds it is (R(x), omega), and there are two of those for each of the first kind that
  is missing. Two such are shown at every use to be dominated by the grid pair that stands for one of the first kind
  (`_covered`), so that k of these dominate the protocol; where that cannot be shown, it refuses.

delta(eps) of a coordinate on a grid of losses gives the pair on that grid whose curve is the largest convex function
of e^eps below the values ("connect the dots"): it dominates the coordinate, and so do its powers (see
`gspa.accountant.losses`).

>>> from gspa.algorithms.flame.randomizers import Laplace, Local
>>> found = topk(Laplace(0.5), k=157, n_p=333, delta=5e-6, most_selected=333)
>>> round(found.lower, 2), round(found.upper, 2)
(1.29, 1.45)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from gspa.accountant import arguments as check
from gspa.accountant.bound import Bound
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.losses import PrivacyLoss, dominating, spread
from gspa.accountant.transform import Sides, delta_of, epsilon_of
from gspa.algorithms.flame import attacks
from gspa.algorithms.flame.padded import Coordinate, coordinate, overflow
from gspa.algorithms.flame.randomizers import Laplace, Local

Array = NDArray[np.float64]

METHODS = SIMPLE, DOUBLE, TOPK = "SS-Simple", "SS-Double", "SS-Topk"

_METHOD = "privacy blanket of each coordinate, composed on a grid of losses"
_STEPS = 6  # grid steps in the standard deviation of one coordinate's loss
_SHARE = 1e-4  # of delta: what the losses beyond the grid may have, over all coordinates
_SEEN = 1e-3  # of delta: that of more others' reports than this it is seen that they are no draws from the blanket
_MOST_STEPS = 4000
_CLOSE = 2e-3  # relative, in eps: where the tuning stops
_TRIED = 12  # budgets
_LARGEST_STEP = 3.0  # of the logarithm
_ROUNDED = 1e-9  # relative, more than a sum of a few thousand terms loses


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
            found.append(one.upper(i * step, swap=way))
        if max(found[-1] for found in values) <= floor:
            break
    return np.array(values[0]), np.array(values[-1])


def _step(one: Coordinate) -> float:
    """A few steps in a standard deviation: delta(0) of a Gaussian pair is about 0.4 of it."""
    deviation = one.upper(0.0) / 0.4
    step = min(deviation, one.most) / _STEPS
    return one.most / math.ceil(one.most / step)  # the largest loss is on the grid


def _grid_pair(one: Coordinate, folds: int, delta: float) -> PrivacyLoss:
    """The grid pair that dominates the coordinate, fine enough for `folds` of it at delta."""
    step = _step(one)
    return _connected(step, *_grid(one, step, _SHARE * delta / folds))


def _composed(law: PrivacyLoss, folds: int, delta: float, most: float) -> float:
    """Eps of `folds` copies of a pair, none with a loss above `most`."""
    return min(epsilon_of(Sides([(law, folds)], [(law, folds)]), delta).upper, folds * most)


def _certified(one: Coordinate, folds: int, delta: float) -> float:
    return _composed(_grid_pair(one, folds, delta), folds, delta, one.most)


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


def _left(delta: float, lost: float, n_p: int) -> float:
    """Delta without the probability that one of the coordinates is too full; refused if nothing is left."""
    if lost >= delta:
        hint = f"with probability up to {min(lost, 1.0):.2g} some n_(s,j) exceeds n_p = {n_p}; pad to more"
        raise OutsideValidity("dummy padding", "n_(s,j) <= n_p for every coordinate j", hint)
    return delta - lost


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
    upper = _certified(coordinate(local, n_p=n), d, delta)
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
    left = _left(delta, d * overflow(n_p=n_p, n=n, beta=beta), n_p)
    upper = _certified(coordinate(local, n_p=n_p, n=n, beta=beta), d, left)
    lower = attacks.sum_epsilon(local, real=d, padded=d * n_p, delta=delta, beta=beta) if attack else 0.0
    return _answer(lower, upper, "SS-Double, (index, value) pairs, each index drawn independently", delta, n)


def double_exactly_k(local: Local, *, d: int, k: int, n: int, n_p: int, delta: float, attack: bool = True) -> Bound:
    """Central eps of SS-Double with exactly k indices; arguments and errors as `double_poisson`.

    The adversary is told the partition into blocks, and which reports of others are no draws from the blanket, if in
    no coordinate there are more than `told` of them; that there are more is added to delta.
    """
    d, k, n_p, delta = _settings(d, k, n_p, delta)
    beta, n = k / d, check.count(n=n)
    left = _left(delta, d * float(binom.sf(n_p - 1, n - 1, beta)), n_p)  # a coordinate that the others fill
    seen = binom(n - 1, beta * (1 - local.gamma))
    told = min(int(seen.isf(_SEEN * left / d)), n_p - 1)
    left = _left(left, d * float(seen.sf(told)), n_p)
    upper = _certified(coordinate(local, n_p=(d // k) * (n_p - told), n=1), k, left)
    lower = attacks.sum_epsilon(local, real=k, padded=d * n_p, delta=delta) if attack else 0.0
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
    most_selected = check.count(most_selected=most_selected)
    whole = coordinate(local, n_p=n_p, n=most_selected)
    law = _grid_pair(whole, k, delta)
    if not _covered(law, coordinate(local, n_p=n_p, n=most_selected, against="blanket"), whole.most):
        hint = "in some coordinates only one of the two selections has a report"
        raise OutsideValidity("k equal selections", "two half pairs below one whole pair", hint)
    upper = _composed(law, k, delta, whole.most)
    lower = _attacked(local, k, n_p, delta, all_users=most_selected == n_p) if attack else 0.0
    return _answer(lower, upper, "SS-Topk, (index, value) pairs, no coordinate above n_p", delta, n_p)


def _attacked(local: Local, folds: int, n_p: int, delta: float, *, all_users: bool) -> float:
    """The better of the attacks: the others' reports are the blanket, or on 0, which dummies are not."""
    ways = [way for way in attacks.OTHERS if way == "blanket" or all_users]
    return max(attacks.sum_epsilon(local, real=folds, padded=folds * n_p, delta=delta, others=way) for way in ways)


def _covered(law: PrivacyLoss, half: Coordinate, most: float) -> bool:
    """Whether `law` dominates two half coordinates, (R(x), omega) and (omega, R(x')), together; a proof where True.

    The two have the curve of the product of their own grid pairs at most. They are compared at all corners of law's
    curve but the last, at the local budget `most` of both together, from where on the two have delta 0. Between
    corners law's curve is a chord in e^eps and theirs is convex; below 0 both are what symmetry makes of them. False
    may also mean that the grid is too coarse to show it.
    """
    step = law.step
    forward, backward = _grid(half, step, law.infinite / 4)
    once, again = _connected(step, forward, backward), _connected(step, backward, forward)
    # Two factors: the masses themselves are convolved, no transform is needed.
    infinite = 1 - (1 - once.infinite) * (1 - again.infinite)
    two = PrivacyLoss(step, once.first + again.first, np.convolve(once.mass, again.mass), infinite)
    last = math.ceil(most / step * (1 - 1e-9))
    return all(two.delta(i * step) * (1 + _ROUNDED) <= law.delta(i * step) for i in range(last))


def _answer(lower: float, upper: float, valid_for: str, delta: float, n: int) -> Bound:
    return Bound(lower, upper, upper, method=_METHOD, valid_for=valid_for, delta=delta, n=n, reached=True)


class Worth(NamedTuple):
    """One protocol in the paper's setting.

    `budget` of one report; eps `lower` by an attack, `upper` certified; the budget `tuned` to a target (0 if none was
    found), and what an attack reaches there.
    """

    method: str
    budget: float
    lower: float
    upper: float
    tuned: float = 0.0
    tuned_lower: float = 0.0


def certified(method: str, *, d: int, k: int, n: int, n_p: int, eps: float, delta: float, attack: bool = True) -> Bound:
    """Certified eps of one epoch at the budget `eps` of one report; SS-Double with each index drawn for itself.

    The attack shows SS-Double's lower end for exactly k indices, too; `attack` False leaves it at 0.
    `OutsideValidity`: the padding may overflow.
    """
    local = Laplace(eps)
    if method == SIMPLE:
        return simple(local, d=d, n=n, delta=delta, attack=attack)
    if method == DOUBLE:
        found = double_poisson(local, d=d, k=k, n=n, n_p=n_p, delta=delta, attack=attack)
        exact = attacks.sum_epsilon(local, real=k, padded=d * n_p, delta=delta) if attack else 0.0
        return replace(found, lower=min(found.lower, exact))
    return topk(local, k=k, n_p=n_p, delta=delta, most_selected=n_p, attack=attack)


def tuned(upper: Callable[[float], float], *, target: float, start: float) -> float:
    """The budget at which an increasing function of it is the target, from below: secants in logarithms.

    `upper` is then in (0.998 target, target]; after a dozen steps, the largest budget seen that is not above it, or 0.

    >>> round(tuned(lambda eps: eps**2, target=0.25, start=2.0), 3)
    0.5
    """
    budget, value = start, upper(start)
    slope, best = 1.0, 0.0
    for _ in range(_TRIED):
        if value <= target:
            best = max(best, budget)
            if value >= (1 - _CLOSE) * target:
                break
        step = _LARGEST_STEP  # where eps is 0 whatever the budget
        if value > 0:
            wanted = math.log(1 - _CLOSE / 2) + math.log(target) - math.log(value)
            step = min(max(wanted / slope, -_LARGEST_STEP), _LARGEST_STEP)
        following = budget * math.exp(step)
        found = upper(following)
        if found != value and min(found, value) > 0:
            slope = max(0.2, (math.log(found) - math.log(value)) / step)
        budget, value = following, found
    return best


def worth(*, d: int, k: int, n: int, n_p: int, eps_l: float, delta: float, target: float) -> tuple[Worth, ...]:
    """All three at eps_l a vector, and tuned to the central eps `target`; without those whose padding may overflow."""
    made = []
    for method in METHODS:
        budget = eps_l / (d if method == SIMPLE else k)

        of = partial(certified, method, d=d, k=k, n=n, n_p=n_p, delta=delta)

        def upper(eps: float, of: Callable[..., Bound] = of) -> float:
            return of(eps=eps, attack=False).upper

        try:
            bound = of(eps=budget)
            start = budget * target / bound.upper if bound.upper > 0 else budget
            own = tuned(upper, target=target, start=start)
        except OutsideValidity:
            continue
        low = of(eps=own).lower if own > 0 else 0.0
        made.append(Worth(method, budget, bound.lower, bound.upper, own, low))
    return tuple(made)

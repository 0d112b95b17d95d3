"""The privacy loss of the dominating pair: its law, its Renyi divergence.

Given m = C + 1 reports of the two outcomes, i of the first, and b the Bin(m, 1/2) pmf,

    P0 = b(i) (1 + T s),   P1 = b(i) (1 - T s),   s = (2i - m)/m,   loss = 2 artanh(T s)

with T = tanh(eps_n/2) (smaller where a "neither" hides, see `gspa.accountant.pair`; one that is revealed has loss 0).
P0 and P1 are mirror images, so one direction of everything here is both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gspa.accountant import arguments as check
from gspa.accountant import binomial
from gspa.accountant.arguments import MOST_EXPONENT, Array
from gspa.accountant.bound import Bound
from gspa.accountant.clones import CloneLaw
from gspa.accountant.errors import InternalError, OutsideValidity
from gspa.accountant.one_round import Problem
from gspa.accountant.pair import AtomTable

# --- a grid of losses: above by spreading, below by merging --------------------------------------------------
# "Losses on a grid", on the page of proofs. Both err by O(step^2).

_FAR_RATIO = 500.0  # beyond it a sample of rate 1e-9 is as good as certain
_ON_GRID = 1e-10  # a loss this near a grid point, in steps, is on it; see `transform.Tail.end`
_ROUNDED = 1e-11
_FINE = 4  # cells of the first merging in one step of the grid
_NODES, _WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(6))
_NODES = _NODES + 0.5  # Gauss-Legendre on [0, 1]


@dataclass(frozen=True, eq=False)
class PrivacyLoss:
    """P0-mass `mass[k]` at the loss (first + k) step, and `infinite` at +infinity.

    The P1-mass at a loss l is e^-l times the P0-mass. Masses need not sum to 1: an upper bound may
    count a mass twice, a lower bound may drop it (loss -infinity).

    Attributes:
        step: > 0.
        first: loss of `mass[0]`, in steps.
        mass: shape (m,), >= 0.
        infinite: P0-mass of outcomes that P1 does not have.
    """

    step: float
    first: int
    mass: Array
    infinite: float

    @cached_property
    def loss(self) -> Array:
        """The losses, shape (m,)."""
        return np.asarray(self.step * np.arange(self.first, self.first + self.mass.size), dtype=np.float64)

    @cached_property
    def held(self) -> tuple[NDArray[np.intp], Array, Array]:
        """Where there is mass: index, loss and mass, each of shape (k,)."""
        index = np.flatnonzero(self.mass)
        return index, self.loss[index], self.mass[index]

    def delta(self, eps: float) -> float:
        """sum mass max(1 - e^(eps - loss), 0) + infinite, without the cancellation."""
        return float(self.mass @ -np.expm1(np.minimum(eps - self.loss, 0.0))) + self.infinite


def spread(loss: Array, mass: Array, step: float, infinite: float = 0.0) -> PrivacyLoss:
    """Each mass to its two neighbours on the grid, mean of e^-loss kept: delta does not fall."""
    cell = np.floor(loss / step)
    part = np.expm1(-np.clip(loss - cell * step, 0.0, step)) / math.expm1(-step)
    first = int(cell.min())
    index = (cell - first).astype(np.intp)
    up = mass * part
    size = int(index.max()) + 2
    total = np.asarray(np.bincount(index, mass - up, size) + np.bincount(index + 1, up, size), dtype=np.float64)
    return PrivacyLoss(step, first, total, infinite)


def merge(loss: Array, mass: Array, step: float, infinite: float = 0.0) -> PrivacyLoss:
    """Masses joined so that each heap's mean of e^-loss is on the grid: delta does not rise.

    From the largest loss down: a heap at the grid point below it takes what follows until its mean is
    that point. What is left at the end is moved down to its point, which does not raise delta either.
    """
    width = step / _FINE
    cell = np.floor(loss / width)
    first = int(cell.min())
    index = (cell - first).astype(np.intp)
    fine = np.bincount(index, mass)
    used = np.flatnonzero(fine)
    below = np.bincount(index, mass * np.expm1(-np.clip(loss - cell * width, 0.0, width)))[used] / fine[used]
    below = np.maximum(below, 2.0**-50 - 1)  # in a cell so wide that e^-loss vanishes, at a smaller loss
    losses = ((first + used) * width - np.log1p(below))[::-1].tolist()
    heaps: list[tuple[int, float]] = []
    point, heap, short, fresh = 0, 0.0, 0.0, True  # short = sum of mass (1 - e^-(loss - point))
    for at, rest in zip(losses, fine[used][::-1].tolist(), strict=True):
        while rest > 0:
            if fresh:
                point, heap, short = math.floor(at / step + _ON_GRID), 0.0, 0.0
            apart = point * step - at
            gap = -math.expm1(apart) if apart < MOST_EXPONENT else -math.inf  # so far away nothing of it is needed
            if fresh:
                gap, fresh = max(gap, 0.0), False
            if gap >= 0 or short >= -gap * rest:
                heap, short, rest = heap + rest, short + gap * rest, 0.0
            else:
                taken = short / -gap
                heaps.append((point, heap + taken))
                rest, fresh = rest - taken, True
    points, masses = zip(*heaps, (point, 0.0 if fresh else heap), strict=True)
    lowest = min(points)
    total = np.asarray(np.bincount(np.array(points) - lowest, masses), dtype=np.float64)
    return PrivacyLoss(step, lowest, total, infinite)


# --- blocks of counts: who hides among how many --------------------------------------------------------------

_BLOCK = 1e-4  # counts that differ by this, relatively, are treated as one
_ATOMS = 3e6  # about as many outcomes are looked at


def _blocks(law: CloneLaw, depth: float, above: bool) -> tuple[Array, Array, float]:
    """Counts that stand for blocks of them, the blocks' masses, and a bound on the mass that has another loss than 0.

    Blocks by their first count (above) or their last (below): clones only help. Below, what is in none has loss 0.
    """
    first, last = law.edges[:-1], law.edges[1:] - 1
    mass = law.mass + law.error if above else np.maximum(law.mass - law.error, 0.0)
    middle, width = float(first[0] + last[-1]) / 2 + 1, float(last[0] - first[0] + 1)
    window = math.sqrt(2 * depth * middle)
    block = max(_BLOCK * float(first[0]), (float(last[-1]) - float(first[0])) * window / _ATOMS)
    starts = np.arange(0, mass.size, max(1, int(block / width)))
    ends = np.r_[starts[1:], mass.size] - 1
    mass = np.add.reduceat(mass, starts)
    if not above:
        return last[ends], mass, 0.0
    return np.r_[first[starts], law.far, law.edges[-1]], np.r_[mass, law.below, law.above], law.far_mass


# --- the pair's privacy loss and Renyi divergence ------------------------------------------------------------

METHOD = "Renyi divergence of the dominating pair"
_DEPTH = 60.0
_MOST_ATOMS = 4e7
_RELATIVE = 1e-11  # allowance on each mass, as in `gspa.accountant.pair`


class Atoms(NamedTuple):
    """Outcomes: loss, P0-mass, and an upper bound on the P0-mass of all others."""

    loss: Array
    mass: Array
    missing: float

    def or_revealed(self, local: float) -> Atoms:
        """The same where with probability `local` a report reveals everything."""
        return Atoms(self.loss, (1 - local) * self.mass, local + (1 - local) * self.missing)


def atoms(problem: Problem, *, depth: float = _DEPTH, above: bool = True) -> Atoms:
    """Outcomes of a pair that dominates the problem's (above), or is dominated by it.

    Proved: blocks (given the reports with c clones a fair coin can be added), windows (Bernstein for
    C, Hoeffding for A). An allowance of 1e-11 relative in each mass is the caller's to add.
    """
    victim, law = problem.victim, problem.law(depth=depth)
    if isinstance(victim, AtomTable):
        hint = "for an atom table only delta(eps) is at hand: use gspa.accountant.rounds"
        raise OutsideValidity("privacy loss distribution", "a victim of two outcomes", hint)
    truth, lie = math.tanh(victim.eps / 2), 2 * math.exp(-victim.eps) / (1 + math.exp(-victim.eps))
    clones, held, missing = _blocks(law, depth, above)
    m, held = clones[held > 0] + 1, victim.seen * held[held > 0]
    lowest = np.maximum(np.ceil(m / 2 - np.sqrt(depth * m / 2)), 0.0)
    size = (np.floor(m / 2) - lowest + 1).astype(np.intp)
    if size.sum() > _MOST_ATOMS:
        hint = f"{int(size.sum())} outcomes of the pair are to be looked at"
        raise OutsideValidity("privacy loss distribution", f"at most {_MOST_ATOMS:g} outcomes: fewer users", hint)
    start = np.cumsum(size) - size
    which = np.repeat(np.arange(size.size), size)
    i = np.arange(float(which.size)) - np.repeat(start - lowest, size)
    total = m[which]
    b = binomial.fair_pmf(i, total) * held[which]
    b[2 * i == total] /= 2  # its own mirror image
    lost = 2 * math.exp(-depth) if lowest.any() else 0.0  # Hoeffding, of each count's window
    found, there = 2 * float(b.sum()), float(held.sum())
    # What is in no window counts as loss 0 below: only what is known to be small may get there.
    if not -_RELATIVE * there <= there - found <= (lost + _RELATIVE) * there:
        raise InternalError(f"the windows of {m.size} counts hold {found!r} of the mass {there!r}")
    shift = truth * (total - 2 * i) / total
    rest = lie + truth * 2 * i / total  # 1 - shift
    with np.errstate(divide="ignore"):
        loss = np.where(shift < 0.5, 2 * np.arctanh(np.minimum(shift, 0.5)), np.log1p(shift) - np.log(rest))
    missing += lost
    # The rest says nothing, or (below) is made to: the windows are symmetric, so P0 and P1 lose the same.
    neutral = max(0.0, 1 - 2 * float(b.sum()) - (missing if above else 0.0))
    mass = np.r_[b * (1 + shift), b * rest, neutral]
    used = mass > 0
    return Atoms(np.r_[loss, -loss, 0.0][used], mass[used], missing if above else 0.0)


MOST_MU = 1e3
_PER_UNIT = 500  # cells in a standard deviation


def sampled_gaussian(mu: float, *, depth: float, rate: float = 1.0, added: bool = False) -> tuple[Atoms, Atoms]:
    """Losses above and below that of N(mu, 1) with probability `rate`, else N(0, 1), against N(0, 1).

    A cell's mass at the two ends of its losses, and at one loss inside, the mean of e^-loss kept: as `spread` and
    `merge` have it. What is left out is at most e^-depth; `added` is of the two laws exchanged.
    """
    reach = math.sqrt(2 * depth)
    per_unit = max(_PER_UNIT if rate < 1 else 2 * _PER_UNIT, 4 * mu)
    around = np.linspace(-reach, reach, math.ceil(2 * reach * per_unit) + 1)
    ends = around if added else mu + around
    if not added and rate < 1 and mu > 2 * reach:
        ends = np.r_[around, ends]
    elif not added and rate < 1:  # not further apart than their own width, the two laws share their cells
        ends = np.linspace(-reach, mu + reach, math.ceil((2 * reach + mu) * per_unit) + 1)

    def loss_at(z: Array) -> Array:
        log_ratio = mu * (z - mu / 2)
        if rate < 1:
            near = np.log1p(rate * np.expm1(np.minimum(log_ratio, _FAR_RATIO)))
            log_ratio = np.where(log_ratio < _FAR_RATIO, near, log_ratio + math.log(rate))
        return -log_ratio if added else log_ratio

    width, at = np.diff(ends)[:, None], loss_at(ends)
    z = ends[:-1, None] + width * _NODES
    density = np.exp(-0.5 * z * z) if added else rate * np.exp(-0.5 * (z - mu) ** 2)
    if not added and rate < 1:
        density += (1 - rate) * np.exp(-0.5 * z * z)
    weight = density * width * _WEIGHTS / math.sqrt(2 * math.pi)
    low, high = np.minimum(at[1:], at[:-1]), np.maximum(at[1:], at[:-1])
    mass, short = weight.sum(axis=1), (weight * -np.expm1(low[:, None] - loss_at(z))).sum(axis=1)
    if not abs(float(mass.sum()) - 1) <= math.exp(-depth) + _ROUNDED:
        raise InternalError(f"a Gaussian's masses in {mass.size} cells add up to {float(mass.sum())!r}")
    used = mass > 0
    low, high, mass, short = low[used], high[used], mass[used], short[used]
    whole = -mass * np.expm1(low - high)
    up = mass * np.clip(np.divide(short, whole, out=np.ones_like(mass), where=whole > 0), 0.0, 1.0)
    above = Atoms(np.r_[low, high], np.r_[mass - up, up], math.exp(-depth))
    return above, Atoms(low - np.log1p(-short / mass), mass, 0.0)


def _renyi_end(problem: Problem, order: float, above: bool) -> float:
    power = order - 1
    if problem.local_delta > 0:
        hint = f"it is {problem.local_delta:g}, the probability of a report that reveals everything"
        raise OutsideValidity("Renyi divergence", "local delta = 0", hint)
    eps, sign = problem.victim.eps, 1 if above else -1
    loss, mass, missing = atoms(problem, depth=min(_DEPTH + power * eps, 650.0), above=above)
    if power == 0:
        return float(mass @ loss) + sign * (_RELATIVE * float(mass @ np.abs(loss)) + missing * eps)
    if power * float(np.abs(loss).max()) < 1:  # near order 1 the moment is 1 and little more
        gain = np.expm1(power * loss)
        more = float(mass @ gain) + sign * _RELATIVE * float(mass @ np.abs(gain)) + missing * math.expm1(power * eps)
        return math.log1p(more) / power
    # Even if rounding were to lose it, the divergence is at least 0.
    top = power * float(loss.max())
    moment = float(mass @ np.exp(power * loss - top)) * (1 + sign * _RELATIVE)
    moment += missing * math.exp(min(power * eps - top, 700.0))
    return (math.log(moment) + top) / power


def renyi(problem: Problem, order: float) -> Bound:
    """The Renyi divergence D_order(P0, P1) of the problem's pair, order >= 1; order 1 is Kullback and Leibler's.

    Implements log(E0[e^((order-1) loss)])/(order - 1). For the upper end what is outside the windows has the largest
    loss, eps_n; for the lower end, the loss 0. Proved but for an allowance of 1e-11 relative in each mass.

    Returns:
        Bound on the pair's divergence; its `upper` holds for the shuffled reports.

    Raises:
        OutsideValidity: a local delta, with which every divergence is infinite; see also `atoms`.

    >>> from gspa.accountant import budgets
    >>> from gspa.accountant.randomizers import RandomizedResponse
    >>> from gspa.accountant.one_round import problem_of
    >>> alone = budgets.constant(1.0, n=1)
    >>> round(renyi(problem_of(alone, RandomizedResponse(), 0), 2.0).value, 9)
    0.735325664
    """
    order = check.in_range(1, 1e300, order=order)
    low, high = sorted(max(_renyi_end(problem, order, above), 0.0) for above in (False, True))
    high, n = min(high, problem.victim.eps), int(problem.count.sum()) + 1
    low = min(low, high)
    label = "what the problem's clone probabilities hold for"
    return Bound(low, 0.5 * low + 0.5 * high, high, f"{METHOD}, order {order:g}", label, n=n)


# --- losses of a pair of which only delta(eps) is known ------------------------------------------------------
# h(a) = sup_A P(A) - a Q(A), a = e^eps, is convex and falls. So the greatest convex function below upper bounds of h at
# a few points is above h, and it is itself the h of a pair: its slope grows at a by the Q-mass of the loss log a, and
# what is left at the end is P's mass of the infinite loss. That pair dominates, in compositions too ("Losses on a
# grid"). From below: the edge between two points, continued beyond either of them, is below h.
#
# With h' of the pair exchanged, h(a) = 1 - a + a h'(1/a), which takes convex to convex: each direction's points are
# used as they are, for its own losses > 0, so that no small delta is lost in 1 - delta. Only the loss 0 sees both.


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


def _side(x: Array, y: Array) -> tuple[Array, Array, float]:
    """Corners beyond x[0] = 0 of the hull, how much its slope grows there, and its first slope."""
    corner = _hull(x, y)
    slope = np.r_[np.diff(y[corner]) / np.diff(x[corner]), 0.0]
    return x[corner[1:]], np.maximum(np.diff(slope), 0.0), float(slope[0])


def _centred(x: Array, forward: Array, backward: Array) -> tuple[Array, Array]:
    """The points with that at eps = 0 on their hull: the one value that both directions share."""
    both = [np.minimum.accumulate(y) for y in (forward, backward)]
    # delta(0) is the same of both and the largest; no mirror image is below it.
    centre = min(float(((y + x) / (1 + x)).min()) for y in both)
    ahead, behind = (np.minimum(y, centre) for y in both)
    # At eps = 0 an edge from one direction's points to the other's may be part of the hull: the steepest on each side.
    while x.size > 1:
        i, j = (int(np.argmin((y[1:] - centre) / x[1:])) + 1 for y in (ahead, behind))
        edge = float((1 + ahead[i] / x[i] + behind[j] / x[j]) / (1 + 1 / x[i] + 1 / x[j]))
        if edge >= centre:
            break
        centre = edge
    ahead[0] = behind[0] = centre
    return ahead, behind


def _pair(x: Array, forward: Array, backward: Array | None = None) -> Atoms:
    """The pair of the hull of points (e^eps - 1, h), eps >= 0, and of the exchanged pair's mirror images; x[0] = 0."""
    ahead, behind = _centred(x, forward, forward if backward is None else backward)
    (up, more, fall), (down, less, rise) = _side(x, ahead), _side(x, behind)
    mass = np.r_[(1 + up) * more, max(0.0, 1 - float(ahead[0]) + fall + rise), less]
    used = mass > 0
    used[up.size] = True  # not empty even where every loss may be infinite
    return Atoms(np.r_[np.log1p(up), 0.0, -np.log1p(down)][used], mass[used], float(ahead[-1]))


def dominating(eps: Array, upper: Array, backward: Array | None = None) -> Atoms:
    """A pair above the one with delta(eps) <= upper at these points, from 0, in every composition.

    `backward` are upper bounds of the pair exchanged; None if the others are of both directions.
    """
    return _pair(np.expm1(eps), upper, backward)


def dominated(eps: Array, lower: Array, upper: Array, cap: Array, backward: tuple[Array, Array] | None = None) -> Atoms:
    """A pair below the one with delta(eps) in [lower, upper] at these points, at least 4 from 0, and below `cap`.

    `cap` is delta(eps) of a second pair; `backward` are lower and upper bounds as in `dominating`.
    """
    x, ahead, behind = np.expm1(eps), (lower, upper), backward or (lower, upper)
    (at, forward), (other, back) = _below(x, ahead, behind, cap), _below(x, behind, ahead, cap)
    both = np.union1d(at, other)
    return _pair(both, np.interp(both, at, forward), np.interp(both, other, back))


def _below(x: Array, given: tuple[Array, Array], exchanged: tuple[Array, Array], cap: Array) -> tuple[Array, Array]:
    """Corners of a function below the convex one with values between the `given`: lines through its edges."""
    # One mirror image in front, for the edge that ends in eps = 0.
    mirror = -x[1] / (1 + x[1])
    at = np.r_[mirror, x]
    low, high = (np.r_[-mirror + (1 + mirror) * w[1], v] for v, w in zip(given, exchanged, strict=True))
    right = (low[1:] - high[:-1]) / np.diff(at)  # slope of the edge j - 1, j, low at its end: for what follows
    left = (high[1:] - low[:-1]) / np.diff(at)  # the same, low at its start: for what precedes
    corners: list[tuple[float, float]] = []
    for j in range(1, at.size - 2):
        wide, fall, rise = at[j + 1] - at[j], right[j - 1], left[j + 1]
        corners.append((at[j], min(low[j], cap[j])))  # cap decreases: this is its value at the next point
        meet = (low[j + 1] - low[j] - rise * wide) / (fall - rise) if fall < rise else -1.0
        if 0 < meet < wide:  # else the edge between the two lower bounds is below one of the lines
            corners.append((at[j] + meet, min(low[j] + fall * meet, cap[j])))
    last = at.size - 2
    falls = right[last - 1] < 0  # else it is constant so far, to rounding: any fall is below it
    corners.append((at[last], min(low[last], cap[last]) if falls else 0.0))
    if falls and low[last] > 0:
        corners.append((at[last] - low[last] / right[last - 1], 0.0))
    found, height = np.array(corners).T
    return found, np.maximum(height, 0.0)


# --- the same from a few dozen values -------------------------------------------------------------------------

TAIL = 2e-4  # of the rounds' share of delta: what may be left to the infinite loss
LARGEST = 500.0
_MOST_VALUES = 400
_GROWTH, _STRIDE = 1.04, 1.5  # of the distance between points, beyond three deviations, and where the curve is flat
FLAT = 0.99  # of a value to the one before it


class Values(NamedTuple):
    """At one eps."""

    above: float  # not below anybody's delta(eps), in either order of the two inputs
    lower: float  # not above delta(eps) of one pair, or, where both orders are alike, of any: the curve is their hull
    upper: float  # not below it
    cap: float  # delta(eps) of a second pair, which the result below stays below as well
    behind: tuple[float, float] | None = None  # lower and upper of the one pair exchanged; None if they are the same


def largest_of(deltas: Sequence[Callable[[float, float], float]]) -> Callable[[float], tuple[float, int]]:
    """Not below any of these, and whose it is, of eps that grow from one call to the next.

    As a delta falls with eps, one that was no larger than what is found already needs not be asked again. Each is told
    what is found already: that is enough, and anything tighter is of no use.
    """
    known = np.full(len(deltas), math.inf)

    def at(eps: float) -> tuple[float, int]:
        found = 0.0, 0
        for i in np.argsort(-known):
            if known[i] <= found[0]:
                break
            known[i] = deltas[i](eps, found[0])
            found = max(found, (float(known[i]), int(i)))
        return found

    return at


def on_curve(
    at: Callable[[float], Values], *, width: float, per: int, corners: Sequence[float], floor: float
) -> tuple[Atoms, Atoms]:
    """Losses above everybody's and below one pair's, from the values at a few eps.

    There are `per` points in `width`, about a loss's standard deviation, and one at each corner of delta(eps); the
    largest of the corners is the largest loss. As much of delta as `floor` may be left to the infinite loss.
    """
    eps, step, found = 0.0, width / per, dict[float, Values]()
    least = 1.0
    while len(found) < _MOST_VALUES:
        found[eps] = at(eps)
        worst = found[eps].above
        if (worst <= floor and len(found) > 3) or eps > LARGEST:
            break
        if eps > 3 * width:
            step *= _GROWTH if worst <= FLAT * least else _STRIDE
        least, eps = min(least, worst), min([eps + step, *(one for one in corners if one > eps)])
    points = np.array(list(found))
    above, low, high, cap = np.array([one[:4] for one in found.values()]).T
    behind = [one.behind or (one.lower, one.upper) for one in found.values()]
    backward = None if found[0.0].behind is None else tuple(np.array(behind).T)
    if backward is None:  # the values may be of several pairs: below, the hull of theirs
        x = np.expm1(points)
        centred = [_centred(x, one, one)[0] for one in (low, high)]
        low, high = (np.interp(x, x[corner], one[corner]) for one in centred for corner in [_hull(x, one)])
    return dominating(points, above), dominated(points, low, high, cap, backward)

"""Random allocation: a record that takes part in one of t noisy steps, chosen at random ("1-of-t").

That is what a training run has which deals its records to t steps, one noisy sum a step. Let z_i be the Gaussian noise
of step i in units of its standard deviation, f its density, and u, v the contributions of the two records in these
units, no longer than a = sensitivity/sigma. Against noise alone the t answers have the densities (X_1 + ... + X_t)/t,
X_i = f(z_i - u)/f(z_i), and the same with v and Y_i. So with L_i = X_i - e^eps Y_i, the z_i independent with density f,

    delta(eps) = E[(L_1 + ... + L_t)_+]/t

    remove    u = a,  v = 0      the record against none
    add       u = 0,  v = a      none against the record
    replace   u = a,  v = -a     one record against another

These contributions are the worst, also where each may depend on all earlier answers: there L is the largest in the
convex order. A record that takes part in k of t steps, all choices alike, is dominated by k blocks of floor(t/k) or
ceil(t/k) steps, composed, of each of which it takes part in one, if the adversary is told the blocks. ("Largest
contributions are the worst", on the page of proofs.)

Epochs that deal afresh are composed. Where one deal is kept for all E epochs ("balls and bins" names both), the run is
one epoch at sigma/sqrt(E), whatever the direction and k ("One deal for all epochs", on the page of proofs): of E
Gaussian answers the mean says all.

The expectation is bracketed by `random_sum.positive_part`, the law of L between two discrete ones: the mass of a
cell of z at its mean, below in the convex order, and at its ends with the mean kept, above. Steps with a very large
L, beyond z = cut, are counted apart: exactly where there is one, with Bonferroni's bounds for more.

>>> run = Allocated(Allocation(sigma=1.0, steps=1_000, direction="remove"))
>>> bound, back = run.epsilon(1e-6), run.delta(0.1717)
>>> 0.1716 < bound.lower <= bound.upper < 0.1719, 1.000e-6 < back.lower < back.upper < 1.005e-6
(True, True)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from gspa.accountant import arguments as check
from gspa.accountant.arguments import Array
from gspa.accountant.bound import Bound, Ends, enclosed
from gspa.accountant.errors import InternalError, InvalidValue
from gspa.accountant.laplace_gaussian import NOT_FOUND
from gspa.accountant.losses import TAIL, Atoms, dominated, dominating
from gspa.accountant.mechanisms import alone_delta, alone_epsilon
from gspa.accountant.pair import greatest_epsilon, least_epsilon
from gspa.accountant.random_sum import Bracket, positive_part
from gspa.accountant.randomizers import Mechanism
from gspa.accountant.rounds import Round, Rounds, compose, compose_delta
from gspa.accountant.tradeoff import gdp_epsilon

RELATIONS = {
    "remove": "remove one record",
    "add": "add one record",
    "both": "add or remove one record",
    "replace": "replace one record",
}
DEALS = ("each epoch", "once")
METHOD = "random allocation"
_VALID = "Gaussian noise, a contribution of norm at most the sensitivity in one of t steps, also chosen adaptively"

# --- one step among t ----------------------------------------------------------------------------------------

_NODES, _WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(8))
_NODES = _NODES + 0.5  # Gauss-Legendre on [0, 1]
_CELLS = 1600
_COARSE = 300
_LAYOUT = 2_000
_WIDEST = 0.25  # of a cell, over the larger shift: its integrands are nearly polynomials
_ROUNDED = 2.0**-40  # relative allowance in each cell's E[X] and E[Y]: roundings, and edges that are off by one
_UNIT = 2.0**-50
_TINY = 1e-300
_WHOLE = 1e-12
_FAR = 9.5  # below -_FAR there is nothing to lose
_MOST_SHIFT = 8.0  # beyond it only what is told by the largest answer, and the revealed step
_MOST_EXPONENT = 650.0  # of e^eps Y
_SMOOTHING = 0.02
_CUTS = tuple(np.arange(1.0, 17.0, 0.25).tolist())  # beyond the larger shift
_MOST_VALUE = 1e100
_KEPT = 4096  # ends of brackets, which the searches ask for again


class Law(NamedTuple):
    """L where z is below the cut, between two discrete laws, values and masses each.

    `below` has every cell at its mean, `above` at its ends, which neighbours share, the mean kept. A cell is cut where
    L has exactly these values, and what that moves is part of an allowance in each mean. The lowest cell is open;
    `extra` is what it has above its end, E[(L - end)_+] at most.
    """

    below: tuple[Array, Array]
    above: tuple[Array, Array]
    extra: float


@dataclass(frozen=True)
class Dealt:
    """One of t steps, by X = f(z - u)/f(z) and Y = f(z - v)/f(z), f the noise's density.

    Attributes:
        u: contribution under the first hypothesis, in units of the noise; u > v.
        v: the same under the second.
        t: >= 2.
    """

    u: float
    v: float
    t: int

    # --- one step ---

    def exponents(self, z: Array, eps: float) -> tuple[Array, Array]:
        """log X and log(e^eps Y)."""
        return self.u * (z - self.u / 2), self.v * (z - self.v / 2) + eps

    def tails(self, z: float, side: int = 1) -> list[float]:
        """P(z_i > z), P(z_i + u > z), P(z_i + v > z); with side = -1 the same of what is below z."""
        return [float(ndtr(side * (shift - z))) for shift in (0.0, self.u, self.v)]

    def variance(self, eps: float) -> float:
        """Of L; infinite where it is no double."""
        if max(self.u**2, self.v**2) + 2 * eps > 700:
            return math.inf
        one, other, both = (math.expm1(x) for x in (self.u**2, self.v**2, self.u * self.v))
        return one + math.exp(2 * eps) * other - 2 * math.exp(eps) * both

    def turn(self, eps: float) -> float:
        """Where L has its minimum and begins to rise; -inf if it rises throughout, or falls."""
        if self.u > 0 and self.v > 0:
            return (eps + math.log(self.v / self.u)) / (self.u - self.v) + (self.u + self.v) / 2
        return -math.inf

    def cells(self, eps: float, cut: float, size: int) -> Law:
        """About `size` cells up to the cut, the lowest of them open."""
        edges = self._edges(eps, cut, size)
        width = np.diff(edges)[:, None]
        z = edges[:-1, None] + width * _NODES
        with np.errstate(under="ignore"):
            weight = np.exp(-0.5 * z * z) * (width * (_WEIGHTS / math.sqrt(2 * math.pi)))
        # L = (X - 1) - (e^eps Y - 1): where the noise is large both are small, and so is what they are rounded by.
        x, y = (np.expm1(exponent) for exponent in self.exponents(z, eps))
        tail, gain = np.array(self.tails(float(edges[0]), -1)), math.exp(eps)
        mass = np.r_[tail[0], weight.sum(axis=1)]
        mean = np.r_[tail[1] - gain * tail[2], (weight * (x - y)).sum(axis=1)]
        size = np.r_[tail @ (1.0, 1.0, gain), (weight * (np.abs(x) + np.abs(y))).sum(axis=1)]
        x, y = (np.expm1(exponent) for exponent in self.exponents(edges, eps))
        ends = x - y + _UNIT * (np.abs(x) + np.abs(y))  # rounded up
        ends = np.r_[ends[0], ends]
        there = float(mass.sum()) + self.tails(cut)[0]
        if not abs(there - 1) <= _WHOLE:
            raise InternalError(f"the cells of one step and what is beyond them add up to {there!r}")
        whole = np.maximum(mass, _TINY)
        mean, slack = mean / whole, _ROUNDED * size / whole
        # In the open cell L goes to a limit, or, for a negative shift, to -infinity.
        most = max(0.0, ends[0]) if -math.inf < self.turn(eps) < edges[0] else mean[0] + slack[0]
        extra = float(mass[0] * max(most - ends[0], 0.0))
        wide = np.diff(ends)
        # The part that goes to the right end; all of it where both ends are one value.
        part = np.divide(mean + slack - ends[:-1], wide, out=np.ones_like(wide), where=wide != 0)
        right = mass * np.clip(part, 0.0, 1.0)
        return Law((mean - slack, mass), (ends, np.r_[mass - right, 0.0] + np.r_[0.0, right]), extra)

    def _edges(self, eps: float, cut: float, size: int) -> Array:
        far = max(_FAR, cut - max(0.0, self.u, self.v))  # as little is left out on either side
        bottom = min(0.0, self.v, self.u) - far
        corners = [c for c in (self.turn(eps), 0.0, self.u, self.v) if bottom < c < cut]
        grid = np.linspace(bottom, cut, _LAYOUT + 1)
        z = 0.5 * (grid[1:] + grid[:-1])
        # What a cell adds to the variance of L goes with its mass and the square of its range; what it adds where the
        # sum is large, with the laws that have the record. Where cells are put is a matter of width alone.
        base = np.exp(-0.5 * z * z)
        with np.errstate(over="ignore", under="ignore"):
            x, y = (np.exp(exponent) for exponent in self.exponents(z, eps))
            steep = np.minimum(np.abs(self.u) * x + np.abs(self.v) * y, 1e100)
            parts = [np.ones_like(z), (base * steep**2) ** (1 / 3), (base * x) ** (1 / 3), (base * y) ** (1 / 3)]
        place = np.sum([part / part.sum() for part in parts], axis=0)
        size = max(size, math.ceil(2 * max(self.u, -self.v, self.v) * (cut - bottom) / _WIDEST))
        at = np.interp(np.linspace(0, 1, size + 1), np.r_[0.0, np.cumsum(place)] / place.sum(), grid)
        at[0], at[-1] = bottom, cut
        return np.unique(np.r_[at, corners])

    # --- delta of t steps, from both sides ---

    @property
    def gap(self) -> Ends:
        """How far the two are apart; the shift itself was rounded up."""
        far = abs(self.u - self.v)
        return far * (1 - 4 * _UNIT), far

    def cap(self, eps: float) -> Bracket:
        """delta of a step that is known to be the record's."""
        return Bracket(*alone_delta("gaussian", eps, self.gap))

    def cap_epsilon(self, delta: float) -> Bracket:
        """The eps at which `cap` is delta."""
        return Bracket(*alone_epsilon("gaussian", delta, self.gap))

    @property
    def wide(self) -> bool:
        """Shifts at which only `largest` and the revealed step are used."""
        return max(abs(self.u), abs(self.v)) > _MOST_SHIFT

    def far(self, eps: float) -> bool:
        """The same of an eps: beyond it e^eps Y may be no double."""
        v = abs(self.v)
        return eps + v * (v / 2 + _FAR + 0.5) > _MOST_EXPONENT

    def largest(self) -> Dealt:
        """A single step whose delta(eps + log t) is not above delta(eps): that some z_i is beyond a point says so.

        Without the first record that has at most t times the larger of P(z > point), P(v + z > point).
        """
        return Dealt(max(self.u - max(self.v, 0.0), 0.0), 0.0, 1)

    def crude(self, eps: float) -> Bracket:
        """delta(eps), for any eps."""
        cap, more = self.cap(eps), (eps + math.log(self.t)) * (1 + _UNIT)
        return Bracket(min(self.largest().cap(more).lower, cap.lower), cap.upper)

    def beyond(self, eps: float, cut: float) -> tuple[float, float]:
        """Bounds on E[S_+; some z_i > cut]/t."""
        t, gain = self.t, math.exp(eps)
        p, first, second = self.tails(cut)
        # E[S; z_1 > cut]; S may be negative there, by no more than `short` on average.
        one = first - gain * second + p * (t - 1) * -math.expm1(eps)
        x, y = (float(np.exp(exponent[0])) for exponent in self.exponents(np.array([cut]), eps))
        lead, rest = x - y, (t - 1) * math.expm1(eps)
        if self.v == 0 and lead >= (t - 1) * gain:
            short = 0.0
        elif lead > rest and self.u > self.v and cut >= self.turn(eps):
            # E[(W - c)_+] <= E[(W - E W)^2]/(4 (c - E W)): a parabola above the hook
            short = p * (t - 1) * self.variance(eps) / (4 * (lead - rest))
        else:
            short = math.inf
        slack = _ROUNDED * (first + gain * second + p * t * gain)
        upper = min(max(one, 0.0) + short, first + p * (t - 1)) + slack
        pairs = 0.5 * (t - 1) * (2 * p * first + p * p * t)  # two of them beyond the cut, counted twice
        return max(max(one, 0.0) - pairs - slack, 0.0), upper

    @lru_cache(_KEPT)  # noqa: B019  # two floats each
    def bracket(self, eps: float, cut: float, size: int = _CELLS, smoothing: float = _SMOOTHING) -> Bracket:
        """delta(eps), for one cut; any is valid."""
        law, ends = self.cells(eps, cut, size), self.beyond(eps, cut)
        inside, nothing_beyond = law.below[1].sum(), math.exp(self.t * math.log1p(-self.tails(cut)[0]))
        found = []
        for values, masses in (law.below, law.above):
            found.append(positive_part(values, masses / inside, self.t, np.ones(1), smoothing=smoothing))
        lower = min(found[0].lower * nothing_beyond / self.t + ends[0], 1.0)
        upper = found[1].upper * nothing_beyond / self.t + ends[1] + law.extra
        return Bracket(lower, max(lower, min(upper, self.cap(eps).upper, 1.0)))


# --- eps and delta -------------------------------------------------------------------------------------------

_CLOSE = 2e-4  # relative, in delta: how near its ends are sought
_NARROW = 1e-3  # relative, in delta: a wider bracket is refined once
_BETTER = 0.9  # of a bracket's width: a cut that narrows it less is not looked further for
_ANEW = (0.01, 0.05)  # relative, in eps, of one and of many points: where no cut is narrow, none is at an eps so near
_MOST_STEPS = 10**12
_FINE = (1.5,)  # of many points near each other
_SAME_CUT = 12  # so many points in a row may share a cut,
_SUITS = 0.01  # if it leaves no more than this open, relative to delta


class _Curve:
    """delta(eps) of one direction, from both sides, by cuts that suit each eps."""

    def __init__(self, dealt: Dealt, finer: tuple[float, ...] = (1, 2)) -> None:
        self.dealt = dealt
        self.finer = finer
        self.delta = cache(self._bracket)  # searches ask again at the same eps
        self._best = _CUTS.index(5.5 if dealt.u > 0 else 6.75)  # of the offers, for the last eps
        self._enough = 0  # of `finer`, what sufficed the last time
        self._looked = math.inf  # the last eps at which every cut was tried
        self._calls = 0
        self._cut: tuple[float, float] | None = None

    def _bracket(self, eps: float) -> Bracket:
        """A bracket of delta(eps), eps >= 0."""
        if self._cut is not None and self._calls % _SAME_CUT and not self.dealt.far(eps):
            self._calls += 1
            found = self._refined(eps, self._cut, self.dealt.crude(eps))
            if found.upper - found.lower <= _SUITS * found.upper:
                return found
        found, self._cut = self._rough(eps)
        self._calls = 1
        return found if self._cut is None else self._refined(eps, self._cut, found)

    def _refined(self, eps: float, cuts: tuple[float, float], found: Bracket) -> Bracket:
        """As narrow as more cells make it, and with them the larger cut."""
        found = Bracket(max(found.lower, self.dealt.crude(eps).lower), found.upper)
        for level in range(self._enough, len(self.finer)):
            self._enough, finer = level, self.finer[level]
            one = self.dealt.bracket(eps, cuts[finer > 1], round(finer * _CELLS), _SMOOTHING / finer)
            found = Bracket(max(found.lower, one.lower), min(found.upper, one.upper))
            if found.upper - found.lower <= _NARROW * found.upper:
                break
        return found

    def _rough(self, eps: float) -> tuple[Bracket, tuple[float, float] | None]:
        """A bracket of few cells, the cut that makes it narrow and the next; None where no cell would narrow it."""
        dealt = self.dealt
        if dealt.t == 1:
            return dealt.cap(eps), None
        base = max(dealt.u, dealt.v, 0.0)
        if dealt.wide or dealt.far(eps):
            return dealt.crude(eps), None
        most = math.log(_MOST_VALUE) / base
        offers = [cut for c in _CUTS if dealt.turn(eps) < (cut := base + c) < most] or [base + _CUTS[-1]]
        seen: dict[int, Bracket] = {}

        def width(i: int) -> float:
            if i not in seen:
                seen[i] = dealt.bracket(eps, offers[i], _COARSE, 2 * _SMOOTHING)
            return seen[i].upper - seen[i].lower

        def nearby(best: int) -> int:
            while near := [
                i for i in (best - 1, best + 1) if 0 <= i < len(offers) and width(i) < _BETTER * width(best)
            ]:
                best = min(near, key=width)
            return best

        best = nearby(min(self._best, len(offers) - 1))
        if abs(eps - self._looked) > _ANEW[self.finer == _FINE] * eps and width(best) > 0.2 * seen[best].upper:
            self._looked = eps
            best = nearby(min(range(0, len(offers), 3), key=width))
        self._best = best
        return seen[best], (offers[best], offers[min(best + 1, len(offers) - 1)])

    def epsilon(self, delta: float) -> Bracket:
        """A bracket of the least eps at which delta is met."""
        dealt, cap = self.dealt, self.dealt.cap_epsilon(delta)
        if dealt.t == 1 or cap.upper == 0:
            return cap
        top, least = cap.upper, dealt.largest().cap_epsilon(delta).lower
        told = min(max(least - math.log(dealt.t) - _UNIT * least, 0.0), top)
        if dealt.wide:
            return Bracket(told, top)
        if self._rough(0.0)[0].lower <= delta and self.delta(0.0).upper <= delta:
            return Bracket(0.0, 0.0)

        # As if the sum were Gaussian, where that is any guide.
        spread_out = math.sqrt(dealt.variance(0.0) / dealt.t)
        guess = min(max(gdp_epsilon(delta=delta, mu=min(spread_out, 20.0)), 1e-12), 0.5 * top)
        high = least_epsilon(lambda eps: self.delta(eps).upper, delta, guess, top, _CLOSE)
        low = greatest_epsilon(lambda eps: self.delta(eps).lower, delta, high, _CLOSE)
        return Bracket(min(max(low, told), high), high)


# --- several blocks and epochs -------------------------------------------------------------------------------

_PER_DEVIATION = 36  # points of delta(eps) in a deviation of the loss
_FALL = 0.08  # of log delta, from point to point, at most about
_GROWTH = 1.08  # of the distance between points, beyond three deviations
_MOST_POINTS = 1000
_LEAST_FLOOR = 1e-300
_MOST_LOSS = 700.0  # e^_MOST_LOSS is a double


def _pair(ahead: _Curve, behind: _Curve, delta: float, times: int) -> tuple[Atoms, Atoms]:
    """Losses above and below those of the pair with these curves of delta, for `gspa.accountant.rounds`."""
    dealt, floor = ahead.dealt, max(TAIL * delta / times, _LEAST_FLOOR)
    most = min(dealt.cap_epsilon(floor).upper, _MOST_LOSS)
    width = _MOST_LOSS if dealt.wide else math.sqrt(min(dealt.variance(0.0), 1e10) / dealt.t)
    width = min(width, most / 4) if most > 0 else width
    eps = last = before = 0.0
    step, found = width / _PER_DEVIATION, dict[float, list[Bracket]]()
    while len(found) < _MOST_POINTS and eps <= _MOST_LOSS:
        found[eps] = [curve.delta(eps) for curve in (ahead, behind)]
        worst = max(side.upper for side in found[eps])
        if len(found) > 4 and worst <= floor:
            break
        if eps > 3 * width:
            step *= _GROWTH
        # In the tail a chord errs by the square of what delta falls by.
        if 0 < worst < before:
            fall = _FALL * max(1.0, math.sqrt(delta / times / worst))  # what is below a copy's share matters less
            step = min(step, fall * (eps - last) / math.log(before / worst))
        last, before, eps = eps, worst, eps + step
    at = np.array(list(found))
    low, high = np.array(list(found.values())).transpose(2, 1, 0)
    low = np.maximum.accumulate(low[:, ::-1], axis=1)[:, ::-1]  # delta falls with eps
    high = np.minimum.accumulate(high, axis=1)
    return dominating(at, *high), dominated(at, low[0], high[0], np.ones_like(at), (low[1], high[1]))


@dataclass(frozen=True)
class Allocation(Mechanism):
    """A training run that deals: each record, by itself, to k of t noisy steps of an epoch.

    Each step publishes the sum of its records' contributions with noise. Batches of a fixed size are not of this kind:
    `shuffled_batches_epsilon`. With k = 1 both ends of an answer are of the mechanism itself, so `lower` is an attack.
    With k > 1 they are of k blocks that are told (`gspa.accountant.allocation`): `upper` is proved for the run, `lower`
    says how far this argument goes and is no attack on the run.

    Attributes:
        sigma: standard deviation of the Gaussian noise in each step, > 0.
        steps: t, in one epoch, 1 to 10^12.
        direction: "remove" (with the record against without), "add", "both" (the larger) or "replace".
        k: steps of an epoch in which each record takes part, 1 to t.
        epochs: of `steps` each, >= 1; k epochs at most 10^6 where each deals afresh.
        sensitivity: largest Euclidean norm of a record's contribution to a step, > 0; sensitivity/sigma in
            [1e-6, 1e6], also after the factor sqrt(epochs) of a deal that is kept.
        deal: "each epoch", afresh, or "once", kept for all epochs. Both are called "balls and bins": jax_privacy's
            BallsInBinsSampling is "once"; see `accounting_for`.
    """

    name = "allocation"
    sigma: float
    steps: int
    direction: str = "both"
    k: int = 1
    epochs: int = 1
    sensitivity: float = 1.0
    deal: str = "each epoch"

    def __post_init__(self) -> None:
        check.fields(self, check.positive, "sigma", "sensitivity")
        check.fields(self, check.count, "steps", "k", "epochs")
        if self.steps > _MOST_STEPS:
            raise InvalidValue("steps", self.steps, "at most 10^12")
        if self.k > self.steps:
            raise InvalidValue("k", self.k, f"at most steps = {self.steps}")
        check.one_of(RELATIONS, direction=self.direction)
        check.one_of(DEALS, deal=self.deal)
        name, about = "sensitivity/sigma", self.sensitivity / self.sigma * math.sqrt(self.kept)
        if not _LEAST_SHIFT <= about <= 1 / _LEAST_SHIFT:
            name += " * sqrt(epochs)" if self.kept > 1 else ""
            raise InvalidValue(name, about, f"in [{_LEAST_SHIFT:g}, {1 / _LEAST_SHIFT:g}]")
        if self.copies > _MOST_COPIES:
            raise InvalidValue("k * epochs", self.copies, f"at most {_MOST_COPIES:g}")

    @property
    def kept(self) -> int:
        """Epochs of one deal."""
        return self.epochs if self.deal == "once" else 1

    @property
    def copies(self) -> int:
        """Blocks of all epochs whose deals are drawn apart."""
        return self.k * (self.epochs // self.kept)


@dataclass(frozen=True)
class Allocated:
    """A run's accountant, to be asked at several eps or delta."""

    run: Allocation

    @cached_property
    def shift(self) -> float:
        """The largest contribution in units of the noise, rounded up."""
        one = enclosed(Fraction(self.run.sensitivity) / Fraction(self.run.sigma))[1]
        kept = self.run.kept
        return one * (math.sqrt(kept) * (1 + _UNIT)) if kept > 1 else one

    @property
    def blocks(self) -> int:
        """Steps in the smaller blocks."""
        return self.run.steps // self.run.k

    @property
    def larger(self) -> int:
        """Blocks with one step more."""
        return self.run.steps % self.run.k * (self.run.copies // self.run.k)

    def directions(self) -> list[str]:
        return ["remove", "add"] if self.run.direction == "both" else [self.run.direction]

    def curve(self, direction: str, steps: int | None = None) -> _Curve:
        u, v = _SHIFTS[direction]
        dealt = Dealt(u * self.shift, v * self.shift, self.blocks if steps is None else steps)
        # What is lost at a point counts in every copy, so there is no coarse first look.
        return _Curve(dealt) if steps is None else _Curve(dealt, _FINE)

    def round(self, direction: str, steps: int) -> Round:
        ahead = behind = self.curve(direction, steps)
        exchanged = None
        if opposite := _OPPOSITE.get(direction):
            behind = self.curve(opposite, steps)
            exchanged = partial(_pair, behind, ahead)
        label, pairs, mu = f"{METHOD}, {direction}", (partial(_pair, ahead, behind),), ahead.dealt.gap[1]
        return Round(label, self.valid_for, pairs, exchanged, fitted=True, reached=True, alone=mu)

    @cache  # noqa: B019  # its rounds remember points of their curves
    def rounds(self, direction: str) -> list[tuple[Round, int]]:
        """Every block of every epoch."""
        found = [(self.round(direction, self.blocks), self.run.copies - self.larger)]
        return found + ([(self.round(direction, self.blocks + 1), self.larger)] if self.larger else [])

    @property
    def valid_for(self) -> str:
        return _VALID + _ONE_DEAL.format(self.run.kept) if self.run.kept > 1 else _VALID

    def epsilon(self, delta: float) -> Bound:
        """The least eps at delta in (0, 1), bracketed."""
        if self.told:
            return self.bound([Bracket(*alone_epsilon("gaussian", delta, self.apart))], delta=delta)
        return self.worst(lambda curve: curve.epsilon(delta), lambda rounds: compose(rounds, delta=delta), delta=delta)

    def delta(self, eps: float) -> Bound:
        """delta at eps >= 0, bracketed."""
        if self.run.copies > 1 and (self.told or eps > _MOST_LOSS):
            low, high = alone_delta("gaussian", eps, self.apart)
            return self.bound([Bracket(low if self.told else 0.0, high)], "" if self.told else NOT_FOUND, eps=eps)
        return self.worst(lambda curve: curve.delta(eps), lambda rounds: compose_delta(rounds, eps=eps), eps=eps)

    def worst(self, one: Callable[[_Curve], Bracket], together: Callable[[Rounds], Bound], **asked: Any) -> Bound:
        """The larger of the directions: of one curve, or of all blocks of all epochs."""
        found: list[Bracket] = []
        composed: list[Bound] = []
        for direction in self.directions():
            curve = self.curve(direction)
            if self.run.copies == 1:
                # Adding a record is seldom the worse direction: then one look is enough.
                if not (found and "delta" in asked and curve.delta(found[0].lower).upper <= asked["delta"]):
                    found.append(one(curve))
                continue
            composed.append(together(self.rounds(direction)))
            low, high = composed[-1].lower, composed[-1].upper
            if low < high / 2:  # it says little: one epoch's is not above it
                low = min(max(low, one(curve).lower), high)
            found.append(Bracket(low, high))
        if composed:
            return self.bound(found, max(composed, key=lambda bound: bound.upper).note, **asked)
        low, high = (max(ends) for ends in zip(*found, strict=True))
        known = self.blocks > 1 and low < _AGREED * high and high >= one(self.curve(self.directions()[0], 1)).upper
        return self.bound(found, _ALONE if known else "", **asked)

    @property
    def told(self) -> bool:
        """The record takes part in every one of several steps."""
        return self.run.copies > 1 and self.blocks == 1 and not self.larger

    @property
    def apart(self) -> Ends:
        """How far apart all copies are whose steps are known, in units of Gaussian noise."""
        far = self.shift * math.sqrt(self.run.copies) * (2 if self.run.direction == "replace" else 1)
        return far * (1 - 4 * _UNIT), far * (1 + _UNIT)

    def bound(self, found: list[Bracket], note: str = "", **asked: Any) -> Bound:
        low, high = (max(ends) for ends in zip(*found, strict=True))
        told_blocks = _BLOCKS.format(k=self.run.k) if self.run.k > 1 else ""
        note = "; ".join(filter(None, (told_blocks, note)))
        ends, relation = (low, 0.5 * low + 0.5 * high, high), RELATIONS[self.run.direction]
        return Bound(*ends, METHOD, self.valid_for, note=note, relation=relation, reached=self.run.k == 1, **asked)


_SHIFTS = {"remove": (1, 0), "add": (0, 1), "replace": (1, -1)}  # u and v, in units of the largest
_OPPOSITE = {"remove": "add", "add": "remove"}
_LEAST_SHIFT = 1e-6
_MOST_COPIES = 10**6
_AGREED = 0.999  # of the upper end: a lower one above it shows that there is no amplification
_ALONE = "no amplification was evaluated: the upper end is that of a step that is known to be the record's"
_BLOCKS = "the {k} steps come one from each of {k} blocks, which are told: the lower end is not an attack"
_ONE_DEAL = "; one deal is kept for {0} epochs, which are one epoch at sigma/sqrt({0})"


def shuffled_batches_epsilon(*, sigma: float, steps: int, delta: float, sensitivity: float = 1.0) -> Bound:
    """eps at delta, one record replaced, of one epoch over records that are shuffled and cut into batches of one size.

    Where a record lands moves the others, so it is no random allocation. `upper` tells the adversary all places: one
    Gaussian step. `lower` is an attack: all other contributions are the opposite of the record's (Chua et al. 2024),
    so that its batch stands out by twice the sensitivity.

    Args:
        sigma: standard deviation of the noise in each step, > 0.
        steps: number of batches.
        delta: in (0, 1).
        sensitivity: largest norm of one record's contribution, > 0.

    >>> found = shuffled_batches_epsilon(sigma=1.0, steps=1_000, delta=1e-2)
    >>> found.lower > Allocated(Allocation(1.0, 1_000, "replace")).epsilon(1e-2).upper
    True
    """
    asked = Allocated(Allocation(sigma, steps, sensitivity=sensitivity))
    delta = check.probability(allow_zero=False, delta=delta)
    far = 2 * asked.shift
    found = [_Curve(Dealt(*shifts, asked.blocks)).epsilon(delta) for shifts in ((far, 0.0), (0.0, far))]
    lower, upper = max(one.lower for one in found), gdp_epsilon(delta=delta, mu=far)
    words = "Gaussian noise, batches of a fixed size, the adversary told all places"
    ends = min(lower, upper), upper, upper
    return Bound(*ends, "one Gaussian step", words, delta=delta, relation=RELATIONS["replace"], reached=True)

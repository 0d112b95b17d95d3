"""Rigorous lower bounds on central privacy from explicit attacks on shuffled Laplace or Gaussian reports.

The others' inputs are fixed and known, the attacker adds up an integer score of every report and decides by
the sum modulo W. Both are post-processing of the shuffled reports, so the sum's two laws, which
a Fourier transform of size W gives exactly up to rounding, bound delta(eps) from below:

    delta(eps) >= sum_w (P0(w) - e^eps P1(w))_+.

Three scores. "likelihood" is (f0 - e^eps f1)/g, f0 and f1 the victim's laws and g the others' mean law: if the others'
laws are all equal, its sum over the n reports is n (P0/P1 - e^eps) up to a positive factor, the best test there is;
then (1/n) E_g[(L_1 + ... + L_n)_+] is tried too, which needs no transform, whatever n. "linear" is the optimal linear
statistic A^+ v; "window" counts reports near the victim's value, or beyond a distance from it.

The others' inputs are the worst ones for many users. With the reports cut into cells, g_j the law of user j's report
at a fixed input and v = f0 - f1, the histogram of the others has the covariance A = sum_j (diag(g_j) - g_j g_j'), and
the shuffled mechanism is in the limit a Gaussian one with mu^2 = v' A^+ v, clones or not. That is convex in A, and A is
linear in how many users have which input, so its maximum over the others' inputs is where all users of one scale have
the same input. `int v^2 / sum_j g_j` is below it, equal if all g_j coincide. Shvets, arXiv:2602.09029, proves the limit
for a fixed composition.

>>> attack_epsilon([0.5, 100.0], count=[1, 9_999], victim=0, delta=1e-4).lower > 0.3
True
>>> round(reports([0.5, 100.0], count=[1, 9_999], victim=0, cells=2400).limit.epsilon(1e-4), 3)
0.305
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa.accountant import arguments as check
from gspa.accountant.arguments import MOST_EXPONENT, UNIT, Array
from gspa.accountant.blanket import Noise, radii
from gspa.accountant.bound import Bound
from gspa.accountant.budgets import Budgets
from gspa.accountant.errors import InternalError, InvalidValue, OutsideValidity
from gspa.accountant.laplace_gaussian import Crowd
from gspa.accountant.random_sum import positive_part
from gspa.accountant.roots import crossing
from gspa.accountant.tradeoff import gdp_epsilon

Counts = NDArray[np.float64] | NDArray[np.int64]

# --- laws of a sum of scores, and the best score of reports on a line ----------------------------------------

STATISTICS = ("likelihood", "linear", "window")
_PER_DEVIATION = 8  # score units per standard deviation of one report's score
_CLIP = 12.0  # standard deviations
_MOST_LAWS = 64
_REACH = 16.0  # period of the sum, in its standard deviations
_MOST_PERIOD = 1 << 24
_CAPS = (1.0, 3.0)  # times the sum's mean and deviation: a report that decides alone need not do so twice over
_MOST_SCORE = 1 << 17  # of one report: 16,000 of its deviations
_SMOOTHING = 0.015  # costs 1e-4 of delta
_ROUNDS = 12
_DECIDES = 1e3  # how much likelier than e^eps times all the others together
_PAD = 1e-11  # of a ratio of two cell masses: their roundings, with room
_WIDTHS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 2.5, 4.0)


class Laws(NamedTuple):
    """Two laws on one finite set, one for each input of the victim, each with an L1 error of at most `noise`."""

    p0: Array
    p1: Array
    noise: float

    def delta(self, eps: float, *, side: int = -1) -> float:
        """delta(eps) of the pair, the larger direction; errs downward (side = -1) or upward (side = 1)."""
        if eps > MOST_EXPONENT and side < 0:
            return 0.0
        e = math.exp(min(eps, MOST_EXPONENT))
        best = max(float(np.maximum(a - e * b, 0).sum()) for a, b in ((self.p0, self.p1), (self.p1, self.p0)))
        return max(0.0, best + side * ((1 + e) * self.noise + 4 * UNIT))

    def epsilon(self, delta: float, *, side: int = -1) -> float:
        """The eps at which delta(eps) crosses delta, errs as `delta`; 0 if none does, inf or 700 if it is above 700."""

        def excess(eps: float) -> float:
            return math.log(max(self.delta(eps, side=side) / delta, 1e-3))

        return crossing(excess, 0.0, 1e-3, side=side, most=MOST_EXPONENT)


def sum_laws(score: NDArray[np.int64], laws: Array, count: Counts, victim: Array) -> Laws:
    """Laws of the sum of all scores, victim's included, modulo a period that it rarely exceeds; at most 2^24 values.

    `score` is what a report in each of k cells adds; the others are as in `Worlds`.
    """
    size = _period(score, laws, count)
    if size > _MOST_PERIOD:
        hint = f"{count.sum():.3g} users of unequal laws; equal ones have no such limit with statistic 'likelihood'"
        raise OutsideValidity("attack by the law of a sum", f"at most {_MOST_PERIOD} values of it", hint)

    def transform(law: Array) -> NDArray[np.complex128]:
        return np.asarray(np.fft.rfft(np.bincount(score % size, weights=law, minlength=size)))

    log_size, angle = np.zeros((2, size // 2 + 1))
    with np.errstate(divide="ignore"):  # a coefficient may vanish
        for law, number in zip(laws, count, strict=True):
            found = transform(law)
            log_size += number * np.log(np.abs(found))
            angle += number * np.angle(found)
    crowd = np.exp(log_size) * np.exp(1j * angle)
    sums = [np.fft.irfft(crowd * transform(law), size) for law in victim]
    # L1 error <= sqrt of the sum of squared errors of the coefficients (Cauchy, Parseval); each is a
    # product of n + 1 factors with a relative error of a few log2(size) units where it matters.
    unit = UNIT * (float(count.sum()) + 1) * (8 + 2 * math.log2(size))
    noise = unit * math.sqrt(2 * float((np.abs(crowd) ** 2).sum())) + UNIT * 8 * math.sqrt(size)
    return Laws(np.maximum(sums[0], 0), np.maximum(sums[1], 0), noise)


def _period(score: NDArray[np.int64], laws: Array, count: Counts) -> int:
    moments = np.array([(law @ score, law @ score**2) for law in laws])
    deviation = math.sqrt(max(float(count @ (moments[:, 1] - moments[:, 0] ** 2)), 0.0))
    return int(2 ** math.ceil(math.log2(_REACH * deviation + 2 * float(np.ptp(score)) + 16)))


def solve(v: Array, laws: Array, count: Counts) -> tuple[float, Array]:
    """v' A^+ v and a w with A w = v, for A = sum_g count[g] (diag(laws[g]) - laws[g] laws[g]').

    A = D^(1/2) (I - U U') D^(1/2) with D = diag(sum_g count[g] laws[g]) and U of one column per group, so
    only a g x g eigenproblem is solved; the direction in which I - U U' vanishes is v's orthogonal one. The shapes are
    (k,), of sum 0, (g, k), of positive rows of sum 1, and (g,).
    """
    root = np.sqrt(count @ laws)
    scaled = v / root
    columns = np.sqrt(count)[:, None] * laws / root
    values, vectors = np.linalg.eigh(columns @ columns.T)
    part = vectors.T @ (columns @ scaled)
    # u u' over its squared length, with 1/(1 - lambda) - 1 as its weight
    loose = (values > 1e-12) & (values < 1 - 1e-9)
    weight = np.where(loose, 1 / np.where(loose, 1 - values, 1.0), 0.0)
    square = float(scaled @ scaled) + float(weight @ part**2)
    full = scaled + columns.T @ (vectors @ (weight * part))
    return square, full / root


# --- two worlds ----------------------------------------------------------------------------------------------

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Worlds:
    """The victim with either of two inputs among others whose inputs are fixed.

    Attributes:
        victim: shape (2, k), law of the victim's report at either input.
        laws: shape (g, k), law of the report of each group of the others.
        count: shape (g,), how many others each group has.
        what: the mechanism and the inputs, in words.
        where: of reports on a line, who they are and how they are cut into cells.
    """

    victim: Array
    laws: Array
    count: Whole
    what: str
    where: Setting | None = None

    @property
    def n(self) -> int:
        """Number of users, the victim included."""
        return int(self.count.sum()) + 1

    @property
    def linear(self) -> Whole:
        """The optimal linear statistic A^+ v in whole units, an eighth of the deviation of one report's score."""
        law = self.mean
        # Any score will do; with many groups their common mean law is close enough to the best one.
        few = self.laws.shape[0] <= _MOST_LAWS
        laws, count = (self.laws, self.count) if few else (law[None, :], np.array([self.count.sum()]))
        score = np.clip(solve(self.victim[0] - self.victim[1], laws, count)[1], -1e100, 1e100)  # nobody else there
        score = score - law @ score
        deviation = math.sqrt(float(law @ score**2))
        if deviation == 0:  # the victim's report says nothing
            return np.zeros(law.size, dtype=np.int64)
        units = np.clip(score / deviation, -_CLIP, _CLIP) * _PER_DEVIATION
        return np.asarray(np.rint(units), dtype=np.int64)

    @property
    def windows(self) -> list[Whole]:
        """Scores that count the reports near the victim's value, or beyond a distance from it."""
        assert self.where is not None
        edges, victim = self.where.edges, self.where.victim
        middle = 0.5 * (edges[1:] + edges[:-1])
        scale = 1 / victim.kappa if victim.power == 1 else math.sqrt(0.5 / victim.kappa)
        near = [np.abs(middle - x) <= h * scale for x in (0.0, 1.0) for h in _WIDTHS]
        beyond = [side * (middle - x) >= h * scale for x in (0.0, 1.0) for h in _WIDTHS for side in (-1, 1)]
        return [window.astype(np.int64) for window in near + beyond]

    def fixed(self, statistic: str) -> list[Laws]:
        """The sums' laws of the scores that do not depend on eps."""
        scores = [self.linear] if statistic == "linear" else self.windows
        found = [self.summed(score) for score in scores if np.ptp(score)]
        # No score tells two cells apart: the reports say nothing, and neither does the attack.
        return found or [Laws(np.ones(1), np.ones(1), 0.0)]

    def summed(self, score: Whole) -> Laws:
        """The laws of the sum of such scores."""
        return sum_laws(score, self.laws, self.count, self.victim)

    @property
    def mean(self) -> Array:
        """The others' mean law."""
        return np.asarray(self.count @ self.laws / self.count.sum())

    @property
    def limit(self) -> Limit:
        """What many such reports on a line approach, if the others hold what is worst."""
        assert self.where is not None
        return self.where.limit

    @property
    def mu(self) -> float:
        """Of the Gaussian limit, for these inputs of the others."""
        return math.sqrt(solve(self.victim[0] - self.victim[1], self.laws, self.count)[0])

    @property
    def equal(self) -> bool:
        """Whether all others report by one law."""
        return bool((self.laws == self.laws[0]).all())

    def equal_delta(self, eps: float) -> float:
        """(1/n) E_g[(L_1 + ... + L_n)_+], the larger direction, errs downward: the cells' means are below L.

        Cells that are so unlikely for the others that a report there gives the victim away are taken apart: whether
        some report lies in one with f0 > e^eps f1 is a test of its own, and else nobody's report is in such a cell.
        """
        if eps >= MOST_EXPONENT:
            return 0.0
        others, e, best = self.n - 1, math.exp(eps), 0.0
        for a, b in (self.victim, self.victim[::-1]):
            g = self.laws[0] / self.laws[0].sum()
            apart = a + e * b > _DECIDES * e * others * g
            for_it = apart & (a > e * b)
            alone = float((a - e * (b + others * g))[for_it].sum()) * (1 - _PAD)
            a, b, g, hidden = a[~apart], b[~apart], g[~apart], float(g[apart].sum())
            together = 0.0
            if g.size:
                nobody = math.exp(others * math.log1p(-hidden))
                g = g / g.sum()
                with np.errstate(over="ignore"):
                    ratio = (a - e * b - _PAD * (a + e * b)) / g
                if np.isfinite(ratio).all():  # else only what is apart counts
                    each = np.array([1 / self.n])
                    together = nobody * positive_part(ratio, g, self.n, each, smoothing=_SMOOTHING).lower
            best = max(best, max(alone, 0.0) + together)
        return min(best, 1.0)

    def likelihood(self, eps: float) -> list[Laws]:
        """The sums' laws of (f0 - e^eps f1)/g, g the mean law, in whole units; none if the users are too many."""
        n, e = float(self.count.sum()), math.exp(min(eps, MOST_EXPONENT))
        law, found = self.mean, []
        for a, b in (self.victim, self.victim[::-1]):
            with np.errstate(over="ignore"):
                ratio = np.clip((a - e * b) / law, -1e100, 1e100)
            mean = float(law @ ratio)
            deviation = math.sqrt(float(law @ (ratio - mean) ** 2))
            if deviation == 0:
                continue
            points = ratio / deviation * _PER_DEVIATION
            most = np.array(_CAPS) * (math.sqrt(n) + n * abs(mean) / deviation) * _PER_DEVIATION
            for cap in np.unique(np.minimum(most, min(float(np.abs(points).max()), _MOST_SCORE))):
                score = np.rint(np.clip(points, -cap, cap)).astype(np.int64)
                if not self.equal or _period(score, self.laws, self.count) <= _MOST_PERIOD:
                    found.append(self.summed(score))
        return found


# --- reports on a line ---------------------------------------------------------------------------------------

_INPUTS = (0.0, 0.25, 0.5, 0.75, 1.0)
_MOST_JOINT = 3  # groups whose inputs are tried jointly
_MOST_GROUPS = 16  # more distinct scales are merged
_TAIL = 1e-12
_ROUNDED = 1e-12


class Limit(NamedTuple):
    """The Gaussian that shuffled reports approach, at the others' worst inputs: an estimate, not a bound.

    Errs to either side: cells lose a little (downward, at 2400 about 1e-5), the others' inputs are searched on
    {0, 1/4, 1/2, 3/4, 1} (downward), and n is finite.

    Attributes:
        mu: of the limiting Gaussian mechanism.
        others: shape (g,), the inputs of the other users, per scale, at which mu is largest.
    """

    mu: float
    others: Array

    def epsilon(self, delta: float) -> float:
        """eps of the limit at that delta in (0, 1): an estimate."""
        return gdp_epsilon(delta=delta, mu=self.mu)


def cell_masses(noise: Noise, x: float, edges: Array) -> Array:
    """Law of a report at input x on the cells, the tails in the outer two; shape (k,)."""
    tail = noise.beyond(np.abs(edges - x))
    below = np.where(edges < x, tail, 1 - tail)
    # Differences of tails on the report's own side keep their digits.
    left, right = edges[:-1] < x, edges[1:] > x
    mass = np.where(~left, tail[:-1] - tail[1:], np.where(~right, tail[1:] - tail[:-1], below[1:] - below[:-1]))
    mass[0] += below[0]
    mass[-1] += tail[-1] if edges[-1] > x else 1 - below[-1]
    if not abs(float(mass.sum()) - 1) <= _ROUNDED:
        raise InternalError(f"a report's masses in {mass.size} cells add up to {float(mass.sum())!r}")
    return np.maximum(mass, 1e-300)


@dataclass(frozen=True)
class Setting:
    """Checked arguments: the victim, everybody else, and where reports are cut into cells."""

    victim: Noise
    others: tuple[Noise, ...]
    count: Array
    place: NDArray[np.int64]  # of each of `others` among the scales
    scales: Array
    edges: Array

    @property
    def own(self) -> Array:
        """Cell laws f0 and f1 of the victim; shape (2, k)."""
        return np.array([cell_masses(self.victim, x, self.edges) for x in (0.0, 1.0)])

    def laws(self, inputs: ArrayLike) -> Array:
        """Cell laws of the others, each scale at its input; shape (g, k)."""
        pairs = zip(self.others, np.asarray(inputs), strict=True)
        return np.array([cell_masses(noise, float(x), self.edges) for noise, x in pairs])

    @cached_property
    def limit(self) -> Limit:
        """Of many users, at the others' worst inputs."""
        f0, f1 = self.own
        ends = range(len(_INPUTS))
        place = np.log([other.kappa for other in self.others])
        distinct, bins = np.unique(place, return_inverse=True)
        if distinct.size > _MOST_GROUPS:  # merged in equal shares of the range: the search below is over groups
            share = (place - place.min()) / (place.max() - place.min())
            bins = np.unique((share * (_MOST_GROUPS - 1)).astype(np.int64), return_inverse=True)[1]
        groups = int(bins.max()) + 1
        every = np.arange(groups)
        member = (bins == every[:, None]) * self.count
        number = member.sum(axis=1)
        laws = np.array([member @ self.laws(np.full(bins.size, x)) for x in _INPUTS]) / number[:, None]

        def square(pick: tuple[int, ...]) -> float:
            return solve(f0 - f1, laws[list(pick), every], number)[0]

        if groups <= _MOST_JOINT:
            best = max(product(ends, repeat=groups), key=square)
        else:  # one input for all, then coordinate by coordinate
            best = max(((i,) * groups for i in ends), key=square)
            for j in range(groups):
                best = max(((*best[:j], i, *best[j + 1 :]) for i in ends), key=square)
        others = np.full(self.scales.size, np.nan)
        others[self.place] = np.asarray(_INPUTS)[list(best)][bins]
        return Limit(float(np.sqrt(square(best))), others)


def reports(
    scales: Budgets | ArrayLike,
    *,
    count: ArrayLike = 1,
    mechanism: str = "laplace",
    victim: int | None = None,
    others: ArrayLike | None = None,
    cells: int = 48,
) -> Worlds:
    """Laplace or Gaussian reports on a line cut into cells; the victim at 0 or 1, the others where it hurts most.

    Args:
        scales: as `gspa.accountant.laplace_gaussian.blanket_epsilon`, like count, mechanism and victim (None: least
            noise).
        others: inputs of the other users, one number or one per scale; None for the worst of many users.
        cells: about how many cells; fewer lose power, never validity.

    Raises:
        InvalidValue: an argument outside its range, or nobody else.
    """
    crowd = Crowd.of(scales, count, mechanism)
    if not (victims := crowd.candidates(victim)):
        raise InvalidValue("victim", victim, "the index of a finite scale")
    own, many = crowd.noise(victims[0]), crowd.reports.count
    left = many - (np.arange(many.size) == victims[0])
    place = np.flatnonzero((left > 0) & np.isfinite(crowd.scales))
    if place.size == 0:
        raise InvalidValue("count", many.tolist(), "at least one other user with finite noise")
    kept = tuple(crowd.noise(int(i)) for i in place)
    # Edges that resolve the interval and the victim's tails.
    r = radii(0.5 + own.quantile(_TAIL), max(check.count(12, cells=cells) // 6, 8))
    edges = np.unique(np.r_[0.5 - r, 0.5 + r])
    where = Setting(own, kept, left[place].astype(float), place, crowd.scales, edges)
    if others is None:
        places = where.limit.others
    else:
        places = check.array_in(0, 1, others=others)
        places = np.full(where.scales.size, float(places)) if places.ndim == 0 else places
        if places.shape != where.scales.shape:
            raise InvalidValue("len(others)", places.size, f"len(scales) = {where.scales.size}")
    places = places[where.place]
    shown = ", ".join(f"{x:g}" for x in np.unique(places))
    what = f"{mechanism} reports on [0, 1]: the others' inputs {shown}, the victim's 0 or 1"
    return Worlds(where.own, where.laws(places), where.count.astype(np.int64), what, where)


def attack_delta(
    scales: Budgets | ArrayLike,
    *,
    eps: float,
    count: ArrayLike = 1,
    mechanism: str = "laplace",
    victim: int | None = None,
    others: ArrayLike | None = None,
    statistic: str = "likelihood",
    cells: int = 2400,
) -> Bound:
    """A delta that the shuffled reports certainly have at eps: what an explicit attack achieves.

    `lower` errs downward (roundings are subtracted); `upper` is 1, because an attack says nothing from above.

    Args:
        scales: as the other arguments but eps and statistic, see `reports`.
        eps: >= 0.
        statistic: one of `STATISTICS`; "likelihood" is the best where all others report by one law.

    Raises:
        OutsideValidity: too many users for the law of a sum.
    """
    eps = check.nonnegative(eps=eps)
    check.one_of(STATISTICS, statistic=statistic)
    worlds = reports(scales, count=count, mechanism=mechanism, victim=victim, others=others, cells=cells)
    laws = worlds.likelihood(eps) if statistic == "likelihood" else worlds.fixed(statistic)
    value = max((law.delta(eps) for law in laws), default=0.0)
    if statistic == "likelihood" and worlds.equal:
        value = max(value, worlds.equal_delta(eps))
    method = f"attack, {statistic} statistic"
    return Bound(value, value, 1.0, method=method, valid_for=worlds.what, eps=eps, reached=True)


def attack_epsilon(
    scales: Budgets | ArrayLike,
    *,
    delta: float,
    count: ArrayLike = 1,
    mechanism: str = "laplace",
    victim: int | None = None,
    others: ArrayLike | None = None,
    statistic: str = "likelihood",
    cells: int = 2400,
) -> Bound:
    """An eps below which the shuffled reports are certainly not (eps, delta)-DP; `upper` is infinite.

    Errs downward; arguments and errors as `attack_delta`, and delta in (0, 1).
    """
    delta = check.probability(allow_zero=False, delta=delta)
    check.one_of(STATISTICS, statistic=statistic)
    worlds = reports(scales, count=count, mechanism=mechanism, victim=victim, others=others, cells=cells)
    if statistic != "likelihood":
        value = max(law.epsilon(delta) for law in worlds.fixed(statistic))
    else:
        value, guess = 0.0, gdp_epsilon(delta=delta, mu=min(worlds.mu, 30.0))
        asked = guess
        for _ in range(_ROUNDS):  # whatever eps the score is made for, its law is good for every eps
            found = max((law.epsilon(delta) for law in worlds.likelihood(asked)), default=0.0)
            value, asked, last = max(value, found), found, value
            if found <= 1.001 * last:
                break
        if worlds.equal:

            def excess(eps: float) -> float:
                return math.log(max(worlds.equal_delta(eps), 1e-300) / delta)

            value = max(value, crossing(excess, 0.0, max(guess, 1e-9), side=-1, most=MOST_EXPONENT, rtol=1e-7))
    method = f"attack, {statistic} statistic"
    return Bound(value, value, math.inf, method=method, valid_for=worlds.what, delta=delta, reached=True)

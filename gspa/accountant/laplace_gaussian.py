"""The blanket engine: certified shuffle-model privacy of Laplace and Gaussian reports on [0, 1], own scale each.

Let user j's report have density at least c_j omega* on B whatever the input, omega* one probability density on B, and
C = sum_(j != n) Bernoulli(c_j). With L_i = (f0 - e^eps f1)(Y_i)/omega*(Y_i) and Y_i independent from omega*,

    delta(eps) <= int_(B^c) (f0 - e^eps f1)_+ + E[(1/(C+1)) (L_1 + ... + L_(C+1))_+],

and the same with f0, f1 exchanged: an equality where C and what is no draw from omega* are public. For n equal users
P(C = m-1)/m = P(Bin(n, c) = m)/(n c) gives Balle et al. 2019, Lemma 5.3: (1/(n c)) E[(sum_(i <= M) L_i)_+] with
M ~ Bin(n, c). The expectation decreases in C: one more report from omega* is post-processing.

(0, 1) is the worst pair of inputs for the user with the least noise, whose L it makes the largest in the convex order
("The worst inputs on a line", on the page of proofs).

What one common omega* costs, and any blanket at all, page 17 shows. Many rounds: `rounds`.

Each bracket is of the right-hand side for one (B, omega*): L is replaced by discrete laws above and below it
in the convex order (`blanket`), their random sums are evaluated by a tilted Fourier sum with every
truncation bounded (`random_sum`), C in blocks with the rest bounded by Bernstein (`clones`). The cost does not
grow with the number of users.

>>> bound = blanket_epsilon([1.0], count=[10_000], delta=1e-6)
>>> round(bound.upper, 3), bound.upper - bound.lower < 1e-3 * bound.upper
(0.038, True)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from gspa.accountant import arguments as check
from gspa.accountant.arguments import Array
from gspa.accountant.blanket import LEAST_TAIL, POWER, Envelope, Noise, Reduction, Reports, radii
from gspa.accountant.bound import Bound, Ends, enclosed
from gspa.accountant.budgets import Budgets
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.losses import FLAT, LARGEST, TAIL, Atoms, Values, largest_of, on_curve
from gspa.accountant.mechanisms import alone_delta, alone_epsilon
from gspa.accountant.pair import greatest_epsilon, least_epsilon
from gspa.accountant.random_sum import log_mgf
from gspa.accountant.tradeoff import gdp_delta, gdp_epsilon

# --- which omega* and B: any choice is valid, the limit shows a tight one ------------------------------------

_LEVELS = 5
_LEAKS = (0.5, 0.2, 0.05, 0.01, 1e-3, 1e-6)  # of the delta that is aimed at
_BREAKS = 12
_SEARCH = (math.inf, math.inf, 2.0, 1.2)  # a break is moved either way by at most this factor, sweep after sweep
_NEAREST = 0.02  # of a break to the centre
_TOGETHER = 10_000  # distinct noises, times rows of breaks, that are tried at once
_DEEPEST = 200.0  # log q falls no lower: omega* must not underflow


def limit(victim: Noise, others: Reports, envelope: Envelope, delta: float) -> tuple[Array, Array]:
    """mu of the blanket's own Gaussian limit, an estimate; and times Edgeworth's first correction of delta's quantile.

    mu^2 = int_B (f0 - f1)^2 / (sum_j c_j omega*). The correction, for the skewness int_B |f0 - f1|^3 /
    (sum_j c_j omega*)^2 / mu^3, is large where a rare report gives much away.
    """
    middle, width, gap = _gaps(victim, envelope.radius)
    cover = envelope.clones(others) @ others.count
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        share = gap / np.exp(envelope.log_q(middle) - envelope.log_total[..., None]) / cover[..., None]
        second, third = (2 * (gap * share**power @ width) for power in (1, 2))
        mu, deep = np.sqrt(second), envelope.log_corners[..., -1] < -_DEEPEST
        found = mu, mu * (1 + third / second**1.5 * max(0.0, -float(ndtri(delta))) / 6)
        unknown = deep | ~((second > 0) & (second < math.inf) & (third < math.inf))
    return np.where(unknown, math.inf, found[0]), np.where(unknown, math.inf, found[1])


@lru_cache(maxsize=64)
def _gaps(victim: Noise, radius: float) -> tuple[Array, Array, Array]:
    """Distances from 1/2 inside B, what each stands for, and |f0 - f1| there: no matter which omega*."""
    r = radii(radius, 250)
    middle, width = 0.5 * (r[1:] + r[:-1]), np.diff(r)
    near, far = (np.exp(victim.log_density(distance)) for distance in (np.abs(middle - 0.5), middle + 0.5))
    return middle, width, near - far


def _levels(others: Reports) -> Array:
    """Slopes worth offering: all of them if few, else quantiles weighted by what the users cover at the centre."""
    distinct = np.unique(others.kappa)
    if distinct.size <= _LEVELS:
        return distinct
    weight = others.count * np.exp(others.log_height - others.kappa * 0.5**others.power)
    order = np.argsort(others.kappa)
    place = np.cumsum(weight[order])
    at = np.linspace(0, 1, _LEVELS) * place[-1]
    return np.unique(others.kappa[order][np.minimum(np.searchsorted(place, at), order.size - 1)])


def _straight(levels: int) -> Array:
    """One slope throughout: the breaks below it sit at the centre, those above it beyond the edge."""
    return np.where(np.arange(levels - 1) < np.arange(levels)[:, None], 0.0, math.inf)


def _bent(others: Reports, slopes: Array, breaks: Array, reach: float) -> Envelope:
    return Envelope(others.power, slopes, np.clip(breaks, 0.5**others.power, (reach + 0.5) ** others.power), reach)


def choose(victim: Noise, others: Reports, delta: float, corrected: bool) -> Envelope:
    """An envelope whose limit (or corrected limit) has nearly the least eps: coordinate search, no guarantee."""
    levels = _levels(others)
    reach = {share: 0.5 + max(victim.quantile(min(share * delta, 0.25)), 1e-3) for share in _LEAKS}

    def build(breaks: Array, share: float) -> Envelope:
        return _bent(others, levels, breaks, reach[share])

    def least(breaks: Array, share: float) -> tuple[float, Array]:
        """Of several rows of breaks the one with the least mu: where one share leaks, eps grows with it."""
        several = max(1, _TOGETHER // others.count.size)
        parts = (build(breaks[i : i + several], share) for i in range(0, len(breaks), several))
        mu = np.concatenate([limit(victim, others, part, delta)[corrected] for part in parts])
        return float(mu.min()), breaks[mu.argmin()]

    @cache
    def eps(mu: float, share: float) -> float:
        # Past mu = 40 only the order matters; gdp_epsilon's own range ends there.
        return gdp_epsilon(delta=max(delta * (1 - share), LEAST_TAIL), mu=mu) if mu < 40 else mu * mu

    straight = [(*least(_straight(levels.size), share), share) for share in _LEAKS]
    _, breaks, share = min(straight, key=lambda one: eps(one[0], one[2]))
    for factor in _SEARCH if levels.size > 1 else ():
        for i in range(levels.size - 1):
            high = reach[share] + 0.5
            at = min(max(breaks[i] ** (1 / others.power) - 0.5, _NEAREST), high)
            near = np.geomspace(max(at / factor, _NEAREST), min(at * factor, high), _BREAKS)
            grid = np.unique(np.r_[0.5, 0.5 + near, high])[:, None] ** others.power
            # Break i at each of these, and the others pushed aside.
            moved = [np.minimum(breaks[:i], grid), grid, np.maximum(breaks[i + 1 :], grid)]
            _, breaks = least(np.vstack([breaks, np.hstack(moved)]), share)
        share = min(_LEAKS, key=lambda one: eps(least(breaks[None], one)[0], one))
    return build(breaks, share)


# --- who can be the victim, and which (B, omega*) to try -----------------------------------------------------

METHOD = "privacy blanket"
NOT_LOOKED = "no amplification was evaluated: the upper end is of one report alone, whatever n"
_NOR_BELOW = ", and so is the lower end, which bounds nothing of the shuffled reports"
NOT_FOUND = "no amplification was found: the upper end is that of a record that nobody hides"
WIDE = "the method's own value is not known to a factor of two: the lower end says little"
_UNKNOWN = "the truth is not known to a factor of two"
MOST_VICTIMS = 64
_MOST_SCALE = 1e150  # its square is a double, and so is its inverse's
_SHARES = (0.6, 0.3, 0.05, 1e-2, 1e-3, 1e-6)  # of delta: leaks tried with the exact value, not its Gaussian limit
_MOST_MU = 40.0  # beyond it the answer is what the report alone guarantees


def how_close(low: float, high: float, alone: float) -> str:
    """What to say of an interval that tells little; `alone` is the upper end where nobody hides the record."""
    return NOT_FOUND if high >= alone > 0 else WIDE if low < high / 2 else ""


def attacked(bound: Bound, low: float) -> Bound:
    """With a lower end that an attack reaches, and what is to be said of that."""
    low = min(low, bound.upper)
    known = [bound.note.replace(_NOR_BELOW, "").replace(WIDE, "").removesuffix("; ")]
    note = "; ".join(filter(None, [*known, _UNKNOWN if low < bound.upper / 2 else ""]))
    return replace(bound, lower=low, value=0.5 * low + 0.5 * bound.upper, note=note, reached=True)


def _usable(scales: Array, hint: str = "") -> Array:
    bad = scales[np.isfinite(scales) & ((scales < 1 / _MOST_SCALE) | (scales > _MOST_SCALE)) | (scales == 0)]
    if bad.size:
        allowed = f"infinite or in [{1 / _MOST_SCALE:g}, {_MOST_SCALE:g}]"
        raise InvalidValue("scale", float(bad[0]), allowed, hint)
    return scales


@dataclass(frozen=True)
class Crowd:
    """Checked arguments of both entrances.

    `scales` are those of values in [0, 1], and rounded; the range over the noise is over[i] / under[i], as given.
    """

    reports: Reports
    scales: Array
    mechanism: str
    over: Array
    under: Array

    @classmethod
    def of(cls, scales: Budgets | ArrayLike, count: ArrayLike, mechanism: str, sensitivity: float = 1.0) -> Crowd:
        """Checked; a user with eps = 0 gets an infinite scale."""
        check.one_of(POWER, mechanism=mechanism)
        if isinstance(scales, Budgets):
            if mechanism != "laplace":
                hint = "give the Gaussian's sigma_j as scales"
                raise InvalidValue("mechanism", mechanism, "'laplace' for budgets", hint)
            if scales.delta_max > 0:
                raise OutsideValidity(METHOD, f"delta_i = 0, got {scales.delta_max:g}", "Laplace reports are pure")
            over, under, many = scales.eps, np.ones(scales.eps.shape), scales.count
            with np.errstate(divide="ignore", over="ignore"):
                scale = np.where(over > 0, np.minimum(1 / over, np.finfo(np.float64).max), math.inf)
        else:
            under = np.atleast_1d(check.array_in(0, math.inf, scales=scales))
            if under.ndim != 1 or under.size == 0 or not (under > 0).all():
                raise InvalidValue("scales", under.tolist(), "a non-empty list of noise scales > 0")
            given = check.whole(count=count)
            given = np.full(under.shape, float(given)) if given.ndim == 0 else given
            if given.shape != under.shape:
                raise InvalidValue("len(count)", given.size, f"len(scales) = {under.size}")
            if given.sum() > check.MOST:
                raise InvalidValue("sum of count", float(given.sum()), "at most 2^53 - 1")
            over, many = np.full(under.shape, check.positive(sensitivity=sensitivity)), given.astype(np.int64)
            scale = _usable(under) / over
        hint = "the scale of Laplace reports is 1/eps" if isinstance(scales, Budgets) else ""
        return cls(Reports.of(mechanism, _usable(scale, hint), many), scale, mechanism, over, under)

    def candidates(self, victim: int | None) -> list[int]:
        """Whom to evaluate, least noise first: one index per distinct finite scale, or the one asked for."""
        if victim is not None:
            index = check.index(self.scales.size, "scales", victim=victim)
            return [index] if math.isfinite(self.scales[index]) else []
        _, first = np.unique(self.scales, return_index=True)
        return [int(i) for i in first if math.isfinite(self.scales[i])]

    @property
    def alone(self) -> bool:
        """Whether at most one report says anything, so that nobody hides it."""
        return bool(self.reports.count[self.reports.kappa > 0].sum() <= 1)

    def noise(self, victim: int) -> Noise:
        """The victim's density."""
        return Noise(self.reports.power, float(self.reports.kappa[victim]), float(self.reports.log_height[victim]))

    def gap(self, victim: int) -> Ends:
        """The two inputs' distance in noise scales, below and above: a Laplace report's eps, a Gaussian one's mu."""
        over, under = float(self.over[victim]), float(self.under[victim])
        if math.isinf(under):
            return 0.0, 0.0
        return enclosed(Fraction(over) / Fraction(under))

    def deviation(self, victim: int) -> float:
        """The noise's scale for values in [0, 1], rounded down."""
        return enclosed(Fraction(float(self.under[victim])) / Fraction(float(self.over[victim])))[0]

    def local_delta(self, victim: int, eps: float) -> Ends:
        """What the victim's report alone guarantees, from below and from above."""
        return alone_delta(self.mechanism, eps, self.gap(victim))

    def envelopes(self, victim: int, delta: float) -> tuple[list[Envelope], float]:
        """Tight (B, omega*) near this delta, and their Gaussian limit's mu; none if nobody covers the victim."""
        noise = self.noise(victim)
        others = self.reports.without(victim)
        if others.count.size == 0:
            return [], math.inf
        envelopes = [choose(noise, others, delta, corrected=False)]
        mu, skewed = map(float, limit(noise, others, envelopes[0], delta))
        if not skewed < 1.05 * mu:  # far from the limit either choice may win
            envelopes.append(choose(noise, others, delta, corrected=True))
            mu = min(mu, float(limit(noise, others, envelopes[1], delta)[0]))
        return (envelopes, mu) if mu < _MOST_MU else ([], math.inf)

    def reductions(
        self, victim: int, delta: float, size: int | None = None, *, straight: bool = False
    ) -> tuple[list[Reduction], float]:
        """Those `envelopes` and smaller B with the same omega*, ready to be evaluated; and mu.

        With `straight` omega* of one slope instead, for unequal noise that the limit says little of.
        """
        noise, others = self.noise(victim), self.reports.without(victim)
        reach = [0.5 + max(noise.quantile(min(share * delta, 0.25)), 1e-3) for share in _SHARES]
        envelopes, mu = ([], math.inf) if straight else self.envelopes(victim, delta)
        if straight and others.count.size and (levels := _levels(others)).size > 1:
            envelopes = [_bent(others, levels, breaks, max(reach)) for breaks in _straight(levels.size)]
        cut: dict[tuple[float, ...], Envelope] = {}  # both searches may end at one envelope, or at one once it is cut
        for envelope in envelopes:
            # A larger B was worse in the limit: it thins the cover. A smaller one bounds L.
            for r in (envelope.radius, *(r for r in reach if r < 0.999 * envelope.radius)):
                breaks = np.minimum(envelope.breaks, (r + 0.5) ** envelope.power)  # those beyond the edge move to it
                cut.setdefault((r, *breaks.tolist()), replace(envelope, radius=r, breaks=breaks))
        kept = [one for one in cut.values() if one.log_corners[-1] >= -_DEEPEST]
        return [Reduction.of(noise, others, one, delta, size) for one in kept], mu

    def proved(self, evaluated: list[int]) -> bool:
        """Whether 0 and 1 are the proved worst inputs of these victims."""
        return all(self.scales[i] <= self.scales.min() for i in evaluated)

    def valid_for(self, evaluated: list[int]) -> str:
        """The class of mechanisms; says so where the victim's inputs are not the proved worst ones."""
        kind = "Laplace" if self.mechanism == "laplace" else "Gaussian"
        text = f"{kind} reports of values in [0, 1], own noise scale each, any values of the others"
        if self.proved(evaluated):
            return text
        return text + "; 0 and 1 as the worst values of a victim with more than the least noise: measured, not proved"


# --- which of several (B, omega*) at an eps ------------------------------------------------------------------

_NEAR = 1.02  # the limit's eps: beyond it other B are tried
_ROUGH, _CLOSEST = 600, 3  # cells in which every B is evaluated; and how many of the best then in as many as pay


def _closest(some: Sequence[Reduction], eps: float) -> list[tuple[float, Reduction]]:
    """Those with the least upper values at this eps, and these, the least first."""
    found: list[tuple[float, Reduction]] = []
    for one in sorted(some, key=lambda one: one.missed(eps)):
        if len(found) < _CLOSEST or one.missed(eps) < found[-1][0]:
            found = sorted([*found, (one.about(eps), one)], key=lambda each: each[0])[:_CLOSEST]
    return found


def _fine(crowd: Crowd, victim: int, one: Reduction, delta: float, size: int | None = None) -> Reduction:
    return Reduction.of(one.victim, crowd.reports.without(victim), one.envelope, delta, size)


# --- one round as a pair for composition ---------------------------------------------------------------------
# Its certified delta(eps) at points that resolve the loss, at each with the (B, omega*) that is the best there or was
# nearby: the greatest convex function below such values is the curve of a pair. Of several victims the largest upper
# value counts at each eps: that pair dominates everybody's.

_PER_DEVIATION = 10  # points in a standard deviation of the loss
_PER_GAP = 80  # the same where a report has nobody to hide among, in the largest loss or the Gaussian's mu
_FEW, _CELLS = 240, 600  # in which all B are evaluated, and the best ones: coarser by 1e-6 of eps
_NEARBY, _STEP = 0.3, 0.5  # relative, or in the limit's mu: so far the best B stays what it is
_LEAST_DELTA = 1e-30
_TILTS = (0.01, 1000.0, 60)  # from, to and how many; times the loss's standard deviation
_APART, _FALLEN = 2.0, 1e-2  # decades of delta for which the same B are tried; a value so much less asks again


class _Victim:
    """A user, and the (B, omega*) that may be the best at some eps: those for about the delta that comes out there.

    Asked at one eps after the other, each larger than the one before.
    """

    def __init__(self, crowd: Crowd, who: int, delta: float) -> None:
        self.crowd, self.who = crowd, who
        laws, self.mu = crowd.reductions(who, delta, _FEW)
        self.hidden = bool(laws)
        self._used = dict[float, Reduction]()  # by eps
        self._known = 1.0  # not below delta at the last eps, nor at any larger one
        self._place, self._last = 0, math.floor(math.log10(delta) / _APART)  # on a scale of deltas
        self._laws, self._straight = {self._last: laws}, list[Reduction]()
        self._best: Reduction | None = None
        self._chosen = math.nan, 1.0  # at which eps, and its value there
        self._refined = cache(lambda one: _fine(crowd, who, one, delta, _CELLS))

    def delta(self, eps: float, enough: float) -> float:
        """Not below it; not above what the report alone guarantees. No tighter one is looked for than `enough`."""
        alone = self.crowd.local_delta(self.who, eps)[1]
        if not self.hidden:
            return alone
        self._used[eps] = self._chosen_at(eps, enough)
        return min(self._used[eps].upper(eps), alone)

    def law(self, eps: float) -> Reduction | None:
        """The one that was used at this eps, or at the last before it that was asked; None if nobody hides the user."""
        return self._used[max(at for at in self._used if at <= eps)] if self.hidden else None

    def _ranked(self, eps: float, enough: float) -> list[Reduction]:
        """Those of this place that may be the best at this eps; or one that is good enough."""
        if self._place not in self._laws:
            laws, _ = self.crowd.reductions(self.who, 10.0 ** (_APART * self._place), _FEW)
            self._laws[self._place] = laws or self._laws[self._last]
        ranked = _closest(self._laws[self._place], eps)
        if ranked[0][0] <= enough:
            return [ranked[0][1]]
        if ranked[0][0] > gdp_delta(eps / _NEAR, mu=self.mu):
            if not self._straight:
                self._straight, _ = self.crowd.reductions(self.who, 10.0 ** (_APART * self._last), _FEW, straight=True)
            ranked = sorted([*ranked, *_closest(self._straight, eps)], key=lambda found: found[0])[:_CLOSEST]
        return [one for _, one in ranked]

    def _chosen_at(self, eps: float, enough: float) -> Reduction:
        """The one that is the best at this eps or was nearby, or is good enough."""
        value, most, kept = gdp_delta(eps, mu=self.mu), -1, list[Reduction]()
        if self._best is not None:
            kept, value, (looked, there) = [self._best], self._refined(self._best).upper(eps), self._chosen
            stands = eps > 3 * self.mu and value > FLAT * self._known  # at what this B misses, perhaps
            self._known = value
            if value <= enough:
                return self._refined(self._best)
            if stands and self._place > self._last:
                most = self._place - 1
            elif value > _FALLEN * there and eps - looked <= max(_NEARBY * looked, _STEP * self.mu):
                return self._refined(self._best)
        about = math.floor(math.log10(max(value, LEAST_TAIL)) / _APART)
        self._place = max(min(about, most), self._last)
        asked = [*self._ranked(eps, enough), *kept]
        self._best = min(asked, key=lambda one: self._refined(one).upper(eps))
        self._known = self._refined(self._best).upper(eps)
        self._chosen = eps, self._known
        return self._refined(self._best)


def reports_pair(
    crowd: Crowd, *, delta: float, times: int, victim: int | None = None, both: bool = True
) -> tuple[Atoms, Atoms]:
    """Losses of one round of `times` in which the crowd's reports are shuffled: above everybody's, below one user's.

    That user is the worst at about a round's share of the eps of all together. Their delta decides which (B, omega*)
    are used and where the curve ends. Where `both` is False the losses below are all 0, which saves the time for them.
    """
    indices = crowd.candidates(victim)
    victims = [_Victim(crowd, index, max(delta / times, _LEAST_DELTA)) for index in indices]
    victims.sort(key=lambda one: -one.mu)  # the likely worst is asked first, at the first eps
    gap = crowd.gap(indices[0])[1]
    hidden = [one.mu for one in victims if one.hidden]
    width = min(gap, max(hidden, default=gap), LARGEST)
    corners = [crowd.gap(one.who)[1] for one in victims] if crowd.mechanism == "laplace" else []
    worst, known = largest_of([one.delta for one in victims]), dict[float, tuple[float, int]]()

    def above(eps: float) -> Values:
        known[eps] = worst(eps)
        return Values(known[eps][0], 0.0, 1.0, 1.0)

    def below(eps: float) -> Values:
        least, alone = crowd.local_delta(first.who, eps)
        law, most = first.law(eps), known[eps][0]
        if law is None:
            return Values(most, least, alone, alone)
        return Values(most, min(law.lower(eps), most), law.upper(eps), alone)

    per = _PER_DEVIATION if hidden else _PER_GAP
    # A Laplace report's own eps is a corner of its curve.
    curve = partial(on_curve, width=width, per=per, corners=corners, floor=TAIL * delta / times)
    found = curve(above)
    if not both:
        return found
    tilts = np.geomspace(*_TILTS) / width
    with np.errstate(divide="ignore"):  # nearly all losses may be infinite
        chernoff = (log_mgf(found[0].loss, found[0].mass, tilts) - math.log(delta) / times) / tilts
    share = max(float(chernoff.min()), 0.0)
    asked = list(known)[:-1] or [0.0]  # where the curve ends nobody is the worst
    first = victims[known[max(eps for eps in asked if eps <= share)][1]]
    return found[0], curve(below)[1]


# --- certified eps and delta ---------------------------------------------------------------------------------

_BAND = 5e-4  # relative, in delta: where the search for eps stops


def blanket_epsilon(
    scales: Budgets | ArrayLike,
    *,
    delta: float,
    count: ArrayLike = 1,
    mechanism: str = "laplace",
    victim: int | None = None,
    sensitivity: float = 1.0,
) -> Bound:
    """Central eps of shuffled Laplace or Gaussian reports, own scale each: the blanket's value, bracketed.

    Implements section 5 of Balle et al. 2019 (equal scales) and its extension above to personal scales
    and to Gaussian reports. `upper` is certified: it errs upward, and never exceeds what the victim's report alone
    guarantees. `lower` is below the value of this analysis, not below the mechanism's own eps (see `attacks`).

    Args:
        scales: `Budgets` (Laplace scales 1/eps_j), or noise scales > 0: Laplace b_j, or Gaussian sigma_j.
        delta: in (0, 1).
        count: how many users have each scale: a number or shape of scales; with `Budgets`, theirs counts.
        mechanism: "laplace" or "gaussian".
        victim: index into scales of the user to protect; None for every user (the largest of their eps).
        sensitivity: what a value of 1 stands for in the unit of the scales, > 0: the width of the range. Not for
            `Budgets`.

    Raises:
        InvalidValue: an argument outside its range; or victim = None and more than 64 distinct scales that may be the
            worst off.
        OutsideValidity: budgets with delta_i > 0.

    >>> blanket_epsilon([0.5, 100.0], count=[1, 9_999], delta=1e-4, victim=0).upper < 0.31
    True
    """
    crowd = Crowd.of(scales, count, mechanism, sensitivity)
    delta = check.probability(allow_zero=False, delta=delta)

    def bracket(index: int, local: Ends, worst: float) -> Ends:
        some, mu = crowd.reductions(index, delta, _ROUGH)
        top = local[1]
        if not some or top == 0:
            return local
        if worst > 0 and _closest(some, worst)[0][0] <= delta:  # that eps is enough for this one, too
            return 0.0, 0.0
        first = min(gdp_epsilon(delta=delta, mu=mu), top)

        def proved(some: list[Reduction]) -> tuple[float, Reduction]:
            """The least eps that is found with one of these B, and with which."""
            at, high, used = first, top, some[0]
            fine = cache(lambda one: _fine(crowd, index, one, delta))
            for _ in range(3):  # the best B at the limit's eps need not be the best at the true one
                start = at
                best = min((fine(one) for _, one in _closest(some, start)), key=lambda one: one.upper(start))
                at = least_epsilon(best.upper, delta, start, top, _BAND)
                if at < high:
                    high, used = at, best
                if start < _NEAR * at < _NEAR**2 * start:
                    break
            return high, used

        high, used = proved(some)
        if high >= _NEAR * first and (more := crowd.reductions(index, delta, _ROUGH, straight=True)[0]):
            high, used = min((high, used), proved(more), key=lambda found: found[0])
        return min(greatest_epsilon(used.lower, delta, high, _BAND), high), high

    return _answer(crowd, victim, bracket, lambda i: alone_epsilon(mechanism, delta, crowd.gap(i)), delta=delta)


def blanket_delta(
    scales: Budgets | ArrayLike,
    *,
    eps: float,
    count: ArrayLike = 1,
    mechanism: str = "laplace",
    victim: int | None = None,
    sensitivity: float = 1.0,
) -> Bound:
    """Central delta at eps >= 0; otherwise as `blanket_epsilon`.

    >>> bound = blanket_delta([1.0], count=[10_000], eps=0.05)
    >>> 0 < bound.lower <= bound.upper < 1e-8
    True
    """
    crowd = Crowd.of(scales, count, mechanism, sensitivity)
    eps = check.nonnegative(eps=eps)

    def bracket(index: int, local: Ends, worst: float) -> Ends:
        best: Reduction | None = None
        least = math.inf

        def look(about: float, *, straight: bool = False) -> None:
            """Whether one of the B for about this delta is better."""
            nonlocal best, least
            some = crowd.reductions(index, about, _ROUGH, straight=straight)[0]
            for _, rough in _closest(some, eps):
                one = _fine(crowd, index, rough, about)
                if one.upper(eps) < least:
                    best, least = one, one.upper(eps)

        some, mu = crowd.envelopes(index, 1e-6)
        if not some or local[1] == 0:
            return local
        # Nothing is known yet: the limit's delta, or what the report alone has where the limit says less.
        first = guess = max(min(gdp_delta(eps, mu=mu), local[1], 0.25), _LEAST_DELTA)
        for _ in range(3):  # the best B depends on the delta that comes out
            look(guess)
            if best is None or 0.3 * guess < least < 3 * guess or least < guess == _LEAST_DELTA:
                break
            guess = min(max(least, _LEAST_DELTA), 0.25)
        if best is not None and least > 3 * first:  # the limit says little: all deltas between are asked
            for about in np.geomspace(least, first, 2 + int(math.log10(least / first) / _APART))[1:-1]:
                if about < least:
                    look(float(about))
            look(min(least, 0.25), straight=True)
        if best is None or least >= local[1]:
            return local
        return min(best.lower(eps), least), least

    return _answer(crowd, victim, bracket, lambda i: crowd.local_delta(i, eps), eps=eps)


def _answer(
    crowd: Crowd,
    victim: int | None,
    bracket: Callable[[int, Ends, float], Ends],
    local: Callable[[int], Ends],
    **asked: Any,
) -> Bound:
    """The largest bracket among the victims; those whose own report already guarantees more are not evaluated.

    `bracket` is told the largest upper end so far: below it, it may say 0.
    """
    waiting = crowd.candidates(victim)
    done: list[int] = []
    low = high = 0.0
    note = ""
    while waiting:
        if len(waiting) > MOST_VICTIMS and done:
            # Rounding a victim's scale is not sound in either direction: the one with less noise need not be worse off.
            what = "distinct scales of noise that may be the worst off"
            raise InvalidValue(what, len(waiting), f"at most {MOST_VICTIMS}", "let users share scales")
        index = waiting.pop(0)
        found = bracket(index, alone := local(index), high)
        done.append(index)
        if found[1] > high:
            note = NOT_LOOKED + _NOR_BELOW if found == alone else how_close(*found, alone[1])
        low, high = max(low, found[0]), max(high, found[1])
        waiting = [i for i in waiting if local(i)[1] > high]
    notes = [note] if note and not crowd.alone else []
    if victim is not None:
        notes = [f"for the users with scale {crowd.scales[int(victim)]:g}", *notes]
    ends, proved, words = (low, 0.5 * low + 0.5 * high, high), crowd.proved(done), crowd.valid_for(done)
    n, note = int(crowd.reports.count.sum()), "; ".join(notes)
    return Bound(*ends, METHOD, words, n=n, note=note, proved=proved, reached=crowd.alone, **asked)

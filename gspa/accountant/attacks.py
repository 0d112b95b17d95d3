"""Rigorous lower bounds on central privacy from explicit attacks on shuffled Laplace or Gaussian reports.

The others' inputs are fixed and known, the attacker adds up an integer score of every report and decides by
the sum modulo W. Both are post-processing of the shuffled reports, so the sum's two laws, which
a Fourier transform of size W gives exactly up to rounding, bound delta(eps) from below:

    delta(eps) >= sum_w (P0(w) - e^eps P1(w))_+.

Two scores. "likelihood" is (f0 - e^eps f1)/g, f0 and f1 the victim's laws and g the others' mean law: if the others'
laws are all equal, its sum over the n reports is n (P0/P1 - e^eps) up to a positive factor, the best test there is;
then (1/n) E_g[(L_1 + ... + L_n)_+] is tried too, which needs no transform, whatever n. "linear" is the optimal linear
statistic A^+ v of `asymptotic`.

>>> attack_epsilon([0.5, 100.0], count=[1, 9_999], victim=0, delta=1e-4).lower > 0.3
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa.accountant import arguments as check
from gspa.accountant.arguments import MOST_EXPONENT, UNIT, Array
from gspa.accountant.asymptotic import Counts, asymptotic_mu, cell_masses, setting, solve
from gspa.accountant.bound import Bound
from gspa.accountant.budgets import Budgets
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.random_sum import positive_part
from gspa.accountant.roots import crossing
from gspa.accountant.tradeoff import gdp_epsilon

# --- laws of a sum of scores, and the best score of reports on a line ----------------------------------------

STATISTICS = ("likelihood", "linear")
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
    """Laws of the sum of all scores, victim's included, modulo a period that it rarely exceeds.

    Args:
        score: shape (k,), what a report in each of k cells adds.
        laws: as count and victim, see `Worlds`.

    Raises:
        OutsideValidity: so many users that the sum has more than 2^24 values.
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
    """

    victim: Array
    laws: Array
    count: Whole
    what: str

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

    def fixed(self) -> Laws:
        """The sum's laws of the linear score, which does not depend on eps."""
        score = self.linear
        # Where it tells no two cells apart the reports say nothing, and neither does the attack.
        return self.summed(score) if np.ptp(score) else Laws(np.ones(1), np.ones(1), 0.0)

    def summed(self, score: Whole) -> Laws:
        """The laws of the sum of such scores."""
        return sum_laws(score, self.laws, self.count, self.victim)

    @property
    def mean(self) -> Array:
        """The others' mean law."""
        return np.asarray(self.count @ self.laws / self.count.sum())

    @property
    def mu(self) -> float:
        """Of the Gaussian limit, see `gspa.accountant.asymptotic`."""
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
        others: inputs of the other users, one number or one per scale; None for `asymptotic_mu`'s worst ones.
        cells: about how many cells; fewer lose power, never validity.

    Raises:
        InvalidValue: an argument outside its range, or nobody else.
    """
    where = setting(scales, count, mechanism, victim, cells)
    if others is None:
        places = asymptotic_mu(scales, count=count, mechanism=mechanism, victim=victim, cells=cells).others
    else:
        places = check.array_in(0, 1, others=others)
        places = np.full(where.scales.size, float(places)) if places.ndim == 0 else places
        if places.shape != where.scales.shape:
            raise InvalidValue("len(others)", places.size, f"len(scales) = {where.scales.size}")
    places = places[where.place]
    shown = ", ".join(f"{x:g}" for x in np.unique(places))
    what = f"{mechanism} reports on [0, 1]: the others' inputs {shown}, the victim's 0 or 1"
    own = np.array([cell_masses(where.victim, x, where.edges) for x in (0.0, 1.0)])
    return Worlds(own, where.laws(places), where.count.astype(np.int64), what)


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
        InvalidValue: an argument outside its range, or nobody else.
        OutsideValidity: too many users for the law of a sum.
    """
    eps = check.nonnegative(eps=eps)
    check.one_of(STATISTICS, statistic=statistic)
    worlds = reports(scales, count=count, mechanism=mechanism, victim=victim, others=others, cells=cells)
    laws = worlds.likelihood(eps) if statistic == "likelihood" else [worlds.fixed()]
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
        value = worlds.fixed().epsilon(delta)
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

"""Rigorous lower bounds on central privacy from explicit attacks on shuffled Laplace or Gaussian reports.

The others' inputs are fixed and known, the attacker adds up an integer score of every report and decides by
the sum modulo W. Both are post-processing of the shuffled reports, so the sum's two laws, which
a Fourier transform of size W gives exactly up to rounding, bound delta(eps) from below:

    delta(eps) >= sum_w (P0(w) - e^eps P1(w))_+.

Two scores: "window" counts the reports near the victim's value, or beyond a distance from it (two
Poisson-binomial laws); "linear" is the optimal linear statistic A^+ v of `gspa.asymptotic`, rounded to an
eighth of its standard deviation.

>>> attack_epsilon([0.5, 100.0], count=[1, 9_999], victim=0, delta=1e-4).lower > 0.29
True
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa import _validate as check
from gspa.asymptotic import Setting, asymptotic_mu, cell_masses, setting, solve
from gspa.bound import Bound
from gspa.budgets import Budgets
from gspa.errors import InvalidValue

Array = NDArray[np.float64]

STATISTICS = ("linear", "window")
_UNIT = 2.0**-52
_PER_DEVIATION = 8  # score units per standard deviation of one report's score
_CLIP = 12.0  # standard deviations
_MOST_LAWS = 64
_REACH = 16.0  # period of the sum, in its standard deviations
_WIDTHS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 2.5, 4.0)


_MOST_EPS = 700.0  # e^eps beyond it is no double; a delta there is at most the one here


class Laws(NamedTuple):
    """Two laws on one finite set, one for each input of the victim, each with an L1 error of at most `noise`."""

    p0: Array
    p1: Array
    noise: float

    def delta(self, eps: float, *, side: int = -1) -> float:
        """delta(eps) of the pair, the larger direction; errs downward (side = -1) or upward (side = 1)."""
        if eps > _MOST_EPS and side < 0:
            return 0.0
        e = math.exp(min(eps, _MOST_EPS))
        best = max(float(np.maximum(a - e * b, 0).sum()) for a, b in ((self.p0, self.p1), (self.p1, self.p0)))
        return max(0.0, best + side * ((1 + e) * self.noise + 4 * _UNIT))

    def epsilon(self, delta: float, *, side: int = -1) -> float:
        """The eps at which delta(eps) crosses delta, errs as `delta`; 0 if there is none, or above 60 as inf or 60."""
        if self.delta(0.0, side=side) < delta:
            return 0.0
        low, high = 0.0, 1e-3
        while self.delta(high, side=side) >= delta:
            if high > 60:
                return math.inf if side > 0 else low
            low, high = high, 2 * high
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.delta(middle, side=side) >= delta else (low, middle)
        return low if side < 0 else high


def sum_laws(score: NDArray[np.int64], laws: Array, count: Array, victim: Array) -> Laws:
    """Laws of the sum of all scores, victim's included, modulo a period that it rarely exceeds.

    Args:
        score: shape (k,), what a report in each of k cells adds.
        laws: shape (g, k), law of one report of each group of the others, rows with sum 1.
        count: shape (g,), how many of the others each group has.
        victim: shape (2, k), law of the victim's report at either input.
    """
    moments = np.array([(law @ score, law @ score**2) for law in laws])
    deviation = math.sqrt(max(float(count @ (moments[:, 1] - moments[:, 0] ** 2)), 0.0))
    size = 2 ** math.ceil(math.log2(_REACH * deviation + 2 * float(np.ptp(score)) + 16))

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
    unit = _UNIT * (float(count.sum()) + 1) * (8 + 2 * math.log2(size))
    noise = unit * math.sqrt(2 * float((np.abs(crowd) ** 2).sum())) + _UNIT * 8 * math.sqrt(size)
    return Laws(np.maximum(sums[0], 0), np.maximum(sums[1], 0), noise)


def linear_score(v: Array, laws: Array, count: Array) -> NDArray[np.int64]:
    """The optimal linear statistic A^+ v in whole units, an eighth of the standard deviation of one report's score."""
    law = count @ laws / count.sum()
    # Any score will do; with many groups their common mean law is close enough to the best one.
    few = laws.shape[0] <= _MOST_LAWS
    number = count if few else np.array([count.sum()])
    score = np.clip(solve(v, laws if few else law[None, :], number)[1], -1e100, 1e100)  # where nobody else reports
    score = score - law @ score
    deviation = math.sqrt(float(law @ score**2))
    if deviation == 0:  # the victim's report says nothing
        return np.zeros(v.size, dtype=np.int64)
    units = np.clip(score / deviation, -_CLIP, _CLIP) * _PER_DEVIATION
    return np.asarray(np.rint(units), dtype=np.int64)


def _candidates(statistic: str, where: Setting, laws: Array, inputs: tuple[float, float]) -> list[NDArray[np.int64]]:
    """Integer scores to try, one per cell."""
    if statistic == "linear":
        return [linear_score(where.difference(inputs), laws, where.count)]
    middle = 0.5 * (where.edges[1:] + where.edges[:-1])
    scale = 1 / where.victim.kappa if where.victim.power == 1 else math.sqrt(0.5 / where.victim.kappa)
    near = [np.abs(middle - x) <= h * scale for x in inputs for h in _WIDTHS]
    beyond = [side * (middle - x) >= h * scale for x in inputs for h in _WIDTHS for side in (-1, 1)]
    return [window.astype(np.int64) for window in near + beyond]


def _attacks(
    scales: Budgets | ArrayLike,
    count: ArrayLike,
    mechanism: str,
    victim: int | None,
    inputs: tuple[float, float],
    others: ArrayLike | None,
    statistic: str,
    cells: int,
) -> tuple[list[Laws], str]:
    check.one_of(STATISTICS, statistic=statistic)
    inputs = check.two_inputs(inputs)
    where = setting(scales, count, mechanism, victim, cells)
    if others is None:
        limit = asymptotic_mu(scales, count=count, mechanism=mechanism, victim=victim, inputs=inputs, cells=cells)
        places = limit.others
    else:
        places = check.array_in(0, 1, others=others)
        places = np.full(where.scales.size, float(places)) if places.ndim == 0 else places
        if places.shape != where.scales.shape:
            raise InvalidValue("len(others)", places.size, f"len(scales) = {where.scales.size}")
    laws = where.laws(places[where.place])
    own = np.array([cell_masses(where.victim, x, where.edges) for x in inputs])
    scores = [score for score in _candidates(statistic, where, laws, inputs) if np.ptp(score)]
    found = [sum_laws(score, laws, where.count, own) for score in scores]
    shown = ", ".join(f"{x:g}" for x in np.unique(places[where.place]))
    if not found:  # no score tells two cells apart: the reports say nothing, and neither does the attack
        found = [Laws(np.ones(1), np.ones(1), 0.0)]
    return (
        found,
        f"{mechanism} reports on [0, 1]: the others' inputs {shown}, the victim's {inputs[0]:g} or {inputs[1]:g}",
    )


def attack_delta(
    scales: Budgets | ArrayLike,
    *,
    eps: float,
    count: ArrayLike = 1,
    mechanism: str = "laplace",
    victim: int | None = None,
    inputs: tuple[float, float] = (0.0, 1.0),
    others: ArrayLike | None = None,
    statistic: str = "linear",
    cells: int = 600,
) -> Bound:
    """A delta that the shuffled reports certainly have at eps: what an explicit attack achieves.

    `lower` errs downward (roundings are subtracted); `upper` is 1, because an attack says nothing from above.

    Args:
        scales: as `gspa.blanket.blanket_epsilon`, like count, mechanism, victim and inputs (None: least noise).
        eps: >= 0.
        others: inputs of the other users, one number or one per scale; None for `asymptotic_mu`'s worst ones.
        statistic: "linear" or "window".
        cells: about how many cells the reports are cut into.

    Raises:
        InvalidValue: an argument outside its range, or nobody else.
    """
    eps = check.nonnegative(eps=eps)
    found, valid_for = _attacks(scales, count, mechanism, victim, inputs, others, statistic, cells)
    value = max(law.delta(eps) for law in found)
    return Bound(value, value, 1.0, method=f"attack, {statistic} statistic", valid_for=valid_for, eps=eps)


def attack_epsilon(
    scales: Budgets | ArrayLike,
    *,
    delta: float,
    count: ArrayLike = 1,
    mechanism: str = "laplace",
    victim: int | None = None,
    inputs: tuple[float, float] = (0.0, 1.0),
    others: ArrayLike | None = None,
    statistic: str = "linear",
    cells: int = 600,
) -> Bound:
    """An eps below which the shuffled reports are certainly not (eps, delta)-DP; `upper` is infinite.

    Errs downward; arguments and errors as `attack_delta`, and delta in (0, 1).
    """
    delta = check.probability(allow_zero=False, delta=delta)
    found, valid_for = _attacks(scales, count, mechanism, victim, inputs, others, statistic, cells)
    value = max(law.epsilon(delta) for law in found)
    return Bound(value, value, math.inf, method=f"attack, {statistic} statistic", valid_for=valid_for, delta=delta)

"""delta of a composition from laws on one grid: a tilted Fourier transform, and its root in eps.

With K the sum of log E0[e^(theta loss)] over the rounds and p the law of the total loss s tilted by
theta, delta(eps) = e^(K - theta eps) sum_s p(s) (1 - e^(eps - s)) e^(-theta (s - eps)): with theta such
that p is centred at eps the noise of the transform is small relative to delta, however small that is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gspa._loss_grid import PrivacyLoss

Array = NDArray[np.float64]
Factors = list[tuple[PrivacyLoss, int]]

_OUTSIDE = math.log(1e-20)  # of the tilted law, outside the window
_MOST = 1 << 23  # points of a transform
_LARGEST = 300.0  # of an exponent
_NOISE = 1e-14  # of one transform, relative to the law's largest mass
_PER_ROUND = 4e-15  # and what each round's power adds


def log_moment(factors: Factors, theta: float) -> tuple[float, float, float]:
    """K(theta) and its first two derivatives, without the masses at infinity."""
    whole = mean = variance = 0.0
    for law, times in factors:
        exponent = theta * law.loss
        top = float(exponent.max())
        weight = law.mass * np.exp(exponent - top)
        total = float(weight.sum())
        first = float(weight @ law.loss) / total
        whole += times * (math.log(total) + top)
        mean += times * first
        variance += times * float(weight @ (law.loss - first) ** 2) / total
    return whole, mean, variance


def finite_share(factors: Factors) -> float:
    """log P(no round has an infinite loss)."""
    return sum(times * math.log1p(-law.infinite) if law.infinite < 1 else -math.inf for law, times in factors)


def tilt_for_delta(factors: Factors, log_target: float) -> float:
    """theta >= 0 at which the saddle-point approximation of delta is about the target."""

    def excess(theta: float) -> float:
        whole, mean, variance = log_moment(factors, theta)
        width = math.sqrt(max(variance, step * step))
        return whole - theta * mean - math.log1p(theta) - math.log(2.5 * theta * width + 1) - log_target

    _, _, variance = log_moment(factors, 0.0)
    step = factors[0][0].step
    high = 1 / max(math.sqrt(variance), step)  # a tilt that differs much from one grid point to the next is of no use
    if excess(1e-3 * high) < 0:
        return 0.0
    low = 0.0
    while excess(high) > 0 and high < 0.5 / step:
        low, high = high, 2 * high
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return low


def tilt_for_mean(factors: Factors, eps: float) -> float:
    """theta >= 0 at which the tilted mean is about eps."""
    _, mean, variance = log_moment(factors, 0.0)
    if mean >= eps:
        return 0.0
    step = factors[0][0].step
    high, low = 1 / max(math.sqrt(variance), step), 0.0
    while log_moment(factors, high)[1] < eps and high < 0.5 / step:
        low, high = high, 2 * high
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (middle, high) if log_moment(factors, middle)[1] < eps else (low, middle)
    return low


@dataclass(frozen=True, eq=False)
class Tail:
    """The tilted law of the total loss in a window, ready for many eps.

    Attributes:
        step: of the grid.
        lowest: first loss that is kept.
        weight: p(s) e^(-theta (s - centre)), shape (N,).
        log_scale: log of the factor e^(K - theta centre).
        theta: the tilt.
        centre: about the tilted mean.
        noise: absolute allowance on each p(s), rounding.
        outside: bound on the tilted mass outside the window (Chernoff).
        rounds: how many.
    """

    step: float
    lowest: float
    weight: Array
    log_scale: float
    theta: float
    centre: float
    noise: float
    outside: float
    rounds: int

    @property
    def bottom(self) -> float:
        """The least eps that can be asked."""
        return self.lowest + self.step

    @property
    def slip(self) -> float:
        """Allowance on the total loss: where each round's losses are on the grid, 1e-9 of a step."""
        return 1e-9 * self.step * self.rounds

    def _ahead(self, eps: float) -> tuple[Array, Array]:
        """Losses above eps less eps, and their weights."""
        first = max(0, math.floor((eps - self.lowest) / self.step) + 1)
        ahead = np.asarray(self.lowest + self.step * np.arange(first, self.weight.size) - eps, dtype=np.float64)
        keep = ahead > 0
        return ahead[keep], self.weight[first:][keep]

    def log_delta(self, eps: float) -> tuple[float, float]:
        """log delta(eps) and its derivative."""
        ahead, weight = self._ahead(eps)
        shrunk = np.exp(-ahead)
        total = float(weight @ -np.expm1(-ahead))
        if total <= 0:
            return -math.inf, 0.0
        return math.log(total) + self.log_scale, -float(weight @ shrunk) / total

    def delta(self, eps: float) -> tuple[float, float, float]:
        """(lower, value, upper) of the finite part of delta(eps) of these grid laws."""
        ahead, weight = self._ahead(eps)
        value = float(weight @ -np.expm1(-ahead))
        # sum over s > eps of min(1, s - eps) e^(-theta (s - eps)), at most its integral and one term
        reach = min(1 / self.theta if self.theta > 0 else math.inf, ahead.size * self.step)
        spread_out = self.noise * min(1.0, reach) * (reach / self.step + 1)
        error = (spread_out + self.outside) * math.exp(min(self.theta * (self.centre - eps), _LARGEST))
        relative = 1e-9 + 2e-11 * self.rounds
        scale = math.exp(min(self.log_scale, 700.0))
        low = max(0.0, (value - error) * scale * (1 - relative))
        return low, value * scale, (value + error) * scale * (1 + relative)


def tail(factors: Factors, theta: float) -> Tail:
    """The tilted law of the sum of all rounds' losses, by one real Fourier transform."""
    step = factors[0][0].step
    whole, mean, variance = log_moment(factors, theta)
    low, high, outside = _window(factors, theta, whole, mean, max(math.sqrt(variance), step), step)
    length = 1 << max(6, math.ceil(math.log2((high - low) / step + 2)))
    spectrum = np.ones(length // 2 + 1, dtype=np.complex128)
    for law, times in factors:
        exponent = theta * law.loss
        weight = law.mass * np.exp(exponent - exponent.max())
        folded = np.bincount(np.arange(law.first, law.first + weight.size) % length, weight / weight.sum(), length)
        spectrum *= np.fft.rfft(folded) ** times
    law_of_sum = np.fft.irfft(spectrum, length)
    rounds = sum(times for _, times in factors)
    peak = 2 * float(np.abs(spectrum).sum()) / length
    noise = peak * (_NOISE + _PER_ROUND * rounds)
    first = math.floor(low / step)
    index = np.arange(first, first + length)
    mass = np.maximum(law_of_sum[index % length], 0.0)
    # Far below the centre the factor would overflow; whoever asks there needs a smaller tilt.
    usable = index * step > mean - _LARGEST / theta if theta > 0 else np.ones(length, dtype=np.bool_)
    index, mass = index[usable], mass[usable]
    weight = mass * np.exp(-theta * (index * step - mean))
    return Tail(step, float(index[0]) * step, weight, whole - theta * mean, theta, mean, noise, outside, rounds)


def _window(
    factors: Factors, theta: float, whole: float, mean: float, width: float, step: float
) -> tuple[float, float, float]:
    """An interval that holds all but `outside` of the tilted law: Chernoff on each side."""
    ends, outside = [], 0.0
    for sign in (-1, 1):
        reach = 9.6
        while True:
            distance = reach * width + step
            bound = min(
                log_moment(factors, theta + push)[0] - whole - push * (mean + sign * distance)
                for push in (sign * part * reach / width for part in (1.0, 0.5, 0.2, 0.05))
            )
            if bound < _OUTSIDE or 2 * distance / step > _MOST:
                break
            reach *= 1.15
        ends.append(mean + sign * distance)
        outside += math.exp(min(bound, 0.0))
    return ends[0], ends[1], outside

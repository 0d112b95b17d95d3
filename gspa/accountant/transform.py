"""The sum of many rounds' losses on one grid, by a tilted Fourier transform: delta and eps with both ends proved.

With K the sum of log E0[e^(theta loss)] over the rounds and p the law of the total loss s tilted by
theta, delta(eps) = e^(K - theta eps) sum_s p(s) (1 - e^(eps - s)) e^(-theta (s - eps)): with theta such
that p is centred at eps the noise of the transform is small relative to delta, however small that is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gspa.accountant.arguments import Array
from gspa.accountant.losses import PrivacyLoss
from gspa.accountant.pair import Interval
from gspa.accountant.roots import crossing, push_until

Factors = list[tuple[PrivacyLoss, int]]

_OUTSIDE = math.log(1e-20)  # of the tilted law, outside the window
_MOST = 1 << 23  # points of a transform
_LARGEST = 300.0  # of an exponent
_LONG, _SHORT = 250.0, 1 << 18  # standard deviations, and points: for a longer window, half of the tilt is tried
_HEAVY = 40.0  # standard deviations of a window
_NOISE = 1e-14  # of one transform, relative to the law's largest mass
_PER_ROUND = 4e-15  # and what each round's power adds
_LEAST = 5e-324  # two of which a product of doubles may be off by
_FARTHEST = 1e15  # beyond it eps is as good as infinite
_BLOCK = 1024  # losses whose weights are added up together


def log_moment(factors: Factors, theta: float) -> tuple[float, float, float]:
    """K(theta) and its first two derivatives, without the masses at infinity."""
    whole = mean = variance = 0.0
    for law, times in factors:
        _, loss, mass = law.held
        exponent = theta * loss
        top = float(exponent.max())
        weight = mass * np.exp(exponent - top)
        total = float(weight.sum())
        first = float(weight @ loss) / total
        whole += times * (math.log(total) + top)
        mean += times * first
        variance += times * float(weight @ (loss - first) ** 2) / total
    return whole, mean, variance


def tilt_for_delta(factors: Factors, log_target: float) -> float:
    """theta >= 0 at which the saddle-point approximation of delta is about the target."""
    step, (_, _, untilted) = factors[0][0].step, log_moment(factors, 0.0)

    def excess(theta: float) -> float:
        whole, mean, variance = log_moment(factors, theta)
        width = math.sqrt(max(variance, step * step))
        return whole - theta * mean - math.log1p(theta) - math.log(2.5 * theta * width + 1) - log_target

    high = 1 / max(math.sqrt(untilted), step)  # a tilt that differs much from one grid point to the next is of no use
    if excess(1e-3 * high) < 0:
        return 0.0
    return crossing(excess, 0.0, high, side=-1, most=0.5 / step, rtol=1e-3)


def tilt_for_mean(factors: Factors, eps: float) -> float:
    """theta >= 0 at which the tilted mean is about eps."""
    step, (_, _, variance) = factors[0][0].step, log_moment(factors, 0.0)
    high = 1 / max(math.sqrt(variance), step)
    return crossing(
        lambda theta: eps - log_moment(factors, theta)[1], 0.0, high, side=-1, most=0.5 / step, xtol=1e-4 * high
    )


@dataclass(frozen=True, eq=False)
class Tail:
    """The tilted law of the total loss in a window, ready for many eps."""

    step: float
    lowest: float  # loss that is kept
    weight: Array  # p(s) e^(-theta (s - centre)), shape (N,)
    log_scale: float  # K - theta centre
    theta: float
    centre: float  # about the tilted mean
    noise: float  # absolute allowance on each p(s), rounding
    outside: float  # bound on the tilted mass outside the window (Chernoff)
    rounds: int

    @property
    def bottom(self) -> float:
        """The least eps that can be asked."""
        return self.lowest + self.step

    @cached_property
    def _blocks(self) -> tuple[Array, Array]:
        """Sums of weight (1 - e^(b - s)) and of weight e^(b - s) over s >= b, for the first loss b of each block."""
        many = self.weight.size // _BLOCK + 1
        table, apart = np.zeros((many, _BLOCK)), self.step * np.arange(_BLOCK)
        table.flat[: self.weight.size] = self.weight
        short, rest = table @ -np.expm1(-apart), table @ np.exp(-apart)
        fall, keep = -math.expm1(-self.step * _BLOCK), math.exp(-self.step * _BLOCK)
        for i in range(many - 2, -1, -1):
            short[i] += short[i + 1] + fall * rest[i + 1]
            rest[i] += keep * rest[i + 1]
        return short, rest

    def _sum(self, eps: float) -> tuple[float, int]:
        """The sum of weight (1 - e^(eps - s)) over losses s > eps, and their number."""
        first = min(max(0, math.floor((eps - self.lowest) / self.step) + 1), self.weight.size)
        block = first // _BLOCK + 1
        weight = self.weight[first : block * _BLOCK]
        apart = np.maximum(self.lowest + self.step * np.arange(first, first + weight.size) - eps, 0.0)
        short = float(weight @ -np.expm1(-apart))
        if block * _BLOCK < self.weight.size:
            to_block = self.lowest + self.step * (block * _BLOCK) - eps
            later_short, later_rest = (float(sums[block]) for sums in self._blocks)
            short += later_short - math.expm1(-to_block) * later_rest
        return short, self.weight.size - first

    def end(self, eps: float, above: bool) -> float:
        """Not below the finite part of delta(eps), or not above it, wherever the losses are on the grid."""
        if eps < self.bottom:  # nearly every loss is larger
            return 1.0 if above else self.end(self.bottom, above)
        slip = 1e-9 * self.step * self.rounds  # on the total loss: where each round's losses are on the grid
        eps = eps - slip if above else eps + slip
        value, many = self._sum(eps)
        # sum over s > eps of min(1, s - eps) e^(-theta (s - eps)), at most its integral and one term
        reach = min(1 / self.theta if self.theta > 0 else math.inf, many * self.step)
        spread_out = self.noise * min(1.0, reach) * (reach / self.step + 1)
        error = (spread_out + self.outside) * math.exp(min(self.theta * (self.centre - eps), _LARGEST))
        relative = 1e-9 + 2e-11 * self.rounds
        scale = math.exp(min(self.log_scale, 700.0))
        if above:
            return (value + error) * scale * (1 + relative) + 2 * _LEAST
        return max((value - error) * scale * (1 - relative) - 2 * _LEAST, 0.0)


def tail(factors: Factors, theta: float) -> Tail:
    """The law of the sum of all rounds' losses, by one real Fourier transform, tilted by theta or less."""
    step, (_, _, untilted) = factors[0][0].step, log_moment(factors, 0.0)
    for tilt in (theta, theta / 2, theta / 4, theta / 8):
        whole, mean, variance = log_moment(factors, tilt)
        low, high, outside = _window(factors, tilt, whole, mean, max(math.sqrt(variance), step), step)
        if high - low <= max(_LONG * math.sqrt(untilted), _SHORT * step):  # else rare losses are the rule
            break
    theta = tilt
    length = 1 << max(6, math.ceil(math.log2((high - low) / step + 2)))
    spectrum = np.ones(length // 2 + 1, dtype=np.complex128)
    for law, times in factors:
        place, loss, weight = law.held
        exponent = theta * loss
        weight = weight * np.exp(exponent - exponent.max())
        folded = np.bincount((law.first + place) % length, weight / weight.sum(), length)
        spectrum *= _power(np.fft.rfft(folded), times)
    law_of_sum = np.fft.irfft(spectrum, length)
    rounds = sum(times for _, times in factors)
    peak = 2 * float(np.abs(spectrum).sum()) / length
    noise = peak * (_NOISE + _PER_ROUND * rounds)
    first = math.floor(low / step)
    index = np.arange(first, first + length)
    mass = np.maximum(np.roll(law_of_sum, -first), 0.0)
    # Far below the centre the factor would overflow; whoever asks there needs a smaller tilt.
    usable = index * step > mean - _LARGEST / theta if theta > 0 else np.ones(length, dtype=np.bool_)
    index, mass = index[usable], mass[usable]
    weight = mass * np.exp(-theta * (index * step - mean))
    return Tail(step, float(index[0]) * step, weight, whole - theta * mean, theta, mean, noise, outside, rounds)


def _power(values: NDArray[np.complex128], times: int) -> NDArray[np.complex128]:
    """values^times by squaring: many times faster than NumPy's power, and no less precise."""
    found = values if times % 2 else np.ones_like(values)
    while times := times // 2:
        values = values * values
        if times % 2:
            found = found * values
    return found


def _window(
    factors: Factors, theta: float, whole: float, mean: float, width: float, step: float
) -> tuple[float, float, float]:
    """An interval that holds all but `outside` of the tilted law: Chernoff on each side."""
    ends, outside = [], 0.0
    for sign in (-1, 1):
        reach = 9.6
        while True:
            distance = reach * width + step
            pushes = [part * reach / width for part in (1.0, 0.5, 0.2, 0.05)]
            if reach > _HEAVY:  # a rare large loss: only a small push does not make it the rule
                pushes += [exponent / distance for exponent in (50.0, 60.0, 80.0, 120.0)]
            bound = min(
                log_moment(factors, theta + sign * push)[0] - whole - sign * push * (mean + sign * distance)
                for push in pushes
            )
            if bound < _OUTSIDE or 2 * distance / step > _MOST:
                break
            reach *= 1.15 if reach <= _HEAVY else 1.3
        ends.append(mean + sign * distance)
        outside += math.exp(min(bound, 0.0))
    return ends[0], ends[1], outside


class Sides(NamedTuple):
    """The rounds on one grid, for one choice of the victim: laws of the losses above everybody's, and below."""

    upper: Factors
    lower: Factors

    def interval(self, end: Callable[[Factors, float, bool], float]) -> Interval:
        """From each end by its rounds, the probability that some loss of them is infinite, and whether it is above."""
        ends = []
        for rounds, above in ((self.upper, True), (self.lower, False)):
            finite = sum(times * math.log1p(-law.infinite) if law.infinite < 1 else -math.inf for law, times in rounds)
            ends.append(end(rounds, -math.expm1(finite), above))
        upper, lower = ends
        return Interval(min(lower, upper), 0.5 * lower + 0.5 * upper, upper)


def epsilon_of(sides: Sides, delta: float) -> Interval:
    def end(factors: Factors, infinite: float, above: bool) -> float:
        """An eps at which the upper bound on delta is at most the one asked, or the lower one at least."""
        if infinite >= delta:
            return math.inf if above else 0.0
        target = delta - infinite
        slack = 1e-13 * (1 + delta / target)
        target *= 1 - slack if above else 1 + slack
        for theta in (tilt_for_delta(factors, math.log(target)), 0.0):
            law = tail(factors, theta)

            def spare(eps: float, law: Tail = law) -> float:
                return math.log(max(law.end(eps, above), _LEAST)) - math.log(target)

            # From the tilted mean, because far below it the allowances are larger than delta.
            about = min(max(law.centre, law.step), law.lowest + law.step * law.weight.size)
            near = push_until(lambda eps, spare=spare: spare(eps) >= 0, about, -law.step, 0.0)  # type: ignore[misc]
            found = crossing(spare, near, near + law.step, side=1 if above else -1, most=_FARTHEST, rtol=1e-13)
            if found > law.bottom:
                break
        return found

    return sides.interval(end)


def delta_of(sides: Sides, eps: float) -> Interval:
    def end(factors: Factors, infinite: float, above: bool) -> float:
        if infinite >= 1:
            return 1.0
        return min(infinite + tail(factors, tilt_for_mean(factors, eps)).end(eps, above), 1.0)

    return sides.interval(end)

"""Of notebook 14: learners, the uniformity testers and what they detect, the coupling, fits, and the figures.

A tester adds up ((N_y - n q_y)^2 - N_y)/(n q_y), N the histogram of the Hadamard responses and q its law under the
uniform distribution, and says "uniform" below the 2/3 quantile of what it sees under uniformity.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import gammaln, ndtri
from scipy.stats import binom
from scipy.stats import t as student

from gspa.algorithms.testing import HadamardResponse
from gspa.book.figures import DASHES, PALETTE, ROLES, keeps_data, name_rows, role

Array = NDArray[np.float64]
Rng = np.random.Generator

TARGET = 2 / 3  # probability of the right answer, on either side
PARTS, TIMES = 4, 6  # of the outputs, and how often a part's counts are drawn for one law
WRITTEN = {"k": "k", "alpha": r"\alpha", "eps": r"\epsilon", "growth": r"(e^\epsilon - 1)", "ratio": r"(e^\epsilon)"}


def project(v: Array) -> Array:
    """The nearest point of the probability simplex in Euclidean distance, along the last axis."""
    ordered = -np.sort(-v, axis=-1)
    shift = (np.cumsum(ordered, axis=-1) - 1) / np.arange(1, v.shape[-1] + 1)
    last = (ordered > shift).sum(axis=-1, keepdims=True) - 1
    return np.asarray(np.maximum(v - np.take_along_axis(shift, last, axis=-1), 0.0))


def distance(estimates: Array) -> Array:
    """Total variation between the uniform distribution, the hardest one, and the law nearest to each estimate."""
    return np.asarray(0.5 * np.abs(project(estimates) - 1 / estimates.shape[-1]).sum(axis=-1))


class Tester(NamedTuple):
    """What the users run, and the law of an item's bucket under uniformity; every item has its own without a seed."""

    k: int
    response: HadamardResponse
    uniform: Array

    @classmethod
    def of(cls, k: int, *, eps_local: float, coin: str) -> Tester:
        """For k items, k even; a public coin hashes them into about e^eps_local buckets."""
        buckets = k
        if coin == "public":
            buckets = min(k, 2 ** max(1, round(min(eps_local / math.log(2), 60.0))))
        return cls(k, HadamardResponse.of(buckets, eps=eps_local), np.bincount(np.arange(k) % buckets) / k)

    @property
    def times(self) -> int:
        """How often each part's counts are drawn for one law; those of one output are known."""
        return TIMES if self.response.outputs > PARTS else 1

    def alternatives(self, alpha: float, size: int, rng: Rng) -> Array:
        """Laws of a bucket under distributions at distance alpha, items dealt at random; shape (size, buckets)."""
        sizes = np.rint(self.uniform * self.k).astype(np.int64)
        if sizes.max() == 1:
            up = rng.permuted(np.tile(np.arange(self.k) % 2, (size, 1)), axis=1)
        else:
            up = rng.multivariate_hypergeometric(sizes, self.k // 2, size=size, method="marginals")
        return np.asarray((sizes + 2 * alpha * (2 * up - sizes)) / self.k)

    def statistics(self, n: int, laws: Array, rng: Rng) -> Array:
        """The statistic of n users for each law of a bucket; shape (`times` to the power `PARTS`, laws)."""
        null, reports = n * self.response.law(self.uniform), self.response.law(laws)
        parts = np.split(reports, PARTS, axis=1)
        counts = rng.multinomial(n, np.stack([part.sum(axis=1) for part in parts], axis=1))
        found = np.zeros((1, len(laws)))
        # Given their totals the parts are independent: each is drawn `times` times, and put together in every way.
        for part, count, expected in zip(parts, counts.T, np.split(null, PARTS), strict=True):
            given = rng.multinomial(count, part / part.sum(axis=1, keepdims=True), size=(self.times, len(laws)))
            found = (found[:, None] + (((given - expected) ** 2 - given) / expected).sum(axis=-1)).reshape(
                -1, len(laws)
            )
        return found

    def mean(self, n: int, alpha: float) -> float:
        """The expectation of the statistic of n users under `alternatives` at distance alpha."""
        null, response = self.response.law(self.uniform), self.response
        fit = self.k * (null - response.low) / response.gain  # items that fit an output
        spread = fit * (self.k - fit) / (self.k - 1)  # the variance of the sum of their signs
        return (n - 1) * (2 * alpha * response.gain / self.k) ** 2 * float((spread / null).sum()) - 1

    def power(self, n: int, alpha: float, threshold: float, size: int, rng: Rng) -> float:
        """P(statistic > threshold) under the alternative; the known mean of the statistic serves as control variate."""
        found = self.statistics(n, self.alternatives(alpha, size, rng), rng)
        above = found > threshold
        slope = float(np.mean((above - above.mean()) * (found - found.mean()))) / max(float(found.var()), 1e-300)
        adjusted = float(above.mean()) - slope * (float(found.mean()) - self.mean(n, alpha))
        return min(max(adjusted, 0.0), 1.0)


def detectable(k: int, *, eps_local: float, n: int, start: float, coin: str, rng: Rng, counts: int) -> float:
    """The distance at which n users are right with probability 2/3 on either side, from `counts` draws a probability.

    Two rough steps from the guess `start`, then a power law through two accurate points about 15% below and above.
    """
    tester = Tester.of(k, eps_local=eps_local, coin=coin)
    size, alpha = math.ceil(counts / (tester.times * tester.response.outputs)), min(start, 0.43)
    null, goal = tester.statistics(n, np.tile(tester.uniform, (size, 1)), rng), 2 * float(ndtri(TARGET))
    # The quantile under uniformity, moved by what the sample's mean is off its known value.
    threshold = float(np.quantile(null, TARGET) - null.mean()) + tester.mean(n, 0.0)

    def separation(alpha: float, size: int) -> float:
        least = 0.5 / (tester.times * size)
        found = tester.power(n, alpha, threshold, size, rng)
        return float(ndtri(TARGET) + ndtri(np.clip(found, least, 1 - least)))

    for _ in range(2):
        ratio = goal / max(separation(alpha, math.ceil(size / 6)), goal / 4)
        alpha = min(alpha * ratio**0.6, 0.43)
    low, high = separation(alpha / 1.15, size), separation(alpha * 1.15, size)
    slope = float(np.clip((high - low) / goal / (2 * math.log(1.15)), 0.7, 3.0))
    return alpha * math.exp((goal - (low + high) / 2) / goal / slope)


def coupled(n: int, k: int, alpha: float) -> float:
    """Mean number of samples in which data sets of n, uniform and at distance alpha, differ; pairs are coupled."""
    spread = math.sqrt(2 * n / k)
    sizes = np.arange(max(0, math.floor(2 * n / k - 9 * spread - 20)), math.ceil(2 * n / k + 9 * spread + 20) + 1)
    sizes = sizes[sizes <= n]
    masses, total = binom.pmf(sizes, n, 2 / k), 0.0
    # Few sizes stand for many: dropping a sample moves nothing further apart, so the last of a block is its worst.
    for block in np.array_split(np.arange(sizes.size), min(sizes.size, 60)):
        m = int(sizes[block[-1]])
        x = np.arange(m + 1)
        logs = gammaln(x + 1)  # of x!
        ways = logs[m] - logs - logs[::-1]
        fair, more = (np.exp(ways + x * math.log(p) + x[::-1] * math.log1p(-p)) for p in (0.5, 0.5 + alpha))
        total += float(masses[block].sum()) * float(np.abs((fair - (more + more[::-1]) / 2).cumsum()).sum())
    return k / 2 * total


def coupling_users(k: int, alpha: float, eps: float) -> float:
    """Users below which no eps-DP tester is right with probability 2/3 on either side, up to five percent."""
    least, high = (2 * TARGET - 1) / math.tanh(eps / 2), 0
    while coupled(math.ceil(2 * 1.05**high), k, alpha) < least:
        high += 16
    steps = range(max(high - 15, 0), high)
    first = bisect_left(steps, True, key=lambda i: coupled(math.ceil(2 * 1.05**i), k, alpha) >= least)
    return float(2.0 * 1.05 ** (max(high - 15, 0) + first) / 1.05)


def laplace_test_users(k: int, alpha: float, eps: float, *, start: float, trials: int, rng: Rng) -> float:
    """Users at which half the l1 distance of the counts from n/k, with Laplace noise, is right with 2/3; simulated."""
    n = start
    while True:
        size, found = math.ceil(n), []
        for apart in (0.0, alpha):
            off = [0.5 * np.abs(paninski(size, k, apart, rng) - size / k).sum() for _ in range(trials)]
            found.append(np.array(off) + rng.laplace(scale=1 / eps, size=trials))
        if (found[1] > np.quantile(found[0], TARGET)).mean() >= TARGET:
            return n
        n *= 1.25  # in steps of a quarter


def paninski(n: int, k: int, alpha: float, rng: Rng) -> NDArray[np.int64]:
    """Counts of n samples, where half of the k items have (1 + 2 alpha)/k and half (1 - 2 alpha)/k; k even."""
    if n > 4 * k:
        return rng.multinomial(n, np.repeat([1 + 2 * alpha, 1 - 2 * alpha], k // 2) / k)
    likely = rng.binomial(n, 0.5 + alpha)  # a sample at a time, where they are few
    return np.bincount(np.r_[rng.integers(k // 2, size=likely), rng.integers(k // 2, k, size=n - likely)], minlength=k)


def around(
    middle: tuple[int, float, float], of_k: Sequence[float], of_alpha: Sequence[float], of_budget: Sequence[float]
) -> list[tuple[int, float, float]]:
    """Points (k, alpha, budget): the middle, and those at which one of the three is moved off it by a factor."""
    k, alpha, budget = middle
    moved = [(round(k * factor), alpha, budget) for factor in of_k]
    moved += [(k, alpha * factor, budget) for factor in of_alpha]
    return [middle, *moved, *((k, alpha, budget * factor) for factor in of_budget)]


def fitted(runs: pd.DataFrame, experiment: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Exponents of n by least squares of logarithms, beside the stated ones, which come first in each regime.

    The 95% intervals are Student's, from the residuals: they cover the Monte-Carlo error of the points and how far they
    are from a power law over the range of the table, and nothing outside that range.
    """
    rows = []
    for name, part in runs.groupby("regime", sort=False):
        powers = experiment[str(name)][0]
        y = np.log(part["n"].to_numpy(float))
        x = np.column_stack([np.ones(y.size), np.log(part[[*powers]].to_numpy(float))])
        found, *_ = np.linalg.lstsq(x, y, rcond=None)
        spare = y.size - x.shape[1]
        residual = float(((y - x @ found) ** 2).sum()) / spare
        reach = student.ppf(0.975, spare) * np.sqrt(residual * np.diag(np.linalg.inv(x.T @ x)))
        for (factor, power), middle, half in zip(powers.items(), found[1:], reach[1:], strict=True):
            written = f"{name}: ${WRITTEN[factor]}^{{{Fraction(power).limit_denominator(12)}}}$"
            rows.append((name, written, power, middle, middle - half, middle + half))
    return pd.DataFrame(rows, columns=["regime", "power", "stated", "exponent", "low", "high"])


def held(fits: pd.DataFrame, tolerance: float) -> tuple[bool | None, int]:
    """Whether all intervals lie within the tolerance, None where that is open; how many miss the stated exponent."""
    low, high = fits["low"] - fits["stated"], fits["high"] - fits["stated"]
    beyond, inside = (low > tolerance) | (high < -tolerance), (low >= -tolerance) & (high <= tolerance)
    return False if beyond.any() else True if inside.all() else None, int(((low > 0) | (high < 0)).sum())


@keeps_data
def lines(table: pd.DataFrame, *, y: str, by: str, label: str, error: str = "", level: str = "") -> Figure:
    """A line a `by` against n, logarithmic, with bars of two `error`; with a `level` of 1 it starts at 0."""
    figure, axis = plt.subplots(figsize=(4.8, 3.4), layout="constrained")
    for index, (name, line) in enumerate(table.groupby(by, sort=False)):
        style: dict[str, Any] = {"color": PALETTE[index], "dashes": DASHES[index] or (None, None), "lw": 2}
        axis.plot(line["n"], line[y], label=str(name), marker="os^D"[index], ms=6, **style)
        if error:
            axis.errorbar(line["n"], line[y], yerr=2 * line[error], fmt="none", ecolor=PALETTE[index], lw=2)
    axis.set(xscale="log", xlabel="number of users $n$, logarithmic", ylabel=label)
    if level:
        axis.axhline(1, label=level, **role("reference"))
        axis.set_ylim(bottom=0)
    else:
        axis.set_yscale("log")
    axis.legend()
    return figure


@keeps_data
def exponent_dots(fits: pd.DataFrame, *, tolerance: float) -> Figure:
    """Fitted less stated exponents with their intervals, a row each; the band is the tolerance."""
    figure, axis = plt.subplots(figsize=(4.8, 0.9 + 0.4 * len(fits)), layout="constrained")
    axis.axvspan(-tolerance, tolerance, color="0.92", zorder=0)
    axis.axvline(0, **role("reference"))
    middle, rows = fits["exponent"] - fits["stated"], range(len(fits))
    reach = [fits["exponent"] - fits["low"], fits["high"] - fits["exponent"]]
    axis.errorbar(middle, rows, xerr=reach, fmt="o", color=ROLES["attack"][0], ms=6, lw=2)
    name_rows(axis, fits["power"])
    widest = max(1.5 * tolerance, float((middle.abs() + reach[0]).max()) * 1.05)
    axis.set(xlabel="fitted exponent less the stated one", xlim=(-widest, widest), ylim=(len(fits) - 0.6, -0.9))
    return figure

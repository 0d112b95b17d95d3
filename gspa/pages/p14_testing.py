"""Page 14, second part: testing uniformity over k items from private reports, with and without a common seed.

A tester adds up (N_y - n q_y)^2 - N_y over n q_y, N the histogram of the Hadamard responses and q its law under the
uniform distribution, and says "uniform" below the 2/3 quantile of what it sees under uniformity. With a public coin
the items are first hashed at random into about e^{eps_L} buckets of equal size. The alternative is the hardest one at
distance alpha (Paninski 2008): half of the items at (1 + 2 alpha)/k, half at (1 - 2 alpha)/k.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import ndtri

from gspa.algorithms.testing import HadamardResponse
from gspa.book.claims import Outcome, settles
from gspa.book.figures import DASHES, PALETTE, ROLES, keeps_data, name_line, role
from gspa.pages import p14_learning as learning
from gspa.pages.p14_learning import Regime, around

Array = NDArray[np.float64]
Rng = np.random.Generator

COINS = ("private", "public")
TARGET = 2 / 3
"""Probability of the right answer, on either side."""

# One quantity at a time moves off the middle of an experiment.
_MOVES = ((0.25, 0.5, 2.0), (0.5, 2.0), (0.25, 0.5, 2.0))
LOCAL = {
    "private, small $\\epsilon$": Regime(
        {"k": 1.5, "alpha": -2.0, "growth": -2.0}, around(128, 0.15, 0.02, *_MOVES), start=1.8
    ),
    "private, large $\\epsilon$": Regime(
        {"k": 1.5, "alpha": -2.0, "ratio": -1.0},
        around(1024, 0.15, 32.0, (0.25, 0.5, 2.0), (0.25, 0.5, 2.0), (0.5, 2.0, 4.0)),
        start=1.7,
    ),
    "public, small $\\epsilon$": Regime(
        {"k": 1.0, "alpha": -2.0, "growth": -2.0}, around(256, 0.15, 0.02, *_MOVES), start=11.0
    ),
    "public, large $\\epsilon$": Regime(
        {"k": 1.0, "alpha": -2.0, "ratio": -0.5}, around(16384, 0.1, 256.0, *_MOVES), start=2.1
    ),
}
"""Eqs. (7) and (6); the budget is e^eps - 1 where a power of it is stated, else e^eps."""
# Moves that keep e^{eps_L}/k, but for the last four, which halve and double it: otherwise the sampling term, or the
# smallness of eps_L, would bend the lines.
_JOINT = (
    *((1.0, size, size) for size in (1.0, 0.5, 0.25)),
    *((size, size**-0.125, size**0.125) for size in (0.25, 0.5, 2.0)),
    *((k, k**-0.125 * size**-0.5, k**0.125 * size**0.5) for k in (1.0, 0.5) for size in (0.5, 2.0)),
)
_PRIVATE = {"k": 0.75, "alpha": -1.0, "eps": -1.0}
SHUFFLED = {
    "private, large $\\epsilon_L$": Regime(
        _PRIVATE, [(round(1024 * k), 0.07 * alpha, 0.175 * eps) for k, alpha, eps in _JOINT], start=18.0
    ),
    "private, small $\\epsilon_L$": Regime(_PRIVATE, around(64, 0.2, 0.0005, *_MOVES), start=10.0),
    "public, large $\\epsilon_L$": Regime(
        {"k": 2 / 3, "alpha": -4 / 3, "eps": -2 / 3}, around(16384, 0.1, 0.2, *_MOVES), start=9.0
    ),
    "public, small $\\epsilon_L$": Regime(
        {"k": 0.5, "alpha": -1.0, "eps": -1.0},
        around(64, 0.2, 0.0005, (0.5, 2.0, 4.0), (0.25, 0.5), (0.25, 0.5, 2.0)),
        start=23.0,
    ),
}
"""The blog's results in the shuffle model, by the term that is largest; the budget is the central eps."""

_PARTS, _TIMES = 4, 6  # of the outputs, and how often a part's counts are drawn for one law
_QUICK, _PAPER, _FINE = 15_000, 250_000, 500_000  # counts drawn for one estimate of a probability, about
# So that few counts leave an exponent open.
_COSTLY = ("private, large $\\epsilon$", "public, large $\\epsilon$", "private, large $\\epsilon_L$")


# --- tables ------------------------------------------------------------------------------------------------


def statistic(counts: NDArray[np.int64], expected: Array) -> Array:
    """The testers' statistic of histograms along the last axis; a sum over outputs."""
    apart = counts - expected
    apart *= apart
    apart -= counts
    apart /= expected
    return np.asarray(apart.sum(axis=-1))


class UniformityTester(NamedTuple):
    """What the users run, and the law of an item's bucket under uniformity; all k items if the coin is private."""

    k: int
    response: HadamardResponse
    uniform: Array

    @classmethod
    def of(cls, k: int, *, eps_local: float, coin: str) -> UniformityTester:
        """The tester for k items, k even; `coin` is one of `COINS`."""
        buckets = k
        if coin == "public":
            buckets = min(k, 2 ** max(1, round(min(eps_local / math.log(2), 60.0))))
        sizes = np.bincount(np.arange(k) % buckets)
        return cls(k, HadamardResponse.of(buckets, eps=eps_local), sizes / k)

    @property
    def times(self) -> int:
        """How often each part's counts are drawn for one law; those of one output are known."""
        return _TIMES if self.response.outputs > _PARTS else 1

    def alternatives(self, alpha: float, size: int, rng: Rng) -> Array:
        """Laws of a bucket under distributions at distance alpha, items dealt at random; shape (size, m)."""
        sizes = np.rint(self.uniform * self.k).astype(np.int64)
        if sizes.max() == 1:
            up = rng.permuted(np.tile(np.arange(self.k) % 2, (size, 1)), axis=1)
        else:
            up = rng.multivariate_hypergeometric(sizes, self.k // 2, size=size, method="marginals")
        return np.asarray((sizes + 2 * alpha * (2 * up - sizes)) / self.k)

    def statistics(self, n: int, laws: Array, rng: Rng) -> Array:
        """The statistic of n users for each law of a bucket; shape (`times` to the power `_PARTS`, laws).

        Given how many reports fall on each part of the outputs, the parts are independent:
        each is drawn `times` times, and they are put together in every way.
        """
        null, reports = n * self.response.law(self.uniform), self.response.law(laws)
        parts = np.split(reports, _PARTS, axis=1)
        counts = rng.multinomial(n, np.stack([part.sum(axis=1) for part in parts], axis=1))
        found = np.zeros((1, len(laws)))
        for part, count, expected in zip(parts, counts.T, np.split(null, _PARTS), strict=True):
            given = rng.multinomial(count, part / part.sum(axis=1, keepdims=True), size=(self.times, len(laws)))
            found = (found[:, None] + statistic(given, expected)).reshape(-1, len(laws))
        return found

    def mean(self, n: int, alpha: float) -> float:
        """The expectation of the statistic of n users under `alternatives` at distance alpha."""
        null, response = self.response.law(self.uniform), self.response
        fit = self.k * (null - response.low) / response.gain  # items that fit an output
        spread = fit * (self.k - fit) / (self.k - 1)  # the variance of the sum of their signs
        return (n - 1) * (2 * alpha * response.gain / self.k) ** 2 * float((spread / null).sum()) - 1

    def threshold(self, n: int, size: int, rng: Rng) -> float:
        """The 2/3 quantile under uniformity, moved by what the sample's mean is off its known value."""
        found = self.statistics(n, np.tile(self.uniform, (size, 1)), rng)
        return float(np.quantile(found, TARGET) - found.mean()) + self.mean(n, 0.0)

    def power(self, n: int, alpha: float, threshold: float, size: int, rng: Rng) -> float:
        """P(statistic > threshold) under the alternative; the known mean of the statistic serves as control variate."""
        found = self.statistics(n, self.alternatives(alpha, size, rng), rng)
        above = found > threshold
        slope = float(np.mean((above - above.mean()) * (found - found.mean()))) / max(float(found.var()), 1e-300)
        adjusted = float(above.mean()) - slope * (float(found.mean()) - self.mean(n, alpha))
        return min(max(adjusted, 0.0), 1.0)


def success(k: int, *, eps_local: float, n: int, alpha: float, coin: str, trials: int, rng: Rng) -> float:
    """Probability to detect a distribution at distance alpha, where uniformity is accepted with probability 2/3.

    The standard error is at most 0.7/sqrt(trials).

    >>> rng = np.random.default_rng(0)
    >>> success(32, eps_local=1.0, n=40_000, alpha=0.25, coin="private", trials=400, rng=rng) > 0.9
    True
    """
    tester = UniformityTester.of(k, eps_local=eps_local, coin=coin)
    size = math.ceil(trials / tester.times)
    return tester.power(n, alpha, tester.threshold(n, size, rng), size, rng)


def detectable(k: int, *, eps_local: float, n: int, start: float, coin: str, rng: Rng, counts: int = _PAPER) -> float:
    """The distance at which n users give the right answer with probability 2/3 on either side.

    By simulation: two rough steps from the guess `start`, then a power law through two accurate points about 15%
    below and above.
    """
    tester = UniformityTester.of(k, eps_local=eps_local, coin=coin)
    size = math.ceil(counts / (tester.times * tester.response.outputs))
    threshold, goal = tester.threshold(n, size, rng), 2 * float(ndtri(TARGET))

    def separation(alpha: float, size: int) -> float:
        least = 0.5 / (tester.times * size)
        found = tester.power(n, alpha, threshold, size, rng)
        return float(ndtri(TARGET) + ndtri(np.clip(found, least, 1 - least)))

    alpha = min(start, 0.43)
    for _ in range(2):
        ratio = goal / max(separation(alpha, math.ceil(size / 6)), goal / 4)
        alpha = min(alpha * ratio**0.6, 0.43)
    low, high = separation(alpha / 1.15, size), separation(alpha * 1.15, size)
    slope = float(np.clip((high - low) / goal / (2 * math.log(1.15)), 0.7, 3.0))
    return alpha * math.exp((goal - (low + high) / 2) / goal / slope)


def _begun(
    regimes: Mapping[str, Regime], names: Iterable[str] | None, quick: bool, seed: int
) -> Iterator[tuple[str, Regime, dict[str, Any]]]:
    """The regimes of these names, and what `detectable` needs in each."""
    for name in names or regimes:
        counts = _QUICK if quick else _FINE if name in _COSTLY else _PAPER
        rng = np.random.default_rng([seed, list(regimes).index(name)])
        yield name, regimes[name], {"coin": name.split(",")[0], "rng": rng, "counts": counts}


def local_scaling(*, seed: int, quick: bool, names: Iterable[str] | None = None) -> pd.DataFrame:
    """The local testers: n is chosen, the distance alpha that they detect is measured; all regimes, or some by name.

    Columns: regime, k, n, alpha, ratio (e^eps), growth (e^eps - 1).
    """
    rows = []
    for name, (stated, points, start), settings in _begun(LOCAL, names, quick, seed):
        factor = "growth" if "growth" in stated else "ratio"
        for k, target, budget in points:
            n = round(start * (k ** stated["k"] * budget ** stated[factor]) / target**2)
            growth = budget if factor == "growth" else budget - 1
            alpha = detectable(k, eps_local=math.log1p(growth), n=n, start=target, **settings)
            rows.append((name, k, n, alpha, 1 + growth, growth))
    return pd.DataFrame(rows, columns=["regime", "k", "n", "alpha", "ratio", "growth"])


def shuffled_scaling(*, seed: int, quick: bool, names: Iterable[str] | None = None) -> pd.DataFrame:
    """The shuffled testers: n and eps_L are chosen, alpha is measured, eps certified at `learning.DELTA`.

    Columns: regime, k, n, eps_local, alpha, eps.
    """
    rows = []
    for name, (stated, points, start), settings in _begun(SHUFFLED, names, quick, seed):
        for k, target, eps in points:
            n = round(start * (k ** stated["k"] * target ** stated["alpha"] * eps ** stated["eps"]))
            local = learning.nearby_budget(eps, n=n)
            if "small" in name:
                local = eps * math.sqrt(n / -math.log(learning.DELTA))
            alpha = detectable(k, eps_local=local, n=n, start=target, **settings)
            rows.append((name, k, n, local, alpha, learning.certified(local, n=n)))
    return pd.DataFrame(rows, columns=["regime", "k", "n", "eps_local", "alpha", "eps"])


def power_curves(
    k: int, *, alpha: float, eps: float, delta: float, sizes: Sequence[int], trials: int, seed: int
) -> pd.DataFrame:
    """Probability to detect distance alpha over n: local (eps), shuffled ((eps, delta)) and without privacy.

    Columns: n, tester, power.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for n in sizes:
        budget = learning.shuffled_budget(eps, n=n, delta=delta)
        cases = [("no privacy", 100.0, "private")]
        cases += [
            (f"{word}, {coin} coin", x, coin) for word, x in (("shuffled", budget), ("local", eps)) for coin in COINS
        ]
        for name, x, coin in cases:
            rows.append((n, name, success(k, eps_local=x, n=n, alpha=alpha, coin=coin, trials=trials, rng=rng)))
    return pd.DataFrame(rows, columns=["n", "tester", "power"])


def enough(table: pd.DataFrame) -> dict[str, int]:
    """Of `power_curves`, by tester, the size from which on the target is met; 0 if it is not at the largest."""
    found = {}
    for name, line in table.groupby("tester", sort=False):
        short = line.loc[line["power"] < TARGET, "n"].max()
        later = line.loc[~(line["n"] <= short), "n"]
        found[str(name)] = int(later.min()) if len(later) else 0
    return found


# --- figures -----------------------------------------------------------------------------------------------


@keeps_data
def power_lines(table: pd.DataFrame) -> Figure:
    """Probability to detect the alternative against n, a line a tester, from `power_curves`, with the target."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for (name, line), colour, dashes, mark in zip(
        table.groupby("tester", sort=False), PALETTE, DASHES, "os^Dv", strict=False
    ):
        style: dict[str, Any] = {"color": colour, "dashes": dashes or (None, None), "marker": mark}
        axis.plot(line["n"], line["power"], lw=2, ms=6, label=str(name), **style)
    axis.axhline(TARGET, **role("reference"))
    name_line(axis, table["n"].min(), TARGET, "2/3", colour=ROLES["reference"][0], right=0, up=8)
    axis.set(xlabel="number of users $n$, logarithmic", ylabel="probability of detection", xscale="log", ylim=(0, 1.03))
    axis.legend(fontsize=10)
    return figure


# --- checks ------------------------------------------------------------------------------------------------


def _local(name: str, equation: str, fitted: pd.DataFrame, necessary: pd.DataFrame) -> Outcome:
    return learning.local_orders(
        name,
        fitted,
        necessary,
        equation=equation,
        bound="the published lower bound",
        sufficient="a simulated tester, in two regimes",
        how="one tester, Hadamard response, against one family of alternatives; one published lower bound",
        kind=" for one-shot protocols",
    )


@settles("B-11")
def local_public_coin(fitted: pd.DataFrame, necessary: pd.DataFrame) -> Outcome:
    """Eq. (6): exponents of the tester with a random hash, and the lower bound."""
    return _local("B-11", "(6)", fitted, necessary)


@settles("B-12")
def local_private_coin(fitted: pd.DataFrame, necessary: pd.DataFrame) -> Outcome:
    """Eq. (7): exponents of the tester without a common seed, and the lower bound."""
    return _local("B-12", "(7)", fitted, necessary)


def _shuffled(name: str, coin: str, fitted: pd.DataFrame, terms: pd.DataFrame, solved: pd.DataFrame) -> Outcome:
    return learning.shuffled_orders(
        name,
        f"{coin} coin",
        fitted,
        terms,
        solved,
        local="eq. (1) and the local tester",
        where="for small and for large $\\epsilon_L$",
        how="one shuffled tester, Hadamard response, against one family of alternatives",
    )


@settles("B-13")
def shuffled_private_coin(fitted: pd.DataFrame, terms: pd.DataFrame, solved: pd.DataFrame) -> Outcome:
    """Eq. (5) in eq. (7): algebra, constants, and a shuffled tester without a common seed."""
    return _shuffled("B-13", "private", fitted, terms, solved)


@settles("B-14")
def shuffled_public_coin(fitted: pd.DataFrame, terms: pd.DataFrame, solved: pd.DataFrame) -> Outcome:
    """Eq. (5) in eq. (6): algebra, constants, and a shuffled tester with a random hash."""
    return _shuffled("B-14", "public", fitted, terms, solved)

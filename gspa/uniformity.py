"""Testing uniformity over k items from private reports: private-coin and public-coin testers, simulated.

A tester adds up (N_y - n q_y)^2 - N_y over n q_y, N the histogram of the Hadamard responses and q its law under the
uniform distribution, and says "uniform" below the 2/3 quantile of what it sees under uniformity. With a public coin
the items are first hashed at random into about e^{eps_L} buckets of equal size. The alternative is the hardest one at
distance alpha (Paninski 2008): half of the items at (1 + 2 alpha)/k, half at (1 - 2 alpha)/k.

>>> found = success(32, eps_local=1.0, n=40_000, alpha=0.25, coin="private", trials=400, seed=0)
>>> bool(found > 0.9)
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from gspa import _validate as check
from gspa import accountant, budgets
from gspa.errors import InvalidValue
from gspa.hadamard import HadamardResponse
from gspa.learning import DELTA, Design, nearby_budget, shuffled_budget

Array = NDArray[np.float64]
Rng = np.random.Generator

COINS = ("private", "public")
LOCAL = {
    "private, small eps": {"k": 1.5, "alpha": -2.0, "growth": -2.0},
    "private, large eps": {"k": 1.5, "alpha": -2.0, "ratio": -1.0},
    "public, small eps": {"k": 1.0, "alpha": -2.0, "growth": -2.0},
    "public, large eps": {"k": 1.0, "alpha": -2.0, "ratio": -0.5},
}
"""Exponents of the number of users that eqs. (7) and (6) state, by regime; growth = e^eps - 1, ratio = e^eps."""
SHUFFLED = {
    "private, large eps_L": {"k": 0.75, "alpha": -1.0, "eps": -1.0},
    "private, small eps_L": {"k": 0.75, "alpha": -1.0, "eps": -1.0},
    "public, large eps_L": {"k": 2 / 3, "alpha": -4 / 3, "eps": -2 / 3},
    "public, small eps_L": {"k": 0.5, "alpha": -1.0, "eps": -1.0},
}
"""The same for the blog's results in the shuffle model, by the term that is largest."""
TARGET = 2 / 3
"""Probability of the right answer, on either side."""

_ALTERNATIVES = 50  # distributions of the alternative in one simulation, at least
_MASSES = 50_000  # probabilities of buckets drawn for them: more distributions where there are few buckets
# Counts drawn for one estimate of a probability, and the least number of trials for it.
_EFFORT = {"quick": (15_000, 30), "paper": (700_000, 800), "fine": (1_500_000, 1_000)}
_MOST = 20_000  # trials
_MOST_EPS = 700.0  # of a local budget: e^-eps beyond it is no double, and nothing is ever expected in some outputs
_FINE = ("private, large eps", "private, large eps_L")  # a trial costs most there, so that few leave an exponent open
# (k, alpha, e^eps - 1 or e^eps), far inside each regime; one quantity at a time moves off it.
_MOVES = ((0.25, 0.5, 2.0), (0.5, 2.0), (0.25, 0.5, 2.0))
_LOCAL = {
    "private, small eps": Design(128, 0.15, 0.02, *_MOVES),
    "private, large eps": Design(1024, 0.15, 32.0, (0.25, 0.5, 2.0), (0.25, 0.5, 2.0), (0.5, 2.0, 4.0)),
    "public, small eps": Design(256, 0.15, 0.02, *_MOVES),
    "public, large eps": Design(16384, 0.1, 256.0, *_MOVES),
}
# Moves that keep e^{eps_L}/k, but for the last four, which halve and double it: otherwise the sampling term, or the
# smallness of eps_L, would bend the lines.
_JOINT = (
    *((1.0, size, size) for size in (1.0, 0.5, 0.25)),
    *((size, size**-0.125, size**0.125) for size in (0.25, 0.5, 2.0)),
    *((k, k**-0.125 * size**-0.5, k**0.125 * size**0.5) for k in (1.0, 0.5) for size in (0.5, 2.0)),
)
# (k, alpha, central eps).
_SHUFFLED = {
    "private, large eps_L": [(round(1024 * k), 0.07 * alpha, 0.175 * eps) for k, alpha, eps in _JOINT],
    "private, small eps_L": Design(64, 0.2, 0.0005, *_MOVES).points(),
    "public, large eps_L": Design(16384, 0.1, 0.2, *_MOVES).points(),
    "public, small eps_L": Design(64, 0.2, 0.0005, (0.5, 2.0, 4.0), (0.25, 0.5), (0.25, 0.5, 2.0)).points(),
}
# Users at which the testers below reach their target, over the order that is stated; only where to start from.
_START = {
    "private, small eps": 1.8,
    "private, large eps": 1.7,
    "public, small eps": 11.0,
    "public, large eps": 2.1,
    "private, large eps_L": 18.0,
    "private, small eps_L": 10.0,
    "public, large eps_L": 9.0,
    "public, small eps_L": 23.0,
}


class UniformityTester(NamedTuple):
    """What the users run, and the law of an item's bucket under uniformity.

    Attributes:
        response: the common randomizer of buckets.
        uniform: shape (m,), probabilities of the buckets; all items if the coin is private.
    """

    response: HadamardResponse
    uniform: Array

    @classmethod
    def of(cls, k: int, *, eps_local: float, coin: str) -> UniformityTester:
        """The tester for k items.

        Args:
            k: number of items, even.
            eps_local: local budget in (0, 700].
            coin: one of `COINS`.
        """
        k = check.count(2, k=k)
        eps_local = check.in_range(0, _MOST_EPS, eps_local=check.positive(eps_local=eps_local))
        if k % 2:
            raise InvalidValue("k", k, "even", "the alternative moves half of the items up and half down")
        buckets = k
        if check.one_of(COINS, coin=coin) == "public":
            buckets = min(k, 2 ** max(1, round(min(eps_local / math.log(2), 60.0))))
        sizes = np.bincount(np.arange(k) % buckets)
        return cls(HadamardResponse.of(buckets, eps=eps_local), sizes / k)

    def alternatives(self, k: int, alpha: float, trials: int, rng: Rng) -> Array:
        """Laws of a bucket under distributions at distance alpha, items dealt at random; shape (at most trials, m)."""
        alpha, size = check.in_range(0, 0.5, alpha=alpha), min(trials, max(_ALTERNATIVES, _MASSES // self.uniform.size))
        sizes = np.rint(self.uniform * k).astype(np.int64)
        if sizes.max() == 1:
            up = rng.permuted(np.tile(np.arange(k) % 2, (size, 1)), axis=1)
        else:
            up = rng.multivariate_hypergeometric(sizes, k // 2, size=size, method="marginals")
        return np.asarray((sizes + 2 * alpha * (2 * up - sizes)) / k)

    def statistics(self, n: int, laws: Array, trials: int, rng: Rng) -> Array:
        """The statistic of n users in each of `trials` runs; shape (trials,).

        Args:
            n: number of users.
            laws: shape (at most trials, m), laws of a bucket, used in turn.
            trials: number of runs.
            rng: generator.
        """
        null, reports = n * self.response.law(self.uniform), self.response.law(laws)
        if len(laws) == trials:
            return _chi(rng.multinomial(n, reports), null)
        each = np.bincount(np.arange(trials) % len(laws), minlength=len(laws))
        return np.concatenate(
            [_chi(rng.multinomial(n, law, size=size), null) for law, size in zip(reports, each, strict=True)]
        )


def _chi(counts: NDArray[np.int64], expected: Array) -> Array:
    return np.asarray((((counts - expected) ** 2 - counts) / expected).sum(axis=1))


def _mean(tester: UniformityTester, n: int, laws: Array, trials: int) -> float:
    """Expectation of the statistic over the trials of `UniformityTester.statistics`."""
    null, reports = tester.response.law(tester.uniform), tester.response.law(laws)
    means = (((n - 1) * reports - 2 * n * null) * reports / null).sum(axis=1) + n
    return float(means @ np.bincount(np.arange(trials) % len(laws), minlength=len(laws))) / trials


def _power(tester: UniformityTester, k: int, n: int, alpha: float, threshold: float, trials: int, rng: Rng) -> float:
    """P(statistic > threshold) under the alternative; the known mean of the statistic serves as control variate."""
    laws = tester.alternatives(k, alpha, trials, rng)
    found = tester.statistics(n, laws, trials, rng)
    above = found > threshold
    slope = float(np.mean((above - above.mean()) * (found - found.mean()))) / max(float(found.var()), 1e-300)
    adjusted = float(above.mean()) - slope * (float(found.mean()) - _mean(tester, n, laws, trials))
    return min(max(adjusted, 0.0), 1.0)


def _threshold(tester: UniformityTester, n: int, trials: int, rng: Rng) -> float:
    """The 2/3 quantile under uniformity, moved by what the sample's mean is off its known value."""
    found = tester.statistics(n, tester.uniform[None], trials, rng)
    return float(np.quantile(found, TARGET) - found.mean()) + _mean(tester, n, tester.uniform[None], trials)


def success(k: int, *, eps_local: float, n: int, alpha: float, coin: str, trials: int, seed: int | Rng) -> float:
    """Probability to detect a distribution at distance alpha, where uniformity is accepted with probability 2/3.

    Args:
        k: number of items, even.
        eps_local: local budget in (0, 700].
        n: number of users.
        alpha: distance in total variation, in [0, 1/2].
        coin: one of `COINS`.
        trials: runs on either side; the standard error is at most 0.7/sqrt(trials).
        seed: seed or generator.
    """
    rng = check.rng(seed)
    tester = UniformityTester.of(k, eps_local=eps_local, coin=coin)
    n, trials = check.count(n=n), check.count(2, trials=trials)
    return _power(tester, k, n, alpha, _threshold(tester, n, trials, rng), trials, rng)


def detectable(
    k: int, *, eps_local: float, n: int, start: float, coin: str, seed: int | Rng, effort: str = "paper"
) -> tuple[float, float]:
    """The distance at which n users give the right answer with probability 2/3 on either side, and its relative error.

    Found by simulation: three rough steps, then a power law through two accurate points about 15% below and above.

    Args:
        k: number of items, even.
        eps_local: local budget in (0, 700].
        n: number of users.
        start: a guess, in (0, 1/2].
        coin: one of `COINS`.
        seed: seed or generator.
        effort: "quick", "paper" or "fine": how much is drawn.

    Returns:
        (alpha, standard error of log alpha).
    """
    rng, tester = check.rng(seed), UniformityTester.of(k, eps_local=eps_local, coin=coin)
    n, start = check.count(n=n), check.in_range(0, 0.5, start=check.positive(start=start))
    cells, fewest = _EFFORT[check.one_of(_EFFORT, effort=effort)]
    trials = int(np.clip(cells // tester.response.outputs, fewest, _MOST))
    threshold, goal = _threshold(tester, n, 2 * trials, rng), 2 * float(ndtri(TARGET))

    def separation(alpha: float, runs: int) -> float:
        found = _power(tester, k, n, alpha, threshold, runs, rng)
        return float(ndtri(TARGET) + ndtri(np.clip(found, 0.5 / runs, 1 - 0.5 / runs)))

    alpha = min(start, 0.43)
    for _ in range(3):
        ratio = goal / max(separation(alpha, trials // 4), goal / 4)
        alpha = min(alpha * ratio**0.6, 0.43)
    low, high = separation(alpha / 1.15, trials), separation(alpha * 1.15, trials)
    slope = float(np.clip((high - low) / goal / (2 * math.log(1.15)), 0.7, 3.0))
    found = alpha * math.exp((goal - (low + high) / 2) / goal / slope)
    # Two powers near 2/3 and a threshold from twice the trials: variance (2/9)/0.364^2 each, 0.364 the normal density
    # at that quantile, and 1 less by the control variate.
    error = math.sqrt((2 / 9 / 0.364**2 - 1) / trials) / (goal * slope)
    return found, error


def _effort(regime: str, profile: str) -> str:
    return "fine" if profile == "paper" and regime in _FINE else profile


def local_scaling(*, profile: str = "paper", seed: int = 4, regimes: Sequence[str] | None = None) -> pd.DataFrame:
    """Users against k, alpha and eps for the local testers: n is chosen, the distance alpha they detect is measured.

    Args:
        profile: "quick" draws less and errs more.
        seed: of the simulations.
        regimes: keys of `LOCAL`; None for all.

    Returns:
        One row a point: `regime`, `k`, `n`, `alpha`, `alpha_error` (relative), `ratio` (e^eps), `growth` (e^eps - 1)
        and `constant`, n over the leading term of eq. (7) or (6).
    """
    rows = []
    for name in LOCAL if regimes is None else check.row(regimes=regimes):
        stated = LOCAL[check.one_of(LOCAL, regime=name)]
        rng = np.random.default_rng([check.count(0, seed=seed), list(LOCAL).index(name)])
        for k, target, value in _LOCAL[name].points():
            small = "growth" in stated
            order = k ** stated["k"] * value ** stated["growth" if small else "ratio"]
            n, growth = round(_START[name] * order / target**2), value if small else value - 1
            alpha, error = detectable(
                k,
                eps_local=math.log1p(growth),
                n=n,
                start=target,
                coin=name.split(",")[0],
                seed=rng,
                effort=_effort(name, profile),
            )
            rows.append((name, k, n, alpha, error, 1 + growth, growth, n * alpha**2 / order))
    columns = ["regime", "k", "n", "alpha", "alpha_error", "ratio", "growth", "constant"]
    return pd.DataFrame(rows, columns=columns)


def shuffled_scaling(*, profile: str = "paper", seed: int = 5, regimes: Sequence[str] | None = None) -> pd.DataFrame:
    """The same for the shuffled testers: n and eps_L are chosen, alpha is measured, eps certified at `DELTA`.

    Returns:
        One row a point: `regime`, `k`, `n`, `eps_local`, `alpha`, `alpha_error`, `eps` and `constant`, n over the
        regime's term of the blog's result, log(1/delta) included.
    """
    rows, log = [], -math.log(DELTA)
    for name in SHUFFLED if regimes is None else check.row(regimes=regimes):
        stated, coin = SHUFFLED[check.one_of(SHUFFLED, regime=name)], name.split(",")[0]
        rng = np.random.default_rng([check.count(0, seed=seed), list(SHUFFLED).index(name)])
        for k, target, eps in _SHUFFLED[name]:
            order = k ** stated["k"] * target ** stated["alpha"] * eps ** stated["eps"]
            n = round(_START[name] * order)
            local = eps * math.sqrt(n / log) if name.endswith("small eps_L") else nearby_budget(eps, n=n)
            people = budgets.constant(local, n=n)
            certified = accountant.central_epsilon(people, delta=DELTA, mechanism="common").upper
            alpha, error = detectable(
                k, eps_local=local, n=n, start=target, coin=coin, seed=rng, effort=_effort(name, profile)
            )
            stated_order = k ** stated["k"] * alpha ** stated["alpha"] * (certified / math.sqrt(log)) ** stated["eps"]
            rows.append((name, k, n, local, alpha, error, certified, n / stated_order))
    columns = ["regime", "k", "n", "eps_local", "alpha", "alpha_error", "eps", "constant"]
    return pd.DataFrame(rows, columns=columns)


def power_curves(
    k: int, *, alpha: float, eps: float, delta: float, sizes: Sequence[int], trials: int, seed: int
) -> pd.DataFrame:
    """Probability to detect distance alpha over n: local (eps), shuffled ((eps, delta)) and without privacy.

    Returns:
        One row for each size and tester: `n`, `tester`, `eps_local` (NaN without privacy) and `power`.
    """
    rng = np.random.default_rng(check.count(0, seed=seed))
    rows = []
    for n in check.counts(sizes=sizes):
        budget = shuffled_budget(eps, n=n, delta=delta)
        cases = [("no privacy", 100.0, "private")]
        cases += [
            (f"{word}, {coin} coin", x, coin) for word, x in (("shuffled", budget), ("local", eps)) for coin in COINS
        ]
        for name, x, coin in cases:
            power = success(k, eps_local=x, n=n, alpha=alpha, coin=coin, trials=trials, seed=rng)
            rows.append((n, name, x if name != "no privacy" else math.nan, power))
    return pd.DataFrame(rows, columns=["n", "tester", "eps_local", "power"])

"""Of notebook 11: what the number of ones reveals; other estimators from the same bits; and the figures."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit

from gspa.accountant.budgets import Budgets
from gspa.accountant.exact import Crowd, Tilted
from gspa.algorithms.frequency import Simulation


def squared_error(groups: Mapping[str, float], reading: str, *, c: float) -> float:
    """Mean squared error of Algorithm 2 when bits are dealt to users at random, budgets at their expectation.

    (E[1 - t^2]/4 + c(1-c) (E[t^2] - (E t)^2)) / (n (E t)^2). The second term is what the deal adds. For drawn budgets
    a ratio of averages stands for the average ratio, an error of the order 1/n.
    """
    low, middle, high = (groups[f"eps_{name}"] for name in ("conservative", "moderate", "liberal"))
    ends = [(low, low), (middle, middle), (high, high)]
    if reading == "ranges":
        ends = [(low, middle), (middle, high), (high, high)]
    first = second = 0.0
    shares = (groups["f_conservative"], groups["f_moderate"], groups["f_liberal"])
    for share, (a, b) in zip(shares, ends, strict=True):
        average, square = tanh_moments(a, b)
        first, second = first + share * average, second + share * square
    return ((1 - second) / 4 + c * (1 - c) * max(second - first**2, 0.0)) / (groups["n"] * first**2)


def tanh_moments(low: float, high: float) -> tuple[float, float]:
    """E[t] and E[t^2], t = tanh(eps/2), for eps from U(low, high)."""
    width = high - low
    if width <= 1e-3 * high:  # differences would cancel; the midpoint errs by the square of the width
        t = math.tanh((low + high) / 4)
        return t, t * t
    log_cosh = [e / 2 + math.log1p(math.exp(-e)) for e in (low, high)]  # up to a constant
    return 2 * (log_cosh[1] - log_cosh[0]) / width, 1 - 2 * (math.tanh(high / 2) - math.tanh(low / 2)) / width


def ones_delta(people: Budgets, *, victim: int, eps: float) -> float:
    """A delta certainly reached at eps by the number of ones, all others holding 0 or all holding 1."""
    count = people.count - (np.arange(people.eps.size) == victim).astype(np.float64)
    value, error = Tilted(Crowd(float(people.eps[victim]), people.eps, count), eps).at(np.array([0 * count, count]))
    return float((value - error).max())


def ones_epsilon(people: Budgets, *, victim: int, delta: float) -> float:
    """An eps below which Algorithm 2 is certainly not (eps, delta)-DP for a user of one group.

    The exact law of the number of ones, all others holding 0 or all holding 1: for a user of the largest budget nearly
    the worst inputs, which `gspa.accountant.exact` looks for. Errs downward, by rounding and by the choice of inputs.
    """
    local = float(people.eps[victim])

    def excess(eps: float) -> float:
        return ones_delta(people, victim=victim, eps=eps) - delta

    if local == 0 or excess(0.0) <= 0:
        return 0.0
    high = local * (1 - 1e-12)  # at eps_i itself delta is 0; just below it the bits still say something
    if excess(high) > 0:
        return high
    root = float(brentq(excess, 0.0, high, xtol=1e-13, rtol=1e-12))
    while root > 0 and excess(root) < 0:  # a step or two, for rounding
        root -= 1e-12
    return max(root, 0.0)


def choices(people: Budgets, *, c: float, repeats: int, seed: int) -> pd.DataFrame:
    """Estimates of the frequency from the same randomized responses, in three situations.

    A row for each (scenario, estimator): scenario, estimator, needs (what the aggregator must see), mae, mae_error and
    bias. With r = 1/(1 + e^eps) a report y gives (y - r)/(1 - 2r), unbiased for its user's bit, of variance
    1/(4 sinh(eps/2)^2). Weights take 1/2 for the bits' spread, which bounds it.
    """
    rng, n = np.random.default_rng([seed, 8]), int(people.count.sum())
    r, tanh = expit(-people.eps), np.tanh(people.eps / 2)
    ends = np.cumsum(people.count)
    weights = people.count / (1 / (4 * np.sinh(people.eps / 2) ** 2) + 1 / 4)
    weights = weights / weights.sum()
    first = np.arange(n) < round(c * n)
    scenarios = {
        "ones dealt at random": rng.permutation(first),
        "ones to conservative users first": first,
        "ones to liberal users first": first[::-1],
    }
    rows = []
    for scenario, bits in scenarios.items():
        ones = np.add.reduceat(bits.astype(np.int64), ends - people.count)
        shape = (repeats, people.eps.size)
        reported = rng.binomial(ones, 1 - r, shape) + rng.binomial(people.count - ones, r, shape)
        share = (reported / people.count - r) / tanh  # unbiased for the group's frequency
        algorithm = ((reported - people.count * r) / (people.count @ tanh)).sum(axis=1)
        average, weighted = share @ (people.count / n), share @ weights
        for name, needs, estimates in (
            ("Algorithm 2", "the sum", algorithm),
            ("Algorithm 2, answer clipped", "the sum", np.clip(algorithm, 0, 1)),
            ("every report corrected, plain average", "each report with its budget", average),
            ("weighted by noise", "each report with its budget", weighted),
            ("weighted by noise, answer clipped", "each report with its budget", np.clip(weighted, 0, 1)),
        ):
            found = Simulation.of(estimates, float(bits.mean()))
            rows.append((scenario, name, needs, found.mae, found.mae_error, found.bias))
    return pd.DataFrame(rows, columns=["scenario", "estimator", "needs", "mae", "mae_error", "bias"])

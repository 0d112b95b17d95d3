"""Of notebook 10: what is certain of shuffled Laplace reports; other estimators from them; and the figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gspa.accountant import attacks
from gspa.accountant.budgets import Budgets
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.accountant.one_round import Problem, epsilon_of
from gspa.accountant.pair import Victim
from gspa.algorithms import mean
from gspa.algorithms.frequency import Simulation

Array = NDArray[np.float64]
_CELLS = 600  # of the Gaussian limit, whose inputs of the others the attacks take
_BLOCK = 2_000_000  # random numbers drawn at a time


def squared_error(groups: Mapping[str, float], reading: str, *, sensitivity: float) -> float:
    """Mean squared error of Algorithm 1, averaged over the budgets drawn; exact but for rounding sizes to users.

    2 sensitivity^2/n sum_g f_g E[1/eps^2], and E[1/eps^2] = 1/(a b) for eps from U(a, b).
    """
    low, middle, high = (groups[f"eps_{name}"] for name in ("conservative", "moderate", "liberal"))
    ends = [(low, low), (middle, middle), (high, high)]
    if reading == "ranges":
        ends = [(low, middle), (middle, high), (high, high)]
    shares = (groups["f_conservative"], groups["f_moderate"], groups["f_liberal"])
    total = sum(share / (a * b) for share, (a, b) in zip(shares, ends, strict=True))
    return 2 * sensitivity**2 / groups["n"] * total


# --- privacy -----------------------------------------------------------------------------------------------


def _attacked(attack: Callable[..., Any], people: Budgets, victim: int, **at: float) -> float:
    """The better of both explicit attacks, the others at the inputs that are the worst in the Gaussian limit."""
    limit = attacks.reports(1 / people.eps, count=people.count, victim=victim, cells=_CELLS).limit
    places = np.nan_to_num(limit.others)  # NaN: nobody else has that budget
    run = {"count": people.count, "victim": victim, "others": places, **at}
    return max(float(attack(1 / people.eps, statistic=statistic, **run).lower) for statistic in attacks.STATISTICS)


def attacked_delta(people: Budgets, *, victim: int, eps: float) -> float:
    """A delta certainly reached at eps by one user of the group `victim`."""
    return _attacked(attacks.attack_delta, people, victim, eps=eps)


def attacked_epsilon(people: Budgets, *, victim: int, delta: float) -> float:
    """An eps below which that user certainly has no (eps, delta)-DP."""
    return _attacked(attacks.attack_epsilon, people, victim, delta=delta)


def clones(people: Budgets, *, victim: int) -> Problem:
    """One user of a group and the clones among the others, data in [0, 1], whatever two values the user has.

    User j is one with probability (eps_j/eps_n) e^{-eps_j} where eps_j <= eps_n, else never; see the notebook's proof.
    """
    eps = float(people.eps[victim])
    q = np.where(people.eps <= eps, people.eps / eps * np.exp(-people.eps), 0.0)
    count = people.count - (np.arange(q.size) == victim).astype(np.float64)
    return Problem(Victim.binary(eps), 0.0, q, 1 - q, count)


def certified_epsilon(people: Budgets, *, victim: int, delta: float) -> float:
    """The blanket for users of the largest budget, whose worst values are the ends of the range; else the clones."""
    if people.eps[victim] == people.eps_max:
        return blanket_epsilon(people, victim=victim, delta=delta).upper
    return epsilon_of(delta, clones(people, victim=victim)).upper


# --- other estimators --------------------------------------------------------------------------------------


def _blocks(repeats: int, n: int) -> list[slice]:
    """The repeats in parts that fit into memory."""
    step = max(1, _BLOCK // n)
    return [slice(start, min(start + step, repeats)) for start in range(0, repeats, step)]


def data_spreads(eps: Array, *, sensitivity: float, data: Mapping[str, float], repeats: int, seed: int) -> pd.DataFrame:
    """Whether the data's sigma matters: data drawn anew in every repeat.

    A row a sigma: sigma, spread (of the clipped data), mae and mae_error (simulated, against the mean of the data at
    hand), population and population_error (against the mean of the clipped law), exact_population (up to the normal
    approximation).
    """
    rows = []
    for index, sigma in enumerate((0.0, 1.0, 10.0, 30.0)):
        rng, here = np.random.default_rng([seed, 9, index]), {**data, "sigma": sigma}
        law = mean.clipped_normal(**here)
        # The same noise law whatever the data: one simulation around 0, and a mean of fresh data for every repeat.
        zeros = np.zeros(eps.size)
        noise = mean.simulate_mean(zeros, eps, sensitivity=sensitivity, repeats=repeats, rng=rng).estimates
        means = np.empty(repeats)
        for part in _blocks(repeats, eps.size):
            drawn = mean.clipped_data((part.stop - part.start) * eps.size, **here, rng=rng)
            means[part] = drawn.reshape(-1, eps.size).mean(axis=1)
        at_hand, population = Simulation.of(noise, 0.0), Simulation.of(noise + means, law.mean)
        squared = mean.mean_variance(eps, sensitivity=sensitivity) + law.variance / eps.size
        exact = float(np.sqrt(2 / np.pi * squared))
        found = (at_hand.mae, at_hand.mae_error, population.mae, population.mae_error, exact)
        rows.append((sigma, law.variance**0.5, *found))
    names = ["sigma", "spread", "mae", "mae_error", "population", "population_error", "exact_population"]
    return pd.DataFrame(rows, columns=names)


def choices(eps: Array, *, sensitivity: float, data: Mapping[str, float], repeats: int, seed: int) -> pd.DataFrame:
    """Estimates of the mean from the same Laplace reports, in three situations; `eps` from conservative to liberal.

    A row for each (scenario, estimator): scenario, estimator, needs (what the aggregator must see), mae, mae_error and
    bias. The weights 1/(2 scale^2 + s^2) take half the width of the range for s, the spread of the data.
    """
    low, high, center = data["low"], data["high"], data["center"]
    scale = mean.noise_scales(eps, sensitivity=sensitivity)
    rng = np.random.default_rng([seed, 7])
    aside = (low + 3 * high) / 4  # half way between the middle and the upper end
    scenarios = {
        f"values around {center:g}": mean.clipped_data(eps.size, **data, rng=rng),
        f"values around {aside:g}": mean.clipped_data(eps.size, **{**data, "center": aside}, rng=rng),
        "larger values, smaller budgets": np.sort(mean.clipped_data(eps.size, **data, rng=rng))[::-1],
    }
    weights = 1 / (2 * scale**2 + (high - low) ** 2 / 4)
    weights /= weights.sum()
    rows = []
    for scenario, x in scenarios.items():
        sums, clipped, weighted = (np.empty(repeats) for _ in range(3))
        for part in _blocks(repeats, eps.size):
            reports = x + scale * rng.laplace(size=(part.stop - part.start, eps.size))
            sums[part], weighted[part] = reports.mean(axis=1), reports @ weights
            clipped[part] = np.clip(reports, low, high, out=reports).mean(axis=1)
        for name, needs, estimates in (
            ("Algorithm 1", "the sum", sums),
            ("Algorithm 1, answer clipped", "the sum", np.clip(sums, low, high)),
            ("each report clipped first", "each report", clipped),
            ("weighted by noise", "each report with its budget", weighted),
            ("weighted by noise, answer clipped", "each report with its budget", np.clip(weighted, low, high)),
        ):
            found = Simulation.of(estimates, float(x.mean()))
            rows.append((scenario, name, needs, found.mae, found.mae_error, found.bias))
    return pd.DataFrame(rows, columns=["scenario", "estimator", "needs", "mae", "mae_error", "bias"])

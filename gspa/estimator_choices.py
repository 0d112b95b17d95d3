"""What else can be made of the same reports: clipping, and weights where the budget travels with the report.

Algorithms 1 and 2 use only the sum of the reports and the set of budgets. An aggregator who sees each report's
budget can give every report the weight that its noise deserves, at a price in privacy
(`gspa.estimation_privacy.labelled`).

>>> table = mean_choices(Groups(n=1_000), repeats=20, seed=1)
>>> table["estimator"].unique().tolist()[:2]
['Algorithm 1', 'Algorithm 1, answer clipped']
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from gspa import _validate as check
from gspa import mean_estimation
from gspa.error_laws import Groups
from gspa.errors import InvalidValue
from gspa.estimators import Simulation

Array = NDArray[np.float64]

_MOST_SPREAD = 1e150  # its square is a double
_BLOCK = 2_000_000  # random numbers drawn at a time


def best_weights(noise: ArrayLike, *, spread: float) -> Array:
    """Weights of the linear estimate with the least mean squared error when data do not depend on budgets.

    Report i is x_i plus noise of variance v_i, and the x_i have the variance s^2: w_i is proportional to 1/(v_i + s^2),
    whether the mean of the sample or of the population is estimated. With data that follow the budgets it is biased.

    Args:
        noise: (n,) variances v_i > 0.
        spread: s in [0, 1e150], or an upper bound on it.

    Returns:
        (n,) weights with sum 1.

    Raises:
        InvalidValue: an argument outside its range.

    >>> best_weights([1.0, 3.0], spread=0.0).tolist()
    [0.75, 0.25]
    """
    variance = check.array_in(0, np.finfo(np.float64).max, noise=noise)
    if variance.ndim != 1 or variance.size == 0 or not (variance > 0).all():
        raise InvalidValue("noise", variance.tolist(), "a non-empty list of variances > 0")
    total = variance + check.in_range(0, _MOST_SPREAD, spread=spread) ** 2
    weight = total.min() / total
    return np.asarray(weight / weight.sum())


def _rows(scenario: str, estimates: Mapping[tuple[str, str], Array], truth: float) -> list[dict[str, object]]:
    rows = []
    for (estimator, needs), values in estimates.items():
        found = Simulation.of(values, truth)
        rows.append(
            {
                "scenario": scenario,
                "estimator": estimator,
                "needs": needs,
                "mae": found.mae,
                "mae_error": found.mae_error,
                "bias": found.bias,
                "bias_error": found.bias_error,
            }
        )
    return rows


_SUM, _EACH, _LABEL = "the sum", "each report", "each report with its budget"


def mean_choices(
    groups: Groups | None = None,
    *,
    sensitivity: float = 60.0,
    center: float = 50.0,
    sigma: float = 10.0,
    low: float = 20.0,
    high: float = 80.0,
    repeats: int = 400,
    seed: int = 2024,
) -> pd.DataFrame:
    """Estimates of the mean from the same Laplace reports, in three situations; budgets constant in each group.

    Weights take half the width of the range for the spread of the data, which bounds it. The situations: the
    paper's data; data centered half way between the middle and the upper end; and the paper's data dealt so that
    users with less budget hold the larger values.

    Args:
        groups: the users; None for the paper's.
        sensitivity: of the noise, > 0.
        center: as `gspa.estimation.mean_sweep`, like the rest.
        sigma: of the data.
        low: data are clipped into [low, high].
        high: see low.
        repeats: >= 2.
        seed: of every draw.

    Returns:
        One row for each (scenario, estimator): `scenario`, `estimator`, `needs` (what the aggregator must see), `mae`
        and `bias` against the mean of the data at hand, with `mae_error` and `bias_error`, one standard error.
    """
    groups = groups or Groups()
    repeats = check.count(2, repeats=repeats)
    eps = groups.people().expanded().eps
    low, high, center = check.real(low=low), check.real(high=high), check.real(center=center)
    scale = mean_estimation.noise_scales(eps, sensitivity=sensitivity)
    rng = np.random.default_rng([check.seed(seed=seed), 7])

    def data(at: float) -> Array:
        return mean_estimation.clipped_data(groups.n, center=at, sigma=sigma, low=low, high=high, rng=rng)

    aside = (low + 3 * high) / 4
    scenarios = {
        f"values around {center:g}": data(center),
        f"values around {aside:g}": data(aside),
        "larger values, smaller budgets": np.sort(data(center))[::-1],
    }
    weights = best_weights(2 * scale**2, spread=(high - low) / 2)
    rows = []
    for scenario, x in scenarios.items():
        sums, clipped, weighted = (np.empty(repeats) for _ in range(3))
        step = max(1, _BLOCK // groups.n)
        for start in range(0, repeats, step):
            part = slice(start, min(start + step, repeats))
            reports = x + scale * rng.laplace(size=(part.stop - part.start, groups.n))
            sums[part], weighted[part] = reports.mean(axis=1), reports @ weights
            clipped[part] = np.clip(reports, low, high, out=reports).mean(axis=1)
        estimates = {
            ("Algorithm 1", _SUM): sums,
            ("Algorithm 1, answer clipped", _SUM): np.clip(sums, low, high),
            ("each report clipped first", _EACH): clipped,
            ("weighted by noise", _LABEL): weighted,
            ("weighted by noise, answer clipped", _LABEL): np.clip(weighted, low, high),
        }
        rows += _rows(scenario, estimates, float(x.mean()))
    return pd.DataFrame(rows)


def frequency_choices(
    groups: Groups | None = None, *, c: float = 0.7, repeats: int = 1_000, seed: int = 2024
) -> pd.DataFrame:
    """Estimates of the frequency from the same randomized responses, in three situations.

    With r = 1/(1 + e^eps) a report y gives (y - r)/(1 - 2r), unbiased for its user's bit, of variance
    1/(4 sinh(eps/2)^2). Their plain average is unbiased whoever holds the ones; weights take 1/2 for the bits' spread,
    which bounds it.

    Args:
        groups: as `mean_choices`.
        c: share of ones, in [0, 1].
        repeats: >= 2.
        seed: of every draw.

    Returns:
        As `mean_choices`.
    """
    groups = groups or Groups()
    repeats, c = check.count(2, repeats=repeats), check.in_range(0, 1, c=c)
    people = groups.people()
    rng = np.random.default_rng([check.seed(seed=seed), 8])
    r = expit(-people.eps)
    tanh = np.tanh(people.eps / 2)
    noise = 1 / (4 * np.sinh(people.eps / 2) ** 2)
    weights = people.count * best_weights(np.repeat(noise, people.count), spread=0.5)[np.cumsum(people.count) - 1]
    first = np.arange(groups.n) < round(c * groups.n)
    starts = np.cumsum(people.count) - people.count
    scenarios = {
        "ones dealt at random": rng.permutation(first),
        "ones to conservative users first": first,
        "ones to liberal users first": first[::-1],
    }
    rows = []
    for scenario, bits in scenarios.items():
        ones = np.add.reduceat(bits.astype(np.int64), starts)
        shape = (repeats, people.eps.size)
        reported = rng.binomial(ones, 1 - r, shape) + rng.binomial(people.count - ones, r, shape)
        share = (reported / people.count - r) / tanh  # unbiased for the group's frequency
        algorithm = ((reported - people.count * r) / (people.count @ tanh)).sum(axis=1)
        average, weighted = share @ (people.count / groups.n), share @ weights
        estimates = {
            ("Algorithm 2", _SUM): algorithm,
            ("Algorithm 2, answer clipped", _SUM): np.clip(algorithm, 0, 1),
            ("every report corrected, plain average", _LABEL): average,
            ("weighted by noise", _LABEL): weighted,
            ("weighted by noise, answer clipped", _LABEL): np.clip(weighted, 0, 1),
        }
        rows += _rows(scenario, estimates, float(bits.mean()))
    return pd.DataFrame(rows)


def side_by_side(table: pd.DataFrame) -> pd.DataFrame:
    """`mean_choices` or `frequency_choices` for a page: a row an estimator, a column a scenario, entries as text."""
    said = table.assign(
        text=[
            f"{mae:.3g} ± {error:.1g} (bias {bias:+.2g})"
            for mae, error, bias in zip(table["mae"], table["mae_error"], table["bias"], strict=True)
        ]
    )
    wide = said.pivot(index=["estimator", "needs"], columns="scenario", values="text")
    order = table.drop_duplicates("estimator")[["estimator", "needs"]]
    return wide[list(dict.fromkeys(table["scenario"]))].loc[list(map(tuple, order.to_numpy()))].reset_index()


def data_spreads(
    groups: Groups | None = None,
    *,
    sigmas: tuple[float, ...] = (0.0, 1.0, 10.0, 30.0),
    sensitivity: float = 60.0,
    center: float = 50.0,
    low: float = 20.0,
    high: float = 80.0,
    repeats: int = 400,
    seed: int = 2024,
) -> pd.DataFrame:
    """Whether sigma, which the paper leaves open, matters to Algorithm 1: data drawn anew in every repeat.

    Returns:
        One row a sigma: `sigma`, `spread` (standard deviation of the clipped data), `mae` against the mean of the data
        at hand and `mae_error` (simulated), `exact` (the same, exact), `population` and `population_error` (against
        the mean of the clipped law), `exact_population` (normal approximation).
    """
    groups = groups or Groups()
    repeats = check.count(2, repeats=repeats)
    eps = groups.people().expanded().eps
    exact = mean_estimation.mean_error(eps, sensitivity=sensitivity)
    variance = mean_estimation.mean_variance(eps, sensitivity=sensitivity)
    rows = []
    for index, sigma in enumerate(check.row(sigmas=sigmas)):
        rng = np.random.default_rng([check.seed(seed=seed), 9, index])
        law = mean_estimation.clipped_normal(center=center, sigma=sigma, low=low, high=high)
        # The same noise law whatever the data: one simulation around 0, and a mean of fresh data for every repeat.
        noise = mean_estimation.simulate_mean(
            np.zeros(groups.n), eps, sensitivity=sensitivity, repeats=repeats, rng=rng
        ).estimates
        means = np.empty(repeats)
        step = max(1, _BLOCK // groups.n)
        for start in range(0, repeats, step):
            size = min(step, repeats - start)
            drawn = mean_estimation.clipped_data(
                size * groups.n, center=center, sigma=sigma, low=low, high=high, rng=rng
            )
            means[start : start + size] = drawn.reshape(size, groups.n).mean(axis=1)
        at_hand, population = Simulation.of(noise, 0.0), Simulation.of(noise + means, law.mean)
        rows.append(
            {
                "sigma": sigma,
                "spread": law.variance**0.5,
                "mae": at_hand.mae,
                "mae_error": at_hand.mae_error,
                "exact": exact,
                "population": population.mae,
                "population_error": population.mae_error,
                "exact_population": float(np.sqrt(2 / np.pi * (variance + law.variance / groups.n))),
            }
        )
    return pd.DataFrame(rows)

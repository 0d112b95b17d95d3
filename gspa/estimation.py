"""Figure 3 as tidy tables: the error of Algorithms 1 and 2 against the conservative users' share or budget.

Simulated, in closed form for the users drawn, and by the law over all draws (`gspa.error_laws`):

>>> table = mean_sweep(Groups(n=100), points=2, repeats=2_000, seed=1)
>>> bool(((table["mae"] - table["exact"]).abs() < 5 * table["mae_error"]).all())
True
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from gspa import _validate as check
from gspa import estimators, mean_estimation
from gspa.error_laws import MEASURES, READINGS, VARIED, Groups, frequency_law, mean_law
from gspa.estimators import Simulation

Array = NDArray[np.float64]


def _sweep(
    groups: Groups,
    vary: str,
    points: int,
    seed: int,
    at: Callable[[Groups, str, Array, np.random.Generator], tuple[Simulation, float, float]],
    law: Callable[[Groups, str], float],
) -> pd.DataFrame:
    rows = []
    for which, reading in enumerate(READINGS):
        for index, value in enumerate(groups.axis(vary, points)):
            rng = np.random.default_rng([check.seed(seed=seed), VARIED.index(vary), which, index])
            here = groups.varied(vary, value)
            found, bias, exact = at(here, reading, here.people(reading=reading, rng=rng).expanded().eps, rng)
            rows.append(
                {
                    "reading": reading,
                    vary: float(value),
                    "mae": found.mae,
                    "mae_error": found.mae_error,
                    "bias": found.bias,
                    "bias_error": found.bias_error,
                    "exact_bias": bias,
                    "exact": exact,
                    "law": float(MEASURES["error"](np.array(law(here, reading)))),
                }
            )
    return pd.DataFrame(rows)


def mean_sweep(
    groups: Groups | None = None,
    *,
    vary: str = "f_conservative",
    sensitivity: float = 60.0,
    center: float = 50.0,
    sigma: float = 10.0,
    low: float = 20.0,
    high: float = 80.0,
    points: int = 25,
    repeats: int = 1_000,
    seed: int = 2024,
) -> pd.DataFrame:
    """Figure 3 (a) or (b): error of Algorithm 1 in both readings of the groups.

    Args:
        groups: the users; None for the paper's.
        vary: "f_conservative" (a) or "eps_conservative" (b).
        sensitivity: the paper's Delta f, > 0.
        center: of the normal law of the data.
        sigma: its standard deviation; the paper names none.
        low: data are clipped into [low, high].
        high: see low.
        points: on the axis, >= 2.
        repeats: simulated runs a point, >= 2.
        seed: of every draw.

    Returns:
        One row for each (reading, point): `reading`, the varied quantity, `mae` (error against the mean of the data
        at hand), `mae_error` (one standard error), `bias`, `bias_error`, `exact_bias` (0) and `exact`: the exact error.
    """

    def at(here: Groups, reading: str, eps: Array, rng: np.random.Generator) -> tuple[Simulation, float, float]:
        x = mean_estimation.clipped_data(here.n, center=center, sigma=sigma, low=low, high=high, rng=rng)
        found = mean_estimation.simulate_mean(x, eps, sensitivity=sensitivity, repeats=repeats, rng=rng)
        return found, 0.0, mean_estimation.mean_error(eps, sensitivity=sensitivity)

    def law(here: Groups, reading: str) -> float:
        return mean_law(here, sensitivity=sensitivity, reading=reading)

    return _sweep(groups or Groups(), vary, points, seed, at, law)


def frequency_sweep(
    groups: Groups | None = None,
    *,
    vary: str = "f_conservative",
    c: float = 0.7,
    points: int = 25,
    repeats: int = 1_000,
    seed: int = 2024,
) -> pd.DataFrame:
    """Figure 3 (c) or (d): error of Algorithm 2 in both readings of the groups.

    Bits are dealt to users at random, so they do not depend on the budgets.

    Args:
        groups: as `mean_sweep`, like the rest.
        vary: "f_conservative" (c) or "eps_conservative" (d).
        c: share of ones, in [0, 1].
        points: on the axis, >= 2.
        repeats: simulated runs a point, >= 2.
        seed: of every draw.

    Returns:
        As `mean_sweep`, errors around the sample's own frequency; `exact_bias` is the closed form for the bits
        drawn, and `exact` is E|N(exact_bias, variance)|, the closed-form error up to the normal approximation of
        a sum of n reports. `law` is from `frequency_law`, for a random deal.
    """
    c = check.in_range(0, 1, c=c)

    def at(here: Groups, reading: str, eps: Array, rng: np.random.Generator) -> tuple[Simulation, float, float]:
        x = rng.permutation(np.arange(here.n) < round(c * here.n)).astype(int)
        found = estimators.simulate_frequency(x, eps, repeats=repeats, rng=rng)
        bias = estimators.frequency_expectation(x, eps) - found.truth
        return found, bias, _mean_absolute(bias, estimators.frequency_variance(eps))

    def law(here: Groups, reading: str) -> float:
        return frequency_law(here, c=c, reading=reading)

    return _sweep(groups or Groups(), vary, points, seed, at, law)


def frequency_bias(
    groups: Groups | None = None, *, c: float = 0.7, deals: int = 400, seed: int = 2024
) -> dict[str, float]:
    """How far Algorithm 2's expectation is from the frequency, by who holds the ones.

    Args:
        groups: the users; None for the paper's.
        c: share of ones, in [0, 1].
        deals: random deals of the bits for the independent case, >= 2.
        seed: of the deals and of the simulated runs.

    Returns:
        `equal` (equal budgets), `conservative` and `liberal` (ones dealt to them first): exact biases.
        `independent` and `independent_error`: mean exact bias over random deals and its standard error.
        `simulated` and `simulated_error`: the conservative case by simulation.
        `share` (of ones) and `weight_spread` (largest less smallest budget): whether anything varies.
    """
    groups = groups or Groups()
    n, people = groups.n, groups.people().expanded()
    rng = check.rng(seed)
    # Users are stored from conservative to liberal.
    ones_first = (np.arange(n) < round(check.in_range(0, 1, c=c) * n)).astype(int)
    truth = float(ones_first.mean())

    def bias(bits: NDArray[np.int64], eps: Array) -> float:
        return estimators.frequency_expectation(bits, eps) - truth

    dealt = np.array([bias(rng.permutation(ones_first), people.eps) for _ in range(check.count(2, deals=deals))])
    simulated = estimators.simulate_frequency(ones_first, people.eps, repeats=400, rng=rng)
    return {
        "equal": bias(rng.permutation(ones_first), np.full(n, groups.eps_moderate)),
        "independent": float(dealt.mean()),
        "independent_error": float(dealt.std(ddof=1) / np.sqrt(deals)),
        "conservative": bias(ones_first, people.eps),
        "liberal": bias(ones_first[::-1], people.eps),
        "share": truth,
        "weight_spread": people.eps_max - people.eps_min,
        "simulated": simulated.bias,
        "simulated_error": simulated.bias_error,
    }


def _mean_absolute(mean: float, variance: float) -> float:
    """E|X| of a normal X: the folded normal's mean."""
    sd = variance**0.5
    ratio = mean / sd
    return float(sd * np.sqrt(2 / np.pi) * np.exp(-(ratio**2) / 2) + mean * (1 - 2 * ndtr(-ratio)))

"""The paper's experiments as tidy tables: Figure 3's frequency panel and Figure 4."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from gspa import _validate as check
from gspa import budgets, estimators
from gspa.project import cores

if TYPE_CHECKING:
    from gspa.datasets import Dataset
    from gspa.sgd import SgdConfig

READINGS = ("constants", "ranges")
F_CONSERVATIVE = (0.01, 0.5)  # the range the paper varies it over

NO_NOISE = "no noise"
# Figure 4's settings: Table 2's distributions, U(0.5, 1), and no noise as the reference.
SETTINGS = (NO_NOISE, "unif1", "unif2", "unif3", "constant", "mixed")

_WORTH_A_PROCESS = 200  # replica-epochs of one setting: some eight seconds on MNIST


def setting_label(name: str) -> str:
    """A setting as the paper names it."""
    if name == NO_NOISE:
        return NO_NOISE
    law = budgets.DISTRIBUTIONS[check.one_of(budgets.DISTRIBUTIONS, setting=name)]
    return f"{law.title}: {law.label}"


def frequency_sweep(
    *,
    n: int = 10_000,
    c: float = 0.7,
    f_liberal: float = 0.09,
    eps_conservative: float = 0.1,
    eps_moderate: float = 0.5,
    eps_liberal: float = 1.0,
    points: int = 25,
    repeats: int = 1_000,
    seed: int = 2024,
) -> pd.DataFrame:
    """Error of Algorithm 2 as the share of conservative users grows, in both readings of the groups.

    Bits are dealt to users at random, so they do not depend on the budgets.

    Args:
        n: users, >= 10.
        c: share of ones, in [0, 1].
        f_liberal: share of liberal users, fixed.
        eps_conservative: budget of conservative users; the next two alike.
        eps_moderate: budget of moderate users.
        eps_liberal: budget of liberal users.
        points: how many shares of conservative users, equally spaced over `F_CONSERVATIVE`.
        repeats: simulated runs a point, >= 2.
        seed: of every draw.

    Returns:
        One row for each (reading, share): `reading`, `f_conservative`, `mae`, `mae_error` (one standard
        error), `bias` and `bias_error` around the sample's own frequency, `exact_bias` (closed form for the
        bits drawn), and `exact`: E|N(exact_bias, variance)|, the closed-form error up to the normal
        approximation of a sum of n reports.
    """
    n, points = check.count(10, n=n), check.count(2, points=points)
    c = check.in_range(0, 1, c=c)
    rows = []
    for which, reading in enumerate(READINGS):
        for index, share in enumerate(np.linspace(*F_CONSERVATIVE, points)):
            rng = np.random.default_rng([seed, which, index])
            people = budgets.preference_groups(
                n=n,
                f_conservative=float(share),
                f_moderate=1 - f_liberal - float(share),
                f_liberal=f_liberal,
                eps_conservative=eps_conservative,
                eps_moderate=eps_moderate,
                eps_liberal=eps_liberal,
                reading=reading,
                rng=rng,
            ).expanded()
            x = rng.permutation(np.arange(n) < round(c * n)).astype(int)
            found = estimators.simulate_frequency(x, people.eps, repeats=repeats, rng=rng)
            bias = estimators.frequency_expectation(x, people.eps) - found.truth
            rows.append(
                {
                    "reading": reading,
                    "f_conservative": float(share),
                    "mae": found.mae,
                    "mae_error": found.mae_error,
                    "bias": found.bias,
                    "bias_error": found.bias_error,
                    "exact_bias": bias,
                    "exact": _mean_absolute(bias, estimators.frequency_variance(people.eps)),
                }
            )
    return pd.DataFrame(rows)


def frequency_bias(
    *,
    n: int = 10_000,
    c: float = 0.7,
    f_liberal: float = 0.09,
    eps_conservative: float = 0.1,
    eps_moderate: float = 0.5,
    eps_liberal: float = 1.0,
    deals: int = 400,
    seed: int = 2024,
) -> dict[str, float]:
    """How far Algorithm 2's expectation is from the frequency, by who holds the ones.

    The shares of conservative and moderate users are the paper's defaults in their proportion 54 to 37.

    Args:
        n: users; c and the rest as in `frequency_sweep`.
        deals: random deals of the bits for the independent case, >= 2.
        seed: of the deals and of the simulated runs.

    Returns:
        `equal` (equal budgets), `conservative` and `liberal` (ones dealt to them first): exact biases.
        `independent` and `independent_error`: mean exact bias over random deals and its standard error.
        `simulated` and `simulated_error`: the conservative case by simulation.
        `share` (of ones) and `weight_spread` (largest less smallest budget): whether anything varies.
    """
    share = (1 - f_liberal) * 0.54 / 0.91
    people = budgets.preference_groups(
        n=n,
        f_conservative=share,
        f_moderate=1 - f_liberal - share,
        f_liberal=f_liberal,
        eps_conservative=eps_conservative,
        eps_moderate=eps_moderate,
        eps_liberal=eps_liberal,
    ).expanded()
    rng = np.random.default_rng(seed)
    # Users are stored from conservative to liberal.
    ones_first = (np.arange(n) < round(check.in_range(0, 1, c=c) * n)).astype(int)
    truth = float(ones_first.mean())

    def bias(bits: NDArray[np.int64], eps: NDArray[np.float64]) -> float:
        return estimators.frequency_expectation(bits, eps) - truth

    dealt = np.array([bias(rng.permutation(ones_first), people.eps) for _ in range(check.count(2, deals=deals))])
    simulated = estimators.simulate_frequency(ones_first, people.eps, repeats=400, rng=rng)
    return {
        "equal": bias(rng.permutation(ones_first), np.full(n, eps_moderate)),
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


def figure4(
    data: Dataset,
    config: SgdConfig,
    *,
    seeds: Sequence[int],
    settings: Sequence[str] = SETTINGS,
    device: str = "cpu",
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Algorithm 3 for every budget setting and seed; budgets are drawn anew for each seed.

    Args:
        data: reduced images, from `gspa.datasets.project`.
        config: Algorithm 3's settings.
        seeds: one run of every setting for each.
        settings: keys of `gspa.budgets.DISTRIBUTIONS`, or `NO_NOISE`.
        device: "cpu" or a CUDA device.
        jobs: settings trained at once, each in a process of its own (default: the cores at hand,
            on the CPU). The result does not depend on it.
        progress: called with (settings done, settings in total).

    Returns:
        One row for each (setting, seed, epoch): `setting`, `seed`, `epoch`, `accuracy` in [0, 1],
        `test_loss`, `eps_min` (the smallest budget drawn) and `noise` (root mean square of the clients' sigma).
    """
    train = partial(_train_setting, data, config, tuple(seeds), device)
    at_once = min(check.count(jobs=jobs) if jobs is not None else cores(), len(settings))
    report = progress or (lambda done, total: None)
    tables = []
    # A process costs seconds to start, which a handful of short runs would not win back.
    if at_once == 1 or device != "cpu" or len(seeds) * config.epochs < _WORTH_A_PROCESS:
        for name in settings:
            tables.append(train(name))
            report(len(tables), len(settings))
    else:
        with ProcessPoolExecutor(at_once, mp_context=get_context("spawn")) as pool:
            for table in pool.map(train, settings):
                tables.append(table)
                report(len(tables), len(settings))
    return pd.concat(tables, ignore_index=True)


def _train_setting(data: Dataset, config: SgdConfig, seeds: tuple[int, ...], device: str, name: str) -> pd.DataFrame:
    """One setting for every seed."""
    from gspa import sgd

    if name == NO_NOISE:
        matrix = np.full((len(seeds), config.clients), np.inf)
    else:
        drawn = []
        for seed in seeds:
            # Budgets have a stream of their own: the same seed trains from the same start in every setting.
            rng = np.random.default_rng([seed, 1])
            eps = budgets.draw(name, n=config.clients, rng=rng).expanded().eps
            # The halves of "Mixed Constant" come in order; clients hold different images, so deal them out.
            drawn.append(rng.permutation(eps))
        matrix = np.array(drawn)
    result = sgd.train(data, matrix, config, seeds=seeds, labels=setting_label(name), device=device)
    table = result.to_frame()
    width = len(result.epochs)
    table["eps_min"] = np.repeat(matrix.min(axis=1), width)
    table["noise"] = np.repeat(np.sqrt((result.sigma**2).mean(axis=1)), width)
    return table


def interval(values: pd.Series[float], *, confidence: float = 0.95) -> tuple[float, float]:
    """Student's confidence interval for a mean over seeds; (nan, nan) for a single one."""
    half = stdtrit(len(values) - 1, 0.5 + confidence / 2) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def final_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Final accuracies of `figure4`, a row a setting, in percent, with a 95% interval of the mean."""
    last = runs[runs["epoch"] == runs["epoch"].max()]
    rows = []
    for setting, part in last.groupby("setting", sort=False):
        percent = 100 * part["accuracy"]
        low, high = interval(percent) if len(percent) > 1 else (np.nan, np.nan)
        rows.append(
            {
                "setting": setting,
                "seeds": len(percent),
                "mean (%)": percent.mean(),
                "from": low,
                "to": high,
                "lowest seed": percent.min(),
                "highest seed": percent.max(),
                "noise": part["noise"].mean(),
                "smallest budget": part["eps_min"].replace(np.inf, np.nan).min(),
            }
        )
    return pd.DataFrame(rows)

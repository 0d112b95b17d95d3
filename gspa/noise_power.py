"""Why unequal budgets cost accuracy: their difference, or just the noise that the smallest of them ask for?

Client i's noise has a standard deviation proportional to 1/eps_i, so an epoch's noise power is proportional to the
mean of 1/eps_i^2. One budget for all with the same mean, `equivalent_budget`, makes as much noise without a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from gspa import _validate as check
from gspa._parallel import each
from gspa.datasets import Dataset
from gspa.errors import InvalidBudget, InvalidValue
from gspa.experiments import NO_NOISE, budget_matrix, interval, setting_label
from gspa.sgd_config import SgdConfig

AS_DRAWN = "budgets as drawn"
EQUAL = "one budget, the same noise power"
FIRST = "noisiest client first"
LAST = "noisiest client last"
_WORTH_PROCESSES = 400  # replica-epochs of width 100: some sixteen seconds on MNIST
_PART = 5  # replicas of a task
_LEAST = 1e-150


def equivalent_budget(eps: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The one budget whose noise has the same mean square: (mean of eps_i^-2)^(-1/2) over the last axis.

    Args:
        eps: shape (..., clients), > 0; inf is a client without noise.

    Returns:
        Shape (...); between the smallest and the largest budget.

    Raises:
        InvalidBudget: a budget is not > 0.

    >>> print(round(float(equivalent_budget([0.01] + [1.0] * 99)), 4))
    0.0995
    """
    budgets = check.floats(eps=eps)
    if budgets.size == 0 or budgets.ndim == 0:
        raise InvalidBudget("eps.shape", budgets.shape, "(..., clients) with at least one client")
    bad = ~(budgets > 0)
    if bad.any():
        raise InvalidBudget("eps", float(budgets[bad].flat[0]), "> 0")
    if budgets.min() < _LEAST:
        raise InvalidBudget("eps", float(budgets.min()), f">= {_LEAST:g}", "its square is no double")
    with np.errstate(divide="ignore"):  # nobody adds noise: 1/0, an infinite budget
        return np.asarray(np.mean(budgets**-2.0, axis=-1) ** -0.5)


def typical_seeds(setting: str, *, clients: int, seeds: Sequence[int], keep: int = 1) -> tuple[int, ...]:
    """The seeds whose draws of a setting make the most usual noise: nearest the median of the equivalent budgets.

    The smallest of a hundred budgets decides a draw's noise, and a single seed may be far off.

    Args:
        setting: a key of `gspa.budgets.DISTRIBUTIONS`.
        clients: budgets a draw.
        seeds: to choose from, as in `gspa.experiments.figure4`.
        keep: how many, at most; >= 1.

    Returns:
        `keep` seeds, or all when there are fewer; the most usual first.
    """
    seeds = check.seeds(seeds=seeds)
    if not seeds:
        raise InvalidValue("seeds", seeds, "at least one")
    budgets = equivalent_budget(budget_matrix(setting, clients=check.count(clients=clients), seeds=seeds))
    # By rank, so that an odd number of seeds has exactly one median.
    off = np.abs(budgets.argsort(kind="stable").argsort() - (len(seeds) - 1) / 2)
    return tuple(int(seeds[i]) for i in off.argsort(kind="stable")[: check.count(keep=keep)])


def same_power(
    data: Dataset,
    config: SgdConfig,
    *,
    setting: str = "unif2",
    seeds: Sequence[int],
    order_seeds: Sequence[int],
    device: str = "cpu",
    jobs: int | None = None,
) -> pd.DataFrame:
    """Trainings with the noise power of a setting's draws, but without their difference, or in another order.

    Everything else that is random is shared with `gspa.experiments.figure4` on the same seeds: starting weights,
    split, order of the clients, and the standard normals that the noise scales.

    Args:
        data: reduced images.
        config: Algorithm 3's settings. The two orders need the permutation drawn once, as line 3 prints, and are
            trained so whatever `client_order` says.
        setting: a key of `gspa.budgets.DISTRIBUTIONS`.
        seeds: draws whose budgets are all replaced by the equivalent one.
        order_seeds: draws whose budgets are dealt in the order of the clients' visits, from the smallest or from
            the largest.
        device: "cpu" or a CUDA device; that of the draws which these trainings are compared with.
        jobs: processes at once (default: the cores at hand, on the CPU).

    Returns:
        One row for each training: `variant` (`EQUAL`, `FIRST` or `LAST`), `setting`, `seed`, `accuracy` in [0, 1],
        `budget` (the equivalent one).

    Raises:
        InvalidValue: no seeds, a setting without noise, or the device is absent.
    """
    seeds, order_seeds = check.seeds(seeds=seeds), check.seeds(order_seeds=order_seeds)
    if setting == NO_NOISE or not len(seeds):
        raise InvalidValue("setting, seeds", (setting, tuple(seeds)), "a noisy setting and at least one seed")
    tasks = []
    for variant, chosen in ((EQUAL, seeds), (FIRST, order_seeds), (LAST, order_seeds)):
        for low in range(0, len(chosen), _PART):
            tasks.append((data, config, setting, variant, tuple(chosen[low : low + _PART])))
    work = (len(seeds) + 2 * len(order_seeds)) * config.epochs * config.hidden_width / 100
    if device != "cpu" or work < _WORTH_PROCESSES:
        jobs = 1
    return pd.concat(each(partial(_train, device), tasks, jobs=jobs), ignore_index=True)


def _train(device: str, task: tuple[Dataset, SgdConfig, str, str, tuple[int, ...]]) -> pd.DataFrame:
    from gspa import sgd

    data, config, setting, variant, seeds = task
    eps = budget_matrix(setting, clients=config.clients, seeds=seeds)
    budget = equivalent_budget(eps)
    if variant == EQUAL:
        eps = np.broadcast_to(budget[:, None], eps.shape)
    else:
        config = replace(config, client_order="once")
        visited = np.sort(eps, axis=1) if variant == FIRST else -np.sort(-eps, axis=1)
        eps = np.empty_like(visited)
        for row, seed in enumerate(seeds):
            eps[row, sgd.visiting_order(seed, clients=config.clients)] = visited[row]
    result = sgd.train(data, eps, config, seeds=seeds, device=device, evaluate_every=config.epochs)
    return pd.DataFrame(
        {
            "variant": variant,
            "setting": setting_label(setting),
            "seed": seeds,
            "accuracy": result.final_accuracy,
            "budget": budget,
        }
    )


def comparison(runs: pd.DataFrame, variants: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """What separates the accuracies, in points, paired by seed.

    Args:
        runs: from `gspa.experiments.figure4`, with the constant budget and the variants' setting.
        variants: from `same_power`.
        confidence: of the intervals.

    Returns:
        A row a difference: `difference`, `seeds`, `points` (mean), `from`, `to` (nan for a single seed), `lowest
        seed`, `highest seed`. The first row is the drop from the constant budget to the setting's draws; the second
        is the part that remains when the noise power is kept and the difference is removed.

    Raises:
        InvalidValue: a seed of the variants was not run.
    """
    (label,) = variants["setting"].unique()
    last = runs[runs["epoch"] == runs["epoch"].max()].set_index("seed")
    drawn = last.loc[last["setting"] == label, "accuracy"]
    constant = last.loc[last["setting"] == setting_label("constant"), "accuracy"]
    by = {name: part.set_index("seed")["accuracy"] for name, part in variants.groupby("variant")}
    pairs = {
        f"Constant: 0.5 - {AS_DRAWN}": (constant, drawn),
        f"{EQUAL} - {AS_DRAWN}": (by[EQUAL], drawn),
    }
    if FIRST in by:
        pairs[f"{FIRST} - {LAST}"] = (by[FIRST], by[LAST])
    rows = []
    for name, (better, base) in pairs.items():
        gap = 100 * (better - base).dropna()
        if len(gap) < min(len(better), len(base)):
            raise InvalidValue("variants", name, "only seeds that `runs` has too")
        low, high = interval(gap, confidence=confidence) if len(gap) > 1 else (np.nan, np.nan)
        rows.append((name, len(gap), gap.mean(), low, high, gap.min(), gap.max()))
    return pd.DataFrame(rows, columns=["difference", "seeds", "points", "from", "to", "lowest seed", "highest seed"])


def one_curve(runs: pd.DataFrame, variants: pd.DataFrame) -> tuple[pd.DataFrame, float]:
    """Do unequal budgets fall on the curve that equal ones draw, accuracy against noise power?

    The curve is a parabola in the logarithm of the noise through the runs with one budget for all (the constant
    setting and `EQUAL`). It is compared with the other settings' runs where it has support.

    Args:
        runs: from `gspa.experiments.figure4`.
        variants: from `same_power`, at least two runs of `EQUAL`.

    Returns:
        A table, a row a setting of unequal budgets with runs inside the curve's support: `setting`, `runs`,
        `off the curve (points)` (mean of observed minus curve), `from`, `to` (95% interval, nan for one run); and
        the share of the variance of those runs' accuracies that the curve explains (R^2; may be negative).

    Raises:
        InvalidValue: fewer than three noise levels with one budget for all.
    """
    points = noise_points(runs, variants)
    curve, (low, high) = equal_curve(points)
    rest = points[~points["equal"] & points["noise"].between(low, high)]
    off = rest["percent"] - curve(np.log(rest["noise"]))
    spread = float(((rest["percent"] - rest["percent"].mean()) ** 2).sum())
    explained = 1 - float((off**2).sum()) / spread if spread > 0 else np.nan
    rows = []
    for setting, part in off.groupby(rest["setting"], sort=False):
        ends = interval(part) if len(part) > 1 else (np.nan, np.nan)
        rows.append((setting, len(part), part.mean(), *ends))
    return pd.DataFrame(rows, columns=["setting", "runs", "off the curve (points)", "from", "to"]), explained


def equal_curve(points: pd.DataFrame) -> tuple[np.polynomial.Polynomial, tuple[float, float]]:
    """The parabola through the runs with one budget for all, in the logarithm of the noise, and its support.

    Args:
        points: from `noise_points`.

    Raises:
        InvalidValue: fewer than three noise levels with one budget for all.
    """
    equal = points[points["equal"]]
    if equal["noise"].nunique() < 3:
        raise InvalidValue("points", equal["noise"].nunique(), "at least three noise levels of equal budgets")
    curve = np.polynomial.Polynomial.fit(np.log(equal["noise"]), equal["percent"], 2)
    return curve, (float(equal["noise"].min()), float(equal["noise"].max()))


def noise_points(runs: pd.DataFrame, variants: pd.DataFrame) -> pd.DataFrame:
    """Final accuracy against noise, a row a training with noise: `setting`, `noise`, `percent`, `equal`.

    `noise` is the root mean square of the clients' sigma; `equal` says that all clients have one budget.
    """
    last = runs[(runs["epoch"] == runs["epoch"].max()) & (runs["noise"] > 0)]
    constant = setting_label("constant")
    drawn = pd.DataFrame(
        {
            "setting": last["setting"],
            "noise": last["noise"],
            "percent": 100 * last["accuracy"],
            "equal": last["setting"] == constant,
        }
    )
    same = variants[variants["variant"] == EQUAL]
    (label,) = same["setting"].unique()
    noise = last[last["setting"] == label].set_index("seed")["noise"]
    added = pd.DataFrame(
        {
            "setting": EQUAL,
            "noise": noise.reindex(same["seed"]).to_numpy(),
            "percent": 100 * same["accuracy"].to_numpy(),
            "equal": True,
        }
    )
    return pd.concat([drawn, added], ignore_index=True)

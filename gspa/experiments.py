"""The paper's training experiment as tidy tables: Figure 4."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from gspa import _validate as check
from gspa import budgets
from gspa._parallel import workers
from gspa.errors import InvalidValue
from gspa.project import cores

if TYPE_CHECKING:
    from gspa.datasets import Dataset
    from gspa.sgd import SgdConfig

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


def figure4(
    data: Dataset,
    config: SgdConfig,
    *,
    seeds: Sequence[int],
    settings: Sequence[str] = SETTINGS,
    device: str = "cpu",
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    checkpoints: Path | None = None,
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
        checkpoints: a folder for notes on where each training stands (`gspa.sgd.train`), removed at the end;
            the same call after a kill goes on from them. None: no notes.

    Returns:
        One row for each (setting, seed, epoch): `setting`, `seed`, `epoch`, `accuracy` in [0, 1],
        `test_loss`, `eps_min` (the smallest budget drawn) and `noise` (root mean square of the clients' sigma).
    """
    train = partial(_train_setting, data, config, tuple(seeds), device, checkpoints)
    at_once = min(check.count(jobs=jobs) if jobs is not None else cores(), len(settings))
    report = progress or (lambda done, total: None)
    tables: list[pd.DataFrame] = []
    files: list[str] = []

    def collect(found: tuple[pd.DataFrame, tuple[str, ...]]) -> None:
        tables.append(found[0])
        files.extend(found[1])
        report(len(tables), len(settings))

    # A process costs seconds to start, which a handful of short runs would not win back.
    if at_once == 1 or device != "cpu" or len(seeds) * config.epochs < _WORTH_A_PROCESS:
        for name in settings:
            collect(train(name))
    else:
        with workers(at_once) as pool:
            for found in pool.map(train, settings):
                collect(found)
    if checkpoints is not None:
        from gspa._checkpoint import forget

        forget(checkpoints, files)
    return pd.concat(tables, ignore_index=True)


def budget_matrix(name: str, *, clients: int, seeds: Sequence[int]) -> NDArray[np.float64]:
    """The budgets that `figure4` trains with: a row a seed, a column a client; inf without noise."""
    seeds, clients = check.seeds(seeds=seeds), check.count(clients=clients)
    if not seeds:
        raise InvalidValue("seeds", seeds, "at least one")
    if name == NO_NOISE:
        return np.full((len(seeds), clients), np.inf)
    drawn = []
    for seed in seeds:
        # Budgets have a stream of their own: the same seed trains from the same start in every setting.
        rng = np.random.default_rng([check.seed(seed=seed), 1])
        eps = budgets.draw(name, n=clients, rng=rng).expanded().eps
        # The halves of "Mixed Constant" come in order; clients hold different images, so deal them out.
        drawn.append(rng.permutation(eps))
    return np.array(drawn)


def _train_setting(
    data: Dataset, config: SgdConfig, seeds: tuple[int, ...], device: str, checkpoints: Path | None, name: str
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """One setting for every seed, and the checkpoints it left."""
    from gspa import sgd

    matrix = budget_matrix(name, clients=config.clients, seeds=seeds)
    result = sgd.train(
        data, matrix, config, seeds=seeds, labels=setting_label(name), device=device, checkpoints=checkpoints
    )
    table = result.to_frame()
    width = len(result.epochs)
    table["eps_min"] = np.repeat(matrix.min(axis=1), width)
    table["noise"] = np.repeat(np.sqrt((result.sigma**2).mean(axis=1)), width)
    return table, result.checkpoints


def interval(values: pd.Series[float], *, confidence: float = 0.95) -> tuple[float, float]:
    """Student's confidence interval for a mean over seeds; (nan, nan) for a single one."""
    check.probability(allow_zero=False, confidence=confidence)
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

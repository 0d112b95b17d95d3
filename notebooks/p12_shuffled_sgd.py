"""Of notebook 12: the trainings, several at once, and the figures.

A *reading* answers what the paper leaves open: fields of `SgdConfig`, or the scaling of the inputs. What is compared
shares its random numbers: a seed fixes starting weights, split, order, budgets and the standard normals of the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from gspa.accountant import budgets
from gspa.algorithms import digits as datasets
from gspa.algorithms import sgd
from gspa.algorithms.digits import Dataset
from gspa.algorithms.sgd_config import SgdConfig
from gspa.book import processes
from gspa.book.figures import DASHES, PALETTE, ROLES, keeps_data, role

Task = TypeVar("Task")
Found = TypeVar("Found")
Runs = pd.DataFrame

NO_NOISE, EQUAL = "no noise", "one budget, the same noise power"
# Figure 4's settings: Table 2's distributions, U(0.5, 1), and no noise as the reference.
SETTINGS = (NO_NOISE, "unif1", "unif2", "unif3", "constant", "mixed")
CLOSE = ("unif2", "unif3", "constant")  # claims rank them; what else they compare is further apart
PRINTED = (NO_NOISE, "constant", "unif2")  # the settings of the printed accuracies
NO_CLIP = 1e6  # far above the norm of any average gradient here: the clip never acts
FIRST, LAST = "noisiest client first", "noisiest client last"
_WORTH_PROCESSES = 200  # epochs of MNIST at width 100: some six seconds


def setting_label(name: str) -> str:
    """A setting as the paper names it.

    >>> setting_label("unif3")
    'Unif 3: U(0.5, 1)'
    """
    if name in (NO_NOISE, EQUAL):
        return name
    law = budgets.DISTRIBUTIONS[name]
    return f"{law.title}: {law.label}"


def equivalent_budget(eps: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The one budget whose noise has the same mean square: (mean of eps_i^-2)^(-1/2) over the last axis.

    >>> print(round(float(equivalent_budget([0.01] + [1.0] * 99)), 4))
    0.0995
    """
    with np.errstate(divide="ignore"):  # nobody adds noise: 1/0, an infinite budget
        return np.asarray(np.mean(np.asarray(eps, dtype=np.float64) ** -2.0, axis=-1) ** -0.5)


def typical(candidates: Sequence[int], keep: int, *, clients: int) -> list[int]:
    """Seeds whose draws of U(0.01, 2), ordered by their noise, are the middles of `keep` equal parts."""
    eps = sgd.client_budgets("unif2", clients=clients, seeds=candidates)
    keep = min(keep, len(candidates))
    middles = (2 * np.arange(keep) + 1) * len(candidates) // (2 * keep)
    return [int(candidates[i]) for i in equivalent_budget(eps).argsort(kind="stable")[middles]]


def budget_matrix(name: str, *, clients: int, seeds: Sequence[int]) -> npt.NDArray[np.float64]:
    """The budgets that `figure4` trains with: a row a seed, a column a client; inf without noise."""
    if name == NO_NOISE:
        return np.full((len(seeds), clients), np.inf)
    if name == EQUAL:
        equal = equivalent_budget(sgd.client_budgets("unif2", clients=clients, seeds=seeds))
        return np.repeat(equal[:, None], clients, axis=1)
    return sgd.client_budgets(name, clients=clients, seeds=seeds)


def each(
    function: Callable[[Task], Found], tasks: Sequence[Task], *, work: float, device: str = "cpu"
) -> Sequence[Found]:
    """The function's value for each task, the longest first; in processes where `work`, in epochs, is worth them."""
    return processes.each(function, tasks, jobs=1 if device != "cpu" or work < _WORTH_PROCESSES else None)


def figure4(
    data: Dataset,
    config: SgdConfig,
    *,
    seeds: Sequence[int],
    settings: Sequence[str] = SETTINGS,
    reference_seeds: int | None = None,
    device: str = "cpu",
    checkpoints: Path | None = None,
) -> Runs:
    """Algorithm 3 for every setting, or `EQUAL`, and seed.

    Columns: setting, seed, epoch, accuracy, test_loss, eps_min (the smallest budget drawn, anew for each seed), noise
    (the root mean square of the clients' sigma), longest (the largest average gradient of the run, before the clip).
    All but `CLOSE` have the first `reference_seeds` seeds only. With a folder for `checkpoints` the same call goes on
    after a kill.
    """
    close = tuple(name for name in settings if name in CLOSE)
    tasks = [(tuple(settings), seed) for seed in seeds[:reference_seeds]]
    tasks += [(close, seed) for seed in seeds[len(tasks) :] if close]
    train = partial(_train_seed, data, config, device, checkpoints)
    found = each(train, tasks, work=config.epochs * sum(len(names) for names, _ in tasks), device=device)
    if checkpoints is not None:
        sgd.forget(checkpoints, [file for _, files in found for file in files])
    runs = pd.concat([table for table, _ in found], ignore_index=True)
    order = [setting_label(name) for name in settings]
    return runs.sort_values("setting", key=lambda names: names.map(order.index), kind="stable", ignore_index=True)


def _train_seed(
    data: Dataset, config: SgdConfig, device: str, checkpoints: Path | None, task: tuple[tuple[str, ...], int]
) -> tuple[Runs, tuple[str, ...]]:
    """Every setting for one seed, and the checkpoints they left."""
    settings, seed = task
    matrix = np.concatenate([budget_matrix(name, clients=config.clients, seeds=[seed]) for name in settings])
    labels = [setting_label(name) for name in settings]
    seeds = [seed] * len(settings)
    result = sgd.train(data, matrix, config, seeds=seeds, labels=labels, device=device, checkpoints=checkpoints)
    width = len(result.epochs)
    table = result.to_frame().assign(
        eps_min=np.repeat(matrix.min(axis=1), width),
        noise=np.repeat(np.sqrt((result.sigma**2).mean(axis=1)), width),
        longest=np.repeat(result.longest, width),
    )
    return table, result.checkpoints


def vanilla(data: Dataset, config: SgdConfig, runs: Runs, *, device: str = "cpu") -> pd.DataFrame:
    """The network of `figure4`'s runs without noise, trained without the clip as well: seed, accuracy.

    Where the clip never acted, that run is it; the others are trained again.
    """
    clean = runs[runs["epoch"] == runs["epoch"].max()]
    clean = clean[clean["setting"] == NO_NOISE]
    clipped = clean.loc[~(clean["longest"] <= config.clip), "seed"].tolist()  # or it is no number any more
    tasks = [(data, replace(config, clip=NO_CLIP), seed) for seed in clipped]
    found = each(partial(_final, (NO_NOISE,), device), tasks, work=len(tasks) * config.epochs, device=device)
    accuracy = dict(zip(clean["seed"], clean["accuracy"], strict=True))
    accuracy |= {seed: value for seed, (value,) in zip(clipped, found, strict=True)}
    return pd.DataFrame({"seed": list(accuracy), "accuracy": list(accuracy.values())})


def orders(data: Dataset, config: SgdConfig, *, seeds: Sequence[int], device: str = "cpu") -> pd.DataFrame:
    """Trainings with the noisiest client first, and last, in an order that stays: variant, seed, accuracy."""
    work = 2 * len(seeds) * config.epochs * config.hidden_width / 100
    return pd.concat(each(partial(_train_orders, data, config, device), seeds, work=work, device=device))


def _train_orders(data: Dataset, config: SgdConfig, device: str, seed: int) -> pd.DataFrame:
    """A seed's draw with the noisiest client first, and last."""
    (eps,) = sgd.client_budgets("unif2", clients=config.clients, seeds=[seed])
    config, rows = replace(config, client_order="once"), np.empty((2, config.clients))
    rows[:, sgd.visiting_order(seed, clients=config.clients)] = np.sort(eps), -np.sort(-eps)
    found = sgd.train(data, rows, config, seeds=[seed] * 2, device=device, evaluate_every=config.epochs).final_accuracy
    return pd.DataFrame({"variant": (FIRST, LAST), "seed": seed, "accuracy": found})


@dataclass(frozen=True)
class Reading:
    """One answer to one open question: `changes` are fields of `SgdConfig`, and `scaling` of the inputs."""

    question: str
    answer: str = ""
    changes: Mapping[str, object] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.question}: {self.answer}" if self.answer else self.question

    def config(self, config: SgdConfig) -> SgdConfig:
        """The settings under this reading."""
        return replace(config, **{k: v for k, v in self.changes.items() if k != "scaling"})  # type: ignore[arg-type]

    def unclipped(self) -> Reading:
        """The same with a clip that never acts."""
        return replace(self, changes={**self.changes, "clip": NO_CLIP})

    def scaling(self, scaling: str) -> str:
        """The input scaling under this reading."""
        return str(self.changes.get("scaling", scaling))


THIS_PAGE = Reading("as on this page")


def open_questions(
    config: SgdConfig, *, n: int, scaling: str = "none", widths: Sequence[int] = (32, 300), combined_width: int = 300
) -> tuple[Reading, ...]:
    """The page's own reading, then one question at a time, then combinations; each of them once."""
    m = "the $m$ of lines 7 and 13"
    # Table 3's m as the size of a batch: n/m clients of m samples, and both lines divide by those m samples.
    batches = max(1, n // config.clients)
    samples = {"noise_divisor": "samples", "average_divisor": "samples"}
    both = samples | {"scaling": "standardize_pixels"}
    wide = both | {"hidden_width": combined_width}
    asked = [
        *(Reading("hidden width", f"{width:,}", {"hidden_width": width}) for width in widths),
        *(Reading("initialization", how, {"initialization": how}) for how in ("he", "torch_default")),
        Reading("inputs", "centred pixels", {"scaling": "none"}),
        Reading("inputs", "unit-variance components", {"scaling": "unit_variance"}),
        Reading("inputs", "standardized pixels", {"scaling": "standardize_pixels"}),
        Reading("client order", "anew each epoch", {"client_order": "per_epoch"}),
        Reading("client order", "drawn once", {"client_order": "once"}),
        Reading("images to clients", "in file order", {"client_split": "contiguous"}),
        Reading("images to clients", "shuffled", {"client_split": "shuffled"}),
        Reading(m, "a client's samples in both", samples),
        Reading(m, "the clients in both", {"noise_divisor": "clients", "average_divisor": "clients"}),
        Reading(m, "samples in line 7, clients in line 13", {"noise_divisor": "samples", "average_divisor": "clients"}),
        Reading(m, f"a batch: {batches:,} clients of {n // batches:,}", {"clients": batches, **samples}),
        Reading("combined", "samples, standardized pixels", both),
        Reading("combined", f"samples, standardized pixels, width {combined_width:,}", wide),
    ]
    distinct: dict[tuple[SgdConfig, str], Reading] = {}
    for reading in (THIS_PAGE, *asked):
        distinct.setdefault((reading.config(config), reading.scaling(scaling)), reading)
    return tuple(distinct.values())


def sensitivity(
    images: Dataset,
    config: SgdConfig,
    readings: Sequence[Reading],
    *,
    seeds: Sequence[int],
    known: pd.DataFrame | None = None,
    settings: Sequence[str] = PRINTED,
    components: int = 60,
    scaling: str = "none",
    device: str = "cpu",
) -> pd.DataFrame:
    """Final accuracy of each reading of `config` and `scaling` on pixels: reading, setting, seed, accuracy.

    A reading and seed that `known`, alike, has for all settings is read off there and not trained again.
    """
    labels = [setting_label(name) for name in settings]
    accuracy: dict[tuple[str, str, int], float] = {}
    if known is not None:
        columns = ["reading", "setting", "seed", "accuracy"]
        accuracy = {(r, label, seed): value for r, label, seed, value in known[columns].itertuples(index=False)}
    every = [(reading, seed) for reading in readings for seed in seeds]
    missing = [(r, seed) for r, seed in every if any((r.label, label, seed) not in accuracy for label in labels)]
    scalings = {reading.scaling(scaling) for reading, _ in missing}
    reduced = {how: datasets.project(images, components=components, scaling=how) for how in scalings}
    tasks = [(reduced[r.scaling(scaling)], r.config(config), seed) for r, seed in missing]
    costs = np.array([_cost(data, changed) for data, changed, _ in tasks])
    order = np.argsort(-costs, kind="stable")
    train = partial(_final, tuple(settings), device)
    found = each(train, [tasks[i] for i in order], work=len(settings) * float(costs.sum()), device=device)
    for i, values in zip(order, found, strict=True):
        reading, seed = missing[i]
        accuracy |= {(reading.label, label, seed): value for label, value in zip(labels, values, strict=True)}
    rows = [
        (r.label, label, seed, accuracy[r.label, label, seed]) for r in readings for label in labels for seed in seeds
    ]
    return pd.DataFrame(rows, columns=["reading", "setting", "seed", "accuracy"])


def own_answers(runs: Runs) -> pd.DataFrame:
    """The final accuracies of `figure4`, as `sensitivity` has them for the page's own reading."""
    return runs[runs["epoch"] == runs["epoch"].max()][["setting", "seed", "accuracy"]].assign(reading=THIS_PAGE.label)


def _cost(data: Dataset, config: SgdConfig) -> float:
    """Work of one replica, in epochs of MNIST at width 100; a step has a cost of its own beside its samples."""
    return config.epochs * config.hidden_width / 100 * (len(data.train_x) + 100 * config.clients) / 70_000


def _final(settings: tuple[str, ...], device: str, task: tuple[Dataset, SgdConfig, int]) -> list[float]:
    """Final accuracy of every setting for one seed."""
    data, config, seed = task
    eps = np.concatenate([budget_matrix(name, clients=config.clients, seeds=[seed]) for name in settings])
    seeds = [seed] * len(settings)
    result = sgd.train(data, eps, config, seeds=seeds, device=device, evaluate_every=config.epochs)
    return [float(value) for value in result.final_accuracy]


@keeps_data
def accuracy_curves(runs: Runs, *, dataset: str) -> Figure:
    """Figure 4: test accuracy by epoch, a line a setting, a 95% band for the mean over seeds."""
    settings = runs["setting"].nunique()
    figure, axis = plt.subplots(figsize=(8, 4.8), layout="constrained")
    sns.lineplot(
        runs.assign(percent=100 * runs["accuracy"]),
        x="epoch",
        y="percent",
        hue="setting",
        style="setting",
        dashes=[dashes or "" for dashes in DASHES[:settings]],
        palette=list(PALETTE[:settings]),
        errorbar=("se", 1.96) if runs["seed"].nunique() > 1 else None,
        lw=1.8,
        ax=axis,
    )
    axis.set(xlabel="epoch", ylabel=f"test accuracy on {dataset} (%)", ylim=(0, 100), xlim=(0, runs["epoch"].max()))
    handles, names = axis.get_legend_handles_labels()
    axis.legend().remove()
    figure.legend(handles, names, loc="outside lower center", ncols=2)
    return figure


@keeps_data
def final_accuracies(ends: Runs, *, dataset: str) -> Figure:
    """The spread of the final accuracy over seeds, a row a setting, from `last`."""
    figure, axis = plt.subplots(figsize=(8, 0.6 * ends["setting"].nunique() + 1.2), layout="constrained")
    sns.stripplot(
        ends.assign(percent=100 * ends["accuracy"]),
        x="percent",
        y="setting",
        color=PALETTE[0],
        jitter=False,  # a jitter would need a seed of its own
        alpha=0.6,
        ax=axis,
    )
    means = 100 * ends.groupby("setting", sort=False)["accuracy"].mean()
    axis.plot(means.to_numpy(), np.arange(len(means)), "|", color=ROLES["truth"][0], ms=22, mew=2.5)
    axis.set(xlabel=f"final test accuracy on {dataset} (%); the bar is the mean", ylabel="")
    return figure


@keeps_data
def reading_dots(answers: pd.DataFrame, printed: Mapping[str, float], *, dataset: str) -> Figure:
    """Final accuracy under each reading, a panel a setting; the paper's number as a dashed line."""
    readings, settings = list(dict.fromkeys(answers["reading"])), list(dict.fromkeys(answers["setting"]))
    rows = {name: row for row, name in enumerate(readings)}
    figure, axes = plt.subplots(
        1, len(settings), figsize=(8.6, 0.27 * len(readings) + 1.5), sharey=True, layout="constrained", squeeze=False
    )
    for axis, setting in zip(axes[0], settings, strict=True):
        part = answers[answers["setting"] == setting]
        own = part.loc[part["reading"] == THIS_PAGE.label, "accuracy"].mean()
        axis.axvline(100 * own, **role("reference") | {"lw": 1.4})
        axis.axvline(printed[setting], **role("paper"))
        axis.plot(100 * part["accuracy"], part["reading"].map(rows), "o", color=PALETTE[0], ms=5, alpha=0.7)
        axis.set_title(setting)
        axis.grid(visible=True, axis="y", lw=0.4)
    axes[0, 0].set_yticks(range(len(readings)), readings, fontsize=9)
    axes[0, 0].invert_yaxis()
    label = f"final test accuracy on {dataset} (%); grey and dashed: as on this page, orange: printed in the paper"
    figure.supxlabel(label, fontsize=10)
    return figure


@keeps_data
def noise_curve(points: pd.DataFrame, curve: Callable[..., npt.NDArray[np.float64]], *, dataset: str) -> Figure:
    """Final accuracy against the noise's root mean square: one budget for all, and budgets that differ."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    equal = points[points["equal"]]
    if equal["noise"].nunique() > 2:
        grid = np.geomspace(equal["noise"].min(), equal["noise"].max(), 100)
        axis.plot(grid, curve(np.log(grid)), color=PALETTE[1], lw=1.6, label="parabola through equal budgets")
    label = "every client the same budget"
    axis.plot(equal["noise"], equal["percent"], "o", color=PALETTE[1], ms=7, mfc="none", mew=1.4, label=label)
    looks = zip("s^vD", (PALETTE[0], *PALETTE[2:5]), strict=True)
    unequal = points[~points["equal"]].groupby("setting", sort=False)
    for (setting, part), (marker, colour) in zip(unequal, looks, strict=False):
        axis.plot(part["noise"], part["percent"], marker, color=colour, ms=5, alpha=0.75, label=setting)
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set(
        xlim=(points["noise"].min() / 1.15, points["noise"].max() * 1.15),
        xlabel="root mean square of the clients' sigma, per coordinate of a gradient",
        ylabel=f"final test accuracy on {dataset} (%)",
    )
    axis.legend(fontsize=9)
    return figure

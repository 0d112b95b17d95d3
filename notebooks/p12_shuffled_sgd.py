"""Of notebook 12: the trainings, several at once, and the figures.

A *law* is how budgets are drawn; a *reading* answers what the paper leaves open, with fields of `SgdConfig` or the
inputs' `scaling`. A seed fixes starting weights, split, order, budgets and the noise's standard normals for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from gspa.accountant import budgets
from gspa.algorithms import sgd
from gspa.algorithms.digits import Dataset
from gspa.algorithms.sgd_config import SgdConfig
from gspa.book import processes
from gspa.book.figures import DASHES, PALETTE, ROLES, keeps_data, name_line, role

NO_NOISE, EQUAL = "no noise", "one budget, the same noise power"
FIRST, LAST = "noisiest client first", "noisiest client last"  # draws of U(0.01, 2) in the order of the visits
# Figure 4's laws: Table 2's distributions, U(0.5, 1), and no noise as the reference.
LAWS = (NO_NOISE, "unif1", "unif2", "unif3", "constant", "mixed")
CLOSE = ("unif2", "unif3", "constant")  # claims rank them; what else they compare is further apart
PRINTED = (NO_NOISE, "constant", "unif2")  # the laws of the printed accuracies
HERE = "as on this page"
NO_CLIP = {"clip": 1e6}  # far above the norm of any average gradient here: it never acts
Readings = dict[str, dict[str, Any]]
_KEYS = ["reading", "law", "seed"]
_WORTH_PROCESSES = 200  # epochs of MNIST at width 100: some six seconds


def law_label(name: str) -> str:
    """A law as the paper names it.

    >>> law_label("unif3")
    'Unif 3: U(0.5, 1)'
    """
    found = budgets.DISTRIBUTIONS.get(name)
    return f"{found.title}: {found.label}" if found else name


def same_noise(eps: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The one budget whose noise has the same mean square: (mean of eps_i^-2)^(-1/2) over the last axis.

    >>> print(round(float(same_noise(np.array([0.01] + [1.0] * 99))), 4))
    0.0995
    """
    return np.asarray((eps**-2.0).mean(axis=-1) ** -0.5)


def typical(candidates: Sequence[int], keep: int, *, clients: int) -> list[int]:
    """Seeds whose draws of U(0.01, 2), ordered by their noise, are the middles of `keep` equal parts."""
    eps = sgd.client_budgets("unif2", clients=clients, seeds=candidates)
    keep = min(keep, len(candidates))
    middles = (2 * np.arange(keep) + 1) * len(candidates) // (2 * keep)
    return [int(candidates[i]) for i in same_noise(eps).argsort(kind="stable")[middles]]


def budgets_of(law: str, *, clients: int, seed: int) -> npt.NDArray[np.float64]:
    """The budget of every client in a law; inf without noise."""
    if law == NO_NOISE:
        return np.full(clients, np.inf)
    eps = sgd.client_budgets(law if law in LAWS else "unif2", clients=clients, seeds=[seed]).ravel()
    if law == EQUAL:
        return np.full(clients, same_noise(eps))
    if law in (FIRST, LAST):
        eps[sgd.visiting_order(seed, clients=clients)] = np.sort(eps)[:: 1 if law == FIRST else -1]
    return eps


class Training(NamedTuple):
    """Algorithm 3 for some laws and one seed; tested after every so many epochs."""

    reading: str
    data: Dataset
    config: SgdConfig
    laws: tuple[str, ...]
    seed: int
    every: int

    @property
    def work(self) -> float:
        """In epochs of MNIST at width 100; a step has a cost of its own beside its samples."""
        size = (len(self.data.train_x) + 100 * self.config.clients) / 70_000
        return len(self.laws) * self.config.epochs * self.config.hidden_width / 100 * size

    def run(self, device: str, checkpoints: Path | None) -> tuple[pd.DataFrame, tuple[str, ...]]:
        """The accuracies, and the checkpoints they left."""
        eps = np.array([budgets_of(name, clients=self.config.clients, seed=self.seed) for name in self.laws])
        labels, seeds = [law_label(name) for name in self.laws], [self.seed] * len(self.laws)
        given: dict[str, Any] = {"seeds": seeds, "labels": labels, "device": device, "checkpoints": checkpoints}
        found = sgd.train(self.data, eps, self.config, evaluate_every=self.every, **given)
        own = {"eps_min": eps.min(axis=1), "noise": np.sqrt((found.sigma**2).mean(axis=1)), "longest": found.longest}
        columns = {name: np.repeat(values, len(found.epochs)) for name, values in own.items()}
        table = found.to_frame().rename(columns={"setting": "law"}).assign(reading=self.reading, **columns)
        return table, found.checkpoints


def trained(trainings: Sequence[Training], *, device: str, checkpoints: Path | None = None) -> pd.DataFrame:
    """All of them, the longest first; in processes where that pays.

    Columns: reading, law, seed, epoch, accuracy, test_loss, eps_min (the smallest budget drawn), noise (the root
    mean square of the clients' sigma), longest (the largest average gradient of the run, before the clip).
    """
    order = sorted(trainings, key=lambda one: -one.work)
    few = device != "cpu" or sum(one.work for one in order) < _WORTH_PROCESSES
    run = partial(Training.run, device=device, checkpoints=checkpoints)
    found = processes.each(run, order, jobs=1 if few else None)
    if checkpoints is not None:
        sgd.forget(checkpoints, [file for _, files in found for file in files])
    return pd.concat([table for table, _ in found], ignore_index=True)


def figure4(
    data: Dataset,
    config: SgdConfig,
    *,
    seeds: Sequence[int],
    laws: Sequence[str] = LAWS,
    reference_seeds: int | None = None,
    device: str = "cpu",
    checkpoints: Path | None = None,
) -> pd.DataFrame:
    """Algorithm 3 for every law and seed, as `trained` has it; all but `CLOSE` have `reference_seeds` only.

    With a folder for `checkpoints` the same call goes on after a kill.
    """
    close, few = [name for name in laws if name in CLOSE], len(seeds[:reference_seeds])
    names = [tuple(laws)] * few + [tuple(close)] * (len(seeds) - few)
    trainings = [Training(HERE, data, config, *one, 1) for one in zip(names, seeds, strict=True) if one[0]]
    runs = trained(trainings, device=device, checkpoints=checkpoints)
    order = [law_label(name) for name in laws]
    return runs.sort_values("law", key=lambda names: names.map(order.index), kind="stable", ignore_index=True)


def distinct(readings: Readings, config: SgdConfig, *, scaling: str) -> Readings:
    """Those that differ; of the same trainings the first alone."""
    own, first = vars(config) | {"scaling": scaling}, dict[Any, str]()
    for label, changes in readings.items():
        first.setdefault(frozenset((own | changes).items()), label)
    return {label: readings[label] for label in first.values()}


def sensitivity(
    data: Mapping[str, Dataset],
    config: SgdConfig,
    readings: Readings,
    *,
    seeds: Sequence[int],
    known: pd.DataFrame | None = None,
    laws: Sequence[str] = PRINTED,
    scaling: str = "none",
    device: str = "cpu",
) -> pd.DataFrame:
    """Final accuracy under each reading of `config` and `scaling`: reading, law, seed, accuracy.

    Args:
        data: the images by scaling.
        known: such a table; a reading and seed that it has for all laws is read off there and not trained again.
    """
    asked = pd.MultiIndex.from_product([readings, map(law_label, laws), seeds], names=_KEYS)
    accuracy = pd.Series(index=asked[:0], dtype=float) if known is None else known.set_index(_KEYS)["accuracy"]
    trainings = []
    for reading, seed in dict.fromkeys((one[0], one[2]) for one in asked if one not in accuracy.index):
        changes = dict(readings[reading])
        images = data[changes.pop("scaling", scaling)]
        trainings.append(Training(reading, images, replace(config, **changes), tuple(laws), seed, config.epochs))
    if trainings:
        runs = trained(trainings, device=device)
        ends = runs[runs["epoch"] == config.epochs].set_index(_KEYS)["accuracy"]
        accuracy = ends.combine_first(accuracy)
    return accuracy.reindex(asked).reset_index(name="accuracy")


@keeps_data
def accuracy_curves(runs: pd.DataFrame, printed: Mapping[str, float], *, dataset: str) -> Figure:
    """Figure 4: test accuracy by epoch, a line a law, a 95% band for the mean over seeds; percents that are printed."""
    laws = runs["law"].nunique()
    figure, axis = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
    sns.lineplot(
        runs.assign(percent=100 * runs["accuracy"]),
        x="epoch",
        y="percent",
        hue="law",
        style="law",
        dashes=[dashes or "" for dashes in DASHES[:laws]],
        palette=list(PALETTE[:laws]),
        errorbar=("se", 1.96) if runs["seed"].nunique() > 1 else None,
        lw=1.8,
        ax=axis,
    )
    last, orange = runs["epoch"].max(), ROLES["paper"][0]
    axis.set(xlabel="epoch", ylabel=f"test accuracy on {dataset} (%)", ylim=(0, 100), xlim=(0, last))
    for place, (law, percent) in enumerate(sorted(printed.items(), key=lambda one: -one[1])):
        colour = PALETTE[list(dict.fromkeys(runs["law"])).index(law)]
        axis.plot([last], [percent], "D", ms=6, mfc=colour, mec=orange, mew=1.5, clip_on=False, zorder=4)
        name_line(axis, last, percent, f"{percent:g} printed", colour=colour, right=9, up=12 * (1 - place))
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    axis.legend().remove()
    return figure


@keeps_data
def reading_dots(answers: pd.DataFrame, printed: Mapping[str, float], *, dataset: str) -> Figure:
    """Final accuracy under each reading, a panel a law; the paper's number as a dashed line."""
    readings, laws = list(dict.fromkeys(answers["reading"])), list(dict.fromkeys(answers["law"]))
    size = (4.8, 0.34 * len(readings) + 1.4)
    figure, axes = plt.subplots(1, len(laws), figsize=size, sharey=True, layout="constrained", squeeze=False)
    for axis, law in zip(axes[0], laws, strict=True):
        part = answers[answers["law"] == law]
        own = part.loc[part["reading"] == HERE, "accuracy"].mean()
        axis.axvline(100 * own, **role("reference") | {"lw": 1.4})
        axis.axvline(printed[law], **role("paper"))
        axis.plot(100 * part["accuracy"], part["reading"].map(readings.index), "o", color=PALETTE[0], ms=5, alpha=0.7)
        axis.set_title(law)
        axis.grid(visible=True, axis="y", lw=0.4)
    # The names stand above their rows and reach across the panels.
    first = axes[0, 0]
    first.set_zorder(1)
    first.patch.set_visible(False)
    first.set(ylim=(len(readings) - 0.6, -0.9), yticks=[])
    for y, words in enumerate(readings):
        where = {"xycoords": first.get_yaxis_transform(), "textcoords": "offset points"}
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        first.annotate(words, (0, y), xytext=(3, 4), fontsize=9, va="bottom", in_layout=False, bbox=behind, **where)
    label = f"final test accuracy on {dataset} (%)\ngrey and dashed: as on this page; orange: printed in the paper"
    figure.supxlabel(label, fontsize=9)
    return figure


@keeps_data
def noise_curve(points: pd.DataFrame, curve: Callable[..., npt.NDArray[np.float64]], *, dataset: str) -> Figure:
    """Final accuracy against the noise's root mean square: one budget for all, and budgets that differ."""
    figure, axis = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
    named = points.assign(label=points["law"].mask(points["equal"], "every client the same budget"))
    equal = points.loc[points["equal"], "noise"]
    grid = np.geomspace(equal.min(), equal.max(), 100)
    axis.plot(grid, curve(np.log(grid)), color=PALETTE[1], lw=1.6, label="curve through equal budgets")
    groups = named.sort_values("equal", ascending=False, kind="stable").groupby("label", sort=False)
    for (label, part), marker, colour in zip(groups, "os^vD", PALETTE[1:], strict=False):
        axis.plot(part["noise"], part["percent"], marker, color=colour, ms=5, alpha=0.75, label=label)
    axis.set(
        xscale="log",
        xlabel="noise: root mean square of the clients' sigma",
        ylabel=f"final test accuracy on {dataset} (%)",
    )
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.legend(fontsize=9)
    return figure

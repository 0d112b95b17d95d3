"""Of notebook 16: its trainings, read as tables, two printed lines tried, and its figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from numpy.typing import NDArray
from scipy.special import stdtrit

from gspa.accountant.errors import OutsideValidity
from gspa.algorithms import digits
from gspa.algorithms.flame import federated, published
from gspa.algorithms.flame.accounting import DOUBLE, METHODS, SIMPLE, TOPK, Worth
from gspa.algorithms.flame.aggregation import Sampled
from gspa.algorithms.flame.experiment import DP, Case, Paper, Setup
from gspa.algorithms.flame.federated import Users, partition
from gspa.algorithms.flame.protocols import Rules, keypair, play
from gspa.algorithms.flame.randomizers import Laplace
from gspa.book import processes
from gspa.book.figures import DASHES, PALETTE, keeps_data
from gspa.book.verdicts import Verdict, at_least, joined, ranked, within

_WORTH_A_PROCESS = 150_000  # updates of a user, all runs together: some twenty seconds
_KEYS = ["group", "label", "varied", "value", "noise"]


def run(
    data: str, cases: Sequence[Case], *, users: int, seeds: Sequence[int], device: str = "cpu", jobs: int | None = None
) -> pd.DataFrame:
    """Every case, trained on "mnist" or "digits" with these users, in processes where that pays.

    Columns: group, label, varied, value, noise, seed, round, accuracy in [0, 1], largest, overflowing. Only Figure 5
    shows what lies between the first round and the last; elsewhere that accuracy is NaN.
    """
    # The longest, which have most to draw, come first.
    order = sorted({case.setup: None for case in cases}, key=lambda one: not isinstance(one.aggregator, Sampled))
    work = len(seeds) * sum(one.training.rounds * (users // one.training.batches) for one in order)
    if jobs is None:
        jobs = 1 if work < _WORTH_A_PROCESS or device != "cpu" else None
    drawn = {case.setup for case in cases if case.group == "figure 5"}
    tasks = [(data, users, setup, tuple(seeds), device, setup in drawn) for setup in order]
    found = dict(zip(order, processes.each(_trained, tasks, jobs=jobs), strict=True))
    parts = []
    for case in cases:
        part = found[case.setup].assign(noise=case.setup.noise)
        parts.append(part.assign(group=case.group, label=case.label, varied=case.varied, value=case.value))
    table: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return table[[*_KEYS, "seed", "round", "accuracy", "largest", "overflowing"]]


def _trained(task: tuple[str, int, Setup, Sequence[int], str, bool]) -> pd.DataFrame:
    data, users, setup, seeds, device, drawn = task
    held, every = dealt_to(data, users), 1 if drawn else setup.training.rounds
    return federated.train(
        held, setup.aggregator, setup.training, seeds=seeds, noise=setup.noise, device=device, evaluate_every=every
    )


@lru_cache(maxsize=1)
def dealt_to(data: str, users: int) -> Users:
    """The images of "mnist" or "digits" as these users hold them; the last answer is kept."""
    return partition(digits.load(data), users=users)


def different_indices(data: str, paper: Paper, *, users: int, seed: int) -> NDArray[np.bool_]:
    """Of the first batch: whether a user's k largest coordinates are others than the next user's."""
    held = dealt_to(data, users)
    start = federated.initial_weights(held.x.shape[2], held.classes, seed)
    batch = slice(0, users // paper.training.batches)
    updates = federated.local_updates(held.x[batch], held.y[batch], start, paper.training)
    top = np.argpartition(np.abs(updates), updates.shape[1] - paper.k, axis=1)[:, -paper.k :]
    top.sort(axis=1)
    different: NDArray[np.bool_] = (top != np.roll(top, -1, axis=0)).any(axis=1)
    return different


class Gap(NamedTuple):
    """A mean of differences, in points, with its interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        interval = "" if math.isnan(self.low) else f" ({self.low:.2f} to {self.high:.2f})"
        return f"{self.mean:+.2f}{interval}".replace("-", "\N{MINUS SIGN}")


def mean(values: pd.Series, confidence: float = 0.95) -> Gap:
    """The mean over seeds, with Student's interval; NaN for the ends of a single one."""
    half = stdtrit(len(values) - 1, 0.5 + confidence / 2) * values.std(ddof=1) / math.sqrt(len(values))
    return Gap(float(values.mean()), float(values.mean() - half), float(values.mean() + half))


def final(runs: pd.DataFrame, group: str, *by: str) -> pd.DataFrame:
    """Accuracy after the last round in percent: a row a seed, a column a case."""
    part: pd.DataFrame = runs[(runs["group"] == group) & (runs["round"] == runs["round"].max())]
    percent: pd.DataFrame = 100 * part.pivot(index="seed", columns=[*by], values="accuracy")
    return percent


def gain(ahead: Gap, printed: float, tolerance: float, *, setting: bool = False) -> Verdict:
    """A printed number of points that one method is ahead by: the number, and the sign."""
    return joined(within(ahead.mean - printed, tolerance, setting=setting), ranked(ahead.low, ahead.high))


def keeps(stated: float, eps: pd.Series) -> Verdict:
    """Whether an eps that lies between an attack's and a certificate's is at most what is stated."""
    return at_least(stated - eps["upper"], stated - eps["lower"], 0.0)


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Accuracy after the last round, a row a case, with a 95% interval for the mean over seeds, all in percent.

    Columns: those of a case, mean (%), from, to; largest, overflowing, of all rounds.
    """
    rows = []
    for key, part in runs.groupby(_KEYS, sort=False, dropna=False):
        found = mean(100 * part[part["round"] == part["round"].max()]["accuracy"])
        most = part[["largest", "overflowing"]].max().astype(int)
        rows.append((*key, *found, *most))
    return pd.DataFrame(rows, columns=[*_KEYS, "mean (%)", "from", "to", "largest", "overflowing"])


def in_order(rows: pd.DataFrame) -> dict[str, float]:
    """Rows of `summary` as method to mean, the most accurate first."""
    ordered = rows.sort_values("mean (%)", ascending=False, kind="stable")
    return dict(zip(ordered["label"].str.removesuffix(" tuned"), ordered["mean (%)"], strict=True))


def worth_table(worths: Sequence[Worth], paper: Paper) -> pd.DataFrame:
    """The fields of `Worth` by method, and `printed`, the paper's eps; NaN for what is missing."""
    stated = []
    for method, budget, *_ in worths:
        one = published.Setting(**paper.sizes, eps=budget)
        try:
            found = published.simple(one.full(eps=budget), bound="old_bennett") if method == SIMPLE else None
            stated.append((found or published.double(one, bound="old_bennett")).eps)
        except OutsideValidity:
            stated.append(math.nan)
    table = pd.DataFrame(worths, columns=Worth._fields).assign(printed=stated)
    return table.set_index("method").reindex(METHODS)


def estimates(*, repeats: int, seed: int) -> pd.DataFrame:
    """The analyzer's estimates (Algorithm 2) of one value that all users hold everywhere, by protocol and rule.

    Columns: truth, that value; mean, of all rounds; its standard error; expected, the mean in closed form, which is as
    printed the value for SS-Simple and C(n_p/n - 1) + beta value with dummies.
    """
    d, n, n_p, clip, value = 8, 24, 20, 0.01, 0.004
    updates, secret, rows = np.full((n, d), value), keypair("envelope"), []
    for number, (protocol, select, k) in enumerate(((SIMPLE, "all", d), (DOUBLE, "uniform", 2))):
        for printed in (True, False):
            rng = np.random.default_rng([seed, number])
            rules = Rules(d=d, n=n, clip=clip, local=Laplace(20.0), k=k, n_p=n_p, select=select, printed=printed)
            means = np.array([play(updates, rules, secret, rng=rng).z.mean() for _ in range(repeats)])
            expected = clip * (n_p / n - 1) + k / d * value if printed and select != "all" else value
            error = means.std(ddof=1) / math.sqrt(repeats)
            rows.append((protocol, "printed" if printed else "corrected", value, means.mean(), error, expected))
    return pd.DataFrame(rows, columns=["protocol", "rule", "truth", "mean", "error", "expected"])


class Share(NamedTuple):
    """How much of the largest coordinates is selected, and how many of the selected values are negative."""

    share: float
    negative: float


def selected_share(*, d: int, k: int, users: int, seed: int) -> dict[str, Share]:
    """Algorithm 4's selection of k of d coordinates, by x~ as printed and by the size of x, for normal updates.

    Their standard deviation is 0.2 C, which the clip leaves alone.
    """
    rng = np.random.default_rng(seed)
    updates = rng.normal(0, 0.2, size=(users, d))
    scaled = (np.clip(updates, -1, 1) + 1) / 2
    by_size = np.argsort(np.abs(updates), axis=1)[:, d - k :]
    # Those that the clip makes equal in random order.
    by_scaled = np.lexsort((rng.random(updates.shape), np.abs(scaled)), axis=1)[:, d - k :]
    found = {}
    for rule, chosen in (("printed", by_scaled), ("corrected", by_size)):
        hits = [np.isin(mine, largest).mean() for mine, largest in zip(chosen, by_size, strict=True)]
        negative = (np.take_along_axis(updates, chosen, axis=1) < 0).mean()
        found[rule] = Share(float(np.mean(hits)), float(negative))
    return found


_TITLES = {"fresh": "fresh noise\nin every round", "released": "the released trainer's\nnoise, repeated"}
_SWEEPS = (
    ("figure 6", "budget $\\epsilon_{lk}$\nof one report", False),
    ("figure 7", "$n/n_p$", False),
    ("figure 8", "share $\\beta$ of\ncoordinates (log)", True),
)
_MARKS = {SIMPLE: "s", DOUBLE: "D", TOPK: "o"}
# As the methods have them in Figure 5's order.
_COLOURS = {DP: PALETTE[2], TOPK: PALETTE[3], DOUBLE: PALETTE[4], SIMPLE: PALETTE[5]}


@keeps_data
def accuracies_figure(runs: pd.DataFrame, *, dataset: str) -> Figure:
    """Figure 5 from its rows of `run`: test accuracy by round; bands reach from the lowest to the highest seed."""
    labels, rounds = list(dict.fromkeys(runs["label"])), runs["round"].max()
    figure, axes = plt.subplots(1, 2, figsize=(4.8, 4), sharey=True, layout="constrained")
    for axis, (noise, title) in zip(axes, _TITLES.items(), strict=True):
        for label, part in runs[runs["noise"] == noise].groupby("label", sort=False):
            line = 100 * part.groupby("round")["accuracy"].agg(["mean", "min", "max"])
            index = labels.index(label)
            # One colour less than methods: the two LDP-FL lines share one.
            colour, dashes = PALETTE[min(index, len(PALETTE) - 1)], DASHES[index % len(DASHES)] or (None, None)
            axis.fill_between(line.index, line["min"], line["max"], color=colour, alpha=0.15, lw=0)
            axis.plot(line.index, line["mean"], color=colour, dashes=dashes, lw=2, label=label)
        axis.set(title=title, xlabel="round", xlim=(0, rounds), ylim=(0, 100))
    axes[0].set_ylabel(f"test accuracy on {dataset} (%)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


@keeps_data
def variations_figure(sweeps: pd.DataFrame, *, dataset: str) -> Figure:
    """Figures 6 to 8, rows of `summary`: SS-Topk's accuracy, a panel a parameter; bars are 95% intervals."""
    figure, axes = plt.subplots(1, 3, figsize=(4.8, 3), sharey=True, layout="constrained")
    for axis, (group, xlabel, log) in zip(axes, _SWEEPS, strict=True):
        for index, (varied, rows) in enumerate(sweeps[sweeps["group"] == group].groupby("varied", sort=False)):
            line, colour, dashes = rows.sort_values("value"), PALETTE[index + 1], DASHES[index] or (None, None)
            style = {"color": colour, "dashes": dashes, "marker": "os"[index], "ms": 5, "lw": 2, "label": varied}
            axis.plot(line["value"], line["mean (%)"], **style)
            if line["from"].notna().all():
                axis.vlines(line["value"], line["from"], line["to"], color=colour, lw=1.5)
        axis.set(title=group.capitalize(), xlabel=xlabel)
        if log:
            axis.set_xscale("log")
            axis.legend(loc="lower right")
    axes[0].set_ylabel(f"accuracy of SS-Topk on {dataset} (%)")
    return figure


@keeps_data
def worth_figure(worth: pd.DataFrame, curator: pd.DataFrame, *, dataset: str) -> Figure:
    """Accuracy against one epoch's eps: DP-FL (rows of `summary`) as a line, protocols from attack to certified."""
    curve = curator.sort_values("value")
    at = float(curve.loc[curve["label"] == "DP-FL", "value"].iloc[0])
    figure, axis = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
    axis.plot(
        curve["value"], curve["mean (%)"], color=_COLOURS[DP], marker="x", ms=6, lw=2, label="DP-FL, analytic Gaussian"
    )
    for method, one in worth.dropna(subset="upper").iterrows():
        colour, mark, height = _COLOURS[str(method)], _MARKS[str(method)], [one["accuracy"]]
        ends = [one["lower"], one["upper"]]
        axis.plot(ends, height * 2, color=colour, marker=mark, ms=7, lw=3, label=method)
        if one["printed"] > 0:
            axis.plot([one["printed"]], height, color=colour, marker=mark, ms=9, mfc="white", mew=1.5, lw=0)
            axis.plot([one["printed"], one["upper"]], height * 2, color=colour, lw=1, dashes=DASHES[2])
        if one["tuned"] > 0:
            axis.plot([at], [one["accuracy_tuned"]], color=colour, marker=mark, ms=7, lw=0, mec="black", mew=1.5)
    axis.plot([], [], color="0.4", marker="o", ms=9, mfc="white", mew=1.5, lw=0, label="hollow: as the paper says")
    if (worth["tuned"] > 0).any():
        label = f"ringed: tuned to {at:g}, certified"
        axis.plot([], [], color="0.6", marker="o", ms=7, mec="black", mew=1.5, lw=0, label=label)
    xlabel = r"central $\epsilon$ of one epoch (log scale)"
    axis.set(xscale="log", xlabel=xlabel, ylabel=f"accuracy on {dataset} (%)", ylim=(0, 100))
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.xaxis.set_minor_locator(NullLocator())
    figure.legend(loc="outside lower center", ncols=2)
    return figure

"""Page 12: the accuracy of Algorithm 3 (Chen et al. 2024) on MNIST, and what it hinges on.

A *reading* answers what the paper leaves open: fields of `SgdConfig`, or the scaling of the inputs. What is compared
shares its random numbers: a seed fixes starting weights, split, order, budgets and the standard normals of the noise.

Client i's noise has a standard deviation proportional to 1/eps_i, so an epoch's noise power is proportional to the
mean of 1/eps_i^2. One budget for all with the same mean, `equivalent_budget`, makes as much noise without a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator
from scipy.special import stdtrit

from gspa.accountant import budgets
from gspa.algorithms import digits as datasets
from gspa.algorithms.digits import Dataset
from gspa.algorithms.sgd_config import SgdConfig
from gspa.book import processes, verdicts
from gspa.book.claims import Outcome, claim, judge, settles, unsettled
from gspa.book.figures import DASHES, PALETTE, ROLES, keeps_data, role
from gspa.book.say import count

Task = TypeVar("Task")
Found = TypeVar("Found")
Runs = pd.DataFrame

NO_NOISE = "no noise"
# Figure 4's settings: Table 2's distributions, U(0.5, 1), and no noise as the reference.
SETTINGS = (NO_NOISE, "unif1", "unif2", "unif3", "constant", "mixed")
NOISY = SETTINGS[1:]
# The paper does not say which run has the first; without noise is the nearest one.
PRINTED = {NO_NOISE: 0.9678, "constant": 0.948, "unif2": 0.935}
SAMPLES = 60_000  # n in Table 3
NO_CLIP = 1e6  # far above the norm of any average gradient here: the clip never acts
EQUAL, AS_DRAWN = "one budget, the same noise power", "budgets as drawn"
_UNEQUAL = "unif2"  # the setting whose draws these two compare
CLOSE = ("unif2", "unif3", "constant")  # claims rank them; what else they compare is further apart
FIRST, LAST = "noisiest client first", "noisiest client last"
ENOUGH = 1.5  # half-widths of an interval between what a claim compares and where its verdict would change
_WORTH_PROCESSES = 200  # epochs of MNIST at width 100: some six seconds
_FURTHEST = "furthest from print (points)"


# --- tables: Figure 4 --------------------------------------------------------------------------------------


def setting_label(name: str) -> str:
    """A setting as the paper names it.

    >>> setting_label("unif3")
    'Unif 3: U(0.5, 1)'
    """
    if name in (NO_NOISE, EQUAL):
        return name
    law = budgets.DISTRIBUTIONS[name]
    return f"{law.title}: {law.label}"


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
        from gspa.algorithms.sgd import forget

        forget(checkpoints, [file for _, files in found for file in files])
    runs = pd.concat([table for table, _ in found], ignore_index=True)
    order = [setting_label(name) for name in settings]
    return runs.sort_values("setting", key=lambda names: names.map(order.index), kind="stable", ignore_index=True)


def budget_matrix(name: str, *, clients: int, seeds: Sequence[int]) -> npt.NDArray[np.float64]:
    """The budgets that `figure4` trains with: a row a seed, a column a client; inf without noise."""
    if name == NO_NOISE:
        return np.full((len(seeds), clients), np.inf)
    if name == EQUAL:
        equal = equivalent_budget(budget_matrix(_UNEQUAL, clients=clients, seeds=seeds))
        return np.repeat(equal[:, None], clients, axis=1)
    drawn = []
    for seed in seeds:
        # Budgets have a stream of their own: the same seed trains from the same start in every setting.
        rng = np.random.default_rng([seed, 1])
        eps = budgets.draw(name, n=clients, rng=rng).expanded().eps
        # The halves of "Mixed Constant" come in order; clients hold different images, so deal them out.
        drawn.append(rng.permutation(eps))
    return np.array(drawn)


def _train_seed(
    data: Dataset, config: SgdConfig, device: str, checkpoints: Path | None, task: tuple[tuple[str, ...], int]
) -> tuple[Runs, tuple[str, ...]]:
    """Every setting for one seed, and the checkpoints they left."""
    from gspa.algorithms import sgd

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


def interval(values: pd.Series[float], *, confidence: float = 0.95) -> tuple[float, float]:
    """Student's confidence interval for a mean over seeds; (nan, nan) for a single one."""
    half = stdtrit(len(values) - 1, 0.5 + confidence / 2) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def last(runs: Runs) -> Runs:
    """The rows of the last epoch."""
    ends: Runs = runs[runs["epoch"] == runs["epoch"].max()]
    return ends


def final(runs: Runs, setting: str) -> pd.Series[Any]:
    """Final accuracy of a setting by seed."""
    ends = last(runs)
    accuracy: pd.Series[Any] = ends[ends["setting"] == setting_label(setting)].set_index("seed")["accuracy"]
    return accuracy.sort_index()


def final_table(runs: Runs) -> pd.DataFrame:
    """Final accuracies, a row a setting, in percent, with a 95% interval of the mean; seeds, noise, smallest budget."""
    rows = []
    for setting, part in last(runs).groupby("setting", sort=False):
        percent = 100 * part["accuracy"]
        low, high = interval(percent)
        rows.append(
            {
                "setting": setting,
                "seeds": len(part),
                "mean (%)": percent.mean(),
                "95% from": low,
                "to": high,
                "lowest": percent.min(),
                "highest": percent.max(),
                "noise": part["noise"].mean(),
                "smallest budget": part["eps_min"].replace(np.inf, np.nan).min(),
            }
        )
    return pd.DataFrame(rows)


def margins(runs: Runs, spread: pd.DataFrame) -> pd.DataFrame:
    """How far what a claim compares is from where its verdict would change, the nearest first.

    From `figure4`, with `EQUAL`'s runs, and `sensitivity` of the nearest reading on several draws. Columns: comparison,
    seeds, points (the distance), half-width (of the 95% interval of the mean), margin (their ratio).
    """
    ends = {name: final(runs, name) for name in (*SETTINGS, EQUAL)}
    other = spread.pivot_table(index="seed", columns="setting", values="accuracy")
    near = {name: other[setting_label(name)] for name in ("constant", _UNEQUAL)}
    changes = {}
    for name in NOISY:
        if name != "unif3":
            changes[f"{setting_label('unif3')} - {setting_label(name)}, against zero"] = ends["unif3"] - ends[name], 0.0
    for prefix, means in (("", ends), ("nearest reading: ", near)):
        order = f"{prefix}{setting_label('constant')} - {setting_label(_UNEQUAL)}, against zero"
        changes[order] = means["constant"] - means[_UNEQUAL], 0.0
        for name, values in means.items():
            if name in PRINTED:
                gap = values - PRINTED[name]
                tolerance = _tolerance("G-SGD1" if name == NO_NOISE else "G-SGD3", "accuracy")
                label = f"{prefix}{setting_label(name)} - the print, against the tolerance"
                changes[label] = gap * np.sign(gap.mean()), tolerance
    half = float((ends["constant"] - ends[_UNEQUAL]).mean()) / 2
    regained = ends[EQUAL] - ends[_UNEQUAL]
    changes[f"{EQUAL} - {AS_DRAWN}, against half the drop from the constant"] = regained, half
    rows = []
    for what, (values, where) in changes.items():
        values = 100 * values.dropna()
        low, high = interval(values)
        points, half = abs(values.mean() - 100 * where), (high - low) / 2
        rows.append((what, len(values), points, half, points / half))
    table = pd.DataFrame(rows, columns=["comparison", "seeds", "points", "half-width", "margin"])
    return table.sort_values("margin", kind="stable", ignore_index=True)


# --- tables: readings --------------------------------------------------------------------------------------


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
    settings: Sequence[str] = tuple(PRINTED),
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
    return last(runs)[["setting", "seed", "accuracy"]].assign(reading=THIS_PAGE.label)


def _cost(data: Dataset, config: SgdConfig) -> float:
    """Work of one replica, in epochs of MNIST at width 100; a step has a cost of its own beside its samples."""
    return config.epochs * config.hidden_width / 100 * (len(data.train_x) + 100 * config.clients) / 70_000


def _final(settings: tuple[str, ...], device: str, task: tuple[Dataset, SgdConfig, int]) -> list[float]:
    """Final accuracy of every setting for one seed."""
    from gspa.algorithms import sgd

    data, config, seed = task
    eps = np.concatenate([budget_matrix(name, clients=config.clients, seeds=[seed]) for name in settings])
    seeds = [seed] * len(settings)
    result = sgd.train(data, eps, config, seeds=seeds, device=device, evaluate_every=config.epochs)
    return [float(value) for value in result.final_accuracy]


def vanilla(data: Dataset, config: SgdConfig, runs: Runs, *, device: str = "cpu") -> pd.DataFrame:
    """The network of `figure4`'s runs without noise, trained without the clip as well: seed, accuracy.

    Where the clip never acted, that run is it; the others are trained again.
    """
    clean = last(runs)
    clean = clean[clean["setting"] == NO_NOISE]
    clipped = clean.loc[~(clean["longest"] <= config.clip), "seed"].tolist()  # or it is no number any more
    tasks = [(data, replace(config, clip=NO_CLIP), seed) for seed in clipped]
    found = each(partial(_final, (NO_NOISE,), device), tasks, work=len(tasks) * config.epochs, device=device)
    accuracy = dict(zip(clean["seed"], clean["accuracy"], strict=True))
    accuracy |= {seed: value for seed, (value,) in zip(clipped, found, strict=True)}
    return pd.DataFrame({"seed": list(accuracy), "accuracy": list(accuracy.values())})


def ranked(answers: pd.DataFrame, printed: Mapping[str, float] = PRINTED) -> pd.DataFrame:
    """Readings from `sensitivity`, the nearest to the printed accuracies first: means in percent, and the distance."""
    means = 100 * answers.pivot_table(index="reading", columns="setting", values="accuracy", sort=False)
    goals = pd.Series({setting_label(name): 100 * value for name, value in printed.items()})
    means = means[list(goals.index)]
    means[_FURTHEST] = (means - goals).abs().max(axis=1)
    # A reading may come twice as near by the last digit of a float only: keep the table's order then.
    return means.sort_values(_FURTHEST, kind="stable").reset_index().rename_axis(columns=None)


def noisy_answer(answers: pd.DataFrame) -> tuple[str, str, float]:
    """Of `sensitivity`, the reading and the setting with noise nearest to the accuracy printed for no setting."""
    noisy = answers[answers["setting"] != setting_label(NO_NOISE)]
    means = noisy.groupby(["reading", "setting"], sort=False, as_index=False)["accuracy"].mean()
    nearest = means.iloc[int((means["accuracy"] - PRINTED[NO_NOISE]).abs().to_numpy().argmin())]
    return str(nearest["reading"]), str(nearest["setting"]), float(nearest["accuracy"])


def swing(answers: pd.DataFrame) -> pd.DataFrame:
    """How far each reading moves each setting from the page's own, paired by seed: reading, setting, points."""
    own = answers[answers["reading"] == THIS_PAGE.label].set_index(["setting", "seed"])["accuracy"]
    rest = answers[answers["reading"] != THIS_PAGE.label]
    base = own.reindex(pd.MultiIndex.from_frame(rest[["setting", "seed"]])).to_numpy()
    moved = rest.assign(points=100 * (rest["accuracy"] - base))
    return moved.groupby(["reading", "setting"], sort=False)["points"].mean().reset_index()


def allocations(*, n: int, m: int) -> pd.DataFrame:
    """Algorithm 3's uses of m, as printed and in the two readings that make its lines agree.

    Line 1 makes `subsets`, gives them `names` and a `size` each; line 3 permutes `permuted` indices; line 6 visits
    `visited` of them; lines 13 and 7 divide by `average` and `noise`; `agree`: every sample is used and averaged once.
    """
    rest = n / m
    rows = {
        "line by line, $m$ = a batch": (rest, m, m, m, rest, m, m),
        "line by line, $m$ = the clients": (m, m, m, m, rest, m, m),
        "$m$ clients of $n/m$ samples": (m, m, rest, m, m, rest, rest),
        "$n/m$ clients of $m$ samples": (rest, rest, m, rest, rest, m, m),
    }
    names = ["subsets", "names", "size", "permuted", "visited", "average", "noise"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=names, dtype=float)
    table["agree"] = (
        (table[names] % 1 == 0).all(axis=1)
        & np.isclose(table["subsets"] * table["size"], n)
        & table[["names", "permuted", "visited"]].eq(table["subsets"], axis=0).all(axis=1)
        & table[["average", "noise"]].eq(table["size"], axis=0).all(axis=1)
    )
    return table.rename_axis("reading").reset_index()


# --- tables: noise power -----------------------------------------------------------------------------------


def equivalent_budget(eps: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The one budget whose noise has the same mean square: (mean of eps_i^-2)^(-1/2) over the last axis.

    >>> print(round(float(equivalent_budget([0.01] + [1.0] * 99)), 4))
    0.0995
    """
    with np.errstate(divide="ignore"):  # nobody adds noise: 1/0, an infinite budget
        return np.asarray(np.mean(np.asarray(eps, dtype=np.float64) ** -2.0, axis=-1) ** -0.5)


def typical_seeds(setting: str, *, clients: int, seeds: Sequence[int], keep: int = 1) -> tuple[int, ...]:
    """Seeds that stand for all: by the noise that their draws make, the middles of `keep` parts of equal size.

    The smallest of a hundred budgets decides a draw's noise, and a few random draws may all be far off.
    """
    drawn = equivalent_budget(budget_matrix(setting, clients=clients, seeds=seeds))
    keep = min(keep, len(seeds))
    middles = (2 * np.arange(keep) + 1) * len(seeds) // (2 * keep)
    return tuple(int(seeds[i]) for i in drawn.argsort(kind="stable")[middles])


def same_power(
    data: Dataset, config: SgdConfig, runs: Runs, *, order_seeds: Sequence[int], device: str = "cpu"
) -> pd.DataFrame:
    """Trainings with the noise power of a setting's draws, without their difference or in another order.

    Columns: variant, setting, seed, accuracy, budget. `EQUAL`, from `runs` of `figure4`, has the equivalent budget for
    all; `FIRST` and `LAST`, on `order_seeds`, visit the noisiest client first and last, in an order that stays.
    """
    ends = last(runs)
    equal = ends[ends["setting"] == EQUAL].sort_values("seed")
    equal = equal.assign(variant=EQUAL, setting=setting_label(_UNEQUAL), budget=equal["eps_min"])
    work = 2 * len(order_seeds) * config.epochs * config.hidden_width / 100
    ordered = pd.concat(each(partial(_train_orders, data, config, device), order_seeds, work=work, device=device))
    ordered = ordered.sort_values("variant", key=lambda names: names.map((FIRST, LAST).index), kind="stable")
    found: pd.DataFrame = pd.concat([equal[ordered.columns], ordered], ignore_index=True)
    return found


def _train_orders(data: Dataset, config: SgdConfig, device: str, seed: int) -> pd.DataFrame:
    """A seed's draw with the noisiest client first, and last."""
    from gspa.algorithms import sgd

    (eps,) = budget_matrix(_UNEQUAL, clients=config.clients, seeds=[seed])
    config, rows = replace(config, client_order="once"), np.empty((2, config.clients))
    rows[:, sgd.visiting_order(seed, clients=config.clients)] = np.sort(eps), -np.sort(-eps)
    found = sgd.train(data, rows, config, seeds=[seed] * 2, device=device, evaluate_every=config.epochs).final_accuracy
    named = {"variant": (FIRST, LAST), "setting": setting_label(_UNEQUAL), "seed": seed}
    return pd.DataFrame({**named, "accuracy": found, "budget": equivalent_budget(eps)})


def comparison(runs: Runs, variants: pd.DataFrame) -> pd.DataFrame:
    """What separates accuracies, in points, paired by seed: difference, seeds, points, 95% from, to, lowest, highest.

    First the drop from the constant budget to the setting's draws; then what remains of it when the noise power is kept
    and the difference is removed; then what the order of the clients does.
    """
    (label,) = variants["setting"].unique()
    ends = last(runs)
    drawn = ends[ends["setting"] == label].set_index("seed")["accuracy"]
    by = {name: part.set_index("seed")["accuracy"] for name, part in variants.groupby("variant")}
    pairs = {
        f"Constant: 0.5 - {AS_DRAWN}": (final(runs, "constant"), drawn),
        f"{EQUAL} - {AS_DRAWN}": (by[EQUAL], drawn),
        f"{FIRST} - {LAST}": (by[FIRST], by[LAST]),
    }
    rows = []
    for name, (better, base) in pairs.items():
        gap = 100 * (better - base).dropna()
        rows.append((name, len(gap), gap.mean(), *interval(gap), gap.min(), gap.max()))
    return pd.DataFrame(rows, columns=["difference", "seeds", "points", "95% from", "to", "lowest", "highest"])


def noise_points(runs: Runs, variants: pd.DataFrame) -> pd.DataFrame:
    """Final accuracy against noise, a row a noisy training: setting, noise, percent, equal (one budget for all)."""
    ends = last(runs)
    drawn = ends.loc[ends["noise"] > 0, ["setting", "seed", "noise", "accuracy"]]
    same = variants[variants["variant"] == EQUAL]
    noise = drawn[drawn["setting"] == same["setting"].iloc[0]].set_index("seed")["noise"]
    added = same.assign(setting=EQUAL, noise=noise.reindex(same["seed"]).to_numpy())
    points = pd.concat([drawn, added[["setting", "seed", "noise", "accuracy"]]], ignore_index=True)
    equal = points["setting"].isin([setting_label("constant"), EQUAL])
    return points.assign(percent=100 * points["accuracy"], equal=equal)[["setting", "noise", "percent", "equal"]]


def equal_curve(points: pd.DataFrame) -> tuple[np.polynomial.Polynomial, tuple[float, float]]:
    """The parabola through the runs with one budget for all, in the logarithm of the noise, and its support."""
    equal = points[points["equal"]]
    curve = np.polynomial.Polynomial.fit(np.log(equal["noise"]), equal["percent"], 2)
    return curve, (float(equal["noise"].min()), float(equal["noise"].max()))


def one_curve(points: pd.DataFrame) -> tuple[pd.DataFrame, float]:
    """Do unequal budgets fall on the curve of the equal ones? A row a setting with runs inside the curve's support.

    Columns: setting, runs, points (mean distance from the curve), 95% from, to; and the share of the variance of those
    runs' accuracies that the curve explains (R^2; may be negative).
    """
    curve, (low, high) = equal_curve(points)
    rest = points[~points["equal"] & points["noise"].between(low, high)]
    off = rest["percent"] - curve(np.log(rest["noise"]))
    spread = float(((rest["percent"] - rest["percent"].mean()) ** 2).sum())
    explained = 1 - float((off**2).sum()) / spread if spread > 0 else np.nan
    rows = [
        (setting, len(part), part.mean(), *interval(part)) for setting, part in off.groupby(rest["setting"], sort=False)
    ]
    return pd.DataFrame(rows, columns=["setting", "runs", "points", "95% from", "to"]), explained


# --- figures -----------------------------------------------------------------------------------------------


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
def reading_dots(answers: pd.DataFrame, *, dataset: str) -> Figure:
    """Final accuracy under each reading, a panel a setting; the paper's number as a dashed line."""
    readings, settings = list(dict.fromkeys(answers["reading"])), list(dict.fromkeys(answers["setting"]))
    rows = {name: row for row, name in enumerate(readings)}
    printed = {setting_label(name): value for name, value in PRINTED.items()}
    figure, axes = plt.subplots(
        1, len(settings), figsize=(8.6, 0.27 * len(readings) + 1.5), sharey=True, layout="constrained", squeeze=False
    )
    for axis, setting in zip(axes[0], settings, strict=True):
        part = answers[answers["setting"] == setting]
        own = part.loc[part["reading"] == THIS_PAGE.label, "accuracy"].mean()
        axis.axvline(100 * own, **role("reference") | {"lw": 1.4})
        axis.axvline(100 * printed[setting], **role("paper"))
        axis.plot(100 * part["accuracy"], part["reading"].map(rows), "o", color=PALETTE[0], ms=5, alpha=0.7)
        axis.set_title(setting)
        axis.grid(visible=True, axis="y", lw=0.4)
    axes[0, 0].set_yticks(range(len(readings)), readings, fontsize=9)
    axes[0, 0].invert_yaxis()
    label = f"final test accuracy on {dataset} (%); grey and dashed: as on this page, orange: printed in the paper"
    figure.supxlabel(label, fontsize=10)
    return figure


def comparable(points: pd.DataFrame) -> pd.DataFrame:
    """Of `noise_points`, those with at most twice the noise of any with one budget for all."""
    kept: pd.DataFrame = points[points["noise"] <= 2 * points.loc[points["equal"], "noise"].max()]
    return kept


@keeps_data
def noise_curve(points: pd.DataFrame, *, dataset: str) -> Figure:
    """Final accuracy against the noise's root mean square: one budget for all, and budgets that differ."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    equal = points[points["equal"]]
    if equal["noise"].nunique() > 2:
        curve, support = equal_curve(points)
        grid = np.geomspace(*support, 100)
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


# --- checks ------------------------------------------------------------------------------------------------


def too_small(identifier: str, runs: Runs, full: Mapping[str, int]) -> Outcome | None:
    """Why runs with fewer seeds or epochs than `full`, the paper profile's, cannot settle a claim; None if they can."""
    counted = last(runs).groupby("setting")["seed"].nunique()
    epochs = int(runs["epoch"].max())
    for name in SETTINGS:
        seeds, needed = counted.get(setting_label(name), 0), full["seeds" if name in CLOSE else "reference_seeds"]
        if seeds < needed or epochs < full["epochs"]:
            had = f"{count(int(seeds), 'seed')} of the setting '{setting_label(name)}' and {count(epochs, 'epoch')}"
            return unsettled(identifier, f"This run has {had}; the claim needs {needed} and {full['epochs']}.")
    return None


def _tolerance(identifier: str, name: str) -> float:
    return float((claim(identifier).tolerance or {})[name])


def _number(
    name: str, gap: float, tolerance: float, found: str, correction: str = "", *, excluded: str = ""
) -> verdicts.Reading:
    """A printed number in one reading; a correction names what it needs beyond what is printed."""
    verdict = verdicts.within(gap, tolerance, setting=bool(correction))
    said = dict.fromkeys(verdicts.VERDICTS, found)
    return verdicts.reading(name, verdict, said, correction=correction, excluded=excluded)


_OURS = "the sentence speaks of the paper's private approach, which adds noise"


def _percent(values: pd.Series[Any]) -> str:
    low, high = interval(values)
    return f"{100 * values.mean():.2f}% (95% interval of the mean {100 * low:.2f} to {100 * high:.2f})"


def _nearest(answers: pd.DataFrame, settings: Sequence[str]) -> dict[str, object]:
    """What the nearest reading gives for these printed numbers."""
    order = ranked(answers)
    best = order.iloc[0]
    found: dict[str, object] = {f"nearest of {len(order)} readings to the three printed numbers": str(best["reading"])}
    found["largest distance from them there (points)"] = f"{best[_FURTHEST]:.2f}"
    for name in settings:
        label = setting_label(name)
        found[f"there, {label}"] = f"{best[label]:.2f}%, printed {100 * PRINTED[name]:.2f}%"
    return found


@settles("G-SGD1")
def printed_accuracy(runs: Runs, answers: pd.DataFrame, full: Mapping[str, int]) -> Outcome:
    """The printed 96.78% against the accuracy of each setting, and the nearest of the readings, `answers`."""
    if unready := too_small("G-SGD1", runs, full):
        return unready
    printed, tolerance = PRINTED[NO_NOISE], _tolerance("G-SGD1", "accuracy")
    finals = {name: final(runs, name) for name in SETTINGS}
    clean = finals[NO_NOISE]
    evidence: dict[str, object] = {setting_label(name): _percent(values) for name, values in finals.items()}
    evidence["printed"] = f"{100 * printed:.2f}%"
    evidence |= _nearest(answers, [NO_NOISE])
    best = max(NOISY, key=lambda name: finals[name].mean())
    near = ranked(answers).iloc[0]
    there = near[setting_label(NO_NOISE)] / 100
    label, setting, reached = noisy_answer(answers)
    evidence["nearest to it with noise, of all readings"] = f"{100 * reached:.2f}%: {setting}; {label}"
    return judge(
        "G-SGD1",
        evidence,
        _number(
            "this page's settings, with noise",
            finals[best].mean() - printed,
            tolerance,
            f"The best setting with noise, {setting_label(best)}, reaches {_percent(finals[best])}.",
        ),
        _number(
            f"the settings nearest to this number ({label}), with noise",
            reached - printed,
            tolerance,
            f"{setting} reaches {100 * reached:.2f}%, {100 * (reached - printed):+.2f} points off the print, with "
            f"this answer to what the paper leaves open: {label}. As on this page, the best setting with noise, "
            f"{setting_label(best)}, reaches {100 * finals[best].mean():.2f}%.",
            f"the printed accuracy needs a setting that is not stated: {label}.",
        ),
        _number(
            "this page's settings, without noise",
            clean.mean() - printed,
            tolerance,
            f"The mean is {_percent(clean)}, {100 * (clean.mean() - printed):+.2f} points off the print.",
            excluded=_OURS,
        ),
        _number(
            f"the settings nearest to the printed numbers ({near['reading']}), without noise",
            there - printed,
            tolerance,
            f"The mean is {100 * there:.2f}%, {100 * (there - printed):+.2f} points off the print.",
            excluded=_OURS,
        ),
    )


@settles("G-SGD3")
def constant_above_unif2(runs: Runs, answers: pd.DataFrame, spread: pd.DataFrame, full: Mapping[str, int]) -> Outcome:
    """Two printed accuracies and their order; `spread` is both settings under the nearest reading, on more draws."""
    if unready := too_small("G-SGD3", runs, full):
        return unready
    near = str(ranked(answers)["reading"].iloc[0])
    other = spread.pivot_table(index="seed", columns="setting", values="accuracy")
    pairs = {
        "this page's settings": (final(runs, "constant"), final(runs, "unif2")),
        f"the settings nearest to the printed numbers ({near})": tuple(
            other[setting_label(name)].dropna() for name in ("constant", "unif2")
        ),
    }
    evidence: dict[str, object] = {}
    readings = []
    for name, (constant, unif2) in pairs.items():
        gap = (constant - unif2).dropna()
        low, high = interval(gap, confidence=_tolerance("G-SGD3", "confidence"))
        evidence |= {
            f"{name}: Constant 0.5": f"{_percent(constant)}, printed {100 * PRINTED['constant']:.1f}%",
            f"{name}: U(0.01, 2)": f"{_percent(unif2)}, printed {100 * PRINTED['unif2']:.1f}%",
            f"{name}: U(0.01, 2), lowest and highest seed": f"{100 * unif2.min():.2f}% to {100 * unif2.max():.2f}%",
            f"{name}: difference, paired by seed, 95% interval (points)": f"{100 * low:.2f} to {100 * high:.2f}",
            f"{name}: seeds where constant is ahead": f"{int((gap > 0).sum())} of {len(gap)}",
        }
        mine = name == next(iter(pairs))
        tolerance = _tolerance("G-SGD3", "accuracy")
        order = verdicts.ranked(low, high)
        numbers = [
            verdicts.within(float(values.mean()) - PRINTED[key], tolerance, setting=not mine)
            for key, values in (("constant", constant), ("unif2", unif2))
        ]
        count = f"it has {100 * constant.mean():.2f}%, and $U(0.01, 2)$ has {100 * unif2.mean():.2f}%"
        stated = f"{100 * PRINTED['constant']:.1f}% and {100 * PRINTED['unif2']:.1f}%"
        surely = {
            "verified": "The constant is the more accurate, as stated",
            "refuted": "$U(0.01, 2)$ is the more accurate",
        }
        text = f"{surely.get(order, 'Neither is surely the more accurate')}: {count}. The paper prints {stated}."
        readings.append(
            verdicts.reading(
                name,
                verdicts.joined(order, *numbers),
                dict.fromkeys(verdicts.VERDICTS, text),
                correction=f"the numbers need settings that are not stated: {near}.",
            )
        )
    evidence |= _nearest(answers, ["constant", "unif2"])
    return judge("G-SGD3", evidence, *readings)


@settles("G-SGD4")
def unif3_is_best(runs: Runs, full: Mapping[str, int]) -> Outcome:
    """The ranking of the noisy settings."""
    if unready := too_small("G-SGD4", runs, full):
        return unready
    confidence = _tolerance("G-SGD4", "confidence")
    best = final(runs, "unif3")
    evidence: dict[str, object] = {setting_label("unif3"): _percent(best)}
    differences = {name: (best - final(runs, name)).dropna() for name in NOISY if name != "unif3"}
    gaps = {name: interval(points, confidence=confidence) for name, points in differences.items()}
    for name, (low, high) in gaps.items():
        label = f"ahead of {setting_label(name)} by (points, 95% interval)"
        evidence[label] = f"{100 * low:.2f} to {100 * high:.2f}"
    order = verdicts.joined(*(verdicts.ranked(*x) for x in gaps.values()))
    drawn = {
        name: budget_matrix(name, clients=full["clients"], seeds=final(runs, name).index.tolist()) for name in NOISY
    }
    sizes = {
        "mean": {name: float(eps.mean()) for name, eps in drawn.items()},
        "of the same noise, $(\\overline{\\epsilon^{-2}})^{-1/2}$": {
            name: float(equivalent_budget(eps.ravel())) for name, eps in drawn.items()
        },
    }
    for what, values in sizes.items():
        evidence[f"budget drawn, {what}"] = ", ".join(
            f"{value:.3g} ({setting_label(name)})" for name, value in values.items()
        )
    mean, power = ({name: values["unif3"] - value for name, value in values.items()} for values in sizes.values())
    larger, quieter = (all(gap > 0 for name, gap in gaps.items() if name != "unif3") for gaps in (mean, power))
    ahead = "Here $U(0.5, 1)$ is ahead of every other noisy setting, and no interval includes zero"
    said: verdicts.Said = {
        "verified": f"{ahead}.",
        "holds with correction": f"{ahead}. Its mean budget is not the largest, {sizes['mean']['unif3']:.2f} against "
        f"{sizes['mean']['unif2']:.2f} of $U(0.01, 2)$. But it has the least noise.",
        "refuted": "Another noisy setting is surely more accurate, or has the larger budgets.",
        "not reproduced": "$U(0.5, 1)$ is not surely ahead of every other noisy setting.",
    }
    return judge(
        "G-SGD4",
        evidence,
        verdicts.reading("the ranking", order, said),
        verdicts.reading(
            "the ranking and its reason, a larger budget on average",
            verdicts.joined(order, verdicts.exactly(larger, near=quieter)),
            said,
            correction="larger is the one budget that makes as much noise, $(\\overline{\\epsilon^{-2}})^{-1/2}$, not "
            "the mean.",
        ),
    )


@settles("G-SGD2")
def agrees_with_vanilla(
    runs: Runs, vanilla: pd.DataFrame, answers: pd.DataFrame, there: pd.DataFrame, full: Mapping[str, int]
) -> Outcome:
    """Every setting against the same network trained without noise and without clipping, paired by seed.

    `there` is that network's accuracy in the reading of `noisy_answer`.
    """
    if unready := too_small("G-SGD2", runs, full):
        return unready
    plain = vanilla.set_index("seed")["accuracy"]
    tolerance = 100 * _tolerance("G-SGD2", "accuracy")
    evidence: dict[str, object] = {"no noise, no clipping": _percent(plain)}
    gaps = {}
    for name in SETTINGS:
        gap = 100 * (final(runs, name) - plain).dropna()
        low, high = interval(gap)
        gaps[name] = float(gap.mean())
        shown = f"{gaps[name]:+.2f} (95% interval {low:+.2f} to {high:+.2f})"
        evidence[f"{setting_label(name)}, minus that (points)"] = shown
    printed = 100 * (PRINTED[NO_NOISE] - plain.mean())
    evidence["printed accuracy, minus that (points)"] = f"{printed:+.2f}"
    best = min(NOISY, key=lambda name: abs(gaps[name]))
    noisy = f"{setting_label(best)}, the nearest setting with noise, is {gaps[best]:+.2f} points from it."
    label, setting, reached = noisy_answer(answers)
    far = 100 * (reached - float(there["accuracy"].mean()))
    evidence[f"{label}: {setting}, minus the vanilla network there (points)"] = f"{far:+.2f}"
    return judge(
        "G-SGD2",
        evidence,
        _number("this page's settings, with noise", gaps[best], tolerance, noisy),
        _number(
            f"the settings nearest to the printed accuracy ({label}), with noise",
            far,
            tolerance,
            f"There {setting} is {far:+.2f} points from the vanilla network. As on this page, {noisy}",
            f"the accuracy agrees with the vanilla network's in settings that are not stated: {label}.",
        ),
        _number(
            "this page's settings, without noise",
            gaps[NO_NOISE],
            tolerance,
            f"Without noise Algorithm 3 is {gaps[NO_NOISE]:+.2f} points from the vanilla network.",
            excluded=_OURS,
        ),
    )


@settles("G-TAB3")
def table_3(uses: pd.DataFrame, runs: Runs, answers: pd.DataFrame) -> Outcome:
    """Whether Algorithm 3's lines agree on what Table 3's m counts.

    `uses` is from `allocations`. Accuracies, none where the data are not MNIST, say what a restart in each epoch costs
    and what the open questions move.
    """
    config = SgdConfig()
    table = f"$C$ = {config.clip:g}, $\\delta$ = {config.delta:g}, $\\eta$ = {config.learning_rate:g}"
    counts = f"$m$ = {config.clients}, $n$ = {SAMPLES:,}, $T$ = {config.epochs}"
    evidence: dict[str, object] = {"Table 3": f"{table}, {counts}"}
    for row in uses.itertuples():
        evidence[str(row.reading)] = (
            f"{row.subsets:,g} subsets of {row.size:,g} with {row.names:,g} names; {row.permuted:,g} permuted, "
            f"{row.visited:,g} visited; divisors {row.average:,g} and {row.noise:,g}: "
            + ("all lines agree" if row.agree else "they conflict")
        )
    if not runs.empty:
        mean = 100 * runs[runs["setting"] == NO_NOISE].groupby("epoch")["accuracy"].mean()
        restarted = "no noise, every epoch started at $\\hat\\theta_0$ as lines 2, 5 and 11 print"
        evidence[restarted] = f"{mean.loc[1]:.2f}%"
        evidence[f"no noise, {mean.index[-1]} epochs in a row"] = f"{mean.iloc[-1]:.2f}%"
    if not answers.empty:
        for setting, part in swing(answers).groupby("setting", sort=False)["points"]:
            label = f"{setting}, moved by what Table 3 leaves open (points)"
            evidence[label] = f"{part.min():+.2f} to {part.max():+.2f}"
    printed, corrected = uses["agree"].iloc[:2], uses["agree"].iloc[2:]
    said: verdicts.Said = {
        "verified": "As printed, all lines of Algorithm 3 agree.",
        "refuted": "No meaning of $m$ makes the lines of Algorithm 3 agree.",
        "holds with correction": "The values are all there and run, but Algorithm 3 uses one $m$ for two counts: as "
        f"printed its lines conflict whether $m$ = {config.clients} counts the clients or the samples of a batch.",
    }
    correction = (
        "$m$ counts the clients, each has $n/m$ samples, and lines 1, 6, 7 and 13 read: $m$ subsets of size "
        "$n/m$, $i \\in [m]$, and division by $n/m$ in both. (With $m$ as the batch size: $n/m$ names, and a "
        "permutation of $[n/m]$.) In either, an epoch starts where the last one ended."
    )
    verdict = verdicts.exactly(bool(printed.any()), near=bool(corrected.all()))
    return judge("G-TAB3", evidence, verdicts.reading("line by line", verdict, said, correction=correction))


@settles("G-SGD5")
def difference_of_budgets(runs: Runs, variants: pd.DataFrame, full: Mapping[str, int]) -> Outcome:
    """What is left of the drop from constant 0.5 to U(0.01, 2) when the noise stays and the difference goes.

    The explanation is the main one if more than half of the drop is the difference's, surely.
    """
    if unready := too_small("G-SGD5", runs, full):
        return unready
    same = int((variants["variant"] == EQUAL).sum())
    if same < (needed := full["reference_seeds"]):
        trained = count(same, "draw")
        return unsettled("G-SGD5", f"This run has {trained} trained again with one budget; the claim needs {needed}.")
    table = comparison(runs, variants)
    rows = table.to_dict("records")
    drop, left = rows[:2]
    evidence: dict[str, object] = {
        f"{row['difference']} (points, {row['seeds']} seeds)": f"{row['points']:+.2f} (95% interval "
        f"{row['95% from']:+.2f} to {row['to']:+.2f})"
        for row in rows
    }
    evidence["share of the drop that is the difference's"] = f"{100 * left['points'] / drop['points']:.0f}%"
    curve, explained = one_curve(noise_points(runs, variants))
    evidence["variance of unequal budgets' accuracy that the equal budgets' curve explains"] = f"{100 * explained:.0f}%"
    for row in curve.to_dict("records"):
        shown = f"{row['points']:+.2f} (95% interval {row['95% from']:+.2f} to {row['to']:+.2f})"
        evidence[f"{row['setting']}, off that curve (points, {row['runs']} runs)"] = shown
    numbers = f"{left['points']:+.2f} points ({left['95% from']:+.2f} to {left['to']:+.2f}) of {drop['points']:.2f}"
    half = drop["points"] / 2
    fallen = verdicts.ranked(drop["95% from"], drop["to"])
    share = verdicts.ranked(left["95% from"] - half, left["to"] - half)
    direct: verdicts.Said = {
        "verified": f"With equal noise and one budget the drop goes: {numbers}.",
        "refuted": "One budget for all with the same mean of $1/\\epsilon_i^2$ loses as much: removing the difference "
        f"returns {numbers}.",
        "not reproduced": f"There is no sure drop, or the share of the difference is not sure: {numbers}.",
    }
    swings = rows[2]
    through_noise: verdicts.Said = {
        "refuted": f"The drop, the effect of the order, or the small share of the difference is not sure: {numbers}.",
        "holds with correction": "The noise that the smallest budgets bring costs the accuracy: where budgets differ, "
        f"the mean of $1/\\epsilon_i^2$ rises, and with it the noise. With the same noise, one budget for all returns "
        f"{numbers}. Unequal budgets also make the order of the clients matter, by {swings['points']:+.2f} points "
        f"({swings['95% from']:+.2f} to {swings['to']:+.2f}).",
    }
    near = min(drop["95% from"], swings["95% from"], half - left["to"]) > 0
    return judge(
        "G-SGD5",
        evidence,
        verdicts.reading("the difference itself, at the same noise power", verdicts.joined(fallen, share), direct),
        verdicts.reading(
            "the difference through what it does to the noise and to the order",
            verdicts.exactly(False, near=near),
            through_noise,
            correction="unequal budgets cost accuracy mainly because the smallest of them raise the mean of "
            "$1/\\epsilon_i^2$, not because they differ; their difference makes the clients' order matter.",
        ),
    )

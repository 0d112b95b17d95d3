"""What Figure 4's accuracy hinges on: each thing the paper leaves open, answered differently, one at a time.

A *reading* is an answer to one open question: a few fields of `SgdConfig`, or the scaling of the inputs. All
readings train with the same seeds, so that two of them differ by the reading and not by the draw of the budgets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pandas as pd

from gspa import _validate as check
from gspa import datasets
from gspa._parallel import each
from gspa.datasets import Dataset
from gspa.errors import InvalidValue
from gspa.experiments import NO_NOISE, budget_matrix, setting_label
from gspa.sgd_config import SgdConfig

SETTINGS = (NO_NOISE, "constant", "unif2")  # the ones whose accuracy the paper prints
NO_CLIP = 1e6  # far above the norm of any average gradient here: the clip never acts
_WORTH_PROCESSES = 400  # replica-epochs of width 100: some sixteen seconds on MNIST


@dataclass(frozen=True)
class Reading:
    """One answer to one open question.

    Attributes:
        question: what the paper leaves open.
        answer: this reading's answer; empty for the page's own.
        changes: fields of `SgdConfig` with their values, and `scaling` of `gspa.datasets.project`.
    """

    question: str
    answer: str = ""
    changes: Mapping[str, object] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Question and answer."""
        return f"{self.question}: {self.answer}" if self.answer else self.question

    def config(self, config: SgdConfig) -> SgdConfig:
        """The settings under this reading."""
        return replace(config, **{k: v for k, v in self.changes.items() if k != "scaling"})  # type: ignore[arg-type]

    def scaling(self, scaling: str) -> str:
        """The input scaling under this reading."""
        return str(self.changes.get("scaling", scaling))


THIS_PAGE = Reading("as on this page")


def open_questions(
    config: SgdConfig, *, n: int, scaling: str = "none", widths: Sequence[int] = (32, 300), combined_width: int = 300
) -> tuple[Reading, ...]:
    """The readings: the page's own, then one question at a time, then combinations with m = a client's samples.

    An answer that the page's own reading gives already is left out.

    Args:
        config: the page's own reading.
        n: training samples.
        scaling: the page's own scaling of the inputs.
        widths: hidden widths to try.
        combined_width: the width of the last combination, which also standardizes the pixels.

    Raises:
        InvalidValue: n or a width is not an integer >= 1.
    """
    m = "the m of lines 7 and 13"
    # Table 3's m as the size of a batch: n/m clients of m samples, and both lines divide by those m samples.
    combined_width, scaling = check.count(combined_width=combined_width), check.text(scaling=scaling)
    batches = max(1, check.count(n=n) // config.clients)
    samples = {"noise_divisor": "samples", "average_divisor": "samples"}
    both = samples | {"scaling": "standardize_pixels"}
    asked = [
        *(
            Reading("hidden width", f"{width:,}", {"hidden_width": width})
            for width in (check.count(width=width) for width in check.row(widths=widths))
        ),
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
        Reading(
            "combined",
            f"samples, standardized pixels, width {combined_width:,}",
            both | {"hidden_width": combined_width},
        ),
    ]
    found, seen = [THIS_PAGE], {(config, scaling)}
    for reading in asked:
        outcome = (reading.config(config), reading.scaling(scaling))
        if outcome not in seen:
            seen.add(outcome)
            found.append(reading)
    return tuple(found)


def sensitivity(
    images: Dataset,
    config: SgdConfig,
    readings: Sequence[Reading],
    *,
    seeds: Sequence[int],
    settings: Sequence[str] = SETTINGS,
    components: int = 60,
    scaling: str = "none",
    device: str = "cpu",
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Final accuracy under each reading.

    Args:
        images: pixels, from `gspa.datasets.load`.
        config: the page's own reading, which the readings change.
        readings: `open_questions`.
        seeds: one run of every reading and setting for each.
        settings: keys of `gspa.budgets.DISTRIBUTIONS`, or `NO_NOISE`.
        components: principal components.
        scaling: the page's own scaling.
        device: "cpu" or a CUDA device.
        jobs: trainings at once, each in a process of its own (default: the cores at hand, on the CPU).
        progress: called with (trainings done, trainings in total).

    Returns:
        One row for each (reading, setting, seed): `question`, `answer`, `reading` (their label), `setting`,
        `seed`, `accuracy` in [0, 1]. The result does not depend on `jobs`, up to float32 rounding.

    Raises:
        InvalidValue: no reading, a reading has more clients than samples, or the device is absent.
    """
    if not readings:
        raise InvalidValue("readings", (), "at least one reading")
    scalings = dict.fromkeys(reading.scaling(scaling) for reading in readings)
    reduced = {how: datasets.project(images, components=components, scaling=how) for how in scalings}
    asked = [(reading, setting) for reading in readings for setting in settings]
    tasks = [(reduced[r.scaling(scaling)], r.config(config), name) for r, name in asked]
    costs = [_cost(task[0], task[1]) for task in tasks]
    # The longest first, so that no process is left with one at the end.
    order = sorted(range(len(tasks)), key=lambda i: -costs[i])
    if device != "cpu" or len(seeds) * sum(costs) < _WORTH_PROCESSES:
        jobs = 1
    found: dict[int, list[float]] = {}
    report = progress or (lambda done, total: None)
    for i, accuracy in zip(
        order, each(partial(_final, tuple(seeds), device), [tasks[i] for i in order], jobs=jobs), strict=True
    ):
        found[i] = accuracy
        report(len(found), len(tasks))
    rows = [
        (reading.question, reading.answer, reading.label, setting_label(name), seed, value)
        for i, (reading, name) in enumerate(asked)
        for seed, value in zip(seeds, found[i], strict=True)
    ]
    return pd.DataFrame(rows, columns=["question", "answer", "reading", "setting", "seed", "accuracy"])


def _cost(data: Dataset, config: SgdConfig) -> float:
    """Work of one replica, in epochs of MNIST at width 100; a step has a cost of its own beside its samples."""
    return config.epochs * config.hidden_width / 100 * (len(data.train_x) + 100 * config.clients) / 70_000


def _final(seeds: tuple[int, ...], device: str, task: tuple[Dataset, SgdConfig, str]) -> list[float]:
    from gspa import sgd

    data, config, name = task
    eps = budget_matrix(name, clients=config.clients, seeds=seeds)
    result = sgd.train(data, eps, config, seeds=seeds, device=device, evaluate_every=config.epochs)
    return [float(value) for value in result.final_accuracy]


def vanilla(data: Dataset, config: SgdConfig, *, seeds: Sequence[int], device: str = "cpu") -> pd.DataFrame:
    """The same network, steps and seeds without noise and without clipping: `seed`, `accuracy` in [0, 1]."""
    accuracy = _final(tuple(check.seeds(seeds=seeds)), device, (data, replace(config, clip=NO_CLIP), NO_NOISE))
    return pd.DataFrame({"seed": list(seeds), "accuracy": accuracy})


def ranked(table: pd.DataFrame, printed: Mapping[str, float]) -> pd.DataFrame:
    """Readings by how near they come to printed accuracies, the nearest first.

    Args:
        table: from `sensitivity`.
        printed: accuracy in [0, 1] by setting (a key as in `sensitivity`), at least one.

    Returns:
        A row a reading: `reading`, the mean accuracy of each printed setting in percent (a column named as the
        setting), and `furthest from print (points)`: the largest distance over the settings.
    """
    if not printed:
        raise InvalidValue("printed", {}, "at least one accuracy")
    means = 100 * table.pivot_table(index="reading", columns="setting", values="accuracy", sort=False)
    goals = pd.Series({setting_label(name): 100 * value for name, value in printed.items()})
    means = means[list(goals.index)]
    means["furthest from print (points)"] = (means - goals).abs().max(axis=1)
    # A reading may come twice as near by the last digit of a float only: keep the table's order then.
    return means.sort_values("furthest from print (points)", kind="stable").reset_index().rename_axis(columns=None)


def nearest(table: pd.DataFrame, readings: Sequence[Reading], printed: Mapping[str, float]) -> Reading:
    """The reading that `ranked` puts first."""
    first = ranked(table, printed)["reading"].iloc[0]
    (found,) = [reading for reading in readings if reading.label == first]
    return found


def swing(table: pd.DataFrame) -> pd.DataFrame:
    """How far each reading moves each setting from the page's own, in points, paired by seed.

    Returns:
        One row for each (reading, setting) but the page's own: `reading`, `setting`, `points` (mean over seeds).
    """
    own = table[table["reading"] == THIS_PAGE.label].set_index(["setting", "seed"])["accuracy"]
    rest = table[table["reading"] != THIS_PAGE.label]
    base = own.reindex(pd.MultiIndex.from_frame(rest[["setting", "seed"]])).to_numpy()
    moved = rest.assign(points=100 * (rest["accuracy"] - base))
    return moved.groupby(["reading", "setting"], sort=False)["points"].mean().reset_index()


def allocations(*, n: int, m: int) -> pd.DataFrame:
    """Algorithm 3's uses of m, as printed and in the two readings that make its lines agree.

    Line 1 splits n samples into `subsets`, gives them `names` and a `size` each; line 3 permutes `permuted` indices;
    line 6 visits `visited` of them; line 13 divides a sum over a subset by `average`, line 7 the noise by `noise`.

    Args:
        n: training samples, >= 1.
        m: Table 3's m, >= 1.

    Returns:
        A row a reading: `reading`, those seven counts (fractions where n/m is none), and what holds:
        `whole counts`, `every sample used once`, `one name a subset`, `every subset visited once`,
        `line 13 averages`, `agree` (all five, and lines 7 and 13 have one divisor).
    """
    n, m = check.count(n=n), check.count(m=m)
    rest = n / m
    rows = {
        "line by line, m = a batch": (rest, m, m, m, rest, m, m),
        "line by line, m = the clients": (m, m, m, m, rest, m, m),
        "m clients of n/m samples": (m, m, rest, m, m, rest, rest),
        "n/m clients of m samples": (rest, rest, m, rest, rest, m, m),
    }
    names = ["subsets", "names", "size", "permuted", "visited", "average", "noise"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=names, dtype=float)
    table["whole counts"] = (table[names] % 1 == 0).all(axis=1)
    table["every sample used once"] = np.isclose(table["subsets"] * table["size"], n)
    table["one name a subset"] = table["names"] == table["subsets"]
    table["every subset visited once"] = (table["permuted"] == table["subsets"]) & (
        table["visited"] == table["subsets"]
    )
    table["line 13 averages"] = table["average"] == table["size"]
    table["agree"] = table[table.columns[len(names) :]].all(axis=1) & (table["average"] == table["noise"])
    return table.rename_axis("reading").reset_index()

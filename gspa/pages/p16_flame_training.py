"""Page 16, FLAME's training: what is run for Figures 5 to 8 and beside them, and the printed comparisons.

A `Case` is a method under a heading (`group`); one run may stand under several headings. Everything on the page is read
off `run`'s table: final accuracies by `summary`, differences paired by seed by `Found.gap`.

>>> some = Paper().cases(("figure 5",))
>>> sorted({case.label for case in some if case.setup.noise == "frozen"})
['DP-FL, low $\\\\epsilon$', 'SS-Double', 'SS-Simple', 'SS-Topk']
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from gspa.accountant.errors import OutsideValidity
from gspa.accountant.mechanisms import analytic_gaussian_scale, classical_gaussian_scale
from gspa.algorithms import digits
from gspa.algorithms.flame import federated
from gspa.algorithms.flame.aggregation import Aggregator, Curator, LocalGaussian, Mean, Sampled, Simple
from gspa.algorithms.flame.federated import Training
from gspa.algorithms.flame.users import Users, partition
from gspa.book import processes
from gspa.book.claims import Outcome, claim, judge, settles, unsettled
from gspa.book.figures import DASHES, PALETTE, keeps_data
from gspa.book.verdicts import (
    VERDICTS,
    Reading,
    Said,
    Verdict,
    at_least,
    exactly,
    interval,
    joined,
    ranked,
    reading,
    unknown,
    within,
)
from gspa.pages.p16_flame_certified import DOUBLE, SIMPLE, TOPK, Worth, certified, worth

NP, DP, DP_MORE = "NP-FL", r"DP-FL, low $\epsilon$", r"DP-FL, high $\epsilon$"
LDP, LDP_LAPLACE = "LDP-FL Gaussian", "LDP-FL Laplace"
INDEPENDENT = f"{DOUBLE}, independent indices"
QUIET, SPARSE, FASTER = f"{TOPK} without noise", f"{TOPK} without noise, mean over $n$", f"{NP}, larger server step"

GROUPS = ("figure 5", "figure 6", "figure 7", "figure 8", "loss", "index privacy", "equal privacy")
EPS_LK, PADDING, LK_FIXED, L_FIXED = r"$\epsilon_{lk}$", "$n/n_p$", r"$\epsilon_{lk}$ fixed", r"$\epsilon_l$ fixed"
"""What Figures 6, 7 and 8 vary; the last has two readings."""

SEEDS, ROUNDS, USERS = 5, 12, 1_000
"""What a check needs: seeds for an interval of a point or so, the paper's two epochs, its n."""

ENOUGH = 1.5  # half-widths of an interval between what a claim compares and where its verdict would change
_STEP = 5.0  # a server step for NP-FL that is nearer to SS-Topk's
_EPS_LK = (0.1, 0.25, 1.0, 2.0)  # beside the paper's 0.5
_RATIOS = (1.0, 1.5, 2.0)  # beside 3
_RATES = (200, 100, 20, 10)  # beside 50
_WIDE = 1.5  # n/n_p at which all coordinates fit up to beta = 1/10
_SHOWN = 16  # Theorem 5's l for n/n_p = 3
_FEW = 2  # seeds of the group "settings"
_WORTH_A_PROCESS = 150_000  # updates of a user, all runs together: some twenty seconds


# --- tables ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setup:
    """Everything that a run depends on beside its seed: method, training, and how noise is drawn and users dealt."""

    aggregator: Aggregator
    training: Training
    noise: str = "fresh"
    scaling: str = "standardized"
    split: str = "one_per_class"


class Case(NamedTuple):
    """A setup under a heading; `varied` and `value` say what differs from the paper's setting ("" and NaN: nothing)."""

    group: str
    label: str
    varied: str
    value: float
    setup: Setup


_Row = tuple[str, str, float, Setup]


@dataclass(frozen=True, kw_only=True)
class Paper:
    """The paper's settings, those of the released code where the paper has none."""

    d: int = 7_850  # weights
    n: int = 1_000  # users of a round
    rate: int = 50  # 1/beta
    ratio: float = 3.0  # n/n_p
    eps_l: float = 78.5  # local budget of a vector
    eps_curator: float = 0.24  # of DP-FL, and of LDP-FL's vector
    eps_more: float = 20.53  # of the other DP-FL
    delta: float = 5e-6  # central delta; also LDP-FL's
    clip: float = 0.01  # C
    training: Training = field(default_factory=Training)

    @property
    def k(self) -> int:
        """Coordinates of one user."""
        return self.d // self.rate

    @property
    def n_p(self) -> int:
        """Reports per coordinate."""
        return max(1, int(self.n / self.ratio))

    @property
    def clip2(self) -> float:
        """L2 bound of DP-FL: C sqrt(d), 0.886 in the paper's setting."""
        return self.clip * math.sqrt(self.d)

    def sized(self, data: digits.Dataset, *, users: int) -> tuple[Paper, int]:
        """The same for other data or fewer users, all batches together; and for how many users there are images."""
        users = min(users, int(np.bincount(np.r_[data.train_y, data.test_y]).min()))
        d = (data.train_x.shape[1] + 1) * data.classes
        return replace(self, d=d, n=users // self.training.batches, rate=min(self.rate, d)), users

    @property
    def sizes(self) -> dict[str, Any]:
        """What a certificate depends on, beside budgets."""
        return {"d": self.d, "k": self.k, "n": self.n, "n_p": self.n_p, "delta": self.delta}

    def worth(self) -> tuple[Worth, ...]:
        """What the protocols can be proved to give, and their budgets for DP-FL's eps."""
        return worth(**self.sizes, eps_l=self.eps_l, target=self.eps_curator)

    def share_prices(self) -> pd.DataFrame:
        """What Figure 8 costs at one eps_lk, at its ends: beta, certified eps of SS-Topk (NaN where none is)."""
        rows, own = [], self.eps_l / self.k
        for rate in (max(_RATES), min(_RATES)):
            try:
                upper = certified(TOPK, eps=own, attack=False, **replace(self, ratio=_WIDE, rate=rate).sizes).upper
            except OutsideValidity:
                upper = math.nan
            rows.append({"beta": 1 / rate, "certified": upper})
        return pd.DataFrame(rows)

    def curator(self, eps: float, *, analytic: bool = False, rate: float = 1.0) -> Curator:
        """DP-FL at (eps, delta): the classical formula as the paper has it, or the exact one."""
        scale = analytic_gaussian_scale if analytic else classical_gaussian_scale
        return Curator(self.clip2, scale(eps=eps, delta=self.delta, sensitivity=2 * self.clip2), rate)

    def simple(self, eps: float | None = None) -> Simple:
        """SS-Simple at eps_ld."""
        return Simple(self.clip, self.eps_l / self.d if eps is None else eps)

    def sampled(self, select: str, eps: float | None = None) -> Sampled:
        """SS-Double ("uniform" or "independent") or SS-Topk at eps_lk."""
        return Sampled(self.clip, self.eps_l / self.k if eps is None else eps, self.k, self.n_p, select)

    def cases(self, groups: Sequence[str] = GROUPS, *, certified: Sequence[Worth] = ()) -> list[Case]:
        """Every case of some of `GROUPS` and "settings"; "equal privacy" needs `certified`, from `worth`."""
        rows: dict[str, Callable[[], Iterator[_Row]]] = {
            "figure 5": self._figure5,
            "figure 6": self._figure6,
            "figure 7": self._figure7,
            "figure 8": self._figure8,
            "loss": self._loss,
            "index privacy": self._index,
            "equal privacy": partial(self._equal, certified),
            "settings": self._settings,
        }
        return [Case(group, *row) for group in groups for row in rows[group]()]

    def _row(
        self,
        label: str,
        one: Aggregator,
        varied: str = "",
        value: float = math.nan,
        *,
        noise: str = "fresh",
        **changes: Any,
    ) -> _Row:
        kept: dict[str, Any] = {"training": self.training, "noise": noise}
        return label, varied, value, Setup(one, **kept | changes)

    def _figure5(self) -> Iterator[_Row]:
        each_coordinate = self.eps_curator / self.d
        local = LocalGaussian(self.clip, classical_gaussian_scale(eps=each_coordinate, delta=self.delta))
        once, twice, all_kinds = ("fresh",), ("fresh", "released"), ("fresh", "released", "frozen")
        methods: list[tuple[str, Aggregator, tuple[str, ...]]] = [
            (NP, Mean(), once),
            (DP_MORE, self.curator(self.eps_more), twice),
            (DP, self.curator(self.eps_curator), all_kinds),
            (TOPK, self.sampled("largest"), all_kinds),
            (DOUBLE, self.sampled("uniform"), all_kinds),
            (SIMPLE, self.simple(), all_kinds),
            (LDP, local, once),
            (LDP_LAPLACE, self.simple(each_coordinate), once),
        ]
        return (self._row(label, one, noise=noise) for label, one, kinds in methods for noise in kinds)

    def _figure6(self) -> Iterator[_Row]:
        values = sorted({*_EPS_LK, self.eps_l / self.k})
        return (self._row(TOPK, self.sampled("largest", eps), EPS_LK, eps) for eps in values)

    def _figure7(self) -> Iterator[_Row]:
        values = sorted({*_RATIOS, self.ratio})
        return (self._row(TOPK, replace(self, ratio=one).sampled("largest"), PADDING, one) for one in values)

    def _figure8(self) -> Iterator[_Row]:
        """At a fixed eps_lk, and at a fixed eps_l."""
        own = self.eps_l / self.k
        for rate in sorted({*_RATES, self.rate}, reverse=True):
            one = replace(self, ratio=_WIDE, rate=rate)
            for varied, eps in ((LK_FIXED, own), (L_FIXED, None)):
                yield self._row(TOPK, one.sampled("largest", eps), varied, 1 / rate)

    def _loss(self) -> Iterator[_Row]:
        """beta = 1/10 and n/n_p = 1.5, with which the printed 2.348 comes out."""
        tenth = replace(self, ratio=_WIDE, rate=10).sampled("largest", self.eps_l / self.k)
        yield self._row(TOPK, tenth)
        yield self._row(TOPK, tenth, noise="released")
        yield self._row(QUIET, replace(tenth, eps=math.inf))
        yield self._row(SPARSE, replace(tenth, eps=math.inf, divide="users"))
        yield self._row(NP, Mean())
        yield self._row(FASTER, Mean(_STEP))

    def _index(self) -> Iterator[_Row]:
        """l indices shown for each real one, with padding that holds them and with the paper's."""
        for ratio in (_WIDE, self.ratio):
            base = replace(self, ratio=ratio).sampled("largest")
            for many in (1, min(_SHOWN, self.d // self.k)):
                yield self._row(TOPK, replace(base, l=many), f"$l$, $n/n_p$ = {ratio:g}", many)

    def _equal(self, worths: Sequence[Worth]) -> Iterator[_Row]:
        """DP-FL, analytic, at what each protocol can be proved to give; the protocols at DP-FL's own eps."""
        eps = r"$\epsilon$"
        for one in worths:
            for end, value in (("lower", one.lower), ("upper", one.upper)):
                if value > 0:
                    curator = self.curator(value, analytic=True)
                    yield self._row(f"DP-FL at {one.method}'s {end} end", curator, eps, value)
            # The certificate of SS-Double is for independent indices.
            select = "independent" if one.method == DOUBLE else "largest"
            if one.method == DOUBLE:
                yield self._row(INDEPENDENT, self.sampled(select), eps, one.upper)
            if one.tuned > 0:
                tuned = self.simple(one.tuned) if one.method == SIMPLE else self.sampled(select, one.tuned)
                yield self._row(f"{one.method} tuned", tuned, eps, self.eps_curator)
        yield self._row("DP-FL", self.curator(self.eps_curator, analytic=True), eps, self.eps_curator)

    def _settings(self) -> Iterator[_Row]:
        """What neither the paper nor its claims vary; few seeds."""
        topk, trained = self.sampled("largest"), partial(replace, self.training)
        lines: dict[str, Aggregator] = {NP: Mean(), DP: self.curator(self.eps_curator), TOPK: topk}
        yield from (self._row(name, one, "as released") for name, one in lines.items())
        for factor in (0.3, 3.0):
            other = replace(self, clip=factor * self.clip)
            yield self._row(DP, other.curator(self.eps_curator), f"$C$ = {other.clip:g}")
            yield self._row(TOPK, other.sampled("largest"), f"$C$ = {other.clip:g}")
        changes: dict[str, dict[str, Any]] = {
            **{f"local epochs {many}": {"training": trained(local_epochs=many)} for many in (1, 30)},
            **{f"local learning rate {rate:g}": {"training": trained(local_rate=rate)} for rate in (0.03, 0.3)},
            "images dealt at random": {"split": "random"},
            "one class a user": {"split": "one_class"},
            "pixels in [0, 1]": {"scaling": "unit"},
        }
        for varied, change in changes.items():
            yield from (self._row(name, one, varied, **change) for name, one in lines.items())
        yield self._row(NP, Mean(_STEP), f"server step {_STEP:g}")
        yield self._row(DP, self.curator(self.eps_curator, rate=_STEP), f"server step {_STEP:g}")
        yield self._row(TOPK, replace(topk, select="largest_scaled"), "selection as Algorithm 4 prints it")
        yield self._row(TOPK, replace(topk, divide="users"), "mean over $n$")


def run(
    data: str, cases: Sequence[Case], *, users: int, seeds: Sequence[int], device: str = "cpu", jobs: int | None = None
) -> pd.DataFrame:
    """Every case, trained on "mnist" or "digits" with these users, in processes where that pays.

    Columns: group, label, varied, value, noise, seed, round, accuracy in [0, 1], largest, overflowing. Only Figure 5
    shows what lies between the first round and the last; elsewhere that accuracy is NaN.
    """
    wanted: dict[Setup, list[int]] = {}
    own = [list(seeds[:_FEW] if case.group == "settings" else seeds) for case in cases]
    for case, few in zip(cases, own, strict=True):
        known = wanted.setdefault(case.setup, [])
        known += [seed for seed in few if seed not in known]
    # Cases that share a partition follow each other; the longest, which have most to draw, come first.
    order = sorted(wanted, key=lambda one: (one.scaling, one.split, not isinstance(one.aggregator, Sampled)))
    work = sum(len(wanted[one]) * one.training.rounds * (users // one.training.batches) for one in order)
    if jobs is None:
        jobs = 1 if work < _WORTH_A_PROCESS or device != "cpu" else None
    drawn = {case.setup for case in cases if case.group == five("").group}
    tasks = [(data, users, setup, tuple(wanted[setup]), device, setup in drawn) for setup in order]
    found = dict(zip(order, processes.each(_trained, tasks, jobs=jobs), strict=True))
    parts = []
    for case, few in zip(cases, own, strict=True):
        part = found[case.setup]
        part = part[part["seed"].isin(few)].assign(noise=case.setup.noise)
        parts.append(part.assign(group=case.group, label=case.label, varied=case.varied, value=case.value))
    table: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return table[[*_KEYS, "seed", "round", "accuracy", "largest", "overflowing"]]


def _trained(task: tuple[str, int, Setup, Sequence[int], str, bool]) -> pd.DataFrame:
    data, users, setup, seeds, device, drawn = task
    held, every = dealt_to(data, users, setup.scaling, setup.split), 1 if drawn else setup.training.rounds
    return federated.train(
        held, setup.aggregator, setup.training, seeds=seeds, noise=setup.noise, device=device, evaluate_every=every
    )


_held: dict[tuple[str, int, str, str], Users] = {}


def dealt_to(data: str, users: int, scaling: str = "standardized", split: str = "one_per_class") -> Users:
    """The images of "mnist" or "digits" as these users hold them; the last answer is kept."""
    asked = data, users, scaling, split
    if asked not in _held:
        _held.clear()  # before the next takes as much memory
        _held[asked] = partition(digits.load(data), users=users, scaling=scaling, split=split)
    return _held[asked]


_KEYS = ["group", "label", "varied", "value", "noise"]


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Accuracy after the last round, a row a case, with a 95% interval for the mean over seeds, all in percent.

    Columns: those of a case, seeds, mean (%), from, to, lowest, highest; largest, overflowing, of all rounds.
    """
    rows = []
    for key, part in runs.groupby(_KEYS, sort=False, dropna=False):
        percent = 100 * part[part["round"] == part["round"].max()]["accuracy"]
        low, high = interval(percent) if len(percent) > 1 else (math.nan, math.nan)
        rows.append(
            dict(zip(_KEYS, key, strict=True))
            | {"seeds": len(percent), "mean (%)": float(percent.mean()), "from": low, "to": high}
            | {"lowest": float(percent.min()), "highest": float(percent.max())}
            | {"largest": int(part["largest"].max()), "overflowing": int(part["overflowing"].max())}
        )
    return pd.DataFrame(rows)


def by_accuracy(rows: pd.DataFrame) -> list[tuple[str, float]]:
    """Rows of `summary` as (method, mean), the most accurate first."""
    ordered = rows.sort_values("mean (%)", ascending=False, kind="stable")
    return list(zip(ordered["label"].str.removesuffix(" tuned"), ordered["mean (%)"], strict=True))


class Line(NamedTuple):
    """One case among the runs; an empty `varied` or a NaN `value` asks for nothing."""

    group: str
    label: str
    noise: str = "fresh"
    varied: str = ""
    value: float = math.nan


def five(label: str, noise: str = "fresh") -> Line:
    """A line of Figure 5."""
    return Line("figure 5", label, noise)


def equal(label: str) -> Line:
    """A case at equal privacy."""
    return Line("equal privacy", label)


LOWER_END = equal(f"DP-FL at {TOPK}'s lower end")
"""DP-FL, analytic, at the least eps that SS-Topk can have."""


class Gap(NamedTuple):
    """A difference paired by seed, in points, with its interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, eq=False)
class Found:
    """What the page has computed: `run`'s table, what the protocols are worth, the settings; read by case."""

    runs: pd.DataFrame
    worths: tuple[Worth, ...]
    paper: Paper

    def rows(self, one: Line) -> pd.DataFrame:
        """All rounds and seeds of a case."""
        runs = self.runs
        wanted = (runs["group"] == one.group) & (runs["label"] == one.label) & (runs["noise"] == one.noise)
        if one.varied:
            wanted &= runs["varied"] == one.varied
        if not math.isnan(one.value):
            wanted &= runs["value"] == one.value
        part: pd.DataFrame = runs[wanted]
        return part

    def final(self, one: Line) -> pd.Series[Any]:
        """Accuracy after the last round, in points, by seed."""
        part = self.rows(one)
        last = part[part["round"] == self.runs["round"].max()]
        accuracy: pd.Series[Any] = 100 * last.set_index("seed")["accuracy"].sort_index()
        return accuracy

    def mean(self, one: Line) -> float:
        """Final accuracy in percent; NaN if the case was not run."""
        return float(self.final(one).mean())

    def gap(self, above: Line, below: Line, confidence: float = 0.95) -> Gap:
        """The first case's final accuracy less the second's."""
        difference = self.final(above) - self.final(below)
        return Gap(float(difference.mean()), *interval(difference, confidence=confidence))

    def percent(self, one: Line) -> str:
        """A final accuracy with its 95% interval."""
        values = self.final(one)
        low, high = interval(values)
        return f"{values.mean():.2f}% ({low:.2f} to {high:.2f})"

    def accuracies(self, *lines: Line) -> dict[str, object]:
        """Evidence rows: the cases' accuracies."""
        return {f"{one.label}, {_NOISES[one.noise]}": self.percent(one) for one in lines}

    def worth(self, method: str) -> Worth:
        """What a protocol can be proved to give."""
        return next(one for one in self.worths if one.method == method)

    def sweep(self, group: str, varied: str) -> list[Line]:
        """The cases of a sweep of SS-Topk, by value."""
        part = self.runs[(self.runs["group"] == group) & (self.runs["varied"] == varied)]
        return [Line(group, TOPK, varied=varied, value=float(value)) for value in sorted(part["value"].unique())]

    def unready(self, name: str, *needed: Line, worths: Sequence[str] = ()) -> Outcome | None:
        """Why these runs cannot settle a claim; None when they can."""
        rounds = int(self.runs["round"].max())
        seeds = min((self.final(one).index.nunique() for one in needed), default=0)
        if absent := [method for method in worths if all(one.method != method for one in self.worths)]:
            return unsettled(name, f"In this run no $\\epsilon$ is certified for {', '.join(absent)}.")
        if rounds == ROUNDS and seeds >= SEEDS and self.paper.n == USERS:
            return None
        reason = (
            f"This run has {seeds} {'seed' if seeds == 1 else 'seeds'} a case, {rounds} "
            f"{'round' if rounds == 1 else 'rounds'} and $n$ = {self.paper.n:,}; the claim needs {SEEDS} seeds, "
            f"{ROUNDS} rounds and $n$ = {USERS:,}."
        )
        return unsettled(name, reason)


PRINTED = {"E1": (DOUBLE, SIMPLE, 4.07), "E2": (TOPK, DOUBLE, 55.5), "E3": (TOPK, DP, 33.94), "E4": (TOPK, LDP, 60.7)}
"""The first case's accuracy less the second's, in points."""
_NOISES = {"fresh": "fresh noise", "released": "released noise", "frozen": "other frozen noise"}


def printed_differences(found: Found) -> pd.DataFrame:
    """The printed differences of accuracy beside those of the runs, in points.

    Columns: claim, difference, printed, released noise (LDP-FL has fresh noise throughout) and fresh noise, each with
    the half-width of its 95% interval, tolerance, and with which noise the difference is within it.
    """
    made = []
    for name, (above, below, printed) in PRINTED.items():
        row: dict[str, object] = {"claim": name, "difference": f"{above} less {below}", "printed": printed}
        tolerance, near = 100 * tolerance_of(name, "accuracy"), []
        for kind in ("released", "fresh"):
            other = five(below, "fresh" if below == LDP else kind)
            gap = found.gap(five(above, kind), other)
            row[_NOISES[kind]], row[f"± {kind}"] = gap.mean, (gap.high - gap.low) / 2
            near += [kind] if abs(gap.mean - printed) <= tolerance else []
        made.append(row | {"tolerance": tolerance, "reproduced with": " and ".join(near) or "neither"})
    return pd.DataFrame(made)


def with_half_widths(differences: pd.DataFrame) -> pd.DataFrame:
    """`printed_differences` to be read: each mean with the half-width, where there is one, in one cell."""
    shown = differences.copy()
    for kind in ("released", "fresh"):
        name = _NOISES[kind]
        halves = shown.pop(f"± {kind}")
        shown[name] = [
            f"{mean:.2f}" + ("" if math.isnan(half) else f" ±\N{NO-BREAK SPACE}{half:.2f}")
            for mean, half in zip(shown[name], halves, strict=True)
        ]
    return shown


def on_the_edge(differences: pd.DataFrame) -> list[dict[str, object]]:
    """Of `printed_differences`, those where other seeds may change what is within the tolerance.

    Each with difference, noise, points (the distance from where that changes) and half (of the 95% interval).
    """
    rows = []
    for row in differences.to_dict("records"):
        for kind in ("released", "fresh"):
            points = abs(abs(row[_NOISES[kind]] - row["printed"]) - row["tolerance"])
            if not points >= ENOUGH * (half := row[f"± {kind}"]):
                rows.append({"difference": row["difference"], "noise": _NOISES[kind], "points": points, "half": half})
    return rows


def tolerance_of(name: str, key: str) -> float:
    return float((claim(name).tolerance or {})[key])


# --- figures -----------------------------------------------------------------------------------------------

_TITLES = {"fresh": "fresh noise in every round", "released": "the released trainer's noise, repeated"}
_SWEEPS = (
    ("figure 6", r"budget of one report $\epsilon_{lk}$", False),
    ("figure 7", "$n/n_p$", False),
    ("figure 8", r"share of coordinates $\beta$ (log scale)", True),
)
_MARKS = {SIMPLE: "s", DOUBLE: "D", TOPK: "o"}
# As the methods have them in Figure 5's order.
_COLOURS = {DP: PALETTE[2], TOPK: PALETTE[3], DOUBLE: PALETTE[4], SIMPLE: PALETTE[5]}


@keeps_data
def accuracies_figure(runs: pd.DataFrame, *, dataset: str) -> Figure:
    """Figure 5 from its rows of `run`: test accuracy by round; bands reach from the lowest to the highest seed."""
    labels, rounds = list(dict.fromkeys(runs["label"])), runs["round"].max()
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True, layout="constrained")
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
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


@keeps_data
def variations_figure(sweeps: pd.DataFrame, *, dataset: str) -> Figure:
    """Figures 6 to 8, rows of `summary`: SS-Topk's accuracy, a panel a parameter; bars are 95% intervals."""
    figure, axes = plt.subplots(1, 3, figsize=(9.5, 4), sharey=True, layout="constrained")
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


def at_their_worth(found: Found) -> pd.DataFrame:
    """The fields of `Worth`, and accuracies: of the run that the certificate is for, tuned, and DP-FL's at `upper`.

    Columns: those, and accuracy, accuracy_tuned, curator; NaN where not run.
    """
    table = pd.DataFrame(found.worths, columns=Worth._fields)
    # SS-Double's certificate is for independent indices.
    runs_for = [equal(INDEPENDENT) if method == DOUBLE else five(method) for method in table["method"]]
    table["accuracy"] = [found.mean(one) for one in runs_for]
    table["accuracy_tuned"] = [found.mean(equal(f"{method} tuned")) for method in table["method"]]
    table["curator"] = [found.mean(equal(f"DP-FL at {method}'s upper end")) for method in table["method"]]
    return table


@keeps_data
def worth_figure(protocols: pd.DataFrame, curator: pd.DataFrame, *, dataset: str) -> Figure:
    """Accuracy against one epoch's eps: DP-FL (rows of `summary`) as a line, protocols from attack to certified."""
    curve = curator.sort_values("value")
    at = float(curve.loc[curve["label"] == "DP-FL", "value"].iloc[0])
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    axis.plot(
        curve["value"], curve["mean (%)"], color=_COLOURS[DP], marker="x", ms=6, lw=2, label="DP-FL, analytic Gaussian"
    )
    for one in protocols.to_dict("records"):
        colour, mark, height = _COLOURS[one["method"]], _MARKS[one["method"]], [one["accuracy"]]
        ends = [one["lower"], one["upper"]]
        axis.plot(ends, height * 2, color=colour, marker=mark, ms=7, lw=3, label=one["method"])
        if one["printed"] > 0:
            axis.plot([one["printed"]], height, color=colour, marker=mark, ms=9, mfc="white", mew=1.5, lw=0)
            axis.plot([one["printed"], one["upper"]], height * 2, color=colour, lw=1, dashes=DASHES[2])
        if one["tuned"] > 0:
            axis.plot([at], [one["accuracy_tuned"]], color=colour, marker=mark, ms=7, lw=0, mec="black", mew=1.5)
    axis.plot([], [], color="0.4", marker="o", ms=9, mfc="white", mew=1.5, lw=0, label="hollow: as the paper says")
    if (protocols["tuned"] > 0).any():
        label = f"black rim: tuned to {at:g}, certified"
        axis.plot([], [], color="0.6", marker="o", ms=7, mec="black", mew=1.5, lw=0, label=label)
    xlabel = r"central $\epsilon$ of one epoch (log scale)"
    axis.set(xscale="log", xlabel=xlabel, ylabel=f"accuracy on {dataset} (%)", ylim=(0, 100))
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.xaxis.set_minor_locator(NullLocator())
    figure.legend(loc="outside lower center", ncols=2)
    return figure


# --- checks ------------------------------------------------------------------------------------------------

_KINDS = ("fresh", "released", "frozen")
_REPEATED = "the noise of the released trainer, the same in every round"
_NOT_THE_PAPERS = (
    "Algorithm 2 randomizes anew in every iteration, and noise that repeats, from a published seed, gives none of the "
    "privacy that the paper claims; the code settles what the text leaves open, and the text does not leave this open"
)


def told(text: str | Callable[[], str]) -> Said:
    """One text that states what was found, whatever the verdict."""
    return dict.fromkeys(VERDICTS, text)


def _both(above: str, below: str) -> list[Line]:
    return [five(label, kind) for kind in _KINDS for label in (above, below)]


def _differences(found: Found, above: str, below: str, printed: float) -> tuple[dict[str, Gap], dict[str, object]]:
    """With each kind of noise, and as evidence."""
    gaps = {kind: found.gap(five(above, kind), five(below, kind)) for kind in _KINDS}
    return gaps, {
        "printed difference (points)": printed,
        "difference with fresh noise in every round": str(gaps["fresh"]),
        "difference with the released trainer's noise": str(gaps["released"]),
        "difference with other noise that repeats": str(gaps["frozen"]),
    }


def _printed_gain(gap: Gap, printed: float, tolerance: float, *, setting: bool = False) -> Verdict:
    """A printed number of points that one method is ahead by: the number, and the sign."""
    return joined(within(gap.mean - printed, tolerance, setting=setting), ranked(gap.low, gap.high))


def _with_each_noise(gaps: Mapping[str, Gap], printed: float, tolerance: float) -> str:
    """What the noise that repeats gives, which is not counted, and what fresh noise gives."""
    met = "are" if abs(gaps["released"].mean - printed) <= tolerance else "are not"
    return (
        f"The printed {printed:g} points {met} reproduced with the released trainer's noise, the same in every round: "
        f"{gaps['released']}. With fresh noise the difference is {gaps['fresh']} points."
    )


def _repeated(gap: Gap, printed: float, tolerance: float) -> Reading:
    """The reading in which the released trainer's noise counts as the paper's, which it is not."""
    verdict = _printed_gain(gap, printed, tolerance, setting=True)
    text = f"With it the difference is {gap} points, printed {printed:g}."
    return reading(
        _REPEATED, verdict, told(text), correction="true if the noise repeats in every round.", excluded=_NOT_THE_PAPERS
    )


def keeps(stated: float, lower: float, upper: float) -> Verdict:
    """Whether an eps that is known to lie between these two is at most what is stated."""
    return at_least(stated - upper, stated - lower, 0.0)


def _gain(name: str, found: Found, clause: Callable[[float, float], Verdict], wanted: str) -> Outcome:
    """A printed gain and what its sentence says of the privacy.

    `clause` judges the second method's eps less the first's, from an interval; `wanted` says it in words.
    """
    above, below, printed = PRINTED[name]
    lines = _both(above, below)
    tuned_above, tuned_below = equal(f"{above} tuned"), equal(f"{below} tuned")
    if not_ready := found.unready(name, *lines, tuned_above, tuned_below, equal(INDEPENDENT)):
        return not_ready
    gaps, evidence = _differences(found, above, below, printed)
    ours, theirs = found.worth(above), found.worth(below)
    tuned, target = found.gap(tuned_above, tuned_below), f"{found.paper.eps_curator:g}"
    for one in (ours, theirs):
        evidence[f"$\\epsilon$ of {one.method}: attack; certified"] = f"{one.lower:.4f}; {one.upper:.4f}"
    free = found.gap(equal(INDEPENDENT), five(DOUBLE))
    evidence["SS-Double with independent indices, as certified, less that with exactly $k$"] = str(free)
    evidence[f"difference with both tuned to a certified $\\epsilon$ of {target}"] = str(tuned)
    shown = "; ".join(f"{one.method} {one.tuned_lower:.3f}" for one in (ours, theirs))
    evidence["what an attack reaches at the tuned budgets"] = shown
    evidence |= found.accuracies(*lines[:4], tuned_above, tuned_below)
    tolerance = 100 * tolerance_of(name, "accuracy")
    number = _printed_gain(gaps["fresh"], printed, tolerance)
    stated = [keeps(one.printed, one.lower, one.upper) for one in (ours, theirs)]
    apart = theirs.printed - ours.printed
    real = clause(theirs.lower - ours.upper, theirs.upper - ours.lower)
    points = _with_each_noise(gaps, printed, tolerance)
    each = ", and ".join(
        rf"for {one.method} it is {one.printed:.2f}, where an attack shows at least {one.lower:.3f}"
        for one in (ours, theirs)
    )
    limits = ", and ".join(f"between {one.lower:.3f} and {one.upper:.3f} for {one.method}" for one in (ours, theirs))
    return judge(
        name,
        evidence,
        reading(
            "the privacy that the paper states for each",
            joined(number, clause(apart, apart), *stated),
            told(f"{points} As to the stated $\\epsilon$, {each}."),
            excluded="a bound that is looser for one protocol is no weaker privacy, and the sentence is about what the "
            "protocols have",
        ),
        reading(
            "the privacy that each has",
            joined(number, real),
            told(f"{points} The sentence says {wanted} for {above}. In truth $\\epsilon$ is {limits}."),
        ),
        reading(
            f"one certified $\\epsilon$ of {target}, with the budgets that give it",
            _printed_gain(tuned, printed, tolerance, setting=True),
            told(f"There the difference is {tuned} points, printed {printed:g}."),
            correction=f"true where both are certified to have $\\epsilon$ = {target}, each at its own local budget.",
            excluded=f"the sentence is about $\\epsilon_l$ = {found.paper.eps_l:g} for both",
        ),
        _repeated(gaps["released"], printed, tolerance),
    )


@settles("E1")
def double_above_simple(found: Found) -> Outcome:
    """4.07 points, "under a stronger central privacy"."""
    return _gain("E1", found, ranked, r"a smaller $\epsilon$")


@settles("E2")
def topk_above_double(found: Found) -> Outcome:
    """55.5 points, "under the same central privacy"."""
    return _gain("E2", found, partial(at_least, least=0.0), r"no larger an $\epsilon$")


@settles("E3")
def topk_above_curator(found: Found) -> Outcome:
    """33.94 points at "the same" eps: with each kind of noise, and at an eps that SS-Topk really has."""
    lines, tuned_topk = _both(TOPK, DP), equal(f"{TOPK} tuned")
    if not_ready := found.unready("E3", *lines, LOWER_END, tuned_topk, equal("DP-FL")):
        return not_ready
    printed, tolerance = PRINTED["E3"][2], 100 * tolerance_of("E3", "accuracy")
    gaps, evidence = _differences(found, TOPK, DP, printed)
    own, at_own = found.worth(TOPK), found.gap(five(TOPK), LOWER_END)
    evidence["$\\epsilon$ of SS-Topk: attack; certified"] = f"{own.lower:.3f}; {own.upper:.3f}"
    least = f"$\\epsilon$ = {own.lower:.3f}, the least that SS-Topk can have"
    evidence[f"SS-Topk less DP-FL at {least}"] = str(at_own)
    evidence["DP-FL there"] = found.percent(LOWER_END)
    at_one = f"SS-Topk tuned to a certified $\\epsilon$ of {found.paper.eps_curator:g}, less DP-FL there"
    evidence[at_one] = str(found.gap(tuned_topk, equal("DP-FL")))
    evidence |= found.accuracies(*lines[:4])
    number = _printed_gain(gaps["fresh"], printed, tolerance)
    there = (
        f"{_with_each_noise(gaps, printed, tolerance)} And SS-Topk's $\\epsilon$ is at least {own.lower:.2f}, where "
        f"SS-Topk less DP-FL is {at_own} points."
    )
    return judge(
        "E3",
        evidence,
        reading(
            "at the $\\epsilon$ that the paper states for both",
            joined(number, keeps(found.paper.eps_curator, own.lower, own.upper)),
            told(there),
        ),
        reading(
            "at the least $\\epsilon$ that SS-Topk has",
            _printed_gain(at_own, printed, tolerance, setting=True),
            told(there),
            correction=f"true at $\\epsilon$ = {own.lower:.2f}, not at {found.paper.eps_curator:g}.",
        ),
        _repeated(gaps["released"], printed, tolerance),
    )


@settles("E4")
def topk_above_local(found: Found) -> Outcome:
    """60.7 points over LDP-FL, with either noise: as the sentence has it, and at one eps against the analyzer."""
    tuned = equal(f"{TOPK} tuned")
    lines = [five(TOPK), five(TOPK, "released"), five(LDP), five(LDP_LAPLACE)]
    if not_ready := found.unready("E4", *lines, tuned):
        return not_ready
    printed, tolerance = PRINTED["E4"][2], 100 * tolerance_of("E4", "accuracy")
    gaps = {label: found.gap(five(TOPK), five(label)) for label in (LDP, LDP_LAPLACE)}
    released, own, target = found.gap(five(TOPK, "released"), five(LDP)), found.worth(TOPK), found.paper.eps_curator
    evidence: dict[str, object] = {"printed difference (points)": printed}
    evidence |= {f"SS-Topk less {label}, fresh noise": str(one) for label, one in gaps.items()}
    evidence["SS-Topk with the released trainer's noise, less LDP-FL Gaussian"] = str(released)
    evidence["$\\epsilon$ of SS-Topk: attack; certified"] = f"{own.lower:.3f}; {own.upper:.3f}"
    at_one = found.gap(tuned, five(LDP))
    evidence[f"SS-Topk tuned to a certified $\\epsilon$ of {target:g}, less LDP-FL Gaussian"] = str(at_one)
    evidence |= found.accuracies(*lines)
    number = joined(*(_printed_gain(one, printed, tolerance) for one in gaps.values()))
    points = f"With fresh noise the difference is {gaps[LDP]} points, printed {printed:g}"
    return judge(
        "E4",
        evidence,
        reading(
            "the accuracies alone: the sentence names no privacy",
            number,
            told(f"{points}. LDP-FL reaches {found.mean(five(LDP)):.1f}%, and chance is 10%."),
        ),
        reading(
            "at one $\\epsilon$ against the analyzer, as in the comparisons with SS-Double and DP-FL",
            joined(number, keeps(target, own.lower, own.upper)),
            told(
                f"{points}. But SS-Topk's $\\epsilon$ is at least {own.lower:.2f}, and LDP-FL's at most {target:g}. "
                f"With SS-Topk tuned to a certified $\\epsilon$ of {target:g} the difference is {at_one} points."
            ),
        ),
        _repeated(released, printed, tolerance),
    )


@settles("E5")
def loss_against_nonprivate(found: Found) -> Outcome:
    """1.48 points below NP-FL at beta = 1/10: against the mean of updates, and against the protocol without noise."""
    labels = (
        (NP, "fresh"),
        (FASTER, "fresh"),
        (TOPK, "fresh"),
        (TOPK, "released"),
        (QUIET, "fresh"),
        (SPARSE, "fresh"),
    )
    lines = mean, faster, own, released, quiet, sparse = [Line("loss", *one) for one in labels]
    if not_ready := found.unready("E5", *lines):
        return not_ready
    printed, tolerance = 1.48, 100 * tolerance_of("E5", "accuracy")
    loss, noise, step, repeated = (
        found.gap(*two) for two in ((mean, own), (quiet, own), (faster, own), (mean, released))
    )
    evidence: dict[str, object] = {
        "printed loss (points)": printed,
        "NP-FL less SS-Topk, fresh noise": str(loss),
        "NP-FL less SS-Topk, released noise": str(repeated),
        "SS-Topk without noise less SS-Topk": str(noise),
        "NP-FL with a larger server step less SS-Topk": str(step),
    }
    evidence |= {f"{one.label}, {one.noise}": found.percent(one) for one in lines}
    why = (
        "SS-Topk divides by $n\\beta$, which is a larger step in the coordinates that many users select. With the mean "
        f"over $n$, and no noise at all, it reaches {found.mean(sparse):.1f}%"
    )
    others = (
        (
            "SS-Topk without noise in place of NP-FL",
            noise,
            "the sentence compares with NP-FL; what the protocol does without its noise is not what it names",
        ),
        ("NP-FL with a larger server step", step, "Federated Averaging adds the mean of the updates, as it is"),
        (_REPEATED, repeated, _NOT_THE_PAPERS),
    )
    return judge(
        "E5",
        evidence,
        reading(
            "against NP-FL",
            within(loss.mean - printed, tolerance),
            told(f"NP-FL less SS-Topk is {loss} points, printed {printed}. {why}."),
        ),
        *(
            reading(
                name,
                within(gap.mean - printed, tolerance, setting=True),
                told(f"The difference is {gap} points, printed {printed}."),
                correction=f"true for {name if name != _REPEATED else name.removeprefix('the ')}.",
                excluded=why_not,
            )
            for name, gap, why_not in others
        ),
    )


@settles("E6")
def simple_above_local(found: Found) -> Outcome:
    """SS-Simple against both LDP-FL baselines."""
    lines = own, *others = five(SIMPLE), five(LDP), five(LDP_LAPLACE)
    if not_ready := found.unready("E6", *lines, worths=(SIMPLE,)):
        return not_ready
    gaps = [found.gap(own, one, tolerance_of("E6", "confidence")) for one in others]
    evidence: dict[str, object] = {
        f"SS-Simple less {one.label} (points)": str(each) for one, each in zip(others, gaps, strict=True)
    }
    evidence |= found.accuracies(*lines)
    worth, target = found.worth(SIMPLE), found.paper.eps_curator
    evidence["$\\epsilon$ of SS-Simple: attack; certified"] = f"{worth.lower:.4f}; {worth.upper:.4f}"
    order, least = joined(*(ranked(one.low, one.high) for one in gaps)), min(gaps, key=lambda one: one.low)
    points = f"SS-Simple less the nearer LDP-FL is {least} points"
    return judge(
        "E6",
        evidence,
        reading(
            "at the budgets of Figure 5",
            order,
            told(
                f"{points}. The two do not share one local budget: with Laplace noise LDP-FL sends the reports of "
                "SS-Simple, at another $\\epsilon_l$."
            ),
        ),
        reading(
            "and at no larger an $\\epsilon$ against the analyzer",
            joined(order, keeps(target, worth.lower, worth.upper)),
            told(
                f"{points}. SS-Simple's $\\epsilon$ is certified to be at most {worth.upper:.3f}; LDP-FL's is "
                f"{target:g}."
            ),
        ),
    )


@settles("E7")
def loose_curator(found: Found) -> Outcome:
    """DP-FL at 20.53: within the tolerance of NP-FL, and above SS-Topk."""
    lines = five(NP), five(DP_MORE), five(TOPK)
    if not_ready := found.unready("E7", *lines):
        return not_ready
    confidence, tolerance = tolerance_of("E7", "confidence"), 100 * tolerance_of("E7", "accuracy")
    off, ahead = found.gap(*lines[:2], confidence), found.gap(*lines[1:], confidence)
    evidence: dict[str, object] = {
        "NP-FL less DP-FL at 20.53 (points)": str(off),
        "DP-FL at 20.53 less SS-Topk (points)": str(ahead),
    }
    evidence |= found.accuracies(*lines)
    verdict = joined(within(off.mean, tolerance), ranked(ahead.low, ahead.high))
    text = f"NP-FL less DP-FL at 20.53 is {off} points, and DP-FL at 20.53 less SS-Topk is {ahead} points."
    return judge("E7", evidence, reading("final accuracies", verdict, told(text)))


@settles("E8")
def double_below_curator(found: Found) -> Outcome:
    """SS-Double against DP-FL at 0.24, and with both accounted for correctly."""
    lines = five(DP), five(DOUBLE), equal("DP-FL"), equal(f"{DOUBLE} tuned")
    if not_ready := found.unready("E8", *lines):
        return not_ready
    confidence = tolerance_of("E8", "confidence")
    printed, tuned = found.gap(*lines[:2], confidence), found.gap(*lines[2:], confidence)
    evidence: dict[str, object] = {
        "DP-FL (0.24) less SS-Double (points)": str(printed),
        "the same, SS-Double tuned to that $\\epsilon$, certified, and DP-FL analytic": str(tuned),
    }
    evidence |= found.accuracies(*lines)
    verdict = joined(ranked(printed.low, printed.high), ranked(tuned.low, tuned.high))
    text = f"DP-FL less SS-Double is {printed} points as stated, and {tuned} points at one certified privacy."
    return judge("E8", evidence, reading("at the stated budgets and at one certified $\\epsilon$", verdict, told(text)))


@settles("Q3")
def shuffling_alone(found: Found) -> Outcome:
    """SS-Topk against DP-FL at an eps that counts shuffling alone: the printed one, and the least that holds."""
    if not_ready := found.unready("Q3", five(TOPK), five(DP_MORE), LOWER_END):
        return not_ready
    confidence, own = tolerance_of("Q3", "confidence"), found.worth(TOPK)
    gaps = {
        f"the printed {found.paper.eps_more:g}": found.gap(five(DP_MORE), five(TOPK), confidence),
        f"at least {own.lower:.2f}, by an attack": found.gap(LOWER_END, five(TOPK), confidence),
    }
    evidence: dict[str, object] = {
        f"DP-FL less SS-Topk, $\\epsilon$ {name} (points)": str(one) for name, one in gaps.items()
    }
    evidence |= found.accuracies(five(TOPK), five(DP_MORE), LOWER_END)
    return judge(
        "Q3",
        evidence,
        *(
            reading(
                f"$\\epsilon$ by shuffling alone: {name}",
                ranked(one.low, one.high),
                told(f"DP-FL less SS-Topk is {one} points."),
            )
            for name, one in gaps.items()
        ),
    )


@settles("Q2")
def both_are_needed(found: Found) -> Outcome:
    """Without either ingredient below DP-FL; with both above it, at the privacy that holds?"""
    if not_ready := found.unready("Q2", five(TOPK), five(DOUBLE), five(DP), five(DP_MORE), LOWER_END):
        return not_ready
    own, both = found.worth(TOPK), found.gap(five(TOPK), LOWER_END)
    shuffling, sampling = found.gap(five(TOPK), five(DP_MORE)), found.gap(five(DOUBLE), five(DP))
    evidence: dict[str, object] = {
        "without subsampling: SS-Topk less DP-FL at 20.53 (points)": str(shuffling),
        "without top-k: SS-Double less DP-FL at 0.24 (points)": str(sampling),
        "$\\epsilon$ of SS-Topk: attack; certified, by shuffling alone": f"{own.lower:.3f}; {own.upper:.3f}",
        f"SS-Topk less DP-FL at $\\epsilon$ = {own.lower:.3f} (points)": str(both),
    }
    without = [ranked(-one.high, -one.low) for one in (shuffling, sampling)]
    alone = (
        f"With one of the two alone, SS-Topk less DP-FL is {shuffling} points, and SS-Double less DP-FL is {sampling} "
        "points."
    )
    together = (
        f"{alone} With both, SS-Topk less DP-FL is {both} points at {own.lower:.2f}, the least $\\epsilon$ that "
        "SS-Topk can have: its selection depends on the data, and nothing is subsampled."
    )
    return judge(
        "Q2",
        evidence,
        reading("either alone is not enough, both are", joined(*without, ranked(both.low, both.high)), told(together)),
        reading(
            "either alone is not enough, whatever both do",
            joined(*without),
            told(alone),
            excluded="the paragraph explains why SS-Topk performs better than DP-FL; nothing is necessary for what "
            "does not happen",
        ),
    )


@settles("E9")
def larger_share(found: Found, prices: pd.DataFrame) -> Outcome:
    """The sweep over beta in both readings: its ends, and whether the last value is the best; `share_prices`."""
    sweeps = {name: found.sweep("figure 8", name) for name in (LK_FIXED, L_FIXED)}
    if not_ready := found.unready("E9", *(one for lines in sweeps.values() for one in (lines[0], lines[-1]))):
        return not_ready
    confidence = tolerance_of("E9", "confidence")
    evidence: dict[str, object] = {}
    readings = []
    low, high = prices["certified"]
    costs = {
        LK_FIXED: f"The whole budget grows with $\\beta$, and the certified $\\epsilon$ with it, from {low:.2f} to "
        f"{high:.2f}.",
        L_FIXED: "A larger $\\beta$ leaves each reported coordinate a smaller budget.",
    }
    for name, lines in sweeps.items():
        top = max(lines, key=found.mean)
        ends, fall = found.gap(lines[-1], lines[0], confidence), found.gap(lines[-1], top, confidence)
        evidence[f"{name}: largest less smallest $\\beta$ (points)"] = str(ends)
        evidence[f"{name}: accuracy by $\\beta$"] = _swept(found, lines)
        evidence[f"{name}: largest $\\beta$ less the best one (points)"] = str(fall)
        inside, rises = fall.high < 0, found.gap(top, lines[0], confidence).low > 0
        text = (
            f"From the least to the largest $\\beta$ the accuracy changes by {ends} points, and from the best to the "
            f"largest by {fall}. {costs[name]}"
        )
        readings.append(
            reading(
                name,
                joined(ranked(ends.low, ends.high), exactly(not inside, near=rises)),
                told(text),
                correction=f"true up to $\\beta$ = {top.value:g}, where the accuracy is largest.",
            )
        )
    evidence[f"{LK_FIXED}: certified $\\epsilon$ at the two ends"] = f"{low:.3f}; {high:.3f}"
    return judge("E9", evidence, *readings)


def _swept(found: Found, lines: Sequence[Line]) -> str:
    return ", ".join(f"{one.value:.3g}: {found.mean(one):.1f}%" for one in lines)


@settles("E10")
def budget_and_padding(found: Found) -> Outcome:
    """The ends of the sweeps over eps_lk and n/n_p."""
    sweeps = {EPS_LK: found.sweep("figure 6", EPS_LK), PADDING: found.sweep("figure 7", PADDING)}
    if not_ready := found.unready("E10", *(one for lines in sweeps.values() for one in (lines[0], lines[-1]))):
        return not_ready
    gaps: dict[str, Gap] = {}
    evidence: dict[str, object] = {}
    for name, lines in sweeps.items():
        gaps[name] = found.gap(lines[-1], lines[0], tolerance_of("E10", "confidence"))
        evidence[f"{name}: largest less smallest (points)"] = str(gaps[name])
        evidence[f"{name}: accuracy"] = _swept(found, lines)
    text = (
        f"From the least to the largest {EPS_LK} the accuracy changes by {gaps[EPS_LK]} points, and from the least to "
        f"the largest {PADDING} by {gaps[PADDING]} points."
    )
    verdict = joined(*(ranked(one.low, one.high) for one in gaps.values()))
    return judge("E10", evidence, reading("the ends of both sweeps", verdict, told(text)))


@settles("Q1")
def index_privacy_is_free(found: Found) -> Outcome:
    """Accuracy with many indices shown against few, where the padding holds them and where it does not."""
    shown = found.runs[found.runs["group"] == "index privacy"]["varied"]
    sweeps = {varied: found.sweep("index privacy", varied) for varied in dict.fromkeys(shown)}
    if not_ready := found.unready("Q1", *(one for lines in sweeps.values() for one in lines)):
        return not_ready
    evidence: dict[str, object] = {}
    gaps, over = {}, {}
    for varied, (few, many) in sweeps.items():
        rows, at = found.rows(many), f"{varied}, $l$ = {many.value:g}"
        gaps[varied], over[varied] = found.gap(many, few), int(rows["overflowing"].max())
        evidence[f"{varied}: $l$ = {many.value:g} less $l$ = {few.value:g} (points)"] = str(gaps[varied])
        evidence[f"{at}: coordinates above $n_p$, most in a round"] = over[varied]
        evidence[f"{at}: largest $n_{{s,j}}$"] = int(rows["largest"].max())
    fits = [varied for varied in sweeps if over[varied] == 0]
    same = not any(gaps[varied].low > 0 or gaps[varied].high < 0 for varied in fits)
    worst = max(over, key=lambda varied: over[varied])
    said: Said = {
        "verified": "There is no difference, and every coordinate fits into $n_p$.",
        "refuted": "The accuracy changes although every coordinate fits into $n_p$.",
        "not checkable": "In no run does every coordinate fit into $n_p$.",
        "holds with correction": lambda: (
            f"Where all reports fit ({fits[0]}), the noise is $n_p$ draws whatever $l$, and the difference is "
            f"{gaps[fits[0]]} points. With {worst}, up to {over[worst]:,} coordinates exceed $n_p$. They get no "
            f"dummies, and the difference is {gaps[worst]} points."
        ),
    }
    correction = (
        "the accuracy does not depend on $l$ as long as $n_{s,j} \\leq n_p$ for every coordinate, where the $k(l-1)$ "
        "further indices count, too. The paper's own $l$ and $n_p$ do not satisfy that."
    )
    verdict = exactly(same and len(fits) == len(sweeps), near=same) if fits else unknown()
    return judge("Q1", evidence, reading("as printed", verdict, said, correction=correction))


@settles("E11")
def printed_estimate(estimates: Sequence[Any]) -> Outcome:
    """Algorithm 2, lines 18 and 19, with dummies: expectation in closed form, and simulated with the three roles."""
    evidence: dict[str, object] = {}
    right = dict.fromkeys(("printed", "corrected"), True)
    off = 0.0
    for row in estimates:
        label = f"{row.protocol}, {row.rule}: estimate of {row.truth:g}"
        evidence[label] = f"{row.mean:.6f} ± {row.error:.6f}, in closed form {row.expected:.6f}"
        off = max(off, abs(row.mean - row.expected) / row.error)
        right[row.rule] &= abs(row.expected - row.truth) <= 5 * row.error
    agree = within(off, 5)  # else the closed form is wrong
    padded = next(row for row in estimates if row.protocol != SIMPLE and row.rule == "printed")
    reason = (
        "The printed estimate is right for SS-Simple only. With dummies it gives "
        f"{padded.expected:.5f} for a mean of {padded.truth:g}: $\\beta$ times the value, plus $C(n_p/n - 1)$, as the "
        "dummies' mean is taken for signal."
    )
    said: Said = {
        "verified": "The printed estimate is unbiased for all protocols.",
        "holds with correction": reason,
        "refuted": reason,
        "not reproduced": f"Simulation and closed form disagree by {off:.0f} standard errors.",
    }
    correction = (
        r"$\bar z_j = (\sum_{\text{all reports on } j} y - (m_j - n\beta)/2)/(n\beta)$, where $m_j$ is the number of "
        r"reports that arrive, is unbiased for the sum of the selected values over $n\beta$."
    )
    verdict = joined(agree, exactly(right["printed"], near=right["corrected"]))
    return judge("E11", evidence, reading("as printed", verdict, said, correction=correction))


@settles("E12")
def printed_selection(share: Mapping[str, Any], tied: Mapping[str, Any], sizes: Mapping[str, int]) -> Outcome:
    """Algorithm 4, line 2: which coordinates |x~| ranks first, x~ in [0, 1]; `tied` with many values clipped."""
    evidence: dict[str, object] = {
        f"{rule}: share of the {sizes['k']} largest $|x|$ of {sizes['d']} that is selected": (
            f"{one.share:.4f} ± {one.error:.4f}"
        )
        for rule, one in share.items()
    }
    evidence |= {
        f"{rule}: share of selected values that are negative": f"{one.negative:.4f}" for rule, one in share.items()
    }
    clipped = "printed, updates of deviation $C$, many clipped to ties: the first share"
    evidence[clipped] = f"{tied['printed'].share:.4f}"
    printed, right = share["printed"], share["corrected"]
    reason = (
        r"$\tilde x = (x + C)/(2C)$ grows with $x$, so that the printed line selects the most positive coordinates. "
        f"It selects {100 * printed.share:.0f}% of those of largest magnitude, and {100 * printed.negative:.0f}% of "
        "what it selects is negative."
    )
    said: Said = {
        "verified": "The coordinates of largest magnitude are selected.",
        "holds with correction": reason,
        "refuted": reason,
    }
    correction = r"$\text{Top}(|x_i|)$ is meant, of the update before it is clipped and scaled."
    verdict = exactly(printed.share == 1, near=right.share == 1)
    return judge("E12", evidence, reading("as printed", verdict, said, correction=correction))

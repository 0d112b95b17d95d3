"""The runs behind the checks of FLAME's experiments, and how the checks read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import pandas as pd

from gspa.claims.outcome import Outcome, not_yet
from gspa.claims.registry import claim
from gspa.experiments import interval
from gspa.flame import experiments
from gspa.flame.cases import DOUBLE, DP, LDP, SIMPLE, TOPK, Paper
from gspa.flame.federated import Training
from gspa.flame.worth import Worth

SEEDS = 5  # what an interval for a mean needs here: the spread over seeds is a point or so
ROUNDS = 12  # the paper's two epochs
USERS = 1_000  # its n
GROUPS = ("figure 5", "figure 6", "figure 7", "figure 8", "loss", "index privacy", "equal privacy")

PRINTED = {"E1": (DOUBLE, SIMPLE, 4.07), "E2": (TOPK, DOUBLE, 55.5), "E3": (TOPK, DP, 33.94), "E4": (TOPK, LDP, 60.7)}
"""The first case's accuracy less the second's, in points."""

NOISES = {"fresh": "fresh noise", "released": "released noise", "frozen": "other frozen noise"}


@dataclass(frozen=True, eq=False)
class Found:
    """What one run of the experiments gives.

    Attributes:
        runs: from `gspa.flame.experiments.run`; not to be changed.
        worths: from `gspa.flame.cases.Paper.worth`.
        stand_in: whether the data are not MNIST.
        paper: the settings.
    """

    runs: pd.DataFrame
    worths: tuple[Worth, ...]
    stand_in: bool
    paper: Paper


@cache
def _computed(profile: str) -> Found:
    """What all checks share."""
    from gspa import datasets

    data = datasets.load("auto")
    if profile == "quick" or data.stand_in:  # what settles nothing need not be complete
        small, users = Paper(training=Training(rounds=2)).sized(data, users=600)
        runs = experiments.run(data.name, small.cases(("figure 5",)), users=users, seeds=(0,), jobs=1)
        return Found(runs, (), data.stand_in, small)
    paper = Paper()
    worths = paper.worth()
    cases = paper.cases(GROUPS, certified=worths)
    runs = experiments.run(data.name, cases, users=paper.n * paper.training.batches, seeds=range(SEEDS))
    return Found(runs, worths, data.stand_in, paper)


def given(profile: str, found: Found | None) -> Found:
    """What the caller has computed, or what this computes."""
    return _computed(profile) if found is None else found


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


def lower_end() -> Line:
    """DP-FL, analytic, at the least eps that SS-Topk can have."""
    return equal(f"DP-FL at {TOPK}'s lower end")


def rows(found: Found, one: Line) -> pd.DataFrame:
    """All rounds and seeds of a case."""
    runs = found.runs
    wanted = (runs["group"] == one.group) & (runs["label"] == one.label) & (runs["noise"] == one.noise)
    if one.varied:
        wanted &= runs["varied"] == one.varied
    if not math.isnan(one.value):
        wanted &= runs["value"] == one.value
    part: pd.DataFrame = runs[wanted]
    return part


def final(found: Found, one: Line) -> pd.Series[Any]:
    """Accuracy after the last round, in points, by seed."""
    part = rows(found, one)
    last = part[part["round"] == found.runs["round"].max()]
    accuracy: pd.Series[Any] = 100 * last.set_index("seed")["accuracy"].sort_index()
    return accuracy


def value_of(found: Found, label: str) -> float:
    """The eps of a case at equal privacy."""
    return float(rows(found, equal(label))["value"].iloc[0])


def worth_of(found: Found, method: str) -> Worth:
    """What a protocol can be proved to give."""
    return next(one for one in found.worths if one.method == method)


def varied_values(found: Found, group: str, varied: str) -> list[float]:
    """The values of a sweep, in increasing order."""
    runs = found.runs
    return sorted(float(v) for v in runs[(runs["group"] == group) & (runs["varied"] == varied)]["value"].unique())


def ends(found: Found, group: str, varied: str) -> tuple[Line, Line]:
    """The first and the last case of a sweep of SS-Topk."""
    values = varied_values(found, group, varied) or [math.nan]
    return Line(group, TOPK, varied=varied, value=values[0]), Line(group, TOPK, varied=varied, value=values[-1])


def best(found: Found, group: str, varied: str) -> Line:
    """The case of a sweep of SS-Topk with the highest mean."""
    lines = [Line(group, TOPK, varied=varied, value=value) for value in varied_values(found, group, varied)]
    return max(lines, key=lambda line: float(final(found, line).mean()))


def swept(found: Found, group: str, varied: str) -> str:
    """A sweep's mean accuracies, in words."""
    values = varied_values(found, group, varied)
    means = [final(found, Line(group, TOPK, varied=varied, value=value)).mean() for value in values]
    return ", ".join(f"{value:.3g}: {mean:.1f}%" for value, mean in zip(values, means, strict=True))


class Gap(NamedTuple):
    """A difference paired by seed, in points, with its interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.2f} ({self.low:.2f} to {self.high:.2f})"


def gap(found: Found, above: Line, below: Line, confidence: float = 0.95) -> Gap:
    """The first case's final accuracy less the second's."""
    difference = final(found, above) - final(found, below)
    return Gap(float(difference.mean()), *interval(difference, confidence=confidence))


def percent(values: pd.Series[Any]) -> str:
    """A mean with its 95% interval."""
    low, high = interval(values)
    return f"{values.mean():.2f}% ({low:.2f} to {high:.2f})"


def accuracies(found: Found, *lines: Line) -> dict[str, object]:
    """Evidence rows: the cases' accuracies."""
    return {f"{one.label}, {NOISES[one.noise]}": percent(final(found, one)) for one in lines}


def tolerance_of(name: str, key: str) -> float:
    """The registry's number."""
    return float((claim(name).tolerance or {})[key])


def printed_differences(found: Found) -> pd.DataFrame:
    """The differences of accuracy that the paper prints, beside those of these runs, in points.

    Returns:
        One row a claim: `claim`, `difference`, `printed`, `released noise` (LDP-FL has fresh noise throughout),
        `fresh noise`, `tolerance`, and what is within it, `comes out`.
    """
    made = []
    for name, (above, below, printed) in PRINTED.items():
        row: dict[str, object] = {"claim": name, "difference": f"{above} less {below}", "printed": printed}
        tolerance, within = 100 * tolerance_of(name, "accuracy"), []
        for kind in ("released", "fresh"):
            other = five(below, "fresh" if below == LDP else kind)
            off = float((final(found, five(above, kind)) - final(found, other)).mean())
            row[NOISES[kind]] = off
            within += [kind] if abs(off - printed) <= tolerance else []
        made.append(row | {"tolerance": tolerance, "comes out": " and ".join(within) or "no"})
    return pd.DataFrame(made)


def unready(name: str, found: Found, needed: Sequence[Line]) -> Outcome | None:
    """Why these runs cannot settle a claim; None when they can."""
    if found.stand_in:
        return not_yet(name, missing="data", reason="MNIST was not at hand: this run used the digits stand-in.")
    rounds = int(found.runs["round"].max())
    seeds = min((final(found, one).index.nunique() for one in needed), default=0)
    if rounds != ROUNDS or seeds < SEEDS or found.paper.n != USERS:
        reason = (
            f"This run has {seeds} seed(s) a case, {rounds} rounds and n = {found.paper.n:,}; the claim needs {SEEDS} "
            f"seeds, {ROUNDS} rounds and n = {USERS:,}."
        )
        return not_yet(name, missing="size", reason=reason)
    return None

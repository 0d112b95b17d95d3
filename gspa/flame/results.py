"""Final accuracies of FLAME's experiments, case by case."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from gspa import _validate as check
from gspa.experiments import interval

_KEYS = ["group", "label", "varied", "value", "noise"]
_SUMMARY = [*_KEYS, "seeds", "mean (%)", "from", "to", "lowest", "highest", "largest", "overflowing"]


def final(runs: pd.DataFrame) -> pd.DataFrame:
    """The last round of `run`."""
    last: pd.DataFrame = runs[runs["round"] == runs["round"].max()]
    return last


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Accuracy after the last round, a row a case: in percent, with a 95% interval for the mean over seeds.

    `largest` and `overflowing` are the largest of all rounds and seeds.
    """
    rows = []
    for key, part in runs.groupby(_KEYS, sort=False, dropna=False):
        percent = 100 * final(part)["accuracy"]
        low, high = interval(percent) if len(percent) > 1 else (math.nan, math.nan)
        rows.append(
            dict(zip(_KEYS, key, strict=True))
            | {"seeds": len(percent), "mean (%)": float(percent.mean()), "from": low, "to": high}
            | {"lowest": float(percent.min()), "highest": float(percent.max())}
            | {"largest": int(part["largest"].max()), "overflowing": int(part["overflowing"].max())}
        )
    return pd.DataFrame(rows)


def shown(runs: pd.DataFrame, groups: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Some groups' rows and columns of `summary`, for a page; no rows if none of them was run."""
    columns = [check.one_of(_SUMMARY, column=column) for column in check.row(columns=columns)]
    chosen = runs[runs["group"].isin([check.text(group=group) for group in check.row(groups=groups)])]
    if chosen.empty:
        return pd.DataFrame(columns=columns)
    table = summary(chosen)
    part: pd.DataFrame = table[columns]
    return part


def mean(runs: pd.DataFrame, group: str, label: str, noise: str = "fresh") -> float:
    """Mean final accuracy of a case in percent; NaN if it was not run."""
    group, label, noise = check.text(group=group), check.text(label=label), check.text(noise=noise)
    chosen = (runs["group"] == group) & (runs["label"] == label) & (runs["noise"] == noise)
    part = final(runs[chosen])
    return float(100 * part["accuracy"].mean()) if len(part) else math.nan


def said(runs: pd.DataFrame, group: str, label: str) -> str:
    """`mean` in words, with fresh noise."""
    found = mean(runs, group, label)
    return "no value (not run)" if math.isnan(found) else f"{found:.1f}%"


def ranking(runs: pd.DataFrame, group: str, labels: Sequence[str]) -> str:
    """The labels of a group with their means, the highest first, in words; those that were not run are left out."""
    found = {label: mean(runs, group, label) for label in map(_label, check.row(labels=labels))}
    order = sorted((label for label in found if not math.isnan(found[label])), key=lambda label: -found[label])
    return ", ".join(f"{label.removesuffix(' tuned')} {found[label]:.1f}%" for label in order) or "not known"


def apart(runs: pd.DataFrame, group: str, above: str, below: str, varied: str) -> str:
    """The first label's mean less the second's under one heading, in words."""
    part = runs[runs["varied"] == check.text(varied=varied)]
    return _points(mean(part, group, above) - mean(part, group, below))


def against(runs: pd.DataFrame, group: str, label: str, varied: str, other: str) -> str:
    """One label's mean under a heading less that under another, in words."""
    own, others = runs[runs["varied"] == check.text(varied=varied)], runs[runs["varied"] == check.text(other=other)]
    return _points(mean(own, group, label) - mean(others, group, label))


def _label(label: object) -> str:
    return check.text(label=label)


def _points(difference: float) -> str:
    return "no value (not run)" if math.isnan(difference) else f"{difference:+.1f} points"

"""Any sweep's table: one result against one parameter, a line for each value of another."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa import _validate as check
from gspa.errors import InvalidValue
from gspa.figures.style import DASHES, PALETTE

_MOST_LINES = len(PALETTE)


def _lines(rows: pd.DataFrame, x: str, y: str, by: str) -> dict[str, pd.DataFrame]:
    """Per line its points: `mean`, `min` and `max` of y over the settings that share x, such as seeds."""
    for name, column in (("x", x), ("y", y), *((("by", by),) if by else ())):
        check.one_of(map(str, rows.columns), **{name: column})
    if not pd.api.types.is_numeric_dtype(rows[y]):
        raise InvalidValue("y", y, "a column of numbers")
    done = rows[rows["status"] == "done"].dropna(subset=[y])
    if done.empty:
        raise InvalidValue("y", y, "a column that some finished setting has")
    groups = done.groupby(by, sort=True) if by else [("", done)]
    found = {
        f"{by} = {value}" if by else "": part.groupby(x, sort=True)[y].agg(["mean", "min", "max", "size"])
        for value, part in groups
    }
    if len(found) > _MOST_LINES:
        raise InvalidValue("by", by, f"a column of at most {_MOST_LINES} values", f"it has {len(found)}")
    return found


def sweep_lines(
    rows: pd.DataFrame, *, x: str, y: str, by: str = "", log_x: bool = False, log_y: bool = False
) -> Figure:
    """A result against a parameter. Settings that share x are averaged; the band is their range.

    Args:
        rows: from `gspa.sweep.read_table`.
        x: a column; words are drawn as categories.
        y: a column of numbers.
        by: a column of at most 7 values, a line each; "" for one line.
        log_x: logarithmic horizontal axis.
        log_y: logarithmic vertical axis.

    Raises:
        UnknownName: no such column.
        InvalidValue: nothing finished, y not numeric, or too many lines.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    words = not pd.api.types.is_numeric_dtype(rows[x]) if x in rows else False
    ticks = {value: i for i, value in enumerate(sorted(map(str, rows[x].unique())))} if words else {}
    for i, (label, points) in enumerate(_lines(rows, x, y, by).items()):
        at = np.array([ticks[str(value)] for value in points.index]) if words else points.index.to_numpy(float)
        axis.plot(
            at, points["mean"], marker="o", ls=(0, DASHES[i]) if DASHES[i] else "-", color=PALETTE[i], ms=5, label=label
        )
        if (points["size"] > 1).any():
            axis.fill_between(at, points["min"], points["max"], color=PALETTE[i], alpha=0.15, lw=0)
    if words:
        axis.set_xticks(list(ticks.values()), list(ticks))
    elif log_x:
        axis.set_xscale("log")
    if log_y:
        axis.set_yscale("log")
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    if by:
        axis.legend()
    return figure


def describe_sweep(rows: pd.DataFrame, *, x: str, y: str, by: str = "") -> str:
    """Alt text of `sweep_lines`: each line's ends."""
    said = []
    for label, points in _lines(rows, x, y, by).items():
        mean = points["mean"]
        ends = f"{mean.iloc[0]:.4g} at {x} = {points.index[0]} to {mean.iloc[-1]:.4g} at {x} = {points.index[-1]}"
        said.append(f"{label}: from {ends}" if label else f"from {ends}")
    return f"{y} against {x}. " + "; ".join(said) + "."

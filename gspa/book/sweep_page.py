"""Any sweep's table as a notebook: one result against one parameter, a line for each value of another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.accountant import arguments as check
from gspa.accountant.errors import GspaError, InvalidValue
from gspa.book import run, sweep
from gspa.book.figures import DASHES, PALETTE, keeps_data
from gspa.book.parameters import Notebook, read_yaml
from gspa.files import write_atomically

_MOST_LINES = len(PALETTE)


def write(
    page: Path, output: Path, table: pd.DataFrame, notebook: Notebook, axes: Sequence[str], *, x: str, y: str, by: str
) -> None:
    """Run the template notebook on the table just written."""
    varied = [name for name in notebook.properties if table[name].nunique() > 1]
    order = [name for name in axes if name in varied] + [name for name in varied if name not in axes]
    order.sort(key=lambda name: table[name].nunique() <= _MOST_LINES)
    results = sweep.results_of(table, notebook.properties)
    numbers = table[results].select_dtypes("number")
    moving = [name for name in numbers if numbers[name].nunique() > 1] or list(numbers)
    if not order or not moving:
        raise GspaError("--page: needs a parameter with two values and a result that is a number")
    across, up = x or order[0], y or str(moving[0])
    columns = [*notebook.properties, *results]
    for option, column in (("--x", across), ("--y", up), ("--by", by)):
        if column:
            check.one_of(columns, **{option: column})
    chosen = {
        "table": str(output.resolve()),
        "title": f"{notebook.name}, swept",
        "x": across,
        "y": up,
        "by": by or next((name for name in order if name != across), ""),
        "log_x": _spans_decades(table, across),
        "log_y": _spans_decades(table, up),
    }
    path = Path(__file__).parent / "templates" / "sweep_page.ipynb"
    template = Notebook("sweep_page", path, read_yaml(path.with_suffix(".schema.yaml")))
    with run.Here(1, dict) as place:
        task = run.Task.of(template, template.validate(chosen))
        write_atomically(page, run.one(place, task, place.identity(needs_data=False)).text)


def _spans_decades(table: pd.DataFrame, column: str) -> bool:
    """Whether a logarithmic axis shows the column better."""
    if column not in table or table[column].dtype.kind not in "iuf":
        return False
    least, most = table[column].min(), table[column].max()
    return bool(least > 0 and most >= 50 * least)


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


@keeps_data
def lines(rows: pd.DataFrame, *, x: str, y: str, by: str = "", log_x: bool = False, log_y: bool = False) -> Figure:
    """A result against a parameter. Settings that share x are averaged; the band is their range."""
    figure, axis = plt.subplots(figsize=(4.8, 3.4), layout="constrained")
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


def ends(rows: pd.DataFrame, *, x: str, y: str, by: str = "") -> pd.DataFrame:
    """Each line's ends: `line`, `first x`, `first y`, `last x`, `last y`."""
    found = [
        (label, points.index[0], points["mean"].iloc[0], points.index[-1], points["mean"].iloc[-1])
        for label, points in _lines(rows, x, y, by).items()
    ]
    return pd.DataFrame(found, columns=["line", "first x", "first y", "last x", "last y"])

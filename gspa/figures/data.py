"""What a figure was drawn from, kept with it: the book offers it as CSV under the caption.

The drawing functions that `gspa.figures` exports are wrapped by `keeping`. In a notebook the figure then
brings its tables into its cell's output, from where the book's extension writes them to files.
"""

from __future__ import annotations

import functools
import inspect
import io
import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

MIME = "application/vnd.gspa.figure-data+json"
LIMIT = 1_000_000
"""Bytes of one table's CSV; a longer table is thinned."""


def as_csv(table: pd.DataFrame, *, limit: int = LIMIT) -> tuple[str, int]:
    """A table as CSV with a header, numbers in full precision, and how many rows it has.

    Args:
        table: any; an index that is not just the rows' numbers becomes columns.
        limit: bytes; of a longer table every second, third, ... row is kept, evenly from the first.
    """
    rows = table if isinstance(table.index, pd.RangeIndex) or table.index.name is None else table.reset_index()
    step = 1
    while True:
        kept = rows.iloc[::step]
        text = io.StringIO()
        kept.to_csv(text, index=False, lineterminator="\n")
        size = len(text.getvalue().encode())
        if size <= limit or len(kept) <= 1:
            return text.getvalue(), len(kept)
        step = max(step + 1, math.ceil(step * size / limit))


def tables_of(arguments: Mapping[str, object]) -> dict[str, pd.DataFrame]:
    """The tables among a drawing function's arguments, by argument: tables, and mappings to tables or to numbers."""
    found = {}
    for name, value in arguments.items():
        if isinstance(value, pd.DataFrame):
            found[name] = value
        elif isinstance(value, Mapping) and value and all(isinstance(part, pd.DataFrame) for part in value.values()):
            found[name] = pd.concat([part.assign(**{name: key})[[name, *part.columns]] for key, part in value.items()])
        elif isinstance(value, Mapping) and value:
            found[name] = pd.DataFrame({"name": list(value), "value": list(value.values())})
    return found


def keeping(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """`draw`, with the tables it is given attached to the figure it returns."""
    signature = inspect.signature(draw)

    @functools.wraps(draw)
    def drawn(*given: Any, **named: Any) -> Figure:
        figure = draw(*given, **named)
        tables = []
        for name, table in tables_of(signature.bind(*given, **named).arguments).items():
            text, rows = as_csv(table)
            tables.append({"name": name, "rows": rows, "of": len(table), "csv": text})
        # IPython asks an object for this before it shows it; the picture itself comes from matplotlib as before.
        figure._repr_mimebundle_ = lambda **wanted: {MIME: {"tables": tables}}  # type: ignore[attr-defined]
        return figure

    return drawn


def keep_all(namespace: dict[str, Any]) -> None:
    """Wrap each function of `namespace` that says it returns a figure."""
    for name, value in list(namespace.items()):
        if getattr(value, "__annotations__", {}).get("return") in ("Figure", Figure):
            namespace[name] = keeping(value)

"""The one figure style: Okabe-Ito colours with line styles, a light background, tables with stable bytes."""

from __future__ import annotations

import matplotlib as mpl
import pandas as pd
import seaborn as sns
from matplotlib import pyplot as plt

from gspa._typeset import heading, typeset

# Okabe and Ito's palette, black first; yellow is left out, it is too light for lines.
PALETTE = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
DASHES = ((), (5, 2), (1, 1.5), (6, 2, 1, 2), (3, 1), (8, 2), (2, 2, 6, 2))


def use_style() -> None:
    """Set the book's style for this process, and in a notebook ask for reproducible SVG."""
    sns.set_theme(context="notebook", style="whitegrid", palette=PALETTE)
    plt.rcParams.update(
        {
            "figure.facecolor": "white",  # opaque: readable on a dark page
            "savefig.facecolor": "white",
            "font.size": 11,
            "axes.titlesize": 11,
            "svg.hashsalt": "gspa",  # ids in the file do not vary from run to run
            "svg.fonttype": "path",
            "legend.frameon": False,
        }
    )
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ModuleNotFoundError:  # outside Jupyter nothing is shown inline
        return
    if "inline" in mpl.get_backend():
        set_matplotlib_formats("svg", metadata={"Date": None})


def table(rows: pd.DataFrame, *, digits: int = 4, floor: float = 0.0) -> object:
    """A table for a page; the same bytes every time, unlike `DataFrame.style`.

    Args:
        rows: the table.
        digits: significant ones of each floating number.
        floor: floating numbers closer to 0 than this are shown as 0: rounding errors, and what no reader compares.
    """
    from IPython.display import HTML

    shown = rows.copy()
    for name in shown.select_dtypes("float"):
        shown[name] = shown[name].mask(shown[name].abs() < floor, 0.0)
    for name in shown.select_dtypes(["object", "string", "category"]):
        shown[name] = shown[name].astype(object).map(_cell)
    return HTML(
        shown.rename_axis(columns=None)
        .rename(columns=lambda name: heading(str(name)))
        .to_html(
            index=False,
            escape=False,  # `typeset` has done that
            float_format=lambda number: typeset(f"{number:.{digits}g}"),
            na_rep="",
            border=0,
            justify="left",
        )
    )


def _cell(cell: object) -> object:
    """A cell of a column that is not of numbers alone: what pandas writes without escaping it, for `to_html`."""
    return cell if cell is None or cell is pd.NA or isinstance(cell, int | float) else typeset(str(cell))

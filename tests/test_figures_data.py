"""A figure's data: the tables it was drawn from, in full precision, small enough, and shown with the picture."""

from __future__ import annotations

import io
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from IPython.core.interactiveshell import InteractiveShell
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa import figures
from gspa.figures.data import MIME, as_csv, keep_all, keeping, tables_of

SOURCES = Path(figures.__file__).parent


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_numbers_keep_their_precision_and_the_bytes_do_not_vary():
    rows = pd.DataFrame({"x": [1 / 3, 1e-300, np.nan], "name": ["a, b", 'c "d"', "\u03b5"], "n": [1, 2, 3]})
    text, count = as_csv(rows)
    assert count == 3
    assert (text, count) == as_csv(rows.copy())
    assert text.splitlines()[0] == "x,name,n"
    assert "\r" not in text
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(text)), rows, check_exact=True)


def test_an_index_with_a_name_is_data_and_a_number_of_a_row_is_not():
    rows = pd.DataFrame({"x": [0.5, 0.25]})
    assert as_csv(rows.set_axis(pd.Index([10, 20], name="n")))[0] == "n,x\n10,0.5\n20,0.25\n"
    assert as_csv(rows.iloc[::-1])[0] == "x\n0.25\n0.5\n"


@pytest.mark.parametrize("limit", [100, 1000, 12_000])
def test_a_long_table_is_thinned_evenly_from_its_first_row(limit):
    rows = pd.DataFrame({"i": range(2000)})
    text, count = as_csv(rows, limit=limit)
    kept = pd.read_csv(io.StringIO(text))["i"]
    assert len(text) <= limit
    assert len(kept) == count
    assert kept[0] == 0
    assert (step := set(kept.diff().dropna())) == {float(kept[1])}
    assert limit / 4 < len(text) or step == {1.0}, "thinned by far too much"


def test_a_table_of_one_row_is_kept_whatever_its_size():
    assert as_csv(pd.DataFrame({"text": ["x" * 500]}), limit=100)[1] == 1


def test_tables_are_found_among_the_arguments():
    rows = pd.DataFrame({"x": [1]})
    found = tables_of(
        {"table": rows, "panels": {"a": rows, "b": rows}, "printed": {"one": 0.5}, "delta": 1e-6, "no": {}}
    )
    assert list(found) == ["table", "panels", "printed"]
    assert found["panels"].to_dict("records") == [{"panels": "a", "x": 1}, {"panels": "b", "x": 1}]
    assert found["printed"].to_dict("records") == [{"name": "one", "value": 0.5}]


def curve(table: pd.DataFrame, *, extra: pd.DataFrame | None = None, delta: float = 0.5) -> Figure:
    """A line."""
    figure, axis = plt.subplots()
    axis.plot(table["x"], table["x"])
    return figure


def test_a_figure_shows_its_tables_beside_its_picture():
    rows, other = pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"y": [3]})
    figure = keeping(curve)(rows, extra=other, delta=0.25)
    formatter = InteractiveShell.instance().display_formatter
    formatter.formatters["image/png"].for_type(Figure, lambda shown: b"picture")
    shown, _ = formatter.format(figure)
    assert shown["image/png"]
    assert shown[MIME] == {
        "tables": [
            {"name": "table", "rows": 2, "of": 2, "csv": "x\n1\n2\n"},
            {"name": "extra", "rows": 1, "of": 1, "csv": "y\n3\n"},
        ]
    }
    InteractiveShell.clear_instance()


def test_what_was_drawn_stays_what_it_was_when_the_table_changes():
    rows = pd.DataFrame({"x": [1, 2]})
    figure = keeping(curve)(rows)
    rows["x"] = 0
    assert figure._repr_mimebundle_()[MIME]["tables"][0]["csv"] == "x\n1\n2\n"


def test_only_what_draws_is_wrapped():
    space = {"curve": curve, "as_csv": as_csv, "text": "curve"}
    keep_all(space)
    assert space["curve"].__wrapped__ is curve
    assert space["curve"].__doc__ == curve.__doc__
    assert (space["as_csv"], space["text"]) == (as_csv, "curve")


def test_every_drawing_function_of_the_package_keeps_its_data():
    drawing = {
        name
        for path in SOURCES.glob("*.py")
        for name in re.findall(r"^def ([a-z]\w*)\((?:[^)]|\n)*?\) -> Figure:", path.read_text(encoding="utf-8"), re.M)
    }
    assert len(drawing) > 30
    assert {name for name in figures.__all__ if hasattr(getattr(figures, name), "__wrapped__")} == drawing

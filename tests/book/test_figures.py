"""A figure's bytes and data, tables for a page, and the sweep's figure."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from bs4 import BeautifulSoup
from matplotlib import pyplot as plt

from gspa.accountant.errors import InvalidValue, UnknownName
from gspa.book import figures, sweep_page
from gspa.book.figures import as_csv, bundle, keeps_data, tables_of


@pytest.fixture(autouse=True)
def style():
    """The book's style, and nothing of it left for other tests."""
    with mpl.rc_context():
        figures.use_style()
        yield
        plt.close("all")


@keeps_data
def curve(table, *, extra=None, delta=0.5):
    """A line."""
    figure, axis = plt.subplots()
    axis.plot(table["x"], table["x"])
    return figure


class TestData:
    def test_numbers_keep_their_precision_and_the_bytes_do_not_vary(self):
        rows = pd.DataFrame({"x": [1 / 3, 1e-300, np.nan], "name": ["a, b", 'c "d"', "\u03b5"], "n": [1, 2, 3]})
        text, count = as_csv(rows)
        assert count == 3
        assert (text, count) == as_csv(rows.copy())
        assert "\r" not in text
        pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(text)), rows, check_exact=True)

    def test_an_index_with_a_name_is_data_and_a_number_of_a_row_is_not(self):
        rows = pd.DataFrame({"x": [0.5, 0.25]})
        assert as_csv(rows.set_axis(pd.Index([10, 20], name="n")))[0] == "n,x\n10,0.5\n20,0.25\n"
        assert as_csv(rows.iloc[::-1])[0] == "x\n0.25\n0.5\n"

    @pytest.mark.parametrize("limit", [100, 1000, 12_000])
    def test_a_long_table_is_thinned_evenly_from_its_first_row(self, limit):
        text, count = as_csv(pd.DataFrame({"i": range(2000)}), limit=limit)
        kept = pd.read_csv(io.StringIO(text))["i"]
        assert len(text) <= limit
        assert (len(kept), kept[0]) == (count, 0)
        assert (step := set(kept.diff().dropna())) == {float(kept[1])}
        assert limit / 4 < len(text) or step == {1.0}, "thinned by far too much"

    def test_tables_are_found_among_the_arguments(self):
        rows = pd.DataFrame({"x": [1]})
        given = {"table": rows, "panels": {"a": rows, "b": rows}, "printed": {"one": 0.5}, "delta": 1e-6, "no": {}}
        found = {table["name"]: table for table in tables_of(given)}
        assert list(found) == ["table", "panels", "printed"]
        assert found["panels"]["csv"] == "panels,x\na,1\nb,1\n"
        assert found["printed"]["csv"] == "name,value\none,0.5\n"

    def test_a_figure_carries_what_it_was_drawn_from_whatever_becomes_of_the_table(self):
        rows, other = pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"y": [3]})
        figure = curve(rows, extra=other, delta=0.25)
        rows["x"] = 0
        shown = bundle(figure, name="figure-x", caption="A line.", alt="It rises.")
        assert shown["text/plain"] == "It rises."
        assert shown[figures.MIME]["tables"] == [
            {"name": "table", "rows": 2, "of": 2, "csv": "x\n1\n2\n"},
            {"name": "extra", "rows": 1, "of": 1, "csv": "y\n3\n"},
        ]
        assert curve.__doc__ == "A line."


def test_a_picture_has_the_same_bytes_every_time_and_is_closed():
    first = figures.as_svg(curve(pd.DataFrame({"x": [1, 2]})))
    assert plt.get_fignums() == []
    assert figures.as_svg(curve(pd.DataFrame({"x": [1, 2]}))) == first
    assert "<dc:date>" not in first


def test_a_table_has_the_books_numbers_and_no_markup_of_others():
    rows = pd.DataFrame({r"local $\epsilon$": [1 / 3, 1e-9], "what": ["<b>x</b>", "1e-06"], "n": [12345, 2]})
    soup = BeautifulSoup(figures.table(rows, digits=2, floor=1e-6).data, "html.parser")
    assert soup.th.find(class_="math").get_text() == r"\(\epsilon\)"
    cells = [[cell.get_text() for cell in row("td")] for row in soup.tbody("tr")]
    assert cells[0][:2] == ["0.33", "<b>x</b>"]
    assert cells[1][0] == "0"
    assert soup.tbody.find("b") is None
    assert soup.find(class_="gspa-number").decode_contents() == "10<sup>−6</sup>"


class TestTheSweepsFigure:
    @staticmethod
    def rows():
        found = pd.DataFrame(
            [(n, kind, seed, n * seed + (kind == "b")) for n in (10, 100) for kind in "ab" for seed in (1, 3)],
            columns=["n", "kind", "seed", "value"],
        )
        return found.assign(status="done")

    def test_lines_are_means_over_what_is_not_drawn(self):
        (axis,) = sweep_page.lines(self.rows(), x="n", y="value", by="kind", log_x=True, log_y=True).axes
        assert [line.get_ydata().tolist() for line in axis.get_lines()] == [[20, 200], [21, 201]]
        assert [text.get_text() for text in axis.get_legend().get_texts()] == ["kind = a", "kind = b"]
        assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
        assert len(axis.collections) == 2  # the bands

    def test_words_are_categories_and_what_failed_is_not_drawn(self):
        table = self.rows()
        table.loc[table["kind"] == "b", "status"] = "failed"
        (axis,) = sweep_page.lines(table, x="kind", y="value").axes
        (line,) = axis.get_lines()
        assert (line.get_xdata().tolist(), line.get_ydata().tolist()) == ([0], [110])
        assert [tick.get_text() for tick in axis.get_xticklabels()] == ["a", "b"]

    def test_the_ends_of_each_line(self):
        assert sweep_page.ends(self.rows(), x="n", y="value", by="kind").to_numpy().tolist() == [
            ["kind = a", 10, 20, 100, 200],
            ["kind = b", 10, 21, 100, 201],
        ]

    def test_refusals(self):
        with pytest.raises(UnknownName, match="did you mean 'value'"):
            sweep_page.lines(self.rows(), x="n", y="valu")
        with pytest.raises(InvalidValue, match="a column of numbers"):
            sweep_page.lines(self.rows(), x="n", y="kind")
        with pytest.raises(InvalidValue, match="some finished setting"):
            sweep_page.lines(self.rows().assign(status="failed"), x="n", y="value")
        with pytest.raises(InvalidValue, match="at most 7 values; it has 8"):
            sweep_page.lines(self.rows().assign(many=range(8)), x="n", y="value", by="many")

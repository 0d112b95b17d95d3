"""A figure's bytes and data, tables for a page, and the sweep's figure."""

from __future__ import annotations

import io
import itertools
import re
from pathlib import Path

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
from gspa.book.parameters import Notebook
from gspa.book.run import Executed


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


def test_no_series_takes_the_colour_of_a_role():
    roles = [colour for colour, _ in figures.ROLES.values()]
    assert len({*roles, *figures.PALETTE}) == len(roles) + len(figures.PALETTE)


def test_the_calculators_lines_have_the_colours_of_what_they_mean():
    style = (Path(__file__).parents[2] / "book/_extra/calculator/calculator.css").read_text(encoding="utf-8")
    drawn = dict(re.findall(r"--calc-(pair|paper): (#\w{6});", style))
    assert drawn == {"pair": figures.ROLES["certified"][0].lower(), "paper": figures.ROLES["paper"][0].lower()}
    assert len(re.findall(r"--calc-pair:", style)) == 1  # by day and by night


@pytest.mark.parametrize("named", [True, False])
def test_names_at_the_ends_of_lines_keep_their_distance_and_stay_in_the_picture(named):
    figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
    ends = [(2.0, 1.0, "low", "black"), (2.0, 1.01, "lower than high", "black"), (2.0, 9.0, "high", "black")]
    for x, y, words, colour in ends:
        axis.plot([1, x, 3], [5, y, np.nan], label=words, color=colour)
    figures.name_ends(axis, ends if named else (), gap=14)
    figure.canvas.draw()
    boxes = sorted((text.get_window_extent() for text in axis.texts), key=lambda box: box.y0)
    middles = [(box.y0 + box.y1) / 2 * 72 / figure.dpi for box in boxes]
    assert all(after - before >= 14 - 0.5 for before, after in itertools.pairwise(middles))
    assert [text.get_text() for text in axis.texts] == [words for *_, words, _ in ends]
    assert axis.get_xlim()[1] == 2
    assert figure.bbox.x1 >= max(box.x1 for box in boxes)


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


def test_a_figure_with_knobs_has_a_frame_for_each_setting_in_the_order_of_its_knobs():
    sizes, levels = (10, 10**6), (1e-6, 0.5, 2.0)
    frames = {
        (n, level): figures.Frame.of(curve(pd.DataFrame({"x": [0, n * level]})), f"{n} at {level:g}.")
        for n in sizes
        for level in levels
    }
    data = pd.DataFrame({"n": sizes})
    knobs = {"knobs": ["users", "level"], "start": (10**6, 0.5)}
    shown = figures.moving(frames, **knobs, data=data, name="figure-x", caption="A line.")
    assert plt.get_fignums() == []
    about = shown[figures.MIME]
    moves = about["moves"]
    assert [frame["alt"] for frame in moves["frames"]] == [f"{n} at {level:g}." for n in sizes for level in levels]
    assert [(knob["name"], knob["at"], len(knob["values"])) for knob in moves["knobs"]] == [
        ("users", 1, 2),
        ("level", 1, 3),
    ]
    assert moves["knobs"][0]["values"][1] == "1,000,000"
    assert "<sup>" in moves["knobs"][1]["values"][0]
    assert shown["text/plain"] == about["alt"] == "1000000 at 0.5."
    assert shown["image/svg+xml"] == moves["frames"][4]["svg"]
    assert about["tables"] == [{"name": "figure-x", "rows": 2, "of": 2, "csv": "n\n10\n1000000\n"}]
    sizes_drawn = {frame["svg"].split("viewBox=")[1].split(">")[0] for frame in moves["frames"]}
    assert len(sizes_drawn) == 1, "frames of one size do not jump"


@pytest.mark.parametrize("tight", [True, False])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_what_a_pointer_reads_lies_where_the_picture_shows_it(tight, scale):
    """A dot drawn at the middle of the panel: its place in the SVG against the place that the readings give."""
    figure, (axis, other) = plt.subplots(1, 2, layout="constrained")
    axis.plot([1, 10, 100], [5, np.nan, 7.0000001234], label="of $\\epsilon_0$\nand more", color="#009E73")
    axis.plot([1, 100], [5, 5], label="_a level")
    axis.plot([10], [6], marker="o", ls="", gid="dot")
    axis.set(xscale=scale, xlim=(1, 100), ylim=(5, 7), xlabel="users $n$")
    other.bar([1], [2], label="no line")
    svg, [panel] = figures.as_svg(figure, tight=tight)
    assert panel["lines"] == [{"name": "of eps_0 and more", "colour": "#009e73", "points": [[1.0, 5.0], [100.0, 7.0]]}]
    assert (panel["x"], panel["ends"], panel["log"]) == ("users n", [1.0, 100.0], scale == "log")
    width, height = (float(part) for part in re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    x, y = (
        float(part) for part in re.search(r'id="dot".*?<use [^>]*x="([\d.]+)" y="([\d.]+)"', svg, re.DOTALL).groups()
    )
    along = 0.5 if scale == "log" else 9 / 99
    assert x / width == pytest.approx(panel["left"] + along * (panel["right"] - panel["left"]), abs=0.004)
    assert y / height == pytest.approx((panel["top"] + panel["bottom"]) / 2, abs=0.004)


def test_a_knob_has_no_setting_without_a_frame():
    frames = {key: figures.Frame.of(curve(pd.DataFrame({"x": [1]})), "A.") for key in [(1, 1), (1, 2), (2, 1)]}
    with pytest.raises(KeyError):
        figures.moving(frames, knobs=["a", "b"], start=(1, 1), data=pd.DataFrame(), name="x", caption="A.")


def test_a_picture_has_the_same_bytes_every_time_and_is_closed():
    first, _ = figures.as_svg(curve(pd.DataFrame({"x": [1, 2]})))
    assert plt.get_fignums() == []
    assert figures.as_svg(curve(pd.DataFrame({"x": [1, 2]})))[0] == first
    assert "<dc:date>" not in first


@pytest.mark.parametrize(
    ("columns", "wordy"),
    [
        ({"what": ["several words here"], "n": [1]}, True),
        ({"what": ["several words here"]}, False),  # nothing beside it takes its room
        ({"what": ["onewordhoweverlong"], "n": [1]}, False),
        ({"what": ["two words"], "n": [1]}, False),
    ],
)
def test_a_first_column_of_words_has_room_on_a_narrow_screen(columns, wordy):
    assert ("gspa-wordy" in figures.table(pd.DataFrame(columns)).data) is wordy


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

    def test_a_parameter_of_too_many_values_for_lines_is_the_horizontal_axis(self, tmp_path, monkeypatch):
        drawn = []
        monkeypatch.setattr(sweep_page.run.Task, "of", lambda page, chosen: drawn.append(chosen))
        monkeypatch.setattr(sweep_page.run, "one", lambda *_: Executed({}))
        frame = pd.DataFrame(
            [(a, b, a * b) for a in range(2) for b in range(8)], columns=["few", "many", "value"]
        ).assign(status="done")
        for table in (frame, frame[frame["many"] < 7]):
            notebook = Notebook("n", tmp_path, {"properties": {"few": {}, "many": {}}})
            page = tmp_path / "page.ipynb"
            sweep_page.write(page, tmp_path / "t.csv", table, notebook, ["few", "many"], x="", y="", by="")
        assert [(one["x"], one["by"]) for one in drawn] == [("many", "few"), ("few", "many")]

    def test_refusals(self):
        with pytest.raises(UnknownName, match="did you mean 'value'"):
            sweep_page.lines(self.rows(), x="n", y="valu")
        with pytest.raises(InvalidValue, match="a column of numbers"):
            sweep_page.lines(self.rows(), x="n", y="kind")
        with pytest.raises(InvalidValue, match="some finished setting"):
            sweep_page.lines(self.rows().assign(status="failed"), x="n", y="value")
        with pytest.raises(InvalidValue, match="at most 7 values; it has 8"):
            sweep_page.lines(self.rows().assign(many=range(8)), x="n", y="value", by="many")

"""Figures: labelled, the same bytes every time, and described in the right numbers."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa import figures

POPULATIONS = ["Unif 1: U(0.01, 1)", "Unif 2: U(0.01, 2)", "Constant: 0.5", "Mixed Constant: 50% 0.5 + 50% 0.01"]


def bounds_table():
    """Four populations, three bounds: GSPA lowest but for one point, C refused in two populations."""
    rows = []
    for index, population in enumerate(POPULATIONS):
        for n in (1_000, 10_000):
            ours = 40 / n if (index, n) != (3, 10_000) else 0.5
            rows += [
                (population, n, "GSPA", ours, True),
                (population, n, "B", 0.25, True),
                (population, n, "C", np.nan if index < 2 else 0.75, index >= 2),
            ]
    return pd.DataFrame(rows, columns=["population", "n", "bound", "epsilon", "valid"])


def errors_table():
    shares = [0.01, 0.25, 0.5]
    return pd.concat(
        pd.DataFrame(
            {
                "f": shares,
                "mae": [low, 1.5 * low, 2 * low],
                "mae_error": [0.1 * low] * 3,
                "exact": [low, 1.5 * low, 2.1 * low],
                "reading": reading,
            }
        )
        for reading, low in (("constants", 0.02), ("ranges", 0.01))
    )


def accuracies_table(seeds=3):
    finals = {"no noise": (0.96, 0.97, 0.98), "Constant: 0.5": (0.90, 0.91, 0.95), "Mixed <&>": (0.80, 0.93, 0.97)}
    rows = [
        (setting, seed, epoch, accuracy if epoch == 2 else 0.1 + 0.3 * epoch)
        for setting, last in finals.items()
        for seed, accuracy in list(enumerate(last))[:seeds]
        for epoch in (0, 1, 2)
    ]
    return pd.DataFrame(rows, columns=["setting", "seed", "epoch", "accuracy"])


DRAWN = {
    "bounds_panels": lambda: figures.bounds_panels(bounds_table(), delta=1e-4),
    "error_curves": lambda: figures.error_curves(errors_table(), x="f", xlabel="share of conservative users"),
    "accuracy_curves": lambda: figures.accuracy_curves(accuracies_table(), dataset="MNIST"),
    "accuracy_curves, one seed": lambda: figures.accuracy_curves(accuracies_table(seeds=1), dataset="MNIST"),
    "final_accuracies": lambda: figures.final_accuracies(accuracies_table(), dataset="MNIST"),
}


@pytest.fixture(autouse=True)
def style():
    """The book's style, and nothing of it left for other tests."""
    with mpl.rc_context():
        figures.use_style()
        yield
        plt.close("all")


def svg(figure):
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def words(figure):
    """All text that is drawn."""
    figure.canvas.draw()
    return [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_text() and text.get_visible()]


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_is_drawn_and_labelled(name):
    figure = DRAWN[name]()
    assert isinstance(figure, Figure)
    grid = figure.axes
    assert grid
    for axis in grid:
        where = axis.get_subplotspec()
        assert axis.has_data()
        if where.is_last_row():
            assert axis.get_xlabel().strip()
        if where.is_first_col():
            # Where the vertical axis names settings, the names are its label.
            ticks = [tick.get_text() for tick in axis.get_yticklabels()]
            assert axis.get_ylabel().strip() or set(ticks) == set(accuracies_table()["setting"])


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_has_the_same_bytes_every_time(name):
    first = svg(DRAWN[name]())
    plt.close("all")
    assert svg(DRAWN[name]()) == first
    assert b"<dc:date>" not in first
    assert len(first) > 5_000


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_is_opaque(name):
    # Readable on a dark page.
    assert mpl.colors.to_rgba(DRAWN[name]().get_facecolor()) == (1, 1, 1, 1)
    assert mpl.rcParams["savefig.facecolor"] == "white"


def test_bounds_are_drawn_where_they_apply():
    figure = figures.bounds_panels(bounds_table(), delta=1e-4)
    assert [axis.get_title() for axis in figure.axes] == POPULATIONS
    assert all(axis.get_yscale() == "log" for axis in figure.axes)
    assert "0.0001" in figure.axes[0].get_ylabel()
    drawn = [[line.get_label() for line in axis.get_lines()] for axis in figure.axes]
    assert drawn == [["GSPA", "B"], ["GSPA", "B"], ["GSPA", "B", "C"], ["GSPA", "B", "C"]]
    last = figure.axes[3].get_lines()[0]
    assert last.get_xydata().tolist() == [[1_000, 0.04], [10_000, 0.5]]
    # A bound has one colour in all panels, and no other bound has it.
    looks = {(line.get_label(), line.get_color()) for axis in figure.axes for line in axis.get_lines()}
    assert sorted(label for label, _ in looks) == ["B", "C", "GSPA"]
    assert len({colour for _, colour in looks}) == 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["GSPA", "B", "C"]


def test_errors_have_a_band_of_the_stated_coverage():
    figure = figures.error_curves(errors_table(), x="f", xlabel="share", level=0.95)
    axis = figure.axes[0]
    band = axis.collections[0].get_paths()[0].vertices
    # 1.959964 standard errors of 0.002 around 0.02 at the first share.
    at_first = band[np.isclose(band[:, 0], 0.01), 1]
    assert (at_first.min(), at_first.max()) == pytest.approx((0.02 - 0.003919928, 0.02 + 0.003919928), rel=1e-6)
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert labels == ["constants, simulated", "ranges, simulated", "closed form"]
    assert axis.get_ylim()[0] == 0
    exact = [line.get_ydata()[-1] for line in axis.get_lines() if len(line.get_xdata()) and line.get_color() == "black"]
    assert exact == pytest.approx([0.042, 0.021])


def test_accuracies_are_in_percent_over_all_epochs():
    figure = figures.accuracy_curves(accuracies_table(), dataset="MNIST")
    axis = figure.axes[0]
    assert axis.get_ylim() == (0, 100)
    assert axis.get_xlim() == (0, 2)
    assert "MNIST (%)" in axis.get_ylabel()
    means = [line.get_ydata()[-1] for line in axis.get_lines() if len(line.get_xdata())]
    assert means == pytest.approx([97, 92, 90])
    # 1.96 standard errors about the mean: seeds 96, 97, 98 have one of 1/sqrt(3).
    band = axis.collections[0].get_paths()[0].vertices
    last = band[band[:, 0] == 2, 1]
    assert (last.min(), last.max()) == pytest.approx((97 - 1.96 / 3**0.5, 97 + 1.96 / 3**0.5))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(accuracies_table()["setting"].unique())
    assert axis.get_legend() is None


def test_one_seed_has_no_band():
    assert len(figures.accuracy_curves(accuracies_table(seeds=1), dataset="MNIST").axes[0].collections) == 0


def test_the_spread_shows_every_seed_and_the_mean():
    figure = figures.final_accuracies(accuracies_table(), dataset="the digits")
    axis = figure.axes[0]
    dots = [sorted(part.get_offsets()[:, 0]) for part in axis.collections]
    assert dots == [pytest.approx(p) for p in ([96, 97, 98], [90, 91, 95], [80, 93, 97])]
    assert axis.get_lines()[-1].get_xdata() == pytest.approx([97, 92, 90])
    assert "the digits (%)" in axis.get_xlabel()
    assert {"no noise", "Constant: 0.5", "Mixed <&>"} <= set(words(figure))


def test_no_two_bounds_or_settings_look_alike():
    assert len(set(figures.PALETTE)) == len(set(figures.DASHES)) == 7


def test_the_descriptions_have_the_right_numbers():
    assert figures.describe_bounds(bounds_table()) == (
        "4 panels of central epsilon against 1,000 to 10,000 users. GSPA in 4 panel(s), epsilon from 0.004 to 0.5; "
        "B in 4 panel(s), epsilon from 0.25 to 0.25; C in 2 panel(s), epsilon from 0.75 to 0.75. "
        "GSPA is the lowest line at 7 of 8 points."
    )
    assert figures.describe_errors(errors_table(), x="f") == (
        "Mean absolute error, one curve a reading of the groups. constants: 0.0200 at 0.01 to 0.0400 at 0.5; "
        "ranges: 0.0100 at 0.01 to 0.0200 at 0.5."
    )
    assert figures.describe_accuracies(accuracies_table()) == (
        "Test accuracy after epoch 2, from best to worst: no noise, 97.0% (seeds 96.0 to 98.0); "
        "Constant: 0.5, 92.0% (seeds 90.0 to 95.0); Mixed <&>, 90.0% (seeds 80.0 to 97.0)."
    )


def test_the_description_names_whoever_is_lowest():
    table = bounds_table()
    table.loc[table["bound"] == "B", "epsilon"] = 1e-6
    assert figures.describe_bounds(table).endswith("B is the lowest line at 8 of 8 points.")


def test_tables_are_escaped_and_the_same_every_time():
    rows = pd.DataFrame({"<b>name</b>": ["<script>x</script>", "a & b"], "value": [1 / 3, np.nan], "n": [10, 20]})
    html = figures.table(rows).data
    assert figures.table(rows.copy()).data == html
    soup = BeautifulSoup(html, "html.parser")
    assert soup(["script", "b"]) == []
    assert [cell.get_text() for cell in soup("th")] == ["<b>name</b>", "value", "n"]
    assert [cell.get_text() for cell in soup("td")] == ["<script>x</script>", "0.3333", "10", "a & b", "", "20"]
    digits = [cell.get_text() for cell in BeautifulSoup(figures.table(rows, digits=1).data, "html.parser")("td")]
    assert digits[1] == "0.3"


def test_tables_are_typeset():
    rows = pd.DataFrame({"eps_max": [1e-6, 2.5], "over_certified": ["eps0 <= 1", None], "mixed": [1e-7, "s >= 1"]})
    soup = BeautifulSoup(figures.table(rows).data, "html.parser")
    assert [cell.decode_contents() for cell in soup("th")] == ["<i>ϵ</i><sub>max</sub>", "over certified", "mixed"]
    assert [cell.decode_contents() for cell in soup("td")] == [
        *("10<sup>−6</sup>", "<i>ϵ</i><sub>0</sub> ≤ 1", "10<sup>−7</sup>"),
        *("2.5", "", "<i>s</i> ≥ 1"),
    ]


def test_numbers_below_the_floor_are_shown_as_0():
    rows = pd.DataFrame({"gap": [-2.8e-17, 0.25, 1e-12], "k": [1, 2, 3]})
    cells = [cell.get_text() for cell in BeautifulSoup(figures.table(rows, floor=1e-15).data, "html.parser")("td")]
    assert cells == ["0", "1", "0.25", "2", "10−12", "3"]
    assert rows["gap"].iloc[0] == -2.8e-17, "the caller's table stays as it is"


class TestAccountantsFigures:
    """What the accountant's pages draw and say, on small hand-made tables."""

    CURVE = pd.DataFrame({"eps": [0.0, 0.1], "lower": [1e-3, 1e-6], "upper": [2e-3, 2e-6], "paper": [3e-3, 4e-6]})
    USERS = pd.DataFrame({"local": [0.1, 1.0], "lower": [0.001, 0.0099], "upper": [0.001, 0.01]})
    ROUNDS = pd.DataFrame({"rounds": [1, 1, 10, 10], "method": ["a", "b", "a", "b"], "epsilon": [0.1, 0.2, 0.31, 0.62]})

    def test_they_draw_with_labelled_axes(self):
        for figure in (
            figures.delta_curves(self.CURVE),
            figures.per_user(self.USERS),
            figures.rounds_curves(self.ROUNDS),
        ):
            (axis,) = figure.axes
            assert axis.get_xlabel()
            assert axis.get_ylabel()
            assert axis.get_legend() is not None
            plt.close(figure)

    def test_they_say_what_the_tables_hold(self):
        assert "0.002 at 0, falling to 2e-06 at 0.1" in figures.describe_curve(self.CURVE)
        assert "at most 1 percent apart" in figures.describe_users(self.USERS)
        assert "At 10 rounds: a 0.31, b 0.62." in figures.describe_rounds(self.ROUNDS)

"""The front page's picture: what it shows is computed, and the README's copy is the same."""

from __future__ import annotations

import io
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from gspa import accountant, bounds, budgets, exact_rr, figures, front_page
from gspa.errors import InvalidValue
from gspa.headline import COLUMNS, DELTA, LOCAL, N, headline

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def table():
    return pd.read_csv(io.StringIO(front_page.picture().csv))


class TestTheTable:
    def test_a_row_a_budget_over_the_whole_range(self, table):
        assert list(table) == list(COLUMNS)
        assert table["local"].tolist() == list(LOCAL)

    @pytest.mark.parametrize("index", [0, 20, 40, 49])
    def test_each_number_is_its_functions(self, table, index):
        row = table.iloc[index]
        people = budgets.constant(row["local"], n=N)
        assert row["paper"] == pytest.approx(bounds.gspa_epsilon(people, delta=DELTA))
        assert row["certified"] == pytest.approx(accountant.central_epsilon(people, delta=DELTA).upper)
        # The attack is a lower bound on the exact value, and close to it.
        exact = exact_rr.exact_epsilon(people, delta=DELTA)
        assert 0.998 * exact.lower <= row["attack"] <= exact.upper
        assert row["numerical"] == pytest.approx(bounds.CATALOGUE["fmt21_numerical"].epsilon(people, DELTA))

    def test_lower_bounds_lie_below_upper_bounds(self, table):
        assert (table["attack"] <= table["certified"]).all()
        assert (table["certified"] <= table["numerical"] * (1 + 1e-9)).all()
        assert (table["certified"] <= table["closed"].fillna(np.inf)).all()
        assert (table["certified"] <= table["local"]).all()

    def test_broken_is_what_the_two_columns_say(self, table):
        assert (table["broken"] == (table["paper"] < table["attack"])).all()
        assert 0 < table["broken"].sum() < len(table)

    def test_a_closed_form_outside_its_conditions_is_left_out(self):
        found = headline(local=[1.0, 3.0], n=1000)
        assert found["closed"].isna().tolist() == [False, True]

    def test_refusals(self):
        with pytest.raises(InvalidValue, match=r"local\[1\]"):
            headline(local=[1.0, -1.0])


class TestThePicture:
    def test_it_is_the_same_twice(self):
        first = front_page.picture()
        front_page.picture.cache_clear()
        assert front_page.picture() == first

    def test_alternative_text_says_what_the_table_says(self, table):
        first, broken = table.iloc[0], table[table["broken"]]
        alt = front_page.picture().alt
        assert f"{first['paper'] / first['certified']:.0f} times the certified bound" in alt
        assert f"From {broken['local'].min():.2g} to {broken['local'].max():.2g} it lies below the attack" in alt
        kept = figures.describe_headline(table.assign(broken=False))
        assert "below the attack" not in kept

    def test_a_table_without_a_broken_promise_is_drawn_too(self, table):
        from matplotlib import pyplot as plt

        for broken in (True, False):
            shown = table[table["broken"] == broken]
            figure = figures.headline_curves(shown)
            said = [text.get_text() for text in figure.axes[0].texts]
            assert ("promise\nbroken" in said) is broken
            plt.close(figure)

    def test_the_directive_has_the_text_and_the_numbers(self):
        text = front_page.figure_directive()
        assert f":alt: {front_page.picture().alt}" in text
        assert "_generated/headline.svg" in text
        assert "_generated/headline.csv" in text


class TestTheReadmesCopy:
    """Drawn by `python -m gspa.front_page book/_static`; another release of matplotlib may write other bytes."""

    def test_its_numbers_are_what_is_computed(self, table):
        committed = pd.read_csv(ROOT / "book" / "_static" / "headline.csv")
        pd.testing.assert_frame_equal(committed, table, rtol=1e-9)

    def test_its_lines_are_drawn_from_them(self, table):
        def lines(svg):
            paths = [path.get("d", "") for path in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}path")]
            long = [
                path for path in paths if path.count("L ") > 15 and not re.search("[QC]", path)
            ]  # letters have arcs
            return [np.array(re.findall(r"-?[\d.]+", path), dtype=float) for path in long]

        committed = lines((ROOT / "book" / "_static" / "headline.svg").read_text(encoding="utf-8"))
        drawn = lines(front_page.picture().svg)
        assert len(drawn) == len(committed) >= 5
        for one, other in zip(committed, drawn, strict=True):
            np.testing.assert_allclose(one, other, atol=0.01)

    def test_the_readme_shows_it_with_its_text(self):
        shown = re.search(r"!\[(.+)\]\((\S+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
        assert shown[2] == "book/_static/headline.svg"
        assert shown[1] == front_page.picture().alt

    def test_the_first_screen_is_short(self):
        before = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## ")[0]
        assert before.count("make ") == 2
        prose = re.sub(r"!\[.*?\]\(.*?\)|```.*?```", "", before, flags=re.DOTALL)
        assert len(prose.split()) < 180

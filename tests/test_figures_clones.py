"""Figures of the blog's pages: what is drawn, and what is said of it."""

from __future__ import annotations

import matplotlib as mpl
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from gspa import figures


@pytest.fixture(autouse=True)
def style():
    with mpl.rc_context():
        figures.use_style()
        yield
        plt.close("all")


def formulas_table():
    names = ("bits", "any", "blog", "source", "large", "linear", "small")
    rows = [{"eps_local": x, "n": 1000, "valid": x < 5, **dict.fromkeys(names, x / 10)} for x in (0.1, 1.0, 10.0)]
    return pd.DataFrame(rows).assign(loose=[9.0, 3.0, 0.5])


def fitted():
    columns = ["regime", "factor", "stated", "exponent", "low", "high", "points"]
    rows = [("small eps", "k", 2.0, 2.02, 1.9, 2.1, 9), ("large eps", "ratio", -1.0, -1.3, -1.4, -1.2, 9)]
    return pd.DataFrame(rows, columns=columns)


def test_each_formula_has_a_line_and_the_condition_a_band():
    axis = figures.clone_formulas(formulas_table()).axes[0]
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert len(labels) == len(set(labels)) == 8
    assert any("eq. (3)" in label for label in labels)
    assert len(axis.patches) == 1
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")


def test_points_outside_the_condition_are_hollow():
    axis = figures.clone_looseness(formulas_table()).axes[0]
    filled = [tuple(part.get_facecolor()[0]) == (1, 1, 1, 1) for part in axis.collections]
    assert sum(filled) == 1
    assert figures.describe_clone_looseness(formulas_table()) == (
        "Equation (1) over the certified epsilon: from 3 to 9 where its condition holds, from 0.5 to 0.5 elsewhere; "
        "false at 0 points."
    )


def test_points_below_the_exact_value_are_crossed_out():
    table = formulas_table().assign(bits=[0.01, 0.2, 0.3])
    axis = figures.clone_looseness(table).axes[0]
    assert "eq. (1) false" in [text.get_text() for text in axis.get_legend().get_texts()]
    assert figures.describe_clone_looseness(table).endswith("false at 1 points.")


def test_the_formulas_are_described():
    said = figures.describe_clone_formulas(formulas_table())
    assert "1,000 users" in said
    assert "eq. (2) 0.01 to 1;" in said


def test_learners_and_testers_have_a_line_each():
    table = pd.DataFrame({"n": [10, 1000] * 2, "learner": ["a", "a", "b", "b"], "tv": [0.5, 0.1, 0.9, 0.2]})
    axis = figures.learning_curves(table.assign(tv_error=0.01)).axes[0]
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["a", "b"]
    assert figures.describe_learning(table) == (
        "Error in total variation from 10 to 1,000 users. a 0.5 to 0.1; b 0.9 to 0.2."
    )
    power = pd.DataFrame({"n": [10, 1000] * 2, "tester": ["a", "a", "b", "b"], "power": [0.7, 0.9, 0.3, 0.4]})
    assert figures.power_lines(power).axes[0].get_ylim()[1] > 1
    assert figures.describe_power(power).endswith("two thirds: a from 10; b at none of the sizes.")


def test_exponents_are_shown_less_what_is_stated():
    axis = figures.exponent_dots(fitted(), tolerance=0.1).axes[0]
    names = [label.get_text() for label in axis.get_yticklabels()]
    assert names[0].startswith("small eps: $k$, stated 2")
    low, high = axis.get_xlim()
    assert low < -0.4
    assert high > 0.3
    said = figures.describe_exponents(fitted())
    assert "farthest is 0.300 off (large eps, ratio)" in said
    assert "2 fitted exponents" in said

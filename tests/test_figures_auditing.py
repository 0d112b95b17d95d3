"""The audit's figure: every row drawn, broken promises ringed, and what the alternative text says."""

from __future__ import annotations

import math

import matplotlib as mpl
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from gspa import auditing, figures


@pytest.fixture(autouse=True)
def style():
    with mpl.rc_context():
        figures.use_style()
        yield
        plt.close("all")


@pytest.fixture
def table():
    rows = [
        ("first", 0.08, 0.09, 0.02, 0.09, 0.09, 0.1, 0.3, 0.2),
        ("second", 0.4, math.nan, 0.0, math.nan, math.nan, 0.5, math.nan, 0.1),
        ("nothing", 0.0, math.nan, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ]
    columns = [
        "setting",
        "attack",
        "enumerated",
        "sampled",
        "truth_low",
        "truth_high",
        "certified",
        "published",
        "paper",
    ]
    table = pd.DataFrame(rows, columns=columns).assign(delta=1e-4, n=10, limit=0.085)
    return auditing.judge(table)


def test_it_draws_every_row_with_a_certified_bound(table):
    figure = figures.audit_intervals(table)
    near, far = figure.axes
    assert [tick.get_text().split("\n")[0] for tick in near.get_yticklabels()] == ["first", "second"]
    (bars,) = near.collections
    assert [segment[:, 0].tolist() for segment in bars.get_segments()] == [
        pytest.approx([0.9, 1]),
        pytest.approx([0.8, 1]),
    ]
    assert far.get_xscale() == "log"
    assert near.get_xlabel()
    assert far.get_xlabel()
    ring = next(line for line in far.get_lines() if line.get_markersize() == 20)
    assert ring.get_xydata().tolist() == [[pytest.approx(0.2), 0]]


def test_no_two_marks_look_alike(table):
    legend = figures.audit_intervals(table).legends[0]
    looks = {(h.get_marker(), h.get_color(), h.get_markerfacecolor()) for h in legend.legend_handles}
    assert len(looks) == len(legend.get_texts()) == 9


def test_the_description_has_the_numbers(table):
    assert figures.describe_audit(table) == (
        "3 settings, a bar from the best attack to the certified epsilon in each. In 3 of them no attack lies above "
        "the truth, the certified or the proved published bound. The widest bar, second, starts at 0.80 of the "
        "certified epsilon. Broken promise: second, promised 0.1, attacked at 0.4."
    )
    spoiled = auditing.shrunk(table, 0.5)
    assert "In 1 of them" in figures.describe_audit(spoiled)


def test_it_draws_where_no_attack_reaches_anything(table):
    nothing = auditing.judge(table.assign(attack=0.0, enumerated=math.nan, sampled=0.0))
    assert figures.audit_intervals(nothing).axes[0].get_xlim()[0] < 1
    assert "widest" not in figures.describe_audit(nothing)

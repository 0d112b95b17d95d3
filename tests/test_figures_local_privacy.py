"""Figures of the two first chapters: labelled, reproducible, described in the right numbers; the pipeline's drawing."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from gspa import figures, noise, tradeoff_curves

ROOT = Path(__file__).resolve().parents[1]
NOISE = noise.noise_table(eps=1.0, deltas=[1e-5], dimensions=(1, 2, 12, 20))
CURVES = noise.privacy_curves(eps=1.0, delta=1e-5, eps_max=2.0, points=9)
PROMISES = noise.promise_curves([1e-5, 0.5], [1.0, 4.0, 9.0])
DRAWN = {
    "mechanism_curves": lambda: figures.mechanism_curves(CURVES, eps=1.0, delta=1e-5),
    "promise_kept": lambda: figures.promise_kept(PROMISES),
    "noise_by_dimension": lambda: figures.noise_by_dimension(NOISE, delta=1e-5),
    "trade_off_curves": lambda: figures.trade_off_curves(tradeoff_curves.of_fact_1(eps=0.5, delta=0.1)),
    "envelope": lambda: figures.envelope(tradeoff_curves.of_fact_3(mu=1.0, tangents=3)),
}


@pytest.fixture(autouse=True)
def style():
    with mpl.rc_context():
        figures.use_style()
        yield
        plt.close("all")


@pytest.mark.parametrize("name", DRAWN)
def test_labelled_and_the_same_bytes_every_time(name):
    files = []
    for _ in range(2):
        figure = DRAWN[name]()
        (axis,) = figure.axes
        assert axis.get_xlabel()
        assert axis.get_ylabel()
        assert axis.get_legend() is not None
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
        files.append(file.getvalue())
        plt.close(figure)
    assert files[0] == files[1]


def test_the_promise_is_marked_on_the_analytic_curve():
    (axis,) = DRAWN["mechanism_curves"]().axes
    lines = {line.get_label(): line for line in axis.get_lines()}
    assert lines["what is promised"].get_xydata().tolist() == [[1.0, 1e-5]]
    analytic = dict(lines["analytic Gaussian"].get_xydata().tolist())
    assert analytic[1.0] == pytest.approx(1e-5)


def test_descriptions_hold_the_numbers():
    assert "below 1 from 12 coordinates on" in figures.describe_noise(NOISE, delta=1e-5)
    assert "one coordinate, 11.7 to 11.7, never below 1" in figures.describe_noise(NOISE, delta=1e-5)
    # The limits are 8.42 and 4.47.
    said = figures.describe_promises(PROMISES)
    assert "for delta = 1e-05 it crosses 1 before epsilon = 9;" in said
    assert "for delta = 0.5 it crosses 1 before epsilon = 9." in said
    assert "stays below 1" in figures.describe_promises(PROMISES[PROMISES["eps"] < 4])
    assert "Laplace (Definition 4) falls from 0.39 at epsilon 0 to 0 from 1 on" in figures.describe_mechanisms(CURVES)
    fact_1 = figures.describe_curves(tradeoff_curves.of_fact_1(eps=0.5, delta=0.1))
    assert "f, as printed: 0.9, 0.243 and 0.243" in fact_1  # 0.4 e^{-1/2}


def test_the_pipeline_is_drawn_for_everybody():
    root = ET.parse(ROOT / "book" / "_static" / "pipeline.svg").getroot()
    name = "{http://www.w3.org/2000/svg}"
    assert root.get("role") == "img"
    ids = {element.get("id"): element for element in root if element.get("id")}
    title, about = (ids[key] for key in root.get("aria-labelledby").split())
    assert (title.tag, about.tag) == (f"{name}title", f"{name}desc")
    assert "Definition 6 shuffles data" in about.text
    # Readable at a phone's width, and on a dark page: nothing wider than 400 units, an opaque ground first.
    assert float(root.get("viewBox").split()[2]) <= 400
    ground = next(element for element in root if element.tag == f"{name}rect")
    assert (ground.get("fill"), ground.get("width")) == ("#ffffff", "400")
    # It fetches nothing.
    for element in root.iter():
        assert not [key for key in element.attrib if key.endswith("href")]

"""What this book does differently: collected from the notebooks and the corrections, with no second copy."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from gspa.claims.differences import corrections, departures
from gspa.claims.outcome import Outcome
from gspa.claims.registry import PAPERS, claim

ROOT = Path(__file__).resolve().parents[2]
FOUND = {
    "G-C3": Outcome("G-C3", "holds with correction", "Why.", {"gap": 0.25}, "smaller by $10$ percent."),
    "F10": Outcome("F10", "holds with correction", "Why.", {"gap": 0.25}, "with <b>."),
    "G-A2": Outcome("G-A2", "refuted", "off by 3.", {"count": 12345}),
}


def write(path, *cells):
    kinds = [("markdown", cell) if isinstance(cell, str) else ("code", cell[0]) for cell in cells]
    path.write_text(json.dumps({"cells": [{"cell_type": kind, "source": [text]} for kind, text in kinds]}))
    return path


class TestDepartures:
    def test_the_section_and_nothing_else(self, tmp_path):
        one = write(
            tmp_path / "01_one.ipynb",
            "# One\n\n## Before\n\nNot this.",
            ["## What differs from the paper"],
            "## What differs from the paper\n\n- This, see [](02_two.ipynb) and [the site](claims.md).\n\n"
            "## After\n\nNo.",
        )
        two = write(tmp_path / "02_two.ipynb", "# Two\n\n## What differs from the papers\n\n- That.")
        none = write(tmp_path / "03_none.ipynb", "# Three\n\nNothing.")
        assert departures([one, two, none]) == (
            "### [](notebooks/01_one.ipynb)\n\n- This, see [](notebooks/02_two.ipynb) and [the site](claims.md).\n\n"
            "### [](notebooks/02_two.ipynb)\n\n- That.\n"
        )

    def test_most_of_the_projects_pages_have_one(self):
        notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
        text = departures(notebooks)
        listed = re.findall(r"^### \[\]\(notebooks/(.+)\)$", text, re.MULTILINE)
        assert listed == [path.name for path in notebooks if path.name in listed]
        assert {"08_comparison.ipynb", "12_shuffled_sgd.ipynb", "17_exact_accounting.ipynb"} <= set(listed)
        # Every link is moved along, and none of them carries an anchor of its page.
        assert "](0" not in text.replace("](notebooks/0", "")
        assert "## " not in text.replace("### ", "")


@pytest.fixture
def page():
    return corrections(FOUND, {"08_comparison"})


class TestCorrections:
    def test_one_entry_a_correction_by_paper(self, page):
        assert page.startswith("This build found 2 of them.")
        assert re.findall(r"^### (.*)$", page, re.MULTILINE) == [PAPERS["gspa"], PAPERS["flame"]]
        soup = BeautifulSoup(page, "html.parser")
        assert len(soup("dt")) == len(soup("dd")) == 2
        assert claim("G-C3").title in soup.dt.get_text()
        assert soup.dd.get_text() == r"Smaller by \(10\) percent. G-C3"
        assert soup("b") == []

    def test_links_lead_to_the_card_or_else_to_the_claim(self, page):
        links = [link["href"] for link in BeautifulSoup(page, "html.parser")("a")]
        assert links == ["notebooks/08_comparison.html#card-G-C3", "claims.html#F10"]

    def test_a_build_without_any(self):
        assert corrections({}, set()).strip() == "This build found 0 of them."

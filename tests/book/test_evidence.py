"""The map of the claims: its graph, its table, and the verdicts for machines."""

from __future__ import annotations

import json
from pathlib import Path

from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from gspa.book import evidence
from gspa.book.cards import Found
from gspa.book.claims import PAPERS, Outcome, claim, registry, settle, settles
from gspa.book.project import Project

ROOT = Path(__file__).resolve().parents[2]
FOUND = Found({"G-C3": Outcome("G-C3", "refuted", r"Off at $\epsilon$ = 1.", {"points": 3})}, {"08_comparison"})


@st.composite
def edges(draw):
    """Names, each resting on some that come before it."""
    names = [f"n{i}" for i in range(draw(st.integers(1, 12)))]
    return {name: draw(st.lists(st.sampled_from(names[:i]), unique=True)) if i else [] for i, name in enumerate(names)}


class TestGraph:
    @given(edges())
    def test_each_name_stands_right_of_all_that_it_rests_on(self, given):
        rows = evidence.layers(given)
        at = {name: i for i, row in enumerate(rows) for name in row}
        assert sorted(at) == sorted(given)
        assert sum(map(len, rows)) == len(given)
        assert all(at[name] > at[below] for name, rests in given.items() for below in rests)
        assert all(at[name] == 0 or any(at[below] == at[name] - 1 for below in given[name]) for name in given)

    def test_each_box_leads_to_its_card_and_says_its_verdict(self):
        boxes, lines = {}, 0
        for paper in PAPERS:
            soup = BeautifulSoup(evidence.graph(FOUND, paper), "html.parser")
            boxes |= {box.find("text").get_text(): box for box in soup("a")}
            lines += len(soup("path"))
        inside = [(one, o) for one in registry().values() for o in one.rests_on if registry()[o].paper == one.paper]
        assert lines == len(inside)
        assert set(boxes) == {name for one, other in inside for name in (one.id, other)}
        for name, box in boxes.items():
            assert box["href"] == FOUND.where(claim(name))
            assert FOUND.verdict(claim(name)) in box["aria-label"]


def test_the_table_has_a_row_a_claim_and_its_test(tmp_path):
    soup = BeautifulSoup(evidence.page(Project(ROOT), FOUND, []), "html.parser")
    rows = {row.th.a.get_text(): row for row in soup("tr") if row.th and row.th.a}
    assert sorted(rows) == sorted(registry())
    settled = [name for name, one in registry().items() if one.notebook and one.verdict != "illustrated"]
    without = [name for name in settled if "tests/pages/test_p" not in rows[name].get_text()]
    assert without == []


def test_the_verdicts_for_machines_are_all_there_and_plain():
    said = json.loads(evidence.linked_data(FOUND))
    assert said["@context"] == "https://schema.org"
    reviews = {one["@id"].rsplit("#", 1)[1]: one for one in said["@graph"]}
    assert list(reviews) == list(registry())
    one = reviews["G-C3"]
    assert one["@type"] == "ClaimReview"
    assert one["reviewRating"]["alternateName"] == "refuted"
    assert one["reviewBody"] == "Off at eps = 1."
    assert one["itemReviewed"]["appearance"]["@id"].startswith("https://doi.org/10.1609/")
    assert all(one["reviewBody"] or not registry()[name].reason for name, one in reviews.items())


@settles("G-C3")
def a_check():
    return FOUND.outcomes["G-C3"]


def test_a_card_knows_the_line_of_its_check():
    outcome = settle(a_check, had=["size", "data"], changed=[])
    file, _, line = outcome.source.rpartition(":")
    assert file.endswith("test_evidence.py")
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert lines[int(line) - 1].startswith(("@settles", "def a_check"))

"""The claims page and the findings, parsed the way a reader's browser does."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from bs4 import BeautifulSoup

from gspa.claims.outcome import Outcome
from gspa.claims.registry import PAPERS, claim, registry
from gspa.claims.report import HEADLINES, claims_page, counts, findings

HOSTILE = "<script>alert(1)</script>&"
FOUND = {
    "G-C3": Outcome("G-C3", "holds with correction", "Why.", {"gap": 0.25}, "smaller by $10$ percent."),
    "G-A2": Outcome("G-A2", "refuted", "off by 3.", {HOSTILE: HOSTILE, "count": 12345}),
    "G-TAB2": Outcome("G-TAB2", "verified", "Fine.", {"mean": 1.0}),
    "G-SGD1": Outcome("G-SGD1", "not yet checked", "Too small.", missing="size"),
}


def tables(page):
    """The raw HTML blocks of the page."""
    return re.findall(r"^```\{raw\} html\n(.*?)\n```$", page, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def soup():
    page = claims_page(FOUND, {"08_comparison"})
    return BeautifulSoup("".join(tables(page)), "html.parser")


def test_counts_cover_the_whole_registry():
    assert counts({}) == {"not yet checked": len(registry())}
    expected = {"verified": 1, "holds with correction": 1, "refuted": 1, "not yet checked": len(registry()) - 3}
    assert counts(FOUND) == expected
    assert list(counts(FOUND)) == list(expected)  # in the order of the vocabulary


def test_headlines_are_claims():
    assert set(HEADLINES) <= set(registry())
    assert len(set(HEADLINES)) == len(HEADLINES)


def test_findings_give_a_line_to_each_settled_headline():
    lines = findings(FOUND).splitlines()
    assert f"Of {len(registry())} claims" in lines[0]
    assert "1 verified, 1 holds with correction, 1 refuted" in lines[0]
    assert f"{len(registry()) - 3} not yet checked" in lines[0]
    assert "(claims.md)" in lines[0]
    # In the order of the headlines; the correction where there is one, else the reason; no line for G-SGD1.
    assert lines[2:] == [
        f"- {claim('G-C3').title}: **holds with correction** ([G-C3](notebooks/08_comparison.ipynb)). "
        "Smaller by $10$ percent.",
        f"- {claim('G-A2').title}: **refuted** ([G-A2](notebooks/11_frequency.ipynb)). Off by 3.",
    ]


@pytest.mark.parametrize("outcomes", [{}, {"G-SGD1": FOUND["G-SGD1"]}, {"G-TAB2": FOUND["G-TAB2"]}])
def test_findings_say_so_when_no_headline_was_settled(outcomes):
    lines = findings(outcomes).splitlines()[2:]
    assert len(lines) == 1
    assert "settled no headline claim" in lines[0]


def test_every_claim_is_a_row_of_its_papers_table():
    page = claims_page(FOUND, {"08_comparison"})
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == list(PAPERS.values())
    blocks = tables(page)
    assert len(blocks) == len(PAPERS)
    assert len(re.findall("^```", page, re.MULTILINE)) == 2 * len(PAPERS)  # no text closes a block early
    for paper, block in zip(PAPERS, blocks, strict=True):
        rows = [row["id"] for row in BeautifulSoup(block, "html.parser").tbody("tr")]
        assert rows == [name for name, entry in registry().items() if entry.paper == paper]


def test_ids_are_unique_on_the_page(soup):
    ids = Counter(tag["id"] for tag in soup(id=True))
    assert ids == Counter(list(registry()))


def test_a_row_says_what_was_claimed_and_found(soup):
    row = soup.find(id="G-C3")
    claimed, found = row("td")
    assert claim("G-C3").title in claimed.get_text()
    assert claim("G-C3").quote in claimed.blockquote.get_text()
    assert found["class"] == ["gspa-holds-with-correction"]
    assert found.find(class_="gspa-verdict").get_text() == "holds with correction"
    assert r"Corrected: smaller by \(10\) percent." in found.get_text()
    assert [item.get_text() for item in found("li")] == ["gap: 0.25"]


def test_links_lead_only_to_pages_that_exist(soup):
    assert soup.find(id="G-C3").a["href"] == "notebooks/08_comparison.html#card-G-C3"
    assert soup.find(id="G-C1").a["href"] == "notebooks/08_comparison.html"  # no card: no anchor
    assert soup.find(id="G-A2").a is None
    assert "11_frequency" in soup.find(id="G-A2").get_text()
    assert {link["href"].split("#")[0] for link in soup("a")} == {"notebooks/08_comparison.html"}


def test_a_claim_without_outcome_is_not_yet_checked(soup):
    found = soup.find(id="G-D1")("td")[1]
    assert found["class"] == ["gspa-not-yet-checked"]
    assert found.find(class_="gspa-verdict").get_text() == "not yet checked"
    assert found.details is None


def test_hostile_evidence_stays_text(soup):
    assert soup("script") == []
    assert [item.get_text() for item in soup.find(id="G-A2")("li")] == [f"{HOSTILE}: {HOSTILE}", "count: 12,345"]


def test_the_same_outcomes_give_the_same_page():
    assert claims_page(FOUND, {"a", "08_comparison"}) == claims_page(dict(FOUND), ["08_comparison", "a"])

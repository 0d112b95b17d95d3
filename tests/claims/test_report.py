"""The claims page and the findings, parsed the way a reader's browser does."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from bs4 import BeautifulSoup

from gspa.claims.outcome import Outcome, slug
from gspa.claims.registry import PAPERS, SHORT, claim, registry
from gspa.claims.report import HEADLINES, anchor, claims_page, counts, dashboard, findings

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


def test_findings_give_an_entry_to_each_settled_headline():
    # In the order of the headlines; the correction where there is one, else the reason; nothing on G-SGD1.
    soup = BeautifulSoup(tables(findings(FOUND, {"08_comparison"}))[0], "html.parser")
    assert [(term.get_text(), text.get_text()) for term, text in zip(soup("dt"), soup("dd"), strict=True)] == [
        (f"holds with correction {claim('G-C3').title}", r"Smaller by \(10\) percent. G-C3"),
        (f"refuted {claim('G-A2').title}", "Off by 3. G-A2"),
    ]
    assert [link["href"] for link in soup("a")] == ["notebooks/08_comparison.html#card-G-C3", "claims.html#G-A2"]


@pytest.mark.parametrize("outcomes", [{}, {"G-SGD1": FOUND["G-SGD1"]}, {"G-TAB2": FOUND["G-TAB2"]}])
def test_findings_say_so_when_no_headline_was_settled(outcomes):
    lines = findings(outcomes, set()).splitlines()
    assert len(lines) == 1
    assert "settled no headline claim" in lines[0]


@pytest.fixture(scope="module")
def board():
    return BeautifulSoup(tables(dashboard(FOUND))[0], "html.parser")


class TestTheDashboard:
    def test_its_numbers_add_up_to_the_registry(self, board):
        assert [th.get_text() for th in board.thead("th")] == ["Verdict", *SHORT.values(), "all"]
        rows = [[int(td.get_text()) for td in row("td")] for row in board.tbody("tr")]
        assert [row.th.get_text() for row in board.tbody("tr")] == list(counts(FOUND))
        assert all(sum(row[:-1]) == row[-1] for row in rows)
        total = [int(td.get_text()) for td in board.tfoot("td")]
        assert total == [sum(column) for column in zip(*rows, strict=True)]
        assert total[-1] == len(registry())

    def test_each_count_leads_to_an_anchor_of_the_claims_page_that_lists_as_many(self, board):
        page = claims_page(FOUND, {"08_comparison"})
        listed = BeautifulSoup("".join(tables(page)), "html.parser")
        anchors = set(re.findall(r"^\((.+)\)=$", page, re.MULTILINE))
        for row in board.tbody("tr"):
            for paper, cell in zip([*PAPERS, ""], row("td"), strict=True):
                if cell.get_text() == "0":
                    assert cell.a is None
                    continue
                target = cell.a["href"].removeprefix("claims.html#")
                assert target == anchor(paper, row.th.get_text())
                if paper:
                    assert target in anchors
                    found = listed.find("table", attrs={"data-anchor": target}).tbody("tr")
                else:  # a total: the index of all papers
                    found = listed.find(id=target).dd("a")
                assert len(found) == int(cell.get_text())
        for link in board.thead("a"):
            assert link["href"].removeprefix("claims.html#") in anchors

    def test_a_screen_reader_hears_what_a_number_counts(self, board):
        (refuted,) = [row for row in board.tbody("tr") if row.th.get_text() == "refuted"]
        assert refuted("td")[0].a["aria-label"] == f"1 refuted, {SHORT['gspa']}"
        assert board.caption.get_text()


def test_every_claim_is_a_row_of_its_papers_and_verdicts_table():
    page = claims_page(FOUND, {"08_comparison"})
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == list(PAPERS.values())
    blocks = tables(page)
    assert len(re.findall("^```", page, re.MULTILINE)) == 2 * len(blocks)  # no text closes a block early
    soup = BeautifulSoup("".join(blocks), "html.parser")
    shown = soup("table", class_="gspa-registry")
    heads = re.findall(r"^### (.*) \((\d+)\)$", page, re.MULTILINE)
    assert len(heads) == len(shown)
    for (verdict, number), table in zip(heads, shown, strict=True):
        rows = table.tbody("tr")
        assert len(rows) == int(number)
        assert {row["data-verdict"] for row in rows} == {slug(verdict.lower())}
        assert {anchor(row["data-paper"], verdict.lower()) for row in rows} == {table["data-anchor"]}
    # In the papers' order inside a table, each once.
    order = list(registry())
    for table in shown:
        places = [order.index(row["id"]) for row in table.tbody("tr")]
        assert places == sorted(places)
    assert sorted(row["id"] for table in shown for row in table.tbody("tr")) == sorted(order)


def test_the_form_offers_what_the_rows_carry_and_waits_for_its_script(soup):
    form = soup.find("form", id="gspa-filter")
    assert form.has_attr("hidden")
    rows = [row for table in soup("table", class_="gspa-registry") for row in table.tbody("tr")]
    for name in ("paper", "verdict", "kind"):
        offered = [option["value"] for option in form.find("select", attrs={"name": name})("option")]
        assert offered[0] == ""
        assert set(offered[1:]) == {row[f"data-{name}"] for row in rows}
    assert form.find(role="status")["aria-live"] == "polite"
    assert all(field.find_parent("label") for field in form(["input", "select"]))


def test_without_a_script_an_index_leads_to_every_claim(soup):
    index = soup.find(id="gspa-index")
    assert sorted(link["href"] for link in index("a")) == sorted(f"#{name}" for name in registry())
    assert [term.span.get_text() for term in index("dt")] == list(counts(FOUND))


def test_ids_are_unique_on_the_page(soup):
    ids = Counter(tag["id"] for tag in soup(id=True))
    assert set(registry()) < set(ids)
    assert set(ids.values()) == {1}


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
    assert {link["href"].split("#")[0] for link in soup("a")} == {"notebooks/08_comparison.html", ""}


def test_a_claim_without_outcome_is_not_yet_checked(soup):
    found = soup.find(id="G-D1")("td")[1]
    assert found["class"] == ["gspa-not-yet-checked"]
    assert found.find(class_="gspa-verdict").get_text() == "not yet checked"
    assert found.details is None


def test_hostile_evidence_stays_text(soup):
    assert [script["src"] for script in soup("script")] == ["_static/claims.js"]
    assert [item.get_text() for item in soup.find(id="G-A2")("li")] == [f"{HOSTILE}: {HOSTILE}", "count: 12,345"]


def test_the_same_outcomes_give_the_same_page():
    assert claims_page(FOUND, {"a", "08_comparison"}) == claims_page(dict(FOUND), ["08_comparison", "a"])

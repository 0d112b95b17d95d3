"""The errata: every entry points to evidence that a check computes, and the page shows what this build found."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
import small_project
from bs4 import BeautifulSoup

from gspa import claims, site
from gspa.claims import errata
from gspa.claims.errata import NOT_SHOWN, READING, Erratum, errata_page, evidence_of, faults, read
from gspa.claims.outcome import Outcome
from gspa.claims.registry import PAPERS, claim, registry
from gspa.errors import InvalidValue, UnknownName

ENTRIES = errata.errata()
HOSTILE = "<script>alert(1)</script>&"
SOME = (
    Erratum(1, "gspa", "G-C3", "eq. (10)", r"$\frac{1}{2}$ and " + HOSTILE, "a third", "gap"),
    Erratum(2, "gspa", "G-A2", "after Theorem 4", "unbiased", "biased", "bias with the ones"),
    Erratum(4, "flame", "F10", "Theorem 1", "old", "new", "nothing"),
)
FOUND = {
    "G-C3": Outcome("G-C3", "refuted", "Why.", {"gap": 0.25, "points": 3}),
    "G-A2": Outcome("G-A2", "holds with correction", "Off.", {"bias with the ones (6 points)": HOSTILE}, "better"),
}


def tables(page):
    return re.findall(r"^```\{raw\} html\n(.*?)\n```$", page, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def soup():
    return BeautifulSoup("".join(tables(errata_page(FOUND, {"08_comparison"}, SOME))), "html.parser")


class TestTheList:
    def test_there_are_some_and_each_claim_exists(self):
        assert ENTRIES
        assert {one.claim for one in ENTRIES} <= set(registry())

    def test_a_paper_is_that_of_the_claim_and_the_papers_come_in_order(self):
        assert [one.paper for one in ENTRIES] == sorted((one.paper for one in ENTRIES), key=list(PAPERS).index)
        assert all(claim(one.claim).paper == one.paper for one in ENTRIES)

    def test_every_claim_has_a_check_and_no_dollar_is_left_open(self):
        assert {one.claim for one in ENTRIES} <= set(claims.checks())
        for one in ENTRIES:
            for text in (one.place, one.printed, one.right):
                assert text.count("$") % 2 == 0, f"erratum {one.number}: {text}"

    @pytest.mark.parametrize("identifier", sorted({one.claim for one in ENTRIES}))
    def test_every_label_is_a_row_of_what_the_check_computes(self, identifier):
        outcome = claims.settle(identifier, profile="quick")
        if outcome.verdict == "not yet checked":
            pytest.skip("needs the paper's sizes or data")
        mine = [one for one in ENTRIES if one.claim == identifier]
        assert faults(mine, {identifier: outcome}) == []


class TestReading:
    ENTRY = "- {number: 7, paper: gspa, claim: G-C3, place: here, printed: a, right: b, evidence: gap}\n"

    def test_layout_is_not_text(self):
        (one,) = read(self.ENTRY.replace("printed: a", 'printed: "two\n    lines"'))
        assert one == Erratum(7, "gspa", "G-C3", "here", "two lines", "b", "gap")

    def test_no_entries(self):
        assert read("# nothing\n") == ()

    @pytest.mark.parametrize(
        ("wrong", "words"),
        [
            (ENTRY.replace("right: b, ", ""), "mapping of number, paper"),
            (ENTRY.replace("right: b", "right: ''"), "none empty"),
            (ENTRY.replace("right: b", "right: b, why: c"), "mapping of number, paper"),
            (ENTRY.replace("paper: gspa", "paper: flame"), "that of G-C3"),
            (ENTRY + ENTRY, "of its own"),
            (ENTRY.replace("number: 7", "number: -7"), "of its own"),
            (ENTRY.replace("number: 7", "number: seven"), "of its own"),
        ],
    )
    def test_what_is_refused(self, wrong, words):
        with pytest.raises(InvalidValue, match=words):
            read(wrong)

    def test_a_claim_that_does_not_exist(self):
        with pytest.raises(UnknownName, match="G-C33"):
            read(self.ENTRY.replace("G-C3", "G-C33"))


class TestEvidence:
    def test_the_label_or_the_only_one_that_begins_so(self):
        outcome = Outcome("G-C3", "refuted", "Why.", {"gap": 1, "gap of mu": 2, "slope (6)": 3, "slopes": 4})
        assert evidence_of(replace(SOME[0], evidence="gap"), outcome) == ("gap", 1)
        assert evidence_of(replace(SOME[0], evidence="slope ("), outcome) == ("slope (6)", 3)
        assert evidence_of(replace(SOME[0], evidence="slope"), outcome) is None  # two begin so
        assert evidence_of(replace(SOME[0], evidence="gap * mu"), outcome) == ("gap of mu", 2)
        assert evidence_of(replace(SOME[0], evidence="s*e"), outcome) is None
        assert evidence_of(replace(SOME[0], evidence="of mu"), outcome) is None  # not its beginning
        assert evidence_of(SOME[0], None) is None

    def test_an_entry_that_points_to_a_missing_label_is_a_fault(self):
        assert faults(SOME, FOUND) == []
        lost = replace(SOME[0], evidence="gapp")
        assert faults([lost], FOUND) == ["erratum 1: the evidence of G-C3 has no row 'gapp'"]
        assert faults([lost], {"G-C3": Outcome("G-C3", "not yet checked", "Small.", missing="size")}) == []


class TestThePage:
    def test_a_table_a_paper_that_has_any(self):
        page = errata_page(FOUND, {"08_comparison"}, SOME)
        assert re.findall(r"^## (.*)$", page, re.MULTILINE) == [PAPERS["gspa"], PAPERS["flame"]]
        assert page.startswith("3 entries; this build computed the evidence of 2.")
        assert len(re.findall("^```", page, re.MULTILINE)) == 4

    def test_a_row_says_what_is_printed_what_is_right_and_what_was_found(self, soup):
        row = soup.find(id="erratum-1")
        assert row.th.get_text() == "1eq. (10)"
        text, found = row("td")
        printed, right = text("p")
        assert printed.get_text() == rf"Printed: \(\frac{{1}}{{2}}\) and {HOSTILE}"
        assert right.get_text() == "Right: a third"
        assert "gap: 0.25" in found.get_text()
        assert found.find(class_="gspa-verdict").get_text() == "refuted"
        assert found["class"] == ["gspa-refuted"]
        assert found.a["href"] == "notebooks/08_comparison.html#card-G-C3"

    def test_the_beginning_of_a_label_is_shown_whole(self, soup):
        found = soup.find(id="erratum-2")("td")[1]
        assert f"bias with the ones (6 points): {HOSTILE}" in found.get_text()
        assert found.a["href"] == "claims.html#G-A2"  # its page is not in this build
        assert soup("script") == []

    def test_evidence_that_this_build_lacks_is_said_to_be(self, soup):
        found = soup.find(id="erratum-4")("td")[1]
        assert NOT_SHOWN in found.get_text()
        assert found.find(class_="gspa-verdict").get_text() == "not yet checked"
        assert found.a["href"] == "claims.html#F10"
        lost = errata_page(FOUND, {"08_comparison"}, [replace(SOME[0], evidence="gapp")])
        assert NOT_SHOWN in lost
        assert "0.25" not in lost

    def test_a_misprint_that_the_text_itself_shows_needs_no_number(self):
        read_off = replace(SOME[0], evidence=READING)
        assert "by reading" in errata_page(FOUND, set(), [read_off])
        assert faults([read_off], FOUND) == []

    def test_ids_and_names_are_unique_and_columns_have_heads(self, soup):
        names = [region["aria-label"] for region in soup(role="region")]
        assert len(names) == len(set(names)) == len(soup("table"))
        assert Counter(tag["id"] for tag in soup(id=True)) == Counter(["erratum-1", "erratum-2", "erratum-4"])
        for table in soup("table"):
            assert len(table.thead("th", scope="col")) == 3
            assert all(len(row("td")) == 2 and row.th["scope"] == "row" for row in table.tbody("tr"))

    def test_the_site_writes_it(self, tmp_path):
        project = small_project.make(tmp_path)
        site._generate(project, [], "quick")
        written = (project.book / "_generated" / "errata.md").read_text(encoding="utf-8")
        assert written == errata_page({}, set())

    def test_the_projects_own_page_renders_without_any_outcome(self):
        page = errata_page({}, set())
        assert page.count(NOT_SHOWN) == sum(one.evidence != READING for one in ENTRIES)
        assert f"{len(ENTRIES)} entries; this build computed the evidence of 0." in page

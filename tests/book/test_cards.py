"""Cards, the claims page, the findings and the errata page, parsed the way a reader's browser does."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from gspa.book import cards, claims, evidence, text
from gspa.book.cards import HEADLINES, Found
from gspa.book.claims import PAPERS, READING, SHORT, WEIGHTS, Erratum, Outcome, claim, registry
from gspa.book.fill import anchor, fill, slug
from gspa.book.verdicts import VERDICTS, Reading

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "gspa" / "book" / "templates"
HOSTILE = "<script>alert(1)</script>&"
FOUND = {
    "G-C3": Outcome("G-C3", "holds with correction", "Why.", {"gap": 0.25}, "smaller by $10$ percent."),
    "G-A2": Outcome("G-A2", "refuted", "off by 3.", {HOSTILE: HOSTILE, "count": 12345}),
    "G-TAB2": Outcome("G-TAB2", "verified", "Fine.", {"mean": 1.0}),
    "G-SGD1": Outcome("G-SGD1", "not yet checked", "Too small.", missing="size"),
}
UNSETTLED = [one.verdict for one in registry().values() if not one.notebook]  # no page settles these
SETTLED = [one for one in registry().values() if one.notebook]
COUNTS = Counter(["verified", "holds with correction", "refuted", *UNSETTLED])
COUNTS["not yet checked"] = len(registry()) - len(UNSETTLED) - 3
SOME = (
    Erratum(1, "G-C3", "eq. (10)", rf"$\frac{{1}}{{2}}$ and {HOSTILE}", "a third", "gap"),
    Erratum(2, "G-A2", "after Theorem 4", "unbiased", "biased", "count", misprint=True),
    Erratum(4, "F10", "Theorem 1", "old", "new", "nothing"),
    Erratum(5, "F10", "Theorem 1", "old", "new", READING),
)


def html(page):
    """The raw HTML blocks of a generated page."""
    blocks = re.findall(r"^```\{raw\} html\n(.*?)\n```$", page, re.DOTALL | re.MULTILINE)
    assert 2 * len(blocks) == len(re.findall("^```", page, re.MULTILINE))  # no text closes a block early
    return BeautifulSoup("".join(blocks), "html.parser")


@pytest.fixture(scope="module")
def parts():
    return cards.parts(Found(FOUND, {"08_comparison"}), [])


def card(outcome):
    return BeautifulSoup(outcome._repr_mimebundle_()["text/html"], "html.parser")


class TestTheCard:
    FOUND = Outcome("G-C3", "holds with correction", "REASON", {"gap": 0.123456, "points": 12345}, "but for $n > 1$")

    def test_it_says_everything_the_verdict_first_and_the_quotation_last(self):
        soup = card(self.FOUND)
        assert [tag["class"] for tag in soup("div")] == [["gspa-card", "gspa-holds-with-correction"]]
        assert soup.div["id"] == "card-G-C3"
        assert [(row.th.get_text(), row.td.get_text()) for row in soup("tr")] == [
            ("gap", "0.1235"),
            ("points", "12,345"),
        ]
        quote = BeautifulSoup(text.html(claim("G-C3").quote), "html.parser").get_text()
        wanted = [
            "holds with correction",
            claim("G-C3").location,
            "REASON",
            r"Corrected: but for \(n > 1\)",
            "gap",
            "As printed",
            quote,
        ]
        places = [soup.get_text().index(part) for part in wanted]
        assert places == sorted(places)

    @pytest.mark.parametrize(("rows", "folded"), [(0, False), (1, False), (3, False), (4, True)])
    def test_long_evidence_is_folded_and_says_how_long_it_is(self, rows, folded):
        verdict = "refuted" if rows else "not checkable"
        soup = card(Outcome("G-C3", verdict, "Why.", {f"row {n}": n for n in range(rows)}))
        assert len(soup("tr")) == rows
        assert bool(soup.table) == bool(rows)
        folds = [one.summary.get_text() for one in soup("details")]
        assert [text for text in folds if text.startswith("Evidence")] == folded * [f"Evidence ({rows} rows)"]

    def test_hostile_text_stays_text(self, monkeypatch):
        entry = dataclasses.replace(claim("G-C3"), title=HOSTILE, quote=f"{HOSTILE} ${HOSTILE}$", location=HOSTILE)
        monkeypatch.setattr(claims, "registry", lambda: {"G-C3": entry})
        soup = card(Outcome("G-C3", "holds with correction", HOSTILE, {HOSTILE: HOSTILE}, HOSTILE))
        assert soup(["script", "img"]) == []
        # title, quote (twice), location (twice), reason, label, value, correction
        assert soup.get_text().count(HOSTILE) == 9

    @pytest.mark.parametrize("name", registry())
    def test_no_formula_of_the_registry_is_left_as_source(self, name):
        for written in (claim(name).title, claim(name).quote, claim(name).location):
            soup = BeautifulSoup(text.html(written), "html.parser")
            for span in soup("span", class_="math"):
                inside = span.extract().get_text()
                # MathJax would number the line, or stop at a delimiter within a formula.
                assert not any(
                    mark in inside[2:-2] for mark in ("$", r"\(", r"\)", r"\[", r"\]", r"\tag", "{equation}")
                )
                unescaped = re.sub(r"\\[{}]", "", inside)
                assert unescaped.count("{") == unescaped.count("}")
            assert not re.search(r"[$\\^_{}]", soup.get_text())

    def test_verdicts_are_classes_of_the_style_sheet(self):
        style = (Path(__file__).resolve().parents[2] / "book" / "_static" / "gspa.css").read_text(encoding="utf-8")
        for word in VERDICTS:
            assert re.search(rf"\.gspa-{slug(word)}[ ,]", style)


@pytest.mark.parametrize(
    ("reason", "evidence", "said"),
    [
        ("It is 2.", {"gap": 1}, False),
        ("Certified, it is 2.", {"gap": 1}, True),
        ("It is 2.", {"gap, a certified one": 1}, True),
    ],
)
def test_a_card_that_speaks_of_certified_numbers_says_what_that_means(reason, evidence, said):
    shown = card(Outcome("G-C3", "verified", reason, evidence))
    (terms,) = shown("dl", class_="gspa-standard")
    assert ("Certified" in [term.get_text() for term in terms("dt")]) == said
    assert [link["href"] for link in terms("a")] == ["21_certificates.html"] * said


def linked(page, whole=True):
    """The claims that a page's links lead to."""
    soup = html(page) if whole else BeautifulSoup(page, "html.parser")
    return [link["href"].rpartition("#")[2].removeprefix("card-") for link in soup("a")]


class TestTheReports:
    """Each claim of a paper that a page settles stands once in the paper's report, the gravest with what was found."""

    @pytest.fixture
    def settled(self):
        outcomes = {}
        for one in SETTLED:
            but = "but." if one.verdict == "holds with correction" else ""
            outcomes[one.id] = Outcome(one.id, one.verdict, f"Reason of {one.id}.", {"row": 1}, but)
        return Found(outcomes, {one.notebook for one in SETTLED})

    @pytest.mark.parametrize("paper", cards.REPORTS)
    def test_each_claim_is_listed_once(self, settled, paper):
        listed = linked(cards.parts(settled, [])[f"report-results-{paper}"])
        wanted = [one.id for one in settled.of(paper) if one.notebook and settled.verdict(one) != "illustrated"]
        assert sorted(listed) == sorted(wanted)

    @pytest.mark.parametrize("paper", cards.REPORTS)
    def test_the_table_counts_each_settled_claim_once(self, settled, paper):
        soup = html(cards.parts(settled, [])[f"report-scope-{paper}"])
        assert sum(int(cell.get_text()) for cell in soup("td")) == sum(bool(one.notebook) for one in settled.of(paper))

    def test_what_changes_a_conclusion_comes_first_and_says_what_was_found(self, settled):
        soup = html(cards.parts(settled, [])["report-results-gspa"])
        first = linked(str(soup("dl")), whole=False)
        assert first[0] == HEADLINES[0]
        assert [said.get_text() for said in soup("dd")] == [f"Reason of {name}." for name in first]
        grave = {one.claim for one in claims.errata() if one.paper == "gspa" and one.weight == "conclusion"}
        assert {name for name in grave if claim(name).verdict == "refuted"} <= set(first)

    def test_a_build_that_settled_nothing_says_so(self):
        page = cards.parts(Found({}, set()), [])["report-results-flame"]
        assert "### Not checked in this build" in page
        assert "holds as printed" not in page


@pytest.fixture(scope="module")
def divided():
    two = Reading("one way", "verified", "It is so."), Reading("another", "refuted", "It is not.")
    outcomes = {one.id: Outcome(one.id, "verified", "It is so.", {"gap": 1.0}, readings=two) for one in SETTLED}
    return Found(outcomes, {one.notebook for one in SETTLED})


class TestInHowManyReadings:
    """Wherever the badge of a claim stands, "in 1 of 2 readings" stands with it, if the readings differ."""

    SAID = "in 1 of 2 readings"

    def test_it_is_on_every_page(self, divided):
        pages = cards.parts(divided, [])
        seen = Counter()
        for name, page in pages.items():
            soup = html(page)
            alone = [row.th for row in soup.select(".gspa-dashboard tr")]
            badges = [one for one in soup(class_="gspa-verdict") if one.parent not in alone]
            for badge in badges:
                settled = badge.get_text() == "verified" and badge.parent.find(class_="gspa-agreeing")
                assert settled or badge.get_text() != "verified", (name, badge.parent)
            seen[name] = len(soup(class_="gspa-agreeing"))
            assert {one.get_text() for one in soup(class_="gspa-agreeing")} <= {self.SAID}
        settled = len(divided.outcomes)
        assert seen["claims"] == settled
        assert seen["findings"] == len(HEADLINES)
        assert seen["errata"] == len(claims.errata())
        for paper in cards.REPORTS:
            assert seen[f"report-results-{paper}"] > 0
            assert (
                f"{sum(bool(one.notebook) for one in divided.of(paper))} verdicts stand only in some readings"
                in (pages[f"report-scope-{paper}"])
            )
        assert f"{settled} verdicts stand only in some readings of an unclear sentence." in pages["dashboard"]

    def test_it_is_told_to_machines(self, divided):
        rows = json.loads(cards.index(divided).removeprefix("const GSPA_CLAIMS = ").rstrip(";\n"))
        assert {row["verdict"] for row in rows if row["id"] in divided.outcomes} == {f"verified {self.SAID}"}
        reviews = json.loads(evidence.linked_data(divided))["@graph"]
        ratings = {one["@id"].rsplit("#", 1)[1]: one["reviewRating"] for one in reviews}
        assert {ratings[name].get("ratingExplanation") for name in divided.outcomes} == {self.SAID}
        assert all(
            "ratingExplanation" not in rating for name, rating in ratings.items() if name not in divided.outcomes
        )

    def test_the_heading_of_the_readings_says_how_many_count(self):
        entry = SETTLED[0]
        two = Reading("one way", "verified", "It is so."), Reading("another", "refuted", "No.", excluded="by the text")
        outcome = Outcome(entry.id, "verified", "It is so.", {"gap": 1.0}, readings=two)
        card = BeautifulSoup(fill("card.html", entry=entry, outcome=outcome), "html.parser")
        assert card.find("summary").get_text() == "Readings (2, 1 not counted)"
        assert not card(class_="gspa-agreeing")

    def test_there_is_one_badge(self):
        made = [path for path in TEMPLATES.glob("*") if "gspa-verdict" in path.read_text(encoding="utf-8")]
        assert [path.name for path in made] == ["readings.html"]


def test_findings_give_an_entry_to_each_settled_headline(monkeypatch):
    # In the order of the headlines; the correction where there is one, else the reason; nothing on G-SGD1.
    monkeypatch.setattr(cards, "HEADLINES", ("G-C3", "G-SGD1", "G-A2"))
    soup = html(cards.parts(Found(FOUND, {"08_comparison"}), [])["findings"])
    titles = [BeautifulSoup(text.html(claim(name).title), "html.parser").get_text() for name in ("G-C3", "G-A2")]
    assert [(term.get_text(), said.get_text()) for term, said in zip(soup("dt"), soup("dd"), strict=True)] == [
        (f"holds with correction {titles[0]}", r"Why. What holds: smaller by \(10\) percent."),
        (f"refuted {titles[1]}", "off by 3."),
    ]
    assert [link["href"] for link in soup("a")] == ["notebooks/08_comparison.html#card-G-C3", "claims.html#G-A2"]


@pytest.mark.parametrize("outcomes", [{}, {"G-SGD1": FOUND["G-SGD1"]}, {"G-TAB2": FOUND["G-TAB2"]}])
def test_findings_say_so_when_no_headline_was_settled(outcomes):
    found = cards.parts(Found(outcomes, set()), [])
    assert "settled no headline claim" in found["findings"]


class TestTheStrip:
    def test_its_readings_are_the_registrys(self):
        for asked in cards.STRIP:
            entry = claim(asked.claim)
            assert entry.notebook
            assert asked.reading == "" or asked.reading in entry.readings

    def test_each_picture_has_the_verdict_of_its_card_and_one_sentence_of_it(self):
        first, two, _ = cards.STRIP
        read = (
            Reading(first.reading, "refuted", "At $n$ = 1.5 it fails. More."),
            Reading("another", "verified", "Else."),
        )
        outcomes = {
            first.claim: Outcome(first.claim, "verified", "Else.", {"gap": 1.0}, readings=read),
            two.claim: Outcome(two.claim, "refuted", "At 1 point. And another.", {"gap": 1.0}),
        }
        page = cards.strip(Found(outcomes, {claim(first.claim).notebook}), {first.figure: "A map."})
        assert page.count(":::{image}") == 1
        target = f"notebooks/{claim(first.claim).notebook}.html"
        assert f":::{{image}} _generated/{first.figure}.svg\n:alt: A map.\n:target: {target}\n:::" in page
        said = [" ".join(one.get_text().split()) for one in html(page)("p")]
        assert said == [
            *("Theorem 2 verified in 1 of 2 readings", r"At \(n\) = 1.5 it fails. Evidence"),
            *("Figure 2 refuted", "At 1 point. Evidence"),
            *("Figure 4 not yet checked", ""),
        ]


class TestTheDashboard:
    def test_its_numbers_add_up_to_the_registry(self, parts):
        board = html(parts["dashboard"])
        assert [th.get_text() for th in board.thead("th")] == ["Verdict", *SHORT.values(), "all"]
        rows = {row.th.get_text(): [int(td.get_text()) for td in row("td")] for row in board.tbody("tr")}
        assert {verdict: row[-1] for verdict, row in rows.items()} == COUNTS
        assert list(rows) == [word for word in VERDICTS if word in COUNTS]
        assert all(sum(row[:-1]) == row[-1] for row in rows.values())
        total = [int(td.get_text()) for td in board.tfoot("td")]
        assert total == [sum(column) for column in zip(*rows.values(), strict=True)]

    def test_each_count_leads_to_a_view_of_the_claims_page_that_lists_as_many(self, parts):
        listed = html(parts["claims"])
        anchors = set(re.findall(r"^\((.+)\)=$", parts["claims"], re.MULTILINE))
        board = html(parts["dashboard"])
        for row in board.tbody("tr"):
            for paper, cell in zip([*PAPERS, ""], row("td"), strict=True):
                if cell.get_text() == "0":
                    assert cell.a is None
                    continue
                verdict = row.th.get_text()
                assert cell.a["href"].removeprefix("claims.html#") == anchor(paper, verdict)
                wanted = {"data-verdict": slug(verdict)} | ({"data-paper": paper} if paper else {})
                found = listed("details", attrs=wanted)
                assert len(found) == int(cell.get_text())
                assert found[0].find(id=anchor(paper, verdict))  # without a script it leads to the first of them
        assert {link["href"].removeprefix("claims.html#") for link in board.thead("a")} <= anchors
        (refuted,) = [row for row in board.tbody("tr") if row.th.get_text() == "refuted"]
        assert refuted("td")[0].a["aria-label"] == f"1 refuted, {SHORT['gspa']}"


def test_the_bars_of_the_claims_page_are_as_long_as_the_counts_and_lead_to_their_claims(parts):
    bars = html(parts["claims"]).find(class_="gspa-bars")
    assert [name.get_text() for name in bars("dt")] == list(SHORT.values())
    counted = Counter[str]()
    for paper, bar in zip(PAPERS, bars("dd"), strict=True):
        for part in bar("a"):
            many, verdict = re.fullmatch(r"(\d+) (.+), .+", part["aria-label"]).groups()
            assert part["href"] == f"#{anchor(paper, verdict)}"
            assert part["style"] == f"flex-grow: {many}"
            counted[verdict] += int(many)
    assert counted == COUNTS


@pytest.fixture(scope="module")
def soup(parts):
    return html(parts["claims"])


class TestTheClaimsPage:
    def test_every_claim_is_a_row_under_its_paper_in_the_papers_order(self, parts, soup):
        assert re.findall(r"^## (.*)$", parts["claims"], re.MULTILINE) == list(PAPERS.values())
        rows = soup("details", class_="gspa-claim")
        assert [row["id"] for row in rows] == list(registry())
        assert [row["data-paper"] for row in rows] == [one.paper for one in registry().values()]
        titles = [BeautifulSoup(text.light(one.title), "html.parser").get_text() for one in registry().values()]
        said = [row.summary.get_text() for row in rows]
        assert [title for title, words in zip(titles, said, strict=True) if title not in words] == []
        # A row carries no formula: all of them together would keep a reader waiting.
        assert not re.search(r"[$\\]", " ".join(said))

    def test_the_form_offers_what_the_rows_carry_and_waits_for_its_script(self, soup):
        form = soup.find("form", id="gspa-filter")
        assert form.has_attr("hidden")
        for name in ("paper", "verdict"):
            offered = [option["value"] for option in form.find("select", attrs={"name": name})("option")]
            assert offered[0] == ""
            assert set(offered[1:]) == {row[f"data-{name}"] for row in soup("details")}
        assert all(field.find_parent("label") for field in form(["input", "select"]))

    def test_without_a_script_a_row_leads_to_the_card_or_says_that_there_is_none(self, soup):
        leads = {row["id"]: (row.p.a.get_text(), row.p.a["href"]) for row in soup("details")}
        assert not soup.select("details[hidden], [hidden] details")
        assert leads["G-C3"] == ("Its card", "notebooks/08_comparison.html#card-G-C3")
        assert leads["G-C1"] == ("Its page", "claims.html#G-C1")
        assert soup.find(id="G-C3").find(class_="gspa-verdict").get_text() == "holds with correction"
        assert soup.find(id="G-D1").find(class_="gspa-verdict").get_text() == "not yet checked"

    def test_a_row_unfolds_to_all_that_is_known_of_a_claim(self):
        shown = unfolded("G-C3")
        assert shown.blockquote.get_text()
        assert r"Corrected: smaller by \(10\) percent." in shown.get_text()
        assert [(row.th.get_text(), row.td.get_text()) for row in shown("tr")] == [("gap", "0.25")]
        assert "notebooks/08_comparison.html#card-G-C3" in [link["href"] for link in shown("a")]
        below = [f"#{name}" for name in claim("G-C3").rests_on]
        assert set(below) <= {link["href"] for link in shown("a")}
        assert "#G-C3" in {link["href"] for link in unfolded(claim("G-C3").rests_on[0])("a")}
        assert "This build has not checked it." in unfolded("G-D1").get_text()
        assert "tests/here.py:7" in unfolded("G-D1").get_text()

    def test_hostile_evidence_stays_text(self):
        shown = unfolded("G-A2")
        assert shown("script") == []
        assert [row.get_text(" ").strip() for row in shown("tr")] == [f"{HOSTILE} {HOSTILE}", "count 12,345"]


def unfolded(name):
    """What the row of a claim unfolds to."""
    made = cards.rows(Found(FOUND, {"08_comparison"}), {"G-D1": "tests/here.py:7"})[f"{name}.js"]
    first, _, html = made.removeprefix("gspaClaim(").removesuffix(");\n").partition(", ")
    assert json.loads(first) == name
    return BeautifulSoup(json.loads(html), "html.parser")


@pytest.fixture(scope="module")
def errata_page():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claims, "errata", lambda: SOME)
        return cards.parts(Found(FOUND, {"08_comparison"}), [])["errata"]


class TestTheErrataPage:
    def test_a_row_says_what_is_printed_what_is_right_and_what_was_found(self, errata_page):
        assert errata_page.startswith("4 entries; this build computed the evidence of 2.")
        soup = html(errata_page)
        row = soup.find(id="erratum-1")
        said, found = row("td")
        printed, right = said("p")
        assert printed.get_text() == rf"Printed: \(\frac{{1}}{{2}}\) and {HOSTILE}"
        assert right.get_text() == "Right: a third"
        assert found.get_text().startswith("gap: 0.25")
        assert found["class"] == ["gspa-holds-with-correction"]
        assert found.a["href"] == "notebooks/08_comparison.html#card-G-C3"
        second = soup.find(id="erratum-2")("td")[1]
        assert second.get_text().startswith("count: 12,345")
        assert second.a["href"] == "claims.html#G-A2"  # its page is not in this build
        assert soup("script") == []

    def test_rows_stand_under_their_paper_and_their_weight(self, errata_page):
        lines = re.findall(r"^#+ .*|(?<=^<tr id=')[\w-]+", errata_page, re.MULTILINE)
        _, number, misprint = (f"### {heading}" for heading in WEIGHTS.values())
        assert lines == [
            *(f"## {PAPERS['gspa']}", number, "erratum-1", misprint, "erratum-2"),
            *(f"## {PAPERS['flame']}", number, "erratum-4", "erratum-5"),
        ]

    def test_evidence_that_this_build_lacks_is_said_to_be(self, errata_page):
        soup = html(errata_page)
        assert "not shown by this build" in soup.find(id="erratum-4")("td")[1].get_text()
        assert "by reading" in soup.find(id="erratum-5")("td")[1].get_text()

    def test_an_entry_that_points_to_a_missing_row_is_a_fault(self, monkeypatch):
        monkeypatch.setattr(claims, "errata", lambda: SOME)
        assert cards.faults(FOUND) == []
        monkeypatch.setattr(claims, "errata", lambda: (dataclasses.replace(SOME[0], evidence="gapp"),))
        assert cards.faults(FOUND) == ["erratum 1: the evidence of G-C3 has no row 'gapp'"]
        assert cards.faults({"G-C3": Outcome("G-C3", "not yet checked", "Small.", missing="size")}) == []


def test_what_differs_is_taken_from_the_pages_and_their_links_still_lead_somewhere(tmp_path):
    said = {"text/markdown": "## What differs from the paper\n\nSee [page 09](09_personalized.ipynb).\n\n## After"}
    from gspa.book import say

    shown = {"output_type": "display_data", "data": said | {say.MIME: {"values": {}}}, "metadata": {}}
    path = tmp_path / "08_comparison.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "outputs": [shown], "source": ""}]}))
    found = cards.departures([path])
    assert found.splitlines()[0] == "### [](notebooks/08_comparison.ipynb)"
    assert "See [page 09](notebooks/09_personalized.ipynb)." in found
    assert "After" not in found

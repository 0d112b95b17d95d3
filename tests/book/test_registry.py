"""The claims registry and the bibliography: complete and well formed; what is quoted is in test_quotations.py."""

from __future__ import annotations

import re
from datetime import date
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml
from pybtex.database import parse_file

from gspa.book.claims import registry
from gspa.book.project import Project
from gspa.book.text import plain
from gspa.book.verdicts import VERDICTS, best

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = ROOT / "book" / "claims.yaml"
REFERENCES = ROOT / "book" / "references.bib"

FIELDS = {"id", "location", "title", "quote", "verdict"}
STANDARD = {"quantity", "comparator"}
WRITTEN = re.compile(r"(20\d\d-\d\d-\d\d), (?:before|with|after)")
EXTRA = {
    *("tolerance", "needs", "was", "rests_on", "reason", "address", "standard"),
    *("readings", "found", "correction", "evidence"),
}
NEEDS = re.compile(r"size|data|.*\b(?:[<>]=?|==|in)\b.*|.*[<>]=.*")  # or a condition on parameters and evidence
TOLERANCES = {
    *("accuracy", "confidence", "eps", "exponent", "percent"),
    *("r_squared_min", "ratio_min", "relative", "slope"),
}
NOTEBOOKS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
PAPERS = ["gspa", "clones", "flame", "since"]
ID_PATTERNS = {
    "gspa": re.compile(r"G-(D|E|F|L|T|C|A|S|SGD)\d+[pr]?|G-TAB\d|G-FIG\d[A-D]?"),
    "clones": re.compile(r"B-\d+"),
    "flame": re.compile(r"[FEQ]\d+"),
    "since": re.compile(r"N-\d+"),
}
CLAIMS = yaml.load(REGISTRY.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def by_id(claims: list[dict]) -> list:
    return [pytest.param(claim, id=str(claim.get("id"))) for claim in claims]


def test_ids_are_unique_and_papers_come_one_after_the_other():
    ids = [claim["id"] for claim in CLAIMS]
    assert sorted({i for i in ids if ids.count(i) > 1}) == []
    papers = [registry()[claim["id"]].paper for claim in CLAIMS]
    assert papers == sorted(papers, key=PAPERS.index)


@pytest.mark.parametrize("claim", by_id(CLAIMS))
def test_fields_and_vocabularies(claim):
    assert set(claim) - EXTRA - STANDARD == FIELDS
    readings = registry()[claim["id"]].readings.values()
    assert claim["verdict"] == (best([*readings]).verdict if readings else "not checkable")
    assert all(NEEDS.fullmatch(need) for need in claim.get("needs", []))
    # What came since names its public source; the papers need none.
    assert claim["id"].startswith("N-") == bool(re.match(r"https://\S+$", claim.get("address", "")))
    assert ID_PATTERNS[registry()[claim["id"]].paper].fullmatch(claim["id"])
    assert registry()[claim["id"]].notebook in [*NOTEBOOKS, ""]
    for field in ("location", "title", "quote"):
        assert isinstance(claim[field], str)
        assert claim[field] == claim[field].strip() != ""
    assert len(plain(claim["title"])) <= 70


@pytest.mark.parametrize("claim", by_id(CLAIMS))
def test_each_claim_says_by_what_it_is_judged_or_why_no_number_can(claim):
    if not registry()[claim["id"]].notebook:
        assert claim["verdict"] == "not checkable"
        assert claim["reason"].strip().endswith(".")
        assert not set(claim) & (STANDARD | {"tolerance", "standard"})
        return
    assert "reason" not in claim
    assert set(claim) >= STANDARD
    assert claim["quantity"].strip()
    assert claim["comparator"].strip()
    date.fromisoformat(WRITTEN.fullmatch(registry()[claim["id"]].standard)[1])


@pytest.mark.parametrize("path", [REGISTRY, REGISTRY.with_name("errata.yaml")], ids=lambda path: path.name)
def test_no_text_loses_its_end_to_a_comment(path):
    assert re.findall(r"(?m)^[^#\n].*\s#.*", path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_a_page_s_entries_stand_on_their_own(page):
    own = [claim for claim in CLAIMS if registry()[claim["id"]].notebook == page]
    text = Project(ROOT).claims_of([claim["id"] for claim in own])  # an anchor of another page's entry would be missing
    assert (yaml.safe_load(text) or []) == own


@pytest.mark.parametrize(
    "alike",
    [
        ("G-L1", "G-T1", "G-T2p", "G-S86"),  # parts that belong to another user's randomizer
        ("G-F1", "G-F4", "B-15", "G-E14"),  # a formula with a right form beside it
        ("G-C3", "G-C9"),  # smaller than the baselines
        ("G-T2", "G-T3", "G-T4", "G-S86"),  # an error term that serves any mu; one that does not is proved
        ("G-FIG3A", "G-FIG3B", "G-FIG3C", "G-FIG3D"),  # the error itself is no line
        ("G-A1", "G-A3"),  # what is clipped before the noise is added
        ("G-SGD1", "G-SGD2"),  # with noise, in a setting that is not stated
        ("F2", "F23"),  # a looser bound taken for a smaller amplification
        ("F14", "F17"),  # whole messages, where pairs are meant
        ("F8", "F16"),  # a wrong number or order beside which the right one is computed
        ("F11", "F21"),  # Theorem 4's composition
        ("E1", "E2", "E3"),  # a printed number, by noise that repeats, at a privacy that the protocols do not have
    ],
)
def test_the_same_defect_has_the_same_verdict(alike):
    assert len({registry()[name].verdict for name in alike}) == 1


def page_of(claim):
    """What the page that settles a claim says and computes: its notebook, and the module beside it."""
    notebook = registry()[claim["id"]].notebook
    paths = [ROOT / "notebooks" / name for name in (f"{notebook}.ipynb", f"p{notebook}.py")]
    return "".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())


def names_of(claim, page):
    """How a page may name a claim: by its id, as the paper does (Lemma 1, eq. (14), Table 3), or by its own page."""
    numbered = r"(?:Theorem|Lemma|Definition|Fact|Corollary|Algorithm|Table|Figure) \d+|\(\d+\)"
    notebook = registry()[claim["id"]].notebook
    elsewhere = [notebook] if notebook not in ("", page) else []
    return [claim["id"], *re.findall(numbered, claim["location"]), *elsewhere]


@pytest.mark.parametrize("claim", by_id([c for c in CLAIMS if c.get("rests_on")]))
def test_what_a_claim_rests_on_is_named_where_it_is_settled(claim):
    known = {one["id"]: one for one in CLAIMS}
    said = page_of(claim) + claim["quote"] + claim["location"]
    page = registry()[claim["id"]].notebook
    assert [o for o in claim["rests_on"] if not any(name in said for name in names_of(known[o], page))] == []


@pytest.mark.parametrize("claim", by_id([c for c in CLAIMS if c.get("was")]))
def test_an_earlier_standard_says_what_the_verdict_was_and_why_it_was_changed(claim):
    for old in claim["was"]:
        assert set(old) >= {"until", "verdict", "why"}
        assert set(old) & {"quantity", "comparator", "tolerance"}
        assert old["verdict"] in VERDICTS
        assert old["why"].strip().endswith(".")


def test_what_a_claim_rests_on_is_in_the_registry_and_leads_back_to_nothing():
    graph = {claim["id"]: claim.get("rests_on", []) for claim in CLAIMS}
    assert {name for rests in graph.values() for name in rests} <= set(graph)
    list(TopologicalSorter(graph).static_order())  # raises where it goes round


@pytest.mark.parametrize("claim", by_id([c for c in CLAIMS if "tolerance" in c]))
def test_tolerance_has_numbers_and_a_reason(claim):
    tolerance = dict(claim["tolerance"])
    assert tolerance.pop("why").strip()
    assert WRITTEN.fullmatch(own := tolerance.pop("standard", "2026-01-01, after"))
    assert own != registry()[claim["id"]].standard
    assert tolerance
    assert set(tolerance) <= TOLERANCES
    for value in tolerance.values():
        assert isinstance(value, int | float)
        assert not isinstance(value, bool)
        assert value > 0


def test_references_have_unique_keys_and_the_essential_fields():
    # pybtex raises on a repeated key, so parsing is the test of uniqueness.
    entries = parse_file(str(REFERENCES), bib_format="bibtex").entries
    assert {"chen2024generalized", "canonne2022doona", "liu2021flame"} <= set(entries)
    for key, entry in entries.items():
        assert entry.persons.get("author"), f"{key}: no author"
        assert entry.fields.get("title"), f"{key}: no title"
        assert re.fullmatch(r"\d{4}", entry.fields.get("year", "")), f"{key}: no year"

"""The claims registry and the bibliography: complete, well formed, quotes verbatim."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml
from pybtex.database import parse_file

from gspa.book.text import plain

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = ROOT / "gspa" / "book" / "registry.yaml"
REFERENCES = ROOT / "book" / "references.bib"

FIELDS = {"id", "paper", "location", "title", "quote", "kind", "notebook", "tolerance", "verdict"}
NEEDS = {"size", "data"}
KINDS = {"definition", "formula", "theorem", "figure", "experiment", "qualitative"}
VERDICTS = {
    "verified",
    "holds with correction",
    "refuted",
    "not reproduced",
    "not checkable",
    "not yet checked",
}
TOLERANCES = {
    "accuracy",
    "confidence",
    "eps",
    "exponent",
    "percent",
    "r_squared_min",
    "ratio_min",
    "relative",
    "slope",
}
NOTEBOOKS = [
    "01_local_privacy",
    "02_hypothesis_testing",
    "03_dominating_pairs",
    "04_decomposition",
    "05_reduction_to_counts",
    "06_normal_approximation",
    "07_gaussian_guarantee",
    "08_comparison",
    "09_personalized",
    "10_mean",
    "11_frequency",
    "12_shuffled_sgd",
    "13_clones",
    "14_learning_and_testing",
    "15_flame_privacy",
    "16_flame_training",
    "17_exact_accounting",
    "18_composition_and_renyi",
    "19_auditing",
]
# The AAAI text and the arXiv text are two versions of one paper; a quote may come from either.
PAPERS = {
    "gspa": ["gspa-aaai2024.md", "gspa-arxiv-text.txt"],
    "clones": ["clones-blog-2022.txt"],
    "flame": ["flame-aaai2021.txt"],
}
ID_PATTERNS = {
    "gspa": re.compile(r"G-(D|E|F|L|T|C|A|SGD)\d+[pr]?|G-TAB\d|G-FIG\d[A-D]?|G-FW"),
    "clones": re.compile(r"B-\d+"),
    "flame": re.compile(r"[FEQ]\d+"),
}
REQUIRED = [
    *(f"G-D{i}" for i in range(1, 7)),
    *(f"G-F{i}" for i in range(1, 5)),
    *(f"G-L{i}" for i in range(1, 5)),
    *(f"G-T{i}" for i in range(1, 6)),
    *(f"G-A{i}" for i in range(1, 4)),
    *(f"G-C{i}" for i in range(1, 5)),
    *(f"G-SGD{i}" for i in range(1, 6)),
    *("G-E4", "G-T2p", "G-TAB2", "G-FIG2", "G-FIG3A", "G-FIG3B", "G-FW"),
    *(f"B-{i}" for i in range(1, 15)),
    *(f"F{i}" for i in range(1, 16)),
    *(f"E{i}" for i in range(1, 11)),
    *("Q1", "Q2"),
]
CLAIMS = yaml.safe_load(REGISTRY.read_text(encoding="utf-8"))


def by_id(claims: list[dict]) -> list:
    return [pytest.param(claim, id=str(claim.get("id"))) for claim in claims]


def collapse(text: str) -> str:
    """The text without white space and without the marks around formulas."""
    marks = r"\\tag\{\w+\}|\\[\[\]()]|\\(begin|end)\{equation\}|\$"
    return "".join(re.sub(marks, "", text).split())


def test_ids_are_unique():
    ids = [claim["id"] for claim in CLAIMS]
    assert sorted({i for i in ids if ids.count(i) > 1}) == []


def test_every_required_claim_is_present():
    assert sorted(set(REQUIRED) - {claim["id"] for claim in CLAIMS}) == []


def test_quotes_are_unique_and_say_something():
    quotes = [collapse(claim["quote"]) for claim in CLAIMS]
    assert len(set(quotes)) == len(quotes)
    assert min(map(len, quotes)) >= 25


def test_papers_come_one_after_the_other():
    papers = [claim["paper"] for claim in CLAIMS]
    assert papers == sorted(papers, key=list(PAPERS).index)


@pytest.mark.parametrize("claim", by_id(CLAIMS))
def test_fields_and_vocabularies(claim):
    assert set(claim) - {"needs"} == FIELDS
    assert set(claim.get("needs", [])) <= NEEDS
    assert claim["paper"] in PAPERS
    assert ID_PATTERNS[claim["paper"]].fullmatch(claim["id"])
    assert claim["kind"] in KINDS
    assert claim["notebook"] in NOTEBOOKS
    assert claim["verdict"] in VERDICTS
    for field in ("location", "title", "quote"):
        assert isinstance(claim[field], str)
        assert claim[field] == claim[field].strip() != ""
    assert len(plain(claim["title"])) <= 70


@pytest.mark.parametrize("claim", by_id([c for c in CLAIMS if c["tolerance"] is not None]))
def test_tolerance_has_numbers_and_a_reason(claim):
    tolerance = dict(claim["tolerance"])
    assert tolerance.pop("why").strip()
    assert tolerance
    assert set(tolerance) <= TOLERANCES
    for value in tolerance.values():
        assert isinstance(value, int | float)
        assert not isinstance(value, bool)
        assert value > 0


@pytest.fixture(scope="module")
def paper_texts():
    folder = os.environ.get("GSPA_PAPERS_DIR")
    if not folder:
        pytest.skip("GSPA_PAPERS_DIR is not set: the papers' texts are not part of the repository")
    return {
        paper: [collapse((Path(folder) / name).read_text(encoding="utf-8")) for name in names]
        for paper, names in PAPERS.items()
    }


@pytest.mark.parametrize("claim", by_id(CLAIMS))
def test_quote_is_verbatim(claim, paper_texts):
    quote = collapse(claim["quote"])
    assert any(quote in text for text in paper_texts[claim["paper"]]), f"not in the paper: {quote}"


def test_references_have_unique_keys_and_the_essential_fields():
    # pybtex raises on a repeated key, so parsing is the test of uniqueness.
    entries = parse_file(str(REFERENCES), bib_format="bibtex").entries
    assert {"chen2024generalized", "canonne2022doona", "liu2021flame"} <= set(entries)
    for key, entry in entries.items():
        assert entry.persons.get("author"), f"{key}: no author"
        assert entry.fields.get("title"), f"{key}: no title"
        assert re.fullmatch(r"\d{4}", entry.fields.get("year", "")), f"{key}: no year"

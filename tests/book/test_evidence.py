"""Where errors are planted, and the verdicts for machines."""

from __future__ import annotations

import json
import re
from pathlib import Path

from gspa.book import evidence
from gspa.book.cards import Found
from gspa.book.claims import Outcome, registry
from gspa.book.project import Project

ROOT = Path(__file__).resolve().parents[2]
FOUND = Found({"G-C3": Outcome("G-C3", "refuted", r"Off at $\epsilon$ = 1.", {"points": 3})}, {"08_comparison"})


def test_each_claim_that_can_fail_has_a_planted_error():
    settled = [name for name, one in registry().items() if one.notebook and one.verdict != "illustrated"]
    places = evidence.tests_of(Project(ROOT))
    assert [name for name in settled if name not in places] == []
    assert all(re.fullmatch(r"tests/pages/test_p\w+\.py:\d+", place) for place in places.values())


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

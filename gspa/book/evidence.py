"""Where an error is planted for each claim, and the verdicts for machines."""

from __future__ import annotations

import json
import re
from typing import Any

from gspa.book import text
from gspa.book.cards import Found
from gspa.book.claims import Claim
from gspa.book.project import Project


def tests_of(project: Project) -> dict[str, str]:
    """Claims to the test file, and its line, that plants an error for it."""
    places: dict[str, str] = {}
    for path in sorted((project.root / "tests" / "pages").glob("test_p*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        first = next((i for i, line in enumerate(lines) if line.startswith("PLANTED")), len(lines))
        for number, line in enumerate(lines[first:], first + 1):
            for name in re.findall(r"\b(?:G|B|N)-[A-Z0-9]+[pr]?\b|\b[FEQ]\d+\b", line):
                places.setdefault(name, f"{path.relative_to(project.root).as_posix()}:{number}")
    return places


def linked_data(found: Found) -> str:
    """Every verdict as a schema.org ClaimReview, keyed by the papers' identifiers (JSON-LD)."""
    reviews = []
    for entry in found.registry.values():
        outcome = found.outcomes.get(entry.id)
        where, named = entry.appeared
        reviews.append(
            {
                "@type": "ClaimReview",
                "@id": f"{where}#{entry.id}",
                "url": found.where(entry),
                "claimReviewed": text.plain(entry.quote),
                "itemReviewed": {
                    "@type": "Claim",
                    "name": text.plain(entry.title),
                    "appearance": {"@type": "ScholarlyArticle", "@id": where, "name": text.plain(named)},
                },
                "reviewRating": _rating(found, entry),
                "reviewBody": text.plain(outcome.reason if outcome else entry.reason),
                **_standard(entry),
            }
        )
    return json.dumps({"@context": "https://schema.org", "@graph": reviews}, indent=1, ensure_ascii=False) + "\n"


def _rating(found: Found, entry: Claim) -> dict[str, str]:
    rating = {"@type": "Rating", "alternateName": found.verdict(entry)}
    return rating | ({"ratingExplanation": said} if (said := found.agreeing(entry)) else {})


def _standard(entry: Claim) -> dict[str, Any]:
    if not entry.standard:
        return {}
    return {
        "measurementTechnique": text.plain(f"{entry.quantity}, against {entry.comparator}"),
        "datePublished": entry.standard.split(", ")[0],
    }

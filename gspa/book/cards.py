"""The pages that are made of all cards: templates filled with claims, errata and outcomes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from gspa.book import claims, say, text
from gspa.book.claims import PAPERS, SHORT, Claim, Outcome
from gspa.book.fill import fill
from gspa.book.verdicts import VERDICTS

# What a reader should know first, by weight: what is broken, what stands with another number, what holds.
HEADLINES = ("G-T5", "G-T2p", "G-T3", "F12", "E2", "G-C4", "G-C3", "G-SGD3")
REPORTS = ("gspa", "clones", "flame")
"""The papers that have a report for reviewers."""
# The headings of a report by verdict.
_LEFT = {
    "refuted": "Also refuted",
    "not reproduced": "Also not reproduced",
    "holds with correction": "Also in need of a correction",
    "verified": "What holds as printed",
    "not checkable": "What could not be checked",
    "not yet checked": "Not checked in this build",
}
_SECTION = re.compile(r"^## What differs from the papers?\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
# Between two sentences; a number's point has no space behind it.
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z$])")
# A link to another notebook, as the notebooks write it: beside their own file.
_LINK = re.compile(r"\]\((?=\w+\.ipynb)")


class Asked(NamedTuple):
    """A question that readers bring: what it is about, the figure that answers it, its claim, in which reading."""

    about: str
    figure: str
    claim: str
    reading: str = ""


STRIP = (
    Asked(
        "Theorem 2",
        "figure-theorem-2-map",
        "G-T2",
        "without the slack, as Figure 2 and the word 'approximately' have it",
    ),
    Asked("Figure 2", "figure-2", "G-C3"),
    Asked("Figure 4", "figure-4", "G-SGD3"),
)
"""What stands on the first page: a picture each, and the verdict."""


class Found:
    """What this build's notebooks found, as the templates ask for it."""

    def __init__(self, outcomes: Mapping[str, Outcome], pages: Collection[str]) -> None:
        self.outcomes, self.pages = outcomes, pages
        self.registry = claims.registry()

    @cached_property
    def _given(self) -> dict[str, str]:
        return {name: claims.verdict_of(name, self.outcomes) for name in self.registry}

    def verdict(self, entry: Claim) -> str:
        return self._given[entry.id]

    def agreeing(self, entry: Claim) -> str:
        """In how many of its readings a claim's verdict stands; empty where it is in all."""
        return self.outcomes[entry.id].agreeing if entry.id in self.outcomes else ""

    def words(self, entry: Claim) -> str:
        """A claim's verdict, and in how many readings it stands."""
        return self.outcomes[entry.id].words if entry.id in self.outcomes else self.verdict(entry)

    def divided(self, paper: str = "") -> str:
        """How many verdicts do not stand in all readings: a table of numbers has no room for each."""
        many = sum(bool(self.agreeing(one)) for one in self.of(paper))
        stand = "verdict stands" if many == 1 else "verdicts stand"
        return f"{many} {stand} only in some readings of an unclear sentence." if many else ""

    def of(self, paper: str = "", verdict: str = "") -> list[Claim]:
        """The claims of a paper and a verdict; of all where one is not given."""
        return [
            one for one in self.registry.values() if paper in ("", one.paper) and verdict in ("", self.verdict(one))
        ]

    @property
    def verdicts(self) -> list[str]:
        """Those that some claim has, in their order."""
        return [verdict for verdict in VERDICTS if self.of(verdict=verdict)]

    def where(self, entry: Claim) -> str:
        """Where a claim is shown: on its notebook's page if this build settled it, else on the claims page."""
        carded = entry.id in self.outcomes and entry.notebook in self.pages
        return f"notebooks/{entry.notebook}.html#card-{entry.id}" if carded else f"claims.html#{entry.id}"

    def headlines(self) -> list[tuple[Claim, Outcome]]:
        """The headlines that this build settled."""
        settled = [(self.registry[name], self.outcomes[name]) for name in HEADLINES if name in self.outcomes]
        return [(entry, one) for entry, one in settled if one.verdict != "not yet checked"]

    def found(self, asked: Asked) -> str:
        """The first sentence of what was found; empty where no page of this build has a card."""
        if asked.claim not in self.outcomes:
            return ""
        one = self.outcomes[asked.claim]
        read = [reading.found for reading in one.readings if reading.name == asked.reading]
        return _SENTENCE.split([*read, one.reason][0], maxsplit=1)[0]

    def among(self, entries: Iterable[Claim], verdict: str) -> list[Claim]:
        """Those of the entries that have a verdict."""
        return [one for one in entries if self.verdict(one) == verdict]

    def grave(self, paper: str) -> list[Claim]:
        """A paper's claims that fail where it changes a conclusion, and its headlines that do not hold as printed."""
        entries = [self.registry[name] for name in dict.fromkeys([*HEADLINES, *_conclusions()])]
        failed = ("refuted", "not reproduced")
        here = [(one, self.verdict(one)) for one in entries if one.paper == paper]
        return [one for one, verdict in here if verdict in failed or (one.id in HEADLINES and verdict != "verified")]

    def weighed(self, paper: str) -> list[Claim]:
        """Its other claims that a page settles, those first whose error changes a conclusion."""
        grave, changing = self.grave(paper), _conclusions()
        rest = [one for one in self.of(paper) if not one.reason and one not in grave]
        return sorted(rest, key=lambda one: one.id not in changing)

    def corrected(self, paper: str = "") -> list[tuple[Claim, Outcome]]:
        """Claims that hold with a correction."""
        return [(one, self.outcomes[one.id]) for one in self.of(paper, "holds with correction")]


def _conclusions() -> list[str]:
    """Claims with an erratum that changes a conclusion, in the errata's order."""
    return [one.claim for one in claims.errata() if one.weight == "conclusion"]


def parts(found: Found, executed: Iterable[Path]) -> dict[str, str]:
    """The generated parts of the book's pages (MyST Markdown), by name."""
    names = ("dashboard", "findings", "claims", "corrections", "errata", "standards")
    errata = claims.errata()
    shown = sum(one.row(found.outcomes) is not None for one in errata)
    values = {"found": found, "errata": errata, "shown": shown, "standards": standards()}
    values |= {"PAPERS": PAPERS, "SHORT": SHORT, "READING": claims.READING, "WEIGHTS": claims.WEIGHTS}
    values["LEFT"] = _LEFT
    made = {name: fill(f"{name}.md", **values) for name in names}
    made |= {
        f"report-{part}-{paper}": fill(f"report_{part}.md", paper=paper, **values)
        for paper in REPORTS
        for part in ("scope", "results")
    }
    made |= {
        f"report-standards-{paper}": fill("standards.md", **{**values, "standards": standards(paper)})
        for paper in REPORTS
    }
    return made | {"departures": departures(executed)}


def strip(found: Found, alts: Mapping[str, str]) -> str:
    """The first page's pictures, by name what each shows, with their verdicts (MyST Markdown)."""
    return fill("strip.md", found=found, strip=STRIP, alts=alts)


def standards(paper: str = "") -> dict[str, Any]:
    """How many standards were written when, and the claims whose standard was changed since."""
    judged = [one for one in claims.registry().values() if not one.reason and paper in ("", one.paper)]
    limits = [one.tolerance.get("standard", one.standard) for one in judged if one.tolerance]
    return {
        "comparators": Counter(one.standard.split(", ")[1] for one in judged),
        "tolerances": Counter(standard.split(", ")[1] for standard in limits),
        "changed": [one for one in judged if one.was],
    }


def index(found: Found) -> str:
    """A script with all claims as a search looks through them: what they say, where, and the verdict."""
    rows = [
        {
            "id": entry.id,
            "title": text.plain(entry.title),
            "paper": SHORT[entry.paper],
            "place": text.plain(entry.location),
            "words": text.plain(" ".join([entry.quote, *_said(found.outcomes.get(entry.id))])),
            "verdict": found.words(entry),
            "url": found.where(entry),
        }
        for entry in found.registry.values()
    ]
    return f"const GSPA_CLAIMS = {json.dumps(rows, ensure_ascii=False)};\n"


def rows(found: Found, tests: Mapping[str, str]) -> dict[str, str]:
    """By file name, a script for each claim that hands what its row unfolds to over to the claims page."""
    made = {}
    for entry in found.registry.values():
        above = [one for one in found.registry.values() if entry.id in one.rests_on]
        html = fill("claim.html", found=found, entry=entry, above=above, test=tests.get(entry.id), root="notebooks/")
        made[f"{entry.id}.js"] = f"gspaClaim({json.dumps(entry.id)}, {json.dumps(html, ensure_ascii=False)});\n"
    return made


def _said(outcome: Outcome | None) -> list[str]:
    return [outcome.reason, outcome.correction] if outcome else []


def departures(executed: Iterable[Path]) -> str:
    """What each page says under "What differs from the paper" (MyST Markdown), a heading a page."""
    shown = []
    for path in executed:
        if section := _SECTION.search(prose(json.loads(path.read_text(encoding="utf-8")))):
            shown += [f"### [](notebooks/{path.name})", "", _LINK.sub("](notebooks/", section.group(1).strip()), ""]
    return "\n".join(shown)


def prose(notebook: Mapping[str, Any]) -> str:
    """An executed notebook's text: its Markdown cells, and what its %%say cells said."""
    found = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            found.append("".join(cell["source"]))
        for output in cell.get("outputs", []):
            if say.MIME in output.get("data", {}):
                found.append("".join(output["data"]["text/markdown"]))
    return "\n\n".join(found)


def faults(found: Mapping[str, Outcome]) -> list[str]:
    """Errata whose check settled its claim without the row that they point to, a line each."""
    return [
        f"erratum {one.number}: the evidence of {one.claim} has no row {one.evidence!r}"
        for one in claims.errata()
        if one.evidence != claims.READING
        and claims.verdict_of(one.claim, found) not in ("not yet checked", "not checkable")
        and one.row(found) is None
    ]

"""The errata of the three papers, as `errata.yaml` lists them, and the page that shows their evidence in this build."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from gspa._typeset import typeset
from gspa.claims.outcome import Outcome, math_html, prose_html, show, slug
from gspa.claims.registry import PAPERS, SHORT, claim, registry
from gspa.errors import InvalidValue

NOT_SHOWN = "not shown by this build"
READING = "(by reading)"
"""The evidence of a misprint that the text itself shows and no number could."""


@dataclass(frozen=True)
class Erratum:
    """One misprint or false statement; `evidence` is a row of what the check of `claim` computes, or `READING`."""

    number: int
    paper: str
    claim: str
    place: str
    printed: str
    right: str
    evidence: str


@cache
def errata() -> tuple[Erratum, ...]:
    """Every erratum, in the papers' order."""
    return read(files("gspa.claims").joinpath("errata.yaml").read_text(encoding="utf-8"))


def read(text: str) -> tuple[Erratum, ...]:
    """The entries of a YAML text, checked.

    Raises:
        InvalidValue: a field that is missing, unknown or empty, a number used twice, a paper that is not the claim's.
        UnknownName: no such claim.
    """
    names = [field.name for field in fields(Erratum)]
    found: list[Erratum] = []
    for raw in yaml.safe_load(text) or []:
        # Whitespace in a block scalar is layout, not text.
        entry: dict[str, Any] = {k: " ".join(v.split()) if isinstance(v, str) else v for k, v in raw.items()}
        if sorted(entry) != sorted(names) or not all(entry.values()):
            raise InvalidValue("erratum", raw, "a mapping of " + ", ".join(names) + ", none empty")
        one = Erratum(**entry)
        if one.paper != claim(one.claim).paper:
            raise InvalidValue(f"erratum {one.number}: paper", one.paper, f"that of {one.claim}")
        found.append(one)
    numbers = [one.number for one in found]
    for number in numbers:
        if type(number) is not int or number < 1 or numbers.count(number) > 1:
            raise InvalidValue("erratum number", number, "a whole number >= 1 of its own")
    return tuple(found)


def evidence_of(erratum: Erratum, outcome: Outcome | None) -> tuple[str, object] | None:
    """The row of an outcome's evidence that an erratum points to.

    It has that label, or is the only one whose label begins so, `*` standing for any characters: sizes vary.
    """
    if outcome is None:
        return None
    if erratum.evidence in outcome.evidence:
        return erratum.evidence, outcome.evidence[erratum.evidence]
    pattern = re.compile(".*".join(map(re.escape, erratum.evidence.split("*"))))
    rows = [(label, value) for label, value in outcome.evidence.items() if pattern.match(label)]
    return rows[0] if len(rows) == 1 else None


def faults(entries: Iterable[Erratum], outcomes: Mapping[str, Outcome]) -> list[str]:
    """Errata whose check settled its claim without the row that they point to, a line each."""
    return [
        f"erratum {one.number}: the evidence of {one.claim} has no row {one.evidence!r}"
        for one in entries
        if one.claim in outcomes
        and one.evidence != READING
        and outcomes[one.claim].verdict != "not yet checked"
        and evidence_of(one, outcomes[one.claim]) is None
    ]


def errata_page(
    outcomes: Mapping[str, Outcome], pages: Collection[str], entries: Iterable[Erratum] | None = None
) -> str:
    """The body of the errata page: a table a paper, every erratum a row with an anchor.

    Args:
        outcomes: what this build's notebooks found, by claim id.
        pages: notebook names that the book contains; a card on another page is not linked.
        entries: the errata, or None for those of `errata.yaml`.
    """
    listed = list(errata() if entries is None else entries)
    shown = sum(evidence_of(one, outcomes.get(one.claim)) is not None for one in listed)
    parts = [f"{len(listed)} entries; this build computed the evidence of {shown}.", ""]
    for paper, title in PAPERS.items():
        rows = [_row(one, outcomes.get(one.claim), pages) for one in listed if one.paper == paper]
        if rows:
            parts += [
                f"## {title}",
                "",
                "```{raw} html",
                f"<div class='gspa-scroll' tabindex='0' role='region' aria-label='Errata: {SHORT[paper]}'>"
                "<table class='gspa-claims gspa-errata'>",
                "<thead><tr><th scope='col'>Place</th><th scope='col'>Printed, and right</th>"
                "<th scope='col'>Evidence and verdict</th></tr></thead><tbody>",
                *rows,
                "</tbody></table></div>",
                "```",
                "",
            ]
    return "\n".join(parts)


def _row(erratum: Erratum, outcome: Outcome | None, pages: Collection[str]) -> str:
    entry = registry()[erratum.claim]
    verdict = outcome.verdict if outcome else "not yet checked"
    row = evidence_of(erratum, outcome)
    found = NOT_SHOWN if row is None else f"{typeset(row[0])}: {typeset(show(row[1]))}"
    if erratum.evidence == READING:
        found = "by reading: the text contradicts itself or its own notation"
    # The card carries all of the evidence; without one the claims page says why.
    carded = outcome is not None and entry.notebook in pages
    where = f"notebooks/{entry.notebook}.html#card-{entry.id}" if carded else f"claims.html#{entry.id}"
    return (
        f"<tr id='erratum-{erratum.number}'><th scope='row'>{erratum.number}<br>"
        f"<span class='gspa-kind'>{prose_html(erratum.place)}</span></th>"
        f"<td><p><strong>Printed:</strong> {math_html(erratum.printed)}</p>"
        f"<p><strong>Right:</strong> {prose_html(erratum.right)}</p></td>"
        f"<td class='gspa-{slug(verdict)}'><p>{found}</p>"
        f"<p><span class='gspa-verdict'>{verdict}</span> <a href='{where}'>{entry.id}</a></p></td></tr>"
    )

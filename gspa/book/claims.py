"""The papers' claims, the errata, and what a check finds: data, no pages.

A check is a function of a notebook's tables and of nothing else. The notebook calls it through `gspa.book.page.Page`,
which shows the outcome as a card; `gspa verify` reads the cards of executed notebooks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

import yaml

from gspa.accountant.errors import GspaError, InvalidValue, UnknownName
from gspa.book import text
from gspa.book.fill import fill

MIME = "application/vnd.gspa.outcome+json"
PAPERS = {
    "gspa": "A Generalized Shuffle Framework for Privacy Amplification (AAAI 2024)",
    "clones": "Hide among the clones (blog, 2022)",
    "flame": "FLAME (AAAI 2021)",
}
SHORT = {"gspa": "Framework", "clones": "Clones blog", "flame": "FLAME"}
"""Names of the papers for the heads of narrow columns."""
Verdict = Literal["verified", "holds with correction", "refuted", "not reproduced", "not checkable", "not yet checked"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Missing = Literal["size", "data", "settings"]
READING = "(by reading)"
"""The evidence of a misprint that the text itself shows and no number could."""

_WHY = {
    "size": "Needs the papers' own sizes; this run is a small one.",
    "data": "Needs MNIST; this run has another data set.",
}
Check = TypeVar("Check", bound=Callable[..., "Outcome"])


@dataclass(frozen=True)
class Claim:
    """One entry of the registry; `verdict` is the recorded one, which a run is compared with.

    Attributes:
        needs: what a run must have to settle it: "size", the papers' own sizes; "data", MNIST.
    """

    id: str
    paper: str
    location: str
    title: str
    quote: str
    kind: str
    notebook: str
    tolerance: Mapping[str, Any] | None
    verdict: Verdict
    needs: tuple[Missing, ...] = ()

    def lacks(self, had: Collection[str]) -> Outcome | None:
        """The outcome of a run that lacked something; None of one that had all."""
        for missing in self.needs:
            if missing not in had:
                return Outcome(self.id, "not yet checked", _WHY[missing], missing=missing)
        return None


def _entries(name: str) -> list[dict[str, Any]]:
    """The mappings of a YAML file beside this one; white space in a text is layout, not text."""
    raw: list[dict[str, Any]] = yaml.safe_load(files("gspa.book").joinpath(name).read_text(encoding="utf-8"))
    return [{k: " ".join(v.split()) if isinstance(v, str) else v for k, v in entry.items()} for entry in raw]


@cache
def registry() -> dict[str, Claim]:
    """Every claim by id, in the papers' order."""
    entries = _entries("registry.yaml")
    return {one["id"]: Claim(**cast("Any", one | {"needs": tuple(one.get("needs", ()))})) for one in entries}


def claim(identifier: str) -> Claim:
    """One claim; the nearest id is suggested when there is none of that name."""
    if identifier not in registry():
        raise UnknownName("claim", identifier, registry())
    return registry()[identifier]


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    Attributes:
        claim: the registry's id.
        verdict: one of `VERDICTS`.
        reason: one or two sentences, numbers included, in Markdown.
        evidence: label (Markdown) to number or text, in the order to show; Monte-Carlo numbers carry their error.
        correction: the corrected statement, where the printed one needs one.
        missing: why the claim could not be settled in this run ("size", "data", "settings"); empty when it was.
    """

    claim: str
    verdict: Verdict
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    correction: str = ""
    missing: Missing | Literal[""] = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InvalidValue("verdict", self.verdict, "one of " + ", ".join(VERDICTS))
        if (self.verdict == "holds with correction") != bool(self.correction):
            raise InvalidValue("correction", self.correction, "given exactly when the verdict needs one")
        if self.missing and self.verdict != "not yet checked":
            raise InvalidValue("missing", self.missing, "empty unless the verdict is 'not yet checked'")
        if self.verdict not in ("not yet checked", "not checkable") and not self.evidence:
            raise InvalidValue("evidence", dict(self.evidence), "not empty: a verdict needs its numbers")

    def differs(self) -> bool:
        """Whether it contradicts the record. A run that lacked something contradicts nothing."""
        return not self.missing and self.verdict != claim(self.claim).verdict

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain JSON data; the evidence as pairs, which keep their order in a sorted file."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        plain: dict[str, Any] = json.loads(json.dumps(found | {"evidence": list(self.evidence.items())}))
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcome:
        """The inverse of `to_dict`."""
        return cls(**{**data, "evidence": dict(data["evidence"])})

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {
            "text/plain": text.plain(f"{self.claim}: {self.verdict}. {self.reason}"),
            "text/html": fill("card.html", entry=claim(self.claim), outcome=self),
            MIME: self.to_dict(),
        }


def settles(identifier: str) -> Callable[[Check], Check]:
    """Mark a function as the check of one claim."""

    def mark(function: Check) -> Check:
        function.claim = identifier  # type: ignore[attr-defined]
        return function

    return mark


def settle(check: Callable[..., Outcome], *tables: Any, had: Collection[str], changed: Collection[str]) -> Outcome:
    """The outcome of a check on a page's tables.

    Args:
        check: marked by `settles`.
        tables: what it takes.
        had: "size" if the page has the papers' own sizes, "data" if it has MNIST.
        changed: parameters that differ from what the paper states; with any, the run is another experiment and settles
            nothing.
    """
    entry = claim(check.claim)  # type: ignore[attr-defined]
    if changed:
        reason = f"This run changed what the paper states: {', '.join(changed)}."
        return Outcome(entry.id, "not yet checked", reason, missing="settings")
    if (lacking := entry.lacks(had)) is not None:
        return lacking
    outcome = check(*tables)
    if outcome.claim != entry.id:
        raise GspaError(f"the check of {entry.id} returned an outcome of {outcome.claim}")
    return outcome


def outcomes(paths: Iterable[Path]) -> dict[str, Outcome]:
    """The outcomes that executed notebooks show on their cards, by claim id."""
    found = {}
    for path in paths:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", []):
                if (data := output.get("data", {}).get(MIME)) is not None:
                    found[data["claim"]] = Outcome.from_dict(data)
    return found


def verdict_of(name: str, found: Mapping[str, Outcome]) -> Verdict:
    """The verdict on a claim; one that no page settled is not yet checked."""
    return found[name].verdict if name in found else "not yet checked"


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

    def row(self, found: Mapping[str, Outcome]) -> tuple[str, object] | None:
        """The row of evidence that it points to: of that label, or the only one whose label begins so.

        `*` stands for any characters: sizes vary.
        """
        if self.claim not in found:
            return None
        rows = found[self.claim].evidence
        if self.evidence in rows:
            return self.evidence, rows[self.evidence]
        pattern = re.compile(".*".join(map(re.escape, self.evidence.split("*"))))
        fitting = [(label, value) for label, value in rows.items() if pattern.match(label)]
        return fitting[0] if len(fitting) == 1 else None


@cache
def errata() -> tuple[Erratum, ...]:
    """Every erratum, in the papers' order."""
    return tuple(Erratum(**entry) for entry in _entries("errata.yaml"))

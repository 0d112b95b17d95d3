"""The papers' claims, what others printed since, the errata, and what a check finds: data, no pages.

A check is a function of a notebook's tables and of nothing else. The notebook calls it through `gspa.book.page.Page`,
which shows the outcome as a card; `gspa verify` reads the cards of executed notebooks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import date
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from gspa.accountant.errors import InvalidValue, UnknownName
from gspa.book import parameters, project, say, text
from gspa.book.fill import fill
from gspa.book.verdicts import OPEN, Holds, Reading, Verdict, best, follows

MIME = "application/vnd.gspa.outcome+json"
PAPERS = {
    "gspa": "A Generalized Shuffle Framework for Privacy Amplification (AAAI 2024)",
    "clones": "Hide among the clones (blog, 2022)",
    "flame": "FLAME (AAAI 2021)",
    "since": "Since then: what others say of shuffled batches",
}
DOIS = {
    "gspa": "https://doi.org/10.1609/aaai.v38i10.29005",
    "clones": "https://differentialprivacy.org/privacy-doona/",
    "flame": "https://doi.org/10.48550/arXiv.2009.08063",
}
"""The papers' identifiers; the blog has an address only, and of what came since each claim has its own."""
SHORT = {"gspa": "Framework", "clones": "Clones blog", "flame": "FLAME", "since": "Later work"}
"""Names of the papers for the heads of narrow columns."""
LETTERS = {"G": "gspa", "B": "clones", "F": "flame", "E": "flame", "Q": "flame", "N": "since"}
"""The paper of a claim, by the first letter of its id."""
Missing = Literal["size", "data", "settings"]
Weight = Literal["conclusion", "number", "misprint"]
WEIGHTS: dict[Weight, str] = {
    "conclusion": "What changes a conclusion",
    "number": "What changes a number",
    "misprint": "Misprints",
}
"""What an erratum does to its paper, gravest first, and the heading it stands under."""
WRITTEN = {
    "before": "before any verdict on the claim was recorded",
    "with": "in the commit that first records a verdict on it",
    "after": "after a verdict on it was recorded",
}
"""When a standard was written, by the repository's history."""
FIRST = "2026-11-22, after"
FIRST_TOLERANCES = "2026-11-21, before"
"""The standard of a claim that states none, as most do, and that of its tolerance."""
READING = "(by reading)"
"""The evidence of a misprint that the text itself shows and no number could."""

# Words in the names of evidence that a card shows as the papers write them.
_SIGNS = {
    "epsilon": r"$\epsilon$",
    "eps": r"$\epsilon$",
    "delta": r"$\delta$",
    "mu": r"$\mu$",
    "nu": r"$\nu$",
    "beta": r"$\beta$",
    "r squared": "$R^2$",
    "eq 1": "eq. (1)",
    "eq 2": "eq. (2)",
    "eq 3": "eq. (3)",
    "gaussian": "Gaussian",
    "poisson": "Poisson",
    "canonne": "Canonne",
    "mironov": "Mironov",
    "np fl": "NP-FL",
    "dp fl": "DP-FL",
    "ldp fl": "LDP-FL",
    "ss simple": "SS-Simple",
    "ss double": "SS-Double",
    "ss topk": "SS-Topk",
}
_WORD = re.compile(rf"\b({'|'.join(_SIGNS)})\b")

_WHY = {
    "size": "Needs the papers' own sizes; this run is a small one.",
    "data": "Needs MNIST; this run has another data set.",
}
_IN_THE_CELL = "the statement that the cell of this card tries beside the printed one."


@dataclass(frozen=True)
class Claim:
    """One entry of the registry; `verdict` is the recorded one, which a run is compared with.

    Attributes:
        notebook: the page that settles it, which its schema says; "" where none does.
        quantity: what of ours is looked at.
        comparator: what it is held against.
        tolerance: numbers, `why`, and `standard` where that is not the claim's; empty where the comparison is exact.
        standard: the day from which quantity and comparator stand, ISO, and one of `WRITTEN`, after a comma; empty
            where nothing is compared.
        needs: what a run must have to settle it: "size", the papers' own sizes; "data", MNIST; else a condition on
            the page's parameters, such as `n_max >= 10000`, or on the cell's evidence, such as `trained.seeds >= 12`.
        readings: the ways to read it, by the name that its cell uses: the verdict on record and the words for it, which
            are filled from the cell's evidence. Of one way alone the name is empty, and the entry has them itself.
        evidence: name in the cell to label on the card.
        was: standards that it had before, each with the day it ended, the verdict under it, and why it was changed.
        rests_on: claims that its check uses, or that the paper's own argument for it uses.
        reason: why no page can settle it; empty where one can.
        address: of the public source, for a claim of none of the three papers.
    """

    id: str
    location: str
    title: str
    quote: str
    notebook: str = ""
    verdict: Verdict = "not yet checked"
    quantity: str = ""
    comparator: str = ""
    tolerance: Mapping[str, Any] = field(default_factory=dict)
    standard: str = ""
    needs: tuple[str, ...] = ()
    was: tuple[Mapping[str, Any], ...] = ()
    rests_on: tuple[str, ...] = ()
    reason: str = ""
    address: str = ""
    readings: Mapping[str, Reading] = field(default_factory=dict)
    evidence: Mapping[str, str] = field(default_factory=dict)

    @property
    def paper(self) -> str:
        """A key of `PAPERS`."""
        return LETTERS[self.id[0]]

    @property
    def appeared(self) -> tuple[str, str]:
        """Identifier and name of what says it."""
        return (self.address, self.location) if self.address else (DOIS[self.paper], PAPERS[self.paper])

    @property
    def history(self) -> str:
        """When its standard was written, and whether a verdict was known then."""
        own = self.tolerance.get("standard")
        (day, when), *limits = (one.split(", ") for one in filter(None, (self.standard, own)))
        return f"{day}, {WRITTEN[when]}" + "".join(f"; the tolerance {day}, {WRITTEN[when]}" for day, when in limits)

    @property
    def correction(self) -> str:
        """The first one on record; empty where no reading needs any."""
        return next((one.correction for one in self.readings.values() if one.correction), "")

    def label(self, name: str) -> str:
        """What a card calls the evidence that the cell calls `name`."""
        return self.evidence.get(name) or _WORD.sub(lambda word: _SIGNS[word[0]], name.replace("_", " "))

    def lacks(self, had: Collection[str], values: Mapping[str, Any]) -> Outcome | None:
        """The outcome of a run that lacked something; None of one that had all. `values`: parameters and evidence."""
        for need in self.needs:
            if need in _WHY and need not in had:
                return Outcome(self.id, "not yet checked", _WHY[need], missing=cast("Missing", need))
            if need not in _WHY and not say.holds(need, values):
                return Outcome(self.id, "not yet checked", f"It needs a run with `{need}`.", missing="settings")
        return None

    def read(self, name: str, holds: Holds, values: Mapping[str, Any]) -> Reading:
        """What a run comes to in one reading, with the words on record if it comes to the same.

        The words may name the evidence, and `nth`: the reading's place, from 0.
        """
        on_record, verdict = self.readings[name], follows(holds)
        if verdict != on_record.verdict:
            found = f"In this run: {verdict}. On record, at the paper's numbers: {on_record.verdict}."
            correction = _IN_THE_CELL if verdict == "holds with correction" else ""
            return Reading(name, verdict, found, correction, on_record.excluded)
        known = {**values, "nth": [*self.readings].index(name)}
        found, correction = (say.render(words, known) for words in (on_record.found, on_record.correction))
        return Reading(name, verdict, found, correction, on_record.excluded)


def _read(path: Path) -> Any:
    return _plain(parameters.read_yaml(path))


def _plain(value: Any) -> Any:
    """White space in a text is layout, not text."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        return tuple(_plain(one) for one in value)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value.isoformat() if isinstance(value, date) else value


def registry() -> dict[str, Claim]:
    """Every claim of the project by id, in the papers' order."""
    return _registry(project.find())


@cache
def _registry(here: project.Project) -> dict[str, Claim]:
    pages: dict[str, str] = {}
    for path in sorted(here.notebooks.glob("*.schema.yaml")):
        pages |= dict.fromkeys(parameters.read_yaml(path).get("claims", ()), path.name.removesuffix(".schema.yaml"))
    # A run of a page without claims has an empty file.
    entries: list[dict[str, Any]] = _read(here.book / "claims.yaml") or []
    return {one["id"]: _claim({"notebook": pages.get(one["id"], "")} | one) for one in entries}


def _claim(entry: dict[str, Any]) -> Claim:
    if "quantity" in entry and "standard" not in entry:
        entry["standard"] = FIRST
        if "tolerance" in entry:
            entry["tolerance"] = {"standard": FIRST_TOLERANCES} | entry["tolerance"]
    if "found" in entry or "readings" in entry:
        shared: dict[str, Any] = {key: entry.pop(key) for key in ("found", "correction") if key in entry}
        shared["verdict"] = entry["verdict"]
        own = entry.pop("readings", {"": {}})
        entry["readings"] = {name: _reading(name, shared, words) for name, words in own.items()}
    return Claim(**entry)


def _reading(name: str, shared: Mapping[str, Any], own: Mapping[str, Any] | str | None) -> Reading:
    """A reading with the claim's verdict and words wherever it has none of its own; a text is what was found."""
    own = {"found": own} if isinstance(own, str) else own or {}
    words = {**shared, **own}
    if words["verdict"] != "holds with correction" and "correction" not in own:
        words.pop("correction", None)
    return Reading(name, **words)


def claim(identifier: str) -> Claim:
    """One claim; the nearest id is suggested when there is none of that name."""
    known = registry()
    if identifier not in known:
        raise UnknownName("claim", identifier, known)
    return known[identifier]


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
        readings: the ways to read it, where there are several; the verdict is the most favourable admissible one's.
        source: the notebook whose cell found it.
    """

    claim: str
    verdict: Verdict
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    correction: str = ""
    missing: Missing | Literal[""] = ""
    readings: tuple[Reading, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        one = Reading("", self.verdict, self.reason, self.correction)  # which refuses a verdict that is none
        if self.readings and (one.verdict, one.found) != ((first := best(self.readings)).verdict, first.found):
            raise InvalidValue("verdict", self.verdict, f"{first.verdict!r}, that of the reading {first.name!r}")
        if self.missing and self.verdict != "not yet checked":
            raise InvalidValue("missing", self.missing, "empty unless the verdict is 'not yet checked'")
        if self.verdict not in OPEN and not self.evidence:
            raise InvalidValue("evidence", dict(self.evidence), "not empty: a verdict needs its numbers")

    @property
    def agreeing(self) -> str:
        """In how many of the admissible readings the verdict is this one; empty where it is in all."""
        admissible = [one for one in self.readings if not one.excluded]
        same = sum(one.verdict == self.verdict for one in admissible)
        return "" if same == len(admissible) else f"in {same} of {len(admissible)} readings"

    @property
    def words(self) -> str:
        """The verdict, and in how many readings it stands."""
        return " ".join(filter(None, (self.verdict, self.agreeing)))

    @property
    def certified(self) -> bool:
        """Whether its words speak of certified numbers."""
        said = [self.reason, self.correction, *self.evidence, *(one.found for one in self.readings)]
        return "certif" in " ".join(said).lower()

    def differs(self) -> bool:
        """Whether it contradicts the record. A run that lacked something contradicts nothing."""
        return not self.missing and self.verdict != claim(self.claim).verdict

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain JSON data; the evidence as pairs, which keep their order in a sorted file."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        lists = {"evidence": list(self.evidence.items()), "readings": [asdict(one) for one in self.readings]}
        plain: dict[str, Any] = json.loads(json.dumps(found | lists))
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcome:
        """The inverse of `to_dict`."""
        readings = tuple(Reading(**one) for one in data.get("readings", ()))
        return cls(**{**data, "evidence": dict(data["evidence"]), "readings": readings})

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {
            "text/plain": text.plain(f"{self.claim}: {self.words}. {self.reason}"),
            "text/html": fill("card.html", entry=claim(self.claim), outcome=self),
            MIME: self.to_dict(),
        }


def outcome(
    name: str,
    holds: Holds | Mapping[str, Holds],
    evidence: Mapping[str, Any],
    *,
    had: Collection[str],
    used: Mapping[str, Any],
    changed: Collection[str],
) -> Outcome:
    """What a page's cell found for a claim.

    Args:
        name: the claim's id.
        holds: in its only reading, or by reading, all of them.
        evidence: what its words and its card name.
        had: "size" if the page has the papers' own sizes, "data" if it has MNIST.
        used: the page's parameters.
        changed: those that differ from what the paper states; with any, the run is another experiment and settles
            nothing.
    """
    entry = claim(name)
    if changed:
        reason = f"This run changed what the paper states: {', '.join(changed)}."
        return Outcome(name, "not yet checked", reason, missing="settings")
    values = {name: _data(value) for name, value in evidence.items()}
    if (lacking := entry.lacks(had, values | dict(used))) is not None:
        return lacking
    given = holds if isinstance(holds, Mapping) else {"": holds}
    if given.keys() != entry.readings.keys():
        raise InvalidValue(f"{name}: readings", [*given], f"the registry's: {[*entry.readings]}")
    rows: dict[str, Any] = {}
    for key, value in values.items():
        label = entry.label(key)
        rows |= {f"{label}: {part}": one for part, one in value.items()} if isinstance(value, dict) else {label: value}
    readings = tuple(entry.read(reading, one, values) for reading, one in given.items())
    first = best(readings)
    return Outcome(
        name,
        first.verdict,
        first.found,
        rows,
        first.correction,
        readings=readings if len(readings) > 1 else (),
        source=f"notebooks/{entry.notebook}.ipynb",
    )


def _data(value: Any) -> Any:
    """Evidence as plain data: numpy's numbers, a fraction as text, a column as a mapping, a list."""
    if isinstance(value, Fraction):
        return str(value)
    if hasattr(value, "items"):
        return {
            " ".join(map(str, key)) if isinstance(key, tuple) else str(key): _data(one) for key, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [_data(one) for one in value]
    return value.item() if hasattr(value, "item") else value


def outcomes(paths: Iterable[Path]) -> dict[str, Outcome]:
    """The outcomes that executed notebooks show on their cards, by claim id."""
    found: dict[str, Outcome] = {}
    for path in paths:
        found |= shown(json.loads(path.read_text(encoding="utf-8")))
    return found


def shown(notebook: Mapping[str, Any]) -> dict[str, Outcome]:
    """The outcomes that one executed notebook shows."""
    told = [data[MIME] for data in say.outputs(notebook) if MIME in data]
    return {one["claim"]: Outcome.from_dict(one) for one in told}


def verdict_of(name: str, found: Mapping[str, Outcome]) -> Verdict:
    """The verdict on a claim; one that a page should settle and none did is not yet checked."""
    if name in found:
        return found[name].verdict
    return claim(name).verdict if claim(name).reason else "not yet checked"


@dataclass(frozen=True)
class Erratum:
    """One misprint or false statement.

    Attributes:
        number: its name, never given twice.
        claim: whose check computes the evidence.
        evidence: a row of it, or `READING`.
        misprint: what is meant is plain from the paper or its source.
    """

    number: int
    claim: str
    place: str
    printed: str
    right: str
    evidence: str
    misprint: bool = False

    @property
    def paper(self) -> str:
        """That of its claim."""
        return LETTERS[self.claim[0]]

    @property
    def weight(self) -> Weight:
        """What it does to its paper, by the verdict on its claim: what needs a correction keeps its conclusion."""
        if self.misprint:
            return "misprint"
        return "conclusion" if claim(self.claim).verdict in ("refuted", "not reproduced") else "number"

    def row(self, found: Mapping[str, Outcome]) -> tuple[str, object] | None:
        """The row of evidence that it points to, by its name or its label."""
        if self.claim not in found:
            return None
        rows = found[self.claim].evidence
        named = (self.evidence, claim(self.claim).label(self.evidence))
        return next(((label, rows[label]) for label in named if label in rows), None)


def errata() -> tuple[Erratum, ...]:
    """Every erratum of the project by number, so paper by paper."""
    return _errata(project.find())


@cache
def _errata(here: project.Project) -> tuple[Erratum, ...]:
    read: dict[str, dict[int, dict[str, Any]]] = _read(here.book / "errata.yaml") or {}
    found = [_erratum(number, name, entry) for name, numbered in read.items() for number, entry in numbered.items()]
    return tuple(sorted(found, key=lambda one: one.number))


def _erratum(number: int, name: str, entry: dict[str, Any]) -> Erratum:
    """An erratum, with its claim's place and words wherever it has none of its own."""
    told = claim(name)
    words = {"place": told.location, "printed": told.quote, "right": told.correction}
    return Erratum(number, name, **{**words, **entry})

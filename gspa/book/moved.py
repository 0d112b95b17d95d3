"""What moved between two runs of one notebook, of one profile: the evidence on their cards, and the verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from gspa.book import claims, text
from gspa.book.fill import fill

Notebook = Mapping[str, Any]
Judged = tuple[str, str]  # a verdict, and in how many readings it stands


@dataclass(frozen=True)
class Moved:
    """What differs.

    Attributes:
        evidence: claim, row of its card, value before, value after; None where the row is on one card only.
        verdicts: claim, then before and after the verdict and in how many readings it stands.
        same: how many cards say what they said.
        unsettled: why verdicts are open in this run, where it changed what the paper states.
    """

    evidence: list[tuple[str, str, Any, Any]]
    verdicts: list[tuple[str, Judged, Judged]]
    same: int
    unsettled: str

    def html(self, before: str) -> str:
        """Both tables; `before` says what stands in the column on the left."""
        return fill("bench_moved.html", moved=self, before=before)

    def lines(self) -> list[str]:
        """For a terminal, of each claim the first row of its evidence that moved, and its verdict if that did."""
        said = []
        for claim, rows in groupby(self.evidence, key=lambda row: row[0]):
            (_, row, old, new), *others = rows
            more = f" (and {len(others)} more)" if others else ""
            said.append(f"{claim:8} {text.plain(row)}: {_words(old)} -> {_words(new)}{more}")
        for claim, old, new in self.verdicts:
            said.append(f"{claim:8} {' '.join(filter(None, old))} -> {' '.join(filter(None, new))}")
        if self.unsettled:
            said.append(f"{text.plain(self.unsettled)} So its verdicts are open.")
        return said


def _words(value: Any) -> str:
    """A row's value in a terminal; none where the card had no such row."""
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    return "none" if value is None else text.plain(text.number(value))


def between(before: Notebook, after: Notebook) -> Moved:
    """What moved from one executed notebook to another, on the cards that both have."""
    old, new = claims.shown(before), claims.shown(after)
    evidence, verdicts, same = [], [], 0
    for name in new.keys() & old.keys():
        one, other = old[name], new[name]
        rows = [
            (name, row, one.evidence.get(row), other.evidence.get(row))
            for row in dict.fromkeys([*one.evidence, *other.evidence])
            if one.evidence.get(row) != other.evidence.get(row)
        ]
        judged = (one.verdict, one.agreeing), (other.verdict, other.agreeing)
        if not other.missing:
            evidence += rows
        if judged[0] != judged[1]:
            verdicts.append((name, *judged))
        same += not rows and judged[0] == judged[1]
    unsettled = next((one.reason for one in new.values() if one.missing == "settings"), "")
    return Moved(sorted(evidence, key=lambda row: row[0]), sorted(verdicts), same, unsettled)

"""What moved between two runs of one notebook: the sentences whose numbers differ, and the verdicts.

A sentence is one of a text that the notebook said, or of a figure's caption. Cells are told by their source, so an
injected cell of parameters changes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from gspa.book import figures, say, text
from gspa.book.claims import MIME, Outcome
from gspa.book.fill import fill

Notebook = Mapping[str, Any]
Judged = tuple[str, str]  # a verdict, and in how many readings it stands
_TOKENS = re.compile(r"\$[^$]+\$|[−-]?\d+(?:[.,]\d+)*%?|\w+|\s+|.", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])[ \n]+(?=[A-Z*\"'`$(])")
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*>|]|\d+\.)\s)")
_LEAD = re.compile(r"^(?:\s*(?:[-*]|\d+\.|>|#+)\s+)+")
_MARKS = ("\ue000", "\ue001")  # stand for <mark> while Markdown becomes HTML


@dataclass(frozen=True)
class Moved:
    """What differs.

    Attributes:
        sentences: pairs of Markdown; one is empty where a sentence came or went.
        numbers: name, value before, value after, of all numbers and words that the texts name.
        verdicts: claim, then before and after the verdict and in how many readings it stands.
        verdicts_same: how many verdicts are what they were.
        unsettled: why verdicts are open in this run, where it changed what the paper states.
        apart: texts of cells that the other notebook does not have.
    """

    sentences: list[tuple[str, str]]
    numbers: list[tuple[str, Any, Any]]
    verdicts: Sequence[tuple[str, Judged, Judged]]
    verdicts_same: int
    unsettled: str
    apart: int

    def html(self, before: str) -> str:
        """Both tables; `before` says what stands in the column on the left."""
        groups: dict[tuple[Judged, Judged], list[str]] = {}
        for claim, old, new in self.verdicts:
            groups.setdefault((old, new), []).append(claim)
        sentences = [tuple(map(_html, marked(*pair))) for pair in self.sentences]
        return fill("bench_moved.html", moved=self, sentences=sentences, groups=groups, before=before)


def between(before: Notebook, after: Notebook) -> Moved:
    """What moved from one executed notebook to another."""
    old, new = _texts(before), _texts(after)
    pairs = [pair for key in new if key in old for pair in _changed(old[key], new[key])]
    said = say.values_of(before), say.values_of(after)
    judged = _outcomes(before), _outcomes(after)
    verdicts = [(name, _judged(judged[0][name]), _judged(one)) for name, one in judged[1].items() if name in judged[0]]
    moved = [one for one in verdicts if one[1] != one[2]]
    return Moved(
        pairs,
        [(name, said[0].get(name, ""), said[1].get(name, "")) for name in sorted({*said[0], *said[1]})],
        moved,
        len(verdicts) - len(moved),
        next((one.reason for one in judged[1].values() if one.missing == "settings"), ""),
        len(new.keys() - old.keys()),
    )


def _judged(outcome: Outcome) -> Judged:
    return outcome.verdict, outcome.agreeing


def _texts(notebook: Notebook) -> dict[tuple[str, int], str]:
    """What each cell says, by the digest of its source and how many cells before it have the same."""
    found: dict[tuple[str, int], str] = {}
    seen = Counter[str]()
    for cell in notebook["cells"]:
        source = str(cell["id"]).rpartition("-")[2]
        said = [
            "".join(output["data"]["text/markdown"])
            for output in cell.get("outputs", [])
            if say.MIME in output.get("data", {}) or figures.CAPTION in output.get("metadata", {})
        ]
        if said:
            found[source, seen[source]] = "\n\n".join(said)
        seen[source] += 1
    return found


def _outcomes(notebook: Notebook) -> dict[str, Outcome]:
    found = {}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if (data := output.get("data", {}).get(MIME)) is not None:
                found[data["claim"]] = Outcome.from_dict(data)
    return found


def sentences(markdown: str) -> list[str]:
    """The sentences of a text, without its layout and its links' addresses.

    >>> sentences("One. Two is $a. B$.\\n\\n- **Three** is [3](x.md).")
    ['One.', 'Two is $a. B$.', '**Three** is 3.']
    """
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"</?[a-z][^>]*>", "", markdown))
    found = []
    for block in (_LEAD.sub("", one) for one in _BLOCK.split(plain)):
        masked = re.sub(r"\$[^$]+\$", lambda formula: "X" * len(formula[0]), block)  # no sentence ends in a formula
        ends = [stop.start() for stop in _SENTENCE.finditer(masked)]
        found += [" ".join(block[a:b].split()) for a, b in zip([0, *ends], [*ends, None], strict=True)]
    return [one for one in found if one]


def _changed(before: str, after: str) -> Iterator[tuple[str, str]]:
    """The sentences that differ, side by side."""
    old, new = sentences(before), sentences(after)
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            left, right = old[a:b], new[c:d]
            for i in range(max(len(left), len(right))):
                yield (left[i] if i < len(left) else ""), (right[i] if i < len(right) else "")


def marked(before: str, after: str) -> tuple[str, str]:
    """Both sentences with marks around what differs."""
    if not before or not after:
        return before, after
    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    parts: tuple[list[str], list[str]] = ([], [])
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for side, words in zip(parts, (old[a:b], new[c:d]), strict=True):
            side += words if what == "equal" else [_mark(word) for word in words]
    return "".join(parts[0]), "".join(parts[1])


def _mark(word: str) -> str:
    return word.join(_MARKS) if re.search(r"\w", word) else word  # a mark beside an asterisk would undo emphasis


def _html(sentence: str) -> str:
    joined = re.sub(rf"{_MARKS[1]}(\s+){_MARKS[0]}", r"\1", sentence)
    return text.html(joined).replace(_MARKS[0], "<mark>").replace(_MARKS[1], "</mark>")


def csv(moved: Moved) -> str:
    """The numbers and words that the texts name, before and after, as CSV."""
    import pandas as pd

    columns = ["name", "before", "after"]
    return str(pd.DataFrame(moved.numbers, columns=columns).to_csv(index=False, lineterminator="\n"))

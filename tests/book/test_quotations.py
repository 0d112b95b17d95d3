"""Quotations are verbatim: compared with digests everywhere, with the papers' texts where GSPA_PAPERS_DIR has them.

The texts are not part of the repository; `quotations.json` has a SHA-256 of the words of each that were found in them.
`python tests/book/test_quotations.py` writes it anew and refuses a quotation that no text has. What others
printed since is quoted from public sources, whose address the registry gives; its digests are of the words as read.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from gspa.book.claims import errata, registry

DIGESTS = Path(__file__).with_name("quotations.json")
OMISSION = "[…]"
# The AAAI text and the arXiv text are two versions of one paper; a quotation may come from either.
PAPERS = {
    "gspa": ["gspa-aaai2024.md", "gspa-arxiv-text.txt"],
    "clones": ["clones-blog-2022.txt"],
    "flame": ["flame-aaai2021.txt"],
}
# The text of FLAME that we had is a conversion, with each formula twice, first mangled: what stands before a formula of
# a quotation from it may be left out.
QUOTED = {
    one.id: (one.paper, re.sub(r"\$(.+?)\$", rf"{OMISSION}\1", one.quote) if one.paper == "flame" else one.quote)
    for one in registry().values()
} | {
    f"erratum-{one.number}": (one.paper, one.printed)
    for one in errata()
    if one.printed != registry()[one.claim].quote  # which is there already
}
Texts = Mapping[str, Iterable[str]]


def collapse(text: str) -> str:
    """The text without white space and without the marks around formulas and of emphasis."""
    marks = r"\\tag\{\w+\}|\\[\[\]()]|\\(begin|end)\{equation\}|\$|\*"
    return "".join(re.sub(marks, "", text).split())


def passages(quoted: str) -> list[str]:
    """What is quoted between omissions, collapsed."""
    return [passage for part in quoted.split(OMISSION) if (passage := collapse(part))]


def contains(text: str, wanted: Iterable[str]) -> bool:
    """Whether a collapsed text has the passages, one after the other."""
    at = 0
    for passage in wanted:
        if (start := text.find(passage, at)) < 0:
            return False
        at = start + len(passage)
    return True


def digest(quoted: str) -> str:
    return sha256("\n".join(passages(quoted)).encode()).hexdigest()


def texts(folder: Path) -> dict[str, list[str]]:
    """Each paper's texts, collapsed."""
    return {
        paper: [collapse((folder / name).read_text(encoding="utf-8")) for name in names]
        for paper, names in PAPERS.items()
    }


def missing(quoted: Mapping[str, tuple[str, str]], papers: Texts) -> list[str]:
    """The names of quotations that no text of their paper contains; what has a public source is not looked at."""
    return [
        name
        for name, (paper, words) in quoted.items()
        if paper in papers and not any(contains(text, passages(words)) for text in papers[paper])
    ]


def test_no_quotation_was_altered_added_or_removed():
    recorded = json.loads(DIGESTS.read_text(encoding="utf-8"))
    assert list(recorded) == list(QUOTED)
    assert [name for name, (_, words) in QUOTED.items() if digest(words) != recorded[name]] == []


def test_the_papers_contain_every_quotation():
    folder = os.environ.get("GSPA_PAPERS_DIR")
    if not folder:
        pytest.skip("GSPA_PAPERS_DIR is not set: the papers' texts are not part of the repository")
    assert missing(QUOTED, texts(Path(folder))) == []


def test_quotations_are_unique_and_say_something():
    claims = [collapse(one.quote) for one in registry().values()]
    assert len(set(claims)) == len(claims)
    assert min(map(len, claims)) >= 25
    printed = [passages(one.printed) for one in errata()]
    assert len(set(map(tuple, printed))) == len(printed)
    assert min(len(part) for parts in printed for part in parts) >= 10


@pytest.mark.parametrize(
    ("words", "there"),
    [
        ("for all $n > 1$ and", True),
        (r"for  all\(n>1\)and", True),
        ("for all $n > 2$ and", False),
        ("For all $n > 1$", False),
        (f"for all {OMISSION} then", True),
        (f"then {OMISSION} for all", False),  # not in this order
        (f"for all {OMISSION} for all", False),  # not twice
    ],
)
def test_a_quotation_is_to_the_letter_and_in_order(words, there):
    text = collapse("It holds for all $n > 1$\nand then")
    assert missing({"one": ("flame", words)}, {"flame": [text]}) == ([] if there else ["one"])


def test_a_changed_letter_changes_the_digest_and_white_space_does_not():
    assert digest("a  $b$") == digest("ab") != digest("aB")


@pytest.mark.parametrize(
    ("words", "refusal"), [("and then", ""), ("and so", "not verbatim"), (None, "must be a folder")]
)
def test_digests_are_written_of_what_was_found_and_of_nothing_else(words, refusal, tmp_path, monkeypatch):
    here = sys.modules[__name__]
    for name in (name for names in PAPERS.values() for name in names if words):
        (tmp_path / name).write_text("It holds, and then some.", encoding="utf-8")
    monkeypatch.setattr(here, "QUOTED", {"one": ("flame", str(words))})
    monkeypatch.setattr(here, "DIGESTS", tmp_path / "quotations.json")
    monkeypatch.setenv("GSPA_PAPERS_DIR", str(tmp_path))
    assert (refusal in rewrite()) if refusal else (rewrite() == "")
    assert here.DIGESTS.exists() == (not refusal)


def rewrite() -> str:
    """Write the digests of what the papers' texts contain; the line that says why not, empty if it did."""
    given = os.environ.get("GSPA_PAPERS_DIR", "")
    folder = Path(given)
    if absent := [name for names in PAPERS.values() for name in names if not (folder / name).is_file()]:
        return f"GSPA_PAPERS_DIR = {given!r}: must be a folder with {', '.join(absent)}"
    if unknown := missing(QUOTED, texts(folder)):
        return f"not verbatim in the paper's text: {', '.join(unknown)}; nothing was written"
    known = {name: digest(words) for name, (_, words) in QUOTED.items()}
    DIGESTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return ""


if __name__ == "__main__":
    if refusal := rewrite():
        print(refusal, file=sys.stderr)
        sys.exit(2)

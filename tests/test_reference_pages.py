"""Notation and glossary: every name in the code exists, every word is used as it is defined."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parents[1] / "book"
NOTATION = (BOOK / "notation.md").read_text(encoding="utf-8")
GLOSSARY = (BOOK / "glossary.md").read_text(encoding="utf-8")
ROWS = [line.split(" | ") for line in NOTATION.splitlines() if line.startswith("| ") and "In code" not in line]
TERMS = re.findall(r"^(\S.*)\n  \S", GLOSSARY.split("````{glossary}")[1], re.MULTILINE)


def resolve(name):
    """The module, and what lies behind the dots in it."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            # A dataclass's field without a default is no attribute of the class.
            if part in getattr(found, "__annotations__", {}):
                return found
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


class TestNotation:
    def test_there_is_a_table(self):
        assert len(ROWS) > 30

    @pytest.mark.parametrize("row", ROWS, ids=lambda row: row[-1].strip("| `"))
    def test_a_row_has_symbol_meaning_page_and_a_name_that_exists(self, row):
        assert len(row) == 4
        symbol, meaning, page, name = row
        assert symbol.strip("| ")
        assert len(meaning) > 5
        number, target = re.fullmatch(r"\[(\d\d)\]\(notebooks/(\S+)\.ipynb\)", page).groups()
        assert target.startswith(number)
        resolve(name.strip("| `"))

    def test_a_name_that_does_not_exist_is_noticed(self):
        with pytest.raises(AttributeError):
            resolve("gspa.bounds.gspa_nu")
        with pytest.raises(AttributeError):
            resolve("gspa.sgd_config.SgdConfig.momentum")


class TestGlossary:
    def test_each_word_once_and_in_order(self):
        assert len(TERMS) > 35
        assert [term.lower() for term in TERMS] == sorted(
            (term.lower() for term in TERMS), key=lambda t: t.replace("-", " ")
        )
        assert len({term.lower() for term in TERMS}) == len(TERMS)

    def test_each_definition_is_short_and_says_where_to_read_on(self):
        blocks = re.findall(r"^\S.*\n  (.*)$", GLOSSARY.split("````{glossary}")[1], re.MULTILINE)
        assert len(blocks) == len(TERMS)
        for text in blocks:
            assert len(text.split()) < 60, text
            assert re.search(r"See \[\]\(\S+\)\.$", text), text

    @pytest.mark.parametrize(
        "word",
        [
            "local DP",
            "personalized LDP",
            "central DP",
            "shuffle model",
            "shuffler",
            "privacy amplification",
            "clone",
            "blanket",
            "dominating pair",
            "trade-off function",
            "f-DP",
            "mu-GDP",
            "hockey-stick divergence",
            "PLD",
            "randomized response",
            "k-RR",
            "subset selection",
            "Laplace mechanism",
            "Gaussian mechanism",
            "composition",
            "Renyi DP",
            "accountant",
            "certified interval",
            "attack",
            "audit",
            "neighbouring data",
        ],
    )
    def test_the_words_that_a_reader_needs_are_there(self, word):
        assert word in TERMS

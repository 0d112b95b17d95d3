"""Package reference, notation and glossary: every name exists, every word is used as it is defined."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import nbformat
import pytest
from package_reference import PAGES, commands, modules, reference

import gspa
from gspa.accountant import api
from gspa.book import sitecheck

BOOK = Path(__file__).resolve().parents[2] / "book"
NOTEBOOKS = sorted((BOOK.parent / "notebooks").glob("*.ipynb"))
NOTATION = (BOOK / "notation.md").read_text(encoding="utf-8")
GLOSSARY = (BOOK / "glossary.md").read_text(encoding="utf-8")
# Symbol, meaning, number and name of the page, name in the package.
ENTRIES = re.findall(
    r"^(\S.*)\n: (.{5,})\. Page \[(\d\d)\]\(notebooks/(\S+)\.ipynb\), `([\w.]+)`\.$", NOTATION, re.MULTILINE
)
TERMS = re.findall(r"^(\S.*)\n  \S", GLOSSARY.split("````{glossary}")[1], re.MULTILINE)


def resolve(name):
    """What a dotted name means: attributes, and modules that nothing has imported yet."""
    first, *parts = name.split(".")
    found = import_module(first)
    for part in parts:
        # A dataclass's field without a default is no attribute of the class.
        if part in getattr(found, "__annotations__", {}):
            return found
        if not hasattr(found, part) and hasattr(found, "__path__"):
            import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


def prose(path):
    """What a page's author wrote in Markdown."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    return "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")


class TestPackageReference:
    def test_the_table_of_contents_has_its_pages(self):
        listed = [name for name in sitecheck.pages_of(BOOK / "_toc.yml") if name.split("/")[0] == "api"]
        assert sorted(listed) == sorted(page.relative_to(BOOK).with_suffix("").as_posix() for page in PAGES)
        assert len(listed) > 7

    def test_each_module_and_each_name_is_shown_once(self):
        shown = [module for _, module, _ in modules()]
        assert len(shown) > 30
        assert len(shown) == len(set(shown))
        assert len(reference()) == len(set(reference())) > 200
        for module, name in reference():
            assert hasattr(import_module(module), name), (module, name)

    def test_it_shows_what_is_of_use_without_the_book(self):
        shown = {module for _, module, _ in modules()} - {"gspa"}
        assert {module.rsplit(".")[1] for module in shown} == {"accountant", "algorithms"}

    def test_the_front_door_is_shown_under_its_stable_names_and_nowhere_else(self):
        doors = {name: getattr(api, name) for name in gspa.__all__}
        for name, door in doors.items():
            assert [entry for entry in reference() if getattr(import_module(entry[0]), entry[1]) is door] == [
                ("gspa", name)
            ]

    def test_the_index_begins_with_the_front_door(self):
        linked = re.findall(r"\{py:obj\}`gspa\.(\w+)`", (BOOK / "api.md").read_text(encoding="utf-8"))
        assert set(linked) == set(gspa.__all__)
        rows = re.findall(r"^\| (?!What|--).*", (BOOK / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
        doors = [bool(re.search(r"`gspa\.\w+`", row)) and "honest" not in row for row in rows]
        assert doors == sorted(doors, reverse=True)

    def test_every_page_but_the_first_shows_some(self):
        assert {page for page, _, _ in modules()} == set(PAGES[1:])

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
    def test_what_a_page_names_is_shown(self, page):
        names = [f"{module}.{name}" for module, name in reference()]
        shown = set(names) | {module for _, module, _ in modules()}
        linked = re.findall(r"\{py:(?:func|class|mod|obj)\}`(?:[^`<]*<)?([\w.]+)>?`", page.read_text(encoding="utf-8"))
        assert linked or page != PAGES[0]
        assert [name for name in linked if name not in shown] == []

    def test_the_example_on_the_first_page_runs(self, capsys):
        (example,) = re.findall(r"```python\n(.*?)```", PAGES[0].read_text(encoding="utf-8"), re.DOTALL)
        exec(example, {})
        certified, *words, published = capsys.readouterr().out.splitlines()
        assert certified.startswith("at most ")
        assert "neighbours: replace one user's record" in words
        assert published.startswith("BoundRow(")

    def test_every_command_is_in_its_table(self):
        text = (BOOK / "api" / "commands.md").read_text(encoding="utf-8")
        assert set(re.findall(r"^\| `gspa ([\w-]+)` \|", text, re.MULTILINE)) == {first for first, *_ in commands()}


class TestNotation:
    def test_every_entry_has_a_symbol_a_meaning_a_page_and_a_name(self):
        assert len(ENTRIES) == NOTATION.count("\n: ") > 30

    @pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry[-1])
    def test_the_page_is_the_numbered_one_and_the_name_exists(self, entry):
        _, _, number, target, name = entry
        assert target.startswith(number)
        resolve(name)

    def test_a_name_that_does_not_exist_is_noticed(self):
        with pytest.raises(AttributeError):
            resolve("gspa.accountant.published.gspa_nu")
        with pytest.raises(AttributeError):
            resolve("gspa.algorithms.sgd_config.SgdConfig.momentum")


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

    def test_the_words_that_a_reader_needs_are_there(self):
        needed = """
            local DP, personalized LDP, central DP, shuffle model, shuffler, privacy amplification, clone, blanket,
            dominating pair, trade-off function, f-DP, mu-GDP, hockey-stick divergence, PLD, randomized response,
            k-RR, subset selection, Laplace mechanism, Gaussian mechanism, composition, Renyi DP, accountant,
            certified interval, attack, audit, neighbouring data
        """
        assert {" ".join(word.split()) for word in needed.split(",")} <= set(TERMS)

    @pytest.mark.parametrize("path", [*NOTEBOOKS, *BOOK.glob("*.md"), *PAGES[1:]], ids=lambda path: path.stem)
    def test_every_word_that_a_page_refers_to_is_defined(self, path):
        used = re.findall(r"\{term\}`(?:[^`<]*<)?([^`<>]+)>?`", prose(path))
        assert [word for word in used if word.lower() not in {term.lower() for term in TERMS}] == []

    @pytest.mark.parametrize("term", TERMS)
    def test_where_a_word_sends_its_reader_it_is_spoken_of(self, term):
        (definition,) = re.findall(rf"^{re.escape(term)}\n  (.*)$", GLOSSARY, re.MULTILINE)
        (target,) = re.findall(r"See \[\]\((\S+)\)\.$", definition)
        text = prose((BOOK.parent if target.startswith("notebooks/") else BOOK) / target)
        text = text.replace("$", "").replace("\\mu", "mu").lower()
        # Abbreviations by what they stand for; of several words one that says what it is about.
        said = {"k-RR": ["k-ary response"], "PLD": ["privacy loss"]}.get(term)
        said = said or [term, *(word[:6] for word in term.split() if len(word) > 4)]
        assert any(word.lower() in text for word in said), (said, target)

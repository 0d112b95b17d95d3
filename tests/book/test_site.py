"""Rendering: a broken book leaves the old site alone, a sound one replaces it, and nothing calls home."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pandas as pd
import pytest
import yaml
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sphinx.util.osutil import relative_uri
from test_recipe import PRINTED

import gspa
from gspa.accountant.errors import CheckFailed
from gspa.book import recipe, say, site, sitecheck
from gspa.book.claims import Outcome, registry
from gspa.book.figures import MIME
from gspa.book.project import Project
from gspa.book.run import Run
from gspa.files import digest_tree

ROOT = Path(__file__).resolve().parents[2]
OUTCOME = Outcome("G-C3", "refuted", "At 1 point.", {"points": 12345})
# What IPython stores: in colour, and for a syntax error without the word "Traceback".
RAISED = [
    "\x1b[0;31m---------------------------------------------------------------------------\x1b[0m",
    "\x1b[0;31mValueError\x1b[0m                                Traceback (most recent call last)",
    "Cell \x1b[0;32mIn[1], line 1\x1b[0m\n\x1b[0;32m----> 1\x1b[0m \x1b[38;5;28;01mraise\x1b[39;00m ValueError",
    "\x1b[0;31mValueError\x1b[0m: ",
]
UNREADABLE = ["\x1b[0;36m  Cell In[1], line 1\x1b[0m\n    x = = 1\n        ^\n\x1b[0;31mSyntaxError\x1b[0m: no\n"]


SVG = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'/>"


def drawn(name, *tables, alt="A line that rises.", **more):
    """A cell that drew a figure, as `Page.figure` leaves it."""
    about = {"name": name, "caption": "What it shows, in words.", "alt": alt, "tables": list(tables), **more}
    return new_code_cell(
        f"page.figure({name!r})",
        id=name,
        execution_count=3,
        metadata={"tags": ["hide-input"]},
        outputs=[new_output("display_data", data={"image/svg+xml": SVG, "text/plain": alt, MIME: about})],
    )


def executed(project, name, outputs=(), cells=(), used=None):
    """A finished run of a notebook of that name."""
    notebook = new_notebook(
        metadata={
            "papermill": {"parameters": used or {}},
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python", "pygments_lexer": "ipython3"},
        },
        cells=[
            new_markdown_cell(f"# Page {name}\n\nA formula $x^2$.", id="c0"),
            new_code_cell("n: int = 1", id="c1", metadata={"tags": ["parameters"]}, execution_count=1),
            new_code_cell("show", id="c2", outputs=list(outputs), execution_count=2),
            *cells,
        ],
    )
    path = project.executed("quick") / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    return Run(name, path, False)


SAID = r"Within $-2.5 \times 10^{-7}$; see [the notation](../book/notation.md)."
OPENING = "Claims settled here: G-C3. A clone hides the victim; two clones hide it better. `clone` is code."
# Words of the glossary in all the places where they may and may not lead there.
WORDY = "05_reduction_to_counts"
WORDS = """## Dummies, and the blanket

A [dummy and a clone](01_local_privacy.ipynb), `clone`, $clone$, clone-like, cyclone and **Clones** hide; a clone too.

> A Blanket with its *clone probability* is no clone probability of a blanket.

- The dominating pair, and *PLD*.

```
dummy
```

<p>dummy</p>
"""
BY_A_CELL = [
    new_output("display_data", data={"text/markdown": "A dummy by a cell.", "text/plain": "A dummy."}),
    new_output("stream", name="stdout", text="dummy"),
]
# A page with figures: of one table; of two, of which one was thinned.
DRAWN = "18_composition_and_renyi"
FIGURES = [
    drawn("figure-one", {"name": "table", "rows": 2, "of": 2, "csv": "x,y\n1,0.5\n2,0.25\n"}),
    drawn(
        "figure-headline",
        {"name": "table", "rows": 1, "of": 1, "csv": "x\n1\n"},
        {"name": "printed", "rows": 1, "of": 5000, "csv": "z\n3\n"},
        moves={
            "knobs": [{"name": "users", "values": ["1", "10<sup>6</sup>"], "at": 0}],
            "frames": [
                {"svg": SVG, "alt": "Few.", "reads": []},
                {"svg": SVG.replace("9", "8"), "alt": "</script> Many.", "reads": []},
            ],
        },
    ),
]

FIGURE_2 = drawn("figure-2", {"name": "table", "rows": 1, "of": 1, "csv": "x\n1\n"})


def pages(project):
    return sitecheck.pages_of(project.book / "_toc.yml")


def real_book(root, *, url="", api=False):
    """The project's own prose, style and configuration with trivial notebooks."""
    ignored = shutil.ignore_patterns("notebooks", "_generated", "__pycache__")
    shutil.copytree(ROOT / "book", root / "book", ignore=ignored)
    project = Project(root)
    project.notebooks.mkdir()
    project.config.write_text(
        (ROOT / "_config.yml").read_text(encoding="utf-8").replace('url: ""', f'url: "{url}"'), encoding="utf-8"
    )
    if not api:  # autodoc imports the whole package, which takes most of a build
        for page in (project.book / "api.md", *(project.book / "api").glob("*.md")):
            page.write_text(f"# Package reference: {page.stem}\n", encoding="utf-8")
    names = [name.removeprefix("notebooks/") for name in pages(project) if name.startswith("notebooks/")]
    card = new_output("display_data", data=OUTCOME._repr_mimebundle_())
    for name in (DRAWN, "08_comparison"):
        for path in (ROOT / "notebooks").glob(f"{name}.*"):
            shutil.copy(path, project.notebooks)
    shown = {"text/markdown": SAID, "text/plain": "Within", say.MIME: {"values": {}}}
    said = new_code_cell("%%say\nx", id="c9", execution_count=3, outputs=[new_output("display_data", data=shown)])
    later = new_markdown_cell("A clone and PLDs later.", id="c10")
    few = {"profile": "quick", "rounds": [1, 100], "orders": [2, 8], "n": 500}
    injected = new_code_cell("n = 500", id="injected", metadata={"tags": ["injected-parameters"]}, execution_count=3)
    extras = {
        "08_comparison": {
            "outputs": [card],
            "cells": [new_markdown_cell(OPENING, id="c8"), FIGURE_2],
            "used": {"profile": "quick"},
        },
        DRAWN: {"cells": [injected, *FIGURES], "used": few},
        "17_exact_accounting": {"cells": [said]},
        WORDY: {"outputs": BY_A_CELL, "cells": [new_markdown_cell(WORDS, id="c7"), later]},
    }
    return project, [executed(project, name, **extras.get(name, {})) for name in names]


@pytest.fixture(scope="module", autouse=True)
def recipe_at_once():
    """The recipe's commands take seconds; tests of their own run them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipe, "_printed", lambda: PRINTED)
        yield


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    project, runs = real_book(tmp_path_factory.mktemp("built"), api=True)
    assert site.render(project, runs, profile="quick") is True
    return project, runs


@pytest.fixture(scope="module")
def soups(built):
    project, _ = built
    return {page: BeautifulSoup((project.html / f"{page}.html").read_bytes(), "html.parser") for page in pages(project)}


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Three of the notebooks' pages once the repository has an address."""
    project, runs = real_book(tmp_path_factory.mktemp("published"), url="https://github.com/somebody/some-book")
    runs = [*runs[:2], *(run for run in runs if run.name == DRAWN)]
    with of_few_pages(project, *(f"notebooks/{run.name}" for run in runs), "runs"):
        assert site.render(project, runs, profile="paper") is True
        yield project, runs


def terms(soup):
    """Links to the glossary's entries."""
    return [link for link in soup("a", href=True) if "#term-" in link["href"]]


def hosts(soup):
    return {urlsplit(link["href"]).netloc for link in soup("a", href=True)} - {""}


class TestTheRealBook:
    def test_its_prose_renders_without_a_warning_and_passes_the_check(self, built):
        project, _ = built
        assert all((project.html / f"{page}.html").is_file() for page in pages(project))
        assert not (project.build / "staging").exists()

    def test_the_recipe_leads_to_its_certificate(self, built, soups):
        project, _ = built
        (link,) = [one["href"] for one in soups["recipe"]("a") if "certificates/" in one["href"]]
        assert (project.html / link).read_text(encoding="utf-8") == PRINTED[recipe.CERTIFICATE]

    def test_cards_and_claims_page_come_from_the_notebooks(self, soups):
        assert "At 1 point." in soups["notebooks/08_comparison"].find(id="card-G-C3").get_text()
        row = soups["claims"].find(id="G-C3")
        assert row.find(class_="gspa-verdict").get_text() == "refuted"
        assert row("a")[0]["href"] == "notebooks/08_comparison.html#card-G-C3"
        refuted = soups["intro"].find("a", href="claims.html#claims-gspa-refuted")
        assert refuted.get_text() == "1"
        assert refuted["aria-label"].startswith("1 refuted")
        strip = soups["intro"].find(class_="gspa-strip")
        (picture,) = strip("img")
        assert picture["alt"] == "A line that rises."
        assert picture.parent["href"] == "notebooks/08_comparison.html"
        assert "notebooks/08_comparison.html#card-G-C3" in [link["href"] for link in strip("a")]

    def test_the_front_page_shows_the_picture_that_the_build_drew(self, built, soups):
        project, _ = built
        image = soups["intro"].find("img", src=lambda src: "headline" in src)
        assert image["alt"] == "A line that rises."
        assert (project.html / image["src"]).read_text(encoding="utf-8") == SVG
        data = soups["intro"].find("a", class_="download", href=lambda href: href.endswith("headline.csv"))
        assert (project.html / data["href"]).read_text(encoding="utf-8") == "x\n1\n"
        engineer, student, reviewer = (
            [link["href"] for link in door("a", class_="reference")] for door in soups["intro"](class_="sd-card-body")
        )
        assert engineer[:2] == ["recipe.html", "calculator.html"]
        assert student[0] == "notebooks/00_shuffling_in_pictures.html"
        reports = [f"report_{paper}.html" for paper in ("framework", "clones", "flame")]
        assert [href for href in reviewer if href in [*reports, "claims.html"]] == [*reports, "claims.html"]

    def test_each_figure_has_its_cell_its_command_and_its_data(self, built, soups):
        project, _ = built
        page = soups[f"notebooks/{DRAWN}"]
        lines = [figure.find(class_="gspa-made-from") for figure in page("figure")]
        command = f"gspa run {DRAWN} --profile quick -p n 500"
        # The cell of injected parameters is not in the source notebook, so it does not count.
        assert [line.get_text() for line in lines] == [
            f"From cell 4 of the notebook; remake it: {command}; data: figure-one.csv (2 rows).",
            f"From cell 5 of the notebook; remake it: {command}; data: "
            "figure-headline-table.csv (1 row), figure-headline-printed.csv (1 of 5,000 rows, evenly chosen).",
        ]
        assert page.find(id="cell-4").find("pre").get_text() == "page.figure('figure-one')\n"
        assert [link["href"] for link in lines[0]("a")] == [
            "#cell-4",
            f"../_sources/notebooks/{DRAWN}.ipynb",
            f"../_static/data/{DRAWN}/figure-one.csv",
        ]
        data = project.html / "_static" / "data" / DRAWN
        assert sorted(path.name for path in data.iterdir()) == [
            "figure-headline-0.svg",
            "figure-headline-1.svg",
            "figure-headline-printed.csv",
            "figure-headline-table.csv",
            "figure-one.csv",
        ]
        assert (data / "figure-one.csv").read_bytes() == b"x,y\n1,0.5\n2,0.25\n"
        for figure in page("figure"):
            assert figure.find(class_="gspa-figure").find("img")["alt"] == "A line that rises."
            assert figure.find("figcaption").find_parent(class_="gspa-figure") is None

    def test_every_page_says_from_what_it_was_made(self, soups):
        for page, soup in soups.items():
            said = soup.find(class_="gspa-provenance")
            assert said is not None, page
            assert f"gspa {gspa.__version__}" in said.get_text()
            assert "profile quick" in said.get_text()
            assert "not from a git checkout" in said.get_text()
            depth = "../" * page.count("/")
            assert said.a["href"] in (f"{depth}speed.html#build-record", "#build-record")  # "#": the page itself

    def test_what_a_cell_said_is_prose(self, soups):
        [said] = [p for p in soups["notebooks/17_exact_accounting"]("p") if "Within" in p.get_text()]
        assert said.find(class_="math").get_text() == r"\(-2.5 \times 10^{-7}\)"
        assert said.a["href"] == "../notation.html"
        assert said.find_parent(class_="cell") is None

    def test_a_pages_claims_lead_to_their_cards_and_its_words_to_the_glossary(self, soups):
        [said] = [p for p in soups["notebooks/08_comparison"]("p") if "settled here" in p.get_text()]
        links = {link.get_text(): link["href"] for link in said("a")}
        assert list(links) == ["G-C3", "clone", "victim"]  # each word once, where it is used first
        assert links["G-C3"] == "#card-G-C3"
        assert links["clone"] == "../glossary.html#term-clone"

    def test_a_word_of_the_glossary_leads_to_its_entry_at_its_first_use_and_stays_as_it_is_written(self, soups):
        page = soups[f"notebooks/{WORDY}"].article
        assert [(link["href"], link.get_text()) for link in terms(page)] == [
            ("../glossary.html#term-clone", "Clones"),
            ("../glossary.html#term-blanket", "Blanket"),
            ("../glossary.html#term-clone-probability", "clone probability"),
            ("../glossary.html#term-dominating-pair", "dominating pair"),
            ("../glossary.html#term-PLD", "PLD"),
        ]
        assert all(soups["glossary"].find(id=link["href"].partition("#")[2]) for link in terms(page))
        said = " ".join(page.get_text(" ").split())
        for words in ("cyclone and Clones hide; a clone too.", "with its clone probability is no", "A clone and PLDs"):
            assert words in said
        (own,) = [link for link in page("a") if link.get_text() == "dummy and a clone"]
        assert (own["href"], own.find("a")) == ("01_local_privacy.html", None)  # which is not linked again

    def test_no_word_of_a_page_of_prose_leads_there_by_itself(self, built, soups):
        project, _ = built
        prose = [page for page in soups if not page.startswith("notebooks/")]
        plain = [page for page in prose if "{term}" not in (project.book / f"{page}.md").read_text(encoding="utf-8")]
        assert any("clone" in soups[page].article.get_text() for page in plain)
        assert [link for page in plain for link in terms(soups[page])] == []

    def test_the_sidebar_lists_every_page_once_and_no_heading(self, built, soups):
        project, _ = built
        for page, soup in soups.items():
            listed = [link["href"] for link in soup.find(class_="bd-links")("a")]
            assert listed == [relative_uri(f"{page}.html", f"{name}.html") or "#" for name in pages(project)], page
            assert [item.a["href"] for item in soup.find(class_="bd-links")("li", class_="current")][-1] == "#", page

    def test_a_quick_build_says_so(self, soups, published):
        project, _ = published
        assert "A quick build" in soups["intro"].get_text()
        assert "A quick build" not in (project.book / "_generated" / "profile.md").read_text(encoding="utf-8")
        assert "profile paper" in (project.html / "speed.html").read_text(encoding="utf-8")

    def test_no_page_loads_thebe(self, soups):
        for soup in soups.values():
            assert not any("thebe" in str(script).lower() for script in soup("script"))

    def test_no_invented_address_is_linked(self, soups):
        known = {one.address for one in registry().values()}  # public sources of what others printed
        known |= set(re.findall(r"url\s*= \{(.+)\}", (ROOT / "book" / "references.bib").read_text(encoding="utf-8")))
        for soup in soups.values():
            links = {link["href"] for link in soup("a", href=True)} - known
            assert not {link for link in links if re.search("github|binder|colab", urlsplit(link).netloc)}

    def test_the_repositorys_address_brings_source_binder_and_colab(self, published):
        project, runs = published
        for run in runs:
            soup = BeautifulSoup((project.html / "notebooks" / f"{run.name}.html").read_bytes(), "html.parser")
            assert {"github.com", "mybinder.org", "colab.research.google.com"} <= hosts(soup)
            links = [link["href"] for link in soup("a", href=True) if urlsplit(link["href"]).netloc]
            mine = [link for link in links if "somebody/some-book" in link]
            assert "https://github.com/somebody/some-book" in mine
            # The buttons open the committed notebook, which lies in notebooks/ of the checkout.
            for host in ("mybinder.org", "colab.research.google.com"):
                (opened,) = {link for link in mine if urlsplit(link).netloc == host}
                file = re.search(r"notebooks/\w+\.ipynb", opened)[0]
                assert file == f"notebooks/{run.name}.ipynb"
                assert (ROOT / file).is_file()


@contextmanager
def of_few_pages(project, *names):
    """For a while a book of these pages and two that each page leads to, which renders in a third of the time."""
    root, *chapters = [*names, "speed"]
    toc = {"format": "jb-book", "root": root, "chapters": [{"file": name} for name in chapters]}
    few = {
        project.book / "_toc.yml": yaml.safe_dump(toc),
        project.book / "speed.md": "# Speed\n\n(build-record)=\n## Build record\n",
    }
    whole = {path: path.read_text(encoding="utf-8") for path in few}
    for texts in (few, whole):
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        if texts is few:
            yield


class TestRealFailures:
    """A page with a mistake, on top of a good site: the site must not notice."""

    def test_warnings_of_sphinx_keep_the_old_site(self, published):
        """A link that leads nowhere, and figures that lack something."""
        project, runs = published
        before = digest_tree(project.html, ("*",))
        page, notebook = project.book / "rerun.md", project.executed("quick") / f"{DRAWN}.ipynb"
        good = {path: path.read_bytes() for path in (page, notebook)}
        page.write_text("# Rerun\n\n[A page that is not there](nowhere.md)\n", encoding="utf-8")
        lacking = [drawn("figure-x"), drawn("figure-y", {"name": "t", "rows": 1, "of": 1, "csv": "x\n1\n"}, alt=" ")]
        broken = executed(project, DRAWN, cells=lacking)
        said = r"old one stays[^$]*rerun\.md[^$]*WARNING[^$]*nowhere"
        with of_few_pages(project, f"notebooks/{DRAWN}", "rerun"), pytest.raises(CheckFailed, match=said) as failure:
            site.render(project, [broken], profile="paper")
        lacks = "without data; draw it with a function that is marked keeps_data", "without alternative text"
        for number, words in enumerate(lacks, start=4):
            assert f"cell {number} has a figure {words}" in str(failure.value)
        assert digest_tree(project.html, ("*",)) == before
        for path, content in good.items():
            path.write_bytes(content)
        # The record still fits: nothing to do.
        assert site.render(project, runs, profile="paper") is False

    def test_a_notebooks_error_output_keeps_the_old_site(self, published):
        project, runs = published
        before = digest_tree(project.html, ("*",))
        errors = [
            new_output("error", ename=name, evalue="", traceback=lines)
            for name, lines in (("ValueError", RAISED), ("SyntaxError", UNREADABLE))
        ]
        broken = [executed(project, run.name, [error]) for run, error in zip(runs, errors, strict=False)]
        names = [f"notebooks/{run.name}" for run in broken]
        with of_few_pages(project, *names), pytest.raises(CheckFailed, match="old one stays") as failure:
            site.render(project, broken, profile="paper")
        assert [line.strip() for line in str(failure.value).splitlines()[1:]] == [
            f"{names[0]}.html: shows a traceback",
            f"{names[0]}.html: shows an error output",
            f"{names[1]}.html: shows an error output",
        ]
        assert digest_tree(project.html, ("*",)) == before


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A two-page project and a stand-in for Sphinx that writes `small.text` for each page and counts its calls.

    The parts that a build generates are those of the real book above: here there are none.
    """
    project = Project(tmp_path)
    project.book.mkdir()
    project.notebooks.mkdir()
    toc = {"format": "jb-book", "root": "intro", "chapters": [{"file": "notebooks/one"}]}
    (project.book / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    (project.book / "intro.md").write_text("# Intro\n", encoding="utf-8")
    project.config.write_text("title: x\n", encoding="utf-8")

    class Small:
        text = "<html><body>fine</body></html>"
        missing = ""
        calls = 0
        runs = (executed(project, "one"),)
        here = project

        def render(self, profile="quick"):
            return site.render(project, self.runs, profile=profile)

        def state(self):
            return digest_tree(project.html, ("*",)) if project.html.exists() else None

    state = Small()

    def sphinx(project, staging, profile):
        state.calls += 1
        for page in (one for one in pages(project) if one != state.missing):
            path = staging / "_build" / "html" / f"{page}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(state.text, encoding="utf-8")

    monkeypatch.setattr(site, "_sphinx", sphinx)
    monkeypatch.setattr(site, "_generate", lambda *_: None)
    return state


def test_a_process_that_died_has_its_last_words_in_the_failure(small, monkeypatch):
    monkeypatch.undo()  # the real Sphinx
    monkeypatch.setattr(site, "_CODE", "raise SystemExit('no Jupyter Book here')")
    with pytest.raises(CheckFailed, match="old one stays:\nno Jupyter Book here"):
        small.render()


class TestRender:
    def test_a_first_render_makes_the_site_and_a_second_does_nothing(self, small):
        assert small.render() is True
        assert (small.here.html / "notebooks" / "one.html").read_text(encoding="utf-8") == small.text
        assert sorted(path.name for path in small.here.build.iterdir()) == ["executed", "html", "site.json"]
        assert small.render() is False
        assert small.calls == 1

    def test_a_success_leaves_nothing_of_the_old_site(self, small):
        small.render()
        (small.here.html / "old.html").write_text("x", encoding="utf-8")
        small.text = "<html><body>new</body></html>"
        assert small.render() is True
        assert not (small.here.html / "old.html").exists()
        assert (small.here.html / "intro.html").read_text(encoding="utf-8") == small.text
        assert not list(small.here.build.glob("html.*"))

    @pytest.mark.parametrize(
        ("path", "text"),
        [
            ("book/intro.md", "# Other\n"),
            ("book/_static/x.css", "p {}"),
            ("_config.yml", "title: y\n"),
            ("_build/html/intro.html", "<html></html>"),  # somebody touched the site itself
            ("_build/site.json", "{"),
        ],
    )
    def test_any_change_renders_again(self, small, path, text):
        small.render()
        (small.here.root / path).parent.mkdir(exist_ok=True)
        (small.here.root / path).write_text(text, encoding="utf-8")
        assert small.render() is True
        assert small.render() is False
        assert small.calls == 2

    def test_another_notebook_or_profile_renders_again(self, small):
        small.render()
        assert small.render("paper") is True
        small.runs = (executed(small.here, "one", [new_output("stream", name="stdout", text="new")]),)
        assert small.render("paper") is True
        assert small.render("paper") is False
        assert small.calls == 3

    @pytest.mark.parametrize(
        ("fault", "problem"),
        [
            ({"text": '<a href="nowhere.html">x</a>'}, "link nowhere.html leads nowhere"),
            ({"missing": "intro"}, "intro: is in the table of contents and not in the site"),
        ],
    )
    @pytest.mark.parametrize("good", [False, True], ids=["no site before", "a good site before"])
    def test_a_site_that_fails_a_check_is_not_shown(self, small, fault, problem, good):
        if good:
            small.render()
        before = small.state()
        vars(small).update(fault)
        small.here.config.write_text("title: y\n", encoding="utf-8")  # so that there is something to render
        for _ in range(2):  # a failure is not remembered as done
            with pytest.raises(CheckFailed, match=problem):
                small.render()
            assert small.state() == before

    def test_many_problems_are_cut_short(self, small):
        small.text = '<a href="x.html">x</a>' * 15  # on two pages
        with pytest.raises(CheckFailed, match=r"30 problem\(s\)[^$]*and 10 more$") as failure:
            small.render()
        assert str(failure.value).count("leads nowhere") == 20

    def test_notebooks_of_earlier_builds_are_removed_from_the_book(self, small):
        stale = small.here.book / "notebooks" / "gone.ipynb"
        stale.parent.mkdir()
        stale.write_text("{}", encoding="utf-8")
        small.render()
        assert sorted(path.name for path in stale.parent.iterdir()) == ["one.ipynb"]
        assert (stale.parent / "one.ipynb").read_bytes() == small.runs[0].path.read_bytes()


def test_files_that_a_page_ships_lie_in_a_folder_of_their_own(tmp_path, monkeypatch):
    from IPython import display

    from gspa.book.page import Page

    shown = []
    monkeypatch.setattr(display, "display", lambda data, raw: shown.append(data))
    Page.ship(object.__new__(Page), {"a.json": "1\n", "../b.json": "2\n"})
    page = object.__new__(Page)
    page._namespace = {"delta": 1e-6}
    page.front(pd.DataFrame({"n": [1000]}), "budgets", says="At {{ delta | number }}:")
    table = shown[-1]["text/html"]
    path = tmp_path / "page.ipynb"
    cells = [{"outputs": [{"data": one} for one in shown]}, {"source": ""}]
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    folder = tmp_path / "out" / "certificates"
    folder.mkdir(parents=True)
    (folder / "old.json").write_text("0", encoding="utf-8")
    site._ship([path], folder.parent)
    front = folder.parent / "front" / "budgets.html"
    assert table in front.read_text(encoding="utf-8")
    assert front.read_text(encoding="utf-8").startswith("<p>At <span class='gspa-number'>10<sup>−6</sup></span>:</p>\n")
    assert "1,000" in table
    site._ship([], folder.parent)
    assert "<table" not in front.read_text(encoding="utf-8")  # a book without that page
    site._ship([path], folder.parent)
    assert {found.name: found.read_text(encoding="utf-8") for found in tmp_path.rglob("*.json")} == {
        "a.json": "1\n",
        "b.json": "2\n",
    }

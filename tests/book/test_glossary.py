"""Words of the glossary in a notebook's page: the first use leads there, and no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).resolve().parents[2]
CONF = f"""import sys
sys.path.insert(0, {str(ROOT / "book" / "_ext")!r})
extensions = ["myst_nb", "gspa_glossary"]
myst_enable_extensions = ["dollarmath"]
nb_execution_mode = "off"
"""
GLOSSARY = """# Words

```{glossary}
clone
  Somebody else's report.

clone probability
  Of a clone.

pair of counts
  Two numbers.

blanket
  What covers; see clone.

GDP
  A curve.

ghost
  A word that only closed places use.
```
"""
OPENING = """# A clone

## Ghosts, and the blanket

A [ghost and a clone](other.md), `clone`, $clone$, clone-like, cyclone and **Clones** hide; so does a clone.

> A Blanket with its *clone probability* is no clone probability of a blanket.

- The pair of counts, and *GDP*.

```
ghost
```

<p>ghost</p>
"""


def link_of(tag):
    return tag["href"], tag.get_text()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Page name to its article, as Sphinx renders it."""
    source = tmp_path_factory.mktemp("glossary")
    (source / "notebooks").mkdir()
    put_out = [
        new_output("display_data", data={"text/markdown": "A ghost by a cell.", "text/plain": "A ghost."}),
        new_output("stream", name="stdout", text="ghost"),
    ]
    cells = [
        new_markdown_cell(OPENING),
        new_code_cell("ghost = 1", outputs=put_out),
        new_markdown_cell("A clone and GDPs later."),
    ]
    about = {
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python", "pygments_lexer": "ipython3"},
    }
    notebook = new_notebook(cells=cells, metadata=about)
    (source / "notebooks" / "one.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")
    texts = {
        "conf.py": CONF,
        "index.md": "# Home\n\n```{toctree}\nnotebooks/one\nnotebooks/other\nprose\nglossary\n```\n",
        "notebooks/other.md": "# Other\n\nA blanket.\n",
        "prose.md": "# Prose\n\nA clone.\n",
        "glossary.md": GLOSSARY,
    }
    for name, text in texts.items():
        (source / name).write_text(text, encoding="utf-8")
    line = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(source), str(source / "html")]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = ("notebooks/one", "notebooks/other", "prose", "glossary")
    read = {name: BeautifulSoup((source / "html" / f"{name}.html").read_bytes(), "html.parser") for name in names}
    return {name: page.find(attrs={"role": "main"}) for name, page in read.items()}


def linked(page):
    return [link_of(tag) for tag in page("a") if "#term-" in tag.get("href", "")]


def test_each_word_leads_to_its_entry_at_its_first_use_as_it_is_written(pages):
    assert linked(pages["notebooks/one"]) == [
        ("../glossary.html#term-clone", "Clones"),
        ("../glossary.html#term-blanket", "Blanket"),
        ("../glossary.html#term-clone-probability", "clone probability"),
        ("../glossary.html#term-pair-of-counts", "pair of counts"),
        ("../glossary.html#term-GDP", "GDP"),
    ]


def test_the_entries_are_there(pages):
    for address, _ in linked(pages["notebooks/one"]):
        assert pages["glossary"].find(id=address.partition("#")[2])


def test_the_words_themselves_stay_as_they_were(pages):
    said = " ".join(pages["notebooks/one"].get_text(" ").split())
    for text in ("Clones hide; so does a clone.", "with its clone probability is no", "A clone and GDPs later."):
        assert text in said


def test_a_word_within_other_words_is_none(pages):
    assert "clone-like, cyclone" in pages["notebooks/one"].get_text()


@pytest.mark.parametrize("tag", ["h1", "h2", "pre", "code"])
def test_headings_and_code_are_left_alone(pages, tag):
    places = pages["notebooks/one"](tag)
    assert any("ghost" in place.get_text().lower() or "clone" in place.get_text() for place in places)
    assert [link for place in places for link in linked(place)] == []


def test_a_link_is_not_linked_again(pages):
    (own,) = [tag for tag in pages["notebooks/one"]("a") if tag.get_text() == "ghost and a clone"]
    assert own["href"] == "other.html"
    assert own.find("a") is None


def test_each_page_has_a_first_use_of_its_own(pages):
    assert linked(pages["notebooks/other"]) == [("../glossary.html#term-blanket", "blanket")]


def test_only_notebooks_pages_are_linked(pages):
    assert linked(pages["prose"]) == []
    assert {text for _, text in linked(pages["glossary"])} == {"¶"}  # each entry's link to itself

"""The comparison of two builds sees every difference that counts. The builds themselves: `make repeat`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import repeat
from repeat import differing, made
from small_book import environment, make_book

FILES = (
    "_build/html/index.html",
    "_build/html/_images/a.png",
    "_build/executed/quick/one.ipynb",
    "book/_generated/c.md",
)


@pytest.fixture
def two(tmp_path):
    for root in ("first", "second"):
        for name in FILES:
            path = tmp_path / root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"of {name}")
        record = tmp_path / root / "_build" / "executed" / "quick" / "one.json"
        record.write_text(f"seconds in the {root}")
        (tmp_path / root / "_build" / "site.json").write_text(root)
        (tmp_path / root / "_build" / "html" / "build-record.json").write_text(f"seconds in the {root}")
    return tmp_path / "first", tmp_path / "second"


def test_the_same_products_do_not_differ_however_long_they_took(two):
    assert differing(*two) == []
    assert sorted(made(two[0])) == sorted(FILES)


@pytest.mark.parametrize("name", FILES)
def test_one_other_byte_is_seen(two, name):
    path = two[1] / name
    before = path.stat()
    path.write_text(path.read_text().replace("of", "to"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # size and time alone would not tell
    assert differing(*two) == [name]


def test_a_file_that_only_one_has_is_seen(two):
    (two[0] / FILES[0]).unlink()
    (two[1] / "_build" / "html" / "more.html").touch()
    assert differing(*two) == ["_build/html/index.html", "_build/html/more.html"]


def test_two_empty_checkouts_have_made_nothing(tmp_path):
    assert list(made(tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("same", [True, False])
def test_a_small_book_is_built_twice_from_its_last_commit(tmp_path, monkeypatch, capfd, same):
    here = make_book(tmp_path / "book", figure=True)
    if not same:
        notebook = here.notebooks / "two.ipynb"
        notebook.write_text(notebook.read_text().replace("n * 2", "__import__('os').getcwd()"))
    for line in (["init", "-q"], ["add", "."], ["-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x"]):
        subprocess.run(["git", *line], cwd=here.root, check=True)
    (here.book / "intro.md").write_text("not committed, and not Markdown that has a title")
    for name, value in environment(TMPDIR=str(tmp_path)).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(repeat, "ROOT", here.root)
    monkeypatch.setattr(repeat.tempfile, "tempdir", None)
    monkeypatch.setattr(sys, "argv", ["repeat.py"])
    assert repeat.main() == (0 if same else 1)
    *listed, last = capfd.readouterr().out.splitlines()
    if same:
        assert last.endswith(" files in two quick builds: 0 differ.")
    else:
        assert "_build/executed/quick/two.ipynb" in listed
        assert "_build/html/notebooks/two.html" in listed
        assert "_build/html/notebooks/one.html" not in listed

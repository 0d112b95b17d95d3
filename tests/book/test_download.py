"""What the site offers to save: the archive is the commit, the wheel works, and both have the same bytes twice."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from gspa import __version__
from gspa.book import download, provenance
from gspa.book.project import Project

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder and what the page says."""
    if not provenance.commit(ROOT):
        pytest.skip("not a git checkout: there is no commit to archive")
    folder = tmp_path_factory.mktemp("made") / "download"
    return folder, download.write(Project(ROOT), folder)


def test_the_archive_holds_what_is_committed_and_nothing_else(made):
    folder, _ = made
    committed = subprocess.run(
        ["git", "-C", ROOT, "ls-tree", "-r", "--name-only", "HEAD"], capture_output=True, text=True
    )
    with tarfile.open(folder / f"gspa-{__version__}.tar.gz") as archive:
        found = {member.name.removeprefix(f"gspa-{__version__}/") for member in archive if member.isfile()}
    assert found == set(committed.stdout.splitlines())


@pytest.fixture(scope="module")
def installed(made, tmp_path_factory):
    """A folder with the wheel in it, and nothing of the checkout."""
    [wheel] = made[0].glob("*.whl")
    there = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", there, wheel]
    subprocess.run(pip, check=True)
    return there


def outside(installed, *line):
    env = os.environ | {"PYTHONPATH": str(installed)}
    return subprocess.run([sys.executable, *line], cwd=installed, env=env, capture_output=True, text=True)


def test_the_wheel_certifies_outside_of_the_checkout(installed):
    code = "import gspa; print(gspa.__file__); print(gspa.epsilon(eps=0.5, n=1000, delta=1e-4).upper)"
    where, value = outside(installed, "-c", code).stdout.split()
    assert Path(where).is_relative_to(installed)
    assert 0 < float(value) < 0.5


LINES = ["build", "verify", "run 08_comparison", "sweep 08_comparison -o t.csv", "serve"]


def test_the_wheel_has_no_page_and_no_claim_and_says_so_in_one_line(installed):
    assert not [path for path in installed.rglob("*") if path.name in ("pages", "claims.yaml", "errata.yaml")]
    code = f"from gspa.cli import run; print(*[run(line.split()) for line in {LINES}])"
    said = outside(installed, "-c", code)
    assert said.stdout.split() == ["2"] * len(LINES)
    refusals = said.stderr.splitlines()
    assert len(refusals) == len(LINES)
    assert all(one.endswith("run gspa inside a clone of the book") for one in refusals)


def test_the_bytes_are_the_same_twice_and_what_was_there_is_gone(made, tmp_path):
    folder, said = made
    again = tmp_path / "download"
    again.mkdir()
    (again / "gspa-0.0.0.tar.gz").write_text("old")
    assert download.write(Project(ROOT), again) == said
    names = sorted(path.name for path in folder.iterdir())
    assert names == sorted(path.name for path in again.iterdir())
    assert all((folder / name).read_bytes() == (again / name).read_bytes() for name in names)


def test_the_page_links_each_file(made):
    folder, said = made
    linked = re.findall(r"href='download/([^']+)'", said)
    assert sorted(linked) == sorted(path.name for path in folder.iterdir())
    assert all(name in said.split("```bash")[1] for name in linked)


def test_outside_of_a_checkout_it_says_so(tmp_path):
    assert "neither" in download.write(Project(tmp_path), tmp_path / "download")

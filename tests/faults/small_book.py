"""A whole small book that `gspa build` takes seconds for, and that command in a process of its own."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_project import add, make

from gspa.book import build_record
from gspa.book.project import Project

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """title: Small
author: nobody
copyright: ""
only_build_toc_files: true
execute: {execute_notebooks: "off"}
sphinx:
  config:
    html_context: {default_mode: auto}
    exclude_patterns: ["_generated/*"]
    nb_custom_formats: {.ipynb: gspa.book.reader.read}
    suppress_warnings: [mystnb.unknown_mime_type]
"""
TOC = "format: jb-book\nroot: intro\nchapters:\n- file: notebooks/one\n- file: notebooks/two\n"
# What could differ between two runs: a set's order, an object's address, what is said late, a figure's ids and date.
PAGE = (
    "from gspa.book.page import Page",
    "%%say later\nThey are {{ found | number }}.",
    "page = Page('NAME', globals())\nfound = n * FACTOR\nprint({'alpha', 'beta', 'gamma'})",
)
FIGURE = """import matplotlib.pyplot as plt
drawn, axis = plt.subplots()
axis.plot([1, n], [n, FACTOR])
page.figure(drawn, "figure-one", caption="A line to {{ found }}.", alt="It ends at {{ n }}.")"""


def write_page(project: Project, name: str, factor: int, *more: str) -> None:
    """One of the book's two notebooks; another `factor` makes another page."""
    add(project, name, *(cell.replace("NAME", name).replace("FACTOR", str(factor)) for cell in (*PAGE, *more)))


def make_book(root: Path, *, factor: int = 2, figure: bool = False) -> Project:
    """Two notebooks, one page of prose, everything that Jupyter Book needs; a figure takes seconds more."""
    project = make(root)
    project.config.write_text(CONFIG, encoding="utf-8")
    project.book.mkdir()
    (project.book / "_toc.yml").write_text(TOC, encoding="utf-8")
    (project.book / "intro.md").write_text("# Small\n\nText.\n", encoding="utf-8")
    for name in ("claims.yaml", "errata.yaml"):
        shutil.copyfile(ROOT / "book" / name, project.book / name)
    write_page(project, "one", factor, *([FIGURE] if figure else []))
    write_page(project, "two", factor)
    return project


def environment(**more: str | None) -> dict[str, str]:
    """This process's variables without a data folder of the reader's; None removes a variable."""
    plain = {k: v for k, v in os.environ.items() if k not in ("GSPA_DATA_DIR", "PYTHONHASHSEED")}
    changed = plain | {"PYTHONPATH": str(ROOT), "GSPA_OFFLINE": "1"} | more
    return {name: value for name, value in changed.items() if value is not None}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "gspa", *arguments]


BUILD = command("build", "--profile", "quick")


def run(
    project: Project, line: list[str] = BUILD, *, env: dict[str, str] | None = None, timeout: int = 300
) -> subprocess.CompletedProcess[str]:
    """Run one command at the book's root to its end."""
    return subprocess.run(
        line,
        cwd=project.root,
        env=env or environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
    )


def build(project: Project, **options: object) -> None:
    """Build, and fail with what was said where that fails."""
    done = run(project, **options)  # type: ignore[arg-type]
    assert done.returncode == 0, done.stderr


def pages(folder: Path) -> dict[str, str]:
    """Digest of every file below a folder, by relative name."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def rendered(project: Project) -> dict[str, str]:
    """The site's files but for the two that say how long the notebooks took."""
    return {name: sha for name, sha in pages(project.html).items() if name not in build_record.FILES}


def products(project: Project) -> dict[str, dict[str, str]]:
    """Everything that a build makes and that is to be the same each time: not the seconds that it took."""
    executed = pages(project.executed("quick"))
    return {
        "html": rendered(project),
        "executed": {name: sha for name, sha in executed.items() if not name.endswith(".json")},
        "records": dict.fromkeys(executed, ""),
        "sources": pages(project.book),
    }


def one_line(text: str) -> str:
    """The command's own message: the last line of what it said, with no traceback of its own above it."""
    assert "Traceback" not in text, text
    last = text.rstrip().splitlines()[-1]
    assert last.startswith("gspa: "), text
    return last


def namespace(*options: str) -> list[str]:
    """A command's prefix that gives it mounts or a network of its own; skips where that is not allowed."""
    prefix = ["unshare", *options]
    try:
        subprocess.run([*prefix, "true"], check=True, capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        pytest.skip(f"{' '.join(prefix)} is not allowed here")
    return prefix


def in_private_mounts(
    script: str, *arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a shell script whose mounts nobody else sees and which end with it; it ends with 77 where it has no leave."""
    whole = [*namespace("--mount", "--map-root-user"), "sh", "-eu", "-c", script, "sh", *arguments]
    done = subprocess.run(whole, cwd=cwd, env=env or environment(), capture_output=True, text=True, timeout=900)
    if done.returncode == 77:
        pytest.skip("mounting is not allowed here")
    return done

"""Render the book, check the result, and only then put it in place of the old site."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from gspa import _lifeline, pipeline, provenance, sitecheck
from gspa.claims import errata, report
from gspa.errors import CheckFailed
from gspa.pipeline import Run
from gspa.project import Project, digest, digest_tree, ensure_writable, remove_temporaries, write_atomically

_SOURCES = ("*.md", "*.yml", "*.py", "*.bib", "*.css", "*.js", "*.svg", "*.png", "*.rst")


@contextmanager
def exclusive(project: Project) -> Iterator[None]:
    """Hold the checkout's build lock; a second build is refused rather than mixed in."""
    for folder in (project.build, *_places(project)):
        ensure_writable(folder)
    lock = FileLock(project.build / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise CheckFailed("another build is running in this checkout; wait for it to end") from None
    try:
        _recover(project)
        yield
    finally:
        lock.release()


def _places(project: Project) -> tuple[Path, Path]:
    """The folders of the book that a build fills: refused, if at all, before any notebook has run."""
    return project.book / "notebooks", project.book / "_generated"


def _recover(project: Project) -> None:
    """Put right what a build that was killed left behind; only under the lock."""
    old = project.build / "html.old"
    if old.exists() and not project.html.exists():  # killed between the two renames of `_swap`
        old.rename(project.html)
    for folder in (project.build, project.book / "_generated", *project.build.glob("executed/*")):
        remove_temporaries(folder)


def render(project: Project, runs: Sequence[Run], *, profile: str) -> bool:
    """Render the executed notebooks and the prose to `_build/html`.

    Returns:
        False when the site was already what this would make.

    Raises:
        CheckFailed: Sphinx warned or the rendered site fails a check; the old site stays.
    """
    pipeline.place(project, runs)
    _generate(project, runs, profile)
    record = project.build / "site.json"
    wanted = _key(project, runs, profile)
    if _is_current(project, record, wanted):
        return False
    staging = project.build / "staging"
    shutil.rmtree(staging, ignore_errors=True)
    _sphinx(project, staging, profile)
    built = staging / "_build" / "html"
    problems = sitecheck.check(built, pages=sitecheck.pages_of(project.book / "_toc.yml"))
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems[:20])
        more = f"\n  and {len(problems) - 20} more" if len(problems) > 20 else ""
        raise CheckFailed(f"the rendered site has {len(problems)} problem(s), the old one stays:\n{listed}{more}")
    _swap(project, built)
    shutil.rmtree(staging, ignore_errors=True)
    write_atomically(record, json.dumps({"key": wanted, "html": digest_tree(project.html, ("*",))}))
    return True


def _generate(project: Project, runs: Sequence[Run], profile: str) -> None:
    """The pages' parts that come from results."""
    folder = ensure_writable(project.book / "_generated")
    outcomes = pipeline.outcomes(run.path for run in runs)
    write_atomically(folder / "findings.md", report.findings(outcomes))
    write_atomically(folder / "claims.md", report.claims_page(outcomes, {run.name for run in runs}))
    write_atomically(folder / "errata.md", errata.errata_page(outcomes, {run.name for run in runs}))
    note = "" if profile == "paper" else _QUICK
    write_atomically(folder / "profile.md", note)


_QUICK = """```{admonition} A quick build
:class: warning
Every number here comes from small sizes. Claims that need the papers' own sizes are not yet checked;
`gspa build` (profile `paper`) settles them.
```
"""


def _key(project: Project, runs: Sequence[Run], profile: str) -> str:
    return digest(
        profile,
        provenance.source_digest(),
        provenance.commit(project.root),
        json.dumps(provenance.versions(), sort_keys=True),
        project.config.read_bytes(),
        digest_tree(project.book, _SOURCES),
        *(run.path.read_bytes() for run in runs),
    )


def _is_current(project: Project, record: Path, wanted: str) -> bool:
    try:
        facts = json.loads(record.read_text(encoding="utf-8"))
        return bool(facts["key"] == wanted and facts["html"] == digest_tree(project.html, ("*",)))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _sphinx(project: Project, staging: Path, profile: str) -> None:
    """Jupyter Book with warnings as errors; what it says is shown only when it fails."""
    code = "import sys; from gspa import _lifeline; _lifeline.hold(); "
    code += "from jupyter_book.cli.main import main; sys.exit(main())"
    arguments = [
        "build",
        "book",
        "--config",
        "_config.yml",
        "--path-output",
        str(staging),
        "--all",
        "-W",
        "--keep-going",
    ]
    environment = os.environ | {
        "SOURCE_DATE_EPOCH": str(provenance.commit_time(project.root)),
        "PYTHONHASHSEED": "0",
        "GSPA_PROFILE": profile,
    }
    with _lifeline.pipe() as ending:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=project.root,
            env=environment,
            capture_output=True,
            encoding="utf-8",  # not the locale's, which may be unable to say a path
            errors="replace",
            stdin=ending,
        )
    if done.returncode != 0:
        said = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in (done.stdout + done.stderr).splitlines()]
        warnings = [line for line in said if "WARNING" in line or "ERROR" in line] or said[-15:]
        raise CheckFailed(
            "\n".join(["Jupyter Book did not render the site cleanly, the old one stays:", *warnings[:25]])
        )


def _swap(project: Project, built: Path) -> None:
    old = project.build / "html.old"
    shutil.rmtree(old, ignore_errors=True)
    if project.html.exists():
        project.html.rename(old)
    built.rename(project.html)
    shutil.rmtree(old, ignore_errors=True)

"""Render the book, check the result, and only then put it in place of the old site."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from gspa.accountant.errors import CheckFailed, InvalidOutput
from gspa.book import (
    build_record,
    cards,
    claims,
    download,
    evidence,
    figures,
    processes,
    provenance,
    recipe,
    say,
    sitecheck,
)
from gspa.book.project import Project
from gspa.book.run import Run, place
from gspa.files import digest, digest_tree, ensure_writable, kept, own_folder, remove_temporaries, write_atomically

_SOURCES = ("*.md", "*.yml", "*.yaml", "*.py", "*.bib", "*.css", "*.js", "*.svg", "*.png", "*.rst", "*.csv")


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
    """
    place(project, runs)
    _generate(project, runs, profile)
    record, key = project.build / "site.json", _key(project, runs, profile)
    before = kept(record)
    if before.get("key") == key and before.get("html") == digest_tree(project.html, ("*",)):
        return False
    staging = project.build / "staging"
    shutil.rmtree(staging, ignore_errors=True)
    _sphinx(project, staging, profile)
    built = staging / "_build" / "html"
    build_record.write(built, runs, profile)
    problems = sitecheck.check(built, pages=sitecheck.pages_of(project.book / "_toc.yml"))
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems[:20])
        more = f"\n  and {len(problems) - 20} more" if len(problems) > 20 else ""
        raise CheckFailed(f"the rendered site has {len(problems)} problem(s), the old one stays:\n{listed}{more}")
    _swap(project, built)
    shutil.rmtree(staging, ignore_errors=True)
    write_atomically(record, json.dumps({"key": key, "html": digest_tree(project.html, ("*",))}))
    return True


def _generate(project: Project, runs: Sequence[Run], profile: str) -> None:
    """The pages' parts that come from results."""
    folder = ensure_writable(project.book / "_generated")
    executed = [run.path for run in runs]
    found = cards.Found(claims.outcomes(executed), {run.name for run in runs})
    drawn = list(_figures(executed))
    parts = cards.parts(found, executed) | {
        "build_record": build_record.page(project, runs, profile),
        "headline": _headline(drawn, folder),
        "strip": cards.strip(found, _pictures(drawn, [asked.figure for asked in cards.STRIP], folder)),
        "download": download.write(project, folder / download.FOLDER),
        "profile": "" if profile == "paper" else _SMALL.format(profile),
    }
    for name, text in parts.items():
        write_atomically(folder / f"{name}.md", text)
    write_atomically(folder / "claims-index.js", cards.index(found))
    write_atomically(folder / "claims.jsonld", evidence.linked_data(found))
    shutil.rmtree(folder / "claims", ignore_errors=True)
    for name, script in cards.rows(found, evidence.tests_of(project)).items():
        write_atomically(ensure_writable(folder / "claims") / name, script)
    _ship(executed, folder)
    if (project.book / "recipe.md").is_file():
        text, certificate = recipe.page(project.build)
        write_atomically(folder / "recipe.md", text)
        write_atomically(ensure_writable(folder / "certificates") / recipe.CERTIFICATE, certificate)


_SMALL = """```{{admonition}} A {} build
:class: warning
Not every number here comes from the papers' own sizes. Claims that need them are not yet checked;
`gspa build` (profile `paper`) settles them.
```
"""


_SHIPPED = ("certificates", "front")
_FRONT = ("budgets",)  # tables that pages give to the first page


def _ship(executed: Iterable[Path], folder: Path) -> None:
    """Write the files that pages give to the site into its generated parts."""
    for name in _SHIPPED:
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in _FRONT:  # a book without that page has an empty place
        write_atomically(ensure_writable(folder / "front") / f"{name}.html", "<!-- not in this book -->\n")
    for path in executed:
        for data in say.outputs(json.loads(path.read_text(encoding="utf-8"))):
            for shipped, text in data.get(figures.FILES, {}).items():
                kind = _SHIPPED[_SHIPPED.index(Path(shipped).parts[0])]
                write_atomically(ensure_writable(folder / kind) / Path(shipped).name, text)


HEADLINE = "figure-headline"
"""The figure, drawn by some notebook, that the front page shows as well."""


Drawn = tuple[Path, str, dict[str, Any]]


def _figures(executed: Iterable[Path]) -> Iterator[Drawn]:
    """Each figure that notebooks drew: the notebook, the picture, and what the site needs beside it."""
    for path in executed:
        for data in say.outputs(json.loads(path.read_text(encoding="utf-8"))):
            if about := data.get(figures.MIME):
                yield path, "".join(data["image/svg+xml"]), about


def _pictures(drawn: Iterable[Drawn], names: Sequence[str], folder: Path) -> dict[str, str]:
    """Write those of the figures that some page drew to `folder`; by name what each shows."""
    alts = {}
    for _, svg, about in drawn:
        if about["name"] in names:
            write_atomically(folder / f"{about['name']}.svg", svg)
            alts[about["name"]] = about["alt"]
    return alts


def _headline(drawn: Iterable[Drawn], folder: Path) -> str:
    """The front page's figure (MyST Markdown), its picture and table written to `folder`; empty if no page drew it."""
    for path, svg, about in drawn:
        if about["name"] != HEADLINE:
            continue
        write_atomically(folder / "headline.svg", svg)
        write_atomically(folder / "headline.csv", about["tables"][0]["csv"])
        # The frames are files of that page, which `gspa_figures` writes.
        script = figures.script(about, f"_static/data/{path.stem}")
        turned = f"\n```{{raw}} html\n{script}\n```\n" if script else ""
        return (
            f"````{{figure}} _generated/headline.svg\n:alt: {about['alt']}\n\n{about['caption']} "
            f"{{download}}`CSV <_generated/headline.csv>`, from [this page](notebooks/{path.name})\n"
            f"{turned}````\n"
        )
    return ""


def _key(project: Project, runs: Sequence[Run], profile: str) -> str:
    return digest(
        profile,
        provenance.source_digest(),
        provenance.commit(project.root),
        json.dumps(provenance.versions(), sort_keys=True),
        project.config.read_bytes(),
        digest_tree(project.book, _SOURCES),
        digest_tree(project.notebooks, ("*.yaml",)),  # the forms
        *(run.path.read_bytes() for run in runs),
    )


def _sphinx(project: Project, staging: Path, profile: str) -> None:
    """The whole book with warnings as errors."""
    done = _jupyter_book(project, Path("book"), staging, profile, "--all", "-W", "--keep-going")
    if done.returncode != 0:
        raise CheckFailed("Jupyter Book did not render the site cleanly, the old one stays:\n" + _complaints(done))


def _jupyter_book(
    project: Project, source: Path, target: Path, profile: str, *flags: str
) -> subprocess.CompletedProcess[str]:
    """Render the book in `source` to `target/_build/html`, with the project's configuration."""
    arguments = ["build", str(source), "--config", "_config.yml", "--path-output", str(target), *flags]
    environment = processes.environment(ensure_writable(target / "settings")) | {
        "SOURCE_DATE_EPOCH": str(provenance.commit_time(project.root)),
        "GSPA_PROFILE": profile,
    }
    with subprocess.Popen(
        [sys.executable, "-c", _CODE, *arguments],
        cwd=project.root,
        env=environment,
        stdin=subprocess.PIPE,  # its lifeline
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",  # not the locale's, which may be unable to say a path
        errors="replace",
    ) as process:
        assert process.stdout is not None
        said = process.stdout.read()
    return subprocess.CompletedProcess(arguments, process.returncode, said)


# Sphinx keeps millions of small objects until it ends: looking for cycles among them takes a third of its time, and
# at its end another second.
_CODE = """
import atexit, gc, sys
gc.disable()
atexit.register(gc.freeze)
from gspa.book import processes
processes.hold()
from jupyter_book.cli.main import main
sys.exit(main())
"""


def _complaints(done: subprocess.CompletedProcess[str]) -> str:
    """What Jupyter Book said of its failure: its warnings, else its last lines."""
    said = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in done.stdout.splitlines()]
    return "\n".join([line for line in said if re.search("WARNING|ERROR|Error:", line)][:25] or said[-15:])


def page_folder(executed: Path) -> Path:
    """Where the page of an executed notebook goes: beside it."""
    folder = executed.resolve().with_name(f"{executed.stem}_html")
    if folder.exists() and not (folder / ".buildinfo").is_file():  # which Sphinx leaves in every site
        raise InvalidOutput(f"{folder}: is there already and is no rendered page; move it or choose another -o")
    return folder


def render_page(project: Project, notebook: str, executed: Path, folder: Path, *, profile: str) -> Path:
    """Render one executed notebook as the book would show it, for a look at it.

    It is a book of one page: links to the book's other pages are plain text.

    Returns:
        The page's file.
    """
    ensure_writable(project.build)
    # Inside of the checkout, from where the configuration's extensions find the notebook's parameters.
    with own_folder("page-", project.build) as temporary:
        book = temporary / "book"
        (book / "notebooks").mkdir(parents=True)
        shutil.copytree(project.book / "_static", book / "_static")
        shutil.copyfile(project.book / "references.bib", book / "references.bib")
        shutil.copyfile(executed, book / "notebooks" / f"{notebook}.ipynb")
        (book / "_toc.yml").write_text(f"format: jb-book\nroot: notebooks/{notebook}\n", encoding="utf-8")
        done = _jupyter_book(project, book, temporary, profile)
        built = temporary / "_build" / "html"
        if done.returncode != 0 or not (built / "notebooks" / f"{notebook}.html").is_file():
            raise CheckFailed("Jupyter Book did not render the page:\n" + _complaints(done))
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(built, folder)
    return folder / "notebooks" / f"{notebook}.html"


def _swap(project: Project, built: Path) -> None:
    old = project.build / "html.old"
    shutil.rmtree(old, ignore_errors=True)
    if project.html.exists():
        project.html.rename(old)
    built.rename(project.html)
    shutil.rmtree(old, ignore_errors=True)

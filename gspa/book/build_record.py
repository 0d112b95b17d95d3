"""What a site was built from, and how long each notebook took on what machine.

Versions, checksums and the commit are part of the site's pages: two builds of one commit show the same. Times are
not the same twice, so they stay out of the pages. They lie beside them in `build-record.json`, and in
`build-record.js` for the page that shows them, because a page opened from disk may load a script but no JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gspa.book import provenance
from gspa.book.fill import fill
from gspa.book.project import Project
from gspa.book.run import Run
from gspa.files import digest, kept, write_atomically

FILES = ("build-record.json", "build-record.js")
"""The two files of a site that differ from build to build, and no other."""


def facts(run: Run) -> dict[str, Any]:
    """What was kept when the notebook ran, be it in this build or in an earlier one; empty if nothing was."""
    return kept(run.path.with_suffix(".json"))


def page(project: Project, runs: Iterable[Run], profile: str) -> str:
    """The record's part that is the same for every build of one commit (MyST Markdown)."""
    runs = list(runs)
    data = {name: sha for run in runs for name, sha in facts(run).get("data", {}).items()}
    made = {
        "Commit": provenance.commit(project.root) or "not from a git checkout",
        "Profile": profile,
        "Package source, SHA-256": f"`{provenance.source_digest()}`",
        **provenance.versions(),
        **{f"{name}, SHA-256": f"`{sha}`" for name, sha in sorted(data.items())},
    }
    hashes = [(run.name, digest(run.path.read_bytes())[:16]) for run in runs]
    return fill("record.md", made=made, runs=hashes)


def write(html: Path, runs: Iterable[Run], profile: str) -> None:
    """Write the times beside the pages."""
    record = {
        "profile": profile,
        "notebooks": [
            {"name": run.name} | {fact: found.get(fact) for fact in ("seconds", "cpu", "memory", "machine")}
            for run in runs
            for found in [facts(run)]
        ],
    }
    text = json.dumps(record, indent=1)
    write_atomically(html / FILES[0], text + "\n")
    write_atomically(html / FILES[1], f"var gspaBuildRecord = {text};\n")

"""The source archive and the wheel of the version that built the site, for readers without a clone."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from gspa import __version__
from gspa.book import provenance
from gspa.book.project import Project
from gspa.files import ensure_writable, write_atomically

FOLDER = "download"
NAME = f"gspa-{__version__}"
_WITHOUT = "This site was not built in a git checkout, so it carries neither an archive nor a wheel.\n"


def write(project: Project, folder: Path) -> str:
    """Write both to `folder`, the same bytes every time; what the page says of them (MyST Markdown)."""
    commit = provenance.commit(project.root)
    if not commit:
        shutil.rmtree(folder, ignore_errors=True)
        return _WITHOUT
    packed = subprocess.run(
        ["git", "-C", str(project.root), "archive", "--format=tar", f"--prefix={NAME}/", "HEAD"],
        check=True,
        capture_output=True,
    ).stdout
    source = f"{NAME}.tar.gz"
    archive = gzip.compress(packed, mtime=0)
    wheel = next((held.name for held in folder.glob("*.whl")), "")
    if not wheel or not (folder / source).is_file() or (folder / source).read_bytes() != archive:
        shutil.rmtree(folder, ignore_errors=True)
        write_atomically(ensure_writable(folder) / source, archive)
        wheel = _wheel(folder / source, provenance.commit_time(project.root))
    parts = [_link(folder / source, "the source with its notebooks")]
    lines = ["# the whole book", f"tar xzf {source}", f"cd {NAME} && make book"]
    if wheel:
        parts.append(_link(folder / wheel, "the package alone"))
        lines += ["# the accountant alone", f"pip install {wheel}"]
    said = f"Version {__version__}, commit {commit}: {' and '.join(parts)}. Neither holds data sets."
    return "\n".join([said, "", "```bash", *lines, "```", ""])


def _link(file: Path, what: str) -> str:
    size = f"{file.stat().st_size / 1e6:.1f} MB"
    return f"<a href='{FOLDER}/{file.name}' download>{what}</a> ({file.name}, {size})"


def _wheel(source: Path, seconds: int) -> str:
    """Build the wheel of a source archive beside it, without a network; empty where `flit_core` is not at hand."""
    with tempfile.TemporaryDirectory() as temporary:
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
        subprocess.run(
            [sys.executable, "-m", "pip", "wheel", *options, "-w", temporary, str(source)],
            capture_output=True,
            env=os.environ | {"SOURCE_DATE_EPOCH": str(seconds)},
        )
        for made in Path(temporary).glob("*.whl"):
            write_atomically(source.with_name(made.name), made.read_bytes())
            return made.name
    return ""

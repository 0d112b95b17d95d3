"""Where the book's sources and products are, and how a file is replaced safely."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gspa.errors import GspaError, InvalidOutput

_ABANDONED = 24 * 3600  # seconds


@dataclass(frozen=True)
class Project:
    """The checkout: sources to the left, products under `_build`."""

    root: Path

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    @property
    def book(self) -> Path:
        return self.root / "book"

    @property
    def config(self) -> Path:
        return self.root / "_config.yml"

    @property
    def build(self) -> Path:
        return self.root / "_build"

    @property
    def html(self) -> Path:
        return self.build / "html"

    def executed(self, profile: str) -> Path:
        """Executed notebooks and their records, one folder a profile."""
        return self.build / "executed" / profile


def find(start: Path | None = None) -> Project:
    """The project around `start` (default: the working directory), else the one this package lies in."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[1]):
        if (folder / "_config.yml").is_file() and (folder / "notebooks").is_dir():
            return Project(folder)
    raise GspaError(f"{here}: no _config.yml and notebooks/ here or above; run gspa inside a clone of the book")


def cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # Linux: what taskset or a container allows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ensure_writable(folder: Path) -> Path:
    """Create `folder` and try a write in it, before any work starts."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as probe:
            probe.write(bytes(1 << 16))  # on a full disk a file can be made, not written
    except OSError as error:
        raise InvalidOutput(
            f"output folder {folder}: cannot be written ({error.strerror or error}); choose another"
        ) from None
    return folder


def write_atomically(path: Path, text: str) -> None:
    """Replace `path` in one step: a reader, or a kill, sees the old bytes or the new ones."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        os.chmod(temporary, 0o644)  # mkstemp makes it private
        os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename is None:  # a failed write names no file
            error.filename = str(path)
        raise


def remove_temporaries(folder: Path) -> None:
    """Remove what `write_atomically` left in `folder` when it was killed; call it where nobody else writes."""
    for path in folder.glob(".?*.????????"):
        path.unlink(missing_ok=True)


def remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove temporary folders of processes that were killed: a day old, so that nobody is at work in them."""
    for path in folder.glob(f"{prefix}*"):
        with suppress(OSError):  # gone already, or not ours to remove
            if time.time() - path.stat().st_mtime > _ABANDONED:
                shutil.rmtree(path)


def digest(*parts: bytes | str) -> str:
    """SHA-256 over length-prefixed parts, so that no two lists of parts collide."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "big"))
        total.update(data)
    return total.hexdigest()


def digest_tree(folder: Path, patterns: tuple[str, ...]) -> str:
    """SHA-256 over the names and bytes of the files that match, in name order."""
    files = sorted({path for pattern in patterns for path in folder.rglob(pattern) if path.is_file()})
    parts: list[bytes | str] = []
    for path in files:
        parts += [path.relative_to(folder).as_posix(), path.read_bytes()]
    return digest(*parts)

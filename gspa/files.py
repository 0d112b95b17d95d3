"""Files: hashes of their bytes, replacing one in a single step, and what killed processes left behind."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from gspa.accountant.errors import InvalidOutput


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


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace `path` in one step: a reader, or a kill, sees the old bytes or the new ones."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        os.chmod(temporary, 0o644)  # mkstemp makes it private
        os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename is None:  # a failed write names no file
            error.filename = str(path)
        raise


def kept(path: Path) -> dict[str, Any]:
    """The JSON object that a file holds; empty where it is missing, damaged or something else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def remove_temporaries(folder: Path) -> None:
    """Remove what `write_atomically` left in `folder` when it was killed; call it where nobody else writes."""
    for path in folder.glob(".?*.????????"):
        path.unlink(missing_ok=True)


@contextmanager
def own_folder(prefix: str, place: Path | None = None) -> Iterator[Path]:
    """A temporary folder that ends with the block; first those go that killed processes left.

    A lock beside it is held from before it is made until its end: a folder whose lock is free is nobody's.

    Args:
        prefix: of its name; another one for each use.
        place: where it lies, if not among the system's temporary folders.
    """
    from filelock import FileLock

    place = place or Path(tempfile.gettempdir())
    remove_abandoned(place, prefix)
    folder = place / f"{prefix}{secrets.token_hex(4)}"
    try:
        with FileLock(lock_of(folder)):
            folder.mkdir(mode=0o700)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock_of(folder).unlink(missing_ok=True)


def lock_of(folder: Path) -> Path:
    """The lock of an `own_folder`."""
    return folder.with_name(f"{folder.name}.lock")


def remove_abandoned(place: Path, prefix: str) -> None:
    """Remove folders of `own_folder` that a killed process left: nobody holds their locks."""
    from filelock import FileLock, Timeout

    for folder in (path for path in place.glob(f"{prefix}*") if path.is_dir()):
        with suppress(OSError, Timeout), FileLock(lock_of(folder), timeout=0):  # OSError: not ours to remove
            try:
                shutil.rmtree(folder)
            finally:
                lock_of(folder).unlink(missing_ok=True)


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

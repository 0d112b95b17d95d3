"""Files: hashes of their bytes, replacing one in a single step, and what killed processes left behind."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from gspa.accountant.errors import InvalidOutput

_ABANDONED = 24 * 3600  # seconds


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

"""The four MNIST files: where they are, whether they are sound, how to get them.

Only the SHA-256 of a file's *decompressed* payload is trusted, wherever the file came from, and a
file that fails the check is refused, never used. Nothing is unpickled.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
import threading
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gspa.accountant.errors import DataCorrupted, DataUnavailable
from gspa.files import own_folder

MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
# SHA-256 of the decompressed files, in the order train_x, train_y, test_x, test_y.
CHECKSUMS = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
CONNECT_SECONDS = 3.0
_FETCH = ".fetch-"  # temporary folders of downloads


@dataclass(frozen=True)
class FileStatus:
    """State of one MNIST file: `state` is "ok", "missing" or "damaged"; `size` is in bytes on disk."""

    file: str
    state: str
    path: str | None
    size: int | None
    expected_sha256: str
    found_sha256: str | None


def status() -> list[FileStatus]:
    """Look at the four MNIST files, check each checksum, change nothing."""
    folder = data_dir() or cache("mnist")
    return [_inspect(folder, file) for file in CHECKSUMS]


def fetch(*, progress: bool = True) -> Path:
    """Make sure that all four MNIST files are on disk and sound; download those that are not.

    A file is verified before it is moved into the cache in one step, so an interrupted fetch leaves
    nothing half-written and the next one continues with the files still missing.

    Args:
        progress: Show a progress bar on standard error.

    Returns:
        The folder that holds the files.

    Raises:
        DataUnavailable: no mirror answers, no cache folder can be written, or GSPA_OFFLINE=1.
        DataCorrupted: every mirror that answered sent something else, or a file in GSPA_DATA_DIR is damaged.
    """
    own = data_dir()
    if own is not None:  # the user's folder is read, never written
        for file in CHECKSUMS:
            payload(own, file)
        return own
    folder = cache("mnist")
    wanted = [file for file in CHECKSUMS if _inspect(folder, file).state != "ok"]
    if not wanted and folder is not None:
        return folder
    if os.environ.get("GSPA_OFFLINE") == "1":
        raise DataUnavailable("MNIST: GSPA_OFFLINE=1 forbids the download; unset it or set GSPA_DATA_DIR")
    try:
        if folder is None:
            raise OSError("no home directory")
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise DataUnavailable(f"MNIST: no cache folder to write to ({error}); set GSPA_DATA_DIR") from None
    mirrors = _reachable(MIRRORS)
    if not mirrors:
        raise DataUnavailable(
            "MNIST: no mirror answers; connect to a network or set GSPA_DATA_DIR to a folder with the four IDX files"
        )
    for file in wanted:
        _download(folder, file, mirrors, progress)
    return folder


def data_dir() -> Path | None:
    """The folder that GSPA_DATA_DIR names, if it is set."""
    value = os.environ.get("GSPA_DATA_DIR")
    return Path(value).expanduser() if value else None


def cache(kind: str) -> Path | None:
    """A folder under the user's cache, or None where the user has no home."""
    from platformdirs import user_cache_dir

    try:
        folder = Path(user_cache_dir("gspa", appauthor=False)).expanduser()
    except (OSError, RuntimeError, KeyError):
        return None
    # Without a home some platforms answer "~/.cache" literally: never create a folder named "~".
    return folder / kind if folder.is_absolute() else None


def find(folder: Path | None, file: str) -> Path | None:
    """The file in a folder, packed or raw."""
    candidates = [] if folder is None else [folder / f"{file}.gz", folder / file]
    return next((path for path in candidates if path.is_file()), None)


def _decompressed(raw: bytes) -> bytes:
    # By content, not by name: some servers unpack on the way.
    return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw


def _verified(raw: bytes, file: str, origin: str, remedy: str) -> bytes:
    expected = CHECKSUMS[file]
    try:
        content = _decompressed(raw)
    except (OSError, EOFError, zlib.error) as error:
        packed = hashlib.sha256(raw).hexdigest()
        raise DataCorrupted(
            f"{origin}: broken gzip ({error}); expected content of sha256 {expected}, "
            f"found none (the broken file itself has {packed}); {remedy}"
        ) from None
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise DataCorrupted(f"{origin}: expected content of sha256 {expected}, found {found}; {remedy}")
    return content


def payload(folder: Path | None, file: str) -> bytes:
    """The decompressed content of a file that passed its check."""
    path = find(folder, file)
    if path is None:
        place = f"{folder} (GSPA_DATA_DIR)" if data_dir() else str(folder or "a cache folder")
        raise DataUnavailable(f"MNIST: {file}[.gz] is not in {place}; put it there or run `gspa data fetch`")
    return _verified(path.read_bytes(), file, str(path), "delete it and run `gspa data fetch`")


def _inspect(folder: Path | None, file: str) -> FileStatus:
    path = find(folder, file)
    if path is None:
        return FileStatus(file, "missing", None, None, CHECKSUMS[file], None)
    try:
        found = hashlib.sha256(_decompressed(path.read_bytes())).hexdigest()
    except (OSError, EOFError, zlib.error):
        found = None
    state = "ok" if found == CHECKSUMS[file] else "damaged"
    return FileStatus(file, state, str(path), path.stat().st_size, CHECKSUMS[file], found)


def parse_idx(payload: bytes, file: str) -> npt.NDArray[np.uint8]:
    """The array in an IDX file of unsigned bytes; images are flattened to (n, pixels)."""
    rank = 3 if "idx3" in file else 1
    header = 4 + 4 * rank
    if len(payload) < header or payload[:4] != bytes([0, 0, 8, rank]):
        raise DataCorrupted(f"{file}: not an IDX file of {rank} dimensions of bytes")
    shape = np.frombuffer(payload, dtype=">u4", count=rank, offset=4).astype(np.int64)
    if len(payload) != header + int(shape.prod()):
        raise DataCorrupted(f"{file}: its header announces {tuple(shape.tolist())}, its length disagrees")
    values = np.frombuffer(payload, dtype=np.uint8, offset=header)
    return values.reshape(int(shape[0]), -1) if rank == 3 else values


def _reachable(mirrors: tuple[str, ...]) -> list[str]:
    """The mirrors that answer within CONNECT_SECONDS, in their order.

    Asked from daemon threads: a resolver without a network may block for much longer than any socket timeout.
    """
    import requests

    answered: set[str] = set()

    def ask(base: str) -> None:
        try:
            requests.head(base, timeout=CONNECT_SECONDS, allow_redirects=False).close()
            answered.add(base)
        except (requests.RequestException, OSError):
            pass

    threads = [threading.Thread(target=ask, args=(base,), daemon=True) for base in mirrors]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + CONNECT_SECONDS
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return [base for base in mirrors if base in answered]


def _download(folder: Path, file: str, mirrors: list[str], progress: bool) -> None:
    """Get one file, verify it in a temporary place, move it into the cache."""
    import pooch
    import requests
    from tqdm import tqdm

    damaged: DataCorrupted | None = None
    reason = "no mirror"
    for base in mirrors:
        with own_folder(_FETCH, folder) as temporary:
            part = temporary / f"{file}.gz"
            try:
                # A total of 1 until the answer's length is known: pooch takes a bar without a total for none.
                with tqdm(total=1, desc=file, unit="B", unit_scale=True, disable=not progress) as bar:
                    timeout = (CONNECT_SECONDS, 30)
                    get = pooch.HTTPDownloader(progressbar=bar, chunk_size=1 << 16, timeout=timeout)
                    get(f"{base}{file}.gz", str(part), None)
                # pooch's own check is of the compressed file, which differs between mirrors.
                raw = part.read_bytes()
                _verified(raw, file, f"{base}{file}.gz", "nothing was kept")
            except DataCorrupted as error:
                damaged = error
                continue
            except (requests.RequestException, OSError) as error:
                reason = f"{base}: {error}"
                continue
            packed = raw[:2] == b"\x1f\x8b"
            names = (f"{file}.gz", file) if packed else (file, f"{file}.gz")
            os.replace(part, folder / names[0])
            (folder / names[1]).unlink(missing_ok=True)  # only a damaged twin can be there
            return
    if damaged is not None:
        raise damaged
    raise DataUnavailable(f"MNIST: {file} cannot be downloaded ({reason}); set GSPA_DATA_DIR or try again")

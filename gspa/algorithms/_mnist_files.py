"""The four MNIST files: where they are, whether they are sound, how to get them; `digits` says what is trusted."""

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
LARGEST = 16 + 60_000 * 28 * 28  # bytes in the largest of them; what goes on beyond is damaged, and not read
CONNECT_SECONDS = 3.0
_NOT_OWN = "or unset GSPA_DATA_DIR"
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
    return Path(os.path.expanduser(value)) if value else None


def cache(kind: str) -> Path | None:
    """A folder under the user's cache, or None where the user has no home."""
    from platformdirs import user_cache_dir

    try:
        folder = Path(user_cache_dir("gspa", appauthor=False)).expanduser()
    except (OSError, RuntimeError, KeyError):
        return None
    # Without a home some platforms answer "~/.cache" literally: never create a folder named "~".
    return folder / kind if folder.is_absolute() else None


def present(folder: Path | None, file: str) -> list[Path]:
    """Where a folder holds the file, sound or not: as published, as torchvision (`MNIST/raw`) or Kaggle lays it out."""
    if folder is None:
        return []
    names = [file, file.replace("-idx", ".idx")]
    places = [part / within for part in (folder, folder / "MNIST" / "raw", folder / "raw") for within in ("", *names)]
    candidates = [place / f"{name}{end}" for place in places for name in names for end in (".gz", "")]
    return [path for path in candidates if path.is_file()]


def _content(path: Path) -> tuple[bytes, str | None, str]:
    """What a file holds, unpacked, and its SHA-256; without them, what is wrong with it."""
    try:
        with path.open("rb") as stream:
            # By content, not by name: some servers unpack on the way.
            packed = stream.peek(2)[:2] == b"\x1f\x8b"
            source = gzip.GzipFile(fileobj=stream) if packed else stream
            content = source.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        return b"", None, f"cannot be read or unpacked ({error}), "
    if len(content) > LARGEST:
        return b"", None, f"holds more than {LARGEST} bytes, "
    return content, hashlib.sha256(content).hexdigest(), ""


def _verified(path: Path, file: str, origin: str, remedy: str) -> bytes:
    content, found, fault = _content(path)
    if found != CHECKSUMS[file]:
        expected = f"expected content of sha256 {CHECKSUMS[file]}"
        raise DataCorrupted(f"{origin}: {fault}{expected}, found {found or 'none'}; {remedy}")
    return content


def payload(folder: Path | None, file: str) -> bytes:
    """The decompressed content of the first file in a folder that passes the check.

    Raises:
        DataUnavailable: the folder holds no such file.
        DataCorrupted: none of those that it holds is sound.
    """
    own = data_dir() is not None
    damaged: DataCorrupted | None = None
    for path in present(folder, file):
        try:
            return _verified(
                path, file, str(path), f"replace it, {_NOT_OWN}" if own else "delete it and run `gspa data fetch`"
            )
        except DataCorrupted as error:
            damaged = damaged or error
    if damaged is not None:
        raise damaged
    place = f"{folder} (GSPA_DATA_DIR)" if own else str(folder or "a cache folder")
    remedy = f"put it there, {_NOT_OWN}" if own else "run `gspa data fetch`"
    raise DataUnavailable(f"MNIST: {file}[.gz] is not in {place}; {remedy}")


def _inspect(folder: Path | None, file: str) -> FileStatus:
    seen = FileStatus(file, "missing", None, None, CHECKSUMS[file], None)
    for path in present(folder, file):
        _, found, _ = _content(path)
        state = "ok" if found == CHECKSUMS[file] else "damaged"
        if state == "ok" or seen.state == "missing":
            seen = FileStatus(file, state, str(path), path.stat().st_size, CHECKSUMS[file], found)
        if state == "ok":
            break
    return seen


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
    import requests
    from tqdm import tqdm

    damaged: DataCorrupted | None = None
    reason = "no mirror"
    for base in mirrors:
        with own_folder(_FETCH, folder) as temporary:
            part = temporary / f"{file}.gz"
            try:
                with (
                    requests.get(f"{base}{file}.gz", stream=True, timeout=(CONNECT_SECONDS, 30)) as answer,
                    part.open("wb") as kept,
                    tqdm(desc=file, unit="B", unit_scale=True, disable=not progress) as bar,
                ):
                    answer.raise_for_status()
                    length = answer.headers.get("content-length", "")
                    bar.total = int(length) if length.isdecimal() else None
                    for chunk in answer.iter_content(1 << 16):
                        bar.update(kept.write(chunk))
                        if kept.tell() > LARGEST:
                            break  # and the check refuses it
                _verified(part, file, f"{base}{file}.gz", "nothing was kept")
            except DataCorrupted as error:
                damaged = error
                continue
            except (requests.RequestException, OSError) as error:
                reason = f"{base}: {error}"
                continue
            with part.open("rb") as kept:
                packed = kept.read(2) == b"\x1f\x8b"
            names = (f"{file}.gz", file) if packed else (file, f"{file}.gz")
            os.replace(part, folder / names[0])
            (folder / names[1]).unlink(missing_ok=True)  # only a damaged twin can be there
            return
    if damaged is not None:
        raise damaged
    raise DataUnavailable(f"MNIST: {file} cannot be downloaded ({reason}); set GSPA_DATA_DIR or try again")

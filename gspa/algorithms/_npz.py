"""Named arrays in a file that can be lost: a damaged, missing or unwritable one only costs time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gspa.files import own_folder

_PART = ".part-"
Arrays = dict[str, npt.NDArray[Any]]


def read(path: Path) -> Arrays | None:
    """The arrays of a file written by `write`, or None where it is missing or damaged. Nothing is unpickled."""
    try:
        # A zip archive carries a CRC per member, so truncation and bit flips raise here.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except Exception:  # whatever is wrong with the file, computing again is right
        return None


def write(path: Path, arrays: Arrays) -> None:
    """Replace `path` in one step; where that is not possible (full or read-only disk), leave it as it was."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with own_folder(_PART, path.parent) as temporary:
            part = temporary / "part.npz"
            # Keyword arguments of savez would clash with an array called "file".
            np.savez(part, allow_pickle=False, **arrays)
            os.replace(part, path)
    except OSError:
        pass

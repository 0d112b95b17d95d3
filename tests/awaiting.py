"""Waiting for other processes, never without an end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def until(met: Callable[[], object], *, within: float = 60, pause: float = 0.02) -> None:
    """Ask again and again, and fail where it is not so in time."""
    deadline = time.monotonic() + within
    while not met():
        assert time.monotonic() < deadline, f"not so within {within} seconds"
        time.sleep(pause)


def number(path: Path, *, within: float = 60) -> int:
    """The number that some process writes to a file."""
    until(lambda: path.exists() and path.read_text(), within=within)
    return int(path.read_text())


def ended(process: int, *, within: float = 20) -> bool:
    """Whether a process that is no child of this one ends; one whose status nobody has asked for has ended too."""

    def over() -> bool:
        try:
            os.kill(process, 0)
            return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except (ProcessLookupError, FileNotFoundError):
            return True

    try:
        until(over, within=within)
    except AssertionError:
        return False
    return True

"""Child processes that end with their parent, also when the parent was killed and could not end them.

The parent keeps the writing end of a pipe open and the child has the reading end as its standard
input. Whatever ends the parent closes its end, and the child ends at once. Otherwise a killed build
would leave notebooks and Sphinx at work in a checkout that the next build takes for its own.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.connection import wait


def hold(*temporary: str) -> None:
    """End this process as soon as its standard input ends; remove the `temporary` folders first."""

    def follow() -> None:
        while os.read(0, 4096):  # not sys.stdin: its lock would be held when this process ends by itself
            pass
        for folder in temporary:
            shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def hold_to_creator() -> None:
    """The same for a process that `multiprocessing` created: end as soon as the one that created it does."""
    creator = parent_process()
    if creator is not None:
        threading.Thread(target=lambda: (wait([creator.sentinel]), os._exit(1)), daemon=True).start()


@contextmanager
def pipe() -> Iterator[int]:
    """What a child is to have as its standard input: it ends when the block or this process does."""
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(reading)
        os.close(writing)

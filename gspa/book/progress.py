"""A live line a notebook, or one for a sweep: what is done, time spent; plain lines where there is no terminal."""

from __future__ import annotations

import time
from datetime import timedelta
from threading import Lock
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class Display:
    """Shows what each notebook is doing; `update` may be called from any thread."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._lock = Lock()
        self._tasks: dict[str, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description:<22}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def update(self, name: str, done: int, total: int, state: str) -> None:
        """One notebook's state: cells done of all, and a word for it."""
        with self._lock:
            if name not in self._tasks:
                self._tasks[name] = self._progress.add_task(name, total=total, state=state)
            self._progress.update(self._tasks[name], completed=done, total=total, state=state)
            if not self._console.is_terminal and (state != "running" or done == 0):
                self._console.print(f"{name}: {state}", highlight=False)


class Countdown:
    """One bar over many alike tasks, with the time left by their mean pace."""

    def __init__(self, *, every: float = 10.0) -> None:
        self._console = Console(stderr=True)
        self._every = every  # seconds between two plain lines
        self._begin = self._said = time.monotonic()
        self._progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
            speed_estimate_period=3600,
        )
        self._task = self._progress.add_task("", total=None, state="")

    def __enter__(self) -> Countdown:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def update(self, done: int, total: int, failed: int) -> None:
        """How many are finished, of how many, and how many of those failed."""
        state = f"{failed} failed" if failed else ""
        self._progress.update(self._task, completed=done, total=total, state=state)
        now = time.monotonic()
        if not self._console.is_terminal and done and (done == total or now - self._said >= self._every):
            self._said = now
            left = timedelta(seconds=round((now - self._begin) / done * (total - done)))
            words = [f"{done} of {total} done", *([state] if state else []), f"about {left} left"]
            self._console.print(", ".join(words), highlight=False)

"""A live line a notebook: cells done, time spent; plain lines where there is no terminal."""

from __future__ import annotations

from threading import Lock
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


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

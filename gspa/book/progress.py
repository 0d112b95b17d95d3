"""What a person sees while notebooks run: a bar for all with the time left, and a line for each at work."""

from __future__ import annotations

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
    """Shows what each task is doing, one plain line for each that ends where there is no terminal.

    `update` may be called from any thread.
    """

    def __init__(self, total: int) -> None:
        """So many tasks there are in all."""
        self._console = Console(stderr=True)
        self._lock = Lock()
        self._tasks: dict[str, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description:<22}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
            speed_estimate_period=3600,
        )
        self._all = self._progress.add_task("all", total=total)

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def update(self, name: str, done: int, total: int, state: str) -> None:
        """One task's state: cells done of all, and a word for it; any but "running" is its last."""
        with self._lock:
            if state == "running":
                if name not in self._tasks:
                    self._tasks[name] = self._progress.add_task(name, total=total)
                self._progress.update(self._tasks[name], completed=done, total=total)
                return
            if name in self._tasks:
                self._progress.remove_task(self._tasks.pop(name))
            self._progress.advance(self._all)
            if state != "done" or not self._console.is_terminal:
                self._console.print(f"{name}: {state}", highlight=False)

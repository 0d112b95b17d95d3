"""What a person sees while notebooks run: a bar for all with the time left, and a line for each at work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

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


@contextmanager
def display(total: int) -> Iterator[Callable[[str, int, int, str], None]]:
    """Shows what each of so many tasks is doing, one plain line for each that ends where there is no terminal.

    What it gives tells one task's state, from any thread: its name, cells done of all, and a word for it; any but
    "running" is its last.
    """
    console, lock, tasks = Console(stderr=True), Lock(), dict[str, TaskID]()
    with Progress(
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        speed_estimate_period=3600,
    ) as shown:
        whole = shown.add_task("all", total=total)

        def update(name: str, done: int, cells: int, state: str) -> None:
            with lock:
                if state == "running":
                    if name not in tasks:
                        tasks[name] = shown.add_task(name, total=cells)
                    shown.update(tasks[name], completed=done, total=cells)
                    return
                if name in tasks:
                    shown.remove_task(tasks.pop(name))
                shown.advance(whole)
                if state != "done" or not console.is_terminal:
                    console.print(f"{name}: {state}", highlight=False)

        yield update

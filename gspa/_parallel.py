"""Independent tasks in processes of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

from gspa import _lifeline
from gspa import _validate as check
from gspa.project import cores

Task = TypeVar("Task")
Found = TypeVar("Found")


def workers(at_once: int) -> ProcessPoolExecutor:
    """Processes that end with this one, however it ends; those of a pool alone would wait for ever after a kill."""
    return ProcessPoolExecutor(at_once, mp_context=get_context("spawn"), initializer=_lifeline.hold_to_creator)


def each(function: Callable[[Task], Found], tasks: Sequence[Task], *, jobs: int | None = None) -> Iterator[Found]:
    """The function's value for each task, in the tasks' order; they start in that order, so give the longest first.

    Args:
        function: picklable, and so are its arguments and values.
        tasks: what to do.
        jobs: processes at once (default: the cores at hand); 1 runs here, without a process. A process costs
            seconds to start when the function needs torch.
    """
    at_once = min(check.count(jobs=jobs) if jobs is not None else cores(), len(tasks))
    if at_once <= 1:
        yield from map(function, tasks)
        return
    with workers(at_once) as pool:
        yield from pool.map(function, tasks)

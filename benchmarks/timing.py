"""How the benchmarks take time."""

from __future__ import annotations

import time
from collections.abc import Callable

from gspa.book.text import greek, powers


def best(function: Callable[[], object], repeats: int = 3) -> float:
    """Least seconds of a few runs: the one that other work disturbed least."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def symbols(title: str) -> str:
    """A title as the pages write it: Greek letters, powers of ten."""
    return powers(greek(title))

"""How the benchmarks take time, and what their commands have in common."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gspa.accountant import allocation
from gspa.accountant.bound import Bound
from gspa.book.text import greek, powers


def best(function: Callable[[], object], repeats: int = 3) -> float:
    """Least seconds of a few runs: the one that other work disturbed least."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def dealt_epsilon(steps: int, *, delta: float) -> Bound:
    """eps of one of so many steps at sigma = 1, asked as if for the first time: what was kept is forgotten."""
    allocation.Dealt.bracket.cache_clear()
    return allocation.Allocated(allocation.Allocation(1.0, steps)).epsilon(delta)


def symbols(title: str) -> str:
    """A title as the pages write it: Greek letters, powers of ten."""
    return powers(greek(title))


def command(
    arguments: Sequence[str],
    about: str,
    measure: Callable[[], dict[str, Any]],
    table: Callable[[dict[str, Any]], str],
    keep: Callable[[dict[str, Any]], None],
) -> None:
    """Measure and print; with --record, keep."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--record", action="store_true", help="keep the result, and what the book shows of it")
    record = parser.parse_args(arguments).record
    found = measure()
    print(table(found), end="")
    if record:
        keep(found)


def write(found: dict[str, Any], record: Path, shown: Path, table: str) -> None:
    """The record, and the table that the book shows of it."""
    record.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    shown.write_text(table, encoding="utf-8")

"""Random allocation side by side with PLD_accounting (Feldman and Shenfeld 2026), in one run.

`python benchmarks/allocation.py` prints the table; `--record` keeps it in `benchmarks/allocation.json` and draws from
that file the table of the book's page on speed. It needs the extra `peers`. Nothing here is asserted; seconds are this
machine's and this moment's. The peer takes many minutes at the larger sizes.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from timing import best, command, dealt_epsilon, write

from gspa.book.text import number

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "benchmarks" / "allocation.json"
TABLE = ROOT / "book" / "_allocation_table.md"
DELTA = 1e-6
STEPS = (1_000, 10_000)  # the peer is asked, too
MORE = (1_000_000,)


def measure() -> dict[str, Any]:
    """`rows`: steps, who, both ends of eps at sigma = 1 (one record added or removed), seconds."""
    from PLD_accounting import gaussian_allocation_epsilon_range, has_numba

    rows: list[dict[str, Any]] = []

    def note(steps: int, who: str, low: float, high: float, seconds: float) -> None:
        rows.append({"steps": steps, "who": who, "lower": low, "upper": high, "s": float(f"{seconds:.3g}")})
        print(rows[-1], flush=True)

    gaussian_allocation_epsilon_range(delta=1e-3, sigma=2.0, num_steps=10)  # what is compiled once
    for steps in (*STEPS, *MORE):
        found = dealt_epsilon(steps, delta=DELTA)
        seconds = best(lambda steps=steps: dealt_epsilon(steps, delta=DELTA))
        note(steps, "gspa", found.lower, found.upper, seconds)
        if steps in STEPS:
            begin = time.perf_counter()
            # The upper end comes first.
            theirs = sorted(gaussian_allocation_epsilon_range(delta=DELTA, sigma=1.0, num_steps=steps))
            note(steps, "PLD_accounting", *map(float, theirs), time.perf_counter() - begin)
    names = ["numpy", "scipy", "PLD_accounting", *(["numba"] if has_numba() else [])]
    return {
        "rows": rows,
        "measured": f"{datetime.now(UTC):%Y-%m}",
        "cores": os.cpu_count(),
        "versions": {"python": platform.python_version()} | {name: _version(name) for name in names},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "?"


def table(found: dict[str, Any]) -> str:
    """The record as a Markdown table, and on what it was measured."""
    lines = ["| Steps | Who | Interval of $\\epsilon$ | Width | Time (s) | Ratio |", "|---:|---|---|---:|---:|---:|"]
    unit = {row["steps"]: row["s"] for row in found["rows"] if row["who"] == "gspa"}
    for row in found["rows"]:
        low, high = row["lower"], row["upper"]
        ratio = float(f"{row['s'] / unit[row['steps']]:.3g}")
        lines.append(
            f"| {row['steps']:,} | {row['who']} | {low:.6g} to {high:.6g} | {number(1 - low / high, 2)} | {row['s']:g} "
            f"| {ratio:,g} x |"
        )
    versions = ", ".join(f"{name} {given}" for name, given in found["versions"].items())
    return "\n".join([*lines, "", f"Measured {found['measured']} on {found['cores']} shared cores; {versions}."]) + "\n"


def keep(found: dict[str, Any]) -> None:
    """The record, and what the page shows of it."""
    write(found, RECORD, TABLE, table(found))


if __name__ == "__main__":
    command(sys.argv[1:], "Random allocation side by side with PLD_accounting.", measure, table, keep)

"""The accountant's time, side by side with plain evaluations, in one run.

`python benchmarks/accountant.py` prints ratios. With `--record` it also keeps them in `benchmarks/accountant.json` and
draws from that file the table of the book's page on speed. Nothing here is asserted; seconds are this machine's and
this moment's. How the cost grows: `benchmarks/growth.py`.

(a) a million distinct budgets against `numpy.exp` over the same numbers;
(b) one central delta against a loop over the number of clones with scipy.stats, as published code does it,
    and a composition against dp_accounting's of the same privacy loss distribution.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from timing import best, command, symbols, write

from gspa.accountant import budgets, interop, one_round, rounds

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "benchmarks" / "accountant.json"
TABLE = ROOT / "book" / "_speed_table.md"


def loop_delta(eps: float, *, eps0: float, n: int) -> float:
    """delta(eps) for uniform randomized response by a loop over C, within ten standard deviations."""
    w = 1 / (1 + np.exp(-eps0))
    clones = stats.binom(n - 1, 2 * (1 - w))
    total = 0.0
    for c in range(int(clones.ppf(1e-14)), int(clones.isf(1e-14)) + 1):
        i = np.arange(c + 2)
        b = stats.binom(c, 0.5)
        p0 = w * b.pmf(i - 1) + (1 - w) * b.pmf(i)
        p1 = (1 - w) * b.pmf(i - 1) + w * b.pmf(i)
        total += clones.pmf(c) * np.maximum(p0 - np.exp(eps) * p1, 0).sum()
    return total


def measure() -> dict[str, Any]:
    """All comparisons: `rows` of (part, what, milliseconds, ratio, ratio to what)."""
    rows: list[dict[str, Any]] = []

    def note(part: str, what: str, seconds: float, unit: float, against: str) -> None:
        ratio = float(f"{seconds / unit:.3g}")
        rows.append({"part": part, "what": what, "ms": float(f"{1e3 * seconds:.3g}"), "ratio": ratio, "to": against})

    part = "a million distinct budgets, delta = 1e-6"
    many = budgets.draw("unif2", n=1_000_000, rng=0)
    unit = best(lambda: np.exp(many.eps))
    note(part, "numpy.exp over the budgets", unit, unit, "numpy.exp")
    ours = best(lambda: one_round.central_epsilon(many, delta=1e-6))
    note(part, "one_round.central_epsilon", ours, unit, "numpy.exp")

    part = "one delta of 2,000 users at 0.5"
    people = budgets.constant(0.5, n=2_000)
    certified = one_round.central_delta(people, eps=0.03)
    begin = time.perf_counter()
    looped = loop_delta(0.03, eps0=0.5, n=2_000)
    loop = time.perf_counter() - begin
    if not np.isclose(certified.value, looped, rtol=1e-9):
        raise SystemExit(f"the two disagree: {certified.value} and {looped}")
    once = best(lambda: one_round.central_delta(people, eps=0.03))
    note(part, "one_round.central_delta", once, once, "ours")
    note(part, "loop over the clones with scipy.stats", loop, once, "ours")

    part = "100 rounds of them, delta = 1e-6"
    hundred = [(rounds.shuffled(people), 100)]
    composed = best(lambda: rounds.compose(hundred, delta=1e-6))
    theirs = best(lambda: interop.compose_with_dp_accounting(hundred).get_epsilon_for_delta(1e-6))
    note(part, "rounds.compose, both sides with certificate", composed, composed, "ours")
    note(part, "dp_accounting, one pessimistic side of our export", theirs, composed, "ours")

    return {
        "rows": rows,
        "measured": f"{datetime.now(UTC):%Y-%m}",
        "cores": os.cpu_count(),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in ("numpy", "scipy")},
    }


def table(found: dict[str, Any]) -> str:
    """The record as a Markdown table, and on what it was measured."""
    lines = ["| What | Time (ms) | Ratio |", "|---|---:|---:|"]
    part = ""
    for row in found["rows"]:
        if row["part"] != part:
            part = row["part"]
            lines.append(f"| **{symbols(part)}** | | |")
        lines.append(f"| {row['what']} | {row['ms']:g} | {row['ratio']:g} x {row['to']} |")
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return "\n".join([*lines, "", f"Measured {found['measured']} on {found['cores']} shared cores; {versions}."]) + "\n"


def keep(found: dict[str, Any]) -> None:
    """The record, and what the page shows of it."""
    write(found, RECORD, TABLE, table(found))


if __name__ == "__main__":
    command(sys.argv[1:], "The accountant's time, side by side with plain evaluations.", measure, table, keep)

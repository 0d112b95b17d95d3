"""How the accountant's time and memory grow, beside closed forms and dp_accounting, in one run.

`python benchmarks/growth.py` prints the table: central epsilon against the number of users, of distinct budgets, of
rounds, and against delta; the exponent is the slope of log(seconds) on log(size) by least squares over all sizes. With
`--record` it also keeps the numbers in `benchmarks/growth.json` and draws from that file the table and the figure of
the book's page on speed. dp_accounting is asked where the extra `dp` is installed. Nothing here is asserted.
"""

from __future__ import annotations

import os
import platform
import sys
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from timing import best, command, symbols, write

from gspa.accountant import budgets, interop, one_round, rounds
from gspa.accountant.closed_forms import fmt23_epsilon, gspa_epsilon
from gspa.accountant.errors import OutsideValidity
from gspa.book import figures, say
from gspa.book.text import number

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "benchmarks" / "growth.json"
TABLE = ROOT / "book" / "_growth_table.md"
FIGURE = ROOT / "book" / "_static" / "growth.svg"
OURS, CLOSED, GOOGLE = "gspa", "closed form", "dp_accounting"
EPS, DELTA, USERS, CROWD = 0.5, 1e-6, 10**6, 10**7


def _users(n: float) -> dict[str, Callable[[], object]]:
    crowd = budgets.constant(EPS, n=int(n))
    return {
        OURS: lambda: one_round.central_epsilon(crowd, delta=DELTA),
        CLOSED: lambda: fmt23_epsilon(EPS, n=int(n), delta=DELTA),
    }


def _distinct(many: float) -> dict[str, Callable[[], object]]:
    values = np.linspace(0.01, 2.0, int(many))
    return {
        OURS: lambda: one_round.central_epsilon(_crowd(values), delta=DELTA),
        CLOSED: lambda: gspa_epsilon(_crowd(values), delta=DELTA),
    }


def _crowd(values: NDArray[np.float64]) -> budgets.Budgets:
    return budgets.from_array(values, count=CROWD // values.size)


def _rounds(many: float) -> dict[str, Callable[[], object]]:
    hundred = [(rounds.shuffled(budgets.constant(EPS, n=USERS)), int(many))]
    return {
        OURS: lambda: rounds.compose(hundred, delta=DELTA),
        GOOGLE: lambda: interop.compose_with_dp_accounting(hundred).get_epsilon_for_delta(DELTA),
    }


def _delta(exponent: float) -> dict[str, Callable[[], object]]:
    crowd, delta = budgets.constant(EPS, n=USERS), 10.0**-exponent
    return {
        OURS: lambda: one_round.central_epsilon(crowd, delta=delta),
        CLOSED: lambda: fmt23_epsilon(EPS, n=USERS, delta=delta),
    }


SERIES: dict[str, tuple[Callable[[float], dict[str, Callable[[], object]]], tuple[int, ...]]] = {
    "users": (_users, tuple(10**k for k in range(1, 10))),
    f"distinct budgets of {CROWD:,} users": (_distinct, tuple(10**k for k in range(8))),
    f"rounds of {USERS:,} users": (_rounds, tuple(10**k for k in range(6))),
    "digits of 1/delta": (_delta, (2, 5, 10, 20, 50, 100, 200, 300)),
}


def peak(function: Callable[[], object]) -> float:
    """Most MiB that a call holds at once beside what was there before, numpy's arrays included."""
    tracemalloc.start()
    function()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 2**20


def exponent(sizes: list[float], seconds: list[float]) -> tuple[float, float]:
    """The slope of log(seconds) on log(size), and its standard error."""
    fit = stats.linregress(np.log(sizes), np.log(seconds))
    return float(fit.slope), float(fit.stderr)


def measure() -> dict[str, Any]:
    """`rows`: axis, who, sizes, milliseconds and MiB at each of them."""
    rows = []
    for axis, (questions, sizes) in SERIES.items():
        asked: dict[str, dict[str, list[float]]] = {}
        for size in sizes:
            for who, ask in questions(size).items():
                try:
                    ask()  # what is compiled or cached once; and whether it has an answer
                except OutsideValidity:
                    continue
                row = asked.setdefault(who, {"sizes": [], "ms": [], "mib": []})
                row["sizes"].append(size)
                row["ms"].append(float(f"{1e3 * best(ask, 5):.3g}"))
                row["mib"].append(float(f"{peak(ask):.2g}"))
                print(axis, who, *(row[name][-1] for name in row), flush=True, file=sys.stderr)
        rows += [{"axis": axis, "who": who} | row for who, row in asked.items()]
    return {
        "rows": rows,
        "measured": f"{datetime.now(UTC):%Y-%m}",
        "cores": os.cpu_count(),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "scipy", "dp-accounting")},
    }


def table(found: dict[str, Any]) -> str:
    """The record as a Markdown table, and on what it was measured."""
    lines = [
        "| Grows with | Who | Time (ms) | Exponent of time | Memory (MiB) |",
        "|---|---|---:|---:|---:|",
    ]
    for row in found["rows"]:
        slope, error = exponent(row["sizes"], row["ms"])
        spans = [f"{number(row[name][0], 3)} to {number(row[name][-1], 3)}" for name in ("ms", "mib")]
        sizes = f"from {row['sizes'][0]:,} to {row['sizes'][-1]:,}"
        lines.append(
            f"| {symbols(row['axis'])}, {sizes} | {row['who']} | {spans[0]} | {say.fixed(slope, 3)} ± {error:.3f} "
            f"| {spans[1]} |"
        )
    versions = ", ".join(f"{name} {given}" for name, given in found["versions"].items())
    return "\n".join([*lines, "", f"Measured {found['measured']} on {found['cores']} cores; {versions}."]) + "\n"


def draw(found: dict[str, Any], target: Path) -> None:
    """A panel an axis, as SVG."""
    from matplotlib import pyplot as plt

    figures.use_style()
    figure, panels = plt.subplots(2, 2, figsize=(4.8, 4.6), layout="constrained", sharey=True)
    roles = {OURS: "certified", CLOSED: "closed form", GOOGLE: "numerical"}
    for panel, axis in zip(panels.flat, SERIES, strict=True):
        for row in found["rows"]:
            if row["axis"] == axis:
                panel.plot(row["sizes"], row["ms"], marker="o", label=row["who"], **figures.role(roles[row["who"]]))
        panel.set(xscale="log", yscale="log", xlabel=symbols(axis).replace(" of ", "\nof "))
        panel.legend()
    for panel in panels[:, 0]:
        panel.set_ylabel("time (ms)")
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


def keep(found: dict[str, Any]) -> None:
    """The record, and what the page shows of it."""
    write(found, RECORD, TABLE, table(found))
    draw(found, FIGURE)


if __name__ == "__main__":
    command(sys.argv[1:], "How the accountant's time and memory grow.", measure, table, keep)

"""What other public code answers to a question, and what this package answers to the same one.

`python benchmarks/peers.py` prints the table. With `--record` it also keeps the rows in `benchmarks/peers.json` and
makes from that file what the book's page on peers shows: a table, a figure and a CSV file.

The peers' numbers are in `benchmarks/peers.yaml`, recorded with their versions, those on random allocation in what
`benchmarks/allocation.py` records; those of `dp_accounting`, a library that is installed with the extra `dp`, are
computed here, and so are all of ours. To add a setting: one `Setting` here, with a function for each answer, and its
peers' entries in the YAML file. Nothing here is asserted; seconds are this machine's and this moment's.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml
from timing import best, command, dealt_epsilon, symbols, write

import gspa
from gspa.accountant import budgets, interop, rounds
from gspa.accountant.bound import rounded
from gspa.accountant.closed_forms import liu24_epsilon, renyi_to_epsilon
from gspa.accountant.errors import DataUnavailable
from gspa.book import figures

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / "benchmarks" / "peers.yaml"
ALLOCATION = ROOT / "benchmarks" / "allocation.json"
RECORD = ROOT / "benchmarks" / "peers.json"
TABLE = ROOT / "book" / "_peers_table.md"
FIGURE = ROOT / "book" / "_static" / "peers.svg"
DATA = ROOT / "book" / "_static" / "peers.csv"
COLUMNS = ("setting", "who", "lower", "upper", "seconds", "origin", "version", "note")
OURS = "gspa"

Ends = tuple[float | None, float | None]  # a lower and an upper end of the central eps, None where there is none


@dataclass(frozen=True)
class Answer:
    """Who answers, how, and what to know about it.

    Attributes:
        who: `OURS` for the interval that certainly holds the mechanism's eps: an attack, and the certified end.
        ends: computes both ends.
        version: empty for this package.
        timed: measure its time; not of what is here to be compared alone.
    """

    who: str
    ends: Callable[[], Ends]
    version: str = ""
    note: str = ""
    timed: bool = True


@dataclass(frozen=True)
class Setting:
    """One question: its key in the YAML file, its words, and the answers that are computed."""

    key: str
    words: str
    answers: tuple[Answer, ...]


def asked(attack: bool = True, **question: Any) -> Answer:
    """Our interval for one question of the front door."""

    def ends() -> Ends:
        return gspa.attack(**question).lower if attack else None, gspa.epsilon(**question).upper

    return Answer(OURS, ends)


def dealt(steps: int) -> Answer:
    """Our interval for random allocation, a record added or removed."""

    def ends() -> Ends:
        found = dealt_epsilon(steps, delta=1e-6)
        return found.lower, found.upper

    return Answer(OURS, ends)


def _composed(pessimistic: bool) -> float:
    hundred = [(rounds.shuffled(budgets.constant(0.5, n=2_000)), 100)]
    return float(interop.compose_with_dp_accounting(hundred, pessimistic=pessimistic).get_epsilon_for_delta(1e-6))


def _both_ends() -> Ends:
    found = gspa.epsilon(eps=0.5, n=2_000, rounds=100, delta=1e-6)
    return found.lower, found.upper


def liew22_epsilon(*, n: int, delta: float) -> float:
    """Liew et al. 2022's Renyi bound for n reports with sigma = 1, converted at the best order up to 1024."""
    sys.path.append(str(ROOT / "notebooks"))
    from p20_shuffled_batches import shuffled_renyi

    found = enumerate(shuffled_renyi(sigma=1.0, n=n, most=1024).tolist(), start=2)
    return min(renyi_to_epsilon(max(value, 0.0), order=order, delta=delta) for order, value in found)


def _google() -> str:
    try:
        return version("dp-accounting")
    except PackageNotFoundError:
        return ""


_FORMULA = "Its formula, evaluated by this package at all orders up to 1024; proved for equal others in one direction."
_PAIR = "The interval is that of the dominating pair, which both libraries compose."

SETTINGS = (
    Setting(
        "laplace-small",
        "Laplace reports, eps_0 = 1, n = 1,000, delta = 1e-6",
        (
            asked(eps=1, n=1_000, delta=1e-6, mechanism="laplace"),
            Answer(
                "Liu24, our evaluation",
                lambda: (None, liu24_epsilon(budgets.constant(1, n=1_000), delta=1e-6)),
                timed=False,
            ),
        ),
    ),
    Setting(
        "laplace-large",
        "Laplace reports, eps_0 = 1, n = 10,000, delta = 1e-6",
        (asked(eps=1, n=10_000, delta=1e-6, mechanism="laplace"),),
    ),
    Setting(
        "laplace-loud",
        "Laplace reports, eps_0 = 4, n = 3,000, delta = 1e-6",
        (
            asked(eps=4, n=3_000, delta=1e-6, mechanism="laplace"),
            Answer(
                "Liu24, our evaluation",
                lambda: (None, liu24_epsilon(budgets.constant(4, n=3_000), delta=1e-6)),
                timed=False,
            ),
        ),
    ),
    Setting(
        "gaussian",
        "Gaussian reports, sigma = 1, n = 10,000, delta = 1e-6",
        (
            asked(n=10_000, delta=1e-6, mechanism=gspa.Gaussian(sigma=1.0)),
            Answer(
                "Liew22, our evaluation",
                lambda: (None, liew22_epsilon(n=10_000, delta=1e-6)),
                note=_FORMULA,
                timed=False,
            ),
        ),
    ),
    Setting(
        "gaussian-readme",
        "Gaussian reports, sigma = 1, n = 600,000, delta = 1/n",
        (
            asked(n=600_000, delta=1 / 600_000, mechanism=gspa.Gaussian(sigma=1.0)),
            Answer(
                "Liew22, our evaluation",
                lambda: (None, liew22_epsilon(n=600_000, delta=1 / 600_000)),
                note=_FORMULA,
                timed=False,
            ),
        ),
    ),
    *(Setting(f"allocation-{t}", f"One step of {t:,}, sigma = 1, delta = 1e-6", (dealt(t),)) for t in (1_000, 10_000)),
    Setting(
        "hundred-rounds",
        "100 rounds of 2,000 shuffled bits at 0.5, delta = 1e-6",
        (
            Answer(OURS, _both_ends, note=_PAIR),
            Answer("dp_accounting, our export", lambda: (_composed(False), _composed(True)), version=_google()),
        ),
    ),
)


def peers_entries() -> list[dict[str, Any]]:
    """The entries of the YAML file, and such of what the run that made `benchmarks/allocation.json` has of others."""
    found = json.loads(ALLOCATION.read_text(encoding="utf-8"))
    return yaml.safe_load(PEERS.read_text(encoding="utf-8")) + [
        {
            "setting": f"allocation-{row['steps']}",
            "who": "PLD_accounting, Feldman and Shenfeld",
            "lower": row["lower"],
            "upper": row["upper"],
            "seconds": row["s"],
            "version": found["versions"]["PLD_accounting"],
            "note": "With numba, in the run that made the table of random allocation on the page about speed.",
        }
        for row in found["rows"]
        if row["who"] == "PLD_accounting"
    ]


def measure(settings: tuple[Setting, ...] = SETTINGS) -> dict[str, Any]:
    """The rows of all settings, ours first, and on what they were made."""
    recorded = peers_entries()
    rows: list[dict[str, Any]] = []
    for setting in settings:
        for answer in setting.answers:
            try:
                lower, upper = answer.ends()
            except DataUnavailable as missing:
                print(f"left out: {answer.who}: {missing}", file=sys.stderr)
                continue
            seconds = float(f"{best(answer.ends):.2g}") if answer.timed else None
            row = (setting.words, answer.who, lower, upper, seconds, "computed", answer.version, answer.note)
            rows.append(dict(zip(COLUMNS, row, strict=True)))
        for entry in recorded:
            if entry["setting"] == setting.key:
                row = {"origin": "recorded", "note": ""} | entry | {"setting": setting.words}
                rows.append({name: row[name] for name in COLUMNS})
    return {
        "rows": flagged(rows),
        "measured": f"{datetime.now(UTC):%Y-%m}",
        "cores": os.cpu_count(),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in ("numpy", "scipy")},
    }


BROKEN = "Below what an attack reaches here or a proof gives from below, so it is no guarantee in this setting."


def flagged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, with a note on each promise below the lower end of ours in the same setting, and on no other.

    >>> ours, other = ({"setting": "s", "who": who, "note": ""} for who in (OURS, "other"))
    >>> [row["note"] == BROKEN for row in flagged([ours | {"lower": 1, "upper": 2}, other | {"upper": 0.9}])]
    [False, True]
    """
    least = {row["setting"]: row["lower"] or 0.0 for row in rows if row["who"] == OURS}
    return [
        row | {"note": f"{row['note']} {BROKEN}".strip()} if (row["upper"] or math.inf) < least[row["setting"]] else row
        for row in rows
    ]


def _end(row: dict[str, Any], end: str) -> str:
    """Four digits: computed ends rounded outwards, recorded ones to the nearest."""
    value = row[end]
    if value is None:
        return ""
    return rounded(value, up=end == "upper", digits=4) if row["origin"] == "computed" else f"{value:.4g}"


def table(found: dict[str, Any]) -> str:
    """The record as a Markdown table with its notes, and on what it was made."""
    lines = ["| Who | At least | At most | Seconds | Version |", "|---|---:|---:|---:|---|"]
    setting, notes = "", []
    for row in found["rows"]:
        if row["setting"] != setting:
            setting = row["setting"]
            lines.append(f"| **{symbols(setting)}** | | | | |")
        own = row["note"].removesuffix(BROKEN).strip()
        said = [note for note in (own, row["note"].removeprefix(own).strip()) if note]
        notes += [note for note in said if note not in notes]
        mark = "".join(f" ({notes.index(note) + 1})" for note in said)
        seconds = "" if row["seconds"] is None else f"{row['seconds']:g}"
        where = row["version"] or "this one"
        ends = f"{_end(row, 'lower')} | {_end(row, 'upper')}"
        lines.append(f"| {row['who']}{mark} | {ends} | {seconds} | {where} |")
    lines += ["", *(f"{number}. {note}" for number, note in enumerate(notes, start=1))]
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return "\n".join([*lines, "", f"Made {found['measured']} on {found['cores']} shared cores; {versions}."]) + "\n"


def sheet(found: dict[str, Any]) -> str:
    """The record as CSV, every digit kept."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found["rows"])
    return out.getvalue()


def draw(found: dict[str, Any], target: Path) -> None:
    """Every answer over the certified end of its setting, as SVG: intervals as bars, single ends as marks."""
    from matplotlib import pyplot as plt
    from matplotlib.ticker import NullFormatter

    figures.use_style()
    settings = list(dict.fromkeys(row["setting"] for row in found["rows"]))
    height = 0.26 * len(found["rows"]) + 0.4 * len(settings) + 0.6
    figure, axis = plt.subplots(figsize=(4.8, height), layout="constrained")
    y, ticks, names = 0.0, [], []
    for setting in settings:
        rows = [row for row in found["rows"] if row["setting"] == setting]
        unit = next(row["upper"] for row in rows if row["who"] == OURS)
        # From the left edge of the figure: it reaches across names and bars.
        where: dict[str, Any] = {"xycoords": ("figure fraction", "data"), "annotation_clip": False}
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axis.annotate(setting, (0.01, y), fontsize=9, weight="bold", va="center", bbox=behind, in_layout=False, **where)
        for row in rows:
            y += 1
            ours = row["who"] == OURS
            colour = figures.PALETTE[3] if ours else figures.PALETTE[2]
            low, high = (math.nan if row[end] is None else row[end] / unit for end in ("lower", "upper"))
            if math.isfinite(low):
                axis.plot([low, high], [y, y], color=colour, linewidth=4 if ours else 2, solid_capstyle="butt")
            axis.plot([high], [y], color=colour, marker="o" if ours else "D", markersize=6, linestyle="none")
            ticks.append(y)
            names.append(row["who"])
        y += 1.4
    axis.axvline(1, color=figures.PALETTE[0], linewidth=0.8)
    axis.set(xscale="log", ylim=(y - 0.9, -0.7), xlabel="over our certified end")
    axis.set_yticks(ticks, names, fontsize=9)
    axis.set_xticks([0.5, 1, 5, 50])
    axis.xaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.grid(visible=False, axis="y")
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)


def keep(found: dict[str, Any]) -> None:
    """The record, and what the page shows of it."""
    write(found, RECORD, TABLE, table(found))
    DATA.write_text(sheet(found), encoding="utf-8")
    draw(found, FIGURE)


if __name__ == "__main__":
    command(sys.argv[1:], "What peers answer, and what this package answers.", measure, table, keep)

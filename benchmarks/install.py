"""What installing costs: seconds and megabytes, alone and with all that the book needs, in one run.

`python benchmarks/install.py` installs the pinned packages into an empty virtual environment, downloads included and
without pip's cache, and asks one question of what it installed. It prints the table; with `--record` it also keeps it
for the book's page on speed. Nothing here is asserted; part of the seconds are the network's.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from timing import command, write

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "benchmarks" / "install.json"
TABLE = ROOT / "book" / "_install_table.md"
EPSILON = ["-c", "import gspa; print(gspa.epsilon(eps=0.5, n=10_000, delta=1e-6))"]
PIP = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
# What is installed, and the first thing that is asked of it.
SETS = {
    "`pip install .`, then one epsilon": ("", EPSILON),
    "`make book`, then `gspa --help`": ("[book]", ["-m", "gspa", "--help"]),
    "`make test`": ("[test]", ["-c", "import pytest"]),
}


def seconds(command: Sequence[str | Path], where: Path) -> float:
    """Wall time of a command that must succeed."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, cwd=where, stdout=subprocess.DEVNULL)
    return round(time.perf_counter() - begin, 1)


def installed(folder: Path, extra: str, question: Sequence[str]) -> dict[str, float]:
    """Seconds to install a fresh clone in an empty folder with its downloads, and to the first answer then."""
    own, python = folder / "source", folder / "venv" / "bin" / "python"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(own)], check=True)
    venv.create(folder / "venv", with_pip=True)
    put = seconds([python, *PIP, "install", *wanted(own, extra)], own)
    return {"install": put, "first": seconds([python, *question], folder)}


def wanted(own: Path, extra: str) -> list[str | Path]:
    """What pip is asked for: a checkout with its extra, pinned."""
    return ["--no-cache-dir", "-c", own / "constraints.txt", f"{own}{extra}"]


def measure() -> dict[str, Any]:
    """`rows`: what, packages, megabytes downloaded, seconds to install with the download, and to answer."""
    rows = []
    for what, (extra, question) in SETS.items():
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            spent = installed(folder, extra, question)
            wheels, own, python = folder / "wheels", folder / "source", folder / "venv" / "bin" / "python"
            seconds([python, *PIP, "download", "-d", wheels, *wanted(own, extra), "flit-core"], own)
            files = list(wheels.iterdir())
            mb = round(sum(file.stat().st_size for file in files) / 1e6)
            rows.append({"what": what, "packages": len(files), "mb": mb, **spent})
            print(rows[-1], file=sys.stderr)
    return {"rows": rows, "measured": f"{datetime.now(UTC):%Y-%m}"}


def table(found: dict[str, Any]) -> str:
    """The record in Markdown."""
    lines = [
        "| Command | Packages | Downloaded (MB) | Installation with downloads (s) | First answer (s) |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['what']} | {row['packages']} | {row['mb']:,} | {row['install']:g} | {row['first']:g} |"
        for row in found["rows"]
    ]
    return "\n".join([*lines, "", f"Measured {found['measured']}."]) + "\n"


def keep(found: dict[str, Any]) -> None:
    """The record, and what the page shows of it."""
    write(found, RECORD, TABLE, table(found))


if __name__ == "__main__":
    command(sys.argv[1:], "What installing costs.", measure, table, keep)

"""One notebook under many settings: one tidy table, taken up again where it stopped.

Every finished setting is a line of a journal beside the table: its record (`gspa.book.run`). A setting whose key is in
the journal is not run again. The table holds the settings asked for, in their order; the journal never loses one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from gspa.accountant import arguments as check
from gspa.accountant.errors import GspaError, InvalidOutput, InvalidValue, UnknownName
from gspa.book.parameters import Notebook, Value
from gspa.book.run import Place, Progress, Record, Task, each
from gspa.files import digest, ensure_writable, write_atomically

MOST = 100_000  # settings of one sweep
LAST_COLUMNS = ("status", "error", "seconds", "started", "worker", "versions", "source", "data", "key")
"""The columns after parameters and results: how each row came about."""

_TABLE_EVERY = 5.0  # seconds between two tables while a sweep runs; the journal has each result at once

# Before release 3, pandas reads a decimal to within a rounding error unless it is asked not to.
_EXACT: Any = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}


@dataclass(frozen=True)
class Swept:
    """A sweep's result.

    Attributes:
        table: one row a setting: parameters, results, `LAST_COLUMNS`.
        reused: how many settings were done before.
        failed: how many failed now.
    """

    table: pd.DataFrame
    reused: int
    failed: int


def values_of(notebook: Notebook, name: str, text: str) -> list[str]:
    """An axis as the command line gives it: `v1,v2,...`, or lists `a,b;c,d` for a parameter that is a list."""
    if check.text(name=name) not in notebook.properties:
        raise UnknownName(f"{notebook.name}: parameter", name, notebook.properties)
    mark = ";" if notebook.properties[name]["type"] == "array" else ","
    values = [part.strip() for part in check.text(text=text).split(mark)]
    if not all(values):
        raise InvalidValue(f"-p {name}", text, f"values with {mark!r} between them, none of them empty")
    return values


def rows_of(path: Path) -> list[dict[str, str]]:
    """Settings from a CSV file: a column a parameter, a row a setting; an empty cell is the default."""
    try:
        read = pd.read_csv(path, dtype=str, encoding="utf-8-sig", skipinitialspace=True, index_col=False)
    except (OSError, ValueError) as error:  # a NUL in the name, too
        reason = getattr(error, "strerror", None) or next(iter(str(error).splitlines()), "")
        raise GspaError(f"{path}: cannot be read as a CSV file in UTF-8 ({reason})") from None
    if read.empty:
        raise GspaError(f"{path.name}: has no settings below its header")
    return [{str(name): cell for name, cell in row.dropna().items()} for _, row in read.iterrows()]


def settings(
    notebook: Notebook,
    axes: Mapping[str, Sequence[Value]],
    rows: Iterable[Mapping[str, Value]] = ({},),
    *,
    profile: str = "paper",
) -> list[dict[str, Value]]:
    """Every row with every combination of the axes, the last axis fastest; all checked before anything runs."""
    rows = list(rows)
    many = len(rows)
    for name, values in axes.items():
        many *= len(values)
        if any(name in row for row in rows):
            raise InvalidValue("-p", name, "a parameter that the file of settings does not set")
    if many > MOST:
        raise InvalidValue("settings", many, f"at most {MOST:,}; split the sweep")
    found: dict[str, dict[str, Value]] = {}
    for row in rows:
        for combination in product(*axes.values()):
            given = dict(row) | dict(zip(axes, combination, strict=True))
            checked = notebook.validate(given, profile=profile)
            one = {name: checked[name] for name in notebook.properties}  # an experiment has no profile
            found.setdefault(json.dumps(one), one)
    return list(found.values())


def run(
    notebook: Notebook,
    wanted: Sequence[Mapping[str, Value]],
    *,
    place: Place,
    output: Path,
    progress: Progress = lambda *_: None,
) -> Swept:
    """Run what the journal does not have; write the table at the end, every few seconds, and when interrupted."""
    check_output(output)
    first = Task.of(notebook, wanted[0])
    expected = place.identity(needs_data=first.needs_data)
    each_one = [replace(first, values=one, label=f"setting {number}") for number, one in enumerate(wanted, start=1)]
    tasks = {task.key(expected): task for task in each_one}
    journal = Path(f"{output}.jsonl")
    records = {key: kept for key, kept in read_journal(journal).items() if kept["status"] == "done"}
    missing = [task for key, task in tasks.items() if key not in records]
    for key in tasks.keys() & records.keys():
        progress(tasks[key].label, 1, 1, "unchanged")
    failed, pause, last = 0, _TABLE_EVERY, time.monotonic()
    try:
        for _, found in each(place, missing, expected, progress):
            record = found.record | {"error": next(iter(found.record["error"].splitlines()), "")}
            append(journal, record)
            records[record["key"]] = record
            failed += record["status"] == "failed"
            if time.monotonic() - last > pause:
                begin = time.monotonic()
                write_table(table(tasks, records), output)
                last = time.monotonic()
                pause = max(_TABLE_EVERY, 20 * (last - begin))
    finally:
        whole = table(tasks, records)
        if journal.exists():  # else nothing was ever finished
            write_table(whole, output)
    return Swept(whole, len(tasks) - len(missing), failed)


def read_journal(journal: Path) -> dict[str, Record]:
    """The newest record of each key, from a JSON object a line; what is no whole record is passed over."""
    found: dict[str, Record] = {}
    try:
        lines = journal.read_text(encoding="utf-8", errors="replace").splitlines() if journal.exists() else []
    except OSError as error:
        raise InvalidOutput(f"{journal}: cannot be read ({error.strerror or error})") from None
    for line in lines:
        with suppress(ValueError, TypeError, RecursionError):  # a kill may cut a line short
            record = dict(json.loads(line))
            tables = [record.get(name) for name in ("results", "versions", "data")]
            if record.keys() >= {*LAST_COLUMNS} and all(isinstance(one, dict) for one in tables):
                found[str(record["key"])] = record
    return found


def append(journal: Path, record: Record) -> None:
    """One line, in one write: two sweeps into one journal do not mix their lines."""
    with journal.open("ab+", buffering=0) as stream:
        stream.seek(max(0, stream.tell() - 1))
        cut = stream.read(1) not in (b"", b"\n")
        stream.write(b"\n" * cut + json.dumps(record).encode() + b"\n")


def table(tasks: Mapping[str, Task], records: Mapping[str, Record]) -> pd.DataFrame:
    """The finished settings, a row each: parameters, results, `LAST_COLUMNS`.

    A result of a parameter's name, or of one of the last columns', is called `result_NAME`.
    """
    parameters = list(next(iter(tasks.values())).values)
    taken = {*parameters, *LAST_COLUMNS}
    rows = []
    for key, task in tasks.items():
        if key in records:
            record = records[key]
            shown = {name: _cell(value) for name, value in task.values.items()}
            results = {f"result_{name}" if name in taken else name: v for name, v in record["results"].items()}
            data = [f"{name} {sha}" for name, sha in sorted(record["data"].items())]
            made = {
                "versions": "; ".join(f"{name} {number}" for name, number in record["versions"].items()),
                "source": record["source"][:16],
                "data": digest(*data)[:16] if data else "",
            }
            rows.append(shown | results | {name: record[name] for name in LAST_COLUMNS} | made)
    results = dict.fromkeys(name for row in rows for name in row if name not in taken)
    return pd.DataFrame(rows, columns=[*parameters, *results, *LAST_COLUMNS])


def _cell(value: Value) -> Value:
    """A list as the command line takes it."""
    return ",".join(str(part) for part in value) if isinstance(value, list) else value


def check_output(output: Path) -> None:
    """Refuse, before any work, a table that cannot be written or would replace what no sweep made."""
    if output.suffix != ".csv" or "\0" in str(output) or output.is_dir():
        raise InvalidValue("-o", str(output), "a file name that ends in .csv")
    ensure_writable(output.resolve().parent)
    if output.exists() and not Path(f"{output}.jsonl").exists():
        raise InvalidOutput(f"{output}: is there without its journal {output.name}.jsonl; choose another name")


def write_table(rows: pd.DataFrame, output: Path) -> None:
    """Replace the table in one step."""
    try:
        write_atomically(output, rows.to_csv(index=False, lineterminator="\n"))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise InvalidOutput(f"{' '.join(str(output).split())}: cannot be written ({reason})") from None


def read_table(path: Path | str) -> pd.DataFrame:
    """A sweep's table from its file; an empty cell of a CSV file is NaN."""
    path = Path(path)
    try:
        rows: pd.DataFrame = pd.read_csv(path, **_EXACT)
    except (OSError, ValueError) as error:
        raise GspaError(f"{path}: cannot be read ({next(iter(str(error).splitlines()), '')})") from None
    if not set(LAST_COLUMNS) <= set(rows):
        raise GspaError(f"{path}: is no table of gspa sweep; its columns {', '.join(LAST_COLUMNS)} are not there")
    return rows


def results_of(rows: pd.DataFrame, parameters: Iterable[str]) -> list[str]:
    """The columns that hold results: neither parameters nor how the row came about."""
    given = list(parameters) if isinstance(parameters, Mapping) else check.row(parameters=parameters)
    known = {*(check.text(parameter=name) for name in given), *LAST_COLUMNS}
    return [str(name) for name in rows if name not in known]

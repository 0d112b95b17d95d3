"""One notebook under many settings: one tidy table, taken up again where it stopped.

Every finished setting is a line of a journal beside the table, under a hash of all that its result depends on: the
notebook, the parameters, the package's sources, the versions and the data. A setting whose hash is in the journal is
not run again. The table holds the settings asked for, in their order; the journal never loses one.

A setting runs here, in a process of its own, or on a worker of a Dask cluster, by the same interface of
`concurrent.futures`. A worker needs the installed package and nothing else: the notebook travels with the task and
runs in a project made for it, so an edit of the checkout during a sweep changes no row.
"""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import chain, product
from pathlib import Path
from typing import Any

import pandas as pd

from gspa.accountant import arguments as check
from gspa.accountant.errors import GspaError, InvalidOutput, InvalidValue, ProcessDied, UnknownName
from gspa.book import claims, say
from gspa.book.cluster import Cluster, Data, Target, first_line, identity, run_or_try_again
from gspa.book.parameters import Notebook, Value, between
from gspa.book.project import cores
from gspa.book.run import Children
from gspa.files import digest, ensure_writable, write_atomically

MOST = 100_000  # settings of one sweep
LAST_COLUMNS = ("status", "error", "seconds", "started", "worker", "versions", "source", "data", "key")
"""The columns after parameters and results: how each row came about."""

_TABLE_EVERY = 5.0  # seconds between two tables while a sweep runs; the journal has each result at once

# Before release 3, pandas reads a decimal to within a rounding error unless it is asked not to.
_EXACT: Any = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}

Progress = Callable[[int, int, int], None]
"""Called with settings finished in this run, settings to run, and how many of them failed."""
Record = dict[str, Any]
"""`status` ("done" or "failed"), `error`, `results` by name, `seconds`, `started`, `worker`, `versions`, `source`,
`data`: what one setting gave and what it was made from, ready for JSON."""


@dataclass(frozen=True)
class Task:
    """One setting: every parameter's value, and a hash of all that the result depends on."""

    key: str
    values: Mapping[str, Value]


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
    mark = between(notebook.properties[name])
    values = [part.strip() for part in check.text(text=text).split(mark)]
    if not all(values):
        raise InvalidValue(f"-p {name}", text, f"values with {mark!r} between them, none of them empty")
    return values


def rows_of(path: Path) -> list[dict[str, str]]:
    """Settings from a CSV file: a column a parameter, a row a setting; an empty cell is the default.

    Raises:
        GspaError: not readable, no header, a column twice, a row of another length (the line is named).
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            first = lines.readline()
            mark = next((one for one in ";\t" if one in first), ",")  # as spreadsheets write where commas are decimal
            reader = csv.reader(chain([first], lines), delimiter=mark)
            header = [name.strip() for name in next(reader, [])]
            found = []
            if not header or not all(header) or len(set(header)) < len(header):
                raise GspaError(f"{path.name} line 1: must name each parameter once")
            for row in reader:
                if row and len(row) != len(header):
                    raise GspaError(
                        f"{path.name} line {reader.line_num}: must have {len(header)} values: {','.join(header)}"
                    )
                if row:
                    found.append({name: cell for name, cell in zip(header, row, strict=True) if cell.strip()})
    except OSError as error:
        raise GspaError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (ValueError, csv.Error) as error:  # a NUL in the name, too
        raise GspaError(f"{path}: is not a CSV file in UTF-8 ({error})") from None
    if not found:
        raise GspaError(f"{path.name}: has no settings below its header")
    return found


def settings(
    notebook: Notebook,
    axes: Mapping[str, Sequence[Value]],
    rows: Iterable[Mapping[str, Value]] = ({},),
    *,
    profile: str = "paper",
) -> list[dict[str, Value]]:
    """Every row with every combination of the axes, the last axis fastest; all checked before anything runs.

    Args:
        notebook: whose parameters they are.
        axes: values by parameter name.
        rows: settings that the axes are combined with, such as those of a file.
        profile: which defaults the rest takes.

    Raises:
        InvalidValue: a value out of its range, more than 100,000 settings, or an axis that a row sets too.
        UnknownName: a parameter that there is not.
    """
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
    target: Target,
    wanted: Sequence[Mapping[str, Value]],
    *,
    place: Here | Cluster,
    output: Path,
    progress: Progress | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Swept:
    """Run what the journal does not have; write the table at the end, every few seconds, and when interrupted.

    Args:
        target: what to repeat.
        wanted: from `settings`.
        place: where.
        output: the table, .csv or .parquet; its journal is the same name with .jsonl added.
        progress: told after each setting.
        stopped: asked twice a second; what says yes ends the sweep as an interrupt does.

    Raises:
        InvalidOutput: the table cannot be written, or is there without its journal.
        CheckFailed: the cluster went away; what was finished is kept.
    """
    check_output(output)
    report = progress or (lambda done, total, failed: None)
    expected = place.identity(needs_data=target.needs_data, stopped=stopped)
    tasks = [Task(_key(target, values, expected), values) for values in wanted]
    journal = Journal(Path(f"{output}.jsonl"))
    records = {key: kept for key, kept in journal.read().items() if kept["status"] == "done"}
    missing = [task for task in tasks if task.key not in records]
    failed, pause, last = 0, _TABLE_EVERY, time.monotonic()
    report(0, len(missing), 0)
    try:
        for done, (task, record) in enumerate(_each(place, target, missing, expected, stopped), start=1):
            journal.append(task.key, record)
            records[task.key] = record
            failed += record["status"] == "failed"
            report(done, len(missing), failed)
            if time.monotonic() - last > pause:
                begin = time.monotonic()
                write_table(table(tasks, records), output)
                last = time.monotonic()
                pause = max(_TABLE_EVERY, 20 * (last - begin))
    finally:
        journal.close()
        whole = table(tasks, records)
        if journal.path.exists():  # else nothing was ever finished
            write_table(whole, output)
    return Swept(whole, len(tasks) - len(missing), failed)


def _key(target: Target, values: Mapping[str, Value], expected: Mapping[str, Any]) -> str:
    facts = (dict(values), expected["versions"], expected["data"])
    # Not the schema's: the values of its defaults are among the facts.
    files = [text for name, text in sorted(target.files.items()) if not name.endswith(".schema.yaml")]
    return digest(target.name, *files, expected["source"], json.dumps(facts, sort_keys=True))


def _each(
    place: Here | Cluster,
    target: Target,
    tasks: Sequence[Task],
    expected: Mapping[str, Any],
    stopped: Callable[[], bool],
) -> Iterator[tuple[Task, Record]]:
    """Each setting's record, in the order in which they end; few are handed out before they are needed."""
    left, running = list(reversed(tasks)), dict[Future[Record], Task]()
    try:
        while left or running:
            while left and len(running) < place.ahead():
                task = left.pop()
                running[place.executor.submit(compute, target, task, expected, place.data, place.children)] = task
            future = _first(running, stopped)
            task = running.pop(future)
            try:
                record = future.result()
            except Exception as death:  # a worker, or the processes of all tries, died
                place.check_alive()
                record = _record(expected, error=first_line(death) or "its process died")
            yield task, record
    except BaseException:
        place.stop(list(running))
        raise


def _first(running: Iterable[Future[Record]], stopped: Callable[[], bool]) -> Future[Record]:
    """One that has ended. One that was cancelled while it waited for a thread never says so."""
    while not (ended := wait(running, timeout=0.5, return_when=FIRST_COMPLETED).done):
        if stopped():
            raise KeyboardInterrupt
    return ended.pop()


class Here:
    """This machine: each setting in a process of its own, so many at once."""

    def __init__(self, jobs: int | None, data: Data) -> None:
        self.jobs, self.data, self.children = jobs or cores(), data, Children()
        self.label = "1 process" if self.jobs == 1 else f"{self.jobs} processes"
        self.executor: Executor = ThreadPoolExecutor(self.jobs)

    def identity(self, *, needs_data: bool, stopped: Callable[[], bool]) -> dict[str, Any]:
        return identity(self.data if needs_data else None)

    def ahead(self) -> int:
        return self.jobs

    def check_alive(self) -> None:
        return

    def stop(self, running: Sequence[Future[Record]]) -> None:
        self.children.stop()
        self.executor.shutdown(cancel_futures=True)

    def close(self) -> None:
        self.executor.shutdown()


def compute(
    target: Target, task: Task, expected: Mapping[str, Any], data: Data, children: Children | None = None
) -> Record:
    """Run one setting. What fails is a record too; only a process that keeps dying is raised.

    Args:
        target: what to run.
        task: with which parameters.
        expected: the `identity` that the sweep's rows share; a worker of another one computes nothing.
        data: gives the data set's identity.
        children: where a notebook's process is noted, so that an interrupt can end it.

    Raises:
        ProcessDied: the notebook's process or kernel ended, each time, before it could say why.
    """
    started, begin = datetime.now(UTC), time.monotonic()
    results, error = dict[str, Any](), ""
    try:
        here = identity(data if target.needs_data else None)
        if here != expected:
            odd = ", ".join(name for name in here if here[name] != expected.get(name))
            raise GspaError(f"this worker has another {odd} than the sweep began with; install the same everywhere")
        results = _run(target, task, children)
    except ProcessDied:
        raise
    except Exception as failure:  # one setting's failure must not stop the others
        error = first_line(failure)
    return _record(expected, error, results, time.monotonic() - begin, started)


def _run(target: Target, task: Task, children: Children | None) -> dict[str, Any]:
    """The numbers that the notebook's texts name, and the verdicts on its cards as `verdict ID`."""
    with target.unpacked() as (project, notebook):
        output = project.root / "executed.ipynb"
        run_or_try_again(project, notebook, task.values, output, children)
        found = say.values_of(json.loads(output.read_text(encoding="utf-8")))
        numbers = {name: value for name, value in found.items() if isinstance(value, int | float)}
        return numbers | {f"verdict {name}": one.words for name, one in claims.outcomes([output]).items()}


def _record(
    expected: Mapping[str, Any],
    error: str = "",
    results: Mapping[str, Any] | None = None,
    seconds: float = 0.0,
    started: datetime | None = None,
) -> Record:
    data = [f"{name} {sha}" for name, sha in sorted(expected["data"].items())]
    return {
        "status": "failed" if error else "done",
        "error": error,
        "results": dict(results or {}),
        "seconds": round(seconds, 3),
        "started": (started or datetime.now(UTC)).isoformat(timespec="seconds"),
        "worker": f"{platform.node()}:{os.getpid()}",
        "versions": "; ".join(f"{name} {number}" for name, number in expected["versions"].items()),
        "source": expected["source"][:16],
        "data": digest(*data)[:16] if data else "",
    }


class Journal:
    """Finished settings, a JSON object a line; a line that a kill cut short is passed over."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def read(self) -> dict[str, Record]:
        """The newest record of each key; empty when there is no journal."""
        found: dict[str, Record] = {}
        try:
            lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return found
        except OSError as error:
            raise InvalidOutput(f"{self.path}: cannot be read ({error.strerror or error})") from None
        for line in lines:
            try:
                entry = json.loads(line)
                found[str(entry["key"])] = dict(entry["record"])
            except (ValueError, KeyError, TypeError):
                continue
        return found

    def append(self, key: str, record: Record) -> None:
        """One line, in one write: two sweeps into one journal do not mix their lines."""
        try:
            if self._handle is None:
                cut = self.path.is_file() and not self.path.read_bytes().endswith(b"\n")
                self._handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                if cut:
                    os.write(self._handle, b"\n")
            os.write(self._handle, (json.dumps({"key": key, "record": record}) + "\n").encode())
        except OSError as error:
            raise InvalidOutput(f"{self.path}: cannot be written ({error.strerror or error})") from None

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def table(tasks: Sequence[Task], records: Mapping[str, Record]) -> pd.DataFrame:
    """The finished settings, a row each: parameters, results, `LAST_COLUMNS`.

    A result of a parameter's name, or of one of the last columns', is called `result_NAME`.
    """
    parameters = list(tasks[0].values)
    taken = {*parameters, *LAST_COLUMNS}
    rows = []
    for task in tasks:
        if task.key in records:
            record = records[task.key]
            shown = {name: _cell(value) for name, value in task.values.items()}
            results = {f"result_{name}" if name in taken else name: v for name, v in record["results"].items()}
            rows.append(shown | results | {name: record[name] for name in LAST_COLUMNS[:-1]} | {"key": task.key})
    results = dict.fromkeys(name for row in rows for name in row if name not in taken)
    return pd.DataFrame(rows, columns=[*parameters, *results, *LAST_COLUMNS])


def _cell(value: Value) -> Value:
    """A list as the command line takes it."""
    return ",".join(str(part) for part in value) if isinstance(value, list) else value


def check_output(output: Path) -> None:
    """Refuse, before any work, a table that cannot be written or would replace what no sweep made."""
    if output.suffix not in (".csv", ".parquet") or "\0" in str(output) or output.is_dir():
        raise InvalidValue("-o", str(output), "a file name that ends in .csv or .parquet")
    if output.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise InvalidValue("-o", str(output), "a .csv file", "for .parquet install pyarrow")
    ensure_writable(output.resolve().parent)
    if output.exists() and not Path(f"{output}.jsonl").exists():
        raise InvalidOutput(f"{output}: is there without its journal {output.name}.jsonl; choose another name")


def write_table(rows: pd.DataFrame, output: Path) -> None:
    """Replace the table in one step."""
    try:
        if output.suffix == ".parquet":
            _write_parquet(rows, output)
        else:
            write_atomically(output, rows.to_csv(index=False, lineterminator="\n"))
    except (OSError, ValueError, ImportError) as error:  # ValueError: a NUL in the name; ImportError: no pyarrow
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise InvalidOutput(f"{' '.join(str(output).split())}: cannot be written ({reason})") from None


def _write_parquet(rows: pd.DataFrame, output: Path) -> None:
    # A column has one type there: what is of several, such as counts that are numbers in some rows, becomes text.
    plain = rows.copy()
    for name in rows:
        if rows[name].dtype == object:
            plain[name] = rows[name].map(str, na_action="ignore")
    data = io.BytesIO()
    plain.to_parquet(data, index=False)
    temporary = output.with_name(f".{output.name}.{os.getpid()}")
    temporary.write_bytes(data.getvalue())
    os.replace(temporary, output)


def read_table(path: Path | str) -> pd.DataFrame:
    """A sweep's table from its file; an empty cell of a CSV file is NaN.

    Raises:
        GspaError: no such file, or not a table that a sweep wrote.
    """
    path = Path(path)
    try:
        rows = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, **_EXACT)
    except (OSError, ValueError, ImportError) as error:
        raise GspaError(f"{path}: cannot be read ({next(iter(str(error).splitlines()), '')})") from None
    if not set(LAST_COLUMNS) <= set(rows):
        raise GspaError(f"{path}: is no table of gspa sweep; its columns {', '.join(LAST_COLUMNS)} are not there")
    return rows


def results_of(rows: pd.DataFrame, parameters: Iterable[str]) -> list[str]:
    """The columns that hold results: neither parameters nor how the row came about."""
    given = list(parameters) if isinstance(parameters, Mapping) else check.row(parameters=parameters)
    known = {*(check.text(parameter=name) for name in given), *LAST_COLUMNS}
    return [str(name) for name in rows if name not in known]

"""Run notebooks in processes of their own, skip what has not changed, collect what they found."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from gspa.accountant.errors import CheckFailed, ProcessDied
from gspa.book import processes, provenance, warm
from gspa.book.parameters import Notebook, Value, to_inject
from gspa.book.project import Project
from gspa.files import digest, ensure_writable, own_folder, write_atomically

_OWN = "gspa-kernel-"  # temporary folders of running notebooks

Progress = Callable[[str, int, int, str], None]
"""Called with a notebook's name, cells done, cells in all, and a state word."""


Child = subprocess.Popen[str] | warm.Process


@dataclass(frozen=True)
class Run:
    """One notebook's result: where it is and whether it had to be computed."""

    name: str
    path: Path
    reused: bool
    seconds: float


@dataclass(frozen=True)
class Executed:
    """A notebook that a worker ran: the file as text, what it used and where; or why there is none."""

    text: str = ""
    used: Mapping[str, float] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


class Elsewhere(Protocol):
    """Where notebooks run if not here: `gspa.book.cluster.Cluster`."""

    def execute(self, notebook: Notebook, values: Mapping[str, Value], data: Mapping[str, str]) -> Executed:
        """One notebook, with these parameters and this data."""

    def stop(self) -> None:
        """End all waiting."""


class Children:
    """The processes at work, so that an interrupt can end them all."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._processes: set[Child] = set()
        self.stopping = False

    def start(self, make: Callable[[], Child]) -> Child:
        with self._lock:
            if self.stopping:
                raise KeyboardInterrupt
            process = make()
            self._processes.add(process)
            return process

    def stop(self) -> None:
        with self._lock:
            self.stopping = True
            _end(self._processes)


_GRACE = 10.0
"""Seconds that a process has to end its kernel."""


def _end(processes: Iterable[Child]) -> None:
    """Tell processes to end; cut the lifeline of those that do not.

    nbclient ends its kernel on SIGTERM and can then wait for that kernel's answer for ever.
    """
    processes = list(processes)
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + _GRACE
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            assert process.stdin is not None
            process.stdin.close()


def key(notebook: Notebook, parameters: dict[str, Value], data: dict[str, str]) -> str:
    """Everything that a notebook's output depends on, as one hash."""
    stated = {name: [entry["default"], entry.get("fixed", False)] for name, entry in notebook.properties.items()}
    return digest(
        notebook.path.read_bytes(),
        notebook.helper.read_bytes() if notebook.helper.is_file() else b"",
        Project(notebook.path.parents[1]).claims_of(notebook.name),
        json.dumps([parameters, stated], sort_keys=True),
        provenance.source_digest(),
        json.dumps(provenance.versions(), sort_keys=True),
        json.dumps(data if notebook.needs_data else {}, sort_keys=True),
    )


def run_notebook(
    project: Project,
    notebook: Notebook,
    parameters: dict[str, Value],
    output: Path,
    *,
    progress: Progress | None = None,
    children: Children | None = None,
) -> dict[str, float]:
    """Run one notebook in a new process; `output` appears only when every cell succeeded.

    Returns:
        What it used: `cpu`, seconds of all its processes; `memory`, MiB of the largest one.

    Raises:
        CheckFailed: a cell raised; the message names the notebook, the cell and the error.
        ProcessDied: the process or its kernel ended before it could finish.
    """
    with own_folder(_OWN) as own:
        return _run_in(own, project, notebook, parameters, output, progress, children)


def _run_in(
    own: Path,
    project: Project,
    notebook: Notebook,
    parameters: dict[str, Value],
    output: Path,
    progress: Progress | None,
    children: Children | None,
) -> dict[str, float]:
    """`run_notebook` with a temporary folder of its own for what a kernel writes beside its results."""
    report = progress or (lambda name, done, total, state: None)
    job = {
        "source": str(notebook.path),
        "output": str(output),
        "parameters": to_inject(notebook, parameters),
        "timeout": notebook.timeout,
        "cwd": str(project.root),
        "temporary": str(own),
    }
    environment = _environment(own)
    job["environment"] = environment
    process = (children or Children()).start(lambda: _start(environment))
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    noise = _Drain(process.stderr)
    total, error, used = 1, None, None
    try:
        with suppress(BrokenPipeError):  # it ended already: its status and last words tell why
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()  # and stays open: its end would tell the child that this process is gone
        for line in process.stdout:
            message = json.loads(line)
            total = message.get("cells", total)
            if "done" in message or "cells" in message:
                report(notebook.name, message.get("done", 0), total, "running")
            error = message.get("error", error)
            if message.get("ok"):
                used = {name: message[name] for name in ("cpu", "memory")}
    except BaseException:
        _end([process])
        raise
    finally:
        said = noise.text()  # ends when the kernel has ended too: none outlives this call
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        status = process.wait()
    if used is None:
        report(notebook.name, total, total, "failed")
        died = error is None or error["what"].startswith("DeadKernelError")
        raise (ProcessDied if died else CheckFailed)(_explain(notebook.name, status, error, said))
    report(notebook.name, total, total, "done")
    return used


def _environment(own: Path) -> dict[str, str]:
    """A notebook's variables, with settings and history in the empty folder `own`."""
    # A hash seed would make the order of sets differ between two runs.
    environment = os.environ | processes.settings(own) | {"PYTHONHASHSEED": "0"}
    environment.pop("MPLBACKEND", None)  # the kernel's inline backend sets its own
    # Sums in another order differ in their last digits: one thread, so that the number of cores does not matter.
    for library in ("OMP", "OPENBLAS", "MKL"):
        environment.setdefault(f"{library}_NUM_THREADS", "1")
    environment.pop("PYTHONSTARTUP", None)  # a kernel would run it
    if "GSPA_DATA_DIR" in environment:  # the kernel works in another folder
        environment["GSPA_DATA_DIR"] = str(Path(environment["GSPA_DATA_DIR"]).resolve())
    return environment


def warm_up() -> None:
    """Start what notebooks' processes are forked from, so that the first notebook need not wait for its imports."""
    with own_folder(_OWN) as own:
        environment = _environment(own)
        if _forks(environment):
            warm.heat(environment)


def _forks(environment: Mapping[str, str]) -> bool:
    """Whether a process with these variables can be forked: not where Matplotlib's cache is its own."""
    return warm.POSSIBLE and environment.get("MPLCONFIGDIR") == os.environ.get("MPLCONFIGDIR")


def _start(environment: dict[str, str]) -> subprocess.Popen[str] | warm.Process:
    """A process that waits for its job: forked where that is possible."""
    if _forks(environment):
        return warm.start(environment)
    return subprocess.Popen(
        [sys.executable, "-m", "gspa.book.execute"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",  # what a library prints need not be UTF-8
        env=environment,
    )


class _Drain:
    """Reads a pipe to its end in the background, so that the writer never blocks on it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._pool = ThreadPoolExecutor(1)
        self._future = self._pool.submit(stream.read)

    def text(self) -> str:
        self._pool.shutdown()
        self._stream.close()
        return str(self._future.result())


def _explain(name: str, status: int, error: dict[str, Any] | None, noise: str) -> str:
    """The failure in one screen: which notebook, which cell, what happened."""
    if error is None:
        last = noise.strip().splitlines()[-12:]
        return "\n".join([f"notebook {name}: its process ended with status {status} before it finished", *last])
    where = f", cell {error['cell']} ({error['source']})" if error["cell"] else ""
    trace = [line for block in error["traceback"] for line in block.splitlines()][-16:]
    return "\n".join([f"notebook {name}{where}: {error['what']}", *trace])


def run_all(
    project: Project,
    notebooks: Iterable[Notebook],
    *,
    profile: str,
    jobs: int,
    data: Callable[[], dict[str, str]],
    progress: Progress | None = None,
    elsewhere: Elsewhere | None = None,
) -> list[Run]:
    """Run every notebook whose result is not at hand; keep each as soon as it is whole.

    An interrupt ends the running processes and keeps what was finished.

    Args:
        project: the checkout.
        notebooks: which.
        profile: with which defaults.
        jobs: how many at once.
        data: gives file name to SHA-256 of the data set at hand; asked when some notebook needs one.
        progress: told of each cell.
        elsewhere: what runs the notebooks; None: processes of this machine.

    Raises:
        CheckFailed: one or more notebooks raised, all named.
    """
    folder = ensure_writable(project.executed(profile))
    report = progress or (lambda name, done, total, state: None)
    notebooks = list(notebooks)
    files = data() if any(notebook.needs_data for notebook in notebooks) else {}
    children = Children()

    def one(notebook: Notebook) -> Run:
        parameters = notebook.validate({}, profile=profile)
        output, record = folder / f"{notebook.name}.ipynb", folder / f"{notebook.name}.json"
        wanted = key(notebook, parameters, files)
        if _is_current(output, record, wanted):
            report(notebook.name, 1, 1, "unchanged")
            return Run(notebook.name, output, True, 0.0)
        begin = time.monotonic()
        if elsewhere is None:
            used: Mapping[str, float] | None
            used = run_notebook(project, notebook, parameters, output, progress=progress, children=children)
            machine: Mapping[str, Any] = provenance.machine()
        else:
            report(notebook.name, 0, 1, "running")
            found = elsewhere.execute(notebook, parameters, files)
            write_atomically(output, found.text)
            used, machine = found.used, found.machine
            report(notebook.name, 1, 1, "done")
        seconds = time.monotonic() - begin
        facts = {
            "key": wanted,
            "sha256": _sha256(output),
            "seconds": round(seconds, 1),
            **(used or {}),
            "machine": machine,
            "data": files if notebook.needs_data else {},
        }
        write_atomically(record, json.dumps(facts))
        return Run(notebook.name, output, False, seconds)

    runs, failures = [], []
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        # The longest first, so that none is left alone with the last.
        futures = [pool.submit(one, notebook) for notebook in sorted(notebooks, key=lambda one: -one.timeout)]
        try:
            for future in as_completed(futures):
                try:
                    runs.append(future.result())
                except CheckFailed as failure:
                    failures.append(str(failure))
        except BaseException:
            children.stop()
            if elsewhere is not None:
                elsewhere.stop()
            pool.shutdown(cancel_futures=True)
            raise
    if failures:
        raise CheckFailed("\n\n".join(failures) + "\n\nThe site was not replaced; finished notebooks are kept.")
    return sorted(runs, key=lambda run: run.name)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_current(output: Path, record: Path, wanted: str) -> bool:
    """Whether a kept result is the one wanted and still has the bytes it was written with."""
    try:
        facts = json.loads(record.read_text(encoding="utf-8"))
        return bool(facts["key"] == wanted and facts["sha256"] == _sha256(output))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def place(project: Project, runs: Iterable[Run]) -> None:
    """Put the executed notebooks where the book's table of contents expects them."""
    folder = ensure_writable(project.book / "notebooks")
    names = {f"{run.name}.ipynb" for run in runs}
    for stale in folder.glob("*.ipynb"):
        if stale.name not in names:
            stale.unlink()
    for run in runs:
        shutil.copyfile(run.path, folder / run.path.name)

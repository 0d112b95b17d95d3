"""Run notebooks, here or on a cluster: one task, one key, one record, whoever asks.

A notebook travels with its task and runs in a project made for it, so that a worker needs the installed package and
nothing else, and an edit of the checkout meanwhile changes nothing. The command that builds keeps whole notebooks, a
sweep only their numbers.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, TypeAlias

from gspa.accountant.errors import CheckFailed, GspaError, ProcessDied
from gspa.book import claims, provenance, say
from gspa.book.parameters import Notebook, Value, read_yaml, to_inject
from gspa.book.project import Project
from gspa.files import digest, ensure_writable, kept, own_folder, write_atomically

if TYPE_CHECKING:
    from gspa.book.cluster import Cluster

OWN = "gspa-kernel-"
"""How the temporary folders of running notebooks begin."""

Data = Callable[[], dict[str, str]]
"""Gives file name to SHA-256 of the data set at hand; a function at a module's top, so that a cluster can call it."""
Identity = Mapping[str, Any]
"""What computes: `source`, the package's digest; `versions`; `data`, empty where they do not matter."""
Record = dict[str, Any]
"""What one run gave and what it was made from, ready for JSON: `key`, `status` ("done" or "failed"), `error`,
`results` by name, `seconds`, `cpu`, `memory`, `started`, `worker`, `machine`, and an `Identity`."""
Progress = Callable[[str, int, int, str], None]
"""Called with a task's label, cells done, cells in all, and a state word."""


@dataclass(frozen=True)
class Task:
    """One notebook with its parameters: all that travels to where it runs.

    Attributes:
        name: the notebook's.
        files: source, schema, the module beside it if there is one, and its claims, by their paths in a checkout.
        made_of: a hash of what of these decides a result.
        values: every parameter's.
        needs_data: whether its result depends on the data set that is at hand.
        label: what progress calls it.
    """

    name: str
    files: Mapping[str, str]
    made_of: str
    values: Mapping[str, Value]
    needs_data: bool
    label: str

    @classmethod
    def of(cls, notebook: Notebook, values: Mapping[str, Value]) -> Task:
        """A notebook as it is now."""
        schema = notebook.path.with_suffix(".schema.yaml")
        texts = {
            f"notebooks/{path.name}": path.read_text(encoding="utf-8")
            for path in (notebook.path, notebook.helper)
            if path.is_file()
        }
        texts["book/claims.yaml"] = Project(notebook.path.parents[1]).claims_of(notebook.schema.get("claims", ()))
        # Of the schema, what is stated: its words may change.
        stated = {name: [entry["default"], entry.get("fixed", False)] for name, entry in notebook.properties.items()}
        made_of = digest(*texts.values(), json.dumps(stated, sort_keys=True))
        texts[f"notebooks/{schema.name}"] = schema.read_text(encoding="utf-8")
        return cls(notebook.name, texts, made_of, values, notebook.needs_data, notebook.name)

    def within(self, identity: Identity) -> Identity:
        """What of an identity the result depends on."""
        return identity if self.needs_data else {**identity, "data": {}}

    def key(self, identity: Identity) -> str:
        """Everything that the result depends on, as one hash."""
        return digest(self.name, self.made_of, json.dumps([dict(self.values), self.within(identity)], sort_keys=True))


@dataclass(frozen=True)
class Executed:
    """A task that has run: its record, and the notebook as text unless it failed."""

    record: Record
    text: str = ""


class Here:
    """This machine: each notebook in a kernel of its own, so many at once; what is at work ends with the block."""

    def __init__(self, jobs: int, data: Data) -> None:
        self._jobs, self._data = jobs, data
        self.label = f"{jobs} kernel{'s' * (jobs != 1)}"
        self._pool, self._stopping = ThreadPoolExecutor(jobs), Event()

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._pool.shutdown()

    def identity(self, *, needs_data: bool) -> Identity:
        """What computes here."""
        return identity(self._data if needs_data else None)

    def ahead(self) -> int:
        """How many tasks to hand out before one has ended."""
        return self._jobs

    def submit(self, task: Task, expected: Identity, report: Progress) -> Future[Executed]:
        """Hand out one task."""

        def told(done: int, cells: int) -> None:
            report(task.label, done, cells, "running")

        return self._pool.submit(compute, task, expected, self._data, told, self._stopping.is_set)

    def result(self, future: Future[Executed]) -> Executed:
        """What `submit` promised, once it is there."""
        return future.result()

    def check(self) -> None:
        """Raise if there is nothing more to wait for."""
        if self._stopping.is_set():
            raise KeyboardInterrupt

    def stop(self) -> None:
        """End what is at work."""
        self._stopping.set()


Place: TypeAlias = "Here | Cluster"
"""Where tasks run."""


@cache
def identity(data: Data | None) -> dict[str, Any]:
    """What this process computes with."""
    return {
        "source": provenance.source_digest(),
        "versions": provenance.versions(),
        "data": data() if data is not None else {},
    }


def compute(
    task: Task,
    expected: Identity,
    data: Data,
    report: Callable[[int, int], None] = lambda done, cells: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Executed:
    """Run one task in this thread, here or on a worker. What fails is told; only a death is raised."""
    from gspa.book.execute import execute

    if stopped():
        raise KeyboardInterrupt
    expected = task.within(expected)
    started, begin = datetime.now(UTC), time.monotonic()
    text, used, results, error = "", Record(), Record(), ""
    try:
        here = identity(data if task.needs_data else None)
        if here != expected:
            odd = ", ".join(name for name in here if here[name] != expected.get(name))
            raise GspaError(f"notebook {task.name}: the worker has another {odd}; install the same everywhere")
        with own_folder(OWN) as own:
            project, notebook = _unpacked(task, own / "project")
            injected = to_inject(notebook, task.values)
            text, used = execute(
                task.name,
                notebook.path,
                injected,
                cwd=project.root,
                own=own,
                timeout=notebook.timeout,
                report=report,
                stopped=stopped,
            )
        results = results_of(json.loads(text))
    except ProcessDied:
        raise
    except Exception as failure:  # one task's failure must not stop the others
        error = str(failure) if isinstance(failure, GspaError) else f"{type(failure).__name__}: {failure}"
    record = _record(task, expected, error) | {
        "results": results,
        "seconds": round(time.monotonic() - begin, 3),
        "started": started.isoformat(timespec="seconds"),
        **used,
    }
    return Executed(record, text)


def _record(task: Task, expected: Identity, error: str) -> Record:
    return {
        "key": task.key(expected),
        "status": "failed" if error else "done",
        "error": error,
        "results": {},
        "seconds": 0.0,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "worker": f"{platform.node()}:{os.getpid()}",
        "machine": provenance.machine(),
        **expected,
    }


def _unpacked(task: Task, root: Path) -> tuple[Project, Notebook]:
    """The notebook in a project made for it."""
    project = Project(root)
    for folder in (project.notebooks, project.book):
        folder.mkdir(parents=True)
    project.config.touch()
    for name, text in task.files.items():
        (root / name).write_text(text, encoding="utf-8")
    path = project.notebooks / f"{task.name}.ipynb"
    return project, Notebook(task.name, path, read_yaml(path.with_suffix(".schema.yaml")))


def results_of(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers that an executed notebook's texts name, and the verdicts on its cards as `verdict ID`."""
    numbers = {name: one for name, one in say.values_of(notebook).items() if isinstance(one, int | float)}
    return numbers | {f"verdict {name}": one.words for name, one in claims.shown(notebook).items()}


def each(
    place: Place, tasks: Sequence[Task], expected: Identity, progress: Progress
) -> Iterator[tuple[Task, Executed]]:
    """Each task with what it gave, in the order in which they end; few are handed out before they are needed."""
    left, running = list(reversed(tasks)), dict[Future[Executed], Task]()
    while left or running:
        while left and len(running) < place.ahead():
            task = left.pop()
            running[place.submit(task, expected, progress)] = task
        while not (ended := wait(running, timeout=0.5, return_when=FIRST_COMPLETED).done):
            place.check()
        for future in ended:
            task = running.pop(future)
            try:
                found = place.result(future)
            except ProcessDied as death:
                found = Executed(_record(task, expected, str(death)))
            progress(task.label, 1, 1, found.record["status"])
            yield task, found


def one(place: Place, task: Task, expected: Identity, progress: Progress = lambda *_: None) -> Executed:
    """Run one task."""
    ((_, found),) = each(place, [task], expected, progress)
    if found.record["error"]:
        raise CheckFailed(found.record["error"])
    return found


@dataclass(frozen=True)
class Run:
    """One notebook's result: where it is and whether it had to be computed."""

    name: str
    path: Path
    reused: bool


def run_all(
    project: Project, notebooks: Iterable[Notebook], *, profile: str, place: Place, progress: Progress = lambda *_: None
) -> list[Run]:
    """Run every notebook whose result is not at hand; keep each as soon as it is whole."""
    folder = ensure_writable(project.executed(profile))
    # The longest first, so that none is left alone with the last.
    order = sorted(notebooks, key=lambda notebook: -notebook.timeout)
    tasks = [Task.of(notebook, notebook.validate({}, profile=profile)) for notebook in order]
    expected = place.identity(needs_data=any(task.needs_data for task in tasks))
    paths = {task.name: folder / f"{task.name}.ipynb" for task in tasks}
    missing = [task for task in tasks if not _is_current(paths[task.name], task.key(expected))]
    for task in tasks:
        if task not in missing:
            progress(task.label, 1, 1, "unchanged")
    failures = []
    for task, found in each(place, missing, expected, progress):
        if found.record["error"]:
            failures.append(found.record["error"])
        else:
            keep(paths[task.name], found)
    if failures:
        raise CheckFailed("\n\n".join(failures) + "\n\nThe site was not replaced; finished notebooks are kept.")
    computed = {task.name for task in missing}
    return [Run(name, path, name not in computed) for name, path in sorted(paths.items())]


def keep(output: Path, found: Executed) -> None:
    """The finished notebook, and its record beside it, which is written last."""
    write_atomically(output, found.text)
    write_atomically(output.with_suffix(".json"), json.dumps(found.record | {"sha256": _sha256(output)}))


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_current(output: Path, wanted: str) -> bool:
    """Whether a kept result is the one wanted and still has the bytes it was written with."""
    facts = kept(output.with_suffix(".json"))
    return facts.get("key") == wanted and output.is_file() and facts.get("sha256") == _sha256(output)


def place(project: Project, runs: Iterable[Run]) -> None:
    """Put the executed notebooks where the book's table of contents expects them."""
    folder = ensure_writable(project.book / "notebooks")
    names = {f"{run.name}.ipynb" for run in runs}
    for stale in folder.glob("*.ipynb"):
        if stale.name not in names:
            stale.unlink()
    for run in runs:
        shutil.copyfile(run.path, folder / run.path.name)

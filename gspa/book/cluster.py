"""The workers of a Dask cluster, and what travels to them.

A worker needs the installed package and nothing else: a notebook travels with its task and runs in a project made for
it, so an edit of the checkout meanwhile changes nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from gspa.accountant.errors import CheckFailed, GspaError, InvalidValue, ProcessDied
from gspa.book import provenance
from gspa.book.parameters import Notebook, Value, read_yaml
from gspa.book.project import Project
from gspa.book.run import Children, Executed, run_notebook
from gspa.files import own_folder

TRIES = 3  # processes that may die on one notebook before it counts as failed
_AHEAD = 3  # settings handed to each worker of a cluster beyond the one at work
_CONNECT = 15  # seconds
_OWN = "gspa-sweep-"  # temporary folders of settings at work

Data = Callable[[], dict[str, str]]
"""Gives file name to SHA-256 of the data set at hand; a function at a module's top, so that a cluster can call it."""


@dataclass(frozen=True)
class Target:
    """What travels to a worker: a notebook's files as text.

    Attributes:
        name: the notebook's.
        files: source, schema, the module beside it if there is one, and its claims, by their paths in a checkout.
        needs_data: whether its result depends on the data set that is at hand.
    """

    name: str
    files: Mapping[str, str]
    needs_data: bool

    @classmethod
    def of(cls, notebook: Notebook) -> Target:
        root = notebook.path.parents[1]
        files = (notebook.path, notebook.path.with_suffix(".schema.yaml"), notebook.helper)
        texts = {
            path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files if path.is_file()
        }
        texts["book/claims.yaml"] = Project(root).claims_of(notebook.name)
        return cls(notebook.name, texts, notebook.needs_data)

    @contextmanager
    def unpacked(self) -> Iterator[tuple[Project, Notebook]]:
        """The notebook in a project made for it, which ends with the block."""
        with own_folder(_OWN) as folder:
            project = Project(folder)
            project.notebooks.mkdir()
            project.book.mkdir()
            project.config.touch()
            for name, text in self.files.items():
                (folder / name).write_text(text, encoding="utf-8")
            path = project.notebooks / f"{self.name}.ipynb"
            yield project, Notebook(self.name, path, read_yaml(path.with_suffix(".schema.yaml")))


class Cluster:
    """The workers of a Dask cluster that somebody else started and will stop.

    Args:
        scheduler: its scheduler's address, such as tcp://10.0.0.5:8786, or the path of its scheduler file (.json).
        data: asked on the workers.

    Raises:
        GspaError: dask.distributed is not installed.
        InvalidValue: nothing answers there.
    """

    children = None  # a worker's own

    def __init__(self, scheduler: str, data: Data) -> None:
        try:
            distributed = import_module("distributed")
        except ModuleNotFoundError:
            raise GspaError(
                "--scheduler: needs dask.distributed, which is not installed: pip install 'gspa[book,cluster]'"
            ) from None
        # A scheduler that goes away is one line of ours, not a page of its client's log.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        where: dict[str, Any] = {"address": scheduler}
        if scheduler.endswith(".json"):
            if not Path(scheduler).is_file():  # Dask would wait for it without end
                raise InvalidValue("--scheduler", scheduler, "a scheduler file that exists, or an address")
            where = {"scheduler_file": scheduler}
        try:
            self._client: Any = distributed.Client(**where, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InvalidValue("--scheduler", scheduler, "the address of a running Dask scheduler", reason) from None
        self.data, self._scheduler, self.label = data, scheduler, f"the cluster at {scheduler}"
        self.executor: Executor = self._client.get_executor(retries=TRIES - 1, pure=False)
        self._awaited: set[Future[Any]] = set()
        if not self._client.nthreads():
            self.label += ", waiting for its first worker"

    def identity(self, *, needs_data: bool, stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
        """What the workers of this moment compute with; waits for the first one, until `stopped`.

        Raises:
            KeyboardInterrupt: it was stopped.
            GspaError: a worker lacks the package, has other sources than this process, or differs from the others.
        """
        while not self._client.nthreads():
            self.check_alive()
            if stopped():
                raise KeyboardInterrupt
            time.sleep(0.2)
        replies = self._client.run(identity, self.data if needs_data else None, on_error="return")
        first: dict[str, Any] | None = None
        for worker, reply in sorted(replies.items()):
            if isinstance(reply, BaseException):
                raise GspaError(
                    f"worker {worker}: {first_line(reply)}; it needs the same gspa: pip install 'gspa[book,cluster]'"
                )
            if reply["source"] != provenance.source_digest():
                raise GspaError(f"worker {worker}: has another gspa than this machine; install the same on both")
            if first is not None and reply != first:
                odd = ", ".join(name for name in reply if reply[name] != first[name])
                raise GspaError(f"worker {worker}: has another {odd} than the other workers; make them alike")
            first = reply
        assert first is not None
        return first

    def ahead(self) -> int:
        return _AHEAD * max(1, int(sum(self._client.nthreads().values())))

    def check_alive(self) -> None:
        if self._client.status != "running":
            raise CheckFailed(
                f"lost the scheduler at {self._scheduler}; what was finished is kept, the same command goes on"
            )

    def stop(self, running: Sequence[Future[Any]] | None = None) -> None:
        """Cancel these; without them, all that `execute` waits for."""
        for future in list(self._awaited) if running is None else running:
            future.cancel()

    def close(self) -> None:
        self._client.close()

    def execute(self, notebook: Notebook, values: Mapping[str, Value], data: Mapping[str, str]) -> Executed:
        """One notebook on some worker, as soon as one is free.

        Raises:
            CheckFailed: a cell raised, or the worker computes with something else than this machine.
        """
        return self.result(notebook, self.submit(notebook, values, data))

    def submit(self, notebook: Notebook, values: Mapping[str, Value], data: Mapping[str, str]) -> Future[Executed]:
        """Hand one notebook to the cluster."""
        expected = identity(None) | {"data": dict(data) if notebook.needs_data else {}}
        return self.executor.submit(execute_here, Target.of(notebook), dict(values), expected, self.data)

    def result(self, notebook: Notebook, future: Future[Executed]) -> Executed:
        """Wait for what `submit` gave.

        Raises:
            CheckFailed: as `execute`.
        """
        self._awaited.add(future)
        try:
            found = future.result()
        except Exception as death:  # a worker, or the processes of all tries, died
            self.check_alive()
            raise ProcessDied(f"notebook {notebook.name}: {first_line(death)}") from None
        finally:
            self._awaited.discard(future)
        if found.error:
            raise CheckFailed(found.error)
        return found


@cache
def identity(data: Data | None) -> dict[str, Any]:
    """What this process computes with: the package's sources, versions, and the data's checksums."""
    return {
        "source": provenance.source_digest(),
        "versions": provenance.versions(),
        "data": data() if data is not None else {},
    }


def execute_here(target: Target, values: Mapping[str, Value], expected: Mapping[str, Any], data: Data) -> Executed:
    """On a worker: run one notebook. What fails is told; only a process that keeps dying is raised."""
    here = identity(data if target.needs_data else None)
    if here != expected:
        odd = ", ".join(name for name in here if here[name] != expected.get(name))
        return Executed(error=f"notebook {target.name}: the worker has another {odd}; install the same everywhere")
    with target.unpacked() as (project, notebook):
        output = project.root / "executed.ipynb"
        try:
            used = run_or_try_again(project, notebook, values, output, None)
        except ProcessDied:
            raise
        except GspaError as failure:
            return Executed(error=str(failure))
        return Executed(output.read_text(encoding="utf-8"), used or {}, provenance.machine())


def run_or_try_again(
    project: Project, notebook: Notebook, values: Mapping[str, Value], output: Path, children: Children | None
) -> dict[str, float]:
    """`run_notebook`, again where the process died: memory may have been short for a moment.

    Raises:
        ProcessDied: it died every time.
    """
    for attempt in range(1, TRIES + 1):
        try:
            return run_notebook(project, notebook, dict(values), output, children=children)
        except ProcessDied as death:
            if attempt == TRIES or (children is not None and children.stopping):
                raise ProcessDied(f"{first_line(death)} ({attempt} tries)") from None
    raise AssertionError


def first_line(error: BaseException) -> str:
    """The first line, which says what; the rest is a traceback."""
    first = next(iter(str(error).splitlines()), "")
    return first if isinstance(error, GspaError) else f"{type(error).__name__}: {first}"

"""What a worker of a sweep does: one setting of a notebook or an experiment, told as plain data.

A worker needs the installed package and nothing else: a notebook travels with the task and runs in a
project made for it, so an edit of the checkout during a sweep changes no row.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gspa import provenance
from gspa.errors import GspaError, ProcessDied
from gspa.parameters import Notebook, Value
from gspa.pipeline import Children, data_identity, outcomes, run_notebook
from gspa.project import Project, digest

Record = dict[str, Any]
"""`status` ("done" or "failed"), `error`, `results` by name, `seconds`, `started`, `worker`, `versions`, `source`,
`data`: what one setting gave and what it was made from, ready for JSON."""

TRIES = 3  # processes that may die on one setting before it counts as failed


@dataclass(frozen=True)
class Target:
    """What a sweep repeats, complete: a notebook's two files as text, or an experiment's name.

    Attributes:
        name: of the notebook or the experiment.
        needs_data: whether the result depends on the data set at hand.
        source: the notebook's JSON; empty for an experiment.
        schema: its parameters' schema as YAML text; empty for an experiment.
    """

    name: str
    needs_data: bool = False
    source: str = ""
    schema: str = ""


@dataclass(frozen=True)
class Task:
    """One setting: every parameter's value, and a hash of all that the result depends on."""

    key: str
    values: Mapping[str, Value]


@cache
def identity(*, needs_data: bool) -> dict[str, Any]:
    """What this process computes with: the package's sources, versions, and the data's checksums."""
    return {
        "source": provenance.source_digest(),
        "versions": provenance.versions(),
        "data": data_identity() if needs_data else {},
    }


def compute(target: Target, task: Task, expected: Mapping[str, Any], children: Children | None = None) -> Record:
    """Run one setting. What fails is a record too; only a process that died is raised, for another try.

    Args:
        target: what to run.
        task: with which parameters.
        expected: the `identity` that the sweep's rows share; a worker of another one computes nothing.
        children: where a notebook's process is noted, so that an interrupt can end it.

    Raises:
        ProcessDied: the notebook's process or kernel ended before it could say why.
    """
    started, begin = datetime.now(UTC), time.monotonic()
    results: Mapping[str, Any] = {}
    error = ""
    try:
        here = identity(needs_data=target.needs_data)
        if here != expected:
            odd = ", ".join(name for name in here if here[name] != expected.get(name))
            raise GspaError(f"this worker has another {odd} than the sweep began with; install the same everywhere")
        results = _notebook(target, task, children) if target.source else _experiment(target, task)
    except ProcessDied:
        raise
    except Exception as failure:  # one setting's failure must not stop the others
        known = isinstance(failure, GspaError)
        error = str(failure) if known else f"{type(failure).__name__}: {failure}"
    return record(
        error=error, results=results, seconds=time.monotonic() - begin, started=started.isoformat(timespec="seconds")
    ) | _made_from(expected)


def record(*, error: str = "", results: Mapping[str, Any] | None = None, seconds: float = 0.0, started: str) -> Record:
    """One setting's result; of an error its first line, which says what: the rest is a traceback."""
    return {
        "status": "failed" if error else "done",
        "error": (error.splitlines() or [""])[0],
        "results": {name: _plain(value) for name, value in (results or {}).items()},
        "seconds": round(seconds, 3),
        "started": started,
        "worker": f"{platform.node()}:{os.getpid()}",
    }


def lost(reason: str, expected: Mapping[str, Any]) -> Record:
    """The record of a setting whose processes all died."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return record(error=reason or "its process died", started=started) | {"worker": ""} | _made_from(expected)


def _made_from(expected: Mapping[str, Any]) -> Record:
    return {
        "versions": "; ".join(f"{name} {number}" for name, number in expected["versions"].items()),
        "source": expected["source"][:16],
        "data": digest(*(f"{name} {sha}" for name, sha in sorted(expected["data"].items())))[:16]
        if expected["data"]
        else "",
    }


def _experiment(target: Target, task: Task) -> Mapping[str, Any]:
    from gspa.sweep_experiments import EXPERIMENTS

    return EXPERIMENTS[target.name].run(**task.values)


def _notebook(target: Target, task: Task, children: Children | None) -> dict[str, Any]:
    """The numbers that the notebook glued, and the verdicts on its cards as `verdict ID`."""
    import nbformat

    from gspa.execute import glued
    from gspa.parameters import read_yaml

    with tempfile.TemporaryDirectory(prefix="gspa-sweep-") as folder:
        project = Project(Path(folder))
        project.notebooks.mkdir()
        project.config.touch()
        path = project.notebooks / f"{target.name}.ipynb"
        path.write_text(target.source, encoding="utf-8")
        path.with_suffix(".schema.yaml").write_text(target.schema, encoding="utf-8")
        notebook = Notebook(target.name, path, read_yaml(path.with_suffix(".schema.yaml")))
        output = project.root / "executed.ipynb"
        run_notebook(project, notebook, dict(task.values), output, children=children)
        found = glued(nbformat.read(output, as_version=4))
        numbers = {name: value for name, value in found.items() if isinstance(value, int | float)}
        verdicts = {f"verdict {name}": outcome.verdict for name, outcome in outcomes([output]).items()}
        return numbers | verdicts


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value

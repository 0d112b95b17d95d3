"""Run one notebook in this process and write it only if it succeeded.

`python -m gspa.book.execute` reads one JSON job, a line of standard input, and reports on standard
output, a JSON object a line: `{"cells": N}`, `{"done": i}`, then `{"ok": true, "cpu": seconds, "memory": MiB}` or
`{"error": {...}}`. The pipeline starts one such process a notebook. Where the job names a
`temporary` folder, the end of standard input tells that the caller is gone: the process removes
the folder and ends.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any, TextIO

import nbformat
import papermill
import zmq
from nbclient.exceptions import DeadKernelError
from papermill.engines import NBClientEngine, papermill_engines
from traitlets.config import Config

from gspa.book import kernels, processes
from gspa.book.notebook_source import INJECTED, KERNEL, stable_ids
from gspa.files import write_atomically


def normalise(notebook: Any) -> None:
    """Drop what differs between two runs of the same notebook: times, paths, random ids, the editor's kernel."""
    for cell in notebook.cells:
        for key in ("execution", "papermill"):
            cell.metadata.pop(key, None)
        if cell.get("id") == INJECTED:
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-input"]
            prompts = {"code_prompt_show": "The parameters of this run", "code_prompt_hide": "Hide them"}
            cell.metadata["mystnb"] = prompts
    notebook.metadata["kernelspec"] = KERNEL
    kept = notebook.metadata.get("papermill", {})
    notebook.metadata["papermill"] = {key: kept[key] for key in ("parameters", "version") if key in kept}


_DEAD = "Its process was killed or crashed. Most often memory ran out: try --jobs 1, or --profile quick."


class _Reporting(NBClientEngine):  # type: ignore[misc]  # papermill has no type hints
    """papermill's own engine, telling how far it is."""

    channel: TextIO = sys.stdout

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> None:
        stable_ids(nb_man.nb)
        _say(cls.channel, cells=len(nb_man.nb.cells))
        finish = nb_man.cell_complete
        done = 0

        def finished(cell: Any, cell_index: int = 0, **extra: Any) -> None:
            nonlocal done
            finish(cell, cell_index=cell_index, **extra)
            done = cell_index + 1
            _say(cls.channel, done=done)

        nb_man.cell_complete = finished
        try:
            super().execute_managed_notebook(nb_man, kernel_name, **options)
        except Exception as error:  # a kernel that died or a cell that took too long says not which cell it was
            if not done:
                raise
            what, *more = str(error).splitlines() or [""]
            if isinstance(error, DeadKernelError):
                more.append(_DEAD)
            source = nb_man.nb.cells[done - 1].source
            raise papermill.PapermillExecutionError(done - 1, None, source, type(error).__name__, what, more) from error


def _say(channel: TextIO, **message: object) -> None:
    print(json.dumps(message), file=channel, flush=True)


def _sockets(folder: str) -> Config:
    """The kernel's connection file in a folder of its own, and its sockets as files there, where the system has such.

    A port is free when it is chosen and may be taken when the kernel asks for it: of many kernels that start at once,
    one dies now and then.
    """
    short = len(os.fsencode(folder)) < 90  # a socket's path has 104 bytes at most
    local = {"transport": "ipc", "ip": os.path.join(folder, "kernel")} if short and zmq.has("ipc") else {}
    at = {"connection_file": os.path.join(folder, "kernel.json"), **local}
    return Config({"KernelManager": at} if folder else {})


def execute(source: Path, output: Path, parameters: dict[str, Any], *, timeout: int, cwd: Path, own: str = "") -> None:
    """Run `source` with `parameters` and move the finished notebook to `output`.

    Raises:
        papermill.PapermillExecutionError: a cell raised; `output` is left as it was.
    """
    notebook = papermill.execute_notebook(
        str(source),
        None,  # nothing is written until the whole notebook has succeeded
        parameters=parameters,
        engine_name="gspa",
        kernel_name=KERNEL["name"],
        language=KERNEL["language"],
        progress_bar=False,
        execution_timeout=timeout,
        cwd=str(cwd),
        config=_sockets(own),
    )
    _refuse_errors(notebook)
    normalise(notebook)
    write_atomically(output, nbformat.writes(notebook) + "\n")


def _refuse_errors(notebook: Any) -> None:
    """Raise for an error that papermill let pass: it takes sys.exit(0) for success and skips the other cells."""
    for index, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                raise papermill.PapermillExecutionError(
                    index, None, cell.source, output.ename, output.evalue, output.traceback
                )


def _describe(error: BaseException, *, injected: bool) -> dict[str, object]:
    """What failed, where the failure is counted in the source's cells: it has no injected one."""
    if isinstance(error, papermill.PapermillExecutionError):
        head = next((line for line in error.source.splitlines() if line.strip()), "")
        return {
            "cell": error.cell_index + (0 if injected else 1),
            "source": head,
            "what": f"{error.ename}: {error.evalue}",
            "traceback": [_plain(line) for line in error.traceback],
        }
    return {"cell": None, "source": "", "what": f"{type(error).__name__}: {error}", "traceback": []}


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def main(*, forked: bool = False) -> int:
    """One job from standard input; 0 when the notebook ran, 1 when it raised.

    Args:
        forked: whether this process was forked from one that had imported what a kernel needs.
    """
    with open(0, encoding="utf-8", closefd=False) as asked:  # sys.stdin is the server's, if this process was forked
        job = json.loads(asked.readline())
    # The protocol has standard output to itself; whatever else prints goes to standard error.
    _Reporting.channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    if "environment" in job:
        os.environ.clear()
        os.environ.update(job["environment"])
    if forked:
        kernels.Kernel.waiting = kernels.Kernel(_Reporting.channel.fileno())
        os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] = kernels.PROVISIONER
    if "temporary" in job:
        processes.hold(job["temporary"])
    papermill_engines.register("gspa", _Reporting)
    try:
        execute(
            Path(job["source"]),
            Path(job["output"]),
            job["parameters"],
            timeout=job["timeout"],
            cwd=Path(job["cwd"]),
            own=job.get("temporary", ""),
        )
    except Exception as error:  # reported as data: the parent decides what to show
        _say(_Reporting.channel, error=_describe(error, injected=bool(job["parameters"])))
        return 1
    _say(_Reporting.channel, ok=True, **_used())
    return 0


def _used() -> dict[str, float]:
    """CPU seconds of this process and its kernel, with what they started, and the largest one's memory in MiB."""
    if sys.platform == "win32":
        return {"cpu": time.process_time(), "memory": 0}
    import resource

    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return {
        "cpu": round(sum(one.ru_utime + one.ru_stime for one in both), 1),
        "memory": round(max(one.ru_maxrss for one in both) / unit),
    }


if __name__ == "__main__":
    sys.exit(main())

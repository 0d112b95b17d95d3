"""Run one notebook, set by papermill and run by nbclient, in a kernel of its own, in the thread that asks."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat
import papermill
import zmq
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from papermill.log import logger
from traitlets.config import Config

from gspa.accountant.errors import CheckFailed, ProcessDied
from gspa.book import processes
from gspa.book.kernels import PROVISIONER, SAID, USED
from gspa.book.notebook_source import INJECTED, KERNEL, stable_ids
from gspa.files import kept

Report = Callable[[int, int], None]
"""Called with cells done and cells in all."""
_DEAD = "Its process was killed or crashed. Most often memory ran out: try --jobs 1, or --profile quick."


def execute(
    name: str,
    source: Path,
    parameters: Mapping[str, Any],
    *,
    cwd: Path,
    own: Path,
    timeout: int,
    report: Report = lambda done, cells: None,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[str, dict[str, float]]:
    """The finished notebook as text, and what its kernel used."""
    manager = _Manager(stopped, config=Config({"KernelManager": _connection(own)}))
    notebook: Any = None
    at = -1

    def begins(cell: Any, cell_index: int) -> None:
        nonlocal at
        at = cell_index
        report(at, len(notebook.cells))

    try:
        notebook = papermill.execute_notebook(
            str(source),
            None,
            parameters=dict(parameters),
            kernel_name=KERNEL["name"],
            language=KERNEL["language"],
            progress_bar=False,
            prepare_only=True,  # which sets the parameters
        )
        stable_ids(notebook)
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=timeout,
            raise_on_iopub_timeout=True,
            force_raise_errors=True,  # also where a cell's tag says that it may fail
            on_cell_start=begins,
            log=logger,
        )
        asyncio.run(client.async_execute(cleanup_kc=True, env=processes.environment(own), cwd=str(cwd)))
        report(len(notebook.cells), len(notebook.cells))
    except Exception as error:
        if stopped():
            raise KeyboardInterrupt from None
        if at >= 0:
            number = at + (0 if parameters else 1)  # that of the source, which has no cell of injected parameters
            told = f"notebook {name}, cell {number} {_told(notebook.cells[at], error)}"
            raise (ProcessDied if isinstance(error, DeadKernelError) else CheckFailed)(told) from None
        said = own / SAID
        last = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-12:] if said.is_file() else []
        kind = ProcessDied if isinstance(error, RuntimeError) else CheckFailed
        raise kind("\n".join([f"notebook {name}: {type(error).__name__}: {error}", *last])) from None
    normalise(notebook)
    return nbformat.writes(notebook) + "\n", kept(own / USED)


def _told(cell: Any, error: Exception) -> str:
    """A failure in one screen: the first line of its cell, the error, and the end of its trace."""
    head = next((line for line in cell.source.splitlines() if line.strip()), "")
    shown = next((output for output in cell.get("outputs", []) if output.output_type == "error"), None)
    if isinstance(error, CellExecutionError) and shown is not None:
        what = f"{shown.ename}: {shown.evalue}"
        lines = [line for block in shown.traceback for line in block.splitlines()]
    else:  # a kernel that died, or a cell that took too long
        first, *lines = str(error).splitlines() or [""]
        what = f"{type(error).__name__}: {first}"
        if isinstance(error, DeadKernelError):
            lines.append(_DEAD)
    trace = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    return "\n".join([f"({head}): {what}", *trace[-16:]])


def _connection(own: Path) -> dict[str, str]:
    """The kernel's connection file in a folder of its own, and its sockets as files there, where the system has such.

    A port is free when it is chosen and may be taken when the kernel asks for it: of many kernels that start at once,
    one dies now and then.
    """
    short = len(os.fsencode(own)) < 90  # a socket's path has 104 bytes at most
    local = {"transport": "ipc", "ip": str(own / "kernel")} if short and zmq.has("ipc") else {}
    return {"connection_file": str(own / "kernel.json"), **local}


class _Manager(AsyncKernelManager):
    """Starts this installation's kernel, whatever kernels a user has; a kernel that is to stop counts as dead."""

    def __init__(self, stopped: Callable[[], bool], **options: Any) -> None:
        # After half of it a kernel is terminated and tells nothing of what it used: on a busy machine it ends slowly.
        super().__init__(shutdown_wait_time=20.0, **options)
        self._stopped = stopped

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            metadata={"kernel_provisioner": {"provisioner_name": PROVISIONER}},
            **KERNEL,
        )

    async def _async_is_alive(self) -> bool:
        return not self._stopped() and await super()._async_is_alive()

    is_alive = _async_is_alive


logger.addHandler(logging.NullHandler())  # what fails is told by whoever asked


def normalise(notebook: Any) -> None:
    """Drop what differs between two runs of the same notebook: times, paths, random ids, the editor's kernel."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = _whole_streams(cell.outputs)
        for key in ("execution", "papermill"):
            cell.metadata.pop(key, None)
        if cell.get("id") == INJECTED:
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-input"]
            prompts = {"code_prompt_show": "The parameters of this run", "code_prompt_hide": "Hide them"}
            cell.metadata["mystnb"] = prompts
    notebook.metadata["kernelspec"] = KERNEL
    made = notebook.metadata.get("papermill", {})
    notebook.metadata["papermill"] = {key: made[key] for key in ("parameters", "version") if key in made}


def _whole_streams(outputs: list[Any]) -> list[Any]:
    """One output for what was printed in a row: where a kernel cuts it is a matter of time."""
    found: list[Any] = []
    for output in outputs:
        if found and output.output_type == found[-1].output_type == "stream" and output.name == found[-1].name:
            found[-1].text += output.text
        else:
            found.append(output)
    return found

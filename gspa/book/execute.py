"""Run one notebook with papermill, in a kernel of its own, in the thread that asks."""

from __future__ import annotations

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
from jupyter_core.utils import ensure_event_loop
from nbclient.exceptions import DeadKernelError
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines
from papermill.log import logger
from traitlets.config import Config

from gspa.accountant.errors import CheckFailed, ProcessDied
from gspa.book import processes
from gspa.book.kernels import PROVISIONER, SAID
from gspa.book.notebook_source import INJECTED, KERNEL, stable_ids

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
    try:
        notebook = papermill.execute_notebook(
            str(source),
            None,  # nothing is written until the whole notebook has succeeded
            parameters=dict(parameters),
            engine_name="gspa",
            kernel_name=KERNEL["name"],
            language=KERNEL["language"],
            progress_bar=False,
            execution_timeout=timeout,
            manager=manager,
            begin={"env": environment(own), "cwd": str(cwd)},
            report=report,
        )
        _refuse_errors(notebook)
    except papermill.PapermillExecutionError as error:
        if stopped():
            raise KeyboardInterrupt from None
        died = error.ename == DeadKernelError.__name__
        raise (ProcessDied if died else CheckFailed)(_told(name, error, injected=bool(parameters))) from None
    except Exception as error:  # before any cell
        if stopped():
            raise KeyboardInterrupt from None
        said = own / SAID
        last = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-12:] if said.is_file() else []
        kind = ProcessDied if isinstance(error, RuntimeError) else CheckFailed
        raise kind("\n".join([f"notebook {name}: {type(error).__name__}: {error}", *last])) from None
    finally:
        ensure_event_loop().close()  # this thread's, of which nbclient leaves the end to others
    normalise(notebook)
    return nbformat.writes(notebook) + "\n", dict(getattr(manager.provisioner, "used", {}))


def environment(own: Path) -> dict[str, str]:
    """A kernel's variables, with settings and history in the empty folder `own`."""
    # A hash seed would make the order of sets differ between two runs.
    found = os.environ | processes.settings(own) | {"PYTHONHASHSEED": "0"}
    found.pop("MPLBACKEND", None)  # the kernel's inline backend sets its own
    # Sums in another order differ in their last digits: one thread, so that the number of cores does not matter.
    for library in ("OMP", "OPENBLAS", "MKL"):
        found.setdefault(f"{library}_NUM_THREADS", "1")
    found.pop("PYTHONSTARTUP", None)  # a kernel would run it
    if "GSPA_DATA_DIR" in found:  # the kernel works in another folder
        found["GSPA_DATA_DIR"] = str(Path(found["GSPA_DATA_DIR"]).resolve())
    return found


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


class _Engine(NBClientEngine):  # type: ignore[misc]  # papermill has no type hints
    """papermill's own engine, with a kernel of ours, telling how far it is."""

    @classmethod
    def execute_managed_notebook(
        cls,
        nb_man: Any,
        kernel_name: str,
        *,
        manager: _Manager,
        begin: Mapping[str, Any],
        report: Report,
        execution_timeout: int,
        **_: Any,
    ) -> None:
        stable_ids(nb_man.nb)
        cells = len(nb_man.nb.cells)
        report(0, cells)
        finish = nb_man.cell_complete
        done = 0

        def finished(cell: Any, cell_index: int = 0, **extra: Any) -> None:
            nonlocal done
            finish(cell, cell_index=cell_index, **extra)
            done = cell_index + 1
            report(done, cells)

        nb_man.cell_complete = finished
        client = PapermillNotebookClient(nb_man, km=manager, timeout=execution_timeout, log=logger)
        try:
            client.execute(cleanup_kc=True, **begin)
        except Exception as error:  # a kernel that died or a cell that took too long says not which cell it was
            if not done:
                raise
            what, *more = str(error).splitlines() or [""]
            if isinstance(error, DeadKernelError):
                more.append(_DEAD)
            source = nb_man.nb.cells[done - 1].source
            raise papermill.PapermillExecutionError(done - 1, None, source, type(error).__name__, what, more) from error


papermill_engines.register("gspa", _Engine)
logger.addHandler(logging.NullHandler())  # what fails is told by whoever asked


def _refuse_errors(notebook: Any) -> None:
    """Raise for an error that papermill let pass: it takes sys.exit(0) for success and skips the other cells."""
    for index, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                raise papermill.PapermillExecutionError(
                    index, None, cell.source, output.ename, output.evalue, output.traceback
                )


def _told(name: str, error: Any, *, injected: bool) -> str:
    """The failure in one screen: which notebook, which cell of its source, which has no injected one, and the error."""
    number = error.cell_index + (0 if injected else 1)
    head = next((line for line in error.source.splitlines() if line.strip()), "")
    trace = [line for block in error.traceback for line in re.sub(r"\x1b\[[0-9;]*m", "", block).splitlines()][-16:]
    return "\n".join([f"notebook {name}, cell {number} ({head}): {error.ename}: {error.evalue}", *trace])


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

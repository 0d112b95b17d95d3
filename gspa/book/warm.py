"""Processes for notebooks that need not import what every notebook needs: they are forked from one that has.

A notebook takes two processes, papermill's and its kernel's, and the imports of each cost more than a second. Here a
server imports them once and forks a process for each notebook, and that one forks its kernel (`kernels`).
No page's module is imported beforehand, so the server never holds an older state of a page's source.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from threading import Lock
from typing import Any, NoReturn, TextIO

from gspa.accountant.errors import ProcessDied
from gspa.book.processes import leave

POSSIBLE = sys.platform == "linux"  # elsewhere the system's own libraries may have threads before the fork

IMPORTED = [
    *("gspa.book.execute", "ipykernel.ipkernel", "ipykernel.kernelapp", "matplotlib.pyplot", "pandas", "seaborn"),
    *("scipy.optimize", "scipy.special", "scipy.stats", "jinja2", "yaml", "jsonschema", "sympy"),
]
# Taken from the environment when a module is imported: a kernel has its backend from ipykernel, which sets it first.
_SETTLED = {"MATPLOTLIBRC": os.devnull, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
# Of glibc, read when the server starts: else it gives the memory of each array back, and the next one asks for it anew.
_KEPT = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**28)}


class Process:
    """A process forked from the server, with what `gspa.book.run` needs of `subprocess.Popen`.

    Attributes:
        pid: of the process.
        stdin, stdout, stderr: its ends of three pipes.
        returncode: its status once `wait` has seen it.
    """

    def __init__(self, server: socket.socket) -> None:
        """Have it forked.

        Raises:
            ProcessDied: the server ended before it could.
        """
        pipes = [os.pipe() for _ in range(4)]
        inner = [pipes[0][0], *(writing for _, writing in pipes[1:])]
        outer = [pipes[0][1], *(reading for reading, _ in pipes[1:])]
        how: dict[str, Any] = {"encoding": "utf-8", "errors": "replace"}  # what a library prints need not be UTF-8
        self.stdin: TextIO = os.fdopen(outer[0], "w", **how)
        self.stdout, self.stderr, self._status = (os.fdopen(end, **how) for end in outer[1:])
        try:
            with suppress(BrokenPipeError):  # then it says no number
                socket.send_fds(server, [b"fork"], inner)
        finally:
            for end in inner:
                os.close(end)
        told = self._status.readline()
        if not told:
            for stream in (self.stdin, self.stdout, self.stderr, self._status):
                stream.close()
            raise ProcessDied("the process that starts notebooks ended; its last words stand above")
        self.pid = int(told)
        self.returncode: int | None = None
        self._lock = Lock()

    def wait(self, timeout: float | None = None) -> int:
        """The status with which it ended.

        Raises:
            subprocess.TimeoutExpired: it is still at work.
        """
        with self._lock:
            if self.returncode is not None:
                return self.returncode
            own = os.dup(self._status.fileno())  # who stops a run and who runs it wait at the same time
        try:
            if not select.select([own], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("gspa.book.execute", timeout or 0.0)
        finally:
            os.close(own)
        with self._lock:
            if self.returncode is None:
                self.returncode = int(self._status.read() or -signal.SIGKILL)  # nothing: the server itself was killed
                self._status.close()
            return self.returncode

    def terminate(self) -> None:
        """Ask it to end, if it has not ended."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)


_LOCK = Lock()
_server: tuple[subprocess.Popen[bytes], socket.socket] | None = None


def start(environment: Mapping[str, str]) -> Process:
    """A new process that does what `python -m gspa.book.execute` does, from the server, which starts when it must.

    Args:
        environment: of the server if it must start; the process takes its own from its job.
    """
    with _LOCK:
        return Process(_running(environment))


def heat(environment: Mapping[str, str]) -> None:
    """Start the server, if it does not run, before there is work for it."""
    with _LOCK:
        _running(environment)


def _running(environment: Mapping[str, str]) -> socket.socket:
    """What the server is asked by; it starts when it must."""
    global _server
    if _server is None or _server[0].poll() is not None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "gspa.book.warm"]
            settings = {**environment, **_SETTLED, **_KEPT}
            # In a group of its own: an interrupt of the terminal is for those who wait for the notebooks.
            process = subprocess.Popen(command, stdin=theirs.fileno(), env=settings, process_group=0)
        _server = process, ours
        atexit.register(_stop, process, ours)
    return _server[1]


def _stop(process: subprocess.Popen[bytes], asking: socket.socket) -> None:
    """End the server; what it has forked has lifelines of its own."""
    asking.close()
    process.terminate()
    process.wait()


def serve() -> NoReturn:
    """Import, then fork a process for each message on the socket that is standard input, until it ends."""
    alone = select.poll()
    alone.register(0, 0)  # which tells only of the other end's
    for module in IMPORTED:
        importlib.import_module(module)
        if alone.poll(0):  # nobody is left to ask
            os._exit(0)
    _draw()
    gc.freeze()  # else each process looks through what is imported again and again, and copies it
    asked = socket.socket(fileno=os.dup(0))
    statuses: dict[int, int] = {}

    def ended(*_: object) -> None:
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                with suppress(BrokenPipeError), os.fdopen(statuses.pop(found[0]), "w") as told:
                    told.write(str(os.waitstatus_to_exitcode(found[1])))

    signal.signal(signal.SIGCHLD, ended)
    while True:
        message, ends, _, _ = socket.recv_fds(asked, 16, 4)
        if not message:
            os._exit(0)  # what it has forked ends by lifelines of its own
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # it cannot have ended before it is noted
        process = os.fork()
        if not process:
            asked.close()
            for status in statuses.values():
                os.close(status)
            _as_if_started(ends)
        statuses[process] = ends.pop()
        with suppress(BrokenPipeError):  # who asked was killed meanwhile
            os.write(statuses[process], f"{process}\n".encode())
        for end in ends:
            os.close(end)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def _draw() -> None:
    """A figure that nobody sees: the first one reads the fonts and makes the grammar of formulas, for all to come."""
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    figure.subplots().set(xlabel=r"$\epsilon$", xscale="log")
    figure.savefig(io.StringIO(), format="svg")


def _as_if_started(ends: list[int]) -> NoReturn:
    """Be `python -m gspa.book.execute` on these ends for standard input, output and error; the last is not ours."""
    from gspa.book import execute

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    for number, end in enumerate(ends):
        if number < 3:
            os.dup2(end, number)
        os.close(end)
    status = 1
    try:
        status = execute.main(forked=True)
    finally:
        leave(status)


if __name__ == "__main__":
    serve()

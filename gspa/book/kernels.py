"""Kernels that need not import what every notebook needs: they are forked from a process that has.

Importing takes longer than the rest of a short page: one of 3.5 seconds takes 10 where its kernel imports for itself.

No page's module is imported beforehand, so the server never holds an older state of a page's source. Python's own fork
server (`multiprocessing`) refuses to start processes from a daemon, which a Dask worker is.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn

from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from gspa.accountant.errors import ProcessDied
from gspa.book import processes

POSSIBLE = sys.platform == "linux"  # elsewhere the system's own libraries may have threads before the fork
PROVISIONER = "gspa-forked"
"""The name of `Forked` among `pyproject.toml`'s entry points."""
SAID, USED = "said.txt", "used.json"
"""Beside a kernel's connection file: what it, or a library in it, wrote past its cells' outputs; and, once it has ended
by itself, `cpu`, seconds of it and what it started, and `memory`, MiB of the largest."""

IMPORTED = [
    *("ipykernel.ipkernel", "ipykernel.kernelapp", "matplotlib.pyplot", "pandas", "seaborn", "scipy.optimize"),
    *("scipy.special", "scipy.stats", "jinja2", "yaml", "jsonschema", "sympy"),
]
# Taken from the environment when a module is imported: a kernel has its backend from ipykernel, which sets it first.
_SETTLED = {"MATPLOTLIBRC": os.devnull, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}


class Kernel:
    """A forked kernel, with what `LocalProvisioner` needs of a `Popen`.

    This process and the kernel hold the ends of a pair of sockets, and each ends, or is seen to have ended, with it.

    Attributes:
        pid: its process.
    """

    stdin = stdout = stderr = None

    def __init__(self, connection_file: str, environment: Mapping[str, str], cwd: str) -> None:
        """Have it forked."""
        with _LOCK:
            server = _running(environment)
            self._line, its = socket.socketpair()
            with its, suppress(BrokenPipeError):  # then it says no number
                socket.send_fds(server, [b"fork"], [its.fileno()])
        with suppress(BrokenPipeError):
            self._line.sendall(json.dumps([connection_file, dict(environment), cwd]).encode() + b"\n")
        told = self._line.recv(64)
        if not told:
            self._line.close()
            raise ProcessDied("the process that starts kernels ended; its last words stand above")
        self.pid = int(told)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """None while it is at work."""
        if self.returncode is None and select.select([self._line], [], [], 0)[0]:  # which is its end
            self._line.close()
            self.returncode = 0
        return self.returncode

    def wait(self) -> int | None:
        """Its status; jupyter_client asks only once it has ended."""
        return self.poll()

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it has not ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


class Forked(LocalProvisioner):
    """Gives a kernel manager a forked kernel, where that is possible."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        """Start the kernel for the connection that the manager has written down."""
        environment = options["env"]
        # Not where Matplotlib's cache is the kernel's own: the server would make one for itself.
        if not POSSIBLE or environment.get("MPLCONFIGDIR") != os.environ.get("MPLCONFIGDIR"):
            return await super().launch_kernel(cmd, **options)
        assert self.parent is not None
        kernel = Kernel(self.parent.connection_file, environment, options["cwd"])
        self.process = kernel  # type: ignore[assignment]  # it has what the manager needs of a Popen
        self.pid = self.pgid = kernel.pid
        return self.connection_info

    async def cleanup(self, restart: bool = False) -> None:
        """End a kernel that was given up."""
        if self.process is not None:
            await self.kill()
            await self.wait()
        await super().cleanup(restart=restart)


_LOCK = Lock()
_server: tuple[subprocess.Popen[bytes], socket.socket] | None = None


def _running(environment: Mapping[str, str]) -> socket.socket:
    """What the server is asked by; it starts when it must."""
    global _server
    if _server is None or _server[0].poll() is not None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "gspa.book.kernels"]
            settings = {**environment, **_SETTLED}
            # In a group of its own: an interrupt of the terminal is for those who wait for the notebooks.
            process = subprocess.Popen(command, stdin=theirs.fileno(), env=settings, process_group=0)
        _server = process, ours
        atexit.register(_stop, process, ours)
    return _server[1]


def _stop(process: subprocess.Popen[bytes], asking: socket.socket) -> None:
    asking.close()
    process.terminate()
    process.wait()


def serve() -> NoReturn:
    """Import, then fork a kernel for each message on the socket that is standard input, until it ends."""
    alone = select.poll()
    alone.register(0, 0)  # which tells only of the other end's
    for module in IMPORTED:
        importlib.import_module(module)
        if alone.poll(0):  # nobody is left to ask
            os._exit(0)
    _draw()
    gc.freeze()  # else each process looks through what is imported again and again, and copies it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system clears up after kernels
    asked = socket.socket(fileno=os.dup(0))
    while True:
        message, ends, _, _ = socket.recv_fds(asked, 16, 1)
        if not message:
            os._exit(0)  # kernels end by lifelines of their own
        if not os.fork():
            asked.close()
            _be_kernel(ends[0])
        os.close(ends[0])


def _draw() -> None:
    """A figure that nobody sees: the first one reads the fonts and makes the grammar of formulas, for all to come."""
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    figure.subplots().set(xlabel=r"$\epsilon$", xscale="log")
    figure.savefig(io.StringIO(), format="svg")


def _be_kernel(line: int) -> NoReturn:
    """Read an order, be its kernel, and write down what that used."""
    folder: Path | None = None
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()  # as any kernel: an interrupt of the terminal is not for it
        with open(line, encoding="utf-8", closefd=False) as asked:
            connection_file, environment, cwd = json.loads(asked.readline())
        folder = Path(connection_file).parent
        processes.hold(str(folder), lifeline=line)
        os.write(line, f"{os.getpid()}\n".encode())
        with open(os.devnull) as nothing, (folder / SAID).open("w") as said:
            for end, number in ((nothing, 0), (said, 1), (said, 2)):
                os.dup2(end.fileno(), number)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(cwd)
        sys.argv = ["ipykernel_launcher.py", "-f", connection_file]
        from ipykernel.kernelapp import IPKernelApp

        IPKernelApp.launch_instance([*sys.argv[1:], f"--IPKernelApp.parent_handle={os.getppid()}"])
    finally:
        atexit._run_exitfuncs()  # a page's pools and temporary folders
        if folder is not None:
            with suppress(OSError):
                (folder / USED).write_text(json.dumps(_used()))
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(0)  # nobody asks for a status


def _used() -> dict[str, float]:
    import resource

    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "cpu": round(sum(one.ru_utime + one.ru_stime for one in both), 1),
        "memory": round(max(one.ru_maxrss for one in both) / 2**10),
    }


if __name__ == "__main__":
    serve()

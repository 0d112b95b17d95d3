"""A notebook's kernel, forked from the process that runs the notebook instead of started with imports of its own."""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any, NoReturn

from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from gspa.book.processes import end_with, leave

PROVISIONER = "gspa-forked"
"""The name of `Forked` among `pyproject.toml`'s entry points."""


class Kernel:
    """A process that becomes the kernel as soon as it is asked to: forked while this process has one thread.

    Attributes:
        waiting: the one that this process has forked and nobody has asked for yet.
        pid: of the process.
    """

    waiting: Kernel | None = None
    stdin = stdout = stderr = None

    def __init__(self, *not_its: int) -> None:
        """Fork it.

        Args:
            not_its: files of this process that it must not keep open.
        """
        reading, self._asking = os.pipe()
        parent = os.getpid()
        self.returncode: int | None = None
        self.pid = os.fork()
        if not self.pid:
            for end in (self._asking, *not_its):
                os.close(end)
            _become_kernel(reading, parent)
        os.close(reading)

    def ask(self, connection_file: str, environment: Mapping[str, str], cwd: str) -> None:
        """Be the kernel of a connection file."""
        with os.fdopen(self._asking, "w", encoding="utf-8") as asking:
            json.dump([connection_file, dict(environment), cwd], asking)

    def poll(self) -> int | None:
        """Its status, None while it is at work."""
        if self.returncode is None:
            process, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if process else None
        return self.returncode

    def wait(self) -> int:
        """Its status, once it has ended."""
        while (status := self.poll()) is None:
            time.sleep(0.01)
        return status

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def _become_kernel(reading: int, parent: int) -> NoReturn:
    """Wait to be asked, then be a kernel that ends with its parent."""
    status = 1
    try:
        os.setsid()  # as any kernel: an interrupt of the terminal is not for it
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
        with os.fdopen(reading, encoding="utf-8") as asked:
            order = asked.read()
        if order:  # else the parent ended
            # ipykernel looks for another parent than at its own start, or for process 1; where a parent is gone before
            # that start, orphans may have come to another process than 1, such as systemd's for a user.
            end_with(parent)
            connection_file, environment, cwd = json.loads(order)
            os.environ.clear()
            os.environ.update(environment)
            os.chdir(cwd)
            sys.argv = ["ipykernel_launcher.py", "-f", connection_file]
            from ipykernel.kernelapp import IPKernelApp

            IPKernelApp.launch_instance([*sys.argv[1:], f"--IPKernelApp.parent_handle={parent}"])
            status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        atexit._run_exitfuncs()  # a page's pools and temporary folders
        leave(status)


class Forked(LocalProvisioner):
    """Gives a kernel manager the kernel that waits, and starts any further one as usual."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        """Ask the waiting kernel for the connection that the manager has written down."""
        kernel, Kernel.waiting = Kernel.waiting, None
        if kernel is None or self.parent is None:
            return await super().launch_kernel(cmd, **options)
        environment = options.get("env") or os.environ
        kernel.ask(self.parent.connection_file, environment, options.get("cwd") or os.getcwd())
        self.process = kernel  # type: ignore[assignment]  # it has what the manager needs of a Popen
        self.pid = self.pgid = kernel.pid
        return self.connection_info

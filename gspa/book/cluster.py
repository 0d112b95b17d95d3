"""The workers of a Dask cluster."""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future
from importlib import import_module
from pathlib import Path
from typing import Any

from gspa.accountant.errors import CheckFailed, GspaError, InvalidValue, ProcessDied
from gspa.book.run import Data, Executed, Identity, Progress, Task, compute, identity

TRIES = 3  # workers, or kernels, that may die on one task before it counts as failed
_AHEAD = 3  # tasks handed to each worker beyond the one at work
_CONNECT = 15  # seconds


class Cluster:
    """What `gspa.book.run.Here` is, on the workers of a cluster that somebody else started and will stop."""

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
        self._executor = self._client.get_executor(retries=TRIES - 1, pure=False)
        self._data, self._scheduler, self.label = data, scheduler, f"the cluster at {scheduler}"
        self._running: set[Future[Executed]] = set()
        self._stopping = False
        if not self._client.nthreads():
            self.label += ", waiting for its first worker"

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._client.close()

    def identity(self, *, needs_data: bool) -> Identity:
        """What the workers of this moment compute with, this machine's but for the data; waits for the first one."""
        while not self._client.nthreads():
            self.check()
            time.sleep(0.2)
        replies = self._client.run(identity, self._data if needs_data else None, on_error="return")
        found = dict(identity(None))
        for worker, reply in sorted(replies.items()):
            if isinstance(reply, BaseException):
                said = f"{type(reply).__name__}: {next(iter(str(reply).splitlines()), '')}"
                raise GspaError(f"worker {worker}: {said}; it needs the same gspa: pip install 'gspa[book,cluster]'")
            found["data"] = found["data"] or reply["data"]
            odd = ", ".join(name for name in reply if reply[name] != found[name])
            if odd:
                raise GspaError(f"worker {worker}: has another {odd}; install the same everywhere")
        return found

    def ahead(self) -> int:
        return _AHEAD * max(1, int(sum(self._client.nthreads().values())))

    def submit(self, task: Task, expected: Identity, report: Progress) -> Future[Executed]:
        report(task.label, 0, 1, "running")
        future: Future[Executed] = self._executor.submit(compute, task, expected, self._data)
        self._running.add(future)
        return future

    def result(self, future: Future[Executed]) -> Executed:
        self._running.discard(future)
        try:
            return future.result()
        except Exception as death:  # a worker, or the kernels of all tries, died
            self.check()
            raise ProcessDied(str(death) or "its process died") from None

    def check(self) -> None:
        if self._stopping:
            raise KeyboardInterrupt
        if self._client.status != "running":
            raise CheckFailed(
                f"lost the scheduler at {self._scheduler}; what was finished is kept, the same command goes on"
            )

    def stop(self) -> None:
        self._stopping = True
        for future in list(self._running):
            future.cancel()

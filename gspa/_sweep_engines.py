"""Where a sweep's settings run: processes of this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import logging
import multiprocessing
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from gspa._sweep_work import TRIES, Record, Target, Task, compute, identity, lost
from gspa.errors import CheckFailed, GspaError, InvalidValue, ProcessDied
from gspa.pipeline import Children
from gspa.project import cores

_CONNECT = 10  # seconds that a scheduler has to answer
_AHEAD = 4  # tasks handed to the cluster for each of its threads: none idles, and few are lost with the scheduler

Identity = Mapping[str, Any]


class Engine(Protocol):
    """What a sweep asks of the place where it runs."""

    label: str

    def identity(self, target: Target) -> Identity:
        """What the workers compute with; they all agree."""

    def run(self, target: Target, tasks: Sequence[Task], expected: Identity) -> Iterator[tuple[Task, Record]]:
        """Each task's record as it comes; closing the iterator stops what is left."""

    def close(self) -> None:
        """Let go of what the engine holds."""


class Local:
    """Processes of this machine.

    A notebook has a process of its own anyway, so threads wait for those; an experiment runs in a pool of processes.

    Args:
        jobs: how many at once (default: the cores at hand).
    """

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or cores()
        self.label = "1 process" if self.jobs == 1 else f"{self.jobs} processes"

    def identity(self, target: Target) -> Identity:
        return identity(needs_data=target.needs_data)

    def close(self) -> None:
        return

    def run(self, target: Target, tasks: Sequence[Task], expected: Identity) -> Iterator[tuple[Task, Record]]:
        run = self._threads if target.source else self._processes
        return run(target, tasks, expected)

    def _threads(self, target: Target, tasks: Sequence[Task], expected: Identity) -> Iterator[tuple[Task, Record]]:
        children = Children()

        def patiently(task: Task) -> Record:
            for attempt in range(1, TRIES + 1):
                try:
                    return compute(target, task, expected, children)
                except ProcessDied as death:
                    if attempt == TRIES or children.stopping:
                        return lost(f"{str(death).splitlines()[0]} ({attempt} tries)", expected)
            raise AssertionError

        with ThreadPoolExecutor(self.jobs) as pool:
            futures = {pool.submit(patiently, task): task for task in tasks}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            except BaseException:
                children.stop()
                pool.shutdown(cancel_futures=True)
                raise

    def _processes(self, target: Target, tasks: Sequence[Task], expected: Identity) -> Iterator[tuple[Task, Record]]:
        queue = deque(tasks)
        while queue:
            running: dict[Future[Record], Task] = {}
            pool = _Pool(min(self.jobs, len(queue)))
            try:
                while queue or running:
                    while queue and len(running) < 2 * self.jobs:
                        future = pool.submit(compute, target, queue[0], expected)
                        running[future] = queue.popleft()
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        found = future.result()
                        yield running.pop(future), found
                pool.shutdown()
            except BrokenProcessPool:
                pool.stop()
            except BaseException:
                pool.stop()
                raise
            # One of these killed its process; alone in a pool, each shows whether it is the one.
            for task in running.values():
                yield task, _alone(target, task, expected)


def _alone(target: Target, task: Task, expected: Identity) -> Record:
    for _ in range(TRIES):
        pool = _Pool(1)
        try:
            return pool.submit(compute, target, task, expected).result()
        except BrokenProcessPool:
            continue
        finally:
            pool.stop()
    return lost(f"its process died ({TRIES} tries)", expected)


class _Pool(ProcessPoolExecutor):
    """A pool whose processes can be ended while they work."""

    def __init__(self, jobs: int) -> None:
        self._others = set(multiprocessing.active_children())
        super().__init__(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_leave_interrupts)

    def stop(self) -> None:
        self.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - self._others:
            process.terminate()


def _leave_interrupts() -> None:
    """Ctrl-C reaches a terminal's whole process group; what happens then is the parent's to say."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Cluster:
    """The workers of a Dask cluster that somebody else started and will stop.

    Args:
        scheduler: its scheduler's address, such as tcp://10.0.0.5:8786, or the path of its scheduler file (.json).

    Raises:
        GspaError: dask.distributed is not installed.
        InvalidValue: nothing answers there.
    """

    def __init__(self, scheduler: str) -> None:
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
        self._as_completed = distributed.as_completed
        self._scheduler = scheduler
        self.label = f"the cluster at {scheduler}"
        if not self._client.nthreads():
            self.label += ", waiting for its first worker"

    def close(self) -> None:
        self._client.close()

    def identity(self, target: Target) -> Identity:
        """What the workers of this moment compute with; waits for the first one.

        Raises:
            GspaError: a worker lacks the package, has other sources than this process, or differs from the others.
        """
        self._client.wait_for_workers(1)
        replies = self._client.run(identity, needs_data=target.needs_data, on_error="return")
        first: Identity | None = None
        for worker, reply in sorted(replies.items()):
            if isinstance(reply, BaseException):
                raise GspaError(
                    f"worker {worker}: {_line(reply)}; it needs the same gspa: pip install 'gspa[book,cluster]'"
                )
            if reply["source"] != identity(needs_data=False)["source"]:
                raise GspaError(f"worker {worker}: has another gspa than this machine; install the same on both")
            if first is not None and reply != first:
                odd = ", ".join(name for name in reply if reply[name] != first[name])
                raise GspaError(f"worker {worker}: has another {odd} than the other workers; make them alike")
            first = reply
        assert first is not None
        return first

    def run(self, target: Target, tasks: Sequence[Task], expected: Identity) -> Iterator[tuple[Task, Record]]:
        queue, running = deque(tasks), dict[str, tuple[Any, Task]]()
        finished = self._as_completed(loop=self._client.loop)

        def refill() -> None:
            ahead = _AHEAD * max(1, sum(self._client.nthreads().values()))
            while queue and len(running) < ahead:
                task = queue.popleft()
                future = self._client.submit(
                    compute, target, task, expected, key=f"gspa-sweep-{task.key}", retries=TRIES - 1, pure=False
                )
                running[future.key] = future, task
                finished.add(future)

        try:
            refill()
            for future in finished:
                _, task = running.pop(future.key)
                if future.status == "finished":
                    yield task, future.result()
                elif future.status == "error":
                    # KilledWorker: Dask gave up after that many workers; ProcessDied: a notebook's own process.
                    yield task, lost(_line(future.exception()), expected)
                else:
                    raise self._gone()
                refill()
        except OSError:
            raise self._gone() from None
        finally:
            if running and self._client.status == "running":
                self._client.cancel([future for future, _ in running.values()])

    def _gone(self) -> CheckFailed:
        return CheckFailed(
            f"lost the scheduler at {self._scheduler}; what was finished is kept, the same command goes on"
        )


def _line(error: BaseException) -> str:
    first = next(iter(str(error).splitlines()), "")
    return first if isinstance(error, GspaError) else f"{type(error).__name__}: {first}"

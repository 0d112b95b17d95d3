"""Child processes: they end with their parent, also a killed one, and see no settings of the user's own.

The parent keeps the writing end of a pipe open and the child has the reading end as its standard input. Whatever ends
the parent closes its end, and the child ends at once. Otherwise a killed build would leave notebooks and Sphinx at
work in a checkout that the next build takes for its own.

A start-up file of IPython, a kernel of the same name or a `matplotlibrc` in somebody's home would change a page
without a trace in it. And Jupyter refuses to start where there is no home at all.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from gspa.files import lock_of

Task = TypeVar("Task")
Found = TypeVar("Found")


def hold(*temporary: str, lifeline: int = 0) -> None:
    """End this process as soon as its lifeline ends; remove the `temporary` folders first, and their locks."""

    def follow() -> None:
        while os.read(lifeline, 4096):  # not sys.stdin: its lock would be held when this process ends by itself
            pass
        for folder in temporary:
            shutil.rmtree(folder, ignore_errors=True)
            lock_of(Path(folder)).unlink(missing_ok=True)
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def each(function: Callable[[Task], Found], tasks: Sequence[Task], *, jobs: int | None = None) -> list[Found]:
    """The function's value for each task, in the tasks' order, so many at once in processes of their own.

    They start in that order, so give the longest first; `jobs` = 1 runs here. A process that joblib starts would
    outlive a killed parent for minutes: these do not.
    """
    import joblib

    with (
        warnings.catch_warnings(),
        joblib.parallel_config(backend="loky", initializer=end_with, initargs=(os.getpid(),)),
    ):
        # It replaces a process that holds hundreds of megabytes more than after its first task. A page would show that.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
        many = jobs or min(joblib.cpu_count(), len(tasks)) or 1
        at_once = joblib.Parallel(n_jobs=many, batch_size=1, max_nbytes=None)
        return list(at_once(joblib.delayed(function)(task) for task in tasks))


def end_with(parent: int) -> None:
    """End this process once it is no more the parent's; who started it may be gone already."""

    def follow() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def environment(folder: Path) -> dict[str, str]:
    """A child's variables, with settings, history and connection files in the empty `folder`."""
    (folder / "matplotlibrc").touch()
    found = os.environ | {
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "MATPLOTLIBRC": str(folder / "matplotlibrc"),
        "PYTHONHASHSEED": "0",  # another one would make the order of sets differ between two runs
    }
    if "MPLCONFIGDIR" not in found and not _home_is_usable():
        # Matplotlib would say on the page where it puts its cache instead, make the missing home, or take a relative
        # one for a folder below the checkout. With a home, that cache saves seconds.
        found["MPLCONFIGDIR"] = str(folder / "matplotlib")
    found.pop("MPLBACKEND", None)  # the kernel's inline backend sets its own
    found.pop("PYTHONSTARTUP", None)  # a kernel would run it
    # Sums in another order differ in their last digits: one thread, so that the number of cores does not matter.
    for library in ("OMP", "OPENBLAS", "MKL"):
        found.setdefault(f"{library}_NUM_THREADS", "1")
    if "GSPA_DATA_DIR" in found:  # the kernel works in another folder
        found["GSPA_DATA_DIR"] = str(Path(found["GSPA_DATA_DIR"]).resolve())
    return found


def _home_is_usable() -> bool:
    try:
        home = Path.home()
    except RuntimeError:  # no HOME, and no entry for this user either
        return False
    return home.is_absolute() and home.is_dir() and os.access(home, os.W_OK)

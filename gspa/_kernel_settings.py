"""A notebook's run sees no settings of the user's own, and needs no home.

A start-up file of IPython, a kernel of the same name or a `matplotlibrc` in somebody's home would
change a page without a trace in it. And Jupyter refuses to start where there is no home at all.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def environment(folder: Path) -> dict[str, str]:
    """Variables for a run whose settings, history and connection files lie in the empty `folder`."""
    (folder / "matplotlibrc").touch()
    variables = {
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "MATPLOTLIBRC": str(folder / "matplotlibrc"),
    }
    if "MPLCONFIGDIR" not in os.environ and not _home_is_usable():
        # Matplotlib would say on the page where it puts its cache instead. With a home, that cache saves seconds.
        variables["MPLCONFIGDIR"] = str(folder / "matplotlib")
    return variables


@contextmanager
def matplotlib_cache() -> Iterator[None]:
    """Where no home can hold it, this process and its children keep Matplotlib's list of fonts in a temporary folder.

    Matplotlib would make the missing home, or take a relative one for a folder below the checkout.
    """
    if "MPLCONFIGDIR" in os.environ or _home_is_usable():
        yield
        return
    with tempfile.TemporaryDirectory(prefix="gspa-matplotlib-") as folder:
        os.environ["MPLCONFIGDIR"] = folder
        try:
            yield
        finally:
            del os.environ["MPLCONFIGDIR"]


def _home_is_usable() -> bool:
    try:
        home = Path.home()
    except RuntimeError:  # no HOME, and no entry for this user either
        return False
    return home.is_absolute() and home.is_dir() and os.access(home, os.W_OK)

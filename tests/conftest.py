"""What holds for every test."""

from __future__ import annotations

import gc
import os
import signal

import pytest
from hypothesis import settings

import gspa.book  # noqa: F401, which spares jsonschema a second if it is there first

# Before numpy is imported: threads of its libraries would only get in the way of the tests that run beside.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# What is imported and collected stays to the end: looking for cycles in it again and again is a tenth of all work.
gc.set_threshold(100_000, 50, 100)

# A shared machine may pause, so time is asserted only where it is the point; and a run is repeatable.
settings.register_profile("gspa", deadline=None, derandomize=True)
settings.load_profile("gspa")

# Started in the background of a shell, tests ignore interrupts, and so would the programs that they interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The working directory is an empty project."""
    from small_project import make

    made = make(tmp_path / "project")
    monkeypatch.chdir(made.root)
    return made


# The search for doctests would import it a second time, under a name that another conftest.py has too.
collect_ignore = ["conftest.py"]


def pytest_collection_finish() -> None:
    """The collected tests are not looked at again either."""
    gc.freeze()

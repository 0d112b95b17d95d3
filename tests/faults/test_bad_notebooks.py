"""Notebooks that hang, eat memory, die or leave something running: named, never taken for a success."""

from __future__ import annotations

import os
import re
import signal
from types import SimpleNamespace

import pytest
from awaiting import ended
from small_project import add, make

from gspa.accountant.errors import CheckFailed
from gspa.book import parameters
from gspa.book import run as pipeline

pytestmark = pytest.mark.slow

PID = "import os, pathlib, signal\nfrom pathlib import Path\nPath({place!r}, '{name}.pid').write_text(str(os.getpid()))"
HINT = "Its process was killed or crashed. Most often memory ran out: try --jobs 1, or --profile quick."
THREAD = "import threading\nthreading.Thread(target=threading.Event().wait).start()\n"
HANGING = {
    "hangs": "while True: pass",
    "hangs_deaf": "for s in (signal.SIGINT, signal.SIGTERM): signal.signal(s, signal.SIG_IGN)\nwhile True: pass",
    "hangs_in_a_child": "import subprocess\nsubprocess.run(['sleep', '300'])",
    "hangs_in_a_thread": THREAD + "os.read(os.pipe()[0], 1)",
}
DYING = {
    "killed": "os.kill(os.getpid(), signal.SIGKILL)  # as the system does when memory ends",
    "crashes": "import ctypes\nctypes.string_at(0)",
    "aborts": "os.write(2, bytes([0xff])); os.abort()",  # and its last words are no text
}
LIMIT = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
HUNGRY = LIMIT + "hog = []\nwhile True: hog.append(bytes(1 << 26))"
GOOD = {
    "lingers": THREAD + "'done'",
    "leaves_a_child": "import subprocess\nchild = subprocess.Popen(['sleep', '40'], start_new_session=True)\n'done'",
}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    project = make(tmp_path_factory.mktemp("bad") / "project")
    for name, body in (HANGING | DYING | {"eats": HUNGRY} | GOOD).items():
        add(project, name, PID.format(name=name, place=str(project.root)), body, timeout=2 if name in HANGING else 120)
    notebooks = parameters.discover(project).values()
    with pytest.raises(CheckFailed) as caught, pipeline.Here(2, dict) as place:
        pipeline.run_all(project, notebooks, profile="quick", place=place)
    parts = [part for part in str(caught.value).split("\n\n") if part.startswith("notebook ")]
    return SimpleNamespace(project=project, by_name={re.match(r"notebook (\w+)", part)[1]: part for part in parts})


def test_all_that_failed_are_named_and_no_other(told):
    assert set(told.by_name) == {*HANGING, *DYING, "eats"}


@pytest.mark.parametrize("name", HANGING)
def test_one_that_hangs_is_stopped_and_named_with_its_cell(told, name):
    first = told.by_name[name].splitlines()[0]
    assert first.startswith(f"notebook {name}, cell 4 (")
    assert first.endswith("CellTimeoutError: A cell timed out while it was being executed, after 2 seconds.")


@pytest.mark.parametrize("name", DYING)
def test_one_whose_kernel_dies_is_named_with_its_cell_and_what_to_try(told, name):
    first, second = told.by_name[name].splitlines()[:2]
    assert first.startswith(f"notebook {name}, cell 4 (")
    assert first.endswith("DeadKernelError: Kernel died")
    assert second == HINT


def test_one_that_asks_for_more_memory_than_it_may_is_named(told):
    assert told.by_name["eats"].splitlines()[0].startswith("notebook eats, cell 4 (import resource): MemoryError")


def test_one_that_leaves_something_running_has_succeeded(told):
    kept = {path.name for path in told.project.executed("quick").iterdir()}
    assert kept == {f"{name}.{end}" for name in GOOD for end in ("ipynb", "json")}


@pytest.mark.parametrize("name", [*HANGING, *DYING, "eats", *GOOD])
def test_no_kernel_is_left(told, name):
    process = int((told.project.root / f"{name}.pid").read_text())
    if not ended(process, within=10):
        os.kill(process, signal.SIGKILL)
        pytest.fail(f"the kernel of {name} is still there")

"""Kernels that are forked: what they know and do not know, how they end, and with whom."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from awaiting import ended, until
from small_project import add, make

from gspa.accountant.errors import ProcessDied
from gspa.book import kernels
from gspa.book.run import Here, Task, one

pytestmark = pytest.mark.skipif(not kernels.POSSIBLE, reason="nothing is forked on this system")

SEES = """import json, os, sys
pages = [name for name in sys.modules if name.startswith(("gspa.algorithms", "gspa.accountant.api"))]
print(json.dumps([pages, "pandas" in sys.modules, os.environ.get("GSPA_TOLD"), os.getppid(), os.getpid(), n]))
"""


@pytest.fixture
def page(tmp_path):
    return add(make(tmp_path / "project"), "page", SEES)


def seen(page, **values):
    with Here(1, dict) as place:
        found = one(place, Task.of(page, page.defaults("paper") | values), place.identity(needs_data=False))
    return json.loads("".join(json.loads(found.text)["cells"][-1]["outputs"][0]["text"]))


def test_a_kernel_has_the_libraries_of_the_server_but_no_page_and_its_own_environment(page, monkeypatch):
    first = seen(page, n=3)
    monkeypatch.setenv("GSPA_TOLD", "later than the server's start")
    pages, libraries, told, parent, process, n = seen(page, n=4)
    assert (pages, libraries, told, n, first[5]) == ([], True, "later than the server's start", 4, 3)
    server, _ = kernels._server
    assert parent == first[3] == server.pid  # one server for both
    assert process != first[4]


def test_a_server_that_was_killed_is_replaced(page):
    seen(page)
    server, _ = kernels._server
    server.kill()
    server.wait()
    assert seen(page)[3] != server.pid


def test_a_server_that_dies_meanwhile_is_one_clear_error(monkeypatch):
    ours, theirs = kernels.socket.socketpair(kernels.socket.AF_UNIX, kernels.socket.SOCK_SEQPACKET)
    theirs.close()
    monkeypatch.setattr(kernels, "_running", lambda environment: ours)
    with pytest.raises(ProcessDied, match="the process that starts kernels ended"):
        kernels.Kernel("kernel.json", {}, "/")
    ours.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_kernel_is_seen_to_have_ended(tmp_path, number):
    kernel = kernels.Kernel(str(tmp_path / "kernel.json"), dict(os.environ), str(tmp_path))
    os.kill(kernel.pid, number)
    until(lambda: kernel.poll() is not None, within=20)
    kernel.kill()  # once more is nothing
    assert kernel.wait() is not None


def test_the_server_ends_with_a_killed_parent():
    code = "import os, time; from gspa.book import kernels; kernels._running(os.environ); "
    code += "print(kernels._server[0].pid, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        server = int(parent.stdout.readline())
        parent.kill()
    assert ended(server, within=40)


def test_where_nothing_is_forked_a_kernel_imports_for_itself(page, monkeypatch):
    monkeypatch.setattr(kernels, "POSSIBLE", False)
    assert seen(page)[3] == os.getpid()

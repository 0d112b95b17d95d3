"""Processes that are forked for notebooks: what they know and do not know, how they end, and with whom."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from small_project import add, make

from gspa.accountant.errors import ProcessDied
from gspa.book import run as pipeline
from gspa.book import warm

pytestmark = [
    pytest.mark.xdist_group("pipeline"),
    pytest.mark.skipif(not warm.POSSIBLE, reason="nothing is forked on this system"),
]

SEES = """import json, os, sys
pages = [name for name in sys.modules if name.startswith(("gspa.algorithms", "gspa.accountant.api"))]
parents = [os.getppid(), int(open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()[1])]
print(json.dumps([pages, "pandas" in sys.modules, os.environ.get("GSPA_TOLD"), parents, os.getcwd(), n]))
"""


def said(path: Path) -> list:
    cells = json.loads(path.read_text())["cells"]
    return json.loads("".join(cells[-1]["outputs"][0]["text"]))


@pytest.fixture
def page(tmp_path):
    project = make(tmp_path / "project")
    return project, add(project, "page", SEES)


def seen(page, path, **values):
    project, notebook = page
    pipeline.run_notebook(project, notebook, notebook.defaults("paper") | values, path)
    return said(path)


def test_a_kernel_has_the_libraries_of_the_server_but_no_page_and_its_own_environment(page, tmp_path, monkeypatch):
    first = seen(page, tmp_path / "one.ipynb", n=3)
    monkeypatch.setenv("GSPA_TOLD", "later than the server's start")
    second = seen(page, tmp_path / "two.ipynb", n=4)
    pages, libraries, told, parents, folder, n = second
    assert (pages, libraries, told) == ([], True, "later than the server's start")
    assert (folder, n, first[5]) == (str(page[0].root), 4, 3)
    server, _ = warm._server
    assert parents[1] == first[3][1] == server.pid  # one server for both
    assert parents[0] != first[3][0]


def test_a_server_that_was_killed_is_replaced(page, tmp_path):
    seen(page, tmp_path / "one.ipynb")
    server, _ = warm._server
    server.kill()
    server.wait()
    assert seen(page, tmp_path / "two.ipynb")[3][1] != server.pid


def test_a_server_that_dies_meanwhile_is_one_clear_error(monkeypatch):
    ours, theirs = warm.socket.socketpair(warm.socket.AF_UNIX, warm.socket.SOCK_SEQPACKET)
    theirs.close()
    with pytest.raises(ProcessDied, match="the process that starts notebooks ended"):
        warm.Process(ours)
    ours.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_process_says_how_it_ended_and_may_be_ended_twice(number):
    process = warm.start(dict(os.environ))
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.1)
    os.kill(process.pid, number)
    assert process.wait(10) == -number
    process.terminate()
    assert process.wait() == -number
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_two_may_wait_for_the_same_end():
    for _ in range(20):
        process = warm.start(dict(os.environ))
        with ThreadPoolExecutor(4) as pool:
            waiting = [pool.submit(process.wait, 30) for _ in range(4)]
            os.kill(process.pid, signal.SIGKILL)
            assert [one.result() for one in waiting] == [-signal.SIGKILL] * 4
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


def test_the_server_ends_with_a_killed_parent():
    code = "import os, time; from gspa.book import warm; warm.start(dict(os.environ)); "
    code += "print(warm._server[0].pid, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        server = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{server}").exists() and time.monotonic() < deadline:
        if Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            break
        time.sleep(0.05)
    else:
        assert not Path(f"/proc/{server}").exists()


def test_a_kernel_that_is_asked_for_twice_is_started_as_usual_the_second_time(page, tmp_path):
    """nbclient starts one kernel a notebook; a second one in the same process has none waiting for it."""
    code = """import asyncio, os
from gspa.book import kernels
from jupyter_client import AsyncKernelManager
kernels.Kernel.waiting = kernels.Kernel()
os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] = kernels.PROVISIONER
async def main():
    for forked in (True, False):
        manager = AsyncKernelManager()
        await manager.start_kernel()
        assert isinstance(manager.provisioner.process, kernels.Kernel) is forked
        client = manager.client()
        client.start_channels()
        await client.wait_for_ready(timeout=30)
        client.stop_channels()
        await manager.shutdown_kernel()
        print(await manager.is_alive())
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=90)
    assert done.stdout.split() == ["False", "False"], done.stderr


def test_a_kernel_ends_with_a_parent_that_was_gone_before_it_looked(tmp_path):
    """Also where orphans come to another process than the first of all, as on a desk with systemd."""
    code = """import ctypes, os
from gspa.book import kernels
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans come here
if not os.fork():
    kernels.Kernel().ask("connection.json", os.environ, os.getcwd())
    os._exit(0)
print([os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["[0,", "1]"], done.stderr

"""SIGKILL at any moment: started again, a build ends with the bytes of one that was never disturbed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from awaiting import ended, until
from small_book import BUILD, build, command, environment, make_book, pages, products, rendered, write_page
from small_project import add, make

from gspa import files
from gspa.book import processes, project, site
from gspa.book import run as pipeline

KILLS = 50
LOKY_REPLACES = (
    "A worker stopped while some jobs were given to the executor. This can be caused by a too short worker timeout or "
    "by a memory leak."
)


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    def there() -> bool:
        assert path.exists() or process.poll() is None, "it ended before it could be killed"
        return path.exists()

    until(there, within=120, pause=0.01)


def start(line: list[str], folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        line,
        cwd=folder,
        env=environment(TMPDIR=str(folder.parent)),  # what dies with all its processes leaves a folder there
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The older and the newer state of one book, each built in peace, and how long a build takes."""
    folder = tmp_path_factory.mktemp("undisturbed")
    older = make_book(folder / "older", factor=2)
    build(older)
    newer = make_book(folder / "newer", factor=3)
    begin = time.monotonic()
    build(newer)
    seconds = time.monotonic() - begin
    assert products(older)["html"] != products(newer)["html"]
    return older, products(newer), seconds


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_build_started_again_is_an_undisturbed_one(undisturbed, tmp_path, number):
    """Killed alone, or with all its processes; in a fresh checkout, or where an older site is."""
    older, expected, seconds = undisturbed
    here = project.Project(tmp_path / "book")
    with_old_site, whole_group = number % 2 == 0, number % 4 < 2
    if with_old_site:
        shutil.copytree(older.root, here.root)
        for name in ("one", "two"):
            write_page(here, name, 3)
    else:
        make_book(here.root, factor=3)
    old_html = rendered(here)
    process = start(BUILD, here.root)
    time.sleep(random.Random(number).uniform(0, seconds))
    if whole_group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    # A reader finds the old site or the new one, never a part. Between two renames there can be none.
    assert rendered(here) in (old_html, expected["html"], {})
    build(here)
    assert products(here) == expected
    assert sorted(path.name for path in here.build.iterdir()) == [".lock", "executed", "html", "site.json"]


@pytest.mark.slow
def test_no_sphinx_outlives_a_build_that_was_killed(tmp_path):
    here = make_book(tmp_path / "book")
    process = start(BUILD, here.root)
    staging = here.build / "staging"
    wait_for(staging, process)
    process.kill()
    process.wait()
    time.sleep(1)
    left = pages(staging)
    time.sleep(8)  # it renders in less
    assert pages(staging) == left
    assert "_build/html/searchindex.js" not in left, "it had ended before the kill"


CHILD = (
    "from gspa.book import processes; processes.hold({folder!r}); print('held', flush=True); "
    "import time; time.sleep(60)"
)
PARENT = """import subprocess, sys, time
process = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
process.stdout.readline()
print(process.pid, flush=True)
if sys.argv[2] == "killed":
    time.sleep(60)
process.stdin.close()
assert process.wait() == 1
"""


@pytest.mark.parametrize("how", ["killed", "left"])
def test_a_child_ends_with_its_parent_and_clears_up(tmp_path, how):
    temporary = tmp_path / "temporary"
    (temporary / "below").mkdir(parents=True)
    line = [sys.executable, "-c", PARENT, CHILD.format(folder=str(temporary)), how]
    with subprocess.Popen(line, stdout=subprocess.PIPE, env=environment()) as parent:
        child = int(parent.stdout.readline())
        if how == "killed":
            parent.kill()
    assert parent.returncode == (-signal.SIGKILL if how == "killed" else 0)
    assert ended(child, within=10)
    assert not temporary.exists()


def below(process: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found = [process]
    for one in found:  # which grows
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


POOL = """import os, sys, time
from pathlib import Path
from gspa.book.processes import each
def task(name):
    Path(name).write_text(str(os.getpid()))
    time.sleep(60)
if __name__ == "__main__":
    each(task, sys.argv[1:], jobs=2)
"""


def test_the_processes_of_a_pool_end_with_the_one_that_made_them(tmp_path):
    (tmp_path / "pool.py").write_text(POOL)
    notes = [tmp_path / "a", tmp_path / "b"]
    process = start([sys.executable, "pool.py", *map(str, notes)], tmp_path)
    for note in notes:
        wait_for(note, process)
    time.sleep(0.2)
    process.kill()
    process.wait()
    assert all(ended(int(note.read_text()), within=10) for note in notes)


@pytest.mark.parametrize("tasks", [0, 1, 5])
def test_a_pool_gives_each_tasks_value_in_order(tasks):
    assert processes.each(abs, range(-tasks, 0)) == list(range(tasks, 0, -1))


def test_a_pool_says_nothing_of_a_process_that_it_replaces():
    def warn(said):
        warnings.warn(said, stacklevel=1)

    mine = "a task's own"
    with pytest.warns(UserWarning, match=mine) as seen:
        processes.each(warn, [mine, LOKY_REPLACES], jobs=1)
    assert [str(one.message) for one in seen] == [mine]


def test_a_process_of_a_pool_ends_when_its_parent_was_gone_before_it_looked():
    line = "from gspa.book import processes; processes.end_with(1 << 22); import time; time.sleep(60)"
    assert subprocess.run([sys.executable, "-c", line], env=environment(), timeout=30).returncode == 1


@pytest.mark.slow
def test_no_process_outlives_a_killed_build_whose_notebook_has_a_pool(tmp_path):
    here = make_book(tmp_path / "book")
    notes = [here.root / "a", here.root / "b"]
    body = POOL.partition("if __name__")[0] + f"each(task, {list(map(str, notes))}, jobs=2)"
    add(here, "one", body)
    process = start(BUILD, here.root)
    for note in notes:
        wait_for(note, process)
    left = below(process.pid)
    # The other notebook may have ended; of this one: its kernel, the pool's two and their own keeper.
    assert len(left) >= 4
    assert {int(note.read_text()) for note in notes} <= set(left)
    process.kill()
    process.wait()
    assert [one for one in left if not ended(one, within=10)] == []
    assert not list(tmp_path.glob(f"{pipeline.OWN}*"))


IMPORTS, CELL = f"tmp/{pipeline.OWN}*/matplotlibrc", "project/at_work"


def run_and_end_early(tmp_path: Path, number: signal.Signals, during: str = IMPORTS) -> tuple[int, str]:
    """End `gspa run` while its notebook's libraries are imported, or in a cell: its status, what its processes said."""
    here = make(tmp_path / "project")
    add(here, "endless", f"import pathlib, time\npathlib.Path({str(tmp_path / CELL)!r}).touch()\ntime.sleep(120)")
    (tmp_path / "tmp").mkdir()
    with subprocess.Popen(
        command("run", "endless"),
        cwd=here.root,
        env=environment(TMPDIR=str(tmp_path / "tmp")),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        until(lambda: any(tmp_path.glob(during)), within=120, pause=0.01)
        time.sleep(0.1)
        os.killpg(process.pid, number)  # as a terminal does
        said = process.communicate(timeout=120)[1]  # which ends when the last of its processes has
    return process.returncode, said


@pytest.mark.parametrize(
    ("number", "during"),
    [
        (signal.SIGTERM, IMPORTS),
        (signal.SIGINT, CELL),
        *(pytest.param(one, IMPORTS, marks=pytest.mark.slow) for one in (signal.SIGINT, signal.SIGHUP)),
    ],
)
def test_a_run_that_is_ended_early_leaves_nothing(tmp_path, number, during):
    assert run_and_end_early(tmp_path, number, during) == (130, "gspa: stopped; what was finished is kept\n")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert list(tmp_path.glob("project/_build/**/*.ipynb")) == []


def test_what_a_run_that_was_killed_early_leaves_goes_with_the_next(tmp_path):
    assert run_and_end_early(tmp_path, signal.SIGKILL) == (-signal.SIGKILL, "")
    with files.own_folder(pipeline.OWN, tmp_path / "tmp") as own:
        assert set((tmp_path / "tmp").glob("gspa-*")) == {own, files.lock_of(own)}
    assert list((tmp_path / "tmp").glob("gspa-*")) == []


WRITER = """import os, sys, time
from pathlib import Path
from gspa.files import write_atomically
os.replace = lambda *a: print("ready", flush=True) or time.sleep(60)
write_atomically(Path(sys.argv[1]), "a" * 300_000)
print("not in one step", flush=True)
"""


def test_what_a_writer_left_that_was_killed_before_the_last_step(tmp_path):
    path = tmp_path / "page.ipynb"
    path.write_text("the older page")
    line = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, env=environment()) as writer:
        assert writer.stdout.readline() == b"ready\n"
        writer.kill()
    assert path.read_text() == "the older page"
    assert len(list(tmp_path.iterdir())) == 2
    files.remove_temporaries(tmp_path)
    assert list(tmp_path.iterdir()) == [path]


class TestWhatAKilledBuildLeft:
    @pytest.fixture
    def here(self, tmp_path):
        here = make_book(tmp_path / "book")
        (here.build / "html.old").mkdir(parents=True)
        (here.build / "html.old" / "index.html").write_text("the old site")
        return here

    def test_the_old_site_comes_back_when_it_was_moved_away(self, here):
        with site.exclusive(here):
            assert (here.html / "index.html").read_text() == "the old site"
            assert not (here.build / "html.old").exists()

    def test_a_site_that_is_there_is_left_alone(self, here):
        here.html.mkdir()
        (here.html / "index.html").write_text("the new site")
        with site.exclusive(here):
            assert (here.html / "index.html").read_text() == "the new site"

    def test_half_written_files_are_removed_and_others_are_not(self, here):
        kept = [here.executed("quick") / "one.ipynb", here.executed("quick") / "one.json", here.build / ".lock"]
        litter = [
            here.executed("quick") / ".one.ipynb.abcd1234",
            here.executed("paper") / ".one.json.abc_1234",
            here.build / ".site.json.a2345678",
            here.book / "_generated" / ".claims.md.a2345678",
        ]
        for path in (*kept, *litter):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
        with site.exclusive(here):
            assert all(path.exists() for path in kept)
            assert not any(path.exists() for path in litter)

    def test_a_second_build_touches_nothing_of_a_running_one(self, here):
        temporary = here.build / ".site.json.a2345678"
        with site.exclusive(here):
            temporary.write_text("being written")
            done = subprocess.run(BUILD, cwd=here.root, env=environment(), capture_output=True, text=True)
            assert done.returncode == 1
            assert done.stderr == "gspa: another build is running in this checkout; wait for it to end\n"
            assert temporary.exists()
            assert not here.executed("quick").exists()


@pytest.mark.slow
def test_builds_that_start_in_the_same_moment(undisturbed, tmp_path):
    _, expected, _ = undisturbed
    here = make_book(tmp_path / "book", factor=3)
    builds = [start(BUILD, here.root) for _ in range(4)]
    assert sorted(process.wait(300) for process in builds) == [0, 1, 1, 1]
    assert products(here) == expected
    facts = json.loads((here.executed("quick") / "one.json").read_text())
    assert facts["sha256"] == pages(here.executed("quick"))["one.ipynb"]

"""Every command with drawn options: exit status 0, 1 or 2, one line on standard error for 2, and no traceback.

The command line runs in this process. What would take minutes or leave this machine (running a notebook, building the
site, downloading, serving) is replaced by nothing: what is tested is everything before it.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
import typer
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from package_reference import commands
from small_project import add, make, markdown

from gspa import cli, files
from gspa.accountant import budgets
from gspa.accountant.errors import CheckFailed, DataUnavailable
from gspa.algorithms import digits as datasets
from gspa.book import cluster, site, sweep
from gspa.book import run as pipeline

USERS = Path(__file__).with_name("users.csv")
NUMBERS = [
    *("0.5", "1", "0", "-0", "-1", "5e-324", "1e-9", "1e308", "1e400"),
    *("nan", "inf", "-inf", "0x10", "1_0", "١", "½"),
]
COUNTS = ["1", "2", "10", "100", "0", "-3", "1.5", "1e3", "9" * 25, "9" * 5000, "", " 7 ", "zehn"]
WORDS = [
    *("", " ", "rr", "krr", "subset", "tv", "common", "laplace", "gaussian", "aligned"),
    *("RR", "x\ny", "é", "a\0b", "--eps", "\udcff"),
]
PLACES = ["../01_page", "/etc/passwd", ".", "..", "/", "~", "01_page", "01_page.ipynb", "01_pag", "a\0b", "x\ny", "-"]
CLAIMS = ["G-C2", "G-C22", "", "B-1", "../G-C2", "a\0b"]

number = st.one_of(st.floats(0.01, 0.99).map(str), st.sampled_from(NUMBERS), st.floats(0.01, 3).map(str))
count = st.one_of(st.integers(1, 50).map(str), st.sampled_from(COUNTS))
word = st.one_of(st.sampled_from(WORDS), st.text(max_size=5))
swept = st.one_of(st.sampled_from(["n", "c", "value", "profile"]), word)
values = st.one_of(st.lists(number, max_size=3).map(",".join), st.sampled_from([",", ";", "1,,2", "rr,krr"]))
output = st.one_of(st.sampled_from(PLACES), st.text(max_size=5))  # never a file that is read here
place = st.one_of(st.just(str(USERS)), output)

# How a value is drawn, by the option's name; -p means something else to each of two commands.
NAMED: dict[str, st.SearchStrategy[str]] = {
    **dict.fromkeys(("--eps", "--delta", "--at-eps", "--target-eps", "--tv", "--sigma", "--scale"), number),
    "--sensitivity": number,
    **dict.fromkeys(("--n", "--k", "--g", "--size", "--rounds", "--honest", "--steps", "--epochs"), count),
    **dict.fromkeys(("--jobs", "--port"), count),
    **dict.fromkeys(("--mechanism", "--kind", "--direction", "--deal", "--profile"), word),
    **dict.fromkeys(("--budgets", "--matrix", "-f", "--scheduler", "--settings"), place),
    **dict.fromkeys(("-o", "--page"), output),
    **dict.fromkeys(("--x", "--y", "--by"), swept),
    "--claim": st.sampled_from(CLAIMS),
    "run -p": st.tuples(word, number).map("\0".join),
    "sweep -p": st.tuples(swept, values).map("\0".join),
}


def options(path: tuple[str, ...], command: typer.core.TyperCommand) -> dict[str, st.SearchStrategy[str] | None]:
    """How each option is drawn, None without a value; and a word more than was asked for."""
    found: dict[str, st.SearchStrategy[str] | None] = {"": place}
    for one in command.params:
        if one.param_type_name == "option":
            name = [*one.opts, *one.secondary_opts][-1]
            found[name] = None if one.is_flag else NAMED[name if name in NAMED else f"{path[0]} {name}"]
    return found


OPTIONS = {path: options(path, command) for path, command in commands().items()}
_CROWD, _FILE = "--eps 0.5 --n 20", f"--budgets {USERS}"
GOOD: dict[tuple[str, ...], tuple[str, ...]] = {
    ("mu",): (_CROWD, _FILE),
    ("bounds",): (_CROWD, _FILE, f"{_CROWD} --mechanism krr"),
    ("epsilon",): (
        _CROWD,
        _FILE,
        f"{_CROWD} --mechanism krr --k 4",
        f"{_CROWD} --rounds 3",
        "--n 20 --mechanism gaussian --sigma 1",
    ),
    ("delta",): (
        f"{_CROWD} --at-eps 0.2",
        f"{_FILE} --at-eps 0.1",
        f"{_CROWD} --at-eps 0.1 --mechanism common",
        "--n 20 --at-eps 0.1 --mechanism gaussian --sigma 1",
    ),
    ("calibrate",): (
        "--target-eps 1 --n 30 --delta 1e-3",
        "--target-eps 1 --eps 0.9 --delta 0.01",
        "--target-eps 1 --n 30 --delta 1e-3 --mechanism gaussian",
    ),
    ("certify",): (_CROWD, _FILE, f"{_CROWD} --mechanism tv --tv 0.1", f"{_CROWD} -o cert.json"),
    ("per-user",): (_FILE, f"{_FILE} --mechanism laplace", f"{_FILE} --mechanism krr --k 3"),
    ("attack",): (_CROWD, _FILE, "--n 20 --mechanism gaussian --sigma 1 --sensitivity 2"),
    ("run",): ("01_page", "01_page -p n 4 -o out.ipynb", "01_page --profile quick"),
    ("build",): ("", "--profile quick --jobs 2"),
    ("verify",): ("", "--claim G-C2 --json"),
    ("serve",): ("--no-browser",),
    ("sweep",): (
        "01_page -p n 10,20 -p c 0.5,0.1",
        "01_page --settings settings.csv",
        "01_page -p n 2,3 --profile quick --page page.ipynb --jobs 1",
    ),
    ("data", "status"): ("", "--json"),
    ("data", "fetch"): ("",),
}


@st.composite
def lines(draw: st.DrawFn, command: tuple[str, ...]) -> list[str]:
    """A command line that is right, with up to three drawn options behind it: of several values the last one counts."""
    options = OPTIONS[command]
    words = [*command, *draw(st.sampled_from(GOOD[command])).split()]
    for option in draw(st.lists(st.sampled_from(sorted(options)), max_size=3)):
        values = options[option]
        if option:
            words.append(option)
        if values is not None:
            words += draw(values).split("\0", 1) if option == "-p" else [draw(values)]
    return words


@pytest.fixture(scope="module")
def harmless(tmp_path_factory):
    """A throwaway project to work in, and nothing that takes long or leaves this machine."""
    here = make(tmp_path_factory.mktemp("fuzz") / "project")
    add(here, "01_page", markdown("Nothing."), profiles={"quick": {"n": 1}})
    (here.root / "settings.csv").write_text("n\n3\n4\n")
    # Options may name folders to create: only ones inside the project may appear.
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here.root)
        patch.setenv("GSPA_DATA_DIR", str(here.root / "no data"))
        patch.setenv("HOME", str(here.root))

        def no_data():
            raise DataUnavailable("MNIST: not here")

        def no_cluster(scheduler, data):
            raise CheckFailed("scheduler: does not answer")

        patch.setattr(datasets, "fetch", no_data)
        patch.setattr(
            pipeline, "compute", lambda *_: pipeline.Executed({"error": "", "status": "done"}, '{"cells": []}')
        )
        patch.setattr(files, "write_atomically", lambda output, text: None)
        patch.setattr(pipeline, "run_all", lambda *_, **__: [])
        patch.setattr(sweep, "run", _swept)
        patch.setattr(cluster, "Cluster", no_cluster)
        patch.setattr(site, "render", lambda *_, **__: True)
        patch.setattr(site, "render_page", lambda *_, **__: here.root / "page.html")
        patch.setattr("webbrowser.open", lambda address: False)
        patch.setattr("gspa.book.bench.serve", lambda runs, **_: runs.close())
        yield here


def _swept(notebook, wanted, *, place, output, progress):
    """Every setting done at once, with its number as the result."""
    made = dict.fromkeys(sweep.LAST_COLUMNS, "") | {"status": "done", "seconds": 0.0, "versions": {}, "data": {}}
    tasks = {str(i): pipeline.Task.of(notebook, values) for i, values in enumerate(wanted[:20])}
    records = {key: made | {"results": {"value": float(key)}} for key in tasks}
    return sweep.Swept(sweep.table(tasks, records), 0, 0)


def judged(words: list[str]) -> tuple[int, str]:
    """Exit status, and what is wrong with it or "nothing"."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors) for errors in ("strict", "backslashreplace"))
    own = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        status = cli.run(words)
    except BaseException as error:
        return 99, f"{type(error).__name__}: {str(error)[:200]}"
    finally:
        sys.stdout, sys.stderr = own
    out.flush()
    err.flush()
    said = err.buffer.getvalue().decode()
    if "Traceback" in said or status not in (0, 1, 2):
        return status, f"status {status}: {said[:300]}"
    *before, last = said.split("\n")[:-1] or [""]
    begun = words[:1] == ["sweep"] and len(before) == 1 and " of " in before[0]  # it says what it runs
    if status == 2 and ((before and not begun) or not last.startswith("gspa: ") or not said.endswith("\n")):
        return status, f"not one line: {said[:300]!r}"
    if status == 0 and "nan" in out.buffer.getvalue().decode().lower().replace("nan,", ""):
        return status, f"NaN: {out.buffer.getvalue().decode()[:300]}"
    return status, "nothing"


def drawn(command: tuple[str, ...], most: int, found: Counter[int], wrong: list[str]) -> None:
    few = {"phases": [Phase.generate], "suppress_health_check": list(HealthCheck)}

    @settings(max_examples=most, database=None, deadline=None, **few)
    @given(lines(command))
    def call(words: list[str]) -> None:
        status, fault = judged(words)
        found[status] += 1
        if fault != "nothing":
            wrong.append(f"gspa {words!r}"[:300] + f": {fault}")

    call()


@pytest.mark.usefixtures("harmless")
class TestLines:
    def test_every_command_is_drawn(self):
        assert set(OPTIONS) == set(GOOD)
        assert budgets.from_csv(USERS).n == 5  # what no drawn line may write over

    @pytest.mark.parametrize("command", OPTIONS, ids=" ".join)
    def test_a_few_lines_for_every_command(self, command):
        wrong: list[str] = []
        found: Counter[int] = Counter()
        drawn(command, {"calibrate": 2, "epsilon": 3}.get(command[0], 12), found, wrong)  # seconds a line
        assert not wrong, "\n".join(wrong)
        assert found[0] or command[0] in ("verify", "serve", "data")  # nothing is built or downloaded here

    @pytest.mark.slow
    def test_many_lines(self, capsys):
        wrong: list[str] = []
        found: Counter[int] = Counter()
        for command in OPTIONS:
            # Rounds of reports on a line take seconds each.
            drawn(command, 300 if command[0] in ("epsilon", "delta") else 1_500, found, wrong)
        with capsys.disabled():
            print(f"\n{found.total():,} command lines: exit status {dict(sorted(found.items()))}")
        assert not wrong, "\n".join(wrong[:40])
        assert min(found[0], found[2]) > 1_000


@pytest.mark.usefixtures("harmless")
class TestPlaces:
    OTHERS = ("../01_page", "/etc/passwd", "notebooks/01_page", "01_page.ipynb", "a\0b", "..")
    NO_NOTEBOOKS = ("out.txt", "a\0b.ipynb", ".", "x\ny", ".ipynb/")

    @pytest.mark.parametrize("words", [*((name,) for name in OTHERS), *(("01_page", "-o", to) for to in NO_NOTEBOOKS)])
    def test_a_notebook_is_one_of_the_books_own_and_so_is_an_output(self, words):
        assert judged(["run", *words]) == (2, "nothing")

    def test_a_link_does_not_lead_an_output_to_another_file(self, harmless, monkeypatch):
        secret = harmless.root / "profile"
        secret.write_text("mine")
        link = harmless.root / "out.ipynb"
        link.symlink_to(secret)
        written = []
        monkeypatch.setattr(files, "write_atomically", lambda output, text: written.append(output))
        status, fault = judged(["run", "01_page", "-o", "out.ipynb"])
        assert (status, fault) == (2, "nothing")
        assert written == []
        link.unlink()

    def test_the_default_output_stays_in_the_build_folder(self, harmless, monkeypatch):
        written = []
        monkeypatch.setattr(files, "write_atomically", lambda output, text: written.append(output))
        for value in ("3", "4"):
            assert judged(["run", "01_page", "-p", "n", value]) == (0, "nothing")
        assert len(set(written)) == 2
        assert {path.parent for path in written} == {harmless.build / "runs"}
        shutil.rmtree(harmless.build)

"""Odd surroundings: no home, no network, a jumping clock, strange paths, a checkout that cannot be written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from package_reference import commands
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from small_book import (
    ROOT,
    build,
    command,
    environment,
    in_private_mounts,
    make_book,
    one_line,
    products,
    run,
)
from small_project import add, make

from gspa.book import processes
from gspa.book.project import Project

STRANGE = "Thèse «数学» 50 % #1 (a) & it's ~here"


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A book that was built in ordinary surroundings."""
    here = make_book(tmp_path_factory.mktemp("plain") / "book", figure=True)
    build(here)
    return here


@pytest.fixture
def copy(tmp_path):
    """The same book elsewhere, not built."""
    return make_book(tmp_path / "book", figure=True)


def with_customisation(folder: Path, code: str, **more: str | None) -> dict[str, str]:
    """An environment in which every Python process of the build runs `code` first."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(code)
    return environment(PYTHONPATH=os.pathsep.join([str(folder), str(ROOT)]), **more)


NO_ENTRY = """import pwd
def nobody(uid):
    raise KeyError(uid)
pwd.getpwuid = nobody
"""


class TestNoHome:
    @pytest.mark.slow
    @pytest.mark.parametrize("home", [None, "/nonexistent/home", "/dev/null", "relative"])
    def test_the_same_bytes_and_nothing_written_where_it_does_not_belong(self, plain, copy, tmp_path, home):
        env = with_customisation(tmp_path / "custom", NO_ENTRY, HOME=home)
        build(copy, env=env)
        assert products(copy) == products(plain)
        assert {path.name for path in copy.root.iterdir()} == {"_build", "_config.yml", "book", "notebooks"}

    @pytest.mark.parametrize("home", [None, "/nonexistent/home", "/dev/null", "relative"])
    def test_matplotlib_gets_a_place_of_its_own_then(self, tmp_path, monkeypatch, home):
        def nobody(user):
            raise KeyError(user)

        monkeypatch.setattr("pwd.getpwuid", nobody)
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("MPLCONFIGDIR", raising=False)
        monkeypatch.setenv("HOME", str(tmp_path))
        assert "MPLCONFIGDIR" not in processes.environment(tmp_path)
        monkeypatch.delenv("HOME")
        if home:
            monkeypatch.setenv("HOME", home)
        assert "MPLCONFIGDIR" in processes.environment(tmp_path)

    def test_what_builds_draws_nothing_itself(self):
        code = "import sys; from gspa import cli; from gspa.book import run, site; print('matplotlib' in sys.modules)"
        line = [sys.executable, "-c", code]
        assert subprocess.run(line, env=environment(), capture_output=True, text=True, check=True).stdout == "False\n"

    def test_commands_that_need_no_home_answer(self, tmp_path):
        env = with_customisation(tmp_path / "custom", NO_ENTRY, HOME=None)
        for line in (["mu", "--eps", "0.5", "--n", "100"], ["data", "status"]):
            done = subprocess.run(command(*line), cwd=ROOT, env=env, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")


def needed(name: str, extras: frozenset[str], found: dict[str, frozenset[str]]) -> None:
    """Every distribution that a distribution with its extras asks for, here and now, into `found`."""
    if name in found and extras <= found[name]:
        return
    found[name] = found.get(name, frozenset()) | extras
    try:
        asked = [Requirement(text) for text in metadata.requires(name) or []]
    except metadata.PackageNotFoundError:  # for another system
        return
    for one in asked:
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            needed(canonicalize_name(one.name), frozenset(one.extras), found)


ANSWERS = """import contextlib, io, json, sys
absent, lines = json.load(sys.stdin)
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
for name in [name for name in sys.modules if name.partition(".")[0] in absent]:
    del sys.modules[name]
sys.meta_path.insert(0, Absent())
from gspa.cli import run
said = []
for line in lines:
    with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
        said.append((run(line), err.getvalue()))
json.dump(said, sys.stdout)
"""
USERS = ["--eps", "1", "--n", "10"]
LINES = {
    **dict.fromkeys(("mu", "epsilon", "attack", "bounds", "certify"), USERS),
    "delta": ["--at-eps", "0.1", *USERS],
    "calibrate": ["--target-eps", "0.1", "--n", "10"],
    "per-user": ["--budgets", "users.csv"],
    "run": ["01_page"],
    "sweep": ["01_page", "-p", "n", "1,2"],
    **{name: [] for name in ("build", "verify", "serve")},
    "data status": [],
    "data fetch": [],
}
NEEDS = dict.fromkeys(("build", "run", "verify", "sweep", "serve"), "book")
NEEDS |= {"certify": "certify", "data status": "learn", "data fetch": "learn"}


@pytest.mark.parametrize(
    "extras", [["cli"], pytest.param(["cli", "learn", "crypto"], marks=pytest.mark.slow)], ids=",".join
)
def test_what_is_not_installed_is_named_with_the_extra_that_brings_it(tmp_path, extras):
    """`pip install '.[cli]'` alone, without a network: every other module is hidden."""
    here = make(tmp_path)
    add(here, "01_page")
    (tmp_path / "users.csv").write_text("eps\n1\n")
    present: dict[str, frozenset[str]] = {}
    needed("gspa", frozenset(extras), present)
    owners = metadata.packages_distributions()
    absent = [name for name, of in owners.items() if not any(canonicalize_name(one) in present for one in of)]
    assert {"filelock" if extras == ["cli"] else "pandas", "jupyter_book", "tornado", "flint"} <= set(absent)
    assert set(map(" ".join, commands())) == set(LINES)
    lines = [[*name.split(), *rest] for name, rest in LINES.items()]
    env = environment(GSPA_DATA_DIR=None, GSPA_OFFLINE="1", XDG_CACHE_HOME=str(tmp_path / "cache"))
    line = [sys.executable, "-c", ANSWERS]
    done = subprocess.run(
        line, input=json.dumps([absent, lines]), cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for name, (status, err) in zip(LINES, json.loads(done.stdout), strict=True):
        if NEEDS.get(name) in {None, *extras}:
            assert "pip install" not in err, name
        else:
            assert (status, err[:6]) == (2, "gspa: "), name
            assert one_line(err).endswith(f": pip install 'gspa[{NEEDS[name]}]'"), err
    assert not here.build.exists()


class TestSettingsOfTheUser:
    @pytest.mark.slow
    def test_they_do_not_reach_a_page(self, plain, copy, tmp_path):
        home = tmp_path / "home"
        files = {
            ".ipython/profile_default/startup/00.py": "n = 77\nprint('hello from home')",
            ".ipython/profile_default/ipython_config.py": "c.InteractiveShell.ast_node_interactivity = 'all'",
            ".config/matplotlib/matplotlibrc": "lines.linewidth: 9\n",
            ".local/share/jupyter/kernels/python3/kernel.json": json.dumps(
                {"argv": ["false"], "display_name": "Python 3", "language": "python"}
            ),
            "startup.py": "print('hello from PYTHONSTARTUP')",
        }
        for name, text in files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        build(copy, env=environment(HOME=str(home), PYTHONSTARTUP=str(home / "startup.py")))
        assert products(copy) == products(plain)

    def test_every_setting_lies_in_the_folder_that_is_given(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        for name in ("MPLCONFIGDIR", "GSPA_DATA_DIR"):  # the data are where they are
            monkeypatch.delenv(name, raising=False)
        folder = tmp_path / "own"
        folder.mkdir()
        changed = processes.environment(folder).items() - os.environ.items()
        paths = {name: Path(value) for name, value in changed if os.sep in value}
        assert set(paths) >= {"IPYTHONDIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MATPLOTLIBRC"}
        assert all(path.parent == folder for path in paths.values())
        assert (folder / "matplotlibrc").read_bytes() == b""


# Of every 40 readings, the next ones are 400 days ahead, then years behind.
JUMPING = """import itertools, time
_readings, _time = itertools.count(), time.time
_jumps = (0, 400 * 86400, -4000 * 86400)
time.time = lambda: _time() + _jumps[next(_readings) // 40 % 3]
time.time_ns = lambda: int(time.time() * 1e9)
"""


class TestAClockThatJumps:
    @pytest.mark.slow
    def test_the_same_bytes(self, plain, copy, tmp_path):
        build(copy, env=with_customisation(tmp_path / "custom", JUMPING))
        assert products(copy) == products(plain)

    @pytest.mark.slow
    @pytest.mark.parametrize("year", [1980, 2090])
    def test_the_times_of_files_mean_nothing(self, plain, tmp_path, year):
        here = Project(tmp_path / "book")
        shutil.copytree(plain.root, here.root)
        then = (year - 1970) * 365.25 * 86400
        for path in here.root.rglob("*"):
            os.utime(path, (then, then))
        done = run(here)
        assert done.returncode == 0
        assert sorted(done.stderr.splitlines()) == ["one: unchanged", "two: unchanged"]  # they run side by side
        assert "The site is unchanged." in done.stdout
        # And a source that is other but claims to be old is seen.
        source = here.notebooks / "two.ipynb"
        before = source.stat()
        source.write_text(source.read_text().replace("* 2", "* 3"))
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        done = run(here)
        assert "one: unchanged" in done.stderr
        assert "two: done" in done.stderr


# Whoever asks for another machine is written down and told that there is no network.
NO_NETWORK = """import errno, os, socket
_log = os.environ["ASKED"]
def _refuse(what):
    with open(_log, "a") as file:
        file.write(f"{what}\\n")
    raise OSError(errno.ENETUNREACH, "Network is unreachable")
_connect, _connect_ex, _lookup = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo
def _here(address):
    return not isinstance(address, tuple) or str(address[0]) in ("127.0.0.1", "::1", "localhost")
class _Socket(socket.socket):
    def connect(self, address):
        return _connect(self, address) if _here(address) else _refuse(address[0])
    def connect_ex(self, address):
        return _connect_ex(self, address) if _here(address) else _refuse(address[0])
socket.socket = _Socket
socket.getaddrinfo = lambda host, *a, **k: _lookup(host, *a, **k) if _here((host,)) else _refuse(host)
"""
WHICH = "from gspa.algorithms import digits\ndigits.load('auto').name"


def without_proxies(**more: str | None) -> dict[str, str | None]:
    names = [f"{kind}_proxy" for kind in ("http", "https", "all")]
    return dict.fromkeys([*names, *map(str.upper, names)]) | more


class TestNoNetwork:
    @pytest.mark.slow
    def test_a_build_asks_nobody(self, plain, copy, tmp_path):
        asked = tmp_path / "asked"
        more = without_proxies(ASKED=str(asked), GSPA_OFFLINE=None)
        build(copy, env=with_customisation(tmp_path / "custom", NO_NETWORK, **more))
        assert products(copy) == products(plain)
        assert not asked.exists()

    @pytest.mark.slow
    def test_one_that_wants_data_asks_the_mirrors_only_and_falls_back(self, copy, tmp_path):
        add(copy, "two", WHICH, needs_data=True)
        asked = tmp_path / "asked"
        more = without_proxies(ASKED=str(asked), GSPA_OFFLINE=None, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path))
        build(copy, env=with_customisation(tmp_path / "custom", NO_NETWORK, **more))
        assert "'digits'" in (copy.executed("quick") / "two.ipynb").read_text()
        assert set(asked.read_text().split()) == {"ossci-datasets.s3.amazonaws.com", "storage.googleapis.com"}


class TestStrangePaths:
    @pytest.mark.slow
    @pytest.mark.parametrize("locale", [None, "C"])
    def test_spaces_and_letters_of_other_alphabets(self, plain, tmp_path, locale):
        here = make_book(tmp_path / STRANGE / "book", figure=True)
        ascii_only = {"LC_ALL": "C", "LANG": None, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        env = environment(TMPDIR=str(here.root.parent), **(ascii_only if locale else {}))
        build(here, env=env)
        assert products(here) == products(plain)

    def test_in_outputs_and_in_what_is_said(self, tmp_path):
        here = make_book(tmp_path / STRANGE)
        (here.root / "a file").touch()
        done = run(here, command("run", "one", "-o", f"{STRANGE}.html"))
        assert done.returncode == 2
        assert one_line(done.stderr).startswith("gspa: -o = ")
        done = run(here, command("run", "one", "-o", str(here.root / "a file" / "out.ipynb")))
        assert done.returncode == 2
        assert f"output folder {here.root / 'a file'}: cannot be written" in one_line(done.stderr)


READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 77; cd "$1"; shift; exec "$@"'


class TestAReadOnlyCheckout:
    def start(self, here: Project, *line: str, **more: str | None) -> subprocess.CompletedProcess[str]:
        return in_private_mounts(READ_ONLY, str(here.root), *command(*line), env=environment(**more))

    def test_a_folder_of_the_book_that_cannot_be_written_is_refused_before_any_work(self, copy):
        (copy.book / "notebooks").write_text("a file where a folder belongs")
        done = run(copy)
        assert done.returncode == 2
        assert f"output folder {copy.book / 'notebooks'}: cannot be written" in one_line(done.stderr)
        assert "running" not in done.stderr

    @pytest.mark.slow
    def test_a_notebook_runs_with_its_output_elsewhere(self, plain, copy, tmp_path):
        output = tmp_path / "elsewhere" / "one.ipynb"
        done = self.start(copy, "run", "one", "--profile", "quick", "-o", str(output), HOME=str(copy.root))
        assert done.returncode == 0, done.stderr
        assert output.read_bytes() == (plain.executed("quick") / "one.ipynb").read_bytes()
        done = self.start(copy, "run", "one")
        assert done.returncode == 2
        assert "cannot be written (Read-only file system)" in one_line(done.stderr)

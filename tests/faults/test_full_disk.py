"""A full disk: what was whole stays whole, the command says so in one line, and with room it goes on."""

from __future__ import annotations

import errno
import json
import subprocess
import sys

import pytest
from small_book import (
    BUILD,
    build,
    environment,
    in_private_mounts,
    make_book,
    one_line,
    products,
    write_page,
)

from gspa import cli
from gspa.book import run as pipeline

WRITE = """import json, os, sys
from pathlib import Path
from gspa.files import write_atomically
folder, limit = Path(sys.argv[1]), sys.argv[2] == "limit"
path = folder / "page"
write_atomically(path, "the older page")
if limit:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomically(path, "x" * 1_000_000)
except OSError as error:
    said = [error.errno, error.filename]
print(json.dumps([*said, path.read_text(), os.listdir(folder)]))
"""
TMPFS = 'mount -t tmpfs -o "size=$2" none "$1" || exit 77; shift 2; exec "$@"'


def mounted(folder, size, line, **options):
    """Run a command while `folder` is a small disk of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    return in_private_mounts(TMPFS, str(folder), size, *line, **options)


@pytest.mark.parametrize("way", ["tmpfs", "limit"])
def test_a_write_that_fails_leaves_the_older_file_and_names_it(tmp_path, way):
    line = [sys.executable, "-c", WRITE, str(tmp_path), way]
    if way == "tmpfs":
        done = mounted(tmp_path, "64k", line)
    else:
        done = subprocess.run(line, capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    number, name, text, names = json.loads(done.stdout)
    assert number == (errno.ENOSPC if way == "tmpfs" else errno.EFBIG)
    assert name == str(tmp_path / "page")
    assert (text, names) == ("the older page", ["page"])


FILLED = """import os, subprocess, sys
with open("_build/filler", "wb", buffering=0) as file:
    try:
        while True:
            file.write(bytes(4096))
    except OSError:
        pass
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""


def test_a_disk_that_is_full_already_is_refused_before_any_work(tmp_path):
    here = make_book(tmp_path / "book")
    done = mounted(here.build, "1m", [sys.executable, "-c", FILLED, *BUILD], cwd=here.root)
    assert done.returncode == 2
    assert one_line(done.stderr) == (
        f"gspa: output folder {here.build}: cannot be written (No space left on device); choose another"
    )
    assert "running" not in done.stderr


# Run on a disk of its own that is copied to first: builds the book with less and less of it filled.
DRIVER = """import json, os, shutil, subprocess, sys
sys.path[:0] = json.loads(sys.argv[3])
from pathlib import Path
from gspa.book.project import Project
from small_book import pages, products
source, target = Path(sys.argv[1]), Path(sys.argv[2])
shutil.copytree(source, target, dirs_exist_ok=True)
here, old, found = Project(target), pages(target / "_build" / "html"), []
os.chdir(target)
for free in json.loads(sys.argv[4]):
    disk = os.statvfs(".")
    with open("filler", "wb") as file:
        file.write(bytes(max(0, disk.f_bavail * disk.f_frsize - free)))
    done = subprocess.run(sys.argv[5:], capture_output=True, text=True)
    found.append([free, done.returncode, done.stderr, pages(here.html) == old])
    os.remove("filler")
done = subprocess.run(sys.argv[5:], capture_output=True, text=True)
print(json.dumps([found, done.returncode, done.stderr, products(here)]))
"""


@pytest.mark.slow
def test_a_build_that_runs_out_of_disk_keeps_the_old_site_and_ends_with_room(tmp_path):
    older = make_book(tmp_path / "older", factor=2)
    build(older)
    newer = make_book(tmp_path / "newer", factor=3)
    build(newer)
    for name in ("one", "two"):
        write_page(older, name, 3)
    # Room for the first look but not the notebooks, for one of them, for a part of the site, for most of it.
    free = [1 << 16, 70_000, 80_000, 90_000, 300_000, 1 << 20, 3 << 20]
    paths = [path for path in sys.path if path]
    line = [sys.executable, "-c", DRIVER, str(older.root), str(tmp_path / "disk")]
    done = mounted(tmp_path / "disk", "60m", [*line, json.dumps(paths), json.dumps(free), *BUILD])
    assert done.returncode == 0, done.stderr
    found, status, said, made = json.loads(done.stdout)
    for room, code, told, same in found:
        assert code in (1, 2), (room, told)
        assert same, f"the old site changed with {room} bytes of room"
        assert "No space left on device" in told, (room, told)
        assert "gspa/cli.py" not in told, (room, told)
    assert status == 0, said
    assert made == products(newer)


@pytest.mark.parametrize("name", ["a/record.json", None])
def test_what_the_system_refuses_during_a_build_is_one_line(tmp_path, monkeypatch, capsys, name):
    """In this process: the record of a notebook that has run cannot be written."""
    here = make_book(tmp_path / "book")
    monkeypatch.chdir(here.root)
    error = OSError(errno.ENOSPC, "No space left on device", name) if name else OSError("no room")

    def full(path, text):
        raise error

    done = pipeline.Executed({"error": "", "status": "done"}, "{}")
    monkeypatch.setattr(pipeline, "compute", lambda *_: done)
    monkeypatch.setattr(pipeline, "write_atomically", full)
    assert cli.run(BUILD[3:]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[1:] == [f"gspa: {name}: No space left on device" if name else "gspa: no room"]
    assert not (here.executed("quick") / "one.json").exists()

"""A download that breaks off, or whose process is killed: nothing half is kept, and the next one is whole."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from small_book import environment, make_book, one_line, run
from small_project import add, small_mnist

from gspa.accountant.errors import DataCorrupted, DataUnavailable
from gspa.algorithms import _mnist_files as files
from gspa.algorithms import _npz
from gspa.algorithms import digits as datasets
from gspa.files import lock_of, own_folder


class Mirror:
    """A server that sends `share` of each file and then does what `end` says: nothing, or wait."""

    def __init__(self) -> None:
        self.share, self.honest, self.end = 1.0, True, threading.Event()
        self.end.set()
        self.sent = threading.Event()
        packed = {f"/{name}.gz": gzip.compress(raw, mtime=0) for name, raw in small_mnist().items()}
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.send_response(200)
                self.end_headers()

            def do_GET(self) -> None:
                whole = packed[self.path]
                part = whole[: int(len(whole) * mirror.share)]
                self.send_response(200)
                self.send_header("Content-Length", str(len(whole if mirror.honest else part)))
                self.end_headers()
                self.wfile.write(part)
                self.wfile.flush()
                mirror.sent.set()
                mirror.end.wait(20)

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A mirror, and a cache that is empty."""
    made = Mirror()
    for name in ("GSPA_DATA_DIR", "GSPA_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    sums = {name: hashlib.sha256(raw).hexdigest() for name, raw in small_mnist().items()}
    monkeypatch.setattr(files, "CHECKSUMS", sums)
    monkeypatch.setattr(files, "MIRRORS", (made.address,))
    monkeypatch.setattr(files, "cache", lambda kind: tmp_path / kind)
    yield made
    made.end.set()
    made.server.shutdown()
    made.server.server_close()


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("honest", [True, False], ids=["cut", "short"])
def test_a_download_that_breaks_off_is_not_kept(mirror, tmp_path, share, honest):
    """The connection ends early, or a proxy took the part for the whole."""
    mirror.share, mirror.honest = share, honest
    with pytest.raises(DataUnavailable if honest else DataCorrupted, match="train-images-idx3-ubyte"):
        datasets.fetch(progress=False)
    assert list((tmp_path / "mnist").iterdir()) == []
    assert [row.state for row in datasets.status()] == ["missing"] * 4
    mirror.share = 1.0
    assert datasets.fetch(progress=False) == tmp_path / "mnist"
    assert datasets.load("mnist").train_y.tolist() == [0, 1, 2]


FETCH = """import json, sys
from pathlib import Path
from gspa.algorithms import _mnist_files as files
files.CHECKSUMS, files.MIRRORS = json.loads(sys.argv[1]), (sys.argv[2],)
files.cache = lambda kind: Path(sys.argv[3]) / kind
files.fetch(progress=False)
"""


def test_a_download_that_is_killed_is_whole_the_next_time(mirror, tmp_path):
    mirror.share = 0.5
    mirror.end.clear()
    line = [sys.executable, "-c", FETCH, json.dumps(files.CHECKSUMS), mirror.address, str(tmp_path)]
    env = environment(GSPA_OFFLINE=None, NO_PROXY="127.0.0.1", no_proxy="127.0.0.1")
    with subprocess.Popen(line, env=env) as process:
        assert mirror.sent.wait(60)
        time.sleep(0.2)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    (left,) = (path for path in (tmp_path / "mnist").iterdir() if path.is_dir())  # under a name that nobody reads
    assert [row.state for row in datasets.status()] == ["missing"] * 4
    assert datasets.load("auto", download=False).stand_in
    mirror.share = 1.0
    mirror.end.set()
    datasets.fetch(progress=False)
    assert [row.state for row in datasets.status()] == ["ok"] * 4
    assert not left.exists()
    assert not lock_of(left).exists()


def test_what_a_killed_writer_of_a_cache_left_goes_with_the_next_one_and_a_living_ones_stays(tmp_path):
    (tmp_path / ".part-dead").mkdir()
    (tmp_path / ".part-dead" / "part.npz").write_bytes(b"PK\x03\x04 torn")
    (tmp_path / "unrelated").mkdir()
    with own_folder(".part-", tmp_path) as living:
        os.utime(living, (0, 0))  # as if the clock had jumped
        _npz.write(tmp_path / "a.npz", {})
        assert set(tmp_path.iterdir()) == {living, lock_of(living), tmp_path / "unrelated", tmp_path / "a.npz"}
    assert {path.name for path in tmp_path.iterdir()} == {"unrelated", "a.npz"}


def test_a_build_with_a_damaged_file_is_refused_before_any_notebook(tmp_path):
    """The file's name, both checksums and what to do are said in one line."""
    here = make_book(tmp_path / "book")
    add(here, "two", "n", needs_data=True)
    folder = tmp_path / "data"
    folder.mkdir()
    for file in files.CHECKSUMS:
        (folder / f"{file}.gz").write_bytes(gzip.compress(b"other"))
    done = run(here, env=environment(GSPA_DATA_DIR=str(folder)))
    assert done.returncode == 2
    said = one_line(done.stderr)
    assert str(folder / "train-images-idx3-ubyte.gz") in said
    assert files.CHECKSUMS["train-images-idx3-ubyte"] in said
    assert hashlib.sha256(b"other").hexdigest() in said
    assert said.endswith("; replace it, or unset GSPA_DATA_DIR")
    assert list(here.executed("quick").iterdir()) == []


def test_a_data_folder_with_a_strange_name(mirror, tmp_path, monkeypatch):
    folder = tmp_path / "Daten «数» 50 % #1"
    folder.mkdir()
    for name, raw in small_mnist().items():
        (folder / f"{name}.gz").write_bytes(gzip.compress(raw))
    monkeypatch.setenv("GSPA_DATA_DIR", str(folder))
    assert datasets.load("mnist").test_y.tolist() == [0, 1]
    assert {Path(row.path).parent for row in datasets.status()} == {folder}

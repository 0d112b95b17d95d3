"""`gspa serve` as a bench: what it refuses and to whom, what it runs, keeps and cleans up."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from contextlib import closing, suppress
from pathlib import Path
from queue import Queue
from urllib.parse import unquote, urlsplit

import pytest
from awaiting import ended, number, until
from bs4 import BeautifulSoup
from small_project import PROPERTIES, add

from gspa.accountant.errors import CheckFailed
from gspa.book import bench, bench_runs, claims, moved, panel, parameters, provenance, run, say, site, verdicts
from gspa.book.bench_runs import Bench
from gspa.book.project import Project

ROOT = Path(__file__).resolve().parents[2]
SAYS = ("from gspa.book.page import Page", "six = 6 * n", "%%say\nThere are {{ six }} of them. They stay.")
HTML = "<html><head></head><body><article><h1>A page</h1><a href='../_static/a.css'></a></article></body></html>"


CLAIM = "G-C3"


def a_kept_run(here):
    """The folder of a run that an earlier server has kept."""
    with closing(opened(here)) as runs:
        asked = runs.ask("01_page", {"n": 4})["id"]
        until(lambda: runs.one(asked)["state"] == "done")
    return here.build / "bench" / asked


def executed(n: int) -> str:
    """A notebook as a run leaves it."""
    card = claims.Outcome(CLAIM, "verified", "So.", {"six": 6 * n})
    return json.dumps({"cells": [{"cell_type": "code", "outputs": outputs(card)}]})


def outputs(card: claims.Outcome) -> list[dict[str, object]]:
    """A card, and a text that says its numbers."""
    return [{"data": {claims.MIME: card.to_dict()}}, {"data": {say.MIME: {"values": dict(card.evidence)}}}]


@pytest.fixture
def here(project):
    """A project with what the bench looks at of a built site; its notebook says a number."""
    add(project, "01_page", *SAYS)
    add(project, "02_not_in_the_site", *SAYS)
    site = {
        "index.html": HTML,
        "notebooks/01_page.html": HTML,
        "_sources/notebooks/01_page.ipynb": executed(3),
        "_static/a.css": "/* a style */",
        "build-record.json": json.dumps({"profile": "paper", "notebooks": []}),
    }
    for name, text in site.items():
        (project.html / name).parent.mkdir(parents=True, exist_ok=True)
        (project.html / name).write_text(text)
    return project


@pytest.fixture
def rendered(monkeypatch):
    """A page is rendered at once."""

    def at_once(here, name, notebook, folder, *, profile):
        (folder / "notebooks").mkdir(parents=True)
        (folder / "notebooks" / f"{name}.html").write_text(HTML)
        (folder / "_static" / "data" / name).mkdir(parents=True)
        (folder / "_static" / "data" / name / "figure.csv").write_text("x\n1\n")

    monkeypatch.setattr(site, "render_page", at_once)


@pytest.fixture
def instant(monkeypatch, rendered):
    """A notebook runs at once; what was run."""
    asked: list[dict[str, object]] = []

    def at_once(task):
        asked.append(task.values)
        thirteen = "notebook 01_page, cell 3: ValueError: thirteen\nand a traceback"
        return thirteen if task.values["n"] == 13 else ""

    instead(monkeypatch, at_once)
    return asked


def instead(monkeypatch, work):
    """No kernel: a function of the task gives the error, if any."""

    def compute(task, expected, data, report, stopped):
        error = work(task)
        if stopped():
            raise KeyboardInterrupt
        return run.Executed(run._record(task, expected, error), executed(task.values["n"]))

    monkeypatch.setattr(run, "compute", compute)


def opened(here, usable=lambda values: None):
    return Bench(here, place=lambda: run.Here(1, dict), usable=usable)


class Reader:
    """Asks a server, by default as its own page would; `said` has the address that it printed."""

    def __init__(self, said: str) -> None:
        self.host, port, self.token = re.search(r"http://(127\.0\.0\.1:(\d+))/bench/#token=([\w-]+)", said).groups()
        self.port = int(port)

    def whole(self, method: str, path: str, body: object = None, **headers: str | None) -> tuple[int, bytes, object]:
        """An answer's status, content and headers."""
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        own = {"Host": self.host, "Origin": f"http://{self.host}", "X-Gspa-Token": self.token}
        changed = own | {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in changed.items():
                if value is not None:
                    connection.putheader(name, value)
            if content is not None:
                connection.putheader("Content-Length", str(len(content)))
            connection.endheaders(content)
            with connection.getresponse() as answer:
                return answer.status, answer.read(), answer.headers

    def ask(self, *asked: object, **headers: str | None) -> tuple[int, str, object]:
        """The same, its content as text."""
        status, content, found = self.whole(*asked, **headers)
        return status, content.decode("utf-8", "replace"), found

    def post(self, notebook="01_page", **given):
        body = {"notebook": notebook, "parameters": given}
        status, text, _ = self.ask("POST", "/bench/runs", body)
        return json.loads(text) if status == 200 else (status, text)

    def one(self, identifier: str) -> dict[str, object]:
        return json.loads(self.ask("GET", f"/bench/runs/{identifier}")[1])

    def wait(self, identifier: str, *states: str) -> dict[str, object]:
        until(lambda: self.one(identifier)["state"] in states)
        return self.one(identifier)


@pytest.fixture
def serving(here):
    """Starts servers in this process."""
    ends = []

    def start(runs: Bench | None = None) -> Reader:
        runs, said, loop = runs or opened(here), Queue(), asyncio.new_event_loop()
        task = loop.create_task(bench._serve(runs, 0, said.put))

        def work() -> None:
            with suppress(asyncio.CancelledError), closing(loop):
                loop.run_until_complete(task)

        thread = threading.Thread(target=work)
        thread.start()
        ends.append((loop, task, thread, runs))
        return Reader(said.get(timeout=60))

    yield start
    for loop, task, thread, runs in ends:
        runs.close()
        loop.call_soon_threadsafe(task.cancel)
        thread.join()


@pytest.fixture
def reader(serving, instant):
    return serving()


def raw(reader: Reader, request: str, body: bytes = b"", **headers: str) -> bytes:
    """What is answered to a request that no library would send."""
    own = {"Host": reader.host, "Origin": f"http://{reader.host}", "X_Gspa_Token": reader.token, "Connection": "close"}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in (own | headers).items()]
    with socket.create_connection(("127.0.0.1", reader.port), timeout=20) as connection:
        connection.sendall("\r\n".join([f"{request} HTTP/1.1", *lines, "", ""]).encode() + body)
        return connection.recv(65536)


GOOD = {"notebook": "01_page", "parameters": {"n": 4}}


class TestWhoMayAsk:
    @pytest.mark.parametrize(
        ("headers", "says"),
        [
            ({"X_Gspa_Token": None}, "token"),
            ({"X_Gspa_Token": ""}, "token"),
            ({"X_Gspa_Token": "0" * 32}, "token"),
            ({"Origin": None}, "Origin"),
            ({"Origin": "null"}, "Origin"),
            ({"Origin": "https://evil.example"}, "Origin"),
            ({"Origin": "http://127.0.0.1:1"}, "Origin"),
            ({"Host": "evil.example", "Origin": "http://evil.example"}, "Host"),
            ({"Host": "127.0.0.1", "Origin": "http://127.0.0.1"}, "Host"),  # which is port 80
        ],
    )
    @pytest.mark.parametrize(("method", "path"), [("POST", "/bench/runs"), ("DELETE", "/bench/runs/" + 16 * "0")])
    def test_nobody_else_changes_anything(self, reader, instant, headers, says, method, path):
        status, text, _ = reader.ask(method, path, GOOD if method == "POST" else None, **headers)
        assert status in (400, 403)
        assert says in text
        assert instant == []

    @pytest.mark.parametrize("path", ["/bench/runs", f"/bench/runs/{16 * '0'}", "/bench/anything"])
    def test_runs_are_read_with_the_token_only(self, reader, path):
        cookies = "; ".join(f"{name}={reader.token}" for name in ("gspa-bench", f"gspa-bench-{reader.port}", "token"))
        for headers in ({}, {"X_Gspa_Token": "0" * 32}, {"X_Gspa_Token": None, "Cookie": cookies}):
            assert reader.ask("GET", path, **({"X_Gspa_Token": None} | headers))[0] == 403
        assert reader.ask("GET", path)[0] in (200, 404)

    def test_a_runs_files_have_addresses_that_only_the_token_makes(self, reader):
        one, other = (reader.wait(reader.post(n=n)["id"], "done") for n in (4, 5))
        for end in ("page/notebooks/01_page.html", "notebook", "csv", "html"):
            assert reader.ask("GET", f"{one['at']}/{end}", X_Gspa_Token=None)[0] == 200
            wrong = (one["at"][:-32] + 32 * "0", one["at"][:-33], one["at"][:-32] + other["at"][-32:])
            for at in wrong:
                assert reader.ask("GET", f"{at}/{end}", X_Gspa_Token=None)[0] == 403
        assert bench.Guard(reader.port).seal(one["id"]) not in one["at"]  # each server has a token of its own
        # And for reading it alone.
        assert reader.ask("DELETE", f"{one['at']}/notebook", X_Gspa_Token=None)[0] in (403, 405)
        assert reader.ask("GET", one["at"], X_Gspa_Token=None)[0] == 403
        assert reader.ask("GET", one["at"][:-33], X_Gspa_Token=None)[0] == 403

    @pytest.mark.parametrize("path", ["/", "/notebooks/01_page.html", "/_static/a.css", "/bench/runs"])
    def test_a_name_that_somebody_elses_dns_points_here_is_served_nothing(self, reader, path):
        status, text, _ = reader.ask("GET", path, Host=f"evil.example:{reader.port}")
        assert (status, "a style" in text, reader.token in text) == (403, False, False)

    @pytest.mark.parametrize("path", ["/", "/notebooks/01_page.html", "/bench/"])
    def test_the_book_is_anybodys_to_read_and_the_token_is_in_no_answer(self, reader, path):
        for token in (None, reader.token):
            status, text, headers = reader.ask("GET", path, X_Gspa_Token=token)
            assert (status, reader.token in text, reader.token in str(headers)) == (200, False, False)

    def test_no_other_site_frames_or_reads_it_and_no_answer_sets_a_cookie(self, reader):
        """A browser sends a cookie to every port of the machine, and other users have ports too."""
        done = reader.wait(reader.post(n=4)["id"], "done")
        page = f"{done['at']}/page/notebooks/01_page.html"
        for path in ("/", "/bench/", "/bench/runs", page, f"/?token={reader.token}", "/nothing.html"):
            headers = reader.ask("GET", path)[2]
            assert headers["Set-Cookie"] is None
            assert headers["X-Frame-Options"] == "DENY"
            assert headers["Access-Control-Allow-Origin"] is None
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin"

    def test_a_page_that_has_not_changed_is_not_sent_again(self, reader):
        kept = reader.ask("GET", "/notebooks/01_page.html")[2]["Last-Modified"]
        assert reader.ask("GET", "/notebooks/01_page.html", If_Modified_Since=kept)[0] == 304

    @pytest.mark.parametrize(
        ("asked", "served"),
        [("localhost:80", True), ("LOCALHOST", True), ("127.0.0.1", True), ("127.0.0.1:81", False), ("", False)],
    )
    def test_at_port_80_browsers_leave_the_port_out(self, asked, served):
        assert bench.Guard(80).serves(asked) is served


PAGE = '{"notebook": "01_page", "parameters": %s}'
NO_NOTEBOOKS = (
    *("", "01_page.ipynb", "../notebooks/01_page", "/etc/passwd", "01_pag", "sweep_page"),
    *("02_not_in_the_site", "01_page\x00", "01_page/../01_page", "..", "*"),
)
NO_BODIES = (
    *("", "{", "[]", "7", '"01_page"', "{}", '{"notebook": 1}', "\xff", "[" * 60000, PAGE % "[]"),
    '{"notebook": "01_page", "output": "x.ipynb"}',
    '{"notebook": "01_page", "axes": {"n": "1,2"}}',
)
ODD_VALUES = (
    *('{"\\ud800": 1}', '{"n": "\\ud800"}', '{"profile": "\\ud800"}', '{"\\n\\r\\n": "\\u2028\\u0000"}'),
    '{"n": ' + "[" * 900 + "]" * 900 + "}",
    '{"n": ' + '{"a":' * 400 + "1" + "}" * 400 + "}",
)


class TestWhatMayBeAsked:
    @pytest.mark.parametrize(
        ("body", "says"),
        [
            *((json.dumps({"notebook": name}), "notebook '.*': does not exist") for name in (*NO_NOTEBOOKS, "\ud800")),
            *((body, "^body: must be JSON with") for body in NO_BODIES),
            (PAGE % '{"m": 4}', "does not exist"),
            (PAGE % '{"n": 101}', "an integer"),
            *((PAGE % given, "01_page: ") for given in ODD_VALUES),
        ],
    )
    def test_only_a_notebook_of_the_site_with_what_its_schema_allows(self, reader, here, instant, body, says):
        status, text, _ = reader.ask("POST", "/bench/runs", body.encode("latin-1"))
        assert (status, text.count("\n"), text.count("\r"), instant) == (422, 1, 0, [])
        assert re.search(says, text)
        assert [one for one in (here.build / "bench").iterdir() if one.is_dir()] == []

    @pytest.mark.parametrize("size", [bench.BODY + 1, 32 * 2**20])
    @pytest.mark.parametrize(
        ("method", "path"), [("POST", "/bench/runs"), ("GET", "/"), ("DELETE", "/bench/runs/" + 16 * "0")]
    )
    def test_the_library_hangs_up_on_a_large_body(self, reader, instant, size, method, path):
        with suppress(ConnectionError):  # it is still being sent
            assert reader.ask(method, path, json.dumps(GOOD).encode().ljust(size))[0] == 400
        assert instant == []

    @pytest.mark.parametrize("chunks", [1, 100])
    def test_a_body_in_chunks_is_no_way_round_the_limit(self, reader, instant, chunks):
        body = chunks * (b"10001\r\n" + json.dumps(GOOD).encode().ljust(0x10001) + b"\r\n") + b"0\r\n\r\n"
        with suppress(ConnectionError):
            answer = raw(reader, "POST /bench/runs", body, Transfer_Encoding="chunked")
            assert answer.startswith(b"HTTP/1.1 400 ")
        assert instant == []

    @pytest.mark.parametrize(
        "path", ["/..", "/nothing.html", "/_static/", "/%25s%25d", "/_static/../../x", "/bench/%s"]
    )
    def test_a_refusal_is_one_line_of_words(self, reader, path):
        status, text, headers = reader.ask("GET", path)
        assert 400 <= status < 500
        assert text.count("\n") == 1
        assert "%s" not in text.replace(path, "").replace(path.replace("%25", "%").lstrip("/"), "")
        assert headers["Content-Type"].startswith("text/plain")

    @pytest.mark.parametrize(
        "path",
        [
            "//evil.example/?token=TOKEN",
            "//evil.example/..",
            "//evil.example/%2e%2e",
            "///evil.example/..",
            "/\\evil.example/..",
            "\\\\evil.example/..",
            "http://evil.example/../..",
            "http:..",
            "//evil.example/../bench/",
            "/_static?token=TOKEN",
        ],
    )
    def test_no_path_is_sent_to_another_site(self, reader, path):
        request = f"GET {path.replace('TOKEN', reader.token)}"
        answer = raw(reader, request, X_Gspa_Token=reader.token)
        where = re.search(rb"(?i)\r\nLocation: *(.*?)\r\n", answer)
        assert where is None or re.match(rb"/[^/\\]", where[1]), answer

    def test_an_idle_connection_is_closed(self, serving, instant, monkeypatch):
        monkeypatch.setattr(bench, "IDLE", 0.2)
        reader = serving()
        for sent in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "):
            with socket.create_connection(("127.0.0.1", reader.port), timeout=10) as idle:
                idle.sendall(sent)
                assert idle.recv(100) == b""

    @pytest.mark.parametrize(
        "path",
        [
            "/../../notebooks/01_page.ipynb",
            "/..%2f..%2fnotebooks/01_page.ipynb",
            "/%2e%2e/%2e%2e/notebooks/01_page.ipynb",
            "//etc/passwd",
            "/%2fetc%2fpasswd",
            "/notebooks/../../../notebooks/01_page.ipynb",
            "AT/page/../run.json",
            "AT/page/..%2frun.json",
            "AT/page/%2e%2e/%2e%2e/.lock",
            "AT/page//etc/passwd",
            "/bench/runs/../../run.json",
            "/bench/runs/ID/run.json",
            "/link.html",
            "AT/page/link.html",
            "/notebooks/01_page.html%00.css",
        ],
    )
    def test_no_path_leads_out(self, here, reader, path):
        done = reader.wait(reader.post(n=4)["id"], "done")
        for folder in (here.html, here.build / "bench" / done["id"] / "page"):
            (folder / "link.html").symlink_to(here.root / "notebooks" / "01_page.ipynb")
        status, text, _ = reader.ask("GET", path.replace("AT", done["at"]).replace("ID", done["id"]))
        assert status in (400, 403, 404)
        assert "nbformat" not in text
        assert "root:" not in text
        assert '"profile"' not in text

    @pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS"])
    def test_other_methods(self, reader, method):
        assert reader.ask(method, "/bench/runs")[0] == 405

    def test_a_long_queue_is_refused(self, here, serving, rendered, monkeypatch):
        hold = threading.Event()
        instead(monkeypatch, lambda task: "" * hold.wait(60))
        monkeypatch.setattr(bench_runs, "QUEUED", 3)
        reader = serving()
        try:
            for n in range(1, 5):
                assert reader.wait(reader.post(n=n)["id"], *(["running"] if n == 1 else ["queued"]))
            status, text = reader.post(n=5)
            assert (status, text.startswith("queue: 3 runs are waiting")) == (429, True)
            assert reader.post(n=2)["state"] == "queued"  # one that waits is not asked for twice
        finally:
            hold.set()

    def test_what_this_machine_cannot_serve(self, here, serving, instant):
        def unusable(values):
            if values["n"] == 4:
                raise CheckFailed("device: no such thing here")

        reader = serving(opened(here, unusable))
        assert reader.post(n=4) == (422, "device: no such thing here\n")

    def test_no_parameter_of_the_book_takes_free_text(self):
        for notebook in parameters.discover(Project(ROOT)).values():
            for name, entry in notebook.properties.items():
                parts = entry["items"] if entry["type"] == "array" else entry
                assert parts["type"] in ("number", "integer", "boolean") or "enum" in parts, (notebook.name, name)


class TestRuns:
    def test_a_run_and_what_moved(self, here, reader, instant):
        asked = reader.post(n=4, c="0.25")
        done = reader.wait(asked["id"], "done")
        assert instant == [{"profile": "paper", "n": 4, "c": 0.25}]
        assert done["changed"] == [
            {"name": "n", "value": "4", "was": "3"},
            {"name": "c", "value": "0.25", "was": "0.5"},
        ]
        assert done["command"] == "gspa run 01_page -p n 4 -p c 0.25"
        assert done["link"] == "/notebooks/01_page.html?profile=paper&n=4&c=0.25#bench"
        cells = [
            [one.decode_contents() for one in row("td")] for row in BeautifulSoup(done["moved"], "html.parser")("tr")
        ]
        assert cells[1:] == [["six", "18", "<mark>24</mark>"]]
        # It is compared with the site as it is now.
        (here.html / "_sources" / "notebooks" / "01_page.ipynb").write_text(executed(5))
        assert ">30<" in reader.one(done["id"])["moved"]

    def test_the_same_again_is_answered_at_once_also_by_the_next_server(self, here, reader, instant):
        first = reader.wait(reader.post(n=4)["id"], "done")
        assert reader.post(n="4", c=0.5)["state"] == "done"
        later = shutil.copytree(here.root, here.root.with_name("copy"))  # the lock is the first one's
        with closing(opened(Project(later))) as runs:
            assert runs.ask("01_page", {"n": 4})["state"] == "done"
            assert [one["id"] for one in runs.listed()] == [first["id"]]
        assert len(instant) == 1
        add(here, "01_page", *SAYS, "1 + 1")
        assert reader.post(n=4)["id"] != first["id"]  # of another source

    def test_a_package_that_changes_under_a_run_fails_it(self, here, serving, rendered, monkeypatch):
        with monkeypatch.context() as changed:
            instead(monkeypatch, lambda task: changed.setattr(provenance, "digest_tree", lambda *_: "another") or "")
            reader = serving()
            assert "changed while this ran" in reader.wait(reader.post(n=4)["id"], "failed")["reason"]
        provenance.source_digest.cache_clear()

    def test_a_package_that_changed_under_the_server_is_refused(self, here, reader, instant, monkeypatch):
        with monkeypatch.context() as changed:
            changed.setattr(provenance, "digest_tree", lambda *_: "another")
            status, text = reader.post(n=4)
        provenance.source_digest.cache_clear()
        assert (status, "start it again" in text, instant) == (409, True, [])

    def test_a_failure_is_one_line_and_can_be_tried_again(self, reader, instant, here):
        failed = reader.wait(reader.post(n=13)["id"], "failed")
        assert failed["reason"] == "notebook 01_page, cell 3: ValueError: thirteen"
        assert not (here.build / "bench" / failed["id"]).exists()
        done = reader.wait(reader.post(n=6)["id"], "done")
        reader.wait(reader.post(n=13)["id"], "failed")
        assert len(instant) == 3
        # The list has the newest first.
        listed = [one["id"] for one in json.loads(reader.ask("GET", "/bench/runs")[1])["runs"]]
        assert listed == [failed["id"], done["id"]]

    def test_downloads(self, reader):
        done = reader.wait(reader.post(n=4)["id"], "done")
        found = {kind: reader.whole("GET", f"{done['at']}/{kind}") for kind in ("notebook", "html", "csv")}
        stem = f"01_page-{done['id'][:8]}"
        _, notebook, headers = found["notebook"]
        assert (headers["Content-Disposition"], notebook) == (
            f'attachment; filename="{stem}.ipynb"',
            executed(4).encode(),
        )
        csv = zipfile.ZipFile(io.BytesIO(found["csv"][1]))
        assert csv.read(f"{stem}/numbers.csv") == f"name,value\nsix,24\nverdict {CLAIM},verified\n".encode()
        assert csv.read(f"{stem}/figure.csv") == b"x\n1\n"
        names = zipfile.ZipFile(io.BytesIO(found["html"][1])).namelist()
        assert {f"{stem}/notebooks/01_page.html", f"{stem}/_static/a.css"} <= set(names)

    def test_the_page_of_a_run_has_its_head_and_marks_what_it_changed(self, reader):
        page = f"{reader.wait(reader.post(n=4)['id'], 'done')['at']}/page/notebooks/01_page.html"
        assert reader.ask("HEAD", page)[:2] == reader.ask("HEAD", "/index.html")[:2] == (200, "")
        soup = BeautifulSoup(reader.ask("GET", page)[1], "html.parser")
        assert soup.select_one(".gspa-changes li").get_text() == "n = 4, was 3"
        assert soup.find("a", href="/_static/a.css") is not None  # the site's, which a run does not copy
        assert json.loads(soup.find(id="gspa-run").string)["values"]["n"] == "4"

    def test_the_oldest_goes_when_there_are_too_many(self, reader, here, monkeypatch):
        monkeypatch.setattr(bench_runs, "KEPT", 2)
        ids = [reader.wait(reader.post(n=n)["id"], "done")["id"] for n in (4, 5, 6)]
        assert {path.name for path in (here.build / "bench").iterdir() if path.is_dir()} == set(ids[1:])
        assert reader.ask("GET", f"/bench/runs/{ids[0]}")[0] == 404

    @pytest.mark.parametrize(
        "text",
        [
            *("", "{", "[]", "7", "null", '"x"', "[" * 100_000, '{"a":' * 100_000, b"\xff\xfe", "9" * 5000, "{}", None),
            *({"finished": 2.0}, {"id": "../../html"}, {"notebook": "../../x"}, {"more": {}}),  # edited
        ],
    )
    def test_a_record_that_is_none_takes_away_no_other_run(self, here, instant, text):
        kept = a_kept_run(here)
        other = shutil.copytree(kept, kept.with_name(16 * "f")) / "run.json"
        if isinstance(text, dict):
            facts = json.loads(other.read_text())["facts"] | {"id": 16 * "f"}
            text = json.dumps(bench_runs._sealed(facts) | {"facts": facts | text})
        other.unlink()
        if text is None:
            other.mkdir()
        else:
            other.write_bytes(text if isinstance(text, bytes) else text.encode())
        with closing(opened(here)) as runs:
            assert [one["id"] for one in runs.listed()] == [kept.name]
        assert not other.exists()

    def test_what_is_not_a_runs_folder_is_left_alone(self, here, instant):
        (here.build / "bench" / "my notes").mkdir(parents=True)
        opened(here).close()
        assert (here.build / "bench" / "my notes").is_dir()

    @pytest.mark.parametrize("gone", ["", "run.json", "notebook.ipynb", "page", "page/notebooks/01_page.html"])
    def test_a_kept_run_whose_files_are_gone_is_run_again(self, here, reader, instant, gone):
        done = reader.wait(reader.post(n=4)["id"], "done")
        lost = here.build / "bench" / done["id"] / gone
        if lost.is_dir():
            shutil.rmtree(lost)
        else:
            lost.unlink()
        assert reader.ask("GET", f"/bench/runs/{done['id']}")[0] == 404
        assert reader.ask("GET", f"{done['at']}/notebook")[0] == 404
        assert json.loads(reader.ask("GET", "/bench/runs")[1])["runs"] == []
        again = reader.wait(reader.post(n=4)["id"], "done")
        assert (again["id"], len(instant)) == (done["id"], 2)
        assert reader.ask("GET", f"{again['at']}/page/notebooks/01_page.html")[0] == 200

    def test_a_damaged_notebook_of_a_kept_run_is_said(self, here, reader):
        done = reader.wait(reader.post(n=4)["id"], "done")
        (here.build / "bench" / done["id"] / "notebook.ipynb").write_text('{"cells": [1')
        assert "is damaged" in reader.one(done["id"])["moved"]

    def test_stopped_runs_that_waited_are_not_kept_without_bound(self, here, serving, rendered, monkeypatch):
        hold = threading.Event()
        instead(monkeypatch, lambda task: "" * hold.wait(60))
        monkeypatch.setattr(bench_runs, "KEPT", 3)
        with closing(opened(here)) as runs:
            try:
                runs.ask("01_page", {"n": 100})
                for n in range(1, 40):
                    runs.stop(runs.ask("01_page", {"n": n})["id"])
                last = runs.ask("01_page", {"n": 99})["id"]
                assert len(runs.listed()) <= 3 + 2
                assert runs.one(last)["state"] == "queued"
            finally:
                hold.set()
            until(lambda: not any(one["state"] in ("queued", "running") for one in runs.listed()))
            assert len(runs.listed()) <= 3 + 2

    def test_a_run_is_compared_with_the_same_profile_only(self, here, serving, instant):
        reader = serving()  # of a site of the profile paper
        alone = reader.wait(reader.post(n=4, profile="quick")["id"], "done")
        assert "No comparison is possible" in alone["moved"]
        assert "<mark>" not in alone["moved"]
        usual = reader.wait(reader.post(profile="quick")["id"], "done")
        found = reader.one(alone["id"])["moved"]
        assert "With the defaults of profile quick" in found
        assert ">18<" in found
        assert "No evidence" in reader.one(usual["id"])["moved"]
        assert "On the site" in reader.wait(reader.post(n=4)["id"], "done")["moved"]
        # And with what a build of that profile has kept.
        here.executed("quick").mkdir(parents=True)
        (here.executed("quick") / "01_page.ipynb").write_text(executed(5))
        found = reader.one(alone["id"])["moved"]
        assert ("In the book, profile quick" in found, ">30<" in found) == (True, True)

    @pytest.mark.parametrize("record", ["", "[]", '{"profile": "other"}', '{"profile": ["paper"]}'])
    def test_a_site_that_does_not_say_its_profile_is_compared_with_nothing(self, here, serving, instant, record):
        (here.html / "build-record.json").write_text(record)
        reader = serving()
        assert "No comparison" in reader.wait(reader.post(n=4)["id"], "done")["moved"]

    def test_a_second_server_of_one_checkout_is_refused(self, here, reader):
        with pytest.raises(CheckFailed, match="another gspa serve is running"):
            opened(here)


class TestRealNotebooks:
    """With kernels, in this process's server."""

    def test_progress_by_cell_then_the_numbers(self, here, serving, rendered):
        runs = opened(here)
        reader, seen = serving(runs), []
        asked = reader.post(n=4)["id"]
        while (now := reader.one(asked))["state"] in ("queued", "running"):
            seen.append((now["done"], now["cells"]))
            time.sleep(0.005)
        reader.wait(asked, "done")
        assert len(set(seen)) > 2
        assert max(cells for _, cells in seen) == 6  # the title, the parameters twice, and three
        with zipfile.ZipFile(io.BytesIO(runs.download(asked, "csv")[1])) as packed:
            assert "six,24" in packed.read(packed.namelist()[0]).decode()

    def test_a_run_is_stopped_with_its_processes_and_leaves_nothing(self, here, serving):
        told = here.root / "pid"
        add(here, "01_page", f"import os, time\nopen({str(told)!r}, 'w').write(str(os.getpid()))\ntime.sleep(120)")
        reader = serving()
        first, second = reader.post(n=4)["id"], reader.post(n=5)["id"]
        pid = number(told)
        assert reader.ask("DELETE", f"/bench/runs/{second}")[0] == 200  # it waits still
        assert reader.ask("DELETE", f"/bench/runs/{first}")[0] == 200
        assert reader.wait(first, "stopped")
        assert reader.one(second)["state"] == "stopped"
        assert ended(pid)
        assert [path for path in (here.build / "bench").iterdir() if path.is_dir()] == []
        assert reader.ask("DELETE", f"/bench/runs/{first}")[0] == 409


class TestTheServersEnd:
    @pytest.fixture
    def start(self, here):
        """Starts the command in a process of its own."""
        started = []

        def command(option: str = "--no-browser", **named: str) -> tuple[subprocess.Popen[str], Reader]:
            process = subprocess.Popen(
                [sys.executable, "-m", "gspa", "serve", option],
                cwd=here.root,
                env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"} | named,
                stdout=subprocess.PIPE,
                text=True,
            )
            started.append(process)
            return process, Reader(process.stdout.readline())

        yield command
        for process in started:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_the_browsers_command_has_no_token(self, here, start, tmp_path):
        """Other users of this machine see a process's words."""
        browser, asked = tmp_path / "browser", tmp_path / "asked"
        browser.write_text(f'#!/bin/sh\necho "$1" > {asked}.part\nmv {asked}.part {asked}\n')
        browser.chmod(0o755)
        _, reader = start("--browser", BROWSER=f"{browser} %s")
        until(asked.exists)
        page = Path(unquote(urlsplit(asked.read_text().strip()).path))
        assert reader.token not in asked.read_text()
        assert f"/bench/#token={reader.token}" in page.read_text()
        assert page.stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize(
        "signalled",
        [signal.SIGKILL, *(pytest.param(one, marks=pytest.mark.slow) for one in (signal.SIGTERM, signal.SIGINT))],
    )
    def test_no_orphan_and_nothing_half_done_and_the_next_one_has_what_was_finished(
        self, here, start, instant, signalled
    ):
        told, kept = here.root / "pid", a_kept_run(here)
        add(here, "01_page", f"import os, time\nopen({str(told)!r}, 'w').write(str(os.getpid()))\ntime.sleep(120)")
        process, reader = start()
        asked = reader.post(n=4)["id"]
        pid = number(told)
        process.send_signal(signalled)
        process.wait(30)
        assert ended(pid)
        assert not (here.build / "bench" / asked).exists()
        with closing(opened(here)) as runs:
            assert [one["id"] for one in runs.listed()] == [kept.name]
        assert {path.name for path in (here.build / "bench").iterdir() if path.is_dir()} == {kept.name}


class TestForm:
    @pytest.mark.parametrize("profile", parameters.PROFILES)
    def test_each_parameter_of_each_page_has_a_labelled_field_with_its_default_and_range(self, profile):
        for notebook in parameters.discover(Project(ROOT)).values():
            soup = BeautifulSoup(panel.html(notebook, profile), "html.parser")
            usual = notebook.defaults(profile)
            for name, entry in notebook.properties.items():
                field = soup.find(id=f"bench-{name}")
                assert soup.find("label", attrs={"for": field["id"]}).get_text() == name
                assert parameters.allowed(entry) in soup.find(id=field["aria-describedby"]).get_text()
                given = field.find("option", selected=True).get_text() if field.name == "select" else field["value"]
                assert given == parameters.written(usual[name])
                assert field[f"data-{profile}"] == given
                for html, schema in (("min", "minimum"), ("max", "maximum")):
                    if schema in entry and field.get("type") == "number":
                        assert float(field[html]) == entry[schema]
            assert (
                notebook.validate(
                    {f["name"]: f["value"] for f in soup.select("input[aria-describedby]")}, profile=profile
                )
                == usual
            )
            command = f"gspa run {notebook.name}" + ("" if profile == "paper" else f" --profile {profile}")
            assert soup.find("code", attrs={"data-bench-command": True}).get_text() == command

    def test_what_a_schema_says_is_text(self, here):
        entry = {"type": "integer", "default": 1, "description": '<script>alert("1")</script>'}
        notebook = add(here, "03_bad", "1", properties=PROPERTIES | {"n": entry})
        assert "<script" not in panel.html(notebook, "paper")


def shown(*cards: claims.Outcome) -> dict[str, object]:
    """A notebook with these cards."""
    return {"cells": [{"outputs": outputs(card)} for card in cards]}


def judged(verdict: str = "verified", **evidence: object) -> dict[str, object]:
    return shown(claims.Outcome(CLAIM, verdict, "So.", evidence))


class TestMoved:
    def test_a_row_that_one_card_lacks_and_a_card_that_one_page_lacks(self):
        found = moved.between(judged(gap=1.0, same=2), judged(new="$x$", same=2))
        assert found.evidence == [(CLAIM, "gap", 1.0, None), (CLAIM, "new", None, "$x$")]
        assert moved.between(judged(gap=1), shown()) == moved.between(shown(), judged(gap=1))
        assert "No evidence" in moved.between(judged(gap=1), judged(gap=1)).html("Before")

    def test_a_terminal_has_a_line_for_the_evidence_of_a_claim_and_one_for_its_verdict(self):
        before, after = judged(gap=[1, 2e-9], same=2), judged("refuted", gap=[3, "$x$"], same=2, new=1.5)
        assert moved.between(before, after).lines() == [
            f"{CLAIM:8} gap: 1, 2 x 10^-9 -> 3, x (and 1 more)",
            f"{CLAIM:8} verified -> refuted",
        ]
        assert moved.between(before, before).lines() == []

    def test_a_run_that_changed_what_the_paper_states_says_that_and_no_evidence(self):
        other = shown(claims.Outcome(CLAIM, "not yet checked", "This run changed n.", missing="settings"))
        found = moved.between(judged(gap=1.0), other)
        assert (found.evidence, found.unsettled) == ([], "This run changed n.")
        assert "So its verdicts are open." in found.html("Before")
        assert found.lines()[-1] == "This run changed n. So its verdicts are open."

    def test_a_verdict_that_stands_in_some_readings_says_so(self):
        whole, some = (
            shown(claims.Outcome(CLAIM, "verified", "So.", {"gap": 1.0}, readings=readings))
            for words in (("verified", "verified"), ("verified", "refuted"))
            for readings in [tuple(verdicts.Reading(word, word, "So.") for word in words)]
        )
        soup = BeautifulSoup(moved.between(whole, some).html("Before"), "html.parser")
        assert [(" ".join(cell.get_text().split()), cell.span["class"]) for cell in soup("td")] == [
            ("verified", ["gspa-verified"]),
            ("verified in 1 of 2 readings", ["gspa-verified"]),
        ]
        assert "<td" not in moved.between(some, some).html("Before")

"""`gspa serve`: the built site, and runs of its notebooks that a reader asks for from a page.

The static pages are anybody's who reaches the port. What is under /bench/ needs the token of the address that was
printed, as a header; what changes something needs an Origin of this server as well, and everything its Host. There is
no cookie: a browser sends those to every port of a machine. The address has the token behind its #, which is sent
nowhere; a page keeps it in the browser's storage, which is one origin's own, and the pages' script takes it from there.
A link has no header, so the files of a run have addresses that only the token makes. A parameter passes the notebook's
schema, and a notebook is one of the site's: no path and no code comes in.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import secrets
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError
from tornado.web import Application, HTTPError, RequestHandler, StaticFileHandler

from gspa.accountant.errors import GspaError, InvalidValue
from gspa.book.bench_runs import Bench, Refused
from gspa.book.fill import fill

HOST = "127.0.0.1"
"""Served is this machine alone; from another one a tunnel (`ssh -L`) leads here."""
BODY = 64 * 1024
"""Bytes of a request."""
IDLE = 60.0
"""Seconds until a connection that asks nothing is closed."""
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
# Of a run's page only what is its own is kept; the rest is the site's.
_SHARED = re.compile(r"""(?<=["'])\.\./(?!_static/data/|_images/|_sources/|_downloads/|notebooks/)""")

# A book of one page knows no other: its links to them are left as they were written.
_OTHERS = (
    (re.compile(r'href="#\.\./([\w/]+)\.md(#[\w-]*)?"'), r'href="/\1.html\2"'),
    (re.compile(r'href="#(\w+)\.ipynb(#[\w-]*)?"'), r'href="/notebooks/\1.html\2"'),
)


class Guard:
    """Who may ask for what.

    Attributes:
        token: in the address that was printed, drawn anew by each server.
    """

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(24)
        self._hosts = {f"{name}:{port}" for name in (HOST, "localhost")}
        if port == 80:  # browsers leave it out
            self._hosts |= {HOST, "localhost"}

    def serves(self, host: str) -> bool:
        """Whether a Host header names this server: a name that an attacker's DNS points here does not."""
        return host.lower() in self._hosts

    def knows(self, given: str | None) -> bool:
        """Whether this is the token."""
        return hmac.compare_digest((given or "").encode(), self.token.encode())

    def seal(self, identifier: str) -> str:
        """What the addresses of a run's files end with: for reading this run, until the server ends."""
        return hmac.new(self.token.encode(), identifier.encode(), "sha256").hexdigest()[:32]


class Guarded(RequestHandler):
    """What all answers have in common: the guard, headers, and refusals of one line."""

    def initialize(self, guard: Guard, bench: Bench) -> None:
        self.guard, self.bench = guard, bench

    def set_default_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.set_header(name, value)

    def known(self) -> bool:
        """Whether the reader came with the token."""
        return self.guard.knows(self.request.headers.get("X-Gspa-Token"))

    def prepare(self) -> None:
        """Before anything is answered."""
        host, origin = self.request.headers.get("Host", ""), self.request.headers.get("Origin", "")
        if not self.guard.serves(host):
            raise HTTPError(403, "Host: is not the address that gspa serve printed")
        if not re.match(r"/(?![/\\])", self.request.path):  # a folder's redirect would leave this site
            raise HTTPError(404, "path: must begin with one slash")
        changes = self.request.method not in ("GET", "HEAD")
        if changes and origin != f"http://{host}":
            raise HTTPError(403, "Origin: is not this site")
        if (changes or self.request.path.startswith("/bench/")) and not self.known():
            raise HTTPError(403, "token: is missing or wrong; open the address that gspa serve printed")

    def log_exception(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, HTTPError | GspaError | StreamClosedError):
            super().log_exception(kind, error, trace)

    def write_error(self, status_code: int, **more: Any) -> None:
        error = (more.get("exc_info") or (None, None))[1]
        line = self._reason
        if isinstance(error, HTTPError) and error.log_message:
            line = error.log_message % error.args
        if isinstance(error, GspaError):
            self.set_status(error.status if isinstance(error, Refused) else 422)
            line = str(error)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{' '.join(line.split())}\n")

    def told(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """A run with the address of its files."""
        return {**facts, "at": f"/bench/runs/{facts['id']}-{self.guard.seal(facts['id'])}"}


async def apart(work: Callable[..., Any], *given: Any) -> Any:
    """What may take a while, in a thread, so that others are answered meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(None, work, *given)


class Runs(Guarded):
    """All runs; a new one."""

    def get(self) -> None:
        self.finish({"runs": [self.told(one) for one in self.bench.listed()]})

    async def post(self) -> None:
        try:
            asked = json.loads(self.request.body)
            name, given = asked["notebook"], asked.get("parameters", {})
            if not isinstance(name, str) or not isinstance(given, dict) or set(asked) - {"notebook", "parameters"}:
                raise TypeError
        except (ValueError, KeyError, TypeError, RecursionError):
            raise Refused(422, "body: must be JSON with notebook and parameters") from None
        self.finish(self.told(await apart(self.bench.ask, name, given)))


class Run(Guarded):
    """One run: how far it is; its end."""

    async def get(self, identifier: str) -> None:
        facts = self.told(self.bench.one(identifier))
        self.finish(facts | {"moved": await apart(self.bench.moved, identifier)})

    async def delete(self, identifier: str) -> None:
        await apart(self.bench.stop, identifier)
        self.finish(self.told(self.bench.one(identifier)))


class Sealed(Guarded):
    """A file of a run: also for who has its address, from a page that has the token."""

    def known(self) -> bool:
        identifier, seal, *_ = self.path_args
        return hmac.compare_digest(seal, self.guard.seal(identifier)) or super().known()


class Download(Sealed):
    """A finished run as a file."""

    async def get(self, identifier: str, seal: str, kind: str) -> None:
        name, content = await apart(self.bench.download, identifier, kind)
        self.set_header("Content-Type", "application/octet-stream")
        self.set_header("Content-Disposition", f'attachment; filename="{name}"')
        self.finish(content)


class Files(Guarded, StaticFileHandler):
    """The site's files."""

    def initialize(self, guard: Guard, bench: Bench) -> None:  # type: ignore[override]
        Guarded.initialize(self, guard, bench)
        StaticFileHandler.initialize(self, str(bench.project.html.resolve()), "index.html")

    def compute_etag(self) -> None:
        """None, so that a file's time counts: tornado's own is kept while the site is built anew."""

    async def get(self, path: str, include_body: bool = True) -> None:
        if "\0" in path:
            raise HTTPError(404)
        await super().get(path, include_body)


class Page(Sealed, Files):
    """The page of a run, with what it changed and what moved."""

    async def head(self, identifier: str, seal: str, path: str) -> None:  # type: ignore[override]
        await self.get(identifier, seal, path, include_body=False)

    async def get(self, identifier: str, seal: str, path: str, include_body: bool = True) -> None:  # type: ignore[override]
        self.root = str(self.bench.path(identifier, "page").resolve())
        facts = self.told(self.bench.one(identifier))
        if path != f"notebooks/{facts['notebook']}.html":
            await super().get(path, include_body)
            return
        page = Path(self.root, path).read_text(encoding="utf-8")
        self.set_header("Cache-Control", "no-store")
        await self.finish(self.filled(page, facts, await apart(self.bench.moved, identifier)))

    def filled(self, page: str, facts: Mapping[str, Any], moved: str) -> str:
        """The page with the run's own part, and links to the site instead of to its neighbours."""
        head = fill("bench_result.html", run=facts, moved=moved)
        data = json.dumps(facts).replace("<", "\\u003c")
        page = _SHARED.sub("/", page)
        for written, meant in _OTHERS:
            page = written.sub(meant, page)
        before, article, after = page.partition("<article")
        page = before + article + after.replace("</h1>", f"</h1>\n{head}", 1)
        return page.replace("</body>", f'<script type="application/json" id="gspa-run">{data}</script></body>', 1)


class Icon(Guarded):
    """Browsers ask for one, and the book has none."""

    def get(self) -> None:
        self.set_status(204)


class Home(Guarded):
    """Where the printed address leads: keeps the token for the pages' script, and goes on to the book."""

    def known(self) -> bool:
        return True

    def get(self) -> None:
        self.finish(fill("bench_home.html"))


def application(guard: Guard, bench: Bench) -> Application:
    """The addresses and what answers there."""
    common = {"guard": guard, "bench": bench}
    one = r"/bench/runs/([0-9a-f]{16})"
    sealed = rf"{one}-([0-9a-f]{{32}})"
    quiet: Callable[[RequestHandler], None] = lambda handler: None  # noqa: E731
    return Application(
        [
            (r"/bench/", Home, common),
            (r"/bench/runs", Runs, common),
            (one, Run, common),
            (rf"{sealed}/(notebook|csv|html)", Download, common),
            (rf"{sealed}/page/(.*)", Page, common),
            (r"/favicon\.ico", Icon, common),
            (r"/?(.*)", Files, common),  # what begins with no slash too: no answer is without the guard
        ],
        log_function=quiet,
    )


def server(guard: Guard, bench: Bench) -> HTTPServer:
    """With limits: of a request's size and time, and of idle connections' time."""
    return HTTPServer(
        application(guard, bench),
        idle_connection_timeout=IDLE,
        body_timeout=10,
        max_body_size=BODY,
        max_header_size=16 * 1024,
    )


def serve(bench: Bench, *, port: int, ready: Callable[[str], None]) -> None:
    """Serve until an interrupt, which SIGTERM is as well; what is at work then is ended."""
    try:
        asyncio.run(_serve(bench, port, ready))
    finally:
        bench.close()


async def _serve(bench: Bench, port: int, ready: Callable[[str], None]) -> None:
    try:
        listening = socket.create_server((HOST, port), backlog=128)
    except OSError as error:
        raise InvalidValue("port", port, f"a free port ({error.strerror})", "--port 0 picks one") from None
    listening.setblocking(False)
    port = listening.getsockname()[1]
    guard = Guard(port)
    answering = server(guard, bench)
    answering.add_socket(listening)
    ready(f"http://{HOST}:{port}/bench/#token={guard.token}")
    try:
        await asyncio.Event().wait()  # until it is interrupted
    finally:
        answering.stop()

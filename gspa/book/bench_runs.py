"""Runs and sweeps that readers ask for from a page: a queue, and a store that outlives the server.

A finished one lies in `_build/bench/ID`: the executed notebook and its page, or a sweep's table and figure, and
`run.json`, which is written last. A folder without that file was left by a killed server, and is removed when the next
one starts.
"""

from __future__ import annotations

import base64
import io
import json
import logging
import math
import re
import shutil
import time
import zipfile
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock, Thread, Timer
from typing import Any
from urllib.parse import urlencode

from filelock import FileLock, Timeout
from jsonschema import Draft202012Validator

from gspa.accountant.errors import CheckFailed, GspaError, InvalidValue, UnknownName
from gspa.book import build_record, figures, moved, parameters, provenance, run, site, sweep, sweep_page
from gspa.book.cluster import Cluster, Data, Target, first_line
from gspa.book.fill import fill
from gspa.book.parameters import Notebook, Value
from gspa.book.project import Project
from gspa.files import digest, ensure_writable, remove_abandoned, write_atomically

QUEUED = 20
"""Runs that may wait."""
KEPT = 200
"""Finished runs that are kept, and others that are remembered; the oldest goes first."""
SETTINGS = 60
"""Settings of one sweep from a page; the command takes more."""
COLUMNS = 8
"""Results that a sweep's table on a page shows; the CSV file has all."""
_UNDER_WAY = ("queued", "running", "rendering")
_ENDED = ("failed", "stopped")
_RECORD, _NOTEBOOK, _SWEEP, _PAGE, _TABLE = "run.json", "notebook.ipynb", "sweep.html", "page", "table.csv"
_DATA = "_static/data"
_TEXT, _NUMBER = {"type": "string"}, {"type": "number", "minimum": 0, "maximum": 1e12}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_FORM = {
    "id": {"pattern": "^[0-9a-f]{16}$"},
    "kind": {"enum": ["run", "sweep"]},
    "notebook": {"type": "string", "pattern": r"^\w+\Z"},
    "profile": {"enum": list(parameters.PROFILES)},
    "state": {"const": "done"},
    "changed": {"type": "array", "items": {**_TEXTS, "required": ["name", "value", "was"]}},
    **dict.fromkeys(("title", "reason", "command", "link"), _TEXT),
    **dict.fromkeys(("values", "axes"), _TEXTS),
    **dict.fromkeys(("done", "cells", "seconds", "finished"), _NUMBER),
}
_SOUND = Draft202012Validator(
    {"type": "object", "properties": _FORM, "required": list(_FORM), "additionalProperties": False}
)
"""What a kept run's facts are: those of `Job.told`, on which the pages rely."""
_APART = (
    "No comparison is possible: there is no page of the profile {0}, and of another one everything differs. "
    "Run the page once with the defaults of {0}; then this shows what moved."
)
_LOG = logging.getLogger(__name__)


class Refused(GspaError):
    """What cannot be done now: `status` is HTTP's."""

    def __init__(self, status: int, line: str) -> None:
        super().__init__(line)
        self.status = status


@dataclass
class Job:
    """One run, or one sweep if it has axes, and how far it is."""

    id: str
    key: str
    notebook: Notebook
    values: Mapping[str, Value]
    axes: Mapping[str, list[str]] = field(default_factory=dict)
    settings: list[dict[str, Value]] = field(default_factory=list)
    state: str = "queued"
    done: int = 0
    cells: int = 0
    reason: str = ""
    seconds: float = 0.0
    finished: float = 0.0
    children: run.Children = field(default_factory=run.Children)
    remote: Future[run.Executed] | None = None

    @property
    def kind(self) -> str:
        return "sweep" if self.axes else "run"

    @property
    def changed(self) -> dict[str, Value]:
        """The values that are not the profile's own; those of a sweep's axes are not among them."""
        usual = self.notebook.defaults(str(self.values["profile"]))
        return {name: value for name, value in self.values.items() if value != usual[name] and name not in self.axes}

    def told(self) -> dict[str, Any]:
        """What a page shows of it, ready for JSON."""
        profile = str(self.values["profile"])
        usual = self.notebook.defaults(profile)
        changed = {name: parameters.written(value) for name, value in self.changed.items()}
        entries = self.notebook.properties
        injected = {k: v for k, v in self.values.items() if v != entries[k]["default"] and k not in self.axes}
        return {
            "id": self.id,
            "kind": self.kind,
            "notebook": self.notebook.name,
            "title": self.notebook.schema.get("title", self.notebook.name),
            "profile": profile,
            "values": {name: parameters.written(value) for name, value in self.values.items()},
            "changed": [
                {"name": name, "value": value, "was": parameters.written(usual[name])}
                for name, value in changed.items()
            ],
            "axes": {name: parameters.between(entries[name]).join(texts) for name, texts in self.axes.items()},
            "state": self.state,
            "done": self.done,
            "cells": self.cells,
            "reason": self.reason,
            "seconds": round(self.seconds, 1),
            "finished": self.finished,
            "command": parameters.command(self.notebook, injected, self.axes),
            "link": f"/notebooks/{self.notebook.name}.html?{urlencode({'profile': profile} | changed)}#bench",
        }


class _Threads(sweep.Here):
    """The bench's own threads: a sweep and runs beside it take no more cores than there are."""

    def __init__(self, executor: Executor, jobs: int, data: Data, children: run.Children) -> None:
        self.executor, self.jobs, self.data, self.children = executor, jobs, data, children
        self.label = "this machine"

    def stop(self, running: Any) -> None:
        self.children.stop()
        for future in running:
            future.cancel()


class Bench:
    """The queue and the store of one checkout; one server at a time has it.

    Args:
        project: the checkout, with a built site.
        jobs: notebooks at once.
        data: gives file name to SHA-256 of the data set at hand.
        usable: refuses parameters that this machine cannot serve.
        cluster: where notebooks run, if not here.
    """

    def __init__(
        self,
        project: Project,
        *,
        jobs: int,
        data: Data,
        usable: Callable[[Mapping[str, Any]], None],
        cluster: Cluster | None = None,
    ) -> None:
        self.project, self.cluster = project, cluster
        self._data, self._usable, self._jobs_at_once = data, usable, jobs
        self.folder = ensure_writable(project.build / "bench")
        self._lock, self._own = Lock(), FileLock(self.folder / ".lock")
        try:
            self._own.acquire(timeout=0)
        except Timeout:
            raise CheckFailed("another gspa serve is running in this checkout; use its address, or stop it") from None
        self._jobs: dict[str, Job] = {}
        self._files: dict[str, str] | None = None
        self._source = provenance.source_digest()
        self._kept = self._found()
        # A cluster says itself how much runs at once; a thread here only waits for it.
        self._pool = ThreadPoolExecutor(jobs if cluster is None else QUEUED)
        self._sweeps = ThreadPoolExecutor(1)
        self._calls = {"run": 0, "sweep": 0}

    def _found(self) -> dict[str, dict[str, Any]]:
        """The finished runs, the oldest first; what a killed server left half done, or is damaged, is removed."""
        remove_abandoned(self.project.build, "page-")
        kept = []
        for folder in self.folder.iterdir():
            if re.fullmatch("[0-9a-f]{16}", folder.name):  # else it is not ours
                try:
                    facts = json.loads((folder / _RECORD).read_text(encoding="utf-8"), parse_constant=lambda _: None)
                except (OSError, ValueError, RecursionError):
                    facts = None
                if _SOUND.is_valid(facts) and facts["id"] == folder.name and self._is_whole(facts):
                    kept.append(facts)
                else:
                    shutil.rmtree(folder, ignore_errors=True)
        return {facts["id"]: facts for facts in sorted(kept, key=lambda one: (one["finished"], one["id"]))}

    def _is_whole(self, facts: Mapping[str, Any]) -> bool:
        """Whether a kept run's files are there."""
        page = f"{_PAGE}/notebooks/{facts['notebook']}.html"
        files = (_RECORD, _NOTEBOOK, *((_TABLE, _SWEEP) if facts["kind"] == "sweep" else (page,)))
        return all((self.folder / facts["id"] / name).is_file() for name in files)

    def _look(self) -> None:
        """Forget, under the lock, the kept runs whose files somebody took away."""
        self._kept = {name: facts for name, facts in self._kept.items() if self._is_whole(facts)}

    @property
    def profile(self) -> str:
        """That of the site, empty where it does not say."""
        try:
            record = json.loads((self.project.html / build_record.FILES[0]).read_text(encoding="utf-8"))
            return parameters.PROFILES[parameters.PROFILES.index(record["profile"])]
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def warm_up(self) -> None:
        """What the first run would wait for: the imports, and the data's checksums."""
        if self.cluster is None:
            run.warm_up()
        Thread(target=self._identity, daemon=True).start()

    def _identity(self) -> dict[str, str]:
        """The data set's, read once."""
        if self._files is None:
            self._files = self._data()
        return self._files

    def ask(self, name: str, given: Mapping[str, Value], axes: Mapping[str, str] | None = None) -> dict[str, Any]:
        """A run with these parameters, or a sweep over these axes: a kept one, one under way, or a new one.

        Raises:
            UnknownName: a notebook that the site does not have, or a parameter that it does not.
            InvalidValue: a value out of its range, or a sweep of too many settings.
            Refused: the queue is full, or the package is no longer the one that this server has imported.
        """
        job = self._job(name, given, axes or {})
        with self._lock:
            self._look()
            if job.id in self._kept:
                return self._kept[job.id]
            if job.id in self._jobs and self._jobs[job.id].state in _UNDER_WAY:
                return self._jobs[job.id].told()
            if sum(one.state == "queued" for one in self._jobs.values()) >= QUEUED:
                raise Refused(429, f"queue: {QUEUED} runs are waiting already; try again when one is done")
            self._jobs.pop(job.id, None)
            self._jobs[job.id] = job
            for old in [one.id for one in self._jobs.values() if one.state in _ENDED][:-KEPT]:
                del self._jobs[old]
            # Each call of `_next` takes the first that waits, so a call for one that was stopped serves another.
            if self._calls[job.kind] < sum(
                (one.kind, one.state) == (job.kind, "queued") for one in self._jobs.values()
            ):
                self._calls[job.kind] += 1
                (self._sweeps if job.axes else self._pool).submit(self._next, job.kind)
        return job.told()

    def _job(self, name: str, given: Mapping[str, Value], axes: Mapping[str, str]) -> Job:
        notebook = self._notebook(name)
        profile = str(given.get("profile", self.profile or parameters.PROFILES[0]))
        if "profile" in axes:  # the other parameters' defaults are one profile's
            raise InvalidValue("axes", "profile", "parameters that are not the profile", "sweep each profile by itself")
        listed = {axis: sweep.values_of(notebook, axis, text) for axis, text in axes.items()}
        many = math.prod(map(len, listed.values()))
        if many > SETTINGS:
            raise InvalidValue("settings", many, f"at most {SETTINGS} from a page", "gspa sweep takes more")
        values = notebook.validate({**given, **{axis: texts[0] for axis, texts in listed.items()}}, profile=profile)
        settings = []
        if listed:
            fixed = {name: value for name, value in values.items() if name not in listed}
            settings = sweep.settings(notebook, listed, [fixed], profile=profile)
            if len(settings) == 1:
                raise InvalidValue("settings", 1, f"2 to {SETTINGS}", "give a parameter two values")
        for one in settings or [values]:
            self._usable(one)
        key = self._key(notebook, values)
        if provenance.source_digest() != self._source:
            raise Refused(409, "package: its sources have changed since gspa serve started; start it again")
        return Job((digest(key, json.dumps(settings)) if listed else key)[:16], key, notebook, values, listed, settings)

    def _key(self, notebook: Notebook, values: Mapping[str, Value]) -> str:
        """What a result depends on, as it is now."""
        provenance.source_digest.cache_clear()
        return run.key(notebook, dict(values), self._identity() if notebook.needs_data else {})

    def _notebook(self, name: str) -> Notebook:
        known = [path.stem for path in sorted((self.project.html / "notebooks").glob("*.html"))]
        if name not in known:
            raise UnknownName("notebook", name, known)
        return parameters.select(self.project, name)

    def listed(self) -> list[dict[str, Any]]:
        """Every run, the newest first."""
        with self._lock:
            self._look()
            found = [*self._kept.values(), *(job.told() for job in self._jobs.values())]
        found.reverse()
        return sorted(found, key=lambda one: (one["state"] not in _UNDER_WAY, -one["finished"]))

    def one(self, identifier: str) -> dict[str, Any]:
        """One run."""
        with self._lock:
            if identifier in self._kept and self._is_whole(self._kept[identifier]):
                return self._kept[identifier]
            if identifier in self._jobs:
                return self._jobs[identifier].told()
        raise Refused(404, "run: there is none of that name")

    def stop(self, identifier: str) -> None:
        """End a run that waits or is at work."""
        self.one(identifier)
        with self._lock:
            job = self._jobs.get(identifier)
            if job is None or job.state not in ("queued", "running"):
                raise Refused(409, "run: is not at work, so it cannot be stopped")
            if job.state == "queued":
                job.state, job.finished = "stopped", time.time()
        self._end(job)

    def _end(self, job: Job) -> None:
        job.children.stop()  # first, so that who waits for the other knows why it ended
        if job.remote is not None:
            job.remote.cancel()

    def close(self) -> None:
        """End what is at work, and wait until it has ended; a page that is being made is finished."""
        with self._lock:
            working = [job for job in self._jobs.values() if job.state in _UNDER_WAY]
        with ThreadPoolExecutor(max(1, len(working))) as enders:
            for job in working:
                enders.submit(self._end, job)
        for pool in (self._sweeps, self._pool):
            pool.shutdown(cancel_futures=True)
        self._own.release()

    def _next(self, kind: str) -> None:
        """The first job that waits, if it was not stopped meanwhile."""
        with self._lock:
            self._calls[kind] -= 1
            job = next((one for one in self._jobs.values() if (one.kind, one.state) == (kind, "queued")), None)
            if job is None:
                return
            job.state = "running"
        self._work(job)

    def _work(self, job: Job) -> None:
        """One job from its beginning to its end; whatever happens is in its state."""
        folder = self.folder / job.id
        try:
            shutil.rmtree(folder, ignore_errors=True)  # what is left of one of which a part was taken away
            folder.mkdir(parents=True)
            (self._swept if job.axes else self._executed)(job, folder)
            self._keep(job, folder)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if job.children.stopping:
                job.state = "failed" if job.reason else "stopped"
            else:
                job.reason, job.state = " ".join(first_line(error).split())[:500], "failed"
                if not isinstance(error, GspaError):
                    _LOG.exception("run of %s", job.notebook.name)
            job.finished = time.time()

    def _computed(self, job: Job, begin: float) -> None:
        """The numbers are there, so only a page is to be made.

        Raises:
            KeyboardInterrupt: it was stopped just before.
            CheckFailed: what it was computed with is no longer what its key says.
        """
        job.seconds, job.remote = time.monotonic() - begin, None
        if job.children.stopping:
            raise KeyboardInterrupt
        self._files = None
        if self._key(job.notebook, job.values) != job.key:
            raise CheckFailed("the notebook, the package or the data changed while this ran; run it again")
        job.state = "rendering"

    def _expire(self, job: Job) -> None:
        job.reason = f"It took longer than {job.notebook.timeout} seconds, which is this page's limit."
        self._end(job)

    def _keep(self, job: Job, folder: Path) -> None:
        job.finished = time.time()
        facts = job.told() | {"state": "done"}
        write_atomically(folder / _RECORD, json.dumps(facts))
        with self._lock:
            self._kept[job.id] = facts
            self._jobs.pop(job.id, None)
            while len(self._kept) > KEPT:
                oldest = next(iter(self._kept))
                del self._kept[oldest]
                (self.folder / oldest / _RECORD).unlink(missing_ok=True)  # first, so that half of it is nothing
                shutil.rmtree(self.folder / oldest, ignore_errors=True)

    def _executed(self, job: Job, folder: Path) -> None:
        notebook, output, begin = job.notebook, folder / _NOTEBOOK, time.monotonic()

        def progress(name: str, done: int, total: int, state: str) -> None:
            job.done, job.cells = done, total

        if self.cluster is None:
            late = Timer(notebook.timeout, self._expire, [job])
            late.daemon = True
            late.start()
            try:
                values = dict(job.values)
                run.run_notebook(self.project, notebook, values, output, progress=progress, children=job.children)
            finally:
                late.cancel()
        else:  # there, as in a sweep, only each cell has its limit: who waits for a worker takes no time
            job.remote = self.cluster.submit(notebook, job.values, self._identity() if notebook.needs_data else {})
            if job.children.stopping:
                job.remote.cancel()
            write_atomically(output, self.cluster.result(notebook, job.remote).text)
        self._computed(job, begin)
        whole = folder / "whole"
        site.render_page(self.project, notebook.name, output, whole, profile=str(job.values["profile"]))
        for kept in ("notebooks", "_images", f"{_DATA}/{notebook.name}", "_sources", "_downloads"):
            if (whole / kept).is_dir():  # the rest is that of every page, and the site has it
                shutil.copytree(whole / kept, folder / _PAGE / kept)
        shutil.rmtree(whole)

    def _before(self, name: str, profile: str) -> tuple[str, Path | None]:
        """The notebook that a run is compared with, and what it is. Of another profile it would show that as moved."""
        with self._lock:
            usual = [
                (f"With the defaults of profile {profile}", self.folder / one["id"] / _NOTEBOOK)
                for one in reversed(self._kept.values())
                if (one["kind"], one["notebook"], one["profile"], one["changed"]) == ("run", name, profile, [])
            ]
        site = self.project.html / "_sources" / "notebooks" / f"{name}.ipynb"
        built = self.project.executed(profile) / f"{name}.ipynb"
        known = [("On the site", site)] if profile == self.profile else [(f"In the book, profile {profile}", built)]
        return next((one for one in (*known, *usual) if one[1].is_file()), ("", None))

    def _compared(self, facts: Mapping[str, Any]) -> tuple[str, moved.Moved]:
        """With what a run is compared, empty if with nothing, and what moved; the site may have been built anew."""
        label, before = self._before(facts["notebook"], facts["profile"])
        changed = before.stat().st_mtime_ns if before is not None else 0
        try:
            return label, _between(before, changed, self.folder / facts["id"] / _NOTEBOOK)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise Refused(409, "run: cannot be compared: its notebook, or the site's, is damaged") from None

    def _swept(self, job: Job, folder: Path) -> None:
        job.cells, output, begin = len(job.settings), folder / _TABLE, time.monotonic()

        def progress(done: int, total: int, failed: int) -> None:
            job.done, job.cells = done, total

        def stopped() -> bool:
            return job.children.stopping

        place, target = self.cluster or _Threads(self._pool, self._jobs_at_once, self._data, job.children), job.notebook
        found = sweep.run(
            Target.of(target), job.settings, place=place, output=output, progress=progress, stopped=stopped
        )
        self._computed(job, begin)
        good = found.table[found.table["status"] == "done"]
        if good.empty:
            raise CheckFailed(f"no setting succeeded; the first failed with: {found.table['error'].iloc[0]}")
        page = folder / _NOTEBOOK
        sweep_page.write(page, output, found.table, job.notebook, list(job.axes), x="", y="", by="")
        write_atomically(folder / _SWEEP, _shown(job, found.table, page))

    def path(self, identifier: str, *parts: str) -> Path:
        """A file of a finished run."""
        if self.one(identifier)["state"] != "done":
            raise Refused(409, "run: is not finished")
        return self.folder.joinpath(identifier, *parts)

    def moved(self, identifier: str) -> str:
        """What moved, or a sweep's figure and table (HTML), as soon as it is known; else empty."""
        facts = self.one(identifier)
        if facts["state"] not in ("rendering", "done"):  # asked several times a second while it runs
            return ""
        try:
            if facts["kind"] == "sweep":
                return (self.folder / identifier / _SWEEP).read_text(encoding="utf-8")
            label, found = self._compared(facts)
            return found.html(label) if label else f"<p>{_APART.format(facts['profile'])}</p>"
        except Refused as why:
            return f"<p>{why}</p>"
        except OSError:
            return ""

    def download(self, identifier: str, kind: str) -> tuple[str, bytes]:
        """A file's name and its bytes.

        Args:
            identifier: the run's.
            kind: notebook; csv, the page's tables (of a sweep, its table); html, the page with all that it needs.
        """
        facts = self.one(identifier)
        folder = self.path(identifier)
        name = f"{facts['notebook']}-{identifier[:8]}"
        if kind == "notebook":
            return f"{name}.ipynb", (folder / _NOTEBOOK).read_bytes()
        if kind == "csv" and facts["kind"] == "sweep":
            return f"{name}.csv", (folder / _TABLE).read_bytes()
        if facts["kind"] == "sweep":
            raise Refused(404, "run: a sweep has no page of its own; take its notebook")
        page, packed = folder / _PAGE, io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            if kind == "csv":
                archive.writestr(f"{name}/numbers.csv", moved.csv(self._compared(facts)[1]))
                for path in sorted(page.glob(f"{_DATA}/*/*.csv")):
                    archive.write(path, f"{name}/{path.name}")
            else:
                for root in (page, self.project.html / "_static", self.project.html / "mathjax"):
                    base = page if root == page else self.project.html
                    for path in sorted(path for path in root.rglob("*") if path.is_file()):
                        if root == page or not path.is_relative_to(self.project.html / _DATA):
                            archive.write(path, f"{name}/{path.relative_to(base)}")
        return f"{name}-{kind}.zip", packed.getvalue()


@lru_cache(maxsize=32)
def _between(before: Path | None, changed: int, after: Path) -> moved.Moved:
    """What moved between two notebooks; `changed` is when the first was written, None one that says nothing."""
    one, other = (json.loads(path.read_text(encoding="utf-8")) if path else {"cells": []} for path in (before, after))
    return moved.between(one, other)


def _shown(job: Job, table: Any, page: Path) -> str:
    """A sweep's figure and table as HTML."""
    data = next(
        output["data"]
        for cell in json.loads(page.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", [])
        if figures.MIME in output.get("data", {})
    )
    axes = list(job.axes)
    results = sweep.results_of(table, job.notebook.properties)
    moving = [name for name in results if table[name].nunique() > 1]
    shown = table[[*axes, *moving[:COLUMNS], *(["error"] if (table["status"] == "failed").any() else [])]]
    rows = [["" if value != value else value for value in row] for row in shown.itertuples(index=False)]
    about = data[figures.MIME]
    picture = base64.b64encode("".join(data["image/svg+xml"]).encode()).decode()
    more = max(0, len(moving) - COLUMNS)
    return fill(
        "bench_sweep.html", picture=picture, about=about, heads=list(shown), axes=len(axes), rows=rows, more=more
    )

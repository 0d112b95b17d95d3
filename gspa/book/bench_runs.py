"""Runs that readers ask for from a page: one at a time, a queue, and a store that outlives the server.

A finished one lies in `_build/bench/ID`: the executed notebook, its page, and `run.json`, which is written last. A
folder without that file was left by a killed server, and is removed when the next one starts.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import re
import shutil
import time
import zipfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlencode

from filelock import FileLock, Timeout

from gspa.accountant.errors import CheckFailed, GspaError, UnknownName
from gspa.book import build_record, moved, parameters, provenance, run, site
from gspa.book.parameters import Notebook, Value
from gspa.book.project import Project
from gspa.files import digest, ensure_writable, kept, remove_abandoned, write_atomically

QUEUED = 20
"""Runs that may wait."""
KEPT = 200
"""Finished runs that are kept, and others that are remembered; the oldest goes first."""
_UNDER_WAY = ("queued", "running", "rendering")
_ENDED = ("failed", "stopped")
_RECORD, _NOTEBOOK, _PAGE = "run.json", "notebook.ipynb", "page"
_DATA = "_static/data"
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
    """One run, and how far it is."""

    id: str
    notebook: Notebook
    task: run.Task
    expected: run.Identity
    state: str = "queued"
    done: int = 0
    cells: int = 0
    reason: str = ""
    seconds: float = 0.0
    finished: float = 0.0
    place: run.Place | None = None
    stopping: bool = False

    def told(self) -> dict[str, Any]:
        """What a page shows of it, ready for JSON."""
        written = {name: parameters.written(value) for name, value in self.task.values.items()}
        profile = written["profile"]
        usual = {name: parameters.written(value) for name, value in self.notebook.defaults(profile).items()}
        changed = {name: value for name, value in written.items() if value != usual[name]}
        return {
            "id": self.id,
            "notebook": self.notebook.name,
            "title": self.notebook.schema.get("title", self.notebook.name),
            "profile": profile,
            "values": written,
            "changed": [{"name": name, "value": value, "was": usual[name]} for name, value in changed.items()],
            "state": self.state,
            "done": self.done,
            "cells": self.cells,
            "reason": self.reason,
            "seconds": round(self.seconds, 1),
            "finished": self.finished,
            "command": parameters.command(self.notebook, self.task.values),
            "link": f"/notebooks/{self.notebook.name}.html?{urlencode({'profile': profile} | changed)}#bench",
        }


class Bench:
    """The queue and the store of one checkout; one server at a time has it."""

    def __init__(
        self, project: Project, *, place: Callable[[], run.Place], usable: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self.project = project
        self._place, self._usable = place, usable
        self.folder = ensure_writable(project.build / "bench")
        self._lock, self._own = Lock(), FileLock(self.folder / ".lock")
        try:
            self._own.acquire(timeout=0)
        except Timeout:
            raise CheckFailed("another gspa serve is running in this checkout; use its address, or stop it") from None
        self._jobs: dict[str, Job] = {}
        self._source = provenance.source_digest()
        self._kept = self._found()
        self._pool = ThreadPoolExecutor(1)

    def _found(self) -> dict[str, dict[str, Any]]:
        """The finished runs, the oldest first; what a killed server left half done, or is damaged, is removed."""
        remove_abandoned(self.project.build, "page-")
        found = []
        for folder in self.folder.iterdir():
            if re.fullmatch("[0-9a-f]{16}", folder.name):  # else it is not ours
                facts = _read(folder / _RECORD)
                if facts.get("id") == folder.name and self._is_whole(facts):
                    found.append(facts)
                else:
                    shutil.rmtree(folder, ignore_errors=True)
        return {facts["id"]: facts for facts in sorted(found, key=lambda one: (one["finished"], one["id"]))}

    def _is_whole(self, facts: Mapping[str, Any]) -> bool:
        """Whether a kept run's files are there."""
        page = f"{_PAGE}/notebooks/{facts['notebook']}.html"
        return all((self.folder / facts["id"] / name).is_file() for name in (_RECORD, _NOTEBOOK, page))

    def _look(self) -> None:
        """Forget, under the lock, the kept runs whose files somebody took away."""
        self._kept = {name: facts for name, facts in self._kept.items() if self._is_whole(facts)}

    @property
    def profile(self) -> str:
        """That of the site, empty where it does not say."""
        said = kept(self.project.html / build_record.FILES[0]).get("profile")
        return said if said in parameters.PROFILES else ""

    def _identity(self, needs_data: bool) -> run.Identity:
        """What computes, as it is now."""
        for known in (provenance.source_digest, run.identity):
            known.cache_clear()
        with self._place() as place:
            return place.identity(needs_data=needs_data)

    def ask(self, name: str, given: Mapping[str, Value]) -> dict[str, Any]:
        """A run with these parameters: a kept one, one under way, or a new one."""
        notebook = self._notebook(name)
        profile = str(given.get("profile", self.profile or parameters.PROFILES[0]))
        values = notebook.validate(given, profile=profile)
        self._usable(values)
        task, expected = run.Task.of(notebook, values), self._identity(notebook.needs_data)
        if provenance.source_digest() != self._source:
            raise Refused(409, "package: its sources have changed since gspa serve started; start it again")
        job = Job(task.key(expected)[:16], notebook, task, expected)
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
        self._pool.submit(self._work, job)
        return job.told()

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
            self._end(job)

    def _end(self, job: Job) -> None:
        job.stopping = True
        if job.state == "queued":
            job.state, job.finished = "stopped", time.time()
        if job.place is not None:
            job.place.stop()

    def close(self) -> None:
        """End what is at work, and wait until it has ended; a page that is being made is finished."""
        with self._lock:
            for job in self._jobs.values():
                if job.state in ("queued", "running"):
                    self._end(job)
        self._pool.shutdown()
        self._own.release()

    def _work(self, job: Job) -> None:
        """One job from its beginning to its end; whatever happens is in its state."""
        folder = self.folder / job.id
        shutil.rmtree(folder, ignore_errors=True)  # what is left of one of which a part was taken away
        try:
            with self._place() as place:
                with self._lock:
                    if job.stopping:
                        return
                    job.state, job.place = "running", place
                self._executed(job, place, folder)
            self._rendered(job, folder)
            self._keep(job, folder)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if job.stopping:
                job.state = "stopped"
            else:
                first = next(iter(str(error).splitlines()), type(error).__name__)
                job.reason, job.state = " ".join(first.split())[:500], "failed"
                if not isinstance(error, GspaError):
                    _LOG.exception("run of %s", job.notebook.name)
            job.finished = time.time()

    def _executed(self, job: Job, place: run.Place, folder: Path) -> None:
        begin = time.monotonic()

        def progress(label: str, done: int, cells: int, state: str) -> None:
            if state == "running":
                job.done, job.cells = done, cells

        found = run.one(place, job.task, job.expected, progress)
        job.seconds = time.monotonic() - begin
        if self._identity(job.task.needs_data) != job.expected:
            raise CheckFailed("the package or the data changed while this ran; run it again")
        folder.mkdir(parents=True)
        write_atomically(folder / _NOTEBOOK, found.text)
        with self._lock:
            if job.stopping:
                raise KeyboardInterrupt
            job.state = "rendering"

    def _rendered(self, job: Job, folder: Path) -> None:
        name, whole = job.notebook.name, folder / "whole"
        site.render_page(self.project, name, folder / _NOTEBOOK, whole, profile=str(job.task.values["profile"]))
        for own in ("notebooks", "_images", f"{_DATA}/{name}", "_sources", "_downloads"):
            if (whole / own).is_dir():  # the rest is that of every page, and the site has it
                shutil.copytree(whole / own, folder / _PAGE / own)
        shutil.rmtree(whole)

    def _keep(self, job: Job, folder: Path) -> None:
        job.finished = time.time()
        facts = job.told() | {"state": "done"}
        write_atomically(folder / _RECORD, json.dumps(_sealed(facts)))
        with self._lock:
            self._kept[job.id] = facts
            self._jobs.pop(job.id, None)
            while len(self._kept) > KEPT:
                oldest = next(iter(self._kept))
                del self._kept[oldest]
                (self.folder / oldest / _RECORD).unlink(missing_ok=True)  # first, so that half of it is nothing
                shutil.rmtree(self.folder / oldest, ignore_errors=True)

    def _before(self, name: str, profile: str) -> tuple[str, Path | None]:
        """The notebook that a run is compared with, and what it is. Of another profile it would show that as moved."""
        with self._lock:
            usual = [
                (f"With the defaults of profile {profile}", self.folder / one["id"] / _NOTEBOOK)
                for one in reversed(self._kept.values())
                if (one["notebook"], one["profile"], one["changed"]) == (name, profile, [])
            ]
        site = self.project.html / "_sources" / "notebooks" / f"{name}.ipynb"
        built = self.project.executed(profile) / f"{name}.ipynb"
        known = [("On the site", site)] if profile == self.profile else [(f"In the book, profile {profile}", built)]
        return next((one for one in (*known, *usual) if one[1].is_file()), ("", None))

    def path(self, identifier: str, *parts: str) -> Path:
        """A file of a finished run."""
        if self.one(identifier)["state"] != "done":
            raise Refused(409, "run: is not finished")
        return self.folder.joinpath(identifier, *parts)

    def moved(self, identifier: str) -> str:
        """What moved (HTML), as soon as it is known; else empty."""
        facts = self.one(identifier)
        if facts["state"] not in ("rendering", "done"):  # asked several times a second while it runs
            return ""
        label, before = self._before(facts["notebook"], facts["profile"])
        if before is None:
            return f"<p>{_APART.format(facts['profile'])}</p>"
        paths = before, self.folder / facts["id"] / _NOTEBOOK
        try:
            one, other = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
            return moved.between(one, other).html(label)
        except OSError:  # the site is being built anew
            return ""
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return "<p>run: cannot be compared: its notebook, or the site's, is damaged</p>"

    def download(self, identifier: str, kind: str) -> tuple[str, bytes]:
        """A file's name and its bytes."""
        facts = self.one(identifier)
        folder = self.path(identifier)
        name = f"{facts['notebook']}-{identifier[:8]}"
        if kind == "notebook":
            return f"{name}.ipynb", (folder / _NOTEBOOK).read_bytes()
        page, packed = folder / _PAGE, io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            if kind == "csv":
                found = run.results_of(json.loads((folder / _NOTEBOOK).read_text(encoding="utf-8")))
                rows = io.StringIO(newline="")
                csv.writer(rows, lineterminator="\n").writerows([("name", "value"), *found.items()])
                archive.writestr(f"{name}/numbers.csv", rows.getvalue())
                for path in sorted(page.glob(f"{_DATA}/*/*.csv")):
                    archive.write(path, f"{name}/{path.name}")
            else:
                for root in (page, self.project.html / "_static", self.project.html / "mathjax"):
                    base = page if root == page else self.project.html
                    for path in sorted(path for path in root.rglob("*") if path.is_file()):
                        if root == page or not path.is_relative_to(self.project.html / _DATA):
                            archive.write(path, f"{name}/{path.relative_to(base)}")
        return f"{name}-{kind}.zip", packed.getvalue()


def _sealed(facts: Mapping[str, Any]) -> dict[str, Any]:
    """A run's facts as they are kept: with a digest, so that others' are none."""
    return {"facts": facts, "sha256": digest(json.dumps(facts))}


def _read(record: Path) -> dict[str, Any]:
    """The facts of a record; empty if it is not what was written."""
    found = kept(record)
    facts: dict[str, Any] = found.get("facts", {})
    return facts if found == _sealed(facts) else {}

"""Runs claims' checks in processes of their own, each with one planted error in the package's source.

Reads a JSON list of jobs on standard input and writes one JSON line a job. A job is {"claim", "module", "old", "new",
"settings", "evidence"}; without "module" the source stays as it is. The libraries are loaded once, before the forks;
the package is imported in each process anew, the mutated module from its changed text. Evidence is "module.function",
called with the claim in that process.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import multiprocessing
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType

PACKAGE = Path(__file__).parents[2] / "gspa"
SECONDS = 240


def source_of(module: str) -> Path:
    """The file of a module of the package, by its dotted name without `gspa.`."""
    return PACKAGE.joinpath(*module.split(".")).with_suffix(".py")


class _Mutated(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, old: str, new: str) -> None:
        super().__init__(fullname, path)
        self._old, self._new = old, new

    def get_code(self, fullname: str) -> CodeType:
        text = Path(self.path).read_text(encoding="utf-8")
        if text.count(self._old) != 1:
            raise ValueError(f"{self.path}: the text to replace occurs {text.count(self._old)} times")
        return compile(text.replace(self._old, self._new), self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, module: str, old: str, new: str) -> None:
        self._name, self._module, self._old, self._new = f"gspa.{module}", module, old, new

    def find_spec(self, fullname, path, target=None):  # type: ignore[no-untyped-def]
        if fullname != self._name:
            return None
        file = str(source_of(self._module))
        return importlib.util.spec_from_file_location(
            fullname, file, loader=_Mutated(fullname, file, self._old, self._new)
        )


def _settle(job: dict, channel: Connection) -> None:
    try:
        if job.get("module"):
            sys.meta_path.insert(0, _Finder(job["module"], job["old"], job["new"]))
        from gspa.claims.checks import settle

        settings = dict(job.get("settings") or {"profile": "quick"})
        if job.get("evidence"):
            module, _, name = job["evidence"].partition(".")
            settings |= getattr(importlib.import_module(module), name)(job["claim"])
        outcome = settle(job["claim"], **settings)
        channel.send({"verdict": outcome.verdict + (f" ({outcome.missing})" if outcome.missing else "")})
    except BaseException as error:
        from gspa.errors import GspaError

        channel.send(
            {
                "verdict": f"raises {type(error).__name__}",
                "typed": isinstance(error, GspaError),
                "why": str(error)[:200],
            }
        )


def _run(job: dict) -> dict:
    start = time.monotonic()
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_settle, args=(job, theirs))
    process.start()
    theirs.close()
    try:
        found = ours.recv() if ours.poll(SECONDS) else {"verdict": "took too long"}
    except EOFError:
        found = {"verdict": "died"}
    process.kill()
    process.join()
    return job | found | {"seconds": round(time.monotonic() - start, 1)}


def main() -> None:
    """All jobs, two at a time, in the order in which they end."""
    for library in (
        "numpy",
        "scipy.optimize",
        "scipy.stats",
        "scipy.integrate",
        "scipy.signal",
        "pandas",
        "sympy",
        "sklearn.datasets",
        "yaml",
    ):
        importlib.import_module(library)
    jobs = json.load(sys.stdin)
    with ThreadPoolExecutor(int(sys.argv[1]) if len(sys.argv) > 1 else 2) as pool:
        for found in pool.map(_run, jobs):
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()

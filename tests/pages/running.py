"""A page run in this process, cell by cell, and planted errors run in processes of their own.

`python tests/pages/running.py planted p05` runs the planted errors of one page's tests and prints what became of each.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import multiprocessing
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).parents[2]
SECONDS = 240
_in_cells: list[Planted] = []  # the error that this process has


@dataclass(frozen=True)
class Ran:
    """What became of a page: the notebook's names, its outcomes by claim id, and its texts."""

    names: dict[str, Any]
    outcomes: dict[str, Any]
    said: list[str]

    @property
    def verdicts(self) -> dict[str, str]:
        """By claim id."""
        return {name: found.verdict for name, found in self.outcomes.items()}


def run_page(name: str, *, only: Iterable[str] = (), profile: str = "quick", **parameters: Any) -> Ran:
    """Run a committed notebook in this process, without a kernel; the same question has one answer, which is kept.

    Args:
        name: the notebook's.
        only: claims; with some, nothing runs that their cards do not need, and nothing is said or drawn.
        profile: whose sizes it has where `parameters` says nothing.
        parameters: as papermill would set them.
    """
    return _kept(name, frozenset(only), profile, json.dumps(parameters))


@cache
def _kept(name: str, only: frozenset[str], profile: str, parameters: str) -> Ran:
    return _run_page(name, only, profile, json.loads(parameters))


def settle(claim: str, **made: Any) -> Any:
    """The outcome of a claim's cell on made tables: what only serves to compute these is not run."""
    from gspa.book import claims

    return _run_page(claims.claim(claim).notebook, frozenset([claim]), "paper", {}, made).outcomes[claim]


def in_readings(outcome: Any) -> list[str]:
    """The verdicts of an outcome's readings; of one without, its own."""
    return [one.verdict for one in outcome.readings] or [outcome.verdict]


def recorded(page: str) -> dict[str, str]:
    """The verdicts that the book records for the claims of a page, by id."""
    from gspa.book.claims import registry

    return {name: one.verdict for name, one in registry().items() if one.notebook == page}


def _run_page(
    name: str, only: frozenset[str], profile: str, parameters: Mapping[str, Any], made: Mapping[str, Any] | None = None
) -> Ran:
    from matplotlib import pyplot as plt

    from gspa.book import claims, figures, say
    from gspa.book.page import Page

    values = _form(name).validate(parameters, profile=profile)
    planted = tuple((one.old, one.new) for one in _in_cells if one.imported == name)
    names: dict[str, Any] = {"__name__": name}
    outcomes, said = {}, []

    class Quiet(Page):
        """Draws nothing on paper and keeps the outcomes."""

        def settle(self, claim: Any, *holds: Any, **evidence: Any) -> Any:
            outcome = super().settle(claim, *holds, **evidence)
            outcomes[outcome.claim] = outcome
            json.dumps(outcome.to_dict())  # as its card is stored
            return outcome

        @classmethod
        def place(cls, name: str) -> None:
            pass

        def table(self, rows: Any, **how: Any) -> None:
            figures.table(rows, **how)

        def figure(self, figure: Any, name: str, *, caption: str, alt: str) -> None:
            said.extend(say.render(text, names) for text in (caption, alt))
            assert getattr(figure, "gspa_tables", None), f"{name}: no data; is the function marked keeps_data?"
            plt.close(figure)

    def undrawn(figure: Any, *, tight: bool = True) -> tuple[str, list[Any]]:
        """A frame of a figure that moves, without its picture."""
        plt.close(figure)
        return "", []

    later = []
    for cell, parametric in _cells(name, only, frozenset(made or ()), planted):
        if isinstance(cell, str):
            first, _, body = cell.partition("\n")
            body, waits = say.spoken(first.removeprefix("%%say"), body)
            later.append(body) if waits else said.append(say.render(body, names))
            continue
        with patch.object(figures, "as_svg", undrawn):
            exec(cell, names)
        if parametric:
            names |= values | dict(made or {})
        if "Page" in names:
            names["Page"] = Quiet
    said += [say.render(body, names) for body in later]
    assert set(outcomes) <= set(claims.registry())
    return Ran(names, outcomes, said)


@cache
def _form(name: str) -> Any:
    """The parameters of a page."""
    from gspa.book.parameters import select
    from gspa.book.project import Project

    return select(Project(ROOT), name)


@cache
def _cells(
    name: str, only: frozenset[str], made: frozenset[str], planted: tuple[tuple[str, str], ...]
) -> list[tuple[CodeType | str, bool]]:
    """A page's code, compiled, and what is said between, as it is written; with each whether parameters follow it."""
    cells = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    for old, new in planted:
        cells = [cell | {"source": ["".join(cell["source"]).replace(old, new)]} for cell in cells]
    if only:
        cells = needed(cells, only, made)
    found: list[tuple[CodeType | str, bool]] = []
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            said = source.startswith("%%say")
            ready = source if said else compile(source, f"{name}, cell {number}", "exec")
            found.append((ready, "parameters" in cell.get("metadata", {}).get("tags", [])))
    return found


def needed(cells: list[dict[str, Any]], claims: frozenset[str], made: frozenset[str]) -> list[dict[str, Any]]:
    """The cells, with those statements alone on which the cards of these claims depend.

    That is the statements that settle the claims and, of those before them, all that bind or may change a name which a
    statement behind them takes: as a target, or by a method called on it. Names that are `made` need no statement.
    """
    code = [cell for cell in cells if cell["cell_type"] == "code" and not "".join(cell["source"]).startswith("%%")]
    bodies = [ast.parse("".join(cell["source"])).body for cell in code]
    imports = [one for body in bodies for one in body if isinstance(one, ast.Import | ast.ImportFrom)]
    imported: dict[str, Any] = {}
    exec(compile(ast.Module(imports, []), "imports", "exec"), imported)
    taken: set[str] = set()
    kept = []
    for cell, body in zip(reversed(code), reversed(bodies), strict=True):
        parameters = "parameters" in cell["metadata"].get("tags", [])
        mine = []
        for one in reversed(body):
            nodes = [*ast.walk(one)]
            names = [node for node in nodes if isinstance(node, ast.Name)]
            calls = [node for node in nodes if isinstance(node, ast.Call)]
            loops = [node.target for node in nodes if isinstance(node, ast.comprehension)]
            own = {node.id for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Name)}
            checks = [call.args[0] for call in calls if ast.unparse(call.func) == "page.settle"]
            if checks:
                named = [eval(ast.unparse(check), imported) for check in checks]
                wanted = any(getattr(check, "claim", check) in claims for check in named)
            elif isinstance(one, ast.Expr) and ast.unparse(one).startswith("page."):
                wanted = False
            else:
                bound = {_root(node) for node in nodes if isinstance(getattr(node, "ctx", None), ast.Store)} - own
                bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
                called = {_root(call.func) for call in calls if isinstance(call.func, ast.Attribute)}
                changed = bound | called - {*imported, "page"}
                wanted = parameters or one in imports or bool(changed & taken and not bound & made)
            if wanted:
                mine.append(one)
                if isinstance(one, ast.Assign):  # what it binds anew was taken from here, not from before
                    taken -= {node.id for node in names if isinstance(node.ctx, ast.Store)}
                    names = [node for node in names if isinstance(node.ctx, ast.Load)]
                taken |= {node.id for node in names} - made - own
        kept.append(cell | {"source": [ast.unparse(ast.Module(mine[::-1], []))]})
    return kept[::-1]


def _root(node: ast.AST) -> str:
    """The name that an expression such as `a.b[c].d` starts with; none for others."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@dataclass(frozen=True)
class Planted:
    """One wrong formula and the claims whose verdict it must change.

    What their page computes for them is computed, and no more.

    Attributes:
        claims: ids, one blank between them.
        module: dotted, below `gspa`; or `notebooks.` and the name of a notebook, whose code is meant, or of a helper.
        old: a text that occurs once in the module.
        new: what replaces it.
        what: the error in words.
        parameters: of the page, besides those of its quick profile; `profile` among them is allowed.
        tables: a function of the page's test file that makes the check's tables, `tables(claim)`, where the page's own
            would take minutes or need MNIST; the check is found by its claim in the page's modules.
    """

    claims: str
    module: str
    old: str
    new: str
    what: str
    parameters: dict[str, Any] = field(default_factory=dict)
    tables: str = ""

    @property
    def dotted(self) -> str:
        return self.module if self.module.startswith("notebooks.") else f"gspa.{self.module}"

    @property
    def imported(self) -> str:
        """What an import calls it."""
        return self.dotted.removeprefix("notebooks.")

    def path(self) -> Path:
        file = ROOT.joinpath(*self.dotted.split("."))
        return file.with_suffix(".ipynb" if file.name[0].isdigit() else ".py")

    def text(self) -> str:
        """The module's text, or the code of the notebook's cells, with the error."""
        text = self.path().read_text(encoding="utf-8")
        if self.path().suffix == ".ipynb":
            cells = ("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")
            text = "\n".join(source for source in cells if not source.startswith("%%"))
        if text.count(self.old) != 1:
            raise ValueError(f"{self.module}: the text to replace occurs {text.count(self.old)} times: {self.old!r}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Job:
    """Claims of one page, or checks on made tables, with an error planted or without."""

    file: Path
    claims: tuple[str, ...]
    parameters: str
    tables: str
    planted: Planted | None = None


class _Finder:
    """Imports one module from its changed text."""

    def __init__(self, planted: Planted) -> None:
        self.planted = planted

    def find_spec(self, fullname: str, path: object, target: object = None) -> Any:
        if fullname != self.planted.imported:
            return None
        loader = importlib.util.spec_from_file_location(fullname, self.planted.path()).loader  # type: ignore[union-attr]
        source = self.planted.text()
        loader.get_code = lambda _: compile(source, str(self.planted.path()), "exec")  # type: ignore[union-attr, method-assign]
        return importlib.util.spec_from_file_location(fullname, self.planted.path(), loader=loader)


def load(file: Path) -> Any:
    """A page's test file as a module; it may import what lies beside it, the oracles above, and pages' helpers."""
    for folder in (ROOT / "notebooks", file.parents[1], file.parent):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def _settle(job: Job, channel: Connection) -> None:
    try:
        if job.planted:
            sys.meta_path.insert(0, _Finder(job.planted))  # type: ignore[arg-type]
            _in_cells.append(job.planted)
        if job.tables:
            make = getattr(load(job.file), job.tables)
            found = {claim: settle(claim, **make(claim)) for claim in job.claims}
        else:
            from gspa.book import claims

            pages = {claim: claims.claim(claim).notebook for claim in job.claims}
            found = {}
            for name in dict.fromkeys(pages.values()):
                only = (claim for claim in job.claims if pages[claim] == name)
                found |= run_page(name, only=only, **json.loads(job.parameters)).outcomes
        channel.send({claim: found[claim].verdict if claim in found else "no card" for claim in job.claims})
    except BaseException as error:
        from gspa.accountant.errors import GspaError

        word = "refuses" if isinstance(error, GspaError) else "raises"
        channel.send(dict.fromkeys(job.claims, f"{word} {type(error).__name__}: {str(error)[:200]}"))


def run(job: Job) -> dict[str, str]:
    """The verdicts of a job's claims, or what went wrong."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_settle, args=(job, theirs))
    process.start()
    theirs.close()
    try:
        found: dict[str, str] = (
            ours.recv() if ours.poll(SECONDS) else dict.fromkeys(job.claims, f"takes over {SECONDS} s")
        )
    except EOFError:
        found = dict.fromkeys(job.claims, "dies")
    process.kill()
    process.join()
    return found


def warm() -> None:
    """Load the libraries, not the package: a fork then imports the package alone, with its error."""
    import matplotlib as mpl

    mpl.use("Agg")
    for library in ("numpy", "scipy.optimize", "scipy.stats", "scipy.integrate", "scipy.signal", "pandas", "seaborn"):
        importlib.import_module(library)
    for library in ("sympy", "sklearn.datasets", "yaml", "jinja2", "jsonschema", "IPython.display"):
        importlib.import_module(library)


@dataclass(frozen=True)
class Caught:
    """What became of one planted error for one claim."""

    claim: str
    planted: Planted
    before: str
    after: str

    @property
    def caught(self) -> bool:
        """Whether the verdict is another one. A breakdown is none, nor is a run that settles nothing."""
        broke = self.after.startswith(("raises", "takes", "dies", "no card", "not yet"))
        return self.after != self.before and not broke


def results(file: Path, *, workers: int = 2) -> Iterator[Caught]:
    """Every planted error of a page's test file, in its order."""
    warm()
    # In a fork of its own, or this process would have the package already.
    with multiprocessing.get_context("fork").Pool(1) as forked:
        listed = forked.apply(planted_in, (file,))
    jobs = [
        Job(file, tuple(planted.claims.split()), json.dumps(planted.parameters), planted.tables, planted)
        for planted in listed
    ]
    claims: dict[Job, dict[str, None]] = {}
    for job in jobs:
        claims.setdefault(_same_run(job), {}).update(dict.fromkeys(job.claims))
    as_is = [replace(job, claims=tuple(names)) for job, names in claims.items()]
    with ThreadPoolExecutor(workers) as pool:
        before = dict(zip(claims, pool.map(run, as_is), strict=True))
        for job, after in zip(jobs, pool.map(run, jobs), strict=True):
            found = before[_same_run(job)]
            yield from (Caught(claim, job.planted, found[claim], after[claim]) for claim in job.claims)


def _same_run(job: Job) -> Job:
    """Equal for jobs that one run without errors answers: those of a page's file that have the same parameters."""
    return replace(job, claims=job.claims if job.tables else (), planted=None)


def planted_in(file: Path) -> list[Planted]:
    """The planted errors that a page's test file lists, if it does."""
    return [Planted(**vars(one)) for one in getattr(load(file), "PLANTED", ())]


def main() -> int:
    """`planted [PAGE ...]`: all, or those whose test file has one of these words in its name."""
    words = sys.argv[2:] or ["test_p"]
    files = [
        path for path in sorted(Path(__file__).parent.glob("test_p*_*.py")) if any(word in path.name for word in words)
    ]
    survivors = 0
    for file in files:
        start, of_page = time.monotonic(), []
        for one in results(file):
            of_page.append(one.caught)
            said = "caught  " if one.caught else "SURVIVES"
            print(f"{said} {one.claim}: {one.planted.what}: {one.before} -> {one.after}", flush=True)
        print(f"{file.stem}: {sum(of_page)} of {len(of_page)} caught, {time.monotonic() - start:.0f} s", flush=True)
        survivors += of_page.count(False)
    return 1 if survivors else 0


if __name__ == "__main__":
    # Under its own name, so that a test file that imports `running` has the same classes.
    sys.modules["running"] = sys.modules["__main__"]
    sys.exit(main())

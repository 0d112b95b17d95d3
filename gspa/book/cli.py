"""Commands of the book: build, run, verify, sweep, serve."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

import typer

from gspa.accountant.arguments import count, in_range, integer, one_of
from gspa.accountant.errors import CheckFailed, GspaError, InvalidValue

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Profile = Annotated[
    str, typer.Option("--profile", help="paper: the papers' own sizes; middle: at most a minute a page; quick: small.")
]
_INTEGER: dict[str, Any] = {"parser": integer, "metavar": "<int>"}
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", **_INTEGER, help="Notebooks to run at once (default: the cores; quick: one more)."),
]
Scheduler = Annotated[
    str | None, typer.Option("--scheduler", help="Address of a Dask scheduler, or its scheduler file.")
]

PAIR = "-p: needs a name and a value, for instance -p n_max 3000"
_data: Callable[[], dict[str, str]] = dict
"""The data set's identity, handed in by `register`: the book knows no data set."""
_usable: Callable[[Mapping[str, Any]], None] = lambda values: None  # noqa: E731
"""Refuses parameters that this machine cannot serve, handed in as well."""


_UNCHECKED = {
    "size": "for which this run's sizes are too small",
    "data": "for want of MNIST",
    "settings": "because this run changed what the paper states",
    "": "without a card",
}


def _installed() -> None:
    """Refuse here what else the first notebook would: not all of the book's extra is installed."""
    for name in ("filelock", "jupyter_book", "pandas", "papermill", "platformdirs", "tornado"):
        if find_spec(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _profile(name: str) -> str:
    from gspa.book.parameters import PROFILES

    return one_of(PROFILES, profile=name)


def _place(jobs: int | None, scheduler: str | None, *, usual: int) -> Callable[[], Any]:
    """Gives the place where notebooks run: a cluster, or so many at once here."""
    from gspa.book.run import Here

    if scheduler is None:
        many = usual if jobs is None else count(1, jobs=jobs)
        return lambda: Here(many, _data)
    if jobs is not None:
        raise GspaError("--jobs, --scheduler: give one; the cluster's workers say how much runs at once")
    from gspa.book.cluster import Cluster

    return lambda: Cluster(scheduler, _data)


def _place_of_all(jobs: int | None, scheduler: str | None, profile: str) -> Callable[[], Any]:
    """The place of the book's notebooks; a short one waits for its processes most of the time: one more uses it."""
    from gspa.book import project

    return _place(jobs, scheduler, usual=project.cores() + (profile == "quick"))


def _executed(here: Any, profile: str, open_place: Callable[[], Any], names: Collection[str] | None = None) -> Any:
    """The results of all notebooks, or of these, at this profile: kept ones, or new runs."""
    from gspa.book import parameters, run
    from gspa.book.progress import display

    wanted = [one for name, one in parameters.discover(here).items() if names is None or name in names]
    with open_place() as place, display(len(wanted)) as progress:
        return run.run_all(here, wanted, profile=profile, place=place, progress=progress)


def build(profile: Profile = "paper", jobs: Jobs = None, scheduler: Scheduler = None) -> None:
    """Run the notebooks and render the site to _build/html."""
    _installed()
    from gspa.book import project, site

    profile = _profile(profile)
    open_place, here = _place_of_all(jobs, scheduler, profile), project.find()
    with site.exclusive(here):
        runs = _executed(here, profile, open_place)
        typer.echo("Rendering the site ...")
        changed = site.render(here, runs, profile=profile)
    state = "is ready" if changed else "is unchanged"
    typer.echo(f"The site {state}. Open it: {(here.html / 'index.html').as_uri()}")


def run_one(
    notebook: Annotated[str, typer.Argument(help="A notebook's name, such as 08_comparison.")],
    p: Annotated[
        list[str] | None, typer.Option("-p", metavar="NAME VALUE", help="A parameter; may be repeated.")
    ] = None,
    file: Annotated[Path | None, typer.Option("-f", help="A YAML file of parameters.")] = None,
    output: Annotated[Path | None, typer.Option("-o", help="Where the executed notebook goes.")] = None,
    profile: Profile = "paper",
    show: Annotated[bool, typer.Option("--open", help="Render the page beside the result and open a browser.")] = False,
) -> None:
    """Run one notebook with new parameters."""
    _installed()
    from gspa import files
    from gspa.book import parameters, project, run, site
    from gspa.book.progress import display

    here = project.find()
    source = parameters.select(here, notebook)
    given = parameters.from_file(file) if file else {}
    if any("\0" not in pair for pair in p or []):  # -pNAME, written as one word
        raise GspaError(PAIR)
    given |= dict(pair.split("\0", 1) for pair in p or [])
    values = source.validate(given, profile=_profile(profile))
    _usable(values)  # now, not after the cells before
    if output is None:
        name = files.digest(json.dumps(values, sort_keys=True))[:8]
        output = here.build / "runs" / f"{source.name}-{name}.ipynb"
    elif "\0" in str(output) or output.is_dir() or {output.suffix, output.resolve().suffix} != {".ipynb"}:
        # The file behind a link is the one that would be replaced.
        raise InvalidValue("-o", str(output), "a file name that ends in .ipynb")
    files.ensure_writable(output.resolve().parent)
    folder = site.page_folder(output) if show else None
    with run.Here(1, _data) as place, display(1) as progress:
        expected = place.identity(needs_data=source.needs_data)
        found = run.one(place, run.Task.of(source, values), expected, progress)
    files.write_atomically(output.resolve(), found.text)
    typer.echo(f"Wrote {output}")
    for line in _against_the_book(here, source.name, str(values["profile"]), json.loads(found.text)):
        typer.echo(line)
    if folder is not None:
        page = site.render_page(here, source.name, output, folder, profile=str(values["profile"]))
        opened = _browse(page.as_uri())
        typer.echo(f"Opened {page}" if opened else f"No browser here; open it yourself: {page}")


def _against_the_book(here: Any, name: str, profile: str, notebook: Mapping[str, Any]) -> list[str]:
    """What moved in a run against the book's own of this profile, else against the record; without cards nothing."""
    from gspa.book import claims, moved

    cards = claims.shown(notebook)
    built = here.executed(profile) / f"{name}.ipynb"
    if cards and built.is_file():
        found = moved.between(json.loads(built.read_text(encoding="utf-8")), notebook)
        return [f"What moved against the book, profile {profile}:", *(found.lines() or ["Nothing."])]
    differing = [
        f"{one.claim:8} {claims.claim(one.claim).verdict} -> {one.words}" for one in cards.values() if one.differs()
    ]
    return ["Verdicts that differ from the record:", *(differing or ["None."])] if cards else []


def _browse(address: str) -> bool:
    """Whether a browser took the address."""
    import webbrowser

    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


def _hidden(address: str, folder: Path) -> str:
    """A file that leads to an address, for this user alone: others see the words of a browser's command."""
    page = folder / "bench" / "open.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.unlink(missing_ok=True)
    page.touch(mode=0o600)
    page.write_text(f'<!doctype html><title>gspa serve</title><meta http-equiv="refresh" content="0; url={address}">')
    return page.as_uri()


def verify(
    profile: Profile = "paper",
    claim: Annotated[list[str] | None, typer.Option("--claim", help="Only this claim; may be repeated.")] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit status 1 also when a claim could not be checked; the sizes of quick runs excuse."
        ),
    ] = False,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Compare every verdict with the record; exit status 1 when one differs. What has run is not run again."""
    _installed()
    from gspa.book import cards, claims, project, text

    profile = _profile(profile)
    wanted = list(claims.registry().values()) if claim is None else [claims.claim(name) for name in claim]
    open_place = _place_of_all(jobs, None, profile)
    runs = _executed(project.find(), profile, open_place, {entry.notebook for entry in wanted})
    found = claims.outcomes(run.path for run in runs)
    results: list[dict[str, Any]] = []
    unchecked = Counter[str]()
    for entry in wanted:
        if not entry.notebook:
            results.append({"claim": entry.id, "verdict": entry.verdict, "reason": entry.reason, "differs": False})
            unchecked["reading"] += 1
            if not as_json:
                typer.echo(f"{entry.id:8} {entry.verdict:22} {text.plain(entry.reason)}")
            continue
        nobody = claims.Outcome(entry.id, "not yet checked", f"No card of {entry.notebook} is about it.")
        outcome = found.get(entry.id, nobody)
        compared = {"agreeing": outcome.agreeing, "recorded": entry.verdict, "differs": outcome.differs()}
        results.append(outcome.to_dict() | compared)
        if outcome.verdict == "not yet checked":
            unchecked[outcome.missing] += 1
        if not as_json:
            mark = f"  DIFFERS from the record: {entry.verdict}" if outcome.differs() else ""
            typer.echo(f"{entry.id:8} {outcome.words:22} {text.plain(outcome.reason)}{mark}")
    differing = sum(result["differs"] for result in results)
    # Rows name the sizes that they were measured at, which a small run has not.
    for fault in (faults := cards.faults(found) if profile == "paper" else []):
        typer.echo(f"gspa: {fault}", err=True)
    excused = ("reading",) if profile == "paper" else ("reading", "size")
    failed = sum(many for why, many in unchecked.items() if why not in excused)
    if as_json:
        typer.echo(json.dumps({"profile": profile, "claims": results, "unchecked": dict(unchecked)}))
    else:
        by_reading = unchecked.pop("reading", 0)
        asked = len(results) - by_reading
        for why, many in unchecked.items():
            typer.echo(f"Not checked: {many} claim{'s' * (many != 1)} {_UNCHECKED[why]}.")
        if by_reading:
            typer.echo(f"By reading alone: {by_reading} statement{'s' * (by_reading != 1)} that no number can settle.")
        whole = "nothing differs" if not unchecked else "nothing differs of what could be checked"
        says = whole if not differing else f"{differing} {'differs' if differing == 1 else 'differ'} from the record"
        typer.echo(f"{asked - sum(unchecked.values())} of {asked} settled in this run; {says}.")
    if differing or faults or (strict and failed):
        raise typer.Exit(1)


def sweep(
    what: Annotated[str, typer.Argument(metavar="NOTEBOOK", help="A notebook's name, such as 08_comparison.")],
    p: Annotated[
        list[str] | None,
        typer.Option("-p", metavar="NAME V1,V2,...", help="A parameter's values; may be repeated: every combination."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--settings", help="A CSV of settings: a column a parameter, a row a setting.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", help="The table: FILE.csv.")] = None,
    page: Annotated[Path | None, typer.Option("--page", help="Also a notebook FILE.ipynb that shows it.")] = None,
    x: Annotated[str, typer.Option("--x", help="The page's horizontal axis (default: the first axis).")] = "",
    y: Annotated[str, typer.Option("--y", help="Its vertical axis (default: the first result).")] = "",
    by: Annotated[str, typer.Option("--by", help="A line for each value of it (default: the second axis).")] = "",
    scheduler: Scheduler = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", **_INTEGER, help="Settings at once on this machine (default: the cores at hand)."),
    ] = None,
    profile: Profile = "paper",
) -> None:
    """Run a notebook under many settings, into one table; what is done is not run again."""
    _installed()
    from gspa import files
    from gspa.book import parameters, project, sweep, sweep_page
    from gspa.book.progress import display

    open_place = _place(jobs, scheduler, usual=project.cores())
    here = project.find()
    notebook = parameters.select(here, what)
    axes: dict[str, list[str]] = {}
    for pair in p or []:
        name, mark, text = pair.partition("\0")
        if not mark:  # -pNAME, written as one word
            raise GspaError("-p: needs a name and values, for instance -p n_max 3000,30000")
        if name in axes:
            raise GspaError(f"-p {name}: is given twice; put all of its values into one list")
        axes[name] = sweep.values_of(notebook, name, text)
    rows = sweep.rows_of(file) if file is not None else [{}]
    wanted = sweep.settings(notebook, axes, rows, profile=_profile(profile))
    output = output or here.build / "sweeps" / f"{what}.csv"
    if page is not None and page.suffix != ".ipynb":
        raise InvalidValue("--page", str(page), "a file name that ends in .ipynb")
    sweep.check_output(output)
    if page is not None:
        files.ensure_writable(page.resolve().parent)
    try:
        with open_place() as place:
            typer.echo(f"{_settings(len(wanted))} of {what} on {place.label}", err=True)
            with display(len(wanted)) as progress:
                found = sweep.run(notebook, wanted, place=place, output=output, progress=progress)
    except KeyboardInterrupt:
        typer.echo(f"{output} has what was finished; the same command goes on from there", err=True)
        raise
    done = len(found.table) - found.failed
    typer.echo(f"Wrote {output}: {done} done, {found.reused} of them before, {found.failed} failed")
    if page is not None and done:
        sweep_page.write(page, output, found.table, notebook, list(axes), x=x, y=y, by=by)
        typer.echo(f"Wrote {page}")
    if found.failed:
        first = found.table.loc[found.table["status"] == "failed", "error"].iloc[0]
        raise CheckFailed(f"{_settings(found.failed)} failed, the first with: {first}; see the column error")


def _settings(many: int) -> str:
    return f"{many:,} setting" + ("" if many == 1 else "s")


def serve(
    port: Annotated[int, typer.Option("--port", **_INTEGER, help="Port on this machine; 0 picks a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser as well.")] = True,
    scheduler: Scheduler = None,
) -> None:
    """Open the built site and run its pages with the numbers that a reader asks for there."""
    _installed()
    from gspa.book import bench, bench_runs, project

    in_range(0, 65535, port=port)
    here = project.find()
    if not (here.html / "index.html").is_file():
        raise GspaError(f"{here.html}: no site yet; run gspa build first")

    def ready(address: str) -> None:
        typer.echo(f"Serving {here.html} at {address}; stop with Ctrl-C")
        if browser:  # one in this terminal would be waited for, and it waits for an answer from here
            Thread(target=_browse, args=[_hidden(address, here.build)], daemon=True).start()

    place = _place(None, scheduler, usual=1)
    with place():  # which refuses a scheduler that is none
        pass
    runs = bench_runs.Bench(here, place=place, usable=_usable)
    bench.serve(runs, port=port, ready=ready)


def register(app: typer.Typer, data: Callable[[], dict[str, str]], usable: Callable[[Mapping[str, Any]], None]) -> None:
    """Add these commands to the application."""
    global _data, _usable
    _data, _usable = data, usable
    app.command(epilog="Example: gspa build --profile quick")(build)
    app.command("run", epilog="Example: gspa run 08_comparison -p n_max 3000")(run_one)
    app.command(epilog="Example: gspa verify --claim G-C2 --claim G-C3")(verify)
    app.command(epilog="Example: gspa sweep 08_comparison -p n_max 3000,30000 -p delta 1e-5,1e-6")(sweep)
    app.command(epilog="Example: gspa serve --port 8000")(serve)

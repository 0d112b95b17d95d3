"""Typer application `gspa`: a thin skin over the package's functions.

Heavy modules (papermill, torch, Sphinx) load inside the commands that use them, so that
`gspa mu` answers at once.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gspa.errors import GspaError, InvalidValue

app = typer.Typer(
    name="gspa",
    help="The shuffle model, checked: bounds for local budgets, and the book that checks them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
data_app = typer.Typer(help="The MNIST files: where they are, and whether their checksums hold.", no_args_is_help=True)
app.add_typer(data_app, name="data")

Eps = Annotated[float | None, typer.Option("--eps", help="One local budget for everybody.")]
Size = Annotated[int | None, typer.Option("--n", help="Number of users, with --eps.")]
Delta = Annotated[float, typer.Option("--delta", help="Central delta, in (0, 1).")]
BudgetsFile = Annotated[Path | None, typer.Option("--budgets", help="CSV with columns eps[,delta][,count].")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Profile = Annotated[str, typer.Option("--profile", help="paper: the papers' own sizes; quick: small ones.")]
Jobs = Annotated[int | None, typer.Option("--jobs", help="Notebooks to run at once (default: the cores at hand).")]


def _budgets(eps: float | None, n: int | None, file: Path | None) -> Any:
    from gspa import budgets

    if file is not None:
        if eps is not None or n is not None:
            raise GspaError("--budgets: give either --budgets FILE or --eps with --n, not both")
        return budgets.from_csv(file)
    if eps is None or n is None:
        raise GspaError("--eps, --n: give both, for instance --eps 0.5 --n 10000, or --budgets FILE.csv")
    return budgets.constant(eps, n=n)


def _profile(name: str) -> str:
    from gspa._validate import one_of
    from gspa.parameters import PROFILES

    return one_of(PROFILES, profile=name)


@app.command(epilog="Example: gspa mu --eps 0.5 --n 10000 --delta 1e-4")
def mu(
    eps: Eps = None, n: Size = None, budgets: BudgetsFile = None, delta: Delta = 1e-4, as_json: Json = False
) -> None:
    """The paper's mu (Theorem 2) and the central eps that it promises at delta."""
    from gspa import bounds

    population = _budgets(eps, n, budgets)
    entry = bounds.CATALOGUE["gspa"]
    value = bounds.gspa_mu(population)
    central = bounds.gspa_epsilon(population, delta=delta)
    if as_json:
        answer = {"mu": value, "epsilon": central, "delta": delta, "n": population.n, "method": entry.label}
        typer.echo(json.dumps(answer | {"valid_for": entry.valid_for}))
        return
    typer.echo(f"mu = {value:.6g}, eps = {central:.6g} at delta = {delta:g}, n = {population.n:,}")
    typer.echo(f"An approximation, not a certificate. Valid for: {entry.valid_for}")


@app.command(epilog="Example: gspa bounds --eps 0.5 --n 10000 --delta 1e-4")
def bounds(
    eps: Eps = None, n: Size = None, budgets: BudgetsFile = None, delta: Delta = 1e-4, as_json: Json = False
) -> None:
    """Every published bound side by side, the tightest first, with what it is valid for."""
    from dataclasses import asdict

    from gspa import bounds as catalogue

    population = _budgets(eps, n, budgets)
    rows = catalogue.compare(population, delta=delta)
    if as_json:
        typer.echo(json.dumps({"n": population.n, "delta": delta, "bounds": [asdict(row) for row in rows]}))
        return
    typer.echo(f"n = {population.n:,}, largest eps = {population.eps_max:g}, delta = {delta:g}")
    for row in rows:
        value = "refused" if row.epsilon is None else f"eps = {row.epsilon:.6g}"
        typer.echo(f"\n{row.label}: {value}{' (trivial: no amplification)' if row.trivial else ''}")
        typer.echo(f"  valid for: {row.valid_for}")
        if row.note:
            typer.echo(f"  {row.note}")


@app.command(epilog="Example: gspa build --profile quick")
def build(profile: Profile = "paper", jobs: Jobs = None) -> None:
    """Run the notebooks and render the site to _build/html."""
    from gspa import parameters, pipeline, project, site
    from gspa._validate import count
    from gspa.progress import Display

    profile = _profile(profile)
    at_once = count(1, jobs=jobs) if jobs is not None else project.cores()
    here = project.find()
    notebooks = parameters.discover(here).values()
    with site.exclusive(here):
        with Display() as display:
            runs = pipeline.run_all(here, notebooks, profile=profile, jobs=at_once, progress=display.update)
        typer.echo("Rendering the site ...")
        changed = site.render(here, runs, profile=profile)
    state = "is ready" if changed else "is unchanged"
    typer.echo(f"The site {state}. Open it: {(here.html / 'index.html').as_uri()}")


@app.command("run", epilog="Example: gspa run 08_comparison -p n_max 3000")
def run_one(
    notebook: Annotated[str, typer.Argument(help="A notebook's name, such as 08_comparison.")],
    p: Annotated[
        list[str] | None, typer.Option("-p", metavar="NAME VALUE", help="A parameter; may be repeated.")
    ] = None,
    file: Annotated[Path | None, typer.Option("-f", help="A YAML file of parameters.")] = None,
    output: Annotated[Path | None, typer.Option("-o", help="Where the executed notebook goes.")] = None,
    profile: Profile = "paper",
) -> None:
    """Run one notebook with new parameters."""
    from gspa import parameters, pipeline, project
    from gspa.progress import Display

    here = project.find()
    source = parameters.select(here, notebook)
    given = parameters.from_file(file) if file else {}
    if any("\0" not in pair for pair in p or []):  # -pNAME, written as one word
        raise GspaError(_PAIR)
    given |= dict(pair.split("\0", 1) for pair in p or [])
    values = source.validate(given, profile=_profile(str(given.get("profile", profile))))
    if output is None:
        name = project.digest(json.dumps(values, sort_keys=True))[:8]
        output = here.build / "runs" / f"{source.name}-{name}.ipynb"
    elif output.suffix != ".ipynb" or output.is_dir():
        raise InvalidValue("-o", str(output), "a file name that ends in .ipynb")
    project.ensure_writable(output.resolve().parent)
    with Display() as display:
        pipeline.run_notebook(here, source, values, output.resolve(), progress=display.update)
    typer.echo(f"Wrote {output}")


@app.command(epilog="Example: gspa verify --claim G-C2 --claim G-C3")
def verify(
    profile: Profile = "paper",
    claim: Annotated[list[str] | None, typer.Option("--claim", help="Only this claim; may be repeated.")] = None,
    as_json: Json = False,
) -> None:
    """Re-derive every verdict and compare it with the record; exit status 1 when one differs."""
    from gspa import claims

    profile = _profile(profile)
    differing = []
    results = []
    for entry, outcome in claims.verify(claim, profile=profile):
        differs = claims.differs(entry, outcome)
        differing += [entry.id] if differs else []
        results.append(outcome.to_dict() | {"recorded": entry.verdict, "differs": differs})
        if not as_json:
            mark = f"  DIFFERS from the record: {entry.verdict}" if differs else ""
            typer.echo(f"{entry.id:8} {outcome.verdict:22} {outcome.reason}{mark}")
    if as_json:
        typer.echo(json.dumps({"profile": profile, "claims": results}))
    else:
        settled = sum(result["verdict"] != "not yet checked" for result in results)
        typer.echo(f"{settled} of {len(results)} settled in this run, {len(differing)} differ from the record.")
    if differing:
        raise typer.Exit(1)


@app.command(epilog="Example: gspa serve --port 8000")
def serve(
    port: Annotated[int, typer.Option("--port", help="Port on this machine; 0 picks a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser as well.")] = True,
) -> None:
    """Open the built site."""
    import webbrowser
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    from gspa import project
    from gspa._validate import in_range

    in_range(0, 65535, port=port)
    here = project.find()
    if not (here.html / "index.html").is_file():
        raise GspaError(f"{here.html}: no site yet; run gspa build first")
    handler = partial(SimpleHTTPRequestHandler, directory=str(here.html))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        raise InvalidValue("port", port, f"a free port ({error.strerror})", "--port 0 picks one") from None
    address = f"http://127.0.0.1:{server.server_port}/"
    typer.echo(f"Serving {here.html} at {address}; stop with Ctrl-C")
    if browser:
        webbrowser.open(address)
    with server:
        server.serve_forever()


@data_app.command("status", epilog="Example: gspa data status")
def data_status(as_json: Json = False) -> None:
    """Which MNIST files are here, from where, and whether their checksums hold."""
    from dataclasses import asdict

    from gspa import datasets

    rows = datasets.status()
    if as_json:
        typer.echo(json.dumps([asdict(row) | {"path": str(row.path or "")} for row in rows]))
    else:
        for row in rows:
            typer.echo(f"{row.file}: {row.state}" + (f" ({row.path})" if row.path else ""))
            if row.state == "damaged":
                typer.echo(f"  expected SHA-256 {row.expected_sha256}, found {row.found_sha256}")
    if any(row.state == "damaged" for row in rows):
        raise typer.Exit(1)


@data_app.command("fetch", epilog="Example: gspa data fetch")
def data_fetch() -> None:
    """Download MNIST with a progress bar and check it before it is used."""
    from gspa import datasets

    typer.echo(f"MNIST is in {datasets.fetch()}")


_PAIR = "-p: needs a name and a value, for instance -p n_max 3000"


def _pairs(arguments: Sequence[str]) -> list[str]:
    """`-p NAME VALUE` as one option value, which is how papermill's users write it."""
    joined: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        joined.append(argument)
        if argument == "-p":
            name, value = next(rest, None), next(rest, None)
            if name is None or value is None:
                raise GspaError(_PAIR)
            joined.append(f"{name}\0{value}")
    return joined


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status; deliberate errors become one line."""
    command = typer.main.get_command(app)
    try:
        status = int(command.main(list(_pairs(arguments)), prog_name="gspa", standalone_mode=False) or 0)
    except GspaError as error:
        print(f"gspa: {error}", file=sys.stderr)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    except typer.Exit as stop:
        return stop.exit_code
    except Exception as error:
        # Typer's own usage errors: unknown option, a word where a number belongs.
        if not hasattr(error, "format_message"):
            raise
        print(_usage(error), file=sys.stderr)
        return 2
    if status == 130:  # Typer returns an interrupt as this status, Click raises Abort
        print("gspa: stopped; what was finished is kept", file=sys.stderr)
    return status


def _usage(error: Any) -> str:
    """Typer's message as one line that names the command's help, or that help itself."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "gspa"
    message = error.format_message()
    if message.startswith("Usage:"):  # a group without a command: its help is the answer
        return str(message)
    return f"gspa: {message.rstrip('.')}; see {path} --help"

"""Commands of the book: build, run, verify, serve, and the data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gspa.errors import GspaError, InvalidValue

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Profile = Annotated[str, typer.Option("--profile", help="paper: the papers' own sizes; quick: small ones.")]
Jobs = Annotated[int | None, typer.Option("--jobs", help="Notebooks to run at once (default: the cores at hand).")]

PAIR = "-p: needs a name and a value, for instance -p n_max 3000"


def _profile(name: str) -> str:
    from gspa._validate import one_of
    from gspa.parameters import PROFILES

    return one_of(PROFILES, profile=name)


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
    from gspa import parameters, pipeline, project, site
    from gspa.progress import Display

    here = project.find()
    source = parameters.select(here, notebook)
    given = parameters.from_file(file) if file else {}
    if any("\0" not in pair for pair in p or []):  # -pNAME, written as one word
        raise GspaError(PAIR)
    given |= dict(pair.split("\0", 1) for pair in p or [])
    values = source.validate(given, profile=_profile(str(given.get("profile", profile))))
    if values.get("device", "cpu") != "cpu":  # refused now, not after the cells before
        from gspa import _device

        _device.find(str(values["device"]))
    if output is None:
        name = project.digest(json.dumps(values, sort_keys=True))[:8]
        output = here.build / "runs" / f"{source.name}-{name}.ipynb"
    elif "\0" in str(output) or output.is_dir() or {output.suffix, output.resolve().suffix} != {".ipynb"}:
        # The file behind a link is the one that would be replaced.
        raise InvalidValue("-o", str(output), "a file name that ends in .ipynb")
    project.ensure_writable(output.resolve().parent)
    folder = site.page_folder(output) if show else None
    with Display() as display:
        pipeline.run_notebook(here, source, values, output.resolve(), progress=display.update)
    typer.echo(f"Wrote {output}")
    if folder is not None:
        page = site.render_page(here, source.name, output, folder, profile=str(values["profile"]))
        opened = _browse(page.as_uri())
        typer.echo(f"Opened {page}" if opened else f"No browser here; open it yourself: {page}")


def _browse(address: str) -> bool:
    """Whether a browser took the address."""
    import webbrowser

    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


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


def data_fetch() -> None:
    """Download MNIST with a progress bar and check it before it is used."""
    from gspa import datasets

    typer.echo(f"MNIST is in {datasets.fetch()}")


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    data_app = typer.Typer(
        help="The MNIST files: where they are, and whether their checksums hold.", no_args_is_help=True
    )
    app.command(epilog="Example: gspa build --profile quick")(build)
    app.command("run", epilog="Example: gspa run 08_comparison -p n_max 3000")(run_one)
    app.command(epilog="Example: gspa verify --claim G-C2 --claim G-C3")(verify)
    app.command(epilog="Example: gspa serve --port 8000")(serve)
    data_app.command("status", epilog="Example: gspa data status")(data_status)
    data_app.command("fetch", epilog="Example: gspa data fetch")(data_fetch)
    app.add_typer(data_app, name="data")

"""The command that runs one notebook or experiment under many settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gspa.errors import CheckFailed, GspaError, InvalidValue


def sweep(
    what: Annotated[
        str,
        typer.Argument(
            metavar="NOTEBOOK", help="A notebook such as 08_comparison, or epsilon, mean, frequency, training."
        ),
    ],
    p: Annotated[
        list[str] | None,
        typer.Option("-p", metavar="NAME V1,V2,...", help="A parameter's values; may be repeated: every combination."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--settings", help="A CSV of settings: a column a parameter, a row a setting.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", help="The table: FILE.csv or FILE.parquet.")] = None,
    page: Annotated[Path | None, typer.Option("--page", help="Also a notebook FILE.ipynb that shows it.")] = None,
    x: Annotated[str, typer.Option("--x", help="The page's horizontal axis (default: the first axis).")] = "",
    y: Annotated[str, typer.Option("--y", help="Its vertical axis (default: the first result).")] = "",
    by: Annotated[str, typer.Option("--by", help="A line for each value of it (default: the second axis).")] = "",
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Address of a Dask scheduler, or its scheduler file.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", help="Settings at once on this machine (default: the cores at hand).")
    ] = None,
    profile: Annotated[
        str, typer.Option("--profile", help="paper: the papers' own sizes; quick: small ones.")
    ] = "paper",
) -> None:
    """Run a notebook or experiment under many settings, into one table; what is done is not run again."""
    from gspa import project, sweep
    from gspa._sweep_engines import Cluster, Local
    from gspa._validate import count, one_of
    from gspa.parameters import PROFILES
    from gspa.progress import Countdown

    if jobs is not None and scheduler is not None:
        raise GspaError("--jobs, --scheduler: give one; the cluster's workers say how much runs at once")
    at_once = count(1, jobs=jobs) if jobs is not None else None
    target, notebook = sweep.target(what, project.find)
    axes: dict[str, list[str]] = {}
    for pair in p or []:
        name, mark, text = pair.partition("\0")
        if not mark:  # -pNAME, written as one word
            raise GspaError("-p: needs a name and values, for instance -p n_max 3000,30000")
        if name in axes:
            raise GspaError(f"-p {name}: is given twice; put all of its values into one list")
        axes[name] = sweep.values_of(notebook, name, text)
    rows = sweep.rows_of(file) if file is not None else [{}]
    wanted = sweep.settings(notebook, axes, rows, profile=one_of(PROFILES, profile=profile))
    if output is None:
        output = (Path.cwd() if not target.source else project.find().build / "sweeps") / f"{what}.csv"
    sweep.check_output(output)
    if page is not None and page.suffix != ".ipynb":
        raise InvalidValue("--page", str(page), "a file name that ends in .ipynb")
    if page is not None:
        project.ensure_writable(page.resolve().parent)
    engine = Cluster(scheduler) if scheduler is not None else Local(at_once)
    try:
        typer.echo(f"{_settings(len(wanted))} of {what} on {engine.label}", err=True)
        with Countdown() as bar:
            found = sweep.run(target, wanted, engine=engine, output=output, progress=bar.update)
    except KeyboardInterrupt:
        typer.echo(f"{output} has what was finished; the same command goes on from there", err=True)
        raise
    finally:
        engine.close()
    done = len(found.table) - found.failed
    typer.echo(f"Wrote {output}: {done} done, {found.reused} of them before, {found.failed} failed")
    if page is not None and done:
        _page(page, output, found.table, notebook, axes, x, y, by)
        typer.echo(f"Wrote {page}")
    if found.failed:
        first = found.table.loc[found.table["status"] == "failed", "error"].iloc[0]
        raise CheckFailed(f"{_settings(found.failed)} failed, the first with: {first}; see the column error")


def _settings(many: int) -> str:
    return f"{many:,} setting" + ("" if many == 1 else "s")


def _page(page: Path, output: Path, table: Any, notebook: Any, axes: Any, x: str, y: str, by: str) -> None:
    """The template notebook, run on the table just written."""
    from gspa import pipeline, project, sweep
    from gspa._validate import one_of
    from gspa.parameters import Notebook, read_yaml

    varied = [name for name in notebook.properties if table[name].nunique() > 1]
    order = [name for name in axes if name in varied] + [name for name in varied if name not in axes]
    results = sweep.results_of(table, notebook.properties)
    numbers = table[results].select_dtypes("number")
    moving = [name for name in numbers if numbers[name].nunique() > 1] or list(numbers)
    if not order or not moving:
        raise GspaError("--page: needs a parameter with two values and a result that is a number")
    across, up = x or order[0], y or moving[0]
    columns = [*notebook.properties, *results]
    for option, column in (("--x", across), ("--y", up), ("--by", by)):
        if column:
            one_of(columns, **{option: column})
    chosen = {
        "table": str(output.resolve()),
        "title": f"{notebook.name}, swept",
        "x": across,
        "y": up,
        "by": by or next((name for name in order if name != across), ""),
        "log_x": _spans_decades(table, across),
        "log_y": _spans_decades(table, up),
    }
    path = Path(__file__).parent / "templates" / "sweep_page.ipynb"
    template = Notebook("sweep_page", path, read_yaml(path.with_suffix(".schema.yaml")))
    here = project.Project(page.resolve().parent)
    pipeline.run_notebook(here, template, template.validate(chosen), page.resolve())


def _spans_decades(table: Any, column: str) -> bool:
    """Whether a logarithmic axis shows the column better."""
    if column not in table or table[column].dtype.kind not in "iuf":
        return False
    least, most = table[column].min(), table[column].max()
    return bool(least > 0 and most >= 50 * least)


def register(app: typer.Typer) -> None:
    """Add this command to the application."""
    app.command(epilog="Example: gspa sweep 08_comparison -p n_max 3000,30000 -p delta 1e-5,1e-6")(sweep)

"""Commands of the data: which MNIST files are here, and their download."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def identity() -> dict[str, str]:
    """File name to SHA-256 of the data set that a notebook would use now."""
    from gspa.algorithms import digits

    return dict(digits.load("auto").sha256)


def usable(values: Mapping[str, Any]) -> None:
    """Refuse a notebook's parameters that ask for a processor which is not here."""
    if values.get("device", "cpu") != "cpu":
        from gspa.algorithms import _device

        _device.find(str(values["device"]))


def status(as_json: Json = False) -> None:
    """Which MNIST files are here, from where, and whether their checksums hold."""
    from dataclasses import asdict

    from gspa.algorithms import digits

    rows = digits.status()
    if as_json:
        typer.echo(json.dumps([asdict(row) | {"path": str(row.path or "")} for row in rows]))
    else:
        for row in rows:
            typer.echo(f"{row.file}: {row.state}" + (f" ({row.path})" if row.path else ""))
            if row.state == "damaged":
                typer.echo(f"  expected SHA-256 {row.expected_sha256}, found {row.found_sha256 or 'none'}")
    if any(row.state == "damaged" for row in rows):
        raise typer.Exit(1)


def fetch() -> None:
    """Download MNIST with a progress bar and check it before it is used."""
    from gspa.algorithms import digits

    typer.echo(f"MNIST is in {digits.fetch()}")


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    data = typer.Typer(help="The MNIST files: where they are, and whether their checksums hold.", no_args_is_help=True)
    data.command("status", epilog="Example: gspa data status")(status)
    data.command("fetch", epilog="Example: gspa data fetch")(fetch)
    app.add_typer(data, name="data")

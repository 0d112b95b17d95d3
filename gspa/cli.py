"""Typer application `gspa`: a thin skin over the package's functions.

Each room brings its own commands: `accountant` bounds for your own budgets, `book` notebooks, claims, site and sweeps,
`algorithms` the data. Heavy modules (papermill, torch, Sphinx) load inside the commands that use them, so that
`gspa mu` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import typer

from gspa.accountant import cli as accountant
from gspa.accountant.errors import GspaError
from gspa.algorithms import cli as algorithms
from gspa.book import cli as book

app = typer.Typer(
    name="gspa",
    help="The shuffle model, checked: bounds for local budgets, and the book that checks them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
accountant.register(app)
book.register(app, data=algorithms.identity, usable=algorithms.usable)
algorithms.register(app)

_EXTRAS = {"data": "learn"}  # of a command that needs more than this application; of all others "book"


def _pairs(arguments: Sequence[str]) -> list[str]:
    """`-p NAME VALUE` as one option value, which is how papermill's users write it."""
    joined: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        joined.append(argument)
        if argument == "-p":
            name, value = next(rest, None), next(rest, None)
            if name is None or value is None:
                raise GspaError(book.PAIR)
            joined.append(f"{name}\0{value}")
    return joined


@cache
def _command() -> Any:
    """All commands, made once: a process may run many lines."""
    return typer.main.get_command(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status; deliberate errors become one line."""
    try:
        status = int(_command().main(list(_pairs(arguments)), prog_name="gspa", standalone_mode=False) or 0)
    except GspaError as error:
        # What was asked wrongly is said in one line, whatever the words hold; a failure may have an output to show.
        message = " ".join(str(error).split()) if error.exit_code == 2 else str(error)
        print(f"gspa: {message}", file=sys.stderr)
        return error.exit_code
    except ModuleNotFoundError as error:  # what is installed is the machine's state as well
        if not error.name or error.name.partition(".")[0] == "gspa":
            raise
        extra = _EXTRAS.get(arguments[0], "book")
        needs = f"gspa {arguments[0]} needs {error.name}, which is not installed"
        print(f"gspa: {needs}: pip install 'gspa[{extra}]'", file=sys.stderr)
        return 2
    except OSError as error:  # a full disk, a file that may not be read: the machine's state, no bug
        print(f"gspa: {_os_failure(error)}", file=sys.stderr)
        return 1
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


def _os_failure(error: OSError) -> str:
    """What the operating system refused, and of which file where it says so."""
    what = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {what}" if error.filename else what


def _usage(error: Any) -> str:
    """Typer's message as one line that names the command's help, or that help itself."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "gspa"
    message = error.format_message().replace("Value error, ", "")  # pydantic's words before ours
    if message.startswith("Usage:"):  # a group without a command: its help is the answer
        return str(message)
    return f"gspa: {' '.join(message.rstrip('.').split())}; see {path} --help"

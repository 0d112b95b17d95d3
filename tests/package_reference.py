"""What the package offers: what its reference shows, book/api.md and the pages under it, and its commands."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import typer

from gspa.cli import app

BOOK = Path(__file__).resolve().parents[1] / "book"
PAGES = (BOOK / "api.md", *sorted((BOOK / "api").glob("*.md")))


def modules() -> list[tuple[Path, str, str]]:
    """(page, module, options) of every `automodule` directive."""
    return [
        (page, *found)
        for page in PAGES
        for found in re.findall(r"automodule:: (\S+)\n((?: +:\S.*\n?)*)", page.read_text(encoding="utf-8"))
    ]


def reference() -> list[tuple[str, str]]:
    """(module, member) for everything that the reference shows, classes included."""
    found = []
    for _, module, options in modules():
        loaded = import_module(module)
        given = _names(":members:", options)
        names = getattr(loaded, "__all__", None) if "ignore-module-all" not in options else None
        own = [key for key, value in vars(loaded).items() if getattr(value, "__module__", None) == module]
        left_out = _names(":exclude-members:", options)
        found += [(module, key) for key in given or names or own if not key.startswith("_") and key not in left_out]
    return found


def commands(path: tuple[str, ...] = (), group: object = None) -> dict[tuple[str, ...], typer.core.TyperCommand]:
    """Every command of the application by the words that ask for it, such as ("data", "status")."""
    found = {}
    for name, part in (group or typer.main.get_command(app)).commands.items():
        found |= commands((*path, name), part) if hasattr(part, "commands") else {(*path, name): part}
    return found


def _names(option: str, options: str) -> list[str]:
    listed = re.search(rf"{option}(.*)", options)
    return [part.strip() for part in (listed[1] if listed else "").split(",") if part.strip()]

"""The house: accountant <- algorithms, accountant <- book, and who may import what."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "gspa"
# What a room may import of the others; gspa/files.py is for all but the accountant.
ROOMS = {
    "accountant": set(),
    "algorithms": {"accountant"},
    "book": {"accountant"},
}
BOOKS_SHARE = {"gspa.accountant.errors", "gspa.accountant.arguments"}
FILES = sorted(path for room in ROOMS for path in (PACKAGE / room).rglob("*.py"))


@cache
def imported(path: Path) -> list[tuple[str, str]]:
    """(module, name) of every import, also those inside of functions; name is empty for `import module`."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found += [(str(node.module), alias.name) for alias in node.names]
    return found


def whole(module: str, name: str) -> str:
    """The module that is meant: of `from gspa.accountant import line` it is gspa.accountant.laplace_gaussian."""
    return f"{module}.{name}" if module in {"gspa", *(f"gspa.{room}" for room in ROOMS)} and name else module


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    room = path.relative_to(PACKAGE).parts[0]
    # The checker of certificates stands alone; what issues them asks it.
    allowed = ROOMS[room] | {room, "__version__"} | {"check_certificate" if room == "accountant" else "files"}
    for module, name in imported(path):
        found = whole(module, name)
        if not found.startswith("gspa"):
            continue
        other = found.split(".")[1] if "." in found else ""
        assert other in allowed, f"{room} imports {found}"
        if room == "book" and other == "accountant":
            assert found in BOOKS_SHARE, f"the book knows no theory, and imports {found}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_private_name_and_no_private_module_of_another_folder(path):
    folder = ".".join(path.relative_to(PACKAGE.parent).parts[:-1])
    for module, name in imported(path):
        home, dot, _ = module.partition("._")
        if module.startswith("gspa") and dot:  # the folders below a private module's own may use it
            assert f"{folder}.".startswith(f"{home}."), f"imports {name} of {module}"
        if module.startswith("gspa") and name.startswith("_") and name != "__version__":
            # A module of one's own folder may be private to the folder.
            assert module == folder, f"imports {name} of {module}"


HELPERS = sorted((PACKAGE.parent / "notebooks").glob("*.py"))


@pytest.mark.parametrize("path", HELPERS, ids=lambda path: path.stem)
def test_a_helper_lies_beside_its_notebook_and_imports_no_other(path):
    assert path.with_name(f"{path.stem[1:]}.ipynb").is_file()
    modules = {module.split(".")[0] for module, _ in imported(path)}
    assert not modules & {one.stem for one in HELPERS}
    private = [(module, name) for module, name in imported(path) if module.startswith("gspa") and name.startswith("_")]
    assert private == []


@pytest.mark.parametrize("path", sorted((PACKAGE / "accountant").glob("*.py")), ids=lambda path: path.stem)
def test_the_accountant_needs_numpy_and_scipy_alone(path):
    allowed = {*sys.stdlib_module_names, "numpy", "scipy", "gspa"}
    allowed |= {"cli": {"typer"}, "interop": {"dp_accounting"}}.get(path.stem, set())
    assert {module.split(".")[0] for module, _ in imported(path)} <= allowed

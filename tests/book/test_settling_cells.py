"""The cells that settle claims and the registry's words for them name the same; nothing is run."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from gspa.book import parameters, say
from gspa.book.claims import claim, registry
from gspa.book.project import Project

ROOT = Path(__file__).resolve().parents[2]
IN_CELLS = [name for name, one in registry().items() if one.readings]


def calls():
    """The calls of `page.settle` with an id: notebook, id, the call, and what is bound to the names before it."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        bound = {}
        for source in sources:
            if source.startswith("%%"):
                continue
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    bound[node.targets[0].id] = node.value
                settles = isinstance(node, ast.Call) and ast.unparse(node.func) == "page.settle"
                if settles and isinstance(node.args[0], ast.Constant):
                    yield path.stem, node.args[0].value, node, dict(bound)


def keys(node, bound):
    """The keys of a literal mapping, or of the name of one."""
    node = bound.get(node.id, node) if isinstance(node, ast.Name) else node
    return [ast.literal_eval(key) for key in node.keys] if isinstance(node, ast.Dict) else None


def handed(call, bound):
    """The names of the evidence that a call hands over."""
    given = set()
    for one in call.keywords:
        given |= {one.arg} if one.arg else set(keys(one.value, bound) or ())
    return given


PAGES = parameters.discover(Project(ROOT))
CALLS = {name: (notebook, call, bound) for notebook, name, call, bound in calls()}


def test_each_claim_with_words_for_a_cell_has_one_cell_and_no_other():
    assert sorted(CALLS) == sorted(IN_CELLS)
    assert {name: CALLS[name][0] for name in IN_CELLS} == {name: claim(name).notebook for name in IN_CELLS}


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_page_asks_for_the_tolerances_of_its_own_claims(path):
    asked = re.findall(r'page\.tolerance\(\\"([\w-]+)\\"', path.read_text(encoding="utf-8"))
    assert {claim(name).notebook for name in asked} <= {path.stem}  # its run depends on no other page's claims


@pytest.mark.parametrize("name", IN_CELLS)
def test_a_cell_and_its_words_name_the_same(name):
    _, call, bound = CALLS[name]
    entry = claim(name)
    readings = keys(call.args[1], bound)
    assert (readings or [""]) == [*entry.readings]
    given = handed(call, bound)
    said = set()
    for one in entry.readings.values():
        said |= (say.names(one.found) | say.names(one.correction)) - {"nth"}
    names = set().union(*(say.names(f"{{{{ {need} }}}}") for need in entry.needs if need not in ("data", "size")))
    assert names <= given | set(PAGES[entry.notebook].properties), "needs what is no evidence and no parameter"
    assert said <= given, f"words name what the cell does not hand over: {sorted(said - given)}"
    assert set(entry.evidence) <= given, f"labels of nothing: {sorted(set(entry.evidence) - given)}"
    told = set(entry.evidence) | said | names  # a name that the words or the needs have is its own label
    assert given <= told, f"evidence without a label: {sorted(given - told)}"

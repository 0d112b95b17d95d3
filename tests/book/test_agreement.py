"""What several files say about one thing: the version, the dependencies, the commands, and nothing private."""

from __future__ import annotations

import ast
import doctest
import re
import shlex
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import typer
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import gspa
from gspa.book import claims, parameters, sweep
from gspa.book.project import Project
from gspa.cli import _pairs, app

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
PAGES = ("README.md", "book/rerun.md", "book/sweep.md")


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


# The version


def test_the_version_is_the_same_everywhere():
    # Read from the source as text too: the installed metadata could be of another checkout.
    tree = ast.parse(text("gspa/__init__.py"))
    written = [n.value.value for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "__version__"]
    cited = yaml.safe_load(text("CITATION.cff"))["version"]
    logged = re.findall(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)[0]
    assert {*written, str(cited), logged, version("gspa"), gspa.__version__} == {gspa.__version__}
    assert re.fullmatch(r"\d+\.\d+\.\d+", gspa.__version__)
    assert PYPROJECT["project"]["dynamic"] == ["version"]


def test_the_changelog_goes_from_new_to_old():
    found = [tuple(map(int, v.split("."))) for v in re.findall(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)]
    assert found == sorted(set(found), reverse=True)


# The dependencies


def direct(*extras):
    """The package's own requirements with those of the extras; an extra may name others of gspa."""
    found = [Requirement(line) for line in PYPROJECT["project"]["dependencies"]]
    waiting = list(extras)
    while waiting:
        for requirement in map(Requirement, EXTRAS[waiting.pop()]):
            if requirement.name == "gspa":
                waiting += requirement.extras
            else:
                found.append(requirement)
    return {canonicalize_name(requirement.name): requirement for requirement in found}


def pins(lines):
    """Name to version of `name==version` lines; anything else is an error."""
    found = {}
    for line in lines:
        match = re.fullmatch(r"([A-Za-z0-9._-]+)==([^\s;,*]+)", line)
        assert match, f"not an exact pin: {line!r}"
        name = canonicalize_name(match[1])
        assert name not in found, f"pinned twice: {name}"
        found[name] = match[2]
    return found


@pytest.fixture(scope="module")
def constraints():
    return pins(line for line in text("constraints.txt").splitlines() if line and not line.startswith("#"))


@pytest.fixture(scope="module")
def environment():
    return yaml.safe_load(text("environment.yml"))["dependencies"]


def test_every_direct_dependency_has_an_exact_pin_that_fits(constraints):
    wanted = direct(*EXTRAS)
    assert {"numpy", "typer", "torch", "jupyter-book", "pytest", "ruff"} <= set(wanted)
    assert set(wanted) - set(constraints) == set()
    misfits = [name for name, requirement in wanted.items() if constraints[name] not in requirement.specifier]
    assert misfits == []


def test_conda_gets_the_same_pins(constraints, environment):
    (packages,) = (entry["pip"] for entry in environment if isinstance(entry, dict))
    assert packages[-1] == "--editable .[book]"
    # Binder would take a folder of its own before the file at the root.
    assert not any((ROOT / folder).exists() for folder in ("binder", ".binder"))
    found = pins(packages[:-1])
    assert found == {name: constraints[name] for name in direct("book")}


def test_conda_gets_the_same_python(environment):
    (python,) = (entry for entry in environment if isinstance(entry, str) and entry.startswith("python"))
    wanted = SpecifierSet(PYPROJECT["project"]["requires-python"])
    assert SpecifierSet(python.removeprefix("python").strip()) == wanted
    # What README and the classifiers say, and nothing else.
    minors = [f"3.{minor}" for minor in range(8, 20) if f"3.{minor}.0" in wanted]
    listed = [
        c.rpartition(" ")[2] for c in PYPROJECT["project"]["classifiers"] if c.rpartition(" ")[2].startswith("3.")
    ]
    assert listed == minors
    assert f"Needs Python {minors[0]} to {minors[-1]}" in text("README.md")


# The commands


def commands(page):
    """The words after `gspa` of every shell line of a page."""
    blocks = re.findall(r"^```bash\n(.*?)^```", text(page), re.DOTALL | re.MULTILINE)
    lines = [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]
    return [line[1:] for line in lines if line and Path(line[0]).name == "gspa"]


COMMANDS = [pytest.param(words, id=f"{page}: {' '.join(words)}") for page in PAGES for words in commands(page)]


def parsed(words):
    """The context of a line's command: its options read and converted, nothing run."""
    command, name, rest = typer.main.get_command(app), "gspa", list(_pairs(words))
    while hasattr(command, "commands"):
        name, *rest = rest
        assert name in command.commands, f"there is no command {name}"
        command = command.commands[name]
    return command.make_context(name, rest)


def test_the_pages_show_commands():
    assert len(commands("README.md")) >= 4
    assert len(commands("book/rerun.md")) >= 6


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_on_a_page_is_understood(words):
    context = parsed(words)
    if context.info_name == "run":
        notebook = parameters.select(Project(ROOT), context.params["notebook"])
        given = dict(pair.split("\0", 1) for pair in context.params["p"] or [])
        assert notebook.validate(given)["profile"] == "paper"
    if context.info_name == "sweep":
        notebook = parameters.select(Project(ROOT), context.params["what"])
        pairs = (pair.split("\0", 1) for pair in context.params["p"] or [])
        axes = {axis: sweep.values_of(notebook, axis, values) for axis, values in pairs}
        assert len(sweep.settings(notebook, axes)) > 1


@pytest.mark.parametrize("words", [["nothing"], ["mu", "--nothing", "1"], ["mu", "--n", "many"], ["data", "nothing"]])
def test_a_command_that_does_not_exist_would_be_noticed(words):
    with pytest.raises(Exception, match=r"(?i)no such|valid integer|there is no"):
        parsed(words)


@pytest.mark.parametrize("page", PAGES)
def test_papermill_and_jupyter_are_given_notebooks_that_exist(page):
    named = re.findall(r"[^\s`]+\.ipynb", text(page))
    assert named
    assert [name for name in named if "/" in name and not (ROOT / name).is_file()] == []


def test_the_readmes_answer_is_what_python_prints():
    (block,) = re.findall(r"^```python\n(.*?)^```", text("README.md"), re.DOTALL | re.MULTILINE)
    example = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert example.examples
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed == 0


def test_the_papers_numbers_are_those_of_the_registry_and_of_the_readme():
    for words in (text("paper.md"), text("CHANGELOG.md")):
        assert f"{len(claims.registry())} claims" in words
        assert f"{len(claims.errata())} errata" in words
        assert re.search(rf"\b{len(list((ROOT / 'notebooks').glob('*.ipynb')))} (executable )?notebooks", words)
    words = text("paper.md")
    for found in re.findall(r"[\d.]*\d times the certified bound|from [\d.]+ to [\d.]*\d", words, re.IGNORECASE):
        assert found.lower() in text("README.md").lower(), found
    cited = set(re.findall(r"@(\w+)", words.partition("# Summary")[2]))
    assert cited <= set(re.findall(r"^@\w+\{(\w+),", text("book/references.bib"), re.MULTILINE))


def test_the_readme_lists_the_notebooks():
    listed = re.findall(r"^\| `(\w+)` \|", text("README.md"), re.MULTILINE)
    assert listed == sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def test_make_targets_on_a_page_exist():
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE))
    for page in PAGES:
        assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text(page), re.MULTILINE)) <= targets


# Nothing of one machine


@pytest.fixture(scope="module")
def tracked():
    """Every text file that git tracks or would add, by name."""
    listing = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    found = {}
    for name in filter(None, names):
        data = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b"\0"
        if b"\0" not in data:
            found[name] = data.decode("utf-8")
    assert {"README.md", "gspa/__init__.py"} <= set(found)
    return found


def matches(tracked, pattern):
    found = [(name, match[0]) for name, body in tracked.items() for match in re.finditer(pattern, body)]
    return [(name, what) for name, what in found if name != "tests/book/test_agreement.py"]


def test_no_file_names_a_folder_of_one_machine(tracked):
    # An absolute path starts where no other path, word or address goes on.
    pattern = r"(?<![\w./~:}$-])/(?:work|root|home|Users|mnt)\b"
    assert re.search(pattern, "cd /home/me")
    assert not re.search(pattern, "https://a.example/home and ./work/x and $HOME/work")
    assert matches(tracked, pattern) == []


def test_no_file_chooses_a_package_index(tracked):
    # That is for whoever installs; by option, by environment variable, or by an index's usual address.
    pattern = (
        r"(?i)(?:--|PIP_|UV_)(?:extra[-_])?index[-_]url|--find-links|trusted[-_]host|https?://[^\s\"'<>]+/simple\b"
    )
    assert re.search(pattern, "pip install --index-url x")
    assert re.search(pattern, "https://index.example/root/simple/")
    assert matches(tracked, pattern) == []


def test_notebooks_and_products_are_not_mixed(tracked):
    assert [name for name in tracked if name.startswith(("_build/", "book/notebooks/", "book/_generated/"))] == []

"""The parameters of a notebook: a JSON Schema beside it, profiles, and checks before a run.

`notebooks/NAME.schema.yaml` lists every name of the notebook's parameters cell with its
type, default and range, and under `profiles` the values that differ in `quick`, and in `middle` where the paper's
sizes take minutes: a page that has no `middle` has the paper's sizes there. `fixed` marks what the paper states, so
that another value is another experiment.

A value is checked here whichever way it came: from the command line, a file, a page's form, papermill, or a cell that
was edited. What is used is what was checked: `Page` puts it back among the notebook's names.
"""

from __future__ import annotations

import ast
import json
import math
import re
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, cast

import yaml
from jsonschema import Draft202012Validator

from gspa.accountant.errors import GspaError, InvalidValue, UnknownName
from gspa.book.project import Project

PROFILES = ("paper", "middle", "quick")
_PAPERMILLS = "# Parameters\n"
"""How the cell begins in which papermill sets what it was given."""
_LONGEST = 1 << 20  # characters in a YAML file
_DEEPEST = 50  # levels in it
Value = Any  # what JSON can hold: a number, a string, a boolean, a list of them


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # libyaml is many times faster
    """The safe loader, reading 1e-5 as the number it is (YAML 1.1 makes it a string)."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Leave `<<` alone, a name that nobody has: ten of ten of ten mappings in one would have no end."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+$"),
    list("-+0123456789."),
)


def read_yaml(path: Traversable) -> Any:
    """A YAML file through the safe loader; a syntax error is one clear line."""
    try:
        with path.open("r", encoding="utf-8") as stream:
            text = stream.read(_LONGEST + 1)
        if len(text) > _LONGEST:
            raise GspaError(f"{path}: must have at most {_LONGEST:,} characters")
        depth = 0
        for event in yaml.parse(text, Loader=_Loader):  # the loader calls itself at each level, in C until it crashes
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                at = event.start_mark.line + 1 if event.start_mark else 1
                raise GspaError(f"{path} line {at}: must have at most {_DEEPEST} levels of lists and mappings")
        return yaml.load(text, Loader=_Loader)  # a SafeLoader
    except OSError as error:
        raise GspaError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: not UTF-8, or a scalar such as 2024-13-45
        line = " ".join(str(error).split())
        raise GspaError(f"{path}: is not valid YAML: {line}") from None
    except (LookupError, AttributeError, TypeError, ArithmeticError):  # of the loader, for !!int '' and the like
        raise GspaError(f"{path}: is not valid YAML: a tag does not suit its value") from None


@dataclass(frozen=True)
class Notebook:
    """One source notebook with its schema."""

    name: str
    path: Path
    schema: dict[str, Any]
    edited: Mapping[str, Value] = field(default_factory=dict)
    """What its parameters cell says instead of the schema's default; the profile is for the caller to say."""

    @property
    def properties(self) -> dict[str, dict[str, Any]]:
        return cast("dict[str, dict[str, Any]]", self.schema["properties"])

    @property
    def helper(self) -> Path:
        """The module beside it, if it has one: its figures, and tables that take more than a cell."""
        return self.path.with_name(f"p{self.name}.py")

    @property
    def needs_data(self) -> bool:
        """Whether the result depends on the data set that is at hand."""
        return bool(self.schema.get("needs_data", False))

    @property
    def timeout(self) -> int:
        """Seconds that one cell may take."""
        return int(self.schema.get("timeout", 600))

    def small(self, profile: str) -> bool:
        """Whether a profile's sizes are not the paper's."""
        return profile == "quick" or profile in self.schema.get("profiles", {})

    def defaults(self, profile: str) -> dict[str, Value]:
        """The values of a profile: the schema's defaults, overlaid with the profile's own."""
        values = {name: entry["default"] for name, entry in self.properties.items()}
        values["profile"] = profile
        values.update(self.schema.get("profiles", {}).get(profile, {}))
        return values

    def validate(self, given: Mapping[str, Value], *, profile: str = "paper") -> dict[str, Value]:
        """All parameters for a run, or one clear error."""
        for name in given:
            if name not in self.properties:
                raise UnknownName(f"{self.name}: parameter", name, self.properties)
        read = {name: self.checked(name, value) for name, value in {**self.edited, **given}.items()}
        values = self.defaults(read.get("profile", profile)) | read
        for low, high in self.schema.get("ordered", []):
            if values[low] > values[high]:
                raise InvalidValue(f"{self.name}: {low}", values[low], f"at most {high} = {values[high]!r}")
        return values

    def checked(self, name: str, value: object) -> Value:
        """One parameter's value as the type that the schema asks for; the same whichever way it came."""
        entry = self.properties[name]
        read = _read(value, entry)
        parts, kind = read if isinstance(read, list) else [read], entry.get("items", entry)["type"]
        # Only then the schema: NaN passes each of its comparisons, and lists of lists, or of texts among numbers, it
        # compares without end.
        plain = all(
            isinstance(part, str)
            if kind == "string"
            else isinstance(part, int | float) and abs(part) <= sys.float_info.max
            for part in parts
        )
        if not plain or not Draft202012Validator(entry).is_valid(read):
            raise InvalidValue(f"{self.name}: {name}", read, allowed(entry), entry.get("description", ""))
        return read

    def running(self, namespace: Mapping[str, Any]) -> dict[str, Value]:
        """The parameters of this notebook while it runs, checked, from its names after the parameters cell.

        A parameter that has the schema's default takes its profile's value, so that `profile = "quick"` in the cell
        shrinks the page. One that has another value keeps it, and so does one that papermill's cell names, whatever its
        value.
        """
        missing = [key for key in self.properties if key not in namespace]
        if missing:
            raise GspaError(f"{self.name}: the parameters cell lacks {', '.join(missing)}, which the schema lists")
        found = {key: self.checked(key, namespace[key]) for key in self.properties}
        cells = [cell for cell in namespace.get("In", ()) if cell.startswith(_PAPERMILLS)]
        named = _assigned(cells[-1]) if cells else {}
        usual = {key: entry["default"] for key, entry in self.properties.items()}
        given = {key: value for key, value in found.items() if key in named or value != usual[key]}
        return replace(self, edited={}).validate(given, profile=found["profile"])

    def departures(self, used: Mapping[str, Value]) -> list[str]:
        """What a run changed that the paper states: `fixed` in the schema, and not at its default.

        Returns:
            `name = value` for each; a claim about the paper's own setting is not settled by such a run.
        """
        return [
            f"{key} = {used[key]!r}"
            for key, entry in self.properties.items()
            if entry.get("fixed") and used[key] != entry["default"]
        ]


def _read(value: object, entry: Mapping[str, Any]) -> Value:
    """A value as the type that the schema asks for, if it is one in other clothes; anything else as it is.

    A command line gives text, and so does YAML 1.1 for 1e-6; papermill gives a number for a list of one; a cell may
    hold NumPy's numbers.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    kind = entry["type"]
    if kind == "array":
        if isinstance(value, str):
            value = re.sub(r"^\s*\[(.*)\]\s*$", r"\1", value).split(",")
        elif isinstance(value, int | float):
            value = [value]
        return [_read(part, entry["items"]) for part in value] if isinstance(value, list | tuple | range) else value
    if isinstance(value, str) and kind == "boolean":
        return yaml.SafeLoader.bool_values.get(value.strip().lower(), value)
    if isinstance(value, bool) or kind not in ("number", "integer"):
        return value
    try:
        if isinstance(value, str):
            # By way of a float, a seed beyond 2^53 would become another one.
            whole = kind == "integer" and re.fullmatch(r"[-+]?\d+", value.strip())
            value = int(value) if whole else float(value)
        if kind == "number" and isinstance(value, int):
            return float(value)
    except ValueError:
        return value
    except OverflowError:  # an integer beyond every float
        return math.inf
    return int(value) if kind == "integer" and isinstance(value, float) and value.is_integer() else value


def allowed(entry: Mapping[str, Any]) -> str:
    """The schema entry in words."""
    if "enum" in entry:
        return "one of " + ", ".join(str(option) for option in entry["enum"])
    words = {
        "number": "a finite number",
        "integer": "an integer",
        "boolean": "true or false",
        "string": "text",
    }
    if entry["type"] == "array":
        least, most = entry.get("minItems", 0), entry.get("maxItems")
        many = f"{least} to {most} of them" if most else f"at least {least} of them" if least > 1 else ""
        different = "all different" if entry.get("uniqueItems") else ""
        return "; ".join(filter(None, (f"a list, comma-separated, each {allowed(entry['items'])}", many, different)))
    limits = [
        f"{sign} {entry[key]:g}"
        for key, sign in (
            ("minimum", ">="),
            ("exclusiveMinimum", ">"),
            ("maximum", "<="),
            ("exclusiveMaximum", "<"),
        )
        if key in entry
    ]
    if "multipleOf" in entry:
        limits.append(f"a multiple of {entry['multipleOf']}")
    return " ".join([words[entry["type"]], " and ".join(limits)]).strip()


def discover(project: Project) -> dict[str, Notebook]:
    """Every notebook of the project, with its schema, in reading order."""
    return {name: _notebook(path) for name, path in _sources(project).items()}


def select(project: Project, name: str) -> Notebook:
    """One notebook by name; the nearest is suggested when there is none of that name."""
    sources = _sources(project)
    if name not in sources:
        raise UnknownName("notebook", name, sources)
    return _notebook(sources[name])


def _sources(project: Project) -> dict[str, Path]:
    return {path.stem: path for path in sorted(project.notebooks.glob("*.ipynb"))}


def _notebook(path: Path) -> Notebook:
    schema = path.with_suffix(".schema.yaml")
    if not schema.is_file():
        raise GspaError(f"{path.name}: has no {schema.name} beside it; every notebook states its parameters")
    read = read_yaml(schema)
    own, usual = _own_values(path), {name: entry["default"] for name, entry in read["properties"].items()}
    edited = {name: own[name] for name in usual if name != "profile" and own.get(name, usual[name]) != usual[name]}
    return Notebook(path.stem, path, read, edited)


def to_inject(notebook: Notebook, values: Mapping[str, Value]) -> dict[str, Value]:
    """What papermill must set for a run with these values: no more, so that a page shows no more.

    That is what differs from the notebook's own cell, and what is not its profile's value, for which
    `Notebook.running` would take it.
    """
    own, usual = _own_values(notebook.path), notebook.defaults(values.get("profile", "paper"))
    return {name: value for name, value in values.items() if own.get(name) != value or usual[name] != value}


def _own_values(path: Path) -> dict[str, Value]:
    """What the parameters cell of a notebook says, by name; what is no literal is not among them."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        source = next("".join(cell["source"]) for cell in cells if "parameters" in cell["metadata"].get("tags", ()))
    except (OSError, ValueError, KeyError, TypeError, StopIteration):  # who runs it says what is wrong with it
        return {}
    found = {}
    for name, value in _assigned(source).items():
        with suppress(ValueError):
            found[name] = ast.literal_eval(value)
    return found


def _assigned(source: str) -> dict[str, ast.expr]:
    """What a cell assigns to single names."""
    try:
        lines = ast.parse(source).body
    except SyntaxError:
        return {}
    pairs = [
        (line.targets[0] if isinstance(line, ast.Assign) else line.target, line.value)
        for line in lines
        if isinstance(line, ast.Assign | ast.AnnAssign)
    ]
    return {name.id: value for name, value in pairs if isinstance(name, ast.Name) and value is not None}


def from_file(path: Path) -> dict[str, Value]:
    """Parameters from a YAML file: one mapping of names to values."""
    values = read_yaml(path)
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values):
        raise GspaError(f"{path}: must hold one mapping of parameter names to values")
    return values


def command(notebook: Notebook, changed: Mapping[str, Value]) -> str:
    """The command line that repeats a run."""
    profile = str(changed.get("profile", "paper"))
    usual = notebook.defaults(profile)
    values = {name: entry["default"] for name, entry in notebook.properties.items()} | dict(changed)
    words = ["gspa", "run", notebook.name, *(["--profile", profile] if profile != "paper" else [])]
    for name, value in values.items():
        if value != usual[name]:
            words += ["-p", name, shlex.quote(written(value))]
    return " ".join(words)


def written(value: Value) -> str:
    """A value as the command line takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(written, value)) if isinstance(value, list) else str(value)

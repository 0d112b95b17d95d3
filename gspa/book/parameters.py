"""The parameters of a notebook: a JSON Schema beside it, profiles, and checks before a run.

`notebooks/NAME.schema.yaml` lists every name of the notebook's parameters cell with its
type, default and range, and under `profiles` the values that differ in `quick`. `fixed` marks
what the paper states, so that another value is another experiment.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, cast

import yaml
from jsonschema import Draft202012Validator

from gspa.accountant.arguments import whole
from gspa.accountant.errors import GspaError, InvalidValue, UnknownName
from gspa.book.project import Project, find

PROFILES = ("paper", "quick")
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

    @property
    def properties(self) -> dict[str, dict[str, Any]]:
        return cast("dict[str, dict[str, Any]]", self.schema["properties"])

    @property
    def needs_data(self) -> bool:
        """Whether the result depends on the data set that is at hand."""
        return bool(self.schema.get("needs_data", False))

    @property
    def timeout(self) -> int:
        """Seconds that one cell may take."""
        return int(self.schema.get("timeout", 600))

    def defaults(self, profile: str) -> dict[str, Value]:
        """The values of a profile: the schema's defaults, overlaid with the profile's own."""
        values = {name: entry["default"] for name, entry in self.properties.items()}
        values["profile"] = profile
        values.update(self.schema.get("profiles", {}).get(profile, {}))
        return values

    def validate(self, given: Mapping[str, Value], *, profile: str = "paper") -> dict[str, Value]:
        """All parameters for a run, or one clear error.

        Args:
            given: the values that the caller sets; strings are read as the schema's type.
            profile: which defaults the rest takes.

        Raises:
            UnknownName: a parameter the notebook does not have (the nearest is suggested).
            InvalidValue: a wrong type, or a value outside its range.
        """
        values = self.defaults(profile)
        for name, value in given.items():
            if name not in self.properties:
                raise UnknownName(f"{self.name}: parameter", name, self.properties)
            values[name] = _check(self.name, name, _read(value, self.properties[name]), self.properties[name])
        for low, high in self.schema.get("ordered", []):
            if values[low] > values[high]:
                raise InvalidValue(f"{self.name}: {low}", values[low], f"at most {high} = {values[high]!r}")
        return values


def _read(value: Value, entry: Mapping[str, Any]) -> Value:
    """A command line's text as the type that the schema asks for; anything else as it is."""
    if not isinstance(value, str) or entry["type"] == "string":
        return value
    if entry["type"] in ("number", "integer"):
        try:
            return whole(value) if entry["type"] == "integer" else float(value)
        except ValueError:
            return value
    if entry["type"] == "boolean":
        return {"true": True, "false": False}.get(value.lower(), value)
    if entry["type"] == "array":
        return [_read(part.strip(), entry["items"]) for part in value.split(",")]
    return value


def _check(notebook: str, name: str, value: Value, entry: Mapping[str, Any]) -> Value:
    if not _fits(value, entry):
        raise InvalidValue(f"{notebook}: {name}", value, allowed(entry), entry.get("description", ""))
    if entry["type"] == "number":
        return float(value)
    return int(value) if entry["type"] == "integer" else value


def _fits(value: Value, entry: Mapping[str, Any]) -> bool:
    """Whether a value is of the schema's type and in its range.

    The type comes first: of what a schema refuses its checks write the whole, and ten lists of ten lists of ten have
    no end.
    """
    kind = entry["type"]
    if kind == "array":
        typed = isinstance(value, list) and all(_fits(part, entry["items"]) for part in value)
    elif kind in ("number", "integer"):
        # NaN passes every comparison of a JSON Schema, and infinity every lower bound.
        typed = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    else:
        typed = isinstance(value, bool if kind == "boolean" else str)
    return typed and bool(Draft202012Validator(entry).is_valid(value))


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
        return f"a list, comma-separated, each {allowed(entry['items'])}"
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
    return Notebook(path.stem, path, read_yaml(schema))


def from_file(path: Path) -> dict[str, Value]:
    """Parameters from a YAML file: one mapping of names to values."""
    values = read_yaml(path)
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values):
        raise GspaError(f"{path}: must hold one mapping of parameter names to values")
    return values


def departures(name: str, used: Mapping[str, Value]) -> list[str]:
    """What a run changed that the paper states: `fixed` in the schema, and not at its default.

    Args:
        name: the notebook's name.
        used: its parameters, from `of_notebook`.

    Returns:
        `name = value` for each; a claim about the paper's own setting is not settled by such a run.
    """
    properties = select(find(), name).properties
    return [
        f"{key} = {used[key]!r}"
        for key, entry in properties.items()
        if entry.get("fixed") and used[key] != entry["default"]
    ]


def between(entry: Mapping[str, Any]) -> str:
    """What stands between two values of a parameter where a sweep lists them."""
    return ";" if entry["type"] == "array" else ","


def command(notebook: Notebook, changed: Mapping[str, Value], axes: Mapping[str, Sequence[str]] | None = None) -> str:
    """The command line that repeats a run, or a sweep if there are axes.

    Args:
        notebook: which.
        changed: the run's values that differ from the schema's defaults, as papermill injects them.
        axes: a sweep's parameters, each with its values as the command line takes them.
    """
    profile = str(changed.get("profile", "paper"))
    usual = notebook.defaults(profile)
    values = {name: entry["default"] for name, entry in notebook.properties.items()} | dict(changed)
    verb = "sweep" if axes else "run"
    words = ["gspa", verb, notebook.name, *(["--profile", profile] if profile != "paper" else [])]
    for name, value in values.items():
        if value != usual[name]:
            words += ["-p", name, shlex.quote(written(value))]
    for name, texts in (axes or {}).items():
        words += ["-p", name, shlex.quote(between(notebook.properties[name]).join(texts))]
    return " ".join(words)


def written(value: Value) -> str:
    """A value as the command line takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(written, value)) if isinstance(value, list) else str(value)


def of_notebook(name: str, namespace: Mapping[str, Any]) -> dict[str, Value]:
    """A running notebook's parameters, checked: its first line after the parameters cell.

    Args:
        name: the notebook's own name.
        namespace: its `globals()`.
    """
    notebook = select(find(), name)
    missing = [key for key in notebook.properties if key not in namespace]
    if missing:
        raise GspaError(f"{name}: the parameters cell lacks {', '.join(missing)}, which the schema lists")
    given = {key: namespace[key] for key in notebook.properties}
    return notebook.validate(given, profile=namespace["profile"])

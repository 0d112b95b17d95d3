"""Throwaway projects for the tests: a `_config.yml`, tiny notebooks, each with a schema, and tiny data."""

from __future__ import annotations

import struct
from pathlib import Path

import nbformat
import yaml

from gspa.book.notebook_source import tidy
from gspa.book.parameters import Notebook, select
from gspa.book.project import Project

PROPERTIES = {
    "profile": {"type": "string", "default": "paper", "enum": ["paper", "middle", "quick"], "description": "sizes"},
    "n": {"type": "integer", "default": 3, "minimum": 1, "maximum": 100, "description": "how many"},
    "c": {"type": "number", "default": 0.5, "exclusiveMinimum": 0, "exclusiveMaximum": 1, "description": "a share"},
}


def markdown(text: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_markdown_cell(text)


def code(text: str, **metadata: object) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(text, metadata=metadata)


def make(root: Path) -> Project:
    """An empty project."""
    (root / "notebooks").mkdir(parents=True)
    (root / "_config.yml").write_text("title: throwaway\n")
    return Project(root)


def add(project: Project, name: str, *cells: nbformat.NotebookNode | str, **schema: object) -> Notebook:
    """Write a notebook of the given cells (a text is code), after a parameters cell made from the schema."""
    properties = schema.setdefault("properties", PROPERTIES)
    lines = [f"{key} = {entry['default']!r}" for key, entry in properties.items()]
    parameters = code("\n".join(lines), tags=["parameters"])
    body = [cell if isinstance(cell, nbformat.NotebookNode) else code(cell) for cell in cells]
    notebook = nbformat.v4.new_notebook(cells=[markdown(f"# {name}"), parameters, *body])
    (project.notebooks / f"{name}.ipynb").write_text(tidy(nbformat.writes(notebook)))
    (project.notebooks / f"{name}.schema.yaml").write_text(yaml.safe_dump(schema, sort_keys=False))
    return select(project, name)


def small_mnist() -> dict[str, bytes]:
    """Four IDX files as MNIST's, with three training and two test images of two pixels: all numbers from 0 on."""
    made = {}
    for name, size in (("train", 3), ("t10k", 2)):
        made[f"{name}-images-idx3-ubyte"] = struct.pack(">IIII", 0x803, size, 1, 2) + bytes(range(2 * size))
        made[f"{name}-labels-idx1-ubyte"] = struct.pack(">II", 0x801, size) + bytes(range(size))
    return made

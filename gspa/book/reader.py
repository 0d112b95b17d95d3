"""How the site reads an executed notebook: prose that cells said becomes prose, captions go under their figures.

Sphinx is told to read notebooks through `read`; the files stay as papermill wrote them, and are what a reader
downloads.
"""

from __future__ import annotations

import re
from typing import Any

from gspa.book import figures, say

_BOOK = re.compile(r"\]\(\.\./book/")
"""A link to one of the book's own pages, as a notebook in its own folder has it."""


def read(content: str) -> Any:
    """A notebook's file as MyST-NB wants it."""
    import nbformat

    notebook = nbformat.reads(content, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _BOOK.sub("](../", cell.source)
        elif cell.source.startswith("%%say"):
            _said(cell)
        else:
            _captioned(cell)
    return notebook


def _said(cell: Any) -> None:
    said = [output["data"]["text/markdown"] for output in cell.outputs if say.MIME in output.get("data", {})]
    cell.cell_type, cell.source = "markdown", _BOOK.sub("](../", "\n\n".join(said))
    for gone in ("outputs", "execution_count"):
        del cell[gone]


def _captioned(cell: Any) -> None:
    for output in cell.outputs:
        if about := output.get("data", {}).get(figures.MIME):
            cell.metadata["mystnb"] = {
                "figure": {"name": about["name"], "caption": about["caption"]},
                "image": {"alt": about["alt"]},
            }
    cell.outputs = [output for output in cell.outputs if figures.CAPTION not in output.get("metadata", {})]

"""What must not be left, in a text that a reader sees, of the form in which it was written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# Templates, directives, roles, the magic itself; and a placeholder of the form that the book had before.
_LEFT = re.compile(r"\{\{|\{%|:::|`{3}\{|\{[a-z:-]+\}`|%%say|\{glue")
_FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$]+\$|\\\(.+?\\\)|\\\[.+?\\\]", re.DOTALL)
# JupyterLab takes formulas out before it reads Markdown: one over several lines of a quotation keeps their signs.
_QUOTED = re.compile(r"^\s*>", re.MULTILINE)
# A picture is not read, and a table's CSV is data.
_UNREAD = ("image/svg+xml", "image/png", "csv")


def residue(text: str) -> list[str]:
    """Each residue, with the words around it; formulas may have any braces."""
    quoted = [found.group() for found in _FORMULA.finditer(text) if _QUOTED.search(found.group())]
    plain = _FORMULA.sub("", text)
    return quoted + [plain[max(0, found.start() - 30) : found.end() + 30] for found in _LEFT.finditer(plain)]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if value and all(isinstance(part, str) for part in value):
            yield "".join(value)  # a file keeps a long text by its lines
        else:
            for part in value:
                yield from _strings(part)
    elif isinstance(value, dict):
        for key, part in value.items():
            if key not in _UNREAD:
                yield from _strings(part)


def texts(cell: dict[str, Any]) -> list[str]:
    """All that a cell of an executed notebook shows and keeps beside what it shows; of code, what it put out."""
    return list(_strings(cell["source"] if cell["cell_type"] == "markdown" else cell["outputs"]))

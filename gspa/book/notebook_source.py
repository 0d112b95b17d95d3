"""The form in which notebooks are committed: no outputs, stable cell ids, each check under its claim's title.

`python -m gspa.book.notebook_source notebooks/*.ipynb` puts files into that form;
with `--check` it only tells which are not, and ends with status 1.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from typing import Any

# isort: split
import nbformat

INJECTED = "injected-parameters"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
"""The one that comes with this Python; an editor that saves a notebook may name another one, or none."""
_SETTLES = re.compile(r'^\s*page\.settle\(\s*"([^"]+)"', re.MULTILINE)
_TITLE = re.compile(r"# (?:[GBN]-\w+|[FEQ]\d+): |# Not counted, as ")


def stable_ids(notebook: Any) -> None:
    """Give every cell an id made of its place and its source, so that any two runs agree on it."""
    for index, cell in enumerate(notebook.cells):
        if INJECTED in cell.metadata.get("tags", []):
            cell["id"] = INJECTED
        else:
            cell["id"] = f"c{index:03d}-{hashlib.sha256(cell.source.encode()).hexdigest()[:8]}"


def titled(source: str) -> str:
    """A cell's code after a comment for each claim that it settles: title, tolerances, readings that do not count."""
    kept = [line for line in source.splitlines() if not _TITLE.match(line)]
    return "\n".join([*map(_title, _SETTLES.findall(source)), *kept])


def _title(name: str) -> str:
    from gspa.book import claims, text  # not for who asks for an id alone, as each notebook's process does

    claim = claims.claim(name)
    numbers = {key: value for key, value in claim.tolerance.items() if not isinstance(value, str)}
    limits = "; ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in numbers.items())
    title = f"# {name}: {text.plain(claim.title)}" + (f" (tolerance: {limits})" if limits else "")
    excluded = [f"reading {i}" for i, reading in enumerate(claim.readings.values(), 1) if reading.excluded]
    return f"{title}\n# Not counted, as the claim's words do not allow it: {', '.join(excluded)}" if excluded else title


def tidy(source: str) -> str:
    """A notebook's JSON in the committed form."""
    notebook = nbformat.reads(source, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.source = titled(cell.source)
        for key in ("execution", "papermill", "collapsed", "scrolled", "jupyter"):
            cell.metadata.pop(key, None)
        if cell.source.startswith("%%say"):  # what it says stands below: in JupyterLab no sentence is there twice
            cell.metadata["jupyter"] = {"source_hidden": True}
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    notebook.nbformat_minor = 5
    stable_ids(notebook)
    nbformat.validate(notebook)
    return str(nbformat.writes(notebook)) + "\n"


def main(arguments: list[str]) -> int:
    """Tidy the named files, or with --check name those that are not tidy."""
    check = "--check" in arguments
    untidy = []
    for path in (Path(name) for name in arguments if name != "--check"):
        source = path.read_text(encoding="utf-8")
        if (wanted := tidy(source)) != source:
            untidy.append(str(path))
            if not check:
                path.write_text(wanted, encoding="utf-8")
    if check and untidy:
        print("not in the committed form (run: make tidy): " + ", ".join(untidy), file=sys.stderr)
    return int(check and bool(untidy))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

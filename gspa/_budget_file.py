"""Reading local budgets from a CSV file: what a column may hold, and which line breaks the rule."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from gspa.errors import InvalidBudget, UnknownName

Array = NDArray[np.float64]

# What each column may hold, in words and as a test; NaN fails every comparison.
RULES: Mapping[str, tuple[str, Callable[[Array], NDArray[np.bool_]]]] = {
    "eps": ("a finite number >= 0", lambda v: np.isfinite(v) & (v >= 0)),
    "delta": ("in [0, 1)", lambda v: (v >= 0) & (v < 1)),
    "count": ("an integer >= 1", lambda v: np.isfinite(v) & (v >= 1) & (v == np.floor(v))),
}
BLOCK = 4096  # rows checked at once; only a block with a bad row is looked at row by row


def read(path: str | Path) -> dict[str, Array]:
    """The columns by name: `eps` and what else the header names, all of one length >= 1.

    Raises:
        InvalidBudget: no such file, empty, no header, no `eps`, or a bad entry; the
            message names the line (the header is line 1) and the column.
        UnknownName: a column of another name; the nearest is suggested.
    """
    if not isinstance(path, str | os.PathLike) or "\0" in os.fspath(path):
        raise InvalidBudget("path", path, "the path of a CSV file")
    file = Path(path)
    name = file.name or "path"  # a long path is cut short when it is shown, its name never
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            header = [column.strip() for column in next(csv.reader(lines), [])]
            _check_header(file.name, header)
            blocks: list[Array] = []
            while (block := _next_block(header, lines)) is not None and block.size:
                blocks.append(block)
            if block is None:
                lines.seek(0)
                _refuse(file.name, header, csv.reader(lines), good=BLOCK * len(blocks))
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise InvalidBudget(name, str(path), "a readable CSV file", reason) from None
    except UnicodeDecodeError:
        raise InvalidBudget(name, str(path), "a CSV file in UTF-8") from None
    except csv.Error as error:  # a field longer than the csv module takes
        raise InvalidBudget(name, str(path), "a CSV file of plain numbers", str(error)) from None
    if not blocks:
        raise InvalidBudget(file.name, ",".join(header), "a file with rows below its header")
    return dict(zip(header, np.concatenate(blocks).T, strict=True))


def _check_header(file: str, header: list[str]) -> None:
    where, shown = f"{file} line 1", ",".join(header)
    if all(name == "" or _number(name) is not None for name in header):
        raise InvalidBudget(where, shown, "a header: eps[,delta][,count]")
    for name in header:
        if name not in RULES:
            raise UnknownName(f"{file}: column", name, RULES)
    if len(set(header)) < len(header):
        raise InvalidBudget(where, shown, "a header that names each column once")
    if "eps" not in header:
        raise InvalidBudget(where, shown, "a header with a column eps")


def _next_block(header: list[str], lines: Iterable[str]) -> Array | None:
    """The next rows, none of them at the end of the file; None if one of them is bad."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # blank lines and the end are no surprise
            block = np.loadtxt(lines, delimiter=",", comments=None, quotechar='"', ndmin=2, max_rows=BLOCK)
    except ValueError:  # bad UTF-8 is one too: the second reading meets it again
        return None
    if block.size == 0:
        return block
    if block.shape[1] != len(header):
        return None
    fine = (RULES[name][1](column).all() for name, column in zip(header, block.T, strict=True))
    return block if all(fine) else None


def _refuse(file: str, header: list[str], records: Iterator[list[str]], *, good: int) -> NoReturn:
    """Raise for the first bad line, given how many rows before it are known to be good."""
    rows = ((line, row) for line, row in enumerate(records, start=1) if line > 1 and row)
    for line, row in islice(rows, good, None):
        if len(row) != len(header):
            wanted = f"{len(header)} values: {','.join(header)}"
            raise InvalidBudget(f"{file} line {line}", ",".join(row), wanted)
        for name, text in zip(header, row, strict=True):
            allowed, test = RULES[name]
            value = _number(text)
            if value is None or not test(np.array(value)):
                raise InvalidBudget(f"{file} line {line}, column {name}", text, allowed)
    raise InvalidBudget(file, header, "a CSV file of plain numbers")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

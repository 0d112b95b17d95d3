"""Local privacy budgets: who has which (eps_i, delta_i), and how many of them.

Equal budgets are stored once with a multiplicity, so a billion users in three groups costs three numbers:

>>> crowd = constant(0.5, n=10**9)
>>> crowd.n, crowd.eps.size
(1000000000, 1)
>>> draw("mixed", n=5, rng=0)
Budgets(n=5, groups=2, eps 0.01 to 0.5, delta 0 to 0)
"""

from __future__ import annotations

import csv
import math
import os
import re
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa.accountant import arguments as check
from gspa.accountant.arguments import Array
from gspa.accountant.errors import InvalidBudget, InvalidValue, UnknownName

# --- a CSV file of budgets, and which line breaks which rule -------------------------------------------------

# What each column may hold, in words and as a test; NaN fails every comparison.
Rule = tuple[str, Callable[[Any], Any]]
RULES: Mapping[str, Rule] = {
    "eps": ("a finite number >= 0", lambda v: (v >= 0) & (v < math.inf)),
    "delta": ("in [0, 1)", lambda v: (v >= 0) & (v < 1)),
    "count": ("an integer >= 1", lambda v: (v >= 1) & (v < math.inf) & (v == np.floor(v))),
}
_SCALE: Rule = ("a finite number > 0", lambda v: (v > 0) & (v < math.inf))


def read(path: str | Path, *, column: str = "eps") -> dict[str, Array]:
    """The columns by name: `column` and what else the header names, all of one length >= 1.

    Columns are separated by commas, semicolons or tabs; beside the last two a decimal comma is read as well. Empty
    rows, empty columns without a name, and columns without a name before the first that has one (an index, as pandas
    writes) are left out. Beside "eps" there may be `delta` and `count`, beside "sigma" or "scale" `count`. A pipe will
    do: the file is read once.
    """
    column = check.one_of(("eps", "sigma", "scale"), column=column)
    if not isinstance(path, str | os.PathLike) or "\0" in os.fspath(path):
        raise InvalidBudget("path", path, "the path of a CSV file")
    rules = RULES if column == "eps" else {column: _SCALE, "count": RULES["count"]}
    file = Path(path).name or "path"  # a long path is cut short when it is shown, its name never
    try:
        with Path(path).open("rb") as raw, TextIOWrapper(raw, encoding(file, raw), errors="replace") as text:
            lines = list(_lines(file, text))
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise InvalidBudget(file, str(path), "a readable CSV file", reason) from None
    # The header is the first line with a word; Excel's may say above it what separates columns.
    above = next((i for i, line in enumerate(lines) if line.strip(" \t\r\n,;") and not line.startswith("sep=")), 0)
    header, rows = "".join(lines[above : above + 1]).strip("\r\n"), lines[above + 1 :]
    between, names = _header(file, above + 1, header, rules)
    kept = [i for i, name in enumerate(names) if name]
    values = _plain(rows, between, len(names), kept)
    fine = [rules[names[i]][1](column).all() for i, column in zip(kept, values.T, strict=True)]
    if not (values.size and all(fine)):
        values = _row_by_row(file, above + 2, rows, between, names, rules)
    if not values.size:
        raise InvalidBudget(file, header.strip(), "a file with rows below its header")
    return {names[i]: column for i, column in zip(kept, values.T, strict=True)}


_LONGEST = 1 << 16  # characters in a line
_NO_TEXT = {
    b"PK\3\4": "this is a workbook: save it as CSV",
    b"\xd0\xcf\x11\xe0": "this is a workbook: save it as CSV",
    b"\x1f\x8b": "this is packed: unpack it",
}
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)  # 1.500 may be one and a half, or fifteen hundred
_PLAIN = "write it with the digits 0 to 9 and a decimal point, such as 1000, 0.5 or 1e-6"


def encoding(file: str, raw: BufferedReader) -> str:
    """UTF-8, or UTF-16 as Excel's "Unicode Text"; refuses what is no text."""
    start = raw.peek(4)
    for signature, remedy in _NO_TEXT.items():
        if start.startswith(signature):
            raise InvalidBudget(file, start[:4], "a CSV file", remedy)
    return "utf-16" if start.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"


def _lines(file: str, text: TextIO) -> Iterator[str]:
    for number, line in enumerate(iter(lambda: text.readline(_LONGEST), ""), start=1):
        if len(line) == _LONGEST:
            raise InvalidBudget(f"{file} line {number}", line, f"shorter than {_LONGEST} characters")
        yield line


def _header(file: str, line: int, text: str, rules: Mapping[str, Rule]) -> tuple[str, list[str]]:
    """What separates the columns, and their names; empty for one that is to be left out."""
    found = [mark for mark in ";,\t" if mark in text] or [","]
    cells = [cell.strip() for cell in next(csv.reader([text], delimiter=found[0]), [])]
    # What pandas calls a column without a name where it reads one.
    names = ["" if re.fullmatch(r"Unnamed: [\d.]+", cell) else cell for cell in cells]
    given, (column, *others) = [name for name in names if name], rules
    for name in given:
        if name not in rules and name.isidentifier() and name != "sigma":
            raise UnknownName(f"{file}: column", name, rules)
    if not {column} <= {*given} <= {*rules} or len({*given}) < len(given) or found[:2] == [";", ","]:
        header = "a header: " + column + "".join(f"[,{name}]" for name in others)
        hint = "each column once, with commas, semicolons or tabs between them"
        hint = 'or say that the mechanism is "gaussian"' if "sigma" in given and column == "eps" else hint
        raise InvalidBudget(f"{file} line {line}", text.strip(), header, hint)
    return found[0], names


def _plain(rows: list[str], between: str, width: int, kept: list[int]) -> Array:
    """The numbers of rows that hold nothing else, all at once; none where they must be looked at one by one."""
    written = [row for row in rows if row.strip()] if between == "," else []
    if written and kept == list(range(kept[0], width)) and all(row.count(",") == width - 1 for row in written):
        with suppress(ValueError):
            return np.loadtxt(written, delimiter=",", comments=None, quotechar='"', ndmin=2, usecols=kept)
    return np.empty((0, len(kept)))


def _row_by_row(
    file: str, first: int, rows: list[str], between: str, names: list[str], rules: Mapping[str, Rule]
) -> Array:
    """The numbers, shape (rows, columns), or the refusal of the first that is not as it should be."""
    kept = [i for i, name in enumerate(names) if name]
    numbers = array("d")
    mark, unclear = "", ("", "")  # the decimal mark, and where a number may be grouped by it
    for line, text in enumerate(rows, start=first):
        where = f"{file} line {line}"
        row = [cell.strip() for cell in next(csv.reader([text], delimiter=between), [])]
        if not any(row):
            continue
        if not kept[-1] < len(row) <= len(names):
            comma = between == "," and len(row) > len(names)
            remedy = "decimal commas need semicolons between the columns" if comma else "complete or delete the row"
            wanted = f"{len(kept)} values: {','.join(filter(None, names))}"
            raise InvalidBudget(where, between.join(row), wanted, remedy)
        for i, cell in enumerate(row[kept[0] :], start=kept[0]):
            if not names[i]:
                if cell:
                    raise InvalidBudget(f"{where}, column {i + 1}", cell, "empty, as its name is", "delete the column")
                continue
            place, (allowed, fits) = f"{where}, column {names[i]}", rules[names[i]]
            own = next((c for c in cell if c in ".,"), "")
            if not _NUMBER.fullmatch(cell) or (own == between == ","):
                raise InvalidBudget(place, cell, allowed, _PLAIN if cell else "fill it in, or delete the row")
            if own and between != ",":
                if own != (mark or own):
                    raise InvalidBudget(place, cell, allowed, f"the numbers above it have the decimal mark {mark!r}")
                # Nobody separates columns by semicolons and thousands by commas.
                if not _GROUPED.fullmatch(cell) or between + own == ";,":
                    unclear = ("", "")
                elif not mark:
                    unclear = (place, cell)
                mark = own
            numbers.append(float(cell.replace(",", ".")))
            if not fits(numbers[-1]):
                raise InvalidBudget(place, cell, allowed)
    if unclear[0]:
        raise InvalidBudget(*unclear, "a number with an unambiguous decimal mark", "write 1500, or 1.50")
    return np.array(numbers).reshape(-1, len(kept))


# --- who has which (eps_i, delta_i), and how many of them ----------------------------------------------------

Seed = np.random.Generator | int

_MOST_EXPANDED = 10**8


@dataclass(frozen=True, eq=False, repr=False)
class Budgets:
    """Local budgets of n users, in groups of equal ones; checked and read-only.

    Args:
        eps: shape (g,), finite and >= 0; 0 is a user whose report says nothing.
        delta: shape (g,), in [0, 1), or one number for all.
        count: shape (g,), whole numbers >= 1: how many users have that pair; or one number for all.

    Raises:
        InvalidBudget: empty, not one-dimensional, unequal lengths, or an entry
            out of range (the message names the entry).
    """

    eps: Array
    delta: Array
    count: NDArray[np.int64]

    def __post_init__(self) -> None:
        size = _floats("eps", self.eps).size
        if size == 0:
            raise InvalidBudget("eps", [], "a non-empty list", "give one budget per user or group")
        for name, (allowed, good) in RULES.items():
            given = getattr(self, name)
            values = _floats(name, given if name == "eps" or np.iterable(given) else [given] * size)
            if values.size != size:
                raise InvalidBudget(f"len({name})", values.size, f"len(eps) = {size}")
            check.each(good(values), allowed, InvalidBudget, **{name: values})
            if name == "count":
                if values.sum() > check.MOST:
                    raise InvalidBudget("sum(count)", float(values.sum()), "at most 2^53 - 1")
                values = values.astype(np.int64)
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    def __repr__(self) -> str:
        return (
            f"Budgets(n={self.n}, groups={self.eps.size}, eps {self.eps_min:g} to {self.eps_max:g}, "
            f"delta {self.delta.min():g} to {self.delta_max:g})"
        )

    @property
    def n(self) -> int:
        """Number of users."""
        return int(self.count.sum())

    @property
    def eps_max(self) -> float:
        """The largest eps_i, which a bound with one common eps0 has to be given."""
        return float(self.eps.max())

    @property
    def eps_min(self) -> float:
        """Smallest eps_i."""
        return float(self.eps.min())

    @property
    def delta_max(self) -> float:
        """Largest delta_i."""
        return float(self.delta.max())

    def grouped(self) -> Budgets:
        """The same users with equal (eps, delta) merged, in increasing order."""
        return self.distinct()[0]

    def distinct(self) -> tuple[Budgets, NDArray[np.intp]]:
        """The same as `grouped`, and which of its entries each entry of these belongs to, shape (groups,)."""
        pairs, where = np.unique(self.eps + 1j * self.delta, return_inverse=True)  # sorted by eps, then delta
        return Budgets(pairs.real, pairs.imag, np.bincount(where, self.count).astype(np.int64)), where

    def expanded(self) -> Budgets:
        """One entry per user, in the stored order; for simulations.

        Raises:
            InvalidBudget: more than 10^8 users, which would not fit in memory.
        """
        if self.n > _MOST_EXPANDED:
            raise InvalidBudget("n", self.n, f"at most {_MOST_EXPANDED}", "work with the groups instead")
        ones = np.ones(self.n, dtype=np.int64)
        return Budgets(np.repeat(self.eps, self.count), np.repeat(self.delta, self.count), ones)


def _floats(name: str, values: ArrayLike) -> NDArray[Any]:
    """A fresh one-dimensional float array; the copy is what makes Budgets immutable."""
    found = check.array(InvalidBudget, **{name: values})
    if found.size and found.dtype.kind not in "iuf":
        raise InvalidBudget(name, found.tolist(), "a list of numbers")
    if found.ndim != 1:
        raise InvalidBudget(name, found.tolist(), "a one-dimensional list of numbers")
    return found.astype(np.float64) + 0.0  # -0.0 becomes 0.0, so that it groups with 0.0


def from_array(eps: ArrayLike, delta: ArrayLike = 0.0, count: ArrayLike = 1) -> Budgets:
    """`Budgets` from lists; a single delta or count holds for every entry.

    >>> from_array([0.1, 0.1, 2.0], delta=1e-6).grouped()
    Budgets(n=3, groups=2, eps 0.1 to 2, delta 1e-06 to 1e-06)
    """
    return Budgets(eps, delta, count)  # type: ignore[arg-type]  # it makes arrays of them


def constant(eps: float, *, n: int, delta: float = 0.0) -> Budgets:
    """n users with one common budget (Table 2, "Constant").

    >>> constant(0.5, n=1000)
    Budgets(n=1000, groups=1, eps 0.5 to 0.5, delta 0 to 0)
    """
    eps, n, delta = check.nonnegative(eps=eps), check.count(n=n), check.probability(delta=delta)
    return from_array([eps], delta, n)


def _of_sizes(eps: list[float], sizes: ArrayLike) -> Budgets:
    """Groups of these sizes, of which some may be empty."""
    held = np.flatnonzero(sizes)
    return from_array(np.array(eps)[held], count=np.array(sizes)[held])


@dataclass(frozen=True)
class Distribution:
    """A named distribution of budgets: its name in the paper, its law, how to draw it."""

    title: str
    label: str
    make: Callable[[int, np.random.Generator], Budgets]


TABLE2: Mapping[str, Distribution] = {
    "unif1": Distribution("Unif 1", "U(0.01, 1)", lambda n, rng: from_array(rng.uniform(0.01, 1, n))),
    "unif2": Distribution("Unif 2", "U(0.01, 2)", lambda n, rng: from_array(rng.uniform(0.01, 2, n))),
    "constant": Distribution("Constant", "0.5", lambda n, rng: constant(0.5, n=n)),
    # Exactly half of the users each; for odd n the extra user has the first budget.
    "mixed": Distribution(
        "Mixed Constant", "50% 0.5 + 50% 0.01", lambda n, rng: _of_sizes([0.5, 0.01], [n - n // 2, n // 2])
    ),
}
"""The four rows of Table 2, Chen et al. 2024.

:meta hide-value:
"""

DISTRIBUTIONS: Mapping[str, Distribution] = {
    **TABLE2,
    # Introduced only in the text of the MNIST experiment (Figure 4).
    "unif3": Distribution("Unif 3", "U(0.5, 1)", lambda n, rng: from_array(rng.uniform(0.5, 1, n))),
}
"""Table 2 and the "Unif 3" of the MNIST experiment.

:meta hide-value:
"""


def draw(name: str, *, n: int, rng: Seed) -> Budgets:
    """n budgets from a distribution the paper names.

    Args:
        name: a key of `DISTRIBUTIONS`: unif1, unif2, constant, mixed, unif3.
        n: number of users, >= 1.
        rng: generator or seed; the same seed gives the same budgets.

    Raises:
        UnknownName: no such distribution; the nearest is suggested.

    >>> draw("constant", n=3, rng=0).eps.tolist()
    [0.5]
    """
    chosen = DISTRIBUTIONS[check.one_of(DISTRIBUTIONS, distribution=name)]
    return chosen.make(check.count(n=n), check.rng(rng))


def repeat_first(budgets: Budgets, *, n: int) -> Budgets:
    """The given users over and over until there are n (fewer: the first n).

    Figure 2's "we repeat the first 10^3 parameters": draw 1000 once, then vary n. At an n that is no multiple of
    `budgets.n` the last copy is cut. The copies of a user are stored together, as a larger count.

    >>> repeat_first(from_array([0.1, 0.2]), n=5).count.tolist()
    [3, 2]
    """
    copies, rest = divmod(check.count(n=n), budgets.n)
    before = np.cumsum(budgets.count) - budgets.count
    count = copies * budgets.count + np.clip(rest - before, 0, budgets.count)
    kept = count > 0
    return Budgets(budgets.eps[kept], budgets.delta[kept], count[kept])


def preference_groups(
    *,
    n: int,
    f_conservative: float = 0.54,
    f_moderate: float = 0.37,
    f_liberal: float | None = None,
    eps_conservative: float = 0.1,
    eps_moderate: float = 0.5,
    eps_liberal: float = 1.0,
    reading: str = "constants",
    rng: Seed | None = None,
) -> Budgets:
    """Conservative, moderate and liberal users, stored in that order (Figure 3).

    The paper's text reads as one constant per group. Jorgensen et al. 2015, whom it follows, draw conservative users
    from U[eps_C, eps_M], moderate ones from U[eps_M, eps_L], and give liberal ones eps_L: `reading="ranges"`. The
    fractions are those of Acquisti and Grossklags 2005. Sizes are by largest remainder: each group gets floor(f n), the
    users left over go to the largest fractional parts, ties to the earlier group.

    Args:
        n: number of users, >= 1.
        f_conservative: fraction in [0, 1], as the next two.
        f_moderate: fraction.
        f_liberal: fraction; the remainder if not given.
        eps_conservative: eps_C >= 0.
        eps_moderate: eps_M >= 0.
        eps_liberal: eps_L >= 0.
        reading: "constants" or "ranges".
        rng: generator or seed; needed for "ranges" only.

    >>> preference_groups(n=10_000).count.tolist()
    [5400, 3700, 900]
    """
    shares = [check.in_range(0, 1, f_conservative=f_conservative), check.in_range(0, 1, f_moderate=f_moderate)]
    # 1 - 0.54 - 0.46 may come out as -1e-17.
    rest = max(1 - shares[0] - shares[1], 0.0) if f_liberal is None else f_liberal
    sizes = _sizes(check.count(n=n), np.array([*shares, check.in_range(0, 1, f_liberal=rest)]))
    low = check.nonnegative(eps_conservative=eps_conservative)
    middle = check.nonnegative(eps_moderate=eps_moderate)
    high = check.nonnegative(eps_liberal=eps_liberal)
    if check.one_of(("constants", "ranges"), reading=reading) == "constants":
        return _of_sizes([low, middle, high], sizes)
    if rng is None:
        raise InvalidValue("rng", rng, "a generator or a seed", 'reading="ranges" draws budgets')
    if not low <= middle <= high:
        raise InvalidValue("eps_moderate", middle, f"in [eps_conservative, eps_liberal] = [{low:g}, {high:g}]")
    generator = check.rng(rng)
    ends = ((low, middle), (middle, high), (high, high))
    return from_array(np.concatenate([generator.uniform(a, b, size) for (a, b), size in zip(ends, sizes, strict=True)]))


def _sizes(n: int, fractions: Array) -> NDArray[np.int64]:
    if abs(fractions.sum() - 1) > 1e-9:
        raise InvalidValue("f_conservative + f_moderate + f_liberal", float(fractions.sum()), "1 within 1e-9")
    shares = fractions * n
    sizes = np.floor(shares).astype(np.int64)
    sizes[np.argsort(-(shares - sizes), kind="stable")[: n - int(sizes.sum())]] += 1
    return sizes


def from_csv(path: str | Path) -> Budgets:
    """Budgets from a CSV file with a header line and columns `eps[,delta][,count]`, read as `read` does.

    Args:
        path: the file; columns in any order, delta defaults to 0 and count to 1.

    Raises:
        InvalidBudget: no such file, empty, no header, no `eps`, or a bad entry; the
            message names the line (the file's first is line 1) and the column.
        UnknownName: a column of another name; the nearest is suggested.
    """
    return from_array(**read(path))

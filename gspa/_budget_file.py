"""Reading local budgets from a CSV file: the column rules, and which line breaks one."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import batched
from pathlib import Path

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
_BLOCK = 1024  # rows converted at once when a bad one is sought

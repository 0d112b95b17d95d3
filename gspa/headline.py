"""The front page's one figure as a table: the paper's promise, published bounds, the certified one and an attack.

Everybody runs binary randomized response with the same local budget, which is the case that every one of these
bounds is stated for.

>>> row = headline(local=[5.0]).iloc[0]
>>> bool(row["paper"] < row["attack"] <= row["certified"]), bool(row["broken"])
(True, True)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from gspa import accountant, auditing, bounds, budgets
from gspa._validate import array_in
from gspa.audit_cases import Case
from gspa.errors import OutsideValidity

N = 1_000
"""Users: the least number in the paper's Figure 2."""
DELTA = 1e-4
"""Central delta of the paper's Figure 2."""
LOCAL = tuple(float(f"{eps:.4g}") for eps in np.geomspace(0.1, 8, 50))
"""Local budgets, equally spaced on a logarithmic axis."""

COLUMNS = ("local", "paper", "closed", "numerical", "certified", "attack", "broken")


def headline(*, local: Sequence[float] = LOCAL, n: int = N, delta: float = DELTA) -> pd.DataFrame:
    """Central eps of n shuffled binary randomized responses with one budget.

    Args:
        local: budgets eps_0 > 0.
        n: number of users, >= 2.
        delta: central delta, in (0, 1).

    Returns:
        One row a budget: `local`; `paper` (Theorem 2 without its error term); `closed`, the closed form that the
        paper compares with (NaN outside its conditions); `numerical`, the same authors' numerical bound;
        `certified`, upper end of the pair's interval; `attack`, what an explicit attack reaches, a lower bound; and
        `broken`: the paper promises less than the attack reaches.
    """
    rows = []
    for eps in array_in(0, math.inf, local=list(local)):
        people = budgets.constant(float(eps), n=n)
        paper = _or_nan("gspa", people, delta)
        attack = auditing.exact_attack(Case("", "rr", people, delta))
        rows.append(
            {
                "local": float(eps),
                "paper": paper,
                "closed": _or_nan("fmt21", people, delta),
                "numerical": _or_nan("fmt21_numerical", people, delta),
                "certified": accountant.central_epsilon(people, delta=delta).upper,
                "attack": attack,
                "broken": paper < attack,
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _or_nan(key: str, people: budgets.Budgets, delta: float) -> float:
    try:
        return bounds.CATALOGUE[key].epsilon(people, delta)
    except OutsideValidity:
        return math.nan

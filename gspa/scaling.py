"""Power laws fitted to experiments: exponents with intervals, and whether a stated one is inside.

>>> table = pd.DataFrame({"n": [8.0, 16.1, 31.9, 64.2, 128.0], "k": [1, 2, 4, 8, 16]})
>>> fit(table, "n", ["k"]).round(2).to_string(index=False, header=False).split()
['k', '1.0', '0.99', '1.01']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student

from gspa import _validate as check
from gspa.errors import InvalidValue

Judgement = Literal["inside", "outside", "open"]


def fit(table: pd.DataFrame, response: str, factors: Sequence[str], *, level: float = 0.95) -> pd.DataFrame:
    """Exponents of `response` in each of the factors: least squares of logarithms.

    The interval is Student's, from the residuals: it covers the Monte-Carlo error of the points and how far they are
    from a power law over the range of the table, and nothing outside that range.

    Args:
        table: positive numbers.
        response: column to explain.
        factors: columns that explain it.
        level: of the interval, in (0, 1).

    Returns:
        One row a factor: `factor`, `exponent`, `low`, `high`.

    Raises:
        InvalidValue: fewer than two rows to spare, or factors that do not vary independently.
    """
    factors, level = check.row(factors=factors), check.probability(allow_zero=False, level=level)
    y = _logarithm(table, response)
    x = np.column_stack([np.ones(y.size), *(_logarithm(table, name) for name in factors)])
    spare = y.size - x.shape[1]
    if spare < 2:
        raise InvalidValue("len(table)", y.size, f"at least {x.shape[1] + 2}")
    if np.linalg.matrix_rank(x) < x.shape[1]:
        raise InvalidValue("factors", list(factors), "columns that vary independently of each other")
    found, *_ = np.linalg.lstsq(x, y, rcond=None)
    residual = float(((y - x @ found) ** 2).sum()) / spare
    reach = student.ppf(0.5 + level / 2, spare) * np.sqrt(residual * np.diag(np.linalg.inv(x.T @ x)))
    rows = zip(factors, found[1:], (found - reach)[1:], (found + reach)[1:], strict=True)
    return pd.DataFrame(rows, columns=["factor", "exponent", "low", "high"])


def _logarithm(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    numbers = table[check.one_of(table.columns, column=column)].to_numpy()
    return np.asarray(np.log(check.array_in(np.finfo(float).tiny, np.finfo(float).max, **{column: numbers})))


def fit_regimes(table: pd.DataFrame, stated: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """`fit` of n for each regime of a table, beside the exponents stated for it.

    Args:
        table: columns `regime`, `n` and the factors.
        stated: regime to factor to exponent; regimes that the table lacks are left out.

    Returns:
        Rows of `fit` with `regime`, `stated` and `points` (rows of the table).
    """
    parts = []
    for regime, exponents in stated.items():
        part = table[table["regime"] == regime]
        if len(part):
            found = fit(part, "n", list(exponents))
            parts.append(found.assign(regime=regime, stated=list(exponents.values()), points=len(part)))
    columns = ["regime", "factor", "stated", "exponent", "low", "high", "points"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def judge(found: pd.DataFrame, *, tolerance: float) -> Judgement:
    """Whether the stated exponents hold within a tolerance.

    Args:
        found: columns `stated`, `low`, `high`.
        tolerance: on an exponent.

    Returns:
        "inside" if every interval lies within `tolerance` of the stated exponent, "outside" if one lies wholly "
        "beyond it,
        otherwise "open": the experiment is too small to say.
    """
    tolerance = check.nonnegative(tolerance=tolerance)
    low, high = found["stated"] - tolerance, found["stated"] + tolerance
    if len(found) and ((found["low"] >= low) & (found["high"] <= high)).all():
        return "inside"
    return "outside" if ((found["low"] > high) | (found["high"] < low)).any() else "open"

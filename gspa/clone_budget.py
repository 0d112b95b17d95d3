"""Eq. (5) of the blog: the eps_L to start from for a central target, against what the accountant certifies.

With s = eps^2 n/log(1/delta): eps_L = sqrt(s), or e^{eps_L} = s.

>>> row = choices([0.1], [10**6], delta=1e-6).iloc[0]
>>> round(float(row["s"]), 1), row["case"], bool(0.05 < row["ratio"] < 1)
(723.8, 's >= 1', True)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from gspa import _validate as check
from gspa import budgets, exact_rr
from gspa.learning import shuffled_budget

_LARGEST = 40.0  # eps_L beyond which a report of randomized response is the truth in all but name
_LEAST = 1e-6
_LEAST_TARGET, _MOST_TARGET = 1e-100, 1e3  # of the central eps: e^eps_L is s = eps^2 n/log(1/delta)


def choices(targets: Sequence[float], sizes: Sequence[int], *, delta: float) -> pd.DataFrame:
    """Both formulas of eq. (5), the certified eps_L, and what the formulas give if taken at their word.

    Args:
        targets: central eps, each > 0.
        sizes: numbers of users.
        delta: central delta.

    Returns:
        One row for each (eps, n): `eps`, `n`, `s`, `case`, `certified` (the largest eps_L certified for any common
        randomizer), `ratio` (certified over the formula of the case: of eps_L where s <= 1, of e^{eps_L} where s >=
        1), `own` and `other`: the exact central eps of randomized response, rounded down, over the target, if eps_L
        is what the formula of the case, or that of the other case, says.
    """
    delta = check.probability(allow_zero=False, delta=delta)
    rows = []
    for eps in check.numbers(_LEAST_TARGET, _MOST_TARGET, targets=targets):
        for n in check.counts(sizes=sizes):
            s = eps**2 * n / -math.log(delta)
            first, second = math.sqrt(s), math.log(s)
            certified = shuffled_budget(eps, n=n, delta=delta)
            own, other = (first, second) if s <= 1 else (second, first)
            ratio = certified / first if s <= 1 else math.exp(certified) / s
            found = [_central(x, n, delta) / eps for x in (own, other)]
            rows.append((eps, n, s, "s <= 1" if s <= 1 else "s >= 1", certified, ratio, *found))
    return pd.DataFrame(rows, columns=["eps", "n", "s", "case", "certified", "ratio", "own", "other"])


def _central(eps_local: float, n: int, delta: float) -> float:
    """Exact central eps of randomized response, rounded down; a formula that says eps_L <= 0 says next to nothing."""
    x = min(max(eps_local, _LEAST), _LARGEST)
    return exact_rr.exact_epsilon(budgets.constant(x, n=n), delta=delta).lower

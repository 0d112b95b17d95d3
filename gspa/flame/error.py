"""Error of the estimated mean of one padded coordinate: Proposition 1, and what it leaves out.

The analyzer adds n_s users' reports and n_p - n_s dummies and takes out the dummies' mean. The users'
values fixed, reports and dummies are independent, so the variance of the estimate is exact:

    (sum of the users' variances + (n_p - n_s) Var omega) / ((1 - gamma) n_s)^2,   all in units of [0, 1].

>>> from gspa.flame.randomizers import Laplace
>>> round(standard_deviation(Laplace(0.5), n_s=20, n_p=333), 4)  # sqrt(2 n_p)/(eps n_s)
2.5807
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gspa import _validate as check
from gspa.errors import InvalidValue
from gspa.flame.attacks import Local
from gspa.flame.randomizers import Buckets, Laplace

Array = NDArray[np.float64]


def report_variance(local: Local, x: float) -> float:
    """Variance of one report on x, in units of [0, 1]; exact."""
    if isinstance(local, Laplace):
        return 2 / local.eps**2
    law, answers = local.law(x), np.arange(local.b + 1) / local.b
    return float(law @ answers**2 - (law @ answers) ** 2)


def dummy_variance(local: Local) -> float:
    """Variance of a dummy; (b + 2)/(12 b) for the corrected R_{gamma,b}."""
    if isinstance(local, Laplace):
        return 2 / local.eps**2
    return (local.answers**2 - 1) / 12 / local.b**2


def standard_deviation(local: Local, *, n_s: int, n_p: int, x: float = 0.5) -> float:
    """Standard deviation of the estimated mean of n_s users who all hold x; exact.

    Args:
        local: the randomizer.
        n_s: users in this coordinate.
        n_p: reports, dummies included.
        x: in [0, 1].
    """
    n_s, n_p = check.count(n_s=n_s), check.count(n_p=n_p)
    if n_s > n_p:
        raise InvalidValue("n_s", n_s, f"at most n_p = {n_p}")
    scale = 1.0 if isinstance(local, Laplace) else 1 - local.gamma
    total = n_s * report_variance(local, check.in_range(0, 1, x=x)) + (n_p - n_s) * dummy_variance(local)
    return math.sqrt(total) / (scale * n_s)


def simulated_deviation(
    local: Local, *, n_s: int, n_p: int, repeats: int, rng: np.random.Generator | int, x: float = 0.5
) -> tuple[float, float]:
    """The same from `repeats` simulated rounds, with its standard error (value/sqrt(2 (repeats - 1)))."""
    rng, repeats = check.rng(rng), check.count(2, repeats=repeats)
    n_s, n_p = check.count(n_s=n_s), check.count(n_p=n_p)
    if n_s > n_p:
        raise InvalidValue("n_s", n_s, f"at most n_p = {n_p}")
    reports = local.randomize(np.full((repeats, n_s), check.in_range(0, 1, x=x)), rng)
    dummies = local.blanket((repeats, n_p - n_s), rng)
    found = local.estimate(reports.sum(axis=1) + dummies.sum(axis=1), users=n_s, dummies=n_p - n_s) / n_s
    value = float(found.std(ddof=1))
    return value, value / math.sqrt(2 * (repeats - 1))


def best_buckets(*, n_p: int, eps_ck: float, delta: float, n_s: int, most: int = 20_000) -> tuple[Buckets, float]:
    """R_{gamma,b} at the eps_ck that Lemma 1 gives it, with the b of least error: (it, its standard deviation).

    gamma = 14 (b + 1) log(2/delta)/((n_p - 1) eps_ck^2). The worst fixed value is half-way between two buckets.

    Raises:
        InvalidValue: even b = 1 needs gamma >= 1.
    """
    n_p, most, eps_ck = check.count(2, n_p=n_p), check.count(most=most), check.in_range(1e-100, 1e100, eps_ck=eps_ck)
    per_answer = 14 * math.log(2 / check.probability(allow_zero=False, delta=delta)) / ((n_p - 1) * eps_ck**2)
    best: tuple[float, Buckets] | None = None
    b = np.unique(np.round(np.geomspace(1, most, 400)).astype(int))
    for steps in b[(b + 1) * per_answer < 1]:
        # gamma = answers/(e^eps + answers - 1), solved for eps
        local = Buckets(math.log1p(1 / per_answer - (int(steps) + 1)), int(steps))
        found = standard_deviation(local, n_s=n_s, n_p=n_p, x=0.5 / local.b)
        if best is None or found < best[0]:
            best = (found, local)
    if best is None:
        raise InvalidValue("eps_ck", eps_ck, "so large that gamma < 1", f"n_p = {n_p} gives no randomizer")
    return best[1], best[0]


def error_table(*, n_p: Array, n_s: Array, eps_ck: Array, delta: float) -> pd.DataFrame:
    """The least standard deviation for each (n_p, n_s, eps_ck), arrays of one shape: these columns, `b` and `sd`."""
    rows = []
    for padded, users, eps in zip(n_p, n_s, eps_ck, strict=True):
        local, sd = best_buckets(n_p=int(padded), eps_ck=float(eps), delta=delta, n_s=int(users))
        rows.append({"n_p": int(padded), "n_s": int(users), "eps_ck": float(eps), "b": local.b, "sd": sd})
    return pd.DataFrame(rows)


def exponent(table: pd.DataFrame, column: str) -> float:
    """Slope of log sd against the log of a column: least squares."""
    column = check.one_of(table.columns, column=column)
    return float(np.polyfit(np.log(table[column]), np.log(table["sd"]), 1)[0])

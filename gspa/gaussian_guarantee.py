"""Theorem 2 of Chen et al. 2024 against the pair that it speaks of, as tidy tables.

How large its C must be, what its slack leaves, where the Gaussian without slack promises too much, and how near the
pair's own Gaussian limit comes. The functions behind are in `gspa.slack`.

>>> table = promises(local=[0.5, 8.0], sizes=[1_000], deltas=[1e-4])
>>> table["promise"].tolist(), safe_up_to(table)
(['holds', 'holds'], 8.0)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gspa import _validate as check
from gspa.accounting import paper_against_exact
from gspa.bounds import gspa_mu
from gspa.budgets import Budgets, constant
from gspa.slack import delta_floor, exact_curve, least_slack, lemma2_slack, proved_slack, slack_allowed, tanh_mu
from gspa.tradeoff import gaussian, gdp_epsilon

Array = NDArray[np.float64]


def _crowds(local: Sequence[float], sizes: Sequence[int]) -> Iterator[tuple[float, int, Budgets]]:
    sizes = check.counts(sizes=sizes)
    for eps0 in check.numbers(0, math.inf, local=local):
        for n in sizes:
            yield eps0, n, constant(eps0, n=n)


def constants(*, local: Sequence[float], sizes: Sequence[int]) -> pd.DataFrame:
    """How large C must be in (15), and what is proved, for n users of one budget.

    Returns:
        One row for each (eps0, n): `eps0`, `n`, `mu`, `slack` (least), `constant` (least C = slack sqrt(n-1)),
        `proved` (the slack of (A)), `proved_constant`.
    """
    rows = []
    for eps0, n, people in _crowds(local, sizes):
        mu = gspa_mu(people)
        slack, proved = least_slack(exact_curve(people), mu=mu), proved_slack(people, mu=mu)
        root = math.sqrt(n - 1)
        rows.append((eps0, n, mu, slack, slack * root, proved, proved * root))
    return pd.DataFrame(rows, columns=["eps0", "n", "mu", "slack", "constant", "proved", "proved_constant"])


def peaks(table: pd.DataFrame) -> pd.DataFrame:
    """The largest C of `constants` for each eps0.

    Returns:
        One row an eps0: `eps0`, `constant`, `n` (where it is), `growing` (at the largest n, and more than twice every
        other: the grid shows no bound).
    """
    rows = []
    for eps0, part in table.sort_values("n").groupby("eps0"):
        values = part["constant"].to_numpy()
        best = int(np.argmax(values))
        growing = bool(best == values.size - 1 and values[-1] > 2 * values[:-1].max(initial=0.0) > 0)
        rows.append((eps0, values[best], int(part["n"].iloc[best]), growing))
    return pd.DataFrame(rows, columns=["eps0", "constant", "n", "growing"])


def what_is_left(crowds: Iterable[tuple[str, str, Budgets]], *, delta: float) -> pd.DataFrame:
    """What (15) says at a central delta if its slack is kept.

    Args:
        crowds: name, label and budgets, as from `gspa.comparison.populations`.
        delta: in (0, 1).

    Returns:
        One row for each crowd: `population`, `n`, `allowed` (the largest C that leaves a statement at delta), `lemma2`
        (C is at least this, if it comes from Lemma 2), `lemma2_floor` (no smaller delta can then be had),
        `proved` (the C of (A)), `proved_floor`.
    """
    rows = []
    for _, label, people in crowds:
        mu, root = gspa_mu(people), math.sqrt(people.n - 1)
        lemma2, proved = lemma2_slack(people), proved_slack(people, mu=mu)
        floors = delta_floor(lemma2, mu=mu), delta_floor(proved, mu=mu)
        allowed = slack_allowed(delta, mu=mu)
        rows.append((label, people.n, allowed * root, lemma2 * root, floors[0], proved * root, floors[1]))
    columns = ["population", "n", "allowed", "lemma2", "lemma2_floor", "proved", "proved_floor"]
    return pd.DataFrame(rows, columns=columns)


def promises(*, local: Sequence[float], sizes: Sequence[int], deltas: Sequence[float]) -> pd.DataFrame:
    """Where the paper's eps, without slack, is less than the pair's: a map over (eps0, n, delta).

    Returns:
        As `accounting.paper_against_exact`, with `delta` and `promise`: "holds" (the paper's eps is at least the
        certified one), "too much" (it is below the certified lower end) or "undecided".
    """
    local, sizes = check.numbers(0, math.inf, local=local), check.counts(sizes=sizes)
    parts = [
        paper_against_exact(local=local, sizes=sizes, delta=d).assign(delta=d)
        for d in check.numbers(0, 1, deltas=deltas)
    ]
    table = pd.concat(parts, ignore_index=True)
    holds, more = table["paper"] >= table["upper"], table["paper"] < table["lower"]
    table["promise"] = np.select([holds, more], ["holds", "too much"], "undecided")
    return table


def safe_up_to(table: pd.DataFrame) -> float:
    """The largest eps0 of `promises` up to which the promise holds at every point; 0 if there is none."""
    broken = table.loc[table["promise"] != "holds", "eps0"].min()
    held = table["eps0"] if np.isnan(broken) else table.loc[table["eps0"] < broken, "eps0"]
    return float(held.max()) if len(held) else 0.0


def tanh_accuracy(table: pd.DataFrame) -> pd.DataFrame:
    """The tanh limit's eps beside the certified one, at the points of `promises`.

    Returns:
        `eps0`, `n`, `delta`, `tanh`, `lower`, `upper`, `error` (relative to the certified value; NaN where that is 0,
        at deltas that need no eps at all).
    """
    found = table[["eps0", "n", "delta", "lower", "upper"]].copy()
    points = zip(found["eps0"].tolist(), found["n"].tolist(), found["delta"].tolist(), strict=True)
    limits = [gdp_epsilon(delta=delta, mu=tanh_mu(constant(eps0, n=n))) for eps0, n, delta in points]
    found.insert(3, "tanh", limits)
    middle = (found["lower"] + found["upper"]) / 2
    found["error"] = (found["tanh"] / middle.where(middle > 0)) - 1
    return found


def power_curves(*, local: Sequence[float], n: int, alpha: Sequence[float] | Array) -> pd.DataFrame:
    """1 - T(alpha), the power of the best test, and what each bound allows: a guarantee must lie on or above it.

    Returns:
        One row for each (eps0, alpha): `eps0`, `alpha`, `exact`, `paper` (G_mu), `slack` (G_mu with the slack of (A)),
        `tanh` (the sharpened limit).
    """
    a = np.array(check.numbers(0, 1, alpha=alpha))
    parts = []
    for eps0, _, people in _crowds(local, [n]):
        mu, s = gspa_mu(people), proved_slack(people)
        parts.append(
            pd.DataFrame(
                {
                    "eps0": eps0,
                    "alpha": a,
                    "exact": 1 - exact_curve(people)(a),
                    "paper": 1 - gaussian(a, mu=mu),
                    "slack": np.minimum(1 - gaussian(np.minimum(a + s, 1.0), mu=mu) + s, 1.0),
                    "tanh": 1 - gaussian(a, mu=tanh_mu(people)),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)

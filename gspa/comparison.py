"""Figure 2 as tidy tables: every bound of the catalogue over distributions and numbers of users."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from gspa import _validate as check
from gspa import accountant, bounds, budgets, per_user
from gspa.errors import InvalidValue, OutsideValidity

_FIRST = 1_000  # "we repeat the first 10^3 parameters"
_DRAWN = ("unif1", "unif2")  # the others are the same for every seed, and balanced at every n


# The paper's own comparison, and what it left out; the whole catalogue is in the table.
BASELINES = ("liu23", "fmt21", "erlingsson19")
SHOWN = ("gspa", "liu23", "fmt21", "erlingsson19", "fmt21_numerical", "fmt23_numerical", "pair")


def sizes(n_min: int, n_max: int, steps: int) -> list[int]:
    """`steps` numbers of users from n_min to n_max, equally spaced and rounded; fewer where rounding merges two.

    >>> sizes(1000, 10_000, 4)
    [1000, 4000, 7000, 10000]
    """
    n_min, n_max, steps = (
        check.count(2, n_min=n_min),
        check.count(2, n_max=n_max),
        check.count(2, steps=steps),
    )
    if n_max <= n_min:
        raise InvalidValue("n_max", n_max, f"> n_min = {n_min}")
    return list(dict.fromkeys(round(n) for n in np.linspace(n_min, n_max, steps)))


def populations(
    *, n_min: int = 1_000, n_max: int = 10_000, steps: int = 37, seed: int = 0, repeat_first: bool = True
) -> Iterator[tuple[str, str, budgets.Budgets]]:
    """Table 2's distributions over n: name, label, budgets. Arguments as `figure2`."""
    for index, (name, law) in enumerate(budgets.TABLE2.items()):
        first = budgets.draw(name, n=_FIRST, rng=np.random.default_rng([check.seed(seed=seed), index]))
        for n in sizes(n_min, n_max, steps):
            people = (
                budgets.repeat_first(first, n=n)
                if repeat_first and name in _DRAWN
                else budgets.draw(name, n=n, rng=np.random.default_rng([check.seed(seed=seed), index, n]))
            )
            yield name, f"{law.title}: {law.label}", people


def figure2(
    *,
    n_min: int = 1_000,
    n_max: int = 10_000,
    steps: int = 37,
    delta: float = 1e-4,
    seed: int = 0,
    repeat_first: bool = True,
) -> pd.DataFrame:
    """Every bound of the catalogue for Table 2's distributions over n.

    Args:
        n_min: least number of users, >= 2.
        n_max: largest number of users, > n_min.
        steps: how many sizes, as `sizes`.
        delta: central delta, in (0, 1).
        seed: for the two uniform distributions.
        repeat_first: draw 1,000 budgets once and repeat them as n grows, as the paper
            says it did; otherwise draw afresh for each n.

    Returns:
        One row for each (distribution, n, bound): columns `distribution`, `population`,
        `n`, `mu`, `key`, `bound`, `epsilon` (NaN where the bound refuses), `valid`, `note`, `families`.
    """
    rows = []
    points = populations(n_min=n_min, n_max=n_max, steps=steps, seed=seed, repeat_first=repeat_first)
    for name, population, people in points:
        mu = bounds.gspa_mu(people)
        rows += [
            {
                "distribution": name,
                "population": population,
                "n": people.n,
                "mu": mu,
                "key": row.key,
                "bound": row.label,
                "epsilon": np.nan if row.epsilon is None else row.epsilon,
                "valid": row.valid,
                "note": row.note,
                "families": ", ".join(row.families),
            }
            for row in bounds.compare(people, delta=delta)
        ]
    return pd.DataFrame(rows)


def certified_pair(
    *,
    n_min: int = 1_000,
    n_max: int = 10_000,
    steps: int = 37,
    delta: float = 1e-4,
    seed: int = 0,
    repeat_first: bool = True,
) -> pd.DataFrame:
    """The pair's certified eps for personalized randomized response, at the points of `figure2`.

    Arguments as `figure2`.

    Returns:
        One row for each (distribution, n): `distribution`, `population`, `n`, `key` ("pair"), `bound`, `epsilon` (the
        interval's upper end), `lower`, `valid`.
    """
    rows = []
    points = populations(n_min=n_min, n_max=n_max, steps=steps, seed=seed, repeat_first=repeat_first)
    for name, population, people in points:
        found = accountant.central_epsilon(people, delta=delta)
        rows.append(
            {
                "distribution": name,
                "population": population,
                "n": people.n,
                "key": "pair",
                "bound": "Certified pair (this book)",
                "epsilon": found.upper,
                "lower": found.lower,
                "valid": True,
            }
        )
    return pd.DataFrame(rows)


def slopes(table: pd.DataFrame) -> pd.DataFrame:
    """Least-squares slopes of log mu and log eps against log n, for the paper's bound.

    Returns:
        One row a distribution: `population`, `mu_slope`, `epsilon_slope`; proportional to
        1/sqrt(n) means a slope of -1/2. NaN where eps is 0 at all sizes but one: no power shows there.
    """
    ours = table[table["key"] == "gspa"]
    rows = []
    for population, part in ours.groupby("population", sort=False):
        rows.append(
            {
                "population": population,
                "mu_slope": _slope(part["n"], part["mu"]),
                "epsilon_slope": _slope(part["n"], part["epsilon"]),
            }
        )
    return pd.DataFrame(rows)


def _slope(n: pd.Series, values: pd.Series) -> float:
    """Of log values against log n, where they are above 0."""
    shown = values > 0
    if n[shown].nunique() < 2:
        return math.nan
    x, y = (np.log(column[shown].to_numpy(float)) for column in (n, values))
    return float(np.polyfit(x, y, 1)[0])


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """The paper's eps divided by each other bound's, wherever that applies to what the paper's is established for.

    Bounds for a common randomizer or for randomized response count, and the paper's own baselines.

    Returns:
        One row for each (distribution, n, other bound): `population`, `n`, `key`, `bound`, `ratio`.
        Below 1 the paper's bound is the smaller one.
    """
    ours = table.loc[table["key"] == "gspa", ["distribution", "n", "epsilon"]]
    same = table["families"].str.contains(r"common|\brr\b", regex=True) | table["key"].isin(BASELINES)
    others = table[(table["key"] != "gspa") & table["valid"] & same]
    joined = others.merge(ours, on=["distribution", "n"], suffixes=("_other", "_paper"))
    joined["ratio"] = joined["epsilon_paper"] / joined["epsilon_other"]
    return joined[["population", "n", "key", "bound", "ratio"]]


def drawn(table: pd.DataFrame) -> pd.DataFrame:
    """Where the paper's own bound and its baselines exist: a point is drawn only where a bound's conditions hold.

    Args:
        table: from `figure2`.

    Returns:
        One row for each (bound, distribution): `bound`, `key`, `population`, `points`, `exist`, `from_n` (least n
        with a value; NaN if there is none), `falls` (the value falls from each size to the next), `why` (of the first
        refusal).
    """
    rows = []
    for key in ("gspa", *BASELINES):
        for population, part in table[table["key"] == key].sort_values("n").groupby("population", sort=False):
            found, refused = part[part["valid"]], part[~part["valid"]]
            rows.append(
                {
                    "bound": part["bound"].iloc[0],
                    "key": key,
                    "population": population,
                    "points": len(part),
                    "exist": len(found),
                    "from_n": found["n"].min() if len(found) else np.nan,
                    "falls": bool((np.diff(found["epsilon"]) < 0).all()),
                    "why": refused["note"].iloc[0] if len(refused) else "",
                }
            )
    return pd.DataFrame(rows)


def reductions(table: pd.DataFrame) -> pd.DataFrame:
    """By how many percent the paper's eps is below each of its own baselines.

    Args:
        table: from `ratios`.

    Returns:
        One row for each (distribution, baseline) that has points: `population`, `bound`, `points`, `least` and `most`
        (percent), `least_at` (the n of the least), `at_last` (percent at the largest n).
    """
    rows = []
    for (population, bound), part in table[table["key"].isin(BASELINES)].groupby(["population", "bound"], sort=False):
        percent, n = 100 * (1 - part["ratio"].to_numpy()), part["n"].to_numpy()
        rows.append(
            {
                "population": population,
                "bound": bound,
                "points": len(part),
                "least": float(percent.min()),
                "most": float(percent.max()),
                "least_at": int(n[percent.argmin()]),
                "at_last": float(percent[n.argmax()]),
            }
        )
    columns = ["population", "bound", "points", "least", "most", "least_at", "at_last"]
    return pd.DataFrame(rows, columns=columns)


def reached_from(table: pd.DataFrame, *, percent: float) -> float:
    """The least n of the table from which on the paper's eps is `percent` below each of its baselines; NaN if none.

    Args:
        table: from `ratios`.
        percent: in [0, 100].
    """
    percent = check.in_range(0, 100, percent=percent)
    own = table[table["key"].isin(BASELINES)].sort_values("n")
    short = own.loc[100 * (1 - own["ratio"]) < percent, "n"]
    later = own["n"] if short.empty else own.loc[own["n"] > short.max(), "n"]
    return float(later.min()) if len(later) else math.nan


def extremes(*, budgets_near_zero: Sequence[float], n: int, delta: float) -> pd.DataFrame:
    """The paper's bound and [Liu23] as local budgets vanish, and the certified truth for randomized response.

    All users at one budget; then half of them at 0.5 and the other half at it.

    Args:
        budgets_near_zero: local budgets >= 0.
        n: number of users, >= 2.
        delta: central delta in (0, 1).

    Returns:
        One row for each crowd: `crowd` ("all" or "half at 0.5"), `budget`, `largest` (local eps), `paper`, `liu23`,
        `echoes` (S of [Liu23]) and `needed` (its condition is S >= that), `certified` (upper end), `own` (the certified
        eps of a user with that budget). NaN where a bound refuses.
    """
    n = check.count(2, n=n)
    paper, liu23 = bounds.CATALOGUE["gspa"], bounds.CATALOGUE["liu23"]
    rows = []
    for crowd in ("all", "half at 0.5"):
        for eps in check.row(budgets_near_zero=budgets_near_zero):
            people = budgets.constant(eps, n=n) if crowd == "all" else budgets.mixed_constant(0.5, eps, n=n)
            groups = people.grouped()
            users = per_user.per_user_epsilon(groups, delta=delta)
            rows.append(
                {
                    "crowd": crowd,
                    "budget": eps,
                    "largest": people.eps_max,
                    "paper": _or_nan(paper, people, delta),
                    "liu23": _or_nan(liu23, people, delta),
                    "echoes": bounds.liu23_clones(people),
                    "needed": 16 * math.log(4 / delta),
                    "certified": accountant.central_epsilon(people, delta=delta).upper,
                    "own": float(users.upper[groups.eps == eps].max()),
                }
            )
    return pd.DataFrame(rows)


def _or_nan(bound: bounds.PublishedBound, people: budgets.Budgets, delta: float) -> float:
    try:
        return bound.epsilon(people, delta)
    except OutsideValidity:
        return math.nan

"""The accountant's pages as tidy tables: how tight, for whom, and how sure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from gspa import accountant, asymptotic, audit, blanket, blanket_limit, bounds, budgets, calibrate, exact_rr, per_user
from gspa._validate import count
from gspa.bound import Bound

Setting = tuple[str, str, Sequence[float], Sequence[int], float]
# (name, mechanism, noise scales on [0, 1], how many users have each, delta)
CONTINUOUS: tuple[Setting, ...] = (
    ("Laplace, everybody at 1", "laplace", [1.0], [10_000], 1e-4),
    ("Laplace, one user at 2 among 9,999 at 0.01", "laplace", [0.5, 100.0], [1, 9_999], 1e-4),
    ("Laplace, groups of Figure 3: 0.1, 0.5, 1", "laplace", [10.0, 2.0, 1.0], [5_400, 3_700, 900], 1e-4),
    ("Gaussian, sigma = 1", "gaussian", [1.0], [10_000], 1e-6),
)


def _interval(bound: Bound) -> dict[str, float]:
    return {"lower": bound.lower, "upper": bound.upper, "width": bound.relative_width}


def against_published(*, eps0: float, n: int, delta: float, mechanism: str = "rr") -> pd.DataFrame:
    """Every published bound for n users of one budget, beside the certified interval.

    Returns:
        One row a bound, the smallest first: `bound`, `epsilon` (NaN where it refuses), `ratio` to the certified
        upper end, `proved`, `note`.
    """
    people = budgets.constant(eps0, n=n)
    exact = accountant.central_epsilon(people, delta=delta, mechanism=mechanism)
    rows = [
        {
            "bound": row.label,
            "epsilon": np.nan if row.epsilon is None else row.epsilon,
            "ratio": np.nan if row.epsilon is None else row.epsilon / exact.upper,
            "proved": "yes" if row.rigorous else "no",
            "note": row.note,
        }
        for row in bounds.compare(people, delta=delta, mechanism=mechanism)
    ]
    return pd.DataFrame(rows)


def paper_against_exact(*, local: Sequence[float], sizes: Sequence[int], delta: float) -> pd.DataFrame:
    """The paper's eps beside the certified one, for randomized response.

    Returns:
        One row for each (eps0, n): `eps0`, `n`, `paper`, `lower`, `upper`, `width`, `ratio` (paper's over the
        certified lower end: below 1 the paper promises what does not hold; NaN where the certified eps is 0).
    """
    rows = []
    for eps0 in local:
        for n in sizes:
            people = budgets.constant(eps0, n=n)
            exact = accountant.central_epsilon(people, delta=delta)
            paper = bounds.gspa_epsilon(people, delta=delta)
            # At 0 no budget is needed at that delta, and no ratio says more.
            ratio = paper / exact.lower if exact.lower > 0 else np.nan
            rows.append({"eps0": eps0, "n": n, "paper": paper, **_interval(exact), "ratio": ratio})
    return pd.DataFrame(rows)


def pair_against_truth(*, local: Sequence[float], sizes: Sequence[int], delta: float) -> pd.DataFrame:
    """What the pair gives away for randomized response: its eps over that of the shuffled bits themselves.

    Returns:
        One row for each (eps0, n): `eps0`, `n`, `pair`, `bits`, `gap` (their ratio, at least 1).
    """
    rows = []
    for eps0 in local:
        for n in sizes:
            people = budgets.constant(eps0, n=n)
            pair = accountant.central_epsilon(people, delta=delta)
            bits = exact_rr.exact_epsilon(people, delta=delta)
            rows.append({"eps0": eps0, "n": n, "pair": pair.value, "bits": bits.value, "gap": pair.value / bits.value})
    return pd.DataFrame(rows)


def delta_curve(people: budgets.Budgets, *, eps_max: float, points: int = 41) -> pd.DataFrame:
    """delta(eps) of the pair, certified on both sides, and the paper's Gaussian.

    Returns:
        One row an eps: `eps`, `lower`, `upper`, `paper`.
    """
    rows = []
    for eps in np.linspace(0.0, eps_max, count(2, points=points)):
        exact = accountant.central_delta(people, eps=float(eps))
        paper = bounds.gspa_delta(people, eps=float(eps))
        rows.append({"eps": float(eps), "lower": exact.lower, "upper": exact.upper, "paper": paper})
    return pd.DataFrame(rows)


def by_user(people: budgets.Budgets, *, delta: float) -> pd.DataFrame:
    """Central eps of each user against the user's own budget: `local`, `lower`, `upper`, by local budget."""
    found = per_user.per_user_epsilon(people, delta=delta)
    table = pd.DataFrame({"local": people.eps, "lower": found.lower, "upper": found.upper})
    return table.sort_values("local", ignore_index=True)


def continuous(*, settings: Sequence[Setting] = CONTINUOUS) -> pd.DataFrame:
    """Certified eps of continuous reports between an attack and the Gaussian limit.

    Args:
        settings: (name, mechanism, noise scales, how many users have each, delta).

    Returns:
        One row a setting: `setting`, `delta`, `attack` (a rigorous lower bound), `limit` (an estimate), `certified`
        (upper), `ratio` (certified over limit), `least ratio` (what no bound by one blanket density can beat when
        there are many users in these proportions: `gspa.blanket_limit`), and `alone`: the victim's local eps at
        the same delta.
    """
    rows = []
    for name, mechanism, scales, sizes, delta in settings:
        certified = blanket.blanket_epsilon(scales, count=sizes, delta=delta, mechanism=mechanism)
        alone = blanket.blanket_epsilon([min(scales)], count=[1], delta=delta, mechanism=mechanism)
        limit = asymptotic.asymptotic_mu(scales, count=sizes, mechanism=mechanism).epsilon(delta)
        attack = audit.attack_epsilon(scales, count=sizes, delta=delta, mechanism=mechanism)
        best = blanket_limit.blanket_limit(scales, count=sizes, delta=delta, mechanism=mechanism).common
        rows.append(
            {
                "setting": name,
                "delta": f"{delta:g}",
                "attack": attack.lower,
                "limit": limit,
                "certified": certified.upper,
                "ratio": certified.upper / limit,
                "least ratio": best.epsilon / limit,
                "alone": alone.upper,
            }
        )
    return pd.DataFrame(rows)


def local_budget_for(*, targets: Sequence[float], sizes: Sequence[int], delta: float) -> pd.DataFrame:
    """The largest local eps0 that meets a central eps: `central`, `n`, `local` (certified to suffice)."""
    rows = []
    for eps in targets:
        for n in sizes:
            found = calibrate.largest_local_epsilon(eps=eps, delta=delta, n=n)
            rows.append({"central": eps, "n": n, "local": found.lower})
    return pd.DataFrame(rows)

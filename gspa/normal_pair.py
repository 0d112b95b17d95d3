"""Lemma 3: two normal laws one report apart, by computer algebra and in numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
import sympy as sp
from numpy.typing import NDArray

from gspa import _validate as check
from gspa import budgets
from gspa import normal_limit as nl
from gspa.tradeoff import gdp_delta

Array = NDArray[np.float64]


class Symbols(NamedTuple):
    """Lemma 3 by computer algebra: what is left after subtracting what is printed; all 0 if it is right.

    Attributes:
        covariance: of one user's (xi_0, xi_1), minus one term of Sigma, four entries.
        inverse: Sigma times the printed inverse, minus the identity, four entries.
        square: (-1, 1) Sigma^-1 (-1, 1)' minus 4/v_1.
        singular: det Sigma as text; the inverse exists where it is not 0.
    """

    covariance: tuple[sp.Expr, ...]
    inverse: tuple[sp.Expr, ...]
    square: sp.Expr
    singular: str


def printed_inverse(v1: sp.Expr, v2: sp.Expr) -> sp.Matrix:
    """Sigma^-1 as the proof of Lemma 3 prints it, with v_1 = sum p_i and v_2 = sum p_i^2."""
    below = v1**2 - v1 * v2
    return sp.Matrix([[(2 * v1 - v2) / below, v2 / below], [v2 / below, (2 * v1 - v2) / below]])


def lemma3_symbols() -> Symbols:
    """Covariance, inverse and quadratic form of Lemma 3, derived from the law and compared with the print.

    >>> lemma3_symbols().square
    0
    """
    p, v1, v2 = sp.symbols("p v1 v2", positive=True)
    outcomes = (((1, 0), p / 2), ((0, 1), p / 2), ((0, 0), 1 - p))
    mean = [sum(mass * x[i] for x, mass in outcomes) for i in (0, 1)]
    own = sp.Matrix(2, 2, lambda i, j: sum(mass * x[i] * x[j] for x, mass in outcomes) - mean[i] * mean[j])
    printed = sp.Matrix([[p / 2 * (1 - p / 2), -(p**2) / 4], [-(p**2) / 4, p / 2 * (1 - p / 2)]])
    sigma = sp.Matrix([[v1 / 2 - v2 / 4, -v2 / 4], [-v2 / 4, v1 / 2 - v2 / 4]])
    shift = sp.Matrix([-1, 1])
    return Symbols(
        covariance=tuple(sp.simplify(entry) for entry in own - printed),
        inverse=tuple(sp.simplify(entry) for entry in sigma * printed_inverse(v1, v2) - sp.eye(2)),
        square=sp.simplify((shift.T * sigma.inv() * shift)[0, 0] - 4 / v1),
        singular=str(sp.factor(sigma.det())),
    )


def lemma3_numbers(*, draws: int, users: int, seed: int) -> pd.DataFrame:
    """Lemma 3 for random personal budgets, without its algebra.

    Args:
        draws: number of random populations, eps_i uniform on [0, 4] and delta_i on [0, 0.1].
        users: of each population.
        seed: of the draws.

    Returns:
        One row a population: `closed` (4/sum p_i), `square` (with the Moore-Penrose inverse of the covariance summed
        user by user), `delta_normal` (at eps = mu, by quadrature over the plane of the two normal densities) and
        `delta_closed` (that of G_mu). The last row has eps_i = delta_i = 0 for all: there Sigma has no
        inverse, and the plane is replaced by the line on which both laws live.
    """
    rng = np.random.default_rng(check.seed(seed=seed))
    users = check.count(users=users)
    rows = []
    for last in [False] * check.count(draws=draws) + [True]:
        own, local = rng.uniform(0, 4, users), rng.uniform(0, 0.1, users)
        if last:
            own, local = 0 * own, 0 * local
        people = budgets.from_array(own, delta=local)
        p = nl.clone_probability(people.eps, delta=people.delta)
        sigma = nl.covariance(p, count=people.count)
        closed = 4 / float(people.count @ p)
        shift = np.array([-1.0, 1.0])
        mu = math.sqrt(closed)
        rows.append(
            {
                "closed": closed,
                "square": float(shift @ np.linalg.pinv(sigma, hermitian=True) @ shift),
                "delta_normal": _normal_delta(sigma, eps=mu),
                "delta_closed": gdp_delta(mu, mu=mu),
            }
        )
    return pd.DataFrame(rows)


def symbols_table(symbols: Symbols) -> pd.DataFrame:
    """`lemma3_symbols` for a page: `what`, and what is `left`."""
    rows = [
        ("covariance of one user", ", ".join(map(str, symbols.covariance))),
        ("Sigma times its inverse, minus the identity", ", ".join(map(str, symbols.inverse))),
        ("(-1, 1) Sigma^-1 (-1, 1)' minus 4/v1", str(symbols.square)),
    ]
    return pd.DataFrame(rows, columns=["derived minus printed", "what is left"])


def readable_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """`lemma3_numbers` for a page: the first three populations and the one with all budgets 0."""
    last = len(table) - 1
    shown = table.iloc[[*range(min(3, last)), last]]
    names = [f"random {i + 1}" for i in range(len(shown) - 1)] + ["all budgets 0"]
    headings = {
        "closed": "4/sum p",
        "square": "numerical form",
        "delta_normal": "delta by quadrature",
        "delta_closed": "delta of G_mu",
    }
    return shown.assign(population=names)[["population", *headings]].rename(columns=headings)


def _normal_delta(sigma: Array, *, eps: float, points: int = 1201) -> float:
    """H(N(mu_0, Sigma), N(mu_1, Sigma)) at eps for mu_0 - mu_1 = (1, -1), by the midpoint rule; error below 1e-5.

    The integral runs over the principal axes whose variance is not 0.
    """
    variance, axes = np.linalg.eigh(sigma)
    kept = variance > 1e-9 * variance.max()
    shift = (np.array([1.0, -1.0]) @ axes)[kept] / np.sqrt(variance[kept])
    z = (np.arange(points) + 0.5) * (20 / points) - 10
    grids = np.meshgrid(*[z] * int(kept.sum()), indexing="ij")
    # Densities in units of the principal deviations, mu_1 at 0.
    first = sum((g - s) ** 2 for g, s in zip(grids, shift, strict=True))
    second = sum(g * g for g in grids)
    cell = (20 / points) ** len(grids) / (2 * math.pi) ** (len(grids) / 2)
    return float(np.maximum(np.exp(-0.5 * first) - math.exp(eps) * np.exp(-0.5 * second), 0).sum() * cell)

"""Lemma 2 and eq. (14) as tidy tables: distances by number of users and fitted rates."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student

from gspa import _validate as check
from gspa import normal_limit as nl
from gspa.errors import InvalidValue

Array = NDArray[np.float64]

QUANTITIES = {
    "total_variation": "total variation, unit cells",
    "printed": "eq. (14) as printed",
    "difference": "total variation of the difference alone",
}


def sizes_between(least: int, most: int, points: int) -> list[int]:
    """About equally spaced on a logarithmic axis, both ends included.

    >>> sizes_between(100, 10_000, 3)
    [100, 1000, 10000]
    """
    least, most, points = check.count(2, least=least), check.count(2, most=most), check.count(2, points=points)
    if least >= most:
        raise InvalidValue("least", least, f"below most = {most}")
    return [int(m) for m in np.unique(np.rint(np.geomspace(least, most, points)))]


def distance_table(*, eps0: Sequence[float], sizes: Sequence[int]) -> pd.DataFrame:
    """Distances from the normal law for m users of one budget each.

    Args:
        eps0: local budgets > 0.
        sizes: numbers of users m.

    Returns:
        One row for each (eps0, m): `eps0`, `m`, and the fields of `gspa.normal_limit.Distances`.
    """
    rows = []
    sizes = check.row(sizes=sizes)
    for eps in check.row(eps0=eps0):
        p = nl.clone_probability(check.positive(eps0=eps))
        for m in sizes:
            found = nl.distances([p], count=check.count(sizes=m))
            rows.append({"eps0": float(eps), **vars(found)})
    return pd.DataFrame(rows)


def moving_table(*, sizes: Sequence[int]) -> pd.DataFrame:
    """The same where p changes with m, so that the sum of p or of 1 - p stays 1.

    Returns:
        One row for each m and end: `p` ("1/m" or "1 - 1/m"), `m`, `eps0` (the budget with that p),
        `total_variation`, `times_root` (sqrt(m) times it: what C would have to be).
    """
    users = check.counts(3, sizes=sizes)
    rows = []
    for name, end in (("1/m", 0.0), ("1 - 1/m", 1.0)):
        for m in users:
            p = abs(end - 1 / m)
            tv = nl.distances([p], count=m).total_variation
            rows.append(
                {
                    "p": name,
                    "m": m,
                    "eps0": math.log(2 / p - 1),
                    "total_variation": tv,
                    "times_root": tv * math.sqrt(m),
                }
            )
    return pd.DataFrame(rows)


def seen_table(*, eps0: float, sizes: Sequence[int], sides: Sequence[float] = (1, 1 / 8, 1 / 64)) -> pd.DataFrame:
    """How much of the total variation from the normal law itself cells of a side show: `m`, `side`, `seen`."""
    p = nl.clone_probability(check.positive(eps0=eps0))
    rows = [
        (m, side, nl.seen_with_cells([p], count=m, side=side))
        for m in check.counts(sizes=sizes)
        for side in check.row(sides=sides)
    ]
    return pd.DataFrame(rows, columns=["m", "side", "seen"])


def mixed_distances(*, m: int, groups: int = 20) -> list[tuple[str, float, float]]:
    """Total variation and leading term for two populations of personal budgets: name, distance, estimate.

    Args:
        m: number of users.
        groups: into how many equal budgets the uniform one is cut.
    """
    m, groups = check.count(2, m=m), check.count(2, groups=groups)
    half = np.array([m - m // 2, m // 2])
    spread = np.full(groups, m // groups)
    spread[: m % groups] += 1
    populations = (
        ("half at 0.5, half at 0.01", np.array([0.5, 0.01]), half),
        ("evenly from 0.01 to 2", np.linspace(0.01, 2, groups), spread),
    )
    found = [(name, nl.distances(nl.clone_probability(eps), count=count)) for name, eps, count in populations]
    return [(name, near.total_variation, near.leading) for name, near in found]


def rates(table: pd.DataFrame) -> pd.DataFrame:
    """Exponents of m by least squares on logarithms, with a 95% interval of the fit.

    The numbers carry no noise: the interval says how far they are from one power law.

    Args:
        table: from `distance_table`, with three sizes or more.

    Returns:
        One row for each eps0 and quantity: `eps0`, `key`, `quantity`, `exponent`, `half_width`, `constant`
        (sqrt(m) or m times the quantity at the largest m, whichever power is nearer).

    Raises:
        InvalidValue: fewer than three sizes.
    """
    rows = []
    for eps, part in table.groupby("eps0", sort=False):
        if len(part) < 3:
            raise InvalidValue("sizes", len(part), "three or more", "a line through two points has no interval")
        x = np.log(part["m"].to_numpy(float))
        for key, name in QUANTITIES.items():
            value = part[key].to_numpy(float)
            slope, level = np.polyfit(x, np.log(value), 1)
            rest = np.log(value) - slope * x - level
            error = math.sqrt(rest @ rest / (len(x) - 2) / ((x - x.mean()) @ (x - x.mean())))
            power = 0.5 if slope > -0.75 else 1.0
            rows.append(
                {
                    "eps0": eps,
                    "key": key,
                    "quantity": name,
                    "exponent": slope,
                    "half_width": float(student.ppf(0.975, len(x) - 2)) * error,
                    "constant": value[-1] * float(part["m"].iloc[-1]) ** power,
                }
            )
    return pd.DataFrame(rows)


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """`distance_table` with the columns and headings of a page."""
    headings = {
        "eps0": "eps0",
        "m": "users m",
        "total_variation": "total variation",
        "leading": "its leading term",
        "printed": "(14) as printed",
        "printed_mass": "sum of its h",
        "difference": "difference alone",
    }
    return table[list(headings)].rename(columns=headings)


def readable_rates(table: pd.DataFrame) -> pd.DataFrame:
    """`rates` for a page: a row a budget, a column a quantity, exponent with interval."""
    text = [f"{row.exponent:.4f} ± {row.half_width:.1g}" for row in table.itertuples()]
    wide = table.assign(text=text).pivot(index="eps0", columns="quantity", values="text")
    return wide[list(QUANTITIES.values())].rename_axis(columns=None).reset_index()


def readable_seen(table: pd.DataFrame) -> pd.DataFrame:
    """`seen_table` for a page: a row a number of users, a column a side."""
    wide = table.pivot(index="m", columns="side", values="seen").sort_index(axis=1, ascending=False)
    return wide.rename(columns="cells of side {:g}".format).rename_axis(columns=None).reset_index()


def total_variation_by_definition(p: Sequence[float], *, nodes: int = 8) -> float:
    """Half the sum over all lattice points, for few users: eq. (14) as it must be, without change of coordinates.

    The law by convolution user by user, the normal cells by quadrature of the correlated density.

    Args:
        p: clone probabilities, at most 60, so that the arrays stay small.
        nodes: Gauss-Legendre nodes a side of a cell.

    Raises:
        InvalidValue: more than 60 users, or a covariance without an inverse.
    """
    chances, nodes = np.array(check.numbers(0, 1, p=p)), check.count(nodes=nodes)
    if not 1 <= chances.size <= 60:
        raise InvalidValue("len(p)", chances.size, "from 1 to 60")
    m = chances.size
    law = np.zeros((m + 1, m + 1))
    law[0, 0] = 1.0
    for one in chances:
        grown = (1 - one) * law
        grown[1:] += one / 2 * law[:-1]
        grown[:, 1:] += one / 2 * law[:, :-1]
        law = grown
    sigma = nl.covariance(chances)
    if np.linalg.det(sigma) < 1e-9:
        raise InvalidValue("p", chances.tolist(), "not all 0 or 1", "the normal law is a line")
    inverse, scale = np.linalg.inv(sigma), 2 * math.pi * math.sqrt(np.linalg.det(sigma))
    x, w = (0.5 * v for v in np.polynomial.legendre.leggauss(nodes))
    axis = np.arange(m + 1.0) - float(chances.sum()) / 2
    near = np.zeros_like(law)
    for a, wa in zip(x, w, strict=True):
        for b, wb in zip(x, w, strict=True):
            u, v = (axis + a)[:, None], (axis + b)[None, :]
            square = inverse[0, 0] * u * u + 2 * inverse[0, 1] * u * v + inverse[1, 1] * v * v
            near += wa * wb * np.exp(-square / 2) / scale
    # Normal mass on lattice points that the counts cannot reach is part of the sum.
    return 0.5 * (float(np.abs(law - near).sum()) + max(0.0, 1 - float(near.sum())))

"""Lemma 4's channel and the mechanisms that it is tried on, which pages 03 and 04 look at.

Two laws P0, P1 that are (eps, delta)-close are what one and the same channel makes of the quaternary pair (Kairouz, Oh
and Viswanath 2015). The channel is built here in closed form, exactly where the numbers are fractions, and found again
by a linear program that knows nothing of the construction.

>>> p0, p1, _ = finite.randomized_response(3, k=3).rows
>>> [[str(mass) for mass in row] for row in channel(p0, p1, ratio=3)[1:3]]
[['4/5', '0', '1/5'], ['0', '4/5', '1/5']]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import stats
from scipy.optimize import linprog
from scipy.sparse import bmat, coo_matrix, identity, kron

from gspa.pages import finite
from gspa.pages.finite import Matrix, Mechanism, Number

# HiGHS's tightest: the default, 1e-7, is of the size of a cell's mass.
TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
ROUNDING = 1e-9  # of sums of some hundred masses; exact mechanisms are at 0
_REACH = 6.0  # noise scales beyond the interval [0, 1] at which tails are put together


def noise(
    kind: str, *, scale: float, cells: int, ratio: Number, inputs: Sequence[float] = (0.0, 0.5, 1.0)
) -> Mechanism:
    """Laplace or Gaussian noise on inputs in [0, 1], the reports cut into cells, with the cells' own delta; floats.

    Cutting is post-processing: the cells are at least as private as the reports.
    """
    law, at, p = {"laplace": stats.laplace, "gaussian": stats.norm}[kind], np.array(inputs), float(ratio)
    grid = np.linspace(-_REACH * scale, 1 + _REACH * scale, cells - at.size + 1)[1:-1]
    # A cell of a rounding error's width would have a mass of rounding only.
    apart = np.abs(grid[:, None] - at).min(axis=1) > 1e-6 * scale
    edges = np.r_[-np.inf, np.unique(np.r_[grid[apart], at]), np.inf]
    # Every input is an edge; differences of tails on a cell's own side keep their digits.
    rows = np.array(
        [np.where(edges[1:] <= x, np.diff(law.cdf(edges, x, scale)), -np.diff(law.sf(edges, x, scale))) for x in at]
    )
    # Rounding alone puts a pure mechanism's delta at about 1e-17.
    pure = kind == "laplace" and math.log(p) >= 1 / scale - 1e-12
    delta = 0.0 if pure else float(finite.local_delta(rows, ratio=p))
    outputs = tuple(f"cell {j}" for j in range(rows.shape[1]))
    return Mechanism(f"{kind.capitalize()} noise, scale {scale:.3g}", rows, p, delta, outputs)


def gallery(
    ratio: Number, delta: Number, *, sigma: float = 1.0, cells: int = 60, draws: int = 2, seed: int = 2024
) -> list[Mechanism]:
    """What Lemmas 4 and 1 are tried on, pure mechanisms first; those that take a delta have `delta`, others their own.

    >>> [mechanism.name for mechanism in gallery(3, 0.1, draws=0)][:3]
    ['binary RR', '4-ary RR', 'subset selection, 2 of 3']
    """
    eps = math.log(ratio)
    drawn = [finite.extremal(ratio, inputs=4, patterns=3, rng=[seed, draw]) for draw in range(draws)]
    binary, ternary = finite.randomized_response(ratio), finite.randomized_response(ratio, k=4)
    sets = finite.subset_selection(ratio, k=3, size=2)
    return [
        *(binary, ternary, sets, finite.one_bit(ratio), finite.staircase(ratio)),
        *(replace(found, name=f"{found.name}, no. {draw}") for draw, found in enumerate(drawn, 1)),
        noise("laplace", scale=1 / eps, cells=cells, ratio=ratio),
        finite.quaternary(ratio, delta),
        *(finite.leaky(pure, delta) for pure in (binary, ternary, sets)),
        finite.anything_but(ratio, inputs=4),
        noise("laplace", scale=1 / (1.5 * eps), cells=cells, ratio=ratio),
        noise("gaussian", scale=sigma, cells=cells, ratio=ratio),
    ]


def channel(p0: Matrix, p1: Matrix, *, ratio: Number, delta: Number = 0) -> Matrix:
    """The channel that turns Lemma 4's pair into P0 and P1, in closed form: the laws made of A, 0, 1, B, shape (4, m).

    Cut both laws to min(P0, e^eps P1) and min(P1, e^eps P0), which leaves masses of at least 1 - delta. Lower the
    heavier towards the pointwise smaller of the two until both weigh the same, then scale both to 1 - delta: every
    step keeps the ratios within e^eps. The rests are what A and B make; the two kept laws V0, V1 are a pure pair,
    and 0 makes (e^eps V0 - V1)/(e^eps - 1), 1 the same exchanged.
    """
    kept = [np.minimum(p0, ratio * p1), np.minimum(p1, ratio * p0)]
    heavy, light = (0, 1) if kept[0].sum() >= kept[1].sum() else (1, 0)
    smaller, excess = np.minimum(*kept), kept[heavy].sum() - kept[light].sum()
    if excess > 0:
        spare = kept[heavy] - smaller
        kept[heavy] = kept[heavy] - spare * (excess / spare.sum())
    v0, v1 = (law / law.sum() for law in kept)
    rests = [np.maximum(p - (1 - delta) * v, 0) for p, v in ((p0, v0), (p1, v1))]
    # Without a rest A and B have no mass, and any law will do.
    made_by_a, made_by_b = (
        rest / rest.sum() if delta > 0 and rest.sum() > 0 else p for rest, p in zip(rests, (p0, p1), strict=True)
    )
    made_by_0, made_by_1 = (np.maximum(ratio * v - other, 0) / (ratio - 1) for v, other in ((v0, v1), (v1, v0)))
    return np.array([made_by_a, made_by_0, made_by_1, made_by_b])


def channel_error(p0: Matrix, p1: Matrix, *, ratio: Number, delta: Number = 0) -> float:
    """Largest difference of a mass of P0 or P1 and what `channel` makes of Lemma 4's pair; 0.0 if exactly equal.

    It also counts by how much a row of the channel is not a law.
    """
    built = channel(p0, p1, ratio=ratio, delta=delta)
    made = finite.quaternary_pair(ratio, delta).dot(built)
    return float(max(abs(made - np.array([p0, p1])).max(), abs(built.sum(axis=1) - 1).max(), -built.min(), 0))


def nearest(pair: Matrix, p0: Matrix, p1: Matrix) -> float:
    """How near any one channel brings `pair` to (P0, P1): the larger total variation, by linear programming.

    0 exactly if the pair dominates. A float from HiGHS at a feasibility tolerance of 1e-10.
    """
    sources, target = np.asarray(pair, dtype=float), np.array([p0, p1], dtype=float)
    s, m = sources.shape[1], target.shape[1]
    # Variables: the channel row by row, what is missing of each mass of P0 and of P1, and the distance.
    above = bmat(
        [
            [kron(coo_matrix(-sources), identity(m)), -identity(2 * m), None],
            [None, kron(identity(2), np.ones((1, m))), coo_matrix(-np.ones((2, 1)))],
        ]
    )
    laws = bmat([[kron(identity(s), np.ones((1, m))), coo_matrix((s, 2 * m + 1))]])
    found = linprog(
        np.r_[np.zeros((s + 2) * m), 1.0],
        A_ub=above.tocsr(),
        b_ub=np.r_[-target.ravel(), 0.0, 0.0],
        A_eq=laws.tocsr(),
        b_eq=np.ones(s),
        bounds=(0, None),
        method="highs",
        options=TOLERANCES,
    )
    return max(float(found.fun), 0.0)

"""The channel of Lemma 4, Chen et al. 2024, that turns its pair of laws on four outcomes into any two close laws.

Two laws P0, P1 that are (eps, delta)-close are what one and the same channel makes of the quaternary pair (Kairouz, Oh
and Viswanath 2015). The channel is built here in closed form, exactly where the numbers are fractions, and found again
by a linear program that knows nothing of the construction.

>>> p0, p1, _ = finite.randomized_response(3, k=3).rows
>>> [[str(mass) for mass in row] for row in channel(p0, p1, ratio=3)[1:3]]
[['4/5', '0', '1/5'], ['0', '4/5', '1/5']]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog
from scipy.sparse import bmat, coo_matrix, identity, kron

from gspa.accountant import arguments as check
from gspa.accountant.errors import InvalidValue
from gspa.algorithms import finite
from gspa.algorithms.finite import Matrix, Number

# HiGHS's tightest: the default, 1e-7, is of the size of a cell's mass.
TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
ROUNDING = 1e-9  # of sums of some hundred masses; exact mechanisms are at 0


def _laws(p0: ArrayLike, p1: ArrayLike) -> tuple[Matrix, Matrix]:
    first, second = np.asarray(p0), np.asarray(p1)
    if first.ndim != 1 or first.shape != second.shape or not first.size:
        raise InvalidValue("p1", p1, "a law on the outcomes of p0")
    return first, second


def channel(p0: ArrayLike, p1: ArrayLike, *, ratio: Number, delta: Number = 0) -> Matrix:
    """The channel that turns Lemma 4's pair into P0 and P1, in closed form.

    Cut both laws to min(P0, e^eps P1) and min(P1, e^eps P0), which leaves masses of at least 1 - delta. Lower the
    heavier towards the pointwise smaller of the two until both weigh the same, then scale both to 1 - delta: every
    step keeps the ratios within e^eps. The rests are what A and B make; the two kept laws V0, V1 are a pure pair,
    and 0 makes (e^eps V0 - V1)/(e^eps - 1), 1 the same exchanged.

    Args:
        p0: a law on m outcomes, Fractions or floats.
        p1: another one, that shares an outcome with it.
        ratio: e^eps > 1, up to 10^100.
        delta: in [0, 1); if P0 and P1 are not (eps, delta)-close, the channel makes other laws.

    Returns:
        The laws made of A, 0, 1 and B, a row each; shape (4, m), exact where all arguments are.

    Raises:
        InvalidValue: an argument out of range, or laws without a common outcome.
    """
    p0, p1 = _laws(p0, p1)
    ratio, delta = check.rational(1, finite.LARGEST, ratio=ratio), check.rational(0, 1, delta=delta)
    if ratio == 1 or delta == 1:
        raise InvalidValue(*(("ratio", ratio, "greater than 1") if ratio == 1 else ("delta", delta, "less than 1")))
    kept = [np.minimum(p0, ratio * p1), np.minimum(p1, ratio * p0)]
    if not np.minimum(*kept).sum() > 0:
        raise InvalidValue("p1", p1, "a law that shares an outcome with p0")
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


def channel_error(p0: ArrayLike, p1: ArrayLike, *, ratio: Number, delta: Number = 0) -> float:
    """Largest difference of a mass of P0 or P1 and what `channel` makes of Lemma 4's pair; 0.0 if exactly equal.

    It also counts by how much a row of the channel is not a law. Arguments and errors as `channel`.
    """
    built = channel(p0, p1, ratio=ratio, delta=delta)
    p0, p1 = _laws(p0, p1)
    made = finite.quaternary_pair(ratio, delta).dot(built)
    return float(max(abs(made - np.array([p0, p1])).max(), abs(built.sum(axis=1) - 1).max(), -built.min(), 0))


def nearest(pair: ArrayLike, p0: ArrayLike, p1: ArrayLike) -> float:
    """How near any one channel brings `pair` to (P0, P1): the larger total variation, by linear programming.

    Args:
        pair: two laws, a row each.
        p0: a law.
        p1: another one, on the same outcomes.

    Returns:
        In [0, 1], and 0 exactly if the pair dominates; from HiGHS at a feasibility tolerance of 1e-10.

    Raises:
        InvalidValue: other shapes.
    """
    if np.ndim(pair) != 2 or len(sources := np.asarray(pair, dtype=float)) != 2:
        raise InvalidValue("pair", pair, "two laws, a row each")
    target = np.array(_laws(p0, p1), dtype=float)
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

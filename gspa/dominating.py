"""Lemma 4 of Chen et al. 2024: one pair on four outcomes dominates every (eps, delta) pair of laws.

Two laws P0, P1 that are (eps, delta)-close are what one and the same channel makes of the quaternary pair
(Kairouz, Oh and Viswanath 2015). The channel is built here in closed form, exactly where the numbers are fractions,
and found again by a linear program that knows nothing of the construction.

>>> from fractions import Fraction
>>> from gspa.finite_mechanisms import randomized_response
>>> p0, p1, _ = randomized_response(3, k=3).rows
>>> [[str(mass) for mass in row] for row in channel(p0, p1, ratio=Fraction(3))[1:3]]
[['4/5', '0', '1/5'], ['0', '4/5', '1/5']]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import bmat, coo_matrix, identity, kron

from gspa import _validate as check
from gspa.discrete import neyman_pearson
from gspa.errors import OutsideValidity
from gspa.finite_mechanisms import (
    LETTERS,
    Matrix,
    Mechanism,
    Number,
    exact_or_float,
    likelihood_ratio,
    local_delta,
    positive_part,
    quaternary_pair,
    rounding,
    zero,
)
from gspa.tradeoff import f_eps_delta, gaussian, gdp_delta

Array = NDArray[np.float64]

# HiGHS's tightest: the default, 1e-7, is of the size of a cell's mass.
TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_LESS = 0.9  # share of delta, or of eps, with which the linear program is to fail


def channel(p0: Matrix, p1: Matrix, *, ratio: Number, delta: Number = 0) -> Matrix:
    """The channel that turns Lemma 4's pair into P0 and P1, in closed form.

    Cut both laws to min(P0, e^eps P1) and min(P1, e^eps P0), which leaves masses of at least 1 - delta. Lower the
    heavier towards the pointwise smaller of the two until both weigh the same, then scale both to 1 - delta: every
    step keeps the ratios within e^eps. The rests are what A and B make; the two kept laws V0, V1 are a pure pair,
    and 0 makes (e^eps V0 - V1)/(e^eps - 1), 1 the same exchanged.

    Args:
        p0, p1: laws, shape (m,).
        ratio: e^eps > 1.
        delta: in [0, 1).

    Returns:
        Shape (4, m): the law that each of A, 0, 1, B is turned into. Exact if all numbers are fractions.

    Raises:
        OutsideValidity: the two laws are not (eps, delta)-close.
    """
    ratio, delta = likelihood_ratio(ratio), exact_or_float(0, 1, delta=delta)
    needed = local_delta(np.array([p0, p1]), ratio=ratio)
    if needed > delta + rounding(p0, ratio):
        raise OutsideValidity(
            "Lemma 4", f"two laws within delta = {float(needed):.6g} at this eps, got {float(delta):g}"
        )
    kept = [np.minimum(p0, ratio * p1), np.minimum(p1, ratio * p0)]
    heavy, light = (0, 1) if kept[0].sum() >= kept[1].sum() else (1, 0)
    smaller, excess = np.minimum(*kept), kept[heavy].sum() - kept[light].sum()
    if excess > 0:
        spare = kept[heavy] - smaller
        kept[heavy] = kept[heavy] - spare * (excess / spare.sum())
    v0, v1 = (law / law.sum() for law in kept)
    rests = [positive_part(p - (1 - delta) * v) for p, v in ((p0, v0), (p1, v1))]
    # Without a rest A and B have no mass, and any law will do.
    made_by_a, made_by_b = (
        rest / rest.sum() if delta > 0 and rest.sum() > 0 else p for rest, p in zip(rests, (p0, p1), strict=True)
    )
    made_by_0, made_by_1 = (positive_part(ratio * v - other) / (ratio - 1) for v, other in ((v0, v1), (v1, v0)))
    return np.array([made_by_a, made_by_0, made_by_1, made_by_b])


def channel_error(p0: Matrix, p1: Matrix, *, ratio: Number, delta: Number = 0) -> float:
    """Largest difference of a mass of P0 or P1 and what `channel` makes of Lemma 4's pair; 0.0 if exactly equal.

    It also counts by how much a row of the channel is not a law.
    """
    built = channel(p0, p1, ratio=ratio, delta=delta)
    made = quaternary_pair(ratio, delta).dot(built)
    off = max(abs(made - np.array([p0, p1])).max(), abs(built.sum(axis=1) - 1).max(), -built.min())
    return float(max(off, zero(off)))


def channel_table(mechanism: Mechanism, *, inputs: tuple[int, int] = (0, 1)) -> pd.DataFrame:
    """The channel of an exact mechanism, readable: fractions as text.

    Args:
        mechanism: with fractions.
        inputs: the two inputs.

    Returns:
        One row an outcome A, 0, 1, B: `outcome`, its mass under either input, and the law it is turned into; then one
        row an input, the laws that come out.
    """
    i, j = inputs
    budget = {"ratio": mechanism.ratio, "delta": mechanism.delta}
    pair, built = quaternary_pair(**budget), channel(mechanism.rows[i], mechanism.rows[j], **budget)
    masses = (f"mass, input {i}", f"mass, input {j}")
    rows = [
        {"outcome": letter, masses[0]: str(pair[0, k]), masses[1]: str(pair[1, k])}
        | {y: str(v) for y, v in zip(mechanism.outputs, built[k], strict=True)}
        for k, letter in enumerate(LETTERS)
    ]
    for x, law in zip(inputs, pair.dot(built), strict=True):
        out = {y: str(v) for y, v in zip(mechanism.outputs, law, strict=True)}
        rows.append({"outcome": f"input {x}: sum", masses[0]: "", masses[1]: ""} | out)
    return pd.DataFrame(rows)


def nearest(pair: Matrix, p0: Matrix, p1: Matrix) -> float:
    """How near any one channel brings `pair` to (P0, P1): the larger total variation, by linear programming.

    0 exactly if the pair dominates. A float from HiGHS at a feasibility tolerance of 1e-10.

    Args:
        pair: shape (2, s), two laws.
        p0, p1: laws, shape (m,).
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


def tradeoff_gap(p0: Matrix, p1: Matrix, *, ratio: Number, delta: Number = 0) -> float:
    """The least of T(P0, P1) - T(pair) over all alpha; not negative if the pair dominates (Blackwell).

    Both are piecewise linear, so the corners of both suffice. Exact up to rounding, about 1e-15.
    """
    curve = neyman_pearson(np.asarray(p0, dtype=float), np.asarray(p1, dtype=float))
    bound = neyman_pearson(*np.asarray(quaternary_pair(ratio, delta), dtype=float))
    alpha = np.union1d(curve.alpha, bound.alpha)
    return float((curve(alpha) - bound(alpha)).min())


def _weaker(mechanism: Mechanism) -> Matrix:
    """Lemma 4's pair with a tenth less of delta, or of eps if delta is 0: too weak to dominate."""
    ratio, delta = float(mechanism.ratio), float(mechanism.delta)
    return quaternary_pair(ratio, _LESS * delta) if delta > 0 else quaternary_pair(ratio**_LESS, 0.0)


def domination(mechanisms: Iterable[Mechanism]) -> pd.DataFrame:
    """Lemma 4 for every pair of inputs of each mechanism.

    Returns:
        One row a mechanism, over all its pairs of inputs: `mechanism`, `eps`, `delta`, `exact`, `error` (largest
        `channel_error`), `distance` (largest `nearest` to Lemma 4's pair), `weaker` (the same with a tenth less of
        delta, or of eps if delta is 0), `gap` (least `tradeoff_gap`).
    """
    rows = []
    for m in mechanisms:
        pairs = list(combinations(m.rows, 2))
        budget = {"ratio": m.ratio, "delta": m.delta}
        pair, weaker = quaternary_pair(**budget), _weaker(m)
        rows.append(
            {
                "mechanism": m.name,
                "eps": m.eps,
                "delta": float(m.delta),
                "exact": m.exact,
                "error": max(channel_error(p0, p1, **budget) for p0, p1 in pairs),
                "distance": max(nearest(pair, p0, p1) for p0, p1 in pairs),
                "weaker": max(nearest(weaker, p0, p1) for p0, p1 in pairs),
                "gap": min(tradeoff_gap(p0, p1, **budget) for p0, p1 in pairs),
            }
        )
    return pd.DataFrame(rows)


def curves(panels: Sequence[tuple[Mechanism, Sequence[Number]]], *, points: int = 201) -> pd.DataFrame:
    """Trade-off curves of a mechanism's first against its last input, and of Lemma 4's pairs at several eps.

    Args:
        panels: mechanism, and the ratios e^eps at which it is dominated with its own delta there.
        points: of alpha in [0, 1], >= 2.

    Returns:
        One row a point: `panel`, `line`, `kind` ("mechanism" or "pair"), `alpha`, `beta`.
    """
    parts = []
    for mechanism, ratios in panels:
        ends = mechanism.rows[[0, -1]]
        laws = [("mechanism", mechanism.name, ends)]
        for ratio in ratios:
            delta = local_delta(ends, ratio=ratio)
            delta = delta if float(delta) > rounding(ends, ratio) else zero(delta)
            label = f"pair, eps {math.log(ratio):.3g}, delta {float(delta):.3g}"
            laws.append(("pair", label, quaternary_pair(ratio, delta)))
        for kind, line, law in laws:
            found = neyman_pearson(*np.asarray(law, dtype=float))
            alpha = np.union1d(np.linspace(0, 1, check.count(2, points=points)), found.alpha)
            parts.append(
                pd.DataFrame(
                    {"panel": mechanism.name, "line": line, "kind": kind, "alpha": alpha, "beta": found(alpha)}
                )
            )
    return pd.concat(parts, ignore_index=True)


def gaussian_pairs(eps: Sequence[float], *, mu: float, points: int = 20_001) -> pd.DataFrame:
    """The uncut Gaussian mechanism against its pairs along its exact curve delta(eps) (Fact 3).

    Args:
        eps: each > 0.
        mu: sensitivity over standard deviation, > 0.
        points: of alpha.

    Returns:
        One row an eps: `eps`, `delta`, `gap` (least of G_mu - f_{eps,delta}; 0 where they touch, negative would
        refute), `gap_weaker` (with a tenth less of delta: negative, or the comparison could not fail).
    """
    mu = check.positive(mu=mu)
    alpha = np.linspace(0, 1, check.count(2, points=points))
    curve = gaussian(alpha, mu=mu)
    rows = []
    for e in check.numbers(0, 700, eps=eps):
        e = check.positive(eps=e)
        delta = gdp_delta(e, mu=mu)
        gaps = [float((curve - f_eps_delta(alpha, eps=e, delta=d)).min()) for d in (delta, _LESS * delta)]
        rows.append({"eps": e, "delta": delta, "gap": gaps[0], "gap_weaker": gaps[1]})
    return pd.DataFrame(rows)

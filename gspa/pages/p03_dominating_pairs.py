"""Page 03, Lemma 4: one pair of laws on four outcomes dominates every (eps, delta)-close pair.

Two laws P0, P1 that are (eps, delta)-close are what one and the same channel makes of the quaternary pair (Kairouz, Oh
and Viswanath 2015). The channel is built here in closed form, exactly where the numbers are fractions, and found again
by a linear program that knows nothing of the construction.

>>> p0, p1, _ = finite.randomized_response(3, k=3).rows
>>> [[str(mass) for mass in row] for row in channel(p0, p1, ratio=3)[1:3]]
[['4/5', '0', '1/5'], ['0', '4/5', '1/5']]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy import stats
from scipy.optimize import linprog
from scipy.sparse import bmat, coo_matrix, identity, kron

from gspa.accountant.discrete import neyman_pearson
from gspa.accountant.tradeoff import f_eps_delta, gaussian, gdp_delta
from gspa.book.claims import Outcome, judge, settles, unsettled
from gspa.book.figures import DASHES, PALETTE, keeps_data, role
from gspa.book.verdicts import Said, exactly, reading, unknown
from gspa.pages import finite
from gspa.pages.finite import Matrix, Mechanism, Number

# HiGHS's tightest: the default, 1e-7, is of the size of a cell's mass.
TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
ROUNDING = 1e-9  # of sums of some hundred masses; exact mechanisms are at 0
_DISTANCE = 1e-8  # HiGHS was asked for 1e-10; a distance above this is one
_LESS = 0.9  # share of delta, or of eps, with which the linear program is to fail
_REACH = 6.0  # noise scales beyond the interval [0, 1] at which tails are put together


# --- tables ------------------------------------------------------------------------------------------------


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


def channel_table(mechanism: Mechanism) -> pd.DataFrame:
    """An exact mechanism's channel at its first two inputs: outcome, its mass under either, the law it is turned into.

    Two more rows, one an input, have the laws that come out.
    """
    (p0, p1), budget = mechanism.rows[:2], {"ratio": mechanism.ratio, "delta": mechanism.delta}
    pair, built = finite.quaternary_pair(**budget), channel(p0, p1, **budget)
    rows = [(letter, *pair[:, k], *built[k]) for k, letter in enumerate(finite.LETTERS)]
    rows += [(f"input {x}: sum", "", "", *law) for x, law in enumerate(pair.dot(built))]
    columns = ["outcome", "mass, input 0", "mass, input 1", *mechanism.outputs]
    return pd.DataFrame(rows, columns=columns).map(str)


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


def tradeoff_gap(p0: Matrix, p1: Matrix, *, ratio: Number, delta: Number = 0) -> float:
    """The least of T(P0, P1) - T(pair) over all alpha; not negative if the pair dominates (Blackwell).

    Both are piecewise linear, so the corners of both suffice. Exact up to rounding, about 1e-15.
    """
    curve = neyman_pearson(np.asarray(p0, dtype=float), np.asarray(p1, dtype=float))
    bound = neyman_pearson(*np.asarray(finite.quaternary_pair(ratio, delta), dtype=float))
    alpha = np.union1d(curve.alpha, bound.alpha)
    return float((curve(alpha) - bound(alpha)).min())


def domination(mechanisms: Iterable[Mechanism]) -> pd.DataFrame:
    """Lemma 4 over all pairs of inputs of each mechanism: mechanism, eps, delta, exact, error, distance, weaker, gap.

    error is the largest `channel_error`, distance the largest `nearest` to Lemma 4's pair, weaker the same with a tenth
    less of delta (of eps if delta is 0), gap the least `tradeoff_gap`.
    """
    rows = []
    for m in mechanisms:
        pairs, budget = list(combinations(m.rows, 2)), {"ratio": m.ratio, "delta": m.delta}
        less = {"delta": _LESS * float(m.delta)} if m.delta > 0 else {"ratio": float(m.ratio) ** _LESS}
        pair, weaker = finite.quaternary_pair(**budget), finite.quaternary_pair(**budget | less)
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


def gaussian_pairs(eps: Sequence[float], *, mu: float, points: int = 20_001) -> pd.DataFrame:
    """The uncut Gaussian mechanism against its pairs along its exact curve delta(eps): eps, delta, gap, gap_weaker.

    gap is the least of G_mu - f_{eps,delta} (0 where they touch, negative would refute), gap_weaker the same with a
    tenth less of delta (negative, or the comparison could not fail).
    """
    alpha = np.linspace(0, 1, points)
    curve = gaussian(alpha, mu=mu)
    rows = []
    for e in eps:
        delta = gdp_delta(e, mu=mu)
        gaps = [float((curve - f_eps_delta(alpha, eps=e, delta=d)).min()) for d in (delta, _LESS * delta)]
        rows.append({"eps": e, "delta": delta, "gap": gaps[0], "gap_weaker": gaps[1]})
    return pd.DataFrame(rows)


# --- figures -----------------------------------------------------------------------------------------------


def curves(ratio: Number, delta: Number, *, sigma: float = 1.0, cells: int = 60, points: int = 201) -> pd.DataFrame:
    """Trade-off curves of four mechanisms' first against last input, and of Lemma 4's pairs at several eps.

    Columns: panel; line; kind, "mechanism" or "pair"; alpha; beta.
    """
    p, root = float(ratio), math.sqrt(ratio)
    panels: list[tuple[Mechanism, tuple[Number, ...]]] = [
        (finite.randomized_response(ratio, k=4), (ratio,)),
        (finite.leaky(finite.randomized_response(ratio), delta), (ratio,)),
        (noise("laplace", scale=1 / math.log(p), cells=cells, ratio=p), (p, root)),
        (noise("gaussian", scale=sigma, cells=cells, ratio=p), (root, p, p**2)),
    ]
    parts = []
    for mechanism, ratios in panels:
        ends = mechanism.rows[[0, -1]]
        laws = [("mechanism", mechanism.name, ends)]
        for at in ratios:
            needed = finite.local_delta(ends, ratio=at)
            own = needed if needed > finite.rounding(ends, at) else 0
            label = f"pair, $\\epsilon$ = {math.log(at):.3g}, $\\delta$ = {float(own):.3g}"
            laws.append(("pair", label, finite.quaternary_pair(at, own)))
        for kind, line, law in laws:
            found = neyman_pearson(*np.asarray(law, dtype=float))
            alpha = np.union1d(np.linspace(0, 1, points), found.alpha)
            given = {"panel": mechanism.name, "line": line, "kind": kind, "alpha": alpha, "beta": found(alpha)}
            parts.append(pd.DataFrame(given))
    return pd.concat(parts, ignore_index=True)


def equal_errors(lines: pd.DataFrame) -> dict[str, float]:
    """Of each mechanism in `curves`, where its two errors are about the same."""
    own = lines[lines["kind"] == "mechanism"].assign(apart=lambda rows: (rows["alpha"] - rows["beta"]).abs())
    nearest_row = own.loc[own.groupby("panel", sort=False)["apart"].idxmin()]
    return dict(zip(nearest_row["panel"], nearest_row["alpha"], strict=True))


@keeps_data
def dominated_panels(curves: pd.DataFrame) -> Figure:
    """A panel a mechanism: its trade-off curve as a solid line, those of its pairs dashed."""
    figure, axes = plt.subplots(2, 2, figsize=(7.6, 7.4), sharex=True, sharey=True, layout="constrained")
    for axis, (panel, part) in zip(axes.flat, curves.groupby("panel", sort=False), strict=True):
        for index, (name, line) in enumerate(part.groupby("line", sort=False)):
            own = line["kind"].iloc[0] == "mechanism"
            style = role("truth") | {"lw": 2.6} if own else {"color": PALETTE[index], "dashes": DASHES[index], "lw": 2}
            label = "the mechanism" if own else str(name).removeprefix("pair, ")
            axis.plot(line["alpha"], line["beta"], label=label, **style)
        axis.set(title=panel, xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axis.legend(fontsize=10)
    for axis in axes[-1]:
        axis.set_xlabel(r"type I error $\alpha$")
    for axis in axes[:, 0]:
        axis.set_ylabel(r"type II error $\beta$")
    return figure


# --- checks ------------------------------------------------------------------------------------------------


@settles("G-L4")
def lemma_4(table: pd.DataFrame, gaussian: pd.DataFrame) -> Outcome:
    """One channel turns the quaternary pair into both laws: built, searched for, and by trade-off functions."""
    exact = table[table["exact"]]
    evidence: dict[str, object] = {
        "mechanisms (with exact fractions)": f"{len(table)} ({len(exact)})",
        "largest error of the explicit channel, exact mechanisms": float(exact["error"].max()),
        "largest error of the explicit channel, all": float(table["error"].max()),
        "largest distance that linear programming leaves": float(table["distance"].max()),
        r"the same with a tenth less of $\delta$ (of $\epsilon$ if $\delta$ = 0), least": float(table["weaker"].min()),
        "least height of a mechanism's trade-off curve over its pair's": float(table["gap"].min()),
        rf"least height of the uncut Gaussian's curve over its pairs', {len(gaussian)} values of $\epsilon$": float(
            gaussian["gap"].min()
        ),
        r"the same with a tenth less of $\delta$": float(gaussian["gap_weaker"].max()),
    }
    built = table["error"] <= ROUNDING
    found = table["distance"] <= _DISTANCE
    above = bool((table["gap"] >= -ROUNDING).all() and (gaussian["gap"] >= -ROUNDING).all())
    if (table["weaker"] <= _DISTANCE).any() or (gaussian["gap_weaker"] >= -ROUNDING).any():
        reason = "A budget here is so small that a tenth less of it makes no difference above rounding."
        return unsettled("G-L4", reason, "settings")
    missed = bool((built & ~found).any())
    holds = bool(found.all()) and above
    said: Said = {
        "not checkable": "Linear programming misses a channel that was written down."
        if missed
        else "A channel exists, but not the one written down.",
        "refuted": f"The pair does not dominate: {'; '.join(table.loc[~found, 'mechanism']) or 'trade-off curves'}.",
        "verified": f"For every two inputs of {len(table)} mechanisms, one and the same channel turns the pair into "
        f"both laws: exactly for the {len(exact)} mechanisms with fractions, and within {table['error'].max():.0e} for "
        "the others.",
    }
    undecided = missed or (holds and not built.all())
    return judge("G-L4", evidence, reading("as printed", unknown() if undecided else exactly(holds), said))

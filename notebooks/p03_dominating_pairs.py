"""Of notebook 03: its figure and the curves that are drawn."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.accountant.tradeoff import neyman_pearson
from gspa.algorithms import finite
from gspa.algorithms.finite import Matrix, Mechanism, Number
from gspa.book.figures import DASHES, PALETTE, keeps_data, role


def tradeoff_gap(pair: Matrix, p0: Matrix, p1: Matrix) -> float:
    """The least of T(P0, P1) - T(pair) over all alpha; not negative if the pair dominates (Blackwell).

    Both are piecewise linear, so the corners of both suffice. Exact up to rounding, about 1e-15.
    """
    curve = neyman_pearson(np.asarray(p0, dtype=float), np.asarray(p1, dtype=float))
    bound = neyman_pearson(*np.asarray(pair, dtype=float))
    alpha = np.union1d(curve.alpha, bound.alpha)
    return float((curve(alpha) - bound(alpha)).min())


def curves(ratio: Number, delta: Number, *, sigma: float = 1.0, cells: int = 60, points: int = 201) -> pd.DataFrame:
    """Trade-off curves of four mechanisms' first against last input, and of Lemma 4's pairs at several eps.

    Columns: panel; line; kind, "mechanism" or "pair"; alpha; beta.
    """
    p, root = float(ratio), math.sqrt(ratio)
    panels: list[tuple[Mechanism, tuple[Number, ...]]] = [
        (finite.randomized_response(ratio, k=4), (ratio,)),
        (finite.leaky(finite.randomized_response(ratio), delta), (ratio,)),
        (finite.noise("laplace", scale=1 / math.log(p), cells=cells, ratio=p), (p, root)),
        (finite.noise("gaussian", scale=sigma, cells=cells, ratio=p), (root, p, p**2)),
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
    figure, axes = plt.subplots(2, 2, figsize=(4.8, 5), sharex=True, sharey=True, layout="constrained")
    for axis, (panel, part) in zip(axes.flat, curves.groupby("panel", sort=False), strict=True):
        for index, (name, line) in enumerate(part.groupby("line", sort=False)):
            own = line["kind"].iloc[0] == "mechanism"
            style = role("truth") | {"lw": 2.6} if own else {"color": PALETTE[index], "dashes": DASHES[index], "lw": 2}
            label = "the mechanism" if own else str(name).removeprefix("pair, ")
            axis.plot(line["alpha"], line["beta"], label=label, **style)
        axis.set(title=panel, xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axis.legend()
    for axis in axes[-1]:
        axis.set_xlabel(r"type I error $\alpha$")
    for axis in axes[:, 0]:
        axis.set_ylabel(r"type II error $\beta$")
    return figure

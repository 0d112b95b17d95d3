r"""Page 06: how far the two counts of Theorem 1 are from a normal law: Lemma 2, eq. (14), Lemma 3.

Each of m users adds (1, 0) or (0, 1) with probability p_i/2 each, and nothing otherwise. With C = xi_0 + xi_1 and
D = xi_0 - xi_1, C is a sum of independent Bernoulli(p_i), xi_0 given C is Bin(C, 1/2), and C and D are uncorrelated:

    Var C = sum p_i (1 - p_i),   Var D = sum p_i,   so the normal law is a product in these coordinates.

The counts are whole numbers and a normal law has a density: their total variation is 1, always. What Lemma 2 can
mean is the distance from the discretized normal, which puts the mass of the unit cell around each lattice point on
that point. It is evaluated here cell by cell, without simulation:

>>> near = distances(0.75, count=1_000)
>>> round(near.total_variation, 4), round(near.leading, 4)
(0.0053, 0.0053)
>>> round(near.printed, 6), round(near.printed_mass, 4)  # eq. (14) as printed, and what its h sums to
(0.000636, 0.25)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from scipy.stats import linregress
from scipy.stats import t as student

from gspa.accountant import binomial as _binomial
from gspa.accountant.clones import clone_law
from gspa.accountant.tradeoff import gdp_delta
from gspa.book.claims import Outcome, claim, judge, settles, unsettled
from gspa.book.figures import PALETTE, keeps_data, name_line, role
from gspa.book.say import fixed
from gspa.book.verdicts import Said, exactly, reading, unknown

Array = NDArray[np.float64]

QUANTITIES = {
    "total_variation": "total variation, unit cells",
    "printed": "eq. (14) as printed",
    "difference": "total variation of the difference alone",
}

_DEPTH = 30.0  # e^-30: mass left out on each side
_ROWS = 256  # counts at once
_NODES, _WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(12))
_GRID, _GRID_REACH = 4000, 9.0  # points of the grid for the leading term, and how far it reaches


# --- tables ------------------------------------------------------------------------------------------------


class Distances(NamedTuple):
    """Distances of the law of (xi_0, xi_1) from normal laws with its mean and covariance.

    Attributes:
        total_variation: from the discretized normal, unit cells around the lattice points; absolute error below
            1e-9, from mass left out and quadrature.
        leading: the Edgeworth term of order 1/sqrt(m) of the same, an estimate.
        printed: eq. (14) as printed, a supremum over points with cells of side 1/2 beside the points.
        printed_mass: what the h of eq. (14) sums to.
        largest_point: the same supremum with unit cells around the points.
        difference: total variation for D = xi_0 - xi_1 alone, unit cells.
    """

    total_variation: float
    leading: float
    printed: float
    printed_mass: float
    largest_point: float
    difference: float


class _Lattice(NamedTuple):
    """Law of C on consecutive counts, its mean, which is Var D as well, and its variance."""

    counts: Array
    mass: Array
    mean: float
    variance: float


def clone_probability(eps: ArrayLike, *, delta: ArrayLike = 0.0) -> Array:
    """p_i = 2 (1 - delta_i)/(1 + e^{eps_i}), Lemma 3's: the chance that a report is a clone."""
    # Erratum G-L3: Theorem 2's proof and the line after Lemma 2 print this without the factor 2.
    return np.asarray(2 * (1 - np.asarray(delta)) / (1 + np.exp(eps)))


def covariance(p: ArrayLike, *, count: ArrayLike = 1) -> Array:
    """The covariance of (xi_0, xi_1), Lemma 3's Sigma, for `count` users of each p.

    >>> covariance([0.5], count=4).tolist()
    [[0.75, -0.25], [-0.25, 0.75]]
    """
    p, count = _users(p, count)
    square, half = float(count @ (p / 2) ** 2), float(count @ p) / 2
    return np.array([[half - square, -square], [-square, half - square]])


def distances(p: ArrayLike, *, count: ArrayLike = 1) -> Distances:
    """Every distance of the law of the two counts from its normal law, by summation over the lattice."""
    lattice = _lattice(p, count)
    total = printed = printed_mass = largest = 0.0
    difference = np.zeros(_columns(lattice).size)
    for rows, columns, law, weight in _blocks(lattice):
        near = _cells(lattice, rows, columns, -0.5, 0.5)
        beside = _cells(lattice, rows, columns, 0.0, 0.5)
        gap = law - near
        total += float((np.maximum(gap, 0.0) * weight).sum())
        largest = max(largest, float(np.abs(gap).max()))
        printed = max(printed, float(np.abs(law - beside).max()))
        printed_mass += float((beside * weight).sum())
        difference[columns.astype(np.intp)] += law.sum(axis=0)
    # Normal mass of [d - 1/2, d + 1/2]. Both D and its normal law are symmetric: each d > 0 stands for two.
    sd, d = math.sqrt(lattice.mean), np.arange(float(difference.size))
    cell = ndtr((0.5 - d) / sd) - ndtr((-0.5 - d) / sd)
    apart = float((np.where(d == 0, 1.0, 2.0) * np.maximum(difference - cell, 0.0)).sum())
    return Distances(total, leading_term(p, count=count), printed, printed_mass, largest, apart)


def seen_with_cells(p: ArrayLike, *, count: ArrayLike = 1, side: float) -> float:
    """What of the total variation from the normal law itself shows up with square cells of that side, at most 1.

    The largest difference of probabilities over unions of such cells around lattice points: a lower bound of the
    total variation, which it approaches, and that is 1, as the side shrinks.

    >>> [round(seen_with_cells(0.75, count=100, side=side), 3) for side in (1, 1 / 8, 1 / 64)]
    [0.017, 0.984, 1.0]
    """
    lattice = _lattice(p, count)
    found = 0.0
    for rows, columns, law, weight in _blocks(lattice):
        gap = law - _cells(lattice, rows, columns, -side / 2, side / 2)
        found += float((np.maximum(gap, 0.0) * weight).sum())
    return found


def leading_term(p: ArrayLike, *, count: ArrayLike = 1) -> float:
    """The term of order 1/sqrt(m) of the total variation, from the third cumulants: an estimate.

    With Z_1, Z_2 independent standard normal, half of E|a He_3(Z_1) + b Z_1 (Z_2^2 - 1)|, where
    a = sum p(1-p)(1-2p) / (6 sd_C^3) and b = sum p(1-p) / (2 Var D sd_C): C is skewed, and D's spread grows with C.
    Third cumulants with an odd number of D vanish, because D is symmetric.
    """
    p, count = _users(p, count)
    spread = float(count @ (p * (1 - p)))
    a = float(count @ (p * (1 - p) * (1 - 2 * p))) / (6 * spread**1.5)
    b = math.sqrt(spread) / (2 * float(count @ p))
    # The term is Z_1 (b Z_2^2 - k) with k = 3a + b - a Z_1^2; over Z_2 in closed form, over Z_1 > 0 by the grid.
    z = (np.arange(_GRID) + 0.5) * (_GRID_REACH / _GRID)
    k = 3 * a + b - a * z * z
    t = np.sqrt(np.maximum(k, 0) / b)
    below = (k - b) * (2 * ndtr(t) - 1) + 2 * b * t * np.exp(-t * t / 2) / math.sqrt(2 * math.pi)  # E(k - b Z_2^2)_+
    density = np.exp(-z * z / 2) * (_GRID_REACH / _GRID) / math.sqrt(2 * math.pi)
    return float(density @ (z * (b - k + 2 * below)))


def _users(p: ArrayLike, count: ArrayLike) -> tuple[Array, Array]:
    p = np.atleast_1d(np.asarray(p, dtype=np.float64))
    return p, np.broadcast_to(np.asarray(count, dtype=np.float64), p.shape)


def _lattice(p: ArrayLike, count: ArrayLike) -> _Lattice:
    p, count = _users(p, count)
    law = clone_law(p, 1 - p, count, depth=_DEPTH)
    return _Lattice(law.edges[:-1], law.mass, float(count @ p), float(count @ (p * (1 - p))))


def _columns(lattice: _Lattice) -> Array:
    """d = 0, 1, ... as far as mass matters: Bernstein's inequality for D, or the largest count."""
    reach = _DEPTH / 3 + math.sqrt(_DEPTH**2 / 9 + 2 * _DEPTH * lattice.mean)
    return np.arange(min(math.ceil(reach), int(lattice.counts[-1])) + 1, dtype=np.float64)


def _blocks(lattice: _Lattice) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Blocks (c, d, P(C = c, D = d), weight) over d >= 0; the weight counts d and -d."""
    every = _columns(lattice)
    for parity in (0, 1):  # c and d are both even or both odd
        chosen = lattice.counts % 2 == parity
        columns = every[parity::2]
        weight = np.where(columns == 0, 1.0, 2.0)
        for start in range(0, int(chosen.sum()), _ROWS):
            rows, mass = (v[chosen][start : start + _ROWS] for v in (lattice.counts, lattice.mass))
            c, d = np.broadcast_arrays(rows[:, None], columns)
            inside = d <= c
            law = np.zeros(c.shape)
            law[inside] = _binomial.fair_pmf((c[inside] - d[inside]) / 2, c[inside])
            yield rows, columns, law * mass[:, None], weight


def _cells(lattice: _Lattice, rows: Array, columns: Array, low: float, high: float) -> Array:
    """Normal mass of [xi_0 + low, xi_0 + high] x [xi_1 + low, xi_1 + high] at each (c, d)."""
    nodes, weights = low + (high - low) * (_NODES + 0.5), (high - low) * _WEIGHTS
    a, b = (v.ravel() for v in np.meshgrid(nodes, nodes))
    weight = 2 * np.outer(weights, weights).ravel()  # 2: the area of a unit cell in (c, d)
    along = _density(rows[:, None] + (a + b) - lattice.mean, lattice.variance)
    across = _density(columns[:, None] + (a - b), lattice.mean)
    return np.asarray((along * weight) @ across.T)


def _density(x: Array, variance: float) -> Array:
    return np.asarray(np.exp(-x * x / (2 * variance)) / math.sqrt(2 * math.pi * variance))


def sizes_between(least: int, most: int, points: int) -> list[int]:
    """Whole numbers about equally spaced on a logarithmic axis, both ends included.

    >>> sizes_between(100, 10_000, 3)
    [100, 1000, 10000]
    """
    return [int(m) for m in np.unique(np.rint(np.geomspace(least, most, points)))]


def distance_table(*, eps0: Sequence[float], sizes: Sequence[int]) -> pd.DataFrame:
    """Distances from the normal law for m users of one budget: eps0, m, and the fields of `Distances`."""
    rows = [
        {"eps0": float(eps), "m": m, **distances(clone_probability(eps), count=m)._asdict()}
        for eps in eps0
        for m in sizes
    ]
    return pd.DataFrame(rows)


def moving_table(*, sizes: Sequence[int]) -> pd.DataFrame:
    """The same where p is 1/m or 1 - 1/m: p, m, eps0 (the budget with that p), total_variation, times_root."""
    rows = []
    for name, end in (("$1/m$", 0.0), ("$1 - 1/m$", 1.0)):
        for m in sizes:
            p = abs(end - 1 / m)
            tv = distances(p, count=m).total_variation
            rows.append((name, m, math.log(2 / p - 1), tv, tv * math.sqrt(m)))
    return pd.DataFrame(rows, columns=["p", "m", "eps0", "total_variation", "times_root"])


def seen_table(*, eps0: float, sizes: Sequence[int], sides: Sequence[float] = (1, 1 / 8, 1 / 64)) -> pd.DataFrame:
    """How much of the total variation from the normal law itself cells of a side show: m, side, seen."""
    p = clone_probability(eps0)
    rows = [(m, side, seen_with_cells(p, count=m, side=side)) for m in sizes for side in sides]
    return pd.DataFrame(rows, columns=["m", "side", "seen"])


def mixed_table(*, m: int, groups: int = 20) -> pd.DataFrame:
    """Two populations of personal budgets, the second in so many equal groups.

    Columns: people, m, total_variation, leading; uniform, total_variation if all have one budget with the same mean p.
    """
    half = np.array([m - m // 2, m // 2])
    spread = m // groups + (np.arange(groups) < m % groups)
    populations = (
        ("half at 0.5, half at 0.01", np.array([0.5, 0.01]), half),
        ("evenly from 0.01 to 2", np.linspace(0.01, 2, groups), spread),
    )
    rows = []
    for name, eps, count in populations:
        p = clone_probability(eps)
        near, uniform = distances(p, count=count), distances(np.average(p, weights=count), count=m)
        rows.append((name, m, near.total_variation, near.leading, uniform.total_variation))
    return pd.DataFrame(rows, columns=["people", "m", "total_variation", "leading", "uniform"])


def rates(table: pd.DataFrame) -> pd.DataFrame:
    """Exponents of m by least squares on logarithms, with a 95% interval: how far it is from one power law.

    Columns: eps0, key, quantity, exponent, half_width, constant (sqrt(m) or m times the quantity at the largest m,
    whichever power is nearer).
    """
    rows = []
    for eps, part in table.groupby("eps0", sort=False):
        for key, name in QUANTITIES.items():
            line = linregress(np.log(part["m"].to_numpy(float)), np.log(part[key].to_numpy(float)))
            half_width = float(student.ppf(0.975, len(part) - 2)) * line.stderr
            constant = part[key].iloc[-1] * float(part["m"].iloc[-1]) ** (0.5 if line.slope > -0.75 else 1.0)
            rows.append((eps, key, name, line.slope, half_width, constant))
    return pd.DataFrame(rows, columns=["eps0", "key", "quantity", "exponent", "half_width", "constant"])


def lemma3_numbers(*, draws: int, users: int, seed: int) -> pd.DataFrame:
    """Lemma 3 without its algebra for random populations, eps_i on [0, 4] and delta_i on [0, 0.1]; last, all of them 0.

    Columns: closed (4/sum p_i), square (with the Moore-Penrose inverse of the covariance summed user by user),
    delta_normal (at eps = mu, by quadrature over the plane of the two normal densities), delta_closed (that of G_mu).
    With all budgets 0 Sigma has no inverse, and the line on which both laws then live replaces the plane.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for zero in [False] * draws + [True]:
        eps, delta = rng.uniform(0, 4, users), rng.uniform(0, 0.1, users)
        p = clone_probability(0 * eps, delta=0 * delta) if zero else clone_probability(eps, delta=delta)
        sigma, closed, shift = covariance(p), 4 / float(p.sum()), np.array([-1.0, 1.0])
        square = float(shift @ np.linalg.pinv(sigma, hermitian=True) @ shift)
        mu = math.sqrt(closed)
        rows.append((closed, square, _normal_delta(sigma, eps=mu), gdp_delta(mu, mu=mu)))
    return pd.DataFrame(rows, columns=["closed", "square", "delta_normal", "delta_closed"])


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


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """`distance_table` as the page shows it, at the least, the middle and the largest m."""
    sizes = sorted(set(table["m"]))
    heads = {
        "eps0": "$\\epsilon_0$",
        "m": "users $m$",
        "total_variation": "total variation",
        "leading": "its leading term",
        "printed": "(14) as printed",
        "printed_mass": "sum of (14)'s $h$",
        "difference": "$D$ alone",
    }
    some = table[table["m"].isin([sizes[0], sizes[len(sizes) // 2], sizes[-1]])]
    return some[list(heads)].rename(columns=heads)


def readable_rates(table: pd.DataFrame) -> pd.DataFrame:
    """`rates` as the page shows it: a row a budget, a column a quantity, exponent with interval."""
    both = zip(table["exponent"], table["half_width"], strict=True)
    said = [f"{fixed(exponent, 4)} ± {half_width:.1g}" for exponent, half_width in both]
    wide = table.assign(said=said).pivot(index="eps0", columns="quantity", values="said")
    return wide[list(QUANTITIES.values())].reset_index().rename(columns={"eps0": "$\\epsilon_0$"})


def readable_seen(table: pd.DataFrame) -> pd.DataFrame:
    """`seen_table` as the page shows it: a row a number of users, a column a side."""
    wide = table.pivot(index="m", columns="side", values="seen").sort_index(axis=1, ascending=False)
    return wide.rename(columns="cells of side {:g}".format).reset_index().rename(columns={"m": "users $m$"})


def readable_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """`lemma3_numbers` as the page shows it: the first three populations and the one with all budgets 0."""
    last = len(table) - 1
    shown = table.iloc[[*range(min(3, last)), last]]
    heads = {
        "closed": r"$4/\sum p_i$",
        "square": "numerical form",
        "delta_normal": "$\\delta$ by quadrature",
        "delta_closed": "$\\delta$ of $G_\\mu$",
    }
    names = [f"random {i + 1}" for i in range(len(shown) - 1)] + ["all budgets 0"]
    return shown.assign(population=names)[["population", *heads]].rename(columns=heads)


def entries(matrix: Sequence[Any]) -> str:
    """The entries of what computer algebra left of a matrix, one after the other."""
    return ", ".join(map(str, matrix))


# --- figures -----------------------------------------------------------------------------------------------


_ROLES = ("truth", "paper", "closed form")  # of QUANTITIES


@keeps_data
def distance_curves(table: pd.DataFrame, *, delta: float) -> Figure:
    """The distances of one budget against the number of users, `delta` as a horizontal line."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    m = table["m"]
    # Wide and first: the total variation lies on top of it.
    axis.plot(m, table["leading"], color=PALETTE[5], lw=6, alpha=0.6, label="leading term of the total variation")
    for index, (key, label) in enumerate(QUANTITIES.items()):
        label = r"total variation of $\xi_0 - \xi_1$ alone" if key == "difference" else label
        axis.plot(m, table[key], **role(_ROLES[index]), marker="osv"[index], ms=5, label=label)
    axis.axhline(delta, **role("reference") | {"lw": 1.5})
    name_line(axis, m.iloc[0], delta, rf"$\delta$ = {delta:g}", colour=role("reference")["color"], up=7)
    axis.set(xlabel="number of users $m$", ylabel="distance from the normal law", xscale="log", yscale="log")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    return figure


# --- checks ------------------------------------------------------------------------------------------------

_RANGE = (1_000, 10_000)  # Figure 2's
_FLAT = 1.05  # growth of sqrt(m) times a distance over the sizes that still counts as none
_SPREAD = 10.0  # Var C from which "of order 1/sqrt(m)" is asked for: with few clones counts are Poisson-like
_NEGLIGIBLE = 0.1  # of delta
_ROUNDING = 1e-6
_QUADRATURE = 1e-4  # midpoint rule over the plane; measured errors are below 1e-5


def _too_small(identifier: str, table: pd.DataFrame) -> Outcome | None:
    least, most, sizes = int(table["m"].min()), int(table["m"].max()), table["m"].nunique()
    if least <= _RANGE[0] and most >= _RANGE[1] and sizes >= 3:
        return None
    reason = (
        f"This run has {sizes} sizes from {least:,} to {most:,}; a rate needs three or more that cover "
        f"{_RANGE[0]:,} to {_RANGE[1]:,}, the paper's own range."
    )
    return unsettled(identifier, reason)


def _growth(values: pd.Series, m: pd.Series) -> float:
    """Largest sqrt(m) times a distance over its value at the smallest m."""
    scaled = (values * np.sqrt(m)).to_numpy(float)
    return float(scaled.max() / scaled[0])


def _scaled(row: pd.Series) -> str:
    return ", ".join(f"{row[key] * math.sqrt(row['m']):.4f}" for key in ("total_variation", "leading"))


@settles("G-L2")
def berry_esseen(table: pd.DataFrame, seen: pd.DataFrame, moving: pd.DataFrame, mixed: pd.DataFrame) -> Outcome:
    """Total variation from the normal law itself, from the discretized one, and with p that moves with m."""
    if short := _too_small("G-L2", table):
        return short
    finest = seen[seen["side"] == seen["side"].min()].sort_values("m")
    literal, side = float(finest["seen"].min()), finest["side"].iloc[0]
    evidence: dict[str, object] = {
        f"total variation from the normal density that cells of side {side:g} show, smallest over $m$": f"{literal:.5f}"
    }
    flat, close = [], []
    for _, part in table.groupby("eps0", sort=False):
        eps = float(part["eps0"].iloc[0])
        p = float(clone_probability(eps))
        part = part[part["m"] * p * (1 - p) >= _SPREAD].sort_values("m")
        if part["m"].nunique() < 2:
            continue
        last = part.iloc[-1]
        flat.append(_growth(part["total_variation"], part["m"]))
        close.append(abs(last["total_variation"] / last["leading"] - 1))
        label = f"discretized normal, $\\epsilon_0$ = {eps:g}: $\\sqrt{{m}}$ TV at $m$ = {int(last['m']):,}"
        evidence[f"{label}, and its leading term"] = _scaled(last)
    if not flat:
        reason = "No budget of this run has enough clones at two numbers of users."
        return unsettled("G-L2", reason)
    for _, row in mixed.iterrows():
        close.append(abs(row["total_variation"] / row["leading"] - 1))
        evidence[f"{row['people']}, $m$ = {row['m']:,}: $\\sqrt{{m}}$ TV, and its leading term"] = _scaled(row)
    apart = []
    for name, part in moving.groupby("p", sort=False):
        first, last = (part.sort_values("m").iloc[end] for end in (0, -1))
        apart.append(_growth(part.sort_values("m")["total_variation"], part["m"].sort_values()))
        evidence[f"$p$ = {name}: TV at $m$ = {first['m']:,} and {last['m']:,}"] = (
            f"{first['total_variation']:.3f}, {last['total_variation']:.3f}"
        )
    evidence["growth of $\\sqrt{m}$ TV over $m$, largest over $\\epsilon_0$"] = f"{max(flat):.3f}"
    evidence["growth of $\\sqrt{m}$ TV over $m$, $p$ moving with $m$"] = f"{min(apart):.2f}"
    literally, steady, one = _growth(finest["seen"], finest["m"]) <= _FLAT, max(flat) <= _FLAT, min(apart) <= _FLAT
    growing = (
        "Even against the discretized normal law, $\\sqrt{m}$ times the total variation grows by a factor of "
        f"{max(flat):.2f}."
    )
    fixed_budgets: Said = {
        "verified": "The distance falls as the lemma says, without discretization.",
        "holds with correction": "Counts are whole numbers and a normal law has a density, so their total variation is "
        f"1 (cells show at least {literal:.4f}). Against the discretized normal law it falls like $1/\\sqrt{{m}}$ at "
        f"each fixed budget; at the largest $m$ it is within {100 * max(close):.2g} percent of its leading term.",
        "refuted": growing,
    }
    any_budgets: Said = {
        "verified": "One $C$ serves all $p_i$ that were tried.",
        "holds with correction": "Against the discretized normal law, one $C$ serves all $p_i$ that were tried.",
        "refuted": growing
        if not steady
        else "No single $C$ serves all $p_i$, even against the discretized normal law: if the $p_i$ change with $m$, "
        f"$\\sqrt{{m}}$ times the total variation grows by a factor of at least {min(apart):.2g}.",
    }
    any_m: Said = {"verified": "With $C = \\sqrt{m}$ the lemma says that a total variation is at most 1."}
    correction = (
        r"Replace $\tilde Q$ by the law that moves its mass on $[k_0 \pm 1/2] \times [k_1 \pm 1/2]$ to "
        r"$(k_0, k_1)$. Then, as long as $s^2 = \sum_i p_i(1-p_i)$ grows like $m$, $\|\tilde P - \tilde Q\|_{TV}$ is "
        r"$\frac12 \mathbb{E}|a (Z_1^3 - 3 Z_1) + b Z_1 (Z_2^2-1)|$ up to $O(1/m)$, with "
        r"$a = \sum_i p_i(1-p_i)(1-2p_i)/(6 s^3)$, $b = s/(2\sum_i p_i)$ and standard normal $Z_1, Z_2$: of order "
        r"$1/\sqrt{m}$."
    )
    dependent = "" if one else " The constant depends on the $p_i$; no one $C$ serves all of them."
    return judge(
        "G-L2",
        evidence,
        reading(
            "one $C$ for all $m$, the $p_i$ fixed",
            exactly(literally, near=steady),
            fixed_budgets,
            correction=correction + dependent,
        ),
        reading(
            "one $C$ for all $m$ and all $p_i$",
            exactly(literally and one, near=steady and one),
            any_budgets,
            correction=correction,
        ),
        reading(
            "a $C$ for each $m$", exactly(True), any_m, excluded="it says nothing, and no rate could be read from it"
        ),
    )


@settles("G-E14")
def supremum_over_points(table: pd.DataFrame, two_ways: tuple[float, float]) -> Outcome:
    """Eq. (14) as printed, beside the total variation that it is said to be; that of 30 users evaluated two ways."""
    m = _RANGE[1] if _RANGE[1] in set(table["m"]) else int(table["m"].max())
    last = table[table["m"] == m]
    slow, fast = two_ways
    evidence: dict[str, object] = {}
    for row in last.itertuples():
        label = f"$\\epsilon_0$ = {row.eps0:g}, $m$ = {m:,}: total variation, (14) as printed, sum of its $h$"
        evidence[label] = f"{row.total_variation:.3g}, {row.printed:.3g}, {row.printed_mass:.4f}"
    evidence["the same supremum with unit cells around the points, largest over $\\epsilon_0$"] = (
        f"{last['largest_point'].max():.2g}"
    )
    evidence["(14) as half a sum over points with unit cells, 30 users: two ways"] = f"{slow:.9f}, {fast:.9f}"
    ratio = last["total_variation"] / last["printed"]
    off = (
        f"At $m$ = {m:,} the total variation is {ratio.min():.0f} to {ratio.max():.0f} times the printed supremum, and "
        f"its $h$ sums to {last['printed_mass'].mean():.2f}, not to 1."
    )
    said: Said = {
        "verified": "The supremum over points is the total variation.",
        "holds with correction": f"{off} As half a sum over the points, with whole cells around them, it is right.",
        "not checkable": "Two evaluations of the total variation disagree.",
    }
    equal = bool((ratio - 1).abs().max() <= _ROUNDING)
    agree = abs(slow - fast) <= _ROUNDING
    verdict = exactly(equal, near=agree) if agree else unknown()
    correction = (
        r"the total variation is $\frac12 \sum_{(k_0, k_1)} |\mathbb{P}(\xi_0 = k_0, \xi_1 = k_1) - h(k_0, k_1)|$, "
        r"where $h$ is the normal mass of $[k_0 \pm 1/2] \times [k_1 \pm 1/2]$."
    )
    return judge("G-E14", evidence, reading("as printed", verdict, said, correction=correction))


@settles("G-L2r")
def rate(table: pd.DataFrame, fitted: pd.DataFrame, delta: float) -> Outcome:
    """Fitted exponents of m, from `rates`, and the size of the distance beside the delta it is added to."""
    if short := _too_small("G-L2r", table):
        return short
    tolerance = float((claim("G-L2r").tolerance or {})["exponent"])
    evidence: dict[str, object] = {}
    for row in fitted.itertuples():
        evidence[f"$\\epsilon_0$ = {row.eps0:g}, {row.quantity}: exponent of $m$"] = (
            f"{row.exponent:.3f} ± {row.half_width:.3f}"
        )
    times = float(table.loc[table["m"].between(*_RANGE), "total_variation"].min()) / delta
    evidence[f"smallest total variation over $\\delta$ = {delta:g}, $m$ from 1,000 to 10,000"] = f"{times:.1f}"
    by_key = dict(list(fitted.groupby("key")))
    own, point = (by_key[key]["exponent"] for key in ("total_variation", "printed"))
    evidence[f"users at which the total variation is {delta:g}, smallest over $\\epsilon_0$ (extrapolated)"] = (
        f"{(by_key['total_variation']['constant'].min() / delta) ** 2:.2g}"
    )
    evidence["tolerance on the exponent"] = tolerance
    fast, by_points = (float((column + 1).abs().max()) <= tolerance for column in (own, point))
    pointwise = float(table.loc[table["m"].between(*_RANGE), "printed"].min()) / delta
    said: Said = {
        "verified": f"The exponents are {own.min():.3f} to {own.max():.3f}.",
        "holds with correction": f"The exponents are {own.min():.3f} to {own.max():.3f}, but the distance is at least "
        f"{times:.1f} times $\\delta$.",
        "refuted": f"The total variation falls with exponents from {own.max():.3f} to {own.min():.3f}, not -1, and in "
        f"the figure's range of $m$ it is never below {times:.0f} times $\\delta$ = {delta:g}. Eq. (14) as printed, "
        f"which is not a total variation, has exponents from {point.max():.3f} to {point.min():.3f}.",
    }
    exponents = f"Its exponents are {point.min():.3f} to {point.max():.3f}"
    points: Said = {
        "verified": f"{exponents}.",
        "holds with correction": f"{exponents}, and it is at least {pointwise:.2g} times $\\delta$.",
        "refuted": f"{exponents}.",
    }
    correction = "The rate is nearly $O(1/n)$; at the figure's sizes the distance is not negligible."
    return judge(
        "G-L2r",
        evidence,
        reading(
            "the total variation of Lemma 2, against the discretized normal law",
            exactly(fast and times < _NEGLIGIBLE, near=fast),
            said,
            correction=correction,
        ),
        reading(
            "the right side of eq. (14) as printed",
            exactly(by_points and pointwise < _NEGLIGIBLE, near=by_points),
            points,
            correction=correction,
            excluded="it is not a total variation (eq. (14)), so it may not be added to $\\delta$",
        ),
    )


@settles("G-L3")
def normal_pair(symbols: Mapping[str, Any], numbers: pd.DataFrame, mu_squared: Sequence[float]) -> Outcome:
    """Lemma 3 by computer algebra, and again in numbers for random personal budgets.

    `symbols` has what is left of the covariance, the inverse and the square after subtracting what is printed, and the
    determinant of Sigma; `mu_squared` is 2/sum r_i and 4/sum p_i with either p_i.
    """
    regular, flat = numbers.iloc[:-1], numbers.iloc[-1]
    square = float((regular["square"] / regular["closed"] - 1).abs().max())
    law = float((regular["delta_normal"] / regular["delta_closed"] - 1).abs().max())
    flat_off = max(abs(flat["square"] / flat["closed"] - 1), abs(flat["delta_normal"] / flat["delta_closed"] - 1))
    gap = f"largest relative gap of $4/\\sum p_i$ and the numerical form, {len(regular)} random populations"
    mu_label = (
        "$\\mu^2$ of 1,000 users at $\\epsilon_0$ = 0.5: $2/\\sum r_i$, by Lemma 3's $p_i$, by those of Theorem 2's"
    )
    evidence: dict[str, object] = {
        "covariance of one user minus the printed term": entries(symbols["covariance"]),
        "$\\Sigma$ times the printed inverse minus the identity": entries(symbols["inverse"]),
        "$(-1, 1)\\, \\Sigma^{-1} (-1, 1)' - 4/v_1$": entries(symbols["square"]),
        gap: f"{square:.0e}",
        "largest relative gap in $\\delta(\\mu)$, quadrature of the two normal laws": f"{law:.0e}",
        "$\\det \\Sigma$": f"${symbols['determinant']}$".replace("*", " "),
        "the same two gaps with all budgets 0, on the line, larger one": f"{flat_off:.0e}",
        f"{mu_label} proof": ", ".join(f"{value:.6f}" for value in mu_squared),
    }
    algebra = all(entry == 0 for key in ("covariance", "inverse", "square") for entry in symbols[key])
    said: Said = {
        "verified": "Computer algebra confirms the covariance, the inverse and the quadratic form, and quadrature "
        f"confirms the trade-off function ($\\delta$ within {law:.0e}). If all budgets are 0, the covariance has no "
        "inverse, but the result holds on the line on which both laws then live.",
        "holds with correction": "The algebra is right where the covariance has an inverse; with all budgets 0 the "
        "result fails.",
        "refuted": "The printed algebra, or the trade-off function that it leads to, is wrong.",
    }
    regular_holds = algebra and square <= _ROUNDING and law <= _QUADRATURE
    verdict = exactly(bool(regular_holds and flat_off <= _QUADRATURE), near=bool(regular_holds))
    correction = r"as printed, for $\sum p_i (1 - p_i) > 0$."
    return judge("G-L3", evidence, reading("as printed", verdict, said, correction=correction))

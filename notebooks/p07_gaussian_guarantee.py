"""Of notebook 07: the least slack of eq. (15); distances from normal laws; and the figures."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray
from scipy.optimize import brentq, elementwise
from scipy.special import ndtr
from scipy.stats import binom, norm

from gspa.accountant.budgets import Budgets, constant
from gspa.accountant.clones import clone_law
from gspa.accountant.closed_forms import clone_probabilities, gspa_mu, gspa_slack
from gspa.accountant.losses import atoms, spread
from gspa.accountant.one_round import problem_of
from gspa.accountant.randomizers import RandomizedResponse
from gspa.accountant.tradeoff import TradeOff, gaussian, neyman_pearson
from gspa.algorithms.shuffles import Laws, count_pair
from gspa.book.figures import ROLES, Frame, role

Array = NDArray[np.float64]
NONE = Fraction(0)
ROUNDING = 2e-14  # below this a least slack is rounding: up to 3e-15 where the curve is known to be kept


def exact_curve(people: Budgets) -> TradeOff:
    """T(rho_0, rho_1) of eqs. (12) and (13), the user with the largest eps_i as the victim, all delta_i = 0.

    Outcomes sorted by likelihood ratio (Neyman-Pearson). Errs downward, by rounding or, for more than 20,000 outcomes,
    which are put on a grid, by O(step^2).
    """
    found = atoms(problem_of(people, RandomizedResponse(), int(np.argmax(people.eps))))
    loss, mass = found.loss, found.mass
    if loss.size > 20_000:
        deviation = math.sqrt(float(mass @ (loss - float(loss @ mass)) ** 2))
        step = people.eps_max / math.ceil(500 * people.eps_max / deviation)  # the largest loss is on the grid
        grid = spread(loss, mass, step)
        loss, mass = grid.loss, grid.mass
    order = np.argsort(loss, kind="stable")
    p, q = mass[order], (mass * np.exp(-loss))[order]
    hidden = max(0.0, 1 - found.missing)
    # The masses' allowance may have made them larger than 1.
    p, q = p * (hidden / max(p.sum(), 1.0)), q * (hidden / max(q.sum(), 1.0))
    alpha, beta = np.cumsum(p), np.r_[np.cumsum(q[::-1])[::-1], 0.0]
    keep = np.r_[np.diff(loss[order]) > 1e-14, True]  # one corner for equal ratios
    alpha, beta = np.r_[0.0, np.minimum(alpha[keep], 1.0)], np.r_[beta[0], beta[1:][keep]]
    if alpha[-1] < 1:
        alpha, beta = np.r_[alpha, 1.0], np.r_[beta, 0.0]
    return TradeOff(alpha, np.minimum(beta, 1.0))


def curve_of(laws: Laws) -> TradeOff:
    """The same of two laws in fractions."""
    p, q = np.array([*laws.values()], dtype=float).T
    return neyman_pearson(p, q)


def truthful(clones: Iterable[Fraction]) -> Laws:
    """(rho'_0, rho'_1) of the proof of Theorem 2, exact: the counts with a victim who tells the truth."""
    others_alone = count_pair(Fraction(1), clones=clones, neither=Fraction(1))
    law = {cast("tuple[int, int]", counts): mass for counts, (mass, _) in others_alone.items()}
    shown = {(a + 1, b) for a, b in law} | {(a, b + 1) for a, b in law}
    return {(a, b): (law.get((a - 1, b), NONE), law.get((a, b - 1), NONE)) for a, b in sorted(shown)}


def least_slack(curve: TradeOff, *, mu: float) -> float:
    """The least s >= 0 with curve(alpha) >= G_mu(alpha + s) - s for all alpha; G_mu is 0 beyond 1.

    The curve is piecewise linear and the right side convex, so the corners decide; at each of them the least s is the
    root of a monotone function.

    >>> round(least_slack(neyman_pearson([1.0, 0.0], [0.0, 1.0]), mu=0.0), 12)  # nothing hidden, 1 - alpha promised
    0.5
    """

    def spare(s: Array, alpha: Array, beta: Array) -> Array:
        return beta + s - gaussian(np.minimum(alpha + s, 1.0), mu=mu)

    broken = spare(np.zeros(1), curve.alpha, curve.beta) < 0
    corners = curve.alpha[broken], curve.beta[broken]
    slack = float(elementwise.find_root(spare, (0.0, 1.0), args=corners).x.max(initial=0.0))
    return slack if slack > ROUNDING else 0.0


def half_variation(curve: TradeOff) -> float:
    """Half the total variation of the pair. Errs upward where the curve errs downward."""
    return float((1 - curve.alpha - curve.beta).max()) / 2


def others(people: Budgets) -> tuple[Array, Array]:
    """r_j and numbers of all users but the victim, one with the largest eps."""
    r = clone_probabilities(people)
    return r, people.count - (np.arange(r.size) == int(np.argmax(people.eps))).astype(np.float64)


def tanh_mu(people: Budgets) -> float:
    """mu of the pair's own Gaussian limit: errs to either side."""
    r, count = others(people)
    return math.tanh(people.eps_max / 2) * math.sqrt(2 / float(r @ count))


def lemma2_slack(people: Budgets) -> float:
    """A lower bound on the slack that Lemma 2 can give, its normal law rounded to whole numbers.

    The total variation between the others' first count alone, a sum of Bernoulli(r_j), and its rounded normal law: a
    function of the counts has no larger one than the counts.
    """
    r, count = others(people)
    law = clone_law(r, 1 - r, count)
    cell = np.diff(ndtr((law.edges - 0.5 - law.mean) / math.sqrt(law.variance)))
    beyond = abs(float(law.mass.sum() - cell.sum()))
    return max(0.0, 0.5 * (float(np.abs(law.mass - cell).sum()) + beyond) - float(law.error.sum()))


def normal_distance(p: float, m: int) -> float:
    """Total variation of the two counts of m users from the discretized normal law, unit cells; page 06's, one p."""
    nodes, weights = (v / 2 for v in np.polynomial.legendre.leggauss(12))
    a, b = (v.ravel() for v in np.meshgrid(nodes, nodes))
    c, total = np.arange(m + 1)[:, None], 0.0
    for parity in (0, 1):  # their sum c and their difference d are both even or both odd
        rows, d = c[c[:, 0] % 2 == parity], np.arange(-m + (m + parity) % 2, m + 1, 2)
        law = binom.pmf(rows, m, p) * binom.pmf((rows + d) / 2, rows, 0.5)
        along = norm.pdf(rows + (a + b), m * p, math.sqrt(m * p * (1 - p))) * np.outer(weights, weights).ravel()
        near = 2 * along @ norm.pdf(d[:, None] + (a - b), 0, math.sqrt(m * p)).T  # 2: a unit cell's area in (c, d)
        total += float(np.maximum(law - near, 0).sum())
    return total


def delta_floor(slack: float, *, mu: float) -> float:
    """1 - G_mu(s) + s: below this delta, (15) with slack s implies no (eps, delta) guarantee, whatever eps.

    >>> delta_floor(0.0, mu=1.0), delta_floor(1.0, mu=1.0)
    (0.0, 1.0)
    """
    return min(1.0, 1 - gaussian(slack, mu=mu) + slack)


def slack_allowed(delta: float, *, mu: float) -> float:
    """The largest slack that leaves a statement at delta: the root of `delta_floor`."""
    return float(brentq(lambda s: delta_floor(s, mu=mu) - delta, 0.0, delta, xtol=1e-30, rtol=1e-14))


def users_needed(eps0: float, *, delta: float, half_way: bool) -> int:
    """The least power of 2 at which the proved slack of n users with budget eps0 leaves a statement at delta."""
    n, left = 2, 1.0
    while left > delta:
        n *= 2
        crowd = constant(eps0, n=n)
        left = delta_floor(gspa_slack(crowd, half_way=half_way), mu=gspa_mu(crowd))
    return n


# --- figures -----------------------------------------------------------------------------------------------

LINES = {
    "exact": ("the pair, exact", "truth"),
    "paper": (r"$G_\mu$, the paper's", "paper"),
    "slack": (r"$G_\mu$ with its slack, proved", "certified"),
    "tanh": (r"$G_\mu$ with the tanh factor, an estimate", "reference"),
}
PROMISES = {
    "holds": ("0.92", r"paper's $\epsilon$ suffices"),
    "too much": (ROLES["paper"][0], "too small: the pair has more (crosses)"),
    "undecided": ("0.7", "undecided"),
}


def guarantee_power(table: pd.DataFrame) -> Figure:
    """Power allowed relative to the pair's own at one budget: a guarantee must not go below 1."""
    figure, axis = plt.subplots(figsize=(4.8, 4), layout="constrained")
    for key, (label, kind) in LINES.items():
        axis.plot(table["alpha"], table[key] / table["exact"], **role(kind), label=label)
    axis.set(title=rf"$\epsilon_0$ = {table['eps0'].iloc[0]:g}", xlabel=r"type I error $\alpha$", ylim=(0.05, 40))
    axis.set(xscale="log", yscale="log", ylabel="power: allowed over own")
    figure.legend(loc="outside lower left")
    return figure


def power_frames(table: pd.DataFrame) -> dict[tuple[Any, ...], Frame]:
    """`guarantee_power` at each budget, and in words."""
    frames: dict[tuple[Any, ...], Frame] = {}
    for eps0, part in table.groupby("eps0", sort=False):
        start, above = part.iloc[0], part.loc[part["exact"] > part["paper"] * (1 + 1e-9), "alpha"]
        over = f"for a type I error from {above.min():.1g} to {above.max():.1g}" if len(above) else "nowhere"
        frames[eps0,] = Frame.of(
            guarantee_power(part),
            f"The allowed power over the pair's own, against the type I error, logarithmic, local budget {eps0:g}. "
            f"At a type I error of {start['alpha']:.1g} the pair has power {start['exact']:.2g}, the paper allows "
            f"{start['paper']:.2g}, and with slack {start['slack']:.2g}. The pair's line is above the paper's {over}.",
        )
    return frames


def guarantee_map(table: pd.DataFrame) -> Figure:
    """Over eps0 and delta at one n: where the paper's eps is at least the certified one, and where it is less."""
    kinds, colours = list(PROMISES), ListedColormap([colour for colour, _ in PROMISES.values()])
    figure, axis = plt.subplots(figsize=(4.8, 3), layout="constrained")
    grid = table.pivot_table(index="delta", columns="eps0", values="promise", aggfunc="first")
    codes, height = grid.map(kinds.index).to_numpy(), np.log10(grid.index)
    axis.pcolormesh(grid.columns, height, codes, cmap=colours, vmin=-0.5, vmax=2.5, edgecolors="white", lw=0.3)
    wrong = np.argwhere(codes == 1)
    axis.plot(grid.columns[wrong[:, 1]], height[wrong[:, 0]], "x", color="white", ms=4, mew=1)
    axis.set(title=f"{table['n'].iloc[0]:,} users", xlabel=r"local budget $\epsilon_0$")
    axis.set_ylabel(r"$\log_{10}$ of the central $\delta$")
    axis.grid(visible=False)
    shown = [kind for kind in kinds if kind != "undecided" or (table["promise"] == kind).any()]
    handles = [Patch(facecolor=PROMISES[kind][0], edgecolor="grey", label=PROMISES[kind][1]) for kind in shown]
    figure.legend(handles=handles, loc="outside lower left", ncols=len(handles))
    return figure


def map_frames(table: pd.DataFrame) -> dict[tuple[Any, ...], Frame]:
    """`guarantee_map` at each number of users, and in words."""
    frames: dict[tuple[Any, ...], Frame] = {}
    for n, part in table.groupby("n", sort=False):
        wrong = part.loc[part["promise"] == "too much", "eps0"]
        least = f", the least local budget {wrong.min():.3g}" if len(wrong) else ""
        frames[n,] = Frame.of(
            guarantee_map(part),
            f"Pairs of a local budget and a delta, {n:,} users. The paper's epsilon is too small at {len(wrong)} of "
            f"{len(part)}{least}.",
        )
    return frames

"""Of notebook 17: the best that a bound by one common density can reach, and the figures.

Reports on a line go through a blanket. Such a bound tells the adversary who sent a `rest`, and what; user j hides the
victim only by reports of density g_j <= omega_j, the least density of j's report over all inputs. Let v = f0 - f1 be
the difference of the victim's two laws and g >= sum_j g_j. The attack that adds up v/g over the reports moves by
int v^2/g between the two inputs, with a variance of at most int (v/g)^2 sum_j g_j <= int v^2/g. So in the limit of
many users a bound by one common density omega* (`gspa.accountant.laplace_gaussian`) is no better than the Gaussian
mechanism of

    mu^2 = min int_B v^2 / (sum_j c_j omega*)   over c_j omega* <= omega_j,   B = {abs(y - 1/2) <= R}.

Reports outside B cost delta. Given c with sum_j c_j = 1 the best omega* is proportional to min_j omega_j/c_j, and the
integral becomes int_B v^2 max_j c_j/omega_j: convex in c, a linear program once y is cut into cells.

>>> round(blanket_limit([1.0], count=[10_000], delta=1e-6, mechanism="laplace"), 5)
0.01114
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from scipy.optimize import brentq, linprog
from scipy.sparse import coo_array

from gspa.accountant import laplace_gaussian
from gspa.accountant.blanket import Noise, Reports, leak, radii
from gspa.accountant.bound import Bound
from gspa.accountant.errors import InvalidValue
from gspa.accountant.tradeoff import gdp_epsilon
from gspa.book.figures import DASHES, PALETTE, ROLES, Frame, keeps_data, name_line, role

_CELLS = 150  # of the linear program, a third of their number; they lose about 1e-4 of mu, to either side
_TAIL = 1e-15


def blanket_limit(scales: Sequence[float], *, count: Sequence[int], delta: float, mechanism: str) -> float:
    """mu of the Gaussian that bounds by one common density approach for many users: an estimate for finite n.

    The victim has the least noise and the inputs 0 and 1; B leaves out what costs no more than delta.
    """
    crowd = laplace_gaussian.Crowd.of(scales, count, mechanism)
    index = crowd.candidates(None)[0]
    victim, others = crowd.noise(index), crowd.reports.without(index)
    reach = 0.5 + victim.quantile(_TAIL)
    eps = gdp_epsilon(delta=delta, mu=_least_mu(victim, others, reach))
    radius = reach
    if leak(victim, 0.5, eps)[0] > delta > leak(victim, reach, eps)[1]:
        radius = float(brentq(lambda r: leak(victim, r, eps)[0] - delta, 0.5, reach))
    return _least_mu(victim, others, radius)


def _least_mu(victim: Noise, others: Reports, radius: float) -> float:
    """Root of the least, over d >= 0 with sum d = 1, sum over cells of max_j d_j v^2/(count_j omega_j)."""
    edges = np.unique(np.r_[0.5, radii(radius, _CELLS)])  # of r = |y - 1/2|
    r, width = 0.5 * (edges[1:] + edges[:-1]), np.diff(edges)
    f0, f1 = np.exp(victim.log_density(np.abs(r - 0.5))), np.exp(victim.log_density(r + 0.5))
    cover = others.log_height[:, None] - others.kappa[:, None] * (r + 0.5) ** others.power
    share = np.log(2 * (f0 - f1) ** 2 * width) - cover - np.log(others.count)[:, None]
    groups = share.shape[0]
    scale = float(np.logaddexp.reduce(share, axis=1).min())  # about log of the result
    share = np.exp(np.minimum(share - scale, 60.0))
    used = np.flatnonzero((share > 1e-14).any(axis=0))
    rows = np.arange(groups * used.size)
    j, k = np.divmod(rows, used.size)
    matrix = coo_array(
        (np.r_[share[:, used].ravel(), -np.ones(rows.size)], (np.r_[rows, rows], np.r_[j, groups + k])),
        shape=(rows.size, groups + used.size),
    )
    total = np.r_[np.ones(groups), np.zeros(used.size)][None, :]
    objective = np.r_[np.zeros(groups), np.ones(used.size)]
    found = linprog(
        objective, A_ub=matrix.tocsr(), b_ub=np.zeros(rows.size), A_eq=total, b_eq=[1.0], method="highs-ipm"
    )
    return float((found.fun * np.exp(scale)) ** 0.5)


def budget_table(choice: pd.DataFrame) -> pd.DataFrame:
    """Local budgets, rounded down to two places, with a row for each number of users and what they run."""
    wide = choice.pivot(index=["n", "runs"], columns="central", values="local")
    floors = wide.map(lambda eps: f"{math.floor(100 * eps) / 100:.2f}")
    heads = [f"$\\epsilon = {central:g}$" for central in floors]
    names = wide.index.get_level_values("runs").map({"laplace": "Laplace noise", "aligned": "randomized response"})
    users = wide.index.get_level_values("n")
    return (
        floors.set_axis(heads, axis=1)
        .reset_index(drop=True)
        .assign(users=users, reports=names)[["users", "reports", *heads]]
    )


def needs_an_epsilon(certified: Bound) -> None:
    """Refuse a setting in which there is nothing to compare: shuffling alone meets delta."""
    if certified.upper == 0:
        raise InvalidValue("delta", certified.delta, "a smaller one, or fewer users", "here even eps = 0 meets it")


def published_frame(table: pd.DataFrame, levels: Mapping[str, float], *, eps0: float) -> Frame:
    """`published_bounds` at one setting of its knob, and in words."""
    figure, shown = published_bounds(table, levels), table.dropna(subset="epsilon")
    figure.axes[0].set_title(rf"$\epsilon_0$ = {eps0:g}")
    ends = [f"{row['epsilon']:.3g} ({row['bound']})" for row in shown.iloc[[0, -1]].to_dict("records")]
    words = (
        f"A dot for each of {len(shown)} published bounds for a local budget of {eps0:g}, on a logarithmic axis, from "
        f"{ends[0]} to {ends[1]}. Upright lines mark what is certified here, {levels['certified']:.3g}, and the value "
        f"of the bits themselves, {levels['bits']:.3g}."
    )
    return Frame.of(figure, words)


def published_bounds(table: pd.DataFrame, levels: Mapping[str, float]) -> Figure:
    """Published bounds, a dot a bound; `levels`, certified and bits, as upright lines."""
    rows = table.dropna(subset="epsilon").reset_index(drop=True)
    largest, least = float(rows["epsilon"].max()), min(float(rows["epsilon"].min()), levels["bits"])
    figure, axis = plt.subplots(figsize=(4.8, 1.2 + 0.25 * len(table)), layout="constrained")
    for key, kind, words, right in (("bits", "truth", "the bits\nthemselves", -5), ("certified", "certified", "", 5)):
        axis.axvline(levels[key], zorder=1, **role(kind))
        words = words or "certified\nhere"
        name_line(axis, levels[key], -1.1, words, colour=ROLES[kind][0], right=right)
    for y, (bound, eps, proved) in enumerate(zip(rows["bound"], rows["epsilon"], rows["proved"], strict=True)):
        kind = "paper" if bound == "GSPA" else "numerical" if "numerical" in bound else "closed form"
        colour = ROLES[kind][0]
        axis.plot([eps], [y], "o", ms=8, color=colour, mfc=colour if proved == "yes" else "white", mew=2, zorder=3)
        inwards = 9 if eps < math.sqrt(least * largest) else -9
        name_line(axis, eps, y, f"{bound}, {eps:.3g}", colour="0.1", right=inwards)
    axis.set_yticks([])
    axis.set(xscale="log", xlabel=r"central $\epsilon$, logarithmic", ylim=(len(rows) - 0.4, -1.7))
    axis.set_xlim(least / 1.9, largest * 1.7)
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.grid(False, axis="y")
    return figure


@keeps_data
def delta_curves(table: pd.DataFrame, crossings: Mapping[str, float], *, delta: float) -> Figure:
    """Certified and paper; `crossings`, their eps at delta, are marked."""
    figure, axis = plt.subplots(figsize=(4.8, 3.4), layout="constrained")
    end, names = float(table["eps"].iloc[-1]), {"certified": "upper", "paper": "paper"}
    first = min(crossings, key=lambda key: crossings[key])
    axis.axhline(delta, **{**role("reference"), "lw": 1})
    name_line(axis, 0, delta, f"$\\delta$ = {delta:g}", colour=ROLES["reference"][0], right=4, up=-8)
    for key, column in names.items():
        axis.plot(table["eps"], table[column], **role(key))
        axis.plot([crossings[key]], [delta], "o", ms=8, color=ROLES[key][0], zorder=3)
        # Right of its own curve; left of it where the other curve would be crossed.
        side = -1 if key == first and crossings[key] > 0.4 * end else 1
        said = f"{key}: {crossings[key]:.3g}"
        name_line(axis, crossings[key], delta, said, colour=ROLES[key][0], right=5 * side, up=9 * side)
    bottom = delta * 1e-6  # the certified curve leaves the figure there
    axis.set(xlabel=r"central $\epsilon$", ylabel=r"central $\delta$, logarithmic", yscale="log", ylim=(bottom, 1))
    axis.set_xlim(0, end)
    return figure


@keeps_data
def by_budget(table: pd.DataFrame, column: str, *, words: str, level: tuple[str, str], log: bool) -> Figure:
    """A column with the quotient of two epsilons against the local budget, a line a number of users.

    `level`: the role of the line at 1, and its name.
    """
    figure, axis = plt.subplots(figsize=(4.8, 3.3), layout="constrained")
    axis.axhline(1, **role(level[0]))
    for index, (n, rows) in enumerate(table.groupby("n"), 1):  # black is the truth's
        dashes, marker = DASHES[index] or (None, None), "os^D"[index % 4]
        axis.plot(
            rows["eps0"], rows[column], color=PALETTE[index], dashes=dashes, lw=2, marker=marker, label=f"{n:,} users"
        )
    axis.set(xlabel=r"local budget $\epsilon_0$, logarithmic", ylabel=words, xscale="log")
    if log:
        axis.set(yscale="log", ylabel=f"{words}, logarithmic")
    local = sorted(set(table["eps0"]))
    axis.set_xticks(local, [f"{eps0:g}" for eps0 in local], minor=False)
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    name_line(axis, local[0], 1, level[1], colour=ROLES[level[0]][0], right=0, up=-9)
    low, high = axis.get_ylim()
    axis.set_ylim(low / 1.3 if log else low - 0.1 * (high - low), high)
    axis.legend()
    return figure


@keeps_data
def per_user(table: pd.DataFrame) -> Figure:
    """The upper end of each user's interval against the local budget."""
    figure, axis = plt.subplots(figsize=(4.8, 3.3), layout="constrained")
    axis.plot(table["local"], table["upper"], **role("certified"))
    axis.set(xlabel=r"local budget $\epsilon_i$", ylabel=r"central $\epsilon$ of that user, certified", ylim=(0, None))
    return figure


def _interval(axis: Axes, y: int, attack: float, certified: float) -> None:
    """A row from what an attack reaches to what is certified."""
    axis.plot([attack, certified], [y, y], color=ROLES["reference"][0], lw=5, alpha=0.35, solid_capstyle="butt")
    axis.plot([attack], [y], ">", ms=9, color=ROLES["attack"][0])
    axis.plot([certified], [y], "<", ms=9, color=ROLES["certified"][0])


@keeps_data
def named_mechanisms(table: pd.DataFrame) -> Figure:
    """Each mechanism's interval beside its name; the axis starts at 0."""
    figure, axis = plt.subplots(figsize=(4.8, 1 + 0.34 * len(table)), layout="constrained")
    for y, row in enumerate(table.to_dict("records")):
        _interval(axis, y, row["attack"], row["certified"])
        name_line(axis, row["attack"], y, row["mechanism"], colour="0.1", right=-9)
        name_line(axis, row["certified"], y, f"{row['certified']:.3g}", colour=ROLES["certified"][0], right=9)
    axis.set_yticks([])
    for end, side in (("attack", -9), ("certified", 9)):
        name_line(axis, float(table[end].iloc[0]), -0.55, end, colour=ROLES[end][0], right=side)
    axis.set(xlabel=r"central $\epsilon$", xlim=(0, 1.2 * float(table["certified"].max()) or 1))
    axis.set_ylim(len(table) - 0.5, -0.9)
    axis.grid(False, axis="y")
    return figure


@keeps_data
def on_a_line(table: pd.DataFrame) -> Figure:
    """Reports on a line, over the limit: a row a setting, from the attack to the certified bound."""
    figure, axis = plt.subplots(figsize=(4.8, 1.2 + 0.65 * len(table)), layout="constrained")
    axis.axvline(1, **role("reference"))
    for y, row in enumerate(table.to_dict("records")):
        _interval(axis, y, row["attack"] / row["limit"], row["ratio"])
        axis.plot([row["least ratio"]], [y], "|", ms=24, mew=2, color=ROLES["truth"][0])
        name_line(axis, row["ratio"], y, f"{row['certified']:.3g}", colour=ROLES["certified"][0], right=12)
    for x, kind, words, right in (
        (1.0, "reference", "the limit", -5),
        (float(table["attack"].iloc[0] / table["limit"].iloc[0]), "attack", "attack", 9),
        (float(table["ratio"].iloc[0]), "certified", "certified", 9),
        (float(table["least ratio"].iloc[0]), "truth", "best by one density", -9),
    ):
        name_line(axis, x, 0.4 if kind == "truth" else -0.45, words, colour=ROLES[kind][0], right=right)
    axis.set_yticks(range(len(table)), [name.replace(", ", ",\n", 1) for name in table["setting"]])
    axis.set(xlabel=r"central $\epsilon$ over that of the Gaussian limit", ylim=(len(table) - 0.5, -0.75))
    most = float(table["ratio"].max())
    axis.set_xlim(1 - 0.3 * (most - 1), most + 0.25 * (most - 1))
    axis.grid(False, axis="y")
    return figure

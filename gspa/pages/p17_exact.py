"""Page 17: the certified accountant: how tight it is, for whom, and how sure.

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
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from scipy.optimize import brentq, linprog
from scipy.sparse import coo_array

from gspa.accountant import attacks, budgets, laplace_gaussian
from gspa.accountant import one_round as accountant
from gspa.accountant.asymptotic import asymptotic_mu
from gspa.accountant.blanket import Noise, Reports, leak, radii
from gspa.accountant.exact import exact_epsilon
from gspa.accountant.inverse import largest_local_epsilon
from gspa.accountant.published import compare, gspa_delta, gspa_epsilon
from gspa.accountant.tradeoff import gdp_epsilon
from gspa.book.figures import DASHES, PALETTE, ROLES, keeps_data, name_line, role

Setting = tuple[str, str, Sequence[float], Sequence[int], float]
# (name, mechanism, noise scales on [0, 1], how many users have each, delta)
CONTINUOUS: tuple[Setting, ...] = (
    ("Laplace, everybody at 1", "laplace", [1.0], [10_000], 1e-4),
    ("Laplace, one user at 2 among 9,999 at 0.01", "laplace", [0.5, 100.0], [1, 9_999], 1e-4),
    ("Laplace, groups of Figure 3: 0.1, 0.5, 1", "laplace", [10.0, 2.0, 1.0], [5_400, 3_700, 900], 1e-4),
    ("Gaussian, $\\sigma$ = 1", "gaussian", [1.0], [10_000], 1e-6),
)
LOCAL = (0.1, 0.5, 1.0, 2.0, 4.0)
SIZES = (1_000, 10_000, 1_000_000)
FEWER = (100, 1_000, 10_000)  # where the law of the bits is compared with the pair
_INPUTS = (0.0, 1.0)
_CELLS = 150  # of the linear program, a third of their number; they lose about 1e-4 of mu, to either side
_TAIL = 1e-15


# --- tables ------------------------------------------------------------------------------------------------


def against_published(*, eps0: float, n: int, delta: float) -> pd.DataFrame:
    """Every published bound for n users of one budget, the smallest first: bound, epsilon, ratio, proved, note.

    "ratio" is over the certified upper end; NaN, like epsilon, where the bound refuses.
    """
    people = budgets.constant(eps0, n=n)
    certified = accountant.central_epsilon(people, delta=delta).upper
    rows = [
        (row.label, np.nan if row.epsilon is None else row.epsilon, "yes" if row.rigorous else "no", row.note)
        for row in compare(people, delta=delta, mechanism="rr")
    ]
    table = pd.DataFrame(rows, columns=["bound", "epsilon", "proved", "note"])
    table.insert(2, "ratio", table["epsilon"] / certified)
    return table


def paper_against_exact(*, local: Sequence[float], sizes: Sequence[int], delta: float) -> pd.DataFrame:
    """The paper's eps beside the certified one, for randomized response: eps0, n, paper, lower, upper, width, ratio.

    "ratio" is the paper's over the certified lower end: below 1 the paper promises what does not hold; NaN where the
    certified eps is 0 and no budget is needed.
    """
    rows = []
    for eps0 in local:
        for n in sizes:
            people = budgets.constant(eps0, n=n)
            found = accountant.central_epsilon(people, delta=delta)
            paper = gspa_epsilon(people, delta=delta)
            ratio = paper / found.lower if found.lower > 0 else np.nan
            rows.append((eps0, n, paper, found.lower, found.upper, found.relative_width, ratio))
    return pd.DataFrame(rows, columns=["eps0", "n", "paper", "lower", "upper", "width", "ratio"])


def pair_against_truth(*, local: Sequence[float], sizes: Sequence[int], delta: float) -> pd.DataFrame:
    """What the pair gives away for randomized response: eps0, n, pair, bits (the shuffled bits' own), gap (ratio)."""
    rows = []
    for eps0 in local:
        for n in sizes:
            people = budgets.constant(eps0, n=n)
            pair = accountant.central_epsilon(people, delta=delta).value
            bits = exact_epsilon(people, delta=delta).value
            rows.append((eps0, n, pair, bits, pair / bits))
    return pd.DataFrame(rows, columns=["eps0", "n", "pair", "bits", "gap"])


def delta_curve(people: budgets.Budgets, *, eps_max: float, points: int) -> pd.DataFrame:
    """delta(eps) of the pair, certified on both sides, and the paper's Gaussian: eps, lower, upper, paper."""
    rows = []
    for eps in np.linspace(0.0, eps_max, points).tolist():
        found = accountant.central_delta(people, eps=eps)
        rows.append((eps, found.lower, found.upper, gspa_delta(people, eps=eps)))
    return pd.DataFrame(rows, columns=["eps", "lower", "upper", "paper"])


def by_user(people: budgets.Budgets, *, delta: float) -> pd.DataFrame:
    """Central eps of each user against the user's own budget: local, lower, upper, by local budget."""
    found = accountant.per_user_epsilon(people, delta=delta)
    table = pd.DataFrame({"local": people.eps, "lower": found.lower, "upper": found.upper})
    return table.sort_values("local", ignore_index=True)


def continuous(settings: Sequence[Setting]) -> pd.DataFrame:
    """Certified eps of reports on a line between an attack (rigorous) and the Gaussian limit (an estimate).

    Columns: setting, delta, attack, limit, certified, ratio (certified over limit), least ratio (what no bound by one
    density beats for many users), alone (the victim's local eps at the same delta).
    """
    rows = []
    for name, mechanism, scales, count, delta in settings:
        certified = laplace_gaussian.blanket_epsilon(scales, count=count, delta=delta, mechanism=mechanism).upper
        alone = laplace_gaussian.blanket_epsilon([min(scales)], count=[1], delta=delta, mechanism=mechanism).upper
        limit = asymptotic_mu(scales, count=count, mechanism=mechanism).epsilon(delta)
        attack = attacks.attack_epsilon(scales, count=count, delta=delta, mechanism=mechanism).lower
        least = gdp_epsilon(delta=delta, mu=blanket_limit(scales, count=count, delta=delta, mechanism=mechanism))
        rows.append((name, delta, attack, limit, certified, certified / limit, least / limit, alone))
    columns = ["setting", "delta", "attack", "limit", "certified", "ratio", "least ratio", "alone"]
    return pd.DataFrame(rows, columns=columns)


def blanket_limit(scales: Sequence[float], *, count: Sequence[int], delta: float, mechanism: str) -> float:
    """mu of the Gaussian that bounds by one common density approach for many users: an estimate for finite n.

    The victim has the least noise and the inputs 0 and 1; B leaves out what costs no more than delta.
    """
    crowd = laplace_gaussian.Crowd.of(scales, count, mechanism, _INPUTS)
    index = crowd.candidates(None)[0]
    victim, others = crowd.noise(index), crowd.reports.without(index)
    reach = 0.5 + victim.quantile(_TAIL)
    eps = gdp_epsilon(delta=delta, mu=_least_mu(victim, others, reach))
    radius = reach
    if leak(victim, _INPUTS, 0.5, eps)[0] > delta > leak(victim, _INPUTS, reach, eps)[1]:
        radius = float(brentq(lambda r: leak(victim, _INPUTS, r, eps)[0] - delta, 0.5, reach))
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


def local_budget_for(*, targets: Sequence[float], sizes: Sequence[int], delta: float) -> pd.DataFrame:
    """The largest local eps0 that meets a central eps: central, n, local (certified to suffice)."""
    rows = [(eps, n, largest_local_epsilon(eps=eps, delta=delta, n=n).lower) for eps in targets for n in sizes]
    return pd.DataFrame(rows, columns=["central", "n", "local"])


def budget_table(choice: pd.DataFrame) -> pd.DataFrame:
    """`local_budget_for` with a row for each number of users, rounded down."""
    wide = choice.pivot(index="n", columns="central", values="local").reset_index()
    floors = wide.iloc[:, 1:].map(lambda eps: math.floor(100 * eps) / 100)
    heads = [f"$\\epsilon = {central:g}$" for central in floors]
    return pd.concat([wide["n"], floors], axis=1).set_axis(["users", *heads], axis=1)


# --- figures -----------------------------------------------------------------------------------------------


@keeps_data
def published_bounds(table: pd.DataFrame, levels: Mapping[str, float]) -> Figure:
    """`against_published`, a dot a bound; `levels`, certified and bits, as upright lines."""
    rows = table.dropna(subset="epsilon").reset_index(drop=True)
    figure, axis = plt.subplots(figsize=(7, 1.1 + 0.32 * len(rows)), layout="constrained")
    for key, kind, words, right in (("bits", "truth", "the bits\nthemselves", -5), ("certified", "certified", "", 5)):
        axis.axvline(levels[key], zorder=1, **role(kind))
        words = words or "certified\nhere"
        name_line(axis, levels[key], -1.1, words, colour=ROLES[kind][0], right=right)
    for y, (bound, eps, proved) in enumerate(zip(rows["bound"], rows["epsilon"], rows["proved"], strict=True)):
        kind = "paper" if bound == "GSPA" else "numerical" if "numerical" in bound else "closed form"
        colour = ROLES[kind][0]
        axis.plot([eps], [y], "o", ms=8, color=colour, mfc=colour if proved == "yes" else "white", mew=2, zorder=3)
        name_line(axis, eps, y, f"{eps:.3g}", colour=colour, right=9)
    axis.set_yticks(range(len(rows)), rows["bound"])
    largest, least = float(rows["epsilon"].max()), min(float(rows["epsilon"].min()), levels["bits"])
    axis.set(xscale="log", xlabel=r"central $\epsilon$, logarithmic", ylim=(len(rows) - 0.4, -1.7))
    axis.set_xlim(least / 1.9, largest * 1.7)
    axis.grid(False, axis="y")
    return figure


@keeps_data
def delta_curves(table: pd.DataFrame, crossings: Mapping[str, float], *, delta: float) -> Figure:
    """`delta_curve`: certified and paper; `crossings`, their eps at delta, are marked."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
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
    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
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
    """`by_user`: the upper end of each user's interval against the local budget."""
    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
    axis.plot(table["local"], table["upper"], **role("certified"))
    axis.set(xlabel=r"local budget $\epsilon_i$", ylabel=r"central $\epsilon$ of that user, certified", ylim=(0, None))
    return figure


@keeps_data
def on_a_line(table: pd.DataFrame) -> Figure:
    """`continuous`, over the limit: a row a setting, from the attack to the certified bound."""
    figure, axis = plt.subplots(figsize=(7, 1.2 + 0.75 * len(table)), layout="constrained")
    axis.axvline(1, **role("reference"))
    for y, row in enumerate(table.to_dict("records")):
        attack, certified = row["attack"] / row["limit"], row["ratio"]
        axis.plot([attack, certified], [y, y], color=ROLES["reference"][0], lw=5, alpha=0.35, solid_capstyle="butt")
        axis.plot([attack], [y], ">", ms=9, color=ROLES["attack"][0])
        axis.plot([certified], [y], "<", ms=9, color=ROLES["certified"][0])
        axis.plot([row["least ratio"]], [y], "|", ms=24, mew=2, color=ROLES["truth"][0])
        name_line(axis, certified, y, f"{row['certified']:.3g}", colour=ROLES["certified"][0], right=12)
    for x, kind, words, right in (
        (1.0, "reference", "the limit", -5),
        (float(table["attack"].iloc[0] / table["limit"].iloc[0]), "attack", "attack", 9),
        (float(table["ratio"].iloc[0]), "certified", "certified", 9),
        (float(table["least ratio"].iloc[0]), "truth", "best by one density", -9),
    ):
        name_line(axis, x, -0.45, words, colour=ROLES[kind][0], right=right)
    axis.set_yticks(range(len(table)), [name.replace(", ", ",\n", 1) for name in table["setting"]])
    axis.set(xlabel=r"central $\epsilon$ over that of the Gaussian limit", ylim=(len(table) - 0.5, -0.75))
    most = float(table["ratio"].max())
    axis.set_xlim(1 - 0.3 * (most - 1), most + 0.25 * (most - 1))
    axis.grid(False, axis="y")
    return figure

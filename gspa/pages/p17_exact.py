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
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
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
from gspa.book.figures import DASHES, PALETTE, keeps_data

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
def delta_curves(table: pd.DataFrame) -> Figure:
    """`delta_curve`: the certified interval as a band and the paper's Gaussian as a dashed line."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    axis.fill_between(table["eps"], table["lower"], table["upper"], color=PALETTE[1], lw=2.5, label="certified")
    axis.plot(table["eps"], table["paper"], color=PALETTE[0], dashes=DASHES[1], lw=2, label="paper's Gaussian")
    floor = max(1e-16, float(table.loc[table["upper"] > 0, "upper"].min()) / 10)
    axis.set(xlabel=r"central $\epsilon$", ylabel=r"central $\delta$", yscale="log", ylim=(floor, 1))
    axis.legend()
    return figure


@keeps_data
def per_user(table: pd.DataFrame) -> Figure:
    """`by_user`: both ends of each user's interval against the local budget."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, end in enumerate(("upper", "lower")):
        dashes = DASHES[index] or (None, None)
        axis.plot(table["local"], table[end], color=PALETTE[index + 1], dashes=dashes, lw=2, label=f"{end} end")
    axis.set(xlabel=r"local budget $\epsilon_i$", ylabel=r"central $\epsilon$ of that user")
    axis.legend()
    return figure

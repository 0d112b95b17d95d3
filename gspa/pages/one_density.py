"""The settings of page 17, which page 21 certifies, and the best that a bound by one common density can reach.

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

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq, linprog
from scipy.sparse import coo_array

from gspa.accountant import laplace_gaussian
from gspa.accountant.blanket import Noise, Reports, leak, radii
from gspa.accountant.tradeoff import gdp_epsilon

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

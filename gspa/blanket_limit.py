"""How good a privacy blanket can be at all: its limit of many users, an estimate that no such bound can beat there.

A blanket bound tells the adversary who sent a `rest`, and what; user j hides the victim only by reports of density
g_j <= omega_j, the least density of j's report over all inputs. Let v = f0 - f1 be the difference of the victim's two
laws and g >= sum_j g_j. The attack that adds up v/g over the reports moves by int v^2/g between the two inputs, with a
variance of at most int (v/g)^2 sum_j g_j <= int v^2/g. So in the limit of many users the bound is no better than the
Gaussian mechanism of

    mu^2 = int_B v^2 / sum_j omega_j                                        (whatever the blankets),
    mu^2 = min int_B v^2 / (sum_j c_j omega*) over c_j omega* <= omega_j    (one common omega*: `gspa.blanket`).

Reports outside B cost delta, so B leaves out what hides least per delta: any set for the first, {abs(y - 1/2) > R} for
the second. Given c with sum_j c_j = 1 the best omega* is proportional to min_j omega_j/c_j, and the integral becomes
int_B v^2 max_j c_j/omega_j: convex in c, a linear program once y is cut into cells.

>>> limit = blanket_limit([10.0, 2.0, 1.0], count=[5400, 3700, 900], delta=1e-4)
>>> bool(limit.own.mu < 0.92 * limit.common.mu)
True
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, linprog
from scipy.sparse import coo_array

from gspa import _validate as check
from gspa._blanket_crowd import Crowd
from gspa._blanket_law import Noise, Reports, leak, radii
from gspa.budgets import Budgets
from gspa.errors import InvalidValue, OutsideValidity
from gspa.tradeoff import gdp_epsilon

Array = NDArray[np.float64]

_CELLS = 400  # a third of the number of cells, about
_PROGRAM_CELLS = 150
_MOST_SCALES = 64
_TAIL = 1e-15
_INPUTS = (0.0, 1.0)


class Gaussian(NamedTuple):
    """mu of a limiting Gaussian mechanism, and its eps at the delta that was asked."""

    mu: float
    epsilon: float


class Limit(NamedTuple):
    """What no blanket bound goes below for many users in these proportions.

    Attributes:
        own: whatever the blankets, an own one for each user included.
        common: one blanket density for everybody, as in `gspa.blanket`.
    """

    own: Gaussian
    common: Gaussian


class _Cells(NamedTuple):
    """r = |y - 1/2| in cells: middles, widths; (f0 - f1)^2 of both sides together, and f0, f1 on the side of f0."""

    r: Array
    width: Array
    square: Array
    f0: Array
    f1: Array

    @classmethod
    def of(cls, victim: Noise, radius: float, size: int) -> _Cells:
        edges = np.unique(np.r_[0.5, radii(radius, size)])
        r = 0.5 * (edges[1:] + edges[:-1])
        f0, f1 = np.exp(victim.log_density(np.abs(r - 0.5))), np.exp(victim.log_density(r + 0.5))
        return cls(r, np.diff(edges), 2 * (f0 - f1) ** 2, f0, f1)

    def covers(self, others: Reports) -> Array:
        """log omega_j, shape (g, k)."""
        u = (self.r + 0.5) ** others.power
        return np.asarray(others.log_height[:, None] - others.kappa[:, None] * u)


def _own(victim: Noise, others: Reports, delta: float) -> float:
    cell = _Cells.of(victim, 0.5 + victim.quantile(_TAIL), _CELLS)
    cover = others.count @ np.exp(cell.covers(others))
    if not cover.min() > 0:
        raise OutsideValidity("limit of the blanket", "reports that cover each other", "their scale is far below 1")
    gain = cell.square * cell.width / cover
    whole = float(gain.sum())
    # At an eps that is rather too large, leaving out costs rather too little.
    eps = min(gdp_epsilon(delta=delta, mu=whole**0.5), 700.0)
    cost = np.maximum(cell.f0 - np.exp(eps) * cell.f1, 0.0) * cell.width
    order = np.argsort(cost / gain)
    dropped = order[np.cumsum(cost[order]) <= delta]
    # Where everything may be dropped, rounding may leave less than nothing.
    return float(max(whole - gain[dropped].sum(), 0.0) ** 0.5)


def _common(victim: Noise, others: Reports, delta: float) -> float:
    reach = 0.5 + victim.quantile(_TAIL)
    eps = gdp_epsilon(delta=delta, mu=_program(victim, others, reach))
    radius = reach
    if leak(victim, _INPUTS, 0.5, eps)[0] > delta > leak(victim, _INPUTS, reach, eps)[1]:
        radius = float(brentq(lambda r: leak(victim, _INPUTS, r, eps)[0] - delta, 0.5, reach))
    return _program(victim, others, radius)


def _program(victim: Noise, others: Reports, radius: float) -> float:
    """min over d >= 0, sum d = 1, of the sum over cells of max_j d_j gain/(count_j omega_j), square root."""
    cell = _Cells.of(victim, radius, _PROGRAM_CELLS)
    share = np.log(cell.square * cell.width) - cell.covers(others) - np.log(others.count)[:, None]
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


def blanket_limit(
    scales: Budgets | ArrayLike,
    *,
    delta: float,
    count: ArrayLike = 1,
    mechanism: str = "laplace",
    victim: int | None = None,
) -> Limit:
    """What blanket bounds approach for many users of these scales, and cannot beat there: an estimate for finite n.

    Args:
        scales: as `gspa.blanket.blanket_epsilon`, like count and mechanism.
        delta: in (0, 1).
        victim: index into scales; None for a user with the least noise. The victim's inputs are 0 and 1.

    Returns:
        The two limits. Cells of y lose about 1e-4 of mu, to either side.

    Raises:
        InvalidValue: an argument outside its range, more than 64 distinct scales, or nobody else.

    >>> limit = blanket_limit([1.0], count=10_000, delta=1e-6)
    >>> round(limit.own.mu, 5), round(limit.common.mu, 5)  # equal scales: one density is all there is
    (0.01114, 0.01114)
    """
    crowd = Crowd.of(scales, count, mechanism, _INPUTS)
    delta = check.probability(allow_zero=False, delta=delta)
    found = crowd.candidates(victim)
    if not found:
        raise InvalidValue("victim", victim, "the index of a finite scale")
    others = crowd.reports.without(found[0])
    if others.count.size == 0:
        raise InvalidValue("count", crowd.reports.count.tolist(), "at least one other user with finite noise")
    if others.count.size > _MOST_SCALES:
        raise InvalidValue(
            "scales", others.count.size, f"at most {_MOST_SCALES} distinct ones", "an estimate may merge similar ones"
        )
    noise = crowd.noise(found[0])
    mus = (solve(noise, others, delta) for solve in (_own, _common))
    return Limit(*(Gaussian(mu, gdp_epsilon(delta=delta, mu=mu)) for mu in mus))

"""One coordinate of FLAME as the analyzer sees it: n_p shuffled reports, the victim's or a dummy in its place.

Every other report is a draw from the blanket omega with probability gamma (a user's) or 1 (a dummy's), so
that C of them are, and the blanket bound of `gspa.accountant.laplace_gaussian` applies with a law of C of its own:

    delta(eps) <= E[(1/(C+1)) (L_1 + ... + L_(C+1))_+],    L = (f0 - e^eps f1)(Y)/omega(Y), Y from omega.

* beta = 1, n of the n_p reports may be users': C = n_p - n + Bin(n - 1, gamma); fewest for n = n_p.
* beta < 1, each of n users is in with probability beta, else a dummy stands in: the victim's law is
  f_x = (1 - beta) omega + beta R(x), and C = n_p - 1 - Bin(n - 1, beta (1 - gamma)), if everybody fits into n_p.

For R_{gamma,b} all values but one are exact: the uniform answers are alike. For Laplace noise omega is the report
on 1/2, f/omega is between e^{-eps/2} and e^{eps/2}, and the inputs 0 and 1 are the worst (a mixture
with omega is an affine map of L, which keeps the convex order; see `gspa.accountant.laplace_gaussian`).

>>> from gspa.algorithms.flame.randomizers import Laplace
>>> one = coordinate(Laplace(0.5), n_p=333)
>>> low, high = one.delta(0.1)
>>> 0 < low <= high < 1.005 * low
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from gspa.accountant import arguments as check
from gspa.accountant.blanket import Cells
from gspa.accountant.clones import CloneLaw, clone_law
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.pair import least_epsilon
from gspa.accountant.random_sum import Bracket, expectation_above, expectation_below
from gspa.algorithms.flame.randomizers import Buckets, Local

Array = NDArray[np.float64]

AGAINST = ("other", "blanket")
"""The victim's other report: on the other end of [0, 1], or a dummy (another index was selected)."""

_LEAST_EPS = 1e-100  # the scale 1/eps and its square are doubles
MOST_EPS = 10.0
"""Largest local budget of one report; beyond it hardly anybody is a blanket, and the tilted sums overflow."""

_CELLS = 48  # on each half of [0, 1]: L varies by eps/48 in one
_DEPTH = 70.0  # e^-70 of the law of C is left out on each side
_BAND = 2e-3


def _laplace_cells(eps: float, against: str) -> Cells:
    """The line cut at -inf, 0, ..., 1/2, ..., 1, inf; f/omega is constant on the outer cells, monotone on the rest."""
    edges = np.linspace(0.0, 1.0, 2 * _CELLS + 1)

    def masses(x: float) -> Array:
        left, right = edges[:-1], edges[1:]
        near, far = np.minimum(np.abs(left - x), np.abs(right - x)), np.maximum(np.abs(left - x), np.abs(right - x))
        inside = -0.5 * np.exp(-eps * near) * np.expm1(-eps * (far - near))
        return np.asarray(np.r_[0.5 * math.exp(-eps * x), inside, 0.5 * math.exp(-eps * (1 - x))])

    inputs = (0.0, 1.0) if against == "other" else (0.0, 0.5)
    lows, highs = [], []
    for x in inputs:
        ratio = np.exp(eps * (np.abs(edges - 0.5) - np.abs(edges - x)))
        lows.append(np.r_[ratio[0], np.minimum(ratio[:-1], ratio[1:]), ratio[-1]])
        highs.append(np.r_[ratio[0], np.maximum(ratio[:-1], ratio[1:]), ratio[-1]])
    return Cells(masses(0.5), (masses(inputs[0]), masses(inputs[1])), (lows[0], lows[1]), (highs[0], highs[1]))


def _answer_cells(local: Buckets, against: str) -> Cells:
    """Three answers: the victim's, the one it would give on the other value, and all others as one."""
    k, gamma = local.answers, local.gamma
    omega = np.array([1.0, 1.0, k - 2.0][: 2 if k == 2 else 3]) / k
    told = np.eye(omega.size)[:2] * (1 - gamma) * k + gamma  # f/omega
    other = told[1] if against == "other" else np.ones(omega.size)
    both = (told[0], other)
    return Cells(omega, (omega * both[0], omega * both[1]), both, both)


def _mixed(cells: Cells, beta: float) -> Cells:
    """f to (1 - beta) omega + beta f."""

    def mix(pair: tuple[Array, Array], base: Array | float) -> tuple[Array, Array]:
        return (1 - beta) * base + beta * pair[0], (1 - beta) * base + beta * pair[1]

    return Cells(cells.omega, mix(cells.mass, cells.omega), mix(cells.low, 1.0), mix(cells.high, 1.0))


def overflow(*, n_p: int, n: int, beta: float) -> float:
    """Probability that more than n_p of n users select one coordinate, each with probability beta.

    >>> overflow(n_p=2, n=2, beta=0.5), overflow(n_p=1, n=2, beta=0.5)
    (0.0, 0.25)
    """
    n_p, n = check.count(n_p=n_p), check.count(n=n)
    return float(binom.sf(n_p, n, check.in_range(0, 1, beta=beta)))


@dataclass(frozen=True, eq=False)
class Coordinate:
    """The blanket's delta for one coordinate; see the module.

    Attributes:
        cells: L's law, cut.
        clones: the law of C.
        most: no privacy loss of the victim's report is larger.
        symmetric: exchanging the victim's two reports changes nothing.
    """

    cells: Cells
    clones: CloneLaw
    most: float
    symmetric: bool

    def upper(self, eps: float, *, swap: bool = False) -> float:
        """The upper end of `delta`, in half of its time."""
        if eps >= self.most:
            return 0.0
        return min(expectation_above(self.cells.atoms(eps, up=True, swap=swap), self.clones), 1.0)

    def delta(self, eps: float, *, swap: bool = False) -> Bracket:
        """The bound's value at eps >= 0, bracketed; `swap` exchanges the victim's two reports.

        The upper end errs upward by construction; roundings inside are allowed for as in
        `gspa.accountant.laplace_gaussian`.
        """
        high = self.upper(eps, swap=swap)
        if eps >= self.most:
            return Bracket(high, high)
        return Bracket(min(expectation_below(self.cells.atoms(eps, up=False, swap=swap), self.clones), high), high)

    def epsilon(self, delta: float) -> float:
        """The least eps found at which the upper end is at most delta, both directions; errs upward."""
        delta = check.probability(allow_zero=False, delta=delta)
        ways = (False,) if self.symmetric else (False, True)

        def worst(eps: float) -> float:
            return max(self.upper(eps, swap=swap) for swap in ways)

        return least_epsilon(worst, delta, 0.5 * self.most, self.most, _BAND)


def coordinate(
    local: Local, *, n_p: int, n: int | None = None, beta: float = 1.0, against: str = "other"
) -> Coordinate:
    """The coordinate of n_p reports, one of which is the victim's.

    Args:
        local: corrected `Buckets`, or `Laplace`.
        n_p: reports, dummies included, >= 1.
        n: users, needed for beta < 1; at beta = 1 how many of the n_p reports may be users', at most n_p (default).
        beta: probability with which each user is in, (0, 1].
        against: "other" end of [0, 1], or a "blanket" report.

    Raises:
        InvalidValue: an argument out of range or missing.
        OutsideValidity: `Buckets` as printed, which has no finite local budget; eps above `MOST_EPS`; beta = 1 and
            more users than n_p.
    """
    n_p, beta = check.count(n_p=n_p), check.in_range(0, 1, beta=beta)
    against = check.one_of(AGAINST, against=against)
    if beta == 0:
        raise InvalidValue("beta", beta, "in (0, 1]")
    if beta < 1 and n is None:
        raise InvalidValue("n", n, "given for beta < 1")
    many = n_p if n is None else check.count(n=n)
    if beta == 1 and many > n_p:
        hint = f"n_(s,j) may be {many}: its size then tells who selected j; pad to more"
        raise OutsideValidity("dummy padding", f"n_(s,j) <= n_p = {n_p} for every coordinate j", hint)
    if local.eps > MOST_EPS:
        hint = f"got {local.eps:g}: next to no report is a draw from the blanket, and the local budget is the answer"
        raise OutsideValidity("blanket of a coordinate", f"a local budget of at most {MOST_EPS:g}", hint)
    if local.eps < _LEAST_EPS:
        hint = f"got {local.eps:g}: the local budget is the answer"
        raise OutsideValidity("blanket of a coordinate", f"a local budget of at least {_LEAST_EPS:g}", hint)
    if isinstance(local, Buckets):
        if local.printed:
            hint = "the answer 0 occurs only for inputs below 1/b; use the corrected Buckets"
            raise OutsideValidity("blanket of R_{gamma,b}", "a finite local budget", hint)
        cells = _answer_cells(local, against)
    else:
        cells = _laplace_cells(local.eps, against)
    mixed = _mixed(cells, beta)
    ratios = [np.log(mixed.high[a] / mixed.low[b]).max() for a, b in ((0, 1), (1, 0))]
    most = local.eps if beta == 1 and against == "other" else float(max(ratios))
    # The law of C; for beta < 1 the mass at C < 0 is left out: it belongs to `overflow`.
    rest = np.array([beta * (1 - local.gamma)])
    law = clone_law(1 - rest, rest, np.array([many - 1.0]), depth=_DEPTH, above=_DEPTH)
    return Coordinate(mixed, law.shifted(n_p - many), most, against == "other")

"""FLAME's accounting as printed: one coordinate, then subsampling, then composition (Lemmas 1 to 4, Theorems 1 to 4).

The formulas are evaluated wherever they are defined, also where they do not hold; what can be proved is in
`gspa.algorithms.flame.accounting`. The paper's evaluation uses a form of Bennett's bound that its authors have
corrected since:

>>> paper = Setting(d=7850, k=157, n=1000, n_p=333, eps=0.5, delta=0.01 / 1000**1.1)
>>> round(double(paper, bound="old_bennett").eps, 2), round(double(paper, bound="bennett").eps, 2)
(0.24, 0.3)
>>> round(simple(paper.full(), bound="old_bennett").eps, 2)
0.91
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from gspa.accountant.blanket_forms import blanket_epsilon, blanket_moments
from gspa.accountant.errors import OutsideValidity
from gspa.algorithms.flame.padded import coordinate
from gspa.algorithms.flame.randomizers import Laplace

BOUNDS = ("lemma1", "old_bennett", "bennett", "hoeffding", "exact")
"""One coordinate: Lemma 1 for R_{gamma,b}; the others for Laplace noise."""

OLD = "Bennett form of Balle et al. 2019, first version"


@dataclass(frozen=True)
class Setting:
    """What the theorems need.

    Attributes:
        d: coordinates.
        k: coordinates that a user reports, at most d; all of them in SS-Simple.
        n: users.
        n_p: reports per coordinate, dummies included; n in SS-Simple.
        eps: local budget of one reported coordinate, eps_ld or eps_lk.
        delta: delta_c of the whole vector.
    """

    d: int
    k: int
    n: int
    n_p: int
    eps: float
    delta: float

    @property
    def beta(self) -> float:
        """k/d."""
        return self.k / self.d

    @property
    def eps_local(self) -> float:
        """eps_l, the budget of the whole vector."""
        return self.k * self.eps

    def full(self, *, eps: float | None = None) -> Setting:
        """SS-Simple at the same eps_l, or at a given budget per coordinate."""
        return replace(self, k=self.d, n_p=self.n, eps=self.eps_local / self.d if eps is None else eps)


class Printed(NamedTuple):
    """What the theorems print: eps_cd (eps_ck without subsampling), eps_c of the whole vector, and delta_cd."""

    coordinate: float
    eps: float
    delta_coordinate: float


def lemma1_epsilon(eps: float, *, n: int, delta: float, answers: int) -> float:
    """Lemma 1: sqrt(14 log(2/delta) (e^eps + answers - 1)/(n - 1)).

    Proved by Balle et al. 2019, Theorem 3.1, for randomized response with that many answers and a value of at
    most 1. The paper has b answers; R_{gamma,b} has b + 1.

    >>> round(lemma1_epsilon(0.5, n=10_000, delta=1e-6, answers=3), 4)
    0.2723
    """
    return math.sqrt(14 * math.log(2 / delta) * (math.exp(eps) + answers - 1) / (n - 1))


def old_bennett_delta(eps: float, *, eps0: float, n: int) -> float:
    """The first version's form for Laplace noise: its mean over M >= 1 is divided by t M, t = e^eps - 1, too often.

    1/(gamma n) sum_{m >= 1} Bin(m; n, gamma) b_+/(t m log(1 + t b_+/c)) exp(-m (c/b_+^2) phi(t b_+/c)).
    Bennett's tail, integrated, gives it without t m (`gspa.accountant.blanket_forms`): no upper bound where t m > 1.
    """
    gamma, _, _, top, square = blanket_moments(eps, eps0=eps0, randomizer="laplace")
    if top <= 0:
        return 0.0
    t = math.expm1(eps)
    u = t * top / square
    law = binom(n, gamma)
    m = np.arange(max(law.ppf(1e-60), 1), law.isf(1e-60) + 1)
    terms = law.pmf(m) / m * np.exp(-m * (square * ((1 + u) * math.log1p(u) - u) / top**2))
    return float(terms.sum()) * top / (t * math.log1p(u)) / (gamma * n)


def old_bennett_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """The eps at which `old_bennett_delta` is delta; no upper bound. Refused where it would not be below eps0."""
    if eps0 > 100:
        raise OutsideValidity(OLD, "eps0 <= 100", f"eps0 = {eps0:g}")

    def above(eps: float) -> float:
        return old_bennett_delta(eps, eps0=eps0, n=n) - delta

    low, high = 1e-6 * eps0, eps0 * (1 - 1e-9)
    if above(high) > 0:
        raise OutsideValidity(OLD, "n so large that its value is below eps0", f"eps0 = {eps0:g}, n = {n}")
    return float(brentq(above, low, high, xtol=1e-12 * low, rtol=1e-12))


def old_form_excess(setting: Setting) -> float:
    """Exact delta of the padded coordinate over that of the first version's form, at the form's own eps_ck.

    A lower bound on the ratio. Above 1 the form is below what it is said to bound.
    """
    share = setting.delta / (2 * setting.k + 1) / setting.beta
    eps = old_bennett_epsilon(setting.eps, n=setting.n_p, delta=share)
    return coordinate(Laplace(setting.eps), n_p=setting.n_p).delta(eps).lower / share


def coordinate_epsilon(bound: str, eps: float, *, n: int, delta: float, b: int = 2) -> float:
    """eps of one coordinate of n reports by one of `BOUNDS`.

    "bennett" and "hoeffding" are proved, "exact" is the certified upper end of what they bound; "lemma1" is
    as printed, with b answers; "old_bennett" is not a bound. Refused where a form's value would not be below eps.
    """
    if bound == "lemma1":
        return lemma1_epsilon(eps, n=n, delta=delta, answers=b)
    if bound == "old_bennett":
        return old_bennett_epsilon(eps, n=n, delta=delta)
    if bound == "exact":
        return coordinate(Laplace(eps), n_p=n).epsilon(delta)
    return blanket_epsilon(eps, n=n, delta=delta, form=bound, randomizer="laplace")


def subsampled(eps: float, *, beta: float) -> float:
    """Lemma 4: log(1 + beta (e^eps - 1)).

    >>> subsampled(0.5, beta=1.0)
    0.5
    """
    if eps > 700:  # e^eps is no double, and what it is added to is nothing beside it
        return eps + math.log(beta)
    return math.log1p(beta * math.expm1(eps))


def composed(eps: float, *, delta: float, folds: int) -> float:
    """Lemmas 2 and 3 as Theorem 1 joins them: min(t eps, eps sqrt(2 t log(1/delta)) + t eps (e^eps - 1)).

    With (eps, delta) for each of t = `folds` coordinates it holds at (t + 1) delta.

    >>> composed(0.5, delta=1e-6, folds=2)
    1.0
    """
    growth = math.expm1(min(eps, 700.0))  # beyond, t eps is less anyway
    return min(folds * eps, eps * math.sqrt(2 * folds * math.log(1 / delta)) + folds * eps * growth)


def simple(setting: Setting, *, bound: str, b: int = 2) -> Printed:
    """Theorem 1, eqs. (2) and (3): d coordinates of n reports; the setting is a `full` one."""
    share = setting.delta / (setting.d + 1)
    one = coordinate_epsilon(bound, setting.eps, n=setting.n, delta=share, b=b)
    return Printed(one, composed(one, delta=share, folds=setting.d), share)


def double(setting: Setting, *, bound: str, b: int = 2, subsampling: bool = True) -> Printed:
    """Theorems 3 and 4: 2 beta d = 2 k folds of one padded coordinate.

    Without `subsampling` it is the paper's "without the amplification from subsampling".
    """
    folds = 2 * setting.k
    share = setting.delta / (folds + 1)
    before = share / setting.beta if subsampling else share
    one = coordinate_epsilon(bound, setting.eps, n=setting.n_p, delta=before, b=b)
    one = subsampled(one, beta=setting.beta) if subsampling else one
    return Printed(one, composed(one, delta=share, folds=folds), share)


def corollary2(setting: Setting) -> float:
    """Corollary 2 without its constant: (1 and eps) e^eps log(d/delta) sqrt(d/n)."""
    scale = min(1.0, setting.eps) * math.exp(setting.eps)
    return scale * math.log(setting.d / setting.delta) * math.sqrt(setting.d / setting.n)

"""The published bounds as one table: where each is stated, when it applies, for which randomizers it holds.

To add one: write its function in a module of its kind, then one `PublishedBound` here; `compare` evaluates them all.
Gaussian reports have no finite local eps: their bounds are `GAUSSIAN`, for `compare_gaussian`.

>>> sorted(key for key, bound in CATALOGUE.items() if "laplace" in bound.families and bound.rigorous)
['blanket_laplace', 'su25']
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gspa.accountant import arguments as check
from gspa.accountant import laplace_gaussian
from gspa.accountant.blanket_forms import (
    BLANKET,
    WANG24,
    blanket_delta,
    blanket_epsilon,
    blanket_moments,
    wang24_epsilon,
)
from gspa.accountant.budgets import Budgets, constant, repeat_first
from gspa.accountant.closed_forms import (
    BLOG,
    ERLINGSSON19,
    FMT23,
    GIRGIS21,
    READINGS,
    clone_probabilities,
    clones_blog_epsilon,
    erlingsson19_epsilon,
    fmt21_epsilon,
    fmt21_total_delta,
    fmt23_epsilon,
    girgis21_epsilon,
    girgis21_renyi,
    gspa_delta,
    gspa_epsilon,
    gspa_mu,
    gspa_slack,
    liew22_epsilon,
    liew22_renyi,
    liu23_clones,
    liu23_epsilon,
    liu24_clones,
    liu24_epsilon,
    renyi_to_epsilon,
    require_pure,
)
from gspa.accountant.errors import OutsideValidity
from gspa.accountant.families import Family, binary, common
from gspa.accountant.one_round import central_epsilon
from gspa.accountant.tradeoff import gdp_epsilon

__all__ = [
    "CATALOGUE",
    "FAMILIES",
    "GAUSSIAN",
    "READINGS",
    "BoundRow",
    "GaussianBound",
    "PublishedBound",
    "blanket_delta",
    "blanket_epsilon",
    "blanket_moments",
    "clone_probabilities",
    "clones_blog_epsilon",
    "compare",
    "compare_gaussian",
    "epsilon_curve",
    "erlingsson19_epsilon",
    "fmt21_epsilon",
    "fmt21_total_delta",
    "fmt23_epsilon",
    "girgis21_epsilon",
    "girgis21_renyi",
    "gspa_delta",
    "gspa_epsilon",
    "gspa_mu",
    "gspa_slack",
    "liew22_epsilon",
    "liew22_renyi",
    "liu23_clones",
    "liu23_epsilon",
    "liu24_clones",
    "liu24_epsilon",
    "renyi_to_epsilon",
    "wang24_epsilon",
]


# --- the catalogue -------------------------------------------------------------------------------------------

FAMILIES: Mapping[str, str] = {
    "common": "one pure eps0-LDP randomizer for all users, any",
    "rr": "binary randomized response",
    "krr": "k-ary randomized response, any k >= 2",
    "laplace": "Laplace noise of scale 1/eps_i on inputs in [0, 1]",
    "clip_laplace": "Laplace noise of scale 1/eps_i on inputs in [0, 1], conditioned on [0, 1]",
}
"""Families of local randomizers that a bound can be asked about, and what they are."""

MIXTURES = frozenset({"rr", "krr"})
"""Families in which a smaller eps is the largest one with the input randomized first.

Users with different eps_i are then a mixture, over inputs, of users who all have the largest, and a bound
for one common eps0 holds for them: the hockey-stick divergence is jointly convex. For Laplace noise it
is not so, and the bounds fail: one user at eps = 2 among 9,999 at 0.01 stands out by the others' tails.
"""

_REMEMBERED = 256  # values of each bound
_SIGMA = (1e-150, 1e150)  # scales that the evaluation of the blanket takes


@dataclass(frozen=True)
class PublishedBound:
    """One entry of the catalogue.

    Attributes:
        key: short name, stable.
        label: name for figures.
        source: where it is stated.
        conditions: when it applies, in words and symbols.
        valid_for: the class of local randomizers for which it is established.
        families: the keys of `FAMILIES` for which it is established; "common" stands for all of them.
        personalized: takes different eps_i; otherwise it is given the largest.
        rigorous: an upper bound by a proof that stands, for `families`, rather than an estimate.
        epsilon: (budgets, delta) to the central epsilon; raises OutsideValidity.
    """

    key: str
    label: str
    source: str
    conditions: str
    valid_for: str
    families: frozenset[str]
    personalized: bool
    rigorous: bool
    epsilon: Callable[[Budgets, float], float]

    def objection(self, budgets: Budgets, family: str) -> str:
        """Why the bound does not hold for these users of one family; empty if it does.

        >>> from gspa.accountant import budgets
        >>> CATALOGUE["fmt23"].objection(budgets.constant(0.5, n=100), "laplace")
        'not established for Laplace noise of scale 1/eps_i on inputs in [0, 1]'
        """
        if not self.families & {"common", family}:
            return f"not established for {FAMILIES[family]}"
        if not self.personalized and budgets.eps_min < budgets.eps_max and family not in MIXTURES:
            return f"needs one randomizer for all users; eps_i from {budgets.eps_min:g} to {budgets.eps_max:g}"
        return ""


def _common(name: str, epsilon: Callable[[float, int, float], float]) -> Callable[[Budgets, float], float]:
    """A bound (eps0, n, delta) for one pure common randomizer, given the largest eps_i.

    Populations that agree in these three share one evaluation: half of Figure 2's do.
    """
    once = lru_cache(maxsize=_REMEMBERED)(epsilon)

    def found(budgets: Budgets, delta: float) -> float:
        require_pure(name, budgets)
        return once(budgets.eps_max, budgets.n, delta)

    return found


def _pair(eps0: float, n: int, delta: float, mechanism: Family) -> float:
    """Upper end of the certified interval of a clone pair, for one common budget."""
    return central_epsilon(constant(eps0, n=n), delta=delta, mechanism=mechanism).upper


def _evaluated(eps0: float, n: int, delta: float) -> float:
    """Upper end of the certified interval of the blanket's value for Laplace noise of one scale."""
    if 0 < eps0 < _SIGMA[0]:
        raise OutsideValidity(SU25, f"eps0 = 0 or eps0 >= {_SIGMA[0]:g}", f"eps0 = {eps0:g}")
    return laplace_gaussian.blanket_epsilon(constant(eps0, n=n), delta=delta).upper


SU25 = "Su, Cheng and Wang 2025, the blanket evaluated"
FMT21_NUMERICAL = "Feldman, McMillan and Talwar 2021, numerical"
FMT23_NUMERICAL = "Feldman, McMillan and Talwar 2023, numerical"
_COMMON = "any common eps0-LDP randomizer (one randomizer for all users)"
_BALLE = "Balle, Bell, Gascon and Nissim, CRYPTO 2019, arXiv:1903.02837"
_BELOW_EPS0 = "n so large that its value is below eps0"

CATALOGUE: Mapping[str, PublishedBound] = {
    bound.key: bound
    for bound in (
        PublishedBound(
            key="gspa",
            label="GSPA",
            source="Chen, Cao and Ge, AAAI 2024, Theorem 2 and Fact 3",
            conditions="n >= 2; the slack C/sqrt(n-1) and the victim's delta_n are dropped",
            valid_for=(
                "stated for any PLDP; established only as a Gaussian limit for families with aligned clones, "
                "such as personalized binary randomized response"
            ),
            families=frozenset({"rr"}),
            personalized=True,
            rigorous=False,
            epsilon=lambda budgets, delta: gspa_epsilon(budgets, delta=delta),
        ),
        PublishedBound(
            key="erlingsson19",
            label="Erlingsson19",
            source="Erlingsson et al., SODA 2019, arXiv:1811.12469",
            conditions="eps0 <= 1/2, delta <= 0.01, n >= max(1000, 144 log(1/delta))",
            valid_for=_COMMON,
            families=frozenset({"common"}),
            personalized=False,
            rigorous=True,
            epsilon=_common(ERLINGSSON19, lambda eps0, n, delta: erlingsson19_epsilon(eps0, n=n, delta=delta)),
        ),
        PublishedBound(
            key="fmt21",
            label="FMT21",
            source="Feldman, McMillan and Talwar, FOCS 2021, arXiv:2012.12803, Theorems 3.1 and 3.8",
            conditions="eps0 <= log(n/(16 log(2/delta)))",
            valid_for=_COMMON,
            families=frozenset({"common"}),
            personalized=False,
            rigorous=True,
            epsilon=lambda budgets, delta: fmt21_epsilon(
                budgets.eps_max, n=budgets.n, delta=delta, delta0=budgets.delta_max
            ),
        ),
        PublishedBound(
            key="clones_blog",
            label="Clones blog",
            source="C. Canonne, differentialprivacy.org, 2022, eq. (1)",
            conditions="eps0 <= log(n/(16 log(2/delta)))",
            valid_for=_COMMON,
            families=frozenset({"common"}),
            personalized=False,
            rigorous=True,
            epsilon=_common(BLOG, lambda eps0, n, delta: clones_blog_epsilon(eps0, n=n, delta=delta)),
        ),
        PublishedBound(
            key="fmt23",
            label="FMT23",
            source="Feldman, McMillan and Talwar, SODA 2023, arXiv:2208.04591, Theorem 3.2",
            conditions="eps0 <= log(n/(8 log(2/delta)) - 1)",
            valid_for=(
                "binary randomized response, and the restricted class of its authors' erratum; "
                "not any eps0-LDP randomizer, as first stated"
            ),
            families=frozenset({"rr"}),
            personalized=False,
            rigorous=True,
            epsilon=_common(FMT23, lambda eps0, n, delta: fmt23_epsilon(eps0, n=n, delta=delta)),
        ),
        PublishedBound(
            key="wang24",
            label="Wang24",
            source="Wang et al., 2024, arXiv:2304.05007, closed form at the largest total variation",
            conditions="n > 8 (e^eps0 + 1) log(4/delta)",
            valid_for=(
                "binary randomized response; stated for any common eps0-LDP randomizer, "
                "by a step that fails where a user may answer neither clone"
            ),
            families=frozenset({"rr"}),
            personalized=False,
            rigorous=True,
            epsilon=_common(WANG24, lambda eps0, n, delta: wang24_epsilon(eps0, n=n, delta=delta)),
        ),
        PublishedBound(
            key="blanket_hoeffding",
            label="Blanket, Hoeffding",
            source=f"{_BALLE}, Hoeffding form with the generic constants",
            conditions=_BELOW_EPS0,
            valid_for=_COMMON,
            families=frozenset({"common"}),
            personalized=False,
            rigorous=True,
            epsilon=_common(BLANKET, lambda eps0, n, delta: blanket_epsilon(eps0, n=n, delta=delta, form="hoeffding")),
        ),
        PublishedBound(
            key="blanket_bennett",
            label="Blanket, Bennett",
            source=f"{_BALLE}, Bennett form with the generic constants",
            conditions=_BELOW_EPS0,
            valid_for=_COMMON,
            families=frozenset({"common"}),
            personalized=False,
            rigorous=True,
            epsilon=_common(BLANKET, lambda eps0, n, delta: blanket_epsilon(eps0, n=n, delta=delta)),
        ),
        PublishedBound(
            key="blanket_rr",
            label="Blanket, RR",
            source=f"{_BALLE}, Hoeffding form for randomized response, k = 2",
            conditions=_BELOW_EPS0,
            valid_for="binary randomized response",
            families=frozenset({"rr"}),
            personalized=False,
            rigorous=True,
            epsilon=_common(
                BLANKET,
                lambda eps0, n, delta: blanket_epsilon(eps0, n=n, delta=delta, form="hoeffding", randomizer="krr"),
            ),
        ),
        PublishedBound(
            key="blanket_laplace",
            label="Blanket, Laplace",
            source=f"{_BALLE}, Bennett form for Laplace noise",
            conditions=_BELOW_EPS0,
            valid_for="Laplace noise of one scale 1/eps0 on inputs in [0, 1]",
            families=frozenset({"laplace"}),
            personalized=False,
            rigorous=True,
            epsilon=_common(
                BLANKET, lambda eps0, n, delta: blanket_epsilon(eps0, n=n, delta=delta, randomizer="laplace")
            ),
        ),
        PublishedBound(
            key="su25",
            label="Su25 (blanket, evaluated)",
            source=(
                "Su, Cheng and Wang 2025 (GPARV), arXiv:2504.07414: the blanket of Balle et al. 2019, the best of all "
                "decompositions, evaluated instead of bounded; here by `laplace_gaussian`, from above"
            ),
            conditions="eps0 = 0 or eps0 >= 1e-150",
            valid_for="Laplace noise of one scale 1/eps0 on inputs in [0, 1]",
            families=frozenset({"laplace"}),
            personalized=False,
            rigorous=True,
            epsilon=_common(SU25, _evaluated),
        ),
        PublishedBound(
            key="liu24",
            label="Liu24",
            source="Liu et al. 2024, arXiv:2407.18157, read from the authors' code",
            conditions="n >= 2, eps_i <= 700, a delta that some eps up to the largest eps_i meets",
            valid_for=(
                "stated for personalized Laplace noise on [0, 1], among others; false for eps0 = 4, where an attack "
                "has ten times its delta"
            ),
            families=frozenset({"laplace"}),
            personalized=True,
            rigorous=False,
            epsilon=lambda budgets, delta: liu24_epsilon(budgets, delta=delta),
        ),
        PublishedBound(
            key="liu23",
            label="Liu23",
            source="Liu et al., AAAI 2024, arXiv:2304.05516 (Echo), read from the authors' code",
            conditions="S >= 16 log(4/delta), S the expected number of echoes of the largest eps_i",
            valid_for=(
                "stated for personalized Laplace noise clipped to [0, 1]; false for one very large eps_i among "
                "small ones"
            ),
            families=frozenset({"clip_laplace"}),
            personalized=True,
            rigorous=False,
            epsilon=lambda budgets, delta: liu23_epsilon(budgets, delta=delta),
        ),
        PublishedBound(
            key="fmt21_numerical",
            label="FMT21, numerical",
            source="Feldman, McMillan and Talwar, FOCS 2021, arXiv:2012.12803, Theorem 3.1's pair, evaluated",
            conditions="none",
            valid_for=_COMMON,
            families=frozenset({"common"}),
            personalized=False,
            rigorous=True,
            epsilon=_common(FMT21_NUMERICAL, lambda eps0, n, delta: _pair(eps0, n, delta, common())),
        ),
        PublishedBound(
            key="fmt23_numerical",
            label="FMT23, numerical",
            source="Feldman, McMillan and Talwar, SODA 2023, arXiv:2208.04591, Theorem 3.2's pair, evaluated",
            conditions="none",
            valid_for="binary randomized response, and the restricted class of its authors' erratum",
            families=frozenset({"rr"}),
            personalized=False,
            rigorous=True,
            epsilon=_common(FMT23_NUMERICAL, lambda eps0, n, delta: _pair(eps0, n, delta, binary())),
        ),
        PublishedBound(
            key="girgis21",
            label="Girgis21 (Renyi)",
            source=(
                "Girgis et al., CCS 2021, arXiv:2105.05180, converted at the best integer order by "
                "Canonne, Kamath and Steinke 2020, Proposition 12"
            ),
            conditions="n >= 2",
            valid_for=_COMMON,
            families=frozenset({"common"}),
            personalized=False,
            rigorous=True,
            epsilon=_common(GIRGIS21, lambda eps0, n, delta: girgis21_epsilon(eps0, n=n, delta=delta)),
        ),
    )
}
"""Every published bound on reports with a finite local eps, by key.

:meta hide-value:
"""


@dataclass(frozen=True)
class GaussianBound:
    """One entry for shuffled Gaussian reports of values in [0, 1].

    Attributes:
        key: short name, stable.
        label: name for figures.
        source: where it is stated.
        conditions: when it applies, in words and symbols.
        valid_for: for which inputs it is established.
        rigorous: an upper bound by a proof that stands, for any inputs.
        epsilon: (sigma, n, delta) to the central epsilon; raises OutsideValidity.
    """

    key: str
    label: str
    source: str
    conditions: str
    valid_for: str
    rigorous: bool
    epsilon: Callable[[float, int, float], float]


GAUSSIAN: Mapping[str, GaussianBound] = {
    bound.key: bound
    for bound in (
        GaussianBound(
            key="takagi26",
            label="Takagi26 (blanket, evaluated)",
            source=(
                "Takagi and Liew 2026, arXiv:2601.19154: the blanket of Balle et al. 2019 beyond pure local privacy, "
                "evaluated at a finite n; here by `laplace_gaussian`, from above"
            ),
            conditions="sigma in [1e-150, 1e150]",
            valid_for="Gaussian noise of one sigma on any inputs in [0, 1]",
            rigorous=True,
            epsilon=lambda sigma, n, delta: (
                laplace_gaussian.blanket_epsilon([sigma], count=[n], delta=delta, mechanism="gaussian").upper
            ),
        ),
        GaussianBound(
            key="liew22",
            label="Liew22 (Renyi)",
            source="Liew, Hasegawa and Takahashi 2022, arXiv:2206.03151, and the authors' code (shuffgauss)",
            conditions="sigma in [1e-100, 1e150]; integer orders up to 1024",
            valid_for=(
                "stated for Gaussian noise of one sigma on inputs in [0, 1]; its divergence is exact in one direction "
                "where all other inputs are equal, and the rest is not checked here"
            ),
            rigorous=False,
            epsilon=lambda sigma, n, delta: liew22_epsilon(sigma, n=n, delta=delta),
        ),
    )
}
"""Every published bound on Gaussian reports, by key.

:meta hide-value:
"""


# --- evaluated and compared for one population ---------------------------------------------------------------
# >>> from gspa.accountant import budgets
# >>> for row in compare(budgets.constant(0.5, n=10_000), delta=1e-4, mechanism="laplace"):
# ...     if row.valid:
# ...         print(row.key, round(row.epsilon, 4))
# fmt21_numerical 0.0111
# blanket_laplace 0.0131
# girgis21 0.0299
# blanket_hoeffding 0.0373
# blanket_bennett 0.0642
# fmt21 0.079
# clones_blog 0.1517
# erlingsson19 0.1821
#
# The table of the bounds is `gspa.accountant.published`; their functions can all be had from here as well.

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BoundRow:
    """What one published bound says about one population; `epsilon` is None if it refuses.

    `valid`: it has a value, and is established for the mechanism that was asked for, if one was.
    `trivial`: the value is at least the largest eps_i, which holds without shuffling.
    `note`: the reason of a refusal, or what to know about the value.
    """

    key: str
    label: str
    epsilon: float | None
    valid: bool
    valid_for: str
    note: str
    source: str
    trivial: bool
    families: list[str]  # a list, so that JSON gives the same row back
    rigorous: bool


def _row(bound: PublishedBound, budgets: Budgets, delta: float, mechanism: str | None = None) -> BoundRow:
    epsilon: float | None = None
    notes = []
    objection = "" if mechanism is None else bound.objection(budgets, mechanism)
    if objection:
        notes.append(objection)
    else:
        try:
            epsilon = bound.epsilon(budgets, delta)
        except OutsideValidity as refusal:
            notes.append(str(refusal))
    trivial = epsilon is not None and epsilon >= budgets.eps_max
    if epsilon is not None:
        if not bound.personalized and budgets.eps_min < budgets.eps_max:
            notes.append(f"given the largest eps_i, {budgets.eps_max:g}, as the common eps0")
        if not bound.rigorous:
            notes.append("an estimate, not a certified upper bound")
        if trivial:
            notes.append("no smaller than the largest eps_i: holds without shuffling")
    note = "; ".join(notes)
    return BoundRow(
        key=bound.key,
        label=bound.label,
        epsilon=epsilon,
        valid=epsilon is not None,
        valid_for=bound.valid_for,
        note=note,
        source=bound.source,
        trivial=trivial,
        families=sorted(bound.families),
        rigorous=bound.rigorous,
    )


def compare(
    budgets: Budgets, *, delta: float, mechanism: str | None = None, keys: Collection[str] | None = None
) -> list[BoundRow]:
    """Every published bound for one population, the smallest epsilon first, refusals last.

    Args:
        budgets: the users' local budgets.
        delta: central delta in (0, 1).
        mechanism: the users' local randomizer, a key of `FAMILIES`. Bounds that are not established for it
            refuse, and so do those for one common randomizer where different eps_i break them. If not
            given, every bound speaks for the randomizers it is made for: see `valid_for`.
        keys: only these keys of `CATALOGUE`; the evaluated ones take tenths of a second.

    Raises:
        InvalidValue: delta out of range. A bound outside its conditions is a row, not an error.
        UnknownName: no such mechanism or bound.

    >>> from gspa.accountant import budgets
    >>> [row.key for row in compare(budgets.mixed_constant(n=1000), delta=1e-4, mechanism="clip_laplace") if row.valid]
    ['liu23']
    """
    delta = check.probability(allow_zero=False, delta=delta)
    if mechanism is not None:
        mechanism = check.one_of(FAMILIES, mechanism=mechanism)
    chosen = CATALOGUE if keys is None else [check.one_of(CATALOGUE, bound=key) for key in keys]
    return _ranked(_row(CATALOGUE[key], budgets, delta, mechanism) for key in chosen)


def _ranked(rows: Iterable[BoundRow]) -> list[BoundRow]:
    return sorted(rows, key=lambda row: math.inf if row.epsilon is None else row.epsilon)


def compare_gaussian(*, sigma: float, n: int, delta: float) -> list[BoundRow]:
    """Every bound of `GAUSSIAN` for n shuffled reports of [0, 1], the smallest epsilon first, refusals last.

    Args:
        sigma: standard deviation of everybody's noise, in [1e-150, 1e150].
        n: number of users, >= 1.
        delta: central delta in (0, 1).

    Returns:
        Rows as `compare`; `trivial` is a value that one Gaussian report has without shuffling.

    Raises:
        InvalidValue: an argument out of range. A bound outside its conditions is a row, not an error.

    >>> [row.key for row in compare_gaussian(sigma=1.0, n=10_000, delta=1e-6)]
    ['takagi26', 'liew22']
    """
    sigma, n = check.in_range(*_SIGMA, sigma=sigma), check.count(n=n)
    delta = check.probability(allow_zero=False, delta=delta)
    alone = gdp_epsilon(delta=delta, mu=1 / sigma)
    rows = []
    for bound in GAUSSIAN.values():
        epsilon, notes = None, [] if bound.rigorous else ["an estimate, not a certified upper bound"]
        try:
            epsilon = bound.epsilon(sigma, n, delta)
        except OutsideValidity as refusal:
            notes = [str(refusal)]
        trivial = epsilon is not None and epsilon >= alone
        if trivial:
            notes.append("no smaller than one report's own eps: holds without shuffling")
        rows.append(
            BoundRow(
                key=bound.key,
                label=bound.label,
                epsilon=epsilon,
                valid=epsilon is not None,
                valid_for=bound.valid_for,
                note="; ".join(notes),
                source=bound.source,
                trivial=trivial,
                families=["gaussian"],
                rigorous=bound.rigorous,
            )
        )
    return _ranked(rows)


def epsilon_curve(key: str, budgets: Budgets, *, sizes: Iterable[int], delta: float) -> Array:
    """One bound's epsilon over population sizes, NaN where it refuses: a line of Figure 2.

    The given users are repeated to each size, as `budgets.repeat_first`; equal budgets are
    merged first, so a size costs no more than the number of distinct users.

    Args:
        key: a key of `CATALOGUE`.
        budgets: the users to repeat.
        sizes: numbers of users, each >= 1.
        delta: central delta in (0, 1).

    Raises:
        InvalidValue: a size or delta out of range.
        UnknownName: no such bound.

    >>> from gspa.accountant import budgets
    >>> epsilon_curve("erlingsson19", budgets.constant(0.5, n=1), sizes=[1000, 10_000], delta=1e-4).round(3)
    array([  nan, 0.182])
    """
    bound = CATALOGUE[check.one_of(CATALOGUE, bound=key)]
    delta = check.probability(allow_zero=False, delta=delta)
    epsilons = []
    for n in check.row(sizes=sizes):
        row = _row(bound, repeat_first(budgets, n=n), delta)
        epsilons.append(math.nan if row.epsilon is None else row.epsilon)
    return np.array(epsilons, dtype=np.float64)

"""The published bounds as one table: where each is stated, when it applies, for which randomizers it holds.

To add one: write its function in a module of its kind, then one `PublishedBound` here; `compare` evaluates them all.

>>> sorted(key for key, bound in CATALOGUE.items() if "laplace" in bound.families and bound.rigorous)
['blanket_laplace', 'su25']
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

from gspa.accountant import arguments as check
from gspa.accountant import closed_forms as forms
from gspa.accountant import laplace_gaussian
from gspa.accountant.blanket_forms import blanket_epsilon, wang24_epsilon
from gspa.accountant.budgets import Budgets, constant
from gspa.accountant.errors import OutsideValidity
from gspa.accountant.one_round import central_epsilon
from gspa.accountant.randomizers import Common, RandomizedResponse, Randomizer

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
_LEAST = 1e-150  # eps0 > 0 that the evaluation of the blanket takes


@dataclass(frozen=True)
class PublishedBound:
    """One entry of the catalogue: the formula, where it is stated, when it applies and for whom it holds.

    Attributes:
        key: short name, stable.
        label: name for figures.
        source: where it is stated.
        conditions: when it applies, in words and symbols.
        valid_for: the class of local randomizers for which it is established.
        epsilon: (budgets, delta=) to the central eps; raises OutsideValidity.
        families: the keys of `FAMILIES` for which it is established; "common" stands for all of them.
        personalized: takes different eps_i; otherwise it is given the largest.
        rigorous: an upper bound by a proof that stands, for `families`, rather than an estimate.
    """

    key: str
    label: str
    source: str
    conditions: str
    valid_for: str
    epsilon: Callable[..., float]
    families: frozenset[str]
    personalized: bool = False
    rigorous: bool = True

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


_ANY = "any common eps0-LDP randomizer (one randomizer for all users)"
_ONE_SCALE = "Laplace noise of one scale 1/eps0 on inputs in [0, 1]"
_BALLE = "Balle, Bell, Gascon and Nissim, CRYPTO 2019, arXiv:1903.02837"
_FMT21 = "Feldman, McMillan and Talwar, FOCS 2021, arXiv:2012.12803"
_FMT23 = "Feldman, McMillan and Talwar, SODA 2023, arXiv:2208.04591"
_CLONES = "eps0 <= log(n/(16 log(2/delta)))"
_BELOW_EPS0 = "n so large that its value is below eps0"


def _one(
    key: str,
    label: str,
    source: str,
    conditions: str,
    formula: Callable[..., float],
    family: str = "common",
    valid_for: str = _ANY,
) -> PublishedBound:
    """A bound formula(eps0, n=, delta=) for one pure randomizer of all, given the largest eps_i.

    Populations that agree in these three share one evaluation: half of Figure 2's do.
    """

    @lru_cache(maxsize=_REMEMBERED)
    def once(eps0: float, n: int, delta: float) -> float:
        return formula(eps0, n=n, delta=delta)

    def epsilon(budgets: Budgets, *, delta: float) -> float:
        forms.require_pure(label, budgets)
        return once(budgets.eps_max, budgets.n, delta)

    return PublishedBound(key, label, source, conditions, valid_for, epsilon, frozenset({family}))


def _each(
    key: str, label: str, source: str, conditions: str, formula: Callable[..., float], family: str, valid_for: str
) -> PublishedBound:
    """An estimate for users with budgets of their own."""
    own = {"personalized": True, "rigorous": False}
    return PublishedBound(key, label, source, conditions, valid_for, formula, frozenset({family}), **own)


def _pair(eps0: float, *, n: int, delta: float, mechanism: Randomizer) -> float:
    """Upper end of the certified interval of a clone pair, for one common budget."""
    return central_epsilon(constant(eps0, n=n), delta=delta, mechanism=mechanism).upper


def _evaluated(eps0: float, *, n: int, delta: float) -> float:
    """Upper end of the certified interval of the blanket's value for Laplace noise of one scale."""
    if 0 < eps0 < _LEAST:
        condition = f"eps0 = 0 or eps0 >= {_LEAST:g}"
        raise OutsideValidity("Su, Cheng and Wang 2025, the blanket evaluated", condition, f"eps0 = {eps0:g}")
    return laplace_gaussian.blanket_epsilon(constant(eps0, n=n), delta=delta).upper


CATALOGUE: Mapping[str, PublishedBound] = {
    bound.key: bound
    for bound in (
        _each(
            *("gspa", "GSPA", "Chen, Cao and Ge, AAAI 2024, Theorem 2 and Fact 3"),
            "n >= 2; the slack C/sqrt(n-1) and the victim's delta_n are dropped",
            forms.gspa_epsilon,
            "rr",
            "stated for any PLDP; established only as a Gaussian limit for families with aligned clones, "
            "such as personalized binary randomized response",
        ),
        _one(
            *("erlingsson19", "Erlingsson19", "Erlingsson et al., SODA 2019, arXiv:1811.12469"),
            "eps0 <= 1/2, delta <= 0.01, n >= max(1000, 144 log(1/delta))",
            forms.erlingsson19_epsilon,
        ),
        PublishedBound(
            key="fmt21",
            label="FMT21",
            source=f"{_FMT21}, Theorems 3.1 and 3.8",
            conditions=_CLONES,
            valid_for=_ANY,
            epsilon=lambda budgets, *, delta: forms.fmt21_epsilon(
                budgets.eps_max, n=budgets.n, delta=delta, delta0=budgets.delta_max
            ),
            families=frozenset({"common"}),
        ),
        _one(
            *("clones_blog", "Clones blog", "C. Canonne, differentialprivacy.org, 2022, eq. (1)", _CLONES),
            forms.clones_blog_epsilon,
        ),
        _one(
            *("fmt23", "FMT23", f"{_FMT23}, Theorem 3.2", "eps0 <= log(n/(8 log(2/delta)) - 1)"),
            forms.fmt23_epsilon,
            "rr",
            "binary randomized response, and the restricted class of its authors' erratum; "
            "not any eps0-LDP randomizer, as first stated",
        ),
        _one(
            *("wang24", "Wang24", "Wang et al., 2024, arXiv:2304.05007, closed form at the largest total variation"),
            "n > 8 (e^eps0 + 1) log(4/delta)",
            wang24_epsilon,
            "rr",
            "binary randomized response; stated for any common eps0-LDP randomizer, by a step that fails where a user "
            "may answer neither clone",
        ),
        _one(
            *("blanket_hoeffding", "Blanket, Hoeffding", f"{_BALLE}, Hoeffding form with the generic constants"),
            _BELOW_EPS0,
            partial(blanket_epsilon, form="hoeffding"),
        ),
        _one(
            *("blanket_bennett", "Blanket, Bennett", f"{_BALLE}, Bennett form with the generic constants"),
            _BELOW_EPS0,
            blanket_epsilon,
        ),
        _one(
            *("blanket_rr", "Blanket, RR", f"{_BALLE}, Hoeffding form for randomized response, k = 2", _BELOW_EPS0),
            partial(blanket_epsilon, form="hoeffding", randomizer="krr"),
            *("rr", "binary randomized response"),
        ),
        _one(
            *("blanket_laplace", "Blanket, Laplace", f"{_BALLE}, Bennett form for Laplace noise", _BELOW_EPS0),
            partial(blanket_epsilon, randomizer="laplace"),
            *("laplace", _ONE_SCALE),
        ),
        _one(
            *("su25", "Su25 (blanket, evaluated)"),
            "Su, Cheng and Wang 2025 (GPARV), arXiv:2504.07414: the blanket of Balle et al. 2019, the best of all "
            "decompositions, evaluated instead of bounded; here by `laplace_gaussian`, from above",
            "eps0 = 0 or eps0 >= 1e-150",
            _evaluated,
            *("laplace", _ONE_SCALE),
        ),
        _each(
            *("liu24", "Liu24", "Liu et al. 2024, arXiv:2407.18157, read from the authors' code"),
            "n >= 2, eps_i <= 700, a delta that some eps up to the largest eps_i meets",
            forms.liu24_epsilon,
            "laplace",
            "stated for personalized Laplace noise on [0, 1], among others; false for eps0 = 4, where an attack has "
            "ten times its delta",
        ),
        _each(
            *("liu23", "Liu23", "Liu et al., AAAI 2024, arXiv:2304.05516 (Echo), read from the authors' code"),
            "S >= 16 log(4/delta), S the expected number of echoes of the largest eps_i",
            forms.liu23_epsilon,
            "clip_laplace",
            "stated for personalized Laplace noise clipped to [0, 1]; false for one very large eps_i among small ones",
        ),
        _one(
            *("fmt21_numerical", "FMT21, numerical", f"{_FMT21}, Theorem 3.1's pair, evaluated", "none"),
            partial(_pair, mechanism=Common()),
        ),
        _one(
            *("fmt23_numerical", "FMT23, numerical", f"{_FMT23}, Theorem 3.2's pair, evaluated", "none"),
            partial(_pair, mechanism=RandomizedResponse()),
            *("rr", "binary randomized response, and the restricted class of its authors' erratum"),
        ),
        _one(
            *("girgis21", "Girgis21 (Renyi)"),
            "Girgis et al., CCS 2021, arXiv:2105.05180, converted at the best integer order by "
            "Canonne, Kamath and Steinke 2020, Proposition 12",
            "n >= 2",
            forms.girgis21_epsilon,
        ),
    )
}
"""Every published bound, by key.

:meta hide-value:
"""


# --- evaluated and compared for one population ---------------------------------------------------------------


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
    rows = []
    for key in CATALOGUE if keys is None else [check.one_of(CATALOGUE, bound=key) for key in keys]:
        bound, notes = CATALOGUE[key], []
        epsilon, refused = None, "" if mechanism is None else bound.objection(budgets, mechanism)
        if not refused:
            try:
                epsilon = bound.epsilon(budgets, delta=delta)
            except OutsideValidity as refusal:
                refused = str(refusal)
        trivial = epsilon is not None and epsilon >= budgets.eps_max
        if not refused:
            if not bound.personalized and budgets.eps_min < budgets.eps_max:
                notes.append(f"given the largest eps_i, {budgets.eps_max:g}, as the common eps0")
            if not bound.rigorous:
                notes.append("an estimate, not a certified upper bound")
            if trivial:
                notes.append("no smaller than the largest eps_i: holds without shuffling")
        note, families, valid = refused or "; ".join(notes), sorted(bound.families), epsilon is not None
        told = (bound.key, bound.label, epsilon, valid, bound.valid_for, note, bound.source, trivial, families)
        rows.append(BoundRow(*told, bound.rigorous))
    return sorted(rows, key=lambda row: math.inf if row.epsilon is None else row.epsilon)

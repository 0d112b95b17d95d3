"""The catalogue of published bounds on the central epsilon, and their comparison.

>>> from gspa import budgets
>>> for row in compare(budgets.constant(0.5, n=10_000), delta=1e-4):
...     print(row.key, row.epsilon if row.epsilon is None else round(row.epsilon, 4))
gspa 0.0518
fmt21 0.079
erlingsson19 0.1821

The bounds are functions of `gspa.closed_forms`, all of them to be had from here as well. To add
one: write its function there, then one `PublishedBound` in `CATALOGUE`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gspa import _validate as check
from gspa.budgets import Budgets, repeat_first
from gspa.closed_forms import (
    ERLINGSSON19,
    READINGS,
    clone_probabilities,
    erlingsson19_epsilon,
    fmt21_epsilon,
    fmt21_total_delta,
    gspa_delta,
    gspa_epsilon,
    gspa_mu,
)
from gspa.errors import OutsideValidity

__all__ = [
    "CATALOGUE",
    "READINGS",
    "BoundRow",
    "PublishedBound",
    "clone_probabilities",
    "compare",
    "epsilon_curve",
    "erlingsson19_epsilon",
    "fmt21_epsilon",
    "fmt21_total_delta",
    "gspa_delta",
    "gspa_epsilon",
    "gspa_mu",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PublishedBound:
    """One entry of the catalogue.

    Attributes:
        key: short name, stable.
        label: name for figures.
        source: where it is stated.
        conditions: when it applies, in words and symbols.
        valid_for: the class of local randomizers for which it is established.
        personalized: takes different eps_i; otherwise it is given the largest.
        rigorous: an upper bound by a proof that stands, rather than an estimate.
        epsilon: (budgets, delta) to the central epsilon; raises OutsideValidity.
    """

    key: str
    label: str
    source: str
    conditions: str
    valid_for: str
    personalized: bool
    rigorous: bool
    epsilon: Callable[[Budgets, float], float]


def _erlingsson19(budgets: Budgets, delta: float) -> float:
    if budgets.delta_max > 0:
        hint = f"the largest delta_i is {budgets.delta_max:g}"
        raise OutsideValidity(ERLINGSSON19, "pure local privacy, delta_i = 0", hint)
    return erlingsson19_epsilon(budgets.eps_max, n=budgets.n, delta=delta)


_COMMON = "any common eps0-LDP randomizer (one randomizer for all users)"

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
            personalized=False,
            rigorous=True,
            epsilon=_erlingsson19,
        ),
        PublishedBound(
            key="fmt21",
            label="FMT21",
            source="Feldman, McMillan and Talwar, FOCS 2021, arXiv:2012.12803, Theorems 3.1 and 3.8",
            conditions="eps0 <= log(n/(16 log(2/delta)))",
            valid_for=_COMMON,
            personalized=False,
            rigorous=True,
            epsilon=lambda budgets, delta: fmt21_epsilon(
                budgets.eps_max, n=budgets.n, delta=delta, delta0=budgets.delta_max
            ),
        ),
    )
}
"""Every published bound, by key."""


@dataclass(frozen=True)
class BoundRow:
    """What one published bound says about one population; `epsilon` is None if it refuses.

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


def _row(bound: PublishedBound, budgets: Budgets, delta: float) -> BoundRow:
    epsilon: float | None = None
    notes = []
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
    valid = epsilon is not None
    return BoundRow(bound.key, bound.label, epsilon, valid, bound.valid_for, note, bound.source, trivial)


def compare(budgets: Budgets, *, delta: float) -> list[BoundRow]:
    """Every published bound for one population, the smallest epsilon first, refusals last.

    Args:
        budgets: the users' local budgets.
        delta: central delta in (0, 1).

    Raises:
        InvalidValue: delta out of range. A bound outside its conditions is a row, not an error.

    >>> from gspa import budgets
    >>> [row.key for row in compare(budgets.constant(0.5, n=1000), delta=1e-4)]
    ['gspa', 'fmt21', 'erlingsson19']
    """
    delta = check.probability(allow_zero=False, delta=delta)
    rows = [_row(bound, budgets, delta) for bound in CATALOGUE.values()]
    return sorted(rows, key=lambda row: math.inf if row.epsilon is None else row.epsilon)


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

    >>> from gspa import budgets
    >>> epsilon_curve("erlingsson19", budgets.constant(0.5, n=1), sizes=[1000, 10_000], delta=1e-4).round(3)
    array([  nan, 0.182])
    """
    bound = CATALOGUE[check.one_of(CATALOGUE, bound=key)]
    delta = check.probability(allow_zero=False, delta=delta)
    epsilons = []
    for n in sizes:
        row = _row(bound, repeat_first(budgets, n=n), delta)
        epsilons.append(math.nan if row.epsilon is None else row.epsilon)
    return np.array(epsilons, dtype=np.float64)

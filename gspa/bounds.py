"""Published bounds on the central epsilon, evaluated and compared for one population.

>>> from gspa import budgets
>>> for row in compare(budgets.constant(0.5, n=10_000), delta=1e-4, mechanism="laplace"):
...     if row.valid:
...         print(row.key, round(row.epsilon, 4))
fmt21_numerical 0.0111
blanket_laplace 0.0131
girgis21 0.0299
blanket_hoeffding 0.0373
blanket_bennett 0.0642
fmt21 0.079
clones_blog 0.1517
erlingsson19 0.1821

The table of the bounds is `gspa.catalogue`; their functions can all be had from here as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gspa import _validate as check
from gspa.blanket_forms import blanket_delta, blanket_epsilon, blanket_moments
from gspa.budgets import Budgets, repeat_first
from gspa.catalogue import CATALOGUE, FAMILIES, PublishedBound
from gspa.clone_forms import clones_blog_epsilon, fmt23_epsilon, liu23_clones, liu23_epsilon
from gspa.closed_forms import (
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
from gspa.renyi_forms import girgis21_epsilon, girgis21_renyi, renyi_to_epsilon
from gspa.variation_ratio import krr_total_variation, laplace_total_variation, wang24_epsilon

__all__ = [
    "CATALOGUE",
    "FAMILIES",
    "READINGS",
    "BoundRow",
    "PublishedBound",
    "blanket_delta",
    "blanket_epsilon",
    "blanket_moments",
    "clone_probabilities",
    "clones_blog_epsilon",
    "compare",
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
    "krr_total_variation",
    "laplace_total_variation",
    "liu23_clones",
    "liu23_epsilon",
    "renyi_to_epsilon",
    "wang24_epsilon",
]

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


def compare(budgets: Budgets, *, delta: float, mechanism: str | None = None) -> list[BoundRow]:
    """Every published bound for one population, the smallest epsilon first, refusals last.

    Args:
        budgets: the users' local budgets.
        delta: central delta in (0, 1).
        mechanism: the users' local randomizer, a key of `FAMILIES`. Bounds that are not established for it
            refuse, and so do those for one common randomizer where different eps_i break them. If not
            given, every bound speaks for the randomizers it is made for: see `valid_for`.

    Raises:
        InvalidValue: delta out of range. A bound outside its conditions is a row, not an error.
        UnknownName: no such mechanism.

    >>> from gspa import budgets
    >>> [row.key for row in compare(budgets.mixed_constant(n=1000), delta=1e-4, mechanism="clip_laplace") if row.valid]
    ['liu23']
    """
    delta = check.probability(allow_zero=False, delta=delta)
    if mechanism is not None:
        mechanism = check.one_of(FAMILIES, mechanism=mechanism)
    rows = [_row(bound, budgets, delta, mechanism) for bound in CATALOGUE.values()]
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
    for n in check.row(sizes=sizes):
        row = _row(bound, repeat_first(budgets, n=n), delta)
        epsilons.append(math.nan if row.epsilon is None else row.epsilon)
    return np.array(epsilons, dtype=np.float64)

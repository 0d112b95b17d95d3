"""The published bounds, compared: those of `closed_forms` and `blanket_forms`, and three that are evaluated here.

>>> sorted(key for key, bound in CATALOGUE.items() if bound.family == "laplace" and bound.rigorous)
['blanket_laplace', 'su25']
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from gspa.accountant import arguments as check
from gspa.accountant import blanket_forms, laplace_gaussian
from gspa.accountant.budgets import Budgets, constant
from gspa.accountant.closed_forms import CATALOGUE, FAMILIES, FMT21, FMT23, Outside, entry
from gspa.accountant.errors import OutsideValidity
from gspa.accountant.one_round import central_epsilon
from gspa.accountant.randomizers import Common, RandomizedResponse

__all__ = ["CATALOGUE", "FAMILIES", "BoundRow", "compare"]

MIXTURES = frozenset({"rr", "krr"})
"""Families in which a smaller eps is the largest one with the input randomized first.

Users with different eps_i are then a mixture, over inputs, of users who all have the largest, and a bound
for one common eps0 holds for them: the hockey-stick divergence is jointly convex. For Laplace noise it
is not so, and the bounds fail: one user at eps = 2 among 9,999 at 0.01 stands out by the others' tails.
"""

_LEAST = 1e-150  # eps0 > 0 that the evaluation of the blanket takes


@entry("FMT21, numerical", f"{FMT21}, Theorem 3.1's pair, evaluated", "nothing")
def _fmt21_pair(eps0: float, *, n: int, delta: float) -> float:
    return central_epsilon(constant(eps0, n=n), delta=delta, mechanism=Common()).upper


@entry(
    "FMT23, numerical",
    f"{FMT23}, Theorem 3.2's pair, evaluated",
    "nothing",
    "rr",
    "binary randomized response, and the restricted class of its authors' erratum",
)
def _fmt23_pair(eps0: float, *, n: int, delta: float) -> float:
    return central_epsilon(constant(eps0, n=n), delta=delta, mechanism=RandomizedResponse()).upper


@entry(
    "Su25 (blanket, evaluated)",
    "Su, Cheng and Wang 2025 (GPARV), arXiv:2504.07414: the blanket of Balle et al. 2019, the best of all "
    "decompositions, evaluated instead of bounded; here by `laplace_gaussian`, from above",
    f"eps0 = 0 or eps0 >= {_LEAST:g}",
    "laplace",
    blanket_forms.ONE_SCALE,
)
def _su25(eps0: float, *, n: int, delta: float) -> float:
    if 0 < eps0 < _LEAST:
        raise Outside
    return laplace_gaussian.blanket_epsilon(constant(eps0, n=n), delta=delta).upper


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
    >>> mixed = budgets.draw("mixed", n=1000, rng=0)
    >>> [row.key for row in compare(mixed, delta=1e-4, mechanism="clip_laplace") if row.valid]
    ['liu23']
    """
    delta = check.probability(allow_zero=False, delta=delta)
    if mechanism is not None:
        mechanism = check.one_of(FAMILIES, mechanism=mechanism)
    rows = []
    for key in CATALOGUE if keys is None else [check.one_of(CATALOGUE, bound=key) for key in keys]:
        bound, epsilon = CATALOGUE[key], None
        largest = not bound.personalized and budgets.eps_min < budgets.eps_max
        if mechanism is not None and bound.family not in ("common", mechanism):
            note = f"not established for {FAMILIES[mechanism]}"
        elif largest and mechanism is not None and mechanism not in MIXTURES:
            note = f"needs one randomizer for all users; eps_i from {budgets.eps_min:g} to {budgets.eps_max:g}"
        else:
            try:
                epsilon = bound.epsilon(budgets, delta=delta)
            except OutsideValidity as refusal:
                note = str(refusal)
        trivial = epsilon is not None and epsilon >= budgets.eps_max
        if epsilon is not None:
            notes = {
                f"given the largest eps_i, {budgets.eps_max:g}, as the common eps0": largest,
                "an estimate, not a certified upper bound": not bound.rigorous,
                "no smaller than the largest eps_i: holds without shuffling": trivial,
            }
            note = "; ".join(words for words, so in notes.items() if so)
        told = (bound.key, bound.label, epsilon, epsilon is not None, bound.valid_for, note, bound.source, trivial)
        rows.append(BoundRow(*told, [bound.family], bound.rigorous))
    return sorted(rows, key=lambda row: math.inf if row.epsilon is None else row.epsilon)

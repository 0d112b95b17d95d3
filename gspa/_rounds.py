"""Rounds to compose: shuffled reports of discrete randomizers, reports on [0, 1], and Gaussian mechanisms.

>>> from gspa import budgets
>>> shuffled(budgets.constant(0.5, n=100)).most, gaussian(0.1).mu
(0.5, 0.1)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from gspa import _validate as check
from gspa._blanket_crowd import MOST_VICTIMS, Crowd
from gspa.accountant import Problem, _candidates, problem_of, resolve
from gspa.budgets import Budgets
from gspa.errors import InvalidValue, OutsideValidity
from gspa.randomizers import Family


@dataclass(frozen=True, eq=False)
class Round:
    """One use of a mechanism on everybody's record.

    Attributes:
        label: for messages.
        valid_for: class of mechanisms.
        problems: users one of whom is the worst; empty for a Gaussian round and for reports on [0, 1].
        reports: everybody's noise, of a round of reports on [0, 1]; the worst user at each eps counts.
        mu: of a Gaussian round, else 0.
        local_delta: probability of a revealing report.
        most: no loss is larger than this, except the infinite ones; infinite for a Gaussian round.
    """

    label: str
    valid_for: str
    problems: tuple[Problem, ...] = ()
    reports: Crowd | None = None
    mu: float = 0.0
    local_delta: float = 0.0
    most: float = math.inf


def shuffled(
    budgets: Budgets,
    *,
    mechanism: str | Family = "rr",
    k: int | None = None,
    size: int | None = None,
    tv: float | None = None,
) -> Round:
    """A round in which every user reports once and the reports are shuffled.

    Args:
        budgets: the users' local budgets in this round.
        mechanism: a name of `gspa.randomizers.MECHANISMS`, or a `Family`; "laplace" is `shuffled_reports`.
        k: number of items, for "krr" and "subset".
        size: number of items reported, for "subset".
        tv: total variation, for "tv".

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: a setting that the pair cannot certify, or whose worst user is not known.
    """
    if mechanism == "laplace":
        for name, value in (("k", k), ("size", size), ("tv", tv)):
            if value is not None:
                raise InvalidValue(name, value, "left out", 'mechanism "laplace" does not use it')
        return shuffled_reports(budgets)
    chosen = resolve(mechanism, budgets, k, size, tv)
    local = budgets.delta_max
    if budgets.eps_max == 0:
        return Round(chosen.label, chosen.valid_for, local_delta=local, most=0.0)
    indices, certain = _candidates(budgets, chosen)
    if not certain:
        hint = "which user is the worst is not known; give users fewer distinct (eps, delta)"
        raise OutsideValidity("composition", "a known worst user", hint)
    problems = tuple(problem_of(budgets, chosen, index) for index in indices if budgets.eps[index] > 0)
    return Round(chosen.label, chosen.valid_for, problems, local_delta=local, most=budgets.eps_max)


def shuffled_reports(scales: Budgets | ArrayLike, *, count: ArrayLike = 1, mechanism: str = "laplace") -> Round:
    """A round in which every user reports a value of [0, 1] with noise, and the reports are shuffled.

    Its pair has the blanket's certified delta(eps) of the user who is the worst at that eps (`gspa.blanket`); from
    below, that of a user with the least noise.

    Args:
        scales: `Budgets` (Laplace scales 1/eps_j), or noise scales > 0: Laplace b_j, or Gaussian sigma_j.
        count: how many users have each scale: a number or shape of scales; with `Budgets`, theirs counts.
        mechanism: "laplace" or "gaussian".

    Raises:
        InvalidValue: an argument outside its range; more than 64 distinct scales.
        OutsideValidity: budgets with delta_i > 0.
    """
    crowd = Crowd.of(scales, count, mechanism, (0.0, 1.0))
    victims = crowd.candidates(None)
    label = f"shuffled {mechanism} reports on [0, 1]"
    if not victims:
        return Round(label, crowd.valid_for([]), most=0.0)
    if len(victims) > MOST_VICTIMS:
        raise InvalidValue("scales", len(victims), f"at most {MOST_VICTIMS} distinct ones", "let users share scales")
    most = crowd.gap(victims[0]) if mechanism == "laplace" else math.inf
    return Round(label, crowd.valid_for(victims), reports=crowd, most=most)


def gaussian(mu: float) -> Round:
    """A round of a mu-GDP Gaussian mechanism, mu = sensitivity / sigma.

    Args:
        mu: >= 0.

    Raises:
        InvalidValue: mu out of range.
    """
    mu = check.nonnegative(mu=mu)
    return Round(f"Gaussian, mu = {mu:g}", "Gaussian mechanism", mu=mu, most=math.inf if mu > 0 else 0.0)

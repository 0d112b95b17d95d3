"""The front door: one question, asked in one way whatever the users run.

Who reports is either `eps` and `n`, one local budget for everybody, or `budgets`: `Budgets`, a sequence of local eps,
or the name of a CSV file. What they run is a mechanism, an object that carries its own parameters, or its name. All
answers are for the replacement of one user's record.

>>> from gspa.accountant.api import KRR, Gaussian, epsilon
>>> epsilon(eps=0.5, n=10_000, delta=1e-6).upper < 0.025
True
>>> epsilon(eps=0.5, n=10_000, delta=1e-6, mechanism=KRR(k=10)).valid_for.split(";")[0]
'10-ary randomized response, own eps_j each'
>>> epsilon(n=10_000, delta=1e-6, mechanism=Gaussian(sigma=1.0)).upper < 0.07
True
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from gspa.accountant import arguments as check
from gspa.accountant import attacks as histograms
from gspa.accountant import budgets as populations
from gspa.accountant import exact, families, inverse, laplace_gaussian, one_round
from gspa.accountant import rounds as composition
from gspa.accountant.attacks import attack_epsilon
from gspa.accountant.bound import Bound
from gspa.accountant.budgets import Budgets
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.families import Family
from gspa.accountant.one_round import UserBounds, honest_only, per_user_epsilon
from gspa.accountant.published import BoundRow, compare

__all__ = [
    "KRR",
    "Common",
    "Gaussian",
    "Laplace",
    "Mechanism",
    "RandomizedResponse",
    "SubsetSelection",
    "TotalVariation",
    "attack",
    "calibrate",
    "delta",
    "epsilon",
    "mechanism",
    "per_user",
    "published",
]

_CLONES = "clone probabilities"
Who = Budgets | ArrayLike | str | PathLike[str] | None


@dataclass(frozen=True)
class Mechanism:
    """What every user runs; its own parameters are its fields.

    Attributes:
        name: the word for it on the command line.
        line: reports are values of [0, 1] with noise.
    """

    name: ClassVar[str] = ""
    line: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.line:
            self.family()  # which refuses parameters out of range

    def family(self) -> Family:
        """Its clones, for `gspa.accountant.one_round`, `rounds` and `inverse`.

        Raises:
            OutsideValidity: reports on a line have none that certify anything.
        """
        raise InvalidValue("mechanism", self, "one of its kinds, such as RandomizedResponse() or KRR(k=10)")


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    """Binary randomized response, own eps each: the truth with probability e^eps/(1 + e^eps)."""

    name = "rr"

    def family(self) -> Family:
        return families.binary()


@dataclass(frozen=True)
class KRR(Mechanism):
    """k-ary randomized response, own eps each.

    Attributes:
        k: number of items, >= 2.
    """

    name = "krr"
    k: int

    def family(self) -> Family:
        return families.krr(self.k)


@dataclass(frozen=True)
class SubsetSelection(Mechanism):
    """Subset selection (Ye and Barg 2018), own eps each.

    Attributes:
        k: number of items, >= 2.
        size: items in a reported subset, 1 to k - 1.
    """

    name = "subset"
    k: int
    size: int

    def family(self) -> Family:
        return families.subset(self.k, self.size)


@dataclass(frozen=True)
class Common(Mechanism):
    """One randomizer for all, of which only its eps is known."""

    name = "common"

    def family(self) -> Family:
        return families.common()


@dataclass(frozen=True)
class TotalVariation(Mechanism):
    """One randomizer for all, of which its eps and its total variation are known.

    Attributes:
        tv: total variation, at most tanh(eps/2).
    """

    name = "tv"
    tv: float

    def family(self) -> Family:
        return families.total_variation(self.tv)


@dataclass(frozen=True)
class Laplace(Mechanism):
    """A value of [0, 1] with Laplace noise of scale 1/eps, own eps each."""

    name = "laplace"
    line = True

    def family(self) -> Family:
        # Clones exist if eps_j <= eps_n: r_j = (eps_j/eps_n) e^{-eps_j}/(1 + e^{-eps_n/2}) for the inputs 0 and 1, but
        # "neither" must be revealed, and then inputs closer together can be worse.
        reason = (
            "the victim's worst inputs are not known once its third outcome is revealed; use "
            "gspa.accountant.laplace_gaussian"
        )
        raise OutsideValidity(_CLONES, "a discrete randomizer", reason)


@dataclass(frozen=True)
class Gaussian(Mechanism):
    """A value of [0, 1] with Gaussian noise; it has no finite local eps, so `n` alone says who reports.

    Attributes:
        sigma: standard deviation of the noise, > 0.
    """

    name = "gaussian"
    line = True
    sigma: float

    def __post_init__(self) -> None:
        check.positive(sigma=self.sigma)

    def family(self) -> Family:
        reason = (
            "Gaussian tails of any two inputs have an unbounded ratio; use gspa.accountant.laplace_gaussian for an "
            "upper bound"
        )
        raise OutsideValidity(_CLONES, "a family with pointwise clones", reason)


_KINDS: dict[str, type[Mechanism]] = {
    kind.name: kind for kind in (RandomizedResponse, KRR, SubsetSelection, Common, TotalVariation, Laplace, Gaussian)
}


def mechanism(name: str, **parameters: Any) -> Mechanism:
    """The mechanism of that name.

    Args:
        name: "rr", "krr", "subset", "laplace", "gaussian", "common" or "tv".
        **parameters: its own; one that is None is left out.

    Raises:
        UnknownName: no such mechanism.
        InvalidValue: a parameter missing, superfluous or out of range.
        OutsideValidity: "any", under which shuffling may hide nothing.
    """
    name = check.one_of((*_KINDS, "any"), mechanism=name)
    if name == "any":
        hint = (
            "a message of an arbitrary randomizer can carry its sender's name, and shuffling then hides nothing; "
            'nearest: "common" if all users run one and the same randomizer, else the local eps itself'
        )
        raise OutsideValidity(_CLONES, "a known family of randomizers", hint)
    wanted = {one.name for one in fields(_KINDS[name])}
    given = {key: value for key, value in parameters.items() if value is not None}
    for key in sorted(wanted - given.keys()):
        raise InvalidValue(key, None, "a number", f'mechanism "{name}" needs it')
    for key in sorted(given.keys() - wanted):
        raise InvalidValue(key, given[key], "left out", f'mechanism "{name}" does not use it')
    return _KINDS[name](**given)


def _mechanism(given: Mechanism | str) -> Mechanism:
    return given if isinstance(given, Mechanism) else mechanism(given)


def _people(eps: float | None, n: int | None, who: Who, honest: int | None, runs: Mechanism) -> Budgets:
    """The users' budgets; refuses what contradicts itself."""
    if who is not None:
        if eps is not None or n is not None:
            raise InvalidValue("budgets", who, "given without eps and n")
        if isinstance(who, Budgets):
            everybody = who
        elif isinstance(who, str | PathLike):
            everybody = populations.from_csv(str(who))
        else:
            everybody = populations.from_array(who)
    elif eps is None or n is None:
        missing = "eps" if eps is None else "n"
        raise InvalidValue(missing, None, "given", "say who reports: eps and n, or budgets")
    else:
        everybody = populations.constant(eps, n=n)
    if honest is None:
        return everybody
    if runs.line and everybody.eps_min < everybody.eps_max:
        # On a line it is not the smallest budgets whose loss must hurt most: the tails' shapes decide.
        hint = f"which users to leave out is not known for {runs.name!r} with unequal eps"
        raise InvalidValue("honest", honest, "left out", hint)
    return honest_only(everybody, honest=honest)


def _scales(runs: Mechanism, eps: float | None, n: int | None, who: Who, honest: int | None) -> tuple[Any, Any]:
    """Scales and counts of reports on a line."""
    if not isinstance(runs, Gaussian):
        people = _people(eps, n, who, honest, runs)
        return people, people.count
    if eps is not None or who is not None:
        name = "eps" if eps is not None else "budgets"
        raise InvalidValue(name, eps if eps is not None else who, "left out", "Gaussian noise has no finite local eps")
    if n is None:
        raise InvalidValue("n", n, "given", "say how many report")
    everybody = check.count(n=n)
    many = everybody if honest is None else check.count(honest=honest)
    if many > everybody:
        raise InvalidValue("honest", honest, f"at most n = {everybody}")
    return np.array([runs.sigma]), np.array([many])


def epsilon(
    *,
    delta: float,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
) -> Bound:
    """Central eps of shuffled reports at delta, certified: `upper` errs upward and is what may be relied on.

    Args:
        delta: central delta in (0, 1).
        eps: one local budget for everybody, >= 0, with `n`.
        n: number of users, >= 1.
        budgets: instead of both: `Budgets`, local eps, shape (n,), or a CSV file with columns eps[,delta][,count].
        mechanism: what every user runs.
        rounds: how often everybody reports, >= 1; composed.
        honest: how many of the users follow the protocol; the others collude or drop out.

    Raises:
        InvalidValue: an argument out of range, missing or superfluous.
        OutsideValidity: a setting that cannot be certified.
    """
    runs = _mechanism(mechanism)
    if check.count(rounds=rounds) > 1:
        return composition.compose([(_round(runs, eps, n, budgets, honest), rounds)], delta=delta)
    if runs.line:
        scales, count = _scales(runs, eps, n, budgets, honest)
        return laplace_gaussian.blanket_epsilon(scales, count=count, delta=delta, mechanism=runs.name)
    people = _people(eps, n, budgets, honest, runs)
    return one_round.central_epsilon(people, delta=delta, mechanism=runs.family())


def delta(
    *,
    at_eps: float,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
) -> Bound:
    """Central delta of shuffled reports at a central eps, certified: `upper` errs upward.

    Args:
        at_eps: central eps, >= 0.
        eps: as the other arguments, see `epsilon`.

    Raises:
        InvalidValue: an argument out of range, missing or superfluous.
        OutsideValidity: a setting that cannot be certified.
    """
    runs, at_eps = _mechanism(mechanism), check.nonnegative(at_eps=at_eps)
    if check.count(rounds=rounds) > 1:
        return composition.compose_delta([(_round(runs, eps, n, budgets, honest), rounds)], eps=at_eps)
    if runs.line:
        scales, count = _scales(runs, eps, n, budgets, honest)
        return laplace_gaussian.blanket_delta(scales, count=count, eps=at_eps, mechanism=runs.name)
    return one_round.central_delta(_people(eps, n, budgets, honest, runs), eps=at_eps, mechanism=runs.family())


def _round(runs: Mechanism, eps: float | None, n: int | None, who: Who, honest: int | None) -> composition.Round:
    if runs.line:
        scales, count = _scales(runs, eps, n, who, honest)
        return composition.shuffled_reports(scales, count=count, mechanism=runs.name)
    return composition.shuffled(_people(eps, n, who, honest, runs), mechanism=runs.family())


def calibrate(
    *,
    target_eps: float,
    delta: float,
    n: int | None = None,
    eps: float | None = None,
    mechanism: Mechanism | str = "rr",
) -> Bound:
    """What meets a central (eps, delta): the largest local eps for n, the fewest users for eps, or rounds for both.

    The answer's safe end is `lower` for a local eps and for rounds, `upper` for a number of users.

    Args:
        target_eps: central eps to meet, > 0.
        delta: central delta in (0, 1).
        n: number of users.
        eps: local budget.
        mechanism: what every user runs; not on a line.

    Raises:
        InvalidValue: an argument out of range, or neither n nor eps.
        OutsideValidity: no such answer, or a mechanism on a line.
    """
    chosen, target_eps = _mechanism(mechanism).family(), check.positive(target_eps=target_eps)
    if eps is not None:
        eps = check.nonnegative(eps=eps)
    if n is not None and eps is not None:
        return inverse.most_rounds(populations.constant(eps, n=n), eps=target_eps, delta=delta, mechanism=chosen)
    if n is not None:
        return inverse.largest_local_epsilon(eps=target_eps, delta=delta, n=n, mechanism=chosen)
    if eps is not None:
        return inverse.least_users(eps, eps=target_eps, delta=delta, mechanism=chosen)
    raise InvalidValue("n", None, "given", "give n, eps or both: the local eps, the users or the rounds are found")


def per_user(*, budgets: Who, delta: float, mechanism: Mechanism | str = "rr") -> UserBounds:
    """Central eps of each user's own record at delta, certified.

    Args:
        budgets: as for `epsilon`.
        delta: central delta in (0, 1).
        mechanism: what every user runs; not on a line.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: a mechanism on a line.
    """
    runs = _mechanism(mechanism)
    if budgets is None:
        raise InvalidValue("budgets", None, "given")
    return per_user_epsilon(_people(None, None, budgets, None, runs), delta=delta, mechanism=runs.family())


def attack(
    *,
    delta: float,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
) -> Bound:
    """A central eps below which the shuffled reports are certainly not (eps, delta)-DP: `lower` is what counts.

    Args:
        delta: central delta in (0, 1).
        eps: as the other arguments, see `epsilon`.
        mechanism: "rr" (exact), k-RR, Laplace or Gaussian.

    Raises:
        InvalidValue: an argument out of range, missing or superfluous.
        OutsideValidity: a mechanism that no attack here is made for.
    """
    runs = _mechanism(mechanism)
    if runs.line:
        scales, count = _scales(runs, eps, n, budgets, None)
        return attack_epsilon(scales, count=count, delta=delta, mechanism=runs.name)
    people = _people(eps, n, budgets, None, runs)
    if isinstance(runs, RandomizedResponse):
        return exact.exact_epsilon(people, delta=delta)
    if isinstance(runs, KRR):
        return histograms.worst_epsilon(people, delta=delta, k=runs.k)
    raise OutsideValidity("attack", "rr, krr, laplace or gaussian", f"got {runs.name!r}")


def published(
    *,
    delta: float,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: str | None = None,
) -> list[BoundRow]:
    """Every published bound on the central eps at delta, the smallest first, with what it is valid for.

    Args:
        delta: central delta in (0, 1).
        eps: as n and budgets, see `epsilon`.
        mechanism: only bounds that hold for it: "common", "rr", "krr", "laplace" or "clip_laplace".

    Raises:
        InvalidValue: an argument out of range, missing or superfluous.
    """
    return compare(_people(eps, n, budgets, None, RandomizedResponse()), delta=delta, mechanism=mechanism)

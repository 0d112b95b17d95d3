"""The front door: one question, asked in one way whatever the users run.

Who reports is either `eps` and `n`, one local budget for everybody, or `budgets`: `Budgets`, a sequence of local eps,
or the name of a CSV file. What they run is a mechanism, an object that carries its own parameters, or its name. All
answers are for the replacement of one user's record, and rest on a shuffler that is trusted.

>>> from gspa.accountant.api import KRR, Gaussian, epsilon, risk
>>> bound = epsilon(eps=0.5, n=10_000, delta=1e-4)
>>> print(bound)  # doctest: +ELLIPSIS
at most 0.00846257, certified in [0.008462569, 0.00846257] at delta = 0.0001
method: exact law of the number of ones, worst of all inputs
valid for: binary randomized response, own eps_j each
neighbours: replace one user's record
...
>>> epsilon(eps=0.5, n=10_000, delta=1e-6, mechanism=KRR(k=10)).valid_for.split(";")[0]
'10-ary randomized response, own eps_j each'
>>> epsilon(n=10_000, delta=1e-6, mechanism=Gaussian(sigma=1.0)).upper < 0.07
True
>>> print(risk(eps=0.5, n=10_000, fpr=[0.01]))
true-positive rate <= 1.014% at 1% false positives; advantage (TPR - FPR) <= 0.2016%
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import MISSING, asdict, dataclass, fields, replace
from fractions import Fraction
from numbers import Real
from os import PathLike
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa.accountant import arguments as check
from gspa.accountant import budgets as populations
from gspa.accountant import engine, exact, families, interop, inverse, laplace_gaussian, one_round, samplers
from gspa.accountant import rounds as composition
from gspa.accountant.allocation import Allocated
from gspa.accountant.attacks import attack_delta, attack_epsilon
from gspa.accountant.bound import Bound, enclosed
from gspa.accountant.budgets import Budgets
from gspa.accountant.certificates import COVERED, Certificate, allocated, certificate, on_a_line, written
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.families import Family
from gspa.accountant.one_round import UserBounds, honest_only
from gspa.accountant.published import BoundRow, compare, compare_gaussian
from gspa.accountant.risk import Risk, attack_rates
from gspa.accountant.roots import find_root, push_until

__all__ = [
    "KRR",
    "Aligned",
    "Allocation",
    "Common",
    "Discrete",
    "Duchi",
    "Gaussian",
    "HadamardResponse",
    "Laplace",
    "LocalHashing",
    "Mechanism",
    "Piecewise",
    "RandomizedResponse",
    "Rappor",
    "SubsetSelection",
    "TotalVariation",
    "UnaryEncoding",
    "accounting_for",
    "allocation_epsilon",
    "attack",
    "calibrate",
    "certify",
    "delta",
    "epsilon",
    "mechanism",
    "per_user",
    "published",
    "risk",
    "to_dp_accounting",
]

REPLACE = "replace one user's record"
_CLONES = "clone probabilities"
_PAIR, _ROUNDS = "the dominating pair, because {}", "rounds compose pairs, not the exact law"
_CLOSE = 1e-6  # relative, of what is found to a target
_MISSED = 1.0  # how far above, in its logarithm, it is looked for a miss
_FURTHEST = 40.0  # of the logarithm of what calibrate finds
_MOST_ASKED = 10**6  # settings in one call
_CELLS = 600  # of reports on a line, for the lower end
_SUMMED = 10**6  # users whose scores are added up for it
_WHICH = "which users to leave out is not known for {!r} with unequal {}"
Array = NDArray[np.float64]
Who = Budgets | ArrayLike | str | PathLike[str] | None
Population = Sequence[tuple["Discrete", int]]
Numbers = float | Sequence[float] | NDArray[Any]


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
        check.fields(self, check.count, *(one.name for one in fields(self) if one.type == "int"))

    def family(self) -> Family:
        """Its clones, for `gspa.accountant.one_round`, `rounds` and `inverse`.

        Raises:
            OutsideValidity: reports on a line have none that certify anything.
        """
        raise InvalidValue("mechanism", self, "one of its kinds, such as RandomizedResponse() or KRR(k=10)")


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    """Binary randomized response, own eps each: the truth with probability e^eps/(1 + e^eps).

    The answer is the exact law of the shuffled bits (`gspa.accountant.exact`) in one round, without local deltas, and
    up to 2^16 choices of the others' inputs: 65,536 users of one eps, or 256 each of two. Else it is that of `Aligned`,
    which is an upper bound, and the note says so.
    """

    name = "rr"

    def family(self) -> Family:
        return families.binary()


@dataclass(frozen=True)
class Aligned(Mechanism):
    """Any randomizers with aligned clones, own eps each: the dominating pair of binary randomized response.

    Each user j runs an eps_j-LDP randomizer whose reports have, for every input, the law of either part of the
    victim's randomizer with probability at least 1/(1 + e^eps_j). Binary randomized response is one of them, so the
    answer is never below that of `RandomizedResponse`.
    """

    name = "aligned"

    def family(self) -> Family:
        return families.aligned()


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
class UnaryEncoding(Mechanism):
    """Unary encoding of k items, one eps for all: k bits, each reported by itself.

    Attributes:
        k: number of items, >= 2.
        kind: "optimized" (Wang et al. 2017), or "symmetric", which is basic one-time RAPPOR.
    """

    name = "unary"
    k: int
    kind: str = "optimized"

    def family(self) -> Family:
        return families.unary(self.k, self.kind)


@dataclass(frozen=True)
class Rappor(Mechanism):
    """Basic one-time RAPPOR of k items (Erlingsson et al. 2014), one eps for all; its f is 2/(1 + e^(eps/2)).

    Attributes:
        k: number of items, >= 2.
    """

    name = "rappor"
    k: int

    def family(self) -> Family:
        return families.unary(self.k, "symmetric")


@dataclass(frozen=True)
class LocalHashing(Mechanism):
    """Local hashing: g-ary randomized response on a random hash of the item, sent with the hash; own eps each.

    Attributes:
        k: number of items, >= 2.
        g: values of a hash, >= 2; optimized local hashing takes about e^eps + 1.
    """

    name = "hashing"
    k: int
    g: int

    def family(self) -> Family:
        return families.local_hashing(self.k, self.g)


@dataclass(frozen=True)
class HadamardResponse(Mechanism):
    """Hadamard response (Acharya, Sun and Zhang 2019), own eps each.

    Attributes:
        k: number of items, >= 2.
    """

    name = "hadamard"
    k: int

    def family(self) -> Family:
        return families.hadamard(self.k)


@dataclass(frozen=True)
class Piecewise(Mechanism):
    """The piecewise mechanism (Wang et al. 2019) for a value in [-1, 1], one eps for all."""

    name = "piecewise"

    def family(self) -> Family:
        return families.piecewise()


@dataclass(frozen=True)
class Duchi(Mechanism):
    """Duchi et al.'s mechanism for a value in [-1, 1], own eps each: the answer of `RandomizedResponse`."""

    name = "duchi"

    def family(self) -> Family:
        return families.duchi()


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
class Discrete(Mechanism):
    """Any finite randomizer, written down.

    Attributes:
        matrix: shape (inputs, outputs), a row the law of a report of that input; at least two rows, each with sum 1.
    """

    name = "discrete"
    matrix: ArrayLike

    def __post_init__(self) -> None:
        # As tuples, so that the mechanism can be compared and hashed.
        object.__setattr__(self, "matrix", tuple(map(tuple, engine.matrix(self.matrix).tolist())))

    def family(self) -> Family:
        raise OutsideValidity(
            _CLONES, "a named family", "a matrix is answered by gspa.epsilon, gspa.delta and gspa.attack, for one round"
        )


@dataclass(frozen=True)
class Laplace(Mechanism):
    """A value of a range with Laplace noise, own scale each: range / eps, or as given.

    Attributes:
        scale: None where `eps` or `budgets` say who reports; else the noise's scale, > 0, one number with `n`, or one
            for each user. A report's local eps is sensitivity / scale.
        sensitivity: with `scale`, the width of the range of the values, > 0.
    """

    name = "laplace"
    line = True
    scale: float | Sequence[float] | None = None
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        _noise(self, "scale")
        if self.scale is None and self.sensitivity != 1:
            raise InvalidValue("sensitivity", self.sensitivity, "given with scale", "a local eps needs none")

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
    """A value of a range with Gaussian noise, own sigma each; it has no finite local eps.

    Attributes:
        sigma: standard deviation of the noise, > 0: one number with `n`, one for each user, or None where `budgets`
            names a CSV file with columns sigma[,count], and for `calibrate`, which finds it.
        sensitivity: width of the range of the values, > 0: C for values that are clipped to [0, C].
    """

    name = "gaussian"
    line = True
    sigma: float | Sequence[float] | None = None
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        _noise(self, "sigma")

    def family(self) -> Family:
        reason = (
            "Gaussian tails of any two inputs have an unbounded ratio; use gspa.accountant.laplace_gaussian for an "
            "upper bound"
        )
        raise OutsideValidity(_CLONES, "a family with pointwise clones", reason)


def _noise(runs: Laplace | Gaussian, name: str) -> None:
    """Check, and make a sequence a tuple, so that the mechanism can be compared and hashed."""
    check.positive(sensitivity=runs.sensitivity)
    given = getattr(runs, name)
    if given is None:
        return
    if np.iterable(given) and not isinstance(given, str | bytes):
        numbers = check.floats(**{name: given})
        if numbers.ndim != 1 or not numbers.size:
            raise InvalidValue(name, given, "a number, or a list with one for each user")
        for i in np.flatnonzero(~(np.isfinite(numbers) & (numbers > 0)))[:1]:
            raise InvalidValue(f"{name}[{i}]", float(numbers[i]), "a finite number > 0")
        object.__setattr__(runs, name, tuple(numbers.tolist()))
    else:
        check.positive(**{name: given})


@dataclass(frozen=True)
class Allocation(Mechanism):
    """A training run that deals: each record to k of t noisy steps of an epoch, by itself.

    Attributes:
        sigma: of the noise in each step, > 0.
        steps: of an epoch.
        direction: "remove", "add", "both" or "replace": which neighbours.
        k: steps of an epoch in which each record takes part.
        epochs: of `steps` each.
        sensitivity: largest norm of a record's contribution to a step.
        noise: "gaussian" or "laplace".
        deal: "each epoch", afresh, or "once", kept for all epochs. Both are called "balls and bins": jax_privacy's
            BallsInBinsSampling is "once"; see `accounting_for`.
    """

    name = "allocation"
    line = True
    sigma: float
    steps: int
    direction: str = "both"
    k: int = 1
    epochs: int = 1
    sensitivity: float = 1.0
    noise: str = "gaussian"
    deal: str = "each epoch"

    def __post_init__(self) -> None:
        self.asked()
        super().__post_init__()

    def asked(self, direction: str | None = None) -> Allocated:
        """Its accountant, of another direction if one is given."""
        way = direction or self.direction
        return Allocated.of(self.sigma, self.steps, way, self.k, self.epochs, self.sensitivity, self.noise, self.deal)

    def family(self) -> Family:
        raise OutsideValidity(_CLONES, "shuffled reports", "a training run has steps, not users; use gspa.epsilon")


_KINDS: dict[str, type[Mechanism]] = {
    kind.name: kind
    for kind in (
        *(RandomizedResponse, KRR, SubsetSelection, UnaryEncoding, Rappor, LocalHashing, HadamardResponse, Piecewise),
        *(Duchi, Discrete, Laplace, Gaussian, Aligned, Common, TotalVariation, Allocation),
    )
}


def mechanism(name: str, **parameters: Any) -> Mechanism:
    """The mechanism of that name.

    Args:
        name: "rr", "krr", "subset", "unary", "rappor", "hashing", "hadamard", "piecewise", "duchi", "discrete",
            "laplace", "gaussian", "aligned", "common", "tv" or "allocation".
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
    used = {one.name: one.default is MISSING for one in fields(_KINDS[name])}
    given = {key: value for key, value in parameters.items() if value is not None}
    for key in sorted(key for key, needed in used.items() if needed and key not in given):
        raise InvalidValue(key, None, "a number", f'mechanism "{name}" needs it')
    for key in sorted(given.keys() - used.keys()):
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
        raise InvalidValue("honest", honest, "left out", _WHICH.format(runs.name, "eps"))
    return honest_only(everybody, honest=honest)


def _scales(runs: Laplace | Gaussian, eps: float | None, n: int | None, who: Who) -> tuple[Array, Array] | None:
    """Each scale as it is given, and how many users have it; None if local eps say who reports."""
    word, given = ("scale", runs.scale) if isinstance(runs, Laplace) else ("sigma", runs.sigma)
    if given is None and isinstance(runs, Laplace):
        return None
    if eps is not None:
        no_eps = (
            "its scale says how much noise there is" if word == "scale" else "Gaussian noise has no finite local eps"
        )
        raise InvalidValue("eps", eps, "left out", no_eps)
    if given is None and who is not None:
        if n is not None or not isinstance(who, str | PathLike | populations.Columns):
            name, value = ("n", n) if n is not None else ("budgets", who)
            allowed = "left out beside budgets" if n is not None else "a CSV file with columns sigma[,count]"
            raise InvalidValue(name, value, allowed, "or give Gaussian(sigma=[...]), a sigma for each user")
        columns = who if isinstance(who, populations.Columns) else populations.read(str(who), column=word)
        return columns[word], columns.get("count", np.ones(columns[word].size))
    if given is None:
        raise InvalidValue(
            word, None, "a number", f'mechanism "{runs.name}" needs it, or a CSV file of them as budgets'
        )
    if who is not None:
        raise InvalidValue("budgets", who, "left out", f"{word} says who reports")
    if isinstance(given, Sequence):
        if n is not None and check.count(n=n) != len(given):
            raise InvalidValue("n", n, f"left out, or {len(given)}", f"there are as many values of {word}")
        return np.array(given), np.ones(len(given))
    if n is None:
        raise InvalidValue("n", n, "given", "say how many report")
    return np.array([given]), np.array([check.count(n=n)])


class _Setting:
    """Who reports, what they run and how often: checked once, asked at several eps or delta."""

    def __init__(
        self, runs: Mechanism, eps: float | None, n: int | None, who: Who, rounds: int = 1, honest: int | None = None
    ) -> None:
        if isinstance(runs, Discrete):
            runs.family()  # which refuses
        self.runs, self.rounds, self.honest = runs, check.count(rounds=rounds), honest
        self.people: Budgets | None = None
        self.scales: Any = None
        self.count: Any = None
        own = _scales(runs, eps, n, who) if isinstance(runs, Laplace | Gaussian) else None
        if own is None:
            self.people = _people(eps, n, who, honest, runs)
            self.n, self.top = self.people.n, self.rounds * self.people.eps_max
            self.scales, self.count = self.people, self.people.count
        else:
            self.scales, self.count = self._together(*own)
            self.n, self.top = int(self.count.sum()), math.inf
        self._round: composition.Round | None = None

    def _together(self, given: Array, count: Array) -> tuple[Array, NDArray[np.int64]]:
        values, where = np.unique(given, return_inverse=True)
        if count.sum() > check.MOST:
            raise InvalidValue("sum of count", float(count.sum()), "at most 2^53 - 1")
        many = np.bincount(where, count).astype(np.int64)
        if self.honest is not None:
            if (honest := check.count(honest=self.honest)) > many.sum():
                raise InvalidValue("honest", honest, f"at most n = {many.sum()}")
            if values.size > 1:
                raise InvalidValue("honest", honest, "left out", _WHICH.format(self.runs.name, "noise"))
            many = np.array([honest])
        return values, many

    @property
    def sensitivity(self) -> float:
        """Width of the range of values on a line."""
        return float(getattr(self.runs, "sensitivity", 1.0))

    @property
    def _line(self) -> dict[str, Any]:
        """Reports on a line, as their engine takes them."""
        who = {"scales": self.scales, "count": self.count, "mechanism": self.runs.name}
        return who | {"sensitivity": self.sensitivity}

    @property
    def _attacked(self) -> dict[str, Any]:
        """The same for `gspa.accountant.attacks`: what a linear score of few cells tells, in milliseconds."""
        scales = self.scales if self.people is not None else self.scales / self.sensitivity
        few = {"statistic": "linear", "cells": _CELLS} if self.n <= _SUMMED else {"cells": _CELLS}
        return {"scales": scales, "count": self.count, "mechanism": self.runs.name, **few}

    @property
    def round(self) -> composition.Round:
        """One of the rounds, for composition."""
        if self._round is None:
            if self.runs.line:
                self._round = composition.shuffled_reports(**self._line)
            else:
                assert self.people is not None
                self._round = composition.shuffled(self.people.grouped(), mechanism=self.runs.family())
        return self._round

    def epsilon(self, delta: float) -> Bound:
        """The certified central eps."""
        if self.rounds > 1:
            bound = composition.compose([(self.round, self.rounds)], delta=delta)
        elif self.people is None or self.runs.line:
            bound = laplace_gaussian.blanket_epsilon(delta=delta, **self._line)
            bound = _reached(bound, lambda: attack_epsilon(delta=delta, **self._attacked))
        else:
            bound = engine.named_epsilon(self.people, delta=delta, mechanism=self.runs.family())
        return self.stated(bound, delta)

    def delta(self, eps: float) -> Bound:
        """The certified central delta."""
        if self.rounds > 1:
            bound = composition.compose_delta([(self.round, self.rounds)], eps=eps)
        elif self.people is None or self.runs.line:
            bound = laplace_gaussian.blanket_delta(eps=eps, **self._line)
            bound = _reached(bound, lambda: attack_delta(eps=eps, **self._attacked))
        else:
            bound = engine.named_delta(self.people, eps=eps, mechanism=self.runs.family())
        return self.stated(bound, bound.upper)

    def stated(self, bound: Bound, delta: float) -> Bound:
        """With the relation, the warnings, and what else the engine behind it does not know."""
        note, words = bound.note, bound.valid_for
        if self.rounds > 1 and isinstance(self.runs, RandomizedResponse):
            note = "; ".join(filter(None, (_PAIR.format(_ROUNDS), note)))
        if self.sensitivity != 1:
            words = _in_range(words, self.sensitivity)
        return replace(
            bound,
            n=self.n,
            note=note,
            valid_for=words,
            relation=REPLACE,
            warnings=_warnings(delta, self.n, self.honest),
        )


def _reached(bound: Bound, attack: Callable[[], Bound]) -> Bound:
    """With the lower end of an attack, where one can be evaluated."""
    if bound.reached or bound.upper == 0:
        return bound
    try:
        low = min(attack().lower, bound.upper)
    except OutsideValidity:  # more users than a sum is evaluated for
        return bound
    return replace(bound, lower=low, value=0.5 * (low + bound.upper), reached=True)


class _Run:
    """A training run, asked as `_Setting` is."""

    top = math.inf
    n = None

    def __init__(
        self, runs: Allocation, eps: float | None, n: int | None, who: Who, rounds: int = 1, honest: int | None = None
    ) -> None:
        for name, value in (("eps", eps), ("n", n), ("budgets", who), ("honest", honest)):
            if value is not None:
                raise InvalidValue(name, value, "left out", "a training run has steps, not users who report")
        if check.count(rounds=rounds) > 1:
            raise InvalidValue("rounds", rounds, "left out", "a training run has epochs")
        self.asked = runs.asked()
        self.warnings = (_DEALT + _DEALS[runs.deal],)

    def epsilon(self, delta: float) -> Bound:
        return replace(self.asked.epsilon(delta), warnings=self.warnings)

    def delta(self, eps: float) -> Bound:
        return replace(self.asked.delta(eps), warnings=self.warnings)


class _Written:
    """Users of randomizers that are written down, asked as `_Setting` is."""

    top = math.inf

    def __init__(self, population: Population, rounds: int = 1, honest: int | None = None) -> None:
        self.rounds = check.count(rounds=rounds)
        pairs = "a list of (Discrete(matrix), count) pairs, at least one"
        try:
            groups = [(runs, check.count(count=count)) for runs, count in population]
        except (TypeError, ValueError) as error:
            if isinstance(error, InvalidValue):
                raise
            raise InvalidValue("population", type(population).__name__, pairs) from None
        for i, (runs, _) in enumerate(groups):
            if not isinstance(runs, Discrete):
                raise InvalidValue(f"population[{i}]", type(runs).__name__, pairs)
        if honest is not None:
            honest = check.count(honest=honest)
            if len(groups) > 1:
                hint = "which users to leave out of several groups is not known"
                raise InvalidValue("honest", honest, "left out", hint)
            if groups and honest > groups[0][1]:
                raise InvalidValue("honest", honest, f"at most n = {groups[0][1]}")
            groups = [(runs, honest) for runs, _ in groups]
        if not groups:
            raise InvalidValue("population", [], pairs)
        self.groups = [(runs.matrix, count) for runs, count in groups]
        self.n, self.honest = sum(count for _, count in groups), honest

    def epsilon(self, delta: float) -> Bound:
        if self.rounds == 1:
            return self._stated(engine.discrete_epsilon(self.groups, delta=delta), delta)
        bound = composition.compose([(self._round(delta), self.rounds)], delta=delta)
        if bound.upper == math.inf:
            hint = "with more than that a report shows what some input never sends, and nobody hides it"
            raise OutsideValidity("central epsilon", "a larger delta", hint)
        return self._stated(bound, delta)

    def delta(self, eps: float) -> Bound:
        if self.rounds == 1:
            bound = engine.discrete_delta(self.groups, eps=eps)
        else:
            bound = composition.compose_delta([(self._round(_GUESSED), self.rounds)], eps=eps)
        return self._stated(bound, bound.upper)

    def _round(self, delta: float) -> composition.Round:
        return engine.discrete_round(self.groups, delta=delta / self.rounds)

    @property
    def round(self) -> composition.Round:
        """One of many rounds."""
        return self._round(_GUESSED)

    def _stated(self, bound: Bound, delta: float) -> Bound:
        return replace(bound, n=self.n, relation=REPLACE, warnings=_warnings(delta, self.n, self.honest))


_GUESSED = 1e-6  # a delta for which a law B is chosen
_DEALT = "each record must be dealt by itself: batches of one fixed size are not of this kind"
_DEALS = {
    "each epoch": ", nor is one deal that all epochs keep, as jax_privacy's BallsInBinsSampling does: give deal 'once'",
    "once": "",
}


def _setting(
    runs: Mechanism,
    eps: float | None,
    n: int | None,
    who: Who,
    rounds: int = 1,
    honest: int | None = None,
    population: Population | None = None,
) -> _Setting | _Run | _Written:
    if population is not None:
        given = None if runs == RandomizedResponse() else runs.name
        for name, value in (("eps", eps), ("n", n), ("budgets", who), ("mechanism", given)):
            if value is not None:
                raise InvalidValue(name, value, "left out", "a population says who reports, and by what")
        return _Written(population, rounds, honest)
    if isinstance(runs, Allocation):
        return _Run(runs, eps, n, who, rounds, honest)
    if isinstance(runs, Discrete):
        for name, value in (("eps", eps), ("budgets", who)):
            if value is not None:
                raise InvalidValue(name, value, "left out", "the matrix says how private a report is")
        if n is None:
            raise InvalidValue("n", None, "given", "say how many report, or give a population")
        return _Written([(runs, check.count(n=n))], rounds, honest)
    return _Setting(runs, eps, n, who, rounds, honest)


def _in_range(words: str, width: float) -> str:
    """What the engine says of values in [0, 1], for values in a range of another width."""
    return words.replace("[0, 1]", f"[0, {width:g}]").replace("; 0 and 1 as", f"; 0 and {width:g} as")


def _warnings(delta: float, n: int | None, honest: int | None) -> tuple[str, ...]:
    said = []
    if n is not None and delta >= 1 / n:
        said.append(
            f"delta = {delta:.3g} is at least 1/n: a mechanism that publishes one record in full could meet this"
        )
    rests = "this rests on a shuffler that is trusted"
    if honest is None:
        rests += ", and on users who do not collude with the analyzer: if some may, give honest, the number who do not"
    return (*said, rests)


@overload
def epsilon(  # type: ignore[overload-overlap]  # one number is a case of several
    *,
    delta: float,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
    population: Population | None = None,
) -> Bound: ...
@overload
def epsilon(
    *,
    delta: Numbers,
    eps: Numbers | None = None,
    n: Numbers | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
    population: Population | None = None,
) -> list[Bound]: ...
def epsilon(
    *,
    delta: Numbers,
    eps: Numbers | None = None,
    n: Numbers | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
    population: Population | None = None,
) -> Bound | list[Bound]:
    """Central eps of shuffled reports at delta, certified: `upper` errs upward and is what may be relied on.

    Args:
        delta: central delta in (0, 1).
        eps: one local budget for everybody, >= 0, with `n`.
        n: number of users, >= 1.
        budgets: instead of both: `Budgets`, local eps, shape (n,), or a CSV file with columns eps[,delta][,count]; for
            Gaussian noise a CSV file with columns sigma[,count].
        mechanism: what every user runs.
        rounds: how often everybody reports, >= 1; composed.
        honest: how many of the users follow the protocol; the others collude or drop out.
        population: instead of eps, n, budgets and mechanism: `(Discrete(matrix), count)` for each group of users; their
            matrices have one number of columns.

    Returns:
        A `Bound`; or, where delta, eps or n is an array or a list, one for each entry of the three broadcast together,
        in numpy's order.

    Raises:
        InvalidValue: an argument out of range, missing or superfluous.
        OutsideValidity: a setting that cannot be certified.

    >>> [bound.upper < 0.02 for bound in epsilon(eps=0.5, n=[10_000, 10**6], delta=1e-6)]
    [True, True]
    """

    def ask(one: _Setting | _Run | _Written, at: float) -> Bound:
        return one.epsilon(check.probability(allow_zero=False, delta=at))

    common = (budgets, rounds, honest, population)
    return _answers(ask, _mechanism(mechanism), common, delta=delta, eps=eps, n=n)


@overload
def delta(  # type: ignore[overload-overlap]  # one number is a case of several
    *,
    at_eps: float,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
    population: Population | None = None,
) -> Bound: ...
@overload
def delta(
    *,
    at_eps: Numbers,
    eps: Numbers | None = None,
    n: Numbers | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
    population: Population | None = None,
) -> list[Bound]: ...
def delta(
    *,
    at_eps: Numbers,
    eps: Numbers | None = None,
    n: Numbers | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
    population: Population | None = None,
) -> Bound | list[Bound]:
    """Central delta of shuffled reports at a central eps, certified: `upper` errs upward.

    Args:
        at_eps: central eps, >= 0.
        eps: as the other arguments, see `epsilon`.

    Returns:
        As `epsilon`.

    Raises:
        InvalidValue: an argument out of range, missing or superfluous.
        OutsideValidity: a setting that cannot be certified.
    """

    def ask(one: _Setting | _Run | _Written, at: float) -> Bound:
        return one.delta(check.nonnegative(at_eps=at))

    common = (budgets, rounds, honest, population)
    return _answers(ask, _mechanism(mechanism), common, at_eps=at_eps, eps=eps, n=n)


def _answers(
    ask: Callable[[_Setting | _Run | _Written, float], Bound], runs: Mechanism, common: tuple[Any, ...], **given: Any
) -> Bound | list[Bound]:
    """What `ask` says of a setting at a delta or eps, the first of `given`; a setting of eps and n is made once."""
    made = dict[tuple[float | None, int | None], _Setting | _Run | _Written]()
    rows = _rows(**given)
    if rows is None:
        at, eps, n = given.values()
        return ask(_setting(runs, eps, n, *common), at)
    found = []
    for at, eps, n in rows:
        if (eps, n) not in made:
            made[eps, n] = _setting(runs, eps, n, *common)
        found.append(ask(made[eps, n], at))
    return found


def _column(name: str, value: Any) -> NDArray[Any]:
    """One of several arguments, of which some are arrays: no list is looked into deeper than numpy's rows."""

    def number(x: Any) -> bool:
        return isinstance(x, Real) and not isinstance(x, bool)

    allowed = f"a number, or an array or list of at most {_MOST_ASKED:,} numbers"
    if isinstance(value, list | tuple) and len(value) <= _MOST_ASKED:
        rows = [one if isinstance(one, list | tuple) else (one,) for one in value]
        if not all(number(x) for row in rows for x in row):
            raise InvalidValue(name, value, allowed)
    elif not (isinstance(value, np.ndarray) or number(value)):
        raise InvalidValue(name, value, allowed)
    found = check.array(**{name: value})
    if found.dtype.kind not in "iuf" or found.size > _MOST_ASKED:
        raise InvalidValue(name, value, allowed)
    return found


def _rows(**given: Any) -> list[tuple[float, float | None, int | None]] | None:
    """Entries of arrays broadcast together; None if all are single numbers."""
    if not any(np.iterable(value) and not isinstance(value, str | bytes) for value in given.values()):
        return None
    arrays = {name: _column(name, value) for name, value in given.items() if value is not None}
    try:
        together = np.broadcast_arrays(*arrays.values())
    except ValueError:
        shapes = ", ".join(f"{name} {column.shape}" for name, column in arrays.items())
        raise InvalidValue("shapes", shapes, "shapes that numpy broadcasts together") from None
    if together[0].size > _MOST_ASKED:
        raise InvalidValue("shapes", f"{together[0].size:,} settings", f"at most {_MOST_ASKED:,}")
    lists = dict(zip(arrays, (column.ravel().tolist() for column in together), strict=True))
    blank = [None] * together[0].size
    first, *others = given
    return list(zip(lists[first], *(lists.get(name, blank) for name in others), strict=True))


def risk(
    *,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
    fpr: Sequence[float] = (0.01, 0.001),
) -> Risk:
    """What any attacker gets who is to tell one user's record from another: certified, and each rate errs upward.

    From the certified delta(eps): the true-positive rates at the false-positive rates asked for, and the largest
    advantage, TPR - FPR, which is the total variation.

    Args:
        eps: as the other arguments but `fpr`, see `epsilon`.
        fpr: false-positive rates, each in (0, 1).

    Raises:
        InvalidValue: an argument out of range, missing or superfluous.
        OutsideValidity: a setting that cannot be certified.
    """
    rates = tuple(
        check.probability(allow_zero=False, **{f"fpr[{i}]": rate}) for i, rate in enumerate(check.row(fpr=fpr))
    )
    if not rates:
        raise InvalidValue("fpr", [], "a list of rates in (0, 1), at least one")
    runs = _mechanism(mechanism)
    if isinstance(runs, Allocation) and runs.direction != "replace":
        runs = replace(runs, direction="both")  # a curve of both orders is needed
    setting = _setting(runs, eps, n, budgets, rounds, honest)
    first = setting.delta(0.0)
    advantage, tpr = attack_rates(lambda at: setting.delta(at).upper if at else first.upper, rates, top=setting.top)
    return Risk(rates, tpr, advantage, first.method, first.valid_for, first.relation, first.proved)


def allocation_epsilon(
    *,
    sigma: float,
    steps: int,
    delta: float,
    direction: str = "both",
    k: int = 1,
    epochs: int = 1,
    sensitivity: float = 1.0,
    noise: str = "gaussian",
    deal: str = "each epoch",
) -> Bound:
    """eps at delta of a training run that deals its records to steps at random, certified from both sides.

    The same as `epsilon` with `mechanism=Allocation(...)`; the proofs are in `gspa.accountant.allocation`.

    Args:
        sigma: as the other arguments but delta, see `Allocation`.
        delta: in (0, 1).

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: one deal kept for several epochs of Laplace noise.
    """
    run = Allocation(sigma, steps, direction, k, epochs, sensitivity, noise, deal)
    return epsilon(delta=delta, mechanism=run)


def accounting_for(*, sampler: str) -> samplers.Accounting:
    """Which accounting is valid for batches that are drawn so, and which is not; see `gspa.accountant.samplers`.

    Args:
        sampler: "poisson", "dealt each epoch", "dealt once", "shuffled each epoch" or "shuffled once".

    Raises:
        InvalidValue: "balls and bins" or "random allocation", which name both samplers that deal.
        UnknownName: no such sampler.
    """
    return samplers.accounting_for(sampler=sampler)


def calibrate(
    *,
    target_eps: float,
    delta: float,
    n: int | None = None,
    eps: float | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int | None = None,
) -> Bound:
    """What meets a central (eps, delta): the question is what is left out.

    - `n`: the largest local eps, or the smallest sigma of Gaussian noise;
    - `eps`: the fewest users;
    - both, or `n` with noise or a matrix that is given: the most rounds;
    - `budgets`, or noise for each user: the largest factor by which all local eps may be multiplied, or the smallest
      for all scales of the noise.

    The answer's safe end is `lower` for a local eps, for rounds and for a factor of local eps, `upper` for users, for a
    sigma and for a factor of the noise: `epsilon`, asked the same, is at most the target there. At the other end it is
    certified to be missed, so far as the lower end of `epsilon` shows.

    Args:
        target_eps: central eps to meet, > 0.
        delta: central delta in (0, 1), of all rounds together.
        n: number of users.
        eps: local budget.
        budgets: as for `epsilon`.
        mechanism: what every user runs.
        rounds: how often everybody reports; 1 where it is left out and not asked.

    Raises:
        InvalidValue: an argument out of range, or nothing that is left out.
        OutsideValidity: no such answer.
    """
    runs, target_eps = _mechanism(mechanism), check.positive(target_eps=target_eps)
    if isinstance(runs, Allocation):
        raise InvalidValue("mechanism", runs.name, "one of users who report", "a training run has steps, not users")
    delta, noise = check.probability(allow_zero=False, delta=delta), _noise_of(runs)
    rounds = None if rounds is None else check.count(rounds=rounds)
    if budgets is not None or isinstance(noise, tuple):
        asked = _factor(runs, eps, n, budgets, rounds or 1)
    elif n is not None and (eps is not None or noise is not None or isinstance(runs, Discrete)):
        if rounds is not None:
            raise InvalidValue("rounds", rounds, "left out", "everything is given: calibrate finds the rounds")
        return _most_rounds(_setting(runs, eps, n, None), target_eps, delta)
    elif n is None and eps is None:
        raise InvalidValue("n", None, "given", "give n, eps or both, or budgets")
    elif runs.line and n is None:
        what = "the largest local eps" if isinstance(runs, Laplace) else "the smallest sigma"
        raise InvalidValue("n", None, "given", f"calibrate finds {what} for a number of users")
    elif (rounds or 1) == 1 and (runs.line or _by_formula(runs.family())):
        found = _once(runs, target_eps, delta, n, eps)
        asked = _Asked(_one(runs, eps, n, 1), eps is None and not isinstance(runs, Gaussian), eps is not None)
        return _told(_passing(found, asked, target_eps, delta), n)
    else:
        asked = _Asked(_one(runs, eps, n, rounds or 1), eps is None and not isinstance(runs, Gaussian), eps is not None)
    return _told(_passing(_solved(asked, target_eps, delta), asked, target_eps, delta), n)


@dataclass(frozen=True)
class _Asked:
    """A central eps as a function of what is to be found.

    Attributes:
        setting: of a number, the setting that is asked.
        grows: with the number.
        whole: the number is one of users.
    """

    setting: Callable[[float], _Setting]
    grows: bool
    whole: bool = False


def _by_formula(chosen: Family) -> bool:
    """Whether one round has an inverse of its own."""
    return chosen.rows is None or chosen.bits


def _noise_of(runs: Mechanism) -> Any:
    return runs.scale if isinstance(runs, Laplace) else runs.sigma if isinstance(runs, Gaussian) else None


def _told(found: Bound, n: int | None) -> Bound:
    assert found.delta is not None
    warnings = _warnings(found.delta, n if n is not None else found.n or int(found.upper), None)
    return replace(found, relation=REPLACE, warnings=warnings)


def _one(runs: Mechanism, eps: float | None, n: int | None, rounds: int) -> Callable[[float], _Setting]:
    """The setting of a local eps, a sigma, or a number of users."""
    if isinstance(runs, Gaussian):
        return lambda x: _Setting(replace(runs, sigma=x), None, n, None, rounds)
    if eps is None:
        return lambda x: _Setting(runs, x, n, None, rounds)
    return lambda x: _Setting(runs, eps, round(x), None, rounds)


def _factor(runs: Mechanism, eps: float | None, n: int | None, who: Who, rounds: int) -> _Asked:
    """The setting of a factor of everybody's local eps, or of all noise."""
    if isinstance(runs, Discrete):
        raise InvalidValue("budgets", who, "left out", "the matrix says how private a report is")
    base = _Setting(runs, eps, n, who, rounds)
    if base.people is None:

        def noisy(x: float) -> _Setting:
            one = copy(base)
            one.scales, one._round = base.scales * x, None
            return one

        return _Asked(noisy, grows=False)
    people = base.people
    if people.eps_max == 0:
        raise InvalidValue("budgets", people.eps.tolist()[:3], "one that is above 0", "there is nothing to multiply")

    def scaled(x: float) -> _Setting:
        return _Setting(runs, None, None, replace(people, eps=people.eps * x), rounds)

    return _Asked(scaled, grows=True)


def _once(runs: Mechanism, target: float, delta: float, n: int | None, eps: float | None) -> Bound:
    """One round, by the functions of `gspa.accountant.inverse`."""
    if isinstance(runs, Laplace | Gaussian):
        if eps is not None:
            raise InvalidValue("eps", eps, "left out", "calibrate finds the noise for n")
        assert n is not None
        width = runs.sensitivity
        gap = inverse.largest_gap(eps=target, delta=delta, n=n, mechanism=runs.name, sensitivity=width)
        if isinstance(runs, Laplace):
            return gap
        return replace(gap, lower=width / gap.upper, value=width / gap.lower, upper=width / gap.lower)
    chosen = runs.family()
    if n is not None:
        found = inverse.largest_local_epsilon(eps=target, delta=delta, n=n, mechanism=chosen, exact=chosen.bits)
    else:
        assert eps is not None
        found = inverse.least_users(eps, eps=target, delta=delta, mechanism=chosen, exact=chosen.bits)
    by_pair = chosen.bits and found.method == one_round.METHOD
    return replace(found, note=_PAIR.format(exact.TOO_MANY)) if by_pair else found


def _most_rounds(setting: _Setting | _Run | _Written, target: float, delta: float) -> Bound:
    assert not isinstance(setting, _Run)
    found = inverse.most_rounds(setting.round, eps=target, delta=delta)
    by_pair = isinstance(setting, _Setting) and isinstance(setting.runs, RandomizedResponse)
    return replace(_told(found, setting.n), n=setting.n, note=_PAIR.format(_ROUNDS) if by_pair else found.note)


def _solved(asked: _Asked, target: float, delta: float) -> Bound:
    """Between a number at which the target is certified to be met and one at which an attack, or the method, misses."""
    sign, known, bracket = 1 if asked.grows else -1, dict[float, Bound](), [-math.inf, math.inf]

    def at(y: float) -> Bound:
        x = math.exp(sign * y)
        x = float(math.ceil(x)) if asked.whole else x
        if x not in known:
            known[x] = asked.setting(x).epsilon(delta)
        return known[x]

    def spare(y: float) -> float:
        upper = at(y).upper
        gap = math.log(target / upper) if 0 < upper < math.inf else math.inf if upper == 0 else -math.inf
        bracket[0 if gap > 0 else 1] = y
        # Close enough, or between two numbers at which it jumps: the ends are proved by themselves.
        return gap if abs(gap) > _CLOSE and abs(bracket[1] - bracket[0]) > _CLOSE else 0.0

    high = _FURTHEST if asked.grows else 0.0 if asked.whole else _FURTHEST
    y, _ = find_root(spare, 0.0 if not asked.whole else -math.log(1000.0), highest=high)
    safe = push_until(lambda y: at(y).upper <= target, y, -_CLOSE, -_FURTHEST)
    missed = push_until(lambda y: at(y).lower > target, y, 1e-3, min(y + _MISSED, high))
    one = at(safe)
    if one.upper > target:
        raise OutsideValidity("calibration", "a target that some answer meets", f"eps = {target:g}, delta = {delta:g}")
    known_to_miss = missed < y + _MISSED
    ends = sorted((math.exp(sign * safe), math.exp(sign * (missed if known_to_miss else _FURTHEST))))
    if asked.whole:
        ends = [float(math.floor(ends[0])), float(math.ceil(ends[1]))]
    value = ends[0] if asked.grows else ends[1]
    found = replace(one, lower=ends[0], value=value, upper=ends[1], eps=target, delta=delta)
    return replace(found, n=None if asked.whole else one.n)


def _passing(found: Bound, asked: _Asked, target: float, delta: float) -> Bound:
    """With a safe end at which `epsilon`, asked the same, is at most the target.

    Its interval at one delta and that of `delta` at one eps are two intervals around one value: what the one passes
    the other may miss by its width.
    """
    end, share = found.lower if asked.grows else found.upper, 2.0**-53
    while end > 0 and (over := asked.setting(end).epsilon(delta).upper / target - 1) > 0:
        share = max(2 * share, min(2 * over, 1e-4))  # eps grows about like a budget, or as the users' square root falls
        moved = end * (1 - min(share, 0.5) if asked.grows else 1 + share)
        end = float(math.ceil(max(moved, end + 1))) if asked.whole else moved
    if asked.grows:
        return replace(found, value=end if found.value == found.lower else min(found.value, found.upper), lower=end)
    return replace(found, value=end if found.value == found.upper else found.value, upper=end)


def per_user(*, budgets: Who = None, delta: float, mechanism: Mechanism | str = "rr", rounds: int = 1) -> UserBounds:
    """Central eps of each user's own record at delta, certified.

    Args:
        budgets: as for `epsilon`; left out where the mechanism has a scale or sigma for each user.
        delta: central delta in (0, 1).
        mechanism: what every user runs; on a line, and in several rounds, at most 64 distinct ones.
        rounds: how often everybody reports, >= 1; composed.

    Returns:
        One entry for each of the groups of `budgets`, or for each user whose noise the mechanism has.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: as `epsilon`.
    """
    runs = _mechanism(mechanism)
    own = _scales(runs, None, None, budgets) if isinstance(runs, Laplace | Gaussian) else None
    if own is None and budgets is None:
        raise InvalidValue("budgets", None, "given")
    rounds = check.count(rounds=rounds)
    if own is not None or runs.line or rounds > 1:
        found = _per_group(runs, own, budgets, delta, rounds)
        n = None if own is None else int(own[1].sum())
    else:
        people = _people(None, None, budgets, None, runs)
        found, n = engine.named_per_user(people, delta=delta, mechanism=runs.family()), people.n
    return replace(found, relation=REPLACE, warnings=_warnings(delta, n, None))


def _per_group(runs: Mechanism, own: tuple[Array, Array] | None, who: Who, delta: float, rounds: int) -> UserBounds:
    """Each distinct budget's or scale's users, the others as they are."""
    if own is None:
        people = _people(None, None, who, None, runs)
        users: Any = people.grouped()
        many, distinct = users.count, users.eps.size
        keys = list(zip(users.eps.tolist(), users.delta.tolist(), strict=True))
        where = np.array([keys.index(key) for key in zip(people.eps.tolist(), people.delta.tolist(), strict=True)])
    else:
        users, where = np.unique(own[0], return_inverse=True)
        many, distinct = np.bincount(where, own[1]).astype(np.int64), users.size
    if distinct > laplace_gaussian.MOST_VICTIMS:
        hint = "let users share scales" if runs.line else "let users share budgets"
        name = "scales" if runs.line else "budgets"
        raise InvalidValue(name, distinct, f"at most {laplace_gaussian.MOST_VICTIMS} distinct ones", hint)
    width = float(getattr(runs, "sensitivity", 1.0))
    line: dict[str, Any] = {"count": many, "mechanism": runs.name}
    few = line | {"scales": users if own is None else users / width, "statistic": "linear", "cells": _CELLS}

    def of(i: int) -> Bound:
        if rounds == 1:
            bound = laplace_gaussian.blanket_epsilon(users, delta=delta, victim=i, sensitivity=width, **line)
            return _reached(bound, lambda: attack_epsilon(delta=delta, victim=i, **few))
        if runs.line:
            one = composition.shuffled_reports(users, victim=i, sensitivity=width, **line)
        else:
            one = composition.shuffled(users, mechanism=runs.family(), victim=i)
        return composition.compose([(one, rounds)], delta=delta)

    found = [of(i) for i in range(distinct)]
    upper, lower = (np.array([getattr(one, end) for one in found])[where] for end in ("upper", "lower"))
    last = next((one for one in found if not one.proved), found[-1])
    notes = dict.fromkeys(one.note for one in found if ";" in one.note)  # of some there is more to say
    words, reached = _in_range(last.valid_for, width), all(one.reached for one in found)
    return UserBounds(lower, upper, last.method, words, delta, note="; ".join(notes), reached=reached)


def attack(
    *,
    delta: float,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    population: Population | None = None,
) -> Bound:
    """A central eps below which the shuffled reports are certainly not (eps, delta)-DP: `lower` is what counts.

    Args:
        delta: central delta in (0, 1).
        eps: as the other arguments, see `epsilon`.
        mechanism: any but "aligned", "common" and "tv", of which only some numbers are known.

    Raises:
        InvalidValue: an argument out of range, missing or superfluous.
        OutsideValidity: a mechanism that no attack here is made for.
    """
    runs = _mechanism(mechanism)
    if population is not None or isinstance(runs, Discrete):
        return _setting(runs, eps, n, budgets, population=population).epsilon(delta)
    if isinstance(runs, Allocation):
        if runs.k > 1:
            raise OutsideValidity("attack", "k = 1", f"got k = {runs.k}: only the blocks' own eps is known")
        return _Run(runs, eps, n, budgets).epsilon(delta)
    setting = _Setting(runs, eps, n, budgets)
    if runs.line:
        scales = setting.scales if setting.people is not None else setting.scales / setting.sensitivity
        found = attack_epsilon(scales, count=setting.count, delta=delta, mechanism=runs.name)
        if setting.sensitivity != 1:
            found = replace(
                found, note=f"values and inputs in units of their range, whose width is {setting.sensitivity:g}"
            )
    else:
        if isinstance(runs, Aligned | Common | TotalVariation):
            hint = f"of {runs.name!r} only some numbers are known: attack a randomizer that has them, such as rr"
            raise OutsideValidity("attack", "a known randomizer", hint)
        found = setting.epsilon(delta)
        if not found.reached:
            hint = "local deltas, or too many users of too many budgets"
            raise OutsideValidity("attack", "a setting whose reports can be told apart", hint)
    return replace(found, n=setting.n, relation=REPLACE)


def published(
    *,
    delta: float,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: Gaussian | str | None = None,
) -> list[BoundRow]:
    """Every published bound on the central eps at delta, the smallest first, with what it is valid for.

    Args:
        delta: central delta in (0, 1).
        eps: as n and budgets, see `epsilon`.
        mechanism: only bounds that hold for it: "common", "rr", "krr", "laplace", "clip_laplace", or a `Gaussian`.

    Raises:
        InvalidValue: an argument out of range, missing or superfluous.
    """
    if isinstance(mechanism, Gaussian):
        setting = _Setting(mechanism, eps, n, budgets)
        if setting.scales.size > 1:
            raise InvalidValue("sigma", mechanism.sigma, "one number, with n", "what was published is for equal noise")
        return compare_gaussian(sigma=float(setting.scales[0] / setting.sensitivity), n=setting.n, delta=delta)
    return compare(_people(eps, n, budgets, None, RandomizedResponse()), delta=delta, mechanism=mechanism)


def certify(
    *,
    delta: float,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
    population: Population | None = None,
) -> Certificate:
    """A certificate of a central eps that a stranger can check without this package (`gspa/check_certificate.py`).

    What is claimed has passed the check. It is the accountant's upper end and 2e-4 of it more where that is proved, and
    1% at most. Settings that take the checker more than a minute or 500 MB are refused. The upper end is that of
    `epsilon`, except for randomized response with more inputs than the checker can try: there it is that of "aligned".
    Shuffling is certified for a
    victim with more than the least noise, too, where `epsilon` has only measured the worst inputs: users with less
    noise than the victim then hide nobody.

    Args:
        delta: central delta, 1e-100 to 0.999999.
        eps: as n, budgets, honest and population, see `epsilon`; at most 1,000 distinct local eps up to 200.
        mechanism: any but `Duchi`; an `Allocation` of one epoch, k = 1 and Gaussian noise.
        rounds: how often everybody reports; 1 for `Discrete`, on a line and of a training run.

    Raises:
        DataUnavailable: python-flint is not installed; `pip install 'gspa[certify]'`.
        InvalidValue: an argument out of range, missing or superfluous.
        OutsideValidity: a setting that certificates do not cover yet.

    >>> certify(eps=0.5, n=10_000, delta=1e-4, mechanism="aligned").eps
    0.009666308
    """
    runs = _mechanism(mechanism)
    delta = check.probability(allow_zero=False, delta=delta)
    if runs.name in COVERED and population is None:
        people = _people(eps, n, budgets, honest, runs)
        return certificate(people, delta=delta, family=runs.name, rounds=rounds, **asdict(runs))
    if isinstance(runs, Duchi):
        raise OutsideValidity("certify", "another name", "Duchi et al.'s reports are those of rr: certify these")
    asked = _setting(runs, eps, n, budgets, rounds, honest, population)
    if isinstance(asked, _Written):
        return written(asked.groups, delta=delta)
    if rounds != 1:
        raise OutsideValidity("certify", "one round of this mechanism", "other rounds are not covered yet")
    if isinstance(runs, Laplace | Gaussian):
        asked = _Setting(runs, eps, n, budgets, honest=honest)
        width = asked.sensitivity
        crowd = laplace_gaussian.Crowd.of(asked.scales, asked.count, runs.name, width)
        return on_a_line(crowd, delta=delta)
    assert isinstance(runs, Allocation)
    run = _Run(runs, eps, n, budgets, honest=honest).asked
    return allocated(run, sigma=enclosed(Fraction(runs.sigma) / Fraction(runs.sensitivity))[0], delta=delta)


def to_dp_accounting(
    *,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
    step: float = 1e-4,
    pessimistic: bool = True,
) -> Any:
    """A privacy loss distribution of Google's `dp_accounting`, to compose with what it knows.

    The neighbours of shuffled reports replace one user's record, so compose them with laws for the same neighbours: a
    central Gaussian with noise of sigma times the most that replacing a record changes. A random allocation for
    "remove", "add" or "both" is in the library for both, in its two orders. `gspa.accountant.interop` has an example.

    Args:
        eps: as n, budgets, mechanism, rounds and honest, see `epsilon`.
        step: the library's value_discretization_interval, > 0; the same for all that is composed.
        pessimistic: whether the law errs upward (its deltas are at least the true ones) or downward.

    Returns:
        A `dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution`.

    Raises:
        DataUnavailable: dp_accounting is not installed; `pip install 'gspa[dp]'`.
        InvalidValue: an argument out of range, missing or superfluous.
        OutsideValidity: a worst user that is not known, or a grid too large.
    """
    runs = _mechanism(mechanism)
    if isinstance(runs, Allocation):
        dealt = _Run(runs, eps, n, budgets, rounds, honest).asked
        given = dealt.rounds("remove" if dealt.direction == "both" else dealt.direction)
        return interop.compose_with_dp_accounting(given, step=step, pessimistic=pessimistic)
    setting = _Setting(runs, eps, n, budgets, rounds, honest)
    return interop.compose_with_dp_accounting([(setting.round, setting.rounds)], step=step, pessimistic=pessimistic)

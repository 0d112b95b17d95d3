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
from collections.abc import Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from fractions import Fraction
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa.accountant import arguments as check
from gspa.accountant import attacks as histograms
from gspa.accountant import budgets as populations
from gspa.accountant import engine, exact, families, interop, inverse, laplace_gaussian, one_round, samplers
from gspa.accountant import rounds as composition
from gspa.accountant.allocation import Allocated
from gspa.accountant.attacks import attack_epsilon
from gspa.accountant.bound import Bound, enclosed
from gspa.accountant.budgets import Budgets
from gspa.accountant.certificates import COVERED, Certificate, allocated, certificate, on_a_line, written
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.families import Family
from gspa.accountant.one_round import UserBounds, honest_only, per_user_epsilon
from gspa.accountant.published import BoundRow, compare, compare_gaussian
from gspa.accountant.risk import Risk, attack_rates

__all__ = [
    "KRR",
    "Aligned",
    "Allocation",
    "Common",
    "Discrete",
    "Gaussian",
    "Laplace",
    "Mechanism",
    "RandomizedResponse",
    "SubsetSelection",
    "TotalVariation",
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
_WHICH = "which users to leave out is not known for {!r} with unequal {}"
Array = NDArray[np.float64]
Who = Budgets | ArrayLike | str | PathLike[str] | None
Population = Sequence[tuple["Discrete", int]]


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
        *(RandomizedResponse, Aligned, KRR, SubsetSelection, Common, TotalVariation, Discrete, Laplace, Gaussian),
        Allocation,
    )
}


def mechanism(name: str, **parameters: Any) -> Mechanism:
    """The mechanism of that name.

    Args:
        name: "rr", "aligned", "krr", "subset", "discrete", "laplace", "gaussian", "common", "tv" or "allocation".
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
    def round(self) -> composition.Round:
        """One of the rounds, for composition."""
        if self._round is None:
            if self.runs.line:
                self._round = composition.shuffled_reports(**self._line)
            else:
                assert self.people is not None
                self._round = composition.shuffled(self.people, mechanism=self.runs.family())
        return self._round

    def epsilon(self, delta: float) -> Bound:
        """The certified central eps."""
        if self.rounds > 1:
            bound = composition.compose([(self.round, self.rounds)], delta=delta)
        elif self.people is None or self.runs.line:
            bound = laplace_gaussian.blanket_epsilon(delta=delta, **self._line)
        elif isinstance(self.runs, RandomizedResponse):
            bound = exact.sharpest_epsilon(self.people, delta=delta)
        else:
            bound = one_round.central_epsilon(self.people, delta=delta, mechanism=self.runs.family())
        return self.stated(bound, delta)

    def delta(self, eps: float) -> Bound:
        """The certified central delta."""
        if self.rounds > 1:
            bound = composition.compose_delta([(self.round, self.rounds)], eps=eps)
        elif self.people is None or self.runs.line:
            bound = laplace_gaussian.blanket_delta(eps=eps, **self._line)
        elif isinstance(self.runs, RandomizedResponse):
            bound = exact.sharpest_delta(self.people, eps=eps)
        else:
            bound = one_round.central_delta(self.people, eps=eps, mechanism=self.runs.family())
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
        if check.count(rounds=rounds) > 1:
            raise OutsideValidity("composition", "one round of randomizers that are written down", f"got {rounds}")
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
        return self._stated(engine.discrete_epsilon(self.groups, delta=delta), delta)

    def delta(self, eps: float) -> Bound:
        bound = engine.discrete_delta(self.groups, eps=eps)
        return self._stated(bound, bound.upper)

    def _stated(self, bound: Bound, delta: float) -> Bound:
        return replace(bound, relation=REPLACE, warnings=_warnings(delta, self.n, self.honest))


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


def epsilon(
    *,
    delta: float,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
    population: Population | None = None,
) -> Bound:
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

    Raises:
        InvalidValue: an argument out of range, missing or superfluous.
        OutsideValidity: a setting that cannot be certified.
    """
    return _setting(_mechanism(mechanism), eps, n, budgets, rounds, honest, population).epsilon(delta)


def delta(
    *,
    at_eps: float,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
    population: Population | None = None,
) -> Bound:
    """Central delta of shuffled reports at a central eps, certified: `upper` errs upward.

    Args:
        at_eps: central eps, >= 0.
        eps: as the other arguments, see `epsilon`.

    Raises:
        InvalidValue: an argument out of range, missing or superfluous.
        OutsideValidity: a setting that cannot be certified.
    """
    at_eps = check.nonnegative(at_eps=at_eps)
    return _setting(_mechanism(mechanism), eps, n, budgets, rounds, honest, population).delta(at_eps)


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
    mechanism: Mechanism | str = "rr",
) -> Bound:
    """What meets a central (eps, delta): the largest local eps for n, the fewest users for eps, or rounds for both.

    The answer's safe end is `lower` for a local eps and for rounds, `upper` for a number of users and for a sigma. On a
    line it is the largest local eps of Laplace noise, or the smallest sigma of Gaussian noise, for n.

    Args:
        target_eps: central eps to meet, > 0.
        delta: central delta in (0, 1).
        n: number of users.
        eps: local budget.
        mechanism: what every user runs; on a line without the noise that is to be found.

    Raises:
        InvalidValue: an argument out of range, or neither n nor eps.
        OutsideValidity: no such answer.
    """
    runs, target_eps = _mechanism(mechanism), check.positive(target_eps=target_eps)
    if isinstance(runs, Laplace | Gaussian):
        found = _calibrate_noise(runs, target_eps, delta, n, eps)
    else:
        found = _calibrate_clones(runs, target_eps, delta, n, eps)
    found = _passing(found, runs, target_eps, n, eps)
    return replace(found, relation=REPLACE, warnings=_warnings(delta, n if n is not None else int(found.upper), None))


def _passing(found: Bound, runs: Mechanism, target: float, n: int | None, eps: float | None) -> Bound:
    """With a safe end at which `epsilon`, asked the same, is at most the target.

    Its interval at one delta and that of `delta` at one eps are two intervals around one value: what the one passes
    the other may miss by its width.
    """
    assert found.delta is not None
    delta, least_is_safe = found.delta, isinstance(runs, Gaussian) or n is None

    def excess(end: float) -> float:
        if isinstance(runs, Gaussian):
            return epsilon(delta=delta, n=n, mechanism=replace(runs, sigma=end)).upper / target - 1
        if n is not None and eps is None:
            return epsilon(delta=delta, eps=end, n=n, mechanism=runs).upper / target - 1
        users, rounds = (int(end), 1) if n is None else (n, int(end))
        return epsilon(delta=delta, eps=eps, n=users, rounds=rounds, mechanism=runs).upper / target - 1

    end, whole, share = found.upper if least_is_safe else found.lower, eps is not None, 2.0**-53
    while end > 0 and (over := excess(end)) > 0:
        share = max(2 * share, min(2 * over, 1e-4))  # eps grows about like a budget, or as the users' square root falls
        moved = end * (1 + share if least_is_safe else 1 - min(share, 0.5))
        end = math.ceil(max(moved, end + 1)) if whole and least_is_safe else end - 1 if whole else moved
    if least_is_safe:
        return replace(found, value=end if found.value == found.upper else found.value, upper=end)
    return replace(found, value=end if found.value == found.lower else found.value, lower=end)


def _calibrate_clones(runs: Mechanism, target: float, delta: float, n: int | None, eps: float | None) -> Bound:
    chosen, own = runs.family(), isinstance(runs, RandomizedResponse)
    if eps is not None:
        eps = check.nonnegative(eps=eps)
    if n is not None and eps is not None:
        found = inverse.most_rounds(populations.constant(eps, n=n), eps=target, delta=delta, mechanism=chosen)
        return replace(found, note=_PAIR.format(_ROUNDS)) if own else found
    if n is not None:
        found = inverse.largest_local_epsilon(eps=target, delta=delta, n=n, mechanism=chosen, exact=own)
    elif eps is not None:
        found = inverse.least_users(eps, eps=target, delta=delta, mechanism=chosen, exact=own)
    else:
        raise InvalidValue("n", None, "given", "give n, eps or both: the local eps, the users or the rounds are found")
    return replace(found, note=_PAIR.format(exact.TOO_MANY)) if own and found.method == one_round.METHOD else found


def _calibrate_noise(runs: Laplace | Gaussian, target: float, delta: float, n: int | None, eps: float | None) -> Bound:
    word, given = ("scale", runs.scale) if isinstance(runs, Laplace) else ("sigma", runs.sigma)
    found = "the largest local eps" if word == "scale" else "the smallest sigma"
    for name, value in ((word, given), ("eps", eps)):
        if value is not None:
            raise InvalidValue(
                name, value, "left out", f"calibrate finds {found} for n; ask epsilon for other questions"
            )
    if n is None:
        raise InvalidValue("n", None, "given", f"calibrate finds {found} for a number of users")
    width = runs.sensitivity
    gap = inverse.largest_gap(eps=target, delta=delta, n=n, mechanism=runs.name, sensitivity=width)
    if word == "scale":
        return gap
    return replace(gap, lower=width / gap.upper, value=width / gap.lower, upper=width / gap.lower)


def per_user(*, budgets: Who = None, delta: float, mechanism: Mechanism | str = "rr") -> UserBounds:
    """Central eps of each user's own record at delta, certified.

    Args:
        budgets: as for `epsilon`; left out where the mechanism has a scale or sigma for each user.
        delta: central delta in (0, 1).
        mechanism: what every user runs; on a line, at most 64 distinct scales.

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
    if own is not None or runs.line:
        found = _per_scale(runs, own, budgets, delta)
        n = None if own is None else int(own[1].sum())
    else:
        people = _people(None, None, budgets, None, runs)
        if isinstance(runs, RandomizedResponse):
            found = exact.sharpest_per_user(people, delta=delta)
        else:
            found = per_user_epsilon(people, delta=delta, mechanism=runs.family())
        n = people.n
    return replace(found, relation=REPLACE, warnings=_warnings(delta, n, None))


def _per_scale(runs: Mechanism, own: tuple[Array, Array] | None, who: Who, delta: float) -> UserBounds:
    """Each distinct scale's users by the blanket, the others as they are."""
    if own is None:
        people = _people(None, None, who, None, runs)
        users: Any = people.grouped()
        where, many, distinct = np.searchsorted(users.eps, people.eps), users.count, users.eps.size
    else:
        users, where = np.unique(own[0], return_inverse=True)
        many, distinct = np.bincount(where, own[1]).astype(np.int64), users.size
    if distinct > laplace_gaussian.MOST_VICTIMS:
        hint = "let users share scales"
        raise InvalidValue("scales", distinct, f"at most {laplace_gaussian.MOST_VICTIMS} distinct ones", hint)
    width = float(getattr(runs, "sensitivity", 1.0))
    line: dict[str, Any] = {"count": many, "mechanism": runs.name, "sensitivity": width}
    found = [laplace_gaussian.blanket_epsilon(users, delta=delta, victim=i, **line) for i in range(distinct)]
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
        mechanism: "rr" (exact), k-RR, Laplace or Gaussian, a matrix, or a training run (exact).

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
    elif isinstance(runs, RandomizedResponse):
        assert setting.people is not None
        found = exact.exact_epsilon(setting.people, delta=delta)
    elif isinstance(runs, KRR):
        assert setting.people is not None
        found = histograms.worst_epsilon(setting.people, delta=delta, k=runs.k)
    else:
        hint = f"got {runs.name!r}"
        if isinstance(runs, Aligned | Common | TotalVariation):
            hint += ", of which only some numbers are known: attack a randomizer that has them, such as rr"
        raise OutsideValidity("attack", "rr, krr, discrete, laplace, gaussian or allocation", hint)
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
    `epsilon`, except for randomized response in one round: there it is that of "aligned". Shuffling is certified for a
    victim with more than the least noise, too, where `epsilon` has only measured the worst inputs: users with less
    noise than the victim then hide nobody.

    Args:
        delta: central delta, 1e-100 to 0.999999.
        eps: as n, budgets, honest and population, see `epsilon`; at most 1,000 distinct local eps up to 200.
        mechanism: "rr", "aligned", "common", "laplace", or a `TotalVariation`, `KRR`, `SubsetSelection`, `Discrete`,
            `Laplace`, `Gaussian` or `Allocation` (one epoch, k = 1, Gaussian noise).
        rounds: how often everybody reports; 1 for `Discrete`, on a line and of a training run.

    Raises:
        DataUnavailable: python-flint is not installed; `pip install 'gspa[certify]'`.
        InvalidValue: an argument out of range, missing or superfluous.
        OutsideValidity: a setting that certificates do not cover yet.

    >>> certify(eps=0.5, n=10_000, delta=1e-4, mechanism="aligned").eps
    0.009666308
    """
    runs = _mechanism(mechanism)
    if runs.name in COVERED and population is None:
        people = _people(eps, n, budgets, honest, runs)
        return certificate(people, delta=delta, family=runs.name, rounds=rounds, **asdict(runs))
    asked = _setting(runs, eps, n, budgets, rounds, honest, population)
    if isinstance(asked, _Written):
        return written(asked.groups, delta=check.probability(allow_zero=False, delta=delta))
    if rounds != 1:
        raise OutsideValidity("certify", "one round of this mechanism", "other rounds are not covered yet")
    delta = check.probability(allow_zero=False, delta=delta)
    if isinstance(runs, Laplace | Gaussian):
        asked = _Setting(runs, eps, n, budgets, honest=honest)
        width = asked.sensitivity
        crowd = laplace_gaussian.Crowd.of(asked.scales, asked.count, runs.name, (0.0, 1.0), width)
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
    """Shuffled reports as a privacy loss distribution of Google's `dp_accounting`, to compose with what it knows.

    Its neighbours replace one user's record, so compose it with laws for the same neighbours: a central Gaussian with
    noise of sigma times the most that replacing a record changes. See `gspa.accountant.interop` for an example.

    Args:
        eps: as n, budgets, mechanism, rounds and honest, see `epsilon`; not on a line.
        step: the library's value_discretization_interval, > 0; the same for all that is composed.
        pessimistic: whether the law errs upward (its deltas are at least the true ones) or downward.

    Returns:
        A `dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution`.

    Raises:
        DataUnavailable: dp_accounting is not installed; `pip install 'gspa[dp]'`.
        InvalidValue: an argument out of range, missing or superfluous.
        OutsideValidity: a worst user that is not known, reports on a line, or a grid too large.
    """
    runs = _mechanism(mechanism)
    if isinstance(runs, Allocation):
        hint = "its law depends on the delta that is asked; compose with gspa.accountant.allocation.allocated"
        raise OutsideValidity("export to dp_accounting", "shuffled reports", hint)
    setting = _Setting(runs, eps, n, budgets, rounds, honest)
    return interop.compose_with_dp_accounting([(setting.round, setting.rounds)], step=step, pessimistic=pessimistic)

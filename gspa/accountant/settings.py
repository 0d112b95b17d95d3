"""Who reports, what they run and how often: checked once, then asked what the front door asks.

>>> from gspa.accountant.randomizers import KRR
>>> one = setting(KRR(k=10), 0.5, 10_000, None)
>>> one.n, one.top, one.epsilon(1e-6).upper < 0.02
(10000, 0.5, True)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa.accountant import arguments as check
from gspa.accountant import budgets as populations
from gspa.accountant import certificates, engine, laplace_gaussian
from gspa.accountant import rounds as composition
from gspa.accountant.allocation import Allocated, Allocation
from gspa.accountant.arguments import Array
from gspa.accountant.attacks import attack_delta, attack_epsilon
from gspa.accountant.bound import Bound
from gspa.accountant.budgets import Budgets
from gspa.accountant.certificates import Certificate
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.one_round import UserBounds, central_delta, central_epsilon, honest_only
from gspa.accountant.randomizers import Discrete, Duchi, Gaussian, Laplace, Mechanism, RandomizedResponse, Randomizer
from gspa.accountant.risk import Risk, attack_rates
from gspa.accountant.tradeoff import gdp_epsilon

Who = Budgets | ArrayLike | str | PathLike[str] | None
Population = Sequence[tuple[Discrete, int]]
Indices = NDArray[np.intp]
Counts = NDArray[np.int64]

REPLACE = "replace one user's record"
CELLS = 600  # of reports on a line, for the lower end
_SUMMED = 10**6  # users whose scores are added up for it
_ASKED = 8  # users at most for an estimate
_GUESSED = 1e-6  # a delta at which randomizers are compared that many rounds may have
_BY_PAIRS = "the dominating pair, because rounds compose pairs, not the exact law"


def warnings(delta: float, n: int | None, honest: int | None) -> tuple[str, ...]:
    """What a reader of an answer should not overlook."""
    large = f"delta = {delta:.3g} is at least 1/n: a mechanism that publishes one record in full could meet this"
    said = [large] if n is not None and delta >= 1 / n else []
    rests = "this rests on a shuffler that is trusted"
    if honest is None:
        rests += ", and on users who do not collude with the analyzer: if some may, give honest, the number who do not"
    return (*said, rests)


class Setting:
    """One kind of users and what they run; the kinds are below."""

    # --- what each kind says of itself ---

    runs: Mechanism  # if it is one for all
    n: int | None  # of users; a training run has none
    top: float = math.inf  # delta(eps) is flat beyond it: the largest local eps of all rounds together
    rounds = 1  # how often everybody reports
    once: Setting | None = None  # the same in another number of rounds, whose law this one shares
    honest: int | None = None  # how many of the users follow the protocol, if that was given
    by_pairs = ""  # what to say of several rounds
    one_epsilon: Callable[..., Bound]  # of one round, at a delta
    one_delta: Callable[..., Bound]  # of one round, at an eps
    proof: Callable[..., Certificate]  # at a delta: of one round, or of all where the next says so
    proves_rounds = False
    law: Callable[..., composition.Round]  # of one round, for composition; of one victim if that is given

    @cached_property
    def round(self) -> composition.Round:
        """One of the rounds, whoever is the victim."""
        return self.once.round if self.once else self.law()

    def laws(self) -> list[tuple[composition.Round, int]]:
        """All that is composed."""
        return [(self.round, self.rounds)]

    def only(self, honest: int) -> Setting:
        """The same with so many of the users, the worst to be among."""
        raise InvalidValue("honest", honest, "left out", "a training run has steps, not users who report")

    def often(self, rounds: int) -> Self:
        """The same in that many rounds."""
        many = copy(self)
        many.rounds, many.top, many.once = rounds, self.top / self.rounds * rounds, self
        return many

    # --- what the front door asks ---

    def epsilon(self, delta: float) -> Bound:
        """The certified central eps."""
        delta = check.probability(allow_zero=False, delta=delta)
        if self.rounds == 1:
            return self.stated(self.one_epsilon(delta=delta), delta)
        return self.stated(composition.compose(self.laws(), delta=delta), delta)

    def quick(self, end: str, delta: float) -> float | None:
        """Its "lower" or "upper" end alone, where that takes less time: for a search, it may differ by rounding."""
        return None

    def about(self, delta: float) -> float | None:
        """An estimate of the central eps, where that takes much less time: for a search to start from."""
        return None

    def delta(self, eps: float) -> Bound:
        """The certified central delta."""
        eps = check.nonnegative(at_eps=eps)
        bound = self.one_delta(eps=eps) if self.rounds == 1 else composition.compose_delta(self.laws(), eps=eps)
        return self.stated(bound, bound.upper)

    def stated(self, bound: Bound, delta: float) -> Bound:
        """With the relation, the warnings, and what else the engine behind it does not know."""
        notes = [self.by_pairs if self.rounds > 1 else "", bound.note]
        said = warnings(delta, self.n, self.honest)
        return replace(bound, n=self.n, note="; ".join(filter(None, notes)), relation=REPLACE, warnings=said)

    def risk(self, fpr: tuple[float, ...] = (0.01, 0.001)) -> Risk:
        """What an attacker gets at these false-positive rates."""
        first = self.delta(0.0)
        advantage, tpr = attack_rates(lambda at: self.delta(at).upper if at else first.upper, fpr, top=self.top)
        return Risk(fpr, tpr, advantage, first.method, first.valid_for, first.relation, first.proved)

    def attack(self, delta: float) -> Bound:
        """A central eps that an attack reaches."""
        return self.epsilon(delta)

    def each(self, where: Indices, delta: float, name: str) -> UserBounds:
        """Central eps of each user's own record, given which of the distinct budgets or scales is whose."""
        distinct = int(where.max()) + 1
        if distinct > (most := laplace_gaussian.MOST_VICTIMS):
            raise InvalidValue(name, distinct, f"at most {most} distinct ones", f"let users share {name}")
        if self.rounds == 1:
            found = [self.one_epsilon(delta=delta, victim=i) for i in range(distinct)]
        else:
            found = [composition.compose([(self.law(victim=i), self.rounds)], delta=delta) for i in range(distinct)]
        upper, lower = (np.array([getattr(one, end) for one in found])[where] for end in ("upper", "lower"))
        last = next((one for one in found if not one.proved), found[-1])
        note = "; ".join(dict.fromkeys(one.note for one in found if ";" in one.note))  # of some there is more to say
        reached, proved = all(one.reached for one in found), last.proved
        about = last.method, last.valid_for, delta
        return UserBounds(lower, upper, *about, note=note, reached=reached, proved=proved)

    def certificate(self, delta: float) -> Certificate:
        """A proof that a stranger can check."""
        delta = check.probability(allow_zero=False, delta=delta)
        if self.rounds > 1 and not self.proves_rounds:
            raise OutsideValidity("certify", "one round of this mechanism", "other rounds are not covered yet")
        return self.proof(delta=delta)


class Shuffled(Setting):
    """Users of one kind of randomizer, by their local budgets."""

    proves_rounds = True

    def __init__(self, runs: Randomizer, people: Budgets) -> None:
        self.runs: Randomizer = runs
        self.people, self.n, self.top = people, people.n, people.eps_max
        self.by_pairs = _BY_PAIRS if runs.bits else ""
        self.one_epsilon, self.one_delta = partial(self._least, central_epsilon), partial(self._least, central_delta)

    def _least(self, engine_of: Callable[..., Bound], **asked: Any) -> Bound:
        """The least of what is proved for these users."""
        found = [engine_of(self.people, mechanism=one, **asked) for one in self.runs.wider(self.people.eps_max)]
        best = replace(min(found, key=lambda bound: bound.upper), valid_for=found[0].valid_for)
        return engine.sharpened(best, self.people, self.runs)

    def _tightest(self, delta: float) -> Randomizer:
        """With which of these the upper end at this delta is the least."""
        several = self.runs.wider(self.people.eps_max)
        if len(several) == 1:
            return self.runs
        return min(several, key=lambda one: central_epsilon(self.people, delta=delta, mechanism=one).upper)

    def proof(self, delta: float) -> Certificate:
        if isinstance(self.runs, Duchi):
            raise OutsideValidity("certify", "another name", "Duchi et al.'s reports are those of rr: certify these")
        return certificates.certificate(self.people, delta=delta, mechanism=self._tightest(delta), rounds=self.rounds)

    def law(self, victim: int | None = None) -> composition.Round:
        return composition.shuffled(self.people.grouped(), mechanism=self._tightest(_GUESSED), victim=victim)

    def attack(self, delta: float) -> Bound:
        if not self.runs.known:
            hint = f"of {self.runs.name!r} only some numbers are known: attack a randomizer that has them, such as rr"
            raise OutsideValidity("attack", "a known randomizer", hint)
        found = self.epsilon(delta)
        if not found.reached:
            hint = "local deltas, or too many users of too many budgets"
            raise OutsideValidity("attack", "a setting whose reports can be told apart", hint)
        return found

    def about(self, delta: float) -> float | None:
        exact = self.runs.bits and self.rounds == 1
        return central_epsilon(self.people, delta=delta, mechanism=self.runs).upper if exact else None

    def only(self, honest: int) -> Setting:
        return Shuffled(self.runs, honest_only(self.people, honest=honest))

    def times(self, factor: float) -> Setting:
        """The same with all local eps times a factor."""
        return Shuffled(self.runs, _scaled(self.people, factor)).often(self.rounds)

    def per_user(self, delta: float) -> UserBounds:
        """Central eps of each user's own record."""
        if self.rounds == 1:
            return engine.named_per_user(self.people, delta=delta, mechanism=self._tightest(delta))
        return self.each(self.people.distinct()[1], delta, "budgets")


def _scaled(people: Budgets, factor: float) -> Budgets:
    if people.eps_max == 0:
        raise InvalidValue("budgets", people.eps.tolist()[:3], "one that is above 0", "there is nothing to multiply")
    return replace(people, eps=people.eps * factor)


class OnLine(Setting):
    """Values with noise: distinct scales, or `Budgets` of Laplace noise, how many have each, and which is whose."""

    n: int

    def __init__(self, runs: Laplace | Gaussian, scales: Budgets | Array, count: Counts, where: Indices) -> None:
        self.runs: Laplace | Gaussian = runs
        self.scales, self.count, self.where = scales, count, where
        self.n, self.width = int(count.sum()), runs.sensitivity
        # As the engine of reports on a line takes them, and as attacks do: values in units of their range.
        self.line: dict[str, Any] = {"count": count, "mechanism": runs.name, "scales": scales}
        self.attacked = dict(self.line)
        if not isinstance(scales, Budgets):
            with np.errstate(over="ignore"):
                self.attacked["scales"] = scales / self.width
            if np.isinf(self.attacked["scales"]).any():
                raise InvalidValue("sensitivity", self.width, "less far below the noise", "their ratio is no double")
        self.line["sensitivity"] = self.width
        self.law = partial(composition.shuffled_reports, **self.line)
        self.top = scales.eps_max if isinstance(scales, Budgets) else math.inf

    @property
    def _coarse(self) -> dict[str, Any]:
        """What a linear score of few cells tells, in milliseconds."""
        return self.attacked | {"cells": CELLS} | ({"statistic": "linear"} if self.n <= _SUMMED else {})

    def one_epsilon(self, **asked: Any) -> Bound:
        return self._answer(laplace_gaussian.blanket_epsilon, attack_epsilon, asked)

    def one_delta(self, **asked: Any) -> Bound:
        return self._answer(laplace_gaussian.blanket_delta, attack_delta, asked)

    def _answer(self, engine: Callable[..., Bound], attack: Callable[..., Bound], asked: dict[str, Any]) -> Bound:
        """With the lower end of an attack, where one can be evaluated."""
        bound = engine(**asked, **self.line)
        if bound.reached or bound.upper == 0:
            return bound
        try:
            low = attack(**asked, **self._coarse).lower
        except OutsideValidity:  # more users than a sum is evaluated for
            return bound
        return laplace_gaussian.attacked(bound, low)

    def quick(self, end: str, delta: float) -> float | None:
        if end == "lower" and self.rounds == 1 and 1 < self.n <= _SUMMED:
            return attack_epsilon(delta=delta, **self._coarse).lower
        if self.rounds > 1 and self.count.size == 1 and end == "upper":
            return composition.compose([(self.law(both=False), self.rounds)], delta=delta).upper
        return None

    def about(self, delta: float) -> float | None:
        crowd = laplace_gaussian.Crowd.of(**self.line)
        victims = crowd.candidates(None)
        some = victims[:: 1 + len(victims) // _ASKED]
        mu = max((crowd.envelopes(victim, delta / self.rounds)[1] for victim in some), default=0.0)
        return gdp_epsilon(delta=delta, mu=mu * math.sqrt(self.rounds)) if mu < math.inf else math.inf

    def proof(self, delta: float) -> Certificate:
        return certificates.on_a_line(laplace_gaussian.Crowd.of(**self.line), delta=delta)

    def attack(self, delta: float) -> Bound:
        if laplace_gaussian.Crowd.of(**self.line).alone:
            return self.epsilon(delta)
        found = attack_epsilon(delta=delta, **self.attacked)
        if self.width != 1:
            units = f"values and inputs in units of their range, whose width is {self.width:g}"
            found = replace(found, note=units)
        return replace(found, n=self.n, relation=REPLACE, warnings=warnings(delta, self.n, None))

    def only(self, honest: int) -> Setting:
        # It is not the smallest budgets, or the largest noise, whose loss must hurt most: the tails' shapes decide.
        if self.count.size > 1:
            what = "eps" if isinstance(self.scales, Budgets) else "noise"
            hint = f"which users to leave out is not known for {self.runs.name!r} with unequal {what}"
            raise InvalidValue("honest", honest, "left out", hint)
        count = np.array([honest])
        scales = replace(self.scales, count=count) if isinstance(self.scales, Budgets) else self.scales
        return OnLine(self.runs, scales, count, self.where)

    def times(self, factor: float) -> Setting:
        """The same with all local eps, or all noise, times a factor."""
        scales = _scaled(self.scales, factor) if isinstance(self.scales, Budgets) else self.scales * factor
        return OnLine(self.runs, scales, self.count, self.where).often(self.rounds)

    def per_user(self, delta: float) -> UserBounds:
        """Central eps of each user's own record."""
        found = self.each(self.where, delta, "scales")
        return replace(found, valid_for=in_range(found.valid_for, self.width))

    def stated(self, bound: Bound, delta: float) -> Bound:
        return super().stated(replace(bound, valid_for=in_range(bound.valid_for, self.width)), delta)


def in_range(words: str, width: float) -> str:
    """What the engine says of values in [0, 1], for values in a range of this width."""
    return words.replace("[0, 1]", f"[0, {width:g}]").replace("; 0 and 1 as", f"; 0 and {width:g} as")


class Written(Setting):
    """Users of randomizers that are written down."""

    def __init__(self, groups: list[tuple[ArrayLike, int]]) -> None:
        self.groups, self.n = groups, sum(count for _, count in groups)
        self.one_epsilon = partial(engine.discrete_epsilon, groups)
        self.one_delta = partial(engine.discrete_delta, groups)
        self.proof = partial(certificates.written, groups)
        self.law = partial(engine.discrete_round, groups)

    def only(self, honest: int) -> Setting:
        (table, _), *others = self.groups
        if others:
            raise InvalidValue("honest", honest, "left out", "which users to leave out of several groups is not known")
        return Written([(table, honest)])

    def epsilon(self, delta: float) -> Bound:
        found = super().epsilon(delta)
        if found.upper == math.inf:
            hint = "with more than that a report shows what some input never sends, and nobody hides it"
            raise OutsideValidity("central epsilon", "a larger delta", hint)
        return found


class Dealt(Setting):
    """A training run."""

    n = None

    def __init__(self, runs: Allocation) -> None:
        self.runs: Allocation = runs
        self.asked = Allocated(runs)
        self.one_epsilon, self.one_delta = self.asked.epsilon, self.asked.delta
        self.proof = partial(certificates.allocated, self.asked)

    def laws(self) -> list[tuple[composition.Round, int]]:
        return self.asked.rounds(self.asked.directions()[0])

    def often(self, rounds: int) -> Self:
        raise InvalidValue("rounds", rounds, "left out", "a training run has epochs")

    def risk(self, fpr: tuple[float, ...] = (0.01, 0.001)) -> Risk:
        both = Dealt(replace(self.runs, direction="both"))  # a curve of both orders is needed
        return Setting.risk(self if self.runs.direction == "replace" else both, fpr)

    def attack(self, delta: float) -> Bound:
        if self.runs.k > 1:
            raise OutsideValidity("attack", "k = 1", f"got k = {self.runs.k}: only the blocks' own eps is known")
        return self.epsilon(delta)

    def stated(self, bound: Bound, delta: float) -> Bound:
        said = "each record must be dealt by itself: batches of one fixed size are not of this kind"
        if self.runs.deal == "each epoch":
            said += (
                ", nor is one deal that all epochs keep, as jax_privacy's BallsInBinsSampling does: give deal 'once'"
            )
        return replace(bound, warnings=(said,))


# --- which setting the arguments mean ------------------------------------------------------------------------


def setting(
    runs: Mechanism,
    eps: float | None,
    n: int | None,
    budgets: Who,
    rounds: int | None = None,
    honest: int | None = None,
    population: Population | None = None,
) -> Setting:
    """The setting that the front door's arguments mean; refuses what contradicts itself."""
    rounds = 1 if rounds is None else check.count(rounds=rounds)
    if population is not None:
        given = None if runs == RandomizedResponse() else runs.name
        left_out("a population says who reports, and by what", eps=eps, n=n, budgets=budgets, mechanism=given)
        found: Setting = Written(_groups(population))
    elif isinstance(runs, Discrete):
        left_out("the matrix says how private a report is", eps=eps, budgets=budgets)
        if n is None:
            raise InvalidValue("n", None, "given", "say how many report, or give a population")
        found = Written([(runs.matrix, check.count(n=n))])
    elif isinstance(runs, Allocation):
        left_out("a training run has steps, not users who report", eps=eps, n=n, budgets=budgets)
        found = Dealt(runs)
    elif isinstance(runs, Laplace | Gaussian):
        found = _on_a_line(runs, eps, n, budgets)
    elif isinstance(runs, Randomizer):
        found = Shuffled(runs, people(eps, n, budgets))
    else:
        raise InvalidValue("mechanism", runs, "one of its kinds, such as RandomizedResponse() or KRR(k=10)")
    if honest is not None:
        honest = check.count(honest=honest)
        if found.n is not None and honest > found.n:
            raise InvalidValue("honest", honest, f"at most n = {found.n}")
        found = found.only(honest)
        found.honest = honest
    return found if rounds == 1 else found.often(rounds)


def left_out(why: str, **given: object) -> None:
    """Refuses arguments beside what says the same."""
    for name, value in given.items():
        if value is not None:
            raise InvalidValue(name, value, "left out", why)


def people(eps: float | None, n: int | None, who: Who) -> Budgets:
    """The users' budgets; refuses what contradicts itself."""
    if who is not None:
        if eps is not None or n is not None:
            raise InvalidValue("budgets", who, "given without eps and n")
        if isinstance(who, Budgets):
            return who
        return populations.from_csv(str(who)) if isinstance(who, str | PathLike) else populations.from_array(who)
    if eps is None or n is None:
        missing = "eps" if eps is None else "n"
        raise InvalidValue(missing, None, "given", "say who reports: eps and n, or budgets")
    return populations.constant(eps, n=n)


def _groups(population: Population) -> list[tuple[ArrayLike, int]]:
    groups: list[tuple[Discrete, int]] = []
    with suppress(TypeError, ValueError):
        groups = [(runs, count) for runs, count in population]
    if not groups:
        raise InvalidValue("population", population, "a list of (Discrete(matrix), count) pairs, at least one")
    for i, (runs, _) in enumerate(groups):
        if not isinstance(runs, Discrete):
            raise InvalidValue(f"population[{i}]", runs, "a pair of Discrete(matrix) and a count")
    return [(runs.matrix, check.count(count=count)) for runs, count in groups]


def _on_a_line(runs: Laplace | Gaussian, eps: float | None, n: int | None, who: Who) -> OnLine:
    """Users by their local eps, or by the noise of each."""
    word, given = ("scale", runs.scale) if isinstance(runs, Laplace) else ("sigma", runs.sigma)
    if given is None and word == "scale":
        distinct, where = people(eps, n, who).distinct()
        return OnLine(runs, distinct, distinct.count, where)
    finite = "its scale says how much noise there is" if word == "scale" else "Gaussian noise has no finite local eps"
    left_out(finite, eps=eps)
    if given is None:
        if who is None:
            hint = f'mechanism "{runs.name}" needs it, or a CSV file of them as budgets'
            raise InvalidValue(word, None, "a number", hint)
        left_out("the file says how many report", n=n)
        if not isinstance(who, str | PathLike):
            hint = "or give Gaussian(sigma=[...]), a sigma for each user"
            raise InvalidValue("budgets", who, "a CSV file with columns sigma[,count]", hint)
        columns = populations.read(str(who), column=word)
        scales, count = columns[word], columns.get("count", np.ones(columns[word].size))
    else:
        left_out(f"{word} says who reports", budgets=who)
        scales, several = np.atleast_1d(given), isinstance(given, Sequence)
        if n is None and not several:
            raise InvalidValue("n", n, "given", "say how many report")
        users = scales.size if n is None else check.count(n=n)
        if several and users != scales.size:
            raise InvalidValue("n", n, f"left out, or {scales.size}", f"there are as many values of {word}")
        count = np.full(scales.size, 1 if several else users)
    values, where = np.unique(scales, return_inverse=True)
    if count.sum() > check.MOST:
        raise InvalidValue("sum of count", float(count.sum()), "at most 2^53 - 1")
    return OnLine(runs, values, np.bincount(where, count).astype(np.int64), where)

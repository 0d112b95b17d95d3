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

from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, replace
from functools import cache
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from gspa.accountant import arguments as check
from gspa.accountant import interop
from gspa.accountant.allocation import Allocation
from gspa.accountant.bound import Bound
from gspa.accountant.certificates import Certificate
from gspa.accountant.errors import InvalidValue
from gspa.accountant.inverse import find
from gspa.accountant.one_round import UserBounds
from gspa.accountant.published import BoundRow, compare
from gspa.accountant.randomizers import (
    KRR,
    Aligned,
    Common,
    Discrete,
    Duchi,
    Gaussian,
    HadamardResponse,
    Laplace,
    LocalHashing,
    Mechanism,
    Piecewise,
    RandomizedResponse,
    Randomizer,
    Rappor,
    SubsetSelection,
    TotalVariation,
    UnaryEncoding,
)
from gspa.accountant.risk import Risk
from gspa.accountant.samplers import accounting_for as accounting_for  # a door of `gspa`
from gspa.accountant.settings import REPLACE, OnLine, Population, Setting, Shuffled, Who, people, setting, warnings

_MOST_ASKED = 10**6  # settings in one call
Numbers = float | Sequence[float] | NDArray[Any]


_KINDS: dict[str, type[Mechanism]] = {
    kind.name: kind
    for kind in (
        *(RandomizedResponse, KRR, SubsetSelection, UnaryEncoding, Rappor, LocalHashing, HadamardResponse, Piecewise),
        *(Duchi, Discrete, Laplace, Gaussian, Aligned, Common, TotalVariation, Allocation),
    )
}


def mechanism(name: str, **parameters: Any) -> Mechanism:
    """The mechanism of that name, such as "krr" or "laplace"; of its own parameters, one that is None is left out."""
    name = check.one_of(_KINDS, mechanism=name)
    used = {one.name: one.default is MISSING for one in fields(_KINDS[name]) if one.init}
    given = {key: value for key, value in parameters.items() if value is not None}
    for key in sorted(key for key, needed in used.items() if needed and key not in given):
        raise InvalidValue(key, None, "given", f'mechanism "{name}" needs it')
    for key in sorted(given.keys() - used.keys()):
        raise InvalidValue(key, given[key], "left out", f'mechanism "{name}" does not use it')
    return _KINDS[name](**given)


def _mechanism(given: Mechanism | str) -> Mechanism:
    return given if isinstance(given, Mechanism) else mechanism(given)


class _Others(TypedDict, total=False):
    """What `epsilon` and `delta` take besides, for one setting or several."""

    budgets: Who
    mechanism: Mechanism | str
    rounds: int
    honest: int | None
    population: Population | None


@overload
def epsilon(  # type: ignore[overload-overlap]  # one number is a case of several
    *, delta: float, eps: float | None = None, n: int | None = None, **others: Unpack[_Others]
) -> Bound: ...
@overload
def epsilon(
    *, delta: Numbers, eps: Numbers | None = None, n: Numbers | None = None, **others: Unpack[_Others]
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

    >>> [bound.upper < 0.02 for bound in epsilon(eps=0.5, n=[10_000, 10**6], delta=1e-6)]
    [True, True]
    """
    common = (budgets, rounds, honest, population)
    return _answers(Setting.epsilon, _mechanism(mechanism), common, delta=delta, eps=eps, n=n)


@overload
def delta(  # type: ignore[overload-overlap]  # one number is a case of several
    *, at_eps: float, eps: float | None = None, n: int | None = None, **others: Unpack[_Others]
) -> Bound: ...
@overload
def delta(
    *, at_eps: Numbers, eps: Numbers | None = None, n: Numbers | None = None, **others: Unpack[_Others]
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
    """
    common = (budgets, rounds, honest, population)
    return _answers(Setting.delta, _mechanism(mechanism), common, at_eps=at_eps, eps=eps, n=n)


def _answers(
    ask: Callable[[Setting, float], Bound], runs: Mechanism, common: tuple[Any, ...], **given: Any
) -> Bound | list[Bound]:
    """What `ask` says of a setting at a delta or eps, the first of `given`; of arrays, entry by entry."""
    if not any(np.iterable(value) and not isinstance(value, str | bytes) for value in given.values()):
        at, eps, n = given.values()
        return ask(setting(runs, eps, n, *common), at)
    columns: dict[str, Any] = {name: None if value is None else _column(name, value) for name, value in given.items()}
    try:
        rows = np.broadcast(*columns.values())
    except ValueError:
        shapes = ", ".join(f"{name} {column.shape}" for name, column in columns.items() if column is not None)
        raise InvalidValue("shapes", shapes, "shapes that numpy broadcasts together") from None
    if rows.size > _MOST_ASKED:
        raise InvalidValue("shapes", f"{rows.size:,} settings", f"at most {_MOST_ASKED:,}")
    made = cache(lambda eps, n: setting(runs, eps, n, *common))  # once for each eps and n
    numbers: Any = ((one if one is None else one.item() for one in row) for row in rows)
    return [ask(made(eps, n), at) for at, eps, n in numbers]


def _column(name: str, value: Any) -> NDArray[Any]:
    """One of several arguments, of which some are arrays: no list is looked into deeper than numpy's rows."""
    fits = isinstance(value, np.ndarray) or check.is_number(value)
    if isinstance(value, list | tuple) and len(value) <= _MOST_ASKED:
        rows = [one if isinstance(one, list | tuple) else (one,) for one in value]
        fits = all(check.is_number(x) for row in rows for x in row)
    if fits:
        found = check.array(**{name: value})
        if found.dtype.kind in "iuf" and found.size <= _MOST_ASKED:
            return found
    raise InvalidValue(name, value, f"a number, or an array or list of at most {_MOST_ASKED:,} numbers")


def risk(
    *,
    eps: float | None = None,
    n: int | None = None,
    budgets: Who = None,
    mechanism: Mechanism | str = "rr",
    rounds: int = 1,
    honest: int | None = None,
    population: Population | None = None,
    fpr: Sequence[float] = (0.01, 0.001),
) -> Risk:
    """What any attacker gets who is to tell one user's record from another: certified, and each rate errs upward.

    From the certified delta(eps): the true-positive rates at the false-positive rates asked for, and the largest
    advantage, TPR - FPR, which is the total variation.

    Args:
        eps: as the other arguments but `fpr`, see `epsilon`.
        fpr: false-positive rates, each in (0, 1).
    """
    rates = tuple(
        check.probability(allow_zero=False, **{f"fpr[{i}]": rate}) for i, rate in enumerate(check.row(fpr=fpr))
    )
    if not rates:
        raise InvalidValue("fpr", [], "a list of rates in (0, 1), at least one")
    return setting(_mechanism(mechanism), eps, n, budgets, rounds, honest, population).risk(rates)


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
    - `eps`, or noise: the fewest users;
    - both, or `n` with noise or a matrix that is given: the most rounds;
    - `budgets`, or noise for each user: the largest factor by which all local eps may be multiplied, or the smallest
      for all scales of the noise.

    The answer's safe end is `lower` for a local eps, for rounds and for a factor of local eps, `upper` for users, for a
    sigma and for a factor of the noise: `epsilon`, asked the same, is at most the target there, and near it. With noise
    that is to 1e-5; where eps may jump from one number to the next, as a rule to 1e-4 over rounds or with several
    scales, and to 5e-3 with several over rounds. At the other end the target is certified to be missed, so far as the
    lower end of `epsilon` shows.

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
    return find(_mechanism(mechanism), eps, n, budgets, rounds, target=target_eps, delta=delta)[1]


def per_user(*, budgets: Who = None, delta: float, mechanism: Mechanism | str = "rr", rounds: int = 1) -> UserBounds:
    """Central eps of each user's own record at delta, certified.

    Args:
        budgets: as for `epsilon`; left out where the mechanism has a scale or sigma for each user.
        delta: central delta in (0, 1).
        mechanism: what every user runs; on a line, and in several rounds, at most 64 distinct ones.
        rounds: how often everybody reports, >= 1; composed.

    Returns:
        One entry for each of the groups of `budgets`, or for each user whose noise the mechanism has.
    """
    runs = _mechanism(mechanism)
    if not isinstance(runs, Randomizer | Laplace | Gaussian):
        raise InvalidValue("mechanism", runs.name, "one of users with budgets of their own")
    if budgets is None and not any(isinstance(getattr(runs, noise, None), Sequence) for noise in ("scale", "sigma")):
        raise InvalidValue("budgets", None, "given")
    users = setting(runs, None, None, budgets, rounds)
    assert isinstance(users, Shuffled | OnLine)
    delta = check.probability(allow_zero=False, delta=delta)
    return replace(users.per_user(delta), relation=REPLACE, warnings=warnings(delta, users.n, None))


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
        OutsideValidity: a mechanism that no attack here is made for.
    """
    delta = check.probability(allow_zero=False, delta=delta)
    return setting(_mechanism(mechanism), eps, n, budgets, population=population).attack(delta)


def published(
    *, delta: float, eps: float | None = None, n: int | None = None, budgets: Who = None, mechanism: str | None = None
) -> list[BoundRow]:
    """Every published bound on the central eps at delta, the smallest first, with what it is valid for.

    Args:
        delta: central delta in (0, 1).
        eps: as n and budgets, see `epsilon`.
        mechanism: only bounds that hold for it: "common", "rr", "krr", "laplace" or "clip_laplace".
    """
    return compare(people(eps, n, budgets), delta=delta, mechanism=mechanism)


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
    `epsilon`; for randomized response it is that of "aligned". Shuffling is certified for a victim with more than the
    least noise, too, where `epsilon` has only measured the worst inputs: users with less noise than the victim then
    hide nobody.

    Args:
        delta: central delta, 1e-100 to 0.999999.
        eps: as n, budgets, honest and population, see `epsilon`; at most 1,000 distinct local eps up to 200.
        mechanism: any but `Duchi`; an `Allocation` of one epoch, k = 1, "both" or "replace".
        rounds: how often everybody reports; 1 for `Discrete`, on a line and of a training run.

    Raises:
        DataUnavailable: python-flint is not installed; `pip install 'gspa[certify]'`.
        OutsideValidity: a setting that certificates do not cover yet.

    >>> certify(eps=0.5, n=10_000, delta=1e-4, mechanism="aligned").eps
    0.009666308
    """
    return setting(_mechanism(mechanism), eps, n, budgets, rounds, honest, population).certificate(delta)


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
        OutsideValidity: a worst user that is not known, or a grid too large.
    """
    laws = setting(_mechanism(mechanism), eps, n, budgets, rounds, honest).laws()
    return interop.compose_with_dp_accounting(laws, step=step, pessimistic=pessimistic)

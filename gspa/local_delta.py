"""The victim's local delta_n: what it adds to the central delta, exactly, and what eq. (17) makes of it.

A randomizer may tell the truth with probability delta_n, in words that nobody else uses, and answer like
randomized response otherwise: Lemma 4's quaternary variable. Then

    delta_total(eps) = delta_n + (1 - delta_n) delta(eps)                                                  (B)

with equality, by enumeration in fractions. Chen et al. 2024 put the same event down as one in which the two
datasets cannot be told apart, which would give (1 - delta_n) delta(eps).

>>> table = told_truth(ratio=3, delta_n=Fraction(1, 10), others=[3, 3], factors=[1])
>>> table.loc[0, ["total", "corrected", "paper"]].astype(str).tolist()
['61/160', '61/160', '9/32']
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pandas as pd

from gspa import _validate as check
from gspa.accountant import central_delta
from gspa.bounds import gspa_epsilon
from gspa.budgets import Budgets, from_array
from gspa.discrete import TradeOff, neyman_pearson
from gspa.errors import InvalidValue
from gspa.reduction import Laws, count_pair, delta_at, subset_selection, truth_with, two_laws

_CERTAIN = Fraction(10**40)  # e^eps of a victim who tells the truth; the lies' mass, below this, is set to 0
_NONE = Fraction(1, 10**30)


def told_truth(
    *, ratio: int | Fraction, delta_n: Fraction, others: Sequence[int | Fraction], factors: Sequence[int | Fraction]
) -> pd.DataFrame:
    """A victim who tells the truth with probability delta_n, shuffled among users of randomized response: exact.

    Args:
        ratio: e^{eps_n} of the victim, >= 1.
        delta_n: the victim's local delta, in [0, 1).
        others: e^{eps_j} >= 1 of each other user, at most 5 of them; their inputs alternate, 0, 1, 0, ...
        factors: the values of e^eps, >= 1.

    Returns:
        One row a factor, all fractions: `factor`, `pure` (delta at delta_n = 0), `total` (enumerated), `corrected`
        (delta_n + (1 - delta_n) pure) and `paper` ((1 - delta_n) pure).

    Raises:
        InvalidValue: an argument outside its range.
    """
    ratio, delta_n = _fraction(ratio=ratio), _fraction(delta_n=delta_n)
    others = [_fraction(others=e) for e in check.row(others=others)]
    factors = [_fraction(factors=factor) for factor in check.row(factors=factors)]
    crowd = [subset_selection(2, 1, Fraction(e)) for e in others]
    data = [j % 2 for j in range(len(crowd))]
    without, told = (
        two_laws([*crowd, truth_with(delta, Fraction(ratio))], others=data, attached="user")
        for delta in (Fraction(0), delta_n)
    )
    rows = []
    for factor in map(Fraction, factors):
        if factor < 1:
            raise InvalidValue("factors", factor, "at least 1")
        pure = delta_at(without, factor)
        rows.append((factor, pure, delta_at(told, factor), delta_n + (1 - delta_n) * pure, (1 - delta_n) * pure))
    return pd.DataFrame(rows, columns=["factor", "pure", "total", "corrected", "paper"])


def _fraction(**argument: object) -> Fraction:
    """A whole number or a Fraction >= 0, as a Fraction."""
    ((name, value),) = argument.items()
    if isinstance(value, bool) or not isinstance(value, int | Fraction) or value < 0:
        raise InvalidValue(name, value, "a whole number or a Fraction >= 0")
    return Fraction(value)


def _curve(laws: Laws) -> TradeOff:
    p, q = np.array([[x if x > _NONE else 0 for x in both] for both in laws.values()], dtype=float).T
    return neyman_pearson(p, q)


def equation17(
    *, ratio: int | Fraction, delta_n: Fraction, others: Sequence[int | Fraction], points: int = 2001
) -> pd.DataFrame:
    """Both sides of eq. (17) for the paper's own pair, (12) and (13), by enumeration.

    V's third probability is 1 - 2 r_j. The printed one, delta_j, makes no law.

    Args:
        ratio: e^{eps_n} of the victim, >= 1.
        delta_n: in [0, 1).
        others: e^{eps_j} >= 1 of each other user.
        points: of alpha, >= 2; the curves' corners are added.

    Returns:
        One row an alpha: `alpha`, `left` (T(rho_0, rho_1)), `right` (delta_n (1 - alpha) + (1 - delta_n) T_symm of the
        primed pair), `equal_alpha` (the same with the true T given Delta_2 = 0 in place of T_symm), `mirrored` (by how
        much the two orders of the primed pair differ).

    Raises:
        InvalidValue: an argument outside its range.
    """
    ratio, delta_n = _fraction(ratio=ratio), _fraction(delta_n=delta_n)
    clones = [1 / (1 + _fraction(others=e)) for e in check.row(others=others)]
    whole = _curve(count_pair(Fraction(ratio), clones=clones, delta=delta_n, shared=True))
    given = _curve(count_pair(Fraction(ratio), clones=clones))
    primed = count_pair(_CERTAIN, clones=clones)
    there, back = _curve(primed), _curve({outcome: (q, p) for outcome, (p, q) in primed.items()})
    a = np.unique(np.r_[whole.alpha, there.alpha, given.alpha, np.linspace(0, 1, check.count(2, points=points))])
    delta = float(delta_n)
    return pd.DataFrame(
        {
            "alpha": a,
            "left": whole(a),
            "right": delta * (1 - a) + (1 - delta) * np.maximum(there(a), back(a)),
            "equal_alpha": delta * (1 - a) + (1 - delta) * given(a),
            "mirrored": np.abs(there(a) - back(a)),
        }
    )


def at_the_papers_eps(people: Budgets, *, deltas: Sequence[float], delta: float) -> pd.DataFrame:
    """The central delta at the eps that the paper promises for `delta`, if one user has a local delta_n.

    Args:
        people: budgets with delta_i = 0; a user with the largest eps gets the local delta.
        deltas: values of delta_n in [0, 1).
        delta: central delta of the promise, in (0, 1).

    Returns:
        One row a delta_n: `delta_n`, `epsilon` (the paper's, for that delta), `lower` and `upper` (the certified
        central delta there, (B) applied to the pair), `times` (lower / delta).
    """
    groups = people.grouped()
    victim = int(np.argmax(groups.eps))
    count = groups.count - (np.arange(groups.count.size) == victim)
    kept = count > 0
    rows = []
    for local in check.numbers(0, 1, deltas=deltas):
        crowd = from_array(
            np.r_[groups.eps[kept], groups.eps[victim]],
            np.r_[groups.delta[kept], check.probability(delta_n=local)],
            np.r_[count[kept], 1],
        )
        epsilon = gspa_epsilon(crowd, delta=delta)
        found = central_delta(crowd, eps=epsilon)
        rows.append((local, epsilon, found.lower, found.upper, found.lower / delta))
    return pd.DataFrame(rows, columns=["delta_n", "epsilon", "lower", "upper", "times"])

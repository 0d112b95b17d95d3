"""Many rounds: composed central privacy of shuffled reports and Gaussian mechanisms, as intervals.

>>> from gspa.accountant import budgets
>>> from gspa.accountant.tradeoff import gdp_epsilon
>>> crowd = budgets.constant(0.5, n=10_000)
>>> bound = compose([(shuffled(crowd), 100)], delta=1e-6)
>>> round(bound.value, 3), bound.relative_width < 1e-3
(0.215, True)
>>> mu = math.tanh(0.25) * math.sqrt((1 + math.exp(0.5)) / 4999.5)  # the Gaussian limit, tanh-sharpened
>>> round(gdp_epsilon(delta=1e-6, mu=10 * mu) / bound.value, 3)
1.0

Each round's dominating pair is put on a grid from above and from below (`gspa.accountant.losses`), which keeps
the order under composition, adaptive or not. Replace-one-record neighbours; the same user is in all rounds.

Laplace and Gaussian reports on [0, 1] have no such pair to start from, only the blanket's certified delta(eps). Theirs
is the pair with that curve (`gspa.accountant.losses`), from a few dozen values, which costs about 0.3% in eps:

>>> reports = shuffled_reports([10.0], count=600, mechanism="gaussian")
>>> bound = compose([(reports, 50)], delta=1e-5)
>>> 0.091 < bound.lower < bound.upper < 0.093
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gspa.accountant import arguments as check
from gspa.accountant import losses
from gspa.accountant.bound import Bound, enclosed
from gspa.accountant.budgets import Budgets
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.laplace_gaussian import MOST_VICTIMS, Crowd, how_close, reports_pair
from gspa.accountant.losses import LARGEST, TAIL, Atoms, Values
from gspa.accountant.mechanisms import alone_delta, alone_epsilon
from gspa.accountant.one_round import Problem, candidates, problem_of, require_fit
from gspa.accountant.pair import AtomTable, Interval
from gspa.accountant.randomizers import BINARY, Randomizer
from gspa.accountant.transform import Sides, delta_of, epsilon_of

__all__ = ["METHOD", "Round", "Rounds", "compose", "compose_delta", "gaussian", "shuffled", "shuffled_reports"]


Pair = Callable[[float, int], tuple[Atoms, Atoms]]
"""Of a delta for all rounds together and of their number: the losses above and below one round's."""


@dataclass(frozen=True, eq=False)
class Round:
    """One use of a mechanism on everybody's record.

    Attributes:
        label: for messages.
        valid_for: class of mechanisms.
        pairs: of the users one of whom is the worst.
        exchanged: the same of the two laws exchanged, where that differs.
        local_delta: probability of a revealing report.
        most: no loss is larger than this, except the infinite ones.
        fitted: whether another delta asks for another pair.
        proved: as `gspa.accountant.bound.Bound` has it.
        reached: its pair is that of the mechanism itself.
        alone: of Gaussian reports, not below the mu of a record that nobody hides; else infinite.
    """

    label: str
    valid_for: str
    pairs: tuple[Pair, ...]
    exchanged: Pair | None = None
    local_delta: float = 0.0
    most: float = math.inf
    fitted: bool = False
    proved: bool = True
    reached: bool = False
    alone: float = math.inf


def silent(label: str, valid_for: str, local_delta: float = 0.0) -> Round:
    """A round that tells nothing of anybody, but reveals a report with probability `local_delta`."""
    nothing = Atoms(np.zeros(1), np.array([1 - local_delta]), local_delta)
    pairs = (lambda delta, times: (nothing, nothing),)
    return Round(label, valid_for, pairs, local_delta=local_delta, most=0.0, reached=local_delta == 0)


def depth_of(delta: float, times: int) -> float:
    """What each of so many rounds may leave out, e^-depth, is far below this delta of all together."""
    return min(25 + math.log(times) - math.log(delta), 680.0)


def shuffled(budgets: Budgets, *, mechanism: Randomizer = BINARY, victim: int | None = None) -> Round:
    """A round in which every user reports once and the reports are shuffled.

    Args:
        budgets: the users' local budgets in this round.
        mechanism: what every user runs; for Laplace noise see `shuffled_reports`.
        victim: index of the user to protect; None for everybody.

    Raises:
        OutsideValidity: a setting that the pair cannot certify, or whose worst user is not known.
    """
    require_fit(mechanism, budgets)
    asked = None if victim is None else check.index(budgets.eps.size, "the groups", victim=victim)
    label, words, local = mechanism.label, mechanism.valid_for, budgets.delta_max
    indices, certain = candidates(budgets, mechanism) if asked is None else ([asked], True)
    if not certain:
        hint = "which user is the worst is not known; give users fewer distinct (eps, delta)"
        raise OutsideValidity("composition", "a known worst user", hint)
    problems = tuple(problem_of(budgets, mechanism, index) for index in indices if budgets.eps[index] > 0)
    if not problems:
        return silent(label, words, local)
    most = max(problem.victim.eps for problem in problems)
    if most < _LEAST_LOSS:
        raise OutsideValidity(
            "composition", f"a local eps of 0, or at least {_LEAST_LOSS:g}", f"the largest is {most:g}"
        )
    if isinstance(problems[0].victim, AtomTable):
        if len(problems) > 1:
            raise OutsideValidity("composition", "one local delta for all", "which user is the worst is not known")
        held = held_alike(budgets, mechanism)
        tables = of_tables(label, words, problems, held or problems[0], most=most, local_delta=local)
        return replace(tables, reached=held is not None)
    if most > check.MOST_EXPONENT:
        hint = f"the largest is {most:g}, which hides nothing"
        raise OutsideValidity("composition of shuffled reports", f"local eps <= {check.MOST_EXPONENT:g}", hint)
    pairs = tuple(partial(_counted, problem) for problem in problems)
    return Round(label, words, pairs, local_delta=local, most=most, reached=budgets.n == 1)


def _counted(problem: Problem, delta: float, times: int) -> tuple[Atoms, Atoms]:
    """The pair of one victim of two outcomes."""
    depth = depth_of(delta, times)
    above, below = (losses.atoms(problem, depth=depth, above=side) for side in (True, False))
    return above.or_revealed(problem.local_delta), below.or_revealed(problem.local_delta)


def held_alike(budgets: Budgets, mechanism: Randomizer) -> Problem | None:
    """The shuffle where all others hold a third input: no bound, the mechanism itself. None if budgets differ."""
    if not mechanism.known or budgets.eps_min < budgets.eps_max or budgets.delta_max > 0:
        return None
    laws = mechanism.rows(budgets.eps_max)
    if len(laws) < 3:
        return None
    table = AtomTable.of(budgets.eps_max, laws[2], laws[0], laws[1])
    return Problem(table, 0.0, np.ones(1), np.zeros(1), np.array([budgets.n - 1.0]))


def of_tables(
    label: str, valid_for: str, victims: Sequence[Problem], one: Problem, *, most: float, local_delta: float = 0.0
) -> Round:
    """A round whose curve delta(eps) is known from atom tables (`gspa.accountant.pair.AtomTable`).

    `victims` are every user and change of a record that may be the worst, in both orders of the two inputs; the lower
    end is that of `one`.
    """

    def curve(victim: Problem, depth: float) -> Callable[[float, float], float]:
        law = victim.law(depth=depth)
        return lambda eps, enough: victim.table.above(law, eps)

    @cache
    def about(delta: float, times: int) -> tuple[Atoms, Atoms]:
        depth = 40 + math.log(times) - math.log(delta)
        worst = losses.largest_of([curve(victim, depth) for victim in victims])
        table, law = one.table, one.law(depth=depth)
        back = None if table.mirrored else table.exchanged

        def at(eps: float) -> Values:
            if eps >= most:
                return Values(0.0, 0.0, 0.0, 0.0)
            above, _ = worst(eps)
            upper = above if len(victims) == 1 and victims[0] is one else table.above(law, eps)
            behind = None if back is None else (back.below(law, eps), back.above(law, eps))
            return Values(above, table.below(law, eps), upper, table.alone(eps), behind)

        mu = max(math.sqrt(victim.victim.square / (victim.mean + 1)) for victim in victims)
        if len(victims) == 1 and law.edges[-1] == 1 and not table.bare.size:  # nobody hides anybody
            loss, mass = table.losses
            near = (np.clip(loss + side * _ROUNDED_LOSS * (1 + np.abs(loss)), -most, most) for side in (1, -1))
            above, below = (Atoms(one, mass, 0.0).or_revealed(local_delta) for one in near)
            return above, below
        width = min(one for one in (mu, most, LARGEST) if one > 0)  # mu is 0 where nobody hides what differs
        corners = [most] if most < math.inf else []
        found = losses.on_curve(at, width=width, per=_PER_DEVIATION, corners=corners, floor=TAIL * delta / times)
        return found[0].or_revealed(local_delta), found[1].or_revealed(local_delta)

    # A search over rounds asks for many numbers of them.
    pair = (lambda delta, times: about(delta, 4 ** math.ceil(math.log(times, 4))),)
    return Round(label, valid_for, pair, local_delta=local_delta, most=most, fitted=True)


def shuffled_reports(
    scales: Budgets | ArrayLike,
    *,
    count: ArrayLike = 1,
    mechanism: str = "laplace",
    sensitivity: float = 1.0,
    victim: int | None = None,
    both: bool = True,
) -> Round:
    """A round in which every user reports a value of [0, 1] with noise, and the reports are shuffled.

    Its pair has the blanket's certified delta(eps) of the user who is the worst at that eps (`laplace_gaussian`); from
    below, that of one user, as a rule the worst.

    Args:
        scales: at most 64 distinct ones; as the others but the last, see
            `gspa.accountant.laplace_gaussian.blanket_epsilon`.
        both: False where the lower end does not matter: it is then 0, which saves the time for it.
    """
    crowd = Crowd.of(scales, count, mechanism, sensitivity)
    victims = crowd.candidates(victim)
    label = f"shuffled {mechanism} reports on [0, 1]"
    if not victims:
        return silent(label, crowd.valid_for([]))
    if len(victims) > MOST_VICTIMS:
        raise InvalidValue(
            "distinct scales of noise", len(victims), f"at most {MOST_VICTIMS}", "let users share scales"
        )
    gap = crowd.gap(victims[0])[1]
    most, mu = (gap, math.inf) if mechanism == "laplace" else (math.inf, gap)
    # A search for delta, or for a curve, asks again at the same.
    pair = cache(lambda delta, times: reports_pair(crowd, delta=delta, times=times, victim=victim, both=both))
    proved, one = crowd.proved(victims), crowd.alone
    words = crowd.valid_for(victims)
    return Round(label, words, (pair,), most=most, fitted=True, proved=proved, reached=one, alone=mu)


def gaussian(mu: float) -> Round:
    """A round of a mu-GDP Gaussian mechanism, mu = sensitivity / sigma.

    Args:
        mu: in [0, 1000].
    """
    mu = check.in_range(0, losses.MOST_MU, mu=mu)
    label, words = f"Gaussian, mu = {mu:g}", "Gaussian mechanism"
    if mu == 0:
        return silent(label, words)
    pair = (lambda delta, times: losses.sampled_gaussian(mu, depth=depth_of(delta, times)),)
    return Round(label, words, pair, reached=True)


# --- certified eps and delta of many rounds ------------------------------------------------------------------

METHOD = "composition of dominating pairs, Fourier transform on a grid from both sides"
_PER_DEVIATION = 30  # points of a curve in a standard deviation of the loss
_STEPS = 250  # grid steps in a round's standard deviation, root mean square over the rounds
_POINTS = 1 << 20  # about as many in the sum's window, at most
_MOST_CELLS = 2e6  # of one round's grid
_MOST_ROUNDS = 10**8
_LEAST_DELTA = 1e-20
_LEAST_LOSS = 1e-100  # whose square is a double
_ROUNDED_LOSS = 16 * check.UNIT  # of one report's loss, and relative to it: the logarithm of a ratio
_ROUNDED = 1e-12  # allowance for rounding where no transform is needed


Rounds = Sequence[tuple[Round, int]]


def checked(rounds: Rounds) -> Rounds:
    """The same round in one place; refuses what is no list of rounds."""
    merged: dict[int, tuple[Round, int]] = {}
    for i, entry in enumerate(check.row(rounds=rounds)):
        if not (isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], Round)):
            raise InvalidValue(
                f"rounds[{i}]", entry, "(round, times), a round made by shuffled(), shuffled_reports() or gaussian()"
            )
        one, times = entry[0], check.count(**{f"times of rounds[{i}]": entry[1]})
        merged[id(one)] = (one, times + merged.get(id(one), (one, 0))[1])
    if not merged:
        raise InvalidValue("rounds", [], "a non-empty list of (round, times)")
    if (total := sum(times for _, times in merged.values())) > _MOST_ROUNDS:
        raise InvalidValue("sum of times", total, f"at most {_MOST_ROUNDS}")
    several = [one.label for one, _ in merged.values() if len(one.pairs) > 1]
    if len(several) > 1:
        hint = f"{', '.join(several)}: which user is the worst in all of them together is not known"
        raise OutsideValidity("composition", "at most one round without a known worst user", hint)
    return list(merged.values())


def _sides(rounds: Rounds, victim: int, target: float) -> Sides | None:
    """The losses of one of the users that may be the worst, put on a grid; None if they are all 0.

    `target` is about the delta that is asked, apart from the local deltas.
    """
    everything = sum(times for _, times in rounds)
    found = [(*one.pairs[min(victim, len(one.pairs) - 1)](target, everything), times) for one, times in rounds]
    # All losses above may be infinite, and then their variance is 0.
    spreads = [max(_variance(above), _variance(below), above.missing) for above, below, _ in found]
    # A loss that hardly varies may be large.
    widest = max(float(np.abs(law.loss).max()) for above, below, _ in found for law in (above, below))
    if widest == 0 and not any(above.missing or below.missing for above, below, _ in found):
        return None
    total = sum(times * spread_out for (*_, times), spread_out in zip(found, spreads, strict=True))
    count = sum(times for (*_, times), spread_out in zip(found, spreads, strict=True) if spread_out > 0) or 1
    step = max(math.sqrt(total / count) / _STEPS, 20 * math.sqrt(total) / _POINTS, widest / _MOST_CELLS)
    if tops := [one.most for one, _ in rounds if 0 < one.most < _MOST_CELLS * step]:
        step = max(tops) / math.ceil(max(tops) / step)  # the largest loss is on the grid
    return Sides(
        [(losses.spread(above.loss, above.mass, step, above.missing), times) for above, _, times in found],
        [(losses.merge(below.loss, below.mass, step, below.missing), times) for _, below, times in found],
    )


def _variance(law: Atoms) -> float:
    return float(law.mass @ (law.loss - float(law.loss @ law.mass)) ** 2)


def _largest(rounds: Rounds) -> float:
    """No finite loss of all together is larger."""
    if any(math.isinf(one.most) for one, _ in rounds):
        return math.inf
    return enclosed(sum((times * Fraction(one.most) for one, times in rounds), Fraction(0)))[1]


def _told(rounds: Rounds) -> float:
    """mu of all Gaussian reports together where nobody hides them, rounded up; infinite if there are others."""
    return math.sqrt(math.fsum(times * one.alone**2 for one, times in rounds)) * (1 + 2.0**-50)  # eight roundings


def _local(rounds: Rounds) -> float:
    """Probability that some report reveals everything."""
    return 0.0 - math.expm1(sum(times * math.log1p(-one.local_delta) for one, times in rounds))


def _worst(rounds: Rounds, found: Callable[[int], Interval], told: float, **asked: Any) -> Bound:
    """What is known of all together, by the victim; `told` is the upper end where nobody hides the record."""
    victims = range(max(len(one.pairs) for one, _ in rounds))
    low, value, high = (min(max(end), told) for end in zip(*map(found, victims), strict=True))
    words = " and ".join(dict.fromkeys(one.valid_for for one, _ in rounds))
    proved, reached = (all(getattr(one, key) for one, _ in rounds) for key in ("proved", "reached"))
    note = how_close(low, high, told)
    return Bound(low, value, high, METHOD, words, note=note, proved=proved, reached=reached, **asked)


def compose(rounds: Rounds, *, delta: float) -> Bound:
    """The least eps at which all rounds together are (eps, delta)-DP for the worst user.

    Args:
        rounds: (round, times) each; the order does not matter, and later rounds may be chosen after
            earlier results are seen.
        delta: in (0, 1), above the probability that some report reveals everything.

    Returns:
        Bound on the composed pairs' eps. Proved: grids, windows, truncation, wrap-around. Allowances,
        larger than what is measured: 2e-11 in each round's masses, 1e-14 + 4e-15 per round of the
        largest mass in the Fourier sum.

    Raises:
        InvalidValue: no rounds, times below 1, delta out of range.
        OutsideValidity: delta not above the composed local deltas; a worst user that is not known.

    >>> round(compose([(gaussian(0.3), 16)], delta=1e-5).value, 4)  # mu = 1.2
    5.4135
    """
    delta = check.probability(allow_zero=False, delta=delta)
    merged = checked(rounds)
    local = _local(merged)
    if delta <= local * (1 + 1e-12):
        hint = f"with probability {local:g} some round's report may reveal everything, shuffled or not"
        raise OutsideValidity("composed epsilon", f"delta > {local:g}, the local deltas of all rounds", hint)
    most = _largest(merged) if local == 0 else math.inf
    if (mu := _told(merged)) < math.inf:
        most = min(most, alone_epsilon("gaussian", delta, (mu, mu))[1])

    def found(victim: int) -> Interval:
        sides = _sides(merged, victim, delta - local)
        return Interval(0.0, 0.0, 0.0) if sides is None else epsilon_of(sides, delta)

    return _worst(merged, found, most, delta=delta)


def compose_delta(rounds: Rounds, *, eps: float) -> Bound:
    """delta(eps) of all rounds together, for the worst user; what is given, returned and raised as in `compose`.

    Args:
        eps: >= 0.

    >>> from gspa.accountant.tradeoff import gdp_delta
    >>> bound = compose_delta([(gaussian(0.3), 16)], eps=2.0)
    >>> bound.lower <= gdp_delta(2.0, mu=1.2) <= bound.upper, bound.relative_width < 1e-4
    (True, True)
    """
    eps = check.nonnegative(eps=eps)
    merged = checked(rounds)
    local = _local(merged)
    if eps >= (largest := _largest(merged)):
        told = Interval(local * (1 - _ROUNDED), local, min(local * (1 + _ROUNDED), 1.0))
        return _worst(merged, lambda victim: told, 1.0, eps=eps)
    mu = _told(merged)
    most = alone_delta("gaussian", eps, (mu, mu))[1] if mu < math.inf else 1.0
    if local == 0:  # log P0/P1 is at most the largest loss
        most = min(most, -math.expm1(eps - largest) * (1 + _ROUNDED))
    return _worst(merged, lambda victim: _delta_interval(merged, victim, eps, local), most, eps=eps)


def _delta_interval(rounds: Rounds, victim: int, eps: float, local: float) -> Interval:
    """delta(eps) of one victim: what the laws leave out must be small relative to a delta that is not known yet."""
    fitted = any(one.fitted for one, _ in rounds)
    best, target = Interval(local, local, local), 1e-6 if fitted else 1e-12
    for step in range(12):
        if (sides := _sides(rounds, victim, target)) is None:
            return best
        interval = delta_of(sides, eps)
        if step == 0 or interval.upper < best.upper:
            best = interval
        if fitted:  # whose (B, omega*) suit deltas near the target
            if step == 3 or 0.05 * target < interval.upper < 1e4 * target:
                break
            target = min(max(interval.upper, _LEAST_DELTA), 0.25)
        else:
            if target < 1e-250 or interval.upper > 1e-3 * target:
                break
            target *= 1e-48
    return best

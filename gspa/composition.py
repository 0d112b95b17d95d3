"""Many rounds: composed central privacy of shuffled reports and Gaussian mechanisms, as intervals.

>>> from gspa import budgets
>>> from gspa.tradeoff import gdp_epsilon
>>> crowd = budgets.constant(0.5, n=10_000)
>>> bound = compose([(shuffled(crowd), 100)], delta=1e-6)
>>> round(bound.value, 3), bound.relative_width < 1e-3
(0.215, True)
>>> mu = math.tanh(0.25) * math.sqrt((1 + math.exp(0.5)) / 4999.5)  # the Gaussian limit, tanh-sharpened
>>> round(gdp_epsilon(delta=1e-6, mu=10 * mu) / bound.value, 3)
1.0

Each round's dominating pair is put on a grid from above and from below (`gspa._loss_grid`), which keeps
the order under composition, adaptive or not. Replace-one-record neighbours; the same user is in all rounds.

Laplace and Gaussian reports on [0, 1] have no such pair to start from, only the blanket's certified delta(eps). Theirs
is the pair with that curve (`gspa._loss_curve`), from a few dozen values, which costs about 0.3% in eps:

>>> reports = shuffled_reports([10.0], count=600, mechanism="gaussian")
>>> bound = compose([(reports, 50)], delta=1e-5)
>>> 0.091 < bound.lower < bound.upper < 0.093
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gspa import _fourier_sum as fourier
from gspa import _validate as check
from gspa._blanket_curve import reports_pair
from gspa._composed import Sides, delta_of, epsilon_of
from gspa._loss_grid import PrivacyLoss, gaussian_atoms, merge, spread
from gspa._rounds import Round, gaussian, shuffled, shuffled_reports
from gspa._solve import Interval
from gspa.accountant import Problem
from gspa.bound import Bound
from gspa.errors import InvalidValue, OutsideValidity
from gspa.privacy_loss import Atoms, atoms

__all__ = ["METHOD", "Round", "Rounds", "compose", "compose_delta", "gaussian", "shuffled", "shuffled_reports"]

METHOD = "composition of dominating pairs, Fourier transform on a grid from both sides"
_STEPS = 250  # grid steps in a round's standard deviation, root mean square over the rounds
_POINTS = 1 << 20  # about as many in the sum's window, at most
_MOST_CELLS = 1e7  # of one round's grid
_MOST_EPS = 700.0  # e^eps beyond it is no double
_MOST_ROUNDS = 10**8
_LEAST_DELTA = 1e-20
_ROUNDED = 1e-12  # allowance for rounding where no transform is needed
_CLOSE = 1e-5  # how far from 1 the probability of the largest loss may be


Rounds = Sequence[tuple[Round, int]]


def _checked(rounds: Rounds) -> list[tuple[Round, int]]:
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
    several = [one.label for one, _ in merged.values() if len(one.problems) > 1]
    if len(several) > 1:
        hint = f"{', '.join(several)}: which user is the worst in all of them together is not known"
        raise OutsideValidity("composition", "at most one round without a known worst user", hint)
    return list(merged.values())


Chosen = Sequence[tuple[Round, int, Problem | None]]  # the problem: of one user, the same in all rounds


def _top(chosen: Chosen) -> tuple[float, float, float] | None:
    """The largest finite loss L, a lower bound p on its probability, and that of an infinite one.

    None unless p is nearly 1. With nobody to hide among, which has the probability prod (1 - q_j), each round's loss is
    its largest with probability 1/(1 + e^-eps_n). From that alone p (1 - e^(eps - L)) <= delta(eps) <=
    1 - e^(eps - L), and a grid for the rare losses that lie far below L would be long.
    """
    most = log_mass = log_hidden = 0.0
    for _, times, problem in chosen:
        if problem is None or problem.victim.eps > _MOST_EPS or problem.victim.seen == 0:
            return None
        present = problem.count > 0
        if problem.rest[present].min(initial=1.0) < 0.5:
            return None
        alone = float(problem.count[present] @ np.log(problem.rest[present]))
        alone += math.log(problem.victim.seen) - math.log1p(math.exp(-problem.victim.eps))
        most += times * problem.victim.eps
        log_mass += times * (alone * (1 + _ROUNDED) - 0.01 * _ROUNDED)
        log_hidden += times * math.log1p(-problem.local_delta)
    return (most, math.exp(log_mass), -math.expm1(log_hidden)) if log_mass > -_CLOSE else None


def _top_epsilon(chosen: Chosen, delta: float) -> Interval | None:
    """eps from the largest loss alone, where it is nearly certain."""
    if (top := _top(chosen)) is None:
        return None
    most, sure, infinite = top
    target, slack = (delta - infinite) / (1 - infinite), _ROUNDED / (1 - infinite)
    if (needed := (target + slack) / sure) >= 1:
        return None
    lower = max(most * (1 - _ROUNDED) + math.log1p(-needed), 0.0)
    upper = max(most * (1 + _ROUNDED) + math.log1p(-max(target - slack, 0.0)), 0.0)
    return Interval(lower, (lower + upper) / 2, upper) if upper - lower <= _CLOSE * upper else None


def _top_delta(chosen: Chosen, eps: float) -> Interval | None:
    """The same for delta."""
    if (top := _top(chosen)) is None:
        return None
    most, sure, infinite = top
    share, slack = -math.expm1(min(eps - most, 0.0)), _ROUNDED * (1 + most)
    lower = max(infinite + (1 - infinite) * share * sure - slack, infinite)
    upper = min(infinite + (1 - infinite) * share + slack, 1.0)
    return Interval(lower, (lower + upper) / 2, upper) if upper - lower <= 2 * _CLOSE * upper else None


def _sides(chosen: Chosen, depth: float, target: float) -> Sides | None:
    """None if no round says anything (apart from local deltas); `target` is about their delta."""
    found: list[tuple[Round, int, float, tuple[Atoms, Atoms] | None, float]] = []
    tops = [problem.victim.eps for _, _, problem in chosen if problem is not None]
    if tops and max(tops) > _MOST_EPS:
        hint = f"the largest is {max(tops):g}, which hides nothing"
        raise OutsideValidity("composition of shuffled reports", f"local eps <= {_MOST_EPS:g}", hint)
    everything = sum(times for _, times, _ in chosen)
    for one, times, problem in chosen:
        if problem is not None:
            above, below = (atoms(problem, depth=depth, above=side) for side in (True, False))
            found.append((one, times, problem.local_delta, (above, below), _variance(above)))
        elif one.reports is not None:
            above, below = reports_pair(one.reports, delta=target, times=everything)
            # All losses above may be infinite, and then their variance is 0.
            spread_out = max(_variance(above), _variance(below), above.missing)
            found.append((one, times, one.local_delta, (above, below), spread_out))
        else:
            found.append((one, times, one.local_delta, None, one.mu**2))
    total = sum(times * variance for _, times, _, _, variance in found)
    if total == 0:
        return None
    count = sum(times for _, times, _, _, variance in found if variance > 0)
    step = max(math.sqrt(total / count) / _STEPS, 20 * math.sqrt(total) / _POINTS)
    if tops:
        if max(tops) > _MOST_CELLS * step:
            hint = f"a largest loss of {max(tops):g} and steps of {step:.2g}: rare losses are too large for the others"
            raise OutsideValidity("composition of shuffled reports", f"a grid of at most {_MOST_CELLS:g} points", hint)
        step = max(tops) / math.ceil(max(tops) / step)  # the largest loss is on the grid
    upper: fourier.Factors = []
    lower: fourier.Factors = []
    for one, times, local, both, _ in found:
        if both is None and one.mu == 0:
            still = PrivacyLoss(step, 0, np.ones(1), local)
            upper, lower = [*upper, (_thinned(still, local), times)], [*lower, (_thinned(still, local), times)]
            continue
        if both is None:
            loss, mass, missing = gaussian_atoms(one.mu, step, depth)
            both = Atoms(loss, mass, missing), Atoms(loss, mass, 0.0)
        up, down = spread(both[0].loss, both[0].mass, step), merge(both[1].loss, both[1].mass, step)
        upper.append((_thinned(up, local + (1 - local) * both[0].missing, local), times))
        lower.append((_thinned(down, local), times))
    return Sides(upper, lower)


def _variance(law: Atoms) -> float:
    return float(law.mass @ (law.loss - float(law.loss @ law.mass)) ** 2)


def _thinned(law: PrivacyLoss, infinite: float, local: float | None = None) -> PrivacyLoss:
    share = 1 - (infinite if local is None else local)
    return PrivacyLoss(law.step, law.first, share * law.mass, infinite)


def _per_victim(rounds: list[tuple[Round, int]]) -> list[list[tuple[Round, int, Problem | None]]]:
    """One list of rounds per user that may be the worst."""
    most = max(len(one.problems) for one, _ in rounds)
    lists = []
    for i in range(max(most, 1)):
        chosen = []
        for one, times in rounds:
            problem = one.problems[min(i, len(one.problems) - 1)] if one.problems else None
            chosen.append((one, times, problem))
        lists.append(chosen)
    return lists


def _valid_for(rounds: list[tuple[Round, int]]) -> str:
    return " and ".join(dict.fromkeys(one.valid_for for one, _ in rounds))


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
    merged = _checked(rounds)
    local = -math.expm1(sum(times * math.log1p(-one.local_delta) for one, times in merged))
    if delta <= local * (1 + 1e-12):
        hint = f"with probability {local:g} some round's report may reveal everything, shuffled or not"
        raise OutsideValidity("composed epsilon", f"delta > {local:g}, the local deltas of all rounds", hint)
    most = sum(times * one.most for one, times in merged) if local == 0 else math.inf
    found = []
    for chosen in _per_victim(merged):
        if (short := _top_epsilon(chosen, delta)) is not None:
            found.append(short)
            continue
        sides = _sides(chosen, _depth(merged, delta - local), delta - local)
        found.append(Interval(0.0, 0.0, 0.0) if sides is None else epsilon_of(sides, delta))
    low, value, high = (min(max(end), most) for end in zip(*found, strict=True))
    return Bound(low, value, high, METHOD, _valid_for(merged), delta=delta)


def compose_delta(rounds: Rounds, *, eps: float) -> Bound:
    """delta(eps) of all rounds together, for the worst user.

    Args:
        rounds: (round, times) each.
        eps: >= 0.

    Returns:
        Bound on the composed pairs' delta; proved and allowed for as in `compose`.

    Raises:
        InvalidValue: no rounds, times below 1, eps out of range.
        OutsideValidity: a worst user that is not known.

    >>> from gspa.tradeoff import gdp_delta
    >>> bound = compose_delta([(gaussian(0.3), 16)], eps=2.0)
    >>> bound.lower <= gdp_delta(2.0, mu=1.2) <= bound.upper, bound.relative_width < 1e-4
    (True, True)
    """
    eps = check.nonnegative(eps=eps)
    merged = _checked(rounds)
    local = -math.expm1(sum(times * math.log1p(-one.local_delta) for one, times in merged))
    if eps >= sum(times * one.most for one, times in merged):
        return Bound(local, local, local, METHOD, _valid_for(merged), eps=eps)
    found = [_delta_interval(merged, chosen, eps, local) for chosen in _per_victim(merged)]
    low, value, high = (max(end) for end in zip(*found, strict=True))
    return Bound(low, value, high, METHOD, _valid_for(merged), eps=eps)


def _delta_interval(rounds: list[tuple[Round, int]], chosen: Chosen, eps: float, local: float) -> Interval:
    """delta(eps) of one victim: what the laws leave out must be small relative to a delta that is not known yet."""
    blankets = any(one.reports is not None for one, _ in rounds)
    if (short := _top_delta(chosen, eps)) is not None:
        return short
    best, target = Interval(local, local, local), 1e-6 if blankets else 1e-12
    for step in range(12):
        sides = _sides(chosen, _depth(rounds, target), target)
        if sides is None:
            return best
        interval = delta_of(sides, eps)
        if step == 0 or interval.upper < best.upper:
            best = interval
        if blankets:  # whose (B, omega*) suit deltas near the target
            if step == 3 or 0.05 * target < interval.upper < 1e4 * target:
                break
            target = min(max(interval.upper, _LEAST_DELTA), 0.25)
        else:
            if target < 1e-250 or interval.upper > 1e3 * target:
                break
            target *= 1e-24
    return best


def _depth(rounds: list[tuple[Round, int]], target: float) -> float:
    """e^-depth, times the number of rounds, is far below the target."""
    return min(25 + math.log(sum(times for _, times in rounds)) - math.log(target), 680.0)

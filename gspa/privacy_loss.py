"""The privacy loss of the dominating pair: its law, its trade-off function, its Renyi divergence.

Given m = C + 1 reports of the two outcomes, i of the first, and b the Bin(m, 1/2) pmf,

    P0 = b(i) (1 + T s),   P1 = b(i) (1 - T s),   s = (2i - m)/m,   loss = 2 artanh(T s)

with T = tanh(eps_n/2) (smaller where a "neither" hides, see `gspa.pair`; one that is revealed has loss 0).
P0 and P1 are mirror images, so one direction of everything here is both.

>>> from gspa import budgets
>>> from gspa.accountant import problem_of, resolve
>>> crowd = budgets.constant(0.5, n=1000)
>>> problem = problem_of(crowd, resolve("rr", crowd, None, None, None), 0)
>>> above, below = privacy_loss(problem), privacy_loss(problem, pessimistic=False)
>>> above.delta(0.1) >= below.delta(0.1) > 0.999 * above.delta(0.1)
True
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gspa import _binomial
from gspa import _validate as check
from gspa._loss_grid import PrivacyLoss, merge, spread
from gspa._loss_groups import groups_of
from gspa.accountant import Problem
from gspa.bound import Bound
from gspa.discrete import TradeOff
from gspa.errors import InternalError, InvalidValue, OutsideValidity

Array = NDArray[np.float64]

METHOD = "Renyi divergence of the dominating pair"
_DEPTH = 60.0
_DEEPEST = 650.0  # e^-depth is still a double
_MOST_POINTS = 1e7  # of a grid
_MOST_ATOMS = 4e7
_RELATIVE = 1e-11  # allowance on each mass, as in `gspa.pair`
_CORNERS = 20_000  # of a trade-off function, until it is put on a grid
_STEPS = 500  # grid steps in one standard deviation


class Atoms(NamedTuple):
    """Outcomes: loss, P0-mass, and an upper bound on the P0-mass of all others."""

    loss: Array
    mass: Array
    missing: float


def atoms(problem: Problem, *, depth: float = _DEPTH, above: bool = True) -> Atoms:
    """Outcomes of a pair that dominates the problem's (above), or is dominated by it.

    Proved: blocks (given the reports with c clones a fair coin can be added), windows (Bernstein for
    C, Hoeffding for A). An allowance of 1e-11 relative in each mass is the caller's to add.

    Args:
        problem: victim and clones; its local delta is not included.
        depth: about e^-depth of the mass is left out.
        above: which side to err on.

    Raises:
        OutsideValidity: too many outcomes.
    """
    groups = groups_of(problem, depth, above)
    m = groups.clones + 1
    lowest = np.maximum(np.ceil(m / 2 - np.sqrt(depth * m / 2)), 0.0)
    size = (np.floor(m / 2) - lowest + 1).astype(np.intp)
    if size.sum() > _MOST_ATOMS:
        hint = f"{int(size.sum())} outcomes of the pair are to be looked at"
        raise OutsideValidity("privacy loss distribution", f"at most {_MOST_ATOMS:g} outcomes: fewer users", hint)
    start = np.cumsum(size) - size
    which = np.repeat(np.arange(size.size), size)
    i = np.arange(float(which.size)) - np.repeat(start - lowest, size)
    total, truth, lie = m[which], groups.truth[which], groups.lie[which]
    b = _binomial.fair_pmf(i, total) * groups.mass[which]
    b[2 * i == total] /= 2  # its own mirror image
    lost = 2 * math.exp(-depth) if lowest.any() else 0.0  # Hoeffding, of each count's window
    found, there = 2 * float(b.sum()), float(groups.mass.sum())
    # What is in no window counts as loss 0 below: only what is known to be small may get there.
    if not -_RELATIVE * there <= there - found <= (lost + _RELATIVE) * there:
        raise InternalError(f"the windows of {m.size} counts hold {found!r} of the mass {there!r}")
    shift = truth * (total - 2 * i) / total
    rest = lie + truth * 2 * i / total  # 1 - shift
    with np.errstate(divide="ignore"):
        loss = np.where(shift < 0.5, 2 * np.arctanh(np.minimum(shift, 0.5)), np.log1p(shift) - np.log(rest))
    missing = groups.missing + lost
    # The rest says nothing, or (below) is made to: the windows are symmetric, so P0 and P1 lose the same.
    neutral = max(0.0, 1 - 2 * float(b.sum()) - (missing if above else 0.0))
    mass = np.r_[b * (1 + shift), b * rest, neutral]
    used = mass > 0
    return Atoms(np.r_[loss, -loss, 0.0][used], mass[used], missing if above else 0.0)


def automatic_step(found: Atoms, most: float) -> float:
    """About a five-hundredth of the loss's standard deviation, with `most`, the largest loss, on the grid."""
    mean = float(found.loss @ found.mass)
    variance = float(found.mass @ (found.loss - mean) ** 2)
    return most / math.ceil(most * _STEPS / math.sqrt(variance)) if variance > 0 else 1.0


def privacy_loss(
    problem: Problem, *, step: float | None = None, depth: float = _DEPTH, pessimistic: bool = True
) -> PrivacyLoss:
    """The law of log P0/P1 under P0 on a grid.

    Pessimistic: every composition's delta is at least the pair's. Optimistic: at most. Proved, up to an
    allowance for rounding of 1e-11 relative in each mass, which is not included.

    Args:
        problem: victim and clones.
        step: of the grid, > 0; automatic if not given.
        depth: about e^-depth of the mass goes to +infinity (pessimistic) or is dropped.
        pessimistic: which side to err on.

    Returns:
        The masses on the grid, the victim's local delta at +infinity.

    Raises:
        InvalidValue: step out of range.
        OutsideValidity: see `atoms`.
    """
    local = problem.local_delta
    found = atoms(problem, depth=check.in_range(0, _DEEPEST, depth=check.positive(depth=depth)), above=pessimistic)
    if step is None:
        chosen = automatic_step(found, problem.victim.eps)
    else:
        chosen = check.in_range(0, 1, step=check.positive(step=step))
        if chosen * _MOST_POINTS < problem.victim.eps:
            raise InvalidValue("step", step, f"at least {problem.victim.eps / _MOST_POINTS:.3g} for a loss up to eps")
    put = spread if pessimistic else merge
    return put(found.loss, (1 - local) * found.mass, chosen, local + (1 - local) * found.missing)


def trade_off(problem: Problem, *, depth: float = _DEPTH) -> TradeOff:
    """T(P0, P1), the best type II error at each type I error, from below.

    Outcomes sorted by likelihood ratio (Neyman-Pearson): exact up to rounding and e^-depth for up to
    20,000 outcomes, else the trade-off function of the pessimistic law, which is lower by O(step^2).

    Args:
        problem: victim and clones.
        depth: about e^-depth of the mass is given to the attacker.

    Raises:
        OutsideValidity: see `atoms`.

    >>> from gspa import budgets
    >>> from gspa.accountant import problem_of, resolve
    >>> alone = budgets.constant(math.log(3), n=1)
    >>> curve = trade_off(problem_of(alone, resolve("rr", alone, None, None, None), 0))
    >>> curve.alpha.round(12).tolist(), curve.beta.round(12).tolist()
    ([0.0, 0.25, 1.0], [1.0, 0.25, 0.0])
    """
    local = problem.local_delta
    found = atoms(problem, depth=check.in_range(0, _DEEPEST, depth=check.positive(depth=depth)))
    if found.loss.size <= _CORNERS:
        loss, mass = found.loss, found.mass
    else:
        grid = spread(found.loss, found.mass, automatic_step(found, problem.victim.eps))
        loss, mass = grid.loss, grid.mass
    order = np.argsort(loss, kind="stable")
    p, q = mass[order], (mass * np.exp(-loss))[order]
    hidden = (1 - local) * max(0.0, 1 - found.missing)
    # The masses' allowance may have made them larger than 1.
    p, q = p * (hidden / max(p.sum(), 1.0)), q * (hidden / max(q.sum(), 1.0))
    alpha, beta = np.cumsum(p), np.r_[np.cumsum(q[::-1])[::-1], 0.0]
    keep = np.r_[np.diff(loss[order]) > 1e-14, True]  # one corner for equal ratios
    alpha, beta = np.r_[0.0, np.minimum(alpha[keep], 1.0)], np.r_[beta[0], beta[1:][keep]]
    if alpha[-1] < 1:
        alpha, beta = np.r_[alpha, 1.0], np.r_[beta, 0.0]
    return TradeOff(alpha, np.minimum(beta, 1.0))


def renyi(problem: Problem, order: float) -> Bound:
    """The Renyi divergence D_order(P0, P1) of the pair; order 1 is Kullback and Leibler's.

    Implements log(E0[e^((order-1) loss)])/(order - 1). For the upper end what is outside the windows has
    the largest loss, eps_n; for the lower end, the loss 0. Proved but for an allowance of 1e-11 relative in
    each mass.

    Args:
        problem: victim and clones.
        order: >= 1.

    Returns:
        Bound on the pair's divergence; its `upper` holds for the shuffled reports.

    Raises:
        InvalidValue: order below 1 or not finite.
        OutsideValidity: a local delta, with which every divergence is infinite; see also `atoms`.

    >>> from gspa import budgets
    >>> from gspa.accountant import problem_of, resolve
    >>> alone = budgets.constant(1.0, n=1)
    >>> round(renyi(problem_of(alone, resolve("rr", alone, None, None, None), 0), 2.0).value, 9)
    0.735325664
    """
    order = check.in_range(1, 1e300, order=order)
    power = order - 1
    if problem.local_delta > 0:
        hint = f"it is {problem.local_delta:g}, the probability of a report that reveals everything"
        raise OutsideValidity("Renyi divergence", "local delta = 0", hint)
    eps, n = problem.victim.eps, int(problem.count.sum()) + 1
    depth = min(_DEPTH + power * eps, 650.0)
    ends = []
    for above in (False, True):
        sign = 1 if above else -1
        loss, mass, missing = atoms(problem, depth=depth, above=above)
        if power == 0:
            whole, slack = float(mass @ loss), _RELATIVE * float(mass @ np.abs(loss))
            ends.append(whole + sign * (slack + missing * eps))
            continue
        # Even if rounding were to lose it, the divergence is at least 0.
        top = power * float(loss.max())
        moment = float(mass @ np.exp(power * loss - top)) * (1 + sign * _RELATIVE)
        moment += missing * math.exp(min(power * eps - top, 700.0))
        ends.append((math.log(moment) + top) / power)
    low, high = max(min(ends), 0.0), min(max(*ends, 0.0), eps)
    low = min(low, high)
    label = "what the problem's clone probabilities hold for"
    return Bound(low, 0.5 * (low + high), high, f"{METHOD}, order {order:g}", label, n=n)

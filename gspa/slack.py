"""The slack of Theorem 2, Chen et al. 2024: the least one, a proved one, and what a slack leaves of the guarantee.

The theorem: T(rho_0, rho_1)(alpha) >= G_mu(alpha + s) - s with s = C/sqrt(n-1) for some C > 0. Here T is exact,
so the least such s can be had, and an s that is proved, for every victim and all others' r_j:

    s = 1/sqrt(2 pi c0) + P(C < c0) + (2/sqrt(c0) - mu)_+ / sqrt(2 pi),   any c0 > 0                        (A)

with C the number of clones. Proof. (rho_0, rho_1) is made from (rho'_0, rho'_1), whose victim always tells the
truth, by exchanging the first two counts with probability 1/(1 + e^{eps_n}). Let C be seen as well. Given C = c
thresholds are the best tests of A + 1 against A, A ~ Bin(c, 1/2), and P(A <= x) differs from its normal
approximation by at most k(c) = 1/sqrt(2 pi c) (Hipp and Mattner 2008), so that
T_c(alpha) >= G_{2/sqrt(c)}(alpha + k(c)) - k(c). The right side rises with c and is convex in alpha: averaged over
C >= c0 it is at least its value at c0 and the mean alpha, which is at most P(C < c0) above alpha. Last, G_mu
falls by at most 1/sqrt(2 pi) for each unit of mu.

>>> from gspa import budgets
>>> crowd = budgets.constant(0.5, n=10_000)
>>> least_slack(exact_curve(crowd), mu=gspa_mu(crowd)) == 0 < 0.004 < proved_slack(crowd) < 0.005
True
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from gspa import _validate as check
from gspa.accountant import Problem, problem_of
from gspa.bounds import clone_probabilities, gspa_mu
from gspa.budgets import Budgets, constant
from gspa.clone_law import CloneLaw, clone_law
from gspa.discrete import TradeOff
from gspa.errors import OutsideValidity
from gspa.privacy_loss import trade_off
from gspa.randomizers import family
from gspa.tradeoff import gaussian

Array = NDArray[np.float64]

_SOUGHT = 10**15  # users up to which `users_needed` looks
_ROUNDING = 2e-14  # below this a least slack is rounding: up to 3e-15 where the curve is known to be kept


def _problem(people: Budgets) -> Problem:
    """The largest eps_i as the victim: of users with delta_i = 0 the worst."""
    return problem_of(people, family("rr"), int(np.argmax(people.eps)))


def exact_curve(people: Budgets) -> TradeOff:
    """T(rho_0, rho_1) of eqs. (12) and (13), the user with the largest eps_i as the victim.

    As `gspa.privacy_loss.trade_off`: errs downward, by rounding or, for many outcomes, by O(step^2).

    Args:
        people: budgets with delta_i = 0; a local delta_n is the matter of `gspa.local_delta`.

    Raises:
        OutsideValidity: a delta_i > 0, or too many users.
    """
    if people.delta_max > 0:
        raise OutsideValidity(
            "Theorem 2, the pair's trade-off curve", "delta_i = 0", f"the largest is {people.delta_max:g}"
        )
    return trade_off(_problem(people))


def tanh_mu(people: Budgets) -> float:
    """mu of the pair's own Gaussian limit, tanh(eps_n/2) sqrt(2/sum of the others' r_j): an estimate.

    Errs to either side. The paper's mu lacks the factor, because its proof lets the victim always tell the truth,
    and leaves out the largest r_i where the victim's own, the smallest, is the one that is missing.

    >>> from gspa import budgets
    >>> crowd = budgets.constant(0.5, n=10_000)
    >>> round(tanh_mu(crowd) / gspa_mu(crowd), 6) == round(math.tanh(0.25), 6)
    True
    """
    r = clone_probabilities(people)
    victim = int(np.argmax(people.eps))
    others = people.count - (np.arange(r.size) == victim)
    total = float(r @ others)
    if total == 0:
        raise OutsideValidity("the tanh limit", "other users whose reports are clones", f"n = {people.n}")
    return math.tanh(people.eps_max / 2) * math.sqrt(2 / total)


def least_slack(curve: TradeOff, *, mu: float) -> float:
    """The least s >= 0 with curve(alpha) >= G_mu(alpha + s) - s for all alpha; G_mu is 0 beyond 1.

    The curve is piecewise linear and the right side convex, so the corners decide; at each of them the least s is
    the root of a monotone function. What is below 2e-14, the rounding, is 0; the curve's own error comes on top.

    >>> from gspa.discrete import neyman_pearson
    >>> round(least_slack(neyman_pearson([1.0, 0.0], [0.0, 1.0]), mu=0.0), 12)  # nothing hidden, 1 - alpha promised
    0.5
    """
    low, high = np.zeros_like(curve.alpha), np.ones_like(curve.alpha)
    kept = curve.beta >= gaussian(curve.alpha, mu=mu)
    for _ in range(55):
        s = (low + high) / 2
        enough = curve.beta + s >= gaussian(np.minimum(curve.alpha + s, 1.0), mu=mu)
        low, high = np.where(enough, low, s), np.where(enough, s, high)
    slack = float(np.where(kept, 0.0, high).max())
    return slack if slack > _ROUNDING else 0.0


def proved_slack(people: Budgets, *, mu: float | None = None) -> float:
    """The slack of (A) at its best c0: an upper bound on the least one for randomized response.

    Args:
        people: at least 2 users; a delta_j > 0 of another user makes fewer clones, the victim's own is not counted.
        mu: of the Gaussian; the paper's if not given.

    Returns:
        In (0, 1]; 1 says nothing.
    """
    mu = gspa_mu(people) if mu is None else check.positive(mu=mu)
    law = _problem(people).law()
    if not isinstance(law, CloneLaw):  # pragma: no cover - randomized response has clones
        raise TypeError(type(law).__name__)
    c0 = law.edges[:-1]
    fewer = law.below + np.r_[0.0, np.cumsum(law.mass + law.error)[:-1]]
    c0, fewer = c0[c0 >= 1], fewer[c0 >= 1]
    s = (1 / np.sqrt(c0) + np.maximum(2 / np.sqrt(c0) - mu, 0.0)) / math.sqrt(2 * math.pi) + fewer
    return float(min(s.min(initial=1.0), 1.0))


def lemma2_slack(people: Budgets) -> float:
    """A lower bound on the slack that Lemma 2 can give, its normal law rounded to whole numbers.

    The total variation between the others' first count alone, a sum of Bernoulli(r_j), and its rounded normal law:
    a function of the counts has no larger one than the counts. Unrounded, the law has a density and it is 1.

    >>> from gspa import budgets
    >>> round(100 * lemma2_slack(budgets.constant(0.5, n=10_000)), 3)
    0.064
    """
    r = clone_probabilities(people)
    count = (people.count - (np.arange(r.size) == int(np.argmax(people.eps)))).astype(np.float64)
    law = clone_law(r, 1 - r, count)
    if law.variance == 0:
        return 0.0
    cell = np.diff(ndtr((law.edges - 0.5 - law.mean) / math.sqrt(law.variance)))
    beyond = abs(float(law.mass.sum() - cell.sum()))
    return max(0.0, 0.5 * (float(np.abs(law.mass - cell).sum()) + beyond) - float(law.error.sum()))


def delta_floor(slack: float, *, mu: float) -> float:
    """1 - G_mu(s) + s: below this delta, (15) with slack s implies no (eps, delta) guarantee, whatever eps.

    >>> delta_floor(0.0, mu=1.0), delta_floor(1.0, mu=1.0)
    (0.0, 1.0)
    """
    return min(1.0, 1 - gaussian(check.in_range(0, 1, slack=slack), mu=mu) + slack)


def slack_allowed(delta: float, *, mu: float) -> float:
    """The largest slack that leaves a statement at delta: the root of `delta_floor`, from below.

    >>> round(delta_floor(slack_allowed(1e-4, mu=0.5), mu=0.5), 12)
    0.0001
    """
    low, high = 0.0, check.probability(allow_zero=False, delta=delta)
    # A huge mu leaves no slack at all: the bracket must not be halved for ever.
    while high - low > max(1e-14 * high, 1e-300):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_floor(middle, mu=mu) > delta else (middle, high)
    return low


def users_needed(eps0: float, *, delta: float) -> int:
    """The least power of 2 at which the proved slack of n users with budget eps0 leaves a statement at delta.

    >>> users_needed(0.5, delta=0.1)
    256
    """
    n, delta = 2, check.probability(allow_zero=False, delta=delta)
    eps0 = check.nonnegative(eps0=eps0)
    while n < _SOUGHT:
        people = constant(eps0, n=n)
        mu = gspa_mu(people)
        if delta_floor(proved_slack(people, mu=mu), mu=mu) <= delta:
            return n
        n *= 2
    raise OutsideValidity(
        "Theorem 2 with its proved slack", f"at most {_SOUGHT:g} users", f"eps0 = {eps0:g}, delta = {delta:g}"
    )

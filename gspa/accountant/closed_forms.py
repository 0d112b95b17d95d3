"""The published formulas themselves: GSPA's mu, closed forms with clones, and Renyi bounds.

Each is refused outside its stated conditions; `gspa.accountant.published` compares them. `eps0` is a local budget that
all users have, >= 0, `n` their number, `delta` a central one in (0, 1); `budgets` are pure (delta_i = 0) where nothing
else is said. Roundings are not covered: 1e-15 of a formula in one line, more where thousands of terms are summed.

>>> erlingsson19_epsilon(0.6, n=10_000, delta=1e-4)
Traceback (most recent call last):
    ...
gspa.accountant.errors.OutsideValidity: Erlingsson et al. 2019, amplification by shuffling: needs eps0 <= 1/2; ...
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cache, lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr, expit, gammaln

from gspa.accountant import arguments as check
from gspa.accountant import binomial
from gspa.accountant.arguments import Array
from gspa.accountant.budgets import Budgets
from gspa.accountant.clones import CloneLaw, clone_law
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.tradeoff import gdp_epsilon

# --- GSPA's mu, Erlingsson et al. 2019, Feldman et al. 2021 --------------------------------------------------

READINGS = ("abstract", "theorem2")
# What a refusal calls its bound.
ERLINGSSON19 = "Erlingsson et al. 2019, amplification by shuffling"
_GSPA = "GSPA, Chen et al. 2024, Theorem 2"
_FMT21 = "Feldman, McMillan and Talwar 2021, Theorem 3.1"
_FMT21_APPROXIMATE = "Feldman, McMillan and Talwar 2021, Theorem 3.8"


def clone_probabilities(budgets: Budgets) -> Array:
    """r_i = (1 - delta_i)/(1 + e^{eps_i}), one per group of users.

    The r_i of Theorem 1, Chen et al. 2024: user i's report is a copy of either of the victim's two
    outcomes with probability r_i each. Exact up to rounding; in [0, 1/2]; no overflow for any eps.

    >>> from gspa.accountant import budgets
    >>> clone_probabilities(budgets.from_array([0.0, 700.0])).tolist()[0]
    0.5
    """
    return np.asarray((1 - budgets.delta) * expit(-budgets.eps), dtype=np.float64)


def gspa_mu(budgets: Budgets, *, reading: str = "abstract") -> float:
    """mu of the approximate GDP guarantee: sqrt(2/(sum_i r_i - max_i r_i)).

    Implements Theorem 2, Chen et al. 2024, in one of its two printed forms. Errs to either side: a
    Gaussian limit, see `gspa_epsilon`.

    Args:
        budgets: at least 2 users ("abstract") or 3 ("theorem2").
        reading: "abstract", the sum over all n users, as the abstract and the last line of the
            proof have it; or "theorem2", the statement's sum to n - 1, where the victim
            (in the worst case a user with the largest r_i) is left out of the sum and
            max_i r_i over all users is subtracted once more.

    Raises:
        OutsideValidity: nothing is left to hide among after the subtraction.
        UnknownName: no such reading.

    >>> from gspa.accountant import budgets
    >>> gspa_mu(budgets.constant(0.0, n=5))
    1.0
    """
    # Erratum G-T2: the statement subtracts the victim twice; its proof gives the abstract's form.
    twice = check.one_of(READINGS, reading=reading) == "theorem2"
    least = 3 if twice else 2
    if budgets.n < least:
        raise OutsideValidity(_GSPA, f"n >= {least} users", f"n = {budgets.n} leaves nobody to hide among")
    r = clone_probabilities(budgets)
    largest = int(np.argmax(r))
    others = budgets.count.copy()
    others[largest] -= 1  # rather than sum - max, which would cancel for few users
    total = float(r @ others)
    if twice:
        total -= float(r[largest])
        if total <= 4e-16 * float(r[largest]):  # 0 or less, up to rounding
            raise OutsideValidity(_GSPA, "sum_i r_i > 2 max_i r_i", "one user holds most of the clones")
    if total == 0 or math.isinf(2 / total):
        raise OutsideValidity(_GSPA, "sum_i r_i > max_i r_i", "the eps are too large to hide anybody")
    return math.sqrt(2 / total)


def gspa_epsilon(budgets: Budgets, *, delta: float) -> float:
    """Central epsilon that Theorem 2 "approximately" gives, as drawn in Figure 2.

    Theorem 2 of Chen et al. 2024 through Fact 3. Not a certified upper bound: the slack
    C/sqrt(n-1) of eq. (15) is dropped here, as in the paper's figure, and so is the victim's
    local delta_n; the value may lie below the truth. The conversion itself errs upward.

    >>> from gspa.accountant import budgets
    >>> round(gspa_epsilon(budgets.constant(0.5, n=10_000), delta=1e-4), 4)
    0.0518
    """
    delta = check.probability(allow_zero=False, delta=delta)
    return gdp_epsilon(delta=delta, mu=gspa_mu(budgets))


def gspa_slack(budgets: Budgets, *, mu: float | None = None, half_way: bool = False) -> float:
    """A slack s with which T(rho_0, rho_1)(alpha) >= G_mu(alpha + s) - s is proved, all delta_i = 0; at most 1.

    Theorem 2 of Chen et al. 2024, corrected (G-T2): s = e(c0) + P(N < c0) + (2/sqrt(c0) - mu)_+ / sqrt(2 pi) at its
    best c0 >= 1, with N the number of clones that a user with the largest eps hides among. Errs upward: the least such
    s may be far smaller.

    Args:
        budgets: at least 2 users; a delta_j > 0 of another user makes fewer clones, the victim's own is not counted.
        mu: of the Gaussian, >= 0; `gspa_mu` if not given.
        half_way: whether e(c) for c >= 100 is Uspensky's 0.53/c + e^(-3 sqrt(c)/4), half-way between the counts'
            jumps, and not Hipp and Mattner's 1/sqrt(2 pi c) for a distribution function of c fair coins.

    >>> from gspa.accountant import budgets
    >>> crowd = budgets.constant(0.5, n=10_000)
    >>> round(gspa_slack(crowd), 4), round(gspa_slack(crowd, half_way=True), 5)
    (0.0048, 0.0002)
    """
    papers = gspa_mu(budgets)
    mu = papers if mu is None else check.nonnegative(mu=mu)
    count = budgets.count.astype(np.float64)
    count[int(np.argmax(budgets.eps))] -= 1
    reveals = np.tanh(budgets.eps / 2)  # 1 - 2/(1 + e^eps)
    rest = reveals + budgets.delta * (1 - reveals)
    law = clone_law(2 * clone_probabilities(budgets), rest, count)
    return clone_slack(law, mu=mu, half_way=half_way)


def clone_slack(law: CloneLaw, *, mu: float, half_way: bool = False) -> float:
    """`gspa_slack` for a number of clones of this law, fair coins each."""
    c0 = law.edges[:-1]
    fewer = law.below + np.r_[0.0, np.cumsum(law.mass + law.error)[:-1]]
    c0, fewer = c0[c0 >= 1], fewer[c0 >= 1]
    coins = 1 / np.sqrt(2 * math.pi * c0)
    if half_way:  # 0.13/variance + e^(-3 sd/2) from sd = 5 on; 0.01/c is more than what the normal law has below 0
        coins = np.where(c0 >= 100, 0.53 / c0 + np.exp(-0.75 * np.sqrt(c0)), coins)
    s = coins + np.maximum(2 / np.sqrt(c0) - mu, 0.0) / math.sqrt(2 * math.pi) + fewer
    return float(s.min(initial=1.0))


def _asked(eps0: float, n: int, delta: float) -> tuple[float, int, float]:
    return check.nonnegative(eps0=eps0), check.count(n=n), check.probability(allow_zero=False, delta=delta)


def _require_clones(bound: str, eps0: float, n: int, delta: float) -> None:
    if eps0 > math.log(n / 16) - math.log(math.log(2) - math.log(delta)):
        detail = f"eps0 = {eps0:g}, n = {n}, delta = {delta:g}"
        raise OutsideValidity(bound, "eps0 <= log(n/(16 log(2/delta)))", detail)


def erlingsson19_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """12 eps0 sqrt(log(1/delta)/n) for any common eps0-LDP randomizer.

    Erlingsson et al. 2019 (arXiv:1811.12469). An upper bound on the central epsilon.

    >>> round(erlingsson19_epsilon(0.5, n=10_000, delta=1e-4), 6)
    0.182091
    """
    eps0, n, delta = _asked(eps0, n, delta)
    # Stated for eps0 < 1/2 and delta < 1/100; the ends follow by continuity (replacing the randomizer
    # by a fixed law with a vanishing probability makes its eps strictly smaller).
    if eps0 > 0.5:
        raise OutsideValidity(ERLINGSSON19, "eps0 <= 1/2", f"eps0 = {eps0:g}")
    if n < 1000:
        raise OutsideValidity(ERLINGSSON19, "n >= 1000", f"n = {n}")
    if delta > 0.01:
        raise OutsideValidity(ERLINGSSON19, "delta <= 0.01", f"delta = {delta:g}")
    factor = 12 * math.sqrt(-math.log(delta) / n)
    if factor > 1:
        hint = f"at n = {n} its value exceeds eps0, which no shuffling is needed for"
        raise OutsideValidity(ERLINGSSON19, "n >= 144 log(1/delta)", hint)
    return factor * eps0


def _fmt21(eps0: float, n: int, delta: float) -> float:
    """Theorem 3.1 for valid arguments."""
    _require_clones(_FMT21, eps0, n, delta)
    growth = math.exp(eps0) / n
    spread = 8 * math.sqrt(growth * (math.log(4) - math.log(delta))) + 8 * growth
    return math.log1p(math.tanh(eps0 / 2) * spread)  # tanh(x/2) = (e^x - 1)/(e^x + 1)


def _delta0_price(eps: float, eps0: float, n: int, delta0: float) -> float:
    return (math.exp(eps) + 1) * (1 + 0.5 * math.exp(-eps0)) * n * delta0


def fmt21_epsilon(eps0: float, *, n: int, delta: float, delta0: float = 0.0) -> float:
    """Central epsilon of "Hiding among the clones" for any common (eps0, delta0)-LDP randomizer.

    Feldman, McMillan and Talwar 2021 (arXiv:2012.12803), Theorem 3.1, or Theorem 3.8 with
    the best split of `delta` if delta0 > 0. An upper bound. It can exceed eps0 for small eps0.

    >>> round(fmt21_epsilon(0.5, n=10_000, delta=1e-4), 6)
    0.079015
    """
    eps0, n, delta = _asked(eps0, n, delta)
    delta0 = check.probability(delta0=delta0)
    if delta0 == 0:
        return _fmt21(eps0, n, delta)
    # The largest share s with s + price(eps(s)) <= delta gives the least eps. s -> delta - price(eps(s))
    # is increasing, so iterating it from above (eps = 0) decreases to that share.
    share = delta - _delta0_price(0.0, eps0, n, delta0)
    for _ in range(1000):
        if share <= 0:
            break
        eps = _fmt21(eps0, n, share)
        smaller = delta - _delta0_price(eps, eps0, n, delta0)
        if share - smaller <= 1e-13 * share:
            # Just below the limit, so that rounding cannot spend more than delta.
            share *= 1 - 1e-9
            eps = _fmt21(eps0, n, share)
            if share + _delta0_price(eps, eps0, n, delta0) <= delta:
                return eps
            break
        share = smaller
    price = _delta0_price(0.0, eps0, n, delta0)
    detail = f"delta0 = {delta0:g} costs over {price:.3g} of delta = {delta:g}"
    raise OutsideValidity(_FMT21_APPROXIMATE, "a delta0 of order delta/n or less", detail)


# --- forms with clones: the blog, Feldman et al. 2023, Liu et al. 2023 ---------------------------------------
# All are log(1 + tanh(eps_0/2) (8 sqrt(log(4/delta)/m) + 8/m)), or less, for a number m of expected clones.

BLOG = '"Why we should hide among the clones" (2022), eq. (1)'
FMT23 = "Feldman, McMillan and Talwar 2023, Theorem 3.2"
LIU23 = "Liu et al. 2023, Echo of Neighbors"


def clones_blog_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """log(1 + 16 tanh(eps0/2) sqrt(e^{eps0} log(4/delta)/n)) for any common eps0-LDP randomizer.

    Eq. (1) of C. Canonne's post of 2022 on differentialprivacy.org. An upper bound, never below
    `closed_forms.fmt21_epsilon`: the post folds the second term of FMT21's Theorem 3.1 into the first.
    Its condition there reads "n much larger than e^{eps0} log(1/delta)"; used here is Theorem 3.1's,
    under which the folding is an inequality. Can exceed eps0.
    """
    eps0, n, delta = _asked(eps0, n, delta)
    _require_clones(BLOG, eps0, n, delta)
    # The condition gives x = e^{eps0}/n <= 1/(16 log 2) < log 4, so that x <= sqrt(x log(4/delta)).
    return math.log1p(16 * math.tanh(eps0 / 2) * math.sqrt(math.exp(eps0) / n * (math.log(4) - math.log(delta))))


def fmt23_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """log(1 + (e^{eps0}-1)(4 sqrt(2 log(4/delta)/((e^{eps0}+1) n)) + 4/n)): "stronger clones".

    Feldman, McMillan and Talwar 2023 (arXiv:2208.04591), Theorem 3.2. An upper bound for binary
    randomized response. The general statement carries an erratum by its authors: Lemma 3.5 is wrong
    where the victim may answer neither of the two clones, which randomized response never does;
    they now state the theorem for a restricted class of randomizers. Can exceed eps0.

    >>> round(fmt23_epsilon(2.0, n=10_000, delta=1e-4), 6)
    0.342706
    """
    eps0, n, delta = _asked(eps0, n, delta)
    room = n / (8 * (math.log(2) - math.log(delta))) - 1
    if room <= 0 or eps0 > math.log(room):
        detail = f"eps0 = {eps0:g}, n = {n}, delta = {delta:g}"
        raise OutsideValidity(FMT23, "eps0 <= log(n/(8 log(2/delta)) - 1)", detail)
    spread = math.sqrt(2 * (math.log(4) - math.log(delta)) / ((math.exp(eps0) + 1) * n)) + 1 / n
    return math.log1p(4 * math.expm1(eps0) * spread)


def liu23_clones(budgets: Budgets) -> float:
    """Expected number S of "echoes" of a user with the largest eps, Liu et al. 2023.

    p_i = (1/n) sum_j (eps_i/eps_j) (1-e^{-eps_j})/(1-e^{-eps_i}) e^{-max(eps_i, eps_j)} and S is the
    sum of p_i over all users but one with the largest eps. O(g log g) for g different budgets.
    eps_i = 0 is taken as the limit.

    >>> from gspa.accountant import budgets
    >>> round(liu23_clones(budgets.constant(0.5, n=1001)), 6) == round(1000 * 2.718281828459045**-0.5, 6)
    True
    """
    users = budgets.grouped()
    eps, count = users.eps, users.count.astype(np.float64)
    # eps/(1 - e^{-eps}), the height of the density; 1 at eps = 0.
    height = np.where(eps > 0, eps, 1) / np.where(eps > 0, -np.expm1(-eps), 1)
    weight = count / height
    below = np.cumsum(weight)  # eps_j <= eps_i
    above = np.append(np.cumsum((weight * np.exp(-eps))[::-1])[::-1], 0.0)[1:]  # eps_j > eps_i
    p = height * (np.exp(-eps) * below + above) / budgets.n
    others = count.copy()
    others[-1] -= 1
    return float(p @ others)


def liu23_epsilon(budgets: Budgets, *, delta: float) -> float:
    """log(1 + tanh(eps_1/2) (8 sqrt(log(4/delta)/S) + 8/S)), eps_1 the largest eps, S as `liu23_clones`.

    Liu et al. 2023, "Echo of Neighbors" (arXiv:2304.05516), for personalized Laplace noise clipped to
    [0, 1]. Read from the authors' published code, not from the theorem's text. Not a certified upper
    bound: p_i averages over the user who is echoed, where the victim is one fixed user. For equal
    budgets it is FMT21's Theorem 3.1 with n - 1 instead of n; for one user with a very large eps among
    small ones it is below the exact epsilon (in the tests: 100 among 999 at 0.01, delta = 1e-4).

    Raises:
        OutsideValidity: a delta_i > 0, or S < 16 log(4/delta).

    >>> from gspa.accountant import budgets
    >>> round(liu23_epsilon(budgets.mixed_constant(0.5, 0.01, n=10_000), delta=1e-4), 6)
    0.073187
    """
    delta = check.probability(allow_zero=False, delta=delta)
    require_pure(LIU23, budgets)
    log = math.log(4) - math.log(delta)
    clones = liu23_clones(budgets)
    if clones < 16 * log:
        raise OutsideValidity(LIU23, "S >= 16 log(4/delta)", f"S = {clones:.4g}, 16 log(4/delta) = {16 * log:.4g}")
    return math.log1p(math.tanh(budgets.eps_max / 2) * 8 * (math.sqrt(log / clones) + 1 / clones))


# --- Liu et al. 2024, read from the authors' code ------------------------------------------------------------

LIU24 = "Liu et al. 2024, hypothesis testing and f-DP"
_DEVIATIONS = 12  # of the number of clones, about its mean: the rest of its law is below 1e-30
_MOST_USERS = 2**31 - 1  # of `bdtr`
_CLONES = 4096  # numbers of clones that are evaluated; of more, every second, third, ...
_LARGEST_EPS = 700.0  # e^eps beyond it is no double


def liu24_clones(budgets: Budgets) -> float:
    """Expected number of "clones" of a user with the largest eps among the others, Liu et al. 2024.

    User j is one with probability 2 min(a_j, b_j). With f the densities of Laplace noise on the inputs 0 and 1 at the
    largest eps, and g that of user j's at the input 0: a_j is the probability, under g, that f_0 is larger than f_1
    and g; b_j that f_1 is larger than f_0 and g (1 for a_j where f_0 nowhere exceeds g). The authors' code finds these
    sets on a grid; here their ends are solved for. As eps_j goes to 0 user j's law spreads beyond both, and the
    probability goes to 0, its value at eps_j = 0 < eps_1.

    >>> from gspa.accountant import budgets
    >>> round(liu24_clones(budgets.constant(0.5, n=1001)), 6) == round(1000 * 2.718281828459045**-0.25, 6)
    True
    """
    users = budgets.grouped()
    eps, most = users.eps, budgets.eps_max
    others = users.count.astype(np.float64)
    others[-1] -= 1
    share = np.where(eps == most, math.exp(-most / 2), 0.0)
    inside = (eps > 0) & (eps < most)
    own = eps[inside]
    if own.size:
        log_ratio, gap = math.log(most) - np.log(own), most - own
        reach = log_ratio / gap  # f_0 > g up to here, on both sides
        first = 2 - np.exp(-own * np.minimum(0.5, reach)) - np.exp(-own * reach)
        left, right = np.maximum(0.5, (most - log_ratio) / (most + own)), (log_ratio + most) / gap
        share[inside] = np.minimum(first, np.exp(-own * left) - np.exp(-own * right))
    return float(share @ others)


def liu24_epsilon(budgets: Budgets, *, delta: float) -> float:
    """Central eps of Liu et al. 2024 (arXiv:2407.18157) for personalized Laplace noise: not an upper bound.

    The least eps with (1 - 2w) E[P(A <= k) - s P(A + 1 <= k)] <= delta, A ~ Bin(C, 1/2), C ~ Bin(n, m/n),
    m = `liu24_clones`, w = e^{-eps_1/2}/2, s = (e^eps - 2w)/(1 - 2w), k the best cut for each C, eps_1 the largest
    eps. Read from the authors' public code (yixuanLL/HPS, `computeamplification_HP_fDP.py`, "corollary 4.3"), which
    finds sets and cuts on grids and agrees to some thousandths. The clones there are no part of a report's law: at
    eps_1 = 4 and n = 3,000 a count of the reports below 1/4 has ten times the delta (in the tests).

    Raises:
        OutsideValidity: one user, a delta_i > 0, an eps_i > 700, or no eps up to the largest eps_i meets delta.
    """
    delta = check.probability(allow_zero=False, delta=delta)
    require_pure(LIU24, budgets)
    n, most = budgets.n, budgets.eps_max
    if n < 2:
        raise OutsideValidity(LIU24, "n >= 2 users", f"n = {n}")
    if most > _LARGEST_EPS:
        raise OutsideValidity(LIU24, f"eps_i <= {_LARGEST_EPS:g}", f"the largest eps_i is {most:g}")
    if n > _MOST_USERS:
        raise OutsideValidity(LIU24, f"n <= {_MOST_USERS:,}", f"got {n:,}: its binomial sums are not evaluated there")
    told = -math.expm1(-most / 2)  # 1 - 2w
    if told == 0:
        return 0.0
    mean = liu24_clones(budgets)
    if mean == 0:
        raise OutsideValidity(LIU24, "more clones", "no other user is one")
    spread = _DEVIATIONS * math.sqrt(mean) + 3 * _DEVIATIONS
    first, last = max(0, math.floor(mean - spread)), min(n, math.ceil(mean + spread))
    every = 1 + (last - first) // _CLONES
    clones = np.arange(first, last + 1, every, dtype=np.float64)
    mass = every * binomial.pmf(clones, n, mean / n, 1 - mean / n)
    whole = clones.astype(np.intp)

    def gap(eps: float) -> float:
        slope = 1 + math.expm1(eps) / told
        cut = np.floor((clones + 1) / (1 + slope))
        shifted = np.where(cut > 0, bdtr(np.maximum(cut - 1, 0), whole, 0.5), 0)
        return told * float(mass @ (bdtr(np.minimum(cut, clones), whole, 0.5) - slope * shifted)) - delta

    if gap(0.0) <= 0:
        return 0.0
    if gap(most) > 0:
        reason = f"no eps up to the largest eps_i = {most:g} meets delta = {delta:g}"
        raise OutsideValidity(LIU24, "more clones", reason)
    return float(brentq(gap, 0.0, most, xtol=1e-12))


def require_pure(bound: str, budgets: Budgets) -> None:
    """Refuses a population with a delta_i > 0."""
    if budgets.delta_max > 0:
        hint = f"the largest delta_i is {budgets.delta_max:g}"
        raise OutsideValidity(bound, "pure local privacy, delta_i = 0", hint)


# --- the Renyi bound of Girgis et al. 2021 -------------------------------------------------------------------

GIRGIS21 = "Girgis et al. 2021, Renyi bound"
_LARGEST_ORDER = 2**16


def _log_sinh(x: float) -> float:
    """log sinh x for x >= 0."""
    return x - math.log(2) + math.log(-math.expm1(-2 * x)) if x > 0 else -math.inf


@cache
def _tables() -> tuple[Array, Array]:
    """log j! for j from 0, and log(j Gamma(j/2)/j!) for j from 3, up to the largest order."""
    factorials, j = gammaln(np.arange(_LARGEST_ORDER + 1) + 1.0), np.arange(3.0, _LARGEST_ORDER + 1)
    return factorials, np.log(j) + gammaln(j / 2) - factorials[3:]


def girgis21_renyi(eps0: float, *, n: int, order: int) -> float:
    """Renyi divergence of integer order that shuffling n reports costs at most, in nats.

    log(1 + C(l,2) (p-1)^2/(m p) + sum_{j=3}^l C(l,j) j Gamma(j/2) ((p^2-1)^2/(2 p^2 m))^{j/2}
    + e^{eps0 l - (n-1)/(8 p)})/(l-1), p = e^{eps0}, l = `order`, m = floor((n-1)/(2p)) + 1.

    Girgis, Data, Diggavi, Suresh and Kairouz 2021 (CCS 2021, arXiv:2105.05180), upper bound, for any common
    eps0-LDP randomizer. Stated for every eps0 and n; while n is small the value is above eps0 and says
    nothing.
    """
    eps0, n, order = check.nonnegative(eps0=eps0), check.count(n=n), check.count(2, order=order)
    if n < 2:
        raise OutsideValidity(GIRGIS21, "n >= 2 users", f"n = {n}")
    if order > _LARGEST_ORDER:
        raise InvalidValue("order", order, f"at most {_LARGEST_ORDER}")
    if eps0 == 0:
        return 0.0  # the reports say nothing; the formula keeps its last term
    m = math.floor((n - 1) * math.exp(-eps0) / 2) + 1
    # (p-1)^2/p = 4 sinh(eps0/2)^2 and (p^2-1)^2/(2 p^2) = 2 sinh(eps0)^2.
    log_pairs = math.log(order * (order - 1) / 2) + math.log(4) + 2 * _log_sinh(eps0 / 2) - math.log(m)
    log_scale = 0.5 * (math.log(2 / m) + 2 * _log_sinh(eps0))
    factorials, weights = _tables()
    j = np.arange(3, order + 1)
    # C(l,j) j Gamma(j/2) = l!/(l-j)! * j Gamma(j/2)/j!
    terms = factorials[order] - factorials[order - j] + weights[: order - 2] + j * log_scale
    last = eps0 * order - (n - 1) * math.exp(-eps0) / 8
    return float(np.logaddexp.reduce(np.append(terms, [log_pairs, last, 0.0]))) / (order - 1)


def renyi_to_epsilon(divergence: float, *, order: float, delta: float) -> float:
    """Central epsilon that a bound on the Renyi divergence of one order > 1 gives at delta; at least 0.

    divergence + log((order-1)/order) - (log delta + log order)/(order-1): Canonne, Kamath and Steinke 2020
    (arXiv:2004.00010), Proposition 12, and Balle et al. 2020 (arXiv:1905.09982), Theorem 21. An upper
    bound, for every order.

    >>> round(renyi_to_epsilon(0.01, order=30, delta=1e-4), 6)
    0.176414
    """
    divergence, order = check.nonnegative(divergence=divergence), check.positive(order=order)
    delta = check.probability(allow_zero=False, delta=delta)
    if order <= 1:
        raise InvalidValue("order", order, "> 1")
    return max(0.0, divergence + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1))


def girgis21_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """Central epsilon from `girgis21_renyi`, the least over integer orders found by search.

    Girgis et al. 2021 (arXiv:2105.05180), converted by `renyi_to_epsilon`. An upper bound, since every
    order gives one: the search doubles the order until the value rises, then halves the bracket.
    Can exceed eps0.

    >>> girgis21_epsilon(0.5, n=10**6, delta=1e-4) < 0.006
    True
    """
    eps0, n, delta = _asked(eps0, n, delta)
    values: dict[int, float] = {}

    def value(order: int) -> float:
        if order not in values:
            values[order] = renyi_to_epsilon(girgis21_renyi(eps0, n=n, order=order), order=order, delta=delta)
        return values[order]

    top = 2
    value(top)  # which refuses a single user
    if eps0 == 0:
        return 0.0
    while 2 * top <= _LARGEST_ORDER and value(2 * top) < value(top):
        top *= 2
    around = range(max(2, top // 2), min(2 * top, _LARGEST_ORDER))
    value(around.start + bisect_left(around, True, key=lambda order: value(order) <= value(order + 1)))
    return min(values.values())


# --- the Renyi bound of Liew et al. 2022 for shuffled Gaussian reports ----------------------------------------

LIEW22 = "Liew et al. 2022, Renyi bound"
_LEAST_SIGMA = 1e-100  # below it the moments overflow, logarithms included
_LARGEST_ORDERS = 1024  # a table of its square


def _convolved(first: Array, second: Array) -> Array:
    """Logarithms of the coefficients of a product of two power series, as many as of the first."""
    size = first.size
    rows, columns = np.ogrid[:size, :size]
    shifted = np.where(rows >= columns, second[np.maximum(rows - columns, 0)], -np.inf)
    return np.asarray(np.logaddexp.reduce(first + shifted, axis=1))


@lru_cache(maxsize=64)
def _liew22(sigma: float, n: int, largest: int) -> Array:
    """The divergences of order l = 2 ... largest: log E[((X_1 + ... + X_n)/n)^l]/(l - 1).

    The X_i are independent, E[X_i^k] = e^{k(k-1)/(2 sigma^2)}. The moment is l!/n^l times the coefficient of z^l in the
    n-th power of sum_k z^k E[X^k]/k!: the sum over partitions of l.
    """
    if sigma < _LEAST_SIGMA:
        raise OutsideValidity(LIEW22, f"sigma >= {_LEAST_SIGMA:g}", f"sigma = {sigma:g}")
    k, sigma = np.arange(largest + 1.0), min(sigma, 1e100)
    factorials = gammaln(k + 1)
    base = k * (k - 1) / (2 * sigma * sigma) - factorials
    power, left = np.where(k == 0, 0.0, -np.inf), n
    while left:
        if left % 2:
            power = _convolved(power, base)
        left //= 2
        if left:
            base = _convolved(base, base)
    log_moments = power + factorials - k * math.log(n)
    return np.asarray(np.maximum(log_moments[2:], 0) / (k[2:] - 1))


def liew22_epsilon(sigma: float, *, n: int, delta: float, largest_order: int = _LARGEST_ORDERS) -> float:
    """Central eps of n shuffled Gaussian reports of [0, 1], from a Renyi divergence at the best integer order found.

    The divergence, in nats: log(e^{-l/(2 sigma^2)} n^{-l} sum_{k_1 + ... + k_n = l} (l; k_1, ..., k_n)
    e^{sum k_i^2/(2 sigma^2)})/(l - 1) (Liew, Hasegawa and Takahashi 2022, arXiv:2206.03151; also in the abstract of
    Liew and Takahashi 2022, arXiv:2206.09569). It is that of (1/n) sum_i N(e_i, sigma^2 I) from N(0, sigma^2 I): exact
    in that direction where all other inputs are equal. That it bounds the other direction, and every choice of the
    others' inputs, is the paper's claim, not checked here. Converted by `renyi_to_epsilon`, as the authors' code does
    (spliew/shuffgauss, `ShuffGaussRDPtoDP`, where `largest_order` is `mxlmbda`, 20 in its examples).

    Args:
        sigma: standard deviation of the noise, > 0; below 1e-100 it is refused.
        largest_order: the largest order tried, an integer in [2, 1024].

    >>> round(liew22_epsilon(1.0, n=600_000, delta=1 / 600_000, largest_order=20), 4)
    0.4913
    """
    sigma, n, largest = check.positive(sigma=sigma), check.count(n=n), check.count(2, largest_order=largest_order)
    delta = check.probability(allow_zero=False, delta=delta)
    if largest > _LARGEST_ORDERS:
        raise InvalidValue("largest_order", largest, f"at most {_LARGEST_ORDERS}")
    tried = min(32, largest)
    while True:
        found = _liew22(sigma, n, tried)
        values = [renyi_to_epsilon(float(value), order=order, delta=delta) for order, value in enumerate(found, 2)]
        least = min(values)
        if tried == largest or least < values[-1]:  # not at the end, where larger orders may be better
            return least
        tried = min(2 * tried, largest)

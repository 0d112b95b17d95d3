"""The published formulas, each with its entry in the catalogue: where it is stated, when it applies, for whom it holds.

`gspa.accountant.published` compares them. `eps0` is a local budget that all users have, >= 0, `n` their number, `delta`
a central one in (0, 1); `budgets` are pure (delta_i = 0) where nothing else is said. A value can exceed eps0. Roundings
are not covered: 1e-15 of a formula in one line, more where thousands of terms are summed. To add a bound, write its
formula here, below its entry.

>>> erlingsson19_epsilon(0.6, n=10_000, delta=1e-4)
Traceback (most recent call last):
    ...
gspa.accountant.errors.OutsideValidity: Erlingsson19: needs eps0 <= 1/2, delta <= 0.01, \
n >= max(1000, 144 log(1/delta)); eps0 = 0.6, n = 10000, delta = 0.0001
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial, wraps
from inspect import cleandoc, signature
from typing import Any, ParamSpec

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr, expit, gammaln

from gspa.accountant import arguments as check
from gspa.accountant import binomial
from gspa.accountant.arguments import MOST_EXPONENT, Array
from gspa.accountant.budgets import Budgets
from gspa.accountant.clones import CloneLaw
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.one_round import problem_of
from gspa.accountant.randomizers import RandomizedResponse
from gspa.accountant.tradeoff import gdp_epsilon

# --- the catalogue -------------------------------------------------------------------------------------------

FAMILIES: Mapping[str, str] = {
    "common": "one pure eps0-LDP randomizer for all users, any",
    "rr": "binary randomized response",
    "krr": "k-ary randomized response, any k >= 2",
    "laplace": "Laplace noise of scale 1/eps_i on inputs in [0, 1]",
    "clip_laplace": "Laplace noise of scale 1/eps_i on inputs in [0, 1], conditioned on [0, 1]",
}
"""Families of local randomizers that a bound can be asked about, and what they are."""


@dataclass(frozen=True)
class PublishedBound:
    """One entry of the catalogue.

    Attributes:
        label: name for figures and refusals; the key is made of it.
        source: where it is stated.
        conditions: when it applies, in words and symbols.
        family: the key of `FAMILIES` for which it is established; "common" stands for all of them.
        valid_for: the class of local randomizers for which it is established, in words.
        epsilon: (budgets, delta=) to the central eps; raises OutsideValidity.
        personalized: takes different eps_i; otherwise it is given the largest.
        rigorous: an upper bound by a proof that stands, for `family`, rather than an estimate.
    """

    label: str
    source: str
    conditions: str
    family: str
    valid_for: str
    epsilon: Callable[..., float]
    personalized: bool
    rigorous: bool

    @property
    def key(self) -> str:
        """Short name, stable: the label without what is in brackets."""
        return re.sub(r"\W+", "_", self.label.partition(" (")[0]).lower()


CATALOGUE: dict[str, PublishedBound] = {}
"""Every published bound, by key; complete in `gspa.accountant.published`.

:meta hide-value:
"""

_REMEMBERED = 256  # values of each bound: half of Figure 2's populations agree in eps0, n and delta
_ANY = "any common eps0-LDP randomizer (one randomizer for all users)"
_CLONES = "eps0 <= log(n/(16 log(2/delta)))"
FMT21 = "Feldman, McMillan and Talwar, FOCS 2021, arXiv:2012.12803"
FMT23 = "Feldman, McMillan and Talwar, SODA 2023, arXiv:2208.04591"

_CHECKS: Mapping[str, Callable[..., Any]] = {
    "eps0": check.nonnegative,
    "n": check.count,
    "delta": partial(check.probability, allow_zero=False),
    "delta0": check.probability,
    "budgets": lambda budgets: budgets,
}


P = ParamSpec("P")


class Outside(Exception):
    """Raised by a formula outside the conditions in its entry, which make a refusal of it."""


def entry(
    label: str, source: str, conditions: str, family: str = "common", valid_for: str = _ANY, *, rigorous: bool = True
) -> Callable[[Callable[P, float]], Callable[P, float]]:
    """Puts a formula of (budgets, delta=), or of (eps0, n=, delta=) and perhaps delta0=, into the catalogue.

    Arguments are checked and refused here; what the catalogue says of a formula goes into its documentation.
    """

    def entered(formula: Callable[P, float]) -> Callable[P, float]:
        form = signature(formula)
        own, local = "budgets" in form.parameters, "delta0" in form.parameters
        once: Callable[..., float] = formula if own else lru_cache(maxsize=_REMEMBERED)(formula)

        @wraps(formula)
        def checked(*args: Any, **named: Any) -> float:
            asked = form.bind(*args, **named).arguments
            asked = {name: _CHECKS[name](**{name: value}) for name, value in asked.items()}
            try:
                return once(**asked)
            except Outside:
                shown = (f"{name} = {f'{v:g}' if isinstance(v, float) else v}" for name, v in asked.items())
                raise OutsideValidity(label, conditions, ", ".join(shown)) from None

        def of_largest(budgets: Budgets, *, delta: float) -> float:
            more = {"delta0": budgets.delta_max} if budgets.delta_max > 0 else {}
            if more and not local:
                hint = f"the largest delta_i is {budgets.delta_max:g}"
                raise OutsideValidity(label, "pure local privacy, delta_i = 0", hint)
            return checked(budgets.eps_max, n=budgets.n, delta=delta, **more)

        epsilon = checked if own else of_largest
        bound = PublishedBound(label, source, conditions, family, valid_for, epsilon, own, rigorous)
        CATALOGUE[bound.key] = bound
        said = f"Needs: {conditions}. {'An upper bound' if rigorous else 'An estimate'}, valid for: {valid_for}."
        checked.__doc__ = f"{cleandoc(formula.__doc__ or '')}\n\n{source}. {said}"
        return checked

    return entered


# --- GSPA ----------------------------------------------------------------------------------------------------


def clone_probabilities(budgets: Budgets) -> Array:
    """r_i = (1 - delta_i)/(1 + e^{eps_i}), one per group of users.

    The r_i of Theorem 1, Chen et al. 2024: user i's report is a copy of either of the victim's two
    outcomes with probability r_i each. Exact up to rounding; in [0, 1/2]; no overflow for any eps.
    """
    return np.asarray((1 - budgets.delta) * expit(-budgets.eps), dtype=np.float64)


def gspa_mu(budgets: Budgets) -> float:
    """mu of the approximate GDP guarantee: sqrt(2/(sum_i r_i - max_i r_i)).

    Theorem 2, Chen et al. 2024, as the abstract and the last line of the proof have it; the statement subtracts the
    victim twice (erratum G-T2). Errs to either side: a Gaussian limit, see `gspa_epsilon`.

    Raises:
        OutsideValidity: one user, or eps too large to hide anybody.

    >>> from gspa.accountant import budgets
    >>> gspa_mu(budgets.constant(0.0, n=5))
    1.0
    """
    r, others = clone_probabilities(budgets), budgets.count.copy()
    others[int(np.argmax(r))] -= 1  # rather than sum - max, which would cancel for few users
    total = float(r @ others)
    if total == 0 or math.isinf(2 / total):
        hint = f"nobody to hide among: n = {budgets.n}, the least eps_i = {budgets.eps_min:g}"
        raise OutsideValidity("GSPA", "n >= 2 users and sum_i r_i > max_i r_i", hint)
    return math.sqrt(2 / total)


@entry(
    "GSPA",
    "Chen, Cao and Ge, AAAI 2024, Theorem 2 and Fact 3",
    "n >= 2; the slack C/sqrt(n-1) and the victim's delta_n are dropped",
    "rr",
    "stated for any PLDP; established only as a Gaussian limit for families with aligned clones, "
    "such as personalized binary randomized response",
    rigorous=False,
)
def gspa_epsilon(budgets: Budgets, *, delta: float) -> float:
    """Central epsilon that Theorem 2 "approximately" gives, as drawn in Figure 2; it may lie below the truth.

    The conversion from mu itself errs upward.

    >>> from gspa.accountant import budgets
    >>> round(gspa_epsilon(budgets.constant(0.5, n=10_000), delta=1e-4), 4)
    0.0518
    """
    return gdp_epsilon(delta=delta, mu=gspa_mu(budgets))


def gspa_slack(budgets: Budgets, *, half_way: bool = False) -> float:
    """A slack s with which T(rho_0, rho_1)(alpha) >= G_mu(alpha + s) - s is proved, mu = `gspa_mu`; at most 1.

    `clone_slack` of the number of clones that a user with the largest eps hides among.

    Args:
        budgets: at least 2 users; a delta_j > 0 of another user makes fewer clones, the victim's own is not counted.
        half_way: as in `clone_slack`.

    >>> from gspa.accountant import budgets
    >>> crowd = budgets.constant(0.5, n=10_000)
    >>> round(gspa_slack(crowd), 4), round(gspa_slack(crowd, half_way=True), 5)
    (0.0048, 0.0002)
    """
    hidden = problem_of(budgets, RandomizedResponse(), int(np.argmax(budgets.eps)))
    return clone_slack(hidden.law(), mu=gspa_mu(budgets), half_way=half_way)


def clone_slack(law: CloneLaw, *, mu: float, half_way: bool = False) -> float:
    """The same for a number N of clones of this law, fair coins each, and any mu >= 0.

    Theorem 2 of Chen et al. 2024, corrected (G-T2): s = e(c0) + P(N < c0) + (2/sqrt(c0) - mu)_+ / sqrt(2 pi) at its
    best c0 >= 1. e(c) is Hipp and Mattner's 1/sqrt(2 pi c) for a distribution function of c fair coins; if `half_way`,
    for c >= 100 Uspensky's 0.53/c + e^(-3 sqrt(c)/4), half-way between the counts' jumps. Errs upward: the least such
    s may be far smaller.
    """
    c0 = law.edges[:-1]
    fewer = law.below + np.r_[0.0, np.cumsum(law.mass + law.error)[:-1]]
    c0, fewer = c0[c0 >= 1], fewer[c0 >= 1]
    coins = 1 / np.sqrt(2 * math.pi * c0)
    if half_way:  # 0.13/variance + e^(-3 sd/2) from sd = 5 on; 0.01/c is more than what the normal law has below 0
        coins = np.where(c0 >= 100, 0.53 / c0 + np.exp(-0.75 * np.sqrt(c0)), coins)
    s = coins + np.maximum(2 / np.sqrt(c0) - mu, 0.0) / math.sqrt(2 * math.pi) + fewer
    return float(s.min(initial=1.0))


# --- one randomizer: Erlingsson et al. 2019, and forms with clones -------------------------------------------


@entry(
    "Erlingsson19",
    "Erlingsson et al., SODA 2019, arXiv:1811.12469",
    "eps0 <= 1/2, delta <= 0.01, n >= max(1000, 144 log(1/delta))",
)
def erlingsson19_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """12 eps0 sqrt(log(1/delta)/n)."""
    # Stated for eps0 < 1/2 and delta < 1/100; the ends follow by continuity (replacing the randomizer
    # by a fixed law with a vanishing probability makes its eps strictly smaller).
    factor = 12 * math.sqrt(-math.log(delta) / n)
    if eps0 > 0.5 or delta > 0.01 or n < 1000 or factor > 1:
        raise Outside
    return factor * eps0


def _log(factor: float, delta: float) -> float:
    """log(factor/delta)."""
    return math.log(factor) - math.log(delta)


def _with_clones(eps0: float, clones: float, delta: float) -> float:
    """log(1 + tanh(eps0/2) (8 sqrt(log(4/delta)/m) + 8/m)), m >= 16 log(2/delta) the expected number of clones."""
    if clones < 16 * _log(2, delta):
        raise Outside
    # tanh(x/2) = (e^x - 1)/(e^x + 1)
    return math.log1p(math.tanh(eps0 / 2) * (8 * math.sqrt(_log(4, delta) / clones) + 8 / clones))


@entry("FMT21", f"{FMT21}, Theorems 3.1 and 3.8", f"{_CLONES}, delta0 of order delta/n or less")
def fmt21_epsilon(eps0: float, *, n: int, delta: float, delta0: float = 0.0) -> float:
    """log(1 + tanh(eps0/2) (8 sqrt(e^{eps0} log(4/delta)/n) + 8 e^{eps0}/n)): "Hiding among the clones".

    Theorem 3.1; or, for a common (eps0, delta0)-LDP randomizer, Theorem 3.8 with the best split of `delta`.

    >>> round(fmt21_epsilon(0.5, n=10_000, delta=1e-4), 6)
    0.079015
    """
    clones, share = n * math.exp(-eps0), delta
    cost = (1 + 0.5 * math.exp(-eps0)) * n * check.probability(delta0=delta0)
    # The largest share s with s + (e^eps(s) + 1) cost <= delta gives the least eps. What is left is increasing in s, so
    # iterating from above decreases to that share, at last in steps of 1e-9 of it.
    for _ in range(1000):
        if share <= 0:
            break
        eps = _with_clones(eps0, clones, share)
        left = delta - (math.exp(eps) + 1) * cost
        if share <= left:
            return eps
        share = min(left, share * (1 - 1e-9))
    raise Outside


@entry("Clones blog", "C. Canonne, differentialprivacy.org, 2022, eq. (1)", _CLONES)
def clones_blog_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """log(1 + 16 tanh(eps0/2) sqrt(e^{eps0} log(4/delta)/n)), never below `fmt21_epsilon`.

    The post folds the second term of FMT21's Theorem 3.1 into the first. Its condition reads "n much larger than
    e^{eps0} log(1/delta)"; used here is Theorem 3.1's, under which the folding is an inequality.
    """
    clones = n * math.exp(-eps0)
    if clones < 16 * _log(2, delta):
        raise Outside
    # x = 1/clones <= 1/(16 log 2) < log 4, so that x <= sqrt(x log(4/delta)).
    return math.log1p(16 * math.tanh(eps0 / 2) * math.sqrt(_log(4, delta) / clones))


@entry(
    "FMT23",
    f"{FMT23}, Theorem 3.2",
    "eps0 <= log(n/(8 log(2/delta)) - 1)",
    "rr",
    "binary randomized response, and the restricted class of its authors' erratum; "
    "not any eps0-LDP randomizer, as first stated",
)
def fmt23_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """log(1 + (e^{eps0}-1)(4 sqrt(2 log(4/delta)/((e^{eps0}+1) n)) + 4/n)): "stronger clones".

    The erratum: Lemma 3.5 is wrong where the victim may answer neither clone, which randomized response never does.
    """
    return _with_clones(eps0, 2 * n * float(expit(-eps0)), delta)


@entry(
    "Wang24",
    "Wang et al., 2024, arXiv:2304.05007, closed form at the largest total variation",
    "n > 8 (e^eps0 + 1) log(4/delta)",
    "rr",
    "binary randomized response; stated for any common eps0-LDP randomizer, by a step that fails where a user "
    "may answer neither clone",
)
def wang24_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """The variation-ratio reduction at randomized response's total variation: `fmt23_epsilon` of n - 1 users.

    The published reduction hides among the others' answers that a victim answered neither clone (page 5).
    """
    if eps0 == 0:  # every report has one law
        return 0.0
    r = float(expit(-eps0))
    if r * n <= 8 * _log(4, delta):
        raise Outside
    return _with_clones(eps0, 2 * r * (n - 1), delta)


# --- budgets of one's own: Liu et al. 2023 and 2024, read from the authors' code ------------------------------


def liu23_clones(budgets: Budgets) -> float:
    """Expected number S of "echoes" of a user with the largest eps, Liu et al. 2023.

    p_i = (1/n) sum_j (eps_i/eps_j) (1-e^{-eps_j})/(1-e^{-eps_i}) e^{-max(eps_i, eps_j)} and S is the sum of p_i over
    all users but one with the largest eps. O(g log g) for g different budgets. eps_i = 0 is taken as the limit.
    """
    users = budgets.grouped()
    eps, count = users.eps, users.count.astype(np.float64)
    # eps/(1 - e^{-eps}), the height of the density; 1 at eps = 0.
    height = np.where(eps > 0, eps, 1) / np.where(eps > 0, -np.expm1(-eps), 1)
    weight = count / height
    below = np.cumsum(weight)  # eps_j <= eps_i
    above = np.append(np.cumsum((weight * np.exp(-eps))[::-1])[::-1], 0.0)[1:]  # eps_j > eps_i
    p = height * (np.exp(-eps) * below + above) / budgets.n
    count[-1] -= 1
    return float(p @ count)


@entry(
    "Liu23",
    "Liu et al., AAAI 2024, arXiv:2304.05516 (Echo), read from the authors' code",
    "pure local privacy, delta_i = 0, and S >= 16 log(4/delta), S the expected number of echoes of the largest eps_i",
    "clip_laplace",
    "stated for personalized Laplace noise clipped to [0, 1]; false for one very large eps_i among small ones",
    rigorous=False,
)
def liu23_epsilon(budgets: Budgets, *, delta: float) -> float:
    """log(1 + tanh(eps_1/2) (8 sqrt(log(4/delta)/S) + 8/S)), eps_1 the largest eps, S as `liu23_clones`.

    Not a certified upper bound: p_i averages over the user who is echoed, where the victim is one fixed user. For equal
    budgets it is FMT21's Theorem 3.1 with n - 1 instead of n; for one user with a very large eps among
    small ones it is below the exact epsilon (in the tests: 100 among 999 at 0.01, delta = 1e-4).

    >>> from gspa.accountant import budgets
    >>> round(liu23_epsilon(budgets.draw("mixed", n=10_000, rng=0), delta=1e-4), 6)
    0.073187
    """
    clones = liu23_clones(budgets)
    if budgets.delta_max > 0 or clones < 16 * _log(4, delta):
        raise Outside
    return _with_clones(budgets.eps_max, clones, delta)


_DEVIATIONS = 12  # of the number of clones, about its mean: the rest of its law is below 1e-30
_MOST_CLONES = 2e9  # below what `bdtr` takes
_CLONES_TRIED = 4096  # numbers of clones that are evaluated; of more, every second, third, ...


def liu24_clones(budgets: Budgets) -> float:
    """Expected number of "clones" of a user with the largest eps among the others, Liu et al. 2024.

    User j is one with probability 2 min(a_j, b_j). With f the densities of Laplace noise on the inputs 0 and 1 at the
    largest eps, and g that of user j's at the input 0: a_j is the probability, under g, that f_0 is larger than f_1
    and g; b_j that f_1 is larger than f_0 and g (1 for a_j where f_0 nowhere exceeds g). The authors' code finds these
    sets on a grid; here their ends are solved for. As eps_j goes to 0 user j's law spreads beyond both, and the
    probability goes to 0, its value at eps_j = 0 < eps_1.
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


@entry(
    "Liu24",
    "Liu et al. 2024, arXiv:2407.18157, read from the authors' code",
    "pure local privacy, delta_i = 0, n >= 2, fewer than 2e9 clones, and a delta that some eps up to the largest "
    "eps_i, and to 700, meets",
    "laplace",
    "stated for personalized Laplace noise on [0, 1], among others; false for eps0 = 4, where an attack has "
    "ten times its delta",
    rigorous=False,
)
def liu24_epsilon(budgets: Budgets, *, delta: float) -> float:
    """The least eps at which their pair has delta; not an upper bound: its clones are no part of a report's law.

    That is the least eps with (1 - 2w) E[P(A <= k) - s P(A + 1 <= k)] <= delta, A ~ Bin(C, 1/2), C ~ Bin(n, m/n),
    m = `liu24_clones`, w = e^{-eps_1/2}/2, s = (e^eps - 2w)/(1 - 2w), k the best cut for each C, eps_1 the largest
    eps. The authors' code (yixuanLL/HPS, `computeamplification_HP_fDP.py`, "corollary 4.3") finds sets and cuts on
    grids and agrees to some thousandths.
    """
    n, mean, most = budgets.n, liu24_clones(budgets), min(budgets.eps_max, MOST_EXPONENT)
    if budgets.delta_max > 0 or not 0 < mean < _MOST_CLONES:
        raise Outside
    told = -math.expm1(-budgets.eps_max / 2)  # 1 - 2w
    if told == 0:
        return 0.0
    spread = _DEVIATIONS * math.sqrt(mean) + 3 * _DEVIATIONS
    first, last = max(0, math.floor(mean - spread)), min(n, math.ceil(mean + spread))
    every = 1 + (last - first) // _CLONES_TRIED
    clones = np.arange(first, last + 1, every)
    mass = every * binomial.pmf(clones.astype(np.float64), n, mean / n, 1 - mean / n)

    def gap(eps: float) -> float:
        slope = 1 + math.expm1(eps) / told
        cut = np.floor((clones + 1) / (1 + slope))
        shifted = np.where(cut > 0, bdtr(np.maximum(cut - 1, 0), clones, 0.5), 0)
        return told * float(mass @ (bdtr(cut, clones, 0.5) - slope * shifted)) - delta

    if gap(0.0) <= 0:
        return 0.0
    if gap(most) > 0:
        raise Outside
    return float(brentq(gap, 0.0, most, xtol=1e-12))


# --- the Renyi bound of Girgis et al. 2021 -------------------------------------------------------------------

_LARGEST_ORDER = 2**16
_SMALLEST = 1e-300


def girgis21_renyi(eps0: float, *, n: int, order: int) -> float:
    """Renyi divergence of integer order that shuffling n >= 2 reports costs at most, in nats.

    log(1 + C(l,2) (p-1)^2/(m p) + sum_{j=3}^l C(l,j) j Gamma(j/2) ((p^2-1)^2/(2 p^2 m))^{j/2}
    + e^{eps0 l - (n-1)/(8 p)})/(l-1), p = e^{eps0} <= e^700, l = `order` in [2, 2^16], m = floor((n-1)/(2p)) + 1.

    Girgis, Data, Diggavi, Suresh and Kairouz 2021 (CCS 2021, arXiv:2105.05180), upper bound, for any common eps0-LDP
    randomizer. Stated for every eps0 and n; while n is small the value is above eps0 and says nothing.
    """
    eps0, n = check.in_range(0, MOST_EXPONENT, eps0=eps0), check.count(2, n=n)
    order = check.count(2, order=order)
    if order > _LARGEST_ORDER:
        raise InvalidValue("order", order, f"at most {_LARGEST_ORDER}")
    if eps0 < _SMALLEST:
        return eps0  # as without shuffling; the formula keeps its last term
    m = math.floor((n - 1) * math.exp(-eps0) / 2) + 1
    # (p-1)^2/p = 4 sinh(eps0/2)^2 and (p^2-1)^2/(2 p^2) = 2 sinh(eps0)^2.
    log_pairs = math.log(2 * order * (order - 1) / m) + 2 * math.log(math.sinh(eps0 / 2))
    log_scale = 0.5 * math.log(2 / m) + math.log(math.sinh(eps0))
    j = np.arange(3, order + 1)
    # C(l,j) j Gamma(j/2) = l!/(l-j)! * j Gamma(j/2)/j!
    terms = gammaln(order + 1) - gammaln(order - j + 1) + np.log(j) + gammaln(j / 2) - gammaln(j + 1) + j * log_scale
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


@entry(
    "Girgis21 (Renyi)",
    "Girgis et al., CCS 2021, arXiv:2105.05180, converted at the best integer order by "
    "Canonne, Kamath and Steinke 2020, Proposition 12",
    "n >= 2, eps0 <= 700",
)
def girgis21_epsilon(eps0: float, *, n: int, delta: float) -> float:
    """Central epsilon from `girgis21_renyi` by `renyi_to_epsilon`, the least over integer orders found by search.

    Every order gives a bound: the search doubles the order until the value rises, then halves the bracket.
    """
    if n < 2 or eps0 > MOST_EXPONENT:
        raise Outside
    if eps0 < _SMALLEST:
        return eps0

    values: dict[int, float] = {}

    def value(order: int) -> float:
        if order not in values:
            values[order] = renyi_to_epsilon(girgis21_renyi(eps0, n=n, order=order), order=order, delta=delta)
        return values[order]

    top = 2
    while 2 * top <= _LARGEST_ORDER and value(2 * top) < value(top):
        top *= 2
    around = range(max(2, top // 2), min(2 * top, _LARGEST_ORDER))
    bisect_left(around, True, key=lambda order: value(order) <= value(order + 1))
    return min(values.values())

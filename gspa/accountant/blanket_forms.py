"""The privacy blanket's closed forms: Balle, Bell, Gascon and Nissim 2019, Hoeffding and Bennett.

The others' reports hold, with probability gamma each, a report that does not depend on the input, from
the law omega. With L = (f0(Y) - e^eps f1(Y))/omega(Y), Y from omega, and M ~ Bin(n, gamma),

    delta(eps) <= E[(L_1 + ... + L_M)_+]/(gamma n),

and the mean of L is 1 - e^eps < 0. Both forms are tail bounds for that sum; the constants are those of
three kinds of randomizer. (arXiv:1903.02837; gamma = e^{-eps0} is a blanket of every eps0-LDP randomizer.)
Arguments are as in `gspa.accountant.closed_forms`.

>>> for randomizer in RANDOMIZERS:
...     forms = [blanket_epsilon(0.5, n=10_000, delta=1e-4, form=form, randomizer=randomizer) for form in FORMS]
...     print(randomizer, [round(eps, 4) for eps in forms])
generic [0.0373, 0.0642]
rr [0.0141, 0.0142]
laplace [0.0143, 0.0131]
"""

from __future__ import annotations

import math
from functools import partial

from gspa.accountant import arguments as check
from gspa.accountant.closed_forms import entry
from gspa.accountant.errors import OutsideValidity
from gspa.accountant.roots import crossing

FORMS = ("hoeffding", "bennett")
RANDOMIZERS = ("generic", "rr", "laplace")
ONE_SCALE = "Laplace noise of one scale 1/eps0 on inputs in [0, 1]"
BELOW_EPS0 = "eps0 <= 100 and n so large that its value is below eps0"
_SMALLEST = 1e-100  # below it squares underflow; eps0 itself is the answer
_LARGEST = 100.0  # beyond it no population of at most 2^53 users has a value below eps0

Moments = tuple[float, float, float, float, float]


def blanket_moments(eps: float, *, eps0: float, randomizer: str = "generic") -> Moments:
    """What the two forms need to know of L at a central eps in [0, 700] and eps0 in (0, 100].

    Balle et al. 2019, Section 5. Exact for "rr" (binary randomized response) and "laplace" (inputs in [0, 1], scale
    1/eps0; the victim's inputs are the two ends, where `square` is largest); upper bounds for "generic"
    (e^{-eps0} <= f/omega <= e^{eps0}).

    Returns:
        gamma, 1 - gamma (not rounded to 0 for small eps0), the length of an interval that L lies in, the least upper
        bound on L, and one on the mean of L^2.

    >>> round(blanket_moments(0.0, eps0=1.0986122886681098, randomizer="rr")[0], 12)
    0.5
    """
    p, s, t = math.exp(eps0), math.exp(eps), math.expm1(eps)  # the forms below do not cancel for small eps0
    if randomizer == "generic":
        # A blanket may always be thinned to gamma = e^{-eps0}. The range of f/omega is that of the whole one,
        # of mass up to 1: gamma = e^{-eps0} in its place, for a smaller width, would not be valid.
        square = p * t * t + 4 * s / p * math.sinh(2 * eps0)  # p (s^2 + 1) - 2 s p^-3
        width = (s + 1) * 2 * math.sinh(eps0)
        return 1 / p, -math.expm1(-eps0), width, s / p * math.expm1(2 * eps0 - eps), square
    if randomizer == "rr":
        gamma = 2 / (p + 1)
        own = gamma * math.expm1(eps0)  # 2 (1 - gamma)
        square = gamma * (2 - gamma) * t * t + own * own / 2 * (s * s + 1)
        return gamma, own / 2, own * (s + 1), gamma * s * math.expm1(eps0 - eps), square
    half = math.exp(eps0 / 2)
    # (s^2 + 1) A - 2 s B = 2 s (A - B) + A t^2, with A = E[(f0/omega)^2] and B = E[f0 f1/omega^2] = 2/h - 1/p,
    # h = e^{eps0/2}; A - B is (2/3) h^-2 (h^3 - 3 h + 2).
    second = (2 * half + 1 / p) / 3
    distance = 2 / 3 / p * math.expm1(eps0 / 2) ** 2 * (half + 2)
    width = (s + 1) * 2 * math.sinh(eps0 / 2)
    square = 2 * s * distance + second * t * t
    return 1 / half, -math.expm1(-eps0 / 2), width, s / half * math.expm1(eps0 - eps), square


def _phi(u: float) -> float:
    """(1+u) log(1+u) - u, without cancellation."""
    if u > 0.1:
        return (1 + u) * math.log1p(u) - u
    # sum_{j>=2} (-u)^j/(j(j-1)); at u = 0.1 what is left out is below 1e-17 of it.
    return math.fsum((-u) ** j / (j * (j - 1)) for j in range(2, 18))


def _log_mixture(gamma: float, rest: float, rate: float) -> float:
    """log(1 - gamma + gamma e^{-rate}) for rate >= 0."""
    less = -gamma * math.expm1(-rate)
    return math.log1p(-less) if less < 0.5 else math.log(rest + gamma * math.exp(-rate))


def _log_delta(eps: float, eps0: float, n: int, form: str, randomizer: str) -> float:
    """Logarithm of the form's delta at an eps in (0, 700], with t = e^eps - 1; above 0 it says nothing.

    Hoeffding: b^2/(4 t gamma n) (1 - gamma (1 - e^{-2 t^2/b^2}))^n. Bennett: 1/(gamma n) sum_{m>=1} Bin(m; n, gamma)
    b_+/log(1 + t b_+/c) exp(-m (c/b_+^2) phi(t b_+/c)), phi(u) = (1+u) log(1+u) - u.
    """
    gamma, rest, width, top, square = blanket_moments(eps, eps0=eps0, randomizer=randomizer)
    t = math.expm1(eps)
    if top <= 0:  # L <= 0
        return -math.inf
    if form == "hoeffding":
        rate = 2 * (t / width) ** 2
        # Summed over m >= 0, as printed.
        whole = n * _log_mixture(gamma, rest, rate)
        # A logarithm each: the product of a subnormal t and a small gamma is 0.
        return 2 * math.log(width) - math.log(4) - math.log(t) - math.log(gamma) - math.log(n) + whole
    u = t * top / square
    factor = top / math.log1p(u) if u > 0 else square / t  # its limit for b_+ -> 0
    rate = square * _phi(u) / top**2 if u > 1e-8 else t * t / (2 * square)
    whole, none = n * _log_mixture(gamma, rest, rate), n * _log_mixture(gamma, rest, math.inf)
    # sum_{m>=1} Bin(m; n, gamma) e^{-m rate}: the sum over m >= 0 less its first term.
    some = whole + math.log(-math.expm1(none - whole)) if none < whole else -math.inf
    return math.log(factor) - math.log(gamma * n) + some


def blanket_epsilon(eps0: float, *, n: int, delta: float, form: str = "bennett", randomizer: str = "generic") -> float:
    """Central epsilon of one form, at which its delta is `delta`; at most eps0, or else it is refused.

    Balle et al. 2019 (arXiv:1903.02837), Section 5. An upper bound: what is returned has a delta of at most
    `delta`, and the root is within 1e-12 of it.

    Args:
        eps0: common local budget, in [0, 100].
        form: "hoeffding" or "bennett".
        randomizer: "generic", "rr" or "laplace".
    """
    eps0, n = check.nonnegative(eps0=eps0), check.count(n=n)
    delta = check.probability(allow_zero=False, delta=delta)
    form, randomizer = check.one_of(FORMS, form=form), check.one_of(RANDOMIZERS, randomizer=randomizer)
    if eps0 < _SMALLEST:
        return eps0
    # 1e-13 of a logarithm near 30 is the rounding of n log(1 - gamma (1 - e^{-rate})).
    target = math.log(delta) - 1e-11

    # From eps0 on L <= 0 for k-RR and Laplace, and the form is empty: ask just below.
    high = eps0 * (1 - 1e-9)

    def spare(fall: float) -> float:
        log = _log_delta(high * math.exp(-fall), eps0, n, form, randomizer)
        return min(max(target - log, -1e3), 1e3)

    if eps0 > _LARGEST or spare(0.0) < 0:
        detail = f"{form}, {randomizer}, eps0 = {eps0:g}, n = {n}, delta = {delta:g}"
        raise OutsideValidity("Balle et al. 2019, privacy blanket", BELOW_EPS0, detail)
    return high * math.exp(-crossing(spare, 0.0, 0.7, side=-1))


_BALLE = "Balle, Bell, Gascon and Nissim, CRYPTO 2019, arXiv:1903.02837"

_ENTRIES: dict[str, tuple[str, ...]] = {
    "Hoeffding": ("hoeffding", "generic", "Hoeffding form with the generic constants"),
    "Bennett": ("bennett", "generic", "Bennett form with the generic constants"),
    "RR": ("hoeffding", "rr", "Hoeffding form for randomized response, k = 2", "rr", "binary randomized response"),
    "Laplace": ("bennett", "laplace", "Bennett form for Laplace noise", "laplace", ONE_SCALE),
}
for _label, (_form, _randomizer, _stated, *_holds) in _ENTRIES.items():
    _formula = partial(blanket_epsilon, form=_form, randomizer=_randomizer)
    entry(f"Blanket, {_label}", f"{_BALLE}, {_stated}", BELOW_EPS0, *_holds)(_formula)

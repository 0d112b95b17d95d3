"""The variation-ratio closed form of Wang et al. 2024, as printed and with its gap closed.

>>> round(wang24_epsilon(0.5, n=10_000, delta=1e-4), 6)
0.071077
>>> tv = krr_total_variation(0.5, k=16)
>>> round(wang24_epsilon(0.5, n=10_000, delta=1e-4, tv=tv), 6)
0.056592
>>> round(wang24_epsilon(0.5, n=10_000, delta=1e-4, tv=tv, hidden=False), 6)
0.170302
"""

from __future__ import annotations

import math

from gspa import _validate as check
from gspa.errors import InvalidValue, OutsideValidity

WANG24 = "Wang et al. 2024, variation-ratio reduction"


def krr_total_variation(eps0: float, *, k: int) -> float:
    """(e^{eps0}-1)/(e^{eps0}+k-1): total variation of two rows of k-ary randomized response.

    For k = 2 it is tanh(eps0/2), the largest total variation of any eps0-LDP randomizer. Exact up to
    rounding; no overflow.

    >>> round(krr_total_variation(1.0986122886681098, k=2), 15)  # eps0 = log 3
    0.5
    """
    eps0, k = check.nonnegative(eps0=eps0), check.count(2, k=k)
    return -math.expm1(-eps0) / (1 + (k - 1) * math.exp(-eps0))


def laplace_total_variation(eps0: float) -> float:
    """1 - e^{-eps0/2}: largest total variation of Laplace noise of scale 1/eps0 on inputs in [0, 1].

    >>> round(laplace_total_variation(2.0), 12)
    0.632120558829
    """
    return -math.expm1(-check.nonnegative(eps0=eps0) / 2)


def wang24_epsilon(eps0: float, *, n: int, delta: float, tv: float | None = None, hidden: bool = True) -> float:
    """Closed form of the variation-ratio reduction for one common eps0-LDP randomizer.

    log(1 + beta/((1-c)(1+p) beta/(p-1) + c) (sqrt(32 log(4/delta)/(r(n-1))) + 4/(r(n-1)))) with
    p = e^{eps0}, beta = `tv`, r = beta/(p-1), c = max(0, 4(1-3r)/(9(1-2r))), n > 8 log(4/delta)/r.
    Wang et al. 2024 (arXiv:2304.05007) at q = p.

    The printed form errs upward for binary randomized response (tv not given: there c does not
    matter). For a smaller tv the victim answers neither of the two clones with probability
    1 - (1+p) beta/(p-1), and the published reduction hides that event among the others' answers. That
    step fails, already for 4-ary randomized response, whose exact delta lies above the pair's (tests);
    FMT23's erratum is about the same step. `hidden=False` is c = 0, the same bound with the event
    revealed: a proved upper bound for every tv, because given the event nothing is left to tell and
    otherwise it is FMT21's argument with n - 1 others. It can be far from tight, and exceed eps0.

    Args:
        eps0: common local budget, >= 0.
        n: number of users, >= 1.
        delta: central delta in (0, 1).
        tv: largest total variation of two of the randomizer's output laws, in [0, tanh(eps0/2)];
            tanh(eps0/2), the largest possible, if not given.
        hidden: whether the victim's third answer is hidden, as printed.

    Raises:
        InvalidValue: an argument outside its domain.
        OutsideValidity: n <= 8 log(4/delta)/r.

    >>> wang24_epsilon(3.0, n=100, delta=1e-4)
    Traceback (most recent call last):
        ...
    gspa.errors.OutsideValidity: Wang et al. 2024, variation-ratio reduction: \
needs n > 8 log(4/delta)/r; r = 0.0474259, so n > 1787.5; n = 100
    """
    eps0, n = check.nonnegative(eps0=eps0), check.count(n=n)
    delta = check.probability(allow_zero=False, delta=delta)
    largest = math.tanh(eps0 / 2)
    beta = largest if tv is None else check.nonnegative(tv=tv)
    if beta > largest * (1 + 1e-12):
        raise InvalidValue("tv", tv, f"in [0, tanh(eps0/2)] = [0, {largest:.6g}]")
    if beta == 0:  # every report has one law
        return 0.0
    beta = min(beta, largest)
    share = beta / largest  # (1+p) beta/(p-1): how often the victim answers as one of the two
    r = share / (1 + math.exp(eps0)) if eps0 < 700 else 0.0
    log = math.log(4) - math.log(delta)
    if r * n <= 8 * log:
        least = f"r = {r:g}, so n > {8 * log / r:.1f}" if r > 1e-300 else f"r = {r:g}"
        raise OutsideValidity(WANG24, "n > 8 log(4/delta)/r", f"{least}; n = {n}")
    c = max(0.0, 4 * (1 - 3 * r) / (9 * (1 - 2 * r))) if hidden and r < 0.5 else 0.0
    m = r * (n - 1)
    return math.log1p(beta / ((1 - c) * share + c) * (math.sqrt(32 * log / m) + 4 / m))

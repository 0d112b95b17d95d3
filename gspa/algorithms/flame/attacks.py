"""Explicit attacks on FLAME: lower bounds on delta(eps) that no analysis can go below.

The victim holds all zeros or all ones, the other users one known value everywhere. Then:

* `sum_delta`: the analyzer adds up one score of every report. Whichever protocol it is, `real` of `padded`
  reports are the victim's, all coordinates together, so the sum has a product law.
* `linked_delta`: messages of k values each (Algorithms 2 and 3). The analyzer scores whole messages and counts
  those beyond a threshold: a binomial law and one coin.
* `zero_delta`: R_{gamma,b} as printed gives its sender away by the answer 0.

>>> from gspa.algorithms.flame.randomizers import Laplace
>>> round(sum_epsilon(Laplace(0.5), real=157, padded=157 * 333, delta=5e-6), 2)
1.26
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from gspa.accountant import arguments as check
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.roots import crossing
from gspa.algorithms.flame.randomizers import Buckets, Laplace, Local

Array = NDArray[np.float64]

OTHERS = ("blanket", "zero")
"""What the others send: draws from the blanket (they hold 1/2, or it is dummies), or reports on 0."""

_UNIT = 2.0**-52
_REACH = 16.0  # period of a sum, in its standard deviations
_NEGLIGIBLE = 45.0
_FINE, _COARSE = 32, 16  # scores; few where millions of reports are added
_MANY = 10**7
_FEW = 5_000  # fewer reports need the whole spectrum


class Scored(NamedTuple):
    """Laws of the score of one report, on 0, 1, ..., m."""

    zero: Array
    one: Array
    others: Array


def scored(local: Local, others: str = "blanket", levels: int = _FINE) -> Scored:
    """Laws of (f0 - f1)/g in integer steps, g the others' law; any score would be a valid attack.

    Raises:
        OutsideValidity: "blanket" for R_{gamma,b} with b > 1, whose users at 1/2 are not the blanket; R as printed.
    """
    levels, others = check.count(levels=levels), check.one_of(OTHERS, others=others)
    if isinstance(local, Buckets):
        if local.printed or (others == "blanket" and local.b > 1):
            raise OutsideValidity("attack on R_{gamma,b}", "it corrected, and b = 1 if the others are the blanket")
        law = local.law
    else:
        # Clipped to [0, 1] nothing is lost, because f0/f1 is constant beyond.
        edges = np.linspace(0.0, 1.0, 4 * levels + 1)

        def law(x: float) -> Array:
            tail = 0.5 * np.exp(-local.eps * np.abs(edges - x))
            return np.diff(np.r_[0.0, np.where(edges < x, tail, 1 - tail), 1.0])

    laws = [law(x) for x in (0.0, 1.0, 0.5 if others == "blanket" else 0.0)]
    value = (laws[0] - laws[1]) / laws[2]
    low, high = float(value.min()), float(value.max())
    score = np.rint((value - low) * (levels / (high - low))).astype(np.intp)
    score //= max(int(np.gcd.reduce(score)), 1)  # two answers are one step apart, not `levels`
    return Scored(*(np.bincount(score, one).astype(np.float64) for one in laws))


def _log_chf(law: Array, t: Array) -> tuple[NDArray[np.complex128], int, float]:
    """log E[e^{it(S - c)}], the whole number c nearest the mean, and the root of E[(S - c)^2]."""
    score = np.arange(law.size)
    centre = round(float(law @ score))
    away = score - centre
    real, imaginary = np.zeros_like(t), np.zeros_like(t)
    for mass, at in zip(law, away, strict=True):
        if mass > 0:
            real -= 2 * mass * np.sin(t * (at / 2)) ** 2
            imaginary += mass * np.sin(t * at)
    return np.log1p(real + 1j * imaginary), centre, math.sqrt(float(law @ away**2))


class _Sums(NamedTuple):
    """Laws of the total score modulo a period, and a bound on the L1 error of each."""

    zero: Array
    one: Array
    noise: float

    def delta(self, eps: float) -> float:
        if eps > 700:  # e^eps is no double
            return 0.0
        e = math.exp(eps)
        best = max(np.maximum(a - e * b, 0).sum() for a, b in ((self.zero, self.one), (self.one, self.zero)))
        return max(0.0, float(best) - (1 + e) * self.noise)


def _sums(local: Local, real: int, padded: int, others: str, beta: float) -> _Sums:
    real, padded = check.count(real=real), check.count(padded=padded)
    if real > padded:
        raise InvalidValue("real", real, f"at most padded = {padded}")
    laws = scored(local, check.one_of(OTHERS, others=others), _COARSE if padded > _MANY else _FINE)
    if check.in_range(0, 1, beta=beta) < 1:
        if others != "blanket":
            raise InvalidValue("others", others, '"blanket" for beta < 1')
        zero, one = ((1 - beta) * laws.others + beta * own for own in laws[:2])
        laws = Scored(zero, one, laws.others)
    score = np.arange(laws.zero.size)
    deviation = math.sqrt(float(laws.others @ score**2 - (laws.others @ score) ** 2))
    shift = real * abs(float((laws.zero - laws.one) @ score))
    size = 1 << math.ceil(math.log2(_REACH * deviation * math.sqrt(padded) + shift + 16))
    # |phi(t)| is about e^(-variance t^2/2) for t below 1/deviation; what is left at the end is added to the noise.
    enough = size // 2 + 1
    if padded >= _FEW:
        enough = min(enough, math.ceil(size / (2 * math.pi) * math.sqrt(8 * _NEGLIGIBLE / padded) / deviation) + 2)
    t = 2 * math.pi / size * np.arange(enough, dtype=np.float64)
    crowd, _, spread = _log_chf(laws.others, t)
    both, bias = [], []
    for law in (laws.zero, laws.one):
        own, centre, _ = _log_chf(law, t)
        both.append((padded - real) * crowd + real * own)
        bias.append(real * centre)
    turn = 2 * math.pi / size * ((np.arange(enough) * ((bias[1] - bias[0]) % size)) % size)
    spectra = [np.exp(both[0]), np.exp(both[1] + 1j * turn)]
    # A relative rounding of 8 units in each of the sums that make log phi, times the number of factors.
    error = 8 * _UNIT * padded * (t * spread + (t * spread) ** 2 + 8 * _UNIT) + 64 * _UNIT
    noise = max(math.sqrt(2 * float((np.abs(one) ** 2 * error**2).sum())) for one in spectra)
    if enough < size // 2 + 1:
        noise += size * max(float(np.abs(one[-1])) for one in spectra) + _UNIT * math.sqrt(size)
    full = np.zeros((2, size // 2 + 1), dtype=np.complex128)
    full[:, :enough] = spectra
    found = np.maximum(np.fft.irfft(full, size), 0.0)
    found = found[:, found.max(axis=0) > 1e-30]  # the rest cannot be told from rounding; leaving it out errs downward
    return _Sums(found[0], found[1], noise + 8 * _UNIT * math.sqrt(size))


def sum_delta(local: Local, *, real: int, padded: int, eps: float, others: str = "blanket", beta: float = 1.0) -> float:
    """A delta that the protocol certainly has at eps >= 0: what adding up all scores achieves; errs downward.

    Args:
        local: `Laplace`, or corrected `Buckets` (b = 1 if the others are the blanket).
        real: reports of the victim, all coordinates together.
        padded: all reports, all coordinates together.
        eps: >= 0.
        others: "blanket" (users at 1/2, dummies) or "zero".
        beta: each of the `real` reports is the victim's with this probability, independently, else a dummy.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: a randomizer that the attack does not cover.
    """
    return _sums(local, real, padded, others, beta).delta(check.nonnegative(eps=eps))


def sum_epsilon(
    local: Local, *, real: int, padded: int, delta: float, others: str = "blanket", beta: float = 1.0
) -> float:
    """An eps below which the protocol certainly is not (eps, delta)-DP; errs downward. Arguments as `sum_delta`."""
    delta = check.probability(allow_zero=False, delta=delta)
    laws = _sums(local, real, padded, others, beta)
    most = max(real * local.eps, 1e-3)

    def excess(eps: float) -> float:
        return math.log(max(laws.delta(eps), 1e-320) / delta)

    return crossing(excess, 0.0, 1e-3, side=-1, most=most, xtol=1e-8, rtol=1e-6)


def linked_delta(local: Laplace, *, k: int, messages: int, eps: float) -> float:
    """A delta of shuffled messages of k values each, one of them the victim's, the others blanket; errs downward.

    With q, p0, p1 the probabilities that a blanket message, the victim's of zeros or of ones scores beyond a
    threshold, the number of such messages is Bin(messages - 1, q) + Bern(p). The best threshold is taken.

    Args:
        local: of each value.
        k: values in a message.
        messages: users' and dummies', at least 2.
        eps: >= 0.

    >>> linked_delta(Laplace(0.5), k=157, messages=16_650, eps=0.24) > 1e-2
    True
    """
    k, messages, eps = check.count(k=k), check.count(2, messages=messages), check.in_range(0, 700, eps=eps)
    laws = scored(local)
    size = 1 << math.ceil(math.log2(k * (laws.zero.size - 1) + 1))
    # The score is in [0, k m], so the transform does not wrap around; its own noise is below 1e-12.
    beyond = [
        np.clip(np.cumsum(np.fft.irfft(np.fft.rfft(law, size) ** k, size)[::-1]), 0, 1)
        for law in (laws.others, laws.zero, laws.one)
    ]
    found = np.flatnonzero((beyond[0] * messages > 0.01) & (beyond[0] * messages < 1000))
    if found.size == 0:
        return 0.0
    places = found[np.unique(np.linspace(0, found.size - 1, 60).astype(np.intp))]
    best = max(_count_delta(messages - 1, *(float(tail[i]) for tail in beyond), eps=eps) for i in places)
    return max(0.0, best - 1e-9)


def _count_delta(others: int, q: float, p0: float, p1: float, *, eps: float) -> float:
    """Hockey-stick divergence of Bin(others, q) + Bern(p0) from the same with p1."""
    top = min(others, math.ceil(others * q + 12 * math.sqrt(others * q) + 40))
    crowd = np.r_[binom.pmf(np.arange(top + 1), others, q), 0.0]
    laws = [(1 - p) * crowd + p * np.r_[0.0, crowd[:-1]] for p in (p0, p1)]
    return float(np.maximum(laws[0] - math.exp(eps) * laws[1], 0).sum())


def zero_delta(local: Buckets, *, n: int, eps: float, beta: float = 1.0) -> float:
    """A delta of n shuffled reports: whether any answer is 0, the victim at 0 or 1 and all others at 1.

    As printed the answer 0 comes from inputs below 1/b only: it is 1 - gamma at every eps, times beta.

    Args:
        local: `Buckets`.
        n: reports.
        eps: >= 0.
        beta: probability with which the victim reports.

    >>> zero_delta(Buckets(0.5, 1, printed=True), n=100, eps=0.1) == 1 - Buckets(0.5, 1, printed=True).gamma
    True
    """
    beta, eps = check.in_range(0, 1, beta=beta), check.nonnegative(eps=eps)
    zero, one = (float(local.law(x)[0]) for x in (0.0, 1.0))
    # log P(no other answer is 0); expm1 keeps the digits where that is nearly sure
    quiet = (check.count(n=n) - 1) * math.log1p(-one)
    first, second = (-math.expm1(quiet + math.log1p(-beta * p)) if beta * p < 1 else 1.0 for p in (zero, one))
    if eps > 700:  # e^eps is no double; a second that is not 0 leaves at most rounding
        return first if second == 0 else 0.0
    return max(0.0, first - math.exp(eps) * second)

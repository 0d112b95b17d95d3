"""Local randomizers as the accountant sees them: the victim's masses and the others' clones.

A family is admitted only if every other user's report law is at least r_j (Q0 + Q1), pointwise and for
every input, where Q0 and Q1 are the victim's two outcomes. Then that user is a copy of either with
probability r_j each, and the rest of the report is revealed; or if it mixes one common law, a blanket,
with something else, which is then revealed.

>>> items = krr(4)
>>> q, rest = items.clones(np.array([0.0]))
>>> float(q[0]), items.coin  # an eps = 0 user is a blanket, and half of the time one of the two values
(1.0, 0.5)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gspa.accountant import arguments as check
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.pair import Victim

Array = NDArray[np.float64]
Clones = Callable[[Array], tuple[Array, Array]]

_MOST_EPS = 700.0  # e^eps beyond it is no double
_PURE = "; a user with delta_j > 0 is pure with probability 1 - delta_j and arbitrary otherwise"


@dataclass(frozen=True, repr=False)
class Family:
    """What every user runs, made by `binary`, `aligned`, `krr`, `subset`, `common` or `total_variation`.

    Attributes:
        key: its name on the command line.
        label: for figures and messages.
        valid_for: the class of randomizers for which the pair is an upper bound.
        victim: local eps > 0 to the masses of a user's report on the two outcomes.
        clones: the others' eps to (q, 1 - q): q = 2 r_j is the probability to be a clone, or, if `coin` is
            given, a blanket.
        common: every user must have the same eps.
        local_delta: local delta_j > 0 can be accounted for.
        coin: None, or the probability that a blanket is one of the victim's two outcomes.
        scales: proved: for fixed others, e^eps - 1 at a given delta grows at least in proportion to the
            victim's total variation (advanced joint convexity; see `gspa.accountant.one_round`).
        least: the smallest eps that it can have.
    """

    key: str
    label: str
    valid_for: str
    victim: Callable[[float], Victim]
    clones: Clones
    common: bool = False
    local_delta: bool = True
    coin: float | None = None
    scales: bool = False
    least: float = 0.0

    def __repr__(self) -> str:
        return f"<{self.label}>"


def _rr_clones(eps: Array) -> tuple[Array, Array]:
    shrunk = np.exp(-eps)
    # Among thousands of users an absolute error of 1e-16 in 1 - q is nothing, and expm1 is slow.
    gap = -np.expm1(-eps) if eps.size <= 4096 else 1 - shrunk
    return 2 * shrunk / (1 + shrunk), gap / (1 + shrunk)


def binary() -> Family:
    """Binary randomized response: r_j = 1/(1 + e^{eps_j}), an identity (Chen et al. 2024, Lemma 1)."""
    return Family(
        key="rr",
        label="binary randomized response",
        valid_for="binary randomized response, own eps_j each" + _PURE,
        victim=Victim.binary,
        clones=_rr_clones,
        scales=True,
    )


def aligned() -> Family:
    """The pair of `binary`, for every family with aligned clones r_j = 1/(1 + e^{eps_j}).

    Each other user's report has the law of either part of the victim's with probability r_j, whatever the input
    ("Aligned clones", page 09); binary randomized response is one such family.
    """
    condition = "own eps_j each, R_j >= (Q_0 + Q_1)/(1 + e^{eps_j}) for the parts Q_0, Q_1 of the victim's randomizer"
    label = "randomizers with aligned clones"
    return replace(binary(), key="aligned", label=label, valid_for=f"any {label}: {condition}" + _PURE)


def subset(k: int, size: int) -> Family:
    """Subset selection: report a set of `size` of k items; sets with one's own item e^eps times as likely.

    Ye and Barg 2018; size = 1 is k-ary randomized response. A report is the truth, a uniform set that
    contains the item, with probability t, else a uniform set: a blanket. With Z = e^eps C(k-1, size-1)
    + C(k-1, size), 1 - t = C(k, size)/Z. Sets with the first input but not the second have mass p a and
    a = C(k-2, size-1)/Z. A victim that draws "neither" from the blanket is hidden by the other
    blankets; a true set that contains both inputs is revealed (it does not depend on the input).

    Args:
        k: number of items, >= 2.
        size: 1 <= size <= k - 1.
    """
    k, size = check.count(2, k=k), check.count(1, size=size)
    if size >= k:
        raise InvalidValue("size", size, f"in [1, k - 1] = [1, {k - 1}]")
    label = f"{k}-ary randomized response" if size == 1 else f"subset selection, {size} of {k}"
    key, valid_for = "krr" if size == 1 else "subset", f"{label}, own eps_j each" + _PURE
    if k == 2:
        return replace(binary(), key=key, label=label, valid_for=valid_for)
    # Relative to C(k-2, size-1): C(k-1, size-1) and C(k-1, size).
    own, other = (k - 1) / (k - size), (k - 1) / size

    def victim(eps: float) -> Victim:
        if eps > _MOST_EPS:
            raise OutsideValidity(label, f"eps <= {_MOST_EPS:g} of the victim", f"got {eps:g}, which hides nothing")
        shrunk = math.exp(-eps)
        scale = own + other * shrunk  # Z/(e^eps C(k-2, size-1))
        low = shrunk / scale
        # Neither: sets with both items (own - 1, e^eps times as likely) and with none (other - 1).
        neither = (own - 1 + (other - 1) * shrunk) / scale
        return Victim(eps, low, neither, hidden=min(neither, low * (own + other - 2)))

    def blankets(eps: Array) -> tuple[Array, Array]:
        shrunk = np.exp(-eps)
        scale = own + other * shrunk
        return (own + other) * shrunk / scale, -own * np.expm1(-eps) / scale

    return Family(key, label, valid_for, victim, blankets, coin=2 / (own + other), scales=size == 1)


def krr(k: int) -> Family:
    """k-ary randomized response, `subset` of size 1.

    Args:
        k: number of items, >= 2.
    """
    return subset(k, 1)


def common() -> Family:
    """Any one eps0-LDP randomizer used by all: C ~ Bin(n-1, e^{-eps0}).

    Feldman, McMillan and Talwar 2021 (arXiv:2012.12803), Theorem 3.1's numerical form.
    """
    return Family(
        key="common",
        label="one common eps0-LDP randomizer",
        valid_for="any eps0-LDP randomizer, the same for all users",
        victim=Victim.binary,
        clones=lambda eps: (np.exp(-eps), -np.expm1(-eps)),
        common=True,
        local_delta=False,
    )


def total_variation(tv: float) -> Family:
    """One common randomizer whose output laws differ by `tv`: a = r = tv/(e^{eps0} - 1).

    Less total variation also makes fewer clones, so that "at most tv" has a proof of its own, for
    tv <= (1 - e^{-eps0})/2 ("A smaller total variation", on the page of proofs). Above that the pair is for two inputs
    whose laws differ by exactly tv.

    The masses of Wang et al. 2024 (arXiv:2304.05007) with q = p, but "neither" is revealed: hidden, as
    that paper has it, the bound fails. 3-ary randomized response, two users, p = e^{eps0} = e, the
    other's input equal to the victim's first: at e^eps = 2.5 the shuffled reports have delta
    p (p - e^eps)/(p+2)^2, the hidden pair (p - e^eps)/(p+2)^2 (tests).

    Args:
        tv: in (0, tanh(eps0/2)]; the upper end is binary randomized response.
    """
    tv = check.in_range(0, 1, tv=tv)
    if tv == 0:
        raise InvalidValue("tv", tv, "in (0, tanh(eps0/2)]", "at 0 the reports say nothing")

    def low(eps: float) -> float:
        if tv > math.tanh(eps / 2) * (1 + 1e-12):
            raise InvalidValue("tv", tv, f"in (0, tanh(eps0/2)] = (0, {math.tanh(eps / 2):.6g}]")
        return tv / math.expm1(eps) if eps < 700 else tv * math.exp(-eps)

    def victim(eps: float) -> Victim:
        if eps > _MOST_EPS:
            raise OutsideValidity("total variation", f"eps <= {_MOST_EPS:g}", f"got {eps:g}, which hides nothing")
        a = low(eps)
        if a < np.finfo(np.float64).tiny:
            raise InvalidValue("tv", tv, f"tv/e^eps >= {np.finfo(np.float64).tiny:.3g}, a double with all its digits")
        return Victim(eps, a, max(0.0, 1 - tv / math.tanh(eps / 2)))

    def clones(eps: Array) -> tuple[Array, Array]:
        q = np.array([min(2 * low(float(e)), 1.0) for e in eps])
        return q, 1 - q

    return Family(
        key="tv",
        label=f"one common randomizer of total variation {tv:g}",
        valid_for=f"any one eps0-LDP randomizer, the same for all users, of total variation at most {tv:g} if that "
        "is at most (1 - e^-eps0)/2; else for two inputs whose reports are exactly that far apart",
        victim=victim,
        clones=clones,
        common=True,
        local_delta=False,
        least=2 * math.atanh(tv) if tv < 1 else math.inf,
    )

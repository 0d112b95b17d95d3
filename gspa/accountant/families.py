"""Local randomizers as the accountant sees them: what the victim's report shows, and how the others hide it.

A family is admitted for one of two reasons. Either every other user's report law is at least r_j (Q0 + Q1), pointwise
and for every input, where Q0 and Q1 are the victim's two outcomes: then that user is a copy of either with probability
r_j each, and the rest of the report is revealed. Or it is at least c_j B for one law B, and the victim's worst two
inputs are known: then that user is a draw from B with probability c_j, and the family is its table of atoms
(`gspa.accountant.pair.AtomTable`). The first is the second with two atoms.

>>> items = krr(4)
>>> q, rest = items.clones(np.array([0.0]))
>>> round(float(q[0]), 12), items.victim(1.0).base.tolist()  # eps = 0 is a draw from B, the uniform law
(1.0, [0.25, 0.25, 0.25, 0.25])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from gspa.accountant import arguments as check
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.pair import AtomTable, Victim

Array = NDArray[np.float64]
Clones = Callable[[Array], tuple[Array, Array]]

_MOST_EPS = 700.0  # e^eps beyond it is no double
_UNIT = 2.0**-52
_PURE = "; a user with delta_j > 0 is pure with probability 1 - delta_j and arbitrary otherwise"


@dataclass(frozen=True, repr=False)
class Family:
    """What every user runs, made by one of the functions below.

    Attributes:
        key: its name on the command line.
        label: for figures and messages.
        valid_for: the class of randomizers for which the pair is an upper bound.
        victim: local eps > 0 to what a user's report shows.
        clones: the others' eps to (q, 1 - q): q is the probability to be a clone of either outcome, or a draw from B.
        common: every user must have the same eps.
        local_delta: local delta_j > 0 can be accounted for.
        scales: proved: for fixed others, e^eps - 1 at a given delta grows at least in proportion to 1 - q of the
            victim (advanced joint convexity; see `gspa.accountant.one_round`).
        least: the smallest eps that it can have.
        rows: None, or local eps to the laws of a report, shape (r, k), over classes of outputs that the r inputs do not
            tell apart any further: those of the victim's two inputs first, then others that somebody may hold.
        bits: its reports are bits of binary randomized response, of which the exact law is known.
    """

    key: str
    label: str
    valid_for: str
    victim: Callable[[float], Victim | AtomTable]
    clones: Clones
    common: bool = False
    local_delta: bool = True
    scales: bool = False
    least: float = 0.0
    rows: Callable[[float], Array] | None = None
    bits: bool = False

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
        rows=lambda eps: np.array([[truth := float(expit(eps)), 1 - truth], [1 - truth, truth]]),
        bits=True,
    )


def aligned() -> Family:
    """The pair of `binary`, for every family with aligned clones r_j = 1/(1 + e^{eps_j}).

    Each other user's report has the law of either part of the victim's with probability r_j, whatever the input
    ("Aligned clones", page 09); binary randomized response is one such family.
    """
    condition = "own eps_j each, R_j >= (Q_0 + Q_1)/(1 + e^{eps_j}) for the parts Q_0, Q_1 of the victim's randomizer"
    label = "randomizers with aligned clones"
    valid_for = f"any {label}: {condition}" + _PURE
    return replace(binary(), key="aligned", label=label, valid_for=valid_for, rows=None, bits=False)


def _rounded_down(q: Array, rest: Array) -> tuple[Array, Array]:
    """A probability, and 1 minus it, less what their roundings may be: of a million users none of it may be missing."""
    return q * (1 - 64 * _UNIT), rest + 64 * _UNIT * q


class _Table(NamedTuple):
    """Classes of outputs: B's mass of each, and whether each input makes it e^eps times as likely, shape (r, k)."""

    base: Array
    likely: NDArray[np.bool_]

    @classmethod
    def of(cls, classes: dict[tuple[bool, ...], float]) -> _Table:
        """From the mass of each class under B, by what its inputs make likely."""
        used = {key: mass for key, mass in classes.items() if mass > 0}
        return cls(np.array(list(used.values())), np.array(list(used)).T)

    def family(self, key: str, label: str, words: str) -> Family:
        """R(x) = c (e^eps on what x makes likely, 1 elsewhere) B, every x with one probability s of likely outputs.

        c = 1/(1 + s (e^eps - 1)), and B is covered with it whatever the input. R(x) = c B + (1 - c) B given "likely".
        """
        share = float(self.base[self.likely[0]].sum())

        def factors(eps: float) -> Array:
            if eps > _MOST_EPS:
                raise OutsideValidity(label, f"eps <= {_MOST_EPS:g} of the victim", f"got {eps:g}, which hides nothing")
            return np.where(self.likely, 1.0, math.exp(-eps)) / (math.exp(-eps) * (1 - share) + share)

        def victim(eps: float) -> AtomTable:
            first, second = factors(eps)[:2]
            return AtomTable(eps, self.base / self.base.sum(), first, second, np.empty((2, 0)))

        def clones(eps: Array) -> tuple[Array, Array]:
            shrunk = np.exp(-eps)
            whole = shrunk + share * -np.expm1(-eps)
            return _rounded_down(shrunk / whole, share * -np.expm1(-eps) / whole)

        def rows(eps: float) -> Array:
            found = factors(eps) * self.base
            return np.asarray(found / found.sum(axis=1, keepdims=True))

        return Family(key, label, words, victim, clones, scales=True, rows=rows)


def subset(k: int, size: int) -> Family:
    """Subset selection: report a set of `size` of k items; sets with one's own item e^eps times as likely.

    Ye and Barg 2018; size = 1 is k-ary randomized response. B is uniform. All pairs of inputs are alike; the classes
    are which of the two items a set holds, and a third one.

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
    held, mass = min(k, 3), {}
    for one in product((True, False), repeat=held):
        chance, inside, outside = 1.0, size, k - size
        for holds in one:
            chance *= max(inside if holds else outside, 0) / (inside + outside)
            inside, outside = inside - holds, outside - (not holds)
        mass[one] = chance
    return _Table.of(mass).family(key, label, valid_for)


def krr(k: int) -> Family:
    """k-ary randomized response, `subset` of size 1.

    Args:
        k: number of items, >= 2.
    """
    return subset(k, 1)


def local_hashing(k: int, g: int) -> Family:
    """Local hashing (Bassily and Smith 2015; Wang et al. 2017): hash the item to g values, then g-ary response.

    Each user draws a hash by themselves, sends it along, and a hash is a uniformly random function. B is uniform on
    hashes and values. g = 2 is binary local hashing; optimized local hashing has g near e^eps + 1.

    Args:
        k: number of items, >= 2.
        g: values of a hash, >= 2.
    """
    k, g = check.count(2, k=k), check.count(2, g=g)
    mass: dict[tuple[bool, ...], float] = {}
    held = min(k, 3)  # which of so many items are hashed to the value that is sent
    for one in product((True, False), repeat=held):
        mass[one] = math.prod(1 / g if hit else 1 - 1 / g for hit in one)
    words = f"local hashing of {k} items to {g} values, each user's hash a random function of their own, own eps_j each"
    return _Table.of(mass).family("hashing", f"local hashing to {g} values", words + _PURE)


def hadamard(k: int) -> Family:
    """Hadamard response (Acharya, Sun and Zhang 2019): of K outputs, the half that is one's own e^eps times as likely.

    K is the least power of two above k; any two items share a quarter of the outputs. B is uniform.

    Args:
        k: number of items, >= 2.
    """
    k = check.count(2, k=k)
    held = min(k, 3)  # the third row of a Hadamard matrix is the product of the first two
    likely = [one for one in product((True, False), repeat=held) if held < 3 or sum(one) % 2]
    label = f"Hadamard response of {k} items"
    table = _Table.of(dict.fromkeys(likely, 1 / len(likely)))
    return table.family("hadamard", label, f"{label}, own eps_j each" + _PURE)


def piecewise() -> Family:
    """The piecewise mechanism (Wang et al. 2019) for a value in [-1, 1], one eps for all.

    A report lies in [-C, C], C = (e^(eps/2) + 1)/(e^(eps/2) - 1), on an interval of length C - 1 about the value e^eps
    times as densely. B is uniform, with c = e^(-eps/2). The inputs -1 and 1, whose intervals are disjoint, are the
    worst: if intervals share a mass, then moving as much of "both" and of "neither" to "the first" and "the second"
    keeps the sum of the two values of L and moves them apart, so L grows in the convex order.
    """

    def table(eps: float) -> Family:
        # In units of 2C and with s = e^(-eps/2): of each interval s/(1 + s), also of 0's, which reaches into the others
        # where s > 1/2. No difference of ends, none of which is a double where eps is large.
        s, short = math.exp(-eps / 2), -math.expm1(-eps / 2)
        both = max(s - 0.5, 0.0)
        cells = {
            (True, False, True): both,
            (False, True, True): both,
            (True, False, False): min(s, 0.5),
            (False, True, False): min(s, 0.5),
            (False, False, True): min(s, short),
            (False, False, False): max(1 - 2 * s, 0.0),
        }
        used = _Table.of({which: mass / (1 + s) for which, mass in cells.items()})
        return used.family("piecewise", "the piecewise mechanism", "")

    def clones(eps: Array) -> tuple[Array, Array]:
        return _rounded_down(np.exp(-eps / 2), -np.expm1(-eps / 2))

    label = "the piecewise mechanism"
    return Family(
        "piecewise",
        label,
        f"{label} for values in [-1, 1], one eps for all" + _PURE,
        lambda eps: table(eps).victim(eps),
        clones,
        common=True,
        rows=lambda eps: table(eps).rows(eps),  # type: ignore[misc]
    )


def unary(k: int, kind: str = "optimized") -> Family:
    """Unary encoding (Erlingsson et al. 2014; Wang et al. 2017), one eps for all: k bits, each reported by itself.

    One's own bit is reported as 1 with probability p, any other with q: p = 1/2 and q = 1/(1 + e^eps) if "optimized",
    p = 1 - q = 1/(1 + e^(-eps/2)) if "symmetric", which is basic one-time RAPPOR with f = 2/(1 + e^(eps/2)). B is the
    law of k bits of probability q: a report has at least (1 - p)/(1 - q) of it, whatever the input, and L depends on
    the bits of the two inputs alone.

    Args:
        k: number of items, >= 2.
        kind: "optimized" or "symmetric".
    """
    k, kind = check.count(2, k=k), check.one_of(("optimized", "symmetric"), kind=kind)

    def bit(eps: float) -> tuple[float, float, float, float]:
        """p, 1 - p, q, 1 - q."""
        if eps > _MOST_EPS:
            raise OutsideValidity("unary encoding", f"eps <= {_MOST_EPS:g}", f"got {eps:g}, which hides nothing")
        shrunk = math.exp(-eps / 2 if kind == "symmetric" else -eps)
        q, other = shrunk / (1 + shrunk), 1 / (1 + shrunk)
        return (other, q, q, other) if kind == "symmetric" else (0.5, 0.5, q, other)

    bits = np.array(list(product((1, 0), repeat=min(k, 3))))  # of the victim's two inputs, and of a third one

    def laws(eps: float) -> tuple[Array, Array]:
        p, lie, q, truth = bit(eps)
        base = np.where(bits, q, truth).prod(axis=1)
        return base, np.where(bits, p / q, lie / truth).T

    def victim(eps: float) -> AtomTable:
        base, ratio = laws(eps)
        return AtomTable(eps, base / base.sum(), ratio[0], ratio[1], np.empty((2, 0)))

    def clones(eps: Array) -> tuple[Array, Array]:
        # (1 - p)/(1 - q), and 1 minus it, from the budgets themselves.
        if kind == "symmetric":
            return _rounded_down(np.exp(-eps / 2), -np.expm1(-eps / 2))
        return _rounded_down(0.5 * (1 + np.exp(-eps)), -0.5 * np.expm1(-eps))

    def rows(eps: float) -> Array:
        base, ratio = laws(eps)
        return np.asarray(base * ratio / (base * ratio).sum(axis=1, keepdims=True))

    label = f"unary encoding of {k} items, {kind}"
    return Family("unary", label, f"{label}, one eps for all" + _PURE, victim, clones, common=True, rows=rows)


def duchi() -> Family:
    """Duchi et al.'s mechanism for one value in [-1, 1]: binary randomized response on a coin of mean (1 + x)/2.

    Reports of any values are mixtures of those of -1 and 1, and no mixture is told apart better than the worst of what
    is mixed: the answer is that of `binary`.
    """
    label = "Duchi et al.'s mechanism"
    words = f"{label} for a value in [-1, 1], own eps_j each" + _PURE
    return replace(binary(), key="duchi", label=label, valid_for=words)


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

"""How the server turns a round's local updates into one step: FLAME's three protocols and its baselines.

Each aggregator takes the updates of all users, (n, d), and gives what the analyzer adds to the model. The
protocols are evaluated in law, not report by report: a sum of m Laplace draws is a difference of two Gamma draws, and
only how often a coordinate is selected has to be simulated (`flame.protocols` is the report-by-report version).

>>> import numpy as np
>>> updates = np.full((1000, 4), 0.002, dtype=np.float32)
>>> step = Simple(clip=0.01, eps=5.0)(updates, 0, Source())
>>> bool(np.abs(step.z - 0.002).max() < 0.001)
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gspa.accountant import arguments as check
from gspa.accountant.errors import InvalidValue
from gspa.algorithms.flame.noise import Source
from gspa.algorithms.flame.randomizers import Laplace

Array = NDArray[np.float64]
Updates = NDArray[np.float32]
Indices = NDArray[np.int64]

SELECTIONS = ("uniform", "independent", "largest", "largest_scaled")
"""SS-Double; the same with each index drawn for itself, k on average; SS-Topk by the size of the update, and as
Algorithm 4 prints it, by the size of x~ in [0, 1]: the most positive ones."""

DIVISORS = ("expected", "users")
"""n beta for every coordinate, as FLAME does; n, the mean of the sparse updates."""


class Step(NamedTuple):
    """What comes out of a round.

    Attributes:
        z: added to the model, shape (d,).
        largest: the largest n_(s,j): how often the most frequent coordinate was reported, 0 where nothing is selected.
        overflowing: how many coordinates were reported more than n_p times, which no padding can hide.
    """

    z: Array
    largest: int = 0
    overflowing: int = 0


class Aggregator(Protocol):
    """A round of one method."""

    def __call__(self, updates: Updates, number: int, source: Source) -> Step:
        """The step of round `number`."""


@dataclass(frozen=True)
class Mean:
    """NP-FL: the mean of the updates.

    Attributes:
        rate: the server's step, 1 in the paper.
    """

    rate: float = 1.0

    def __post_init__(self) -> None:
        check.fields(self, check.positive, "rate")

    def __call__(self, updates: Updates, number: int, source: Source) -> Step:
        """The mean; `source` is not used."""
        return Step(self.rate * updates.mean(axis=0, dtype=np.float64))


@dataclass(frozen=True)
class Curator:
    """DP-FL: updates clipped in the L2 norm, Gaussian noise on their sum.

    Attributes:
        clip: L2 bound C2 on one update.
        sigma: standard deviation of the noise on each coordinate of the sum.
        rate: the server's step.
    """

    clip: float
    sigma: float
    rate: float = 1.0

    def __post_init__(self) -> None:
        check.fields(self, check.positive, "clip", "rate")
        check.fields(self, check.nonnegative, "sigma")

    def __call__(self, updates: Updates, number: int, source: Source) -> Step:
        """The noisy mean of the clipped updates."""
        n, d = updates.shape
        norms = np.sqrt(np.einsum("ij,ij->i", updates, updates))
        weights = np.minimum(1, self.clip / np.maximum(norms, 1e-30)).astype(np.float32)
        noise = source.replay().gaussian(d) if source.repeats else source.fresh(number).standard_normal(d)
        return Step(self.rate * (weights @ updates + self.sigma * noise) / n)


@dataclass(frozen=True)
class LocalGaussian:
    """LDP-FL with Gaussian noise: every user adds it to each clipped coordinate, scaled to [0, 1].

    Attributes:
        clip: each coordinate is clipped to [-clip, clip].
        sigma: standard deviation of one user's noise, in units of 2 clip.
    """

    clip: float
    sigma: float

    def __post_init__(self) -> None:
        check.fields(self, check.positive, "clip")
        check.fields(self, check.nonnegative, "sigma")

    def __call__(self, updates: Updates, number: int, source: Source) -> Step:
        """The mean of the users' reports; n Gaussian draws add up to one of sqrt(n) times the deviation."""
        n, d = updates.shape
        noise = source.replay().gaussian(d) if source.repeats else source.fresh(number).standard_normal(d)
        total = np.clip(updates, -self.clip, self.clip).sum(axis=0, dtype=np.float64)
        return Step((total + 2 * self.clip * self.sigma * math.sqrt(n) * noise) / n)


@dataclass(frozen=True)
class Simple:
    """SS-Simple, and LDP-FL with Laplace noise, which sends the same reports: all d coordinates of every user.

    Attributes:
        clip: C, each coordinate is clipped to [-C, C] and scaled to [0, 1].
        eps: eps_ld, budget of one coordinate.
    """

    clip: float
    eps: float

    def __post_init__(self) -> None:
        check.fields(self, check.positive, "clip", "eps")

    def __call__(self, updates: Updates, number: int, source: Source) -> Step:
        """Algorithm 2: the mean of the reports, scaled back."""
        n, d = updates.shape
        local = Laplace(self.eps)
        if source.repeats:
            noise = source.replay().laplace_sum(n, d) / self.eps
        else:
            noise = local.noise_sum(np.full(d, n), source.fresh(number))
        total = np.clip(updates, -self.clip, self.clip).sum(axis=0, dtype=np.float64)
        return Step((total + 2 * self.clip * noise) / n)


@dataclass(frozen=True)
class Sampled:
    """SS-Double and SS-Topk: k coordinates of every user, each coordinate padded to n_p reports.

    A coordinate reported more often than n_p gets no dummies; its size then shows that it was popular. The analyzer
    divides by n beta = n k/d in every coordinate, however many users reported it (the released code; Algorithm 2
    prints 1/n of everything, dummies included, which is off by their mean).

    Attributes:
        clip: C.
        eps: eps_lk, budget of one reported coordinate; inf for no noise.
        k: coordinates of one user.
        n_p: reports per coordinate, dummies included.
        select: one of `SELECTIONS`.
        l: indices shown to the shuffler, over k: k (l - 1) more that carry draws from the blanket.
        divide: one of `DIVISORS`.
    """

    clip: float
    eps: float
    k: int
    n_p: int
    select: str = "largest"
    l: int = 1  # noqa: E741  # the paper's name
    divide: str = "expected"

    def __post_init__(self) -> None:
        check.fields(self, check.positive, "clip")
        check.fields(self, check.count, "k", "n_p", "l")
        check.one_of(SELECTIONS, select=self.select)
        check.one_of(DIVISORS, divide=self.divide)
        if not (isinstance(self.eps, float) and self.eps == math.inf):
            check.fields(self, check.positive, "eps")

    def __call__(self, updates: Updates, number: int, source: Source) -> Step:
        """Algorithms 2 to 4, corrected: the sum of the selected values and all noise, over n beta."""
        n, d = updates.shape
        if self.k * self.l > d:
            raise InvalidValue("k l", self.k * self.l, f"at most d = {d}")
        if self.select == "independent" and (source.repeats or self.l > 1):
            hint = "the released code has no such draw"
            raise InvalidValue("select", self.select, "with fresh noise and l = 1", hint)
        if source.repeats and self.l > 1:
            raise InvalidValue("l", self.l, "1 with noise that repeats", "the released code has no further indices")
        noise = None
        if self.select == "independent":
            total, reported = self._independent(updates, _selector(number, source))
        else:
            if self.select == "uniform" and source.repeats:
                indices, noise = source.replay().selected(n, d, self.k, self.n_p)
            elif self.select == "uniform":
                indices = subsets(n, d, self.k, _selector(number, source))
            else:  # x~ grows with the update; of those that the clip makes equal the largest come first
                indices = _largest(updates, self.k, magnitude=self.select == "largest")
            values = np.clip(np.take_along_axis(updates, indices, axis=1), -self.clip, self.clip)
            values[:, 1:][indices[:, 1:] == indices[:, :-1]] = 0  # an index drawn twice is reported once
            total = np.asarray(np.bincount(indices.ravel(), values.ravel(), minlength=d), dtype=np.float64)
            reported = np.bincount(indices.ravel(), minlength=d)
            if self.l > 1:
                reported = reported + others(indices, d, self.k * (self.l - 1), _selector(number, source, stream=3))
            if source.repeats and noise is None:
                noise = source.replay().assigned(indices, d, self.n_p)
        if noise is None:  # fresh, on n_p reports of each coordinate, or on more where there are more
            noise = Laplace(1.0).noise_sum(np.maximum(reported, self.n_p), source.fresh(number))
        noise = noise / self.eps
        over = n * self.k / total.size if self.divide == "expected" else n
        return Step(
            (total + 2 * self.clip * noise) / over,
            largest=int(reported.max()),
            overflowing=int((reported > self.n_p).sum()),
        )

    def _independent(self, updates: Updates, rng: np.random.Generator) -> tuple[Array, Indices]:
        """The sum of the selected values, and how many there are, by coordinate."""
        n, d = updates.shape
        total, reported = np.zeros(d), np.zeros(d, dtype=np.int64)
        for low in range(0, n, _BLOCK):
            some = np.clip(updates[low : low + _BLOCK], -self.clip, self.clip)
            chosen = rng.random(some.shape) < self.k / d
            total += np.multiply(some, chosen, out=some).sum(axis=0, dtype=np.float64)
            reported += np.count_nonzero(chosen, axis=0)
        return total, reported


_BLOCK = 16  # users at a time, whose numbers fit into a processor's own cache
_BEHIND = np.uint32(2**32 - 1)  # no number that is drawn
_APART = 17  # between two coordinates that are looked at first; prime to the number of classes, so that all are


def _largest(updates: Updates, k: int, *, magnitude: bool) -> Indices:
    """The places of the k largest of each row, in order, (n, k); of equal ones the first.

    >>> _largest(np.array([[3.0, -4.0, 2.0, 2.0]], dtype=np.float32), 2, magnitude=True).tolist()
    [[0, 1]]
    """
    blocks = (updates[low : low + _BLOCK] for low in range(0, len(updates), _BLOCK))
    found = [_smallest(-np.abs(some) if magnitude else -some, k) for some in blocks]
    return np.concatenate(found) if found else np.empty((0, k), dtype=np.int64)


def _smallest(keys: NDArray[Any], k: int) -> Indices:
    """The places of the k smallest of each row, in order, (n, k); of equal ones the first."""
    n, d = keys.shape
    # A partition takes time in proportion to the numbers it is given, so it is given few where that can be.
    places, starts = np.flatnonzero(keys <= _likely_bound(keys, k)), d * np.arange(n + 1)
    ends = np.searchsorted(places, starts)
    if np.diff(ends).min() < k:
        places, ends = np.arange(keys.size), starts
    values, counts = keys.ravel()[places], np.diff(ends)
    rows = np.full((n, counts.max()), keys.max(), dtype=keys.dtype)
    rows[np.arange(counts.max()) < counts[:, None]] = values
    least = np.partition(rows, k - 1, axis=1)[:, k - 1]
    chosen = values <= np.repeat(least, counts)
    if np.count_nonzero(chosen) > n * k:
        for row, (low, high) in enumerate(pairwise(ends)):
            equal = low + np.flatnonzero(values[low:high] == least[row])
            chosen[equal[k - int(chosen[low:high].sum()) + len(equal) :]] = False
    return np.asarray(places[chosen].reshape(n, k) % d)


def _likely_bound(keys: NDArray[Any], k: int) -> NDArray[Any]:
    """For each row a number that probably k of its own do not exceed, (n, 1), as a few of them tell."""
    few = keys[:, ::_APART]
    many, share = few.shape[1], k / keys.shape[1]
    rank = math.ceil(many * share + 3 * math.sqrt(many * share * (1 - share)))
    if 2 * rank >= many:
        return np.asarray(keys.max(axis=1, keepdims=True))
    return np.partition(few, rank, axis=1)[:, rank, None]


def _selector(number: int, source: Source, *, stream: int = 2) -> np.random.Generator:
    """Selections, and the further indices, have streams beside the noise's."""
    return np.random.default_rng([source.seed, stream, number])


def subsets(n: int, d: int, k: int, rng: np.random.Generator) -> Indices:
    """n uniform subsets of k out of d, each sorted, (n, k).

    >>> subsets(2, 5, 5, np.random.default_rng(0)).tolist()
    [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]
    """
    n, d, k = check.count(n=n), check.count(d=d), check.count(k=k)
    if k > d:
        raise InvalidValue("k", k, f"at most d = {d}")
    if 16 * k > d:  # the places of the k smallest of d random numbers
        return np.concatenate([_smallest(rng.random((min(_BLOCK, n - low), d)), k) for low in range(0, n, _BLOCK)])
    found = np.sort(rng.integers(d, size=(n, k)), axis=1)
    while True:  # what repeats another is drawn again: the first k different ones of an endless row of draws
        again = np.zeros(found.shape, dtype=bool)
        again[:, 1:] = found[:, 1:] == found[:, :-1]
        many = int(again.sum())
        if many == 0:
            return found
        found[again] = rng.integers(d, size=many)
        found.sort(axis=1)


def others(indices: Indices, d: int, extra: int, rng: np.random.Generator) -> Indices:
    """How often each coordinate is among the `extra` further indices of each user, uniform outside its own; (d,).

    >>> others(np.array([[0, 1], [1, 2]]), 3, 1, np.random.default_rng(0)).tolist()
    [1, 0, 1]
    """
    (n, k), d, extra = indices.shape, check.count(d=d), check.count(extra=extra)
    if extra > d - k:
        raise InvalidValue("extra", extra, f"at most d - k = {d - k}")
    counts = np.zeros(d, dtype=np.int64)
    for low in range(0, n, _BLOCK):
        own = indices[low : low + _BLOCK]
        keys = rng.integers(_BEHIND, size=(len(own), d), dtype=np.uint32)
        np.put_along_axis(keys, own, _BEHIND, axis=1)
        counts += np.bincount(_smallest(keys, extra).ravel(), minlength=d)
    return counts

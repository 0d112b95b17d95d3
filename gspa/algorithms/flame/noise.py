"""Where a training run's noise comes from: fresh in every round, or the same stream again in every round.

The released trainer calls `numpy.random.seed(100)` whenever a user's images are shuffled, so that when noise is
drawn the generator is in the same state in every round, whatever the seed given to the program. A
`Replay` draws what it draws, in its order: noise and random selections repeat from round to round, and a protocol
that draws the same number of values for each coordinate adds the very same noise vector twelve times.

>>> released = Source("released", seed=3).replay()
>>> bool((released.gaussian(4) == Source("released", seed=4).replay().gaussian(4)).all())
True
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gspa.accountant import arguments as check
from gspa.accountant.errors import InvalidValue

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

KINDS = ("fresh", "released", "frozen")
"""Fresh noise every round; the released trainer's one stream; other streams used in its way, one a seed."""

_RELEASED = 100  # the seed in the released code
_IMAGES = 7  # it shuffles a user's images after seeding


@dataclass(frozen=True)
class Source:
    """Noise for one run.

    Attributes:
        kind: one of `KINDS`.
        seed: of the run; "released" does not depend on it.
    """

    kind: str = "fresh"
    seed: int = 0

    def __post_init__(self) -> None:
        check.one_of(KINDS, kind=self.kind)
        check.fields(self, check.seed, "seed")

    @property
    def repeats(self) -> bool:
        """Whether every round draws the same."""
        return self.kind != "fresh"

    def fresh(self, number: int) -> np.random.Generator:
        """The generator of one round."""
        if self.repeats:
            raise InvalidValue("kind", self.kind, "'fresh'", "a replay has no generator of its own for a round")
        return np.random.default_rng([self.seed, 1, check.count(0, number=number)])

    def replay(self) -> Replay:
        """The stream that every round repeats."""
        if not self.repeats:
            raise InvalidValue("kind", self.kind, "'released' or 'frozen'")
        return Replay(_RELEASED if self.kind == "released" else _RELEASED + 1 + self.seed)


@dataclass(frozen=True)
class Replay:
    """One stream of numpy's legacy generator, in the state in which the released trainer draws noise.

    Attributes:
        seed: of the generator.
    """

    seed: int

    def _state(self) -> np.random.RandomState:
        generator = np.random.RandomState(self.seed)
        generator.shuffle(np.arange(_IMAGES))
        return generator

    @lru_cache(maxsize=8)  # noqa: B019  # an instance is its seed
    def gaussian(self, d: int) -> Array:
        """The curator's noise in units of its standard deviation, shape (d,)."""
        return np.asarray(self._state().normal(size=d))

    @lru_cache(maxsize=8)  # noqa: B019
    def laplace_sum(self, n: int, d: int) -> Array:
        """Sum over n users of d draws of Lap(0, 1) each, user by user, shape (d,)."""
        generator, total = self._state(), np.zeros(d)
        for _ in range(n):
            total += generator.laplace(size=d)
        return total

    @lru_cache(maxsize=8)  # noqa: B019
    def selected(self, n: int, d: int, k: int, n_p: int) -> tuple[Indices, Array]:
        """SS-Double: each user's k indices, and the noise of all reports and dummies together.

        As released: a user's indices are drawn with replacement and counted as often as drawn, though
        one report is made for each different one.

        Returns:
            indices (n, k), each row sorted; noise in units of 1/eps, shape (d,).
        """
        generator = self._state()
        indices, noise = np.empty((n, k), dtype=np.int64), np.zeros(d)
        for user in range(n):
            indices[user] = np.sort(generator.choice(d, k))
            different = np.unique(indices[user])
            noise[different] += generator.laplace(size=different.size)
        count = np.bincount(indices.ravel(), minlength=d)
        dummies = np.maximum(n_p - count, 0)
        total = np.r_[0.0, np.cumsum(generator.laplace(size=int(dummies.sum())))]
        return indices, noise + np.diff(total[np.r_[0, np.cumsum(dummies)]])

    def assigned(self, indices: Indices, d: int, n_p: int) -> Array:
        """SS-Topk: noise of the reports on these indices and of the dummies, in units of 1/eps, shape (d,).

        Users draw one after the other, each in the order of its indices; then the dummies, coordinate by coordinate.
        The same stream falls on other coordinates whenever the selections differ.

        Args:
            indices: (n, k).
            d: coordinates.
            n_p: reports per coordinate, dummies included; none are drawn for a coordinate that has more.
        """
        count = np.bincount(indices.ravel(), minlength=d)
        size = indices.size
        draws, total = self._stream(size, size + d * n_p)
        own = np.bincount(np.sort(indices, axis=1).ravel(), draws, minlength=d)
        last = size + np.cumsum(np.maximum(n_p - count, 0))
        return np.asarray(own + np.diff(total[np.r_[size, last]]))

    @lru_cache(maxsize=5)  # noqa: B019  # some 20 MB each
    def _stream(self, first: int, size: int) -> tuple[Array, Array]:
        """The first draws of Lap(0, 1), and the sums up to each of all of them."""
        draws = self._state().laplace(size=size)
        return draws[:first].copy(), np.r_[0.0, np.cumsum(draws)]

    @classmethod
    def forget(cls) -> None:
        """Give back the memory of the largest draws: after a run, whose seeds take turns at them."""
        cls._stream.cache_clear()

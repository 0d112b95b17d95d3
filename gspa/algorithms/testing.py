"""Hadamard response: the local randomizer of Acharya, Sun and Zhang 2019, optimal for learning in every regime of eps.

The K outputs are B blocks of b. An item has a block and a row of the b x b Hadamard matrix (never the first, which is
all ones); the b/2 outputs of the block where that row is +1 are e^eps times as likely as all others. The histogram of
the reports is multinomial, so a simulation draws the counts of n users at once.

>>> response = HadamardResponse.of(4, eps=1.0)
>>> response.blocks, response.outputs
(2, 8)
>>> p = np.array([0.5, 0.25, 0.25, 0.0])
>>> response.estimate(10**6 * response.law(p)).round(9).tolist()
[0.5, 0.25, 0.25, 0.0]
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa.accountant import arguments as check
from gspa.accountant.errors import InvalidValue

Array = NDArray[np.float64]

_LARGEST = 1e290  # of an entry: sums of them are doubles


@dataclass(frozen=True)
class HadamardResponse:
    """One eps-LDP randomizer of k items.

    Attributes:
        k: number of items, >= 2.
        eps: local budget, > 0.
        blocks: B, a power of 2, at most k rounded up to one; 1 suits eps <= 1, about e^eps / 2 a larger eps.
    """

    k: int
    eps: float
    blocks: int

    def __post_init__(self) -> None:
        check.count(2, k=self.k)
        check.positive(eps=self.eps)
        blocks = check.count(blocks=self.blocks)
        if blocks & (blocks - 1) or blocks >= 2 * self.k:
            raise InvalidValue("blocks", blocks, f"a power of 2 below 2 k = {2 * self.k}")

    @classmethod
    def of(cls, k: int, *, eps: float) -> HadamardResponse:
        """With the authors' number of blocks, 2^(ceil(log2 min(e^eps, 2k)) - 1).

        >>> [HadamardResponse.of(64, eps=math.log(ratio)).blocks for ratio in (1.5, 2, 8, 9, 1e6)]
        [1, 1, 4, 8, 64]
        """
        k, eps = check.count(2, k=k), check.positive(eps=eps)
        # log2(e^eps) may exceed a whole number by its rounding alone.
        return cls(k, eps, 2 ** max(0, math.ceil(min(eps / math.log(2), math.log2(2 * k)) - 1e-9) - 1))

    @property
    def size(self) -> int:
        """b, outputs of one block: a power of 2, more than its items."""
        return 1 << (-(-self.k // self.blocks)).bit_length()

    @property
    def outputs(self) -> int:
        """K = B b; a report is log2 K bits long."""
        return self.blocks * self.size

    @property
    def low(self) -> float:
        """Probability of an output that does not fit the item."""
        return math.exp(-self.eps) / (self.size / 2 * (1 + (2 * self.blocks - 1) * math.exp(-self.eps)))

    @property
    def gain(self) -> float:
        """Probability of an output that fits the item, less `low`."""
        return -math.expm1(-self.eps) / (self.size / 2 * (1 + (2 * self.blocks - 1) * math.exp(-self.eps)))

    def law(self, p: Array) -> Array:
        """Law of the report of an item drawn from p.

        Args:
            p: shape (..., k), probabilities.

        Returns:
            Shape (..., K).
        """
        p = check.array_in(0, 1, p=p)
        if p.ndim == 0 or p.shape[-1] != self.k or not np.allclose(p.sum(axis=-1), 1, rtol=0, atol=1e-9):
            raise InvalidValue("p", p.tolist(), f"laws of {self.k} items along the last axis")
        shape = p.shape[:-1]
        table = np.zeros((*shape, self.size * self.blocks))
        table[..., self.blocks : self.blocks + self.k] = p  # rows 1, 2, ... of block 0, 1, ..., B - 1, 0, 1, ...
        table = np.swapaxes(table.reshape(*shape, self.size, self.blocks), -1, -2)
        fits = (table.sum(axis=-1, keepdims=True) + walsh_hadamard(table)) / 2
        return np.asarray((self.low + self.gain * fits).reshape(*shape, self.outputs))

    def estimate(self, counts: ArrayLike) -> Array:
        """Unbiased estimate of p from the histogram of the reports; entries may be negative.

        Args:
            counts: shape (..., K).

        Returns:
            Shape (..., k).
        """
        numbers = check.array_in(0, _LARGEST, counts=counts)
        if numbers.ndim == 0 or numbers.shape[-1] != self.outputs or not (numbers.sum(axis=-1) > 0).all():
            raise InvalidValue("counts", numbers.tolist(), f"{self.outputs} counts along the last axis, not all 0")
        shape = numbers.shape[:-1]
        table = walsh_hadamard(numbers.reshape(*shape, self.blocks, self.size))
        table = np.swapaxes(table, -1, -2).reshape(*shape, self.outputs)
        # A row's signs and the block's total are uncorrelated with every other row's.
        scale = numbers.sum(axis=-1, keepdims=True) * self.gain * self.size / 2
        return np.asarray(table[..., self.blocks : self.blocks + self.k] / scale)

    def reports(self, items: NDArray[np.int64], *, rng: np.random.Generator | int) -> NDArray[np.int64]:
        """One report a user, in the users' order.

        Args:
            items: shape (n,), in 0 to k - 1.
            rng: generator or seed.
        """
        generator, numbers = check.rng(rng), check.array_in(0, self.k - 1, items=items)
        if numbers.ndim != 1 or (numbers % 1 != 0).any():
            raise InvalidValue("items", numbers.tolist(), f"a list of whole numbers from 0 to {self.k - 1}")
        items = numbers.astype(np.int64)
        laws = self.law(np.eye(self.k)).cumsum(axis=1)
        found = (laws[items] < generator.random((items.size, 1))).sum(axis=1)
        return np.asarray(np.minimum(found, self.outputs - 1), dtype=np.int64)


def walsh_hadamard(table: Array) -> Array:
    """Products with all rows of the Hadamard matrix (Sylvester's), along the last axis, whose length is a power of 2.

    >>> walsh_hadamard(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [10.0, -2.0, -4.0, 0.0]
    """
    table = check.array_in(-_LARGEST, _LARGEST, table=table)
    size = table.shape[-1] if table.ndim else 0
    if size == 0 or size & (size - 1):
        raise InvalidValue("table.shape", table.shape, "(..., a power of 2)")
    found, half = np.array(table, dtype=np.float64, order="C"), 1
    while half < size:
        pairs = found.reshape(-1, 2, half)
        less = pairs[:, 0] - pairs[:, 1]
        pairs[:, 0] += pairs[:, 1]
        pairs[:, 1] = less
        half *= 2
    return found

"""FLAME's two local randomizers on [0, 1]: Algorithm 1 (printed and corrected) and Laplace noise.

Each is a mixture: with probability gamma a report that does not depend on the input (the blanket omega, from
which the shuffler also draws its dummies), else something that does. All take arrays and an explicit rng:

>>> import numpy as np
>>> fixed = Buckets(eps=1.0, b=4)
>>> reports = fixed.randomize(np.full(200_000, 0.3), rng=7)
>>> dummies = fixed.blanket(1_000, rng=8)
>>> mean = fixed.estimate(reports.sum() + dummies.sum(), users=200_000, dummies=1_000) / 200_000
>>> bool(abs(mean - 0.3) < 0.01)
True
>>> printed = Buckets(eps=1.0, b=4, printed=True)
>>> round(printed.bias, 4)  # of the mean, whatever the values and however many the users
0.291
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gspa.accountant import arguments as check
from gspa.accountant.errors import InvalidValue

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Buckets:
    """R_{gamma,b}: round to a multiple of 1/b at random, then tell it or a uniform answer.

    Implements Algorithm 1 and eq. (1) of Liu et al. 2021. Corrected (the default) it is randomized response
    on the b + 1 answers 0..b, gamma = (b+1)/(e^eps + b). As printed the rounded value is one of 0..b but
    the uniform answer one of 1..b, gamma = b/(e^eps + b - 1): the answer 0 then occurs only for inputs below 1/b,
    so no local eps is finite, and the printed debiasing is off by `bias`.

    Attributes:
        eps: local budget, > 0, at most 700.
        b: number of steps, >= 1.
        printed: as in the paper.
    """

    eps: float
    b: int
    printed: bool = False

    def __post_init__(self) -> None:
        check.fields(self, partial(check.in_range, 0, 700), "eps")
        check.fields(self, check.count, "b")
        if self.eps == 0:
            raise InvalidValue("eps", self.eps, "> 0", "at 0 every report is uniform and nothing can be estimated")

    @property
    def least(self) -> int:
        """The smallest uniform answer."""
        return 1 if self.printed else 0

    @property
    def answers(self) -> int:
        """How many answers the uniform draw has."""
        return self.b + 1 - self.least

    @property
    def gamma(self) -> float:
        """answers / (e^eps + answers - 1)."""
        return self.answers / (math.exp(self.eps) + self.answers - 1)

    @property
    def bias(self) -> float:
        """Expectation of (estimated mean - true mean): gamma/(2 b (1 - gamma)) as printed, else 0."""
        # 1 - gamma = expm1(eps) / (e^eps + answers - 1)
        return self.answers / (2 * self.b * math.expm1(self.eps)) if self.printed else 0.0

    def law(self, x: float) -> Array:
        """Probabilities of the answers 0..b for one input, shape (b + 1,); exact."""
        scaled = check.in_range(0, 1, x=x) * self.b
        low = min(math.floor(scaled), self.b - 1)
        told = np.zeros(self.b + 1)
        told[low], told[low + 1] = 1 - (scaled - low), scaled - low
        uniform = np.zeros(self.b + 1)
        uniform[self.least :] = 1 / self.answers
        return np.asarray((1 - self.gamma) * told + self.gamma * uniform)

    def randomize(self, x: ArrayLike, rng: np.random.Generator | int) -> Array:
        """One report, 0..b, for each value in [0, 1]; the shape of x."""
        rng, scaled = check.rng(rng), check.array_in(0, 1, x=x) * self.b
        low = np.floor(scaled)
        told = low + (rng.random(scaled.shape) < scaled - low)
        uniform = rng.random(scaled.shape) < self.gamma
        return np.asarray(np.where(uniform, self.blanket(scaled.shape, rng), told))

    def blanket(self, size: int | tuple[int, ...], rng: np.random.Generator | int) -> Array:
        """Uniform answers."""
        return check.rng(rng).integers(self.least, self.b + 1, size=size).astype(np.float64)

    def estimate(self, total: float | Array, *, users: float | Array, dummies: float | Array = 0) -> Array:
        """Eq. (1), with dummies counted as answers of mean b/2: unbiased if corrected, off by users * bias as printed.

        As printed, dummies have the mean (b + 1)/2 and add (1/(2b))/(1 - gamma) each to the error.
        """
        away = self.gamma * check.floats(users=users) / 2 + check.floats(dummies=dummies) / 2
        return np.asarray((check.floats(total=total) / self.b - away) / (1 - self.gamma))


@dataclass(frozen=True)
class Laplace:
    """x + Lap(1/eps) for x in [0, 1]: the randomizer of FLAME's experiments.

    The largest density under every report is e^{-eps/2} times that of Lap(centre 1/2, scale 1/eps).

    Attributes:
        eps: local budget, > 0.
    """

    eps: float

    def __post_init__(self) -> None:
        check.fields(self, check.positive, "eps")

    @property
    def gamma(self) -> float:
        """e^{-eps/2}."""
        return math.exp(-self.eps / 2)

    def randomize(self, x: ArrayLike, rng: np.random.Generator | int) -> Array:
        """One report on the line for each value in [0, 1]; the shape of x."""
        values = check.array_in(0, 1, x=x)
        return np.asarray(values + check.rng(rng).laplace(0.0, 1 / self.eps, size=values.shape))

    def blanket(self, size: int | tuple[int, ...], rng: np.random.Generator | int) -> Array:
        """Draws from Lap(1/2, 1/eps)."""
        return np.asarray(check.rng(rng).laplace(0.5, 1 / self.eps, size=size))

    def estimate(self, total: float | Array, *, users: float | Array, dummies: float | Array = 0) -> Array:
        """Sum of the users' values: the reports are unbiased, and a dummy has the mean 1/2."""
        return np.asarray(check.floats(total=total) - check.floats(dummies=dummies) / 2)

    def noise_sum(self, count: ArrayLike, rng: np.random.Generator | int) -> Array:
        """The sum of `count` independent draws of Lap(0, 1/eps), for each count, in one step; exact.

        A sum of m of them is (Gamma(m) - Gamma(m))/eps in law, so that no single report needs to be drawn.

        Args:
            count: whole numbers >= 0, any shape.
            rng: generator or seed.
        """
        many = check.whole(0, count=count)
        rng = check.rng(rng)
        return np.asarray((rng.standard_gamma(many) - rng.standard_gamma(many)) / self.eps)


Local = Buckets | Laplace
"""The randomizer of one coordinate."""

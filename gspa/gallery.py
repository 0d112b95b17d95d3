"""The mechanisms on which Lemmas 4 and 1 are tried: pure ones, and some with a local delta.

>>> from fractions import Fraction
>>> [mechanism.name for mechanism in pure(3, draws=0)][:3]
['binary RR', '4-ary RR', 'subset selection, 2 of 3']
>>> [str(mechanism.delta) for mechanism in approximate(3, Fraction(1, 10))][:5]
['1/10', '1/10', '1/10', '1/10', '1/3']
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gspa import _validate as check
from gspa._blanket_law import Noise
from gspa.asymptotic import cell_masses
from gspa.finite_mechanisms import (
    Mechanism,
    Number,
    anything_but,
    exact_or_float,
    extremal,
    leaky,
    likelihood_ratio,
    local_delta,
    one_bit,
    quaternary,
    randomized_response,
    staircase,
    subset_selection,
)

_REACH = 6.0  # noise scales beyond the interval [0, 1] at which tails are put together


def noise(
    kind: str, *, scale: float, cells: int, ratio: Number, inputs: Sequence[float] = (0.0, 0.5, 1.0)
) -> Mechanism:
    """Laplace or Gaussian noise on inputs in [0, 1], the reports cut into cells; floats.

    Cutting is post-processing: the cells are at least as private as the reports. delta is the cells' own.

    Args:
        kind: "laplace" or "gaussian".
        scale: of the noise, > 0 (a standard deviation for the Gaussian).
        cells: >= 8.
        ratio: e^eps at which delta is taken.
        inputs: in [0, 1].
    """
    kind, scale = check.one_of(("laplace", "gaussian"), kind=kind), check.in_range(1e-100, 1e100, scale=scale)
    cells, number = check.count(8, cells=cells), float(likelihood_ratio(ratio))
    at = np.array(check.numbers(0, 1, inputs=inputs))
    density = (
        Noise(1, 1 / scale, -math.log(2 * scale))
        if kind == "laplace"
        else Noise(2, 0.5 / scale**2, -math.log(scale * math.sqrt(2 * math.pi)))
    )
    grid = np.linspace(-_REACH * scale, 1 + _REACH * scale, cells - at.size + 1)
    # A cell of a rounding error's width would have a mass of rounding only.
    apart = np.abs(grid[:, None] - at).min(axis=1) > 1e-6 * scale
    edges = np.unique(np.r_[grid[apart], at])
    rows = np.array([cell_masses(density, float(x), edges) for x in at])
    rows /= rows.sum(axis=1, keepdims=True)
    label = f"{kind.capitalize()} noise, scale {scale:.3g}"
    # Rounding alone puts a pure mechanism's delta at about 1e-17.
    delta = 0.0 if kind == "laplace" and math.log(number) >= 1 / scale - 1e-12 else local_delta(rows, ratio=number)
    return Mechanism(label, rows, number, float(delta), tuple(f"cell {j}" for j in range(rows.shape[1])))


def pure(ratio: Number, *, seed: int = 2024, draws: int = 2, cells: int = 60) -> list[Mechanism]:
    """Pure mechanisms of one eps = log ratio: what the lemmas are tried on.

    Args:
        ratio: e^eps > 1.
        seed: of the random ones.
        draws: how many of those.
        cells: of the reports of Laplace noise.
    """
    ratio, draws = likelihood_ratio(ratio), check.count(0, draws=draws)
    return [
        randomized_response(ratio),
        randomized_response(ratio, k=4),
        subset_selection(ratio, k=3, size=2),
        one_bit(ratio),
        staircase(ratio),
        *(
            replace(found, name=f"{found.name}, no. {draw + 1}")
            for draw in range(draws)
            for found in [
                extremal(ratio, inputs=4, patterns=3, rng=np.random.default_rng([check.seed(seed=seed), draw]))
            ]
        ),
        noise("laplace", scale=1 / math.log(ratio), cells=cells, ratio=ratio),
    ]


def approximate(ratio: Number, delta: Number, *, sigma: float = 1.0, cells: int = 60) -> list[Mechanism]:
    """Mechanisms with a local delta > 0: those that take it as a number have `delta`, the others their own.

    Args:
        ratio: e^eps > 1.
        delta: in (0, 1).
        sigma: standard deviation of the Gaussian, for a sensitivity of 1.
        cells: of the reports of the two noisy mechanisms.
    """
    ratio, delta = likelihood_ratio(ratio), exact_or_float(0, 1, delta=delta)
    return [
        quaternary(ratio, delta),
        leaky(randomized_response(ratio), delta),
        leaky(randomized_response(ratio, k=4), delta),
        leaky(subset_selection(ratio, k=3, size=2), delta),
        anything_but(ratio, inputs=4),
        noise("laplace", scale=1.0 / (1.5 * math.log(ratio)), cells=cells, ratio=ratio),
        noise("gaussian", scale=sigma, cells=cells, ratio=ratio),
    ]


def illustrated(
    ratio: Number, delta: Number, *, sigma: float = 1.0, cells: int = 60
) -> list[tuple[Mechanism, tuple[Number, ...]]]:
    """Four mechanisms for a figure, and the ratios e^eps at which each is compared with its dominating pair.

    Args:
        ratio: e^eps > 1.
        delta: in (0, 1).
        sigma: standard deviation of the Gaussian.
        cells: of the reports of the two noisy mechanisms.
    """
    ratio = likelihood_ratio(ratio)
    root = math.sqrt(ratio)
    return [
        (randomized_response(ratio, k=4), (ratio,)),
        (leaky(randomized_response(ratio), delta), (ratio,)),
        (noise("laplace", scale=1 / math.log(ratio), cells=cells, ratio=ratio), (float(ratio), root)),
        (noise("gaussian", scale=sigma, cells=cells, ratio=ratio), (root, float(ratio), float(ratio) ** 2)),
    ]

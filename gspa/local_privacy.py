"""Definitions 1 and 2 of Chen et al. 2024 evaluated: events, neighbours, and what delta is a probability of.

Finite randomizers are kernels: a matrix with one row an input, one column an output.

>>> rr = examples(1.0)["randomized response"]
>>> round(definition_delta(rr, 0.0), 6), round(definition_delta(rr, 0.5), 6)
(0.462117, 0.287649)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations_with_replacement, permutations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from gspa import _validate as check
from gspa import mechanisms
from gspa.discrete import hockey_stick, total_variation
from gspa.errors import InvalidValue

Array = NDArray[np.float64]

_MOST_OUTPUTS = 14  # events are enumerated: 2^14 of them
_NODES, _DEVIATIONS = 400, 40.0  # of an integral over losses


MOST_EPS = 700.0  # e^eps beyond it is no double


def _kernel(kernel: ArrayLike) -> Array:
    rows = check.array_in(0, 1, kernel=kernel)
    if rows.ndim != 2 or np.abs(rows.sum(axis=-1) - 1).max() > 1e-9:
        raise InvalidValue("kernel", kernel, "a matrix with rows that sum to 1 within 1e-9")
    return rows


def events(size: int) -> Array:
    """Every event of `size` outcomes, as rows of zeros and ones; shape (2^size, size).

    Raises:
        InvalidValue: size below 1 or above 14.
    """
    size = check.count(size=size)
    if size > _MOST_OUTPUTS:
        raise InvalidValue("size", size, f"at most {_MOST_OUTPUTS}", "every event is enumerated")
    return ((np.arange(2**size)[:, None] >> np.arange(size)) & 1).astype(np.float64)


def delta_over_events(p: ArrayLike, q: ArrayLike, eps: float) -> float:
    """The least delta with P(S) <= e^eps Q(S) + delta for every event S, by trying each: eqs. (1) and (2).

    Raises:
        InvalidValue: more than 14 outcomes.

    >>> round(delta_over_events([0.75, 0.25], [0.25, 0.75], 0.0), 6)
    0.5
    """
    tried = events(len(np.asarray(p)))
    return float(
        (tried @ np.asarray(p) - math.exp(check.in_range(-MOST_EPS, MOST_EPS, eps=eps)) * (tried @ np.asarray(q))).max()
    )


def definition_delta(kernel: ArrayLike, eps: float) -> float:
    """The least delta at which a finite randomizer is (eps, delta)-LDP: Definition 2 with all events.

    Args:
        kernel: shape (inputs, outputs).
        eps: >= 0.

    Raises:
        InvalidValue: not a matrix of probabilities, eps out of range.
    """
    rows, eps = _kernel(kernel), check.nonnegative(eps=eps)
    return max((hockey_stick(p, q, eps) for p, q in permutations(rows, 2)), default=0.0)


def printed_delta(kernel: ArrayLike, eps: float) -> float:
    """The least delta of eq. (2) as printed, where S is the whole range of the randomizer.

    Raises:
        InvalidValue: not a matrix of probabilities, eps out of range.
    """
    whole, eps = _kernel(kernel).sum(axis=1), check.in_range(0, MOST_EPS, eps=eps)
    return max((max(0.0, float(a - math.exp(eps) * b)) for a, b in permutations(whole, 2)), default=0.0)


def examples(eps: float) -> dict[str, Array]:
    """Finite randomizers by name, as kernels; two of them are eps-LDP and one needs no budget at all."""
    eps = check.in_range(0, MOST_EPS, eps=check.positive(eps=eps))
    two, five = np.eye(2), np.eye(5)
    grown = math.expm1(eps)
    return {
        "no answer at all": np.ones((2, 1)),
        "randomized response": (1 + grown * two) / (2 + grown),
        "5-ary randomized response": (1 + grown * five) / (5 + grown),
        "the truth, one time in ten": np.c_[0.1 * two, [0.9, 0.9]],
        "the input itself": two,
    }


def definition_2(*, eps: float) -> pd.DataFrame:
    """Eq. (2) as printed and with every event, over the examples.

    Returns:
        `randomizer`, `printed` (least delta with the whole range as S), `all_events` (least delta over every S),
        `divergence` (the same by the hockey-stick divergence).
    """
    rows = []
    for name, kernel in examples(eps).items():
        worst = max((delta_over_events(p, q, eps) for p, q in permutations(kernel, 2)), default=0.0)
        found = {"printed": printed_delta(kernel, eps), "all_events": worst}
        rows.append({"randomizer": name, **found, "divergence": definition_delta(kernel, eps)})
    return pd.DataFrame(rows)


def random_pairs(*, pairs: int, rng: np.random.Generator | int, most: int = 6) -> list[tuple[Array, Array]]:
    """Pairs of laws on 2 to `most` common outcomes, some of probability 0 under one or both."""
    source = check.rng(rng)
    found = []
    for _ in range(check.count(pairs=pairs)):
        size = int(source.integers(2, check.count(2, most=most) + 1))
        weights = source.uniform(0.01, 1, (2, size)) * (source.random((2, size)) < 0.85)
        weights[:, 0] += 0.05  # never an empty law
        p, q = weights / weights.sum(axis=1, keepdims=True)
        found.append((p, q))
    return found


def definition_1(*, eps: float, pairs: int, seed: int) -> pd.DataFrame:
    """The least delta of eq. (1) for random pairs of laws: over every event, and by the divergence.

    Returns:
        `outcomes`, `all_events`, `divergence`.
    """
    rows = [
        {"outcomes": p.size, "all_events": delta_over_events(p, q, eps), "divergence": hockey_stick(p, q, eps)}
        for p, q in random_pairs(pairs=pairs, rng=seed)
    ]
    return pd.DataFrame(rows)


def relations(*, records: int = 3, values: int = 3, eps: float = 1.0) -> pd.DataFrame:
    """What two readings of "neighbouring" say of the same releases, over all data sets of a small size.

    Args:
        records: number of records of the larger data set, in [1, 6].
        values: number of values that a record can have, in [2, 5].
        eps: 1/scale of the histogram's Laplace noise, > 0.

    Returns:
        `relation`, `pairs` (how many), `count` (total variation of the released number of records), `l1` (largest
        change of the histogram), `histogram` (its eps with Laplace noise of scale 1/eps).
    """
    records, values = int(check.in_range(1, 6, records=records)), int(check.in_range(2, 5, values=values))
    eps = check.positive(eps=eps)

    def histograms(size: int) -> Array:
        chosen = combinations_with_replacement(range(values), size)
        return np.array([np.bincount(np.array(c, dtype=int), minlength=values) for c in chosen], dtype=float)

    full, smaller = histograms(records), histograms(records - 1)
    replaced = [(a, b) for a, b in permutations(full, 2) if np.abs(a - b).sum() == 2]
    absent = [(a, b) for a in full for b in smaller if np.all(a >= b)]
    rows = []
    for relation, neighbours in (("one record replaced", replaced), ("one record absent", absent)):
        sizes = np.eye(records + 1)
        count = max(total_variation(sizes[int(a.sum())], sizes[int(b.sum())]) for a, b in neighbours)
        change = max(float(np.abs(a - b).sum()) for a, b in neighbours)
        rows.append((relation, len(neighbours), count, change, change * eps))
    return pd.DataFrame(rows, columns=["relation", "pairs", "count", "l1", "histogram"])


_Least = tuple[float, Callable[[Array], Array], float]


def _leaking(eps: float, delta: float) -> dict[str, _Least]:
    """Mechanisms by name: the least delta at eps, Pr[loss > .], and a loss that is exceeded next to never.

    Randomized response and Laplace noise have a local budget slightly above eps; the Gaussian is at (eps, delta).
    """
    budget = eps * 1.001
    kernel = examples(budget)["randomized response"]
    laplace, gauss = mechanisms.laplace_scale(eps=budget), mechanisms.analytic_gaussian_scale(eps=eps, delta=delta)

    def rr_exceeds(at: Array) -> Array:
        ratios = np.log(kernel[0] / kernel[1])
        return np.array([kernel[0][ratios > e * (1 + 1e-14)].sum() for e in at])

    return {
        "randomized response": (definition_delta(kernel, eps), rr_exceeds, budget),
        "Laplace": (
            float(mechanisms.laplace_delta(eps, scale=laplace)),
            lambda at: np.asarray(mechanisms.laplace_exceeds(at, scale=laplace)),
            budget,
        ),
        "Gaussian": (
            float(mechanisms.gaussian_delta(eps, scale=gauss)),
            lambda at: np.asarray(mechanisms.gaussian_exceeds(at, scale=gauss)),
            eps + _DEVIATIONS / gauss,  # the loss's standard deviation is 1/scale, its mean not far above eps
        ),
    }


def leakage(*, eps: float, delta: float) -> pd.DataFrame:
    """The least delta of a mechanism beside the probability that its privacy loss exceeds eps.

    Randomized response and Laplace noise have a local budget slightly above eps; the Gaussian is at (eps, delta).

    Returns:
        `mechanism`, `eps`, `delta`, `exceeds` (probability), `ratio` (their quotient), `tail` (largest of
        Pr[loss > eps + t] (1 - e^{-t}) / delta over t; at most 1 is what delta does bound).
    """
    # Below it the tails are compared at losses whose differences are rounding.
    eps = check.in_range(1e-6, MOST_EPS / 12, eps=eps)
    beyond = eps * np.geomspace(1e-5, 10, 200)
    rows = []
    for name, (least, exceeds, _) in _leaking(eps, delta).items():
        at_eps, tail = float(exceeds(np.array([eps]))[0]), exceeds(eps + beyond) * -np.expm1(-beyond) / least
        found = {"eps": eps, "delta": least, "exceeds": at_eps, "ratio": at_eps / least}
        rows.append({"mechanism": name, **found, "tail": float(tail.max())})
    return pd.DataFrame(rows)


def mean_leakage(*, eps: float, delta: float) -> pd.DataFrame:
    """The least delta beside E[(1 - e^{eps - L})_+] of the privacy loss L, for the mechanisms of `leakage`.

    The mean is integrated from probabilities alone, e^{-t} Pr[L > eps + t] over t > 0: by parts the same number.

    Returns:
        `mechanism`, `eps`, `delta`, `mean` and `ratio`, their quotient: 1 but for rounding.

    >>> mean_leakage(eps=1.0, delta=1e-5)["ratio"].round(9).tolist()
    [1.0, 1.0, 1.0]
    """
    eps = check.in_range(1e-6, MOST_EPS / 12, eps=eps)
    x, weights = np.polynomial.legendre.leggauss(_NODES)
    rows = []
    for name, (least, exceeds, most) in _leaking(eps, delta).items():
        half = (most - eps) / 2
        t = half * (1 + x)
        mean = half * float(weights @ (np.exp(-t) * exceeds(eps + t)))
        rows.append({"mechanism": name, "eps": eps, "delta": least, "mean": mean, "ratio": mean / least})
    return pd.DataFrame(rows)

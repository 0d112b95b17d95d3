"""Learning a distribution over k items in total variation: local, shuffled and central learners, simulated.

The local learner is Hadamard response with a projection to the simplex; the shuffled one is the same with the largest
eps_L for which the accountant certifies (eps, delta) for any common randomizer. Reports of one law have
a multinomial histogram, so a run of a million users is one draw.

>>> table = learners(16, eps=1.0, delta=1e-6, sizes=[100_000], repeats=4, seed=0).set_index("learner")["tv"]
>>> bool(table["no privacy"] < table["shuffled"] < table["local"])
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gspa import _validate as check
from gspa import accountant, budgets
from gspa.calibrate import largest_local_epsilon
from gspa.errors import InvalidValue
from gspa.hadamard import HadamardResponse

Array = NDArray[np.float64]

DELTA = 1e-12  # central delta of the scaling experiments: at a larger one log(eps/delta) bends the lines
LEARNERS = ("no privacy", "central", "shuffled", "local")
LOCAL = {
    "small eps": {"k": 2.0, "alpha": -2.0, "growth": -2.0},
    "large eps": {"k": 2.0, "alpha": -2.0, "ratio": -1.0},
    "eps above log k": {"k": 1.0, "alpha": -2.0},
}
"""Exponents of the number of users that eq. (4) states, by regime; growth = e^eps - 1, ratio = e^eps."""
SHUFFLED = {
    "privacy": {"k": 1.0, "alpha": -1.0, "eps": -1.0},
    "sampling": {"k": 1.0, "alpha": -2.0, "eps": 0.0},
}
"""The same for k sqrt(log(1/delta))/(alpha eps) + k/alpha^2, by the term that is larger."""
CENTRAL = {"central": SHUFFLED["privacy"]}
"""The same for the Laplace histogram where k/(alpha eps) is larger."""


class Design(NamedTuple):
    """Middle of an experiment, and the factors by which one quantity at a time moves off it."""

    k: int
    alpha: float
    eps: float
    of_k: tuple[float, ...] = (0.25, 0.5, 2.0, 4.0)
    of_alpha: tuple[float, ...] = (0.25, 0.5, 2.0)
    of_eps: tuple[float, ...] = (0.25, 0.5, 2.0, 4.0)

    def points(self) -> list[tuple[int, float, float]]:
        """(k, alpha, eps), one of which moves."""
        return [
            (self.k, self.alpha, self.eps),
            *((round(self.k * factor), self.alpha, self.eps) for factor in self.of_k),
            *((self.k, self.alpha * factor, self.eps) for factor in self.of_alpha),
            *((self.k, self.alpha, self.eps * factor) for factor in self.of_eps),
        ]


# (k, alpha, e^eps - 1 or e^eps): far inside each regime of eq. (4).
_LOCAL = {
    "small eps": Design(256, 0.05, 0.02),
    "large eps": Design(8192, 0.05, 32.0, of_k=(0.5, 2.0, 4.0), of_eps=(0.5, 2.0, 4.0)),
    "eps above log k": Design(256, 0.05, 2.0**20, of_eps=()),
}
# (k, alpha, eps): one term is at least five times the other.
_SHUFFLED = {
    "privacy": Design(4096, 0.05, 0.1),
    "sampling": Design(1024, 0.0008, 0.5, of_k=(0.25, 0.5, 2.0), of_eps=(0.5, 2.0)),
}
_CENTRAL = Design(1024, 0.05, 0.01)


def project(v: Array) -> Array:
    """The nearest point of the probability simplex, in Euclidean distance.

    Args:
        v: shape (..., k).

    >>> project(np.array([0.75, 0.5, -0.25])).tolist()
    [0.625, 0.375, 0.0]
    """
    v = check.array_in(-1e290, 1e290, v=v)
    if v.ndim == 0 or v.shape[-1] == 0:
        raise InvalidValue("v.shape", v.shape, "(..., k) with k >= 1")
    ordered = -np.sort(-v, axis=-1)
    shift = (np.cumsum(ordered, axis=-1) - 1) / np.arange(1, v.shape[-1] + 1)
    last = (ordered > shift).sum(axis=-1, keepdims=True) - 1
    return np.asarray(np.maximum(v - np.take_along_axis(shift, last, axis=-1), 0.0))


def errors(
    response: HadamardResponse, p: Array, *, n: int, repeats: int, rng: np.random.Generator | int
) -> NDArray[np.float64]:
    """Total variation distances of the learnt distribution from p.

    Args:
        response: the users' common randomizer.
        p: shape (k,), the truth.
        n: number of users.
        repeats: independent runs.
        rng: generator or seed.

    Returns:
        Shape (repeats,).
    """
    counts = check.rng(rng).multinomial(check.count(n=n), response.law(p), size=check.count(repeats=repeats))
    return _distance(project(response.estimate(counts)), p)


def _distance(found: Array, p: Array) -> Array:
    return np.asarray(0.5 * np.abs(found - p).sum(axis=-1))


def _central(p: Array, eps: float, n: int, repeats: int, rng: np.random.Generator) -> Array:
    """Laplace noise on the histogram, whose l1 sensitivity is 2 when one record is replaced."""
    counts = rng.multinomial(n, p, size=repeats)
    return _distance(project((counts + rng.laplace(scale=2 / eps, size=counts.shape)) / n), p)


def shuffled_budget(eps: float, *, n: int, delta: float) -> float:
    """The largest eps_L certified to give (eps, delta) after shuffling, for any common randomizer; errs downward.

    >>> round(shuffled_budget(0.2, n=10_000, delta=1e-6), 4)
    2.3222
    """
    return largest_local_epsilon(eps=eps, delta=delta, n=n, mechanism="common").lower


def nearby_budget(eps: float, *, n: int) -> float:
    """About the eps_L that gives eps at `DELTA` with n users, with e^{eps_L} a power of 2.

    For experiments that certify eps afterwards: with powers of 2 the number of blocks is e^{eps_L}/2 throughout.
    """
    n, eps = check.count(n=n), check.in_range(0, 1e100, eps=eps)
    return math.log(2) * max(1, round(math.log2(max(n * eps**2 / (-6 * math.log(DELTA)), 1.0))))


def learners(k: int, *, eps: float, delta: float, sizes: Sequence[int], repeats: int, seed: int) -> pd.DataFrame:
    """Error of each learner on the uniform distribution, the hardest one for Hadamard response.

    Args:
        k: number of items.
        eps: privacy of the local learner (eps-LDP), the shuffled one ((eps, delta)) and the central one (eps).
        delta: of the shuffled learner.
        sizes: numbers of users.
        repeats: runs a point, >= 2.
        seed: of the runs.

    Returns:
        One row for each size and learner: `n`, `learner`, `eps_local` (NaN where there is none), `tv` (mean),
        `tv_error` (its standard error).
    """
    k, repeats = check.count(2, k=k), check.count(2, repeats=repeats)
    rng, p = np.random.default_rng(check.count(0, seed=seed)), np.full(k, 1 / k)
    rows = []
    for n in check.counts(sizes=sizes):
        budget = shuffled_budget(eps, n=n, delta=delta)
        found = {
            "no privacy": (math.nan, _distance(rng.multinomial(n, p, size=repeats) / n, p)),
            "central": (math.nan, _central(p, eps, n, repeats, rng)),
        }
        for name, local in (("shuffled", budget), ("local", eps)):
            response = HadamardResponse.of(k, eps=local)
            found[name] = (local, errors(response, p, n=n, repeats=repeats, rng=rng))
        for name, (local, tv) in found.items():
            rows.append((n, name, local, float(tv.mean()), float(tv.std(ddof=1) / math.sqrt(repeats))))
    return pd.DataFrame(rows, columns=["n", "learner", "eps_local", "tv", "tv_error"])


def local_scaling(*, repeats: int = 20, seed: int = 1) -> pd.DataFrame:
    """Users against k, alpha and eps for the local learner: n is chosen, the mean error alpha is measured.

    Returns:
        One row a point: `regime` (a key of `LOCAL`), `k`, `n`, `alpha` (measured), `alpha_error`, `ratio` (e^eps),
        `growth` (e^eps - 1) and `constant`, n over eq. (4).
    """
    rng, rows = np.random.default_rng(check.count(0, seed=seed)), []
    repeats = check.count(2, repeats=repeats)
    for regime, design in _LOCAL.items():
        for k, target, value in design.points():
            growth = value if regime == "small eps" else value - 1
            order = k**2 / growth**2 + k**2 / (1 + growth) + k
            n = math.ceil(order / target**2)
            response = HadamardResponse.of(k, eps=math.log1p(growth))
            tv = errors(response, np.full(k, 1 / k), n=n, repeats=repeats, rng=rng)
            alpha, error = float(tv.mean()), float(tv.std(ddof=1) / math.sqrt(repeats))
            rows.append((regime, k, n, alpha, error, 1 + growth, growth, n * alpha**2 / order))
    columns = ["regime", "k", "n", "alpha", "alpha_error", "ratio", "growth", "constant"]
    return pd.DataFrame(rows, columns=columns)


def shuffled_scaling(*, repeats: int = 20, seed: int = 2) -> pd.DataFrame:
    """Users against k, alpha and eps for the shuffled learner: n and eps_L are chosen, alpha measured, eps certified.

    Returns:
        One row a point: `regime` (a key of `SHUFFLED`), `k`, `n`, `eps_local`, `alpha`, `alpha_error`, `eps`
        (certified for any common randomizer at `DELTA`) and `constant`, n over the stated order.
    """
    rng, rows, log = np.random.default_rng(check.count(0, seed=seed)), [], -math.log(DELTA)
    repeats = check.count(2, repeats=repeats)
    for regime, design in _SHUFFLED.items():
        for k, target, eps in design.points():
            n = round(2.2 * k * math.sqrt(log) / (target * eps) if regime == "privacy" else 0.17 * k / target**2)
            local = nearby_budget(eps, n=n)
            people = budgets.constant(local, n=n)
            certified = accountant.central_epsilon(people, delta=DELTA, mechanism="common").upper
            response = HadamardResponse.of(k, eps=local)
            tv = errors(response, np.full(k, 1 / k), n=n, repeats=repeats, rng=rng)
            alpha, error = float(tv.mean()), float(tv.std(ddof=1) / math.sqrt(repeats))
            order = k * math.sqrt(log) / (alpha * certified) + k / alpha**2
            rows.append((regime, k, n, local, alpha, error, certified, n / order))
    return pd.DataFrame(rows, columns=["regime", "k", "n", "eps_local", "alpha", "alpha_error", "eps", "constant"])


def central_scaling(*, repeats: int = 20, seed: int = 3) -> pd.DataFrame:
    """The same for Laplace noise on the histogram, which is eps-DP.

    Returns:
        One row a point: `regime` ("central"), `k`, `n`, `alpha` (measured), `alpha_error`, `eps`.
    """
    rng, rows = np.random.default_rng(check.count(0, seed=seed)), []
    repeats = check.count(2, repeats=repeats)
    for k, target, eps in _CENTRAL.points():
        n = round(k / (target * eps))
        tv = _central(np.full(k, 1 / k), eps, n, repeats, rng)
        rows.append(("central", k, n, float(tv.mean()), float(tv.std(ddof=1) / math.sqrt(repeats)), eps))
    return pd.DataFrame(rows, columns=["regime", "k", "n", "alpha", "alpha_error", "eps"])

"""Two printed lines of FLAME's algorithms, tried: the analyzer's mean (Algorithm 2), the selection (Algorithm 4).

>>> found = selected_share(d=50, k=5, users=200, seed=1)
>>> found["corrected"].share, 0.4 < found["printed"].share < 0.6
(1.0, True)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gspa.algorithms.flame.protocols import Rules, play
from gspa.algorithms.flame.randomizers import Laplace
from gspa.algorithms.flame.sealing import keypair


class Estimate(NamedTuple):
    """What the analyzer makes of users who all hold `truth`: mean, its standard error, and the mean in closed form."""

    protocol: str
    rule: str
    truth: float
    mean: float
    error: float
    expected: float


def estimates(*, repeats: int = 400, seed: int = 2024) -> list[Estimate]:
    """The analyzer's estimate (Algorithm 2) of one value that all users hold everywhere, by protocol and rule.

    As printed it is, in expectation, value for SS-Simple, and C(n_p/n - 1) + beta value with dummies.
    """
    d, n, n_p, clip, value, eps = 8, 24, 20, 0.01, 0.004, 20.0
    updates, secret, found = np.full((n, d), value), keypair("envelope"), []
    for number, (protocol, select, k) in enumerate((("SS-Simple", "all", d), ("SS-Double", "uniform", 2))):
        for rule in ("printed", "corrected"):
            rng = np.random.default_rng([seed, number])
            rules = Rules(
                d=d, n=n, clip=clip, local=Laplace(eps), k=k, n_p=n_p, select=select, printed=rule == "printed"
            )
            means = np.array([play(updates, rules, secret, rng=rng).z.mean() for _ in range(repeats)])
            drift = clip * (n_p / n - 1) + k / d * value
            expected = drift if rule == "printed" and select != "all" else value
            error = float(means.std(ddof=1) / np.sqrt(repeats))
            found.append(Estimate(protocol, rule, value, float(means.mean()), error, expected))
    return found


class Share(NamedTuple):
    """How much of the largest coordinates is selected (mean and standard error), and how many values are negative."""

    share: float
    error: float
    negative: float


def selected_share(*, d: int, k: int, users: int, seed: int, spread: float = 0.2) -> dict[str, Share]:
    """Algorithm 4's selection of k of d coordinates, by x~ as printed and by the size of x, for normal updates.

    `spread` is the updates' standard deviation in units of C; the clip leaves those of 0.2 C alone.
    """
    rng = np.random.default_rng(seed)
    updates = rng.normal(0, spread, size=(users, d))
    scaled = (np.clip(updates, -1, 1) + 1) / 2
    largest = np.argsort(np.abs(updates), axis=1)[:, d - k :]
    orders = {
        # Those that the clip makes equal in random order.
        "printed": np.lexsort((rng.random(updates.shape), np.abs(scaled)), axis=1),
        "corrected": np.argsort(np.abs(updates), axis=1),
    }
    found = {}
    for rule, order in orders.items():
        chosen = order[:, d - k :]
        hits = np.array([np.isin(chosen[user], largest[user]).mean() for user in range(users)])
        negative = float((np.take_along_axis(updates, chosen, axis=1) < 0).mean())
        found[rule] = Share(float(hits.mean()), float(hits.std(ddof=1) / np.sqrt(users)), negative)
    return found

"""What two lines of FLAME's algorithms do as printed: the mean in Algorithm 2, the selection in Algorithm 4.

>>> found = selected_share(d=50, k=5, users=200, seed=1)
>>> found["corrected"].share, 0.4 < found["printed"].share < 0.6
(1.0, True)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gspa import _validate as check
from gspa.errors import InvalidValue
from gspa.flame.protocols import Rules, play
from gspa.flame.randomizers import Laplace
from gspa.flame.sealing import keypair

_MOST_CLIP = 1e150  # its square is a double


class Estimate(NamedTuple):
    """What the analyzer makes of users who all hold `truth`: mean, its standard error, and the mean in closed form."""

    protocol: str
    rule: str
    truth: float
    mean: float
    error: float
    expected: float


def estimates(
    *,
    d: int = 8,
    n: int = 24,
    k: int = 2,
    n_p: int = 20,
    value: float = 0.004,
    clip: float = 0.01,
    eps: float = 20.0,
    repeats: int = 400,
    seed: int = 2024,
) -> list[Estimate]:
    """The analyzer's estimate when every user's update is one value everywhere, by `gspa.flame.protocols`.

    As printed it is, in expectation, value for SS-Simple, and C(n_p/n - 1) + beta value with dummies.

    Args:
        d: coordinates.
        n: users.
        k: selected of them, in SS-Double.
        n_p: reports per coordinate, so large that all fit.
        value: in [-clip, clip].
        clip: C, in (0, 1e150].
        eps: budget of one report.
        repeats: rounds, at least 2.
        seed: of them.

    Returns:
        One a protocol and rule, "printed" or "corrected".
    """
    d, n, k, n_p = check.count(d=d), check.count(n=n), check.count(k=k), check.count(n_p=n_p)
    clip, repeats = check.in_range(0, _MOST_CLIP, clip=check.positive(clip=clip)), check.count(2, repeats=repeats)
    value = check.in_range(-clip, clip, value=value)
    updates = np.full((n, d), value)
    secret = keypair("envelope")
    found = []
    for number, (protocol, select, own) in enumerate((("SS-Simple", "all", d), ("SS-Double", "uniform", k))):
        for rule in ("printed", "corrected"):
            rng = np.random.default_rng([check.count(0, seed=seed), number])
            rules = Rules(
                d=d, n=n, clip=clip, local=Laplace(eps), k=own, n_p=n_p, select=select, printed=rule == "printed"
            )
            means = np.array([play(updates, rules, secret, rng=rng).z.mean() for _ in range(repeats)])
            drift = clip * (n_p / n - 1) + own / d * value
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

    Args:
        d: coordinates.
        k: selected.
        users: simulated, at least 2.
        seed: of their updates.
        spread: the updates' standard deviation, in units of C; the clip leaves those of 0.2 C alone.
    """
    rng = np.random.default_rng(check.count(0, seed=seed))
    spread, d, k, users = check.positive(spread=spread), check.count(d=d), check.count(k=k), check.count(2, users=users)
    if k > d:
        raise InvalidValue("k", k, f"at most d = {d}")
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

"""Small crowds for what the blog says in words, exact: other randomizers, malicious users, pure DP, message length.

>>> table = senders(Fraction(3), sizes=(2, 3))
>>> [str(d) for d in table["signed"]], [str(d) for d in table["plain"]]
(['1/2', '1/2'], ['3/8', '5/16'])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from gspa import _validate as check
from gspa.errors import InvalidValue
from gspa.hadamard import HadamardResponse
from gspa.reduction import Laws, Rows, delta_at, local_excess, shuffled_law, signed, subset_selection, two_laws

_ONE = Fraction(1)
_MOST_USERS = 4  # all orders of their reports, for all inputs


def _worst(randomizers: Sequence[Rows], ratio: Fraction) -> Fraction:
    """delta(log ratio) of the last user, the largest over the inputs of the others and the victim's two inputs."""
    inputs = range(len(randomizers[-1]))
    every = product(*(range(len(rows)) for rows in randomizers[:-1]))
    pairs = [(a, b) for a in inputs for b in inputs if a < b]
    return max(
        delta_at(two_laws(randomizers, others=others, inputs=pair, attached="user"), ratio)
        for others in every
        for pair in pairs
    )


def _sizes(sizes: Sequence[int]) -> list[int]:
    """Numbers of users whose reports can be written out."""
    found = check.counts(sizes=sizes)
    if max(found) > _MOST_USERS:
        raise InvalidValue("sizes", found, f"at most {_MOST_USERS} each")
    return found


def senders(ratio: Fraction, *, sizes: Sequence[int]) -> pd.DataFrame:
    """delta(0) of randomized response when each message carries its sender's number, and when it does not.

    Args:
        ratio: e^{eps_L}, a fraction > 1.
        sizes: numbers of users, 1 to 4.

    Returns:
        One row a size, in exact fractions: `n`, `local` (one report alone), `signed`, `plain`, `own` (unsigned; the
        others' e^eps are halfway to 1, so the randomizers differ) and `excess` (how far the signed randomizer is from
        eps_L-LDP).
    """
    rr, milder = subset_selection(2, 1, ratio), subset_selection(2, 1, (ratio + 1) / 2)
    local = delta_at(two_laws([rr], others=(), attached="user"), _ONE)
    rows = []
    for n in _sizes(sizes):
        named = [signed(rr, user, n) for user in range(n)]
        row = {"n": n, "local": local, "signed": _worst(named, _ONE), "plain": _worst([rr] * n, _ONE)}
        row["own"] = _worst([milder] * (n - 1) + [rr], _ONE)
        rows.append({**row, "excess": max(local_excess(rows_, ratio) for rows_ in named)})
    return pd.DataFrame(rows)


def deviations(ratio: Fraction, *, n: int, bad: int, at: Fraction) -> pd.DataFrame:
    """delta(log at) of an honest user beside `bad` malicious ones, for several things these may do.

    Args:
        ratio: e^{eps_L} of the honest, who use randomized response.
        n: number of users, up to 4.
        bad: how many are malicious, 1 to n - 1.
        at: e^eps at which delta is asked.

    Returns:
        One row a behaviour, in exact fractions: `behaviour`, `delta`, `honest_only` (with n - bad users and nobody
        else) and `everybody` (all n honest).
    """
    n, bad = check.count(2, n=_sizes([n])[0]), check.count(bad=bad)
    if bad >= n:
        raise InvalidValue("bad", bad, f"below n = {n}")
    rr = tuple((*row, Fraction(0)) for row in subset_selection(2, 1, ratio))

    def always(*law: Fraction) -> Rows:
        return (tuple(law),)

    none, half = Fraction(0), Fraction(1, 2)
    acts = {
        "always 0": always(_ONE, none, none),
        "always 1": always(none, _ONE, none),
        "a fair coin": always(half, half, none),
        "a biased coin, 1 in 4": always(3 * half / 2, half / 2, none),
        "a message of their own": always(none, none, _ONE),
    }
    honest_only, everybody = _worst([rr] * (n - bad), at), _worst([rr] * n, at)
    rows = [(name, _worst([act] * bad + [rr] * (n - bad), at), honest_only, everybody) for name, act in acts.items()]
    return pd.DataFrame(rows, columns=["behaviour", "delta", "honest_only", "everybody"])


def _ratio(laws: Laws) -> Fraction | None:
    """The largest likelihood ratio over all outcomes; None if one is infinite."""
    found = _ONE
    for a, b in laws.values():
        if not a or not b:
            return None
        found = max(found, a / b, b / a)
    return found


def pure_ratios(ratio: Fraction, *, sizes: Sequence[int]) -> pd.DataFrame:
    """The least e^eps at which the shuffled reports are (eps, 0)-DP, by enumeration.

    Args:
        ratio: e^{eps_L}, a fraction > 1.
        sizes: numbers of users, 1 to 4.

    Returns:
        One row for each randomizer and size: `reports`, `n`, `local` (e^{eps_L}) and `shuffled`, exact.
    """
    families: Mapping[str, Rows] = {
        "binary RR": subset_selection(2, 1, ratio),
        "3-ary RR": subset_selection(3, 1, ratio),
        "2 of 3 items": subset_selection(3, 2, ratio),
    }
    rows = []
    for name, matrix in families.items():
        for n in _sizes(sizes):
            found = [
                _ratio(two_laws([matrix] * n, others=others, attached="user"))
                for others in product(range(len(matrix)), repeat=n - 1)
            ]
            worst = None if None in found else max(value for value in found if value is not None)
            rows.append({"reports": name, "n": n, "local": ratio, "shuffled": worst})
    return pd.DataFrame(rows)


def messages(*, k: int, eps: float, n: int, seed: int) -> dict[str, Any]:
    """What the shuffler does to the messages: their number, their length, and nothing else.

    Args:
        k: number of items, for Hadamard response.
        eps: local budget.
        n: number of users.
        seed: of items, reports and shuffle.

    Returns:
        `per_user` (messages a user), `bits_before` and `bits_after` (the longest message's length), `same_messages`
        (the shuffled messages are the sent ones), `alphabet` (no possible outcome of 3 users with 3-ary response has
        another number of messages, or a message that no user can send).
    """
    rng = np.random.default_rng(check.count(0, seed=seed))
    response = HadamardResponse.of(k, eps=eps)
    sent = response.reports(rng.integers(response.k, size=check.count(n=n)), rng=rng)
    received = rng.permutation(sent)
    law = shuffled_law([subset_selection(3, 1, Fraction(3))] * 3, (0, 1, 2), attached="user")
    return {
        "per_user": received.size / n,
        "bits_before": int(response.outputs - 1).bit_length(),
        "bits_after": int(received.max()).bit_length(),
        "same_messages": bool(np.array_equal(np.sort(sent), np.sort(received))),
        "alphabet": all(len(outcome) == 3 and set(outcome) <= {0, 1, 2} for outcome in law),
    }


def one_bit(*, k: int, ratio: float) -> tuple[int, float]:
    """What one-bit reports of one common randomizer can tell about a distribution over k items.

    The server sees how many ones there are: a number whose law depends on p through P(report = 1) alone. For the
    randomizer that reports whether the item is in the first half, randomized.

    Args:
        k: number of items, a multiple of 4.
        ratio: e^{eps_L} > 1.

    Returns:
        The number of directions, of k - 1, that the law depends on, and the largest difference of the laws of a
        report under two distributions of disjoint support (total variation 1).
    """
    k, ratio = check.count(4, k=k), check.in_range(1, 1e100, ratio=ratio)
    if k % 4:
        raise InvalidValue("k", k, "a multiple of 4")
    half = np.arange(k) < k // 2
    matrix = np.where(np.stack([half, ~half], axis=1), ratio, 1.0) / (1 + ratio)
    seen = int(np.linalg.matrix_rank(matrix - matrix.mean(axis=0), tol=1e-9))
    first, second = (np.arange(k) % 4 < 2).astype(float), (np.arange(k) % 4 >= 2).astype(float)
    gap = np.abs((first / first.sum() - second / second.sum()) @ matrix).max()
    return seen, float(gap)

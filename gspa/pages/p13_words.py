r"""Page 13, second part: what the blog says of anonymization, growth with n, accuracy, approximate LDP and the blanket.

Small crowds are enumerated in fractions. A blanket is the common part of a randomizer's laws: R(x) = gamma B + (1 -
gamma) E_x, gamma the sum of the least probabilities.

>>> parts = blanket(s.subset_selection(3, 1, Fraction(2)))
>>> str(parts.weight), [str(mass) for mass in parts.noise]
('3/4', ['1/3', '1/3', '1/3'])
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gspa.accountant import budgets, closed_forms, one_round
from gspa.accountant.errors import OutsideValidity
from gspa.algorithms.testing import HadamardResponse
from gspa.book.claims import Outcome, judge, settles
from gspa.book.verdicts import Said, exactly, reading
from gspa.pages import shuffles as s
from gspa.pages.p13_clones import of_bits, worst

_ONE = Fraction(1)


"""The datum itself, one of two."""


# --- tables ------------------------------------------------------------------------------------------------


def falling(eps_local: float, sizes: Sequence[int], *, delta: float) -> pd.DataFrame:
    """Exact central eps of randomized response against n: eps_local, delta, n, eps."""
    table = pd.DataFrame({"n": sizes}).assign(eps_local=eps_local, delta=delta)
    return table.assign(eps=[of_bits(eps_local, n=n, delta=delta) for n in sizes])


def spoiled(local: Sequence[float], items: Sequence[int], *, share: float) -> pd.DataFrame:
    """What Hadamard response learns from infinitely many users who hold item 0, a share of them malicious.

    All malicious send the one message that does most harm. Columns: k, eps_local, share, tv (from the truth), useless
    (that of the uniform guess).
    """
    rows = []
    for k, x in product(items, local):
        response = HadamardResponse.of(k, eps=x)
        truth = np.eye(k)[0]
        received = (1 - share) * response.law(truth) + share * np.eye(response.outputs)
        # One output of each kind would do; all are few.
        tv = 0.5 * np.abs(nearest(response.estimate(received)) - truth).sum(axis=1).max()
        rows.append((k, x, share, float(tv), 1 - 1 / k))
    return pd.DataFrame(rows, columns=["k", "eps_local", "share", "tv", "useless"])


def nearest(v: NDArray[np.float64]) -> NDArray[np.float64]:
    """The law nearest to each row, in Euclidean distance."""
    ordered = -np.sort(-v, axis=-1)
    shift = (np.cumsum(ordered, axis=-1) - 1) / np.arange(1, v.shape[-1] + 1)
    last = (ordered > shift).sum(axis=-1, keepdims=True) - 1
    return np.asarray(np.maximum(v - np.take_along_axis(shift, last, axis=-1), 0.0))


def leaky(eps_local: float, local_deltas: Sequence[float], *, n: int, delta: float) -> pd.DataFrame:
    """Shuffled (eps_L, delta_L)-randomizers: eps_local, n, delta, local_delta, bound, certified, pure.

    bound: FMT21's Theorem 3.8, the total delta being `delta`; NaN where it does not apply. certified: of randomized
    response that tells the truth, marked as such, with probability delta_L. pure: exact, without that, rounded down.
    """
    rows = []
    for local_delta in local_deltas:
        people = budgets.constant(eps_local, n=n, delta=local_delta)
        try:
            bound = closed_forms.fmt21_epsilon(eps_local, n=n, delta=delta, delta0=local_delta)
        except OutsideValidity:
            bound = math.nan
        own = one_round.central_epsilon(people, delta=delta).upper
        rows.append((eps_local, n, delta, local_delta, bound, own, of_bits(eps_local, n=n, delta=delta)))
    return pd.DataFrame(rows, columns=["eps_local", "n", "delta", "local_delta", "bound", "certified", "pure"])


class Blanket(NamedTuple):
    """R(x) = weight * noise + (1 - weight) * rest[x]."""

    weight: Fraction
    noise: tuple[Fraction, ...]
    rest: s.Rows


def blanket(rows: s.Rows) -> Blanket:
    """The largest common part of a randomizer's laws, which are not all the same one."""
    least = [min(column) for column in zip(*rows, strict=True)]
    weight = sum(least, s.NONE)
    own = [[mass - low for mass, low in zip(row, least, strict=True)] for row in rows]
    noise = tuple(low / weight for low in least)
    return Blanket(weight, noise, tuple(tuple(mass / (1 - weight) for mass in row) for row in own))


def blankets(ratios: Iterable[Fraction]) -> pd.DataFrame:
    """Randomizers as mixtures: reports, ratio (e^{eps_L}), weight, least (e^{-eps_L}), laws, again.

    laws: noise and rest are probabilities; again: the mixture is the randomizer.
    """
    families = {"binary RR": (2, 1), "3-ary RR": (3, 1), "2 of 4 items": (4, 2)}
    rows = []
    for (name, which), ratio in product(families.items(), ratios):
        matrix = s.subset_selection(*which, ratio)
        weight, noise, rest = blanket(matrix)
        laws = all(min(law) >= 0 and sum(law) == 1 for law in (noise, *rest))
        mixed = tuple(tuple(weight * b + (1 - weight) * e for b, e in zip(noise, row, strict=True)) for row in rest)
        rows.append((name, ratio, weight, 1 / ratio, laws, mixed == matrix))
    return pd.DataFrame(rows, columns=["reports", "ratio", "weight", "least", "laws", "again"])


def hidden(ratio: Fraction, *, sizes: Sequence[int]) -> pd.DataFrame:
    """delta(0) of 3-ary response among the noise of the others alone: n, noise, shuffled, local, all exact.

    noise: whose message was drawn from the data is known, the victim apart, so that only the others' noise hides. m of
    the n - 1 others send noise with a binomial probability.
    """
    rr = s.subset_selection(3, 1, ratio)
    weight, common, _ = blanket(rr)
    rows = []
    for n in sizes:
        among = [worst([(common,)] * m + [rr], _ONE) for m in range(n)]
        chances = [math.comb(n - 1, m) * weight**m * (1 - weight) ** (n - 1 - m) for m in range(n)]
        noise = sum((p * delta for p, delta in zip(chances, among, strict=True)), s.NONE)
        rows.append((n, noise, worst([rr] * n, _ONE), worst([rr], _ONE)))
    return pd.DataFrame(rows, columns=["n", "noise", "shuffled", "local"])


# --- checks ------------------------------------------------------------------------------------------------


@settles("B-45")
def mixture(table: pd.DataFrame) -> Outcome:
    """Randomizers as mixtures, from `blankets`."""
    evidence: dict[str, object] = {
        f"{row.reports}, $e^{{\\epsilon_L}}$ = {row.ratio}: weight of the noise; $e^{{-\\epsilon_L}}$": (
            f"{row.weight}; {row.least}"
        )
        for row in table.itertuples()
    }
    evidence["noise and rest are laws, and mix to the randomizer"] = bool(table["laws"].all() and table["again"].all())
    held = bool(table["laws"].all() and table["again"].all() and (table["weight"] >= table["least"]).all())
    said: Said = {
        "verified": "The noise takes the least probability of each message over the inputs. Under $\\epsilon_L$-LDP "
        "that is at least $e^{-\\epsilon_L}$ times the probability under any one input, so the noise weighs at least "
        f"$e^{{-\\epsilon_L}}$. Exact fractions confirm it for {len(table)} randomizers.",
        "refuted": "A randomizer is no such mixture, or its noise weighs less than $e^{-\\epsilon_L}$.",
    }
    return judge("B-45", evidence, reading("the largest common part", exactly(held), said))

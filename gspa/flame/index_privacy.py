"""nu-index privacy of SS-Topk (Definition 3, Propositions 2 and Theorem 5), and whether the padding fits.

A user reports l k of d indices, k of them the largest in magnitude. To somebody for whom every index is one of
them with probability beta = k/d beforehand, it is one with probability 1/l once reported, so Definition 3 asks

    1/l <= nu beta    and    1 - 1/l >= (1 - beta)/nu,

and the least nu for a given l is max{1, 1/(l beta), (1 - beta) l/(l - 1)}: infinite for l = 1.

>>> from fractions import Fraction
>>> least_nu(16, beta=Fraction(1, 50))
Fraction(25, 8)
>>> least_nu(1, beta=0.02)
inf
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import overload

import numpy as np
import pandas as pd
from scipy.stats import binom

from gspa import _validate as check
from gspa.errors import InvalidValue

_MOST_CHOICES = 1_000_000
_LEAST_BETA = 1e-300  # its inverse is a double


@overload
def least_nu(l: int, *, beta: float) -> float: ...  # noqa: E741
@overload
def least_nu(l: int, *, beta: Fraction) -> Fraction | float: ...  # noqa: E741
def least_nu(l: int, *, beta: float | Fraction) -> float | Fraction:  # noqa: E741  # the paper's name
    """The strongest index privacy with l k reported indices: the least nu >= 1 of Definition 3.

    Args:
        l: >= 1.
        beta: k/d, in (0, 1]; a `Fraction` gives an exact answer.
    """
    many = check.count(l=l)
    if not isinstance(beta, Fraction):
        beta = check.in_range(0, 1, beta=beta)
    if not 0 < beta <= 1:
        raise InvalidValue("beta", beta, "in (0, 1]")
    if many == 1:
        return math.inf if beta < 1 else 1.0
    return max(beta / beta, 1 / (many * beta), (1 - beta) * many / (many - 1))


def least_l(nu: float, *, beta: float) -> int:
    """Proposition 2 as printed: the least whole l >= max{1/(nu beta), nu/(nu - 1 + beta)}.

    Args:
        nu: >= 1.
        beta: in [1e-300, 1].

    >>> least_l(3.125, beta=0.02)
    16
    """
    if check.positive(nu=nu) < 1:
        raise InvalidValue("nu", nu, ">= 1")
    beta = check.in_range(_LEAST_BETA, 1, beta=beta)
    # Rounding of 1/(nu beta) must not push a whole number to the next one.
    return math.ceil(max(1 / (nu * beta), nu / (nu - 1 + beta)) * (1 - 1e-12))


def theorem5(*, n_p: int, n: int, beta: float) -> tuple[int, float]:
    """Theorem 5 as printed: l = floor(n_p/(n beta)) and nu = max{1, 1/(l beta)}.

    Raises:
        InvalidValue: n_p < n beta, where l = 0.

    >>> theorem5(n_p=333, n=1000, beta=0.02)
    (16, 3.125)
    """
    beta = check.in_range(0, 1, beta=check.positive(beta=beta))
    many = math.floor(check.count(n_p=n_p) / (check.count(n=n) * beta) * (1 + 1e-12))
    if many < 1:
        raise InvalidValue("n_p", n_p, f"at least n beta = {n * beta:g}")
    return many, max(1.0, 1 / (many * beta))


def overflow_by_l(*, d: int, k: int, n: int, n_p: int, popular: float = 0.0) -> pd.DataFrame:
    """How l k reports from each of n users fit into n_p, exactly, for every l up to d/k.

    The other indices of a user are drawn uniformly among the d - k not selected, as Algorithm 4 has them.

    Args:
        d: coordinates.
        k: selected.
        n: users.
        n_p: reports per coordinate.
        popular: share of the users among whose k largest a given coordinate is; 0 stands for k/d, everything equal.

    Returns:
        One row an l: `l`, `nu` (`least_nu`), `mean` of n_(s,j), `one` (probability that coordinate j overflows) and
        `any` (at most: that some coordinate does, were all like it).
    """
    d, k, n, n_p = check.count(d=d), check.count(k=k), check.count(n=n), check.count(n_p=n_p)
    popular = check.in_range(0, 1, popular=popular)
    rows = []
    for many in range(1, d // k + 1):
        extra = (many - 1) * k / (d - k) if d > k else 0.0
        if popular == 0:
            mean, one = n * many * k / d, float(binom.sf(n_p, n, many * k / d))
        else:
            top = round(popular * n)
            mean = top + (n - top) * extra
            one = float(binom.sf(n_p - top, n - top, extra)) if top <= n_p else 1.0
        rows.append(
            {"l": many, "nu": float(least_nu(many, beta=k / d)), "mean": mean, "one": one, "any": min(1.0, d * one)}
        )
    return pd.DataFrame(rows)


def largest_fitting_l(table: pd.DataFrame, *, delta: float) -> int:
    """The largest l of `overflow_by_l` at which no coordinate overflows but with probability delta; 0 if none does."""
    fits = table[table["any"] <= check.probability(allow_zero=False, delta=delta)]
    return 0 if fits.empty else int(fits["l"].max())


def simulate_padding(
    *,
    d: int,
    k: int,
    n: int,
    l: int,  # noqa: E741
    n_p: int,
    rng: np.random.Generator | int,
) -> dict[str, float]:
    """One round of selections, k largest and k (l - 1) others uniform: share of overflows, largest n_(s,j).

    Args:
        d: coordinates, at least l k.
        k: selected.
        n: users.
        l: indices reported, over k.
        n_p: reports per coordinate.
        rng: generator or seed.
    """
    d, k = check.count(d=d), check.count(k=k)
    many = check.count(l=l) * k
    if many > d:
        raise InvalidValue("l", l, f"at most d/k = {d / k:g}", "there are not more indices")
    rng, n_p = check.rng(rng), check.count(n_p=n_p)
    size = np.zeros(d, dtype=np.int64)
    for _ in range(check.count(n=n)):  # with uniform largest ones, the l k indices are uniform
        size[rng.permutation(d)[:many]] += 1
    over = float((size > n_p).mean())
    return {"overflowing": over, "largest": float(size.max()), "mean": float(size.mean())}


def posterior(d: int, k: int, l: int) -> tuple[Fraction, Fraction]:  # noqa: E741
    """P(index is among the k largest | reported) by enumeration, the k largest being any k of d: (it, beta).

    Args:
        d: coordinates; d choose k and d - k choose k (l - 1) are enumerated.
        k: selected.
        l: indices reported, over k, with l k <= d.

    >>> posterior(4, 1, 2)
    (Fraction(1, 2), Fraction(1, 4))
    """
    d, k, l = check.count(d=d), check.count(k=k), check.count(l=l)  # noqa: E741
    if l * k > d:
        raise InvalidValue("l", l, f"at most d/k = {d / k:g}", "there are not more indices")
    if math.comb(d, k) * math.comb(d - k, k * (l - 1)) > _MOST_CHOICES:
        raise InvalidValue("d", d, f"so small that at most {_MOST_CHOICES:,} choices are enumerated")
    hit, all_of = 0, 0
    for top in combinations(range(d), k):
        rest = [j for j in range(d) if j not in top]
        for non in combinations(rest, k * (l - 1)):
            if 0 in top or 0 in non:
                all_of += 1
                hit += 0 in top
    return Fraction(hit, all_of), Fraction(k, d)

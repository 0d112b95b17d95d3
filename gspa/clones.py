"""The blog "Hide among the clones", eqs. (1) to (3): where each holds, how loose it is, which expands which.

Everything is log(1 + u) or u for one number u; with x = eps_L, A = log(4/delta):

    u = 16 tanh(x/2) sqrt(e^x A/n)                  eq. (1)
    u = tanh(x/2) (8 sqrt(e^x A/n) + 8 e^x/n)       its source, Feldman, McMillan and Talwar 2021, Theorem 3.1
    u = 8 sqrt(e^x A/n)                             eqs. (2) and (3), for x much larger than 1
    u = 8 x sqrt(A/n)                               for x much smaller than 1

>>> found = formulas(1e-4, n=10**10, delta=1e-6)
>>> round(found["small"] / found["blog"], 3), round(found["small"] / found["source"], 3)
(1.0, 2.0)
>>> found = formulas(12.0, n=10**14, delta=1e-6)
>>> round(found["large"] / found["blog"], 2), round(found["large"] / found["source"], 2)
(0.5, 1.0)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from gspa import _validate as check
from gspa import accountant, budgets, exact_rr
from gspa.errors import OutsideValidity

FORMULAS = ("blog", "source", "large", "linear", "small")
_LEAST = 1e-100  # of eps_L: no product of it with what stands beside it is 0
_GRID = 1.05  # step of the search for the users that eq. (1) needs


def formulas(eps_local: float, *, n: int, delta: float) -> dict[str, float]:
    """The right-hand sides alone, whatever n: `clone_forms` and `closed_forms` refuse outside their conditions.

    Args:
        eps_local: eps_L, from 1e-100 to 600.
        n: number of users, >= 1.
        delta: central delta in (0, 1).

    Returns:
        eps by name: "blog" eq. (1), "source" Theorem 3.1, "large" eq. (2), "linear" eq. (3), "small" the expansion for
        small eps_L. None is a guarantee by itself.

    Raises:
        InvalidValue: an argument out of range.
    """
    x, n = check.in_range(_LEAST, 600, eps_local=eps_local), check.count(n=n)
    delta = check.probability(allow_zero=False, delta=delta)
    log = math.log(4) - math.log(delta)
    root, truth, growth = math.sqrt(math.exp(x) * log / n), math.tanh(x / 2), math.exp(x) / n
    return {
        "blog": math.log1p(16 * truth * root),
        "source": math.log1p(truth * (8 * root + 8 * growth)),
        "large": math.log1p(8 * root),
        "linear": 8 * root,
        "small": 8 * x * math.sqrt(log / n),
    }


def least_users(eps_local: float, *, delta: float) -> int:
    """The least n of Theorem 3.1's condition, n >= 16 e^{eps_L} log(2/delta).

    >>> least_users(1.0, delta=1e-6)
    632
    """
    x, delta = check.in_range(0, 600, eps_local=eps_local), check.probability(allow_zero=False, delta=delta)
    return math.ceil(16 * math.exp(x) * (math.log(2) - math.log(delta)))


def regimes(local: Sequence[float], sizes: Sequence[int], *, delta: float) -> pd.DataFrame:
    """All formulas beside what is certified, over eps_L and n.

    Args:
        local: values of eps_L > 0.
        sizes: numbers of users.
        delta: central delta.

    Returns:
        One row for each (eps_L, n): `eps_local`, `n`, the five `FORMULAS`, `valid` (Theorem 3.1's condition), `any`
        (the certified eps for any common randomizer), `bits` (the exact eps of randomized response, a lower bound for
        the class) and `loose` = blog / any (NaN where that is 0).
    """
    rows = []
    for x in check.numbers(0, 600, local=local):
        for n in check.counts(sizes=sizes):
            people = budgets.constant(x, n=n)
            certified = accountant.central_epsilon(people, delta=delta, mechanism="common").upper
            bits = exact_rr.exact_epsilon(people, delta=delta).lower
            found = formulas(x, n=n, delta=delta)
            row = {"eps_local": x, "n": n, **found, "valid": n >= least_users(x, delta=delta)}
            rows.append({**row, "any": certified, "bits": bits, "loose": _over(found["blog"], certified)})
    return pd.DataFrame(rows)


def _over(value: float, exact: float) -> float:
    return value / exact if exact > 0 else math.nan


def expansions(delta: float, *, small: float = 1e-3, large: float = 16.0) -> pd.DataFrame:
    """Each expansion over eq. (1) and over its source, where the terms that it drops are below one percent.

    n is so large that u is below 0.002 for "small" and "linear"; "large", eq. (2), also has a row with the least n of
    Theorem 3.1's condition, where u is not small and the term that it drops is a few percent.

    Args:
        delta: central delta.
        small: eps_L of the small regime.
        large: eps_L of the large regime.

    Returns:
        One row for each (formula, n): `formula`, `eps_local`, `n`, `delta`, `u` (of eq. (1)), `over_blog` and
        `over_source`: quotients of the u, or of the eps where the expansion is of eps itself.
    """
    delta = check.probability(allow_zero=False, delta=delta)
    small, large = check.in_range(_LEAST, 600, small=small), check.in_range(_LEAST, 600, large=large)
    rows = []
    start = least_users(large, delta=delta)
    many = 10**8 * start
    cases = [("small", small, 10**10), ("large", large, start), ("large", large, many), ("linear", large, many)]
    for name, x, n in cases:
        found = formulas(x, n=n, delta=delta)
        scale = math.expm1 if name == "large" else float
        blog, source, own = (scale(found[key]) for key in ("blog", "source", name))
        rows.append((name, x, n, delta, math.expm1(found["blog"]), own / blog, own / source))
    return pd.DataFrame(rows, columns=["formula", "eps_local", "n", "delta", "u", "over_blog", "over_source"])


def improvement(eps_local: float, sizes: Sequence[int], *, delta: float) -> pd.DataFrame:
    """By which factor eq. (1) is below eps_L, over sqrt(n) and over sqrt(n)/(8 sqrt(log(4/delta))).

    Args:
        eps_local: a small eps_L.
        sizes: numbers of users.
        delta: central delta.

    Returns:
        One row a size: `n`, `factor` (eps_L over eq. (1); below 1 shuffling is not shown to help), `over_root` and
        `over_scaled`.

    >>> improvement(1e-3, [10_000], delta=1e-6).round(3).to_string(index=False, header=False).split()
    ['10000', '3.205', '0.032', '1.0']
    """
    rows = []
    for n in check.counts(sizes=sizes):
        factor, root = eps_local / formulas(eps_local, n=n, delta=delta)["blog"], math.sqrt(n)
        rows.append((n, factor, factor / root, 8 * factor * math.sqrt(math.log(4) - math.log(delta)) / root))
    return pd.DataFrame(rows, columns=["n", "factor", "over_root", "over_scaled"])


def direction(eps_local: float, *, n: int, delta: float, shares: Sequence[float] = (0.0, 0.1, 1.0)) -> pd.DataFrame:
    """The exact delta of randomized response at eps = a share of eq. (1)'s right-hand side.

    Args:
        eps_local: eps_L.
        n: number of users.
        delta: the delta in eq. (1).
        shares: each in [0, 1].

    Returns:
        One row a share: `share`, `eps`, `exact` (the least delta of the shuffled bits, rounded down) and `times` =
        exact / delta: above 1 the pair (eps, delta) is no guarantee.
    """
    people, right = budgets.constant(eps_local, n=n), formulas(eps_local, n=n, delta=delta)["blog"]
    rows = []
    for share in check.numbers(0, 1, shares=shares):
        eps = share * right
        found = exact_rr.exact_delta(people, eps=eps).lower
        rows.append({"share": share, "eps": eps, "exact": found, "times": found / delta})
    return pd.DataFrame(rows)


def users_needed(local: Sequence[float], *, delta: float) -> pd.DataFrame:
    """The c below which eq. (1) fails for n = c e^{eps_L} log(1/delta) users with randomized response.

    From Theorem 3.1's n downwards in steps of five percent to the first n at which the exact eps exceeds eq. (1).

    Args:
        local: values of eps_L.
        delta: central delta.

    Returns:
        One row a value: `eps_local`, `n` (0 if eq. (1) holds for every n tried), `exact` (the eps of the shuffled bits,
        rounded down), `blog` (eq. (1) there; both NaN where n = 0), `constant` (c) and `theorem` (c of Theorem 3.1's
        condition).
    """
    delta = check.probability(allow_zero=False, delta=delta)
    rows = []
    for x in check.numbers(0, 600, local=local):
        unit = math.exp(check.positive(eps_local=x)) * -math.log(delta)
        first, failed = least_users(x, delta=delta), (0, math.nan, math.nan)
        count = math.floor(math.log(first) / math.log(_GRID))
        for n in dict.fromkeys(math.floor(first / _GRID**i) for i in range(count + 1)):
            right = formulas(x, n=n, delta=delta)["blog"]
            if right >= x:
                continue  # eps_L itself needs no shuffling
            # The pair of randomized response is above the exact law: where it meets eq. (1), so do the bits.
            if accountant.central_delta(budgets.constant(x, n=n), eps=right).upper <= delta:
                continue
            if exact_rr.exact_delta(budgets.constant(x, n=n), eps=right).lower > delta:
                failed = (n, exact_rr.exact_epsilon(budgets.constant(x, n=n), delta=delta).lower, right)
                break
        n, exact, right = failed
        rows.append((x, n, exact, right, n / unit, first / unit))
    return pd.DataFrame(rows, columns=["eps_local", "n", "exact", "blog", "constant", "theorem"])


def malicious(eps_local: float, *, sizes: Sequence[int], share: float, delta: float) -> pd.DataFrame:
    """What a share of malicious users costs the others: n against (1 - share) n users.

    Args:
        eps_local: eps_L of all.
        sizes: numbers of users n.
        share: share of the malicious, in [0, 1).
        delta: central delta.

    Returns:
        One row a size: `n`, `honest` ((1 - share) n rounded down), for each of `any` (certified), `bits` (exact
        randomized response) and `blog` (eq. (1)) the eps with n (`..._all`) and with the honest (`..._honest`), and
        `valid` (Theorem 3.1's condition holds with the honest).

    Raises:
        OutsideValidity: nobody would be honest.
    """
    share = check.probability(share=share)
    rows = []
    for n in check.counts(sizes=sizes):
        honest = math.floor(n * (1 - share) + 1e-9)
        if honest < 1:
            raise OutsideValidity("honest users", "at least one", f"share = {share:g} of {n}")
        row: dict[str, object] = {"n": n, "honest": honest, "valid": honest >= least_users(eps_local, delta=delta)}
        for word, users in (("all", n), ("honest", honest)):
            people = budgets.constant(eps_local, n=users)
            row[f"any_{word}"] = accountant.central_epsilon(people, delta=delta, mechanism="common").upper
            row[f"bits_{word}"] = exact_rr.exact_epsilon(people, delta=delta).lower
            row[f"blog_{word}"] = formulas(eps_local, n=users, delta=delta)["blog"]
        rows.append(row)
    return pd.DataFrame(rows)


def pure(eps_local: float, sizes: Sequence[int], *, below: float = 0.01) -> pd.DataFrame:
    """delta just below eps_L, which is above 0 for every n: shuffling improves no pure guarantee.

    All n reports are 1 with probability w^n if everybody holds 1, w = e^x/(1+e^x), and 1 - w takes the place of one w
    if the victim holds 0: so delta(eps) >= w^n (1 - e^{eps - x}) for eps < x.

    Args:
        eps_local: x.
        sizes: numbers of users.
        below: eps = (1 - below) x, in (0, 1].

    Returns:
        One row a size: `n`, `eps`, `log10_floor` (of the bound above) and `exact` (the least delta, rounded down; 0
        where it is below what a double can hold).
    """
    x, below = check.in_range(_LEAST, 600, eps_local=eps_local), check.in_range(_LEAST, 1, below=below)
    rows = []
    for n in check.counts(sizes=sizes):
        floor = (n * -np.logaddexp(0, -x) + math.log(-math.expm1(-below * x))) / math.log(10)
        exact = exact_rr.exact_delta(budgets.constant(x, n=n), eps=(1 - below) * x).lower
        rows.append({"n": n, "eps": (1 - below) * x, "log10_floor": float(floor), "exact": exact})
    return pd.DataFrame(rows)

"""What Algorithms 1 and 2 really give each preference group, beside what Theorems 3 and 4 promise everybody.

The promise is mu-GDP with the paper's mu, read as an eps at delta without the theorem's error term. `lower` is a
rigorous lower bound: an explicit attack on shuffled Laplace reports, or the law of the number of ones at fixed inputs
of the others. `upper` is certified: the privacy blanket for Laplace noise, the dominating pair for randomized
response.

>>> from gspa.error_laws import Groups
>>> table = response_groups(Groups().people(), delta=1e-4)
>>> table["promise"].tolist(), bool((table["upper"] < 0.41 * table["promised"]).all())
(['kept', 'kept', 'kept'], True)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from gspa import _validate as check
from gspa import accountant, blanket, budgets, exact_rr, mechanisms, per_user, personalized
from gspa._ones_law import Crowd, Tilted
from gspa.bounds import gspa_epsilon, gspa_mu
from gspa.budgets import Budgets
from gspa.counterexamples import judged
from gspa.error_laws import Groups
from gspa.errors import InvalidValue

Array = NDArray[np.float64]

MECHANISMS = ("laplace", "rr")
_FEW = 64  # distinct budgets whose users are listed one by one


def sensitivity_readings(groups: Groups, *, low: float, high: float, grid: int = 2001) -> pd.DataFrame:
    """What Algorithm 1's noise Lap(Delta f/eps_i) gives user i in each reading of Delta f, which the paper leaves open.

    Args:
        groups: the users; the local eps is stated for the most and for the least private of them.
        low: data lie in [low, high].
        high: > low.
        grid: outputs at which the ratio of the report's two densities is evaluated.

    Returns:
        One row a reading: `reading`, `sensitivity`, `width` (of the data's range; infinite for unclipped data),
        `conservative` and `liberal` (the exact local eps = eps_i width/sensitivity), `evaluated` (the liberal user's
        from the densities on a grid of outputs, a lower bound), `times` (local eps over eps_i) and `error` (standard
        deviation of the answer).
    """
    low, high = check.in_range(-1e100, 1e100, low=low), check.in_range(-1e100, 1e100, high=high)
    width = check.positive(width=high - low)
    readings = [
        ("width of the data's range", width, width),
        ("1", 1.0, width),
        ("the average's own: width/n", width / groups.n, width),
        ("width of the range, but data not clipped", width, math.inf),
    ]
    eps = groups.people().expanded().eps
    rows = []
    for reading, sensitivity, spread in readings:
        times = spread / sensitivity
        scale = mechanisms.laplace_scale(eps=groups.eps_liberal, sensitivity=sensitivity)
        reach = spread if math.isfinite(spread) else 1e6 * width
        y = np.linspace(low - reach, low + 2 * reach, check.count(2, grid=grid))
        evaluated = float(np.max(np.abs(y - low - reach) - np.abs(y - low))) / scale
        rows.append(
            {
                "reading": reading,
                "sensitivity": sensitivity,
                "width": spread,
                "conservative": groups.eps_conservative * times,
                "liberal": groups.eps_liberal * times,
                "evaluated": evaluated,
                "times": times,
                "error": math.sqrt(2 * float((1 / eps**2).sum())) * sensitivity / groups.n,
            }
        )
    return pd.DataFrame(rows)


def _few(people: Budgets) -> Budgets:
    if people.delta_max > 0:
        raise InvalidValue("delta_i", people.delta_max, "0: both algorithms are pure")
    if people.eps.size > _FEW:
        raise InvalidValue("len(eps)", people.eps.size, f"at most {_FEW} groups of equal budgets", "use .grouped()")
    return people


def _table(
    people: Budgets,
    places: Sequence[int],
    local: Array,
    promised: float,
    lower: Sequence[float],
    upper: Sequence[float],
) -> pd.DataFrame:
    at = list(places)
    columns = {"budget": people.eps[at], "users": people.count[at], "local": local[at], "promised": promised}
    table = pd.DataFrame(columns).assign(lower=lower, upper=upper)
    return table.assign(promise=[judged(low, high, promised) for low, high in zip(lower, upper, strict=True)])


def laplace_groups(
    people: Budgets, *, delta: float, stretch: float = 1.0, victims: Sequence[int] | None = None
) -> pd.DataFrame:
    """Algorithm 1's central eps for each group of equal budgets, with the promise of Theorem 3.

    Args:
        people: at most 64 groups, delta_i = 0, eps_i > 0.
        delta: central delta in (0, 1).
        stretch: width of the data's range over the noise's sensitivity: the true local eps is stretch eps_i, while the
            promise is computed from eps_i.
        victims: indices of the groups to evaluate; None for all.

    Returns:
        One row a group: `budget` (eps_i), `users`, `local` (the report's own eps), `promised`, `lower`, `upper`, and
        `promise`: "kept" (upper <= promised), "broken" (lower > promised) or "open". Where a victim has more noise than
        the least, `upper` takes 0 and 1 for the worst inputs: measured, not proved (`gspa.blanket`).

    Raises:
        InvalidValue: an argument outside its range.
    """
    people = _few(people)
    promised = gspa_epsilon(people, delta=delta)
    true = budgets.from_array(people.eps * check.positive(stretch=stretch), count=people.count)
    lower, upper = [], []
    places = range(true.eps.size) if victims is None else check.counts(0, victims=victims)
    for victim in places:
        lower.append(personalized.attacked_epsilon(true, victim=victim, delta=delta))
        upper.append(blanket.blanket_epsilon(true, victim=victim, delta=delta).upper)
    return _table(people, places, true.eps, promised, lower, upper)


def ones_epsilon(people: Budgets, *, victim: int, delta: float) -> float:
    """An eps below which Algorithm 2 is certainly not (eps, delta)-DP for a user of one group.

    The exact law of the number of ones, all others holding 0 or all holding 1: for a user of the largest budget nearly
    the worst inputs, which `gspa.exact_rr` looks for. Errs downward, by rounding and by the choice of inputs.

    Args:
        people: at most 64 groups, delta_i = 0.
        victim: index of the group.
        delta: central delta in (0, 1).

    >>> people = budgets.constant(1.0, n=1_000)
    >>> exact = exact_rr.exact_epsilon(people, delta=1e-6)
    >>> abs(ones_epsilon(people, victim=0, delta=1e-6) / exact.value - 1) < 1e-4
    True
    """
    people, delta = _few(people), check.probability(allow_zero=False, delta=delta)
    index = check.count(0, victim=victim)
    if index >= people.eps.size:
        raise InvalidValue("victim", victim, f"an index of groups, 0 to {people.eps.size - 1}")
    local = float(people.eps[index])
    count = people.count - (np.arange(people.eps.size) == index).astype(np.float64)
    crowd = Crowd(local, people.eps, count)

    def excess(eps: float) -> float:
        value, error = Tilted(crowd, eps).at(np.array([0 * count, count]))
        return float((value - error).max()) - delta

    if local == 0 or excess(0.0) <= 0:
        return 0.0
    # At eps_i itself delta is 0; just below it the bits still say something.
    high = local * (1 - 1e-12)
    if excess(high) > 0:
        return high
    root = float(brentq(excess, 0.0, high, xtol=1e-13, rtol=1e-12))
    while root > 0 and excess(root) < 0:  # a step or two, for rounding
        root -= 1e-12
    return max(root, 0.0)


def response_groups(people: Budgets, *, delta: float) -> pd.DataFrame:
    """Algorithm 2's central eps for each group, with the promise of Theorem 4; as `laplace_groups`."""
    people = _few(people)
    upper = per_user.per_user_epsilon(people, delta=delta).upper
    lower = [ones_epsilon(people, victim=i, delta=delta) for i in range(people.eps.size)]
    everybody = range(people.eps.size)
    return _table(people, everybody, people.eps, gspa_epsilon(people, delta=delta), lower, upper.tolist())


def groups_of(people: Budgets, *, mechanism: str, delta: float) -> pd.DataFrame:
    """`laplace_groups` or `response_groups`, by the mechanism's name ("laplace", "rr")."""
    if check.one_of(MECHANISMS, mechanism=mechanism) == "laplace":
        return laplace_groups(people, delta=delta)
    return response_groups(people, delta=delta)


def at_deltas(people: Budgets, *, mechanism: str, deltas: Sequence[float]) -> pd.DataFrame:
    """`groups_of` at several deltas, with a column `delta` in front."""
    parts = []
    for delta in check.numbers(0, 1, deltas=deltas):
        table = groups_of(people, mechanism=mechanism, delta=delta)
        table.insert(0, "delta", float(delta))
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def along(groups: Groups, *, mechanism: str, eps_conservative: Sequence[float] | Array, delta: float) -> pd.DataFrame:
    """The groups' central eps while the conservative users' budget varies: `groups_of`, a block of rows a value.

    Returns:
        With the columns `eps_conservative` and `group` ("conservative", "moderate", "liberal"; empty groups are left
        out) in front.
    """
    parts = []
    for value in check.numbers(0, math.inf, eps_conservative=eps_conservative):
        here = groups.varied("eps_conservative", value)
        shares = (here.f_conservative, here.f_moderate, here.f_liberal)
        sizes = budgets.preference_sizes(
            n=here.n, **dict(zip(("f_conservative", "f_moderate", "f_liberal"), shares, strict=True))
        )
        table = groups_of(here.people(), mechanism=mechanism, delta=delta)
        table.insert(0, "group", [name for name, size in sizes.items() if size])
        table.insert(0, "eps_conservative", float(value))
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def in_ranges(groups: Groups, *, mechanism: str, delta: float, seed: int = 2024) -> dict[str, float]:
    """The other reading, budgets drawn from ranges: `promised` to all, and `upper`, certified for the largest."""
    people = groups.people(reading="ranges", rng=seed)
    if check.one_of(MECHANISMS, mechanism=mechanism) == "laplace":
        upper = blanket.blanket_epsilon(people, victim=int(np.argmax(people.eps)), delta=delta).upper
    else:
        upper = accountant.central_epsilon(people, delta=delta).upper
    return {"promised": gspa_epsilon(people, delta=delta), "upper": upper}


def crowded_out(groups: Groups, *, delta: float, eps_conservative: Sequence[float]) -> pd.DataFrame:
    """Algorithm 1 without moderate users: everybody who is not liberal becomes conservative.

    The formula takes conservative users for the best company; with Laplace noise they are the worst.

    Returns:
        As `laplace_groups`, the row of the liberal users for each `eps_conservative`, with `mu` (promised) and
        `attacked`: a delta certainly reached at the promised eps.
    """
    rows = []
    for value in check.numbers(1e-9, 1e9, eps_conservative=eps_conservative):
        here = replace(groups, f_conservative=1 - groups.f_liberal, eps_conservative=float(value))
        people = here.people()
        last = people.eps.size - 1
        row = laplace_groups(people, delta=delta, victims=[last]).iloc[0]
        attacked = personalized.attacked_delta(people, victim=last, eps=float(row["promised"]))
        rows.append({"eps_conservative": float(value), "mu": gspa_mu(people), **row.to_dict(), "attacked": attacked})
    return pd.DataFrame(rows)


def labelled(groups: Groups, *, mechanism: str, delta: float, before: pd.DataFrame | None = None) -> pd.DataFrame:
    """What it costs to send the budget along with the report: everybody hides in the own group only.

    Args:
        groups: the users, budgets constant in each group.
        mechanism: "laplace" or "rr".
        delta: central delta in (0, 1).
        before: `groups_of` for the same users, mechanism and delta, if it is at hand.

    Returns:
        One row a group: `budget`, `users`, `unlabelled` and `labelled` (certified central eps), `times` (their ratio;
        NaN where the first is 0).
    """
    people = groups.people()
    before = groups_of(people, mechanism=mechanism, delta=delta) if before is None else before
    rows = []
    for eps, size, upper in zip(people.eps.tolist(), people.count.tolist(), before["upper"].tolist(), strict=True):
        alone = budgets.constant(eps, n=size)
        if mechanism == "laplace":
            after = blanket.blanket_epsilon(alone, delta=delta).upper
        else:
            after = accountant.central_epsilon(alone, delta=delta).upper
        rows.append((eps, size, upper, after, after / upper if upper > 0 else math.nan))
    return pd.DataFrame(rows, columns=["budget", "users", "unlabelled", "labelled", "times"])


def response_limits(*, local: Sequence[float], sizes: Sequence[int], delta: float) -> pd.DataFrame:
    """Theorem 4's promise for n users of one budget beside the exact law of the shuffled bits and the certified pair.

    Returns:
        One row for each (eps0, n): `eps0`, `n`, `promised`, `exact` (lower end of `gspa.exact_rr`), `certified` (upper
        end of the pair), `ratio` (promised over exact; NaN where that is 0) and `promise`, as `laplace_groups`.
    """
    rows = []
    sizes = check.counts(2, sizes=sizes)
    for eps0 in check.numbers(0, math.inf, local=local):
        for n in sizes:
            people = budgets.constant(eps0, n=n)
            promised = gspa_epsilon(people, delta=delta)
            exact = exact_rr.exact_epsilon(people, delta=delta)
            certified = accountant.central_epsilon(people, delta=delta).upper
            ratio = promised / exact.lower if exact.lower > 0 else math.nan
            promise = judged(exact.lower, exact.upper, promised)
            rows.append((eps0, n, promised, exact.lower, certified, ratio, promise))
    return pd.DataFrame(rows, columns=["eps0", "n", "promised", "exact", "certified", "ratio", "promise"])


def bits_mu(people: Budgets) -> float:
    """mu of the Gaussian that the number of ones itself approaches, for the user of the largest budget: an estimate.

    tanh(eps_n/2) / sqrt(sum_(j != n) r_j (1 - r_j)): the victim moves the mean by tanh(eps_n/2), the others make the
    variance. As r_j (1 - r_j) >= r_j/2 and no more than all but the largest r_j are left, it is at most tanh(eps_n/2)
    times the paper's mu, so in the limit Theorem 4 promises too little, never too much.

    >>> people = Groups().people()
    >>> round(bits_mu(people) / gspa_mu(people), 3) < math.tanh(0.5)
    True
    """
    r = expit(-people.eps)
    victim = int(np.argmax(people.eps))
    count = people.count - (np.arange(r.size) == victim)
    variance = float(count @ (r * (1 - r)))
    if variance == 0:
        raise InvalidValue("eps", people.eps.tolist(), "those of two or more users whose reports are not certain")
    return math.tanh(people.eps_max / 2) / math.sqrt(variance)

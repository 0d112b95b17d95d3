"""Many rounds and Renyi divergences as tidy tables."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from gspa import accountant, bounds, budgets, composition, privacy_loss
from gspa.accountant import Problem
from gspa.tradeoff import compose_gdp, gdp_epsilon

CERTIFIED = "certified"
PAPER = "paper: sqrt(T) mu"
BASIC = "T times one certified round"

# Orders tried for a conversion: dense where few rounds want large ones, sparse beyond.
RENYI_ORDERS = tuple(sorted({*range(2, 65), *(round(64 * 2 ** (k / 4)) for k in range(25))}))


def over_rounds(*, eps0: float, n: int, delta: float, rounds: Sequence[int]) -> pd.DataFrame:
    """Central eps after T rounds of shuffled randomized response, by three accounts.

    Args:
        eps0: local budget of every user in every round.
        n: users.
        delta: central delta of all rounds together.
        rounds: numbers of rounds T, >= 1.

    Returns:
        One row for each (T, method): `rounds`, `method`, `epsilon`, and for the certified one `lower`, `width`.
        Certified: `epsilon` is the upper end. Paper: the Gaussian of T rounds, an estimate. Basic: T times
        the eps of one round at delta / T, a valid upper bound.
    """
    people = budgets.constant(eps0, n=n)
    mu = bounds.gspa_mu(people)
    rows: list[dict[str, object]] = []
    for times in rounds:
        found = composition.compose([(composition.shuffled(people), times)], delta=delta)
        rows += [
            {
                "rounds": times,
                "method": CERTIFIED,
                "epsilon": found.upper,
                "lower": found.lower,
                "width": found.relative_width,
            },
            {"rounds": times, "method": PAPER, "epsilon": gdp_epsilon(delta=delta, mu=compose_gdp([mu] * times))},
            {
                "rounds": times,
                "method": BASIC,
                "epsilon": times * accountant.central_epsilon(people, delta=delta / times).upper,
            },
        ]
    return pd.DataFrame(rows)


def renyi_orders(*, eps0: float, n: int, orders: Sequence[int], published: bool = True) -> pd.DataFrame:
    """The pair's Renyi divergence beside the published bound for any common randomizer.

    Args:
        eps0: local budget of every user.
        n: users.
        orders: integers >= 2.
        published: whether to add the published bound, which needs two users or more.

    Returns:
        One row an order: `order`, `lower`, `upper` (certified, of the pair) and, where asked for, `girgis21` and
        their `ratio`.
    """
    problem = _shuffled_responses(eps0, n)
    rows = []
    for order in orders:
        exact = privacy_loss.renyi(problem, float(order))
        row: dict[str, object] = {"order": order, "lower": exact.lower, "upper": exact.upper}
        if published:
            bound = bounds.girgis21_renyi(eps0, n=n, order=order)
            row |= {"girgis21": bound, "ratio": bound / exact.upper}
        rows.append(row)
    return pd.DataFrame(rows)


def renyi_over_rounds(
    *, eps0: float, n: int, delta: float, rounds: Sequence[int], orders: Sequence[int] = RENYI_ORDERS
) -> pd.DataFrame:
    """Central eps after T rounds by adding up the pair's Renyi divergences: an upper bound, by the best order.

    T divergences of one order add up; `bounds.renyi_to_epsilon` turns their sum into eps at delta.

    Returns:
        One row a number of rounds: `rounds`, `order` (the best of `orders`) and `epsilon`.
    """
    problem = _shuffled_responses(eps0, n)
    divergences = {order: privacy_loss.renyi(problem, float(order)).upper for order in orders}
    rows = []
    for times in rounds:
        found = {
            order: bounds.renyi_to_epsilon(times * one, order=order, delta=delta) for order, one in divergences.items()
        }
        best = min(found, key=lambda order: found[order])
        rows.append({"rounds": times, "order": best, "epsilon": found[best]})
    return pd.DataFrame(rows)


def _shuffled_responses(eps0: float, n: int) -> Problem:
    people = budgets.constant(eps0, n=n)
    return accountant.problem_of(people, accountant.resolve("rr", people, None, None, None), 0)

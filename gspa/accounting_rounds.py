"""Many rounds and Renyi divergences as tidy tables."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from gspa import accountant, bounds, budgets, composition, privacy_loss
from gspa.tradeoff import compose_gdp, gdp_epsilon

CERTIFIED = "certified"
PAPER = "paper: sqrt(T) mu"
BASIC = "T times one certified round"


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


def renyi_orders(*, eps0: float, n: int, orders: Sequence[int]) -> pd.DataFrame:
    """The pair's Renyi divergence beside the published bound for any common randomizer.

    Returns:
        One row an order: `order`, `lower`, `upper` (certified, of the pair), `girgis21` and their `ratio`.
    """
    people = budgets.constant(eps0, n=n)
    problem = accountant.problem_of(people, accountant.resolve("rr", people, None, None, None), 0)
    rows = []
    for order in orders:
        exact = privacy_loss.renyi(problem, float(order))
        published = bounds.girgis21_renyi(eps0, n=n, order=order)
        rows.append(
            {
                "order": order,
                "lower": exact.lower,
                "upper": exact.upper,
                "girgis21": published,
                "ratio": published / exact.upper,
            }
        )
    return pd.DataFrame(rows)

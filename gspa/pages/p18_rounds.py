"""Page 18: many rounds, and Renyi divergences, of the pair itself.

With Y = e^(-loss) under P0 the composed delta(eps) is the mean of (1 - e^eps prod Y_t)_+, and the Renyi divergence of
order a is log(E Y^(1-a))/(a - 1); the accountant evaluates both with every step bounded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from gspa.accountant import budgets
from gspa.accountant.families import binary
from gspa.accountant.losses import renyi, renyi_upper
from gspa.accountant.one_round import central_epsilon, problem_of
from gspa.accountant.published import girgis21_renyi, gspa_mu, renyi_to_epsilon
from gspa.accountant.rounds import compose, shuffled
from gspa.accountant.tradeoff import compose_gdp, gdp_epsilon
from gspa.book.figures import ROLES, keeps_data, name_ends, role

# Orders tried for a conversion: dense where few rounds want large ones, sparse beyond.
RENYI_ORDERS = tuple(sorted({*range(2, 65), *(round(64 * 2 ** (k / 4)) for k in range(25))}))


# --- tables ------------------------------------------------------------------------------------------------


def over_rounds(*, eps0: float, n: int, delta: float, rounds: Sequence[int]) -> pd.DataFrame:
    """Central eps after T rounds of shuffled randomized response: rounds, lower, certified, width, paper, basic.

    "certified" is the upper end; "paper" the Gaussian of T rounds, an estimate; "basic", a valid upper bound, T times
    the eps of one round at delta/T.
    """
    people = budgets.constant(eps0, n=n)
    mu = gspa_mu(people)
    rows = []
    for times in rounds:
        found = compose([(shuffled(people), times)], delta=delta)
        paper = gdp_epsilon(delta=delta, mu=compose_gdp([mu] * times))
        basic = times * central_epsilon(people, delta=delta / times).upper
        rows.append((times, found.lower, found.upper, found.relative_width, paper, basic))
    return pd.DataFrame(rows, columns=["rounds", "lower", "certified", "width", "paper", "basic"])


def divergences(*, eps0: float, n: int, orders: Sequence[int]) -> pd.DataFrame:
    """The Renyi divergence of the pair of n randomized responses, certified on both sides: order, lower, upper."""
    problem = problem_of(budgets.constant(eps0, n=n), binary(), 0)
    found = [renyi(problem, float(order)) for order in orders]
    return pd.DataFrame({"order": orders, "lower": [b.lower for b in found], "upper": [b.upper for b in found]})


def beside_published(*, eps0: float, n: int, orders: Sequence[int]) -> pd.DataFrame:
    """`divergences` and the published bound for any common randomizer: girgis21, and ratio, its to the upper end."""
    table = divergences(eps0=eps0, n=n, orders=orders)
    table["girgis21"] = [girgis21_renyi(eps0, n=n, order=order) for order in orders]
    return table.assign(ratio=table["girgis21"] / table["upper"])


def renyi_over_rounds(*, eps0: float, n: int, delta: float, rounds: Sequence[int]) -> pd.DataFrame:
    """Central eps after T rounds from T times the pair's divergences, an upper bound: rounds, order (best), epsilon."""
    problem = problem_of(budgets.constant(eps0, n=n), binary(), 0)

    @cache
    def divergence(order: int) -> float:
        return renyi_upper(problem, float(order))

    def best(times: int) -> tuple[int, int, float]:
        def epsilon(i: int) -> float:
            order = RENYI_ORDERS[i]
            return renyi_to_epsilon(times * divergence(order), order=order, delta=delta)

        # (order - 1) eps is convex in the order, so eps falls and then rises.
        i = bisect_left(range(len(RENYI_ORDERS) - 1), True, key=lambda i: epsilon(i + 1) >= epsilon(i))
        return times, RENYI_ORDERS[i], epsilon(i)

    return pd.DataFrame([best(times) for times in rounds], columns=["rounds", "order", "epsilon"])


# --- figures -----------------------------------------------------------------------------------------------

LINES = {
    "certified": ("certified", "certified"),
    "paper": ("paper", r"paper: $\sqrt{T} \mu$"),
    "basic": ("reference", "adding up $T$\ncertified rounds"),
}
"""Columns of `over_rounds`: what they are, by the roles of figures, and what they are called."""


@keeps_data
def rounds_curves(table: pd.DataFrame) -> Figure:
    """`over_rounds`: central eps against the number of rounds, a line an account."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for key, (kind, _) in LINES.items():
        axis.plot(table["rounds"], table[key], marker="o", ms=5, clip_on=False, **role(kind))
    axis.set(xlabel="rounds $T$, logarithmic", ylabel=r"central $\epsilon$, logarithmic", xscale="log", yscale="log")
    last = table.iloc[-1]
    name_ends(
        axis, [(last["rounds"], last[key], words, ROLES[kind][0]) for key, (kind, words) in LINES.items()], gap=22
    )
    return figure


@keeps_data
def divergence_curves(table: pd.DataFrame) -> Figure:
    """`beside_published`: the pair's divergence and the published bound against the order."""
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    named = {"upper": ("certified", "the pair,\ncertified"), "girgis21": ("closed form", "Girgis et al.\n2021")}
    for key, (kind, _) in named.items():
        axis.plot(table["order"], table[key], marker="o", ms=5, clip_on=False, **role(kind))
    axis.set(xscale="log", yscale="log", xlabel=r"order $\alpha$, logarithmic", ylabel="Renyi divergence, logarithmic")
    axis.set_xticks(table["order"], [f"{order}" for order in table["order"]])
    axis.xaxis.set_minor_formatter(NullFormatter())
    last = table.iloc[-1]
    name_ends(axis, [(last["order"], last[key], words, ROLES[kind][0]) for key, (kind, words) in named.items()], gap=22)
    return figure


# --- checks ------------------------------------------------------------------------------------------------

_ROUNDING = 1e-11  # of logarithms times orders up to 64, in double precision

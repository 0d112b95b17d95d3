"""Two discrete counterexamples to "any personalized randomizers": signed messages, and k-ary response.

>>> table = krr_table(answers=(10,), local=(4.0,), others=0.01, n=10_000, delta=1e-4)
>>> table["promise"].item(), bool(table["attacked"].item() > 20 * 1e-4)
('broken', True)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from gspa import _validate as check
from gspa import accountant, bounds, budgets, randomizers
from gspa.pair import divergence
from gspa.tradeoff import gdp_delta


def least_constant(delta: float, *, eps: float, mu: float, n: int) -> float:
    """The C that Theorem 2's error term C/sqrt(n-1) needs, if delta(eps) is at least `delta`.

    (15) with s = C/sqrt(n-1) says T(alpha) >= G_mu(alpha + s) - s, so delta(eps) = sup 1 - T(alpha) - e^eps alpha
    <= delta_mu(eps) + (1 + e^eps) s.
    """
    n, eps = check.count(n=n), check.in_range(0, 700, eps=eps)
    delta, mu = check.in_range(0, 1, delta=delta), check.nonnegative(mu=mu)
    return max(0.0, math.sqrt(n - 1) * (delta - gdp_delta(eps, mu=mu)) / (1 + math.exp(eps)))


def judged(attacked: float, certified: float, delta: float) -> str:
    """What is certain of a promise: a delta above the promised one reached, or one not above it not exceeded."""
    delta = check.real(delta=delta)
    if check.real(attacked=attacked) > delta:
        return "broken"
    return "kept" if check.real(certified=certified) <= delta else "open"


def named_messages(*, eps: float, others: float, sizes: Sequence[int], delta: float) -> pd.DataFrame:
    """Randomized response, every message signed with its sender's index: exact for every n.

    Shuffled, the messages are a set from which every user's own report can be read off, so what the server learns of
    the victim is the local mechanism's delta(eps) = (e^{eps_n} - e^eps)/(1 + e^{eps_n}).

    Args:
        eps: the victim's budget.
        others: everybody else's.
        sizes: numbers of users, each >= 2.
        delta: central delta.

    Returns:
        One row a size: `n`, `promised` (eps at delta), `true` (eps at delta), `delta` (the true one at the promised
        eps), `constant` (the least C of Theorem 2 that would cover it).
    """
    alone = budgets.from_array([check.positive(eps=eps)])
    true = accountant.central_epsilon(alone, delta=delta).value
    rows = []
    for n in check.counts(2, sizes=sizes):
        people = budgets.from_array([eps, others], count=[1, n - 1])
        promised, mu = bounds.gspa_epsilon(people, delta=delta), bounds.gspa_mu(people)
        found = accountant.central_delta(alone, eps=promised).value
        constant = least_constant(math.tanh(eps / 2), eps=0.0, mu=mu, n=n)
        rows.append({"n": n, "promised": promised, "true": true, "delta": found, "constant": constant})
    return pd.DataFrame(rows)


def krr_attack(*, local: float, others: float, k: int, n: int, eps: float) -> float:
    """A delta that k-ary randomized response certainly has at eps after shuffling, k >= 3.

    The victim holds the value 0 or 1, all others hold 2, and the server looks at how many zeros and ones there are:
    C ~ Bin(n - 1, 2 q) of the others', each of either kind with probability 1/2, q = 1/(e^others + k - 1).
    Errs downward.

    Args:
        local: the victim's budget, > 0.
        others: everybody else's, >= 0.
        k: number of values.
        n: number of users, >= 2.
        eps: central eps >= 0.
    """
    local, others, eps = check.positive(local=local), check.nonnegative(others=others), check.nonnegative(eps=eps)
    k, n = check.count(3, k=k), check.count(2, n=n)
    victim = randomizers.family("krr", k=k).victim(local)
    victim = replace(victim, hidden=victim.neither)  # a report of any third value changes neither count
    coin = 2 * math.exp(-others) / (1 + (k - 1) * math.exp(-others))
    problem = accountant.Problem(victim, 0.0, np.ones(1), np.zeros(1), np.array([n - 1.0]), coin)
    return divergence(problem.law(slope=accountant.tilt_for(victim, eps)), victim, eps)[0]


def krr_table(
    *, answers: Sequence[int], local: Sequence[float], others: float | None, n: int, delta: float
) -> pd.DataFrame:
    """k-ary randomized response against the promise.

    Args:
        answers: numbers of values k, each >= 3.
        local: the victim's budgets.
        others: everybody else's budget; None for the victim's.
        n: number of users.
        delta: central delta.

    Returns:
        One row for each (k, eps): `k`, `eps`, `promised` (eps at delta), `attacked` (a delta certainly reached there),
        `certified` (a delta certainly not exceeded), `times` (attacked over delta), `promise`, and `pair`: certified
        over the delta of the paper's pair (Theorem 1) at the same eps: at most 1 where that pair dominates.
    """
    rows = []
    n, delta = check.count(2, n=n), check.probability(allow_zero=False, delta=delta)
    local = check.row(local=local)
    for k in check.row(answers=answers):
        for eps in local:
            people = budgets.from_array([eps, eps if others is None else others], count=[1, n - 1])
            promised = bounds.gspa_epsilon(people, delta=delta)
            attacked = krr_attack(local=eps, others=float(people.eps[-1]), k=k, n=n, eps=promised)
            certified = accountant.central_delta(people, eps=promised, mechanism="krr", k=k).upper
            pair = accountant.central_delta(people, eps=promised).lower
            rows.append(
                {
                    "k": k,
                    "eps": eps,
                    "promised": promised,
                    "attacked": attacked,
                    "certified": certified,
                    "times": attacked / delta,
                    "promise": judged(attacked, certified, delta),
                    "pair": certified / pair if pair > 0 else math.nan,
                }
            )
    return pd.DataFrame(rows)

"""Fewer honest users than reports: collusion, malice and dropout.

Users who collude with the server, deviate or never report are no clones to hide among. What is left is a
smaller population, and in the worst case those who are left hide the victim least.

>>> from gspa import budgets
>>> left = honest_only(budgets.from_array([0.1, 2.0], count=[90, 10]), honest=50)
>>> left.eps.tolist(), left.count.tolist()
([0.1, 2.0], [40, 10])
"""

from __future__ import annotations

import numpy as np

from gspa import _validate as check
from gspa.budgets import Budgets
from gspa.errors import InvalidValue


def honest_only(budgets: Budgets, *, honest: int) -> Budgets:
    """The worst `honest` of the users to be among: those with the smallest clone probabilities.

    A clone probability (1 - delta_j) r(eps_j) falls with eps_j, so for one common delta the users of the
    smallest eps are the ones whose loss hurts most; the user of the largest eps, the worst victim, stays. Not so for
    reports on a line with unequal scales (`gspa.blanket`). Every
    bound that grows with the others' clones (`gspa.accountant`, `gspa.exact_rr`) is then valid whoever
    deviates, with n replaced by the number of honest users.

    Args:
        budgets: all N users; one common local delta.
        honest: how many follow the protocol, 1 to N.

    Raises:
        InvalidValue: honest outside 1 to N, or local deltas that differ.
    """
    honest = check.count(honest=honest)
    if honest > budgets.n:
        raise InvalidValue("honest", honest, f"at most n = {budgets.n}")
    if budgets.delta.min() < budgets.delta_max:
        raise InvalidValue(
            "delta", budgets.delta.tolist(), "the same for all users", "remove the deviating users by hand"
        )
    order = np.argsort(budgets.eps, kind="stable")
    before = np.cumsum(budgets.count[order]) - budgets.count[order]
    lost = np.clip(budgets.n - honest - before, 0, budgets.count[order])
    count = budgets.count.copy()
    count[order] -= lost
    kept = count > 0
    return Budgets(budgets.eps[kept], budgets.delta[kept], count[kept], budgets.label)

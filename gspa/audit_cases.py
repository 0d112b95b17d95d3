"""The settings of the auditing page: equal and personal budgets, bits, items and reports on a line.

>>> [case.name for case in cases(n=100, loud=2.0, quiet=0.01)][1]
'RR, one user at 2, 99 at 0.01'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gspa import _validate as check
from gspa import budgets, histograms
from gspa.budgets import Budgets
from gspa.errors import InvalidValue
from gspa.histograms import Worlds
from gspa.tradeoff import gdp_epsilon


@dataclass(frozen=True, eq=False)
class Case:
    """One population to audit.

    Attributes:
        name: for tables and figures.
        mechanism: "rr", "krr", "laplace" or "gaussian".
        people: local budgets, as the paper and the published bounds are given them.
        delta: central delta.
        k: number of items of k-ary randomized response, else 2.
        scales: noise scales of reports on a line, one per group of `people`; empty for the others.
    """

    name: str
    mechanism: str
    people: Budgets
    delta: float
    k: int = 2
    scales: tuple[float, ...] = ()

    def worlds(self) -> list[Worlds]:
        """What to attack: the others all hold the victim's first item, or all a third one."""
        if self.scales:
            return [histograms.reports(self.scales, count=self.people.count, mechanism=self.mechanism)]
        found = [histograms.randomized_response(self.people, k=self.k)]
        if self.k > 2:
            hold = np.zeros((self.people.eps.size, self.k))
            hold[:, 2] = self.people.count
            hold[int(np.argmax(self.people.eps)), 2] -= 1
            found.append(histograms.randomized_response(self.people, k=self.k, inputs=hold))
        return found


def _gaussian(name: str, sigma: Sequence[float], count: Sequence[int], delta: float, local_delta: float) -> Case:
    """Gaussian reports; the paper is given the least eps_i that hold at the local delta (analytic, not classical)."""
    eps = [gdp_epsilon(delta=local_delta, mu=1 / s) for s in sigma]
    return Case(name, "gaussian", budgets.from_array(eps, local_delta, count), delta, scales=tuple(sigma))


def _laplace(name: str, people: Budgets, delta: float) -> Case:
    return Case(name, "laplace", people, delta, scales=tuple((1 / people.eps).tolist()))


def cases(*, n: int = 10_000, delta: float = 1e-4, loud: float = 2.0, quiet: float = 0.01) -> list[Case]:
    """The settings of the page: equal and personal budgets, bits, items and reports on a line, many users and few.

    Args:
        n: users of the large settings, >= 10.
        delta: their central delta, in (0, 1).
        loud: eps of one user in the personal settings.
        quiet: eps of everybody else there, at most `loud`.

    Raises:
        InvalidValue: an argument out of range.
    """
    n = check.count(10, n=n)
    delta = check.probability(allow_zero=False, delta=delta)
    loud, quiet = check.positive(loud=loud), check.positive(quiet=quiet)
    if quiet > loud:
        raise InvalidValue("quiet", quiet, f"at most loud = {loud:g}")
    one = budgets.from_array([loud, quiet], count=[1, n - 1])
    # Figure 3's shares: conservative, moderate and liberal users.
    moderate, liberal = round(0.37 * n), max(round(0.09 * n), 1)
    groups = budgets.from_array([0.1, 0.5, 1.0], count=[n - moderate - liberal, moderate, liberal])
    crowd = budgets.from_array([4.0, 0.01], count=[1, 9_999])
    stands_out = f"one user at {loud:g}, {n - 1:,} at {quiet:g}"
    return [
        Case(f"RR, {n:,} users at 0.5", "rr", budgets.constant(0.5, n=n), delta),
        Case(f"RR, {stands_out}", "rr", one, delta),
        Case(f"RR, groups of Figure 3, {n:,} users", "rr", groups, delta),
        Case("RR, 1,000 users at 4", "rr", budgets.constant(4.0, n=1_000), 1e-6),
        Case("3-ary RR, 20 users at 1", "krr", budgets.constant(1.0, n=20), 1e-3, k=3),
        Case("10-ary RR, 1,000 users at 2", "krr", budgets.constant(2.0, n=1_000), 1e-4, k=10),
        Case("100-ary RR, one user at 4, 9,999 at 0.01", "krr", crowd, 1e-4, k=100),
        _laplace(f"Laplace, {n:,} users at 1", budgets.constant(1.0, n=n), delta),
        _laplace(f"Laplace, {stands_out}", one, delta),
        _laplace(f"Laplace, groups of Figure 3, {n:,} users", groups, delta),
        _laplace("Laplace, 10 users at 4", budgets.constant(4.0, n=10), 1e-2),
        _gaussian(f"Gaussian, sigma 1, {n:,} users", [1.0], [n], delta, delta / 100),
        _gaussian(f"Gaussian, one sigma 1, {n - 1:,} at 100", [1.0, 100.0], [1, n - 1], delta, delta / 100),
    ]

"""The crowds of Figure 2, which page 07 looks at, too."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gspa.accountant import budgets

Population = tuple[str, str, budgets.Budgets]  # a law of Table 2, its label, and users with such budgets
_FIRST = 1_000  # "we repeat the first 10^3 parameters"
_DRAWN = ("unif1", "unif2")  # the others are the same for every seed, and balanced at every n


def sizes(n_min: int, n_max: int, steps: int) -> list[int]:
    """`steps` numbers of users from n_min to n_max, equally spaced and rounded; fewer where rounding merges two.

    >>> sizes(1000, 10_000, 4)
    [1000, 4000, 7000, 10000]
    """
    return list(dict.fromkeys(round(n) for n in np.linspace(n_min, n_max, steps)))


def populations(*, n_min: int = 1_000, n_max: int = 10_000, steps: int = 37, seed: int = 0) -> Iterator[Population]:
    """Table 2's distributions over n; the uniform budgets are drawn for 1,000 users and repeated, as the paper says."""
    for index, (name, law) in enumerate(budgets.TABLE2.items()):
        first = budgets.draw(name, n=_FIRST, rng=np.random.default_rng([seed, index]))
        for n in sizes(n_min, n_max, steps):
            people = budgets.repeat_first(first, n=n) if name in _DRAWN else budgets.draw(name, n=n, rng=seed)
            yield name, f"{law.title}: {law.label}", people

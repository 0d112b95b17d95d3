"""Shuffled reports as a privacy loss distribution of `dp_accounting` (the optional extra `dp`).

At the front door it is `gspa.to_dp_accounting`. Google's library composes what it returns with its own mechanisms. Ten
shuffled releases and one central sum with Gaussian noise of 20 times the most that replacing a record changes::

    import gspa
    from dp_accounting.pld import privacy_loss_distribution as google

    step = 1e-4
    shuffled = gspa.to_dp_accounting(eps=0.5, n=10_000, rounds=10, step=step)
    central = google.from_gaussian_mechanism(20.0, value_discretization_interval=step)
    both = shuffled.compose(central)
    both.get_epsilon_for_delta(1e-6)

Its answers are floating-point estimates with its own rounding and truncation; `gspa.accountant.rounds` has intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gspa.accountant import arguments as check
from gspa.accountant.errors import DataUnavailable, OutsideValidity
from gspa.accountant.losses import merge, spread
from gspa.accountant.rounds import Round, checked

_EXPORT = "export to dp_accounting"
_POINTS = 3e6  # of one grid of the library's: some seconds
_LEAST_ASKED = 1e-10  # delta, for all rounds: of a smaller one the law says less, and nothing that is false


def compose_with_dp_accounting(
    rounds: Sequence[tuple[Round, int]], *, step: float = 1e-4, pessimistic: bool = True
) -> Any:
    """Rounds of `gspa.accountant.rounds`, composed by `dp_accounting`.

    Returns and errors are those of `gspa.to_dp_accounting`, and an empty list is refused.

    Args:
        rounds: (round, times) each, as in `gspa.accountant.rounds.compose`.
        step: the library's value_discretization_interval, in (0, 1]. At most a tenth of the loss's standard deviation,
            or the answers are far from the truth.
        pessimistic: whether the library's deltas are at least the true ones, or at most, up to its floating-point
            error, about 1e-15 per mass.
    """
    try:
        from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution as Law
    except ImportError as error:
        raise DataUnavailable("dp_accounting is not installed; pip install 'gspa[dp]'") from error
    step = check.in_range(0, 1, step=check.positive(step=step))
    total: Any = None
    for one, times in checked(rounds):
        (masses, infinite), *added = _masses(one, times, step, pessimistic)
        other = added[0] if added else ()
        part = Law.create_from_rounded_probability(masses, infinite, step, pessimistic, *other, symmetric=not added)
        try:
            part = part.self_compose(times)
        except (ValueError, OverflowError, MemoryError) as error:
            reason = f"{times:,} times: {' '.join(str(error).split())}"
            raise OutsideValidity(_EXPORT, "a composition that the library can hold", reason) from error
        total = part if total is None else total.compose(part)
    return total


def _masses(one: Round, times: int, step: float, pessimistic: bool) -> list[tuple[dict[int, float], float]]:
    """Masses by their place on the grid, and the infinite loss's, of the library's "remove", then of its "add"."""
    if len(one.pairs) > 1:
        hint = f"{one.label}: which user is the worst is not known"
        raise OutsideValidity(_EXPORT, "a known worst user", hint)
    laws = []
    for pair in filter(None, (*one.pairs, one.exchanged)):
        losses = pair(_LEAST_ASKED, times)[0 if pessimistic else 1]
        if (points := float(np.ptp(losses.loss)) / step) > _POINTS:
            hint = f"{one.label}: {points:.3g} points at step {step:g}; take a larger step"
            raise OutsideValidity(_EXPORT, f"a grid of at most {_POINTS:g} points", hint)
        law = (spread if pessimistic else merge)(losses.loss, losses.mass, step, losses.missing)
        masses = {law.first + k: float(mass) for k, mass in enumerate(law.mass) if mass > 0}
        laws.append((masses, min(law.infinite, 1.0)))
    return laws

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

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gspa.accountant import arguments as check
from gspa.accountant.errors import DataUnavailable, InvalidValue, OutsideValidity
from gspa.accountant.losses import PrivacyLoss, merge, privacy_loss, spread
from gspa.accountant.one_round import Problem
from gspa.accountant.rounds import Round

_EXPORT = "export to dp_accounting"
_POINTS = 3e6  # of one grid of the library's: some seconds
_LEAST_ASKED = 1e-10  # delta, for all rounds: of a smaller one the law says less, and nothing that is false
_FAR = 1e100  # beyond it the library's squares overflow
_HINT = "dp_accounting is not installed; pip install 'gspa[dp]'"


def _google() -> Any:
    try:
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError as error:
        raise DataUnavailable(_HINT) from error
    return privacy_loss_distribution


def from_losses(law: PrivacyLoss, exchanged: PrivacyLoss | None = None, *, pessimistic: bool) -> Any:
    """A `dp_accounting` PrivacyLossDistribution of masses on a grid.

    Args:
        law: masses on the grid, from `gspa.accountant.losses.privacy_loss`; the library's direction "remove".
        exchanged: its direction "add"; None where that is the same.
        pessimistic: the side on which `law` errs; the library keeps to it.

    Raises:
        DataUnavailable: dp_accounting is not installed.
    """
    google = _google()
    (masses, infinite), other = (
        (None, None)
        if one is None
        else ({one.first + k: float(mass) for k, mass in enumerate(one.mass) if mass > 0}, min(one.infinite, 1.0))
        for one in (law, exchanged)
    )
    return google.PrivacyLossDistribution.create_from_rounded_probability(
        masses, infinite, law.step, pessimistic, *other, symmetric=exchanged is None
    )


def of_problem(problem: Problem, *, step: float = 1e-4, pessimistic: bool = True) -> Any:
    """The pair of one victim as a `dp_accounting` PrivacyLossDistribution.

    Pessimistic: the library's deltas are at least the pair's. Optimistic: at most. Up to the
    library's floating-point error, about 1e-15 per mass.

    Args:
        problem: victim and clones.
        step: value_discretization_interval; the same as that of what it is composed with. At most a
            tenth of the loss's standard deviation, or the answers are far from the truth.
        pessimistic: which side to err on.

    Raises:
        InvalidValue: step out of range.
        DataUnavailable: dp_accounting is not installed.
        OutsideValidity: see `gspa.accountant.losses.atoms`.
    """
    _google()
    law = privacy_loss(problem, step=check.positive(step=step), pessimistic=pessimistic)
    return from_losses(law, pessimistic=pessimistic)


def compose_with_dp_accounting(
    rounds: Sequence[tuple[Round, int]],
    *,
    step: float = 1e-4,
    sampled: Sequence[tuple[float, float, int]] = (),
    pessimistic: bool = True,
) -> Any:
    """Rounds of `gspa.accountant.rounds` and Poisson-subsampled Gaussians, composed by `dp_accounting`.

    The subsampled Gaussian there is for neighbours that differ by adding or removing a record, the
    shuffled rounds here for replacing one: the composition is the library's user's to interpret.

    Args:
        rounds: (round, times) each, as in `gspa.accountant.rounds.compose`.
        step: value_discretization_interval.
        sampled: (noise multiplier, sampling probability, times) each.
        pessimistic: which side to err on.

    Returns:
        A `dp_accounting` PrivacyLossDistribution, ready for `get_epsilon_for_delta`.

    Raises:
        InvalidValue: nothing to compose, times below 1, step or what is sampled out of range.
        DataUnavailable: dp_accounting is not installed.
        OutsideValidity: a round whose worst user is not known; a grid too large.
    """
    google = _google()
    step = check.positive(step=step)
    parts: list[Any] = []
    for i, entry in enumerate(check.row(rounds=rounds)):
        if not (isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], Round)):
            raise InvalidValue(f"rounds[{i}]", entry, "(round, times), a round of gspa.accountant.rounds")
        one, times = entry[0], check.count(times=entry[1])
        if len(one.problems) > 1:
            hint = f"{one.label}: which user is the worst is not known"
            raise OutsideValidity(_EXPORT, "a known worst user", hint)
        if one.problems:
            parts.append(_repeated(of_problem(one.problems[0], step=step, pessimistic=pessimistic), times))
        elif one.pair is not None:
            parts.append(_repeated(_of_pair(one, times, step, pessimistic), times))
        elif one.mu > 0:
            parts.append(_gaussian(1 / (one.mu * math.sqrt(times)), 1.0, step, pessimistic))
        else:
            revealed = -math.expm1(times * math.log1p(-one.local_delta))
            parts.append(google.from_privacy_parameters(_parameters(revealed), step))
    for i, entry in enumerate(check.row(sampled=sampled)):
        if not (isinstance(entry, tuple) and len(entry) == 3):
            raise InvalidValue(f"sampled[{i}]", entry, "(noise multiplier, sampling probability, times)")
        multiplier, probability, times = entry
        probability = check.in_range(0, 1, probability=probability)
        if probability < 1 / _FAR:
            raise InvalidValue("probability", probability, f"in [{1 / _FAR:g}, 1]", "what is never sampled is left out")
        noise = _gaussian(check.positive(multiplier=multiplier), probability, step, pessimistic)
        parts.append(_repeated(noise, check.count(times=times)))
    if not parts:
        raise InvalidValue("rounds", [], "a non-empty list, or something sampled")
    total = parts[0]
    for part in parts[1:]:
        total = total.compose(part)
    return total


def _of_pair(one: Round, times: int, step: float, pessimistic: bool) -> Any:
    """A round that is known by its curves of delta; what is asked of the law later may be any delta."""
    laws = []
    for pair in filter(None, (one.pair, one.exchanged)):
        losses = pair(_LEAST_ASKED, times)[0 if pessimistic else 1]
        if (points := float(np.ptp(losses.loss)) / step) > _POINTS:
            hint = f"{one.label}: {points:.3g} points at step {step:g}; take a larger step"
            raise OutsideValidity(_EXPORT, f"a grid of at most {_POINTS:g} points", hint)
        put = spread if pessimistic else merge
        shown, hidden = one.local_delta, 1 - one.local_delta
        infinite = shown + hidden * losses.missing if pessimistic else shown
        laws.append(put(losses.loss, hidden * losses.mass, step, infinite))
    return from_losses(*laws, pessimistic=pessimistic)


def _gaussian(multiplier: float, probability: float, step: float, pessimistic: bool) -> Any:
    """The library's Gaussian, where its grid can be built."""
    if not 1 / _FAR <= multiplier <= _FAR or (12 + 0.5 / multiplier) / multiplier > _POINTS * step:
        reason = f"noise multiplier {multiplier:g} at step {step:g}"
        raise OutsideValidity(
            _EXPORT, f"a noise multiplier up to {_FAR:g}, and a grid of at most {_POINTS:g} points", reason
        )
    return _google().from_gaussian_mechanism(
        multiplier,
        value_discretization_interval=step,
        pessimistic_estimate=pessimistic,
        sampling_prob=probability,
    )


def _repeated(one: Any, times: int) -> Any:
    try:
        return one.self_compose(times)
    except (ValueError, OverflowError, MemoryError) as error:
        reason = f"{times:,} times: {' '.join(str(error).split())}"
        raise OutsideValidity(_EXPORT, "a composition that the library can hold", reason) from error


def _parameters(delta: float) -> Any:
    from dp_accounting.pld import common

    return common.DifferentialPrivacyParameters(0.0, delta)

"""Checks of the claims about mean and frequency estimation."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from gspa import experiments
from gspa.claims.checks import settles
from gspa.claims.outcome import Outcome, not_yet

_SIZES = {"paper": {"points": 25, "repeats": 1_000}, "quick": {"points": 6, "repeats": 200}}
# Standard errors that a correct formula exceeds less than once in a million comparisons.
_Z = 5.0
# A bias below this is rounding of a sum over users, not a bias.
_ROUNDING = 1e-9


def _sweep(*, points: int, repeats: int) -> pd.DataFrame:
    return experiments.frequency_sweep(points=points, repeats=repeats)


def _standard_errors(gap: float, error: float) -> float:
    """A gap in standard errors; large budgets may leave no spread, where only rounding is no gap."""
    if gap <= _ROUNDING:
        return 0.0
    return gap / error if error > 0 else math.inf


@settles("G-A2")
def frequency_unbiased(
    *, profile: str = "paper", sweep: pd.DataFrame | None = None, biases: Mapping[str, float] | None = None
) -> Outcome:
    """E(z) = c: with equal budgets, with bits dealt at random, and with bits that follow the budgets."""
    sweep = _sweep(**_SIZES[profile]) if sweep is None else sweep
    biases = experiments.frequency_bias() if biases is None else biases
    gaps = (sweep["bias"] - sweep["exact_bias"]).abs()
    worst = max(_standard_errors(gap, error) for gap, error in zip(gaps, sweep["bias_error"], strict=True))
    formula = _standard_errors(abs(biases["simulated"] - biases["conservative"]), biases["simulated_error"])
    low, high = biases["conservative"], biases["liberal"]
    evidence = {
        "bias with equal budgets (exact)": f"{biases['equal']:.1e}",
        "bias with bits dealt at random, mean over deals": (
            f"{biases['independent']:.1e} ± {biases['independent_error']:.1e}"
        ),
        "bias with the ones dealt to conservative users first (exact)": f"{low:+.4f}",
        "the same, simulated": f"{biases['simulated']:+.4f} ± {biases['simulated_error']:.4f}",
        "bias with the ones dealt to liberal users first (exact)": f"{high:+.4f}",
        f"largest gap of simulation and closed form, {len(sweep)} points": f"{worst:.1f} standard errors",
    }
    if max(formula, worst) > _Z:
        return Outcome(
            "G-A2",
            "not checkable",
            "Simulation and closed form disagree, so this run proves nothing.",
            evidence,
        )
    if biases["weight_spread"] == 0 or not 0 < biases["share"] < 1:
        reason = "Bits or budgets are all equal in this run, so they cannot follow each other."
        return not_yet("G-A2", missing="settings", reason=reason)
    sound = (
        abs(biases["equal"]) < _ROUNDING and abs(biases["independent"]) <= _Z * biases["independent_error"] + _ROUNDING
    )
    if not sound:
        return Outcome("G-A2", "refuted", "Biased even with bits that do not depend on the budgets.", evidence)
    if max(abs(low), abs(high)) < _ROUNDING:
        return Outcome(
            "G-A2",
            "verified",
            "Unbiased in every case tried, bits that follow the budgets included.",
            evidence,
        )
    return Outcome(
        "G-A2",
        "holds with correction",
        f"Unbiased when bits do not depend on budgets; off by {low:+.3f} when conservative users hold the "
        f"ones and by {high:+.3f} when liberal users do.",
        evidence,
        correction=r"$\mathbb{E}(z) = \sum_i x_i \tanh(\epsilon_i/2) / \sum_i \tanh(\epsilon_i/2)$, which is $c$ "
        "when bits do not depend on budgets or all budgets are equal.",
    )

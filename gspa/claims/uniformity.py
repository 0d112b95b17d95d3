"""Checks of the blog's application to uniformity testing, eqs. (6) and (7)."""

from __future__ import annotations

import pandas as pd

from gspa import complexities, scaling, uniformity
from gspa.claims.checks import settles
from gspa.claims.learning import (
    CONSTANT,
    NECESSARY,
    ORDER,
    SOLVED,
    algebra,
    exponent_rows,
    exponent_tolerance,
    off_exponents,
    undecided,
    within,
)
from gspa.claims.outcome import Outcome, not_yet

_TOO_FEW = "The small profile simulates too few testers to place an exponent within the tolerance."


def _local(
    name: str, coin: str, equation: str, profile: str, fitted: pd.DataFrame | None, necessary: pd.DataFrame | None
) -> Outcome:
    if profile == "quick":
        return not_yet(name, missing="size", reason=_TOO_FEW)
    problem = f"{coin} coin"
    if fitted is None:
        regimes = [regime for regime in uniformity.LOCAL if regime.startswith(coin)]
        fitted = scaling.fit_regimes(uniformity.local_scaling(regimes=regimes), uniformity.LOCAL)
    necessary = complexities.necessary_over_stated(problem, **NECESSARY) if necessary is None else necessary
    tolerance = exponent_tolerance(name)
    judged = scaling.judge(fitted, tolerance=tolerance)
    low, high = float(necessary["ratio"].min()), float(necessary["ratio"].max())
    evidence = {
        **exponent_rows(fitted),
        f"the published lower bound over eq. {equation}, {len(necessary)} pairs (k, eps)": [low, high],
        "tolerance on an exponent": tolerance,
    }
    if judged == "outside" or high / low > ORDER:
        why = (
            off_exponents(fitted, tolerance=tolerance)
            or f"the lower bound is {low:.2g} to {high:.2g} times eq. {equation}"
        )
        return Outcome(name, "refuted", f"Not the stated orders: {why}.", evidence)
    if judged == "open":
        return undecided(name, fitted, tolerance=tolerance)
    return Outcome(
        name,
        "verified",
        f"Sufficient: {within(fitted, tolerance=tolerance)} for a simulated tester, in two regimes. Necessary: the "
        f"published lower bound for one-shot protocols, evaluated, is {low:.2g} to {high:.2g} times eq. {equation}; "
        f"its proof is not re-done here.",
        evidence,
    )


@settles("B-11")
def local_public_coin(
    *, profile: str = "paper", fitted: pd.DataFrame | None = None, necessary: pd.DataFrame | None = None
) -> Outcome:
    """Eq. (6): exponents of the tester with a random hash, and the lower bound.

    Args:
        profile: "quick" settles nothing.
        fitted: from `scaling.fit_regimes` on `uniformity.local_scaling`, the public regimes.
        necessary: from `complexities.necessary_over_stated("public coin", ...)`.
    """
    return _local("B-11", "public", "(6)", profile, fitted, necessary)


@settles("B-12")
def local_private_coin(
    *, profile: str = "paper", fitted: pd.DataFrame | None = None, necessary: pd.DataFrame | None = None
) -> Outcome:
    """Eq. (7): exponents of the tester without a common seed, and the lower bound; arguments as for eq. (6)."""
    return _local("B-12", "private", "(7)", profile, fitted, necessary)


def _shuffled(
    name: str,
    coin: str,
    profile: str,
    fitted: pd.DataFrame | None,
    terms: pd.DataFrame | None,
    solved: pd.DataFrame | None,
) -> Outcome:
    if profile == "quick":
        return not_yet(name, missing="size", reason=_TOO_FEW)
    problem = f"{coin} coin"
    if fitted is None:
        regimes = [regime for regime in uniformity.SHUFFLED if regime.startswith(coin)]
        fitted = scaling.fit_regimes(uniformity.shuffled_scaling(regimes=regimes), uniformity.SHUFFLED)
    terms = complexities.substitutions() if terms is None else terms
    solved = complexities.solved_over_printed(problem, **SOLVED) if solved is None else solved
    tolerance, (right, rows) = exponent_tolerance(name), algebra(problem, terms)
    judged, low, high = scaling.judge(fitted, tolerance=tolerance), solved["ratio"].min(), solved["ratio"].max()
    evidence = {
        **rows,
        f"n by eq. (1) and the local tester over the printed order, {len(solved)} points, eps <= 1": [
            float(low),
            float(high),
        ],
        **exponent_rows(fitted),
        "tolerance on an exponent": tolerance,
    }
    if not right or judged == "outside" or high > CONSTANT or low < 1 / CONSTANT:
        why = off_exponents(fitted, tolerance=tolerance) or (
            "the algebra gives other terms" if not right else "the constants grow"
        )
        return Outcome(name, "refuted", f"Not the stated orders: {why}.", evidence)
    if judged == "open":
        return undecided(name, fitted, tolerance=tolerance)
    return Outcome(
        name,
        "verified",
        f"The algebra gives the printed terms and no other. With eq. (1)'s constants n is {low:.1f} to {high:.1f} "
        f"times the printed order for eps up to 1. In the experiment {within(fitted, tolerance=tolerance)}, for small "
        f"and for large eps_L.",
        evidence,
    )


@settles("B-13")
def shuffled_private_coin(
    *,
    profile: str = "paper",
    fitted: pd.DataFrame | None = None,
    terms: pd.DataFrame | None = None,
    solved: pd.DataFrame | None = None,
) -> Outcome:
    """Eq. (5) in eq. (7): algebra, constants, and a shuffled tester without a common seed.

    Args:
        profile: "quick" settles nothing.
        fitted: from `scaling.fit_regimes` on `uniformity.shuffled_scaling`, the private regimes.
        terms: from `complexities.substitutions`.
        solved: from `complexities.solved_over_printed("private coin", ...)`.
    """
    return _shuffled("B-13", "private", profile, fitted, terms, solved)


@settles("B-14")
def shuffled_public_coin(
    *,
    profile: str = "paper",
    fitted: pd.DataFrame | None = None,
    terms: pd.DataFrame | None = None,
    solved: pd.DataFrame | None = None,
) -> Outcome:
    """Eq. (5) in eq. (6): algebra, constants, and a shuffled tester with a random hash; arguments as for eq. (7)."""
    return _shuffled("B-14", "public", profile, fitted, terms, solved)

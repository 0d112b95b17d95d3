"""Checks of Lemma 4 (the dominating pair) and Lemma 1 (the decomposition)."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd

from gspa import decomposition, decomposition_tables, dominating, gallery, infeasible
from gspa import finite_mechanisms as finite
from gspa.claims.checks import settles
from gspa.claims.outcome import Outcome, not_yet

_RATIO = 3  # e^eps of the exact mechanisms
_DELTA = Fraction(1, 10)
# (cells of reports on a line, random mechanisms)
_SIZES = {"paper": (60, 2), "quick": (20, 1)}
_EPS = (0.25, 0.5, 1.0, 2.0)
# Rounding of sums of some hundred masses; exact mechanisms are at 0.
_ROUNDING = 1e-9
# HiGHS was asked for 1e-10; a distance above this is one.
_DISTANCE = 1e-8


def mechanisms(
    ratio: int = _RATIO,
    delta: Fraction = _DELTA,
    *,
    seed: int = 2024,
    draws: int = 2,
    cells: int = 60,
    sigma: float = 1.0,
) -> list[finite.Mechanism]:
    """The gallery on which both lemmas are tried."""
    return [
        *gallery.pure(ratio, seed=seed, draws=draws, cells=cells),
        *gallery.approximate(ratio, delta, sigma=sigma, cells=cells),
    ]


def _sized(profile: str) -> list[finite.Mechanism]:
    cells, draws = _SIZES[profile]
    return mechanisms(cells=cells, draws=draws)


@settles("G-L4")
def dominating_pair(
    *, profile: str = "paper", table: pd.DataFrame | None = None, gaussian: pd.DataFrame | None = None
) -> Outcome:
    """One channel turns the quaternary pair into both laws: built, searched for, and by trade-off functions."""
    table = dominating.domination(_sized(profile)) if table is None else table
    gaussian = dominating.gaussian_pairs(_EPS, mu=1.0) if gaussian is None else gaussian
    exact = table[table["exact"]]
    evidence: dict[str, object] = {
        "mechanisms (with exact fractions)": f"{len(table)} ({len(exact)})",
        "largest error of the explicit channel, exact mechanisms": float(exact["error"].max()),
        "largest error of the explicit channel, all": float(table["error"].max()),
        "largest distance that linear programming leaves": float(table["distance"].max()),
        "the same with a tenth less of delta (of eps, if pure), least": float(table["weaker"].min()),
        "least height of a mechanism's trade-off curve over its pair's": float(table["gap"].min()),
        f"least height of the uncut Gaussian's curve over its pairs', {len(gaussian)} eps": float(
            gaussian["gap"].min()
        ),
        "the same with a tenth less of delta": float(gaussian["gap_weaker"].max()),
    }
    built = table["error"] <= _ROUNDING
    found = table["distance"] <= _DISTANCE
    above = bool((table["gap"] >= -_ROUNDING).all() and (gaussian["gap"] >= -_ROUNDING).all())
    if (table["weaker"] <= _DISTANCE).any() or (gaussian["gap_weaker"] >= -_ROUNDING).any():
        return not_yet(
            "G-L4",
            missing="settings",
            reason="A budget here is so small that a tenth less of it makes no difference above rounding.",
        )
    if (built & ~found).any():
        return Outcome("G-L4", "not checkable", "Linear programming misses a channel that was written down.", evidence)
    if not found.all() or not above:
        names = "; ".join(table.loc[~found, "mechanism"]) or "trade-off curves"
        return Outcome("G-L4", "refuted", f"Not dominated: {names}.", evidence)
    if not built.all():
        return Outcome("G-L4", "not checkable", "A channel exists, but not the one written down.", evidence)
    return Outcome(
        "G-L4",
        "verified",
        f"For every two inputs of {len(table)} mechanisms one channel, the same for both, makes their laws of the "
        f"pair: exactly for the {len(exact)} with fractions, within {table['error'].max():.0e} for the others.",
        evidence,
    )


def _contradictions(table: pd.DataFrame, cases: pd.DataFrame) -> list[str]:
    """What this run says twice and differently."""
    said = []
    compared = cases[cases["largest"] != ""]
    enough = compared["largest"].map(Fraction) >= compared["claimed"].map(Fraction)
    if (enough != compared["holds"]).any():
        said.append("the closed form and a certificate disagree")
    split = cases[(cases["statement"] == "corrected") & (cases["case"] == "Lemma 4's own pair")]
    if table["error"].max() > _ROUNDING or not split["holds"].all():
        said.append("the corrected eqs. (9) and (10) fail")
    pure = table[table["delta"] == 0]
    if (pure["share"] < pure["general"] - _ROUNDING).any() or pure["variation_error"].max() > _ROUNDING:
        said.append("a coefficient that is proved for every pure mechanism fails")
    return said


@settles("G-L1")
def decomposes(
    *, profile: str = "paper", table: pd.DataFrame | None = None, cases: pd.DataFrame | None = None
) -> Outcome:
    """Eqs. (9) to (11) as linear equations: over a gallery, and the smallest failures with exact certificates."""
    table = decomposition_tables.decompositions(_sized(profile)) if table is None else table
    cases = infeasible.counterexamples(_RATIO, delta=_DELTA) if cases is None else cases
    pure, approximate = table[table["delta"] == 0], table[table["delta"] > 0]
    bad, bad_approximate = pure[~pure["holds"]], approximate[~approximate["holds"]]
    evidence: dict[str, object] = {
        "pure mechanisms that split as claimed": "; ".join(pure.loc[pure["holds"], "mechanism"]) or "none",
    }
    if len(bad):
        evidence["those that do not, with their share of the claimed coefficient"] = "; ".join(
            f"{name} {share:.3f}" for name, share in zip(bad["mechanism"], bad["share"], strict=True)
        )
    for row in cases.itertuples():
        label = f"{row.case!s} ({row.statement!s})"
        evidence[label] = "no contradiction" if row.holds else str(row.contradiction)
        if row.largest:
            evidence[f"{label}: largest coefficient"] = f"{row.largest!s}, claimed {row.claimed!s}"
    ternary = finite.randomized_response(_RATIO, k=3).rows
    parts = decomposition.victim_parts(ternary[0], ternary[1], ratio=Fraction(_RATIO))
    for text, name in (("aaai", "AAAI"), ("arxiv", "arXiv")):
        distance = decomposition_tables.proof_distance(_RATIO, _DELTA, text=text)
        evidence[f"proof, {name}'s laws of R': distance that any channel leaves to binary RR"] = distance
        lower, upper = decomposition.printed_sets(_RATIO, _DELTA, text=text)
        evidence[f"proof, L and U by {name}'s conditions"] = f"{{{lower}}}, {{{upper}}}"
    evidence["proof, W_1: distance of its two laws"] = str(decomposition.rest_distance(_RATIO, _DELTA))
    away = decomposition.hull_distance(parts[0], parts[1], ternary[2])
    evidence["proof, 3-ary RR: R(x_2) from the nearest post-processing of outcomes 0 and 1"] = str(away)
    solved, shares = int(approximate["shared"].sum()), approximate["share"]
    evidence |= {
        "mechanisms with delta > 0 for which (9) and (10) hold": f"{solved} of {len(approximate)}",
        "corrected: largest error of (9) and (10), own part of weight delta each": float(table["error"].max()),
        "corrected: least of (largest coefficient) / (e^-eps/2), pure": float((pure["share"] / pure["general"]).min()),
        "corrected: largest error of the form with a = TV/(e^eps - 1), pure": float(pure["variation_error"].max()),
        "corrected: clone coefficients / claimed, delta > 0": f"{shares.min():.3f} to {shares.max():.3f}",
    }
    if said := _contradictions(table, cases):
        return Outcome("G-L1", "not checkable", f"This run contradicts itself: {'; '.join(said)}.", evidence)
    proved = cases[(cases["statement"] == "arXiv") & cases["common"] & (cases["delta"] == "0") & ~cases["holds"]]
    if len(bad) or len(proved):
        exact = f"; that {proved['case'].iloc[0]} has none is proved in fractions" if len(proved) else ""
        return Outcome(
            "G-L1",
            "refuted",
            f"Of {len(pure)} pure mechanisms, each the same for all users, {len(bad)} have no decomposition with eq. "
            f"(11)'s coefficient{exact}. With delta > 0 eqs. (9) and (10) have no solution for "
            f"{len(approximate) - solved} of {len(approximate)}. What holds instead: the coefficient e^-eps/2, a part "
            "of weight delta of its own for each input, and the claimed coefficient for binary and k-ary randomized "
            "response with one budget.",
            evidence,
        )
    if len(bad_approximate):
        return Outcome(
            "G-L1",
            "holds with correction",
            f"True of all {len(pure)} pure mechanisms; with delta > 0 it fails for {len(bad_approximate)} of "
            f"{len(approximate)}.",
            evidence,
            correction=r"with $\delta_i > 0$ each input has a part $\mathcal{Q}_1$ of its own.",
        )
    if not table["repeated"].all():
        return Outcome(
            "G-L1",
            "holds with correction",
            "True of every mechanism tried, once the coefficients of eq. (10) are exchanged.",
            evidence,
            correction="eq. (10) with its first two coefficients exchanged.",
        )
    return Outcome("G-L1", "verified", f"True of all {len(table)} mechanisms tried.", evidence)

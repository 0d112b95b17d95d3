"""Checks of the claims about Table 2 and Figure 2."""

from __future__ import annotations

import numpy as np
import pandas as pd

from gspa import budgets, comparison
from gspa.claims.checks import settles
from gspa.claims.outcome import Outcome, not_yet
from gspa.claims.registry import claim

_STEPS = {"paper": 37, "quick": 10}
# The figure's own range; a check on a smaller one would not settle what the paper says of it.
_RANGE = (1_000, 10_000)

# Range, mean and variance of Table 2's laws, by hand: U(a, b) has (a+b)/2 and (b-a)^2/12.
_LAWS = {
    "unif1": ((0.01, 1), 0.505, 0.99**2 / 12),
    "unif2": ((0.01, 2), 1.005, 1.99**2 / 12),
    "constant": ((0.5, 0.5), 0.5, 0.0),
    "mixed": ((0.01, 0.5), 0.255, 0.245**2),
}


def _covers_the_figure(table: pd.DataFrame) -> bool:
    return bool(table["n"].min() <= _RANGE[0] and table["n"].max() >= _RANGE[1])


def _not_covered(identifier: str, table: pd.DataFrame) -> Outcome:
    return not_yet(
        identifier,
        missing="size",
        reason=f"This run covers n from {table['n'].min():,} to {table['n'].max():,}; "
        f"the figure has {_RANGE[0]:,} to {_RANGE[1]:,}.",
    )


@settles("G-TAB2")
def table2(*, profile: str = "paper", n: int = 100_000, seed: int = 2024) -> Outcome:
    """The four distributions exist under their names, with the range and moments the table implies."""
    evidence: dict[str, object] = {}
    faults = []
    for index, (name, law) in enumerate(budgets.TABLE2.items()):
        drawn = budgets.draw(name, n=n, rng=np.random.default_rng([seed, index]))
        (low, high), mean, variance = _LAWS[name]
        average = float(np.average(drawn.eps, weights=drawn.count))
        spread = float(np.average((drawn.eps - mean) ** 2, weights=drawn.count))
        error = (variance / n) ** 0.5
        # (eps - mean)^2 has the variance 4/5 of its mean's square for U(a, b); two points half and half have none.
        spread_error = variance * (0.8 / n) ** 0.5
        evidence[f"{law.title} ({law.label}): mean of {n:,} draws"] = f"{average:.4f} ± {error:.4f}, law {mean:g}"
        evidence[f"{law.title}: variance"] = f"{spread:.4f} ± {spread_error:.4f}, law {variance:.4f}"
        # Five standard errors: correct samplers fail less than once in 100,000 seeds.
        if abs(average - mean) > max(5 * error, 1e-12):
            faults.append(f"the mean of {law.title}")
        if abs(spread - variance) > max(5 * spread_error, 1e-12):
            faults.append(f"the variance of {law.title}")
        if drawn.eps_min < low or drawn.eps_max > high:
            faults.append(f"the range of {law.title}")
    if faults:
        return Outcome("G-TAB2", "refuted", f"Off: {', '.join(faults)}.", evidence)
    return Outcome(
        "G-TAB2",
        "verified",
        "The four distributions are executable; their draws stay in [0.01, 2], as the text requires, "
        "and have the range, mean and variance of the stated laws.",
        evidence,
    )


@settles("G-C2")
def square_root_of_n(*, profile: str = "paper", table: pd.DataFrame | None = None) -> Outcome:
    """Slopes of log mu and log eps against log n, with the tolerance of the registry."""
    table = comparison.figure2(steps=_STEPS[profile]) if table is None else table
    if not _covers_the_figure(table):
        return _not_covered("G-C2", table)
    tolerance = float((claim("G-C2").tolerance or {})["slope"])
    found = comparison.slopes(table)
    evidence: dict[str, object] = {}
    for row in found.itertuples():
        evidence[f"{row.population}: slope of mu"] = f"{row.mu_slope:.4f}"
        evidence[f"{row.population}: slope of eps"] = f"{row.epsilon_slope:.4f}"
    mu_off = float((found["mu_slope"] + 0.5).abs().max())
    eps_off = float((found["epsilon_slope"] + 0.5).abs().max())
    evidence["tolerance on a slope"] = tolerance
    low, high = -found["epsilon_slope"].max(), -found["epsilon_slope"].min()
    if max(mu_off, eps_off) <= tolerance:
        return Outcome(
            "G-C2",
            "verified",
            f"Over the figure's range mu falls as n to a power within {mu_off:.4f} of -1/2 and eps within "
            f"{eps_off:.4f}; the tolerance is {tolerance:g}.",
            evidence,
        )
    if mu_off <= tolerance:
        return Outcome(
            "G-C2",
            "holds with correction",
            f"True of mu (within {mu_off:.4f} of the power -1/2), not of eps at fixed delta.",
            evidence,
            correction=rf"$\mu$ falls as $n^{{-1/2}}$; at the figure's $\delta$, $\epsilon$ falls as $n$ to a power "
            f"between -{low:.3f} and -{high:.3f}.",
        )
    return Outcome("G-C2", "refuted", f"The slope of mu is off -1/2 by {mu_off:.4f}.", evidence)


@settles("G-C3")
def outperforms(*, profile: str = "paper", table: pd.DataFrame | None = None) -> Outcome:
    """The paper's eps against every other bound of the catalogue that applies, point by point."""
    table = comparison.figure2(steps=_STEPS[profile]) if table is None else table
    if not _covers_the_figure(table):
        return _not_covered("G-C3", table)
    found = comparison.ratios(table)
    own = found["key"].isin(comparison.BASELINES)
    evidence: dict[str, object] = {}
    for bound, part in found.groupby("bound", sort=False):
        label = f"paper's eps / {bound}, smallest to largest ({len(part)} points)"
        evidence[label] = f"{part['ratio'].min():.3f} to {part['ratio'].max():.3f}"
    if found.empty:
        return Outcome("G-C3", "not checkable", "No compared bound applies anywhere in this run.", evidence)
    worse = found[found["ratio"] >= 1]
    smaller = int((found[own]["ratio"] < 1).sum())
    if len(worse):
        names = "; ".join(dict.fromkeys(worse.sort_values("ratio", ascending=False)["bound"]))
        return Outcome(
            "G-C3",
            "refuted",
            f"At {len(worse)} of {len(found)} comparisons another published bound is as small or smaller ({names}). "
            f"Against the paper's own baselines it is smaller at {smaller} of {own.sum()} points.",
            evidence,
        )
    return Outcome(
        "G-C3",
        "holds with correction",
        f"The printed eps is the smaller one at each of {len(found)} comparisons.",
        evidence,
        correction=f"smaller than the bounds compared, by at least {100 * (1 - found['ratio'].max()):.0f}%. It is a "
        "Gaussian approximation set beside proved upper bounds, so being smaller is not yet being better.",
    )

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


@settles("G-FIG2")
def figure_2(*, profile: str = "paper", table: pd.DataFrame | None = None) -> Outcome:
    """Which of the figure's curves exist, where, and in what order; its printed values are in no text."""
    table = comparison.figure2(steps=_STEPS[profile]) if table is None else table
    if not _covers_the_figure(table):
        return _not_covered("G-FIG2", table)
    found = comparison.drawn(table)
    evidence: dict[str, object] = {}
    for bound, part in found.groupby("bound", sort=False):
        whole, some = part[part["exist"] == part["points"]], part[part["exist"] > 0]
        values = table.loc[(table["bound"] == bound) & table["valid"], "epsilon"]
        between = f", eps {values.min():.4f} to {values.max():.4f}" if len(values) else ""
        evidence[f"{bound}: panels whole, in part, points that exist"] = (
            f"{len(whole)}, {len(some) - len(whole)}, {part['exist'].sum()} of {part['points'].sum()}{between}"
        )
    own = comparison.ratios(table)
    own = own[own["key"].isin(comparison.BASELINES)]
    lowest, falls = int((own["ratio"] < 1).sum()), bool(found["falls"].all())
    evidence["paper's curve below a baseline's, wherever both exist"] = f"{lowest} of {len(own)} points"
    evidence["every curve falls from each n to the next"] = falls
    order = f"the paper's curve is the lower one at {lowest} of {len(own)} points"
    if found.loc[found["key"] == "gspa", "exist"].sum() == 0 or own.empty:
        return Outcome("G-FIG2", "not checkable", "The paper's curve or all of its baselines are missing.", evidence)
    if lowest < len(own) or not falls:
        reason = f"Regenerated, {order}, and {'all' if falls else 'not all'} curves fall with n."
        return Outcome("G-FIG2", "not reproduced", reason, evidence)
    missing = found[found["exist"] < found["points"]]
    unknown = "The figure's own values are in no text, so only curves and their order can be compared."
    if missing.empty:
        return Outcome("G-FIG2", "verified", f"All four panels come out, and {order}. {unknown}", evidence)
    gaps = "; ".join(
        f"{row.bound} in {row.population} " + (f"from n = {row.from_n:,.0f} on" if row.exist else "nowhere")
        for row in missing.itertuples()
    )
    return Outcome(
        "G-FIG2",
        "holds with correction",
        f"The panels come out, and {order}; but {(missing['points'] - missing['exist']).sum()} of "
        f"{found['points'].sum()} points lie outside a baseline's own conditions. {unknown}",
        evidence,
        correction=f"the figure with every curve only where its bound is stated: {gaps}.",
    )


_NEAR_ZERO = {"paper": (0.5, 0.25, 0.1, 0.01, 1e-3, 1e-6, 0.0), "quick": (0.5, 0.1, 0.01, 0.0)}


@settles("G-C1")
def extreme_budgets(*, profile: str = "paper", table: pd.DataFrame | None = None) -> Outcome:
    """Both formulas as local budgets go to 0, beside what is certified and the local budget itself."""
    if table is None:
        table = comparison.extremes(budgets_near_zero=_NEAR_ZERO[profile], n=_RANGE[1], delta=1e-4)
    if table["budget"].min() > 0:
        return not_yet("G-C1", missing="settings", reason="The table does not reach a budget of 0.")
    near = table[table["budget"] <= table.loc[table["budget"] > 0, "budget"].max() / 5]
    refused, smaller = near["liu23"].isna(), near["liu23"] < near["paper"]
    empty = near["paper"] >= near["largest"]
    zero = table[(table["crowd"] == "all") & (table["budget"] == 0)]
    evidence: dict[str, object] = {}
    for row, refuses in zip(table.itertuples(), table["liu23"].isna(), strict=True):
        liu23 = "refuses" if refuses else f"{row.liu23:.3g}"
        evidence[f"{row.crowd}, budget {row.budget:g}: paper, Liu23, certified"] = (
            f"{row.paper:.3g}, {liu23}, {row.certified:.3g}"
        )
    evidence["paper's eps finite at"] = f"{int(table['paper'].notna().sum())} of {len(table)} rows"
    evidence["near 0: Liu23 refuses at"] = f"{int(refused.sum())} of {len(near)} rows"
    evidence["near 0: Liu23 is the smaller one at"] = f"{int(smaller.sum())} of {len(near)} rows"
    evidence["near 0: paper's eps is at least the local budget at"] = f"{int(empty.sum())} of {len(near)} rows"
    if len(zero):
        evidence["everybody at 0: paper's eps, the truth"] = f"{zero['paper'].iloc[0]:.4g}, {zero['own'].iloc[0]:.4g}"
    if table["paper"].isna().any():
        return Outcome("G-C1", "refuted", "The paper's own bound has no value at some of these budgets.", evidence)
    if refused.all() and not empty.any():
        return Outcome(
            "G-C1", "verified", "Near 0 the paper's eps is finite and below the local budget; Liu23 refuses.", evidence
        )
    if refused.all() or not (smaller.any() or empty.any()):
        return Outcome(
            "G-C1",
            "holds with correction",
            f"The paper's eps is finite at every row; near 0 Liu23 refuses at {int(refused.sum())} of {len(near)}.",
            evidence,
            correction=f"both have values near 0; at {empty.sum()} rows the paper's is at least the local budget",
        )
    return Outcome(
        "G-C1",
        "refuted",
        f"Both formulas are finite down to 0: Liu23 refuses at {int(refused.sum())} of {len(near)} rows near 0 and is "
        f"the smaller one at {int(smaller.sum())}. The paper's eps does not vanish with the budgets: at "
        f"{int(empty.sum())} rows it is no smaller than the local budget, which holds without shuffling.",
        evidence,
    )


_PERCENT = 33.0  # the conclusion's number


@settles("G-C4")
def at_least_33_percent(*, profile: str = "paper", table: pd.DataFrame | None = None) -> Outcome:
    """The least reduction over the figure's grid, against each of the paper's own baselines."""
    table = comparison.figure2(steps=_STEPS[profile]) if table is None else table
    if not _covers_the_figure(table):
        return _not_covered("G-C4", table)
    tolerance = float((claim("G-C4").tolerance or {})["percent"])
    ratios = comparison.ratios(table)
    found = comparison.reductions(ratios)
    evidence: dict[str, object] = {
        f"{row.population}, against {row.bound}: percent less, least to most": f"{row.least:.1f} to {row.most:.1f}"
        for row in found.itertuples()
    }
    if found.empty:
        return Outcome("G-C4", "not checkable", "None of the paper's baselines applies in this run.", evidence)
    least = found.iloc[int(found["least"].to_numpy().argmin())]
    reached = comparison.reached_from(ratios, percent=_PERCENT)
    evidence["least reduction on the grid (%)"] = float(least["least"])
    evidence["least reduction at the largest n (%)"] = float(found["at_last"].min())
    evidence[f"{_PERCENT:g}% in every comparison from n ="] = "none" if np.isnan(reached) else int(reached)
    evidence["smallest ratio of the paper's eps to a baseline's (%)"] = float(100 - found["most"].max())
    every = 100 * (1 - ratios["ratio"].max())
    evidence["the same against every published bound that applies (%)"] = float(every)
    evidence["tolerance (%)"] = tolerance
    where = f"against {least['bound']}, {least['population']}, n = {least['least_at']:,}"
    if least["least"] >= _PERCENT - tolerance:
        return Outcome("G-C4", "verified", f"The least reduction is {least['least']:.1f}% ({where}).", evidence)
    if np.isnan(reached):
        tail = "No n of the figure has it in every comparison."
    else:
        tail = f"{_PERCENT:g}% in every comparison is reached from n = {reached:,.0f} on."
    return Outcome(
        "G-C4",
        "refuted",
        f"Against its own baselines the paper's eps is at least {least['least']:.1f}% smaller, not {_PERCENT:g}% "
        f"({where}). {tail}",
        evidence,
    )

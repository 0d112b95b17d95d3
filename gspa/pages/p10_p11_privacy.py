"""Pages 10 and 11: what Algorithms 1 and 2 reveal of each preference group, beside what Theorems 3 and 4 promise all.

The promise is mu-GDP with the paper's mu, read as an eps at delta without the theorem's error term. `lower` is a
rigorous lower bound: an explicit attack on shuffled Laplace reports, or the law of the number of ones at fixed inputs
of the others. `upper` is certified: the privacy blanket for Laplace noise, the dominating pair for randomized response.
Laplace users with more noise than the least take 0 and 1 for the worst inputs: measured, not proved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy.optimize import brentq

from gspa.accountant import budgets, mechanisms
from gspa.accountant import exact as exact_rr
from gspa.accountant.budgets import Budgets
from gspa.accountant.closed_forms import gspa_epsilon
from gspa.accountant.exact import Crowd, Tilted
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.accountant.one_round import central_epsilon, per_user_epsilon
from gspa.book.claims import Outcome, settles
from gspa.book.figures import DASHES, PALETTE, keeps_data
from gspa.pages import p09_personalized as personalized
from gspa.pages.p10_p11_estimation import Groups

# --- tables ------------------------------------------------------------------------------------------------


def sensitivity_readings(groups: Groups, *, low: float, high: float) -> pd.DataFrame:
    """What noise Lap(Delta f/eps_i) on data in [low, high] gives user i in each reading of Delta f.

    A row a reading: reading, sensitivity, width (of the data; infinite if not clipped), conservative and liberal (the
    exact local eps = eps_i width/sensitivity), evaluated (the liberal user's from the densities on a grid of outputs,
    a lower bound), times (local eps over eps_i), error (standard deviation of the answer).
    """
    width = high - low
    readings = [
        ("width of the data's range", width, width),
        ("1", 1.0, width),
        ("the average's own: width/$n$", width / groups.n, width),
        ("width of the range, but data not clipped", width, math.inf),
    ]
    eps = groups.people().expanded().eps
    rows = []
    for reading, sensitivity, spread in readings:
        times = spread / sensitivity
        scale = mechanisms.laplace_scale(eps=groups.eps_liberal, sensitivity=sensitivity)
        reach = spread if math.isfinite(spread) else 1e6 * width
        y = np.linspace(low - reach, low + 2 * reach, 2001)
        rows.append(
            {
                "reading": reading,
                "sensitivity": sensitivity,
                "width": spread,
                "conservative": groups.eps_conservative * times,
                "liberal": groups.eps_liberal * times,
                "evaluated": float(np.max(np.abs(y - low - reach) - np.abs(y - low))) / scale,
                "times": times,
                "error": math.sqrt(2 * float((1 / eps**2).sum())) * sensitivity / groups.n,
            }
        )
    return pd.DataFrame(rows)


def groups_of(
    people: Budgets, *, mechanism: str, delta: float, stretch: float = 1.0, victims: Iterable[int] | None = None
) -> pd.DataFrame:
    """The central eps that each group of equal budgets has with "laplace" (Algorithm 1) or "rr" (Algorithm 2).

    A row a group (or those of `victims`): budget, users, local (the report's own eps), promised, lower, upper, promise
    ("kept", "broken" or "open"). Data `stretch` times as wide as the noise's sensitivity have the local eps
    stretch eps_i, while the promise is computed from eps_i.

    >>> table = groups_of(Groups().people(), mechanism="rr", delta=1e-4)
    >>> table["promise"].tolist(), bool((table["upper"] < 0.41 * table["promised"]).all())
    (['kept', 'kept', 'kept'], True)
    """
    true = budgets.from_array(people.eps * stretch, count=people.count)
    places = list(range(true.eps.size) if victims is None else victims)
    if mechanism == "laplace":
        lower = [personalized.attacked_epsilon(true, victim=i, delta=delta) for i in places]
        upper = [blanket_epsilon(true, victim=i, delta=delta).upper for i in places]
    else:
        lower = [ones_epsilon(true, victim=i, delta=delta) for i in places]
        upper = per_user_epsilon(true, delta=delta).upper[places].tolist()
    promised = gspa_epsilon(people, delta=delta)
    columns = {"budget": people.eps[places], "users": people.count[places], "local": true.eps[places]}
    table = pd.DataFrame(columns | {"promised": promised, "lower": lower, "upper": upper})
    found = [personalized.judged(low, high, promised) for low, high in zip(lower, upper, strict=True)]
    return table.assign(promise=found)


def ones_epsilon(people: Budgets, *, victim: int, delta: float) -> float:
    """An eps below which Algorithm 2 is certainly not (eps, delta)-DP for a user of one group.

    The exact law of the number of ones, all others holding 0 or all holding 1: for a user of the largest budget nearly
    the worst inputs, which `gspa.accountant.exact` looks for. Errs downward, by rounding and by the choice of inputs.

    >>> people = budgets.constant(1.0, n=1_000)
    >>> exact = exact_rr.exact_epsilon(people, delta=1e-6)
    >>> abs(ones_epsilon(people, victim=0, delta=1e-6) / exact.value - 1) < 1e-4
    True
    """
    local = float(people.eps[victim])
    count = people.count - (np.arange(people.eps.size) == victim).astype(np.float64)
    crowd = Crowd(local, people.eps, count)

    def excess(eps: float) -> float:
        value, error = Tilted(crowd, eps).at(np.array([0 * count, count]))
        return float((value - error).max()) - delta

    if local == 0 or excess(0.0) <= 0:
        return 0.0
    high = local * (1 - 1e-12)  # at eps_i itself delta is 0; just below it the bits still say something
    if excess(high) > 0:
        return high
    root = float(brentq(excess, 0.0, high, xtol=1e-13, rtol=1e-12))
    while root > 0 and excess(root) < 0:  # a step or two, for rounding
        root -= 1e-12
    return max(root, 0.0)


def at_deltas(people: Budgets, *, mechanism: str, deltas: Sequence[float]) -> pd.DataFrame:
    """`groups_of` at several deltas, with a column delta in front."""
    tables = {delta: groups_of(people, mechanism=mechanism, delta=delta) for delta in deltas}
    return pd.concat(tables, names=["delta"]).reset_index(0).reset_index(drop=True)


def along(groups: Groups, *, mechanism: str, eps_conservative: Iterable[float], delta: float) -> pd.DataFrame:
    """`groups_of` at several budgets of the conservative users; the columns eps_conservative and group in front."""
    sizes = budgets.preference_sizes(n=groups.n, f_conservative=groups.f_conservative, f_moderate=groups.f_moderate)
    tables = {}
    for value in eps_conservative:
        table = groups_of(groups.varied("eps_conservative", value).people(), mechanism=mechanism, delta=delta)
        tables[float(value)] = table.set_index(pd.Index([name for name, size in sizes.items() if size], name="group"))
    return pd.concat(tables, names=["eps_conservative"]).reset_index()


def certified(people: Budgets, *, mechanism: str, delta: float) -> float:
    """The certified central eps of the user with the largest budget."""
    if mechanism == "laplace":
        return blanket_epsilon(people, victim=int(np.argmax(people.eps)), delta=delta).upper
    return central_epsilon(people, delta=delta).upper


def in_ranges(groups: Groups, *, mechanism: str, delta: float, seed: int) -> dict[str, float]:
    """The other reading, budgets drawn from ranges: `promised` to all, and `upper`, certified for the largest."""
    people = groups.people(reading="ranges", rng=seed)
    return {
        "promised": gspa_epsilon(people, delta=delta),
        "upper": certified(people, mechanism=mechanism, delta=delta),
    }


def crowded_out(groups: Groups, *, delta: float, eps_conservative: Iterable[float]) -> pd.DataFrame:
    """Algorithm 1 if all who are not liberal are conservative: for each eps_conservative, in front, the liberal users'
    row of `groups_of` with attacked, a delta certainly reached at the promised eps."""
    rows = []
    for value in eps_conservative:
        people = replace(groups, f_conservative=1 - groups.f_liberal, eps_conservative=value).people()
        last = people.eps.size - 1
        row = groups_of(people, mechanism="laplace", delta=delta, victims=[last]).iloc[0]
        attacked = personalized.attacked_delta(people, victim=last, eps=row["promised"])
        rows.append({"eps_conservative": value, **row.to_dict(), "attacked": attacked})
    return pd.DataFrame(rows)


def silent_crowds(groups: Groups, *, delta: float, sizes: Sequence[int] = (10_000, 1_000_000)) -> pd.DataFrame:
    """One liberal user with Laplace noise among n - 1 users at 0.1/n, for each n: `silent_crowd` of page 09, and n."""
    found = [
        personalized.silent_crowd(eps=groups.eps_liberal, others=(0.1 / n,), n=n, delta=delta).assign(n=n)
        for n in sizes
    ]
    return pd.concat(found, ignore_index=True)


def labelled(before: pd.DataFrame, *, mechanism: str, delta: float) -> pd.DataFrame:
    """What it costs to send the budget along with the report, `before` from `groups_of`: budget, users, unlabelled and
    labelled (certified central eps; everybody hides in the own group only), times (their ratio)."""
    table = before[["budget", "users"]].assign(unlabelled=before["upper"])
    table["labelled"] = [
        certified(budgets.constant(row.budget, n=row.users), mechanism=mechanism, delta=delta)
        for row in _records(table)
    ]
    return table.assign(times=table["labelled"] / table["unlabelled"])


def response_limits(*, local: Sequence[float], sizes: Sequence[int], delta: float) -> pd.DataFrame:
    """Theorem 4's promise for n users of one budget beside the exact law of the shuffled bits and the certified pair.

    A row for each (eps0, n): eps0, n, promised, exact (lower end), certified, ratio (promised over exact), promise.
    """
    rows = []
    for eps0 in local:
        for n in sizes:
            people = budgets.constant(eps0, n=n)
            promised, exact = gspa_epsilon(people, delta=delta), exact_rr.exact_epsilon(people, delta=delta)
            pair = certified(people, mechanism="rr", delta=delta)
            promise = personalized.judged(exact.lower, exact.upper, promised)
            rows.append((eps0, n, promised, exact.lower, pair, promised / exact.lower, promise))
    return pd.DataFrame(rows, columns=["eps0", "n", "promised", "exact", "certified", "ratio", "promise"])


# --- figures -----------------------------------------------------------------------------------------------


@keeps_data
def group_promises(table: pd.DataFrame, *, delta: float) -> Figure:
    """Central eps of each group and the promise against the conservative users' budget, from `along`."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    promised = table.drop_duplicates("eps_conservative")
    axis.plot(promised["eps_conservative"], promised["promised"], color=PALETTE[0], lw=2, label="promised to everybody")
    for index, (group, part) in enumerate(table.groupby("group", sort=False), start=1):
        x, colour = part["eps_conservative"], PALETTE[index]
        axis.fill_between(x, part["lower"], part["upper"], color=colour, alpha=0.3, lw=0)
        axis.plot(x, part["lower"], color=colour, lw=1)
        axis.plot(x, part["upper"], color=colour, dashes=DASHES[index], lw=2, label=str(group))
    axis.set(
        xlabel=r"budget $\epsilon_C$ of the conservative users",
        ylabel=rf"central $\epsilon$ at $\delta$ = {delta:g}",
        ylim=(0, None),
    )
    title = "bands: from what is certainly reached to what is certified"
    figure.legend(loc="outside upper center", ncols=4, title=title)
    return figure


# --- checks ------------------------------------------------------------------------------------------------


@settles("G-A1")
def report_is_local(readings: pd.DataFrame) -> Outcome:
    """The exact local eps of a report, in each reading of the sensitivity that Algorithm 1 leaves open."""
    evidence: dict[str, object] = {}
    for row in _records(readings):
        if math.isfinite(row.liberal):
            said = f"{row.conservative:g}, {row.liberal:g} ({row.times:g} $\\epsilon_i$)"
        else:
            said = f"no bound; at least {row.evaluated:.3g} on a grid of outputs"
        evidence[f"$\\Delta f$ = {row.reading}: local $\\epsilon$, conservative and liberal"] = said
    finite = readings[np.isfinite(readings["liberal"])]
    off = float((finite["evaluated"] / finite["liberal"] - 1).abs().max())
    evidence["largest relative gap of formula and densities"] = f"{off:.1e}"
    if off > 1e-9:
        return Outcome("G-A1", "not checkable", "The formula and the densities disagree.", evidence)
    kept = readings["times"] <= 1 + 1e-12
    if kept.all():
        reason = f"Within $\\epsilon_i$ in all {len(readings)} readings of $\\Delta f$."
        return Outcome("G-A1", "verified", reason, evidence)
    if not kept.any():
        reason = r"In no reading of $\Delta f$ is a report $(\epsilon_i, 0)$-LDP."
        return Outcome("G-A1", "refuted", reason, evidence)
    return Outcome(
        "G-A1",
        "holds with correction",
        f"True in {kept.sum()} of {len(readings)} readings of the sensitivity, which the algorithm leaves open: "
        f"$\\Delta f$ must be the width {readings['width'].iloc[0]:g} of the range into which the data are clipped. "
        f"Otherwise a report's own $\\epsilon$ is up to {finite['times'].max():,.0f} times $\\epsilon_i$, or has no "
        "bound.",
        evidence,
        correction=r"Data clipped into $[a, b]$ plus $\mathrm{Lap}(\Delta f/\epsilon_i)$ is "
        r"$(\epsilon_i (b-a)/\Delta f, 0)$-LDP and no better: $(\epsilon_i, 0)$-LDP exactly when $\Delta f \ge b - a$.",
    )


def _records(table: pd.DataFrame) -> Iterator[Any]:
    yield from table.itertuples()


def _kept(table: pd.DataFrame) -> str:
    return f"{(table['promise'] == 'kept').sum()} of {len(table)}"


def _here(groups: pd.DataFrame) -> pd.DataFrame:
    """The rows at the page's own delta, the largest."""
    chosen: pd.DataFrame = groups[groups["delta"] == groups["delta"].max()]
    return chosen


def _at_home(groups: pd.DataFrame, spread: Mapping[str, float]) -> tuple[dict[str, object], ...]:
    """The evidence for Figure 3's settings: what each group has; certified where; the other reading."""
    here = _here(groups)
    delta, promised = here[["delta", "promised"]].iloc[0]
    intervals: dict[str, object] = {f"promised $\\epsilon$ at $\\delta$ = {delta:g}, every user": float(promised)}
    for row in _records(here):
        label = f"group at $\\epsilon_i$ = {row.budget:g} ({row.users:,} users): true $\\epsilon$ between"
        intervals[label] = [row.lower, row.upper]
    certain: dict[str, object] = {"groups and deltas at which the promise is certified": _kept(groups)}
    ranges = "budgets drawn from the ranges: $\\epsilon$ promised, and certified for the largest budget"
    return intervals | certain, {ranges: f"{spread['promised']:.4f}, {spread['upper']:.4f}"}


def _broken_at_home(identifier: str, groups: pd.DataFrame, evidence: Mapping[str, object]) -> Outcome | None:
    """Refuted, if the promise is broken at Figure 3's own settings."""
    for row in _records(groups[groups["promise"] == "broken"]):
        reason = (
            f"Broken at Figure 3's own settings: at $\\delta$ = {row.delta:g} a user at $\\epsilon_i$ = {row.budget:g} "
            f"is promised {row.promised:.4f} and certainly has more than {row.lower:.4f}."
        )
        return Outcome(identifier, "refuted", reason, evidence)
    return None


@settles("G-T3")
def theorem_3(
    groups: pd.DataFrame, crowded: pd.DataFrame, silent: pd.DataFrame, spread: Mapping[str, float]
) -> Outcome:
    """Attacks and certified bounds for Algorithm 1: at Figure 3's settings, without moderate users, among the silent.

    From `at_deltas`, `crowded_out`, `silent_crowds` and `in_ranges`.
    """
    least, many = silent.iloc[0], silent.iloc[-1]
    # What no single constant of the error term C/sqrt(n-1) covers grows like sqrt(n): a factor 10 here.
    growing = bool(many["constant"] > 5 * least["constant"] > 0)
    broken = crowded[crowded["promise"] == "broken"]
    delta = groups["delta"].max()
    at_home, ranges = _at_home(groups, spread)
    evidence = at_home | ranges
    evidence["worst inputs of a user with more than the least noise"] = "0 and 1 (measured, not proved)"
    for row in _records(crowded):
        conservative = f"{row.eps_conservative:g}"
        label = f"no moderate users, conservative ones at {conservative}: liberal user's $\\epsilon$ promised, true"
        evidence[label] = f"{row.promised:.4f}, {row.lower:.4f} to {row.upper:.4f}"
        label = f"the same at {conservative}: $\\delta$ there, at least (promised {delta:g})"
        evidence[label] = row.attacked
    for row in _records(silent):
        label = f"liberal user among {row.n - 1:,} at {row.others:g}: $\\epsilon$ promised, true at least"
        evidence[label] = f"{row.promised:.4f}, {row.lower:.4f}"
        label = f"$C$ of the error term $C/\\sqrt{{n-1}}$ that would cover it, $n$ = {row.n:,}: at least"
        evidence[label] = row.constant
    if (outcome := _broken_at_home("G-T3", groups, evidence)) is not None:
        return outcome
    here = (
        f"At Figure 3's settings the promise is certified for every group ({_kept(groups)} groups and deltas)"
        if (groups["promise"] == "kept").all()
        else f"At Figure 3's settings it is certified at {_kept(groups)} groups and deltas"
    )
    if len(broken) and growing:
        worst = broken.iloc[-1]
        reason = (
            f"{here}. Not for other budgets: with {100 * worst['users'] / _here(groups)['users'].sum():.0f}% liberal "
            f"users and all others at {worst['eps_conservative']:g}, a liberal user is promised "
            f"{worst['promised']:.4f} and has more than {worst['lower']:.4f}; and among users whose budgets tend to 0 "
            f"the error term's constant would have to grow without bound ({least['constant']:.3g} at $n$ = "
            f"{least['n']:,.0f}, {many['constant']:.3g} at {many['n']:,.0f})."
        )
        return Outcome("G-T3", "refuted", reason, evidence)
    if len(broken) or growing:
        reason = f"{here}; elsewhere an attack reaches more than is promised without the error term."
        correction = r"Up to an error term $C/\sqrt{n-1}$ that may not be dropped."
        return Outcome("G-T3", "holds with correction", reason, evidence, correction=correction)
    reason = f"{here}, and no attack tried breaks it elsewhere; that does not prove it for all budgets."
    return Outcome("G-T3", "not checkable", reason, evidence)


@settles("G-T4")
def theorem_4(
    groups: pd.DataFrame,
    limits: pd.DataFrame,
    spread: Mapping[str, float],
    bits_ratio: float,
    proved: float,
    floor: float,
) -> Outcome:
    """Algorithm 2 at Figure 3's settings for every group, and where the Gaussian without error term promises too much.

    From `at_deltas`, `response_limits` and `in_ranges`; `bits_ratio` is the mu of the Gaussian limit over the paper's,
    `proved` the error term of page 07, and `floor` the least delta at which it leaves a statement.
    """
    at_home, ranges = _at_home(groups, spread)
    here = _here(groups)
    delta, n, liberal = here["delta"].iloc[0], here["users"].sum(), here.iloc[int(here["budget"].argmax())]
    broken = limits[limits["promise"] == "broken"].sort_values(["n", "eps0"])
    over = [float(liberal["promised"] / liberal[end]) for end in ("upper", "lower")]
    evidence = {
        **at_home,
        "promise over the liberal user's true $\\epsilon$, between": over,
        **ranges,
        "Gaussian limit of the ones themselves: $\\mu$ over the paper's": bits_ratio,
        "proved error term of Theorem 2 for these users": (
            f"{proved:.5f} = {proved * math.sqrt(n - 1):.3f}/$\\sqrt{{n-1}}$"
        ),
        "with it, least $\\delta$ at which anything is promised": floor,
    }
    for row in _records(limits[limits["promise"] == "broken"]):
        evidence[f"{row.n:,} users at $\\epsilon_0$ = {row.eps0:g}: promised, exact, certified"] = (
            f"{row.promised:.4f}, {row.exact:.4f}, {row.certified:.4f}"
        )
    evidence["equal budgets: promised too much at"] = f"{len(broken)} of {len(limits)} settings"
    uncovered = limits["certified"] < limits["exact"] * (1 - 1e-9)
    if uncovered.any() or (groups["lower"] > groups["upper"] * (1 + 1e-9)).any():
        return Outcome("G-T4", "not checkable", "A certified bound lies below an exact value.", evidence)
    if (outcome := _broken_at_home("G-T4", groups, evidence)) is not None:
        return outcome
    if not (groups["promise"] == "kept").all():
        reason = f"Certified at {_kept(groups)} groups and deltas only."
        return Outcome("G-T4", "not yet checked", reason, missing="size")
    certain = (
        f"At Figure 3's settings every group has what is promised ({_kept(groups)} groups and deltas): {over[0]:.2f} "
        f"to {over[1]:.2f} times the true $\\epsilon$ of the liberal users"
    )
    if broken.empty:
        reason = f"{certain}, and the same holds at all {len(limits)} settings of equal budgets tried."
        return Outcome("G-T4", "verified", reason, evidence)
    first = broken.iloc[0]
    return Outcome(
        "G-T4",
        "holds with correction",
        f"{certain}. The Gaussian without error term is no bound: {first['n']:,} users at $\\epsilon_0$ = "
        f"{first['eps0']:g} are promised {first['promised']:.3f} at $\\delta$ = {delta:g} and have "
        f"{first['exact']:.3f}.",
        evidence,
        correction=r"$\mu$-GDP up to an error term $C/\sqrt{n-1}$; a number without it comes from the exact pair "
        r"(certified), or as an estimate from $\mu = \tanh(\epsilon_n/2)/\sqrt{\sum_{j \ne n} r_j (1-r_j)}$ of the "
        r"victim $n$.",
    )

"""Pages 10 and 11: what Algorithms 1 and 2 reveal of each preference group, beside what Theorems 3 and 4 promise all.

The promise is mu-GDP with the paper's mu, read as an eps at delta without the theorem's error term. `lower` is a
rigorous lower bound: an explicit attack on shuffled Laplace reports, or the law of the number of ones at fixed inputs
of the others. `upper` is certified: the dominating pair for randomized response, the privacy blanket for Laplace users
of the largest budget, and clones for the others. Clones: data in [0, 1], eps_j <= eps_n. As |y - x_j| <= |y - x| + 1,
user j's density at y is at least p_j = (eps_j/eps_n) e^{-eps_j} times the victim's on any x, so at least
p_j (Q0 + Q1)/2 with Q0 + Q1 the sum of the victim's on any two. With the error term s = C/sqrt(n-1) a statement
needs TV <= 2 s alone,

    T(alpha) >= 1 - alpha - TV >= G_mu(alpha + s) - s   whatever mu, and   TV <= E[(1 + clones)^{-1/2}] <= M^{-1/2}

with M the expected number of clones.
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
from gspa.accountant.clones import CloneLaw
from gspa.accountant.closed_forms import clone_slack, gspa_epsilon, gspa_mu
from gspa.accountant.exact import Crowd, Tilted
from gspa.accountant.families import binary
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.accountant.one_round import Problem, central_epsilon, epsilon_of, per_user_epsilon, problem_of
from gspa.accountant.pair import Victim, divergence
from gspa.book.claims import Outcome, judge, settles, unsettled
from gspa.book.figures import DASHES, PALETTE, keeps_data, role
from gspa.book.verdicts import Said, exactly, reading, unknown
from gspa.pages import promises
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
    for meaning, sensitivity, spread in readings:
        times = spread / sensitivity
        scale = mechanisms.laplace_scale(eps=groups.eps_liberal, sensitivity=sensitivity)
        reach = spread if math.isfinite(spread) else 1e6 * width
        y = np.linspace(low - reach, low + 2 * reach, 2001)
        rows.append(
            {
                "reading": meaning,
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
        lower = [promises.attacked_epsilon(true, victim=i, delta=delta) for i in places]
        upper = [_laplace_upper(true, victim=i, delta=delta) for i in places]
    else:
        lower = [ones_epsilon(true, victim=i, delta=delta) for i in places]
        upper = per_user_epsilon(true, delta=delta).upper[places].tolist()
    promised = gspa_epsilon(people, delta=delta)
    columns = {"budget": people.eps[places], "users": people.count[places], "local": true.eps[places]}
    table = pd.DataFrame(columns | {"promised": promised, "lower": lower, "upper": upper})
    found = [promises.judged(low, high, promised) for low, high in zip(lower, upper, strict=True)]
    return table.assign(promise=found)


def _laplace_upper(people: Budgets, *, victim: int, delta: float) -> float:
    """The blanket is proved for users of the largest budget only, whose worst values are the ends of the range."""
    if people.eps[victim] == people.eps_max:
        return blanket_epsilon(people, victim=victim, delta=delta).upper
    return epsilon_of(delta, hiding(people, mechanism="laplace", victim=victim)).upper


def hiding(people: Budgets, *, mechanism: str, victim: int) -> Problem:
    """One user of a group and the clones among the others, whatever two values the user has.

    >>> round(hiding(Groups().people(), mechanism="laplace", victim=2).mean)
    1941
    """
    if mechanism == "rr":
        return problem_of(people, binary(), victim)
    eps = float(people.eps[victim])
    q = np.where(people.eps <= eps, people.eps / eps * np.exp(-people.eps), 0.0)
    count = people.count - (np.arange(q.size) == victim).astype(np.float64)
    return Problem(Victim.binary(eps), 0.0, q, 1 - q, count)


def error_terms(groups: Groups, *, mechanism: str, times: int = 100) -> pd.DataFrame:
    """What is proved for each group, at n and at `times` n: an error term C/sqrt(n-1), and one that depends on mu.

    A row for each (n, group): n, budget, users, reached (a total variation certainly reached), certified (an upper
    bound on it), stated (M^{-1/2}), constant (the C that `stated` gives, enough for every mu); mu (2 M^{-1/2}) and
    slack: with it the reports are mu-GDP by Theorem 2, corrected, version (b).
    """
    rows = []
    for n in (groups.n, times * groups.n):
        people = replace(groups, n=n).people()
        for victim, (eps, users) in enumerate(zip(people.eps.tolist(), people.count.tolist(), strict=True)):
            clones = hiding(people, mechanism=mechanism, victim=victim)
            law = clones.law()
            assert isinstance(law, CloneLaw)
            stated = 1 / math.sqrt(clones.mean)
            reach = promises.attacked_delta if mechanism == "laplace" else ones_delta
            reached, certain = reach(people, victim=victim, eps=0.0), divergence(law, clones.victim, 0.0)[2]
            slack = clone_slack(law, mu=2 * stated, half_way=True)
            constant = math.sqrt(n - 1) * stated / 2
            rows.append((n, eps, users, reached, certain, stated, constant, 2 * stated, slack))
    names = ["n", "budget", "users", "reached", "certified", "stated", "constant", "mu", "slack"]
    return pd.DataFrame(rows, columns=names)


def ones_delta(people: Budgets, *, victim: int, eps: float) -> float:
    """A delta certainly reached at eps by the number of ones, all others holding 0 or all holding 1."""
    count = people.count - (np.arange(people.eps.size) == victim).astype(np.float64)
    value, error = Tilted(Crowd(float(people.eps[victim]), people.eps, count), eps).at(np.array([0 * count, count]))
    return float((value - error).max())


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

    def excess(eps: float) -> float:
        return ones_delta(people, victim=victim, eps=eps) - delta

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
        attacked = promises.attacked_delta(people, victim=last, eps=row["promised"])
        rows.append({"eps_conservative": value, **row.to_dict(), "attacked": attacked})
    return pd.DataFrame(rows)


def silent_crowds(groups: Groups, *, delta: float, sizes: Sequence[int] = (10_000, 1_000_000)) -> pd.DataFrame:
    """One liberal user with Laplace noise among n - 1 users at 0.1/n, for each n: `silent_crowd` of page 09, and n."""
    found = [
        promises.silent_crowd(eps=groups.eps_liberal, others=(0.1 / n,), n=n, delta=delta).assign(n=n) for n in sizes
    ]
    return pd.concat(found, ignore_index=True)


def lone_users(groups: Groups, *, sizes: Sequence[int] = (10_000, 1_000_000)) -> pd.DataFrame:
    """One conservative user with Laplace noise among liberal ones, whose reports end where that user's do not yet.

    A row a number of users: n, eps, others (the budgets, which stay), reached (a total variation certainly reached)
    and constant, a C of the error term below which that is not covered.
    """
    rows = []
    for n in sizes:
        people = budgets.from_array([groups.eps_conservative, groups.eps_liberal], count=[1, n - 1])
        reached = promises.attacked_delta(people, victim=0, eps=0.0)
        least = promises.least_constant(reached, eps=0.0, mu=gspa_mu(people), n=n)
        rows.append((n, groups.eps_conservative, groups.eps_liberal, reached, least))
    return pd.DataFrame(rows, columns=["n", "eps", "others", "reached", "constant"])


def loud_crowds(*, sizes: Sequence[int] = (10_000, 1_000_000), at: Sequence[float] = (1.0, 2.0, 3.0)) -> pd.DataFrame:
    """n users of Algorithm 2 of whom one is expected to lie, all holding 0: budgets that grow with n.

    Whoever sees no one knows what a victim holds. Columns: n, eps0 (log(n - 1)), eps, delta (certainly reached there
    by that event) and constant, a C of the error term below which it is not covered; the largest over `at`.
    """
    rows = []
    for n in sizes:
        eps0, silent = math.log(n - 1), (1 - 1 / n) ** (n - 1)  # of the others
        mu = gspa_mu(budgets.constant(eps0, n=n))
        reached = {eps: silent * ((1 - 1 / n) - math.exp(eps) / n) for eps in at}
        least = {eps: promises.least_constant(delta, eps=eps, mu=mu, n=n) for eps, delta in reached.items()}
        eps = max(least, key=least.__getitem__)
        rows.append((n, eps0, eps, reached[eps], least[eps]))
    return pd.DataFrame(rows, columns=["n", "eps0", "eps", "delta", "constant"])


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
            promise = promises.judged(exact.lower, exact.upper, promised)
            rows.append((eps0, n, promised, exact.lower, pair, promised / exact.lower, promise))
    return pd.DataFrame(rows, columns=["eps0", "n", "promised", "exact", "certified", "ratio", "promise"])


# --- figures -----------------------------------------------------------------------------------------------


@keeps_data
def group_promises(table: pd.DataFrame, *, delta: float) -> Figure:
    """Central eps of each group and the promise against the conservative users' budget, from `along`."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    promised = table.drop_duplicates("eps_conservative")
    axis.plot(promised["eps_conservative"], promised["promised"], label="promised to everybody", **role("paper"))
    for index, (group, part) in enumerate(table.groupby("group", sort=False)):
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
        said = "The formula and the densities disagree."
        return judge("G-A1", evidence, reading("any", unknown(), {"not checkable": said}))
    kept = readings["times"] <= 1 + 1e-12
    found = []
    for row, holds in zip(_records(readings), kept, strict=True):
        own = f"up to {row.times:,.0f} times $\\epsilon_i$" if math.isfinite(row.times) else "without a bound"
        said = (
            f"Every report is $(\\epsilon_i, 0)$-LDP if the data lie in a range of width {row.width:g}. Algorithm 1 "
            "says neither that data are clipped nor what $\\Delta f$ is."
        )
        texts: Said = {
            "verified": f"A report has at most $\\epsilon_i$ in all {len(readings)} readings of $\\Delta f$.",
            "holds with correction": said,
            "refuted": f"A report's own $\\epsilon$ is {own}.",
        }
        found.append(
            reading(
                f"$\\Delta f$ is: {row.reading}",
                exactly(bool(kept.all()), near=bool(holds)),
                texts,
                correction=r"Data clipped into $[a, b]$ plus $\mathrm{Lap}(\Delta f/\epsilon_i)$ is "
                r"$(\epsilon_i (b-a)/\Delta f, 0)$-LDP and no better: $(\epsilon_i, 0)$-LDP exactly when "
                r"$\Delta f \ge b - a$.",
            )
        )
    return judge("G-A1", evidence, *found)


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


def _without_term(groups: pd.DataFrame) -> str:
    """What is known of the promise at Figure 3's own settings, without the error term."""
    for row in _records(groups[groups["promise"] == "broken"]):
        return (
            f"The promise is broken at Figure 3's own settings: at $\\delta$ = {row.delta:g} a user at $\\epsilon_i$ = "
            f"{row.budget:g} is promised {row.promised:.4f}, and an attack reaches {row.lower:.4f}."
        )
    if (groups["promise"] == "kept").all():
        return f"The promise is certified for every group at Figure 3's settings ({_kept(groups)} groups and deltas)."
    return f"At Figure 3's settings the promise is certified for {_kept(groups)} groups and deltas."


def _proved(terms: pd.DataFrame) -> dict[str, object]:
    """The evidence of `error_terms`: what C is proved for each group."""
    evidence: dict[str, object] = {}
    for budget, part in terms.groupby("budget", sort=False):
        few, many = part.iloc[0], part.iloc[-1]
        label = f"group at {budget:g}: proved $C$ of $C/\\sqrt{{n-1}}$, $n$ = {few['n']:,.0f} and {many['n']:,.0f}"
        evidence[label] = f"{few['constant']:.3f}, {many['constant']:.3f}"
        label = f"group at {budget:g}: total variation reached, certified, and $1/\\sqrt{{M}}$"
        evidence[label] = f"{few['reached']:.5f}, {few['certified']:.5f}, {few['stated']:.5f}"
        for each in (few, many):
            label = (
                f"group at {budget:g}, $n$ = {each['n']:,.0f}: $\\mu$ of its clones, proved slack, half that variation"
            )
            evidence[label] = f"{each['mu']:.3g}, {each['slack']:.3g}, {each['reached'] / 2:.3g}"
    return evidence


def _in_order(terms: pd.DataFrame) -> bool:
    """Whether what is reached stays within what is certified, and that within what is stated."""
    low = (terms["reached"] <= terms["certified"] * (1 + 1e-9)).all()
    return bool(low and (terms["certified"] <= terms["stated"] * (1 + 1e-9)).all())


_STEADY = 1.1  # a constant that 100 times the users do not raise by more is one constant; sqrt(n) would raise it by 10
_GROWING = 5.0


def _steady(terms: pd.DataFrame) -> bool:
    constants = terms.groupby("budget")["constant"]
    return bool((constants.last() <= _STEADY * constants.first()).all())


def _says(terms: pd.DataFrame) -> bool:
    """Whether with many users the proved slack says something about mu: half the total variation would serve any."""
    many = terms[terms["n"] == terms["n"].max()]
    return bool((many["slack"] < many["reached"] / 2).all())


def _grows(table: pd.DataFrame) -> bool:
    """What no single constant of the error term C/sqrt(n-1) covers grows with n: sqrt(n) by a factor 10 here."""
    return bool(table["constant"].iloc[-1] > _GROWING * table["constant"].iloc[0] > 0)


def _no_constant(table: pd.DataFrame, where: str) -> str:
    few, many = table.iloc[0], table.iloc[-1]
    return (
        f"{where} $C$ would have to grow without bound: to at least {few['constant']:.3g} at $n$ = {few['n']:,.0f}, "
        f"and to at least {many['constant']:.3g} at {many['n']:,.0f}."
    )


_FIXED = "with the error term, one $C$ for all $n$ while the groups keep their budgets and shares"
_ANY = "with the error term, one $C$ for all $n$ and all budgets"
_NONE = "without the error term, as the numbers of the paper are computed"
_NOT_SAID = "The proved $C$ grows with the number of users, or nothing that is proved says something about $\\mu$."
_SLACK = (
    r"the slack of Theorem 2, corrected: $s = e(c_0) + \Pr(N < c_0) + (2/\sqrt{c_0} - \mu)_+/\sqrt{2\pi}$ for any "
    r"$c_0 \ge 100$ with $e(c) = 0.53/c + e^{-3\sqrt{c}/4}$"
)


def _proved_with_mu(terms: pd.DataFrame, mu: str) -> str:
    """What the printed error term says, and what the corrected one does."""
    worst = terms[terms["n"] == terms["n"].min()].iloc[-1]
    return (
        f"With $C$ = {terms['constant'].max():.3g} for Figure 3's users it is proved, but it is empty: the same holds "
        "with any other $\\mu$, even 0, so it says no more than that the total variation is $O(1/\\sqrt{n})$. "
        f"Corrected, it says something about $\\mu$. {mu} {worst['mu']:.4f}, with a slack of {worst['slack']:.2g} "
        f"at {worst['n']:,.0f} users; half the total variation, at least {worst['reached'] / 2:.2g}, would serve any "
        "$\\mu$."
    )


@settles("G-T3")
def theorem_3(
    groups: pd.DataFrame,
    crowded: pd.DataFrame,
    silent: pd.DataFrame,
    lone: pd.DataFrame,
    terms: pd.DataFrame,
    spread: Mapping[str, float],
) -> Outcome:
    """Attacks and proved bounds for Algorithm 1, with and without the error term of Theorem 2.

    From `at_deltas`, `crowded_out`, `silent_crowds`, `lone_users`, `error_terms` and `in_ranges`.
    """
    broken = crowded[crowded["promise"] == "broken"]
    delta = groups["delta"].max()
    at_home, ranges = _at_home(groups, spread)
    evidence = at_home | ranges | _proved(terms)
    for row in _records(crowded):
        conservative = f"{row.eps_conservative:g}"
        label = f"no moderate users, conservative ones at {conservative}: liberal user's $\\epsilon$ promised, true"
        evidence[label] = f"{row.promised:.4f}, {row.lower:.4f} to {row.upper:.4f}"
        label = f"that user, conservative ones at {conservative}: $\\delta$ there, at least (promised {delta:g})"
        evidence[label] = row.attacked
    for row in _records(silent):
        label = f"liberal user among {row.n - 1:,} at {row.others:g}: $\\epsilon$ promised, true at least"
        evidence[label] = f"{row.promised:.4f}, {row.lower:.4f}"
        label = f"$C$ of the error term $C/\\sqrt{{n-1}}$ that would cover it, $n$ = {row.n:,}: at least"
        evidence[label] = row.constant
    for row in _records(lone):
        label = f"user at {row.eps:g} among {row.n - 1:,} at {row.others:g}: total variation and $C$, at least"
        evidence[label] = f"{row.reached:.4f}, {row.constant:.3g}"
    if not _in_order(terms) or (groups["lower"] > groups["upper"] * (1 + 1e-9)).any():
        said = "An upper bound lies below what is certainly reached, so this run proves nothing."
        return judge("G-T3", evidence, reading(_FIXED, unknown(), {"not checkable": said}))
    here = _without_term(groups)
    lost = (groups["promise"] == "broken").any()
    elsewhere = here
    if len(broken):
        worst = broken.iloc[-1]
        elsewhere = (
            f"{here} With {100 * worst['users'] / _here(groups)['users'].sum():.0f}% liberal users and all others at "
            f"{worst['eps_conservative']:g}, a liberal user is promised {worst['promised']:.4f}, and the true value is "
            f"more than {worst['lower']:.4f}."
        )
    with_mu = _proved_with_mu(terms, "A liberal user has $\\mu$ =")
    nothing = "No attack tried asks for more than one constant; that does not prove one for all."
    return judge(
        "G-T3",
        evidence,
        reading(
            _FIXED,
            exactly(False, near=_steady(terms) and _says(terms)),
            {
                "holds with correction": f"{with_mu} Without the error term, "
                f"{here[0].lower()}{here[1:]}" + (" For other budgets it is not." if len(broken) and not lost else ""),
                "refuted": _NOT_SAID,
            },
            correction=r"For user $n$, $T(\alpha) \ge G_\mu(\alpha + s) - s$ with "
            r"$\mu = \sqrt{2/\sum_{j \ne n} r_j}$, $r_j = \frac{\epsilon_j}{2\epsilon_n} e^{-\epsilon_j}$ where "
            rf"$\epsilon_j \le \epsilon_n$ and 0 elsewhere, and {_SLACK}; $N$ counts clones, each with probability "
            r"$2 r_j$.",
        ),
        reading(
            "with the error term, one $C$ for all $n$ as long as the budgets are bounded",
            exactly(False) if _grows(lone) else unknown(),
            {
                "refuted": lambda: _no_constant(
                    lone,
                    f"For one user at {lone['eps'].iloc[0]:g} among users at {lone['others'].iloc[0]:g}, whose reports "
                    "thin out sooner,",
                ),
                "not checkable": nothing,
            },
        ),
        reading(
            _ANY,
            exactly(False) if _grows(silent) else unknown(),
            {
                "refuted": lambda: _no_constant(silent, "Among users whose budgets tend to 0"),
                "not checkable": nothing,
            },
        ),
        reading(
            _NONE,
            exactly(False) if len(broken) or lost else unknown(),
            {
                "refuted": elsewhere,
                "not checkable": f"{here} No attack tried breaks it elsewhere; that does not prove it for all budgets.",
            },
        ),
    )


@settles("G-T4")
def theorem_4(
    groups: pd.DataFrame,
    limits: pd.DataFrame,
    loud: pd.DataFrame,
    terms: pd.DataFrame,
    spread: Mapping[str, float],
    bits_ratio: float,
    proved: float,
    floor: float,
) -> Outcome:
    """Algorithm 2 at Figure 3's settings for every group, and where the Gaussian without error term promises too much.

    From `at_deltas`, `response_limits`, `loud_crowds`, `error_terms` and `in_ranges`; `bits_ratio` is the mu of the
    Gaussian limit over the paper's, `proved` the error term of page 07, and `floor` the least delta at which it leaves
    a statement.
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
        "least $\\delta$ at which anything is promised with that error term": floor,
        **_proved(terms),
    }
    for row in _records(limits[limits["promise"] == "broken"]):
        evidence[f"{row.n:,} users at $\\epsilon_0$ = {row.eps0:g}: promised, exact, certified"] = (
            f"{row.promised:.4f}, {row.exact:.4f}, {row.certified:.4f}"
        )
    evidence["equal budgets: promised too much at"] = f"{len(broken)} of {len(limits)} settings"
    for row in _records(loud):
        label = f"{row.n:,} users at {row.eps0:.3g}: $\\delta$ at $\\epsilon$ = {row.eps:g}, and $C$, at least"
        evidence[label] = f"{row.delta:.4f}, {row.constant:.3g}"
    uncovered = limits["certified"] < limits["exact"] * (1 - 1e-9)
    if uncovered.any() or not _in_order(terms) or (groups["lower"] > groups["upper"] * (1 + 1e-9)).any():
        said = "A certified bound lies below an exact value, so this run proves nothing."
        return judge("G-T4", evidence, reading(_FIXED, unknown(), {"not checkable": said}))
    lost = bool((groups["promise"] == "broken").any())
    if not lost and not (groups["promise"] == "kept").all():
        return unsettled("G-T4", f"The promise is certified for {_kept(groups)} groups and deltas only.")
    certain = _without_term(groups)
    if not lost:
        certain += f" It is {over[0]:.2f} to {over[1]:.2f} times the true $\\epsilon$ of the liberal users."
    nowhere = not lost and broken.empty
    tried = f"{certain} The same holds at all {len(limits)} settings of equal budgets tried."
    too_much = certain
    with_mu = _proved_with_mu(terms, "Everybody has the stated $\\mu$ =")
    if len(broken):
        first = broken.iloc[0]
        too_much = (
            f"{certain} Elsewhere it is no bound: {first['n']:,} users at $\\epsilon_0$ = {first['eps0']:g} are "
            f"promised {first['promised']:.3f} at $\\delta$ = {delta:g}, and the exact value is {first['exact']:.3f}."
        )
    return judge(
        "G-T4",
        evidence,
        reading(
            _FIXED,
            exactly(nowhere, near=_steady(terms) and _says(terms)),
            {
                "verified": tried,
                "holds with correction": f"{with_mu} Without the error term, {too_much[0].lower()}{too_much[1:]}",
                "refuted": _NOT_SAID,
            },
            correction=rf"$T(\alpha) \ge G_\mu(\alpha + s) - s$ with the stated $\mu$ and {_SLACK}; $N$ counts clones, "
            r"each with probability $2/(1+e^{\epsilon_j})$. A number without $s$ comes from the exact pair.",
        ),
        reading(
            _ANY,
            exactly(False) if _grows(loud) else unknown(),
            {
                "refuted": lambda: _no_constant(loud, "Where budgets grow like $\\log n$ and one of all users lies,"),
                "not checkable": "No case tried asks for more than one constant; that does not prove one for all.",
            },
        ),
        reading(_NONE, exactly(nowhere), {"verified": tried, "refuted": too_much}),
    )

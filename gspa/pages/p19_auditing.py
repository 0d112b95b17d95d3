"""Page 19: every bound beside what explicit attacks reach, lower <= truth <= upper, a row a setting.

>>> row = intervals(cases(n=100, delta=1e-3, loud=2.0, quiet=0.01)[:1], samples=1000, seed=1, confidence=0.95).iloc[0]
>>> bool(row["lower"] <= row["truth_high"] and row["lower"] <= row["certified"] and row["consistent"])
True
>>> row = headline(local=[5.0], n=1_000, delta=1e-4).iloc[0]
>>> bool(row["paper"] < row["attack"] <= row["certified"]), bool(row["broken"])
(True, True)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from gspa.accountant import attacks, budgets
from gspa.accountant.asymptotic import asymptotic_mu
from gspa.accountant.bound import Bound, rounded
from gspa.accountant.budgets import Budgets
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.exact import exact_epsilon
from gspa.accountant.families import krr
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.accountant.one_round import central_epsilon
from gspa.accountant.published import CATALOGUE, compare, gspa_epsilon
from gspa.accountant.sampled_audit import sampled_epsilon
from gspa.accountant.tradeoff import gdp_epsilon
from gspa.book import text
from gspa.book.figures import ROLES, Frame, keeps_data, name_line, role

_CELLS = 16  # answers or cells of the sampled attack
_FEW_CELLS = 6  # for the enumeration, where it is possible at all
# Su25 is this book's own certified number, and Liu24 is proved for nobody.
ASKED = tuple(key for key in CATALOGUE if key not in ("su25", "liu24"))
LOWER = ("attack", "enumerated", "sampled")
USERS, CENTRAL = 1_000, 1e-4  # of the headline's figure
FLOOR = 1e-3  # where its pictures end at the bottom, all alike
LOCAL = tuple(float(f"{eps:.4g}") for eps in np.geomspace(0.1, 8, 50))
"""Columns of rigorous lower bounds, the last one with a stated confidence."""


# --- tables: the settings ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """One population to audit: `people` as the paper and the published bounds are given them.

    `scales` are the noise scales of reports on a line, one per group of `people`; empty for randomized response.
    """

    name: str
    mechanism: str
    people: Budgets
    delta: float
    k: int = 2
    scales: tuple[float, ...] = ()

    def worlds(self) -> list[attacks.Worlds]:
        """What to attack: the others all hold the victim's first item, or all a third one."""
        if self.scales:
            return [attacks.reports(self.scales, count=self.people.count, mechanism=self.mechanism)]
        found = [attacks.randomized_response(self.people, k=self.k)]
        if self.k > 2:
            hold = np.zeros((self.people.eps.size, self.k))
            hold[:, 2] = self.people.count
            hold[int(np.argmax(self.people.eps)), 2] -= 1
            found.append(attacks.randomized_response(self.people, k=self.k, inputs=hold))
        return found


def _gaussian(name: str, sigma: Sequence[float], count: Sequence[int], delta: float) -> Case:
    """Gaussian reports; the paper is given the least eps_i that hold at delta/100 (analytic, not classical)."""
    local = delta / 100
    people = budgets.from_array([gdp_epsilon(delta=local, mu=1 / s) for s in sigma], local, count)
    return Case(name, "gaussian", people, delta, scales=tuple(sigma))


def _laplace(name: str, people: Budgets, delta: float) -> Case:
    return Case(name, "laplace", people, delta, scales=tuple((1 / people.eps).tolist()))


def cases(*, n: int, delta: float, loud: float, quiet: float) -> list[Case]:
    """The settings of the page: equal and personal budgets, bits, items and reports on a line, many users and few.

    `n` and `delta` are those of the large settings; in the personal ones one user has `loud`, all others `quiet`.
    """
    one = budgets.from_array([loud, quiet], count=[1, n - 1])
    # Figure 3's shares: conservative, moderate and liberal users.
    moderate, liberal = round(0.37 * n), max(round(0.09 * n), 1)
    groups = budgets.from_array([0.1, 0.5, 1.0], count=[n - moderate - liberal, moderate, liberal])
    crowd = budgets.from_array([4.0, 0.01], count=[1, 9_999])
    stands_out = f"one user at {loud:g}, {n - 1:,} at {quiet:g}"
    return [
        Case(f"RR, {n:,} users at 0.5", "rr", budgets.constant(0.5, n=n), delta),
        Case(f"RR, {stands_out}", "rr", one, delta),
        Case(f"RR, groups of Figure 3, {n:,} users", "rr", groups, delta),
        Case("RR, 1,000 users at 4", "rr", budgets.constant(4.0, n=1_000), 1e-6),
        Case("3-ary RR, 20 users at 1", "krr", budgets.constant(1.0, n=20), 1e-3, k=3),
        Case("10-ary RR, 1,000 users at 2", "krr", budgets.constant(2.0, n=1_000), 1e-4, k=10),
        Case("100-ary RR, one user at 4, 9,999 at 0.01", "krr", crowd, 1e-4, k=100),
        _laplace(f"Laplace, {n:,} users at 1", budgets.constant(1.0, n=n), delta),
        _laplace(f"Laplace, {stands_out}", one, delta),
        _laplace(f"Laplace, groups of Figure 3, {n:,} users", groups, delta),
        _laplace("Laplace, 10 users at 4", budgets.constant(4.0, n=10), 1e-2),
        _gaussian(f"Gaussian, $\\sigma$ = 1, {n:,} users", [1.0], [n], delta),
        _gaussian(f"Gaussian, one $\\sigma$ = 1, {n - 1:,} at 100", [1.0, 100.0], [1, n - 1], delta),
    ]


# --- tables: lower bounds, truth, upper bounds -------------------------------------------------------------


def exact_attack(case: Case) -> float:
    """The best of the attacks whose statistic's law is exact: a rigorous lower bound on eps."""
    if not case.scales:
        return max(attacks.statistic_epsilon(one, delta=case.delta).lower for one in case.worlds())
    count, mechanism = case.people.count, case.mechanism
    return max(
        attacks.attack_epsilon(
            case.scales, count=count, delta=case.delta, mechanism=mechanism, statistic=statistic
        ).lower
        for statistic in attacks.STATISTICS
    )


def enumerated(case: Case) -> float:
    """The likelihood ratio attack on all histograms, a rigorous lower bound; NaN where there are too many."""
    worlds = [attacks.merged(one, cells=_FEW_CELLS) if case.scales else one for one in case.worlds()]
    if max(one.work for one in worlds) > attacks.MOST_WORK:
        return math.nan
    return max(attacks.likelihood_ratio_epsilon(one, delta=case.delta).lower for one in worlds)


def sampled(case: Case, *, samples: int, confidence: float, rng: np.random.Generator) -> Bound:
    """The sampled attack at the inputs where the limit is largest."""
    worst = max(case.worlds(), key=lambda one: attacks.limit_epsilon(one, delta=case.delta))
    some = attacks.merged(worst, cells=_CELLS)
    return sampled_epsilon(some, delta=case.delta, samples=samples, confidence=confidence, rng=rng)


def truth(case: Case) -> tuple[float, float]:
    """The eps of the shuffled reports, bracketed, at the others' worst inputs; NaN where it is not known."""
    if case.mechanism == "rr":
        found = exact_epsilon(case.people, delta=case.delta)
        return found.lower, found.upper
    if case.mechanism == "krr":
        try:
            found = attacks.worst_epsilon(case.people, delta=case.delta, k=case.k)
        except (InvalidValue, OutsideValidity):  # budgets that differ, or too many histograms
            return math.nan, math.nan
        return found.lower, found.upper
    return math.nan, math.nan


def certified(case: Case) -> float:
    """The package's own certified upper bound."""
    if case.scales:
        count, mechanism = case.people.count, case.mechanism
        return blanket_epsilon(case.scales, delta=case.delta, count=count, mechanism=mechanism).upper
    return central_epsilon(case.people, delta=case.delta, mechanism=krr(case.k)).upper


def limit(case: Case) -> float:
    """The Gaussian limit of many users: an estimate, not a bound."""
    if case.scales:
        found = asymptotic_mu(case.scales, count=case.people.count, mechanism=case.mechanism)
        return found.epsilon(case.delta)
    return max(attacks.limit_epsilon(one, delta=case.delta) for one in case.worlds())


def published(case: Case) -> pd.DataFrame:
    """Every published bound that is established for the case, and the paper's, first, which is stated for any.

    Columns: bound, epsilon, proved.
    """
    rows = [(CATALOGUE["gspa"].label, gspa_epsilon(case.people, delta=case.delta), False)]
    if case.mechanism != "gaussian":  # no pure budget
        known = compare(case.people, delta=case.delta, mechanism=case.mechanism, keys=ASKED)
        rows += [(row.label, float(row.epsilon or 0), row.rigorous) for row in known if row.valid and row.key != "gspa"]
    return pd.DataFrame(rows, columns=["bound", "epsilon", "proved"])


def _best_published(case: Case) -> tuple[float, str]:
    found = published(case)
    proved = found[found["proved"]].sort_values("epsilon", kind="stable")
    if case.mechanism == "gaussian":
        return math.nan, ""
    if proved.empty or float(proved["epsilon"].iloc[0]) >= case.people.eps_max:
        return case.people.eps_max, "the local budget"
    return float(proved["epsilon"].iloc[0]), str(proved["bound"].iloc[0])


def intervals(some: Sequence[Case], *, samples: int, seed: int, confidence: float) -> pd.DataFrame:
    """Lower bounds, truth, estimate and upper bounds of every case, and what `judge` adds.

    Columns: setting, n, delta; attack, enumerated (NaN: too many histograms), sampled; truth_low, truth_high (NaN:
    unknown); limit (an estimate); certified; published (the smallest proved bound, or the local budget if none is
    smaller), published_by; paper; note (of the sampled attack). All sampled bounds hold at once with `confidence`.
    """
    each = 1 - (1 - confidence) / max(len(some), 1)
    rows = []
    for index, case in enumerate(some):
        drawn = sampled(case, samples=samples, confidence=each, rng=np.random.default_rng([seed, index]))
        low, high = truth(case)
        best, by = _best_published(case)
        rows.append(
            {
                "setting": case.name,
                "n": case.people.n,
                "delta": case.delta,
                "attack": exact_attack(case),
                "enumerated": enumerated(case),
                "sampled": drawn.lower,
                "truth_low": low,
                "truth_high": high,
                "limit": limit(case),
                "certified": certified(case),
                "published": best,
                "published_by": by,
                "paper": gspa_epsilon(case.people, delta=case.delta),
                "note": drawn.note,
            }
        )
    return judge(pd.DataFrame(rows))


def judge(table: pd.DataFrame) -> pd.DataFrame:
    """Hold each upper bound against its lower bounds; no tolerance, all have their roundings included.

    Adds lower (the largest), known (the truth's lower end where that is larger), consistent (no lower bound is above
    the truth's upper end, and none of them nor the truth above the certified or the proved published bound), broken
    (the paper's number is below), slack (certified over lower) and found (the same in words).
    """
    lower = table[list(LOWER)].max(axis=1)
    known = np.fmax(lower, table["truth_low"])  # fmax: where the truth is unknown, the attack
    # A comparison with NaN is False: what is unknown refutes nothing.
    wrong = (lower > table["truth_high"]) | (known > table["certified"]) | (known > table["published"])
    broken = known > table["paper"]
    # A certificate or a proof below an attack is the graver fault.
    found = np.select([wrong, broken], ["a proved bound fails", "the promise fails"], "all hold")
    with np.errstate(divide="ignore"):
        slack = table["certified"] / lower
    return table.assign(lower=lower, known=known, consistent=~wrong, broken=broken, slack=slack, found=found)


def shrunk(table: pd.DataFrame, factor: float) -> pd.DataFrame:
    """The same judgement had every certified bound come out `factor` times as large: an error to be caught."""
    return judge(table.assign(certified=factor * table["certified"]))


def sensitivity(table: pd.DataFrame, spoiled: pd.DataFrame) -> pd.DataFrame:
    """How large an error of a certified bound the audit would see, from `intervals` and `shrunk`.

    Columns: setting, known, certified, seen (a certified bound below this share of ours would be caught; 0: none
    would), caught (whether the spoiled one is).
    """
    seen = (table["known"] / table["certified"]).where(table["certified"] > 0, 0.0)
    caught = spoiled["consistent"].map({True: "no", False: "yes"})
    return table[["setting", "known", "certified"]].assign(seen=seen, caught=caught)


def by_bound(some: Sequence[Case], table: pd.DataFrame) -> pd.DataFrame:
    """Every published bound over the cases for which it is established; the paper's over all, as it is stated.

    Columns: bound, settings (how many it covers), least (its smallest ratio to a lower bound; below 1 it is refuted),
    where (that setting), exceeded (in how many), proved.
    """
    found = pd.concat([published(case).assign(setting=case.name) for case in some])
    found = found.merge(table[["setting", "known"]], on="setting")
    found = found[found["known"] > 0].assign(ratio=lambda t: t["epsilon"] / t["known"])
    rows = []
    for name, part in found.groupby("bound", sort=False):
        worst = part.sort_values("ratio", kind="stable").iloc[0]
        exceeded, proved = int((part["ratio"] < 1).sum()), "yes" if worst["proved"] else "no"
        rows.append((name, len(part), float(worst["ratio"]), worst["setting"], exceeded, proved))
    columns = ["bound", "settings", "least", "where", "exceeded", "proved"]
    return pd.DataFrame(rows, columns=columns).sort_values("least", ignore_index=True)


def price_of_sampling(case: Case, *, sizes: Sequence[int], seed: int, confidence: float) -> pd.DataFrame:
    """What the sampled attack certifies as the runs of each world grow: samples, sampled, note."""
    rows = []
    for size in sizes:
        found = sampled(case, samples=size, confidence=confidence, rng=np.random.default_rng([seed, size]))
        rows.append((size, found.lower, found.note))
    return pd.DataFrame(rows, columns=["samples", "sampled", "note"])


def headline(*, local: Sequence[float], n: int, delta: float) -> pd.DataFrame:
    """Central eps of n shuffled binary randomized responses with one budget, the case that all bounds are stated for.

    Columns: local; paper (Theorem 2 without its error term); closed (the closed form that the paper compares with, NaN
    outside its conditions); numerical (the same authors'); certified (upper end); attack (a lower bound); broken (the
    paper promises less than the attack reaches).
    """
    rows = []
    for eps in local:
        people = budgets.constant(eps, n=n)
        paper, closed, numerical = (_or_nan(key, people, delta) for key in ("gspa", "fmt21", "fmt21_numerical"))
        attack = exact_attack(Case("", "rr", people, delta))
        upper = central_epsilon(people, delta=delta).upper
        rows.append((eps, paper, closed, numerical, upper, attack, paper < attack))
    return pd.DataFrame(rows, columns=["local", "paper", "closed", "numerical", "certified", "attack", "broken"])


def headline_at(*, local: Sequence[float], sizes: Iterable[int], deltas: Iterable[float]) -> pd.DataFrame:
    """`headline` for each number of users and delta, which are its first columns."""
    parts = [
        headline(local=local, n=n, delta=delta).assign(n=n, delta=delta) for n, delta in product(sizes, list(deltas))
    ]
    table = pd.concat(parts, ignore_index=True)
    return table[["n", "delta", *table.columns[:-2]]]


def _or_nan(key: str, people: Budgets, delta: float) -> float:
    try:
        return CATALOGUE[key].epsilon(people, delta)
    except OutsideValidity:
        return math.nan


# --- figures -----------------------------------------------------------------------------------------------

# column -> name, role, marker, filled, size: shapes differ as well as colours
_MARKS = {
    "lower": ("best attack", "attack", "D", True, 6),
    "truth_low": ("truth (its lower end)", "truth", "|", True, 16),
    "certified": ("certified bound", "certified", "o", True, 7),
    "published": ("smallest proved published bound", "numerical", "^", False, 8),
    "paper": ("the paper's promise", "paper", "*", True, 12),
}
_NEAR = ("certified", "lower", "truth_low")
_FAR = ("certified", "lower", "published", "paper")
# column -> label, role, width
_LINES = {
    "closed": ("closed form that the\npaper compares with", "closed form", 2),
    "numerical": ("numerical bound by\nthe same authors", "numerical", 2),
    "paper": ("the paper's promise", "paper", 3),
    "certified": ("certified", "certified", 3),
    "attack": ("reached by an attack", "attack", 2),
}


@keeps_data
def audit_intervals(table: pd.DataFrame) -> Figure:
    """`intervals`, every eps over the certified one: left the interval, right what was published and promised.

    The truth lies on the bar between the best attack and the certified bound. Rows whose certified eps is 0 are left
    out, and so is a lower bound of 0.
    """
    shown = table[table["certified"] > 0].reset_index(drop=True)
    place = np.arange(len(shown))[::-1]
    figure, (near, far) = plt.subplots(
        1, 2, figsize=(7, 0.44 * len(shown) + 1.5), sharey=True, width_ratios=(4, 3), layout="constrained"
    )
    share = (shown["lower"] / shown["certified"]).where(shown["lower"] > 0)
    near.hlines(place, share, 1, color=ROLES["certified"][0], lw=7, alpha=0.3)
    for axis, columns in ((near, _NEAR), (far, _FAR)):
        axis.axvline(1, color=ROLES["certified"][0], lw=1)
        _draw(axis, shown, place, columns)
        axis.grid(visible=False, axis="y")
    for row, y in zip(shown.to_dict("records"), place, strict=True):
        words = f"{row['setting']}, $\\delta$ = {text.number(row['delta'])}"
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        near.annotate(words, (0, y), (3, 9), ("axes fraction", "data"), "offset points", fontsize=8, bbox=behind)
        if row["broken"]:
            name_line(far, row["paper"] / row["certified"], y, "broken", colour=ROLES["paper"][0], right=-9)
    least = 1.0 if share.isna().all() else float(share.min())
    near.set(
        xlim=(max(least - 0.06, 0), 1.03),
        ylim=(-0.6, len(shown) - 0.2),
        yticks=[],
        xlabel=r"$\epsilon$ over certified $\epsilon$",
        title="From the best attack to the certified bound",
    )
    ends = shown[list(_FAR)].div(shown["certified"], axis=0).to_numpy(dtype=float)
    ends = ends[ends > 0]  # nothing that is unknown, either
    far.set(
        xscale="log",
        xlim=(float(ends.min()) * 0.2, float(ends.max()) * 1.6),
        xlabel=r"$\epsilon$ over certified $\epsilon$, logarithmic",
        title="What was published",
    )
    far.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    looks = [_look(column) | {"ms": min(_MARKS[column][-1], 11)} for column in _MARKS]
    handles = [Line2D([], [], **look, label=mark[0]) for look, mark in zip(looks, _MARKS.values(), strict=True)]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=9)
    return figure


def _look(column: str) -> dict[str, Any]:
    """A mark's style."""
    _, role_name, marker, filled, size = _MARKS[column]
    colour = ROLES[role_name][0]
    width = 2 if marker == "|" else 1.4
    return {"marker": marker, "color": colour, "mfc": colour if filled else "white", "mew": width, "ms": size, "ls": ""}


def _draw(axis: Axes, shown: pd.DataFrame, place: np.ndarray, columns: tuple[str, ...]) -> None:
    for column in columns:
        axis.plot((shown[column] / shown["certified"]).where(shown[column] > 0), place, **_look(column))


@keeps_data
def bound_ratios(table: pd.DataFrame) -> Figure:
    """`by_bound`: each bound's smallest ratio to a lower bound, on a logarithmic axis; what is left of 1 is refuted."""
    figure, axis = plt.subplots(figsize=(6.4, 0.26 * len(table) + 0.9), layout="constrained")
    place = np.arange(len(table))[::-1]
    for column, some in (("published", table["proved"] == "yes"), ("paper", table["proved"] == "no")):
        axis.plot(table["least"][some], place[some], **_look(column))
    axis.axvline(1, color=ROLES["attack"][0], dashes=ROLES["attack"][1], lw=2)
    name_line(axis, 1, len(table) - 0.1, "the best lower bound", colour=ROLES["attack"][0], right=0, up=4)
    for ratio, y in zip(table["least"], place, strict=True):
        name_line(axis, ratio, y, f"{ratio:.3g}", colour="0.25", right=9)
    axis.set(
        xscale="log",
        xlim=(float(table["least"].min()) * 0.6, float(table["least"].max()) * 2),
        xlabel="bound over best lower bound, smallest ratio (logarithmic)",
        ylim=(-0.7, len(table) - 0.3),
    )
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_yticks(place, table["bound"], fontsize=9)
    axis.grid(visible=False, axis="y")
    return figure


@keeps_data
def headline_curves(table: pd.DataFrame) -> Figure:
    """`headline` on logarithmic axes; where the paper's promise is broken the gap is shaded."""
    figure, axis = plt.subplots(figsize=(6.4, 3.9), layout="constrained")
    local = table["local"]
    axis.fill_between(
        local,
        table["paper"],
        table["attack"],
        where=table["broken"],
        interpolate=True,
        color=ROLES["paper"][0],
        alpha=0.22,
    )
    axis.plot(local, local, **role("reference") | {"lw": 1})
    for column, (label, stands_for, width) in _LINES.items():
        axis.plot(local, table[column], **role(stands_for) | {"lw": width}, label=label)
    axis.set(
        xlabel=r"local budget $\epsilon_0$ of each user",
        ylabel=r"central $\epsilon$ after shuffling",
        xscale="log",
        yscale="log",
        xlim=(float(local.min()), float(local.max())),
        ylim=(FLOOR, float(local.max()) * 1.3),
    )
    for each, ticks in ((axis.xaxis, (0.1, 0.2, 0.5, 1, 2, 4, 8)), (axis.yaxis, (FLOOR, 0.01, 0.1, 1, 10))):
        each.set_major_locator(FixedLocator(ticks))
        each.set_minor_locator(NullLocator())
        each.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    late = bool((table["attack"][local > 1.8] < 0.04).any())  # the lines rise where else the legend stands
    _notes(axis, table, late=late)
    look: dict[str, Any] = {"fontsize": 9.5, "labelspacing": 0.4, "edgecolor": "none", "framealpha": 1}
    axis.legend(loc="upper left" if late else "lower right", frameon=late, **look)
    return figure


def headline_frames(table: pd.DataFrame) -> dict[tuple[int, float], Frame]:
    """A picture of `headline` at each n and delta of the table."""
    return {
        (int(part["n"].iloc[0]), float(part["delta"].iloc[0])): Frame.of(headline_curves(part), _headline_words(part))
        for _, part in table.groupby(["n", "delta"])
    }


def _headline_words(table: pd.DataFrame) -> str:
    """What the picture shows."""
    first, broken = table.iloc[0], table[table["broken"]]
    said = (
        f"Central epsilon against the local budget, both logarithmic, for {first['n']:,} users and delta "
        f"{_plain(first['delta'])}. "
    )
    if first["certified"] > 0:
        ends = rounded(first["certified"], up=True, digits=3), rounded(first["attack"], up=False, digits=3)
        said += (
            "The certified bound for any aligned randomizers and the attack run close together, from "
            f"{ends[0]} and {ends[1]} at "
            f"{first['local']:g}. There the paper's promise, without its error term, is {_plain(first['paper'], 2)}, "
            f"{first['paper'] / first['certified']:.0f} times the certified bound."
        )
    else:
        last = table.loc[table["certified"] == 0, "local"].max()
        zero = _at(table, float(rounded(last, up=False, digits=2)))
        said += (
            f"The certified bound is 0 up to a local budget of {zero['local']:g}, where the paper's promise, without "
            f"its error term, is {_plain(zero['paper'], 2)}. Above that budget the bound and the attack run close "
            "together."
        )
    if broken.empty:
        return said
    worst = most_broken(table)
    near = _at(table, float(f"{worst['local']:.2g}"))
    peak = near if near["broken"] else worst
    return (
        f"{said} From {_end(table, 0):g} to {_end(table, -1):g} the promise lies below the attack, "
        f"which makes it false without that term: at {peak['local']:g} it promises {peak['paper']:.3g} and the "
        f"attack reaches {rounded(peak['attack'], up=False, digits=3)}."
    )


def _at(table: pd.DataFrame, local: float) -> pd.Series:
    """`headline` at a budget that the words name: its neighbour in the picture may have other digits."""
    first = table.iloc[0]
    return headline(local=[local], n=int(first["n"]), delta=float(first["delta"])).iloc[0]


def _end(table: pd.DataFrame, side: int) -> float:
    """The last budget of two digits, on the way down (side 0) or up (-1), at which the promise is broken."""
    places = np.flatnonzero(table["broken"])
    inside, beyond = int(places[side]), int(places[side]) + (-1 if side == 0 else 1)
    found = float(table["local"].iloc[inside])
    if not 0 <= beyond < len(table):
        return found
    unit = 10.0 ** (math.floor(math.log10(found)) - 1)
    ends = sorted((found, float(table["local"].iloc[beyond])))
    between = [round(unit * k, 9) for k in range(math.ceil(ends[0] / unit), math.floor(ends[1] / unit) + 1)]
    for local in reversed(between) if side == 0 else between:
        if not _at(table, local)["broken"]:
            break
        found = local
    return found


def _plain(value: float, digits: int = 4) -> str:
    return text.plain(text.number(float(value), digits))


def _notes(axis: Axes, table: pd.DataFrame, *, late: bool) -> None:
    """What the picture says, at the places where it shows."""
    first, colour = table.iloc[0], ROLES["reference"][0]
    if first["certified"] > FLOOR:
        at = float(first["local"]) * 1.12
        ends = (at, first["certified"] * 1.35), (at, first["paper"] * 0.93)
        axis.annotate("", *ends, arrowprops={"arrowstyle": "<->", "color": "0.25"})
        middle = (first["certified"] * first["paper"]) ** 0.5
        ratio = f"{first['paper'] / first['certified']:.0f} times\nthe certified"
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axis.text(at * 1.08, middle, ratio, fontsize=11, va="center", bbox=behind)
    x = 1.5 if late else _room(table)
    turned: dict[str, Any] = {"rotation": 45, "transform_rotates_text": True, "rotation_mode": "anchor"}
    axis.text(x, x * 1.12, "no shuffling", color=colour, fontsize=9.5, **turned)
    if table["broken"].any():
        row = most_broken(table)
        axis.annotate(
            "promise\nbroken",
            (row["local"], (row["paper"] * row["attack"]) ** 0.5),
            (0.985, 0.2 if late else 0.55),
            textcoords="axes fraction",
            color=ROLES["paper"][0],
            fontsize=11,
            fontweight="bold",
            ha="right",
            va="top",
            arrowprops={"arrowstyle": "->", "color": ROLES["paper"][0]},
        )


def _room(table: pd.DataFrame) -> float:
    """Where on the line of no shuffling its name is farthest from the promise."""
    local, paper = table["local"].to_numpy(dtype=float), table["paper"].to_numpy(dtype=float)
    with np.errstate(divide="ignore"):
        gap = np.abs(np.log(paper / (1.25 * local)))
    along = [gap[i : i + 8].min() if 0.25 <= local[i] <= 1 else -1.0 for i in range(local.size)]  # the name's length
    return float(local[int(np.argmax(along))])


def most_broken(table: pd.DataFrame) -> pd.Series:
    """The row of `headline` in which the attack exceeds the promise the most."""
    return table.iloc[int((table["attack"] / table["paper"]).fillna(0).to_numpy().argmax())]

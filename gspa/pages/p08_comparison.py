r"""Page 08: Table 2 and Figure 2, every bound of the catalogue over distributions of budgets and numbers of users.

The paper's eps is Theorem 2's mu^2 = 2/(sum r_i - max r_i), r_i = 1/(1 + e^{eps_i}), through the Gaussian curve and
without its error term, as in its figure. Each other bound is asked at the same points; it refuses outside its own
conditions, and a refused point counts for nothing.

>>> table = figure2(list(populations(steps=2)), delta=1e-4)
>>> found = ratios(table)
>>> bool((found[found["key"].isin(BASELINES)]["ratio"] < 1).all()), bool((found["ratio"] < 1).all())
(True, False)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gspa.accountant import budgets
from gspa.accountant import published as bounds
from gspa.accountant.errors import OutsideValidity
from gspa.accountant.one_round import central_epsilon, per_user_epsilon
from gspa.algorithms.frequency import frequency_variance
from gspa.book.claims import Outcome, claim, judge, settles, unsettled
from gspa.book.figures import DASHES, keeps_data, name_line, role
from gspa.book.verdicts import Said, exactly, joined, ranked, reading, shown, unknown, within

Population = tuple[str, str, budgets.Budgets]  # a law of Table 2, its label, and users with such budgets

# The paper's own comparison, and what it left out; the whole catalogue is in the table.
BASELINES = ("liu23", "fmt21", "erlingsson19")
SHOWN = ("gspa", "liu23", "fmt21", "erlingsson19", "fmt21_numerical", "fmt23_numerical", "pair")


# Not asked: what holds for Laplace noise alone, evaluated, is no line of Figure 2.
ASKED = tuple(key for key in bounds.CATALOGUE if key not in ("su25", "liu24"))

_FIRST = 1_000  # "we repeat the first 10^3 parameters"
_DRAWN = ("unif1", "unif2")  # the others are the same for every seed, and balanced at every n
_FACTORS = (-12.0, 4.0)  # of all budgets at once, as powers of 2


# --- tables --------------------------------------------------------------------------------------------------


def sizes(n_min: int, n_max: int, steps: int) -> list[int]:
    """`steps` numbers of users from n_min to n_max, equally spaced and rounded; fewer where rounding merges two.

    >>> sizes(1000, 10_000, 4)
    [1000, 4000, 7000, 10000]
    """
    return list(dict.fromkeys(round(n) for n in np.linspace(n_min, n_max, steps)))


def populations(*, n_min: int = 1_000, n_max: int = 10_000, steps: int = 37, seed: int = 0) -> Iterator[Population]:
    """Table 2's distributions over n; the uniform budgets are drawn for 1,000 users and repeated, as the paper says."""
    for index, (name, law) in enumerate(budgets.TABLE2.items()):
        first = budgets.draw(name, n=_FIRST, rng=np.random.default_rng([seed, index]))
        for n in sizes(n_min, n_max, steps):
            people = budgets.repeat_first(first, n=n) if name in _DRAWN else budgets.draw(name, n=n, rng=seed)
            yield name, f"{law.title}: {law.label}", people


def moments(*, n: int, seed: int) -> pd.DataFrame:
    """n draws from each law of Table 2: distribution; law; n; least; largest; and of the budgets the mean and variance.

    The variance is about the mean that the law should have.
    """
    rows = []
    for index, (name, law) in enumerate(budgets.TABLE2.items()):
        drawn = budgets.draw(name, n=n, rng=np.random.default_rng([seed, index]))
        average = float(np.average(drawn.eps, weights=drawn.count))
        spread = float(np.average((drawn.eps - _LAWS[name][1]) ** 2, weights=drawn.count))
        rows.append((name, law.title, law.label, n, drawn.eps_min, drawn.eps_max, average, spread))
    names = ["distribution", "title", "law", "n", "least", "largest", "mean", "variance"]
    return pd.DataFrame(rows, columns=names)


def figure2(points: Sequence[Population], *, delta: float) -> pd.DataFrame:
    """Every bound of `ASKED` at every point: distribution; population; n; mu; key; bound; epsilon; valid; note;
    families. Where a bound refuses, epsilon is NaN and the note says why."""
    rows = []
    for name, population, people in points:
        point = {"distribution": name, "population": population, "n": people.n, "mu": bounds.gspa_mu(people)}
        for row in bounds.compare(people, delta=delta, keys=ASKED):
            found = {"epsilon": math.nan if row.epsilon is None else row.epsilon, "valid": row.valid, "note": row.note}
            rows.append({**point, "key": row.key, "bound": row.label, **found, "families": ", ".join(row.families)})
    return pd.DataFrame(rows)


def certified_pair(points: Sequence[Population], *, delta: float) -> pd.DataFrame:
    """The pair's certified eps for personalized randomized response: the columns of `figure2` that a figure needs.

    `epsilon` is the upper end of the interval, `lower` the other.
    """
    rows = []
    for name, population, people in points:
        found = central_epsilon(people, delta=delta)
        bound = {"key": "pair", "bound": "Certified pair (this book)", "epsilon": found.upper, "lower": found.lower}
        rows.append({"distribution": name, "population": population, "n": people.n, **bound, "valid": True})
    return pd.DataFrame(rows)


def slopes(table: pd.DataFrame) -> pd.DataFrame:
    """Least-squares slopes of log mu and log eps against log n for the paper's bound: population; mu_slope;
    epsilon_slope. NaN where eps is 0 at all sizes but one: no power shows there."""
    groups = table[table["key"] == "gspa"].groupby("population", sort=False)
    rows = [(name, _slope(part["n"], part["mu"]), _slope(part["n"], part["epsilon"])) for name, part in groups]
    return pd.DataFrame(rows, columns=["population", "mu_slope", "epsilon_slope"])


def _slope(n: pd.Series, values: pd.Series) -> float:
    """Of log values against log n, where they are above 0."""
    shown = values > 0
    if n[shown].nunique() < 2:
        return math.nan
    x, y = (np.log(column[shown].to_numpy(float)) for column in (n, values))
    return float(np.polyfit(x, y, 1)[0])


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """The paper's eps divided by each other bound's: population; n; key; bound; ratio (below 1 the paper's is smaller).

    Bounds for a common randomizer or for randomized response count, and the paper's own baselines, where they apply.
    """
    ours = table.loc[table["key"] == "gspa", ["distribution", "n", "epsilon"]]
    same = table["families"].str.contains(r"common|\brr\b", regex=True) | table["key"].isin(BASELINES)
    others = table[(table["key"] != "gspa") & table["valid"] & same]
    joined = others.merge(ours, on=["distribution", "n"], suffixes=("_other", "_paper"))
    joined["ratio"] = joined["epsilon_paper"] / joined["epsilon_other"]
    return joined[["population", "n", "key", "bound", "ratio"]]


def drawn(table: pd.DataFrame) -> pd.DataFrame:
    """Where the paper's own bound and its baselines exist: bound; key; population; points; exist; from_n; falls.

    from_n is the least n with a value, NaN without one; falls, whether the value falls from each size to the next.
    """
    rows = []
    for key in ("gspa", *BASELINES):
        for population, part in table[table["key"] == key].sort_values("n").groupby("population", sort=False):
            found = part[part["valid"]]
            falls = bool((np.diff(found["epsilon"]) < 0).all())
            rows.append((part["bound"].iloc[0], key, population, len(part), len(found), found["n"].min(), falls))
    return pd.DataFrame(rows, columns=["bound", "key", "population", "points", "exist", "from_n", "falls"])


def reductions(ratios: pd.DataFrame) -> pd.DataFrame:
    """By how many percent the paper's eps is below each baseline: population; bound; points; least; most; least_at (the
    n of the least); at_last (percent at the largest n)."""
    rows = []
    own = ratios[ratios["key"].isin(BASELINES)]
    for (population, bound), part in own.groupby(["population", "bound"], sort=False):
        percent, n = 100 * (1 - part["ratio"].to_numpy()), part["n"].to_numpy()
        least, last = percent.argmin(), n.argmax()
        rows.append((population, bound, len(part), percent[least], percent.max(), int(n[least]), percent[last]))
    columns = ["population", "bound", "points", "least", "most", "least_at", "at_last"]
    return pd.DataFrame(rows, columns=columns)


def reached_from(ratios: pd.DataFrame, *, percent: float) -> float:
    """The least n from which on the paper's eps is `percent` below each of its baselines; NaN if none."""
    own = ratios[ratios["key"].isin(BASELINES)]
    short = own.loc[100 * (1 - own["ratio"]) < percent, "n"]
    later = own["n"] if short.empty else own.loc[own["n"] > short.max(), "n"]
    return float(later.min()) if len(later) else math.nan


def extremes(budgets_near_zero: Sequence[float], *, n: int, delta: float) -> pd.DataFrame:
    """The paper's bound and [Liu23] as the budgets of all users vanish, then of one half while the other keeps 0.5.

    Columns: crowd; budget; largest, local eps; paper; liu23 (NaN where it refuses); echoes, S of [Liu23], and needed,
    what its condition asks of S; certified, upper end for randomized response; own, that of a user with the budget.
    """
    rows = []
    for crowd in ("all", "half at 0.5"):
        for eps in budgets_near_zero:
            people = budgets.constant(eps, n=n) if crowd == "all" else budgets.mixed_constant(0.5, eps, n=n)
            groups = people.grouped()
            rows.append(
                {
                    "crowd": crowd,
                    "budget": eps,
                    "largest": people.eps_max,
                    "paper": _or_nan("gspa", people, delta),
                    "liu23": _or_nan("liu23", people, delta),
                    "echoes": bounds.liu23_clones(people),
                    "needed": 16 * math.log(4 / delta),
                    "certified": central_epsilon(people, delta=delta).upper,
                    "own": float(per_user_epsilon(groups, delta=delta).upper[groups.eps == eps].max()),
                }
            )
    return pd.DataFrame(rows)


def _or_nan(key: str, people: budgets.Budgets, delta: float) -> float:
    try:
        return bounds.CATALOGUE[key].epsilon(people, delta)
    except OutsideValidity:
        return math.nan


def equal_privacy(points: Sequence[Population], *, delta: float) -> pd.DataFrame:
    """Algorithm 2's error where each bound is asked for one and the same central eps, at the largest n.

    That eps is the paper's for Table 2's own budgets; a bound that is larger there gets all budgets times a factor
    below 1. Columns: population; n; key; bound; target (central eps); factor (NaN if none meets it); error, the
    standard error of the estimated frequency with these budgets; same, with Table 2's own, whatever the bound; least,
    the bound's eps as all budgets go to 0 (NaN where it refuses).
    """
    largest = max(people.n for _, _, people in points)
    rows = []
    for _, population, people in points:
        if people.n < largest:
            continue
        target = bounds.gspa_epsilon(people, delta=delta)
        for key in ("gspa", *BASELINES, "fmt21_numerical"):
            factor = 1.0 if key == "gspa" else _factor(key, people, target=target, delta=delta)
            error = math.nan if math.isnan(factor) else _error(_scaled(people, factor))
            least = _or_nan(key, _scaled(people.grouped(), 2.0 ** _FACTORS[0]), delta)
            label = bounds.CATALOGUE[key].label
            rows.append((population, largest, key, label, target, factor, error, _error(people), least))
    columns = ["population", "n", "key", "bound", "target", "factor", "error", "same", "least"]
    return pd.DataFrame(rows, columns=columns)


def _scaled(people: budgets.Budgets, factor: float) -> budgets.Budgets:
    return budgets.from_array(people.eps * factor, people.delta, people.count)


def _error(people: budgets.Budgets) -> float:
    return math.sqrt(frequency_variance(people.expanded().eps))


def _factor(key: str, people: budgets.Budgets, *, target: float, delta: float) -> float:
    """The largest factor at which a bound that grows with the budgets is at most `target`; NaN if none is."""
    grouped = people.grouped()

    def met(factor: float) -> bool:
        return _or_nan(key, _scaled(grouped, factor), delta) <= target  # a refusal meets nothing

    low, high = _FACTORS
    if not met(2.0**low):
        return math.nan
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if met(2.0**middle) else (low, middle)
    return float(2.0**low)


# --- figures -------------------------------------------------------------------------------------------------

_KINDS = {"GSPA": "paper", "Certified pair (this book)": "certified"}


def _styles(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Each bound in the colour of what it is; bounds of one kind differ in their dashes."""
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        kind = "numerical" if "numerical" in name else _KINDS.get(name, "closed form")
        style = role(kind)
        alike = sum(one["color"] == style["color"] for one in found.values())
        found[name] = style | ({"lw": 3, "zorder": 1.9} if kind in ("paper", "certified") else {})
        if alike:
            found[name]["dashes"] = DASHES[3 + alike]
    return found


@keeps_data
def bounds_panels(table: pd.DataFrame, *, delta: float) -> Figure:
    """Figure 2: central eps against n, a panel a distribution, a line a bound."""
    names = dict.fromkeys(table["bound"])
    styles = _styles(names)
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.6), sharex=True, sharey=True, layout="constrained")
    for axis, population in zip(axes.flat, table["population"].unique(), strict=True):
        part = table[(table["population"] == population) & table["valid"]]
        for name, line in part.groupby("bound", sort=False):
            axis.plot(line["n"], line["epsilon"], **styles[str(name)], label=name)
        axis.set(title=population, yscale="log")
    for axis in axes[-1]:
        axis.set_xlabel("number of users $n$")
    for axis in axes[:, 0]:
        axis.set_ylabel(rf"central $\epsilon$ at $\delta$ = {delta:g}")
    handles = [Line2D([], [], **style, label=name) for name, style in styles.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(3, len(handles)))
    return figure


@keeps_data
def extreme_budgets(extremes: pd.DataFrame, *, delta: float) -> Figure:
    """Central eps against a local budget that everybody has, logarithmic; budgets of 0 are not on the axes."""
    part = extremes[(extremes["crowd"] == "all") & (extremes["budget"] > 0)].sort_values("budget")
    names = {
        "budget": ("the local budget itself", "reference"),
        "liu23": ("Liu23", "closed form"),
        "paper": ("the paper's", "paper"),
        "certified": ("certified", "certified"),
    }
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for key, (name, kind) in names.items():
        line = part[part[key] > 0]
        style = role(kind)
        axis.plot(line["budget"], line[key], **style, marker="o", ms=4, label=name)
        if len(line):  # the paper's line is flat: its end lies among the others', its beginning does not
            at, up = (line.iloc[0], 9) if key == "paper" else (line.iloc[-1], 0)
            name_line(axis, at["budget"], at[key], name, colour=style["color"], right=8, up=up)
    axis.set(xscale="log", yscale="log", xlabel=r"local budget $\epsilon_0$ of every user")
    none = part[part["certified"] == 0]
    if len(none):  # a logarithmic axis has no 0
        low, colour = axis.get_ylim()[0], role("certified")["color"]
        axis.plot(none["budget"], [low] * len(none), ls="", marker="v", color=colour, clip_on=False)
        name_line(axis, none["budget"].iloc[-1], low, "certified: 0", colour=colour, up=10)
        axis.set_ylim(bottom=low)
    axis.set_ylabel(rf"central $\epsilon$ at $\delta$ = {delta:g}")
    return figure


# --- checks --------------------------------------------------------------------------------------------------

_RANGE = (1_000, 10_000)  # the figure's; a check on a smaller one would not settle what the paper says of it
_PERCENT = 33.0  # the conclusion's number
# Range, mean and variance of Table 2's laws, by hand: U(a, b) has (a+b)/2 and (b-a)^2/12.
_LAWS = {
    "unif1": ((0.01, 1), 0.505, 0.99**2 / 12),
    "unif2": ((0.01, 2), 1.005, 1.99**2 / 12),
    "constant": ((0.5, 0.5), 0.5, 0.0),
    "mixed": ((0.01, 0.5), 0.255, 0.245**2),
}


def _not_covered(identifier: str, table: pd.DataFrame) -> Outcome | None:
    """The outcome of a run that does not cover the figure's range of n."""
    least, largest = table["n"].min(), table["n"].max()
    if least <= _RANGE[0] and largest >= _RANGE[1]:
        return None
    why = f"This run covers $n$ from {least:,} to {largest:,}; the figure has {_RANGE[0]:,} to {_RANGE[1]:,}."
    return unsettled(identifier, why)


def tolerance(identifier: str, name: str) -> float:
    """A tolerance of the registry."""
    return float((claim(identifier).tolerance or {})[name])


@settles("G-TAB2")
def table2(moments: pd.DataFrame) -> Outcome:
    """The four distributions exist under their names, with the range and moments the table implies."""
    evidence: dict[str, object] = {}
    faults = []
    for row in moments.to_dict("records"):
        (low, high), mean, variance = _LAWS[row["distribution"]]
        title, n, average, spread = row["title"], row["n"], row["mean"], row["variance"]
        error = (variance / n) ** 0.5
        # (eps - mean)^2 has the variance 4/5 of its mean's square for U(a, b); two points half and half have none.
        spread_error = variance * (0.8 / n) ** 0.5
        evidence[f"{title} ({row['law']}): mean of {n:,} draws"] = f"{average:.4f} ± {error:.4f}, law {mean:g}"
        evidence[f"{title}: variance"] = f"{spread:.4f} ± {spread_error:.4f}, law {variance:.4f}"
        # Five standard errors: correct samplers fail less than once in 100,000 seeds.
        if abs(average - mean) > max(5 * error, 1e-12):
            faults.append(f"the mean of {title}")
        if abs(spread - variance) > max(5 * spread_error, 1e-12):
            faults.append(f"the variance of {title}")
        if row["least"] < low or row["largest"] > high:
            faults.append(f"the range of {title}")
    said: Said = {
        "illustrated": "The four distributions are executable; their draws stay in [0.01, 2], as the text requires, "
        "and have the range, mean and variance of the stated laws.",
        "refuted": f"Off: {', '.join(faults)}.",
    }
    # Settings: nothing that they say can fail, but this package's samplers can.
    return judge("G-TAB2", evidence, reading("as printed", exactly(False) if faults else shown(), said))


@settles("G-C2")
def square_root_of_n(table: pd.DataFrame, slopes: pd.DataFrame) -> Outcome:
    """Slopes of log mu and log eps against log n, with the tolerance of the registry."""
    if (lacking := _not_covered("G-C2", table)) is not None:
        return lacking
    allowed = tolerance("G-C2", "slope")
    evidence: dict[str, object] = {}
    for row in slopes.itertuples():
        evidence[rf"{row.population}: slope of $\mu$"] = f"{row.mu_slope:.4f}"
        evidence[rf"{row.population}: slope of $\epsilon$"] = f"{row.epsilon_slope:.4f}"
    evidence["tolerance on a slope"] = allowed
    mu_off, eps_off = (float((slopes[name] + 0.5).abs().max()) for name in ("mu_slope", "epsilon_slope"))
    verdict = exactly(max(mu_off, eps_off) <= allowed, near=mu_off <= allowed)
    low, high = slopes["epsilon_slope"].max(), slopes["epsilon_slope"].min()
    said: Said = {
        "verified": rf"Over the figure's range $\mu$ falls as $n$ to a power within {mu_off:.4f} of $-1/2$ and "
        rf"$\epsilon$ within {eps_off:.4f}; the tolerance is {allowed:g}.",
        "holds with correction": rf"This is true of $\mu$, within {mu_off:.4f} of the power $-1/2$. It is not true "
        r"of $\epsilon$ at a fixed $\delta$, in which the comparison is made.",
        "refuted": rf"The slope of $\mu$ differs from $-1/2$ by {mu_off:.4f}.",
    }
    correction = (
        r"$\mu$ falls as $n^{-1/2}$; at the figure's $\delta$, $\epsilon$ falls as $n$ to a power between "
        f"${low:.3f}$ and ${high:.3f}$, a little faster than claimed."
    )
    name = r"amplification is how far the $\epsilon$ of Figure 2 falls"
    return judge("G-C2", evidence, reading(name, verdict, said, correction=correction))


@settles("G-C3")
def outperforms(table: pd.DataFrame, ratios: pd.DataFrame, pair: pd.DataFrame) -> Outcome:
    """The section's sentence."""
    return _smaller("G-C3", table, ratios, pair)


@settles("G-C9")
def exceeds_existing(table: pd.DataFrame, ratios: pd.DataFrame, pair: pd.DataFrame) -> Outcome:
    """The introduction's, which says the same."""
    return _smaller("G-C9", table, ratios, pair)


def _smaller(name: str, table: pd.DataFrame, ratios: pd.DataFrame, pair: pd.DataFrame) -> Outcome:
    """The paper's eps against its own baselines, then against all that was published for any common randomizer."""
    if (lacking := _not_covered(name, table)) is not None:
        return lacking
    own = ratios[ratios["key"].isin(BASELINES)]
    alike = ratios[ratios["key"].isin(_for_any_common(table))]
    joint = table[table["key"] == "gspa"].merge(pair, on=["distribution", "n"], suffixes=("", "_pair"))
    below = int((joint["epsilon"] < joint["lower"]).sum())
    smaller, worse = int((own["ratio"] < 1).sum()), alike[alike["ratio"] >= 1]
    evidence: dict[str, object] = {
        r"paper's $\epsilon$ smaller than its own baselines'": f"{smaller} of {len(own)} points",
        r"paper's $\epsilon$ smaller than every bound for any common randomizer": (
            f"{len(alike) - len(worse)} of {len(alike)} points"
        ),
        r"paper's $\epsilon$ below what randomized response certainly has": f"{below} of {len(joint)} points",
    }
    for bound, part in ratios.groupby("bound", sort=False):
        label = rf"paper's $\epsilon$ / {bound}, smallest to largest ({len(part)} points)"
        evidence[label] = f"{part['ratio'].min():.3f} to {part['ratio'].max():.3f}"
    holds = (
        r"For randomized response its $\epsilon$ is certified at each point of the figure"
        if below == 0
        else rf"For randomized response its $\epsilon$ is no bound at {below} of {len(joint)} points"
    )
    margin = f"by {100 * (1 - own['ratio'].max()):.0f}% to {100 * (1 - own['ratio'].min()):.0f}%"
    first: Said = {
        "verified": f"The paper's bound is smaller than its own baselines at {smaller} of {len(own)} points, {margin}. "
        f"They are proved bounds; the paper's is a Gaussian approximation. {holds}.",
        "holds with correction": f"The paper's bound is smaller at each of {len(own)} points, {margin}. {holds}.",
        "refuted": f"The paper's bound is smaller than its own baselines at only {smaller} of {len(own)} points.",
        "not checkable": "None of the paper's baselines applies anywhere in this run.",
    }
    names = "; ".join(dict.fromkeys(worse.sort_values("ratio", ascending=False)["bound"]))
    second: Said = {
        "verified": f"The paper's bound is the smaller one at each of {len(alike)} points.",
        "holds with correction": f"The paper's bound is the smaller one at each of {len(alike)} points. {holds}.",
        "refuted": f"At {len(worse)} of {len(alike)} points another bound is as small or smaller: {names}. The authors "
        "of [FMT22] evaluate it numerically in the same article, with code.",
        "not checkable": "No such bound applies anywhere in this run.",
    }
    is_bound, where = (
        exactly(below == 0, near=below < len(joint)),
        "smaller than the bounds compared, where it is a bound.",
    )
    against_own = joined(exactly(smaller == len(own)), is_bound) if len(own) else unknown()
    against_all = joined(exactly(worse.empty), is_bound) if len(alike) else unknown()
    return judge(
        name,
        evidence,
        reading("the baselines that the comparison names, in closed form", against_own, first, correction=where),
        reading("all that was published for any one randomizer of all users", against_all, second, correction=where),
    )


def _for_any_common(table: pd.DataFrame) -> set[str]:
    """Keys of the bounds for the same class of randomizers as the paper's own baselines, these among them."""
    return set(table.loc[table["families"].str.contains("common"), "key"]) | set(BASELINES)


@settles("G-FIG2")
def figure_2(table: pd.DataFrame, ratios: pd.DataFrame) -> Outcome:
    """Which of the figure's curves exist, where, and in what order; its printed values are in no text."""
    if (lacking := _not_covered("G-FIG2", table)) is not None:
        return lacking
    found, own = drawn(table), ratios[ratios["key"].isin(BASELINES)]
    evidence: dict[str, object] = {}
    for bound, part in found.groupby("bound", sort=False):
        whole, some = part[part["exist"] == part["points"]], part[part["exist"] > 0]
        values = table.loc[(table["bound"] == bound) & table["valid"], "epsilon"]
        between = rf", $\epsilon$ {values.min():.4f} to {values.max():.4f}" if len(values) else ""
        evidence[f"{bound}: panels whole, in part, points that exist"] = (
            f"{len(whole)}, {len(some) - len(whole)}, {part['exist'].sum()} of {part['points'].sum()}{between}"
        )
    lowest, falls = int((own["ratio"] < 1).sum()), bool(found["falls"].all())
    evidence["paper's curve below a baseline's, wherever both exist"] = f"{lowest} of {len(own)} points"
    evidence["every curve falls from each $n$ to the next"] = falls
    missing = found[found["exist"] < found["points"]]
    for row in missing.itertuples():
        where = f"from $n$ = {row.from_n:,.0f} on" if row.exist else "nowhere"
        evidence[f"{row.bound} in {row.population}: exists"] = where
    outside, points = (missing["points"] - missing["exist"]).sum(), found["points"].sum()
    gaps = f". At {outside} of {points} points a baseline's own conditions are not met" if outside else ""
    # What the text says of the curves can fail; what is drawn cannot be looked at.
    nothing = found.loc[found["key"] == "gspa", "exist"].sum() == 0 or own.empty
    order = unknown() if nothing else ranked(1 - float(own["ratio"].max()), 1 - float(own["ratio"].min()))
    fall = within(float((~found["falls"]).sum()), 0.0)
    said: Said = {
        "not checkable": "The paper's figure is not available to us, and no text has its values. What the text says "
        f"of it holds: the paper's curve is the lower one at {lowest} of {len(own)} points, and all curves fall with "
        f"$n${gaps}."
        if not nothing
        else "The paper's curve or all of its baselines are missing.",
        "not reproduced": f"The paper's curve is the lower one at {lowest} of {len(own)} points, and "
        f"{'all' if falls else 'not all'} curves fall with $n${gaps}.",
        "refuted": f"The paper's curve is nowhere the lower one of {len(own)} points{gaps}.",
    }
    verdict = joined(order, fall, unknown())
    return judge("G-FIG2", evidence, reading("the order of the curves, and what is drawn", verdict, said))


@settles("G-C1")
def near_zero(extremes: pd.DataFrame) -> Outcome:
    """Both formulas as local budgets go to 0, beside what is certified and the local budget itself."""
    if extremes["budget"].min() > 0:
        return unsettled("G-C1", "The table does not reach a budget of 0.", "settings")
    near = extremes[extremes["budget"] <= extremes.loc[extremes["budget"] > 0, "budget"].max() / 5]
    refused, smaller = near["liu23"].isna(), near["liu23"] < near["paper"]
    empty = near["paper"] >= near["largest"]
    evidence: dict[str, object] = {}
    for row in extremes.itertuples():
        liu23 = "refuses" if math.isnan(row.liu23) else f"{row.liu23:.3g}"  # type: ignore[arg-type]
        label = f"{row.crowd}, budget {row.budget:g}: paper, Liu23, certified"
        evidence[label] = f"{row.paper:.3g}, {liu23}, {row.certified:.3g}"
    of_near = f"of {len(near)} rows"
    defined, below = extremes["paper"].notna(), extremes["paper"] < extremes["certified"]
    evidence[r"paper's $\epsilon$ finite at"] = f"{defined.sum()} of {len(extremes)} rows"
    evidence[r"paper's $\epsilon$ below the certified one at"] = f"{below.sum()} of {len(extremes)} rows"
    evidence["near 0: the code's formula of Liu23 refuses at"] = f"{refused.sum()} {of_near}"
    evidence["near 0: Liu23 is the smaller one at"] = f"{smaller.sum()} {of_near}"
    evidence[r"near 0: paper's $\epsilon$ is at least the local budget at"] = f"{empty.sum()} {of_near}"
    zero = extremes[(extremes["crowd"] == "all") & (extremes["budget"] == 0)].iloc[0]
    evidence[r"everybody at 0: paper's $\epsilon$, the truth"] = f"{zero['paper']:.4g}, {zero['own']:.4g}"
    says = r"has a value at every row that is no less than what is certified for randomized response"
    theorem = "We could not read the theorem of [Liu23], so what it requires stays open."
    suitable: Said = {
        "not checkable": f"{theorem} The formula of its authors' code has values near 0; it refuses at {refused.sum()} "
        rf"{of_near}. The paper's own $\epsilon$ {says}. At {empty.sum()} {of_near} near 0 it is no smaller than the "
        "local budget, which holds without shuffling.",
        "refuted": rf"The paper's own $\epsilon$ is missing at {(~defined).sum()} and too small at {below.sum()} of "
        f"{len(extremes)} rows.",
    }
    helpful: Said = {
        "not checkable": rf"{theorem} The paper's own $\epsilon$ is below the local budget near 0.",
        "refuted": rf"At {empty.sum()} {of_near} near 0 the paper's $\epsilon$ is no smaller than the local "
        rf"budget. If everybody is at 0, where nothing is revealed, it is {zero['paper']:.3g}.",
    }
    has_values = exactly(bool(defined.all() and not below.any()))
    says_more = exactly(bool(defined.all() and not empty.any()))
    return judge(
        "G-C1",
        evidence,
        reading("suitable: it has a value there, and one that holds", joined(has_values, unknown()), suitable),
        reading("suitable: it says more there than the local budget", joined(says_more, unknown()), helpful),
    )


@settles("G-C4")
def at_least_33_percent(table: pd.DataFrame, ratios: pd.DataFrame) -> Outcome:
    """The least reduction over the figure's grid and at its right end, against each of the paper's own baselines."""
    if (lacking := _not_covered("G-C4", table)) is not None:
        return lacking
    allowed, found = tolerance("G-C4", "percent"), reductions(ratios)
    evidence: dict[str, object] = {
        f"{row.population}, against {row.bound}: percent less, least to most": f"{row.least:.1f} to {row.most:.1f}"
        for row in found.itertuples()
    }
    if found.empty:
        none: Said = {"not checkable": "None of the paper's baselines applies in this run."}
        return judge("G-C4", evidence, reading("at every $n$ of Figure 2", unknown(), none))
    least = found.iloc[int(found["least"].to_numpy().argmin())]
    reached, at_last = reached_from(ratios, percent=_PERCENT), float(found["at_last"].min())
    kept, n_last = float(100 - found["most"].max()), int(table["n"].max())
    evidence |= {
        "least reduction on the grid (%)": float(least["least"]),
        "least reduction at the largest $n$ (%)": at_last,
        f"{_PERCENT:g}% in every comparison from $n$ =": "none" if math.isnan(reached) else int(reached),
        r"smallest ratio of the paper's $\epsilon$ to a baseline's (%)": kept,
        "the same against every published bound that applies (%)": float(100 * (1 - ratios["ratio"].max())),
        "tolerance (%)": allowed,
    }
    where = f"against {least['bound']}, {least['population']}, $n$ = {least['least_at']:,}"
    tail = (
        "No $n$ of the figure has it in every comparison."
        if math.isnan(reached)
        else f"{_PERCENT:g}% in every comparison is reached from $n$ = {reached:,.0f} on."
    )
    everywhere: Said = {
        "verified": f"The least reduction is {least['least']:.1f}% ({where}).",
        "refuted": rf"The paper's $\epsilon$ is at least {least['least']:.1f}% smaller than its own baselines', not "
        f"{_PERCENT:g}% ({where}). {tail}",
    }
    right_end: Said = {
        "holds with correction": rf"At $n$ = {n_last:,} the paper's $\epsilon$ is at least {at_last:.1f}% below each "
        f"of its own baselines'. Over the whole figure it is at least {least['least']:.1f}% below ({where}). {tail}",
        "not reproduced": f"At $n$ = {n_last:,} the least reduction is {at_last:.1f}%, not {_PERCENT:g}%.",
    }
    literally: Said = {
        "verified": f"At least {kept:.0f}% of each baseline's loss is left.",
        "refuted": f"As little as {kept:.0f}% of a baseline's loss is left.",
    }
    short = max(0.0, _PERCENT - at_last)
    return judge(
        "G-C4",
        evidence,
        reading(
            "a third less at every $n$ of Figure 2",
            exactly(bool(least["least"] >= _PERCENT - allowed)),
            everywhere,
        ),
        reading(
            "a third less at the figure's largest $n$; the sentence names none",
            within(short, allowed, setting=True),
            right_end,
            correction=rf"At $n$ = {n_last:,}, the largest of Figure 2, the loss is at least {at_last:.1f}% below that "
            f"of the paper's own baselines; over the whole figure, {found['least'].min():.1f}%.",
        ),
        reading("as printed: a third of the loss is kept", exactly(kept >= _PERCENT - allowed), literally),
    )


@settles("G-C6")
def higher_accuracy(equal: pd.DataFrame) -> Outcome:
    """Error of the estimated frequency at the same budgets, and at the same central eps by each account."""
    n = int(equal["n"].iloc[0])
    if n < _RANGE[1]:
        return unsettled("G-C6", f"This run has {n:,} users at most; the figure has {_RANGE[1]:,}.")
    paper = equal[equal["key"] == "gspa"][["population", "error"]].rename(columns={"error": "paper"})
    others = equal[equal["key"] != "gspa"].dropna(subset="factor").merge(paper, on="population")
    more = 100 * (others["error"] / others["paper"] - 1)  # percent by which the other's error is larger
    own = others["key"].isin(BASELINES)
    evidence: dict[str, object] = {
        f"{row['population']}, {row['bound']}: budgets times, error over the paper's": f"{row['factor']:.3f}, "
        f"{row['error'] / row['paper']:.3f}"
        for row in others.to_dict("records")
    }
    spread = float((equal.groupby("population")["same"].max() - equal.groupby("population")["same"].min()).max())
    evidence["at the same local budgets: largest difference of two accounts' errors"] = spread
    same: Said = {
        "verified": "The errors differ at the same local budgets.",
        "refuted": "With one randomizer and the same budgets the reports, and so the accuracy, are the same whichever "
        "bound accounts for them.",
    }
    paper_least = float(equal.loc[equal["key"] == "gspa", "least"].max())
    reach = equal[equal["key"].isin(BASELINES) & (equal["least"] < paper_least)]
    evidence[r"central $\epsilon$ as all budgets go to 0: the paper's, the smallest of its baselines'"] = [
        paper_least,
        float(equal.loc[equal["key"].isin(BASELINES), "least"].min()),
    ]
    nothing: Said = {"not checkable": "The bounds to compare with do not apply in this run."}
    first: Said = {
        "verified": lambda: (
            f"Its baselines allow smaller budgets only, and their error is {more[own].min():.0f} to "
            f"{more[own].max():.0f}% larger."
        ),
        "holds with correction": lambda: (
            rf"At the $\epsilon$ that the paper's bound gives for Table 2's budgets and {n:,} users, its baselines "
            f"allow smaller budgets only, and their error is {more[own].min():.0f} to {more[own].max():.0f}% larger. "
            rf"Below $\epsilon$ = {paper_least:.3g} the paper's bound allows no budget at all, and they do."
        ),
        "refuted": lambda: f"Against one baseline its error is {-more[own].min():.0f}% larger.",
    }
    rest = more[~own]
    numerical: Said = {
        "verified": lambda: f"Its error is at least {rest.min():.0f}% larger.",
        "refuted": lambda: (
            f"Its error is {-rest.min():.0f}% smaller at one of {len(rest)} settings, and smaller at "
            f"{(rest <= 0).sum()} of them."
        ),
    }
    against_own = (
        joined(exactly(bool((more[own] > 0).all())), exactly(reach.empty, near=True)) if own.any() else unknown()
    )
    against_numerical = exactly(bool((rest > 0).all())) if len(rest) else unknown()
    return judge(
        "G-C6",
        evidence,
        reading(
            "at equal central privacy, against the paper's own baselines",
            against_own,
            {**first, **nothing},
            correction=r"at the central $\epsilon$ that the paper's account gives for Table 2's budgets and "
            f"{n:,} users the estimate by it is more accurate than by its own baselines.",
        ),
        reading("the same, against [FMT22] evaluated numerically", against_numerical, {**numerical, **nothing}),
        reading("at equal local budgets", exactly(spread > 0), same),
    )


# --- checks: what the introduction says of shuffling and of those before -------------------------------------------

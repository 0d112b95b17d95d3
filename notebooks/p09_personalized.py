"""Of notebook 09: its populations, the exact checks of the corrected theorems, and the figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib import pyplot as plt
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from gspa.accountant import attacks, budgets, randomizers
from gspa.accountant import closed_forms as bounds
from gspa.accountant.budgets import Budgets
from gspa.accountant.laplace_gaussian import blanket_delta, blanket_epsilon
from gspa.accountant.one_round import central_delta
from gspa.accountant.tradeoff import gdp_delta
from gspa.algorithms import shuffles
from gspa.book.figures import ROLES, Frame, keeps_data, name_line, name_rows, role

Array = NDArray[np.float64]

CELLS = 600  # as the attacks have them
FEW = 64  # distinct budgets up to which both attacks are tried
_SHARES = (1.0, 0.5)  # of many budgets, the users at these quantiles are tried
_HEADS = {
    "k": "$k$",
    "eps": r"$\epsilon$",
    "n": "users $n$",
    "others": "others' budget",
    "promised": r"promised $\epsilon$",
    "true": r"true $\epsilon$",
    "attacked": r"$\delta$ there, at least",
    "certified": "at most",
    "times": r"times $\delta$",
    "lower": r"true $\epsilon$, at least",
    "upper": "at most",
    "constant": "$C$ needed, at least",
    "attached": "randomizers by",
    "shuffled": r"true $\delta$",
    "pair": "the printed pair's",
    "ratios": r"$e^\epsilon$: others; victim",
    "inputs": "inputs tried",
}


def headed(table: pd.DataFrame, columns: str) -> pd.DataFrame:
    """Some columns, under a reader's heads."""
    return table[columns.split()].rename(columns=_HEADS)


def judged(attacked: float, certified: float, delta: float) -> str:
    """What is certain of a promise: a delta above the promised one reached, or one not above it not exceeded."""
    if attacked > delta:
        return "broken"
    return "kept" if certified <= delta else "open"


def least_constant(delta: float, *, eps: float, mu: float, n: int) -> float:
    """The C that Theorem 2's error term C/sqrt(n-1) needs, if delta(eps) is at least `delta`.

    (15) with s = C/sqrt(n-1) says T(alpha) >= G_mu(alpha + s) - s, so delta(eps) = sup 1 - T(alpha) - e^eps alpha
    <= delta_mu(eps) + (1 + e^eps) s.
    """
    return max(0.0, math.sqrt(n - 1) * (delta - gdp_delta(eps, mu=mu)) / (1 + math.exp(eps)))


def gaussian_limit(people: Budgets, victim: int) -> attacks.Limit:
    """The Gaussian limit, and in `others` the inputs that the attacks assume of the others."""
    found = attacks.reports(1 / people.eps, count=people.count, victim=victim, cells=CELLS).limit
    return found._replace(others=np.nan_to_num(found.others))  # NaN: nobody else has that budget


def _attacked(attack: Callable[..., Any], people: Budgets, victim: int, others: Array | None, **at: float) -> float:
    places = gaussian_limit(people, victim).others if others is None else others
    statistics = attacks.STATISTICS if people.eps.size <= FEW else ("linear",)
    run = {"count": people.count, "victim": victim, "others": places, **at}
    return max(float(attack(1 / people.eps, statistic=statistic, **run).lower) for statistic in statistics)


def attacked_delta(people: Budgets, *, victim: int, eps: float, others: Array | None = None) -> float:
    """The better of both explicit attacks on shuffled Laplace reports at eps: a rigorous lower bound on delta.

    `victim` is the index of a group; `others` the others' inputs per group, None for the Gaussian limit's worst ones.
    """
    return _attacked(attacks.attack_delta, people, victim, others, eps=eps)


def attacked_epsilon(people: Budgets, *, victim: int, delta: float, others: Array | None = None) -> float:
    """An eps below which the reports are certainly not (eps, delta)-DP; arguments as `attacked_delta`."""
    return _attacked(attacks.attack_epsilon, people, victim, others, delta=delta)


class Crowd(NamedTuple):
    """Users with Laplace reports of values in [0, 1], noise of scale 1/eps_i; `victims` are the groups to try."""

    name: str
    people: Budgets
    victims: tuple[int, ...]


def crowd(name: str, people: Budgets) -> Crowd:
    """Every group as a victim if they are few, else two of them: the largest eps and the median."""
    if people.eps.size <= FEW:
        return Crowd(name, people, tuple(range(people.eps.size)))
    order = np.argsort(people.eps, kind="stable")
    return Crowd(name, people, tuple(int(order[round(share * (order.size - 1))]) for share in (1.0, 0.5)))


def crowd_of(eps: float, others: float, *, n: int) -> Crowd:
    """One user with budget eps, the victim, among n - 1 others with one budget."""
    people = budgets.from_array([eps, others], count=[1, n - 1])
    return Crowd(f"one user at {eps:g} among {n - 1:,} at {others:g}", people, (0,))


def papers_crowds(*, n: int, seed: int, drawn: bool) -> list[Crowd]:
    """The paper's own: Table 2 (1,000 draws repeated; random budgets, which take long, if `drawn`), and Figure 3's."""
    found = []
    for index, (name, law) in enumerate(budgets.TABLE2.items()):
        first = budgets.draw(name, n=min(n, 1000), rng=np.random.default_rng([seed, index])).grouped()
        if drawn or first.eps.size <= FEW:
            found.append(crowd(f"{law.title}: {law.label}", budgets.repeat_first(first, n=n)))
    return [*found, crowd("Figure 3: 0.1, 0.5, 1", budgets.preference_groups(n=n))]


def against_promise(crowds: Sequence[Crowd], *, delta: float) -> pd.DataFrame:
    """What Theorem 3 promises shuffled Laplace reports, beside what is certain; the largest over the victims tried.

    Columns: crowd; promised (eps); attacked, a delta certainly reached there (of more than 64 budgets, of the first
    victim); times, attacked over delta; and at delta the eps lower (an attack's), limit (Gaussian, an estimate, at most
    alone), upper (certified), alone (of the report without shuffling); promise, as `judged`.
    """
    rows = []
    for name, people, victims in crowds:
        scales, count = 1 / people.eps, people.count
        promised = bounds.gspa_epsilon(people, delta=delta)
        attacked = lower = limit = upper = alone = 0.0
        for position, victim in enumerate(victims):
            estimate = gaussian_limit(people, victim)
            limit = max(limit, estimate.epsilon(delta))
            if position == 0 or people.eps.size <= FEW:  # with many scales an attack takes long
                places = estimate.others
                attacked = max(attacked, attacked_delta(people, victim=victim, eps=promised, others=places))
                lower = max(lower, attacked_epsilon(people, victim=victim, delta=delta, others=places))
            upper = max(upper, blanket_epsilon(scales, count=count, victim=victim, delta=delta).upper)
            alone = max(alone, blanket_epsilon([scales[victim]], delta=delta).upper)
        # upper <= promised: at the promised eps, delta is at most the one asked for.
        promise = judged(attacked, delta if upper <= promised else 1.0, delta)
        rows.append((name, promised, attacked, attacked / delta, lower, min(limit, alone), upper, alone, promise))
    columns = ["crowd", "promised", "attacked", "times", "lower", "limit", "upper", "alone", "promise"]
    return pd.DataFrame(rows, columns=columns)


class Case(NamedTuple):
    """Users of one family with own ratios e^eps; the last one is the victim, at the inputs 0 and 1.

    `mechanism` is the family for `gspa.accountant.one_round`; None if it has none.
    """

    name: str
    randomizers: tuple[shuffles.Rows, ...]
    ratios: tuple[Fraction, ...]
    mechanism: randomizers.Randomizer | None


def _selection(k: int, size: int, *ratios: int) -> Case:
    exact = tuple(map(Fraction, ratios))
    name = f"subset selection, {size} of {k}"
    if size == 1:
        name = "binary response" if k == 2 else f"{k}-ary response"
    rows = tuple(shuffles.subset_selection(k, size, ratio) for ratio in exact)
    return Case(name, rows, exact, randomizers.SubsetSelection(k, size))


def cases() -> list[Case]:
    """Small crowds, one user's budget far above or below the others', or all equal."""
    same, plain = _selection(3, 1, 3, 3, 3), _selection(2, 1, 1, 1, 3)
    signed = tuple(shuffles.signed(rows, user, 3) for user, rows in enumerate(plain.randomizers))
    return [
        _selection(2, 1, 1, 2, 3, 8),
        _selection(2, 1, 8, 5, 3, 2),
        same,
        _selection(3, 1, 4, 3, 2),
        _selection(3, 1, 1, 1, 4),
        _selection(3, 1, 1, 3),
        _selection(3, 2, 3, 3, 3),
        _selection(4, 2, 1, 4),
        same._replace(name="3-ary response as any of its TV", mechanism=randomizers.TotalVariation(2 / 5)),
        plain._replace(name="binary response, signed", randomizers=signed, mechanism=None),
    ]


def verified(case: Case) -> dict[str, object]:
    """The exact shuffled law of a small crowd against three upper bounds, at all inputs of the others, all eps.

    family; ratios (e^eps of the others; of the victim); inputs, how many choices of the others'; the largest excess of
    delta over the pair with the largest aligned r_j, corrected (at most 0 if the theorem holds), over the pair with r_j
    = 1/(1 + e^{eps_j}), printed (above 0 it is no upper bound), and over this package's certified delta, accountant
    (NaN where it refuses); and of the largest excess over the printed pair at (e^eps), shuffled and pair (both deltas).
    """
    *others, mine = case.randomizers
    *theirs, ratio = case.ratios
    own = shuffles.parts(mine, ratio)
    aligned = [shuffles.aligned_clone_probability(own, rows) for rows in others]
    corrected = shuffles.count_pair(ratio, clones=aligned)
    printed = shuffles.count_pair(ratio, clones=[shuffles.printed_clones(q) for q in theirs])
    inputs, alike = range(len(mine)), len(set(theirs)) == 1 and len(set(others)) == 1  # then their order is no matter
    choices = combinations_with_replacement(inputs, len(others)) if alike else product(inputs, repeat=len(others))
    laws = [shuffles.two_laws(case.randomizers, others=places, attached="user") for places in choices]
    best = max((shuffles.largest_excess(law, printed) for law in laws), key=lambda found: found.amount)
    return {
        "family": case.name,
        "ratios": f"{', '.join(map(str, theirs))}; {ratio}",
        "inputs": len(laws),
        "corrected": float(max(shuffles.largest_excess(law, corrected).amount for law in laws)),
        "printed": float(best.amount),
        "accountant": _over_accountant(case, laws),
        "at": str(best.ratio),
        "shuffled": str(best.shuffled),
        "pair": str(best.pair),
    }


def _over_accountant(case: Case, laws: Sequence[shuffles.Laws]) -> float:
    """Largest excess over the package's certified delta for the victim's crowd, on a grid of e^eps and at all kinks."""
    ratio = case.ratios[-1]
    # The accountant speaks for the worst user, which is the victim where that has the largest budget.
    if case.mechanism is None or ratio < max(case.ratios):
        return math.nan
    people = budgets.from_array([math.log(q) for q in case.ratios])
    kinks = {max(a, b) / min(a, b) for law in laws for a, b in law.values() if a and b}
    grid = {1 + (ratio - 1) * Fraction(i, 8) for i in range(8)}
    worst = -math.inf
    for at in sorted(x for x in kinks | grid if x < ratio):
        bound = central_delta(people, eps=math.log(at), mechanism=case.mechanism)
        worst = max(worst, *(float(shuffles.delta_at(law, at)) - bound.upper for law in laws))
    return worst


# column -> what it is, role, width; the first lie under the others
_CURVES = {
    "certified": ("certified (not exceeded)", "certified", 4),
    "limit": ("Gaussian limit (estimate)", "reference", 1.5),
    "attack": ("attack (certainly reached)", "attack", 2),
    "promised": ("promised", "paper", 2.5),
}


def promise_curve(people: Budgets, *, delta: float, points: int) -> pd.DataFrame:
    """Of Laplace reports, for the first user as the victim: eps; delta promised, attack, limit, certified."""
    scales, count = 1 / people.eps, people.count
    mu, limit = bounds.gspa_mu(people), gaussian_limit(people, 0)
    last = blanket_epsilon(scales, count=count, victim=0, delta=delta).upper or float(people.eps[0])
    rows = []
    for at in (1.3 * last * np.linspace(0, 1, points) ** 2).tolist():
        reached = attacked_delta(people, victim=0, eps=at, others=limit.others)
        above = blanket_delta(scales, count=count, victim=0, eps=at).upper
        rows.append((at, gdp_delta(at, mu=mu), reached, gdp_delta(at, mu=limit.mu), above))
    return pd.DataFrame(rows, columns=["eps", "promised", "attack", "limit", "certified"])


def promise_frame(curve: pd.DataFrame, *, others: float) -> Frame:
    """`broken_promise` at one setting of its knob, and in words."""
    middle = curve.iloc[len(curve) // 2]
    figure = broken_promise(curve)
    figure.axes[0].set_title(f"everybody else's budget: {others:g}")
    words = (
        f"Delta, logarithmic, against epsilon, among others at {others:g}. At epsilon = {middle['eps']:.3g} the "
        f"promise is {middle['promised']:.2g}, an attack reaches {middle['attack']:.3g}, the Gaussian limit is "
        f"{middle['limit']:.3g} and the certified bound {middle['certified']:.3g}."
    )
    return Frame.of(figure, words)


def broken_promise(curve: pd.DataFrame) -> Figure:
    """delta against eps on a logarithmic axis: promised, attacked, estimated, certified."""
    figure, axis = plt.subplots(figsize=(4.8, 3.4), layout="constrained")
    for key, (label, kind, width) in _CURVES.items():
        seen = curve[curve[key] > 0]
        axis.plot(seen["eps"], seen[key], **role(kind) | {"lw": width}, label=label)
    floor = max(1e-12, float(curve.loc[curve["certified"] > 0, "certified"].min()) / 10)
    axis.set(xlabel=r"central $\epsilon$", ylabel=r"central $\delta$ of the victim", yscale="log", ylim=(floor, 1))
    axis.legend()
    return figure


@keeps_data
def promised_and_true(table: pd.DataFrame) -> Figure:
    """Central eps on a logarithmic axis, a row a crowd: the promised one, and between which ends the true one lies.

    Args:
        table: columns crowd; promised; lower, of an attack; upper, certified; promise, as `judged`.
    """
    figure, axis = plt.subplots(figsize=(4.8, 0.9 + 0.4 * len(table)), layout="constrained")
    known = table[["promised", "lower", "upper"]].to_numpy(dtype=float)
    least, black = float(known[known > 0].min()) / 2, ROLES["truth"][0]
    for y, row in enumerate(table.to_dict("records")):
        ends = [max(row["lower"], least), max(row["upper"], least)]
        axis.plot(ends, [y, y], color=black, lw=5, marker="|", ms=11, mew=2, solid_capstyle="butt")
        axis.plot([row["promised"]], [y], "D", ms=7, color=role("paper")["color"], zorder=3)
        if row["promise"] == "broken":
            name_line(axis, row["promised"], y, "broken", colour=role("paper")["color"], right=-8)
    name_line(axis, max(float(table["upper"].iloc[0]), least), 0, "true", colour=black, right=7)
    name_rows(axis, table["crowd"], up=6)
    axis.set(xscale="log", xlabel=r"central $\epsilon$, logarithmic", ylim=(len(table) - 0.6, -0.9))
    axis.set_xlim(least / 2, 2.2 * float(known.max()))
    axis.grid(visible=False, axis="y")
    return figure


def _edges(centres: Array) -> Array:
    steps = np.log(centres)
    middle = 0.5 * (steps[1:] + steps[:-1])
    return np.asarray(np.exp(np.r_[2 * steps[0] - middle[0], middle, 2 * steps[-1] - middle[-1]]))


@keeps_data
def map_of_promises(grid: pd.DataFrame) -> Figure:
    """Where the promise is broken, by how much; dots where it is certified to hold, question marks where neither."""
    figure, axis = plt.subplots(figsize=(4.8, 4.2), layout="constrained")
    times = grid.assign(times=grid["times"].where(grid["promise"] == "broken"))
    shown = times.pivot(index="others", columns="victim", values="times")
    columns, rows = _edges(shown.columns.to_numpy(dtype=float)), _edges(shown.index.to_numpy(dtype=float))
    colours = colormaps["cividis_r"].with_extremes(bad="white")
    drawn = axis.pcolormesh(columns, rows, shown.to_numpy(dtype=float), cmap=colours, norm=LogNorm(1, 1e4))
    for word, marker in (("kept", "."), ("open", "$?$")):
        chosen = grid[grid["promise"] == word]
        if len(chosen):
            colour = ROLES["certified" if word == "kept" else "truth"][0]
            axis.scatter(chosen["victim"], chosen["others"], marker=marker, s=35, color=colour, label=word)
    low, high = 0.01, 2.0  # budgets of the paper's comparison
    dashed = {"fill": False, "ls": "--", "lw": 1.5, "ec": role("paper")["color"], "label": "paper's range"}
    axis.add_patch(Rectangle((low, low), high - low, high - low, **dashed))
    axis.set(xscale="log", yscale="log", xlabel=r"the victim's budget $\epsilon_n$", ylabel="everybody else's budget")
    axis.grid(visible=False)
    figure.colorbar(drawn, ax=axis, extend="max", label=r"broken: attacked $\delta$ over the promised one")
    figure.legend(loc="outside upper center", ncols=3)
    return figure

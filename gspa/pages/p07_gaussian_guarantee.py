r"""Page 07: Theorem 2, the Gaussian guarantee, against the pair of counts that it speaks of, and eq. (17) of its proof.

The theorem: T(rho_0, rho_1)(alpha) >= G_mu(alpha + s) - s with s = C/sqrt(n-1) for some C > 0. Here T is exact,
so the least such s can be had, and an s that is proved on the page, for every victim and all others' r_j:

    s = 1/sqrt(2 pi c0) + P(M < c0) + (2/sqrt(c0) - mu)_+ / sqrt(2 pi),   any c0 > 0                        (A)

with M the number of clones. Every s of half the total variation TV(rho_0, rho_1) or more is enough for every mu, 0
included, because T >= 1 - alpha - TV; so is (A), whose first term is what any bound on distribution functions has. One
that does say something takes the jumps of fair coins into account, c0 >= 1 and the first term replaced by

    e(c0) = 0.53/c0 + e^(-3 sqrt(c0)/4) for c0 >= 100.                                                  (A2)

The victim's randomizer may tell the truth with probability delta_n, in words that nobody
else uses, and answer like randomized response otherwise: Lemma 4's quaternary variable. Then

    delta_total(eps) = delta_n + (1 - delta_n) delta(eps)                                                  (B)

with equality, by enumeration in fractions. Chen et al. 2024 put the same event down as one in which the two
datasets cannot be told apart, which would give (1 - delta_n) delta(eps).

>>> crowd = constant(0.5, n=10_000)
>>> least_slack(exact_curve(crowd), mu=gspa_mu(crowd)) == 0 < 0.004 < proved_slack(crowd) < 0.005
True
>>> told = told_truth(ratio=3, delta_n=Fraction(1, 10), others=[3, 3], factors=[1])
>>> told.loc[0, ["total", "corrected", "paper"]].astype(str).tolist()
['61/160', '61/160', '9/32']
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, elementwise
from scipy.special import ndtr
from scipy.stats import binom, norm

from gspa.accountant.budgets import Budgets, constant, from_array
from gspa.accountant.clones import CloneLaw, clone_law
from gspa.accountant.discrete import TradeOff, neyman_pearson
from gspa.accountant.families import binary
from gspa.accountant.losses import trade_off
from gspa.accountant.one_round import central_delta, problem_of
from gspa.accountant.published import clone_probabilities, gspa_epsilon, gspa_mu
from gspa.accountant.tradeoff import gaussian, gdp_epsilon
from gspa.book.claims import Outcome, judge, settles, unsettled
from gspa.book.figures import ROLES, keeps_data, role
from gspa.book.verdicts import Said, exactly, reading
from gspa.pages import shuffles
from gspa.pages.p17_exact import paper_against_exact

Array = NDArray[np.float64]

_ROUNDING = 2e-14  # below this a least slack is rounding: up to 3e-15 where the curve is known to be kept
_CERTAIN = Fraction(10**40)  # e^eps of a victim who tells the truth; the lies' mass, below this, is set to 0
_NONE = Fraction(1, 10**30)
_TRUTH = 40.0  # eps at which a lie has probability e^-40
_NAMED, _OTHERS = ("fmt21", "liu23", "erlingsson19"), ("blanket_hoeffding", "clones_blog")


_USPENSKY = 100  # coins: a standard deviation of 5


# --- tables: the slack -------------------------------------------------------------------------------------


def exact_curve(people: Budgets) -> TradeOff:
    """T(rho_0, rho_1) of eqs. (12) and (13), the user with the largest eps_i as the victim, all delta_i = 0.

    As `gspa.accountant.losses.trade_off`: errs downward, by rounding or, for many outcomes, by O(step^2).
    """
    return trade_off(problem_of(people, binary(), int(np.argmax(people.eps))))


def least_slack(curve: TradeOff, *, mu: float) -> float:
    """The least s >= 0 with curve(alpha) >= G_mu(alpha + s) - s for all alpha; G_mu is 0 beyond 1.

    The curve is piecewise linear and the right side convex, so the corners decide; at each of them the least s is
    the root of a monotone function. What is below 2e-14, the rounding, is 0; the curve's own error comes on top.

    >>> round(least_slack(neyman_pearson([1.0, 0.0], [0.0, 1.0]), mu=0.0), 12)  # nothing hidden, 1 - alpha promised
    0.5
    """

    def spare(s: Array, alpha: Array, beta: Array) -> Array:
        return beta + s - gaussian(np.minimum(alpha + s, 1.0), mu=mu)

    broken = spare(np.zeros(1), curve.alpha, curve.beta) < 0
    corners = curve.alpha[broken], curve.beta[broken]
    slack = float(elementwise.find_root(spare, (0.0, 1.0), args=corners).x.max(initial=0.0))
    return slack if slack > _ROUNDING else 0.0


def _others(people: Budgets) -> tuple[Array, Array]:
    """r_j and numbers of all users but the victim, one with the largest eps."""
    r = clone_probabilities(people)
    return r, people.count - (np.arange(r.size) == int(np.argmax(people.eps))).astype(np.float64)


def tanh_mu(people: Budgets) -> float:
    """mu of the pair's own Gaussian limit, tanh(eps_n/2) sqrt(2/sum of the others' r_j): errs to either side.

    The paper's mu lacks the factor, because its proof lets the victim always tell the truth, and leaves out the
    largest r_i where the victim's own, the smallest, is the one that is missing.

    >>> crowd = constant(0.5, n=10_000)
    >>> round(tanh_mu(crowd) / gspa_mu(crowd), 6) == round(math.tanh(0.25), 6)
    True
    """
    r, count = _others(people)
    return math.tanh(people.eps_max / 2) * math.sqrt(2 / float(r @ count))


def half_variation(curve: TradeOff) -> float:
    """Half the total variation of the pair: with this slack (15) holds for every mu, 0 included.

    T >= 1 - alpha - TV = G_0(alpha + TV/2) - TV/2, and G_0 is the largest of all G_mu. Errs upward where the curve errs
    downward.

    >>> half_variation(neyman_pearson([1.0, 0.0], [0.0, 1.0]))  # nothing hidden
    0.5
    """
    return float((1 - curve.alpha - curve.beta).max()) / 2


def coin_error(c: Array) -> Array:
    """How far the distribution function of c fair coins is from the normal one at most: Hipp and Mattner's constant."""
    return np.asarray(1 / np.sqrt(2 * math.pi * c))


def coin_error_between(c: Array) -> Array:
    """The same half-way between whole numbers, by Uspensky's theorem for c >= 100; `coin_error` below.

    His bound is 0.13/variance + e^(-3 sd/2) for sums over a range of whole numbers, from sd = 5 on; 0.01/c is more than
    what the normal law has below the range.
    """
    return np.where(c >= _USPENSKY, 0.53 / c + np.exp(-0.75 * np.sqrt(c)), coin_error(c))


def proved_slack(people: Budgets, *, mu: float | None = None, error: Callable[[Array], Array] = coin_error) -> float:
    """The slack of (A) at its best c0, at most 1: an upper bound on the least one for randomized response.

    mu is the paper's if not given; `error` is the first term, `coin_error_between` that of (A2). A delta_j > 0 of
    another user makes fewer clones; the victim's own is not counted.
    """
    mu = gspa_mu(people) if mu is None else mu
    law = problem_of(people, binary(), int(np.argmax(people.eps))).law()
    assert isinstance(law, CloneLaw)
    c0 = law.edges[:-1]
    fewer = law.below + np.r_[0.0, np.cumsum(law.mass + law.error)[:-1]]
    c0, fewer = c0[c0 >= 1], fewer[c0 >= 1]
    s = error(c0) + np.maximum(2 / np.sqrt(c0) - mu, 0.0) / math.sqrt(2 * math.pi) + fewer
    return float(min(s.min(initial=1.0), 1.0))


def lemma2_slack(people: Budgets) -> float:
    """A lower bound on the slack that Lemma 2 can give, its normal law rounded to whole numbers.

    The total variation between the others' first count alone, a sum of Bernoulli(r_j), and its rounded normal law:
    a function of the counts has no larger one than the counts. Unrounded, the law has a density and it is 1.

    >>> round(100 * lemma2_slack(constant(0.5, n=10_000)), 3)
    0.064
    """
    r, count = _others(people)
    law = clone_law(r, 1 - r, count)
    cell = np.diff(ndtr((law.edges - 0.5 - law.mean) / math.sqrt(law.variance)))
    beyond = abs(float(law.mass.sum() - cell.sum()))
    return max(0.0, 0.5 * (float(np.abs(law.mass - cell).sum()) + beyond) - float(law.error.sum()))


def delta_floor(slack: float, *, mu: float) -> float:
    """1 - G_mu(s) + s: below this delta, (15) with slack s implies no (eps, delta) guarantee, whatever eps.

    >>> delta_floor(0.0, mu=1.0), delta_floor(1.0, mu=1.0)
    (0.0, 1.0)
    """
    return min(1.0, 1 - gaussian(slack, mu=mu) + slack)


def slack_allowed(delta: float, *, mu: float) -> float:
    """The largest slack that leaves a statement at delta: the root of `delta_floor`.

    >>> round(delta_floor(slack_allowed(1e-4, mu=0.5), mu=0.5), 12)
    0.0001
    """
    return float(brentq(lambda s: delta_floor(s, mu=mu) - delta, 0.0, delta, xtol=1e-30, rtol=1e-14))


def users_needed(eps0: float, *, delta: float, error: Callable[[Array], Array] = coin_error) -> int:
    """The least power of 2 at which the proved slack of n users with budget eps0 leaves a statement at delta.

    >>> users_needed(0.5, delta=0.1)
    256
    """
    n = 2
    while delta_floor(proved_slack(constant(eps0, n=n), error=error), mu=gspa_mu(constant(eps0, n=n))) > delta:
        n *= 2
    return n


def constants(*, local: Sequence[float], sizes: Sequence[int]) -> pd.DataFrame:
    """How large C must be in (15), and what is proved, for n users of one budget.

    Columns: eps0, n, mu, slack (least), constant (least C = slack sqrt(n-1)), proved (the slack of (A)), sharp (that of
    (A2)), half_tv (enough for every mu).
    """
    rows = []
    for eps0 in local:
        for n in sizes:
            people = constant(eps0, n=n)
            mu, curve = gspa_mu(people), exact_curve(people)
            slack = least_slack(curve, mu=mu)
            proved, sharp = (proved_slack(people, mu=mu, error=error) for error in (coin_error, coin_error_between))
            rows.append((eps0, n, mu, slack, slack * math.sqrt(n - 1), proved, sharp, half_variation(curve)))
    names = ["eps0", "n", "mu", "slack", "constant", "proved", "sharp", "half_tv"]
    return pd.DataFrame(rows, columns=names)


def readable_emptiness(table: pd.DataFrame) -> pd.DataFrame:
    """`constants` at the largest n, each slack times sqrt(n-1)."""
    last = table[table["n"] == table["n"].max()]
    heads = {
        "constant": "least $C$",
        "half_tv": "$C$ enough for every $\\mu$",
        "proved": "$C$ of distribution functions",
        "sharp": "$C$, corrected for continuity",
    }
    root = np.sqrt(last["n"] - 1)
    return pd.DataFrame(
        {"$\\epsilon_0$": last["eps0"]}
        | {head: last[key] * (1 if key == "constant" else root) for key, head in heads.items()}
    )


def peaks(table: pd.DataFrame) -> pd.DataFrame:
    """The largest C of `constants` for each eps0: eps0, constant, n (where it is), growing.

    "growing" is at the largest n, and more than twice every other: the grid shows no bound.
    """
    rows = []
    for eps0, part in table.sort_values("n").groupby("eps0"):
        values = part["constant"].to_numpy()
        best = int(np.argmax(values))
        growing = bool(best == values.size - 1 and values[-1] > 2 * values[:-1].max(initial=0.0) > 0)
        rows.append((eps0, values[best], int(part["n"].iloc[best]), growing))
    return pd.DataFrame(rows, columns=["eps0", "constant", "n", "growing"])


def what_is_left(crowds: Iterable[tuple[str, str, Budgets]], *, delta: float) -> pd.DataFrame:
    """What (15) says at a central delta if its slack is kept, for crowds as from `p08_comparison.populations`.

    Columns: population, n, allowed (the largest C that leaves a statement at delta), lemma2 (C is at least this, if it
    comes from Lemma 2), lemma2_floor (no smaller delta can then be had), proved (the C of (A)), proved_floor.
    """
    rows = []
    for _, label, people in crowds:
        mu, root = gspa_mu(people), math.sqrt(people.n - 1)
        lemma2, proved = lemma2_slack(people), proved_slack(people, mu=mu)
        floors = delta_floor(lemma2, mu=mu), delta_floor(proved, mu=mu)
        rows.append(
            (label, people.n, slack_allowed(delta, mu=mu) * root, lemma2 * root, floors[0], proved * root, floors[1])
        )
    columns = ["population", "n", "allowed", "lemma2", "lemma2_floor", "proved", "proved_floor"]
    return pd.DataFrame(rows, columns=columns)


def other_readings(people: Budgets) -> tuple[float, float]:
    """mu as AAAI's statement sums it, and Lemma 3's with the proof's p_i = r_i, each over the theorem's; one budget."""
    mu, r = gspa_mu(people), clone_probabilities(people)[0]
    return gspa_mu(people, reading="theorem2") / mu, float(2 / np.sqrt(r * (people.n - 1)) / mu)


def normal_distance(p: float, m: int) -> float:
    """Total variation of the two counts of m users from the discretized normal law, unit cells; page 06's, one p."""
    nodes, weights = (v / 2 for v in np.polynomial.legendre.leggauss(12))
    a, b = (v.ravel() for v in np.meshgrid(nodes, nodes))
    c, total = np.arange(m + 1)[:, None], 0.0
    for parity in (0, 1):  # their sum c and their difference d are both even or both odd
        rows, d = c[c[:, 0] % 2 == parity], np.arange(-m + (m + parity) % 2, m + 1, 2)
        law = binom.pmf(rows, m, p) * binom.pmf((rows + d) / 2, rows, 0.5)
        along = norm.pdf(rows + (a + b), m * p, math.sqrt(m * p * (1 - p))) * np.outer(weights, weights).ravel()
        near = 2 * along @ norm.pdf(d[:, None] + (a - b), 0, math.sqrt(m * p)).T  # 2: a unit cell's area in (c, d)
        total += float(np.maximum(law - near, 0).sum())
    return total


def chained(*, local: Sequence[float], sizes: Sequence[int]) -> pd.DataFrame:
    """Eq. (18) for n users of one budget, the normal laws P and Q discretized: unit cells around the counts.

    Columns: eps0; n; tv (of rho'_0 from P, and of rho'_1 from Q); largest, of the right side F(alpha) - tv; spare, the
    smallest T(rho'_0, rho'_1) minus the right side; literal, the largest right side with the normal laws themselves.
    """
    rows = []
    for eps0 in local:
        r = 1 / (1 + math.exp(eps0))
        for n in sizes:
            # A victim who tells the truth; the others' lemma 3.
            truth = exact_curve(from_array([eps0, _TRUTH], [0.0, 0.0], [n - 1, 1]))
            mu, tv = math.sqrt(2 / ((n - 1) * r)), normal_distance(2 * r, n - 1)
            a = np.unique(np.r_[truth.alpha, np.linspace(0, 1, 2001)])
            right = gaussian(np.minimum(a + tv, 1.0), mu=mu) - tv
            literal = gaussian(np.minimum(a + 1.0, 1.0), mu=mu) - 1.0
            rows.append((eps0, n, tv, right.max(), float((truth(a) - right).min()), literal.max()))
    return pd.DataFrame(rows, columns=["eps0", "n", "tv", "largest", "spare", "literal"])


# --- tables: without slack ---------------------------------------------------------------------------------


def promises(*, local: Sequence[float], sizes: Sequence[int], deltas: Sequence[float]) -> pd.DataFrame:
    """Where the paper's eps, without slack, is less than the pair's: `paper_against_exact` with delta and promise.

    "holds": the paper's eps is at least the certified one; "too much": it is below the certified lower end; or
    "undecided".
    """
    parts = [paper_against_exact(local=local, sizes=sizes, delta=delta).assign(delta=delta) for delta in deltas]
    table = pd.concat(parts, ignore_index=True)
    holds, more = table["paper"] >= table["upper"], table["paper"] < table["lower"]
    table["promise"] = np.select([holds, more], ["holds", "too much"], "undecided")
    return table


def safe_up_to(table: pd.DataFrame) -> float:
    """The largest eps0 of `promises` up to which the promise holds at every point; 0 if there is none."""
    broken = table.loc[table["promise"] != "holds", "eps0"].min()
    held = table["eps0"] if np.isnan(broken) else table.loc[table["eps0"] < broken, "eps0"]
    return float(held.max()) if len(held) else 0.0


def tanh_accuracy(table: pd.DataFrame) -> pd.DataFrame:
    """The tanh limit's eps beside the certified one, at the points of `promises`: eps0, n, delta, tanh, percent.

    "percent" is the relative error; NaN where the certified value is 0, at deltas that need no eps at all.
    """
    found = table[["eps0", "n", "delta"]].copy()
    points = zip(found["eps0"].tolist(), found["n"].tolist(), found["delta"].tolist(), strict=True)
    found["tanh"] = [gdp_epsilon(delta=delta, mu=tanh_mu(constant(eps0, n=n))) for eps0, n, delta in points]
    middle = (table["lower"] + table["upper"]) / 2
    found["percent"] = 100 * (found["tanh"] / middle.where(middle > 0) - 1).abs()
    return found


def readable_accuracy(accuracy: pd.DataFrame) -> pd.DataFrame:
    """The largest error in percent, a row a number of users, a column a whole budget."""
    whole = accuracy[np.isclose(accuracy["eps0"], accuracy["eps0"].round())]
    off = whole.pivot_table(index="n", columns="eps0", values="percent", aggfunc="max")
    return off.rename(columns="{:g}".format).reset_index().rename(columns={"n": "$n$, and $\\epsilon_0$:"})


def power_curves(*, local: Sequence[float], n: int, alpha: ArrayLike) -> pd.DataFrame:
    """1 - T(alpha), the power of the best test, and what each bound allows: a guarantee must lie on or above it.

    Columns: eps0, alpha, exact, paper (G_mu), slack (G_mu with the slack of (A)), tanh (the sharpened limit).
    """
    a = np.asarray(alpha, dtype=np.float64)
    parts = []
    for eps0 in local:
        people = constant(eps0, n=n)
        mu, s = gspa_mu(people), proved_slack(people)
        bounds = {
            "exact": 1 - exact_curve(people)(a),
            "paper": 1 - gaussian(a, mu=mu),
            "slack": np.minimum(1 - gaussian(np.minimum(a + s, 1.0), mu=mu) + s, 1.0),
            "tanh": 1 - gaussian(a, mu=tanh_mu(people)),
        }
        parts.append(pd.DataFrame({"eps0": eps0, "alpha": a, **bounds}))
    return pd.concat(parts, ignore_index=True)


# --- tables: the victim's own delta ------------------------------------------------------------------------


def told_truth(*, ratio: int, delta_n: Fraction, others: Sequence[int], factors: Sequence[int]) -> pd.DataFrame:
    """A victim who tells the truth with probability delta_n, shuffled among users of randomized response: exact.

    `ratio`, `others` and `factors` are e^eps of the victim, of the others, whose inputs alternate, and of the central
    guarantee. Columns, all fractions: factor, pure (delta at delta_n = 0), total (enumerated), corrected
    (delta_n + (1 - delta_n) pure), paper ((1 - delta_n) pure).
    """
    crowd = [shuffles.subset_selection(2, 1, Fraction(e)) for e in others]
    without, told = (
        shuffles.two_laws(
            [*crowd, shuffles.truth_with(delta, Fraction(ratio))],
            others=[j % 2 for j in range(len(crowd))],
            attached="user",
        )
        for delta in (Fraction(0), delta_n)
    )
    rows = []
    for factor in map(Fraction, factors):
        pure, total = shuffles.delta_at(without, factor), shuffles.delta_at(told, factor)
        rows.append((factor, pure, total, delta_n + (1 - delta_n) * pure, (1 - delta_n) * pure))
    return pd.DataFrame(rows, columns=["factor", "pure", "total", "corrected", "paper"])


def _curve(laws: shuffles.Laws) -> TradeOff:
    p, q = np.array([[x if x > _NONE else 0 for x in both] for both in laws.values()], dtype=float).T
    return neyman_pearson(p, q)


def equation17(*, ratio: int, delta_n: Fraction, others: Sequence[int], points: int = 2001) -> pd.DataFrame:
    """Both sides of eq. (17) for the paper's own pair, (12) and (13), with 1 - 2 r_j as the third probability.

    Columns: alpha, left (T(rho_0, rho_1)), right (delta_n (1 - alpha) + (1 - delta_n) T_symm of the primed pair),
    equal_alpha (the same with the true T given Delta_2 = 0 in place of T_symm), mirrored (by how much the two orders of
    the primed pair differ).
    """
    clones = [1 / (1 + Fraction(e)) for e in others]
    whole = _curve(shuffles.count_pair(Fraction(ratio), clones=clones, delta=delta_n, shared=True))
    given = _curve(shuffles.count_pair(Fraction(ratio), clones=clones))
    primed = shuffles.count_pair(_CERTAIN, clones=clones)
    there, back = _curve(primed), _curve({outcome: (q, p) for outcome, (p, q) in primed.items()})
    a = np.unique(np.r_[whole.alpha, there.alpha, given.alpha, np.linspace(0, 1, points)])
    delta = float(delta_n)
    sides = {
        "left": whole(a),
        "right": delta * (1 - a) + (1 - delta) * np.maximum(there(a), back(a)),
        "equal_alpha": delta * (1 - a) + (1 - delta) * given(a),
        "mirrored": np.abs(there(a) - back(a)),
    }
    return pd.DataFrame({"alpha": a, **sides})


def at_the_papers_eps(eps0: float, *, n: int, deltas: Sequence[float], delta: float) -> pd.DataFrame:
    """The central delta at the eps that the paper promises for `delta`, if one of n users has a local delta_n.

    Columns: delta_n, epsilon (the paper's, for that delta), lower and upper (the certified central delta there, (B)
    applied to the pair), times (lower / delta).
    """
    rows = []
    for local in deltas:
        crowd = from_array([eps0, eps0], [0.0, local], [n - 1, 1])
        epsilon = gspa_epsilon(crowd, delta=delta)
        found = central_delta(crowd, eps=epsilon)
        rows.append((local, epsilon, found.lower, found.upper, found.lower / delta))
    return pd.DataFrame(rows, columns=["delta_n", "epsilon", "lower", "upper", "times"])


# --- figures -----------------------------------------------------------------------------------------------

_LINES = {
    "exact": ("the pair, exact", "truth"),
    "paper": (r"$G_\mu$, the paper's", "paper"),
    "slack": (r"$G_\mu$ with its slack, proved", "certified"),
    "tanh": (r"$G_\mu$ with the tanh factor, an estimate", "reference"),
}
_KINDS = {
    "holds": ("0.92", r"paper's $\epsilon$ suffices"),
    "too much": (ROLES["paper"][0], "too small: the pair has more (crosses)"),
    "undecided": ("0.7", "undecided"),
}


@keeps_data
def guarantee_power(table: pd.DataFrame) -> Figure:
    """`power_curves` relative to the pair's own power: a guarantee must not go below 1."""
    local = list(table["eps0"].unique())
    figure, axes = plt.subplots(1, len(local), figsize=(9, 4), sharey=True, squeeze=False, layout="constrained")
    for axis, eps0 in zip(axes[0], local, strict=True):
        part = table[table["eps0"] == eps0]
        for key, (label, kind) in _LINES.items():
            axis.plot(part["alpha"], part[key] / part["exact"], **role(kind), label=label)
        axis.set(title=rf"$\epsilon_0$ = {eps0:g}", xscale="log", yscale="log", xlabel=r"type I error $\alpha$")
    axes[0, 0].set(ylabel="power allowed / power of the pair", ylim=(0.05, 40))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


@keeps_data
def guarantee_map(table: pd.DataFrame) -> Figure:
    """`promises` over eps0 and delta: where the paper's eps is at least the certified one, and where it is less."""
    sizes, kinds = list(table["n"].unique()), list(_KINDS)
    colours = ListedColormap([colour for colour, _ in _KINDS.values()])
    figure, axes = plt.subplots(1, len(sizes), figsize=(9, 4), sharey=True, squeeze=False, layout="constrained")
    for axis, n in zip(axes[0], sizes, strict=True):
        grid = table[table["n"] == n].pivot_table(index="delta", columns="eps0", values="promise", aggfunc="first")
        codes, height = grid.map(kinds.index).to_numpy(), np.log10(grid.index)
        axis.pcolormesh(grid.columns, height, codes, cmap=colours, vmin=-0.5, vmax=2.5, edgecolors="white", lw=0.3)
        wrong = np.argwhere(codes == 1)
        axis.plot(grid.columns[wrong[:, 1]], height[wrong[:, 0]], "x", color="white", ms=3, mew=0.8)
        axis.set(title=f"$n$ = {n:,}", xlabel=r"local budget $\epsilon_0$")
        axis.grid(visible=False)
    axes[0, 0].set_ylabel(r"$\log_{10}$ of the central $\delta$")
    shown = [kind for kind in kinds if kind != "undecided" or (table["promise"] == kind).any()]
    handles = [Patch(facecolor=_KINDS[kind][0], edgecolor="grey", label=_KINDS[kind][1]) for kind in shown]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


# --- checks ------------------------------------------------------------------------------------------------

_GREW = 2.0  # constants within this factor of each other are one constant
_CLONES = 100  # at fewer than about this many expected clones the pair is far from its limit, and C still grows


_LARGE = 4.0  # with smaller budgets alone every least C is near 0, whether one serves all or none


@settles("G-T2")
def theorem_2(
    constants: pd.DataFrame, promises: pd.DataFrame, left: pd.DataFrame, delta: float, readings: tuple[float, float]
) -> Outcome:
    """Is there a C, for which users, and may the slack be dropped? Exact curves of the pair itself.

    `left` is what the slack leaves at `delta`, `readings` are those of mu for 4 users of one budget.
    """
    if constants["eps0"].nunique() < 2 or constants["n"].nunique() < 3:
        return unsettled("G-T2", "Needs two local budgets and three numbers of users or more.")
    highest_c = peaks(constants)
    broken = promises[promises["promise"] == "too much"]
    unproved = constants[constants[["proved", "sharp"]].min(axis=1) < constants["slack"]]
    safe = safe_up_to(promises)
    most = "right side of (15) with $C = \\sqrt{n-1}$, at its largest"
    evidence: dict[str, object] = {most: float(gaussian(1.0, mu=float(constants["mu"].min())) - 1)}
    for row in highest_c.itertuples():
        evidence[f"least $C$ at $\\epsilon_0$ = {row.eps0:g}, largest over $n$"] = (
            f"{row.constant:.3g} ($n$ = {row.n:,})"
        )
    spare = (constants["proved"] - constants["slack"]).min()
    evidence[f"proved slack minus the least one, smallest of {len(constants)} points"] = float(spare)
    evidence["without slack: promises too much at"] = (
        f"{len(broken)} of {len(promises)} points $(\\epsilon_0, n, \\delta)$"
    )
    evidence["without slack: holds at every point up to $\\epsilon_0$ ="] = safe
    if len(broken):
        worst = broken.iloc[int(broken["ratio"].to_numpy().argmin())]
        evidence["worst point"] = (
            f"$\\epsilon_0$ = {worst['eps0']:g}, $n$ = {int(worst['n']):,}, $\\delta$ = {worst['delta']:g}: "
            f"paper {worst['paper']:.4g}, certified at least {worst['lower']:.4g}"
        )
        evidence["largest $n$ with a broken promise"] = int(broken["n"].max())
    for row in left.itertuples():
        evidence[f"{row.population}, $n$ = {row.n:,}: $C$ allowed, $C$ by Lemma 2 at least, $C$ proved"] = (
            f"{row.allowed:.2g}, {row.lemma2:.2g}, {row.proved:.2g}"
        )
    evidence["smallest $\\delta$ that Lemma 2's slack leaves there"] = float(left["lemma2_floor"].min())
    evidence["$\\mu$ as AAAI's statement sums it, over $\\mu$ as the abstract does (4 users of one budget)"] = readings[
        0
    ]
    evidence["Lemma 3's $\\mu$ with the proof's $p_i = r_i$, over the theorem's $\\mu$"] = readings[1]
    too_wide = bool((left["lemma2"] > left["allowed"]).all())
    evidence["the slack leaves nothing at that $\\delta$"] = too_wide
    growing = highest_c[highest_c["growing"]]
    few = growing[growing["n"] < _CLONES * np.exp(growing["eps0"])]
    if len(few) and unproved.empty:
        where = f"At $\\epsilon_0$ = {few['eps0'].max():g}"
        return unsettled("G-T2", f"{where} the numbers of users end before the least $C$ can have reached its maximum.")
    positive = highest_c.loc[highest_c["constant"] > 0, "constant"]
    highest = highest_c.iloc[int(highest_c["constant"].to_numpy().argmax())]
    one = broken.empty and (positive.empty or bool(positive.max() < _GREW * positive.min()))
    if one and unproved.empty and growing.empty and min(constants["eps0"].max(), promises["eps0"].max()) < _LARGE:
        return unsettled("G-T2", f"Budgets up to {_LARGE:g} are needed to tell one $C$ for all of them from none.")
    says = constants["sharp"] < constants["half_tv"]
    evidence |= _emptiness(constants)
    true = unproved.empty and growing.empty
    empty = bool((constants["slack"] <= constants["half_tv"] + _ROUNDING).all())
    last = constants[constants["n"] == constants["n"].max()].sort_values("eps0").iloc[0]
    root = math.sqrt(last["n"] - 1)
    bounded: Said = {
        "verified": "It is true, and no slack that serves this $\\mu$ serves every other $\\mu$ too.",
        "holds with correction": lambda: (
            "It is true for every sequence of crowds whose budgets are bounded, but nearly empty: with half the pair's "
            "total variation as its slack, (15) holds for every $\\mu$, even for $\\mu = 0$. At "
            f"$\\epsilon_0$ = {last['eps0']:g} that takes $C$ = {last['half_tv'] * root:.3f}; distribution functions "
            f"prove $C$ = {last['proved'] * root:.2f} for the paper's $\\mu$. With an unnamed $C$ the theorem says "
            "only that the total variation is $O(1/\\sqrt{n})$. The page proves a slack of order $\\sqrt{\\ln n}/n$, "
            "which does say something about $\\mu$: it is below half the total variation at "
            f"{int(says.sum())} of {len(says)} points."
        ),
        "refuted": lambda: _no_constant(unproved, growing),
    }
    any_budget: Said = {
        "verified": "One $C$ serves every point that was tried, and $G_\\mu$ without slack is below the pair's curve "
        f"at all {len(promises)} points of the map.",
        "refuted": lambda: (
            f"No $C$ serves all budgets: the least possible one reaches {highest['constant']:.3g} at $\\epsilon_0$ "
            f"= {highest['eps0']:g}."
        ),
    }
    kept = "leaves no statement" if too_wide else "may leave a statement"
    without: Said = {
        "verified": f"$G_\\mu$ is below the pair's curve at all {len(promises)} points, and no slack is needed at any.",
        "refuted": lambda: (
            f"Without slack the Gaussian promises too much at {len(broken)} of {len(promises)} points, but at none "
            f"up to $\\epsilon_0$ = {safe:g}. With the slack of Lemma 2 it {kept} at $\\delta$ = {delta:g}."
        ),
    }
    correction = (
        r"for every $c_0 \geq 1$, $T(\rho_0,\rho_1)(\alpha) \geq G_\mu(\alpha+s)-s$ with "
        r"$s = e(c_0) + \Pr(N < c_0) + \frac{(2/\sqrt{c_0}-\mu)_+}{\sqrt{2\pi}}$, where $N$ is the number of clones "
        r"and $e(c) = \frac{0.53}{c} + e^{-3\sqrt{c}/4}$ for $c \geq 100$ and $\frac{1}{\sqrt{2\pi c}}$ below. Without "
        rf"slack it is not a theorem, but on the map of equal budgets and at least {promises['n'].min():,} users it "
        rf"holds up to $\epsilon_0 = {safe:g}$. A local $\delta_n$ must be added (G-E17)."
    )
    trivial: Said = {"verified": f"With $C = \\sqrt{{n-1}}$ the right side is at most {evidence[most]:g}."}
    return judge(
        "G-T2",
        evidence,
        reading(
            "with the slack, one $C$ for all $n$ as long as the budgets are bounded",
            exactly(true and not empty, near=true and bool(says.any())),
            bounded,
            correction=correction,
        ),
        reading("with the slack, one $C$ for all $n$ and all budgets", exactly(one and true), any_budget),
        reading(
            "without the slack, as Figure 2 and the word 'approximately' have it",
            exactly(broken.empty and positive.empty and true),
            without,
        ),
        reading(
            "with the slack, a $C$ for each $n$",
            exactly(True),
            trivial,
            excluded="the order $1/\\sqrt{n-1}$ would mean nothing",
        ),
    )


def _no_constant(unproved: pd.DataFrame, growing: pd.DataFrame) -> str:
    if len(unproved):
        first = unproved.iloc[0]
        return (
            f"At $\\epsilon_0$ = {first['eps0']:g}, $n$ = {int(first['n']):,} the pair needs a slack of "
            f"{first['slack']:.3g}, more than the {min(first['proved'], first['sharp']):.3g} that its clones allow."
        )
    if growing.empty:
        return "No slack that is proved here is below half the total variation, so that nothing is said about $\\mu$."
    names = ", ".join(f"{eps0:g}" for eps0 in growing["eps0"])
    return f"No $C$ serves all $n$ at $\\epsilon_0$ = {names}: the least one grows with $n$."


def _emptiness(constants: pd.DataFrame) -> dict[str, object]:
    """What each slack says about mu, for the card: beside half the total variation."""
    n = constants["n"].max()
    last, total = constants[constants["n"] == n], len(constants)
    evidence: dict[str, object] = {}
    for row in last.itertuples():
        root = math.sqrt(n - 1)
        evidence[
            f"$\\epsilon_0$ = {row.eps0:g}, $n$ = {n:,}: $C$ that serves every $\\mu$, 0 included; $C$ proved for this "
            "$\\mu$ by distribution functions; corrected for continuity"
        ] = f"{row.half_tv * root:.3f}; {row.proved * root:.3f}; {row.sharp * root:.3f}"
    for key, name in (
        ("slack", "least slack"),
        ("proved", "slack of version (a)"),
        ("sharp", "slack of version (b)"),
    ):
        below = int((constants[key] < constants["half_tv"]).sum())
        evidence[f"{name} below half the total variation at"] = f"{below} of {total} points"
    return evidence


@settles("G-E18")
def equation_18(found: pd.DataFrame) -> Outcome:
    """`found` is from `chained`."""
    evidence: dict[str, object] = {
        "with the normal laws themselves, TV 1: largest right side": float(found["literal"].max())
    }
    for row in found.itertuples():
        evidence[
            f"$\\epsilon_0$ = {row.eps0:g}, $n$ = {row.n:,}, discretized: TV, largest right side, smallest excess"
        ] = f"{row.tv:.3g}, {row.largest:.3g}, {row.spare:.2g}"
    holds, says = float(found["spare"].min()) >= -1e-9, bool((found["largest"] > 0).all())
    said: Said = {
        "verified": "The left side is nowhere below the right, which is positive for the normal laws themselves.",
        "holds with correction": "As printed it is true and empty: the total variation from a law with a density is "
        f"1, so that the right side is never above {found['literal'].max():g}. With the discretized laws it holds and "
        "says something.",
        "refuted": "The left side is below the right, or the right is negative throughout.",
    }
    correction = (
        r"$P$ and $Q$ discretized to unit cells, Fact 4 as corrected (G-F4), and $F(\alpha) = 0$ for "
        r"$\alpha > 1 - \mathrm{TV}$."
    )
    verdict = exactly(holds and bool((found["literal"] > 0).all()), near=holds and says)
    return judge("G-E18", evidence, reading("as printed", verdict, said, correction=correction))


@settles("G-E17")
def equation_17(sides: pd.DataFrame, told: pd.DataFrame) -> Outcome:
    """Both sides of (17) on the paper's own pair; the mechanism that tells the truth with probability delta_n."""
    gap = sides["right"] - sides["left"]
    at, low = (sides.iloc[int(place)] for place in (gap.to_numpy().argmax(), gap.to_numpy().argmin()))
    same, above = told["total"] == told["corrected"], told["total"] > told["paper"]
    last = told.iloc[-1]
    formula = "$\\delta_\\text{total} = \\delta_n + (1 - \\delta_n)\\, \\delta$"
    tried = "truth told with probability $\\delta_n$: exact settings $(n, \\epsilon)$ tried, $n$ up to"
    evidence: dict[str, object] = {
        "(17), largest right minus left": f"{gap.max():.4g} at $\\alpha$ = {at['alpha']:.3f}",
        "there $T(\\rho_0, \\rho_1)$, right side": f"{at['left']:.4g}, {at['right']:.4g}",
        "(17), smallest right minus left": f"{gap.min():.4g} at $\\alpha$ = {low['alpha']:.3f}",
        "$T_\\text{symm}$: how far the two orders differ": float(sides["mirrored"].max()),
        "equal $\\alpha$ in both branches, true $T$ given $\\Delta_2 = 0$: largest excess": float(
            (sides["equal_alpha"] - sides["left"]).max()
        ),
        f"{tried} {told['n'].max()}": len(told),
        f"{formula}, exactly, at": int(same.sum()),
        "$\\delta_\\text{total}$ above what (17) gives at": int(above.sum()),
        f"$n$ = {last['n']}, $e^\\epsilon$ = {last['factor']}: exact, (17)": f"{last['total']}, {last['paper']}",
    }
    corrected = (
        f"What holds, exactly in every case tried, is {formula}."
        if same.all()
        else "Nor is $\\delta_n + (1 - \\delta_n)\\, \\delta$ the exact value in every case."
    )
    said: Said = {
        "verified": "Both sides of (17) agree, and no tried mechanism exceeds what it gives.",
        "holds with correction": "No tried mechanism exceeds what (17) gives, but its sides differ by up to "
        f"{gap.abs().max():.3g}.",
        "refuted": "The opposite is true: a victim who tells the truth with probability $\\delta_n$ loses at least "
        f"$\\delta_n$. {corrected} Even for the paper's own pair (17) is not an equality: its right side is up to "
        f"{gap.max():.3g} above the left side and up to {-gap.min():.3g} below it.",
    }
    # T is compared as doubles; an equality would leave rounding.
    equal = float(gap.abs().max()) < 1e-12
    verdict = exactly(bool(equal and not above.any()), near=not above.any())
    correction = "for the pair of (12) and (13) an inequality in place of (17)"
    return judge("G-E17", evidence, reading("as printed", verdict, said, correction=correction))

r"""Page 14, first part: learning a distribution over k items, and what shuffling makes of a number of users.

The local learner is Hadamard response with a projection to the simplex; the shuffled one is the same with the largest
eps_L for which (eps, delta) is certified for any common randomizer. Reports of one law have a multinomial histogram, so
a run of a million users is one draw. Orders are checked three ways: by computer algebra, with the constants of the
blog's eq. (1), and by exponents fitted to experiments.

With L = log(1/delta) and s = eps^2 n/L, eq. (5) sets eps_L^2 = s where s <= 1 and e^{eps_L} = s where s >= 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sympy as sp
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import elementwise
from scipy.stats import t as student

from gspa.accountant import budgets, exact, one_round
from gspa.accountant.families import common
from gspa.accountant.inverse import largest_local_epsilon
from gspa.algorithms.testing import HadamardResponse
from gspa.book.claims import Outcome, claim, judge, settles, unsettled
from gspa.book.figures import DASHES, PALETTE, ROLES, keeps_data, name_ends, role
from gspa.book.verdicts import Said, exactly, reading, within

Array = NDArray[np.float64]
Points = list[tuple[int, float, float]]

DELTA = 1e-12  # central delta of the scaling experiments: at a larger one log(eps/delta) bends the lines
FACTORS = {
    "k": "$k$",
    "alpha": r"$\alpha$",
    "eps": r"$\epsilon$",
    "growth": r"$e^\epsilon - 1$",
    "ratio": r"$e^\epsilon$",
}
"""What a number of users may be a power of."""
_REPEATS = 20  # runs of a learner for each point of an experiment


class Regime(NamedTuple):
    """Where one term of a number of users leads: its exponents, and points (k, alpha, budget) far inside.

    `start` is about the number of users over the order, and only where a search begins.
    """

    stated: Mapping[str, float]
    points: Points
    start: float = 1.0


def around(
    k: int,
    alpha: float,
    budget: float,
    of_k: Sequence[float] = (0.25, 0.5, 2.0, 4.0),
    of_alpha: Sequence[float] = (0.25, 0.5, 2.0),
    of_budget: Sequence[float] = (0.25, 0.5, 2.0, 4.0),
) -> Points:
    """The middle of an experiment and points at which one quantity is moved off it by a factor."""
    return [
        (k, alpha, budget),
        *((round(k * factor), alpha, budget) for factor in of_k),
        *((k, alpha * factor, budget) for factor in of_alpha),
        *((k, alpha, budget * factor) for factor in of_budget),
    ]


# The budget is e^eps - 1 where a power of it is stated, else e^eps.
LOCAL = {
    "small $\\epsilon$": Regime({"k": 2.0, "alpha": -2.0, "growth": -2.0}, around(256, 0.05, 0.02)),
    "large $\\epsilon$": Regime(
        {"k": 2.0, "alpha": -2.0, "ratio": -1.0},
        around(8192, 0.05, 32.0, of_k=(0.5, 2.0, 4.0), of_budget=(0.5, 2.0, 4.0)),
    ),
    "$\\epsilon$ above $\\ln k$": Regime({"k": 1.0, "alpha": -2.0}, around(256, 0.05, 2.0**20, of_budget=())),
}
"""Eq. (4)."""
_PRIVACY = {"k": 1.0, "alpha": -1.0, "eps": -1.0}
# The budget is the central eps; one term is at least five times the other.
SHUFFLED = {
    "privacy": Regime(_PRIVACY, around(4096, 0.05, 0.1)),
    "sampling": Regime(
        {"k": 1.0, "alpha": -2.0, "eps": 0.0},
        around(1024, 0.0008, 0.5, of_k=(0.25, 0.5, 2.0), of_budget=(0.5, 2.0)),
    ),
}
"""The blog's result in the shuffle model, by the term that is larger."""
CENTRAL = {"central": Regime(_PRIVACY, around(1024, 0.05, 0.01))}
"""The Laplace histogram where k/(alpha eps) is the larger term."""


# --- tables: learners --------------------------------------------------------------------------------------


def project(v: Array) -> Array:
    """The nearest point of the probability simplex in Euclidean distance, along the last axis.

    >>> project(np.array([0.75, 0.5, -0.25])).tolist()
    [0.625, 0.375, 0.0]
    """
    ordered = -np.sort(-v, axis=-1)
    shift = (np.cumsum(ordered, axis=-1) - 1) / np.arange(1, v.shape[-1] + 1)
    last = (ordered > shift).sum(axis=-1, keepdims=True) - 1
    return np.asarray(np.maximum(v - np.take_along_axis(shift, last, axis=-1), 0.0))


def errors(response: HadamardResponse, *, n: int, repeats: int, rng: np.random.Generator) -> Array:
    """Distances in total variation of what `repeats` runs learn from the uniform distribution, the hardest one."""
    uniform = np.full(response.k, 1 / response.k)
    counts = rng.multinomial(n, response.law(uniform), size=repeats)
    return _distance(project(response.estimate(counts)), uniform)


def central_errors(k: int, *, eps: float, n: int, repeats: int, rng: np.random.Generator) -> Array:
    """The same with Laplace noise on the histogram, whose l1 sensitivity is 2 when one record is replaced."""
    uniform = np.full(k, 1 / k)
    counts = rng.multinomial(n, uniform, size=repeats)
    return _distance(project((counts + rng.laplace(scale=2 / eps, size=counts.shape)) / n), uniform)


def _distance(found: Array, p: Array) -> Array:
    return np.asarray(0.5 * np.abs(found - p).sum(axis=-1))


def shuffled_budget(eps: float, *, n: int, delta: float) -> float:
    """The largest eps_L certified to give (eps, delta) after shuffling, for any common randomizer; errs downward.

    >>> round(shuffled_budget(0.2, n=10_000, delta=1e-6), 4)
    2.3222
    """
    return largest_local_epsilon(eps=eps, delta=delta, n=n, mechanism=common()).lower


def nearby_budget(eps: float, *, n: int) -> float:
    """About the eps_L that gives eps at `DELTA` with n users, for experiments that certify eps afterwards.

    e^{eps_L} is a power of 2, so that the number of blocks is e^{eps_L}/2 throughout.
    """
    return math.log(2) * max(1, round(math.log2(max(n * eps**2 / (-6 * math.log(DELTA)), 1.0))))


def certified(eps_local: float, *, n: int) -> float:
    """The central eps certified at `DELTA` for any common randomizer."""
    return one_round.central_epsilon(budgets.constant(eps_local, n=n), delta=DELTA, mechanism=common()).upper


def learners(k: int, *, eps: float, delta: float, sizes: Sequence[int], repeats: int, seed: int) -> pd.DataFrame:
    """Error of each learner over n: n, learner, eps_local (NaN where there is none), tv (mean), tv_error (standard).

    eps is local for the local learner and central for the others.

    >>> table = learners(16, eps=1.0, delta=1e-6, sizes=[100_000], repeats=4, seed=0).set_index("learner")["tv"]
    >>> bool(table["no privacy"] < table["shuffled"] < table["local"])
    True
    """
    rng, p = np.random.default_rng(seed), np.full(k, 1 / k)
    rows = []
    for n in sizes:
        found = {
            "no privacy": (math.nan, _distance(rng.multinomial(n, p, size=repeats) / n, p)),
            "central": (math.nan, central_errors(k, eps=eps, n=n, repeats=repeats, rng=rng)),
        }
        for name, local in (("shuffled", shuffled_budget(eps, n=n, delta=delta)), ("local", eps)):
            found[name] = (local, errors(HadamardResponse.of(k, eps=local), n=n, repeats=repeats, rng=rng))
        for name, (local, tv) in found.items():
            rows.append((n, name, local, float(tv.mean()), float(tv.std(ddof=1) / math.sqrt(repeats))))
    return pd.DataFrame(rows, columns=["n", "learner", "eps_local", "tv", "tv_error"])


def local_scaling(*, seed: int) -> pd.DataFrame:
    """The local learner: n is chosen, the mean error alpha measured. Columns: regime, k, n, alpha, ratio, growth."""
    rng, rows = np.random.default_rng(seed), []
    for regime, (stated, points, _) in LOCAL.items():
        for k, target, budget in points:
            growth = budget if "growth" in stated else budget - 1
            n = math.ceil((k**2 / growth**2 + k**2 / (1 + growth) + k) / target**2)
            tv = errors(HadamardResponse.of(k, eps=math.log1p(growth)), n=n, repeats=_REPEATS, rng=rng)
            rows.append((regime, k, n, float(tv.mean()), 1 + growth, growth))
    return pd.DataFrame(rows, columns=["regime", "k", "n", "alpha", "ratio", "growth"])


def shuffled_scaling(*, seed: int) -> pd.DataFrame:
    """The shuffled learner: n and eps_L are chosen, alpha is measured, eps certified at `DELTA`.

    Columns: regime, k, n, eps_local, alpha, eps.
    """
    rng, rows, log = np.random.default_rng(seed), [], -math.log(DELTA)
    for regime, (_, points, _) in SHUFFLED.items():
        for k, target, eps in points:
            n = round(2.2 * k * math.sqrt(log) / (target * eps) if regime == "privacy" else 0.17 * k / target**2)
            local = nearby_budget(eps, n=n)
            tv = errors(HadamardResponse.of(k, eps=local), n=n, repeats=_REPEATS, rng=rng)
            rows.append((regime, k, n, local, float(tv.mean()), certified(local, n=n)))
    return pd.DataFrame(rows, columns=["regime", "k", "n", "eps_local", "alpha", "eps"])


def central_scaling(*, seed: int) -> pd.DataFrame:
    """The central learner, which is eps-DP. Columns: regime, k, n, alpha (measured), eps."""
    rng, rows = np.random.default_rng(seed), []
    for k, target, eps in CENTRAL["central"].points:
        n = round(k / (target * eps))
        tv = central_errors(k, eps=eps, n=n, repeats=_REPEATS, rng=rng)
        rows.append(("central", k, n, float(tv.mean()), eps))
    return pd.DataFrame(rows, columns=["regime", "k", "n", "alpha", "eps"])


# --- tables: exponents -------------------------------------------------------------------------------------


def fitted(table: pd.DataFrame, regimes: Mapping[str, Regime]) -> pd.DataFrame:
    """Exponents of n in each regime, by least squares of logarithms, beside the stated ones.

    The intervals are Student's, from the residuals: they cover the Monte-Carlo error of the points and how far they are
    from a power law over the range of the table, and nothing outside that range. Columns: regime, factor, stated,
    exponent, low, high (of 95%), points.

    >>> table = pd.DataFrame({"regime": "one", "n": [8.0, 16.1, 31.9, 64.2, 128.0], "k": [1, 2, 4, 8, 16]})
    >>> found = fitted(table, {"one": Regime({"k": 1.0}, [])})
    >>> found.round(2).to_string(index=False, header=False).split()
    ['one', 'k', '1.0', '1.0', '0.99', '1.01', '5']
    """
    rows = []
    for name, part in table.groupby("regime", sort=False):
        stated = regimes[str(name)].stated
        y = np.log(part["n"].to_numpy(float))
        x = np.column_stack([np.ones(y.size), np.log(part[[*stated]].to_numpy(float))])
        found, *_ = np.linalg.lstsq(x, y, rcond=None)
        spare = y.size - x.shape[1]
        residual = float(((y - x @ found) ** 2).sum()) / spare
        reach = student.ppf(0.975, spare) * np.sqrt(residual * np.diag(np.linalg.inv(x.T @ x)))
        for (factor, power), middle, half in zip(stated.items(), found[1:], reach[1:], strict=True):
            rows.append((name, factor, power, middle, middle - half, middle + half, y.size))
    return pd.DataFrame(rows, columns=["regime", "factor", "stated", "exponent", "low", "high", "points"])


def spoken(regime: str) -> str:
    """A regime's name as the page says it.

    >>> spoken("public, small $\\\\epsilon$"), spoken("privacy")
    ('public coin, small $\\\\epsilon$', 'shuffled, privacy')
    """
    words = {"privacy": "shuffled, privacy", "sampling": "shuffled, sampling", "central": "central, privacy"}
    return words.get(regime, regime.replace("private,", "private coin,").replace("public,", "public coin,"))


def readable(fitted: pd.DataFrame) -> pd.DataFrame:
    """`fitted` as the page shows it."""
    heads = {"factor": "power of", "low": "95% from", "high": "to"}
    shown = fitted.assign(regime=fitted["regime"].map(spoken), factor=fitted["factor"].map(FACTORS))
    return shown.rename(columns=heads)


def placed(fitted: pd.DataFrame, tolerance: float) -> NDArray[np.str_]:
    """Of each exponent whether its interval is "inside" the stated one's tolerance, "outside" it, or "open"."""
    low, high = fitted["stated"] - tolerance, fitted["stated"] + tolerance
    inside, outside = (fitted["low"] >= low) & (fitted["high"] <= high), (fitted["low"] > high) | (fitted["high"] < low)
    return np.select([inside, outside], ["inside", "outside"], "open")


def missed(fitted: pd.DataFrame) -> int:
    """How many intervals do not contain what is stated."""
    return int(((fitted["low"] > fitted["stated"]) | (fitted["high"] < fitted["stated"])).sum())


# --- tables: numbers of users as formulas ------------------------------------------------------------------

PROBLEMS = ("learning", "private coin", "public coin")
_CASES = ("$s \\leq 1$", "$s \\geq 1$")
_OVER = dict(zip(_CASES, ("$\\epsilon_L$", "$e^{\\epsilon_L}$"), strict=True))  # what eq. (5) chooses
_k, _alpha, _eps, _log, _n, _x, _s, _z = sp.symbols("k alpha epsilon L n x s z", positive=True)
_2_3, _3_4, _3_2 = sp.Rational(2, 3), sp.Rational(3, 4), sp.Rational(3, 2)
# Terms of eqs. (4), (7), (6) without 1/alpha^2; x is eps_L.
_TERMS = {
    "learning": (_k**2 / (sp.exp(_x) - 1) ** 2, _k**2 * sp.exp(-_x), _k),
    "private coin": (_k**_3_2 / (sp.exp(_x) - 1) ** 2, _k**_3_2 * sp.exp(-_x), sp.sqrt(_k)),
    "public coin": (_k / (sp.exp(_x) - 1) ** 2, _k * sp.exp(-_x / 2), sp.sqrt(_k)),
}
# Terms of the blog's results for the shuffle model.
_PRINTED = {
    "learning": (_k * sp.sqrt(_log) / (_alpha * _eps), _k / _alpha**2),
    "private coin": (_k**_3_4 * sp.sqrt(_log) / (_alpha * _eps), sp.sqrt(_k) / _alpha**2),
    "public coin": (
        _k**_2_3 * sp.cbrt(_log) / (_alpha ** (2 * _2_3) * _eps**_2_3),
        sp.sqrt(_k * _log) / (_alpha * _eps),
        sp.sqrt(_k) / _alpha**2,
    ),
}


@cache
def _evaluators(problem: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The sums of a problem's terms as numerical functions: of (k, alpha, x), and of (k, alpha, eps, L)."""
    local, shuffled = sp.Add(*(term / _alpha**2 for term in _TERMS[problem])), sp.Add(*_PRINTED[problem])
    return sp.lambdify((_k, _alpha, _x), local, "numpy"), sp.lambdify((_k, _alpha, _eps, _log), shuffled, "numpy")


def local_users(problem: str, k: Any, alpha: Any, eps: Any) -> Any:
    """Eq. (4), (7) or (6), by `PROBLEMS`, without the constant of Theta; numbers or arrays.

    >>> round(float(local_users("learning", 10, 0.1, math.log(2))), 6)
    16000.0
    """
    return _evaluators(problem)[0](k, alpha, eps)


def shuffled_users(problem: str, k: Any, alpha: Any, eps: Any, delta: Any) -> Any:
    """The blog's result for the shuffle model, without the constant of O.

    >>> round(float(shuffled_users("learning", 10, 0.1, 1.0, math.exp(-4))), 6)
    1200.0
    """
    return _evaluators(problem)[1](k, alpha, eps, -np.log(delta))


def _power_of_s(part: Any, *, small: bool) -> Any:
    """q with part ~ s^-q: at eps_L = sqrt(s) -> 0 if small, else at e^{eps_L} = s -> infinity."""
    if small:
        return -part.as_leading_term(_x).as_coeff_exponent(_x)[1] / 2
    leading = part.subs(_x, -sp.log(_z)).as_leading_term(_z)  # z = e^{-eps_L} -> 0
    return leading.as_coeff_exponent(_z)[1]


def substitutions() -> pd.DataFrame:
    """Eq. (5) in every term of eqs. (4), (6) and (7), in both cases, solved for n by computer algebra.

    A term's part in eps_L is replaced by its leading part, a power of s; n > k^a s^-q/alpha^2 is then solved for n.
    Columns: problem, case, term (1 to 3), needs (what n must exceed, in s), users (solved for n), leads (of the two
    terms that contain eps_L the larger one throughout the case, or the third), printed (whether the blog has the term).
    """
    rows = []
    for (problem, terms), small in product(_TERMS.items(), (True, False)):
        fronts, parts = zip(*(term.as_independent(_x) for term in terms), strict=True)
        powers = [_power_of_s(part, small=small) for part in parts]
        for index, (front, q) in enumerate(zip(fronts, powers, strict=True)):
            needs = front * _s**-q / _alpha**2
            users = sp.simplify((front / _alpha**2 * (_log / _eps**2) ** q) ** (1 / (1 + q)))
            # Both terms with eps_L have the same power of k, so their quotient is a power of s.
            other = powers[1 - index] if index < 2 else q
            leads = index == 2 or bool(q >= other if small else q <= other)
            printed = any(sp.simplify(sp.powdenest(users / term, force=True)) == 1 for term in _PRINTED[problem])
            shown = (f"${sp.latex(one, fold_frac_powers=True)}$" for one in (needs, users))
            rows.append((problem, _CASES[not small], index + 1, *shown, leads, printed))
    return pd.DataFrame(rows, columns=["problem", "case", "term", "needs", "users", "leads", "printed"])


def first_term() -> tuple[str, str]:
    """Limits, as eps -> 0, of eq. (4)'s first term over k/(alpha^2 eps^2) and over k^2/(alpha^2 eps^2)."""
    printed, squared = (sp.limit(_TERMS["learning"][0] * _x**2 / _k**p, _x, 0) for p in (1, 2))
    return str(printed), str(squared)


def eps_local(n: Array, eps: Any, delta: Any) -> Array:
    """eps_L at which eq. (1) gives eps, or that of Theorem 3.1's condition if this is smaller; 0 if there is none."""

    def excess(local: Array, n: Array, eps: Array, delta: Array) -> Array:
        found = np.log1p(16 * np.tanh(local / 2) * np.sqrt(np.exp(local) * (math.log(4) - np.log(delta)) / n))
        return np.asarray(found - eps)

    most = np.maximum(np.log(n / (16 * (math.log(2) - np.log(delta)))), 0.0)
    found = elementwise.find_root(excess, (0.0, most), args=(n, eps, delta)).x
    return np.asarray(np.where(excess(most, n, eps, delta) <= 0, most, found))


def solved_over_printed(
    problem: str, *, k: Sequence[float], alpha: Sequence[float], eps: Sequence[float], delta: Sequence[float]
) -> pd.DataFrame:
    """`solved` over `printed` users on a grid of k, alpha, eps, delta, and their `ratio`.

    Solved is the least n that is at least eq. (4), (6) or (7) at the eps_L that eq. (1) allows with n users: what "plug
    that back in" means with every constant that eq. (1) has (those of Theta, which the blog does not give, are 1).
    """
    table = pd.DataFrame(product(k, alpha, eps, delta), columns=["k", "alpha", "eps", "delta"], dtype=float)
    items, distance, target, spent = (table[name].to_numpy() for name in table)

    def spare(log_n: Array, items: Array, distance: Array, target: Array, spent: Array) -> Array:
        budget = np.maximum(eps_local(np.exp(log_n), target, spent), 1e-12)
        return np.asarray(log_n - np.log(local_users(problem, items, distance, budget)))

    found = elementwise.find_root(spare, (0.0, 120.0), args=(items, distance, target, spent))
    printed = shuffled_users(problem, items, distance, target, spent)
    table = table.assign(solved=np.exp(found.x), printed=printed)
    return table.assign(ratio=table["solved"] / table["printed"])


def information(k: int, eps: float) -> float:
    """The largest trace of the channel information matrix over all eps-LDP randomizers of k items, k even.

    The lemma of the page: by symmetry the channel of all columns with the best number m of split pairs attains it.

    >>> round(information(6, math.log(2)), 6)
    0.222222
    """
    growth = math.expm1(eps)
    best = min(max(k / growth, 1.0), k / 2)
    splits = np.unique([math.floor(best), math.ceil(best)])
    return float((k * splits * (growth / (splits * growth + k)) ** 2).max())


def necessary_over_stated(problem: str, *, k: Sequence[int], eps: Sequence[float]) -> pd.DataFrame:
    """The published lower bounds, evaluated, over eqs. (4), (6) and (7): k, eps, trace, ratio.

    For families of randomizers with channel information matrices H (Acharya, Canonne and Tyagi 2020), up to constants:
    learning needs k^2/(alpha^2 max tr H) users, testing k^{3/2}/(alpha^2 max tr H) without and k/(alpha^2 max F) with
    a common seed, F the Frobenius norm of H. F is at most tr H, and at most sqrt(2 tr H), because H <= 2 I whatever
    the channel.
    """
    rows = []
    for size, budget in product(k, eps):
        trace = information(size, budget)
        bounds = {"learning": size**2 / trace, "private coin": size**1.5 / trace}
        bounds["public coin"] = size / min(trace, math.sqrt(2 * trace))
        rows.append((size, budget, trace, bounds[problem] / float(local_users(problem, float(size), 1.0, budget))))
    return pd.DataFrame(rows, columns=["k", "eps", "trace", "ratio"])


# --- tables: which local budget to start from --------------------------------------------------------------


def choices(targets: Sequence[float], sizes: Sequence[int], *, delta: float) -> pd.DataFrame:
    """Both formulas of eq. (5), the certified eps_L, and what the formulas give if taken at their word.

    Columns: eps, n, s, case; certified (the largest eps_L for any common randomizer); ratio (certified over the formula
    of the case: of eps_L where s <= 1, of e^{eps_L} where s >= 1); own and other: the exact central eps of randomized
    response, rounded down, over the target, if eps_L is what the formula of the case, or of the other case, says.
    """

    def central(x: float) -> float:
        # A formula that says eps_L <= 0 says next to nothing; beyond 40 a report is the truth in all but name.
        return exact.least_epsilon(budgets.constant(min(max(x, 1e-6), 40.0), n=n), delta=delta)

    rows: list[tuple[Any, ...]] = []
    for eps, n in product(targets, sizes):
        s = eps**2 * n / -math.log(delta)
        first, second = math.sqrt(s), math.log(s)
        found = shuffled_budget(eps, n=n, delta=delta)
        if s <= 1:
            row = (_CASES[0], found, found / first, central(first) / eps, central(second) / eps)
        else:
            row = (_CASES[1], found, math.exp(found) / s, central(second) / eps, central(first) / eps)
        rows.append((eps, n, s, *row))
    return pd.DataFrame(rows, columns=["eps", "n", "s", "case", "certified", "ratio", "own", "other"])


# --- figures -----------------------------------------------------------------------------------------------


@keeps_data
def learning_curves(table: pd.DataFrame) -> Figure:
    """Error against n, a line a learner, both logarithmic; bars are two standard errors. `table` is from `learners`."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for (name, line), colour, dashes, mark in zip(
        table.groupby("learner", sort=False), PALETTE, DASHES, "os^Dv", strict=False
    ):
        bars = 2 * line["tv_error"]
        drawn = axis.errorbar(line["n"], line["tv"], yerr=bars, color=colour, lw=2, marker=mark, ms=6)
        drawn[0].set_dashes(dashes or (None, None))
        drawn.set_label(str(name))
    axis.set(xscale="log", yscale="log", xlabel="number of users $n$, logarithmic")
    axis.set_ylabel("error in total variation, logarithmic")
    axis.legend()
    return figure


@keeps_data
def literally(table: pd.DataFrame) -> Figure:
    """The central eps of eq. (5) taken literally over its target against n, a line a target; from `choices`."""
    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
    axis.axhline(1, **role("reference"))
    ends = []
    for index, (eps, line) in enumerate(table.groupby("eps"), 1):
        colour, dashes, mark = PALETTE[index % len(PALETTE)], DASHES[index % len(DASHES)], "os^Dv"[index % 5]
        axis.plot(line["n"], line["own"], color=colour, dashes=dashes or (None, None), lw=2, marker=mark, clip_on=False)
        ends.append((line["n"].iloc[-1], line["own"].iloc[-1], f"target {eps:g}", colour))
    axis.set(xscale="log", xlabel="number of users $n$, logarithmic", ylabel=r"central $\epsilon$ over the target")
    axis.set_ylim(bottom=0)
    level = (table["n"].max(), 1.0, "the target", ROLES["reference"][0])
    name_ends(axis, [*ends, level], gap=14)
    return figure


@keeps_data
def exponent_dots(table: pd.DataFrame, *, tolerance: float) -> Figure:
    """Fitted less stated exponents with their intervals, a row each, from `fitted`; the band is the tolerance."""
    figure, axis = plt.subplots(figsize=(7, 0.9 + 0.33 * len(table)), layout="constrained")
    axis.axvspan(-tolerance, tolerance, color="0.92", zorder=0)
    axis.axvline(0, **role("reference"))
    rows = range(len(table))
    middle = table["exponent"] - table["stated"]
    reach = [table["exponent"] - table["low"], table["high"] - table["exponent"]]
    axis.errorbar(middle, rows, xerr=reach, fmt="o", color=ROLES["attack"][0], ms=6, lw=2)
    axis.set_yticks(rows, [_power(row) for row in table.to_dict("records")])
    axis.set_ylim(len(table) - 0.4, -0.6)
    widest = max(1.5 * tolerance, float((middle.abs() + reach[0]).max()) * 1.05)
    axis.set(xlabel="fitted exponent less the stated one", xlim=(-widest, widest))
    return figure


def _power(row: Mapping[Any, Any]) -> str:
    factor, power = FACTORS[row["factor"]].strip("$"), f"{Fraction(row['stated']).limit_denominator(12)}"
    if row["factor"] == "ratio":
        written = rf"e^{{{power.replace('1', '') if power in ('1', '-1') else power}\epsilon}}"
    else:
        base = f"({factor})" if row["factor"] == "growth" else factor
        written = base if power == "1" else f"{base}^{{{power}}}"
    return f"{spoken(row['regime'])}: ${written}$"


# --- checks ------------------------------------------------------------------------------------------------

# Two expressions are of one order if their quotient stays within a factor 10 while each varies over many decades.
ORDER = 10.0
# Results that contain eq. (1)'s constant 16 may be off the orders, which have none, by that and a factor 2 either way.
CONSTANT = 32.0


def tolerance_of(name: str) -> float:
    """The registry's tolerance on an exponent."""
    return float((claim(name).tolerance or {})["exponent"])


def _of_exponents(
    name: str, fitted: pd.DataFrame, evidence: Mapping[str, object], wrong: str, reason: str, *, how: str
) -> Outcome:
    """Whether all exponents are within the tolerance and nothing else is `wrong`; `reason` has INTERVALS.

    `how` is the reading: for what the exponents were measured.
    """
    tolerance = tolerance_of(name)
    where, rows = placed(fitted, tolerance), fitted.to_dict("records")
    off = [row for row, place in zip(rows, where, strict=True) if place == "outside"]
    unclear = [_named(row) for row, place in zip(rows, where, strict=True) if place == "open"]
    if unclear and not off and not wrong:
        return unsettled(
            name, f"This run has too few draws to place these exponents within {tolerance:g}: {', '.join(unclear)}."
        )
    intervals = f"the 95% intervals of all {len(fitted)} exponents lie within {tolerance:g} of the stated ones"
    if beside := missed(fitted):
        intervals += f", though {beside} {'does' if beside == 1 else 'do'} not contain the stated exponent"
    said = [f"{_named(row)}: {row['exponent']:.3f}, stated {row['stated']:.3g}" for row in off]
    found: Said = {
        "verified": reason.replace("INTERVALS", intervals),
        "refuted": f"The stated orders are not found: {'; '.join(said) or wrong}.",
    }
    shown = {**evidence, "tolerance on an exponent": tolerance, "how far the evidence goes": how}
    by_tolerance = reading(f"{how}; to within {tolerance:g}", exactly(not off and not wrong), found)
    if off or wrong:
        return judge(name, shown, by_tolerance)
    none_off = within(beside, 0)
    strict: Said = {
        "verified": f"All {len(fitted)} intervals contain the stated exponent.",
        "not reproduced": f"{beside} of {len(fitted)} intervals {'does' if beside == 1 else 'do'} not contain the "
        "stated exponent. Over one or two decades the other terms of an order bend it.",
    }
    return judge(name, shown, by_tolerance, reading("the same; to within the intervals of the fit", none_off, strict))


def _named(row: Mapping[Any, Any]) -> str:
    return f"{row['regime']}: exponent of {FACTORS[row['factor']]}"


def _exponents(fitted: pd.DataFrame) -> dict[str, object]:
    return {
        f"{_named(row)}, stated {row['stated']:.3g}": (
            f"{row['exponent']:.3f}, 95% {row['low']:.3f} to {row['high']:.3f}"
        )
        for row in fitted.to_dict("records")
    }


def local_orders(
    name: str,
    fitted: pd.DataFrame,
    necessary: pd.DataFrame,
    *,
    equation: str,
    bound: str,
    sufficient: str,
    how: str,
    kind: str = "",
) -> Outcome:
    """Eq. (4), (6) or (7): exponents of an experiment, and the lower bound from `necessary_over_stated`."""
    low, high = float(necessary["ratio"].min()), float(necessary["ratio"].max())
    label = f"{bound} over eq. {equation}, {len(necessary)} pairs $(k, \\epsilon)$"
    times = f"{low:.2g} to {high:.2g} times eq. {equation}"
    return _of_exponents(
        name,
        fitted,
        {**_exponents(fitted), label: [low, high]},
        f"the lower bound is {times}" if high / low > ORDER else "",
        f"Sufficient: for {sufficient}, INTERVALS. Necessary: the published lower bound{kind}, evaluated, is {times} "
        f"for $k$ from {necessary['k'].min():,.0f} to {necessary['k'].max():,.0f}. We do not redo its proof.",
        how=how,
    )


def shuffled_orders(
    name: str,
    problem: str,
    fitted: pd.DataFrame,
    terms: pd.DataFrame,
    solved: pd.DataFrame,
    *,
    local: str,
    where: str,
    how: str,
    more: Mapping[str, object] | None = None,
) -> Outcome:
    """A result for the shuffle model: the algebra of `substitutions`, eq. (1)'s constants, and exponents."""
    own = terms[terms["problem"] == problem]
    leading, others = own[own["leads"]], own[~own["leads"]]
    evidence: dict[str, object] = {}
    for row in leading.to_dict("records"):
        fault = "" if row["printed"] else " (not printed)"
        evidence[f"eq. (5) in term {row['term']}, {row['case']}: $n$ at least"] = row["users"] + fault
    low, high = float(solved["ratio"].min()), float(solved["ratio"].max())
    evidence[f"$n$ by {local} over the printed order, {len(solved)} points, $\\epsilon \\leq 1$"] = [low, high]
    wrong = "the constants grow" if high > CONSTANT or low < 1 / CONSTANT else ""
    if not leading["printed"].all() or others["printed"].any():
        wrong = "the algebra gives other terms"
    return _of_exponents(
        name,
        fitted,
        {**evidence, **(more or {}), **_exponents(fitted)},
        wrong,
        f"The algebra gives the printed terms and no other. With eq. (1)'s constants, $n$ is {low:.1f} to {high:.1f} "
        f"times the printed order for $\\epsilon$ up to 1. In the experiment, {where}, INTERVALS.",
        how=how,
    )


@settles("B-8")
def local_learning(fitted: pd.DataFrame, necessary: pd.DataFrame) -> Outcome:
    """Exponents of a real learner, and the published lower bound evaluated over k and eps."""
    bound = "lower bound $k^2/(\\alpha^2 \\max \\mathrm{tr}\\, H)$"
    sufficient = "Hadamard response, in three regimes"
    how = "one learner, Hadamard response, its mean error at the uniform distribution; one published lower bound"
    return local_orders("B-8", fitted, necessary, equation="(4)", bound=bound, sufficient=sufficient, how=how)


@settles("B-15")
def remark_on_first_term(limits: tuple[str, str]) -> Outcome:
    """The first term of eq. (4) over what the remark says it is, from `first_term`."""
    printed, squared = limits
    evidence = {
        "limit of the first term over $k/(\\alpha^2\\epsilon^2)$": f"${printed}$",
        "limit of the first term over $k^2/(\\alpha^2\\epsilon^2)$": f"${squared}$",
    }
    found = reading(
        "the first term of eq. (4)",
        exactly(printed == "1", near=squared == "1"),
        {
            "verified": "The quotient of the two terms tends to 1.",
            "holds with correction": f"A square is missing: the quotient of the two terms tends to ${printed}$.",
            "refuted": f"The quotient tends to ${printed}$.",
        },
        correction=r"the first term is $k^2/(\alpha^2\epsilon^2)$ for small $\epsilon$.",
    )
    return judge("B-15", evidence, found)


@settles("B-9")
def budget_choice(table: pd.DataFrame, beyond: pd.DataFrame) -> Outcome:
    """Eq. (5) against the certified eps_L, both from `choices`, central eps up to 1 and `beyond`."""
    ranges = {str(case): part["ratio"] for case, part in table.groupby("case", sort=False)}
    low, high = float(table["ratio"].min()), float(table["ratio"].max())
    large, least = table[table["s"] > ORDER], float(beyond["ratio"].min())
    swapped, own, far = float(large["other"].max()), float(table["own"].max()), f"{beyond['eps'].max():g}"
    evidence: dict[str, object] = {}
    for case, ratio in ranges.items():
        what = f"{case} ({_OVER[case]}), $s = \\epsilon^2 n/\\ln(1/\\delta)$"
        evidence[f"certified over eq. (5), {what}"] = f"{ratio.min():.2f} to {ratio.max():.2f}"
    evidence |= {
        "exact central $\\epsilon$ over the target, eq. (5) taken at its word, largest": own,
        "the same with the first formula where $s \\geq 1$, the order printed, largest": swapped,
        f"certified over eq. (5) for a central $\\epsilon$ of {far}, smallest": least,
    }
    if len(ranges) < 2 or large.empty:
        return unsettled("B-9", "This run has only one of the two cases.")
    near = low >= 1 / ORDER and high <= ORDER
    everywhere = near and least >= 1 / ORDER and float(beyond["ratio"].max()) <= ORDER
    refuted = f"What is certified is {low:.3g} to {high:.3g} times eq. (5)."
    order = (
        f"Eq. (5) is of the right order for $\\epsilon$ up to {table['eps'].max():g}: {low:.2f} to {high:.2f} times "
        "its "
        "value is certified"
    )
    correction = (
        r"$\epsilon_L \approx \epsilon\sqrt{n/\ln(1/\delta)}$ where $\epsilon^2 n/\ln(1/\delta) \le 1$, and "
        r"$e^{\epsilon_L} \approx \epsilon^2 n/\ln(1/\delta)$ where it is at least 1, up to constants and for "
        r"$\epsilon$ of order at most 1."
    )
    return judge(
        "B-9",
        evidence,
        reading(
            f"the cases as the sentence after (5) has them, $\\epsilon$ up to {table['eps'].max():g}",
            exactly(near),
            {
                "verified": f"{order}. Taken literally, with constants ignored, it gives a central $\\epsilon$ up "
                f"to {own:.2f} times the target.",
                "refuted": refuted,
            },
        ),
        reading(
            "the same for every $\\epsilon$",
            exactly(everywhere, near=near),
            {
                "verified": f"{order}, and {least:.2g} for $\\epsilon$ = {far}.",
                "holds with correction": f"{order}. For $\\epsilon$ = {far} only {least:.2g} times its value is.",
                "refuted": refuted,
            },
            correction=correction,
        ),
        reading(
            "the first formula where $\\epsilon^2 n/\\ln(1/\\delta) \\geq 1$",
            exactly(swapped <= 1, near=near),
            {
                "verified": f"The central $\\epsilon$ is at most {swapped:.3g} times the target.",
                "holds with correction": f"The central $\\epsilon$ is up to {swapped:.3g} times the target.",
                "refuted": refuted,
            },
            correction=correction,
            excluded='"depending on whether" gives no order, and the sentence after it says which case is which.',
        ),
    )


@settles("B-10")
def shuffled_learning(fitted: pd.DataFrame, terms: pd.DataFrame, solved: pd.DataFrame, beyond: pd.DataFrame) -> Outcome:
    """The algebra, eq. (1)'s constants up to eps = 1 and `beyond`, exponents of a shuffled and a central learner."""
    more = {f"the same at $\\epsilon$ = {beyond['eps'].max():g}, largest": float(beyond["ratio"].max())}
    return shuffled_orders(
        "B-10",
        "learning",
        fitted,
        terms,
        solved,
        local="eqs. (1) and (4)",
        where="for the shuffled learner and for a central one",
        how="one shuffled learner, Hadamard response, and one central one, the Laplace histogram, at the uniform "
        "distribution",
        more=more,
    )

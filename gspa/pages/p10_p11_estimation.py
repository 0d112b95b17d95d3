"""Pages 10 and 11: how large the errors of Algorithms 1 and 2 are for Figure 3's users, whether a line fits them, and
what else can be made of the same reports. What the reports reveal is in `p10_p11_privacy`.

Algorithm 1's squared error is 2 sensitivity^2/n^2 sum_i 1/eps_i^2 whatever the data. Algorithm 2's answer is the
average of the bits with the weights t_i = tanh(eps_i/2), so that its error depends on who holds the ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit

from gspa.accountant import budgets
from gspa.accountant.budgets import Budgets
from gspa.algorithms import frequency, mean
from gspa.algorithms.frequency import Simulation
from gspa.book.claims import Outcome, claim, judge, settles, unsettled
from gspa.book.figures import DASHES, PALETTE, ROLES, keeps_data
from gspa.book.verdicts import VERDICTS, Reading, Verdict, exactly, joined, reading, unknown, within

Array = NDArray[np.float64]

READINGS = ("constants", "ranges")
VARIED = ("f_conservative", "eps_conservative")
F_CONSERVATIVE = (0.01, 0.5)  # the range the paper varies it over

MEASURES: Mapping[str, Callable[[Array], Array]] = {
    "error": lambda squared: np.sqrt(2 / np.pi * squared),
    "squared error": lambda squared: squared,
    "1/error": lambda squared: 1 / np.sqrt(2 / np.pi * squared),
    "1/squared error": lambda squared: 1 / squared,
}
"""What a reader may take for the "utility" that is said to be linear, as functions of the mean squared error."""

_BLOCK = 2_000_000  # random numbers drawn at a time


# --- tables: the users and the law of the errors -----------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Figure 3's users: shares and budgets of the conservative, moderate (those left) and liberal ones."""

    n: int = 10_000
    f_conservative: float = 0.54
    f_liberal: float = 0.09
    eps_conservative: float = 0.1
    eps_moderate: float = 0.5
    eps_liberal: float = 1.0

    @property
    def f_moderate(self) -> float:
        return max(1 - self.f_liberal - self.f_conservative, 0.0)

    def people(self, *, reading: str = "constants", rng: budgets.Seed | None = None) -> Budgets:
        """Their budgets, from conservative to liberal."""
        return budgets.preference_groups(**vars(self), f_moderate=self.f_moderate, reading=reading, rng=rng)

    def parts(self, reading: str) -> list[tuple[float, float, float]]:
        """(share, smallest budget, largest budget) of each group; in the ranges budgets are uniform."""
        low, middle, high = self.eps_conservative, self.eps_moderate, self.eps_liberal
        ends = [(low, low), (middle, middle), (high, high)]
        if reading == "ranges":
            ends = [(low, middle), (middle, high), (high, high)]
        shares = (self.f_conservative, self.f_moderate, self.f_liberal)
        return [(share, *each) for share, each in zip(shares, ends, strict=True)]

    def varied(self, vary: str, value: float) -> Groups:
        """The same with another `f_conservative` or `eps_conservative`."""
        return replace(self, **{vary: float(value)})  # type: ignore[arg-type]

    def axis(self, vary: str, points: int) -> Array:
        """Figure 3's axis: the paper's shares, or eps_C from half its default up to eps_M (the paper names no ends)."""
        ends = F_CONSERVATIVE if vary == "f_conservative" else (self.eps_conservative / 2, self.eps_moderate)
        return np.linspace(*ends, points)


def mean_law(groups: Groups, *, sensitivity: float, reading: str = "constants") -> float:
    """Mean squared error of Algorithm 1, averaged over the budgets drawn; exact but for rounding group sizes to users.

    2 sensitivity^2 / n sum_g f_g E[1/eps^2], and E[1/eps^2] = 1/(a b) for eps from U(a, b).

    >>> round(mean_law(Groups(), sensitivity=60.0) ** 0.5, 3)
    6.325
    """
    return 2 * sensitivity**2 / groups.n * sum(share / (low * high) for share, low, high in groups.parts(reading))


def frequency_law(groups: Groups, *, c: float, reading: str = "constants") -> float:
    """Mean squared error of Algorithm 2 when bits are dealt to users at random, budgets at their expectation.

    (E[1 - t^2]/4 + c(1-c) (E[t^2] - (E t)^2)) / (n (E t)^2). The second term is what the deal adds. For drawn budgets
    a ratio of averages stands for the average ratio, an error of the order 1/n.

    >>> round(frequency_law(Groups(), c=0.7) ** 0.5, 4)
    0.031
    """
    first = second = 0.0
    for share, low, high in groups.parts(reading):
        average, square = tanh_moments(low, high)
        first, second = first + share * average, second + share * square
    return ((1 - second) / 4 + c * (1 - c) * max(second - first**2, 0.0)) / (groups.n * first**2)


def tanh_moments(low: float, high: float) -> tuple[float, float]:
    """E[t] and E[t^2], t = tanh(eps/2), for eps from U(low, high)."""
    width = high - low
    if width <= 1e-3 * high:  # differences would cancel; the midpoint errs by the square of the width
        t = math.tanh((low + high) / 4)
        return t, t * t
    log_cosh = [e / 2 + math.log1p(math.exp(-e)) for e in (low, high)]  # up to a constant
    return 2 * (log_cosh[1] - log_cosh[0]) / width, 1 - 2 * (math.tanh(high / 2) - math.tanh(low / 2)) / width


def r_squared(x: Array, y: Array) -> float:
    """Share of the variance of y that the least-squares line in x explains; 1 if y does not vary beyond rounding."""
    if np.ptp(y) <= 1e-12 * np.abs(y).max():
        return 1.0
    return float(np.corrcoef(x, y)[0, 1] ** 2)


def linearity(
    groups: Groups,
    law: Callable[..., float],
    *,
    vary: str,
    axes: Sequence[tuple[float, float]] = (F_CONSERVATIVE,),
    **given: float,
) -> pd.DataFrame:
    """How well a straight line fits `law`, 25 points on each axis, without any simulation noise.

    A row for each (axis, reading, measure): low, high, reading, measure (of `MEASURES`), r_squared, and monotone:
    whether the error rises or falls all along (1, -1; 0 neither). `given`: the law's sensitivity or c.

    >>> fits = linearity(Groups(), mean_law, vary="f_conservative", sensitivity=60.0)
    >>> fits[fits["reading"] == "constants"].set_index("measure")["r_squared"].round(3).to_dict()
    {'error': 0.98, 'squared error': 1.0, '1/error': 0.795, '1/squared error': 0.652}
    """
    rows = []
    for low, high in axes:
        x = np.linspace(low, high, 25)
        for rule in READINGS:
            squared = np.array([law(groups.varied(vary, value), reading=rule, **given) for value in x])
            steps = np.sign(np.diff(squared))
            monotone = int(steps[0]) if (steps == steps[0]).all() else 0
            rows += [(low, high, rule, name, r_squared(x, of(squared)), monotone) for name, of in MEASURES.items()]
    return pd.DataFrame(rows, columns=["low", "high", "reading", "measure", "r_squared", "monotone"])


# --- tables: simulated ---------------------------------------------------------------------------------------


Run = Callable[[Groups, str, np.random.Generator], tuple[Simulation, float, float, float]]


def _sweep(groups: Groups, vary: str, points: int, seed: int, run: Run) -> pd.DataFrame:
    """Of each reading and point what `run` finds: the simulation, the exact bias and error, the law's squared error."""
    rows = []
    for which, rule in enumerate(READINGS):
        for index, value in enumerate(groups.axis(vary, points)):
            rng = np.random.default_rng([seed, VARIED.index(vary), which, index])
            found, bias, exact, squared = run(groups.varied(vary, value), rule, rng)
            named = {"reading": rule, vary: float(value), **_summary(found), "exact_bias": bias, "exact": exact}
            rows.append(named | {"law": float(MEASURES["error"](np.array(squared)))})
    return pd.DataFrame(rows)


def _summary(found: Simulation) -> dict[str, float]:
    return {name: getattr(found, name) for name in ("mae", "mae_error", "bias", "bias_error")}


def mean_sweep(
    groups: Groups, *, vary: str, sensitivity: float, data: Mapping[str, float], points: int, repeats: int, seed: int
) -> pd.DataFrame:
    """Figure 3 (a) or (b), by `vary`: error of Algorithm 1 in both readings of the groups; data as `clipped_data`'s.

    A row for each (reading, point): reading, the varied quantity, mae (error against the mean of the data at hand)
    and bias with their standard errors, exact_bias (0), exact and law: the error for these users, and over all draws.
    """

    def run(here: Groups, reading: str, rng: np.random.Generator) -> tuple[Simulation, float, float, float]:
        eps = here.people(reading=reading, rng=rng).expanded().eps
        x = mean.clipped_data(eps.size, **data, rng=rng)
        found = mean.simulate_mean(x, eps, sensitivity=sensitivity, repeats=repeats, rng=rng)
        law = mean_law(here, sensitivity=sensitivity, reading=reading)
        return found, 0.0, mean.mean_error(eps, sensitivity=sensitivity), law

    return _sweep(groups, vary, points, seed, run)


def frequency_sweep(groups: Groups, *, vary: str, c: float, points: int, repeats: int, seed: int) -> pd.DataFrame:
    """Figure 3 (c) or (d): error of Algorithm 2, bits dealt to users at random; columns as `mean_sweep`.

    `exact_bias` is the closed form for the bits drawn, and `exact` is E|N(exact_bias, variance)|, the error up to the
    normal approximation of a sum of n reports.
    """

    def run(here: Groups, reading: str, rng: np.random.Generator) -> tuple[Simulation, float, float, float]:
        eps = here.people(reading=reading, rng=rng).expanded().eps
        x = rng.permutation(np.arange(eps.size) < round(c * eps.size)).astype(int)
        found = frequency.simulate_frequency(x, eps, repeats=repeats, rng=rng)
        bias = frequency.frequency_expectation(x, eps) - found.truth
        deviation = frequency.frequency_variance(eps) ** 0.5
        exact = float(stats.foldnorm(abs(bias) / deviation).mean() * deviation)
        return found, bias, exact, frequency_law(here, c=c, reading=reading)

    return _sweep(groups, vary, points, seed, run)


def frequency_bias(groups: Groups, *, c: float, deals: int, seed: int) -> dict[str, float]:
    """How far Algorithm 2's expectation is from the frequency `share`, by who holds the ones.

    Exact: `equal` (equal budgets), `conservative` and `liberal` (ones dealt to them first), `independent` with its
    standard error (mean over random deals). `simulated` with its standard error: the conservative case.
    """
    rng, people = np.random.default_rng(seed), groups.people().expanded()  # from conservative to liberal
    ones_first = (np.arange(groups.n) < round(c * groups.n)).astype(int)
    truth = float(ones_first.mean())

    def bias(bits: NDArray[np.int64], eps: Array) -> float:
        return frequency.frequency_expectation(bits, eps) - truth

    dealt = [bias(rng.permutation(ones_first), people.eps) for _ in range(deals)]
    simulated = frequency.simulate_frequency(ones_first, people.eps, repeats=400, rng=rng)
    return {
        "share": truth,
        "equal": bias(rng.permutation(ones_first), np.full(groups.n, groups.eps_moderate)),
        "independent": float(np.mean(dealt)),
        "independent_error": float(np.std(dealt, ddof=1) / np.sqrt(deals)),
        "conservative": bias(ones_first, people.eps),
        "liberal": bias(ones_first[::-1], people.eps),
        "simulated": simulated.bias,
        "simulated_error": simulated.bias_error,
    }


def data_spreads(
    groups: Groups, *, sensitivity: float, data: Mapping[str, float], repeats: int, seed: int
) -> pd.DataFrame:
    """Whether sigma, which the paper leaves open, matters to Algorithm 1: data drawn anew in every repeat.

    A row a sigma: sigma, spread (of the clipped data), mae and mae_error (simulated, against the mean of the data at
    hand), exact (the same), population and population_error (against the mean of the clipped law), exact_population
    (normal approximation).
    """
    eps, given = groups.people().expanded().eps, {"sensitivity": sensitivity}
    rows = []
    for index, sigma in enumerate((0.0, 1.0, 10.0, 30.0)):
        rng, here = np.random.default_rng([seed, 9, index]), {**data, "sigma": sigma}
        law = mean.clipped_normal(**here)
        # The same noise law whatever the data: one simulation around 0, and a mean of fresh data for every repeat.
        noise = mean.simulate_mean(np.zeros(groups.n), eps, **given, repeats=repeats, rng=rng).estimates
        means = np.empty(repeats)
        for part in _blocks(repeats, groups.n):
            drawn = mean.clipped_data((part.stop - part.start) * groups.n, **here, rng=rng)
            means[part] = drawn.reshape(-1, groups.n).mean(axis=1)
        at_hand, population = Simulation.of(noise, 0.0), Simulation.of(noise + means, law.mean)
        found = {"mae": at_hand.mae, "mae_error": at_hand.mae_error, "exact": mean.mean_error(eps, **given)}
        found |= {"population": population.mae, "population_error": population.mae_error}
        squared = mean.mean_variance(eps, **given) + law.variance / groups.n
        found["exact_population"] = float(np.sqrt(2 / np.pi * squared))
        rows.append({"sigma": sigma, "spread": law.variance**0.5, **found})
    return pd.DataFrame(rows)


def _blocks(repeats: int, n: int) -> list[slice]:
    """The repeats in parts that fit into memory."""
    step = max(1, _BLOCK // n)
    return [slice(start, min(start + step, repeats)) for start in range(0, repeats, step)]


# --- tables: other estimators from the same reports --------------------------------------------------------


def best_weights(noise: Array, *, spread: float) -> Array:
    """Weights of the linear estimate with the least mean squared error when data do not depend on budgets.

    Report i is x_i plus noise of variance v_i, and the x_i have the variance s^2: w_i is proportional to 1/(v_i + s^2),
    whether the mean of the sample or of the population is estimated.

    >>> best_weights(np.array([1.0, 3.0]), spread=0.0).tolist()
    [0.75, 0.25]
    """
    weight = 1 / (noise + spread**2)
    return np.asarray(weight / weight.sum())


_SUM, _EACH, _LABEL = "the sum", "each report", "each report with its budget"


def _rows(scenario: str, estimates: Mapping[tuple[str, str], Array], truth: float) -> list[dict[str, Any]]:
    return [
        {"scenario": scenario, "estimator": name, "needs": needs, **_summary(Simulation.of(values, truth))}
        for (name, needs), values in estimates.items()
    ]


def mean_choices(
    groups: Groups, *, sensitivity: float, data: Mapping[str, float], repeats: int, seed: int
) -> pd.DataFrame:
    """Estimates of the mean from the same Laplace reports, in three situations; budgets constant in each group.

    A row for each (scenario, estimator): scenario, estimator, needs (what the aggregator must see), mae and bias with
    standard errors. Weights take half the width of the range for the spread of the data, which bounds it.
    """
    low, high, center = data["low"], data["high"], data["center"]
    scale = mean.noise_scales(groups.people().expanded().eps, sensitivity=sensitivity)
    rng = np.random.default_rng([seed, 7])
    aside = (low + 3 * high) / 4  # half way between the middle and the upper end
    scenarios = {
        f"values around {center:g}": mean.clipped_data(groups.n, **data, rng=rng),
        f"values around {aside:g}": mean.clipped_data(groups.n, **{**data, "center": aside}, rng=rng),
        "larger values, smaller budgets": np.sort(mean.clipped_data(groups.n, **data, rng=rng))[::-1],
    }
    weights = best_weights(2 * scale**2, spread=(high - low) / 2)
    rows = []
    for scenario, x in scenarios.items():
        sums, clipped, weighted = (np.empty(repeats) for _ in range(3))
        for part in _blocks(repeats, groups.n):
            reports = x + scale * rng.laplace(size=(part.stop - part.start, groups.n))
            sums[part], weighted[part] = reports.mean(axis=1), reports @ weights
            clipped[part] = np.clip(reports, low, high, out=reports).mean(axis=1)
        estimates = {
            ("Algorithm 1", _SUM): sums,
            ("Algorithm 1, answer clipped", _SUM): np.clip(sums, low, high),
            ("each report clipped first", _EACH): clipped,
            ("weighted by noise", _LABEL): weighted,
            ("weighted by noise, answer clipped", _LABEL): np.clip(weighted, low, high),
        }
        rows += _rows(scenario, estimates, float(x.mean()))
    return pd.DataFrame(rows)


def frequency_choices(groups: Groups, *, c: float, repeats: int, seed: int) -> pd.DataFrame:
    """Estimates of the frequency from the same randomized responses, in three situations; columns as `mean_choices`.

    With r = 1/(1 + e^eps) a report y gives (y - r)/(1 - 2r), unbiased for its user's bit, of variance
    1/(4 sinh(eps/2)^2). Weights take 1/2 for the bits' spread, which bounds it.
    """
    people = groups.people()
    rng = np.random.default_rng([seed, 8])
    r, tanh = expit(-people.eps), np.tanh(people.eps / 2)
    ends = np.cumsum(people.count)
    noise = np.repeat(1 / (4 * np.sinh(people.eps / 2) ** 2), people.count)
    weights = people.count * best_weights(noise, spread=0.5)[ends - 1]
    first = np.arange(groups.n) < round(c * groups.n)
    scenarios = {
        "ones dealt at random": rng.permutation(first),
        "ones to conservative users first": first,
        "ones to liberal users first": first[::-1],
    }
    rows = []
    for scenario, bits in scenarios.items():
        ones = np.add.reduceat(bits.astype(np.int64), ends - people.count)
        shape = (repeats, people.eps.size)
        reported = rng.binomial(ones, 1 - r, shape) + rng.binomial(people.count - ones, r, shape)
        share = (reported / people.count - r) / tanh  # unbiased for the group's frequency
        algorithm = ((reported - people.count * r) / (people.count @ tanh)).sum(axis=1)
        average, weighted = share @ (people.count / groups.n), share @ weights
        estimates = {
            ("Algorithm 2", _SUM): algorithm,
            ("Algorithm 2, answer clipped", _SUM): np.clip(algorithm, 0, 1),
            ("every report corrected, plain average", _LABEL): average,
            ("weighted by noise", _LABEL): weighted,
            ("weighted by noise, answer clipped", _LABEL): np.clip(weighted, 0, 1),
        }
        rows += _rows(scenario, estimates, float(bits.mean()))
    return pd.DataFrame(rows)


def side_by_side(table: pd.DataFrame) -> pd.DataFrame:
    """`mean_choices` or `frequency_choices` for a page: a row an estimator, a column a scenario, entries as text."""
    numbers = zip(table["mae"], table["mae_error"], table["bias"], strict=True)
    said = table.assign(text=[f"{mae:.3g} ± {error:.1g} (bias {bias:+.2g})" for mae, error, bias in numbers])
    wide = said.pivot(index=["estimator", "needs"], columns="scenario", values="text")
    order = table.drop_duplicates("estimator")[["estimator", "needs"]]
    return wide[list(table["scenario"].unique())].loc[list(map(tuple, order.to_numpy()))].reset_index()


# --- figures -----------------------------------------------------------------------------------------------


_AXES = {
    "f_conservative": "share of conservative users",
    "eps_conservative": r"budget $\epsilon_C$ of the conservative users",
}


def ends(table: pd.DataFrame, x: str) -> list[tuple[str, float, float, float, float]]:
    """Reading, first and last x, first and last error of each of the lines of `error_curves`."""
    lines = [
        (reading, line[x].tolist(), line["mae"].tolist()) for reading, line in table.groupby("reading", sort=False)
    ]
    return [(str(reading), at[0], at[-1], mae[0], mae[-1]) for reading, at, mae in lines]


@keeps_data
def error_curves(table: pd.DataFrame, *, x: str, of: str) -> Figure:
    """Figure 3: mean absolute error of the mean or the frequency with a 95% band, the closed form, the nearest line."""
    half = float(stats.norm.ppf(0.975))
    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
    truth, line = ROLES["truth"][0], ROLES["reference"][0]
    for index, (rule, part) in enumerate(table.groupby("reading", sort=False)):
        colour, dashes, margin = PALETTE[index], DASHES[index] or (None, None), half * part["mae_error"]
        axis.fill_between(part[x], part["mae"] - margin, part["mae"] + margin, color=colour, alpha=0.25, lw=0)
        axis.plot(part[x], part["mae"], color=colour, dashes=dashes, lw=2, label=f"{rule}, simulated")
        axis.plot(part[x], part["exact"], color=truth, lw=1, dashes=(1, 1.5))
        slope, start = np.polyfit(part[x], part["exact"], 1)
        axis.plot(part[x], start + slope * part[x], color=line, lw=1)
    axis.plot([], [], color=truth, lw=1, dashes=(1, 1.5), label="closed form")
    axis.plot([], [], color=line, lw=1, label="nearest straight line")
    axis.set(xlabel=_AXES[x], ylabel=f"mean absolute error of the {of}", ylim=(0, None))
    axis.legend()
    return figure


# --- checks ------------------------------------------------------------------------------------------------

_Z = 5.0  # standard errors that a correct formula exceeds less than once in a million comparisons
_ROUNDING = 1e-9  # a bias below this is rounding of a sum over users, not a bias
_DRAWN = 0.1  # by how much the closed form for one draw of users, bits included, may differ from the law over all draws


@settles("G-A2")
def frequency_unbiased(sweep: pd.DataFrame, biases: Mapping[str, float]) -> Outcome:
    """E(z) = c: with equal budgets, with bits dealt at random, and with bits that follow the budgets."""
    gaps = (sweep["bias"] - sweep["exact_bias"]).abs()
    worst = float((gaps / sweep["bias_error"]).where(gaps > _ROUNDING, 0.0).max())
    formula = abs(biases["simulated"] - biases["conservative"]) / biases["simulated_error"]
    low, high = biases["conservative"], biases["liberal"]
    independent = f"{biases['independent']:.1e} ± {biases['independent_error']:.1e}"
    evidence = {
        "bias with equal budgets (exact)": f"{biases['equal']:.1e}",
        "bias with bits dealt at random, mean over deals": independent,
        "bias with the ones dealt to conservative users first (exact)": f"{low:+.4f}",
        "that bias, simulated": f"{biases['simulated']:+.4f} ± {biases['simulated_error']:.4f}",
        "bias with the ones dealt to liberal users first (exact)": f"{high:+.4f}",
        f"largest gap of simulation and closed form, {len(sweep)} points": f"{worst:.1f} standard errors",
        "error of the nearest natural number, which $z$ is declared to be": abs(
            round(biases["share"]) - biases["share"]
        ),
    }
    density = "$c$ is the density with which the records are generated, the groups dealt at random"
    if max(formula, worst) > _Z:
        said = "Simulation and closed form disagree, so this run proves nothing."
        return judge("G-A2", evidence, reading(density, unknown(), {"not checkable": said}))
    dealt = bool(abs(biases["independent"]) <= _Z * biases["independent_error"] + _ROUNDING)
    fair = dealt and abs(biases["equal"]) < _ROUNDING
    unfair = "The answer is biased even if bits do not depend on the budgets."
    off = f"is off by {low:+.3f} if conservative users hold the ones and by {high:+.3f} if liberal users do"
    return judge(
        "G-A2",
        evidence,
        reading(
            density,
            exactly(fair),
            {
                "verified": "The answer is unbiased if bits do not depend on budgets, as in the paper's own "
                f"experiment. In general the answer {off}."
                if max(abs(low), abs(high)) >= _ROUNDING
                else "The answer is unbiased if bits do not depend on budgets, and in every other case tried.",
                "refuted": unfair,
            },
        ),
        reading(
            "$c$ is the share of ones of whatever data Algorithm 2 is given",
            exactly(fair and max(abs(low), abs(high)) < _ROUNDING, near=fair),
            {
                "verified": "The answer is unbiased in every case tried, even if bits follow the budgets.",
                "holds with correction": f"The answer {off}, and more users do not help.",
                "refuted": unfair,
            },
            correction=r"$\mathbb{E}(z) = \sum_i x_i \tanh(\epsilon_i/2) / \sum_i \tanh(\epsilon_i/2)$, which is $c$ "
            "when bits do not depend on budgets or all budgets are equal.",
        ),
    )


_BUDGETS = {"constants": "one budget in each group", "ranges": "budgets drawn from ranges"}


def _agree(sweep: pd.DataFrame) -> tuple[float, float]:
    """How far the simulation is from its closed form, in standard errors, and that from its law, relatively."""
    agreement = float(((sweep["mae"] - sweep["exact"]).abs() / sweep["mae_error"]).max())
    return agreement, float((sweep["exact"] / sweep["law"] - 1).abs().max())


def _linear(identifier: str, sweep: pd.DataFrame, fits: pd.DataFrame) -> Outcome:
    """Is a straight line right? Judged on the law, to which the simulation is held; direction on both.

    One reading for each rule for the budgets and each axis, the simulated one first; last the nearest other measure.
    """
    least = float((claim(identifier).tolerance or {})["r_squared_min"])
    by_share = "f_conservative" in sweep
    vary, name, sign = ("f_conservative", "$f_C$", 1) if by_share else ("eps_conservative", r"$\epsilon_C$", -1)
    agreement, drawn = _agree(sweep)
    evidence: dict[str, object] = {}
    clear = True
    for rule, part in sweep.groupby("reading", sort=False):
        first, last = part.iloc[0], part.iloc[-1]
        evidence[f"{rule}: error at {first[vary]:g} and {last[vary]:g}, simulated"] = (
            f"{first['mae']:.4f} ± {first['mae_error']:.4f}, {last['mae']:.4f} ± {last['mae_error']:.4f}"
        )
        clear &= sign * (last["mae"] - first["mae"]) > 3 * math.hypot(first["mae_error"], last["mae_error"])
    for (low, high), axis in fits.groupby(["low", "high"], sort=False):
        nearest = str(axis.groupby("measure")["r_squared"].min().idxmax())
        for measure in dict.fromkeys(("error", nearest)):
            values = axis[axis["measure"] == measure]
            each = [f"{row.r_squared:.4f} ({row.reading})" for row in values.itertuples()]
            evidence[f"R² of a line, {measure}, axis {low:g} to {high:g}"] = ", ".join(each)
    evidence["R² of a line through the simulated error, noise included"] = ", ".join(
        f"{r_squared(part[vary].to_numpy(), part['mae'].to_numpy()):.4f} ({rule})"
        for rule, part in sweep.groupby("reading", sort=False)
    )
    evidence["R² asked for"] = least
    evidence[f"simulation against closed form, largest of {len(sweep)} gaps"] = f"{agreement:.1f} standard errors"
    evidence["closed form for the users drawn against its law, largest gap"] = f"{100 * drawn:.1f}%"
    evidence["curves of the paper's own figure"] = "not in our hands: only the words are compared"
    if agreement > _Z or drawn > _DRAWN:
        said = "Simulation, closed form and law disagree, so this run proves nothing."
        return judge(identifier, evidence, reading("any", unknown(), {"not checkable": said}))
    if not clear:
        return unsettled(
            identifier, "The ends of the simulated curves are not three standard errors apart; more repeats are needed."
        )
    own = float(sweep[vary].min())
    ways: list[tuple[tuple[Any, ...], pd.DataFrame]] = list(fits.groupby(["low", "high", "reading"], sort=False))
    ways.sort(key=lambda way: not math.isclose(way[0][0], own))
    moves = f"{'grows' if by_share else 'falls'} with {name}"
    lines = [_line(rule, axis, part, least, moves, sign) for (*axis, rule), part in ways]
    return judge(identifier, evidence, *lines, *_other_power(ways[0][1], least, moves, sign))


def _straight(fits: pd.DataFrame, measure: str, least: float, sign: int) -> tuple[float, Verdict]:
    """R^2 of a line through this measure, and whether it is one; the error's direction must be right as well."""
    fit = float(fits.set_index("measure")["r_squared"][measure])
    moving = bool((fits["monotone"] == sign).all())
    return fit, joined(exactly(moving), within(1 - fit, 1 - least))


def _line(rule: str, axis: Sequence[float], fits: pd.DataFrame, least: float, moves: str, sign: int) -> Reading:
    """One rule for the budgets and one axis: is the mean absolute error, the caption's quantity, linear?"""
    fit, verdict = _straight(fits, "error", least, sign)
    straight = f"a line explains {100 * fit:.2f}% of its variance"
    return reading(
        f"{_BUDGETS[rule]}, axis {axis[0]:g} to {axis[1]:g}",
        verdict,
        {
            "verified": f"The error {moves}, and {straight}.",
            "not reproduced": f"The error {moves}, but {straight}, less than {100 * least:g}%.",
            "refuted": f"The error does not {'rise' if sign > 0 else 'fall'} all along the axis.",
        },
        excluded="" if rule == "constants" else "the text gives the users of a group one privacy preference",
    )


def _other_power(fits: pd.DataFrame, least: float, moves: str, sign: int) -> list[Reading]:
    """The measure that happens to be the nearest to a line, where it is not the error."""
    best = str(fits.set_index("measure")["r_squared"].idxmax())
    if best == "error":
        return []
    fit, verdict = _straight(fits, best, least, sign)
    said = f"The error {moves}, and a line explains {100 * fit:.3f}% of the variance of {best}."
    why = "the caption's quantity is the mean absolute error, and this one was chosen after the fit"
    return [reading(f"utility is {best}", verdict, dict.fromkeys(VERDICTS, said), excluded=why)]


@settles("G-FIG3A")
def mean_by_share(sweep: pd.DataFrame, fits: pd.DataFrame) -> Outcome:
    """The mean's error against the share of conservative users."""
    return _linear("G-FIG3A", sweep, fits)


@settles("G-FIG3B")
def mean_by_budget(sweep: pd.DataFrame, fits: pd.DataFrame) -> Outcome:
    """The mean's error against the conservative users' budget."""
    return _linear("G-FIG3B", sweep, fits)


@settles("G-FIG3C")
def frequency_by_share(sweep: pd.DataFrame, fits: pd.DataFrame) -> Outcome:
    """The frequency's error against the share of conservative users."""
    return _linear("G-FIG3C", sweep, fits)


@settles("G-FIG3D")
def frequency_by_budget(sweep: pd.DataFrame, fits: pd.DataFrame) -> Outcome:
    """The frequency's error against the conservative users' budget."""
    return _linear("G-FIG3D", sweep, fits)

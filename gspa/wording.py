"""Phrases of a page that depend on what its run found: a reader may change any parameter.

Each takes the run's own tables and returns words for the middle of a sentence, never a conclusion from elsewhere.

>>> value(float("nan")), value(0.04931, ".3g"), value(4500.0, ".2g")
('no value', '0.0493', '4,500')
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd


def value(number: float, form: str = ".3g") -> str:
    """A number in words: "no value" if it is not finite, and no power of ten below a million."""
    if not math.isfinite(number):
        return "no value"
    said = format(number, form)
    return f"{float(said):,.0f}" if "e+" in said and abs(number) < 1e6 else said


# --- Counts and the normal law ---


def beside_delta(total_variation: float, printed: float, *, delta: float) -> str:
    """On which side of delta the total variation and eq. (14) as printed are, and what a reader would conclude."""
    if printed < delta <= total_variation:
        return "only the second is below delta, so that a reader of (14) would conclude what the paper concluded"
    if total_variation < delta:
        return "at this delta both are below it"
    return "both are above delta, which even (14) does not hide"


# --- Theorem 2 ---


def constants_rise(peaks: pd.DataFrame) -> str:
    """What `gaussian_guarantee.peaks` says of one C for all budgets: how far the least C rises, if it does."""
    first, last = peaks.iloc[0], peaks.iloc[-1]
    if not last["constant"] > first["constant"]:
        return f"this run's table has too few budgets to show it, its largest is {peaks['constant'].max():.3g}"
    return (
        f"the least one rises from {first['constant']:.3g} at a local budget of {first['eps0']:g} to "
        f"{last['constant']:.3g} at one of {last['eps0']:g}"
    )


def doubling(peaks: pd.DataFrame) -> str:
    """How fast the maxima of `gaussian_guarantee.peaks` grow with the local budget."""
    positive = peaks[peaks["constant"] > 0]
    rise = np.polyfit(positive["eps0"], np.log2(positive["constant"]), 1)[0] if len(positive) > 1 else 0.0
    if rise <= 0:
        return "This run's table is too small to show how the maxima grow"
    return f"The maxima double about every {1 / rise:.1f} in the local budget"


def maxima(constants: pd.DataFrame, peaks: pd.DataFrame) -> str:
    """How many rows of the table of C are past their maximum at the largest n; rows of zeros do not count."""
    positive = peaks[peaks["constant"] > 0]
    past = int((positive["n"] < constants["n"].max()).sum())
    if positive.empty:
        return "no row needs a slack at all"
    if past == len(positive):
        return "each row that needs a slack has its maximum before the largest n"
    return f"{past} of the {len(positive)} rows that need a slack have their maximum before the largest n"


def too_much(promises: pd.DataFrame) -> str:
    """At how many points of the map the Gaussian without slack promises too much, and the worst of them."""
    broken = promises[promises["promise"] == "too much"]
    if broken.empty:
        return f"It fails at none of the {len(promises):,} points"
    worst = broken.sort_values("ratio").iloc[0]
    return (
        f"Beyond, it fails at {len(broken):,} of {len(promises):,} points; at the worst the paper promises "
        f"{worst['paper']:.3g} and the pair has {worst['lower']:.3g}"
    )


def slack_left(left: pd.DataFrame, *, delta: float) -> str:
    """Whether the slacks of `gaussian_guarantee.what_is_left` leave a statement at delta."""
    lemma2, proved = ((left[f"{which}_floor"] > delta).sum() for which in ("lemma2", "proved"))
    at = f"at a delta of {delta:g}"
    if lemma2 == proved == len(left):
        return f"Both are far too large: they leave nothing {at} for any n in the figure"
    rows = f"{lemma2} of {len(left)} rows and the second in {proved}"
    return f"The first is too large in {rows}: there they leave nothing {at}"


def tanh_within(accuracy: pd.DataFrame) -> str:
    """How far the tanh limit is off on the map, for budgets up to 1 and up to 2; `percent` of `accuracy`."""
    said = []
    for top in (1, 2):
        percent = accuracy.loc[accuracy["eps0"] <= top, "percent"].max()
        if math.isfinite(percent):
            said.append(f"for budgets up to {top} it is within {value(percent, '.2g')} percent on the whole map")
    if not said:
        return "The map has no point with a budget up to 2 and an epsilon to compare with"
    worst = accuracy[accuracy["eps0"] <= 2].sort_values("percent", ascending=False).iloc[0]
    words = f"{', '.join(said)}; the worst is at n = {worst['n']:,.0f} and delta = {worst['delta']:g}"
    return words[0].upper() + words[1:]


def tanh_table(accuracy: pd.DataFrame) -> pd.DataFrame:
    """The largest `percent` of `accuracy` for each n and each whole budget, as text."""
    whole = accuracy[np.isclose(accuracy["eps0"], accuracy["eps0"].round())]
    off = whole.pivot_table(index="n", columns="eps0", values="percent", aggfunc="max")
    said = off.map(lambda percent: "" if math.isnan(percent) else value(percent, ".2g"))
    said.columns = [f"{eps0:g}" for eps0 in off.columns]
    return said.rename_axis("largest error (%): n").reset_index()


# --- Figure 2 ---


def falls(slopes: pd.DataFrame) -> str:
    """The powers with which epsilon falls, from `comparison.slopes`."""
    found = slopes["epsilon_slope"].dropna()
    if found.empty:
        return "is 0 at too many of this run's sizes to show a power"
    return f"falls as n to a power between {found.min():.3f} and {found.max():.3f}"


def smaller(own: pd.Series) -> str:
    """By how many percent the paper's epsilon is below its baselines; `own` are the ratios to them."""
    if own.empty:
        return "none of the paper's own baselines applies in this run"
    low, high = 100 * (1 - own.max()), 100 * (1 - own.min())
    said = f"the paper's epsilon is {low:.0f} to {high:.0f} percent smaller than its own baselines'"
    return said + (" (below 0: larger)" if low < 0 else "")


def reached(n: float) -> str:
    """From which n on the 33 percent are reached everywhere, from `comparison.reached_from`."""
    return f"is reached from n = {n:,.0f} on" if math.isfinite(n) else "is not reached at this run's largest n"


def least_reduction(reductions: pd.DataFrame) -> str:
    """The least percentage of `comparison.reductions`, where it is, and the least at the largest n."""
    if reductions.empty:
        return "None of the baselines applies in this run."
    row = reductions.sort_values("least").iloc[0]
    last = reductions["at_last"].min()
    origin = ", which may be where the number comes from" if 28 <= last < 38 else ""
    return (
        f"The least is {row['least']:.1f} percent (against {row['bound']}, {row['population']}, n = "
        f"{row['least_at']:,}). At the figure's right end the least is {last:.1f} percent{origin}."
    )


# --- The blog on clones ---


def turned(printed: pd.DataFrame) -> str:
    """What randomized response does with the inequality of eq. (1) as printed; from `clones.direction`."""
    times = float(printed["times"].iloc[0])
    said = f"randomized response has {value(times)} times the delta promised"
    return f"where {said}" if times > 1 else f"though this run's example, in which {said}, is too private to show it"


def condition(needed: pd.DataFrame) -> str:
    """From which number of users down eq. (1) is false; from `clones.users_needed`."""
    constant = float(needed["constant"][needed["n"] > 0].max())
    if not math.isfinite(constant):
        return "formula (1) holds with every number of users tried"
    return f"with {constant:.2f} times as many users as stand on its right-hand side formula (1) is false"


def shown(fitted: pd.DataFrame, *, tolerance: float) -> str:
    """How many of the exponents of `scaling.fit_regimes` have intervals within the tolerance of what is stated."""
    within = (fitted["low"] >= fitted["stated"] - tolerance) & (fitted["high"] <= fitted["stated"] + tolerance)
    beyond = int(
        ((fitted["low"] > fitted["stated"] + tolerance) | (fitted["high"] < fitted["stated"] - tolerance)).sum()
    )
    intervals = f"the 95% intervals of {{}} lie within {tolerance:g} of what is stated"
    if within.all():
        return intervals.format(f"all {len(fitted)} exponents")
    words = intervals.format(f"{int(within.sum())} of {len(fitted)} exponents")
    wide = len(fitted) - int(within.sum()) - beyond
    return f"{words} (too wide to tell in a run of this size: {wide}; beyond: {beyond})"


def bent(fitted: pd.DataFrame) -> str:
    """How many intervals do not contain the stated exponent, and how far the estimates are off at most."""
    missed = int(((fitted["low"] > fitted["stated"]) | (fitted["high"] < fitted["stated"])).sum())
    off = float((fitted["exponent"] - fitted["stated"]).abs().max())
    return (
        f"{missed} of {len(fitted)} intervals do not contain the stated exponent; the largest difference is {off:.2f}"
    )


def literally(choices: pd.DataFrame) -> str:
    """What eq. (5) gives without its constants; from `clone_budget.choices`."""
    worst = float(choices["own"].max())
    if worst <= 1:
        return "even without its constants the target is met in this run"
    return f"without its constants the central epsilon is up to {worst:.1f} times the target"


# --- Personal budgets ---

_JUDGED = {
    "broken": "so the promise is broken",
    "kept": "and the promise is certified to hold",
    "open": "and the promise is neither refuted nor certified",
}


def judged(promise: str) -> str:
    """A clause for a `promise` of "broken", "kept" or "open"."""
    return _JUDGED[promise]


def agreement(table: pd.DataFrame) -> str:
    """How close attack and certificate of `counterexamples.krr_table` are where it matters."""
    still = int((table["promise"] == "open").sum())
    words = f"{still} of {len(table)} rows are left open" if still else "Nothing is left open"
    broken = table[table["promise"] == "broken"]
    if broken.empty:
        return f"{words}, and no promise of these rows is broken"
    apart = value(max(0.01, 100 * (broken["certified"] / broken["attacked"] - 1).max()), ".1g")
    return f"{words}: where the promise is broken, the attack and the certified bound agree to {apart} percent"


def where_broken(table: pd.DataFrame) -> str:
    """On which sides of the diagonal of `personalized.promise_map` the promise is broken."""
    alike = np.isclose(table["victim"], table["others"])
    louder, quieter = ~alike & (table["victim"] > table["others"]), ~alike & (table["victim"] < table["others"])
    broken = table["promise"] == "broken"

    def share(which: pd.Series | np.ndarray) -> str:
        return f"at {int((broken & which).sum())} of {int(np.sum(which))} points"

    words = (
        f"Where the two are alike the promise is broken {share(alike)}; where the victim's noise is the smaller, "
        f"{share(louder)}; where it is larger than everybody else's, so that the report lands where nobody else's "
        f"does, {share(quieter)}."
    )
    if (broken & quieter).any():
        words += " So the user with the largest budget is not always the worst off."
    return words

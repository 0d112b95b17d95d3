"""Page 16, what FLAME says beside its printed differences: orders, selections, indices, noise.

The exact error of SS-Simple's mean of one coordinate: a report of budget eps has the variance 2/eps^2, and n of them
are averaged, in units of [0, 1].

>>> from gspa.pages.p16_flame_training import Paper
>>> float(simple_noise(Paper(), sizes=[7850])["noise"][0].round(2))
4.47
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from gspa.algorithms.digits import Dataset
from gspa.algorithms.flame.aggregation import subsets
from gspa.algorithms.flame.federated import initial_weights, local_updates
from gspa.book.claims import Outcome, judge, settles
from gspa.book.verdicts import Reading, Said, at_least, exactly, joined, ranked, reading, shown
from gspa.pages.p12_shuffled_sgd import interval
from gspa.pages.p16_flame_certified import DOUBLE, METHODS, SIMPLE, TOPK
from gspa.pages.p16_flame_training import (
    DP,
    DP_MORE,
    EPS_LK,
    L_FIXED,
    LDP,
    LDP_LAPLACE,
    LK_FIXED,
    NP,
    PADDING,
    QUIET,
    RANDOM,
    RANDOM_SPARSE,
    SPARSE,
    Found,
    Line,
    Paper,
    dealt_to,
    equal,
    five,
    told,
    tolerance_of,
)

# --- tables ------------------------------------------------------------------------------------------------


def simple_noise(paper: Paper, *, sizes: Sequence[int]) -> pd.DataFrame:
    """SS-Simple as d grows: d, budget of a coordinate, standard deviation of its estimated mean over 2C (noise)."""
    rows = []
    for d in sizes:
        eps = paper.eps_l / d
        rows.append({"d": d, "budget": eps, "noise": math.sqrt(2 / paper.n) / eps})
    return pd.DataFrame(rows)


def first_round(data: str, paper: Paper, *, users: int, seed: int) -> pd.DataFrame:
    """The first batch's updates from the starting weights, a row a user.

    Somebody knows the updates of this user and of the next, sees the indices that this one reports, and says whose they
    are: 1 if right, 1/2 if nothing tells. Columns: kept and kept_drawn (share of the squared update in its k largest
    coordinates and in k random ones), largest and drawn (whether he is right, for the k largest and for k random
    indices), differs (whether the two users' k largest are different ones).
    """
    held = dealt_to(data, users)
    start = initial_weights(held.x.shape[2], held.classes, seed)
    batch = slice(0, users // paper.training.batches)
    updates = local_updates(held.x[batch], held.y[batch], start, paper.training)
    n, d = updates.shape
    top = np.argpartition(np.abs(updates), d - paper.k, axis=1)[:, d - paper.k :]
    held_there = np.zeros(updates.shape, dtype=bool)
    np.put_along_axis(held_there, top, True, axis=1)
    squares = updates.astype(np.float64) ** 2
    others = np.roll(held_there, -1, axis=0)
    drawn = subsets(n, d, paper.k, np.random.default_rng([seed, 4]))

    def right(reported: np.ndarray) -> np.ndarray:
        """By which of the two users' largest coordinates the reported ones meet more often."""
        mine, theirs = (np.take_along_axis(one, reported, axis=1).sum(axis=1) for one in (held_there, others))
        return np.where(mine == theirs, 0.5, mine > theirs)

    return pd.DataFrame(
        {
            "kept": (squares * held_there).sum(axis=1) / squares.sum(axis=1),
            "kept_drawn": np.take_along_axis(squares, drawn, axis=1).sum(axis=1) / squares.sum(axis=1),
            "largest": right(top),
            "drawn": right(drawn),
            "differs": (held_there != others).any(axis=1),
        }
    )


# --- checks: accuracies ------------------------------------------------------------------------------------


def _above(found: Found, name: str, pairs: Sequence[tuple[Line, Line]], evidence: dict[str, object]) -> Reading:
    """The first of each pair is ahead of the second; `name` is "claim: reading"."""
    claim, _, read = name.partition(": ")
    gaps = [found.gap(*pair, tolerance_of(claim, "confidence")) for pair in pairs]
    for (above, below), gap in zip(pairs, gaps, strict=True):
        evidence[f"{above.label} less {below.label} (points)"] = str(gap)
    least = min(zip(gaps, pairs, strict=True), key=lambda both: both[0].low)
    text = f"The smallest of the differences, {least[1][0].label} less {least[1][1].label}, is {least[0]} points."
    if len(pairs) == 1:
        text = f"{least[1][0].label} less {least[1][1].label} is {least[0]} points."
    return reading(read, joined(*(ranked(one.low, one.high) for one in gaps)), told(text))


@settles("E17")
def curator_above_local(found: Found) -> Outcome:
    """DP-FL against both LDP-FL baselines at one (eps, delta)."""
    pairs = [(five(DP), five(one)) for one in (LDP, LDP_LAPLACE)]
    if not_ready := found.unready("E17", *(line for pair in pairs for line in pair)):
        return not_ready
    evidence: dict[str, object] = {}
    return judge("E17", evidence, _above(found, "E17: final accuracies", pairs, evidence))


@settles("E16")
def order_of_figure_5(found: Found) -> Outcome:
    """The order that the text gives to the lines of Figure 5."""
    labels = (NP, DP_MORE, TOPK, DP, DOUBLE, SIMPLE)
    lines = [five(label) for label in labels]
    pairs = [*pairwise(lines), *((five(SIMPLE), five(one)) for one in (LDP, LDP_LAPLACE))]
    if not_ready := found.unready("E16", *(line for pair in pairs for line in pair)):
        return not_ready
    evidence: dict[str, object] = {}
    return judge("E16", evidence, _above(found, "E16: each at the budget that the text states", pairs, evidence))


@settles("Q4")
def above_local(found: Found) -> Outcome:
    """All three protocols against LDP-FL, as in Figure 5 and at one eps against the analyzer."""
    local = [five(one) for one in (LDP, LDP_LAPLACE)]
    printed = [(five(method), one) for method in METHODS for one in local]
    tuned = [(equal(f"{method} tuned"), one) for method in METHODS for one in local]
    if not_ready := found.unready("Q4", *(line for pair in (*printed, *tuned) for line in pair)):
        return not_ready
    evidence: dict[str, object] = {}
    target = found.paper.eps_curator
    return judge(
        "Q4",
        evidence,
        _above(found, "Q4: at the budgets of Figure 5", printed, evidence),
        _above(found, f"Q4: at one $\\epsilon$ of {target:g} against the analyzer, certified", tuned, evidence),
    )


def _selected(found: Found, name: str, pairs: dict[str, tuple[Line, Line]]) -> Outcome:
    """A difference without noise in two readings of what the analyzer divides by."""
    if not_ready := found.unready(name, *(line for pair in pairs.values() for line in pair)):
        return not_ready
    evidence: dict[str, object] = {}
    readings = [_above(found, f"{name}: {read}", [pair], evidence) for read, pair in pairs.items()]
    lines = dict.fromkeys(line for pair in pairs.values() for line in pair)
    evidence |= {f"{one.label}: final accuracy": found.percent(one) for one in lines}
    return judge(name, evidence, *readings)


_DIVIDED = (
    "divided by $n\\beta$, the number of users that a random coordinate has",
    "divided by $n$, as Algorithm 2 prints it",
)


@settles("E13")
def random_is_slower(found: Found) -> Outcome:
    """NP-FL against SS-Double without noise."""
    mean, *random = (Line("selection", label) for label in (NP, RANDOM, RANDOM_SPARSE))
    return _selected(found, "E13", {read: (mean, one) for read, one in zip(_DIVIDED, random, strict=True)})


@settles("E14")
def largest_is_faster(found: Found) -> Outcome:
    """SS-Topk against SS-Double, both without noise."""
    top, random = ([Line("selection", label) for label in pair] for pair in ((QUIET, SPARSE), (RANDOM, RANDOM_SPARSE)))
    return _selected(found, "E14", dict(zip(_DIVIDED, zip(top, random, strict=True), strict=True)))


@settles("Q10")
def key_knob(found: Found, prices: pd.DataFrame) -> Outcome:
    """n_p moves accuracy and privacy; more than eps_lk and beta do? `padding_prices`."""
    names = {
        PADDING: ("figure 7", PADDING),
        EPS_LK: ("figure 6", EPS_LK),
        f"$\\beta$, {LK_FIXED}": ("figure 8", LK_FIXED),
        f"$\\beta$, {L_FIXED}": ("figure 8", L_FIXED),
    }
    sweeps = {name: found.sweep(*one) for name, one in names.items()}
    if not_ready := found.unready("Q10", *(one for lines in sweeps.values() for one in (lines[0], lines[-1]))):
        return not_ready
    confidence = tolerance_of("Q10", "confidence")
    spans = {name: found.final(lines[-1]) - found.final(lines[0]) for name, lines in sweeps.items()}
    ends = {name: interval(one, confidence=confidence) for name, one in spans.items()}
    shown = {name: f"{spans[name].mean():+.2f} ({low:.2f} to {high:.2f})" for name, (low, high) in ends.items()}
    evidence: dict[str, object] = {
        f"{name}: accuracy, largest less smallest (points)": text for name, text in shown.items()
    }
    few, many = prices.iloc[-1], prices.iloc[0]
    for one in (many, few):
        label = f"$\\epsilon$ of SS-Topk at {PADDING} = {one['n/n_p']:g}: attack; certified"
        evidence[label] = f"{one['lower']:.3f}; {one['upper']:.3f}"
    trade = joined(ranked(*ends[PADDING]), ranked(few["lower"] - many["upper"], few["upper"] - many["lower"]))
    more = [ranked(*interval(spans[PADDING] - spans[name], confidence=confidence)) for name in spans if name != PADDING]
    moved = f"From {PADDING} = {many['n/n_p']:g} to {few['n/n_p']:g} the accuracy changes by {shown[PADDING]} points"
    budgets = f"the certified $\\epsilon$ from {many['upper']:.2f} to {few['upper']:.2f}"
    rest = "; ".join(f"{name}, by {text}" for name, text in shown.items() if name != PADDING)
    return judge(
        "Q10",
        evidence,
        reading("$n_p$ trades privacy for accuracy", trade, told(f"{moved}, and {budgets}.")),
        reading(
            "it does so more than $\\epsilon_{lk}$ and $\\beta$, as 'the' key knob",
            joined(trade, *more),
            told(f"{moved}. Over the values of this page it changes with the others as follows: with {rest} points."),
        ),
    )


# --- checks: setting, noise and indices --------------------------------------------------------------------


@settles("E15")
def the_setting(images: Dataset, paper: Paper) -> Outcome:
    """d and n of the experiment."""
    pixels = images.train_x.shape[1]
    evidence = {
        "pixels of an image; classes": f"{pixels}; {images.classes}",
        "weights, biases included; users of a batch": f"{paper.d:,}; {paper.n:,}",
    }
    said: Said = {
        "verified": rf"There are $({pixels} + 1) \times {images.classes}$ weights, and {paper.n:,} users in a batch.",
        "refuted": f"There are {paper.d:,} weights and {paper.n:,} users in a batch.",
    }
    return judge("E15", evidence, reading("as counted", exactly((paper.d, paper.n) == (7_850, 1_000)), said))


@settles("Q6")
def large_noise(noise: pd.DataFrame, d: int) -> Outcome:
    """The exact noise of one coordinate's mean in SS-Simple: `simple_noise`."""
    least = tolerance_of("Q6", "ratio_min")
    evidence: dict[str, object] = {
        f"$d$ = {row['d']:,.0f}: budget of a coordinate; standard deviation over $2C$": (
            f"{row['budget']:.3g}; {row['noise']:.3g}"
        )
        for row in noise.to_dict("records")
    }
    found = float(noise.loc[noise["d"] == d, "noise"].iloc[0])
    text = f"The standard deviation is {found:.2f} times the whole range of a value, and grows with $d$."
    return judge("Q6", evidence, reading("one coordinate's mean", at_least(found, found, least), told(text)))


@settles("Q5")
def less_noise(found: Found) -> Outcome:
    """The budget of one report at one central eps, with the amplification by subsampling and without it."""
    tuned = [equal(f"{method} tuned") for method in (DOUBLE, TOPK)]
    if not_ready := found.unready("Q5", *tuned):
        return not_ready
    target = found.paper.eps_curator
    evidence: dict[str, object] = {}
    limits = []
    for method, counted in ((DOUBLE, "subsampling and shuffling"), (TOPK, "shuffling alone")):
        one = found.worth(method)
        # Above `budget` an attack exceeds the target: no report may have that much.
        most = one.budget if one.lower > target else math.inf
        limits.append((one.tuned, most))
        evidence[f"{counted}: budget at a certified $\\epsilon$ of {target:g}"] = one.tuned
        reached = f"{one.lower:.3f}"
        evidence[f"{counted}: $\\epsilon$ by an attack at a budget of {one.budget:.3g}"] = reached
    (strong, most_strong), (weak, most_weak) = limits
    text = (
        f"With subsampling, a report may have a budget of {strong:.3g} at a certified $\\epsilon$ of {target:g}. With "
        f"shuffling alone, {weak:.3g} is certified, and at {found.worth(TOPK).budget:.3g} an attack shows "
        f"$\\epsilon \\geq$ {found.worth(TOPK).lower:.2f}. A report then needs {strong / weak:.1f} times the noise."
    )
    verdict = ranked(strong - most_weak, most_strong - weak)
    return judge("Q5", evidence, reading("the same reports, of $k$ coordinates", verdict, told(text)))


@settles("Q7")
def important_coordinates(users: pd.DataFrame, share: float) -> Outcome:
    """What of an update its k largest coordinates have, and k random ones: `first_round`."""
    kept, drawn = users["kept"], users["kept_drawn"]
    ends = {name: interval(users[name]) for name in ("kept", "kept_drawn")}
    evidence: dict[str, object] = {
        "share of coordinates, $k/d$": share,
        "share of the squared update in the $k$ largest, mean over users": (
            f"{kept.mean():.4f} ({ends['kept'][0]:.4f} to {ends['kept'][1]:.4f})"
        ),
        "the same, least and most of a user": f"{kept.min():.4f}; {kept.max():.4f}",
        "share in $k$ random ones, mean over users": f"{drawn.mean():.4f} ({ends['kept_drawn'][0]:.4f} to "
        f"{ends['kept_drawn'][1]:.4f})",
    }
    # Five standard errors: what random indices keep is k/d on average, whatever the update.
    even = abs(drawn.mean() - share) <= 5 * drawn.std(ddof=1) / math.sqrt(len(drawn))
    said: Said = {
        "illustrated": f"The largest {100 * share:.1f}% of the coordinates hold {100 * kept.mean():.1f}% of a user's "
        f"squared update, and random ones hold {100 * drawn.mean():.1f}%. Random ones hold less by definition.",
        "refuted": f"Random indices have {100 * drawn.mean():.2f}% of the squared update, not {100 * share:.2f}%.",
    }
    verdict = shown() if even and (kept >= drawn).all() else exactly(False)
    return judge("Q7", evidence, reading("updates of the first round", verdict, said))


@settles("Q8")
def indices_tell(users: pd.DataFrame) -> Outcome:
    """Whose indices they are, told from the indices alone: `first_round`."""
    confidence = tolerance_of("Q8", "confidence")
    ends = {name: interval(users[name], confidence=confidence) for name in ("largest", "drawn")}
    evidence: dict[str, object] = {
        label: f"{users[name].mean():.4f} ({ends[name][0]:.4f} to {ends[name][1]:.4f})"
        for label, name in (("the $k$ largest: told rightly", "largest"), ("$k$ random ones: told rightly", "drawn"))
    }
    low, high = ends["largest"]
    text = (
        f"Somebody who knows the updates of two users tells from the {TOPK} indices alone whose they are in "
        f"{100 * users['largest'].mean():.1f}% of pairs, and from random indices in "
        f"{100 * users['drawn'].mean():.1f}%."
    )
    return judge("Q8", evidence, reading("two users, one index set", ranked(low - 0.5, high - 0.5), told(text)))


@settles("Q9")
def no_guarantee(users: pd.DataFrame) -> Outcome:
    """What the k largest indices themselves guarantee: `first_round`."""
    different = float(users["differs"].mean())
    evidence: dict[str, object] = {"pairs of users whose $k$ largest coordinates differ": different}
    said: Said = {
        "verified": "No two users report different indices.",
        "refuted": "The indices are a function of the update. Where two users' indices differ, one set has probability "
        "1 for the one and 0 for the other, so that $\\delta$ = 1 at every $\\epsilon$. This is so for "
        f"{100 * different:.1f}% of pairs.",
    }
    return judge(
        "Q9",
        evidence,
        reading("a guarantee for what the shuffler sees, the indices", exactly(different == 0), said),
        reading(
            "a guarantee for the values, which it does not see",
            shown(),
            told("The values are sealed. That nobody else opens them is assumed."),
            excluded="the paper itself counts the indices as sensitive when they depend on the data",
        ),
    )

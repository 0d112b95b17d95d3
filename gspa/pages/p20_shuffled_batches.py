"""Page 20: what a training run may claim that shuffles its batches, deals them at random, or draws Poisson samples.

One random allocation, Poisson sampling and the known attack on shuffled batches of a fixed size, all certified; what
others printed about them since.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from gspa.accountant.allocation import Dealt, Step, allocation_delta, allocation_epsilon
from gspa.accountant.poisson import poisson_delta, poisson_epsilon
from gspa.accountant.published import renyi_to_epsilon
from gspa.accountant.samplers import SAMPLERS
from gspa.accountant.tradeoff import gdp_delta
from gspa.book.claims import Outcome, claim, judge, settles
from gspa.book.figures import DASHES, PALETTE, keeps_data, name_line, role
from gspa.book.verdicts import Said, at_least, exactly, ranked, reading, unknown, within

Array = NDArray[np.float64]


# --- tables ------------------------------------------------------------------------------------------------


def attack_on_shuffled(eps: float, *, sigma: float, steps: int) -> float:
    """delta of shuffled batches of one size at least: a record against none, all other contributions opposed to it."""
    shift = 1 / sigma
    pairs = (Step(2 * shift, shift), Step(shift, 2 * shift))
    cuts = [2 * shift + beyond for beyond in range(1, 9)]  # each gives a bound
    return max(Dealt(pair, steps).lower(eps, cut) for pair in pairs for cut in cuts)


def by_sampler(*, sigma: float, steps: int, epsilons: Sequence[float], epochs: int = 1) -> pd.DataFrame:
    """delta at each eps: poisson, remove, add (of one random allocation), each with its lower end; shuffled (attack).

    Several epochs use the same shuffled batches; random allocation is given for one epoch alone. "told" is one Gaussian
    step an epoch, certified for shuffled batches and a record's contributions zeroed.
    """
    rows = []
    for eps in epsilons:
        poisson = poisson_delta(sigma=sigma, steps=steps * epochs, rate=1 / steps, eps=eps)
        row = {"epsilon": eps, "poisson_low": poisson.lower, "poisson": poisson.upper}
        if epochs == 1:
            for direction in ("remove", "add"):
                found = allocation_delta(sigma=sigma, steps=steps, eps=eps, direction=direction)
                row |= {f"{direction}_low": found.lower, direction: found.upper}
        row["shuffled"] = attack_on_shuffled(eps, sigma=sigma / math.sqrt(epochs), steps=steps)
        row["told"] = gdp_delta(eps, mu=math.sqrt(epochs) / sigma)
        rows.append(row)
    return pd.DataFrame(rows)


def against_poisson(*, noises: Sequence[float], counts: Sequence[int], delta: float) -> pd.DataFrame:
    """eps of one random allocation and of Poisson sampling: steps, sigma, ends of both, ratio (upper to lower)."""
    rows = []
    for steps in counts:
        for sigma in noises:
            dealt = allocation_epsilon(sigma=sigma, steps=steps, delta=delta)
            poisson = poisson_epsilon(sigma=sigma, steps=steps, rate=1 / steps, delta=delta)
            rows.append((steps, sigma, dealt.lower, dealt.upper, poisson.lower, poisson.upper))
    table = pd.DataFrame(rows, columns=["steps", "sigma", "dealt_low", "dealt", "poisson", "poisson_high"])
    return table.assign(ratio=table["dealt"] / table["poisson"])


def runs(*, sigma: float, steps: int, epochs: int, delta: float) -> pd.DataFrame:
    """What a run may claim, by sampler: sampler, neighbours, lower, upper (of eps)."""
    rows = []
    for name, one in SAMPLERS.items():
        found = one.epsilon(sigma=sigma, steps=steps, epochs=epochs, delta=delta)
        rows.append((name, one.neighbours[0], found.lower, found.upper))
    return pd.DataFrame(rows, columns=["sampler", "neighbours", "lower", "upper"])


# [1,000 steps; 10,000 steps] at sigma = 1, delta = 1e-6, remove; version 2.0 of the package, as this project ran it.
PACKAGE = {1_000: (0.1687, 0.1757), 10_000: (0.0450, 0.0470)}
EXAMPLE, EXAMPLE_USERS = 0.4913, 600_000  # of shuffgauss, as this project ran it
REPORTED, REPORTED_USERS = 0.589, 10_000  # the same program at delta = 1e-6
MILLION = 1_140_000  # steps


def beside_package() -> pd.DataFrame:
    """eps with the record removed: steps, lower, upper, and the package's interval, package_low, package_high."""
    rows = []
    for steps, (low, high) in PACKAGE.items():
        found = allocation_epsilon(sigma=1.0, steps=steps, delta=1e-6, direction="remove")
        rows.append((steps, found.lower, found.upper, low, high))
    return pd.DataFrame(rows, columns=["steps", "lower", "upper", "package_low", "package_high"])


def shuffled_renyi(*, sigma: float, n: int, most: int) -> Array:
    """The abstract's Renyi divergences of orders 2 to `most`: sums over k_1 + ... + k_n, as a power of one series."""
    k = np.arange(most + 1)
    base = k * (k - 1) / (2 * sigma**2) - gammaln(k + 1) - k * math.log(n)
    power = np.where(k == 0, 0.0, -np.inf)
    while n:
        power = _times(power, base) if n & 1 else power
        base, n = _times(base, base), n >> 1
    found: Array = (power + gammaln(k + 1))[2:] / (k[2:] - 1)
    return found


def _times(one: Array, other: Array) -> Array:
    """The product of two power series, coefficients by their logarithms."""
    return np.array([logsumexp(one[: i + 1] + other[i::-1]) for i in range(one.size)])


def renyi_table(*, noises: Sequence[float], sizes: Sequence[int], most: int) -> pd.DataFrame:
    """sigma, n, order, shuffled, alone (order/(2 sigma^2)), share."""
    parts = []
    for sigma in noises:
        for n in sizes:
            order = np.arange(2, most + 1)
            found = shuffled_renyi(sigma=sigma, n=n, most=most)
            parts.append(
                pd.DataFrame(
                    {"sigma": sigma, "n": n, "order": order, "shuffled": found, "alone": order / (2 * sigma**2)}
                )
            )
    table = pd.concat(parts, ignore_index=True)
    return table.assign(share=table["shuffled"] / table["alone"])


def example_of_reports(*, n: int, delta: float, most: int = 20) -> dict[str, float]:
    """eps of n shuffled Gaussian reports, sigma = 1: by Renyi divergences, two ways, and certified if all are equal."""
    orders, found = range(2, most + 1), shuffled_renyi(sigma=1.0, n=n, most=most)
    certified = allocation_epsilon(sigma=1.0, steps=n, delta=delta, direction="remove")
    pairs = list(zip(orders, found.tolist(), strict=True))
    return {
        "n": n,
        "canonne": min(renyi_to_epsilon(value, order=order, delta=delta) for order, value in pairs),
        "mironov": min(value - math.log(delta) / (order - 1) for order, value in pairs),
        "lower": certified.lower,
        "upper": certified.upper,
    }


def advantage(steps: int, *, sigma: float = 1.0) -> dict[str, float]:
    """delta(0) after one epoch: lower and upper of random allocation, and of shuffled batches at least."""
    found = allocation_delta(sigma=sigma, steps=steps, eps=0.0)
    shuffled = attack_on_shuffled(0.0, sigma=sigma, steps=steps)
    return {"steps": steps, "lower": found.lower, "upper": found.upper, "shuffled": shuffled}


def steps_needed(most: float, *, sigma: float = 1.0) -> int:
    """The least power of two of steps at which random allocation's delta(0) is certified to be at most `most`."""
    steps = 2
    while allocation_delta(sigma=sigma, steps=steps, eps=0.0, direction="remove").upper > most:
        steps *= 2
    return steps


def separation(counts: Sequence[int]) -> pd.DataFrame:
    """kappa = delta(0)/sqrt(2) at sigma = 1/sqrt(2 log M): steps, sigma, kappa (lower end), stated."""
    rows = []
    for steps in counts:
        sigma = 1 / math.sqrt(2 * math.log(steps))
        found = allocation_delta(sigma=sigma, steps=steps, eps=0.0, direction="remove")
        stated = (1 - 1 / math.sqrt(4 * math.pi * math.log(steps))) / math.sqrt(8)
        rows.append((steps, sigma, found.lower / math.sqrt(2), stated))
    return pd.DataFrame(rows, columns=["steps", "sigma", "kappa", "stated"])


# --- figures -----------------------------------------------------------------------------------------------

# column -> name, style
LINES = {
    "told": ("shuffled batches, certified", role("certified")),
    "shuffled": ("shuffled batches, attacked", role("attack")),
    "poisson": ("Poisson sampling", role("reference")),
    "dealt": ("random allocation", {"color": PALETTE[5], "dashes": DASHES[3], "lw": 2}),
}


@keeps_data
def delta_curves(table: pd.DataFrame) -> Figure:
    """`by_sampler`, one epoch: delta against eps, a line a sampler."""
    figure, axis = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    drawn = table.assign(dealt=table[["remove", "add"]].max(axis=1))
    for key, (label, style) in LINES.items():
        axis.plot(drawn["epsilon"], drawn[key], marker="o", ms=4, label=label, **style)
    middle, late = drawn.iloc[len(drawn) // 2], drawn.iloc[(len(drawn) - 1) * 5 // 6]
    for key, at, right, up in (
        ("told", middle, 4, 9),
        ("shuffled", late, -8, -9),
        ("poisson", late, 4, 9),
        ("dealt", late, -8, -7),
    ):
        name, style = LINES[key]
        name_line(axis, at["epsilon"], at[key], name, colour=style["color"], right=right, up=up)
    axis.set(xlabel=r"$\epsilon$", ylabel=r"$\delta$ (logarithmic)", yscale="log")
    return figure


# --- checks ------------------------------------------------------------------------------------------------


def _gap(name: str, table: pd.DataFrame, what: str) -> Outcome:
    ratio = table["shuffled"] / table["poisson"]
    best, least = int(ratio.argmax()), float((claim(name).tolerance or {})["ratio_min"])
    at = table.iloc[best]
    evidence = {
        r"$\epsilon$ at which the ratio is largest": float(at["epsilon"]),
        r"$\delta$ of shuffled batches there, at least": float(at["shuffled"]),
        r"$\delta$ of Poisson sampling there, at most": float(at["poisson"]),
        "ratio": float(ratio.iloc[best]),
        r"number of $\epsilon$ at which shuffled batches exceed Poisson sampling": int((ratio > 1).sum()),
        r"number of $\epsilon$": len(table),
    }
    said: Said = {
        "verified": f"For {what}, $\\delta$ at $\\epsilon$ = {at['epsilon']:g} is at least {at['shuffled']:.3g}. "
        f"Poisson accounting gives at most {at['poisson']:.3g}, smaller by a factor of {ratio.iloc[best]:.3g}.",
        "not checkable": "The known attack exceeds Poisson accounting by a factor of at most "
        f"{ratio.iloc[best]:.3g}; what other attacks reach is not known.",
    }
    return judge(name, evidence, reading("as printed", at_least(float(ratio.iloc[best]), math.inf, least), said))


@settles("N-1")
def one_epoch(table: pd.DataFrame) -> Outcome:
    """Shuffled batches, attacked, against Poisson accounting."""
    return _gap("N-1", table, "one epoch of shuffled batches")


@settles("N-10")
def many_epochs(table: pd.DataFrame) -> Outcome:
    """The same batches in several epochs against Poisson accounting."""
    return _gap("N-10", table, "several epochs over the same shuffled batches")


@settles("N-2")
def add_below_remove(table: pd.DataFrame) -> Outcome:
    """Random allocation: a record added against a record removed."""
    low = float(((table["remove_low"] - table["add"]) / table["remove"]).min())
    high = float(((table["remove"] - table["add_low"]) / table["remove"]).min())
    evidence = {
        r"number of $\epsilon$": len(table),
        r"share by which $\delta$ is smaller for a record added, least, lower end": low,
        r"share by which $\delta$ is smaller for a record added, least, upper end": high,
        r"$\delta$ for a record added over record removed, largest": float((table["add"] / table["remove_low"]).max()),
    }
    said: Said = {
        "verified": f"At each of {len(table)} values of $\\epsilon$, the $\\delta$ for a record added is certified to "
        f"be smaller than that for a record removed, by at least {100 * low:.3g}%.",
        "refuted": "At some $\\epsilon$ the $\\delta$ for a record added is certified to be larger.",
        "not reproduced": "At some $\\epsilon$ the two certified intervals overlap.",
    }
    return judge("N-2", evidence, reading("as printed", ranked(low, high), said))


def _allowed(name: str) -> float:
    return float((claim(name).tolerance or {})["relative"])


def _ratios(table: pd.DataFrame) -> tuple[float, dict[str, object]]:
    worst = table.iloc[int(table["ratio"].argmax())]
    return float(worst["ratio"]), {
        "settings": len(table),
        "random allocation over Poisson sampling, largest": float(worst["ratio"]),
        "its number of steps": int(worst["steps"]),
        r"its $\sigma$": float(worst["sigma"]),
        "random allocation over Poisson sampling, least": float(table["ratio"].min()),
    }


@settles("N-3")
def similar_or_better(table: pd.DataFrame) -> Outcome:
    """One random allocation against Poisson sampling, as eps."""
    worst, evidence = _ratios(table)
    said: Said = {
        "verified": f"In {len(table)} settings the $\\epsilon$ of random allocation is {table['ratio'].min():.3g} to "
        f"{worst:.4g} times that of Poisson sampling.",
        "not reproduced": f"The $\\epsilon$ of random allocation is up to {worst:.4g} times that of Poisson sampling.",
    }
    return judge("N-3", evidence, reading("as printed", within(max(worst - 1, 0), _allowed("N-3")), said))


@settles("N-4")
def at_least_as_good(table: pd.DataFrame, curve: pd.DataFrame) -> Outcome:
    """The same, without an allowance for what is similar; and at any delta."""
    worst, evidence = _ratios(table)
    ratio = curve[["remove_low", "add_low"]].max(axis=1) / curve["poisson"]
    at = curve.iloc[int(ratio.argmax())]
    evidence[r"with little noise: $\delta$ of random allocation over that of Poisson sampling, largest"] = float(
        ratio.max()
    )
    evidence[r"its $\epsilon$"] = float(at["epsilon"])
    small: Said = {
        "verified": f"In {len(table)} settings the $\\epsilon$ of random allocation is at most {worst:.4g} times that "
        "of Poisson sampling.",
        "not reproduced": f"The $\\epsilon$ of random allocation is up to {worst:.4g} times that of Poisson sampling.",
    }
    every: Said = {
        "verified": f"With little noise, too, the $\\delta$ of random allocation is at most {ratio.max():.4g} times "
        "that of Poisson sampling.",
        "refuted": f"With little noise, the $\\delta$ of random allocation at $\\epsilon$ = {at['epsilon']:g} is "
        f"certified to be at least {ratio.max():.4g} times that of Poisson sampling, because a Poisson sample may "
        "leave a record out.",
    }
    allowed = _allowed("N-4")
    return judge(
        "N-4",
        evidence,
        reading(r"at the small $\delta$ of usual guarantees", within(max(worst - 1, 0), allowed), small),
        reading(r"at every $\delta$", exactly(bool(ratio.max() <= 1 + allowed)), every),
    )


@settles("N-5")
def package_brackets(table: pd.DataFrame) -> Outcome:
    """The package's intervals against the certified ones."""
    outside = np.maximum(table["package_low"] - table["lower"], table["upper"] - table["package_high"])
    gap = max(float(outside.max()), 0.0)
    wider = (table["package_high"] - table["package_low"]) / (table["upper"] - table["lower"])
    evidence: dict[str, object] = {}
    for row in table.itertuples():
        evidence[f"{row.steps:,} steps, certified"] = f"[{row.lower:.6f}, {row.upper:.6f}]"
        evidence[f"{row.steps:,} steps, package"] = f"[{row.package_low:.4f}, {row.package_high:.4f}]"
    evidence["certified end outside the package's interval, largest distance"] = gap
    evidence["the package's width over the certified one's, least"] = float(wider.min())
    said: Said = {
        "verified": "The package's intervals contain the certified ones, which are narrower by a factor of at least "
        f"{wider.min():.3g}.",
        "not reproduced": f"The package's intervals miss the certified ones by {gap:.2g}.",
    }
    limit = float((claim("N-5").tolerance or {})["eps"])
    return judge("N-5", evidence, reading("as printed", within(gap, limit), said))


@settles("N-6")
def renyi_below(table: pd.DataFrame) -> Outcome:
    """Renyi divergences with and without the shuffler."""
    below = table["shuffled"] < table["alone"]
    evidence = {
        "cases (orders, users and noises)": len(table),
        "cases in which the shuffled divergence is not below the unshuffled one": int((~below).sum()),
        "shuffled over unshuffled, least": float(table["share"].min()),
        "shuffled over unshuffled, largest": float(table["share"].max()),
    }
    said: Said = {
        "verified": f"In {len(table)} cases the shuffled divergence is {table['share'].min():.2g} to "
        f"{table['share'].max():.4g} times the unshuffled one.",
        "refuted": f"In {(~below).sum()} of {len(table)} cases the shuffled divergence is not below the unshuffled "
        "one.",
    }
    return judge("N-6", evidence, reading("as printed", exactly(bool(below.all())), said))


@settles("N-7")
def example_reproduced(example: dict[str, float], other: dict[str, float]) -> Outcome:
    """The program's example, by two conversions of Renyi divergences; and what is certified there."""
    loose = example["canonne"] / example["upper"]
    evidence = {
        "program": EXAMPLE,
        "by the conversion of Canonne, Kamath and Steinke": example["canonne"],
        "by Mironov's conversion": example["mironov"],
        "certified, all other reports alike": f"[{example['lower']:.6f}, {example['upper']:.6f}]",
        "the program's over the certified": loose,
        f"program at {other['n']:,} users": REPORTED,
        f"Canonne's conversion at {other['n']:,} users": other["canonne"],
        f"certified at {other['n']:,} users": f"[{other['lower']:.6f}, {other['upper']:.6f}]",
    }
    limit = float((claim("N-7").tolerance or {})["eps"])

    def one(name: str, found: float) -> tuple[str, float, Said]:
        ours = f"The divergences give {found:.5g}, and the program prints {EXAMPLE}"
        return (
            name,
            found,
            {
                "verified": f"{ours}. The number is valid where all other reports are alike; it is {loose:.3g} times "
                "as large as what is certified there.",
                "not reproduced": f"{ours}.",
            },
        )

    readings = [
        reading(name, within(found - EXAMPLE, limit), said)
        for name, found, said in (
            one("converted as Canonne, Kamath and Steinke do", example["canonne"]),
            one("converted as Mironov does", example["mironov"]),
        )
    ]
    return judge("N-7", evidence, *readings)


@settles("N-8")
def million_steps(found: dict[str, float], needed: int) -> Outcome:
    """The advantage after 1.14 million steps, of random allocation and of shuffled batches."""
    evidence = {
        "steps": found["steps"],
        r"random allocation, $\delta(0)$": f"[{found['lower']:.6f}, {found['upper']:.6f}]",
        r"shuffled batches, $\delta(0)$ at least": found["shuffled"],
        "smallest number of steps, a power of two, that suffices for random allocation": needed,
    }
    dealt: Said = {
        "verified": f"After {found['steps']:,} steps $\\delta(0)$ is certified to be at most {found['upper']:.3g}. "
        f"For 1/100, {needed:,} steps suffice.",
        "refuted": f"After {found['steps']:,} steps $\\delta(0)$ is at least {found['lower']:.3g}.",
        "not reproduced": "The certified interval contains 1/100.",
    }
    fixed: Said = {
        "refuted": f"An attack reaches {found['shuffled']:.3g}, which exceeds 1/100.",
        "not checkable": f"The known attack reaches {found['shuffled']:.3g}, which does not contradict the claim. The "
        "paper's proof was not read, and from above nothing less than one Gaussian step is certified here.",
    }
    known = ranked(0.01 - found["upper"], 0.01 - found["lower"])
    return judge(
        "N-8",
        evidence,
        reading("each record's step is drawn independently (random allocation)", known, dealt),
        reading(
            "batches of a fixed size, whatever the other records are",
            exactly(False) if found["shuffled"] > 0.01 else unknown(),
            fixed,
        ),
    )


@settles("N-9")
def separation_stated(table: pd.DataFrame) -> Outcome:
    """The separation at the least noise against the stated bound."""
    margin = table["kappa"] - table["stated"]
    evidence = {
        "numbers of steps": ", ".join(f"{steps:,}" for steps in table["steps"]),
        "separation less the stated bound, least": float(margin.min()),
        "separation over the stated bound, largest": float((table["kappa"] / table["stated"]).max()),
    }
    said: Said = {
        "verified": "For random allocation, where only the record's own step depends on it, the separation exceeds the "
        f"stated bound by at least {margin.min():.3g} at each of {len(table)} numbers of steps.",
        "refuted": f"At {(margin < 0).sum()} of {len(table)} numbers of steps the separation of random allocation is "
        "below the stated bound.",
    }
    return judge("N-9", evidence, reading("as printed", exactly(bool((margin >= 0).all())), said))

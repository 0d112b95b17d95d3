r"""Page 13, second part: what the blog says of anonymization, growth with n, accuracy, approximate LDP and the blanket.

Small crowds are enumerated in fractions. A blanket is the common part of a randomizer's laws: R(x) = gamma B + (1 -
gamma) E_x, gamma the sum of the least probabilities.

>>> parts = blanket(s.subset_selection(3, 1, Fraction(2)))
>>> str(parts.weight), [str(mass) for mass in parts.noise]
('3/4', ['1/3', '1/3', '1/3'])
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from gspa.accountant import budgets, closed_forms, one_round
from gspa.accountant.errors import OutsideValidity
from gspa.algorithms.testing import HadamardResponse
from gspa.book.claims import Outcome, claim, judge, settles, unsettled
from gspa.book.verdicts import Said, exactly, reading, within
from gspa.pages import shuffles as s
from gspa.pages.p13_clones import of_bits, worst
from gspa.pages.p14_learning import project

_ONE = Fraction(1)
_RAW: s.Rows = ((_ONE, s.NONE), (s.NONE, _ONE))
"""The datum itself, one of two."""


# --- tables ------------------------------------------------------------------------------------------------


def against_2019(local: Sequence[float], sizes: Sequence[int], deltas: Sequence[float]) -> pd.DataFrame:
    """Theorem 3.1 of FMT21 over the bound of EFMRTT19 wherever both may be used: eps_local, n, delta, ratio."""
    rows = []
    for x, n, delta in product(local, sizes, deltas):
        try:
            both = [
                bound(x, n=n, delta=delta) for bound in (closed_forms.fmt21_epsilon, closed_forms.erlingsson19_epsilon)
            ]
        except OutsideValidity:
            continue
        rows.append((x, n, delta, both[0] / both[1]))
    return pd.DataFrame(rows, columns=["eps_local", "n", "delta", "ratio"])


def anonymous(ratio: Fraction, *, sizes: Sequence[int]) -> pd.DataFrame:
    """delta(0), exact, of shuffled data and of shuffled randomized response: n, raw, shuffled, local (one report).

    >>> anonymous(Fraction(3), sizes=(2,)).astype(str).to_numpy().tolist()
    [['2', '1', '3/8', '1/2']]
    """
    rr = s.subset_selection(2, 1, ratio)
    rows = [(n, worst([_RAW] * n, _ONE), worst([rr] * n, _ONE), worst([rr], _ONE)) for n in sizes]
    return pd.DataFrame(rows, columns=["n", "raw", "shuffled", "local"])


def falling(eps_local: float, sizes: Sequence[int], *, delta: float) -> pd.DataFrame:
    """Exact central eps of randomized response against n: eps_local, delta, n, eps."""
    table = pd.DataFrame({"n": sizes}).assign(eps_local=eps_local, delta=delta)
    return table.assign(eps=[of_bits(eps_local, n=n, delta=delta) for n in sizes])


def spoiled(local: Sequence[float], items: Sequence[int], *, share: float) -> pd.DataFrame:
    """What Hadamard response learns from infinitely many users who hold item 0, a share of them malicious.

    All malicious send the one message that does most harm. Columns: k, eps_local, share, tv (from the truth), useless
    (that of the uniform guess).
    """
    rows = []
    for k, x in product(items, local):
        response = HadamardResponse.of(k, eps=x)
        truth = np.eye(k)[0]
        received = (1 - share) * response.law(truth) + share * np.eye(response.outputs)
        # One output of each kind would do; all are few.
        tv = 0.5 * np.abs(project(response.estimate(received)) - truth).sum(axis=1).max()
        rows.append((k, x, share, float(tv), 1 - 1 / k))
    return pd.DataFrame(rows, columns=["k", "eps_local", "share", "tv", "useless"])


def leaky(eps_local: float, local_deltas: Sequence[float], *, n: int, delta: float) -> pd.DataFrame:
    """Shuffled (eps_L, delta_L)-randomizers: eps_local, n, delta, local_delta, bound, certified, pure.

    bound: FMT21's Theorem 3.8, the total delta being `delta`; NaN where it does not apply. certified: of randomized
    response that tells the truth, marked as such, with probability delta_L. pure: exact, without that, rounded down.
    """
    rows = []
    for local_delta in local_deltas:
        people = budgets.constant(eps_local, n=n, delta=local_delta)
        try:
            bound = closed_forms.fmt21_epsilon(eps_local, n=n, delta=delta, delta0=local_delta)
        except OutsideValidity:
            bound = math.nan
        own = one_round.central_epsilon(people, delta=delta).upper
        rows.append((eps_local, n, delta, local_delta, bound, own, of_bits(eps_local, n=n, delta=delta)))
    return pd.DataFrame(rows, columns=["eps_local", "n", "delta", "local_delta", "bound", "certified", "pure"])


class Blanket(NamedTuple):
    """R(x) = weight * noise + (1 - weight) * rest[x]."""

    weight: Fraction
    noise: tuple[Fraction, ...]
    rest: s.Rows


def blanket(rows: s.Rows) -> Blanket:
    """The largest common part of a randomizer's laws, which are not all the same one."""
    least = [min(column) for column in zip(*rows, strict=True)]
    weight = sum(least, s.NONE)
    own = [[mass - low for mass, low in zip(row, least, strict=True)] for row in rows]
    noise = tuple(low / weight for low in least)
    return Blanket(weight, noise, tuple(tuple(mass / (1 - weight) for mass in row) for row in own))


def blankets(ratios: Iterable[Fraction]) -> pd.DataFrame:
    """Randomizers as mixtures: reports, ratio (e^{eps_L}), weight, least (e^{-eps_L}), laws, again.

    laws: noise and rest are probabilities; again: the mixture is the randomizer.
    """
    families = {"binary RR": (2, 1), "3-ary RR": (3, 1), "2 of 4 items": (4, 2)}
    rows = []
    for (name, which), ratio in product(families.items(), ratios):
        matrix = s.subset_selection(*which, ratio)
        weight, noise, rest = blanket(matrix)
        laws = all(min(law) >= 0 and sum(law) == 1 for law in (noise, *rest))
        mixed = tuple(tuple(weight * b + (1 - weight) * e for b, e in zip(noise, row, strict=True)) for row in rest)
        rows.append((name, ratio, weight, 1 / ratio, laws, mixed == matrix))
    return pd.DataFrame(rows, columns=["reports", "ratio", "weight", "least", "laws", "again"])


def hidden(ratio: Fraction, *, sizes: Sequence[int]) -> pd.DataFrame:
    """delta(0) of 3-ary response among the noise of the others alone: n, noise, shuffled, local, all exact.

    noise: whose message was drawn from the data is known, the victim apart, so that only the others' noise hides. m of
    the n - 1 others send noise with a binomial probability.
    """
    rr = s.subset_selection(3, 1, ratio)
    weight, common, _ = blanket(rr)
    rows = []
    for n in sizes:
        among = [worst([(common,)] * m + [rr], _ONE) for m in range(n)]
        chances = [math.comb(n - 1, m) * weight**m * (1 - weight) ** (n - 1 - m) for m in range(n)]
        noise = sum((p * delta for p, delta in zip(chances, among, strict=True)), s.NONE)
        rows.append((n, noise, worst([rr] * n, _ONE), worst([rr], _ONE)))
    return pd.DataFrame(rows, columns=["n", "noise", "shuffled", "local"])


# --- checks ------------------------------------------------------------------------------------------------


@settles("B-16")
def improved_analysis(table: pd.DataFrame) -> Outcome:
    """FMT21 over EFMRTT19, from `against_2019`."""
    if table.empty:
        return unsettled("B-16", "No point of this run meets the conditions of both bounds.")
    low, high = float(table["ratio"].min()), float(table["ratio"].max())
    evidence = {
        f"Theorem 3.1 of FMT21 over EFMRTT19's bound, {len(table)} points that meet both conditions": [low, high],
        "largest $\\epsilon_L$ there": float(table["eps_local"].max()),
    }
    said: Said = {
        "verified": f"FMT21's bound is {low:.2f} to {high:.2f} times that of 2019, and holds beyond $\\epsilon_L$ = "
        "1/2, where the older one ends. That one is the only earlier bound for any randomizer whose constants we have. "
        "Whether the analysis is simple is a matter of judgement.",
        "refuted": f"Somewhere FMT21's bound is {high:.2f} times that of 2019.",
    }
    return judge("B-16", evidence, reading("against EFMRTT19", exactly(high < 1), said))


@settles("B-18")
def anonymization(table: pd.DataFrame) -> Outcome:
    """Shuffled data and shuffled reports, from `anonymous` of at least two users."""
    evidence: dict[str, object] = {}
    for row in table.itertuples():
        evidence[f"$\\delta(0)$, {row.n} users: the data, shuffled; randomized response, shuffled; one report"] = (
            f"{row.raw}; {row.shuffled}; {row.local}"
        )
    nothing, amplified = bool((table["raw"] == 1).all()), bool((table["shuffled"] < table["local"]).all())
    last = table.iloc[-1]
    said: Said = {
        "verified": "Shuffled data tell one user's datum to whoever knows the others': $\\delta(0)$ is 1, as "
        f"without shuffling. For randomized response it falls from {last['local']} to {last['shuffled']} with "
        f"{last['n']} users.",
        "refuted": "Shuffled data hide something, or shuffled reports no more than one does.",
    }
    return judge("B-18", evidence, reading("the others' data known", exactly(nothing and amplified), said))


@settles("B-19")
def square_root(table: pd.DataFrame) -> Outcome:
    """The exponent of n in the exact central eps, from `falling`."""
    tolerance = float((claim("B-19").tolerance or {})["exponent"])
    seen = table[table["eps"] > 0]
    if len(seen) < len(table) or len(seen) < 2:
        return unsettled("B-19", "At this $\\delta$ the crowds of the run have $\\epsilon$ = 0.")
    slope = float(np.polyfit(np.log(seen["n"]), np.log(seen["eps"]), 1)[0])
    evidence: dict[str, object] = {f"exact $\\epsilon$, $n$ = {row.n:,}": row.eps for row in seen.itertuples()}
    evidence |= {"exponent of $n$, stated -0.5": slope, "tolerance": tolerance}
    what = f"$\\epsilon$ of randomized response falls like $n^{{{slope:.3f}}}$"
    said: Said = {
        "verified": f"{what}." + (" It is steeper than $n^{-1/2}$ because $\\delta$ is fixed." if slope < -0.5 else ""),
        "not reproduced": f"{what}.",
    }
    return judge("B-19", evidence, reading("at a fixed $\\delta$", within(slope + 0.5, tolerance), said))


@settles("B-23")
def ruined(table: pd.DataFrame) -> Outcome:
    """What malicious users make of learning, from `spoiled`."""
    lost = table["tv"] >= table["useless"] * (1 - 1e-9)
    evidence: dict[str, object] = {}
    for row in table.itertuples():
        evidence[
            f"error in total variation, {row.share:.0%} malicious, $k$ = {row.k:,}, $\\epsilon_L$ = {row.eps_local:g}; "
            "a guess without data"
        ] = f"{row.tv:.3f}; {row.useless:.3f}"
    cases = f"$\\epsilon_L$ up to {table.loc[lost, 'eps_local'].max():g}"
    mildest = float(table["tv"].min())
    return judge(
        "B-23",
        evidence,
        reading(
            "they can in some protocol",
            exactly(bool(lost.any())),
            {
                "verified": f"With any number of users the answer is as bad as a guess at {cases}. At large budgets "
                f"it is not: there the least error is {mildest:.3f}, about the share of malicious users.",
                "refuted": "The answer is never as bad as a guess.",
            },
        ),
        reading(
            "they can in every protocol",
            exactly(bool(lost.all())),
            {
                "verified": "The answer is as bad as a guess in every case.",
                "refuted": f"In {int((~lost).sum())} of {len(table)} cases the answer is better than a guess.",
            },
        ),
    )


@settles("B-24")
def approximate_too(table: pd.DataFrame) -> Outcome:
    """Theorem 3.8 and what leaky randomized response shows, from `leaky`."""
    inside = table.dropna(subset="bound")
    if inside.empty:
        return unsettled("B-24", "Theorem 3.8 applies to no point of this run.")
    evidence: dict[str, object] = {}
    for row in table.to_dict("records"):
        stated = "none" if math.isnan(row["bound"]) else f"{row['bound']:.4f}"
        evidence[
            f"$\\delta_L$ = {row['local_delta']:.3g}, $\\epsilon_L$ = {row['eps_local']:g}, $n$ = {row['n']:,}: "
            "Theorem 3.8; certified for leaky randomized response; exact without the leak"
        ] = f"{stated}; {row['certified']:.5f}; {row['pure']:.5f}"
    sound = bool((inside["bound"] >= inside["pure"]).all())
    amplifies = bool((inside["bound"] < inside["eps_local"]).all())
    low, high = float(inside["bound"].min()), float(inside["bound"].max())
    beyond = table.loc[table["bound"].isna(), "local_delta"]
    ends = (
        f" From $\\delta_L$ = {beyond.min():g} on it says nothing here: it adds about $n \\delta_L$ to $\\delta$."
        if len(beyond)
        else ""
    )
    said: Said = {
        "verified": f"Theorem 3.8 of the source gives $\\epsilon$ from {low:.4f} to {high:.4f} for "
        f"$\\epsilon_L$ = {inside['eps_local'].max():g}, above the exact {inside['pure'].max():.4f} of "
        f"randomized response, which is one of these randomizers.{ends} We do not redo its proof.",
        "refuted": "The theorem's $\\epsilon$ is below an exact one, or no smaller than $\\epsilon_L$.",
    }
    return judge("B-24", evidence, reading("Theorem 3.8 of the source", exactly(sound and amplifies), said))


@settles("B-45")
def mixture(table: pd.DataFrame) -> Outcome:
    """Randomizers as mixtures, from `blankets`."""
    evidence: dict[str, object] = {
        f"{row.reports}, $e^{{\\epsilon_L}}$ = {row.ratio}: weight of the noise; $e^{{-\\epsilon_L}}$": (
            f"{row.weight}; {row.least}"
        )
        for row in table.itertuples()
    }
    evidence["noise and rest are laws, and mix to the randomizer"] = bool(table["laws"].all() and table["again"].all())
    held = bool(table["laws"].all() and table["again"].all() and (table["weight"] >= table["least"]).all())
    said: Said = {
        "verified": "The noise takes the least probability of each message over the inputs. Under $\\epsilon_L$-LDP "
        "that is at least $e^{-\\epsilon_L}$ times the probability under any one input, so the noise weighs at least "
        f"$e^{{-\\epsilon_L}}$. Exact fractions confirm it for {len(table)} randomizers.",
        "refuted": "A randomizer is no such mixture, or its noise weighs less than $e^{-\\epsilon_L}$.",
    }
    return judge("B-45", evidence, reading("the largest common part", exactly(held), said))


@settles("B-46")
def blanket_hides(table: pd.DataFrame) -> Outcome:
    """One user among the others' noise alone, from `hidden` of at least two users."""
    evidence: dict[str, object] = {
        f"$\\delta(0)$, {row.n} users: among the noise alone; among all reports; one report": (
            f"{row.noise}; {row.shuffled}; {row.local}"
        )
        for row in table.itertuples()
    }
    falls = all(a > b for a, b in zip(table["noise"], table["noise"].iloc[1:], strict=False))
    between = bool(((table["shuffled"] <= table["noise"]) & (table["noise"] < table["local"])).all())
    last = table.iloc[-1]
    more = "a little more" if last["shuffled"] < last["noise"] else "nothing more"
    said: Said = {
        "verified": f"One user's $\\delta(0)$ is {float(last['local']):.4f} for a report alone. With {last['n']} users "
        f"it is {float(last['noise']):.4f} among the noise alone and {float(last['shuffled']):.4f} among all reports: "
        f"in the worst case the informative messages of the others hide {more}.",
        "refuted": "The noise alone does not hide, or it hides more than all reports do.",
    }
    return judge("B-46", evidence, reading("the noise of the others alone", exactly(falls and between), said))

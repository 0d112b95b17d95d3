"""Of notebook 05: the processes that it enumerates, the samples of the proof, and the figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import factorial

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.accountant import tradeoff
from gspa.algorithms import shuffles as s
from gspa.book.figures import Frame, keeps_data, role


def question(item: int, ratio: Fraction) -> s.Rows:
    """Binary randomized response to "is your value `item`?", for three values: report 0 is yes."""
    yes, no = s.subset_selection(2, 1, ratio)
    return tuple(yes if x == item else no for x in range(3))


@dataclass(frozen=True, eq=False)
class Case:
    """A shuffled process: `ratios` are e^eps of each step or user, the last user is the victim; `items` inputs."""

    key: str
    label: str
    attached: str
    ratios: tuple[Fraction, ...]
    randomizers: Sequence[s.Rows] | s.Chosen
    items: int = 2
    outcomes: int = 2
    delta: Fraction = Fraction(0)

    @property
    def title(self) -> str:
        return f"{self.label}, by {self.attached}, $e^\\epsilon$ {', '.join(map(str, self.ratios))}"

    def rows(self, index: int, history: s.History) -> s.Rows:
        """The randomizer of that step or user after those reports."""
        return self.randomizers(index, history) if callable(self.randomizers) else self.randomizers[index]

    def histories(self, index: int) -> Iterator[s.History]:
        """The reports after which step or user `index` may have its turn."""
        lengths = [index] if self.attached == "position" else range(len(self.ratios))
        for length in lengths if callable(self.randomizers) else [0]:
            yield from product(range(self.outcomes), repeat=length)

    def shuffled(self, others: Sequence[int]) -> s.Laws:
        """The outputs at these inputs of the other users, the victim holding 0 or 1."""
        return s.two_laws(self.randomizers, others=others, attached=self.attached)

    def printed_pair(self) -> s.Laws:
        """(rho_0, rho_1) of Theorem 1, with 1 - 2 r_i as the third probability of V."""
        clones = [s.printed_clones(ratio, self.delta) for ratio in self.ratios[:-1]]
        return s.count_pair(self.ratios[-1], clones=clones, delta=self.delta, shared=True)

    def corrected_pair(self) -> s.Laws:
        """The pair of aligned clones, with delta_n where it tells the datasets apart."""
        ratio, clones = self.aligned()
        return s.count_pair(ratio, clones=clones, delta=self.delta)

    def least(self, victim: int, other: int, ratio: Fraction) -> Fraction:
        """The least clone probability of a step or user, over all histories."""
        return min(
            s.aligned_clone_probability(
                s.parts(self.rows(victim, history), ratio, delta=self.delta), self.rows(other, history)
            )
            for history in self.histories(other)
        )

    def aligned(self) -> tuple[Fraction, list[Fraction]]:
        """e^eps of the victim and the clone probabilities of the corrected pair.

        By user: the largest r_j of each. By position: the largest budget, and the least r of all steps for all, because
        whoever is not the victim may stand anywhere.
        """
        n = len(self.ratios)
        if self.attached == "user":
            return self.ratios[-1], [self.least(n - 1, j, self.ratios[-1]) for j in range(n - 1)]
        ratio = max(self.ratios)
        return ratio, [min(self.least(step, step, ratio) for step in range(n))] * (n - 1)

    def worst(self, pair: s.Laws) -> tuple[s.Excess, tuple[int, ...]]:
        """The largest excess over a pair, over all inputs of the others, and those inputs."""
        # Attached to the position, it does not matter who of the others holds what.
        n = len(self.ratios)
        several = combinations_with_replacement(range(self.items), n - 1)
        choices = several if self.attached == "position" else product(range(self.items), repeat=n - 1)
        found = [(s.largest_excess(self.shuffled(others), pair), others) for others in choices]
        return max(found, key=lambda pairing: pairing[0].amount)


def cases(*, ratio: int, small: int, delta: Fraction, n: int) -> dict[str, Case]:
    """The processes that the page enumerates, by key; one has always 3 users, and one is a single user.

    Where the budgets make two of them equal, they are one.
    """
    big, low = Fraction(ratio), Fraction(small)
    equal, own, last_low = (big,) * n, (low,) * (n - 1) + (big,), (big,) * (n - 1) + (low,)
    high_twice = (low, big, big)  # whatever n: with four users at these budgets the pair holds again

    def asked(ratios: tuple[Fraction, ...]) -> s.Chosen:
        # The question depends on the last report: about item 0 at first and after a yes, about item 2 after a no.
        return lambda index, history: question(2 if history and history[-1] == 1 else 0, ratios[index])

    def rr(ratios: tuple[Fraction, ...]) -> list[s.Rows]:
        return [s.subset_selection(2, 1, p) for p in ratios]

    def ternary(size: int, ratios: tuple[Fraction, ...]) -> list[s.Rows]:
        return [s.subset_selection(3, size, p) for p in ratios]

    named = [s.signed(rows, user, n) for user, rows in enumerate(rr(equal))]
    truthful = s.truth_with(delta, big)
    listed = (
        Case("rr-equal-step", "binary RR", "position", equal, rr(equal)),
        Case("rr-equal-user", "binary RR", "user", equal, rr(equal)),
        Case("rr-own-user", "binary RR", "user", own, rr(own)),
        Case("rr-low-user", "binary RR", "user", last_low, rr(last_low)),
        Case("rr-low-step", "binary RR", "position", last_low, rr(last_low)),
        Case("rr-own-step", "binary RR", "position", high_twice, rr(high_twice)),
        Case("adaptive-step", "binary RR, adaptive question", "position", equal, asked(equal), items=3),
        Case("adaptive-user", "binary RR, adaptive question", "user", own, asked(own), items=3),
        Case("ternary-equal", "3-ary RR", "user", equal, ternary(1, equal), 3, 3),
        Case("ternary-own", "3-ary RR", "user", own, ternary(1, own), 3, 3),
        Case("subset-equal", "2 of 3 items", "user", equal, ternary(2, equal), 3, 3),
        Case("subset-own", "2 of 3 items", "user", own, ternary(2, own), 3, 3),
        Case("signed", "binary RR, signed by its sender", "user", equal, named, 2, 2 * n),
        Case("truth-alone", "truth with probability $\\delta$", "user", (big,), [truthful], 2, 4, delta),
        Case("truth", "truth with probability $\\delta$", "user", equal, [truthful] * n, 2, 4, delta),
    )
    distinct: dict[str, Case] = {}
    for case in listed:
        distinct.setdefault(case.title, case)
    return {case.key: distinct[case.title] for case in listed}


def short(fraction: Fraction) -> str:
    """A fraction as a page can print it: a long one rounded to six digits, and said to be.

    >>> short(Fraction(4, 27)), short(Fraction(10**20, 3 * 10**20 + 1))
    ('4/27', 'about 0.333333')
    """
    exact = str(fraction)
    return exact if len(exact) <= 30 else f"about {float(fraction):.6g}"


def distance(laws: pd.DataFrame) -> Fraction:
    """Total variation of the laws in two columns."""
    first, second = laws.fillna(0).to_numpy().T
    return sum(abs(first - second), start=s.NONE) / 2


def laws_of(table: pd.DataFrame) -> s.Laws:
    """The laws in the columns b = 0 and b = 1, outcomes with the same index put together."""
    both = table[["b = 0", "b = 1"]].groupby(table.index).sum()
    return {outcome: (first, second) for outcome, first, second in both.itertuples()}


def sampled(ratios: Sequence[Fraction], delta: Fraction, attached: str) -> pd.DataFrame:
    """The joint law of the proof's shuffled samples and of K, the users who drew a 2.

    By user: user i draws with its own e^eps and the samples are permuted. By position: whoever comes t-th draws with
    that of step t. The last user is the one whose datum differs, and draws a 2 with probability delta.

    Columns: samples and K, texts; b = 0 and b = 1, the probability at each datum.
    """
    n = len(ratios)
    rows = []
    for order in permutations(range(n)):
        for y in product(range(3), repeat=n):
            masses = [Fraction(1, factorial(n))] * 2
            for step, user in enumerate(order):
                p = ratios[user if attached == "user" else step]
                low = s.printed_clones(p, delta)
                for b in (0, 1):
                    if user == n - 1:
                        masses[b] *= delta if y[step] == 2 else (p if y[step] == b else 1) * low
                    else:
                        masses[b] *= 1 - 2 * low if y[step] == 2 else low
            silent = sorted(user for user, drawn in zip(order, y, strict=True) if drawn == 2)
            rows.append(("".join(map(str, y)), str(silent), *masses))
    law = pd.DataFrame(rows, columns=["samples", "K", "b = 0", "b = 1"])
    return law.groupby(["samples", "K"], as_index=False).sum()


def given_samples(law: pd.DataFrame) -> Fraction:
    """The largest distance, over the samples that both b can give, of the laws of K given them."""
    both = law[["b = 0", "b = 1"]]
    all_of = both.groupby(law["samples"]).transform("sum")
    seen = (all_of > 0).all(axis=1)
    given = both[seen] / all_of[seen]
    return Fraction(max((given["b = 0"] - given["b = 1"]).abs().groupby(law["samples"][seen]).sum())) / 2


def trade_offs(case: Case) -> pd.DataFrame:
    """Corners of the trade-off functions at the others' worst inputs, and of both pairs: curve, alpha, beta."""
    printed = case.printed_pair()
    _, others = case.worst(printed)
    laws = {"reports": case.shuffled(others), "printed pair": printed, "corrected pair": case.corrected_pair()}
    corners = []
    for name, law in laws.items():
        first, second = ([float(both[i]) for both in law.values()] for i in (0, 1))
        curve = tradeoff.neyman_pearson(first, second)
        corners.append(pd.DataFrame({"curve": name, "alpha": curve.alpha, "beta": curve.beta}))
    return pd.concat(corners, ignore_index=True)


def lowest(corners: pd.DataFrame) -> float:
    """How far the reports' curve is below the printed pair's at most; 0 if nowhere."""
    curves = {name: (line["alpha"], line["beta"]) for name, line in corners.groupby("curve", sort=False)}
    alpha = np.unique(corners["alpha"])
    below = np.interp(alpha, *curves["printed pair"]) - np.interp(alpha, *curves["reports"])
    return float(below.max()) if below.max() > 1e-12 else 0.0


def trade_off_frame(tables: Mapping[str, pd.DataFrame]) -> Frame:
    """`trade_off_panels` at one setting of its knob, and in words."""
    gaps = "; ".join(f"{title}, {lowest(corners):.2g}" for title, corners in tables.items())
    words = (
        "Three panels of falling piecewise linear trade-off curves. By how much the reports are below the printed pair"
    )
    return Frame.of(trade_off_panels(tables), f"{words} at most: {gaps}.")


def trade_off_panels(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """A panel a process: type II error against type I error, a line for the reports and one for each pair."""
    figure, axes = plt.subplots(1, len(tables), figsize=(4.8, 2.4), sharey=True, layout="constrained")
    # The reports widest and first, so that a line on top of them leaves them visible.
    styles = {"reports": ("truth", 6), "printed pair": ("paper", 3), "corrected pair": ("certified", 1.5)}
    for axis, (title, table) in zip(axes, tables.items(), strict=True):
        for name, line in table.groupby("curve", sort=False):
            kind, width = styles[str(name)]
            axis.plot(line["alpha"], line["beta"], label=name, **role(kind) | {"lw": width})
        axis.set(title=title.replace(", ", ",\n"), xlabel=r"type I error $\alpha$", xlim=(0, 1), ylim=(0, 1))
        axis.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        axis.set_box_aspect(1)
    axes[0].set_ylabel(r"type II error $\beta$")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@keeps_data
def cases_against_pairs(table: pd.DataFrame) -> Figure:
    """delta of each process, of the printed and of the corrected pair; broken ones in the paper's colour."""
    figure, axis = plt.subplots(figsize=(4.8, 1.2 + 0.3 * len(table)), layout="constrained")
    places = np.arange(len(table))
    for column, name, marker, size in (
        ("corrected pair", "certified", "D", 120),
        ("printed pair", "paper", "s", 60),
        ("reports", "truth", "o", 20),
    ):
        values = table[column].astype(float)
        axis.scatter(values, places, s=size, marker=marker, color=role(name)["color"], label=column, zorder=3)
    axis.set_yticks(places, table["process"])
    for words, excess in zip(axis.get_yticklabels(), table["excess"], strict=True):
        words.set_color(str(role("paper" if excess > 0 else "truth")["color"]))
    axis.set(xlabel=r"$\delta$", xlim=(-0.02, None))
    axis.invert_yaxis()
    figure.legend(loc="outside lower center", ncols=3)
    return figure

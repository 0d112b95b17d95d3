"""Page 05, Definition 6 and Theorem 1: shuffled processes small enough to enumerate, beside the printed pair and a
corrected one.

The corrected pair is that of aligned clones. User-attached: user j counts as a clone with the largest r_j for which
R_j(x) >= r_j (Q0 + Q1), the victim's parts, at every input and after every history. Position-attached: every step is
taken at the largest budget, and the least such r of all steps serves for all, because whoever is not the victim may
stand anywhere. The victim's delta_n tells the two datasets apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.accountant import discrete
from gspa.book.claims import Outcome, settles
from gspa.book.figures import DASHES, PALETTE, keeps_data
from gspa.pages import shuffles as s

_LONGEST = 30  # characters of a fraction that still fits into a table's cell


# --- tables ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
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
    def n(self) -> int:
        return len(self.ratios)

    def rows(self, index: int, history: s.History) -> s.Rows:
        """The randomizer of that step or user after those reports."""
        return self.randomizers(index, history) if callable(self.randomizers) else self.randomizers[index]

    def histories(self, index: int) -> Iterator[s.History]:
        """The reports after which step or user `index` may have its turn."""
        if not callable(self.randomizers):
            yield ()
            return
        for length in [index] if self.attached == "position" else range(self.n):
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

    def aligned(self) -> tuple[Fraction, list[Fraction]]:
        """e^eps of the victim and the clone probabilities of the corrected pair."""

        def least(victim: int, other: int, ratio: Fraction) -> Fraction:
            return min(
                s.aligned_clone_probability(
                    s.parts(self.rows(victim, history), ratio, delta=self.delta), self.rows(other, history)
                )
                for history in self.histories(other)
            )

        if self.attached == "user":
            return self.ratios[-1], [least(self.n - 1, j, self.ratios[-1]) for j in range(self.n - 1)]
        ratio = max(self.ratios)
        return ratio, [min(least(step, step, ratio) for step in range(self.n))] * (self.n - 1)

    def worst(self, pair: s.Laws) -> tuple[s.Excess, tuple[int, ...]]:
        """The largest excess over a pair, over all inputs of the others, and those inputs."""
        # Attached to the position, it does not matter who of the others holds what.
        several = combinations_with_replacement(range(self.items), self.n - 1)
        choices = several if self.attached == "position" else product(range(self.items), repeat=self.n - 1)
        found = [(s.largest_excess(self.shuffled(others), pair), others) for others in choices]
        return max(found, key=lambda pairing: pairing[0].amount)


def cases(*, ratio: int, small: int, delta: Fraction, n: int) -> tuple[Case, ...]:
    """The processes that the page enumerates; one has always 3 users, and one is a single user."""
    big, low = Fraction(ratio), Fraction(small)
    equal, own, last_low = (big,) * n, (low,) * (n - 1) + (big,), (big,) * (n - 1) + (low,)
    high_twice = (low, big, big)  # whatever n: with four users at these budgets the pair holds again

    def asked(ratios: tuple[Fraction, ...]) -> s.Chosen:
        # The question depends on the last report: about item 0 at first and after a yes, about item 2 after a no.
        return lambda index, history: s.question(2 if history and history[-1] == 1 else 0, ratios[index])

    def rr(ratios: tuple[Fraction, ...]) -> list[s.Rows]:
        return [s.subset_selection(2, 1, p) for p in ratios]

    def ternary(size: int, ratios: tuple[Fraction, ...]) -> list[s.Rows]:
        return [s.subset_selection(3, size, p) for p in ratios]

    named = [s.signed(rows, user, n) for user, rows in enumerate(rr(equal))]
    truthful = s.truth_with(delta, big)
    return (
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


def table(which: Sequence[Case]) -> pd.DataFrame:
    """Each case against both pairs, over all inputs of the others and all eps >= 0, in exact fractions.

    Columns: key, reports, attached, budgets; at, the e^eps of the largest excess over the printed pair, or 1; shuffled,
    pair and corrected, delta there; excess and corrected_excess, the largest. Equal cases have one row.
    """
    rows = []
    distinct: dict[tuple[object, ...], Case] = {}
    for case in which:
        distinct.setdefault((case.label, case.attached, case.ratios), case)
    for case in distinct.values():
        pair, better = case.printed_pair(), case.corrected_pair()
        printed, others = case.worst(pair)
        # Where nothing exceeds, both are 0 from eps_n on, which says little: eps = 0 is shown.
        at = printed.ratio if printed.amount > 0 else Fraction(1)
        shown = s.largest_excess(case.shuffled(others), pair, at=[at])
        rows.append(
            {
                "key": case.key,
                "reports": case.label,
                "attached": case.attached,
                "budgets": ", ".join(str(ratio) for ratio in case.ratios),
                "at": shown.ratio,
                "shuffled": shown.shuffled,
                "pair": shown.pair,
                "excess": printed.amount,
                "corrected": s.delta_at(better, shown.ratio),
                "corrected_excess": case.worst(better)[0].amount,
            }
        )
    return pd.DataFrame(rows)


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """`table` as the page shows it."""
    shown = pd.DataFrame({"reports, by what has a budget": table["reports"] + ", by " + table["attached"]})
    shown["$e^\\epsilon$ of all"] = table["budgets"]
    shown["$\\delta$ of the reports"] = table["shuffled"].map(short)
    shown["of the printed pair"] = table["pair"].map(short)
    shown["a bound?"] = (table["excess"] <= 0).map({True: "yes", False: "no"})
    shown["of the corrected pair"] = table["corrected"].map(short)
    shown["a bound? "] = (table["corrected_excess"] <= 0).map({True: "yes", False: "no"})
    return shown


def short(fraction: Fraction) -> str:
    """A fraction as a page can print it: a long one rounded to six digits, and said to be.

    >>> short(Fraction(4, 27)), short(Fraction(10**20, 3 * 10**20 + 1))
    ('4/27', 'about 0.333333')
    """
    exact = str(fraction)
    return exact if len(exact) <= _LONGEST else f"about {float(fraction):.6g}"


def broken(table: pd.DataFrame, *keys: str) -> str:
    """Of the rows with these keys: "absent", "none", "all", or "some" exceed the printed pair."""
    over = table.loc[table["key"].isin(keys), "excess"] > 0
    return "absent" if over.empty else "all" if over.all() else "some" if over.any() else "none"


def readings(ratios: Sequence[int], data: Sequence[int]) -> dict[str, dict[s.History, Fraction]]:
    """The output laws of binary randomized response with these e^eps, by what a budget is attached to."""
    rows = [s.subset_selection(2, 1, Fraction(ratio)) for ratio in ratios]
    return {word: s.shuffled_law(rows, data, attached=word) for word in s.ATTACHED}


def side_by_side(laws: Mapping[str, Mapping[s.History, Fraction]]) -> pd.DataFrame:
    """Output laws, a row an output vector."""
    outputs = sorted({z for law in laws.values() for z in law})
    columns = {f"attached to the {word}": [law.get(z, s.NONE) for z in outputs] for word, law in laws.items()}
    return pd.DataFrame({"output": ["".join(map(str, z)) for z in outputs], **columns})


def process(*, ratio: int, small: int) -> dict[str, object]:
    """Definition 6 executed for e^eps = small, ratio, ratio and the data (0, 0, 1): what must hold of its law."""
    budgets, data = (Fraction(small), Fraction(ratio), Fraction(ratio)), (0, 0, 1)
    own, equal = ([s.subset_selection(2, 1, p) for p in some] for some in (budgets, budgets[-1:] * 3))
    laws = [s.shuffled_law(own, [data[i] for i in order]) for order in permutations(range(3))]
    return {
        "budgets": ", ".join(map(str, budgets)),
        "data": data,
        "total": sum(laws[0].values(), start=s.NONE),
        "local": max(s.local_excess(rows, p) for rows, p in zip(own, budgets, strict=True)),
        "moved": max(_distance(laws[0], law) for law in laws),
        "equal": _distance(s.shuffled_law(equal, data), s.shuffled_law(equal, data, attached="user")),
        "own": _distance(laws[0], s.shuffled_law(own, data, attached="user")),
    }


def _distance(first: Mapping[s.History, Fraction], second: Mapping[s.History, Fraction]) -> Fraction:
    """Total variation of two laws on output vectors."""
    return sum((abs(first.get(z, s.NONE) - second.get(z, s.NONE)) for z in {*first, *second}), start=s.NONE) / 2


def proof_slips(*, ratio: int, small: int) -> pd.DataFrame:
    """Three lines of Theorem 1's proof for binary randomized response: line, printed, needed."""
    big, low = Fraction(ratio), Fraction(small)
    (honest, lie), (_, _) = s.subset_selection(2, 1, big)
    # (23) sends R(x_1^0) for a report 0 and R(x_1^1) for a report 1; what Lemma 1 provides is Q^0 and Q^1.
    twice = honest * honest + lie * lie
    # The AAAI text's p_i = (1-delta_i)/(1+e^eps_i) in (20) and (21) leaves the victim silent half of the time.
    half = (honest - lie) / 2
    in_k = ", ".join(str(1 - 2 * s.printed_clones(p)) for p in (low, big))
    return pd.DataFrame(
        [
            ("(23): probability that a single user's report is the own value", str(twice), str(honest)),
            ("(20), (21) with the AAAI text's $p_i$: $\\delta(0)$ of one user", str(half), str(honest - lie)),
            (f"inclusion in $K$ is identical: its probability at $e^\\epsilon$ = {low} and {big}", "equal", in_k),
        ],
        columns=["line", "printed", "needed"],
    )


def hidden_neither(*, ratio: int) -> s.Excess:
    """Two users with 3-ary randomized response against the pair whose victim may say "neither", not revealed.

    The masses of Wang et al. 2024: p a, a and 1 - (1+p) a with a = 1/(p+2) and clones with r = a.

    >>> str(hidden_neither(ratio=3).amount)
    '1/25'
    """
    p = Fraction(ratio)
    a = 1 / (p + 2)
    pair = s.count_pair(p, clones=[a], neither=1 - (1 + p) * a)
    rows = [s.subset_selection(3, 1, p)] * 2
    found = [s.largest_excess(s.two_laws(rows, others=(x,), attached="user"), pair) for x in range(3)]
    return max(found, key=lambda excess: excess.amount)


# --- figures -----------------------------------------------------------------------------------------------


def trade_offs(case: Case) -> pd.DataFrame:
    """Corners of the trade-off functions at the others' worst inputs, and of both pairs: curve, alpha, beta."""
    printed = case.printed_pair()
    _, others = case.worst(printed)
    laws = {"shuffled": case.shuffled(others), "printed pair": printed, "corrected pair": case.corrected_pair()}
    corners = []
    for name, law in laws.items():
        first, second = ([float(both[i]) for both in law.values()] for i in (0, 1))
        curve = discrete.neyman_pearson(first, second)
        corners.append(pd.DataFrame({"curve": name, "alpha": curve.alpha, "beta": curve.beta}))
    return pd.concat(corners, ignore_index=True)


def lowest(corners: pd.DataFrame) -> float:
    """How far the reports' curve is below the printed pair's at most; 0 if nowhere."""
    curves = {name: (line["alpha"], line["beta"]) for name, line in corners.groupby("curve", sort=False)}
    alpha = np.unique(corners["alpha"])
    below = np.interp(alpha, *curves["printed pair"]) - np.interp(alpha, *curves["shuffled"])
    return float(below.max()) if below.max() > 1e-12 else 0.0


@keeps_data
def trade_off_panels(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """A panel a process: type II error against type I error, a line for the reports and one for each pair."""
    figure, axes = plt.subplots(
        1, len(tables), figsize=(3.2 * len(tables), 3.9), sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for axis, (title, table) in zip(axes[0], tables.items(), strict=True):
        for index, (name, line) in enumerate(table.groupby("curve", sort=False)):
            # The reports widest and first, so that a line on top of them leaves them visible.
            width = 5.0 if index == 0 else 2.0
            style = {"color": PALETTE[(5, 0, 2)[index]], "dashes": DASHES[index] or (None, None), "lw": width}
            axis.plot(line["alpha"], line["beta"], label=name, **style)
        axis.set(title=title, xlabel=r"type I error $\alpha$", xlim=(0, 1), ylim=(0, 1))
        axis.set_box_aspect(1)
    axes[0, 0].set_ylabel(r"smallest type II error $\beta$")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


# --- checks ------------------------------------------------------------------------------------------------


@settles("G-D6")
def definition_6(found: Mapping[str, object]) -> Outcome:
    """`found` is from `process`."""
    evidence = {
        f"$e^\\epsilon$ of the three steps, binary randomized response, data {found['data']}": found["budgets"],
        "probabilities of all output vectors, sum": str(found["total"]),
        "largest $\\delta$ of a step at its own $\\epsilon$": str(found["local"]),
        "distance of the output laws when the data are reordered": str(found["moved"]),
        "distance from user-attached shuffling (Algorithms 1 to 3), equal budgets": str(found["equal"]),
        "distance from user-attached shuffling, own budgets": str(found["own"]),
    }
    if found["total"] != 1 or found["moved"] != 0 or found["local"] > 0:  # type: ignore[operator]
        reason = "What the definition describes is no shuffled local process here."
        return Outcome("G-D6", "refuted", reason, evidence)
    apart = f"(total variation {found['own']} here)" if found["own"] else "in general; here all are equal"
    reason = (
        "The process is executable: its probabilities sum to 1 and do not depend on the order of the data. It is what "
        f"the algorithms run if all randomizers are equal (distance {found['equal']}), and another process if they are "
        f"not {apart}."
    )
    return Outcome("G-D6", "verified", reason, evidence)


@settles("G-T1")
def theorem_1(table: pd.DataFrame, slips: pd.DataFrame, ratio: int) -> Outcome:
    """Every small process against the printed pair and the corrected one; `slips` are those of the proof."""
    printed_sum = 2 * s.printed_clones(Fraction(ratio))
    over, worst = table[table["excess"] > 0], max(table["corrected_excess"])
    total, kept = len(table), len(table) - len(over)
    evidence: dict[str, object] = {
        f"$V$ as the AAAI text prints it, probabilities of one term at $e^\\epsilon = {ratio}$, sum": str(printed_sum),
        "processes enumerated": total,
    }
    for line in slips.itertuples():
        evidence[f"proof, {line.line}"] = f"printed {line.printed}, needed {line.needed}"
    for row in table.to_dict("records"):
        what = "exceeds the pair" if row["excess"] > 0 else "within the pair"
        numbers = (short(row[name]) for name in ("shuffled", "pair", "corrected", "at"))
        evidence[f"{row['reports']}, by {row['attached']}, $e^\\epsilon$ {row['budgets']}: {what}"] = (
            "$\\delta$ {}, printed pair {}, corrected {}, at $e^\\epsilon$ = {}".format(*numbers)
        )
    evidence["largest excess over the corrected pair, all processes"] = str(worst)
    if worst > 0:
        reason = f"{len(over)} of {total} processes exceed the printed pair, and one exceeds the corrected pair too."
        return Outcome("G-T1", "refuted", reason, evidence)
    if over.empty and printed_sum == 1:
        return Outcome("G-T1", "verified", f"None of {total} processes exceeds the pair.", evidence)
    if not kept:
        return Outcome("G-T1", "refuted", f"All of {total} processes exceed the pair.", evidence)
    where = f"{len(over)} of {total} processes leak more than the printed pair"
    if len(over):
        most = max(over.to_dict("records"), key=lambda row: float(row["excess"]))
        where += (
            f", the most {most['reports']} by {most['attached']} with $e^\\epsilon$ {most['budgets']}: $\\delta$ "
            f"{short(most['shuffled'])} against {short(most['pair'])} at $e^\\epsilon$ = {short(most['at'])}"
        )
    return Outcome(
        "G-T1",
        "holds with correction",
        f"{where}. As the AAAI text prints it, $V$ is no distribution either: its probabilities sum to {printed_sum}. "
        f"The other {kept} stay within the pair.",
        evidence,
        correction=r"Let $r_j$ be the largest number for which $R_j(x) \geq r_j (Q^0 + Q^1)$ for all $x$, with "
        r"$Q^0, Q^1$ the victim's parts in (9), corrected. Reports of users who keep their randomizers are a "
        r"post-processing of the pair with $V = \sum_j \mathrm{MultiBern}(r_j, r_j, 1 - 2 r_j)$ and $\Delta_2$ split "
        r"into two outcomes that tell the datasets apart. So is Definition 6's process with $\delta_i = 0$, if every "
        r"step is taken at the largest $\epsilon_i$ and with the least $r$. $(1-\delta_j)/(1+e^{\epsilon_j})$ is such "
        r"an $r_j$ for binary randomized response.",
    )

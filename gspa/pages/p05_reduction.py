"""Page 05, Definition 6 and Theorem 1: shuffled processes small enough to enumerate, beside the printed pair and a
corrected one.

The corrected pair is that of aligned clones. User-attached: user j counts as a clone with the largest r_j for which
R_j(x) >= r_j (Q0 + Q1), the victim's parts, at every input and after every history. Position-attached: every step is
taken at the largest budget, and the least such r of all steps serves for all, because whoever is not the victim may
stand anywhere. The victim's delta_n tells the two datasets apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import factorial

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.accountant import discrete
from gspa.book.claims import Outcome, judge, settles
from gspa.book.figures import keeps_data, role
from gspa.book.verdicts import Reading, Said, exactly, reading, shown, unknown
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


# --- tables: around the theorem ------------------------------------------------------------------------------


def seen_budgets(*, ratio: int, small: int, n: int) -> pd.DataFrame:
    """Figure 1's words: binary randomized response by user, the victim at e^eps = ratio, all others at small.

    Columns: budgets (withheld, shuffled separately, each with its report); delta at eps = 0; pair, the printed one's;
    excess, the largest over all eps >= 0. Exact.
    """
    ratios = (Fraction(small),) * (n - 1) + (Fraction(ratio),)
    users = [s.subset_selection(2, 1, p) for p in ratios]
    pair = s.count_pair(ratios[-1], clones=[s.printed_clones(p) for p in ratios[:-1]])
    # A budget travels with its report: outcome (which budget, report).
    kinds = sorted(set(ratios))
    tagged = [s.signed(rows, kinds.index(p), len(kinds)) for rows, p in zip(users, ratios, strict=True)]
    plain = s.two_laws(users, others=(0,) * (n - 1), attached="user")
    # An order of their own tells nothing of the reports': the product of both laws.
    orders = Counter(tuple(ratios[i] for i in order) for order in permutations(range(n)))
    shares = {order: Fraction(times, factorial(n)) for order, times in orders.items()}
    apart: s.Laws = {
        (z, order): (p * share, q * share) for z, (p, q) in plain.items() for order, share in shares.items()
    }
    laws: dict[str, s.Laws] = {
        "withheld": plain,
        "shuffled separately": apart,
        "each with its report": s.two_laws(tagged, others=(0,) * (n - 1), attached="user"),
    }
    one = Fraction(1)
    rows = [
        (name, s.delta_at(law, one), s.delta_at(pair, one), s.largest_excess(law, pair).amount)
        for name, law in laws.items()
    ]
    return pd.DataFrame(rows, columns=["budgets", "delta", "pair", "excess"])


def samples(*, ratio: int, small: int, n: int, delta: Fraction) -> pd.DataFrame:
    """The proof's samples 0, 1, 2, for equal and own budgets, by whose e^eps belongs to what; exact.

    Columns: reading; budgets; order, the largest excess of the vector of samples over the counts of 0s and 1s; and the
    distance of the law of K for one b from the other's: alone, given (the samples, at the worst), pure (given them,
    with delta = 0).
    """
    rows = []
    for others in dict.fromkeys((ratio, small)):
        ratios = (Fraction(others),) * (n - 1) + (Fraction(ratio),)
        for attached in s.ATTACHED:
            law, pure = sampled(ratios, delta, attached), sampled(ratios, s.NONE, attached)
            vector, counts = (_summed(law, key) for key in (lambda y, _: y, lambda y, _: (y.count(0), y.count(1))))
            silent = _summed(law, lambda _, users: users)
            rows.append(
                {
                    "reading": attached,
                    "budgets": ", ".join(map(str, ratios)),
                    "order": s.largest_excess(vector, counts).amount,
                    "alone": sum((abs(p - q) for p, q in silent.values()), start=s.NONE) / 2,
                    "given": _apart(law),
                    "pure": _apart(pure),
                }
            )
    return pd.DataFrame(rows)


Samples = Mapping[tuple[s.History, frozenset[int]], Sequence[Fraction]]


def _summed(law: Samples, key: Callable[[s.History, frozenset[int]], Hashable]) -> s.Laws:
    found: dict[Hashable, tuple[Fraction, Fraction]] = {}
    for (y, users), (p, q) in law.items():
        first, second = found.get(key(y, users), (s.NONE, s.NONE))
        found[key(y, users)] = (first + p, second + q)
    return found


def _apart(law: Samples) -> Fraction:
    """The largest distance, over the samples that both b can give, of the laws of K given them."""
    vector, found = _summed(law, lambda y, _: y), dict[s.History, Fraction]()
    for (y, _), (p, q) in law.items():
        first, second = vector[y]
        if first and second:
            found[y] = found.get(y, s.NONE) + abs(p / first - q / second) / 2
    return max(found.values(), default=s.NONE)


def sampled(
    ratios: Sequence[Fraction], delta: Fraction, attached: str
) -> dict[tuple[s.History, frozenset[int]], list[Fraction]]:
    """The joint law of the proof's shuffled samples and of K, the users who drew a 2, for b = 0 and b = 1.

    By user: user i draws with its own e^eps and the samples are permuted. By position: whoever comes t-th draws with
    that of step t. The last user is the one whose datum differs, and draws a 2 with probability delta.
    """
    n = len(ratios)
    law: dict[tuple[s.History, frozenset[int]], list[Fraction]] = {}
    for order in permutations(range(n)):
        for y in product(range(3), repeat=n):
            for b in (0, 1):
                mass = Fraction(1, factorial(n))
                for step, user in enumerate(order):
                    p = ratios[user if attached == "user" else step]
                    low = s.printed_clones(p, delta)
                    if user == n - 1:
                        mass *= delta if y[step] == 2 else (p if y[step] == b else 1) * low
                    else:
                        mass *= 1 - 2 * low if y[step] == 2 else low
                silent = frozenset(user for user, drawn in zip(order, y, strict=True) if drawn == 2)
                law.setdefault((y, silent), [s.NONE, s.NONE])[b] += mass
    return law


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
    rows = len(tables) // 2 + 1  # the last place is for the legend
    figure, axes = plt.subplots(rows, 2, figsize=(7, 3.6 * rows), sharex=True, sharey=True, layout="constrained")
    roles = {"shuffled": "truth", "printed pair": "paper", "corrected pair": "certified"}
    for axis, (title, table) in zip(axes.flat, tables.items(), strict=False):
        for name, line in table.groupby("curve", sort=False):
            # The reports widest and first, so that a line on top of them leaves them visible.
            width = {"shuffled": 6, "printed pair": 3}.get(str(name), 1.5)
            axis.plot(line["alpha"], line["beta"], label=name, **role(roles[str(name)]) | {"lw": width})
        axis.set(
            title=title, xlabel=r"type I error $\alpha$", ylabel=r"type II error $\beta$", xlim=(0, 1), ylim=(0, 1)
        )
        axis.set_box_aspect(1)
        axis.tick_params(labelbottom=True, labelleft=True)
    for axis in axes.flat[len(tables) :]:
        axis.axis("off")
    axes.flat[len(tables)].legend(*axes.flat[0].get_legend_handles_labels(), loc="center")
    return figure


@keeps_data
def cases_against_pairs(table: pd.DataFrame) -> Figure:
    """`table`: delta of each process, of the printed and of the corrected pair; broken ones in the paper's colour."""
    figure, axis = plt.subplots(figsize=(7, 1.4 + 0.36 * len(table)), layout="constrained")
    places = np.arange(len(table))
    for column, name, marker, size, label in (
        ("corrected", "certified", "D", 120, "corrected pair"),
        ("pair", "paper", "s", 60, "printed pair"),
        ("shuffled", "truth", "o", 20, "reports"),
    ):
        values = table[column].astype(float)
        axis.scatter(values, places, s=size, marker=marker, color=role(name)["color"], label=label, zorder=3)
    axis.set_yticks(places, [f"{row.reports}, by {row.attached}: {row.budgets}" for row in table.itertuples()])
    for words, excess in zip(axis.get_yticklabels(), table["excess"], strict=True):
        words.set_color(str(role("paper" if excess > 0 else "truth")["color"]))
    axis.set(xlabel=r"$\delta$", xlim=(-0.02, None))
    axis.invert_yaxis()
    figure.legend(loc="outside lower center", ncols=3)
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
    sound = found["total"] == 1 and found["moved"] == 0 and found["local"] <= 0  # type: ignore[operator]
    apart = f"(total variation {found['own']} here)" if found["own"] else "in general, but here all are equal"
    said: Said = {
        "illustrated": "The process can be executed: its probabilities sum to 1 and do not depend on the order of the "
        f"data. If all randomizers are equal, it is what the algorithms run (distance {found['equal']}). If they are "
        f"not, it is another process {apart}.",
        "not checkable": "What was executed here is not a shuffled local process.",
    }
    return judge("G-D6", evidence, reading("as printed", shown() if sound else unknown(), said))


@settles("G-FIG1")
def figure_1(found: pd.DataFrame) -> Outcome:
    """`found` is from `seen_budgets`."""
    rows = found.set_index("budgets")
    evidence: dict[str, object] = {
        f"budgets {name}: $\\delta$ at $\\epsilon = 0$, printed pair, largest excess": ", ".join(
            str(row[key]) for key in ("delta", "pair", "excess")
        )
        for name, row in rows.iterrows()
    }
    withheld, apart, attached = (rows.loc[name] for name in ("withheld", "shuffled separately", "each with its report"))
    sound = apart["delta"] == withheld["delta"] and apart["excess"] == withheld["excess"]
    needed = (
        f"The plan is needed: with each budget beside its report, $\\delta$ exceeds the pair's by {attached['excess']}."
        if attached["excess"] > 0
        else "With these budgets it is not needed either: the pair also covers budgets that travel with their reports."
    )
    said: Said = {
        "illustrated": "This is a plan, which nothing can refute. Budgets that are shuffled on their own tell no more "
        "than withheld ones. "
        f"{needed} Definition 6 and Algorithms 1 and 2 shuffle no parameters; Algorithm 3 permutes them together "
        "with the data.",
        "not checkable": "This run contradicts itself: budgets in an order of their own tell more than none.",
    }
    return judge("G-FIG1", evidence, reading("as printed", shown() if sound else unknown(), said))


def _by_reading(found: pd.DataFrame, column: str) -> dict[str, object]:
    return {
        f"samples by {row['reading']}, $e^\\epsilon$ {row['budgets']}": str(row[column])
        for row in found.to_dict("records")
    }


@settles("G-S16")
def order_tells_nothing(found: pd.DataFrame) -> Outcome:
    """`found` is from `samples`: the column `order`."""
    worst = {word: max(found.loc[found["reading"] == word, "order"]) for word in s.ATTACHED}
    said: Said = {
        "verified": "No $\\delta(\\epsilon)$ of the vector exceeds that of the counts.",
        "refuted": f"The vector's $\\delta$ exceeds that of the counts by up to {worst['position']}: a 0 at a step "
        "with a large budget says more than one at a step with a small one.",
    }
    readings = [
        reading("the samples are permuted, as the line before says", exactly(worst["user"] <= 0), said),
        reading("step $t$ has its own $Y_t$, as (23) and Definition 6 use them", exactly(worst["position"] <= 0), said),
    ]
    return judge("G-S16", _by_reading(found, "order"), *readings)


@settles("G-S17")
def silent_users(found: pd.DataFrame) -> Outcome:
    """`found` is from `samples`: distances of the law of K, of one b from the other's."""
    alone, given, pure = (max(found[key]) for key in ("alone", "given", "pure"))
    evidence = {
        f"samples by {row['reading']}, $e^\\epsilon$ {row['budgets']}: distance alone; given the samples; with "
        "$\\delta_n = 0$": f"{row['alone']}; {row['given']}; {row['pure']}"
        for row in found.to_dict("records")
    }
    itself: Said = {
        "verified": "$K$ is independent of $b$, for equal and for unequal budgets.",
        "refuted": f"Its law for one $b$ is {alone} in total variation from that for the other.",
    }
    used: Said = {
        "verified": "Given the samples, $K$ is independent of $b$, for equal and for unequal budgets.",
        "holds with correction": "Given the samples, $K$ is independent of $b$ only with $\\delta_n = 0$. With "
        f"$\\delta_n > 0$ the laws are up to {given} apart: given more 0s than 1s, the first user is likelier to be "
        "among the 2s under one $b$ than under the other.",
        "refuted": f"Its law for one $b$ is {pure} in total variation from that for the other, even with "
        "$\\delta_n = 0$.",
    }
    correction = (
        r"with $\delta_n > 0$ it has to be revealed whether the first user sampled 2, as in Theorem 1, corrected."
    )
    return judge(
        "G-S17",
        evidence,
        reading("$K$ by itself, as the sentence says and argues", exactly(alone == 0), itself),
        reading(
            "$K$ given the samples, as the proof goes on to use it",
            exactly(given == 0, near=pure == 0),
            used,
            correction=correction,
        ),
    )


@settles("G-T1")
def theorem_1(table: pd.DataFrame, slips: pd.DataFrame, ratio: int) -> Outcome:
    """Every small process against the printed pair and the corrected one; `slips` are those of the proof."""
    printed_sum = 2 * s.printed_clones(Fraction(ratio))
    worst = max(table["corrected_excess"])
    evidence: dict[str, object] = {
        f"$V$ as the AAAI text prints it, probabilities of one term at $e^\\epsilon = {ratio}$, sum": str(printed_sum),
        "processes enumerated": len(table),
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
    readings = [
        _reduction(name, table[table["attached"] == word], printed_sum, _PAIRS[word])
        for word, name in _NAMES.items()
        if word in set(table["attached"])
    ]
    return judge("G-T1", evidence, *readings)


def _reduction(name: str, rows: pd.DataFrame, printed_sum: Fraction, correction: str) -> Reading:
    """Theorem 1 for the processes of one reading."""
    over, worst, total = rows[rows["excess"] > 0], max(rows["corrected_excess"]), len(rows)
    where = "No process leaks more than the printed pair."
    if len(over):
        most = max(over.to_dict("records"), key=lambda row: float(row["excess"]))
        where = (
            f"{len(over)} of {total} processes {'leaks' if len(over) == 1 else 'leak'} more than the printed pair. The "
            f"worst is {most['reports']} (budgets by {most['attached']}, $e^\\epsilon$ = {most['budgets']}): at "
            f"$e^\\epsilon$ = {short(most['at'])} its $\\delta$ is {short(most['shuffled'])}, and the pair allows "
            f"{short(most['pair'])}."
        )
    failed = f"{where} One exceeds the corrected pair too." if worst > 0 else f"{where} None obeys the theorem."
    said: Said = {
        "verified": f"None of {total} processes exceeds the pair.",
        "holds with correction": f"{where} As the AAAI text prints it, $V$ is not a distribution: its probabilities "
        f"sum to {printed_sum}.",
        "refuted": failed,
    }
    holds = over.empty and printed_sum == 1 and worst <= 0
    verdict = exactly(bool(holds), near=bool(worst <= 0 and len(over) < total))
    return reading(name, verdict, said, correction=correction)


_NAMES = {
    "user": "users keep their randomizers, reports are shuffled (Algorithms 1 to 3)",
    "position": "steps keep their randomizers, data are shuffled (Definition 6)",
}
_PAIRS = {
    "user": r"Let $\epsilon_n > 0$. For each pair of inputs of the victim let $r_j$ be the largest number for which "
    r"$R_j(x) \geq r_j (Q^0 + Q^1)$ for all $x$, with $Q^0, Q^1$ the victim's parts in (9), corrected, at that pair. "
    r"Reports of users who keep their randomizers are a post-processing of the pair with "
    r"$V = \sum_j \mathrm{MultiBern}(r_j, r_j, 1 - 2 r_j)$ and $\Delta_2$ split into two outcomes that tell the "
    r"datasets apart. $(1-\delta_j)/(1+e^{\epsilon_j})$ is such an $r_j$ for binary randomized response.",
    "position": r"With $\delta_i = 0$ and $\max_i \epsilon_i > 0$: the same for each pair of inputs, if every step is "
    r"taken at the largest $\epsilon_i$ and with the least $r$ of all steps and histories.",
}

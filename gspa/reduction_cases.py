"""Theorem 1 case by case: shuffled processes small enough to enumerate, beside the printed pair and a corrected one.

The corrected pair is that of aligned clones. User-attached: user j counts as a clone with the largest r_j for
which R_j(x) >= r_j (Q0 + Q1), the victim's parts, at every input and after every history. Position-attached: every
step is taken at the largest budget, and the least such r of all steps serves for all, because whoever is not the
victim may stand anywhere. The victim's delta_n tells the two datasets apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pandas as pd

from gspa import _validate as check
from gspa import discrete
from gspa import reduction as r
from gspa.errors import InvalidValue

_LONGEST = 30  # characters of a fraction that still fits into a table's cell


@dataclass(frozen=True)
class Case:
    """A shuffled process; the last user is the victim.

    Attributes:
        key: short name, unique in a table.
        label: what the users send, for a table.
        attached: "position" or "user".
        ratios: e^eps of each step or user.
        randomizers: as for `gspa.reduction.shuffled_law`.
        items: number of possible inputs.
        outcomes: number of possible reports, for the histories of an adaptive process.
        delta: local delta of everybody.
    """

    key: str
    label: str
    attached: str
    ratios: tuple[Fraction, ...]
    randomizers: Sequence[r.Rows] | r.Chosen
    items: int = 2
    outcomes: int = 2
    delta: Fraction = Fraction(0)

    @property
    def n(self) -> int:
        return len(self.ratios)

    @property
    def budgets(self) -> str:
        """e^eps of each step or user, the victim's last."""
        return ", ".join(str(ratio) for ratio in self.ratios)

    def rows(self, index: int, history: r.History) -> r.Rows:
        """The randomizer of that step or user after those reports."""
        return self.randomizers(index, history) if callable(self.randomizers) else self.randomizers[index]

    def histories(self, index: int) -> Iterator[r.History]:
        """The reports after which step or user `index` may have its turn."""
        if not callable(self.randomizers):
            yield ()
            return
        lengths = [index] if self.attached == "position" else range(self.n)
        for length in lengths:
            yield from product(range(self.outcomes), repeat=length)

    def shuffled(self, others: Sequence[int]) -> r.Laws:
        """The outputs at these inputs of the other users, the victim holding 0 or 1."""
        return r.two_laws(self.randomizers, others=others, attached=self.attached)

    def printed_pair(self) -> r.Laws:
        """(rho_0, rho_1) of Theorem 1, with 1 - 2 r_i as the third probability of V."""
        clones = [r.printed_clones(ratio, self.delta) for ratio in self.ratios[:-1]]
        return r.count_pair(self.ratios[-1], clones=clones, delta=self.delta, shared=True)

    def aligned(self) -> tuple[Fraction, list[Fraction]]:
        """e^eps of the victim and the clone probabilities of the corrected pair."""
        if self.attached == "user":
            ratio, own = self.ratios[-1], self.n - 1
            clones = [
                min(
                    r.aligned_clone_probability(
                        r.parts(self.rows(own, history), ratio, delta=self.delta), self.rows(j, history)
                    )
                    for history in self.histories(j)
                )
                for j in range(own)
            ]
            return ratio, clones
        ratio = max(self.ratios)
        least = min(
            r.aligned_clone_probability(
                r.parts(self.rows(step, history), ratio, delta=self.delta), self.rows(step, history)
            )
            for step in range(self.n)
            for history in self.histories(step)
        )
        return ratio, [least] * (self.n - 1)

    def corrected_pair(self) -> r.Laws:
        """The pair of aligned clones, with delta_n where it tells the datasets apart."""
        ratio, clones = self.aligned()
        return r.count_pair(ratio, clones=clones, delta=self.delta)

    def worst(self, pair: r.Laws) -> tuple[r.Excess, tuple[int, ...]]:
        """The largest excess over a pair, over all inputs of the others, and those inputs."""
        # Attached to the position, it does not matter who of the others holds what.
        several = combinations_with_replacement(range(self.items), self.n - 1)
        choices = several if self.attached == "position" else product(range(self.items), repeat=self.n - 1)
        found = [(r.largest_excess(self.shuffled(others), pair), others) for others in choices]
        return max(found, key=lambda pairing: pairing[0].amount)


def cases(*, ratio: int = 4, small: int = 1, delta: Fraction = Fraction(1, 10), n: int = 3) -> tuple[Case, ...]:
    """The processes that the page enumerates.

    Args:
        ratio: e^eps of the larger budget, a whole number >= 2.
        small: e^eps of the smaller budget, a whole number in [1, ratio]; 1 is eps = 0, a report that says nothing.
        delta: local delta of the one case that has one, in (0, 1).
        n: number of users, 2 to 4; one case has always 3, and one is a single user.

    Raises:
        InvalidValue: an argument outside its range.
    """
    big, low = Fraction(check.count(2, ratio=ratio)), Fraction(check.count(small=small))
    if low > big:
        raise InvalidValue("small", small, f"at most ratio = {ratio}")
    if not isinstance(delta, Fraction) or not 0 < delta < 1:
        raise InvalidValue("delta", delta, "a fraction in (0, 1)")
    n = check.count(2, n=n)
    if n > 4:
        raise InvalidValue("n", n, "at most 4", "the inputs of all others are tried, in all orders")
    equal, own, last_low = (big,) * n, (low,) * (n - 1) + (big,), (big,) * (n - 1) + (low,)
    high_twice = (low, big, big)  # whatever n: with four users at these budgets the pair holds again

    def asked(ratios: tuple[Fraction, ...]) -> r.Chosen:
        # The question depends on the last report: about item 0 at first and after a yes, about item 2 after a no.
        return lambda index, history: r.question(2 if history and history[-1] == 1 else 0, ratios[index])

    def rr(ratios: tuple[Fraction, ...]) -> list[r.Rows]:
        return [r.subset_selection(2, 1, p) for p in ratios]

    def ternary(size: int, ratios: tuple[Fraction, ...]) -> list[r.Rows]:
        return [r.subset_selection(3, size, p) for p in ratios]

    def named(ratios: tuple[Fraction, ...]) -> list[r.Rows]:
        return [r.signed(rows, user, n) for user, rows in enumerate(rr(ratios))]

    def truthful(users: int) -> list[r.Rows]:
        return [r.truth_with(delta, big)] * users

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
        Case("signed", "binary RR, signed by its sender", "user", equal, named(equal), 2, 2 * n),
        Case("truth-alone", "truth with probability delta", "user", (big,), truthful(1), 2, 4, delta),
        Case("truth", "truth with probability delta", "user", equal, truthful(n), 2, 4, delta),
    )


def table(which: Sequence[Case]) -> pd.DataFrame:
    """Each case against the printed pair and the corrected one, over all inputs of the others and all eps >= 0.

    Cases that differ in their key only, as many do where both budgets are the same, have one row.

    Returns:
        One row a case: `key`, `reports`, `attached`, `budgets` (e^eps, the victim's last), `at` (e^eps of the largest
        excess over the printed pair, 1 if there is none), `shuffled` and `pair` (delta there), `excess`, `bounds`
        (yes where the printed pair is an upper bound), `corrected` (delta of the corrected pair at the same e^eps)
        and `corrected_excess` (the largest over it); all numbers are exact fractions.
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
        shown = r.largest_excess(case.shuffled(others), pair, at=[at])
        rows.append(
            {
                "key": case.key,
                "reports": case.label,
                "attached": case.attached,
                "budgets": case.budgets,
                "at": shown.ratio,
                "shuffled": shown.shuffled,
                "pair": shown.pair,
                "excess": printed.amount,
                "bounds": "yes" if printed.amount <= 0 else "no",
                "corrected": r.delta_at(better, shown.ratio),
                "corrected_excess": case.worst(better)[0].amount,
            }
        )
    return pd.DataFrame(rows)


def short(fraction: Fraction) -> str:
    """A fraction as a page can print it: a long one rounded to six digits, and said to be.

    >>> short(Fraction(4, 27)), short(Fraction(10**20, 3 * 10**20 + 1))
    ('4/27', 'about 0.333333')
    """
    exact = str(fraction)
    return exact if len(exact) <= _LONGEST else f"about {float(fraction):.6g}"


def exceeds(table: pd.DataFrame, keys: Sequence[str]) -> str:
    """What the rows of `table` with these keys do to the printed pair: stay within it, or how many exceed it."""
    rows = table[table["key"].isin(keys)]
    broken = int((rows["excess"] > 0).sum())
    if not len(rows):
        return "has no such process here, as both budgets are equal"
    if not broken:
        return "stays within the pair"
    return "exceeds the pair" if broken == len(rows) else f"exceeds the pair in {broken} of {len(rows)} processes"


def worst_of(table: pd.DataFrame) -> pd.Series:
    """The row of `table` with the largest excess over the printed pair, the first of several."""
    return table.sort_values("excess", key=lambda excess: -excess.astype(float), kind="stable").iloc[0]


def broken_list(table: pd.DataFrame) -> str:
    """Which rows of `table` exceed the printed pair, in words; "none" if none does."""
    rows = [row for _, row in table.iterrows() if row["excess"] > 0]
    said = [f"{row['reports']} (by {row['attached']}, e^eps = {row['budgets']})" for row in rows]
    return "; ".join(said) if said else "none"


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """`table` with the columns and headings of a page."""
    headings = {
        "reports": "reports",
        "attached": "budget attached to",
        "budgets": "e^eps of all",
        "at": "at e^eps",
        "shuffled": "delta, reports",
        "pair": "printed pair",
        "bounds": "is a bound",
        "corrected": "corrected pair",
        "corrected_excess": "largest excess over it",
    }
    shown = table[list(headings)].rename(columns=headings)
    return shown.map(lambda value: short(value) if isinstance(value, Fraction) else value)


def law_table(laws: Mapping[str, Mapping[r.History, Fraction]]) -> pd.DataFrame:
    """Output laws side by side: a row an output vector, a column a reading."""
    outputs = sorted({z for law in laws.values() for z in law})
    columns = {f"attached to the {word}": [law.get(z, Fraction(0)) for z in outputs] for word, law in laws.items()}
    return pd.DataFrame({"output": ["".join(map(str, z)) for z in outputs], **columns})


def proof_slips(*, ratio: int = 4, small: int = 1) -> pd.DataFrame:
    """Three lines of Theorem 1's proof for binary randomized response, as printed and as they must be.

    Args:
        ratio: e^eps of the victim and of one other user, >= 2.
        small: e^eps of another user, >= 1.

    Returns:
        One row a line: `line`, `printed`, `needed`.
    """
    big, low = Fraction(check.count(2, ratio=ratio)), Fraction(check.count(small=small))
    (honest, lie), (_, _) = r.subset_selection(2, 1, big)
    # (23) sends R(x_1^0) for a report 0 and R(x_1^1) for a report 1; what Lemma 1 provides is Q^0 and Q^1.
    twice = honest * honest + lie * lie
    # The AAAI text's p_i = (1-delta_i)/(1+e^eps_i) in (20) and (21) leaves the victim silent half of the time.
    half = (honest - lie) / 2
    in_k = ", ".join(str(1 - 2 * r.printed_clones(p)) for p in (low, big))
    return pd.DataFrame(
        [
            ("(23): probability that a single user's report is the own value", str(twice), str(honest)),
            ("(20), (21) with the AAAI text's p_i: delta at eps = 0 of one user", str(half), str(honest - lie)),
            (f"inclusion in K is identical: its probability at e^eps = {low} and {big}", "equal", in_k),
        ],
        columns=["line", "printed", "needed"],
    )


def hidden_neither(*, ratio: int = 4) -> r.Excess:
    """Two users with 3-ary randomized response against the pair whose victim may say "neither", not revealed.

    The masses of Wang et al. 2024: p a, a and 1 - (1+p) a with a = 1/(p+2) and clones with r = a. An excess
    above 0 says that "neither" has to be revealed; it is no statement of Theorem 1.

    >>> str(hidden_neither(ratio=3).amount)
    '1/25'
    """
    p = Fraction(check.count(2, ratio=ratio))
    a = 1 / (p + 2)
    pair = r.count_pair(p, clones=[a], neither=1 - (1 + p) * a)
    rows = [r.subset_selection(3, 1, p)] * 2
    found = [r.largest_excess(r.two_laws(rows, others=(x,), attached="user"), pair) for x in range(3)]
    return max(found, key=lambda excess: excess.amount)


def trade_off(case: Case) -> pd.DataFrame:
    """Trade-off functions of the shuffled reports, at the others' worst inputs, and of both pairs.

    Returns:
        One row a corner: `curve` ("shuffled", "printed pair", "corrected pair"), `alpha`, `beta`.
    """
    printed = case.printed_pair()
    _, others = case.worst(printed)
    laws = {"shuffled": case.shuffled(others), "printed pair": printed, "corrected pair": case.corrected_pair()}
    corners = []
    for name, law in laws.items():
        first, second = ([float(both[i]) for both in law.values()] for i in (0, 1))
        curve = discrete.neyman_pearson(first, second)
        corners.append(pd.DataFrame({"curve": name, "alpha": curve.alpha, "beta": curve.beta}))
    return pd.concat(corners, ignore_index=True)

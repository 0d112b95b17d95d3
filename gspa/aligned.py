"""The corrected theorem: the others' reports must be copies of the victim's, not of each user's own.

Let R_n be eps_n-LDP and R_j(x) >= r_j (R_n(x0) + R_n(x1)), report by report, for every input x of user j. Then
what shuffling reveals of x_n in {x0, x1} is at most what the pair of Theorem 1 reveals with these r_j:

    C = sum_j Bernoulli(2 r_j),  A | C ~ Bin(C, 1/2),  and one more of either kind by the victim.

Proof. With p = e^{eps_n} put Q0 = (p R_n(x0) - R_n(x1))/(p - 1), Q1 = (p R_n(x1) - R_n(x0))/(p - 1): two laws, as R_n
is eps_n-LDP. R_n(x0) = (p Q0 + Q1)/(p + 1), R_n(x1) = (Q0 + p Q1)/(p + 1), Q0 + Q1 = R_n(x0) + R_n(x1). So user j sends
a draw from Q0 or from Q1 with probability r_j each, else something that is told to the adversary with its
sender: it does not depend on x_n. The rest is a shuffled multiset of draws from Q0 and Q1, which can be made
from the two numbers of such draws alone.

The largest r_j is the least ratio R_j(x)(y)/(R_n(x0)(y) + R_n(x1)(y)). The paper's 1/(1 + e^{eps_j}) is that for binary
randomized response, whoever the victim is; for k-ary response it is not too large if eps_j >= eps_n.

>>> krr_clones(2.0, others=0.01, k=10) < 1 / (1 + math.exp(0.01)) < 2 * krr_clones(2.0, others=0.01, k=2)
True
>>> round(laplace_clones(2.0, others=0.01) * (1 + math.exp(0.01)), 4)  # of the paper's, what is left
0.0088
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gspa import _validate as check
from gspa import accountant, blanket, budgets, reduction
from gspa.asymptotic import cell_masses, setting
from gspa.pair import Victim

Array = NDArray[np.float64]


def krr_clones(victim: float, *, others: float, k: int) -> float:
    """The largest r_j for k-ary randomized response: (p_n + k - 1)/((p_j + k - 1)(p_n + 1)), p = e^eps.

    R_j(x) >= 1/(p_j + k - 1) everywhere; R_n(x0) + R_n(x1) is (p_n + 1)/(p_n + k - 1) at x0 and x1, and less elsewhere.
    Not below 1/(1 + p_j) if and only if k = 2 or p_j >= p_n.

    Args:
        victim: eps_n > 0.
        others: eps_j >= 0.
        k: number of values, >= 2.
    """
    p = math.exp(check.in_range(0, 700, victim=check.positive(victim=victim)))
    q = math.exp(check.in_range(0, 700, others=others))
    k = check.count(2, k=k)
    return (p + k - 1) / ((q + k - 1) * (p + 1))


def laplace_clones(victim: float, *, others: float) -> float:
    """The largest r_j for Laplace reports of scales 1/eps, the victim's inputs 0 and 1; 0 if eps_j > eps_n.

    (eps_j/eps_n) e^{-eps_j}/(1 + e^{-eps_n}), the ratio at y = 1: it falls on [1/2, 1], and grows beyond 1, as
    e^{(eps_n - eps_j) y}, unless eps_j > eps_n, when the tails of user j are too thin. Not below 1/(1 + e^{eps_j})
    if and only if eps_j = eps_n.

    Args:
        victim: eps_n > 0.
        others: eps_j >= 0.
    """
    victim, others = check.positive(victim=victim), check.nonnegative(others=others)
    return 0.0 if others > victim else others / victim * math.exp(-others) / (1 + math.exp(-victim))


def common_clones(eps: float) -> float:
    """r_j = e^{-eps}/2 for any one randomizer common to all: R(x) >= max(R(x0), R(x1))/p >= (R(x0) + R(x1))/(2p).

    This is the C ~ Bin(n - 1, e^{-eps}) of Feldman, McMillan and Talwar 2021 (arXiv:2012.12803).
    """
    return 0.5 * math.exp(-check.nonnegative(eps=eps))


def clone_table(settings: Sequence[tuple[float, float]], *, k: int = 10) -> pd.DataFrame:
    """Printed and largest clone probabilities.

    Args:
        settings: pairs (eps of the victim, eps_j of another user).
        k: number of values of the k-ary response.

    Returns:
        One row a pair: `victim`, `other`, `printed` (1/(1 + e^{eps_j})), and the largest for each family: `binary`,
        k-ary, `Laplace` (inputs 0 and 1).
    """
    k = check.count(2, k=k)
    rows = [
        {
            "victim": victim,
            "other": other,
            "printed": 1 / (1 + math.exp(check.in_range(0, 700, other=other))),
            "binary": krr_clones(victim, others=other, k=2),
            f"{k}-ary": krr_clones(victim, others=other, k=k),
            "Laplace": laplace_clones(victim, others=other),
        }
        for victim, other in settings
    ]
    return pd.DataFrame(rows)


def laplace_epsilon(*, victim: float, others: float, n: int, delta: float) -> float:
    """Upper bound on eps by aligned clones for one Laplace user among n - 1, the victim's inputs 0 and 1."""
    r = laplace_clones(victim, others=others)
    count = np.array([check.count(2, n=n) - 1.0])
    problem = accountant.Problem(Victim.binary(victim), 0.0, np.array([2 * r]), np.array([1 - 2 * r]), count)
    return accountant.epsilon_of(check.probability(allow_zero=False, delta=delta), problem).upper


@dataclass(frozen=True)
class Case:
    """Users of one family with own ratios e^eps; the last one is the victim, at the inputs 0 and 1.

    Attributes:
        name: for tables.
        randomizers: each user's rows.
        ratios: each user's e^eps.
        mechanism: arguments of `gspa.accountant` for this family; empty if it refuses.
    """

    name: str
    randomizers: tuple[reduction.Rows, ...]
    ratios: tuple[Fraction, ...]
    mechanism: tuple[tuple[str, object], ...] = ()


def _selection(k: int, size: int, ratios: Sequence[Fraction | int]) -> Case:
    exact = reduction.ratios_of(ratios)
    name = f"subset selection, {size} of {k}"
    mechanism: tuple[tuple[str, object], ...] = (("mechanism", "subset"), ("k", k), ("size", size))
    if size == 1:
        name = "binary response" if k == 2 else f"{k}-ary response"
        mechanism = (("mechanism", "rr"),) if k == 2 else (("mechanism", "krr"), ("k", k))
    return Case(name, tuple(reduction.subset_selection(k, size, ratio) for ratio in exact), exact, mechanism)


def one_of_many(k: int, ratio: Fraction, n: int) -> Case:
    """k-ary response with one budget for all, looked at as any one randomizer of its total variation."""
    case = _selection(check.count(2, k=k), 1, [ratio] * check.count(n=n))
    tv = float((ratio - 1) / (ratio + k - 1))
    return Case(f"{k}-ary response as any of its TV", case.randomizers, case.ratios, (("mechanism", "tv"), ("tv", tv)))


def signed(ratios: Sequence[Fraction | int]) -> Case:
    """Binary response with the sender's number on each report."""
    exact = reduction.ratios_of(ratios)
    n = len(exact)
    rows = tuple(reduction.signed(reduction.subset_selection(2, 1, r), j, n) for j, r in enumerate(exact))
    return Case("binary response, signed", rows, exact)


def cases() -> list[Case]:
    """Small crowds, one user's budget far above or below the others', or all equal."""
    return [
        _selection(2, 1, [1, 2, 3, 8]),
        _selection(2, 1, [8, 5, 3, 2]),
        _selection(3, 1, [3, 3, 3]),
        _selection(3, 1, [4, 3, 2]),
        _selection(3, 1, [1, 1, 4]),
        _selection(3, 1, [1, 3]),
        _selection(3, 2, [3, 3, 3]),
        _selection(4, 2, [1, 4]),
        one_of_many(3, Fraction(3), 3),
        signed([1, 1, 3]),
    ]


def verification(tried: Sequence[Case]) -> pd.DataFrame:
    """The exact shuffled law of each small crowd against three upper bounds, at all inputs of the others, all eps.

    Everything is a fraction; the excess of the shuffled delta over a pair's is largest at a kink of the pair's.

    Returns:
        One row a case: `family`, `ratios` (e^eps of the others; of the victim), `inputs` (how many choices of the
        others' inputs); the largest excess of delta over the pair with the largest aligned r_j, `corrected` (at most
        0 if the theorem holds), over the pair with r_j = 1/(1 + e^{eps_j}), `printed` (above 0 it is no upper
        bound), and over this package's certified delta, `accountant` (NaN where it refuses); and of the largest
        excess over the printed pair `at` (e^eps), `shuffled` and `pair` (the two deltas there, fractions as text).
    """
    return pd.DataFrame([_verified(case) for case in tried])


def _verified(case: Case) -> dict[str, object]:
    *others, mine = case.randomizers
    *theirs, ratio = case.ratios
    own = reduction.parts(mine, ratio)
    aligned = [reduction.aligned_clone_probability(own, rows) for rows in others]
    corrected = reduction.count_pair(ratio, clones=aligned)
    printed = reduction.count_pair(ratio, clones=[reduction.printed_clones(q) for q in theirs])
    # Equal randomizers: the order of the inputs does not matter.
    choices = (
        combinations_with_replacement(range(len(mine)), len(others))
        if len(set(theirs)) == 1 and len(set(others)) == 1
        else product(range(len(mine)), repeat=len(others))
    )
    laws = [reduction.two_laws(case.randomizers, others=places, attached="user") for places in choices]
    best = max((reduction.largest_excess(law, printed) for law in laws), key=lambda found: found.amount)
    return {
        "family": case.name,
        "ratios": ", ".join(map(str, theirs)) + f"; {ratio}",
        "inputs": len(laws),
        "corrected": float(max(reduction.largest_excess(law, corrected).amount for law in laws)),
        "printed": float(best.amount),
        "accountant": _over_accountant(case, laws),
        "at": str(best.ratio),
        "shuffled": str(best.shuffled),
        "pair": str(best.pair),
    }


def _over_accountant(case: Case, laws: Sequence[reduction.Laws]) -> float:
    """Largest excess over the package's certified delta for the victim's crowd, on a grid of e^eps and at all kinks."""
    ratio = case.ratios[-1]
    # The accountant speaks for the worst user, which is the victim where that has the largest budget.
    if not case.mechanism or ratio < max(case.ratios):
        return math.nan
    people = budgets.from_array([math.log(q) for q in case.ratios])
    kinks = {max(a, b) / min(a, b) for law in laws for a, b in law.values() if a and b}
    grid = {1 + (ratio - 1) * Fraction(i, 8) for i in range(8)}
    worst = -math.inf
    for at in sorted(x for x in kinks | grid if x < ratio):
        bound = accountant.central_delta(people, eps=math.log(at), **dict(case.mechanism))  # type: ignore[arg-type]
        worst = max(worst, *(float(reduction.delta_at(law, at)) - bound.upper for law in laws))
    return worst


def cut_delta(laws: Sequence[Array], victim: tuple[Array, Array], *, eps: float) -> float:
    """delta(eps) of up to four shuffled reports on finitely many cells, by enumeration.

    Args:
        laws: cell laws of the others, shape (k,) each.
        victim: the victim's under either input.
        eps: >= 0.
    """
    eps = check.in_range(0, 700, eps=eps)
    shuffled = []
    for mine in victim:
        joint = mine
        for law in laws:
            joint = np.multiply.outer(joint, law)
        orders = list(permutations(range(joint.ndim)))
        shuffled.append(sum(np.transpose(joint, order) for order in orders) / len(orders))
    p, q = shuffled
    return max(float(np.maximum(a - math.exp(eps) * b, 0.0).sum()) for a, b in ((p, q), (q, p)))


def cut_against_blanket(
    settings: Sequence[tuple[str, Sequence[float]]], *, eps: Sequence[float], cells: int = 40
) -> pd.DataFrame:
    """Shuffled Laplace or Gaussian reports cut into cells and enumerated, against the blanket engine.

    Cutting is post-processing, so the enumerated delta is a lower bound on the true one, whatever the number of cells.

    Args:
        settings: (mechanism, one noise scale a user, two or three of them, the victim's first).
        eps: where to compare.
        cells: about how many.

    Returns:
        One row for each setting and eps: `reports`, `scales`, `eps`, `enumerated` (the largest over the others'
        inputs in {0, 1/2, 1}), `certified`, `share` (enumerated over certified, NaN
        where both are 0).
    """
    eps, rows = check.row(eps=eps), []
    for mechanism, scales in check.row(settings=settings):
        where = setting(scales, 1, mechanism, 0, cells)
        mine = (cell_masses(where.victim, 0.0, where.edges), cell_masses(where.victim, 1.0, where.edges))
        places = list(product((0.0, 0.5, 1.0), repeat=len(scales) - 1))
        crowds = [list(where.laws(inputs)) for inputs in places]
        for at in eps:
            found = max(cut_delta(crowd, mine, eps=at) for crowd in crowds)
            bound = blanket.blanket_delta(scales, eps=at, mechanism=mechanism, victim=0).upper
            shown = ", ".join(f"{scale:g}" for scale in scales)
            rows.append((mechanism, shown, at, found, bound, found / bound if bound > 0 else math.nan))
    return pd.DataFrame(rows, columns=["reports", "scales", "eps", "enumerated", "certified", "share"])

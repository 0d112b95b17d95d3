r"""Page 09: personal budgets. Four counterexamples to "any randomizers", and the theorem that holds instead.

The promise is mu-GDP with mu^2 = 2/(sum_i r_i - max_i r_i), r_i = 1/(1 + e^{eps_i}), without Theorem 2's error term, as
the paper uses it. Every attack is a rigorous lower bound on what the server learns, every certified number an upper
bound; what lies between is open. The corrected theorem, proved on the page, takes for user j the least ratio

    r_j = min over x, y of R_j(x)(y) / (R_n(x0)(y) + R_n(x1)(y))

to the victim's two laws: reports must be copies of the victim's, not of each user's own.

>>> found = against_promise([crowd_of(2.0, 0.01, n=10_000)], delta=1e-4).iloc[0]
>>> found["promise"], bool(found["attacked"] > 100 * 1e-4)
('broken', True)
>>> krr_clones(2.0, others=0.01, k=10) < 1 / (1 + math.exp(0.01)) < 2 * krr_clones(2.0, others=0.01, k=2)
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib import pyplot as plt
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from gspa.accountant import asymptotic, attacks, budgets, families
from gspa.accountant import published as bounds
from gspa.accountant.budgets import Budgets
from gspa.accountant.laplace_gaussian import blanket_delta, blanket_epsilon
from gspa.accountant.one_round import Problem, central_delta, central_epsilon, epsilon_of, tilt_for
from gspa.accountant.pair import Victim, divergence
from gspa.accountant.tradeoff import gdp_delta
from gspa.book.claims import Outcome, judge, settles
from gspa.book.figures import ROLES, keeps_data, role
from gspa.book.say import listed
from gspa.book.verdicts import Said, exactly, reading, unknown
from gspa.pages import shuffles

Array = NDArray[np.float64]

_CELLS = 600  # as the attacks have them
_FEW = 64  # distinct budgets up to which every user is tried, with both attacks
_SHARES = (1.0, 0.5)  # else: the users at these quantiles of the budgets


# --- tables: the promise, and two discrete counterexamples ---------------------------------------------------


def judged(attacked: float, certified: float, delta: float) -> str:
    """What is certain of a promise: a delta above the promised one reached, or one not above it not exceeded."""
    if attacked > delta:
        return "broken"
    return "kept" if certified <= delta else "open"


def least_constant(delta: float, *, eps: float, mu: float, n: int) -> float:
    """The C that Theorem 2's error term C/sqrt(n-1) needs, if delta(eps) is at least `delta`.

    (15) with s = C/sqrt(n-1) says T(alpha) >= G_mu(alpha + s) - s, so delta(eps) = sup 1 - T(alpha) - e^eps alpha
    <= delta_mu(eps) + (1 + e^eps) s.
    """
    return max(0.0, math.sqrt(n - 1) * (delta - gdp_delta(eps, mu=mu)) / (1 + math.exp(eps)))


def named_messages(*, eps: float, others: float, sizes: Sequence[int], delta: float) -> pd.DataFrame:
    """Randomized response, each message signed by its sender: eps, the victim's; n; promised (eps at delta); true (eps
    at delta); delta, the true one at the promised eps; constant, the least C of Theorem 2 that would cover it.

    Every user's own report can be read off, so the truth is the local (e^{eps_n} - e^eps)/(1 + e^{eps_n}), exactly.
    """
    alone = budgets.from_array([eps])
    true = central_epsilon(alone, delta=delta).value
    rows = []
    for n in sizes:
        people = budgets.from_array([eps, others], count=[1, n - 1])
        promised, mu = bounds.gspa_epsilon(people, delta=delta), bounds.gspa_mu(people)
        found = central_delta(alone, eps=promised).value
        constant = least_constant(math.tanh(eps / 2), eps=0.0, mu=mu, n=n)
        rows.append((eps, n, promised, true, found, constant))
    return pd.DataFrame(rows, columns=["eps", "n", "promised", "true", "delta", "constant"])


def truth_told(*, eps: float, leak: float, sizes: Sequence[int], delta: float) -> pd.DataFrame:
    """Everybody tells the truth, marked as such, with probability `leak`, and else runs randomized response.

    One randomizer for all, so it is nobody's own and no position's own. It is (eps, leak)-LDP. Where all others hold 0,
    a marked 1 is the victim's: delta is at least `leak` at every eps. Columns: n; promised (eps at delta); reached, a
    delta certainly reached there; constant, the least C of Theorem 2 that would cover it.
    """
    rows = []
    for n in sizes:
        people = budgets.constant(eps, n=n, delta=leak)
        promised, mu = bounds.gspa_epsilon(people, delta=delta), bounds.gspa_mu(people)
        rows.append((n, promised, leak, least_constant(leak, eps=promised, mu=mu, n=n)))
    return pd.DataFrame(rows, columns=["n", "promised", "reached", "constant"])


def truth_in_small(*, n: int, ratio: Fraction, leak: Fraction, at: Fraction) -> pd.DataFrame:
    """`truth_told` for a few users, enumerated in fractions in both readings of "shuffled", others' inputs 0.

    Columns: attached, the randomizers' owner ("position" or "user"); shuffled and pair, delta at e^eps = `at` of the
    reports and of the printed pair (12), (13), as texts; excess, of the first over the second; left, over the pair with
    Lemma 4's two outcomes in place of the shared one.
    """
    rows = shuffles.truth_with(leak, ratio)
    clones = [shuffles.printed_clones(ratio, leak)] * (n - 1)
    pair, repaired = (
        shuffles.delta_at(shuffles.count_pair(ratio, clones=clones, delta=leak, shared=shared), at)
        for shared in (True, False)
    )
    found = []
    for attached in shuffles.ATTACHED:
        laws = shuffles.two_laws([rows] * n, others=(0,) * (n - 1), attached=attached)
        mine = shuffles.delta_at(laws, at)
        found.append((attached, str(mine), str(pair), float(mine - pair), float(mine - repaired)))
    return pd.DataFrame(found, columns=["attached", "shuffled", "pair", "excess", "left"])


def krr_attack(*, local: float, others: float, k: int, n: int, eps: float) -> float:
    """A delta that k-ary randomized response, k >= 3, certainly has at eps after shuffling; errs downward.

    The victim holds the value 0 or 1, all others hold 2, and the server looks at how many zeros and ones there are:
    C ~ Bin(n - 1, 2 q) of the others', each of either kind with probability 1/2, q = 1/(e^others + k - 1).
    """
    victim = families.krr(k).victim(local)
    victim = replace(victim, hidden=victim.neither)  # a report of any third value changes neither count
    coin = 2 * math.exp(-others) / (1 + (k - 1) * math.exp(-others))
    problem = Problem(victim, 0.0, np.ones(1), np.zeros(1), np.array([n - 1.0]), coin)
    return divergence(problem.law(slope=tilt_for(victim, eps)), victim, eps)[0]


def krr_table(
    *, answers: Sequence[int], local: Sequence[float], others: float | None, n: int, delta: float
) -> pd.DataFrame:
    """k-ary response of a victim with each local budget among others (None: with the same one), against the promise.

    Columns: k; eps; n; others; promised (eps at delta); attacked, a delta certainly reached there; certified, one
    certainly not exceeded; times, attacked over delta; promise; pair, certified over the delta of the paper's pair
    (Theorem 1) at the same eps: at most 1 where that pair dominates.
    """
    rows = []
    for k, eps in product(answers, local):
        rest = eps if others is None else others
        people = budgets.from_array([eps, rest], count=[1, n - 1])
        promised = bounds.gspa_epsilon(people, delta=delta)
        attacked = krr_attack(local=eps, others=rest, k=k, n=n, eps=promised)
        certified = central_delta(people, eps=promised, mechanism=families.krr(k)).upper
        pair = central_delta(people, eps=promised).lower
        rows.append(
            {
                "k": k,
                "eps": eps,
                "n": n,
                "others": rest,
                "promised": promised,
                "attacked": attacked,
                "certified": certified,
                "times": attacked / delta,
                "promise": judged(attacked, certified, delta),
                "pair": certified / pair if pair > 0 else math.nan,
            }
        )
    return pd.DataFrame(rows)


# --- tables: Laplace noise -----------------------------------------------------------------------------------


class Crowd(NamedTuple):
    """Users with Laplace reports of values in [0, 1], noise of scale 1/eps_i; `victims` are the groups to try."""

    name: str
    people: Budgets
    victims: tuple[int, ...]


def crowd(name: str, people: Budgets) -> Crowd:
    """Every group as a victim if they are few, else two of them: the largest eps and the median."""
    if people.eps.size <= _FEW:
        return Crowd(name, people, tuple(range(people.eps.size)))
    order = np.argsort(people.eps, kind="stable")
    return Crowd(name, people, tuple(int(order[round(share * (order.size - 1))]) for share in _SHARES))


def crowd_of(eps: float, others: float, *, n: int) -> Crowd:
    """One user with budget eps, the victim, among n - 1 others with one budget."""
    people = budgets.from_array([eps, others], count=[1, n - 1])
    return Crowd(f"one user at {eps:g} among {n - 1:,} at {others:g}", people, (0,))


def papers_crowds(*, n: int, seed: int, drawn: bool) -> list[Crowd]:
    """The populations that the paper itself evaluates: Table 2 (1,000 draws repeated) and Figure 3's groups.

    Those with random budgets, which take the longest, only if `drawn`.
    """
    found = []
    for index, (name, law) in enumerate(budgets.TABLE2.items()):
        first = budgets.draw(name, n=min(n, 1000), rng=np.random.default_rng([seed, index])).grouped()
        if drawn or first.eps.size <= _FEW:
            found.append(crowd(f"{law.title}: {law.label}", budgets.repeat_first(first, n=n)))
    return [*found, crowd("Figure 3: 0.1, 0.5, 1", budgets.preference_groups(n=n))]


def _limit(people: Budgets, victim: int) -> asymptotic.Limit:
    """The Gaussian limit, and in `others` the inputs that the attacks assume of the others."""
    found = asymptotic.asymptotic_mu(1 / people.eps, count=people.count, victim=victim, cells=_CELLS)
    return found._replace(others=np.nan_to_num(found.others))  # NaN: nobody else has that budget


def _attacked(attack: Callable[..., Any], people: Budgets, victim: int, others: Array | None, **at: float) -> float:
    places = _limit(people, victim).others if others is None else others
    statistics = attacks.STATISTICS if people.eps.size <= _FEW else ("linear",)
    run = {"count": people.count, "victim": victim, "others": places, **at}
    return max(float(attack(1 / people.eps, statistic=statistic, **run).lower) for statistic in statistics)


def attacked_delta(people: Budgets, *, victim: int, eps: float, others: Array | None = None) -> float:
    """The better of both explicit attacks on shuffled Laplace reports at eps: a rigorous lower bound on delta.

    `victim` is the index of a group; `others` the others' inputs per group, None for the Gaussian limit's worst ones.
    """
    return _attacked(attacks.attack_delta, people, victim, others, eps=eps)


def attacked_epsilon(people: Budgets, *, victim: int, delta: float, others: Array | None = None) -> float:
    """An eps below which the reports are certainly not (eps, delta)-DP; arguments as `attacked_delta`."""
    return _attacked(attacks.attack_epsilon, people, victim, others, delta=delta)


def against_promise(crowds: Sequence[Crowd], *, delta: float) -> pd.DataFrame:
    """What Theorem 3 promises shuffled Laplace reports, beside what is certain; the largest over the victims tried.

    Columns: crowd; promised (eps); attacked, a delta certainly reached there (of more than 64 budgets, of the first
    victim); times, attacked over delta; and at delta the eps lower (an attack's), limit (Gaussian, an estimate, at most
    alone), upper (certified), alone (of the report without shuffling); promise, as `judged`.
    """
    rows = []
    for name, people, victims in crowds:
        scales, count = 1 / people.eps, people.count
        promised = bounds.gspa_epsilon(people, delta=delta)
        attacked = lower = limit = upper = alone = 0.0
        for position, victim in enumerate(victims):
            estimate = _limit(people, victim)
            limit = max(limit, estimate.epsilon(delta))
            if position == 0 or people.eps.size <= _FEW:  # with many scales an attack takes long
                places = estimate.others
                attacked = max(attacked, attacked_delta(people, victim=victim, eps=promised, others=places))
                lower = max(lower, attacked_epsilon(people, victim=victim, delta=delta, others=places))
            upper = max(upper, blanket_epsilon(scales, count=count, victim=victim, delta=delta).upper)
            alone = max(alone, blanket_epsilon([scales[victim]], delta=delta).upper)
        rows.append(
            {
                "crowd": name,
                "promised": promised,
                "attacked": attacked,
                "times": attacked / delta,
                "lower": lower,
                "limit": min(limit, alone),
                "upper": upper,
                "alone": alone,
                # upper <= promised: at the promised eps, delta is at most the one asked for.
                "promise": judged(attacked, delta if upper <= promised else 1.0, delta),
            }
        )
    return pd.DataFrame(rows)


def silent_crowd(*, eps: float, others: Sequence[float], n: int, delta: float) -> pd.DataFrame:
    """One Laplace victim among users whose budgets tend to 0: by the formula the best clones, in truth none.

    Columns: others, their budget; promised (eps at delta); lower and upper, between which the true eps is; delta,
    certainly reached at the promised eps; constant, a C of Theorem 2 below which it is not covered.
    """
    rows = []
    for other in others:
        people = crowd_of(eps, other, n=n).people
        promised, mu = bounds.gspa_epsilon(people, delta=delta), bounds.gspa_mu(people)
        places = _limit(people, 0).others
        reached = {at: attacked_delta(people, victim=0, eps=at, others=places) for at in (0.0, promised)}
        rows.append(
            {
                "others": other,
                "promised": promised,
                "lower": attacked_epsilon(people, victim=0, delta=delta, others=places),
                "upper": blanket_epsilon(1 / people.eps, count=people.count, victim=0, delta=delta).upper,
                "delta": reached[promised],
                "constant": max(least_constant(found, eps=at, mu=mu, n=n) for at, found in reached.items()),
            }
        )
    return pd.DataFrame(rows)


def broken_curve(one: Crowd, *, eps_max: float, points: int) -> pd.DataFrame:
    """delta(eps) of a crowd's first victim: eps; promised; attack (lower); limit (estimate); certified.

    The points lie closer near 0, where the promise falls fast.
    """
    people, victim = one.people, one.victims[0]
    mu, limit, rows = bounds.gspa_mu(people), _limit(people, victim), []
    for eps in (eps_max * np.linspace(0.0, 1.0, points) ** 2).tolist():
        attack = attacked_delta(people, victim=victim, eps=eps, others=limit.others)
        certified = blanket_delta(1 / people.eps, count=people.count, victim=victim, eps=eps).upper
        rows.append((eps, gdp_delta(eps, mu=mu), attack, limit.delta(eps), certified))
    return pd.DataFrame(rows, columns=["eps", "promised", "attack", "limit", "certified"])


def promise_map(*, low: float, high: float, points: int, n: int, delta: float) -> pd.DataFrame:
    """Whether the promise holds for one Laplace user with one budget among n - 1 with another, both from low to high.

    Columns: victim; others; promised (eps); attacked (delta reached there); times (attacked over delta); promise.
    Where the promise is broken nothing more is computed.
    """
    grid, rows = np.geomspace(low, high, points).tolist(), []
    for others, eps in product(grid, grid):
        people = crowd_of(eps, others, n=n).people
        promised = bounds.gspa_epsilon(people, delta=delta)
        attacked, upper = 0.0, eps  # the report alone guarantees eps
        if promised < eps:
            attacked = attacked_delta(people, victim=0, eps=promised)
            if attacked <= delta:
                upper = blanket_epsilon(1 / people.eps, count=people.count, victim=0, delta=delta).upper
        promise = judged(attacked, delta if upper <= promised else 1.0, delta)
        rows.append((eps, others, promised, attacked, attacked / delta, promise))
    return pd.DataFrame(rows, columns=["victim", "others", "promised", "attacked", "times", "promise"])


def estimates(settings: Sequence[tuple[str, str, Sequence[float], Sequence[int], float]]) -> pd.DataFrame:
    """The fixed-composition Gaussian limit beside an attack and a certified bound: how far an estimate can be trusted.

    A setting is a name, mechanism, noise scales on [0, 1], how many users have each, and delta. Columns: setting;
    delta; limit (estimate); attack (lower bound); certified; off, the least factor by which the limit is wrong.
    """
    rows = []
    for name, mechanism, scales, count, delta in settings:
        limit = asymptotic.asymptotic_mu(scales, count=count, mechanism=mechanism, cells=_CELLS).epsilon(delta)
        attack = max(
            attacks.attack_epsilon(scales, count=count, delta=delta, mechanism=mechanism, statistic=statistic).lower
            for statistic in attacks.STATISTICS
        )
        certified = blanket_epsilon(scales, count=count, delta=delta, mechanism=mechanism).upper
        off = max(attack / limit, limit / certified, 1.0) if limit > 0 else math.nan
        rows.append((name, f"{delta:g}", limit, attack, certified, off))
    return pd.DataFrame(rows, columns=["setting", "delta", "limit", "attack", "certified", "off"])


# --- tables: the corrected theorems --------------------------------------------------------------------------


def krr_clones(victim: float, *, others: float, k: int) -> float:
    """The largest r_j for k-ary randomized response: (p_n + k - 1)/((p_j + k - 1)(p_n + 1)), p = e^eps.

    R_j(x) >= 1/(p_j + k - 1) everywhere; R_n(x0) + R_n(x1) is (p_n + 1)/(p_n + k - 1) at x0 and x1, and less elsewhere.
    Not below 1/(1 + p_j) if and only if k = 2 or p_j >= p_n.
    """
    p, q = math.exp(victim), math.exp(others)
    return (p + k - 1) / ((q + k - 1) * (p + 1))


def laplace_clones(victim: float, *, others: float) -> float:
    """The largest r_j for Laplace reports of scales 1/eps, the victim's inputs 0 and 1; 0 if eps_j > eps_n.

    (eps_j/eps_n) e^{-eps_j}/(1 + e^{-eps_n}), the ratio at y = 1: it falls on [1/2, 1], and grows beyond 1, as
    e^{(eps_n - eps_j) y}, unless eps_j > eps_n, when the tails of user j are too thin. Not below 1/(1 + e^{eps_j})
    if and only if eps_j = eps_n.

    >>> round(laplace_clones(2.0, others=0.01) * (1 + math.exp(0.01)), 4)  # of the paper's, what is left
    0.0088
    """
    return 0.0 if others > victim else others / victim * math.exp(-others) / (1 + math.exp(-victim))


def clone_table(settings: Sequence[tuple[float, float]], *, k: int) -> pd.DataFrame:
    """Clone probabilities for budgets of the victim and another user: victim; other; printed, 1/(1 + e^{eps_j}); and
    the largest for the families binary, k-ary and Laplace (inputs 0 and 1)."""
    rows = [
        {
            "victim": victim,
            "other": other,
            "printed": 1 / (1 + math.exp(other)),
            "binary": krr_clones(victim, others=other, k=2),
            f"{k}-ary": krr_clones(victim, others=other, k=k),
            "Laplace": laplace_clones(victim, others=other),
        }
        for victim, other in settings
    ]
    return pd.DataFrame(rows)


def laplace_epsilon(*, victim: float, others: float, n: int, delta: float) -> float:
    """Upper bound on eps by aligned clones for one Laplace user among n - 1, the victim's inputs 0 and 1."""
    r, count = laplace_clones(victim, others=others), np.array([n - 1.0])
    return epsilon_of(delta, Problem(Victim.binary(victim), 0.0, np.array([2 * r]), np.array([1 - 2 * r]), count)).upper


class Case(NamedTuple):
    """Users of one family with own ratios e^eps; the last one is the victim, at the inputs 0 and 1.

    `mechanism` is the family for `gspa.accountant.one_round`; None if it has none.
    """

    name: str
    randomizers: tuple[shuffles.Rows, ...]
    ratios: tuple[Fraction, ...]
    mechanism: families.Family | None


def _selection(k: int, size: int, *ratios: int) -> Case:
    exact = tuple(map(Fraction, ratios))
    name = f"subset selection, {size} of {k}"
    if size == 1:
        name = "binary response" if k == 2 else f"{k}-ary response"
    return Case(
        name, tuple(shuffles.subset_selection(k, size, ratio) for ratio in exact), exact, families.subset(k, size)
    )


def cases() -> list[Case]:
    """Small crowds, one user's budget far above or below the others', or all equal."""
    same, plain = _selection(3, 1, 3, 3, 3), _selection(2, 1, 1, 1, 3)
    signed = tuple(shuffles.signed(rows, user, 3) for user, rows in enumerate(plain.randomizers))
    return [
        _selection(2, 1, 1, 2, 3, 8),
        _selection(2, 1, 8, 5, 3, 2),
        same,
        _selection(3, 1, 4, 3, 2),
        _selection(3, 1, 1, 1, 4),
        _selection(3, 1, 1, 3),
        _selection(3, 2, 3, 3, 3),
        _selection(4, 2, 1, 4),
        same._replace(name="3-ary response as any of its TV", mechanism=families.total_variation(2 / 5)),
        plain._replace(name="binary response, signed", randomizers=signed, mechanism=None),
    ]


def verification(tried: Sequence[Case]) -> pd.DataFrame:
    """The exact shuffled law of each small crowd against three upper bounds, at all inputs of the others, all eps.

    Columns: family; ratios (e^eps of the others; of the victim); inputs, how many choices of the others'; the largest
    excess of delta over the pair with the largest aligned r_j, corrected (at most 0 if the theorem holds), over the
    pair with r_j = 1/(1 + e^{eps_j}), printed (above 0 it is no upper bound), and over this package's certified delta,
    accountant (NaN where it refuses); and of the largest excess over the printed pair at (e^eps), shuffled and pair
    (the two deltas there, fractions as text).
    """
    return pd.DataFrame([_verified(case) for case in tried])


def _verified(case: Case) -> dict[str, object]:
    *others, mine = case.randomizers
    *theirs, ratio = case.ratios
    own = shuffles.parts(mine, ratio)
    aligned = [shuffles.aligned_clone_probability(own, rows) for rows in others]
    corrected = shuffles.count_pair(ratio, clones=aligned)
    printed = shuffles.count_pair(ratio, clones=[shuffles.printed_clones(q) for q in theirs])
    # Equal randomizers: the order of the inputs does not matter.
    choices = (
        combinations_with_replacement(range(len(mine)), len(others))
        if len(set(theirs)) == 1 and len(set(others)) == 1
        else product(range(len(mine)), repeat=len(others))
    )
    laws = [shuffles.two_laws(case.randomizers, others=places, attached="user") for places in choices]
    best = max((shuffles.largest_excess(law, printed) for law in laws), key=lambda found: found.amount)
    return {
        "family": case.name,
        "ratios": ", ".join(map(str, theirs)) + f"; {ratio}",
        "inputs": len(laws),
        "corrected": float(max(shuffles.largest_excess(law, corrected).amount for law in laws)),
        "printed": float(best.amount),
        "accountant": _over_accountant(case, laws),
        "at": str(best.ratio),
        "shuffled": str(best.shuffled),
        "pair": str(best.pair),
    }


def _over_accountant(case: Case, laws: Sequence[shuffles.Laws]) -> float:
    """Largest excess over the package's certified delta for the victim's crowd, on a grid of e^eps and at all kinks."""
    ratio = case.ratios[-1]
    # The accountant speaks for the worst user, which is the victim where that has the largest budget.
    if case.mechanism is None or ratio < max(case.ratios):
        return math.nan
    people = budgets.from_array([math.log(q) for q in case.ratios])
    kinks = {max(a, b) / min(a, b) for law in laws for a, b in law.values() if a and b}
    grid = {1 + (ratio - 1) * Fraction(i, 8) for i in range(8)}
    worst = -math.inf
    for at in sorted(x for x in kinks | grid if x < ratio):
        bound = central_delta(people, eps=math.log(at), mechanism=case.mechanism)
        worst = max(worst, *(float(shuffles.delta_at(law, at)) - bound.upper for law in laws))
    return worst


def cut_delta(laws: Sequence[Array], victim: tuple[Array, Array], *, eps: float) -> float:
    """delta(eps) of up to four shuffled reports on finitely many cells, by enumeration: the others' laws, and the
    victim's under either input."""
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
    settings: Sequence[tuple[str, Sequence[float]]], *, eps: Sequence[float], cells: int
) -> pd.DataFrame:
    """Shuffled Laplace or Gaussian reports cut into about so many cells and enumerated, against the blanket theorem.

    A setting is a mechanism and the noise scales of two or three users, the victim's first. Columns: reports; scales;
    eps; enumerated, the largest over the others' inputs in {0, 1/2, 1}; certified; share, enumerated over certified.
    Cutting is post-processing: the enumerated delta is a lower bound on the true one, whatever the number of cells.
    """
    rows = []
    for mechanism, scales in settings:
        where = asymptotic.setting(scales, 1, mechanism, 0, cells)
        mine = tuple(asymptotic.cell_masses(where.victim, x, where.edges) for x in (0.0, 1.0))
        crowds = [list(where.laws(inputs)) for inputs in product((0.0, 0.5, 1.0), repeat=len(scales) - 1)]
        for at in eps:
            found = max(cut_delta(crowd, (mine[0], mine[1]), eps=at) for crowd in crowds)
            bound = blanket_delta(scales, eps=at, mechanism=mechanism, victim=0).upper
            shown = ", ".join(f"{scale:g}" for scale in scales)
            rows.append((mechanism, shown, at, found, bound, found / bound if bound > 0 else math.nan))
    return pd.DataFrame(rows, columns=["reports", "scales", "eps", "enumerated", "certified", "share"])


# --- figures -------------------------------------------------------------------------------------------------

# column -> what it is, role, width; the first lie under the others
_CURVES = {
    "certified": ("certified (not exceeded)", "certified", 4),
    "limit": ("Gaussian limit (estimate)", "reference", 1.5),
    "attack": ("attack (certainly reached)", "attack", 2),
    "promised": ("promised", "paper", 2.5),
}
_MOST_TIMES = 1e4
_PAPER = (0.01, 2.0)  # budgets of the paper's comparison


@keeps_data
def broken_promise(curve: pd.DataFrame) -> Figure:
    """delta against eps on a logarithmic axis: promised, attacked, estimated, certified."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for key, (label, kind, width) in _CURVES.items():
        seen = curve[curve[key] > 0]
        axis.plot(seen["eps"], seen[key], **role(kind) | {"lw": width}, label=label)
    floor = max(1e-12, float(curve.loc[curve["certified"] > 0, "certified"].min()) / 10)
    axis.set(xlabel=r"central $\epsilon$", ylabel=r"central $\delta$ of the victim", yscale="log", ylim=(floor, 1))
    axis.legend()
    return figure


def _edges(centres: Array) -> Array:
    steps = np.log(centres)
    middle = 0.5 * (steps[1:] + steps[:-1])
    return np.asarray(np.exp(np.r_[2 * steps[0] - middle[0], middle, 2 * steps[-1] - middle[-1]]))


@keeps_data
def map_of_promises(grid: pd.DataFrame) -> Figure:
    """Where the promise is broken, by how much; dots where it is certified to hold, question marks where neither."""
    figure, axis = plt.subplots(figsize=(7, 5.2), layout="constrained")
    times = grid.assign(times=grid["times"].where(grid["promise"] == "broken"))
    shown = times.pivot(index="others", columns="victim", values="times")
    columns, rows = _edges(shown.columns.to_numpy(dtype=float)), _edges(shown.index.to_numpy(dtype=float))
    colours = colormaps["cividis_r"].with_extremes(bad="white")
    drawn = axis.pcolormesh(columns, rows, shown.to_numpy(dtype=float), cmap=colours, norm=LogNorm(1, _MOST_TIMES))
    for word, marker in (("kept", "."), ("open", "$?$")):
        chosen = grid[grid["promise"] == word]
        if len(chosen):
            axis.scatter(
                chosen["victim"],
                chosen["others"],
                marker=marker,
                s=35,
                color=ROLES["certified" if word == "kept" else "truth"][0],
                label=word,
            )
    low, high = _PAPER
    side = high - low
    axis.add_patch(
        Rectangle((low, low), side, side, fill=False, ls="--", lw=1.5, ec=role("paper")["color"], label="paper's range")
    )
    axis.set(xscale="log", yscale="log", xlabel=r"the victim's budget $\epsilon_n$", ylabel="everybody else's budget")
    axis.grid(visible=False)
    figure.colorbar(drawn, ax=axis, extend="max", label=r"broken: attacked $\delta$ over the promised one")
    figure.legend(loc="outside upper center", ncols=3)
    return figure


# --- check ---------------------------------------------------------------------------------------------------


_SIGNED, _TRUTH = "messages signed by their sender", "the truth told now and then"


@settles("G-T2p")
def any_personalized(*tables: Any) -> Outcome:
    """The framework applies to any personalized setting."""
    return _any("G-T2p", *tables)


@settles("G-S86")
def approximately_gaussian(*tables: Any) -> Outcome:
    """The shuffled process is approximately mu-GDP, whatever the randomizers."""
    return _any("G-S86", *tables)


_CLONES = r"$r_j = \inf_{x,y} R_j(x)(y)/(R_n(x_0)(y) + R_n(x_1)(y))$, the least over the victim's inputs $x_0, x_1$"
_ADDED = r"the victim's local $\delta_n$ has two outcomes and is added."
_CORRECTED = {
    "G-T2p": f"for any randomizers, with {_CLONES}, in place of the paper's $r_j$; {_ADDED}",
    "G-S86": f"with {_CLONES}, in $\\mu$ and in the number of clones, "
    rf"$T(\alpha) \geq G_\mu(\alpha + s) - s$ with the slack $s$ of Theorem 2, corrected; {_ADDED}",
}


def _any(
    claim_id: str,
    named: pd.DataFrame,
    krr: pd.DataFrame,
    crowds: pd.DataFrame,
    silent: pd.DataFrame,
    told: pd.DataFrame,
    in_small: pd.DataFrame,
    verified: pd.DataFrame,
    delta: float,
) -> Outcome:
    """Families that may break the promise, with and without its error term, and a corrected one's exact test.

    Of `named` and `told` the last two sizes count, of `krr` the first row, of `silent` the last; of `crowds` the first
    is the main example and the others are further ones.
    """
    first, last, response, laplace, quiet = named.iloc[-2], named.iloc[-1], krr.iloc[0], crowds.iloc[0], silent.iloc[-1]
    fewer, more = told.iloc[-2], told.iloc[-1]
    binary = verified[verified["family"] == "binary response"]
    exceeded, contradicted = verified[verified["corrected"] > 0], verified[verified["printed"] > 0]
    small = {str(row["attached"]): row for row in in_small.to_dict("records")}
    # More than any one constant of Theorem 2 covers: what is needed grows like sqrt(n), a factor 10 here.
    growing, telling = (bool(b["constant"] > 5 * a["constant"] > 0) for a, b in ((first, last), (fewer, more)))
    grows = {
        _SIGNED: bool(last["delta"] > delta) and growing,
        _TRUTH: bool(more["reached"] > delta) and telling and small["user"]["excess"] > 0,
    }
    short = {
        f"{response['k']}-ary response": bool(response["attacked"] > delta),
        "Laplace noise": bool(laplace["attacked"] > delta),
    }
    by_position = bool(more["reached"] > delta) and telling and small["position"]["excess"] > 0
    evidence: dict[str, object] = {
        r"promise read at $\delta$": delta,
        rf"signed messages, {last['n']:,.0f} users at $\epsilon$ = {last['eps']:g}: $\epsilon$ promised, true": [
            float(last["promised"]),
            float(last["true"]),
        ],
        f"constant $C$ of Theorem 2 that would cover it at $n$ = {first['n']:,.0f} and {last['n']:,.0f}": [
            float(first["constant"]),
            float(last["constant"]),
        ],
        f"{response['k']}-ary response, one user at {response['eps']:g} among {response['n'] - 1:,} at "
        rf"{response['others']:g}: $\delta$ at the promised $\epsilon$, at least": float(response["attacked"]),
        rf"Laplace, {laplace['crowd']}: promised $\epsilon$": float(laplace["promised"]),
        r"Laplace: $\delta$ there, at least": float(laplace["attacked"]),
        r"Laplace: true $\epsilon$ at that $\delta$, between": [float(laplace["lower"]), float(laplace["upper"])],
        **{
            rf"Laplace, {name}: $\delta$ at the promised $\epsilon$, at least": float(attacked)
            for name, attacked in zip(crowds["crowd"][1:], crowds["attacked"][1:], strict=True)
        },
        rf"Laplace, the others at {quiet['others']:g}: true $\epsilon$, at least": float(quiet["lower"]),
        f"Laplace, the others at {quiet['others']:g}: $C$ that would cover it, at least": float(quiet["constant"]),
        rf"truth told, {more['n']:,.0f} users: $\epsilon$ promised, $\delta$ there and at every $\epsilon$, at least": [
            float(more["promised"]),
            float(more["reached"]),
        ],
        f"truth told: $C$ that would cover it at $n$ = {fewer['n']:,.0f} and {more['n']:,.0f}, at least": [
            float(fewer["constant"]),
            float(more["constant"]),
        ],
        **{
            rf"truth told, a few users, randomizers by {name}: $\delta$, the pair's": " and ".join(
                (row["shuffled"], row["pair"])
            )
            for name, row in small.items()
        },
        "exact small crowds tried": len(verified),
        r"exact small crowds where $\delta$ exceeds the paper's pair (Theorem 1)": len(contradicted),
        r"exact small crowds where $\delta$ exceeds the corrected pair": len(exceeded),
        "binary response: largest excess over the paper's pair": float(binary["printed"].max())
        if len(binary)
        else "not tried",
    }
    for row in contradicted[contradicted["ratios"] == "1; 3"].head(1).itertuples():
        where = rf"{row.family}, two users, $e^\epsilon$ = 1 and 3, at $e^\epsilon$ = {row.at}"
        evidence[rf"smallest ({where}): $\delta$, the pair's"] = f"{row.shuffled} and {row.pair}"
    repaired = exceeded.empty and small["user"]["left"] <= 0
    covered, broken = ([name for name, is_broken in part.items() if is_broken] for part in (grows, grows | short))
    binary_kept = not binary.empty and bool((binary["printed"] <= 0).all())
    holds = f"The pair with the corrected $r_j$ is exceeded in none of {len(verified)} crowds, enumerated exactly."
    if binary_kept:
        holds += " For binary response this $r_j$ is the paper's own."
    fails = f"The pair with the corrected $r_j$ is exceeded in {len(exceeded)} of {len(verified)} crowds."
    proves_nothing = "None of the families tried breaks it; that does not prove it for every randomizer."
    no_constant = f"No constant $C$ covers {listed(covered)}: what they need grows like the root of $n$."
    with_term: Said = {
        "not checkable": proves_nothing,
        "holds with correction": f"{no_constant} {holds}",
        "refuted": f"{no_constant} {fails}",
    }
    without: Said = {
        "not checkable": proves_nothing,
        "refuted": f"It is broken by {listed(broken)}. Take {laplace['crowd']}, with Laplace noise. The theorem "
        rf"promises $\epsilon$ = {laplace['promised']:.4f} at $\delta$ = {delta:g}, and an attack shows that $\delta$ "
        f"is at least {laplace['attacked']:.4f} there.",
    }
    told_truth = rf"It is broken by {_TRUTH}: $\delta$ is at least {more['reached']:g} at every $\epsilon$ and $n$."
    position: Said = {
        "not checkable": "The family tried does not break it; that does not prove it for every randomizer.",
        "holds with correction": rf"{told_truth} With two outcomes for the local $\delta$ the pair is not exceeded.",
        "refuted": rf"{told_truth} With two outcomes for the local $\delta$ the pair is exceeded, too.",
    }
    correction = _CORRECTED[claim_id]
    return judge(
        claim_id,
        evidence,
        reading(
            "own randomizers, as in Algorithms 1 to 3, with the error term, one $C$ for all $n$ at fixed budgets",
            exactly(False, near=repaired) if covered else unknown(),
            with_term,
            correction=correction,
        ),
        reading(
            "own randomizers, without the error term, as the paper computes its numbers",
            exactly(False) if broken else unknown(),
            without,
        ),
        reading(
            "a randomizer for each position, as in Definition 6, with the error term",
            exactly(False, near=small["position"]["left"] <= 0) if by_position else unknown(),
            position,
            correction=correction,
        ),
    )

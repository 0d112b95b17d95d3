r"""Page 13, the blog "Hide among the clones": eqs. (1) to (3), where each holds and which expands which; then small
crowds, exact, for what the blog says in words.

Every formula is log(1 + u) or u for one number u; with x = eps_L and A = log(4/delta):

    u = 16 tanh(x/2) sqrt(e^x A/n)                  eq. (1)
    u = tanh(x/2) (8 sqrt(e^x A/n) + 8 e^x/n)       its source, Feldman, McMillan and Talwar 2021, Theorem 3.1
    u = 8 sqrt(e^x A/n)                             eqs. (2) and (3), for x much larger than 1
    u = 8 x sqrt(A/n)                               for x much smaller than 1

>>> found = formulas(1e-4, n=10**10, delta=1e-6)
>>> round(found["small"] / found["blog"], 3), round(found["small"] / found["source"], 3)
(1.0, 2.0)
>>> found = formulas(12.0, n=10**14, delta=1e-6)
>>> round(found["large"] / found["blog"], 2), round(found["large"] / found["source"], 2)
(0.5, 1.0)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from gspa.accountant import budgets, exact, one_round
from gspa.accountant.families import common
from gspa.algorithms import shuffles as s
from gspa.algorithms.testing import HadamardResponse
from gspa.book.claims import Outcome, claim, judge, settles, unsettled
from gspa.book.figures import DASHES, PALETTE, ROLES, keeps_data, name_ends, name_line, role
from gspa.book.verdicts import Said, exactly, joined, reading

LINES = {
    "blog": ("paper", "eq. (1)"),
    "source": ("closed form", "its source, Theorem 3.1"),
    "any": ("certified", "certified for any common randomizer"),
    "bits": ("truth", "exact for randomized response"),
}
"""Columns of `regimes`: what they are, by the roles of figures, and what they are called."""
_MUCH = 10.0  # the least that "much larger" can mean
_STEP = 1.05  # of the search for the users that eq. (1) needs
_ONE = Fraction(1)


# --- tables: the formulas ----------------------------------------------------------------------------------


def formulas(eps_local: float, *, n: int, delta: float) -> dict[str, float]:
    """The right-hand sides alone, whatever n: none is a guarantee by itself.

    "blog" eq. (1), "source" Theorem 3.1, "large" eq. (2), "linear" eq. (3), "small" the expansion for small eps_L.
    """
    x, log = eps_local, math.log(4) - math.log(delta)
    root, truth, growth = math.sqrt(math.exp(x) * log / n), math.tanh(x / 2), math.exp(x) / n
    return {
        "blog": math.log1p(16 * truth * root),
        "source": math.log1p(truth * (8 * root + 8 * growth)),
        "large": math.log1p(8 * root),
        "linear": 8 * root,
        "small": 8 * x * math.sqrt(log / n),
    }


def least_users(eps_local: float, *, delta: float) -> int:
    """The least n of Theorem 3.1's condition, n >= 16 e^{eps_L} log(2/delta).

    >>> least_users(1.0, delta=1e-6)
    632
    """
    return math.ceil(16 * math.exp(eps_local) * (math.log(2) - math.log(delta)))


def certified(eps_local: float, *, n: int, delta: float) -> float:
    """The certified central eps of any common randomizer."""
    return one_round.central_epsilon(budgets.constant(eps_local, n=n), delta=delta, mechanism=common()).upper


def of_bits(eps_local: float, *, n: int, delta: float) -> float:
    """The exact central eps of randomized response, rounded down: no bound for all randomizers can be below."""
    return exact.least_epsilon(budgets.constant(eps_local, n=n), delta=delta)


def regimes(local: Sequence[float], sizes: Sequence[int], *, delta: float) -> pd.DataFrame:
    """All formulas beside what is certified, a row for each (eps_L, n).

    Columns: eps_local, n, the formulas, valid (Theorem 3.1's condition), any (certified), bits (exact), loose (blog
    over any; NaN where that is 0).
    """
    rows = []
    for x, n in product(local, sizes):
        row: dict[str, Any] = {"eps_local": x, "n": n, **formulas(x, n=n, delta=delta)}
        row["valid"] = n >= least_users(x, delta=delta)
        row |= {"any": certified(x, n=n, delta=delta), "bits": of_bits(x, n=n, delta=delta)}
        rows.append(row | {"loose": row["blog"] / row["any"] if row["any"] > 0 else math.nan})
    return pd.DataFrame(rows)


def direction(eps_local: float, *, n: int, delta: float) -> pd.DataFrame:
    """Randomized response at eps = a share of eq. (1)'s right-hand side.

    Columns: eps_local, n, delta, share, eps, exact (the least delta there, rounded down), times (that over delta: above
    1 the pair (eps, delta) is no guarantee).
    """
    people, right = budgets.constant(eps_local, n=n), formulas(eps_local, n=n, delta=delta)["blog"]
    table = pd.DataFrame({"eps_local": eps_local, "n": n, "delta": delta, "share": [0.0, 0.1, 1.0]})
    table["eps"] = table["share"] * right
    table["exact"] = [exact.exact_delta(people, eps=eps).lower for eps in table["eps"]]
    return table.assign(times=table["exact"] / delta)


def users_needed(local: Sequence[float], *, delta: float) -> pd.DataFrame:
    """The c below which eq. (1) fails for n = c e^{eps_L} log(1/delta) users with randomized response.

    From Theorem 3.1's n downwards in steps of five percent to the first n at which the exact eps exceeds eq. (1).
    Columns: eps_local, n (0 if eq. (1) holds for every n tried), exact and blog there, constant (c), theorem (c of
    Theorem 3.1's condition).
    """
    rows = []
    for x in local:
        unit, first = math.exp(x) * -math.log(delta), least_users(x, delta=delta)
        found: tuple[int, float, float] = (0, math.nan, math.nan)
        steps = math.floor(math.log(first) / math.log(_STEP))
        for n in dict.fromkeys(math.floor(first / _STEP**i) for i in range(steps + 1)):
            right, people = formulas(x, n=n, delta=delta)["blog"], budgets.constant(x, n=n)
            if right >= x:
                continue  # eps_L itself needs no shuffling
            # The pair of randomized response is above the exact law: where it meets eq. (1), so do the bits.
            if one_round.central_delta(people, eps=right).upper <= delta:
                continue
            if exact.exact_delta(people, eps=right).lower > delta:
                found = (n, of_bits(x, n=n, delta=delta), right)
                break
        rows.append((x, *found, found[0] / unit, first / unit))
    return pd.DataFrame(rows, columns=["eps_local", "n", "exact", "blog", "constant", "theorem"])


def expansions(delta: float) -> pd.DataFrame:
    """Each expansion over eq. (1) and over its source, where the terms that it drops are below one percent.

    "large", eq. (2), has a second row, first, with the least n of Theorem 3.1's condition, where they are not. Columns:
    formula, eps_local, n, delta, u (of eq. (1)), over_blog and over_source, quotients of u for "large", else of eps.
    """
    small, large = 1e-3, 16.0
    start = least_users(large, delta=delta)
    many = 10**8 * start
    cases = [("small", small, 10**10), ("large", large, start), ("large", large, many), ("linear", large, many)]
    rows = []
    for name, x, n in cases:
        found = formulas(x, n=n, delta=delta)
        scale = math.expm1 if name == "large" else float
        blog, source, own = (scale(found[key]) for key in ("blog", "source", name))
        rows.append((name, x, n, delta, math.expm1(found["blog"]), own / blog, own / source))
    return pd.DataFrame(rows, columns=["formula", "eps_local", "n", "delta", "u", "over_blog", "over_source"])


def quotients(local: Sequence[float], *, n: int, delta: float) -> pd.DataFrame:
    """Both expansions over eq. (1), as quotients of u: eps_local, small, large.

    >>> quotients([1e-3, 16.0], n=10**17, delta=1e-6)[["small", "large"]].round(3).to_numpy().tolist()
    [[1.0, 1000.0], [0.003, 0.5]]
    """
    rows = []
    for x in local:
        found = formulas(x, n=n, delta=delta)
        blog = math.expm1(found["blog"])
        rows.append((x, found["small"] / blog, math.expm1(found["large"]) / blog))
    return pd.DataFrame(rows, columns=["eps_local", "small", "large"])


def improvement(eps_local: float, sizes: Sequence[int], *, delta: float) -> pd.DataFrame:
    """n; factor, eps_L over eq. (1); over_root, that over sqrt(n); over_scaled, over sqrt(n)/(8 sqrt(log(4/delta))).

    >>> improvement(1e-3, [10_000], delta=1e-6).round(3).to_string(index=False, header=False).split()
    ['10000', '3.205', '0.032', '1.0']
    """
    table = pd.DataFrame({"n": sizes})
    table["factor"] = [eps_local / formulas(eps_local, n=n, delta=delta)["blog"] for n in sizes]
    table["over_root"] = table["factor"] / np.sqrt(table["n"].astype(float))
    return table.assign(over_scaled=8 * table["over_root"] * math.sqrt(math.log(4) - math.log(delta)))


def malicious(eps_local: float, *, sizes: Sequence[int], share: float, delta: float) -> pd.DataFrame:
    """What a share of malicious users costs the others, a row a size n.

    Columns: n, honest ((1 - share) n), valid (Theorem 3.1's condition holds with the honest), and eps with n and with
    the honest alone: any_all, any_honest (certified), blog_all, blog_honest (eq. (1)).
    """
    rows = []
    for n in sizes:
        honest = math.floor(n * (1 - share) + 1e-9)
        row: dict[str, Any] = {"n": n, "honest": honest, "valid": honest >= least_users(eps_local, delta=delta)}
        for word, users in (("all", n), ("honest", honest)):
            row[f"any_{word}"] = certified(eps_local, n=users, delta=delta)
            row[f"blog_{word}"] = formulas(eps_local, n=users, delta=delta)["blog"]
        rows.append(row)
    return pd.DataFrame(rows)


def pure(eps_local: float, sizes: Sequence[int]) -> pd.DataFrame:
    """delta at 0.99 eps_L, which is above 0 for every n. Columns: n, eps, log10_floor (a lower bound), exact.

    All n reports are 1 with probability w^n if everybody holds 1, w = e^x/(1+e^x), and 1 - w takes the place of one w
    if the victim holds 0: so delta(eps) >= w^n (1 - e^{eps - x}) for eps < x. A double is too coarse for most of them.
    """
    x, below = eps_local, 0.01
    eps = (1 - below) * x
    rows = []
    for n in sizes:
        floor = (n * -np.logaddexp(0, -x) + math.log(-math.expm1(-below * x))) / math.log(10)
        rows.append((n, eps, float(floor), exact.exact_delta(budgets.constant(x, n=n), eps=eps).lower))
    return pd.DataFrame(rows, columns=["n", "eps", "log10_floor", "exact"])


# --- tables: small crowds ----------------------------------------------------------------------------------


def worst(randomizers: Sequence[s.Rows], ratio: Fraction) -> Fraction:
    """delta(log ratio) of the last user, the largest over the inputs of the others and the victim's two inputs."""
    every = product(*(range(len(rows)) for rows in randomizers[:-1]))
    # Who of the users with one randomizer holds what does not matter.
    different = {frozenset(Counter(zip(randomizers, others, strict=False)).items()): others for others in every}
    return max(
        s.delta_at(s.two_laws(randomizers, others=others, inputs=pair, attached="user"), ratio)
        for others in different.values()
        for pair in combinations(range(len(randomizers[-1])), 2)
    )


def senders(ratio: Fraction, *, sizes: Sequence[int]) -> pd.DataFrame:
    """delta(0) of randomized response with and without its sender's number on each message, in exact fractions.

    Columns: ratio (e^{eps_L}), n, local (one report alone), signed, plain, own (unsigned; the others' e^eps are halfway
    to 1) and excess (how far the signed randomizer is from eps_L-LDP).

    >>> table = senders(Fraction(3), sizes=(2, 3))
    >>> [str(d) for d in table["signed"]], [str(d) for d in table["plain"]]
    (['1/2', '1/2'], ['3/8', '5/16'])
    """
    rr, milder = s.subset_selection(2, 1, ratio), s.subset_selection(2, 1, (ratio + 1) / 2)
    rows = []
    for n in sizes:
        named = [s.signed(rr, user, n) for user in range(n)]
        row = {"ratio": ratio, "n": n, "local": worst([rr], _ONE)}
        row |= {"signed": worst(named, _ONE), "plain": worst([rr] * n, _ONE)}
        row |= {"own": worst([milder] * (n - 1) + [rr], _ONE)}
        rows.append(row | {"excess": max(s.local_excess(one, ratio) for one in named)})
    return pd.DataFrame(rows)


def deviations(ratio: Fraction, *, honest: int, bad: int, at: Fraction) -> pd.DataFrame:
    """delta(log at) of one of `honest` users with randomized response, beside `bad` malicious ones.

    Columns: behaviour (of the malicious), delta, honest_only (with nobody else), honest, at.
    """
    rr = tuple((*row, s.NONE) for row in s.subset_selection(2, 1, ratio))
    acts = {  # quarters of a 0, a 1 and anything else
        "always 0": (4, 0, 0),
        "always 1": (0, 4, 0),
        "a fair coin": (2, 2, 0),
        "a biased coin, 1 in 4": (3, 1, 0),
        "a message of their own": (0, 0, 4),
    }
    alone, rows = worst([rr] * honest, at), []
    for name, quarters in acts.items():
        act: s.Rows = (tuple(Fraction(mass, 4) for mass in quarters),)
        rows.append((name, worst([act] * bad + [rr] * honest, at), alone, honest, at))
    return pd.DataFrame(rows, columns=["behaviour", "delta", "honest_only", "honest", "at"])


def pure_ratios(ratio: Fraction, *, sizes: Sequence[int]) -> pd.DataFrame:
    """The least e^eps at which shuffled reports are (eps, 0)-DP, exact: reports, n, local (e^{eps_L}), shuffled."""
    families = {"binary RR": (2, 1), "3-ary RR": (3, 1), "2 of 3 items": (3, 2)}
    rows = []
    for (name, which), n in product(families.items(), sizes):
        matrix = s.subset_selection(*which, ratio)
        every = product(range(len(matrix)), repeat=n - 1)
        laws = [s.two_laws([matrix] * n, others=others, attached="user") for others in every]
        ratios = (max(a, b) / min(a, b) if a and b else math.inf for law in laws for a, b in law.values())
        rows.append((name, n, ratio, max(ratios)))
    return pd.DataFrame(rows, columns=["reports", "n", "local", "shuffled"])


def messages(*, k: int, eps: float, n: int, seed: int) -> dict[str, Any]:
    """What the shuffler does to n Hadamard responses: their number, their length, and nothing else.

    `per_user` messages, `bits_before` and `bits_after` (the longest message), `same_messages`, and `alphabet`: no
    possible outcome of 3 users with 3-ary response has another number of messages, or one that no user can send.
    """
    rng = np.random.default_rng(seed)
    response = HadamardResponse.of(k, eps=eps)
    sent = response.reports(rng.integers(response.k, size=n), rng=rng)
    received = rng.permutation(sent)
    law = s.shuffled_law([s.subset_selection(3, 1, Fraction(3))] * 3, (0, 1, 2), attached="user")
    return {
        "per_user": received.size / n,
        "bits_before": int(response.outputs - 1).bit_length(),
        "bits_after": int(received.max()).bit_length(),
        "same_messages": bool(np.array_equal(np.sort(sent), np.sort(received))),
        "alphabet": all(len(outcome) == 3 and set(outcome) <= {0, 1, 2} for outcome in law),
    }


def one_bit(*, k: int, ratio: float) -> dict[str, Any]:
    """What one-bit reports of one common randomizer can tell about a distribution p over k items, k a multiple of 4.

    The server sees how many ones there are: a number whose law depends on p through P(report = 1) alone. For the
    randomizer that reports whether the item is in the first half: `k`, `directions` (of k - 1, that the law depends on)
    and `gap` (the largest difference of a report's laws under two distributions of disjoint support).
    """
    half = np.arange(k) < k // 2
    matrix = np.where(np.stack([half, ~half], axis=1), ratio, 1.0) / (1 + ratio)
    seen = int(np.linalg.matrix_rank(matrix - matrix.mean(axis=0), tol=1e-9))
    first = (np.arange(k) % 4 < 2) / (k // 2)
    return {"k": k, "directions": seen, "gap": float(np.abs((2 * first - 2 / k) @ matrix).max())}


# --- figures -----------------------------------------------------------------------------------------------


@keeps_data
def clone_formulas(table: pd.DataFrame, *, limit: float) -> Figure:
    """Central eps against eps_L for one n, from `regimes`; grey from `limit`, where Theorem 3.1's condition ends."""
    figure, axis = plt.subplots(figsize=(7, 4.8), layout="constrained")
    axis.plot(table["eps_local"], table["eps_local"], **role("reference"), label="without shuffling")
    for key, (kind, label) in LINES.items():
        seen = table[table[key] > 0]
        width = 5 if kind == "certified" else 2  # the truth lies upon it in places
        axis.plot(seen["eps_local"], seen[key], **{**role(kind), "lw": width}, label=label)
    if limit < float(table["eps_local"].max()):
        axis.axvspan(max(limit, 1e-9), float(table["eps_local"].max()), color="0.93", zorder=0)
    axis.set(xlabel=r"local budget $\epsilon_L$, logarithmic", ylabel=r"central $\epsilon$, logarithmic")
    axis.set(xscale="log", yscale="log", xlim=(table["eps_local"].min(), table["eps_local"].max()))
    axis.legend(loc="upper left", fontsize=10)
    return figure


@keeps_data
def clone_looseness(table: pd.DataFrame) -> Figure:
    """Eq. (1) over the certified eps against n, a line a budget; `table` is from `regimes`.

    Hollow where Theorem 3.1's condition fails; crossed out where eq. (1) is below the exact eps of randomized response.
    """
    figure, axis = plt.subplots(figsize=(7, 4.6), layout="constrained")
    axis.axhline(1, **role("reference"))
    shown = table.dropna(subset="loose")
    ends = []
    for index, (local, line) in enumerate(shown.groupby("eps_local"), 1):
        colour, dashes = PALETTE[index % len(PALETTE)], DASHES[index % len(DASHES)] or (None, None)
        axis.plot(line["n"], line["loose"], color=colour, dashes=dashes, lw=2)
        for valid, part in line.groupby("valid"):
            axis.scatter(part["n"], part["loose"], s=32, zorder=3, edgecolor=colour, color=colour if valid else "white")
        ends.append((line["n"].iloc[-1], line["loose"].iloc[-1], rf"$\epsilon_L$ = {local:g}", colour))
    wrong = table[table["blog"] < table["bits"]]
    if len(wrong):
        axis.scatter(wrong["n"], wrong["loose"], s=90, marker="x", lw=2, color=ROLES["truth"][0], zorder=4)
    axis.set(xlabel="number of users $n$, logarithmic", ylabel=r"eq. (1) over the certified $\epsilon$, logarithmic")
    axis.set(xscale="log", yscale="log")
    axis.yaxis.set_major_locator(FixedLocator([0.5, 1, 2, 5, 10, 20]))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    # Lines may end before the last n: all names stand right of the figure, in the order of the last values.
    right = float(shown["n"].max())
    name_ends(axis, [(right, y, words, colour) for _, y, words, colour in ends], gap=14)
    name_line(axis, right, 1, "1: as certified", colour=ROLES["reference"][0], right=-4, up=-8)
    return figure


@keeps_data
def expansion_curves(table: pd.DataFrame) -> Figure:
    """Both expansions over eq. (1) against eps_L; `table` is from `quotients`."""
    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
    axis.axhline(1, **role("paper"))
    axis.axhline(0.5, **role("closed form"))
    left, right = float(table["eps_local"].min()), float(table["eps_local"].max())
    name_line(axis, left, 1, "eq. (1)", colour=ROLES["paper"][0], up=-8)
    name_line(axis, left, 0.5, "half of it", colour=ROLES["closed form"][0], up=-8)
    shown = {"small": (-1, "for small $\\epsilon_L$"), "large": (0, "eq. (2)")}  # at its last or first point
    for index, (key, (end, words)) in enumerate(shown.items(), 1):
        seen = table[table[key].between(0.3, 2.4)]
        colour, at = PALETTE[2 * index - 1], seen.iloc[end]
        axis.plot(seen["eps_local"], seen[key], color=colour, dashes=DASHES[index], lw=2)
        name_line(axis, at["eps_local"], at[key], words, colour=colour, right=6)
    axis.set(xscale="log", xlabel=r"local budget $\epsilon_L$, logarithmic", ylabel="expansion over eq. (1)")
    axis.set(xlim=(left, right), ylim=(0, 2.5))
    return figure


# --- checks ------------------------------------------------------------------------------------------------


def _tolerance(name: str) -> float:
    return float((claim(name).tolerance or {})["relative"])


@settles("B-1")
def equation_one(table: pd.DataFrame, printed: pd.DataFrame, needed: pd.DataFrame) -> Outcome:
    """Eq. (1) read as printed, with the inequality turned, and without a number in its condition.

    `table` is from `regimes`, `printed` from `direction`, `needed` from `users_needed`.
    """
    valid = table[table["valid"]]
    if valid.empty:
        return unsettled("B-1", "No point of this run meets the theorem's condition on $n$.")
    least, most = float(valid["loose"].min()), float(valid["loose"].max())
    over_source = float((valid["blog"] / valid["source"]).min())
    zero, failing = printed.iloc[0], needed[needed["n"] > 0]
    evidence: dict[str, object] = {
        "$\\epsilon$ = 0 satisfies the printed inequality; exact $\\delta$ of randomized response there, over "
        f"$\\delta$, $\\epsilon_L$ = {zero['eps_local']:g}, $n$ = {zero['n']:,.0f}, $\\delta$ = {zero['delta']:g}": (
            zero["times"]
        ),
        f"the same at $\\epsilon$ = the right-hand side ({printed['eps'].iloc[-1]:.4f})": printed["times"].iloc[-1],
        f"eq. (1) over the certified $\\epsilon$, any common randomizer, {len(valid)} points that meet the condition": (
            f"{least:.2f} to {most:.2f}"
        ),
        "eq. (1) over Theorem 3.1 of its source, smallest there": over_source,
    }
    for row in failing.itertuples():
        evidence[
            f"$\\epsilon_L$ = {row.eps_local:g}, $n$ = {row.n:,} = ${row.constant:.2f}\\, e^{{\\epsilon_L}} "
            "\\ln(1/\\delta)$: exact $\\epsilon$; eq. (1)"
        ] = f"{row.exact:.3f}; {row.blog:.3f}"
    sound = min(least, over_source) >= 1
    turned = bool((printed["times"].iloc[:-1] > 1).any())
    limit = float(failing["constant"].max()) if len(failing) else 0.0
    right = f"The formula is right: it gives {least:.1f} to {most:.1f} times the certified $\\epsilon$"
    condition = (
        f'"$n$ much larger than" names no number: with ${limit:.2f}\\, e^{{\\epsilon_L}} \\ln(1/\\delta)$ users eq. '
        "(1) is false for randomized response, and the source asks for a factor of 16"
        if limit
        else "eq. (1) holds at every $n$ tried"
    )
    wrong = printed.iloc[int(printed["times"].to_numpy().argmax())]
    fault = (
        f"the inequality is printed the wrong way round ($\\epsilon$ = {wrong['eps']:.3g} satisfies it, but there "
        f"the exact $\\delta$ is {wrong['times']:.3g} times the one promised)"
    )

    def said(faults: Sequence[str]) -> Said:
        return {
            "verified": f"{right}. As to the condition, {condition}.",
            "holds with correction": f"{right}. But {' and '.join(faults)}. As to the condition, {condition}.",
            "refuted": f"Eq. (1) is below what is certified, by a factor of {min(least, over_source):.3f}.",
        }

    weak = ["its condition is too weak"] * (limit >= _MUCH)
    faults = [fault] * turned + weak
    bound = (
        r"$(\epsilon, \delta)$-shuffle private for every "
        r"$\epsilon \ge \ln(1 + 16 \frac{e^{\epsilon_L}-1}{e^{\epsilon_L}+1} \sqrt{e^{\epsilon_L}\ln(4/\delta)/n})$, "
        r"if $n \ge 16 e^{\epsilon_L} \ln(2/\delta)$."
    )
    return judge(
        "B-1",
        evidence,
        reading(
            "every pair that satisfies the inequality",
            exactly(sound and not faults, near=sound),
            said(faults),
            correction=bound,
        ),
        reading(
            "the formula, on whichever side of it $\\epsilon$ is meant to be",
            exactly(sound and not weak, near=sound),
            said(weak),
            correction=bound,
            excluded='the words are "for any pair which satisfies", and the inequality follows them.',
        ),
    )


@settles("B-2")
def small_budgets(table: pd.DataFrame, improved: pd.DataFrame) -> Outcome:
    """The expansion for small eps_L over eq. (1), from `expansions`, and `improvement` with its delta and eps_L."""
    tolerance, row = _tolerance("B-2"), table[table["formula"] == "small"].iloc[0]
    local, over, users = f"$\\epsilon_L$ = {row['eps_local']:g}", row["over_blog"], 64 * math.log(4 / row["delta"])
    evidence: dict[str, object] = {
        f"$8 \\epsilon_L \\sqrt{{\\ln(4/\\delta)/n}}$ over eq. (1), {local}, $n$ = {row['n']:,}": over,
        "the same over Theorem 3.1 of its source, whose constant is 4": row["over_source"],
        "users from which on it is below $\\epsilon_L$ at all, $64 \\ln(4/\\delta)$, "
        f"$\\delta$ = {row['delta']:g}": math.ceil(users),
    }
    for line in improved.itertuples():
        evidence[
            f"$\\epsilon_L$ over eq. (1), $n$ = {line.n:,}; over $\\sqrt{{n}}$; "
            "over $\\sqrt{n}/(8 \\sqrt{\\ln(4/\\delta)})$"
        ] = f"{line.factor:.4g}; {line.over_root:.4f}; {line.over_scaled:.4f}"
    evidence["tolerance"] = tolerance
    expands = exactly(abs(over - 1) <= tolerance)
    first = improved.iloc[0]
    opening = f"The expansion is {over:.4f} times eq. (1) at {local}"
    apart = f"not $\\sqrt{{n}}$ but {first['factor']:.3g} with {first['n']:,.0f} users"
    ordered = bool(((improved["over_scaled"] - 1).abs() <= tolerance).all())
    itself = bool(((improved["over_root"] - 1).abs() <= tolerance).all())
    refuted = f"{opening}, and the improvement is {apart}."
    return judge(
        "B-2",
        evidence,
        reading(
            "$\\sqrt{n}$ as an order, together with what the formula before it says",
            joined(expands, exactly(ordered or itself)),
            {
                "verified": f"{opening}. The improvement grows like $\\sqrt{{n}}$: it is {first['factor']:.3g} with "
                f"{first['n']:,.0f} users, and there is none below {users:,.0f}.",
                "refuted": refuted,
            },
        ),
        reading(
            "a factor of $\\sqrt{n}$ itself",
            joined(expands, exactly(itself, near=ordered)),
            {
                "verified": f"{opening}, and the improvement is $\\sqrt{{n}}$.",
                "holds with correction": f"{opening}. But the improvement is {apart}.",
                "refuted": refuted,
            },
            correction=r"for small $\epsilon_L$ shuffling improves $\epsilon$ by a factor "
            r"$\sqrt{n}/(8\sqrt{\ln(4/\delta)})$, if $n > 64 \ln(4/\delta)$.",
        ),
    )


@settles("B-3")
def large_budgets(table: pd.DataFrame) -> Outcome:
    """Eqs. (2) and (3) over eq. (1), which they are said to expand, and over its source; `table` from `expansions`."""
    tolerance, two = _tolerance("B-3"), table[table["formula"] == "large"]
    edge, far, three = two.iloc[0], two.iloc[-1], table[table["formula"] == "linear"].iloc[0]
    edge_linear = edge["u"] * edge["over_blog"] / math.log1p(edge["u"] * edge["over_blog"])
    evidence = {
        f"$e^\\epsilon - 1$ of eq. (2) over that of eq. (1), $\\epsilon_L$ = {far['eps_local']:g}, "
        f"$n$ = {far['n']:.3g}": far["over_blog"],
        "the same over that of Theorem 3.1 of its source": far["over_source"],
        f"the same at the theorem's least $n$, {edge['n']:,}": edge["over_source"],
        f"eq. (3) over eq. (1) at $n$ = {three['n']:.3g}": three["over_blog"],
        "eq. (3) over Theorem 3.1": three["over_source"],
        "eq. (3) over eq. (2) at the theorem's least $n$": edge_linear,
        "tolerance": tolerance,
    }
    gaps = {key: max(abs(far[key] - 1), abs(three[key] - 1)) for key in ("over_blog", "over_source")}
    own, source = (gaps[key] <= tolerance for key in ("over_blog", "over_source"))
    refuted = f"They are {far['over_blog']:.3f} times eq. (1) and {far['over_source']:.3f} times its source."
    return judge(
        "B-3",
        evidence,
        reading(
            "expansions of eq. (1)",
            exactly(own, near=source),
            {
                "verified": "Eqs. (2) and (3) are the expansions of eq. (1).",
                "holds with correction": "Eqs. (2) and (3) do not expand eq. (1) but tend to "
                f"{far['over_blog']:.3f} times it: $\\tanh(\\epsilon_L/2)$ tends to 1, so 16 stays 16. They expand "
                f"Theorem 3.1 of its source (the quotient is {far['over_source']:.4f}). At that theorem's least $n$, "
                f"eq. (3) is {edge_linear:.2f} times eq. (2).",
                "refuted": refuted,
            },
            correction=r"eq. (1) tends to $\ln(1 + 16\sqrt{e^{\epsilon_L}\ln(4/\delta)/n})$; the constant 8 is that "
            r"of Theorem 3.1 of the source. (3) follows from (2) where $n \gg 64\, e^{\epsilon_L} \ln(4/\delta)$.",
        ),
        reading(
            "expansions of Theorem 3.1 of the source",
            exactly(source),
            {"verified": f"The quotient tends to {far['over_source']:.4f}.", "refuted": refuted},
            excluded='the text expands "the expression in (1)".',
        ),
    )


@settles("B-4")
def different_randomizers(table: pd.DataFrame) -> Outcome:
    """Messages with their sender's number are still LDP, and shuffling gives nothing; `senders` of at least two."""
    last, excess = table.iloc[-1], max(table["excess"])
    evidence = {f"$\\delta(0)$ of one report alone, $e^{{\\epsilon_L}}$ = {last['ratio']}": str(last["local"])}
    for row in table.itertuples():
        evidence[f"$\\delta(0)$, {row.n} users, messages with the sender's number"] = str(row.signed)
    evidence |= {
        f"the same without the number, {last['n']} users": str(last["plain"]),
        f"without, and the other {last['n'] - 1} users' $e^\\epsilon$ halfway to 1": str(last["own"]),
        "how far the numbered randomizers are from $\\epsilon_L$-LDP": str(excess),
    }
    useless = bool((table["signed"] == table["local"]).all())
    other = "is" if last["own"] < last["local"] else "is not"
    said: Said = {
        "verified": f"With the sender's number on each message $\\delta(0)$ stays {last['local']}, by enumeration for "
        f"up to {last['n']} users: the shuffler's permutation can be undone. This is one family of randomizers; binary "
        f"response with budgets that differ {other} amplified.",
        "refuted": "Shuffling improves the example, or the example is not LDP.",
    }
    held = exactly(useless and excess <= 0 and last["plain"] < last["local"])
    return judge("B-4", evidence, reading("the blog's example", held, said))


@settles("B-6")
def malicious_users(small: pd.DataFrame, large: pd.DataFrame) -> Outcome:
    """Every behaviour tried in a small crowd, from `deviations`, and the price in large ones, from `malicious`."""
    alone = small.iloc[0]
    worst, honest = max(small["delta"]), alone["honest_only"]
    evidence: dict[str, object] = {
        f"$\\delta(\\ln {alone['at']})$ with {alone['honest']} honest users and nobody else": str(honest),
        **{f"the same beside one malicious user: {row.behaviour}": str(row.delta) for row in small.itertuples()},
    }
    large = large[large["any_all"] > 0]  # elsewhere delta is so large that eps is 0, with or without the malicious
    if large.empty:
        return unsettled("B-6", "At this $\\delta$ every crowd of the run has $\\epsilon$ = 0.")
    for row in large.to_dict("records"):
        prices = [row[f"{word}_honest"] / row[f"{word}_all"] for word in ("any", "blog")]
        label = f"{row['honest']:,} honest over $\\epsilon$ with $n$, certified; eq. (1)"
        evidence[f"$n$ = {row['n']:,}: $\\epsilon$ with the {label}"] = "{:.4f}; {:.4f}".format(*prices)
    below = bool((large["any_honest"] <= large["blog_honest"])[large["valid"]].all())
    final = large.iloc[-1]
    price, share = float(final["any_honest"] / final["any_all"]), float(final["honest"] / final["n"])
    matched = ", and some reveal as much" if worst == honest else ""
    said: Said = {
        "verified": f"None of {len(small)} kinds of malicious behaviour reveals more than the absence of these users "
        f"would{matched}. With {final['n']:,} users, {1 - share:.0%} of them malicious, $\\epsilon$ grows by a "
        f"factor of {price:.3f} ($1/\\sqrt{{{share:.3g}}}$ is {share**-0.5:.3f}). The condition on $n$ must hold for "
        "the number of honest users.",
        "refuted": f"Beside malicious users $\\delta$ reaches {worst}; with the honest alone it is {honest}.",
    }
    return judge("B-6", evidence, reading("the others as noise", exactly(worst <= honest and below), said))


@settles("B-7")
def inherently_approximate(ratios: pd.DataFrame, floors: pd.DataFrame) -> Outcome:
    """The least pure guarantee, from `pure_ratios`, and delta just below eps_L for many users, from `pure`."""
    evidence: dict[str, object] = {}
    for row in ratios.itertuples():
        evidence[
            f"{row.reports}, $n$ = {row.n}: least $e^\\epsilon$ of a pure guarantee, $e^{{\\epsilon_L}}$ = {row.local}"
        ] = str(row.shuffled)
    for row in floors.itertuples():
        evidence[f"randomized response, $n$ = {row.n:,}: $\\log_{{10}} \\delta(0.99\\, \\epsilon_L)$, at least"] = (
            row.log10_floor
        )
    said: Said = {
        "verified": f"The least pure guarantee is $\\epsilon_L$ itself at every $n$ up to {max(ratios['n'])}, shuffled "
        f"or not. Just below $\\epsilon_L$ the least $\\delta$ is above 0, for up to {max(floors['n']):,} users.",
        "refuted": "A shuffled protocol has a better pure guarantee than its reports.",
    }
    better = bool((ratios["shuffled"] < ratios["local"]).any())
    held = exactly(not better and bool((floors["log10_floor"] > -math.inf).all()))
    return judge("B-7", evidence, reading("the least pure guarantee", held, said))

"""Checks of what FLAME's messages show: linked values, indices, and the index privacy of SS-Topk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from gspa.claims.checks import settles
from gspa.claims.outcome import Outcome
from gspa.flame import accounting, attacks, index_privacy, privacy
from gspa.flame.amplification import Setting
from gspa.flame.padded import coordinate
from gspa.flame.randomizers import Laplace


@settles("F14")
def linked_messages(*, profile: str = "paper", settings: Sequence[tuple[Setting, float]] | None = None) -> Outcome:
    """Messages of k coordinates: delta of explicit attacks at the stated eps, and of separate pairs there."""
    if settings is None:
        known = privacy.paper_settings()
        settings = [(known["SS-Double"], 0.24), (known["SS-Topk, beta = 1/10"], 2.348)]
    evidence: dict[str, object] = {}
    linked, named, pairs = 0.0, 0.0, 0.0
    for one, eps in settings:
        local, messages = Laplace(one.eps), round(one.d * one.n_p / one.k)
        shown = attacks.linked_delta(local, k=one.k, messages=messages, eps=eps)
        name = attacks.named_delta(d=one.d, k=one.k, dummies=messages)
        both = coordinate(local, n_p=one.n_p, n=one.n, beta=one.beta)
        apart = accounting.composed_delta(both, one.d, eps=eps)
        linked, named, pairs = (
            max(linked, shown / one.delta),
            max(named, name / one.delta),
            max(pairs, apart / one.delta),
        )
        evidence[f"k = {one.k}, stated ({eps:g}, {one.delta:.2g}): delta of scoring whole messages"] = shown
        evidence[f"k = {one.k}: delta of reading the indices of SS-Topk"] = name
        evidence[f"k = {one.k}: SS-Double as separate (index, value) pairs, index by index, certified delta"] = apart
    if max(linked, named) <= 1:
        return Outcome("F14", "verified", "The attacks on whole messages stay within the stated delta.", evidence)
    pair = (
        "Separate (index, value) pairs of SS-Double keep within it."
        if pairs <= 1
        else f"Separate pairs of SS-Double exceed it {pairs:.2g} times."
    )
    return Outcome(
        "F14",
        "refuted",
        f"Whole messages give away up to {linked:,.0f} times the stated delta by their values, and in SS-Topk "
        f"{named:,.0f} times by their indices, which name the selection. {pair}",
        evidence,
    )


@settles("F8")
def maximum_index_privacy(
    *, profile: str = "paper", delta: float = 5e-6, seed: int = 2024, setting: Setting | None = None
) -> Outcome:
    """Theorem 5's arithmetic, and whether l = 16 fits into n_p in every coordinate."""
    one = privacy.setting() if setting is None else setting
    l, nu = index_privacy.theorem5(n_p=one.n_p, n=one.n, beta=one.beta)  # noqa: E741
    table = index_privacy.overflow_by_l(d=one.d, k=one.k, n=one.n, n_p=one.n_p).set_index("l", drop=False)
    mean, share, some = (float(table[name].loc[l]) for name in ("mean", "one", "any"))
    fits = index_privacy.largest_fitting_l(table, delta=delta)
    drawn = index_privacy.simulate_padding(d=one.d, k=one.k, n=one.n, l=l, n_p=one.n_p, rng=seed)
    crowded = index_privacy.overflow_by_l(d=one.d, k=one.k, n=one.n, n_p=one.n_p, popular=0.5)
    popular = index_privacy.largest_fitting_l(crowded, delta=delta)
    best = float(index_privacy.least_nu(fits, beta=one.beta)) if fits else math.inf
    evidence: dict[str, object] = {
        "Theorem 5: l; nu": f"{l}; {nu:g}",
        f"mean n_(s,j) at l = {l}, if the largest are spread evenly; n_p": f"{mean:.0f}; {one.n_p}",
        f"P(a coordinate exceeds n_p) at l = {l}": share,
        f"simulated round at l = {l}: share of coordinates above n_p; largest n_(s,j)": (
            f"{drawn['overflowing']:.3f}; {drawn['largest']:.0f}"
        ),
        f"largest l at which every coordinate fits but with probability {delta:g}; its nu": (
            f"{fits}; {best:.3f}" if fits else "none"
        ),
        "the same for a coordinate among half of the users' largest": popular or "none, not even l = 1",
    }
    if (l, nu) != (16, 3.125):
        return Outcome("F8", "not reproduced", f"l = {l} and nu = {nu:g} come out.", evidence)
    if some <= delta:
        reason = f"At l = {l} every coordinate fits but with probability {some:.1g}."
        return Outcome("F8", "verified", reason, evidence)
    allowed = f"l = {fits}, nu = {best:.2f}, is the most" if fits else "no l is possible"
    rest = f"l = {popular} is" if popular else "none is"
    return Outcome(
        "F8",
        "refuted",
        f"l = {l} fits into n_p on average only: with the largest indices spread evenly {100 * share:.0f}% of the "
        f"coordinates exceed it. Then {allowed}; for an index that half of the users select {rest}.",
        evidence,
    )


@settles("F9")
def strongest_index_privacy(*, profile: str = "paper") -> Outcome:
    """Definition 3 at l = 1, at l = 1/beta and at ceil(1/beta); the posterior by enumeration."""
    evidence: dict[str, object] = {}
    agree = True
    for d, k, l in ((6, 1, 3), (6, 2, 2), (6, 2, 3), (8, 2, 4)):  # noqa: E741
        found, beta = index_privacy.posterior(d, k, l)
        agree &= found == Fraction(1, l) and beta == Fraction(k, d)
        evidence[f"d = {d}, k = {k}, l = {l}: P(largest | reported), enumerated; 1/l"] = f"{found}; {Fraction(1, l)}"
    beta = Fraction(1, 50)
    whole, one = index_privacy.least_nu(50, beta=beta), index_privacy.least_nu(1, beta=beta)
    largest = max(index_privacy.least_nu(l, beta=beta) for l in range(2, 51))  # noqa: E741
    evidence["beta = 1/50: least nu at l = 50"] = str(whole)
    evidence["least nu at l = 1 (second inequality: 0 >= (1 - beta)/nu)"] = "infinite" if one == math.inf else str(one)
    evidence["largest least nu over l = 2..50; stated end of the range"] = f"{largest}; {1 / beta}"
    d, k = 7_850, 160
    up = math.ceil(d / k)
    evidence[f"d = {d}, k = {k}: indices to report at l = ceil(1/beta) = {up}; there are"] = f"{up * k:,}; {d:,}"
    feasible = up * k <= d
    if not agree or whole != 1:
        return Outcome("F9", "refuted", "nu = 1 is not reached at l = 1/beta, or the posterior is not 1/l.", evidence)
    if feasible and one == 1 / beta:
        return Outcome("F9", "verified", "Both ends hold as stated.", evidence)
    return Outcome(
        "F9",
        "holds with correction",
        "nu = 1 is reached at l = 1/beta, where that is whole; otherwise ceil(1/beta) k is more than d. At l = 1 the "
        "second inequality of Definition 3 holds for no finite nu: no index privacy is right, nu = 1/beta is not.",
        evidence,
        correction=r"the least $\nu$ is $\max\{1, 1/(l\beta), (1-\beta)l/(l-1)\}$: 1 at $l=1/\beta$ if $k$ divides "
        r"$d$, at most $\max\{1/(2\beta), 2(1-\beta)\}$ for $l\geq 2$, infinite at $l=1$.",
    )

"""Experiments of minutes in seconds: the package's own code, planted errors included, on less than the claims need.

FLAME's trainings run on scikit-learn's digits with 174 users a round, in a setting in which the checks find what they
find for MNIST with the paper's users; the checks are told that it is the paper's. Testers run in fewer regimes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gspa import scaling, uniformity
from gspa.claims.flame_runs import SEEDS, Found
from gspa.flame import experiments
from gspa.flame.cases import DOUBLE, DP, DP_MORE, INDEPENDENT, LDP, LDP_LAPLACE, NP, SIMPLE, TOPK, Paper, Training
from gspa.flame.worth import Worth, certified

_USERS = 174
_PAPER = Paper(
    d=650, n=_USERS, eps_l=15.6, eps_curator=1.4, eps_more=100.0, clip=0.03, training=Training(rounds=12, batches=1)
)
# The budget of one report with which a certificate gives `eps_curator`: what `Paper.worth` finds in many steps.
_TUNED = {SIMPLE: 0.17772, DOUBLE: 5.93194, TOPK: 0.68779}
_PRIVATE = "private, small eps"
_LOWER_END = f"DP-FL at {TOPK}'s lower end"
# Labels by group; None for all.
_LINES: dict[str, dict[str, tuple[str, ...] | None]] = {
    "E1": {"figure 5": (SIMPLE, DOUBLE), "equal privacy": (f"{SIMPLE} tuned", f"{DOUBLE} tuned", INDEPENDENT)},
    "E2": {"figure 5": (DOUBLE, TOPK), "equal privacy": (f"{DOUBLE} tuned", f"{TOPK} tuned", INDEPENDENT)},
    "E3": {"figure 5": (DP, TOPK), "equal privacy": (f"{TOPK} tuned", "DP-FL", _LOWER_END)},
    "E4": {"figure 5": (TOPK, LDP, LDP_LAPLACE)},
    "E5": {"loss": None},
    "E6": {"figure 5": (SIMPLE, LDP, LDP_LAPLACE)},
    "E7": {"figure 5": (NP, DP_MORE, TOPK)},
    "E8": {"figure 5": (DP, DOUBLE), "equal privacy": ("DP-FL", f"{DOUBLE} tuned")},
    "E9": {"figure 8": None},
    "E10": {"figure 6": None, "figure 7": None},
    "Q1": {"index privacy": None},
    "Q2": {"figure 5": (TOPK, DOUBLE, DP, DP_MORE), "equal privacy": (_LOWER_END,)},
}
# Less noise for a loss near the printed one; fewer indices, so that the wider padding holds them.
_CHANGES: dict[str, dict[str, Any]] = {"E5": {"eps_l": 20.0}, "Q1": {"rate": 100}}


def _worths(paper: Paper) -> tuple[Worth, ...]:
    found = []
    for method, own in _TUNED.items():
        sizes = {"d": paper.d, "k": paper.k, "n": paper.n, "n_p": paper.n_p, "delta": paper.delta}
        budget = paper.eps_l / (paper.d if method == SIMPLE else paper.k)
        bound, low = certified(method, eps=budget, **sizes), certified(method, eps=own, **sizes).lower
        found.append(Worth(method, budget, 0.0, bound.lower, bound.upper, own, low))
    return tuple(found)


def on_digits(claim: str) -> dict[str, Any]:
    """All rounds and seeds of the cases that a check of FLAME's experiments looks at."""
    paper, lines = replace(_PAPER, **_CHANGES.get(claim, {})), _LINES[claim]
    worths = _worths(paper) if "equal privacy" in lines else ()
    cases = [
        case
        for group, labels in lines.items()
        for case in paper.cases((group,), certified=worths)
        if labels is None or case.label in labels
    ]
    # In this process: another one would import the package as it is.
    runs = experiments.run("digits", cases, users=_USERS, seeds=range(SEEDS), jobs=1)
    return {"found": Found(runs, worths, stand_in=False, paper=Paper())}


def quick_tester(claim: str) -> dict[str, Any]:
    """Exponents of one regime of the testers, the one without a common seed that takes least."""
    if claim == "B-12":
        return {"fitted": scaling.fit_regimes(uniformity.local_scaling(regimes=[_PRIVATE]), uniformity.LOCAL)}
    regime = f"{_PRIVATE}_L"
    return {"fitted": scaling.fit_regimes(uniformity.shuffled_scaling(regimes=[regime]), uniformity.SHUFFLED)}

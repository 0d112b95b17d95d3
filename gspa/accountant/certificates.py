"""Certificates: a central eps after shuffling that anyone can check, by interval arithmetic.

A certificate says who reports, by groups of equal eps, and which (eps, delta) is claimed. `gspa/check_certificate.py`
proves an upper bound of delta(eps) with balls, and needs nothing else of this package. What `certify` returns
has passed the checker.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gspa.accountant import arguments as check
from gspa.accountant.allocation import Allocated
from gspa.accountant.bound import Bound, enclosed, rounded
from gspa.accountant.budgets import Budgets
from gspa.accountant.engine import discrete_epsilon
from gspa.accountant.errors import DataUnavailable, OutsideValidity
from gspa.accountant.laplace_gaussian import Crowd, blanket_epsilon
from gspa.accountant.one_round import central_epsilon, require_fit
from gspa.accountant.randomizers import HadamardResponse, LocalHashing, Randomizer, UnaryEncoding
from gspa.accountant.rounds import compose, shuffled

PROGRAM = Path(__file__).parents[1] / "check_certificate.py"
"""The checker's file, which imports nothing of this package."""
_ABOVE, MOST_ABOVE = 2e-4, 0.01  # of the accountant's eps: what a lattice may need, and what is issued at most
_TRIES = 5


@dataclass(frozen=True)
class Certificate:
    """What was proved.

    Attributes:
        text: the JSON file.
        statement: what it says, in words.
        eps: central eps that is claimed: the upper end of `bound` rounded up, or a little more.
        delta: central delta.
        bound: what the accountant answers to the same question by the same method.
    """

    text: str
    statement: str
    eps: float
    delta: float
    bound: Bound

    def write(self, path: str | Path) -> None:
        """Save the JSON file."""
        Path(path).write_text(self.text, encoding="utf-8")


def _checker() -> ModuleType:
    try:
        from gspa import check_certificate
    except ImportError as error:
        raise DataUnavailable("certificates need python-flint: pip install 'gspa[certify]'") from error
    return check_certificate


def _there(mechanism: Randomizer) -> tuple[str, dict[str, Any]]:
    """What the checker calls it, and those of its parameters that the checker's theorem needs."""
    if mechanism.bits:  # two items are binary randomized response
        return "rr", {}
    if isinstance(mechanism, UnaryEncoding):
        return "unary" if mechanism.kind == "symmetric" else "optimized unary", {}
    if isinstance(mechanism, LocalHashing):
        return "local hashing", {"g": mechanism.g}
    return mechanism.name, {} if isinstance(mechanism, HadamardResponse) else asdict(mechanism)


def certificate(budgets: Budgets, *, delta: float, mechanism: Randomizer, rounds: int = 1) -> Certificate:
    """A checked certificate of the least central eps that the checker's theorem proves.

    What is claimed, how far above the accountant's upper end, and what is refused, says `gspa.certify`.

    Args:
        budgets: local budgets, at most 1,000 distinct ones of 10^10 users.
        delta: central delta, 1e-100 to 0.999999.
        mechanism: what every user runs.
        rounds: how often everybody reports, each time with these budgets.
    """
    require_fit(mechanism, budgets)
    if budgets.n > (most := _checker().MOST_USERS):
        raise OutsideValidity("certify", f"at most {most:,} users", f"got n = {budgets.n:,}")
    few = budgets.grouped()
    family, parameters = _there(mechanism)
    users = zip(few.eps.tolist(), few.count.tolist(), few.delta.tolist(), strict=True)
    asked = {"users": list(users), "rounds": check.count(rounds=rounds), "delta": float(delta)}
    fields = {"family": family, "parameters": parameters} | asked
    top = enclosed(rounds * Fraction(budgets.eps_max))[1] if budgets.delta_max == 0 else math.inf
    if rounds > 1:
        bound = compose([(shuffled(budgets, mechanism=mechanism), rounds)], delta=delta)
    else:
        bound = central_epsilon(budgets, delta=delta, mechanism=mechanism)
    return _least(fields, bound, lambda eps: {}, top)


def written(population: Sequence[tuple[ArrayLike, int]], *, delta: float) -> Certificate:
    """As `certificate`, of randomizers that are written down, as `gspa.accountant.engine.discrete_epsilon` has them."""
    _checker()
    bound = discrete_epsilon(population, delta=delta)
    groups = Counter[tuple[tuple[float, ...], ...]]()
    for table, count in population:
        groups[tuple(map(tuple, np.asarray(table, dtype=np.float64).tolist()))] += count
    users = [(rows, count, 0) for rows, count in groups.items()]
    fields = {"family": "discrete", "users": users, "delta": float(delta)}
    least = [np.min(rows, axis=0) for rows in groups]
    together = np.sum([count * low for low, count in zip(least, groups.values(), strict=True)], axis=0)
    bases = [law.tolist() for law in (together, np.min(least, axis=0), *least) if law.any()]
    bases = [[x / max(law) for x in law] for law in bases] or [[1] * together.size]  # any law where nothing covers
    tries = [_checked(fields | {"eps": bound.upper, "proof": {"base": law}})[2] for law in bases]
    base = bases[int(np.argmin(tries))]
    return _least(fields, bound, lambda eps: {"base": base})


def on_a_line(crowd: Crowd, *, delta: float) -> Certificate:
    """As `certificate`, of shuffled Laplace or Gaussian reports of values in [0, 1], everybody's record protected."""
    bound = blanket_epsilon(crowd.scales, count=crowd.reports.count, delta=delta, mechanism=crowd.mechanism)
    everybody = range(crowd.scales.size)
    needy = sum(crowd.local_delta(i, bound.upper)[0] > delta for i in everybody)
    if needy > (most := _checker().MOST_COVERS):
        hint = f"here {needy} have to be hidden; let users share scales"
        raise OutsideValidity("certify", f"at most {most} scales whose reports say too much alone", hint)
    laplace = crowd.mechanism == "laplace"
    users = [  # a Laplace report's eps rounded up, a Gaussian one's sigma down: less noise hides less
        (crowd.gap(i)[1] if laplace else crowd.deviation(i), int(count), 0)
        for i, count in enumerate(crowd.reports.count)
    ]
    fields = {"family": crowd.mechanism, "users": users, "delta": float(delta)}
    top = max(users)[0] if laplace else math.inf
    return _least(fields, bound, lambda eps: {"covers": [_cover(crowd, i, eps, delta) for i in everybody]}, top)


def _cover(crowd: Crowd, victim: int, eps: float, delta: float) -> dict[str, Any] | None:
    """The cover that looks best for this user at (eps, delta), of users with no less noise; None if none is needed."""
    if crowd.local_delta(victim, eps)[1] <= delta * (1 - 1e-9):
        return None
    own = crowd.scales[victim]
    kept = crowd.scales >= own
    some = Crowd.of(crowd.scales[kept], crowd.reports.count[kept], crowd.mechanism)
    found, _ = some.reductions(int(np.flatnonzero(some.scales == own)[0]), delta)
    if not found:
        raise OutsideValidity("certify", "users whom others hide", f"nobody hides the users with noise {own:g}")
    envelope = min(found, key=lambda one: one.upper(eps)).envelope
    corners = envelope.corners
    wide = np.flatnonzero(np.diff(corners) > 1e-9 * corners[-1])
    slopes = [float(rounded(float(slope) * (1 - 1e-11), up=False, digits=12)) for slope in envelope.slopes[wide]]
    return {"radius": float(envelope.radius), "slopes": slopes, "breaks": [float(x) for x in corners[wide[1:]]]}


def allocated(asked: Allocated, *, delta: float) -> Certificate:
    """As `certificate`, of random allocation: one epoch, one Gaussian step a record."""
    run = asked.run
    if run.copies > 1:
        raise OutsideValidity("certify", "one epoch and k = 1", "the rest is not covered yet")
    if run.kept > 1:
        hint = f"one deal that is kept for {run.kept} epochs has the eps of one epoch at sigma/sqrt({run.kept})"
        raise OutsideValidity("certify", "one epoch", f"{hint}: certify that")
    sigma, bound = enclosed(Fraction(run.sigma) / Fraction(run.sensitivity))[0], asked.epsilon(delta)
    fields = {"family": "allocation", "parameters": {"sigma": sigma, "steps": run.steps}, "users": []}
    return _least(fields | {"relation": bound.relation, "delta": float(delta)}, bound, lambda eps: {})


def _least(
    fields: dict[str, Any], bound: Bound, proof: Callable[[float], dict[str, Any]], top: float = math.inf
) -> Certificate:
    """The first of a few eps above the accountant's that is proved; how much delta was missed by leads to the next.

    `top` is what local privacy guarantees.
    """
    share = _ABOVE
    for _ in range(_TRIES):
        eps = min(float(rounded(bound.upper * (1 + share), up=True, digits=7)), top)
        text, found, missed = _checked(fields | {"eps": eps, "proof": proof(eps)})
        if missed <= 1:
            return Certificate(text, found["statement"], eps, fields["delta"], bound)
        share += max(_ABOVE, math.log(missed) / -math.log(fields["delta"]))  # log delta falls about so fast, or faster
        if share > MOST_ABOVE:
            break
    hint = f"eps = {eps!r} was not; try more noise, a larger delta, or fewer scales"
    raise OutsideValidity("certify", f"an eps that is proved within {MOST_ABOVE:.0%} of the accountant's", hint)


def _checked(given: dict[str, Any]) -> tuple[str, dict[str, Any], float]:
    """A file of these fields, what it says, and the upper end of its delta over the delta claimed, rounded up."""
    checker = _checker()
    usual = {"format": checker.FORMAT, "statement": "", "parameters": {}, "relation": checker.REPLACE, "rounds": 1}
    fields: dict[str, Any] = {name: (usual | {"proof": {}} | given)[name] for name in checker.FIELDS}
    try:
        fields["statement"] = checker.statement(checker.parsed(json.dumps(fields)))
        text = json.dumps(fields, indent=1) + "\n"
        found = checker.read(text)
        ball = checker.delta_of(found)
    except checker.Refused as wrong:
        raise OutsideValidity("certify", "what the checker takes", str(wrong)) from None
    missed = float((ball / checker.ball(found["delta"])).upper())
    return text, found, min(missed, 1.0) if ball <= checker.ball(found["delta"]) else max(missed, 1 + 1e-15)

"""Which function settles which claim, and how `gspa verify` calls it.

A check is one function that computes evidence and returns an `Outcome`. A notebook calls it
through `settle` with what the page has already computed; `gspa verify` calls the same
function with nothing but a profile, and the check computes what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module

from gspa.claims.outcome import Outcome, not_yet
from gspa.claims.registry import Claim, claim, registry

Check = Callable[..., Outcome]
_CHECKS: dict[str, Check] = {}
_MODULES = (
    "clone_cases",
    "clones",
    "comparison",
    "decomposition",
    "estimation",
    "estimation_privacy",
    "flame_messages",
    "flame_numbers",
    "flame_pieces",
    "flame_sweeps",
    "flame_theorems",
    "flame_training",
    "gaussian_guarantee",
    "hypothesis_testing",
    "learning",
    "local_privacy",
    "normal_limit",
    "personalized",
    "reduction",
    "renyi",
    "sgd_privacy",
    "training",
    "training_explained",
    "uniformity",
)


def settles(identifier: str) -> Callable[[Check], Check]:
    """Register a function as the check of one claim."""

    def register(function: Check) -> Check:
        if identifier in _CHECKS:
            raise ValueError(f"claim {identifier} has two checks")
        _CHECKS[identifier] = function
        return function

    return register


def checks() -> dict[str, Check]:
    """Every registered check, by claim id."""
    for module in _MODULES:
        import_module(f"gspa.claims.{module}")
    return _CHECKS


def settle(identifier: str, *, departures: Sequence[str] = (), **evidence: object) -> Outcome:
    """Run the check of one claim.

    Args:
        identifier: the claim's id.
        departures: parameters that differ from what the paper states (`parameters.departures`);
            with any, the run is another experiment and settles nothing.
        evidence: what the caller has computed already, by the check's argument names;
            the check computes what is not given.
    """
    entry = claim(identifier)
    check = checks().get(identifier)
    if check is None:
        return Outcome(identifier, "not yet checked", f"no check yet; it will come with {entry.notebook}.")
    if departures:
        changed = ", ".join(departures)
        return not_yet(identifier, missing="settings", reason=f"This run changed what the paper states: {changed}.")
    outcome = check(**evidence)
    if outcome.claim != identifier:
        raise ValueError(f"the check of {identifier} returned an outcome of {outcome.claim}")
    return outcome


def verify(identifiers: Iterable[str] | None = None, *, profile: str = "paper") -> Iterator[tuple[Claim, Outcome]]:
    """Re-derive verdicts one by one.

    Args:
        identifiers: claim ids, in the order wanted, or None for all in the registry's.
        profile: `paper` for the papers' own sizes, `quick` for small ones.
    """
    wanted = list(registry()) if identifiers is None else [claim(name).id for name in identifiers]
    known = checks()
    for name in wanted:
        outcome = settle(name, profile=profile) if name in known else settle(name)
        yield claim(name), outcome


def differs(entry: Claim, outcome: Outcome) -> bool:
    """Whether a run contradicts the record. A run that lacked something contradicts nothing."""
    return not outcome.missing and outcome.verdict != entry.verdict

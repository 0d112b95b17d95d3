"""The papers' claims: the registry, the checks that settle them, and the cards that show it."""

from gspa.claims.checks import checks, differs, settle, verify
from gspa.claims.outcome import Outcome
from gspa.claims.registry import PAPERS, Claim, claim, registry
from gspa.claims.verdicts import VERDICTS

__all__ = [
    "PAPERS",
    "VERDICTS",
    "Claim",
    "Outcome",
    "checks",
    "claim",
    "differs",
    "registry",
    "settle",
    "verify",
]

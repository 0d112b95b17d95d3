"""What a planted error is: one wrong formula that must change the verdict of the checks that rest on it.

It replaces `old`, a text that occurs once in the module, by `new`. The check is then run as `gspa verify --profile
quick` runs it, unless `settings` says otherwise. `evidence` names a function that makes runs which would take minutes:
of `small_runs.py`, with the package's own code and so with the planted error, or of `fabricated.py`, made up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Mutant:
    """One planted error and the claims whose verdict it must change."""

    claims: tuple[str, ...]
    module: str
    old: str
    new: str
    what: str
    settings: dict[str, Any] = field(default_factory=lambda: {"profile": "quick"})
    evidence: str = ""


def planted(claims: str, module: str, old: str, new: str, what: str, **more: Any) -> Mutant:
    """The same from a line of claims, one blank between them."""
    return Mutant(tuple(claims.split()), module, old, new, what, **more)

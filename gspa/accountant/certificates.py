"""Certificates: a central eps after shuffling that anyone can check, by interval arithmetic.

A certificate says who reports, by groups of equal eps, and which (eps, delta) is claimed. `gspa/check_certificate.py`
recomputes delta(eps) of the dominating pair as a ball, and needs nothing else of this package. What `certify` returns
has passed the checker.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from gspa.accountant import arguments as check
from gspa.accountant import families
from gspa.accountant.bound import Bound, rounded
from gspa.accountant.budgets import Budgets
from gspa.accountant.errors import DataUnavailable, InternalError, InvalidValue, OutsideValidity
from gspa.accountant.one_round import central_epsilon

_HINT = "certificates need python-flint: pip install 'gspa[certify]'"
DIGITS = 9  # of the eps that is claimed
_PLAIN = {"rr": families.binary, "aligned": families.aligned, "common": families.common}
COVERED = (*_PLAIN, "tv")


@dataclass(frozen=True)
class Certificate:
    """What was proved.

    Attributes:
        text: the JSON file.
        statement: what it says, in words.
        eps: central eps that is claimed: the upper end of `bound`, rounded up.
        delta: central delta.
        bound: what the accountant answers to the same question about the same pair.
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
        raise DataUnavailable(_HINT) from error
    return check_certificate


def certificate(budgets: Budgets, *, delta: float, family: str, tv: float | None = None) -> Certificate:
    """A checked certificate of the least central eps that the dominating pair proves.

    Args:
        budgets: local budgets, at most 1,000 distinct ones; local deltas are not covered.
        delta: central delta, 1e-300 to 0.999999.
        family: one of `COVERED`, as the command line names it.
        tv: total variation, for "tv" alone.

    Raises:
        InvalidValue: an argument out of range.
        OutsideValidity: a setting that certificates do not cover.
        DataUnavailable: python-flint is not installed.
    """
    checker = _checker()
    check.one_of(COVERED, family=family)
    if (tv is None) == (family == "tv"):
        raise InvalidValue("tv", tv, 'a number with "tv", and left out otherwise')
    made = families.total_variation(tv) if tv is not None else _PLAIN[family]()
    if budgets.delta_max > 0:
        raise OutsideValidity("certify", "local delta_i = 0", "local deltas are not covered yet")
    bound = central_epsilon(budgets, delta=delta, mechanism=made)
    few = budgets.grouped()
    fields: dict[str, Any] = {
        "format": checker.FORMAT,
        "statement": "",
        "family": family,
        "parameters": {} if tv is None else {"tv": tv},
        "users": [[float(eps), int(count)] for eps, count in zip(few.eps, few.count, strict=True)],
        "relation": checker.REPLACE,
        "rounds": 1,
        "eps": min(float(rounded(bound.upper, up=True, digits=DIGITS)), budgets.eps_max),
        "delta": float(delta),
        "method": "dominating pair",
        "proof": {},
    }
    try:
        fields["statement"] = checker.worded(json.dumps(fields))
        text = json.dumps(fields, indent=1) + "\n"
        found = checker.read(text)
        proved = checker.proves(found, checker.delta_of(found))
    except checker.Refused as wrong:
        raise OutsideValidity("certify", "what the checker takes", str(wrong)) from None
    if not proved:
        raise InternalError(f"eps = {fields['eps']!r} at delta = {delta!r} was not proved")
    return Certificate(text, fields["statement"], fields["eps"], fields["delta"], bound)

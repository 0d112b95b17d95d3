"""How a verdict is given: its words, the readings of a claim, and the few rules that make evidence a verdict.

>>> rounded = Reading("the printed digits are rounded", within(0.00525, 0.005), "It is more than half a digit off.")
>>> cut = Reading("the printed digits are cut", within(0.0, 0.005), "It is the same number.")
>>> best([rounded, cut]).verdict
'verified'
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from gspa.accountant.errors import InvalidValue

Verdict = Literal[
    "verified",
    "holds with correction",
    "refuted",
    "not reproduced",
    "not checkable",
    "illustrated",
    "not yet checked",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
OPEN: tuple[Verdict, ...] = ("not checkable", "not yet checked")
"""Verdicts without evidence."""

# The most favourable first. A reading that this run could not look at may still turn out to be verified.
_FAVOUR: tuple[Verdict, ...] = (
    "verified",
    "not yet checked",
    "holds with correction",
    "illustrated",
    "not checkable",
    "not reproduced",
    "refuted",
)


@dataclass(frozen=True)
class Reading:
    """One way to read a claim's words, and what it leads to.

    Attributes:
        name: how the words are read, Markdown.
        verdict: in this reading.
        found: what was found, a sentence or two with its numbers, Markdown.
        correction: the corrected statement, exactly where the verdict needs one.
        excluded: why the words do not allow this reading; empty where they do.
    """

    name: str
    verdict: Verdict
    found: str
    correction: str = ""
    excluded: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InvalidValue("verdict", self.verdict, "one of " + ", ".join(VERDICTS))
        if (self.verdict == "holds with correction") != bool(self.correction):
            raise InvalidValue("correction", self.correction, "given exactly when the verdict needs one")


def best(readings: Sequence[Reading]) -> Reading:
    """The most favourable of the admissible readings: its verdict is the claim's.

    Raises:
        InvalidValue: none is admissible.
    """
    admissible = [one for one in readings if not one.excluded]
    if not admissible:
        raise InvalidValue("readings", [one.name for one in readings], "at least one that is admissible")
    return min(admissible, key=lambda one: _FAVOUR.index(one.verdict))


Printed = bool | Verdict | None
Holds = Printed | tuple[Printed, bool]
"""What a cell says of one reading: whether the printed statement holds, None where that cannot be checked, or the
verdict of a rule below; and, as a pair, whether the corrected statement holds besides."""


def follows(holds: Holds) -> Verdict:
    """The verdict in one reading: that of the printed statement; the corrected one counts where it fails.

    >>> follows(True), follows(False), follows((False, True)), follows(None), follows((within(0.2, 0.1), True))
    ('verified', 'refuted', 'holds with correction', 'not checkable', 'holds with correction')
    """
    printed, corrected = holds if isinstance(holds, tuple) else (holds, False)
    known = (True, False, None)
    if not (isinstance(printed, str) or printed in known) or corrected not in known:
        raise InvalidValue(
            "holds", holds, "True, False, None or a verdict, and beside it whether the corrected one holds"
        )
    verdict = printed if isinstance(printed, str) else "not checkable" if printed is None else exactly(bool(printed))
    return "holds with correction" if corrected and verdict in ("refuted", "not reproduced") else verdict


def every(holds: Any) -> bool | None:
    """Whether all of a column or table hold; None, not checkable, where there is none to look at.

    A missing value compares as False, so it does not hold.
    """
    values = holds.to_numpy() if hasattr(holds, "to_numpy") else holds
    return bool(values.all()) if values.size else None


def interval(values: Any, *, confidence: float = 0.95) -> tuple[float, float]:
    """Student's confidence interval for the mean of a column, over seeds; (nan, nan) for a single value."""
    from scipy.special import stdtrit

    half = stdtrit(len(values) - 1, 0.5 + confidence / 2) * values.std(ddof=1) / math.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


# --- the rules -----------------------------------------------------------------------------------------------


def exactly(holds: bool, *, near: bool = False) -> Verdict:
    """A statement about all cases, or an equality.

    Args:
        holds: it was proved, or no case contradicts it.
        near: where it fails: a near statement with the same quantity, direction and comparator is established.
    """
    return "verified" if holds else "holds with correction" if near else "refuted"


def within(gap: float, tolerance: float, *, setting: bool = False) -> Verdict:
    """A printed number against ours.

    Args:
        gap: how far apart they are.
        tolerance: the registry's.
        setting: it needs a setting that the paper does not state, which the correction names.
    """
    if not abs(gap) <= tolerance:  # NaN is not within anything
        return "not reproduced"
    return "holds with correction" if setting else "verified"


def ranked(low: float, high: float, *, near: bool = False) -> Verdict:
    """A claimed order, from the interval [low, high] of the difference that the claim says is positive.

    Args:
        low: lower end.
        high: upper end.
        near: the claimed order needs a condition that the correction names.
    """
    if math.isnan(low) or math.isnan(high):
        return "not reproduced"
    if low > 0:
        return "holds with correction" if near else "verified"
    return "refuted" if high < 0 else "not reproduced"


def at_least(low: float, high: float, least: float) -> Verdict:
    """A claimed lower limit on a quantity that is known to lie in [low, high]."""
    if low >= least:
        return "verified"
    return "refuted" if high < least else "not checkable"


def shown(right: bool = True) -> Verdict:
    """A definition, a plan, a property of our own sampler: nothing that it says can fail, if we are `right`."""
    return "illustrated" if right else "refuted"


def joined(*verdicts: Verdict) -> Verdict:
    """A claim of several parts, all of which it asserts: the least favourable of them.

    From the most to the least favourable: verified, holds with correction, illustrated, not checkable, not reproduced,
    refuted. A part that no number decides, a definition among others, leaves the decision to the others.
    """
    decided: list[Verdict] = [verdict for verdict in verdicts if verdict != "illustrated"] or list(verdicts)
    if "not yet checked" in decided and "refuted" not in decided:
        return "not yet checked"
    return max(decided, key=_FAVOUR.index)

"""A certified interval: what the accountant answers instead of a bare number.

>>> bound = Bound(0.1, 0.11, 0.12, method="pair", valid_for="binary randomized response")
>>> round(bound.relative_width, 3)
0.167
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from gspa.accountant.errors import InvalidValue

OWN = "the method's own value "  # of what an interval is whose lower end is no attack


def in_words(method: str, valid_for: str, relation: str, note: str, warnings: Iterable[str]) -> list[str]:
    """A line for each of them that is not empty."""
    named = {"method": method, "valid for": valid_for, "neighbours": relation, "note": note}
    return [*(f"{name}: {text}" for name, text in named.items() if text), *(f"warning: {text}" for text in warnings)]


@dataclass(frozen=True)
class Bound:
    """lower <= value <= upper, around the number that `method` names.

    Attributes:
        lower: not above the method's exact value.
        value: best estimate inside the interval.
        upper: not below the exact value; what a user may rely on.
        method: the analysis whose value is bracketed.
        valid_for: the class of local randomizers for which that analysis holds.
        eps: the central eps at which a delta was asked, else None.
        delta: the central delta at which an eps was asked, else None.
        n: number of users.
        note: what else to know; may be empty.
        reached: `lower` is of the mechanism itself: an attack gets that far. Where it is False, the interval is of the
            method's own value alone, and the mechanism's may lie below it.
        proved: the interval holds by proof, up to the allowance for rounding; False where `valid_for` names something
            that was only measured, such as the worst inputs of a victim with more than the least noise.
        relation: which two data sets are to be told apart; empty where the caller is to know.
        warnings: what the reader of the number should not overlook, one sentence each.

    >>> print(Bound(0.25, 0.25, 0.5, method="pair", valid_for="rr"))
    at most 0.5, the method's own value certified in [0.25, 0.5]
    method: pair
    valid for: rr

    `str` gives the number rounded to its safe side, and what it means in words, a line each.

    Raises:
        InvalidValue: the three numbers are not in order (NaN included).
    """

    lower: float
    value: float
    upper: float
    method: str
    valid_for: str
    eps: float | None = None
    delta: float | None = None
    n: int | None = None
    note: str = ""
    proved: bool = True
    reached: bool = False
    relation: str = ""
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.lower <= self.value <= self.upper:
            raise InvalidValue("value", self.value, f"in [lower, upper] = [{self.lower!r}, {self.upper!r}]")

    @property
    def relative_width(self) -> float:
        """(upper - lower)/upper; 0 for a point."""
        return 0.0 if self.upper == self.lower else (self.upper - self.lower) / self.upper

    def to_dict(self) -> dict[str, Any]:
        """The fields that are set and finite, in order, ready for `json.dumps`, which keeps every digit."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "", (), math.inf)}

    def words(self) -> list[str]:
        """What stands beside the number: method, class, neighbouring relation, note and warnings, a line each.

        >>> Bound(0.0, 0.0, 0.5, method="pair", valid_for="rr").words()
        ['method: pair', 'valid for: rr']
        """
        return in_words(self.method, self.valid_for, self.relation, self.note, self.warnings)

    def __str__(self) -> str:
        low, high = rounded(self.lower, up=False), rounded(self.upper, up=True)
        within = f"{'' if self.reached else OWN}{'certified' if self.proved else 'computed'} in [{low}, {high}]"
        if self.eps is not None and self.delta is not None:  # the safe end depends on what was looked for
            first = f"{within} at central eps = {self.eps:g}, delta = {self.delta:g}"
        else:
            first = f"at least {low}" if math.isinf(self.upper) else f"at most {high}, {within}"
            asked = {"eps": self.eps, "delta": self.delta}
            first += "".join(f" at {name} = {value:g}" for name, value in asked.items() if value is not None)
        return "\n".join([first, *self.words()])


DIGITS = 7  # of a rounded number; its last unit is at most 1e-6 of the value


def rounded(value: float, *, up: bool, digits: int = DIGITS) -> str:
    """The nearest decimal of so many significant digits that is not below (`up`) or not above a double, exactly.

    Args:
        value: any double but NaN; an infinity is returned as it is.
        up: towards +infinity, else towards -infinity.
        digits: >= 1; zeros at the end are left out.

    >>> rounded(2 / 3, up=True), rounded(2 / 3, up=False), rounded(1e-9 / 3, up=True)
    ('0.6666667', '0.6666666', '3.333334e-10')
    >>> rounded(0.1, up=True)  # the double that is written 0.1 is a little larger
    '0.1000001'
    """
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    decimal = context.create_decimal(Decimal(value + 0.0)).normalize(context)  # + 0.0 makes 0 of -0.0
    return f"{decimal:f}" if -5 < decimal.adjusted() < 21 else f"{decimal:e}"


Ends = tuple[float, float]


def enclosed(value: Fraction) -> Ends:
    """The greatest double that is not above a number, and the least that is not below it: the same if it is a double.

    >>> enclosed(Fraction(1) / Fraction(0.5)), enclosed(Fraction(1, 3)) == (1 / 3, math.nextafter(1 / 3, 1))
    ((2.0, 2.0), True)
    """
    try:
        near = float(value)
    except OverflowError:
        return sys.float_info.max, math.inf
    below = near if Fraction(near) <= value else math.nextafter(near, -math.inf)
    return below, near if Fraction(near) >= value else math.nextafter(near, math.inf)

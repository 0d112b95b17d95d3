"""Adversarial and nearly valid values, by kind: numbers, counts, arrays, names."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

HUGE = 10**400  # beyond every float
ENORMOUS = 10**5000  # beyond what Python prints as a number
_SCALARS = (
    *(float("nan"), float("inf"), float("-inf"), None, "", "0.5", "nan", "1e400", "x\ny", "\0", b"1", 1j),
    *(Decimal("0.5"), Decimal("NaN"), ..., object, datetime.date(2024, 1, 1), np.datetime64("NaT"), np.nan),
    *(HUGE, -HUGE, ENORMOUS, Fraction(HUGE), Fraction(-1, HUGE), np.float64("nan"), np.float32("inf"), np.str_("1")),
    *((), [], {}, set(), [None], [[]], [[1], [1, 2]], np.array([]), np.array([[1.0]]), np.array([0.5, 0.5])),
    *(np.array([None]), np.array(["a"], dtype=object), np.array(float("nan")), np.zeros((2, 0)), np.zeros((1, 2, 3))),
)
JUNK_NUMBER = st.sampled_from([*_SCALARS, True, np.True_, False])
JUNK_COUNT = st.sampled_from([*_SCALARS, True, np.False_, -1, -(2**63), 2**63, 2**64 + 1, 2.5, 1e308, -0.5, 0.1 + 0.2])
# A list of one number may be a sequence of numbers, so these are wrong for any array of numbers.
JUNK_ARRAY = st.sampled_from(
    [
        *(None, "abc", b"abc", object, ..., 1j, [1j], ["a"], [None], [[1], [1, 2]], [[]], np.zeros((1, 2, 3)), {}),
        *({"a": 1}, np.array([None]), np.array([object()]), np.array(["a"]), np.zeros((2, 0)), [HUGE], [ENORMOUS]),
        *([float("nan")], [0.5, float("nan")], [float("inf")], [-float("inf"), 0.5], float("nan"), [Decimal(1)]),
        *(np.array(["2024-01-01"], dtype="datetime64[D]"), [True, False], [0.5, "0.5"], [[0.5], "a"], [-1], [-0.5]),
        *([1e308, -1e308], [1e308] * 3, [5e-324], [], (), np.array([]), np.zeros((2, 3)), np.array(0.5), 0.5),
    ]
)
JUNK_NAME = st.one_of(
    st.sampled_from(
        ["", " ", "rr ", "RR", "../rr", "\0", "é", "rr\n", "None", None, 1, 1.5, [], {}, b"rr", ("rr",), True]
    ),
    st.text(max_size=6),
)
# Rounding, underflow and overflow: valid for some arguments, refused by others.
EDGES = (
    *(0.0, -0.0, 0, 1, 1.0, 2, 5e-324, 2.3e-308, 1e-300, 1e-100, 1e-17, 1e-9, 0.3, 0.5, np.float32(0.5)),
    *(
        np.float64(2.5),
        np.int64(3),
        Fraction(1, 3),
        Fraction(7, 2),
        30.0,
        300.0,
        708.0,
        710.0,
        745.5,
        1e4,
        1e17,
        1e154,
        1e300,
    ),
    *(1.7976931348623157e308, -1, -0.5, -1e-17, -1e300, 1 - 1e-16, 1 + 3e-16, 0.9999999),
)


class Kind(NamedTuple):
    """How one argument is drawn: as it should be, or nearly so, and as it must be refused (None: never)."""

    good: st.SearchStrategy
    bad: st.SearchStrategy | None = None
    whole: bool = False  # a tuple of parts, whose shape the type checker watches


def number(low: float, high: float) -> Kind:
    """A number in [low, high], or at the edges of what a float can be."""
    return Kind(st.floats(low, high), st.one_of(st.sampled_from(EDGES), JUNK_NUMBER))


def count(low: int, high: int) -> Kind:
    """A whole number in [low, high], or anything but a number of things."""
    return Kind(
        st.integers(low, high), st.one_of(st.sampled_from([0, 1, low - 1, np.int64(low), float(low)]), JUNK_COUNT)
    )


def array(low: float, high: float, *, most: int = 4, least: int = 1) -> Kind:
    """A few numbers in [low, high], or anything else that numpy may or may not make an array of."""
    few = st.lists(st.floats(low, high), min_size=least, max_size=most)
    edges = st.lists(st.sampled_from(EDGES), max_size=most)
    return Kind(few, st.one_of(edges, JUNK_ARRAY))


def counts(low: int, high: int, *, most: int = 3, least: int = 1) -> Kind:
    """A few whole numbers, or anything else."""
    few = st.lists(st.integers(low, high), min_size=least, max_size=most)
    return Kind(few, st.one_of(st.lists(JUNK_COUNT, min_size=1, max_size=2), JUNK_ARRAY))


def name(*known: str | None) -> Kind:
    """One of the known names, or anything else."""
    return Kind(st.sampled_from(known), JUNK_NAME)


def either(*options: object) -> Kind:
    """One of the given values: booleans and ready-made objects, whose class the type checker watches."""
    return Kind(st.sampled_from(options))


def optional(kind: Kind) -> Kind:
    """The argument may be left out as well."""
    return Kind(st.one_of(st.none(), kind.good), kind.bad)


def lists_of(kind: Kind, *, least: int = 1, most: int = 3) -> Kind:
    """A few values of a kind, or with a wrong one among them."""
    wrong = None if kind.bad is None else st.lists(kind.bad, min_size=1, max_size=2)
    if wrong is not None and not kind.whole:
        wrong = st.one_of(wrong, JUNK_ARRAY)
    return Kind(st.lists(kind.good, min_size=least, max_size=most), wrong)


class Later(NamedTuple):
    """A value that is made when the call is: hypothesis refuses draws during which a library is imported."""

    make: Callable[..., Any]
    parts: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"{getattr(self.make, '__qualname__', 'made')}({', '.join(map(repr, self.parts))})"


def made(function: Callable[..., Any], *parts: Kind) -> Kind:
    """A value built from parts, each as it should be."""
    return Kind(st.tuples(*(part.good for part in parts)).map(lambda values: Later(function, values)))


def built(function: Callable[..., Any], *parts: Kind) -> Kind:
    """A value built from parts, one of which may be wrong."""
    whole = together(*parts)
    return Kind(*(part.map(lambda values: Later(function, values)) for part in whole[:2]), whole=True)


def resolved(value: Any) -> Any:
    """The value itself for what is made later, in lists, tuples and dictionaries too."""
    if isinstance(value, Later):
        return value.make(*resolved(value.parts))
    if type(value) in (list, tuple):
        return type(value)(map(resolved, value))
    return {key: resolved(one) for key, one in value.items()} if type(value) is dict else value


def together(*kinds: Kind) -> Kind:
    """A tuple, one of whose parts may be wrong."""
    good = st.tuples(*(kind.good for kind in kinds))
    bad = [
        st.tuples(*(other.bad if i == j and other.bad is not None else other.good for j, other in enumerate(kinds)))
        for i in range(len(kinds))
    ]
    return Kind(good, st.one_of(*bad), whole=True)


def known_to(values: Sequence[object]) -> Kind:
    """One of these, or junk in the place of a number."""
    return Kind(st.sampled_from(list(values)), JUNK_NUMBER)

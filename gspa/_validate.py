"""Argument checks shared by every public entrance.

Each takes exactly one keyword argument, so that the message can name it:

>>> positive(eps=0.5)
0.5
>>> positive(eps=-1)
Traceback (most recent call last):
    ...
gspa.errors.InvalidValue: eps = -1: must be a finite number > 0
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gspa.errors import InvalidValue, UnknownName

T = TypeVar("T")


def _only(argument: dict[str, T]) -> tuple[str, T]:
    ((name, value),) = argument.items()
    return name, value


def _real(name: str, value: object, allowed: str) -> float:
    # bool is an int in Python, but `eps=True` is a mistake.
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InvalidValue(name, value, allowed)
    number = float(value)
    if not math.isfinite(number):
        raise InvalidValue(name, value, allowed)
    return number


def real(**argument: object) -> float:
    """A finite real number."""
    name, value = _only(argument)
    return _real(name, value, "a finite number")


def positive(**argument: object) -> float:
    """A finite real number greater than 0."""
    name, value = _only(argument)
    number = _real(name, value, "a finite number > 0")
    if number <= 0:
        raise InvalidValue(name, value, "a finite number > 0")
    return number


def nonnegative(**argument: object) -> float:
    """A finite real number of at least 0."""
    name, value = _only(argument)
    number = _real(name, value, "a finite number >= 0")
    if number < 0:
        raise InvalidValue(name, value, "a finite number >= 0")
    return number


def probability(*, allow_zero: bool = True, **argument: object) -> float:
    """A delta: in [0, 1), or in (0, 1) where the bound needs it positive."""
    name, value = _only(argument)
    allowed = "in [0, 1)" if allow_zero else "in (0, 1)"
    number = _real(name, value, allowed)
    if not (0 <= number < 1) or (number == 0 and not allow_zero):
        raise InvalidValue(name, value, allowed)
    return number


def in_range(low: float, high: float, /, **argument: object) -> float:
    """A finite real number in the closed interval [low, high]."""
    name, value = _only(argument)
    allowed = f"in [{low:g}, {high:g}]"
    number = _real(name, value, allowed)
    if not low <= number <= high:
        raise InvalidValue(name, value, allowed)
    return number


def array_in(low: float, high: float, /, **argument: object) -> NDArray[np.float64]:
    """Numbers, none of them NaN, in [low, high]; a scalar comes back with shape ().

    >>> array_in(0, 1, alpha=[0.0, 2.0])
    Traceback (most recent call last):
        ...
    gspa.errors.InvalidValue: alpha[1] = 2.0: must be in [0, 1]
    """
    name, value = _only(argument)
    allowed = f"in [{low:g}, {high:g}]"
    try:
        numbers = np.asarray(value)
    except ValueError:  # ragged lists
        raise InvalidValue(name, value, "a rectangular array of numbers") from None
    if numbers.size and numbers.dtype.kind not in "iuf":
        raise InvalidValue(name, numbers.tolist(), "a number or an array of numbers")
    numbers = numbers.astype(np.float64)
    bad = ~((numbers >= low) & (numbers <= high))  # NaN fails both
    if bad.any():
        where = [int(i) for i in np.argwhere(bad)[0]]
        at = f"{name}{where}" if where else name
        raise InvalidValue(at, float(numbers[tuple(where)]), allowed)
    return numbers


def count(minimum: int = 1, /, **argument: object) -> int:
    """An integer of at least `minimum`; whole floats such as 1e4 are taken."""
    name, value = _only(argument)
    allowed = f"an integer >= {minimum}"
    if isinstance(value, bool | np.bool_):
        raise InvalidValue(name, value, allowed)
    if isinstance(value, Integral):
        number = int(value)
    elif isinstance(value, Real) and math.isfinite(float(value)) and float(value).is_integer():
        number = int(float(value))
    else:
        raise InvalidValue(name, value, allowed)
    if number < minimum:
        raise InvalidValue(name, value, allowed)
    return number


def one_of(allowed: Iterable[str], /, **argument: object) -> str:
    """One of a list of names; the nearest is suggested."""
    name, value = _only(argument)
    names = list(allowed)
    if not isinstance(value, str):
        raise InvalidValue(name, value, "one of " + ", ".join(names))
    if value not in names:
        raise UnknownName(name, value, names)
    return value


def rng(seed: np.random.Generator | int) -> np.random.Generator:
    """A generator from a seed, or the generator itself."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(count(0, seed=seed))

"""Argument checks shared by every public entrance.

Each takes exactly one keyword argument, so that the message can name it:

>>> positive(eps=0.5)
0.5
>>> positive(eps=-1)
Traceback (most recent call last):
    ...
gspa.accountant.errors.InvalidValue: eps = -1: must be a finite number > 0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial
from numbers import Integral, Rational, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gspa.accountant.errors import InvalidValue, UnknownName, shown

T = TypeVar("T")
Array = NDArray[np.float64]

MOST = 2**53 - 1  # of anything that is counted: no larger number is taken for it where it becomes a double
MOST_EXPONENT = 700.0  # e^x is a double up to there, and what it multiplies elsewhere is at most 1
UNIT = 2.0**-52  # of a double: two roundings


def _only(argument: dict[str, T]) -> tuple[str, T]:
    ((name, value),) = argument.items()
    return name, value


def _scalar(argument: dict[str, object]) -> tuple[str, object]:
    """Its name and value; of an array without axes, what it holds."""
    name, value = _only(argument)
    return name, value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _number(allowed: str, fits: Callable[[float], bool], /, **argument: object) -> float:
    """A finite real number that fits; -0.0 as 0.0."""
    name, value = _scalar(argument)
    number = _float(value)
    if not (math.isfinite(number) and fits(number)):
        raise InvalidValue(name, value, allowed)
    return number + 0.0


def is_number(value: object) -> bool:
    """Whether it is a real number; a bool is an int in Python, but `eps=True` is a mistake."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _float(value: Any) -> float:
    """NaN for what is no number."""
    try:
        return float(value) if is_number(value) else math.nan
    except OverflowError:  # an integer or a fraction beyond every float
        return math.inf


real = partial(_number, "a finite number", lambda number: True)
positive = partial(_number, "a finite number > 0", lambda number: number > 0)
nonnegative = partial(_number, "a finite number >= 0", lambda number: number >= 0)


def probability(*, allow_zero: bool = True, **argument: object) -> float:
    """A delta: in [0, 1), or in (0, 1) where the bound needs it positive."""
    allowed = "in [0, 1)" if allow_zero else "in (0, 1)"
    return _number(allowed, lambda number: 0 <= number < 1 and (allow_zero or number > 0), **argument)


def in_range(low: float, high: float, /, **argument: object) -> float:
    """A finite real number in the closed interval [low, high]."""
    return _number(f"in [{low:g}, {high:g}]", lambda number: low <= number <= high, **argument)


def rational(low: float, high: float, /, **argument: Any) -> Fraction | float:
    """A finite real number in [low, high], kept without rounding: a Fraction of what is rational, else a float.

    >>> rational(0, 1, delta=Fraction(1, 3)), rational(1, 9, ratio=2), rational(0, 1, delta=0.25)
    (Fraction(1, 3), Fraction(2, 1), 0.25)
    """
    in_range(low, high, **argument)
    value = _only(argument)[1]
    return Fraction(int(value.numerator), int(value.denominator)) if isinstance(value, Rational) else float(value)


def _masked(value: object, depth: int = 3) -> bool:
    """Whether an array, or one in a list, has an entry that is masked."""
    if isinstance(value, list | tuple):
        return depth > 0 and any(_masked(part, depth - 1) for part in value)
    mask = getattr(value, "mask", False)
    return mask is not False and not callable(mask) and bool(np.any(mask))


def array(error: type[InvalidValue] = InvalidValue, /, **argument: object) -> NDArray[Any]:
    """As numpy reads it; what is masked is refused, because numpy would put back what lies under the mask.

    >>> array(eps=[np.ma.masked])
    Traceback (most recent call last):
        ...
    gspa.accountant.errors.InvalidValue: eps = [masked]: must be an array with nothing masked; leave out what is \
masked: eps.compressed()
    """
    name, value = _only(argument)
    if _masked(value):
        one_axis = getattr(value, "ndim", 1) == 1
        hint = f"leave out what is masked: {name}.compressed()" if one_axis else "fill in what is masked"
        raise error(name, value, "an array with nothing masked", hint)
    try:
        return np.asarray(value)
    except (ValueError, OverflowError):  # ragged lists
        raise error(name, value, "a rectangular array of numbers") from None


def array_in(low: float, high: float, /, **argument: object) -> NDArray[np.float64]:
    """Numbers, none of them NaN, in [low, high]; a scalar comes back with shape ().

    >>> array_in(0, 1, alpha=[0.0, 2.0])
    Traceback (most recent call last):
        ...
    gspa.accountant.errors.InvalidValue: alpha[1] = 2.0: must be in [0, 1]
    """
    numbers = floats(**argument)
    # NaN fails both.
    return each((numbers >= low) & (numbers <= high), f"in [{low:g}, {high:g}]", **{_only(argument)[0]: numbers})


def each(
    good: NDArray[np.bool_], allowed: str, error: type[InvalidValue] = InvalidValue, /, **argument: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Numbers that are all good; the first that is not is named."""
    name, numbers = _only(argument)
    if not good.all():
        where = [int(i) for i in np.argwhere(~good)[0]]
        raise error(f"{name}{where}" if where else name, float(numbers[tuple(where)]), allowed)
    return numbers


def whole(minimum: int = 1, /, **argument: object) -> NDArray[np.float64]:
    """Integers from `minimum` to 2^53 - 1, as doubles; a scalar comes back with shape ()."""
    numbers = floats(**argument)
    good = (numbers >= minimum) & (numbers <= MOST) & (numbers == np.floor(numbers))
    return each(good, f"whole numbers from {minimum} to 2^53 - 1", **{_only(argument)[0]: numbers})


def count(minimum: int = 1, most: float = MOST, /, **argument: Any) -> int:
    """An integer of at least `minimum`; whole floats such as 1e4 are taken."""
    name, value = _scalar(argument)
    number = int(value) if isinstance(value, Integral) and is_number(value) else _float(value)
    if not minimum <= number < math.inf or number % 1:
        raise InvalidValue(name, value, f"an integer >= {minimum}")
    if number > most:
        raise InvalidValue(name, value, f"an integer from {minimum} to {'2^53 - 1' if most == MOST else f'{most:,}'}")
    return int(number)


def index(size: int, whose: str, /, **argument: Any) -> int:
    """A place among so many."""
    place = count(0, **argument)
    if place >= size:
        raise InvalidValue(*_scalar(argument), f"an index of {whose}, 0 to {size - 1}")
    return place


def integer(text: str) -> int:
    """A text as the integer that it means, as `count` takes 1e4; ValueError where it means none."""
    try:
        number = Decimal(text)
    except ArithmeticError:
        number = Decimal("nan")
    # An exponent is cheap to write and dear to carry out.
    if not number.is_finite() or number.adjusted() > 100 or number != number.to_integral_value():
        raise ValueError(f"{shown(text)} is not a valid integer")
    return int(number)


seed = partial(count, 0, math.inf)  # of any size: it only starts a generator


def counts(minimum: int = 1, /, **argument: object) -> list[int]:
    """Integers of at least `minimum` in a row, at least one of them."""
    name, parts = _only(argument)[0], row(**argument)
    if not parts:
        raise InvalidValue(name, parts, "a list of numbers, at least one")
    return [count(minimum, **{f"{name}[{i}]": part}) for i, part in enumerate(parts)]


def floats(**argument: object) -> NDArray[np.float64]:
    """An array of numbers, NaN and infinities among them: what its entries may be is for the caller to say."""
    name, value = _only(argument)
    numbers = array(**argument)
    if numbers.dtype == object and all(map(is_number, numbers.flat)):
        numbers = np.array([_float(x) for x in numbers.flat]).reshape(numbers.shape)  # fractions among them
    if numbers.size and numbers.dtype.kind not in "iuf":
        raise InvalidValue(name, value, "a number or a rectangular array of numbers")
    return numbers.astype(np.float64)


def row(**argument: Any) -> list[Any]:
    """The parts of a list, a tuple or an array, of which there may be none."""
    name, value = _only(argument)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        with suppress(TypeError):  # an array without axes
            return list(value)
    raise InvalidValue(name, value, "a list")


def one_of(allowed: Iterable[str], /, **argument: object) -> str:
    """One of a list of names; the nearest is suggested."""
    name, value = _only(argument)
    names = list(allowed)
    if not isinstance(value, str):
        raise InvalidValue(name, value, "one of " + ", ".join(names))
    if value not in names:
        raise UnknownName(name, value, names)
    return value


def text(**argument: object) -> str:
    """A string."""
    name, value = _only(argument)
    if not isinstance(value, str):
        raise InvalidValue(name, value, "a string")
    return value


def fields(record: object, check: Callable[..., Any], *names: str) -> None:
    """Check fields of a frozen dataclass, in its `__post_init__`, and set them to what the check returns: 4 for 4.0."""
    for name in names:
        object.__setattr__(record, name, check(**{name: getattr(record, name)}))


def rng(seed_or_rng: np.random.Generator | int, /) -> np.random.Generator:
    """A generator from a seed, or the generator itself."""
    if isinstance(seed_or_rng, np.random.Generator):
        return seed_or_rng
    return np.random.default_rng(seed(seed=seed_or_rng))

"""Calls one function with drawn arguments and says what is wrong with what it did."""

from __future__ import annotations

import dataclasses
import inspect
import logging
import math
import signal
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
from fuzz_values import Kind, resolved
from hypothesis import strategies as st

from gspa.accountant.bound import Bound
from gspa.accountant.errors import GspaError
from gspa.accountant.one_round import UserBounds

SECONDS = 20  # of this process's own time: on a busy machine too, only what never ends takes so long


class Wrong(AssertionError):
    """A function broke the contract for bad input."""


class _TooLong(BaseException):
    """Not an Exception, so that no function can take it for its own."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise _TooLong


def arguments(
    kinds: Mapping[str, Kind], together: Sequence[Mapping[str, Any]] = ()
) -> st.SearchStrategy[dict[str, Any]]:
    """Nearly valid arguments: all as they should be, or all but one or two.

    Args:
        kinds: how each argument is drawn.
        together: values of several arguments that go together; one of these replaces what was drawn as it should be.
    """
    names = list(kinds)
    wrong = [name for name in names if kinds[name].bad is not None]

    def drawn(bad: frozenset[str]) -> st.SearchStrategy[dict[str, Any]]:
        alone = st.fixed_dictionaries({name: kinds[name].bad if name in bad else kinds[name].good for name in names})
        if not together:
            return alone
        fitting = [{name: value for name, value in one.items() if name not in bad} for one in together]
        return st.builds(lambda one, other: one | other, alone, st.sampled_from(fitting))

    if not wrong:
        return drawn(frozenset())
    some = st.frozensets(st.sampled_from(wrong), max_size=2)
    return st.one_of(drawn(frozenset()), some.flatmap(drawn))


def _called(function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    parameters = inspect.signature(function).parameters
    positional = [given[name] for name, one in parameters.items() if one.kind is one.POSITIONAL_ONLY]
    named = {name: value for name, value in given.items() if name not in list(parameters)[: len(positional)]}
    return function(*positional, **named)


def _numbers(found: Any, where: str) -> Iterator[tuple[str, float]]:
    if isinstance(found, pd.DataFrame):
        for column in found.columns:
            for value in found[column]:
                yield from _numbers(value, f"{where}[{column!r}]")
    elif isinstance(found, pd.Series):
        for value in found:
            yield from _numbers(value, where)
    elif isinstance(found, np.ndarray):
        for value in found.ravel().tolist():
            yield from _numbers(value, where)
    elif isinstance(found, float | np.floating):
        yield where, float(found)
    elif isinstance(found, Mapping):
        for key, value in found.items():
            yield from _numbers(value, f"{where}[{key!r}]")
    elif isinstance(found, list | tuple):
        for value in found:
            yield from _numbers(value, where)
    elif dataclasses.is_dataclass(found) and not isinstance(found, type):
        for field in dataclasses.fields(found):
            yield from _numbers(getattr(found, field.name), f"{where}.{field.name}")


def _check(found: Any, nan: bool) -> None:
    if isinstance(found, Bound) and not 0 <= found.lower <= found.value <= found.upper:
        raise Wrong(f"bounds out of order: {found.lower} {found.value} {found.upper}")
    if isinstance(found, UserBounds) and not (np.asarray(found.lower) <= np.asarray(found.upper)).all():
        raise Wrong(f"bounds out of order: {found.lower} {found.upper}")
    if isinstance(found, Fraction) or nan:
        return
    for where, number in _numbers(found, ""):
        if math.isnan(number):
            raise Wrong(f"NaN in the answer{where}")


def outcome(function: Callable[..., Any], given: Mapping[str, Any], *, nan: bool = False) -> str:
    """ "answered" or "refused"; anything else is raised as `Wrong`."""
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    logging.disable(logging.WARNING)  # dp_accounting says at each call which of its algorithms it takes
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = _called(function, {name: resolved(value) for name, value in given.items()})
    except GspaError as refusal:
        message = str(refusal)
        if not message.strip() or len(message.splitlines()) != 1:
            raise Wrong(f"a message that is not one line: {message!r}") from refusal
        return "refused"
    except _TooLong:
        raise Wrong(f"took more than {SECONDS} s") from None
    except Exception as error:
        raise Wrong(f"{type(error).__name__}: {error}") from error
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        logging.disable(logging.NOTSET)
        signal.signal(signal.SIGVTALRM, before)
    _check(found, nan)
    return "answered"

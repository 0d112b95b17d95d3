"""Every error that gspa raises on purpose.

A message is one line that says which argument, which value, what is allowed and
what to do. The command line prints it as it is and ends with `exit_code`.
"""

from __future__ import annotations

from collections.abc import Iterable
from copyreg import __newobj__  # type: ignore[attr-defined]  # makes an object by `__new__` alone
from difflib import get_close_matches
from reprlib import Repr
from typing import Any


class GspaError(Exception):
    """Base of all deliberate errors; `exit_code` is the command line's exit status."""

    exit_code = 2

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild without `__init__`, whose arguments are not those kept: an error crosses processes as it was."""
        return __newobj__, (type(self), *self.args), self.__dict__


_SHOWN = 60  # characters
_REPR = Repr()  # of a list that holds itself, or ten lists of ten lists of ten, only the start is written
_REPR.maxlevel, _REPR.maxstring, _REPR.maxother, _REPR.maxlong = 3, 4 * _SHOWN, 4 * _SHOWN, 4 * _SHOWN
_REPR.maxlist = _REPR.maxtuple = _REPR.maxdict = _REPR.maxset = _REPR.maxfrozenset = _REPR.maxdeque = _SHOWN // 3
_REPR.maxarray = _SHOWN // 3


def shown(value: object) -> str:
    """The start of a value's repr, in one line: an array's has several, and a number may have millions of digits."""
    try:
        text = " ".join(_REPR.repr(value).split())
    except ValueError:  # which Python refuses to print
        return f"a {type(value).__name__} too long to print"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


class InvalidValue(GspaError, ValueError):
    """An argument is outside its allowed range or of the wrong type: what every public function refuses first."""

    def __init__(self, name: str, value: object, allowed: str, hint: str = "") -> None:
        name = " ".join(name.split())  # a file's name may hold a line break
        super().__init__(f"{name} = {shown(value)}: must be {allowed}" + (f"; {hint}" if hint else ""))


class InvalidBudget(InvalidValue):
    """A set of local budgets is empty, malformed or out of range."""


class OutsideValidity(GspaError, ValueError):
    """A published bound was asked for a setting outside its stated conditions."""

    def __init__(self, bound: str, condition: str, hint: str = "") -> None:
        super().__init__(f"{bound}: needs {condition}" + (f"; {hint}" if hint else ""))


class UnknownName(GspaError, KeyError):
    """A notebook, parameter, distribution or claim of that name does not exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = list(known)
        near = get_close_matches(name, names, n=1, cutoff=0.4)
        message = f"{kind} {shown(name)}: does not exist; "
        message += f"did you mean {near[0]!r}?" if near else "known: " + ", ".join(names)
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:  # KeyError would show the repr
        return self.message


class DataUnavailable(GspaError):
    """A data set is neither on disk nor downloadable."""


class DataCorrupted(GspaError):
    """A data file is present but is not what its checksum says; it is never used."""


class InvalidOutput(GspaError):
    """An output place cannot be written; raised before any work starts."""


class CheckFailed(GspaError):
    """Work was done and its result is a failure: a notebook raised, a check did not hold."""

    exit_code = 1


class InternalError(GspaError):
    """A computation contradicts itself: a fault of the program, whatever the input; no answer is given."""

    exit_code = 1


class ProcessDied(CheckFailed):
    """A process ended before its work did, as one killed for memory does; another try may succeed."""

"""Errors cross a process boundary as they were: a worker's one clear line reaches the caller."""

from __future__ import annotations

import pickle

import pytest

from gspa.accountant import errors

RAISED = [
    errors.GspaError("plain"),
    errors.InvalidValue("eps", -1, "> 0", "use a positive one"),
    errors.InvalidBudget("eps", 0, "> 0"),
    errors.OutsideValidity("a bound", "n > 1"),
    errors.UnknownName("claim", "G-T9", ["G-T2"]),
    errors.CheckFailed("failed"),
    errors.ProcessDied("killed"),
]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_pickling_keeps_type_message_and_attributes(error):
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is type(error)
    assert str(found) == str(error)
    assert found.args == error.args
    assert vars(found) == vars(error)

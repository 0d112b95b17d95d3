"""Every door on nearly valid and on hopeless arguments: an answer or one typed, one-line refusal.

Never another exception or a warning, never NaN that the documentation does not explain, never a lower bound above its
upper one, never a call without end. `fuzz_entries` says what the doors are and how arguments are drawn, `fuzz_judge`
what counts as wrong.
"""

from __future__ import annotations

import inspect
import time
from collections import Counter
from importlib import import_module
from typing import Any

import fuzz_entries
import fuzz_judge
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from gspa.accountant.bound import Bound
from gspa.accountant.errors import GspaError

KEYS = fuzz_entries.keys()
LONG = 100_000


def shown(given: dict[str, Any]) -> str:
    """Arguments in one line; a number too long to print by its size."""
    parts = []
    for name, value in given.items():
        try:
            text = " ".join(repr(value).split())
        except ValueError:
            text = "an integer of thousands of digits"
        parts.append(f"{name}={text if len(text) < 80 else text[:60] + '...'}")
    return ", ".join(parts)


def drawn(key: str, most: int, seconds: float, found: Counter[str], wrong: list[str]) -> None:
    """Call one door up to `most` times, as far as `seconds` last; count what came of it, and say what was wrong."""
    entry, begun = fuzz_entries.entry(key), time.process_time()

    # Nothing is shrunk: the arguments are small, and all that is wrong is to be seen at once.
    @settings(
        max_examples=most if entry else 1,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(fuzz_judge.arguments(entry, fuzz_entries.TOGETHER.get(key, ())))
    def call(arguments: dict[str, Any]) -> None:
        if time.process_time() - begun > seconds and found.total():
            return
        try:
            said = fuzz_judge.outcome(fuzz_entries.target(key), arguments, nan=fuzz_entries.nan_is_explained(key))
        except fuzz_judge.Wrong as fault:
            said = "wrong"
            wrong.append(f"{key}({shown(arguments)}): {' '.join(str(fault).split())[:200]}")
        found[said] += 1

    call()


def test_every_door_is_drawn():
    # A door with an argument that nothing says how to draw raises KeyError here.
    entries = {key: fuzz_entries.entry(key) for key in KEYS}
    assert len(entries) > 150
    assert set(entries) | set(fuzz_entries.LEFT_OUT) >= set(fuzz_entries.doors())


def test_no_entry_is_left_from_a_door_that_is_gone():
    doors, modules = fuzz_entries.doors(), set(fuzz_entries.modules())
    assert set(fuzz_entries.LEFT_OUT) <= set(doors)
    assert set(fuzz_entries.TOGETHER) <= set(KEYS)
    assert set(fuzz_entries.OWN) <= set(KEYS) | modules
    for key, fitting in fuzz_entries.TOGETHER.items():
        assert {name for one in fitting for name in one} <= set(fuzz_entries.entry(key)), key
    for key, own in fuzz_entries.OWN.items():
        of = [key] if key in KEYS else [one for one in KEYS if one.startswith(f"{key}.")]
        taken = {name for one in of for name in inspect.signature(fuzz_entries.target(one)).parameters}
        assert set(own) <= taken or "parameters" in taken, key


@pytest.mark.parametrize("key", fuzz_entries.INSIDE)
def test_what_is_no_door_is_still_there(key):
    if key not in fuzz_entries.modules():
        module, _, name = key.rpartition(".")
        assert callable(getattr(import_module(f"gspa.{module}"), name))


def test_the_judge_sees_what_is_wrong():
    def fails(x):
        raise ValueError(x)

    def warns(x):
        return np.log(np.zeros(1))

    def nan(x):
        return {"a": [float("nan")]}

    def two_lines(x):
        raise GspaError("one\ntwo")

    def crossed(x):
        bound = Bound(0.0, 0.5, 1.0, "m", "v")
        object.__setattr__(bound, "lower", 2.0)
        return bound

    for function in (fails, warns, nan, two_lines, crossed):
        with pytest.raises(fuzz_judge.Wrong):
            fuzz_judge.outcome(function, {"x": 1})
    assert fuzz_judge.outcome(lambda x: x, {"x": 0.5}) == "answered"


def test_the_judge_ends_what_does_not_end(monkeypatch):
    monkeypatch.setattr(fuzz_judge, "SECONDS", 0.05)

    def forever(x):
        while True:
            x += 1

    with pytest.raises(fuzz_judge.Wrong, match="took more than"):
        fuzz_judge.outcome(forever, {"x": 1})


@pytest.mark.parametrize("part", range(6))
def test_a_few_inputs_for_every_door(part):
    total: Counter[str] = Counter()
    wrong: list[str] = []
    for key in KEYS[part::6]:
        found: Counter[str] = Counter()
        drawn(key, 3, 0.15, found, wrong)
        total += found
    assert not wrong, "\n".join(wrong[:40])
    assert min(total["answered"], total["refused"]) > 20


@pytest.mark.slow
def test_a_hundred_thousand_inputs(capsys):
    total: Counter[str] = Counter()
    wrong: list[str] = []
    silent = []
    for key in KEYS:
        found: Counter[str] = Counter()
        drawn(key, 1_000, 4, found, wrong)
        total += found
        silent += [] if found["answered"] else [key]
    with capsys.disabled():
        counts = ", ".join(f"{count:,} {said}" for said, count in sorted(total.items()))
        print(f"\n{total.total():,} inputs for {len(KEYS)} functions, classes and methods: {counts}")
    assert not wrong, "\n".join(wrong[:40])
    assert not silent, f"never answered, so their entries say nothing: {silent}"
    assert total.total() >= LONG

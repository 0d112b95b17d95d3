"""Every public function on nearly valid and on hopeless arguments: an answer or one typed, one-line refusal.

Never another exception or a warning, never NaN that the documentation does not explain, never a lower bound above its
upper one, never a call without end. `fuzz_functions` says how arguments are drawn, `fuzz_judge` what counts as wrong.
"""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any

import fuzz_functions
import fuzz_judge
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from gspa.bound import Bound
from gspa.errors import GspaError

KEYS = fuzz_functions.keys()
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


def drawn(key: str, most: int, found: Counter[str], wrong: list[str]) -> None:
    """Call one function `most` times, count what came of it, and say what was wrong."""
    strategy = fuzz_judge.arguments(fuzz_functions.entry(key), fuzz_functions.TOGETHER.get(key, ()))

    # Nothing is shrunk: the arguments are small, and all that is wrong is to be seen at once.
    @settings(
        max_examples=most,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def call(arguments: dict[str, Any]) -> None:
        try:
            said = fuzz_judge.outcome(fuzz_functions.target(key), arguments, nan=fuzz_functions.nan_is_explained(key))
        except fuzz_judge.Wrong as fault:
            said = "wrong"
            wrong.append(f"{key}({shown(arguments)}): {' '.join(str(fault).split())[:200]}")
        found[said] += 1

    call()


def test_every_public_function_is_drawn():
    # A public function with an argument that nothing says how to draw raises KeyError here.
    entries = {key: fuzz_functions.entry(key) for key in KEYS}
    assert len(entries) > 500
    assert set(fuzz_functions.LEFT_OUT) <= set(fuzz_functions.public_functions())
    assert set(entries) | set(fuzz_functions.LEFT_OUT) >= set(fuzz_functions.public_functions())


def test_no_entry_is_left_from_a_function_that_is_gone():
    public = fuzz_functions.public_functions()
    assert set(fuzz_functions.OWN) <= set(public)
    assert set(fuzz_functions.TOGETHER) <= set(public)
    assert set(fuzz_functions.SLOW) <= set(KEYS)
    for key, own in fuzz_functions.OWN.items():
        assert set(own) <= set(inspect.signature(public[key]).parameters), key


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


@pytest.mark.parametrize("part", range(8))
def test_a_few_inputs_for_every_function(part):
    found: Counter[str] = Counter()
    wrong: list[str] = []
    for key in KEYS[part::8]:
        drawn(key, max(1, fuzz_functions.examples(key) // 60), found, wrong)
    assert not wrong, "\n".join(wrong)
    assert min(found["answered"], found["refused"]) > 20


@pytest.mark.slow
def test_a_hundred_thousand_inputs(capsys):
    total: Counter[str] = Counter()
    wrong: list[str] = []
    silent = []
    for key in KEYS:
        found: Counter[str] = Counter()
        drawn(key, fuzz_functions.examples(key), found, wrong)
        total += found
        silent += [] if found["answered"] else [key]
    with capsys.disabled():
        counts = ", ".join(f"{count:,} {said}" for said, count in sorted(total.items()))
        print(f"\n{total.total():,} inputs for {len(KEYS)} functions and classes: {counts}")
    assert not wrong, "\n".join(wrong)
    assert not silent, f"never answered, so their entries say nothing: {silent}"
    assert total.total() >= LONG

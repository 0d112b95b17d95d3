"""Every public function on nearly valid and on hopeless arguments: an answer or one typed, one-line refusal.

Never another exception or a warning, never NaN that the documentation does not explain, never a lower bound above its
upper one, never a call without end. `fuzz_functions` says how arguments are drawn, `fuzz_judge` what counts as wrong.
"""

from __future__ import annotations

import inspect
from collections import Counter
from fractions import Fraction
from typing import Any

import fuzz_functions
import fuzz_judge
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from gspa import _validate as check
from gspa import (
    budgets,
    calibrate,
    composition,
    decomposition,
    estimators,
    exact_rr,
    gaussian_guarantee,
    normal_limit,
    parameters,
    slack,
)
from gspa.accountant import central_epsilon
from gspa.audit import Laws
from gspa.blanket_limit import blanket_limit
from gspa.bound import Bound
from gspa.errors import GspaError, InvalidBudget, InvalidValue, OutsideValidity

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
    assert len(entries) > 400
    assert set(fuzz_functions.LEFT_OUT) <= set(fuzz_functions.public_functions())
    assert set(entries) | set(fuzz_functions.LEFT_OUT) >= set(fuzz_functions.public_functions())


def test_no_entry_is_left_from_a_function_that_is_gone():
    public = fuzz_functions.public_functions()
    assert set(fuzz_functions.OWN) <= set(public)
    assert set(fuzz_functions.TOGETHER) <= set(public)
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
        drawn(key, 6 if fuzz_functions.examples(key) == fuzz_functions.MOST else 1, found, wrong)
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


class TestMended:
    """What the drawn inputs found, each once by hand."""

    @pytest.mark.parametrize("value", [10**400, -(10**400), 10**5000, Fraction(10**400)], ids=range(4))
    def test_numbers_beyond_every_double(self, value):
        for refused in (
            lambda: check.positive(eps=value),
            lambda: check.count(n=value),
            lambda: check.array_in(0, 1, p=[value]),
            lambda: budgets.constant(0.5, n=value),
        ):
            with pytest.raises(InvalidValue):
                refused()

    def test_counts_end_where_numpy_does(self):
        assert check.count(n=2**63 - 1) == 2**63 - 1
        with pytest.raises(InvalidValue, match=r"an integer from 1 to 2\^63 - 1"):
            check.count(n=2**63)
        assert check.seed(seed=2**127) == 2**127  # a seed only starts a generator

    def test_a_huge_mu_leaves_no_slack(self):
        # The bracket was halved for ever where every slack that a double can hold is too much.
        assert slack.slack_allowed(0.4, mu=1e150) < 1e-299
        table = gaussian_guarantee.what_is_left([("a", "b", budgets.constant(700.0, n=3))], delta=0.25)
        assert table["allowed"].iloc[0] == pytest.approx(0.0, abs=1e-290)

    def test_the_largest_number_of_rounds_is_looked_at_at_once(self, monkeypatch):
        asked = []
        real = calibrate.compose

        def counted(rounds, *, delta):
            asked.append(rounds[0][1])
            return real(rounds, delta=delta)

        monkeypatch.setattr(calibrate, "compose", counted)
        with pytest.raises(OutsideValidity, match="a target that 1,000,000 rounds miss"):
            calibrate.most_rounds(budgets.constant(1e-9, n=5), eps=1.0, delta=0.1)
        assert len(asked) < 10

    def test_a_grid_that_no_memory_holds_is_refused(self):
        one = composition.shuffled(budgets.constant(700.0, n=3), mechanism="krr", k=3)
        with pytest.raises(OutsideValidity, match="a grid of at most"):
            composition.compose([(one, 10**6)], delta=0.3)

    @pytest.mark.parametrize("mechanism", [{"mechanism": "krr", "k": 3}, {"mechanism": "subset", "k": 4, "size": 2}])
    def test_a_budget_beyond_every_double_hides_nothing(self, mechanism):
        with pytest.raises(OutsideValidity, match="eps <= 700"):
            central_epsilon(budgets.constant(1e308, n=2), delta=0.1, **mechanism)
        with pytest.raises(OutsideValidity, match=r"eps <= 1e\+100"):
            exact_rr.exact_epsilon(budgets.constant(1e308, n=2), delta=0.1)

    def test_a_limit_without_others_is_no_nan(self):
        limit = blanket_limit([2.6377018779549717], count=20, mechanism="gaussian", delta=0.19137667385990165)
        assert np.isfinite([value for value in limit if isinstance(value, float)]).all()

    def test_an_attack_at_an_eps_beyond_every_double(self):
        laws = Laws(np.array([0.5, 0.5]), np.array([0.25, 0.75]), 0.0)
        assert laws.delta(1e308) == 0.0
        assert laws.delta(1e308, side=1) < 1e-12

    def test_infinitely_many_users_have_no_covariance(self):
        with pytest.raises(InvalidValue, match="whole numbers"):
            normal_limit.covariance([0.5], count=[float("inf")])

    def test_without_delta_the_rest_has_no_distance(self):
        assert decomposition.rest_distance(Fraction(3), Fraction(0)) == 0

    @pytest.mark.parametrize("x", [[[1], [1, 0]], ["1", "0"], [None, 1], ...])
    def test_what_is_no_list_of_bits(self, x):
        with pytest.raises(InvalidValue):
            estimators.frequency_estimate(x, [0.5, 0.5])

    @pytest.mark.parametrize("path", [None, 1.5, ("a",), "a\0b"])
    def test_what_is_no_path(self, path):
        with pytest.raises(InvalidBudget):
            budgets.from_csv(path)

    def test_a_file_name_of_two_lines_is_shown_in_one(self):
        with pytest.raises(InvalidBudget) as refused:
            budgets.from_csv("a\nb.csv")
        assert len(str(refused.value).splitlines()) == 1

    def test_a_yaml_document_makes_no_objects(self, tmp_path):
        file = tmp_path / "p.yaml"
        file.write_text("n: !!python/object/apply:os.getpid []\n")
        with pytest.raises(GspaError, match="not valid YAML"):
            parameters.from_file(file)

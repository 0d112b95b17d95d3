"""G-A2: unbiased or not, and never a verdict from a simulation that contradicts the formula."""

from __future__ import annotations

import json

import pytest

from gspa import estimators, experiments
from gspa.claims import settle


@pytest.fixture(scope="module")
def sweep():
    return experiments.frequency_sweep(n=1_000, points=3, repeats=200)


@pytest.fixture(scope="module")
def biases():
    return experiments.frequency_bias(n=1_000, deals=50)


def test_the_packages_own_numbers_need_a_correction(sweep, biases):
    found = settle("G-A2", sweep=sweep, biases=biases)
    assert found.verdict == "holds with correction"
    assert r"\tanh(\epsilon_i/2)" in found.correction
    assert f"{biases['conservative']:+.3f}" in found.reason
    assert f"{biases['liberal']:+.3f}" in found.reason
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


def test_the_check_computes_what_is_not_given(monkeypatch, sweep, biases):
    asked = []
    monkeypatch.setattr(experiments, "frequency_sweep", lambda **sizes: asked.append(sizes) or sweep)
    monkeypatch.setattr(experiments, "frequency_bias", lambda: biases)
    assert settle("G-A2", profile="quick").verdict == "holds with correction"
    assert settle("G-A2").verdict == "holds with correction"
    # "repeated 1,000 times" is the paper's size.
    assert asked == [{"points": 6, "repeats": 200}, {"points": 25, "repeats": 1_000}]


@pytest.mark.parametrize("change", [{"weight_spread": 0.0}, {"share": 0.0}, {"share": 1.0}])
def test_nothing_that_varies_settles_nothing(sweep, biases, change):
    found = settle("G-A2", sweep=sweep, biases=biases | change)
    assert (found.verdict, found.missing) == ("not yet checked", "settings")


def test_no_bias_anywhere_is_verified(sweep, biases):
    none = biases | {"conservative": 0.0, "liberal": 1e-12, "simulated": biases["simulated_error"]}
    assert settle("G-A2", sweep=sweep, biases=none).verdict == "verified"


@pytest.mark.parametrize("case", ["conservative", "liberal"])
def test_bias_on_one_side_is_enough_for_a_correction(sweep, biases, case):
    other = {"conservative": "liberal", "liberal": "conservative"}[case]
    one = biases | {other: 0.0}
    one["simulated"] = one["conservative"]
    assert settle("G-A2", sweep=sweep, biases=one).verdict == "holds with correction"


def test_a_bias_with_equal_budgets_refutes(sweep, biases):
    found = settle("G-A2", sweep=sweep, biases=biases | {"equal": 1e-6})
    assert found.verdict == "refuted"


@pytest.mark.parametrize(("errors", "verdict"), [(4.0, "holds with correction"), (6.0, "refuted"), (-6.0, "refuted")])
def test_a_bias_with_independent_bits_refutes(sweep, biases, errors, verdict):
    shifted = biases | {"independent": errors * biases["independent_error"]}
    assert settle("G-A2", sweep=sweep, biases=shifted).verdict == verdict


@pytest.mark.parametrize("side", [1, -1])
def test_a_sweep_that_misses_the_closed_form_at_one_point_proves_nothing(sweep, biases, side):
    biased = sweep.copy()
    biased.loc[2, "bias"] = biased.loc[2, "exact_bias"] + side * 6 * biased.loc[2, "bias_error"]
    found = settle("G-A2", sweep=biased, biases=biases)
    assert found.verdict == "not checkable"
    assert "6.0 standard errors" in found.evidence["largest gap of simulation and closed form, 6 points"]


def test_a_simulated_bias_that_misses_the_closed_form_proves_nothing(sweep, biases):
    off = biases | {"simulated": biases["conservative"] + 6 * biases["simulated_error"]}
    assert settle("G-A2", sweep=sweep, biases=off).verdict == "not checkable"


def test_the_papers_formula_in_place_of_the_true_one_is_found_out(monkeypatch):
    # E(z) = c whatever the budgets: all exact biases become 0, and the simulation disagrees.
    monkeypatch.setattr(estimators, "frequency_expectation", lambda x, eps: float(x.mean()))
    found = settle(
        "G-A2",
        sweep=experiments.frequency_sweep(n=1_000, points=2, repeats=200),
        biases=experiments.frequency_bias(n=1_000, deals=2),
    )
    assert found.verdict == "not checkable"


def test_budgets_so_large_that_nothing_varies_are_no_division_by_zero():
    large = {"eps_conservative": 20, "eps_moderate": 20, "eps_liberal": 20}
    sweep = experiments.frequency_sweep(n=100, points=2, repeats=5, **large)
    biases = experiments.frequency_bias(n=100, deals=3, **large)
    assert biases["simulated_error"] == 0
    assert settle("G-A2", sweep=sweep, biases=biases).verdict == "not yet checked"
    # Without spread any gap beyond rounding is a contradiction.
    off = biases | {"simulated": 1e-3}
    assert settle("G-A2", sweep=sweep, biases=off).verdict == "not checkable"

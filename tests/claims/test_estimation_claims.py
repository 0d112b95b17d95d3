"""Unbiased or not, linear or not, and never a verdict from a simulation that contradicts the formula."""

from __future__ import annotations

import json

import pytest

from gspa import error_laws, estimation, estimators, mean_estimation
from gspa.claims import settle
from gspa.claims.registry import claim
from gspa.error_laws import Groups


@pytest.fixture(scope="module")
def sweep():
    return estimation.frequency_sweep(Groups(n=1_000), points=3, repeats=200)


@pytest.fixture(scope="module")
def biases():
    return estimation.frequency_bias(Groups(n=1_000), deals=50)


def test_the_packages_own_numbers_need_a_correction(sweep, biases):
    found = settle("G-A2", sweep=sweep, biases=biases)
    assert found.verdict == "holds with correction"
    assert r"\tanh(\epsilon_i/2)" in found.correction
    assert f"{biases['conservative']:+.3f}" in found.reason
    assert f"{biases['liberal']:+.3f}" in found.reason
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


def test_the_check_computes_what_is_not_given(monkeypatch, sweep, biases):
    asked = []
    monkeypatch.setattr(estimation, "frequency_sweep", lambda **sizes: asked.append(sizes) or sweep)
    monkeypatch.setattr(estimation, "frequency_bias", lambda: biases)
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
        sweep=estimation.frequency_sweep(Groups(n=1_000), points=2, repeats=200),
        biases=estimation.frequency_bias(Groups(n=1_000), deals=2),
    )
    assert found.verdict == "not checkable"


def test_budgets_so_large_that_nothing_varies_are_no_division_by_zero():
    large = Groups(n=100, eps_conservative=20, eps_moderate=20, eps_liberal=20)
    sweep = estimation.frequency_sweep(large, points=2, repeats=5)
    biases = estimation.frequency_bias(large, deals=3)
    assert biases["simulated_error"] == 0
    assert settle("G-A2", sweep=sweep, biases=biases).verdict == "not yet checked"
    # Without spread any gap beyond rounding is a contradiction.
    off = biases | {"simulated": 1e-3}
    assert settle("G-A2", sweep=sweep, biases=off).verdict == "not checkable"


FIGURE = {
    "G-FIG3A": ("mean", "f_conservative"),
    "G-FIG3B": ("mean", "eps_conservative"),
    "G-FIG3C": ("frequency", "f_conservative"),
    "G-FIG3D": ("frequency", "eps_conservative"),
}


@pytest.fixture(scope="module")
def panels():
    """Each panel's evidence, small."""
    small = {"points": 6, "repeats": 400}
    found = {}
    for name, (estimand, vary) in FIGURE.items():
        simulate = estimation.mean_sweep if estimand == "mean" else estimation.frequency_sweep
        axes = [error_laws.F_CONSERVATIVE] if vary == "f_conservative" else [(0.01, 0.5), (0.1, 0.5)]
        fits = error_laws.linearity(Groups(), estimand=estimand, vary=vary, axes=axes)
        found[name] = {"sweep": simulate(vary=vary, **small), "fits": fits}
    return found


@pytest.mark.parametrize("name", FIGURE)
def test_a_panels_own_numbers_give_the_recorded_verdict(panels, name):
    found = settle(name, **panels[name])
    assert found.verdict == claim(name).verdict
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    if name == "G-FIG3A":
        assert "squared error is linear" in found.correction
        assert found.evidence["R² of a line, error, axis 0.01 to 0.5"].startswith("0.980")
        assert "98.0%" in found.reason
    if name in ("G-FIG3C", "G-FIG3D"):
        assert "1/error is linear" in found.correction
    if name == "G-FIG3B":
        assert "R² of a line, error, axis 0.1 to 0.5" in found.evidence
        assert "falls" in found.reason


@pytest.mark.parametrize("name", FIGURE)
def test_a_panels_check_runs_by_itself(name):
    assert settle(name, profile="quick").verdict in (claim(name).verdict, "not yet checked")


@pytest.mark.parametrize("name", FIGURE)
def test_a_straight_line_is_verified_and_a_curve_without_any_measure_refuted(panels, name):
    one = panels[name]["fits"].assign(r_squared=0.995)
    assert settle(name, **panels[name] | {"fits": one}).verdict == "verified"
    none = panels[name]["fits"].assign(r_squared=0.985)
    assert settle(name, **panels[name] | {"fits": none}).verdict == "refuted"


@pytest.mark.parametrize("name", FIGURE)
def test_one_reading_or_axis_that_is_no_line_is_enough_against_it(panels, name):
    fits = panels[name]["fits"].assign(r_squared=0.995)
    fits.loc[fits["measure"] == "error", "r_squared"] = [0.98] + [0.999] * (sum(fits["measure"] == "error") - 1)
    assert settle(name, **panels[name] | {"fits": fits}).verdict == "holds with correction"


@pytest.mark.parametrize("name", FIGURE)
def test_the_wrong_direction_is_refuted(panels, name):
    turned = panels[name]["fits"].assign(monotone=-panels[name]["fits"]["monotone"], r_squared=1.0)
    found = settle(name, **panels[name] | {"fits": turned})
    assert found.verdict == "refuted"
    assert "does not" in found.reason


@pytest.mark.parametrize("name", FIGURE)
def test_ends_that_noise_could_exchange_settle_nothing(panels, name):
    noisy = panels[name]["sweep"].copy()
    noisy["mae_error"] = noisy["mae"].max()
    found = settle(name, **panels[name] | {"sweep": noisy})
    assert (found.verdict, found.missing) == ("not yet checked", "size")


@pytest.mark.parametrize("name", FIGURE)
@pytest.mark.parametrize("column", ["exact", "law"])
def test_a_wrong_formula_proves_nothing(panels, name, column):
    wrong = panels[name]["sweep"].copy()
    wrong.loc[3, column] *= 1.5
    assert settle(name, **panels[name] | {"sweep": wrong}).verdict == "not checkable"


def test_half_the_noise_in_the_exact_error_is_found_out(monkeypatch):
    true = mean_estimation.mean_error
    monkeypatch.setattr(mean_estimation, "mean_error", lambda eps, **given: true(eps, **given) / 2**0.5)
    found = settle("G-FIG3A", sweep=estimation.mean_sweep(points=3, repeats=400))
    assert found.verdict == "not checkable"

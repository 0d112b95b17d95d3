"""G-D1, G-D1p, G-D2, G-D4, G-D5, G-C5: what they say of the package's numbers, and that they can say something else."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from gspa import discrete, local_privacy, mechanisms, noise
from gspa.claims import settle
from gspa.claims.registry import claim

VERDICTS = {
    "G-D1": "verified",
    "G-D1p": "holds with correction",
    "G-D2": "holds with correction",
    "G-D4": "verified",
    "G-D5": "holds with correction",
    "G-C5": "holds with correction",
}


@pytest.mark.parametrize("name", VERDICTS)
@pytest.mark.parametrize("profile", ["quick", "paper"])
def test_the_packages_own_numbers(name, profile):
    found = settle(name, profile=profile)
    assert found.verdict == VERDICTS[name] == claim(name).verdict
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


class TestDefinition1:
    def test_two_relations_have_two_numbers(self):
        found = settle("G-D1", profile="quick")
        assert found.evidence["exact number of records released, one record replaced: TV"] == 0
        assert found.evidence["the same, one record absent: TV"] == 1
        assert "eps 2 when a record is replaced" in found.reason

    def test_a_wrong_divergence_proves_nothing(self, monkeypatch):
        monkeypatch.setattr(local_privacy, "hockey_stick", lambda p, q, eps: discrete.total_variation(p, q))
        assert settle("G-D1", profile="quick").verdict == "not checkable"

    def test_a_definition_that_separates_nothing_is_no_definition(self):
        table = local_privacy.definition_1(eps=0.5, pairs=5, seed=1)
        table[["all_events", "divergence"]] = 0.0
        assert settle("G-D1", table=table).verdict == "not checkable"


class TestDelta:
    def test_the_numbers(self):
        found = settle("G-D1p")
        # Randomized response of eps 1.001 at eps = 1: e^1.001/(1 + e^1.001).
        assert found.evidence["randomized response: Pr[loss > eps]"] == pytest.approx(1 / (1 + math.exp(-1.001)))
        assert found.evidence["Gaussian, eps = 1: least delta"] == pytest.approx(1e-5)

    def test_were_delta_the_probability_it_would_be_verified(self):
        table = local_privacy.leakage(eps=1.0, delta=1e-5)
        table["delta"], table["ratio"] = table["exceeds"], 1.0
        assert settle("G-D1p", table=table).verdict == "verified"

    @pytest.mark.parametrize(("column", "value"), [("ratio", 0.5), ("tail", 1.1)])
    def test_a_correction_that_fails_is_not_given(self, column, value):
        table = local_privacy.leakage(eps=1.0, delta=1e-5)
        table.loc[0, column] = value
        assert settle("G-D1p", table=table).verdict == "refuted"

    def test_nor_is_one_whose_mean_is_another_number(self):
        means = local_privacy.mean_leakage(eps=1.0, delta=1e-5)
        assert settle("G-D1p", means=means).verdict == "holds with correction"
        assert settle("G-D1p", means=means.assign(ratio=[1.0, 1.0, 1 + 1e-8])).verdict == "refuted"

    def test_a_wrong_probability_is_seen(self, monkeypatch):
        monkeypatch.setattr(mechanisms, "gaussian_exceeds", lambda eps, scale: 1e-7 + 0 * np.asarray(eps))
        assert settle("G-D1p").verdict == "refuted"


class TestDefinition2:
    def test_the_input_itself_passes_as_printed(self):
        found = settle("G-D2")
        assert "holds for the input itself with delta = 0" in found.reason
        assert found.reason.endswith("is 1.")

    def test_with_every_event_it_would_be_verified(self, monkeypatch):
        monkeypatch.setattr(local_privacy, "printed_delta", local_privacy.definition_delta)
        table = local_privacy.definition_2(eps=1.0)
        assert settle("G-D2", table=table).verdict == "verified"

    def test_two_evaluations_that_differ_prove_nothing(self):
        table = local_privacy.definition_2(eps=1.0)
        table.loc[0, "divergence"] = 0.5
        assert settle("G-D2", table=table).verdict == "not checkable"


class TestLaplace:
    def test_it_is_tight(self):
        found = settle("G-D4")
        assert found.evidence["delta at the promised eps"] == "0"
        # 1 - e^{-0.005}
        assert found.evidence["delta at 0.99 of it"] == f"{-math.expm1(-0.005):.3g}"

    def test_too_little_noise_is_refuted(self, monkeypatch):
        monkeypatch.setattr(mechanisms, "laplace_scale", lambda eps, sensitivity=1.0: 0.9 * sensitivity / eps)
        found = settle("G-D4", profile="quick")
        assert found.verdict == "refuted"
        assert "reaches 1.111 times eps" in found.reason

    def test_a_wrong_closed_form_proves_nothing(self, monkeypatch):
        monkeypatch.setattr(mechanisms, "laplace_delta", lambda eps, scale: 0.0)
        assert settle("G-D4", profile="quick").verdict == "not checkable"


class TestGaussian:
    def test_the_numbers(self):
        found = settle("G-D5")
        # Roots of Fact 3 at mu = eps/sqrt(2 log(1.25/delta)), found with mpmath in test_mechanisms.
        assert found.evidence["delta = 1e-05: promise kept up to eps"] == "8.4198"
        assert found.evidence["smallest limit over all delta"] == "3.7869, at delta = 0.896"
        assert r"\epsilon \le 3.78" in found.correction
        assert r"\epsilon \le 8.41" in found.correction

    @pytest.mark.parametrize("factor", [0.5, 0.8])
    def test_less_noise_breaks_below_1(self, monkeypatch, factor):
        printed = mechanisms.classical_gaussian_scale
        monkeypatch.setattr(mechanisms, "classical_gaussian_scale", lambda **given: factor * printed(**given))
        assert settle("G-D5").verdict == "refuted"

    def test_no_broken_promise_is_verified(self):
        limits = noise.promise_limits((0.9, 1e-5)).assign(limit=math.inf, beyond=0.5)
        curves = noise.promise_curves((0.9, 1e-5), [0.5, 2.0])
        worst = mechanisms.WorstDelta(0.9, math.inf)
        assert settle("G-D5", limits=limits, curves=curves, worst=worst).verdict == "verified"

    def test_an_early_break_is_refuted(self):
        worst = mechanisms.WorstDelta(0.5, 0.9)
        assert settle("G-D5", worst=worst).verdict == "refuted"

    def test_a_limit_that_the_exact_delta_contradicts_proves_nothing(self):
        limits = noise.promise_limits((0.9, 1e-5)).assign(beyond=0.9)
        assert settle("G-D5", limits=limits).verdict == "not checkable"

    def test_an_analytic_scale_too_small_proves_nothing(self, monkeypatch):
        exact = mechanisms.analytic_gaussian_scale
        monkeypatch.setattr(mechanisms, "analytic_gaussian_scale", lambda **given: 0.99 * exact(**given))
        assert settle("G-D5").verdict == "not checkable"

    def test_without_the_papers_delta_it_is_another_experiment(self):
        found = settle("G-D5", limits=noise.promise_limits((0.5,)))
        assert (found.verdict, found.missing) == ("not yet checked", "settings")


class TestLaplaceOrGaussian:
    def test_the_numbers(self):
        found = settle("G-C5")
        # log(1.25e5) = 11.736: the quotient of the variances in one dimension, and 12 is the next integer.
        assert found.evidence["d = 1, delta = 1e-05: variance of the Gaussian (8) over Laplace (7)"] == pytest.approx(
            math.log(1.25e5)
        )
        assert found.evidence["delta = 1e-05, every coordinate: Gaussian more accurate from d"] == 12
        assert found.evidence["delta = 1e-05, one coordinate: Gaussian more accurate from d"] == "never"

    def test_were_the_gaussian_always_better_it_would_be_verified(self):
        table = noise.noise_table(eps=1.0, deltas=(1e-5,), dimensions=(1, 100)).assign(smaller="Gaussian")
        equal = noise.equal_variance((0.1,))  # here Laplace has the smaller total variation
        assert settle("G-C5", table=table, equal=equal).verdict == "verified"

    def test_were_it_never_better_it_would_be_refuted(self):
        table = noise.noise_table(eps=1.0, deltas=(1e-5,), dimensions=(1, 2, 11))
        assert settle("G-C5", table=table).verdict == "refuted"

    def test_a_rule_that_fails_is_not_given(self, monkeypatch):
        monkeypatch.setattr(mechanisms, "_classical", lambda delta: math.sqrt(math.log(1.25 / delta)))
        found = settle("G-C5")
        assert found.verdict == "refuted"
        assert "No rule was found" in found.reason

"""Theorems 3 and 4 and what one report gives away: the verdicts, and that other evidence gives others."""

from __future__ import annotations

import json
import math

import pytest

from gspa import estimation_privacy
from gspa.claims import estimation_privacy as checks
from gspa.claims import settle
from gspa.claims.registry import claim
from gspa.error_laws import Groups


@pytest.fixture(scope="module")
def readings():
    return estimation_privacy.sensitivity_readings(Groups(), low=20, high=80)


class TestReport:
    def test_it_depends_on_the_sensitivity(self, readings):
        found = settle("G-A1", readings=readings)
        assert found.verdict == "holds with correction" == claim("G-A1").verdict == settle("G-A1").verdict
        assert "1 of 4 readings" in found.reason
        assert "10,000 times" in found.reason
        assert json.loads(json.dumps(found.to_dict())) == found.to_dict()

    def test_other_evidence_gives_other_verdicts(self, readings):
        kept = readings.assign(times=1.0, liberal=1.0, conservative=0.1, evaluated=1.0)
        assert settle("G-A1", readings=kept).verdict == "verified"
        none = readings.iloc[[1, 2]]
        assert settle("G-A1", readings=none).verdict == "refuted"

    def test_a_formula_that_the_densities_contradict_proves_nothing(self, readings):
        wrong = readings.copy()
        wrong.loc[0, "liberal"] = 0.5
        assert settle("G-A1", readings=wrong).verdict == "not checkable"

    def test_a_wrong_scale_is_found_out(self, monkeypatch):
        monkeypatch.setattr(estimation_privacy.mechanisms, "laplace_scale", lambda eps, sensitivity: sensitivity)
        groups = Groups(eps_liberal=2.0)
        table = estimation_privacy.sensitivity_readings(groups, low=20, high=80)
        assert settle("G-A1", readings=table).verdict == "not checkable"


@pytest.fixture(scope="module")
def laplace():
    return {
        "groups": estimation_privacy.at_deltas(Groups().people(), mechanism="laplace", deltas=(1e-4,)),
        "crowded": estimation_privacy.crowded_out(Groups(), delta=1e-4, eps_conservative=(0.1, 0.01)),
        "hidden_by_none": checks.silent_crowds(),
        "spread": {"promised": 0.05, "upper": 0.02},
    }


class TestTheorem3:
    def test_kept_here_and_broken_elsewhere(self, laplace):
        found = settle("G-T3", **laplace)
        assert found.verdict == "refuted" == claim("G-T3").verdict
        assert found.evidence["groups and deltas at which the promise is certified"] == "3 of 3"
        assert "certified for every group" in found.reason
        assert "9% liberal users and all others at 0.01" in found.reason
        low, high = found.evidence["group at eps_i = 1 (900 users): true eps between"]
        assert 0.02 < low < high < 0.03
        assert json.loads(json.dumps(found.to_dict())) == found.to_dict()

    def test_broken_at_home(self, laplace):
        loud = laplace["groups"].assign(lower=0.1, upper=0.2, promise="broken")
        found = settle("G-T3", **laplace | {"groups": loud})
        assert found.verdict == "refuted"
        assert "own settings" in found.reason

    def test_a_constant_that_covers_all_asks_for_a_correction(self, laplace):
        covered = laplace["hidden_by_none"].assign(constant=16.0)
        found = settle("G-T3", **laplace | {"hidden_by_none": covered})
        assert found.verdict == "holds with correction"
        calm = laplace["crowded"].assign(promise="kept", attacked=0.0)
        assert settle("G-T3", **laplace | {"crowded": calm}).verdict == "holds with correction"

    def test_nothing_broken_proves_nothing(self, laplace):
        calm = {
            "crowded": laplace["crowded"].assign(promise="open", attacked=0.0),
            "hidden_by_none": laplace["hidden_by_none"].assign(constant=0.0),
        }
        found = settle("G-T3", **laplace | calm)
        assert found.verdict == "not checkable"
        assert "does not prove" in found.reason


@pytest.fixture(scope="module")
def response():
    return {
        "groups": estimation_privacy.at_deltas(Groups().people(), mechanism="rr", deltas=(1e-4, 1e-6)),
        "limits": estimation_privacy.response_limits(local=(1.0, 3.0), sizes=(100, 1_000), delta=1e-4),
        "spread": {"promised": 0.05, "upper": 0.02},
    }


class TestTheorem4:
    def test_kept_here_and_no_bound_elsewhere(self, response):
        found = settle("G-T4", **response)
        assert found.verdict == "holds with correction" == claim("G-T4").verdict
        assert "6 of 6" in found.reason
        assert "100 users at eps0 = 3" in found.reason
        low, high = found.evidence["promise over the liberal user's true eps, between"]
        assert 2.4 < low < high < 2.7
        assert 0 < found.evidence["with it, least delta at which anything is promised"] < 0.02
        assert json.loads(json.dumps(found.to_dict())) == found.to_dict()

    def test_quick_comes_to_the_same(self):
        assert settle("G-T4", profile="quick").verdict == "holds with correction"

    def test_other_evidence_gives_other_verdicts(self, response):
        calm = response["limits"].assign(promise="kept")
        assert settle("G-T4", **response | {"limits": calm}).verdict == "verified"
        broken = response["groups"].assign(promise="broken")
        assert settle("G-T4", **response | {"groups": broken}).verdict == "refuted"
        unsettled = response["groups"].assign(promise="open")
        found = settle("G-T4", **response | {"groups": unsettled})
        assert (found.verdict, found.missing) == ("not yet checked", "size")

    @pytest.mark.parametrize(("table", "column", "factor"), [("groups", "lower", 2.0), ("limits", "certified", 0.5)])
    def test_a_bound_below_what_is_certain_proves_nothing(self, response, table, column, factor):
        wrong = response[table].assign(**{column: response[table][column] * factor})
        assert settle("G-T4", **response | {table: wrong}).verdict == "not checkable"

    def test_a_promise_three_times_smaller_is_broken_at_home(self, monkeypatch):
        true = estimation_privacy.gspa_epsilon
        monkeypatch.setattr(estimation_privacy, "gspa_epsilon", lambda people, delta: true(people, delta=delta) / 3)
        assert settle("G-T4", profile="quick").verdict == "refuted"


def test_silent_users_hide_nobody(laplace):
    table = laplace["hidden_by_none"]
    assert table["constant"].iloc[1] / table["constant"].iloc[0] == pytest.approx(10, rel=0.2)
    assert (table["lower"] > 0.5).all()
    assert math.isclose(table["others"].iloc[0] * 10_000, 0.1)

"""How a claim finds its check, and when a run contradicts the record. The checks themselves: test_*_claims.py."""

from __future__ import annotations

import dataclasses
from importlib import import_module

import pytest

from gspa.claims.checks import checks, differs, settle, settles, verify
from gspa.claims.outcome import Outcome, not_yet
from gspa.claims.registry import claim, registry
from gspa.claims.verdicts import VERDICTS
from gspa.errors import UnknownName

module = import_module("gspa.claims.checks")  # gspa.claims also has a function of this name
SETTLED = {"G-TAB2", "G-C2", "G-C3", "G-A2", "G-SGD1", "G-SGD3", "G-SGD4"}


def sound(name, verdict="verified"):
    correction = "so" if verdict == "holds with correction" else ""
    return Outcome(name, verdict, "It is so.", {"a": 1}, correction)


@pytest.fixture
def few(monkeypatch):
    """Two cheap checks in place of all; they note how they were called."""
    calls = []

    def make(name):
        def check(*, profile="paper", **evidence):
            calls.append((name, profile, evidence))
            return sound(name)

        return check

    checks()
    monkeypatch.setattr(module, "_CHECKS", {name: make(name) for name in ("G-C3", "G-C2")})
    return calls


def test_every_check_is_of_a_claim():
    assert set(checks()) <= set(registry())
    assert set(checks()) >= SETTLED


def test_two_checks_of_one_claim_are_refused(monkeypatch):
    before = dict(checks())
    with pytest.raises(ValueError, match="G-C2 has two checks"):
        settles("G-C2")(lambda: sound("G-C2"))
    assert checks() == before
    monkeypatch.setattr(module, "_CHECKS", {name: check for name, check in before.items() if name != "G-D1"})
    new = settles("G-D1")(lambda: sound("G-D1"))
    assert checks()["G-D1"] is new
    assert settle("G-D1") == sound("G-D1")


def test_settle_without_a_check_says_where_it_will_come(monkeypatch):
    name = "G-D1"
    monkeypatch.setattr(module, "_CHECKS", {key: check for key, check in checks().items() if key != name})
    found = settle(name)
    assert (found.claim, found.verdict, found.missing) == (name, "not yet checked", "")
    assert claim(name).notebook in found.reason


@pytest.mark.parametrize("call", [settle, lambda name: next(verify([name]))])
def test_an_unknown_id_gets_the_nearest_one(call):
    with pytest.raises(UnknownName, match="claim 'G-SGDD3': does not exist; did you mean 'G-SGD3'"):
        call("G-SGDD3")


def test_an_outcome_of_another_claim_is_refused(monkeypatch):
    checks()
    monkeypatch.setitem(module._CHECKS, "G-C2", lambda: sound("G-C3"))
    with pytest.raises(ValueError, match="check of G-C2 returned an outcome of G-C3"):
        settle("G-C2")


def test_settle_hands_over_the_evidence(few):
    settle("G-C2", table="a table", profile="quick")
    assert few == [("G-C2", "quick", {"table": "a table"})]


def test_verify_takes_every_claim_once_in_the_registrys_order(few):
    found = list(verify())
    assert [entry.id for entry, _ in found] == list(registry())
    assert [outcome.claim for _, outcome in found] == list(registry())
    assert {outcome.claim for _, outcome in found if outcome.verdict == "verified"} == {"G-C2", "G-C3"}
    assert sorted(few) == [("G-C2", "paper", {}), ("G-C3", "paper", {})]


def test_verify_takes_the_given_claims_with_the_profile(few):
    found = list(verify(["G-C3", "G-D1", "G-C2"], profile="quick"))
    assert [entry.id for entry, _ in found] == ["G-C3", "G-D1", "G-C2"]
    assert few == [("G-C3", "quick", {}), ("G-C2", "quick", {})]


def test_verify_refuses_an_unknown_id_before_any_work(few):
    with pytest.raises(UnknownName):
        next(verify(["G-C3", "nothing"]))
    assert few == []


def test_the_record_is_what_the_checks_find():
    # The others need the papers' sizes and MNIST.
    settled = [name for name in sorted(SETTLED) if not name.startswith("G-SGD")]
    found = list(verify(settled, profile="quick"))
    assert [entry.id for entry, outcome in found if outcome.verdict == "not yet checked"] == []
    assert [entry.id for entry, outcome in found if differs(entry, outcome)] == []


def test_a_claim_is_recorded_as_settled_only_with_a_check():
    recorded = {name for name, entry in registry().items() if entry.verdict != "not yet checked"}
    assert recorded <= set(checks())


@pytest.mark.parametrize("recorded", VERDICTS)
@pytest.mark.parametrize("found", VERDICTS)
def test_a_run_differs_when_its_verdict_is_another(recorded, found):
    entry = dataclasses.replace(claim("G-C3"), verdict=recorded)
    assert differs(entry, sound("G-C3", found)) == (recorded != found)


@pytest.mark.parametrize("recorded", VERDICTS)
@pytest.mark.parametrize("missing", ["size", "data"])
def test_a_run_that_lacked_something_contradicts_nothing(recorded, missing):
    entry = dataclasses.replace(claim("G-C3"), verdict=recorded)
    assert not differs(entry, not_yet("G-C3", missing=missing, reason="small"))


def test_a_run_that_left_the_papers_setting_settles_nothing():
    found = settle("G-TAB2", departures=["delta = 0.5"], n=1)
    assert (found.verdict, found.missing) == ("not yet checked", "settings")
    assert "delta = 0.5" in found.reason
    assert not differs(claim("G-TAB2"), found)

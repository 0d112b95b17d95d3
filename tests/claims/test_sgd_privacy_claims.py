"""The privacy claims about Algorithm 3: what their checks find, and that they can find otherwise."""

from __future__ import annotations

import pandas as pd
import pytest

from gspa import sgd_privacy
from gspa.claims import sgd_privacy as claims
from gspa.claims.registry import claim
from gspa.sgd_config import SgdConfig

DELTA = 1e-5


def moved(by: float) -> pd.DataFrame:
    return pd.DataFrame({"factor": [1.0], "norm": [1.0], "movement": [by], "share": [by / 4]})


@pytest.fixture(scope="module")
def local():
    return claims.message_is_local(profile="quick")


@pytest.fixture(scope="module")
def certified():
    return sgd_privacy.certified_table(0.5, delta=DELTA, clients=100, samples=600, divisor=100, dimensions=(1, 7110))


@pytest.fixture(scope="module")
def tables():
    asked = {"epochs": (1, 50), "clients": 100, "samples": 600, "delta": DELTA, "dimension": 7110}
    few = {"settings": ("constant", "unif2")}
    return {m: sgd_privacy.theorem5_table(divisor=m, **asked, **few) for m in (100, 600)}


def test_a_message_is_not_local(local):
    assert local.verdict == claim("G-A3").verdict == "refuted"
    assert "2 C" in local.reason
    assert local.evidence["one record replaced at the starting weights, features of any size: movement"] == (
        pytest.approx(4.0, rel=1e-4)
    )
    # Outside numbers: eps of mu = 10.32 and 41.28 at delta = 1e-5 (tests/test_sgd_privacy.py, mpmath).
    said = local.evidence["true local eps at delta = 1e-05 for the promised eps, m = 100 (number of clients)"]
    assert "96.43 for 0.5" in said
    assert "1027 for 2" in said


def test_a_small_movement_breaks_nothing_and_proves_nothing():
    found = claims.message_is_local(record=moved(4 / 600), weights=moved(4 / 600), config=SgdConfig(), samples=600)
    assert found.verdict == "not checkable"


def test_a_movement_between_breaks_some_promises():
    """The classical noise has more room at large eps than at small: 0.052 is kept only there."""
    found = claims.message_is_local(record=moved(0.056), weights=moved(0.0), config=SgdConfig(), samples=600)
    kept = claims.message_is_local(record=moved(0.0), weights=moved(0.04), config=SgdConfig(), samples=600)
    assert found.verdict == "holds with correction"
    assert kept.verdict == "not checkable"


def test_the_noise_of_a_movement_of_2c_would_keep_the_promise(monkeypatch):
    """With a line 7 without its 1/m the same pair breaks nothing."""
    original = sgd_privacy.release_mu
    monkeypatch.setattr(sgd_privacy, "release_mu", lambda eps, *, divisor, **other: original(eps, divisor=1, **other))
    found = claims.message_is_local(record=moved(4.0), weights=moved(4.0), config=SgdConfig(), samples=600)
    assert found.verdict == "not checkable"


def test_theorem_5_is_refuted(tables, certified):
    found = claims.theorem5(table=tables[100], by_samples=tables[600], certified=certified)
    assert found.verdict == claim("G-T5").verdict == "refuted"
    assert found.evidence["0.5, T = 1: promised eps, attacked (lower bound), messages alone (upper bound)"] == (
        "0.8508; 91.83; 96.43"
    )
    assert "still fails for U(0.01, 2)" in found.reason


def test_theorem_5s_check_can_find_otherwise(tables, certified):
    table = tables[100]
    asked = {"by_samples": tables[600], "certified": certified}
    kept = table.assign(local=0.5 * table["promised"], attacked=0.1 * table["promised"])
    assert claims.theorem5(table=kept, **asked).verdict == "verified"
    unknown = table.assign(attacked=0.1 * table["promised"])
    assert claims.theorem5(table=unknown, **asked).verdict == "not checkable"
    constant = table["setting"] == "0.5"
    some = table.assign(
        local=table["local"].where(~constant, 0.5 * table["promised"]),
        attacked=table["attacked"].where(~constant, 0.1 * table["promised"]),
    )
    half = claims.theorem5(table=some, **asked)
    assert half.verdict == "holds with correction"
    assert "0.5" in half.correction
    assert "U(0.01, 2)" in half.reason


def test_an_attack_that_sees_only_a_mean_direction_without_movement_refutes_nothing(monkeypatch, certified):
    """The attack's strength comes from the movement: with one a thousandth as long the verdict changes."""
    original = sgd_privacy.message_attack_epsilon
    monkeypatch.setattr(
        sgd_privacy,
        "message_attack_epsilon",
        lambda *, high, low, **other: original(high=high, low=high - 1e-3 * (high - low), **other),
    )
    asked = {"epochs": (1,), "clients": 100, "samples": 600, "delta": DELTA, "dimension": 7110}
    table = sgd_privacy.theorem5_table(divisor=100, settings=("constant",), **asked)
    found = claims.theorem5(table=table, by_samples=table, certified=certified)
    assert found.verdict == "not checkable"


def test_the_check_computes_what_it_is_not_given():
    found = claims.theorem5(profile="quick")
    assert found.verdict == "refuted"
    assert any("U(0.01, 2)" in label for label in found.evidence)

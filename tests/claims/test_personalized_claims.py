"""G-T2p: what its check says of the package's own numbers, and that it can say something else."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from gspa import aligned, personalized
from gspa.claims import settle
from gspa.claims.registry import claim

CASES = ("1, 2, 3; 8", "1; 3", "1, 1; 4")


@pytest.fixture(scope="module")
def verified():
    return aligned.verification([case for case in aligned.cases() if ratios(case) in CASES])


@pytest.fixture(scope="module")
def evidence(verified):
    """The check's own tables, computed once."""
    from gspa.claims import personalized as check

    return {
        "named": check._named(),
        "krr": check._krr(),
        "crowds": check._crowds(),
        "silent": check._silent(),
        "verified": verified,
    }


def ratios(case):
    *others, mine = map(str, case.ratios)
    return ", ".join(others) + f"; {mine}"


def kept(table, **columns):
    return table.assign(**columns)


def test_it_is_refuted_with_these_numbers(evidence):
    found = settle("G-T2p", **evidence)
    assert found.verdict == "refuted" == claim("G-T2p").verdict
    assert "Broken by messages signed by their sender, 10-ary response, Laplace noise." in found.reason
    assert found.evidence["Laplace: delta there, at least"] > 1e-2
    low, high = found.evidence["Laplace: true eps at that delta, between"]
    assert found.evidence["Laplace, one user at 2 among 9,999 at 0.01: promised eps"] < 0.05 < 0.29 < low < high < 0.31
    assert found.evidence["of them, delta exceeds the corrected pair"] == 0
    assert found.evidence["binary response: largest excess over the paper's pair"] <= 0
    assert "4/15 and 1/4" in found.evidence.values()
    assert "that is the paper's own r_j, so there its pair holds" in found.reason
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


def test_quick_comes_to_the_same():
    found = settle("G-T2p", profile="quick")
    assert found.verdict == "refuted"
    assert found.evidence["exact small crowds tried"] == 6


def test_nothing_broken_proves_nothing(evidence):
    calm = {
        "named": kept(evidence["named"], delta=0.0),
        "krr": kept(evidence["krr"], attacked=0.0),
        "crowds": kept(evidence["crowds"], attacked=1e-5),
    }
    found = settle("G-T2p", **evidence | calm)
    assert found.verdict == "not checkable"
    assert "does not prove" in found.reason


def test_one_contrived_family_asks_for_a_correction(evidence):
    calm = {"krr": kept(evidence["krr"], attacked=0.0), "crowds": kept(evidence["crowds"], attacked=1e-4)}
    found = settle("G-T2p", **evidence | calm)
    assert found.verdict == "holds with correction"
    assert found.reason.startswith("Broken by messages signed")


def test_a_constant_that_does_not_grow_excuses_signed_messages(evidence):
    calm = {
        "named": kept(evidence["named"], constant=2.0),
        "krr": kept(evidence["krr"], attacked=0.0),
        "crowds": kept(evidence["crowds"], attacked=0.0),
    }
    assert settle("G-T2p", **evidence | calm).verdict == "not checkable"


@pytest.mark.parametrize(("left", "name"), [("krr", "10-ary response"), ("crowds", "Laplace noise")])
def test_each_natural_family_counts_alone(evidence, left, name):
    calm = {"krr": kept(evidence["krr"], attacked=0.0), "crowds": kept(evidence["crowds"], attacked=0.0)}
    del calm[left]
    found = settle("G-T2p", **evidence | calm | {"named": kept(evidence["named"], delta=0.0)})
    assert found.verdict == "refuted"
    assert f"Broken by {name}." in found.reason


def test_a_corrected_statement_that_fails_is_not_sold_as_one(evidence, verified):
    worse = kept(verified, corrected=[0.0, 0.01, 0.0])
    found = settle("G-T2p", **evidence | {"verified": worse})
    assert "Nor does" in found.reason
    assert found.evidence["of them, delta exceeds the corrected pair"] == 1


def test_a_promise_that_were_right_would_be_kept(monkeypatch, evidence):
    """With r_j scaled by eps_j/eps_n, as Laplace noise needs it, the attack on the promise fails."""
    mu = personalized.bounds.gspa_epsilon
    scale = (2.0 / 0.01) ** 0.5
    monkeypatch.setattr(personalized.bounds, "gspa_epsilon", lambda people, *, delta: scale * mu(people, delta=delta))
    table = personalized.against_promise([personalized.crowd_of(2.0, 0.01, n=10_000)], delta=1e-4)
    assert table["promise"].item() == "kept"
    assert isinstance(table, pd.DataFrame)
    calm = {"krr": kept(evidence["krr"], attacked=0.0), "named": kept(evidence["named"], delta=0.0)}
    assert settle("G-T2p", **evidence | calm | {"crowds": table}).verdict == "not checkable"

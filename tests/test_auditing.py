"""The auditing page's tables: what is in order stays so, and a spoiled bound is caught."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from gspa import audit_cases, auditing, bounds
from gspa.errors import InvalidValue
from gspa.tradeoff import gdp_delta


@pytest.fixture(scope="module")
def settings():
    return audit_cases.cases(n=10_000)


@pytest.fixture(scope="module")
def table(settings):
    return auditing.intervals(settings, samples=4_000, seed=1)


def test_lower_bounds_truth_and_upper_bounds_are_in_order(table):
    assert table["consistent"].all()
    assert (table["lower"] > 0).all()
    assert (table["lower"] <= table["certified"]).all()
    known = table.dropna(subset="truth_low")
    assert len(known) == 5
    assert (known["lower"] <= known["truth_high"]).all()
    assert (known["truth_low"] <= known["certified"]).all()


def test_every_kind_of_lower_bound_and_mechanism_occurs(settings, table):
    assert {case.mechanism for case in settings} == {"rr", "krr", "laplace", "gaussian"}
    assert table["enumerated"].notna().sum() >= 3
    assert (table["sampled"] > 0).sum() >= 3
    assert {case.people.eps.size for case in settings} == {1, 2, 3}


def test_the_papers_promise_is_broken_where_an_attack_reaches_above_it(table):
    broken = set(table.loc[table["broken"], "setting"])
    assert "Laplace, one user at 2, 9,999 at 0.01" in broken
    assert "RR, 10,000 users at 0.5" not in broken
    row = table.set_index("setting").loc["Laplace, one user at 2, 9,999 at 0.01"]
    assert (row["paper"], row["attack"], row["certified"]) == pytest.approx((0.0441, 0.3076, 0.3083), abs=1e-4)


def test_a_mutated_upper_bound_is_caught(table):
    """The certified bound just below the attack: one row turns, and only that one."""
    for i in range(len(table)):
        spoiled = table.copy()
        spoiled.loc[i, "certified"] = spoiled.loc[i, "lower"] * (1 - 1e-9)
        judged = auditing.judge(spoiled)
        assert not judged.loc[i, "consistent"]
        assert judged["consistent"].sum() == len(table) - 1


def test_a_mutated_published_bound_or_truth_is_caught(table):
    for column in ("published", "truth_high"):
        i = int(table[column].notna().to_numpy().argmax())
        spoiled = table.copy()
        spoiled.loc[i, column] = 0.5 * spoiled.loc[i, "lower"]
        assert not auditing.judge(spoiled).loc[i, "consistent"]


def test_shrinking_catches_what_the_sensitivity_says(table):
    for factor in (1.0, 0.95, 0.85, 0.5):
        spoiled = auditing.shrunk(table, factor)
        found = auditing.sensitivity(table, spoiled)
        assert ((found["spoiled bound caught"] == "yes") == (factor < found["seen below"])).all()
    assert auditing.shrunk(table, 1.0)["consistent"].all()
    assert not auditing.shrunk(table, 0.5)["consistent"].any()


def test_an_unknown_truth_refutes_nothing():
    row = {"attack": 0.1, "enumerated": math.nan, "sampled": 0.0, "truth_low": math.nan, "truth_high": math.nan}
    judged = auditing.judge(pd.DataFrame([row | {"certified": 0.2, "published": math.nan, "paper": 0.05}]))
    assert judged["consistent"].tolist() == [True]
    assert judged["broken"].tolist() == [True]
    assert judged["slack"].tolist() == [2.0]


def test_every_published_bound_holds_and_the_papers_does_not(settings, table):
    found = auditing.by_bound(settings, table).set_index("bound")
    proved = found[found["proved"] == "yes"]
    assert len(proved) >= 10
    assert (proved["least"] >= 1).all()
    assert (proved["refuted"] == 0).all()
    paper = found.loc[bounds.CATALOGUE["gspa"].label]
    assert paper["settings"] == len(settings)
    assert paper["refuted"] == table["broken"].sum() > 0
    assert paper["least"] < 0.2


def test_a_published_bound_that_were_wrong_would_be_counted(settings, table, monkeypatch):
    honest = auditing.published

    def halved(case):
        rows = honest(case)
        return rows.assign(epsilon=rows["epsilon"].where(rows["key"] != "fmt21_numerical", rows["epsilon"] / 3))

    monkeypatch.setattr(auditing, "published", halved)
    found = auditing.by_bound(settings, table).set_index("bound")
    assert found.loc["FMT21, numerical", "refuted"] > 0


def test_the_gaussians_local_budgets_hold(settings):
    """The paper is given the least eps_i that holds at its delta_i: a broken promise is not our choice of noise."""
    for case in settings:
        if case.mechanism == "gaussian":
            for eps, delta, sigma in zip(case.people.eps, case.people.delta, case.scales, strict=True):
                assert gdp_delta(eps, mu=1 / sigma) <= delta
                assert gdp_delta(0.99 * eps, mu=1 / sigma) > delta


def test_the_confidence_is_shared(settings):
    found = auditing.intervals(settings[3:5], samples=1_000, seed=1, confidence=0.9)
    assert found["note"].str.startswith("confidence 0.95;").all()


def test_the_price_of_sampling_falls_with_the_runs(settings):
    found = auditing.price_of_sampling(settings[4], sizes=(400, 40_000), seed=1)
    assert found["samples"].tolist() == [400, 40_000]
    assert found["sampled"].is_monotonic_increasing
    assert found["sampled"].iloc[1] > 0.25


def test_the_pages_tables_keep_every_row(table):
    below, above = auditing.from_below(table), auditing.from_above(table)
    for shown in (below, above):
        assert shown["setting"].tolist() == table["setting"].tolist()
    assert below["exact"].tolist() == table["attack"].tolist()
    broken = table["paper"] < np.fmax(table["lower"], table["truth_low"])
    assert (above["found"] == "paper's broken").tolist() == broken.tolist()
    assert set(above["found"]) == {"paper's broken", "all hold"}
    assert set(auditing.from_above(auditing.shrunk(table, 0.1))["found"]) == {"a proved bound fails"}


def test_a_large_delta_needs_no_budget():
    """At delta = 0.01 and n = 100,000 the large settings have eps 0: no row is out of order, no ratio is made up."""
    some = [case for case in audit_cases.cases(n=100_000, delta=0.01, loud=0.02) if case.people.n == 100_000][:2]
    found = auditing.intervals(some, samples=400, seed=1)
    assert found["certified"].tolist() == [0, 0]
    assert found["consistent"].all()
    assert np.isnan(found["slack"]).all()


def test_refusals():
    with pytest.raises(InvalidValue, match="at most loud"):
        audit_cases.cases(loud=0.1, quiet=0.2)
    with pytest.raises(InvalidValue, match="n = 9"):
        audit_cases.cases(n=9)

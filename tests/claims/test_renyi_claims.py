"""G-FW: Renyi divergences of the shuffled pair, and that the check can fail."""

from __future__ import annotations

import math

import pytest

from gspa import accounting_rounds
from gspa.claims import renyi, settle


@pytest.fixture(scope="module")
def evidence():
    orders = accounting_rounds.renyi_orders(eps0=0.5, n=2_000, orders=(2, 8))
    return {"orders": orders, "small": renyi.small_cases()}


def test_the_pair_carries_over(evidence):
    found = settle("G-FW", **evidence)
    assert found.verdict == "verified"
    assert found.evidence["laws written out"] == len(evidence["small"]) > 30
    # One user alone is the pair itself.
    assert found.evidence["certified upper end over the law, least"] == pytest.approx(1, abs=1e-9)


def test_written_out_by_hand():
    # Two outcomes: D_2 = log(p^2/q + q^2/p) with p = e/(1+e).
    p = math.e / (1 + math.e)
    by_hand = math.log(p**2 / (1 - p) + (1 - p) ** 2 / p)
    assert renyi._written_out(1.0, 1, 2) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("value", [math.nan, 9.0])
def test_a_law_above_the_pair_refutes(evidence, value):
    small = evidence["small"].copy()
    small.loc[3, "written"] = value
    found = settle("G-FW", **(evidence | {"small": small}))
    assert found.verdict == "refuted"
    assert found.reason.startswith("1 of ")


def test_a_published_bound_below_the_pair_refutes(evidence):
    orders = evidence["orders"].assign(girgis21=evidence["orders"]["lower"] * 0.99)
    assert settle("G-FW", **(evidence | {"orders": orders})).verdict == "refuted"


def test_a_pair_with_too_many_clones_is_caught(monkeypatch, evidence):
    honest = accounting_rounds.renyi_orders
    monkeypatch.setattr(accounting_rounds, "renyi_orders", lambda *, n, **rest: honest(n=2 * n, **rest))
    assert settle("G-FW", orders=evidence["orders"]).verdict == "refuted"

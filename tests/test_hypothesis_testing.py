"""Trade-off functions at their corners; Table 1, (4), (5), (18) and the Facts on random laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gspa import hypothesis_testing as h
from gspa.discrete import TradeOff, neyman_pearson
from gspa.errors import InvalidValue
from gspa.tradeoff import f_eps_delta

ALPHA = np.linspace(0, 1, 2001)
EPS, DELTA = st.floats(0, 3), st.floats(0, 0.9)


@settings(max_examples=40)
@given(EPS, DELTA)
def test_fact_1_by_its_corners_is_the_packages_own(eps, delta):
    np.testing.assert_allclose(
        h.fact_1(eps=eps, delta=delta)(ALPHA), f_eps_delta(ALPHA, eps=eps, delta=delta), atol=1e-12
    )


@settings(max_examples=40)
@given(EPS, DELTA)
def test_the_printed_fact_1_by_its_corners(eps, delta):
    by_hand = [max(0.0, 1 - delta - math.exp(eps) * a, math.exp(-eps) * (1 - delta - eps)) for a in ALPHA]
    np.testing.assert_allclose(h.printed_fact_1(eps=eps, delta=delta)(ALPHA), by_hand, atol=1e-12)


@settings(max_examples=40)
@given(EPS, DELTA)
def test_the_printed_curve_is_met_by_nothing_or_harmless(eps, delta):
    ignored = neyman_pearson([1.0], [1.0])
    gap = h.least_gap(ignored, h.printed_fact_1(eps=eps, delta=delta))
    if eps + delta < 1:
        assert gap.gap == pytest.approx(-math.exp(-eps) * (1 - delta - eps), abs=1e-12)
        assert gap.alpha == 1.0
    else:
        assert gap.gap >= 0


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_chained_curves_and_least_gaps_at_corners_are_those_on_a_grid(seed):
    rng = np.random.default_rng(seed)
    first, second = (neyman_pearson(*rng.dirichlet(np.ones(4), 2)) for _ in range(2))
    found = h.chained(first, second)
    np.testing.assert_allclose(found(ALPHA), second(1 - first(ALPHA)), atol=1e-10)
    gap = h.least_gap(first, found)
    assert gap.gap <= (first(ALPHA) - found(ALPHA)).min() + 1e-12
    shifted = h.shifted(first, first=0.1, second=0.05)
    np.testing.assert_allclose(shifted(ALPHA), np.maximum(first(np.minimum(ALPHA + 0.1, 1)) - 0.05, 0), atol=1e-10)


def test_a_gap_is_found_between_grid_points():
    tent = TradeOff(np.array([0.0, 0.123456, 1.0]), np.array([1.0, 0.0, 0.0]))
    gap = h.least_gap(tent, neyman_pearson([0.5, 0.5], [0.5, 0.5]))
    assert gap == (pytest.approx(-(1 - 0.123456)), 0.123456)


def test_table_1_by_hand():
    table = h.error_table([0.75, 0.25], [0.25, 0.75], [0.0, 1.0]).set_index(["decision", "hypothesis"])
    assert table["probability"].to_dict() == {
        ("accept", "true"): 0.75,
        ("accept", "false"): 0.25,
        ("reject", "true"): 0.25,
        ("reject", "false"): 0.75,
    }


def test_table_1_and_equation_3():
    table = h.table_1(pairs=30, seed=1)
    np.testing.assert_allclose(table["type_1"], table["alpha"], atol=1e-14)
    np.testing.assert_allclose(table["type_2"], table["beta"], atol=1e-14)
    np.testing.assert_allclose(table["correct"], 2 - table["alpha"] - table["beta"], atol=1e-14)


def test_equation_4_is_attained_and_never_beaten():
    table = h.equation_4(pairs=40, seed=2)
    np.testing.assert_allclose(table["least"], table["bound"], atol=1e-13)
    assert (table["random"] >= table["bound"] - 1e-13).all()


def test_equation_18_holds_and_would_not_with_less():
    assert h.perturbation(pairs=60, seed=3)["gap"].min() > -1e-12
    p, q = np.array([0.5, 0.5]), np.array([0.2, 0.8])
    near = np.array([0.6, 0.4])  # TV 0.1 from p
    truth = neyman_pearson(near, q)
    assert h.least_gap(truth, h.shifted(neyman_pearson(p, q), first=0.1, second=0.0)).gap > -1e-12
    assert h.least_gap(truth, h.shifted(neyman_pearson(p, q), first=0.05, second=0.0)).gap < -0.01


def test_equation_5_against_linear_programs():
    table = h.equation_5(pairs=10, levels=2, seed=4)
    np.testing.assert_allclose(table["lemma"], table["program"], atol=1e-6)
    assert (table[["rise", "bend", "above"]] <= 1e-12).all().all()


def test_fact_1_both_ways():
    table = h.fact_1_table(pairs=25, eps=(0.0, 0.5, 2.0), seed=5)
    assert table["corrected"].min() > -1e-12
    assert table["least"].max() < 0
    np.testing.assert_allclose(table["back"], table["delta"], atol=1e-12)
    assert (table["printed"] < -1e-6).tolist() == table["nontrivial"].tolist()


def test_fact_2():
    table = h.post_processing(pairs=60, seed=6)
    assert table["gap"].min() > -1e-12
    assert table["rise"].max() > 0.1


def test_fact_4_and_its_readings():
    table = h.fact_4_table(triples=60, seed=7)
    assert table[["printed", "premise", "corrected", "symmetric"]].min().min() > -1e-11
    assert table["order"].min() < -0.01
    assert table["conclusion"].min() < -0.01


def test_the_smallest_triple_by_hand():
    table = h.smallest_triple().set_index("alpha")
    # T(coin, heads) = max(0, 1 - 2 alpha); T(heads, coin) = (1 - alpha)/2.
    assert table["truth"].to_dict() == {0.0: 1.0, 0.5: 0.0, 1.0: 0.0}
    assert table["conclusion"].to_dict() == {0.0: 0.5, 0.5: 0.25, 1.0: 0.0}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: h.printed_fact_1(eps=-1, delta=0.1), "eps = -1"),
        (lambda: h.fact_1(eps=1, delta=1.5), "delta = 1.5"),
        (lambda: h.error_table([1.0], [1.0], [1.5]), "reject[0] = 1.5"),
        (lambda: h.table_1(pairs=0, seed=1), "pairs = 0"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(InvalidValue) as refusal:
        call()
    assert words in str(refusal.value)

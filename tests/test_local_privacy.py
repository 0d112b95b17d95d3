"""Definitions 1 and 2: events, divergences, neighbours."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gspa import local_privacy as lp
from gspa.errors import InvalidValue


def by_fractions(p, q, ratio):
    """The least delta over every event, exactly."""
    size = len(p)
    every = [c for k in range(size + 1) for c in combinations(range(size), k)]
    return max(sum(p[i] for i in c) - ratio * sum(q[i] for i in c) for c in every)


WEIGHTS = st.integers(2, 6).flatmap(
    lambda k: st.tuples(*[st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any)] * 2)
)


@settings(max_examples=40)
@given(WEIGHTS, st.sampled_from([(1, 1), (3, 2), (4, 1)]))
def test_definition_1_over_events_against_fractions(weights, ratio):
    p, q = ([Fraction(w, sum(law)) for w in law] for law in weights)
    exact = float(by_fractions(p, q, Fraction(*ratio)))
    eps = math.log(ratio[0] / ratio[1])
    floats = [float(x) for x in p], [float(x) for x in q]
    assert lp.delta_over_events(*floats, eps) == pytest.approx(exact, abs=1e-13)
    both = max(exact, float(by_fractions(q, p, Fraction(*ratio))))
    assert lp.definition_delta(floats, eps) == pytest.approx(both, abs=1e-13)


def test_events_are_all_different():
    found = lp.events(5)
    assert found.shape == (32, 5)
    assert len({tuple(row) for row in found}) == 32


@pytest.mark.parametrize("eps", [0.1, 1.0, 3.0])
def test_the_examples_have_the_deltas_known_by_hand(eps):
    table = lp.definition_2(eps=eps).set_index("randomizer")["all_events"].round(12)
    assert table.to_dict() == {
        "no answer at all": 0.0,
        "randomized response": 0.0,
        "5-ary randomized response": 0.0,
        "the truth, one time in ten": 0.1,
        "the input itself": 1.0,
    }


def test_as_printed_definition_2_refuses_nothing():
    assert lp.definition_2(eps=0.5)["printed"].tolist() == [0.0] * 5
    # It reads the whole range, so only rows that are no laws could fail it.
    assert lp.printed_delta(np.eye(3), 0.0) == 0.0


def test_relations_by_hand():
    table = lp.relations(records=2, values=2, eps=0.5).set_index("relation")
    # Histograms (2,0), (1,1), (0,2): four ordered pairs by replacement; each of (1,0), (0,1) is below two of them.
    assert table["pairs"].tolist() == [4, 4]
    assert table["count"].tolist() == [0.0, 1.0]
    assert table["histogram"].tolist() == [1.0, 0.5]


def test_leakage_by_hand():
    table = lp.leakage(eps=1.0, delta=1e-5).set_index("mechanism")
    p = 1 / (1 + math.exp(-1.001))
    assert table.loc["randomized response", "exceeds"] == pytest.approx(p, rel=1e-12)
    assert table.loc["randomized response", "delta"] == pytest.approx(p - math.e * (1 - p), rel=1e-9)
    assert table.loc["Laplace", "delta"] == pytest.approx(-math.expm1(-0.0005), rel=1e-9)
    assert table.loc["Gaussian", "delta"] == pytest.approx(1e-5, rel=1e-9)
    assert (table["ratio"] > 1).all()
    assert (table["tail"] <= 1).all()


@settings(max_examples=25)
@given(st.floats(0.01, 20), st.floats(1e-12, 0.5))
def test_the_corrected_reading_of_delta_holds_everywhere(eps, delta):
    table = lp.leakage(eps=eps, delta=delta)
    assert (table["ratio"] >= 1 - 1e-9).all()
    assert (table["tail"] <= 1 + 1e-9).all()
    # A budget 0.001 eps above eps, or a delta that is a small difference, is known to fewer digits.
    assert (lp.mean_leakage(eps=eps, delta=delta)["ratio"] - 1).abs().max() < 1e-6


def test_random_pairs_are_laws_with_zeros_and_repeat():
    first, again = (lp.random_pairs(pairs=50, rng=3) for _ in range(2))
    assert all(
        np.array_equal(a, b) for one, two in zip(first, again, strict=True) for a, b in zip(one, two, strict=True)
    )
    assert all(abs(law.sum() - 1) < 1e-12 for pair in first for law in pair)
    assert any((law == 0).any() for pair in first for law in pair)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lp.events(15), "size = 15: must be at most 14"),
        (lambda: lp.definition_delta([[0.5, 0.4]], 1.0), "rows that sum to 1"),
        (lambda: lp.definition_delta([0.5, 0.5], 1.0), "rows that sum to 1"),
        (lambda: lp.definition_delta(np.eye(2), -1.0), "eps = -1.0"),
        (lambda: lp.relations(records=9), "records = 9: must be in [1, 6]"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(InvalidValue) as refusal:
        call()
    assert words in str(refusal.value)

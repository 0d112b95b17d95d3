"""The exact law of the number of ones, against enumeration in fractions, mpmath, scipy and the pair."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from exact_shuffle import curves, rr_delta_worst, truth
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pair_oracle import sum_of_bernoullis

from gspa.accountant import budgets
from gspa.accountant import exact as exact_rr
from gspa.accountant.errors import InvalidBudget, InvalidValue, OutsideValidity
from gspa.accountant.exact import Crowd, Tilted, exact_delta, exact_epsilon
from gspa.accountant.one_round import central_delta, central_epsilon

ROUND = 1e-12  # relative: products of ten or so rounded factors


def at_inputs(crowd, eps, ones):
    """What these numbers of ones among the others' inputs give, in both orders."""
    others, ones = exact_rr._crowd(crowd), np.array(ones, dtype=float)
    return exact_rr._best(others, eps, [np.array([ones, others.count - ones])])


@pytest.mark.parametrize(
    ("odds", "e"),
    [
        ([3], 2),
        ([3, 2], Fraction(3, 2)),
        ([3, 3, 3], 1),
        ([2, 2, 2, 2, 2, 2], Fraction(5, 4)),
        ([9, 2, 2, 1], 3),
        ([5, 4, Fraction(3, 2), Fraction(11, 10), 1], Fraction(6, 5)),
        ([50, 3, 2, 2, Fraction(9, 8), Fraction(9, 8)], 10),
        ([Fraction(101, 100)] * 5, Fraction(1001, 1000)),
        ([8, 8, 7, 2, 2, 2, 2], Fraction(7, 2)),
    ],
)
def test_enumeration_of_all_victims_and_inputs(odds, e):
    """Also the proof that the largest eps is the worst victim: the enumeration tries all."""
    found = exact_delta(budgets.from_array([math.log(o) for o in odds]), eps=math.log(e))
    flips = [1 / (1 + Fraction(o)) for o in odds]
    true = truth(curves([[[1 - r, r], [r, 1 - r]] for r in flips]), Fraction(e))
    assert found.value == pytest.approx(true, rel=ROUND)
    assert found.lower * (1 - ROUND) <= true <= found.upper * (1 + ROUND)
    assert found.relative_width < 1e-10
    assert found.method.endswith("worst of all inputs")


@pytest.mark.parametrize("seed", range(6))
def test_against_60_digits_down_to_tiny_deltas(seed):
    """At given inputs the stated error covers the true one, and is itself small."""
    rng = np.random.default_rng(seed)
    with mpmath.workdps(60):
        for share in (0.0, 1e-9, 0.01, 0.1, 0.3, 0.6, 0.9, 0.999):
            n, top = int(rng.integers(1, 150)), float(rng.choice([1e-6, 0.3, 1, 4, 12]))
            eps = rng.uniform(0, top, n)
            victim, inputs = float(eps.max()), rng.integers(0, 2, n)
            at = share * victim
            law = sum_of_bernoullis([1 / (1 + mpmath.exp(-e if x else e)) for e, x in zip(eps, inputs, strict=True)])
            w, e = 1 / (1 + mpmath.exp(-victim)), mpmath.exp(at)
            pair = [[a * (1 - x) + b * x for a, b in zip([*law, 0], [0, *law], strict=True)] for x in (w, 1 - w)]
            true = sum(max(a - e * b, 0) for a, b in zip(*pair, strict=True))
            value, error = Tilted(Crowd(victim, eps, np.ones(n)), at).at(inputs[None].astype(float))
            assert abs(value[0] - true) <= error[0]
            assert error[0] < 1e-10 * value[0]


@pytest.mark.parametrize(("eps0", "n", "delta"), [(0.5, 300, 1e-4), (2.0, 100, 1e-6), (1.0, 1, 0.1), (4.0, 20, 1e-3)])
def test_epsilon_is_the_root(eps0, n, delta):
    crowd = budgets.constant(eps0, n=n)
    found = exact_epsilon(crowd, delta=delta)
    assert found.relative_width < 1e-9
    at_ends = [rr_delta_worst(eps0, n, found.value * (1 + apart)) for apart in (-3e-9, 3e-9)]
    assert at_ends[0] > delta > at_ends[1]
    assert exact_delta(crowd, eps=found.upper).upper <= delta
    assert exact_delta(crowd, eps=found.lower).lower >= delta


@example(eps=[0.0, 0.0, 2e-309], share=0.0, seed=0)  # its digits are fewer than a double has
@settings(max_examples=50)
@given(
    eps=st.lists(st.floats(0, 5), min_size=1, max_size=9),
    share=st.floats(0, 0.95),
    seed=st.integers(0, 99),
)
def test_properties_of_random_crowds(eps, share, seed):
    crowd = budgets.from_array(eps)
    at = share * crowd.eps_max
    worst = exact_delta(crowd, eps=at)
    assert worst.lower <= central_delta(crowd, eps=at).upper * (1 + 1e-9)  # the pair is an upper bound
    order = np.random.default_rng(seed).integers(0, 2, len(eps))
    order[int(np.argmax(eps))] = 0
    some = at_inputs(crowd, at, order)
    assert some.lower <= worst.upper
    more = exact_delta(budgets.from_array([*eps, 0.7 * crowd.eps_max]), eps=at)
    assert more.lower <= worst.upper  # one more report is noise to whoever sees the count
    louder = exact_delta(budgets.from_array([*eps[:-1], crowd.eps_max]), eps=at)
    assert worst.lower <= louder.upper  # a larger eps_j is worse for everybody


def test_too_many_inputs_is_an_attack_and_the_pair(monkeypatch):
    crowd = budgets.from_array([0.2, 0.5, 1.0], count=[7, 8, 9])
    full, pair = exact_delta(crowd, eps=0.2), central_delta(crowd, eps=0.2)
    full_eps, pair_eps = exact_epsilon(crowd, delta=1e-3), central_epsilon(crowd, delta=1e-3)
    monkeypatch.setattr(exact_rr, "MOST_INPUTS", 10)
    part, part_eps = exact_delta(crowd, eps=0.2), exact_epsilon(crowd, delta=1e-3)
    assert full.value * 0.99 <= part.lower == part.value <= full.upper  # the ascent may stop early
    assert part.upper == pair.upper
    assert "worst inputs found" in part.method
    assert full_eps.value * 0.99 <= part_eps.lower <= full_eps.upper
    assert part_eps.upper == pair_eps.upper


def test_a_thousand_distinct_budgets():
    crowd = budgets.draw("unif1", n=1000, rng=1)
    found = exact_epsilon(crowd, delta=1e-6)
    assert at_inputs(crowd, found.upper, np.zeros(1000)).lower <= 1e-6
    assert found.lower <= found.upper < 1.12 * found.lower


def test_corners():
    assert exact_delta(budgets.constant(0.0, n=4), eps=0).upper == 0
    assert exact_epsilon(budgets.constant(0.0, n=4), delta=1e-9).upper == 0
    assert exact_delta(budgets.constant(1.0, n=4), eps=1.0).upper == 0
    alone = exact_delta(budgets.constant(800.0, n=1), eps=3)
    assert alone.value == 1
    assert alone.upper <= 1
    # eps = 0 users are fair coins
    assert exact_delta(budgets.from_array([1.0, 0.0], count=[1, 2]), eps=0).value == pytest.approx(
        math.tanh(0.5) * 0.5, rel=ROUND
    )
    near = exact_epsilon(budgets.constant(1.0, n=1), delta=1e-20)
    assert near.lower == pytest.approx(1)
    assert near.upper == 1
    assert exact_delta(budgets.constant(1.0, n=10**9), eps=0.0).relative_width < 0.3  # the pair's delta, 1.21 times


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: exact_delta(c, eps=-1), r"eps = -1: must be a finite number >= 0"),
        (lambda c: exact_epsilon(c, delta=0), r"delta = 0: must be in \(0, 1\)"),
        (lambda c: exact_epsilon(c, delta=1.0), r"delta = 1.0: must be in \(0, 1\)"),
        (lambda c: exact_delta(budgets.constant(0.0, n=0), eps=0.1), r"n = 0"),
    ],
)
def test_bad_values_are_refused(call, words):
    with pytest.raises((InvalidValue, InvalidBudget), match=words):
        call(budgets.constant(1.0, n=5))


@pytest.mark.parametrize(
    ("crowd", "words"),
    [
        (budgets.constant(1.0, n=10**10), r"needs n <= 1000000000; got 10000000000; use gspa.accountant.one_round"),
        (budgets.from_array(np.linspace(0, 1, 20_001)), r"at most 20000 distinct eps; got 20001; round the eps"),
        (budgets.constant(1.0, n=5, delta=1e-9), r"needs local delta_i = 0; the largest is 1e-09"),
    ],
)
def test_settings_out_of_reach_are_refused(crowd, words):
    for call in (lambda: exact_delta(crowd, eps=0.1), lambda: exact_epsilon(crowd, delta=1e-3)):
        with pytest.raises(OutsideValidity, match=words):
            call()

"""Index privacy and padding: enumeration, binomials, simulation."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from gspa.errors import InvalidValue
from gspa.flame import index_privacy as ip


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 60), st.fractions(Fraction(1, 100), Fraction(1, 2)))
def test_the_least_nu_meets_definition_3_and_no_smaller_one_does(many, beta):
    nu = ip.least_nu(many, beta=beta)

    def holds(v):
        return v >= 1 and Fraction(1, many) <= v * beta and 1 - Fraction(1, many) >= (1 - beta) / v

    assert holds(nu)
    assert not holds(nu * Fraction(999_999, 1_000_000))


def test_one_index_set_alone_has_no_index_privacy():
    assert ip.least_nu(1, beta=Fraction(1, 50)) == math.inf
    assert ip.least_nu(1, beta=1.0) == 1.0


@pytest.mark.parametrize(("d", "k", "many"), [(5, 1, 2), (6, 2, 2), (6, 2, 3), (4, 1, 4)])
def test_posterior_is_one_over_l(d, k, many):
    assert ip.posterior(d, k, many) == (Fraction(1, many), Fraction(k, d))


def test_proposition_2_and_theorem_5():
    assert ip.least_l(3.125, beta=0.02) == 16
    assert ip.least_l(1.0, beta=0.02) == 50
    assert ip.least_l(50.0, beta=0.02) == 2  # the second inequality
    assert ip.theorem5(n_p=333, n=1000, beta=0.02) == (16, 3.125)
    assert ip.theorem5(n_p=1000, n=1000, beta=0.02) == (50, 1.0)
    with pytest.raises(InvalidValue, match="n beta"):
        ip.theorem5(n_p=10, n=1000, beta=0.02)


def test_overflow_by_l():
    table = ip.overflow_by_l(d=100, k=10, n=50, n_p=20).set_index("l")
    assert table["one"].loc[3] == pytest.approx(binom.sf(20, 50, 0.3))
    assert table["any"].loc[1] == pytest.approx(min(1, 100 * binom.sf(20, 50, 0.1)))
    assert list(table.index) == list(range(1, 11))
    assert table["one"].loc[10] == 1.0
    # A coordinate among the largest of 30 of 50 users overflows by itself.
    assert (ip.overflow_by_l(d=100, k=10, n=50, n_p=20, popular=0.6)["one"] == 1).all()
    crowded = ip.overflow_by_l(d=100, k=10, n=50, n_p=20, popular=0.2).set_index("l")
    assert crowded["one"].loc[2] == pytest.approx(binom.sf(10, 40, 10 / 90))


def test_largest_fitting_l():
    table = ip.overflow_by_l(d=7850, k=157, n=1000, n_p=333)
    assert ip.largest_fitting_l(table, delta=5e-6) == 12
    assert ip.largest_fitting_l(table, delta=0.01) == 13
    assert ip.largest_fitting_l(table[table["l"] > 16], delta=0.01) == 0


def test_a_simulated_round_overflows_as_often_as_computed():
    found = ip.simulate_padding(d=400, k=8, n=200, l=16, n_p=66, rng=3)
    exact = float(binom.sf(66, 200, 0.32))
    assert found["mean"] == 200 * 16 * 8 / 400
    # coordinates of one round are weakly dependent; five binomial errors
    assert abs(found["overflowing"] - exact) < 5 * math.sqrt(exact * (1 - exact) / 400)
    assert ip.simulate_padding(d=400, k=8, n=200, l=16, n_p=66, rng=3) == found
    with pytest.raises(InvalidValue, match="d/k"):
        ip.simulate_padding(d=10, k=4, n=5, l=3, n_p=5, rng=1)


@pytest.mark.parametrize(("many", "beta"), [(0, 0.5), (2, 0.0), (2, 1.1)])
def test_refused(many, beta):
    with pytest.raises(InvalidValue):
        ip.least_nu(many, beta=beta)
    with pytest.raises(InvalidValue):
        ip.least_l(0.5, beta=0.5)

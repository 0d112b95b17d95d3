"""Distances of the counts from normal laws: against mpmath, full enumeration, and what theory says."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, multivariate_normal, norm

from gspa import discrete
from gspa import normal_limit as nl
from gspa import normal_tables as nt
from gspa.errors import InvalidValue, OutsideValidity


def rectangle(law, low0, high0, low1, high1):
    return float(law.cdf([high0, high1], lower_limit=[low0, low1]))


@pytest.fixture(scope="module")
def small():
    """Every distance for 12 users, by enumeration of the trinomial and scipy's bivariate normal."""
    m, p = 12, 0.6
    mean = m * p / 2
    law = multivariate_normal([mean, mean], nl.covariance([p], count=m), abseps=1e-9)
    points = [(a, b) for a in range(m + 1) for b in range(m + 1 - a)]
    mass = [math.comb(m, a) * math.comb(m - a, b) * (p / 2) ** (a + b) * (1 - p) ** (m - a - b) for a, b in points]
    near = [rectangle(law, a - 0.5, a + 0.5, b - 0.5, b + 0.5) for a, b in points]
    beside = [rectangle(law, a, a + 0.5, b, b + 0.5) for a, b in points]
    return m, p, points, np.array(mass), np.array(near), np.array(beside)


def test_it_is_what_enumeration_gives(small):
    m, p, _, mass, near, _ = small
    found = nl.distances([p], count=m)
    # What the normal law has off the simplex is one more outcome.
    wanted = discrete.total_variation([*mass, 0.0], [*near, 1 - near.sum()])
    assert found.total_variation == pytest.approx(wanted, abs=2e-8)
    assert found.largest_point == pytest.approx(np.abs(mass - near).max(), abs=1e-8)
    assert found.m == m


def test_the_printed_supremum_is_what_enumeration_gives(small):
    m, p, _, mass, _, beside = small
    assert nl.distances([p], count=m).printed == pytest.approx(np.abs(mass - beside).max(), abs=1e-8)


def test_the_two_marginals(small):
    m, p, points, mass, _, _ = small
    found = nl.distances([p], count=m)
    sums = binom.pmf(np.arange(m + 1), m, p)
    cells = norm.cdf(np.arange(m + 1) + 0.5, m * p, math.sqrt(m * p * (1 - p))) - norm.cdf(
        np.arange(m + 1) - 0.5, m * p, math.sqrt(m * p * (1 - p))
    )
    assert found.total == pytest.approx(np.maximum(sums - cells, 0).sum(), abs=1e-12)
    apart = np.zeros(2 * m + 1)
    for (a, b), one in zip(points, mass, strict=True):
        apart[a - b + m] += one
    d = np.arange(-m, m + 1)
    cells = norm.cdf((d + 0.5) / math.sqrt(m * p)) - norm.cdf((d - 0.5) / math.sqrt(m * p))
    assert found.difference == pytest.approx(np.maximum(apart - cells, 0).sum(), abs=1e-12)


def test_own_budgets_by_convolution():
    p = [0.15, 0.4, 0.4, 0.8, 0.95] * 6
    found = nl.distances([0.15, 0.4, 0.8, 0.95], count=[6, 12, 6, 6])
    assert found.total_variation == pytest.approx(nt.total_variation_by_definition(p), abs=1e-9)
    again = nl.distances(p)
    assert list(vars(again).values()) == pytest.approx(list(vars(found).values()), rel=1e-9)


def test_a_large_one_in_mpmath():
    """One lattice point of 10^5 users, probability and normal cell, against 30 digits."""
    m, p = 100_000, nl.clone_probability(0.5)
    with mpmath.workdps(30):
        q, k = mpmath.mpf(float(p)), 37_700
        exact = mpmath.binomial(m, 2 * k) * q ** (2 * k) * (1 - q) ** (m - 2 * k) * mpmath.binomial(2 * k, k) / 4**k
    lattice = nl._lattice(*nl._users([p], m))
    found = {}
    for rows, columns, law, _ in nl._blocks(lattice):
        if columns[0] == 0 and rows[0] <= 2 * k <= rows[-1]:
            found["law"] = float(law[int((2 * k - rows[0]) / 2), 0])
    assert found["law"] == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("eps0", [0.1, 0.5, 1.0, 2.0, 4.0])
def test_the_leading_term_is_the_limit(eps0):
    p = nl.clone_probability(eps0)
    found = [nl.distances([p], count=m) for m in (1_000, 100_000)]
    gaps = [abs(near.total_variation / near.leading - 1) for near in found]
    assert gaps[1] < 2e-4
    assert gaps[1] < gaps[0] / 10  # the rest is O(1/m), beside a term of order m^-1/2


def test_the_leading_term_in_closed_form():
    # p = 1/2: a = 0, and E|Z| E|Z^2 - 1| = sqrt(2/pi) * 4 phi(1).
    phi = math.exp(-0.5) / math.sqrt(2 * math.pi)
    b = math.sqrt(100 / 4) / (2 * 50)
    wanted = 0.5 * b * math.sqrt(2 / math.pi) * 4 * phi
    assert nl.leading_term([0.5], count=100) == pytest.approx(wanted, rel=1e-6)


def test_no_constant_serves_all_budgets():
    for p in (1 / 1_000, 1 - 1 / 1_000):
        assert nl.distances([p], count=1_000).total_variation > 0.1
    assert nl.distances([0.5], count=1_000).total_variation < 0.01


def test_smaller_cells_show_more():
    seen = [nl.seen_with_cells([0.7], count=200, side=side) for side in (1.0, 0.5, 0.25, 1 / 32)]
    assert seen[0] == pytest.approx(nl.distances([0.7], count=200).total_variation, abs=1e-12)
    assert all(a < b for a, b in pairwise(seen))
    # Cells of side s have s^2 of the normal mass, nearly.
    assert seen[-1] == pytest.approx(1 - 1 / 32**2, abs=1e-6)


@given(st.floats(0.05, 0.95), st.integers(20, 400))
@settings(max_examples=25, deadline=None)
def test_bounds_that_hold_for_any_p(p, m):
    found = nl.distances([p], count=m)
    # Marginals of both laws are closer than the laws; but cells are squares, marginal cells strips: a little more.
    assert 0 < found.total_variation < 1
    assert found.largest_point <= found.total_variation
    assert found.total <= found.total_variation + 0.3 / (m * p * (1 - p))
    assert 0.2 < found.printed_mass < 0.26


def test_printed_is_no_total_variation():
    found = nl.distances([nl.clone_probability(0.5)], count=10_000)
    assert found.printed < found.total_variation / 20
    assert found.printed_mass == pytest.approx(0.25, abs=1e-6)


def test_covariance():
    p = np.array([0.2, 0.7])
    wanted = sum(
        count * np.array([[q / 2 * (1 - q / 2), -(q**2) / 4], [-(q**2) / 4, q / 2 * (1 - q / 2)]])
        for q, count in zip(p, (3, 4), strict=True)
    )
    assert nl.covariance(p, count=[3, 4]) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nl.distances([1.0], count=1_000), OutsideValidity, "Var C"),
        (lambda: nl.leading_term([0.0], count=1_000), OutsideValidity, "Var C"),
        (lambda: nl.distances([0.5], count=300_001), OutsideValidity, "300,000"),
        (lambda: nl.distances([1.5]), InvalidValue, "p"),
        (lambda: nl.distances([0.5], count=0), InvalidValue, "at least one user"),
        (lambda: nl.distances([0.5], count=2.5), InvalidValue, "whole numbers"),
        (lambda: nl.seen_with_cells([0.5], count=9, side=0), InvalidValue, "side"),
        (lambda: nl.clone_probability(-1), InvalidValue, "eps"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()

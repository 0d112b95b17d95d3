"""Learners: the projection, errors against their normal limit, budgets against the accountant."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gspa import accountant, budgets, learning
from gspa.errors import InvalidValue
from gspa.hadamard import HadamardResponse


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=8))
def test_the_projection_meets_the_optimality_conditions(values):
    v = np.array(values)
    p = learning.project(v)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1)
    # Nearest point of the simplex: v - p is one number where p > 0, and at most that elsewhere.
    shift = v - p
    assert np.ptp(shift[p > 1e-12]) < 1e-9
    assert shift[p <= 1e-12].max(initial=-math.inf) <= shift[p > 1e-12].max() + 1e-9


def test_the_error_is_that_of_the_normal_limit():
    k, n, eps = 64, 40_000_000, 0.5
    response = HadamardResponse.of(k, eps=eps)
    law, linear = response.law(np.full(k, 1 / k)), response.estimate(np.eye(response.outputs))
    deviation = np.sqrt((law @ linear**2 - (law @ linear) ** 2) / n)
    expected = 0.5 * math.sqrt(2 / math.pi) * deviation.sum()
    found = learning.errors(response, np.full(k, 1 / k), n=n, repeats=200, rng=0)
    assert found.mean() == pytest.approx(expected, abs=5 * found.std() / math.sqrt(200))


def test_the_central_error_is_that_of_laplace_noise():
    # Mean absolute value of Laplace noise of scale 2/eps; the samples' own error is far smaller here.
    k, n, eps = 50, 10**6, 0.001
    found = learning._central(np.full(k, 1 / k), eps, n, 400, np.random.default_rng(0))
    assert found.mean() == pytest.approx(0.5 * k * 2 / eps / n, rel=0.06)


def test_the_budget_is_certified_and_the_largest():
    found = learning.shuffled_budget(0.4, n=20_000, delta=1e-6)
    for budget, kept in ((found, True), (found + 1e-4, False)):
        people = budgets.constant(budget, n=20_000)
        bound = accountant.central_delta(people, eps=0.4, mechanism="common")
        assert (bound.upper <= 1e-6) is kept


def test_learners_are_in_order_and_repeat_themselves():
    first = learning.learners(256, eps=0.5, delta=1e-6, sizes=[10**4, 10**5], repeats=5, seed=3)
    again = learning.learners(256, eps=0.5, delta=1e-6, sizes=[10**4, 10**5], repeats=5, seed=3)
    assert first.equals(again)
    tv = first.pivot(index="n", columns="learner", values="tv")
    assert (tv["no privacy"] < tv["shuffled"]).all()
    assert (tv["shuffled"] < tv["local"]).all()
    assert (tv.loc[10**5] < tv.loc[10**4]).all()
    assert set(first["learner"]) == set(learning.LEARNERS)


def test_a_design_moves_one_quantity_at_a_time():
    design = learning.Design(8, 0.1, 2.0, (2.0,), (0.5,), (3.0, 4.0))
    assert design.points() == [(8, 0.1, 2.0), (16, 0.1, 2.0), (8, 0.05, 2.0), (8, 0.1, 6.0), (8, 0.1, 8.0)]


def test_the_shuffled_experiment_certifies_what_it_reports():
    row = learning.shuffled_scaling(repeats=2).iloc[0]
    people = budgets.constant(row["eps_local"], n=int(row["n"]))
    assert accountant.central_delta(people, eps=row["eps"], mechanism="common").upper <= learning.DELTA * (1 + 1e-6)


def test_nonsense_is_refused():
    with pytest.raises(InvalidValue, match="repeats"):
        learning.learners(4, eps=1.0, delta=1e-6, sizes=[100], repeats=1, seed=0)
    with pytest.raises(InvalidValue, match="n = 0"):
        learning.errors(HadamardResponse.of(4, eps=1.0), np.full(4, 0.25), n=0, repeats=1, rng=0)

"""Who is left when users deviate: by hand, by trying everybody, and what it does to the answer."""

from __future__ import annotations

from itertools import combinations

import pytest

from gspa.accountant import budgets
from gspa.accountant import one_round as accountant
from gspa.accountant.errors import InvalidValue
from gspa.accountant.one_round import honest_only


def test_equal_users_are_only_fewer():
    left = honest_only(budgets.constant(1.0, n=1000), honest=900)
    assert (left.n, left.eps_max) == (900, 1.0)


def test_the_blogs_ten_percent_is_the_bound_at_nine_tenths_of_n():
    everybody = budgets.constant(1.0, n=1000)
    fewer = accountant.central_epsilon(honest_only(everybody, honest=900), delta=1e-5)
    assert fewer == accountant.central_epsilon(budgets.constant(1.0, n=900), delta=1e-5)
    assert fewer.lower > accountant.central_epsilon(everybody, delta=1e-5).upper


@pytest.mark.parametrize("honest", [1, 2, 3, 4, 5])
def test_no_other_choice_of_deviating_users_is_worse_for_the_worst_victim(honest):
    eps = [0.0, 0.3, 0.7, 1.5, 2.0]
    worst = accountant.central_delta(honest_only(budgets.from_array(eps), honest=honest), eps=0.4).upper
    for others in combinations(eps[:-1], honest - 1):
        some = accountant.central_delta(budgets.from_array([*others, eps[-1]]), eps=0.4)
        assert some.lower <= worst * (1 + 1e-9)


@pytest.mark.parametrize(("honest", "allowed"), [(0, ">= 1"), (11, "at most n = 10"), (2.5, "an integer")])
def test_impossible_numbers_are_refused(honest, allowed):
    with pytest.raises(InvalidValue, match=allowed):
        honest_only(budgets.constant(1.0, n=10), honest=honest)


def test_unequal_local_deltas_are_refused():
    with pytest.raises(InvalidValue, match="the same for all users"):
        honest_only(budgets.from_array([1.0, 1.0], [0.0, 1e-6]), honest=1)

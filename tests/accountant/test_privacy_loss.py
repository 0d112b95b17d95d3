"""The pair's privacy loss and its Renyi divergence against enumeration in mpmath."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from exact_pair import losses, pair_law

from gspa.accountant import budgets
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.losses import atoms, renyi
from gspa.accountant.one_round import problem_of
from gspa.accountant.randomizers import BINARY, Common, RandomizedResponse, TotalVariation

CROWDS = {
    "rr": (budgets.from_array([0.3, 1.0, 2.0], 0.0, [2, 2, 2]), RandomizedResponse()),
    "tv": (budgets.constant(1.2, n=5), TotalVariation(0.3)),
    "common": (budgets.constant(3.0, n=4), Common()),
}


def problem(crowd, mechanism=BINARY):
    return problem_of(crowd, mechanism, int(np.argmax(crowd.eps)))


@pytest.fixture(params=CROWDS)
def small(request):
    return problem(*CROWDS[request.param])


class TestLaw:
    def test_atoms_are_the_pairs_outcomes(self, small):
        exact = losses(pair_law(small))
        for above in (True, False):
            found = atoms(small, above=above)
            assert found.missing == 0
            for loss, mass in exact.items():
                near = np.abs(found.loss - float(loss)) < 1e-12
                # 1e-11 is the allowance in each mass
                assert found.mass[near].sum() == pytest.approx(float(mass), rel=3e-11, abs=3e-11)
            assert found.mass.sum() == pytest.approx(1, rel=3e-11)

    def test_refusals(self):
        with pytest.raises(OutsideValidity, match="fewer users"):
            atoms(problem(budgets.constant(0.5, n=10**14)))


class TestRenyi:
    @pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 7.0, 100.0])
    def test_against_enumeration(self, small, order):
        law = losses(pair_law(small))
        if order == 1:
            exact = mpmath.fsum(mass * loss for loss, mass in law.items())
        else:
            exact = mpmath.log(mpmath.fsum(m * mpmath.exp((order - 1) * x) for x, m in law.items())) / (order - 1)
        found = renyi(small, order)
        assert found.lower <= float(exact) <= found.upper
        assert found.relative_width < 1e-9

    def test_refusals(self):
        law = problem(budgets.constant(1.0, n=20))
        for order in (0.5, math.nan, math.inf):
            with pytest.raises(InvalidValue, match="order"):
                renyi(law, order)
        with pytest.raises(OutsideValidity, match="local delta"):
            renyi(problem(budgets.constant(1.0, n=20, delta=1e-3)), 2.0)


@pytest.mark.parametrize("order", [1 + 2.0**-52, 1 + 1e-12, 1 + 1e-8, 1 + 1e-4, 1.3])
def test_renyi_near_order_one_keeps_its_digits(order):
    with mpmath.workdps(60):
        a, w = mpmath.mpf(order), mpmath.e / (1 + mpmath.e)
        truth = mpmath.log(w**a * (1 - w) ** (1 - a) + (1 - w) ** a * w ** (1 - a)) / (a - 1)
    found = renyi(problem_of(budgets.constant(1.0, n=1), RandomizedResponse(), 0), order)
    assert found.lower <= truth <= found.upper
    assert found.relative_width < 1e-10
    many = problem_of(budgets.constant(1.0, n=1000), RandomizedResponse(), 0)
    assert renyi(many, 1.0).lower <= renyi(many, order).upper <= renyi(many, 2.0).upper

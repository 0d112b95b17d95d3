"""The pair's privacy loss against enumeration in mpmath, the accountant, and other modules."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from exact_pair import composed, delta, losses, pair_law

from gspa.accountant import budgets
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.losses import atoms, merge, renyi, sampled_gaussian, spread
from gspa.accountant.one_round import central_delta, problem_of
from gspa.accountant.randomizers import BINARY, Common, RandomizedResponse, TotalVariation
from gspa.accountant.tradeoff import gdp_delta

CROWDS = {
    "rr": (budgets.from_array([0.3, 1.0, 2.0], 0.0, [2, 2, 2]), RandomizedResponse()),
    "tv": (budgets.constant(1.2, n=5), TotalVariation(0.3)),
    "common": (budgets.constant(3.0, n=4), Common()),
}


def problem(crowd, mechanism=BINARY):
    return problem_of(crowd, mechanism, int(np.argmax(crowd.eps)))


def on_grid(law, *, above=True, step=None):
    """The pair's losses, put on a grid as one round's are."""
    found = atoms(law, above=above).or_revealed(law.local_delta)
    if step is None:
        deviation = math.sqrt(float(found.mass @ (found.loss - float(found.loss @ found.mass)) ** 2))
        step = law.victim.eps / math.ceil(500 * law.victim.eps / deviation)
    return (spread if above else merge)(found.loss, found.mass, step, found.missing)


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

    @pytest.mark.parametrize("step", [1.0, 0.1, 0.01, 1e-3, None])
    def test_any_grid_is_on_the_right_side(self, small, step):
        exact = composed([losses(pair_law(small))])
        above, below = on_grid(small, step=step), on_grid(small, step=step, above=False)
        for eps in np.linspace(-1, small.victim.eps, 40):
            value = float(delta(exact, float(eps)))
            assert below.delta(float(eps)) - 1e-10 <= value <= above.delta(float(eps)) + 1e-10
            assert step or above.delta(float(eps)) - below.delta(float(eps)) < 2e-3 * max(value, 1e-2)
        # Y keeps its mean above; below, only the last heap may lose some.
        assert float(above.mass @ np.exp(-above.loss)) == pytest.approx(1, abs=1e-10)

    @pytest.mark.parametrize(
        "crowd", [*(budgets.constant(0.5, n=n) for n in (10**3, 10**4, 10**6)), budgets.draw("unif1", n=5000, rng=1)]
    )
    def test_agrees_with_the_accountant(self, crowd):
        above, below = on_grid(problem(crowd)), on_grid(problem(crowd), above=False)
        for share in (0.5, 2.0, 4.0):
            eps = share / math.sqrt(crowd.n)
            exact = central_delta(crowd, eps=eps)
            assert below.delta(eps) <= exact.upper * (1 + 1e-9)
            assert above.delta(eps) >= exact.lower * (1 - 1e-9)
            assert above.delta(eps) / below.delta(eps) < 1.005

    def test_local_delta_is_an_infinite_loss(self):
        crowd = budgets.constant(0.5, n=100, delta=1e-3)
        law = on_grid(problem(crowd))
        assert law.infinite == pytest.approx(1e-3, rel=1e-9)
        assert law.delta(0.1) == pytest.approx(central_delta(crowd, eps=0.1).value, rel=1e-4)

    def test_refusals(self):
        with pytest.raises(OutsideValidity, match="fewer users"):
            atoms(problem(budgets.constant(0.5, n=10**14)))


class TestGrid:
    @pytest.mark.parametrize("mu", [0.01, 1.0, 3.0])
    def test_gaussian(self, mu):
        step = mu / 100
        found = sampled_gaussian(mu, depth=60.0)
        for one in found:
            assert one.mass.sum() == pytest.approx(1, abs=1e-13)
            assert float(one.mass @ np.exp(-one.loss)) == pytest.approx(1, abs=1e-12)
        above, below = (put(one.loss, one.mass, step) for put, one in zip((spread, merge), found, strict=True))
        for eps in (0.0, 0.5 * mu, 2 * mu):
            exact = gdp_delta(eps, mu=mu)
            assert below.delta(eps) <= exact * (1 + 1e-12)
            assert above.delta(eps) >= exact * (1 - 1e-12)
            assert above.delta(eps) / below.delta(eps) < 1.001


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

    def test_large_crowd_near_its_gaussian_limit(self):
        n = 10**4
        mu2 = math.tanh(0.25) ** 2 * (1 + math.exp(0.5)) / (n - 1) * 2
        for order in (1.0, 2.0, 16.0):
            found = renyi(problem(budgets.constant(0.5, n=n)), order)
            # D_order of N(mu, 1) against N(0, 1) is order mu^2/2; the limit is within a percent here
            assert found.value == pytest.approx(order * mu2 / 2, rel=0.01)
            assert found.relative_width < 1e-3

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

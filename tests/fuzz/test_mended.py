"""Right answers where the drawn inputs found an exception, NaN or a wrong number, each once by hand."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from gspa.accountant import api, blanket_forms, budgets, exact, losses, mechanisms, rounds, settings
from gspa.accountant.allocation import Allocation
from gspa.accountant.attacks import Laws
from gspa.accountant.errors import OutsideValidity
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.accountant.one_round import problem_of
from gspa.accountant.randomizers import KRR, RandomizedResponse
from gspa.accountant.rounds import gaussian
from gspa.algorithms import mean
from gspa.algorithms.flame import accounting, attacks
from gspa.algorithms.flame.aggregation import subsets
from gspa.algorithms.flame.padded import coordinate
from gspa.algorithms.flame.randomizers import Laplace


class TestAnswers:
    """Right answers where there was an exception, NaN or a wrong number."""

    def test_the_least_double_as_a_budget(self):
        least = mechanisms.analytic_gaussian_scale(eps=5e-324, delta=0.1)
        assert least == pytest.approx(mechanisms.analytic_gaussian_scale(eps=0.0, delta=0.1))

    def test_whole_numbers_that_are_floats(self):
        assert subsets(3, 5.0, 2.0, np.random.default_rng(0)).shape == (3, 2)

    def test_one_report_that_says_anything_is_attacked_as_it_is_bounded(self):
        for asked in ({"budgets": [1.0, 0.0], "mechanism": "laplace"}, {"mechanism": api.Gaussian(1.0), "n": 1}):
            found, attack = (ask(delta=1e-3, **asked) for ask in (api.epsilon, api.attack))
            assert found.reached
            assert (attack.lower, attack.upper) == (found.lower, found.upper)
        assert api.attack(budgets=[0.0, 0.0], mechanism="laplace", delta=1e-3).upper == 0

    def test_a_budget_near_the_largest_double(self):
        found = api.epsilon(eps=1e308, n=10, delta=1e-6)
        assert found.lower <= found.value <= found.upper < math.inf

    def test_an_end_that_is_not_known_is_no_number_in_json(self):
        found = api.attack(mechanism=api.Gaussian(1.0), n=100, delta=1e-3)
        assert math.isinf(found.upper)
        assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["lower"] == found.lower

    def test_a_wide_interval_says_so_whatever_the_method_knew(self):
        found = api.epsilon(mechanism=api.Gaussian(0.3), n=100, delta=1e-6)
        assert found.lower < found.upper / 2
        assert "not known to a factor of two" in found.note

    def test_each_users_epsilon_says_what_was_only_measured(self):
        assert not api.per_user(mechanism=api.Gaussian([1.0, 1.0, 2.0]), delta=1e-4).proved
        assert api.per_user(budgets=[1.0, 2.0], delta=1e-4).proved

    def test_an_order_that_is_a_fraction(self):
        crowd = budgets.constant(1.0, n=1)
        problem = problem_of(crowd, RandomizedResponse(), 0)
        assert losses.renyi(problem, Fraction(7, 2)) == losses.renyi(problem, 3.5)

    def test_a_victim_that_is_a_whole_float(self):
        crowd = budgets.from_array([0.5, 1.0], count=5)
        asked = {"scales": [0.5, 1.0], "count": 5, "delta": 0.01}
        assert blanket_epsilon(**asked, victim=1.0) == blanket_epsilon(**asked, victim=1)
        one, same = (rounds.compose([(rounds.shuffled(crowd, victim=i), 2)], delta=0.01) for i in (1.0, 1))
        assert one == same

    def test_noise_that_is_a_fraction_or_an_array_without_axes(self):
        for half in (Fraction(1, 2), np.array(0.5)):
            assert blanket_epsilon([1.0], count=5, delta=0.1, sensitivity=half).upper <= 0.5
            assert Allocation(half, 10, sensitivity=half) == Allocation(0.5, 10, sensitivity=0.5)
            noise = api.Gaussian(sigma=half, sensitivity=half)
            assert api.epsilon(n=5, delta=0.1, mechanism=noise).upper > 0
        assert gaussian(Fraction(1, 2)).label == "Gaussian, mu = 0.5"

    def test_each_user_at_a_delta_that_is_a_fraction(self):
        found, same = (api.per_user(budgets=[0.5, 1.0], delta=delta) for delta in (Fraction(1, 8), 0.125))
        assert found.words() == same.words()
        assert found.upper.tolist() == same.upper.tolist()

    def test_a_spread_of_minus_zero(self):
        drawn = mean.clipped_data(3, center=1.0, sigma=-0.0, low=0.0, high=2.0, rng=0)
        assert drawn.tolist() == [1.0] * 3

    def test_an_error_below_every_square(self):
        usual = mean.mean_error([0.5, 1.0], sensitivity=1.0)
        assert mean.mean_error([0.5, 1.0], sensitivity=1e-200) == pytest.approx(1e-200 * usual)
        assert mean.mean_error([1e308], sensitivity=5e-324) == 0

    def test_a_delta_of_one_subnormal(self):
        found = blanket_epsilon([2.0], count=20, delta=5e-324)
        assert 0 <= found.lower <= found.upper <= 0.5

    def test_beyond_every_loss_of_a_coordinate(self):
        one = coordinate(Laplace(1.0), n_p=4)
        assert accounting.composed_delta(one, 4, eps=1e154) == 0

    def test_an_attack_where_e_to_the_eps_is_no_double(self):
        assert attacks.sum_delta(Laplace(0.5), real=7, padded=7, eps=1e308) == 0

    def test_a_budget_for_the_least_target(self):
        found = api.calibrate(target_eps=5e-324, delta=0.49, n=812, mechanism="common")
        assert 0 < found.lower <= found.value <= found.upper

    def test_a_victim_whose_index_is_a_whole_float(self):
        people = budgets.from_array([0.5, 0.7])
        assert exact.exact_epsilon(people, delta=0.1, victim=0.0) == exact.exact_epsilon(people, delta=0.1, victim=0)

    def test_values_whose_inverses_are_no_doubles(self):
        found = api.per_user(budgets=budgets.from_array([700.0], count=[3]), mechanism=KRR(3), delta=0.25, rounds=3)
        assert 0 < found.lower[0] <= found.upper[0] <= 2100


class TestNumbers:
    """Numbers and names at the edges."""

    def test_the_largest_number_of_rounds_is_looked_at_at_once(self, monkeypatch):
        asked, real = [], settings.Setting.epsilon
        monkeypatch.setattr(
            settings.Setting, "epsilon", lambda one, delta: asked.append(one.rounds) or real(one, delta)
        )
        with pytest.raises(OutsideValidity, match=r"a target that rounds = 1e\+06 misses"):
            api.calibrate(target_eps=1.0, delta=0.1, eps=1e-9, n=5)
        assert len(asked) < 10

    @pytest.mark.parametrize("more", [[], [(gaussian(1e-9), 1)]])
    def test_a_grid_that_no_memory_holds_is_not_needed(self, more):
        one = rounds.shuffled(budgets.constant(700.0, n=3))
        bound = rounds.compose([(one, 10**6), *more], delta=0.3)
        assert bound.lower <= 7e8 + math.log(0.7) <= bound.upper * (1 + 1e-12)
        assert bound.relative_width < 1e-6

    def test_an_attack_at_an_eps_beyond_every_double(self):
        laws = Laws(np.array([0.5, 0.5]), np.array([0.25, 0.75]), 0.0)
        assert laws.delta(1e308) == 0.0
        assert laws.delta(1e308, side=1) < 1e-12


def test_a_subnormal_central_budget_is_answered():
    assert blanket_forms._log_delta(5e-324, 3.060802909530974, 17, "hoeffding", "generic") > 0

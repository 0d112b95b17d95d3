"""Certified central eps and delta: against enumeration, each other, and what must be refused."""

from __future__ import annotations

import math
from itertools import combinations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_oracle import blanket_delta, hockey_stick, krr_blanket_delta, mpf, pair_law, sum_of_bernoullis, uniform_delta

import gspa
from gspa.accountant import budgets
from gspa.accountant.bound import Bound
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.one_round import (
    central_delta,
    central_epsilon,
    epsilon_of,
    honest_only,
    per_user_epsilon,
    problem_of,
)
from gspa.accountant.randomizers import KRR, RandomizedResponse
from gspa.accountant.tradeoff import gdp_epsilon

HALF = mpf(1) / 2


def exact_delta(eps_all, victim, eps, k=2):
    """delta of one user of personalized (k-ary) randomized response, at 50 digits."""
    p, e = mpmath.exp(mpf(float(eps_all[victim]))), mpmath.exp(mpf(float(eps)))
    low = 1 / (p + k - 1)
    blanket = [k / (mpmath.exp(mpf(float(e))) + k - 1) for i, e in enumerate(eps_all) if i != victim]
    if k > 2:
        return blanket_delta(blanket, mpf(2) / k, p * low, low, (k - 2) * low, e)
    return hockey_stick(pair_law(sum_of_bernoullis(blanket), p * low, low, 0, HALF), e)


class TestAgainstEnumeration:
    @pytest.mark.parametrize("seed", range(8))
    def test_worst_user_by_trying_all(self, seed):
        rng = np.random.default_rng(seed)
        k = int(rng.choice([2, 2, 3, 5]))
        for _ in range(5):
            eps_all = rng.uniform(0, 6, int(rng.integers(2, 15 if k == 2 else 9)))
            crowd, eps = budgets.from_array(eps_all), float(rng.uniform(0, 0.9) * eps_all.max())
            mechanism = KRR(k) if k > 2 else RandomizedResponse()
            exact = max(exact_delta(eps_all, i, eps, k) for i in range(eps_all.size))
            found = central_delta(crowd, eps=eps, mechanism=mechanism)
            assert found.lower <= exact <= found.upper
            assert found.upper - found.lower <= (1e-6 if k == 2 else 5e-3) * exact

    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12, 1e-20])
    def test_epsilon_ends_enclose_the_root(self, seed, delta):
        rng = np.random.default_rng([seed, 7])
        eps_all = np.sort(rng.uniform(0.01, 8, int(rng.integers(1, 41))))
        bound = central_epsilon(budgets.from_array(eps_all), delta=delta)
        worst = eps_all.size - 1
        assert exact_delta(eps_all, worst, bound.upper) <= delta
        assert bound.lower == 0 or exact_delta(eps_all, worst, bound.lower) >= delta
        assert bound.relative_width <= 1e-9

    @pytest.mark.parametrize(
        ("n", "eps0", "delta"), [(500, 0.5, 1e-5), (1500, 1.0, 1e-9), (400, 5.0, 1e-6), (1500, 0.01, 2e-5)]
    )
    def test_uniform(self, n, eps0, delta):
        bound = central_epsilon(budgets.constant(eps0, n=n), delta=delta)
        assert uniform_delta(n, eps0, bound.upper) <= delta
        assert uniform_delta(n, eps0, bound.lower) >= delta
        assert bound.relative_width <= 1e-9

    @pytest.mark.parametrize("n", [3, 12])
    def test_local_deltas(self, n):
        # Others are clones only while pure; the victim's own delta is added.
        rng = np.random.default_rng(5)
        eps_all, local = rng.uniform(0.1, 2, n).tolist(), rng.uniform(0, 0.1, n).tolist()
        eps_all[0], local[1] = 2.5, 0.0
        crowd = budgets.from_array(eps_all, local)
        for eps in (0.0, 0.3, 1.2, 2.6):
            values = []
            for i in range(n):
                q = [2 / (1 + math.exp(eps_all[j])) * (1 - local[j]) for j in range(n) if j != i]
                w = 1 / (1 + math.exp(-eps_all[i]))
                table = pair_law(sum_of_bernoullis(q), w, 1 - w, 0, 0.5)
                values.append(local[i] + (1 - local[i]) * float(hockey_stick(table, math.exp(eps))))
            found = central_delta(crowd, eps=eps)
            assert n > 3 or found.value == pytest.approx(max(values), rel=1e-12)
            assert found.lower <= max(values) <= found.upper * (1 + 1e-15)  # `values` are rounded too

    @pytest.mark.slow
    @pytest.mark.parametrize("n", [10**4, 10**5])
    @pytest.mark.parametrize("eps0", [0.01, 0.5, 2.0, 5.0])
    @pytest.mark.parametrize("delta", [1e-2, 1e-4, 1e-8, 1e-15])
    def test_epsilon_against_arb(self, n, eps0, delta):
        flint = pytest.importorskip("flint")
        flint.ctx.prec = 400
        bound = central_epsilon(budgets.constant(eps0, n=n), delta=delta)

        def arb(eps):
            q = 2 / (1 + math.exp(eps0))
            top = int(min(n - 1, n * q + 14 * math.sqrt(n * q * (1 - q)) + 50))
            return uniform_delta(n, eps0, eps, number=flint.arb, exp=lambda x: x.exp(), window=(0, top))

        assert arb(bound.upper) <= flint.arb(delta)
        assert bound.lower == 0 or arb(bound.lower) >= flint.arb(delta)
        assert bound.relative_width < 1e-6


class TestAgreement:
    @settings(max_examples=40)
    @given(st.floats(0.01, 6), st.integers(2, 3000), st.sampled_from([1e-3, 1e-6, 1e-12]))
    def test_uniform_equals_heterogeneous(self, eps0, n, delta):
        # One group through the binomial law; the same users through products or Fourier sums.
        one = central_epsilon(budgets.constant(eps0, n=n), delta=delta)
        nearly = np.full(n, eps0)
        nearly[0] = np.nextafter(eps0, 0)
        many = central_epsilon(budgets.from_array(nearly), delta=delta)
        assert one.lower <= many.upper * (1 + 1e-12)
        assert many.lower <= one.upper * (1 + 1e-12)
        # Where delta is near delta(0) the eps is ill-conditioned, and both say so by their width.
        assert many.value == pytest.approx(one.value, rel=1e-8, abs=one.upper - one.lower + many.upper - many.lower)


class TestCorners:
    @pytest.mark.parametrize("count", [1, 5, 10**9])
    def test_silent_users_need_nothing(self, count):
        assert central_epsilon(budgets.constant(0.0, n=count), delta=1e-9).upper == 0
        assert central_delta(budgets.constant(0.0, n=count), eps=0.0).upper == 0

    def test_zero_where_delta_covers_everything(self):
        crowd = budgets.constant(0.5, n=100)
        whole = central_delta(crowd, eps=0.0)
        assert central_epsilon(crowd, delta=whole.upper * (1 + 1e-12)).upper == 0
        assert central_epsilon(crowd, delta=whole.lower * (1 - 1e-9)).upper > 0

    def test_at_the_local_budget(self):
        assert central_delta(budgets.constant(1.0, n=10, delta=1e-5), eps=1.0).upper == 1e-5

    def test_delta_below_the_local_delta_is_refused(self):
        crowd = budgets.constant(1.0, n=100, delta=1e-6)
        for delta in (1e-7, 1e-6):
            with pytest.raises(OutsideValidity, match="delta > 1e-06, the largest local delta"):
                central_epsilon(crowd, delta=delta)
        assert central_epsilon(crowd, delta=1.1e-6).upper <= 1.0


class TestPerUser:
    @pytest.mark.parametrize("k", [2, pytest.param(4, marks=pytest.mark.slow)])
    def test_each_alone(self, k):
        eps_all = np.r_[0.0, np.sort(np.random.default_rng(3).uniform(0.05, 3, 70))]  # more than the nodes between
        found = per_user_epsilon(budgets.from_array(eps_all), delta=1e-5, mechanism=KRR(k))
        assert found.upper[0] == 0
        assert np.all(found.lower <= found.upper)
        for i in (1, 10, 35, 60, 70) if k == 2 else (50,):  # the enumeration of more answers takes seconds
            if k == 4:
                blanket = 4 / (np.exp(np.delete(eps_all, i)) + 3)
                low, high = (krr_blanket_delta(blanket, eps_all[i], 4, e) for e in (found.lower[i], found.upper[i]))
            else:
                low, high = (exact_delta(eps_all, i, e) for e in (found.lower[i], found.upper[i]))
            assert high <= 1e-5 * (1 + 1e-12) and low >= 1e-5 * (1 - 1e-12)  # noqa: PT018

    def test_many_users(self):
        crowd = budgets.from_array(np.random.default_rng(0).uniform(0.1, 2, 20_000))
        found = per_user_epsilon(crowd, delta=1e-6)
        worst = central_epsilon(crowd, delta=1e-6)
        order = np.argsort(crowd.eps)
        assert found.lower.max() <= worst.upper
        assert found.upper.max() >= worst.lower
        assert np.all(np.diff(found.upper[order]) >= -1e-12)
        assert np.median((found.upper - found.lower) / found.upper) < 5e-3
        # One user in the middle, by itself: the crowd with that user as the only loud one.
        middle = int(order[10_000])
        alone = epsilon_of(1e-6, problem_of(crowd, RandomizedResponse(), middle))
        assert found.lower[middle] <= alone.upper
        assert alone.lower <= found.upper[middle]

    def test_local_deltas_and_refusals(self):
        crowd = budgets.from_array(np.linspace(0.1, 2, 100), np.resize([0.0, 1e-8], 100))
        found = per_user_epsilon(crowd, delta=1e-6)
        assert found.upper.max() <= 2
        with pytest.raises(OutsideValidity, match="8 distinct delta_i"):
            per_user_epsilon(budgets.from_array(np.linspace(0.1, 2, 100), np.linspace(0, 1e-8, 100)), delta=1e-6)
        with pytest.raises(OutsideValidity, match="largest local delta"):
            per_user_epsilon(crowd, delta=1e-9)


class TestBound:
    def test_order_is_enforced(self):
        for numbers in ((1, 0, 2), (0, 3, 2), (0, math.nan, 1)):
            with pytest.raises(InvalidValue, match="value"):
                Bound(*numbers, method="m", valid_for="v")


class TestManySettings:
    def test_each_entry_is_one_call_in_numpy_s_order(self):
        runs = gspa.KRR(k=5)
        found = gspa.epsilon(n=[[10], [1_000_000]], eps=[0.0, 0.5, 2.0], delta=1e-6, mechanism=runs)
        settings = [(n, e) for n in (10, 10**6) for e in (0.0, 0.5, 2.0)]
        assert found == [gspa.epsilon(n=n, eps=e, delta=1e-6, mechanism=runs) for n, e in settings]
        assert gspa.delta(budgets=[1.0] * 50, at_eps=np.array([0.1, 0.2])) == [
            gspa.delta(budgets=[1.0] * 50, at_eps=e) for e in (0.1, 0.2)
        ]
        assert gspa.epsilon(n=[], eps=1.0, delta=1e-4) == []

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"n": [10, 20]}, r"must be shapes that numpy broadcasts together"),
            ({"n": 0}, r"n = 0: must be an integer >= 1"),
            ({"n": 1.5}, r"n = 1.5: must be an integer"),
            ({"delta": [0.1, 0.0, 0.1]}, r"delta = 0.0: must be in \(0, 1\)"),
        ],
    )
    def test_refusals(self, given, words):
        with pytest.raises(InvalidValue, match=words):
            gspa.epsilon(**({"n": 10, "eps": [0.1, 0.2, 0.3], "delta": 1e-4} | given))

    def test_a_billion_users_given_as_counts(self):
        """Against the limit of so many, a Gaussian: mu = tanh(eps/2) sqrt(4/E[C]), clones 2/(e^eps_j + 1)."""
        eps, count = np.array([0.5, 1.0, 2.0]), np.array([500_000_000, 300_000_000, 200_000_000])
        crowd = budgets.from_array(eps, count=count)
        users = per_user_epsilon(crowd, delta=1e-6)
        clones = float(count @ (2 / (np.exp(eps) + 1)))
        limit = [gdp_epsilon(delta=1e-6, mu=math.tanh(e / 2) * math.sqrt(4 / clones)) for e in eps]
        np.testing.assert_allclose(users.upper, limit, rtol=1e-4)
        assert users.upper[2] == pytest.approx(central_epsilon(crowd, delta=1e-6).upper, rel=1e-12)


class TestHonestOnly:
    """Who is left when users deviate."""

    def test_the_blogs_ten_percent_is_the_bound_at_nine_tenths_of_n(self):
        everybody = budgets.constant(1.0, n=1000)
        fewer = central_epsilon(honest_only(everybody, honest=900), delta=1e-5)
        assert fewer == central_epsilon(budgets.constant(1.0, n=900), delta=1e-5)
        assert fewer.lower > central_epsilon(everybody, delta=1e-5).upper

    @pytest.mark.parametrize("honest", [1, 2, 3, 4, 5])
    def test_no_other_choice_of_deviating_users_is_worse_for_the_worst_victim(self, honest):
        eps = [0.0, 0.3, 0.7, 1.5, 2.0]
        worst = central_delta(honest_only(budgets.from_array(eps), honest=honest), eps=0.4).upper
        for others in combinations(eps[:-1], honest - 1):
            some = central_delta(budgets.from_array([*others, eps[-1]]), eps=0.4)
            assert some.lower <= worst * (1 + 1e-9)

    @pytest.mark.parametrize(("honest", "allowed"), [(0, ">= 1"), (11, "at most n = 10"), (2.5, "an integer")])
    def test_impossible_numbers_are_refused(self, honest, allowed):
        with pytest.raises(InvalidValue, match=allowed):
            honest_only(budgets.constant(1.0, n=10), honest=honest)
        with pytest.raises(InvalidValue, match="the same for all users"):
            honest_only(budgets.from_array([1.0, 1.0], [0.0, 1e-6]), honest=1)

"""Masses and clone probabilities against the randomizers' own laws, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from exact_shuffle import histogram_delta, krr
from pair_oracle import hockey_stick, pair_law, sum_of_bernoullis

from gspa.accountant import api, budgets
from gspa.accountant.errors import InvalidValue, OutsideValidity, UnknownName
from gspa.accountant.one_round import central_delta, central_epsilon
from gspa.accountant.randomizers import (
    KRR,
    Common,
    HadamardResponse,
    LocalHashing,
    RandomizedResponse,
    SubsetSelection,
    TotalVariation,
    UnaryEncoding,
)


class TestMasses:
    @pytest.mark.parametrize("eps", [1e-6, 0.1, 1.0, 8.0, 40.0])
    @pytest.mark.parametrize(
        "family",
        [
            RandomizedResponse(),
            KRR(2),
            KRR(7),
            SubsetSelection(6, 4),
            UnaryEncoding(4),
            LocalHashing(5, 3),
            HadamardResponse(6),
        ],
    )
    def test_add_up(self, family, eps):
        np.testing.assert_allclose(family.rows(eps).sum(axis=1), 1, rtol=1e-14)
        if not family.bits:
            table = family.victim(eps)
            assert [table.base @ v for v in (table.first, table.second)] == pytest.approx([1, 1], rel=1e-14)
        q, rest = family.clones(np.array([0.0, eps / 2, eps]))
        np.testing.assert_allclose(q + rest, 1, rtol=1e-13)

    def test_total_variation_at_its_largest_is_binary(self):
        crowd = budgets.constant(1.0, n=200)
        rr = central_epsilon(crowd, delta=1e-5)
        known = central_epsilon(crowd, delta=1e-5, mechanism=TotalVariation(math.tanh(0.5)))
        assert known.value == pytest.approx(rr.value, rel=1e-9)

    def test_a_known_variation_with_the_third_outcome_revealed(self):
        # delta = (1+p) a E[h_C], C ~ Bin(n-1, 2a): with one other user, by hand at eps = 0,
        # h_0 = tanh(eps0/2) and h_1 = tanh(eps0/2)/2.
        tv, a = 0.2, 0.2 / math.expm1(1.0)
        found = central_delta(budgets.constant(1.0, n=2), eps=0.0, mechanism=TotalVariation(tv))
        assert found.value == pytest.approx(tv * (1 - a), rel=1e-13)


class TestShuffledLawsLieBelow:
    """The full law of what the analyzer sees, for every input of everybody, never exceeds the pair."""

    def test_total_variation_and_the_published_hidden_pair(self):
        # Two users of 3-ary response at p = e, the other's input equal to the victim's first. The reports
        # {0, 0} alone give p (p - e^eps)/(p+2)^2; the pair that hides "neither" gives 1/p of that.
        p, e = math.e, 2.5
        rows = [krr(3, 1.0, x) for x in (0, 1)]
        exact = histogram_delta(rows, [(rows[0], 1)], math.log(e))
        assert exact == pytest.approx(p * (p - e) / (p + 2) ** 2, rel=1e-12)
        low = 1 / (p + 2)
        hidden = hockey_stick(pair_law(sum_of_bernoullis([2 * low]), p * low, low, low, 0.5), e)
        assert hidden == pytest.approx(exact / p, rel=1e-12)
        for family in (KRR(3), TotalVariation((p - 1) / (p + 2))):
            bound = central_delta(budgets.constant(1.0, n=2), eps=math.log(e), mechanism=family)
            assert bound.upper >= exact * (1 - 1e-12)


class TestRefusals:
    @pytest.mark.parametrize("family", [Common(), TotalVariation(0.1)])
    def test_common_randomizers_need_common_budgets(self, family):
        with pytest.raises(OutsideValidity, match="one eps for all users"):
            central_epsilon(budgets.from_array([1.0, 2.0]), delta=1e-4, mechanism=family)

    def test_local_deltas_are_refused_where_unknown(self):
        with pytest.raises(OutsideValidity, match="local delta_i = 0"):
            central_epsilon(budgets.constant(1.0, n=10, delta=1e-9), delta=1e-4, mechanism=Common())

    def test_parameters(self):
        with pytest.raises(InvalidValue, match='mechanism "krr" needs it'):
            api.mechanism("krr")
        with pytest.raises(InvalidValue, match='mechanism "rr" does not use it'):
            api.mechanism("rr", k=3)
        with pytest.raises(InvalidValue, match=r"size = 4: must be in \[1, k - 1\]"):
            SubsetSelection(4, 4)
        with pytest.raises(InvalidValue, match=r"tv = 0\.9"):
            central_epsilon(budgets.constant(1.0, n=10), delta=1e-4, mechanism=TotalVariation(0.9))
        with pytest.raises(UnknownName, match="did you mean 'subset'"):
            api.mechanism("subse")

    @pytest.mark.parametrize("wrong", ["krr", api.Gaussian(1.0), api.Discrete([[1.0], [1.0]]), None, KRR])
    def test_names_noise_and_matrices(self, wrong):
        with pytest.raises(InvalidValue, match=r"^mechanism = .*must be a randomizer with clones"):
            central_delta(budgets.constant(1.0, n=10), eps=0.1, mechanism=wrong)

"""A victim's local delta: the exact mechanism, and both sides of eq. (17) by hand."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gspa import accountant, bounds, budgets, local_delta
from gspa.errors import InvalidValue


class TestToldTruth:
    def test_alone_by_hand(self):
        # Nobody else: 1/10 + 9/10 (3/4 - e^eps/4) at p = 3.
        table = local_delta.told_truth(ratio=3, delta_n=F(1, 10), others=[], factors=[1, 2, 3, 10])
        assert table["total"].tolist() == [F(11, 20), F(13, 40), F(1, 10), F(1, 10)]
        assert table["paper"].tolist() == [F(9, 20), F(9, 40), 0, 0]

    @given(
        st.integers(2, 9),
        st.fractions(0, F(9, 10), max_denominator=20),
        st.lists(st.integers(1, 7), max_size=3),
        st.lists(st.fractions(1, 12, max_denominator=5), min_size=1, max_size=3),
    )
    @settings(max_examples=25, deadline=None)
    def test_the_corrected_delta_is_exact(self, ratio, delta, others, factors):
        table = local_delta.told_truth(ratio=ratio, delta_n=delta, others=others, factors=factors)
        assert (table["total"] == table["corrected"]).all()
        assert (table["total"] >= delta).all()
        if delta > 0:
            assert (table["total"] > table["paper"]).all()

    @pytest.mark.parametrize(
        "wrong", [{"delta_n": F(1)}, {"delta_n": F(-1, 2)}, {"factors": [F(1, 2)]}, {"others": [1] * 6}]
    )
    def test_out_of_range(self, wrong):
        given = {"ratio": 3, "delta_n": F(1, 2), "others": [2], "factors": [1]} | wrong
        with pytest.raises(InvalidValue):
            local_delta.told_truth(**given)


class TestEquation17:
    def test_the_smallest_case_by_hand(self):
        # One other user, a fair coin; p = 9, delta_n = 1/5. Counts (2,0), (1,1), (0,2) with Delta_2 = 0 have
        # 4/5 times (9/20, 1/2, 1/20) and its mirror image; Delta_2 = 1 says nothing.
        table = local_delta.equation17(ratio=9, delta_n=F(1, 5), others=[1]).set_index("alpha")
        # At alpha = 0.04 the test rejects (0,2): it misses 1 - 0.36.
        assert table["left"].iloc[table.index.get_indexer([0.04], method="nearest")[0]] == pytest.approx(0.64)
        # At alpha = 0.64 it rejects everything but (2,0), and misses 0.04. T_symm: (1,1) is all that the
        # primed pair hides, so max(0, 1/2 - alpha).
        at = table.iloc[table.index.get_indexer([0.64], method="nearest")[0]]
        assert at["left"] == pytest.approx(0.04)
        assert at["right"] == pytest.approx(0.2 * 0.36)
        assert table["right"].loc[0.0] == pytest.approx(0.2 + 0.8 * 0.5)
        assert table["left"].loc[0.0] == pytest.approx(1.0)

    def test_at_delta_zero_it_is_the_victims_own_coin_that_is_missing(self):
        table = local_delta.equation17(ratio=3, delta_n=F(0), others=[3, 3])
        np.testing.assert_allclose(table["equal_alpha"], table["left"], atol=1e-12)
        assert (table["right"] <= table["left"] + 1e-12).all()
        assert (table["right"] < table["left"] - 0.1).any()

    def test_splitting_alpha_never_hurts_the_test_when_the_branch_shows(self):
        # The other user is always a clone, so the total shows Delta_2: T is at most the mean at equal alpha.
        table = local_delta.equation17(ratio=5, delta_n=F(1, 3), others=[1, 1])
        assert (table["left"] <= table["equal_alpha"] + 1e-12).all()
        assert (table["left"] < table["equal_alpha"] - 0.02).any()
        assert table["mirrored"].max() < 1e-12


class TestAtThePapersEps:
    def test_one_user_of_the_largest_budget_gets_it(self):
        people = budgets.mixed_constant(0.5, 0.01, n=1_000)
        table = local_delta.at_the_papers_eps(people, deltas=[0.0, 0.01], delta=1e-4)
        pure = accountant.central_delta(people, eps=float(table["epsilon"].iloc[0]))
        assert table["lower"].iloc[0] == pytest.approx(pure.lower)
        assert table["epsilon"].iloc[0] == pytest.approx(bounds.gspa_epsilon(people, delta=1e-4))
        assert 0.01 <= table["lower"].iloc[1] <= table["upper"].iloc[1] < 0.0101
        assert table["times"].iloc[1] >= 100

    def test_a_crowd_of_one_group(self):
        assert len(local_delta.at_the_papers_eps(budgets.constant(1.0, n=10), deltas=[0.1], delta=1e-3)) == 1

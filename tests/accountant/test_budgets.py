"""Budgets: what is stored, what is drawn, what is refused."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gspa.accountant import budgets as b
from gspa.accountant.errors import InvalidBudget, InvalidValue, UnknownName

GROUPS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.5, 2.0]), st.sampled_from([0.0, 1e-5]), st.integers(1, 50)),
    min_size=1,
    max_size=12,
)


def make(groups):
    eps, delta, count = zip(*groups, strict=True)
    return b.from_array(eps, delta, count)


def users(budgets):
    """The multiset of (eps, delta), one entry per user, in order."""
    pairs = zip(budgets.eps.tolist(), budgets.delta.tolist(), budgets.count.tolist(), strict=True)
    return [(eps, delta) for eps, delta, count in pairs for _ in range(count)]


class TestBudgets:
    def test_summaries(self):
        found = b.from_array([0.5, 0.0, 2.0], [0.0, 1e-6, 1e-9], [3, 1, 2])
        assert (found.n, found.eps_min, found.eps_max, found.delta_max) == (6, 0.0, 2.0, 1e-6)

    def test_arrays_are_read_only_copies(self):
        eps = np.array([0.1, 0.2])
        found = b.from_array(eps)
        eps[0] = 9
        assert found.eps[0] == 0.1
        for name in ("eps", "delta", "count"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(found, name)[0] = 1
        with pytest.raises(dataclasses.FrozenInstanceError):
            found.eps = eps
        assert (found.eps.dtype, found.delta.dtype, found.count.dtype) == (float, float, np.int64)

    @given(GROUPS)
    def test_grouped_and_expanded_keep_every_user(self, groups):
        found = make(groups)
        assert sorted(users(found.grouped())) == sorted(users(found))
        assert len(set(zip(found.grouped().eps, found.grouped().delta, strict=True))) == found.grouped().eps.size
        assert users(found.expanded()) == users(found)
        assert set(found.expanded().count.tolist()) == {1}

    def test_negative_zero_groups_with_zero(self):
        assert b.from_array([0.0, -0.0]).grouped().count.tolist() == [2]

    def test_expanding_too_many_is_refused(self):
        with pytest.raises(InvalidBudget, match=r"n = 1000000000: must be at most 100000000; work with the groups"):
            b.constant(1, n=10**9).expanded()

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (([],), "eps = []: must be a non-empty list"),
            (([0.1, math.nan],), "eps[1] = nan: must be a finite number >= 0"),
            (([0.1, math.inf],), "eps[1] = inf: must be a finite number >= 0"),
            (([-0.1],), "eps[0] = -0.1: must be a finite number >= 0"),
            (([0.1], [1.0]), "delta[0] = 1.0: must be in [0, 1)"),
            (([0.1], [-1e-9]), "delta[0] = -1e-09: must be in [0, 1)"),
            (([0.1, 0.2], [0.0, math.nan]), "delta[1] = nan: must be in [0, 1)"),
            (([0.1, 0.2], [0.0]), "len(delta) = 1: must be len(eps) = 2"),
            (([0.1, 0.2], 0.0, [1, 2, 3]), "len(count) = 3: must be len(eps) = 2"),
            (([0.1], 0.0, [0]), "count[0] = 0.0: must be an integer >= 1"),
            (([0.1], 0.0, [1.5]), "count[0] = 1.5: must be an integer >= 1"),
            (([0.1, 0.2], 0.0, [2**53 - 1, 1]), "sum(count) = 9007199254740992.0: must be at most 2^53 - 1"),
            ((["a"],), "eps = ['a']: must be a list of numbers"),
            (([True, False],), "must be a list of numbers"),
            (([[0.1], [0.2]],), "must be a one-dimensional list of numbers"),
            (([[1], [1, 2]],), "rectangular"),
        ],
    )
    def test_refusals_name_the_entry(self, arguments, words):
        with pytest.raises(InvalidBudget) as refusal:
            b.from_array(*arguments)
        assert words in str(refusal.value)
        assert "\n" not in str(refusal.value)

    def test_repr_is_short_for_many_users(self):
        assert len(repr(b.draw("unif1", n=10_000, rng=0))) < 150


class TestTable2:
    def test_names_and_labels_are_the_papers(self):
        assert {d.title: d.label for d in b.TABLE2.values()} == {
            "Unif 1": "U(0.01, 1)",
            "Unif 2": "U(0.01, 2)",
            "Constant": "0.5",
            "Mixed Constant": "50% 0.5 + 50% 0.01",
        }
        assert set(b.DISTRIBUTIONS) - set(b.TABLE2) == {"unif3"}

    @pytest.mark.parametrize(("name", "low", "high"), [("unif1", 0.01, 1), ("unif2", 0.01, 2), ("unif3", 0.5, 1)])
    def test_uniforms(self, name, low, high):
        n = 20_000
        drawn = b.draw(name, n=n, rng=7).eps
        assert drawn.size == n
        assert low <= drawn.min() <= drawn.max() < high
        # Kolmogorov-Smirnov distance: 1.95/sqrt(n) is exceeded with probability 1e-3, and the seed is fixed.
        steps = np.arange(1, n + 1) / n
        assert np.abs(np.sort((drawn - low) / (high - low)) - steps).max() < 1.95 / math.sqrt(n)

    def test_constant_and_mixed_are_deterministic(self):
        assert users(b.draw("constant", n=4, rng=0)) == [(0.5, 0.0)] * 4
        assert users(b.draw("mixed", n=4, rng=0)) == [(0.5, 0.0)] * 2 + [(0.01, 0.0)] * 2
        assert users(b.draw("mixed", n=5, rng=0)) == [(0.5, 0.0)] * 3 + [(0.01, 0.0)] * 2
        assert users(b.draw("mixed", n=1, rng=0)) == [(0.5, 0.0)]

    @pytest.mark.parametrize("name", list(b.DISTRIBUTIONS))
    def test_same_seed_same_bytes(self, name):
        one, two, other = (b.draw(name, n=100, rng=seed) for seed in (1, 1, 2))
        assert one.eps.tobytes() == two.eps.tobytes()
        assert one.n == other.n == 100
        if name.startswith("unif"):
            assert one.eps.tobytes() != other.eps.tobytes()

    def test_a_generator_moves_on(self):
        generator = np.random.default_rng(1)
        first, second = (b.draw("unif1", n=5, rng=generator).eps for _ in range(2))
        assert first.tolist() != second.tolist()

    def test_refusals(self):
        with pytest.raises(UnknownName, match="distribution 'unif4': does not exist; did you mean 'unif"):
            b.draw("unif4", n=10, rng=0)


class TestRepeatFirst:
    @given(GROUPS, st.integers(1, 2000))
    def test_is_the_users_cycled(self, groups, n):
        found = make(groups)
        once = users(found)
        assert sorted(users(b.repeat_first(found, n=n))) == sorted(once[i % len(once)] for i in range(n))


class TestPreferences:
    @given(st.integers(1, 10**6), st.floats(0, 1), st.floats(0, 1))
    def test_sizes_sum_to_n_and_are_within_one_of_the_share(self, n, first, second):
        low, middle = first * (1 - second), second * (1 - first)
        sizes = b._sizes(n, np.array([low, middle, 1 - low - middle]))
        assert sum(sizes) == n
        for size, share in zip(sizes, (low, middle, 1 - low - middle), strict=True):
            assert abs(size - share * n) < 1 + 1e-6  # rounding of share * n

    def test_hand_computed(self):
        # n = 10: shares 5.4, 3.7, 0.9; floors 5, 3, 0; the two left go to 0.9 and 0.7.
        assert b.preference_groups(n=10).count.tolist() == [5, 4, 1]
        # A tie goes to the earlier group.
        assert b.preference_groups(n=3, f_conservative=0.5, f_moderate=0.5).count.tolist() == [2, 1]

    def test_constants(self):
        found = b.preference_groups(n=100)
        assert users(found) == [(0.1, 0.0)] * 54 + [(0.5, 0.0)] * 37 + [(1.0, 0.0)] * 9

    def test_an_empty_group_disappears(self):
        assert b.preference_groups(n=10, f_conservative=0, f_moderate=0).eps.tolist() == [1.0]

    def test_ranges_follow_jorgensen(self):
        found = b.preference_groups(n=10_000, reading="ranges", rng=3, eps_conservative=0.01)
        low, middle, high = np.split(found.eps, [5400, 9100])
        assert 0.01 <= low.min() < 0.02 < 0.49 < low.max() <= 0.5
        assert 0.5 <= middle.min() < 0.51 < 0.99 < middle.max() <= 1.0
        assert set(high.tolist()) == {1.0}
        # Standard error of the mean of 5400 draws from U(0.01, 0.5) is 0.0019; five of them.
        assert abs(low.mean() - 0.255) < 0.01

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"f_conservative": 0.6, "f_moderate": 0.37, "f_liberal": 0.09}, "must be 1 within 1e-9"),
            ({"f_conservative": 0.8, "f_moderate": 0.37}, "must be 1 within 1e-9"),
            ({"f_conservative": 1.5}, "f_conservative = 1.5: must be in [0, 1]"),
            ({"reading": "range"}, "did you mean 'ranges'?"),
            ({"reading": "ranges"}, "rng = None: must be a generator or a seed"),
            ({"reading": "ranges", "rng": 0, "eps_moderate": 2}, "eps_moderate = 2.0: must be in "),
        ],
    )
    def test_refusals(self, arguments, words):
        with pytest.raises((InvalidValue, UnknownName)) as refusal:
            b.preference_groups(n=10, **arguments)
        assert words in str(refusal.value)

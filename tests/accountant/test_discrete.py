"""Discrete laws against linear programs, all their events, and the general theory."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gspa.accountant import tradeoff as d
from gspa.accountant.errors import InvalidValue

ALPHA = np.linspace(0, 1, 401)


def laws(size):
    def normalise(weights):
        total = sum(weights)
        return [w / total for w in weights]

    # Positive weights of at least 0.01 keep the slopes q/p below 600, so that rounding grows by no
    # more than 600^2 even through a chain of two curves: 1e-10 and less.
    weight = st.one_of(st.just(0.0), st.floats(0.01, 1))
    law = st.lists(weight, min_size=size, max_size=size).filter(lambda w: sum(w) > 0).map(normalise)
    return st.tuples(law, law)


PAIRS = st.integers(2, 6).flatmap(laws)


class TestExact:
    @settings(max_examples=60)
    @given(PAIRS)
    def test_no_deterministic_test_beats_the_curve_and_its_corners_are_tests(self, pair):
        p, q = (np.array(law) for law in pair)
        curve = d.neyman_pearson(p, q)
        tests = np.array(list(product([0, 1], repeat=p.size)))
        alpha, beta = np.minimum(tests @ p, 1), 1 - tests @ q
        assert np.all(beta >= curve(alpha) - 1e-12)
        for corner in zip(curve.alpha, curve.beta, strict=True):
            assert np.min(np.hypot(alpha - corner[0], beta - corner[1])) < 1e-12

    @settings(max_examples=60)
    @given(PAIRS)
    def test_neyman_pearson_is_a_trade_off_function(self, pair):
        p, q = pair
        curve = d.neyman_pearson(p, q)
        assert (curve.alpha[0], curve.alpha[-1], curve.beta[-1]) == (0, 1, 0)
        assert np.all(np.diff(curve.alpha) > 0)
        assert np.all(np.diff(curve(ALPHA), 2) >= -1e-12)
        mirror = d.neyman_pearson(q, p)
        # T(Q, P) is the inverse of T(P, Q): at each corner it leads back, but for the flat end.
        inner = curve.beta > 0
        np.testing.assert_allclose(mirror(curve.beta[inner]), curve.alpha[inner], atol=1e-9)

    def test_tiny_masses_keep_their_digits(self):
        curve = d.neyman_pearson([1 - 1e-200, 1e-200], [1e-250, 1.0])
        assert curve.alpha[1] == 1e-200
        assert curve.beta[1] == 1e-250

    @settings(max_examples=60)
    @given(PAIRS, st.floats(-2, 2))
    def test_hockey_stick_over_all_events(self, pair, eps):
        p, q = (np.array(law) for law in pair)
        events = np.array(list(product([0, 1], repeat=p.size)))
        worst = (events @ p - math.exp(eps) * (events @ q)).max()
        assert d.hockey_stick(p, q, eps) == pytest.approx(worst, abs=1e-13)
        assert d.hockey_stick(p, q, 0.0) == pytest.approx(np.abs(events @ (p - q)).max(), abs=1e-14)

    def test_hockey_stick_beyond_exp(self):
        assert d.hockey_stick([0.25, 0.75], [0.0, 1.0], 5000.0) == 0.25

    @pytest.mark.parametrize(
        ("call", "words"),
        [
            (
                lambda: d.neyman_pearson([0.5, 0.4], [0.5, 0.5]),
                "p = [0.5, 0.4]: must be a list of probabilities",
            ),
            (lambda: d.neyman_pearson([0.5, 0.5], [1.0]), "len(q) = 1: must be len(p) = 2"),
            (lambda: d.hockey_stick([1.5, -0.5], [0.5, 0.5], 0.0), "p[0] = 1.5: must be in [0, 1]"),
            (lambda: d.hockey_stick([1.0], [1.0], math.nan), "eps = nan"),
        ],
    )
    def test_refusals(self, call, words):
        with pytest.raises(InvalidValue) as refusal:
            call()
        assert words in str(refusal.value)

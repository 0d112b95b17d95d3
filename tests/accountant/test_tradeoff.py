"""Trade-off functions: high precision, linear programs, all events of discrete laws, each other."""

from __future__ import annotations

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from exact_shuffle import gaussian_delta
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import ndtri

from gspa.accountant import tradeoff as t
from gspa.accountant.errors import InvalidValue

MUS = [1e-4, 1e-3, 0.01, 0.023, 0.1, 0.5, 0.999, 1.0, 1.001, 2.0, 5.0, 10.0, 25.0, 50.0]
DELTAS = [0.9, 0.5, 0.1, 1e-2, 1e-4, 1e-6, 1e-10, 1e-20, 1e-50, 1e-100, 1e-200, 1e-300]
ALPHA = np.linspace(0, 1, 401)


class TestGaussianDuality:
    @pytest.mark.parametrize("mu", MUS)
    def test_delta_against_mpmath(self, mu):
        # z = (eps/mu - mu/2) runs over deltas from nearly 1 down to 1e-300.
        checked = 0
        for z in np.r_[np.linspace(-mu / 2, 4, 12), np.linspace(5, 37, 12)]:
            eps = max(mu * (mu / 2 + float(z)), 0.0)
            exact = gaussian_delta(eps, mu)
            if exact < mpmath.mpf("1e-300"):
                continue
            checked += 1
            # Conditioning: delta moves by a^2 ~ 1400 relative ulps per ulp of eps; measured worst 3e-13.
            assert abs(mpmath.mpf(t.gdp_delta(eps, mu=mu)) / exact - 1) < 1e-11
            assert abs(t.gdp_log_delta(eps, mu=mu) - float(mpmath.log(exact))) < 1e-11
        assert checked >= 15

    @pytest.mark.parametrize(("eps", "mu"), [(100.0, 1.0), (3500.0, 50.0), (1.0, 0.01), (0.1, 1e-4)])
    def test_log_delta_where_delta_underflows(self, eps, mu):
        log_exact = float(mpmath.log(gaussian_delta(eps, mu)))
        assert log_exact < -746
        # Relative to its size, since log delta itself is a double.
        assert t.gdp_log_delta(eps, mu=mu) == pytest.approx(log_exact, rel=1e-13)

    @pytest.mark.parametrize("mu", MUS)
    def test_epsilon_errs_upward_and_barely(self, mu):
        for delta in DELTAS:
            eps = t.gdp_epsilon(delta=delta, mu=mu)
            at = gaussian_delta(eps, mu)
            assert at <= delta  # in exact arithmetic, not merely in ours
            if eps > 0:
                # and no more is given away than the promised 1e-11, or an ulp of eps if that is more
                assert at > delta * (1 - mpmath.mpf("1e-10"))
                assert t.gdp_delta(eps, mu=mu) <= delta
            else:
                assert gaussian_delta(0, mu) <= delta

    def test_epsilon_is_zero_from_delta_at_zero_on(self):
        assert t.gdp_epsilon(delta=0.383, mu=1.0) == 0.0  # delta(0) = 0.38292...
        assert t.gdp_epsilon(delta=0.3829, mu=1.0) > 0.0

    def test_perfect_privacy(self):
        assert t.gdp_delta(0.0, mu=0) == 0.0
        assert t.gdp_log_delta(0.0, mu=0) == -math.inf
        assert t.gdp_epsilon(delta=1e-300, mu=0) == 0.0

    def test_beyond_the_promised_range_nothing_breaks(self):
        for mu in (1e-300, 1e-12, 1e3, 1e8, 1e20, 1e150):
            for delta in (5e-324, 1e-10, 1 - 1e-16):
                eps = t.gdp_epsilon(delta=delta, mu=mu)
                assert math.isfinite(eps)
                assert t.gdp_delta(eps, mu=mu) <= delta
        assert t.gdp_delta(1e300, mu=1e-10) == 0.0

    def test_shapes_and_types(self):
        grid = np.array([[0.0, 1.0], [2.0, 3.0]])
        values = t.gdp_delta(grid, mu=1.0)
        assert values.shape == (2, 2)
        assert values[1, 0] == t.gdp_delta(2.0, mu=1.0)
        assert type(t.gdp_delta(1, mu=1)) is float
        assert type(t.gaussian(0.5, mu=1.0)) is float


class TestShapesOfCurves:
    def test_fact_1_by_definition(self):
        # The least type II error that Definition 1 leaves, as a linear program in beta:
        # minimize beta s.t. 1 - beta <= e^eps alpha + delta and 1 - alpha <= e^eps beta + delta.
        for eps, delta, alpha in product([0.0, 0.3, 2.0], [0.0, 0.05, 0.5], [0.0, 0.01, 0.2, 0.7, 1.0]):
            grown = math.exp(eps)
            least = linprog(
                [1.0],
                A_ub=[[-1.0], [-grown]],
                b_ub=[grown * alpha + delta - 1, delta - 1 + alpha],
                bounds=[(0, 1)],
            )
            assert t.f_eps_delta(alpha, eps=eps, delta=delta) == pytest.approx(least.fun, abs=1e-9)

    def test_f_with_huge_eps_is_vacuous(self):
        assert t.f_eps_delta(0.0, eps=5000.0, delta=0.1) == 0.9
        assert t.f_eps_delta(1e-300, eps=5000.0, delta=0.1) == 0.0

    @pytest.mark.parametrize("mu", [0.0, 0.05, 1.0, 6.0])
    def test_gaussian_against_mpmath_and_its_symmetry(self, mu):
        for alpha in (1e-300, 1e-20, 1e-3, 0.3, 0.5, 0.9):
            with mpmath.workdps(40):
                # Solve Phi(-x) = alpha for x, then Phi(x - mu) is the type II error.
                log_alpha, start = mpmath.log(alpha), -float(ndtri(alpha))
                x = mpmath.findroot(lambda x, y=log_alpha: mpmath.log(mpmath.ncdf(-x)) - y, start)
                exact = mpmath.ncdf(x - mu)
            assert t.gaussian(alpha, mu=mu) == pytest.approx(float(exact), rel=1e-12)
        curve = t.gaussian(ALPHA, mu=mu)
        assert (curve[0], curve[-1]) == (1.0, 0.0)
        assert np.all(np.diff(curve, 2) >= -1e-14)
        inner = (curve > 1e-6) & (curve < 1 - 1e-6)  # outside, doubles cannot hold 1 - alpha
        np.testing.assert_allclose(t.gaussian(curve[inner], mu=mu), ALPHA[inner], atol=1e-9)


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


class TestDiscrete:
    @settings(max_examples=60)
    @given(PAIRS)
    def test_no_deterministic_test_beats_the_curve_and_its_corners_are_tests(self, pair):
        p, q = (np.array(law) for law in pair)
        curve = t.neyman_pearson(p, q)
        tests = np.array(list(product([0, 1], repeat=p.size)))
        alpha, beta = np.minimum(tests @ p, 1), 1 - tests @ q
        assert np.all(beta >= curve(alpha) - 1e-12)
        for corner in zip(curve.alpha, curve.beta, strict=True):
            assert np.min(np.hypot(alpha - corner[0], beta - corner[1])) < 1e-12

    @settings(max_examples=60)
    @given(PAIRS)
    def test_neyman_pearson_is_a_trade_off_function(self, pair):
        p, q = pair
        curve = t.neyman_pearson(p, q)
        assert (curve.alpha[0], curve.alpha[-1], curve.beta[-1]) == (0, 1, 0)
        assert np.all(np.diff(curve.alpha) > 0)
        assert np.all(np.diff(curve(ALPHA), 2) >= -1e-12)
        mirror = t.neyman_pearson(q, p)
        # T(Q, P) is the inverse of T(P, Q): at each corner it leads back, but for the flat end.
        inner = curve.beta > 0
        np.testing.assert_allclose(mirror(curve.beta[inner]), curve.alpha[inner], atol=1e-9)

    def test_tiny_masses_keep_their_digits(self):
        curve = t.neyman_pearson([1 - 1e-200, 1e-200], [1e-250, 1.0])
        assert curve.alpha[1] == 1e-200
        assert curve.beta[1] == 1e-250

    @settings(max_examples=60)
    @given(PAIRS, st.floats(-2, 2))
    def test_hockey_stick_over_all_events(self, pair, eps):
        p, q = (np.array(law) for law in pair)
        events = np.array(list(product([0, 1], repeat=p.size)))
        worst = (events @ p - math.exp(eps) * (events @ q)).max()
        assert t.hockey_stick(p, q, eps) == pytest.approx(worst, abs=1e-13)
        assert t.hockey_stick(p, q, 0.0) == pytest.approx(np.abs(events @ (p - q)).max(), abs=1e-14)

    def test_hockey_stick_beyond_exp(self):
        assert t.hockey_stick([0.25, 0.75], [0.0, 1.0], 5000.0) == 0.25

    @pytest.mark.parametrize(
        ("call", "words"),
        [
            (
                lambda: t.neyman_pearson([0.5, 0.4], [0.5, 0.5]),
                "p = [0.5, 0.4]: must be a list of probabilities",
            ),
            (lambda: t.neyman_pearson([0.5, 0.5], [1.0]), "len(q) = 1: must be len(p) = 2"),
            (lambda: t.hockey_stick([1.5, -0.5], [0.5, 0.5], 0.0), "p[0] = 1.5: must be in [0, 1]"),
            (lambda: t.hockey_stick([1.0], [1.0], math.nan), "eps = nan"),
        ],
    )
    def test_refusals(self, call, words):
        with pytest.raises(InvalidValue) as refusal:
            call()
        assert words in str(refusal.value)

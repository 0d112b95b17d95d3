"""Composition against enumeration of all products, closed forms, and an independent transform."""

from __future__ import annotations

import math
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from exact_pair import composed, delta, losses, pair_law
from exact_shuffle import histograms
from scipy import stats

from gspa.accountant import attacks as audit
from gspa.accountant import budgets
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.laplace_gaussian import blanket_delta, blanket_epsilon
from gspa.accountant.one_round import central_delta, central_epsilon, problem_of
from gspa.accountant.randomizers import KRR, Common, RandomizedResponse, SubsetSelection
from gspa.accountant.rounds import compose, compose_delta, gaussian, shuffled, shuffled_reports
from gspa.accountant.tradeoff import gdp_delta, gdp_epsilon

CROWD = budgets.constant(0.5, n=10_000)
DAILY = [(4.0, 1), (1.0, 20)]  # of the mechanisms whose rounds take seconds
MECHANISMS = [RandomizedResponse(), KRR(3), Common(), SubsetSelection(5, 2)]


def enumerated(crowd, mechanism=MECHANISMS[0]):
    """The losses of the worst user's pair."""
    return losses(pair_law(problem_of(crowd, mechanism, int(np.argmax(crowd.eps)))))


def overlap(a, b):
    return a.lower <= b.upper and b.lower <= a.upper


class TestOneRound:
    @pytest.mark.parametrize(
        ("mechanism", "eps0", "n"),
        [
            pytest.param(*one, marks=[] if one[0].rows is None or one[0].bits or one[1:] in DAILY else pytest.mark.slow)
            for one in product(MECHANISMS, [0.1, 1.0, 4.0], [1, 20, 1000])
        ],
    )
    def test_is_the_accountants_interval(self, mechanism, eps0, n):
        crowd = budgets.constant(eps0, n=n)
        one = [(shuffled(crowd, mechanism=mechanism), 1)]
        found, exact = compose(one, delta=1e-5), central_epsilon(crowd, delta=1e-5, mechanism=mechanism)
        curve = mechanism.rows is not None and not mechanism.bits  # from below, that of an attack
        assert found.upper >= exact.lower
        assert found.upper < 1.001 * exact.upper
        assert curve or (overlap(found, exact) and found.relative_width < 1e-3)
        for eps in (0.0, 0.5 * exact.value):
            again, alone = compose_delta(one, eps=eps), central_delta(crowd, eps=eps, mechanism=mechanism)
            assert again.upper >= alone.lower
            assert again.lower <= alone.upper

    def test_several_candidates_for_the_worst_user(self):
        crowd = budgets.from_array([0.5, 1.0, 2.0], [1e-6, 1e-5, 0.0], [300, 300, 300])
        found = compose([(shuffled(crowd), 1)], delta=1e-4)
        assert overlap(found, central_epsilon(crowd, delta=1e-4))

    def test_tiny_delta(self):
        found, exact = compose([(shuffled(CROWD), 1)], delta=1e-60), central_epsilon(CROWD, delta=1e-60)
        assert overlap(found, exact)
        assert found.relative_width < 1e-3


class TestEnumeration:
    @pytest.mark.parametrize("eps", [0.0, 0.2, 1.0, 2.3])
    def test_same_and_different_rounds(self, eps):
        one, two = budgets.constant(1.0, n=3), budgets.from_array([0.4, 0.7, 1.5])
        a, b = shuffled(one), shuffled(two)
        laws = [enumerated(crowd) for crowd in (one, one, two)]
        exact = float(delta(composed(laws), eps))
        found = compose_delta([(a, 2), (b, 1)], eps=eps)
        assert found.lower <= exact <= found.upper
        assert found.relative_width < 5e-3
        # eps = 0 would ask for delta(0) itself, where the answer may be 0
        if eps > 0:
            inverse = compose([(a, 1), (b, 1), (a, 1)], delta=exact)
            assert inverse.lower <= eps <= inverse.upper

    def test_with_a_gaussian_round(self):
        crowd = budgets.constant(1.0, n=3)
        one, law = shuffled(crowd), enumerated(crowd)

        def exact(eps):
            # E over the shuffled loss l of the Gaussian's delta at eps - l, negative eps by symmetry
            total = mpmath.mpf(0)
            for loss, mass in law.items():
                e = mpmath.mpf(eps) - loss
                total += mass * (mpmath.ncdf(-e / 0.7 + 0.35) - mpmath.exp(e) * mpmath.ncdf(-e / 0.7 - 0.35))
            return float(total)

        for eps in (0.0, 0.5, 2.0):
            found = compose_delta([(one, 1), (gaussian(0.7), 1)], eps=eps)
            assert found.lower <= exact(eps) <= found.upper
            assert found.relative_width < 2e-4

    def test_local_delta(self):
        crowd = budgets.constant(1.0, n=3, delta=1e-3)
        one, law = shuffled(crowd), enumerated(crowd)
        reveal = 1 - 0.999**2
        exact = reveal + (1 - reveal) * float(delta(composed([law, law]), 0.5))
        found = compose_delta([(one, 2)], eps=0.5)
        assert found.lower <= exact <= found.upper
        assert found.relative_width < 1e-3
        with pytest.raises(OutsideValidity, match="local delta"):
            compose([(one, 2)], delta=1.9e-3)
        assert compose([(one, 2)], delta=0.01).upper <= 2.0


class TestGaussian:
    @pytest.mark.parametrize(("mu", "times"), [(0.01, 1), (0.1, 100), (0.003, 10**6), (5.0, 3)])
    @pytest.mark.parametrize("target", [0.3, 1e-6, 1e-30])
    def test_square_root_law(self, mu, times, target):
        exact = gdp_epsilon(delta=target, mu=mu * math.sqrt(times))
        found = compose([(gaussian(mu), times)], delta=target)
        assert found.lower <= exact <= found.upper * (1 + 1e-11)
        assert found.relative_width < 1e-3

    def test_different_ones(self):
        rounds = [(gaussian(0.3), 4), (gaussian(0.8), 1), (gaussian(0.0), 9)]
        found = compose_delta(rounds, eps=1.5)
        assert found.lower <= gdp_delta(1.5, mu=1.0) <= found.upper
        assert compose([(gaussian(0.0), 3)], delta=1e-5).upper == 0


class TestManyRounds:
    def test_a_thousand_are_sharp(self):
        assert compose([(shuffled(CROWD), 1000)], delta=1e-6).relative_width < 1e-4

    def test_grows_with_the_rounds(self):
        one = shuffled(budgets.constant(1.0, n=500))
        bounds = [compose([(one, times)], delta=1e-6) for times in (1, 2, 3, 10, 100)]
        for a, b in pairwise(bounds):
            assert a.upper < b.lower
        more = compose([(one, 10), (gaussian(0.5), 1)], delta=1e-6)
        assert more.lower > bounds[3].upper

    def test_no_worse_than_adding_the_budgets(self):
        one = shuffled(budgets.constant(2.0, n=2))
        assert compose([(one, 3)], delta=1e-9).upper <= 6.0
        assert compose_delta([(one, 3)], eps=6.0).upper == 0

    def test_saturated_rounds(self):
        one = shuffled(budgets.constant(8.0, n=100))
        found = compose([(one, 3)], delta=1e-5)
        law_at_top = compose_delta([(one, 3)], eps=found.value)
        assert found.relative_width < 1e-6
        assert law_at_top.lower == pytest.approx(1e-5, rel=1e-3)


class TestNobodyHides:
    """Rounds in which the largest loss is nearly certain, and any other far from it."""

    @pytest.mark.parametrize(
        ("mechanism", "local"),
        [
            (RandomizedResponse(), 1e-4),
            (Common(), 0.0),
            pytest.param(RandomizedResponse(), 0.0, marks=pytest.mark.slow),
        ],
    )
    def test_encloses_the_enumerated_value(self, mechanism, local):
        crowd = budgets.constant(16.0, n=3, delta=local)
        one, law = shuffled(crowd, mechanism=mechanism), composed([enumerated(crowd, mechanism)] * 2)
        reveal = 1 - (1 - local) ** 2
        for eps in (3.0, 31.0):
            exact = float(reveal + (1 - reveal) * delta(law, eps))
            found = compose_delta([(one, 2)], eps=eps)
            assert found.lower <= exact <= found.upper
            assert found.relative_width < 2e-5
        for target in (1e-3, 0.3):
            found = compose([(one, 2)], delta=target)
            at_ends = [float(reveal + (1 - reveal) * delta(law, eps)) for eps in (found.lower, found.upper)]
            assert at_ends[0] >= target >= at_ends[1]
            assert found.relative_width < 1e-6

    @pytest.mark.parametrize("eps", [1e-7, 1e-13, 1e-17, 1e-90])
    @pytest.mark.parametrize("n", [1, 3])
    def test_hardly_any_loss(self, n, eps):
        """The others hold a third item; all histograms of two rounds by hand."""
        with mpmath.workdps(400):
            weight = [mpmath.exp(mpmath.mpf(eps)), mpmath.mpf(1), mpmath.mpf(1)]
            first, second, third = ([p / sum(weight) for p in weight[-i:] + weight[:-i]] for i in range(3))
            crowd = histograms([third] * (n - 1), {(0, 0, 0): mpmath.mpf(1)})
            one, other = (histograms([row], crowd) for row in (first, second))
            pairs = [(one[a] * one[b], other[a] * other[b]) for a, b in product(one, repeat=2)]
            worst = {at: float(sum(max(p - mpmath.exp(at) * q, 0) for p, q in pairs)) for at in (0.0, eps, 1.5 * eps)}
        shuffle = shuffled(budgets.constant(eps, n=n), mechanism=KRR(3))
        for at, true in worst.items():
            found = compose_delta([(shuffle, 2)], eps=at)
            assert found.lower <= true <= found.upper

    def test_many_rounds(self):
        found = compose([(shuffled(budgets.constant(30.0, n=100)), 1000)], delta=1e-6)
        assert found.lower <= 30_000 + math.log1p(-1e-6) <= found.upper
        assert found.relative_width < 1e-9


class TestRefusals:
    @pytest.mark.parametrize(
        ("ask", "words"),
        [
            (lambda: compose([(gaussian(1.0), 0)], delta=1e-5), "times"),
            (lambda: compose([(gaussian(1.0), 1)], delta=0), "delta"),
            (lambda: compose_delta([(gaussian(1.0), 1)], eps=-1.0), "eps"),
            (lambda: compose([], delta=1e-5), "non-empty"),
            (lambda: compose([gaussian(1.0)], delta=1e-5), "rounds"),
            (lambda: gaussian(-1.0), "mu"),
            (lambda: compose([(gaussian(1.0), 10**9)], delta=1e-5), "sum of times"),
            (lambda: shuffled(CROWD, mechanism="laplace"), r"mechanism = 'laplace': must be a randomizer with clones"),
            (lambda: shuffled_reports(np.linspace(1, 2, 70)), "distinct scales of noise = 70: must be at most 64"),
        ],
    )
    def test_bad_values(self, ask, words):
        with pytest.raises(InvalidValue, match=words):
            ask()

    def test_losses_whose_squares_are_no_doubles(self):
        with pytest.raises(OutsideValidity, match="a local eps of 0, or at least 1e-100"):
            shuffled(budgets.constant(1e-300, n=2))

    def test_unknown_worst_user(self):
        crowd = budgets.from_array([0.5, 1.0], [1e-9, 0.0])
        a, b = (shuffled(crowd) for _ in range(2))
        with pytest.raises(OutsideValidity, match="worst"):
            compose([(a, 1), (b, 1)], delta=1e-5)


class TestReportsOnALine:
    """Rounds whose pair is known only by the blanket's certified delta(eps)."""

    @pytest.mark.parametrize(
        ("scales", "count", "mechanism"),
        [
            ([1.0], 10_000, "laplace"),
            ([9.7], 100, "gaussian"),
            pytest.param([4.0, 1.0], [400, 100], "laplace", marks=pytest.mark.slow),
            ([0.5], 1, "laplace"),
        ],
    )
    def test_one_round_is_the_blankets_bound(self, scales, count, mechanism):
        one = shuffled_reports(scales, count=count, mechanism=mechanism)
        exact = blanket_epsilon(scales, count=count, mechanism=mechanism, delta=1e-5)
        found = compose([(one, 1)], delta=1e-5)
        assert exact.upper * (1 - 2e-3) <= found.upper <= exact.upper * 1.004
        assert found.lower <= exact.upper * (1 + 1e-6)
        assert found.relative_width < 0.02
        back = compose_delta([(one, 1)], eps=0.5 * exact.upper)
        direct = blanket_delta(scales, count=count, mechanism=mechanism, eps=0.5 * exact.upper)
        assert direct.lower * 0.999 <= back.upper <= direct.upper * 1.05
        assert back.lower <= direct.upper * (1 + 1e-6)

    @pytest.mark.parametrize("n", [pytest.param(100, marks=pytest.mark.slow), 600])
    def test_fifty_gradients_of_one_coordinate(self, n):
        # The noise of the classical Gaussian mechanism at (0.5, 1e-5), in every one of 50 rounds.
        sigma = math.sqrt(2 * math.log(1.25e5)) / 0.5
        arguments = {"count": n, "mechanism": "gaussian"}
        one = shuffled_reports([sigma], **arguments)
        bounds = [compose([(one, times)], delta=1e-5) for times in (1, 7, 50)]
        # One round is close to a Gaussian, and 50 are the Gaussian of sqrt(50) mu.
        # Its mu^2: int (f0 - f1)^2/((n - 1) omega), omega the least density of a report over all inputs in [0, 1].
        y = np.linspace(-12 * sigma, 12 * sigma, 100_001) + 0.5
        omega = stats.norm.pdf(np.abs(y - 0.5) + 0.5, scale=sigma)
        square = (stats.norm.pdf(y, 0, sigma) - stats.norm.pdf(y, 1, sigma)) ** 2 / omega
        limit = math.sqrt(float(square.sum()) * (y[1] - y[0]) / (n - 1))
        for times, bound in zip((1, 7, 50), bounds, strict=True):
            assert bound.upper == pytest.approx(gdp_epsilon(delta=1e-5, mu=limit * math.sqrt(times)), rel=0.01)
        assert bounds[0].upper < bounds[1].lower < bounds[1].upper < bounds[2].lower
        # 50 rounds of the linear attack on the mean, exactly Gaussian if the others' inputs are known, are not above.
        attack = gdp_epsilon(delta=1e-5, mu=math.sqrt(50 / n) / sigma)
        assert attack < bounds[2].upper
        assert audit.attack_epsilon([sigma], delta=1e-5, **arguments).lower < bounds[0].upper

    def test_with_other_rounds(self):
        reports, bits = shuffled_reports([1.0], count=1000), shuffled(budgets.constant(0.5, n=1000))
        mixed = compose([(reports, 3), (bits, 2), (gaussian(0.05), 1)], delta=1e-6)
        parts = [compose([part], delta=1e-6) for part in ((reports, 3), (bits, 2), (gaussian(0.05), 1))]
        assert max(part.upper for part in parts) < mixed.lower
        assert mixed.upper < sum(part.upper for part in parts)
        assert "Laplace reports" in mixed.valid_for
        assert "binary" in mixed.valid_for

    def test_by_scales_and_by_budgets(self):
        crowd = budgets.from_array([0.0, 1.0], count=[10, 300])
        found = compose([(shuffled_reports(crowd), 5)], delta=1e-5)
        assert found == compose([(shuffled_reports([1.0], count=300), 5)], delta=1e-5)
        assert found.upper <= 5.0
        assert compose([(shuffled_reports(budgets.constant(0.0, n=5)), 4)], delta=1e-5).upper == 0
        assert compose_delta([(shuffled_reports(crowd), 2)], eps=2.0).upper == 0

    def test_the_worst_of_several_users(self):
        # Alone in the tails (see test_blanket): the pair must cover that user, not only the most precise ones.
        scales, count = [1.0, 0.2], [1, 10**6]
        found = compose([(shuffled_reports(scales, count=count), 2)], delta=1e-6)
        assert found.lower > compose([(shuffled_reports(scales, count=count, victim=1), 2)], delta=1e-6).upper
        assert found.upper >= audit.attack_epsilon(scales, count=count, delta=1e-6, victim=0).lower
        assert "measured, not proved" in found.valid_for

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("scales", "count", "mechanism", "times", "worst"),
        [
            ([0.345, 0.709], [751, 719], "gaussian", 3, 1),  # nobody else is in the tails
            ([0.3, 1.0], [900, 100], "gaussian", 2, 0),
            ([6.15, 3.684, 1.911], [20, 1672, 32], "laplace", 20, 2),  # and another is the worst in the tail alone
        ],
    )
    def test_the_lower_end_is_of_the_worst_user(self, scales, count, mechanism, times, worst):
        crowd = {"count": count, "mechanism": mechanism}
        found = compose([(shuffled_reports(scales, **crowd), times)], delta=1e-8)
        alone = [
            compose([(shuffled_reports(scales, victim=victim, **crowd), times)], delta=1e-8)
            for victim in range(len(scales))
        ]
        assert max(range(len(scales)), key=lambda i: alone[i].upper) == worst
        assert found.lower == pytest.approx(alone[worst].lower, rel=3e-3)  # at other points of its curve
        assert found.upper >= max(one.upper for one in alone) * (1 - 1e-9)

    @pytest.mark.parametrize(
        ("scales", "count", "mechanism", "times", "target"),
        [
            pytest.param([1.0], 10, "laplace", 10**6, 1e-6, marks=pytest.mark.slow),
            ([0.01], 3, "laplace", 5, 1e-9),
            pytest.param([1e-3], 5, "gaussian", 5, 1e-9, marks=pytest.mark.slow),
            pytest.param([1e-3], 5, "laplace", 5, 1e-9, marks=pytest.mark.slow),
            ([1.0], 1, "gaussian", 3, 1e-5),
            pytest.param([1e-3, 1.0], [1, 500], "gaussian", 5, 1e-9, marks=pytest.mark.slow),
            pytest.param([30.0], 10**6, "gaussian", 2, 0.3, marks=pytest.mark.slow),
            pytest.param([1.0], 10**4, "laplace", 10, 1e-60, marks=pytest.mark.slow),
        ],
    )
    def test_extremes(self, scales, count, mechanism, times, target):
        """Warnings are errors here; whatever B leaves out, no more than the reports alone say is promised."""
        found = compose([(shuffled_reports(scales, count=count, mechanism=mechanism), times)], delta=target)
        if mechanism == "laplace":
            assert found.upper <= times / min(scales)
        assert found.lower <= gdp_epsilon(delta=target, mu=math.sqrt(times) / min(scales)) * (1 + 1e-6)
        if sum(np.atleast_1d(count)) > 1:
            attack = audit.attack_epsilon(scales, count=count, mechanism=mechanism, delta=target)
            assert attack.lower <= found.upper
            for eps in (1.0, 150.0):
                most = compose_delta([(shuffled_reports(scales, count=count, mechanism=mechanism), times)], eps=eps)
                attack = audit.attack_delta(scales, count=count, mechanism=mechanism, eps=eps)
                assert attack.lower <= most.upper

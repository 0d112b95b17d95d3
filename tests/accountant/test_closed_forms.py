"""Published formulas: hand-computed values, their printed forms and their conditions."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from exact_shuffle import gaussian_delta
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gspa.accountant import budgets
from gspa.accountant import closed_forms as c
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.tradeoff import gdp_delta

GROUPS = st.lists(
    st.tuples(st.floats(0, 5), st.sampled_from([0.0, 1e-6, 0.1]), st.integers(1, 1000)),
    min_size=2,
    max_size=8,
)


def make(groups):
    return budgets.from_array(*zip(*groups, strict=True))


class TestGspa:
    @given(GROUPS)
    def test_clone_probabilities_by_definition(self, groups):
        r = c.clone_probabilities(make(groups))
        expected = [(1 - delta) / (1 + math.exp(eps)) for eps, delta, _ in groups]
        np.testing.assert_allclose(r, expected, rtol=1e-14)

    @given(GROUPS)
    def test_mu_by_definition(self, groups):
        r = [(1 - delta) / (1 + math.exp(eps)) for eps, delta, count in groups for _ in range(count)]
        found = make(groups)
        # The sum over users, compensated, against the weighted sum over groups: 8 roundings.
        assert c.gspa_mu(found) == pytest.approx(math.sqrt(2 / (math.fsum(r) - max(r))), rel=1e-11)
        rest = math.fsum([*r, -max(r), -max(r)])
        if rest > 1e-9:
            assert c.gspa_mu(found, reading="theorem2") == pytest.approx(math.sqrt(2 / rest), rel=1e-6)

    def test_hand_computed(self):
        # eps = log 3: r = 1/4. Nine users: sum - max = 2, mu = 1. Theorem 2's statement: 7/4.
        crowd = budgets.constant(math.log(3), n=9)
        assert c.gspa_mu(crowd) == pytest.approx(1, rel=1e-15)
        assert c.gspa_mu(crowd, reading="theorem2") == pytest.approx(math.sqrt(8 / 7), rel=1e-15)
        # mu = 1: delta(0) = 2 Phi(1/2) - 1.
        assert c.gspa_delta(crowd, eps=0) == pytest.approx(math.erf(1 / math.sqrt(8)), rel=1e-13)
        # The largest r belongs to the smallest eps: silent user (1/2), and two of log 3 left over.
        mixed = budgets.from_array([0.0, math.log(3)], count=[1, 2])
        assert c.gspa_mu(mixed) == pytest.approx(2, rel=1e-15)
        # (1 - delta_i) scales r.
        assert c.gspa_mu(budgets.constant(0, n=9, delta=0.75)) == pytest.approx(math.sqrt(2), rel=1e-15)

    def test_huge_eps(self):
        # r = 1/(1 + e^700), about 1e-304; n - 1 = 1 other.
        mu = c.gspa_mu(budgets.constant(700, n=2))
        assert math.log(mu) == pytest.approx(0.5 * (math.log(2) + 700), rel=1e-15)
        one_silent = budgets.from_array([0, 700], count=[2, 10])
        assert c.gspa_mu(one_silent) == pytest.approx(2, rel=1e-15)
        assert c.gspa_epsilon(budgets.constant(700, n=2), delta=1e-4) > 700  # silly, but finite and no crash

    def test_epsilon_is_the_gaussian_inverse(self):
        crowd = budgets.draw("unif1", n=1000, rng=0)
        for delta in (1e-2, 1e-4, 1e-10):
            eps, mu = c.gspa_epsilon(crowd, delta=delta), c.gspa_mu(crowd)
            assert delta * (1 - mpmath.mpf("1e-10")) < gaussian_delta(eps, mu) <= delta  # errs upward in epsilon
            assert c.gspa_delta(crowd, eps=eps) == gdp_delta(eps, mu=mu)

    @pytest.mark.parametrize(("eps", "delta", "mu"), [(1.0, 0.0, None), (1.0, 0.0, 0.01), (2.0, 0.3, None)])
    def test_the_slack_by_its_formula(self, eps, delta, mu):
        n, crowd = 500, budgets.constant(eps, n=500, delta=delta)
        c0, chance = np.arange(1, n), 2 * (1 - delta) / (1 + math.exp(eps))
        rest = stats.binom.cdf(c0 - 1, n - 1, chance)
        rest += np.maximum(2 / np.sqrt(c0) - (mu or c.gspa_mu(crowd)), 0) / math.sqrt(2 * math.pi)
        first = (rest + 1 / np.sqrt(2 * math.pi * c0)).min()
        second = (rest + 0.53 / c0 + np.exp(-0.75 * np.sqrt(c0)))[c0 >= 100].min()
        assert c.gspa_slack(crowd, mu=mu) == pytest.approx(first, rel=1e-9)
        assert c.gspa_slack(crowd, mu=mu, half_way=True) == pytest.approx(min(first, second), rel=1e-9)
        with pytest.raises(InvalidValue, match="mu = -1"):
            c.gspa_slack(crowd, mu=-1)

    @pytest.mark.parametrize(
        ("population", "reading", "words"),
        [
            (budgets.constant(0.5, n=1), "abstract", "needs n >= 2 users; n = 1"),
            (budgets.constant(0.5, n=2), "theorem2", "needs n >= 3 users; n = 2"),
            (budgets.from_array([0, 3], count=[1, 2]), "theorem2", "needs sum_i r_i > 2 max_i r_i"),
            (budgets.constant(800, n=5), "abstract", "too large to hide anybody"),
        ],
    )
    def test_refusals(self, population, reading, words):
        with pytest.raises(OutsideValidity) as refusal:
            c.gspa_mu(population, reading=reading)
        assert words in str(refusal.value)


PRINTED = {
    "erlingsson19": lambda e, n, d: 12 * e * mpmath.sqrt(-mpmath.log(d) / n),
    "clones_blog": lambda e, n, d: mpmath.log1p(
        16 * mpmath.tanh(e / 2) * mpmath.sqrt(mpmath.exp(e) * mpmath.log(4 / d) / n)
    ),
    "fmt21": lambda e, n, d: mpmath.log1p(
        mpmath.tanh(e / 2) * (8 * mpmath.sqrt(mpmath.exp(e) * mpmath.log(4 / d) / n) + 8 * mpmath.exp(e) / n)
    ),
    "fmt23": lambda e, n, d: mpmath.log1p(
        mpmath.expm1(e) * (4 * mpmath.sqrt(2 * mpmath.log(4 / d) / ((mpmath.exp(e) + 1) * n)) + 4 / n)
    ),
}


def printed(name, *numbers):
    with mpmath.workdps(50):
        return PRINTED[name](*map(mpmath.mpf, numbers))


@pytest.mark.parametrize("name", PRINTED)
def test_a_formula_as_printed(name):
    """Within an allowance of 1e-15 up to eps0 = 1/2, of a handful of roundings beyond."""
    rng, seen = np.random.default_rng(3), 0
    for low, high, allowed in ((1e-12, 0.5, 1e-15), (1e-6, 0.5, 1e-15), (0.5, 4.0, 1e-14)):
        for _ in range(100):
            eps = float(rng.uniform(low, high) if low > 1e-12 else low * (high / low) ** rng.random())
            n, delta = int(10 ** rng.uniform(3.5, 9)), float(10 ** rng.uniform(-300, -2))
            try:
                found = getattr(c, f"{name}_epsilon")(eps, n=n, delta=delta)
            except OutsideValidity:
                continue
            assert abs(found / printed(name, eps, n, delta) - 1) < allowed
            seen += 1
    assert seen > 100


class TestErlingsson19:
    def test_hand_computed(self):
        # log(1/delta) = 9, n = 90_000: 12 * 0.01 * 0.3 = 0.036.
        assert c.erlingsson19_epsilon(0.3, n=90_000, delta=math.exp(-9)) == pytest.approx(0.036, rel=1e-14)
        assert c.erlingsson19_epsilon(0.0, n=90_000, delta=1e-4) == 0.0

    def test_ends_are_included(self):
        assert c.erlingsson19_epsilon(0.5, n=1000, delta=0.01) < 0.5
        least = math.ceil(144 * math.log(1e4))  # 1327
        assert c.erlingsson19_epsilon(0.5, n=least, delta=1e-4) <= 0.5

    @pytest.mark.parametrize(
        ("eps0", "n", "delta", "words"),
        [
            (0.51, 10_000, 1e-4, "needs eps0 <= 1/2; eps0 = 0.51"),
            (0.5, 999, 1e-2, "needs n >= 1000; n = 999"),
            (0.5, 10_000, 0.02, "needs delta <= 0.01; delta = 0.02"),
            (0.5, 1326, 1e-4, "needs n >= 144 log(1/delta); at n = 1326 its value exceeds eps0"),
        ],
    )
    def test_refusals(self, eps0, n, delta, words):
        with pytest.raises(OutsideValidity) as refusal:
            c.erlingsson19_epsilon(eps0, n=n, delta=delta)
        assert words in str(refusal.value)


class TestFmt21:
    def test_silent_users_need_nothing(self):
        assert c.fmt21_epsilon(0.0, n=10_000, delta=1e-4) == 0

    def test_condition(self):
        n, delta = 10_000, 1e-4
        edge = math.log(n / (16 * math.log(2 / delta)))
        assert c.fmt21_epsilon(edge - 1e-12, n=n, delta=delta) > 0
        with pytest.raises(
            OutsideValidity, match=r"needs eps0 <= log\(n/\(16 log\(2/delta\)\)\); eps0 = 4.1"
        ) as refusal:
            c.fmt21_epsilon(edge + 1e-9, n=n, delta=delta)
        assert "Theorem 3.1" in str(refusal.value)
        with pytest.raises(OutsideValidity):
            c.fmt21_epsilon(0.0, n=100, delta=1e-4)  # even eps0 = 0 needs n >= 16 log(2/delta) = 158.5

    @settings(max_examples=50)
    @given(st.floats(0.01, 2), st.floats(0, 0.4), st.sampled_from([1e-8, 1e-4, 1e-2]))
    def test_theorem_3_8_spends_delta_and_no_more(self, eps0, share, delta):
        n = 100_000
        delta0 = share * delta / (n * (2 + math.exp(-eps0)))
        eps = c.fmt21_epsilon(eps0, n=n, delta=delta, delta0=delta0)
        assert eps >= c.fmt21_epsilon(eps0, n=n, delta=delta)
        # The best split by brute force: among inner deltas whose printed total fits, the least epsilon.
        inner = [s for s in delta * np.linspace(0.002, 1, 500) if self.total(eps0, n, s, delta0) <= delta]
        best = c.fmt21_epsilon(eps0, n=n, delta=max(inner))
        finer = c.fmt21_epsilon(eps0, n=n, delta=min(max(inner) + delta / 499, delta))
        assert finer * (1 - 1e-8) <= eps <= best * (1 + 1e-8)  # 1e-9 of the share is left unspent

    @staticmethod
    def total(eps0, n, inner, delta0):
        """As printed."""
        eps = c.fmt21_epsilon(eps0, n=n, delta=inner)
        return inner + (math.exp(eps) + 1) * (1 + math.exp(-eps0) / 2) * n * delta0

    def test_too_large_a_delta0_is_refused(self):
        with pytest.raises(
            OutsideValidity, match=r"Theorem 3.8: needs a delta0 of order delta/n or less; delta0 = 1e-05"
        ):
            c.fmt21_epsilon(0.5, n=10_000, delta=1e-4, delta0=1e-5)

    def test_near_the_largest_delta0_the_value_is_valid_or_refused(self):
        n, delta, eps0 = 10_000, 1e-4, 0.5
        refused = []
        for delta0 in np.linspace(0, 6e-9, 61):
            try:
                eps = c.fmt21_epsilon(eps0, n=n, delta=delta, delta0=delta0)
            except OutsideValidity:
                refused.append(delta0)
                continue
            assert not refused  # once too large, always too large
            price = (math.exp(eps) + 1) * (1 + math.exp(-eps0) / 2) * n * delta0
            # With what is left of delta, Theorem 3.1 gives an epsilon no larger.
            assert printed("fmt21", eps0, n, delta - price) <= eps * (1 + 1e-12)
        assert refused
        assert min(refused) > 3e-9

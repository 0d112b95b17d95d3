"""Published formulas: hand-computed values, their printed forms and their conditions."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from exact_shuffle import binary_laws, clipped_laplace_law, gaussian_delta, hockey_stick, laplace_delta, rr_delta
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gspa.accountant import budgets
from gspa.accountant import closed_forms as c
from gspa.accountant.clones import clone_law
from gspa.accountant.errors import InvalidValue, OutsideValidity
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.accountant.published import compare

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

    @pytest.mark.parametrize(("eps", "delta"), [(1.0, 0.0), (2.0, 0.3)])
    def test_the_slack_by_its_formula(self, eps, delta):
        n, crowd = 500, budgets.constant(eps, n=500, delta=delta)
        c0, chance = np.arange(1, n), 2 * (1 - delta) / (1 + math.exp(eps))
        rest = stats.binom.cdf(c0 - 1, n - 1, chance)
        rest += np.maximum(2 / np.sqrt(c0) - c.gspa_mu(crowd), 0) / math.sqrt(2 * math.pi)
        first = (rest + 1 / np.sqrt(2 * math.pi * c0)).min()
        second = (rest + 0.53 / c0 + np.exp(-0.75 * np.sqrt(c0)))[c0 >= 100].min()
        assert c.gspa_slack(crowd) == pytest.approx(first, rel=1e-9)
        assert c.gspa_slack(crowd, half_way=True) == pytest.approx(min(first, second), rel=1e-9)

    def test_a_small_mu_takes_more_slack(self):
        law = clone_law(np.array([0.5]), np.array([0.5]), np.array([499.0]))
        c0 = np.arange(1, 500)
        rest = stats.binom.cdf(c0 - 1, 499, 0.5) + (2 / np.sqrt(c0) - 0.01) / math.sqrt(2 * math.pi)
        expected = (rest + 1 / np.sqrt(2 * math.pi * c0)).min()
        assert c.clone_slack(law, mu=0.01) == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize(
        ("population", "words"),
        [
            (budgets.constant(0.5, n=1), "needs n >= 2 users and sum_i r_i > max_i r_i; nobody to hide among: n = 1"),
            (budgets.constant(800, n=5), "nobody to hide among: n = 5, the least eps_i = 800"),
        ],
    )
    def test_refusals(self, population, words):
        with pytest.raises(OutsideValidity) as refusal:
            c.gspa_mu(population)
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
                found = published(name, eps, n, delta)
            except OutsideValidity:
                continue
            assert abs(found / printed(name, eps, n, delta) - 1) < allowed
            seen += 1
    assert seen > 100


# Where each is established, to either side of its edge: (name, eps0, n, delta).
ERLINGSSON = r"Erlingsson19: needs eps0 <= 1/2, delta <= 0.01, n >= max\(1000, 144 log\(1/delta\)\); eps0 = "
FMT21 = r"FMT21: needs eps0 <= log\(n/\(16 log\(2/delta\)\)\).*; eps0 = "
FMT23 = r"FMT23: needs eps0 <= log\(n/\(8 log\(2/delta\)\) - 1\)"
WANG24 = r"needs n > 8 \(e\^eps0 \+ 1\) log\(4/delta\); eps0 = "
EDGE21 = math.log(10_000 / (16 * math.log(2e4)))
EDGE23 = math.log(10_000 / (8 * math.log(2e4)) - 1)
INSIDE = [
    ("erlingsson19", 0.5, 1000, 0.01),
    ("erlingsson19", 0.5, math.ceil(144 * math.log(1e4)), 1e-4),
    ("fmt21", EDGE21 - 1e-12, 10_000, 1e-4),
    ("fmt23", EDGE23 - 1e-12, 10_000, 1e-4),
    ("fmt23", 0.0, 159, 1e-4),  # e^0 + 1 = 2 needs n >= 158.46
    ("wang24", 0.5, 225, 1e-4),
    ("wang24", 0.0, 2, 1e-4),
]
OUTSIDE = [
    (("erlingsson19", 0.51, 10_000, 1e-4), f"{ERLINGSSON}0.51, n = 10000, delta = 0.0001$"),
    (("erlingsson19", 0.5, 999, 0.01), f"{ERLINGSSON}0.5, n = 999, delta = 0.01$"),
    (("erlingsson19", 0.5, 10_000, 0.02), f"{ERLINGSSON}0.5, n = 10000, delta = 0.02$"),
    (("erlingsson19", 0.5, 1326, 1e-4), f"{ERLINGSSON}0.5, n = 1326, delta = 0.0001$"),
    (("fmt21", EDGE21 + 1e-9, 10_000, 1e-4), f"{FMT21}4.1"),
    (("fmt21", 0.0, 158, 1e-4), f"{FMT21}0"),
    (("fmt23", EDGE23 + 1e-9, 10_000, 1e-4), FMT23),
    (("fmt23", 0.0, 158, 1e-4), FMT23),
    (("fmt23", 0.0, 79, 1e-4), FMT23),
    (("wang24", 0.5, 224, 1e-4), f"{WANG24}0.5, n = 224"),
    (("wang24", 800, 10_000, 1e-4), f"{WANG24}800"),
]


def published(name, eps0, n, delta):
    return getattr(c, f"{name}_epsilon")(eps0, n=n, delta=delta)


@pytest.mark.parametrize("asked", INSIDE)
def test_the_edge_of_where_it_is_established_is_inside(asked):
    assert 0 <= published(*asked) < math.inf


@pytest.mark.parametrize(("asked", "words"), OUTSIDE)
def test_beyond_the_edge_it_is_refused(asked, words):
    with pytest.raises(OutsideValidity, match=words):
        published(*asked)


class TestFmt21:
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
        with pytest.raises(OutsideValidity, match=r"delta0 of order delta/n or less; .*, delta0 = 1e-05"):
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


class TestBlog:
    @given(st.floats(0, 8), st.integers(1, 10**7), st.floats(1e-12, 0.999))
    def test_folds_the_second_term_upward_under_the_same_condition(self, eps0, n, delta):
        try:
            exact = c.fmt21_epsilon(eps0, n=n, delta=delta)
        except OutsideValidity:
            with pytest.raises(OutsideValidity, match=r"needs eps0 <= log\(n/\(16 log\(2/delta\)\)\)"):
                c.clones_blog_epsilon(eps0, n=n, delta=delta)
        else:
            assert exact <= c.clones_blog_epsilon(eps0, n=n, delta=delta) <= 2 * exact


class TestWang24:
    """At the largest total variation c, which says how often neither clone is answered, does not matter."""

    @given(st.floats(0, 4), st.integers(10**4, 10**7), st.floats(1e-9, 0.1))
    def test_is_fmt23_with_one_user_less(self, eps0, n, delta):
        found = c.wang24_epsilon(eps0, n=n, delta=delta)
        assert found == pytest.approx(c.fmt23_epsilon(eps0, n=n - 1, delta=delta), rel=1e-12)


def echoes_by_definition(eps):
    """S of Liu et al. 2023, the double sum."""
    eps = np.asarray(eps, dtype=float)
    n, victim = eps.size, int(np.argmax(eps))
    total = 0.0
    for i in range(n):
        if i != victim:
            ratio = eps[i] / eps * np.expm1(-eps) / np.expm1(-eps[i])
            total += float((ratio * np.exp(-np.maximum(eps, eps[i]))).sum()) / n
    return total


class TestLiu23:
    @given(st.lists(st.floats(1e-3, 20), min_size=2, max_size=12))
    def test_clones_by_definition(self, eps):
        assert c.liu23_clones(budgets.from_array(eps)) == pytest.approx(echoes_by_definition(eps), rel=1e-11)

    def test_eps_zero_is_the_limit(self):
        at, near = (budgets.from_array([e, 0.5, 1.0], count=[3, 4, 5]) for e in (0.0, 1e-9))
        assert c.liu23_clones(at) == pytest.approx(c.liu23_clones(near), rel=1e-8)

    @given(st.floats(0.01, 3), st.integers(20_000, 10**6), st.floats(1e-8, 1e-2))
    def test_for_equal_budgets_it_is_fmt21_with_one_user_less(self, eps0, n, delta):
        found = c.liu23_epsilon(budgets.constant(eps0, n=n), delta=delta)
        assert found == pytest.approx(c.fmt21_epsilon(eps0, n=n - 1, delta=delta), rel=1e-11)

    def test_it_is_below_the_exact_value_for_one_large_eps(self):
        # Count the reports in [0, 2/100]: the victim at 0 or 1, the others, at 0.01, all at 1.
        edges = [0, 0.02]
        at0, at1, other = (clipped_laplace_law(e, x, edges)[0] for e, x in ((100, 0), (100, 1), (0.01, 1)))
        eps = c.liu23_epsilon(budgets.from_array([100, 0.01], count=[1, 999]), delta=1e-4)
        assert hockey_stick(*binary_laws(at0, at1, other, other, 1000, 0), eps) > 4e-4

    def test_refusals(self):
        with pytest.raises(
            OutsideValidity, match=r"Liu23: needs .* S >= 16 log\(4/delta\).*; budgets = Budgets\(n=100, "
        ):
            c.liu23_epsilon(budgets.constant(0.5, n=100), delta=1e-4)
        with pytest.raises(OutsideValidity, match=r"needs pure local privacy, delta_i = 0.*delta 0.1 to 0.1"):
            c.liu23_epsilon(budgets.constant(0.5, n=10_000, delta=0.1), delta=1e-4)
        with pytest.raises(InvalidValue, match="delta = 0"):
            c.liu23_epsilon(budgets.constant(0.5, n=10_000), delta=0)
        with pytest.raises(OutsideValidity, match="S >= 16"):
            c.liu23_epsilon(budgets.constant(0.5, n=1), delta=0.5)


def girgis21_printed(eps0, n, order):
    with mpmath.workdps(40):
        p = mpmath.exp(mpmath.mpf(eps0))
        m = mpmath.floor((n - 1) / (2 * p)) + 1
        total = 1 + mpmath.binomial(order, 2) * (p - 1) ** 2 / (m * p)
        for j in range(3, order + 1):
            scale = (p**2 - 1) ** 2 / (2 * p**2 * m)
            total += mpmath.binomial(order, j) * j * mpmath.gamma(mpmath.mpf(j) / 2) * scale ** (mpmath.mpf(j) / 2)
        total += mpmath.exp(mpmath.mpf(eps0) * order - (n - 1) / (8 * p))
        return float(mpmath.log(total) / (order - 1))


class TestGirgis21:
    @pytest.mark.parametrize("eps0", [1e-6, 0.1, 1.0, 4.0])
    @pytest.mark.parametrize("n", [2, 50, 10_000])
    def test_as_printed(self, eps0, n):
        for order in (2, 3, 4, 63, 64, 65, 300):
            assert c.girgis21_renyi(eps0, n=n, order=order) == pytest.approx(girgis21_printed(eps0, n, order), rel=1e-9)

    def test_extremes_are_finite(self):
        assert 700 < c.girgis21_renyi(700.0, n=2, order=2) < 2000
        assert c.girgis21_renyi(0.0, n=2, order=5) == 0
        assert math.isfinite(c.girgis21_renyi(1.0, n=2**53 - 1, order=2**16))


class TestConversion:
    @given(st.floats(0.05, 3), st.floats(1.5, 40), st.floats(1e-8, 0.2))
    def test_holds_for_the_gaussian(self, mu, order, delta):
        # N(mu, 1) against N(0, 1) has the divergence order mu^2/2.
        eps = c.renyi_to_epsilon(order * mu * mu / 2, order=order, delta=delta)
        assert gaussian_delta(eps, mu) <= delta


class TestEpsilon:
    @pytest.mark.parametrize(("eps0", "n", "delta"), [(0.5, 2000, 1e-4), (1.0, 10_000, 1e-8), (2.0, 300, 0.05)])
    def test_is_the_best_order_of_all(self, eps0, n, delta):
        every = [c.renyi_to_epsilon(c.girgis21_renyi(eps0, n=n, order=k), order=k, delta=delta) for k in range(2, 1500)]
        assert c.girgis21_epsilon(eps0, n=n, delta=delta) == min(every)

    @settings(max_examples=30)
    @given(st.floats(0.05, 3), st.integers(100, 20_000), st.floats(1e-10, 0.1))
    def test_monotone_and_not_below_exact(self, eps0, n, delta):
        eps = c.girgis21_epsilon(eps0, n=n, delta=delta)
        assert rr_delta(eps0, n, eps) <= delta
        assert c.girgis21_epsilon(eps0, n=2 * n, delta=delta) <= eps
        assert c.girgis21_epsilon(eps0, n=n, delta=delta / 2) >= eps

    def test_edges(self):
        assert c.girgis21_epsilon(0.0, n=10, delta=1e-4) == 0
        assert c.girgis21_epsilon(5.0, n=10, delta=1e-4) > 5
        with pytest.raises(OutsideValidity, match="needs n >= 2"):
            c.girgis21_epsilon(1, n=1, delta=1e-4)


# --- Laplace and Gaussian reports: definitions, the authors' own numbers, what refutes one ---------------------


def density(y, x, eps):
    return eps / 2 * np.exp(-eps * np.abs(y - x))


def clone_by_definition(eps, most):
    """2 min(a, b) of `liu24_clones`, the sets found on a grid."""
    y = (np.arange(4_000_000) + 0.5) / 50_000 - 40
    zero, one, own = density(y, 0, most), density(y, 1, most), density(y, 0, eps)
    first, second = (zero > one) & (zero > own), (one > zero) & (one > own)
    a = own[first].sum() / 50_000 if first.any() else 1.0
    return 2 * min(a, own[second].sum() / 50_000)


def pair_delta(eps, clones, w, n):
    """The divergence of `liu24_epsilon`'s pair, outcome by outcome."""
    total = 0.0
    for number in range(n + 1):
        a = np.arange(number + 2)
        low, high = stats.binom.pmf(a, number, 0.5), stats.binom.pmf(a - 1, number, 0.5)
        gain = (1 - 2 * w) * low + 2 * w * high - math.exp(eps) * high
        total += stats.binom.pmf(number, n, clones / n) * np.maximum(gain, 0).sum()
    return total


class TestLiu24:
    @pytest.mark.parametrize(("eps", "most"), [(0.2, 3.0), (2.0, 2.0), (0.99, 1.0)])
    def test_clones_by_definition(self, eps, most):
        people = budgets.from_array([eps, most], count=[100, 1])
        assert c.liu24_clones(people) == pytest.approx(100 * clone_by_definition(eps, most), rel=1e-4)

    def test_a_user_without_budget_is_none(self):
        # Its law spreads beyond the sets where the victim's are larger: the limit is 0.
        people = budgets.from_array([0.0, 1.0], count=[7, 1])
        assert c.liu24_clones(people) == 0
        assert 0 < c.liu24_clones(budgets.from_array([1e-6, 1.0], count=[7, 1])) < 1e-3
        assert c.liu24_clones(budgets.constant(0.0, n=8)) == 7
        with pytest.raises(OutsideValidity, match="fewer than 2e9 clones"):
            c.liu24_epsilon(people, delta=1e-6)

    @settings(max_examples=20)
    @given(st.floats(0.1, 3), st.integers(20, 150), st.floats(1e-4, 0.05))
    def test_epsilon_meets_delta_exactly(self, eps0, n, delta):
        people = budgets.constant(eps0, n=n)
        try:
            eps = c.liu24_epsilon(people, delta=delta)
        except OutsideValidity:
            assert pair_delta(eps0, c.liu24_clones(people), math.exp(-eps0 / 2) / 2, n) > delta
            return
        found = pair_delta(eps, c.liu24_clones(people), math.exp(-eps0 / 2) / 2, n)
        assert found == pytest.approx(delta, rel=1e-6) if eps > 0 else found <= delta

    @pytest.mark.parametrize(
        ("eps", "count", "delta", "printed"),
        [
            # numericalanalysis(n, eps, 0, delta, 10, 100, True, "laplacian", 1.0) of yixuanLL/HPS at commit ddd02eb.
            ([1.0], [1_000], 1e-6, 0.1297098770737648),
            ([0.5], [5_000], 1e-6, 0.024288639426231384),
            ([0.2, 1.0], [2_000, 1_000], 1e-5, 0.06611317908391356),
            ([4.0], [3_000], 1e-6, 0.3498844802379608),
            ([0.05, 3.0], [2_000, 20], 1e-5, 0.4316896079108119),
        ],
    )
    def test_the_authors_code_agrees_up_to_its_grid(self, eps, count, delta, printed):
        assert c.liu24_epsilon(budgets.from_array(eps, count=count), delta=delta) == pytest.approx(printed, rel=5e-3)

    @pytest.mark.parametrize(("eps0", "n", "cut"), [(4.0, 3_000, 0.25), (5.0, 10_000, 0.0)])
    def test_it_is_no_upper_bound(self, eps0, n, cut):
        eps = c.liu24_epsilon(budgets.constant(eps0, n=n), delta=1e-6)
        assert laplace_delta(eps0, n, eps, cut) > 9 * 1e-6
        rows = {row.key: row for row in compare(budgets.constant(eps0, n=n), delta=1e-6, mechanism="laplace")}
        assert not rows["liu24"].rigorous
        assert "not a certified upper bound" in rows["liu24"].note
        assert rows["su25"].epsilon > eps
        assert laplace_delta(eps0, n, rows["su25"].epsilon, cut) <= 1e-6

    def test_thinned_sums_agree(self, monkeypatch):
        people = budgets.constant(1.0, n=10**6)
        thin = c.liu24_epsilon(people, delta=1e-8)
        monkeypatch.setattr(c, "_CLONES_TRIED", 10**6)
        assert thin == pytest.approx(c.liu24_epsilon(people, delta=1e-8), rel=1e-4)

    def test_refusals(self):
        for people, reason in (
            (budgets.constant(1.0, n=1), "n >= 2, .*n=1"),
            (budgets.constant(1.0, n=100, delta=1e-9), "needs pure local privacy"),
            (budgets.constant(701.0, n=100), "eps 701 to 701"),
            (budgets.constant(600.0, n=100), "some eps up to the largest eps_i"),
        ):
            with pytest.raises(OutsideValidity, match=reason):
                c.liu24_epsilon(people, delta=1e-6)
        with pytest.raises(InvalidValue, match="delta"):
            c.liu24_epsilon(budgets.constant(1.0, n=10), delta=0)
        assert c.liu24_epsilon(budgets.constant(0.0, n=10), delta=1e-6) == 0


@settings(max_examples=6)
@given(st.floats(0.3, 10), st.integers(2, 20_000), st.floats(1e-9, 0.1))
def test_the_evaluated_blanket_of_gaussian_reports_is_above_an_attack(sigma, n, delta):
    # Count the reports above a cut; all others at 0. No guarantee is below what that shows.
    eps = blanket_epsilon([sigma], count=n, delta=delta, mechanism="gaussian").upper
    for cut in (0.5, 0.5 + sigma, 1 + 2 * sigma):
        at0, at1 = (stats.norm.sf(cut, x, sigma) for x in (0, 1))
        assert hockey_stick(*binary_laws(at0, at1, at0, at1, n, 0), eps) <= delta * (1 + 1e-9)


def test_tiny_scales_are_a_refusal_of_the_evaluated_bound():
    row = compare(budgets.constant(1e-200, n=100), delta=1e-6, keys=["su25"])[0]
    assert not row.valid
    assert "eps0 >= 1e-150" in row.note

"""Page 07: Theorem 2's slack against brute force, mpmath and a law written out here; a local delta and eq. (17)
by hand; the checks."""

from __future__ import annotations

import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from running import Planted, run_page
from scipy.stats import binom, norm

from gspa.accountant import budgets
from gspa.accountant import one_round as accountant
from gspa.accountant import published as bounds
from gspa.accountant.discrete import neyman_pearson
from gspa.accountant.tradeoff import gdp_delta, gdp_epsilon
from gspa.pages import p07_gaussian_guarantee as p
from gspa.pages import p08_comparison as comparison

PAGE = "07_gaussian_guarantee"


def pair(eps, r):
    """(rho_0, rho_1) for a victim and the others' r_j, from scratch: arrays over (first count, second count)."""
    w = 1 / (1 + math.exp(-eps))
    law = np.zeros((len(r) + 2, len(r) + 2))
    law[0, 0] = 1
    for x in r:
        law = (1 - 2 * x) * law + x * (np.roll(law, 1, 0) + np.roll(law, 1, 1))
    first, second = np.roll(law, 1, 0), np.roll(law, 1, 1)
    return (w * first + (1 - w) * second).ravel(), (w * second + (1 - w) * first).ravel()


def crowd(*eps):
    return budgets.from_array(list(eps))


def least(people, mu=None):
    return p.least_slack(p.exact_curve(people), mu=bounds.gspa_mu(people) if mu is None else mu)


@pytest.mark.parametrize("eps", [(0.5, 0.5, 0.5), (2.0, 0.1, 1.0, 0.0), (6.0, 6.0, 6.0, 6.0, 6.0, 6.0)])
def test_the_exact_curve_is_that_of_the_pair_written_out(eps):
    found = p.exact_curve(crowd(*eps))
    others = np.delete(np.array(eps), np.argmax(eps))
    truth = neyman_pearson(*pair(max(eps), 1 / (1 + np.exp(others))))
    alpha = np.linspace(0, 1, 501)
    np.testing.assert_allclose(found(alpha), truth(alpha), atol=1e-12)


class TestLeastSlack:
    @given(st.floats(0.1, 8), st.integers(3, 9), st.floats(0.05, 4))
    @settings(max_examples=20)
    def test_it_is_enough_and_less_is_not(self, eps, n, mu):
        curve = p.exact_curve(budgets.constant(eps, n=n))
        s = p.least_slack(curve, mu=mu)
        alpha = np.unique(np.r_[curve.alpha, np.linspace(0, 1, 2001)])

        def short(slack):  # by scipy's own normal law
            return float((norm.cdf(norm.ppf(1 - np.minimum(alpha + slack, 1)) - mu) - slack - curve(alpha)).max())

        assert short(s) <= 1e-9
        if s > 1e-6:
            assert short(s * (1 - 1e-3)) > 0

    def test_is_zero_for_the_figures_budgets_and_not_beyond(self):
        # Half of the victim's mu is missing at 0.5; at 4 nothing is spare, and few users are far from Gaussian.
        assert [least(budgets.constant(eps, n=1_000)) for eps in (0.5, 1.0, 2.0)] == [0, 0, 0]
        assert least(budgets.constant(4.0, n=100)) > 0.01


class TestProvedSlack:
    def test_the_normal_approximation_of_fair_coins_is_as_good_as_the_proof_says(self):
        # Hipp and Mattner: below 1/sqrt(2 pi c), on both sides of each jump.
        for c in (*range(1, 200), 1_000, 9_999):
            k = np.arange(c + 1)
            normal, law = norm.cdf((2 * k - c) / math.sqrt(c)), binom.cdf(k, c, 0.5)
            off = max(np.abs(law - normal).max(), np.abs(np.r_[0, law[:-1]] - normal).max())
            assert off < 1 / math.sqrt(2 * math.pi * c)

    @given(
        st.floats(0.1, 10), st.lists(st.floats(0, 6), min_size=2, max_size=40), st.sampled_from([None, 0.05, 0.5, 3.0])
    )
    @settings(max_examples=30)
    def test_suffices_for_any_crowd_and_any_mu(self, victim, others, mu):
        people = crowd(victim, *others)
        assert least(people, mu) <= p.proved_slack(people, mu=mu)

    def test_by_the_formula_with_scipys_binomial_law(self):
        """The page's own cell is at 0.5; here another budget."""
        n, r = 500, 1 / (1 + math.exp(1.0))
        mu = math.sqrt(2 / ((n - 1) * r))
        c0 = np.arange(1, n)
        bound = (1 / np.sqrt(c0) + np.maximum(2 / np.sqrt(c0) - mu, 0)) / math.sqrt(2 * math.pi)
        best = (bound + binom.cdf(c0 - 1, n - 1, 2 * r)).min()
        assert p.proved_slack(budgets.constant(1.0, n=n)) == pytest.approx(best, rel=1e-9)
        assert p.proved_slack(budgets.constant(20.0, n=100)) == 1.0  # without clones it says nothing

    def test_falls_like_one_over_root_n_with_a_constant_of_the_budget(self):
        for eps in (0.5, 2.0, 4.0):
            expected = math.sqrt((1 + math.exp(eps)) / (4 * math.pi))  # 1/sqrt(2 pi 2 r)
            constant = p.proved_slack(budgets.constant(eps, n=10**8)) * math.sqrt(10**8 - 1)
            assert expected < constant < 1.05 * expected


class TestHalfVariation:
    @given(st.floats(0.1, 8), st.integers(3, 9), st.floats(0, 4))
    @settings(max_examples=20)
    def test_it_is_enough_for_every_mu(self, eps, n, mu):
        curve = p.exact_curve(budgets.constant(eps, n=n))
        s = p.half_variation(curve)
        rho_0, rho_1 = pair(eps, [1 / (1 + math.exp(eps))] * (n - 1))
        assert s == pytest.approx(np.abs(rho_0 - rho_1).sum() / 4, abs=1e-12)
        assert p.least_slack(curve, mu=mu) <= s + 1e-12
        assert p.least_slack(curve, mu=0.0) == pytest.approx(s, abs=1e-9)  # and for mu = 0 no smaller one is

    def test_distribution_functions_never_get_below_it(self):
        for eps in (0.5, 3.0, 6.0):
            for n in (100, 10_000):
                people = budgets.constant(eps, n=n)
                assert p.half_variation(p.exact_curve(people)) < p.proved_slack(people)


class TestHalfWayBetweenWholeNumbers:
    def test_uspenskys_bound(self):
        for c in (*range(100, 400), 1_000, 9_999, 10_000):
            k = np.arange(c + 1)
            off = np.abs(binom.cdf(k, c, 0.5) - norm.cdf((k + 0.5 - c / 2) / (math.sqrt(c) / 2))).max()
            assert off < p.coin_error_between(np.array([float(c)]))[0] / 10
        assert p.coin_error_between(np.array([99.0])) == p.coin_error(np.array([99.0]))

    def test_it_falls_as_the_proof_needs(self):
        assert (np.diff(p.coin_error_between(np.arange(1.0, 5_000.0))) < 0).all()

    @given(st.floats(0.1, 4), st.lists(st.floats(0, 3), min_size=110, max_size=300), st.sampled_from([None, 0.05, 0.5]))
    @settings(max_examples=15)
    def test_its_slack_suffices(self, victim, others, mu):
        people = crowd(victim, *others)
        sharp = p.proved_slack(people, mu=mu, error=p.coin_error_between)
        assert least(people, mu) <= sharp <= p.proved_slack(people, mu=mu)

    def test_it_falls_nearly_like_one_over_n(self):
        slack = [p.proved_slack(budgets.constant(0.5, n=n), error=p.coin_error_between) for n in (10**4, 10**6)]
        assert slack[1] < slack[0] / 80
        people = budgets.constant(0.5, n=10**4)
        assert slack[0] < p.half_variation(p.exact_curve(people)) / 5  # so it says something about mu


class TestChained:
    def test_by_two_dimensional_sums(self):
        # 20 others, budget 1: the law of the truthful pair and the distance from the page before.
        (row,) = p.chained(local=[1.0], sizes=[21]).itertuples()
        r = 1 / (1 + math.e)
        truth = neyman_pearson(*pair(60.0, [r] * 20))
        alpha, mu = np.linspace(0, 1, 501), math.sqrt(2 / (20 * r))
        right = norm.cdf(norm.ppf(1 - np.minimum(alpha + row.tv, 1)) - mu) - row.tv
        assert row.spare <= (truth(alpha) - right).min() + 1e-12
        assert row.spare == pytest.approx((truth(alpha) - right).min(), abs=2e-3)
        assert row.literal == -1

    def test_each_verdict(self):
        table = p.chained(local=[1.0], sizes=[21])
        assert p.equation_18(table).verdict == "holds with correction"
        assert p.equation_18(table.assign(literal=0.5)).verdict == "verified"
        assert p.equation_18(table.assign(spare=-0.1)).verdict == "refuted"
        assert p.equation_18(table.assign(largest=-0.1)).verdict == "refuted"


class TestLemma2:
    @pytest.mark.parametrize("n", [20, 300])
    def test_by_mpmath(self, n):
        with mpmath.workdps(25):
            r, m = 1 / (1 + mpmath.exp(0.5)), n - 1
            sd = mpmath.sqrt(m * r * (1 - r))
            cells = [mpmath.ncdf((k + 0.5 - m * r) / sd) - mpmath.ncdf((k - 0.5 - m * r) / sd) for k in range(m + 1)]
            masses = [mpmath.binomial(m, k) * r**k * (1 - r) ** (m - k) for k in range(m + 1)]
            total = mpmath.fsum(abs(a - b) for a, b in zip(masses, cells, strict=True)) + 1 - mpmath.fsum(cells)
        assert p.lemma2_slack(budgets.constant(0.5, n=n)) == pytest.approx(float(total / 2), rel=1e-6)

    def test_personal_budgets_count_one_by_one(self):
        law, k = np.array([1.0]), np.arange(4)
        for e in (0.01, 0.7, 1.0):
            r = 1 / (1 + math.exp(e))
            law = np.convolve(law, [1 - r, r])
        mean, variance = law @ k, law @ k**2 - (law @ k) ** 2
        cell = np.diff(norm.cdf((np.arange(5) - 0.5 - mean) / math.sqrt(variance)))
        expected = 0.5 * (np.abs(law - cell).sum() + 1 - cell.sum())
        assert p.lemma2_slack(crowd(0.01, 0.7, 2.0, 1.0)) == pytest.approx(expected, rel=1e-9)  # 2.0 is the victim


class TestFloor:
    @given(st.floats(1e-6, 0.3), st.floats(0.01, 3), st.floats(0, 12))
    @settings(max_examples=30)
    def test_no_eps_gets_below_it(self, s, mu, eps):
        # delta(eps) = sup over alpha of 1 - T - e^eps alpha; at alpha = 0 there is no eps in it.
        alpha = np.r_[0, np.logspace(-15, 0, 200)]
        bound = np.maximum(norm.cdf(norm.ppf(1 - np.minimum(alpha + s, 1)) - mu) - s, 0)
        assert p.delta_floor(s, mu=mu) <= (1 - bound - math.exp(eps) * alpha).max() + 1e-12
        assert p.delta_floor(s, mu=mu) >= min(1, 2 * s) - 1e-12

    @given(st.floats(1e-8, 0.3), st.floats(0.01, 5))
    def test_the_allowed_slack_is_its_inverse(self, delta, mu):
        s = p.slack_allowed(delta, mu=mu)
        assert p.delta_floor(0.9999 * s, mu=mu) <= delta <= p.delta_floor(1.0001 * s, mu=mu)

    def test_users_needed_are_needed(self):
        n = p.users_needed(1.0, delta=0.01)
        floors = [
            p.delta_floor(p.proved_slack(people), mu=bounds.gspa_mu(people))
            for people in (budgets.constant(1.0, n=n), budgets.constant(1.0, n=n // 2))
        ]
        assert floors[0] <= 0.01 < floors[1]


class TestTanh:
    def test_by_hand_for_a_mixed_crowd(self):
        r = [1 / (1 + math.exp(e)) for e in (0.3, 0.3, 1.0)]
        expected = math.tanh(1.0) * math.sqrt(2 / sum(r))
        assert p.tanh_mu(crowd(0.3, 2.0, 0.3, 1.0)) == pytest.approx(expected, rel=1e-12)

    def test_is_the_limit_of_the_pair(self):
        found = p.tanh_accuracy(p.promises(local=[0.5, 3.0], sizes=[1_000, 100_000], deltas=[1e-5]))
        error = found.set_index(["eps0", "n"])["percent"]
        assert all(error[eps0, 100_000] < error[eps0, 1_000] / 30 for eps0 in (0.5, 3.0))  # of order 1/n
        assert found["tanh"][0] == gdp_epsilon(delta=1e-5, mu=p.tanh_mu(budgets.constant(0.5, n=1_000)))


class TestTables:
    def test_constants_and_their_peaks(self):
        table = p.constants(local=[6.0], sizes=[100, 300, 1_000])
        np.testing.assert_allclose(table["constant"], table["slack"] * np.sqrt(table["n"] - 1))
        assert (table["slack"] <= table["proved"]).all()
        assert p.peaks(table).to_numpy().tolist() == [[6.0, table["constant"].max(), 300, False]]
        assert p.peaks(table.assign(constant=[0.1, 0.2, 0.5]))["growing"].tolist() == [True]
        assert p.peaks(table.assign(constant=[0.1, 0.2, 0.3]))["growing"].tolist() == [False]  # not by much

    def test_what_is_left(self):
        rows = list(comparison.populations(steps=2))
        table = p.what_is_left(rows, delta=1e-4)
        assert table["n"].tolist() == [people.n for _, _, people in rows]
        for row, (_, label, people) in zip(table.itertuples(), rows, strict=True):
            root, mu = math.sqrt(people.n - 1), bounds.gspa_mu(people)
            assert row.population == label
            assert p.delta_floor(row.allowed / root, mu=mu) == pytest.approx(1e-4, rel=1e-9)
            assert row.lemma2_floor == pytest.approx(p.delta_floor(row.lemma2 / root, mu=mu), rel=1e-12)
            assert row.proved_floor > row.lemma2_floor

    def test_promises_are_those_of_the_accountant(self):
        table = p.promises(local=[0.5, 5.0, 12.0], sizes=[1_000], deltas=[1e-4, 1e-8])
        assert table["promise"].tolist() == ["holds", "too much", "holds"] * 2  # at 12 the paper's eps is above eps0
        assert (p.safe_up_to(table), p.safe_up_to(table[table["eps0"] == 5])) == (0.5, 0)
        # The other way round: the Gaussian's delta at the paper's eps is below the pair's, certainly.
        people, eps = budgets.constant(5.0, n=1_000), float(table["paper"][1])
        assert gdp_delta(eps, mu=bounds.gspa_mu(people)) < accountant.central_delta(people, eps=eps).lower

    def test_power_curves(self):
        alpha = np.array([0.0, 0.01, 0.5, 1.0])
        table = p.power_curves(local=[0.5, 5.0], n=300, alpha=alpha)
        people, part = budgets.constant(0.5, n=300), table[table["eps0"] == 0.5]
        np.testing.assert_allclose(part["paper"], norm.cdf(norm.ppf(alpha) + bounds.gspa_mu(people)), atol=1e-14)
        assert (table["slack"] >= table["exact"] - 1e-12).all()
        assert (part["paper"] >= part["exact"] - 1e-12).all()

    def test_the_other_readings_of_mu(self):
        # 3 - 1 others of 4 against 3; and 2/sqrt(3 r) against sqrt(2/(3 r)).
        assert p.other_readings(budgets.constant(0.5, n=4)) == pytest.approx((math.sqrt(3 / 2), math.sqrt(2)))


class TestToldTruth:
    def test_alone_by_hand(self):
        # Nobody else: 1/10 + 9/10 (3/4 - e^eps/4) at p = 3.
        table = p.told_truth(ratio=3, delta_n=F(1, 10), others=[], factors=[1, 2, 3, 10])
        assert table["total"].tolist() == [F(11, 20), F(13, 40), F(1, 10), F(1, 10)]
        assert table["paper"].tolist() == [F(9, 20), F(9, 40), 0, 0]

    @given(
        st.integers(2, 9),
        st.fractions(0, F(9, 10), max_denominator=20),
        st.lists(st.integers(1, 7), max_size=3),
        st.lists(st.fractions(1, 12, max_denominator=5), min_size=1, max_size=3),
    )
    @settings(max_examples=15)
    def test_the_corrected_delta_is_exact(self, ratio, delta, others, factors):
        table = p.told_truth(ratio=ratio, delta_n=delta, others=others, factors=factors)
        assert (table["total"] == table["corrected"]).all()
        assert delta == 0 or (table["total"] > table["paper"]).all()

    def test_one_user_gets_the_local_delta(self):
        table = p.at_the_papers_eps(0.5, n=1_000, deltas=[0.0, 0.01], delta=1e-4)
        people, first = budgets.constant(0.5, n=1_000), table.iloc[0]
        assert first["epsilon"] == pytest.approx(bounds.gspa_epsilon(people, delta=1e-4))
        assert first["lower"] == pytest.approx(accountant.central_delta(people, eps=first["epsilon"]).lower)
        assert 0.01 <= table["lower"][1] <= table["upper"][1] < 0.0101
        assert table["times"][1] >= 100


class TestSides:
    def test_the_smallest_case_by_hand(self):
        # One other user, a fair coin; p = 9, delta_n = 1/5. Counts (2,0), (1,1), (0,2) with Delta_2 = 0 have
        # 4/5 times (9/20, 1/2, 1/20) and its mirror image; Delta_2 = 1 says nothing.
        table = p.equation17(ratio=9, delta_n=F(1, 5), others=[1]).set_index("alpha")
        # At alpha = 0.04 the test rejects (0,2): it misses 1 - 0.36.
        assert table["left"].iloc[table.index.get_indexer([0.04], method="nearest")[0]] == pytest.approx(0.64)
        # At alpha = 0.64 it rejects everything but (2,0), and misses 0.04. T_symm: (1,1) is all that the
        # primed pair hides, so max(0, 1/2 - alpha).
        at = table.iloc[table.index.get_indexer([0.64], method="nearest")[0]]
        assert (at["left"], at["right"]) == pytest.approx((0.04, 0.2 * 0.36))
        assert tuple(table.loc[0.0, ["left", "right"]]) == pytest.approx((1.0, 0.2 + 0.8 * 0.5))

    def test_at_delta_zero_it_is_the_victims_own_coin_that_is_missing(self):
        table = p.equation17(ratio=3, delta_n=F(0), others=[3, 3])
        np.testing.assert_allclose(table["equal_alpha"], table["left"], atol=1e-12)
        assert (table["right"] <= table["left"] + 1e-12).all()
        assert (table["right"] < table["left"] - 0.1).any()

    def test_splitting_alpha_never_hurts_the_test_when_the_branch_shows(self):
        # The other users are always clones, so the total shows Delta_2: T is at most the mean at equal alpha.
        table = p.equation17(ratio=5, delta_n=F(1, 3), others=[1, 1])
        assert (table["left"] <= table["equal_alpha"] + 1e-12).all()
        assert (table["left"] < table["equal_alpha"] - 0.02).any()
        assert table["mirrored"].max() < 1e-12


def test_the_figures_draw_their_tables():
    power = pd.DataFrame({"eps0": 4.0, "alpha": [1e-4, 1.0], "exact": [4e-4, 1.0], "paper": [1e-4, 1.0]})
    exact, paper, *_ = p.guarantee_power(power.assign(slack=1.0, tanh=1.0)).axes[0].lines
    assert (exact.get_ydata() == 1).all()
    assert list(paper.get_ydata()) == [0.25, 1]
    cells = {"eps0": [1.0, 2.0, 1.0, 2.0], "n": 100, "delta": [1e-2, 1e-2, 1e-4, 1e-4]}
    promise = ["holds", "holds", "holds", "too much"]
    (crosses,) = p.guarantee_map(pd.DataFrame({**cells, "promise": promise})).axes[0].lines
    assert (crosses.get_xdata().tolist(), crosses.get_ydata().tolist()) == ([2.0], [-4.0])
    plt.close("all")


@pytest.fixture(scope="module")
def tables():
    return {
        "constants": p.constants(local=[0.5, 4.0, 8.0], sizes=[100, 1_000, 10_000]),
        "promises": p.promises(local=[0.5, 2.0, 5.0], sizes=[1_000], deltas=[1e-4]),
        "left": p.what_is_left(comparison.populations(steps=2), delta=1e-4),
    }


class TestTheorem2:
    @staticmethod
    def found(tables, **changed):
        used = tables | changed
        return p.theorem_2(used["constants"], used["promises"], used["left"], 1e-4, (1.2, 1.4))

    def test_the_numbers(self, tables):
        found = self.found(tables)
        bounded, every, without, trivial = found.readings
        assert [one.verdict for one in found.readings] == ["holds with correction", "refuted", "refuted", "verified"]
        assert trivial.excluded
        # tanh(1/4) sqrt(2/r) / (2 sqrt(2 pi)), nearly, against the constant of distribution functions.
        assert "takes $C$ = 0.112; distribution functions prove $C$ = 0.48" in bounded.found
        assert "too much at 1 of 3 points, but at none up to $\\epsilon_0$ = 2." in without.found
        # 8 expected clones among 10,000 users halve to 0.8 among 1,000: s = 0.0254, C = s sqrt(999).
        assert "reaches 0.804 at $\\epsilon_0$ = 8" in every.found
        assert "leaves no statement at $\\delta$ = 0.0001" in without.found
        assert found.evidence["worst point"].startswith(
            "$\\epsilon_0$ = 5, $n$ = 1,000, $\\delta$ = 0.0001: paper 1.882"
        )
        assert found.evidence["right side of (15) with $C = \\sqrt{n-1}$, at its largest"] == -1
        small = tables["left"].assign(lemma2=1e-5)
        assert "may leave a statement" in self.found(tables, left=small).readings[2].found

    def test_a_slack_that_serves_only_this_mu_would_verify_it(self, tables):
        constants = tables["constants"].copy()
        constants["half_tv"] = constants["slack"] / 2
        assert self.found(tables, constants=constants[constants["slack"] > 0]).verdict == "verified"

    def test_without_a_slack_below_half_the_variation_nothing_is_left(self, tables):
        constants = tables["constants"].assign(sharp=tables["constants"]["proved"])
        found = self.found(tables, constants=constants)
        assert found.verdict == "refuted"
        assert "nothing is said about $\\mu$" in found.reason

    def test_verified_needs_one_constant_and_no_broken_promise(self, tables):
        constants = tables["constants"].assign(slack=0.0, constant=0.0)
        promises = tables["promises"].assign(promise="holds")
        assert self.found(tables, constants=constants, promises=promises).verdict == "verified"
        assert self.found(tables, constants=constants).verdict == "holds with correction"
        assert self.found(tables, promises=promises).verdict == "holds with correction"
        small = promises.assign(eps0=promises["eps0"] / 2)
        assert self.found(tables, constants=constants, promises=small).missing == "size"

    @pytest.mark.parametrize(
        ("eps0", "verdict", "words"),
        [
            (4, "refuted", "No $C$ serves all $n$ at $\\epsilon_0$ = 4"),
            (8, "not yet checked", "At $\\epsilon_0$ = 8"),  # 10,000 users: 6.7 clones
        ],
    )
    def test_a_constant_that_grows_with_n(self, tables, eps0, verdict, words):
        constants = tables["constants"].copy()
        constants.loc[constants["eps0"] == eps0, "constant"] = [0.1, 0.5, 2.5]
        found = self.found(tables, constants=constants)
        assert found.verdict == verdict
        assert words in found.reason

    def test_a_proved_slack_that_is_too_small_refutes(self, tables):
        constants = tables["constants"].assign(proved=tables["constants"]["slack"] / 2)
        assert self.found(tables, constants=constants).verdict == "refuted"

    def test_too_little_evidence_settles_nothing(self, tables):
        whole = tables["constants"]
        for part in (whole[whole["eps0"] == 4], whole[whole["n"] == 1_000]):
            assert self.found(tables, constants=part).missing == "size"


class TestEquation17:
    def test_each_verdict(self):
        told = p.told_truth(ratio=3, delta_n=F(1, 5), others=[3], factors=[1, 2]).assign(n=2)
        sides = p.equation17(ratio=9, delta_n=F(1, 5), others=[1])
        as_paper = told.assign(total=told["paper"])
        equal = sides.assign(right=sides["left"])
        assert p.equation_17(sides, told).verdict == p.equation_17(equal, told).verdict == "refuted"
        assert p.equation_17(equal, as_paper).verdict == "verified"
        assert p.equation_17(sides, as_paper).verdict == "holds with correction"
        inexact = told.assign(corrected=told["corrected"] + F(1, 100))
        assert "Nor is $\\delta_n" in p.equation_17(sides, inexact).reason


def test_the_page():
    found = run_page(PAGE).outcomes
    assert {name: one.verdict for name, one in found.items()} == {
        "G-T2": "holds with correction",
        "G-E17": "refuted",
        "G-E18": "holds with correction",
    }
    shown = found["G-E17"].evidence
    # By hand, as above: 0.072 against 0.04; 0.6 against 1.
    assert shown["(17), largest right minus left"] == "0.032 at $\\alpha$ = 0.640"
    assert shown["(17), smallest right minus left"].startswith("-0.4 at")
    assert shown["$\\delta_\\text{total} = \\delta_n + (1 - \\delta_n)\\, \\delta$, exactly, at"] == 20


def test_what_is_said_follows_the_run():
    """A table whose budgets need no slack."""
    ran = run_page(PAGE, local=[0.5, 1.0], sizes=[100, 300, 1000], map_points=4, map_sizes=[100_000], powers=[2])
    said = "\n".join(ran.said)
    assert "In the table no row needs a slack at all." in said
    assert "too small to show how fast it grows" in said
    assert "This run has too few budgets to show it" in said
    assert ran.outcomes["G-T2"].verdict == "holds with correction"


PLANTED = (
    Planted(
        "G-E18",
        "pages.p07_gaussian_guarantee",
        "mu=mu) - tv",
        "mu=mu) + tv",
        "the total variation added instead of taken away",
    ),
    Planted(
        "G-T2",
        "pages.p07_gaussian_guarantee",
        "0.53 / c + np.exp(-0.75 * np.sqrt(c))",
        "0.53 / np.sqrt(c) + np.exp(-0.75 * np.sqrt(c))",
        "Uspensky's bound of the order of a distribution function's",
    ),
    Planted(
        "G-T2",
        "pages.p07_gaussian_guarantee",
        "    return float(min(s.min(initial=1.0), 1.0))",
        "    return float(min(s.min(initial=1.0), 1.0)) / 50",
        "the proved slack fifty times too small",
    ),
    Planted(
        "G-E17",
        "pages.p07_gaussian_guarantee",
        "(1 - delta_n) * pure))",
        "delta_n + (1 - delta_n) * pure))",
        "(17) with delta_n on top",
    ),
)

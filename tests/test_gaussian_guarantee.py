"""Theorem 2's slack: against brute force, mpmath, a law written out here, and what must hold of any valid bound."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from gspa import accountant, bounds, budgets, comparison, slack
from gspa import gaussian_guarantee as theorem2
from gspa.discrete import neyman_pearson
from gspa.errors import InvalidValue, OutsideValidity
from gspa.tradeoff import gdp_delta, gdp_epsilon


def pair(eps, r):
    """(rho_0, rho_1) for a victim and the others' r_j, from scratch: arrays over (first count, second count)."""
    w = 1 / (1 + math.exp(-eps))
    law = np.zeros((len(r) + 2, len(r) + 2))
    law[0, 0] = 1
    for x in r:
        grown = (1 - 2 * x) * law
        grown[1:] += x * law[:-1]
        grown[:, 1:] += x * law[:, :-1]
        law = grown
    first, second = np.roll(law, 1, 0), np.roll(law, 1, 1)
    return (w * first + (1 - w) * second).ravel(), (w * second + (1 - w) * first).ravel()


def crowd(*eps):
    return budgets.from_array(list(eps))


class TestExactCurve:
    @pytest.mark.parametrize("eps", [(0.5, 0.5, 0.5), (2.0, 0.1, 1.0, 0.0), (6.0, 6.0, 6.0, 6.0, 6.0, 6.0)])
    def test_is_the_neyman_pearson_curve_of_the_pair_written_out(self, eps):
        found = slack.exact_curve(crowd(*eps))
        others = np.delete(np.array(eps), np.argmax(eps))
        truth = neyman_pearson(*pair(max(eps), 1 / (1 + np.exp(others))))
        alpha = np.linspace(0, 1, 501)
        np.testing.assert_allclose(found(alpha), truth(alpha), atol=1e-12)

    def test_a_local_delta_is_refused(self):
        with pytest.raises(OutsideValidity, match="delta_i = 0"):
            slack.exact_curve(budgets.constant(0.5, n=3, delta=0.1))


class TestLeastSlack:
    @given(st.floats(0.1, 8), st.integers(3, 9), st.floats(0.05, 4))
    @settings(max_examples=25, deadline=None)
    def test_it_is_enough_and_less_is_not(self, eps, n, mu):
        curve = slack.exact_curve(budgets.constant(eps, n=n))
        s = slack.least_slack(curve, mu=mu)
        alpha = np.unique(np.r_[curve.alpha, np.linspace(0, 1, 2001)])

        def short(slack):  # by scipy's own normal law
            return float((norm.cdf(norm.ppf(1 - np.minimum(alpha + slack, 1)) - mu) - slack - curve(alpha)).max())

        assert short(s) <= 1e-9
        if s > 1e-6:
            assert short(s * (1 - 1e-3)) > 0

    def test_of_nothing_hidden_by_hand(self):
        # T = 0 against G_0(alpha + s) - s = 1 - alpha - 2 s.
        assert slack.least_slack(neyman_pearson([1.0, 0.0], [0.0, 1.0]), mu=0.0) == pytest.approx(0.5)

    def test_is_zero_for_the_figures_budgets_and_not_beyond(self):
        # Half of the victim's mu is missing at 0.5; at 4 nothing is spare, and few users are far from Gaussian.
        for eps in (0.5, 1.0, 2.0):
            people = budgets.constant(eps, n=1_000)
            assert slack.least_slack(slack.exact_curve(people), mu=bounds.gspa_mu(people)) == 0
        people = budgets.constant(4.0, n=100)
        assert slack.least_slack(slack.exact_curve(people), mu=bounds.gspa_mu(people)) > 0.01


class TestProvedSlack:
    def test_the_normal_approximation_of_fair_coins_is_as_good_as_the_proof_says(self):
        # Hipp and Mattner 2007: below 1/sqrt(2 pi c), on both sides of each jump.
        for c in (*range(1, 400), 1_000, 9_999):
            k = np.arange(c + 1)
            normal, law = norm.cdf((2 * k - c) / math.sqrt(c)), binom.cdf(k, c, 0.5)
            off = max(np.abs(law - normal).max(), np.abs(np.r_[0, law[:-1]] - normal).max())
            assert off < 1 / math.sqrt(2 * math.pi * c)

    @given(
        st.floats(0.1, 10),
        st.lists(st.floats(0, 6), min_size=2, max_size=40),
        st.sampled_from([None, 0.05, 0.5, 3.0]),
    )
    @settings(max_examples=40, deadline=None)
    def test_suffices_for_any_crowd_and_any_mu(self, victim, others, mu):
        people = crowd(victim, *others)
        chosen = bounds.gspa_mu(people) if mu is None else mu
        least = slack.least_slack(slack.exact_curve(people), mu=chosen)
        assert least <= slack.proved_slack(people, mu=mu)

    @pytest.mark.parametrize(("eps", "n"), [(0.5, 1_000), (4.0, 10_000), (8.0, 100_000)])
    def test_suffices_for_many(self, eps, n):
        people = budgets.constant(eps, n=n)
        least = slack.least_slack(slack.exact_curve(people), mu=bounds.gspa_mu(people))
        assert 0 <= least < slack.proved_slack(people) < 1

    def test_by_the_formula_with_scipys_binomial_law(self):
        n, r = 500, 1 / (1 + math.exp(1.0))
        mu = math.sqrt(2 / ((n - 1) * r))
        c0 = np.arange(1, n)
        bound = (1 / np.sqrt(c0) + np.maximum(2 / np.sqrt(c0) - mu, 0)) / math.sqrt(2 * math.pi)
        best = (bound + binom.cdf(c0 - 1, n - 1, 2 * r)).min()
        assert slack.proved_slack(budgets.constant(1.0, n=n)) == pytest.approx(best, rel=1e-9)

    def test_falls_like_one_over_root_n_with_a_constant_of_the_budget(self):
        for eps in (0.5, 2.0, 4.0):
            n = 10**8
            expected = math.sqrt((1 + math.exp(eps)) / (4 * math.pi))  # 1/sqrt(2 pi 2 r)
            constant = slack.proved_slack(budgets.constant(eps, n=n)) * math.sqrt(n - 1)
            assert expected < constant < 1.05 * expected

    def test_says_nothing_without_clones(self):
        assert slack.proved_slack(budgets.constant(20.0, n=100)) == 1.0


class TestLemma2:
    @pytest.mark.parametrize("n", [20, 300])
    def test_by_mpmath(self, n):
        people = budgets.constant(0.5, n=n)
        with mpmath.workdps(25):
            r, m = 1 / (1 + mpmath.exp(0.5)), n - 1
            sd = mpmath.sqrt(m * r * (1 - r))
            cells = [mpmath.ncdf((k + 0.5 - m * r) / sd) - mpmath.ncdf((k - 0.5 - m * r) / sd) for k in range(m + 1)]
            masses = [mpmath.binomial(m, k) * r**k * (1 - r) ** (m - k) for k in range(m + 1)]
            total = mpmath.fsum(abs(p - q) for p, q in zip(masses, cells, strict=True)) + 1 - mpmath.fsum(cells)
        assert slack.lemma2_slack(people) == pytest.approx(float(total / 2), rel=1e-6)

    def test_personal_budgets_count_one_by_one(self):
        eps = [0.01, 0.7, 2.0, 1.0]  # the largest is the victim
        law = np.array([1.0])
        for e in (0.01, 0.7, 1.0):
            r = 1 / (1 + math.exp(e))
            law = np.convolve(law, [1 - r, r])
        mean, variance = law @ np.arange(4), law @ np.arange(4) ** 2 - (law @ np.arange(4)) ** 2
        cell = np.diff(norm.cdf((np.arange(5) - 0.5 - mean) / math.sqrt(variance)))
        expected = 0.5 * (np.abs(law - cell).sum() + 1 - cell.sum())
        assert slack.lemma2_slack(crowd(*eps)) == pytest.approx(expected, rel=1e-9)


class TestFloor:
    @given(st.floats(1e-6, 0.3), st.floats(0.01, 3), st.floats(0, 12))
    @settings(max_examples=40, deadline=None)
    def test_no_eps_gets_below_it(self, s, mu, eps):
        # delta(eps) = sup over alpha of 1 - T - e^eps alpha; at alpha = 0 there is no eps in it.
        alpha = np.r_[0, np.logspace(-15, 0, 200)]
        bound = np.maximum(norm.cdf(norm.ppf(1 - np.minimum(alpha + s, 1)) - mu) - s, 0)
        assert slack.delta_floor(s, mu=mu) <= (1 - bound - math.exp(eps) * alpha).max() + 1e-12
        assert slack.delta_floor(s, mu=mu) >= min(1, 2 * s) - 1e-12

    @given(st.floats(1e-10, 0.3), st.floats(0.01, 5))
    def test_the_allowed_slack_is_its_inverse(self, delta, mu):
        s = slack.slack_allowed(delta, mu=mu)
        assert slack.delta_floor(s, mu=mu) <= delta
        assert slack.delta_floor(1.0001 * s, mu=mu) > delta

    def test_users_needed_are_needed(self):
        n = slack.users_needed(1.0, delta=0.01)
        for many, enough in ((n, True), (n // 2, False)):
            people = budgets.constant(1.0, n=many)
            floor = slack.delta_floor(slack.proved_slack(people), mu=bounds.gspa_mu(people))
            assert (floor <= 0.01) is enough

    def test_arguments_out_of_range(self):
        with pytest.raises(InvalidValue, match="slack"):
            slack.delta_floor(1.5, mu=1.0)
        with pytest.raises(OutsideValidity, match="at most 1e"):
            slack.users_needed(60.0, delta=1e-4)


class TestTanh:
    def test_by_hand_for_a_mixed_crowd(self):
        r = [1 / (1 + math.exp(e)) for e in (0.3, 0.3, 1.0)]
        expected = math.tanh(1.0) * math.sqrt(2 / sum(r))
        assert slack.tanh_mu(crowd(0.3, 2.0, 0.3, 1.0)) == pytest.approx(expected, rel=1e-12)

    def test_is_the_limit_of_the_pair(self):
        table = theorem2.promises(local=[0.5, 3.0], sizes=[1_000, 100_000], deltas=[1e-5])
        error = theorem2.tanh_accuracy(table).set_index(["eps0", "n"])["error"].abs()
        for eps0 in (0.5, 3.0):
            assert error[eps0, 100_000] < error[eps0, 1_000] / 30  # of order 1/n
        found = theorem2.tanh_accuracy(table).iloc[0]
        people = budgets.constant(0.5, n=1_000)
        assert found["tanh"] == gdp_epsilon(delta=1e-5, mu=slack.tanh_mu(people))

    def test_nobody_else(self):
        with pytest.raises(OutsideValidity, match="other users"):
            slack.tanh_mu(crowd(1.0))


class TestTables:
    def test_constants_are_the_slacks_times_root_n(self):
        table = theorem2.constants(local=[3.0, 6.0], sizes=[30, 300])
        assert table[["eps0", "n"]].to_numpy().tolist() == [[3, 30], [3, 300], [6, 30], [6, 300]]
        np.testing.assert_allclose(table["constant"], table["slack"] * np.sqrt(table["n"] - 1))
        assert (table["slack"] <= table["proved"]).all()
        people = budgets.constant(6.0, n=300)
        assert table["slack"].iloc[3] == slack.least_slack(slack.exact_curve(people), mu=bounds.gspa_mu(people))

    def test_peaks(self):
        table = theorem2.constants(local=[6.0], sizes=[100, 300, 1_000])
        assert theorem2.peaks(table).to_numpy().tolist() == [[6.0, table["constant"].max(), 300, False]]
        table["constant"] = [0.1, 0.2, 0.5]
        assert theorem2.peaks(table)["growing"].tolist() == [True]
        table["constant"] = [0.1, 0.2, 0.3]  # the largest, but not by much
        assert theorem2.peaks(table)["growing"].tolist() == [False]

    def test_what_is_left(self):
        rows = list(comparison.populations(steps=2))
        table = theorem2.what_is_left(rows, delta=1e-4)
        assert table["n"].tolist() == [people.n for _, _, people in rows]
        for row, (_, label, people) in zip(table.itertuples(), rows, strict=True):
            root, mu = math.sqrt(people.n - 1), bounds.gspa_mu(people)
            assert row.population == label
            assert slack.delta_floor(row.allowed / root, mu=mu) == pytest.approx(1e-4, rel=1e-9)
            assert row.lemma2_floor == pytest.approx(slack.delta_floor(row.lemma2 / root, mu=mu), rel=1e-12)
            assert row.proved_floor > row.lemma2_floor

    def test_promises_are_those_of_the_accountant(self):
        table = theorem2.promises(local=[0.5, 5.0, 12.0], sizes=[1_000], deltas=[1e-4, 1e-8])
        assert table.set_index(["eps0", "delta"])["promise"].to_dict() == {
            (0.5, 1e-4): "holds",
            (5.0, 1e-4): "too much",
            (12.0, 1e-4): "holds",  # the paper's eps is above eps0
            (0.5, 1e-8): "holds",
            (5.0, 1e-8): "too much",
            (12.0, 1e-8): "holds",
        }
        row = table[(table["eps0"] == 5) & (table["delta"] == 1e-4)].iloc[0]
        people = budgets.constant(5.0, n=1_000)
        # The other way round: the Gaussian's delta at the paper's eps is below the pair's, certainly.
        at = accountant.central_delta(people, eps=float(row["paper"]))
        assert gdp_delta(float(row["paper"]), mu=bounds.gspa_mu(people)) < at.lower
        assert theorem2.safe_up_to(table) == 0.5
        assert theorem2.safe_up_to(table[table["eps0"] == 5]) == 0

    def test_power_curves(self):
        alpha = np.array([0.0, 0.01, 0.5, 1.0])
        table = theorem2.power_curves(local=[0.5, 5.0], n=300, alpha=alpha)
        assert len(table) == 8
        people = budgets.constant(0.5, n=300)
        part = table[table["eps0"] == 0.5]
        np.testing.assert_allclose(part["exact"], 1 - slack.exact_curve(people)(alpha))
        np.testing.assert_allclose(part["paper"], norm.cdf(norm.ppf(alpha) + bounds.gspa_mu(people)), atol=1e-14)
        assert (table["slack"] >= table["exact"] - 1e-12).all()
        assert (part["paper"] >= part["exact"] - 1e-12).all()
        with pytest.raises(InvalidValue, match="alpha"):
            theorem2.power_curves(local=[0.5], n=300, alpha=[2.0])

"""Histogram attacks: against scipy's multinomials, exact fractions, the exact law of randomized response."""

from __future__ import annotations

import math

import exact_shuffle
import numpy as np
import p19_auditing as h
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gspa.accountant import attacks as audit
from gspa.accountant import budgets
from gspa.accountant.tradeoff import gdp_epsilon


class TestEnumeration:
    def test_against_scipys_multinomials(self):
        """12 users, 3 answers, personal budgets, mixed inputs."""
        people = budgets.from_array([0.5, 2.0], count=[8, 4])
        worlds = h.randomized_response(people, k=3, inputs=[[3, 5, 0], [1, 0, 2]])
        row = exact_shuffle.krr
        others = [(row(3, 0.5, 0), 3), (row(3, 0.5, 1), 5), (row(3, 2.0, 0), 1), (row(3, 2.0, 2), 2)]
        victim = (row(3, 2.0, 0), row(3, 2.0, 1))
        laws = h.enumerate_laws(worlds)
        for eps in (0.0, 0.3, 1.2):
            expected = exact_shuffle.histogram_delta(victim, others, eps)
            assert laws.delta(eps) <= expected + 1e-15
            assert laws.delta(eps) == pytest.approx(expected, abs=1e-13)
            assert laws.delta(eps, side=1) >= expected - 1e-15

    @pytest.mark.parametrize("ones", [0, 4, 9])
    def test_bits_against_the_exact_law(self, ones):
        people = budgets.constant(1.5, n=10)
        worlds = h.randomized_response(people, inputs=[[9 - ones, ones]])
        found = h.likelihood_ratio_epsilon(worlds, delta=1e-3)
        exact = exact_shuffle.solve(lambda eps: exact_shuffle.rr_delta(1.5, 10, eps, ones), 1e-3, 1.5)
        assert found.lower == pytest.approx(exact, rel=1e-8)
        assert found.upper - found.lower < 1e-8


class TestStatistics:
    @pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
    def test_no_attack_beats_the_likelihood_ratio_on_the_same_cells(self, mechanism):
        worlds = h.merged(audit.reports([0.5, 2.0], count=[3, 5], mechanism=mechanism, victim=0), cells=5)
        best = h.likelihood_ratio_epsilon(worlds, delta=1e-2)
        some = h.statistic_epsilon(worlds, delta=1e-2)
        assert 0 < some.lower <= best.upper
        assert math.isinf(some.upper)

    def test_bits_lose_nothing(self):
        people = budgets.constant(1.0, n=300)
        worlds = h.randomized_response(people)
        exact = exact_shuffle.solve(lambda eps: exact_shuffle.rr_delta(1.0, 300, eps, 0), 1e-4, 1.0)
        found = h.statistic_epsilon(worlds, delta=1e-4).lower
        assert found == pytest.approx(exact, rel=1e-5)

    @settings(max_examples=25, deadline=None)
    @given(st.integers(2, 7), st.integers(3, 40), st.floats(0.1, 4.0))
    def test_merging_answers_never_helps(self, k, n, eps):
        worlds = h.randomized_response(budgets.constant(eps, n=n), k=k)
        few = h.merged(worlds, cells=2)
        if few.victim.shape[1] < 2:
            return
        assert few.victim.sum(axis=1) == pytest.approx(1)
        if h.work(worlds) < 1e6:
            assert (
                h.likelihood_ratio_epsilon(few, delta=1e-2).lower
                <= h.likelihood_ratio_epsilon(worlds, delta=1e-2).upper
            )

    def test_the_limit_is_that_of_many_users(self):
        worlds = h.randomized_response(budgets.constant(1.0, n=50_000), k=3)
        assert h.statistic_epsilon(worlds, delta=1e-5).lower == pytest.approx(
            gdp_epsilon(delta=1e-5, mu=worlds.mu), rel=0.01
        )

    def test_cells_lose_power_only(self):
        full = audit.attack_epsilon([0.5], count=500, delta=1e-4).lower
        cut = h.statistic_epsilon(h.merged(audit.reports([0.5], count=500), cells=8), delta=1e-4).lower
        assert 0.5 * full < cut <= full


class TestSamples:
    def test_they_follow_the_law(self):
        worlds = h.randomized_response(budgets.from_array([0.5, 2.0], count=[6, 3]), k=3)
        for world in (0, 1):
            drawn = h.sample(worlds, world, 40_000, np.random.default_rng(world))
            assert (drawn.sum(axis=1) == 9).all()
            mean = worlds.count @ worlds.laws + worlds.victim[world]
            variance = worlds.count @ (worlds.laws * (1 - worlds.laws)) + worlds.victim[world] * (
                1 - worlds.victim[world]
            )
            assert (np.abs(drawn.mean(axis=0) - mean) < 5 * np.sqrt(variance / 40_000)).all()

    def test_reports_on_a_line_against_noise_drawn_directly(self):
        """6 users: the cells' counts of simulated Laplace noise have the means of the cells' laws."""
        worlds = h.merged(audit.reports([0.5, 2.0], count=[2, 4], victim=0), cells=6)
        whole = audit.reports([0.5, 2.0], count=[2, 4], victim=0)
        rng = np.random.default_rng(3)
        place = float(whole.what.split("inputs ")[1].split(",")[0])
        noise = rng.laplace(0, [0.5, 0.5, 2, 2, 2, 2], size=(100_000, 6)) + np.r_[0.0, np.full(5, place)]
        edges = whole.where.edges
        counts = np.bincount(
            np.clip(np.searchsorted(edges, noise.ravel()) - 1, 0, whole.victim.shape[1] - 1),
            minlength=whole.victim.shape[1],
        )
        expected = whole.count @ whole.laws + whole.victim[0]
        assert np.abs(counts / 100_000 - expected).max() < 5 * math.sqrt(6 / 100_000)
        assert worlds.victim.shape[1] <= 6

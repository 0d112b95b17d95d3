"""Attacks: exact laws recomputed by convolution, simulated, and what they may not exceed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, laplace, norm

from gspa.accountant import attacks as audit
from gspa.accountant.errors import GspaError
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.accountant.tradeoff import gdp_epsilon


def test_window_against_two_binomials():
    """Reports below -1.4 (a score of the list), others at 1, Gaussian: scipy's own binomial law."""
    edges = np.array([-3.0, -1.4, 0.0, 1.0, 4.0])
    where = audit.reports([0.5], count=51, mechanism="gaussian", cells=600).where
    where = type(where)(where.victim, where.others, where.count, where.place, where.scales, edges)
    own = np.array([audit.cell_masses(where.victim, x, edges) for x in (0.0, 1.0)])
    found = audit.sum_laws(np.array([1, 0, 0, 0]), where.laws([1.0]), where.count, own)
    count = np.arange(52)
    crowd = binom.pmf(np.arange(51), 50, norm.cdf(-1.4, 1, 0.5))
    for law, x in ((found.p0, 0.0), (found.p1, 1.0)):
        p = norm.cdf(-1.4, x, 0.5)
        exact = np.convolve(crowd, [1 - p, p])
        folded = np.bincount(count % law.size, weights=exact, minlength=law.size)
        assert np.abs(folded - law).sum() <= found.noise + 1e-15


def test_linear_statistic_against_convolution():
    """A score of every cell: what its sum says, by multiplying out the reports' own laws; no better than claimed."""
    arguments, eps = {"count": [3, 12], "victim": 0}, 0.3
    claimed = audit.attack_delta([0.5, 3.0], eps=eps, others=1.0, statistic="linear", **arguments).lower
    where = audit.reports([0.5, 3.0], count=[3, 12], victim=0, cells=2400).where
    score = audit.reports([0.5, 3.0], count=[3, 12], victim=0, others=1.0, cells=2400).linear

    def summed(*reports):
        total = np.ones(1)
        for x, scale in reports:
            mass = np.diff(laplace.cdf(np.r_[-np.inf, where.edges[1:-1], np.inf], loc=x, scale=scale))
            total = np.convolve(total, np.bincount(score - score.min(), mass))
        return total

    crowd = summed(*[(1.0, 0.5)] * 2, *[(1.0, 3.0)] * 12)
    p, q = (np.convolve(summed((x, 0.5)), crowd) for x in (0.0, 1.0))
    exact = max(np.maximum(a - math.exp(eps) * b, 0).sum() for a, b in ((p, q), (q, p)))
    assert 0.99 * exact < claimed <= exact * (1 + 1e-9)


@pytest.mark.parametrize("statistic", audit.STATISTICS)
def test_below_what_one_report_guarantees(statistic):
    found = audit.attack_epsilon([1.0], count=2, delta=1e-3, statistic=statistic)
    assert 0 < found.lower <= 1
    gaussian = audit.attack_epsilon([0.7], count=2, delta=1e-3, mechanism="gaussian", statistic=statistic)
    assert 0 < gaussian.lower <= gdp_epsilon(delta=1e-3, mu=1 / 0.7)
    assert math.isinf(found.upper)


def test_epsilon_and_delta_agree():
    eps = audit.attack_epsilon([1.0], count=5000, delta=1e-5).lower
    assert audit.attack_delta([1.0], count=5000, eps=eps).lower >= 1e-5
    assert audit.attack_delta([1.0], count=5000, eps=1.001 * eps).lower < 1e-5


def test_roundings_are_not_counted():
    """Beyond the local eps the true delta is 0, and the Fourier sum's is not."""
    assert audit.attack_delta([1.0], count=10**6, eps=1.0).lower == 0


def test_tail_window_beats_the_gaussian_limit():
    """Gaussian, sigma = 1/2, n = 1e4: a report beyond -2 gives the victim away, which no linear statistic sees."""
    arguments = {"count": 10_000, "mechanism": "gaussian", "delta": 1e-6}
    assert audit.attack_epsilon([0.5], statistic="window", **arguments).lower > 1.4
    assert audit.attack_epsilon([0.5], statistic="linear", **arguments).lower < 0.3


def test_the_papers_promise_is_broken():
    """Erratum: any PLDP. GSPA promises 0.044 for the eps = 2 user among 9,999 at 0.01."""
    assert audit.attack_epsilon([0.5, 100.0], count=[1, 9999], victim=0, delta=1e-4).lower > 0.29
    assert audit.attack_delta([0.5, 100.0], count=[1, 9999], victim=0, eps=0.044, statistic="window").lower > 1e-2


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: audit.attack_delta([1.0], count=3, eps=0.1, statistic="windows"), "did you mean 'window'"),
        (lambda: audit.attack_delta([1.0], eps=0.1), "at least one other user"),
        (lambda: audit.attack_delta([1.0], count=3, eps=0.1, others=[0.0, 1.0]), r"len\(others\) = 2"),
        (lambda: audit.attack_epsilon([1.0], count=3, delta=0), "delta = 0"),
        (lambda: audit.reports([1.0]), "at least one other user"),
        (lambda: audit.reports([1.0], count=3, victim=3), "victim = 3"),
        (lambda: audit.reports([1.0], count=3, cells=2), "cells = 2"),
    ],
)
def test_refusals(ask, words):
    with pytest.raises(GspaError, match=words):
        ask()


# --- the limit of fixed composition: dense linear algebra, its closed form -----------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_solve_against_a_pseudo_inverse(seed):
    rng = np.random.default_rng(seed)
    laws, count = rng.dirichlet(np.ones(7), size=3), rng.integers(1, 50, 3).astype(float)
    v = rng.dirichlet(np.ones(7)) - rng.dirichlet(np.ones(7))
    covariance = np.diag(count @ laws) - (laws.T * count) @ laws
    square, score = audit.solve(v, laws, count)
    assert square == pytest.approx(float(v @ np.linalg.pinv(covariance) @ v), rel=1e-9)
    assert covariance @ score == pytest.approx(v, abs=1e-10)


def test_equal_laws_give_the_integral():
    where = audit.reports([1.0], count=1001, cells=2400).where
    f0, f1 = where.own
    v = f0 - f1
    law = where.laws([0.0])
    assert audit.solve(v, law, where.count)[0] == pytest.approx(float((v**2 / (1000 * law[0])).sum()), rel=1e-12)
    # int (f0 - f1)^2 / f0 = int f1^2/f0 - 1, for Laplace with eps = 1: e/3 * 2 + e^-2/3 - 1
    closed = (2 * np.e + np.exp(-2)) / 3 - 1
    assert audit.reports([1.0], count=1001, cells=2400).limit.mu ** 2 * 1000 == pytest.approx(closed, rel=1e-4)


def test_others_at_one_input_are_the_worst():
    """v' A^+ v is convex in A: no mixture of inputs inside a group beats the best single one."""
    where = audit.reports([0.5, 2.0], count=[200, 300], victim=0, cells=240).where
    f0, f1 = where.own
    v = f0 - f1
    best = audit.reports([0.5, 2.0], count=[200, 300], victim=0, cells=240).limit.mu ** 2
    rng = np.random.default_rng(3)
    for _ in range(30):
        share = rng.dirichlet(np.ones(3), size=2) * where.count[:, None]
        laws = np.vstack([where.laws([x, x]) for x in (0.0, 0.5, 1.0)])
        assert audit.solve(v, laws, share.T.ravel())[0] <= best * (1 + 1e-12)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_attack_limit_and_blanket_in_order(mechanism):
    arguments = {"count": [20_000, 10_000], "mechanism": mechanism, "victim": 1}
    limit = audit.reports([5.0, 1.5], cells=2400, **arguments).limit.epsilon(1e-4)
    attack = audit.attack_epsilon([5.0, 1.5], delta=1e-4, **arguments).lower
    certified = blanket_epsilon([5.0, 1.5], delta=1e-4, **arguments).upper
    assert 0.99 * limit <= attack <= 1.01 * limit < certified

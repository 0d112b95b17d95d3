"""Attacks: exact laws recomputed by convolution, simulated, and what they may not exceed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, laplace, norm

from gspa.accountant import attacks as audit
from gspa.accountant.asymptotic import cell_masses
from gspa.accountant.errors import InvalidValue
from gspa.accountant.tradeoff import gdp_epsilon


def test_window_against_two_binomials():
    """Reports below -1.4 (a score of the list), others at 1, Gaussian: scipy's own binomial law."""
    edges = np.array([-3.0, -1.4, 0.0, 1.0, 4.0])
    where = audit.setting([0.5], 51, "gaussian", None, 600)
    where = type(where)(where.victim, where.others, where.count, where.place, where.scales, edges)
    own = np.array([cell_masses(where.victim, x, edges) for x in (0.0, 1.0)])
    found = audit.sum_laws(np.array([1, 0, 0, 0]), where.laws([1.0]), where.count, own)
    count = np.arange(52)
    crowd = binom.pmf(np.arange(51), 50, norm.cdf(-1.4, 1, 0.5))
    for law, x in ((found.p0, 0.0), (found.p1, 1.0)):
        p = norm.cdf(-1.4, x, 0.5)
        exact = np.convolve(crowd, [1 - p, p])
        folded = np.bincount(count % law.size, weights=exact, minlength=law.size)
        assert np.abs(folded - law).sum() <= found.noise + 1e-15


def test_linear_statistic_against_simulation():
    arguments = {"count": [3, 40], "victim": 0}
    eps = 0.3
    claimed = audit.attack_delta([0.5, 3.0], eps=eps, others=1.0, statistic="linear", **arguments).lower
    where = audit.setting([0.5, 3.0], [3, 40], "laplace", 0, 2400)
    laws = where.laws([1.0, 1.0])
    score = audit.linear_score(where.difference, laws, where.count)
    rng, sums = np.random.default_rng(1), []
    draws = 200_000
    for x in (0.0, 1.0):
        reports = np.column_stack(
            [
                laplace.rvs(x, 0.5, size=draws, random_state=rng),
                laplace.rvs(1.0, 0.5, size=(draws, 2), random_state=rng),
                laplace.rvs(1.0, 3.0, size=(draws, 40), random_state=rng),
            ]
        )
        cell = np.clip(np.searchsorted(where.edges, reports) - 1, 0, score.size - 1)
        sums.append(score[cell].sum(axis=1))
    low, high = min(s.min() for s in sums), max(s.max() for s in sums)
    p, q = (np.bincount(s - low, minlength=high - low + 1) / draws for s in sums)
    own = np.array([cell_masses(where.victim, x, where.edges) for x in (0.0, 1.0)])
    exact = audit.sum_laws(score, laws, where.count, own)
    mean = np.arange(exact.p0.size)
    # The claim, tested on the attack's own rejection region.
    e = math.exp(eps)
    place = (np.arange(low, high + 1)) % mean.size
    gains = []
    for a, b, r, s in ((exact.p0, exact.p1, p, q), (exact.p1, exact.p0, q, p)):
        region = (a - e * b > 0)[place]
        gains.append(float((r - e * s)[region].sum()))
    assert max(gains) == pytest.approx(claimed, abs=5 * (1 + e) * math.sqrt(0.25 / draws))


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


def test_refusals():
    with pytest.raises(KeyError, match="did you mean 'window'"):
        audit.attack_delta([1.0], count=3, eps=0.1, statistic="windows")
    with pytest.raises(InvalidValue, match="at least one other user"):
        audit.attack_delta([1.0], eps=0.1)
    with pytest.raises(InvalidValue, match=r"len\(others\) = 2"):
        audit.attack_delta([1.0], count=3, eps=0.1, others=[0.0, 1.0])
    with pytest.raises(InvalidValue, match="delta = 0"):
        audit.attack_epsilon([1.0], count=3, delta=0)

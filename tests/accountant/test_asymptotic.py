"""The fixed-composition limit against dense linear algebra, its closed form, and exact attacks."""

from __future__ import annotations

import numpy as np
import pytest

from gspa.accountant import attacks as audit
from gspa.accountant.asymptotic import asymptotic_mu, setting, solve
from gspa.accountant.errors import InvalidValue
from gspa.accountant.laplace_gaussian import blanket_epsilon


@pytest.mark.parametrize("seed", range(5))
def test_solve_against_a_pseudo_inverse(seed):
    rng = np.random.default_rng(seed)
    laws, count = rng.dirichlet(np.ones(7), size=3), rng.integers(1, 50, 3).astype(float)
    v = rng.dirichlet(np.ones(7)) - rng.dirichlet(np.ones(7))
    covariance = np.diag(count @ laws) - (laws.T * count) @ laws
    square, score = solve(v, laws, count)
    assert square == pytest.approx(float(v @ np.linalg.pinv(covariance) @ v), rel=1e-9)
    assert covariance @ score == pytest.approx(v, abs=1e-10)


def test_equal_laws_give_the_integral():
    where = setting([1.0], 1001, "laplace", None, 2400)
    v = where.difference
    law = where.laws([0.0])
    assert solve(v, law, where.count)[0] == pytest.approx(float((v**2 / (1000 * law[0])).sum()), rel=1e-12)
    # int (f0 - f1)^2 / f0 = int f1^2/f0 - 1, for Laplace with eps = 1: e/3 * 2 + e^-2/3 - 1
    closed = (2 * np.e + np.exp(-2)) / 3 - 1
    assert asymptotic_mu([1.0], count=1001).mu ** 2 * 1000 == pytest.approx(closed, rel=1e-4)


def test_others_at_one_input_are_the_worst():
    """v' A^+ v is convex in A: no mixture of inputs inside a group beats the best single one."""
    where = setting([0.5, 2.0], [200, 300], "laplace", 0, 240)
    v = where.difference
    best = asymptotic_mu([0.5, 2.0], count=[200, 300], victim=0, cells=240).mu ** 2
    rng = np.random.default_rng(3)
    for _ in range(30):
        share = rng.dirichlet(np.ones(3), size=2) * where.count[:, None]
        laws = np.vstack([where.laws([x, x]) for x in (0.0, 0.5, 1.0)])
        assert solve(v, laws, share.T.ravel())[0] <= best * (1 + 1e-12)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_attack_limit_and_blanket_in_order(mechanism):
    arguments = {"count": [20_000, 10_000], "mechanism": mechanism, "victim": 1}
    limit = asymptotic_mu([5.0, 1.5], **arguments).epsilon(1e-4)
    attack = audit.attack_epsilon([5.0, 1.5], delta=1e-4, **arguments).lower
    certified = blanket_epsilon([5.0, 1.5], delta=1e-4, **arguments).upper
    assert 0.99 * limit <= attack <= 1.01 * limit < certified


def test_certified_against_the_limit():
    """How far the certificate is from the estimate; the gap is the blanket's own."""
    two = {"count": [1, 9999], "victim": 0}
    groups = {"count": [5400, 3700, 900], "victim": 2}
    ratios = [
        blanket_epsilon([0.5, 100.0], delta=1e-4, **two).upper / asymptotic_mu([0.5, 100.0], **two).epsilon(1e-4),
        blanket_epsilon([10.0, 2.0, 1.0], delta=1e-6, **groups).upper
        / asymptotic_mu([10.0, 2.0, 1.0], **groups).epsilon(1e-6),
    ]
    assert 1 < ratios[0] < 1.02
    assert 1 < ratios[1] < 1.23


def test_refusals():
    with pytest.raises(InvalidValue, match="at least one other user"):
        asymptotic_mu([1.0])
    with pytest.raises(InvalidValue, match="victim = 3"):
        asymptotic_mu([1.0], count=3, victim=3)
    with pytest.raises(InvalidValue, match="cells = 2"):
        asymptotic_mu([1.0], count=3, cells=2)

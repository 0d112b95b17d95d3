"""Hadamard response: against the matrix written out, and exact moments of its estimate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard

from gspa.accountant.errors import InvalidValue
from gspa.algorithms.testing import HadamardResponse, walsh_hadamard

SETTINGS = [(2, 0.1), (5, 0.3), (7, 10.0), (12, 2.0), (64, math.log(8)), (33, 3.0)]


def written_out(response):
    """P(report | item) from scipy's Hadamard matrix, item by item."""
    rows, signs = np.zeros((response.k, response.outputs)), hadamard(response.size)
    for item in range(response.k):
        block, row = item % response.blocks, 1 + item // response.blocks
        fits = np.zeros(response.outputs)
        fits[block * response.size : (block + 1) * response.size] = signs[row] > 0
        rows[item] = np.exp(response.eps * fits)
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("k", "eps"), SETTINGS)
def test_the_law_is_that_of_the_matrix(k, eps):
    response = HadamardResponse.of(k, eps=eps)
    assert response.law(np.eye(k)) == pytest.approx(written_out(response), abs=1e-15)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 40), st.floats(0.01, 12), st.integers(0, 2**32 - 1))
def test_the_estimate_is_unbiased(k, eps, seed):
    response, p = HadamardResponse.of(k, eps=eps), np.random.default_rng(seed).dirichlet(np.ones(k))
    assert response.estimate(1000 * response.law(p)) == pytest.approx(p, abs=1e-11)


@pytest.mark.parametrize("ratio", [1.5, 8.0, 64.0])
def test_the_variance_is_the_one_behind_eq_4(ratio):
    # k items fill B blocks of 2 k/B outputs: n Var = ((e^eps + 2B - 1)/(e^eps - 1))^2 P(block) - p^2.
    k = 64
    response = HadamardResponse.of(k, eps=math.log(ratio))
    law = response.law(np.full(k, 1 / k))
    linear = response.estimate(np.eye(response.outputs))  # a histogram of one report: what each report adds
    variance = law @ linear**2 - (law @ linear) ** 2
    blocks = response.blocks
    factor = (ratio + 2 * blocks - 1) / (ratio - 1)
    in_block = response.law(np.full(k, 1 / k)).reshape(blocks, -1).sum(axis=1)[0]
    assert variance == pytest.approx(np.full(k, factor**2 * in_block - 1 / k**2), rel=1e-10)


def test_blocks_follow_the_authors_rule():
    found = [HadamardResponse.of(100, eps=math.log(r)).blocks for r in (1.01, 2, 2.01, 4, 16, 17, 1e9)]
    assert found == [1, 1, 2, 2, 8, 16, 128]


def test_reports_follow_the_law():
    response = HadamardResponse.of(6, eps=1.0)
    items = np.repeat([0, 5], 20_000)
    reports = response.reports(items, rng=1)
    for item in (0, 5):
        seen = np.bincount(reports[items == item], minlength=response.outputs) / 20_000
        law = response.law(np.eye(6))[item]
        assert np.abs(seen - law).max() < 5 * math.sqrt(law.max() / 20_000)
    assert (response.reports(items, rng=1) == reports).all()


def test_the_transform_is_the_matrix_product():
    table = np.random.default_rng(0).normal(size=(3, 16))
    assert walsh_hadamard(table) == pytest.approx(table @ hadamard(16), abs=1e-12)


@pytest.mark.parametrize("arguments", [{"k": 1}, {"eps": 0.0}, {"blocks": 3}, {"blocks": 16}, {"blocks": 0}])
def test_nonsense_is_refused(arguments):
    with pytest.raises(InvalidValue):
        HadamardResponse(**{"k": 8, "eps": 1.0, "blocks": 2, **arguments})
    with pytest.raises(InvalidValue, match="power of 2"):
        walsh_hadamard(np.ones(3))

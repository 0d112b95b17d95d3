"""Pairs from curves against pairs whose curve is known: Gaussian, randomized response, random discrete ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from gspa.accountant.losses import dominated, dominating, largest_of
from gspa.accountant.tradeoff import gdp_delta


def curve(pair, eps):
    return float(pair.mass @ np.maximum(-np.expm1(eps - pair.loss), 0)) + pair.missing


def delta_of(p, q, eps):
    return float(np.maximum(p - math.exp(eps) * q, 0).sum())


def exchanged(pair):
    mass = pair.mass * np.exp(-pair.loss)
    return type(pair)(-pair.loss, mass, 1 - float(mass.sum()))


def squared(pair):
    twice = np.add.outer(pair.loss, pair.loss).ravel(), np.multiply.outer(pair.mass, pair.mass).ravel()
    return type(pair)(*twice, 1 - (1 - pair.missing) ** 2)


@pytest.mark.parametrize("mirrored", [True, False])
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.floats(0, 0.3), st.integers(1, 14))
def test_brackets_a_random_pair_its_exchange_and_its_square(mirrored, seed, error, points):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(6), size=2)
    if mirrored:
        p, q = 0.5 * np.r_[p, q], 0.5 * np.r_[q, p]
    else:
        p[0], q[1] = rng.choice([0.0, p[0]]), rng.choice([0.0, q[1]])  # an outcome that one of them does not have
        p, q = p / p.sum(), q / q.sum()
    at = np.r_[0.0, np.sort(rng.uniform(0, 3, points - 1))]
    exact = [np.array([delta_of(a, b, e) for e in at]) for a, b in ((p, q), (q, p))]
    low, high = ([row * (1 + sign * error * rng.random(points)) for row in exact] for sign in (-1, 1))
    found = [(dominating(at, high[0], None if mirrored else high[1]), 1)]
    if points >= 4:
        found += [(dominated(at, low[0], high[0], np.ones(points), None if mirrored else (low[1], high[1])), -1)]
    p2, q2 = np.multiply.outer(p, p).ravel(), np.multiply.outer(q, q).ravel()
    for pair, sign in found:
        assert pair.mass.sum() + pair.missing == pytest.approx(1, abs=1e-12)
        assert float(pair.mass @ np.exp(-pair.loss)) <= 1 + 1e-12
        for eps in np.linspace(0, 4, 25):
            assert sign * (curve(pair, eps) - delta_of(p, q, eps)) >= -1e-12
            assert sign * (curve(exchanged(pair), eps) - delta_of(q, p, eps)) >= -1e-12
            assert sign * (curve(squared(pair), eps) - delta_of(p2, q2, eps)) >= -1e-12
    if points > 1:  # and no more than the values allow
        above, values = found[0][0], (high[0], high[0] if mirrored else high[1])
        for pair, most in zip((above, exchanged(above)), values, strict=True):
            assert all(curve(pair, e) <= v + 1e-12 for e, v in zip(at, most, strict=True))
    assert curve(dominating(at, high[0], high[0]), 0.5) == curve(dominating(at, high[0]), 0.5)


def test_two_directions_from_below_lose_little():
    """N(1, 1) against a mixture: the curves' points are met from above, and nearly from below."""
    at = np.linspace(0, 6, 120)
    edges = np.linspace(-9, 10, 800)
    p, base = (np.diff(ndtr(edges - m)) for m in (1.0, 0.0))
    q = 0.5 * (p + base)
    forward, backward = (np.array([delta_of(a, b, e) for e in at]) for a, b in ((p, q), (q, p)))
    below, above = (
        dominated(at, forward, forward, np.ones_like(at), (backward, backward)),
        dominating(at, forward, backward),
    )
    for eps, truth in list(zip(at, forward, strict=True))[1:6]:
        # From below the lines meet under the curve, and what joins them passes under its points.
        assert 0.97 * truth < curve(below, eps) <= truth + 1e-12
        assert curve(above, eps) == pytest.approx(truth, abs=1e-9)


def test_an_edge_across_eps_0():
    # delta(0) = 0.4 of both directions, but a chord from backward's point to forward's passes below it
    at = np.array([0.0, 0.3, 0.6])
    forward, backward = np.array([0.4, 0.3, 0.01]), np.array([0.4, 0.02, 0.015])
    pair = dominating(at, forward, backward)
    alpha = np.r_[0.0, np.exp(-at[:0:-1]), np.exp(at)]
    h = np.r_[1.0, 1 - np.exp(-at[:0:-1]) * (1 - backward[:0:-1]), forward]
    for e in np.linspace(-1, 0.6, 33):
        a = math.exp(e)
        chords = [
            h[i] + (h[j] - h[i]) * (a - alpha[i]) / (alpha[j] - alpha[i])
            for i in range(alpha.size)
            for j in range(i + 1, alpha.size)
            if alpha[i] <= a <= alpha[j]
        ]
        assert curve(pair, e) == pytest.approx(min(chords), abs=1e-14)


def test_small_deltas_keep_their_digits_in_both_directions():
    at = np.arange(0, 12, 0.25)
    exact = gdp_delta(at, mu=0.8)
    assert exact[-1] < 1e-40
    pair = dominating(at, exact, exact)
    assert [curve(pair, e) for e in at] == pytest.approx(exact.tolist(), rel=1e-9)
    swapped = type(pair)(-pair.loss, pair.mass * np.exp(-pair.loss), float(exact[-1]))
    assert [curve(swapped, e) for e in at] == pytest.approx(exact.tolist(), rel=1e-9)


def test_values_that_contradict_each_other_are_repaired():
    # delta(0) = 0.3 with delta(0.1) = 0.01 is impossible for a pair and its mirror image
    pair = dominating(np.array([0.0, 0.1, 0.2]), np.array([0.3, 0.01, 0.02]))
    assert curve(pair, 0.0) == pytest.approx((2 * 0.01 + math.expm1(0.1)) / (2 + math.expm1(0.1)))
    assert curve(pair, 0.1) == pytest.approx(0.01)
    assert curve(pair, 0.2) == pytest.approx(0.01)


def test_cap_lowers():
    at = np.linspace(0, 1, 30)
    exact = gdp_delta(at, mu=0.4)
    cap = np.maximum(0, -np.expm1((at - 0.5) / 2))  # a Laplace report with eps = 0.5
    pair = dominated(at, exact, exact, cap)
    for e, c in zip(at, cap, strict=True):
        assert curve(pair, e) <= c + 1e-15


def test_the_largest_of_several_curves_is_found_although_each_may_be_loose_where_another_is_larger():
    rng, asked = np.random.default_rng(1), []
    slopes, heights = rng.uniform(0.5, 4, 6), rng.uniform(0.1, 1, 6)

    def one(i):
        def delta(eps, enough):
            asked.append(i)
            true = heights[i] * math.exp(-slopes[i] * eps)
            return true if 1.5 * true > enough else 1.5 * true

        return delta

    largest, grid = largest_of([one(i) for i in range(6)]), np.linspace(0, 5, 50)
    for eps in grid:
        true = heights * np.exp(-slopes * eps)
        assert largest(float(eps)) == pytest.approx((true.max(), true.argmax()))
    assert len(asked) < 3 * grid.size  # most are known to be smaller

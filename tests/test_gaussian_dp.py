"""Fact 3 by integration, envelopes, convolution and chains."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from gspa import gaussian_dp as g
from gspa.errors import InvalidValue
from gspa.tradeoff import gaussian, gdp_delta


@pytest.mark.parametrize(("eps", "mu"), [(0.0, 0.1), (1.0, 1.0), (4.0, 0.5), (3.0, 4.0), (0.2, 0.05)])
def test_the_integral_against_mpmath(eps, mu):
    with mpmath.workdps(30):
        exact = mpmath.quad(
            lambda x: mpmath.npdf(x) - mpmath.exp(eps) * mpmath.npdf(x - mu), [-40, -10, mu / 2 - mpmath.mpf(eps) / mu]
        )
    assert g.integrated_delta(eps, mu=mu) == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("mus", [[1.0], [0.3, 0.4, 1.2], [0.2] * 8])
def test_composition_brackets_the_root_of_the_sum_of_squares(mus):
    total = math.sqrt(sum(mu * mu for mu in mus))
    for eps in (0.0, 0.7, 2.0):
        low, high = g.composed_delta(mus, eps)
        exact = gdp_delta(eps, mu=total)
        assert low <= exact <= high
        assert high / low < 1.02
        # A composition rule of another form is outside.
        assert not low <= gdp_delta(eps, mu=total * 1.02) <= high


def test_the_envelope_closes_from_below():
    table = g.envelope_table(mus=(0.5, 2.0), sizes=(10, 100, 1000))
    assert (table["above"] <= 1e-12).all()
    for _, part in table.groupby("mu"):
        # Ten times as many tangents miss by about a hundredth.
        assert part["below"].iloc[1] < 0.05 * part["below"].iloc[0]
        assert part["below"].iloc[2] < 0.05 * part["below"].iloc[1]
    assert table["one_order"].min() > 0.01


def test_the_curve_table():
    table = g.curve_table(mus=(0.5, 2.0), eps=(0.0, 1.0))
    np.testing.assert_allclose(table["formula"], table["integral"], rtol=1e-10)
    np.testing.assert_allclose(table["formula"], table["from_curve"], atol=1e-12)


def test_groups():
    alpha = np.linspace(0.001, 0.999, 101)
    for k in (1, 2, 5):
        np.testing.assert_allclose(
            g.grouped(lambda a: gaussian(a, mu=0.7), k=k)(alpha), gaussian(alpha, mu=0.7 * k), rtol=1e-7
        )
    table = g.group_table(mus=[0.7], eps=1.0, delta=0.01, sizes=(2, 4))
    gaussians = table["curve"].str.startswith("mu")
    assert table[gaussians][["most", "least"]].abs().max().max() < 1e-9
    assert (table[~gaussians]["most"] > 0.05).all()
    assert (table["least"] > -1e-9).all()


def test_a_group_of_two_by_hand():
    # f of eps = log 2: 1 - 2a up to 1/3, then (1 - a)/2. At a = 1/4: f = 1/2, 1 - f = 1/2, f(1/2) = 1/4.
    from gspa.tradeoff import f_eps_delta

    twice = g.grouped(lambda a: f_eps_delta(a, eps=math.log(2), delta=0.0), k=2)
    assert float(twice(np.array(0.25))) == pytest.approx(0.25)
    assert f_eps_delta(0.25, eps=math.log(4), delta=0.0) == pytest.approx(0.1875)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: g.integrated_delta(1.0, mu=0), "mu = 0"),
        (lambda: g.composed_delta([0.5, -1.0], 1.0), "mus[1] = -1.0"),
        (lambda: g.composed_delta([0.5], -1.0), "eps = -1.0"),
        (lambda: g.composed_delta([], 1.0), "mus = []: must be a list of numbers, at least one"),
        (lambda: g.grouped(lambda a: a, k=0), "k = 0"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(InvalidValue) as refusal:
        call()
    assert words in str(refusal.value)

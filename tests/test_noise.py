"""Definitions 4 and 5: losses, limits, variances."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from gspa import mechanisms, noise
from gspa.errors import UnknownName


def test_laplace_losses_reach_eps_and_no_more():
    table = noise.laplace_losses(eps=0.7, dimensions=(1, 3, 30), draws=500, seed=5)
    np.testing.assert_allclose(table["at_answer"], 1, rtol=1e-12)
    assert (table["largest"] <= 1 + 1e-12).all()
    assert table["largest"].iloc[0] == pytest.approx(1)  # in one dimension half of all reports reach it


def test_laplace_curve_agrees_with_its_integral():
    table = noise.laplace_curve(eps=2.5)
    np.testing.assert_allclose(table["closed"], table["integrated"], atol=1e-12)
    # At eps = 0, total variation of Lap(0, 0.4) and Lap(1, 0.4): 1 - e^{-1/(2 0.4)}.
    assert table["integrated"].iloc[0] == pytest.approx(-math.expm1(-1.25), rel=1e-10)


def test_promise_limits_and_curves_tell_one_story():
    limits = noise.promise_limits([0.1, 1e-5])
    assert (limits["below"] < 1).all()
    assert (limits["beyond"] > 1).all()
    for row in limits.itertuples():
        curve = noise.promise_curves([row.delta], [0.99 * row.limit, 1.01 * row.limit])
        assert curve["kept"].tolist() == pytest.approx([row.below, row.beyond])
        # Where the promise holds the formula has at least the least noise, and less where it is broken.
        assert curve["noise"].iloc[0] > 1 > curve["noise"].iloc[1]
        np.testing.assert_allclose(curve["analytic_kept"], 1, rtol=1e-9)


def test_variances_by_hand():
    table = noise.noise_table(eps=0.5, deltas=[0.01], dimensions=[1, 4, 9]).set_index(["shape", "d"])
    # Laplace of scale d/eps has variance 2 (d/eps)^2; Gaussian 2 ln(125) d/eps^2, ln(125) = 4.828.
    assert table.loc[("every coordinate", 4), "laplace"] == pytest.approx(2 * 64)
    assert table.loc[("every coordinate", 4), "classical"] == pytest.approx(2 * 4.8283137373 * 16)
    assert table.loc[("two cells of a histogram", 9), "laplace"] == pytest.approx(2 * 16)
    assert table.loc[("one coordinate", 9), "laplace"] == pytest.approx(8)
    analytic = mechanisms.analytic_gaussian_scale(eps=0.5, delta=0.01, sensitivity=3.0) ** 2
    assert table.loc[("every coordinate", 9), "analytic"] == pytest.approx(analytic)
    assert table["smaller"].tolist() == table["rule"].tolist()


def test_the_first_dimension_is_the_ceiling_of_the_logarithm():
    table = noise.noise_table(eps=3.0, deltas=[1e-5, 0.01, 0.3], dimensions=range(1, 20))
    found = [noise.first_dimension(table, shape="every coordinate", delta=d) for d in (1e-5, 0.01, 0.3)]
    assert found == [12, 5, 2]  # log(1.25/delta) = 11.74, 4.83, 1.43
    assert noise.first_dimension(table, shape="one coordinate", delta=1e-5) is None
    assert noise.first_dimension(table, shape="two cells of a histogram", delta=0.3) == 2


def test_equal_variance_against_scipys_laws():
    table = noise.equal_variance([0.25, 2.0])
    for row in table.itertuples():
        laplace, gauss = stats.laplace(scale=row.deviation / math.sqrt(2)), stats.norm(scale=row.deviation)
        assert laplace.std() == pytest.approx(gauss.std())
        assert row.laplace_0 == pytest.approx(2 * laplace.cdf(0.5) - 1)
        assert row.gaussian_0 == pytest.approx(2 * gauss.cdf(0.5) - 1)
    assert math.isnan(table["crossing"].iloc[0])  # with little noise Laplace is ahead everywhere
    crossing = float(table["crossing"].iloc[1])
    at = [mechanisms.laplace_delta(crossing, scale=math.sqrt(2)), mechanisms.gaussian_delta(crossing, scale=2.0)]
    assert at[0] == pytest.approx(at[1], rel=1e-9)


def test_privacy_curves_pass_through_what_is_promised():
    table = noise.privacy_curves(eps=0.8, delta=1e-4, eps_max=2.0, points=11)
    at = table[np.isclose(table["eps"], 0.8)].set_index("mechanism")["delta"]
    assert at["Laplace (Definition 4)"] == pytest.approx(0.0, abs=1e-15)
    assert at["analytic Gaussian"] == pytest.approx(1e-4, rel=1e-9)
    assert at["Gaussian (Definition 5)"] < 1e-4


def test_an_unknown_shape_is_refused():
    with pytest.raises(UnknownName, match="every coordinate"):
        noise.sensitivities("every coordinat", 3)

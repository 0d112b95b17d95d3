"""Curves for the figures, and continuous pairs by their cells."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gspa import tradeoff_curves as c
from gspa.errors import InvalidValue


@settings(max_examples=30)
@given(st.floats(0.01, 5), st.floats(-3, 8))
def test_the_laplace_curve_against_scipys_tests(shift, threshold):
    # The loss grows with the report, so the best tests reject above a threshold; outside [0, shift] it is constant.
    x = min(max(threshold, 0.0), shift)
    alpha, beta = stats.laplace.sf(x), stats.laplace.cdf(x, loc=shift)
    assert c.laplace_tradeoff(float(alpha), shift=shift) == pytest.approx(float(beta), abs=1e-12)


def test_the_laplace_curve_is_symmetric_and_ends_right():
    alpha = np.linspace(0.01, 0.99, 99)
    beta = c.laplace_tradeoff(alpha, shift=0.8)
    np.testing.assert_allclose(c.laplace_tradeoff(beta, shift=0.8), alpha, atol=1e-12)
    assert (c.laplace_tradeoff(0.0, shift=1.0), c.laplace_tradeoff(1.0, shift=1.0)) == (1.0, 0.0)


def test_cells_approach_the_truth_from_above():
    table = c.continuous_pairs(shift=0.7, cells=(50, 500))
    assert (table["below"] < 1e-12).all()
    for _, part in table.groupby("pair"):
        assert part["above"].iloc[1] < 0.05 * part["above"].iloc[0]


@pytest.mark.parametrize(
    ("table", "curves"),
    [
        (lambda: c.of_pairs(eps=0.5), 4),
        (lambda: c.of_fact_1(eps=0.5, delta=0.1), 3),
        (lambda: c.of_fact_3(mu=1.0, tangents=4), 5),
        (lambda: c.of_fact_4(), 3),
    ],
)
def test_tables_are_tidy(table, curves):
    found = table()
    assert list(found.columns) == ["curve", "alpha", "beta"]
    assert found["curve"].nunique() == curves
    assert found["beta"].between(0, 1).all()


def test_curves_are_in_the_order_that_the_page_says():
    wide = c.of_pairs(eps=0.5).pivot(index="alpha", columns="curve", values="beta")
    assert (wide["randomized response, eps = 0.5"] <= wide["Laplace, eps = 0.5"] + 1e-12).all()
    wide = c.of_fact_3(mu=1.0, tangents=5).pivot(index="alpha", columns="curve", values="beta")
    assert wide.sub(wide["G, mu = 1"], axis=0).max().max() < 1e-12
    wide = c.of_fact_4().pivot(index="alpha", columns="curve", values="beta")
    bound, other = wide["g(1 - f), f of P, Q and g of Q, R"], wide["f(1 - g), the other order"]
    assert (bound <= wide["T(P, R)"] + 1e-12).all()
    assert (other > wide["T(P, R)"] + 0.05).any()
    fact_1 = c.of_fact_1(eps=0.5, delta=0.1)
    assert fact_1[fact_1["alpha"] == 1].set_index("curve")["beta"]["f, as printed"] == pytest.approx(
        0.4 * math.exp(-0.5)
    )


def test_refusals():
    with pytest.raises(InvalidValue, match="shift = -1"):
        c.laplace_tradeoff(0.5, shift=-1)
    with pytest.raises(InvalidValue, match="cells = 2"):
        c.continuous_pairs(shift=1.0, cells=(2,))

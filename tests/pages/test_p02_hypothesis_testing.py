"""Page 02: curves by their corners against grids, closed forms, scipy and mpmath; the cells of its claims."""

from __future__ import annotations

import math
import sys

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import ROOT, Planted, recorded, settle

sys.path.append(str(ROOT / "notebooks"))
import p02_hypothesis_testing as p

from gspa.accountant.tradeoff import TradeOff, f_eps_delta, gaussian, gdp_delta, neyman_pearson

PAGE = "02_hypothesis_testing"
RECORDED = recorded(PAGE)
ALPHA = np.linspace(0, 1, 2001)
COIN = neyman_pearson([0.5, 0.5], [0.5, 0.5])


@settings(max_examples=40)
@given(st.floats(0, 3), st.floats(0, 0.9))
def test_fact_1_by_its_corners(eps, delta):
    corrected, printed = p.f_corrected(eps=eps, delta=delta), p.f_printed(eps=eps, delta=delta)
    np.testing.assert_allclose(corrected(ALPHA), f_eps_delta(ALPHA, eps=eps, delta=delta), atol=1e-12)
    by_hand = [max(0.0, 1 - delta - math.exp(eps) * a, math.exp(-eps) * (1 - delta - eps)) for a in ALPHA]
    np.testing.assert_allclose(printed(ALPHA), by_hand, atol=1e-12)
    # Met by nothing, or harmless.
    gap = p.least_gap(COIN, printed)
    if eps + delta < 1:
        assert gap == (pytest.approx(-math.exp(-eps) * (1 - delta - eps), abs=1e-12), 1.0)
    else:
        assert gap.gap >= 0


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_chained_curves_and_least_gaps_at_corners_are_those_on_a_grid(seed):
    rng = np.random.default_rng(seed)
    first, second = (neyman_pearson(*rng.dirichlet(np.ones(4), 2)) for _ in range(2))
    found = p.chained(first, second)
    np.testing.assert_allclose(found(ALPHA), second(1 - first(ALPHA)), atol=1e-10)
    assert p.least_gap(first, found).gap <= (first(ALPHA) - found(ALPHA)).min() + 1e-12
    shifted = p.shifted(first, first=0.1, second=0.05)
    np.testing.assert_allclose(shifted(ALPHA), np.maximum(first(np.minimum(ALPHA + 0.1, 1)) - 0.05, 0), atol=1e-10)


def test_a_gap_is_found_between_grid_points():
    tent = TradeOff(np.array([0.0, 0.123456, 1.0]), np.array([1.0, 0.0, 0.0]))
    assert p.least_gap(tent, COIN) == (pytest.approx(-(1 - 0.123456)), 0.123456)


@pytest.mark.parametrize("shift", [0.01, 0.8, 5.0])
def test_the_laplace_curve_against_its_closed_form(shift):
    small = math.exp(-shift)
    with np.errstate(divide="ignore"):
        middle = np.where(ALPHA <= 0.5, small / (4 * ALPHA), small * (1 - ALPHA))
    closed = np.where(small / 2 >= ALPHA, 1 - ALPHA / small, middle)
    np.testing.assert_allclose(p.laplace_tradeoff(ALPHA, shift=shift), closed, atol=1e-12)


@pytest.mark.parametrize(("eps", "mu"), [(0.0, 0.1), (1.0, 1.0), (4.0, 0.5), (3.0, 4.0), (0.2, 0.05)])
def test_the_integral_against_mpmath(eps, mu):
    with mpmath.workdps(30):
        exact = mpmath.quad(
            lambda x: mpmath.npdf(x) - mpmath.exp(eps) * mpmath.npdf(x - mu), [-40, -10, mu / 2 - mpmath.mpf(eps) / mu]
        )
    assert p.integrated_delta(eps, mu=mu) == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("mus", [[1.0], [0.3, 0.4, 1.2], [0.2] * 8])
def test_composition_brackets_the_root_of_the_sum_of_squares(mus):
    total = math.sqrt(sum(mu * mu for mu in mus))
    for eps in (0.0, 0.7, 2.0):
        low, high = p.composed_delta(mus, eps)
        assert low <= gdp_delta(eps, mu=total) <= high < 1.02 * low
        # A composition rule of another form is outside.
        assert not low <= gdp_delta(eps, mu=total * 1.02) <= high


def test_groups_by_hand(ran):
    # f of eps = log 2: 1 - 2a up to 1/3, then (1 - a)/2. At a = 1/4: f = 1/2, 1 - f = 1/2, f(1/2) = 1/4.
    twice = p.grouped(lambda a: f_eps_delta(a, eps=math.log(2), delta=0.0), k=2)
    assert float(twice(np.array(0.25))) == pytest.approx(0.25)
    assert ran.names["groups"]["least"] > -1e-9
    assert ran.names["groups"]["most"] > 0.2


TABLES = {
    "G-TAB1": ["errors"],
    "G-E4": ["spare", "moved"],
    "G-D3": ["infima", "cut"],
    "G-F1": ["fact_1", "alone"],
    "G-F2": ["fact_2"],
    "G-F3": ["formulas", "converse", "composed", "groups"],
    "G-F4": ["fact_4", "smallest", "fails"],
}


@pytest.mark.parametrize(
    ("claim", "name", "column", "value", "verdict"),
    [
        ("G-TAB1", "errors", "type_1", 0.5, "refuted"),
        ("G-TAB1", "errors", "type_2", math.nan, "refuted"),
        ("G-E4", "spare", "events", -0.01, "refuted"),
        ("G-E4", "spare", "others", -0.01, "refuted"),
        ("G-E4", "moved", "gap", -0.01, "refuted"),
        ("G-D3", "infima", "gap", 0.01, "refuted"),
        ("G-D3", "infima", "rise", 0.01, "refuted"),
        ("G-D3", "infima", "bend", 0.01, "refuted"),
        ("G-D3", "infima", "above", 0.01, "refuted"),
        ("G-D3", "cut", "above", 0.01, "refuted"),
        ("G-D3", "cut", "below", 0.01, "refuted"),
        ("G-F1", "fact_1", "corrected", -0.1, "refuted"),
        ("G-F1", "fact_1", "less", 0.0, "refuted"),
        ("G-F1", "fact_1", "back", 1.0, "refuted"),
        ("G-F1", "fact_1", "printed", 0.0, "holds with correction"),  # an ignored input still falls short
        ("G-F2", "fact_2", "gap", -0.02, "refuted"),
        ("G-F3", "formulas", "integral", 0.01, "refuted"),
        ("G-F3", "formulas", "supremum", 0.01, "refuted"),
        ("G-F3", "converse", "above", 0.01, "refuted"),
        ("G-F3", "converse", "below", 0.01, "refuted"),
        ("G-F3", "composed", "formula", 1.0, "refuted"),
        ("G-F3", "composed", "upper", 2.0, "refuted"),  # a bracket too wide to tell
        ("G-F4", "fact_4", "corrected", -0.1, "refuted"),
        ("G-F4", "fact_4", "symmetric", -0.1, "refuted"),
        ("G-F4", "fact_4", "premise", -0.1, "verified"),
        ("G-F4", "fact_4", "printed", -0.1, "holds with correction"),
        ("G-F4", "fact_4", "corrected", math.nan, "refuted"),
    ],
)
def test_each_number_counts(ran, claim, name, column, value, verdict):
    own = {table: ran.names[table] for table in TABLES[claim]}
    assert settle(claim, **own | {name: own[name].assign(**{column: value})}).verdict == verdict


def test_the_other_verdicts(ran):
    own = {table: ran.names[table] for table in TABLES["G-F3"]}
    assert settle("G-F3", **own | {"groups": pd.Series({"mu": 0.01, "least": 0.0, "most": 0.0})}).verdict == "refuted"
    fine = {"fact_1": ran.names["fact_1"].assign(printed=0.0), "alone": p.Gap(0.0, 0.0)}
    assert settle("G-F1", **fine).verdict == "verified"


def test_the_page(ran):
    assert ran.verdicts == RECORDED
    np.testing.assert_allclose(ran.names["chained"], gaussian(ran.names["alpha"], mu=3.0))
    assert any("$\\delta = 0$ it does so by 0.303" in text for text in ran.said)  # e^{-1/2}/2
    assert (ran.names["fact_1"]["printed"] < -1e-6).tolist() == ran.names["fact_1"]["small"].tolist()
    # T(coin, heads) = max(0, 1 - 2 alpha); T(heads, coin) = (1 - alpha)/2.
    assert ran.names["smallest"].to_numpy().tolist() == [[0, 1, 0.5], [0.5, 0, 0.25], [1, 0, 0]]
    # In the figure of Fact 4 one order is a bound, the other none; in that of Fact 3 nothing is above G_mu.
    truth, bound, other = (part["beta"].to_numpy() for _, part in ran.names["of_fact_4"].groupby("curve", sort=False))
    assert (bound <= truth + 1e-12).all()
    assert (other > truth + 0.05).any()
    wide = ran.names["of_fact_3"].pivot(index="alpha", columns="curve", values="beta")
    assert wide.sub(wide[r"$G_\mu$, $\mu$ = 1"], axis=0).max().max() < 1e-12


PLANTED = (
    Planted(
        "G-E4",
        "notebooks.p02_hypothesis_testing",
        "return float(np.abs(P - Q).sum()) / 2",
        "return float(np.abs(P - Q).sum()) / 4",
        "total variation halved",
    ),
    Planted(
        "G-D3 G-F2 G-F4",
        "accountant.tradeoff",
        "order = np.argsort(-np.arctan2(q0, p0)",
        "order = np.argsort(np.arctan2(q0, p0)",
        "worst test in place of the best",
    ),
    Planted(
        "G-F1",
        "accountant.tradeoff",
        "shallow = math.exp(-eps) * (1 - delta - a)",
        "shallow = math.exp(-eps) * (1 - delta - a / 2)",
        "Fact 1's second line too flat",
    ),
    Planted("G-F3", "accountant.tradeoff", "ndtr(-ndtri(a) - check", "ndtr(-ndtri(a) - 2 * check", "G_mu with 2 mu"),
)

"""Page 06: distances of the counts from normal laws against enumeration, mpmath and theory; the cells of its claims."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pandas as pd
import pytest
import sympy as sp
from running import Planted, in_readings, recorded, run_page, settle
from scipy.stats import linregress, norm

PAGE = "06_normal_approximation"


class TestDistances:
    def test_they_are_what_the_page_enumerates(self, ran):
        """Two dimensions, user by user and square by square, against the sums over N and D; 30 users."""
        names, many = ran.names, ran.names["many_users"]
        assert [many.printed, many.total_variation] == pytest.approx(names["by_points"], abs=1e-9)
        assert many.largest_point == pytest.approx(abs(names["law"] - names["h_bar"]).max(), abs=1e-9)
        by_difference = [np.trace(names["law"], offset=d) for d in range(-30, 31)]
        d, sd = np.arange(-30, 31), math.sqrt(names["few"].sum())
        cell = norm.cdf((d + 0.5) / sd) - norm.cdf((d - 0.5) / sd)
        assert many.difference == pytest.approx(np.maximum(by_difference - cell, 0).sum(), abs=1e-12)

    def test_the_quadrature_of_a_cell_by_scipy(self, ran):
        at = (12, 9)
        below = [ranged(ran.names["normal"], *at, low) for low in (-0.5, 0)]
        assert [ran.names["h_bar"][at], ran.names["h"][at]] == pytest.approx(below, abs=1e-8)

    def test_a_large_one_in_mpmath(self, p):
        """One lattice point of 10^5 users against 30 digits."""
        m, chance, k = 100_000, 2 / (1 + math.exp(0.5)), 37_700
        with mpmath.workdps(30):
            q = mpmath.mpf(chance)
            exact = mpmath.binomial(m, 2 * k) * q ** (2 * k) * (1 - q) ** (m - 2 * k) * mpmath.binomial(2 * k, k) / 4**k
        even = next(p._blocks(chance, m))
        assert even.d[0] == 0
        assert even.law[even.c == 2 * k, 0] == pytest.approx(float(exact), rel=1e-10)

    def test_the_leading_term_by_another_quadrature(self, ran):
        # The exercise's, a grid in two dimensions, at the budget 0.5.
        found = ran.names["table"].query("eps0 == 0.5")
        assert (found["leading"] * np.sqrt(found["m"])).to_numpy() == pytest.approx(ran.names["constant"], rel=1e-4)


def ranged(law, a, b, low):
    return float(law.cdf([a + 0.5, b + 0.5], lower_limit=[a + low, b + low]))


def test_moving_p_keeps_one_expected_user(ran):
    table = ran.names["moving"]
    chance = 2 / (1 + np.exp(table["eps0"]))
    inside = np.where(table["p"] == "$1/m$", chance, 1 - chance) * table["m"].to_numpy()
    assert inside == pytest.approx([1.0] * len(table))


def made(power=-0.5, *, scale=0.2, printed=-1.0, printed_scale=1.0, sizes=(100, 1_000, 10_000)):
    """A distance table of power laws for two budgets."""
    table = pd.DataFrame({"eps0": np.repeat([0.5, 1.0], len(sizes)), "m": [*sizes] * 2})
    m = table["m"].astype(float)
    table = table.assign(total_variation=scale * m**power, leading=scale / np.sqrt(m), difference=1 / m)
    return table.assign(printed=printed_scale * m**printed, printed_mass=0.25, largest_point=0.1 / m, variance=100.0)


def lemma_2(table, *, seen=0.0, moving=0.0):
    """Its cell, with power laws also for the literal distance and for p that moves with m."""
    sizes = [100, 1_000, 10_000]
    rows = [
        (name, m, 1.0, 0.1 * m**moving, 0.1 * m ** (moving + 0.5)) for name in ("$1/m$", "$1 - 1/m$") for m in sizes
    ]
    return settle(
        "G-L2",
        table=table,
        sizes=sizes,
        seen=pd.DataFrame({"side": [float(m) ** seen for m in sizes]}, sizes),
        moving=pd.DataFrame(rows, columns=["p", "m", "eps0", "total_variation", "root"]),
        mixed=pd.DataFrame([("a crowd", 10_000, 0.002, 0.002)], columns=["people", "m", "total_variation", "leading"]),
    )


@pytest.mark.parametrize(
    ("table", "laws", "readings"),
    [
        (made(), {}, ["holds with correction", "refuted"]),
        (made(), {"moving": -0.5}, ["holds with correction", "holds with correction"]),
        (made(), {"seen": -0.5}, ["verified", "refuted"]),
        (made(), {"seen": -0.5, "moving": -0.5}, ["verified", "verified"]),
        (made(-0.4), {}, ["refuted", "refuted"]),
        (made(math.nan), {}, ["refuted", "refuted"]),
        (made(-1), {}, ["holds with correction", "refuted"]),  # faster is no harm
        (made().assign(variance=1.0), {}, ["not checkable", "not checkable"]),  # hardly a clone
    ],
)
def test_lemma_2(table, laws, readings):
    assert in_readings(lemma_2(table, **laws)) == [*readings, "verified"]


@pytest.mark.parametrize(
    ("table", "slow", "verdict"),
    [
        (made(-0.5, printed=-0.5, printed_scale=0.2), 0.03, "verified"),
        (made(), 0.03, "holds with correction"),
        (made().assign(printed=math.nan), 0.03, "holds with correction"),
        (made(), 0.5, "not checkable"),
    ],
)
def test_equation_14(table, slow, verdict):
    assert settle("G-E14", table=table, sizes=[100, 1_000, 10_000], slow=slow, fast=0.03).verdict == verdict


@pytest.mark.parametrize(
    ("power", "scale", "verdict"),
    [
        (-1.0, 1e-3, "verified"),
        (-0.91, 1e-4, "verified"),  # the registry's tolerance is 0.1
        (-0.89, 1e-4, "refuted"),
        (-1.0, 5.0, "holds with correction"),  # the rate is right, and the distance not negligible
        (-0.5, 1e-6, "refuted"),
        (-1.5, 1e-6, "refuted"),
        (math.nan, 1e-6, "refuted"),
    ],
)
def test_the_verdict_follows_rate_and_size(power, scale, verdict):
    found = settle("G-L2r", table=made(power, scale=scale), sizes=[100, 1_000, 10_000])
    assert found.verdict == verdict
    assert found.readings[1].excluded


def test_the_exponents_are_least_squares(ran):
    rates, part = ran.names["rates"], ran.names["at_eps0"]
    line = linregress(np.log10(part["m"]), np.log10(part["total_variation"]))
    found = rates[(rates["eps0"] == 0.5) & (rates["quantity"] == "total variation, unit cells")].iloc[0]
    assert found["exponent"] == pytest.approx(line.slope)
    # Student's t, 2 degrees of freedom: 4.302653.
    assert float(found["said"].split("± ")[1]) == pytest.approx(4.302653 * line.stderr, rel=0.5)


NUMBERS = pd.DataFrame({"population": [1, "all budgets 0"], "closed": 0.1, "square": 0.1})
NUMBERS = NUMBERS.assign(delta_normal=0.12, delta_closed=0.12)


@pytest.mark.parametrize(
    ("row", "column", "off", "entry", "verdict"),
    [
        (0, "square", 1, 0, "verified"),
        (0, "square", 1, sp.Symbol("x"), "refuted"),
        (0, "closed", 2, 0, "refuted"),  # Theorem 2's proof: half of p in the closed form
        (0, "delta_normal", 1.01, 0, "refuted"),
        (0, "delta_normal", math.nan, 0, "refuted"),
        (1, "square", 2, 0, "holds with correction"),  # where there is no inverse
    ],
)
def test_lemma_3(row, column, off, entry, verdict):
    numbers = NUMBERS.copy()
    numbers.loc[row, column] *= off
    found = settle("G-L3", numbers=numbers, differences={"inverse": sp.Matrix([0, entry])})
    assert found.verdict == verdict


def test_the_page(ran):
    assert ran.verdicts == recorded(PAGE)
    # 1 - 1/64^2: the cells of side 1/64 have that share of the normal mass.
    assert ran.names["literal"].min() == pytest.approx(1 - 1 / 64**2, abs=1e-8)
    assert any(said.startswith("**Result.**") for said in ran.said)


def test_a_run_that_does_not_cover_the_figure_settles_nothing_about_rates():
    ran = run_page(PAGE, m_max=2_000, points=3)
    assert {name for name, one in ran.outcomes.items() if one.missing} == {"G-L2", "G-L2r"}


_HELPER, _CELLS = "notebooks.p06_normal_approximation", "notebooks.06_normal_approximation"
PLANTED = (
    Planted(
        "G-L2", _HELPER, "a - b), 0, math.sqrt(self.mean))", "a - b), 0, math.sqrt(2 * self.mean))", "Var D doubled"
    ),
    Planted(
        "G-L2 G-E14", _HELPER, "block.cells(-0.5, 0.5), ", "block.cells(0, 0.5), ", "the cells of (14) for unit cells"
    ),
    Planted("G-E14", _HELPER, "Distances(total, printed,", "Distances(total, total,", "half a sum for the supremum"),
    Planted(
        "G-E14", _CELLS, "for low in (0, -0.5)", "for low in (-0.5, 0)", "the quarter cells of (14) for the whole ones"
    ),
    Planted(
        "G-L2r",
        _HELPER,
        "return Distances(total,",
        "return Distances(total / math.sqrt(block.mean),",
        "total variation over sqrt(m)",
    ),
    Planted("G-L3", _CELLS, "np.diag([p_i.sum() / 2] * 2)", "np.diag([p_i.sum()] * 2)", "each report twice as likely"),
    Planted("G-L3", _CELLS, "e1 * e1.T) - mean", "e1 * e1.T) + mean", "the mean added instead of taken away"),
)

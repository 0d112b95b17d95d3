"""Page 06: distances of the counts from normal laws against mpmath, enumeration and theory; Lemma 3; the checks."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import numpy as np
import pandas as pd
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from running import Planted, run_page
from scipy.stats import multivariate_normal, norm

from gspa.accountant import discrete
from gspa.pages import p06_normal_approximation as p

PAGE = "06_normal_approximation"


@pytest.fixture(scope="module")
def small():
    """12 users: the trinomial's masses, and scipy's bivariate normal on both kinds of cells, at each point."""
    m, chance = 12, 0.6
    law = multivariate_normal([m * chance / 2] * 2, p.covariance(chance, count=m), abseps=1e-9)
    points = [(a, b) for a in range(m + 1) for b in range(m + 1 - a)]
    mass = [
        math.comb(m, a) * math.comb(m - a, b) * (chance / 2) ** (a + b) * (1 - chance) ** (m - a - b) for a, b in points
    ]
    near, beside = (
        [float(law.cdf([a + 0.5, b + 0.5], lower_limit=[a + low, b + low])) for a, b in points] for low in (-0.5, 0)
    )
    return p.distances(chance, count=m), points, np.array(mass), np.array(near), np.array(beside)


class TestDistances:
    def test_they_are_what_enumeration_gives(self, small):
        found, _, mass, near, beside = small
        # What the normal law has off the simplex is one more outcome.
        wanted = discrete.total_variation([*mass, 0.0], [*near, 1 - near.sum()])
        assert found.total_variation == pytest.approx(wanted, abs=2e-8)
        assert found.largest_point == pytest.approx(np.abs(mass - near).max(), abs=1e-8)
        assert found.printed == pytest.approx(np.abs(mass - beside).max(), abs=1e-8)

    def test_the_difference_alone(self, small):
        found, points, mass, _, _ = small
        apart = np.zeros(25)
        for (a, b), one in zip(points, mass, strict=True):
            apart[a - b + 12] += one
        d, sd = np.arange(-12, 13), math.sqrt(12 * 0.6)
        cells = norm.cdf((d + 0.5) / sd) - norm.cdf((d - 0.5) / sd)
        assert found.difference == pytest.approx(np.maximum(apart - cells, 0).sum(), abs=1e-12)

    def test_own_budgets_by_convolution(self):
        """The page's own cell, user by user, against the sum over counts."""
        names = run_page(PAGE).names
        assert names["slow"] == pytest.approx(names["fast"], abs=1e-9)
        assert p.distances([0.2, 0.5, 0.9], count=10).total_variation == pytest.approx(names["fast"], rel=1e-9)

    def test_a_large_one_in_mpmath(self):
        """One lattice point of 10^5 users against 30 digits."""
        m, chance, k = 100_000, float(p.clone_probability(0.5)), 37_700
        with mpmath.workdps(30):
            q = mpmath.mpf(chance)
            exact = mpmath.binomial(m, 2 * k) * q ** (2 * k) * (1 - q) ** (m - 2 * k) * mpmath.binomial(2 * k, k) / 4**k
        found = [
            float(law[int((2 * k - rows[0]) / 2), 0])
            for rows, columns, law, _ in p._blocks(p._lattice(chance, m))
            if columns[0] == 0 and rows[0] <= 2 * k <= rows[-1]
        ]
        assert found == [pytest.approx(float(exact), rel=1e-10)]

    @pytest.mark.parametrize("eps0", [0.1, 1.0, 4.0])
    def test_the_leading_term_is_the_limit(self, eps0):
        found = [p.distances(p.clone_probability(eps0), count=m) for m in (1_000, 100_000)]
        gaps = [abs(near.total_variation / near.leading - 1) for near in found]
        assert gaps[1] < 2e-4
        assert gaps[1] < gaps[0] / 10  # the rest is O(1/m), beside a term of order m^-1/2

    def test_the_leading_term_in_closed_form(self):
        # p = 1/2: a = 0, and E|Z| E|Z^2 - 1| = sqrt(2/pi) * 4 phi(1).
        b = math.sqrt(100 / 4) / (2 * 50)
        wanted = 0.5 * b * math.sqrt(2 / math.pi) * 4 * norm.pdf(1)
        assert p.leading_term(0.5, count=100) == pytest.approx(wanted, rel=1e-6)

    def test_smaller_cells_show_more(self):
        seen = [p.seen_with_cells(0.7, count=200, side=side) for side in (1.0, 0.5, 0.25, 1 / 32)]
        assert seen[0] == pytest.approx(p.distances(0.7, count=200).total_variation, abs=1e-12)
        assert all(a < b for a, b in pairwise(seen))
        # Cells of side s have s^2 of the normal mass, nearly.
        assert seen[-1] == pytest.approx(1 - 1 / 32**2, abs=1e-6)

    @given(st.floats(0.05, 0.95), st.integers(20, 400))
    @settings(max_examples=15)
    def test_bounds_that_hold_for_any_p(self, chance, m):
        found = p.distances(chance, count=m)
        assert 0 < found.largest_point <= found.total_variation < 1
        assert 0.2 < found.printed_mass < 0.26


def made(power=-0.5, *, scale=0.2, printed=-1.0, printed_scale=1.0, wobble=0.0, sizes=(100, 1_000, 10_000)):
    """A distance table of power laws for two budgets, every second total variation off by `wobble`."""
    rows = []
    for eps in (0.5, 1.0):
        for i, m in enumerate(sizes):
            rows.append({"eps0": eps, "m": m, "total_variation": scale * m**power * (1 + wobble * (i % 2))})
            rows[-1] |= {"leading": scale / np.sqrt(m), "printed": printed_scale * m**printed, "printed_mass": 0.25}
            rows[-1] |= {"largest_point": 0.1 / m, "difference": 1 / m}
    return pd.DataFrame(rows)


class TestTables:
    @pytest.mark.parametrize("power", [-0.5, -1.0, -0.8])
    def test_rates_of_power_laws(self, power):
        found = p.rates(made(power, printed_scale=2.0)).set_index(["eps0", "key"]).loc[0.5]
        assert found.loc["total_variation", "exponent"] == pytest.approx(power)
        assert found.loc["total_variation", "half_width"] < 1e-6
        assert found.loc["printed", "constant"] == pytest.approx(2.0)
        if power == -0.5:  # the power that is nearer
            assert found.loc["total_variation", "constant"] == pytest.approx(0.2)

    def test_the_interval_of_the_fit_by_numpy(self):
        table = made(wobble=0.2, sizes=(100, 1_000, 10_000, 100_000))
        found = p.rates(table).iloc[0]
        x, y = (np.log(table[key].to_numpy()[:4]) for key in ("m", "total_variation"))
        line, spread = np.polyfit(x, y, 1, cov="unscaled")
        error = math.sqrt(spread[0, 0] * float(((y - np.polyval(line, x)) ** 2).sum()) / 2)
        assert found["exponent"] == pytest.approx(line[0])
        assert found["half_width"] == pytest.approx(4.302653 * error, rel=1e-6)  # Student's t, 2 degrees of freedom

    def test_measured_rates(self):
        table = p.distance_table(eps0=(0.5, 2.0), sizes=p.sizes_between(1_000, 30_000, 3))
        found = p.rates(table).pivot(index="eps0", columns="key", values="exponent")
        for key, wanted in {"total_variation": -0.5, "printed": -1, "difference": -1}.items():
            assert found[key].to_numpy() == pytest.approx([wanted] * 2, abs=0.003)

    def test_moving_p_keeps_one_expected_user(self):
        table = p.moving_table(sizes=(100, 1_000))
        chance = p.clone_probability(table["eps0"].to_numpy())
        inside = np.where(table["p"] == "$1/m$", chance, 1 - chance) * table["m"]
        assert inside.to_numpy() == pytest.approx([1.0] * 4)
        assert (table["total_variation"] > 0.1).all()

    def test_mixed_populations(self):
        mixed = p.mixed_table(m=5_001)
        assert mixed["total_variation"].to_numpy() == pytest.approx(mixed["leading"].to_numpy(), rel=0.005)

    def test_lemma3_numbers(self):
        table = p.lemma3_numbers(draws=3, users=40, seed=7)
        assert table["square"].to_numpy() == pytest.approx(table["closed"].to_numpy(), rel=1e-9)
        assert table["delta_normal"].to_numpy() == pytest.approx(table["delta_closed"].to_numpy(), rel=1e-4)
        assert len(table) == 4
        assert table["closed"].iloc[-1] == pytest.approx(4 / 40)
        assert table.equals(p.lemma3_numbers(draws=3, users=40, seed=7))

    def test_the_figure_draws_its_lines(self):
        table = p.distance_table(eps0=(0.5,), sizes=(100, 1_000))
        (axis,) = p.distance_curves(table, delta=1e-4).axes
        assert len(axis.get_lines()) == 5  # leading term, three distances, delta
        assert list(axis.get_lines()[1].get_ydata()) == table["total_variation"].to_list()
        plt.close("all")


def lemma_2(table, *, seen=0.0, moving=0.0):
    """Its check, the literal distance and that of p moving with m power laws too."""
    sizes = (100, 1_000, 10_000)
    seen_rows = pd.DataFrame([(m, side, m**seen) for m in sizes for side in (1, 0.1)], columns=["m", "side", "seen"])
    rows = [(name, m, 1.0, 0.1 * m**moving, 0.0) for name in ("$1/m$", "$1 - 1/m$") for m in sizes]
    moving_rows = pd.DataFrame(rows, columns=["p", "m", "eps0", "total_variation", "times_root"])
    mixed = pd.DataFrame([("a crowd", 10_000, 0.002, 0.002)], columns=["people", "m", "total_variation", "leading"])
    return p.berry_esseen(table, seen_rows, moving_rows, mixed)


def rate(table, delta=1e-4):
    return p.rate(table, p.rates(table), delta)


@pytest.mark.parametrize("check", [lemma_2, rate])
@pytest.mark.parametrize("sizes", [(100, 1_000, 9_999), (1_001, 5_000, 10_000), (1_000, 1_000, 10_000)])
def test_a_run_that_does_not_cover_the_figure_settles_nothing(check, sizes):
    found = check(made(-1, scale=1e-3, sizes=sizes))
    assert (found.verdict, found.missing) == ("not yet checked", "size")


class TestLemma2:
    @pytest.mark.parametrize(
        ("table", "laws", "verdict"),
        [
            (made(), {"seen": -0.5}, "verified"),
            (made(-0.4), {}, "refuted"),
            (made(0.0), {}, "refuted"),
            (made(-1), {}, "holds with correction"),  # faster is no harm
        ],
    )
    def test_each_verdict(self, table, laws, verdict):
        assert lemma_2(table, **laws).verdict == verdict

    def test_one_constant_for_all_is_said_if_there_is_one(self):
        assert "no one $C$" not in lemma_2(made(), moving=-0.5).correction
        assert "no one $C$" in lemma_2(made()).correction

    def test_few_clones_only_settle_nothing(self):
        assert lemma_2(made().assign(eps0=30.0)).missing == "size"

    def test_the_readings_of_its_constant(self):
        assert [one.verdict for one in lemma_2(made()).readings] == ["holds with correction", "refuted", "verified"]
        assert [one.verdict for one in lemma_2(made(), moving=-0.5).readings][1] == "holds with correction"
        assert lemma_2(made()).agreeing == "in 1 of 2 readings"


class TestEquation14:
    @pytest.mark.parametrize(
        ("table", "slow", "verdict"),
        [
            (made(-0.5, printed=-0.5, printed_scale=0.2), 0.03, "verified"),
            (made(), 0.03, "holds with correction"),
            (made(), 0.5, "not checkable"),  # two evaluations that disagree prove nothing
        ],
    )
    def test_each_verdict(self, table, slow, verdict):
        assert p.supremum_over_points(table, (slow, 0.03)).verdict == verdict


class TestRate:
    @pytest.mark.parametrize(
        ("power", "scale", "delta", "verdict"),
        [
            (-1.0, 1e-3, 1e-4, "verified"),
            (-1.0, 1e-3, 1e-9, "holds with correction"),  # delta decides what is negligible
            (-0.91, 1e-4, 1e-4, "verified"),  # the registry's tolerance is 0.1
            (-0.89, 1e-4, 1e-4, "refuted"),
            (-1.0, 5.0, 1e-4, "holds with correction"),  # the rate is right, and the distance not negligible
            (-0.5, 1e-6, 1e-4, "refuted"),
            (-1.5, 1e-6, 1e-4, "refuted"),
        ],
    )
    def test_the_verdict_follows_rate_and_size(self, power, scale, delta, verdict):
        assert rate(made(power, scale=scale), delta).verdict == verdict

    def test_eq_14_is_no_reading_of_it(self):
        found = rate(made())
        assert [(one.verdict, bool(one.excluded)) for one in found.readings] == [
            ("refuted", False),
            ("verified" if made()["printed"].iloc[2] < 1e-5 else "holds with correction", True),
        ]


class TestLemma3:
    @staticmethod
    def verdict(numbers, **symbols):
        right = {"covariance": [0] * 4, "inverse": [0] * 4, "square": [0], "determinant": "v_1*(v_1 - v_2)/4"}
        return p.normal_pair(right | symbols, numbers, (1.0, 1.0, 2.0)).verdict

    def test_each_verdict(self):
        numbers = p.lemma3_numbers(draws=2, users=20, seed=1)
        assert self.verdict(numbers) == "verified"
        assert self.verdict(numbers, inverse=sp.Matrix([[0, sp.Symbol("x")], [0, 0]])) == "refuted"
        # Theorem 2's proof: half of p in the closed form, against the right covariance.
        assert self.verdict(numbers.assign(closed=2 * numbers["closed"])) == "refuted"
        assert self.verdict(numbers.assign(delta_normal=1.01 * numbers["delta_normal"])) == "refuted"
        # A failure where there is no inverse is a correction.
        numbers = numbers.copy()
        numbers.loc[len(numbers) - 1, "square"] *= 2
        assert self.verdict(numbers) == "holds with correction"


def test_the_page():
    found = run_page(PAGE).outcomes
    assert {name: one.verdict for name, one in found.items()} == {
        "G-L2": "holds with correction",
        "G-E14": "holds with correction",
        "G-L2r": "refuted",
        "G-L3": "verified",
    }
    shown = found["G-L2"].evidence
    assert shown["$p$ = $1/m$: TV at $m$ = 100 and 10,000"] == "0.253, 0.255"
    assert next(iter(shown.values())) == "0.99976"  # 1 - 1/64^2
    assert "19 to 46 times" in found["G-E14"].reason
    assert "never below 17 times" in found["G-L2r"].reason
    assert found["G-L3"].evidence["$\\det \\Sigma$"] == "$v_1 (v_1 - v_2)/4$"


PLANTED = (
    Planted(
        "G-L2",
        "pages.p06_normal_approximation",
        "across = _density(columns[:, None] + (a - b), lattice.mean)",
        "across = _density(columns[:, None] + (a - b), 2 * lattice.mean)",
        "Var D doubled",
    ),
    Planted(
        "G-L2 G-E14",
        "pages.p06_normal_approximation",
        "near = _cells(lattice, rows, columns, -0.5, 0.5)",
        "near = _cells(lattice, rows, columns, 0.0, 0.5)",
        "the cells of eq. (14) for the unit cells",
    ),
    Planted(
        "G-E14",
        "pages.p06_normal_approximation",
        "    return Distances(total, leading_term(p, count=count), printed,",
        "    return Distances(total, leading_term(p, count=count), total,",
        "half a sum in place of the supremum",
    ),
    Planted(
        "G-L2r",
        "pages.p06_normal_approximation",
        "    return Distances(total, leading_term",
        "    return Distances(total / math.sqrt(lattice.mean), leading_term",
        "total variation over sqrt(m)",
    ),
    Planted(
        "G-L3",
        "pages.p06_normal_approximation",
        "    return np.array([[half - square, -square], [-square, half - square]])",
        "    return np.array([[half - square, square], [square, half - square]])",
        "counts that rise together",
    ),
)

"""Figure 2's tables against formulas written out here, and their slopes and ratios on made-up numbers."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from gspa import bounds, budgets, comparison
from gspa.accountant import central_epsilon
from gspa.errors import InvalidValue
from gspa.tradeoff import gdp_epsilon

COLUMNS = ["distribution", "population", "n", "mu", "key", "bound", "epsilon", "valid", "note", "families"]


@pytest.fixture(scope="module")
def table():
    return comparison.figure2(steps=4, seed=3)


def row(table, distribution, n, key):
    found = table[(table["distribution"] == distribution) & (table["n"] == n) & (table["key"] == key)]
    assert len(found) == 1
    return found.iloc[0]


class TestSizes:
    def test_of_the_figure(self):
        assert comparison.sizes(1_000, 10_000, 37) == list(range(1_000, 10_001, 250))

    @given(st.integers(2, 10**6), st.integers(1, 10**6), st.integers(2, 200))
    def test_increase_from_end_to_end_by_equal_steps(self, low, width, steps):
        found = comparison.sizes(low, low + width, steps)
        assert found[0] == low
        assert found[-1] == low + width
        assert len(found) == min(steps, len(set(found)))
        gaps = np.diff(found)
        assert gaps.min() >= 1
        if steps <= width + 1:
            assert len(found) == steps
            assert np.abs(gaps - width / (steps - 1)).max() <= 1  # rounding moves an end by at most 1/2

    @pytest.mark.parametrize("arguments", [(1, 10, 2), (10, 10, 2), (10, 9, 2), (10, 20, 1), (10, 20.5, 2)])
    def test_impossible_ones_are_refused(self, arguments):
        with pytest.raises(InvalidValue, match=r"n_min|n_max|steps"):
            comparison.sizes(*arguments)


class TestFigure2:
    def test_is_complete(self, table):
        assert list(table.columns) == COLUMNS
        assert len(table) == len(budgets.TABLE2) * 4 * len(bounds.CATALOGUE)
        assert not table.duplicated(["distribution", "n", "key"]).any()
        for key, families in table.groupby("key")["families"].unique().items():
            assert len(families) == 1
            assert set(families[0].split(", ")) == bounds.CATALOGUE[key].families
        assert sorted(table["n"].unique()) == [1_000, 4_000, 7_000, 10_000]
        assert set(table["key"]) == set(bounds.CATALOGUE)
        assert list(table["population"].unique()) == [
            "Unif 1: U(0.01, 1)",
            "Unif 2: U(0.01, 2)",
            "Constant: 0.5",
            "Mixed Constant: 50% 0.5 + 50% 0.01",
        ]

    def test_a_refusal_has_no_number_but_a_reason(self, table):
        assert (table["epsilon"].notna() == table["valid"]).all()
        refused = table[~table["valid"]]
        assert (refused["note"].str.len() > 10).all()
        # Erlingsson et al. 2019 is stated for eps0 <= 1/2 only.
        assert set(refused.loc[refused["n"] == 10_000, "distribution"]) == {"unif1", "unif2"}
        assert set(refused.loc[refused["n"] == 10_000, "key"]) == {"erlingsson19"}

    @pytest.mark.parametrize("n", [1_000, 4_000, 10_000])
    def test_constant_budgets_by_hand(self, table, n):
        # Theorem 2: mu = sqrt(2/((n-1) r)), r = 1/(1+e^eps); eps where the GDP curve (Fact 3) crosses delta.
        mu = math.sqrt(2 * (1 + math.exp(0.5)) / (n - 1))

        def curve(eps):
            return stats.norm.cdf(-eps / mu + mu / 2) - math.exp(eps) * stats.norm.cdf(-eps / mu - mu / 2) - 1e-4

        ours = row(table, "constant", n, "gspa")
        assert ours["mu"] == pytest.approx(mu, rel=1e-12)
        assert ours["epsilon"] == pytest.approx(optimize.brentq(curve, 0, 5, xtol=1e-14), rel=1e-9)
        growth = math.exp(0.5) / n
        fmt21 = math.log1p(math.tanh(0.25) * (8 * math.sqrt(growth * math.log(4e4)) + 8 * growth))
        assert row(table, "constant", n, "fmt21")["epsilon"] == pytest.approx(fmt21, rel=1e-12)
        if n > 1_000:
            erlingsson19 = 12 * 0.5 * math.sqrt(math.log(1e4) / n)
            assert row(table, "constant", n, "erlingsson19")["epsilon"] == pytest.approx(erlingsson19, rel=1e-12)

    @pytest.mark.parametrize("n", [1_000, 10_000])
    def test_populations_of_one_largest_eps_share_the_bounds_for_a_common_one(self, table, n):
        pair = {
            f"{key}_numerical": central_epsilon(budgets.constant(0.5, n=n), delta=1e-4, mechanism=mechanism).upper
            for key, mechanism in (("fmt21", "common"), ("fmt23", "rr"))
        }
        pair["girgis21"] = bounds.girgis21_epsilon(0.5, n=n, delta=1e-4)
        pair["blanket_rr"] = bounds.blanket_epsilon(0.5, n=n, delta=1e-4, form="hoeffding", randomizer="krr")
        for key, value in pair.items():
            assert row(table, "constant", n, key)["epsilon"] == value
            assert row(table, "mixed", n, key)["epsilon"] == value
            assert row(table, "unif2", n, key)["epsilon"] > value
        assert row(table, "mixed", n, "girgis21")["note"] == "given the largest eps_i, 0.5, as the common eps0"

    def test_mixed_budgets_by_hand(self, table):
        half = 2_000
        r = [1 / (1 + math.exp(0.5)), 1 / (1 + math.exp(0.01))]
        mu = math.sqrt(2 / (half * r[0] + (half - 1) * r[1]))
        assert row(table, "mixed", 4_000, "gspa")["mu"] == pytest.approx(mu, rel=1e-12)

    def test_the_same_seed_gives_the_same_table(self, table):
        pd.testing.assert_frame_equal(comparison.figure2(steps=4, seed=3), table, check_exact=True)

    def test_the_seed_matters_to_the_uniform_laws_only(self, table):
        other = comparison.figure2(steps=4, seed=4)
        differ = (other["mu"] != table["mu"]).groupby(table["distribution"]).agg(["all", "any"])
        assert differ.loc[["unif1", "unif2"]].all(axis=None)
        assert not differ.loc[["constant", "mixed"]].any(axis=None)

    def test_the_first_thousand_budgets_are_repeated(self, table):
        # With 1,000 budgets repeated k times, 2/mu^2 + max r = sum r is k times that of the first thousand.
        for name in budgets.TABLE2:
            first, fourth, seventh = (2 / row(table, name, n, "gspa")["mu"] ** 2 for n in (1_000, 4_000, 7_000))
            # The largest r, from two of the sizes; it belongs to an eps in [0.01, 0.5] in each of the laws.
            m = (fourth - 4 * first) / 3
            assert 1 / (1 + math.exp(0.5)) - 1e-9 <= m <= 1 / (1 + math.exp(0.01)) + 1e-9
            assert seventh + m == pytest.approx(7 * (first + m), rel=1e-9)

    def test_fresh_draws_are_not_repetitions(self):
        fresh = comparison.figure2(steps=4, seed=3, repeat_first=False)
        assert len(fresh) == len(budgets.TABLE2) * 4 * len(bounds.CATALOGUE)
        first, fourth = (2 / row(fresh, "unif2", n, "gspa")["mu"] ** 2 for n in (1_000, 4_000))
        m = (fourth - 4 * first) / 3
        assert not 0.3 < m < 0.5  # what a repetition would give, as above
        # Another draw of the same law all the same: sum r/n has a standard error of 0.0036 at n = 1,000.
        assert fourth / 4_000 == pytest.approx(first / 1_000, abs=0.02)

    def test_more_users_hide_better_and_a_smaller_delta_costs(self, table):
        for _, line in table[table["valid"]].groupby(["distribution", "key"]):
            assert (np.diff(line.sort_values("n")["epsilon"]) < 0).all()
        smaller = comparison.figure2(steps=4, seed=3, delta=1e-6)
        both = table.merge(smaller, on=["distribution", "n", "key"], suffixes=("", "_smaller"))
        both = both[both["valid"] & both["valid_smaller"]]
        assert len(both) > 20
        assert (both["epsilon_smaller"] > both["epsilon"]).all()
        assert (both["mu_smaller"] == both["mu"]).all()

    def test_a_wrong_delta_is_refused(self):
        with pytest.raises(InvalidValue, match="delta"):
            comparison.figure2(steps=2, delta=0)


def made_up(*lines, families=None):
    """Rows (distribution, n, key, epsilon[, valid]) as a table; mu is 3 n^-0.7; families by key, else common."""
    of = families or {}
    rows = [
        (
            *(name, f"P {name}", n, 3 * n**-0.7, key, key.upper(), epsilon, valid[0] if valid else True, ""),
            of.get(key, "common"),
        )
        for name, n, key, epsilon, *valid in lines
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


class TestSlopes:
    @given(st.floats(-2, 2), st.floats(1e-3, 1e3))
    def test_of_a_power_law_are_its_exponent(self, power, factor):
        ns = [1_000, 2_500, 7_000, 10_000]
        table = made_up(*(("a", n, "gspa", factor * n**power) for n in ns))
        found = comparison.slopes(table).iloc[0]
        # Ten digits lost of sixteen would still show: logs near 9 over a span of 2.3.
        assert found["epsilon_slope"] == pytest.approx(power, abs=1e-10)
        assert found["mu_slope"] == pytest.approx(-0.7, abs=1e-10)

    def test_are_the_least_squares_ones(self):
        rng = np.random.default_rng(0)
        ns, eps = np.arange(1_000, 10_001, 1_000), rng.uniform(0.1, 1, 10)
        table = made_up(*(("a", int(n), "gspa", e) for n, e in zip(ns, eps, strict=True)))
        expected = stats.linregress(np.log(ns), np.log(eps)).slope
        assert comparison.slopes(table)["epsilon_slope"][0] == pytest.approx(expected, abs=1e-10)

    def test_are_of_the_papers_bound_for_each_population(self):
        ns = [1_000, 10_000]
        table = made_up(
            *(("b", n, "gspa", n**-1.0) for n in ns),
            *(("a", n, "gspa", n**-0.5) for n in ns),
            *(("a", n, "fmt21", n**7.0) for n in ns),
        )
        found = comparison.slopes(table)
        assert found["population"].tolist() == ["P b", "P a"]
        assert found["epsilon_slope"].tolist() == pytest.approx([-1, -0.5], abs=1e-10)


def test_ratios_of_a_hand_made_table():
    table = made_up(
        ("a", 10, "gspa", 1.0),
        ("a", 10, "fmt21", 4.0),
        ("a", 10, "erlingsson19", np.nan, False),
        ("a", 20, "gspa", 3.0),
        ("a", 20, "fmt21", 2.0),
        ("b", 10, "gspa", 10.0),
        ("b", 10, "fmt21", 20.0),
        ("b", 10, "erlingsson19", 5.0, False),  # a number that its own conditions disown
        ("b", 20, "gspa", 1.0),
    )
    found = comparison.ratios(table)
    assert list(found.columns) == ["population", "n", "key", "bound", "ratio"]
    assert found.to_numpy().tolist() == [
        ["P a", 10, "fmt21", "FMT21", 0.25],
        ["P a", 20, "fmt21", "FMT21", 1.5],
        ["P b", 10, "fmt21", "FMT21", 0.5],
    ]


@pytest.mark.parametrize(
    ("key", "families", "compared"),
    [
        ("new", "common", True),
        ("new", "rr", True),
        ("new", "laplace, rr", True),
        ("new", "krr", False),  # not "rr", though it ends so
        ("new", "laplace", False),
        ("new", "clip_laplace, krr", False),
        ("liu23", "clip_laplace", True),  # the paper's own baselines count for whatever they are
        ("fmt21", "laplace", True),
        ("erlingsson19", "krr", True),
    ],
)
def test_ratios_are_with_bounds_for_the_same_randomizers_and_the_papers_baselines(key, families, compared):
    table = made_up(("a", 10, "gspa", 1.0), ("a", 10, key, 4.0), families={"gspa": "rr", key: families})
    assert comparison.ratios(table)[["key", "ratio"]].to_numpy().tolist() == ([[key, 0.25]] if compared else [])


def test_ratios_of_the_packages_own_figure_leave_out_other_randomizers(table):
    left_out = set(bounds.CATALOGUE) - set(comparison.ratios(table)["key"])
    assert left_out == {"gspa", "blanket_laplace"}


def test_ratios_without_another_bound_are_an_empty_table():
    assert comparison.ratios(made_up(("a", 10, "gspa", 1.0))).empty


class TestCertifiedPair:
    def test_is_the_accountants_answer_at_the_figures_points(self):
        table = comparison.certified_pair(n_min=1000, n_max=2000, steps=2, delta=1e-5, seed=3)
        figure = comparison.figure2(n_min=1000, n_max=2000, steps=2, delta=1e-5, seed=3)
        points = figure[["distribution", "population", "n"]].drop_duplicates().reset_index(drop=True)
        pd.testing.assert_frame_equal(table[["distribution", "population", "n"]], points)
        constant = table[(table["distribution"] == "constant") & (table["n"] == 2000)].iloc[0]
        exact = central_epsilon(budgets.constant(0.5, n=2000), delta=1e-5)
        assert (constant["lower"], constant["epsilon"]) == (exact.lower, exact.upper)
        assert (table["lower"] <= table["epsilon"]).all()

    def test_smaller_budgets_beside_the_largest_help_it_against_the_common_bound(self):
        # The pair knows every budget; the published numerical form is given the largest one for all.
        table = comparison.certified_pair(n_min=1000, n_max=2000, steps=2)
        figure = comparison.figure2(n_min=1000, n_max=2000, steps=2)
        numerical = figure[figure["key"] == "fmt23_numerical"].set_index(["distribution", "n"])["epsilon"]
        pair = table.set_index(["distribution", "n"])["epsilon"]
        for name in ("unif1", "unif2", "mixed"):
            assert (pair[name] < numerical[name]).all()
        np.testing.assert_allclose(pair["constant"], numerical["constant"], rtol=1e-6)

    def test_the_tanh_limit_is_near_it_on_the_whole_figure(self):
        # mu_tanh = tanh(eps_n/2) sqrt(2/sum of the others' r_j) is a Gaussian limit, not a bound: 0.3 percent.
        for name, law in budgets.TABLE2.items():
            for n in (1_000, 3_000, 10_000):
                people = budgets.draw(name, n=n, rng=7)
                r = np.repeat(bounds.clone_probabilities(people), people.count)
                mu = math.tanh(people.eps_max / 2) * math.sqrt(2 / (r.sum() - r.min()))
                limit = gdp_epsilon(delta=1e-4, mu=mu)
                exact = central_epsilon(people, delta=1e-4)
                assert limit == pytest.approx(exact.value, rel=3e-3), (name, law.label, n)


class TestDrawn:
    def test_where_the_papers_baselines_exist(self, table):
        found = comparison.drawn(table).set_index(["key", "population"])
        assert len(found) == 16
        # Erlingsson et al. need eps0 <= 1/2 and n >= 144 log(1e4) = 1327; FMT21 fails for U(0.01, 2) at 1,000.
        erlingsson19 = found.loc["erlingsson19"]["exist"].to_dict()
        assert [erlingsson19[name] for name in table["population"].unique()] == [0, 0, 3, 3]
        assert found.loc[("erlingsson19", "Constant: 0.5"), "from_n"] == 4_000
        assert found.loc[("fmt21", "Unif 2: U(0.01, 2)")][["exist", "from_n"]].tolist() == [3, 4_000]
        assert "needs eps0" in found.loc[("fmt21", "Unif 2: U(0.01, 2)"), "why"]
        assert (found.loc["gspa"]["exist"] == 4).all()
        assert found["falls"].all()

    def test_a_curve_that_rises_is_noticed(self, table):
        bent = table.copy()
        one = (bent["key"] == "gspa") & (bent["distribution"] == "constant") & (bent["n"] == 10_000)
        bent.loc[one, "epsilon"] = 9.0
        found = comparison.drawn(bent)
        assert found.loc[~found["falls"], ["key", "population"]].to_numpy().tolist() == [["gspa", "Constant: 0.5"]]


class TestReductions:
    RATIOS = pd.DataFrame(
        {
            "population": ["a", "a", "a", "b"],
            "n": [10, 20, 30, 20],
            "key": ["fmt21", "fmt21", "fmt21", "new"],
            "bound": ["FMT21", "FMT21", "FMT21", "New"],
            "ratio": [0.9, 0.6, 0.7, 2.0],
        }
    )

    def test_by_hand(self):
        (row,) = comparison.reductions(self.RATIOS).to_dict("records")
        assert (row["population"], row["bound"], row["points"], row["least_at"]) == ("a", "FMT21", 3, 10)
        assert [row["least"], row["most"], row["at_last"]] == pytest.approx([10, 40, 30])
        assert comparison.reductions(self.RATIOS.iloc[3:]).empty

    @pytest.mark.parametrize(("percent", "n"), [(5, 10), (10.1, 20), (25, 20), (35, math.nan), (50, math.nan)])
    def test_from_where_on(self, percent, n):
        assert comparison.reached_from(self.RATIOS, percent=percent) == pytest.approx(n, nan_ok=True)

    def test_without_a_baseline(self):
        assert math.isnan(comparison.reached_from(self.RATIOS.iloc[3:], percent=1))
        with pytest.raises(InvalidValue, match="percent"):
            comparison.reached_from(self.RATIOS, percent=101)


class TestExtremes:
    def test_by_hand(self):
        table = comparison.extremes(budgets_near_zero=[0.1, 0.0], n=2_000, delta=1e-4).set_index(["crowd", "budget"])
        for eps in (0.1, 0.0):
            row = table.loc[("all", eps)]
            mu = math.sqrt(2 * (1 + math.exp(eps)) / 1_999)
            assert row["paper"] == pytest.approx(gdp_epsilon(delta=1e-4, mu=mu), rel=1e-9)
            echoes, log = 1_999 * math.exp(-eps), math.log(4e4)
            assert row["echoes"] == pytest.approx(echoes)
            spread = 8 * (math.sqrt(log / echoes) + 1 / echoes)
            assert row["liu23"] == pytest.approx(math.log1p(math.tanh(eps / 2) * spread), rel=1e-9)
            assert row["needed"] == pytest.approx(16 * log)
            assert row["own"] == row["certified"]
        half = table.loc[("half at 0.5", 0.0)]
        assert (half["largest"], half["own"]) == (0.5, 0.0)
        assert 0 < half["certified"] < half["paper"] < half["liu23"]

    def test_a_refusal_is_no_number(self):
        table = comparison.extremes(budgets_near_zero=[0.0], n=50, delta=1e-4)
        assert table["liu23"].isna().all()
        assert (table["echoes"] < table["needed"]).all()

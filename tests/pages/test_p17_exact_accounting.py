"""Page 17: its tables are what the accountant says and mean what they claim; the blanket's limit against closed forms,
brute force and the engine."""

from __future__ import annotations

import math

import numpy as np
import pytest
from matplotlib import pyplot as plt
from running import run_page
from scipy.integrate import quad

from gspa.accountant import budgets
from gspa.accountant import one_round as accountant
from gspa.accountant.exact import exact_epsilon
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.accountant.published import gspa_mu
from gspa.accountant.tradeoff import gdp_delta, gdp_epsilon
from gspa.pages import p17_exact as p

PLANTED = ()


class TestTables:
    def test_published_bounds_stand_beside_the_certified_one(self):
        table = p.against_published(eps0=0.5, n=2000, delta=1e-5)
        people = budgets.constant(0.5, n=2000)
        known = table[table["epsilon"].notna()]
        upper = accountant.central_epsilon(people, delta=1e-5).upper
        np.testing.assert_allclose(known["epsilon"] / known["ratio"], upper, rtol=1e-12)
        assert known["epsilon"].is_monotonic_increasing
        # A proved bound for randomized response may beat the pair, but not the law of the bits themselves.
        assert (known[known["proved"] == "yes"]["epsilon"] >= exact_epsilon(people, delta=1e-5).lower).all()
        assert table[table["epsilon"].isna()]["note"].str.len().min() > 0

    def test_the_papers_number_is_too_small_at_large_budgets_and_too_large_at_small_ones(self):
        table = p.paper_against_exact(local=(0.1, 4.0), sizes=(1_000, 1_000_000), delta=1e-4)
        ratio = table.set_index(["eps0", "n"])["ratio"]
        assert ratio[4.0, 1_000] < 1 < ratio[0.1, 1_000]
        # delta(0) of a million users at 0.1 is below 1e-4: no budget is needed, and no ratio is given.
        assert math.isnan(ratio[0.1, 1_000_000])
        assert accountant.central_delta(budgets.constant(0.1, n=1_000_000), eps=0.0).upper < 1e-4

    def test_the_pair_never_beats_the_bits_themselves(self):
        table = p.pair_against_truth(local=(0.5, 2.0), sizes=(50, 500), delta=1e-4)
        assert (table["gap"] >= 1 - 1e-9).all()

    def test_the_curve_falls_and_ends_like_the_accountant(self):
        people = budgets.constant(0.5, n=1000)
        table = p.delta_curve(people, eps_max=0.1, points=5)
        assert table["eps"].tolist() == pytest.approx([0, 0.025, 0.05, 0.075, 0.1])
        assert (np.diff(table["upper"]) < 0).all()
        found = accountant.central_delta(people, eps=0.05)
        assert tuple(table.loc[2, ["lower", "upper"]]) == (found.lower, found.upper)
        assert table.loc[2, "paper"] == gdp_delta(0.05, mu=gspa_mu(people))

    def test_the_last_users_interval_holds_the_worst_users(self):
        people = budgets.from_array([0.1, 2.0, 0.5], count=[500, 1, 300])
        table = p.by_user(people, delta=1e-4)
        assert table["local"].tolist() == [0.1, 0.5, 2.0]
        worst = accountant.central_epsilon(people, delta=1e-4)
        assert table["lower"].iloc[-1] <= worst.upper
        assert table["upper"].iloc[-1] >= worst.lower
        assert (np.diff(table["upper"]) > 0).all()

    def test_continuous_reports_are_between_an_attack_and_the_local_guarantee(self):
        row = p.continuous([("one", "laplace", [1.0], [2_000], 1e-4)]).iloc[0]
        assert 0 < row["attack"] <= row["certified"] <= row["alone"] <= 1.0 + 1e-9
        assert row["ratio"] == pytest.approx(row["certified"] / row["limit"])
        assert row["least ratio"] <= row["ratio"]

    def test_a_calibrated_budget_meets_its_target(self):
        for row in p.local_budget_for(targets=(0.2,), sizes=(1_000, 10_000), delta=1e-5).itertuples():
            at, above = (budgets.constant(row.local * by, n=row.n) for by in (1, 1.01))
            assert accountant.central_epsilon(at, delta=1e-5).lower <= 0.2 * (1 + 1e-9)
            assert accountant.central_epsilon(above, delta=1e-5).upper > 0.2


GROUPS = ([10.0, 2.0, 1.0], [5400, 3700, 900])  # Figure 3: (1/eps, count)


class TestBlanketLimit:
    def test_equal_laplace_in_closed_form(self):
        # int (f0 - f1)^2/omega with omega = (k/2) e^(-k (r + 1/2)); outside [0, 1] a geometric tail, inside sinh^2
        k, n = 1.3, 5000
        outside = 2 * (k / 2) * (1 - math.exp(-k)) ** 2 * math.exp(k) / k
        inside = quad(lambda r: 4 * k * math.exp(-k) * math.sinh(k * r) ** 2 * math.exp(k * (r + 0.5)), 0, 0.5)[0]
        exact = math.sqrt((outside + inside) / (n - 1))
        assert p.blanket_limit([1 / k], count=[n], delta=1e-9, mechanism="laplace") == pytest.approx(exact, rel=2e-4)

    def test_common_density_against_brute_force(self):
        kappa, count = np.array([0.2, 1.0]), np.array([800.0, 199.0])
        r = np.linspace(0, 40, 200_001)
        r, width = 0.5 * (r[1:] + r[:-1]), r[1]
        square = 2 * 0.25 * (np.exp(-np.abs(r - 0.5)) - np.exp(-(r + 0.5))) ** 2
        omega = 0.5 * kappa[:, None] * np.exp(-kappa[:, None] * (r + 0.5))

        def mu(share):
            c = np.array([1 - share, share]) / count
            return math.sqrt(float((square * (c[:, None] / omega).max(axis=0)).sum()) * width)

        best = min(mu(s) for s in np.linspace(0.01, 0.6, 240))
        found = p.blanket_limit([5.0, 1.0], count=[800, 200], delta=1e-14, mechanism="laplace")
        assert found == pytest.approx(best, rel=5e-4)

    @pytest.mark.parametrize(
        ("scales", "count", "mechanism", "delta"),
        [
            (*GROUPS, "laplace", 1e-4),
            ([1.0], [10_000], "laplace", 1e-6),
            ([1.0], [10_000], "gaussian", 1e-6),
            ([4.0, 1.5], [9000, 900], "gaussian", 1e-4),
            (GROUPS[0], [100 * c for c in GROUPS[1]], "laplace", 1e-5),
        ],
    )
    def test_the_engine_is_near_the_limit_of_one_density(self, scales, count, mechanism, delta):
        mu = p.blanket_limit(scales, count=count, mechanism=mechanism, delta=delta)
        victim = int(np.argmin(scales))
        found = blanket_epsilon(scales, count=count, mechanism=mechanism, delta=delta, victim=victim).upper
        assert 0.999 < found / gdp_epsilon(delta=delta, mu=mu) < 1.01


def test_the_figures_draw_their_tables():
    people = budgets.constant(0.5, n=100)
    table = p.delta_curve(people, eps_max=0.5, points=3)
    drawn = p.delta_curves(table, {"certified": 0.2, "paper": 0.3}, delta=1e-3).axes[0].lines
    assert [drawn[i].get_ydata().tolist() for i in (1, 3)] == [table["upper"].tolist(), table["paper"].tolist()]
    assert [drawn[i].get_xdata() for i in (2, 4)] == [[0.2], [0.3]]
    users = p.by_user(budgets.from_array([0.1, 2.0], count=[50, 1]), delta=1e-3)
    [line] = p.per_user(users).axes[0].lines
    assert line.get_ydata().tolist() == users["upper"].tolist()
    plt.close("all")


def test_every_bound_that_applies_has_its_dot():
    table = p.against_published(eps0=0.5, n=1_000, delta=1e-4)
    bits, certified, *dots = p.published_bounds(table, {"certified": 0.04, "bits": 0.03}).axes[0].lines
    assert (bits.get_xdata()[0], certified.get_xdata()[0]) == (0.03, 0.04)
    assert [dot.get_xdata()[0] for dot in dots] == table["epsilon"].dropna().tolist()
    hollow = [dot.get_markerfacecolor() == "white" for dot in dots]
    assert hollow == (table.dropna(subset="epsilon")["proved"] == "no").tolist()
    plt.close("all")


def test_a_line_for_each_number_of_users():
    table = p.paper_against_exact(local=(0.5, 4.0), sizes=(1_000, 10_000), delta=1e-4)
    level, *lines = p.by_budget(table, "ratio", words="", level=("reference", ""), log=True).axes[0].lines
    assert level.get_ydata() == [1, 1]
    assert [line.get_ydata().tolist() for line in lines] == [rows["ratio"].tolist() for _, rows in table.groupby("n")]
    plt.close("all")


def test_each_setting_on_a_line_from_its_attack_to_its_bound():
    table = p.continuous([("one, of many", "laplace", [1.0], [2_000], 1e-4)])
    row, (limit, span, attack, certified, least) = table.iloc[0], p.on_a_line(table).axes[0].lines
    assert limit.get_xdata() == [1, 1]
    assert span.get_xdata().tolist() == [attack.get_xdata()[0], certified.get_xdata()[0]]
    assert span.get_xdata().tolist() == [row["attack"] / row["limit"], row["ratio"]]
    assert least.get_xdata()[0] == row["least ratio"]
    plt.close("all")


def test_the_page_shows_the_sum_that_the_accountant_encloses():
    names = run_page("17_exact_accounting").names
    few = names["few"]
    assert few.lower <= names["total"] <= few.upper
    assert few.relative_width < 1e-9
    assert names["best_name"] == "Blanket, RR"


def test_the_table_of_local_budgets_is_rounded_down():
    found = p.local_budget_for(targets=(0.1, 1.0), sizes=(1_000, 10_000), delta=1e-4)
    shown = p.budget_table(found)
    assert shown["users"].tolist() == [1_000, 10_000]
    for row in found.itertuples():
        cell = shown.loc[shown["users"] == row.n, f"$\\epsilon = {row.central:g}$"].item()
        assert 0 <= row.local - cell < 0.01 + 1e-12

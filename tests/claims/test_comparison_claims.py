"""G-TAB2, G-C2, G-C3: what they say of the package's own numbers, and that they can say something else."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from gspa import bounds, budgets, comparison
from gspa.claims import settle

SIZES = np.linspace(1_000, 10_000, 7)


def fabricated(*, mu_power=-0.5, eps_power=-0.5, sizes=SIZES, others=2.0):
    """A figure-2 table by power laws; the other bounds are `others` times the paper's eps."""
    rows = []
    for name, law in budgets.TABLE2.items():
        for n in sizes:
            mu, eps = 3 * n**mu_power, 5 * n**eps_power
            for key, epsilon in (("gspa", eps), ("erlingsson19", others * eps), ("fmt21", 2 * others * eps)):
                families = "rr" if key == "gspa" else "common"
                rows.append((name, f"{law.title}: {law.label}", n, mu, key, key, epsilon, True, "", families))
    columns = ["distribution", "population", "n", "mu", "key", "bound", "epsilon", "valid", "note", "families"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture(scope="module")
def figure():
    return comparison.figure2(steps=4)


@pytest.mark.parametrize("name", ["G-C2", "G-C3"])
@pytest.mark.parametrize("sizes", [[1_000, 5_000, 9_999], [1_001, 10_000], [5_000, 6_000]])
def test_a_run_that_does_not_cover_the_figure_settles_nothing(name, sizes):
    # Both would have a clear verdict on these numbers if the range were right.
    found = settle(name, table=fabricated(eps_power=-1, others=0.5, sizes=sizes))
    assert (found.verdict, found.missing) == ("not yet checked", "size")
    assert f"{min(sizes):,} to {max(sizes):,}" in found.reason


@pytest.mark.parametrize("name", ["G-C2", "G-C3"])
def test_a_wider_run_covers_the_figure(name):
    assert settle(name, table=fabricated(sizes=[500, 1_000, 20_000])).missing == ""


@pytest.mark.parametrize("name", ["G-TAB2", "G-C2", "G-C3"])
def test_outcomes_are_json(name):
    found = settle(name, profile="quick")
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


class TestTable2:
    def test_the_packages_own_draws_are_the_papers(self):
        found = settle("G-TAB2")
        assert found.verdict == "verified"
        shown = " ".join(f"{label} {value}" for label, value in found.evidence.items())
        # Means of the four laws, by hand.
        assert all(f"law {mean}" in shown for mean in ("0.505", "1.005", "0.5", "0.255"))

    @pytest.mark.parametrize(
        ("name", "make", "fault"),
        [
            ("unif1", lambda n, g, d: budgets.uniform(0.01, 0.99, n=n, rng=g), "mean of Unif 1"),
            ("unif1", lambda n, g, d: budgets.uniform(0.255, 0.755, n=n, rng=g), "variance of Unif 1"),
            ("unif2", lambda n, g, d: budgets.uniform(0.01, 1, n=n, rng=g), "mean of Unif 2"),
            ("unif2", lambda n, g, d: budgets.constant(1.005, n=n), "variance of Unif 2"),
            ("unif2", lambda n, g, d: budgets.uniform(0.0, 2.01, n=n, rng=g), "range of Unif 2"),
            ("constant", lambda n, g, d: budgets.constant(0.51, n=n), "mean of Constant"),
            ("mixed", lambda n, g, d: budgets.mixed_constant(0.5, 0.02, n=n), "mean of Mixed Constant"),
            ("mixed", lambda n, g, d: budgets.mixed_constant(0.5, 0.01, n=n // 2 * 2 + 1), ""),
        ],
    )
    def test_a_wrong_law_is_refuted_by_name(self, monkeypatch, name, make, fault):
        law = dataclasses.replace(budgets.DISTRIBUTIONS[name], make=make)
        monkeypatch.setitem(budgets.DISTRIBUTIONS, name, law)
        found = settle("G-TAB2")
        if not fault:  # one user more in the first half is what an odd n means, not a fault
            assert found.verdict == "verified"
            return
        assert found.verdict == "refuted"
        assert fault in found.reason

    def test_one_draw_outside_the_range_is_enough(self, monkeypatch):
        def make(n, g, d):
            eps = g.uniform(0.01, 1, n)
            eps[0] = 1.01  # moves mean and variance by less than a tenth of their errors
            return budgets.from_array(eps)

        law = dataclasses.replace(budgets.DISTRIBUTIONS["unif1"], make=make)
        monkeypatch.setitem(budgets.DISTRIBUTIONS, "unif1", law)
        assert settle("G-TAB2").reason == "Off: the range of Unif 1."


class TestSquareRootOfN:
    def test_true_power_laws_are_verified(self):
        found = settle("G-C2", table=fabricated())
        assert found.verdict == "verified"
        assert found.evidence["Constant: 0.5: slope of eps"] == "-0.5000"

    def test_the_packages_own_figure_needs_a_correction(self, figure):
        found = settle("G-C2", table=figure)
        assert found.verdict == "holds with correction"
        slopes = comparison.slopes(figure)["epsilon_slope"]
        assert f"between -{-slopes.max():.3f} and -{-slopes.min():.3f}" in found.correction

    def test_the_profile_quick_covers_the_figure(self):
        assert settle("G-C2", profile="quick").verdict == "holds with correction"

    @pytest.mark.parametrize(
        ("mu_power", "eps_power", "verdict"),
        [
            (-0.5, -1.0, "holds with correction"),  # eps like 1/n
            (-0.5, -0.45, "holds with correction"),
            (-0.5, 0.5, "holds with correction"),  # eps that grows
            (-1.0, -0.5, "refuted"),
            (-0.4, -0.4, "refuted"),
            (0.5, -0.5, "refuted"),
            # The registry's tolerance on a slope is 0.02.
            (-0.519, -0.481, "verified"),
            (-0.519, -0.521, "holds with correction"),
            (-0.479, -0.5, "refuted"),
        ],
    )
    def test_the_verdict_follows_the_exponents(self, mu_power, eps_power, verdict):
        found = settle("G-C2", table=fabricated(mu_power=mu_power, eps_power=eps_power))
        assert found.verdict == verdict

    def test_the_correction_gives_the_exponent(self):
        found = settle("G-C2", table=fabricated(eps_power=-1))
        assert "between -1.000 and -1.000" in found.correction

    def test_one_distribution_off_is_enough(self):
        table = fabricated()
        off = (table["distribution"] == "mixed") & (table["key"] == "gspa")
        table.loc[off, "mu"] = 1 / table.loc[off, "n"]
        assert settle("G-C2", table=table).verdict == "refuted"

    def test_a_wrong_formula_is_refuted(self, monkeypatch):
        monkeypatch.setattr(bounds, "gspa_mu", lambda people, **_: 10 / people.n)
        found = settle("G-C2", profile="quick")
        assert found.verdict == "refuted"
        assert "off -1/2 by 0.5" in found.reason


# Those of the catalogue that are smaller than the paper's eps somewhere in the figure, by label.
BETTER = {
    "fmt23_numerical": "FMT23, numerical",
    "fmt21_numerical": "FMT21, numerical",
    "blanket_rr": "Blanket, RR",
    "girgis21": "Girgis21 (Renyi)",
    "blanket_hoeffding": "Blanket, Hoeffding",
}


class TestOutperforms:
    def test_the_packages_own_figure_refutes(self, figure):
        found = settle("G-C3", table=figure)
        assert found.verdict == "refuted"
        # 4 sizes, 4 distributions, 12 bounds: all but the paper's and the one for Laplace noise. Refusals:
        # FMT21 and the blog need eps0 <= log(n/(16 log(2e4))), 1.84 at n = 1000: not for U(0.01, 2); nor do the
        # two generic blankets say anything there. Erlingsson19 needs eps0 <= 1/2 (Constant, Mixed) and
        # n >= 144 log(1e4) = 1326 (3 of the sizes), so is missing at 10 points.
        wide = figure[figure["valid"]].pivot_table(index=["distribution", "n"], columns="key", values="epsilon")
        others = wide.drop(columns=["gspa", "blanket_laplace"])
        as_small = others.le(wide["gspa"], axis=0)
        assert f"At {as_small.sum().sum()} of {16 * 12 - 4 - 10} comparisons" in found.reason
        assert set(as_small.columns[as_small.any()]) == set(BETTER)
        # The one that is smaller by most first.
        assert f" ({'; '.join(BETTER.values())}). " in found.reason
        # Liu23 at 16 points, FMT21 at 15, Erlingsson19 at 6.
        assert found.reason.endswith("Against the paper's own baselines it is smaller at 37 of 37 points.")
        for bound, points in (("FMT21", 15), ("Erlingsson19", 6), ("Liu23", 16), ("FMT23, numerical", 16)):
            ratio = (wide["gspa"] / wide[bound.lower().replace(", ", "_")]).dropna()
            label = f"paper's eps / {bound}, smallest to largest ({points} points)"
            assert found.evidence[label] == f"{ratio.min():.3f} to {ratio.max():.3f}"
        assert len(found.evidence) == 12

    def test_the_profile_quick_says_the_same(self):
        assert settle("G-C3", profile="quick").verdict == "refuted"

    def test_the_correction_gives_the_least_margin(self):
        found = settle("G-C3", table=fabricated(others=1.25))
        assert found.verdict == "holds with correction"
        assert f"at each of {2 * 4 * len(SIZES)} comparisons" in found.reason
        assert "by at least 20%" in found.correction  # 1 - 1/1.25
        label = f"paper's eps / erlingsson19, smallest to largest ({4 * len(SIZES)} points)"
        assert found.evidence[label] == "0.800 to 0.800"

    @pytest.mark.parametrize("factor", [0.5, 0.999, 1.0])
    def test_another_bound_as_small_at_one_point_refutes(self, factor):
        table = fabricated()
        ours = table.index[(table["key"] == "gspa")][5]
        table.loc[ours + 1, "epsilon"] = factor * table.loc[ours, "epsilon"]
        found = settle("G-C3", table=table)
        assert found.verdict == "refuted"
        both = 2 * 4 * len(SIZES)
        assert f"At 1 of {both} comparisons" in found.reason
        assert "(erlingsson19)" in found.reason
        # It is one of the paper's own baselines.
        assert f"baselines it is smaller at {both - 1} of {both} points" in found.reason

    @pytest.mark.parametrize("factor", [0.5, 1.0, 1.01])
    @pytest.mark.parametrize("families", ["common", "rr", "krr, laplace"])
    def test_a_bound_that_the_paper_left_out_counts_if_it_holds_for_the_same_randomizers(self, factor, families):
        table = fabricated()
        new = table[table["key"] == "gspa"].assign(key="new", bound="New one", families=families)
        new["epsilon"] *= factor
        found = settle("G-C3", table=pd.concat([table, new], ignore_index=True))
        one = 4 * len(SIZES)
        if families == "krr, laplace" or factor > 1:
            assert found.verdict == "holds with correction"
            assert f"at each of {(2 if families == 'krr, laplace' else 3) * one} comparisons" in found.reason
            return
        assert found.verdict == "refuted"
        assert f"At {one} of {3 * one} comparisons" in found.reason
        assert "(New one)" in found.reason
        assert f"baselines it is smaller at {2 * one} of {2 * one} points" in found.reason

    def test_a_bound_outside_its_conditions_does_not_count(self):
        table = fabricated(others=0.1)
        table.loc[table["key"] != "gspa", "valid"] = False
        table.loc[table["key"] == "fmt21", ["valid", "epsilon"]] = [True, 100.0]
        found = settle("G-C3", table=table)
        assert found.verdict == "holds with correction"
        assert f"at each of {4 * len(SIZES)} comparisons" in found.reason
        assert not any("erlingsson19" in label for label in found.evidence)

    def test_nothing_to_compare_with_is_no_victory(self):
        table = fabricated()
        table.loc[table["key"] != "gspa", ["valid", "epsilon"]] = [False, np.nan]
        assert settle("G-C3", table=table).verdict == "not checkable"

    def test_bounds_for_other_randomizers_alone_are_nothing_to_compare_with(self):
        table = fabricated().replace({"key": {"erlingsson19": "new", "fmt21": "newer"}})
        table.loc[table["key"] != "gspa", "families"] = "laplace"
        assert settle("G-C3", table=table).verdict == "not checkable"

    def test_the_verdict_follows_the_catalogue(self, monkeypatch):
        for key in BETTER:
            monkeypatch.delitem(bounds.CATALOGUE, key)
        found = settle("G-C3", profile="quick")
        assert found.verdict == "holds with correction"
        better = dataclasses.replace(bounds.CATALOGUE["fmt21"], epsilon=lambda people, delta: 1e-3)
        monkeypatch.setitem(bounds.CATALOGUE, "fmt21", better)
        found = settle("G-C3", profile="quick")
        assert found.verdict == "refuted"
        assert "At 40 of" in found.reason  # 4 distributions, 10 sizes
        assert "(FMT21)" in found.reason


@pytest.mark.parametrize("name", ["G-FIG2", "G-C4"])
def test_the_new_ones_need_the_whole_range_too(name):
    found = settle(name, table=fabricated(sizes=[1_000, 9_999]))
    assert (found.verdict, found.missing) == ("not yet checked", "size")


class TestFigure2:
    def test_the_packages_own_figure_needs_a_correction(self, figure):
        found = settle("G-FIG2", table=figure)
        assert found.verdict == "holds with correction"
        # 4 distributions, 4 sizes, 4 bounds; refusals as counted in TestOutperforms: 10 and 1.
        assert f"but {10 + 1} of 64 points lie outside" in found.reason
        assert "the lower one at 37 of 37 points" in found.reason
        assert "Erlingsson19 in Unif 1: U(0.01, 1) nowhere" in found.correction
        assert "FMT21 in Unif 2: U(0.01, 2) from n = 4,000 on" in found.correction

    def test_a_whole_figure_is_verified(self):
        assert settle("G-FIG2", table=fabricated()).verdict == "verified"

    def test_another_order_is_not_reproduced(self):
        assert settle("G-FIG2", table=fabricated(others=0.5)).verdict == "not reproduced"

    def test_a_curve_that_rises_is_not_reproduced(self):
        found = settle("G-FIG2", table=fabricated(eps_power=0.1))
        assert found.verdict == "not reproduced"
        assert "not all curves fall" in found.reason

    def test_without_baselines_nothing_can_be_checked(self):
        table = fabricated()
        table.loc[table["key"] != "gspa", ["valid", "epsilon"]] = [False, np.nan]
        assert settle("G-FIG2", table=table).verdict == "not checkable"


class TestExtremeBudgets:
    def near(self, **columns):
        """Budgets 0.5, 0.01 and 0 of everybody; the paper's eps below them, Liu23 refusing."""
        start = {
            "crowd": "all",
            "budget": [0.5, 0.01, 0.0],
            "largest": [0.5, 0.01, 0.0],
            "paper": [0.1, 0.001, -1.0],
            "liu23": [0.2, np.nan, np.nan],
            "certified": [0.1, 0.0, 0.0],
            "own": [0.1, 0.0, 0.0],
        }
        return pd.DataFrame(start | columns)

    @pytest.mark.parametrize("profile", ["quick", "paper"])
    def test_the_packages_own_numbers_refute(self, profile):
        found = settle("G-C1", profile=profile)
        assert found.verdict == "refuted"
        assert "refuses at 0 of" in found.reason
        # mu = 2/sqrt(9,999) where the truth is 0.
        assert found.evidence["everybody at 0: paper's eps, the truth"] == "0.044, 0"

    @pytest.mark.parametrize(
        ("columns", "verdict"),
        [
            ({}, "verified"),
            ({"liu23": [0.2, 0.1, 0.1]}, "holds with correction"),  # has values, larger ones
            ({"paper": [0.1, 0.02, 0.02]}, "holds with correction"),  # says nothing near 0, but the other refuses
            ({"paper": [0.1, 0.02, 0.02], "liu23": [0.2, 0.1, 0.1]}, "refuted"),
            ({"liu23": [0.2, 1e-4, 0.1]}, "refuted"),  # smaller at one row
            ({"paper": [0.1, 0.001, np.nan]}, "refuted"),
        ],
    )
    def test_the_verdict_follows_the_numbers(self, columns, verdict):
        assert settle("G-C1", table=self.near(**columns)).verdict == verdict

    def test_without_a_budget_of_zero_nothing_is_settled(self):
        found = settle("G-C1", table=self.near().iloc[:2])
        assert (found.verdict, found.missing) == ("not yet checked", "settings")

    def test_a_liu23_that_refuses_small_budgets_changes_the_verdict(self, monkeypatch):
        def refuse(people, delta):
            if people.eps_min < 0.3:
                raise bounds.OutsideValidity("Liu23", "eps_i >= 0.3", "too small")
            return 1.0

        monkeypatch.setitem(bounds.CATALOGUE, "liu23", dataclasses.replace(bounds.CATALOGUE["liu23"], epsilon=refuse))
        assert settle("G-C1", profile="quick").verdict == "holds with correction"


class TestAtLeast33Percent:
    def test_the_packages_own_figure_refutes(self, figure):
        found = settle("G-C4", table=figure)
        assert found.verdict == "refuted"
        constant = figure[(figure["distribution"] == "constant") & (figure["n"] == 1_000)].set_index("key")["epsilon"]
        least = 100 * (1 - constant["gspa"] / constant["fmt21"])
        assert f"at least {least:.1f}% smaller, not 33% (against FMT21, Constant: 0.5, n = 1,000)" in found.reason
        assert found.reason.endswith("is reached from n = 10,000 on.")

    @pytest.mark.parametrize(
        ("others", "verdict"),
        [(1 / 0.66, "verified"), (1 / 0.674, "verified"), (1 / 0.676, "refuted"), (1.2, "refuted")],
    )
    def test_the_verdict_follows_the_least_margin(self, others, verdict):
        # The registry's tolerance is half a point: 32.5%.
        assert settle("G-C4", table=fabricated(others=others)).verdict == verdict

    def test_never_reached(self):
        assert "No n of the figure has it" in settle("G-C4", table=fabricated(others=1.2)).reason

    def test_one_point_is_enough(self):
        table = fabricated(others=2.0)
        ours = table.index[table["key"] == "gspa"][3]
        table.loc[ours + 1, "epsilon"] = 1.25 * table.loc[ours, "epsilon"]
        found = settle("G-C4", table=table)
        assert found.verdict == "refuted"
        assert "at least 20.0% smaller" in found.reason

    def test_no_baseline(self):
        table = fabricated()
        table.loc[table["key"] != "gspa", "valid"] = False
        assert settle("G-C4", table=table).verdict == "not checkable"

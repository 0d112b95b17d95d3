"""Page 17: its tables are what the accountant says and mean what they claim; the blanket's limit against closed forms,
brute force and the engine."""

from __future__ import annotations

import math

import numpy as np
import p17_exact_accounting as p
import pytest
from exact_shuffle import histogram_delta, krr
from running import run_page
from scipy.integrate import quad

import gspa
from gspa.accountant import budgets
from gspa.accountant import one_round as accountant
from gspa.accountant.exact import exact_epsilon
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.accountant.tradeoff import gdp_epsilon

PAGE = "17_exact_accounting"
RUN = {"n": 2_000}


@pytest.mark.slow
class TestTables:
    def test_published_bounds_stand_beside_the_certified_one(self, names):
        known = names["published"].dropna(subset="epsilon")
        people = budgets.constant(0.5, n=2000)
        upper = accountant.central_epsilon(people, delta=1e-4).upper
        np.testing.assert_allclose(known["epsilon"] / known["ratio"], upper, rtol=1e-12)
        assert known["epsilon"].is_monotonic_increasing
        # A proved bound for randomized response may beat the pair, but not the law of the bits themselves.
        assert (known[known["proved"] == "yes"]["epsilon"] >= exact_epsilon(people, delta=1e-4).lower).all()
        refused = names["published"].query("epsilon != epsilon")
        assert refused["note"].str.len().min() > 0

    def test_the_papers_number_is_too_small_at_large_budgets_and_too_large_at_small_ones(self, names):
        ratio = names["compared"].set_index(["eps0", "n"])["ratio"]
        assert ratio[4.0, 1_000] < 1 < ratio[0.1, 1_000]
        # delta(0) of a million users at 0.1 is below 1e-4: no budget is needed, and no ratio is given.
        assert math.isnan(ratio[0.1, 1_000_000])
        assert accountant.central_delta(budgets.constant(0.1, n=1_000_000), eps=0.0).upper < 1e-4

    def test_the_sum_lies_in_the_accountants_interval(self, names):
        few = names["few"]
        assert few.lower <= names["total"] <= few.upper
        assert few.relative_width < 1e-9

    def test_a_calibrated_budget_meets_its_target_and_is_shown_rounded_down(self, names):
        choice, shown = names["choice"], names["p"].budget_table(names["choice"])
        kinds = {"laplace": "Laplace noise", "aligned": "randomized response"}
        assert set(shown["reports"]) == set(kinds.values())
        for row in choice[(choice["central"] == 0.5) & (choice["n"] < 100_000)].itertuples():
            asked = {"n": row.n, "delta": names["strict"], "mechanism": row.runs}
            assert gspa.epsilon(eps=row.local, **asked).upper <= 0.5 * (1 + 1e-9)
            assert gspa.epsilon(eps=1.01 * row.local, **asked).upper > 0.5
            here = (shown["users"] == row.n) & (shown["reports"] == kinds[row.runs])
            assert 0 <= row.local - float(shown.loc[here, "$\\epsilon = 0.5$"].item()) < 0.01 + 1e-12

    def test_every_bound_that_applies_has_its_dot(self, names):
        table = names["published"]
        bits, certified, *dots = names["p"].published_bounds(table, {"certified": 0.04, "bits": 0.03}).axes[0].lines
        assert (bits.get_xdata()[0], certified.get_xdata()[0]) == (0.03, 0.04)
        assert [dot.get_xdata()[0] for dot in dots] == table["epsilon"].dropna().tolist()
        hollow = [dot.get_markerfacecolor() == "white" for dot in dots]
        assert hollow == (table.dropna(subset="epsilon")["proved"] == "no").tolist()

    def test_the_page(self):  # which runs once more
        names = run_page(PAGE).names
        assert names["best_name"] == "Blanket, RR"


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


@pytest.mark.slow
class TestAnyFiniteRandomizer:
    def test_the_atoms_are_those_of_3_ary_response_by_hand(self, names):
        """Answers with masses 4/6, 1/6, 1/6: over a uniform law 2, 1/2, 1/2, and half of every report is uniform."""
        atoms = names["atoms"]
        np.testing.assert_allclose([atoms.base, atoms.first, atoms.second], [[1 / 3] * 3, [2, 0.5, 0.5], [0.5, 2, 0.5]])
        assert names["coverage"] == pytest.approx(0.5, rel=1e-12)

    def test_the_packages_ends_enclose_the_pages_sums(self, names):
        bound, attack = names["ends"]
        assert names["of_50"].lower <= attack < bound <= names["of_50"].upper

    def test_the_attacks_sum_is_the_histograms_exact_divergence(self, names):
        laws = [krr(3, math.log(4), x) for x in range(3)]
        exact = histogram_delta(laws[:2], [(laws[2], 49)], names["at_eps"])
        assert names["ends"][1] == pytest.approx(exact, rel=1e-9)

    def test_ten_mechanisms_from_an_attack_to_a_bound_below_the_local_budget(self, names):
        table = names["mechanisms"].set_index("mechanism")
        assert (table["attack"] <= table["certified"]).all()
        assert table["certified"].between(0, 1, inclusive="neither").all()
        bits = exact_epsilon(budgets.constant(1.0, n=2_000), delta=1e-4)
        assert table.loc["randomized response", "attack"] == pytest.approx(bits.value, rel=1e-6)

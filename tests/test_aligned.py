"""The corrected theorem against enumerations that use nothing of the package."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_oracle import hockey_stick, law_divergence, pair_law, shuffled, sum_of_bernoullis

from gspa import aligned as a
from gspa import audit, reduction
from gspa.errors import InvalidValue

BUDGET = st.floats(0.01, 4)


class TestCloneProbabilities:
    @settings(max_examples=40)
    @given(BUDGET, BUDGET, st.integers(2, 8))
    def test_krr_is_the_least_ratio(self, victim, others, k):
        def row(eps, x):
            masses = np.ones(k)
            masses[x] = math.exp(eps)
            return masses / masses.sum()

        both = row(victim, 0) + row(victim, 1)
        least = min(float((row(others, x) / both).min()) for x in range(k))
        assert a.krr_clones(victim, others=others, k=k) == pytest.approx(least, rel=1e-12)

    @settings(max_examples=40)
    @given(BUDGET, BUDGET, st.integers(2, 8))
    def test_krr_reaches_the_printed_number_exactly_for_smaller_victims(self, victim, others, k):
        enough = a.krr_clones(victim, others=others, k=k) >= (1 - 1e-12) / (1 + math.exp(others))
        assert enough == (k == 2 or others >= victim * (1 - 1e-9)) or abs(others - victim) < 1e-6

    @settings(max_examples=40)
    @given(BUDGET, BUDGET)
    def test_laplace_is_the_least_ratio_of_densities(self, victim, others):
        y = np.linspace(-30, 31, 60_001)  # 0 and 1 are on it
        both = 0.5 * victim * (np.exp(-victim * abs(y)) + np.exp(-victim * abs(y - 1)))
        mine = 0.5 * others * np.exp(-others * np.maximum(abs(y), abs(y - 1)))
        least = float((mine / both).min())
        found = a.laplace_clones(victim, others=others)
        assert found <= least * (1 + 1e-9)
        if others <= victim:
            assert found == pytest.approx(least, rel=1e-3)  # the grid's step near y = 1

    def test_laplace_is_the_printed_number_only_at_equal_budgets(self):
        assert a.laplace_clones(1.3, others=1.3) == pytest.approx(1 / (1 + math.exp(1.3)), rel=1e-14)
        assert a.laplace_clones(1.3, others=1.2) < 1 / (1 + math.exp(1.2))
        assert a.laplace_clones(1.2, others=1.3) == 0

    def test_common_is_reached_by_subset_selection(self):
        """2 of 3: the set {0, 1} is likely under both of the victim's inputs and unlikely under the third."""
        rows = reduction.subset_selection(3, 2, Fraction(3))
        assert reduction.aligned_clone_probability(reduction.parts(rows, Fraction(3)), rows) == Fraction(1, 6)
        assert a.common_clones(math.log(3)) == pytest.approx(1 / 6)

    def test_the_table_agrees_with_the_functions(self):
        table = a.clone_table([(2.0, 0.5)], k=5).iloc[0]
        assert table["binary"] == pytest.approx(table["printed"])
        assert table["5-ary"] == a.krr_clones(2.0, others=0.5, k=5)

    def test_refusals(self):
        with pytest.raises(InvalidValue, match="victim = 0"):
            a.laplace_clones(0, others=1.0)
        with pytest.raises(InvalidValue, match="k = 1"):
            a.krr_clones(1.0, others=1.0, k=1)


def response(k, ratio, x):
    return {y: (ratio if y == x else Fraction(1)) / (ratio + k - 1) for y in range(k)}


def worst_excess(k, ratios, clones):
    """Largest shuffled delta less the pair's, over all inputs and the pair's kinks, by an enumeration of its own."""
    *others, ratio = ratios
    low = 1 / (1 + ratio)
    pair = pair_law(sum_of_bernoullis([2 * r for r in clones]), ratio * low, low, Fraction(0), Fraction(1, 2))
    kinks = {Fraction(1)} | {max(p, q) / min(p, q) for p, q in pair.values() if p and q}
    worst = -Fraction(1)
    for places in product(range(k), repeat=len(others)):
        crowd = [response(k, q, x) for q, x in zip(others, places, strict=True)]
        laws = [shuffled([*crowd, response(k, ratio, x)]) for x in (0, 1)]
        for e in kinks:
            mine = max(law_divergence(*laws, float(e)), law_divergence(*laws[::-1], float(e)))
            worst = max(worst, mine - float(hockey_stick(pair, e)))
    return worst


class TestTheorem:
    @pytest.mark.parametrize(
        ("k", "ratios"), [(2, (1, 2, 5, 3, 8)), (3, (4, 3, 2)), (3, (1, 1, 4)), (4, (3, 3)), (3, (2, 1, 3, 3))]
    )
    def test_no_crowd_exceeds_the_corrected_pair(self, k, ratios):
        exact = [Fraction(r) for r in ratios]
        p = exact[-1]
        clones = [(p + k - 1) / ((q + k - 1) * (p + 1)) for q in exact[:-1]]
        assert worst_excess(k, exact, clones) <= 1e-15

    def test_more_clones_than_that_would_be_too_many(self):
        """The theorem's r_j cannot be raised: the paper's are exceeded, and so is anything 5 percent above."""
        ratios = [Fraction(1), Fraction(3)]
        assert worst_excess(3, ratios, [Fraction(1, 2)]) == pytest.approx(4 / 15 - 1 / 4)
        aligned = Fraction(5, 12)
        assert worst_excess(3, ratios, [aligned]) <= 1e-15
        assert worst_excess(2, [Fraction(3), Fraction(8)], [Fraction(1, 4) * Fraction(21, 20)]) > 1e-3

    def test_the_verification_says_the_same(self):
        table = a.verification(a.cases())
        assert (table["corrected"] <= 0).all()
        assert (table["accountant"].dropna() <= 0).all()
        assert table["accountant"].notna().sum() >= 6
        exceeded = set(table.loc[table["printed"] > 0, "ratios"])
        assert exceeded == {"1, 1; 4", "1; 3", "1, 1; 3"}
        smallest = table[table["ratios"] == "1; 3"].iloc[0]
        assert (smallest["at"], smallest["shuffled"], smallest["pair"]) == ("1", "4/15", "1/4")

    def test_a_wrong_clone_probability_is_noticed(self, monkeypatch):
        monkeypatch.setattr(reduction, "aligned_clone_probability", lambda *_: Fraction(1, 2))
        table = a.verification(a.cases()[:5])
        assert (table["corrected"] > 0).any()

    def test_laplace_bound_above_its_attack(self):
        bound = a.laplace_epsilon(victim=2.0, others=0.01, n=10_000, delta=1e-4)
        attack = audit.attack_epsilon([0.5, 100.0], count=[1, 9999], victim=0, delta=1e-4).lower
        assert attack < bound < 2 * attack


class TestBlanket:
    def test_cut_delta_of_one_report_is_the_local_one(self):
        assert a.cut_delta([], (np.array([0.75, 0.25]), np.array([0.25, 0.75])), eps=0.0) == 0.5

    def test_cut_delta_against_multisets(self):
        rng = np.random.default_rng(3)
        laws = rng.dirichlet(np.ones(4), size=4)
        found = a.cut_delta(list(laws[:2]), (laws[2], laws[3]), eps=0.2)
        reports = [dict(enumerate(law)) for law in laws]
        both = [shuffled([*reports[:2], mine]) for mine in reports[2:]]
        exact = max(law_divergence(*pair, math.exp(0.2)) for pair in (both, both[::-1]))
        assert found == pytest.approx(exact, abs=1e-14)

    def test_enumerated_reports_stay_below_the_blanket(self):
        tried = [
            ("laplace", (1.0, 1.0)),
            ("laplace", (0.5, 5.0, 5.0)),
            ("laplace", (1.0, 0.2)),
            ("gaussian", (0.5, 2.0, 2.0)),
        ]
        table = a.cut_against_blanket(tried, eps=(0.0, 0.6), cells=16)
        assert (table["share"] <= 1).all()
        assert (table["share"] > 0.5).all()  # and are near enough for this to be a test

    def test_finer_cells_see_more(self):
        coarse, fine = (
            a.cut_against_blanket([("laplace", (1.0, 1.0))], eps=(0.3,), cells=cells)["enumerated"].item()
            for cells in (12, 48)
        )
        assert coarse <= fine * (1 + 1e-12)

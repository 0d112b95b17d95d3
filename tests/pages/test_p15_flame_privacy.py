"""Page 15: FLAME's formulas against mpmath, published numbers and hand; the tables; the checks; planted errors."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from running import Planted, run_page
from scipy.stats import binom

from gspa.accountant import mechanisms
from gspa.accountant.errors import OutsideValidity
from gspa.algorithms.flame import accounting, attacks
from gspa.algorithms.flame.padded import coordinate
from gspa.algorithms.flame.randomizers import Buckets, Laplace
from gspa.book.claims import registry
from gspa.pages import p15_amplification as a
from gspa.pages import p15_flame_privacy as p
from gspa.pages import p15_statements as q
from gspa.pages.p15_amplification import Setting

PAPER, DENSE = p.setting(), p.dense_setting()
TEN = Setting(d=100, k=10, n=1_000, n_p=500, eps=0.5, delta=1e-5)
SMALL = p.setting(eps_l=10, d=100, n=400, rate=10, padding=2)


def old_delta_by_definition(eps, eps0, n):
    """The first version's form, term by term."""
    with mpmath.workdps(30):
        e, s, t = mpmath.mpf(eps0), mpmath.e ** mpmath.mpf(eps), mpmath.expm1(eps)
        gamma = mpmath.exp(-e / 2)
        top = mpmath.exp(e / 2) * (1 - mpmath.exp(eps - e))
        square = (s**2 + 1) / 3 * (2 * mpmath.exp(e / 2) + mpmath.exp(-e))
        square -= 2 * s * (2 * mpmath.exp(-e / 2) - mpmath.exp(-e))
        u = t * top / square
        phi = (1 + u) * mpmath.log(1 + u) - u
        total = mpmath.mpf(0)
        for m in range(1, n + 1):
            weight = mpmath.binomial(n, m) * gamma**m * (1 - gamma) ** (n - m)
            total += weight * mpmath.exp(-m * square / top**2 * phi) / (m * (t / top) * mpmath.log(1 + u))
        return float(total / (gamma * n))


class TestAmplification:
    @pytest.mark.parametrize(("eps", "eps0", "n"), [(0.1, 0.5, 60), (0.001, 0.01, 40), (1.0, 3.0, 30)])
    def test_the_old_form_term_by_term(self, eps, eps0, n):
        assert a.old_bennett_delta(eps, eps0=eps0, n=n) == pytest.approx(
            old_delta_by_definition(eps, eps0, n), rel=1e-9
        )

    @pytest.mark.parametrize(("eps0", "n", "delta"), [(0.5, 333, 1e-6), (0.01, 1000, 1e-9), (3.0, 10_000, 1e-12)])
    def test_its_inverse(self, eps0, n, delta):
        eps = a.old_bennett_epsilon(eps0, n=n, delta=delta)
        assert a.old_bennett_delta(eps, eps0=eps0, n=n) == pytest.approx(delta, rel=1e-8)

    @pytest.mark.parametrize(
        ("one", "subsampling", "printed", "corrected", "exact"),
        [
            (PAPER.full(), None, 0.91006, 0.92781, 0.79377),
            (PAPER, True, 0.237926, 0.30451, 0.23890),
            (PAPER, False, 20.5352544, 26.0431, 19.5919),
            (DENSE, True, 2.34819, 2.91914, 2.40408),
        ],
    )
    def test_published_numbers(self, one, subsampling, printed, corrected, exact):
        """0.237926 and 20.5352544 are in the authors' own README."""
        for bound, value in (("old_bennett", printed), ("bennett", corrected), ("exact", exact)):
            found = (
                a.simple(one, bound=bound) if one.k == one.d else a.double(one, bound=bound, subsampling=subsampling)
            )
            assert found.eps == pytest.approx(value, rel=5e-3 if bound == "exact" else 2e-5)

    def test_the_old_form_is_no_bound_and_the_others_are(self):
        # At eps0 = 0.5, n = 10,000 the exact delta is ten times the form's.
        exact = coordinate(Laplace(0.5), n_p=10_000).delta(0.025).lower
        assert a.old_bennett_delta(0.025, eps0=0.5, n=10_000) < 0.1 * exact
        assert a.old_form_excess(PAPER) > 1.05
        for bound in ("bennett", "hoeffding", "exact"):
            eps = a.coordinate_epsilon(bound, 0.5, n=1_000, delta=1e-6)
            assert coordinate(Laplace(0.5), n_p=1_000).delta(eps).lower <= 1e-6

    def test_by_hand(self):
        found = a.lemma1_epsilon(0.5, n=10_001, delta=1e-6, answers=4)
        assert found == pytest.approx(math.sqrt(14 * math.log(2e6) * (math.exp(0.5) + 3) / 10_000))
        assert a.subsampled(1.0, beta=0.5) == pytest.approx(math.log(0.5 + 0.5 * math.e))
        assert a.composed(0.01, delta=1e-6, folds=100) == pytest.approx(
            0.01 * math.sqrt(200 * math.log(1e6)) + 100 * 0.01 * math.expm1(0.01)
        )
        assert a.composed(1.0, delta=1e-6, folds=3) == 3.0
        strong = dataclasses.replace(TEN, eps=2.0)
        assert a.corollary2(strong) == pytest.approx(math.exp(2) * math.log(1e7) * math.sqrt(0.1))

    def test_theorem_4_joins_the_pieces(self):
        share = 1e-5 / 21
        eps_ck = a.lemma1_epsilon(0.5, n=500, delta=share / 0.1, answers=2)
        eps_cd = math.log1p(0.1 * math.expm1(eps_ck))
        found = a.double(TEN, bound="lemma1")
        assert found == pytest.approx((eps_cd, a.composed(eps_cd, delta=share, folds=20), share))
        plain = a.double(TEN, bound="lemma1", subsampling=False)
        assert plain.coordinate == pytest.approx(a.lemma1_epsilon(0.5, n=500, delta=share, answers=2))

    def test_settings(self):
        assert (TEN.beta, TEN.eps_local) == (0.1, 5.0)
        assert TEN.full() == Setting(d=100, k=100, n=1_000, n_p=1_000, eps=0.05, delta=1e-5)
        assert TEN.full(eps=0.5).eps == 0.5
        delta = 0.01 / 1000**1.1
        assert p.setting() == Setting(d=7850, k=157, n=1000, n_p=333, eps=0.5, delta=delta)
        assert p.dense_setting() == Setting(d=7850, k=785, n=1000, n_p=666, eps=0.5, delta=delta)
        assert p.figure3_setting() == Setting(d=75755, k=1515, n=5000, n_p=1666, eps=0.8, delta=0.01 / 5000**1.1)

    def test_refusals(self):
        with pytest.raises(OutsideValidity, match="n so large"):
            a.old_bennett_epsilon(3.0, n=10, delta=1e-6)
        with pytest.raises(OutsideValidity, match="eps0 <= 100"):
            a.old_bennett_epsilon(101.0, n=10, delta=1e-6)


class TestTables:
    def test_accounts_hold_what_the_modules_say(self):
        table = p.accounts(SMALL, SMALL)
        assert p.row(table, p.SIMPLE)["bennett"] == a.simple(SMALL.full(), bound="bennett").eps
        assert p.row(table, p.PLAIN)["bennett"] == a.double(SMALL, bound="bennett", subsampling=False).eps
        top = accounting.topk(Laplace(SMALL.eps), k=10, n_p=200, delta=SMALL.delta, most_selected=200)
        assert p.interval(table, p.TOPK) == p.interval(table, p.PLAIN) == (top.lower, top.upper)
        assert (table["attack"] <= table["certified"]).all()

    def test_what_is_refused_is_empty_with_the_reason(self):
        found = p.certify(p.DOUBLE, p.setting(eps_l=10, d=100, n=400, rate=2, padding=20))
        assert math.isnan(found["certified"])
        assert "n_p = 20" in found["note"]
        assert p.interval(
            pd.DataFrame([dict(zip(("protocol", "variant"), p.DOUBLE, strict=True)) | found]), p.DOUBLE
        ) == (None, None)

    def test_ratios(self):
        table = p.amplification_ratios(SMALL, eps=[0.5, 1.0])
        now = Setting(100, 10, 400, 200, 0.5, SMALL.delta)
        assert table["double"].iloc[0] == 5 / a.double(now, bound="lemma1").eps
        assert table["simple"].iloc[0] == 50 / a.simple(now.full(eps=0.5), bound="lemma1").eps
        assert table["equal"].iloc[0] == 5 / a.simple(now.full(), bound="lemma1").eps
        proved = p.certified_ratios(now).set_index("case")
        found = accounting.simple(Buckets(0.5, 1), d=100, n=400, delta=SMALL.delta)
        assert proved.loc["simple", "ratio_low"] == 50 / found.upper
        assert (proved["ratio_low"] <= proved["ratio_high"]).all()

    def test_sweep(self):
        table = p.sweep("eps_l", [10.0, 300.0], base=SMALL, eps_l=10)
        wide = table.pivot(index="eps_l", columns=["line", "kind"], values="epsilon")
        double = accounting.double_poisson(Laplace(1.0), d=100, k=10, n=400, n_p=200, delta=SMALL.delta, attack=False)
        assert wide["SS-Double", "certified"].iloc[0] == double.upper
        assert wide["SS-Simple", "printed"].iloc[0] == a.simple(SMALL.full(), bound="old_bennett").eps
        assert np.isnan(wide["SS-Topk", "certified"].iloc[1])  # 30 a coordinate
        assert p.below(table, "SS-Simple", "SS-Double") == 1
        ends = p.ends(table).set_index(["line", "kind"])
        assert ends.loc[("SS-Topk", "certified"), ["start", "end"]].tolist() == [10.0, 10.0]

    def test_a_report_on_one_of_three_coordinates_by_hand(self):
        assert p.one_report(3, 3) == (Fraction(25, 9), Fraction(1, 72))
        assert p.one_report(1, 3) == (Fraction(9), 0)  # k = d = 1: two folds of the whole budget are enough


class TestError:
    def test_variances_by_hand(self):
        q = 1 / (1 + math.e)
        assert p.report_variance(Laplace(0.5), 0.2) == 8.0
        assert p.report_variance(Buckets(1.0, 1), 0.0) == pytest.approx(q * (1 - q))
        assert p.dummy_variance(Buckets(1.0, 1)) == pytest.approx(0.25)
        assert p.dummy_variance(Buckets(1.0, 6)) == pytest.approx(8 / 72)  # (b + 2)/(12 b)

    @pytest.mark.parametrize("local", [Buckets(1.0, 3), Laplace(1.0)])
    def test_simulation(self, local):
        found = p.deviations(local, n_s=5, n_p=20, repeats=4_000, seed=1, x=0.3)
        assert abs(found["simulated"] - found["exact"]) < 5 * found["error"]

    def test_best_buckets_has_the_gamma_of_lemma_1_and_the_least_error(self):
        local, sd = p.best_buckets(n_p=10_000, eps_ck=0.5, delta=1e-6, n_s=10_000)
        assert local.gamma == pytest.approx(14 * (local.b + 1) * math.log(2e6) / (9_999 * 0.25))
        for b in (local.b - 1, local.b + 1):
            gamma = 14 * (b + 1) * math.log(2e6) / (9_999 * 0.25)
            other = Buckets(math.log((b + 1) / gamma - b), b)
            assert p.standard_deviation(other, n_s=10_000, n_p=10_000, x=0.5 / b) >= sd


class TestIndexPrivacy:
    @settings(max_examples=50, deadline=None)
    @given(st.integers(2, 60), st.fractions(Fraction(1, 100), Fraction(1, 2)))
    def test_the_least_nu_meets_definition_3_and_no_smaller_one_does(self, many, beta):
        nu = p.least_nu(many, beta=beta)

        def holds(v):
            return v >= 1 and Fraction(1, many) <= v * beta and 1 - Fraction(1, many) >= (1 - beta) / v

        assert holds(nu)
        assert not holds(nu * Fraction(999_999, 1_000_000))

    def test_one_index_set_alone_has_no_index_privacy(self):
        assert p.least_nu(1, beta=Fraction(1, 50)) == math.inf
        assert p.least_nu(1, beta=1.0) == 1.0

    @pytest.mark.parametrize(("d", "k", "many"), [(5, 1, 2), (6, 2, 3), (4, 1, 4)])
    def test_posterior_is_one_over_l(self, d, k, many):
        assert p.posterior(d, k, many) == Fraction(1, many)

    def test_theorem_5(self):
        assert p.theorem5(PAPER) == (16, 3.125)
        assert p.theorem5(p.setting(padding=1)) == (50, 1.0)
        assert p.theorem5(p.setting(rate=2, padding=20)) == (0, math.inf)

    def test_overflow_by_l(self):
        one = Setting(d=100, k=10, n=50, n_p=20, eps=0.5, delta=1e-5)
        table = p.overflow_by_l(one).set_index("l")
        assert table["one"].loc[3] == pytest.approx(binom.sf(20, 50, 0.3))
        assert table["any"].loc[1] == pytest.approx(min(1, 100 * binom.sf(20, 50, 0.1)))
        assert list(table.index) == list(range(1, 11))
        # A coordinate among the largest of 30 of 50 users overflows by itself.
        assert (p.overflow_by_l(one, popular=0.6)["one"] == 1).all()
        crowded = p.overflow_by_l(one, popular=0.2).set_index("l")
        assert crowded["one"].loc[2] == pytest.approx(binom.sf(10, 40, 10 / 90))
        whole = p.overflow_by_l(PAPER)
        assert p.largest_fitting_l(whole, delta=5e-6) == 12
        assert p.largest_fitting_l(whole[whole["l"] > 16], delta=0.01) == 0

    def test_a_simulated_round_overflows_as_often_as_computed(self):
        found = p.simulate_padding(Setting(d=400, k=8, n=200, n_p=66, eps=0.5, delta=1e-5), 16, seed=3)
        exact = float(binom.sf(66, 200, 0.32))
        assert found["mean"] == 200 * 16 * 8 / 400
        # coordinates of one round are weakly dependent; five binomial errors
        assert abs(found["overflowing"] - exact) < 5 * math.sqrt(exact * (1 - exact) / 400)


@pytest.fixture
def accounts():
    """The page's table, by hand."""
    rows = [
        (*p.SIMPLE, 0.91006, 0.92781, 0.8966, 0.7938, 0.0901, 0.0906),
        (*p.DOUBLE, 0.23793, 0.30451, 0.30916, 0.2389, 0.1508, 0.1523),
        (*p.GIVEN, 0.23793, 0.30451, 0.30916, 0.2389, 0.1508, 1.4479),
        (*p.TOPK, 0.23793, 0.30451, 0.30916, 0.2389, 1.2863, 1.4479),
        (*p.PLAIN, 20.5352544, 26.0431, 25.8048, 19.5919, 1.2863, 1.4479),
        (*p.DENSE, 2.34819, 2.91914, 3.03135, 2.40408, 2.1283, 2.4045),
    ]
    columns = ["protocol", "variant", "old_bennett", "bennett", "hoeffding", "exact", "attack", "certified"]
    return pd.DataFrame(rows, columns=columns)


def changed(table, who, **values):
    """A copy of `accounts` with other numbers in one row."""
    out = table.copy()
    out.loc[(out["protocol"] == who[0]) & (out["variant"] == who[1]), list(values)] = list(values.values())
    return out


@pytest.fixture(scope="module")
def page():
    return run_page("15_flame_privacy")


class TestThePage:
    def test_every_verdict_is_the_recorded_one(self, page):
        own = {name: entry.verdict for name, entry in registry().items() if entry.notebook == "15_flame_privacy"}
        assert len(own) == 30
        assert {name: found.verdict for name, found in page.outcomes.items()} == own

    def test_its_numbers(self, page, accounts):
        table = page.names["accounts"].merge(accounts, on=["protocol", "variant"], suffixes=("", "_hand"))
        for name in accounts.columns[2:]:
            assert table[name].to_numpy() == pytest.approx(table[f"{name}_hand"].to_numpy(), rel=2e-3), name
        ratios = page.names["ratios"].set_index("eps")
        assert ratios.loc[0.8, "simple"] == pytest.approx(2.55, rel=0.005)
        assert ratios.loc[0.8, "double"] == pytest.approx(137.36, rel=0.005)
        assert page.names["index"]["nu"].iloc[[0, 15, 49]].tolist() == [math.inf, 3.125, 1.0]
        exponents = page.names["exponents"]["exponent"].tolist()
        assert exponents == pytest.approx([0.5, -1, 0, 1 / 6 - 1, -2 / 3], abs=0.01)
        said = {
            "F10": "0.2910",  # 4/(8 (e - 1))
            "F15": "25.99",
            "F14": "stay within it",
            "F8": r"$l$ = 12, $\nu$ = 4.17",
            "F23": "at most 254 at $d$ = 785 and at least 3,056 at $d$ = 78,500: it grows",
        }
        for name, text in said.items():
            assert text in page.outcomes[name].reason
        assert [page.outcomes[name].agreeing for name in ("F1", "F2", "F6", "F7")] == ["in 1 of 2 readings", ""] * 2
        assert "gives 20.53525, 0.00525 away" in page.outcomes["F6"].readings[0].found

    @pytest.mark.slow
    def test_where_the_padding_is_too_small_nothing_is_certified(self):
        ran = run_page("15_flame_privacy", rate=2.0, padding=20.0)
        assert {found.missing for found in ran.outcomes.values()} == {"settings"}
        assert any("For SS-Double nothing is certified" in text for text in ran.said)

    def test_figures_draw_their_tables(self, accounts):
        axis = p.draw_budgets(accounts).axes[0]
        spans = [segment[:, 0].tolist() for segment in axis.collections[0].get_segments()]
        assert spans == accounts[["attack", "certified"]].to_numpy().tolist()
        assert accounts["old_bennett"].tolist() in [list(line.get_xdata()) for line in axis.lines]
        index, overflow = p.figure4(beta=0.1, most=10), p.overflow_by_l(SMALL)
        left, right = p.draw_index_privacy(index, overflow).axes
        assert list(left.lines[2].get_ydata()) == index["nu"].iloc[1:].tolist()
        assert list(right.lines[0].get_ydata()) == overflow.loc[overflow["any"] > 0, "one"].tolist()
        plt.close("all")


class TestPieces:
    def test_f10_needs_the_correction_it_states(self):
        table = p.algorithm1(eps=1.0, b=2, users=10_000, seed=1).set_index("rule", drop=False)
        assert p.algorithm_1(table).verdict == "holds with correction"
        right, wrong = table.loc["corrected"], table.loc["printed"]
        for printed, corrected, verdict in ((right, right, "verified"), (wrong, wrong, "refuted")):
            rows = [printed.to_dict() | {"rule": "printed"}, corrected.to_dict() | {"rule": "corrected"}]
            assert p.algorithm_1(pd.DataFrame(rows)).verdict == verdict
        # a wrong debiasing shows in the simulation alone
        biased = table.assign(error=table["error"] + 0.2)
        assert p.algorithm_1(biased).verdict == "refuted"

    def test_one_coordinate_follows_its_numbers(self, page):
        lemma1, theorem3 = page.names["lemma1"], page.names["theorem3"]
        assert p.laplace_blanket(p.least_densities([1.0]).assign(stated=math.exp(-1))).verdict == "refuted"
        assert p.lemma_1(lemma1.assign(corrected=lemma1["corrected"] / 10)).verdict == "refuted"
        assert p.lemma_1(lemma1.assign(zero=0.0)).verdict == "verified"
        for check, more in ((p.theorem_2, ()), (p.theorem_3, (page.names["lost"],))):
            assert check(theorem3.assign(zero=0.0), *more).verdict == "verified"
            assert check(theorem3.assign(tight=2 * theorem3["delta"]), *more).verdict == "refuted"

    def test_f19_counts_what_does_not_fit(self):
        table = p.coordinate_cases([(0.5, 1, 0.1, 20_000, 2_000, 1e-6)], padded=True)  # n_p is the mean of n_(s,j)
        assert p.theorem_3(table, {333: 0.0, 20: 0.4}).verdict == "refuted"

    def test_a_subsampling_of_beta_to_the_three_halves_is_seen(self, monkeypatch):
        """The amplification that Corollary 3 would like."""
        monkeypatch.setattr(a, "subsampled", lambda eps, beta: math.log1p(beta**1.5 * math.expm1(eps)))
        few = [(0.5, 1, 0.1, 20_000, 5_000, 1e-6)]
        assert p.theorem_2(p.coordinate_cases(few, padded=False)).verdict == "refuted"
        assert p.theorem_3(p.coordinate_cases(few, padded=True), {333: 0.0, 20: 0.4}).verdict == "refuted"

    def test_f16_follows_the_exponents(self, page):
        table, simulated = page.names["exponents"], page.names["simulated"]
        stated = table.assign(exponent=table["stated"])
        assert p.proposition_1(stated, 0.06, simulated, 4).verdict == "verified"
        # The registry's tolerance is 0.1.
        assert p.proposition_1(stated.assign(exponent=stated["stated"] + 0.11), 0.06, simulated, 4).verdict == "refuted"
        assert p.proposition_1(table, 0.06, simulated, 4).verdict == "holds with correction"
        # The correction needs the stated order without dummies, and the corrected one with them.
        for dummies in (False, True):
            moved = table["exponent"] + 0.2 * (table["dummies"] == dummies)
            assert p.proposition_1(table.assign(exponent=moved), 0.06, simulated, 4).verdict == "refuted"
        assert p.proposition_1(table, 0.06, simulated | {"simulated": 9.0}, 4).verdict == "not checkable"

    def test_f15_follows_the_exact_gaussian(self, monkeypatch):
        def verdict(*stated):
            return p.gaussian_noise(p.gaussian_baselines(stated, delta=5e-6), 5e-6).verdict

        assert [verdict(0.24, 1.0), verdict(20.53, 15.0)] == ["verified", "refuted"]
        monkeypatch.setattr(mechanisms, "classical_gaussian_scale", lambda **k: 100.0)
        assert verdict(20.53, 0.24) == "verified"

    def test_f25_follows_the_divergence(self, page):
        found, pure = page.names["pointwise"], page.names["responses"]
        assert (found["events"], found["pointwise"]) == (1.0, pytest.approx(1e-6))
        assert p.definition_2(found).verdict == "illustrated"
        assert q.reports_are_private(found | {"events": 1e-6}, pure).verdict == "verified"
        assert q.reports_are_private(found, pure | {"sum": 0.5}).verdict == "refuted"


class TestTheVector:
    def test_f17(self, page):
        names = page.names
        given = [names["theorem1"], names["vectors"], {"stated": 1.6, "shown": 1e-4}, names["corollary2"]]
        assert p.theorem_1(*given).verdict == "holds with correction"
        low = names["theorem1"].assign(stated=names["theorem1"]["stated"] / 20)
        assert p.theorem_1(low, *given[1:]).verdict == "refuted"
        kept = [*given[:2], {"stated": 1.6, "shown": 0.0}, names["corollary2"].assign(ratio=1.0)]
        assert p.theorem_1(*kept).verdict == "verified"

    def test_f11_follows_its_counterexamples(self, page, accounts):
        names = page.names
        none = [(one, found | {"shown": 0.0}) for one, found in names["attacked"]]
        zero = (Fraction(25, 9), Fraction(0))
        assert p.theorem_4((3, 3), zero, none, names["right_folds"], accounts).verdict == "verified"
        for report, cases in (((Fraction(25, 9), Fraction(1, 72)), none), (zero, names["attacked"])):
            assert p.theorem_4((3, 3), report, cases, names["right_folds"], accounts).verdict == "refuted"

    def test_f12_follows_the_table(self, accounts):
        low = changed(accounts, p.TOPK, attack=0.05, certified=0.1)
        assert p.same_amplification(PAPER, low, 0.1).verdict == "verified"
        wide = changed(accounts, p.TOPK, attack=0.05, certified=2.0)
        assert p.same_amplification(PAPER, wide, 0.1).verdict == "not checkable"
        assert p.topk_delta(PAPER, accounts) == attacks.sum_delta(Laplace(0.5), real=157, padded=157 * 333, eps=0.1523)

    def test_f21(self):
        table = p.other_randomizers(eps=(0.5,), d=20, n=100, n_p=50, delta=5e-6)
        assert p.any_randomizer(table).verdict == "refuted"
        assert p.any_randomizer(table).verdict == registry()["F11"].verdict  # the same defect
        assert p.any_randomizer(table.assign(theorem4=table["double"])).verdict == "verified"
        assert p.any_randomizer(table.assign(theorem1=table["simple"] / 2)).verdict == "refuted"
        assert "are below it too" in p.any_randomizer(table.assign(double=table["attack"] / 2)).reason

    def test_f14(self):
        table = p.messages([(PAPER, 0.24)])
        named = table.assign(values=0.0)  # the names are enough
        assert p.linked_messages(named).verdict == "holds with correction"
        assert p.linked_messages(named.assign(pairs=1.0)).verdict == "refuted"
        assert p.linked_messages(table.assign(values=0.0, indices=0.0)).verdict == "verified"
        assert "exceed it by a factor of 2" in p.linked_messages(table.assign(pairs=2 * table["delta"])).reason

    def test_f8(self, page):
        names = page.names
        given = [names["overflow"], names["crowded"], names["drawn"], 5e-6]
        fitting = [names["overflow"].assign(one=0.0, any=0.0), *given[1:]]
        assert p.theorem_5(p.setting(padding=2.9), *fitting).verdict == "not reproduced"
        assert p.theorem_5(PAPER, *fitting).verdict == "verified"
        assert p.theorem_5(PAPER, *given).verdict == "holds with correction"
        assert p.theorem_5(PAPER, given[0].assign(any=1.0), *given[1:]).verdict == "refuted"  # nothing fits

    def test_f9(self, page):
        posteriors, least, beta = (page.names[name] for name in ("posteriors", "least", "beta"))
        assert p.proposition_2({(6, 1, 3): Fraction(1, 6)}, least, beta, 7_850, 160).verdict == "refuted"
        # Definition 3 with its first inequality only, and k that divides d: then it holds as stated.
        first = [max(1, 1 / (many * beta)) for many in range(1, 51)]
        assert p.proposition_2(posteriors, first, beta, 8_000, 160).verdict == "verified"
        assert p.proposition_2(posteriors, first, beta, 7_850, 160).verdict == "holds with correction"


class TestNumbers:
    @pytest.mark.parametrize(
        ("check", "who", "printed"), [(p.simple_budget, p.SIMPLE, 0.91), (p.without_subsampling, p.PLAIN, 20.53)]
    )
    def test_a_printed_budget_follows_the_row(self, accounts, check, who, printed):
        def verdict(whole=0.0, **values):
            return check(changed(accounts, who, **values), PAPER, whole).verdict

        assert verdict() == verdict(whole=1.0) == "holds with correction"
        assert verdict(old_bennett=1.05 * printed) == "not reproduced"
        assert verdict(old_bennett=np.nan) == "not reproduced"
        assert verdict(attack=1.2 * printed, certified=1.3 * printed) == "refuted"
        assert verdict(certified=1.3 * printed) == "not checkable"
        assert verdict(whole=1.0, certified=1.3 * printed) == "refuted"  # nothing holds of what was printed

    def test_what_counts_as_coming_out(self, accounts):
        def found(value, check, who):
            return check(changed(accounts, who, old_bennett=value), PAPER, 0.0)

        for value, good in ((0.9051, True), (0.9149, True), (0.916, False), (0.904, False)):
            assert (found(value, p.simple_budget, p.SIMPLE).verdict != "not reproduced") is good, value
        # F6: rounded or cut; the second only if the number is the README's
        ours = 20.5352544
        for value, rounded, cut in ((ours, False, True), (20.5301, True, True), (20.5251, True, False)):
            readings = found(value, p.without_subsampling, p.PLAIN).readings
            assert [one.verdict != "not reproduced" for one in readings] == [rounded, cut], value
            assert bool(readings[1].excluded) is (value != ours)
        assert found(ours, p.without_subsampling, p.PLAIN).verdict == "holds with correction"
        assert found(20.5361, p.without_subsampling, p.PLAIN).verdict == "not reproduced"

    def test_f5_needs_both_protocols(self, accounts):
        def verdict(table, whole=0.0):
            return p.double_budget(table, 1.06, PAPER, whole).verdict

        found = p.double_budget(accounts, 1.06, PAPER, 0.0)
        assert "SS-Topk" in found.reason
        assert "certified to be at most 0.152" in found.reason
        certified = changed(accounts, p.TOPK, attack=0.1, certified=0.2)
        open_ = changed(accounts, p.TOPK, attack=0.1, certified=0.5)
        assert verdict(certified) == verdict(certified, 1.0) == "holds with correction"
        assert [verdict(open_), verdict(open_, 1.0)] == ["not checkable", "refuted"]
        assert verdict(changed(certified, p.DOUBLE, old_bennett=0.3)) == "not reproduced"
        both = changed(accounts, p.DOUBLE, attack=0.3, certified=0.4)
        assert p.double_budget(both, 1.06, PAPER, 0.0).reason.startswith("The number is false for SS-Double")

    def test_f7(self, accounts):
        def found(whole, **values):
            return p.dense_budget(changed(accounts, p.DENSE, **values), DENSE, whole)

        assert found(1.0).verdict == "refuted"
        assert [one.verdict for one in found(1.0).readings] == ["refuted", "not checkable"]
        assert found(1.0).readings[1].excluded
        assert found(0.0).verdict == "not checkable"  # were whole messages not broken
        assert found(1.0, certified=2.3).verdict == "holds with correction"
        assert found(0.0, attack=2.4).verdict == "refuted"
        assert found(0.0, certified=2.3, old_bennett=2.349).verdict == "not reproduced"

    def test_whole_messages_by_values_or_by_names(self):
        assert p.whole_messages(PAPER, 20.53) == 1.0  # the indices
        full = PAPER.full()
        one = attacks.linked_delta(Laplace(full.eps), k=7_850, messages=1_000, eps=0.1)
        assert p.whole_messages(full, 0.1) == one

    @pytest.mark.parametrize(
        ("simple", "double", "verdict"),
        [((2477, 3600), (2904, 2948), "refuted"), ((10, 12), (400, 500), "verified"),
         ((10, 60), (300, 500), "not checkable"), ((10, 12), (230, 239), "refuted")],
    )  # fmt: skip
    def test_f2_follows_the_ratios(self, page, simple, double, verdict):
        low, high = zip(simple, double, (1.0, 2.0), strict=True)
        table = pd.DataFrame({"case": ["simple", "double", "equal"], "ratio_low": low, "ratio_high": high})
        ratios, one = page.names["ratios"], page.names["at_ratio"]
        for double, formula in ((ratios["double"], "holds with correction"), (130.0, "not reproduced")):
            found = p.dozens(ratios.assign(double=double), table, one)
            assert found.verdict == verdict
            assert [each.verdict for each in found.readings] == [formula, verdict]

    def test_a_looser_bound_is_no_smaller_amplification(self, page):
        """Where a sentence is about the protocols, a formula saves none; a figure's numbers are its formulas'."""
        for name, formula in (("F2", "holds with correction"), ("F23", "verified")):
            assert page.outcomes[name].verdict == "refuted"
            assert formula in [one.verdict for one in page.outcomes[name].readings if one.excluded]
        assert not any(one.excluded for one in page.outcomes["F1"].readings)

    def test_f1_follows_the_formulas_and_the_ratios(self, page):
        ratios, certified, one = (page.names[name] for name in ("ratios", "certified", "at_ratio"))
        assert p.figure_3(ratios.assign(double=130.0), certified, one).verdict == "not reproduced"
        true = certified.assign(ratio_low=[2.5, 137.0, 1.0], ratio_high=[2.6, 138.0, 2.0])
        assert p.figure_3(ratios, true, one).verdict == "verified"


class TestStatements:
    """What FLAME takes from others or says in passing."""

    def test_dimensions_by_hand(self):
        one = Setting(d=40, k=40, n=200, n_p=200, eps=0.5, delta=1e-5)
        table = q.dimensions(one, (20, 80)).set_index(["fixed", "d"])
        whole = accounting.simple(Laplace(0.25), d=80, n=200, delta=1e-5)
        assert table.loc[("vector", 80), ["attack", "certified"]].tolist() == [whole.lower, whole.upper]
        each = accounting.simple(Laplace(0.5), d=80, n=200, delta=1e-5)
        assert table.loc[("coordinate", 80), "ratio_low"] == 40 / each.upper
        assert table.loc[("vector", 20), "eps_local"] == 20

    def test_f23_follows_the_intervals(self, page):
        table = q.dimensions(PAPER, (785, 7_850))
        assert q.dimension(table).verdict == "refuted"
        swapped = table.assign(ratio_low=table["ratio_low"].to_numpy()[[1, 0, 3, 2]])
        swapped = swapped.assign(ratio_high=table["ratio_high"].to_numpy()[[1, 0, 3, 2]])
        assert q.dimension(swapped).verdict == "verified"
        assert q.dimension(table.assign(ratio_low=1.0)).verdict == "not reproduced"

    def test_f27_follows_the_ratio(self):
        table = q.corollary1_cases([(1_000, 1e-3, 0.5)])
        assert table["eps"].iloc[0] == pytest.approx(math.log(1_000 / math.log(1_000)) / 4)
        assert q.corollary_1(table.assign(ratio=25.0)).verdict == "refuted"

    @given(st.floats(0.01, 2), st.integers(1, 12), st.floats(0, 0.3), st.floats(0, 5))
    @settings(max_examples=40, deadline=None)
    def test_composed_response_term_by_term(self, eps, folds, delta, at):
        p1 = 1 / (1 + math.exp(-eps))
        total = 0.0
        for told in range(folds + 1):
            share = math.comb(folds, told) * delta**told * (1 - delta) ** (folds - told)
            rest = folds - told
            inner = 1.0 if told else sum(
                math.comb(rest, i) * max(p1**i * (1 - p1) ** (rest - i)
                                         - math.exp(at) * (1 - p1) ** i * p1 ** (rest - i), 0)
                for i in range(rest + 1)
            )  # fmt: skip
            total += share * inner
        assert q.composed_response(eps, delta=delta, folds=folds, at=at) == pytest.approx(total, abs=1e-7)

    def test_lemmas_follow_the_exact_delta(self):
        table = q.lemmas(cases=[(0.5, 1e-6, 10, 1e-6)])
        for check in (q.lemma_2, q.lemma_3):
            assert check(table).verdict == "verified"
            assert check(table.assign(exact=table["stated"] + 1e-3)).verdict == "refuted"
        subsamples = q.subsamples([(10, 3, 0.5)])
        assert subsamples["exact"].iloc[0] == pytest.approx(0.003)  # m/n of 0.01, and no less
        assert q.lemma_4(subsamples.assign(exact=0.1)).verdict == "refuted"

    @pytest.mark.parametrize(("d", "k", "many"), [(8, 1, 4), (9, 2, 3), (6, 2, 2), (6, 2, 3)])
    def test_selections_enumerated(self, d, k, many):
        others = list(combinations(range(k, d), k * (many - 1)))
        seen = sum(not set(range(k, 2 * k)) <= set(other) for other in others)
        assert q.selection_seen(d=d, k=k, many=many) == pytest.approx(seen / len(others))
        assert q.selection_seen(d=d, k=k, many=1) == 1.0

    def test_f32(self, page):
        pure = page.names["responses"]
        assert q.collusion({50: 0.0}, pure).verdict == "verified"
        assert q.collusion({1: 1.0}, pure | {"report": 0.1}).verdict == "refuted"

    def test_without_padding_against_enumeration(self):
        """One coordinate, three users: what the analyzer sees, worst over what the other two hold."""
        one = Setting(d=1, k=1, n=3, n_p=3, eps=0.5, delta=0.02)
        half = dataclasses.replace(one, d=2)  # beta = 1/2
        eps = q._unpadded(half, victim=0.5, folds=1)
        bit = {0: 1 / (1 + math.exp(0.5)), 1: math.exp(0.5) / (1 + math.exp(0.5))}
        worst = 0.0
        for other in ((0, 0), (0, 1), (1, 1)):
            laws = []
            for mine in (0, 1):
                law = np.zeros((4, 4))
                for chosen in range(8):
                    held = [x for i, x in enumerate((mine, *other)) if chosen >> i & 1]
                    count = np.ones(1)
                    for x in held:
                        count = np.convolve(count, [1 - bit[x], bit[x]])
                    law[len(held), : count.size] += count / 8
                laws.append(law.ravel())
            worst = max(worst, float(np.maximum(laws[0] - math.exp(eps) * laws[1], 0).sum()))
        assert 0 < worst <= 0.02

    def test_one_index_by_hand(self):
        """One user, and two users of one coordinate, where nothing is sampled; e^eps = 3 and e^at = 2."""
        for d, n, delta in ((3, 1, 3 / 4 - 2 / 4), (1, 2, 9 / 16 - 2 * 3 / 16)):
            found = q.one_index(d=d, n=n, eps=math.log(3), at=math.log(2))
            assert found["both"] == pytest.approx(found["known"]) == pytest.approx(delta)

    def test_f33_needs_both_examples(self):
        found, small = q.unpadded(TEN), q.one_index(d=2, n=3, eps=1.0, at=0.5)
        assert found["padded"] < found["both"] < found["shuffling"] <= found["local"]
        assert small["both"] < small["known"]
        assert q.without_padding(TEN, found, small).verdict == "refuted"
        assert q.without_padding(TEN, found | {"both": 9.0}, small).verdict == "verified"
        assert q.without_padding(TEN, found, small | {"both": small["known"]}).verdict == "verified"

    def test_f66_by_hand(self, page):
        assert q.filled([3, 1, 0], k=2, seed=None) == (2, 1)
        for needs in combinations(range(5), 3):  # the largest first fill whenever any choice does
            if sum(needs) % 2 == 0 and max(needs) <= sum(needs) // 2:
                assert q.filled(list(needs), k=2, seed=None)[1] == 0
        one = Setting(d=40, k=4, n=100, n_p=30, eps=0.5, delta=1e-5)
        assert sum(q.needs_of(one, seed=1)) == 40 * 30 - 100 * 4  # v k = d n_p - n k
        few = page.names["few"]
        assert q.dummies_fill(few, (5, 0), (5, 0)).verdict == "verified"
        assert q.dummies_fill(few, (5, 1), (5, 1)).verdict == "refuted"


def only_indices(claim):
    """Two indices a message at their own local budget: the values show nothing, and the few dummies hide no index."""
    return (p.messages([(Setting(d=100, k=2, n=10, n_p=1, eps=0.5, delta=1e-3), 1.0)]),)


def no_odds(claim):
    """A report that says nothing: only the attacks at k = 1 are left against Theorem 4."""
    cases = []
    for d, n, n_p, local, bound in (
        (100, 1_000, 333, Laplace(0.5), "exact"),
        (7_850, 10**6, 10_000, Buckets(0.5, 1), "lemma1"),
    ):
        one = Setting(d=d, k=1, n=n, n_p=n_p, eps=0.5, delta=5e-6)
        cases.append((one, p.theorem4_attack(one, local, bound=bound)))
    made = {"attack": 0.1, "certified": 0.2}
    accounts = pd.DataFrame([{"protocol": p.DOUBLE[0], "variant": p.DOUBLE[1], **made}])
    return (3, 1), p.one_report(3, 1), cases, made, accounts


def attacked_little(claim):
    """Attacks that show something on whole messages only: what is certified of pairs decides."""
    rows = [{"protocol": who[0], "variant": who[1], **p.certify(who, one, attack=False)}
            for who, one in ((p.DOUBLE, PAPER), (p.GIVEN, PAPER), (p.TOPK, PAPER), (p.DENSE, DENSE))]  # fmt: skip
    for line, one in zip(rows, (PAPER, PAPER, PAPER, DENSE), strict=True):
        line["attack"] = 0.0  # also where exactly k indices are attacked
        line |= {name: a.double(one, bound=name).eps for name in ("old_bennett", "bennett", "hoeffding", "exact")}
    table = pd.DataFrame(rows)
    return (table, 1.06, PAPER, 1.0) if claim == "F5" else (table, DENSE, 1.0)


def all_but_one_selected(claim):
    """All indices but one set are reported, and reports that say nothing more than their budget."""
    return {2: q.selection_seen(d=8, k=2, many=3)}, q.collected(eps=1.0, n=3)


_A, _P, _FLAME = "pages.p15_amplification", "pages.p15_flame_privacy", "algorithms.flame"
_P15 = "pages.p15_statements"
PLANTED = (
    Planted("F8", _P, "/ (one.n * one.beta) * (1", "/ (2 * one.n * one.beta) * (1", "Theorem 5's l halved"),
    Planted(
        "F1", _A, "math.sqrt(14 * math.log(2 / delta)", "math.sqrt(7 * math.log(2 / delta)", "Lemma 1 with 7 for 14"
    ),
    Planted(
        "F10",
        f"{_FLAME}.randomizers",
        "        return self.answers / (math.exp(self.eps) + self.answers - 1)",
        "        return self.answers / (math.exp(self.eps) + self.answers)",
        "gamma without the -1",
    ),
    Planted(
        "F13",
        f"{_FLAME}.randomizers",
        "        return math.exp(-self.eps / 2)",
        "        return math.exp(-self.eps)",
        "Laplace blanket e^-eps",
    ),
    Planted(
        "F20", _A, "math.sqrt(14 * math.log(2 / delta)", "math.sqrt(2 * math.log(2 / delta)", "Lemma 1 with 2 for 14"
    ),
    Planted(
        "F16", _P, "    return (local.answers**2 - 1) / 12 / local.b**2", "    return 0.0", "dummies without variance"
    ),
    Planted(
        "F15",
        "accountant.mechanisms",
        "    return math.sqrt(2 * math.log(1.25 / delta))",
        "    return math.sqrt(4 * math.log(1.25 / delta))",
        "classical Gaussian with 4 for 2",
    ),
    Planted(
        "F25",
        "accountant.discrete",
        "np.maximum(p0 - scaled(check.real(eps=eps), q0), 0)",
        "np.maximum(p0 - scaled(check.real(eps=eps), q0), -1)",
        "hockey-stick with negative parts",
    ),
    Planted(
        "F18 F19",
        _A,
        "    return math.log1p(beta * math.expm1(eps))",
        "    return math.log1p(beta / 2 * math.expm1(eps))",
        "subsampling with half of beta",
    ),
    Planted(
        "F21",
        _A,
        "    return math.log1p(beta * math.expm1(eps))",
        "    return math.log1p(8 * beta * math.expm1(eps))",
        "subsampling with eight times beta",
    ),
    Planted(
        "F14",
        f"{_FLAME}.attacks",
        "    return max(0.0, 1 - dummies * math.exp(-float(log_sets)))",
        "    return 0.0",
        "indices that show nothing",
        tables="only_indices",
    ),
    Planted("F9", _P, "max(beta / beta, 1 / (many * beta)", "max(2 * beta / beta, 1 / (many * beta)", "nu at least 2"),
    Planted(
        "F4 F6",
        _A,
        "(t * math.log1p(u)) / (gamma * n)",
        "(t * math.log1p(u)) / (2 * gamma * n)",
        "half of the first Bennett form",
    ),
    Planted(
        "F5 F7",
        f"{_FLAME}.accounting",
        "    return min(epsilon_of(Sides([(law, folds)], [(law, folds)]), delta).upper, folds * most)",
        "    return 0.15 * min(epsilon_of(Sides([(law, folds)], [(law, folds)]), delta).upper, folds * most)",
        "certified at a seventh",
        tables="attacked_little",
    ),
    Planted(
        "F23",
        _P15,
        "        whole = now.eps_local\n",
        "        whole = now.eps_local / d\n",
        "a coordinate's budget for the vector's",
    ),
    Planted(
        "F27",
        _P15,
        "min(1.0, eps) * math.exp(eps) * math.sqrt(math.log(1 / delta) / n)",
        "min(1.0, eps) * math.exp(eps) * math.log(1 / delta) / n",
        "the expression without its root",
    ),
    Planted("F28", _P15, "    loss = (2 * ones - folds) * eps\n", "    loss = 2 * ones * eps\n", "losses of one sign"),
    Planted(
        "F29",
        _P15,
        "math.sqrt(2 * folds * math.log(1 / more)) * eps + folds * eps * math.expm1(eps)",
        "math.sqrt(0.2 * folds * math.log(1 / more)) * eps",
        "advanced composition with 0.2 for 2",
    ),
    Planted(
        "F30",
        _A,
        "    return math.log1p(beta * math.expm1(eps))",
        "    return math.log1p(beta / 2 * math.expm1(eps))",
        "subsampling with half of beta",
    ),
    Planted(
        "F32",
        _P15,
        "    return -math.expm1(float(log[0] - log[1]))",
        "    return 0.0",
        "indices that show nothing",
        tables="all_but_one_selected",
    ),
    Planted(
        "F33",
        _P15,
        '{"both": (one.beta, one.d), ',
        '{"both": (1.0, one.d), ',
        "subsampling not counted",
    ),
    Planted(
        "F66",
        _P15,
        "            taken = np.argpartition(-need, k - 1)[:k]",
        "            taken = np.argpartition(need + 999 * (need == 0), k - 1)[:k]",
        "the smallest needs first",
    ),
    Planted(
        "F2",
        f"{_FLAME}.accounting",
        "    beta, n = k / d, check.count(n=n)\n    lost",
        "    beta, n = k / d / 30, check.count(n=n)\n    lost",
        "an index drawn thirty times less often",
    ),
    Planted(
        "F17",
        _A,
        "    return min(folds * eps, eps * math.sqrt",
        "    return 0.1 * min(folds * eps, eps * math.sqrt",
        "composition ten times too small",
    ),
    Planted(
        "F12",
        f"{_FLAME}.accounting",
        "_attacked(local, k, n_p, delta, all_users=most_selected == n_p)",
        "_attacked(local, 1, n_p, delta, all_users=most_selected == n_p)",
        "SS-Topk attacked in one coordinate",
    ),
    Planted(
        "F11",
        f"{_FLAME}.attacks",
        "        return max(0.0, float(best) - (1 + e) * self.noise)",
        "        return 0.0",
        "an attack that never succeeds",
        tables="no_odds",
    ),
)

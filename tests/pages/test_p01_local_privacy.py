"""Page 01: events against exact fractions, the mechanisms by hand and by scipy's laws; the checks; planted errors."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import ROOT, Planted, run_page
from scipy import stats

from gspa.accountant import mechanisms
from gspa.pages import p01_local_privacy as p

PAGE = "01_local_privacy"
WEIGHTS = st.integers(2, 6).flatmap(
    lambda k: st.tuples(*[st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any)] * 2)
)


def by_fractions(first, second, ratio):
    """The least delta over every event, exactly."""
    every = [c for k in range(len(first) + 1) for c in combinations(range(len(first)), k)]
    return float(max(sum(first[i] for i in c) - ratio * sum(second[i] for i in c) for c in every))


@settings(max_examples=40)
@given(WEIGHTS, st.sampled_from([(1, 1), (3, 2), (4, 1)]))
def test_definition_1_over_events_against_fractions(weights, ratio):
    first, second = ([Fraction(w, sum(law)) for w in law] for law in weights)
    exact, back = (by_fractions(*laws, Fraction(*ratio)) for laws in ((first, second), (second, first)))
    eps = math.log(ratio[0] / ratio[1])
    floats = [float(x) for x in first], [float(x) for x in second]
    assert p.delta_over_events(*floats, eps) == pytest.approx(exact, abs=1e-13)
    assert p.definition_delta(floats, eps) == pytest.approx(max(exact, back), abs=1e-13)


@pytest.mark.parametrize("eps", [0.1, 1.0, 3.0])
def test_the_examples_have_the_deltas_known_by_hand(eps):
    table = p.whole_range(eps=eps)
    assert table["all_events"].round(12).tolist() == [0.0, 0.0, 0.0, 0.1, 1.0]
    assert table["printed"].tolist() == [0.0] * 5


def test_relations_by_hand():
    table = p.relations(records=2, values=2, eps=0.5)
    # Histograms (2,0), (1,1), (0,2): four ordered pairs by replacement; each of (1,0), (0,1) is below two of them.
    assert table["pairs"].tolist() == [4, 4]
    assert table["count"].tolist() == [0.0, 1.0]
    assert table["histogram"].tolist() == [1.0, 0.5]


def test_leaks_by_hand():
    table = p.leaks(eps=1.0, delta=1e-5).set_index("mechanism")
    truth = 1 / (1 + math.exp(-1.001))
    assert table.loc["randomized response", "exceeds"] == pytest.approx(truth, rel=1e-12)
    assert table.loc["randomized response", "delta"] == pytest.approx(truth - math.e * (1 - truth), rel=1e-9)
    assert table.loc["Laplace noise", "delta"] == pytest.approx(-math.expm1(-0.0005), rel=1e-9)
    assert table.loc["Gaussian noise", "delta"] == pytest.approx(1e-5, rel=1e-9)


@settings(max_examples=15)
@given(st.floats(0.01, 20), st.floats(1e-12, 0.5))
def test_the_corrected_reading_of_delta_holds_everywhere(eps, delta):
    table = p.leaks(eps=eps, delta=delta)
    assert (table["ratio"] >= 1 - 1e-9).all()
    assert (table["tail"] <= 1 + 1e-9).all()
    assert (table["mean"] - 1).abs().max() < 1e-9


def test_random_pairs_are_laws_with_zeros():
    pairs = p.random_pairs(pairs=50, rng=3)
    assert all(abs(law.sum() - 1) < 1e-12 for pair in pairs for law in pair)
    assert any((law == 0).any() for pair in pairs for law in pair)


def test_laplace_losses_reach_eps_and_no_more():
    table = p.laplace_losses(eps=0.7, dimensions=(1, 3, 30), draws=500, seed=5)
    np.testing.assert_allclose(table["at_answer"], 1, rtol=1e-12)
    assert (table["largest"] <= 1 + 1e-12).all()
    assert table["largest"][0] == pytest.approx(1)  # in one dimension half of all reports reach it


def test_laplace_curve_agrees_with_its_integral():
    table = p.laplace_curve(eps=2.5)
    np.testing.assert_allclose(table["closed"], table["integrated"], atol=1e-12)
    # At eps = 0, total variation of Lap(0, 0.4) and Lap(1, 0.4): 1 - e^{-1/(2 0.4)}.
    assert table["integrated"][0] == pytest.approx(-math.expm1(-1.25), rel=1e-10)


def test_promise_limits_and_curves_tell_one_story():
    limits = p.promise_limits([0.1, 1e-5])
    assert (limits["below"] < 1).all()
    assert (limits["beyond"] > 1).all()
    for row in limits.itertuples():
        curve = p.promise_curves([row.delta], [0.99 * row.limit, 1.01 * row.limit])
        assert curve["kept"].tolist() == pytest.approx([row.below, row.beyond])
        # Where the promise holds the formula has at least the least noise, and less where it is broken.
        assert curve["noise"][0] > 1 > curve["noise"][1]
        np.testing.assert_allclose(curve["analytic_kept"], 1, rtol=1e-9)


def test_variances_by_hand():
    table = p.noise_table(eps=0.5, deltas=[0.01], dimensions=[1, 4, 9]).set_index(["shape", "d"])
    # Laplace of scale d/eps has variance 2 (d/eps)^2; Gaussian 2 ln(125) d/eps^2, ln(125) = 4.828.
    assert table.loc[("every coordinate", 4), "laplace"] == pytest.approx(2 * 64)
    assert table.loc[("every coordinate", 4), "classical"] == pytest.approx(2 * 4.8283137373 * 16)
    assert table.loc[("two cells of a histogram", 9), "laplace"] == pytest.approx(2 * 16)
    assert table.loc[("one coordinate", 9), "laplace"] == pytest.approx(8)


def test_equal_variance_against_scipys_laws():
    table = p.equal_variance([0.25, 2.0])
    for row in table.itertuples():
        laplace, gauss = stats.laplace(scale=row.deviation / math.sqrt(2)), stats.norm(scale=row.deviation)
        assert laplace.std() == pytest.approx(gauss.std())
        assert row.laplace_0 == pytest.approx(2 * laplace.cdf(0.5) - 1)
        assert row.gaussian_0 == pytest.approx(2 * gauss.cdf(0.5) - 1)
    assert math.isnan(table["crossing"][0])  # with little noise Laplace is ahead everywhere
    crossing = float(table["crossing"][1])
    at = [mechanisms.laplace_delta(crossing, scale=math.sqrt(2)), mechanisms.gaussian_delta(crossing, scale=2.0)]
    assert at[0] == pytest.approx(at[1], rel=1e-9)


def test_figures_draw_their_tables():
    curves = p.privacy_curves(eps=0.8, delta=1e-4, eps_max=2.0, points=11)
    (axis,) = p.mechanism_curves(curves, eps=0.8, delta=1e-4).axes
    drawn = {line.get_label(): dict(line.get_xydata().tolist()) for line in axis.get_lines()}
    assert drawn["what is promised"] == {0.8: 1e-4}
    assert drawn["analytic Gaussian"][0.8] == pytest.approx(1e-4)
    assert drawn["Gaussian (Definition 5)"][0.8] < 1e-4
    assert drawn["Laplace (Definition 4)"][0.0] == pytest.approx(-math.expm1(-0.4))
    promises = p.promise_curves([1e-5, 0.5], [1.0, 9.0])
    (axis,) = p.promise_kept(promises).axes
    assert axis.get_lines()[1].get_ydata().tolist() == promises["kept"].tolist()[2:]


def test_the_pipeline_is_drawn_for_everybody():
    root = ET.parse(ROOT / "book" / "_static" / "pipeline.svg").getroot()
    name = "{http://www.w3.org/2000/svg}"
    ids = {element.get("id"): element for element in root if element.get("id")}
    title, about = (ids[key] for key in root.get("aria-labelledby").split())
    assert (root.get("role"), title.tag, about.tag) == ("img", f"{name}title", f"{name}desc")
    assert "Definition 6 shuffles data" in about.text
    # Readable at a phone's width, and on a dark page: nothing wider than 400 units, an opaque ground first.
    assert float(root.get("viewBox").split()[2]) <= 400
    ground = next(element for element in root if element.tag == f"{name}rect")
    assert (ground.get("fill"), ground.get("width")) == ("#ffffff", "400")
    assert not [key for element in root.iter() for key in element.attrib if key.endswith("href")]  # it fetches nothing


class TestDefinition1:
    relations = p.relations(eps=1.0)

    def test_two_relations_have_two_numbers(self):
        found = p.definition_1(p.least_deltas(eps=0.5, pairs=20, seed=1), self.relations)
        assert found.verdict == "illustrated"
        assert found.evidence["exact number of records released, one record replaced: TV"] == 0
        assert found.evidence["the same, one record absent: TV"] == 1
        assert "$\\epsilon$ = 2 when a record is replaced" in found.reason

    @pytest.mark.parametrize("columns", [{"divergence": 0.5}, {"divergence": 0.0, "all_events": 0.0}])
    def test_what_differs_or_separates_nothing_proves_nothing(self, columns):
        table = p.least_deltas(eps=0.5, pairs=5, seed=1).assign(**columns)
        assert p.definition_1(table, self.relations).verdict == "not checkable"


class TestDelta:
    table = p.leaks(eps=1.0, delta=1e-5)

    def test_were_delta_the_probability_it_would_be_verified(self):
        assert p.meaning_of_delta(self.table, 1.0).verdict == "holds with correction"
        assert p.meaning_of_delta(self.table.assign(ratio=1.0), 1.0).verdict == "verified"

    @pytest.mark.parametrize(("column", "value"), [("ratio", 0.5), ("tail", 1.1), ("mean", 1 + 1e-8)])
    def test_a_correction_that_fails_is_not_given(self, column, value):
        table = self.table.copy()
        table.loc[0, column] = value
        assert p.meaning_of_delta(table, 1.0).verdict == "refuted"


class TestDefinition2:
    table = p.whole_range(eps=1.0)

    def test_the_input_itself_passes_as_printed(self):
        found = p.definition_2(self.table, 1.0)
        assert found.verdict == "holds with correction"
        assert "holds with $\\delta$ = 0 even for a mechanism that publishes the input itself" in found.reason
        assert found.reason.endswith("is 1.")

    def test_each_other_verdict(self):
        every = self.table.assign(printed=self.table["all_events"])
        assert p.definition_2(every, 1.0).verdict == "verified"
        assert p.definition_2(self.table.assign(divergence=0.5), 1.0).verdict == "not checkable"


class TestDefinition4:
    @staticmethod
    def found(monkeypatch=None, factor=1.0):
        if monkeypatch:
            monkeypatch.setattr(mechanisms, "laplace_scale", lambda eps, sensitivity=1.0: factor * sensitivity / eps)
        losses = p.laplace_losses(eps=1.0, dimensions=(1, 5), draws=500, seed=1)
        return p.definition_4(losses, p.laplace_curve(eps=1.0))

    def test_it_is_tight(self):
        found = self.found()
        assert found.verdict == "verified"
        assert found.evidence[r"$\delta$ at the promised $\epsilon$"] == "0"
        assert found.evidence[r"$\delta$ at 0.99 of it"] == f"{-math.expm1(-0.005):.3g}"

    def test_too_little_noise_is_refuted(self, monkeypatch):
        found = self.found(monkeypatch, 0.9)
        assert found.verdict == "refuted"
        assert "reaches 1.111 times" in found.reason

    def test_a_wrong_closed_form_proves_nothing(self, monkeypatch):
        monkeypatch.setattr(mechanisms, "laplace_delta", lambda eps, scale: 0.0)
        assert self.found().verdict == "not checkable"


@cache
def promised():
    return p.promise_limits(p.DELTAS), p.promise_curves(p.DELTAS, (0.5, 1.0, 2.0, 4.0)), WORST


WORST = mechanisms.WorstDelta(0.896, 3.7868)


class TestDefinition5:
    def test_the_numbers(self):
        found = p.definition_5(*promised())
        assert found.verdict == "holds with correction"
        # Roots of Fact 3 at mu = eps/sqrt(2 log(1.25/delta)), found with mpmath in the accountant's tests.
        assert found.evidence[r"$\delta$ = 1e-05: promise kept up to $\epsilon$"] == "8.4198"
        assert r"\epsilon \le 3.78" in found.correction
        assert r"\epsilon \le 8.41" in found.correction

    def test_each_other_verdict(self):
        limits, curves, _ = promised()
        never = mechanisms.WorstDelta(0.9, math.inf)
        within = curves[curves["eps"] < 3]
        assert p.definition_5(limits.assign(limit=math.inf), within, never).verdict == "verified"
        assert p.definition_5(limits, curves, mechanisms.WorstDelta(0.5, 0.9)).verdict == "refuted"
        assert p.definition_5(limits, curves.assign(kept=1.1), WORST).verdict == "refuted"
        assert p.definition_5(limits.assign(beyond=0.9), curves, WORST).verdict == "not checkable"
        assert p.definition_5(limits, curves.assign(analytic_kept=1.01), WORST).verdict == "not checkable"

    def test_the_smallest_limit_is_below_all_of_them(self):
        found = run_page(PAGE)
        assert found.names["worst_eps"] <= found.names["limits"]["limit"].min()
        assert found.names["worst"] == pytest.approx(tuple(WORST), rel=1e-3)


class TestLaplaceOrGaussian:
    @staticmethod
    def found(*, dimensions=(1, 2, 11, 12, 100), deviations=(0.5, 5.0), **columns):
        table = p.noise_table(eps=1.0, deltas=(1e-5, 0.3), dimensions=dimensions).assign(**columns)
        return p.laplace_or_gaussian(table, p.equal_variance(deviations))

    def test_the_numbers(self):
        found = self.found()
        assert found.verdict == "holds with correction"
        # log(1.25e5) = 11.736: the quotient of the variances in one dimension, and 12 is the next integer.
        one = found.evidence[r"$d$ = 1, $\delta$ = 1e-05: variance of the Gaussian (8) over Laplace (7)"]
        assert one == pytest.approx(math.log(1.25e5))
        starts = [found.evidence[rf"$\delta$ = 1e-05, {shape}: Gaussian more accurate from $d$"] for shape in p.SHAPES]
        assert starts == [12, "never", "never"]
        # log(1.25/0.3) = 1.43: two cells are enough.
        assert found.evidence[r"$\delta$ = 0.3, two cells of a histogram: Gaussian more accurate from $d$"] == 2

    def test_each_other_verdict(self):
        # At so little noise Laplace has the smaller total variation.
        assert self.found(smaller="Gaussian", deviations=(0.1,)).verdict == "verified"
        assert self.found(smaller="Laplace").verdict == "refuted"
        assert "No rule was found" in self.found(rule="Laplace").reason


def test_the_page():
    ran = run_page(PAGE)
    assert {name: found.verdict for name, found in ran.outcomes.items()} == {
        "G-D1": "illustrated",
        "G-D1p": "holds with correction",
        "G-D2": "holds with correction",
        "G-D4": "verified",
        "G-D5": "holds with correction",
        "G-C5": "holds with correction",
    }
    assert ran.names["exact"][1] == pytest.approx(ran.names["delta"], rel=1e-9)
    assert any("probability is 0.73 and $\\delta$ is 0.00073" in text for text in ran.said)
    assert any("below 1 from 12 coordinates on" in text for text in ran.said)
    assert any("At $\\epsilon$ = 2 the Gaussian of Definition 5" in text for text in ran.said)
    assert any("For $\\delta$ = 0.9 it crosses 1 at $\\epsilon$ = 3.79." in text for text in ran.said)


def test_another_run_settles_the_same():
    ran = run_page(PAGE, eps=3.0, delta=1e-7, eps_max=3.0, dims=10)
    assert {name: found.verdict for name, found in ran.outcomes.items()} == {
        name: found.verdict for name, found in run_page(PAGE).outcomes.items()
    }
    assert any("All lines stay below 1." in text for text in ran.said)
    assert not any("coordinates on" in text for text in ran.said)


def variances(claim):
    """The tables of G-C5: with the error planted below, the limits of the page's other part do not exist."""
    return p.noise_table(eps=1.0, deltas=(1e-5, 1e-2), dimensions=(1, 2, 11, 12, 100)), p.equal_variance((0.5, 5.0))


CLASSICAL = "return math.sqrt(2 * math.log(1.25 / delta))"


PLANTED = (
    Planted(
        "G-D1 G-D2",
        "accountant.discrete",
        "np.maximum(p0 - scaled(check.real(eps=eps), q0), 0)",
        "np.maximum(p0 - scaled(check.real(eps=eps), q0), -1)",
        "hockey-stick with negative parts",
    ),
    Planted(
        "G-D1p",
        "accountant.mechanisms",
        "np.where(e < s, 1 - np.exp(",
        "np.where(e < s, 0.5 - 0.5 * np.exp(",
        "Laplace losses above eps half as often",
    ),
    Planted(
        "G-D4",
        "accountant.mechanisms",
        "np.expm1(np.minimum((e - s) / 2, 0.0)) * (1 + _UNITS), -1.0))\n\n\ndef laplace_exceeds",
        "np.expm1(np.minimum(e - s, 0.0)) * (1 + _UNITS), -1.0))\n\n\ndef laplace_exceeds",
        "delta of Laplace noise without the half",
    ),
    Planted(
        "G-D5",
        "accountant.mechanisms",
        "    return gdp_delta(eps, mu=check",
        "    return gdp_delta(eps, mu=2 * check",
        "a Gaussian of half the noise",
    ),
    Planted(
        "G-C5",
        "accountant.mechanisms",
        CLASSICAL,
        CLASSICAL.replace("2 *", "1 *"),
        "classical Gaussian with 1 for 2",
        tables="variances",
    ),
)

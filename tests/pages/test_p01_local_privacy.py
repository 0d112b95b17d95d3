"""Page 01: its tables against fractions, hand and scipy's laws; the cells of its claims on made tables."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import ROOT, Planted, recorded, run_page, settle
from scipy import integrate, stats

from gspa.algorithms import finite

PAGE = "01_local_privacy"
RECORDED = recorded(PAGE)
WEIGHTS = st.integers(2, 6).flatmap(
    lambda k: st.tuples(*[st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any)] * 2)
)


@settings(max_examples=40)
@given(WEIGHTS, st.sampled_from([(1, 1), (3, 2), (4, 1)]))
def test_the_worst_event_against_fractions(weights, ratio):
    first, second = ([Fraction(w, sum(law)) for w in law] for law in weights)
    chosen = [c for k in range(len(first) + 1) for c in combinations(range(len(first)), k)]
    exact = max(sum(first[i] - Fraction(*ratio) * second[i] for i in c) for c in chosen)
    event = finite.events(len(first))
    tried = event @ np.array(first, float) - ratio[0] / ratio[1] * (event @ np.array(second, float))
    assert tried.max() == pytest.approx(float(exact), abs=1e-13)


def test_random_pairs_are_laws_with_zeros():
    laws = [law for pair in finite.random_pairs(pairs=50, rng=3) for law in pair]
    assert all(abs(law.sum() - 1) < 1e-12 for law in laws)
    assert any((law == 0).any() for law in laws)


class TestTables:
    def test_the_randomizers_have_the_deltas_known_by_hand(self, ran):
        assert ran.names["local"]["tried"].round(12).tolist() == [0.0, 0.0, 0.0, 0.1, 1.0]
        assert ran.names["local"]["printed"].tolist() == [0.0] * 5

    def test_relations_by_hand(self, ran):
        table = ran.names["relations"]
        assert table["TV of the number"].tolist() == [0.0, 1.0]
        assert table[r"histogram: $\epsilon$"].tolist() == [2.0, 1.0]

    def test_leaks_by_hand(self, ran):
        table, truth = ran.names["leaks"], 1 / (1 + math.exp(-1.001))
        delta = [truth - math.e * (1 - truth), -math.expm1(-0.0005), 1e-5]
        assert table["delta"].tolist() == pytest.approx(delta, rel=1e-9)
        assert table["exceeds"].tolist()[:2] == pytest.approx([truth, 1 - math.exp(-0.0005) / 2], rel=1e-12)

    def test_the_laplace_masses_against_an_integral(self, ran):
        for row in ran.names["curve"].itertuples():  # scale 1
            found = integrate.quad(
                lambda x, e=row.eps: max(stats.laplace.pdf(x) - math.exp(e) * stats.laplace.pdf(x, 1), 0) + 0.0,
                *(-40, 2),
                points=[0, (1 - row.eps) / 2, 1],
                limit=200,
            )[0]
            assert row.masses == pytest.approx(found, abs=1e-8)

    def test_variances_by_hand(self, p):
        table = p.variances(eps=0.5, deltas=[0.01], dimensions=[1, 4, 9]).set_index(["shape", "d"])
        # Laplace of scale m/eps has variance 2 (m/eps)^2; Gaussian 2 ln(125) m/eps^2, ln(125) = 4.828.
        assert table.loc[("every coordinate", 4), "laplace"] == pytest.approx(2 * 64)
        assert table.loc[("every coordinate", 4), "gaussian"] == pytest.approx(2 * 4.8283137373 * 16)
        assert table.loc[("two cells of a histogram", 9), "laplace"] == pytest.approx(2 * 16)
        assert table.loc[("one coordinate", 9), "laplace"] == pytest.approx(8)

    def test_equal_variance_against_scipys_laws(self, ran, p):
        for row in ran.names["equal"].itertuples():
            laplace, gauss = stats.laplace(scale=row.deviation / math.sqrt(2)), stats.norm(scale=row.deviation)
            assert row.tv_laplace == pytest.approx(2 * laplace.cdf(0.5) - 1)
            assert row.tv_gaussian == pytest.approx(2 * gauss.cdf(0.5) - 1)
            at = (1 - row.crossing * laplace.std() / math.sqrt(2)) / 2
            lead = laplace.cdf(at) - math.exp(row.crossing) * laplace.cdf(at - 1)
            assert lead == pytest.approx(p.gaussian_delta(row.crossing, scale=row.deviation), rel=1e-7)
        assert math.isnan(p.crossing(0.25))  # with little noise Laplace is ahead everywhere

    def test_figures_draw_their_tables(self, p):
        (axis,) = p.mechanism_curves(
            p.privacy_curves(eps=0.8, delta=1e-4, eps_max=2.0, points=11), eps=0.8, delta=1e-4
        ).axes
        drawn = {line.get_label(): dict(line.get_xydata().tolist()) for line in axis.get_lines()}
        assert drawn["what is promised"] == {0.8: 1e-4}
        assert drawn["analytic Gaussian"][0.8] == pytest.approx(1e-4)
        assert drawn["Laplace (Definition 4)"][0.0] == pytest.approx(-math.expm1(-0.4))


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


TABLES = {
    "G-D1": ["least", "relations"],
    "G-D1p": ["leaks"],
    "G-D2": ["local"],
    "G-D4": ["losses", "curve"],
    "G-D5": ["tried", "around", "worst_eps", "worst_delta", "limits"],
    "G-C5": ["noise", "equal"],
}


@pytest.mark.parametrize(
    ("claim", "name", "columns", "verdict"),
    [
        ("G-D1", "least", {"divergence": 0.5}, "refuted"),
        ("G-D1", "least", {"tried": 0.0, "divergence": 0.0}, "refuted"),  # it tells no two pairs apart
        ("G-D1", "least", {"divergence": math.nan}, "refuted"),
        ("G-D1p", "leaks", {"exceeds": [0.1] * 3, "delta": 0.1}, "verified"),
        ("G-D1p", "leaks", {"exceeds": [1e-7] * 3}, "refuted"),
        ("G-D1p", "leaks", {"tail": 1.1}, "refuted"),
        ("G-D1p", "leaks", {"integral": 1 + 1e-8}, "refuted"),
        ("G-D2", "local", {"printed": 1.0}, "verified"),
        ("G-D2", "local", {"divergence": 0.5}, "refuted"),
        ("G-D4", "losses", {"largest": 1.1}, "refuted"),
        ("G-D4", "curve", {"closed": 0.5}, "not checkable"),
        ("G-D4", "curve", {"masses": 0.1, "closed": 0.1}, "refuted"),
        ("G-D5", "tried", {"kept": 1.1}, "refuted"),
        ("G-D5", "tried", {"analytic": 1.01}, "refuted"),
        ("G-D5", "around", {"beyond": 0.9}, "refuted"),
        ("G-D5", "around", {"below": 1.1}, "refuted"),
        ("G-D5", "worst_eps", 0.9, "refuted"),
        ("G-C5", "noise", {"gaussian": math.inf}, "refuted"),
        ("G-C5", "noise", {"moved": 1}, "refuted"),
        ("G-C5", "equal", {"tv_laplace": 0.0}, "refuted"),
    ],
)
def test_each_number_counts(ran, claim, name, columns, verdict):
    own = {table: ran.names[table] for table in TABLES[claim]}
    made = own[name].assign(**columns) if isinstance(columns, dict) else columns
    assert settle(claim, **own | {name: made}).verdict == verdict


def test_no_broken_promise_and_no_better_noise_would_be_verified(ran):
    tried = ran.names["tried"].assign(kept=0.9)
    assert settle("G-D5", tried=tried, worst_eps=math.inf, worst_delta=0.9).verdict == "verified"
    noise, equal = ran.names["noise"].assign(gaussian=0.0), ran.names["equal"].assign(tv_laplace=0.0)
    assert settle("G-C5", noise=noise, equal=equal).verdict == "verified"


def test_the_words_have_the_numbers_known_by_hand(ran):
    found = ran.outcomes["G-C5"].evidence
    # log(1.25e5) = 11.736: the quotient of the variances in one dimension, and 12 is the next integer.
    assert found[r"variance of (8) over (7) for one number, $\delta$: 1e-05"] == pytest.approx(math.log(1.25e5))
    starts = {label: value for label, value in found.items() if label.startswith("Gaussian more accurate from")}
    assert starts == {f"Gaussian more accurate from: {at} every coordinate": d for at, d in ((1e-5, 12), (0.01, 5))}
    # Roots of Fact 3 at mu = eps/sqrt(2 log(1.25/delta)), found with mpmath in the accountant's tests.
    assert (
        r"if $\epsilon \le 3.78$, and at $\delta = 10^{-5}$ if $\epsilon \le 8.41$" in ran.outcomes["G-D5"].correction
    )
    assert "So $\\delta$ = 0 does even for a mechanism that publishes" in ran.outcomes["G-D2"].reason


def test_the_page(ran):
    assert ran.verdicts == RECORDED
    assert ran.names["exact"][1] == pytest.approx(ran.names["delta"], rel=1e-9)
    assert ran.names["worst_eps"] <= ran.names["limits"].min()
    assert any("probability is 0.73, while $\\delta$ is 0.00073" in text for text in ran.said)
    assert any("5 of 5 lines cross 1. For $\\delta$ = 0.9 it does at $\\epsilon$ = 3.79." in text for text in ran.said)


@pytest.mark.parametrize(
    "given", [{"eps": 3.0, "delta": 1e-7, "eps_max": 3.0, "dims": 10}, {"eps": 0.05, "delta": 0.3}]
)
def test_another_run_settles_the_same(given):
    ran = run_page(PAGE, **given)
    assert ran.verdicts == RECORDED


CLASSICAL = "return math.sqrt(2 * math.log(1.25 / delta))"
PLANTED = (
    Planted(
        "G-D1 G-D2",
        "accountant.tradeoff",
        "np.maximum(p0 - scaled(check.real(eps=eps), q0), 0)",
        "np.maximum(p0 - scaled(check.real(eps=eps), q0), -1)",
        "hockey-stick with negative parts",
    ),
    Planted(
        "G-D1p",
        "notebooks.p01_local_privacy",
        "np.where(eps < 1 / scale, 1 - np.exp(",
        "np.where(eps < 1 / scale, 0.5 - 0.5 * np.exp(",
        "Laplace losses above eps half as often",
    ),
    Planted(
        "G-D4",
        "notebooks.p01_local_privacy",
        "np.expm1(np.minimum((np.asarray(eps) - 1 / scale) / 2, 0.0))",
        "np.expm1(np.minimum(np.asarray(eps) - 1 / scale, 0.0))",
        "delta of Laplace noise without the half",
    ),
    Planted(
        "G-D5",
        "notebooks.p01_local_privacy",
        "    return gdp_delta(eps, mu=1 / scale)",
        "    return gdp_delta(eps, mu=2 / scale)",
        "a Gaussian of half the noise",
    ),
    Planted("G-C5", "accountant.mechanisms", CLASSICAL, CLASSICAL.replace("2 *", "1 *"), "Definition 5 with 1 for 2"),
)

"""Page 02: curves by their corners against grids, closed forms, scipy and mpmath; the checks; planted errors."""

from __future__ import annotations

import math
from functools import cache, partial

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import Planted, run_page

from gspa.accountant.discrete import TradeOff, neyman_pearson
from gspa.accountant.tradeoff import f_eps_delta, gaussian, gdp_delta
from gspa.pages import p02_hypothesis_testing as p

PAGE = "02_hypothesis_testing"
ALPHA = np.linspace(0, 1, 2001)
EPS, DELTA = st.floats(0, 3), st.floats(0, 0.9)
COIN = neyman_pearson([0.5, 0.5], [0.5, 0.5])


@settings(max_examples=40)
@given(EPS, DELTA)
def test_fact_1_by_its_corners(eps, delta):
    corrected, printed = p.f_corrected(eps=eps, delta=delta), p.f_printed(eps=eps, delta=delta)
    np.testing.assert_allclose(corrected(ALPHA), f_eps_delta(ALPHA, eps=eps, delta=delta), atol=1e-12)
    by_hand = [max(0.0, 1 - delta - math.exp(eps) * a, math.exp(-eps) * (1 - delta - eps)) for a in ALPHA]
    np.testing.assert_allclose(printed(ALPHA), by_hand, atol=1e-12)
    # Met by nothing, or harmless.
    gap = p.least_gap(COIN, printed)
    if eps + delta < 1:
        assert gap == (pytest.approx(-math.exp(-eps) * (1 - delta - eps), abs=1e-12), 1.0)
    else:
        assert gap.gap >= 0


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_chained_curves_and_least_gaps_at_corners_are_those_on_a_grid(seed):
    rng = np.random.default_rng(seed)
    first, second = (neyman_pearson(*rng.dirichlet(np.ones(4), 2)) for _ in range(2))
    found = p.chained(first, second)
    np.testing.assert_allclose(found(ALPHA), second(1 - first(ALPHA)), atol=1e-10)
    assert p.least_gap(first, found).gap <= (first(ALPHA) - found(ALPHA)).min() + 1e-12
    shifted = p.shifted(first, first=0.1, second=0.05)
    np.testing.assert_allclose(shifted(ALPHA), np.maximum(first(np.minimum(ALPHA + 0.1, 1)) - 0.05, 0), atol=1e-10)


def test_a_gap_is_found_between_grid_points():
    tent = TradeOff(np.array([0.0, 0.123456, 1.0]), np.array([1.0, 0.0, 0.0]))
    assert p.least_gap(tent, COIN) == (pytest.approx(-(1 - 0.123456)), 0.123456)


def test_table_1_by_hand():
    table = p.error_table([0.75, 0.25], [0.25, 0.75], [0.0, 1.0]).set_index(["decision", "hypothesis"])
    assert table["probability"].to_dict() == {
        ("accept", "true"): 0.75,
        ("accept", "false"): 0.25,
        ("reject", "true"): 0.25,
        ("reject", "false"): 0.75,
    }


def test_equation_18_would_not_hold_with_less():
    first, second = np.array([0.5, 0.5]), np.array([0.2, 0.8])
    truth = neyman_pearson(np.array([0.6, 0.4]), second)  # TV 0.1 from the first
    before = neyman_pearson(first, second)
    assert p.least_gap(truth, p.shifted(before, first=0.1, second=0.0)).gap > -1e-12
    assert p.least_gap(truth, p.shifted(before, first=0.05, second=0.0)).gap < -0.01


@pytest.mark.parametrize("shift", [0.01, 0.8, 5.0])
def test_the_laplace_curve_against_its_closed_form(shift):
    small = math.exp(-shift)
    with np.errstate(divide="ignore"):
        middle = np.where(ALPHA <= 0.5, small / (4 * ALPHA), small * (1 - ALPHA))
    closed = np.where(small / 2 >= ALPHA, 1 - ALPHA / small, middle)
    np.testing.assert_allclose(p.laplace_tradeoff(ALPHA, shift=shift), closed, atol=1e-12)


@pytest.mark.parametrize(("eps", "mu"), [(0.0, 0.1), (1.0, 1.0), (4.0, 0.5), (3.0, 4.0), (0.2, 0.05)])
def test_the_integral_against_mpmath(eps, mu):
    with mpmath.workdps(30):
        exact = mpmath.quad(
            lambda x: mpmath.npdf(x) - mpmath.exp(eps) * mpmath.npdf(x - mu), [-40, -10, mu / 2 - mpmath.mpf(eps) / mu]
        )
    assert p.integrated_delta(eps, mu=mu) == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("mus", [[1.0], [0.3, 0.4, 1.2], [0.2] * 8])
def test_composition_brackets_the_root_of_the_sum_of_squares(mus):
    total = math.sqrt(sum(mu * mu for mu in mus))
    for eps in (0.0, 0.7, 2.0):
        low, high = p.composed_delta(mus, eps)
        assert low <= gdp_delta(eps, mu=total) <= high < 1.02 * low
        # A composition rule of another form is outside.
        assert not low <= gdp_delta(eps, mu=total * 1.02) <= high


def test_the_envelope_closes_from_below():
    table = p.envelope_table(mus=(0.5, 2.0), sizes=(10, 100, 1000))
    assert (table["above"] <= 1e-12).all()
    for _, part in table.groupby("mu"):
        # Ten times as many tangents miss by about a hundredth.
        assert (part["below"].to_numpy()[1:] < 0.05 * part["below"].to_numpy()[:-1]).all()
    assert table["one_order"].min() > 0.01


def test_groups_by_hand():
    # f of eps = log 2: 1 - 2a up to 1/3, then (1 - a)/2. At a = 1/4: f = 1/2, 1 - f = 1/2, f(1/2) = 1/4.
    twice = p.grouped(lambda a: f_eps_delta(a, eps=math.log(2), delta=0.0), k=2)
    assert float(twice(np.array(0.25))) == pytest.approx(0.25)
    table = p.group_table(mus=[0.7], eps=math.log(2), delta=0.01, sizes=(2,)).set_index("curve")
    assert table.loc[r"$\mu$ = 0.7", ["most", "least"]].abs().max() < 1e-9
    # f of eps = log 4 at 1/4 is 3/16.
    assert table.loc[r"$\epsilon$ = 0.693147, $\delta$ = 0", "most"] >= 0.25 - 0.1875 - 1e-12
    assert table["least"].min() > -1e-9


def test_figures_draw_their_tables():
    table = p.lines({"one": COIN, "two": lambda a: gaussian(a, mu=1.0)})
    for draw in (partial(p.trade_off_curves, roles=("truth",)), p.envelope):
        (axis,) = draw(table).axes
        drawn = [line.get_ydata().tolist() for line in axis.get_lines()]
        assert drawn == [part["beta"].tolist() for _, part in table.groupby("curve", sort=False)]


@cache
def made(name):
    """A table of the page, small."""
    return {
        "errors": lambda: p.errors(pairs=20, seed=1),
        "sums": lambda: p.error_sums(pairs=20, seed=1),
        "moved": lambda: p.perturbation(pairs=20, seed=1),
        "infima": lambda: p.infima(pairs=5, levels=2, seed=1),
        "cells": lambda: p.continuous_pairs(shift=0.7, cells=(50, 500)),
        "equivalence": lambda: p.equivalence(pairs=20, eps=(0.0, 0.5, 2.0), seed=1),
        "channels": lambda: p.post_processing(pairs=20, seed=1),
        "curve": lambda: p.curve_table(mus=(0.5, 2.0), eps=(0.0, 1.0)),
        "envelope": lambda: p.envelope_table(mus=(1.0,), sizes=(10, 1000)),
        "composed": lambda: p.composition_table(families=([0.5, 0.5],), eps=(0.5,)),
        "groups": lambda: p.group_table(mus=(0.7,), eps=1.0, delta=0.01, sizes=(2, 4)),
        "readings": lambda: p.readings(triples=40, seed=1),
        "smallest": p.smallest_triple,
    }[name]()


def changed(name, column, value, row=slice(None)):
    table = made(name).copy()
    table.loc[row, column] = value
    return table


def test_exchanged_cells_of_table_1_are_refuted():
    assert p.table_1(made("errors")).verdict == "illustrated"
    other = {"type_1": "type_2", "type_2": "type_1"}
    assert p.table_1(made("errors").rename(columns=other)).verdict == "not checkable"


class TestEquation4:
    def test_a_larger_bound_is_refuted(self):
        assert p.equation_4(made("sums"), made("moved")).verdict == "verified"
        found = p.equation_4(changed("sums", "bound", made("sums")["bound"] + 0.01), made("moved"))
        assert found.verdict == "refuted"
        assert "short by 0.01" in found.reason

    def test_an_unsound_use_in_the_proof_is_refuted(self, monkeypatch):
        right = p.shifted
        monkeypatch.setattr(p, "shifted", lambda curve, first, second: right(curve, first=first / 2, second=second / 2))
        found = p.equation_4(made("sums"), p.perturbation(pairs=20, seed=1))
        assert found.verdict == "refuted"
        assert "use in (18)" in found.reason


class TestDefinition3:
    @pytest.mark.parametrize("column", ["rise", "bend", "above"])
    def test_a_curve_of_another_shape_is_refuted(self, column):
        assert p.definition_3(made("infima"), made("cells")).verdict == "illustrated"
        assert p.definition_3(changed("infima", column, 0.01), made("cells")).verdict == "not checkable"

    @pytest.mark.parametrize("column", ["above", "below"])
    def test_cells_that_do_not_approach_the_truth_prove_nothing(self, column):
        assert p.definition_3(made("infima"), changed("cells", column, 0.01)).verdict == "not checkable"

    def test_another_order_of_rejection_is_no_infimum(self, monkeypatch):
        monkeypatch.setattr(p, "neyman_pearson", lambda first, second: neyman_pearson(second, first))
        assert p.definition_3(p.infima(pairs=5, levels=2, seed=1), made("cells")).verdict == "not checkable"


class TestFact1:
    alone = p.least_gap(COIN, p.f_printed(eps=0.5, delta=0.0))

    def test_the_numbers(self):
        table = made("equivalence")
        assert (table["printed"] < -1e-6).tolist() == table["nontrivial"].tolist()
        found = p.fact_1(table, self.alone)
        assert found.verdict == "holds with correction"
        (value,) = [text for label, text in found.evidence.items() if "ignores its input" in label]
        assert value == "-0.3033 at $\\alpha$ = 1"  # e^{-1/2}/2

    def test_each_other_verdict(self):
        assert p.fact_1(changed("equivalence", "printed", 0.0), p.Gap(0.0, 0.0)).verdict == "verified"
        assert p.fact_1(made("equivalence").assign(printed=0.0), self.alone).verdict == "holds with correction"
        for column, value in {"corrected": -0.1, "least": 0.0, "back": 2.0}.items():
            assert p.fact_1(changed("equivalence", column, value, 0), self.alone).verdict == "refuted"


def test_a_channel_that_sharpens_is_refuted():
    assert p.fact_2(made("channels")).verdict == "verified"
    found = p.fact_2(changed("channels", "gap", -0.02, 3))
    assert found.verdict == "refuted"
    assert "short by 0.02" in found.reason


class TestFact3:
    @staticmethod
    def found(**tables):
        given = {name: tables.get(name, made(name)) for name in ("curve", "envelope", "composed", "groups")}
        return p.fact_3(*given.values())

    def test_it_holds(self):
        assert self.found().verdict == "verified"

    @pytest.mark.parametrize(
        ("name", "column", "row", "off"),
        [
            ("curve", "integral", 0, "the curve"),
            ("curve", "from_curve", 0, "the curve"),
            ("envelope", "above", 1, "the converse"),
            ("envelope", "below", 1, "the converse"),
            ("groups", "least", 0, "groups"),
        ],
    )
    def test_what_is_off_is_named(self, name, column, row, off):
        found = self.found(**{name: changed(name, column, made(name).loc[row, column] + 0.01, row)})
        assert (found.verdict, found.reason) == ("refuted", f"Fact 3 fails in {off}.")

    def test_other_rules(self, monkeypatch):
        monkeypatch.setattr(p, "compose_gdp", sum)
        monkeypatch.setattr(p, "group_gdp", lambda mu, k: k**0.5 * mu)
        composed = p.composition_table(families=([0.5, 0.5],), eps=(0.5,))
        groups = p.group_table(mus=(0.7,), eps=1.0, delta=0.01, sizes=(2,))
        assert self.found(composed=composed, groups=groups).reason == "Fact 3 fails in composition and groups."


class TestFact4:
    @staticmethod
    def found(column="printed", value=0.0):
        return p.fact_4(changed("readings", column, value, 0), p.smallest_triple())

    def test_the_readings(self):
        found = self.found()
        assert found.verdict == "holds with correction"
        assert "true and says nothing" in found.reason
        assert found.evidence["the same with symmetric $f$ and $g$: triples that refute"] == "0 of 40"
        # T(coin, heads) = max(0, 1 - 2 alpha); T(heads, coin) = (1 - alpha)/2.
        assert [v for k, v in found.evidence.items() if "fair coin" in k] == ["0 and 0.25"]
        assert made("readings")[["order", "conclusion"]].min().max() < -0.01

    def test_each_other_verdict(self):
        assert self.found("corrected", -0.1).verdict == "refuted"
        assert self.found("symmetric", -0.1).verdict == "refuted"
        assert self.found("premise", -0.1).verdict == "verified"
        said = self.found("printed", -0.1)
        assert said.verdict == "holds with correction"
        assert "it fails for 1 of 40 random triples, by up to 0.1" in said.reason


def test_the_page():
    ran = run_page(PAGE)
    assert {name: found.verdict for name, found in ran.outcomes.items()} == {
        "G-TAB1": "illustrated",
        "G-E4": "verified",
        "G-D3": "illustrated",
        "G-F1": "holds with correction",
        "G-F2": "verified",
        "G-F3": "verified",
        "G-F4": "holds with correction",
    }
    np.testing.assert_allclose(ran.names["chained"], gaussian(ran.names["alpha"], mu=3.0))
    assert any("falls short of it, by 0.303 at" in text for text in ran.said)
    assert any("The printed curve rises above it on the right." in text for text in ran.said)
    # In the figure of Fact 4 one order is a bound, the other none; in that of Fact 3 nothing is above G_mu.
    truth, bound, other = (part["beta"].to_numpy() for _, part in ran.names["of_fact_4"].groupby("curve", sort=False))
    assert (bound <= truth + 1e-12).all()
    assert (other > truth + 0.05).any()
    wide = ran.names["of_fact_3"].pivot(index="alpha", columns="curve", values="beta")
    assert wide.sub(wide[r"$G_\mu$, $\mu$ = 1"], axis=0).max().max() < 1e-12


PLANTED = (
    Planted(
        "G-TAB1",
        "pages.p02_hypothesis_testing",
        'rule[report] if decision == "reject" else 1 - rule[report]',
        'rule[report] if decision == "accept" else 1 - rule[report]',
        "decisions exchanged",
    ),
    Planted(
        "G-E4",
        "pages.p02_hypothesis_testing",
        "        rows.append((1 - tv, *sums))",
        "        rows.append((1 - tv / 2, *sums))",
        "total variation halved",
    ),
    Planted(
        "G-D3 G-F2 G-F4",
        "accountant.discrete",
        "order = np.argsort(-np.arctan2(q0, p0)",
        "order = np.argsort(np.arctan2(q0, p0)",
        "worst test in place of the best",
    ),
    Planted(
        "G-F1",
        "pages.p02_hypothesis_testing",
        "    kink = (1 - delta) / (1 + math.exp(eps))",
        "    kink = (1 - delta) / (1 + math.exp(2 * eps))",
        "Fact 1's corner misplaced",
    ),
    Planted(
        "G-F3",
        "accountant.tradeoff",
        "ndtr(-ndtri(a) - check",
        "ndtr(-ndtri(a) - 2 * check",
        "G_mu with 2 mu",
    ),
)

"""Page 04: Lemma 1's coefficients in closed form, by linear program and by exact certificates, each against the others;
the cell of its claim on made tables; planted errors."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import ROOT, Planted, in_readings, load, run_page, settle

from gspa.algorithms import finite

PAGE = "04_decomposition"
RUN = {"draws": 1, "cells": 16}

p = load(ROOT / "notebooks" / "p04_decomposition.py")

F = Fraction
P, DELTA = F(3), F(1, 10)
BLANK = finite.Mechanism("blank", np.full((3, 2), F(1, 2)), P, F(0), ("0", "1"))


@st.composite
def pure_mechanisms(draw):
    """Random pure mechanisms on three or four inputs, not extremal: a mixture with the uniform law."""
    ratio = draw(st.fractions(F(3, 2), 6, max_denominator=6))
    inputs, seed = draw(st.integers(3, 4)), draw(st.integers(0, 10**6))
    mechanism = finite.extremal(ratio, inputs=inputs, patterns=draw(st.integers(1, 3)), rng=seed)
    keep = draw(st.fractions(F(1, 10), 1, max_denominator=10))
    rows = keep * mechanism.rows + (1 - keep) * F(1, mechanism.rows.shape[1])
    return finite.Mechanism("random", rows, ratio, F(0), mechanism.outputs)


class TestCoefficients:
    @settings(max_examples=40, deadline=None)
    @given(pure_mechanisms())
    def test_what_is_proved_for_every_pure_mechanism(self, mechanism):
        ratio, rows = mechanism.ratio, mechanism.rows
        common = p.common_coefficient(mechanism)
        assert 1 / (2 * ratio) <= common <= F(1, 2)
        attained = []
        for p0, p1 in combinations(rows, 2):
            q0, q1 = (ratio * p0 - p1) / (ratio - 1), (ratio * p1 - p0) / (ratio - 1)
            assert min(q0.min(), q1.min()) >= 0
            assert (p0 == (ratio * q0 + q1) / (1 + ratio)).all()
            assert (p1 == (q0 + ratio * q1) / (1 + ratio)).all()
            # The coefficient is attained and cannot be larger.
            assert all((row >= common * (q0 + q1)).all() for row in rows)
            attained.append(any((row == common * (q0 + q1)).any() for row in rows))
        assert any(attained)

    @settings(max_examples=15, deadline=None)
    @given(pure_mechanisms(), st.sampled_from([F(-1, 50), F(1, 50)]))
    def test_the_closed_form_agrees_with_exact_certificates(self, mechanism, step):
        p0, p1 = mechanism.rows[:2]
        others = {f"x{i}": row for i, row in enumerate(mechanism.rows)}
        largest = p.largest_coefficient(p0, p1, mechanism.rows, ratio=mechanism.ratio)
        tried = p.lemma_1_system(p0, p1, others, ratio=mechanism.ratio, coefficient=largest * (1 + step))
        assert (p.certificate(tried) is None) == (step < 0)

    def test_by_hand(self):
        # Subset selection: a set that holds both of the victim's items and not the other's, 2p against 1.
        assert p.common_coefficient(finite.subset_selection(3, k=3, size=2)) == F(1, 6)
        # One-bit rounding, 1 and 1/2 against 0: 1/(p+1) over p/(p+1) + 1/2.
        assert p.common_coefficient(finite.one_bit(3)) == F(1, 5)
        for k in (2, 3, 7):
            assert p.common_coefficient(finite.randomized_response(3, k=k)) == F(1, 4)
        # Laplace at a report beyond 1: inputs 1 and 1/2 against 0.
        laplace = finite.noise("laplace", scale=1 / math.log(3), cells=40, ratio=3)
        assert p.common_coefficient(laplace) == pytest.approx((1 / 3) / (1 + 1 / math.sqrt(3)), rel=1e-9)

    @pytest.mark.parametrize(
        "mechanism", [m for m in finite.gallery(3, DELTA, cells=16) if m.exact and m.delta > 0], ids=lambda m: m.name
    )
    @pytest.mark.parametrize("step", [F(-1, 50), F(1, 50)])
    def test_the_linear_program_for_delta_agrees_with_exact_certificates(self, mechanism, step):
        p0, p1 = mechanism.rows[:2]
        budget = {"ratio": mechanism.ratio, "delta": mechanism.delta}
        largest = p.largest_coefficient(p0, p1, mechanism.rows, **budget)
        others = {f"x{i}": row for i, row in enumerate(mechanism.rows)}
        tried = F(largest).limit_denominator(10**6) * (1 + step) if largest > 0 else F(1, 1000)
        found = p.certificate(p.lemma_1_system(p0, p1, others, **budget, coefficient=tried, statement="corrected"))
        assert (found is None) == (step < 0 and largest > 0)

    @pytest.mark.parametrize("delta", [F(1, 100), F(1, 5), F(2, 5)])
    def test_a_shared_part_by_closed_form_and_by_certificate(self, delta):
        pure = [m for m in finite.gallery(3, delta, cells=16) if m.exact and m.delta == 0]
        for mechanism in [*pure, finite.quaternary(3, delta), finite.leaky(finite.one_bit(3), delta)]:
            for p0, p1 in combinations(mechanism.rows, 2):
                exists = p.shared_parts_exist(p0, p1, ratio=P, delta=delta)
                system = p.lemma_1_system(p0, p1, {}, ratio=P, delta=delta, coefficient=F(0))
                assert exists == (p.certificate(system) is None)
                assert not (exists and finite.local_delta(np.array([p0, p1]), ratio=P) > 0)


class TestCertificates:
    def test_by_hand(self):
        # 0 <= (11) - r (9) - r (10): r (Q0 + Q1) cancels, and 1/7 - (1/4)(6/7) is left.
        names = run_page(PAGE, delta=0.1).names
        table = names["by_case"]
        subset = table.loc["subset selection, 2 of 3 (arXiv)", "contradiction"]
        assert subset == r"$0 \leq$ (11) for $x_2$ at {0,1} − 1/4 (9) at {0,1} − 1/4 (10) at {0,1} $\leq -1/14$"
        assert names["right"] == F(1, 7) - F(1, 4) * F(6, 7) == F(-1, 14)
        assert (names["left0"], names["left1"]) == (0, 0)
        # (10) at A has the right-hand side 0, (9) has delta; a third of (9) has weights no larger than (10)'s.
        own = table.loc["Lemma 4's own pair (arXiv)", "contradiction"]
        assert own == r"$0 \leq$ (10) at A − 1/3 (9) at A $\leq -1/30$"
        assert table.index[table["holds"]].tolist() == [
            "binary RR (arXiv)",
            "3-ary RR (arXiv)",
            "binary RR, the other user's $e^\\epsilon$ 2 instead of 3 (arXiv)",
            r"subset selection, 2 of 3, $r = e^{-\epsilon}/2$ (corrected)",
            "Lemma 4's own pair (corrected)",
        ]

    def test_false_ones_are_not_accepted(self):
        rows = finite.subset_selection(3, k=3, size=2).rows
        system = p.lemma_1_system(rows[0], rows[1], {"x2": rows[2]}, ratio=P, coefficient=F(1, 4))
        right = p.certificate(system)
        weights = [right.weights.get(name, F(0)) for name in system.names]
        assert p.refuted_by(system, weights) == F(-1, 14)
        assert p.refuted_by(system, [-weight for weight in weights]) is None
        less = weights.copy()
        less[-3] *= F(99, 100)  # (11)'s weight: a mass is left with a negative coefficient
        assert p.refuted_by(system, less) is None
        assert p.refuted_by(system, [F(0)] * len(weights)) is None
        assert p.certificate(system, largest=1) is None  # rounded, it fails


def test_the_slips_of_the_proof():
    assert run_page(PAGE).names["hull"] == "2/5"  # every mixture has 1/5 on the third value, the report 3/5


RR = ["binary RR", "4-ary RR"]


@pytest.fixture(scope="module")
def lemma_1(ran):
    """The outcome of the claim's cell on these tables."""

    def found(table, cases, **made):
        return settle("G-L1", table=table, cases=cases, **{"error_variation": 0.0} | made)

    return found


class TestLemma1:
    def test_its_numbers(self, ran):
        table = ran.names["table"]
        assert table.loc[table["holds"], "mechanism"].tolist() == RR
        assert (table["shared"] == (table["delta"] == 0)).all()
        assert in_readings(ran.outcomes["G-L1"]) == ["holds with correction"] * 2
        assert (ran.names["found_subset"], ran.names["claimed_subset"]) == ("1/6", "1/4")
        assert (ran.names["found_ternary"], ran.names["claimed_ternary"]) == ("5/16", "1/3")
        assert ran.names["by_hand"]["largest $r$"].tolist() == [F(1, 4), F(1, 6), F(1, 5)]
        assert ran.names["by_hand"]["the function used below agrees"].all()
        assert (ran.names["unsolved"], ran.names["least"]) == (7, pytest.approx(1.0))
        assert ran.names["error_variation"] < 1e-12

    @pytest.mark.parametrize(
        ("mechanisms", "readings"),
        [
            (RR, ["holds with correction"] * 2),  # one proof is enough
            ("those that fail", ["refuted", "holds with correction"]),  # nothing is left of the coefficient
        ],
    )
    def test_the_verdicts_follow_gallery_and_proofs(self, ran, lemma_1, mechanisms, readings):
        table = ran.names["table"]
        some = table[~table["holds"] if mechanisms == "those that fail" else table["mechanism"].isin(RR)]
        assert in_readings(lemma_1(some, ran.names["cases"])) == readings

    def test_lost_pairs_of_randomizers_refute_the_second_reading(self, ran, lemma_1):
        cases = ran.names["cases"]
        assert in_readings(lemma_1(ran.names["table"], cases[cases["common"] | ~cases["holds"]])) == [
            "holds with correction",
            "refuted",
        ]

    def test_what_holds_everywhere_verifies_it(self, ran, lemma_1):
        table, cases = ran.names["table"].assign(shared=True, holds=True), ran.names["cases"]
        found = lemma_1(table, cases.assign(holds=True, largest=cases["claimed"]))
        assert in_readings(found) == ["verified", "verified"]

    @pytest.mark.parametrize("change", [{"share": 0.5}, {"error": 0.1}, {"share": math.nan}])
    def test_where_something_proved_fails_nothing_is_settled(self, ran, lemma_1, change):
        wrong = ran.names["table"].copy()
        wrong.loc[2, [*change]] = [*change.values()]
        assert in_readings(lemma_1(wrong, ran.names["cases"])) == ["not checkable"] * 2

    @pytest.mark.parametrize("form", [0.1, math.nan])
    def test_so_is_it_with_the_third_form(self, ran, lemma_1, form):
        found = lemma_1(ran.names["table"], ran.names["cases"], error_variation=form)
        assert in_readings(found) == ["not checkable"] * 2

    @pytest.mark.parametrize("case", ["3-ary RR (arXiv)", "Lemma 4's own pair (corrected)"])
    def test_so_is_it_with_a_false_proof(self, ran, lemma_1, case):
        wrong = ran.names["cases"].copy()
        wrong.loc[wrong["case"] == case, "holds"] = False
        assert in_readings(lemma_1(ran.names["table"], wrong)) == ["not checkable"] * 2


@pytest.mark.parametrize("given", [{}, {"ratio": 20, "delta": 0.5, "sigma": 0.3, "cells": 16, "draws": 0}])
def test_the_page(given):
    ran = run_page(PAGE, **given)
    assert ran.outcomes["G-L1"].verdict == "holds with correction"
    assert (ran.names["delta_paper"], ran.names["delta_true"]) == (0, ran.names["delta"])
    assert any("no solution for all 7 mechanisms tried" in text for text in ran.said)


PLANTED = (
    Planted(
        "G-L1",
        "notebooks.p04_decomposition",
        "return min(least[seen] / (p0 + p1)[seen])",
        "return max(least[seen] / (p0 + p1)[seen])",
        "the largest quotient in place of the least",
    ),
    Planted(
        "G-L1",
        "notebooks.04_decomposition",
        "left = P0 - k * aQ0 - aQ1",
        "left = P0 - aQ0 - aQ1",
        "the victim's own part without its weight",
    ),
)

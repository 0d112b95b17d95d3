"""Lemma 1's coefficients: closed form, linear program and exact certificates against each other."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gspa import decomposition, decomposition_tables, gallery, infeasible
from gspa import finite_mechanisms as finite
from gspa.errors import InvalidValue, OutsideValidity

P, DELTA = Fraction(3), Fraction(1, 10)


@st.composite
def pure_mechanisms(draw):
    """Random pure mechanisms on three or four inputs, not extremal: a mixture with the uniform law."""
    ratio = draw(st.fractions(Fraction(3, 2), 6, max_denominator=6))
    inputs, seed = draw(st.integers(3, 4)), draw(st.integers(0, 10**6))
    mechanism = finite.extremal(ratio, inputs=inputs, patterns=draw(st.integers(1, 3)), rng=seed)
    keep = draw(st.fractions(Fraction(1, 10), 1, max_denominator=10))
    uniform = Fraction(1, mechanism.rows.shape[1])
    rows = keep * mechanism.rows + (1 - keep) * uniform
    return finite.Mechanism("random", rows, ratio, Fraction(0), mechanism.outputs)


@settings(max_examples=40, deadline=None)
@given(pure_mechanisms())
def test_what_is_proved_for_every_pure_mechanism(mechanism):
    p = mechanism.ratio
    worst = decomposition.worst_case(mechanism)
    assert 1 / (2 * p) <= worst.coefficient <= Fraction(1, 2)
    assert decomposition.variation_error(mechanism) == 0.0
    i, j = worst.inputs
    p0, p1 = mechanism.rows[[i, j]]
    q0, q1 = decomposition.victim_parts(p0, p1, ratio=p)
    assert (p0 == (p * q0 + q1) / (1 + p)).all()
    assert (p1 == (q0 + p * q1) / (1 + p)).all()
    # The coefficient is attained and cannot be larger.
    sums = q0 + q1
    assert all((row >= worst.coefficient * sums).all() for row in mechanism.rows)
    assert mechanism.rows[worst.other, worst.output] == worst.coefficient * sums[worst.output]


@settings(max_examples=15, deadline=None)
@given(pure_mechanisms(), st.sampled_from([Fraction(-1, 50), Fraction(1, 50)]))
def test_the_closed_form_agrees_with_exact_certificates(mechanism, step):
    p0, p1 = mechanism.rows[:2]
    others = {f"x{i}": row for i, row in enumerate(mechanism.rows)}
    largest = decomposition.largest_coefficient(p0, p1, mechanism.rows, ratio=mechanism.ratio)
    tried = infeasible.lemma1(p0, p1, others, ratio=mechanism.ratio, coefficient=largest * (1 + step))
    assert (infeasible.certificate(tried) is None) == (step < 0)


def test_coefficients_by_hand():
    # Subset selection: a set that holds both of the victim's items and not the other's, 2p against 1.
    assert decomposition.worst_case(finite.subset_selection(3, k=3, size=2)).coefficient == Fraction(1, 6)
    # One-bit rounding, 1 and 1/2 against 0: 1/(p+1) over p/(p+1) + 1/2.
    assert decomposition.worst_case(finite.one_bit(3)).coefficient == Fraction(1, 5)
    for k in (2, 3, 7):
        assert decomposition.worst_case(finite.randomized_response(3, k=k)).coefficient == Fraction(1, 4)
    # Laplace at a report beyond 1: inputs 1 and 1/2 against 0.
    laplace = gallery.noise("laplace", scale=1 / math.log(3), cells=40, ratio=3)
    by_hand = (1 / 3) / (1 + 1 / math.sqrt(3))
    assert decomposition.worst_case(laplace).coefficient == pytest.approx(by_hand, rel=1e-9)


def test_a_local_delta_pays_with_one_minus_delta():
    for mechanism, pure in [
        (finite.randomized_response(3, k=4), Fraction(1, 4)),
        (finite.subset_selection(3, k=3, size=2), Fraction(1, 6)),
    ]:
        leaky = finite.leaky(mechanism, Fraction(1, 100))
        assert decomposition.worst_case(leaky).coefficient == pytest.approx(0.99 * float(pure), rel=1e-9)
    assert decomposition.worst_case(finite.anything_but(3, inputs=4)).coefficient == 0.0


@pytest.mark.parametrize("mechanism", gallery.approximate(3, DELTA, cells=16)[:5], ids=lambda m: m.name)
@pytest.mark.parametrize("step", [Fraction(-1, 50), Fraction(1, 50)])
def test_the_linear_program_for_delta_agrees_with_exact_certificates(mechanism, step):
    p0, p1 = mechanism.rows[:2]
    budget = {"ratio": mechanism.ratio, "delta": mechanism.delta}
    largest = decomposition.largest_coefficient(p0, p1, mechanism.rows, **budget)
    others = {f"x{i}": row for i, row in enumerate(mechanism.rows)}
    tried = Fraction(largest).limit_denominator(10**6) * (1 + step) if largest > 0 else Fraction(1, 1000)
    found = infeasible.certificate(infeasible.lemma1(p0, p1, others, **budget, coefficient=tried, shared=False))
    assert (found is None) == (step < 0 and largest > 0)


@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 5), Fraction(2, 5)])
def test_a_shared_part_by_closed_form_and_by_certificate(delta):
    for mechanism in [
        *gallery.pure(3, draws=2)[:-1],
        finite.quaternary(3, delta),
        finite.leaky(finite.one_bit(3), delta),
    ]:
        for p0, p1 in combinations(mechanism.rows, 2):
            exists = decomposition.shared_parts_exist(p0, p1, ratio=P, delta=delta)
            found = infeasible.certificate(infeasible.lemma1(p0, p1, {}, ratio=P, delta=delta))
            assert exists == (found is None)
            assert not (exists and finite.local_delta(np.array([p0, p1]), ratio=P) > 0)


def test_the_corrected_parts_rebuild_the_laws():
    p0, p1 = finite.leaky(finite.randomized_response(3, k=3), DELTA).rows[:2]
    own0, q0, q1, own1 = decomposition.split_parts(p0, p1, ratio=P, delta=DELTA)
    assert ((1 - DELTA) * (3 * q0 + q1) / 4 + DELTA * own0 == p0).all()
    assert ((1 - DELTA) * (q0 + 3 * q1) / 4 + DELTA * own1 == p1).all()
    assert (own0 * own1).sum() == 0


class TestCertificates:
    def test_every_failure_is_checked_by_hand(self):
        # 0 <= (11) - r (9) - r (10): r (Q0 + Q1) cancels, and 1/7 - (1/4)(6/7) is left.
        table = infeasible.counterexamples(3, delta=DELTA).set_index(["case", "statement"])
        subset = table.loc[("subset selection, 2 of 3", "arXiv")]
        assert subset["contradiction"] == "0 <= (11) for x2 at {0,1} - 1/4 (9) at {0,1} - 1/4 (10) at {0,1} <= -1/14"
        assert Fraction(1, 7) - Fraction(1, 4) * Fraction(6, 7) == Fraction(-1, 14)
        # (10) at A has the right-hand side 0, (9) has delta; a third of (9) has weights no larger than (10)'s.
        own = table.loc[("Lemma 4's own pair", "arXiv")]
        assert own["contradiction"] == "0 <= (10) at A - 1/3 (9) at A <= -1/30"
        held = table.index[table["holds"]].tolist()
        assert held == [
            ("binary RR", "arXiv"),
            ("3-ary RR", "arXiv"),
            ("subset selection, 2 of 3, r = e^-eps/2", "corrected"),
            ("Lemma 4's own pair", "corrected"),
        ]

    @pytest.mark.parametrize("ratio", [2, Fraction(3, 2), 20])
    def test_other_budgets_fail_alike(self, ratio):
        table = infeasible.counterexamples(ratio, delta=Fraction(1, 1000))
        assert table["holds"].sum() == 4
        assert (table["contradiction"] == "").sum() == 4

    def test_a_false_certificate_is_not_accepted(self):
        rows = finite.subset_selection(3, k=3, size=2).rows
        system = infeasible.lemma1(rows[0], rows[1], {"x2": rows[2]}, ratio=P)
        right = infeasible.certificate(system)
        weights = np.array([right.weights.get(name, Fraction(0)) for name in system.names])
        assert infeasible._check(system, weights) == Fraction(-1, 14)
        assert infeasible._check(system, -weights) is None
        less = weights.copy()
        less[-3] *= Fraction(99, 100)  # (11)'s weight: a mass is left with a negative coefficient
        assert infeasible._check(system, less) is None
        assert infeasible._check(system, weights * 0) is None

    def test_a_rounded_certificate_that_fails_is_none(self, monkeypatch):
        monkeypatch.setattr(infeasible, "_DENOMINATOR", 1)
        rows = finite.subset_selection(3, k=3, size=2).rows
        assert infeasible.certificate(infeasible.lemma1(rows[0], rows[1], {"x2": rows[2]}, ratio=P)) is None

    def test_floats_are_refused(self):
        rows = finite.randomized_response(math.e).rows
        with pytest.raises(InvalidValue, match="has to be exact"):
            infeasible.lemma1(rows[0], rows[1], {}, ratio=P)
        with pytest.raises(InvalidValue, match="whole numbers or Fractions"):
            infeasible.counterexamples(3.5, delta=DELTA)


class TestTables:
    def test_what_splits_and_what_does_not(self):
        table = decomposition_tables.decompositions([*gallery.pure(3, draws=0), *gallery.approximate(3, DELTA)])
        by_name = table.set_index("mechanism")
        assert by_name.index[by_name["holds"]].tolist() == ["binary RR", "4-ary RR"]
        assert by_name.loc["subset selection, 2 of 3", "share"] == pytest.approx(2 / 3)
        assert not table["repeated"].any()
        assert (table["shared"] == (table["delta"] == 0)).all()

    def test_a_mechanism_without_information_is_all_that_aaai_allows(self):
        blank = finite.Mechanism("blank", np.full((3, 2), Fraction(1, 2)), P, Fraction(0), ("0", "1"))
        row = decomposition_tables.decompositions([blank]).iloc[0]
        assert row["repeated"]
        assert row["holds"]

    def test_shares_lie_between_the_general_one_and_the_largest(self):
        table = decomposition_tables.shares(np.linspace(0.1, 6, 60))
        assert (table["share"] >= table["general"] - 1e-9).all()
        assert (table["share"] <= (1 + np.exp(table["eps"])) / 2 + 1e-9).all()
        ones = table[table["mechanism"].isin(["binary RR", "4-ary RR"])]["share"]
        np.testing.assert_allclose(ones, 1, rtol=1e-12)


class TestProof:
    def test_the_printed_tables(self):
        aaai = decomposition.printed_table(3, DELTA, text="aaai")
        assert aaai.tolist() == [
            [0, Fraction(9, 40), Fraction(27, 40), DELTA],
            [DELTA, Fraction(9, 40), Fraction(27, 40), 0],
        ]
        assert decomposition_tables.proof_distance(3, DELTA, text="arxiv") < 1e-9
        # Of total variation delta, while binary randomized response has 1/2: half the difference, at each end.
        assert decomposition_tables.proof_distance(3, DELTA, text="aaai") == pytest.approx((0.5 - 0.1) / 2)

    def test_the_sets_of_the_proof(self):
        assert decomposition.printed_sets(3, DELTA, text="meant") == ("0", "1")
        assert decomposition.printed_sets(3, DELTA, text="aaai") == ("0", "0")
        assert decomposition.printed_sets(3, DELTA, text="arxiv") == ("0", "")
        assert decomposition.rest_distance(3, DELTA) == 1

    def test_the_third_input_is_out_of_reach(self):
        rows = finite.randomized_response(3, k=3).rows
        q0, q1 = decomposition.victim_parts(rows[0], rows[1], ratio=P)
        # Every mixture has 1/5 on the third value, the report 3/5.
        assert decomposition.hull_distance(q0, q1, rows[2]) == Fraction(2, 5)
        assert decomposition.hull_distance(q0, q1, rows[0]) == 0


def test_refusals():
    p0, p1 = finite.quaternary(3, DELTA).rows
    with pytest.raises(OutsideValidity, match=r"a pure pair, got delta = 0.1"):
        decomposition.victim_parts(p0, p1, ratio=P)
    with pytest.raises(OutsideValidity, match=r"within delta = 0.1 at this eps, got 0.05"):
        decomposition.largest_coefficient(p0, p1, p0, ratio=P, delta=Fraction(1, 20))
    one = finite.Mechanism("one input", p0[None, :], P, Fraction(0), ("A", "0", "1", "B"))
    with pytest.raises(OutsideValidity, match="at least two inputs"):
        decomposition.worst_case(one)

"""Page 03 and the finite mechanisms: laws of the stated privacy; the explicit channel, the linear program and trade-off
functions, each against the others; the claim's cell on made tables; planted errors."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import Planted, run_page, settle
from scipy.stats import laplace, norm

from gspa.accountant.errors import InvalidValue
from gspa.accountant.tradeoff import hockey_stick
from gspa.algorithms import channels, finite

PAGE = "03_dominating_pairs"
F = Fraction
P, DELTA = F(3), F(1, 10)
ALL = finite.gallery(3, DELTA, draws=3)


class TestMechanisms:
    @pytest.mark.parametrize("mechanism", ALL, ids=lambda m: m.name)
    def test_rows_are_laws_and_delta_is_tight(self, mechanism):
        assert mechanism.rows.shape[1] == len(mechanism.outputs)
        assert mechanism.rows.min() >= 0
        total = abs(mechanism.rows.sum(axis=1) - 1).max()
        assert total == 0 if mechanism.exact else total < 1e-12
        # By hand: the largest sum of max(P - e^eps Q, 0) over ordered pairs of inputs.
        needed = max(
            sum(max(a - 3 * b, 0) for a, b in zip(p, q, strict=True)) for p, q in permutations(mechanism.rows, 2)
        )
        assert needed == mechanism.delta if mechanism.exact else abs(needed - mechanism.delta) < 1e-12
        assert finite.local_delta(mechanism.rows, ratio=P) == pytest.approx(float(needed), abs=1e-15)

    def test_masses_by_hand(self):
        assert finite.randomized_response(3).rows.tolist() == [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
        assert finite.randomized_response(3, k=3).rows[0].tolist() == [F(3, 5), F(1, 5), F(1, 5)]
        assert finite.one_bit(3).rows[:, 1].tolist() == [F(1, 4), F(1, 2), F(3, 4)]
        leaky = finite.leaky(finite.randomized_response(3), DELTA)
        assert leaky.rows[0].tolist() == [F(27, 40), F(9, 40), DELTA, 0]
        assert finite.anything_but(3, inputs=3).rows[1].tolist() == [F(1, 2), 0, F(1, 2)]
        # The paper's Lemma 4, in its order A, 0, 1, B.
        assert finite.quaternary(3, DELTA).rows.tolist() == [
            [DELTA, F(27, 40), F(9, 40), 0],
            [0, F(9, 40), F(27, 40), DELTA],
        ]

    def test_the_staircase_is_its_series(self):
        ratio, reach = 2.0, 3
        total = sum(ratio ** -((abs(j) + 1) // 2) for j in range(-400, 401))
        for x, row in enumerate(finite.staircase(ratio).rows):
            law = np.zeros(len(row))
            for y in range(-400, 401):
                law[int(np.clip(y, -reach, 2 + reach)) + reach] += ratio ** -((abs(y - x) + 1) // 2) / total
            np.testing.assert_allclose(row, law, rtol=1e-12)

    @pytest.mark.parametrize(("kind", "law"), [("laplace", laplace), ("gaussian", norm)])
    def test_noise_in_cells(self, kind, law):
        mechanism = finite.noise(kind, scale=0.7, cells=20, ratio=3)
        # Edges are at the inputs: below 1/2 lies what the law has there, and in the tails what is beyond six scales.
        for x, row in zip((0, 0.5, 1), mechanism.rows, strict=True):
            assert np.abs(row.cumsum() - law.cdf(0.5, x, 0.7)).min() < 1e-12
        grid = np.linspace(-6 * 0.7, 1 + 6 * 0.7, 18)
        assert mechanism.rows[0][-1] == pytest.approx(law.sf(grid[-2], 0, 0.7), rel=1e-12)
        if kind == "laplace":  # the cells lose a little of the reports' own
            assert 0 < mechanism.delta <= 1 - math.exp((math.log(3) - 1 / 0.7) / 2) + 1e-12

    def test_no_cell_is_a_rounding_error_wide(self):
        # At this eps a grid point and an input once differed by rounding, and the cell between had rounding for a mass.
        inputs = np.linspace(0, 1, 11).tolist()
        mechanism = finite.noise("laplace", scale=1 / 4.5, cells=44, ratio=math.exp(4.5), inputs=inputs)
        assert mechanism.rows.max(axis=0).min() > 1e-6

    def test_random_ones_are_extremal_and_repeat(self):
        first, again, other = (finite.extremal(3, inputs=4, patterns=3, rng=seed) for seed in (1, 1, 2))
        assert (first.rows == again.rows).all()
        assert first.rows.shape != other.rows.shape or (first.rows != other.rows).any()
        for column in first.rows.T:
            assert set(column / column.min()) == {1, 3}
        with pytest.raises(InvalidValue, match="from 2 to 100"):
            finite.extremal(3, inputs=101, patterns=1, rng=0)


laws = st.lists(st.integers(0, 20), min_size=2, max_size=6).filter(any)


@st.composite
def pairs(draw):
    """Two exact laws of one length, a ratio, and any delta that suffices."""
    first = draw(laws)
    second = draw(st.lists(st.integers(0, 20), min_size=len(first), max_size=len(first)).filter(any))
    p0, p1 = (np.array([F(v, sum(law)) for v in law]) for law in (first, second))
    ratio = draw(st.fractions(F(11, 10), 10, max_denominator=20))
    needed = finite.local_delta(np.array([p0, p1]), ratio=ratio)
    spare = draw(st.fractions(0, F(9, 10), max_denominator=10))
    return p0, p1, ratio, needed + spare * (1 - needed)


class TestChannel:
    @settings(max_examples=60, deadline=None)
    @given(pairs().filter(lambda case: case[3] < 1))
    def test_it_is_exact_for_any_two_laws(self, case):
        p0, p1, ratio, delta = case
        built = channels.channel(p0, p1, ratio=ratio, delta=delta)
        assert built.min() >= 0
        assert (built.sum(axis=1) == 1).all()
        low = (1 - delta) / (1 + ratio)
        for law, weights in ((p0, (delta, ratio * low, low, 0)), (p1, (0, low, ratio * low, delta))):
            assert (sum(w * row for w, row in zip(weights, built, strict=True)) == law).all()
        assert channels.channel_error(p0, p1, ratio=ratio, delta=delta) == 0.0

    @settings(max_examples=25, deadline=None)
    @given(case=pairs().filter(lambda case: case[3] < 1))
    def test_linear_programming_and_trade_offs_agree(self, p, case):
        p0, p1, ratio, delta = case
        pair = finite.quaternary_pair(ratio, delta)
        assert channels.nearest(pair, p0, p1) < 1e-8
        assert p.tradeoff_gap(pair, p0, p1) > -1e-12

    def test_there_is_none_for_laws_too_far_apart(self):
        p0, p1 = finite.randomized_response(3).rows
        assert channels.channel_error(p0, p1, ratio=F(2), delta=F(1, 4)) == 0.0
        assert channels.channel_error(p0, p1, ratio=F(2), delta=F(1, 5)) > 0.01

    def test_equal_laws_leave_nothing_to_a_tiny_delta(self):
        built = channels.channel([0.5, 0.5], [0.5, 0.5], ratio=3.0, delta=1e-300)
        assert (built == 0.5).all()

    def test_the_distance_by_hand(self):
        # Two sure outcomes from a pair of equal laws: the best single law is halfway.
        even = np.array([[0.5, 0.5], [0.5, 0.5]])
        assert channels.nearest(even, np.array([1.0, 0.0]), np.array([0.0, 1.0])) == pytest.approx(0.5)
        # From binary randomized response at e^eps = 2 to that at 3: of TV 1/3 and 1/2, half the difference each.
        weak = finite.randomized_response(2).rows
        assert channels.nearest(weak, *finite.randomized_response(3).rows) == pytest.approx(1 / 12)


class TestTables:
    def test_the_example_is_exact_and_its_channel_is_the_books(self, ran):
        example = ran.names["example"]
        low = (1 - DELTA) / 4
        for law, weights in zip(example.rows[:2], ((DELTA, 3 * low, low, 0), (0, low, 3 * low, DELTA)), strict=True):
            assert (sum(w * row for w, row in zip(weights, ran.names["channel"], strict=True)) == law).all()
        built = channels.channel(*example.rows[:2], ratio=P, delta=DELTA)
        assert (ran.names["channel"] == built).all()

    def test_the_gaussian_touches_its_pairs(self, ran):
        uncut = ran.names["uncut"].set_index("eps")
        # mu-GDP's delta(eps) is the least that does.
        assert uncut["gap"].min() >= -1e-12
        assert uncut["weaker"].max() < -1e-4
        fine = finite.noise("gaussian", scale=1, cells=4000, ratio=math.exp(0.5))
        assert hockey_stick(fine.rows[2], fine.rows[0], 0.5) == pytest.approx(uncut.loc[0.5, "delta"], rel=1e-4)

    def test_curves_hold_the_mechanism_above_its_pairs(self, p):
        table = p.curves(3, DELTA, cells=24, points=51)
        for _, part in table.groupby("panel"):
            own = part[part["kind"] == "mechanism"].sort_values("alpha")
            for _, line in part[part["kind"] == "pair"].groupby("line"):
                assert (np.interp(line["alpha"], own["alpha"], own["beta"]) >= line["beta"] - 1e-9).all()
        # Binary randomized response has equal errors 0.9/4 when it leaks a tenth.
        assert p.equal_errors(table)["binary RR, or the truth"] == pytest.approx(0.225)


class TestLemma4:
    @staticmethod
    def tables(ran):
        return {name: ran.names[name].copy() for name in ("table", "uncut")}

    @pytest.mark.parametrize("pair", ["too little delta", "one outcome for A and B", "of AAAI's proof"])
    def test_a_wrong_pair_does_not_dominate(self, p, pair):
        own, right = finite.quaternary(3, DELTA), finite.quaternary_pair(3, DELTA)
        wrong = finite.quaternary_pair(3, DELTA / 2)
        if pair == "one outcome for A and B":  # that a shared Q_1 would give
            wrong = np.array([[right[0, 0], *row[1:3], 0 * row[0]] for row in right])
        if pair == "of AAAI's proof":  # the masses that the proof of Lemma 1 prints
            wrong = right[:, [3, 1, 2, 0]]
            wrong[0, [1, 2]] = wrong[1, [1, 2]]
        assert channels.nearest(wrong, *own.rows) > 0.01
        assert p.tradeoff_gap(wrong, *own.rows) < -0.01

    @pytest.mark.parametrize(
        ("which", "changes", "verdict"),
        [
            ("table", {}, "verified"),
            ("table", {"distance": 1e-3, "error": 1e-3}, "refuted"),
            ("table", {"distance": 1e-3}, "not checkable"),  # a channel is written down
            ("table", {"error": 1e-3}, "not checkable"),  # the program has another
            ("table", {"error": 1e-12}, "not checkable"),  # of fractions, which are exact
            ("table", {"gap": -1e-3}, "refuted"),
            ("table", {"weaker": 0.0}, "not checkable"),
            ("uncut", {"gap": -1e-3}, "refuted"),
            ("uncut", {"weaker": 0.0}, "not checkable"),
        ],
    )
    def test_each_number_counts(self, ran, which, changes, verdict):
        made = self.tables(ran)
        for column, value in changes.items():
            made[which].loc[1, column] = value
        assert settle("G-L4", **made).verdict == verdict


@pytest.mark.parametrize("given", [{}, {"ratio": 20, "delta": 0.5, "sigma": 0.3, "cells": 16, "draws": 0}])
def test_the_page(given):
    ran = run_page(PAGE, **given)
    assert ran.outcomes["G-L4"].verdict == "verified"
    assert any("The channel is exact for the" in text for text in ran.said)


PLANTED = (
    Planted(
        "G-L4",
        "algorithms.channels",
        "np.maximum(p - (1 - delta) * v, 0)",
        "np.maximum(p - (1 - delta) * v / 2, 0)",
        "the channel's rests too large",
    ),
)

"""Lemma 4: the explicit channel, the linear program, and trade-off functions, each against the others."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gspa import dominating, gallery
from gspa import finite_mechanisms as finite
from gspa.discrete import hockey_stick, neyman_pearson
from gspa.errors import OutsideValidity
from gspa.tradeoff import f_eps_delta

laws = st.lists(st.integers(0, 20), min_size=2, max_size=6).filter(any)


@st.composite
def pairs(draw):
    """Two exact laws of one length, a ratio, and any delta that suffices."""
    first = draw(laws)
    second = draw(st.lists(st.integers(0, 20), min_size=len(first), max_size=len(first)).filter(any))
    p0, p1 = (np.array([Fraction(v, sum(law)) for v in law]) for law in (first, second))
    ratio = draw(st.fractions(Fraction(11, 10), 10, max_denominator=20))
    needed = finite.local_delta(np.array([p0, p1]), ratio=ratio)
    spare = draw(st.fractions(0, Fraction(9, 10), max_denominator=10))
    return p0, p1, ratio, needed + spare * (1 - needed)


@settings(max_examples=60, deadline=None)
@given(pairs())
def test_the_channel_is_exact_for_any_two_laws(case):
    p0, p1, ratio, delta = case
    if delta >= 1:  # disjoint laws
        return
    built = dominating.channel(p0, p1, ratio=ratio, delta=delta)
    assert built.min() >= 0
    assert (built.sum(axis=1) == 1).all()
    low = (1 - delta) / (1 + ratio)
    for law, weights in ((p0, (delta, ratio * low, low, 0)), (p1, (0, low, ratio * low, delta))):
        assert (sum(w * row for w, row in zip(weights, built, strict=True)) == law).all()
    assert dominating.channel_error(p0, p1, ratio=ratio, delta=delta) == 0.0


@settings(max_examples=25, deadline=None)
@given(pairs())
def test_the_linear_program_agrees(case):
    p0, p1, ratio, delta = case
    if delta >= 1:
        return
    assert dominating.nearest(finite.quaternary_pair(ratio, delta), p0, p1) < 1e-8
    assert dominating.tradeoff_gap(p0, p1, ratio=ratio, delta=delta) > -1e-12


def test_two_laws_that_are_too_far_apart_are_refused():
    p0, p1 = finite.randomized_response(3).rows
    with pytest.raises(OutsideValidity, match=r"two laws within delta = 0.25 at this eps, got 0.2"):
        dominating.channel(p0, p1, ratio=Fraction(2), delta=Fraction(1, 5))
    assert dominating.channel_error(p0, p1, ratio=Fraction(2), delta=Fraction(1, 4)) == 0.0


def test_the_distance_by_hand():
    # Two sure outcomes from a pair of equal laws: the best single law is halfway.
    even = np.array([[0.5, 0.5], [0.5, 0.5]])
    assert dominating.nearest(even, np.array([1.0, 0.0]), np.array([0.0, 1.0])) == pytest.approx(0.5)
    # From binary randomized response at e^eps = 2 to that at 3: of TV 1/3 and 1/2, half the difference each.
    weak = finite.randomized_response(2).rows
    assert dominating.nearest(weak, *finite.randomized_response(3).rows) == pytest.approx(1 / 12)


def test_the_pairs_trade_off_is_the_papers():
    ratio, delta = Fraction(3), Fraction(1, 10)
    pair = finite.quaternary_pair(ratio, delta).astype(float)
    alpha = np.linspace(0, 1, 101)
    np.testing.assert_allclose(neyman_pearson(*pair)(alpha), f_eps_delta(alpha, eps=math.log(3), delta=0.1), atol=1e-12)


def test_domination_of_the_gallery():
    table = dominating.domination(
        [*gallery.pure(3, draws=1, cells=24), *gallery.approximate(3, Fraction(1, 10), cells=24)]
    )
    assert (table.loc[table["exact"], "error"] == 0).all()
    assert table["error"].max() < 1e-14
    assert table["distance"].max() < 1e-9
    assert table["weaker"].min() > 1e-3
    assert table["gap"].min() > -1e-12


def test_a_wrong_pair_does_not_dominate(monkeypatch):
    # One outcome for both A and B: the pair that a shared Q_1 would give.
    def shared(ratio, delta):
        law = finite.quaternary_pair(ratio, delta)
        return np.array([[law[0, 0], *law[0, 1:3], 0 * law[0, 0]], [law[0, 0], *law[1, 1:3], 0 * law[0, 0]]])

    monkeypatch.setattr(dominating, "quaternary_pair", shared)
    own = finite.quaternary(3, Fraction(1, 10))
    row = dominating.domination([own]).iloc[0]
    assert row["distance"] > 0.01
    assert row["error"] > 0.01
    assert row["gap"] < -0.01


def test_curves_hold_the_mechanism_above_its_pairs():
    table = dominating.curves(gallery.illustrated(3, Fraction(1, 10), cells=24), points=51)
    assert table["panel"].nunique() == 4
    for _, part in table.groupby("panel"):
        own = part[part["kind"] == "mechanism"].sort_values("alpha")
        for _, line in part[part["kind"] == "pair"].groupby("line"):
            above = np.interp(line["alpha"], own["alpha"], own["beta"])
            assert (above >= line["beta"] - 1e-9).all()


def test_the_gaussian_touches_its_pairs():
    table = dominating.gaussian_pairs([0.5, 2.0], mu=1.0, points=200_001)
    assert table["gap"].min() >= -1e-12
    # mu-GDP's delta(eps) is the least that does.
    assert table["gap_weaker"].max() < -1e-4
    fine = gallery.noise("gaussian", scale=1, cells=4000, ratio=math.exp(0.5))
    assert hockey_stick(fine.rows[2], fine.rows[0], 0.5) == pytest.approx(table["delta"][0], rel=1e-4)


def test_the_readable_channel_sums_to_the_mechanism():
    mechanism = finite.leaky(finite.randomized_response(3), Fraction(1, 10))
    table = dominating.channel_table(mechanism).set_index("outcome")
    assert table.loc["input 0: sum", list(mechanism.outputs)].tolist() == [str(v) for v in mechanism.rows[0]]
    assert table.loc["A", "truth 0"] == "1"

"""Finite mechanisms: laws of the stated privacy, exact where fractions go in, and refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import laplace, norm

from gspa import finite_mechanisms as finite
from gspa import gallery
from gspa.errors import InvalidValue, UnknownName

P, DELTA = Fraction(3), Fraction(1, 10)
ALL = [*gallery.pure(3, draws=3), *gallery.approximate(3, DELTA)]


@pytest.mark.parametrize("mechanism", ALL, ids=lambda m: m.name)
def test_rows_are_laws_and_delta_is_tight(mechanism):
    assert mechanism.rows.shape[1] == len(mechanism.outputs)
    assert mechanism.rows.min() >= 0
    total = abs(mechanism.rows.sum(axis=1) - 1).max()
    assert total == 0 if mechanism.exact else total < 1e-12
    # By hand: the largest sum of max(P - e^eps Q, 0) over ordered pairs of inputs.
    needed = max(sum(max(a - 3 * b, 0) for a, b in zip(p, q, strict=True)) for p, q in permutations(mechanism.rows, 2))
    assert needed == mechanism.delta if mechanism.exact else abs(needed - mechanism.delta) < 1e-12
    assert finite.local_delta(mechanism.rows, ratio=P) == pytest.approx(float(needed), abs=1e-15)
    assert mechanism.eps == pytest.approx(math.log(3))


def test_pure_mechanisms_use_their_whole_budget():
    # All but Laplace noise in cells reach the ratio 3 at some output (noise reaches it beyond the interval).
    for mechanism in gallery.pure(3, draws=3):
        assert float((mechanism.rows.max(axis=0) / mechanism.rows.min(axis=0)).max()) == pytest.approx(3, rel=1e-9)


def test_masses_by_hand():
    assert finite.randomized_response(3).rows.tolist() == [
        [Fraction(3, 4), Fraction(1, 4)],
        [Fraction(1, 4), Fraction(3, 4)],
    ]
    assert finite.randomized_response(3, k=3).rows[0].tolist() == [Fraction(3, 5), Fraction(1, 5), Fraction(1, 5)]
    assert finite.one_bit(3).rows[:, 1].tolist() == [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    leaky = finite.leaky(finite.randomized_response(3), DELTA)
    assert leaky.rows[0].tolist() == [Fraction(27, 40), Fraction(9, 40), DELTA, 0]
    assert finite.anything_but(3, inputs=3).rows[1].tolist() == [Fraction(1, 2), 0, Fraction(1, 2)]
    # The paper's Lemma 4, in its order A, 0, 1, B.
    assert finite.quaternary_pair(3, DELTA).tolist() == [
        [DELTA, Fraction(27, 40), Fraction(9, 40), 0],
        [0, Fraction(9, 40), Fraction(27, 40), DELTA],
    ]


def test_the_staircase_is_its_series():
    ratio, reach = 2.0, 2
    mechanism = finite.staircase(ratio, reach=reach)
    total = sum(ratio ** -((abs(j) + 1) // 2) for j in range(-400, 401))
    for x, row in enumerate(mechanism.rows):
        law = np.zeros(len(row))
        for y in range(-400, 401):
            law[int(np.clip(y, -reach, 2 + reach)) + reach] += ratio ** -((abs(y - x) + 1) // 2) / total
        np.testing.assert_allclose(row, law, rtol=1e-12)


@pytest.mark.parametrize(("kind", "law"), [("laplace", laplace), ("gaussian", norm)])
def test_noise_is_scipys(kind, law):
    mechanism = gallery.noise(kind, scale=0.7, cells=20, ratio=3)
    # The cell in which a report on input 1 falls short of 1/2: edges are at the inputs.
    below = mechanism.rows[2].cumsum()
    assert np.abs(below - law.cdf(0.5, 1, 0.7)).min() < 1e-12
    delta = {"laplace": 1 - math.exp((math.log(3) - 1 / 0.7) / 2), "gaussian": None}[kind]
    if delta is not None:  # the cells lose a little of the reports' own
        assert 0 < mechanism.delta <= delta + 1e-12


def test_no_cell_is_a_rounding_error_wide():
    # At this eps a grid point and an input once differed by rounding, and the cell between had rounding for a mass.
    mechanism = gallery.noise(
        "laplace", scale=1 / 4.5, cells=44, ratio=math.exp(4.5), inputs=np.linspace(0, 1, 11).tolist()
    )
    assert mechanism.rows.max(axis=0).min() > 1e-6


def test_random_mechanisms_are_extremal_and_repeat():
    first, again, other = (finite.extremal(3, inputs=4, patterns=3, rng=seed) for seed in (1, 1, 2))
    assert (first.rows == again.rows).all()
    assert first.rows.shape != other.rows.shape or (first.rows != other.rows).any()
    for column in first.rows.T:
        assert set(column / column.min()) == {1, 3}


def test_floats_stay_floats():
    mechanism = finite.subset_selection(math.e, k=4, size=2)
    assert not mechanism.exact
    assert mechanism.rows.dtype == np.float64


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: finite.randomized_response(1), "ratio = 1: must be in"),
        (lambda: finite.randomized_response(True), "ratio = True"),
        (lambda: finite.randomized_response(math.nan), "ratio = nan"),
        (lambda: finite.subset_selection(3, k=3, size=3), "size = 3: must be in"),
        (lambda: finite.leaky(finite.randomized_response(3), 1), "delta = 1: must be in"),
        (lambda: finite.leaky(finite.anything_but(3, inputs=3), DELTA), "mechanism.delta"),
        (lambda: finite.anything_but(3, inputs=2), "inputs = 2"),
        (lambda: gallery.noise("laplace", scale=0, cells=20, ratio=3), "scale = 0"),
        (lambda: gallery.noise("laplace", scale=1, cells=20, ratio=3, inputs=[2.0]), r"inputs\[0\] = 2.0"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InvalidValue, match=message):
        call()


def test_unknown_noise():
    with pytest.raises(UnknownName, match="laplace"):
        gallery.noise("laplac", scale=1, cells=20, ratio=3)

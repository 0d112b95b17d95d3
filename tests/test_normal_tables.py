"""The tables of Lemmas 2 and 3."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import sympy as sp

from gspa import normal_limit as nl
from gspa import normal_pair as npair
from gspa import normal_tables as nt
from gspa.errors import InvalidValue


def made(power, *, wobble=0.0, sizes=(100, 1_000, 10_000, 100_000)):
    """A distance table whose quantities follow power laws, with every second value off by `wobble`."""
    rows = []
    for i, m in enumerate(sizes):
        factor = 1 + wobble * (i % 2)
        rows.append({"eps0": 1.0, "m": m, "total_variation": 0.3 * m**power * factor, "leading": 0.3 * m**power})
        rows[-1] |= {
            "printed": 2.0 / m,
            "printed_mass": 0.25,
            "largest_point": 1 / m,
            "difference": 1 / m,
            "total": 0.1,
        }
    return pd.DataFrame(rows)


@pytest.mark.parametrize("power", [-0.5, -1.0, -0.8])
def test_rates_of_power_laws(power):
    found = nt.rates(made(power)).set_index("key")
    assert found.loc["total_variation", "exponent"] == pytest.approx(power)
    assert found.loc["total_variation", "half_width"] < 1e-6
    assert found.loc["printed", "exponent"] == pytest.approx(-1)
    assert found.loc["printed", "constant"] == pytest.approx(2.0)


def test_the_constant_is_that_of_the_nearer_power():
    assert nt.rates(made(-0.5))["constant"].iloc[0] == pytest.approx(0.3)


def test_the_interval_of_the_fit_by_numpy():
    table = made(-0.5, wobble=0.2)
    found = nt.rates(table).set_index("key").loc["total_variation"]
    (slope, _), covariance = np.polyfit(np.log(table["m"]), np.log(table["total_variation"]), 1, cov="unscaled")
    rest = np.log(table["total_variation"]) - np.polyval([slope, _], np.log(table["m"]))
    error = math.sqrt(covariance[0, 0] * float(rest @ rest) / 2)
    assert found["exponent"] == pytest.approx(slope)
    assert found["half_width"] == pytest.approx(4.302653 * error, rel=1e-6)  # Student's t, 2 degrees of freedom


def test_two_sizes_have_no_interval():
    with pytest.raises(InvalidValue, match="three or more"):
        nt.rates(made(-0.5, sizes=(100, 1_000)))


def test_measured_rates():
    table = nt.distance_table(eps0=(0.5, 2.0), sizes=nt.sizes_between(1_000, 30_000, 3))
    found = nt.rates(table).pivot(index="eps0", columns="key", values="exponent")
    assert found["total_variation"].to_numpy() == pytest.approx([-0.5, -0.5], abs=0.003)
    assert found["printed"].to_numpy() == pytest.approx([-1, -1], abs=0.003)
    assert found["difference"].to_numpy() == pytest.approx([-1, -1], abs=0.003)


def test_moving_p_keeps_one_expected_user():
    table = nt.moving_table(sizes=(100, 1_000))
    p = nl.clone_probability(table["eps0"].to_numpy())
    inside = np.where(table["p"] == "1/m", p, 1 - p) * table["m"]
    assert inside.to_numpy() == pytest.approx([1.0] * 4)
    assert (table["total_variation"] > 0.1).all()


def test_mixed_populations():
    for _, tv, leading in nt.mixed_distances(m=5_001):
        assert tv == pytest.approx(leading, rel=0.005)


def test_sizes():
    assert nt.sizes_between(100, 1_000, 4) == [100, 215, 464, 1_000]
    with pytest.raises(InvalidValue, match="least"):
        nt.sizes_between(10, 10, 3)


def test_pages():
    table = nt.distance_table(eps0=(0.5,), sizes=(100, 200, 400))
    assert list(nt.readable(table)["users m"]) == [100, 200, 400]
    assert list(nt.readable_rates(nt.rates(table)).columns) == ["eps0", *nt.QUANTITIES.values()]
    seen = nt.readable_seen(nt.seen_table(eps0=0.5, sizes=(100,), sides=(1, 0.5)))
    assert list(seen.columns) == ["m", "cells of side 1", "cells of side 0.5"]
    assert list(npair.readable_numbers(npair.lemma3_numbers(draws=1, users=5, seed=1))["population"]) == [
        "random 1",
        "all budgets 0",
    ]
    assert list(npair.symbols_table(npair.lemma3_symbols())["what is left"]) == ["0, 0, 0, 0", "0, 0, 0, 0", "0"]


@pytest.mark.parametrize("p", [[], [0.5] * 61, [1.0] * 5])
def test_refusals(p):
    with pytest.raises(InvalidValue, match="p"):
        nt.total_variation_by_definition(p)


class TestLemma3:
    def test_the_algebra(self):
        symbols = npair.lemma3_symbols()
        assert set(symbols.covariance) == set(symbols.inverse) == {0}
        assert symbols.square == 0

    def test_a_wrong_inverse_is_noticed(self, monkeypatch):
        right = npair.printed_inverse
        monkeypatch.setattr(npair, "printed_inverse", lambda v1, v2: right(v1, v2) * sp.Rational(1, 2))
        assert set(npair.lemma3_symbols().inverse) != {0}

    def test_numbers(self):
        table = npair.lemma3_numbers(draws=3, users=40, seed=7)
        assert table["square"].to_numpy() == pytest.approx(table["closed"].to_numpy(), rel=1e-9)
        assert table["delta_normal"].to_numpy() == pytest.approx(table["delta_closed"].to_numpy(), rel=1e-4)
        assert len(table) == 4
        assert table["closed"].iloc[-1] == pytest.approx(4 / 40)

    def test_same_seed_same_numbers(self):
        first, second = (npair.lemma3_numbers(draws=2, users=9, seed=3) for _ in range(2))
        assert first.equals(second)
        assert not first.equals(npair.lemma3_numbers(draws=2, users=9, seed=4))

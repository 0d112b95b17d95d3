"""Fitted power laws: against scipy's regression, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import linregress, t

from gspa import scaling
from gspa.errors import InvalidValue


def noisy(exponents, *, noise=0.0, seed=0, points=12):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({name: rng.uniform(1, 100, points) for name in exponents})
    value = np.exp(noise * rng.normal(size=points)) * 3
    for name, power in exponents.items():
        value = value * table[name] ** power
    return table.assign(n=value, regime="one")


def test_a_true_power_law_is_recovered():
    found = scaling.fit(noisy({"k": 1.5, "alpha": -2.0}), "n", ["k", "alpha"])
    assert found["exponent"].tolist() == pytest.approx([1.5, -2.0], abs=1e-12)
    assert (found["high"] - found["low"]).max() < 1e-10


def test_one_factor_is_scipys_regression():
    table = noisy({"k": 0.7}, noise=0.3)
    found = scaling.fit(table, "n", ["k"], level=0.9).iloc[0]
    line = linregress(np.log(table["k"]), np.log(table["n"]))
    reach = t.ppf(0.95, len(table) - 2) * line.stderr
    assert (found["exponent"], found["low"], found["high"]) == pytest.approx(
        (line.slope, line.slope - reach, line.slope + reach), rel=1e-10
    )


def test_regimes_stand_beside_what_is_stated():
    table = pd.concat([noisy({"k": 2.0}), noisy({"k": 1.0}).assign(regime="two")])
    found = scaling.fit_regimes(table, {"one": {"k": 2.0}, "two": {"k": 3.0}, "three": {"k": 1.0}})
    assert found["regime"].tolist() == ["one", "two"]
    assert (found["exponent"] - found["stated"]).round(9).tolist() == [0.0, -2.0]
    assert scaling.fit_regimes(table, {"three": {"k": 1.0}}).empty


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.95, 1.05, "inside"),
        (0.9, 1.1, "inside"),
        (0.89, 1.05, "open"),
        (1.05, 1.2, "open"),
        (1.11, 1.2, "outside"),
        (0.5, 0.89, "outside"),
    ],
)
def test_the_judgement_follows_the_interval(low, high, word):
    rows = pd.DataFrame({"stated": [1.0, 2.0], "low": [low, 1.99], "high": [high, 2.01]})
    assert scaling.judge(rows, tolerance=0.1) == word


def test_nothing_is_not_inside():
    assert scaling.judge(pd.DataFrame({"stated": [], "low": [], "high": []}), tolerance=0.1) == "open"


def test_too_few_or_dependent_points_are_refused():
    with pytest.raises(InvalidValue, match="at least 4"):
        scaling.fit(noisy({"k": 1.0}, points=3), "n", ["k"])
    table = noisy({"k": 1.0})
    with pytest.raises(InvalidValue, match="independently"):
        scaling.fit(table.assign(m=table["k"] ** 2), "n", ["k", "m"])

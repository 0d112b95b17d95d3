"""Weights and clipping: the least error, no bias where none is claimed, bias where it is."""

from __future__ import annotations

import numpy as np
import pytest

from gspa import estimator_choices as choices
from gspa.error_laws import Groups
from gspa.errors import InvalidValue


@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_no_other_weights_have_a_smaller_error(spread):
    rng = np.random.default_rng(1)
    noise = rng.uniform(0.1, 10, 8)
    best = choices.best_weights(noise, spread=spread)

    def error(weights):
        """Mean squared error for the mean of a random sample of 8 with that spread."""
        return weights**2 @ noise + spread**2 * ((weights - 1 / 8) ** 2).sum()

    assert best.sum() == pytest.approx(1)
    for _ in range(200):
        step = rng.normal(size=8)
        assert error(best + 1e-3 * (step - step.mean())) > error(best)


@pytest.mark.parametrize("change", [{"noise": []}, {"noise": [0.0]}, {"spread": -1.0}])
def test_impossible_weights_are_refused(change):
    ((name, _),) = change.items()
    with pytest.raises(InvalidValue, match=name):
        choices.best_weights(**({"noise": [1.0], "spread": 1.0} | change))


@pytest.fixture(scope="module")
def mean():
    return choices.mean_choices(Groups(n=1_000), repeats=2_000, seed=1).set_index(["scenario", "estimator"])


def test_the_mean(mean):
    scenarios = list(dict.fromkeys(mean.index.get_level_values(0)))
    assert scenarios == ["values around 50", "values around 65", "larger values, smaller budgets"]
    for scenario in scenarios:
        here = mean.loc[scenario]
        # Algorithm 1 is unbiased always: five standard errors.
        assert abs(here.loc["Algorithm 1", "bias"]) < 5 * here.loc["Algorithm 1", "bias_error"]
        assert here.loc["Algorithm 1, answer clipped", "mae"] <= here.loc["Algorithm 1", "mae"]
    middle, aside, sorted_ = (mean.loc[scenario] for scenario in scenarios)
    assert middle.loc["weighted by noise", "mae"] < 0.5 * middle.loc["Algorithm 1", "mae"]
    assert middle.loc["each report clipped first", "mae"] < middle.loc["weighted by noise", "mae"]
    assert aside.loc["each report clipped first", "bias"] < -10
    assert sorted_.loc["weighted by noise", "bias"] < -5


@pytest.fixture(scope="module")
def frequency():
    return choices.frequency_choices(Groups(n=2_000), repeats=4_000, seed=1).set_index(["scenario", "estimator"])


def test_the_frequency(frequency):
    scenarios = list(dict.fromkeys(frequency.index.get_level_values(0)))
    random, low, high = (frequency.loc[scenario] for scenario in scenarios)
    average = "every report corrected, plain average"
    for here in (random, low, high):
        assert abs(here.loc[average, "bias"]) < 5 * here.loc[average, "bias_error"]
    assert random.loc["weighted by noise", "mae"] < random.loc["Algorithm 2", "mae"] < random.loc[average, "mae"]
    assert low.loc["weighted by noise", "bias"] < low.loc["Algorithm 2", "bias"] < -0.2
    assert high.loc["Algorithm 2", "bias"] > 0.15


def test_tables_for_a_page(frequency):
    table = frequency.reset_index()
    shown = choices.side_by_side(table)
    assert shown["estimator"].tolist() == list(table["estimator"].unique())
    assert list(shown.columns)[2:] == list(table["scenario"].unique())
    assert "bias" in shown.iloc[0, 2]


def test_the_same_seed_gives_the_same_table():
    for make in (choices.mean_choices, choices.frequency_choices, choices.data_spreads):
        small = {"groups": Groups(n=50), "repeats": 5}
        assert make(**small, seed=4).equals(make(**small, seed=4))
        assert not make(**small, seed=4).equals(make(**small, seed=5))


def test_spreads():
    table = choices.data_spreads(Groups(n=200), sigmas=(0.0, 30.0), repeats=4_000, seed=2)
    # Five standard errors.
    assert ((table["mae"] - table["exact"]).abs() < 5 * table["mae_error"]).all()
    assert ((table["population"] - table["exact_population"]).abs() < 5 * table["population_error"]).all()
    assert table["exact"].nunique() == 1
    assert table["spread"].iloc[0] == 0
    assert 20 < table["spread"].iloc[1] < 30

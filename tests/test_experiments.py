"""Figure 4 as tables: against closed forms and other libraries."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gspa import datasets, experiments, sgd
from gspa.errors import UnknownName


@pytest.mark.parametrize("size", [2, 3, 20])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_interval_is_students(size, confidence):
    values = pd.Series(np.random.default_rng(size).normal(3, 2, size))
    expected = stats.t.interval(confidence, size - 1, loc=values.mean(), scale=stats.sem(values))
    # Two implementations of one quantile; both claim about twelve digits.
    assert experiments.interval(values, confidence=confidence) == pytest.approx(expected, rel=1e-9)


def test_one_value_has_no_interval():
    assert np.isnan(experiments.interval(pd.Series([1.0]))).all()


class TestSettingLabel:
    def test_names_the_paper_uses(self):
        assert [experiments.setting_label(name) for name in experiments.SETTINGS] == [
            "no noise",
            "Unif 1: U(0.01, 1)",
            "Unif 2: U(0.01, 2)",
            "Unif 3: U(0.5, 1)",
            "Constant: 0.5",
            "Mixed Constant: 50% 0.5 + 50% 0.01",
        ]

    def test_another_name_is_refused(self):
        with pytest.raises(UnknownName, match="did you mean 'unif3'"):
            experiments.setting_label("unif33")


CONFIG = sgd.SgdConfig(clients=7, epochs=2, hidden_width=8)
SEEDS = (3, 8)


@pytest.fixture(scope="module")
def digits():
    full = datasets.load("digits")
    part = dataclasses.replace(
        full, train_x=full.train_x[::5], train_y=full.train_y[::5], test_x=full.test_x[::3], test_y=full.test_y[::3]
    )
    return datasets.project(part, components=10, cache=False)


@pytest.fixture(scope="module")
def runs(digits):
    return experiments.figure4(digits, CONFIG, seeds=SEEDS)


def of(runs, name):
    return runs[runs["setting"] == experiments.setting_label(name)].reset_index(drop=True)


class TestFigure4:
    def test_is_complete(self, runs):
        assert list(runs.columns) == ["setting", "seed", "epoch", "accuracy", "test_loss", "eps_min", "noise"]
        assert len(runs) == len(experiments.SETTINGS) * len(SEEDS) * 3
        assert list(runs["setting"].unique()) == [experiments.setting_label(name) for name in experiments.SETTINGS]
        for name in experiments.SETTINGS:
            assert of(runs, name)["seed"].tolist() == [3, 3, 3, 8, 8, 8]
            assert of(runs, name)["epoch"].tolist() == [0, 1, 2] * 2
        assert runs["accuracy"].between(0, 1).all()

    def test_a_seed_starts_every_setting_from_the_same_network(self, runs):
        start = runs[runs["epoch"] == 0].groupby("seed")["test_loss"]
        # float32 sums of one network over one test set; only the batch they are stacked in may differ.
        assert (start.max() - start.min() <= 1e-5 * start.max()).all()
        assert abs(start.mean()[3] - start.mean()[8]) > 1e-3

    def test_a_setting_does_not_depend_on_the_others(self, digits, runs):
        alone = experiments.figure4(digits, CONFIG, seeds=SEEDS, settings=["unif2"])
        both = of(runs, "unif2")
        assert alone[["setting", "seed", "epoch", "eps_min", "noise"]].equals(
            both[["setting", "seed", "epoch", "eps_min", "noise"]]
        )
        # Same random numbers; float32 rounding in another batch, over 14 steps.
        np.testing.assert_allclose(alone["test_loss"], both["test_loss"], rtol=1e-3)

    def test_settings_share_the_noise_of_a_seed(self, digits):
        # Two laws of equal budgets, 0.5 for all: whatever is random must then come from the seed alone.
        found = experiments.figure4(digits, CONFIG, seeds=[3], settings=["constant", "constant"])
        first, second = found.iloc[:3], found.iloc[3:].reset_index(drop=True)
        np.testing.assert_allclose(first["test_loss"], second["test_loss"], rtol=1e-5)
        assert first["test_loss"].nunique() == 3  # and it was trained

    def test_no_noise_has_none(self, runs):
        clean = of(runs, "no noise")
        assert (clean["noise"] == 0).all()
        assert np.isinf(clean["eps_min"]).all()
        assert (runs.loc[runs["setting"] != "no noise", "noise"] > 0).all()

    def test_noise_by_hand(self, runs):
        # Line 7: (2C/m) sqrt(2 ln(1.25/delta)) / eps with Table 3's C = 2, delta = 1e-5, and m = 7 clients.
        unit = 2 * 2 / 7 * math.sqrt(2 * math.log(1.25e5))
        assert of(runs, "constant")["noise"].tolist() == pytest.approx([unit / 0.5] * 6, rel=1e-12)
        # Seven clients: four at 0.5, three at 0.01.
        mixed = unit * math.sqrt((4 / 0.5**2 + 3 / 0.01**2) / 7)
        assert of(runs, "mixed")["noise"].tolist() == pytest.approx([mixed] * 6, rel=1e-12)

    def test_budgets_are_drawn_anew_for_each_seed_and_stay_in_their_law(self, runs):
        for name, low, high in (("unif1", 0.01, 1), ("unif2", 0.01, 2), ("unif3", 0.5, 1)):
            least = of(runs, name).groupby("seed")["eps_min"]
            assert (least.nunique() == 1).all()
            assert least.first().nunique() == len(SEEDS)
            assert least.first().between(low, high).all()
        assert (of(runs, "mixed")["eps_min"] == 0.01).all()

    def test_the_smallest_budget_is_that_of_the_noise(self, runs):
        # The largest of 7 sigmas is at least their root mean square, and at most sqrt(7) times it.
        unit = 2 * 2 / 7 * math.sqrt(2 * math.log(1.25e5))
        noisy = runs[runs["setting"] != "no noise"]
        largest = unit / noisy["eps_min"]
        assert (largest >= noisy["noise"] * (1 - 1e-12)).all()
        assert (largest <= noisy["noise"] * math.sqrt(7) * (1 + 1e-12)).all()

    def test_the_same_seeds_give_the_same_table(self, digits, runs):
        pd.testing.assert_frame_equal(experiments.figure4(digits, CONFIG, seeds=SEEDS), runs, check_exact=True)

    def test_an_unknown_setting_is_refused(self, digits):
        with pytest.raises(UnknownName, match="unif9"):
            experiments.figure4(digits, CONFIG, seeds=[0], settings=["unif9"])

    def test_it_is_algorithm_3_with_these_budgets(self, digits, runs):
        direct = sgd.train(digits, np.full(7, 0.5), CONFIG, seeds=[8])
        ours = of(runs, "constant").query("seed == 8")["test_loss"]
        np.testing.assert_allclose(ours, direct.test_loss[0], rtol=1e-3)  # rounding, as above


class TestFinalTable:
    def test_by_hand(self):
        rows = [
            ("a", 0, 0, 0.10, np.inf, 0.0),
            ("a", 0, 5, 0.90, np.inf, 0.0),
            ("a", 1, 5, 0.92, np.inf, 0.0),
            ("a", 2, 5, 0.94, np.inf, 0.0),
            ("b", 0, 5, 0.50, 0.3, 2.0),
            ("b", 1, 5, 0.50, 0.2, 4.0),
            ("b", 2, 5, 0.80, 0.4, 6.0),
        ]
        runs = pd.DataFrame(rows, columns=["setting", "seed", "epoch", "accuracy", "eps_min", "noise"])
        first, second = experiments.final_table(runs).to_dict("records")
        # Student's 97.5% quantile with two degrees of freedom is 4.30265; the standard error 2/sqrt(3).
        half = 4.302653 * 2 / math.sqrt(3)
        assert (first.pop("setting"), second["setting"]) == ("a", "b")
        assert first == pytest.approx(
            {
                "seeds": 3,
                "mean (%)": 92.0,
                "from": 92 - half,
                "to": 92 + half,
                "lowest seed": 90.0,
                "highest seed": 94.0,
                "noise": 0.0,
                "smallest budget": np.nan,
            },
            rel=1e-6,
            nan_ok=True,
        )
        assert (second["mean (%)"], second["lowest seed"], second["highest seed"]) == pytest.approx((60, 50, 80))
        assert (second["noise"], second["smallest budget"]) == (4.0, 0.2)

    def test_one_seed_has_no_interval(self):
        runs = pd.DataFrame(
            [("a", 0, 5, 0.9, 0.5, 1.0)], columns=["setting", "seed", "epoch", "accuracy", "eps_min", "noise"]
        )
        found = experiments.final_table(runs).iloc[0]
        assert found["seeds"] == 1
        assert np.isnan([found["from"], found["to"]]).all()

    def test_of_a_figure(self, runs):
        found = experiments.final_table(runs).set_index("setting")
        assert list(found.index) == list(runs["setting"].unique())
        last = runs[runs["epoch"] == 2].groupby("setting")["accuracy"].mean()
        assert (found["mean (%)"] / 100 - last).abs().max() < 1e-12

"""Noise power against difference of budgets: closed forms, shared random numbers, fabricated tables."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gspa import datasets, experiments, noise_power, sgd
from gspa.errors import InvalidBudget, InvalidValue
from gspa.noise_power import AS_DRAWN, EQUAL, FIRST, LAST

CONFIG = sgd.SgdConfig(clients=7, epochs=2, hidden_width=8)
UNIF2, CONSTANT = (experiments.setting_label(name) for name in ("unif2", "constant"))


@pytest.fixture(scope="module")
def digits():
    full = datasets.load("digits")
    part = dataclasses.replace(
        full, train_x=full.train_x[::5], train_y=full.train_y[::5], test_x=full.test_x[::3], test_y=full.test_y[::3]
    )
    return datasets.project(part, components=10, cache=False)


class TestEquivalentBudget:
    def test_by_hand(self):
        # Mean of 4 and 100.
        assert noise_power.equivalent_budget([0.5, 0.1]) == pytest.approx(52**-0.5, rel=1e-14)
        assert noise_power.equivalent_budget([[1, 2], [3, 3]]) == pytest.approx([(5 / 8) ** -0.5, 3])
        assert noise_power.equivalent_budget([np.inf, np.inf]) == np.inf
        assert noise_power.equivalent_budget([np.inf, 1]) == pytest.approx(2**0.5)

    @given(st.lists(st.floats(0.01, 10), min_size=1, max_size=20))
    def test_has_the_noise_of_the_budgets(self, eps):
        budget = float(noise_power.equivalent_budget(eps))
        assert min(eps) * (1 - 1e-12) <= budget <= max(eps) * (1 + 1e-12)
        sigma = sgd.gaussian_sigma(eps, clip=2, divisor=100, delta=1e-5)
        same = sgd.gaussian_sigma(budget, clip=2, divisor=100, delta=1e-5)
        assert float(np.sqrt((sigma**2).mean())) == pytest.approx(float(same), rel=1e-12)

    @pytest.mark.parametrize("bad", [0, -1, np.nan])
    def test_impossible_budgets_are_refused(self, bad):
        with pytest.raises(InvalidBudget, match="eps"):
            noise_power.equivalent_budget([1, bad])


@pytest.fixture(scope="module")
def variants(digits):
    return noise_power.same_power(digits, CONFIG, seeds=range(6), order_seeds=(4, 2), jobs=1)


class TestTypicalSeeds:
    def test_the_median_draw_comes_first(self):
        seeds = [5, 3, 11, 8, 2]
        budgets = noise_power.equivalent_budget(experiments.budget_matrix("unif2", clients=50, seeds=seeds))
        (found,) = noise_power.typical_seeds("unif2", clients=50, seeds=seeds)
        assert budgets[seeds.index(found)] == np.median(budgets)
        three = noise_power.typical_seeds("unif2", clients=50, seeds=seeds, keep=3)
        assert {seeds.index(s) for s in three} == set(np.argsort(budgets)[1:4])
        assert set(noise_power.typical_seeds("unif2", clients=50, seeds=seeds, keep=9)) == set(seeds)

    def test_keeping_none_is_refused(self):
        with pytest.raises(InvalidValue, match="keep = 0"):
            noise_power.typical_seeds("unif2", clients=5, seeds=[1], keep=0)


class TestSamePower:
    def test_is_complete(self, variants):
        assert list(variants.columns) == ["variant", "setting", "seed", "accuracy", "budget"]
        seeds = {name: part["seed"].tolist() for name, part in variants.groupby("variant")}
        assert seeds == {EQUAL: [0, 1, 2, 3, 4, 5], FIRST: [4, 2], LAST: [4, 2]}
        assert set(variants["setting"]) == {UNIF2}

    def test_equal_is_training_with_the_one_budget_and_the_same_random_numbers(self, digits, variants):
        runs = experiments.figure4(digits, CONFIG, seeds=[4], settings=["unif2"])
        row = variants[(variants["variant"] == EQUAL) & (variants["seed"] == 4)].iloc[0]
        sigma = sgd.gaussian_sigma(row["budget"], clip=CONFIG.clip, divisor=7, delta=CONFIG.delta)
        assert float(sigma) == pytest.approx(runs["noise"].iloc[0], rel=1e-12)
        direct = sgd.train(digits, row["budget"], CONFIG, seeds=[4])
        assert row["accuracy"] == pytest.approx(direct.final_accuracy[0], abs=1.01 / len(digits.test_x))

    @pytest.mark.parametrize(("variant", "step"), [(FIRST, 1), (LAST, -1)])
    def test_the_orders_are_the_orders_of_the_visits(self, digits, monkeypatch, variant, step):
        seen = []
        train = sgd.train
        monkeypatch.setattr(sgd, "train", lambda data, eps, *a, **k: seen.append(eps) or train(data, eps, *a, **k))
        per_epoch = dataclasses.replace(CONFIG, client_order="per_epoch")
        noise_power.same_power(digits, per_epoch, seeds=[2], order_seeds=[2], jobs=1)
        eps = seen[1 if variant == FIRST else 2][0]
        drawn = experiments.budget_matrix("unif2", clients=7, seeds=[2])[0]
        assert eps[sgd.visiting_order(2, clients=7)].tolist() == sorted(drawn, reverse=step < 0)

    def test_without_orders(self, digits):
        found = noise_power.same_power(digits, CONFIG, seeds=[1], order_seeds=(), jobs=1)
        assert set(found["variant"]) == {EQUAL}

    def test_impossible_requests_are_refused(self, digits):
        for wrong in ({"setting": experiments.NO_NOISE, "seeds": [0]}, {"seeds": []}):
            with pytest.raises(InvalidValue, match="setting, seeds"):
                noise_power.same_power(digits, CONFIG, order_seeds=(), **wrong)


def tables(seeds=6, *, drop=5.0, difference=0.0, order=3.0, jitter=0.1):
    """Figure 4 and its variants, accuracy 95 - 2 log^2 of the noise, with `difference` points lost by AS_DRAWN."""
    rng = np.random.default_rng(0)
    rows, same = [], []
    for seed in range(seeds):
        # The constant's curve passes `drop` above that of unif2's equivalent budget.
        noise = 2.0 + 0.1 * seed
        level = 95 - drop * noise / 2.3
        shake = rng.normal(0, jitter, 5)
        rows += [
            ("no noise", seed, 50, 0.96, 0.0),
            (CONSTANT, seed, 50, (level + drop + shake[0]) / 100, 0.5),
            (UNIF2, seed, 0, 0.1, noise),
            (UNIF2, seed, 50, (level - difference + shake[1]) / 100, noise),
        ]
        same += [
            (EQUAL, UNIF2, seed, (level + shake[2]) / 100, 0.1),
            (FIRST, UNIF2, seed, (level + order / 2 + shake[3]) / 100, 0.1),
            (LAST, UNIF2, seed, (level - order / 2 + shake[4]) / 100, 0.1),
        ]
    return (
        pd.DataFrame(rows, columns=["setting", "seed", "epoch", "accuracy", "noise"]),
        pd.DataFrame(same, columns=["variant", "setting", "seed", "accuracy", "budget"]),
    )


class TestComparison:
    def test_is_the_paired_t_interval(self):
        runs, variants = tables(drop=5, difference=0.7)
        found = noise_power.comparison(runs, variants)
        assert found["difference"].tolist() == [
            f"Constant: 0.5 - {AS_DRAWN}",
            f"{EQUAL} - {AS_DRAWN}",
            f"{FIRST} - {LAST}",
        ]
        assert found["points"].tolist() == pytest.approx([5.7, 0.7, 3], abs=0.2)
        last = runs[runs["epoch"] == 50]
        pair = [100 * last.loc[last["setting"] == name, "accuracy"].to_numpy() for name in (CONSTANT, UNIF2)]
        expected = stats.ttest_rel(*pair).confidence_interval(0.95)
        assert found.loc[0, ["from", "to"]].tolist() == pytest.approx(list(expected))
        assert found.loc[0, ["lowest seed", "highest seed"]].tolist() == pytest.approx(
            [(pair[0] - pair[1]).min(), (pair[0] - pair[1]).max()]
        )

    def test_fewer_variants_than_runs_are_paired_by_seed(self):
        runs, variants = tables()
        part = variants[variants["seed"].isin([1, 4])]
        assert noise_power.comparison(runs, part)["seeds"].tolist() == [6, 2, 2]
        alone = noise_power.comparison(runs, variants[variants["seed"] == 1])
        assert np.isnan(alone.loc[1, ["from", "to"]].astype(float)).all()

    def test_a_seed_without_its_run_is_refused(self):
        runs, variants = tables()
        with pytest.raises(InvalidValue, match="only seeds"):
            noise_power.comparison(runs[runs["seed"] < 2], variants[variants["seed"] > 2])


class TestOneCurve:
    def test_budgets_on_the_curve_are_found_there(self):
        runs, variants = tables(20)
        table, explained = noise_power.one_curve(runs, variants)
        (row,) = table.to_dict("records")
        assert row["setting"] == UNIF2
        assert row["from"] < row["off the curve (points)"] < row["to"]
        assert abs(row["off the curve (points)"]) < 0.1
        assert explained > 0.9

    def test_budgets_off_the_curve_are_found_off_it(self):
        table, explained = noise_power.one_curve(*tables(20, difference=4))
        assert table["off the curve (points)"].item() == pytest.approx(-4, abs=0.1)
        assert table["to"].item() < -3.8
        assert explained < 0

    def test_runs_outside_the_curves_support_are_left_out(self):
        runs, variants = tables(20)
        far = runs[runs["setting"] == UNIF2].assign(setting="far", noise=50.0)
        table, _ = noise_power.one_curve(pd.concat([runs, far]), variants)
        assert table["setting"].tolist() == [UNIF2]

    def test_two_noise_levels_are_no_curve(self):
        runs, variants = tables(1)
        with pytest.raises(InvalidValue, match="at least three noise levels"):
            noise_power.one_curve(runs, variants)

    def test_points_are_every_noisy_training(self):
        runs, variants = tables(3)
        points = noise_power.noise_points(runs, variants)
        assert points.groupby("setting").size().to_dict() == {CONSTANT: 3, UNIF2: 3, EQUAL: 3}
        assert points[points["equal"]]["setting"].unique().tolist() == [CONSTANT, EQUAL]
        drawn = points[points["setting"] == UNIF2]["noise"].tolist()
        assert points[points["setting"] == EQUAL]["noise"].tolist() == drawn


def test_a_device_that_is_not_there_is_refused_at_any_size(digits):
    large = dataclasses.replace(CONFIG, epochs=1000, hidden_width=1000)  # on the CPU worth processes
    with pytest.raises(InvalidValue, match="this machine has no such device"):
        noise_power.same_power(digits, large, seeds=(0,), order_seeds=(), device="cuda:99")

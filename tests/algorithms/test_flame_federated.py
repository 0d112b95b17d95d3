"""FLAME's users, local training, aggregation, and noise that repeats."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gspa.accountant.errors import InvalidValue
from gspa.algorithms import digits as datasets
from gspa.algorithms.flame import aggregation, federated, noise
from gspa.algorithms.flame.aggregation import Curator, LocalGaussian, Mean, Sampled, Simple
from gspa.algorithms.flame.federated import Training
from gspa.algorithms.flame.noise import Source


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits")


@pytest.fixture(scope="module")
def few(digits):
    return federated.partition(digits, users=60)


class TestPartition:
    def test_each_user_holds_one_image_of_each_class_and_no_image_is_dealt_twice(self, digits):
        one = federated.partition(digits, users=50, held_out=4)
        held = one.test_y.reshape(50, 4)
        assert (np.sort(np.c_[one.y, held], axis=1) == np.arange(10)).all()
        everything = np.r_[one.x.reshape(-1, 65), one.test_x]
        assert len(np.unique(everything, axis=0)) == 500

    def test_pixels_are_standardized_by_all_images(self, digits):
        pixels = np.r_[digits.train_x, digits.test_x].astype(np.float64) * 16
        mean, deviation = pixels.mean(axis=0), pixels.std(axis=0)
        one = federated.partition(digits, users=30)
        found = one.test_x[0, :-1] * (deviation + 0.001) + mean
        assert np.abs(pixels - found).max(axis=1).min() < 1e-3
        assert (one.x[:, :, -1] == 1).all()

    def test_the_seed_decides_who_is_held_out(self, digits):
        first, again, other = (federated.partition(digits, users=30, seed=seed) for seed in (1, 1, 2))
        assert (first.x == again.x).all()
        assert (first.y != other.y).any()

    @pytest.mark.parametrize(
        ("given_", "match"),
        [({"users": 10_000}, "rarest class"), ({"held_out": 10}, "at most 9")],
    )
    def test_what_it_refuses(self, digits, given_, match):
        with pytest.raises((InvalidValue, KeyError), match=match):
            federated.partition(digits, **given_)


class TestLocalTraining:
    def test_it_is_gradient_descent(self):
        rng = np.random.default_rng(3)
        x = rng.normal(size=(2, 5, 7)).astype(np.float32)
        y = rng.integers(3, size=(2, 5))
        start = rng.normal(size=(7, 3)).astype(np.float32)
        found = federated.local_updates(x, y, start, Training(local_epochs=6, local_rate=0.3))
        for user in range(2):
            weights = start.astype(np.float64)
            for _ in range(6):
                logits = x[user] @ weights
                chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
                weights = weights - 0.3 / 5 * x[user].T @ (chances - np.eye(3)[y[user]])
            assert found[user].reshape(7, 3) == pytest.approx(weights - start, abs=2e-6)

    def test_training_repeats_and_learns(self, few):
        first, again = (federated.train(few, Mean(), Training(rounds=6, batches=2), seeds=[1]) for _ in range(2))
        assert first.equals(again)
        assert first["accuracy"].iloc[-1] > 0.6

    def test_runs_side_by_side_are_those_alone(self, few):
        both = federated.train(few, Mean(), Training(rounds=4, batches=2), seeds=[5, 1])
        assert both["seed"].tolist() == [5] * 5 + [1] * 5
        alone = [federated.train(few, Mean(), Training(rounds=4, batches=2), seeds=[seed]) for seed in (5, 1)]
        # An image on the boundary may fall to either side.
        assert both["accuracy"].to_numpy() == pytest.approx(pd.concat(alone)["accuracy"].to_numpy(), abs=1 / 180)
        with pytest.raises(InvalidValue, match="non-empty"):
            federated.train(few, Mean(), Training(), seeds=[])

    def test_what_is_not_tested_is_nan_and_the_run_the_same(self, few):
        asked = (few, Mean(), Training(rounds=5, batches=2))
        each, some = (federated.train(*asked, seeds=[1, 2], evaluate_every=every) for every in (1, 2))
        tested = some["round"].isin([0, 2, 4, 5])
        assert some["accuracy"].notna().tolist() == tested.tolist()
        assert some[tested].equals(each[tested])
        with pytest.raises(InvalidValue, match="evaluate_every = 0"):
            federated.train(*asked, seeds=[1], evaluate_every=0)

    def test_another_batch_order_of_users_is_another_run(self, few):
        runs = [federated.train(few, Mean(), Training(rounds=2, batches=many), seeds=[1]) for many in (1, 2)]
        assert not runs[0].equals(runs[1])

    def test_more_batches_than_users_are_refused(self, few):
        with pytest.raises(InvalidValue, match="batches"):
            federated.train(few, Mean(), Training(batches=61), seeds=[0])


@pytest.fixture
def updates():
    return (0.02 * np.random.default_rng(5).normal(size=(40, 30))).astype(np.float32)


class TestAggregation:
    def test_the_mean(self, updates):
        assert Mean(2.0)(updates, 0, Source()).z == pytest.approx(2 * updates.mean(axis=0), abs=1e-7)

    def test_the_curator_clips_and_adds_its_noise(self, updates):
        norms = np.linalg.norm(updates, axis=1, keepdims=True)
        clipped = updates * np.minimum(1, 0.1 / norms)
        assert Curator(0.1, 0.0)(updates, 0, Source()).z == pytest.approx(clipped.mean(axis=0), abs=1e-7)
        many = np.array([Curator(0.1, 3.0)(updates, number, Source()).z for number in range(400)])
        assert (many - clipped.mean(axis=0)).std() == pytest.approx(3.0 / 40, rel=0.03)

    @pytest.mark.parametrize(
        ("aggregator", "deviation"),
        [
            (Simple(0.01, 2.0), 0.02 * math.sqrt(2) / 2 / math.sqrt(40)),
            (LocalGaussian(0.01, 0.7), 0.02 * 0.7 / math.sqrt(40)),
        ],
    )
    def test_local_noise_has_its_variance(self, updates, aggregator, deviation):
        mean = np.clip(updates, -0.01, 0.01).mean(axis=0)
        away = np.array([aggregator(updates, number, Source()).z - mean for number in range(400)])
        assert away.std() == pytest.approx(deviation, rel=0.03)
        assert abs(away.mean()) < 5 * deviation / math.sqrt(away.size)

    def test_topk_without_noise_by_hand(self):
        updates = np.array([[0.5, -0.3, 0.1], [0.2, -0.004, 0.003]], dtype=np.float32)
        one = Sampled(0.01, math.inf, k=1, n_p=2)
        step = one(updates, 0, Source())
        # Both select coordinate 0, clipped to 0.01; n beta = 2/3.
        assert step.z == pytest.approx([0.02 / (2 / 3), 0, 0])
        assert (step.largest, step.overflowing) == (2, 0)
        assert replace(one, n_p=1)(updates, 0, Source()).overflowing == 1
        assert replace(one, divide="users")(updates, 0, Source()).z == pytest.approx([0.01, 0, 0])

    def test_the_printed_selection_takes_the_most_positive(self):
        updates = np.array([[-0.5, 0.3, 0.1]], dtype=np.float32)
        step = Sampled(1.0, math.inf, k=1, n_p=2, select="largest_scaled")(updates, 0, Source())
        assert step.z == pytest.approx([0, 0.9, 0])

    def test_double_is_unbiased_with_its_variance(self, updates):
        one = Sampled(0.01, 5.0, k=6, n_p=30, select="uniform")
        clipped = np.clip(updates, -0.01, 0.01).astype(np.float64)
        found = np.array([one(updates, number, Source()).z for number in range(2000)])
        beta, n = 6 / 30, 40
        # One user's part is x Ber(beta); n_p reports of variance 2/eps^2, scaled by 2C.
        variance = (beta * (1 - beta) * (clipped**2).sum(axis=0) + 30 * 2 * (0.02 / 5) ** 2) / (n * beta) ** 2
        error = np.sqrt(variance / 2000)
        assert np.abs(found.mean(axis=0) - clipped.mean(axis=0)).max() < 5 * error.max()
        assert found.var(axis=0).mean() == pytest.approx(variance.mean(), rel=0.03)

    def test_independent_indices_are_k_on_average_and_unbiased(self, updates):
        one = Sampled(10.0, math.inf, k=6, n_p=30, select="independent")
        found = np.array([one(updates, number, Source()).z for number in range(3000)])
        beta = 6 / 30
        variance = beta * (1 - beta) * (updates.astype(np.float64) ** 2).sum(axis=0) / (40 * beta) ** 2
        error = np.sqrt(variance / 3000)
        assert (np.abs(found.mean(axis=0) - updates.mean(axis=0)) < 5 * error).all()
        assert found.var(axis=0).mean() == pytest.approx(variance.mean(), rel=0.03)
        with pytest.raises(InvalidValue, match="fresh noise"):
            one(updates, 0, Source("released"))

    def test_further_indices_change_nothing_as_long_as_they_fit(self, updates):
        one = Sampled(0.01, 1.0, k=3, n_p=40)
        few, many = one(updates, 0, Source()), replace(one, l=8)(updates, 0, Source())
        assert (few.z == many.z).all()
        assert many.largest > few.largest
        assert replace(one, l=8, n_p=20)(updates, 0, Source()).overflowing > 0

    @pytest.mark.parametrize(
        ("changes", "noise_", "match"),
        [
            ({"k": 4, "l": 8}, "fresh", "at most d"),
            ({"l": 2}, "released", "noise that repeats"),
            ({"select": "all"}, "fresh", "select"),
            ({"eps": 0.0}, "fresh", "eps"),
        ],
    )
    def test_what_it_refuses(self, updates, changes, noise_, match):
        with pytest.raises((InvalidValue, KeyError), match=match):
            replace(Sampled(0.01, 1.0, k=3, n_p=20), **changes)(updates, 0, Source(noise_))


class TestSubsets:
    @pytest.mark.parametrize(("d", "k"), [(5, 2), (6, 5), (40, 2)])
    def test_every_subset_is_equally_likely_and_sorted(self, d, k):
        found = aggregation.subsets(60_000, d, k, np.random.default_rng(7))
        code = (found * (d ** np.arange(k))).sum(axis=1)
        every = [(np.array(one) * (d ** np.arange(k))).sum() for one in combinations(range(d), k)]
        counts = pd.Series(code).value_counts().reindex(every, fill_value=0)
        assert counts.sum() == 60_000
        assert stats.chisquare(counts).pvalue > 1e-4
        alone = (aggregation.subsets(1, d, k, np.random.default_rng(seed)) for seed in range(500))
        assert all((np.diff(one) > 0).all() for one in alone)

    def test_further_indices_are_uniform_outside_a_users_own(self):
        own = np.tile([1, 4], (30_000, 1))
        counts = aggregation.others(own, 6, 3, np.random.default_rng(2))
        assert counts[[1, 4]].tolist() == [0, 0]
        assert counts.sum() == 90_000
        assert np.abs(counts[[0, 2, 3, 5]] - 22_500).max() < 5 * math.sqrt(30_000 * 3 / 16)
        with pytest.raises(InvalidValue, match="at most d - k = 4"):
            aggregation.others(own, 6, 5, np.random.default_rng(2))


class TestLargest:
    """What a sort says, ties and all."""

    # Few values, so that there are ties.
    NUMBERS = st.sampled_from([-2.5, -1.0, -1e-40, 0.0, 1e-40, 0.5, 1.0, 1.0000001, 3e38])

    @given(st.data(), st.integers(1, 12), st.integers(1, 40), st.booleans())
    def test_it_is_what_a_stable_sort_gives(self, data, d, n, magnitude):
        k = data.draw(st.integers(1, d))
        flat = data.draw(st.lists(self.NUMBERS, min_size=n * d, max_size=n * d))
        updates = np.array(flat, dtype=np.float32).reshape(n, d)
        score = np.abs(updates) if magnitude else updates
        wanted = np.sort(np.argsort(-score, axis=1, kind="stable")[:, :k], axis=1)
        assert aggregation._largest(updates, k, magnitude=magnitude).tolist() == wanted.tolist()

    @pytest.mark.parametrize("k", [1, 30, 400, 1500])
    @pytest.mark.parametrize("law", ["few values", "all different", "the first ones looked at are the least"])
    def test_rows_so_long_that_few_numbers_are_looked_at_first(self, k, law):
        rng = np.random.default_rng(3)
        keys = rng.integers(5 if law == "few values" else 2**31, size=(7, 2000), dtype=np.int32)
        if law == "the first ones looked at are the least":  # in one row: the rest of it seems larger than it is
            keys[4, :: aggregation._APART] = np.arange(len(keys[4, :: aggregation._APART])) - 1000
        wanted = np.sort(np.argsort(keys, axis=1, kind="stable")[:, :k], axis=1)
        assert (aggregation._smallest(keys, k) == wanted).all()

    def test_nobody(self):
        assert aggregation._largest(np.empty((0, 5), dtype=np.float32), 2, magnitude=True).shape == (0, 2)


class TestRepeatedNoise:
    @pytest.fixture
    def generator(self):
        """The released trainer's, after what it draws first."""
        found = np.random.RandomState(100)
        found.shuffle(np.arange(7))
        return found

    @staticmethod
    def drawn(generator, rows, d, n_p):
        """The noise of each coordinate: of those who select it, user by user, then of the dummies."""
        noise, chosen = np.zeros(d), []
        for row in rows:
            chosen.extend(row)
            for j in range(d):
                if j in row:
                    noise[j] += generator.laplace(0, 1)
        for j, many in enumerate(n_p - np.bincount(chosen, minlength=d)):
            noise[j] += generator.laplace(0, 1, size=many).sum()
        return noise, sorted(chosen)

    def test_the_stream_is_the_released_trainers(self, generator):
        assert (Source("released", 5).replay().gaussian(3) == generator.normal(0, 1, 3)).all()

    def test_other_streams_differ_by_seed(self):
        one, other = (Source("frozen", seed).replay().gaussian(5) for seed in (0, 1))
        assert (one != other).any()
        assert (one == Source("frozen", 0).replay().gaussian(5)).all()

    def test_simple_sums_the_users_draws(self, generator):
        expected = sum(generator.laplace(0, 1, 4) for _ in range(3))
        assert Source("released").replay().laplace_sum(3, 4) == pytest.approx(expected)

    def test_double_replayed_report_by_report(self, generator):
        n, d, k, n_p = 4, 6, 3, 5
        expected, chosen = self.drawn(generator, (generator.choice(d, k) for _ in range(n)), d, n_p)
        indices, found = Source("released").replay().selected(n, d, k, n_p)
        assert sorted(indices.ravel()) == chosen
        assert found == pytest.approx(expected)

    def test_topk_replayed_report_by_report(self, generator):
        rows = np.array([[3, 0], [4, 3], [3, 1]])
        expected, _ = self.drawn(generator, rows, 5, 4)
        assert Source("released").replay().assigned(rows, 5, 4) == pytest.approx(expected)

    def test_it_repeats_in_every_round_and_fresh_noise_does_not(self, updates):
        one = Simple(0.01, 1.0)
        assert (one(updates, 0, Source("released")).z == one(updates, 7, Source("released")).z).all()
        assert (one(updates, 0, Source()).z != one(updates, 7, Source()).z).any()
        assert (one(updates, 0, Source()).z == one(updates, 0, Source()).z).all()

    def test_the_wrong_kind_is_refused(self):
        with pytest.raises(InvalidValue, match="fresh"):
            Source("released").fresh(0)
        with pytest.raises(InvalidValue, match="released"):
            Source().replay()
        with pytest.raises(KeyError, match="kind"):
            noise.Source("other")

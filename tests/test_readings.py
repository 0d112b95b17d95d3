"""Readings of what the paper leaves open: complete, applied as named, compared on equal seeds."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gspa import _mnist_files, datasets, experiments, readings, sgd
from gspa.errors import InvalidValue, UnknownName
from gspa.readings import Reading

CONFIG = sgd.SgdConfig(clients=7, epochs=2, hidden_width=8)
NONE, CONSTANT, UNIF2 = (experiments.setting_label(name) for name in readings.SETTINGS)


@pytest.fixture(scope="module")
def digits():
    full = datasets.load("digits")
    return dataclasses.replace(
        full, train_x=full.train_x[::5], train_y=full.train_y[::5], test_x=full.test_x[::3], test_y=full.test_y[::3]
    )


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setattr(_mnist_files, "cache", lambda kind: folder / kind)
        yield


@pytest.fixture(scope="module")
def opened(digits):
    return readings.open_questions(CONFIG, n=len(digits.train_x), widths=(4, 16), combined_width=12)


class TestOpenQuestions:
    def test_the_pages_own_comes_first_and_no_two_are_the_same_experiment(self, opened):
        assert opened[0].changes == {}
        outcomes = [(reading.config(CONFIG), reading.scaling("none")) for reading in opened]
        assert len(set(outcomes)) == len(opened)
        assert len({reading.label for reading in opened}) == len(opened)

    def test_each_field_that_the_paper_leaves_open_is_asked(self, opened):
        changed = {name for reading in opened for name in reading.changes}
        fields = {field.name for field in dataclasses.fields(CONFIG)}
        given = {"epochs", "learning_rate", "clip", "delta"}
        assert changed == fields - given | {"scaling"}

    def test_the_answer_changes_when_the_page_has_it_already(self):
        other = sgd.SgdConfig(noise_divisor="samples", client_order="per_epoch", initialization="torch_default")
        labels = [reading.label for reading in readings.open_questions(other, n=60_000, scaling="unit_variance")]
        assert "initialization: he" in labels
        assert "client order: drawn once" in labels
        assert "inputs: centred pixels" in labels
        assert "the m of lines 7 and 13: the clients in both" in labels
        assert "the m of lines 7 and 13: a client's samples in both" not in labels

    def test_table_3s_m_as_a_batch(self):
        (batch,) = [r for r in readings.open_questions(sgd.SgdConfig(), n=60_000) if "clients" in r.changes]
        config = batch.config(sgd.SgdConfig())
        assert (config.clients, config.noise_divisor, config.average_divisor) == (600, "samples", "samples")
        assert batch.answer == "a batch: 600 clients of 100"

    def test_impossible_widths_are_refused(self):
        with pytest.raises(InvalidValue, match="width = 0"):
            readings.open_questions(CONFIG, n=100, widths=(0,))
        with pytest.raises(InvalidValue, match="n = 0"):
            readings.open_questions(CONFIG, n=0)


@pytest.fixture(scope="module")
def table(digits, opened):
    return readings.sensitivity(digits, CONFIG, opened, seeds=(3, 8), components=10)


class TestSensitivity:
    def test_is_complete(self, table, opened):
        assert list(table.columns) == ["question", "answer", "reading", "setting", "seed", "accuracy"]
        assert len(table) == len(opened) * 3 * 2
        assert list(table["reading"].unique()) == [reading.label for reading in opened]
        assert list(table["setting"].unique()) == [NONE, CONSTANT, UNIF2]
        assert table["accuracy"].between(0, 1).all()

    def test_a_row_is_the_training_it_names(self, digits, opened, table):
        images = len(digits.test_x)
        for reading in opened:
            part = table[(table["reading"] == reading.label) & (table["setting"] == UNIF2)]
            data = datasets.project(digits, components=10, scaling=reading.changes.get("scaling", "none"))
            config = dataclasses.replace(CONFIG, **{k: v for k, v in reading.changes.items() if k != "scaling"})
            runs = experiments.figure4(data, config, seeds=(3, 8), settings=["unif2"])
            # The same batch of replicas: the same bytes but for the blocks of the test images.
            expected = runs.loc[runs["epoch"] == 2, "accuracy"].to_numpy()
            np.testing.assert_allclose(part["accuracy"], expected, atol=1.01 / images)

    def test_progress_and_the_order_of_training_leave_no_trace(self, digits, opened, table):
        calls = []
        found = readings.sensitivity(
            digits,
            CONFIG,
            opened[:2],
            seeds=(3, 8),
            components=10,
            jobs=1,
            progress=lambda done, total: calls.append((done, total)),
        )
        assert calls == [(i, 6) for i in range(1, 7)]
        pd.testing.assert_frame_equal(found, table[: len(found)], check_exact=True)

    def test_processes_change_nothing(self, digits, opened, table, monkeypatch):
        monkeypatch.setattr(readings, "_WORTH_PROCESSES", 0)
        found = readings.sensitivity(digits, CONFIG, opened[:1], seeds=(3, 8), components=10, jobs=2)
        pd.testing.assert_frame_equal(found, table[: len(found)], check_exact=True)

    def test_bad_requests_are_refused(self, digits, opened):
        with pytest.raises(InvalidValue, match="at least one reading"):
            readings.sensitivity(digits, CONFIG, [], seeds=(0,), components=10)
        with pytest.raises(UnknownName, match="unif9"):
            readings.sensitivity(digits, CONFIG, opened[:1], seeds=(0,), settings=["unif9"], components=10)
        crowd = [Reading("clients", "too many", {"clients": 10**6})]
        with pytest.raises(InvalidValue, match="clients = 1000000"):
            readings.sensitivity(digits, CONFIG, crowd, seeds=(0,), components=10, jobs=1)


def test_vanilla_is_the_same_training_without_noise_and_clip(digits):
    data = datasets.project(digits, components=10)
    sharp = dataclasses.replace(CONFIG, clip=1e-3)  # clipped so hard that it stays where it starts
    plain = readings.vanilla(data, sharp, seeds=(3, 8))
    wide = sgd.train(data, None, dataclasses.replace(CONFIG, clip=1e9), seeds=(3, 8))
    assert plain["accuracy"].tolist() == wide.final_accuracy.tolist()
    assert plain["seed"].tolist() == [3, 8]
    assert plain["accuracy"].tolist() != sgd.train(data, None, sharp, seeds=(3, 8)).final_accuracy.tolist()


def test_a_device_that_is_not_there_is_refused(digits, opened):
    data = datasets.project(digits, components=10)
    with pytest.raises(InvalidValue, match="this machine has no such device"):
        readings.vanilla(data, CONFIG, seeds=(0,), device="cuda:99")
    with pytest.raises(InvalidValue, match="this machine has no such device"):
        readings.sensitivity(digits, CONFIG, opened[:1], seeds=(0,), components=10, device="cuda:99")


def fabricated():
    accuracies = {"as on this page": (0.96, 0.89), "width: 7": (0.97, 0.90), "m: other": (0.95, 0.94)}
    rows = [
        (name, setting, seed, accuracy + 0.01 * seed * (setting == CONSTANT))
        for name, pair in accuracies.items()
        for setting, accuracy in zip((NONE, CONSTANT), pair, strict=True)
        for seed in (0, 1)
    ]
    return pd.DataFrame(rows, columns=["reading", "setting", "seed", "accuracy"])


PRINTED = {"no noise": 0.9678, "constant": 0.948}


class TestRanked:
    def test_by_hand(self):
        found = readings.ranked(fabricated(), PRINTED)
        assert found["reading"].tolist() == ["m: other", "width: 7", "as on this page"]
        # Largest distance of (95, 94.5), (97, 90.5) and (96, 89.5) from (96.78, 94.8).
        assert found["furthest from print (points)"].tolist() == pytest.approx([1.78, 4.3, 5.3])
        assert found[CONSTANT].tolist() == pytest.approx([94.5, 90.5, 89.5])

    def test_only_the_printed_settings_count(self):
        found = readings.ranked(fabricated(), {"no noise": 0.97})
        assert found["reading"].iloc[0] == "width: 7"
        with pytest.raises(InvalidValue, match="printed"):
            readings.ranked(fabricated(), {})

    def test_nearest_is_its_first(self):
        opened = [readings.THIS_PAGE, Reading("width", "7", {"hidden_width": 7}), Reading("m", "other")]
        assert readings.nearest(fabricated(), opened, PRINTED) is opened[2]

    def test_swing_by_hand(self):
        found = readings.swing(fabricated()).set_index(["reading", "setting"])["points"]
        assert found.to_dict() == pytest.approx(
            {
                ("width: 7", NONE): 1,
                ("width: 7", CONSTANT): 1,
                ("m: other", NONE): -1,
                ("m: other", CONSTANT): 5,
            }
        )


class TestAllocations:
    def test_table_3_by_hand(self):
        table = readings.allocations(n=60_000, m=100).set_index("reading")
        assert table.loc["line by line, m = a batch", "subsets":"noise"].tolist() == [600, 100, 100, 100, 600, 100, 100]
        assert table.loc["m clients of n/m samples", "subsets":"noise"].tolist() == [100, 100, 600, 100, 100, 600, 600]
        assert table["agree"].tolist() == [False, False, True, True]
        # As printed with 100 clients: 100 subsets of size 100 hold a sixth of the samples.
        assert table["every sample used once"].tolist() == [True, False, True, True]
        assert table["one name a subset"].tolist() == [False, True, True, True]

    @given(st.integers(1, 12), st.integers(1, 150))
    @example(4, 16)
    @example(4, 15)
    @settings(max_examples=30, deadline=None)
    def test_the_lines_agree_exactly_when_n_is_the_square_of_m(self, m, n):
        found = readings.allocations(n=n, m=m).set_index("reading")["agree"]
        assert found["line by line, m = a batch"] == (n == m * m)
        assert found["line by line, m = the clients"] == (n == m * m)
        whole = Fraction(n, m).denominator == 1
        assert found["m clients of n/m samples"] == whole
        assert found["n/m clients of m samples"] == whole

    @pytest.mark.parametrize("change", [{"n": 0}, {"m": 0}, {"m": 1.5}])
    def test_impossible_counts_are_refused(self, change):
        ((name, _),) = change.items()
        with pytest.raises(InvalidValue, match=name):
            readings.allocations(**({"n": 10, "m": 2} | change))

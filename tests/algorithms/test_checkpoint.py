"""Training that was killed goes on where it stood and ends with the same bytes."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from gspa.algorithms import _checkpoint, _npz, sgd
from gspa.algorithms import digits as datasets

CONFIG = sgd.SgdConfig(clients=10, epochs=12, hidden_width=8)


@pytest.fixture(scope="module")
def digits():
    return datasets.project(datasets.load("digits"), components=10, cache=False)


class Stopped(Exception):
    """What a user's Ctrl-C is in these tests."""


def stop_after(epoch):
    def progress(done, total):
        if done >= epoch:
            raise Stopped

    return progress


def train(data, folder, config=CONFIG, **more):
    return sgd.train(data, 0.5, config, seeds=(3,), checkpoints=folder, **more)


@pytest.mark.parametrize("order", ["once", "per_epoch"])
@pytest.mark.parametrize("stop", [3, 7, 12])
def test_a_stopped_run_goes_on_with_identical_results(digits, tmp_path, order, stop):
    config = sgd.SgdConfig(clients=10, epochs=12, hidden_width=8, client_order=order)
    whole = train(digits, None, config)
    with pytest.raises(Stopped):
        train(digits, tmp_path, config, progress=stop_after(stop))
    epochs = []
    again = train(digits, tmp_path, config, progress=lambda done, total: epochs.append(done))
    assert again.accuracy.tobytes() == whole.accuracy.tobytes()
    assert again.test_loss.tobytes() == whole.test_loss.tobytes()
    assert again.longest.tobytes() == whole.longest.tobytes()
    # At most one checkpoint's epochs were trained twice, and some were not trained again.
    kept = stop if stop == 12 else stop - stop % _checkpoint.EVERY
    assert epochs == list(range(kept + 1, 13))


def test_batches_that_are_done_are_not_trained_again(digits, tmp_path):
    both = {"seeds": (1, 2), "checkpoints": tmp_path}
    whole = sgd.train(digits, 0.5, CONFIG, seeds=(1, 2))
    with pytest.raises(Stopped):
        sgd.train(digits, 0.5, CONFIG, **both, progress=stop_after(18))
    epochs = []
    again = sgd.train(digits, 0.5, CONFIG, **both, progress=lambda done, total: epochs.append(done))
    assert again.accuracy.tobytes() == whole.accuracy.tobytes()
    assert min(epochs) == 12 + _checkpoint.EVERY + 1
    assert sorted(again.checkpoints) == sorted(path.name for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        {"config": sgd.SgdConfig(clients=10, epochs=12, hidden_width=9)},
        {"config": sgd.SgdConfig(clients=10, epochs=12, hidden_width=8, clip=1.0)},
        {"evaluate_every": 2},
    ],
    ids=["width", "clip", "epochs evaluated"],
)
def test_another_run_does_not_take_up_the_notes(digits, tmp_path, change):
    train(digits, tmp_path)
    epochs = []
    train(digits, tmp_path, **change, progress=lambda done, total: epochs.append(done))
    assert epochs == list(range(1, 13))


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 torn", None], ids=["empty", "torn", "foreign arrays"])
def test_a_damaged_checkpoint_only_costs_time(digits, tmp_path, damage):
    whole = train(digits, tmp_path)
    (path,) = tmp_path.iterdir()
    if damage is None:
        _npz.write(path, {"epoch": np.array(12)})
    else:
        path.write_bytes(damage)
    again = train(digits, tmp_path)
    assert again.accuracy.tobytes() == whole.accuracy.tobytes()


def test_a_folder_that_cannot_be_written_only_costs_the_notes(digits, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    result = train(digits, tmp_path / "file" / "below")
    assert result.accuracy.tobytes() == train(digits, None).accuracy.tobytes()


def test_forgetting_removes_its_notes_and_those_nobody_came_back_to(digits, tmp_path):
    for name, age in (("sgd-old.npz", 8 * 24 * 3600), ("sgd-other.npz", 60), ("kept.txt", 9 * 24 * 3600)):
        (tmp_path / name).write_text("x")
        then = time.time() - age
        os.utime(tmp_path / name, (then, then))
    sgd.forget(tmp_path, train(digits, tmp_path).checkpoints)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.txt", "sgd-other.npz"]

"""Training on a GPU gives what the CPU gives; on a machine without one, its arithmetic is compared on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gspa.accountant.errors import InvalidValue
from gspa.algorithms import digits as datasets
from gspa.algorithms.flame import federated
from gspa.algorithms.flame.aggregation import Mean
from gspa.algorithms.flame.federated import Training, partition
from gspa.algorithms.sgd import SgdConfig, train
from gspa.cli import run

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device")
ROUNDING = 1e-5
"""float32 sums of some hundred terms of size one, in another order."""
CONFIG = SgdConfig(epochs=5)
SEEDS = range(20)


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits")


@pytest.fixture(scope="module")
def users(digits):
    return partition(digits, users=120)


def test_one_formula_for_both_kinds_of_arrays(users):
    start = federated.initial_weights(users.x.shape[2], users.classes, 0)
    truth = np.eye(users.classes, dtype=np.float32)[users.y]
    given = (users.x, *(np.moveaxis(one, 2, 0).copy() for one in (truth, users.x @ start)), users.gram)
    there = federated._descended(torch, *map(torch.from_numpy, given), training=Training()).numpy()
    here = federated.local_updates(users.x, users.y, start, Training())
    assert there.dtype == here.dtype == np.float32
    np.testing.assert_allclose(there, here, rtol=0, atol=ROUNDING)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize("page", ["12_shuffled_sgd", "16_flame_training"])
def test_a_page_is_refused_before_it_starts(page, tmp_path, capsys):
    output = tmp_path / "out.ipynb"
    assert run(["run", page, "-p", "device", "cuda", "-o", str(output)]) == 2
    allowed = "must be 'cpu' or an available 'cuda' device; this machine has no such device, use 'cpu'"
    assert capsys.readouterr().err == f"gspa: device = 'cuda': {allowed}\n"
    assert not output.exists()


def test_a_device_that_is_none(users):
    with pytest.raises(InvalidValue, match=r"^device = 'abacus'"):
        federated.train(users, Mean(), Training(rounds=1), seeds=[0], device="abacus")


@gpu
def test_flame_s_rounds_agree(users):
    runs = {device: federated.train(users, Mean(), Training(), seeds=[0], device=device) for device in ("cpu", "cuda")}
    # An image on the boundary may fall to either side.
    np.testing.assert_allclose(runs["cuda"]["accuracy"], runs["cpu"]["accuracy"], rtol=0, atol=2 / len(users.test_y))


@gpu
def test_training_without_noise_agrees(digits):
    held = datasets.project(digits)
    runs = [train(held, None, CONFIG, seeds=(0, 1), device=device) for device in ("cpu", "cuda")]
    np.testing.assert_allclose(runs[1].test_loss, runs[0].test_loss, rtol=1e-3)


@gpu
def test_training_with_noise_agrees_on_average(digits):
    """The two draw different noise from one seed: the means differ by no more than five standard errors."""
    held = datasets.project(digits)
    final = [train(held, 0.5, CONFIG, seeds=SEEDS, device=device).final_accuracy for device in ("cpu", "cuda")]
    error = np.sqrt(sum(one.var(ddof=1) / len(one) for one in final))
    assert abs(final[0].mean() - final[1].mean()) < 5 * error

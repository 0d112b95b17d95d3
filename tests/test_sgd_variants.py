"""Algorithm 3 repaired: the clip of each record against a plain loop, and the noise each promise needs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gspa import datasets, sgd
from gspa import sgd_variants as variants
from gspa.errors import InvalidBudget, InvalidValue, UnknownName
from gspa.mechanisms import gaussian_delta
from gspa.sgd import SgdConfig


@pytest.fixture(scope="module")
def digits():
    return datasets.project(datasets.load("digits"), components=30, cache=False)


@pytest.mark.parametrize("clip", [0.3, 1.0, 500.0])
def test_the_gradient_is_the_mean_of_clipped_gradients(digits, clip):
    config = SgdConfig(clients=60, hidden_width=7, clip=clip, initialization="torch_default")
    batch = variants.RecordClipped(digits, np.zeros((2, 60)), config, [1, 2], 23, (30, 7, 10), torch.device("cpu"))
    batch.average_gradient(batch.x[:, 0], batch.target[:, 0])
    for r in range(2):
        total, longest = torch.zeros(batch.theta.shape[1]), 0.0
        for x, target in zip(batch.x[r, 0], batch.target[r, 0].T, strict=True):
            theta = batch.theta[r].clone().requires_grad_()
            w1, b1, w2, b2 = theta.split([210, 7, 70, 10])
            logits = torch.relu(x @ w1.view(30, 7) + b1) @ w2.view(10, 7).T + b2
            (g,) = torch.autograd.grad(torch.nn.functional.cross_entropy(logits[None], target[None]), theta)
            longest = max(longest, float(g.norm()))
            total += g / max(1.0, float(g.norm()) / clip)
        torch.testing.assert_close(batch.gradient[r], total / 23, rtol=2e-5, atol=1e-7)
        assert (longest > clip) == (clip < 100)
        assert float(batch.gradient[r].norm()) <= clip * (1 + 1e-6)


def test_without_a_clip_that_bites_it_is_the_plain_average(digits):
    config = SgdConfig(clients=60, hidden_width=7, clip=1e6)
    made = [
        kind(digits, np.zeros((1, 60)), config, [1], 23, (30, 7, 10), torch.device("cpu"))
        for kind in (variants.RecordClipped, variants.Batch)
    ]
    for batch in made:
        batch.average_gradient(batch.x[:, 0], batch.target[:, 0])
    torch.testing.assert_close(made[0].gradient, made[1].gradient, rtol=1e-5, atol=1e-8)


def test_each_noise_is_the_least_that_keeps_its_promise():
    config = SgdConfig(epochs=50)
    eps = np.array([[0.5, 2.0, np.inf], [0.01, 0.5, 1.0]])
    moved = {"record": 4 / 600, "record_run": 4 / 600 * 50**0.5, "client": 4.0}
    for variant, sensitivity in moved.items():
        sigma = variants.noise(variant, eps, config, samples=600)
        assert sigma.shape == eps.shape
        assert sigma[0, 2] == 0
        for e, s in zip(eps[np.isfinite(eps)], sigma[np.isfinite(eps)], strict=True):
            assert gaussian_delta(float(e), scale=s, sensitivity=sensitivity) <= config.delta
            assert gaussian_delta(float(e), scale=s * (1 - 1e-6), sensitivity=sensitivity) > config.delta
    printed = variants.noise("same_noise", eps, config, samples=600)
    np.testing.assert_array_equal(printed, variants.noise("printed", eps, config, samples=600))
    np.testing.assert_allclose(printed[0, 0], 0.04 * np.sqrt(2 * np.log(1.25e5)) / 0.5)
    by_samples = variants.noise("printed", eps, SgdConfig(noise_divisor="samples"), samples=600)
    np.testing.assert_allclose(by_samples, printed / 6)


def test_the_printed_variant_is_algorithm_3(digits):
    config = SgdConfig(clients=20, epochs=3, hidden_width=16)
    eps = np.full((5, 20), 20.0)
    seeds = [3, 4, 5, 6, 7]
    expected = sgd.train(digits, eps, config, seeds=seeds, evaluate_every=3).final_accuracy
    found = variants.train_variant(digits, eps, config, variant="printed", seeds=seeds)
    np.testing.assert_allclose(found, expected, atol=1.01 / 360)  # one image: float32 rounding


def test_table_and_summary(digits):
    config = SgdConfig(clients=20, epochs=2, hidden_width=16)
    asked = {"seeds": (0, 1), "settings": ("constant", "unif3"), "variants": ("record", "client")}
    table = variants.variants_table(digits, config, **asked, jobs=1)
    assert table.columns.tolist() == ["variant", "setting", "seed", "accuracy", "noise"]
    assert len(table) == 8
    again = variants.variants_table(digits, config, **asked, jobs=1)
    assert table.equals(again)
    summary = variants.variants_summary(table)
    assert len(summary) == 4
    first = table[(table["variant"] == "record") & (table["setting"] == summary["setting"][0])]["accuracy"] * 100
    assert summary["accuracy (%)"][0] == pytest.approx(first.mean())
    assert summary["standard error"][0] == pytest.approx(first.std(ddof=1) / 2**0.5)
    alone = variants.variants_summary(table[table["seed"] == 0])
    assert alone["standard error"].isna().all()


@pytest.mark.slow
def test_processes_change_nothing(digits, monkeypatch):
    monkeypatch.setattr(variants, "_WORTH_A_PROCESS", 1)
    config = SgdConfig(clients=20, epochs=2, hidden_width=8)
    asked = {"seeds": (0,), "settings": ("constant", "unif3"), "variants": ("record", "client")}
    apart = variants.variants_table(digits, config, **asked, jobs=2)
    assert apart.equals(variants.variants_table(digits, config, **asked, jobs=1))


def test_bad_arguments_are_refused(digits):
    config = SgdConfig(clients=20)
    with pytest.raises(UnknownName, match="did you mean 'record'"):
        variants.noise("recrd", 1.0, config, samples=3)
    with pytest.raises(InvalidBudget, match=r"eps = 0\.0"):
        variants.noise("client", [0.0], config, samples=3)
    with pytest.raises(InvalidValue, match="samples = 0"):
        variants.noise("record", [1.0], config, samples=0)
    with pytest.raises(InvalidValue, match="clients = 5000"):
        variants.train_variant(digits, 1.0, SgdConfig(clients=5000), variant="record", seeds=[0])

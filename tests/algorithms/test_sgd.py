"""Algorithm 3 against a one-sample-at-a-time reference, and the properties its docstring promises."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import torch

from gspa.accountant.errors import InvalidBudget, InvalidValue, UnknownName
from gspa.algorithms import digits as datasets
from gspa.algorithms import sgd, sgd_batch
from gspa.algorithms.sgd_batch import Batch
from gspa.algorithms.sgd_config import CLIENT_SPLITS, INITIALIZATIONS


@pytest.fixture(scope="module")
def tiny():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(47, 6)).astype(np.float32)
    y = np.arange(47) % 4
    return datasets.Dataset(x[:37], y[:37], x[37:], y[37:], "tiny", True, {}, "random")


@pytest.fixture(scope="module")
def digits():
    return datasets.project(datasets.load("digits"), components=30, cache=False)


def reference(data, eps, config, seed):
    """Algorithm 3 line by line: autograd, one sample at a time. Returns (accuracy, loss) per epoch."""
    init, split, order, noise = np.random.SeedSequence(seed).spawn(4)
    d, h, k = data.train_x.shape[1], config.hidden_width, data.classes
    rng = np.random.default_rng(init)
    first, second = torch.nn.Linear(d, h), torch.nn.Linear(h, k)
    with torch.no_grad():
        first.weight.copy_(torch.tensor(rng.normal(0, np.sqrt(2 / d), (d, h)).T))
        second.weight.copy_(torch.tensor(rng.normal(0, np.sqrt(2 / h), (k, h))))
        first.bias.zero_()
        second.bias.zero_()
    net = torch.nn.Sequential(first, torch.nn.ReLU(), second)
    size = len(data.train_x) // config.clients
    samples = np.random.default_rng(split).permutation(len(data.train_x))
    subsets = [samples[i * size : (i + 1) * size] for i in range(config.clients)]
    pi = np.random.default_rng(order).permutation(config.clients)
    generator = torch.Generator().manual_seed(int(noise.generate_state(1, np.uint64)[0]))
    count = sum(p.numel() for p in net.parameters())
    divisor = config.clients if config.noise_divisor == "clients" else size
    accuracy, longest = [], 0.0
    for _ in range(config.epochs):
        z = torch.empty(config.clients, count).normal_(generator=generator)
        for step, client in enumerate(pi):
            gradients = []
            for j in subsets[client]:
                loss = torch.nn.functional.cross_entropy(
                    net(torch.tensor(data.train_x[j : j + 1])), torch.tensor(data.train_y[j : j + 1])
                )
                w1, b1, w2, b2 = torch.autograd.grad(loss, list(net.parameters()))
                gradients.append(torch.cat([w1.T.reshape(-1), b1, w2.reshape(-1), b2]))
            g = torch.stack(gradients).sum(0) / (size if config.average_divisor == "samples" else config.clients)
            longest = max(longest, float(g.norm()))
            g = g / max(1.0, float(g.norm()) / config.clip)
            sigma = 2 * config.clip / divisor * np.sqrt(2 * np.log(1.25 / config.delta)) / eps[client]
            update = -config.learning_rate * (g + sigma * z[step])
            with torch.no_grad():
                w1, b1, w2, b2 = update.split([d * h, h, k * h, k])
                first.weight += w1.view(d, h).T
                first.bias += b1
                second.weight += w2.view(k, h)
                second.bias += b2
        with torch.no_grad():
            logits = net(torch.tensor(data.test_x))
            loss = torch.nn.functional.cross_entropy(logits, torch.tensor(data.test_y)).item()
        accuracy.append(((logits.argmax(1).numpy() == data.test_y).mean(), loss))
    return np.array(accuracy), longest


@pytest.mark.parametrize(("noise", "average"), [("clients", "samples"), ("samples", "samples"), ("clients", "clients")])
@pytest.mark.parametrize("clip", [0.3, 50.0], ids=["clipping", "not clipping"])
def test_training_is_algorithm_3_line_by_line(tiny, noise, average, clip):
    config = sgd.SgdConfig(
        clients=5,
        epochs=3,
        hidden_width=8,
        clip=clip,
        noise_divisor=noise,
        average_divisor=average,
        learning_rate=0.2,
        delta=0.01,
    )
    eps = np.array([30.0, 50.0, np.inf, 70.0, 90.0])
    got = sgd.train(tiny, eps, config, seeds=[4])
    expected, longest = reference(tiny, eps, config, 4)
    # float32 sums in another order; the losses are of order 1.
    np.testing.assert_allclose(got.test_loss[0, 1:], expected[:, 1], rtol=2e-5)
    np.testing.assert_allclose(got.accuracy[0, 1:], expected[:, 0], atol=1e-12)
    assert got.longest == pytest.approx([longest], rel=2e-5)


@pytest.mark.parametrize("clip", [0.3, 1.0, 500.0, math.inf])
def test_hand_written_gradient_is_autograds(tiny, clip):
    """The plain sum, or of gradients that are each cut to the clip; 500 cuts none."""
    clipped = {"clipped": "records", "clip": clip} if clip < math.inf else {}
    config = sgd.SgdConfig(clients=2, hidden_width=7, initialization="torch_default", **clipped)
    batch = Batch(tiny, np.zeros((3, 2)), config, 1, 18, torch.device("cpu"))
    for part in batch.weights:
        part += 0.1 * torch.randn_like(part)  # three different points
    batch.sum_gradients(batch.x[0], batch.target[0])
    for r in range(3):
        weights = [part[r].clone().requires_grad_() for part in batch.weights]
        total, norms = [torch.zeros_like(part) for part in weights], []
        for x, target in zip(batch.x[0], batch.target[0].T, strict=True):
            logits = weights[1][:, :-1] @ torch.relu(weights[0] @ x) + weights[1][:, -1]
            one = torch.autograd.grad(torch.nn.functional.cross_entropy(logits[None], target[None]), weights)
            norms.append(float(torch.cat([part.flatten() for part in one]).norm()))
            for part, piece in zip(total, one, strict=True):
                part += piece / max(1.0, norms[-1] / clip)
        assert (max(norms) > clip) == (clip < 100)
        for by_hand, automatic in zip(batch.gradient, total, strict=True):
            torch.testing.assert_close(by_hand[r], automatic, rtol=2e-5, atol=18 * 1e-7)


@pytest.mark.parametrize("relu", [False, True])
def test_both_products_are_that_of_float64(monkeypatch, relu):
    a, b = torch.randn(5, 61), torch.randn(7, 61)
    exact = a.double() @ b.double().T
    for _ in range(2):  # oneDNN's where there is one, then torch's own
        found = sgd_batch.product(a, b, relu=relu)
        torch.testing.assert_close(found.double(), exact.relu() if relu else exact, rtol=1e-4, atol=1e-5)
        monkeypatch.setattr(sgd_batch, "_LINEAR", None)


@pytest.mark.parametrize("order", ["once", "per_epoch"])
def test_the_visiting_order_is_that_of_the_training(tiny, order):
    config = sgd.SgdConfig(clients=5, hidden_width=3, client_order=order)
    sigma = np.arange(1.0, 11).reshape(2, 5)
    for seed in (7, 9):
        batch = Batch(tiny, sigma, config, seed, 7, torch.device("cpu"))
        visited = sgd.visiting_order(seed, clients=5)
        assert sorted(visited) == [0, 1, 2, 3, 4]
        assert batch.sigma.tolist() == sigma[:, visited].tolist()
    with pytest.raises(InvalidValue, match="clients = 0"):
        sgd.visiting_order(7, clients=0)


@pytest.mark.parametrize("order", ["once", "per_epoch"])
def test_a_replica_does_not_depend_on_its_batch(digits, order, monkeypatch):
    config = sgd.SgdConfig(clients=20, epochs=4, hidden_width=16, client_order=order, noise_divisor="samples")
    eps, seeds = np.random.default_rng(1).uniform(1, 20, (5, 20)), (7, 8, 7, 9, 7)
    eps[2] = np.inf  # without noise beside noisy ones
    together = sgd.train(digits, eps, config, seeds=seeds)
    for r, seed in enumerate(seeds):
        alone = sgd.train(digits, eps[r], config, seeds=[seed])
        # float32 rounding, amplified over 80 steps; accuracies may differ by one of 360 images.
        np.testing.assert_allclose(together.test_loss[r], alone.test_loss[0], rtol=1e-4)
        np.testing.assert_allclose(together.accuracy[r], alone.accuracy[0], atol=1.01 / 360)
    monkeypatch.setitem(sgd._TOGETHER, "cpu", 1)
    split = sgd.train(digits, eps, config, seeds=seeds)
    np.testing.assert_allclose(split.test_loss, together.test_loss, rtol=1e-4)


def test_same_seed_same_bytes_and_other_seed_other_run(digits):
    config = sgd.SgdConfig(clients=20, epochs=2, hidden_width=16)
    first, second = (sgd.train(digits, 5.0, config, seeds=[3, 4]) for _ in range(2))
    assert first.accuracy.tobytes() == second.accuracy.tobytes()
    assert first.test_loss.tobytes() == second.test_loss.tobytes()
    assert not np.allclose(first.test_loss[0], first.test_loss[1])


@pytest.mark.parametrize(
    ("initialization", "split"),
    [*product(INITIALIZATIONS, CLIENT_SPLITS[:1]), *product(INITIALIZATIONS[:1], CLIENT_SPLITS[1:])],
)
def test_learns_the_digits(digits, initialization, split):
    config = sgd.SgdConfig(epochs=10, hidden_width=32, initialization=initialization, client_split=split)
    run = sgd.train(digits, None, config, seeds=[0], evaluate_every=10)
    assert run.samples_per_client == 14
    assert run.accuracy[0, 0] < 0.35  # chance is 0.1
    assert run.accuracy[0, -1] > 0.85


def test_the_number_of_threads_changes_nothing_and_is_restored(digits):
    config = sgd.SgdConfig(clients=20, epochs=2, hidden_width=16)
    before = torch.get_num_threads()
    try:
        runs = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            runs.append(sgd.train(digits, 5.0, config, seeds=[3, 4]).test_loss.tobytes())
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert runs[0] == runs[1]


def test_frame_epochs_and_progress(tiny):
    calls: list[tuple[int, int]] = []
    config = sgd.SgdConfig(clients=4, epochs=5, hidden_width=4)
    run = sgd.train(
        tiny,
        1.0,
        config,
        seeds=[1, 2],
        labels=["a", "b"],
        evaluate_every=2,
        progress=lambda done, total: calls.append((done, total)),
    )
    assert run.epochs.tolist() == [0, 2, 4, 5]
    assert calls == [(done, 10) for done in range(1, 11)]  # seed by seed
    frame = run.to_frame()
    assert frame.columns.tolist() == ["setting", "seed", "epoch", "accuracy", "test_loss"]
    last = frame[(frame.setting == "b") & (frame.epoch == 5)]
    assert last.seed.item() == 2
    assert last.accuracy.item() == run.final_accuracy[1]


def test_read_only_and_double_inputs_are_taken(tiny):
    config = sgd.SgdConfig(clients=4, epochs=1, hidden_width=4)
    frozen = [a.astype(np.float64) if a.dtype == np.float32 else a for a in (tiny.train_x, tiny.test_x)]
    for array in frozen:
        array.flags.writeable = False
    data = datasets.Dataset(frozen[0], tiny.train_y, frozen[1], tiny.test_y, "tiny", True, {}, "random")
    same = sgd.train(data, 1.0, config, seeds=[0])
    assert same.test_loss.tobytes() == sgd.train(tiny, 1.0, config, seeds=[0]).test_loss.tobytes()


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"clip": 0}, InvalidValue, "clip = 0: must be a finite number > 0"),
        ({"epochs": 0}, InvalidValue, "epochs = 0: must be an integer >= 1"),
        ({"learning_rate": -1}, InvalidValue, "learning_rate"),
        ({"delta": 0}, InvalidValue, r"delta = 0: must be in \(0, 1\)"),
        ({"hidden_width": 1.5}, InvalidValue, "hidden_width"),
        ({"initialization": "hee"}, UnknownName, "did you mean 'he'"),
        ({"noise_divisor": "client"}, UnknownName, "did you mean 'clients'"),
        ({"average_divisor": "sample"}, UnknownName, "did you mean 'samples'"),
        ({"clipped": "record"}, UnknownName, "did you mean 'records'"),
        ({"clients": 0}, InvalidValue, "clients = 0: must be an integer >= 1"),
    ],
)
def test_bad_settings_are_refused(settings, error, words):
    with pytest.raises(error, match=words):
        sgd.SgdConfig(**settings)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"eps": [0.0] * 4}, InvalidBudget, "eps = 0.0: must be > 0"),
        ({"eps": [np.nan] * 4}, InvalidBudget, "eps = nan"),
        (
            {"eps": [1.0] * 3},
            InvalidBudget,
            r"\(3,\): must be broadcastable to \(seeds, clients\) = \(1, 4\)",
        ),
        ({"seeds": []}, InvalidValue, "non-empty"),
        ({"seeds": [-1]}, InvalidValue, r"seeds\[0\] = -1"),
        ({"labels": ["a", "b"]}, InvalidValue, "labels"),
        ({"device": "tpu!"}, InvalidValue, "device = 'tpu!'"),
        ({"device": "cuda:99"}, InvalidValue, "device = 'cuda:99'.*use 'cpu'"),
        ({"evaluate_every": 0}, InvalidValue, "evaluate_every"),
        (
            {"config": sgd.SgdConfig(clients=38)},
            InvalidValue,
            "clients = 38: must be at most the 37 training",
        ),
    ],
)
def test_bad_arguments_are_refused_before_work(tiny, arguments, error, words):
    good = {"eps": 1.0, "config": sgd.SgdConfig(clients=4, epochs=10**9), "seeds": [0]}
    given = good | arguments
    with pytest.raises(error, match=words):
        sgd.train(tiny, given.pop("eps"), given.pop("config"), **given)

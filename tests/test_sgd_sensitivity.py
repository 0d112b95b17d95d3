"""How far one record moves a client's clipped average: against autograd and against brute force."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gspa import datasets
from gspa import sgd_sensitivity as sensitivity
from gspa._sgd_gradients import Client, Gradients, clipped
from gspa.errors import InvalidValue
from gspa.sgd import SgdConfig


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits")


@pytest.fixture(scope="module")
def reduced(digits):
    return datasets.project(digits, components=30, cache=False)


@pytest.fixture(scope="module")
def clients(reduced):
    config = SgdConfig(clients=20, hidden_width=16)
    return sensitivity.visited(reduced, None, config, epochs=(0, 6), seed=3)


def autograd(client: Client, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Gradients of the records one at a time, flat in the order of `Gradients.mean`, (s, P)."""
    rows = []
    for image, label in zip(x, y, strict=True):
        weights = [w.clone().requires_grad_() for w in (client.w1, client.b1, client.w2, client.b2)]
        w1, b1, w2, b2 = weights
        logits = torch.relu(image @ w1 + b1) @ w2.T + b2
        loss = torch.nn.functional.cross_entropy(logits[None], label[None])
        g1, c1, g2, c2 = torch.autograd.grad(loss, weights)
        rows.append(
            torch.cat([torch.cat([g1.T, c1[:, None]], 1).reshape(-1), torch.cat([g2, c2[:, None]], 1).reshape(-1)])
        )
    return torch.stack(rows)


def test_factored_gradients_are_autograds(clients):
    client = clients[1]
    x, y = client.x[:7], client.y[:7]
    expected, found = autograd(client, x, y), Gradients.of(client, x, y)
    other = Gradients.of(client, client.x[7:12], client.y[7:12])
    torch.testing.assert_close(found.mean(), expected.mean(0), rtol=1e-10, atol=1e-14)
    torch.testing.assert_close(found.squares(), (expected**2).sum(1), rtol=1e-10, atol=1e-14)
    torch.testing.assert_close(
        found.products(other), expected @ autograd(client, client.x[7:12], client.y[7:12]).T, rtol=1e-9, atol=1e-12
    )
    direction = torch.from_numpy(np.random.default_rng(0).normal(size=expected.shape[1]))
    torch.testing.assert_close(found.onto(direction), expected @ direction, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("clip", [0.05, 0.5, 50.0])
def test_largest_movement_is_that_of_trying_every_pair(clients, clip):
    client = clients[1]
    small = Client(client.w1, client.b1, client.w2, client.b2, client.x[:5], client.y[:5])
    candidates = client.x[5:9]
    before = clipped(autograd(small, small.x, small.y).mean(0), clip)
    expected = 0.0
    for place in range(5):
        for image in candidates:
            for label in range(10):
                x, y = small.x.clone(), small.y.clone()
                x[place], y[place] = image, label
                after = clipped(autograd(small, x, y).mean(0), clip)
                expected = max(expected, float((after - before).norm()))
    assert sensitivity.largest_movement(small, candidates, clip=clip) == pytest.approx(expected, rel=1e-7)
    assert expected <= 2 * clip


@pytest.mark.parametrize("clip", [0.1, 2.0])
def test_one_record_of_any_size_moves_the_average_by_2c(clients, reduced, clip):
    table = sensitivity.growing_record(clients[0], sensitivity.pool(reduced), clip=clip, factors=(1.0, 1e3, 1e6))
    assert table["movement"].iloc[-1] == pytest.approx(2 * clip, rel=1e-5)
    assert (table["movement"] <= 2 * clip * (1 + 1e-12)).all()
    assert table["movement"].is_monotonic_increasing
    assert table["norm"].iloc[-1] == pytest.approx(1e6 * table["norm"].iloc[0], rel=0.5)


def test_images_in_range_reach_2c_with_surer_weights(clients, reduced):
    table = sensitivity.growing_weights(clients[1], sensitivity.pool(reduced), clip=2.0, factors=(1.0, 1e2, 1e5))
    assert table["share"].iloc[0] < 0.9
    assert table["share"].iloc[-1] == pytest.approx(1.0, abs=1e-9)


def test_clipping_each_record_would_bound_the_movement(clients, reduced):
    """The repair's 2C/s, at the records that move the clipped average most."""
    client, clip = clients[0], 2.0
    near = sensitivity.pool(reduced)[:1] * 1e6
    ends = []
    for label in (0, 1):
        rows = autograd(client, torch.cat([near, client.x[1:]]), torch.cat([torch.tensor([label]), client.y[1:]]))
        ends.append((rows / (rows.norm(dim=1, keepdim=True) / clip).clamp(min=1)).mean(0))
    moved = float((ends[0] - ends[1]).norm())
    assert 0.5 * clip / len(client.x) < moved <= 2 * clip / len(client.x) * (1 + 1e-12)


def test_ascent_beats_the_images_it_starts_from_and_stays_attainable(clients, digits, reduced):
    client = clients[0]
    asked = {"clip": 2.0, "components": 30, "starts": 4}
    found = sensitivity.valid_movement(client, digits, **asked)
    real = [
        sensitivity._label_movement(client, torch.from_numpy(reduced.train_x[i]).double(), (0, 1), 2.0)
        for i in range(8)
    ]
    assert found > 1.2 * max(real)
    # No image in [0, 1]^64 has a longer gradient than this: error <= sqrt 2, features <= their box.
    assert found <= 4.0
    assert sensitivity.valid_movement(client, digits, **asked) == found


def test_visited_weights_are_those_of_training(reduced):
    config = SgdConfig(clients=20, hidden_width=16)
    start, later = sensitivity.visited(reduced, 5.0, config, epochs=(0, 2), seed=1)
    (alone,) = sensitivity.visited(reduced, 5.0, config, epochs=(2,), seed=1)
    torch.testing.assert_close(later.w1, alone.w1, rtol=0, atol=0)
    assert (start.epoch, later.epoch) == (0, 2)
    assert float((start.w1 - later.w1).abs().max()) > 0
    assert len(start.x) == len(reduced.train_x) // 20
    torch.testing.assert_close(start.x, later.x, rtol=0, atol=0)


def test_real_movements_is_a_tidy_table(reduced):
    config = SgdConfig(clients=20, hidden_width=16)
    table = sensitivity.real_movements(reduced, config, settings=("no noise", "constant"), epochs=(0, 1))
    assert table["epoch"].tolist() == [0, 1, 0, 1]
    assert table["movement"].iloc[0] == table["movement"].iloc[2]  # the same start
    assert table["share"].between(0, 1).all()


def test_bad_arguments_are_refused(clients, reduced):
    with pytest.raises(InvalidValue, match="clip = 0"):
        sensitivity.growing_record(clients[0], sensitivity.pool(reduced), clip=0, factors=(1.0,))
    with pytest.raises(InvalidValue, match="two classes"):
        sensitivity.growing_record(clients[0], clients[0].x[:1], clip=1.0, factors=(1.0,))
    with pytest.raises(InvalidValue, match="clients = 5000"):
        sensitivity.visited(reduced, None, SgdConfig(clients=5000), epochs=(0,), seed=0)
    with pytest.raises(InvalidValue, match=r"epochs\[0\] = -1"):
        sensitivity.visited(reduced, None, SgdConfig(clients=20), epochs=(-1,), seed=0)

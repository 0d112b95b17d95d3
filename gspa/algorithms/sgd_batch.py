"""The inner loop of Algorithm 3: R replicas in training, as batched float32 matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from gspa.algorithms.digits import Dataset
from gspa.algorithms.sgd_config import SgdConfig

Floats = npt.NDArray[np.float64]
Dims = tuple[int, int, int]  # inputs d, hidden units h, classes k


def parameters(dims: Dims) -> int:
    """Number of weights and biases."""
    inputs, hidden, classes = dims
    return (inputs + 1) * hidden + (hidden + 1) * classes


def _views(flat: torch.Tensor, dims: Dims) -> tuple[torch.Tensor, ...]:
    """W1 (R, d, h), b1 (R, h, 1), W2 (R, k, h), b2 (R, k, 1) as views of the flat (R, P) vector.

    Activations are (R, features, samples): with samples last, softmax over 10 classes and the
    products with 10 rows run several times faster than in the usual layout.
    """
    d, h, k = dims
    sizes = [d * h, h, k * h, k]
    shapes = ((d, h), (h, 1), (k, h), (k, 1))
    parts = torch.split(flat, sizes, dim=1)
    return tuple(p.view(len(flat), *s) for p, s in zip(parts, shapes, strict=True))


def _initial_point(rng: np.random.Generator, how: str, dims: Dims) -> npt.NDArray[np.float32]:
    pieces = []
    for fan_in, fan_out in ((dims[0], dims[1]), (dims[1], dims[2])):
        bias = np.zeros(fan_out)
        if how == "he":
            weight = rng.normal(0, np.sqrt(2 / fan_in), fan_in * fan_out)
        elif how == "glorot":
            bound = np.sqrt(6 / (fan_in + fan_out))
            weight = rng.uniform(-bound, bound, fan_in * fan_out)
        else:
            bound = 1 / np.sqrt(fan_in)
            weight = rng.uniform(-bound, bound, fan_in * fan_out)
            bias = rng.uniform(-bound, bound, fan_out)
        pieces += [weight, bias]
    return np.concatenate(pieces).astype(np.float32)


def first_order(seed: int, clients: int) -> npt.NDArray[np.int64]:
    """The clients of a replica in the order of their first visits."""
    return np.random.default_rng(_streams(seed)[2]).permutation(clients)


def _streams(seed: int) -> list[np.random.SeedSequence]:
    """Initial point, split, order and noise: changing one choice leaves the draws of the others alone."""
    return np.random.SeedSequence(seed).spawn(4)


def _tensor(array: npt.NDArray[Any], dtype: type[np.generic]) -> torch.Tensor:
    return torch.from_numpy(np.require(array, dtype=dtype, requirements=["C", "W"]))


class Batch:
    """R replicas in training.

    The arrays by client (images, targets, sigma) are kept in the order in which the clients are visited,
    so that a step reads a slice and copies nothing. Nothing is checked here: `gspa.algorithms.sgd.train` does that.

    Args:
        data: images and labels; at least `samples` of the former for every client.
        sigma: shape (R, clients), standard deviation of the noise on each coordinate of a client's gradient.
        config: what is trained, and how.
        seeds: one per replica.
        samples: images of each client.
        dims: inputs d, hidden units h, classes k.
        where: device that the arrays are put on.
    """

    def __init__(
        self,
        data: Dataset,
        sigma: Floats,
        config: SgdConfig,
        seeds: Sequence[int],
        samples: int,
        dims: Dims,
        where: torch.device,
    ) -> None:
        self.config = config
        self.divisor = samples if config.average_divisor == "samples" else config.clients
        clients, used = config.clients, config.clients * samples
        streams = [_streams(seed) for seed in seeds]
        start = [_initial_point(np.random.default_rng(s[0]), config.initialization, dims) for s in streams]
        self.order_rngs = [np.random.default_rng(s[2]) for s in streams]
        self.noise_rngs = [
            torch.Generator(device=where).manual_seed(int(s[3].generate_state(1, np.uint64)[0])) for s in streams
        ]
        self.theta = torch.from_numpy(np.stack(start)).to(where)
        self.gradient = torch.empty_like(self.theta)
        self.w1, self.b1, self.w2, self.b2 = _views(self.theta, dims)
        self.g_w1, self.g_b1, self.g_w2, self.g_b2 = _views(self.gradient, dims)
        self.noisy = bool((sigma > 0).any())
        self.noise = torch.empty(len(seeds), clients if self.noisy else 0, parameters(dims), device=where)

        self.sigma = torch.from_numpy(sigma.astype(np.float32)).to(where)
        self.x = torch.empty(len(seeds), clients, samples, dims[0], device=where)
        self.target = torch.zeros(len(seeds), clients, dims[2], samples, device=where)
        x, y = _tensor(data.train_x, np.float32), _tensor(data.train_y, np.int64)
        for r, stream in enumerate(streams):
            if config.client_split == "shuffled":
                chosen = torch.from_numpy(np.random.default_rng(stream[1]).permutation(len(x))[:used])
                mine, classes = x[chosen], y[chosen]
            else:
                mine, classes = x[:used], y[:used]
            self.x[r] = mine.view(clients, samples, dims[0])
            self.target[r].scatter_(1, classes.view(clients, 1, samples).to(where), 1.0)
        self.test_x = _tensor(data.test_x, np.float32).to(where).T
        self.test_y = _tensor(data.test_y, np.int64).to(where)
        self._shuffle_clients()

    def _shuffle_clients(self) -> None:
        """Line 3: visit the clients in a uniform order (a permuted permutation stays uniform)."""
        for r, rng in enumerate(self.order_rngs):
            order = torch.from_numpy(rng.permutation(self.config.clients)).to(self.theta.device)
            for by_client in (self.x, self.target, self.sigma):
                by_client[r] = by_client[r][order]

    def state(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
        """The weights (R, P) and the noise generators' states (R, bytes); the rest follows from the seeds."""
        generators = torch.stack([generator.get_state() for generator in self.noise_rngs])
        return self.theta.cpu().numpy(), generators.numpy()

    def restore(self, epoch: int, theta: npt.NDArray[np.float32], generators: npt.NDArray[np.uint8]) -> None:
        """Bring a fresh batch to where `state` was taken, after `epoch` epochs."""
        if self.config.client_order == "per_epoch":
            for _ in range(1, epoch):
                self._shuffle_clients()
        self.theta.copy_(_tensor(theta, np.float32))
        for generator, state in zip(self.noise_rngs, generators, strict=True):
            generator.set_state(_tensor(state, np.uint8))

    def epoch(self, number: int) -> None:
        """One pass over the clients, lines 6-14; `number` counts from 1."""
        if number > 1 and self.config.client_order == "per_epoch":
            self._shuffle_clients()
        if self.noisy:
            for r, generator in enumerate(self.noise_rngs):
                self.noise[r].normal_(generator=generator)
            self.noise *= (self.sigma * -self.config.learning_rate)[:, :, None]
        for i in range(self.config.clients):
            self.average_gradient(self.x[:, i], self.target[:, i])
            # Lines 12-14: the clip acts on the client's average, not on each sample's gradient.
            norm = torch.linalg.vector_norm(self.gradient, dim=1, keepdim=True)
            scale = -self.config.learning_rate / (norm / self.config.clip).clamp_(min=1)
            self.theta.addcmul_(self.gradient, scale)
            if self.noisy:
                self.theta += self.noise[:, i]

    def average_gradient(self, x: torch.Tensor, target: torch.Tensor) -> None:
        """Summed cross-entropy gradient of x (R, s, d), one-hot target (R, k, s), over `divisor`, into `gradient`.

        Written by hand: up to a third faster than autograd at these sizes. The tests hold it to autograd.
        """
        hidden = torch.baddbmm(self.b1, self.w1.mT, x.mT).relu_()
        error = torch.baddbmm(self.b2, self.w2, hidden).softmax(1)
        error.sub_(target).div_(self.divisor)
        torch.bmm(error, hidden.mT, out=self.g_w2)
        torch.sum(error, 2, keepdim=True, out=self.g_b2)
        # The sign of a ReLU's output is its derivative.
        back = torch.bmm(self.w2.mT, error).mul_(hidden.sign_())
        torch.bmm(x.mT, back.mT, out=self.g_w1)
        torch.sum(back, 2, keepdim=True, out=self.g_b1)

    def evaluate(self) -> tuple[Floats, Floats]:
        """Accuracy and mean cross-entropy on the test images, each (R,)."""
        replicas, count = len(self.theta), len(self.test_y)
        correct = torch.zeros(replicas, device=self.theta.device, dtype=torch.float64)
        loss = torch.zeros_like(correct)
        block = max(500, 20_000 // replicas)  # keeps the hidden activations small
        for low in range(0, count, block):
            x = self.test_x[:, low : low + block].expand(replicas, -1, -1)
            y = self.test_y[low : low + block].expand(replicas, 1, -1)
            hidden = torch.baddbmm(self.b1, self.w1.mT, x).relu_()
            logits = torch.baddbmm(self.b2, self.w2, hidden)
            correct += (logits.argmax(1, keepdim=True) == y).sum((1, 2))
            loss -= logits.log_softmax(1).gather(1, y).sum((1, 2), dtype=torch.float64)
        return (correct / count).cpu().numpy(), (loss / count).cpu().numpy()

"""The inner loop of Algorithm 3: the replicas of one seed in training, as float32 matrix products."""

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

# oneDNN's product. Torch's own takes another library's, which is half as fast on processors that are not Intel's.
_HERE = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
_LINEAR = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if _HERE else None


def product(a: torch.Tensor, b: torch.Tensor, *, relu: bool = False) -> torch.Tensor:
    """a (m, s) times the transpose of b (n, s), float32; with `relu`, what is negative becomes 0."""
    if _LINEAR is None or a.device.type != "cpu":
        return (a @ b.T).relu_() if relu else a @ b.T
    found: torch.Tensor = _LINEAR(a, b, None, "relu" if relu else "none", [], "")
    return found


def _initial_point(rng: np.random.Generator, how: str, dims: Dims) -> npt.NDArray[np.float32]:
    """W1 (d, h), b1 (h,), W2 (k, h), b2 (k,) in one row."""
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


def streams(seed: int) -> list[np.random.SeedSequence]:
    """Initial point, split, order and noise: changing one choice leaves the draws of the others alone."""
    return np.random.SeedSequence(seed).spawn(4)


def _tensor(array: npt.NDArray[Any], dtype: type[np.generic]) -> torch.Tensor:
    return torch.from_numpy(np.require(array, dtype=dtype, requirements=["C", "W"]))


def _with_ones(images: npt.NDArray[np.float32]) -> torch.Tensor:
    """Images (n, d) as (n, d + 1): the last column, of ones, brings the bias."""
    return torch.nn.functional.pad(_tensor(images, np.float32), (0, 1), value=1.0)


class Batch:
    """R replicas of one seed in training: they share starting weights, images, order and standard normals.

    So a step is one product of all their first layers with the client's images. Activations are (R, features,
    samples): with samples last, softmax over 10 classes and the products with 10 rows run several times faster than
    in the usual layout. Each image ends with a one, and W1 with the biases of the hidden units. One more hidden unit
    is always one, and W2 ends with the biases of the logits.

    The arrays by client (images, targets, sigma) are kept in the order in which the clients are visited, so that a
    step reads a slice and copies nothing. Nothing is checked here: `gspa.algorithms.sgd.train` does that.

    Args:
        data: images and labels; at least `samples` of the former for every client.
        sigma: shape (R, clients), standard deviation of the noise on each coordinate of a client's gradient.
        config: what is trained, and how.
        seed: of all replicas.
        samples: images of each client.
        where: device that the arrays are put on.

    Attributes:
        x: (clients, samples, d + 1).
        target: (clients, k, samples), one-hot.
        weights: W1 (R, h, d + 1), W2 (R, k, h + 1); change them in place.
        gradient: what `sum_gradients` found, alike.
        longest: (R,), the largest norm of a client's summed gradient so far, before the clip.
    """

    def __init__(
        self, data: Dataset, sigma: Floats, config: SgdConfig, seed: int, samples: int, where: torch.device
    ) -> None:
        self.config = config
        self.divisor = samples if config.average_divisor == "samples" else config.clients
        self.dims = (data.train_x.shape[1], config.hidden_width, data.classes)
        clients, used = config.clients, config.clients * samples
        start, split, order, noise = streams(seed)
        point = torch.from_numpy(_initial_point(np.random.default_rng(start), config.initialization, self.dims))
        w1, w2 = (part.repeat(len(sigma), 1, 1).to(where) for part in self._parts(point[None]))
        self._first = torch.nn.functional.pad(w1, (0, 0, 0, 1))  # with the unit that is always one
        self._first[:, -1, -1] = 1.0
        self.weights = (self._first[:, :-1], w2)
        self.gradient = (torch.empty_like(w1), torch.empty_like(w2))
        self.longest = torch.zeros(len(sigma), device=where)
        self.order_rng = np.random.default_rng(order)
        self.noise_rng = torch.Generator(device=where).manual_seed(int(noise.generate_state(1, np.uint64)[0]))
        self.sigma = torch.from_numpy(sigma.astype(np.float32)).to(where)

        chosen = np.arange(used)
        if config.client_split == "shuffled":
            chosen = np.random.default_rng(split).permutation(len(data.train_x))[:used]
        classes = _tensor(data.train_y[chosen], np.int64).to(where)
        self.x = _with_ones(data.train_x[chosen]).view(clients, samples, -1).to(where)
        self.target = torch.zeros(clients, self.dims[2], samples, device=where)
        self.target.scatter_(1, classes.view(clients, 1, samples), 1.0)
        self.test_x = _with_ones(data.test_x).to(where)
        self.test_y = _tensor(data.test_y, np.int64).to(where)
        self._shuffle_clients()

    def _parts(self, flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows W1 (d, h), b1, W2 (k, h), b2 as arrays shaped like the weights, a replica or client a row."""
        d, h, k = self.dims
        first, second, biases = torch.split(flat, [(d + 1) * h, k * h, k], dim=1)
        many = len(flat)
        return first.view(many, d + 1, h).mT.contiguous(), torch.cat([second.view(many, k, h), biases[:, :, None]], 2)

    def _shuffle_clients(self) -> None:
        """Line 3: visit the clients in a uniform order (a permuted permutation stays uniform)."""
        order = torch.from_numpy(self.order_rng.permutation(self.config.clients)).to(self.x.device)
        self.x, self.target, self.sigma = self.x[order], self.target[order], self.sigma[:, order]

    def state(self) -> tuple[list[npt.NDArray[np.float32]], npt.NDArray[np.uint8]]:
        """The weights with `longest`, and the noise generator's state; the rest follows from the seed."""
        return [part.cpu().numpy() for part in (*self.weights, self.longest)], self.noise_rng.get_state().numpy()

    def restore(self, epoch: int, arrays: Sequence[npt.NDArray[np.float32]], generator: npt.NDArray[np.uint8]) -> None:
        """Bring a fresh batch to where `state` was taken, after `epoch` epochs."""
        if self.config.client_order == "per_epoch":
            for _ in range(1, epoch):
                self._shuffle_clients()
        for part, stored in zip((*self.weights, self.longest), arrays, strict=True):
            part.copy_(_tensor(stored, np.float32))
        self.noise_rng.set_state(_tensor(generator, np.uint8))

    def epoch(self, number: int) -> None:
        """One pass over the clients, lines 6-14; `number` counts from 1."""
        if number > 1 and self.config.client_order == "per_epoch":
            self._shuffle_clients()
        rate, clip, noise = self.config.learning_rate, self.config.clip, None
        spread = -rate * self.sigma[:, :, None, None]
        if self.sigma.any():
            d, h, k = self.dims
            flat = torch.empty(self.config.clients, (d + 1) * h + (h + 1) * k, device=self.x.device)
            noise = self._parts(flat.normal_(generator=self.noise_rng))
        for i in range(self.config.clients):
            self.sum_gradients(self.x[i], self.target[i])
            # Lines 12-14: the clip acts on the client's average G/m, not on each sample's gradient. With clip C it is
            # (G/m) / max(|G/m|/C, 1) = C G / max(|G|, C m).
            one, two = (torch.linalg.vector_norm(part.flatten(1), dim=1) for part in self.gradient)
            length = torch.hypot(one, two)
            torch.maximum(self.longest, length, out=self.longest)
            length = length.clamp_(min=clip * self.divisor)[:, None, None]
            for part, gradient in zip(self.weights, self.gradient, strict=True):
                part.addcdiv_(gradient, length, value=-rate * clip)
            if noise is not None:
                for part, normals in zip(self.weights, noise, strict=True):
                    part.addcmul_(normals[i], spread[:, i])

    def hidden(self, x: torch.Tensor) -> torch.Tensor:
        """The first layer's output at x (s, d + 1), and ones: (R, h + 1, s)."""
        return product(self._first.flatten(0, 1), x, relu=True).view(len(self._first), -1, len(x))

    def sum_gradients(self, x: torch.Tensor, target: torch.Tensor) -> None:
        """Summed cross-entropy gradient of x (s, d + 1), one-hot target (k, s), into `gradient`.

        Written by hand: faster than autograd at these sizes. The tests hold it to autograd.
        """
        hidden = self.hidden(x)
        error = torch.bmm(self.weights[1], hidden).softmax(1).sub_(target)
        back = torch.bmm(self.weights[1][:, :, :-1].mT, error)
        torch.ops.aten.threshold_backward.grad_input(back, hidden[:, :-1], 0, grad_input=back)
        if self.config.clipped == "records":
            # A record's gradient is two outer products, so its norm needs the factors only.
            square = (error**2).sum(1) * (hidden**2).sum(1) + (back**2).sum(1) * (x**2).sum(1)
            cut = square.sqrt_().div_(self.config.clip).clamp_(min=1).reciprocal_()[:, None]
            error, back = error.mul_(cut), back.mul_(cut)
        first = product(back.flatten(0, 1), x.T).view(self.weights[0].shape)
        self.gradient = (first, torch.bmm(error, hidden.mT))

    def evaluate(self) -> tuple[Floats, Floats]:
        """Accuracy and mean cross-entropy on the test images, each (R,)."""
        w2 = self.weights[1]
        replicas, count = len(w2), len(self.test_y)
        correct = torch.zeros(replicas, device=w2.device, dtype=torch.float64)
        loss = torch.zeros_like(correct)
        block = max(500, 7_000 // replicas)  # the hidden activations no larger than a step's
        for low in range(0, count, block):
            y = self.test_y[low : low + block].expand(replicas, 1, -1)
            logits = torch.bmm(w2, self.hidden(self.test_x[low : low + block]))
            correct += (logits.max(1, keepdim=True).indices == y).sum((1, 2))  # argmax takes five times as long
            loss -= logits.log_softmax(1).gather(1, y).sum((1, 2), dtype=torch.float64)
        return (correct / count).cpu().numpy(), (loss / count).cpu().numpy()

"""FLAME's experiment: federated logistic regression, one round a batch of users, any of its methods as the server.

A user trains on its own few images from the current model by full-batch gradient descent and sends the change. With
m images of f features and Z = X W the logits, gradient descent never leaves W + span(X): the residuals of all steps
add up to an (m, classes) matrix A, and

    Z_t = Z_0 - (rate/m) X X^T A_t,    W_T - W = -(rate/m) X^T A_T,

so that a step costs m x m instead of f x classes, and a whole round of users is a few products of small matrices.

>>> from gspa.algorithms.digits import load
>>> from gspa.algorithms.flame.aggregation import Mean
>>> few = partition(load("digits"), users=60)
>>> runs = train(few, Mean(), Training(rounds=3, batches=2), seeds=[0])
>>> runs["accuracy"].iloc[-1] > runs["accuracy"].iloc[0]
np.True_
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gspa.accountant import arguments as check
from gspa.accountant.errors import InvalidValue
from gspa.algorithms.digits import Dataset
from gspa.algorithms.flame.aggregation import Aggregator
from gspa.algorithms.flame.noise import Replay, Source

_OFFSET = 0.001  # beside the standard deviation of a pixel's grey levels 0, 1, 2, ..., which may be 0
_LEVELS = {"mnist": 255, "digits": 16}
_BLOCK = 4000  # images at once: a copy of all of MNIST would be hundreds of megabytes

Floats = NDArray[np.float32]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Users:
    """Images by user.

    Attributes:
        x: float32, (users, images, features); the last feature is 1, for the bias.
        y: their labels, (users, images).
        test_x: everybody's held-out images together, (held out, features).
        test_y: their labels.
    """

    x: Floats = field(repr=False)
    y: Labels = field(repr=False)
    test_x: Floats = field(repr=False)
    test_y: Labels = field(repr=False)

    @property
    def classes(self) -> int:
        """Number of classes; always 10 here."""
        return int(self.test_y.max()) + 1

    @cached_property
    def gram(self) -> Floats:
        """Inner products of each user's images, (users, images, images)."""
        return np.asarray(self.x @ self.x.swapaxes(1, 2))

    def accuracies(self, weights: Sequence[Floats]) -> list[float]:
        """Share of the held-out images that each of these weights, (features, classes), classifies correctly."""
        logits = (self.test_x @ np.hstack(weights)).reshape(len(self.test_x), len(weights), -1)
        right = logits.argmax(axis=2) == self.test_y[:, None]
        return [float(share) for share in right.mean(axis=0)]


def partition(
    data: Dataset,
    *,
    users: int = 6_000,
    held_out: int = 3,
    seed: int = 7,
) -> Users:
    """Deal the images out, ten to each user.

    Args:
        data: from `gspa.algorithms.digits.load`, pixels in [0, 1].
        users: how many, at least 2.
        held_out: of a user's ten images, 1 to 9.
        seed: which of a user's images are held out.

    Raises:
        InvalidValue: an argument out of range, or more users than the rarest class has images.

    >>> from gspa.algorithms.digits import load
    >>> some = partition(load("digits"), users=100)
    >>> some.x.shape, some.test_x.shape
    ((100, 7, 65), (300, 65))
    """
    users, held_out = check.count(2, users=users), check.count(held_out=held_out)
    if held_out > 9:
        raise InvalidValue("held_out", held_out, "at most 9 of ten")
    labels = np.r_[data.train_y, data.test_y]
    classes = data.classes
    by_class = [np.flatnonzero(labels == c) for c in range(classes)]
    most = min(one.size for one in by_class)
    if users > most:
        raise InvalidValue("users", users, f"at most {most}", f"{data.name} has no more images of its rarest class")
    rng = np.random.default_rng([check.count(0, seed=seed), 10])
    dealt = np.stack([one[:users] for one in by_class], axis=1)
    dealt = rng.permuted(dealt, axis=1)
    y = labels[dealt]
    kept = classes - held_out
    law = _moments(data)
    return Users(
        _inputs(data, dealt[:, :kept].ravel(), law).reshape(users, kept, -1),
        y[:, :kept],
        _inputs(data, dealt[:, kept:].ravel(), law),
        y[:, kept:].ravel(),
    )


def _moments(data: Dataset) -> tuple[Floats, Floats]:
    """What is taken off each pixel, and what the rest is divided by: from all images."""
    pixels = data.train_x.shape[1]
    total = np.zeros((2, pixels))
    for part in (data.train_x, data.test_x):
        for low in range(0, len(part), _BLOCK):
            block = part[low : low + _BLOCK].astype(np.float64)
            total += block.sum(axis=0), (block**2).sum(axis=0)
    mean, square = total / (len(data.train_x) + len(data.test_x))
    offset = _OFFSET / _LEVELS[data.name]
    return mean.astype(np.float32), (np.sqrt(np.maximum(square - mean**2, 0)) + offset).astype(np.float32)


def _inputs(data: Dataset, chosen: Labels, law: tuple[Floats, Floats]) -> Floats:
    """The chosen images, scaled, with a feature of 1 behind them."""
    first, (mean, deviation) = len(data.train_x), law
    out = np.ones((chosen.size, mean.size + 1), dtype=np.float32)
    for low in range(0, chosen.size, _BLOCK):
        some = chosen[low : low + _BLOCK]
        early = some < first
        block = np.empty((some.size, mean.size), np.float32)
        block[early], block[~early] = data.train_x[some[early]], data.test_x[some[~early] - first]
        block -= mean
        block /= deviation
        out[low : low + _BLOCK, :-1] = block
    return out


@dataclass(frozen=True, kw_only=True)
class Training:
    """What is the same for every method; the paper states none of it, the defaults are the released code's.

    Attributes:
        rounds: twelve are two epochs of six batches.
        batches: disjoint parts of the users, one after the other; what is left over is not used.
        local_epochs: full-batch gradient steps of a user.
        local_rate: their size.
    """

    rounds: int = 12
    batches: int = 6
    local_epochs: int = 10
    local_rate: float = 0.1

    def __post_init__(self) -> None:
        check.fields(self, check.count, "rounds", "batches", "local_epochs")
        check.fields(self, check.positive, "local_rate")


def local_updates(x: Floats, y: Labels, weights: Floats, training: Training, *, device: str = "cpu") -> Floats:
    """Every user's change of the weights, row-major as (features, classes), shape (users, d).

    Args:
        x: (users, images, features).
        y: labels, (users, images).
        weights: (features, classes).
        training: local epochs and rate.
        device: "cpu", "cuda" or "cuda:k"; they differ by float32 rounding.

    Raises:
        InvalidValue: this machine has no such device.
    """
    truth = y == np.arange(weights.shape[1])[:, None, None]
    return _updates(x, truth, np.moveaxis(x @ weights, 2, 0), x @ x.swapaxes(1, 2), training, device)


def _updates(
    x: Floats, truth: NDArray[np.bool_], start: Floats, gram: Floats, training: Training, device: str
) -> Floats:
    """`local_updates`; `truth`, (classes, users, images), is 1 at each image's label; `start` is X W and alike."""
    given = [np.ascontiguousarray(held, dtype=np.float32) for held in (x, truth, start, gram)]
    if device == "cpu":
        return np.asarray(_descended(np, *given, training=training))
    # Only here: torch takes seconds to import, and the CPU does not need it.
    import torch

    from gspa.algorithms._device import find

    where = find(device)
    moved = (torch.from_numpy(held).to(where) for held in given)
    return np.asarray(_descended(torch, *moved, training=training).cpu().numpy())


def _descended(xp: Any, x: Any, truth: Any, start: Any, gram: Any, *, training: Training) -> Any:
    """`_updates` in the arrays of `xp`, numpy or torch. Classes come first: sums over them are then of whole rows."""
    gram = gram * (-training.local_rate / x.shape[1])
    residuals = xp.zeros_like(start)
    for _ in range(training.local_epochs):
        logits = start + xp.moveaxis(gram @ xp.moveaxis(residuals, 0, 2), 2, 0)
        logits -= xp.amax(logits, axis=0)
        chances = xp.exp(logits)
        residuals += chances / chances.sum(axis=0) - truth
    residuals *= -training.local_rate / x.shape[1]
    return (x.swapaxes(1, 2) @ xp.moveaxis(residuals, 0, 2)).reshape(len(x), -1)


def initial_weights(features: int, classes: int, seed: int) -> Floats:
    """Glorot's uniform start with biases of 0, as the released code; the last feature is the bias."""
    features, classes, seed = check.count(2, features=features), check.count(2, classes=classes), check.seed(seed=seed)
    limit = math.sqrt(6 / (features - 1 + classes))
    weights = np.zeros((features, classes), dtype=np.float32)
    weights[:-1] = np.random.default_rng([seed, 0]).uniform(-limit, limit, size=(features - 1, classes))
    return weights


def train(
    users: Users,
    aggregator: Aggregator,
    training: Training,
    *,
    seeds: Sequence[int],
    noise: str = "fresh",
    device: str = "cpu",
    evaluate_every: int = 1,
) -> pd.DataFrame:
    """A run for each seed, side by side: they read the images once a round.

    Args:
        users: who holds what.
        aggregator: the method, from `gspa.algorithms.flame.aggregation`.
        training: the rest.
        seeds: of the starting weights, and of the noise unless it is the released trainer's; at least one.
        noise: one of `gspa.algorithms.flame.noise.KINDS`.
        device: where users train: "cpu", "cuda" or "cuda:k". Noise is drawn on the CPU, the same for each device.
        evaluate_every: test after every so many rounds; the start and the last round are always tested.

    Returns:
        One row a seed and round, the start included: `seed`, `round`, `accuracy` on the held-out images, in [0, 1]
        and NaN where it was not tested, `largest` and `overflowing` (`gspa.algorithms.flame.aggregation.Step`). The
        other seeds change a run by float32 rounding at most.

    Raises:
        InvalidValue: no seed, fewer users than batches, no such device, or `evaluate_every` below 1.
    """
    seeds = [check.count(0, **{f"seeds[{i}]": seed}) for i, seed in enumerate(check.row(seeds=seeds))]
    if not seeds:
        raise InvalidValue("seeds", seeds, "a non-empty sequence of integers >= 0")
    every, sources = check.count(evaluate_every=evaluate_every), [Source(noise, seed) for seed in seeds]
    batch = len(users.x) // training.batches
    if batch == 0:
        raise InvalidValue("batches", training.batches, f"at most {len(users.x)}, the number of users")
    features, classes = users.x.shape[2], users.classes
    truth = users.y == np.arange(classes)[:, None, None]
    weights = [initial_weights(features, classes, seed) for seed in seeds]
    runs = [[(seed, 0, accuracy, 0, 0)] for seed, accuracy in zip(seeds, users.accuracies(weights), strict=True)]
    for number in range(training.rounds):
        first = number % training.batches * batch
        part = slice(first, first + batch)
        x, images = users.x[part], users.x.shape[1]
        logits = (np.hstack(weights).T @ x.reshape(-1, features).T).reshape(len(seeds), classes, batch, images)
        steps = []
        for which, source in enumerate(sources):
            updates = _updates(x, truth[:, part], logits[which], users.gram[part], training, device)
            steps.append(aggregator(updates, number, source))
        weights = [
            old + step.z.reshape(features, -1).astype(np.float32) for old, step in zip(weights, steps, strict=True)
        ]
        tested = (number + 1) % every == 0 or number + 1 == training.rounds
        accuracies = users.accuracies(weights) if tested else [math.nan] * len(seeds)
        for run, accuracy, step in zip(runs, accuracies, steps, strict=True):
            run.append((run[0][0], number + 1, accuracy, step.largest, step.overflowing))
    Replay.forget()
    names = ["seed", "round", "accuracy", "largest", "overflowing"]
    return pd.DataFrame([row for run in runs for row in run], columns=names)

"""FLAME's experiment: federated logistic regression, one round a batch of users, any of its methods as the server.

A user trains on its own few images from the current model by full-batch gradient descent and sends the change. With
m images of f features and Z = X W the logits, gradient descent never leaves W + span(X): the residuals of all steps
add up to an (m, classes) matrix A, and

    Z_t = Z_0 - (rate/m) X X^T A_t,    W_T - W = -(rate/m) X^T A_T,

so that a step costs m x m instead of f x classes, and a whole round of users is a few products of small matrices.

>>> from gspa.algorithms.digits import load
>>> from gspa.algorithms.flame.aggregation import Mean
>>> from gspa.algorithms.flame.users import partition
>>> few = partition(load("digits"), users=60)
>>> runs = train(few, Mean(), Training(rounds=3, batches=2), seeds=[0])
>>> runs["accuracy"].iloc[-1] > runs["accuracy"].iloc[0]
np.True_
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gspa.accountant import arguments as check
from gspa.accountant.errors import InvalidValue
from gspa.algorithms.flame.aggregation import Aggregator
from gspa.algorithms.flame.noise import Source, forget
from gspa.algorithms.flame.users import Users

Floats = NDArray[np.float32]


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
        for name in ("rounds", "batches", "local_epochs"):
            check.count(**{name: getattr(self, name)})
        check.positive(local_rate=self.local_rate)


def local_updates(
    x: Floats, y: NDArray[np.int64], weights: Floats, training: Training, *, device: str = "cpu"
) -> Floats:
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
    forget()
    names = ["seed", "round", "accuracy", "largest", "overflowing"]
    return pd.DataFrame([row for run in runs for row in run], columns=names)

"""Who holds which images in FLAME's experiment: a few images each, some for training and the rest for the test.

Implements what the released code does and the paper leaves out: training and test images together,
standardized pixel by pixel, dealt out in their order, one of each class to each user; of a user's ten, seven train.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gspa.accountant import arguments as check
from gspa.accountant.errors import InvalidValue
from gspa.algorithms.digits import Dataset

_OFFSET = 0.001  # beside the standard deviation of a pixel's grey levels 0, 1, 2, ..., which may be 0
_LEVELS = {"mnist": 255, "digits": 16}
_BLOCK = 4000  # images at once: a copy of all of MNIST would be hundreds of megabytes

Floats = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]


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

    @property
    def dimension(self) -> int:
        """d: weights of a logistic regression, biases included."""
        return int(self.x.shape[2]) * self.classes

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
    >>> some.x.shape, some.test_x.shape, some.dimension
    ((100, 7, 65), (300, 65), 650)
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

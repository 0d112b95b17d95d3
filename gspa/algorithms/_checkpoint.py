"""Where a long training stands: enough, in one small file, to go on with identical results."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from gspa.algorithms import _npz
from gspa.algorithms._mnist_files import cache
from gspa.algorithms.digits import Dataset
from gspa.algorithms.sgd_batch import Batch, Floats
from gspa.algorithms.sgd_config import SgdConfig
from gspa.files import digest, digest_tree

Epochs = npt.NDArray[np.int64]

EVERY = 5  # epochs between two checkpoints: about a second of MNIST training, so a kill costs that
_ARRAYS = ("w1", "w2", "longest")
_NAMES = {"epoch", *_ARRAYS, "generator", "found"}
_STALE = 7 * 24 * 3600  # seconds: a run nobody came back to for a week


class Checkpoint:
    """The file of one batch of replicas.

    Its name is a digest of everything the result depends on, so a checkpoint of another run is never
    taken up: settings, seeds, noise, data, device, torch's version and this package's sources.
    """

    def __init__(
        self,
        folder: Path,
        data: Dataset,
        config: SgdConfig,
        seed: int,
        sigma: Floats,
        epochs: Epochs,
        where: torch.device,
    ) -> None:
        images = (data.train_x, data.train_y, data.test_x, data.test_y)
        key = digest(
            digest_tree(Path(__file__).parent, ("*sgd*.py", "_checkpoint.py")),
            repr((astuple(config), seed, epochs.tolist(), str(where), torch.__version__)),
            np.ascontiguousarray(sigma).tobytes(),
            *(repr((array.shape, array.dtype.str)) for array in images),
            *(np.ascontiguousarray(array).tobytes() for array in images),
        )
        self.path = folder / f"sgd-{key[:32]}.npz"

    def restore(self, batch: Batch, found: Floats) -> int:
        """Put a fresh batch, and the results so far (2, R, E), where the last checkpoint left them.

        Returns:
            The epoch that was finished; -1 with nothing changed when there is no sound checkpoint.
        """
        stored = _npz.read(self.path)
        if stored is None or not set(stored) >= _NAMES or stored["found"].shape != found.shape:
            return -1
        epoch = int(stored["epoch"])
        batch.restore(epoch, [stored[name] for name in _ARRAYS], stored["generator"])
        found[:] = stored["found"]
        return epoch

    def save(self, epoch: int, batch: Batch, found: Floats) -> None:
        """Replace the file in one step. A disk that refuses costs the checkpoint, not the run."""
        arrays, generator = batch.state()
        named = dict(zip(_ARRAYS, arrays, strict=True))
        _npz.write(self.path, {"epoch": np.array(epoch), **named, "generator": generator, "found": found})


def default_folder() -> Path | None:
    """Where notebooks keep their checkpoints: under the user's cache, or nowhere (None) without a home."""
    return cache("checkpoints")


def forget(folder: Path, files: Sequence[str]) -> None:
    """Remove the checkpoints of a run that is complete, and those that nobody came back to."""
    for name in files:
        (folder / name).unlink(missing_ok=True)
    for path in folder.glob("sgd-*.npz"):
        try:
            if time.time() - os.path.getmtime(path) > _STALE:
                path.unlink(missing_ok=True)
        except OSError:  # gone already, or not ours to remove
            continue

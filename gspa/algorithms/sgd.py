"""Algorithm 3 of Chen et al. 2024: personalized private SGD, the replicas of a seed as one batch.

A *replica* is one training run: a seed and one local budget per client. The replicas of one seed visit
the same images in the same order, so their small matrix products are stacked and run together; a replica's
result depends on its own seed and budgets only, not on the batch it happens to be in.

The paper prints the clipping bound, delta, step size, number of clients and epochs (Table 3)
and leaves the rest open. Everything it leaves open is a named field of `SgdConfig`.

This module says what Algorithm 3 *does*. It clips the client's average gradient, so one record
can move the released vector by 2C whatever the batch size: the printed noise does not make client
i's message (eps_i, delta_i)-LDP. `SgdConfig.clipped` has the repair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from gspa.accountant import arguments as _validate
from gspa.accountant.budgets import draw
from gspa.accountant.errors import InvalidBudget, InvalidValue
from gspa.algorithms._checkpoint import EVERY, Checkpoint, default_folder, forget
from gspa.algorithms._device import find
from gspa.algorithms.digits import Dataset
from gspa.algorithms.sgd_batch import Batch, Floats, streams
from gspa.algorithms.sgd_config import SgdConfig

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "SgdConfig",
    "SgdResult",
    "client_budgets",
    "default_folder",
    "forget",
    "gaussian_sigma",
    "train",
    "visiting_order",
]

# Replicas of one seed that train as one batch. On a CPU more of them push each other out of the cache.
_TOGETHER = {"cpu": 8, "cuda": 256}


@dataclass(frozen=True, kw_only=True)
class SgdResult:
    """What `train` measured. R replicas, E evaluated epochs.

    Attributes:
        accuracy: (R, E), share of test images classified correctly.
        test_loss: (R, E), mean cross-entropy on the test images, nats.
        epochs: (E,), the epochs evaluated; the first is 0, before any step.
        sigma: (R, clients), standard deviation of the noise on each coordinate of a client's gradient.
        longest: (R,), the largest norm of a client's average gradient before the clip, which acts above C only.
        seeds: One per replica.
        labels: The setting of each replica, as given to `train`.
        config, samples_per_client, data, device, torch_version: What was run, on what.
        checkpoints: Names of the files left in the folder given to `train`.
    """

    accuracy: Floats
    test_loss: Floats
    epochs: npt.NDArray[np.int64]
    sigma: Floats
    longest: Floats
    seeds: tuple[int, ...]
    labels: tuple[str, ...]
    config: SgdConfig
    samples_per_client: int
    data: str
    device: str
    torch_version: str
    checkpoints: tuple[str, ...] = ()

    @property
    def final_accuracy(self) -> Floats:
        """Test accuracy after the last epoch, (R,)."""
        return self.accuracy[:, -1]

    def to_frame(self) -> pd.DataFrame:
        """Tidy table: setting, seed, epoch, accuracy, test_loss; one row per replica and epoch."""
        import pandas as pd

        width = len(self.epochs)
        return pd.DataFrame(
            {
                "setting": np.repeat(np.array(self.labels, dtype=object), width),
                "seed": np.repeat(np.array(self.seeds, dtype=np.int64), width),
                "epoch": np.tile(self.epochs, len(self.seeds)),
                "accuracy": self.accuracy.ravel(),
                "test_loss": self.test_loss.ravel(),
            }
        )


def gaussian_sigma(eps: npt.ArrayLike, *, clip: float, divisor: int, delta: float) -> Floats:
    """Noise of Algorithm 3, line 7, as printed: (2C/m) sqrt(2 ln(1.25/delta)) / eps.

    The formula is the classical Gaussian mechanism for sensitivity 2C/m and is proved for eps < 1 only;
    it is evaluated here for every eps > 0 because the paper does so.

    Args:
        eps: Local budgets > 0, any shape; inf gives 0 (no noise).
        clip: C > 0.
        divisor: m >= 1.
        delta: in (0, 1).

    Returns:
        Standard deviation per coordinate, same shape as `eps`.

    Raises:
        InvalidBudget: an eps is not > 0.
        InvalidValue: clip, divisor or delta out of range.

    >>> print(round(float(gaussian_sigma(0.5, clip=2.0, divisor=100, delta=1e-5)), 4))
    0.3876
    """
    clip, divisor = _validate.positive(clip=clip), _validate.count(divisor=divisor)
    delta = _validate.probability(delta=delta, allow_zero=False)
    budgets = _validate.floats(eps=eps)
    bad = ~(budgets > 0)  # also catches nan
    if bad.any():
        raise InvalidBudget("eps", float(budgets[bad].flat[0]), "> 0", "inf means no noise")
    with np.errstate(over="ignore"):
        sigma: Floats = 2 * clip / divisor * np.sqrt(2 * np.log(1.25 / delta)) / budgets
    if not np.isfinite(sigma).all():
        raise InvalidBudget("eps", float(budgets.min()), "so large that its noise is a finite number")
    return sigma


def client_budgets(law: str, *, clients: int, seeds: Sequence[int]) -> Floats:
    """Local budgets of one of the paper's laws, drawn anew for each seed and dealt out to the clients.

    They have a stream of their own: replicas of one seed train from the same start under every law.

    Args:
        law: a key of `gspa.accountant.budgets.DISTRIBUTIONS`.
        clients: >= 1.
        seeds: >= 0, one or more.

    Returns:
        A row a seed, a column a client.

    Raises:
        UnknownName: no such law.
    """
    drawn = []
    for seed in _validate.row(seeds=seeds):
        rng = np.random.default_rng([_validate.seed(seed=seed), 1])
        # The halves of "Mixed Constant" come in order; clients hold different images, so deal them out.
        drawn.append(rng.permutation(draw(law, n=clients, rng=rng).expanded().eps))
    return np.array(drawn)


def visiting_order(seed: int, *, clients: int) -> npt.NDArray[np.int64]:
    """The clients in the order in which the replica of this seed visits them.

    In every epoch when `client_order` is "once", in the first one else.

    Args:
        seed: >= 0.
        clients: >= 1.
    """
    order = streams(_validate.seed(seed=seed))[2]
    return np.random.default_rng(order).permutation(_validate.count(clients=clients))


def train(
    data: Dataset,
    eps: npt.ArrayLike | None,
    config: SgdConfig | None = None,
    *,
    seeds: Sequence[int],
    labels: Sequence[str] | str = "",
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
    evaluate_every: int = 1,
    checkpoints: Path | None = None,
) -> SgdResult:
    """Train one replica per seed with Algorithm 3 and measure its test accuracy.

    Args:
        data: Training and test images (`gspa.algorithms.digits.load`, `project`).
        eps: Local budgets > 0, broadcast to (len(seeds), clients); entry (r, i) belongs to client i of
            replica r. inf: that client adds no noise. None: nobody does. Clipping stays on in each case.
        config: Settings; None means `SgdConfig()`.
        seeds: One non-negative integer per replica. Replicas with one seed share the initial point, split, order
            and the standard normals that sigma scales (common random numbers), and train together, which is faster.
        labels: A name of the setting per replica, or one for all; used by `SgdResult.to_frame`.
        device: "cpu", "cuda" or "cuda:k". CPU and GPU draw different noise from the same seed.
        progress: Called after each epoch with (replica-epochs done, replica-epochs in total).
        evaluate_every: Test after every so many epochs; epoch 0 and the last are always tested.
        checkpoints: A folder to note down in, every few epochs, where the training stands. The same call finds
            its notes there and goes on, with the same bytes as if it had never stopped. None: no notes.
            They stay when the run is complete: `SgdResult.checkpoints` names them.

    Returns:
        An `SgdResult`. On one machine and device the same arguments give the same bytes. The other replicas
        in the batch, and another machine, change float32 rounding at most.

    Raises:
        InvalidBudget: an eps is not > 0, or its shape does not fit.
        InvalidValue: a setting is out of range, there are more clients than samples, or the device is absent.

    Implements Algorithm 3 of Chen et al. 2024 with cross-entropy loss and one ReLU layer.
    """
    config = SgdConfig() if config is None else config
    if not isinstance(config, SgdConfig):
        raise InvalidValue("config", config, "an SgdConfig")
    # Not of any size, because the table has a column of them.
    seeds = tuple(_validate.count(0, **{f"seeds[{i}]": seed}) for i, seed in enumerate(_validate.row(seeds=seeds)))
    if not seeds:
        raise InvalidValue("seeds", seeds, "a non-empty sequence of integers >= 0")
    labels = (labels,) * len(seeds) if isinstance(labels, str) else tuple(labels)
    if len(labels) != len(seeds):
        raise InvalidValue("labels", labels, f"one name or {len(seeds)}, one per seed")
    where, every = find(device), _validate.count(evaluate_every=evaluate_every)
    samples = len(data.train_x) // config.clients
    if samples == 0:
        raise InvalidValue("clients", config.clients, f"at most the {len(data.train_x)} training samples")
    budgets = _validate.floats(eps=np.inf if eps is None else eps)
    shape = (len(seeds), config.clients)
    try:
        budgets = np.broadcast_to(budgets, shape)
    except ValueError:
        raise InvalidBudget("eps.shape", budgets.shape, f"broadcastable to (seeds, clients) = {shape}") from None
    divisor = config.clients if config.noise_divisor == "clients" else samples
    sigma = gaussian_sigma(budgets, clip=config.clip, divisor=divisor, delta=config.delta)

    epochs = np.array([t for t in range(config.epochs + 1) if t % every == 0 or t == config.epochs])
    accuracy = np.full((len(seeds), len(epochs)), np.nan)
    test_loss, longest = np.full_like(accuracy, np.nan), np.zeros(len(seeds))
    total, done, files = len(seeds) * config.epochs, 0, []
    with arithmetic():
        for rows in _batches(seeds, _TOGETHER[where.type]):
            seed = seeds[rows[0]]
            batch = Batch(data, sigma[rows], config, seed, samples, where)
            note = None
            if checkpoints is not None:
                note = Checkpoint(checkpoints, data, config, seed, sigma[rows], epochs, where)
            found = np.full((2, len(rows), len(epochs)), np.nan)  # accuracy and loss
            last = -1 if note is None else note.restore(batch, found)
            for epoch in range(last + 1, config.epochs + 1):
                if epoch:
                    batch.epoch(epoch)
                column = int(np.searchsorted(epochs, epoch))
                if epoch == epochs[column]:
                    found[:, :, column] = batch.evaluate()
                if note is not None and (epoch % EVERY == 0 or epoch == config.epochs):
                    note.save(epoch, batch, found)
                if epoch and progress is not None:
                    progress(done + epoch * len(rows), total)
            accuracy[rows], test_loss[rows] = found
            longest[rows] = batch.longest.cpu().numpy() / batch.divisor
            done += len(rows) * config.epochs
            files += [] if note is None else [note.path.name]
    return SgdResult(
        accuracy=accuracy,
        test_loss=test_loss,
        epochs=epochs,
        sigma=sigma,
        longest=longest,
        seeds=seeds,
        labels=labels,
        config=config,
        samples_per_client=samples,
        data=f"{data.name} ({data.preprocessing})",
        device=str(where),
        torch_version=str(torch.__version__),
        checkpoints=tuple(files),
    )


def _batches(seeds: Sequence[int], most: int) -> Iterator[list[int]]:
    """Replicas that train together: those of one seed, so many at most."""
    for seed in dict.fromkeys(seeds):
        rows = [row for row, other in enumerate(seeds) if other == seed]
        yield from (rows[low : low + most] for low in range(0, len(rows), most))


@contextmanager
def arithmetic() -> Iterator[None]:
    """Run torch on one thread, with 0 for numbers below float32's normal ones, then restore.

    Matrices this small lose more to a second thread's waiting than they gain: on a busy machine it was
    ten times slower. One thread also keeps the bytes the same whatever the number of cores; to use
    more cores, run several processes. Noise drives a network to chances below 1e-38, and numbers that small
    made training on some processors take twice as long.
    """
    threads, flushed = torch.get_num_threads(), not (torch.full((1,), 1e-39) * 1.0).item()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_flush_denormal(flushed)

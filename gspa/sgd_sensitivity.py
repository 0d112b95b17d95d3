"""How far one record moves the message of an Algorithm 3 client: networks with one ReLU layer, in float64.

Lines 12-14 clip the *average* of a client's gradients to norm C. `growing_record` and `growing_weights` construct
neighbouring clients whose clipped averages are nearly C u and -C u; `real_movements` and `valid_movement` look for the
largest movement between images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch

from gspa import _validate as check
from gspa import datasets
from gspa._sgd_batch import Batch
from gspa._sgd_gradients import Client, Gradients, clipped
from gspa.datasets import Dataset
from gspa.errors import InvalidValue
from gspa.experiments import budget_matrix, setting_label
from gspa.sgd import _one_thread, gaussian_sigma
from gspa.sgd_config import SgdConfig

_BISECTIONS = 60
_ASCENT = 60  # steps of a twentieth of the pixel range


def visited(
    data: Dataset, eps: npt.ArrayLike | None, config: SgdConfig, *, epochs: Sequence[int], seed: int
) -> list[Client]:
    """The weights that one training run passes through, each with the client that line 3 puts first.

    Args:
        data: reduced images (`gspa.datasets.project`).
        eps: local budgets, as `gspa.sgd.train` takes them for one replica.
        config: Algorithm 3's settings.
        epochs: after how many epochs to look, >= 0.
        seed: of the run.

    Raises:
        InvalidValue, InvalidBudget: as `gspa.sgd.train`.
    """
    samples = len(data.train_x) // config.clients
    if samples == 0:
        raise InvalidValue("clients", config.clients, f"at most the {len(data.train_x)} training samples")
    wanted = check.counts(0, epochs=epochs)
    divisor = config.clients if config.noise_divisor == "clients" else samples
    given = check.floats(eps=np.inf if eps is None else eps)
    if given.shape not in ((), (1,), (config.clients,), (1, config.clients)):
        raise InvalidValue("shape of eps", given.shape, f"(clients,) = ({config.clients},), or one number")
    budgets = np.broadcast_to(given, (1, config.clients))
    sigma = gaussian_sigma(budgets, clip=config.clip, divisor=divisor, delta=config.delta)
    dims = (data.train_x.shape[1], config.hidden_width, data.classes)
    found = []
    with _one_thread():
        batch = Batch(data, sigma, config, [check.seed(seed=seed)], samples, dims, torch.device("cpu"))
        for epoch in range(max(wanted) + 1):
            if epoch:
                batch.epoch(epoch)
            if epoch in wanted:
                parts = (batch.w1[0], batch.b1[0, :, 0], batch.w2[0], batch.b2[0, :, 0], batch.x[0, 0])
                w1, b1, w2, b2, x = (part.to(torch.float64, copy=True) for part in parts)
                found.append(Client(w1, b1, w2, b2, x, batch.target[0, 0].argmax(0), epoch))
    return found


def pool(data: Dataset, size: int = 1000) -> torch.Tensor:
    """The last `size` training records, float64: real records to build with."""
    return torch.from_numpy(data.train_x[-check.count(size=size) :]).double()


def _tied(client: Client, pair: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, list[int]]:
    """The point between two inputs of different classes where the network cannot decide, and the two classes."""
    near, far = pair
    start = int(client.logits(near[None]).argmax())
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        same = int(client.logits(torch.lerp(near, far, middle)[None]).argmax()) == start
        low, high = (middle, high) if same else (low, middle)
    x = torch.lerp(near, far, 0.5 * (low + high))
    return x, client.logits(x[None])[0].topk(2).indices.tolist()


def _apart(client: Client, pool: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two inputs to which the network gives different classes."""
    classes = client.logits(pool).argmax(1)
    other = (classes != classes[0]).nonzero()
    if len(other) == 0:
        raise InvalidValue("pool", f"{len(pool)} inputs", "inputs to which the network gives two classes")
    return pool[0], pool[int(other[0])]


def _label_movement(client: Client, x: torch.Tensor, labels: Sequence[int], clip: float) -> float:
    """Distance of the clipped averages when record 0 is (x, labels[0]) or (x, labels[1])."""
    ends = []
    for label in labels:
        images, classes = client.x.clone(), client.y.clone()
        images[0], classes[0] = x, label
        ends.append(clipped(Gradients.of(client, images, classes).mean(), clip))
    return float((ends[0] - ends[1]).norm())


def growing_record(client: Client, pool: torch.Tensor, *, clip: float, factors: Sequence[float]) -> pd.DataFrame:
    """One record of any size: its label decides whether the clipped average is near C u or -C u.

    The record is a mixture of two real ones, times a factor, at which the network's two best classes tie; then
    its gradient for one label is minus that for the other, and grows with the factor. The other records are real.

    Args:
        client: weights and records; the first record is the one replaced.
        pool: (c, d), real records to mix.
        clip: C > 0.
        factors: > 0; 1 is the size of a real record.

    Returns:
        One row a factor: `factor`, `norm` (of the record's features), `movement`, `share` (of 2C).

    Raises:
        InvalidValue: clip out of range, or the network gives all of the pool one class.
    """
    clip = check.positive(clip=clip)
    near, far = _apart(client, pool)
    rows = []
    for factor in check.numbers(0, 1e30, factors=factors):
        x, labels = _tied(client, (factor * near, factor * far))
        moved = _label_movement(client, x, labels, clip)
        rows.append({"factor": factor, "norm": float(x.norm()), "movement": moved, "share": moved / (2 * clip)})
    return pd.DataFrame(rows)


def growing_weights(client: Client, pool: torch.Tensor, *, clip: float, factors: Sequence[float]) -> pd.DataFrame:
    """Pixels in range, weights of any size: the same with a mixture of two images, and real images for the rest.

    The rest are images of the pool on which the network is surest, with the classes that it gives them. With the last
    layer `factor` times as large their gradients vanish, while that of the undecided record grows. Line 2 lets the
    starting weights be arbitrary, and the noise reaches all weights with positive density, so a local guarantee
    (Definition 6: "for all values of auxiliary inputs") has to hold there too.

    Args:
        client: weights; only the number of its records is used.
        pool: (c, d), real records.
        clip: C > 0.
        factors: > 0.

    Returns:
        As `growing_record`, without `norm`.

    Raises:
        InvalidValue: as `growing_record`.
    """
    clip = check.positive(clip=clip)
    near, far = _apart(client, pool)
    best = client.logits(pool).topk(2)
    surest = (best.values[:, 1] - best.values[:, 0]).argsort(stable=True)[: max(1, len(pool) // 2)]
    kept = surest[torch.arange(len(client.x)) % len(surest)]
    sure = replace(client, x=pool[kept], y=best.indices[kept, 0])
    rows = []
    for factor in check.numbers(0, 1e30, factors=factors):
        sharp = sure.sharper(factor)
        x, labels = _tied(sharp, (near, far))
        moved = _label_movement(sharp, x, labels, clip)
        rows.append({"factor": factor, "movement": moved, "share": moved / (2 * clip)})
    return pd.DataFrame(rows)


def largest_movement(client: Client, x: torch.Tensor, *, clip: float, classes: int = 10) -> float:
    """Largest movement of the clipped average when one of the client's records becomes one of x, with any label.

    Args:
        client: weights and records.
        x: (c, d), the candidates.
        clip: C > 0.
        classes: number of labels.
    """
    clip, size, classes = check.positive(clip=clip), len(client.x), check.count(2, classes=classes)
    own = Gradients.of(client, client.x, client.y)
    new = Gradients.of(client, x.repeat(classes, 1), torch.arange(classes).repeat_interleave(len(x)))
    mean = own.mean()
    square = float(mean @ mean)
    old_on, new_on = own.onto(mean)[:, None], new.onto(mean)[None]
    gap = (own.squares()[:, None] + new.squares()[None] - 2 * own.products(new)).clamp(min=0)  # |g' - g|^2
    across = (new_on - old_on) / size
    moved = (square + 2 * across + gap / size**2).clamp(min=0)  # squared norm of the new average
    before = 1 / max(1.0, square**0.5 / clip)
    after = 1 / (moved.sqrt() / clip).clamp(min=1)
    distance = before**2 * square + after**2 * moved - 2 * before * after * (square + across)
    return float(distance.clamp(min=0).max().sqrt())


def real_movements(
    data: Dataset, config: SgdConfig, *, settings: Sequence[str], epochs: Sequence[int], seed: int = 0
) -> pd.DataFrame:
    """The largest movement between real images at the weights that training visits.

    One record of the first client becomes one of the last 600 training images, with any of the labels.

    Args:
        data: reduced images.
        config: Algorithm 3's settings; its `epochs` are not used.
        settings: keys of `gspa.budgets.DISTRIBUTIONS`, or `gspa.experiments.NO_NOISE`.
        epochs: when to look.
        seed: of the run.

    Returns:
        One row for each (setting, epoch): `setting`, `epoch`, `movement`, `share` (of 2C).
    """
    others = pool(data, 600)
    rows = []
    for name in settings:
        eps = budget_matrix(name, clients=config.clients, seeds=[seed])[0]
        for client in visited(data, eps, config, epochs=epochs, seed=seed):
            moved = largest_movement(client, others, clip=config.clip, classes=data.classes)
            rows.append(
                {
                    "setting": setting_label(name),
                    "epoch": client.epoch,
                    "movement": moved,
                    "share": moved / (2 * config.clip),
                }
            )
    return pd.DataFrame(rows)


def valid_movement(
    client: Client, images: Dataset, *, clip: float, components: int, scaling: str = "none", starts: int = 20
) -> float:
    """The largest movement found between two images in [0, 1]^pixels in the place of the client's first record.

    Projected gradient ascent on the distance of the two gradients, over both images and the pairs of labels of real
    starting images. What it finds is attained; a larger one may exist.

    Args:
        client: weights and records of the reduced data.
        images: the unreduced data, as `gspa.datasets.load` gives it.
        clip: C > 0.
        components, scaling: as the reduction was made.
        starts: how many pairs of images to start from, >= 1.
    """
    clip, starts = check.positive(clip=clip), check.count(starts=starts)
    pixels = images.train_x.shape[1]
    # The reduction is affine: its value at 0 and at the unit images says what it is.
    probe = np.vstack([np.zeros((1, pixels)), np.eye(pixels)]).astype(np.float32)
    asked = replace(images, test_x=probe, test_y=np.zeros(len(probe), dtype=np.int64))
    scores = torch.from_numpy(datasets.project(asked, components=components, scaling=scaling).test_x).double()
    if scores.shape[1] != client.x.shape[1]:
        raise InvalidValue("components", components, f"the {client.x.shape[1]} of the client's records")
    origin, axes = scores[0], scores[1:] - scores[0]
    both = torch.from_numpy(images.train_x[: 2 * starts]).double()
    labels = torch.from_numpy(images.train_y[: 2 * starts])
    labels[starts:] = torch.where(
        labels[starts:] == labels[:starts], (labels[:starts] + 1) % images.classes, labels[starts:]
    )

    def pair(at: torch.Tensor) -> tuple[Gradients, Gradients]:
        reduced = at @ axes + origin
        return (
            Gradients.of(client, reduced[:starts], labels[:starts]),
            Gradients.of(client, reduced[starts:], labels[starts:]),
        )

    for step in range(_ASCENT):
        both.requires_grad_()
        one, two = pair(both)
        (one.squares() + two.squares() - 2 * one.products(two).diagonal()).sum().backward()  # type: ignore[no-untyped-call]
        with torch.no_grad():
            slope = both.grad
            assert slope is not None
            both = (both + 0.05 * (1 - step / _ASCENT) * slope.sign()).clamp(0, 1)
    whole, first = Gradients.of(client, client.x, client.y), Gradients.of(client, client.x[:1], client.y[:1])
    rest = whole.mean() * len(client.x) - first.mean()
    one, two = pair(both)
    best = 0.0
    for k in range(starts):
        ends = []
        for found in (one, two):
            record = Gradients(found.back[k : k + 1], found.x1[k : k + 1], found.error[k : k + 1], found.h1[k : k + 1])
            ends.append(clipped((rest + record.mean()) / len(client.x), clip))
        best = max(best, float((ends[0] - ends[1]).norm()))
    return best

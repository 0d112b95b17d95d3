"""Algorithm 3 repaired: the noise that keeps its promise, and the accuracy left.

Variants, all with the analytic Gaussian mechanism for the client's (eps_i, delta_i) except the first two:

* `printed`: Algorithm 3, the average clipped, line 7's noise;
* `same_noise`: every record's gradient clipped to C before averaging, line 7's noise;
* `record`: the same clip, sensitivity 2C/s: each message is (eps_i, delta_i)-DP for one replaced record;
* `record_run`: the same, for all T messages of the client together;
* `client`: the average clipped, sensitivity 2C: each message is (eps_i, delta_i)-DP for the client's whole data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch

from gspa import _validate as check
from gspa._parallel import workers
from gspa._sgd_batch import Batch
from gspa.datasets import Dataset
from gspa.errors import InvalidValue
from gspa.experiments import budget_matrix, setting_label
from gspa.mechanisms import analytic_gaussian_scale
from gspa.project import cores
from gspa.sgd import _one_thread, gaussian_sigma
from gspa.sgd_config import SgdConfig

Floats = npt.NDArray[np.float64]

VARIANTS = ("printed", "same_noise", "record", "record_run", "client")
_AT_ONCE = 4  # replicas in a batch
_WORTH_A_PROCESS = 400  # replica-epochs: a dozen seconds on MNIST


class RecordClipped(Batch):
    """R replicas in training, every record's gradient cut to norm C before it is averaged.

    The average then has norm <= C, so that the clip of lines 12-14 changes nothing.
    """

    def average_gradient(self, x: torch.Tensor, target: torch.Tensor) -> None:
        """Mean of the clipped gradients of x (R, s, d), one-hot target (R, k, s), into `gradient`.

        A record's gradient is two outer products, so its norm needs the factors only.
        """
        hidden = torch.baddbmm(self.b1, self.w1.mT, x.mT).relu_()
        error = torch.baddbmm(self.b2, self.w2, hidden).softmax(1).sub_(target)
        back = torch.bmm(self.w2.mT, error).mul_(hidden.sign())
        square = (error**2).sum(1) * ((hidden**2).sum(1) + 1) + (back**2).sum(1) * ((x**2).sum(2) + 1)
        weight = (square.sqrt_().div_(self.config.clip).clamp_(min=1).mul_(x.shape[1])).reciprocal_()[:, None]
        error *= weight
        back *= weight
        torch.bmm(error, hidden.mT, out=self.g_w2)
        torch.sum(error, 2, keepdim=True, out=self.g_b2)
        torch.bmm(x.mT, back.mT, out=self.g_w1)
        torch.sum(back, 2, keepdim=True, out=self.g_b1)


def noise(variant: str, eps: npt.ArrayLike, config: SgdConfig, *, samples: int) -> Floats:
    """Standard deviation on each coordinate of a client's message.

    Args:
        variant: one of `VARIANTS`.
        eps: local budgets > 0, any shape; inf gives 0.
        config: clip, delta, clients, epochs and line 7's m (`noise_divisor`).
        samples: records of a client.

    Raises:
        InvalidBudget, InvalidValue, UnknownName: an argument outside its range.
    """
    printed = gaussian_sigma(
        eps,
        clip=config.clip,
        divisor=config.clients if config.noise_divisor == "clients" else check.count(samples=samples),
        delta=config.delta,
    )
    if check.one_of(VARIANTS, variant=variant) in ("printed", "same_noise"):
        return printed
    sensitivity = 2 * config.clip / (1 if variant == "client" else check.count(samples=samples))
    if variant == "record_run":
        sensitivity *= math.sqrt(config.epochs)  # T Gaussian messages are one with mu sqrt(T)
    found, where = np.unique(np.asarray(eps, dtype=np.float64), return_inverse=True)
    scale = [
        0.0 if math.isinf(e) else analytic_gaussian_scale(eps=float(e), delta=config.delta, sensitivity=sensitivity)
        for e in found
    ]
    return np.array(scale)[where].reshape(np.shape(eps))


def train_variant(
    data: Dataset, eps: npt.ArrayLike, config: SgdConfig, *, variant: str, seeds: Sequence[int]
) -> Floats:
    """Final test accuracy of each seed's run, (len(seeds),).

    Starting weights, split, order and standard normals are those of `gspa.sgd.train` with the same seed.

    Args:
        data: reduced images.
        eps: local budgets > 0, broadcast to (len(seeds), clients).
        config: settings.
        variant: one of `VARIANTS`.
        seeds: integers >= 0.

    Raises:
        InvalidBudget, InvalidValue, UnknownName: an argument outside its range.
    """
    samples = len(data.train_x) // config.clients
    if samples == 0:
        raise InvalidValue("clients", config.clients, f"at most the {len(data.train_x)} training samples")
    seeds, sigma = check.seeds(seeds=seeds), noise(variant, eps, config, samples=samples)
    if sigma.shape not in ((), (1,), (config.clients,), (1, config.clients), (len(seeds), config.clients)):
        raise InvalidValue("shape of eps", sigma.shape, f"(clients,) = ({config.clients},), or one number")
    if not seeds:
        raise InvalidValue("seeds", seeds, "not empty")
    sigma = np.broadcast_to(sigma, (len(seeds), config.clients))
    dims = (data.train_x.shape[1], config.hidden_width, data.classes)
    kind = Batch if variant in ("printed", "client") else RecordClipped
    accuracy = []
    with _one_thread():
        for low in range(0, len(seeds), _AT_ONCE):
            part = slice(low, low + _AT_ONCE)
            batch = kind(data, sigma[part], config, seeds[part], samples, dims, torch.device("cpu"))
            for epoch in range(1, config.epochs + 1):
                batch.epoch(epoch)
            accuracy.append(batch.evaluate()[0])
    return np.concatenate(accuracy)


def _trained(data: Dataset, config: SgdConfig, seeds: tuple[int, ...], asked: tuple[str, str]) -> pd.DataFrame:
    variant, setting = asked
    eps = budget_matrix(setting, clients=config.clients, seeds=seeds)
    sigma = noise(variant, eps, config, samples=len(data.train_x) // config.clients)
    return pd.DataFrame(
        {
            "variant": variant,
            "setting": setting_label(setting),
            "seed": seeds,
            "accuracy": train_variant(data, eps, config, variant=variant, seeds=seeds),
            "noise": np.sqrt((sigma**2).mean(axis=1)),
        }
    )


def variants_table(
    data: Dataset,
    config: SgdConfig,
    *,
    seeds: Sequence[int],
    settings: Sequence[str] = ("constant", "unif3"),
    variants: Sequence[str] = VARIANTS,
    jobs: int | None = None,
) -> pd.DataFrame:
    """Final accuracy of every variant, setting and seed; budgets as in `gspa.experiments.figure4`.

    Args:
        data: reduced images.
        config: settings.
        seeds: one run each.
        settings: keys of `gspa.budgets.DISTRIBUTIONS`.
        variants: of `VARIANTS`.
        jobs: processes (default: the cores at hand); the result does not depend on it.

    Returns:
        One row for each (variant, setting, seed): `accuracy` in [0, 1], `noise` (root mean square of sigma).
    """
    seeds = check.seeds(seeds=seeds)
    if not seeds:
        raise InvalidValue("seeds", seeds, "at least one")
    asked = [(variant, setting) for variant in variants for setting in settings]
    at_once = min(check.count(jobs=jobs) if jobs is not None else cores(), len(asked))
    work = partial(_trained, data, config, tuple(seeds))
    # A process costs seconds to start.
    if at_once == 1 or len(asked) * len(seeds) * config.epochs < _WORTH_A_PROCESS:
        tables = [work(one) for one in asked]
    else:
        with workers(at_once) as pool:
            tables = list(pool.map(work, asked))
    return pd.concat(tables, ignore_index=True)


def variants_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy in percent over seeds, with its standard error: a row a variant and setting."""
    rows = []
    for (variant, setting), part in table.groupby(["variant", "setting"], sort=False):
        percent = 100 * part["accuracy"]
        rows.append(
            {
                "variant": variant,
                "setting": setting,
                "seeds": len(part),
                "accuracy (%)": percent.mean(),
                "standard error": percent.std(ddof=1) / len(percent) ** 0.5 if len(percent) > 1 else math.nan,
                "noise": part["noise"].mean(),
            }
        )
    return pd.DataFrame(rows)

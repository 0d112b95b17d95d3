"""Page 22: what the noise of Algorithm 3 (Chen et al. 2024) protects, one client alone and all of them shuffled, and
the noise that would keep its promises.

Two records, two sensitivities. Algorithm 3 clips a client's *average* gradient to norm C, so one record can move it by
2C: `growing_record` and `growing_weights` construct neighbouring clients whose clipped averages are nearly C u and
-C u. Were every record's gradient clipped to C before averaging over s records, one record would move it by 2C/s. The
printed noise assumes 2C/m.

Lower bounds on central privacy are of Algorithm 3 with the loss l(theta, x) = <theta, x>, whose gradient is the record
x whatever the model: then nothing is adaptive, and the laws along one direction are Gaussian mixtures.

>>> round(release_epsilon(0.5, delta=1e-5, divisor=100), 1), round(release_epsilon(0.5, delta=1e-5, divisor=1), 3)
(96.4, 0.353)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from scipy.integrate import quad
from scipy.special import gammaln, log_ndtr, logsumexp
from scipy.stats import chi2

from gspa.accountant import budgets as budget_laws
from gspa.accountant.budgets import Budgets
from gspa.accountant.closed_forms import gspa_mu
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.accountant.mechanisms import (
    analytic_gaussian_scale,
    classical_gaussian_limit,
    classical_gaussian_scale,
    gaussian_epsilon,
)
from gspa.accountant.tradeoff import gdp_epsilon
from gspa.algorithms import digits as datasets
from gspa.algorithms.digits import Dataset
from gspa.algorithms.sgd import arithmetic, client_budgets, gaussian_sigma
from gspa.algorithms.sgd_batch import Batch
from gspa.algorithms.sgd_config import SgdConfig
from gspa.algorithms.sgd_gradients import Client, Gradients, clipped
from gspa.book import processes
from gspa.book.claims import Outcome, judge, settles
from gspa.book.figures import DASHES, PALETTE, ROLES, keeps_data, role
from gspa.book.say import count
from gspa.book.text import number
from gspa.book.verdicts import Said, exactly, reading, unknown

Floats = npt.NDArray[np.float64]
NO_NOISE = "no noise"
NOISY = ("unif1", "unif2", "unif3", "constant", "mixed")
_WORTH_PROCESSES = 200  # epochs of MNIST at width 100: some six seconds


def setting_label(name: str) -> str:
    """A setting as the paper names it."""
    law = budget_laws.DISTRIBUTIONS.get(name)
    return f"{law.title}: {law.label}" if law else name


def budget_matrix(name: str, *, clients: int, seeds: Sequence[int]) -> Floats:
    """A row a seed, a column a client; inf without noise."""
    if name == NO_NOISE:
        return np.full((len(seeds), clients), np.inf)
    return client_budgets(name, clients=clients, seeds=seeds)


BUDGETS = (0.01, 0.1, 0.5, 1.0, 2.0)  # across Table 3's range
_BISECTIONS = 60
_ASCENT = 60  # steps of a twentieth of the pixel range
_MISSED = (0.1, 1e-2, 1e-3, 1e-5)  # share of the victim's own messages that an attack may call too long
_GRID = 400_000  # thresholds tried at once, times messages
_LEAST_LOG = -690.0  # chi2.logcdf underflows beyond it; a larger probability only weakens an attack


# --- tables: how far one record moves a message ------------------------------------------------------------


def divisor(config: SgdConfig, samples: int) -> int:
    """Line 7's m: the clients, or the records of one."""
    return config.clients if config.noise_divisor == "clients" else samples


def visited(
    data: Dataset, eps: npt.ArrayLike | None, config: SgdConfig, *, epochs: Sequence[int], seed: int
) -> list[Client]:
    """The weights of one training run after so many epochs, each with the client that line 3 puts first, in float64."""
    samples = len(data.train_x) // config.clients
    budgets = np.broadcast_to(np.asarray(np.inf if eps is None else eps, dtype=np.float64), (1, config.clients))
    sigma = gaussian_sigma(budgets, clip=config.clip, divisor=divisor(config, samples), delta=config.delta)
    found = []
    with arithmetic():
        batch = Batch(data, sigma, config, seed, samples, torch.device("cpu"))
        for epoch in range(max(epochs) + 1):
            if epoch:
                batch.epoch(epoch)
            if epoch in epochs:
                first, second = (part[0].to(torch.float64, copy=True) for part in batch.weights)
                network = (first[:, :-1].T, first[:, -1], second[:, :-1], second[:, -1])
                found.append(Client(*network, batch.x[0, :, :-1].double(), batch.target[0].argmax(0), epoch))
    return found


def pool(data: Dataset, size: int = 1000) -> torch.Tensor:
    """The last `size` training records, float64: real records to build with."""
    return torch.from_numpy(data.train_x[-size:]).double()


def _tied(client: Client, near: torch.Tensor, far: torch.Tensor) -> tuple[torch.Tensor, list[int]]:
    """The point between two inputs of different classes where the network cannot decide, and the two classes."""
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
    return pool[0], pool[int((classes != classes[0]).nonzero()[0])]


def label_movement(client: Client, x: torch.Tensor, labels: Sequence[int], clip: float) -> float:
    """Distance of the clipped averages when record 0 is (x, labels[0]) or (x, labels[1])."""
    ends = []
    for label in labels:
        images, classes = client.x.clone(), client.y.clone()
        images[0], classes[0] = x, label
        ends.append(clipped(Gradients.of(client, images, classes).mean(), clip))
    return float((ends[0] - ends[1]).norm())


def growing_record(client: Client, pool: torch.Tensor, *, clip: float, factors: Sequence[float]) -> pd.DataFrame:
    """One record of any size, whose label decides whether the clipped average is near C u or -C u.

    It is a mixture of two real ones, times a factor, at which the network's two best classes tie: its gradient for one
    label is minus that for the other. Columns: factor, norm (of its features), movement, share (of 2C).
    """
    near, far = _apart(client, pool)
    rows = []
    for factor in factors:
        x, labels = _tied(client, factor * near, factor * far)
        moved = label_movement(client, x, labels, clip)
        rows.append({"factor": factor, "norm": float(x.norm()), "movement": moved, "share": moved / (2 * clip)})
    return pd.DataFrame(rows)


def growing_weights(client: Client, pool: torch.Tensor, *, clip: float, factors: Sequence[float]) -> pd.DataFrame:
    """Pixels in range, weights of any size: factor (of the last layer), movement, share (of 2C).

    The record is a mixture of two images; the rest are images on which the network is surest, with the classes that it
    gives them, so that their gradients vanish as the factor grows, while that of the undecided record grows.
    """
    near, far = _apart(client, pool)
    best = client.logits(pool).topk(2)
    surest = (best.values[:, 1] - best.values[:, 0]).argsort(stable=True)[: max(1, len(pool) // 2)]
    kept = surest[torch.arange(len(client.x)) % len(surest)]
    sure = replace(client, x=pool[kept], y=best.indices[kept, 0])
    rows = []
    for factor in factors:
        sharp = sure.sharper(factor)
        moved = label_movement(sharp, *_tied(sharp, near, far), clip)
        rows.append({"factor": factor, "movement": moved, "share": moved / (2 * clip)})
    return pd.DataFrame(rows)


def largest_movement(client: Client, x: torch.Tensor, *, clip: float, classes: int = 10) -> float:
    """Largest movement of the clipped average when one of the client's records becomes one of x, with any label."""
    size = len(client.x)
    own = Gradients.of(client, client.x, client.y)
    mean = own.mean()
    square = float(mean @ mean)
    before = 1 / max(1.0, square**0.5 / clip)
    largest = 0.0
    for label in range(classes):  # one after the other: together they need hundreds of megabytes
        new = Gradients.of(client, x, torch.full((len(x),), label))
        gap = (own.squares()[:, None] + new.squares()[None] - 2 * own.products(new)).clamp(min=0)  # |g' - g|^2
        across = (new.onto(mean)[None] - own.onto(mean)[:, None]) / size
        moved = (square + 2 * across + gap / size**2).clamp(min=0)  # squared norm of the new average
        after = 1 / (moved.sqrt() / clip).clamp(min=1)
        distance = before**2 * square + after**2 * moved - 2 * before * after * (square + across)
        largest = max(largest, float(distance.max()))
    return math.sqrt(largest)


def real_movements(
    data: Dataset,
    config: SgdConfig,
    *,
    epochs: Sequence[int],
    settings: Sequence[str] = (NO_NOISE, "constant"),
    seed: int = 0,
) -> pd.DataFrame:
    """The largest movement at the weights that training visits: setting, epoch, movement, share of 2C.

    One record of the first client becomes one of the last 600 training images, with any of the labels.
    """
    others = pool(data, 600)
    rows = []
    for name in settings:
        eps = budget_matrix(name, clients=config.clients, seeds=[seed])[0]
        for client in visited(data, eps, config, epochs=epochs, seed=seed):
            moved = largest_movement(client, others, clip=config.clip, classes=data.classes)
            rows.append((setting_label(name), client.epoch, moved, moved / (2 * config.clip)))
    return pd.DataFrame(rows, columns=["setting", "epoch", "movement", "share of $2C$"])


def valid_movement(
    client: Client, images: Dataset, *, clip: float, components: int, scaling: str = "none", starts: int = 20
) -> float:
    """The largest movement found between two images in [0, 1]^pixels in the place of the client's first record.

    Projected gradient ascent on the distance of the two gradients, over both images, from `starts` pairs of real ones
    with their labels. What it finds is attained; a larger one may exist.
    """
    pixels = images.train_x.shape[1]
    # The reduction is affine: its value at 0 and at the unit images says what it is.
    probe = np.vstack([np.zeros((1, pixels)), np.eye(pixels)]).astype(np.float32)
    asked = replace(images, test_x=probe, test_y=np.zeros(len(probe), dtype=np.int64))
    scores = torch.from_numpy(datasets.project(asked, components=components, scaling=scaling).test_x).double()
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
    best = 0.0
    for k in range(starts):
        ends = []
        for found in pair(both):
            record = Gradients(found.back[k : k + 1], found.x1[k : k + 1], found.error[k : k + 1], found.h1[k : k + 1])
            ends.append(clipped((rest + record.mean()) / len(client.x), clip))
        best = max(best, float((ends[0] - ends[1]).norm()))
    return best


# --- tables: the local budget, and the noise that keeps it -------------------------------------------------


def release_mu(eps: float, *, delta: float, divisor: int, records: int = 1, epochs: int = 1) -> float:
    """mu of a client's messages with line 7's noise for (eps, delta), one record replaced; exact, and free of C.

    Line 7 has sigma = (2C/divisor) sqrt(2 log(1.25/delta))/eps, and a record moves a message by 2C/records: 1 when the
    average is clipped, the client's s when each gradient is. `epochs` messages compose to the root of their number.

    >>> round(release_mu(0.5, delta=1e-5, divisor=100), 2)
    10.32
    """
    scale = classical_gaussian_scale(eps=eps, delta=delta, sensitivity=1 / divisor)
    return math.sqrt(epochs) / (records * scale)


def release_epsilon(eps: float, *, delta: float, divisor: int, records: int = 1, epochs: int = 1) -> float:
    """The least local eps at delta of a client whom line 7 promises (eps, delta); the arguments of `release_mu`."""
    return gdp_epsilon(delta=delta, mu=release_mu(eps, delta=delta, divisor=divisor, records=records, epochs=epochs))


def local_table(eps: Sequence[float], *, delta: float, clients: int, samples: int, epochs: int) -> pd.DataFrame:
    """True local eps against the promised one, a row a budget.

    Columns: eps; clients, samples (one message as printed with that m); formula (the same noise if the sensitivity were
    2C/m); repaired (each record clipped, m the clients, one message), repaired_run (all epochs).
    """
    rows = []
    for e in eps:
        true = partial(release_epsilon, float(e), delta=delta)
        rows.append(
            {
                "eps": float(e),
                "clients": true(divisor=clients),
                "samples": true(divisor=samples),
                "formula": true(divisor=1),
                "repaired": true(divisor=clients, records=samples),
                "repaired_run": true(divisor=clients, records=samples, epochs=epochs),
            }
        )
    return pd.DataFrame(rows)


class RecordClipped(Batch):
    """R replicas of one seed in training, every record's gradient cut to norm C before it is averaged.

    The average over the records then has norm <= C, so that the clip of lines 12-14 changes nothing.
    """

    def sum_gradients(self, x: torch.Tensor, target: torch.Tensor) -> None:
        """Sum of the clipped gradients of x (s, d + 1), one-hot target (k, s), into `gradient`.

        A record's gradient is two outer products, so its norm needs the factors only.
        """
        hidden = self.hidden(x)
        error = torch.bmm(self.weights[1], hidden).softmax(1).sub_(target)
        back = self.back(hidden, error)
        square = (error**2).sum(1) * (hidden**2).sum(1) + (back**2).sum(1) * (x**2).sum(1)
        weight = (square.sqrt_().div_(self.config.clip).clamp_(min=1)).reciprocal_()[:, None]
        self._backward(x, hidden, error.mul_(weight), back.mul_(weight))


VARIANTS = {
    "printed": "as printed",  # the average clipped, line 7's noise
    # The rest have the least noise that makes a client's messages (eps_i, delta_i)-private
    "record": "one record, each message",  # every record's gradient clipped, sensitivity 2C/s
    "record_run": "one record, whole run",  # the same for all T messages together
    "client": "whole client, each message",  # the average clipped, sensitivity 2C
}
_CLIPPED, _AVERAGED = ("record", "record_run"), ("printed", "client")


def noise(variant: str, eps: npt.ArrayLike, config: SgdConfig, *, samples: int) -> Floats:
    """Standard deviation on each coordinate of the message of a client with these budgets, any shape; inf gives 0."""
    if variant == "printed":
        return gaussian_sigma(eps, clip=config.clip, divisor=divisor(config, samples), delta=config.delta)
    sensitivity = 2 * config.clip / (1 if variant == "client" else samples)
    if variant == "record_run":
        sensitivity *= math.sqrt(config.epochs)  # T Gaussian messages are one with mu sqrt(T)
    found, where = np.unique(np.asarray(eps, dtype=np.float64), return_inverse=True)
    scale = [
        0.0 if math.isinf(e) else analytic_gaussian_scale(eps=float(e), delta=config.delta, sensitivity=sensitivity)
        for e in found
    ]
    return np.array(scale)[where].reshape(np.shape(eps))


def train_variants(data: Dataset, sigma: Floats, config: SgdConfig, *, seed: int, clipped: bool) -> Floats:
    """Final test accuracy of a seed's run with each row of noise (R, clients), its random numbers as in `figure4`.

    `clipped`: every record's gradient is, not the average's.
    """
    kind = RecordClipped if clipped else Batch
    if clipped:
        config = replace(config, average_divisor="samples")
    with arithmetic():
        batch = kind(data, sigma, config, seed, len(data.train_x) // config.clients, torch.device("cpu"))
        for epoch in range(1, config.epochs + 1):
            batch.epoch(epoch)
        return batch.evaluate()[0]


def _trained(
    data: Dataset, config: SgdConfig, settings: Sequence[str], task: tuple[tuple[str, ...], int]
) -> pd.DataFrame:
    """A seed's run of variants that clip alike, for every setting."""
    variants, seed = task
    asked = [(variant, setting) for variant in variants for setting in settings]
    budgets = {name: budget_matrix(name, clients=config.clients, seeds=[seed])[0] for name in settings}
    samples = len(data.train_x) // config.clients
    sigma = np.array([noise(variant, budgets[name], config, samples=samples) for variant, name in asked])
    accuracy = train_variants(data, sigma, config, seed=seed, clipped=variants == _CLIPPED)
    table = pd.DataFrame(asked, columns=["variant", "setting"]).assign(seed=seed, accuracy=accuracy)
    return table.assign(setting=table["setting"].map(setting_label), noise=np.sqrt((sigma**2).mean(axis=1)))


def variants_table(
    data: Dataset,
    config: SgdConfig,
    *,
    seeds: Sequence[int],
    settings: Sequence[str] = ("constant", "unif3"),
) -> pd.DataFrame:
    """Algorithm 3 as printed, and its repairs: variant, setting, seed, accuracy, noise (rms)."""
    tasks = [(variants, seed) for variants in (_CLIPPED, _AVERAGED) for seed in seeds]
    work = len(VARIANTS) * len(settings) * len(seeds) * config.epochs
    found = pd.concat(
        processes.each(partial(_trained, data, config, settings), tasks, jobs=1 if work < _WORTH_PROCESSES else None)
    )
    return found.sort_values("variant", key=lambda names: names.map(list(VARIANTS).index), kind="stable")


def variants_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy in percent over seeds, its standard error, and the noise: a row a variant and setting."""
    rows = []
    for (variant, setting), part in table.groupby(["variant", "setting"], sort=False):
        percent = 100 * part["accuracy"]
        error = percent.std(ddof=1) / len(percent) ** 0.5
        rows.append((variant, setting, percent.mean(), error, part["noise"].mean()))
    return pd.DataFrame(rows, columns=["variant", "setting", "accuracy (%)", "standard error", "noise"])


# --- tables: what shuffling adds ---------------------------------------------------------------------------


def message_attack_epsilon(
    *,
    delta: float,
    high: float,
    low: float,
    sigma: float,
    others: npt.ArrayLike,
    sigma_others: npt.ArrayLike,
    dimension: int = 1,
) -> float:
    """An eps below which shuffled Gaussian messages in d dimensions are certainly not (eps, delta)-DP; 0 shows nothing.

    All means lie on one line through 0: the victim's is `high` or `low`, the others' are known, and so is the noise of
    each. The attack: is there a message beyond t along that line whose remaining d - 1 coordinates are no longer than
    the victim's noise explains? In many dimensions a message carries its sender's sigma_j, to about one part in
    sqrt(2 d). With P0, P1 its probabilities, delta(eps) >= P0 - e^eps P1, the latter by the union bound. Every t and
    length give a valid bound, the best of a grid is returned. With nobody in the way it is the Gaussian mechanism's.

    >>> from gspa.accountant.tradeoff import gdp_epsilon
    >>> bound = message_attack_epsilon(delta=1e-5, high=1.0, low=0.0, sigma=1.0, others=[], sigma_others=[])
    >>> round(bound, 3), round(gdp_epsilon(delta=1e-5, mu=1.0), 3)
    (4.377, 4.377)
    """
    freedom = dimension - 1
    means, scales = (np.ravel(one) for one in np.broadcast_arrays(np.asarray(others, float), sigma_others))
    best = 0.0
    for missed in (0.0,) if freedom == 0 else (0.0, *_MISSED):
        keep, pass_others = 0.0, np.zeros(means.size)  # logs
        if missed:
            length = float(chi2.isf(missed, freedom))
            keep = math.log1p(-missed)
            with np.errstate(divide="ignore", over="ignore"):
                pass_others = np.maximum(chi2.logcdf(length * (sigma / scales) ** 2, freedom), _LEAST_LOG)

        def found(t: Floats, keep: float = keep, pass_others: Floats = pass_others) -> Floats:
            with np.errstate(over="ignore"):
                false = log_ndtr((means - t[:, None]) / scales) + pass_others
            true = log_ndtr((high - t) / sigma) + keep
            each = np.exp(np.column_stack([false, true]))
            log_miss = np.log1p(-np.minimum(each, 1 - 2.0**-53)).sum(axis=1)
            hit = -np.expm1(log_miss) - delta
            log_hit = np.log(hit, out=np.full_like(hit, -np.inf), where=hit > 0)
            both = np.column_stack([false, log_ndtr((low - t) / sigma) + keep])
            return np.asarray(log_hit - np.minimum(logsumexp(both, axis=1), 0.0))

        size = min(max(_GRID // (means.size + 1), 61), 801)
        t = low + sigma * np.linspace(0.0, (high - low) / sigma + 12.0, size)
        for _ in range(3):  # nested grids: the attack's eps is smooth in t
            value = found(t)
            k = int(np.argmax(value))
            t = np.linspace(t[max(k - 1, 0)], t[min(k + 1, t.size - 1)], 61)
        best = max(best, float(value.max()))
    return best


def theorem5_epsilon(eps: float, *, n: int, epochs: int, delta: float) -> float:
    """The central eps at delta that Theorem 5 promises n clients of budget (eps, delta) after `epochs` epochs.

    >>> round(theorem5_epsilon(0.5, n=100, epochs=50, delta=1e-5), 2)
    7.82
    """
    mu = gspa_mu(budget_laws.constant(eps, n=n, delta=delta))
    return gdp_epsilon(delta=delta, mu=math.sqrt(epochs) * mu)


def _crowd(setting: str, clients: int, delta: float, seed: int) -> Budgets:
    drawn = budget_laws.draw(setting, n=clients, rng=np.random.default_rng([seed, 1])).expanded()
    return budget_laws.from_array(drawn.eps, delta, label=budget_laws.DISTRIBUTIONS[setting].label)


def theorem5_table(
    *,
    epochs: Sequence[int],
    clients: int,
    samples: int,
    delta: float,
    divisor: int,
    dimension: int,
    settings: Sequence[str] = NOISY,
    seed: int = 0,
) -> pd.DataFrame:
    """Theorem 5's promise beside what Algorithm 3 and its repair certainly give: setting, eps_max, T, and five eps.

    All are for one record of the client with the largest budget at central delta = delta_i, the order of the clients
    drawn once (line 3), so that T epochs are one shuffle of messages with noise sigma_i/sqrt(T):

    * `promised`: sqrt(T) mu through Fact 3, the sum of Theorem 5 over the clients;
    * `attacked`: a lower bound on eps of Algorithm 3: the victim's clipped average is C or -C, the others' -C. The
      bound at T = 1 holds at every T for a fresh order every epoch too;
    * `local`: the victim's own messages without a shuffler, an upper bound: exact Gaussian composition;
    * `repaired`, `repaired_attacked`: each record clipped instead, both sides. The attack has all others' records at -C
      and the victim's at C: a budget for *one record* leaves the clients' averages apart, nobody hides among them.
    """
    rows = []
    for setting in settings:
        crowd = _crowd(setting, clients, delta, seed)
        eps = np.sort(crowd.expanded().eps)[::-1]
        # In units of C.
        sigma = np.array([2 * classical_gaussian_scale(eps=e, delta=delta, sensitivity=1 / divisor) for e in eps])
        for many in epochs:
            root = math.sqrt(many)
            spread = sigma / root
            attack = partial(message_attack_epsilon, delta=delta, sigma=spread[0], sigma_others=spread[1:], high=1.0)
            alone = partial(release_epsilon, float(eps[0]), delta=delta, divisor=divisor, epochs=many)
            rows.append(
                {
                    "setting": crowd.label,
                    "eps_max": float(eps[0]),
                    "T": many,
                    "promised": gdp_epsilon(delta=delta, mu=root * gspa_mu(crowd)),
                    "attacked": attack(low=-1.0, others=-1.0, dimension=dimension),
                    "local": alone(),
                    "repaired": alone(records=samples),
                    "repaired_attacked": attack(low=1.0 - 2.0 / samples, others=-1.0, dimension=dimension),
                }
            )
    return pd.DataFrame(rows)


def log10_blanket_mass(dimension: int, ratio: float) -> float:
    """log10 of the mass that N(u, sigma^2 I) has in common for every u of length <= C, with ratio = C/sigma = a.

    The smallest of these densities at y is that of the farthest u, at a distance of y's length + C, so the mass is
    e^{-a^2/2} E[e^{-a R}] with R chi-distributed with d degrees of freedom: about e^{-a sqrt(d)}. Errs by 1e-9.

    >>> round(log10_blanket_mass(1, 0.5), 6) == round(math.log10(math.erfc(0.5 / math.sqrt(2))), 6)
    True
    """
    d, a = dimension, ratio
    top = 2 * (d - 1) / (math.sqrt(a * a + 4 * (d - 1)) + a)  # where the integrand is largest

    def log_integrand(r: float) -> float:
        return ((d - 1) * math.log(r) if d > 1 else 0.0) - r * r / 2 - a * r

    peak = log_integrand(top) if d > 1 else 0.0
    width = 1 / math.sqrt(1 + (d - 1) / top**2) if d > 1 else min(1.0, 1 / a)
    pieces = [max(top + k * width, 0.0) for k in (-40, -8, -2, 0, 2, 8, 40)]
    total = sum(
        quad(lambda r: math.exp(log_integrand(r) - peak) if r > 0 else float(d == 1), low, high, epsabs=0)[0]
        for low, high in pairwise(pieces)
        if high > low
    )
    log_norm = (d / 2 - 1) * math.log(2) + float(gammaln(d / 2))  # of the chi density
    return (peak + math.log(total) - log_norm - a * a / 2) / math.log(10)


def certified_table(eps: float, *, delta: float, clients: int, samples: int, dimensions: Sequence[int]) -> pd.DataFrame:
    """How much blanket there is under the other clients' messages, all with budget eps, by dimension; m the clients.

    Columns: noise (of Algorithm 3, with each record clipped, or for the replacement of a client's whole data), ratio
    (C/sigma), dimension, log10_mass, clones (expected among the others), local (eps of one message alone), certified
    (central eps of one epoch for messages on a line; the same in every row of a noise).
    """
    scale = classical_gaussian_scale(eps=eps, delta=delta)
    alone = partial(release_epsilon, eps, delta=delta)
    kinds = (
        ("Algorithm 3", 2 * scale / clients, alone(divisor=clients)),
        ("each record clipped", 2 * scale / clients, alone(divisor=clients, records=samples)),
        ("whole client", 2 * scale, alone(divisor=1)),
    )
    rows = []
    for name, sigma, local in kinds:
        line = blanket_epsilon([sigma / 2], count=[clients], delta=delta, mechanism="gaussian").upper
        for dimension in dimensions:
            log_mass = log10_blanket_mass(dimension, 1 / sigma)
            clones = (clients - 1) * 10**log_mass
            rows.append((name, 1 / sigma, dimension, log_mass, clones, local, min(local, line)))
    return pd.DataFrame(rows, columns=["noise", "ratio", "dimension", "log10_mass", "clones", "local", "certified"])


# --- figures -----------------------------------------------------------------------------------------------


@keeps_data
def record_movement(record: pd.DataFrame, *, clip: float, assumed: Mapping[str, int], real_norm: float) -> Figure:
    """Movement of the clipped average against the replaced record's size; `assumed` are readings of line 7's m."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    axis.plot(record["norm"], record["movement"], **role("attack"))
    right = float(record["norm"].max())
    lines = {"2C": 2 * clip} | {f"2C/m, m = {m} ({name})": 2 * clip / m for name, m in assumed.items()}
    for k, (name, level) in enumerate(lines.items()):
        style = role("paper") if k else role("reference")
        axis.axhline(level, **style | {"lw": 1.6})
        axis.text(right, level * 1.08, name, ha="right", va="bottom", fontsize=10, color=style["color"])
    grey = ROLES["reference"][0]
    axis.axvline(real_norm, color=grey, dashes=DASHES[2], lw=1.4)
    axis.text(real_norm * 1.15, 2 * clip / 3, "largest real record", rotation=90, va="top", fontsize=9, color=grey)
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="norm of the replaced record's features, logarithmic",
        ylabel="movement of the clipped average, logarithmic",
        ylim=(min(lines.values()) / 2, 4 * clip),
    )
    return figure


def _lines(
    table: pd.DataFrame, x: str, columns: Mapping[str, tuple[str, str, int]], *, height: float, **axes: object
) -> Figure:
    """Columns of a table against another one, the vertical axis logarithmic: a role, a name, and which dashes."""
    figure, axis = plt.subplots(figsize=(7, height), layout="constrained")
    for column, (stands_for, name, dashes) in columns.items():
        style = role(stands_for) | {"dashes": DASHES[dashes] or (None, None)}
        axis.plot(table[x], table[column], label=name, **style)
    axis.set(yscale="log", **axes)
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure


@keeps_data
def true_budgets(local: pd.DataFrame, *, delta: float, epochs: int) -> Figure:
    """True local eps against the promised one, both axes logarithmic."""
    columns = {
        "samples": ("truth", "Algorithm 3, $m$ = records of a client", 0),
        "clients": ("truth", "Algorithm 3, $m$ = number of clients", 1),
        "eps": ("paper", "promised", 0),
        "formula": ("reference", "if one record moved the average by $2C/m$", 2),
        "repaired_run": ("certified", f"each record clipped, all {epochs} messages", 0),
        "repaired": ("certified", "each record clipped, one message", 1),
    }
    if epochs == 1:
        del columns["repaired_run"]
    labels = {
        "xlabel": r"promised local budget $\epsilon_i$, logarithmic",
        "ylabel": rf"true local $\epsilon$ at $\delta$ = {number(delta)}, logarithmic",
    }
    return _lines(local, "eps", columns, height=5.2, xscale="log", **labels)


@keeps_data
def training_budgets(table: pd.DataFrame, *, delta: float) -> Figure:
    """Central eps over epochs for one budget setting: promised, attacked, guaranteed."""
    columns = {
        "local": ("certified", "Algorithm 3: messages alone (upper bound)", 0),
        "attacked": ("attack", "Algorithm 3: attack (lower bound)", 1),
        "promised": ("paper", "promised by Theorem 5", 0),
        "repaired": ("certified", "each record clipped: messages alone", 3),
        "repaired_attacked": ("attack", "each record clipped: attack", 2),
    }
    labels = {"xlabel": "epochs $T$", "ylabel": rf"central $\epsilon$ at $\delta$ = {number(delta)}, logarithmic"}
    return _lines(table, "T", columns, height=5.0, xlim=(table["T"].min(), table["T"].max()), **labels)


@keeps_data
def blanket_masses(certified: pd.DataFrame) -> Figure:
    """Mass that another client's message has in common whatever its data, by dimension."""
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    # Clipping each record leaves the noise, and with it the blanket, as it is.
    for k, (ratio, part) in enumerate(certified.groupby("ratio", sort=False)):
        name = f"{' and '.join(dict.fromkeys(part['noise']))}: C/σ = {ratio:.3g}"
        part = part.drop_duplicates("dimension")
        (line,) = axis.plot(part["dimension"], -part["log10_mass"], color=PALETTE[k], marker="o", lw=2, label=name)
        line.set_dashes(DASHES[k] or (None, None))
    # The mass falls so fast that its exponent needs a logarithmic axis.
    axis.set(xscale="log", xlabel="number of parameters $d$, logarithmic", yscale="log")
    axis.set_ylabel("$e$ of the blanket's mass $10^{-e}$, logarithmic")
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.invert_yaxis()
    figure.legend(loc="outside lower center", fontsize=9)
    return figure


# --- checks ------------------------------------------------------------------------------------------------


@settles("G-A3")
def message_is_local(
    record: pd.DataFrame, weights: pd.DataFrame, images: float, config: SgdConfig, samples: int
) -> Outcome:
    """The movements that were constructed or found against the noise that line 7 prints, over Table 3's budgets.

    `record` is from `growing_record`, `weights` from `growing_weights`, `images` from `valid_movement`.
    """
    delta, clip = config.delta, config.clip
    moved = float(max(record["movement"].max(), weights["movement"].max()))
    readings_of_m = {"number of clients": config.clients, "records of a client": samples}
    true = {
        name: {
            eps: gdp_epsilon(delta=delta, mu=release_mu(eps, delta=delta, divisor=m) * moved / (2 * clip))
            for eps in BUDGETS
        }
        for name, m in readings_of_m.items()
    }
    assumed = ", ".join(f"{2 * clip / m:.4g} ($m$ = {m}, {name})" for name, m in readings_of_m.items())
    evidence: dict[str, object] = {
        "clip $C$; sensitivity that line 7 assumes, $2C/m$": f"{clip:g}; {assumed}",
        "one record replaced at the starting weights, features of any size: movement": float(record["movement"].max()),
        "one record replaced, images in the pixel range, last layer of any size: movement": float(
            weights["movement"].max()
        ),
        "one record replaced, images in the pixel range, starting weights: largest movement found": images,
    }

    def listed(found: Mapping[float, float]) -> str:
        return ", ".join(f"{got:.4g} for {eps:g}" for eps, got in found.items())

    for name, m in readings_of_m.items():
        label = f"true local $\\epsilon$ at $\\delta$ = {delta:g} for the promised $\\epsilon$, $m$ = {m} ({name})"
        evidence[label] = listed(true[name])
    scale = 2 * math.sqrt(2 * math.log(1.25 / delta)) / BUDGETS[-1]
    hypothetical = f"if $2C/m$ were the sensitivity: true $\\epsilon$ where {BUDGETS[-1]:g} is promised"
    evidence[hypothetical] = gaussian_epsilon(delta=delta, scale=scale, sensitivity=2.0)
    largest = f"largest $\\epsilon$ for which line 7's formula is right at $\\delta$ = {delta:g}"
    evidence[largest] = classical_gaussian_limit(delta=delta)
    repaired = {}
    for name, m in readings_of_m.items():
        for many in sorted({1, config.epochs}):
            found = {e: release_epsilon(e, delta=delta, divisor=m, records=samples, epochs=many) for e in BUDGETS}
            what = f"each record clipped instead, line 7 with $m$ = {m}: true $\\epsilon$ of "
            evidence[what + ("one message" if many == 1 else f"all {many} messages")] = listed(found)
            repaired[name, many] = all(got <= eps for eps, got in found.items())
    half, most = 0.5, BUDGETS[-1]
    readings = []
    for name, m in readings_of_m.items():
        broken = {eps: got for eps, got in true[name].items() if got > eps}
        because = (
            f"The clip acts on the average, so one record moves a message by up to {moved:.4g} = {moved / clip:.4g} "
            f"$C$, not $2C/m$ = {2 * clip / m:.3g}. A client who is promised $\\epsilon$ = {half:g} gets "
            f"{true[name][half]:.4g}, and one who is promised {most:g} gets {true[name][most]:.4g}."
        )
        said: Said = {
            # What was found is a lower bound of the sensitivity; it can break a promise, not prove one.
            "not checkable": f"The largest movement found, {moved:.4g}, breaks no promise.",
            "holds with correction": f"{because} With each record's gradient clipped before the average, every promise "
            "is kept, in one message"
            + (f" and in all {config.epochs}." if repaired[name, config.epochs] else ", though not in all of a run."),
            "refuted": f"{because} Clipping each record's gradient instead does not keep them all.",
        }
        verdict = exactly(False, near=repaired[name, 1]) if broken else unknown()
        correction = (
            "each record's gradient $\\mathbf{g}_i^j$ is clipped to norm $C$ before the average over the client's $s$ "
            "records, $s \\ge m$: then one record moves the message by at most $2C/s \\le 2C/m$."
        )
        readings.append(reading(f"$m$ = {m}, the {name}", verdict, said, correction=correction))
    return judge("G-A3", evidence, *readings)


@settles("G-T5")
def theorem_5(
    table: pd.DataFrame, by_samples: pd.DataFrame, certified: pd.DataFrame, delta: float, clients: int, total: int
) -> Outcome:
    """Promise against what an attack achieves and what the messages alone guarantee.

    `table` and `by_samples` are from `theorem5_table`, line 7's m the clients or the records of one; `certified` from
    `certified_table`; `total` is n of Table 3, the other reading of the sum.
    """
    evidence: dict[str, object] = {}
    for row in table.itertuples():
        what = "promised $\\epsilon$, attacked (lower bound), messages alone (upper bound)"
        evidence[f"{row.setting}, $T$ = {row.T}: {what}"] = f"{row.promised:.4g}; {row.attacked:.4g}; {row.local:.4g}"
    longest = int(table["T"].max())
    for m, part in (("the number of clients", table), ("the records of a client", by_samples)):
        for row in part[part["T"] == longest].itertuples():
            where = f"each record clipped, $m$ = {m}, {row.setting}, $T$ = {longest}"
            numbers = f"{row.promised:.4g}; {row.repaired_attacked:.4g}; {row.repaired:.4g}"
            evidence[f"{where}: promised, attacked, messages alone"] = numbers
    for n in (clients, total):
        mu = gspa_mu(budget_laws.constant(0.5, n=n, delta=delta))
        eps = theorem5_epsilon(0.5, n=n, epochs=longest, delta=delta)
        label = f"all $\\epsilon_i$ = 0.5, sum over $n$ = {n:,}: $\\mu$, $\\sqrt{{{longest}}}\\,\\mu$, $\\epsilon$"
        evidence[label] = f"{mu:.4g}; {longest**0.5 * mu:.4g}; {eps:.4g}"
    for row, dimension in zip(certified.itertuples(), certified["dimension"].astype(int), strict=True):
        label = f"{row.noise}, {count(dimension, 'parameter')}: blanket's mass, expected clones"
        evidence[label] = f"$10^{{{row.log10_mass:.4g}}}$; {row.clones:.3g}"
    broken = table[table["attacked"] > table["promised"]]
    safe = table["local"] <= table["promised"]
    hit = table["setting"].isin(set(broken["setting"]))
    fine = ", ".join(dict.fromkeys(table[~hit]["setting"]))
    unknown_so_far = broken.empty and not safe.all()
    verdict = (
        unknown() if unknown_so_far else exactly(bool(safe.all()), near=bool((safe | hit).all() and not hit.all()))
    )
    said: Said = {
        "verified": "The messages alone already guarantee what the theorem promises.",
        "not checkable": "No attack breaks the promise and nothing known proves it.",
        "holds with correction": f"An attack breaks it for {', '.join(dict.fromkeys(broken['setting']))}.",
        "refuted": lambda: _broken(broken, by_samples),
    }
    correction = f"the messages alone guarantee it for {fine}."
    return judge("G-T5", evidence, reading("as printed", verdict, said, correction=correction))


def _broken(broken: pd.DataFrame, by_samples: pd.DataFrame) -> str:
    """By how much, and whether the repair with the other m would save it."""
    worst = broken.iloc[int(np.argmax(broken["attacked"] - broken["promised"]))]
    first = broken[broken["T"] == broken["T"].min()]
    text = (
        f"In each setting that is broken, an attack on Algorithm 3 proves an $\\epsilon$ of "
        f"{first['attacked'].min():.4g} or more at $T$ = {first['T'].iloc[0]}, where the theorem promises at most "
        f"{first['promised'].max():.4g}. For {worst['setting']} at $T$ = {worst['T']} the attack proves "
        f"{worst['attacked']:.4g}, and the promise is {worst['promised']:.4g}."
    )
    still = by_samples[by_samples["repaired_attacked"] > by_samples["promised"]]
    if still.empty:
        return text
    end = still.iloc[-1]
    return (
        f"{text} If each record is clipped and $m$ is the number of a client's records, the theorem still fails for "
        f"{end['setting']}: at $T$ = {end['T']} the attack proves {end['repaired_attacked']:.4g}, and the promise is "
        f"{end['promised']:.4g}."
    )


@settles("G-SGD6")
def stronger_protection(promises: pd.DataFrame) -> Outcome:
    """Central eps of the constant 0.5 against that of U(0.01, 2): as promised, and from the messages alone."""
    both = promises.set_index(["setting", "T"])
    compared = [budget_laws.DISTRIBUTIONS[name].label for name in ("constant", "unif2")]
    epochs = sorted(set(promises["T"]))
    evidence: dict[str, object] = {}
    readings = []
    for column, name in (
        ("promised", "$\\epsilon$ as Theorem 5 promises it"),
        ("local", "$\\epsilon$ of the messages alone"),
    ):
        constant, unif2 = ([float(both.loc[(key, t), column]) for t in epochs] for key in compared)
        for t, first, second in zip(epochs, constant, unif2, strict=True):
            evidence[f"{name}, $T$ = {t}: constant 0.5, U(0.01, 2)"] = f"{first:.4g}, {second:.4g}"
        smaller = all(a < b for a, b in zip(constant, unif2, strict=True))
        found = f"At $T$ = {epochs[-1]} the constant has {number(constant[-1], 3)}, and $U(0.01, 2)$ has "
        found += f"{number(unif2[-1], 3)}."
        said: Said = {"verified": found, "refuted": found}
        readings.append(reading(name, exactly(smaller), said))
    return judge("G-SGD6", evidence, *readings)

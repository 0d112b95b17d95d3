"""Of notebook 22: two records between which a client's message moves far, the attack on shuffled messages, figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy.special import gammaln, log_ndtr, logsumexp
from scipy.stats import chi2

from gspa.algorithms import digits
from gspa.algorithms.digits import Dataset
from gspa.algorithms.sgd_batch import Batch
from gspa.algorithms.sgd_config import SgdConfig
from gspa.book.figures import DASHES, ROLES, keeps_data, role
from gspa.book.text import number

Floats = npt.NDArray[np.float64]
Record = tuple[torch.Tensor, int]  # features and label

_BISECTIONS = 60
_ASCENT = 60  # steps of a twentieth of the pixel range
_MISSED = (0.0, 0.1, 1e-2, 1e-3, 1e-5)  # share of the victim's own messages that an attack may call too long
_GRID = 400_000  # thresholds tried at once, times messages
_LEAST_LOG = -600.0  # scipy's chi2.logcdf underflows not far below it


# --- how far one record moves a message --------------------------------------------------------------------


@dataclass(frozen=True)
class Client:
    """A network's weights, and the records of the client that is visited next. All tensors float64.

    Attributes:
        w1, b1, w2, b2: (d, h), (h,), (k, h), (k,).
        x: (s, d).
        y: (s,), int64.
    """

    w1: torch.Tensor
    b1: torch.Tensor
    w2: torch.Tensor
    b2: torch.Tensor
    x: torch.Tensor
    y: torch.Tensor

    def sharper(self, factor: float) -> Client:
        """The same with the last layer's weights and biases times `factor`: surer of the same answers."""
        return replace(self, w2=factor * self.w2, b2=factor * self.b2)

    def hidden(self, x: torch.Tensor) -> torch.Tensor:
        """(s, h)."""
        return torch.relu(x @ self.w1 + self.b1)

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        """(s, k)."""
        return self.hidden(x) @ self.w2.T + self.b2


@dataclass(frozen=True)
class Gradients:
    """Gradients of s records as pairs of outer products, so that inner products need no gradient: back x1', error h1'.

    With h the hidden units, x1 and h1 are the record and h before a one, error is softmax - onehot(y), and back is
    W2' error where h > 0.
    """

    back: torch.Tensor
    x1: torch.Tensor
    error: torch.Tensor
    h1: torch.Tensor

    @classmethod
    def of(cls, client: Client, x: torch.Tensor, y: torch.Tensor) -> Gradients:
        """Gradients at the client's weights of records x (s, d) with labels y (s,)."""
        hidden = client.hidden(x)
        error = (hidden @ client.w2.T + client.b2).softmax(1) - torch.nn.functional.one_hot(y, len(client.b2))
        one = torch.ones(len(x), 1, dtype=x.dtype)
        back = (error @ client.w2) * (hidden > 0)
        return cls(back, torch.cat([x, one], 1), error, torch.cat([hidden, one], 1))

    def squares(self) -> torch.Tensor:
        """Squared norms, (s,)."""
        return (self.back**2).sum(1) * (self.x1**2).sum(1) + (self.error**2).sum(1) * (self.h1**2).sum(1)

    def products(self, other: Gradients) -> torch.Tensor:
        """Inner products with every gradient of another set, (s, s')."""
        first = (self.back @ other.back.T) * (self.x1 @ other.x1.T)
        return first + (self.error @ other.error.T) * (self.h1 @ other.h1.T)

    def mean(self) -> torch.Tensor:
        """The average gradient as one flat vector, (P,)."""
        both = (self.back.T @ self.x1).reshape(-1), (self.error.T @ self.h1).reshape(-1)
        return torch.cat(both) / len(self.x1)


def clipped(vector: torch.Tensor, clip: float) -> torch.Tensor:
    """Line 14: a flat vector cut to norm `clip`."""
    return vector / max(1.0, float(vector.norm()) / clip)


def first_client(data: Dataset, config: SgdConfig, *, seed: int) -> Client:
    """The starting weights, with the records of the client that line 3 puts first, in float64."""
    samples = len(data.train_x) // config.clients
    batch = Batch(data, np.zeros((1, config.clients)), config, seed, samples, torch.device("cpu"))
    first, second = (part[0].double() for part in batch.weights)
    network = first[:, :-1].T, first[:, -1], second[:, :-1], second[:, -1]
    return Client(*network, batch.x[0, :, :-1].double(), batch.target[0].argmax(0))


def movement(client: Client, *records: Record, clip: float) -> float:
    """Distance of the client's clipped averages when its first record is the one or the other of two."""
    ends = []
    for x, label in records:
        images, classes = client.x.clone(), client.y.clone()
        images[0], classes[0] = x, label
        ends.append(clipped(Gradients.of(client, images, classes).mean(), clip))
    return float((ends[0] - ends[1]).norm())


def apart(client: Client, real: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The first of real records, and the first that the network puts into another class."""
    classes = client.logits(real).argmax(1)
    return real[0], real[int((classes != classes[0]).nonzero()[0])]


def undecided(client: Client, near: torch.Tensor, far: torch.Tensor) -> tuple[Record, Record]:
    """The point between two inputs where the network's two best classes tie, with either label.

    Its gradient for the one label is minus that for the other.
    """
    start, low, high = int(client.logits(near[None]).argmax()), 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        same = int(client.logits(torch.lerp(near, far, middle)[None]).argmax()) == start
        low, high = (middle, high) if same else (low, middle)
    x = torch.lerp(near, far, 0.5 * (low + high))
    one, other = client.logits(x[None])[0].topk(2).indices.tolist()
    return (x, one), (x, other)


def surest(client: Client, real: torch.Tensor) -> Client:
    """The client with records, out of real ones, of which the network is surest, and with the classes it gives them.

    Their gradients vanish as the last layer grows, while that of an undecided record grows.
    """
    best = client.logits(real).topk(2)
    order = (best.values[:, 1] - best.values[:, 0]).argsort(stable=True)[: max(1, len(real) // 2)]
    kept = order[torch.arange(len(client.x)) % len(order)]
    return replace(client, x=real[kept], y=best.indices[kept, 0])


def between_images(client: Client, images: Dataset, *, clip: float, components: int, starts: int) -> float:
    """The largest movement found between two images in [0, 1]^pixels; attained, though a larger one may exist.

    By projected gradient ascent on the distance of the two gradients, over both images, from `starts` pairs of real
    ones with their labels.
    """
    pixels = images.train_x.shape[1]
    # The reduction is affine: its value at 0 and at the unit images says what it is.
    probe = np.vstack([np.zeros((1, pixels)), np.eye(pixels)]).astype(np.float32)
    asked = replace(images, test_x=probe, test_y=np.zeros(len(probe), dtype=np.int64))
    scores = torch.from_numpy(digits.project(asked, components=components).test_x).double()
    both = torch.from_numpy(images.train_x[: 2 * starts]).double()
    labels = torch.from_numpy(images.train_y[: 2 * starts]).clone()
    one, other = labels[:starts], labels[starts:]
    other[one == other] = (one[one == other] + 1) % images.classes
    for step in range(_ASCENT):
        x = both.requires_grad_() @ (scores[1:] - scores[0]) + scores[0]
        first, second = Gradients.of(client, x[:starts], one), Gradients.of(client, x[starts:], other)
        distance = first.squares() + second.squares() - 2 * first.products(second).diagonal()
        (slope,) = torch.autograd.grad(distance.sum(), both)
        both = (both.detach() + 0.05 * (1 - step / _ASCENT) * slope.sign()).clamp(0, 1)
    x = both @ (scores[1:] - scores[0]) + scores[0]
    pairs = zip(zip(x[:starts], one.tolist(), strict=True), zip(x[starts:], other.tolist(), strict=True), strict=True)
    return max(movement(client, *pair, clip=clip) for pair in pairs)


# --- the attack on shuffled messages -----------------------------------------------------------------------


def attack_epsilon(sigma: Floats, *, moved: float, others: float, delta: float, dimension: int = 1) -> float:
    """An eps below which shuffled Gaussian messages in d dimensions are certainly not (eps, delta)-DP; 0 shows nothing.

    All means lie on one line through 0: the victim's is `moved` or 0, the others' are `others`. The noise of each is
    known, the victim's comes first. The attack: is there a message beyond t along that line whose remaining d - 1
    coordinates are no longer than the victim's noise explains? In many dimensions a message carries its sender's
    sigma_j, to about one part in sqrt(2 d). With P0, P1 its probabilities, delta(eps) >= P0 - e^eps P1, the latter by
    the union bound. Every t and length give a valid bound, the best of a grid is returned.
    """
    own, scales, freedom, best = sigma[0], sigma[1:], dimension - 1, 0.0
    for missed in _MISSED if freedom else (0.0,):
        pass_others = np.zeros(scales.size)  # logs, as all that follows
        if missed:
            length = float(chi2.isf(missed, freedom))
            with np.errstate(divide="ignore", over="ignore"):
                pass_others = _log_cdf(length * (own / scales) ** 2, freedom)
        t = own * np.linspace(0.0, moved / own + 12.0, min(max(_GRID // sigma.size, 61), 801))
        for _ in range(3):  # nested grids: the attack's eps is smooth in t
            with np.errstate(over="ignore"):
                false = log_ndtr((others - t[:, None]) / scales) + pass_others
            true, none = (log_ndtr((mean - t) / own) + math.log1p(-missed) for mean in (moved, 0.0))
            each = np.exp(np.column_stack([false, true]))
            hit = -np.expm1(np.log1p(-np.minimum(each, 1 - 2.0**-53)).sum(axis=1)) - delta
            log_hit = np.log(hit, out=np.full_like(hit, -np.inf), where=hit > 0)
            value = log_hit - np.minimum(logsumexp(np.column_stack([false, none]), axis=1), 0.0)
            k = int(np.argmax(value))
            t = np.linspace(t[max(k - 1, 0)], t[min(k + 1, t.size - 1)], 61)
        best = max(best, float(value.max()))
    return best


def _log_cdf(x: Floats, freedom: int) -> Floats:
    """Log of the chi-squared distribution function; where it is tiny, an upper bound, which only weakens an attack.

    P(a, z) = z^a e^-z/Gamma(a + 1) (1 + z/(a + 1) + z^2/((a + 1)(a + 2)) + ...), and the sum is below a geometric one.
    """
    a, z = freedom / 2, x / 2
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        known = chi2.logcdf(x, freedom)
        bound = a * np.log(z) - z - gammaln(a + 1) - np.log1p(-z / (a + 1))
    found: Floats = np.where(known > _LEAST_LOG, known, bound)
    return found


# --- figures -----------------------------------------------------------------------------------------------


@keeps_data
def record_movement(record: pd.DataFrame, *, clip: float, assumed: Mapping[str, int], real_norm: float) -> Figure:
    """Movement of the clipped average against the replaced record's size; `assumed` are readings of line 7's m."""
    figure, axis = plt.subplots(figsize=(4.8, 3.4), layout="constrained")
    axis.plot(record["norm"], record["movement"], **role("attack"))
    right = float(record["norm"].max())
    lines = {"2C": 2 * clip} | {f"2C/m, m = {m} ({name})": 2 * clip / m for name, m in assumed.items()}
    for k, (name, level) in enumerate(lines.items()):
        style = role("paper") if k else role("reference")
        axis.axhline(level, **style | {"lw": 1.6})
        axis.text(right, level * 1.08, name, ha="right", va="bottom", fontsize=9, color=style["color"])
    grey = ROLES["reference"][0]
    axis.axvline(real_norm, color=grey, dashes=DASHES[2], lw=1.4)
    between = math.sqrt(2 * clip / max(assumed.values()) * 2 * clip / min(assumed.values()))
    axis.text(real_norm * 1.15, between, "largest real record", va="center", fontsize=9, color=grey)
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
    figure, axis = plt.subplots(figsize=(4.8, height), layout="constrained")
    for column, (stands_for, name, dashes) in columns.items():
        axis.plot(table[x], table[column], label=name, **role(stands_for) | {"dashes": DASHES[dashes] or (None, None)})
    axis.set(yscale="log", **axes)
    figure.legend(loc="outside lower left")
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
    return _lines(local, "eps", columns, height=4.4, xscale="log", **labels)


@keeps_data
def central_budgets(curve: pd.DataFrame, *, delta: float) -> Figure:
    """Central eps over epochs for one law of budgets: promised, attacked, guaranteed."""
    columns = {
        "alone": ("certified", "Algorithm 3: messages alone (upper bound)", 0),
        "attacked": ("attack", "Algorithm 3: attack (lower bound)", 1),
        "promised": ("paper", "promised by Theorem 5", 0),
        "repaired": ("certified", "each record clipped: messages alone", 3),
        "repaired_attacked": ("attack", "each record clipped: attack", 2),
    }
    labels = {"xlabel": "epochs $T$", "ylabel": rf"central $\epsilon$ at $\delta$ = {number(delta)}, logarithmic"}
    return _lines(curve, "T", columns, height=4.2, xlim=(curve["T"].min(), curve["T"].max()), **labels)

"""What is run for FLAME's Figures 5 to 8, and beside them: the noise's source, equal privacy, settings.

A `Case` is a method under a heading (`group`); the same run may stand under several (`gspa.flame.experiments`).

>>> some = Paper().cases(("figure 5",))
>>> sorted({case.label for case in some if case.setup.noise == "frozen"})
['DP-FL, low eps', 'SS-Double', 'SS-Simple', 'SS-Topk']
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from gspa import _validate as check
from gspa.datasets import Dataset
from gspa.errors import InvalidValue
from gspa.flame.aggregation import Aggregator, Curator, LocalGaussian, Mean, Sampled, Simple
from gspa.flame.federated import Training
from gspa.flame.worth import Worth, worth
from gspa.mechanisms import analytic_gaussian_scale, classical_gaussian_scale

GROUPS = ("figure 5", "figure 6", "figure 7", "figure 8", "loss", "equal privacy", "index privacy", "settings")

NP, DP, DP_MORE, LDP, LDP_LAPLACE = "NP-FL", "DP-FL, low eps", "DP-FL, high eps", "LDP-FL Gaussian", "LDP-FL Laplace"
SIMPLE, DOUBLE, TOPK = "SS-Simple", "SS-Double", "SS-Topk"
INDEPENDENT = f"{DOUBLE}, independent indices"

_STEP = 5.0  # a server step for NP-FL that is nearer to SS-Topk's
_EPS_LK = (0.1, 0.25, 1.0, 2.0)  # beside the paper's 0.5
_RATIOS = (1.0, 1.5, 2.0)  # beside 3
_RATES = (200, 100, 20, 10)  # beside 50
_SHOWN = 16  # Theorem 5's l for n/n_p = 3


@dataclass(frozen=True)
class Setup:
    """Everything that a run depends on beside its seed.

    Attributes:
        aggregator: the method.
        noise: one of `gspa.flame.noise.KINDS`.
        training: local training and rounds.
        scaling, split: of `gspa.flame.users.partition`.
    """

    aggregator: Aggregator
    noise: str = "fresh"
    training: Training = field(default_factory=Training)
    scaling: str = "standardized"
    split: str = "one_per_class"


@dataclass(frozen=True)
class Case:
    """A setup under a heading.

    Attributes:
        group: one of `GROUPS`.
        label: the method.
        varied: what differs from the paper's setting, "" for nothing.
        value: of it, NaN where it is no number.
        setup: what is run.
    """

    group: str
    label: str
    varied: str
    value: float
    setup: Setup


@dataclass(frozen=True, kw_only=True)
class Paper:
    """The paper's settings, those of the released code where the paper has none.

    Attributes:
        d: weights.
        n: users of a round.
        rate: 1/beta.
        ratio: n/n_p.
        eps_l: local budget of a vector.
        eps_curator: of DP-FL, and of LDP-FL's vector.
        eps_more: of the other DP-FL.
        delta: central delta; also LDP-FL's.
        clip: C.
        training: rounds and local training.
    """

    d: int = 7_850
    n: int = 1_000
    rate: int = 50
    ratio: float = 3.0
    eps_l: float = 78.5
    eps_curator: float = 0.24
    eps_more: float = 20.53
    delta: float = 5e-6
    clip: float = 0.01
    training: Training = field(default_factory=Training)

    def __post_init__(self) -> None:
        for name in ("d", "n", "rate"):
            check.count(**{name: getattr(self, name)})
        if self.rate > self.d:
            raise InvalidValue("rate", self.rate, f"at most d = {self.d}")
        for name in ("ratio", "eps_l", "eps_curator", "eps_more", "clip"):
            check.positive(**{name: getattr(self, name)})
        check.probability(allow_zero=False, delta=self.delta)

    @property
    def k(self) -> int:
        """Coordinates of one user."""
        return self.d // self.rate

    @property
    def n_p(self) -> int:
        """Reports per coordinate."""
        return max(1, int(self.n / self.ratio))

    @property
    def clip2(self) -> float:
        """L2 bound of DP-FL: C sqrt(d), 0.886 in the paper's setting."""
        return self.clip * math.sqrt(self.d)

    def sized(self, data: Dataset, *, users: int) -> tuple[Paper, int]:
        """The same for other data or fewer users: (settings, users that there are images for).

        Args:
            data: from `gspa.datasets.load`.
            users: wanted, all batches together.
        """
        most = int(np.bincount(np.r_[data.train_y, data.test_y]).min())
        users = min(check.count(self.training.batches, users=users), most)
        d = (data.train_x.shape[1] + 1) * data.classes
        return replace(self, d=d, n=users // self.training.batches, rate=min(self.rate, d)), users

    def worth(self) -> tuple[Worth, ...]:
        """What the protocols can be proved to give, and their budgets for DP-FL's eps."""
        return worth(
            d=self.d,
            k=self.k,
            n=self.n,
            n_p=self.n_p,
            eps_l=self.eps_l,
            delta=self.delta,
            target=self.eps_curator,
        )

    def curator(self, eps: float, *, analytic: bool = False, rate: float = 1.0) -> Curator:
        """DP-FL at (eps, delta): the classical formula as the paper has it, or the exact one."""
        scale = analytic_gaussian_scale if analytic else classical_gaussian_scale
        return Curator(self.clip2, scale(eps=eps, delta=self.delta, sensitivity=2 * self.clip2), rate)

    def simple(self, eps: float | None = None) -> Simple:
        """SS-Simple at eps_ld."""
        return Simple(self.clip, self.eps_l / self.d if eps is None else eps)

    def sampled(self, select: str, eps: float | None = None) -> Sampled:
        """SS-Double ("uniform" or "independent") or SS-Topk at eps_lk."""
        return Sampled(self.clip, self.eps_l / self.k if eps is None else eps, self.k, self.n_p, select)

    def methods(self) -> dict[str, Aggregator]:
        """Figure 5's lines."""
        each_coordinate = self.eps_curator / self.d
        local = LocalGaussian(self.clip, classical_gaussian_scale(eps=each_coordinate, delta=self.delta))
        return {
            NP: Mean(),
            DP_MORE: self.curator(self.eps_more),
            DP: self.curator(self.eps_curator),
            TOPK: self.sampled("largest"),
            DOUBLE: self.sampled("uniform"),
            SIMPLE: self.simple(),
            LDP: local,
            LDP_LAPLACE: self.simple(each_coordinate),
        }

    def cases(self, groups: Sequence[str] = GROUPS, *, certified: Sequence[Worth] = ()) -> list[Case]:
        """Every case of these groups.

        Args:
            groups: some of `GROUPS`.
            certified: from `worth`, for "equal privacy".
        """
        made: list[Case] = []
        for group in check.row(groups=groups):
            check.one_of(GROUPS, group=group)
            if group == "equal privacy":
                made += self._equal(certified)
            else:
                made += _BUILDERS[group](self)
        return made

    def _setup(self, aggregator: Aggregator, noise: str = "fresh", **changes: str) -> Setup:
        return Setup(aggregator, noise, self.training, **changes)

    def _equal(self, certified: Sequence[Worth]) -> list[Case]:
        """DP-FL, analytic, at what each protocol can be proved to give; the protocols at DP-FL's own eps."""
        made = []
        for one in certified:
            for end, eps in (("lower", one.lower), ("upper", one.upper)):
                if eps > 0:
                    curator = self._setup(self.curator(eps, analytic=True))
                    made.append(Case("equal privacy", f"DP-FL at {one.method}'s {end} end", "eps", eps, curator))
            if one.method == DOUBLE:
                free = self._setup(self.sampled("independent"))
                made.append(Case("equal privacy", INDEPENDENT, "eps", one.upper, free))
            if one.tuned > 0:
                tuned: Aggregator = self.simple(one.tuned)
                if one.method != SIMPLE:  # the certificate of SS-Double is for independent indices
                    tuned = self.sampled("independent" if one.method == DOUBLE else "largest", one.tuned)
                made.append(Case("equal privacy", f"{one.method} tuned", "eps", self.eps_curator, self._setup(tuned)))
        at = self._setup(self.curator(self.eps_curator, analytic=True))
        return [*made, Case("equal privacy", "DP-FL", "eps", self.eps_curator, at)]


def _figure5(paper: Paper) -> list[Case]:
    made = []
    for label, aggregator in paper.methods().items():
        kinds = ["fresh"]
        kinds += ["released"] if label not in (NP, LDP, LDP_LAPLACE) else []
        kinds += ["frozen"] if label in (DP, SIMPLE, DOUBLE, TOPK) else []
        made += [Case("figure 5", label, "", math.nan, paper._setup(aggregator, kind)) for kind in kinds]
    return made


def _figure6(paper: Paper) -> list[Case]:
    own = paper.eps_l / paper.k
    values = sorted({*_EPS_LK, own})
    return [Case("figure 6", TOPK, "eps_lk", eps, paper._setup(paper.sampled("largest", eps))) for eps in values]


def _figure7(paper: Paper) -> list[Case]:
    values = sorted({*_RATIOS, paper.ratio})
    made = [(ratio, replace(paper, ratio=ratio).sampled("largest")) for ratio in values]
    return [Case("figure 7", TOPK, "n/n_p", ratio, paper._setup(one)) for ratio, one in made]


def _figure8(paper: Paper) -> list[Case]:
    """n/n_p = 1.5, at which all coordinates fit up to beta = 1/10; at a fixed eps_lk, and at a fixed eps_l."""
    wide, own = replace(paper, ratio=1.5), paper.eps_l / paper.k
    made = []
    for rate in sorted({*_RATES, paper.rate}, reverse=True):
        if rate > paper.d:
            continue
        one = replace(wide, rate=rate)
        for varied, eps in (("beta, eps_lk fixed", own), ("beta, eps_l fixed", None)):
            made.append(Case("figure 8", TOPK, varied, 1 / rate, paper._setup(one.sampled("largest", eps))))
    return made


def _loss(paper: Paper) -> list[Case]:
    """beta = 1/10 and n/n_p = 1.5, with which the printed 2.348 comes out."""
    tenth = replace(paper, ratio=1.5, rate=10).sampled("largest", paper.eps_l / paper.k)
    rows: list[tuple[str, Aggregator, str]] = [
        (TOPK, tenth, "fresh"),
        (TOPK, tenth, "released"),
        (f"{TOPK} without noise", replace(tenth, eps=math.inf), "fresh"),
        (f"{TOPK} without noise, mean over n", replace(tenth, eps=math.inf, divide="users"), "fresh"),
        (NP, Mean(), "fresh"),
        (f"{NP}, larger server step", Mean(_STEP), "fresh"),
    ]
    return [Case("loss", label, "", math.nan, paper._setup(one, noise)) for label, one, noise in rows]


def _index(paper: Paper) -> list[Case]:
    """l indices shown for each real one, with padding that holds them and with the paper's."""
    made = []
    shown = min(_SHOWN, paper.d // paper.k)
    for ratio in (1.5, paper.ratio):
        base = replace(paper, ratio=ratio).sampled("largest")
        for many in (1, shown):
            made.append(Case("index privacy", TOPK, f"l, n/n_p = {ratio:g}", many, paper._setup(replace(base, l=many))))
    return made


def _settings(paper: Paper) -> list[Case]:
    """What neither the paper nor its claims vary; few seeds."""
    lines: dict[str, Aggregator] = {NP: Mean(), DP: paper.curator(paper.eps_curator), TOPK: paper.sampled("largest")}
    made = [Case("settings", name, "as released", math.nan, paper._setup(one)) for name, one in lines.items()]

    def add(varied: str, setup: Callable[[Aggregator], Setup]) -> None:
        made.extend(Case("settings", name, varied, math.nan, setup(one)) for name, one in lines.items())

    for factor in (0.3, 3.0):
        other = replace(paper, clip=factor * paper.clip)
        varied = f"C = {other.clip:g}"
        made.append(Case("settings", DP, varied, math.nan, paper._setup(other.curator(paper.eps_curator))))
        made.append(Case("settings", TOPK, varied, math.nan, paper._setup(other.sampled("largest"))))
    for epochs in (1, 30):
        add(f"local epochs {epochs}", partial(_trained, replace(paper.training, local_epochs=epochs)))
    for rate in (0.03, 0.3):
        add(f"local learning rate {rate:g}", partial(_trained, replace(paper.training, local_rate=rate)))
    add("images dealt at random", lambda one: paper._setup(one, split="random"))
    add("one class a user", lambda one: paper._setup(one, split="one_class"))
    add("pixels in [0, 1]", lambda one: paper._setup(one, scaling="unit"))
    made.append(Case("settings", NP, f"server step {_STEP:g}", math.nan, paper._setup(Mean(_STEP))))
    stepped = paper.curator(paper.eps_curator, rate=_STEP)
    made.append(Case("settings", DP, f"server step {_STEP:g}", math.nan, paper._setup(stepped)))
    for varied, one in (
        ("selection as Algorithm 4 prints it", replace(paper.sampled("largest_scaled"))),
        ("mean over n", replace(paper.sampled("largest"), divide="users")),
    ):
        made.append(Case("settings", TOPK, varied, math.nan, paper._setup(one)))
    return made


def _trained(training: Training, one: Aggregator) -> Setup:
    return Setup(one, training=training)


_BUILDERS: dict[str, Callable[[Paper], list[Case]]] = {
    "figure 5": _figure5,
    "figure 6": _figure6,
    "figure 7": _figure7,
    "figure 8": _figure8,
    "loss": _loss,
    "index privacy": _index,
    "settings": _settings,
}

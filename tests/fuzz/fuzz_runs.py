"""Ready-made users, images, rules and runs for functions that train, simulate or sweep: small, never changed."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from gspa import datasets, sgd_sensitivity
from gspa.errors import GspaError
from gspa.flame import aggregation, cases, experiments, federated, protocols, users, worth
from gspa.flame.randomizers import Buckets, Laplace
from gspa.flame.sealing import keypair
from gspa.hadamard import HadamardResponse
from gspa.sgd_config import SgdConfig
from gspa.sweep import LAST_COLUMNS
from gspa.sweep import target as sweep_target

CONFIG = SgdConfig(clients=6, epochs=1, hidden_width=4)
RESPONSES = (HadamardResponse(4, 1.0, 2), HadamardResponse(4, 0.1, 1))
UNIFORM = np.full(4, 0.25)
POWER_LAW = pd.DataFrame(
    {
        "regime": ["a"] * 5 + ["b"] * 3,
        "n": [8.0, 16.1, 31.9, 64.2, 128.0, 1.0, 2.0, 4.1],
        "k": [1, 2, 4, 8, 16, 1, 2, 4],
        "alpha": [0.5, 0.1, 0.2, 0.5, 0.1, 0.5, 0.5, 0.5],
    }
)
FITTED = tuple(pd.DataFrame({"stated": [1.0], "low": [low], "high": [1.2]}) for low in (0.8, 1.1))
AGGREGATORS = (
    aggregation.Mean(),
    aggregation.Curator(0.1, 1.0),
    aggregation.LocalGaussian(0.1, 1.0),
    aggregation.Simple(0.01, 1.0),
    aggregation.Sampled(0.01, 1.0, 5, 4, "uniform"),
    aggregation.Sampled(0.01, 1.0, 5, 4, "largest", 2),
)
RULES = (
    protocols.Rules(d=4, n=6, clip=0.1, local=Laplace(5.0), k=2, n_p=6),
    protocols.Rules(d=4, n=6, clip=0.1, local=Buckets(5.0, 2), k=2, n_p=6, packing="vectors", printed=True),
    protocols.Rules(d=4, n=6, clip=0.1, local=Laplace(5.0), k=4, n_p=6, select="all"),
)
SMALL_PAPER = cases.Paper(d=650, n=6, rate=10, training=federated.Training(rounds=1, local_epochs=1))
INCREASING = (lambda eps: eps, lambda eps: eps**2, lambda eps: 3 * eps)
SWEPT = pd.DataFrame({"n": [1, 2], "value": [0.1, 0.2]} | {name: ["", ""] for name in LAST_COLUMNS})


@cache
def images() -> datasets.Dataset:
    full = datasets.load("digits")
    part = dataclasses.replace(
        full, train_x=full.train_x[::20], train_y=full.train_y[::20], test_x=full.test_x[::20], test_y=full.test_y[::20]
    )
    return datasets.project(part, components=5, cache=False)


@cache
def small_images() -> datasets.Dataset:
    full = datasets.load("digits")
    return dataclasses.replace(
        full, train_x=full.train_x[::5], train_y=full.train_y[::5], test_x=full.test_x[::5], test_y=full.test_y[::5]
    )


@cache
def client() -> Any:
    return sgd_sensitivity.visited(images(), None, CONFIG, epochs=(0,), seed=0)[0]


@cache
def pool() -> Any:
    return sgd_sensitivity.pool(images(), 5)


@cache
def few_users() -> users.Users:
    return users.partition(small_images(), users=6)


@cache
def played() -> protocols.Played:
    return protocols.play(np.zeros((6, 4)), RULES[0], keypair("envelope"), rng=0)


@cache
def worths() -> tuple[worth.Worth, ...]:
    return worth.worth(d=40, k=2, n=200, n_p=50, eps_l=2.0, delta=1e-3)


@cache
def flame_cases() -> list[cases.Case]:
    return SMALL_PAPER.cases(("figure 7",))


@cache
def flame_runs() -> pd.DataFrame:
    return experiments.run("digits", flame_cases(), users=36, seeds=(0, 1), jobs=1)


def no_project() -> Any:
    raise GspaError("no project here")


@cache
def epsilon_target() -> Any:
    return sweep_target("epsilon", no_project)[0]


@cache
def epsilon_notebook() -> Any:
    return sweep_target("epsilon", no_project)[1]

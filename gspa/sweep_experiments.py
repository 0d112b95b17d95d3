"""The package's own experiments that `gspa sweep` repeats without a notebook: name, parameters, one row of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gspa import _validate as check
from gspa import budgets
from gspa.parameters import Notebook

Results = dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    Attributes:
        run: takes the parameters by name, returns one row's results.
        properties: the parameters' JSON Schemas, as a notebook's.
        needs_data: whether it reads a data set.
    """

    run: Callable[..., Results]
    properties: Mapping[str, Mapping[str, Any]]
    needs_data: bool = False

    def parameters(self, name: str) -> Notebook:
        """Its parameters in the form that checks a notebook's."""
        schema = {"properties": dict(self.properties), "needs_data": self.needs_data}
        return Notebook(name, Path(__file__), schema)


def _number(default: float, what: str, **limits: float) -> dict[str, Any]:
    return {"type": "number", "default": default, "description": what, **limits}


def _integer(default: int, what: str, **limits: int) -> dict[str, Any]:
    return {"type": "integer", "default": default, "description": what, **limits}


def _one_of(options: tuple[str, ...], what: str) -> dict[str, Any]:
    return {"type": "string", "default": options[0], "enum": list(options), "description": what}


def epsilon(*, n: int, eps: float, delta: float, mechanism: str, k: int, rounds: int) -> Results:
    """The certified central eps of n users with one local budget."""
    from gspa import accountant, blanket, composition

    crowd, rounds = budgets.constant(eps, n=n), check.count(rounds=rounds)
    items = k if mechanism == "krr" else None
    if rounds > 1:
        bound = composition.compose([(composition.shuffled(crowd, mechanism=mechanism, k=items), rounds)], delta=delta)
    elif mechanism == "laplace":
        bound = blanket.blanket_epsilon(crowd, delta=delta, mechanism=mechanism)
    else:
        bound = accountant.central_epsilon(crowd, delta=delta, mechanism=mechanism, k=items)
    return {"value": bound.value, "lower": bound.lower, "upper": bound.upper, "valid_for": bound.valid_for}


def mean(
    *,
    n: int,
    f_conservative: float,
    eps_conservative: float,
    reading: str,
    sensitivity: float,
    repeats: int,
    seed: int,
) -> Results:
    """Algorithm 1's error for Figure 3's users: simulated, and exact for the budgets drawn."""
    from gspa import mean_estimation
    from gspa.error_laws import Groups

    rng = check.rng(seed)
    groups = Groups(n=n, f_conservative=f_conservative, eps_conservative=eps_conservative)
    eps = groups.people(reading=reading, rng=rng).expanded().eps
    x = mean_estimation.clipped_data(groups.n, center=50.0, sigma=10.0, low=20.0, high=80.0, rng=rng)
    found = mean_estimation.simulate_mean(x, eps, sensitivity=sensitivity, repeats=repeats, rng=rng)
    exact = mean_estimation.mean_error(eps, sensitivity=sensitivity)
    return {"mae": found.mae, "mae_error": found.mae_error, "bias": found.bias, "exact": exact}


def frequency(
    *, n: int, c: float, f_conservative: float, eps_conservative: float, reading: str, repeats: int, seed: int
) -> Results:
    """Algorithm 2's error for Figure 3's users, and its exact bias for the bits dealt."""
    from gspa import estimators
    from gspa.error_laws import Groups

    rng = check.rng(seed)
    groups = Groups(n=n, f_conservative=f_conservative, eps_conservative=eps_conservative)
    eps = groups.people(reading=reading, rng=rng).expanded().eps
    x = rng.permutation(np.arange(groups.n) < round(check.in_range(0, 1, c=c) * groups.n)).astype(int)
    found = estimators.simulate_frequency(x, eps, repeats=repeats, rng=rng)
    exact_bias = estimators.frequency_expectation(x, eps) - found.truth
    return {"mae": found.mae, "mae_error": found.mae_error, "bias": found.bias, "exact_bias": exact_bias}


def training(*, setting: str, clients: int, epochs: int, learning_rate: float, clip: float, seed: int) -> Results:
    """Algorithm 3 once, with one of Figure 4's budget settings."""
    from gspa import datasets, experiments
    from gspa.sgd_config import SgdConfig

    images = datasets.project(datasets.load("auto"))
    config = SgdConfig(clients=clients, epochs=epochs, learning_rate=learning_rate, clip=clip)
    runs = experiments.figure4(images, config, seeds=(seed,), settings=(setting,), jobs=1)
    last = runs[runs["epoch"] == runs["epoch"].max()].iloc[0]
    return {name: float(last[name]) for name in ("accuracy", "test_loss", "eps_min", "noise")} | {
        "dataset": images.name
    }


_N = _integer(10_000, "number of users", minimum=10, maximum=10**8)
_SEED = _integer(2024, "seed of every draw", minimum=0)
_SHARE = _number(0.54, "share of conservative users", minimum=0, maximum=0.91)
_CONSERVATIVE = _number(0.1, "their local budget", exclusiveMinimum=0, maximum=0.5)
_READING = _one_of(("constants", "ranges"), "what the groups' budgets are")
_REPEATS = _integer(1000, "simulated runs", minimum=2, maximum=10**6)

EXPERIMENTS: Mapping[str, Experiment] = {
    "epsilon": Experiment(
        epsilon,
        {
            "n": _integer(10_000, "number of users", minimum=1, maximum=2**53),
            "eps": _number(0.5, "everybody's local budget", minimum=0),
            "delta": _number(1e-4, "central delta", exclusiveMinimum=0, exclusiveMaximum=1),
            "mechanism": _one_of(("rr", "krr", "laplace"), "what the users run"),
            "k": _integer(10, "number of items, for krr", minimum=2),
            "rounds": _integer(1, "how often everybody reports", minimum=1),
        },
    ),
    "mean": Experiment(
        mean,
        {
            "n": _N,
            "f_conservative": _SHARE,
            "eps_conservative": _CONSERVATIVE,
            "reading": _READING,
            "sensitivity": _number(60.0, "the paper's Delta f", exclusiveMinimum=0),
            "repeats": _REPEATS,
            "seed": _SEED,
        },
    ),
    "frequency": Experiment(
        frequency,
        {
            "n": _N,
            "c": _number(0.7, "share of ones", minimum=0, maximum=1),
            "f_conservative": _SHARE,
            "eps_conservative": _CONSERVATIVE,
            "reading": _READING,
            "repeats": _REPEATS,
            "seed": _SEED,
        },
    ),
    "training": Experiment(
        training,
        {
            "setting": _one_of(("mixed", "unif1", "unif2", "unif3", "constant", "no noise"), "whose budgets"),
            "clients": _integer(100, "m in Table 3", minimum=2, maximum=60_000),
            "epochs": _integer(50, "T in Table 3", minimum=1, maximum=1000),
            "learning_rate": _number(0.05, "eta in Table 3", exclusiveMinimum=0),
            "clip": _number(2.0, "C in Table 3", exclusiveMinimum=0),
            "seed": _SEED,
        },
        needs_data=True,
    ),
}
"""By the name that the command line takes.

:meta hide-value:
"""

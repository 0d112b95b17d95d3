"""Bad arguments that ended in another exception, or never, until they were found: each is refused in one line."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gspa.accountant import api, arguments, attacks, budgets, exact, one_round
from gspa.accountant.errors import GspaError
from gspa.accountant.interop import compose_with_dp_accounting
from gspa.accountant.laplace_gaussian import blanket_epsilon
from gspa.accountant.randomizers import KRR, SubsetSelection, TotalVariation
from gspa.accountant.rounds import gaussian
from gspa.algorithms import frequency, mean, sgd
from gspa.algorithms.flame import accounting, aggregation, federated, protocols
from gspa.algorithms.flame import attacks as flame_attacks
from gspa.algorithms.flame.randomizers import Laplace
from gspa.algorithms.sgd_config import SgdConfig
from gspa.algorithms.testing import HadamardResponse, walsh_hadamard
from gspa.book import sweep

RESPONSE = HadamardResponse.of(4, eps=1.0)
RNG = np.random.default_rng(0)
CROWD = budgets.constant(1.0, n=4)
CLONES = (KRR(3), SubsetSelection(4, 2))
NOWHERE = Path("a\0b.csv")
TINY = {"mechanism": TotalVariation(1e-300)}
NOISY = {"mechanism": api.Gaussian(1.0), "delta": 0.1}
LOUD = {"budgets": budgets.constant(1e308, n=2), "delta": 0.1}
BEYOND = (10**400, -(10**400), 10**5000, Fraction(10**400))  # every double, and what is printed
TABLE = pd.DataFrame({"n": [1]})

# (function, what it is called with, the argument that is at fault).
REFUSED = [
    (attacks.reports, {"scales": [708.0, 5e-324], "count": [5, 9]}, "scale"),
    (attacks.reports, {"scales": [2.5, 1e308], "count": 20, "mechanism": "gaussian"}, "scale"),
    (blanket_epsilon, {"scales": budgets.constant(1e300, n=20), "delta": 0.1}, "scale"),
    (frequency.frequency_variance, {"eps": [2e-308, 0.0]}, "eps"),
    (one_round.central_delta, {"budgets": budgets.constant(700.0, n=3), "eps": 300.0} | TINY, "tv"),
    (budgets.from_array, {"eps": [1.0], "count": [[1], [1, 2]]}, "count"),
    (RESPONSE.law, {"p": [0.0, 0.0, 0.0, 0.0]}, "p"),
    (RESPONSE.estimate, {"counts": [0] * 8}, "counts"),
    (RESPONSE.reports, {"items": [4], "rng": 0}, "items"),
    (walsh_hadamard, {"table": np.array(1.0)}, "table"),
    (attacks.attack_delta, {"scales": [1.0], "count": 5, "eps": 0.1, "cells": 20.5}, "cells"),
    (mean.mean_estimate, {"reports": [1e308] * 3}, "reports"),
    (mean.mean_error, {"eps": [0.5], "sensitivity": 1e308}, "sensitivity"),
    (mean.noise_scales, {"eps": [0.0], "sensitivity": 1.0}, "eps"),
    (flame_attacks.linked_delta, {"local": Laplace(0.5), "k": 4, "messages": 3, "eps": 745.5}, "eps"),
    (aggregation.Sampled, {"clip": 0.1, "eps": np.zeros((1, 2)), "k": 1, "n_p": 1}, "eps"),
    (budgets.from_array, {"eps": np.array(0.5)}, "eps"),
    (mean.clipped_normal, {"center": 0.0, "sigma": 1e308, "low": 0.0, "high": 1.0}, "sigma"),
    (sgd.gaussian_sigma, {"eps": [5e-324], "clip": 2.0, "divisor": 1, "delta": 0.1}, "eps"),
    (accounting.topk, {"local": Laplace(1.0), "k": 1, "n_p": [2], "delta": 0.1, "most_selected": 1}, "n_p"),
    (aggregation.Simple, {"clip": 0.1, "eps": 0.0}, "eps"),
    (aggregation.LocalGaussian, {"clip": -1.0, "sigma": 1.0}, "clip"),
    (aggregation.Mean, {"rate": float("nan")}, "rate"),
    (aggregation.others, {"indices": np.array([[0]]), "d": "9", "extra": 1, "rng": RNG}, "d"),
    (federated.initial_weights, {"features": 1, "classes": 2, "seed": 0}, "features"),
    (protocols.dummy_vectors, {"missing": np.array([2, 1]), "k": 0, "rng": RNG}, "k"),
    (api.mechanism, {"name": []}, "mechanism"),
    (api.epsilon, {"delta": 0.1, "eps": 1.0, "n": 5, "mechanism": {}}, "mechanism"),
    (api.epsilon, NOISY | {"n": float("nan"), "honest": 3}, "n"),
    (api.epsilon, NOISY | {"n": "x", "honest": 3}, "n"),
    (api.delta, {"at_eps": -1.0, "eps": 1.0, "n": 5}, "at_eps"),
    (api.calibrate, {"target_eps": -1.0, "delta": 0.1, "n": 5}, "target_eps"),
    (api.calibrate, {"target_eps": 1.0, "delta": 0.1, "eps": "1"}, "eps"),
    (api.per_user, {"budgets": None, "delta": 0.1}, "budgets"),
    (api.KRR, {"k": float("nan")}, "k"),
    (api.TotalVariation, {"tv": float("nan")}, "tv"),
    (api.Mechanism, {}, "mechanism"),
    (one_round.central_epsilon, {"budgets": CROWD, "delta": 0.1, "mechanism": "rr"}, "mechanism"),
    *((one_round.central_epsilon, LOUD | {"mechanism": one}, f"{one.label}: needs eps <= 700") for one in CLONES),
    (exact.exact_epsilon, LOUD, "the exact law of the bits: needs eps <= 10000"),
    *((arguments.positive, {"eps": value}, "eps") for value in BEYOND),
    *((arguments.count, {"n": value}, "n") for value in BEYOND),
    *((partial(arguments.array_in, 0, 1), {"p": [value]}, "p") for value in BEYOND),
    *((budgets.constant, {"eps": 0.5, "n": value}, "n") for value in BEYOND),
    *((frequency.frequency_estimate, {"reports": x, "eps": [0.5, 0.5]}, "reports") for x in ([[1], [1, 0]], ...)),
    *((frequency.frequency_estimate, {"reports": x, "eps": [0.5, 0.5]}, "reports") for x in (["1", "0"], [None, 1])),
    *((budgets.from_csv, {"path": path}, "path") for path in (None, 1.5, ("a",), "a\0b")),
    (budgets.from_csv, {"path": "a\nb.csv"}, "a"),
    (sgd.train, {"data": None, "eps": None, "config": SgdConfig(), "seeds": [2**63]}, "seeds[0]"),
    *((sweep.write_table, {"rows": TABLE, "output": path}, "") for path in (NOWHERE, Path("/none/x.csv"))),
    (sweep.rows_of, {"path": NOWHERE}, "a"),
]
if find_spec("dp_accounting"):
    more = {"rounds": [(gaussian(1000.0), 1)]}, {"rounds": [(gaussian(2.0), 2**62)]}
    REFUSED += [(compose_with_dp_accounting, one | {"step": 1e-3}, "") for one in more]


@pytest.mark.parametrize(
    ("function", "given", "at_fault"), REFUSED, ids=[getattr(f, "__name__", "array_in") for f, _, _ in REFUSED]
)
def test_refused_in_one_line_that_names_the_argument(function, given, at_fault):
    with pytest.raises(GspaError) as refused:
        function(**given)
    assert str(refused.value).startswith(at_fault)
    assert len(str(refused.value).splitlines()) == 1

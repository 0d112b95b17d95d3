"""How an argument is drawn by its name, wherever a chapter's table has nothing of its own for the function."""

from __future__ import annotations

from fractions import Fraction

import fuzz_objects as objects
import fuzz_runs as runs
from fuzz_values import (
    Kind,
    array,
    count,
    counts,
    either,
    fraction,
    known_to,
    lists_of,
    name,
    number,
    optional,
    together,
)

from gspa.flame.amplification import BOUNDS
from gspa.noise import SHAPES
from gspa.uniformity import COINS

DELTA = number(1e-9, 0.5)
SEED = known_to([0, 1, 2024, 2**63])
PEOPLE = either(*objects.POPULATIONS)
RATIO = fraction(1, 6)
SMALL_DELTA = fraction(0, Fraction(1, 2))
MECHANISM = name("rr", "krr", "subset", "common", "tv")
VARY = name("f_conservative", "eps_conservative")

# By name of the argument, wherever a function has no entry of its own.
NAMED: dict[str, Kind] = {
    "eps": number(0, 5),
    "eps0": number(1e-3, 4),
    "delta": DELTA,
    "deltas": array(1e-6, 0.4),
    "device": name("cpu"),
    "delta0": number(0, 0.1),
    "mu": number(0.01, 5),
    "mus": array(0.01, 3),
    "n": count(1, 60),
    "n_min": count(50, 100),
    "n_max": count(200, 400),
    "n_p": count(1, 40),
    "n_s": count(1, 40),
    "steps": count(2, 4),
    "k": count(2, 5),
    "size": count(1, 3),
    "tv": optional(number(0.01, 0.99)),
    "sizes": counts(10, 200),
    "seed": SEED,
    "rng": SEED,
    "seeds": counts(0, 5, most=2),
    "samples": count(10, 300),
    "confidence": number(0.5, 0.999),
    "points": count(2, 30),
    "pairs": count(1, 4),
    "triples": count(1, 3),
    "draws": count(1, 4),
    "repeats": count(2, 5),
    "budgets": PEOPLE,
    "people": PEOPLE,
    "ratio": RATIO,
    "mechanism": MECHANISM,
    "alpha": array(0, 1),
    "scale": number(0.1, 5),
    "sigma": number(0.1, 5),
    "sensitivity": number(0.1, 60),
    "low": number(0, 1),
    "high": number(1, 3),
    "center": number(20, 60),
    "c": number(0, 1),
    "reading": name("constants", "ranges"),
    "groups": either(*objects.GROUPS),
    "vary": VARY,
    "count": counts(1, 20, most=1),
    "victim": optional(count(0, 1)),
    "inputs": together(number(0, 0.4), number(0.6, 1)),
    "cells": count(20, 60),
    "statistic": name("linear", "window"),
    "others": optional(array(0, 1, most=2)),
    "p": array(0, 1),
    "q": array(0, 1),
    "dimensions": counts(1, 20),
    "shape": name(*SHAPES),
    "local": either(*objects.LOCALS),
    "beta": number(0.01, 1),
    "d": count(5, 30),
    "l": count(2, 12),
    "attack": either(True, False),
    "attached": name("position", "user"),
    "repeat_first": either(True, False),
    "pessimistic": either(True, False),
    "bound": name(*BOUNDS),
    "b": count(2, 6),
    "folds": count(1, 5),
    "epochs": count(1, 50),
    "records": count(1, 5),
    "divisor": count(1, 100),
    "clients": count(2, 20),
    "clip": number(0.1, 5),
    "config": either(runs.CONFIG),
    "text": name("aaai", "arxiv"),
    "randomizer": name("generic", "krr", "laplace"),
    "form": name("hoeffding", "bennett"),
    "order": number(1.1, 50),
    "step": optional(number(1e-3, 0.05)),
    "depth": number(5, 60),
    "p0": either(*objects.LAWS),
    "p1": either(*objects.LAWS),
    "mechanisms": lists_of(either(*objects.MECHANISMS)),
    "scaling": name("none", "unit_variance", "standardize_pixels"),
    "slack": number(0, 1),
    "small": count(1, 3),
    "jobs": either(1),
    "eps_local": number(0.01, 9),
    "targets": array(0.05, 2, most=2),
    "trials": count(2, 20),
    "coin": name(*COINS),
    "profile": name("quick"),
    "share": number(0, 0.9),
}

"""Every door of the accountant and the algorithms, and how each of its arguments is drawn.

A door is a public function, or a class that checks what it is given, in a module that speaks to callers. The packages
are walked for them; what is public by name alone is in `INSIDE`, with the reason. An argument is drawn as `OWN` says
for its function or module, or by its name (`NAMED`); a door with an argument of neither has no entry, and
`test_every_door_is_drawn` fails.
"""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_values import (
    JUNK_ARRAY,
    JUNK_NAME,
    Kind,
    array,
    built,
    count,
    counts,
    either,
    known_to,
    lists_of,
    made,
    name,
    number,
    optional,
    together,
)
from hypothesis import strategies as st

import gspa.accountant
import gspa.algorithms
from gspa.accountant import api, attacks, blanket_forms, budgets, published, samplers
from gspa.accountant.one_round import problem_of
from gspa.accountant.randomizers import KRR, Common, RandomizedResponse, SubsetSelection, TotalVariation
from gspa.accountant.rounds import gaussian, shuffled, shuffled_reports
from gspa.algorithms import digits, finite, shuffles
from gspa.algorithms.flame import aggregation, federated, noise, padded, protocols
from gspa.algorithms.flame.protocols import keypair
from gspa.algorithms.flame.randomizers import Buckets, Laplace
from gspa.algorithms.sgd_config import SgdConfig
from gspa.algorithms.testing import HadamardResponse

# --- what is a door ------------------------------------------------------------------------------------------

_ENGINE = "numerics below the doors, on arrays that those have checked"
_INNER = "a step of its module's own doors, on what those have checked"
# Modules, or names in them, that are public by name alone: nothing there checks an argument.
INSIDE: dict[str, str] = {
    "accountant.arguments": "the checks themselves: tests/accountant/test_validate.py",
    "accountant.errors": "the refusals themselves",
    "accountant.bound": "the answers themselves: tests/accountant/test_accountant.py",
    "accountant.cli": "commands: test_command_lines.py",
    "algorithms.cli": "commands: test_command_lines.py",
    **dict.fromkeys(
        [
            f"accountant.{part}"
            for part in ("binomial", "blanket", "clones", "pair", "random_sum", "roots", "transform")
        ],
        _ENGINE,
    ),
    "algorithms.sgd_batch": _ENGINE,
    **dict.fromkeys(
        [
            *(f"algorithms.flame.{part}" for part in ("experiment", "published")),
            *(f"algorithms.flame.accounting.{part}" for part in ("Worth", "certified", "tuned", "worth")),
        ],
        "what pages 15 and 16 compute, with their settings: tests/pages, tests/algorithms/test_flame_experiment.py",
    ),
    **{
        f"accountant.{module}.{part}": _INNER
        for module, names in {
            "allocation": "Dealt Law",
            "attacks": "cell_masses solve Setting",
            "certificates": "on_a_line allocated written",
            "exact": "Crowd tries_all sharper sharper_each",
            "engine": "sharpened named_per_user discrete_epsilon discrete_delta discrete_round",
            "inverse": "find solve Unknown",
            "randomizers": "Randomizer",
            "settings": "setting people left_out warnings in_range",
            "laplace_gaussian": "attacked how_close limit choose reports_pair",
            "losses": "spread merge sampled_gaussian atoms dominating dominated on_curve largest_of Values",
            "rounds": "of_tables held_alike silent depth_of checked",
            "one_round": "require_fit others_of problem_of epsilon_of candidates",
            "risk": "attack_rates",
            "blanket_forms": "blanket_moments",
            "closed_forms": "entry clone_slack",
            "mechanisms": "alone_delta alone_epsilon",
            "tradeoff": "like scaled",
        }.items()
        for part in names.split()
    },
}
# Doors that are not called with drawn arguments.
LEFT_OUT: dict[str, str] = {
    "accountant.randomizers.Mechanism": "the base of the others, which cannot be made itself: test_refused.py",
    "accountant.budgets.encoding": "looks at a file: tests/accountant/test_budget_file.py",
    "accountant.randomizers.read_matrix": "reads a file: tests/accountant/test_engine.py",
    "algorithms.digits.load": "reads what is on this machine: tests/algorithms/test_datasets.py",
    "algorithms.digits.banner": "takes nothing but a data set",
    "algorithms.flame.protocols.encryption_available": "takes nothing",
}


@cache
def modules() -> tuple[str, ...]:
    """The rooms' modules, by their path below gspa."""
    return tuple(
        found.name.removeprefix("gspa.")
        for room in (gspa.accountant, gspa.algorithms)
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")
        if not found.ispkg and not found.name.rpartition(".")[2].startswith("_")
    )


@cache
def doors() -> dict[str, Callable[..., Any]]:
    """Public functions and classes by module path and name; where a module has `__all__`, that says what is public."""
    found = {}
    for module in modules():
        loaded = import_module(f"gspa.{module}")
        public = getattr(loaded, "__all__", None) or [part for part in vars(loaded) if not part.startswith("_")]
        for part in public:
            value, key = getattr(loaded, part), f"{module}.{part}"
            if getattr(value, "__module__", None) != loaded.__name__ or INSIDE.keys() & {module, key}:
                continue
            # A class without checks holds what a door answers.
            if hasattr(value, "__post_init__") if inspect.isclass(value) else callable(value):
                found[key] = value
    return found


def keys() -> list[str]:
    """Everything that is called with drawn arguments."""
    return [*(key for key in doors() if key not in LEFT_OUT), *METHODS]


def target(key: str) -> Callable[..., Any]:
    """The function, class or method behind a key."""
    return METHODS[key] if key in METHODS else doors()[key]


def entry(key: str) -> dict[str, Kind]:
    """How the arguments of one door are drawn; a KeyError names the one without an entry."""
    module = next(one for one in modules() if key.startswith(f"{one}."))
    own = OWN.get(module, {}) | OWN.get(key, {})
    parameters = inspect.signature(target(key)).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return OWN[key]
    missing = [one.name for one in parameters if one.name not in own and one.name not in NAMED]
    if missing:
        raise KeyError(f"{key}: no entry for its arguments {missing}")
    return {one.name: own.get(one.name) or NAMED[one.name] for one in parameters}


def nan_is_explained(key: str) -> bool:
    """Whether the documentation says what NaN stands for in the answer."""
    return "NaN" in (target(key).__doc__ or "")


# --- ready-made arguments: small, made once, never changed ---------------------------------------------------

POPULATIONS = (
    budgets.constant(0.5, n=10),
    budgets.constant(0.0, n=3),
    budgets.constant(8.0, n=2),
    budgets.constant(1.0, n=1),
    budgets.constant(1e-9, n=5),
    budgets.constant(5e-324, n=2),
    budgets.constant(700.0, n=3),
    budgets.constant(1e308, n=2),
    budgets.constant(1.0, n=1000),
    budgets.from_array([0.1, 1.0, 3.0], 0.0, [3, 2, 1]),
    budgets.from_array([0.5, 0.7], 0.01),
    budgets.from_array([0.0, 2.0, 0.0]),
    budgets.from_array([0.5, 0.5], [0.0, 0.9]),
)
LOCALS = (Laplace(0.5), Buckets(0.5, 4), Buckets(3.0, 1), Laplace(20.0))
CONFIG = SgdConfig(clients=6, epochs=1, hidden_width=4)
RESPONSES = (HadamardResponse(4, 1.0, 2), HadamardResponse(4, 0.1, 1))
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


@cache
def _worlds(i: int) -> attacks.Worlds:
    return attacks.reports([0.5, 1.0], count=[4, 2], cells=12 + i)


@cache
def _problem(i: int) -> Any:
    return (problem_of(POPULATIONS[0], RandomizedResponse(), 0), problem_of(POPULATIONS[9], SubsetSelection(3, 1), 2))[
        i
    ]


@cache
def _round(i: int) -> Any:
    if i == 3:
        return shuffled_reports([1.0], count=20)
    return (shuffled(POPULATIONS[0]), shuffled(POPULATIONS[9], mechanism=KRR(3)), gaussian(1.0))[i]


@cache
def _coordinate(i: int) -> padded.Coordinate:
    return padded.coordinate(Laplace(0.5), n_p=10) if i else padded.coordinate(Buckets(0.5, 4), n_p=5, n=20, beta=0.1)


def _pair_of(clones: tuple[float, ...]) -> shuffles.Laws:
    return shuffles.count_pair(Fraction(3), clones=clones)


@cache
def _images(components: int | None) -> digits.Dataset:
    full, step = digits.load("digits"), 20 if components else 5
    parts = {part: getattr(full, part)[::step] for part in ("train_x", "train_y", "test_x", "test_y")}
    part = dataclasses.replace(full, **parts)
    return part if components is None else digits.project(part, components=components, cache=False)


@cache
def _few_users() -> federated.Users:
    return federated.partition(_images(None), users=6)


@cache
def _played() -> protocols.Played:
    return protocols.play(np.zeros((6, 4)), RULES[0], keypair("envelope"), rng=0)


# --- by the argument's name ----------------------------------------------------------------------------------

SEED = known_to([0, 1, 2024, 2**63])
PEOPLE = either(*POPULATIONS)
GENERATOR = made(np.random.default_rng, either(0, 1))
FLAG = either(True, False)
USERS = Path(__file__).with_name("users.csv")
NOISE = name(*noise.KINDS)

NAMED: dict[str, Kind] = (
    {"eps": number(0, 5), "eps0": number(1e-3, 4), "delta": number(1e-9, 0.5), "delta0": number(0, 0.1)}
    | {"mu": number(0.01, 5), "n": count(1, 60), "n_p": count(1, 40), "k": count(2, 5), "size": count(1, 3)}
    | {"tv": number(0.01, 0.99), "sizes": counts(10, 200), "seed": SEED, "rng": SEED}
    | {"seeds": counts(0, 5, most=2), "confidence": number(0.5, 0.999), "repeats": count(2, 5), "budgets": PEOPLE}
    | {"mechanism": name("laplace", "gaussian"), "alpha": array(0, 1), "scale": number(0.1, 5)}
    | {"sigma": number(0.1, 5), "sensitivity": number(0.1, 60), "low": number(0, 1), "high": number(1, 3)}
    | {"reading": name("constants", "ranges"), "scales": array(0.3, 3, most=2), "count": counts(1, 20, most=1)}
    | {"victim": optional(count(0, 1)), "cells": count(20, 60), "both": FLAG}
    | {"statistic": name("linear", "window"), "others": optional(array(0, 1, most=2)), "local": either(*LOCALS)}
    | {"beta": number(0.01, 1), "d": count(5, 30), "attack": FLAG, "pessimistic": FLAG, "folds": count(1, 5)}
    | {"epochs": count(1, 9), "divisor": count(1, 100), "clients": count(2, 20), "clip": number(0.1, 5)}
    | {"config": either(CONFIG), "device": name("cpu"), "randomizer": name(*blanket_forms.RANDOMIZERS)}
    | {"form": name(*blanket_forms.FORMS), "order": number(1.1, 50), "step": optional(number(1e-3, 0.05))}
    | {"depth": number(5, 60), "scaling": name("none", "unit_variance", "standardize_pixels")}
    | {"worlds": made(_worlds, either(0, 1)), "problem": made(_problem, either(0, 1))}
    | {"rounds": lists_of(together(made(_round, either(0, 1, 2, 3)), count(1, 5)))}
    | {"one": made(_coordinate, either(0, 1)), "data": made(_images, either(5))}
    | {"dataset": made(_images, either(None))}
)

# --- by function or module, then by the argument's name ------------------------------------------------------

_WHO = Kind(
    st.one_of(st.none(), PEOPLE.good, st.sampled_from([[0.5, 1.0], str(USERS), USERS])),
    st.one_of(JUNK_ARRAY, JUNK_NAME),
)
_SHAPED = (
    built(api.KRR, count(2, 5)),
    built(api.SubsetSelection, count(3, 5), count(1, 2)),
    built(api.TotalVariation, number(0.01, 0.2)),
    built(api.Gaussian, number(0.3, 5)),
)
_RUNS = Kind(
    st.one_of(
        st.sampled_from(["rr", "aligned", "laplace", api.Common(), api.Laplace()]), *(kind.good for kind in _SHAPED[:3])
    ),
    st.one_of(JUNK_NAME, *(kind.bad for kind in _SHAPED)),
)
_FAMILIES = (
    *(
        either(RandomizedResponse(), Common()),
        built(KRR, count(2, 5)),
        built(SubsetSelection, count(3, 5), count(1, 2)),
    ),
    built(TotalVariation, number(0.01, 0.2)),
)
_FAMILY = Kind(
    st.one_of(*(kind.good for kind in _FAMILIES)),
    st.one_of(JUNK_NAME, st.sampled_from([api.Laplace(), KRR]), *(kind.bad for kind in _FAMILIES[1:])),
)
_VALUES, _EACH = array(0, 1, least=3, most=3), array(0.1, 3, least=3, most=3)
_BITS = counts(0, 1, least=3, most=3)
_ANSWERS = {"laws": made(lambda: _worlds(0).laws), "count": made(lambda: _worlds(0).count.astype(float))}
_LAW = either([0.5, 0.5], [0.1, 0.9], [1, 0])
_SIZES = {"d": count(5, 20), "n": count(1, 9), "k": count(1, 5), "n_p": count(1, 9), "l": count(1, 3)}
_PACKING = {"select": name("uniform", "independent", "largest"), "packing": name(*protocols.PACKINGS), "printed": FLAG}

_RATIO = Kind(st.one_of(st.fractions(Fraction(9, 8), 9, max_denominator=9), st.floats(1.1, 9)), number(1, 2).bad)
_SHARE = Kind(st.one_of(st.fractions(0, Fraction(8, 9), max_denominator=9), st.floats(0, 0.9)), number(0, 1).bad)
_ROWS = finite.randomized_response(3.0).rows
_EXACT = shuffles.subset_selection(2, 1, Fraction(3))
_MATRIX = Kind(
    st.sampled_from([[[0.75, 0.25], [0.25, 0.75]], [[0.5, 0.5, 0], [0.2, 0.3, 0.5]], np.eye(2), np.full((3, 2), 0.5)]),
    st.sampled_from([[[0.5, 0.6], [0.5, 0.5]], [[1.0]], [0.5, 0.5], [[float("nan"), 1], [0, 1]], "rr", None, 3]),
)
_WRITTEN = lists_of(made(lambda table, many: (api.Discrete(table), many), _MATRIX, count(1, 9)))

OWN: dict[str, dict[str, Kind]] = {
    "accountant.allocation": {"steps": count(1, 100), "k": count(1, 2), "epochs": count(1, 2)}
    | {"direction": name("remove", "add", "both", "replace"), "sensitivity": number(0.1, 3)}
    | {"deal": name("each epoch", "once")},
    "accountant.samplers": {"sampler": name(*samplers.SAMPLERS), "steps": count(1, 200), "rate": number(1e-4, 1)}
    | {"direction": name("remove", "add", "both")},
    "accountant.api.mechanism": {"name": name(*api._KINDS), "k": optional(count(2, 5)), "sigma": optional(SEED)},
    "accountant.api": {
        "eps": optional(number(0, 5)),
        "n": optional(count(1, 60)),
        "budgets": _WHO,
        "mechanism": _RUNS,
    }
    | {"rounds": count(1, 3), "honest": optional(count(1, 20)), "at_eps": number(0, 3)}
    | {"fpr": array(1e-6, 0.9, least=1, most=3), "population": optional(_WRITTEN)},
    "accountant.randomizers.Discrete": {"matrix": _MATRIX},
    "accountant.api.calibrate": {"target_eps": number(0.3, 2), "n": optional(count(1, 9))},
    "accountant.api.to_dp_accounting": {"step": number(1e-3, 0.05)},
    "accountant.api.published": {"mechanism": name(None, *published.FAMILIES)},
    "accountant.budgets.Budgets": {"eps": array(0, 3, least=2, most=2), "delta": array(0, 0.5, least=2, most=2)}
    | {"count": counts(1, 9, least=2, most=2)},
    "accountant.budgets": {
        "delta": number(0, 0.5),
        "path": name(str(USERS)),
        "column": name("eps", "sigma", "scale"),
        "name": name(*budgets.DISTRIBUTIONS),
    }
    | {**{f"f_{group}": number(0, 1) for group in ("conservative", "moderate", "liberal")}}
    | {**{f"eps_{group}": number(0, 3) for group in ("conservative", "moderate", "liberal")}},
    "accountant.budgets.from_array": {"eps": array(0, 5), "count": count(1, 9)},
    "accountant.tradeoff.f_eps_delta": {"delta": number(0, 1)},
    "accountant.tradeoff": {"side": either(-1, 1)},
    **{f"accountant.tradeoff.gdp_{what}": {"eps": array(0, 5)} for what in ("log_delta", "delta")},
    "accountant.tradeoff.neyman_pearson": {"p": _LAW, "q": _LAW},
    "accountant.tradeoff.hockey_stick": {"p": array(0, 1), "q": array(0, 1)},
    "accountant.published": {"mechanism": name(None, *published.FAMILIES)}
    | {"keys": optional(lists_of(name(*published.CATALOGUE), least=1, most=2))},
    "accountant.closed_forms": {"half_way": FLAG},
    "accountant.closed_forms.girgis21_renyi": {"order": count(2, 30)},
    "accountant.closed_forms.renyi_to_epsilon": {"divergence": number(0, 5)},
    "accountant.one_round.honest_only": {"honest": count(1, 3)},
    **{f"accountant.{module}": {"mechanism": _FAMILY} for module in ("one_round", "rounds")},
    **{
        f"accountant.randomizers.{what}": {"k": count(2, 8)}
        for what in ("KRR", "Rappor", "HadamardResponse", "SubsetSelection")
    },
    "accountant.randomizers.LocalHashing": {"k": count(2, 8), "g": count(2, 8)},
    "accountant.randomizers.UnaryEncoding": {"k": count(2, 8), "kind": name("optimized", "symmetric")},
    "accountant.randomizers.TotalVariation": {"tv": number(0.01, 1)},
    "accountant.randomizers": {"given": _MATRIX},
    "accountant.certificates.certificate": {
        "budgets": NAMED["budgets"],
        "delta": NAMED["delta"],
        "mechanism": _FAMILY,
        "rounds": count(1, 2),
    },
    "accountant.rounds.gaussian": {"mu": number(0.01, 4)},
    "accountant.rounds.shuffled_reports": {"mechanism": name("laplace", "gaussian")},
    "accountant.interop.compose_with_dp_accounting": {"step": number(1e-3, 0.05)},
    "accountant.attacks.sum_laws": _ANSWERS
    | {"score": made(lambda: _worlds(0).linear), "victim": made(lambda: _worlds(0).victim)},
    "accountant.attacks": {"cells": count(4, 20)},
    "algorithms.finite": {"ratio": _RATIO, "delta": _SHARE, "inputs": count(2, 6), "patterns": count(1, 4)}
    | {"pairs": count(1, 5), "mechanism": made(finite.randomized_response, either(2, 2.5)), "rows": either(_ROWS)}
    | {"draws": count(0, 2), "kind": name("laplace", "gaussian"), "cells": count(8, 60)},
    "algorithms.finite.noise": {"inputs": array(0, 1, least=2)},
    "algorithms.channels": {
        "ratio": _RATIO,
        "delta": _SHARE,
        "p0": _LAW,
        "p1": _LAW,
        "pair": either([[0.5, 0.5], [0, 1]]),
    },
    "algorithms.shuffles": {
        "ratio": _RATIO,
        "delta": _SHARE,
        "neither": _SHARE,
        "clones": array(0, 0.5),
        "shared": FLAG,
    }
    | {"randomizers": either([_EXACT] * 3), "rows": either(_EXACT), "other": either(_EXACT), "user": count(0, 2)}
    | {"n": count(1, 3), "data": counts(0, 1, least=3), "others": counts(0, 1, least=2, most=2)}
    | {
        "inputs": together(count(0, 1), count(0, 1)),
        "attached": name(*shuffles.ATTACHED),
        "at": optional(lists_of(_RATIO)),
    }
    | {key: made(_pair_of, either((), (0.25, 0.125))) for key in ("laws", "shuffled", "pair")}
    | {"victim": made(shuffles.parts, either(_EXACT), either(3))},
    "algorithms.shuffles.parts": {"delta": either(0)},
    "algorithms.digits.project": {"components": count(1, 8), "cache": either(False)},
    "algorithms.frequency": {"x": _BITS, "reports": _BITS, "eps": _EACH},
    "algorithms.mean": {"x": _VALUES, "reports": _VALUES, "eps": _EACH, "center": number(-1, 4)},
    "algorithms.testing": {"self": either(*RESPONSES), "table": array(-9, 9, least=4, most=4), "k": count(2, 64)}
    | {"eps": number(0.01, 9), "blocks": known_to([1, 2, 4])}
    | {"p": Kind(st.sampled_from([[0.25] * 4, [0.5, 0.25, 0.25, 0.0], [[0.25] * 4] * 2]), array(0, 1).bad)}
    | {"counts": counts(0, 9, least=8, most=8), "items": counts(0, 3)},
    "algorithms.sgd.gaussian_sigma": {"eps": _EACH},
    "algorithms.sgd.client_budgets": {"law": name(*budgets.DISTRIBUTIONS)},
    "algorithms.sgd.train": {
        "eps": optional(array(0.5, 5, least=6, most=6)),
        "labels": either(""),
        "evaluate_every": count(1, 2),
    }
    | {**{key: either(None) for key in ("progress", "checkpoints")}},
    "algorithms.sgd_config.SgdConfig": {"learning_rate": number(0.01, 1), "hidden_width": count(1, 99)}
    | {"initialization": name("he", "torch_default"), "client_split": name("shuffled")}
    | {"client_order": name("once", "per_epoch"), "noise_divisor": name("clients", "samples")}
    | {"average_divisor": name("clients", "samples"), "clipped": name("average", "records")},
    "algorithms.flame.padded.overflow": {"n": count(1, 90)},
    "algorithms.flame.padded.coordinate": {"against": name("other", "blanket"), "n": optional(count(1, 60))},
    "algorithms.flame.accounting.topk": {"most_selected": count(1, 40)},
    "algorithms.flame.attacks": {
        "others": name("blanket", "zero"),
        "levels": count(2, 40),
        "real": count(1, 20),
        "padded": count(1, 40),
    }
    | {"messages": count(1, 9)},
    "algorithms.flame.attacks.linked_delta": {"local": either(Laplace(0.5), Laplace(5.0))},
    "algorithms.flame.attacks.zero_delta": {"local": either(Buckets(0.5, 4), Buckets(3.0, 1, True))},
    "algorithms.flame.federated.partition": {
        "data": NAMED["dataset"],
        "users": count(2, 6),
        "held_out": count(1, 9),
    },
    "algorithms.flame.aggregation": {
        "eps": number(0.01, 9),
        "rate": number(0.1, 5),
        "divide": name(*aggregation.DIVISORS),
    }
    | {"select": _PACKING["select"], "indices": made(np.array, either([[0, 1], [1, 2]], [[4], [0], [4]]))}
    | {"extra": count(1, 3)}
    | {key: _SIZES[key] for key in ("k", "n_p", "l")},
    **{f"algorithms.flame.aggregation.{what}": {"rng": GENERATOR} for what in ("subsets", "others")},
    "algorithms.flame.federated": {
        "x": made(np.ones, either((2, 3, 4))),
        "y": made(np.array, either([[0, 1, 1], [1, 0, 0]])),
    }
    | {"weights": made(np.zeros, either((4, 2)))}
    | {"training": either(federated.Training(rounds=2, batches=2, local_epochs=1)), "features": count(2, 9)}
    | {"classes": count(2, 9), "users": made(_few_users), "aggregator": either(*AGGREGATORS), "noise": NOISE}
    | {"evaluate_every": count(1, 2)},
    "algorithms.flame.federated.Training": {
        **{key: count(1, 9) for key in ("rounds", "batches", "local_epochs")},
        "local_rate": number(0.01, 1),
    },
    "algorithms.flame.noise": {
        "kind": NOISE,
        "seed": count(0, 9),
        "self": either(noise.Source(), noise.Source("released")),
    }
    | {"number": count(0, 9)},
    "algorithms.flame.randomizers": {"eps": number(0.1, 9), "b": count(1, 9), "printed": FLAG},
    "algorithms.flame.protocols.keypair": {"kind": name("envelope", "encrypted")},
    "algorithms.flame.protocols": {
        **_PACKING,
        "updates": either(np.zeros((6, 4)), [[0.1] * 4] * 6, [[0.1] * 3] * 6, "x", None, []),
    }
    | {"rules": either(*RULES), "secret": made(keypair, either("envelope", "encrypted"))}
    | {"missing": made(np.array, either([2, 1, 1], [0, 0], [1, 3])), "k": count(1, 3), "found": made(_played)}
    | {"sender": count(0, 5)},
    "algorithms.flame.protocols.Rules": _SIZES | {"clip": number(0.01, 1), "local": either(*LOCALS[:2])},
    "algorithms.flame.protocols.dummy_vectors": {"rng": GENERATOR},
}

# What objects are asked that callers have made.
METHODS: dict[str, Callable[..., Any]] = {
    "algorithms.flame.noise.Source.fresh": noise.Source.fresh,
    **{
        f"algorithms.testing.HadamardResponse.{what}": getattr(HadamardResponse, what)
        for what in ("of", "law", "estimate", "reports")
    },
}

# --- values that only fit together: drawn at random, nearly all would be refused for the same reason ---------

_REPORTS = tuple({"mechanism": mechanism, "victim": None, "count": 20} for mechanism in ("laplace", "gaussian"))
_BATCHES = ({"mechanism": "laplace", "victim": 0, "count": [5, 9], "scales": [1.0, 2.0]}, *_REPORTS)
_ASKERS = (
    {"eps": 0.5, "n": 20, "budgets": None, "honest": None},
    {"eps": 2.5, "n": 20, "budgets": None},
    {"eps": None, "n": None, "honest": None},
    {"eps": None, "n": None, "budgets": POPULATIONS[9], "honest": 5},
    {"eps": None, "n": 30, "budgets": None, "mechanism": api.Gaussian(1.0)},
    {"eps": None, "n": None, "budgets": None, "mechanism": api.Gaussian([1.0, 2.0, 2.0], sensitivity=2.0)},
    {"eps": None, "n": 20, "budgets": None, "mechanism": api.Laplace(scale=2.0)},
)

TOGETHER: dict[str, tuple[dict[str, Any], ...]] = {
    **{f"accountant.api.{what}": _ASKERS for what in ("epsilon", "delta", "risk", "certify")},
    "accountant.api.attack": tuple(
        {key: value for key, value in one.items() if key != "honest"} | runs
        for one, runs in zip(
            _ASKERS, ({}, {"mechanism": api.KRR(3)}, {"mechanism": "laplace"}, {}, {}, {}, {}), strict=True
        )
    ),
    "accountant.api.published": ({"eps": 0.5, "n": 20, "budgets": None}, {"eps": None, "n": None}),
    "accountant.api.calibrate": ({"eps": None}, {"n": None}, {}),
    "accountant.api.mechanism": ({"name": "krr", "sigma": None}, {"name": "gaussian", "k": None}),
    **{f"accountant.laplace_gaussian.blanket_{what}": _BATCHES for what in ("delta", "epsilon")},
    **{
        f"accountant.attacks.{what}": tuple(one | {"others": None} for one in _BATCHES)
        for what in ("attack_delta", "attack_epsilon", "reports")
    },
    "accountant.budgets.preference_groups": (
        {"f_conservative": 0.5, "f_moderate": 0.4, "f_liberal": 0.1, "reading": "constants"},
        {"f_conservative": 0.5, "f_moderate": 0.3, "f_liberal": None, "reading": "ranges"}
        | {"eps_conservative": 0.1, "eps_moderate": 0.5, "eps_liberal": 1.0},
    ),
    "accountant.tradeoff.hockey_stick": ({"p": [0.5, 0.5], "q": [0.1, 0.9]}, {"p": [1, 0], "q": [0, 1]}),
    **{
        f"accountant.closed_forms.{what}": ({"n": 10**6, "eps0": 0.1, "delta": 1e-4},)
        for what in ("erlingsson19_epsilon", "fmt21_epsilon")
    },
    **{f"accountant.closed_forms.{what}_epsilon": ({"n": 10**5},) for what in ("clones_blog", "fmt23")},
    "accountant.closed_forms.liu23_epsilon": ({"budgets": budgets.constant(0.5, n=10**4)}, {}),
    "accountant.closed_forms.wang24_epsilon": ({"n": 10**4},),
}

"""Arguments that are ready-made objects, by name and place; and what is called beside the reference's functions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import fuzz_objects as objects
import fuzz_runs as runs
import pandas as pd
from fuzz_arguments import DELTA
from fuzz_values import Kind, array, count, counts, either, known_to, lists_of, made, name, number, optional, together

from gspa import accountant, budgets, infeasible, normal_pair, personalized, reduction_cases, sgd_config
from gspa.complexities import PROBLEMS
from gspa.flame import aggregation, cases, federated, noise, protocols
from gspa.flame.amplification import Setting
from gspa.flame.randomizers import Buckets, Laplace
from gspa.hadamard import HadamardResponse
from gspa.uniformity import COINS, UniformityTester


def _one_of(make: Callable[[], Any], size: int) -> Kind:
    return made(lambda i: make()[i], either(*range(size)))


# By name of the argument, and the function or module that it is in ("": anywhere).
BY_CLASS: dict[tuple[str, str], Kind] = {
    ("case", "auditing"): _one_of(objects.audit_settings, 4),
    ("some", "auditing"): lists_of(_one_of(objects.audit_settings, 4), most=2),
    ("worlds", ""): _one_of(objects.worlds, 2),
    ("problem", ""): _one_of(objects.problems, 2),
    ("problem", "complexities"): name(*PROBLEMS),
    ("rounds", ""): lists_of(together(_one_of(objects.rounds, 4), count(1, 5))),
    ("scales", ""): array(0.3, 3, most=2),
    ("one", "personalized"): made(lambda i: personalized.crowd("a", objects.POPULATIONS[i]), either(0, 9)),
    ("crowds", "personalized"): lists_of(
        made(lambda i: personalized.crowd("a", objects.POPULATIONS[i]), either(0, 9)), most=1
    ),
    ("one", "flame.accounting"): _one_of(objects.coordinates, 2),
    ("one", "flame.privacy"): either(*objects.SETTINGS),
    ("base", "flame.privacy"): either(*objects.SETTINGS),
    ("setting", "flame.amplification"): either(*objects.SETTINGS),
    ("system", "infeasible"): made(
        lambda i: infeasible.lemma1(
            *objects.MECHANISMS[0].rows,
            {"x": objects.MECHANISMS[0].rows[0]},
            ratio=objects.P,
            coefficient=Fraction(i, 4),
        ),
        either(0, 1, 2, 4),
    ),
    ("laws", "reduction"): _one_of(objects.exact_laws, 2),
    ("shuffled", "reduction"): _one_of(objects.exact_laws, 2),
    ("pair", "reduction"): _one_of(objects.exact_laws, 2),
    ("which", "reduction_cases"): made(lambda i: reduction_cases.cases()[i : i + 2], either(0, 1, 2)),
    ("case", "reduction_cases"): made(lambda i: reduction_cases.cases()[i], either(0, 1, 2)),
    ("laws", "reduction_cases"): made(lambda i: {"shuffled": objects.exact_laws()[i]}, either(0, 1)),
    ("tried", "aligned"): made(lambda i: [objects.aligned_cases()[i]], either(0, 1)),
    ("data", ""): made(runs.images),
    ("dataset", ""): made(runs.small_images),
    ("images", ""): made(runs.small_images),
    ("client", ""): made(runs.client),
    ("pool", ""): made(runs.pool),
    ("x", "sgd_sensitivity"): made(runs.pool),
    ("values", "experiments"): made(pd.Series, array(0, 1, least=2)),
    ("response", "learning"): either(*runs.RESPONSES),
    ("users", "flame.federated"): made(runs.few_users),
    ("training", "flame.federated"): either(federated.Training(rounds=2, batches=2, local_epochs=1)),
    ("aggregator", "flame.federated"): either(*runs.AGGREGATORS),
    ("rules", "flame.protocols"): either(*runs.RULES),
    ("secret", "flame.protocols"): made(runs.keypair, either("envelope", "encrypted")),
    ("found", "flame.protocols"): made(runs.played),
    ("worths", "flame.worth"): made(runs.worths),
    ("cases", "flame.experiments"): made(runs.flame_cases),
    ("runs", "flame.results"): made(runs.flame_runs),
    ("target", "sweep"): made(runs.epsilon_target),
    ("notebook", "sweep"): made(runs.epsilon_notebook),
    ("score", "audit"): made(lambda i: objects.worlds()[i].scores()[0][1], either(0)),
    ("v", "audit"): made(lambda i: objects.worlds()[i].victim[0] - objects.worlds()[i].victim[1], either(0)),
    ("laws", "audit"): made(lambda i: objects.worlds()[i].laws, either(0)),
    ("count", "audit.linear_score"): made(lambda i: objects.worlds()[i].count.astype(float), either(0)),
    ("count", "audit.sum_laws"): made(lambda i: objects.worlds()[i].count.astype(float), either(0)),
    ("victim", "audit.sum_laws"): made(lambda i: objects.worlds()[i].victim, either(0)),
    ("symbols", "normal_pair"): made(normal_pair.lemma3_symbols),
    ("v1", "normal_pair"): made(normal_pair.sp.Symbol, either("a")),
    ("v2", "normal_pair"): made(normal_pair.sp.Symbol, either("b")),
}

_SEED = count(0, 9)
_SIZES = {"d": count(5, 20), "n": count(1, 9), "k": count(1, 5), "n_p": count(1, 9), "l": count(1, 3)}
_TEXTS = {
    "select": name("uniform", "independent", "largest"),
    "divide": name(*aggregation.DIVISORS),
    "packing": name(*protocols.PACKINGS),
}

# Classes that a user fills in with numbers and names, what such an object is asked, and a function whose module shows
# only two others.
ALSO: dict[str, tuple[Callable[..., Any], dict[str, Kind]]] = {
    "budgets.Budgets": (
        budgets.Budgets,
        {
            "eps": array(0, 3, least=2, most=2),
            "delta": array(0, 0.5, least=2, most=2),
            "count": counts(1, 9, least=2, most=2),
        },
    ),
    "flame.randomizers.Laplace": (Laplace, {"eps": number(0.1, 9)}),
    "flame.randomizers.Buckets": (Buckets, {"eps": number(0.1, 9), "b": count(1, 9), "printed": either(True, False)}),
    "flame.amplification.Setting": (
        Setting,
        {
            "d": count(5, 9),
            "k": count(1, 5),
            "n": count(1, 99),
            "n_p": count(1, 99),
            "eps": number(0.1, 9),
            "delta": DELTA,
        },
    ),
    "error_laws.Groups": (
        objects.Groups,
        {"n": count(5, 99), "f_conservative": number(0, 0.5), "f_liberal": number(0, 0.5)}
        | {key: number(0.01, 3) for key in ("eps_conservative", "eps_moderate", "eps_liberal")},
    ),
    "sgd_config.SgdConfig": (
        sgd_config.SgdConfig,
        {"clients": count(1, 99), "epochs": count(1, 9), "learning_rate": number(0.01, 1), "clip": number(0.1, 9)}
        | {"delta": DELTA, "hidden_width": count(1, 99), "initialization": name("he", "torch_default")}
        | {"client_split": name("shuffled"), "client_order": name("once", "per_epoch")}
        | {"noise_divisor": name("clients", "samples"), "average_divisor": name("clients", "samples")},
    ),
    "accountant.epsilon_table": (
        accountant.epsilon_table,
        {"n": counts(1, 60), "eps": array(0, 3, most=1), "delta": DELTA, "local_delta": number(0, 0.1)}
        | {"mechanism": name("rr", "krr"), "k": optional(count(2, 5)), "size": either(None), "tv": either(None)},
    ),
    "hadamard.HadamardResponse": (
        HadamardResponse,
        {"k": count(4, 64), "eps": number(0.01, 9), "blocks": known_to([1, 2, 4])},
    ),
    "hadamard.HadamardResponse.of": (HadamardResponse.of, {"k": count(2, 64), "eps": number(0.01, 9)}),
    "hadamard.HadamardResponse.law": (
        HadamardResponse.law,
        {
            "self": either(*runs.RESPONSES),
            "p": Kind(either(runs.UNIFORM, [0.5, 0.25, 0.25, 0.0], [[0.25] * 4] * 2).good, array(0, 1).bad),
        },
    ),
    "hadamard.HadamardResponse.estimate": (
        HadamardResponse.estimate,
        {"self": either(*runs.RESPONSES), "counts": counts(0, 9, least=8, most=8)},
    ),
    "hadamard.HadamardResponse.reports": (
        HadamardResponse.reports,
        {"self": either(*runs.RESPONSES), "items": counts(0, 3), "rng": _SEED},
    ),
    "uniformity.UniformityTester.of": (
        UniformityTester.of,
        {"k": known_to([2, 4, 16, 64]), "eps_local": number(0.01, 9), "coin": name(*COINS)},
    ),
    "flame.noise.Source": (noise.Source, {"kind": name(*noise.KINDS), "seed": _SEED}),
    "flame.noise.Source.fresh": (
        noise.Source.fresh,
        {"self": either(noise.Source(), noise.Source("released")), "number": count(0, 9)},
    ),
    "flame.aggregation.Mean": (aggregation.Mean, {"rate": number(0.1, 5)}),
    "flame.aggregation.Curator": (
        aggregation.Curator,
        {"clip": number(0.01, 1), "sigma": number(0, 9), "rate": number(0.1, 5)},
    ),
    "flame.aggregation.LocalGaussian": (
        aggregation.LocalGaussian,
        {"clip": number(0.01, 1), "sigma": number(0, 9)},
    ),
    "flame.aggregation.Simple": (aggregation.Simple, {"clip": number(0.01, 1), "eps": number(0.01, 9)}),
    "flame.aggregation.Sampled": (
        aggregation.Sampled,
        {"clip": number(0.01, 1), "eps": number(0.01, 9)}
        | {key: _SIZES[key] for key in ("k", "n_p", "l")}
        | {key: _TEXTS[key] for key in ("select", "divide")},
    ),
    "flame.federated.Training": (
        federated.Training,
        {key: count(1, 9) for key in ("rounds", "batches", "local_epochs")} | {"local_rate": number(0.01, 1)},
    ),
    "flame.protocols.Rules": (
        protocols.Rules,
        _SIZES
        | {"clip": number(0.01, 1), "local": either(Laplace(0.5), Buckets(0.5, 4))}
        | {key: _TEXTS[key] for key in ("select", "packing")}
        | {"printed": either(True, False)},
    ),
    "flame.cases.Paper": (
        cases.Paper,
        {"d": count(60, 90), "n": count(1, 99), "rate": count(1, 60), "delta": DELTA}
        | {key: number(0.1, 9) for key in ("ratio", "eps_l", "eps_curator", "eps_more", "clip")}
        | {"training": either(federated.Training())},
    ),
    "flame.cases.Paper.sized": (
        cases.Paper.sized,
        {"self": either(cases.Paper()), "data": made(runs.small_images), "users": count(6, 9)},
    ),
    "flame.cases.Paper.cases": (
        cases.Paper.cases,
        {"self": either(runs.SMALL_PAPER), "groups": lists_of(name(*cases.GROUPS)), "certified": either(())},
    ),
}

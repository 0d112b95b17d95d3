"""FLAME: how its arguments are drawn."""

from __future__ import annotations

import fuzz_objects as objects
import fuzz_runs as runs
import numpy as np
from fuzz_values import (
    Kind,
    array,
    count,
    counts,
    either,
    lists_of,
    made,
    name,
    number,
    optional,
)

from gspa.flame import noise, users, worth
from gspa.flame.amplification import BOUNDS
from gspa.flame.randomizers import Buckets, Laplace

LEFT_OUT = {"flame.privacy.headline": "takes only the table of accounts: tests/test_flame_privacy.py"}

_GENERATOR = made(np.random.default_rng, either(0, 1))
_NOISE = name(*noise.KINDS)
_LABEL = name("SS-Topk", "SS-Double", "NP-FL")
_GROUP = name("figure 7", "figure 5")
_CASE = {"group": _GROUP, "label": _LABEL}

OWN: dict[str, dict[str, Kind]] = {
    "flame.padded.overflow": {"n": count(1, 90)},
    "flame.padded.coordinate": {"against": name("other", "blanket"), "n": optional(count(1, 60))},
    "flame.accounting.composed_delta": {},
    "flame.amplification.simple": {"setting": either(objects.SETTINGS[2].full(), *objects.SETTINGS)},
    "flame.amplification.double": {"subsampling": either(True, False)},
    "flame.accounting.topk": {"most_selected": count(1, 40)},
    "flame.accounting.selections_covered": {"most_selected": optional(count(1, 40))},
    "flame.amplification.lemma1_epsilon": {"answers": count(2, 9)},
    "flame.attacks.scored": {"others": name("blanket", "zero"), "levels": count(2, 40)},
    "flame.attacks.sum_delta": {"others": name("blanket", "zero"), "real": count(1, 20), "padded": count(1, 40)},
    "flame.attacks.sum_epsilon": {"others": name("blanket", "zero"), "real": count(1, 20), "padded": count(1, 40)},
    "flame.attacks.linked_delta": {"local": either(Laplace(0.5), Laplace(5.0)), "messages": count(1, 9)},
    "flame.attacks.zero_delta": {"local": either(Buckets(0.5, 4), Buckets(3.0, 1, True))},
    "flame.attacks.named_delta": {"dummies": count(1, 5)},
    "flame.index_privacy.least_nu": {"beta": number(0.01, 0.5)},
    "flame.index_privacy.least_l": {"nu": number(1, 9), "beta": number(0.01, 0.5)},
    "flame.index_privacy.theorem5": {"beta": number(0.01, 0.5)},
    "flame.index_privacy.overflow_by_l": {"popular": number(0, 1), "k": count(1, 5)},
    "flame.index_privacy.simulate_padding": {"k": count(1, 3), "l": count(3, 5)},
    "flame.index_privacy.posterior": {"k": count(1, 3), "l": count(3, 5)},
    "flame.error.report_variance": {"x": number(0, 1)},
    "flame.error.standard_deviation": {"x": number(0, 1)},
    "flame.error.simulated_deviation": {"x": number(0, 1)},
    "flame.error.best_buckets": {"most": count(2, 50), "eps_ck": number(0.1, 2), "n_p": count(50, 90)},
    "flame.error.error_table": {
        "n_p": made(np.array, either([10_000, 20_000])),
        "n_s": made(np.array, either([50, 60])),
        "eps_ck": made(np.array, either([0.5, 1.0])),
    },
    "flame.error.exponent": {"column": name("n_p", "n_s", "eps_ck")},
    "flame.privacy.setting": {"eps_l": number(0.5, 90), "rate": number(1, 10), "padding": number(1, 5)},
    "flame.privacy.figure3_setting": {"rate": number(1, 10), "padding": number(1, 5), "eps": number(0.1, 2)},
    "flame.privacy.accounts": {
        "settings": either(
            {"SS-Simple": objects.SETTINGS[0]}, {"SS-Topk": objects.SETTINGS[0]}, {"x": objects.SETTINGS[1]}
        ),
        "bounds": either(("bennett",), BOUNDS),
    },
    "flame.privacy.amplification_ratios": {"eps": array(0.1, 2, most=2)},
    "flame.privacy.certified_ratios": {},
    "flame.privacy.figure4": {"most": count(2, 9), "beta": number(0.01, 0.5)},
    "flame.privacy.sweep": {
        "name": name("eps_l", "d"),
        "values": counts(1, 9, most=2),
        "base": either(*objects.SETTINGS),
        "eps_l": number(0.5, 9),
    },
    "flame.users.partition": {
        "data": made(runs.small_images),
        "users": count(2, 6),
        "held_out": count(1, 9),
        "scaling": name(*users.SCALINGS),
        "split": name(*users.SPLITS),
    },
    "flame.aggregation.subsets": {"rng": _GENERATOR},
    "flame.aggregation.others": {
        "indices": made(np.array, either([[0, 1], [1, 2]], [[4], [0], [4]])),
        "extra": count(1, 3),
        "rng": _GENERATOR,
    },
    "flame.federated.local_updates": {
        "x": made(np.ones, either((2, 3, 4))),
        "y": made(np.array, either([[0, 1, 1], [1, 0, 0]])),
        "weights": made(np.zeros, either((4, 2))),
    },
    "flame.federated.initial_weights": {"features": count(2, 9), "classes": count(2, 9)},
    "flame.federated.train": {"noise": _NOISE},
    "flame.sealing.keypair": {"kind": name("envelope", "encrypted")},
    "flame.protocols.play": {"updates": either(np.zeros((6, 4)), [[0.1] * 4] * 6, [[0.1] * 3] * 6, "x", None, [])},
    "flame.protocols.dummy_vectors": {
        "missing": made(np.array, either([2, 1, 1], [0, 0], [1, 3])),
        "k": count(1, 3),
        "rng": _GENERATOR,
        "printed": either(True, False),
    },
    "flame.protocols.who_saw_what": {"sender": count(0, 5)},
    "flame.misprints.estimates": {
        "n": count(10, 12),
        "k": count(1, 2),
        "n_p": count(12, 20),
        "value": number(-0.01, 0.01),
        "clip": number(0.01, 1),
        "eps": number(0.5, 20),
        "repeats": count(2, 3),
    },
    "flame.misprints.selected_share": {"k": count(1, 5), "users": count(2, 20), "spread": number(0.01, 2)},
    "flame.worth.certified": {
        "method": name(*worth.METHODS),
        "d": count(20, 60),
        "k": count(1, 3),
        "n": count(100, 300),
        "n_p": count(40, 60),
        "eps": number(0.1, 2),
    },
    "flame.worth.tuned": {
        "upper": either(*runs.INCREASING),
        "target": number(0.1, 2),
        "start": number(0.1, 2),
    },
    "flame.worth.worth": {
        "d": count(20, 60),
        "k": count(1, 3),
        "n": count(100, 300),
        "n_p": count(40, 60),
        "eps_l": number(0.5, 20),
        "target": optional(number(0.1, 2)),
    },
    "flame.experiments.run": {"data": name("digits"), "users": count(12, 24), "seeds": counts(0, 5, most=2)},
    **{f"flame.results.{what}": _CASE | ({"noise": _NOISE} if what == "mean" else {}) for what in ("said", "mean")},
    "flame.results.shown": {"groups": lists_of(_GROUP), "columns": lists_of(name("label", "mean (%)"), most=2)},
    "flame.results.ranking": {"group": _GROUP, "labels": lists_of(_LABEL)},
    "flame.results.apart": {"group": _GROUP, "above": _LABEL, "below": _LABEL, "varied": name("n/n_p", "")},
    "flame.results.against": _CASE | {key: name("n/n_p", "") for key in ("varied", "other")},
}

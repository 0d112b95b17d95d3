"""Hide among the clones: how its arguments are drawn."""

from __future__ import annotations

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
)

from gspa import uniformity

_LOCAL = array(0.05, 3, most=2)
_CROWDS = counts(20, 900, most=2)
_MANY = {key: array(low, high, most=2) for key, low, high in (("k", 2, 900), ("alpha", 0.01, 0.5))}
_NUMBERS = _MANY | {"eps": array(0.05, 3, most=2), "delta": array(1e-9, 0.1, most=2)}
_REPEATS = {"repeats": count(2, 3)}

LEFT_OUT = {
    "complexities.substitutions": "takes nothing: tests/test_complexities.py",
    "complexities.first_term": "takes nothing: tests/test_complexities.py",
}

OWN: dict[str, dict[str, Kind]] = {
    "clones.formulas": {"n": count(1, 10**9)},
    "clones.regimes": {"local": _LOCAL, "sizes": _CROWDS},
    "clones.expansions": {"small": number(1e-4, 1e-2), "large": number(8, 20)},
    "clones.direction": {"shares": array(0, 1), "n": count(1, 900)},
    "clones.users_needed": {"local": array(0.05, 3, most=1)},
    "clones.malicious": {"sizes": _CROWDS},
    "clones.pure": {"below": number(1e-3, 1)},
    "clone_cases.senders": {"sizes": counts(1, 3)},
    "clone_cases.deviations": {"n": count(2, 3), "bad": count(1, 2), "at": fraction(1, 5)},
    "clone_cases.pure_ratios": {"sizes": counts(1, 3)},
    "clone_cases.messages": {"k": count(2, 64)},
    "clone_cases.one_bit": {"k": known_to([4, 8, 12]), "ratio": number(1.1, 9)},
    "clone_budget.choices": {"sizes": _CROWDS},
    "complexities.local_users": {key: _NUMBERS[key] for key in ("k", "alpha", "eps")},
    "complexities.shuffled_users": _NUMBERS,
    "complexities.solved_users": _NUMBERS,
    "complexities.solved_over_printed": _NUMBERS,
    "complexities.eps_local": {"n": counts(1, 10**6, most=2), "eps": number(0.05, 3)},
    "complexities.information": {"k": known_to([2, 4, 64])},
    "complexities.necessary_over_stated": {"k": lists_of(known_to([2, 4, 64])), "eps": array(0.05, 3, most=2)},
    "scaling.fit": {
        "table": either(runs.POWER_LAW),
        "response": name("n", "k"),
        "factors": lists_of(name("k", "alpha"), most=2),
        "level": number(0.5, 0.99),
    },
    "scaling.fit_regimes": {
        "table": either(runs.POWER_LAW),
        "stated": either({"a": {"k": 1.0}}, {"a": {"k": 1.0, "alpha": -2.0}, "b": {"k": 0.5}}, {}, {"b": {"eps": 1.0}}),
    },
    "scaling.judge": {"found": either(*runs.FITTED), "tolerance": number(0, 1)},
    "hadamard.walsh_hadamard": {"table": array(-9, 9, least=4, most=4)},
    "learning.project": {"v": array(-2, 2, most=6)},
    "learning.errors": {"p": either(runs.UNIFORM)},
    "learning.shuffled_budget": {"eps": number(0.05, 2)},
    "learning.nearby_budget": {"n": count(1, 10**9)},
    "learning.learners": {"k": count(2, 16), "eps": number(0.05, 2), "sizes": counts(20, 900, most=1)},
    **{f"learning.{what}_scaling": _REPEATS for what in ("local", "shuffled", "central")},
    "uniformity.success": {"k": known_to([2, 8, 16]), "n": count(1, 900), "alpha": number(0, 0.5)},
    "uniformity.detectable": {
        "k": known_to([2, 8, 16]),
        "n": count(1, 900),
        "start": number(0.01, 0.5),
        "effort": name("quick"),
    },
    "uniformity.local_scaling": {"regimes": lists_of(name(*list(uniformity.LOCAL)[:2]), most=1)},
    "uniformity.shuffled_scaling": {"regimes": lists_of(name(*list(uniformity.SHUFFLED)[1:2]), most=1)},
    "uniformity.power_curves": {
        "k": known_to([2, 8, 16]),
        "alpha": number(0, 0.5),
        "eps": number(0.05, 2),
        "sizes": counts(20, 900, most=1),
    },
}

"""Planted errors in what the blog's claims rest on."""

from __future__ import annotations

from typing import Any

from mutants import Mutant, planted

_BLOG = '        "blog": math.log1p(16 * truth * root),\n'
_LEARNING = '    "learning": (_k * sp.sqrt(_log) / (_alpha * _eps), _k / _alpha**2),\n'
_PRIVATE = "(_k ** sp.Rational(3, 4) * sp.sqrt(_log)"
_PUBLIC = "_k ** sp.Rational(2, 3) * sp.cbrt(_log)"
# Minutes of simulated testers, or their exponents made up where the error is not in what is simulated.
_SIMULATED: dict[str, Any] = {"settings": {"profile": "paper"}}
_ONE_REGIME: dict[str, Any] = _SIMULATED | {"evidence": "small_runs.quick_tester"}
_STATED: dict[str, Any] = _SIMULATED | {"evidence": "fabricated.stated_exponents"}

MUTANTS: tuple[Mutant, ...] = (
    planted("B-1 B-6", "clones", _BLOG, _BLOG.replace("16 * ", ""), "eq. (1) without its 16"),
    planted("B-2", "clones", '"small": 8 * x *', '"small": 4 * x *', "the expansion for small eps_L with 4 for 8"),
    planted(
        "B-3",
        "clones",
        "(8 * root + 8 * growth)",
        "(16 * root + 8 * growth)",
        "Theorem 3.1 of the source with 16 for 8",
    ),
    planted("B-4", "reduction", "row if u == user else", "row if u == 0 else", "everybody signs with the same number"),
    planted(
        "B-5", "clone_cases", "rng.permutation(sent)", "rng.choice(sent, n)", "a shuffler that draws with replacement"
    ),
    planted(
        "B-6",
        "clone_cases",
        "at), honest_only, everybody) for name",
        "_ONE), honest_only, everybody) for name",
        "delta beside the malicious at eps = 0",
    ),
    planted(
        "B-7",
        "reduction",
        "grown[(*reports, z)] = mass * chance",
        "grown[(*reports, z)] = mass * (chance + Fraction(1, len(rows[data[user]]))) / 2",
        "every second report a uniform one",
    ),
    planted(
        "B-8",
        "hadamard",
        "return cls(k, eps, 2 ** max(0, math.ceil(min(eps / math.log(2), math.log2(2 * k)) - 1e-9) - 1))",
        "return cls(k, eps, 1)",
        "Hadamard response with one block at every budget",
    ),
    planted(
        "B-8 B-11 B-12",
        "complexities",
        "splits * growth + k)) ** 2)",
        "splits * growth + k)))",
        "a trace without its square",
        **_STATED,
    ),
    planted(
        "B-9",
        "clone_budget",
        "first, second = math.sqrt(s), math.log(s)",
        "first, second = s, math.log(s)",
        "eps_L = s",
    ),
    planted("B-10", "complexities", _LEARNING, _LEARNING.replace("sp.sqrt(_log)", "_log"), "log for its root"),
    planted("B-10", "learning", "rng.laplace(scale=2 / eps,", "rng.laplace(scale=2 / eps**2,", "Laplace noise 2/eps^2"),
    planted(
        "B-11 B-14",
        "uniformity",
        "buckets = min(k, 2 ** max(1, round(min(eps_local / math.log(2), 60.0))))",
        "buckets = 2",
        "one bit of hash whatever the budget",
        **_SIMULATED,
    ),
    planted(
        "B-12 B-13",
        "uniformity",
        "(sizes + 2 * alpha * (2 * up - sizes)) / k",
        "(sizes + 2 * alpha**1.25 * (2 * up - sizes)) / k",
        "alternatives at distance alpha^(5/4)",
        **_ONE_REGIME,
    ),
    planted("B-13", "complexities", _PRIVATE, _PRIVATE.replace("3, 4", "4, 5"), "k^(4/5) for k^(3/4)", **_STATED),
    planted("B-14", "complexities", _PUBLIC, _PUBLIC.replace("2, 3", "3, 4"), "k^(3/4) for k^(2/3)", **_STATED),
    planted(
        "B-15",
        "complexities",
        '"learning": ((sp.Integer(2), (sp.exp(_x) - 1) ** -2)',
        '"learning": ((sp.Integer(2), (sp.exp(_x) - 1) ** -1)',
        "the first term of eq. (4) without its square",
    ),
)

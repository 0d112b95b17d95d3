"""gspa: a reproducible companion to the shuffle model of differential privacy.

The names that most people want are here, for shuffled reports: `epsilon`, `delta`, `calibrate`, `per_user`, `attack`,
`published`, `risk`, `to_dp_accounting`, and one object for each mechanism, all of `gspa.accountant.api`. Numpy and
scipy are all they need, but for `to_dp_accounting`, which needs what it is named after.

>>> import gspa
>>> bound = gspa.epsilon(eps=0.5, n=10_000, delta=1e-6)
>>> 0.0160 < bound.upper < 0.0182
True
"""

# ruff: noqa: F403, F405  # tests/book/test_reference_pages.py looks each name up
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "KRR",
    "Aligned",
    "Allocation",
    "Common",
    "Discrete",
    "Duchi",
    "Gaussian",
    "HadamardResponse",
    "Laplace",
    "LocalHashing",
    "Piecewise",
    "RandomizedResponse",
    "Rappor",
    "SubsetSelection",
    "TotalVariation",
    "UnaryEncoding",
    "accounting_for",
    "attack",
    "calibrate",
    "certify",
    "delta",
    "epsilon",
    "per_user",
    "published",
    "risk",
    "to_dp_accounting",
]

if TYPE_CHECKING:
    from gspa.accountant.allocation import Allocation
    from gspa.accountant.api import *
    from gspa.accountant.randomizers import *


def __getattr__(name: str) -> Any:
    """The front door's names, loaded when one is asked for."""
    if name in __all__:
        from gspa.accountant import api

        return getattr(api, name)
    raise AttributeError(f"module 'gspa' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

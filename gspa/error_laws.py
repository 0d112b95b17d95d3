"""Figure 3's users, and the law of both estimators' squared errors in their shares and budgets.

What "linear" is worth:

>>> fits = linearity(Groups(), estimand="mean", vary="f_conservative", axes=[(0.01, 0.5)])
>>> fits[fits["reading"] == "constants"].set_index("measure")["r_squared"].round(3).to_dict()
{'error': 0.98, 'squared error': 1.0, '1/error': 0.795, '1/squared error': 0.652}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from gspa import _validate as check
from gspa import budgets
from gspa.budgets import Budgets
from gspa.errors import InvalidValue

Array = NDArray[np.float64]

READINGS = ("constants", "ranges")
VARIED = ("f_conservative", "eps_conservative")
ESTIMANDS = ("mean", "frequency")
_MOST = 1e100  # its square is a double
F_CONSERVATIVE = (0.01, 0.5)  # the range the paper varies it over

# What a reader may take for the "utility" that is said to be linear, as functions of the mean squared error.
MEASURES: Mapping[str, Callable[[Array], Array]] = {
    "error": lambda squared: np.sqrt(2 / np.pi * squared),
    "squared error": lambda squared: squared,
    "1/error": lambda squared: 1 / np.sqrt(2 / np.pi * squared),
    "1/squared error": lambda squared: 1 / squared,
}


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Figure 3's users: shares and budgets of the conservative, moderate and liberal ones.

    Attributes:
        n: users, >= 10.
        f_conservative: share of conservative users; what is left is moderate.
        f_liberal: share of liberal users.
        eps_conservative: their budget (eps_C); the next two alike.
        eps_moderate: eps_M.
        eps_liberal: eps_L.
    """

    n: int = 10_000
    f_conservative: float = 0.54
    f_liberal: float = 0.09
    eps_conservative: float = 0.1
    eps_moderate: float = 0.5
    eps_liberal: float = 1.0

    def __post_init__(self) -> None:
        check.count(10, n=self.n)
        share = check.in_range(0, 1, f_conservative=self.f_conservative)
        if share + check.in_range(0, 1, f_liberal=self.f_liberal) > 1 + 1e-12:
            raise InvalidValue("f_conservative", share, f"at most 1 - f_liberal = {1 - self.f_liberal:g}")
        check.positive(eps_conservative=self.eps_conservative)
        check.positive(eps_moderate=self.eps_moderate)
        check.positive(eps_liberal=self.eps_liberal)

    @property
    def f_moderate(self) -> float:
        """The share left."""
        return max(1 - self.f_liberal - self.f_conservative, 0.0)

    def people(self, *, reading: str = "constants", rng: budgets.Seed | None = None) -> Budgets:
        """Their budgets, from conservative to liberal, as `gspa.budgets.preference_groups`."""
        return budgets.preference_groups(
            n=self.n,
            f_conservative=self.f_conservative,
            f_moderate=self.f_moderate,
            f_liberal=self.f_liberal,
            eps_conservative=self.eps_conservative,
            eps_moderate=self.eps_moderate,
            eps_liberal=self.eps_liberal,
            reading=reading,
            rng=rng,
        )

    def parts(self, reading: str) -> list[tuple[float, float, float]]:
        """(share, smallest budget, largest budget) of each group; in the ranges budgets are uniform."""
        low, middle, high = self.eps_conservative, self.eps_moderate, self.eps_liberal
        shares = (self.f_conservative, self.f_moderate, self.f_liberal)
        if check.one_of(READINGS, reading=reading) == "constants":
            return [(f, e, e) for f, e in zip(shares, (low, middle, high), strict=True)]
        return [(f, *ends) for f, ends in zip(shares, ((low, middle), (middle, high), (high, high)), strict=True)]

    def varied(self, vary: str, value: float) -> Groups:
        """The same with another `f_conservative` or `eps_conservative`."""
        if check.one_of(VARIED, vary=vary) == "f_conservative":
            return replace(self, f_conservative=float(value))
        return replace(self, eps_conservative=float(value))

    def axis(self, vary: str, points: int) -> Array:
        """Figure 3's axis: the paper's shares, or eps_C from half its default up to eps_M (the paper names no ends)."""
        ends = F_CONSERVATIVE
        if check.one_of(VARIED, vary=vary) == "eps_conservative":
            ends = (self.eps_conservative / 2, self.eps_moderate)
        return np.linspace(*ends, check.count(2, points=points))


def mean_law(groups: Groups, *, sensitivity: float, reading: str = "constants") -> float:
    """Mean squared error of Algorithm 1, averaged over the budgets drawn; exact but for rounding group sizes to users.

    2 sensitivity^2 / n sum_g f_g E[1/eps^2], and E[1/eps^2] = 1/(a b) for eps from U(a, b).

    >>> round(mean_law(Groups(), sensitivity=60.0) ** 0.5, 3)
    6.325
    """
    total = sum(share / (low * high) for share, low, high in groups.parts(reading))
    return 2 * check.in_range(0, _MOST, sensitivity=check.positive(sensitivity=sensitivity)) ** 2 / groups.n * total


def frequency_law(groups: Groups, *, c: float, reading: str = "constants") -> float:
    """Mean squared error of Algorithm 2 when bits are dealt to users at random, budgets at their expectation.

    With t = tanh(eps/2), whose report has the variance (1 - t^2)/4:
    (E[1 - t^2]/4 + c(1-c) (E[t^2] - (E t)^2)) / (n (E t)^2). The second term is what the deal adds. For drawn budgets
    a ratio of averages stands for the average ratio, an error of the order 1/n.

    >>> round(frequency_law(Groups(), c=0.7) ** 0.5, 4)
    0.031
    """
    c = check.in_range(0, 1, c=c)
    first = second = 0.0
    for share, low, high in groups.parts(reading):
        mean, square = _tanh_moments(low, high)
        first, second = first + share * mean, second + share * square
    return ((1 - second) / 4 + c * (1 - c) * max(second - first**2, 0.0)) / (groups.n * first**2)


def _tanh_moments(low: float, high: float) -> tuple[float, float]:
    """E[t] and E[t^2], t = tanh(eps/2), for eps from U(low, high)."""
    width = high - low
    if width <= 1e-3 * high:  # differences would cancel; the midpoint errs by the square of the width
        t = math.tanh((low + high) / 4)
        return t, t * t
    log_cosh = [e / 2 + math.log1p(math.exp(-e)) for e in (low, high)]  # up to a constant
    return 2 * (log_cosh[1] - log_cosh[0]) / width, 1 - 2 * (math.tanh(high / 2) - math.tanh(low / 2)) / width


def r_squared(x: ArrayLike, y: ArrayLike) -> float:
    """Share of the variance of y that the least-squares line in x explains; 1 if y does not vary beyond rounding.

    >>> r_squared([0, 1, 2], [1.0, 3.0, 5.0])
    1.0
    """
    a, b = check.array_in(-_MOST, _MOST, x=x), check.array_in(-_MOST, _MOST, y=y)
    if a.shape != b.shape or a.ndim != 1 or a.size < 2 or np.ptp(a) <= 1e-12 * np.abs(a).max():
        raise InvalidValue("x, y", (a.shape, b.shape), "two lists of one length >= 2, x not constant")
    size = float(np.abs(b).max())
    b = b - b.mean()
    if float(np.abs(b).max()) <= 1e-12 * size:
        return 1.0
    a = a - a.mean()
    a, b = a / np.abs(a).max(), b / np.abs(b).max()  # of whose squares none underflows
    rest = b - (a @ b) / (a @ a) * a
    return float(1 - (rest @ rest) / (b @ b))


def linearity(
    groups: Groups,
    *,
    estimand: str,
    vary: str,
    axes: Sequence[tuple[float, float]],
    sensitivity: float = 60.0,
    c: float = 0.7,
    points: int = 25,
) -> pd.DataFrame:
    """How well a straight line fits the law of the error, without any simulation noise.

    Args:
        groups: the users.
        estimand: "mean" or "frequency".
        vary: what is on the axis.
        axes: its ends, smallest and largest, one pair an axis.
        sensitivity: of the mean's noise.
        c: share of ones.
        points: equally spaced on each axis.

    Returns:
        One row for each (axis, reading, measure): `low`, `high`, `reading`, `measure` (see `MEASURES`), `r_squared`,
        and `monotone`: whether the error rises or falls all along (1, -1; 0 neither).
    """
    chosen = check.one_of(ESTIMANDS, estimand=estimand)
    rows = []
    for low, high in axes:
        low, high = check.real(low=low), check.real(high=high)
        x = np.linspace(low, high, check.count(3, points=points))
        for reading in READINGS:
            each = [groups.varied(vary, value) for value in x]
            squared = np.array(
                [
                    mean_law(g, sensitivity=sensitivity, reading=reading)
                    if chosen == "mean"
                    else frequency_law(g, c=c, reading=reading)
                    for g in each
                ]
            )
            steps = np.sign(np.diff(squared))
            monotone = int(steps[0]) if (steps == steps[0]).all() else 0
            for measure, of in MEASURES.items():
                rows.append((low, high, reading, measure, r_squared(x, of(squared)), monotone))
    return pd.DataFrame(rows, columns=["low", "high", "reading", "measure", "r_squared", "monotone"])

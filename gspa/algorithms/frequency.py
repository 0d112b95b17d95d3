"""Algorithm 2, the frequency from shuffled reports. (Algorithm 1, the mean: `gspa.algorithms.mean`.)

Each user holds one bit and reports it through randomized response with a budget of their own. The
aggregator sees the shuffled bits and the set of budgets, not which budget belongs to which bit, so
it can only rescale the total. The estimate is therefore a weighted average: user i counts with
weight tanh(eps_i / 2), and is unbiased for the plain frequency only when the weights do not
correlate with the bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from gspa.accountant import arguments as _validate
from gspa.accountant.errors import InvalidBudget, InvalidValue

Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.int8]

_LEAST_WEIGHT = 1e-150  # of n - 2B: its square is a double with all its digits
_BLOCK = 2_000_000  # random numbers drawn at a time when users cannot be grouped


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """Repeated runs of an estimator on fixed data and budgets.

    Attributes:
        estimates: (repeats,), not clipped to the range of the data.
        truth: What is estimated: the frequency or the mean of the data at hand.
        mae: Mean absolute error, of estimate - truth; `mae_error` is its Monte-Carlo standard error.
        bias: Mean of estimate - truth; `bias_error` is its Monte-Carlo standard error.
    """

    estimates: Floats
    truth: float
    mae: float
    mae_error: float
    bias: float
    bias_error: float

    @classmethod
    def of(cls, estimates: Floats, truth: float) -> Simulation:
        """The summary of at least two estimates."""
        errors = estimates - truth
        root = float(np.sqrt(len(errors)))
        return cls(
            estimates=estimates,
            truth=truth,
            mae=float(np.abs(errors).mean()),
            mae_error=float(np.abs(errors).std(ddof=1)) / root,
            bias=float(errors.mean()),
            bias_error=float(errors.std(ddof=1)) / root,
        )


def frequency_reports(x: npt.ArrayLike, eps: npt.ArrayLike, *, rng: np.random.Generator | int) -> Bits:
    """Randomize and shuffle: lines 1-8 of Algorithm 2, Chen et al. 2024.

    Args:
        x: (n,) bits.
        eps: (n,) budgets >= 0, finite. 0 reports a fair coin.
        rng: Generator or seed.

    Returns:
        (n,) reported bits in shuffled order.

    Raises:
        InvalidValue: x is not a vector of bits.
        InvalidBudget: eps has another shape than x or an entry out of range.

    >>> int(frequency_reports([1, 1, 0], [50.0, 50.0, 50.0], rng=0).sum())
    2
    """
    bits, budgets = _users(x, eps)
    generator = _validate.rng(rng)
    reports = (generator.random(len(bits)) < _one_probability(bits, budgets)).astype(np.int8)
    return generator.permutation(reports)


def frequency_estimate(reports: npt.ArrayLike, eps: npt.ArrayLike) -> float:
    """Estimate the frequency of ones: z = (A - B) / (n - 2B), lines 9-11 of Algorithm 2, Chen et al. 2024.

    A is the number of reported ones, B = sum 1/(1 + e^eps_i). Only the total enters, so shuffling the
    reports or the budgets changes nothing. The paper prints z as a natural number; it is a real one, and
    may leave [0, 1].

    Args:
        reports: (n,) bits.
        eps: (n,) budgets >= 0, finite, in any order.

    Returns:
        z. Its expectation is `frequency_expectation`, its variance `frequency_variance`.

    Raises:
        InvalidBudget: every eps is 0 (n - 2B = 0: the reports carry no information), or out of range.
        InvalidValue: reports is not a vector of bits.

    >>> frequency_estimate([1, 1, 0, 0], [1.0, 1.0, 1.0, 1.0])
    0.5
    """
    bits, budgets = _users(reports, eps, name="reports")
    return float(_rescaled(int(bits.sum()), budgets))


def frequency_expectation(x: npt.ArrayLike, eps: npt.ArrayLike) -> float:
    """Exact expectation of Algorithm 2's estimate: sum x_i tanh(eps_i/2) / sum tanh(eps_i/2).

    Equal to mean(x) when all budgets are equal, or on average when bits are independent of budgets;
    not otherwise, although the paper states E(z) = c without the condition.

    >>> print(round(frequency_expectation([1, 0], [2.0, 0.1]), 4))  # the liberal user holds the one
    0.9384
    """
    bits, budgets = _users(x, eps)
    total = _total_weight(budgets)
    return float((bits * np.tanh(budgets / 2)).sum() / total)


def frequency_variance(eps: npt.ArrayLike) -> float:
    """Exact variance of Algorithm 2's estimate, the same for all data.

    sum e^eps_i/(1 + e^eps_i)^2 / (sum tanh(eps_i/2))^2: whichever the bit, a report is one with probability
    p or 1 - p, so its variance is p(1 - p).

    >>> print(round(frequency_variance([1.0] * 100), 5))
    0.00921
    """
    budgets = _budgets(eps)
    return float((expit(budgets) * expit(-budgets)).sum() / _total_weight(budgets) ** 2)


def simulate_frequency(
    x: npt.ArrayLike, eps: npt.ArrayLike, *, repeats: int = 1000, rng: np.random.Generator | int
) -> Simulation:
    """Run Algorithm 2 many times on the same users.

    Where few distinct (x_i, eps_i) occur, the number of ones in each group is drawn as a binomial, which has
    exactly the law of the sum of its reports; otherwise every report is drawn. The shuffle is left out
    because the estimate does not depend on it.

    Args:
        x: (n,) bits.
        eps: (n,) budgets >= 0, finite, not all 0.
        repeats: >= 2.
        rng: Generator or seed.

    Returns:
        A `Simulation`.

    Raises:
        InvalidValue: x is not a vector of bits or repeats < 2.
        InvalidBudget: eps out of range, of another shape than x, or all 0.
    """
    bits, budgets = _users(x, eps)
    repeats, generator = _validate.count(2, repeats=repeats), _validate.rng(rng)
    _total_weight(budgets)  # refuses before the work
    p = _one_probability(bits, budgets)
    kinds, sizes = np.unique(p, return_counts=True)
    if 10 * len(kinds) <= len(p):  # a binomial costs about as much as ten uniforms
        ones = generator.binomial(sizes, kinds, size=(repeats, len(kinds))).sum(axis=1)
    else:
        rows = max(1, _BLOCK // len(p))
        parts = [min(rows, repeats - low) for low in range(0, repeats, rows)]
        ones = np.concatenate([(generator.random((k, len(p))) < p).sum(axis=1) for k in parts])
    return Simulation.of(_rescaled(ones, budgets), float(bits.mean()))


def _rescaled(ones: npt.NDArray[np.int64] | int, budgets: Floats) -> Floats:
    """(A - B)/W with W = n - 2B. As B = (n - W)/2 it is 1/2 + (A - n/2)/W, which cancels less."""
    return np.asarray(0.5 + (ones - len(budgets) / 2) / _total_weight(budgets), dtype=np.float64)


def _total_weight(budgets: Floats) -> float:
    """n - 2B, summed as tanh(eps_i/2) = 1 - 2/(1 + e^eps_i), which keeps its digits for small eps."""
    total = float(np.tanh(budgets / 2).sum())
    if total < _LEAST_WEIGHT:
        needed = f"> 0 for at least one user, n - 2B >= {_LEAST_WEIGHT:g}"
        raise InvalidBudget("eps", f"at most {budgets.max():g}", needed, "otherwise the reports say nothing")
    return total


def _budgets(eps: npt.ArrayLike) -> Floats:
    budgets = _validate.floats(eps=eps)
    if budgets.ndim != 1 or budgets.size == 0:
        raise InvalidBudget("eps.shape", budgets.shape, "(n,) with n >= 1")
    bad = ~((budgets >= 0) & np.isfinite(budgets))
    if bad.any():
        raise InvalidBudget("eps", float(budgets[bad][0]), "finite and >= 0")
    return budgets


def _one_probability(bits: Bits, budgets: Floats) -> Floats:
    """The probability of each user to report a one: lines 2-6 of Algorithm 2."""
    p: Floats = expit(np.where(bits == 1, budgets, -budgets))
    return p


def _users(x: npt.ArrayLike, eps: npt.ArrayLike, *, name: str = "x") -> tuple[Bits, Floats]:
    values, budgets = _validate.array(**{name: x}), _budgets(eps)
    if values.size and values.dtype.kind not in "iufb":
        raise InvalidValue(name, values.tolist(), "a list of bits")
    if values.ndim != 1:
        raise InvalidValue(f"{name}.shape", values.shape, "(n,)")
    if values.shape != budgets.shape:
        raise InvalidBudget("eps.shape", budgets.shape, f"{values.shape}, one budget per entry of {name}")
    bad = (values != 0) & (values != 1)
    if bad.any():
        raise InvalidValue(name, values[bad][0].item(), "0 or 1 in every entry")
    return values.astype(np.int8), budgets

"""Laws on finitely many outcomes: exact trade-off function, total variation, hockey-stick divergence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gspa.accountant import arguments as check
from gspa.accountant.arguments import Array
from gspa.accountant.errors import InvalidValue
from gspa.accountant.tradeoff import scaled


class TradeOff(NamedTuple):
    """A piecewise linear trade-off function by its corners; call it with alpha.

    `alpha` increases from 0 to 1, `beta` decreases to 0; both have shape (m,).
    """

    alpha: Array
    beta: Array

    def __call__(self, alpha: Array) -> Array:
        """beta at alpha in [0, 1]; exact up to rounding."""
        return np.asarray(np.interp(alpha, self.alpha, self.beta))


def _pair(p: ArrayLike, q: ArrayLike) -> tuple[Array, Array]:
    found = check.array_in(0, 1, p=p), check.array_in(0, 1, q=q)
    for name, law in zip("pq", found, strict=True):
        if law.ndim != 1 or abs(law.sum() - 1) > 1e-9:
            raise InvalidValue(name, law.tolist(), "a list of probabilities with sum 1 within 1e-9")
    if found[0].size != found[1].size:
        raise InvalidValue("len(q)", found[1].size, f"len(p) = {found[0].size}")
    return found


def neyman_pearson(p: ArrayLike, q: ArrayLike) -> TradeOff:
    """T(P, Q) of two discrete laws, exact up to rounding: eq. (5).

    The Neyman-Pearson lemma: reject H0 = P at the outcomes with the largest q/p first; between two
    corners the outcome in question is rejected at random.

    Args:
        p: probabilities under H0, shape (k,).
        q: probabilities under H1 of the same outcomes, shape (k,).

    >>> curve = neyman_pearson([0.25, 0.75], [0.75, 0.25])  # randomized response, eps = log 3
    >>> curve.alpha.tolist(), curve.beta.tolist()
    ([0.0, 0.25, 1.0], [1.0, 0.25, 0.0])
    """
    p0, q0 = _pair(p, q)
    kept = (p0 > 0) | (q0 > 0)
    p0, q0 = p0[kept], q0[kept]
    # The angle orders like q/p, without dividing by zero or overflowing.
    order = np.argsort(-np.arctan2(q0, p0), kind="stable")
    alpha = np.r_[0.0, np.cumsum(p0[order])]
    beta = np.r_[np.cumsum(q0[order][::-1])[::-1], 0.0]  # from the small end, so that small beta is exact
    alpha, beta = np.minimum(alpha / alpha[-1], 1.0), np.minimum(beta / beta[0], 1.0)
    last = np.r_[np.diff(alpha) > 0, True]  # of several beta at one alpha, the smallest
    return TradeOff(alpha[last], beta[last])


def total_variation(p: ArrayLike, q: ArrayLike) -> float:
    """Total variation of two discrete laws, the sup of abs(P(A) - Q(A)) over events A: the TV of eq. (4).

    >>> total_variation([0.25, 0.75], [0.75, 0.25])
    0.5
    """
    p0, q0 = _pair(p, q)
    return 0.5 * float(np.abs(p0 - q0).sum())


def hockey_stick(p: ArrayLike, q: ArrayLike, eps: float) -> float:
    """sum max(p - e^eps q, 0): the least delta with P(A) <= e^eps Q(A) + delta for all A.

    One direction of eq. (1); DP needs both. `eps` may be negative.

    >>> hockey_stick([0.25, 0.75], [0.75, 0.25], 0.0)
    0.5
    """
    p0, q0 = _pair(p, q)
    return float(np.maximum(p0 - scaled(check.real(eps=eps), q0), 0).sum())

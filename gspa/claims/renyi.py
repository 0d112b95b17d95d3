"""Check of the paper's future work: Renyi differential privacy of shuffled reports."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from gspa import accounting_rounds
from gspa.claims.checks import settles
from gspa.claims.outcome import Outcome

# Small enough to write every law out; orders near 1, usual ones and one that looks at the largest loss only.
_USERS, _BUDGETS, _ORDERS = (1, 2, 5, 12), (0.1, 1.0, 3.0), (2, 8, 64)
# Of logarithms times orders up to 64, in double precision.
_ROUNDING = 1e-11


def _written_out(eps0: float, n: int, order: int) -> float:
    """The divergence of the number of ones among n randomized responses, the victim's 1 against 0, others 0."""
    lie = 1 / (1 + math.exp(eps0))
    others = np.array([math.comb(n - 1, k) * lie**k * (1 - lie) ** (n - 1 - k) for k in range(n)])
    p, q = np.log(np.convolve(others, [lie, 1 - lie])), np.log(np.convolve(others, [1 - lie, lie]))
    return float(logsumexp(order * p + (1 - order) * q)) / (order - 1)


def small_cases() -> pd.DataFrame:
    """The pair's certified interval beside the law written out: `eps0`, `n`, `order`, `lower`, `upper`, `written`."""
    rows = []
    for eps0 in _BUDGETS:
        for n in _USERS:
            table = accounting_rounds.renyi_orders(eps0=eps0, n=n, orders=_ORDERS, published=False)
            written = [_written_out(eps0, n, order) for order in _ORDERS]
            rows.append(table.assign(eps0=eps0, n=n, written=written))
    return pd.concat(rows, ignore_index=True)


@settles("G-FW")
def renyi_privacy(
    *, profile: str = "paper", orders: pd.DataFrame | None = None, small: pd.DataFrame | None = None
) -> Outcome:
    """Renyi divergences of the shuffled reports: against laws written out, and against the published bound."""
    if orders is None:
        orders = accounting_rounds.renyi_orders(eps0=0.5, n=10_000, orders=(2, 4, 8, 16, 32, 64))
    small = small_cases() if small is None else small
    exceeded = small[~(small["written"] <= small["upper"] * (1 + _ROUNDING))]
    # An upper bound of every common randomizer cannot be below the lower end of one of them.
    below = orders[orders["girgis21"] < orders["lower"]]
    width = float(((orders["upper"] - orders["lower"]) / orders["upper"]).max())
    evidence = {
        "laws written out": len(small),
        "of these above the certified upper end": len(exceeded),
        "certified upper end over the law, least": float((small["upper"] / small["written"]).min()),
        "certified upper end over the law, largest": float((small["upper"] / small["written"]).max()),
        "orders compared with the published bound": len(orders),
        "of these where the published bound is below the pair": len(below),
        "published bound over the pair, least": float(orders["ratio"].min()),
        "published bound over the pair, largest": float(orders["ratio"].max()),
        "relative width of the interval, largest": f"{width:.1e}",
    }
    if len(exceeded) or len(below):
        return Outcome(
            "G-FW",
            "refuted",
            f"{len(exceeded)} of {len(small)} laws written out exceed what the pair certifies; the published bound "
            f"is below the pair at {len(below)} of {len(orders)} orders: the pair does not carry over.",
            evidence,
        )
    return Outcome(
        "G-FW",
        "verified",
        "A plan, carried out here: the pair's Renyi divergence is certified at every order, no law written out exceeds "
        f"it ({len(small)} laws), and the published bound for any common randomizer is {orders['ratio'].min():.3g} to "
        f"{orders['ratio'].max():.3g} times as large. It holds for binary randomized response.",
        evidence,
    )

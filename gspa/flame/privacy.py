"""FLAME's published privacy beside what holds, as tidy tables: its settings, Figures 3, 4, 9 and 10.

>>> settings = paper_settings()
>>> list(settings)
['SS-Simple', 'SS-Double', 'SS-Topk', 'SS-Topk, beta = 1/10']
>>> settings["SS-Topk"].k, round(settings["SS-Simple"].eps, 6)
(157, 0.01)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from gspa import _validate as check
from gspa.errors import InvalidValue, OutsideValidity
from gspa.flame import accounting, amplification, index_privacy
from gspa.flame.amplification import Setting
from gspa.flame.randomizers import Buckets, Laplace

DIMENSION, USERS, EPS_LOCAL, SAMPLING, PADDING = 7850, 1000, 78.5, 50, 3.0
"""Section 'Evaluations': d, n, eps_l, and n/n_p; 1/beta is in the authors' code only."""


def central_delta(n: int) -> float:
    """delta_c = 0.01/n^1.1, as the authors' code has it; 5e-6 for n = 1000."""
    return float(0.01 / check.count(n=n) ** 1.1)


def setting(
    *, eps_l: float = EPS_LOCAL, d: int = DIMENSION, n: int = USERS, rate: float = SAMPLING, padding: float = PADDING
) -> Setting:
    """A setting of SS-Double or SS-Topk from the paper's parameters.

    Args:
        eps_l: budget of a user's whole vector, > 0.
        d: coordinates.
        n: users.
        rate: 1/beta >= 1; k = d/rate is rounded down, to at least 1.
        padding: n/n_p >= 1e-9; n_p is rounded down, to at least 1.
    """
    k = max(1, int(check.count(d=d) / check.in_range(1, math.inf, rate=rate)))
    n_p = max(1, int(check.count(n=n) / check.in_range(1e-9, math.inf, padding=padding)))
    return Setting(d=d, k=k, n=n, n_p=n_p, eps=check.positive(eps_l=eps_l) / k, delta=central_delta(n))


def paper_settings() -> dict[str, Setting]:
    """The settings of (0.91, .), (0.24, .) and (2.348, .); the last keeps eps_lk = 0.5 with n/n_p = 1.5."""
    base = setting()
    dense = setting(eps_l=0.5 * (DIMENSION // 10), rate=10, padding=1.5)
    return {"SS-Simple": base.full(), "SS-Double": base, "SS-Topk": base, "SS-Topk, beta = 1/10": dense}


def accounts(settings: dict[str, Setting], *, bounds: Sequence[str] = amplification.BOUNDS[1:]) -> pd.DataFrame:
    """Every protocol's eps_c by the paper's theorems, with each bound of one coordinate, and what is certified.

    Args:
        settings: by protocol; a name that starts with SS-Simple, SS-Double or SS-Topk says which.
        bounds: of `amplification.BOUNDS`, without "lemma1", which is for another randomizer.

    Returns:
        One row a protocol: `protocol`, `variant`, a column a bound (the paper's Theorem 1 or 4), `attack` (what is
        certainly revealed), `certified` (upper; NaN where refused) and `note`. SS-Double has a row for each way to
        draw the indices; SS-Topk one without subsampling in Theorem 4 as well.
    """
    rows = []
    for name, one in settings.items():
        for variant in _variants(name):
            plain = variant == _PLAIN
            printed = {bound: _or_nan(partial(_theorem, name, one, bound, not plain)) for bound in bounds}
            if not plain:  # what holds does not depend on what is counted
                proved = _proved(one, variant)
            rows.append({"protocol": name, "variant": variant, **printed, **proved})
    return pd.DataFrame(rows)


_PLAIN = "subsampling not counted"


def _proved(one: Setting, variant: str) -> dict[str, object]:
    """attack, certified and note of one protocol."""
    local, d, k, n, n_p, delta = Laplace(one.eps), one.d, one.k, one.n, one.n_p, one.delta
    try:
        if variant == "own permutation per coordinate":
            found = accounting.simple(local, d=d, n=n, delta=delta)
        elif variant == "index by index":
            found = accounting.double_poisson(local, d=d, k=k, n=n, n_p=n_p, delta=delta)
        elif variant == "exactly k indices":
            found = accounting.double_given_indices(local, d=d, k=k, n=n, n_p=n_p, delta=delta)
        else:
            found = accounting.topk(local, k=k, n_p=n_p, delta=delta, most_selected=n_p)
    except OutsideValidity as refusal:
        return {"attack": np.nan, "certified": np.nan, "note": str(refusal)}
    return {"attack": found.lower, "certified": found.upper, "note": ""}


def headline(table: pd.DataFrame) -> dict[str, str]:
    """What a page says of `accounts`: per row "old", "bennett", "attack" and "certified", with a word where refused.

    Keys are the first letters of protocol and variant, such as "topk_attack": simple, double, exactly, topk, plain;
    the rows of a second SS-Topk have "dense" before them.

    >>> table = accounts({"SS-Topk": setting(eps_l=5, d=50, rate=5, padding=2)}, bounds=("old_bennett", "bennett"))
    >>> headline(table)["topk_attack"], headline(table)["topk_certified"]
    ('0.2326', '0.26')
    """
    short = {
        "own permutation per coordinate": "simple",
        "index by index": "double",
        "exactly k indices": "exactly",
        "k largest": "topk",
        _PLAIN: "plain",
    }
    words: dict[str, str] = {}
    for _, row in table.iterrows():
        name = ("dense_" if "," in str(row["protocol"]) else "") + short[str(row["variant"])]
        for column, key in (
            ("old_bennett", "old"), ("bennett", "bennett"), ("attack", "attack"), ("certified", "certified")
        ):  # fmt: skip
            value = float(row[column])
            words[f"{name}_{key}"] = "none (refused)" if np.isnan(value) else f"{value:.4g}"
    return words


def _theorem(name: str, one: Setting, bound: str, subsampling: bool) -> float:
    """Theorem 1 or 4."""
    if name.startswith("SS-Simple"):
        return amplification.simple(one, bound=bound).eps
    return amplification.double(one, bound=bound, subsampling=subsampling).eps


def _variants(name: str) -> tuple[str, ...]:
    if name.startswith("SS-Simple"):
        return ("own permutation per coordinate",)
    if name.startswith("SS-Double"):
        return ("index by index", "exactly k indices")
    if name.startswith("SS-Topk"):
        return ("k largest", _PLAIN)
    raise InvalidValue("protocol", name, "a name that starts with SS-Simple, SS-Double or SS-Topk")


def figure3_setting(
    *, eps: float = 0.8, d: int = 75_755, n: int = 5_000, rate: float = 50, padding: float = 3.0
) -> Setting:
    """The settings at which Figure 3's two ratios come out; only d is stated."""
    d, n = check.count(d=d), check.count(n=n)
    rate, padding = check.in_range(1, d, rate=rate), check.in_range(1, n, padding=padding)
    k = int(d / rate)
    return Setting(d=d, k=k, n=n, n_p=int(n / padding), eps=eps, delta=central_delta(n))


def amplification_ratios(one: Setting, *, eps: Sequence[float], b: int = 2) -> pd.DataFrame:
    """Figure 3: eps_l/eps_c as printed, with Lemma 1, against the budget of one reported coordinate.

    Args:
        one: its eps is replaced.
        eps: budgets of one coordinate.
        b: answers in Lemma 1.

    Returns:
        One row a budget: `eps`; `simple` and `double` at that budget per coordinate (the paper's comparison; SS-Simple
        has d/k times the eps_l); `equal` for SS-Simple with SS-Double's eps_l.
    """
    rows = []
    for budget in check.row(eps=eps):
        now = Setting(one.d, one.k, one.n, one.n_p, budget, one.delta)
        full, equal = now.full(eps=budget), now.full()
        rows.append(
            {
                "eps": budget,
                "simple": full.eps_local / amplification.simple(full, bound="lemma1", b=b).eps,
                "double": now.eps_local / amplification.double(now, bound="lemma1", b=b).eps,
                "equal": equal.eps_local / amplification.simple(equal, bound="lemma1", b=b).eps,
            }
        )
    return pd.DataFrame(rows)


def certified_ratios(one: Setting, *, attack: bool = True) -> pd.DataFrame:
    """eps_l/eps_c with certified eps_c, for corrected R_{gamma,b} with two answers, at the three points of Figure 3.

    Returns:
        One row each of `simple`, `double`, `equal` (column `case`): `eps_local`, `attack` and `certified` (eps_c), and
        the ratio from both sides, `ratio_low` (proved) and `ratio_high` (none can give more; infinite without attack).
    """
    full, equal = one.full(eps=one.eps), one.full()

    def plain(now: Setting) -> tuple[float, float]:
        found = accounting.simple(Buckets(now.eps, 1), d=now.d, n=now.n, delta=now.delta, attack=attack)
        return found.lower, found.upper

    found = accounting.double_poisson(
        Buckets(one.eps, 1), d=one.d, k=one.k, n=one.n, n_p=one.n_p, delta=one.delta, attack=attack
    )
    cases = (("simple", full, plain(full)), ("double", one, (found.lower, found.upper)), ("equal", equal, plain(equal)))
    return pd.DataFrame(
        {
            "case": name,
            "eps_local": now.eps_local,
            "attack": low,
            "certified": high,
            "ratio_low": now.eps_local / high,
            "ratio_high": now.eps_local / low if low > 0 else np.inf,
        }
        for name, now, (low, high) in cases
    )


def figure4(*, beta: float, most: int) -> pd.DataFrame:
    """Figure 4: the least nu for each l, and the two inequalities of Definition 3 it comes from.

    Returns:
        One row an l = 1, ..., most: `l`, `nu`, `first` = 1/(l beta), `second` = (1 - beta) l/(l - 1).
    """
    rows = []
    beta = check.in_range(0, 1, beta=check.positive(beta=beta))
    for many in range(1, check.count(most=most) + 1):
        second = (1 - beta) * many / (many - 1) if many > 1 else np.inf
        nu = float(index_privacy.least_nu(many, beta=beta))
        rows.append({"l": many, "nu": nu, "first": 1 / (many * beta), "second": second})
    return pd.DataFrame(rows)


def sweep(name: str, values: Sequence[float], *, base: Setting, eps_l: float) -> pd.DataFrame:
    """Figures 9 and 10: eps_c of the protocols against eps_l or d, as printed and certified.

    Args:
        name: "eps_l" or "d".
        values: of it.
        base: its n and n_p, and 1/beta.
        eps_l: of the whole vector, where d varies.

    Returns:
        One row a value and line: the value under its name, `line`, `kind` ("printed" or "certified") and `epsilon`
        (NaN where a form or the padding refuses).
    """
    check.one_of(("eps_l", "d"), name=name)
    rows = []
    check.positive(eps_l=eps_l)
    for value in check.counts(values=values) if name == "d" else check.numbers(0, np.inf, values=values):
        d = base.d if name == "eps_l" else int(value)
        k = max(1, round(d * base.beta))
        whole = float(value) if name == "eps_l" else eps_l
        now = Setting(d=d, k=k, n=base.n, n_p=base.n_p, eps=whole / k, delta=base.delta)
        rows += [
            {name: value, "line": line, "kind": kind, "epsilon": _or_nan(compute)}
            for (line, kind), compute in _lines(now).items()
        ]
    return pd.DataFrame(rows)


def _lines(now: Setting) -> dict[tuple[str, str], Callable[[], float]]:
    full, local = now.full(), Laplace(now.eps)
    d, k, n, n_p, delta = now.d, now.k, now.n, now.n_p, now.delta
    return {
        ("SS-Simple", "printed"): lambda: amplification.simple(full, bound="old_bennett").eps,
        ("SS-Double", "printed"): lambda: amplification.double(now, bound="old_bennett").eps,
        ("SS-Simple", "certified"): lambda: (
            accounting.simple(Laplace(full.eps), d=d, n=n, delta=delta, attack=False).upper
        ),
        ("SS-Double", "certified"): lambda: (
            accounting.double_poisson(local, d=d, k=k, n=n, n_p=n_p, delta=delta, attack=False).upper
        ),
        ("SS-Topk", "certified"): lambda: (
            accounting.topk(local, k=k, n_p=n_p, delta=delta, most_selected=n_p, attack=False).upper
        ),
    }


def _or_nan(compute: Callable[[], float]) -> float:
    """NaN where a form or the padding refuses."""
    try:
        return compute()
    except OutsideValidity:
        return float("nan")

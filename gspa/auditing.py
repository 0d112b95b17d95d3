"""Every bound beside what explicit attacks reach: lower <= truth <= upper, a row a setting, as tidy tables.

>>> from gspa.audit_cases import cases
>>> rows = intervals(cases(n=100, delta=1e-3)[:1], samples=1000, seed=1)
>>> row = rows.iloc[0]
>>> bool(row["lower"] <= row["truth_high"] and row["lower"] <= row["certified"] and row["consistent"])
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from gspa import _validate as check
from gspa import accountant, asymptotic, audit, blanket, bounds, exact_rr, histograms, sampled_audit
from gspa.audit_cases import Case
from gspa.bound import Bound
from gspa.errors import InvalidValue, OutsideValidity

_CELLS = 16  # answers or cells of the sampled attack
_FEW_CELLS = 6  # for the enumeration, where it is possible at all
LOWER = ("attack", "enumerated", "sampled")
"""Columns of rigorous lower bounds, the last one with a stated confidence."""


def exact_attack(case: Case) -> float:
    """The best of the attacks whose statistic's law is exact: a rigorous lower bound on eps."""
    if not case.scales:
        return max(histograms.statistic_epsilon(one, delta=case.delta).lower for one in case.worlds())
    return max(
        audit.attack_epsilon(
            case.scales, count=case.people.count, delta=case.delta, mechanism=case.mechanism, statistic=statistic
        ).lower
        for statistic in audit.STATISTICS
    )


def enumerated(case: Case) -> float:
    """The likelihood ratio attack on all histograms, a rigorous lower bound; NaN where there are too many."""
    worlds = [histograms.merged(one, cells=_FEW_CELLS) if case.scales else one for one in case.worlds()]
    if max(one.work for one in worlds) > histograms.MOST_WORK:
        return math.nan
    return max(histograms.likelihood_ratio_epsilon(one, delta=case.delta).lower for one in worlds)


def sampled(case: Case, *, samples: int, confidence: float, rng: np.random.Generator) -> Bound:
    """The sampled attack at the inputs where the limit is largest."""
    worst = max(case.worlds(), key=lambda one: histograms.limit_epsilon(one, delta=case.delta))
    some = histograms.merged(worst, cells=_CELLS)
    return sampled_audit.sampled_epsilon(some, delta=case.delta, samples=samples, confidence=confidence, rng=rng)


def truth(case: Case) -> tuple[float, float]:
    """The eps of the shuffled reports, bracketed, at the others' worst inputs; NaN where it is not known."""
    if case.mechanism == "rr":
        exact = exact_rr.exact_epsilon(case.people, delta=case.delta)
        return exact.lower, exact.upper
    if case.mechanism == "krr":
        try:
            found = histograms.worst_epsilon(case.people, delta=case.delta, k=case.k)
        except (InvalidValue, OutsideValidity):  # budgets that differ, or too many histograms
            return math.nan, math.nan
        return found.lower, found.upper
    return math.nan, math.nan


def certified(case: Case) -> float:
    """The package's own certified upper bound."""
    if case.scales:
        count, mechanism = case.people.count, case.mechanism
        return blanket.blanket_epsilon(case.scales, delta=case.delta, count=count, mechanism=mechanism).upper
    k = case.k if case.mechanism == "krr" else None
    return accountant.central_epsilon(case.people, delta=case.delta, mechanism=case.mechanism, k=k).upper


def limit(case: Case) -> float:
    """The Gaussian limit of many users: an estimate, not a bound."""
    if case.scales:
        found = asymptotic.asymptotic_mu(case.scales, count=case.people.count, mechanism=case.mechanism)
        return found.epsilon(case.delta)
    return max(histograms.limit_epsilon(one, delta=case.delta) for one in case.worlds())


def published(case: Case) -> pd.DataFrame:
    """Every published bound that is established for the case, and the paper's, which is stated for any.

    Returns:
        One row a bound: `key`, `bound`, `epsilon`, `proved`.
    """
    rows = []
    known = (
        [] if case.mechanism == "gaussian" else bounds.compare(case.people, delta=case.delta, mechanism=case.mechanism)
    )
    for row in known:  # Gaussian reports have no pure budget, and the catalogue no bound for them
        if row.valid and row.key != "gspa":
            rows.append({"key": row.key, "bound": row.label, "epsilon": row.epsilon, "proved": row.rigorous})
    paper = {"key": "gspa", "bound": bounds.CATALOGUE["gspa"].label, "epsilon": promise(case), "proved": False}
    return pd.DataFrame([paper, *rows])


def promise(case: Case) -> float:
    """What the paper's Theorem 2 promises, without its error term."""
    return bounds.gspa_epsilon(case.people, delta=case.delta)


def intervals(some: Sequence[Case], *, samples: int, seed: int, confidence: float = 0.95) -> pd.DataFrame:
    """Lower bounds, truth, estimate and upper bounds of every case.

    Args:
        some: from `gspa.audit_cases.cases`.
        samples: runs of each world of the sampled attack.
        seed: of the sampled attack.
        confidence: that all the sampled bounds hold at once (each has its share of the error probability).

    Returns:
        One row a case: `setting`, `n`, `delta`; the lower bounds `attack`, `enumerated` (NaN: too many histograms) and
        `sampled`, and `lower`, the largest; `truth_low` and `truth_high` (NaN: unknown); `limit` (an estimate);
        `certified`, the package's upper bound; `published`, the smallest proved published bound or the local
        budget if none is smaller, and `published_by` (NaN and empty: none is established); `paper`; `note`, of the
        sampled attack; and what `judge` adds.
    """
    confidence = check.probability(allow_zero=False, confidence=confidence)
    each = 1 - (1 - confidence) / max(len(some), 1)
    rows = []
    for index, case in enumerate(some):
        rng = np.random.default_rng([check.seed(seed=seed), index])
        simulated = sampled(case, samples=samples, confidence=each, rng=rng)
        low, high = truth(case)
        best, by = _best_published(case)
        rows.append(
            {
                "setting": case.name,
                "n": case.people.n,
                "delta": case.delta,
                "attack": exact_attack(case),
                "enumerated": enumerated(case),
                "sampled": simulated.lower,
                "truth_low": low,
                "truth_high": high,
                "limit": limit(case),
                "certified": certified(case),
                "published": best,
                "published_by": by,
                "paper": promise(case),
                "note": simulated.note,
            }
        )
    return judge(pd.DataFrame(rows))


def _best_published(case: Case) -> tuple[float, str]:
    found = published(case)
    proved = found[found["proved"]]
    if case.mechanism == "gaussian":
        return math.nan, ""
    if proved.empty or float(proved["epsilon"].min()) >= case.people.eps_max:
        return case.people.eps_max, "the local budget"
    first = proved.sort_values("epsilon", kind="stable").iloc[0]
    return float(first["epsilon"]), str(first["bound"])


def judge(table: pd.DataFrame) -> pd.DataFrame:
    """Hold each upper bound of the table against its lower bounds; no tolerance, all have their roundings included.

    Returns:
        The table with `lower`, `consistent` (no lower bound is above the truth's upper end, the certified or the proved
        published bound, nor the truth's lower end above the last two), `broken` (the paper's number is below a
        lower bound) and `slack` (certified over lower: an error of the certified bound beyond it would be seen).
    """
    lower = table[list(LOWER)].max(axis=1)
    known = np.fmax(lower, table["truth_low"])  # fmax: where the truth is unknown, the attack
    # A comparison with NaN is False: what is unknown refutes nothing.
    wrong = (lower > table["truth_high"]) | (known > table["certified"]) | (known > table["published"])
    with np.errstate(divide="ignore"):
        slack = table["certified"] / lower
    return table.assign(lower=lower, consistent=~wrong, broken=known > table["paper"], slack=slack)


def from_below(table: pd.DataFrame) -> pd.DataFrame:
    """The attacks' side of `intervals` for a page, the truth where it is known, and the estimate."""
    names = {"sampled": "sampled", "attack": "exact", "enumerated": "enumerated", "truth_low": "truth"}
    return _named(table, names | {"limit": "limit (estimate)"})


def from_above(table: pd.DataFrame) -> pd.DataFrame:
    """The promises' side of `intervals` for a page, and what was found of them."""
    names = {"lower": "best attack", "certified": "certified", "published": "published", "published_by": "by"}
    found = np.where(table["broken"], "paper's broken", "all hold")
    # A certificate or a proof below an attack is the graver fault.
    found = np.where(table["consistent"], found, "a proved bound fails")
    return _named(table, names | {"paper": "paper"}).assign(found=found)


def _named(table: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    return table[["setting", *names]].rename(columns=names)


def shrunk(table: pd.DataFrame, factor: float) -> pd.DataFrame:
    """The same judgement had every certified bound come out `factor` times as large: a mutation to be caught."""
    return judge(table.assign(certified=check.positive(factor=factor) * table["certified"]))


def sensitivity(table: pd.DataFrame, spoiled: pd.DataFrame) -> pd.DataFrame:
    """How large an error of a certified bound the audit would see.

    Args:
        table: from `intervals`.
        spoiled: from `shrunk`.

    Returns:
        One row a case: `setting`, `lower`, `certified`, `seen below` (a certified bound below this share of ours would
        be caught; 0: none would), `spoiled bound caught`.
    """
    known = np.fmax(table["lower"], table["truth_low"])
    return pd.DataFrame(
        {
            "setting": table["setting"],
            "lower": known,
            "certified": table["certified"],
            "seen below": (known / table["certified"]).where(table["certified"] > 0, 0.0),
            "spoiled bound caught": spoiled["consistent"].map({True: "no", False: "yes"}),
        }
    )


def by_bound(some: Sequence[Case], table: pd.DataFrame) -> pd.DataFrame:
    """Every published bound over the cases for which it is established; the paper's over all, as it is stated.

    Args:
        some: the cases of `table`.
        table: from `intervals`.

    Returns:
        One row a bound: `bound`, `settings` (how many it covers), `least` (its smallest ratio to a lower bound; below 1
        it is refuted), `where` (that setting), `refuted` (in how many), `proved`.
    """
    parts = [published(case).assign(setting=case.name) for case in some]
    found = pd.concat(parts).merge(table[["setting", "lower", "truth_low"]], on="setting")
    known = np.fmax(found["lower"], found["truth_low"])
    found = found[known > 0].assign(ratio=found["epsilon"] / known)
    rows = []
    for name, part in found.groupby("bound", sort=False):
        worst = part.sort_values("ratio", kind="stable").iloc[0]
        rows.append(
            {
                "bound": name,
                "settings": len(part),
                "least": float(worst["ratio"]),
                "where": worst["setting"],
                "refuted": int((part["ratio"] < 1).sum()),
                "proved": "yes" if bool(worst["proved"]) else "no",
            }
        )
    columns = ["bound", "settings", "least", "where", "refuted", "proved"]
    return pd.DataFrame(rows, columns=columns).sort_values("least", ignore_index=True)


def price_of_sampling(case: Case, *, sizes: Sequence[int], seed: int, confidence: float = 0.95) -> pd.DataFrame:
    """What the sampled attack certifies as the number of runs grows.

    Returns:
        One row a size: `samples` (runs of each world), `sampled`, `note`.
    """
    rows = []
    for size in check.counts(sizes=sizes):
        rng = np.random.default_rng([check.seed(seed=seed), size])
        found = sampled(case, samples=size, confidence=confidence, rng=rng)
        rows.append({"samples": size, "sampled": found.lower, "note": found.note})
    return pd.DataFrame(rows)

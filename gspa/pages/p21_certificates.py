"""Page 21: the certificates behind the book's headline numbers, issued and checked.

>>> [one] = certified(settings(local=(0.5,), users=1_000)[:1])
>>> one.certificate.eps >= one.certificate.bound.lower
True
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from gspa.accountant import api
from gspa.accountant.certificates import PROGRAM, Certificate
from gspa.book import text
from gspa.pages import p19_auditing

FIGURE, PAGE_17, PAGE_20 = "first page", "page 17", "page 20"
# Page 17's settings.
# (name, mechanism, noise scales on [0, 1], how many users have each, delta)
CONTINUOUS: tuple[tuple[str, str, Sequence[float], Sequence[int], float], ...] = (
    ("Laplace, everybody at 1", "laplace", [1.0], [10_000], 1e-4),
    ("Laplace, one user at 2 among 9,999 at 0.01", "laplace", [0.5, 100.0], [1, 9_999], 1e-4),
    ("Laplace, groups of Figure 3: 0.1, 0.5, 1", "laplace", [10.0, 2.0, 1.0], [5_400, 3_700, 900], 1e-4),
    ("Gaussian, $\\sigma$ = 1", "gaussian", [1.0], [10_000], 1e-6),
)
LOCAL = (0.1, 0.5, 1.0, 2.0, 4.0)
SIZES = (1_000, 10_000, 1_000_000)
FEWER = (100, 1_000, 10_000)  # where the law of the bits is compared with the pair
_METHODS = {
    "exact law": "law of the shuffled bits",
    "dominating pair": "dominating pair",
    "privacy blanket": "privacy blanket",
    "random allocation": "random allocation",
}


class Setting(NamedTuple):
    """A number of the book: where it stands, which setting it is for, and what `gspa.certify` is asked."""

    file: str
    where: str
    what: str
    asked: Mapping[str, Any]


class Issued(NamedTuple):
    """A setting's certificate."""

    setting: Setting
    certificate: Certificate


def headline(*, eps0: float, n: int, delta: float, lines: int | None = None, steps: int = 1_000) -> list[Setting]:
    """Page 17's own numbers: the pair, the bits themselves, and some reports on a line; and one training run."""
    found = [
        Setting(f"{name}-{eps0:g}-{n}", PAGE_17, f"{words}, $\\epsilon_0$ = {eps0:g}, {n:,} users", asked)
        for name, words, asked in (
            ("aligned", "randomizers with aligned clones", _clones("aligned", eps0, n, delta)),
            ("rr", "randomized response", _clones("rr", eps0, n, delta)),
        )
    ]
    for i, (words, mechanism, scales, count, small) in enumerate(CONTINUOUS[:lines], 1):
        values = [scale for scale, many in zip(scales, count, strict=True) for _ in range(many)]
        runs = api.Laplace(scale=values) if mechanism == "laplace" else api.Gaussian(sigma=values)
        found.append(Setting(f"line-{i}", PAGE_17, words, {"mechanism": runs, "delta": small}))
    run = api.Allocation(sigma=1.0, steps=steps)
    words = f"random allocation, $\\sigma$ = {run.sigma:g}, {run.steps:,} steps"
    return [*found, Setting("allocation", PAGE_20, words, {"mechanism": run, "delta": 1e-6})]


def settings(
    *,
    local: Sequence[float] = p19_auditing.LOCAL,
    users: int = p19_auditing.USERS,
    bits: Sequence[int] = FEWER,
    delta: float = p19_auditing.CENTRAL,
) -> list[Setting]:
    """The other settings: the certified line of the first page's figure, and page 17's tables."""
    asked = [("figure", FIGURE, "aligned", eps0, users) for eps0 in local]
    asked += [("pair", PAGE_17, "aligned", eps0, n) for eps0 in LOCAL for n in SIZES]
    asked += [("bits", PAGE_17, "rr", eps0, n) for eps0 in LOCAL for n in bits]
    return [
        Setting(f"{kind}-{eps0:g}-{n}", where, f"$\\epsilon_0$ = {eps0:g}, {n:,} users", _clones(name, eps0, n, delta))
        for kind, where, name, eps0, n in asked
    ]


def _clones(mechanism: str, eps0: float, n: int, delta: float) -> dict[str, Any]:
    return {"mechanism": mechanism, "eps": eps0, "n": n, "delta": delta}


def certified(asked: Iterable[Setting], known: Iterable[Issued] = ()) -> list[Issued]:
    """A certificate for each of them, which its checker has proved; what is `known` is not proved again."""
    again = {str(one.asked): certificate for one, certificate in known}
    return [Issued(one, again.get(str(one.asked)) or api.certify(**one.asked)) for one in asked]


def table(issued: Iterable[Issued]) -> pd.DataFrame:
    """A row each: setting with page, delta and method, the accountant's upper end, proved eps, file (Markdown)."""
    rows = [
        (
            f"{one.where}: {one.what}, $\\delta$ = {text.number(found.delta)} ({_METHODS[found.method]})",
            found.bound.upper,
            found.eps,
            f"[JSON](../certificates/{one.file}.json)",
        )
        for one, found in issued
    ]
    return pd.DataFrame(rows, columns=["setting", "accountant", "proved", "file"])


def files(issued: Iterable[Issued]) -> dict[str, str]:
    """File name to JSON text."""
    return {f"{one.file}.json": found.text for one, found in issued}


def as_a_stranger(certificate: Certificate) -> str:
    """What the program prints of a saved certificate, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        certificate.write(Path(folder) / "cert.json")
        program = [sys.executable, "-I", str(PROGRAM), "cert.json"]
        return subprocess.run(program, cwd=folder, capture_output=True, text=True).stdout.rstrip()


def lines_of_the_program() -> int:
    """How long it is."""
    return len(PROGRAM.read_text(encoding="utf-8").splitlines())

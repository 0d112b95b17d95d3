"""Of notebook 21: its figure, and the program run as a stranger runs it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.accountant.certificates import PROGRAM, Certificate
from gspa.book.figures import ROLES, keeps_data, name_line, name_rows

# Page 17's settings. Of noise: name, mechanism, scales on [0, 1], how many users have each, delta.
CONTINUOUS: tuple[tuple[str, str, Sequence[float], Sequence[int], float], ...] = (
    ("Laplace, everybody at 1", "laplace", [1.0], [10_000], 1e-4),
    ("Laplace, one user at 2 among 9,999 at 0.01", "laplace", [0.5, 100.0], [1, 9_999], 1e-4),
    ("Laplace, groups of Figure 3: 0.1, 0.5, 1", "laplace", [10.0, 2.0, 1.0], [5_400, 3_700, 900], 1e-4),
    ("Gaussian, $\\sigma$ = 1", "gaussian", [1.0], [10_000], 1e-6),
)
LOCAL = (0.1, 0.5, 1.0, 2.0, 4.0)
SIZES = (1_000, 10_000, 1_000_000)
METHODS = dict.fromkeys(("laplace", "gaussian"), "reports on a line") | {"allocation": "random allocation"}


def as_a_stranger(certificate: Certificate) -> str:
    """What the program prints of a saved certificate, in a process and a folder of its own, without this package."""
    with tempfile.TemporaryDirectory() as folder:
        certificate.write(Path(folder) / "cert.json")
        program = [sys.executable, "-I", str(PROGRAM), "cert.json"]
        return subprocess.run(program, cwd=folder, capture_output=True, text=True).stdout.rstrip()


@keeps_data
def margins(issued: pd.DataFrame) -> Figure:
    """The relative margin of each certificate over the accountant, a row a method, on a logarithmic axis."""
    rows = issued[issued["margin"] > 0]
    methods = list(dict.fromkeys(rows["method"]))
    figure, axis = plt.subplots(figsize=(4.8, 0.9 + 0.5 * len(methods)), layout="constrained")
    colour = ROLES["certified"][0]
    axis.plot(rows["margin"], rows["method"].map(methods.index), "o", ms=7, color=colour, alpha=0.4, mew=0)
    for y, method in enumerate(methods):
        most = float(rows.loc[rows["method"] == method, "margin"].max())
        name_line(axis, most, y, _power(most), colour=colour, right=9)
    axis.set(xscale="log", xlabel=r"proved $\epsilon$ over the accountant's, less 1 (logarithmic)")
    axis.set_ylim(len(methods) - 0.6, -0.9)
    axis.set_xlim(float(rows["margin"].min()) / 3, float(rows["margin"].max()) * 60)
    name_rows(axis, methods, up=8)
    return figure


def _power(value: float) -> str:
    """One digit, and a power of ten."""
    digit, power = f"{value:.0e}".split("e")
    return rf"${digit} \times 10^{{{int(power)}}}$"

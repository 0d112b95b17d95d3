"""Laplace and Gaussian mechanisms: what they promise, what they keep, what they cost."""

from __future__ import annotations

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.figures.style import DASHES, PALETTE

_FLOOR = 1e-12  # of a logarithmic axis of deltas


def mechanism_curves(table: pd.DataFrame, *, eps: float, delta: float) -> Figure:
    """Exact delta against eps, a line a mechanism, with the promised point.

    Args:
        table: from `gspa.noise.privacy_curves`.
        eps: promised by all of them.
        delta: promised by the Gaussian ones.
    """
    # A delta of 0 is a line that leaves the figure.
    floor = max(_FLOOR, min(float(table.loc[table["delta"] > 0, "delta"].min()), delta) / 10)
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, (name, line) in enumerate(table.groupby("mechanism", sort=False)):
        dashes = DASHES[index] or (None, None)
        axis.plot(
            line["eps"], line["delta"].clip(floor / 10), color=PALETTE[index + 1], dashes=dashes, lw=2, label=name
        )
    axis.plot([eps], [delta], "o", color="black", ms=8, label="what is promised")
    axis.set(xlabel=r"$\epsilon$", ylabel=r"least $\delta$", yscale="log", ylim=(floor, 1.5))
    axis.legend()
    return figure


def describe_mechanisms(table: pd.DataFrame) -> str:
    """Alt text of `mechanism_curves`."""
    said = []
    for name, line in table.groupby("mechanism", sort=False):
        gone = line.loc[line["delta"] == 0, "eps"]
        end = (
            f"0 from {gone.min():.3g} on"
            if len(gone)
            else f"{line['delta'].iloc[-1]:.2g} at {line['eps'].iloc[-1]:.3g}"
        )
        said.append(f"{name} falls from {line['delta'].iloc[0]:.2g} at epsilon 0 to {end}")
    return "Least delta against epsilon on a logarithmic axis. " + "; ".join(said) + "."


def promise_kept(table: pd.DataFrame) -> Figure:
    """Definition 5: exact over promised delta against eps, a line a delta; above 1 the promise is broken.

    Args:
        table: from `gspa.noise.promise_curves`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, (delta, line) in enumerate(table.groupby("delta", sort=False)):
        dashes = DASHES[index % len(DASHES)] or (None, None)
        colour = PALETTE[1 + index % (len(PALETTE) - 1)]
        axis.plot(line["eps"], line["kept"], color=colour, dashes=dashes, lw=2, label=rf"$\delta$ = {delta:g}")
    axis.axhline(1.0, color="black", lw=1)
    axis.annotate("broken above", (float(table["eps"].min()), 1.0), xytext=(4, 4), textcoords="offset points")
    axis.set(xlabel=r"promised $\epsilon$", ylabel=r"exact $\delta$ / promised $\delta$", yscale="log")
    axis.legend()
    return figure


def describe_promises(table: pd.DataFrame) -> str:
    """Alt text of `promise_kept`."""
    said = []
    for delta, line in table.groupby("delta", sort=False):
        broken = line.loc[line["kept"] > 1, "eps"]
        where = f"crosses 1 before epsilon = {broken.min():.3g}" if len(broken) else "stays below 1"
        said.append(f"for delta = {delta:g} it {where}")
    return "Exact over promised delta of Definition 5, rising with epsilon: " + "; ".join(said) + "."


def noise_by_dimension(table: pd.DataFrame, *, delta: float) -> Figure:
    """Variance of the Gaussian over that of Laplace noise against the number of coordinates, a line a shape.

    Args:
        table: from `gspa.noise.noise_table`.
        delta: one of the table's.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, (shape, line) in enumerate(table[table["delta"] == delta].groupby("shape", sort=False)):
        dashes = DASHES[index] or (None, None)
        ratio = line["classical"] / line["laplace"]
        axis.plot(line["d"], ratio, color=PALETTE[index + 1], dashes=dashes, lw=2, label=f"a record moves: {shape}")
    axis.axhline(1.0, color="black", lw=1)
    axis.annotate("Laplace noisier below", (1, 1.0), xytext=(4, -14), textcoords="offset points")
    axis.set(
        xlabel="number of coordinates $d$",
        ylabel="variance of Gaussian (8) / Laplace (7)",
        xscale="log",
        yscale="log",
    )
    axis.legend()
    return figure


def describe_noise(table: pd.DataFrame, *, delta: float) -> str:
    """Alt text of `noise_by_dimension`."""
    said = []
    for shape, line in table[table["delta"] == delta].groupby("shape", sort=False):
        ratio = line["classical"] / line["laplace"]
        below = line.loc[ratio < 1, "d"]
        where = f"below 1 from {below.min()} coordinates on" if len(below) else "never below 1"
        said.append(f"{shape}, {ratio.iloc[0]:.3g} to {ratio.iloc[-1]:.3g}, {where}")
    return "Variance of Gaussian over Laplace noise by what a record moves: " + "; ".join(said) + "."

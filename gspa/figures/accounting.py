"""The certified accountant: curves, users, rounds."""

from __future__ import annotations

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.figures.style import DASHES, PALETTE


def delta_curves(table: pd.DataFrame) -> Figure:
    """delta against eps: the certified interval as a band and the paper's Gaussian as a dashed line.

    Args:
        table: from `gspa.accounting.delta_curve`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    axis.fill_between(table["eps"], table["lower"], table["upper"], color=PALETTE[1], lw=2.5, label="certified")
    axis.plot(table["eps"], table["paper"], color=PALETTE[0], dashes=DASHES[1], lw=2, label="paper's Gaussian")
    floor = max(1e-16, float(table.loc[table["upper"] > 0, "upper"].min()) / 10)
    axis.set(xlabel=r"central $\epsilon$", ylabel=r"central $\delta$", yscale="log", ylim=(floor, 1))
    axis.legend()
    return figure


def per_user(table: pd.DataFrame) -> Figure:
    """Each user's central eps against the local one: both ends of the interval.

    Args:
        table: from `gspa.accounting.by_user`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, end in enumerate(("upper", "lower")):
        dashes = DASHES[index] or (None, None)
        axis.plot(table["local"], table[end], color=PALETTE[index + 1], dashes=dashes, lw=2, label=f"{end} end")
    axis.set(xlabel=r"local budget $\epsilon_i$", ylabel=r"central $\epsilon$ of that user")
    axis.legend()
    return figure


def rounds_curves(table: pd.DataFrame) -> Figure:
    """Central eps against the number of rounds, a line a method.

    Args:
        table: columns `rounds`, `method`, `epsilon`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    for index, (method, line) in enumerate(table.groupby("method", sort=False)):
        dashes = DASHES[index] or (None, None)
        axis.plot(
            line["rounds"], line["epsilon"], color=PALETTE[index], dashes=dashes, lw=2, marker="o", ms=4, label=method
        )
    axis.set(xlabel="rounds", ylabel=r"central $\epsilon$", xscale="log", yscale="log")
    axis.legend()
    return figure


def describe_curve(table: pd.DataFrame) -> str:
    """Alt text of `delta_curves`."""
    first, last = table.iloc[0], table.iloc[-1]
    return (
        f"Delta on a logarithmic axis against epsilon. Certified: {first['upper']:.3g} at {first['eps']:g}, falling to "
        f"{last['upper']:.3g} at {last['eps']:.3g}. The paper's Gaussian: {first['paper']:.3g} and {last['paper']:.3g}."
    )


def describe_users(table: pd.DataFrame) -> str:
    """Alt text of `per_user`."""
    first, last = table.iloc[0], table.iloc[-1]
    widest = float(((table["upper"] - table["lower"]) / table["upper"]).max())
    return (
        f"Two rising lines that lie close together, at most {100 * widest:.2g} percent apart: central epsilon from "
        f"{first['upper']:.3g} for a local budget of {first['local']:.3g} to {last['upper']:.3g} for "
        f"{last['local']:.3g}."
    )


def describe_rounds(table: pd.DataFrame) -> str:
    """Alt text of `rounds_curves`."""
    last = table[table["rounds"] == table["rounds"].max()].sort_values("epsilon")
    said = ", ".join(f"{row.method} {row.epsilon:.3g}" for row in last.itertuples())
    return f"Epsilon against rounds on logarithmic axes. At {table['rounds'].max():,} rounds: {said}."

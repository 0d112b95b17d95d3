"""Of notebook 18: its figures."""

from __future__ import annotations

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from gspa.book.figures import ROLES, keeps_data, name_ends, role

LINES = {
    "certified": ("certified", "certified"),
    "paper": ("paper", r"paper: $\sqrt{T} \mu$"),
    "basic": ("reference", "adding up $T$\ncertified rounds"),
}
"""Columns of the table over rounds: what they are, by the roles of figures, and what they are called."""


@keeps_data
def rounds_curves(table: pd.DataFrame) -> Figure:
    """Central eps against the number of rounds, a line an account."""
    figure, axis = plt.subplots(figsize=(4.8, 3.4), layout="constrained")
    for key, (kind, _) in LINES.items():
        axis.plot(table["rounds"], table[key], marker="o", ms=5, clip_on=False, **role(kind))
    axis.set(xlabel="rounds $T$, logarithmic", ylabel=r"central $\epsilon$, logarithmic", xscale="log", yscale="log")
    last = table.iloc[-1]
    name_ends(
        axis, [(last["rounds"], last[key], words, ROLES[kind][0]) for key, (kind, words) in LINES.items()], gap=22
    )
    return figure


@keeps_data
def divergence_curves(table: pd.DataFrame) -> Figure:
    """The pair's divergence and the published bound against the order."""
    figure, axis = plt.subplots(figsize=(4.8, 3.2), layout="constrained")
    named = {"upper": ("certified", "the pair,\ncertified"), "girgis21": ("closed form", "Girgis et al.\n2021")}
    for key, (kind, _) in named.items():
        axis.plot(table["order"], table[key], marker="o", ms=5, clip_on=False, **role(kind))
    axis.set(xscale="log", yscale="log", xlabel=r"order $\alpha$, logarithmic", ylabel="Renyi divergence, logarithmic")
    axis.set_xticks(table["order"], [f"{order}" for order in table["order"]])
    axis.xaxis.set_minor_formatter(NullFormatter())
    last = table.iloc[-1]
    name_ends(axis, [(last["order"], last[key], words, ROLES[kind][0]) for key, (kind, words) in named.items()], gap=22)
    return figure

"""What Algorithm 3 protects: a record's movement, true budgets, rounds, blankets."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from gspa.figures.style import DASHES, PALETTE

_BUDGETS = {
    "samples": "Algorithm 3, m = records of a client",
    "clients": "Algorithm 3, m = number of clients",
    "eps": "promised",
    "formula": "if one record moved the average by 2C/m",
    "repaired_run": "each record clipped, all T messages",
    "repaired": "each record clipped, one message",
}
_ROUNDS = {
    "local": "Algorithm 3: messages alone (upper bound)",
    "attacked": "Algorithm 3: attack (lower bound)",
    "promised": "promised by Theorem 5",
    "repaired": "each record clipped: messages alone",
    "repaired_attacked": "each record clipped: attack",
}


def record_movement(record: pd.DataFrame, *, clip: float, assumed: dict[str, int], real_norm: float) -> Figure:
    """Movement of the clipped average against the size of the one record that is replaced.

    Args:
        record: `gspa.sgd_sensitivity.growing_record`.
        clip: C.
        assumed: readings of line 7's m, by name.
        real_norm: the largest norm of a real record, a vertical line.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    axis.plot(record["norm"], record["movement"], color=PALETTE[1], lw=2.2)
    right = float(record["norm"].max())
    lines = {"2C": 2 * clip} | {f"2C/m, m = {m} ({name})": 2 * clip / m for name, m in assumed.items()}
    for k, (name, level) in enumerate(lines.items()):
        axis.axhline(level, color=PALETTE[2] if k else PALETTE[0], dashes=DASHES[1 + k], lw=1.6)
        axis.text(right, level * 1.08, name, ha="right", va="bottom", fontsize=10)
    axis.axvline(real_norm, color="0.5", dashes=DASHES[2], lw=1.4)
    axis.text(real_norm * 1.15, 2 * clip / 3, "largest real record", rotation=90, va="top", fontsize=9, color="0.35")
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="norm of the replaced record's features",
        ylabel="movement of the clipped average",
        ylim=(min(lines.values()) / 2, 4 * clip),
    )
    return figure


def describe_record_movement(record: pd.DataFrame, *, clip: float) -> str:
    """Alt text of `record_movement`."""
    first, last = record.iloc[0], record.iloc[-1]
    return (
        f"The movement of the clipped average rises with the norm of the replaced record, from {first['movement']:.3g} "
        f"at norm {first['norm']:.3g} to {last['movement']:.4g} at {last['norm']:.3g}, where "
        f"2C = {2 * clip:g}; the lines 2C/m lie far below."
    )


def true_budgets(local: pd.DataFrame, *, delta: float, epochs: int) -> Figure:
    """True local eps against the promised one, both axes logarithmic.

    Args:
        local: `gspa.sgd_privacy.local_table`.
        delta: at which eps is meant.
        epochs: T.
    """
    figure, axis = plt.subplots(figsize=(7, 5.2), layout="constrained")
    for k, (column, name) in enumerate(_BUDGETS.items()):
        label = name.replace("all T", f"all {epochs}")
        axis.plot(local["eps"], local[column], color=PALETTE[k], dashes=DASHES[k] or (None, None), lw=1.9, label=label)
    axis.set(
        xscale="log",
        yscale="log",
        xlabel=r"promised local budget $\epsilon_i$",
        ylabel=rf"true local $\epsilon$ at $\delta$ = {delta:g}",
    )
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure


def describe_true_budgets(local: pd.DataFrame) -> str:
    """Alt text of `true_budgets`."""
    last = local.iloc[-1]
    said = "; ".join(f"{name}, {last[column]:.3g}" for column, name in _BUDGETS.items())
    return f"True local eps grows with the promised one. At the largest promised budget: {said}."


def training_budgets(table: pd.DataFrame, *, delta: float) -> Figure:
    """Central eps over epochs for one budget setting: promised, attacked, guaranteed.

    Args:
        table: `gspa.sgd_privacy.theorem5_table` of one setting.
        delta: at which eps is meant.
    """
    figure, axis = plt.subplots(figsize=(7, 5.0), layout="constrained")
    for k, (column, name) in enumerate(_ROUNDS.items()):
        axis.plot(table["T"], table[column], color=PALETTE[k], dashes=DASHES[k] or (None, None), lw=2, label=name)
    axis.set(
        yscale="log",
        xlabel="epochs T",
        ylabel=rf"central $\epsilon$ at $\delta$ = {delta:g}",
        xlim=(table["T"].min(), table["T"].max()),
    )
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return figure


def describe_training_budgets(table: pd.DataFrame) -> str:
    """Alt text of `training_budgets`."""
    last = table.sort_values("T").iloc[-1]
    said = "; ".join(f"{name}, {last[column]:.3g}" for column, name in _ROUNDS.items())
    return f"Central eps over epochs, logarithmic. After {last['T']} epochs: {said}."


def blanket_masses(certified: pd.DataFrame) -> Figure:
    """Mass that another client's message has in common whatever its data, by dimension.

    Args:
        certified: `gspa.sgd_privacy.certified_table`.
    """
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    # Clipping each record leaves the noise, and with it the blanket, as it is.
    for k, (ratio, part) in enumerate(certified.groupby("ratio", sort=False)):
        name = " and ".join(dict.fromkeys(part["noise"]))
        part = part.drop_duplicates("dimension").sort_values("dimension")
        axis.plot(
            part["dimension"],
            part["log10_mass"],
            color=PALETTE[k],
            dashes=DASHES[k] or (None, None),
            marker="o",
            lw=2,
            label=f"{name}: C/σ = {ratio:.3g}",
        )
    axis.set(xscale="log", xlabel="number of parameters d", ylabel="mass of the blanket")
    axis.set_yscale("symlog", linthresh=1)
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"$10^{{{value:g}}}$"))
    axis.set_ylim(top=0.4)
    figure.legend(loc="outside lower center", fontsize=9)
    return figure


def describe_blanket_masses(certified: pd.DataFrame) -> str:
    """Alt text of `blanket_masses`."""
    low, high = certified["dimension"].min(), certified["dimension"].max()
    said = []
    for noise, part in certified.groupby("noise", sort=False):
        mass = part.set_index("dimension")["log10_mass"]
        said.append(f"{noise}, 10^{np.round(mass[low], 2):g} to 10^{np.round(mass[high], 2):g}")
    return f"The blanket's mass falls with the number of parameters; from {low:,} to {high:,}: " + "; ".join(said) + "."

"""Theorem 1's pair and the shuffled reports as trade-off functions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from gspa.figures.style import DASHES, PALETTE


def trade_off_panels(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """A panel a process: type II error against type I error, a line for the reports and one for each pair.

    Args:
        tables: panel title to a table from `gspa.reduction_cases.trade_off`.
    """
    figure, axes = plt.subplots(
        1, len(tables), figsize=(3.2 * len(tables), 3.9), sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for axis, (title, table) in zip(axes[0], tables.items(), strict=True):
        for index, (name, line) in enumerate(table.groupby("curve", sort=False)):
            # The reports widest and first, so that a line on top of them leaves them visible.
            width = 5.0 if index == 0 else 2.0
            style = {"color": PALETTE[(5, 0, 2)[index]], "dashes": DASHES[index] or (None, None), "lw": width}
            axis.plot(line["alpha"], line["beta"], label=name, **style)
        axis.set(title=title, xlabel=r"type I error $\alpha$", xlim=(0, 1), ylim=(0, 1))
        axis.set_box_aspect(1)
    axes[0, 0].set_ylabel(r"smallest type II error $\beta$")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def describe_trade_offs(tables: Mapping[str, pd.DataFrame]) -> str:
    """Alt text of `trade_off_panels`."""
    said = []
    for title, table in tables.items():
        curves = {str(name): (line["alpha"], line["beta"]) for name, line in table.groupby("curve", sort=False)}
        alpha = np.unique(table["alpha"])
        beta = {name: np.interp(alpha, *corners) for name, corners in curves.items()}
        below = beta["shuffled"] - beta["printed pair"]
        worst = int(np.argmin(below))
        where = (
            f"the shuffled reports are below the printed pair, by {-below[worst]:.2g} at alpha = {alpha[worst]:.2g}"
            if below[worst] < -1e-12
            else "the shuffled reports are nowhere below the printed pair"
        )
        over = beta["shuffled"] - beta["corrected pair"]
        said.append(f"{title}: {where}, and {'nowhere' if over.min() > -1e-12 else 'somewhere'} below the corrected")
    return f"{len(tables)} panels of falling piecewise linear trade-off curves. {'; '.join(said)}."

"""The front page's picture: drawn from its table at every build, and the README's committed copy of it.

`python -m gspa.front_page FOLDER` writes both files into a folder; a test holds the committed ones to it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path

from gspa.project import write_atomically

NAME = "headline"


@dataclass(frozen=True)
class Picture:
    """A figure as SVG, its alternative text, and the numbers that it draws as CSV."""

    svg: str
    alt: str
    csv: str


@cache
def picture() -> Picture:
    """The one figure of the front page; the same bytes every time."""
    import matplotlib as mpl

    from gspa.headline import headline

    table = headline()
    with mpl.rc_context({"backend": "Agg"}):  # also restores the style of who called
        from matplotlib import pyplot as plt

        from gspa import figures

        figures.use_style()
        figure = figures.headline_curves(table)
        stream = BytesIO()
        figure.savefig(stream, format="svg", metadata={"Date": None})
        plt.close(figure)
    return Picture(stream.getvalue().decode(), figures.describe_headline(table), table.to_csv(index=False))


def write(folder: Path) -> None:
    """Write the picture and its table as `headline.svg` and `headline.csv`."""
    drawn = picture()
    write_atomically(folder / f"{NAME}.svg", drawn.svg)
    write_atomically(folder / f"{NAME}.csv", drawn.csv)


def figure_directive() -> str:
    """The figure for the front page (MyST Markdown), for a page beside the folder `_generated`."""
    from gspa.headline import DELTA, N

    return f"""```{{figure}} _generated/{NAME}.svg
:name: figure-{NAME}
:alt: {picture().alt}

{N:,} users who all run randomized response with budget $\\epsilon_0$, central $\\delta$ = {DELTA:g}. Above the \
certified line a promise is loose, below the attack it is false. {{download}}`CSV <_generated/{NAME}.csv>`
```
"""


if __name__ == "__main__":
    write(Path(sys.argv[1]))

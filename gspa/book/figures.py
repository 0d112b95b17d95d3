"""The one figure style, tables with stable bytes, and what stands under a figure: its caption and its data.

A page draws with functions that are marked `keeps_data`: the tables they are given go with the figure, and the site
offers them as CSV under the caption. Matplotlib is imported only where something is drawn: its cache wants a home, and
a build, which reads this module for the site, may have none.
"""

from __future__ import annotations

import functools
import inspect
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gspa.book import text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

MIME = "application/vnd.gspa.figure+json"
"""Of a figure's name, caption, alternative text and tables, beside it in the cell's output."""
FILES = "application/vnd.gspa.files+json"
"""Of files that a page gives to the site, name to text."""
CAPTION = "gspa-caption"
"""The metadata of the output that says the caption; the site puts it under the figure instead."""
LIMIT = 1_000_000  # bytes of one table's CSV; a longer table is thinned

# For series without a role below: none has a colour of one. The first four are told apart by the colour-blind as well,
# from each other and from the roles; of more, dashes and markers tell.
PALETTE = ("#332288", "#BF864D", "#735CE6", "#4C3608", "#A3195B", "#324C3B", "#8899AA")
DASHES = ((), (5, 2), (1, 1.5), (6, 2, 1, 2), (3, 1), (8, 2), (2, 2, 6, 2))
# What a series is, and its colour (Okabe and Ito's) and dashes on every page. Series that are none of these, sizes or
# seeds for instance, take the palette in its order.
ROLES = {
    "paper": ("#D55E00", ()),  # what a paper promises, states or prints
    "certified": ("#009E73", ()),  # proved
    "attack": ("#0072B2", (5, 2)),  # what an attack or an experiment reaches
    "truth": ("#000000", ()),  # the exact value
    "numerical": ("#E69F00", (6, 2, 1, 2)),  # another author's numerical bound
    "closed form": ("#CC79A7", (1, 1.5)),  # another author's formula
    "reference": ("#666666", (8, 2)),  # without shuffling, a level, a limit
}


def use_style() -> None:
    """Set the book's style for this process."""
    import seaborn as sns
    from matplotlib import pyplot as plt

    sns.set_theme(context="notebook", style="whitegrid", palette=PALETTE)
    plt.rcParams.update(
        {
            "figure.facecolor": "white",  # opaque: readable on a dark page
            "savefig.facecolor": "white",
            # On a phone a figure of 4.8 inches is three quarters as large, and nine points are nine pixels.
            "font.size": 9,
            "axes.titlesize": 10,
            "axes.labelsize": 10,
            "xtick.labelsize": 9,
            "ytick.labelsize": 9,
            "legend.fontsize": 9,
            "legend.title_fontsize": 9,
            "figure.titlesize": 10,
            "lines.linewidth": 1.5,
            "svg.hashsalt": "gspa",  # ids in the file do not vary from run to run
            "svg.fonttype": "path",
            "legend.frameon": False,
        }
    )


def role(name: str) -> dict[str, Any]:
    """A line's colour and dashes, by what it stands for."""
    colour, dashes = ROLES[name]
    return {"color": colour, "dashes": dashes or (None, None), "lw": 2}


def name_line(axis: Axes, x: float, y: float, words: str, *, colour: str, right: float = 5, up: float = 0) -> None:
    """A series' name beside a point of it, so many points right and up; it ends there if `right` is negative."""
    axis.annotate(
        words,
        (x, y),
        xytext=(right, up),
        textcoords="offset points",
        color=colour,
        fontsize=9,
        ha="left" if right >= 0 else "right",
        va="center",
        annotation_clip=False,
    )


def name_rows(axis: Axes, names: Iterable[str], *, up: float = 5) -> None:
    """Names of the rows 0, 1, 2, ... above them, from the left edge: a narrow screen shows them beside the data."""
    axis.set_yticks([])
    for y, words in enumerate(names):
        where: dict[str, Any] = {"xycoords": axis.get_yaxis_transform(), "textcoords": "offset points"}
        behind = {"facecolor": "white", "lw": 0, "pad": 0.5, "alpha": 0.8}
        axis.annotate(words, (0, y), xytext=(5, up), fontsize=9, va="bottom", zorder=5, bbox=behind, **where)


def name_ends(axis: Axes, ends: Sequence[tuple[float, float, str, str]] = (), *, gap: float = 12) -> None:
    """Names of lines right of their last points, moved apart where they would collide; the axis ends where they do.

    Args:
        axis: with its final scales.
        ends: (x, y, words, colour) a line; none: the axis's own lines with their labels.
        gap: points between the middles of two names.
    """
    if not ends:
        known = [(line, np.asarray(line.get_xydata(), dtype=float)) for line in axis.lines]
        last = [(line, places[np.isfinite(places).all(axis=1)][-1:]) for line, places in known]
        ends = [
            (float(x), float(y), str(line.get_label()), str(line.get_color())) for line, end in last for x, y in end
        ]
    axis.set_xlim(right=max(x for x, *_ in ends))
    figure = axis.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    points = 72 / figure.dpi
    heights = [float(axis.transData.transform((x, y))[1]) * points for x, y, *_ in ends]
    wanted = sorted((height, *end) for height, end in zip(heights, ends, strict=True))
    places = [height for height, *_ in wanted]
    for k in range(1, len(places)):
        places[k] = max(places[k], places[k - 1] + gap)
    places[-1] = min(places[-1], max(wanted[-1][0], axis.bbox.y1 * points))
    for k in range(len(places) - 2, -1, -1):
        places[k] = min(places[k], places[k + 1] - gap)
    for place, (height, x, y, words, colour) in zip(places, wanted, strict=True):
        name_line(axis, x, y, words, colour=colour, right=7, up=place - height)


def as_svg(figure: Figure, *, tight: bool = True) -> tuple[str, list[dict[str, Any]]]:
    """A figure as SVG, the same bytes every time, and its `readings`; it is closed.

    Frames of one that moves are not cut to what is drawn, and so alike.
    """
    from matplotlib import pyplot as plt

    if engine := figure.get_layout_engine():
        engine.execute(figure)
    figure.set_layout_engine(None)  # it is laid out
    cut = figure.get_tightbbox().padded(0.05) if tight else None
    stream = io.StringIO()
    figure.savefig(stream, format="svg", bbox_inches=cut, metadata={"Date": None})
    read = readings(figure, cut or figure.bbox_inches)
    plt.close(figure)
    return stream.getvalue(), read


def readings(figure: Figure, cut: Bbox) -> list[dict[str, Any]]:
    """What a pointer over the picture can read: of each panel its place in the picture, x axis and named lines.

    Args:
        figure: laid out.
        cut: the part of it that the picture shows, in inches.
    """
    from matplotlib.colors import to_hex

    width, height = figure.get_size_inches()
    found = []
    for axis in figure.axes:
        named = [line for line in axis.lines if not str(line.get_label()).startswith("_")]
        points = {line: np.asarray(line.get_xydata(), dtype=float) for line in named}
        lines = [
            {
                "name": text.plain(" ".join(str(line.get_label()).split())),
                "colour": to_hex(line.get_color()),
                "points": [[float(f"{x:.6g}"), float(f"{y:.6g}")] for x, y in places if math.isfinite(x + y)],
            }
            for line, places in points.items()
            if len(places) > 2 and line.get_transform() == axis.transData
        ]
        if not lines or axis.get_xscale() not in ("linear", "log"):
            continue
        place = axis.get_position()
        found.append(
            {
                "left": round((place.x0 * width - cut.x0) / cut.width, 5),
                "right": round((place.x1 * width - cut.x0) / cut.width, 5),
                "top": round((cut.y1 - place.y1 * height) / cut.height, 5),
                "bottom": round((cut.y1 - place.y0 * height) / cut.height, 5),
                "x": text.plain(axis.get_xlabel()),
                "ends": [float(f"{end:.9g}") for end in axis.get_xlim()],
                "log": axis.get_xscale() == "log",
                "lines": lines,
            }
        )
    return found


def keeps_data(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """`draw`, with the tables it is given attached to the figure it returns."""
    signature = inspect.signature(draw)

    @functools.wraps(draw)
    def drawn(*given: Any, **named: Any) -> Figure:
        figure = draw(*given, **named)
        figure.gspa_tables = tables_of(signature.bind(*given, **named).arguments)  # type: ignore[attr-defined]
        return figure

    return drawn


def tables_of(arguments: Mapping[str, object]) -> list[dict[str, Any]]:
    """The tables among a drawing function's arguments as CSV: tables, and mappings to tables or to numbers."""
    import pandas as pd

    found: dict[str, pd.DataFrame] = {}
    for name, value in arguments.items():
        if isinstance(value, pd.DataFrame):
            found[name] = value
        elif isinstance(value, Mapping) and value and all(isinstance(part, pd.DataFrame) for part in value.values()):
            found[name] = pd.concat([part.assign(**{name: key})[[name, *part.columns]] for key, part in value.items()])
        elif isinstance(value, Mapping) and value:
            found[name] = pd.DataFrame({"name": list(value), "value": list(value.values())})
    tables = []
    for name, table in found.items():
        written, rows = as_csv(table)
        tables.append({"name": name, "rows": rows, "of": len(table), "csv": written})
    return tables


def as_csv(table: pd.DataFrame, *, limit: int = LIMIT) -> tuple[str, int]:
    """A table as CSV with a header, numbers in full precision, and how many rows it has.

    Args:
        table: any; an index that is not just the rows' numbers becomes columns.
        limit: bytes; of a longer table every second, third, ... row is kept, evenly from the first.
    """
    import pandas as pd

    rows = table if isinstance(table.index, pd.RangeIndex) or table.index.name is None else table.reset_index()
    step = 1
    while True:
        kept = rows.iloc[::step]
        written = kept.to_csv(index=False, lineterminator="\n")
        size = len(written.encode())
        if size <= limit or len(kept) <= 1:
            return written, len(kept)
        step = max(step + 1, math.ceil(step * size / limit))


def bundle(figure: Figure, *, name: str, caption: str, alt: str) -> dict[str, Any]:
    """What a notebook shows of a figure: the picture, and beside it what the site needs."""
    tables = getattr(figure, "gspa_tables", [])
    svg, reads = as_svg(figure)
    about = {"name": name, "caption": caption, "alt": alt, "tables": tables, "reads": reads}
    return {"image/svg+xml": svg, "text/plain": alt, MIME: about}


class Frame(NamedTuple):
    """A picture at one setting of the knobs, and what it shows, for those who cannot see it."""

    svg: str
    alt: str
    reads: list[dict[str, Any]]

    @classmethod
    def of(cls, figure: Figure, alt: str) -> Frame:
        """From a figure, which is closed."""
        svg, reads = as_svg(figure, tight=False)
        return cls(svg, alt, reads)


def together(tables: Mapping[tuple[Any, ...], pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    """The tables of all settings of a figure's knobs in one, the setting in front."""
    import pandas as pd

    return pd.concat(
        [table.assign(**dict(zip(names, key, strict=False)))[[*names, *table]] for key, table in tables.items()],
        ignore_index=True,
    )


def moving(
    frames: Mapping[tuple[Any, ...], Frame],
    *,
    knobs: Sequence[str],
    start: tuple[Any, ...],
    data: pd.DataFrame,
    name: str,
    caption: str,
) -> dict[str, Any]:
    """What a notebook shows of a figure with knobs: the picture to start with, and beside it what the site needs.

    Args:
        frames: at every setting of all knobs a picture; all of one size.
        knobs: what each place of a setting is, in words.
        start: the setting that is shown where no script runs, and in print.
        data: the numbers of all frames.
        name: as `bundle`.
        caption: as `bundle`.
    """
    each = [list(dict.fromkeys(setting[i] for setting in frames)) for i in range(len(knobs))]
    written, rows = as_csv(data)
    tables = [{"name": name, "rows": rows, "of": len(data), "csv": written}]
    moves = {
        "knobs": [
            {"name": knob, "values": [text.html_value(value) for value in values], "at": values.index(at)}
            for knob, values, at in zip(knobs, each, start, strict=True)
            if len(values) > 1
        ],
        "frames": [frames[setting]._asdict() for setting in product(*each)],
    }
    svg, alt, _ = frames[start]
    about = {"name": name, "caption": caption, "alt": alt, "tables": tables, "moves": moves}
    return {"image/svg+xml": svg, "text/plain": alt, MIME: about}


def script(about: Mapping[str, Any], folder: str) -> str:
    """HTML for the page's script: the knobs, the frames, which are files in `folder`, and what a pointer reads."""
    frames = [
        {"src": f"{folder}/{about['name']}-{i}.svg", "alt": frame["alt"], "reads": frame["reads"]}
        for i, frame in enumerate(about.get("moves", {}).get("frames", []))
    ]
    told = {"knobs": about.get("moves", {}).get("knobs", []), "frames": frames or [{"reads": about.get("reads", [])}]}
    if not (told["knobs"] or told["frames"][0]["reads"]):
        return ""
    written = json.dumps(told, ensure_ascii=False).replace("</", "<\\/")
    return f"<script type='application/json' class='gspa-moves'>{written}</script>"


def table(rows: pd.DataFrame, *, digits: int = 4, floor: float = 0.0) -> Any:
    """A table for a page; the same bytes every time, unlike `DataFrame.style`.

    Args:
        rows: the table; heads and texts are Markdown.
        digits: significant ones of each floating number.
        floor: floating numbers closer to 0 than this are shown as 0: rounding errors, and what no reader compares.
    """
    from IPython.display import HTML

    shown = rows.copy()
    for name in shown.select_dtypes("bool"):
        shown[name] = shown[name].map({True: "yes", False: "no"})
    for name in shown.select_dtypes("float"):
        shown[name] = shown[name].mask(shown[name].abs() < floor, 0.0)
    for name in shown.select_dtypes("integer"):
        shown[name] = shown[name].map("{:,}".format)
    for name in shown.select_dtypes(["object", "string", "category"]):
        shown[name] = shown[name].astype(object).map(_cell)
    return HTML(
        shown.rename_axis(columns=None)
        .rename(columns=lambda name: text.html(f"{name:,}" if isinstance(name, int) else str(name)))
        .to_html(
            index=False,
            escape=False,  # `text.html` has done that
            float_format=lambda number: text.html_value(float(number), digits),
            na_rep="",
            border=0,
            justify="left",
            classes="gspa-wordy" if _wordy(shown) else None,
        )
    )


def _wordy(shown: pd.DataFrame) -> bool:
    """Whether the first column has several words, which need room on a narrow screen."""
    return shown.shape[1] > 1 and any(len(str(cell)) > 12 and " " in str(cell) for cell in shown.iloc[:, 0])


def _cell(cell: object) -> object:
    """A cell of a column that is not of numbers alone: what pandas writes without escaping it."""
    import pandas as pd

    if isinstance(cell, bool | np.bool_):
        return "yes" if cell else "no"
    return cell if cell is None or cell is pd.NA or isinstance(cell, int | float) else text.html(str(cell))


# --- figures of more than one page ---------------------------------------------------------------------------


_CONSERVATIVE = {
    "f_conservative": "share of conservative users",
    "eps_conservative": r"budget $\epsilon_C$ of the conservative users",
}


@keeps_data
def error_curves(table: pd.DataFrame, *, x: str, of: str) -> Figure:
    """Mean absolute error of an estimate of the mean or the frequency: simulated, exact, and the nearest line.

    Args:
        table: columns reading, a line each; x; mae; mae_error, its standard error, for a 95% band; exact.
        x: a key of `_CONSERVATIVE`.
        of: what is estimated.
    """
    from matplotlib import pyplot as plt

    half = NormalDist().inv_cdf(0.975)
    figure, axis = plt.subplots(figsize=(4.8, 3.4), layout="constrained")
    truth, line = ROLES["truth"][0], ROLES["reference"][0]
    for index, (rule, part) in enumerate(table.groupby("reading", sort=False)):
        colour, dashes, margin = PALETTE[index], DASHES[index] or (None, None), half * part["mae_error"]
        axis.fill_between(part[x], part["mae"] - margin, part["mae"] + margin, color=colour, alpha=0.25, lw=0)
        axis.plot(part[x], part["mae"], color=colour, dashes=dashes, lw=2, label=f"{rule}, simulated")
        axis.plot(part[x], part["exact"], color=truth, lw=1, dashes=(1, 1.5))
        slope, start = np.polyfit(part[x], part["exact"], 1)
        axis.plot(part[x], start + slope * part[x], color=line, lw=1)
    axis.plot([], [], color=truth, lw=1, dashes=(1, 1.5), label="closed form")
    axis.plot([], [], color=line, lw=1, label="nearest straight line")
    axis.set(xlabel=_CONSERVATIVE[x], ylabel=f"mean absolute error of the {of}", ylim=(0, None))
    axis.legend()
    return figure


@keeps_data
def group_promises(table: pd.DataFrame, *, delta: float) -> Figure:
    """Central eps of each group, and the promise, against the conservative users' budget.

    Args:
        table: columns eps_conservative; group, a band each; lower; upper; promised, to everybody.
        delta: for the axis.
    """
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
    promised = table.drop_duplicates("eps_conservative")
    axis.plot(promised["eps_conservative"], promised["promised"], label="promised to everybody", **role("paper"))
    for index, (group, part) in enumerate(table.groupby("group", sort=False)):
        x, colour = part["eps_conservative"], PALETTE[index]
        axis.fill_between(x, part["lower"], part["upper"], color=colour, alpha=0.3, lw=0)
        axis.plot(x, part["lower"], color=colour, lw=1)
        axis.plot(x, part["upper"], color=colour, dashes=DASHES[index], lw=2, label=str(group))
    axis.set(xlabel=_CONSERVATIVE["eps_conservative"], ylim=(0, None))
    axis.set_ylabel(rf"central $\epsilon$ at $\delta$ = {delta:g}")
    title = "bands: from what is certainly reached to what is certified"
    figure.legend(loc="outside upper center", ncols=2, title=title)
    return figure

"""A notebook's first line: it brings %%say, checks the parameters, sets the style, and shows cards and figures."""

from __future__ import annotations

import sys
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import pandas as pd
from matplotlib.figure import Figure

from gspa.accountant.errors import GspaError
from gspa.book import claims, figures, parameters, project, provenance, say, text
from gspa.book.claims import Outcome
from gspa.book.verdicts import Holds

say.install()
with suppress(GspaError):  # a notebook may import the module beside it, wherever it runs
    sys.path.append(str(project.find().notebooks))


class Show:
    """What any notebook needs: the style, and figures with captions."""

    _places: ClassVar[dict[str, list[Any]]] = {}

    @classmethod
    def place(cls, name: str) -> None:
        """Keep a place for a figure that a cell below draws; there the figure stands, and not under that cell."""
        from IPython.display import display

        empty = {"text/plain": ""}
        cls._places[name] = [display(empty, raw=True, display_id=True) for _ in ("figure", "caption")]

    def start(self, namespace: Mapping[str, Any]) -> None:
        """Set the style; captions are filled from the notebook's `globals()`."""
        self._namespace = namespace
        figures.use_style()

    def figure(self, figure: Figure, name: str, *, caption: str, alt: str) -> None:
        """Show a figure with its caption.

        Args:
            figure: from a function marked `figures.keeps_data`.
            name: the figure's anchor on the site.
            caption: Markdown, filled like %%say.
            alt: what the figure shows, for those who cannot see it; filled too.
        """
        said = say.render(caption, self._namespace)
        self._display(
            figures.bundle(figure, name=name, caption=said, alt=text.plain(say.render(alt, self._namespace))), said
        )

    def moving(
        self,
        frames: Mapping[tuple[Any, ...], figures.Frame],
        name: str,
        *,
        knobs: Sequence[str],
        start: tuple[Any, ...],
        data: pd.DataFrame,
        caption: str,
    ) -> None:
        """Show a figure with knobs, which turn on the site; see `figures.moving`."""
        said = say.render(caption, self._namespace)
        self._display(figures.moving(frames, knobs=knobs, start=start, data=data, name=name, caption=said), said)

    def _display(self, shown: dict[str, Any], said: str) -> None:
        from IPython.display import display

        place = self._places.get(shown[figures.MIME]["name"])
        figure, caption = (one.update for one in place) if place else (display, display)
        figure(shown, raw=True)
        caption({"text/markdown": said, "text/plain": text.plain(said)}, raw=True, metadata={figures.CAPTION: True})


show = Show()
"""For a notebook without a schema, such as a sweep's."""


class Page(Show):
    """One of the book's notebooks while it runs.

    Attributes:
        used: its parameters.
        quick: whether this is a run of small sizes.
        data: file name to SHA-256 of the data set that it read, for the footer; set by a page that reads one.
        dataset: that data set's name.
        as_recorded: whether all its cards so far have the verdicts on record, but for sizes and data that it lacks.
    """

    def __init__(self, name: str, namespace: MutableMapping[str, Any]) -> None:
        """Check the parameters against the schema, and set them to what was read; set the style.

        Args:
            name: the notebook's own name.
            namespace: its `globals()`; its parameters are what was checked from now on, such as the number of a text,
                or the size that the profile has.
        """
        notebook = parameters.select(project.find(), name)
        self.used = notebook.running(namespace)
        namespace.update(self.used)
        self.quick = notebook.small(self.used["profile"])
        self.data: dict[str, str] = {}
        self.dataset = "mnist"
        self.as_recorded = True
        self._changed = notebook.departures(self.used)
        self.start(namespace)

    def settle(self, claim: str, holds: Holds | Mapping[str, Holds], /, **evidence: Any) -> Outcome:
        """The card of a claim.

        Args:
            claim: its id.
            holds: whether it holds, in its only reading or by reading.
            **evidence: the numbers that its words on record name, and others for its card.
        """
        there = {"size": not self.quick, "data": self.dataset == "mnist"}
        had = [name for name, has in there.items() if has]
        found = claims.outcome(claim, holds, evidence, had=had, used=self.used, changed=self._changed)
        self.as_recorded &= found.missing in ("size", "data") or found.verdict == claims.claim(claim).verdict
        return found

    def tolerance(self, claim: str, name: str) -> float:
        """A tolerance of the registry."""
        return float(claims.claim(claim).tolerance[name])

    def table(self, rows: pd.DataFrame, *, digits: int = 4, floor: float = 0.0) -> None:
        """Show a table in the book's form, wherever in its cell it is asked for: heads and texts are Markdown."""
        from IPython.display import display

        display(figures.table(rows, digits=digits, floor=floor))

    def ship(self, files: Mapping[str, str], folder: str = "certificates") -> None:
        """Give files to the site, by name, in a folder of the book's generated parts."""
        from IPython.display import display

        many = f"{len(files)} file{'s' * (len(files) != 1)} for the site"
        display(_shipped(files, folder) | {"text/plain": many}, raw=True)

    def front(self, rows: pd.DataFrame, name: str, *, says: str) -> None:
        """Show a table that the first page shows as well, after a sentence that is filled like %%say."""
        from IPython.display import display

        shown = figures.table(rows).data
        said = text.html(say.render(says, self._namespace))
        sent = _shipped({f"{name}.html": f"<p>{said}</p>\n{shown}\n"}, "front")
        display(sent | {"text/html": shown, "text/plain": rows.to_string()}, raw=True)

    def footer(self) -> Any:
        """Parameters, versions, sources and data: the block that ends a page."""
        return provenance.footer(self.used, data=self.data)


def _shipped(files: Mapping[str, str], folder: str) -> dict[str, Any]:
    return {figures.FILES: {f"{folder}/{name}": content for name, content in files.items()}}

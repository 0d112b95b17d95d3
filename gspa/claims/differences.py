"""The page on what this book does differently: each notebook's own section on it, and every corrected statement."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from gspa.claims.outcome import Outcome, prose_html
from gspa.claims.registry import PAPERS, Claim, registry

_SECTION = re.compile(r"^## What differs from the papers?\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
# A link to another notebook, as the notebooks write it: beside their own file.
_LINK = re.compile(r"\]\((?=\w+\.ipynb)")


def departures(notebooks: Iterable[Path]) -> str:
    """What each page says under "What differs from the paper" (MyST Markdown), a heading a page.

    Args:
        notebooks: executed notebooks, in the order to show; one without such a section is left out.
    """
    parts = []
    for path in notebooks:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        found = [match.group(1).strip() for text in texts for match in [_SECTION.search(text)] if match]
        if found:
            moved = [_LINK.sub("](notebooks/", text) for text in found]
            parts += [f"### [](notebooks/{path.name})", "", *moved, ""]
    return "\n".join(parts)


def corrections(outcomes: Mapping[str, Outcome], pages: Collection[str]) -> str:
    """The claims that hold with a correction, and each corrected statement (MyST Markdown): a list a paper.

    Args:
        outcomes: what this build's notebooks found, by claim id.
        pages: notebook names that the book contains; a card on another page is not linked.
    """
    corrected = {name: outcome for name, outcome in outcomes.items() if outcome.correction}
    parts = [f"This build found {len(corrected)} of them.", ""]
    for paper, title in PAPERS.items():
        rows = [
            _correction(entry, corrected[entry.id], pages)
            for entry in registry().values()
            if entry.paper == paper and entry.id in corrected
        ]
        if rows:
            parts += [f"### {title}", "", "```{raw} html", "<dl class='gspa-corrections'>", *rows, "</dl>", "```", ""]
    return "\n".join(parts)


def _correction(entry: Claim, outcome: Outcome, pages: Collection[str]) -> str:
    carded = entry.notebook in pages
    where = f"notebooks/{entry.notebook}.html#card-{entry.id}" if carded else f"claims.html#{entry.id}"
    text = outcome.correction[0].upper() + outcome.correction[1:]
    return (
        f"<dt>{prose_html(entry.title)} <span class='gspa-kind'>({prose_html(entry.location)})</span></dt>"
        f"<dd>{prose_html(text)} <a href='{where}'>{entry.id}</a></dd>"
    )

"""Where each claim is settled, what it rests on, and the same for machines: a table, a graph, JSON-LD."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gspa.book import build_record, provenance, text
from gspa.book.cards import Found
from gspa.book.claims import PAPERS, Claim
from gspa.book.fill import fill
from gspa.book.project import Project
from gspa.book.run import Run

_WIDTH, _HEIGHT = 84, 24  # of a node
_ACROSS, _DOWN = 150, 34  # between nodes
_SWEEPS = 4


@dataclass(frozen=True)
class Node:
    """A claim in its paper's graph: `x`, `y` of its upper left corner, in pixels."""

    claim: Claim
    x: float
    y: float


def layers(edges: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Names by the length of the longest way down, each beside those that it rests on.

    Args:
        edges: a name to those that it rests on; without a circle.
    """
    depth: dict[str, int] = {}

    def deep(name: str) -> int:
        if name not in depth:
            depth[name] = max((deep(below) + 1 for below in edges.get(name, ())), default=0)
        return depth[name]

    for name in edges:
        deep(name)
    rows = [[name for name in edges if depth[name] == row] for row in range(max(depth.values(), default=-1) + 1)]
    near: dict[str, set[str]] = {name: set(edges[name]) for name in edges}
    for name, below in edges.items():
        for other in below:
            near[other].add(name)
    for _ in range(_SWEEPS):
        for row in rows:
            at = {name: i for line in rows for i, name in enumerate(line)}
            row.sort(key=lambda name: sum(at[o] for o in near[name]) / len(near[name]) if near[name] else at[name])
    return rows


def graph(found: Found, paper: str) -> str:
    """The paper's claims that rest on one another (SVG in HTML), those without a neighbour left out; may be empty."""
    inside = {one.id: [o for o in one.rests_on if found.registry[o].paper == paper] for one in found.of(paper)}
    linked = {name for name, below in inside.items() if below} | {o for below in inside.values() for o in below}
    if not linked:
        return ""
    rows = layers({name: below for name, below in inside.items() if name in linked})
    tallest = max(map(len, rows), default=0)
    nodes = {
        name: Node(found.registry[name], 8 + i * _ACROSS, 8 + (j + (tallest - len(row)) / 2) * _DOWN)
        for i, row in enumerate(rows)
        for j, name in enumerate(row)
    }
    lines = [
        (nodes[below].x + _WIDTH, nodes[below].y + _HEIGHT / 2, node.x, node.y + _HEIGHT / 2)
        for name, node in nodes.items()
        for below in inside[name]
    ]
    size = (len(rows) * _ACROSS - _ACROSS + _WIDTH + 16, tallest * _DOWN + 8)
    return fill("graph.svg", found=found, nodes=nodes, lines=lines, size=size, node=(_WIDTH, _HEIGHT), paper=paper)


def tests_of(project: Project) -> dict[str, str]:
    """Claims to the test file, and its line, that plants an error for it."""
    places: dict[str, str] = {}
    for path in sorted((project.root / "tests" / "pages").glob("test_p*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        first = next((i for i, line in enumerate(lines) if line.startswith("PLANTED")), len(lines))
        for number, line in enumerate(lines[first:], first + 1):
            for name in re.findall(r"\b(?:G|B|N)-[A-Z0-9]+[pr]?\b|\b[FEQ]\d+\b", line):
                places.setdefault(name, f"{path.relative_to(project.root).as_posix()}:{number}")
    return places


def page(project: Project, found: Found, runs: Iterable[Run]) -> str:
    """The map (MyST Markdown): graphs, and a table a page of claim, code, test and what it was computed from."""
    runs = list(runs)
    keys = {run.name: str(build_record.facts(run).get("key", ""))[:16] for run in runs}
    return fill(
        "map.md",
        found=found,
        graphs={paper: graph(found, paper) for paper in PAPERS},
        tests=tests_of(project),
        keys=keys,
        commit=(provenance.commit(project.root) or "not from a git checkout")[:12],
        PAPERS=PAPERS,
    )


def linked_data(found: Found) -> str:
    """Every verdict as a schema.org ClaimReview, keyed by the papers' identifiers (JSON-LD)."""
    reviews = []
    for entry in found.registry.values():
        outcome = found.outcomes.get(entry.id)
        where, named = entry.appeared
        reviews.append(
            {
                "@type": "ClaimReview",
                "@id": f"{where}#{entry.id}",
                "url": found.where(entry),
                "claimReviewed": text.plain(entry.quote),
                "itemReviewed": {
                    "@type": "Claim",
                    "name": text.plain(entry.title),
                    "appearance": {"@type": "ScholarlyArticle", "@id": where, "name": text.plain(named)},
                },
                "reviewRating": _rating(found, entry),
                "reviewBody": text.plain(outcome.reason if outcome else entry.reason),
                **_standard(entry),
            }
        )
    return json.dumps({"@context": "https://schema.org", "@graph": reviews}, indent=1, ensure_ascii=False) + "\n"


def _rating(found: Found, entry: Claim) -> dict[str, str]:
    rating = {"@type": "Rating", "alternateName": found.verdict(entry)}
    return rating | ({"ratingExplanation": said} if (said := found.agreeing(entry)) else {})


def _standard(entry: Claim) -> dict[str, Any]:
    if not entry.since:
        return {}
    return {
        "measurementTechnique": text.plain(f"{entry.quantity}, against {entry.comparator}"),
        "datePublished": entry.since,
    }


def write(project: Project, found: Found, runs: Iterable[Run], folder: Path) -> dict[str, str]:
    """The generated parts: the map's Markdown by name; the JSON-LD is written to `folder`."""
    from gspa.files import write_atomically

    write_atomically(folder / "claims.jsonld", linked_data(found))
    return {"map": page(project, found, runs)}

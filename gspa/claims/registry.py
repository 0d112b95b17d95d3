"""The claims of the three papers, as `registry.yaml` lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, cast

import yaml

from gspa.claims.verdicts import Verdict
from gspa.errors import UnknownName

PAPERS = {
    "gspa": "A Generalized Shuffle Framework for Privacy Amplification (AAAI 2024)",
    "clones": "Hide among the clones (blog, 2022)",
    "flame": "FLAME (AAAI 2021)",
}
SHORT = {"gspa": "Framework", "clones": "Clones blog", "flame": "FLAME"}
"""Names of the papers for the heads of narrow columns."""


@dataclass(frozen=True)
class Claim:
    """One entry of the registry; `verdict` is the recorded one, which a run is compared with."""

    id: str
    paper: str
    location: str
    title: str
    quote: str
    kind: str
    notebook: str
    tolerance: Mapping[str, Any] | None
    verdict: Verdict


@cache
def registry() -> dict[str, Claim]:
    """Every claim by id, in the papers' order."""
    text = files("gspa.claims").joinpath("registry.yaml").read_text(encoding="utf-8")
    # Whitespace in a block scalar is layout, not quotation.
    entries: list[dict[str, Any]] = yaml.safe_load(text)
    flat = [{k: " ".join(v.split()) if isinstance(v, str) else v for k, v in entry.items()} for entry in entries]
    return {entry["id"]: Claim(**cast("Any", entry)) for entry in flat}


def claim(identifier: str) -> Claim:
    """One claim; the nearest id is suggested when there is none of that name."""
    if identifier not in registry():
        raise UnknownName("claim", identifier, registry())
    return registry()[identifier]
